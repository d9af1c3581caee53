//! Variants of the pair kernel: combination rules of the Lennard-Jones parameters, and treatments of Lennard-Jones at
//! the cutoff.

/// Combination rule with geometric means of c6 and c12. The parameters of an atom are √(6 c6) and √(12 c12).
pub(in crate::backend) const GEOMETRIC: u8 = 0;
/// Lorentz–Berthelot combination rule. The parameters of an atom are σ/2 and √(48 ε).
pub(in crate::backend) const LORENTZ_BERTHELOT: u8 = 1;
/// No combination rule: Lennard-Jones parameters come from a table of pairs of types.
pub(in crate::backend) const TYPE_TABLE: u8 = 2;
/// Rule for systems without a cutoff: Lennard-Jones parameters come from a table of pairs of types, and the Coulomb
/// term is computed as 1/r instead of from a table.
pub(super) const UNLIMITED: u8 = 3;
/// No combination rule: Lennard-Jones parameters come from rows of a table of at most 16 types, which fit in registers.
pub(super) const ROWS_OF_16: u8 = 4;
/// No combination rule: Lennard-Jones parameters come from rows of a table of at most 32 types, which fit in registers.
pub(super) const ROWS_OF_32: u8 = 5;
/// No combination rule: Lennard-Jones parameters come from rows of a table of at most 64 types, which fit in registers.
pub(super) const ROWS_OF_64: u8 = 6;

/// Truncation of Lennard-Jones interactions at the cutoff, with or without a potential shift. Pairs in blocks that are
/// marked for exceptions to the combination rule may also have r⁻⁴ terms.
pub(super) const TRUNCATED: u8 = 0;
/// Force switch of the Lennard-Jones interactions.
pub(super) const FORCE_SWITCH: u8 = 1;
/// LJ-PME: a mesh sums the attraction of all pairs, including the pairs within the cutoff.
pub(super) const LJ_PME: u8 = 2;

/// Potential switch of the Lennard-Jones interactions.
pub(super) const POTENTIAL_SWITCH: u8 = 3;

/// Returns whether the treatment `end` is a force switch or a potential switch.
#[inline(always)]
pub(super) const fn is_switched(end: u8) -> bool {
    end == FORCE_SWITCH || end == POTENTIAL_SWITCH
}
