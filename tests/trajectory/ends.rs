//! Tests of trajectories that are cut off, that overlap, or whose times go back: frames are left out, or counted twice,
//! only with a warning.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::CommandCargoExt;
use md::observe::trajectory::{Chain, FrameSource, StoredFrame, open};

use crate::batch::{EXTENSIONS, steps, write};
use crate::formats;

/// Writes the frames `range` of the sample to a new file.
fn file(folder: &Path, name: &str, range: Range<usize>) -> PathBuf {
    let path = folder.join(name);
    let extension = path.extension().unwrap().to_str().unwrap();
    write(&path, "triclinic", formats::precision(extension), range, 4);
    path
}

fn md(folder: &Path, arguments: &[&str]) -> Output {
    Command::cargo_bin("md").unwrap().current_dir(folder).env("NO_COLOR", "1").args(arguments).output().unwrap()
}

/// Runs a command that must succeed. Returns its standard output and its standard error, the latter with single blanks.
#[track_caller]
fn warned(folder: &Path, arguments: &[&str]) -> (String, String) {
    let done = md(folder, arguments);
    let [out, error] = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(done.status.success(), "{error}");
    (out, error.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn an_end_that_was_cut_off_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let whole = file(here, "whole.h5md", 0..4);
    for extension in ["xtc", "dcd", "trr", "nc", "pdb"] {
        let name = format!("a.{extension}");
        let path = file(here, &name, 0..4);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
        let message = format!("warning {name} has 3 complete frames");
        let (out, error) = warned(here, &["convert", &name, &format!("{extension}.trr")]);
        assert!(error.contains(&message) && error.contains("md repair"), "{extension}: {error}");
        assert!(out.contains("3 frames") && !out.contains("warning"), "{out}");
        let rg = ["analyze", "rg", "--select", "all", "--json", "--force", &name, "--topology", "whole.h5md"];
        let (out, error) = warned(here, &rg);
        assert!(error.contains(&message), "{extension}: {error}");
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        let told = json["warnings"].to_string();
        assert!(told.contains(message.trim_start_matches("warning ")), "{extension}: {told}");
        // a complete file has no warning
        let (_, error) =
            warned(here, &["convert", "whole.h5md", &format!("good-{name}"), "--no-velocities", "--no-forces"]);
        assert_eq!(error, "", "{extension}");
        // a file that ends inside its first frame
        let frame = frame_bytes(here, &bytes, extension);
        let first = bytes.len().saturating_sub(4 * frame) + frame / 2;
        fs::write(&path, &bytes[..first]).unwrap();
        for arguments in
            [&["convert", &name, "none.trr"][..], &rg, &["select", "all", &name, "--topology", "whole.h5md"]]
        {
            let done = md(here, arguments);
            let error = String::from_utf8(done.stderr).unwrap();
            assert_eq!(done.status.code(), Some(2), "{error}");
            assert!(error.contains("ends inside its first frame"), "{extension}: {error}");
        }
    }
    // a file that ends where a frame ends, before the last frame that its header counts
    for extension in ["dcd", "nc"] {
        let path = here.join(format!("b.{extension}"));
        let bytes = fs::read(file(here, &format!("b.{extension}"), 0..4)).unwrap();
        fs::write(&path, &bytes[..bytes.len() - frame_bytes(here, &bytes, extension)]).unwrap();
        let warnings = Chain::open(&[path]).unwrap().warnings();
        assert!(warnings.len() == 1 && warnings[0].contains("its header counts 4"), "{extension}: {warnings:?}");
    }
    // the H5MD file has a row of only one quantity after the last complete frame
    let rows = hdf5::File::open_rw(&whole).unwrap();
    rows.dataset("time").unwrap().resize([5]).unwrap();
    rows.close().unwrap();
    let warnings = open(&whole).unwrap().warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("has 4 complete frames"), "{warnings:?}");
}

/// Returns the size of a frame in bytes: the difference between a file of four frames and a file of three frames.
fn frame_bytes(folder: &Path, bytes: &[u8], extension: &str) -> usize {
    let shorter = file(folder, &format!("shorter-{}.{extension}", bytes.len()), 0..3);
    let length = fs::metadata(&shorter).unwrap().len() as usize;
    fs::remove_file(shorter).unwrap();
    bytes.len() - length
}

#[test]
fn of_files_that_overlap_the_later_frames_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for extension in EXTENSIONS {
        let name = |stem: &str| format!("{stem}.{extension}");
        let [a, b, c, d] =
            [("a", 0..8), ("b", 5..9), ("c", 5..12), ("d", 11..14)].map(|(stem, range)| file(here, &name(stem), range));
        let mut chain = Chain::open(&[a.clone(), c.clone()]).unwrap();
        assert_eq!(steps(&mut chain), (0..12).collect::<Vec<_>>(), "{extension}");
        let told = |chain: &Chain, place: usize| {
            let warnings = chain.warnings();
            warnings[place].contains("before the end of") && warnings.len() == place + 1
        };
        assert!(told(&chain, 0) && chain.warnings()[0].contains("(3 frames, up to"), "{:?}", chain.warnings());
        // two continuations from the same checkpoint: the later file replaces all frames of the earlier file
        let mut chain = Chain::open(&[a.clone(), b.clone(), c.clone(), d]).unwrap();
        assert_eq!(steps(&mut chain), (0..14).collect::<Vec<_>>(), "{extension}");
        assert!(told(&chain, 1) && chain.warnings()[1].contains("(4 frames, up to"), "{:?}", chain.warnings());
        // the files are of two runs that begin at the same time
        let e = file(here, &name("e"), 0..3);
        let mut chain = Chain::open(&[a.clone(), e.clone()]).unwrap();
        assert_eq!(steps(&mut chain), (0..8).chain(0..3).collect::<Vec<_>>(), "{extension}");
        assert!(chain.warnings().len() == 1 && chain.warnings()[0].contains("both begin at"), "{:?}", chain.warnings());
        let error = Chain::open(&[b.clone(), a.clone()]).err().unwrap();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("ps, before"), "{error}");
        let mut chain = Chain::open_separate_runs(&[b, a]).unwrap();
        assert_eq!(steps(&mut chain), (5..9).chain(0..8).collect::<Vec<_>>(), "{extension}");
        assert!(chain.warnings().is_empty(), "{:?}", chain.warnings());
    }
    let (out, error) =
        warned(here, &["analyze", "rg", "--select", "all", "--json", "a.xtc", "c.xtc", "--topology", "a.h5md"]);
    assert!(
        out.starts_with('{') && error.contains("warning c.xtc begins at 1.5 ps, before the end of a.xtc"),
        "{error}"
    );
}

#[test]
fn times_that_go_back_inside_a_file_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let [a, b] = [("a.xtc", 0..4), ("b.xtc", 2..6)].map(|(name, range)| fs::read(file(here, name, range)).unwrap());
    fs::write(here.join("both.xtc"), [a, b].concat()).unwrap();
    let mut chain = Chain::open(&[here.join("both.xtc")]).unwrap();
    assert_eq!(chain.warnings(), Vec::<String>::new());
    assert_eq!(steps(&mut chain), [0, 1, 2, 3, 2, 3, 4, 5]);
    assert!(chain.warnings().len() == 1 && chain.warnings()[0].contains("go back from"), "{:?}", chain.warnings());
    let (_, error) = warned(here, &["convert", "both.xtc", "both.trr"]);
    assert!(error.contains("warning the times in both.xtc go back from 1.1"), "{error}");
}

/// Tests files whose frames have no times: models without a time in their title, numbered frames, and a time step of
/// zero.
#[test]
fn files_without_times_are_read_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let models = fs::read_to_string(file(here, "a.pdb", 0..4)).unwrap();
    let plain: String =
        models.lines().filter(|line| !line.starts_with("TITLE")).map(|line| format!("{line}\n")).collect();
    fs::write(here.join("b.pdb"), plain).unwrap();
    // words 1, 2 and 9 of the header of a DCD file: first step, steps between frames, and time step
    let dcd = fs::read(file(here, "a.dcd", 0..4)).unwrap();
    let with = |words: [[u8; 4]; 3]| {
        let mut bytes = dcd.clone();
        for (word, at) in words.iter().zip([1, 2, 9]) {
            bytes[8 + 4 * at..12 + 4 * at].copy_from_slice(word);
        }
        bytes
    };
    fs::write(here.join("b.dcd"), with([0i32.to_le_bytes(), 1i32.to_le_bytes(), 1f32.to_le_bytes()])).unwrap();
    fs::write(here.join("c.dcd"), with([5i32.to_le_bytes(), 5i32.to_le_bytes(), 0f32.to_le_bytes()])).unwrap();
    for name in ["b.pdb", "b.dcd", "c.dcd"] {
        let path = here.join(name);
        let chain = Chain::open(&[path.clone(), path]).unwrap();
        assert_eq!(chain.frames(), 8, "{name}");
        let warnings = chain.warnings();
        // the time unit of DCD is 0.0488882129 ps
        let (text, interval) = match name {
            "b.dcd" => ("states an interval of 0.048888 ps: this interval is used", 0.048_888_212_9),
            _ => ("gives no times: the index of a frame is used as its time in ps", 1.0),
        };
        assert!(warnings.len() == 2 && warnings.iter().all(|warning| warning.contains(text)), "{name}: {warnings:?}");
        let (mut chain, mut frame) = (chain, StoredFrame::default());
        for index in 0..4 {
            chain.read(index, &mut frame).unwrap();
            assert!((frame.time - index as f64 * interval).abs() < 1e-6, "{name} {index}: {}", frame.time);
        }
    }
}

/// Tests the repair of files that end inside their first frame, and of a damaged file behind a link.
#[test]
fn repair_replaces_no_file_by_an_empty_one_and_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for extension in ["xtc", "dcd", "trr", "nc", "pdb"] {
        let name = format!("a.{extension}");
        let path = file(here, &name, 0..4);
        let bytes = fs::read(&path).unwrap();
        let frame = frame_bytes(here, &bytes, extension);
        fs::write(&path, &bytes[..bytes.len().saturating_sub(4 * frame) + frame / 2]).unwrap();
        let cut = fs::read(&path).unwrap();
        let done = md(here, &["repair", &name]);
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(5) && error.contains("no frame can be read"), "{extension}: {error}");
        assert!(fs::read(&path).unwrap() == cut && !here.join(format!("{name}.bak")).exists(), "{extension}");
    }
    fs::create_dir(here.join("store")).unwrap();
    for extension in ["xtc", "h5md"] {
        let (name, link) = (format!("store/b.{extension}"), here.join(format!("link.{extension}")));
        let path = file(here, &name, 0..4);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
        std::os::unix::fs::symlink(&name, &link).unwrap();
        let (out, _) = warned(here, &["repair", link.file_name().unwrap().to_str().unwrap()]);
        assert!(out.contains(&format!("{name}.bak\n")) && link.is_symlink(), "{extension}: {out}");
        assert!(fs::read(here.join(format!("{name}.bak"))).unwrap().len() == bytes.len() - 5, "{extension}");
        assert_eq!(open(&path).unwrap().frames(), open(&link).unwrap().frames());
    }
}
