//! Detection of other programs that use the processors during a benchmark.

/// Limit for the fraction of the processors' time that other programs use. Above this limit, the results of a benchmark
/// are unreliable.
pub(super) const DISTURBED: f64 = 0.05;

/// Clock ticks since the machine started: all ticks of all processors, ticks in which processors were busy, and ticks
/// that this process used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ticks {
    all: f64,
    busy: f64,
    own: f64,
}

impl Ticks {
    /// Reads the clock ticks up to now. Returns `None` if the operating system does not report clock ticks.
    pub(super) fn now() -> Option<Self> {
        let read = |path| std::fs::read_to_string(path).ok();
        Self::parse(&read("/proc/stat")?, &read("/proc/self/stat")?)
    }

    /// Parses Linux' `/proc/stat` and `/proc/self/stat` (proc(5)).
    fn parse(machine: &str, process: &str) -> Option<Self> {
        let line = machine.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // the columns are the times for user, nice, system, idle, waiting for disks, two kinds of interrupts, and the
        // time stolen by the host; the time of virtual machines is skipped, because the column user includes it
        let all = ticks.iter().take(8).sum();
        let idle = ticks.get(3)? + ticks.get(4)?;
        // the program name in parentheses may contain any character, so fields are counted from its closing
        // parenthesis; user and system time are fields 14 and 15
        let mut fields = process.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<f64>().ok();
        Some(Ticks { all, busy: all - idle, own: next()? + next()? })
    }

    /// Returns the fraction of the processors' time since `before` that other programs used.
    pub(super) fn others_since(&self, before: &Ticks) -> f64 {
        let all = (self.all - before.all).max(1.0);
        ((self.busy - before.busy - (self.own - before.own)) / all).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_what_is_busy_and_not_this_program() {
        let process =
            |own: u32| format!("854 (a (b) c) R 851 851 14231 0 -1 4194304 100 0 0 0 {own} 5 0 0 20 0 1 0 157\n");
        let before = Ticks::parse("cpu  100 200 50 1000 10 0 5 5 7 7\ncpu0 1 2 3 4", &process(60)).unwrap();
        assert_eq!(before, Ticks { all: 1370.0, busy: 360.0, own: 65.0 });
        // 100 ticks pass in all: 30 idle and 70 busy; 50 of the busy ticks belong to this process
        let after = Ticks::parse("cpu  150 215 55 1030 10 0 5 5 9 9\n", &process(110)).unwrap();
        assert!((after.others_since(&before) - 0.2).abs() < 1e-12);
        assert_eq!(Ticks::parse("nothing", "else"), None);
    }
}
