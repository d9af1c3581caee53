//! Which instantiation of the pair kernel runs.

use super::pair_input::{
    FORCE_SWITCH, GEOMETRIC, LJ_PME, LORENTZ_BERTHELOT, POTENTIAL_SWITCH, PairInput, PairOutput, ROWS_OF_16,
    ROWS_OF_32, ROWS_OF_64, TRUNCATED, TYPE_TABLE, UNLIMITED,
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
    macro_rules! each_output {
        ($rule:expr) => {
            match (split, energy) {
                (false, true) => run!($rule, false, TRUNCATED, true),
                _ => shared_energy!($rule, TRUNCATED),
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
        (None, None) => TRUNCATED,
    };
    macro_rules! by_rule {
        ($run:ident, $end:expr) => {
            match rule {
                GEOMETRIC => $run!(GEOMETRIC, $end),
                LORENTZ_BERTHELOT => $run!(LORENTZ_BERTHELOT, $end),
                ROWS_OF_16 => $run!(ROWS_OF_16, $end),
                ROWS_OF_32 => $run!(ROWS_OF_32, $end),
                ROWS_OF_64 => $run!(ROWS_OF_64, $end),
                _ => shared!(TYPE_TABLE, $end),
            }
        };
    }
    match (rule, end) {
        (UNLIMITED, _) => shared!(UNLIMITED, TRUNCATED),
        (GEOMETRIC, TRUNCATED) => each_output!(GEOMETRIC),
        (LORENTZ_BERTHELOT, TRUNCATED) => each_output!(LORENTZ_BERTHELOT),
        (_, TRUNCATED) => by_rule!(shared_energy, TRUNCATED),
        (_, FORCE_SWITCH) => by_rule!(shared_energy, FORCE_SWITCH),
        (_, POTENTIAL_SWITCH) => by_rule!(shared, POTENTIAL_SWITCH),
        (_, _) => by_rule!(shared, LJ_PME),
    }
}
