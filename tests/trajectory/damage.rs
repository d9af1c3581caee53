//! Tests of damaged files: damaged frames are found, and undamaged frames are recovered.

use std::path::Path;

use md::observe::trajectory::h5md::{TrajectoryReader, TrajectoryWriter, info, repair, verify};
use md::observe::trajectory::{FrameSource, Precision};

use crate::round_trip::{assert_contents, create, write};
use crate::sample::{self, DIVIDED};

const KIND: &str = "triclinic";
const FRAMES: usize = 12;

/// Writes a closed trajectory of a system with `waters` waters; returns its number of atoms.
fn closed(path: &Path, precision: Precision, waters: usize) -> usize {
    let (mut writer, atoms) = create(path, KIND, precision, waters);
    write(&mut writer, KIND, 0..FRAMES, atoms);
    writer.close().unwrap();
    atoms
}

/// Changes a byte in the last chunk of the stored row of `frame` in a dataset of vectors.
fn damage(path: &Path, dataset: &str, frame: usize) {
    let file = hdf5::File::open(path).unwrap();
    let dataset = file.dataset(dataset).unwrap();
    let pieces = dataset.shape()[1].div_ceil(dataset.chunk().unwrap()[1]);
    let chunk = dataset.chunk_info((frame + 1) * pieces - 1).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    bytes[(chunk.addr + chunk.size / 2) as usize] ^= 0x10;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_frames_are_found_and_the_others_saved() {
    let small = [Precision::Raw, Precision::Lossless, Precision::Decimals3].map(|precision| (precision, 5));
    for (precision, waters) in small.into_iter().chain([(Precision::Lossless, DIVIDED)]) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trajectory.h5md");
        let atoms = closed(&path, precision, waters);
        let good = verify(&path).unwrap();
        assert!(good.checksums && good.bad.is_empty() && good.frames as usize == FRAMES, "{good:?}");
        damage(&path, "coordinates", 3);
        damage(&path, "velocities", 4);
        damage(&path, "particles/trajectory/force/value", 9);
        let damaged = std::fs::read(&path).unwrap();
        let bad: Vec<u64> = verify(&path).unwrap().bad.into_iter().map(|(frame, _)| frame).collect();
        assert_eq!(bad, [3, 4, 9]);

        let repaired = repair(&path).unwrap();
        assert_eq!((repaired.lost, repaired.frames as usize), (bad, FRAMES - 3));
        let found = info(&path).unwrap();
        assert_eq!((found.precision, found.run_id), (precision, sample::provenance().run_id));
        assert_eq!(std::fs::read(repaired.backup.unwrap()).unwrap(), damaged);
        assert!(verify(&path).unwrap().bad.is_empty());
        let reader = TrajectoryReader::open(&path).unwrap();
        assert_eq!(reader.topology().unwrap().residues, sample::topology(waters).residues);
        let kept = (0..FRAMES).filter(|frame| ![3, 4, 9].contains(frame));
        for (index, frame) in kept.enumerate() {
            assert_eq!(reader.step_and_time(index).unwrap(), (sample::step(frame) as i64, sample::time(frame)));
            let found = reader.frame(index).unwrap().0;
            for (found, expected) in found.iter().zip(sample::placed(KIND, frame, atoms)) {
                assert!((*found - expected).norm() < 1e-3, "frame {frame}: {found:?}, {expected:?}");
            }
        }
        drop(reader);
        // the repaired file can be continued
        let mut writer = TrajectoryWriter::append(&path, None).unwrap();
        write(&mut writer, KIND, FRAMES..FRAMES + 2, atoms);
        assert_eq!(writer.close().unwrap().count as usize, FRAMES - 3 + 2);
        assert!(repair(&path).unwrap().backup.is_none());
    }
}

/// Tests files in which one HDF5 object is unreadable, for each object in turn. Frames that do not need the damaged
/// object must be recovered.
#[test]
fn damaged_headers_do_not_lose_the_frames() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    closed(&path, Precision::Decimals3, 5);
    let good = std::fs::read(&path).unwrap();
    let headers: Vec<usize> = (0..good.len() - 4).filter(|&at| good[at..].starts_with(b"OHDR")).collect();
    let mut saved = 0;
    for &at in &headers {
        let mut bytes = good.clone();
        bytes[at + 30] ^= 0x55;
        std::fs::write(&path, bytes).unwrap();
        if let Ok(repaired) = repair(&path) {
            assert_eq!((repaired.frames as usize, repaired.lost.len()), (FRAMES, 0), "object at {at}");
            assert!(verify(&path).unwrap().bad.is_empty());
            saved += 1;
        }
    }
    // frames can be read without the objects of velocity, force, image, four observables and their groups, checksum,
    // and seed
    println!("{saved} of {} damaged objects cost no frame", headers.len());
    assert!(saved >= 12, "{saved} of {}", headers.len());
}

/// Tests files that were cut off, as by a full disk while they were copied.
#[test]
fn the_frames_before_a_cut_are_saved() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let atoms = closed(&path, Precision::Lossless, 200);
    let good = std::fs::read(&path).unwrap();
    let mut saved = vec![];
    for tenths in [9, 7, 5] {
        std::fs::write(&path, &good[..good.len() * tenths / 10]).unwrap();
        assert!(info(&path).is_err());
        let repaired = repair(&path).unwrap();
        assert_eq!(repaired.frames as usize + repaired.lost.len(), FRAMES);
        assert!(verify(&path).unwrap().bad.is_empty());
        assert_contents(&path, KIND, Precision::Lossless, repaired.frames as usize, atoms);
        saved.push(repaired.frames);
    }
    assert!(saved[0] > saved[1] && saved[1] > saved[2] && saved[2] > 2, "{saved:?}");
    // without the first objects no frame is left, and the file is named once
    std::fs::write(&path, &good[..1000]).unwrap();
    let message = repair(&path).unwrap_err().to_string();
    assert_eq!(message.matches("trajectory.h5md").count(), 1, "{message}");
    assert_eq!(std::fs::read(&path).unwrap().len(), 1000);
}

/// Tests a kill between the moment when the writer opens the file and the moment when readers can open the file.
#[test]
fn a_file_killed_while_it_was_opened_is_recognised() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let atoms = closed(&path, Precision::Raw, 5);
    let mut options = hdf5::File::with_options();
    let file = options.with_fapl(|p| p.libver_v110().file_locking(false)).open_rw(&path).unwrap();
    let killed = [1, 2].map(|n| directory.path().join(format!("killed{n}.h5md")));
    for killed in &killed {
        std::fs::copy(&path, killed).unwrap();
    }
    drop(file);
    for refused in [info(&killed[0]).map(drop), TrajectoryReader::open(&killed[0]).map(drop)] {
        let error = refused.unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("killed while opening it"), "{error}");
    }
    let repaired = repair(&killed[0]).unwrap();
    assert_eq!((repaired.frames as usize, info(&killed[0]).unwrap().closed, repaired.backup), (FRAMES, true, None));
    TrajectoryWriter::append(&killed[1], None).unwrap().close().unwrap();
    for path in killed {
        assert_contents(&path, KIND, Precision::Raw, FRAMES, atoms);
    }
}
