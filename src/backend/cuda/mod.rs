//! The CUDA backend: state, lists and forces live on the device, and the host asks for what a reporter wants.
//!
//! `kernels/` holds the device side, with the names of the CPU's modules; `layout` what both sides share. A quiet step,
//! of which nothing is wanted but that it happens, is recorded once and repeated; the host waits for the device only
//! where it reads something. Start reading at [`Cuda`], then in `steps`.
//!
//! Couplings need no look: their random numbers are drawn beforehand, and kinetic energies, virial and cell are the
//! device's. Nor do lists that end by displacement: see `watch`.
//!
//! A step is 14 kernels where there are a mesh and no chains of constraints, each transform counted as three: positions,
//! spreading, its conversion, transform, solution, transform, gathering, pairs, bonded terms, move. Chains add one; a
//! thermostat's step one; a barostat's two (three with chains); the step after either one; removal of motion two, or one
//! without a cell. With couplings every ten steps that is 14.2 on average, and 14.4 with a barostat. Mesh, bonded terms and
//! pairs go on side by side, the short kernels first.
//!
//! Forces, sums and the charge grid are integers, so that no order of additions changes a bit. What goes wrong on the
//! device stops all motion there, and is reported the next time that anything is read.

mod cache;
mod clock;
mod compiler;
mod device;
#[cfg(test)]
pub(crate) mod emulator;
mod gpu;
mod kernel;
mod lattice;
mod layout;
mod lists;
mod model;
mod replay;
mod shared;
mod source;
mod steps;
mod sums;
#[cfg(test)]
mod tests;
mod watch;

use super::{
    Backend, DispersionTail, Energies, Evaluation, Kinetic, Leapfrog, Moment, PairCounts, Phases, Workload, host,
};
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::thermostat::Rescaling;
use crate::error::{Error, Problem, Result};
use crate::pair::ListSchedule;
use crate::pme::{plasma_energy, self_energy};
use crate::system::{Coupling, Electrostatics, State, System};
use crate::vec3::{Mat3, Vec3};
use bytemuck::Zeroable;
use clock::Clock;
use device::{Device, Timing, allocate, copy, read, read_one, write};
use layout::{Arguments, Lattice, NO_ATOM, SUM_CONSTRAINT_VIRIAL, SUM_KINETIC_AFTER, SUM_KINETIC_BEFORE, Status};
use replay::Asked;
use shared::Pointer;
use std::cell::{Cell, RefCell};
use sums::Sums;
use watch::Watch;

pub(crate) use cache::Programs;
#[cfg(not(test))]
pub(crate) use gpu::Gpu;
pub(crate) use gpu::{Limits, limits};

/// The name of the GPU of this number, or why it cannot be used. Compiles nothing.
pub(crate) fn find(number: u32) -> Result<String> {
    gpu::find(number)
}

/// For tests: the emulated device and its systems, and the atoms in the order in which the kernels sort them.
#[cfg(test)]
pub(crate) use {emulator::device::Emulated, kernel::Kernel, tests::sample::Sample, tests::sorted_on_device};

/// Refuses a system that the kernels cannot do.
pub(crate) fn check(system: &System) -> std::result::Result<(), Problem> {
    model::check(system).map(|_| ())
}

/// Positions and cell at some moment.
struct Snapshot {
    cell: Pointer<Lattice>,
    positions: Pointer<Vec3>,
}

/// What a mesh adds beside its transforms.
struct MeshConstants {
    alpha: f64,
    /// −C α/√π Σ q², kJ/mol
    self_energy: f64,
    /// Σ q, e
    net_charge: f64,
}

/// A run on a device.
pub(crate) struct Cuda<D> {
    device: D,
    arguments: Arguments,
    /// Lennard-Jones rule of the kernels
    rule: u32,
    masses: Vec<f64>,
    tail: DispersionTail,
    mesh: Option<MeshConstants>,
    /// as far as the host knows
    cell: Cell<Option<PeriodicCell>>,
    /// a barostat has changed it since
    cell_is_old: Cell<bool>,
    snapshots: [Snapshot; 2],
    evaluation: Evaluation,
    /// positions before the move that failed, or the last that were uploaded
    last_good: Vec<Vec3>,
    /// forces have been asked for, and nothing of them but to move on; whether with their virial
    pending: Option<bool>,
    watch: Watch,
    /// changes with the arguments, of which records of launches hold a copy
    epoch: u64,
    clock: RefCell<Clock>,
    /// outer lists built so far
    searches: u64,
    /// what was asked for since the last search, step by step
    asked: Vec<Asked>,
}

impl<D: Device> Cuda<D> {
    /// A system on a device.
    pub(crate) fn new(system: &System, mut device: D, schedule: &ListSchedule) -> Result<Self> {
        super::check_system(system)?;
        let (arguments, rule) = model::upload(&device, system, schedule)?;
        let atoms = &system.topology.atoms;
        let charges: Vec<f64> = atoms.iter().map(|atom| atom.charge).collect();
        let mesh = match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => {
                device.plan_transforms(parameters.grid)?;
                let alpha = parameters.alpha;
                let net_charge = charges.iter().sum();
                Some(MeshConstants { alpha, self_energy: self_energy(alpha, &charges), net_charge })
            }
            _ => None,
        };
        let searched = Snapshot { cell: arguments.searched_cell, positions: arguments.searched };
        let pruned = Snapshot { cell: allocate(&device, 1)?, positions: allocate(&device, atoms.len())? };
        let mut cuda = Cuda {
            snapshots: [searched, pruned],
            device,
            arguments,
            rule,
            masses: atoms.iter().map(|atom| atom.mass).collect(),
            tail: DispersionTail::new(system),
            mesh,
            cell: Cell::new(None),
            cell_is_old: Cell::new(false),
            evaluation: Evaluation::default(),
            last_good: vec![],
            pending: None,
            watch: Watch::new(),
            epoch: 0,
            clock: RefCell::default(),
            searches: 0,
            asked: vec![],
        };
        cuda.arguments.trace_times_volume = 3.0 * cuda.virial_beside(1.0);
        Ok(cuda)
    }

    /// What there is to be said of the steps so far, or an error where one has failed; then the positions before it are read.
    fn check(&mut self) -> Result<Status> {
        let result = sums::check(&self.device, &self.arguments);
        if result.is_err() {
            self.cell()?;
            read(&self.device, self.arguments.old, &mut self.last_good)?;
        }
        result
    }

    fn snapshot(&self, moment: Moment) -> Result<()> {
        let (a, snapshot) = (&self.arguments, &self.snapshots[moment as usize]);
        copy(&self.device, a.cell, snapshot.cell, 1)?;
        copy(&self.device, a.positions, snapshot.positions, self.masses.len())
    }

    /// Energy of the charge that neutralises the net charge, and each diagonal element of its virial, at a volume in nm³.
    fn plasma(&self, volume: f64) -> f64 {
        self.mesh.as_ref().map_or(0.0, |mesh| plasma_energy(mesh.alpha, &[mesh.net_charge], volume))
    }

    /// What each diagonal element of the virial has beside the kernels' sums, kJ/mol; it falls as one over the volume (nm³).
    fn virial_beside(&self, volume: f64) -> f64 {
        self.plasma(volume) + self.tail.at(volume).1
    }

    /// Energies and virial of the kernels' sums, and what is known without them.
    fn evaluate(&mut self, sums: &Sums, workload: Workload) -> Result<()> {
        let (mut energies, mut virial) = (sums.energies(), sums.virial());
        if let Some(volume) = self.cell()?.map(|cell| cell.volume()) {
            let charges = self.plasma(volume) + self.mesh.as_ref().map_or(0.0, |mesh| mesh.self_energy);
            energies.coulomb_reciprocal += charges;
            energies.coulomb += charges;
            energies.dispersion_correction = self.tail.at(volume).0;
            energies.lj += energies.dispersion_correction;
            virial += diagonal(self.virial_beside(volume));
        }
        self.evaluation.energies = energies;
        self.evaluation.virial = if workload.virial { virial } else { Mat3::ZERO };
        Ok(())
    }

    /// Beyond all bounds is what exceeds this, both half steps together, kJ/mol.
    fn largest_kinetic(&self) -> f64 {
        host::LARGEST_KINETIC * self.masses.len() as f64
    }

    /// Refuses a kinetic energy (kJ/mol) that is not a number or beyond all bounds, and names the fastest atom.
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

fn coupling(status: &Status) -> Coupling {
    let Status { thermostat_work, barostat_work, pending_scaling, pending_rescaling, .. } = *status;
    Coupling { thermostat_work, barostat_work, pending_scaling, pending_rescaling }
}

fn diagonal(value: f64) -> Mat3 {
    Mat3([[value, 0.0, 0.0], [0.0, value, 0.0], [0.0, 0.0, value]])
}

impl<D: Device> Backend for Cuda<D> {
    fn description(&self) -> String {
        self.device.name()
    }

    fn upload(&mut self, state: &State) -> Result<()> {
        self.cell.set(state.cell);
        self.cell_is_old.set(false);
        let a = &self.arguments;
        let Coupling { thermostat_work, barostat_work, pending_scaling, pending_rescaling } = state.coupling;
        let works = Status { thermostat_work, barostat_work, pending_scaling, pending_rescaling, ..Status::zeroed() };
        let fine = Status { overflow: NO_ATOM, failed: [NO_ATOM; 2], ..works };
        write(&self.device, a.status, &[fine])?;
        write(&self.device, a.positions, &state.positions)?;
        write(&self.device, a.old, &state.positions)?;
        write(&self.device, a.velocities, &state.velocities)?;
        write(&self.device, a.cell, &[lattice::lattice(state.cell.as_ref())])?;
        self.last_good.clone_from(&state.positions);
        self.pending = None;
        self.watch.restart();
        self.asked.clear();
        steps::place_cell(&self.device, &self.arguments)
    }

    fn download(&self, state: &mut State) -> Result<()> {
        state.coupling = coupling(&sums::check(&self.device, &self.arguments)?);
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
        let a = &mut self.arguments;
        let moved = self.device.timed(Timing::Lists, |device| lists::rebuild(device, a, cell.as_ref()))?;
        // they have been waited for: the search reads the length of the list
        let spans = self.device.spans()?;
        let clock = self.clock.get_mut();
        clock.search();
        clock.add(&spans);
        self.epoch += u64::from(moved);
        self.snapshot(Moment::Search)?;
        lists::begin(&self.device, &self.arguments)?;
        self.watch.search();
        self.asked.clear();
        self.searches += 1;
        Ok(())
    }

    fn lists_expired(&mut self, lists: &ListSchedule, must_know: bool) -> Result<bool> {
        loop {
            if !must_know && !self.watch.is_due() {
                return Ok(false);
            }
            lists::watch(&self.device, &self.arguments)?;
            let status = self.check()?;
            if status.overdue == 0 {
                self.watch.go_on();
                return Ok(false);
            }
            let undone = self.watch.end(u64::from(status.moves));
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
        self.snapshot(Moment::Prune)?;
        let positions = self.snapshots[Moment::Prune as usize].positions;
        // where nobody is yet, no list ends
        let there = Arguments { positions, watched: 0, ..self.arguments };
        self.device.timed(Timing::Lists, |device| lists::prune(device, &there, lookahead))
    }

    fn list_positions(&self, moment: Moment, state: &mut State) -> Result<()> {
        let snapshot = &self.snapshots[moment as usize];
        state.cell = lattice::cell(&read_one(&self.device, snapshot.cell)?);
        state.positions.resize(self.masses.len(), Vec3::ZERO);
        read(&self.device, snapshot.positions, &mut state.positions)
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        if !workload.energy {
            self.pending = Some(workload.virial);
            (self.evaluation.energies, self.evaluation.virial) = (Energies::default(), Mat3::ZERO);
            return Ok(());
        }
        self.pending = None;
        // whoever wants energies knows that the lists are right
        steps::forces(&self.device, &Arguments { watched: 0, ..self.arguments }, self.rule, true)?;
        let sums = Sums::read(&self.device, &self.arguments)?;
        if self.check()?.overdue != 0 {
            return Err(Error::Internal("energies are wanted while moves are still to be made".into()));
        }
        self.evaluate(&sums, workload)?;
        sums::forces(&self.device, &self.arguments, &mut self.evaluation.forces)
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn integrate(&mut self, asked: Leapfrog) -> Result<Kinetic> {
        let Leapfrog { timestep, virial, kinetic, coupled, pending_work } = asked;
        self.watch.step();
        self.asked.push(Asked::new(self.pending, asked));
        let (device, a, rule) = (&self.device, &self.arguments, self.rule);
        let (pending, sums) = (self.pending.take(), virial || kinetic || coupled || pending_work);
        let timed = self.clock.get_mut().step(pending == Some(false) && !virial && !kinetic);
        let step = |device: &D| {
            if let Some(virial) = pending {
                steps::forces(device, a, rule, virial)?;
            }
            steps::advance(device, a, timestep, sums)
        };
        if kinetic {
            step(device)?;
        } else {
            let forces = pending.map_or(0, |virial| 1 + u64::from(virial));
            let key = [self.epoch, timestep.to_bits(), forces | u64::from(sums) << 2];
            if timed { device.timed(Timing::Step, step) } else { device.repeat(key, step) }?;
        }
        if pending_work {
            steps::finish_work(device, a, timestep)?;
        }
        if !kinetic {
            return Ok(Kinetic::default());
        }
        let sums = Sums::read(device, a)?;
        self.check()?;
        let kinetic = Kinetic {
            before: sums.at(SUM_KINETIC_BEFORE),
            after: sums.at(SUM_KINETIC_AFTER),
            constraint_virial: if virial { sums.tensor(SUM_CONSTRAINT_VIRIAL) } else { Mat3::ZERO },
        };
        self.check_motion(kinetic.before + kinetic.after)?;
        Ok(kinetic)
    }

    fn scale_box(&mut self, box_scaling: BoxScaling) -> Result<()> {
        if self.cell.get().is_none() {
            return Ok(());
        }
        self.note(|asked| asked.box_scaling = Some(box_scaling));
        let BoxScaling { rate, pressure, thermal, noise, stochastic } = box_scaling;
        let stochastic = u32::from(stochastic);
        let box_scaling = layout::BoxScaling { rate, pressure, thermal, noise, stochastic, unused: 0 };
        self.cell_is_old.set(true);
        steps::scale_box(&self.device, &Arguments { box_scaling, ..self.arguments })
    }

    fn rescale_velocities(&mut self, rescaling: Rescaling) -> Result<()> {
        self.note(|asked| asked.rescaling = Some(rescaling));
        let Rescaling { kept, along, across } = rescaling;
        let arguments = Arguments { rescaling: layout::Rescaling { kept, along, across }, ..self.arguments };
        steps::rescale_velocities(&self.device, &arguments, self.largest_kinetic())
    }

    fn coupling(&self) -> Result<Coupling> {
        Ok(coupling(&read_one(&self.device, self.arguments.status)?))
    }

    fn remove_com_motion(&mut self) -> Result<()> {
        self.note(|asked| asked.com_removal = true);
        match self.cell.get() {
            Some(_) => steps::remove_translation(&self.device, &self.arguments, self.masses.iter().sum()),
            None => steps::stop_motion(&self.device, &self.arguments),
        }
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
