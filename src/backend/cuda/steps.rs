//! Which kernels a step is made of, in which order.

use super::device::{Device, Direction, Launch, clear};
use super::kernel::Kernel;
use super::layout::{
    ALL_ATOMS_THREADS, Arguments, BONDED_KINDS, COUPLED_THREADS, RULE_GEOMETRIC, RULE_LORENTZ_BERTHELOT, SEARCH_WARPS,
    SUM_MOMENTUM, UNIT_KINDS, WARP,
};
use super::lists::{BLOCK, over};
use super::shared::Pointer;
use crate::error::Result;

/// Forces at the current positions, from the present lists; `sums`: energies and virial too.
pub(super) fn forces(device: &impl Device, a: &Arguments, rule: u32, sums: bool) -> Result<()> {
    device.launch(over(Kernel::Pack, a.slots), a)?;
    if a.order == 0 {
        return short_range(device, a, rule, sums);
    }
    device.side_by_side(|device| long_range(device, a, sums), |device| short_range(device, a, rule, sums))
}

/// Pairs within the cutoff, and beside them bonded terms, which would else wait until the last pair is done.
fn short_range(device: &impl Device, a: &Arguments, rule: u32, sums: bool) -> Result<()> {
    let pairs = match (rule, sums) {
        (RULE_GEOMETRIC, false) => Kernel::PairGeometric,
        (RULE_GEOMETRIC, true) => Kernel::PairGeometricSums,
        (RULE_LORENTZ_BERTHELOT, false) => Kernel::PairLorentzBerthelot,
        (RULE_LORENTZ_BERTHELOT, true) => Kernel::PairLorentzBerthelotSums,
        (_, false) => Kernel::PairTypeTable,
        (_, true) => Kernel::PairTypeTableSums,
    };
    // as many warps as there may be chunks, most of which end at once: the hardware gives out blocks as others end, which
    // levels the work and lets the mesh in between
    let pairs = Launch { block: SEARCH_WARPS * WARP, ..over(pairs, a.chunk_capacity * WARP) };
    let terms = a.bonded_starts[BONDED_KINDS as usize];
    if terms == 0 {
        return device.launch(pairs, a);
    }
    let bonded = over(if sums { Kernel::BondedSums } else { Kernel::Bonded }, terms);
    device.side_by_side(|device| device.launch(bonded, a), |device| device.launch(pairs, a))
}

/// The mesh.
fn long_range(device: &impl Device, a: &Arguments, sums: bool) -> Result<()> {
    let (spread, gather) = match a.order {
        4 => (Kernel::Spread4, Kernel::Gather4),
        5 => (Kernel::Spread5, Kernel::Gather5),
        6 => (Kernel::Spread6, Kernel::Gather6),
        _ => (Kernel::Spread8, Kernel::Gather8),
    };
    // as many atoms share a warp as have all their lanes in it
    let lanes = a.slots.div_ceil(WARP / a.order) * WARP;
    let points = a.grid_x * a.grid_y * a.grid_z;
    device.launch(over(spread, lanes), a)?;
    device.launch(over(Kernel::ConvertGrid, points), a)?;
    device.transform(Direction::Forward, a.grid.0, a.spectrum.0)?;
    let waves = a.grid_x * a.grid_y * (a.grid_z / 2 + 1);
    device.launch(over(if sums { Kernel::SolveSums } else { Kernel::Solve }, waves), a)?;
    device.transform(Direction::Inverse, a.grid.0, a.spectrum.0)?;
    device.launch(over(gather, lanes), a)
}

/// The move; `sums`: kinetic energies and the virial of constraints too, after [`forces`], which has them start at zero.
pub(super) fn advance(device: &impl Device, a: &Arguments, timestep: f64, sums: bool) -> Result<()> {
    let [units_kernel, chains_kernel] = match sums {
        true => [Kernel::AdvanceSums, Kernel::AdvanceChainsSums],
        false => [Kernel::Advance, Kernel::AdvanceChains],
    };
    // the first thread counts moves, even where only chains do
    let units = units(units_kernel, a);
    device.launch(Launch { parameter: timestep, threads: units.threads.max(1), ..units }, a)?;
    device.launch(Launch { parameter: timestep, ..chains(chains_kernel, a) }, a)
}

/// A kernel with a thread for each unit.
fn units(kernel: Kernel, a: &Arguments) -> Launch {
    over(kernel, a.unit_starts[UNIT_KINDS as usize])
}

/// A kernel with a block of threads for each chain.
fn chains(kernel: Kernel, a: &Arguments) -> Launch {
    Launch { kernel, threads: a.chain_count * COUPLED_THREADS, block: COUPLED_THREADS, parameter: 0.0 }
}

/// Velocities times what the thermostat of `a` makes of their kinetic energy, where those of the last move are within `limit`
/// (kJ/mol).
pub(super) fn rescale_velocities(device: &impl Device, a: &Arguments, limit: f64) -> Result<()> {
    device.launch(Launch { parameter: limit, ..over(Kernel::RescaleVelocities, a.atoms) }, a)
}

/// The cell and the centres of units times what the barostat of `a` makes of the last forces and the last move.
pub(super) fn scale_box(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(Launch { parameter: 1.0, ..over(Kernel::ChangeCell, BLOCK) }, a)?;
    device.launch(units(Kernel::Scale, a), a)?;
    device.launch(chains(Kernel::ScaleChains, a), a)
}

/// The rest of the work of couplings, after a move of `timestep` (ps).
pub(super) fn finish_work(device: &impl Device, a: &Arguments, timestep: f64) -> Result<()> {
    device.launch(Launch { block: WARP, parameter: timestep, ..over(Kernel::FinishWork, 1) }, a)
}

/// What follows from the rows of the cell.
pub(super) fn place_cell(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(over(Kernel::ChangeCell, BLOCK), a)
}

/// The motion of the centre of mass of a system of so many amu.
pub(super) fn remove_translation(device: &impl Device, a: &Arguments, mass: f64) -> Result<()> {
    let first = a.sums.0 + u64::from(SUM_MOMENTUM) * size_of::<i64>() as u64;
    clear(device, Pointer::<i64>::new(first), 3)?;
    device.launch(over(Kernel::Momentum, a.atoms), a)?;
    device.launch(Launch { parameter: 1.0 / mass, ..over(Kernel::RemoveMomentum, a.atoms) }, a)
}

/// That, and the rotation about it.
pub(super) fn stop_motion(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(Launch { block: ALL_ATOMS_THREADS, ..over(Kernel::StopMotion, ALL_ATOMS_THREADS) }, a)
}
