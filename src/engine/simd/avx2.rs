//! Vectors of sixteen lanes in two registers of AVX2, with FMA.

use super::avx2_compress::compress8;
use super::avx2_rows::{of_pairs, of_row};
use super::avx512::sum8;
use super::{Aligned16, Arithmetic, Float, LANES, Level, Simd, Tables};
use std::arch::x86_64::*;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// SIMD level with the instruction sets AVX2 and FMA.
#[derive(Clone, Copy)]
pub(super) struct Avx2;

impl Simd for Avx2 {
    const LEVEL: Level = Level::Avx2;
    const TABLES: bool = false;
    const RARE: bool = false;
    type F = F256;
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn compress(values: [u32; LANES], bits: u16, to: &mut [u32; LANES]) -> usize {
        let [low, high] = bits.to_le_bytes();
        let middle = low.count_ones() as usize;
        compress8(&values, 0, low, to, 0);
        compress8(&values, 8, high, to, middle);
        middle + high.count_ones() as usize
    }
    #[inline(always)]
    fn not_zero(words: &[u16; LANES]) -> u16 {
        op!({
            let zeros = _mm256_cmpeq_epi16(_mm256_loadu_si256(words.as_ptr().cast()), _mm256_setzero_si256());
            let zeros = _mm_packs_epi16(_mm256_castsi256_si128(zeros), _mm256_extracti128_si256::<1>(zeros));
            !(_mm_movemask_epi8(zeros) as u16)
        })
    }
    #[inline(always)]
    fn transpose8(rows: [&[f64; 8]; 8]) -> [[f64; 8]; 8] {
        let mut out = [[0.0; 8]; 8];
        for (row, column) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
            op!({
                let mut r = [_mm256_setzero_pd(); 4];
                for i in 0..4 {
                    r[i] = _mm256_loadu_pd(rows[row + i][column..column + 4].as_ptr());
                }
                let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
                let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
                let columns = [
                    _mm256_permute2f128_pd::<0x20>(a, c),
                    _mm256_permute2f128_pd::<0x20>(b, d),
                    _mm256_permute2f128_pd::<0x31>(a, c),
                    _mm256_permute2f128_pd::<0x31>(b, d),
                ];
                for k in 0..4 {
                    _mm256_storeu_pd(out[column + k][row..row + 4].as_mut_ptr(), columns[k]);
                }
            });
        }
        out
    }
}

/// Sixteen floats in two registers: lanes 0–7, lanes 8–15.
#[derive(Clone, Copy)]
pub(super) struct F256([__m256; 2]);

/// Register of eight floats, half of the lanes.
#[derive(Clone, Copy)]
pub(super) struct Half(__m256);

impl Add for Half {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        op!(Half(_mm256_add_ps(self.0, o.0)))
    }
}
impl Sub for Half {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        op!(Half(_mm256_sub_ps(self.0, o.0)))
    }
}
impl Mul for Half {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        op!(Half(_mm256_mul_ps(self.0, o.0)))
    }
}
impl Arithmetic for Half {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        op!(Half(_mm256_set1_ps(value)))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        op!(Half(_mm256_fmadd_ps(self.0, b.0, c.0)))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        op!(Half(_mm256_fnmadd_ps(self.0, b.0, c.0)))
    }
}

/// Applies an intrinsic to each of the two registers of its operands.
macro_rules! both {
    ($f:ident, $a:expr) => {
        op!([$f($a[0]), $f($a[1])])
    };
    ($f:ident, $a:expr, $b:expr) => {
        op!([$f($a[0], $b[0]), $f($a[1], $b[1])])
    };
    ($f:ident, $a:expr, $b:expr, $c:expr) => {
        op!([$f($a[0], $b[0], $c[0]), $f($a[1], $b[1], $c[1])])
    };
}

impl Add for F256 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        F256(both!(_mm256_add_ps, self.0, o.0))
    }
}
impl Sub for F256 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        F256(both!(_mm256_sub_ps, self.0, o.0))
    }
}
impl Mul for F256 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        F256(both!(_mm256_mul_ps, self.0, o.0))
    }
}
impl Div for F256 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        F256(both!(_mm256_div_ps, self.0, o.0))
    }
}
impl Neg for F256 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        F256(both!(_mm256_xor_ps, self.0, F256::splat(-0.0).0))
    }
}
impl AddAssign for F256 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl SubAssign for F256 {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

#[inline(always)]
fn pair(low: [f32; 4], high: [f32; 4]) -> __m256 {
    op!(_mm256_set_m128(_mm_loadu_ps(high.as_ptr()), _mm_loadu_ps(low.as_ptr())))
}

/// Converts eight bits to a mask of eight lanes.
#[inline(always)]
fn mask8(bits: u16) -> __m256 {
    op!({
        let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let set = _mm256_and_si256(_mm256_set1_epi32(i32::from(bits)), lanes);
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lanes))
    })
}

/// Returns the bins of [`Float::look_up`], below 32.
#[inline(always)]
fn bin32(v: __m256) -> __m256i {
    op!(_mm256_and_si256(_mm256_srli_epi32::<21>(_mm256_castps_si256(v)), _mm256_set1_epi32(31)))
}

/// Returns the elements of a table at indices below 32.
#[inline(always)]
fn gather32(table: &[f32; 32], index: __m256i) -> __m256 {
    op!(_mm256_i32gather_ps::<4>(table.as_ptr(), index))
}

impl Arithmetic for F256 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        op!(F256([_mm256_set1_ps(value); 2]))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        F256(both!(_mm256_fmadd_ps, self.0, b.0, c.0))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        F256(both!(_mm256_fnmadd_ps, self.0, b.0, c.0))
    }
}

impl Float for F256 {
    type Register = Half;
    const REGISTERS: usize = 2;
    type Mask = [__m256; 2];
    type Bins<'t> = &'t Tables;
    type Slots = [f32; 8];

    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        op!(F256([_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))]))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        op!({
            _mm256_storeu_ps(to.as_mut_ptr(), self.0[0]);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), self.0[1]);
        })
    }
    #[inline(always)]
    fn load_register(from: &[f32; 16], index: usize) -> Half {
        op!(Half(_mm256_loadu_ps(from[8 * index..][..8].as_ptr())))
    }
    #[inline(always)]
    fn store_register(value: Half, to: &mut [f32; 16], index: usize) {
        op!(_mm256_storeu_ps(to[8 * index..][..8].as_mut_ptr(), value.0))
    }
    #[inline(always)]
    fn store_low(self, to: &mut [f32; 8]) {
        op!(_mm256_storeu_ps(to.as_mut_ptr(), self.0[0]))
    }
    #[inline(always)]
    fn load_twice(from: &[f32; 8]) -> Self {
        op!(F256([_mm256_loadu_ps(from.as_ptr()); 2]))
    }
    #[inline(always)]
    fn two(low: f32, high: f32) -> Self {
        op!(F256([_mm256_set1_ps(low), _mm256_set1_ps(high)]))
    }
    #[inline(always)]
    fn load_four_times(from: &[f32; 4]) -> Self {
        F256([pair(*from, *from); 2])
    }
    #[inline(always)]
    fn spread4(from: &[f32; 4]) -> Self {
        op!({
            let v = _mm_loadu_ps(from.as_ptr());
            let low = _mm256_set_m128(_mm_shuffle_ps::<0x55>(v, v), _mm_shuffle_ps::<0x00>(v, v));
            F256([low, _mm256_set_m128(_mm_shuffle_ps::<0xff>(v, v), _mm_shuffle_ps::<0xaa>(v, v))])
        })
    }
    #[inline(always)]
    fn load_rows4(rows: [&[f32; 4]; 4]) -> Self {
        F256([pair(*rows[0], *rows[1]), pair(*rows[2], *rows[3])])
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        F256(both!(_mm256_max_ps, self.0, other.0))
    }
    #[inline(always)]
    fn lt(self, o: Self) -> [__m256; 2] {
        op!([_mm256_cmp_ps::<_CMP_LT_OQ>(self.0[0], o.0[0]), _mm256_cmp_ps::<_CMP_LT_OQ>(self.0[1], o.0[1])])
    }
    #[inline(always)]
    fn mask(bits: u16) -> [__m256; 2] {
        [mask8(bits & 0xff), mask8(bits >> 8)]
    }
    #[inline(always)]
    fn bits(mask: [__m256; 2]) -> u16 {
        op!((_mm256_movemask_ps(mask[0]) | _mm256_movemask_ps(mask[1]) << 8) as u16)
    }
    #[inline(always)]
    fn any(mask: [__m256; 2]) -> u16 {
        op!(_mm256_movemask_ps(_mm256_or_ps(mask[0], mask[1])) as u16)
    }
    #[inline(always)]
    fn and(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        both!(_mm256_and_ps, a, b)
    }
    #[inline(always)]
    fn keep(self, mask: [__m256; 2]) -> Self {
        F256(both!(_mm256_and_ps, mask, self.0))
    }
    #[inline(always)]
    fn select(self, mask: [__m256; 2], other: Self) -> Self {
        F256(both!(_mm256_blendv_ps, other.0, self.0, mask))
    }
    #[inline(always)]
    fn round(self) -> Self {
        op!(F256([_mm256_round_ps::<8>(self.0[0]), _mm256_round_ps::<8>(self.0[1])]))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        F256(both!(_mm256_sqrt_ps, self.0))
    }
    #[inline(always)]
    fn recip_fast(self) -> Self {
        let y = F256(both!(_mm256_rcp_ps, self.0));
        y * y.neg_mul_add(self, F256::splat(2.0))
    }
    #[inline(always)]
    fn recip_sqrt_fast(self) -> Self {
        // the seed approximates 1/√(4 x) for the argument x, so that the Newton step needs no factor ½
        let [low, high] = self.0;
        let two_octaves = op!(_mm256_set1_epi32(2 << 23));
        let x = F256(op!([
            _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(low), two_octaves)),
            _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(high), two_octaves)),
        ]));
        let y = F256(both!(_mm256_rsqrt_ps, x.0));
        y * (x * y).neg_mul_add(y, F256::splat(3.0))
    }
    #[inline(always)]
    fn uniform(self) -> Self {
        F256([self.0[0]; 2])
    }
    #[inline(always)]
    fn bins(tables: &Tables) -> &Tables {
        tables
    }
    #[inline(always)]
    fn look_up(self, tables: &&Tables) -> [Self; 5] {
        let index = [bin32(self.0[0]), bin32(self.0[1])];
        let mut values = [self; 5];
        for k in 0..5 {
            values[k] = F256([gather32(&tables.0[k], index[0]), gather32(&tables.0[k], index[1])]);
        }
        values
    }
    #[inline(always)]
    fn pick<const R: usize>(self, rows: [&[Aligned16; R]; 2]) -> Self {
        F256([of_row(self.0[0], rows[0]), of_row(self.0[1], rows[1])])
    }
    #[inline(always)]
    fn pick_pairs(self, rows: [&[[f32; 2]]; 2]) -> [Self; 2] {
        let [first, second] = self.0;
        let picked = [of_pairs(first, rows[0]), of_pairs(second, rows[1])];
        [F256([picked[0][0], picked[1][0]]), F256([picked[0][1], picked[1][1]])]
    }
    #[inline(always)]
    fn bin_offset(self) -> Self {
        let low = op!([_mm256_castsi256_ps(_mm256_set1_epi32(-1 << 21)); 2]);
        self - F256(both!(_mm256_and_ps, self.0, low))
    }
    #[inline(always)]
    fn add_products<const N: usize>(a: [Self; N], b: [Self; N], to: &mut [f32; 8]) {
        op!({
            let mut sum = _mm256_loadu_ps(to.as_ptr());
            for row in 0..N {
                sum = _mm256_fmadd_ps(a[row].0[0], b[row].0[0], sum);
                sum = _mm256_fmadd_ps(a[row].0[1], b[row].0[1], sum);
            }
            _mm256_storeu_ps(to.as_mut_ptr(), sum);
        })
    }
    #[inline(always)]
    fn half_sums(pairs: [[Self; 2]; 3]) -> [[f32; 4]; 3] {
        let mut sums = [[0.0; 4]; 3];
        for k in 0..3 {
            for vector in 0..2 {
                let [low, high] = pairs[k][vector].0;
                [sums[k][2 * vector], sums[k][2 * vector + 1]] = [sum8(low), sum8(high)];
            }
        }
        sums
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        op!(sum8(_mm256_add_ps(self.0[0], self.0[1])))
    }
    #[inline(always)]
    fn sums16(v: &[Self; 16]) -> Self {
        F256([sums8(&v[..8]), sums8(&v[8..])])
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        F256(both!(_mm256_min_ps, self.0, other.0))
    }
    #[inline(always)]
    fn load_halves(low: &[f32; 8], high: &[f32; 8]) -> Self {
        op!(F256([_mm256_loadu_ps(low.as_ptr()), _mm256_loadu_ps(high.as_ptr())]))
    }
    #[inline(always)]
    fn floor(self) -> Self {
        F256(both!(_mm256_floor_ps, self.0))
    }
    #[inline(always)]
    fn store_whole(self, to: &mut [u32; 16]) {
        op!({
            _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_cvttps_epi32(self.0[0]));
            _mm256_storeu_si256(to.as_mut_ptr().add(8).cast(), _mm256_cvttps_epi32(self.0[1]));
        })
    }
    #[inline(always)]
    fn transpose4(v: [Self; 4]) -> [Self; 4] {
        let low = transpose4(v[0].0[0], v[1].0[0], v[2].0[0], v[3].0[0]);
        let high = transpose4(v[0].0[1], v[1].0[1], v[2].0[1], v[3].0[1]);
        let mut out = v;
        for k in 0..4 {
            out[k] = F256([low[k], high[k]]);
        }
        out
    }
    #[inline(always)]
    fn transpose16(v: [Self; 16]) -> [Self; 16] {
        let mut out = v;
        for rows in 0..2 {
            for half in 0..2 {
                let mut square = [v[0].0[0]; 8];
                for k in 0..8 {
                    square[k] = v[8 * rows + k].0[half];
                }
                square = transpose8(square);
                for k in 0..8 {
                    out[8 * half + k].0[rows] = square[k];
                }
            }
        }
        out
    }
}

/// Transposes the 4 × 4 matrix in the lower halves of the registers, and the 4 × 4 matrix in the upper halves.
#[inline(always)]
fn transpose4(a: __m256, b: __m256, c: __m256, d: __m256) -> [__m256; 4] {
    op!({
        let (p, q) = (_mm256_castps_pd(_mm256_unpacklo_ps(a, b)), _mm256_castps_pd(_mm256_unpacklo_ps(c, d)));
        let (r, s) = (_mm256_castps_pd(_mm256_unpackhi_ps(a, b)), _mm256_castps_pd(_mm256_unpackhi_ps(c, d)));
        [
            _mm256_castpd_ps(_mm256_unpacklo_pd(p, q)),
            _mm256_castpd_ps(_mm256_unpackhi_pd(p, q)),
            _mm256_castpd_ps(_mm256_unpacklo_pd(r, s)),
            _mm256_castpd_ps(_mm256_unpackhi_pd(r, s)),
        ]
    })
}

/// Transposes an 8 × 8 matrix.
#[inline(always)]
fn transpose8(v: [__m256; 8]) -> [__m256; 8] {
    let (top, bottom) = (transpose4(v[0], v[1], v[2], v[3]), transpose4(v[4], v[5], v[6], v[7]));
    let mut out = v;
    for k in 0..4 {
        out[k] = op!(_mm256_permute2f128_ps::<0x20>(top[k], bottom[k]));
        out[4 + k] = op!(_mm256_permute2f128_ps::<0x31>(top[k], bottom[k]));
    }
    out
}

/// Returns the sum over the lanes of each of eight vectors, in the tree order of [`Float::sum`].
///
/// The additions that halve the number of partial sums are written without arrays and loops, so that every sum stays in
/// a register. The compiler may keep an array of registers in memory, so that loops of 8, 4, 2, 1 additions would load
/// and store the array.
#[inline(always)]
fn sums8(v: &[F256]) -> __m256 {
    op!({
        let (a, b, c, d) = (sums4(v[0], v[4]), sums4(v[1], v[5]), sums4(v[2], v[6]), sums4(v[3], v[7]));
        // `first` and `last` each hold the partial sums of four vectors, two for each vector
        let first = _mm256_add_ps(_mm256_shuffle_ps::<0x44>(a, b), _mm256_shuffle_ps::<0xee>(a, b));
        let last = _mm256_add_ps(_mm256_shuffle_ps::<0x44>(c, d), _mm256_shuffle_ps::<0xee>(c, d));
        _mm256_add_ps(_mm256_shuffle_ps::<0x88>(first, last), _mm256_shuffle_ps::<0xdd>(first, last))
    })
}

/// Reduces two vectors from 16 to 4 partial sums each. Each half of the result holds the partial sums of one vector.
#[inline(always)]
fn sums4(a: F256, b: F256) -> __m256 {
    op!({
        let (a, b) = (_mm256_add_ps(a.0[0], a.0[1]), _mm256_add_ps(b.0[0], b.0[1]));
        _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b))
    })
}
