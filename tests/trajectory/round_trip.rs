//! Tests that every number can be read back from trajectories that are written, closed, cut and continued.

use std::path::Path;

use md::observe::extent::Extent;
use md::observe::lock::OutputLock;
use md::observe::trajectory::h5md::{TrajectoryReader, TrajectoryWriter, info, repair};
use md::observe::trajectory::{Contents, Fields, Frame, FrameSource, Placement, Precision, Provenance, Spacing};
use md::vec3::Vec3;
use ndarray::Array3;

use crate::sample;

/// Tolerance of numbers below 8 in f32, which has 24 bits: the error is at most 2⁻²² = 2.4e-7.
const SINGLE: f64 = 3e-7;

/// Maximum error of a stored position in nm.
fn position_tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Raw | Precision::Lossless => SINGLE,
        // the error is half a unit of the last stored decimal, plus the rounding error of the minimum that the filter
        // subtracts
        Precision::Decimals3 => 0.5e-3 + SINGLE,
        Precision::Decimals4 => 0.5e-4 + SINGLE,
    }
}

/// Writes the frames `range` of the sample.
pub(crate) fn write(writer: &mut TrajectoryWriter, kind: &str, range: std::ops::Range<usize>, atoms: usize) {
    for frame in range {
        sample::with_frame(kind, frame, atoms, |f| writer.write(f)).unwrap();
    }
}

/// Creates a trajectory at `path` with the complete layout of the sample. Returns the writer and the number of atoms.
pub(crate) fn create(path: &Path, kind: &str, precision: Precision, waters: usize) -> (TrajectoryWriter, usize) {
    let (topology, observables, provenance) = (sample::topology(waters), sample::observables(), sample::provenance());
    let contents = sample::contents(&topology, kind, precision, &observables, &provenance);
    (TrajectoryWriter::create(path, &contents).unwrap(), topology.atoms.len())
}

fn close(a: f32, b: f64, tolerance: f64) -> bool {
    (f64::from(a) - b).abs() <= tolerance
}

fn assert_vectors(found: &Array3<f32>, frame: usize, expected: &[Vec3], tolerance: f64, what: &str) {
    for (atom, r) in expected.iter().enumerate() {
        for (axis, value) in r.to_array().into_iter().enumerate() {
            let found = found[[frame, atom, axis]];
            assert!(
                close(found, value, tolerance),
                "{what}: frame {frame} atom {atom} axis {axis}: {found} for {value}"
            );
        }
    }
}

/// Asserts that every frame of a closed file has exactly the contents of the sample.
pub(crate) fn assert_contents(path: &Path, kind: &str, precision: Precision, frames: usize, atoms: usize) {
    let file = hdf5::File::open(path).unwrap();
    let vectors = |name: &str| file.dataset(name).unwrap().read::<f32, ndarray::Ix3>().unwrap();
    let scalars = |name: &str| file.dataset(name).unwrap().read_raw::<f64>().unwrap();
    let positions = vectors("coordinates");
    assert_eq!(positions.shape(), [frames, atoms, 3]);
    let (velocities, forces) = (vectors("velocities"), vectors("particles/trajectory/force/value"));
    let steps: Vec<i64> = file.dataset("particles/system/force/step").unwrap().read_raw().unwrap();
    assert_eq!(steps, (0..frames).map(|f| sample::step(f) as i64).collect::<Vec<_>>());
    assert_eq!(scalars("time"), (0..frames).map(sample::time).collect::<Vec<_>>());
    for (column, name) in
        ["temperature", "potentialEnergy", "kineticEnergy", "observables/pressure/value"].iter().enumerate()
    {
        assert_eq!(scalars(name), (0..frames).map(|f| sample::values(f)[column]).collect::<Vec<_>>(), "{name}");
    }
    for frame in 0..frames {
        assert_vectors(
            &positions,
            frame,
            &sample::placed(kind, frame, atoms),
            position_tolerance(precision),
            "position",
        );
        assert_vectors(&velocities, frame, &sample::velocities(frame, atoms), SINGLE, "velocity");
        // forces reach 617 kJ/mol/nm, so that the rounding error of f32 is up to 2⁻²⁴ · 1024 kJ/mol/nm
        assert_vectors(&forces, frame, &sample::forces(frame, atoms), 6.2e-5, "force");
    }
    let Some(first_cell) = sample::cell(kind, 0) else {
        assert!(!file.link_exists("cell_lengths"));
        return;
    };
    let edges = vectors("particles/trajectory/box/edges/value");
    let angles = file.dataset("cell_angles").unwrap().read_2d::<f32>().unwrap();
    let images = file.dataset("particles/trajectory/image/value").unwrap().read::<i32, ndarray::Ix3>().unwrap();
    for frame in 0..frames {
        let cell = sample::cell(kind, frame).unwrap();
        assert_vectors(&edges, frame, &cell.rows(), SINGLE, "edge");
        for axis in 0..3 {
            // angles are near 90°, so that the rounding error of f32 is up to 2⁻²⁴ · 128 degrees
            assert!(close(angles[[frame, axis]], first_cell.lengths_angles().1[axis], 7.7e-6));
        }
        for (atom, image) in sample::unwrapped(kind, frame, atoms).1.into_iter().enumerate() {
            assert_eq!(std::array::from_fn(|axis| images[[frame, atom, axis]]), image, "frame {frame} atom {atom}");
        }
    }
}

#[test]
fn every_number_comes_back() {
    for kind in sample::CELLS {
        for precision in [Precision::Raw, Precision::Lossless, Precision::Decimals3, Precision::Decimals4] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("trajectory.h5md");
            let (mut writer, atoms) = create(&path, kind, precision, 5);
            write(&mut writer, kind, 0..7, atoms);
            assert_eq!(writer.close().unwrap().count, 7);
            if kind == "none" {
                // a file without a cell has no images
                let file = hdf5::File::open(&path).unwrap();
                assert!(!file.link_exists("particles/trajectory/image"));
            }
            assert_contents(&path, kind, precision, 7, atoms);
            assert!(directory.path().join("trajectory.h5").exists());
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2, "a temporary file was left");
        }
    }
}

#[test]
fn the_reader_gives_everything_back() {
    for kind in sample::CELLS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trajectory.h5md");
        let (mut writer, atoms) = create(&path, kind, Precision::Decimals3, 5);
        write(&mut writer, kind, 0..4, atoms);
        writer.sync().unwrap();
        // a file whose writer was killed can be read, too
        let crashed = directory.path().join("crashed.h5md");
        std::fs::copy(&path, &crashed).unwrap();
        writer.close().unwrap();
        for path in [path, crashed] {
            let reader = TrajectoryReader::open(&path).unwrap();
            assert_eq!((reader.frames(), reader.is_periodic()), (4, kind != "none"));
            let (found, expected) = (reader.topology().unwrap(), sample::topology(5));
            for (found, expected) in found.atoms.iter().zip(&expected.atoms) {
                let parts = |a: &md::system::Atom| (a.name, a.element, a.mass, a.charge, a.residue);
                assert_eq!(parts(found), parts(expected));
            }
            assert_eq!((&found.residues, &found.connectivity), (&expected.residues, &expected.connectivity));
            for frame in 0..4 {
                assert_eq!(reader.step_and_time(frame).unwrap(), (sample::step(frame) as i64, sample::time(frame)));
                let (positions, cell) = reader.frame(frame).unwrap();
                for (found, expected) in positions.iter().zip(sample::placed(kind, frame, atoms)) {
                    let off = (*found - expected).to_array().map(f64::abs);
                    assert!(off.iter().all(|&off| off <= position_tolerance(Precision::Decimals3)), "{found:?}");
                }
                let rows = |cell: md::cell::PeriodicCell| cell.rows();
                for (found, expected) in cell.map(rows).iter().zip(&sample::cell(kind, frame).map(rows)) {
                    assert!((0..3).all(|row| (found[row] - expected[row]).norm() < 3.0 * SINGLE), "{found:?}");
                }
                assert_eq!(cell.is_some(), kind != "none");
            }
        }
    }
}

#[test]
fn cut_and_continued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let (mut writer, atoms) = create(&path, "triclinic", Precision::Lossless, 3);
    write(&mut writer, "triclinic", 0..4, atoms);
    let four = writer.sync().unwrap();
    write(&mut writer, "triclinic", 4..9, atoms);
    let nine = writer.sync().unwrap();
    assert_eq!((four.count, nine.count), (4, 9));
    assert_eq!(writer.close().unwrap(), nine);
    for extent in [nine, four, Extent::default()] {
        let keep = extent.count as usize;
        let mut writer = TrajectoryWriter::append(&path, Some(extent)).unwrap();
        assert_eq!(writer.run_id(), sample::provenance().run_id);
        assert_eq!(writer.observables(), sample::observables());
        // the first of the frames after a restart is already stored and must not be duplicated
        write(&mut writer, "triclinic", keep.max(1) - usize::from(keep > 0)..12, atoms);
        if keep == 0 {
            sample::with_frame("triclinic", 0, atoms, |f| assert_eq!(writer.write(f).unwrap_err().exit_code(), 1));
            drop(writer);
            let kept = info(&path).unwrap();
            assert_eq!((kept.frames, kept.first), (12 - 1, Some((sample::step(1) as i64, sample::time(1)))));
        } else {
            assert_eq!(writer.close().unwrap().count, 12);
            assert_contents(&path, "triclinic", Precision::Lossless, 12, atoms);
        }
    }
}

#[test]
fn info_tells_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let (mut writer, atoms) = create(&path, "orthorhombic", Precision::Decimals4, 3);
    let empty = info(&path).unwrap();
    assert_eq!((empty.frames, empty.first, empty.closed), (0, None, false));
    write(&mut writer, "orthorhombic", 0..3, atoms);
    writer.sync().unwrap();
    let live = info(&path).unwrap();
    assert_eq!((live.frames, live.closed), (3, false));
    writer.close().unwrap();
    let closed = info(&path).unwrap();
    assert!(closed.closed && closed.periodic && closed.size > 0);
    assert_eq!((closed.frames, closed.atoms, closed.precision), (3, atoms, Precision::Decimals4));
    assert_eq!(closed.first, Some((7, 0.5)));
    assert_eq!(closed.last, Some((207, 0.9)));
    assert_eq!(closed.observables, sample::observables());
    assert_eq!((closed.version, closed.input), ("0.1.0".to_owned(), sample::provenance().input));
    assert_eq!(closed.run_id, sample::provenance().run_id);
    assert!(closed.fields.velocities && closed.fields.forces && closed.fields.image);
    assert_eq!(repair(&path).unwrap().frames, 3);
    assert_contents(&path, "orthorhombic", Precision::Decimals4, 3, atoms);
}

/// Tests that a run continues neither another trajectory nor its own trajectory with a changed bit in an old frame.
#[test]
fn other_frames_are_not_continued() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let (mut writer, atoms) = create(&path, "triclinic", Precision::Lossless, 3);
    write(&mut writer, "triclinic", 0..5, atoms);
    let mine = writer.close().unwrap();
    let other = directory.path().join("other.h5md");
    let (mut writer, atoms) = create(&other, "triclinic", Precision::Lossless, 3);
    write(&mut writer, "triclinic", 1..6, atoms);
    let theirs = writer.close().unwrap();
    assert_ne!(mine.checksum, theirs.checksum);
    for (path, extent) in [(&path, theirs), (&other, mine)] {
        let refused = TrajectoryWriter::append(path, Some(extent)).err().unwrap();
        assert_eq!(refused.exit_code(), 2);
        assert!(refused.to_string().contains("the first 5 frames differ"), "{refused}");
        assert!(info(path).unwrap().closed);
    }
    TrajectoryWriter::append(&path, Some(mine)).unwrap();
}

/// Tests atoms without bonds, with positions only, at coordinates beyond the range in which the error stays below half
/// a unit.
#[test]
fn bare_atoms_far_apart() {
    for precision in [Precision::Raw, Precision::Lossless, Precision::Decimals3, Precision::Decimals4] {
        for far in [3.5, 1e5, 1e9, 1e30] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("bare.h5md");
            let mut topology = sample::topology(0);
            topology.connectivity.clear();
            let provenance = Provenance::default();
            let fields = Fields::default();
            let contents = Contents {
                topology: &topology,
                placement: Placement::WHOLE,
                periodic: false,
                fields,
                precision,
                observables: &[],
                provenance: &provenance,
                spacing: Spacing { steps: 1, timestep: 0.002 },
            };
            let mut writer = TrajectoryWriter::create(&path, &contents).unwrap();
            let positions: Vec<Vec3> = (0..topology.atoms.len()).map(|i| Vec3::splat(far * (i as f64 - 2.0))).collect();
            let frame = Frame {
                step: 0,
                time: 0.0,
                cell: None,
                positions: &positions,
                velocities: &[],
                forces: &[],
                observables: &[],
            };
            writer.write(&frame).unwrap();
            writer.close().unwrap();
            let stored =
                hdf5::File::open(&path).unwrap().dataset("coordinates").unwrap().read::<f32, ndarray::Ix3>().unwrap();
            // f32 has a relative error of 2⁻²⁴; the minimum that the filter subtracts adds its own error
            let tolerance = position_tolerance(precision) + 2.0 * far * 5.0 * 6e-8;
            assert_vectors(&stored, 0, &positions, tolerance, &format!("{precision:?} {far}"));
        }
    }
}

#[test]
fn misuse_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let (mut writer, atoms) = create(&path, "orthorhombic", Precision::Raw, 3);
    write(&mut writer, "orthorhombic", 0..2, atoms);
    sample::with_frame("none", 2, atoms, |f| assert_eq!(writer.write(f).unwrap_err().exit_code(), 1));
    sample::with_frame("orthorhombic", 2, atoms - 1, |f| assert_eq!(writer.write(f).unwrap_err().exit_code(), 1));
    writer.close().unwrap();

    let (topology, observables, provenance) = (sample::topology(3), sample::observables(), sample::provenance());
    let contents = sample::contents(&topology, "orthorhombic", Precision::Raw, &observables, &provenance);
    let exists = TrajectoryWriter::create(&path, &contents).err().unwrap();
    assert_eq!(exists.exit_code(), 2);
    assert!(exists.to_string().contains("already exists"), "{exists}");
    assert_contents(&path, "orthorhombic", Precision::Raw, 2, atoms);

    let beyond = TrajectoryWriter::append(&path, Some(Extent { count: 3, checksum: 0 })).err().unwrap();
    assert_eq!(beyond.exit_code(), 2);
    assert!(
        beyond.to_string().contains("the file has 2 frames, but the checkpoint was written after 3 frames"),
        "{beyond}"
    );
    assert_contents(&path, "orthorhombic", Precision::Raw, 2, atoms);

    let nowhere = TrajectoryWriter::create(&directory.path().join("none/a.h5md"), &contents).err().unwrap();
    assert_eq!(nowhere.exit_code(), 5);

    let lock = OutputLock::acquire(directory.path()).unwrap();
    assert_eq!(repair(&path).unwrap_err().exit_code(), 2);
    drop(lock);
    assert_eq!(repair(&path).unwrap().frames, 2);
}
