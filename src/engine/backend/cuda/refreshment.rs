//! Partial velocity refreshments by a thermostat on the device, computed by `kernels/refreshment.cuh`.
//!
//! The device keeps the parameters of the next refreshment and counts the steps itself, so that a captured step needs
//! no new data from the host. The host knows which refreshment the device will do next, and replaces this refreshment
//! if the temperature changes or if some steps have no refreshment.

use super::Cuda;
use super::device::Device;
use super::layout::{self, Arguments};
use super::steps;
use crate::ensemble::refreshment::{Refreshment, Renewal};
use crate::error::{Error, Problem, Result};

/// Returns the error for a thermostat that has no kernel.
pub(super) fn lacking() -> Problem {
    let problem = Problem::new("the GPU does not support this kind of thermostat");
    problem.help("set run.device = \"cpu\", or use thermostat kind \"v-rescale\" or \"langevin\"")
}

/// Converts a refreshment for the kernels. Returns an error unless one set of parameters applies to all atoms, and
/// the velocities of all atoms are refreshed.
pub(super) fn on_device(Refreshment { renewals, key }: &Refreshment) -> Result<layout::Refreshment> {
    let &[renewal @ Renewal { kept, probability: 1.0.., .. }] = &renewals[..] else { return Err(lacking().into()) };
    let (seed, next_step) = (words(key.seed), words(key.step));
    Ok(layout::Refreshment { seed, step: next_step, next_step, lost: kept - 1.0, variance: renewal.variance() })
}

/// Returns the low and the high word of a number.
fn words(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Returns the refreshment that the device will use in the step after `refreshment`.
fn after(refreshment: layout::Refreshment) -> layout::Refreshment {
    let [low, high] = refreshment.step;
    let step = words((u64::from(low) | u64::from(high) << 32).wrapping_add(1));
    layout::Refreshment { step, next_step: step, ..refreshment }
}

impl<D: Device> Cuda<D> {
    /// Makes `refreshment` the next refreshment on the device. Does nothing if `refreshment` is already the next
    /// refreshment.
    pub(super) fn set_refreshment(&mut self, refreshment: layout::Refreshment) -> Result<()> {
        let is_set = |known: &layout::Refreshment| bytemuck::bytes_of(known) == bytemuck::bytes_of(&refreshment);
        if !self.next_refreshment.as_ref().is_some_and(is_set) {
            steps::set_refreshment(&self.device, &Arguments { refreshment, ..self.arguments })?;
        }
        self.next_refreshment = Some(after(refreshment));
        Ok(())
    }

    /// Renews velocities in the middle of the last step, which was integrated without a refreshment.
    pub(super) fn refresh(&mut self, refreshment: layout::Refreshment) -> Result<()> {
        let last = self.step_requests.last_mut();
        let last =
            last.ok_or_else(|| Error::Internal("velocities cannot be refreshed before the first step".into()))?;
        last.refreshment = Some(refreshment);
        let timestep = last.leapfrog.timestep;
        self.set_refreshment(refreshment)?;
        self.packed = false;
        steps::refresh(&self.device, &self.arguments, timestep)
    }
}
