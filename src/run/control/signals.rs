//! Requests to stop a run or to write a checkpoint, which arrive as signals.

use crate::backend::Requested;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Signals that stop a run. The signals come from a user, a terminal that closes or a batch system; a batch system
/// sends `SIGUSR2` shortly before the time limit of the job, and `SIGXCPU` at the soft limit of CPU time.
const STOP: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR2, libc::SIGXCPU];
/// Minimum time between two requests to stop. Two signals within a second count as one request, because batch systems
/// and process groups may deliver a signal twice.
const REPEAT: Duration = Duration::from_secs(1);

/// Requests to stop or to write a checkpoint, made by signals to the process. A run polls the requests once per step.
/// Each run of the process has its own clone of [`Requests`], and every clone receives all requests.
#[derive(Debug, Default)]
pub struct Requests {
    stop: Arc<AtomicBool>,
    /// number of checkpoints requested so far
    checkpoints: Arc<AtomicU64>,
    /// number of checkpoint requests that this clone has already reported
    seen: AtomicU64,
}

impl Clone for Requests {
    fn clone(&self) -> Self {
        let Requests { stop, checkpoints, seen } = self;
        let seen = AtomicU64::new(seen.load(Ordering::Relaxed));
        Requests { stop: Arc::clone(stop), checkpoints: Arc::clone(checkpoints), seen }
    }
}

impl Requests {
    /// Installs the signal handlers. After the first signal to stop, the run finishes its step, writes a checkpoint and
    /// stops. A second signal to stop, more than a second later, ends the process at once. SIGUSR1 requests a
    /// checkpoint. If the process was started with SIGHUP ignored (`nohup`), SIGHUP stays ignored.
    pub fn from_signals() -> std::io::Result<Self> {
        let requests = Self::default();
        let stops = STOP.into_iter().filter(|&signal| signal != SIGHUP || !hangup_is_ignored());
        let mut signals = Signals::new(stops.chain([SIGUSR1]))?;
        let set = requests.clone();
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            let mut first = None;
            for signal in signals.forever() {
                if signal == SIGUSR1 {
                    set.checkpoints.fetch_add(1, Ordering::Relaxed);
                } else if is_insistence(*first.get_or_insert_with(Instant::now), Instant::now()) {
                    // 128 + signal number is the exit code that a shell reports for a process that was ended by this
                    // signal
                    signal_hook::low_level::exit(128 + signal);
                } else {
                    set.stop.store(true, Ordering::Relaxed);
                }
            }
        })?;
        Ok(requests)
    }

    /// Asks all runs of the process to stop, with the same effect as a signal.
    pub(in crate::run) fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether signals have requested a stop, or a checkpoint since the last call of this function or of
    /// [`Requests::take_checkpoint`].
    pub(in crate::run) fn take(&self) -> Requested {
        Requested { stop: self.stop(), checkpoint: self.take_checkpoint() }
    }

    /// Adds the requests of another process.
    pub(in crate::run) fn add(&self, Requested { stop, checkpoint }: Requested) {
        self.stop.fetch_or(stop, Ordering::Relaxed);
        self.checkpoints.fetch_add(u64::from(checkpoint), Ordering::Relaxed);
    }

    /// Whether a signal has requested that the run stops.
    pub fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a signal has requested a checkpoint since the last call of this function.
    pub fn take_checkpoint(&self) -> bool {
        let asked = self.checkpoints.load(Ordering::Relaxed);
        self.seen.swap(asked, Ordering::Relaxed) != asked
    }
}

/// Whether a signal to stop at time `now` ends the process at once. The process ends if the first signal to stop came
/// more than [`REPEAT`] earlier, at time `first`.
fn is_insistence(first: Instant, now: Instant) -> bool {
    now.duration_since(first) > REPEAT
}

/// Whether this process was started with SIGHUP ignored.
fn hangup_is_ignored() -> bool {
    // SAFETY: a `sigaction` of zeros is valid (no handler, an empty mask). The pointer to a new action is null, so the
    // call changes no signal handler and only writes into `action`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(SIGHUP, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_signal_is_another_request() {
        let first = Instant::now();
        assert!(!is_insistence(first, first));
        assert!(!is_insistence(first, first + Duration::from_millis(999)));
        assert!(is_insistence(first, first + Duration::from_millis(1001)));
    }

    #[test]
    fn every_run_writes_the_checkpoint_that_is_asked_for() {
        let first = Requests::default();
        let second = first.clone();
        assert!(!first.take_checkpoint() && !second.take_checkpoint());
        first.checkpoints.fetch_add(1, Ordering::Relaxed);
        assert!(first.take_checkpoint() && second.take_checkpoint());
        assert!(!first.take_checkpoint() && !second.take_checkpoint());
    }

    #[test]
    fn requests_of_another_process_are_taken_once() {
        let [here, there] = [Requests::default(), Requests::default()];
        there.checkpoints.fetch_add(2, Ordering::Relaxed);
        here.add(there.take());
        assert!(here.take_checkpoint() && !here.stop());
        there.ask_to_stop();
        here.add(there.take());
        assert!(!here.take_checkpoint() && here.stop());
    }
}
