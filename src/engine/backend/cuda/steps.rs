//! Launches of the kernels of an integration step, in the order of the step.

use super::device::{BLOCK, Device, Launch, clear, over};
use super::host_forces;
use super::kernel::Kernel;
use super::layout::{
    ALL_ATOMS_THREADS, Arguments, BONDED_KINDS, COUPLED_THREADS, RULE_FORCE_SWITCH, RULE_GEOMETRIC,
    RULE_LORENTZ_BERTHELOT, RULE_POTENTIAL_SWITCH, SEARCH_WARPS, SPREAD_ATOMS, SPREAD_PLANES, SUM_MOMENTUM,
    UPDATE_GROUP_KINDS, WARP,
};
use super::mesh;
use super::shared::Pointer;
use super::virtual_sites;
use crate::constraint::RemovedMotion;
use crate::error::Result;

/// Packs positions for the next forces, and clears forces and sums.
pub(super) fn pack(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(over(Kernel::Pack, a.slots), a)
}

/// Computes forces at the packed positions from the current lists, and energies and virial if `sums` is true.
pub(super) fn forces(device: &impl Device, a: &Arguments, rule: u32, sums: bool) -> Result<()> {
    match a.order {
        0 => short_range(device, a, rule, sums),
        _ => device.concurrently(|device| long_range(device, a, sums), |device| short_range(device, a, rule, sums)),
    }?;
    host_forces::add(device, a, sums)?;
    virtual_sites::spread(device, a, sums)
}

/// Computes pair interactions within the cutoff, and bonded terms.
fn short_range(device: &impl Device, a: &Arguments, rule: u32, sums: bool) -> Result<()> {
    let kernel = match (rule, sums) {
        (RULE_GEOMETRIC, false) => Kernel::PairGeometric,
        (RULE_GEOMETRIC, true) => Kernel::PairGeometricSums,
        (RULE_LORENTZ_BERTHELOT, false) => Kernel::PairLorentzBerthelot,
        (RULE_LORENTZ_BERTHELOT, true) => Kernel::PairLorentzBerthelotSums,
        (RULE_FORCE_SWITCH, false) => Kernel::PairForceSwitch,
        (RULE_FORCE_SWITCH, true) => Kernel::PairForceSwitchSums,
        (RULE_POTENTIAL_SWITCH, false) => Kernel::PairPotentialSwitch,
        (RULE_POTENTIAL_SWITCH, true) => Kernel::PairPotentialSwitchSums,
        (_, false) => Kernel::PairTypeTable,
        (_, true) => Kernel::PairTypeTableSums,
    };
    let block = SEARCH_WARPS * WARP;
    // two warps are launched for each chunk that the list can hold, and warps without a chunk return at once. The
    // hardware starts a block when another block ends, which balances the load and lets blocks of the mesh kernels run
    // in between
    let blocks = (2 * a.chunk_capacity).div_ceil(SEARCH_WARPS) + a.bonded_starts[BONDED_KINDS as usize].div_ceil(block);
    device.launch(Launch { block, ..over(kernel, blocks * block) }, a)
}

/// Sets the force constants of all position restraints, which form `sets` sets, before the next forces are computed.
/// `time` is in ps since the start of the stage.
pub(super) fn set_force_constants(device: &impl Device, a: &Arguments, sets: u32, time: f64) -> Result<()> {
    device.launch(Launch { parameter: time, ..over(Kernel::SetForceConstants, sets) }, a)
}

/// Adds the work of time-dependent force constants, after a step of `timestep` (ps).
pub(super) fn book_restraint_work(device: &impl Device, a: &Arguments, timestep: f64) -> Result<()> {
    device.launch(Launch { block: WARP, parameter: timestep, ..over(Kernel::BookRestraintWork, 1) }, a)
}

/// Computes the reciprocal-space forces (PME).
fn long_range(device: &impl Device, a: &Arguments, sums: bool) -> Result<()> {
    let (spread, gather) = match a.order {
        4 => (Kernel::Spread4, Kernel::Gather4),
        5 => (Kernel::Spread5, Kernel::Gather5),
        6 => (Kernel::Spread6, Kernel::Gather6),
        _ => (Kernel::Spread8, Kernel::Gather8),
    };
    // each atom takes `order` lanes, and a warp processes as many atoms as its 32 lanes can hold
    let lanes = a.slots.div_ceil(WARP / a.order) * WARP;
    let (spread_blocks, block) = (a.slots.div_ceil(SPREAD_ATOMS), SPREAD_ATOMS * SPREAD_PLANES);
    device.launch(Launch { block, ..over(spread, spread_blocks * block) }, a)?;
    mesh::solve(device, a, sums)?;
    device.launch(over(gather, lanes), a)
}

/// Integrates a step. If `sums` is true, kinetic energies and the constraint virial are added to the sums, which
/// [`pack`] has cleared. If `renews` is true, a thermostat refreshes velocities in the middle of the step.
pub(super) fn advance(device: &impl Device, a: &Arguments, timestep: f64, sums: bool, renews: bool) -> Result<()> {
    let [groups_kernel, coupled_kernel] = match (sums, renews) {
        (false, false) => [Kernel::Advance, Kernel::AdvanceCoupled],
        (true, false) => [Kernel::AdvanceSums, Kernel::AdvanceCoupledSums],
        (false, true) => [Kernel::AdvanceRefreshed, Kernel::AdvanceCoupledRefreshed],
        (true, true) => [Kernel::AdvanceRefreshedSums, Kernel::AdvanceCoupledRefreshedSums],
    };
    // at least one thread is launched, even if all update groups have coupled constraints, because the first thread
    // counts steps
    let groups = update_groups(groups_kernel, a);
    device.launch(Launch { parameter: timestep, threads: groups.threads.max(1), ..groups }, a)?;
    device.launch(Launch { parameter: timestep, ..coupled_clusters(coupled_kernel, a) }, a)?;
    virtual_sites::place(device, a, true)
}

/// Returns the launch of a kernel with one thread per update group.
fn update_groups(kernel: Kernel, a: &Arguments) -> Launch {
    over(kernel, a.update_group_starts[UPDATE_GROUP_KINDS as usize])
}

/// Returns the launch of a kernel with one block of threads per cluster of coupled constraints.
fn coupled_clusters(kernel: Kernel, a: &Arguments) -> Launch {
    Launch { block: COUPLED_THREADS, ..over(kernel, a.coupled_count * COUPLED_THREADS) }
}

/// Partially renews velocities in the middle of the last step, whose length is `timestep` (ps).
pub(super) fn refresh(device: &impl Device, a: &Arguments, timestep: f64) -> Result<()> {
    let groups = update_groups(Kernel::Refresh, a);
    device.launch(Launch { parameter: timestep, threads: groups.threads.max(1), ..groups }, a)?;
    device.launch(Launch { parameter: timestep, ..coupled_clusters(Kernel::RefreshCoupled, a) }, a)?;
    virtual_sites::place(device, a, false)
}

/// Makes the refreshment in the arguments `a` the next refreshment on the device.
pub(super) fn set_refreshment(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(Launch { block: WARP, ..over(Kernel::SetRefreshment, 1) }, a)
}

/// Rescales velocities by a factor that the kernel computes from the thermostat parameters in `a`. Halts the run if the
/// kinetic energy exceeds `limit` (kJ/mol).
pub(super) fn rescale_velocities(device: &impl Device, a: &Arguments, limit: f64) -> Result<()> {
    device.launch(Launch { parameter: limit, ..over(Kernel::RescaleVelocities, a.atoms) }, a)
}

/// Scales the cell and the centers of mass of the update groups. The kernel computes the scale factors from the
/// barostat parameters in `a` and the pressure of the last step.
pub(super) fn scale_box(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(Launch { parameter: 1.0, ..over(Kernel::ChangeCell, BLOCK) }, a)?;
    device.launch(update_groups(Kernel::Scale, a), a)?;
    device.launch(coupled_clusters(Kernel::ScaleCoupled, a), a)?;
    virtual_sites::place(device, a, false)
}

/// Adds the pending work of thermostat and barostat, after a step of `timestep` (ps).
pub(super) fn finish_work(device: &impl Device, a: &Arguments, timestep: f64) -> Result<()> {
    device.launch(Launch { block: WARP, parameter: timestep, ..over(Kernel::FinishWork, 1) }, a)
}

/// Computes the quantities that are derived from the lattice vectors.
pub(super) fn derive_cell(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(over(Kernel::ChangeCell, BLOCK), a)
}

/// Removes a motion of the whole system. `mass` is the total mass of the system in amu.
pub(super) fn remove_motion(device: &impl Device, a: &Arguments, motion: RemovedMotion, mass: f64) -> Result<()> {
    match motion {
        RemovedMotion::Nothing => Ok(()),
        RemovedMotion::Translation => remove_translation(device, a, mass),
        RemovedMotion::TranslationAndRotation => stop_motion(device, a),
    }
}

/// Removes the motion of the center of mass. `mass` is the total mass of the system in amu.
fn remove_translation(device: &impl Device, a: &Arguments, mass: f64) -> Result<()> {
    let first = a.sums.0 + u64::from(SUM_MOMENTUM) * size_of::<i64>() as u64;
    clear(device, Pointer::<i64>::new(first), 3)?;
    device.launch(over(Kernel::Momentum, a.atoms), a)?;
    device.launch(Launch { parameter: 1.0 / mass, ..over(Kernel::RemoveMomentum, a.atoms) }, a)
}

/// Removes the motion of the center of mass, and the rotation about the center of mass.
fn stop_motion(device: &impl Device, a: &Arguments) -> Result<()> {
    device.launch(Launch { block: ALL_ATOMS_THREADS, ..over(Kernel::StopMotion, ALL_ATOMS_THREADS) }, a)
}
