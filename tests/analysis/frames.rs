//! Numbers and times of frames and rows in the results of `md analyze`.

use std::path::Path;

use super::{chain, md};

/// Returns a column of a table of results, with NaN for empty fields.
fn column(path: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|head| head.starts_with(name)).unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().parse().unwrap_or(f64::NAN)).collect()
}

/// The frames 0 to 10 of a run are 0.05 ps apart.
#[test]
fn frames_are_counted_in_the_file_and_times_from_the_start_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    chain(&here.join("chain"));
    let file = "chain/out/trajectory.h5md";
    let cluster = ["analyze", "cluster", file, "--method", "k-medoids", "-k", "2", "--stride", "2", "--no-plots"];
    md(here, &[&cluster[..], &["--begin", "0.1 ps"]].concat()).unwrap();
    let table = here.join("cluster.cluster_index.csv");
    let [frames, times] = ["central_frame", "central_time"].map(|name| column(&table, name));
    assert_eq!(frames.len(), 2);
    for (frame, time) in frames.iter().zip(&times) {
        assert!((0.05 * frame - time).abs() < 1e-6 && *frame >= 2.0, "{frame} {time}");
        md(here, &["convert", file, "frame.xtc", "--frame", &frame.to_string(), "--force"]).unwrap();
        let text = md(here, &["analyze", "rg", "--no-plots", "--force", "frame.xtc", "--topology", file]).unwrap();
        assert!(text.contains(&format!("times        {time} to {time} ps")), "{time}: {text}");
    }
    // the second run is shorter than the first
    md(here, &["convert", file, "short.xtc", "--end", "0.1 ps"]).unwrap();
    let both = ["analyze", "rg", "--force", "--no-plots", "--separate-runs", file, "short.xtc", "--topology", file];
    let text = md(here, &both).unwrap();
    assert!(text.contains("times        0 to 0.5 ps"), "{text}");
    // correlations do not reach from one run to the next, even if the times of the runs continue
    md(here, &["convert", file, "rest.xtc", "--begin", "0.15 ps"]).unwrap();
    let msd =
        ["analyze", "msd", "--select", "all", "--force", "--no-plots", "short.xtc", "rest.xtc", "--topology", file];
    md(here, &msd).unwrap();
    let (_, error) = md(here, &[&msd[..], &["--separate-runs"]].concat()).unwrap_err();
    assert!(error.contains("at equal intervals, but the frames are of separate runs"), "{error}");
    // a structure has no charges
    md(here, &["convert", file, "structure.gro", "--frame", "0"]).unwrap();
    let charges = ["analyze", "density", "--of", "charge", "short.xtc", "--topology", "structure.gro", "--no-plots"];
    let (_, error) = md(here, &charges).unwrap_err();
    assert!(error.contains("the selected atoms have no charges"), "{error}");
    // ten rows have fewer than twenty independent values
    let energies = ["analyze", "energies", "chain/out/energies.csv", "--no-plots", "--all-rows", "--begin", "0.05 ps"];
    let text = md(here, &energies).unwrap();
    let line = text.lines().find(|line| line.starts_with("potential")).unwrap();
    assert!(line.contains(", from 0.050 ps") && !line.contains('±'), "{line}");
    let [potential, errors] = ["mean", "error"].map(|name| column(&here.join("energies.csv"), name));
    assert!(potential[0].is_finite() && errors[0].is_nan(), "{potential:?} {errors:?}");
}
