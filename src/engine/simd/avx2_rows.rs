//! Rows of tables whose elements are selected by indices in the lanes of a register of AVX2.

use super::Aligned16;
use std::arch::x86_64::*;

/// Selects for each lane one of the elements 8 k to 8 k + 7 of a row. The low three bits of each lane of `index` choose
/// the element of this lane.
#[inline(always)]
fn of_8<const R: usize>(index: __m256i, row: &[Aligned16; R], k: usize) -> __m256 {
    let eight = row[k / 2].0[k % 2 * 8..].as_ptr();
    op!(_mm256_permutevar8x32_ps(_mm256_load_ps(eight), index))
}

/// Selects for each lane one of the elements 8 k to 8 k + 15 of a row. The low four bits of each lane of `index` choose
/// the element of this lane.
#[inline(always)]
fn of_16<const R: usize>(index: __m256i, row: &[Aligned16; R], k: usize) -> __m256 {
    op!({
        // bit 3 of the index becomes the sign bit, which selects one of the two groups of eight elements
        let bit = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index));
        _mm256_blendv_ps(of_8(index, row, k), of_8(index, row, k + 1), bit)
    })
}

/// Returns the elements of a row at the indices in `index` (integers in float lanes).
#[inline(always)]
pub(super) fn of_row<const R: usize>(index: __m256, row: &[Aligned16; R]) -> __m256 {
    op!({
        let index = _mm256_castps_si256(index);
        match R {
            1 => of_16(index, row, 0),
            2 => {
                let bit = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(index));
                _mm256_blendv_ps(of_16(index, row, 0), of_16(index, row, 2), bit)
            }
            _ => {
                // the mask keeps every index inside the row
                let index = _mm256_and_si256(index, _mm256_set1_epi32(16 * R as i32 - 1));
                _mm256_i32gather_ps::<4>(row.as_ptr().cast(), index)
            }
        }
    })
}

/// Returns the first elements, and the second elements, of the pairs that `index` (integers in float lanes) selects
/// from a row.
#[inline(always)]
pub(super) fn of_pairs(index: __m256, row: &[[f32; 2]]) -> [__m256; 2] {
    assert!(!row.is_empty());
    op!({
        // an index beyond the end of the row becomes the last index
        let index = _mm256_min_epu32(_mm256_castps_si256(index), _mm256_set1_epi32(row.len() as i32 - 1));
        let first = row.as_ptr().cast::<f32>();
        [_mm256_i32gather_ps::<8>(first, index), _mm256_i32gather_ps::<8>(first.add(1), index)]
    })
}
