//! Forecast of the speed on several ranks, from the times of the phases on one rank.

use std::fmt::Write;

use super::Row;
use crate::backend::RankShare;
use crate::observe::progress::{counted, three_digits};
use crate::run::{Forecast, Network, StepTimes};

/// Time (s) of a step outside of the phases that does not depend on the number of atoms. On two threads of an AMD EPYC
/// (Zen 3, `863a2f98`), this time is 30 µs with 24,000 atoms of water and 151 µs with 192,000 atoms: 13 µs, and 0.7 ns
/// for each atom.
const FIXED: f64 = 13e-6;

/// Returns the times of a step that was measured on one rank. The phases are mean times of all segments. Their shares
/// of a step are applied to the median time of a step, so that a disturbed segment does not count as time outside of
/// the phases.
fn step_times(row: &Row) -> StepTimes {
    let step = 1e-6 * row.us_per_step;
    let rest = (step * (1.0 - row.step.compute_share)).max(0.0);
    let seconds = |name: &str| row.step.phases.iter().find(|phase| phase.name == name).map_or(0.0, |p| step * p.share);
    let all = step * row.step.compute_share;
    let (search, mesh) = (seconds("search"), seconds("pme_solve"));
    let pairs = seconds("pairs") + seconds("bonded");
    let often = |interval: u32| 1.0 / f64::from(interval.max(1));
    StepTimes {
        pairs,
        work: all - pairs - search - mesh,
        search,
        mesh,
        serial: (rest - FIXED).max(0.0),
        rest: rest.min(FIXED),
        prunings: row.list.map_or(0.0, |list| often(list.prune)),
        searches: row.list.map_or(0.0, |list| often(list.rebuild)),
    }
}

/// Returns a table of forecast speeds on several ranks of `cores` processor cores, under the assumption that every core
/// computes as fast as each of the measured cores. For each number of ranks, `shares` holds the division of the system,
/// or the reason why the system cannot be divided.
pub fn rank_table(row: &Row, shares: &[(usize, Result<RankShare, String>)], cores: usize, network: &Network) -> String {
    let wider = cores as f64 / row.threads as f64;
    let step = step_times(row).divided_by(wider);
    let Network { latency, bandwidth } = network;
    let mut text = format!(
        "\n{}: forecast for ranks of {}, each as fast as the measured {}, with messages of {:.2} us and {:.1} GB/s\n",
        row.name,
        counted(cores, "core"),
        counted(row.threads, "core"),
        1e6 * latency,
        1e-9 * bandwidth
    );
    // the results of `writeln!` are dropped, because writing to a String cannot fail
    let _ = writeln!(
        text,
        "  {:>6}  {:<20}{:>8}{:>12}{:>10}{:>9}{:>7}{:>7}{:>8}",
        "ranks", "division", "ns/day", "efficiency", "us/step", "compute", "halo", "mesh", "orders"
    );
    for (ranks, share) in shares {
        let share = match share {
            Ok(share) => share,
            Err(reason) => {
                let _ = writeln!(text, "  {ranks:>6}  {reason}");
                continue;
            }
        };
        let forecast = Forecast::new(&step, share, network);
        let gain = 1e-6 * row.us_per_step / forecast.seconds();
        let _ = writeln!(
            text,
            "  {ranks:>6}  {:<20}{:>8}{:>10.0} %{:>10.0}{:>9.0}{:>7.0}{:>7.0}{:>8.0}",
            share.to_string(),
            three_digits(row.ns_per_day.median * gain),
            100.0 * gain / (*ranks as f64 * wider),
            1e6 * forecast.seconds(),
            1e6 * forecast.compute,
            1e6 * forecast.halo,
            1e6 * forecast.mesh,
            1e6 * forecast.other
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_disturbed_segment_does_not_change_the_shares_of_a_step() {
        // a mean step of 2000 us, of which the phases are 90 %, and a median step of 1000 us
        let phase = |name: &str, share: f64| {
            let work = json!({ "flops": 1.0, "bytes": 1.0 });
            json!({ "name": name, "us_per_step": 2000.0 * share, "share": share, "work": work, "intensity": 1.0,
                    "gflops": 1.0, "roof_share": 0.5 })
        };
        let phases = [phase("pairs", 0.6), phase("search", 0.05), phase("pme_solve", 0.15), phase("constraints", 0.1)];
        let step = json!({ "phases": phases, "useful_pairs": 0.5, "compute_share": 0.9, "bottleneck": "" });
        let row = json!({ "name": "", "atoms": 1000, "device": "cpu", "threads": 1, "simd": "avx2", "steps": 100,
            "repeats": 3, "timestep_fs": 2.0, "ns_per_day": { "median": 1.0, "min": 0.5, "max": 1.0 },
            "us_per_step": 1000.0, "ns_per_atom_step": 100.0, "drift": null, "list": null, "step": step });
        let StepTimes { pairs, work, search, mesh, serial, rest, .. } =
            step_times(&serde_json::from_value(row).unwrap());
        let expected = [600e-6, 100e-6, 50e-6, 150e-6, 87e-6, 13e-6];
        for (found, expected) in [pairs, work, search, mesh, serial, rest].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    }
}
