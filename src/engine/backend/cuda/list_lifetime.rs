//! Schedule of the host's checks whether lists without a fixed lifetime have expired.
//!
//! The device checks displacements before the forces of every step. When the lists have expired, all kernels that
//! change the state return at once until there are new lists. The host meanwhile launches further steps. At its next
//! check it reads how many of them did nothing, and replays them, so the time of the check changes no bit of the
//! results. An early check costs a wait, a late one some launches that do nothing. A search on the device alone would
//! cost about ten launches in every step; checking only the step before last would miss pairs.

/// Steps before the host's first check.
const FIRST_LIFETIME: u64 = 10;

/// Number of steps since the last search, and the next check.
pub(super) struct ListLifetime {
    /// steps launched since the last search
    steps: u64,
    /// number of steps after which the host checks
    next_check: u64,
    /// lifetime of the last lists, steps
    lifetime: u64,
}

impl ListLifetime {
    pub(super) fn new() -> Self {
        ListLifetime { steps: 0, next_check: FIRST_LIFETIME, lifetime: FIRST_LIFETIME }
    }

    /// Restarts after the upload of a new state: the device counts steps from zero.
    pub(super) fn restart(&mut self) {
        self.steps = 0;
    }

    /// Restarts after new lists were built. Their expected lifetime is that of the previous lists.
    pub(super) fn lists_built(&mut self) {
        (self.steps, self.next_check) = (0, self.lifetime);
    }

    /// Counts a launched step.
    pub(super) fn step_launched(&mut self) {
        self.steps += 1;
    }

    /// Whether the host should check now.
    pub(super) fn is_check_due(&self) -> bool {
        self.steps >= self.next_check
    }

    /// Schedules the next check after one that found the lists valid.
    pub(super) fn still_valid(&mut self) {
        self.next_check = self.next_check.max(self.steps + (self.lifetime / 4).max(1));
    }

    /// Records that the lists expired after `done` steps; returns how many more were launched.
    pub(super) fn expired(&mut self, done: u64) -> u64 {
        let undone = self.steps.saturating_sub(done);
        (self.steps, self.lifetime) = (done, done.max(1));
        undone
    }
}
