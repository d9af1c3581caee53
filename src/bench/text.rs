//! Text of benchmark reports: lines for a terminal, and Markdown for a README.

use std::fmt::Write;

use super::{FftRow, GemmRow, Range, Report, Roofline, Row};
use crate::observe::progress::three_digits;
use crate::pair::ListSchedule;

// The results of `writeln!` are ignored below, because writing to a String cannot fail.

/// Returns the header line above the lines of [`row_line`].
pub fn rows_header() -> String {
    format!(
        "{:<14}{:>9}{:>8} {:<9}{:>24}{:>11}{:>13}  {}\n",
        "system", "atoms", "threads", "simd", "ns/day (range)", "us/step", "ns/atom/step", "drift, kT/ns/dof"
    )
}

/// Returns the line of a benchmark result for the terminal.
pub fn row_line(row: &Row) -> String {
    format!(
        "{:<14}{:>9}{:>8} {:<9}{:>24}{:>11.0}{:>13.2}  {}\n",
        row.name,
        row.atoms,
        row.threads,
        row.simd,
        range(&row.ns_per_day),
        row.us_per_step,
        row.ns_per_atom_step,
        drift(row)
    )
}

/// Formats a range as `28.7 (28.1–29.3)`.
fn range(range: &Range) -> String {
    format!("{} ({}–{})", three_digits(range.median), three_digits(range.min), three_digits(range.max))
}

fn drift(row: &Row) -> String {
    row.drift.map_or("too short to measure".to_owned(), |drift| format!("{:+.3} ± {:.3}", drift.slope, drift.error))
}

/// Returns the table of the phases of a step with their times, and the diagnosis of the bottleneck.
pub fn phase_table(row: &Row, roofline: &Roofline) -> String {
    let step = &row.step;
    let mut text = format!("\n{}, {} threads, {}: {}\n", row.name, row.threads, row.simd, roofs(roofline));
    let _ = writeln!(
        text,
        "  {:<12}{:>10}{:>7}{:>10}{:>10}{:>9}{:>10}{:>8}",
        "phase", "us/step", "%", "Mflop", "MB", "flop/B", "GFLOP/s", "roof %"
    );
    for phase in step.phases.iter().filter(|phase| phase.us_per_step > 0.0) {
        let _ = writeln!(
            text,
            "  {:<12}{:>10.1}{:>7.1}{:>10.2}{:>10.2}{:>9.2}{:>10.2}{:>8.1}",
            phase.name,
            phase.us_per_step,
            100.0 * phase.share,
            phase.work.flops * 1e-6,
            phase.work.bytes * 1e-6,
            phase.intensity,
            phase.gflops,
            100.0 * phase.roof_share
        );
    }
    let rest = 1.0 - step.compute_share;
    // on a GPU each phase is timed separately, but in a real step phases may overlap
    let what = if rest < 0.0 { "overlap" } else { "rest" };
    let _ = writeln!(text, "  {what:<12}{:>10.1}{:>7.1}", rest * row.us_per_step, 100.0 * rest);
    if let Some(list) = row.list {
        let ListSchedule { rebuild, prune, outer, inner, .. } = list;
        let _ = if list.is_exact() {
            writeln!(
                text,
                "  pair lists searched up to {outer:.3} nm, rebuilt by displacement before a pair can be missed"
            )
        } else {
            let searched = format!("pair lists searched every {rebuild} steps up to {outer:.3} nm");
            writeln!(text, "  {searched}, pruned every {prune} steps up to {inner:.3} nm")
        };
    }
    let useful = step.useful_pairs.map_or(String::new(), |useful| {
        format!("{:.0} % of the computed pairs are within the cutoff; ", 100.0 * useful)
    });
    let _ = writeln!(text, "  {useful}{:.0} % of the wall time is in phases", 100.0 * step.compute_share);
    let _ = writeln!(text, "  {}", step.bottleneck);
    text
}

/// Describes the roofline: peak speed and bandwidths.
fn roofs(roofline: &Roofline) -> String {
    let bandwidths: Vec<String> = roofline
        .bandwidths
        .iter()
        .map(|measured| format!("{:.0} at {:.0}", measured.rate * 1e-9, measured.bytes / f64::from(1 << 20)))
        .collect();
    format!("peak {:.0} GFLOP/s, bandwidth {} (GB/s at MiB of data)", roofline.peak * 1e-9, bandwidths.join(", "))
}

/// Returns a table of timings of Fourier transforms of the compute core.
pub fn fft_table(rows: &[FftRow]) -> String {
    let mut text = core_head("real 3-D FFT");
    for row in rows {
        let size = format!("f32 {0} x {0} x {0}", row.size);
        text += &core_line(&size, &row.device, row.threads, &row.us, row.gflops, row.peak_share, "");
    }
    text
}

/// Returns a table of timings of matrix products of the compute core.
pub fn gemm_table(rows: &[GemmRow]) -> String {
    let mut text = core_head("matrix product m x k x n");
    for row in rows {
        let size = format!("{} {} x {} x {}", row.real, row.size[0], row.size[1], row.size[2]);
        text += &core_line(&size, &row.device, row.threads, &row.us, row.gflops, row.peak_share, &row.name);
    }
    text
}

fn core_head(what: &str) -> String {
    format!("\n{what:<26}{:>11}{:>26}{:>10}{:>8}\n", "on", "us/call (range)", "GFLOP/s", "peak %")
}

fn core_line(size: &str, on: &str, threads: usize, us: &Range, gflops: f64, share: Option<f64>, name: &str) -> String {
    let place = if threads > 0 { format!("{threads} threads") } else { on.to_owned() };
    let percent = share.map_or(String::new(), |share| format!("{:.1}", 100.0 * share));
    let line = format!("{size:<26}{place:>11}{:>26}{gflops:>10.2}{percent:>8}  {name}", range(us));
    format!("{}\n", line.trim_end())
}

/// Returns the table for the README: machine, versions and settings, followed by a row for each system.
pub fn markdown(report: &Report) -> String {
    let Report { processor, processors, date, .. } = report;
    let mut text =
        format!("{}, {date}, on {processors} processors of {processor}; `md bench --markdown`: ", report.program());
    text.push_str(
        "cutoff 0.9 nm, PME of order 4 with a grid spacing of 0.12 nm, time step 2 fs, bonds to hydrogen and water ",
    );
    text.push_str("rigid, velocity rescaling, ");
    text.push_str("list tolerance 0.005 kJ/mol/ps (input files: their own settings).\n\n");
    text.push_str(
        "| system | atoms | threads | SIMD | ns/day, median (range) | µs/step | ns/atom/step | drift, kT/ns/dof |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for row in &report.rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:.0} | {:.2} | {} |",
            row.name,
            thousands(row.atoms),
            row.threads,
            row.simd,
            range(&row.ns_per_day),
            row.us_per_step,
            row.ns_per_atom_step,
            drift(row)
        );
    }
    text
}

/// Formats an integer as `23,558`.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let numbers = [0, 999, 1000, 23_558, 1_536_000];
        assert_eq!(numbers.map(thousands), ["0", "999", "1,000", "23,558", "1,536,000"]);
    }

    #[test]
    fn lines_of_the_core_name_what_did_the_work() {
        let us = Range { median: 20.0, min: 19.0, max: 21.0 };
        let row = |device: &str, threads, peak_share| FftRow {
            size: 32,
            device: device.into(),
            threads,
            us,
            gflops: 12.5,
            peak_share,
        };
        let text = fft_table(&[row("cpu", 2, Some(0.25)), row("cuda:1", 0, None)]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert!(lines[0].contains("2 threads") && lines[0].ends_with("25.0"), "{text}");
        assert!(lines[1].contains("cuda:1") && lines[1].ends_with("12.50"), "{text}");
    }

    #[test]
    fn the_table_names_machine_version_and_day() {
        let report = Report {
            version: "1.2.3".into(),
            commit: Some("abcdef1".into()),
            processor: "a processor".into(),
            processors: 12,
            date: "2026-01-31".into(),
            ..Report::default()
        };
        let text = markdown(&report);
        assert!(text.starts_with("md 1.2.3 (abcdef1), 2026-01-31, on 12 processors of a processor;"), "{text}");
    }
}
