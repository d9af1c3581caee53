//! Which kernels a step is made of, in which order.

use super::device::{Device, Direction, Launch};
use super::kernel::Kernel;
use super::layout::{
    Arguments, BONDED_KINDS, COUPLED_THREADS, RULE_GEOMETRIC, RULE_LORENTZ_BERTHELOT, SEARCH_WARPS, UNIT_KINDS, WARP,
};
use super::lists::{BLOCK, over};
use crate::error::Result;

/// Forces at the current positions, from the present lists; `sums`: energies and virial too, which start at zero.
pub(super) fn forces(device: &impl Device, a: &Arguments, rule: u32, sums: bool) -> Result<()> {
    device.launch(over(Kernel::Pack, a.slots), a)?;
    if a.order == 0 {
        return short_range(device, a, rule, sums);
    }
    device.side_by_side(|device| long_range(device, a, sums), |device| short_range(device, a, rule, sums))
}

/// Pairs within the cutoff, and bonded terms.
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
    device.launch(Launch { block: SEARCH_WARPS * WARP, ..over(pairs, a.chunk_capacity * WARP) }, a)?;
    let terms = a.bonded_starts[BONDED_KINDS as usize];
    if terms > 0 {
        device.launch(over(if sums { Kernel::BondedSums } else { Kernel::Bonded }, terms), a)?;
    }
    Ok(())
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

/// The move; `sums`: kinetic energies and the virial of constraints too, which start at zero.
pub(super) fn advance(device: &impl Device, a: &Arguments, timestep: f64, sums: bool) -> Result<()> {
    let [units_kernel, chains_kernel] = match sums {
        true => [Kernel::AdvanceSums, Kernel::AdvanceChainsSums],
        false => [Kernel::Advance, Kernel::AdvanceChains],
    };
    device.launch(Launch { parameter: timestep, ..units(units_kernel, a) }, a)?;
    device.launch(Launch { parameter: timestep, ..chains(chains_kernel, a) }, a)
}

/// A kernel with a thread for each unit.
fn units(kernel: Kernel, a: &Arguments) -> Launch {
    Launch { kernel, threads: a.unit_starts[UNIT_KINDS as usize], block: BLOCK, parameter: 0.0 }
}

/// A kernel with a block of threads for each chain.
fn chains(kernel: Kernel, a: &Arguments) -> Launch {
    Launch { kernel, threads: a.chain_count * COUPLED_THREADS, block: COUPLED_THREADS, parameter: 0.0 }
}

/// Velocities times what the thermostat of `a` makes of the kinetic energies of the last move, if these are within
/// `limit` (kJ/mol).
pub(super) fn couple(device: &impl Device, a: &Arguments, limit: f64) -> Result<()> {
    device.launch(Launch { parameter: limit, ..over(Kernel::Couple, a.atoms) }, a)
}

/// Kinetic energies of the present velocities to the sums, which start at zero.
pub(super) fn kinetic(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(units(Kernel::Kinetic, a), a)?;
    device.launch(chains(Kernel::KineticChains, a), a)
}

/// Positions times a factor, then the fixed distances.
pub(super) fn scale_positions(device: &impl Device, a: &Arguments, factor: f64) -> Result<()> {
    device.launch(Launch { parameter: factor, ..units(Kernel::ScalePositions, a) }, a)?;
    device.launch(Launch { parameter: factor, ..chains(Kernel::ScaleChains, a) }, a)
}

/// Velocities times a factor.
pub(super) fn scale_velocities(device: &impl Device, a: &Arguments, factor: f64) -> Result<()> {
    device.launch(Launch { parameter: factor, ..over(Kernel::ScaleVelocities, a.atoms) }, a)
}

/// The motion of the centre of mass of a system of so many amu; sums start at zero.
pub(super) fn remove_translation(device: &impl Device, a: &Arguments, mass: f64) -> Result<()> {
    device.launch(over(Kernel::Momentum, a.atoms), a)?;
    device.launch(Launch { parameter: 1.0 / mass, ..over(Kernel::RemoveMomentum, a.atoms) }, a)
}
