//! Tests that no frames, steps, digits or fields are lost or changed in silence.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use md::observe::trajectory::{
    Contents, Fields, Format, Frame, FrameSink, Precision, Spacing, StoredFrame, Verification, open,
};
use md::vec3::{Vec3, vec3};

use crate::batch::write;
use crate::fuzz::Random;
use crate::golden::golden;
use crate::{formats, sample};

/// Number of waters in the files of this module.
const WATERS: usize = 4;

/// Runs `md`, and returns its exit code and its output with single blanks.
fn md(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let done = Command::cargo_bin("md").unwrap().current_dir(folder).env("NO_COLOR", "1").args(arguments).output();
    let done = done.unwrap();
    let text = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
    let words = text.split_whitespace().filter(|word| *word != "│");
    (done.status.code().unwrap(), words.collect::<Vec<_>>().join(" "))
}

/// Creates a file for frames of the sample without fields.
fn create(path: &Path, precision: Precision, atoms: usize, interval: u64) -> Box<dyn FrameSink> {
    let (mut topology, provenance) = (sample::topology(0), sample::provenance());
    topology.connectivity.clear();
    topology.residues.truncate(1);
    topology.atoms = vec![md::system::Atom { residue: 0, ..topology.atoms[0] }; atoms];
    let contents = Contents {
        fields: Fields::default(),
        spacing: Spacing { steps: interval, timestep: 0.002 },
        ..sample::contents(&topology, "none", precision, &[], &provenance)
    };
    Format::of_name(&path.to_string_lossy()).unwrap().files.create(path, &contents).unwrap()
}

fn write_frame(sink: &mut dyn FrameSink, step: u64, time: f64, positions: &[Vec3]) {
    let (velocities, forces, observables) = (&[], &[], &[]);
    sink.write(&Frame { step, time, cell: None, positions, velocities, forces, observables }).unwrap();
}

/// Writes the first `count` frames of the sample.
fn file(folder: &Path, name: &str, count: usize) -> PathBuf {
    let path = folder.join(name);
    write(&path, "triclinic", formats::precision(path.extension().unwrap().to_str().unwrap()), 0..count, WATERS);
    path
}

fn verified(path: &Path) -> Verification {
    Format::of_file(path).unwrap().files.verify(path).unwrap()
}

fn bad(path: &Path) -> Vec<u64> {
    verified(path).bad.into_iter().map(|(frame, _)| frame).collect()
}

/// Asserts that a file has the frames `expected` of the sample, with their times.
#[track_caller]
fn assert_sample(path: &Path, expected: &[usize]) {
    let found = sample::all_frames(open(path));
    assert_eq!(found.iter().map(|frame| frame.step).collect::<Vec<_>>(), steps_of(expected), "{}", path.display());
    for (found, &frame) in found.iter().zip(expected) {
        let placed = sample::placed("triclinic", frame, found.positions.len());
        // the tolerance is the rounding of XTC, and rounding to f32
        assert!(found.positions.iter().zip(placed).all(|(a, b)| (*a - b).norm() < 1e-3), "frame {frame}");
        let is_dcd = path.extension().unwrap() == "dcd";
        let time = if is_dcd { 0.002 * sample::step(frame) as f64 } else { sample::time(frame) };
        assert!((found.time - time).abs() < 1e-5, "{} for {time}", found.time);
    }
}

fn steps_of(frames: &[usize]) -> Vec<i64> {
    frames.iter().map(|&frame| sample::step(frame) as i64).collect()
}

/// Tests XTC frames in which a position, or the difference of two positions, needs more than 64 bits.
#[test]
fn positions_far_apart_are_packed() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(5);
    let mut scattered = |atoms: usize, edges: [f64; 3]| -> Vec<Vec3> {
        let mut coordinate = |edge: f64| 0.5 * edge * (1.0 + random.signed());
        (0..atoms).map(|_| Vec3::from(edges.map(&mut coordinate))).collect()
    };
    let line = |i: usize| vec3(45.0 * i as f64, (i % 3) as f64, 2.0 * (i % 5) as f64);
    let mut cases = vec![
        (Precision::Decimals4, (0..40).map(line).collect::<Vec<_>>()),
        (Precision::Decimals3, scattered(300, [4000.0, 4000.0, 1000.0])),
        (Precision::Decimals3, scattered(300, [16000.0, 16000.0, 16000.0])),
        (Precision::Decimals3, scattered(100, [16000.0, 16000.0, 16700.0])),
    ];
    for atoms in 10..21 {
        cases.push((Precision::Decimals4, scattered(atoms, [150.0; 3])));
        cases.push((Precision::Decimals3, scattered(atoms, [1500.0; 3])));
    }
    // pairs of close atoms far from each other, and the origin
    let pairs = scattered(50, [1000.0; 3]).into_iter().flat_map(|r| [r, r + vec3(0.1, 0.0, -0.1)]);
    cases.push((Precision::Decimals4, pairs.chain([Vec3::ZERO]).collect()));
    for (case, (precision, positions)) in cases.iter().enumerate() {
        let path = folder.path().join(format!("{case}.xtc"));
        let mut sink = create(&path, *precision, positions.len(), 1);
        write_frame(sink.as_mut(), 0, 0.0, positions);
        sink.close().unwrap();
        let found = sample::all_frames(open(&path)).remove(0).positions;
        // the tolerance is half a unit of the last decimal, and rounding to f32 before and after
        let half = if *precision == Precision::Decimals4 { 0.5e-4 } else { 0.5e-3 };
        for (found, expected) in found.iter().zip(positions) {
            let tolerance = half + 3e-7 * expected.norm();
            let is_close = (*found - *expected).to_array().iter().all(|d| d.abs() <= tolerance);
            assert!(is_close, "case {case}: {found:?} for {expected:?}");
        }
    }
}

/// Damages four bytes at the offset `at` in frame `frame` of a file of `count` frames that all have `size` bytes.
fn damage(path: &Path, count: usize, frame: usize, size: usize, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    let start = bytes.len() - (count - frame) * size + at;
    bytes[start..start + 4].fill(255);
    fs::write(path, bytes).unwrap();
}

#[test]
fn repair_does_not_change_the_times_of_frames() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // sizes of a frame with 19 atoms: records of cell and coordinates in DCD
    let dcd = 56 + 3 * (8 + 4 * 19);
    let path = file(here, "a.dcd", 6);
    damage(&path, 6, 2, dcd, 0);
    let whole = fs::read(&path).unwrap();
    let (code, text) = md(here, &["repair", "a.dcd"]);
    assert!(code == 0 && text.contains("2 frames saved, 1 frames lost"), "{text}");
    assert!(text.contains("3 readable frames after the first lost frame were left out"), "{text}");
    assert!(text.contains("writes frame N of a.dcd.bak with its time"), "{text}");
    assert_sample(&path, &[0, 1]);
    assert_eq!((bad(&path), verified(&path).missing), (vec![], 0));
    assert!(fs::read(here.join("a.dcd.bak")).unwrap() == whole);
    // the left-out frames can be written one by one
    let (code, text) = md(here, &["convert", "a.dcd.bak", "four.nc", "--frame", "4"]);
    assert!(code == 0, "{text}");
    assert_eq!(sample::all_frames(open(&here.join("four.nc")))[0].step, sample::step(4) as i64);
    // no frame moves if only the last frame is lost
    let path = file(here, "last.dcd", 6);
    damage(&path, 6, 5, dcd, 0);
    let (_, text) = md(here, &["repair", "last.dcd"]);
    assert!(text.contains("5 frames saved, 1 frames lost") && !text.contains("left out"), "{text}");
    assert_sample(&path, &[0, 1, 2, 3, 4]);
    let path = file(here, "first.dcd", 6);
    damage(&path, 6, 0, dcd, 0);
    let (code, text) = md(here, &["repair", "first.dcd"]);
    assert!(code == 5 && text.contains("the first frame cannot be read"), "{text}");
    assert!(path.exists() && !here.join("first.dcd.bak").exists());
    // a format that stores the time of each frame keeps all other frames
    let path = file(here, "a.nc", 6);
    let six = fs::metadata(&path).unwrap().len();
    let size = six - fs::metadata(file(here, "five.nc", 5)).unwrap().len();
    // time and step precede the positions
    damage(&path, 6, 2, size as usize, 12);
    let (_, text) = md(here, &["repair", "a.nc"]);
    assert!(text.contains("5 frames saved, 1 frames lost") && !text.contains("were left out"), "{text}");
    assert_sample(&path, &[0, 1, 3, 4, 5]);
}

/// Returns the byte offsets of the frames of an XTC or TRR file.
fn starts(bytes: &[u8], magic: u32) -> Vec<usize> {
    let is_start = |&at: &usize| bytes[at..].starts_with(&magic.to_be_bytes());
    (0..bytes.len() - 4).step_by(4).filter(is_start).collect()
}

#[test]
fn frames_after_a_damaged_header_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (extension, magic) in [("xtc", 1995u32), ("trr", 1993)] {
        let name = format!("a.{extension}");
        let path = file(here, &name, 8);
        let good = fs::read(&path).unwrap();
        let starts = starts(&good, magic);
        assert_eq!(starts.len(), 8, "{extension}");
        let size = if extension == "xtc" { 88 } else { 24 + 4 * 7 };
        let read = |at: usize| i32::from_be_bytes(good[at..at + 4].try_into().unwrap());
        let atoms = if extension == "xtc" { 4 } else { 24 + 4 * 10 };
        let at = |frame: usize, offset: usize| starts[frame] + offset;
        // the changed words with their new values, and the indices of the damaged frames
        let cases = [
            (vec![(at(1, 0), 7)], vec![1u64]),
            (vec![(at(1, 0), -1), (at(4, 0), 0)], vec![1, 4]),
            (vec![(at(0, 0), magic as i32), (at(0, atoms), 18)], vec![0]),
            (vec![(at(3, atoms), 20)], vec![3]),
            // the header gives too small a size, a size that reaches into the next frame, or beyond the file
            (vec![(at(2, size), read(at(2, size)) - 8)], vec![2]),
            (vec![(at(2, size), read(at(2, size)) + 12)], vec![2]),
            (vec![(at(6, size), i32::MAX - 3)], vec![6]),
        ];
        for (words, lost) in cases {
            let mut bytes = good.clone();
            for &(at, value) in &words {
                bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
            }
            fs::write(&path, &bytes).unwrap();
            let found = verified(&path);
            // a size that is too small leaves bytes between frames, which count as a further damaged frame
            let further = found.frames - 8;
            assert!(found.bad.len() as u64 == lost.len() as u64 + further && further <= 1, "{words:?}: {found:?}");
            assert_eq!(found.bad[0].0, lost[0], "{extension} {words:?}: {found:?}");
            let repaired = Format::of_file(&path).unwrap().files.repair(&path).unwrap();
            assert_eq!(repaired.lost.len(), found.bad.len());
            let kept: Vec<usize> = (0..8).filter(|&frame| !lost.contains(&(frame as u64))).collect();
            assert_sample(&path, &kept);
            fs::remove_file(repaired.backup.unwrap()).unwrap();
        }
        // bytes are missing in the middle of frame 3, so that later frames begin at offsets that are no multiples of 4
        fs::write(&path, [&good[..at(3, 50)], &good[at(3, 53)..]].concat()).unwrap();
        let (code, text) = md(here, &["verify", &name]);
        assert!(code == 5 && text.contains("frame 3"), "{extension}: {text}");
        let (code, text) = md(here, &["repair", &name]);
        assert!(code == 0 && text.contains("7 frames saved"), "{extension}: {text}");
        assert_sample(&path, &[0, 1, 2, 4, 5, 6, 7]);
        let (_, text) = md(here, &["info", &format!("{name}.bak")]);
        assert!(text.contains("damage"), "{text}");
    }
}

#[test]
fn missing_frames_that_the_header_counts_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for extension in ["dcd", "nc"] {
        let name = format!("a.{extension}");
        let path = file(here, &name, 6);
        let bytes = fs::read(&path).unwrap();
        let size = bytes.len() - fs::metadata(file(here, &format!("five.{extension}"), 5)).unwrap().len() as usize;
        fs::write(&path, &bytes[..bytes.len() - 2 * size]).unwrap();
        let (code, text) = md(here, &["verify", &name]);
        assert!(code == 5 && text.contains("2 of the 6 frames that the header counts are missing"), "{text}");
        let (_, text) = md(here, &["info", &name]);
        assert!(text.contains("2 more frames, which the header counts"), "{text}");
        let (code, text) = md(here, &["repair", &name]);
        assert!(code == 0 && text.contains("2 frames that the header counted were missing"), "{text}");
        assert_sample(&path, &[0, 1, 2, 3]);
        assert_eq!(md(here, &["verify", &name]).0, 0);
    }
}

#[test]
fn steps_beyond_32_bits_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let positions = vec![Vec3::ZERO; 10];
    let written = |name: &str, steps: &[u64]| {
        let mut sink = create(&here.join(name), Precision::Lossless, 10, 1_500_000_000);
        steps.iter().for_each(|&step| write_frame(sink.as_mut(), step, 0.002 * step as f64, &positions));
        let warning = sink.warning();
        sink.close().unwrap();
        warning
    };
    let read = |name: &str| -> Vec<i64> {
        sample::all_frames(open(&here.join(name))).into_iter().map(|frame| frame.step).collect()
    };
    for extension in ["xtc", "trr"] {
        for (case, first) in [0, 2_000_000_000, 3_000_000_000].into_iter().enumerate() {
            let steps: Vec<u64> = (0..8).map(|k| first + k * 1_500_000_000).collect();
            let name = format!("{case}.{extension}");
            written(&name, &steps);
            assert_eq!(read(&name), steps.iter().map(|&step| step as i64).collect::<Vec<_>>(), "{name}");
        }
        // a second run begins at step 0 after a run beyond 32 bits
        let both = [here.join(format!("1.{extension}")), here.join(format!("0.{extension}"))];
        let both = both.map(|path| fs::read(path).unwrap()).concat();
        fs::write(here.join(format!("both.{extension}")), both).unwrap();
        let steps = read(&format!("both.{extension}"));
        assert_eq!((steps[7], steps[8], steps[9]), (12_500_000_000, 0, 1_500_000_000));
    }
    assert_eq!(written("small.dcd", &[0, 1_500_000_000]), None);
    assert!(written("large.dcd", &[3_000_000_000, 4_500_000_000]).is_some());
    // steps that do not ascend are replaced by others
    let (code, text) = md(here, &["convert", "both.trr", "out.nc"]);
    assert!(code == 0 && text.contains("were replaced by ascending steps"), "{text}");
    let (code, text) = md(here, &["convert", "0.trr", "again.nc"]);
    assert!(code == 0 && !text.contains("warning"), "{text}");
}

#[test]
fn fields_that_are_not_converted_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // the file has velocities, forces, image flags and observables
    file(here, "a.h5md", 3);
    for extension in ["xtc", "dcd", "pdb"] {
        let output = format!("a.{extension}");
        let (code, text) = md(here, &["convert", "a.h5md", &output]);
        assert!(code == 0 && text.contains("files hold no velocities and forces: they are left out"), "{text}");
        let (_, text) = md(here, &["convert", "a.h5md", &output, "--force", "--no-velocities"]);
        assert!(text.contains("files hold no forces"), "{text}");
        let (_, text) = md(here, &["convert", "a.h5md", &output, "--force", "--no-velocities", "--no-forces"]);
        assert!(text.contains("image flags of the input are left out"), "{text}");
        assert_eq!(text.matches("left out").count(), 1, "{text}");
    }
    for (extension, fields) in
        [("cif", "velocities and forces"), ("pdb", "velocities and forces"), ("gro", "forces"), ("rst7", "forces")]
    {
        let structure = format!("one.{extension}");
        let frame = ["convert", "a.h5md", &structure, "--frame", "1", "--force"];
        let (code, text) = md(here, &frame);
        assert!(code == 0 && text.contains(&format!("files hold no {fields}: they are left out")), "{text}");
        assert!(text.contains("image flags of the input are left out"), "{text}");
        let (_, text) = md(here, &[&frame[..], &["--no-velocities", "--no-forces"]].concat());
        assert!(!text.contains("files hold no"), "{text}");
    }
    let (_, text) = md(here, &["convert", "a.h5md", "b.h5md"]);
    assert!(text.contains("image flags and observables of the input are left out"), "{text}");
    let (_, text) = md(here, &["convert", "b.h5md", "c.h5md"]);
    assert!(!text.contains("warning"), "{text}");
}

#[test]
fn digits_of_the_input_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for name in ["fine.xtc", "fine.h5md"] {
        write(&here.join(name), "triclinic", Precision::Decimals4, 0..2, WATERS);
        let (code, text) = md(here, &["convert", name, "out.xtc", "--force", "--no-velocities", "--no-forces"]);
        assert!(code == 0 && !text.contains("digits"), "{text}");
        let [a, b] = [name, "out.xtc"].map(|name| sample::all_frames(open(&here.join(name))));
        for (a, b) in a.iter().zip(&b) {
            // the tolerance is rounding to f32, and that of XTC for H5MD, whose positions are multiples of 0.0001 nm
            // from the smallest position
            let tolerance = if name == "fine.xtc" { 2e-6 } else { 0.5e-4 * 3f64.sqrt() + 2e-6 };
            assert!(a.positions.iter().zip(&b.positions).all(|(a, b)| (*a - *b).norm() < tolerance), "{name}");
        }
    }
    // the word of the precision follows the header of 56 bytes
    let mut bytes = fs::read(here.join("fine.xtc")).unwrap();
    for at in starts(&bytes, 1995) {
        bytes[at + 56..at + 60].copy_from_slice(&1e5f32.to_be_bytes());
    }
    fs::write(here.join("finer.xtc"), bytes).unwrap();
    let (_, text) = md(here, &["convert", "finer.xtc", "out.xtc", "--force"]);
    assert!(text.contains("are rounded to 0.00001 nm, and XTC files of md round to 0.0001 nm"), "{text}");
    for arguments in
        [&["convert", "finer.xtc", "out.trr"][..], &["convert", "finer.xtc", "b.xtc", "--precision", "0.001 nm"]]
    {
        let (code, text) = md(here, arguments);
        assert!(code == 0 && !text.contains("warning"), "{text}");
    }
}

/// Returns a record of a TRR file of md without its positions.
fn without_positions(record: &[u8], atoms: usize) -> Vec<u8> {
    // 24 bytes, 13 words, time and λ, and the box precede the positions; word 7 is the size of the positions
    let (start, size) = (24 + 4 * 13 + 8 + 36, 12 * atoms);
    let mut bytes = [&record[..start], &record[start + size..]].concat();
    bytes[24 + 28..24 + 32].fill(0);
    bytes
}

#[test]
fn records_without_positions_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let bytes = fs::read(file(here, "a.trr", 1)).unwrap();
    let record = without_positions(&bytes, 7 + 3 * WATERS);
    fs::write(here.join("mixed.trr"), [&record[..], &bytes, &record, &record].concat()).unwrap();
    let told = "has 3 records of velocities or forces without positions";
    let (code, text) = md(here, &["convert", "mixed.trr", "out.nc"]);
    assert!(code == 0 && text.contains(told), "{text}");
    let (_, text) = md(here, &["info", "mixed.trr"]);
    assert!(text.contains("3 records of velocities or forces without positions"), "{text}");
    assert!(text.contains("positions in 32 bits"), "{text}");
    fs::write(here.join("none.trr"), [&record[..], &record].concat()).unwrap();
    let (code, text) = md(here, &["convert", "none.trr", "none.nc"]);
    assert!(code == 2 && text.contains("the file has velocities or forces, but no frame with positions"), "{text}");
    let (_, text) = md(here, &["info", "none.trr"]);
    assert!(text.contains("fields no positions") && text.contains("2 records"), "{text}");
    for name in ["double.trr", "scaled-1.nc"] {
        let path = golden(name);
        let lines = Format::of_file(&path).unwrap().files.describe(&path).unwrap().lines;
        assert!(lines.iter().any(|(_, value)| value.starts_with("positions in 64 bits")), "{name}: {lines:?}");
    }
    let mut frame = StoredFrame::default();
    open(&here.join("mixed.trr")).unwrap().read(0, &mut frame).unwrap();
    assert_eq!(frame.positions.len(), 7 + 3 * WATERS);
}
