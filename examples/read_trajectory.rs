//! Reads a trajectory of any format frame by frame, and computes an observable.
//!
//!     cargo run --release --example read_trajectory -- out/trajectory.h5md
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::path::Path;

use md::analysis::observables::RadiusOfGyration;
use md::analysis::{AnalysedSystem, FrameObserver, FrameRange, Images, pass};
use md::error::Result;
use md::observe::trajectory::{StoredFrame, open};
use md::vec3::Vec3;

/// Returns time (ps) and mean position (nm) of the atoms for each frame. The contents of the file decide its format.
pub(crate) fn centers(path: &Path) -> Result<Vec<(f64, Vec3)>> {
    let mut trajectory = open(path)?;
    let mut frame = StoredFrame::default();
    let mut found = vec![];
    for index in 0..trajectory.frames() {
        trajectory.read(index, &mut frame)?;
        let sum: Vec3 = frame.positions.iter().copied().sum();
        found.push((frame.time, sum / frame.positions.len() as f64));
    }
    Ok(found)
}

/// Computes an observable of the selected atoms. One pass over the frames can serve any number of observables.
pub(crate) fn radius_of_gyration(path: &Path, words: &str) -> Result<Vec<String>> {
    let mut trajectory = open(path)?;
    // H5MD has names, masses and bonds; for XTC and DCD, read names, masses and bonds with `md::format::read_topology`
    let topology = trajectory.topology().cloned().unwrap_or_default();
    let system = AnalysedSystem::new(&topology, Images::Gathered);
    let gyration = RadiusOfGyration::new(&system, system.group(words)?)?;
    let mut observables: [Box<dyn FrameObserver>; 1] = [Box::new(gyration)];
    let passed = pass(trajectory.as_mut(), &system, FrameRange::default(), &mut observables, &mut |_, _| ())?;
    Ok(observables[0].results(&passed)?.summary)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_trajectory TRAJECTORY")?;
    for (time, center) in centers(path.as_ref())? {
        println!("{time:10.3} ps, center {:8.4} {:8.4} {:8.4} nm", center.x, center.y, center.z);
    }
    for line in radius_of_gyration(path.as_ref(), "heavy")? {
        println!("{line}");
    }
    Ok(())
}
