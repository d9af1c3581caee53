//! Vectors of sixteen lanes in one register of AVX-512.

use super::{Aligned16, Arithmetic, Float, LANES, Level, Simd, Tables};
use std::arch::x86_64::*;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// SIMD level with the instruction sets AVX-512 F, VL, BW and DQ, AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx512;

impl Simd for Avx512 {
    const LEVEL: Level = Level::Avx512;
    const TABLES: bool = true;
    const RARE: bool = false;
    type F = F512;
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn transpose8(rows: [&[f64; 8]; 8]) -> [[f64; 8]; 8] {
        op!({
            let mut r = [_mm512_setzero_pd(); 8];
            for i in 0..8 {
                r[i] = _mm512_loadu_pd(rows[i].as_ptr());
            }
            let mut columns = [_mm512_setzero_pd(); 8];
            for odd in 0..2 {
                // rows are combined in pairs, so that each quarter of a vector holds two elements of the same column
                let mut pairs = [r[0]; 4];
                for i in 0..4 {
                    pairs[i] = match odd {
                        0 => _mm512_unpacklo_pd(r[2 * i], r[2 * i + 1]),
                        _ => _mm512_unpackhi_pd(r[2 * i], r[2 * i + 1]),
                    };
                }
                let [a, b, c, d] = pairs;
                let (near, far) = (_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0x88>(c, d));
                columns[odd] = _mm512_shuffle_f64x2::<0x88>(near, far);
                columns[odd + 4] = _mm512_shuffle_f64x2::<0xdd>(near, far);
                let (near, far) = (_mm512_shuffle_f64x2::<0xdd>(a, b), _mm512_shuffle_f64x2::<0xdd>(c, d));
                columns[odd + 2] = _mm512_shuffle_f64x2::<0x88>(near, far);
                columns[odd + 6] = _mm512_shuffle_f64x2::<0xdd>(near, far);
            }
            let mut out = [[0.0; 8]; 8];
            for k in 0..8 {
                _mm512_storeu_pd(out[k].as_mut_ptr(), columns[k]);
            }
            out
        })
    }
    #[inline(always)]
    fn compress(values: [u32; LANES], bits: u16, to: &mut [u32; LANES]) -> usize {
        op!({
            let values = _mm512_loadu_si512(values.as_ptr().cast());
            _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(bits, values));
        });
        bits.count_ones() as usize
    }
    #[inline(always)]
    fn not_zero(words: &[u16; LANES]) -> u16 {
        op!({
            let words = _mm256_loadu_si256(words.as_ptr().cast());
            _mm256_test_epi16_mask(words, words)
        })
    }
}

/// Sixteen floats in one register.
#[derive(Clone, Copy)]
pub(super) struct F512(__m512);

impl Add for F512 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        op!(F512(_mm512_add_ps(self.0, o.0)))
    }
}
impl Sub for F512 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        op!(F512(_mm512_sub_ps(self.0, o.0)))
    }
}
impl Mul for F512 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        op!(F512(_mm512_mul_ps(self.0, o.0)))
    }
}
impl Div for F512 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        op!(F512(_mm512_div_ps(self.0, o.0)))
    }
}
impl Neg for F512 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        op!(F512(_mm512_xor_ps(self.0, _mm512_set1_ps(-0.0))))
    }
}
impl AddAssign for F512 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl SubAssign for F512 {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

/// Returns the sum of eight lanes, in the tree order 8 → 4 → 2 → 1.
#[inline(always)]
pub(super) fn sum8(v: __m256) -> f32 {
    op!({
        let x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps::<1>(x, x)))
    })
}

impl Arithmetic for F512 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        op!(F512(_mm512_set1_ps(value)))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        op!(F512(_mm512_fmadd_ps(self.0, b.0, c.0)))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        op!(F512(_mm512_fnmadd_ps(self.0, b.0, c.0)))
    }
}

impl Float for F512 {
    type Register = Self;
    const REGISTERS: usize = 1;
    type Mask = __mmask16;
    type Bins<'t> = [[__m512; 2]; 5];
    type Slots = [f32; 16];

    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        op!(F512(_mm512_loadu_ps(from.as_ptr())))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        op!(_mm512_storeu_ps(to.as_mut_ptr(), self.0))
    }
    #[inline(always)]
    fn load_register(from: &[f32; 16], _: usize) -> Self {
        Self::load(from)
    }
    #[inline(always)]
    fn store_register(value: Self, to: &mut [f32; 16], _: usize) {
        value.store(to);
    }
    #[inline(always)]
    fn store_low(self, to: &mut [f32; 8]) {
        op!(_mm256_storeu_ps(to.as_mut_ptr(), _mm512_castps512_ps256(self.0)))
    }
    #[inline(always)]
    fn load_twice(from: &[f32; 8]) -> Self {
        op!(F512(_mm512_broadcast_f32x8(_mm256_loadu_ps(from.as_ptr()))))
    }
    #[inline(always)]
    fn two(low: f32, high: f32) -> Self {
        op!(F512(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(_mm256_set1_ps(low)), _mm256_set1_ps(high))))
    }
    #[inline(always)]
    fn load_four_times(from: &[f32; 4]) -> Self {
        op!(F512(_mm512_broadcast_f32x4(_mm_loadu_ps(from.as_ptr()))))
    }
    #[inline(always)]
    fn spread4(from: &[f32; 4]) -> Self {
        op!({
            let index = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
            F512(_mm512_permutexvar_ps(index, _mm512_castps128_ps512(_mm_loadu_ps(from.as_ptr()))))
        })
    }
    #[inline(always)]
    fn load_rows4(rows: [&[f32; 4]; 4]) -> Self {
        op!({
            let v = _mm512_castps128_ps512(_mm_loadu_ps(rows[0].as_ptr()));
            let v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_loadu_ps(rows[1].as_ptr()));
            let v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_loadu_ps(rows[2].as_ptr()));
            F512(_mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps(rows[3].as_ptr())))
        })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        op!(F512(_mm512_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> __mmask16 {
        op!(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0))
    }
    #[inline(always)]
    fn mask(bits: u16) -> __mmask16 {
        bits
    }
    #[inline(always)]
    fn bits(mask: __mmask16) -> u16 {
        mask
    }
    #[inline(always)]
    fn any(mask: __mmask16) -> u16 {
        mask
    }
    #[inline(always)]
    fn and(a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn keep(self, mask: __mmask16) -> Self {
        op!(F512(_mm512_maskz_mov_ps(mask, self.0)))
    }
    #[inline(always)]
    fn select(self, mask: __mmask16, other: Self) -> Self {
        op!(F512(_mm512_mask_mov_ps(other.0, mask, self.0)))
    }
    #[inline(always)]
    fn round(self) -> Self {
        op!(F512(_mm512_roundscale_ps::<0>(self.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        op!(F512(_mm512_sqrt_ps(self.0)))
    }
    #[inline(always)]
    fn recip_fast(self) -> Self {
        op!({
            let y = _mm512_rcp14_ps(self.0);
            F512(_mm512_mul_ps(y, _mm512_fnmadd_ps(y, self.0, _mm512_set1_ps(2.0))))
        })
    }
    #[inline(always)]
    fn recip_sqrt_fast(self) -> Self {
        let y = op!(F512(_mm512_rsqrt14_ps(self.0)));
        let half = y * F512::splat(0.5);
        half * (self * y).neg_mul_add(y, F512::splat(3.0))
    }
    #[inline(always)]
    fn bins(tables: &Tables) -> Self::Bins<'_> {
        let mut bins = [[zero(); 2]; 5];
        for k in 0..5 {
            let table = tables.0[k].as_ptr();
            bins[k] = op!([_mm512_load_ps(table), _mm512_load_ps(table.add(16))]);
        }
        bins
    }
    #[inline(always)]
    fn look_up(self, bins: &Self::Bins<'_>) -> [Self; 5] {
        op!({
            let index = _mm512_srli_epi32::<21>(_mm512_castps_si512(self.0));
            let mut out = [self; 5];
            for k in 0..5 {
                let [low, high] = bins[k];
                out[k] = F512(_mm512_permutex2var_ps(low, index, high));
            }
            out
        })
    }
    #[inline(always)]
    fn pick<const R: usize>(self, rows: [&[Aligned16; R]; 2]) -> Self {
        op!({
            let index = _mm512_castps_si512(self.0);
            if R == 1 {
                // the two rows are concatenated into one table of 32 floats; lanes 8–15 select from the second half of
                // the table
                let index = _mm512_or_si512(index, _mm512_maskz_set1_epi32(0xff00, 16));
                return F512(_mm512_permutex2var_ps(aligned(&rows[0][0]), index, aligned(&rows[1][0])));
            }
            let mut found = of_32(index, rows, 0);
            if R == 4 {
                let upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
                found = _mm512_mask_blend_ps(upper, found, of_32(index, rows, 2));
            }
            F512(found)
        })
    }
    #[inline(always)]
    fn pick_pairs(self, rows: [&[[f32; 2]]; 2]) -> [Self; 2] {
        op!({
            let index = _mm512_castps_si512(self.0);
            let low = eight_pairs(_mm512_castsi512_si256(index), rows[0]);
            let high = eight_pairs(_mm512_extracti32x8_epi32::<1>(index), rows[1]);
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
            [F512(_mm512_permutex2var_ps(low, even, high)), F512(_mm512_permutex2var_ps(low, odd, high))]
        })
    }
    #[inline(always)]
    fn bin_offset(self) -> Self {
        op!({
            let low = _mm512_castsi512_ps(_mm512_set1_epi32(-1 << 21));
            F512(_mm512_sub_ps(self.0, _mm512_and_ps(self.0, low)))
        })
    }
    #[inline(always)]
    fn add_products<const N: usize>(a: [Self; N], b: [Self; N], to: &mut [f32; 16]) {
        let mut sum = Self::load(to);
        for row in 0..N {
            sum = a[row].mul_add(b[row], sum);
        }
        sum.store(to);
    }
    #[inline(always)]
    fn half_sums(pairs: [[Self; 2]; 3]) -> [[f32; 4]; 3] {
        let mut sums = [[0.0; 4]; 4];
        op!({
            // each quarter of a register belongs to half a vector
            let mut quarters = [_mm512_setzero_ps(); 3];
            for k in 0..3 {
                let [a, b] = pairs[k];
                quarters[k] =
                    _mm512_add_ps(_mm512_shuffle_f32x4::<0x88>(a.0, b.0), _mm512_shuffle_f32x4::<0xdd>(a.0, b.0));
            }
            let [x, y, z] = quarters;
            let xy = _mm512_add_ps(_mm512_shuffle_ps::<0x44>(x, y), _mm512_shuffle_ps::<0xee>(x, y));
            let zz = _mm512_add_ps(_mm512_shuffle_ps::<0x44>(z, z), _mm512_shuffle_ps::<0xee>(z, z));
            let all = _mm512_add_ps(_mm512_shuffle_ps::<0x88>(xy, zz), _mm512_shuffle_ps::<0xdd>(xy, zz));
            let transposed = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_storeu_ps(sums.as_mut_ptr().cast(), _mm512_permutexvar_ps(transposed, all));
        });
        let [x, y, z, _] = sums;
        [x, y, z]
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        op!(sum8(_mm256_add_ps(_mm512_castps512_ps256(self.0), _mm512_extractf32x8_ps::<1>(self.0))))
    }
    #[inline(always)]
    fn sums16(v: &[Self; 16]) -> Self {
        op!({
            let add = |a: __m512, b: __m512| _mm512_add_ps(a, b);
            // pairs of vectors are reduced from 16 to 8 lanes, and groups of four vectors from 8 to 4 lanes; each
            // quarter of a register then belongs to one vector
            let halves =
                |a: Self, b: Self| add(_mm512_shuffle_f32x4::<0x44>(a.0, b.0), _mm512_shuffle_f32x4::<0xee>(a.0, b.0));
            let quarters =
                |a: __m512, b: __m512| add(_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
            // quarter q of fours[k] holds the four partial sums of v[4 q + k]
            let mut fours = [self::zero(); 4];
            for (k, four) in fours.iter_mut().enumerate() {
                *four = quarters(halves(v[k], v[k + 4]), halves(v[k + 8], v[k + 12]));
            }
            let pairs = |a: __m512, b: __m512| add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            let even = _mm512_castps_pd(pairs(fours[0], fours[1]));
            let odd = _mm512_castps_pd(pairs(fours[2], fours[3]));
            let (low, high) = (_mm512_unpacklo_pd(even, odd), _mm512_unpackhi_pd(even, odd));
            F512(add(_mm512_castpd_ps(low), _mm512_castpd_ps(high)))
        })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        op!(F512(_mm512_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn load_halves(low: &[f32; 8], high: &[f32; 8]) -> Self {
        op!({
            let low = _mm512_castps256_ps512(_mm256_loadu_ps(low.as_ptr()));
            F512(_mm512_insertf32x8::<1>(low, _mm256_loadu_ps(high.as_ptr())))
        })
    }
    #[inline(always)]
    fn floor(self) -> Self {
        op!(F512(_mm512_roundscale_ps::<1>(self.0)))
    }
    #[inline(always)]
    fn store_whole(self, to: &mut [u32; 16]) {
        op!(_mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_cvttps_epi32(self.0)))
    }
    #[inline(always)]
    fn transpose4(v: [Self; 4]) -> [Self; 4] {
        op!({
            let (a, b) = (_mm512_unpacklo_ps(v[0].0, v[1].0), _mm512_unpacklo_ps(v[2].0, v[3].0));
            let (c, d) = (_mm512_unpackhi_ps(v[0].0, v[1].0), _mm512_unpackhi_ps(v[2].0, v[3].0));
            let (a, b, c, d) = (_mm512_castps_pd(a), _mm512_castps_pd(b), _mm512_castps_pd(c), _mm512_castps_pd(d));
            [
                F512(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b))),
                F512(_mm512_castpd_ps(_mm512_unpackhi_pd(a, b))),
                F512(_mm512_castpd_ps(_mm512_unpacklo_pd(c, d))),
                F512(_mm512_castpd_ps(_mm512_unpackhi_pd(c, d))),
            ]
        })
    }
    #[inline(always)]
    fn transpose16(v: [Self; 16]) -> [Self; 16] {
        // the matrix is transposed within groups of four lanes, and then the groups are transposed
        let mut quads = v;
        for g in 0..4 {
            let four = Self::transpose4([v[4 * g], v[4 * g + 1], v[4 * g + 2], v[4 * g + 3]]);
            for j in 0..4 {
                quads[4 * g + j] = four[j];
            }
        }
        let mut out = v;
        for j in 0..4 {
            let [a, b, c, d] = [quads[j].0, quads[4 + j].0, quads[8 + j].0, quads[12 + j].0];
            op!({
                let (even, odd) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
                let (even2, odd2) = (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xdd>(c, d));
                out[j] = F512(_mm512_shuffle_f32x4::<0x88>(even, even2));
                out[4 + j] = F512(_mm512_shuffle_f32x4::<0x88>(odd, odd2));
                out[8 + j] = F512(_mm512_shuffle_f32x4::<0xdd>(even, even2));
                out[12 + j] = F512(_mm512_shuffle_f32x4::<0xdd>(odd, odd2));
            });
        }
        out
    }
}

#[inline(always)]
fn aligned(from: &Aligned16) -> __m512 {
    op!(_mm512_load_ps(from.0.as_ptr()))
}

/// Selects elements with the indices in `index`: lanes 0–7 from the elements 16 k to 16 k + 31 of the first row, and
/// lanes 8–15 from the same range of the second row.
#[inline(always)]
fn of_32<const R: usize>(index: __m512i, rows: [&[Aligned16; R]; 2], k: usize) -> __m512 {
    op!({
        let first = _mm512_permutex2var_ps(aligned(&rows[0][k]), index, aligned(&rows[0][k + 1]));
        let second = _mm512_permutex2var_ps(aligned(&rows[1][k]), index, aligned(&rows[1][k + 1]));
        _mm512_mask_blend_ps(0xff00, first, second)
    })
}

#[inline(always)]
fn eight_pairs(index: __m256i, row: &[[f32; 2]]) -> __m512 {
    assert!(!row.is_empty());
    op!({
        // an index beyond the end of the row becomes the last index
        let index = _mm256_min_epu32(index, _mm256_set1_epi32(row.len() as i32 - 1));
        _mm512_castpd_ps(_mm512_i32gather_pd::<8>(index, row.as_ptr().cast()))
    })
}

#[inline(always)]
fn zero() -> __m512 {
    op!(_mm512_setzero_ps())
}
