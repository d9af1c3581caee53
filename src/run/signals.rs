//! Requests from outside while a run is at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flags set by signals and polled once per step.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    stop: Arc<AtomicBool>,
    checkpoint: Arc<AtomicBool>,
}

impl Requests {
    /// SIGINT and SIGTERM ask to stop, a second one ends the process at once; SIGUSR1 asks for a checkpoint.
    pub fn from_signals() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
        let requests = Self::default();
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, requests.stop.clone())?;
            signal_hook::flag::register(signal, requests.stop.clone())?;
        }
        signal_hook::flag::register(SIGUSR1, requests.checkpoint.clone())?;
        Ok(requests)
    }

    /// Somebody wants the run to stop.
    pub fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Somebody wants a checkpoint now; asked once.
    pub fn take_checkpoint(&self) -> bool {
        self.checkpoint.swap(false, Ordering::Relaxed)
    }
}
