//! Choice of the variant of the pair kernel that is compiled for the settings of a system.

use super::pair_input::{PairInput, PairOutput};
use super::pair_kernel::PairKernel;
use super::pair_rules::{
    FORCE_SWITCH, GEOMETRIC, LJ_PME, LORENTZ_BERTHELOT, POTENTIAL_SWITCH, ROWS_OF_16, ROWS_OF_32, ROWS_OF_64,
    TRUNCATED, TYPE_TABLE, UNLIMITED,
};
use crate::pair::PairList;
use crate::simd::{Level, dispatch};
use crate::system::ForceSettings;
use crate::term::LjSwitch;
use std::ops::Range;

/// Compile-time parameters of the pair kernel.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    /// combination rule, one of [`rules`]
    pub rule: u8,
    /// treatment of Lennard-Jones interactions at the cutoff, see [`super::pair_rules`]
    pub end: u8,
    /// whether the Coulomb and Lennard-Jones cutoffs differ
    pub split: bool,
    /// whether energies are computed
    pub energy: bool,
}

/// Returns the treatment of Lennard-Jones interactions at the cutoff for these settings.
pub(super) fn end_of(settings: &ForceSettings) -> u8 {
    match settings.lj_switch() {
        Some(LjSwitch::Force(_)) => FORCE_SWITCH,
        Some(LjSwitch::Potential(_)) => POTENTIAL_SWITCH,
        None if settings.lj_pme().is_some() => LJ_PME,
        None => TRUNCATED,
    }
}

/// Returns the combination rules for which kernels are compiled with the given treatment at the cutoff. Kernels for
/// rules that few systems would use are not compiled, which keeps the program small and the build short. Systems whose
/// combination rule has no kernel use a table of pairs of types instead.
pub(super) fn rules(end: u8) -> &'static [u8] {
    match end {
        TRUNCATED => &[GEOMETRIC, LORENTZ_BERTHELOT, ROWS_OF_16, ROWS_OF_32, ROWS_OF_64, TYPE_TABLE],
        FORCE_SWITCH => &[LORENTZ_BERTHELOT, ROWS_OF_32, ROWS_OF_64, TYPE_TABLE],
        _ => &[ROWS_OF_32, ROWS_OF_64, TYPE_TABLE],
    }
}

/// Runs the kernel over a range of chunks of a list, and adds the forces to `forces`, which holds [`Level::halves`]
/// arrays for each block, and the other results to `output`. There is one instantiation of the kernel for each
/// combination rule, each treatment of Lennard-Jones interactions at the cutoff, and each kind of output, for equal and
/// for different cutoffs. Variants that are seldom used share instantiations.
pub(super) fn run(
    level: Level,
    Variant { rule, end, split, energy }: Variant,
    input: PairInput<'_>,
    list: &PairList,
    range: Range<usize>,
    forces: &mut [[f32; 24]],
    output: &mut PairOutput,
) {
    macro_rules! run {
        ($rule:expr, $split:expr, $end:expr, $energy:expr) => {
            dispatch(
                level,
                PairKernel::<{ $rule }, { $split }, { $end }, { $energy }> { input, list, range, forces, output },
            )
        };
    }
    // steps with energies are rare, so one instantiation serves equal and different cutoffs
    macro_rules! shared_energy {
        ($rule:expr, $end:expr) => {
            match (split, energy) {
                (false, false) => run!($rule, false, $end, false),
                (true, false) => run!($rule, true, $end, false),
                _ => run!($rule, true, $end, true),
            }
        };
    }
    macro_rules! each_output {
        ($rule:expr) => {
            match (split, energy) {
                (false, true) => run!($rule, false, TRUNCATED, true),
                _ => shared_energy!($rule, TRUNCATED),
            }
        };
    }
    // few systems use these combination rules, so one instantiation serves equal and different cutoffs, with and
    // without energies
    macro_rules! shared {
        ($rule:expr, $end:expr) => {
            if energy { run!($rule, true, $end, true) } else { run!($rule, true, $end, false) }
        };
    }
    macro_rules! by_table {
        ($run:ident, $end:expr) => {
            match rule {
                ROWS_OF_32 => $run!(ROWS_OF_32, $end),
                ROWS_OF_64 => $run!(ROWS_OF_64, $end),
                _ => shared!(TYPE_TABLE, $end),
            }
        };
    }
    match (end, rule) {
        (_, UNLIMITED) => shared!(UNLIMITED, TRUNCATED),
        (TRUNCATED, GEOMETRIC) => each_output!(GEOMETRIC),
        (TRUNCATED, LORENTZ_BERTHELOT) => each_output!(LORENTZ_BERTHELOT),
        (TRUNCATED, ROWS_OF_16) => shared_energy!(ROWS_OF_16, TRUNCATED),
        (TRUNCATED, _) => by_table!(shared_energy, TRUNCATED),
        (FORCE_SWITCH, LORENTZ_BERTHELOT) => shared_energy!(LORENTZ_BERTHELOT, FORCE_SWITCH),
        (FORCE_SWITCH, _) => by_table!(shared_energy, FORCE_SWITCH),
        (POTENTIAL_SWITCH, _) => by_table!(shared, POTENTIAL_SWITCH),
        (_, _) => by_table!(shared, LJ_PME),
    }
}
