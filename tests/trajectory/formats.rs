//! Tests of all trajectory formats except H5MD. Files are written as by a run, cut, continued and damaged, and then
//! read by `md` and by other programs.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use md::observe::extent::Mark;
use md::observe::trajectory::{
    Contents, Fields, Format, Frame, FrameSink, Placement, Precision, Spacing, StoredFrame, open,
};
use md::system::Topology;
use md::vec3::Vec3;
use serde_json::json;

use crate::fuzz::Random;
use crate::probe::python_has;
use crate::sample;

/// Tolerance of positions in nm: f32 has 24 bits, so positions below 16 nm (160 Å) have errors of at most 2⁻²¹ nm.
const SINGLE: f64 = 6e-7;
const FORMATS: [&str; 5] = ["xtc", "dcd", "trr", "nc", "pdb"];

fn tolerance(extension: &str, precision: Precision, atoms: usize) -> f64 {
    match (extension, precision) {
        // XTC does not round positions of up to nine atoms
        ("xtc", Precision::Decimals4) if atoms > 9 => 0.5e-4 + SINGLE,
        ("xtc", _) if atoms > 9 => 0.5e-3 + SINGLE,
        ("pdb", _) => 0.5e-4 + SINGLE,
        _ => SINGLE,
    }
}

/// Tolerance of cell vectors in nm: edges are in f32; PDB has three decimals in Å and two in degrees.
fn cell_tolerance(extension: &str) -> f64 {
    if extension == "pdb" { 1e-4 + 0.005f64.to_radians() * 6.0 } else { 1e-6 }
}

pub(crate) fn precision(extension: &str) -> Precision {
    if ["xtc", "pdb"].contains(&extension) { Precision::Decimals3 } else { Precision::Lossless }
}

/// Returns all fields that the format can store.
fn fields(extension: &str) -> Fields {
    let held = ["trr", "nc"].contains(&extension);
    Fields { velocities: held, forces: held, image: false }
}

/// Time (ps) of a frame as the format stores it. DCD stores step numbers and a timestep, whose product differs from the
/// times of the sample.
fn time(extension: &str, frame: usize) -> f64 {
    if extension == "dcd" { sample::step(frame) as f64 * 0.002 } else { sample::time(frame) }
}

/// Calls `act` with the contents from which the writers of the sample create files.
fn with_contents<R>(
    topology: &Topology,
    extension: &str,
    kind: &str,
    precision: Precision,
    act: impl FnOnce(&Contents<'_>) -> R,
) -> R {
    let provenance = sample::provenance();
    act(&Contents {
        topology,
        placement: Placement::WHOLE,
        periodic: kind != "none",
        fields: fields(extension),
        precision,
        observables: &[],
        provenance: &provenance,
        // frames of the sample are 0.2 ps apart
        spacing: Spacing { steps: 100, timestep: 0.002 },
    })
}

pub(crate) fn create(path: &Path, kind: &str, precision: Precision, waters: usize) -> (Box<dyn FrameSink>, usize) {
    let topology = sample::topology(waters);
    let format = Format::of_name(&path.to_string_lossy()).unwrap();
    let create = |contents: &Contents<'_>| format.files.create(path, contents);
    (with_contents(&topology, format.extension, kind, precision, create).unwrap(), topology.atoms.len())
}

fn append(path: &Path, kind: &str, waters: usize, kept: Mark) -> md::error::Result<Box<dyn FrameSink>> {
    let topology = sample::topology(waters);
    let format = Format::of_file(path)?;
    let precision = precision(format.extension);
    with_contents(&topology, format.extension, kind, precision, |contents| format.files.append(path, contents, kept))
}

pub(crate) fn write(sink: &mut dyn FrameSink, kind: &str, frames: std::ops::Range<usize>, atoms: usize) {
    for frame in frames {
        sample::with_frame(kind, frame, atoms, |f| sink.write(f)).unwrap();
    }
}

/// Asserts that the frames are those of the sample, with whole molecules.
fn assert_contents(path: &Path, kind: &str, frames: usize, atoms: usize, tolerance: f64) {
    let extension = path.extension().unwrap().to_str().unwrap();
    let fields = fields(extension);
    let mut trajectory = open(path).unwrap();
    assert_eq!((trajectory.frames(), trajectory.atoms()), (frames, atoms));
    let mut found = StoredFrame::default();
    for frame in 0..frames {
        trajectory.read(frame, &mut found).unwrap();
        assert_eq!(found.step, sample::step(frame) as i64);
        for (r, expected) in found.positions.iter().zip(sample::placed(kind, frame, atoms)) {
            assert!(
                (*r - expected).to_array().iter().all(|d| d.abs() <= tolerance),
                "frame {frame}: {r:?} {expected:?}"
            );
        }
        let cell = sample::cell(kind, frame);
        assert_eq!(found.cell.is_some(), cell.is_some());
        for (a, b) in found.cell.iter().flat_map(|c| c.rows()).zip(cell.iter().flat_map(|c| c.rows())) {
            assert!((a - b).norm() < cell_tolerance(extension), "{a:?} {b:?}");
        }
        for (held, vectors, expected) in [
            (fields.velocities, &found.velocities, sample::velocities(frame, atoms)),
            (fields.forces, &found.forces, sample::forces(frame, atoms)),
        ] {
            assert_eq!(vectors.len(), if held { atoms } else { 0 });
            // the tolerance is the rounding to f32, and the rounding of AMBER's unit factor
            let close = |(a, b): (&Vec3, Vec3)| (*a - b).norm() <= 2e-7 * b.norm();
            assert!(vectors.iter().zip(expected).all(close), "{extension}: frame {frame}");
        }
        let time = time(extension, frame);
        assert!((found.time - time).abs() < 1e-6 * (1.0 + time), "{} for {time}", found.time);
    }
}

#[test]
fn every_position_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for extension in FORMATS {
        let path = folder.path().join("a").with_extension(extension);
        for kind in sample::CELLS {
            for precision in [Precision::Decimals3, Precision::Decimals4, Precision::Lossless] {
                // the systems have seven atoms, which XTC does not compress, and 307 atoms
                for waters in [0, 100] {
                    let (mut sink, atoms) = create(&path, kind, precision, waters);
                    write(sink.as_mut(), kind, 0..5, atoms);
                    assert_eq!(sink.close().unwrap().extent.count, 5);
                    assert_contents(&path, kind, 5, atoms, tolerance(extension, precision, atoms));
                    fs::remove_file(&path).unwrap();
                }
            }
        }
    }
}

/// Tests the compression of XTC with dense, sparse, mixed and distant atoms. XTC encodes positions by the distances
/// between consecutive atoms.
#[test]
fn positions_of_every_spread_are_packed() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(7);
    for waters in [2, 10, 45] {
        let path = folder.path().join(format!("{waters}.xtc"));
        let mut topology = sample::topology(waters);
        topology.connectivity.clear();
        let format = Format::of_name("a.xtc").unwrap();
        let create = |contents: &Contents<'_>| format.files.create(&path, contents);
        let mut sink = with_contents(&topology, "xtc", "none", Precision::Decimals3, create).unwrap();
        let mut frames: Vec<Vec<Vec3>> = vec![];
        for case in 0..70 {
            let (spread, step) = (10f64.powi(case % 5 - 2), 10f64.powi(case % 7 - 4));
            let mut at = Vec3::ZERO;
            let mut next = || {
                let jump = random.below(4) == 0;
                let size = if jump { spread } else { step };
                at = if jump { Vec3::ZERO } else { at };
                at += Vec3::from([random.signed(), random.signed(), random.signed()]) * size;
                at
            };
            let positions: Vec<Vec3> = (0..topology.atoms.len()).map(|_| next()).collect();
            let (velocities, forces, observables) = (&[], &[], &[]);
            let step = case as u64;
            let frame = Frame { step, time: 0.0, cell: None, positions: &positions, velocities, forces, observables };
            sink.write(&frame).unwrap();
            frames.push(positions);
        }
        sink.close().unwrap();
        let (mut trajectory, mut found) = (open(&path).unwrap(), StoredFrame::default());
        for (case, positions) in frames.iter().enumerate() {
            trajectory.read(case, &mut found).unwrap();
            for (r, expected) in found.positions.iter().zip(positions) {
                // the tolerance is half a unit of the last decimal, and rounding to f32 before and after
                let tolerance = 0.5e-3 + 3e-7 * expected.norm();
                assert!((*r - *expected).to_array().iter().all(|d| d.abs() <= tolerance), "{case}: {r:?} {expected:?}");
            }
        }
    }
}

#[test]
fn positions_beyond_the_format_end_the_run_and_not_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xtc");
    let (mut sink, atoms) = create(&path, "none", Precision::Decimals3, 3);
    write(sink.as_mut(), "none", 0..2, atoms);
    for far in [f64::NAN, 1e6, f64::INFINITY] {
        let positions = vec![Vec3::splat(far); atoms];
        let (velocities, forces, observables) = (&[], &[], &[]);
        let frame = Frame { step: 900, time: 0.0, cell: None, positions: &positions, velocities, forces, observables };
        let error = sink.write(&frame).unwrap_err();
        assert!(error.to_string().contains("exceed the range of XTC"), "{error}");
    }
    assert_eq!(sink.close().unwrap().extent.count, 2);
    assert_contents(&path, "none", 2, atoms, 0.5e-3 + SINGLE);
}

#[test]
fn continued_after_a_checkpoint_as_if_never_interrupted() {
    for extension in FORMATS {
        for kind in ["triclinic", "none"] {
            let folder = tempfile::tempdir().unwrap();
            let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name).with_extension(extension));
            let (mut sink, atoms) = create(&whole, kind, precision(extension), 20);
            write(sink.as_mut(), kind, 0..6, atoms);
            let all = sink.close().unwrap();
            for first in [0, 1, 4] {
                let _ = fs::remove_file(&parts);
                let (mut sink, _) = create(&parts, kind, precision(extension), 20);
                write(sink.as_mut(), kind, 0..first, atoms);
                let kept = sink.sync().unwrap();
                write(sink.as_mut(), kind, first..5, atoms);
                sink.sync().unwrap();
                drop(sink);
                // the appended bytes stand for a frame that was cut by a kill
                OpenOptions::new().append(true).open(&parts).unwrap().write_all(&[7; 100]).unwrap();
                let mut sink = append(&parts, kind, 20, kept).unwrap();
                // the last frame is written again, as after the end of a stage
                write(sink.as_mut(), kind, first.saturating_sub(1)..6, atoms);
                assert_eq!(sink.close().unwrap(), all, "{extension} {kind} {first}");
                assert!(fs::read(&parts).unwrap() == fs::read(&whole).unwrap(), "{extension} {kind} {first}");
            }
        }
    }
}

#[test]
fn files_that_are_not_as_a_checkpoint_has_seen_them_are_refused() {
    for extension in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(extension);
        let (mut sink, atoms) = create(&path, "triclinic", precision(extension), 20);
        write(sink.as_mut(), "triclinic", 0..4, atoms);
        let kept = sink.close().unwrap();
        let good = fs::read(&path).unwrap();
        let changed = {
            let mut bytes = good.clone();
            // the damage is in a position of the second-to-last frame
            let at = good.len() - good.len() / 4 - 20;
            bytes[at] ^= 1;
            bytes
        };
        for (bytes, part) in [
            (good[..good.len() - 1].to_vec(), "the file has 3 frames, but the checkpoint was written after 4 frames"),
            (changed, "the first 4 frames differ"),
        ] {
            fs::write(&path, &bytes).unwrap();
            let error = append(&path, "triclinic", 20, kept).err().unwrap();
            assert!(error.exit_code() == 2 && error.to_string().contains(part), "{extension}: {error}");
            let files = Format::of_file(&path).unwrap().files;
            assert!(files.check(&path, kept).is_err() && !files.is_complete(&path, kept.extent));
            assert!(fs::read(&path).unwrap() == bytes, "{extension}: it was changed");
        }
        fs::write(&path, &good).unwrap();
        let files = Format::of_file(&path).unwrap().files;
        assert!(files.check(&path, kept).is_ok() && files.is_complete(&path, kept.extent));
        // a system with other atoms is refused
        let topology = sample::topology(21);
        let other = |contents: &Contents<'_>| files.append(&path, contents, kept);
        assert!(with_contents(&topology, extension, "triclinic", precision(extension), other).is_err());
        // an existing file is never overwritten
        let create = |contents: &Contents<'_>| files.create(&path, contents);
        let error = with_contents(&topology, extension, "triclinic", precision(extension), create).err().unwrap();
        assert!(error.to_string().contains("already exists"), "{error}");
        // a file begun with other settings is refused
        let contents = |precision, steps, waters| {
            let continues = |contents: &Contents<'_>| {
                files.continues(&path, &Contents { spacing: Spacing { steps, timestep: 0.002 }, ..*contents })
            };
            with_contents(&sample::topology(waters), extension, "triclinic", precision, continues)
        };
        assert!(contents(precision(extension), 100, 20).is_ok());
        let error = match extension {
            "xtc" => contents(Precision::Decimals4, 100, 20),
            "dcd" => contents(Precision::Lossless, 50, 20),
            _ => contents(precision(extension), 100, 21),
        };
        assert!(error.unwrap_err().to_string().contains("the settings of an existing trajectory cannot change"));
    }
}

#[test]
fn an_incomplete_frame_is_left_out_and_damage_is_named() {
    for extension in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(extension);
        let (mut sink, atoms) = create(&path, "triclinic", precision(extension), 20);
        write(sink.as_mut(), "triclinic", 0..3, atoms);
        let third = fs::metadata(&path).unwrap().len();
        write(sink.as_mut(), "triclinic", 3..4, atoms);
        sink.close().unwrap();
        let good = fs::read(&path).unwrap();
        let files = Format::of_file(&path).unwrap().files;
        assert_eq!(files.verify(&path).unwrap().bad, []);
        for cut in (third as usize..good.len()).step_by(13) {
            fs::write(&path, &good[..cut]).unwrap();
            assert_contents(&path, "triclinic", 3, atoms, tolerance(extension, precision(extension), atoms));
            let found = files.verify(&path).unwrap();
            assert_eq!((found.frames, found.bad.len()), if cut > third as usize { (4, 1) } else { (3, 0) });
        }
        let described = files.describe(&path).unwrap();
        assert!(described.lines.iter().any(|(_, value)| value.contains("incomplete frame")), "{described:?}");
        // the damage is in the second frame: in its first number, or in the first of its positions
        let mut bytes = good.clone();
        let find = |from: usize, mark: &[u8]| (from..).find(|&at| good[at..].starts_with(mark)).unwrap();
        let frame = good.len() - third as usize;
        let (at, message) = match extension {
            "xtc" => (find(third as usize / 3, &[0, 0, 7, 203]), "a frame begins with"),
            "trr" => (find(third as usize / 3, &[0, 0, 7, 201]), "a frame begins with"),
            "dcd" => (find(third as usize / 3 + 90, &[48, 0, 0, 0]), "record"),
            // the offset is that of the positions, which follow time and step
            "nc" => (good.len() - 3 * frame + 12, "not finite"),
            _ => (find(third as usize / 3, b"ATOM  ") + 34, "the columns"),
        };
        bytes[at..at + 4].fill(255);
        fs::write(&path, &bytes).unwrap();
        let found = files.verify(&path).unwrap();
        assert!(!found.bad.is_empty() && found.bad[0].1.contains(message));
        let repaired = files.repair(&path).unwrap();
        // the time of a DCD frame follows from its index, so that the frames after the lost frame are left out
        assert_eq!(repaired.left_out, if extension == "dcd" { 2 } else { 0 });
        assert_eq!(repaired.frames + repaired.left_out + repaired.lost.len() as u64, found.frames);
        assert!(repaired.frames >= 1 && fs::read(repaired.backup.unwrap()).unwrap() == bytes);
        assert_eq!(files.verify(&path).unwrap().bad, []);
        assert_eq!(files.repair(&path).unwrap().backup, None);
    }
}

/// Number of damaged files of each format.
const DAMAGED: usize = 2_000;

/// Tests that readers accept or refuse arbitrary bytes. A panic or an endless loop fails this test.
#[test]
fn no_bytes_crash_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let mut random = Random(11);
    for extension in FORMATS {
        let mut originals = vec![];
        for waters in [0, 6] {
            let file = path.with_extension(extension);
            let (mut sink, atoms) = create(&file, "triclinic", precision(extension), waters);
            write(sink.as_mut(), "triclinic", 0..3, atoms);
            sink.close().unwrap();
            originals.push(fs::read(&file).unwrap());
            fs::remove_file(&file).unwrap();
        }
        let (mut read, mut refused) = (0, 0);
        for case in 0..DAMAGED {
            let mut bytes = originals[case % originals.len()].clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                match random.below(5) {
                    0 => bytes.truncate(at.max(1)),
                    1 => bytes[at] = random.next() as u8,
                    2 => bytes[at] ^= 1 << random.below(8),
                    _ => {
                        const WORDS: [u32; 8] = [0, 1, 9, 0x7fff_ffff, 0x8000_0000, u32::MAX, 1 << 24, 0x7f80_0000];
                        let word = WORDS[random.below(WORDS.len())].to_be_bytes();
                        let at = at & !3;
                        let end = (at + 4).min(bytes.len());
                        bytes[at..end].copy_from_slice(&word[..end - at]);
                    }
                }
            }
            fs::write(&path, &bytes).unwrap();
            let Ok(format) = Format::of_file(&path) else { continue };
            let mut frame = StoredFrame::default();
            if let Ok(mut trajectory) = format.files.open(&path) {
                for index in 0..trajectory.frames() {
                    match trajectory.read(index, &mut frame) {
                        Ok(()) => read += 1,
                        Err(_) => refused += 1,
                    }
                }
            }
            let _ = format.files.describe(&path);
            let _ = format.files.verify(&path);
        }
        assert!(read > DAMAGED / 20 && refused > DAMAGED / 20, "{extension}: {read} read, {refused} refused");
    }
}

#[test]
fn python_readers_agree() {
    if !python_has("MDAnalysis, mdtraj") {
        return;
    }
    const FRAMES: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let mut cases = vec![];
    for extension in FORMATS {
        for kind in sample::CELLS {
            for waters in [0, 50] {
                let path = folder.path().join(format!("{kind}{waters}.{extension}"));
                let (mut sink, atoms) = create(&path, kind, precision(extension), waters);
                write(sink.as_mut(), kind, 0..FRAMES, atoms);
                // the larger files are not closed, as after a kill of the run
                match waters {
                    0 => drop(sink.close().unwrap()),
                    _ => std::mem::forget(sink),
                }
                let arrays = |vectors: Vec<Vec3>| vectors.into_iter().map(Vec3::to_array).collect::<Vec<_>>();
                let held = |vectors: Vec<Vec3>| fields(extension).velocities.then(|| arrays(vectors));
                let frame = |frame: usize| {
                    json!({
                        "step": sample::step(frame),
                        "time": time(extension, frame),
                        "cell": sample::cell(kind, frame).map(|cell| cell.rows().map(Vec3::to_array)),
                        "positions": arrays(sample::placed(kind, frame, atoms)),
                        "velocities": held(sample::velocities(frame, atoms)),
                        "forces": held(sample::forces(frame, atoms)),
                    })
                };
                cases.push(json!({
                    "file": path,
                    "atoms": atoms,
                    "frames": (0..FRAMES).map(frame).collect::<Vec<_>>(),
                    "tolerance": tolerance(extension, precision(extension), atoms),
                    "cell tolerance": cell_tolerance(extension).max(2e-6),
                }));
            }
        }
    }
    let numbers = folder.path().join("expected.json");
    fs::write(&numbers, serde_json::to_string(&cases).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/read_frames.py");
    let output = Command::new("python3").arg(script).arg(&numbers).output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    assert_eq!(text.matches(": same").count(), cases.len(), "{text}");
}
