//! Progress and speed of a run, shown as a bar on a terminal, or as a line of the log every few minutes if there is no
//! terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::status::Status;
use crate::error::printable;
use crate::units::NS_PER_DAY;

/// Maximum length in bytes of the stage name beside the progress bar.
const LONGEST_NAME: usize = 60;

/// Meter of the recent speed of a run. The speed is an exponential average with a half-life of 20 s of wall time, so
/// that the slow first steps soon have no influence on the average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpeedMeter {
    last: Option<(Duration, u64, f64)>,
    /// recent speed: number of steps, and simulated time in ps, per second of wall time
    rates: Option<(f64, f64)>,
}

const HALF_LIFE: Duration = Duration::from_secs(20);

impl SpeedMeter {
    /// Records that the run had done `step` steps and had simulated `time` ps at the wall time `elapsed`.
    pub fn update(&mut self, elapsed: Duration, step: u64, time: f64) {
        if let Some((then, step_then, time_then)) = self.last {
            let seconds = elapsed.saturating_sub(then).as_secs_f64();
            if seconds == 0.0 {
                return;
            }
            let new = (step.saturating_sub(step_then) as f64 / seconds, (time - time_then) / seconds);
            let keep = 0.5f64.powf(seconds / HALF_LIFE.as_secs_f64());
            let mix = |old: f64, new: f64| keep * old + (1.0 - keep) * new;
            self.rates = Some(self.rates.map_or(new, |old| (mix(old.0, new.0), mix(old.1, new.1))));
        }
        self.last = Some((elapsed, step, time));
    }

    /// Discards the recent speed before a stage whose steps may have a different cost.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns the recent speed in ns/day; `None` before the second update, and while the simulated time does not
    /// advance, as in a minimisation.
    pub fn ns_per_day(&self) -> Option<f64> {
        self.rates.map(|(_, ps)| ps * NS_PER_DAY).filter(|speed| *speed > 0.0)
    }

    /// Returns the wall time in s that `steps` more steps take at the recent speed; `None` if the speed is unknown.
    pub fn seconds_for(&self, steps: u64) -> Option<f64> {
        self.rates.filter(|(rate, _)| *rate > 0.0).map(|(rate, _)| steps as f64 / rate)
    }
}

/// Display of the progress of a run on a terminal or in the log.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    interval: Duration,
    next_line: Duration,
}

impl Progress {
    /// Creates the display. If `terminal` is true, a bar is shown on standard error. Otherwise [`Self::update`] returns
    /// a line every `interval`.
    pub fn new(terminal: bool, interval: Duration) -> Self {
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // if the template is invalid, the bar keeps the default style
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:24} {percent:>3} %  {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, interval, next_line: interval }
    }

    /// Shows `status` on the bar at wall time `elapsed`. If a line is returned, the caller writes the line to the log.
    pub fn update(&mut self, elapsed: Duration, status: &Status) -> Option<String> {
        if let Some(bar) = &self.bar {
            bar.set_length(status.steps);
            bar.set_position(status.step);
            bar.set_prefix(printable(&status.stage, LONGEST_NAME));
            bar.set_message(details(status));
            return None;
        }
        if elapsed < self.next_line {
            return None;
        }
        self.next_line = elapsed + self.interval;
        Some(format!("{}: {}", status.stage, details(status)))
    }

    /// Hides the bar while `print` runs, so that a log line and the bar do not overlap.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar from the terminal.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Formats the step, the simulated time, the speed and the wall time left.
fn details(status: &Status) -> String {
    let mut text = format!("step {} of {}, {:.1} ps", status.step, status.steps, status.time_ps);
    if let Some(speed) = status.ns_per_day {
        text.push_str(&format!(", {} ns/day", three_digits(speed)));
    }
    if let Some(seconds) = status.seconds_left {
        text.push_str(&format!(", {} left", duration(seconds)));
        let left = jiff::SignedDuration::from_secs(seconds as i64);
        if let Some(end) = super::clock::now().and_then(|now| now.checked_add(left).ok()) {
            let day = if seconds < 43_200.0 { "%H:%M" } else { "%a %H:%M" };
            text.push_str(&format!(" (until {})", end.strftime(day)));
        }
    }
    text
}

/// Formats a number of things with the noun in singular or plural: 1 thread, 2 threads.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Formats a number with three significant digits and no exponent: 0.123, 4.56, 78.9, 1234.
pub fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Formats a size given in bytes in megabytes, with three significant digits from 0.1 MB on.
pub fn megabytes(bytes: f64) -> String {
    if bytes < 1e5 { "less than 0.1 MB".to_owned() } else { format!("{} MB", three_digits(bytes * 1e-6)) }
}

/// Formats a duration given in seconds as readable text: `45 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_follows_recent_steps() {
        let mut meter = SpeedMeter::default();
        assert_eq!((meter.ns_per_day(), meter.seconds_for(1)), (None, None));
        let second = |i: u64| Duration::from_secs(i);
        // 100 steps of 2 fs per second for a minute: 0.2 ps/s = 17.28 ns/day
        (0..=60).for_each(|i| meter.update(second(i), 100 * i, 0.2 * i as f64));
        assert!((meter.ns_per_day().unwrap() / 17.28 - 1.0).abs() < 1e-9);
        assert!((meter.seconds_for(500).unwrap() - 5.0).abs() < 1e-9);
        // after one half-life at twice the speed, the average is the mean of both speeds
        (61..=80).for_each(|i| meter.update(second(i), 6_000 + 200 * (i - 60), 12.0 + 0.4 * (i - 60) as f64));
        assert!((meter.ns_per_day().unwrap() / (1.5 * 17.28) - 1.0).abs() < 1e-9);
        meter.update(second(80), 9_999_999, 1e9);
        assert!((meter.ns_per_day().unwrap() / (1.5 * 17.28) - 1.0).abs() < 1e-9);
        meter.reset();
        meter.update(second(1), 0, 0.0);
        meter.update(second(2), 50, 0.0);
        assert_eq!(meter.ns_per_day(), None);
        assert_eq!(meter.seconds_for(100), Some(2.0));
    }

    #[test]
    fn lines_come_at_intervals_and_say_what_matters() {
        let mut progress = Progress::new(false, Duration::from_secs(60));
        let status = Status {
            stage: "heat".into(),
            step: 500,
            steps: 2000,
            time_ps: 1.0,
            ns_per_day: Some(81.25),
            seconds_left: Some(125.0),
            ..Status::default()
        };
        let lines: Vec<String> = (0..200).filter_map(|i| progress.update(Duration::from_secs(i), &status)).collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("heat: step 500 of 2000, 1.0 ps, 81.2 ns/day, 2 min 5 s left (until "),
            "{}",
            lines[0]
        );
    }

    #[test]
    fn numbers_are_short() {
        let digits = [0.1234, 4.567, 78.91, 1234.5].map(three_digits);
        assert_eq!(digits, ["0.123", "4.57", "78.9", "1234"]);
        let times = [44.7, 125.0, 12_000.0, 187_200.0, -3.0].map(duration);
        assert_eq!(times, ["45 s", "2 min 5 s", "3 h 20 min", "2 d 4 h", "0 s"]);
    }
}
