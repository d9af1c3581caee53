//! Tests of `md convert`: conversion between all formats, selections of atoms and frames, placement of molecules,
//! superposition.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::CommandCargoExt;
use md::cell::PeriodicCell;
use md::convert::{Frames, Target, TargetOptions, convert};
use md::format::{read_coordinates, read_topology};
use md::observe::trajectory::{
    Contents, EXTENSIONS, Fields, Format, Frame, Placement, Precision, Spacing, StoredFrame, open,
};
use md::vec3::{Vec3, vec3};
use tempfile::TempDir;

use crate::allocation::most_held;
use crate::sample;

const FRAMES: usize = 6;
const WATERS: usize = 20;

/// Writes the sample as H5MD with velocities and forces; returns its path and number of atoms.
fn original(folder: &Path, kind: &str, waters: usize, frames: usize) -> (PathBuf, usize) {
    let (path, topology) = (folder.join("original.h5md"), sample::topology(waters));
    let (observables, provenance) = (sample::observables(), sample::provenance());
    let contents = Contents {
        fields: Fields { velocities: true, forces: true, image: false },
        ..sample::contents(&topology, kind, Precision::Lossless, &observables, &provenance)
    };
    let mut sink = Format::of_name("x.h5md").unwrap().files.create(&path, &contents).unwrap();
    for frame in 0..frames {
        sample::with_frame(kind, frame, topology.atoms.len(), |frame| sink.write(frame)).unwrap();
    }
    sink.close().unwrap();
    (path, topology.atoms.len())
}

fn run(arguments: &[&str], input: &Path, output: &Path) -> Output {
    let mut command = Command::cargo_bin("md").unwrap();
    command.arg("convert").args([input, output]).args(arguments).env("NO_COLOR", "1").output().unwrap()
}

#[track_caller]
fn converted(arguments: &[&str], input: &Path, output: &Path) {
    let done = run(arguments, input, output);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Returns the message of a refused conversion, joined to one line.
#[track_caller]
fn refused(arguments: &[&str], input: &Path, output: &Path) -> String {
    let done = run(arguments, input, output);
    assert_eq!(done.status.code(), Some(2), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stderr).unwrap().split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn frames(path: &Path) -> Vec<StoredFrame> {
    sample::all_frames(open(path))
}

/// Returns the largest absolute component of the differences between two lists of vectors.
fn away(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).flat_map(|(a, b)| (*a - *b).to_array()).fold(0.0, |most, d| d.abs().max(most))
}

/// Returns the rounding error of positions in a file with the given extension, nm.
fn rounding(extension: &str) -> f64 {
    match extension {
        "xtc" => 0.5e-3,
        "pdb" => 0.5e-4,
        _ => 0.0,
    }
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_format_becomes_every_other() {
    let folder = tempfile::tempdir().unwrap();
    let (original, _) = original(folder.path(), "triclinic", WATERS, FRAMES);
    let expected = frames(&original);
    let topology = original.to_str().unwrap();
    for from in EXTENSIONS {
        let first = folder.path().join("first").with_extension(from);
        converted(&[], &original, &first);
        for to in EXTENSIONS {
            let second = folder.path().join("second").with_extension(to);
            converted(&["--topology", topology, "--force"], &first, &second);
            let found = frames(&second);
            assert_eq!(found.len(), FRAMES, "{from} {to}");
            let tolerance = rounding(from) + rounding(to) + 1e-6;
            let full = |name: &str| ["h5md", "trr", "nc"].contains(&name);
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.step, expected.step, "{from} {to}");
                assert!(away(&found.positions, &expected.positions) < tolerance, "{from} {to}");
                assert!(found.cell.is_some());
                // DCD stores no times: frames are evenly spaced in time from the first step
                let time = if [from, to].contains(&"dcd") { found.time } else { expected.time };
                assert!((found.time - time).abs() < 1e-5, "{from} {to}: {}", found.time);
                let held = full(from) && full(to);
                assert_eq!((found.velocities.is_empty(), found.forces.is_empty()), (!held, !held), "{from} {to}");
                if held {
                    assert!(away(&found.velocities, &expected.velocities) < 1e-6);
                    assert!(away(&found.forces, &expected.forces) < 1e-3);
                }
            }
        }
    }
    // no temporary file is left
    let left = names(folder.path());
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
}

#[test]
fn atoms_and_frames_are_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let (original, _) = original(folder.path(), "triclinic", WATERS, FRAMES);
    let all = frames(&original);
    let output = folder.path().join("some.h5md");
    // the times of the converted frames are 0.5, 0.7, … 1.5 ps
    converted(
        &["--select", "not water", "--begin", "0.7 ps", "--end", "0.0013 ns", "--stride", "2"],
        &original,
        &output,
    );
    let found = frames(&output);
    let times: Vec<f64> = found.iter().map(|frame| (frame.time * 10.0).round() / 10.0).collect();
    assert_eq!(times, [0.7, 1.1]);
    // the selection holds six atoms of the chain, and the ion after the waters
    let chosen = |frame: &StoredFrame| [&frame.positions[..6], &frame.positions[66..]].concat();
    assert!(away(&found[0].positions, &chosen(&all[1])) < 1e-6 && away(&found[1].positions, &chosen(&all[3])) < 1e-6);
    let topology = open(&output).unwrap().topology().cloned().unwrap();
    assert_eq!((topology.atoms.len(), topology.residues.len(), topology.connectivity.len()), (7, 3, 5));
    assert_eq!(topology.atoms[6].name.as_str(), "Na+");
    for extension in EXTENSIONS {
        let output = folder.path().join("water").with_extension(extension);
        converted(&["--select", "water", "--frame", "3"], &original, &output);
        let found = frames(&output);
        assert_eq!((found.len(), found[0].positions.len()), (1, 60), "{extension}");
        assert!(away(&found[0].positions, &all[3].positions[6..66]) < rounding(extension) + 1e-6, "{extension}");
    }
}

/// Writes waters that move by 0.3 nm per frame through a cell of 3 nm.
fn drifting(folder: &Path, frames: usize) -> (PathBuf, Vec<Vec<Vec3>>) {
    let (path, topology) = (folder.join("drift.h5md"), sample::topology(5));
    let provenance = sample::provenance();
    let atoms = topology.atoms.len();
    let contents = Contents {
        fields: Fields::default(),
        observables: &[],
        placement: Placement::WHOLE,
        spacing: Spacing { steps: 1, timestep: 0.1 },
        ..sample::contents(&topology, "triclinic", Precision::Lossless, &[], &provenance)
    };
    let cell = sample::cell("triclinic", 0).unwrap();
    let mut sink = Format::of_name("x.h5md").unwrap().files.create(&path, &contents).unwrap();
    let mut all = vec![];
    for frame in 0..frames {
        // each molecule moves with its own velocity
        let moved = |(atom, r): (usize, Vec3)| {
            let way = 0.3 * frame as f64 * (1.0 - 0.2 * (atom.saturating_sub(3) / 3) as f64);
            if atom < 6 { r } else { r + vec3(way, -0.5 * way, 0.7 * way) }
        };
        let positions: Vec<Vec3> = sample::placed("triclinic", 0, atoms).into_iter().enumerate().map(moved).collect();
        let (step, time) = (frame as u64, 0.1 * frame as f64);
        let (velocities, forces, observables) = (&[], &[], &[]);
        let frame = Frame { step, time, cell: Some(cell), positions: &positions, velocities, forces, observables };
        sink.write(&frame).unwrap();
        all.push(positions);
    }
    sink.close().unwrap();
    (path, all)
}

#[test]
fn molecules_are_unwrapped_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, expected) = drifting(folder.path(), 40);
    let wrapped = frames(&path);
    assert!(away(&wrapped[39].positions, &expected[39]) > 2.0, "nothing crosses the cell");
    let [unwrapped, xtc, back] = ["unwrapped.trr", "cut.xtc", "back.h5md"].map(|name| folder.path().join(name));
    // the result does not depend on the stride, because unwrapping also uses the skipped frames
    converted(&["--unwrap", "--stride", "13"], &path, &unwrapped);
    let found = frames(&unwrapped);
    assert_eq!(found.len(), 4);
    for (found, expected) in found.iter().zip(expected.iter().step_by(13)) {
        assert!(away(&found.positions, expected) < 1e-5);
    }
    let topology = path.to_str().unwrap();
    converted(&["--topology", topology], &unwrapped, &xtc);
    converted(&["--topology", topology, "--whole"], &xtc, &back);
    for (found, expected) in frames(&back).iter().zip(wrapped.iter().step_by(13)) {
        assert!(away(&found.positions, &expected.positions) < 1.1e-3);
    }
}

#[test]
fn a_selection_is_centered_and_the_rest_around_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = drifting(folder.path(), 40);
    let output = folder.path().join("centered.trr");
    converted(&["--center", "protein"], &path, &output);
    for frame in frames(&output) {
        let cell: PeriodicCell = frame.cell.unwrap();
        let center = frame.positions[..6].iter().copied().sum::<Vec3>() / 6.0;
        assert!((cell.to_fractional(center) - Vec3::splat(0.5)).norm() < 1e-6);
        for water in frame.positions[6..21].chunks(3) {
            let away = water.iter().copied().sum::<Vec3>() / 3.0 - center;
            let images = (0..125).map(|k| cell.shift([k / 25, k / 5 % 5, k % 5].map(|n| n - 2)));
            let closest = images.map(|shift| (away + shift).norm()).fold(f64::INFINITY, f64::min);
            assert!(away.norm() < closest + 1e-6, "{away:?} {closest}");
        }
    }
}

#[test]
fn structures_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (original, _) = original(folder.path(), "triclinic", WATERS, 1);
    let [pdb, gro, part] = ["a.pdb", "a.gro", "part.cif"].map(|name| folder.path().join(name));
    converted(&[], &original, &pdb);
    converted(&[], &pdb, &gro);
    converted(&["--select", "not water"], &gro, &part);
    let names = md::format::read_names(&part, &md::format::TopologyOptions::default()).unwrap().topology;
    let names: Vec<&str> = names.atoms.iter().map(|atom| atom.name.as_str()).collect();
    assert_eq!(names, ["N", "CA", "C", "N", "CA", "C", "Na+"]);
    // molecules cannot be made whole without bonds
    assert!(refused(&["--whole"], &gro, &folder.path().join("b.gro")).contains("--whole needs bonds"));
}

#[test]
fn a_limit_of_file_sizes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (original, _) = original(folder.path(), "triclinic", WATERS, FRAMES);
    let md = Command::cargo_bin("md").unwrap();
    let mut shell = Command::new("sh");
    // the limit is in units of 512 or 1024 bytes
    shell.arg("-c").arg("ulimit -f 4; exec \"$@\"").arg("sh").arg(md.get_program()).arg("convert").arg(&original);
    let done = shell.arg(folder.path().join("x.trr")).env("NO_COLOR", "1").output().unwrap();
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(5) && message.contains("File too large"), "{:?} {message}", done.status);
}

/// In the first frame of an aligned, unwrapped trajectory two waters may be in other periodic images. Their distance
/// vector changes afterwards as in the unwrapped trajectory, apart from the rotation.
#[test]
fn superposition_keeps_unwrapped_paths() {
    let folder = tempfile::tempdir().unwrap();
    let (path, expected) = drifting(folder.path(), 40);
    let output = folder.path().join("aligned.trr");
    converted(&["--unwrap", "--align", "water"], &path, &output);
    let found = frames(&output);
    let between = |positions: &[Vec3]| positions[18] - positions[6];
    let moved = between(&found[0].positions) - between(&expected[0]);
    for (found, expected) in found.iter().zip(&expected) {
        let distance = (between(expected) + moved).norm();
        assert!((between(&found.positions).norm() - distance).abs() < 1e-4, "{distance}");
    }
    assert!((between(&expected[39]) + moved).norm() > 5.0, "the waters do not move apart by more than the cell");
}

#[test]
fn superposed_frames_have_the_deviation_that_analyze_finds() {
    let folder = tempfile::tempdir().unwrap();
    let (original, _) = original(folder.path(), "none", WATERS, FRAMES);
    let [aligned, again, result] = ["aligned.trr", "again.trr", "rmsd.h5"].map(|name| folder.path().join(name));
    converted(&["--align", "protein", "--reference", "2"], &original, &aligned);
    let mut analyze = Command::cargo_bin("md").unwrap();
    analyze
        .args(["analyze", "rmsd"])
        .arg(&original)
        .args(["--select", "protein", "--reference", "2", "-o"])
        .arg(&result);
    assert!(analyze.output().unwrap().status.success());
    let expected = hdf5::File::open(&result).unwrap().dataset("rmsd").unwrap().read_raw::<f64>().unwrap();
    let found = frames(&aligned);
    let reference = &frames(&original)[2];
    for (frame, expected) in found.iter().zip(&expected) {
        let squares = frame.positions[..6].iter().zip(&reference.positions).map(|(a, b)| (*a - *b).norm_squared());
        let deviation = (squares.sum::<f64>() / 6.0).sqrt();
        assert!((deviation - expected).abs() < 1e-6, "{deviation} {expected}");
        assert!(frame.cell.is_none());
    }
    assert!(expected.iter().any(|&value| value > 5e-4), "{expected:?}");
    // velocities rotate with the atoms, so that their scalar products with distance vectors do not change
    let before = &frames(&original)[5];
    let product = |frame: &StoredFrame| frame.velocities[1].dot(frame.positions[4] - frame.positions[0]);
    assert!((product(before) - product(&found[5])).abs() < 1e-6);
    // the reference file holds the first frame, so that the result equals the trajectory aligned to its first frame
    let structure = folder.path().join("reference.pdb");
    converted(&["--frame", "2"], &original, &structure);
    converted(&["--align", "protein", "--reference", structure.to_str().unwrap()], &original, &again);
    for (a, b) in frames(&again).iter().zip(&found) {
        assert!(away(&a.positions, &b.positions) < 2e-3);
    }
}

#[test]
fn structures_are_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let (original, atoms) = original(folder.path(), "triclinic", WATERS, FRAMES);
    let frame = &frames(&original)[4];
    let [rst7, pdb, gro, cif] = ["x.rst7", "x.pdb", "x.gro", "x.cif"].map(|name| folder.path().join(name));
    for path in [&rst7, &pdb, &gro, &cif] {
        converted(&["--frame", "4"], &original, path);
    }
    let found = read_coordinates(&rst7, Some(atoms), None).unwrap();
    assert!(away(&found.positions, &frame.positions) < 1e-7);
    // rst7 stores velocities with seven decimals in units of 20.455 Å/ps
    assert!(away(&found.velocities.unwrap(), &frame.velocities) < 1.1e-7);
    let found = read_coordinates(&pdb, Some(atoms), None).unwrap();
    assert!(away(&found.positions, &frame.positions) < 0.51e-4 && found.labels.len() == atoms);
    let found = read_coordinates(&cif, Some(atoms), None).unwrap();
    assert!(away(&found.positions, &frame.positions) < 0.51e-6 && found.labels.len() == atoms);
    assert!(found.cell.is_some() && found.time.is_some_and(|time| (time - frame.time).abs() < 1e-5));
    let text = fs::read_to_string(&gro).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[1].trim(), lines.len()), ("67", 70));
    assert!(lines[3].starts_with("    1ALA     CA    2"), "{}", lines[3]);
    assert_eq!(lines[69].split_whitespace().count(), 9);
    for path in [&rst7, &gro] {
        converted(&["--frame", "4", "--no-velocities", "--force"], &original, path);
        assert_eq!(read_coordinates(path, Some(atoms), None).unwrap().velocities, None, "{path:?}");
    }
    // a structure is converted to a trajectory
    let trr = folder.path().join("x.trr");
    for from in [&rst7, &cif] {
        converted(&["--force"], from, &trr);
        assert!(away(&frames(&trr)[0].positions, &frame.positions) < 1.5e-6);
    }
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_left() {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let (original, _) = original(folder.path(), "triclinic", WATERS, FRAMES);
    let path = |name: &str| folder.path().join(name);
    converted(&[], &original, &path("a.xtc"));
    let before = names(folder.path());
    let cases: [(&[&str], &Path, &str, &str); 12] = [
        (&[], &original, "a.xtc", "the file already exists"),
        (&["--force"], &original, "original.h5md", "input and output are the same file"),
        (&[], &path("a.xtc"), "b.pdb", "--topology"),
        (&["--select", "water"], &path("a.xtc"), "b.dcd", "--topology"),
        (&["--whole"], &path("a.xtc"), "b.dcd", "--topology"),
        (&["--frame", "6"], &original, "b.dcd", "there is no frame 6"),
        (&["--begin", "3 ps"], &original, "b.dcd", "no frame of the input is selected"),
        (&["--begin", "3"], &original, "b.dcd", "missing unit"),
        (&["--select", "name XYZ"], &original, "b.dcd", "no atom is selected"),
        (&[], &original, "b.txt", "no known file name extension"),
        (&[], &original, "b.gro", "--frame"),
        (&["--unwrap", "--whole"], &original, "b.trr", "cannot be used with"),
    ];
    for (arguments, input, output, part) in cases {
        let message = refused(arguments, input, &path(output));
        assert!(message.contains(part), "{part}: {message}");
        assert_eq!(names(folder.path()), before, "{part}");
    }
    // without bonds, broken molecules would be aligned
    converted(&["--select", "index 0 to 2", "--frame", "0"], &original, &path("few.gro"));
    converted(&["--select", "index 0 to 2"], &original, &path("few.xtc"));
    let few = path("few.gro");
    let aligned = ["--topology", few.to_str().unwrap(), "--align", "all"];
    let message = refused(&aligned, &path("few.xtc"), &path("b.xtc"));
    assert!(message.contains("--align of frames with a cell needs bonds"), "{message}");
    converted(&[&aligned[..], &["--as-stored"]].concat(), &path("few.xtc"), &path("b.xtc"));
    for name in ["few.gro", "few.xtc", "b.xtc"] {
        fs::remove_file(path(name)).unwrap();
    }
    // a damaged frame aborts the conversion, and no output file is left
    let mut bytes = fs::read(path("a.xtc")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(255);
    fs::write(path("a.xtc"), bytes).unwrap();
    assert!(!run(&[], &path("a.xtc"), &path("b.trr")).status.success());
    assert_eq!(names(folder.path()), before);
}

/// Tests that an error names the output file and not the temporary file, and says what to do.
#[test]
fn errors_of_the_output_name_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // 9999.999 Å is more than 999.9 nm
    let atom = "ATOM      1  CA  ALA A   1    9999.999  10.000  10.000  1.00  0.00           C\n";
    fs::write(path("far.pdb"), format!("MODEL        1\n{atom}ENDMDL\nMODEL        2\n{atom}ENDMDL\n")).unwrap();
    let before = names(folder.path());
    let message = refused(&[], &path("far.pdb"), &path("out.pdb"));
    assert!(message.contains("out.pdb") && !message.contains(".part") && message.contains(".trr"), "{message}");
    let message = refused(&[], &path("far.pdb"), &path("none/out.trr"));
    assert!(message.contains("the folder of the output file does not exist"), "{message}");
    assert_eq!(names(folder.path()), before);
}

/// Tests that the file behind a symbolic link is replaced, unless it is one of the files that are read.
#[test]
fn outputs_behind_links_are_replaced_and_inputs_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let (original, _) = original(folder.path(), "triclinic", WATERS, FRAMES);
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("other")).unwrap();
    for (file, link) in [("other/a.trr", "link.trr"), ("other/none.trr", "lost.trr"), ("top.gro", "link.gro")] {
        std::os::unix::fs::symlink(path(file), path(link)).unwrap();
    }
    fs::write(path("other/a.trr"), "old").unwrap();
    converted(&["--force"], &original, &path("link.trr"));
    assert!(path("link.trr").is_symlink());
    assert_eq!(frames(&path("other/a.trr")).len(), FRAMES);
    converted(&["--frame", "0"], &original, &path("top.gro"));
    let topology = path("top.gro");
    let given = ["--force", "--frame", "0", "--topology", topology.to_str().unwrap()];
    let message = refused(&given, &path("other/a.trr"), &path("link.gro"));
    assert!(message.contains("input and output are the same file"), "{message}");
    let message = refused(&["--force"], &original, &path("lost.trr"));
    assert!(message.contains("a symbolic link that leads to no file"), "{message}");
    assert!(Command::new("mkfifo").arg(path("pipe.trr")).status().unwrap().success());
    for special in ["pipe.trr", "other"] {
        let message = refused(&["--force"], &original, &path(special));
        assert!(message.contains("a folder, a pipe or a device"), "{message}");
    }
}

#[test]
fn memory_does_not_grow_with_the_frames() {
    const ATOMS: usize = 3007;
    let folder = tempfile::tempdir().unwrap();
    let (original, atoms) = original(folder.path(), "triclinic", 1000, 2);
    assert_eq!(atoms, ATOMS);
    let [many, output] = ["many.dcd", "out.trr"].map(|name| folder.path().join(name));
    converted(&[], &original, &many);
    let bytes = fs::read(&many).unwrap();
    // in a DCD frame the record of the cell, and of x, y and z, has a length before and after it
    let (header, two) = bytes.split_at(bytes.len() - 2 * (8 + 48 + 3 * (8 + 4 * ATOMS)));
    let memory = [4, 400].map(|count: usize| {
        fs::write(&many, [header, &two.repeat(count / 2)].concat()).unwrap();
        most_held(|| {
            let mut source = md::convert::open(&many, None).unwrap();
            let target = Target::new(&output, TargetOptions::default(), None, ATOMS, None).unwrap();
            let frames = Frames { only: None, begin: None, end: None, stride: 1 };
            assert_eq!(convert(source.as_mut(), &mut [], target, &frames).unwrap().frames, count);
        })
    });
    // 400 frames have 14 MB; only the offset of each frame is kept in memory
    assert!(memory[0] > 12 * ATOMS as i64 && memory[1] - memory[0] < 12 * ATOMS as i64, "{memory:?}");
}

/// Tests that a structure is refused if its atoms are not in the order of the topology. The order is compared if the
/// structure and the topology have atom names.
#[test]
fn other_orders_of_atoms_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-vacuum");
    let [topology, rst7] = ["prmtop", "rst7"].map(|kind| system.join(format!("peptide-vacuum.{kind}.xz")));
    let prmtop = topology.to_str().unwrap();
    let pdb = folder.path().join("x.pdb");
    converted(&["--topology", prmtop], &rst7, &pdb);
    let known = read_topology(&topology).unwrap().topology;
    let check = |text: &str| {
        fs::write(&pdb, text).unwrap();
        let found = read_coordinates(&pdb, Some(known.atoms.len()), None).unwrap();
        md::format::check_order(&known, &found.labels).map_err(|problem| problem.message)
    };
    let good = fs::read_to_string(&pdb).unwrap();
    assert_eq!(check(&good), Ok(()));
    let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
    let atom = |lines: &[String], name: &str| lines.iter().position(|line| line.get(12..16) == Some(name)).unwrap();
    // different names in the same order are accepted
    let renamed = good.replace(" HA ", " HX ");
    assert!(renamed != good);
    assert_eq!(check(&renamed), Ok(()));
    // two carbons of a residue exchange their positions in the file
    let (ca, cb) = (atom(&lines, " CA "), atom(&lines, " CB "));
    lines.swap(ca, cb);
    let error = check(&lines.join("\n")).unwrap_err();
    assert!(error.contains("CB") && error.contains("the topology has CA of"), "{error}");
    lines.swap(ca, cb);
    // a carbon and a nitrogen exchange their positions in the file
    let nitrogen = atom(&lines, " N  ");
    lines.swap(ca, nitrogen);
    let error = check(&lines.join("\n")).unwrap_err();
    assert!(error.contains("but the topology has N (N) of"), "{error}");
}
