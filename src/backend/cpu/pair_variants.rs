//! Which instantiation of the pair kernel runs.

use super::pair_input::{
    FORCE_SWITCH, GEOMETRIC, INDUCED_DIPOLES, LJ_PME, LORENTZ_BERTHELOT, POTENTIAL_SWITCH, PairInput, PairOutput,
    ROWS_OF_16, ROWS_OF_32, ROWS_OF_64, TRUNCATED, TYPE_TABLE, UNLIMITED,
};
use super::pair_kernel::PairKernel;
use crate::pair::PairList;
use crate::simd::{Level, dispatch};
use crate::term::LjSwitch;
use std::ops::Range;

/// What the kernel is asked for, in addition to what its input has.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    /// of combination
    pub rule: u8,
    /// the cutoffs differ
    pub split: bool,
    /// with energies
    pub energy: bool,
}

/// Runs the kernel over a range of chunks of a list, adding to forces. There is one instantiation for each rule, cutoff, end
/// of the potential and output.
pub(super) fn run(
    level: Level,
    Variant { rule, split, energy }: Variant,
    input: PairInput<'_>,
    (list, range): (&PairList, Range<usize>),
    (forces, output): (&mut [[f32; 24]], &mut PairOutput),
) {
    macro_rules! run {
        ($rule:expr, $split:expr, $end:expr, $energy:expr) => {
            dispatch(
                level,
                PairKernel::<{ $rule }, { $split }, { $end }, { $energy }> { input, list, range, forces, output },
            )
        };
    }
    macro_rules! each_output {
        ($rule:expr) => {
            match (split, energy) {
                (false, false) => run!($rule, false, TRUNCATED, false),
                (false, true) => run!($rule, false, TRUNCATED, true),
                (true, false) => run!($rule, true, TRUNCATED, false),
                (true, true) => run!($rule, true, TRUNCATED, true),
            }
        };
    }
    // steps with energies are rare: one instantiation for equal and different cutoffs keeps the program small
    macro_rules! shared_energy {
        ($rule:expr, $end:expr) => {
            match (split, energy) {
                (false, false) => run!($rule, false, $end, false),
                (true, false) => run!($rule, true, $end, false),
                _ => run!($rule, true, $end, true),
            }
        };
    }
    // rare altogether: one for both cutoffs
    macro_rules! shared {
        ($rule:expr, $end:expr) => {
            if energy { run!($rule, true, $end, true) } else { run!($rule, true, $end, false) }
        };
    }
    let end = match (input.lj_switch, input.dispersion_tables) {
        (Some(LjSwitch::Force(_)), _) => FORCE_SWITCH,
        (Some(LjSwitch::Potential(_)), _) => POTENTIAL_SWITCH,
        (None, Some(_)) => LJ_PME,
        (None, None) if input.c4_table.is_empty() => TRUNCATED,
        (None, None) => INDUCED_DIPOLES,
    };
    match (rule, end) {
        (UNLIMITED, INDUCED_DIPOLES) => shared!(UNLIMITED, INDUCED_DIPOLES),
        (UNLIMITED, _) => shared!(UNLIMITED, TRUNCATED),
        (GEOMETRIC, TRUNCATED) => each_output!(GEOMETRIC),
        (LORENTZ_BERTHELOT, TRUNCATED) => each_output!(LORENTZ_BERTHELOT),
        (ROWS_OF_16, TRUNCATED) => shared_energy!(ROWS_OF_16, TRUNCATED),
        (ROWS_OF_32, TRUNCATED) => shared_energy!(ROWS_OF_32, TRUNCATED),
        (ROWS_OF_64, TRUNCATED) => shared_energy!(ROWS_OF_64, TRUNCATED),
        (_, TRUNCATED) => shared!(TYPE_TABLE, TRUNCATED),
        (GEOMETRIC, FORCE_SWITCH) => shared_energy!(GEOMETRIC, FORCE_SWITCH),
        (LORENTZ_BERTHELOT, FORCE_SWITCH) => shared_energy!(LORENTZ_BERTHELOT, FORCE_SWITCH),
        (ROWS_OF_16, FORCE_SWITCH) => shared_energy!(ROWS_OF_16, FORCE_SWITCH),
        (ROWS_OF_32, FORCE_SWITCH) => shared_energy!(ROWS_OF_32, FORCE_SWITCH),
        (ROWS_OF_64, FORCE_SWITCH) => shared_energy!(ROWS_OF_64, FORCE_SWITCH),
        (_, FORCE_SWITCH) => shared!(TYPE_TABLE, FORCE_SWITCH),
        (GEOMETRIC, POTENTIAL_SWITCH) => shared_energy!(GEOMETRIC, POTENTIAL_SWITCH),
        (LORENTZ_BERTHELOT, POTENTIAL_SWITCH) => shared_energy!(LORENTZ_BERTHELOT, POTENTIAL_SWITCH),
        (ROWS_OF_16, POTENTIAL_SWITCH) => shared_energy!(ROWS_OF_16, POTENTIAL_SWITCH),
        (ROWS_OF_32, POTENTIAL_SWITCH) => shared_energy!(ROWS_OF_32, POTENTIAL_SWITCH),
        (ROWS_OF_64, POTENTIAL_SWITCH) => shared_energy!(ROWS_OF_64, POTENTIAL_SWITCH),
        (_, POTENTIAL_SWITCH) => shared!(TYPE_TABLE, POTENTIAL_SWITCH),
        (GEOMETRIC, LJ_PME) => shared!(GEOMETRIC, LJ_PME),
        (LORENTZ_BERTHELOT, LJ_PME) => shared!(LORENTZ_BERTHELOT, LJ_PME),
        (ROWS_OF_16, LJ_PME) => shared!(ROWS_OF_16, LJ_PME),
        (ROWS_OF_32, LJ_PME) => shared!(ROWS_OF_32, LJ_PME),
        (ROWS_OF_64, LJ_PME) => shared!(ROWS_OF_64, LJ_PME),
        (_, LJ_PME) => shared!(TYPE_TABLE, LJ_PME),
        (GEOMETRIC, _) => shared!(GEOMETRIC, INDUCED_DIPOLES),
        (LORENTZ_BERTHELOT, _) => shared!(LORENTZ_BERTHELOT, INDUCED_DIPOLES),
        (ROWS_OF_16, _) => shared!(ROWS_OF_16, INDUCED_DIPOLES),
        (ROWS_OF_32, _) => shared!(ROWS_OF_32, INDUCED_DIPOLES),
        (ROWS_OF_64, _) => shared!(ROWS_OF_64, INDUCED_DIPOLES),
        (_, _) => shared!(TYPE_TABLE, INDUCED_DIPOLES),
    }
}
