//! Device and timing of benchmarks of the compute core.

use std::time::{Duration, Instant};

use super::roofline::Roofline;
use crate::compute::Core;
use crate::error::Result;
use crate::run::Engine;

/// Device on which a benchmark of the compute core runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// name of the device: `cpu`, or for example `cuda:0`
    pub device: String,
    /// number of CPU threads; 0 for a GPU
    pub threads: usize,
    /// largest number of `f32` operations per second; `None` if it is unknown
    pub peak: Option<f64>,
}

impl Place {
    /// Returns the CPU as a device, with the threads of `engine` and the peak speed of `roofline`.
    pub fn cpu(engine: &Engine, roofline: &Roofline) -> Self {
        Place { device: cpu(), threads: engine.threads, peak: Some(roofline.peak) }
    }

    /// Returns the device of the GPU with the CUDA device number `number`.
    pub fn cuda(number: u32) -> Self {
        Place { device: format!("cuda:{number}"), threads: 0, peak: None }
    }
}

/// Returns the device for rows of old reports. Old reports do not store the device, which was always the CPU.
pub(super) fn cpu() -> String {
    "cpu".into()
}

/// Returns the mean wall time per call in seconds. The measurement ends when the work of all calls is done. `call` is
/// executed at least once, and repeated until the total time reaches the duration `patience`. On a GPU, calls are
/// queued while another call is running.
pub(super) fn seconds_per_call(
    core: &impl Core,
    patience: Duration,
    mut call: impl FnMut() -> Result<()>,
) -> Result<f64> {
    /// Largest number of calls in a measurement. The limit matters only for calls that take almost no time.
    const MOST: f64 = 1e5;
    let mut timed = |calls: u32| -> Result<f64> {
        core.wait()?;
        let begin = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        core.wait()?;
        Ok(begin.elapsed().as_secs_f64() / f64::from(calls))
    };
    let one = timed(1)?;
    let calls = (patience.as_secs_f64() / one).min(MOST) as u32;
    if calls > 1 { timed(calls) } else { Ok(one) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::HostCore;
    use crate::error::Error;

    #[test]
    fn calls_are_counted_and_errors_passed_on() {
        let mut calls = 0;
        let seconds = seconds_per_call(&HostCore, Duration::ZERO, || {
            calls += 1;
            Ok(())
        });
        assert!(seconds.is_ok_and(|seconds| seconds >= 0.0));
        assert_eq!(calls, 1);
        let failed = seconds_per_call(&HostCore, Duration::ZERO, || Err(Error::Device("lost".into())));
        assert!(failed.is_err());
    }
}
