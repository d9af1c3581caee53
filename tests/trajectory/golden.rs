//! Tests of trajectories that other programs have written (`golden/make.py`). All numbers follow from the formula in
//! `golden/make.py`.

use std::path::PathBuf;

use md::cell::PeriodicCell;
use md::observe::trajectory::{Format, StoredFrame, open};
use md::vec3::{Vec3, vec3};

/// Number of frames in each file.
const FRAMES: usize = 3;
/// Tolerance of positions in nm. Positions below 50 Å in f32 have an error of at most 2⁻¹⁹ Å. With the rounding error
/// of the conversion from Å, the error is at most 3e-7 nm.
const SINGLE: f64 = 3e-7;

pub(crate) fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/trajectory/golden").join(name)
}

/// Position of an atom, by the formula of `make.py`.
fn position(atom: usize, frame: usize) -> Vec3 {
    let value = |axis: usize| 0.137 * ((atom * (axis + 2) + 3 * frame) % 23) as f64 + 0.05 * axis as f64;
    vec3(value(0), value(1), value(2))
}

fn cell() -> PeriodicCell {
    PeriodicCell::from_rows([vec3(3.0, 0.0, 0.0), vec3(1.0, 4.0, 0.0), vec3(-1.0, 1.0, 5.0)]).unwrap()
}

/// Asserts the frames of `file`: positions to within `tolerance` (nm), and steps and times as `at` returns them for a
/// frame number.
#[track_caller]
fn assert_frames(file: &str, atoms: usize, periodic: bool, tolerance: f64, at: impl Fn(usize) -> (i64, f64)) {
    let mut trajectory = open(&golden(file)).unwrap();
    assert_eq!((trajectory.frames(), trajectory.atoms()), (FRAMES, atoms), "{file}");
    assert!(trajectory.topology().is_none(), "{file}");
    let mut found = StoredFrame::default();
    // frames are read out of order, because reading one must not depend on the preceding ones
    for frame in [1, 0, 2] {
        trajectory.read(frame, &mut found).unwrap();
        assert_eq!(found.positions.len(), atoms);
        for (atom, r) in found.positions.iter().enumerate() {
            let away = (*r - position(atom, frame)).to_array();
            assert!(away.iter().all(|d| d.abs() <= tolerance), "{file} frame {frame} atom {atom}: {r:?}");
        }
        let (step, time) = at(frame);
        // times and timesteps are in f32
        assert!(
            found.step == step && (found.time - time).abs() <= 1e-6 * time,
            "{file}: {} {}",
            found.step,
            found.time
        );
        assert_eq!(found.cell.is_some(), periodic, "{file}");
        for (found, expected) in found.cell.iter().flat_map(|cell| cell.rows()).zip(cell().rows()) {
            // edges and angles are f32. An angle of 90° is off by up to 4e-6° = 7e-8 rad, which displaces the end of
            // an edge of 5 nm. PDB files round to 0.01° and 0.001 Å
            let tolerance = if file.ends_with("pdb") { 1e-4 + 0.005f64.to_radians() * 6.0 } else { 2e-6 };
            assert!((found - expected).norm() < tolerance, "{file}: {found:?} for {expected:?}");
        }
    }
}

#[test]
fn xtc_of_other_programs() {
    // the tolerance is half a unit of the last decimal, and rounding to f32
    for (file, atoms, tolerance) in [
        ("mdanalysis.xtc", 24, 0.5e-3 + SINGLE),
        ("mdtraj.xtc", 24, 0.5e-3 + SINGLE),
        ("mdanalysis-fine.xtc", 24, 0.5e-4 + SINGLE),
        // XTC does not round positions of up to nine atoms
        ("mdanalysis-plain.xtc", 5, SINGLE),
    ] {
        assert_frames(file, atoms, true, tolerance, |frame| (frame as i64, 0.5 * frame as f64));
    }
}

#[test]
fn dcd_of_other_programs() {
    assert_frames("mdanalysis.dcd", 24, true, SINGLE, |frame| (frame as i64, 0.5 * frame as f64));
    assert_frames("mdanalysis-vacuum.dcd", 5, false, SINGLE, |frame| (frame as i64, 0.5 * frame as f64));
    // MDTraj writes a timestep of one AKMA time unit, 0.0489 ps, regardless of the times
    let unit = 0.048_888_213;
    assert_frames("mdtraj.dcd", 24, true, SINGLE, |frame| (frame as i64, unit * frame as f64));
    let at = |frame: usize| (1000 + 250 * frame as i64, 2.0 + 0.5 * frame as f64);
    for file in ["little-degrees.dcd", "big-cosines.dcd", "little-64-symmetric.dcd", "big-64-fourth.dcd"] {
        assert_frames(file, 7, true, SINGLE, at);
    }
    assert_frames("xplor.dcd", 7, false, SINGLE, at);
    let message = open(&golden("fixed.dcd")).err().unwrap().to_string();
    assert!(message.contains("3 atoms are fixed"), "{message}");
}

/// Asserts the velocities (nm/ps) and forces (kJ/mol/nm) that `make_more.py` has written.
#[track_caller]
fn assert_vectors(file: &str, atoms: usize) {
    let (mut trajectory, mut found) = (open(&golden(file)).unwrap(), StoredFrame::default());
    for frame in 0..FRAMES {
        trajectory.read(frame, &mut found).unwrap();
        assert_eq!((found.velocities.len(), found.forces.len()), (atoms, atoms), "{file}");
        for atom in 0..atoms {
            let velocity = position(atom, frame + 1) * 0.5 - Vec3::splat(0.3);
            let force = position(atom, frame + 2) * -200.0 + Vec3::splat(77.0);
            // values and conversions are in f32
            assert!((found.velocities[atom] - velocity).norm() < 1e-6, "{file}: {:?}", found.velocities[atom]);
            assert!((found.forces[atom] - force).norm() < 3e-4, "{file}: {:?}", found.forces[atom]);
        }
    }
}

#[test]
fn trr_of_other_programs() {
    for (file, full) in [("mdanalysis.trr", true), ("mdtraj.trr", false)] {
        assert_frames(file, 24, true, SINGLE, |frame| (frame as i64, 0.5 * frame as f64));
        if full {
            assert_vectors(file, 24);
        }
    }
    // numbers in the file have 64 bits, and frames without positions lie between the frames with positions
    assert_frames("double.trr", 7, true, 1e-12, |frame| (1000 + 250 * frame as i64, 2.0 + 0.5 * frame as f64));
    assert_vectors("double.trr", 7);
}

#[test]
fn netcdf_of_other_programs() {
    // the format stores no steps, so the step is the number of the frame
    let at = |frame: usize| (frame as i64, 0.5 * frame as f64);
    assert_frames("mdtraj.nc", 24, true, SINGLE, at);
    assert_frames("mdanalysis.ncdf", 24, true, SINGLE, at);
    assert_vectors("mdanalysis.ncdf", 24);
    // NetCDF in the variants CDF-1, CDF-2 and CDF-5, with positions in 64 bits
    for file in ["scaled-1.nc", "scaled-2.nc", "scaled-5.nc"] {
        assert_frames(file, 7, true, 1e-12, at);
        assert_vectors(file, 7);
    }
}

#[test]
fn hdf5_of_other_programs() {
    for file in ["mdanalysis.h5md", "mdtraj.h5"] {
        assert_frames(file, 24, true, SINGLE, |frame| (frame as i64, 0.5 * frame as f64));
        let format = Format::of_file(&golden(file)).unwrap().files;
        let found = format.verify(&golden(file)).unwrap();
        assert!((found.frames, found.bad.len()) == (FRAMES as u64, 0), "{found:?}");
        let repaired = format.repair(&golden(file)).unwrap();
        assert!(repaired.frames == FRAMES as u64 && repaired.backup.is_none(), "{repaired:?}");
        let title = format.describe(&golden(file)).unwrap().title;
        assert!(title.contains("written by another program"), "{title}");
    }
    let trajectory = open(&golden("mdtraj.h5")).unwrap();
    assert!(trajectory.labels().len() == 24 && trajectory.labels()[0].element == 6);
}

#[test]
fn pdb_of_other_programs() {
    // neither MDAnalysis nor MDTraj writes times to PDB files
    for file in ["mdanalysis.pdb", "mdtraj.pdb"] {
        assert_frames(file, 24, true, 0.5e-4 + SINGLE, |frame| (frame as i64, frame as f64));
    }
}

/// Tests that readers ignore the count of frames in the header, because a killed writer leaves an old count. NetCDF
/// also has a special value for files that are still being written.
#[test]
fn counts_of_frames_in_headers_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    for (file, at, is_big) in [
        ("little-degrees.dcd", 8, false),
        ("big-cosines.dcd", 8, true),
        ("scaled-1.nc", 4, true),
        ("scaled-2.nc", 4, true),
    ] {
        let mut bytes = std::fs::read(golden(file)).unwrap();
        let count = |value: u32| if is_big { value.to_be_bytes() } else { value.to_le_bytes() };
        // make.py leaves a count of 1 in its DCD files
        assert!([1, FRAMES as u32].iter().any(|&written| bytes[at..at + 4] == count(written)), "{file}");
        for stale in [0, 1, FRAMES as u32 + 4, u32::MAX] {
            bytes[at..at + 4].copy_from_slice(&count(stale));
            let path = folder.path().join(file);
            std::fs::write(&path, &bytes).unwrap();
            let mut trajectory = open(&path).unwrap();
            assert_eq!(trajectory.frames(), FRAMES, "{file} with {stale}");
            let mut found = StoredFrame::default();
            trajectory.read(FRAMES - 1, &mut found).unwrap();
            assert!((found.positions[6] - position(6, FRAMES - 1)).norm() < 2.0 * SINGLE, "{file}");
        }
    }
}

/// Tests both kinds of XTC. Frames of more than 300 million atoms begin with another magic number and have lengths of
/// 64 bits (GROMACS 2023).
#[test]
fn xtc_of_both_kinds() {
    const LENGTH: usize = 88;
    let (bytes, mut wide, mut at) = (std::fs::read(golden("mdtraj.xtc")).unwrap(), vec![], 0);
    for _ in 0..FRAMES {
        let frame = &bytes[at..];
        assert_eq!(frame[..4], 1995u32.to_be_bytes());
        let length: [u8; 4] = frame[LENGTH..LENGTH + 4].try_into().unwrap();
        let end = LENGTH + 4 + (u32::from_be_bytes(length) as usize).next_multiple_of(4);
        for part in [&2023u32.to_be_bytes()[..], &frame[4..LENGTH], &[0; 4], &frame[LENGTH..end]] {
            wide.extend_from_slice(part);
        }
        at += end;
    }
    assert_eq!(at, bytes.len());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.xtc");
    std::fs::write(&path, wide).unwrap();
    assert_frames(path.to_str().unwrap(), 24, true, 0.5e-3 + SINGLE, |frame| (frame as i64, 0.5 * frame as f64));
}

#[test]
fn files_are_recognised_by_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    for (file, name) in [
        ("mdtraj.xtc", "XTC"),
        ("mdtraj.dcd", "DCD"),
        ("big-64-fourth.dcd", "DCD"),
        ("double.trr", "TRR"),
        ("scaled-5.nc", "AMBER NetCDF"),
        ("mdanalysis.pdb", "PDB"),
    ] {
        let path = folder.path().join("some.name");
        std::fs::copy(golden(file), &path).unwrap();
        assert_eq!(Format::of_file(&path).unwrap().name, name);
    }
    let text = folder.path().join("text.xtc");
    std::fs::write(&text, "1995 is written out here, and that is no trajectory\n").unwrap();
    let error = Format::of_file(&text).err().unwrap();
    assert!(error.exit_code() == 2 && error.to_string().contains("unknown format of a trajectory"), "{error}");
}
