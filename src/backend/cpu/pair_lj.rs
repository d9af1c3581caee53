//! Lennard-Jones terms of the pair kernel, by the rule that gives a pair its parameters.

use super::pair_kernel::PairInput;
use crate::pair::BLOCK;
use crate::simd::{Float, Simd};

/// Lennard-Jones parameters per atom are geometric means of c6 and c12: √(6 c6), √(12 c12).
pub(in crate::backend) const GEOMETRIC: u8 = 0;
/// Lennard-Jones parameters per atom are σ/2 and √(48 ε) (Lorentz–Berthelot).
pub(in crate::backend) const LORENTZ_BERTHELOT: u8 = 1;
/// Lennard-Jones parameters come from a type-by-type table.
pub(in crate::backend) const TYPE_TABLE: u8 = 2;
/// As [`TYPE_TABLE`], and the Coulomb term is 1/r, computed instead of tabulated: no cutoff.
pub(super) const UNLIMITED: u8 = 3;

/// Lennard-Jones in terms of 1/r².
pub(super) struct LjTerms<S: Simd> {
    /// over distance
    pub(super) force: S::F,
    /// 48 ε, or 6 c6 with the attraction taken out
    strength: [S::F; 2],
    power6: S::F,
    sigma6: S::F,
}

impl<S: Simd> LjTerms<S> {
    #[inline(always)]
    pub(super) fn new<const RULE: u8>(
        input: &PairInput<'_>,
        inverse2: S::F,
        i: [S::F; 2],
        j: [S::F; 2],
        types: [usize; 2],
        parameters: &[f32; 16],
    ) -> Self {
        if RULE == LORENTZ_BERTHELOT {
            let sigma = i[0] + j[0];
            let epsilon48 = i[1] * j[1];
            let sigma2 = sigma * sigma;
            let ratio2 = sigma2 * inverse2;
            let power6 = ratio2 * ratio2 * ratio2;
            // 48 ε (s¹² − ½ s⁶)
            let force = (epsilon48 * inverse2) * power6 * (power6 - S::F::splat(0.5));
            let sigma6 = sigma2 * sigma2 * sigma2;
            return LjTerms { force, strength: [epsilon48; 2], power6, sigma6 };
        }
        let [six_c6, twelve_c12] =
            if RULE >= TYPE_TABLE { gather_types::<S>(input, types, parameters) } else { [i[0] * j[0], i[1] * j[1]] };
        let power6 = inverse2 * inverse2 * inverse2;
        let force = inverse2 * power6 * twelve_c12.mul_add(power6, S::F::splat(0.0) - six_c6);
        LjTerms { force, strength: [six_c6, twelve_c12], power6, sigma6: S::F::splat(1.0) }
    }

    /// V(r) − V(cutoff) where shifted.
    #[inline(always)]
    pub(super) fn energy<const RULE: u8>(&self, input: &PairInput<'_>) -> S::F {
        let at_cutoff = self.sigma6 * S::F::splat(input.lj_shift);
        let (sixth, twelfth) = (S::F::splat(1.0 / 6.0), S::F::splat(1.0 / 12.0));
        let attraction = self.power6 - at_cutoff;
        let repulsion = self.power6 * self.power6 - at_cutoff * at_cutoff;
        if RULE == LORENTZ_BERTHELOT {
            self.strength[0] * twelfth * (repulsion - attraction)
        } else {
            self.strength[1] * twelfth * repulsion - self.strength[0] * sixth * attraction
        }
    }
}

/// (6 c6, 12 c12) of two i-atoms with eight j-atoms each.
#[inline(always)]
fn gather_types<S: Simd>(input: &PairInput<'_>, types: [usize; 2], parameters: &[f32; 16]) -> [S::F; 2] {
    let mut c6 = [0f32; 16];
    let mut c12 = [0f32; 16];
    for (row, i) in types.into_iter().enumerate() {
        let table = &input.type_table[i * input.types..(i + 1) * input.types];
        for lane in 0..BLOCK {
            [c6[row * BLOCK + lane], c12[row * BLOCK + lane]] = table[parameters[lane] as usize];
        }
    }
    [S::F::load(&c6), S::F::load(&c12)]
}
