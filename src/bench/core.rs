//! Benchmarks of the compute core: the device that is timed, and the timing of a call.

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
    /// Returns the CPU, with the number of threads of an engine.
    pub fn cpu(engine: &Engine, roofline: &Roofline) -> Self {
        Place { device: cpu(), threads: engine.threads, peak: Some(roofline.peak) }
    }

    /// Returns the GPU with this CUDA device number.
    pub fn cuda(number: u32) -> Self {
        Place { device: format!("cuda:{number}"), threads: 0, peak: None }
    }
}

/// Returns the device of rows in old reports, which did not store the device.
pub(super) fn cpu() -> String {
    "cpu".into()
}

/// Mean wall time per call in seconds, measured until all work is done. The call is repeated at least once, and until
/// all repetitions together take as long as `patience`. On a GPU, calls are put into a queue while another call is
/// running.
pub(super) fn seconds_per_call(
    core: &impl Core,
    patience: Duration,
    mut call: impl FnMut() -> Result<()>,
) -> Result<f64> {
    /// Largest number of calls in a measurement. Without this limit, a call that does no work would be repeated
    /// almost forever.
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
