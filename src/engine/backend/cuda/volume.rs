//! Monte Carlo volume moves on the device: the operations of [`crate::backend::volume_move`].
//!
//! A move waits for the device four times, to read the largest deviation, two energies, and the change of the power.
//! The cost of a move is about that of two steps with energies.

use super::device::{Device, allocate, clear, copy, over, read_one, store, write, zeros};
use super::kernel::Kernel;
use super::layout::{Arguments, BOUNDS_ROUNDING, NO_ATOM, SUM_POWER_OF_CHANGE, Status, VolumeMove, WARP};
use super::shared::Pointer;
use super::sums::Sums;
use super::{Cuda, lattice, lists, steps, virtual_sites};
use crate::backend::volume_move::VolumeMoves;
use crate::backend::{Backend, Evaluation, Workload};
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::restraint::Samples;
use crate::system::{Molecules, TrialMoves};
use crate::vec3::Vec3;
use std::mem::offset_of;

/// State of the Monte Carlo volume moves of a run.
pub(super) struct VolumeTrials {
    pub(super) moves: [TrialMoves; 3],
    molecules: Molecules,
    /// state before the present move: positions on the device, and (next fields) evaluation, restraint samples, and
    /// forces that the host computes
    positions: Pointer<Vec3>,
    evaluation: Evaluation,
    restraints: Samples,
    host_forces: Vec<Vec3>,
}

impl VolumeTrials {
    pub(super) fn new(molecules: Molecules) -> Self {
        VolumeTrials {
            moves: Default::default(),
            molecules,
            positions: Pointer::new(0),
            evaluation: Evaluation::default(),
            restraints: Samples::default(),
            host_forces: vec![],
        }
    }
}

impl<D: Device> Cuda<D> {
    /// Allocates the arrays of volume moves before the first move.
    fn prepare_volume_moves(&mut self) -> Result<()> {
        if self.arguments.volume_move.molecules > 0 {
            return Ok(());
        }
        let molecules = &self.trials.molecules;
        let members: Vec<u32> = (0..molecules.len()).flat_map(|molecule| molecules.atoms(molecule)).copied().collect();
        let mut starts = vec![0];
        starts.extend((0..molecules.len()).scan(0, |end, molecule| {
            *end += molecules.atoms(molecule).len() as u32;
            Some(*end)
        }));
        let (device, atoms) = (&self.device, self.masses.len());
        self.trials.positions = allocate(device, atoms)?;
        self.arguments.volume_move = VolumeMove {
            starts: store(device, &starts)?,
            members: store(device, &members)?,
            stretched: allocate(device, atoms)?,
            kept_forces: allocate(device, atoms)?,
            deviation: zeros(device, 1)?,
            factors: [1.0; 3],
            molecules: molecules.len() as u32,
            unused: 0,
        };
        Ok(())
    }

    /// Replaces the cell on the device and on the host.
    fn set_cell(&mut self, cell: PeriodicCell) -> Result<()> {
        write(&self.device, self.arguments.cell, &[lattice::lattice(Some(&cell))])?;
        steps::derive_cell(&self.device, &self.arguments)?;
        self.cell.set(Some(cell));
        self.cell_is_old.set(false);
        self.packed = false;
        Ok(())
    }
}

impl<D: Device> VolumeMoves for Cuda<D> {
    fn trial_moves(&mut self) -> &mut [TrialMoves; 3] {
        &mut self.trials.moves
    }

    fn molecules(&self) -> usize {
        self.trials.molecules.len()
    }

    fn cutoff(&self) -> f64 {
        self.arguments.cutoff
    }

    fn stretch(&mut self, factors: Vec3) -> Result<f64> {
        self.prepare_volume_moves()?;
        let (device, a) = (&self.device, &mut self.arguments);
        a.volume_move.factors = factors.to_array();
        clear(device, a.volume_move.deviation, 1)?;
        device.launch(over(Kernel::StretchMolecules, a.volume_move.molecules * WARP), a)?;
        virtual_sites::place(device, &Arguments { positions: a.volume_move.stretched, ..*a }, false)?;
        device.launch(over(Kernel::LargestDeviation, a.atoms), a)?;
        Ok(f64::from(f32::from_bits(read_one(device, a.volume_move.deviation)?)))
    }

    fn prune_within(&mut self, radius: f64) -> Result<()> {
        self.packed = false;
        let inner_radius = self.arguments.inner_radius.max(radius.min(1e18) as f32 + 2.0 * BOUNDS_ROUNDING);
        // the caller has already checked that the lists are valid
        lists::prune(&self.device, &Arguments { inner_radius, check_displacements: 0, ..self.arguments }, 0.0)
    }

    fn enter(&mut self, cell: PeriodicCell) -> Result<()> {
        let (device, a, atoms) = (&self.device, &self.arguments, self.masses.len());
        device.launch(over(Kernel::KeepForces, a.atoms), a)?;
        copy(device, a.positions, self.trials.positions, atoms)?;
        copy(device, a.volume_move.stretched, a.positions, atoms)?;
        std::mem::swap(&mut self.evaluation, &mut self.trials.evaluation);
        self.trials.restraints.clone_from(self.restraints.all_samples());
        self.trials.host_forces = self.host_forces.written().to_vec();
        self.set_cell(cell)
    }

    fn leave(&mut self, cell: PeriodicCell) -> Result<()> {
        copy(&self.device, self.trials.positions, self.arguments.positions, self.masses.len())?;
        std::mem::swap(&mut self.evaluation, &mut self.trials.evaluation);
        self.restraints.restore(&self.trials.restraints);
        if self.computes_on_host() {
            write(&self.device, self.arguments.host.forces, &self.trials.host_forces)?;
        }
        self.set_cell(cell)
    }

    fn energy_after(&mut self, workload: Workload) -> Result<f64> {
        match self.forces(workload) {
            Ok(()) => Ok(self.evaluation.energies.potential()),
            // a force beyond the limit means that atoms overlap in the scaled cell; the move is rejected
            Err(_) if read_one(&self.device, self.arguments.status)?.overflow != NO_ATOM => {
                // another block of the force kernel may already have halted the run because of this force
                for (field, value) in [(offset_of!(Status, overflow), NO_ATOM), (offset_of!(Status, stopped), 0)] {
                    write(&self.device, Pointer::new(self.arguments.status.0 + field as u64), &[value])?;
                }
                Ok(f64::INFINITY)
            }
            Err(error) => Err(error),
        }
    }

    fn power_of_change(&mut self) -> Result<f64> {
        self.device.launch(over(Kernel::PowerOfChange, self.arguments.atoms), &self.arguments)?;
        Ok(Sums::read(&self.device, &self.arguments)?.at(SUM_POWER_OF_CHANGE))
    }

    fn add_barostat_work(&mut self, work: f64) -> Result<()> {
        let total = read_one(&self.device, self.arguments.status)?.barostat_work + work;
        let address = self.arguments.status.0 + offset_of!(Status, barostat_work) as u64;
        write(&self.device, Pointer::new(address), &[total])
    }
}
