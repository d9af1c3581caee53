//! Measures the cost of writing a frame: `cargo test --release --test trajectory cost -- --ignored --nocapture`.

use std::time::Instant;

use md::observe::trajectory::h5md::TrajectoryWriter;
use md::observe::trajectory::{Contents, Fields, Frame, Placement, Precision, Spacing};
use md::vec3::{Vec3, vec3};

use crate::sample;

/// Coordinates with random low bits, as in a liquid.
fn liquid(frame: usize, atoms: usize) -> Vec<Vec3> {
    let mut bits = 0x9e37_79b9_7f4a_7c15u64 + frame as u64;
    let mut uniform = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        (bits >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut positions: Vec<Vec3> = (0..atoms).map(|_| vec3(uniform(), uniform(), uniform()) * 6.2).collect();
    // puts hydrogens near their oxygens
    for first in (6..atoms - 1).step_by(3) {
        for member in 1..3 {
            positions[first + member] = positions[first] + positions[first + member] * 0.02;
        }
    }
    positions
}

#[test]
#[ignore = "a measurement, not a test"]
fn cost_of_a_frame_of_24000_atoms() {
    let (topology, observables, provenance) = (sample::topology(7998), sample::observables(), sample::provenance());
    let atoms = topology.atoms.len();
    let frames: Vec<Vec<Vec3>> = (0..8).map(|frame| liquid(frame, atoms)).collect();
    for velocities in [false, true] {
        for precision in [Precision::Raw, Precision::Lossless, Precision::Decimals3, Precision::Decimals4] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.h5md");
            let fields = Fields { velocities, ..Fields::default() };
            let contents = Contents {
                topology: &topology,
                placement: Placement::WHOLE,
                periodic: true,
                fields,
                precision,
                observables: &observables,
                provenance: &provenance,
                spacing: Spacing { steps: 1, timestep: 0.002 },
            };
            let mut writer = TrajectoryWriter::create(&path, &contents).unwrap();
            let (mut caller, count) = (0.0, 200);
            let start = Instant::now();
            for step in 0..count {
                let frame = Frame {
                    step,
                    time: step as f64,
                    cell: Some(md::cell::PeriodicCell::orthorhombic([6.2; 3])),
                    positions: &frames[step as usize % 8],
                    velocities: &frames[step as usize % 8],
                    forces: &[],
                    observables: &sample::values(step as usize),
                };
                // only the first two frames count for the caller: in a run the writer has time between frames, so that
                // the caller does not wait
                let before = Instant::now();
                writer.write(&frame).unwrap();
                if step < 2 {
                    caller += before.elapsed().as_secs_f64();
                }
            }
            let frames = writer.close().unwrap().count;
            let total = start.elapsed().as_secs_f64();
            let size = std::fs::metadata(&path).unwrap().len() as f64 / frames as f64;
            println!(
                "{atoms} atoms, velocities {velocities}, {precision:?}: caller {:.3} ms, writer {:.2} ms, {:.3} MB a frame",
                1e3 * caller / 2.0,
                1e3 * total / frames as f64,
                1e-6 * size
            );
        }
    }
}

#[test]
#[ignore = "a measurement, not a test"]
fn cost_of_creating_a_file_of_1_500_000_atoms() {
    let (topology, observables, provenance) = (sample::topology(500_000), sample::observables(), sample::provenance());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.h5md");
    let contents = sample::contents(&topology, "orthorhombic", Precision::Decimals3, &observables, &provenance);
    let start = Instant::now();
    let writer = TrajectoryWriter::create(&path, &contents).unwrap();
    println!("created in {:.2} s", start.elapsed().as_secs_f64());
    writer.close().unwrap();
    println!("{:.1} MB", 1e-6 * std::fs::metadata(&path).unwrap().len() as f64);
}

#[test]
#[ignore = "a measurement, not a test"]
fn cost_of_a_sync_after_many_frames() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.h5md");
    let (mut writer, atoms) = crate::round_trip::create(&path, "orthorhombic", Precision::Decimals3, 20);
    for frames in [1000usize, 10_000, 30_000] {
        let first = writer.sync().unwrap().count as usize;
        let start = Instant::now();
        crate::round_trip::write(&mut writer, "orthorhombic", first..frames, atoms);
        writer.sync().unwrap();
        let written = start.elapsed().as_secs_f64() / (frames - first) as f64;
        crate::round_trip::write(&mut writer, "orthorhombic", frames..frames + 1, atoms);
        let start = Instant::now();
        writer.sync().unwrap();
        let journal = std::fs::metadata(path.with_file_name(".a.h5md.journal")).unwrap().len();
        println!(
            "{frames} frames: {:.3} ms a frame, sync {:.1} ms, journal {:.1} bytes a frame",
            1e3 * written,
            1e3 * start.elapsed().as_secs_f64(),
            journal as f64 / frames as f64
        );
    }
}
