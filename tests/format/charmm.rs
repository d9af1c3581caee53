//! CHARMM systems: energies are compared with OpenMM's energies from the same files. Other tests cover the
//! interpretation of the files and the refusal of faulty files.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use md::backend::{Evaluation, Reference, Workload};
use md::format::{TopologyOptions, check_order, read_coordinates, read_names, read_topology_with};
use md::system::{
    Constraints, Description, DispersionCorrection, Electrostatics, ForceSettings, ListPolicy, LjModifier, Modifier,
    System,
};
use md::vec3::{Vec3, vec3};

/// Relative tolerance. md and OpenMM compute in f64, but OpenMM writes π with only six decimals in its harmonic
/// impropers.
const TOLERANCE: f64 = 1e-7;

/// Folder of the system that `tests/systems/build/charmm.py` writes.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/charmm")
}

pub(crate) const PARAMETERS: [&str; 3] = ["charmm.rtf", "charmm.prm", "charmm.str"];

pub(crate) fn options(folder: &Path, files: &[&str]) -> TopologyOptions {
    TopologyOptions { parameters: files.iter().map(|file| folder.join(file)).collect(), ..TopologyOptions::default() }
}

pub(crate) fn read(name: &str) -> Description {
    let folder = folder();
    read_topology_with(&folder.join(name), &options(&folder, &PARAMETERS)).unwrap_or_else(|error| panic!("{error}"))
}

/// Evaluates energies and forces of all pairs, without a periodic cell.
pub(crate) fn evaluate(description: Description, positions: &[Vec3]) -> Evaluation {
    let settings = ForceSettings {
        cutoff: None,
        cutoff_lj: None,
        electrostatics: Electrostatics::Plain,
        lj_modifier: LjModifier::None,
        coulomb_modifier: Modifier::None,
        dispersion_correction: DispersionCorrection::Off,
        list: ListPolicy::Exact { buffer: 0.1 },
    };
    let Description { topology, nonbonded, .. } = description;
    let system = System { topology, nonbonded, constraints: Constraints::default(), settings };
    let workload = Workload { energy: true, virial: false, ..Workload::FORCES };
    let mut evaluation = Reference::new(&system).unwrap().evaluate(None, positions, workload);
    crate::golden::spread(&system, positions, &mut evaluation);
    evaluation
}

/// Compares the energies of `terms` terms, and the forces, with the `ref.json` of a folder.
pub(crate) fn agree(folder: &Path, name: &str, terms: usize, ours: &Evaluation) {
    let reference: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("ref.json")).unwrap()).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let expected = reference["energies"].as_object().unwrap();
    assert_eq!(expected.values().filter(|value| number(value) != 0.0).count(), terms);
    for (term, theirs) in expected {
        let ours = ours.energies.named().find(|(name, _)| name == term).unwrap().1;
        // the energy of a term that the system does not have is exactly zero
        let scale = if number(theirs) == 0.0 { f64::MIN_POSITIVE } else { number(theirs).abs() };
        let error = (ours - number(theirs)).abs() / scale;
        println!("{name} {term}: {ours} against {theirs} ({error:.1e})");
        assert!(error < TOLERANCE, "{name} {term}: {ours} against {theirs}");
    }
    let theirs = reference["forces"].as_array().unwrap().iter().map(|row| {
        let [x, y, z] = [0, 1, 2].map(|d| number(&row[d]));
        vec3(x, y, z)
    });
    let (mut error, mut scale) = (0.0, 0.0);
    for (ours, theirs) in ours.forces.iter().zip(theirs) {
        error += (*ours - theirs).norm_squared();
        scale += theirs.norm_squared();
    }
    let error = f64::sqrt(error / scale);
    println!("{name} forces: {error:.1e}");
    assert!(error < TOLERANCE, "{name} forces: {error}");
}

#[test]
fn residues_keep_their_insertion_codes() {
    let topology = read("charmm.psf").topology;
    let labels = topology.residues.iter().zip(&topology.chain_labels);
    let coded: Vec<_> = labels.filter_map(|(residue, label)| Some((residue.number, label.insertion_code?))).collect();
    // the file has one residue with the number 12A
    assert_eq!(coded, [(12, 'A')]);
}

#[test]
fn energies_and_forces_agree_with_openmm() {
    let positions = read_coordinates(&folder().join("charmm.crd"), None, None).unwrap().positions;
    for name in ["charmm.psf", "charmm.numbers.psf"] {
        agree(&folder(), name, 10, &evaluate(read(name), &positions));
    }
}

#[test]
fn both_forms_of_psf_mean_the_same() {
    let (usual, wide) = (read("charmm.psf"), read("charmm.numbers.psf"));
    assert_eq!(usual.topology.atoms, wide.topology.atoms);
    assert_eq!(usual.topology.bonded, wide.topology.bonded);
    assert_eq!(usual.nonbonded, wide.nonbonded);
    let topology = usual.topology;
    assert!(topology.charmm);
    assert_eq!(topology.title, "A SYSTEM OF INVENTED PARAMETERS");
    let residues: Vec<(&str, i32, u32)> =
        topology.residues.iter().map(|residue| (residue.name.as_str(), residue.number, residue.first)).collect();
    assert_eq!(residues, [("TST", 12, 0), ("TIP3", 1, 14), ("TIP3", 2, 17), ("SOD", 1, 20)]);
    let elements: Vec<u8> = topology.atoms[..9].iter().chain(&topology.atoms[14..]).map(|atom| atom.element).collect();
    assert_eq!(elements, [6, 8, 7, 1, 6, 1, 6, 8, 7, 8, 1, 1, 8, 1, 1, 11]);
    assert_eq!(topology.atoms[4].type_name.as_str(), "TA");
    // the H-H bonds of water are not chemical bonds and need no parameters
    assert_eq!((topology.connectivity.len(), topology.bonded.bonds.len()), (18, 18));
    assert!(topology.exclusions.contains(15, 16) && !topology.connectivity.contains(&[15, 16]));
    // two atoms of a five-membered ring are at most two bonds apart, so the ring has no 1-4 pairs
    assert!(topology.exclusions.contains(9, 11) && !topology.bonded.pairs14.iter().any(|pair| pair.atoms == [9, 12]));
}

/// Reads a file of the system with some parts replaced, in a folder of copies.
fn changed(file: &str, changes: &[(&str, &str)], files: &[&str]) -> md::error::Result<Description> {
    let copies = tempfile::tempdir().unwrap();
    for name in ["charmm.psf", "charmm.numbers.psf"].iter().chain(&PARAMETERS) {
        let mut text = std::fs::read_to_string(folder().join(name)).unwrap();
        if *name == file {
            for (from, to) in changes {
                assert!(text.contains(from), "{name} lacks {from}");
                text = text.replacen(from, to, 1);
            }
        }
        std::fs::write(copies.path().join(name), text).unwrap();
    }
    let psf = if file.ends_with(".psf") { file } else { "charmm.psf" };
    read_topology_with(&copies.path().join(psf), &options(copies.path(), files))
}

/// Reads the system with one of its files damaged. The reader must accept the system, or refuse it with a message that
/// names the damaged file.
pub(crate) fn read_damaged(file: usize, damages: &[crate::damage::Damage]) {
    let names = ["charmm.psf", "charmm.numbers.psf", PARAMETERS[0], PARAMETERS[1], PARAMETERS[2]];
    let bytes = crate::damage::apply(&std::fs::read(folder().join(names[file])).unwrap(), damages);
    let (_folder, path) = crate::literal::file("damaged", &bytes);
    let whole = |name: &str| folder().join(name);
    let psf = if file < 2 { path.clone() } else { whole(names[0]) };
    let parameters =
        names[2..].iter().enumerate().map(|(k, name)| if k + 2 == file { path.clone() } else { whole(name) });
    match read_topology_with(&psf, &TopologyOptions { parameters: parameters.collect(), ..TopologyOptions::default() })
    {
        Ok(read) => assert!(!read.topology.atoms.is_empty()),
        Err(error) => assert_eq!(error.exit_code(), 2, "{error}"),
    }
}

/// Asserts that the changed file is refused with a message that begins with the file and the line containing `place`,
/// and that contains every word of `words`.
#[track_caller]
fn refused(file: &str, changes: &[(&str, &str)], place: Option<&str>, words: &[&str]) {
    let error = match changed(file, changes, &PARAMETERS) {
        Ok(_) => panic!("accepted, expected {words:?}"),
        Err(error) => error,
    };
    assert_eq!(error.exit_code(), 2, "{error}");
    let message = error.to_string();
    let mut text = std::fs::read_to_string(folder().join(file)).unwrap();
    changes.iter().for_each(|(from, to)| text = text.replacen(from, to, 1));
    let line = place.map(|place| text.lines().position(|line| line.contains(place)).unwrap() + 1);
    let place = line.map_or(file.to_owned(), |line| format!("{file}:{line}:"));
    assert!(message.contains(&place), "expected {place} in: {message}");
    for word in words {
        assert!(message.contains(word), "expected {word:?} in: {message}");
    }
}

#[test]
fn psf_files_that_are_wrong_or_not_supported_are_refused() {
    let file = "charmm.psf";
    let of = |from, to, place, words: &[&str]| refused(file, &[(from, to)], Some(place), words);
    of("PSF CMAP", "PSF CMAP DRUDE", "PSF CMAP DRUDE", &["Drude particles", "polarisable"]);
    of("12.0110 ", "0.0000 ", "0.0000", &["atom 1 (CY) has the mass 0", "lone pairs"]);
    of("0.500000", "0.5x", "0.5x", &["expected atom 1 of 21", "type, charge and mass"]);
    of("20 !NBOND", "19 !NBOND", "!NBOND", &["NBOND announces 19 terms of 2 atoms, but 40 numbers follow"]);
    of(
        "       1       2       1       3",
        "       1      22       1       3",
        "      22 ",
        &["atom number 22 is not between 1 and 21"],
    );
    of(
        "       1       2       1       3",
        "       1       2       1     3.5",
        "     3.5",
        &["whole number, found `3.5`"],
    );
    of("       0 !NNB", "       3 !NNB", "!NNB", &["3 explicit exclusions"]);
    of("0 !NACC", "2 !NUMANISO", "!NUMANISO", &["a section NUMANISO"]);
    of("!NACC", "!NDON", "!NDON: accept", &["a second section NDON"]);
    of("0 !NACC: acceptors", "x !NACC", "x !NACC", &["expected a section such as"]);
    of("!NCRTERM", "!NOTHING", "!NOTHING", &["a section NOTHING"]);
    refused(file, &[(" TC  ", " TQ  ")], None, &["has the atom types TQ", "system.parameters"]);
    refused("charmm.numbers.psf", &[(" 10 ", " 99 ")], None, &["has the atom types 99", "MASS line"]);
    let psf = std::fs::read_to_string(folder().join(file)).unwrap();
    for (name, message) in [("!NCRTERM", "a section NCRTERM"), ("!NPHI", "a section NPHI"), ("  15 WAT", "atom 15")] {
        let cut = &psf[..psf[..psf.find(name).unwrap()].rfind('\n').unwrap() + 1];
        refused(file, &[(&psf, cut)], None, &[message, "cut off"]);
    }
    let error = read_topology_with(&folder().join(file), &TopologyOptions::default()).unwrap_err().to_string();
    assert!(error.contains("charmm.psf:1: a PSF file contains no parameters (list"), "{error}");
}

#[test]
fn a_segment_may_be_blank() {
    for file in ["charmm.psf", "charmm.numbers.psf"] {
        let description = changed(file, &[("PROT", "    ")], &PARAMETERS).unwrap();
        assert_eq!(description.topology.residues.len(), 5);
        assert_eq!(
            description.topology.atoms,
            read(file)
                .topology
                .atoms
                .iter()
                .enumerate()
                .map(|(i, atom)| { md::system::Atom { residue: atom.residue + u32::from(i > 0), ..*atom } })
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn parameters_that_are_wrong_or_not_supported_are_refused() {
    let of = |from: &str, to: &str, place: &str, words: &[&str]| {
        refused("charmm.prm", &[(from, to)], Some(place), words);
    };
    of("TA TH 330.0 1.08", "TA TH 330.0", "TA TH 330.0", &["two types, k and b0", "`TA TH 330.0`"]);
    of("TA TH 330.0 1.08", "TA TH 330.0 1.0x", "TA TH 330.0 1.0x", &["expected a number, found `1.0X`"]);
    of(
        "TA TH 330.0 1.08",
        "TA TH 330.0 1.08\nTH TA 330.0 1.09",
        "TH TA",
        &["bond TH TA is given twice, with different values in line 10"],
    );
    of(
        "X    TA   TC   X     0.05   6   180.0",
        "X TA TC X 0.05 6 180 ! twice\nX TC TA X 0.06 6 180.0",
        "X TC TA X",
        &["dihedral X TC TA X with n = 6 is given twice"],
    );
    of("X    TA   TC   X     0.05   6", "X TA TC TN 0.05 6", "X TA TC TN", &["A B C D or X B C X"]);
    of("X    TA   TC   X     0.05   6", "X TA TC X 0.05 2.5", "X TA TC X", &["2.5 is not a valid periodicity"]);
    of("X    TA   TC   X     0.05   6", "X TA TC X 0.05 0", "X TA TC X", &["a torsion with n = 0"]);
    of("TO X  X  TC", "TO X  TN TC", "TO X  TN TC", &["A B C D, A X X D, X B C D, X B C X or X X C D"]);
    of(
        "TC TN TA TC TN TA TC TN 8",
        "TC TN TA TC TN TA TC TN 3",
        "TC TN TA TC TN TA TC TN 3",
        &["4 to 1000 grid points"],
    );
    of(
        "TC TN TA TC TN TA TC TN 8",
        "TC TN TA TC TN TA TC TN 7",
        "TC TN TA TC TN TA TC TN 7",
        &["the map has 53 energies, expected 49"],
    );
    of("nbxmod  5", "nbxmod  4", "nbxmod", &["NBXMOD is not 5"]);
    of("eps 1.0", "eps 4.0", "nbxmod", &["EPS is not 1"]);
    of("cdiel", "rdiel", "nbxmod", &["RDIE"]);
    of("vatom", "geom", "nbxmod", &["geometric combination rule"]);
    of("TC 0.0 -0.11 2.0", "TC 0.0 0.11 2.0", "TC 0.0 0.11", &["epsilon is 0.11", "Slater-Kirkwood"]);
    of("TC 0.0 -0.11 2.0", "TC 0.0 -0.11 2.0 0.0", "TC 0.0 -0.11 2.0 0.0", &["for 1-4 pairs"]);
    of("TC 0.0 -0.11 2.0", "TC 0.0 -0.11 2.0\nT* 0.0 -0.3 1.9", "T* 0.0", &["the type T* has a wildcard"]);
    of("TH TO -0.05 1.9", "TH T% -0.05 1.9", "TH T%", &["the type T% has a wildcard", "a row for each type"]);
    of("HBOND", "NBTHOLE\nSOD TO 1.3\nHBOND", "SOD TO 1.3", &["Thole", "additive"]);
    of("ATOMS", "TYPES", "TYPES", &["expected a section", "title lacks"]);
    let text = std::fs::read_to_string(folder().join("charmm.prm")).unwrap();
    let (_, rest) = text.split_once("\nNBFIX\n").unwrap();
    of(rest, "", "NBFIX", &["the file ends after this heading, without END", "cut off"]);
    refused(
        "charmm.rtf",
        &[("MASS    10", "MASS    1x")],
        Some("MASS    1x"),
        &["expected a whole number, found `1X`"],
    );
    let of = |from: &str, to: &str, place: &str, words: &[&str]| {
        refused("charmm.str", &[(from, to)], Some(place), words);
    };
    of(
        "read para card flex @app",
        "read para unit 10 flex",
        "read para unit",
        &["reads another file", "system.parameters"],
    );
    of("set nat ?NATC", "stream other.str", "stream other", &["STREAM OTHER.STR reads another file"]);
    of("\nend\n", "\n", "read para", &["has no END", "cut off"]);
    let message = "E14FAC is 1, but an earlier section sets E14FAC to 0.9";
    of("NONBONDED", "NONBONDED e14fac 1.0", "NONBONDED e14fac", &[message]);
}

/// Tests contradictory terms, which CHARMM's own files contain for residues that few systems have. Such terms are
/// refused only if a system needs them.
#[test]
fn contradictions_matter_only_where_they_are_needed_and_last() {
    let unused = ("TA TH 330.0 1.08", "TA TH 330.0 1.08\nTX TH 330.0 1.09\nTX TH 330.0 1.1");
    assert!(changed("charmm.prm", &[unused], &PARAMETERS).is_ok());
    // the stream file, which is read later, defines the pair again and replaces both values
    let replaced = ("TR TR 222.5 1.60", "TR TR 222.5 1.7\nTR TR 222.5 1.60");
    let found = changed("charmm.prm", &[replaced], &PARAMETERS).unwrap();
    assert_eq!(found.topology.bonded, read("charmm.psf").topology.bonded);
    let thrice = ("TA TH 330.0 1.08", "TA TH 330.0 1.08\nTA TH 330.0 1.09\nTA TH 330.0 1.09");
    assert!(changed("charmm.prm", &[thrice], &PARAMETERS).is_err());
}

#[test]
fn all_missing_parameters_are_named_at_once() {
    let changes = [
        ("TA TH 330.0 1.08", ""),
        ("TN TA 320.0 1.43", ""),
        ("TA TC TO 80.0 121.0", ""),
        ("X    TA   TC   X     0.05   6   180.0", ""),
        ("X  TN TC TH  15.0  0  35.26439", ""),
        ("TC TN TA TC TN TA TC TN 8", "TC TN TA TC TN TA TC TO 8"),
    ];
    let words = "no parameters for ANGLES TA TC TO; BONDS TA TH, TN TA; CMAP TC TN TA TC TN TA TC TN; DIHEDRALS TH TA TC \
                 TN, TH TA TC TO, TN TA TC TN, TN TA TC TO; IMPROPER TA TN TC TH";
    let error = changed("charmm.prm", &changes, &PARAMETERS).unwrap_err().to_string();
    assert!(error.contains(words) && error.contains("charmm.psf: "), "{error}");
    let error = changed("charmm.prm", &[("TR 0.0 -0.056", "TQ 0.0 -0.056")], &PARAMETERS).unwrap_err().to_string();
    assert!(error.contains("no Lennard-Jones parameters (NONBONDED) for the atom types TR"), "{error}");
    let error = changed("charmm.prm", &[], &["charmm.prm", "missing.str"]).unwrap_err().to_string();
    assert!(error.contains("missing.str"), "{error}");
}

/// Tests the search for parameters of CHARMM impropers. Patterns of atom types are tried in the order of CHARMM's
/// documentation (`parmfile.doc`), and the first pattern with parameters is used.
#[test]
fn impropers_take_the_first_form_that_is_given() {
    let forms = ["TA TN TC TH", "TA X X TH", "X TN TC TH", "X TN TC X", "X X TC TH"];
    for first in 0..forms.len() {
        let rows: Vec<String> =
            forms.iter().enumerate().skip(first).rev().map(|(k, form)| format!("{form} {}.0 0 0.0", k + 1)).collect();
        let change = ("X  TN TC TH  15.0  0  35.26439", rows.join("\n"));
        let topology = changed("charmm.prm", &[(change.0, &change.1)], &PARAMETERS).unwrap().topology;
        let found = topology.bonded.harmonic_impropers.iter().find(|term| term.atoms == [4, 2, 6, 5]).unwrap();
        let k = found.force_constant / (2.0 * md::units::KCAL);
        assert!((k - (first + 1) as f64).abs() < 1e-12, "{}: {k}", forms[first]);
    }
}

pub(crate) const CARD: &str = "\
* THREE ATOMS
*
    3
    1    1 TIP3 OH2    1.00000 -20.50000   3.00000 WAT  1      0.00000
    2    1 TIP3 H1  -100.12345-200.50000   3.00000      1      0.00000
    3    1 TIP3 H2     1.00000 -20.50000   3.00000 WAT  1      0.00000
";

fn card(text: &str) -> md::error::Result<md::format::Coordinates> {
    let (_folder, path) = crate::literal::file("small.crd", text.as_bytes());
    read_coordinates(&path, None, None)
}

#[test]
fn cards_are_read_by_their_columns() {
    let found = card(CARD).unwrap();
    assert_eq!((found.title.as_str(), found.cell, found.velocities), ("THREE ATOMS", None, None));
    let expected = [vec3(0.1, -2.05, 0.3), vec3(-10.012345, -20.05, 0.3), vec3(0.1, -2.05, 0.3)];
    for (found, expected) in found.positions.iter().zip(expected) {
        assert!((*found - expected).norm() < 1e-14, "{found:?}");
    }
    let labels: Vec<(&str, &str, i32, &str)> = found
        .labels
        .iter()
        .map(|l| (l.name.as_str(), l.residue.as_str(), l.number, l.chain.segment.as_str()))
        .collect();
    assert_eq!(labels, [("OH2", "TIP3", 1, "WAT"), ("H1", "TIP3", 1, ""), ("H2", "TIP3", 1, "WAT")]);
    // the atoms of a residue in another order than in the topology
    let (topology, path) = (folder().join("charmm.psf"), folder().join("charmm.crd"));
    let mut coordinates = read_coordinates(&path, Some(21), None).unwrap();
    assert_eq!(coordinates.positions.len(), 21);
    let topology = read_names(&topology, &TopologyOptions::default()).unwrap().topology;
    assert!(check_order(&topology, &coordinates.labels).is_ok());
    coordinates.labels.swap(1, 2);
    assert!(check_order(&topology, &coordinates.labels).is_err());
    for (from, to, words) in [
        ("    3\n    1", "    4\n    1", "small.crd:3: expected 4 atoms, found 3"),
        ("-200.50000", "-200.5x000", "small.crd:5: expected three coordinates, each 10 columns wide, from column 21"),
        ("-200.50000", "9.9e300   ", "atom 2"),
        (
            "-100.12345-200.50000   3.00000",
            " 9999.0000 9999.0000 9999.0000",
            "small.crd:5: atom 2 (H1 of TIP3 1) has no position",
        ),
    ] {
        assert!(CARD.contains(from));
        let error = card(&CARD.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// Tests that commands accept PSF files with parameter files, and a cell from the input file.
#[test]
fn commands_take_charmm_systems() {
    let work = tempfile::tempdir().unwrap();
    let run = |system: &str, arguments: &[&str]| {
        let path = |file: &str| folder().join(file).to_str().unwrap().to_owned();
        let parameters: Vec<String> = PARAMETERS.iter().map(|file| path(file)).collect();
        let text = format!(
            "[system]\ntopology = {:?}\ncoordinates = {:?}\nparameters = {parameters:?}\n{system}\n",
            path("charmm.psf"),
            path("charmm.crd"),
        );
        std::fs::write(work.path().join("input.toml"), text).unwrap();
        let mut command = Command::cargo_bin("md").unwrap();
        let output = command.current_dir(work.path()).env("NO_COLOR", "1").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let vacuum = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\ndispersion_correction = false";
    let (code, text) = run(vacuum, &["energy", "input.toml", "--precision", "double"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.lines().any(|line| line.starts_with("proper") && line.contains("23.0403562")), "{text}");
    let (code, text) = run("", &["check", "input.toml"]);
    assert!(code == Some(2) && text.contains("needs a periodic cell"), "{text}");
    let cell = "cell = [\"40 A\", \"4 nm\", \"4 nm\", \"90 deg\", \"90 deg\", \"120 deg\"]";
    let (code, text) = run(cell, &["check", "input.toml"]);
    assert!(code == Some(0) && text.contains("55.4"), "{text}"); // 64 sin 120° nm³
    for (cell, message) in [
        ("cell = [\"4 nm\", \"4 nm\"]", "three lengths, or three lengths and three angles"),
        ("cell = [\"4 nm\", \"4 nm\", 4]", "missing unit"),
        ("cell = [\"4 nm\", \"4 nm\", \"90 deg\"]", "expected a length"),
        ("cell = [\"4 nm\", \"4 nm\", \"-4 nm\"]", "that enclose a volume"),
    ] {
        let (code, text) = run(cell, &["check", "input.toml"]);
        assert!(code == Some(2) && text.contains(message), "{text}");
    }
}

/// Tests files for NAMD, which contain residues and parameters without the `read` commands that CHARMM needs.
#[test]
fn parameters_are_read_behind_residues() {
    let expected = read("charmm.psf");
    let same = |file: &str, changes: &[(&str, &str)]| {
        let found = changed(file, changes, &PARAMETERS).unwrap_or_else(|error| panic!("{changes:?}: {error}"));
        assert_eq!(
            (found.topology.atoms, found.topology.bonded),
            (expected.topology.atoms.clone(), expected.topology.bonded.clone()),
            "{changes:?}"
        );
        assert_eq!(found.nonbonded, expected.nonbonded, "{changes:?}");
    };
    same("charmm.prm", &[("ATOMS", "RESI CHN 0.0\nATOM C1 CX -0.1\nBOND C1 C2\nATOMS")]);
    same("charmm.prm", &[("ATOMS", "36 1\nATOMS")]);
    same("charmm.prm", &[("ATOMS", "AUTO ANGLES DIHE\nATOMS")]);
    same("charmm.str", &[("read rtf", "!read rtf"), ("read para", "!read para")]);
    // residue definitions may also follow the parameters
    same(
        "charmm.str",
        &[("read rtf", "!read rtf"), ("read para", "!read para"), ("\nend\n", "\nRESI X 0\nBOND A B\nend\n")],
    );
    refused(
        "charmm.prm",
        &[("ANGLES", "END\nANGLES")],
        Some("ANGLES"),
        &["a section follows the END of the parameters", "CHARMM reads nothing after END"],
    );
}

#[test]
fn what_charmm_would_not_read_is_not_read() {
    let expected = read("charmm.psf");
    let never = "read para card flex append\n* never\n*\nBONDS\nTR TR 9999.0 2.53\nEND\n";
    for end in ["return", "stop", "if 1 eq 1 then\nset a b\nendif\nreturn"] {
        let found = changed("charmm.str", &[("\nend\n", &format!("\nend\n{end}\n{never}"))], &PARAMETERS).unwrap();
        assert_eq!(
            (found.topology.atoms, found.topology.bonded),
            (expected.topology.atoms.clone(), expected.topology.bonded.clone()),
            "{end}"
        );
    }
    for condition in
        ["if 0 eq 1 then", "if 0 eq 1 goto label", "goto label", "if 0 eq 1 return", "if 0 eq 1 read para card"]
    {
        let changes = [("\nend\n", &*format!("\nend\n{condition}\n{never}endif\n"))];
        let words = ["the parts to read depend on", "does not evaluate conditions"];
        refused("charmm.str", &changes, Some(condition), &words);
    }
    let block = [("\nend\n", &*format!("\nend\nif 0 eq 1 then\nreturn\nendif\n{never}"))];
    refused("charmm.str", &block, Some("return"), &["the parts to read depend on the condition RETURN"]);
}
