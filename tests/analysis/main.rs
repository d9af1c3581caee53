//! `md analyze` on a trajectory of `md run`: results agree with MDAnalysis, MDTraj and numpy, and invalid requests are
//! refused with a clear message.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test stops at the first surprise; a skip says why")]

mod crystals;
mod frames;
#[path = "../python/probe.rs"]
mod probe;
#[path = "../program/mod.rs"]
mod program;

use std::path::Path;
use std::process::Command;

use probe::python_has;
use program::md;
use tempfile::TempDir;

const RUN: &str = "
[forces]
cutoff = \"0.8 nm\"
[output]
trajectory = [{ every = \"0.1 ps\" }, { file = \"fine.xtc\", every = \"0.2 ps\" }, { file = \"few.dcd\", every = \"1 ps\" }]
[[stage]]
kind = \"dynamics\"
duration = \"4 ps\"
timestep = \"2 fs\"
thermostat = { kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"0.1 ps\" }
";

/// Folder with the outputs of a short run of a peptide in water: frames 0 to 40, 0.1 ps apart.
fn trajectory() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-charged");
    let [topology, coordinates] = ["prmtop", "rst7"].map(|kind| system.join(format!("peptide-charged.{kind}.xz")));
    let input = format!("[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n{RUN}");
    std::fs::write(folder.path().join("input.toml"), input).unwrap();
    md(folder.path(), &["run", "input.toml"]).unwrap();
    for (name, packed) in [("start.rst7", coordinates), ("system.prmtop", topology)] {
        std::fs::write(folder.path().join(name), md::format::read(&packed).unwrap()).unwrap();
    }
    folder
}

/// Runs a peptide of five residues for a short time, without a periodic cell.
fn chain(folder: &Path) {
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-vacuum");
    let [topology, coordinates] = ["prmtop", "rst7"].map(|kind| system.join(format!("peptide-vacuum.{kind}.xz")));
    let input = format!(
        "[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n[output]\ntrajectory = {{ every = \"50 steps\" }}\nenergies = {{ every = \"50 steps\" }}\n\
         [[stage]]\nkind = \"dynamics\"\nsteps = 500\ntimestep = \"1 fs\"\n"
    );
    std::fs::create_dir(folder).unwrap();
    std::fs::write(folder.join("input.toml"), input).unwrap();
    md(folder, &["run", "input.toml"]).unwrap();
}

const TRAJECTORY: &str = "out/trajectory.h5md";

#[test]
fn matrices_and_components_are_those_of_other_programs() {
    if !python_has("MDAnalysis, mdtraj, h5py, tables") {
        return;
    }
    let folder = trajectory();
    // PCA of few frames with many atoms diagonalises the Gram matrix; PCA of many frames with few atoms diagonalises
    // the covariance matrix
    for (observable, name, more) in [
        ("rmsd-matrix", "heavy", &[][..]),
        ("rmsd-matrix", "mass", &["--select", "protein", "--mass-weighted", "--stride", "3"]),
        ("rmsd-matrix", "complex", &["--select", "protein or resid 20 30"]),
        ("pca", "few", &["--stride", "4", "--components", "4"]),
        ("pca", "many", &["--select", "backbone", "--components", "4"]),
        ("pca", "weighted", &["--select", "backbone", "--components", "4", "--mass-weighted"]),
    ] {
        let file = format!("{}-{name}.h5", observable.trim_end_matches("-matrix"));
        let words = [&["analyze", observable, TRAJECTORY, "--output", &file], more].concat();
        let text = md(folder.path(), &words).unwrap();
        assert!(text.contains(&file) && text.contains(" MB for "), "{text}");
    }
    for (observable, name, trajectory, more) in [
        ("rg", "h5md", TRAJECTORY, &[][..]),
        ("rg", "xtc", "out/fine.xtc", &["--topology", "system.prmtop", "--select", "protein"]),
        ("rg", "dcd", "out/few.dcd", &["--topology", TRAJECTORY, "--stride", "2"]),
        ("rmsd", "first", TRAJECTORY, &["--reference", "first"]),
        ("rmsd", "seventh", TRAJECTORY, &["--reference", "7", "--mass-weighted", "--stride", "2"]),
        ("rmsd", "start", "out/fine.xtc", &["--reference", "start.rst7", "--topology", "system.prmtop"]),
        ("rmsf", "first", TRAJECTORY, &[]),
        (
            "rmsf",
            "weighted",
            TRAJECTORY,
            &["--select", "protein", "--reference", "7", "--mass-weighted", "--stride", "2"],
        ),
    ] {
        let file = format!("{observable}-{name}.h5");
        let words = [&["analyze", observable, trajectory, "--output", &file], more].concat();
        let text = md(folder.path(), &words).unwrap();
        assert!(text.contains(&file) && text.contains("mean "), "{text}");
    }
    md(folder.path(), &["analyze", "dihedrals", TRAJECTORY, "--output", "dihedrals-water.h5"]).unwrap();
    chain(&folder.path().join("chain"));
    let words = ["analyze", "dihedrals", "chain/out/trajectory.h5md", "--output", "dihedrals-chain.h5"];
    md(folder.path(), &words).unwrap();
    assert_eq!(python("check_analysis.py", folder.path()).matches(": same").count(), 16);
}

/// Runs a script of `tests/python` on a folder. Returns the standard output of the script.
fn python(script: &str, folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let output = Command::new("python3").arg(script).arg(folder).output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    text.into_owned()
}

#[test]
fn results_open_in_xarray_and_pandas() {
    if !python_has("xarray, h5netcdf, netCDF4, pandas") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    chain(&folder.path().join("chain"));
    let observables = ["rg", "rmsd", "rmsd-matrix", "rmsf", "pca", "dihedrals", "energies"];
    for observable in observables {
        let file = format!("{observable}.h5");
        md(folder.path(), &["analyze", observable, "chain/out/trajectory.h5md", "--output", &file]).unwrap();
        for ending in ["csv", "svg", "png", "dark.png"] {
            let written = folder.path().join(format!("{observable}.{ending}"));
            assert!(written.exists(), "{written:?}");
        }
    }
    assert_eq!(python("check_results.py", folder.path()).matches(": same").count(), observables.len());
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = trajectory();
    let here = folder.path();
    std::fs::write(here.join("text.h5md"), "not HDF5, but longer than any header of it would be").unwrap();
    let file = hdf5::File::create(here.join("other.h5")).unwrap();
    file.close().unwrap();
    std::fs::write(here.join("there.h5"), "someone's").unwrap();
    let refused = |arguments: &[&str], expected: &str| {
        let (code, message) = md(here, &[&["analyze"], arguments].concat()).unwrap_err();
        assert!(code == 2 && message.contains(expected), "{arguments:?}: {code} {message}");
    };
    refused(&["rmsd", TRAJECTORY, "--select", "protien"], "\"protien\" is not a selection keyword");
    refused(&["rmsd", TRAJECTORY, "--select", "name XX"], "no atom is selected");
    refused(&["rmsd", TRAJECTORY, "--stride", "0"], "--stride");
    refused(&["rmsd-matrix", TRAJECTORY, "--device", "gpu"], "\"gpu\" is not a device");
    refused(&["rmsd", "text.h5md"], "unknown format of a trajectory");
    refused(&["rmsd", "other.h5"], "not a trajectory of md");
    refused(&["rmsd", TRAJECTORY, "--output", "there.h5"], "the file already exists");
    refused(&["rmsd", TRAJECTORY, "--output", "out/trajectory.h5", "--force"], "input and output are the same file");
    refused(&["energies", TRAJECTORY, "--output", "out/energies", "--force"], "input and output are the same file");
    let given = ["rg", "out/fine.xtc", "--topology", "there.h5", "--output", "there", "--force"];
    refused(&given, "input and output are the same file");
    refused(&["pca", TRAJECTORY, "--stride", "100"], "at least two frames");
    refused(&["rg", "out/fine.xtc"], "add --topology FILE");
    refused(&["rg", "out/fine.xtc", "--topology", "out/few.dcd"], "contains no topology");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/water/water.prmtop.xz");
    refused(&["rg", "out/fine.xtc", "--topology", other.to_str().unwrap()], "the topology has 774 atoms");
    refused(&["rmsd", TRAJECTORY, "--reference", "41"], "there is no frame 41; the trajectory has 41 frames");
    refused(&["rmsd", TRAJECTORY, "--reference", "0", "--device", "cpu"], "unexpected argument '--device'");
    refused(&["rmsx", TRAJECTORY], "did you mean \"rmsd\"?");
    refused(&["rmsd"], "no trajectory is given");
    refused(&["energies"], "no energy table is given");
    refused(&["rg", "out/energies.csv"], "no trajectory is given");
    refused(&["rg", TRAJECTORY, "out/energies.csv"], "no observable of the command uses it");
    refused(&["rg", TRAJECTORY, "--stage", "2"], "--stage chooses rows of an energy table; choose frames by --begin");
    for [begin, end] in [["0.5", "0.5"], ["0.6", "0.5"], ["0.1", "1.1"]] {
        refused(&["msd", TRAJECTORY, "--fit-begin", begin, "--fit-end", end], "the linear fit");
    }
    refused(&["energies", "text.h5md"], "there is no energy table");
    refused(&["energies", "out/energies.csv", "--end", "0 ps"], "complete rows");
    refused(&["sasa", TRAJECTORY, "--probe", "5 nm"], "an atom with the probe is wider than the cell");
    refused(&["rmsd", "--stride", "2", "rg", "--stride", "3", TRAJECTORY], "--stride is given twice");
    refused(&["rg", TRAJECTORY, "--begin", "1 ms"], "between the times of --begin and --end");
    refused(&["rdf", TRAJECTORY, "--range", "5 nm"], "more than half of the cell");
    refused(&["dihedrals", TRAJECTORY, "--select", "water"], "no dihedral angle of a protein");
    refused(&["pca", "nowhere.h5md"], "nowhere.h5md: the file does not exist");
    let (code, message) = md(here, &["analyze", "pca", TRAJECTORY, "--output", "no/such/pca.h5"]).unwrap_err();
    assert!(code == 5 && message.contains("no/such/pca.h5"), "{message}");
    // no refused command left a new file or changed an existing file
    assert_eq!(std::fs::read(here.join("there.h5")).unwrap(), b"someone's");
    assert!(["rmsd.h5", "pca.h5", "rg.h5"].iter().all(|name| !here.join(name).exists()));
    md(here, &["analyze", "rmsd", TRAJECTORY, "--output", "there.h5", "--force"]).unwrap();
}

/// Returns a message without its line breaks.
fn unwrapped(message: &str) -> String {
    message.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Tests a structure file in place of a topology. The file states names but no bonds, so the residues of a chain are
/// found by distances; the peptide of five residues must have the same dihedral angles as with its topology.
#[test]
fn a_structure_serves_for_dihedrals_and_lacks_bonds_for_molecules() {
    let folder = tempfile::tempdir().unwrap();
    let here = &folder.path().join("chain");
    chain(here);
    md(here, &["convert", "out/trajectory.h5md", "chain.gro", "--frame", "0"]).unwrap();
    md(here, &["convert", "out/trajectory.h5md", "chain.trr"]).unwrap();
    let angles = |more: &[&str]| {
        let words = [&["analyze", "dihedrals", "chain.trr", "--output", "angles.h5", "--force"], more].concat();
        md(here, &words).unwrap();
        std::fs::read_to_string(here.join("angles.csv")).unwrap()
    };
    let numbers =
        |text: String| text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    let with_bonds = numbers(angles(&["--topology", "out/trajectory.h5md"]));
    assert_eq!(numbers(angles(&["--topology", "chain.gro"])), with_bonds);
    assert!(with_bonds.iter().any(|line| line.contains("phi")), "{with_bonds:?}");
    let one = md(
        here,
        &[
            "analyze",
            "dihedrals",
            "chain.trr",
            "--topology",
            "chain.gro",
            "--select",
            "resid 3 and heavy",
            "--output",
            "one.h5",
        ],
    );
    assert!(one.unwrap().contains("no selected residue has phi, psi or omega"));
    let analyze = |words: &[&str]| {
        md(
            here,
            &[&["analyze"], words, &["chain.trr", "--topology", "chain.gro", "--output", "x.h5", "--force"]].concat(),
        )
    };
    let of_molecules: [&[&str]; 4] = [
        &["end-to-end"],
        &["msd", "--select", "all"],
        &["contacts", "--select", "all"],
        &["hbonds", "--select", "all"],
    ];
    for words in of_molecules {
        let (code, message) = analyze(words).unwrap_err();
        let message = unwrapped(&message);
        let is_said = message.contains("the bonds of the selected atoms are unknown");
        assert!(code == 2 && is_said, "{words:?}: {code} {message}");
    }
    analyze(&["msd", "--select", "all", "--atoms"]).unwrap();
    analyze(&["contacts", "--select", "all", "--separation", "0"]).unwrap();
}
