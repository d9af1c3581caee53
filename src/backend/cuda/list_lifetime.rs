//! When the host looks whether lists by displacement have come to their end.
//!
//! The device notes that at once, before the forces of a step, and then makes no move: all kernels that move or compute
//! anything return until lists are new. The host asks for moves meanwhile, finds out later how many were not made, and
//! asks for them again. So the moment at which it looks changes no bit of what is computed. Looking early costs a wait,
//! looking late some launches that do nothing. Other ways would cost more: a search on the device alone, some ten launches
//! in every step that mostly do nothing; a look at the step before last, pairs that are missing.

/// Moves after which the host looks for the first time.
const FIRST_LIFE: u64 = 10;

/// Moves since the last search.
pub(super) struct Watch {
    /// asked for
    moves: u64,
    /// after so many the host looks
    look: u64,
    /// that the last lists lived for
    life: u64,
}

impl Watch {
    pub(super) fn new() -> Self {
        Watch { moves: 0, look: FIRST_LIFE, life: FIRST_LIFE }
    }

    /// The device begins to count.
    pub(super) fn restart(&mut self) {
        self.moves = 0;
    }

    /// Lists are new: they are taken to live as long as the last.
    pub(super) fn search(&mut self) {
        (self.moves, self.look) = (0, self.life);
    }

    /// A move has been asked for.
    pub(super) fn step(&mut self) {
        self.moves += 1;
    }

    /// It is time to look.
    pub(super) fn is_due(&self) -> bool {
        self.moves >= self.look
    }

    /// The lists are still good.
    pub(super) fn go_on(&mut self) {
        self.look = self.look.max(self.moves + (self.life / 4).max(1));
    }

    /// They were good for so many moves; how many more had been asked for.
    pub(super) fn end(&mut self, made: u64) -> u64 {
        let undone = self.moves.saturating_sub(made);
        (self.moves, self.life) = (made, made.max(1));
        undone
    }
}
