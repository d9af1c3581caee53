//! Replay of steps that were requested after the lists had expired.
//!
//! The device integrates no step with expired lists, but the host learns of the expiry only later (see
//! `list_lifetime`). The host therefore keeps all requests for steps until the next search. After an expiry the host
//! replays these steps with new lists, beginning with the first step that the device skipped.

use super::Cuda;
use super::device::Device;
use super::layout;
use crate::backend::{Backend, Leapfrog, Workload};
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::rescaling::Rescaling;
use crate::error::Result;
use crate::pair::ListSchedule;

/// Parameters of one step, as the caller requested the step.
#[derive(Clone, Copy)]
pub(super) struct StepRequest {
    /// whether forces are computed with the virial
    virial: bool,
    pub(super) leapfrog: Leapfrog,
    /// time of the restraints, ps since the start of the stage
    time: f64,
    pub(super) box_scaling: Option<BoxScaling>,
    pub(super) rescaling: Option<Rescaling>,
    pub(super) refreshment: Option<layout::Refreshment>,
    pub(super) removed_motion: RemovedMotion,
}

impl StepRequest {
    /// Creates a request. `virial` states whether the forces of the step are computed with the virial. `virial` is
    /// `None` if the forces were computed with energies. A step with energies is never replayed, because energies are
    /// computed only with valid lists.
    pub(super) fn new(
        virial: Option<bool>,
        leapfrog: Leapfrog,
        time: f64,
        refreshment: Option<layout::Refreshment>,
    ) -> Self {
        let virial = virial.unwrap_or(false);
        let removed_motion = RemovedMotion::Nothing;
        StepRequest { virial, leapfrog, time, box_scaling: None, rescaling: None, refreshment, removed_motion }
    }
}

impl<D: Device> Cuda<D> {
    /// Changes the stored request of the last step, to record couplings that are applied after that step.
    pub(super) fn amend_last_request(&mut self, what: impl FnOnce(&mut StepRequest)) {
        if let Some(last) = self.step_requests.last_mut() {
            what(last);
        }
    }

    /// Builds lists at the present positions, and repeats the last `undone` requested steps, which start from these
    /// positions.
    pub(super) fn replay(&mut self, undone: usize, lists: &ListSchedule) -> Result<()> {
        let steps = self.step_requests.split_off(self.step_requests.len().saturating_sub(undone));
        self.build_lists()?;
        self.prune_lists(lists.lookahead)?;
        let now = self.restraints.time();
        for StepRequest { virial, leapfrog, time, box_scaling, rescaling, refreshment, removed_motion } in steps {
            self.forces(Workload { virial, restraint_time: time, ..Workload::FORCES })?;
            let (within, behind) = if box_scaling.is_none() { (refreshment, None) } else { (None, refreshment) };
            self.step(leapfrog, within)?;
            box_scaling.map_or(Ok(()), |scaling| self.scale_box(scaling))?;
            rescaling.map_or(Ok(()), |rescaling| self.rescale_velocities(rescaling))?;
            behind.map_or(Ok(()), |refreshment| self.refresh(refreshment))?;
            if removed_motion != RemovedMotion::Nothing {
                self.remove_com_motion(removed_motion)?;
            }
        }
        self.restraints.set_time(now);
        Ok(())
    }
}
