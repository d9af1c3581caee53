//! When the host checks whether lists without a fixed lifetime have expired.
//!
//! The device checks displacements before the forces of every step. When the lists have expired, all kernels that change
//! the state return at once until there are new lists. The host meanwhile launches further steps; at its next check it
//! reads how many were not done, and replays them. The time of the check therefore changes no bit of the results. An early
//! check costs a wait, a late one some launches that do nothing. A search on the device alone would cost some ten launches
//! in every step; checking the step before last would miss pairs.

/// Steps before the host's first check.
const FIRST_LIFETIME: u64 = 10;

/// Steps since the last search.
pub(super) struct ListLifetime {
    /// launched since then
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

    /// A new state was uploaded: the device counts steps from zero.
    pub(super) fn restart(&mut self) {
        self.steps = 0;
    }

    /// New lists were built: their expected lifetime is that of the last.
    pub(super) fn lists_built(&mut self) {
        (self.steps, self.next_check) = (0, self.lifetime);
    }

    /// A step was launched.
    pub(super) fn step_launched(&mut self) {
        self.steps += 1;
    }

    /// Whether the host should check now.
    pub(super) fn is_check_due(&self) -> bool {
        self.steps >= self.next_check
    }

    /// The check found the lists valid: schedules the next one.
    pub(super) fn still_valid(&mut self) {
        self.next_check = self.next_check.max(self.steps + (self.lifetime / 4).max(1));
    }

    /// The lists expired after `done` steps; returns how many more were launched.
    pub(super) fn expired(&mut self, done: u64) -> u64 {
        let undone = self.steps.saturating_sub(done);
        (self.steps, self.lifetime) = (done, done.max(1));
        undone
    }
}
