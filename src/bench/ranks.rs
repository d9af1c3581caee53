//! Forecast of the speed on several ranks, from the times of the phases on one rank.

use std::fmt::Write;

use super::Row;
use crate::backend::RankShare;
use crate::observe::progress::{counted, three_digits};
use crate::run::{Forecast, Network, StepTimes};

/// Returns the times of a step that was measured on one rank.
fn step_times(row: &Row) -> StepTimes {
    let seconds =
        |name: &str| row.step.phases.iter().find(|phase| phase.name == name).map_or(0.0, |p| 1e-6 * p.us_per_step);
    let all: f64 = row.step.phases.iter().map(|phase| 1e-6 * phase.us_per_step).sum();
    let (search, mesh) = (seconds("search"), seconds("pme_solve"));
    let often = |interval: u32| 1.0 / f64::from(interval.max(1));
    StepTimes {
        work: all - search - mesh,
        search,
        mesh,
        rest: (1e-6 * row.us_per_step - all).max(0.0),
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
