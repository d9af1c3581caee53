//! Decides when the host checks whether pair lists have expired, for lists whose lifetime is limited by
//! displacements.
//!
//! The device checks displacements before the forces of every step. After the lists have expired, all kernels that
//! change the state return immediately, until new lists are built. The host launches further steps until its next
//! check. At this check the host reads how many of the launched steps did nothing, and replays these steps. The results
//! therefore do not depend, bit for bit, on the times of the checks. An early check makes the host wait, and a late
//! check costs launches that do nothing. A search on the device without the host would need about ten more launches in
//! every step. If the host checked the state of an earlier step instead, the host would not have to wait, but the steps
//! after the earlier step would miss pairs. If the host computes forces, the host waits in every step anyway, and
//! checks in every step (see `host_forces`).

/// Number of steps between the first pair search and the first check by the host.
const FIRST_LIFETIME: u64 = 10;

/// Counts the steps since the last pair search, and determines after which step the host checks next.
pub(super) struct ListLifetime {
    /// steps launched since the last search
    steps: u64,
    /// number of steps since the last search after which the host checks next
    next_check: u64,
    /// lifetime of the previous lists, in steps
    lifetime: u64,
}

impl ListLifetime {
    pub(super) fn new() -> Self {
        ListLifetime { steps: 0, next_check: FIRST_LIFETIME, lifetime: FIRST_LIFETIME }
    }

    /// Restarts the count of steps after the upload of a new state. The device restarts its own count in the same way.
    pub(super) fn restart(&mut self) {
        self.steps = 0;
    }

    /// Restarts the count of steps after new lists were built. The new lists are expected to live as long as the
    /// previous lists.
    pub(super) fn lists_built(&mut self) {
        (self.steps, self.next_check) = (0, self.lifetime);
    }

    /// Counts a launched step.
    pub(super) fn step_launched(&mut self) {
        self.steps += 1;
    }

    /// Returns whether the host should now check whether the pair lists have expired.
    pub(super) fn is_check_due(&self) -> bool {
        self.steps >= self.next_check
    }

    /// Schedules the next check after a check that found the lists valid.
    pub(super) fn still_valid(&mut self) {
        self.next_check = self.next_check.max(self.steps + (self.lifetime / 4).max(1));
    }

    /// Records that the pair lists expired after `done` steps. Returns the number of later steps that were launched
    /// already.
    pub(super) fn expired(&mut self, done: u64) -> u64 {
        let undone = self.steps.saturating_sub(done);
        (self.steps, self.lifetime) = (done, done.max(1));
        undone
    }
}
