//! Leapfrog step on the device. The step first launches the kernels of a force evaluation that was requested earlier
//! but has not been launched yet.

use super::Cuda;
use super::device::{Device, Timing};
use super::layout::{self, SUM_CONSTRAINT_VIRIAL, SUM_KINETIC_AFTER, SUM_KINETIC_ALONG, SUM_KINETIC_BEFORE};
use super::replay::StepRequest;
use super::steps;
use super::sums::Sums;
use crate::backend::{Kinetic, Leapfrog};
use crate::ensemble::groups::PerGroup;
use crate::error::Result;
use crate::vec3::{Mat3, Vec3};

impl<D: Device> Cuda<D> {
    /// Integrates one leapfrog step. If `refreshment` is given, velocities are renewed in the middle of the step.
    pub(super) fn step(&mut self, asked: Leapfrog, refreshment: Option<layout::Refreshment>) -> Result<Kinetic> {
        let Leapfrog { timestep, virial, kinetic, coupled, pending_work, .. } = asked;
        self.list_lifetime.step_launched();
        self.step_requests.push(StepRequest::new(self.pending, asked, self.restraints.time(), refreshment));
        if self.pending.is_some() {
            self.set_force_constants()?;
        }
        if let Some(refreshment) = refreshment {
            self.set_refreshment(refreshment)?;
        }
        let renews = refreshment.is_some();
        // a step needs no sums of energies and virial if the only coupling is a velocity refreshment
        let sums = virial || kinetic || pending_work || (coupled && !renews);
        let (device, a, rule) = (&self.device, &self.arguments, self.rule);
        let pending = self.pending.take();
        // a step with sums also packs positions, because the packing kernel clears the sums
        let packs = !self.packed || sums || pending == Some(true);
        let timed = self.clock.get_mut().step(pending == Some(false) && !virial && !kinetic);
        let step = |device: &D| {
            if let Some(virial) = pending {
                if packs {
                    steps::pack(device, a)?;
                }
                steps::forces(device, a, rule, virial)?;
            }
            steps::advance(device, a, timestep, sums, renews)
        };
        if kinetic {
            step(device)?;
        } else {
            let forces = pending.map_or(0, |virial| 1 + u64::from(virial));
            let kind = forces | u64::from(sums) << 2 | u64::from(renews) << 3 | u64::from(packs) << 4;
            let key = [self.epoch, timestep.to_bits(), kind];
            if timed { device.timed(Timing::Step, step) } else { device.run_captured(key, step) }?;
        }
        self.packed = a.packs_ahead == 1;
        if pending_work {
            steps::finish_work(device, a, timestep)?;
        }
        self.book_restraint_work(timestep)?;
        if !kinetic {
            return Ok(Kinetic::default());
        }
        let sums = Sums::read(&self.device, &self.arguments)?;
        self.check()?;
        self.note_restraint_work()?;
        let kinetic = Kinetic {
            before: sums.at(SUM_KINETIC_BEFORE),
            after: sums.at(SUM_KINETIC_AFTER),
            along: if virial { sums.vector(SUM_KINETIC_ALONG) } else { Vec3::ZERO },
            constraint_virial: if virial { sums.tensor(SUM_CONSTRAINT_VIRIAL) } else { Mat3::ZERO },
            of_groups: PerGroup::new(),
        };
        self.check_motion(kinetic.before + kinetic.after)?;
        Ok(kinetic)
    }
}
