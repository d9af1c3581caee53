//! Variants of the pair kernel: combination rules of the Lennard-Jones parameters, and ends of the interaction.

/// Lennard-Jones parameters per atom are geometric means of c6 and c12: √(6 c6), √(12 c12).
pub(in crate::backend) const GEOMETRIC: u8 = 0;
/// Lennard-Jones parameters per atom are σ/2 and √(48 ε) (Lorentz–Berthelot).
pub(in crate::backend) const LORENTZ_BERTHELOT: u8 = 1;
/// Lennard-Jones parameters come from a type-by-type table.
pub(in crate::backend) const TYPE_TABLE: u8 = 2;
/// Lennard-Jones parameters as in [`TYPE_TABLE`]. Without a cutoff the Coulomb term 1/r is computed, not tabulated.
pub(super) const UNLIMITED: u8 = 3;
/// Lennard-Jones parameters as in [`TYPE_TABLE`], by rows of 16 types.
pub(super) const ROWS_OF_16: u8 = 4;
/// Lennard-Jones parameters as in [`TYPE_TABLE`], by rows of 32 types.
pub(super) const ROWS_OF_32: u8 = 5;
/// Lennard-Jones parameters as in [`TYPE_TABLE`], by rows of 64 types.
pub(super) const ROWS_OF_64: u8 = 6;

/// Lennard-Jones interactions are truncated at the cutoff, with or without a shift. Blocks with exceptions may have
/// r⁻⁴ terms.
pub(super) const TRUNCATED: u8 = 0;
/// Force switch of the Lennard-Jones interactions.
pub(super) const FORCE_SWITCH: u8 = 1;
/// LJ-PME: a mesh sums the attraction of all pairs, including those within the cutoff.
pub(super) const LJ_PME: u8 = 2;

/// Potential switch of the Lennard-Jones interactions.
pub(super) const POTENTIAL_SWITCH: u8 = 3;

/// Whether interactions have a force switch or a potential switch.
pub(super) const fn is_switched(end: u8) -> bool {
    end == FORCE_SWITCH || end == POTENTIAL_SWITCH
}
