//! Compression of eight integers with AVX2, which has no instruction for it.

use super::LANES;
use std::arch::x86_64::*;

/// Table of the positions of the bits of each byte that are one, in ascending order; the other elements are zero.
static POSITIONS: [[u8; 8]; 256] = positions();

const fn positions() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Copies those of the eight values `values[first..]` whose bit in `bits` is one to `to[start..]`, in order. The rest
/// of the eight numbers `to[start..]` has unspecified values.
#[inline(always)]
pub(super) fn compress8(values: &[u32; LANES], first: usize, bits: u8, to: &mut [u32; LANES], start: usize) {
    let (Some(from), Some(to)) = (values[first..].first_chunk::<8>(), to[start..].first_chunk_mut::<8>()) else {
        unreachable!("both halves have eight values")
    };
    op!({
        let positions = _mm256_cvtepu8_epi32(_mm_loadl_epi64(POSITIONS[usize::from(bits)].as_ptr().cast()));
        let values = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.as_ptr().cast()), positions);
        _mm256_storeu_si256(to.as_mut_ptr().cast(), values);
    })
}
