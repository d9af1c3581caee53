//! CUDA backend. State, pair lists and forces are in device memory, and the host reads only the data that output
//! needs.
//!
//! `kernels/` holds the device code, with file names like those of the modules of the CPU backend. `layout` holds the
//! structures that host and device share. Steps without output are captured as a CUDA graph and replayed. The host
//! waits for the device only when the host reads a result or computes forces. Readers of the code should begin with
//! [`Cuda`] and continue with `steps`.
//!
//! Thermostats and barostats do not synchronise host and device. The random numbers of thermostats and barostats are
//! drawn by the host in advance, or by the integration kernel. Kinetic energies, virial and cell stay on the device.
//! Pair lists whose lifetime is limited by displacements do not synchronise host and device either, unless the host
//! computes forces; see `list_lifetime`.
//!
//! Kernels per step with PME and without coupled constraints:
//!
//! - 7 kernels in every step: charge spreading; three kernels for the transforms and the influence function; force
//!   gathering; pairs with bonded terms; integration, which also packs positions for the next step
//! - one more kernel if positions were changed after the integration, or if sums must be cleared
//! - five more kernels if cuFFT transforms the mesh (see `mesh`): eight kernels (conversion of the mesh, influence
//!   function, and two transforms of three kernels each) replace three kernels
//! - one more kernel for coupled constraints
//! - two more kernels for virtual sites
//! - one more kernel for a rescaling of velocities; a velocity refreshment needs no further kernel
//! - two more kernels for a scaling by a barostat (three with coupled constraints or virtual sites, four with both).
//!   After the scaling, a velocity refreshment takes one more kernel (two with coupled constraints or virtual sites,
//!   three with both)
//! - one more kernel in the step after a rescaling of velocities, or after a scaling by a barostat
//! - two more kernels for the removal of center-of-mass motion (one without a cell)
//! - two more kernels if the host computes external forces or restraints of collective variables; host and device then
//!   wait for each other in every step (see `host_forces`)
//!
//! With velocity rescaling every ten steps a step has 7.4 kernels on average. With velocity rescaling and a barostat,
//! a step has 7.6 kernels on average. PME runs concurrently with pairs and bonded terms, and the
//! short kernels of PME have priority.
//!
//! Forces, sums of energies and the charges on the mesh are added up as integers (fixed point), so the order of
//! additions changes no bit of the result. After a fault the device makes no further steps. The host reports the fault
//! when it next reads a result.

mod cache;
mod clock;
mod compiler;
mod device;
pub(crate) mod emulator;
mod gpu;
mod host_forces;
mod integration;
mod kernel;
mod lattice;
mod layout;
mod list_lifetime;
mod lists;
mod mesh;
mod model;
mod refreshment;
mod replay;
mod restraints;
mod shared;
mod source;
mod steps;
mod sums;
#[cfg(test)]
mod tests;
mod virtual_sites;
mod volume;
mod volume_terms;

use super::{
    Backend, Energies, Evaluation, ExternalForce, Feature, Kinetic, Leapfrog, ListLevel, PairCounts, Phases, Workload,
    host, unsupported, volume_move,
};
use crate::cell::PeriodicCell;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::{BoxScaling, Relaxation};
use crate::ensemble::multiple_time_steps::LongRange;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::rescaling::Rescaling;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::{Error, Problem, Result};
use crate::pair::ListSchedule;
use crate::restraint::{Restraining, RestraintProgress, Restraints};
use crate::system::{Coupling, State, System, TrialMoves};
use crate::vec3::{Mat3, Vec3};
use bytemuck::Zeroable;
use clock::Clock;
use device::{Timing, allocate, copy, read, read_one, write};
use host_forces::HostForces;
use layout::{Arguments, Lattice, NO_ATOM, SUM_SCALE, Status};
use list_lifetime::ListLifetime;
use replay::StepRequest;
use shared::Pointer;
use std::cell::{Cell, RefCell};
use sums::Sums;
use volume::VolumeTrials;
use volume_terms::VolumeTerms;

pub use cache::Programs;
pub use device::Device;
pub use emulator::device::Emulated;
pub use gpu::Gpu;
pub use gpu::{Limits, limits};

/// Returns the name of GPU `number`, or an error with the reason why the GPU cannot be used. The function compiles no
/// kernel.
pub fn find(number: u32) -> Result<String> {
    gpu::find(number)
}

pub use kernel::Kernel;
/// Returns the atoms in the order in which the kernels sort them.
#[cfg(test)]
pub(crate) use tests::sorted_on_device;

/// Returns an error if the kernels do not support the system.
pub fn check(system: &System) -> std::result::Result<(), Problem> {
    model::check(system).map(|_| ())
}

/// Positions and cell at which a list was built.
struct Snapshot {
    cell: Pointer<Lattice>,
    positions: Pointer<Vec3>,
}

/// The state of a run on a device.
pub struct Cuda<D> {
    device: D,
    arguments: Arguments,
    /// Lennard-Jones rule of the pair kernels, one of the constants `RULE_…` of [`layout`]
    rule: u32,
    masses: Vec<f64>,
    volume_terms: VolumeTerms,
    /// host copy of the cell
    cell: Cell<Option<PeriodicCell>>,
    /// whether a barostat has changed the cell on the device since the host copied it
    cell_is_old: Cell<bool>,
    snapshots: [Snapshot; 2],
    evaluation: Evaluation,
    /// positions before the step that failed, or the last uploaded positions
    last_good: Vec<Vec3>,
    /// pending request for forces without energies, which the next step will compute; `Some(true)` if the virial was
    /// requested too
    pending: Option<bool>,
    /// whether the positions packed by the last integration can still be used; false if positions have changed or
    /// forces have been added since then
    packed: bool,
    list_lifetime: ListLifetime,
    /// next velocity refreshment on the device; `None` if the host does not know this refreshment
    next_refreshment: Option<layout::Refreshment>,
    /// number that changes whenever the arguments change, because captured graphs hold a copy of the arguments
    epoch: u64,
    clock: RefCell<Clock>,
    /// number of outer lists that have been built
    searches: u64,
    /// steps requested since the last search
    step_requests: Vec<StepRequest>,
    restraints: Restraining,
    trials: VolumeTrials,
    host_forces: HostForces,
}

impl<D: Device> Cuda<D> {
    /// Returns the device on which the run takes place.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Uploads a system to a device.
    pub fn new(system: &System, mut device: D, schedule: &ListSchedule) -> Result<Self> {
        super::check_system(system)?;
        let (arguments, rule) = model::upload(&mut device, system, schedule)?;
        let atoms = &system.topology.atoms;
        let searched = Snapshot { cell: arguments.searched_cell, positions: arguments.searched };
        let pruned = Snapshot { cell: allocate(&device, 1)?, positions: allocate(&device, atoms.len())? };
        let mut cuda = Cuda {
            snapshots: [searched, pruned],
            device,
            arguments,
            rule,
            masses: atoms.iter().map(|atom| atom.mass).collect(),
            volume_terms: VolumeTerms::new(system),
            cell: Cell::new(None),
            cell_is_old: Cell::new(false),
            evaluation: Evaluation::default(),
            last_good: vec![],
            pending: None,
            packed: false,
            list_lifetime: ListLifetime::new(),
            next_refreshment: None,
            epoch: 0,
            clock: RefCell::default(),
            searches: 0,
            step_requests: vec![],
            restraints: Restraining::default(),
            trials: VolumeTrials::new(system.topology.molecules()),
            host_forces: HostForces::default(),
        };
        cuda.arguments.virial_times_volume = cuda.volume_terms.virial(1.0);
        Ok(cuda)
    }

    /// Returns the status after all launched steps, or an error if a step has failed. Before it returns an error, the
    /// function reads the positions before the failed step.
    fn check(&mut self) -> Result<Status> {
        let result = sums::check(&self.device, &self.arguments);
        if result.is_err() {
            self.cell()?;
            // if a force is too large, the step is not integrated, so that the current positions are valid; for any
            // other failure the device has kept the positions before the step
            let Status { overflow, failed, .. } = read_one(&self.device, self.arguments.status)?;
            let Arguments { positions, old, .. } = self.arguments;
            let last = if overflow != NO_ATOM && failed[0] == NO_ATOM { positions } else { old };
            read(&self.device, last, &mut self.last_good)?;
        }
        result
    }

    fn snapshot(&self, list: ListLevel) -> Result<()> {
        let (a, snapshot) = (&self.arguments, &self.snapshots[list as usize]);
        copy(&self.device, a.cell, snapshot.cell, 1)?;
        copy(&self.device, a.positions, snapshot.positions, self.masses.len())
    }

    /// Sets energies and virial to the sums of the kernels plus the terms that depend only on the volume.
    fn evaluate(&mut self, sums: &Sums, workload: Workload) -> Result<()> {
        let (mut energies, mut virial) = (sums.energies(), sums.virial());
        if let Some(volume) = self.cell()?.map(|cell| cell.volume()) {
            self.volume_terms.add(volume, &mut energies, &mut virial);
        }
        self.host_forces.add_energies(&mut energies);
        self.evaluation.energies = energies;
        self.evaluation.virial = if workload.virial { virial } else { Mat3::ZERO };
        Ok(())
    }

    /// Returns the upper limit (kJ/mol) of the sum of two kinetic energies: half a step before and half a step after
    /// the time of the forces.
    fn largest_kinetic(&self) -> f64 {
        host::failure::LARGEST_KINETIC * self.masses.len() as f64
    }

    /// Returns an error that names the fastest atom if the kinetic energy (kJ/mol) is NaN or above the limit.
    fn check_motion(&mut self, kinetic: f64) -> Result<()> {
        if kinetic <= self.largest_kinetic() {
            return Ok(());
        }
        read(&self.device, self.arguments.old, &mut self.last_good)?;
        Err(sums::flying_off(&self.device, &self.arguments)?)
    }

    fn read_state(&self, state: &mut State) -> Result<()> {
        state.cell = self.cell()?;
        state.positions.resize(self.masses.len(), Vec3::ZERO);
        state.velocities.resize(self.masses.len(), Vec3::ZERO);
        read(&self.device, self.arguments.positions, &mut state.positions)?;
        read(&self.device, self.arguments.velocities, &mut state.velocities)
    }
}

fn coupling(status: &Status, trials: [TrialMoves; 3]) -> Coupling {
    let Status { barostat_work, pending_scaling, pending_rescaling, .. } = *status;
    let thermostat_work = status.thermostat_work + status.refreshment_work as f64 / SUM_SCALE;
    let pending_rescaling = if pending_rescaling == 0.0 { vec![] } else { vec![pending_rescaling] };
    let pending_scaling = Vec3::from(pending_scaling);
    Coupling { thermostat_work, barostat_work, pending_scaling, pending_rescaling, trials, ..Coupling::default() }
}

/// Converts the parameters of a barostat for the kernels.
fn on_device(scaling: &BoxScaling) -> layout::BoxScaling {
    let extents = scaling.coupling.extents();
    let relaxation = |extent: usize| {
        let Relaxation { rate, pressure, thermal, noise, stochastic } = scaling.relaxations[extent];
        let directions = extents.get(extent).map_or(0, |directions| directions.len() as u32);
        layout::Relaxation { rate, pressure, thermal, noise, stochastic: stochastic.into(), directions }
    };
    let relaxations = std::array::from_fn(relaxation);
    layout::BoxScaling { relaxations, surface_tension: scaling.surface_tension }
}

impl<D: Device> Cuda<D> {
    /// Multiplies all velocities by the factor that the thermostat computes from their kinetic energy.
    fn rescale_velocities(&mut self, rescaling: Rescaling) -> Result<()> {
        self.amend_last_request(|asked| asked.rescaling = Some(rescaling));
        let Rescaling { kept, along, across } = rescaling;
        let arguments = Arguments { rescaling: layout::Rescaling { kept, along, across }, ..self.arguments };
        steps::rescale_velocities(&self.device, &arguments, self.largest_kinetic())
    }
}

impl<D: Device> Backend for Cuda<D> {
    fn description(&self) -> String {
        self.device.name()
    }

    fn upload(&mut self, state: &State) -> Result<()> {
        self.cell.set(state.cell);
        self.cell_is_old.set(false);
        let a = &self.arguments;
        let Coupling { thermostat_work, barostat_work, pending_scaling, ref pending_rescaling, .. } = state.coupling;
        let pending_rescaling = pending_rescaling.first().copied().unwrap_or_default();
        let pending_scaling = pending_scaling.to_array();
        let work = Status { thermostat_work, barostat_work, pending_scaling, pending_rescaling, ..Status::zeroed() };
        let no_fault = Status { overflow: NO_ATOM, failed: [NO_ATOM; 2], ..work };
        write(&self.device, a.status, &[no_fault])?;
        write(&self.device, a.positions, &state.positions)?;
        write(&self.device, a.old, &state.positions)?;
        write(&self.device, a.velocities, &state.velocities)?;
        write(&self.device, a.cell, &[lattice::lattice(state.cell.as_ref())])?;
        self.trials.moves = state.coupling.trials;
        self.last_good.clone_from(&state.positions);
        virtual_sites::place_first(&self.device, a, &mut self.last_good)?;
        (self.pending, self.packed) = (None, false);
        self.list_lifetime.restart();
        self.next_refreshment = None;
        self.step_requests.clear();
        steps::derive_cell(&self.device, &self.arguments)
    }

    fn download(&self, state: &mut State) -> Result<()> {
        state.coupling = coupling(&sums::check(&self.device, &self.arguments)?, self.trials.moves);
        self.read_state(state)
    }

    fn previous_positions(&self) -> (Option<PeriodicCell>, &[Vec3]) {
        (self.cell.get(), &self.last_good)
    }

    fn cell(&self) -> Result<Option<PeriodicCell>> {
        if self.cell_is_old.get() {
            self.cell.set(lattice::cell(&read_one(&self.device, self.arguments.cell)?));
            self.cell_is_old.set(false);
        }
        Ok(self.cell.get())
    }

    fn build_lists(&mut self) -> Result<()> {
        let cell = self.cell()?;
        self.packed = false;
        let a = &mut self.arguments;
        let reallocated = self.device.timed(Timing::Lists, |device| lists::rebuild(device, a, cell.as_ref()))?;
        // the times can be read without a wait: all launches are complete, because the search has waited for the list
        // length
        let spans = self.device.spans()?;
        let clock = self.clock.get_mut();
        clock.lists_built();
        clock.add(&spans);
        self.epoch += u64::from(reallocated);
        self.snapshot(ListLevel::Outer)?;
        lists::reset_expiry(&self.device, &self.arguments)?;
        self.list_lifetime.lists_built();
        // the next refreshment on the device is unknown after a search, because steps that the device skipped are
        // replayed together with their velocity refreshments
        self.next_refreshment = None;
        self.step_requests.clear();
        self.searches += 1;
        Ok(())
    }

    fn lists_expired(&mut self, lists: &ListSchedule, must_know: bool) -> Result<bool> {
        loop {
            // if the host computes forces, the lists are checked before every step, because the host must not compute
            // forces for a step that the device then skips
            let is_due = must_know || self.computes_on_host() || self.list_lifetime.is_check_due();
            if !lists.is_exact() || !is_due {
                return Ok(false);
            }
            lists::check_displacements(&self.device, &self.arguments)?;
            let status = self.check()?;
            if status.lists_expired == 0 {
                self.list_lifetime.still_valid();
                return Ok(false);
            }
            let undone = self.list_lifetime.expired(u64::from(status.steps));
            self.clock.get_mut().undo(undone);
            if undone == 0 {
                return Ok(true);
            }
            self.replay(undone as usize, lists)?;
        }
    }

    fn searches(&self) -> u64 {
        self.searches
    }

    fn prune_lists(&mut self, lookahead: f64) -> Result<()> {
        self.snapshot(ListLevel::Inner)?;
        self.packed = false;
        let positions = self.snapshots[ListLevel::Inner as usize].positions;
        // the positions are only predicted, so displacements from these positions must not expire the lists
        let predicted = Arguments { positions, check_displacements: 0, ..self.arguments };
        self.device.timed(Timing::Lists, |device| lists::prune(device, &predicted, lookahead))
    }

    fn list_positions(&self, list: ListLevel, state: &mut State) -> Result<()> {
        let snapshot = &self.snapshots[list as usize];
        state.cell = lattice::cell(&read_one(&self.device, snapshot.cell)?);
        state.positions.resize(self.masses.len(), Vec3::ZERO);
        read(&self.device, snapshot.positions, &mut state.positions)
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        if workload.long_range != LongRange::Ordinary {
            return Err(unsupported(Feature::MultipleTimeSteps));
        }
        self.restraints.set_time(workload.restraint_time);
        self.compute_host_forces()?;
        if !workload.energy {
            self.pending = Some(workload.virial);
            (self.evaluation.energies, self.evaluation.virial) = (Energies::default(), Mat3::ZERO);
            return Ok(());
        }
        (self.pending, self.packed) = (None, false);
        self.set_force_constants()?;
        // displacements are not checked here, because the caller has already checked that the lists are valid
        let unchecked = Arguments { check_displacements: 0, ..self.arguments };
        steps::pack(&self.device, &unchecked)?;
        steps::forces(&self.device, &unchecked, self.rule, true)?;
        let sums = Sums::read(&self.device, &self.arguments)?;
        if self.check()?.lists_expired != 0 {
            return Err(Error::Internal("energies were requested before the pending steps were replayed".into()));
        }
        self.evaluate(&sums, workload)?;
        sums::forces(&self.device, &self.arguments, &mut self.evaluation.forces)
    }

    fn add_external_force(&mut self, force: Box<dyn ExternalForce>) -> Result<()> {
        self.host_forces.push(force);
        self.set_host_atoms()
    }

    fn restrain(&mut self, restraints: &Restraints, progress: &[RestraintProgress]) -> Result<()> {
        self.set_restraints(restraints, progress)
    }

    fn restraining(&self) -> Option<&Restraining> {
        Some(&self.restraints)
    }

    fn restraint_progress(&self) -> Result<Vec<RestraintProgress>> {
        self.restraint_progress_so_far()
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn integrate(&mut self, asked: Leapfrog, refreshment: Option<&Refreshment>) -> Result<Kinetic> {
        self.step(asked, refreshment.map(refreshment::on_device).transpose()?)
    }

    fn scale_box(&mut self, box_scaling: BoxScaling) -> Result<()> {
        if self.cell.get().is_none() {
            return Ok(());
        }
        self.amend_last_request(|asked| asked.box_scaling = Some(box_scaling));
        self.cell_is_old.set(true);
        self.packed = false;
        steps::scale_box(&self.device, &Arguments { box_scaling: on_device(&box_scaling), ..self.arguments })
    }

    fn try_volume(&mut self, trial: &VolumeTrial, workload: Workload, lists: &ListSchedule) -> Result<()> {
        volume_move::try_volume(self, trial, workload, lists)?;
        // the caller prunes the lists next, which clears the forces on the device, so the next step must compute the
        // forces again
        self.pending = Some(workload.virial);
        Ok(())
    }

    fn change_velocities(&mut self, change: &VelocityChange) -> Result<()> {
        match change {
            VelocityChange::Rescale(rescalings) if rescalings.len() == 1 => self.rescale_velocities(rescalings[0]),
            VelocityChange::Refresh(refreshment) => self.refresh(refreshment::on_device(refreshment)?),
            _ => Err(refreshment::lacking().into()),
        }
    }

    fn coupling(&self) -> Result<Coupling> {
        Ok(coupling(&read_one(&self.device, self.arguments.status)?, self.trials.moves))
    }

    fn remove_com_motion(&mut self, motion: RemovedMotion) -> Result<()> {
        self.amend_last_request(|asked| asked.removed_motion = motion);
        steps::remove_motion(&self.device, &self.arguments, motion, self.masses.iter().sum())
    }

    fn phases(&self) -> Result<Phases> {
        self.device.wait()?;
        let mut clock = self.clock.borrow_mut();
        clock.add(&self.device.spans()?);
        Ok(clock.phases())
    }

    fn pair_counts(&self) -> Result<PairCounts> {
        lists::count(&self.device, &self.arguments)
    }
}
