//! The CUDA backend: state, lists and forces live on the device, and the host asks for what a reporter wants.
//!
//! `kernels/` holds the device side, with the names of the CPU's modules; `layout` what both sides share. A quiet step,
//! of which nothing is wanted but that it happens, is recorded once and repeated; the host waits for the device only
//! where it reads something. Start reading at [`Cuda`], then in `steps`.
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
mod shared;
mod source;
mod steps;
mod sums;
#[cfg(test)]
mod tests;

use super::{
    Advance, Backend, DispersionTail, Energies, Evaluation, Kinetic, Moment, PairCounts, Phases, Strain, Workload, host,
};
use crate::cell::PeriodicCell;
use crate::ensemble::motion::remove_translation_and_rotation;
use crate::ensemble::thermostat::Rescaling;
use crate::error::{Error, Problem, Result};
use crate::pair::ListSchedule;
use crate::pme::{plasma_energy, self_energy};
use crate::system::{Coupling, Electrostatics, State, System};
use crate::vec3::{Mat3, Vec3};
use bytemuck::Zeroable;
use clock::Clock;
use device::{Device, Timing, copy, read, read_one, room, write};
use layout::{
    Arguments, NO_ATOM, SUM_CONSTRAINT_VIRIAL, SUM_INTERNAL, SUM_KINETIC, SUM_KINETIC_AFTER, SUM_KINETIC_BEFORE, Status,
};
use shared::Pointer;
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};
use sums::Sums;

pub(crate) use cache::Programs;
pub(crate) use gpu::{Gpu, Limits, limits};

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
    cell: Option<PeriodicCell>,
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
    cell: Option<PeriodicCell>,
    searched_cell: Option<PeriodicCell>,
    snapshots: [Snapshot; 2],
    evaluation: Evaluation,
    /// positions before the move that failed, or the last that were uploaded
    last_good: Vec<Vec3>,
    /// forces have been asked for, and nothing of them but to move on
    pending: bool,
    /// changes with the arguments, of which records of launches hold a copy
    epoch: u64,
    clock: RefCell<Clock>,
    /// an error of a phase that cannot return one
    fault: Mutex<Option<Error>>,
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
        let snapshot = || -> Result<_> { Ok(Snapshot { cell: None, positions: room(&device, atoms.len())? }) };
        Ok(Cuda {
            snapshots: [snapshot()?, snapshot()?],
            device,
            arguments,
            rule,
            masses: atoms.iter().map(|atom| atom.mass).collect(),
            tail: DispersionTail::new(system),
            mesh,
            cell: None,
            searched_cell: None,
            evaluation: Evaluation::default(),
            last_good: vec![],
            pending: false,
            epoch: 0,
            clock: RefCell::default(),
            fault: Mutex::new(None),
        })
    }

    /// Keep an error for the next phase that can return it.
    fn keep<T: Default>(&self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            T::default()
        })
    }

    /// The error that was kept.
    fn surface(&self) -> Result<()> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// An error where a step has failed; then the positions before it are read.
    fn check(&mut self) -> Result<()> {
        let result = sums::check(&self.device, &self.arguments);
        if result.is_err() {
            read(&self.device, self.arguments.old, &mut self.last_good)?;
        }
        result
    }

    /// Tell the device about the cell.
    fn place(&self) -> Result<()> {
        let cell = self.cell.as_ref();
        write(&self.device, self.arguments.cell, &[lattice::lattice(cell)])?;
        write(&self.device, self.arguments.shifts, &lattice::shifts(cell))
    }

    fn snapshot(&mut self, moment: Moment) -> Result<()> {
        let snapshot = &mut self.snapshots[moment as usize];
        snapshot.cell = self.cell;
        copy(&self.device, self.arguments.positions, snapshot.positions, self.masses.len())
    }

    /// Energies and virial of the kernels' sums, and what is known without them.
    fn evaluate(&mut self, sums: &Sums, workload: Workload) {
        let (mut energies, mut virial) = (sums.energies(), sums.virial());
        let volume = self.cell.map(|cell| cell.volume());
        if let (Some(mesh), Some(volume)) = (&self.mesh, volume) {
            let plasma = plasma_energy(mesh.alpha, &[mesh.net_charge], volume);
            energies.coulomb_reciprocal += mesh.self_energy + plasma;
            energies.coulomb += mesh.self_energy + plasma;
            virial += diagonal(plasma);
        }
        if let Some(volume) = volume {
            let (energy, pressure) = self.tail.at(volume);
            energies.dispersion_correction = energy;
            energies.lj += energy;
            virial += diagonal(pressure);
        }
        self.evaluation.energies = if workload.energy { energies } else { Energies::default() };
        self.evaluation.virial = if workload.virial { virial } else { Mat3::ZERO };
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

    /// One of the sums over velocities, kJ/mol.
    fn kinetic_sum(&mut self, which: u32) -> Result<f64> {
        Sums::clear_kinetic(&self.device, &self.arguments)?;
        steps::kinetic(&self.device, &self.arguments)?;
        Ok(Sums::read(&self.device, &self.arguments)?.at(which))
    }

    fn remove_all_motion(&self) -> Result<()> {
        let (device, a, atoms) = (&self.device, &self.arguments, self.masses.len());
        if self.cell.is_some() {
            Sums::clear(device, a)?;
            return steps::remove_translation(device, a, self.masses.iter().sum());
        }
        let (mut positions, mut velocities) = (vec![Vec3::ZERO; atoms], vec![Vec3::ZERO; atoms]);
        read(device, a.positions, &mut positions)?;
        read(device, a.velocities, &mut velocities)?;
        remove_translation_and_rotation(&self.masses, &positions, &mut velocities);
        write(device, a.velocities, &velocities)
    }

    fn read_state(&self, state: &mut State) -> Result<()> {
        state.cell = self.cell;
        state.positions.resize(self.masses.len(), Vec3::ZERO);
        state.velocities.resize(self.masses.len(), Vec3::ZERO);
        read(&self.device, self.arguments.positions, &mut state.positions)?;
        read(&self.device, self.arguments.velocities, &mut state.velocities)
    }
}

fn diagonal(value: f64) -> Mat3 {
    Mat3([[value, 0.0, 0.0], [0.0, value, 0.0], [0.0, 0.0, value]])
}

impl<D: Device> Backend for Cuda<D> {
    fn description(&self) -> String {
        self.device.name()
    }

    fn upload(&mut self, state: &State) -> Result<()> {
        self.cell = state.cell;
        let a = &self.arguments;
        let Coupling { thermostat_work, .. } = state.coupling;
        let fine = Status { overflow: NO_ATOM, failed: [NO_ATOM; 2], thermostat_work, ..Status::zeroed() };
        write(&self.device, a.status, &[fine])?;
        write(&self.device, a.positions, &state.positions)?;
        write(&self.device, a.old, &state.positions)?;
        write(&self.device, a.velocities, &state.velocities)?;
        self.last_good.clone_from(&state.positions);
        self.pending = false;
        self.place()
    }

    fn download(&self, state: &mut State) -> Result<()> {
        self.surface()?;
        sums::check(&self.device, &self.arguments)?;
        state.coupling.thermostat_work = self.thermostat_work()?;
        self.read_state(state)
    }

    fn before_move(&self) -> (Option<PeriodicCell>, &[Vec3]) {
        (self.cell, &self.last_good)
    }

    fn cell(&self) -> Option<PeriodicCell> {
        self.cell
    }

    fn rebuild_pairs(&mut self) {
        let (a, cell) = (&mut self.arguments, self.cell.as_ref());
        let result = self.device.timed(Timing::Lists, |device| lists::rebuild(device, a, cell));
        // they have been waited for: the search reads the length of the list
        let spans = self.keep(self.device.spans());
        let clock = self.clock.get_mut();
        clock.search();
        clock.add(&spans);
        self.epoch += u64::from(self.keep(result));
        self.searched_cell = self.cell;
        let (from, to) = (self.arguments.positions, self.arguments.searched);
        self.keep(copy(&self.device, from, to, self.masses.len()));
        let result = self.snapshot(Moment::Search);
        self.keep(result);
    }

    fn strain(&self) -> Strain {
        let scale = match (&self.cell, &self.searched_cell) {
            (Some(now), Some(then)) => (now.volume() / then.volume()).cbrt(),
            _ => 1.0,
        };
        Strain { scale, displacement: self.keep(lists::displacement(&self.device, &self.arguments, scale)) }
    }

    fn prune_pairs(&mut self) {
        self.keep(self.device.timed(Timing::Lists, |device| lists::prune(device, &self.arguments)));
        let result = self.snapshot(Moment::Prune);
        self.keep(result);
    }

    fn list_positions(&self, moment: Moment, state: &mut State) -> Result<()> {
        let snapshot = &self.snapshots[moment as usize];
        state.cell = snapshot.cell;
        state.positions.resize(self.masses.len(), Vec3::ZERO);
        read(&self.device, snapshot.positions, &mut state.positions)
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        self.surface()?;
        if workload == Workload::default() {
            self.pending = true;
            (self.evaluation.energies, self.evaluation.virial) = (Energies::default(), Mat3::ZERO);
            return Ok(());
        }
        self.pending = false;
        Sums::clear(&self.device, &self.arguments)?;
        steps::forces(&self.device, &self.arguments, self.rule, true)?;
        let sums = Sums::read(&self.device, &self.arguments)?;
        self.check()?;
        self.evaluate(&sums, workload);
        if workload.energy {
            sums::forces(&self.device, &self.arguments, &mut self.evaluation.forces)?;
        }
        Ok(())
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn advance(&mut self, Advance { timestep, virial, kinetic, coupled }: Advance) -> Result<Kinetic> {
        self.surface()?;
        let (device, a, rule) = (&self.device, &self.arguments, self.rule);
        let pending = std::mem::take(&mut self.pending);
        let timed = self.clock.get_mut().step(pending && !virial && !kinetic);
        if !virial && !kinetic {
            if coupled {
                Sums::clear(device, a)?;
            }
            let key = [self.epoch, timestep.to_bits(), u64::from(pending) | u64::from(coupled) << 1];
            let step = |device: &D| {
                if pending {
                    steps::forces(device, a, rule, false)?;
                }
                steps::advance(device, a, timestep, coupled)
            };
            if timed { device.timed(Timing::Step, step) } else { device.repeat(key, step) }?;
            return Ok(Kinetic::default());
        }
        if pending {
            steps::forces(device, a, rule, false)?;
        }
        Sums::clear(device, a)?;
        steps::advance(device, a, timestep, true)?;
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

    fn couple(&mut self, rescaling: Rescaling) -> Result<()> {
        let Rescaling { kept, along, across } = rescaling;
        let rescaling = layout::Rescaling { kept, along, across };
        steps::couple(&self.device, &Arguments { rescaling, ..self.arguments }, self.largest_kinetic())
    }

    fn thermostat_work(&self) -> Result<f64> {
        Ok(read_one(&self.device, self.arguments.status)?.thermostat_work)
    }

    fn kinetic_energy(&mut self) -> f64 {
        let result = self.kinetic_sum(SUM_KINETIC);
        self.keep(result)
    }

    fn internal_kinetic_energy(&mut self) -> f64 {
        let result = self.kinetic_sum(SUM_INTERNAL);
        self.keep(result)
    }

    fn scale_velocities(&mut self, factor: f64) {
        self.keep(steps::scale_velocities(&self.device, &self.arguments, factor));
    }

    fn scale_cell(&mut self, factor: f64) -> Result<()> {
        self.cell = self.cell.map(|cell| cell.scaled(factor));
        steps::scale_positions(&self.device, &self.arguments, factor)?;
        self.place()
    }

    fn remove_motion(&mut self) {
        self.keep(self.remove_all_motion());
    }

    fn phases(&self) -> Phases {
        self.keep(self.device.wait());
        let mut clock = self.clock.borrow_mut();
        clock.add(&self.keep(self.device.spans()));
        clock.phases()
    }

    fn pair_counts(&self) -> PairCounts {
        self.keep(lists::count(&self.device, &self.arguments))
    }
}
