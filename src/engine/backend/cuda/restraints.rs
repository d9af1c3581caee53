//! Position restraints of a stage: their arrays on the device, and the work of time-dependent force constants.
//!
//! The kernel for bonded terms also computes the restraints, even in captured CUDA graphs. If a force constant changes
//! with time, a small kernel before each step sets the force constant, and a small kernel after each step adds the work
//! of the change of the force constant. The host does not wait for the kernels that set force constants and add work.
//! Restraints of collective variables are computed by the host, see `host_forces`.

use super::device::{Device, give_back, read_one, store, zeros};
use super::lattice::lattice;
use super::layout::{
    BONDED_KINDS, KIND_POSITION, REFERENCES_FIXED, REFERENCES_WITH_CELL, REFERENCES_WITH_CENTER, RestrainedAtom,
    RestraintSet, RestraintWork,
};
use super::{Cuda, model, steps};
use crate::error::Result;
use crate::restraint::{PositionRestraints, ReferenceScaling, Restraining, RestraintProgress, Restraints};

/// Converts position restraints to the structure that host and device share. The points of the schedule of the force
/// constant begin at index `first_point`.
fn shared(restraints: &PositionRestraints, first_point: usize) -> RestraintSet {
    let points = restraints.force_constant.points();
    RestraintSet {
        cell: lattice(restraints.cell.as_ref()),
        center: restraints.center.to_array(),
        flat_radius: restraints.flat_radius,
        force_constant: points[0].1,
        scaling: match restraints.scaling {
            ReferenceScaling::None => REFERENCES_FIXED,
            ReferenceScaling::CenterOfMass => REFERENCES_WITH_CENTER,
            ReferenceScaling::All => REFERENCES_WITH_CELL,
        },
        first_point: first_point as u32,
        points: points.len() as u32,
        unused: 0,
    }
}

impl<D: Device> Cuda<D> {
    /// Sets the restraints of a stage. The stage starts from its beginning if `progress` is empty, and otherwise
    /// continues from the state `progress`.
    pub(super) fn set_restraints(&mut self, restraints: &Restraints, progress: &[RestraintProgress]) -> Result<()> {
        let (mut sets, mut points, mut atoms) = (vec![], vec![], vec![]);
        for (set, restraints) in (0..).zip(&restraints.positions) {
            sets.push(shared(restraints, points.len() / 2));
            points.extend(restraints.force_constant.points().iter().flat_map(|&(time, value)| [time, value]));
            atoms.extend(restraints.held.iter().map(|held| RestrainedAtom {
                atom: held.atom,
                set,
                reference: held.reference.to_array(),
                image: held.image.map(f64::from),
            }));
        }
        self.restraints = Restraining::new(restraints.clone(), progress);
        let (device, a) = (&self.device, &mut self.arguments);
        give_back(device, [&mut a.restrained_atoms.0, &mut a.restraint_sets.0, &mut a.restraint_points.0])?;
        give_back(device, [&mut a.restraint_slopes.0, &mut a.restraint_work.0])?;
        a.restrained_atoms = store(device, &atoms)?;
        a.restraint_sets = store(device, &sets)?;
        a.restraint_points = store(device, &points)?;
        a.restraint_slopes = zeros(device, sets.len())?;
        let work = self.restraints.work_of_positions();
        let (after, begun, sets) = (work.unwrap_or(0.0), u32::from(work.is_some()), sets.len() as u32);
        a.restraint_work = store(device, &[RestraintWork { time: 0.0, after, at_step: 0.0, begun, sets }])?;
        a.bonded_counts[KIND_POSITION as usize] = atoms.len() as u32;
        a.bonded_starts = model::starts::<{ BONDED_KINDS as usize }, _>(a.bonded_counts);
        self.epoch += 1;
        self.set_host_atoms()
    }

    /// Sets time-dependent force constants to their values at the present time, before the next forces are computed.
    pub(super) fn set_force_constants(&self) -> Result<()> {
        if !self.restraints.changes() {
            return Ok(());
        }
        let sets = self.restraints.position_restraints().len() as u32;
        steps::set_force_constants(&self.device, &self.arguments, sets, self.restraints.time())
    }

    /// Adds the work of moving restraint centers and of time-dependent force constants, after a step of `timestep`
    /// (ps).
    pub(super) fn book_restraint_work(&mut self, timestep: f64) -> Result<()> {
        self.restraints.book_collective_work(timestep);
        if !self.restraints.changes() {
            return Ok(());
        }
        steps::book_restraint_work(&self.device, &self.arguments, timestep)
    }

    /// Reads the work of time-dependent force constants from the device and stores it in the restraints of the host.
    pub(super) fn note_restraint_work(&mut self) -> Result<()> {
        if let Some(RestraintWork { after, at_step, .. }) = self.booked_restraint_work()? {
            self.restraints.set_work_of_positions(after, at_step);
        }
        Ok(())
    }

    /// Returns the state of the restraints for a checkpoint.
    pub(super) fn restraint_progress_so_far(&self) -> Result<Vec<RestraintProgress>> {
        let mut restraints = self.restraints.clone();
        if let Some(RestraintWork { after, at_step, .. }) = self.booked_restraint_work()? {
            restraints.set_work_of_positions(after, at_step);
        }
        Ok(restraints.progress().to_vec())
    }

    /// Reads the work of time-dependent force constants from the device. Returns `None` before the first step, and if
    /// no force constant depends on time.
    fn booked_restraint_work(&self) -> Result<Option<RestraintWork>> {
        if !self.restraints.changes() {
            return Ok(None);
        }
        Ok(Some(read_one(&self.device, self.arguments.restraint_work)?).filter(|work| work.begun != 0))
    }
}
