//! Portable vectors of 16 floats from the crate `wide`, compiled for the target features of the build.

use super::{Aligned16, Arithmetic, Float, Level, Simd, Tables};
use std::array::from_fn;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use wide::f32x16;

/// The portable level, for any processor.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Simd for Portable {
    const LEVEL: Level = Level::Portable;
    const TABLES: bool = false;
    const RARE: bool = cfg!(target_arch = "x86_64");
    type F = Fx16;
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        // the product and the sum are rounded separately, because a fused operation would be a library call on
        // processors without the instruction
        a * b + c
    }
}

/// Vector of sixteen floats of the crate `wide`.
#[derive(Clone, Copy)]
pub(super) struct Fx16(f32x16);

impl Fx16 {
    #[inline(always)]
    fn lanes(self) -> [f32; 16] {
        self.0.to_array()
    }
    #[inline(always)]
    fn each(f: impl FnMut(usize) -> f32) -> Self {
        Fx16(f32x16::new(from_fn(f)))
    }
}

impl Add for Fx16 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Fx16(self.0 + o.0)
    }
}
impl Sub for Fx16 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Fx16(self.0 - o.0)
    }
}
impl Mul for Fx16 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Fx16(self.0 * o.0)
    }
}
impl Div for Fx16 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        Fx16(self.0 / o.0)
    }
}
impl Neg for Fx16 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Fx16(-self.0)
    }
}
impl AddAssign for Fx16 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        self.0 += o.0;
    }
}
impl SubAssign for Fx16 {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        self.0 -= o.0;
    }
}

/// Returns the sum of eight floats, in the tree order 8 → 4 → 2 → 1.
#[inline(always)]
fn sum8(v: &[f32]) -> f32 {
    let four: [f32; 4] = from_fn(|k| v[k] + v[k + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

impl Arithmetic for Fx16 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Fx16(f32x16::splat(value))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Fx16(self.0 * b.0 + c.0)
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Fx16(c.0 - self.0 * b.0)
    }
}

impl Float for Fx16 {
    type Register = Self;
    const REGISTERS: usize = 1;
    type Mask = f32x16;
    type Bins<'t> = &'t Tables;
    type Slots = [f32; 8];

    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        Fx16(f32x16::new(*from))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        *to = self.lanes();
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
        to.copy_from_slice(&self.0.to_array()[..8]);
    }
    #[inline(always)]
    fn load_twice(from: &[f32; 8]) -> Self {
        Self::each(|k| from[k % 8])
    }
    #[inline(always)]
    fn two(low: f32, high: f32) -> Self {
        Self::each(|k| if k < 8 { low } else { high })
    }
    #[inline(always)]
    fn load_four_times(from: &[f32; 4]) -> Self {
        Self::each(|k| from[k % 4])
    }
    #[inline(always)]
    fn spread4(from: &[f32; 4]) -> Self {
        Self::each(|k| from[k / 4])
    }
    #[inline(always)]
    fn load_rows4(rows: [&[f32; 4]; 4]) -> Self {
        Self::each(|k| rows[k / 4][k % 4])
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Fx16(self.0.fast_max(other.0))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> f32x16 {
        self.0.simd_lt(other.0)
    }
    #[inline(always)]
    fn mask(bits: u16) -> f32x16 {
        f32x16::new(from_fn(|k| f32::from_bits(if bits >> k & 1 == 1 { u32::MAX } else { 0 })))
    }
    #[inline(always)]
    fn bits(mask: f32x16) -> u16 {
        mask.to_bitmask() as u16
    }
    #[inline(always)]
    fn any(mask: f32x16) -> u16 {
        Self::bits(mask)
    }
    #[inline(always)]
    fn and(a: f32x16, b: f32x16) -> f32x16 {
        a & b
    }
    #[inline(always)]
    fn keep(self, mask: f32x16) -> Self {
        Fx16(self.0 & mask)
    }
    #[inline(always)]
    fn select(self, mask: f32x16, other: Self) -> Self {
        Fx16(mask.bitselect(self.0, other.0))
    }
    #[inline(always)]
    fn round(self) -> Self {
        // `wide` rounds halves away from zero, but [`Float::round`] must round halves to the even integer
        let lanes = self.lanes();
        Self::each(|k| lanes[k].round_ties_even())
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Fx16(self.0.sqrt())
    }
    #[inline(always)]
    fn recip_fast(self) -> Self {
        Fx16(f32x16::splat(1.0) / self.0)
    }
    #[inline(always)]
    fn recip_sqrt_fast(self) -> Self {
        Fx16(f32x16::splat(1.0) / self.0.sqrt())
    }
    #[inline(always)]
    fn bins(tables: &Tables) -> &Tables {
        tables
    }
    #[inline(always)]
    fn look_up(self, tables: &&Tables) -> [Self; 5] {
        let bins = self.lanes().map(|x| (x.to_bits() >> 21) as usize % 32);
        from_fn(|t| Self::each(|k| tables.0[t][bins[k]]))
    }
    #[inline(always)]
    fn pick<const R: usize>(self, rows: [&[Aligned16; R]; 2]) -> Self {
        let lanes = self.lanes().map(|x| x.to_bits() as usize % (16 * R));
        Self::each(|k| rows[k / 8][lanes[k] / 16].0[lanes[k] % 16])
    }
    #[inline(always)]
    fn pick_pairs(self, rows: [&[[f32; 2]]; 2]) -> [Self; 2] {
        let lanes = self.lanes().map(|x| x.to_bits() as usize);
        from_fn(|element| Self::each(|k| rows[k / 8][lanes[k].min(rows[k / 8].len() - 1)][element]))
    }
    #[inline(always)]
    fn bin_offset(self) -> Self {
        let lanes = self.lanes();
        Self::each(|k| lanes[k] - f32::from_bits(lanes[k].to_bits() >> 21 << 21))
    }
    #[inline(always)]
    fn add_products<const N: usize>(a: [Self; N], b: [Self; N], to: &mut [f32; 8]) {
        for row in 0..N {
            let lanes = (a[row] * b[row]).lanes();
            for (k, value) in to.iter_mut().enumerate() {
                *value += lanes[k] + lanes[k + 8];
            }
        }
    }
    #[inline(always)]
    fn half_sums(pairs: [[Self; 2]; 3]) -> [[f32; 4]; 3] {
        from_fn(|k| from_fn(|half| sum8(&pairs[k][half / 2].lanes()[half % 2 * 8..][..8])))
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        let lanes = self.lanes();
        let eight: [f32; 8] = from_fn(|k| lanes[k] + lanes[k + 8]);
        sum8(&eight)
    }
    #[inline(always)]
    fn sums16(v: &[Self; 16]) -> Self {
        Self::each(|k| v[k].sum())
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Fx16(self.0.fast_min(other.0))
    }
    #[inline(always)]
    fn load_halves(low: &[f32; 8], high: &[f32; 8]) -> Self {
        Self::each(|k| if k < 8 { low[k] } else { high[k - 8] })
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Fx16(self.0.floor())
    }
    #[inline(always)]
    fn store_whole(self, to: &mut [u32; 16]) {
        *to = self.lanes().map(|x| x as u32);
    }
    #[inline(always)]
    fn transpose4(v: [Self; 4]) -> [Self; 4] {
        let lanes = v.map(Self::lanes);
        from_fn(|j| Self::each(|k| lanes[k % 4][k / 4 * 4 + j]))
    }
    #[inline(always)]
    fn transpose16(v: [Self; 16]) -> [Self; 16] {
        let lanes = v.map(Self::lanes);
        from_fn(|j| Self::each(|k| lanes[k][j]))
    }
}
