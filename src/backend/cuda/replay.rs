//! Steps that were asked for with lists that had expired, and are done again.
//!
//! The device makes no step with expired lists, and the host finds that out later (see `watch`). So what is asked for is
//! noted until the next search, and replayed with new lists from the first step that was not made.

use super::Cuda;
use super::device::Device;
use crate::backend::{Backend, Leapfrog, Workload};
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::thermostat::Rescaling;
use crate::error::Result;
use crate::pair::ListSchedule;

/// One step as it was asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// the virial of its forces
    virial: bool,
    leapfrog: Leapfrog,
    pub(super) box_scaling: Option<BoxScaling>,
    pub(super) rescaling: Option<Rescaling>,
    pub(super) com_removal: bool,
}

impl Asked {
    /// A step with forces whose virial is wanted or not; `None` where they were computed with energies, which are wanted only
    /// of lists that hold, so that the step is not replayed.
    pub(super) fn new(virial: Option<bool>, leapfrog: Leapfrog) -> Self {
        let virial = virial.unwrap_or(false);
        Asked { virial, leapfrog, box_scaling: None, rescaling: None, com_removal: false }
    }
}

impl<D: Device> Cuda<D> {
    /// Notes what else is asked for after the last step.
    pub(super) fn note(&mut self, what: impl FnOnce(&mut Asked)) {
        if let Some(last) = self.asked.last_mut() {
            what(last);
        }
    }

    /// Builds lists where the last `undone` steps begin, and makes these steps.
    pub(super) fn replay(&mut self, undone: usize, lists: &ListSchedule) -> Result<()> {
        let steps = self.asked.split_off(self.asked.len().saturating_sub(undone));
        self.build_lists()?;
        self.prune_lists(lists.lookahead)?;
        for Asked { virial, leapfrog, box_scaling, rescaling, com_removal } in steps {
            self.forces(Workload { energy: false, virial })?;
            self.integrate(leapfrog)?;
            box_scaling.map_or(Ok(()), |scaling| self.scale_box(scaling))?;
            rescaling.map_or(Ok(()), |rescaling| self.rescale_velocities(rescaling))?;
            if com_removal {
                self.remove_com_motion()?;
            }
        }
        Ok(())
    }
}
