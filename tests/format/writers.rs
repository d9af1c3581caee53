//! Tests of topologies written by `md`: every test system is unchanged after writing and reading, and terms that a
//! format cannot express are refused.

use std::path::{Path, PathBuf};

use md::backend::{Energies, Reference, Workload};
use md::cell::PeriodicCell;
use md::convert::write_topology;
use md::format::{TopologyOptions, read_coordinates, read_topology, read_topology_with};
use md::system::{Constraint, Construction, Description, HarmonicImproper, Pair14, RyckaertBellemans, Topology};
use md::team::Team;
use md::vec3::Vec3;
use md::virtual_sites::SitePlan;

use serde_json::json;

use crate::golden::{Golden, file};
use crate::probe::python_has;

/// Relative tolerance of a `.top`, which holds every digit. Rounding errors of f64 affect σ and ε, which are computed
/// from the coefficients of r⁻⁶ and r⁻¹², and angles in degrees.
const TOP: f64 = 1e-9;
/// Relative tolerance of a prmtop. Nine digits have a rounding error of 5·10⁻⁹, which is multiplied by twelve in
/// r⁻¹². Errors are larger where the terms of a sum cancel.
const PRMTOP: f64 = 1e-6;

const SYSTEMS: [&str; 12] = [
    "argon",
    "octahedron",
    "peptide-charged",
    "peptide-charmm36",
    "peptide-ff19sb",
    "peptide-nbfix",
    "peptide-vacuum",
    "salt-crystal",
    "salt-displaced",
    "tip4pew",
    "tip5p",
    "water",
];

fn flexible() -> TopologyOptions {
    TopologyOptions { define: vec!["FLEXIBLE".into()], ..TopologyOptions::default() }
}

pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Writes a description in the format of a file ending and reads it again, with the terms of rigid waters.
fn rewritten(description: &Description, cell: Option<&PeriodicCell>, ending: &str) -> Result<Description, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("written.{ending}"));
    write_topology(description, cell, &path).map_err(|error| error.to_string())?;
    // the macro FLEXIBLE is defined only for files that use it, because an unused macro is refused
    let asks = std::fs::read_to_string(&path).unwrap().contains("FLEXIBLE");
    let options = if asks { flexible() } else { TopologyOptions::default() };
    read_topology_with(&path, &options).map_err(|error| error.to_string())
}

fn written(description: &Description, golden: &Golden, ending: &str) -> Description {
    rewritten(description, golden.cell.as_ref(), ending).unwrap_or_else(|error| panic!("{ending}: {error}"))
}

fn energies(golden: &mut Golden, description: &Description) -> Energies {
    golden.system.topology = description.topology.clone();
    golden.system.nonbonded = description.nonbonded.clone();
    let workload = Workload { energy: true, virial: false, ..Workload::FORCES };
    Reference::new(&golden.system).unwrap().evaluate(golden.cell.as_ref(), &golden.positions, workload).energies
}

fn check_energies(name: &str, found: &Energies, expected: &Energies, tolerance: f64) {
    for ((term, ours), (_, theirs)) in found.named().zip(expected.named()) {
        let error = (ours - theirs).abs() / theirs.abs().max(1.0);
        assert!(error <= tolerance, "{name} {term}: {ours} against {theirs} ({error:.1e})");
    }
}

fn bonds(topology: &Topology) -> Vec<[u32; 2]> {
    let mut bonds: Vec<[u32; 2]> = topology.connectivity.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
    bonds.sort_unstable();
    bonds
}

/// Compares the data that do not enter an energy: atoms, residues, bonds, exclusions, positions of virtual sites.
fn check_atoms(name: &str, found: &Topology, expected: &Topology, positions: &[Vec3], tolerance: f64) {
    assert_eq!(found.charmm, expected.charmm, "{name}");
    assert_eq!(found.exclusions, expected.exclusions, "{name}");
    assert_eq!(bonds(found), bonds(expected), "{name}");
    let residues = |topology: &Topology| topology.residues.iter().map(|r| (r.name, r.first)).collect::<Vec<_>>();
    assert_eq!(residues(found), residues(expected), "{name}");
    assert_eq!(found.atoms.len(), expected.atoms.len());
    for (own, other) in found.atoms.iter().zip(&expected.atoms) {
        let about = |atom: &md::system::Atom| (atom.name, atom.element, atom.residue);
        assert_eq!(about(own), about(other), "{name}");
        assert!((own.mass - other.mass).abs() <= tolerance * other.mass, "{name}: {own:?} {other:?}");
        assert!((own.charge - other.charge).abs() <= 1e-8, "{name}: {own:?} {other:?}");
    }
    let placed = |topology: &Topology| {
        let mut positions = positions.to_vec();
        SitePlan::new(topology).place(&Team::single(), &mut positions);
        positions
    };
    for (site, (own, other)) in placed(found).into_iter().zip(placed(expected)).enumerate() {
        assert!((own - other).norm() <= tolerance, "{name}: site {site} at {own:?}, not {other:?}");
    }
}

#[test]
fn amber_systems_are_the_same_in_both_formats() {
    for name in SYSTEMS {
        let mut golden = Golden::load(name).unwrap();
        let description = read_topology(&file(&golden.folder, &format!("{name}.prmtop")).unwrap()).unwrap();
        let case = golden.cases().swap_remove(0);
        golden.choose(&case);
        let expected = energies(&mut golden, &description);
        for (ending, tolerance) in [("top", TOP), ("prmtop", PRMTOP)] {
            let again = written(&description, &golden, ending);
            let what = format!("{name} as {ending}");
            check_atoms(&what, &again.topology, &description.topology, &golden.positions, tolerance);
            check_energies(&what, &energies(&mut golden, &again), &expected, tolerance);
            if ending == "prmtop" {
                assert_eq!(again.cell_hint.kind, description.cell_hint.kind, "{what}");
                let counts = |description: &Description| description.topology.bonded.counts();
                assert_eq!(counts(&again), counts(&description), "{what}");
            }
        }
        println!("{name}: {:.9} kJ/mol", expected.potential());
    }
}

/// Tests rigid waters of a `.top`. Without the macro FLEXIBLE, the sides of rigid waters are constraints. All pairs of
/// a water are in `[ exclusions ]`, because GROMACS derives only the bond of the first hydrogen from `[ settles ]`.
#[test]
fn rigid_waters_are_settles_with_exclusions() {
    for (name, pairs) in [("water", 3), ("tip4pew", 6), ("tip5p", 10)] {
        let description = read_topology(&repository(&format!("tests/systems/{name}/{name}.prmtop.xz"))).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("written.top");
        write_topology(&description, None, &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let (_, exclusions) = text.split_once("[ exclusions ]\n").unwrap();
        let lines = exclusions.lines().take_while(|line| !line.is_empty());
        assert_eq!(lines.map(|line| line.split_whitespace().count() - 1).sum::<usize>(), pairs, "{name}");
        let found = read_topology(&path).unwrap().topology;
        let waters = description.topology.residues.len();
        assert_eq!((found.bonded.bonds.len(), found.constraints.len()), (0, 3 * waters), "{name}");
        assert_eq!(found.exclusions, description.topology.exclusions, "{name}");
    }
}

#[test]
fn systems_of_other_programs_are_the_same_in_both_formats() {
    let files = [
        ("peptide-vacuum", "xml"),
        ("peptide-ff19sb", "xml"),
        ("peptide-charmm36", "xml"),
        ("tip4pew", "xml"),
        ("peptide-charged", "top"),
        ("water", "top"),
        ("tip4pew", "top"),
        ("argon", "top"),
        ("salt-displaced", "top"),
    ];
    for (name, source) in files {
        let mut golden = Golden::load(name).unwrap();
        let path = file(&golden.folder, &format!("{name}.{source}")).unwrap();
        let has_water = ["peptide-charged", "water", "tip4pew"].contains(&name);
        let options = if source == "top" && has_water { flexible() } else { TopologyOptions::default() };
        let description = read_topology_with(&path, &options).unwrap();
        let case = golden.cases().swap_remove(0);
        golden.choose(&case);
        let expected = energies(&mut golden, &description);
        for (ending, tolerance) in [("top", TOP), ("prmtop", PRMTOP)] {
            let what = format!("{name}.{source} as {ending}");
            // an OpenMM system does not contain atom types, so atoms with equal parameters may differ in their 1-4
            // pairs
            if what == "peptide-charmm36.xml as prmtop" {
                let refusal = rewritten(&description, golden.cell.as_ref(), ending).unwrap_err();
                assert!(
                    refusal.contains("has other Lennard-Jones parameters than pairs of the same types"),
                    "{refusal}"
                );
                continue;
            }
            let again = written(&description, &golden, ending);
            // the CHARMM data of a topology must be unchanged
            assert_eq!(again.topology.charmm, description.topology.charmm, "{what}");
            assert_eq!(again.topology.exclusions, description.topology.exclusions, "{what}");
            check_energies(&what, &energies(&mut golden, &again), &expected, tolerance);
        }
    }
}

#[test]
fn twelve_six_four_ions_are_written_to_amber_files_only() {
    let mut golden = Golden::load("ions").unwrap();
    let description = read_topology(&file(&golden.folder, "ions.prmtop").unwrap()).unwrap();
    golden.choose("5e-04");
    let expected = energies(&mut golden, &description);
    let again = written(&description, &golden, "prmtop");
    check_energies("ions", &energies(&mut golden, &again), &expected, PRMTOP);
    assert!(!again.nonbonded.c4.is_empty());
    let refusal = rewritten(&description, golden.cell.as_ref(), "top").unwrap_err();
    assert!(refusal.contains("12-6-4 ions"), "{refusal}");
}

/// A harmonic improper needs a CHAMBER file, but does not make the conventions of CHARMM those of the system.
#[test]
fn a_chamber_file_may_be_of_another_force_field() {
    let mut description = read_topology(&repository("tests/systems/peptide-vacuum/peptide-vacuum.prmtop.xz")).unwrap();
    let atoms = description.topology.bonded.propers[0].atoms;
    description.topology.bonded.harmonic_impropers.push(HarmonicImproper { atoms, angle: 0.5, force_constant: 10.0 });
    for charmm in [false, true] {
        description.topology.charmm = charmm;
        let found = again(&description, "prmtop").unwrap();
        assert_eq!((found.topology.charmm, found.topology.bonded.harmonic_impropers.len()), (charmm, 1));
    }
}

/// Returns the energies of all pairs, without a periodic cell.
fn without_cell(description: &Description, positions: &[Vec3]) -> Energies {
    crate::charmm::evaluate(description.clone(), positions).energies
}

/// Writes a description without a cell to a file, and reads the file again.
pub(crate) fn again(description: &Description, ending: &str) -> Result<Description, String> {
    rewritten(description, None, ending)
}

#[test]
fn every_function_of_gromacs_is_written() {
    for name in ["functions", "types", "rule1", "rule2", "rule3", "rings", "leap", "sites", "gromos"] {
        let description = read_topology(&repository(&format!("tests/format/gromacs/{name}.top"))).unwrap();
        let atoms = description.topology.atoms.len();
        let path = repository(&format!("tests/format/gromacs/{name}.gro"));
        let mut positions = read_coordinates(&path, Some(atoms), None).unwrap().positions;
        SitePlan::new(&description.topology).place(&Team::single(), &mut positions);
        let found = again(&description, "top").unwrap();
        check_atoms(name, &found.topology, &description.topology, &positions, TOP);
        assert_eq!(found.topology.constraints, description.topology.constraints, "{name}");
        let expected = without_cell(&description, &positions);
        check_energies(name, &without_cell(&found, &positions), &expected, TOP);
    }
}

#[test]
fn terms_of_gromos_are_no_terms_of_amber() {
    let description = read_topology(&repository("tests/format/gromacs/gromos.top")).unwrap();
    let message = again(&description, "prmtop").unwrap_err();
    assert!(message.contains("has an energy function of GROMOS-96"), "{message}");
}

#[test]
fn charmm_files_are_written() {
    let folder = repository("tests/systems/charmm");
    let parameters = ["charmm.rtf", "charmm.prm", "charmm.str"].map(|file| folder.join(file)).to_vec();
    let options = TopologyOptions { parameters, ..TopologyOptions::default() };
    let description = read_topology_with(&folder.join("charmm.psf"), &options).unwrap();
    let positions = read_coordinates(&folder.join("charmm.crd"), None, None).unwrap().positions;
    let expected = without_cell(&description, &positions);
    for (ending, tolerance) in [("top", TOP), ("prmtop", PRMTOP)] {
        let found = again(&description, ending).unwrap();
        assert!(found.topology.charmm);
        check_energies(ending, &without_cell(&found, &positions), &expected, tolerance);
    }
}

/// Tests that a prmtop has Ryckaert–Bellemans torsions as sums of cosines, whose energy belongs to the periodic
/// torsions.
#[test]
fn polynomials_of_cosines_are_cosines_in_a_prmtop() {
    let mut golden = Golden::load("peptide-vacuum").unwrap();
    let path = file(&golden.folder, "peptide-vacuum.prmtop").unwrap();
    let mut description = read_topology(&path).unwrap();
    let bonded = &mut description.topology.bonded;
    let polynomials = bonded.propers.iter().step_by(3).enumerate().map(|(k, torsion)| {
        let coefficients = std::array::from_fn(|power| (1.7 + k as f64 - 3.0 * power as f64).sin() * 12.0);
        RyckaertBellemans { atoms: torsion.atoms, coefficients }
    });
    bonded.ryckaert_bellemans = polynomials.collect();
    let expected = energies(&mut golden, &description);
    assert!(expected.ryckaert_bellemans.abs() > 1.0);
    let again = written(&description, &golden, "prmtop");
    let found = energies(&mut golden, &again);
    assert_eq!(found.ryckaert_bellemans, 0.0);
    let moved = Energies { proper: expected.proper + expected.ryckaert_bellemans, ryckaert_bellemans: 0.0, ..expected };
    check_energies("polynomials", &found, &moved, PRMTOP);
    let again = written(&description, &golden, "top");
    check_energies("polynomials", &energies(&mut golden, &again), &expected, TOP);
}

#[test]
fn python_readers_agree() {
    if !python_has("MDAnalysis, mdtraj") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut cases = vec![];
    for (name, endings) in
        [("peptide-charged", &["top", "prmtop"][..]), ("peptide-charmm36", &["top"]), ("tip4pew", &["top", "prmtop"])]
    {
        let golden = Golden::load(name).unwrap();
        let topology = &golden.system.topology;
        let description = read_topology(&file(&golden.folder, &format!("{name}.prmtop")).unwrap()).unwrap();
        for ending in endings {
            let path = folder.path().join(format!("{name}.{ending}"));
            write_topology(&description, golden.cell.as_ref(), &path).unwrap();
            let atoms = &topology.atoms;
            cases.push(json!({
                "file": path,
                "names": atoms.iter().map(|atom| atom.name.as_str()).collect::<Vec<_>>(),
                "residues": atoms.iter().map(|a| topology.residues[a.residue as usize].name.as_str()).collect::<Vec<_>>(),
                "charges": atoms.iter().map(|atom| atom.charge).collect::<Vec<_>>(),
                "masses": atoms.iter().map(|atom| atom.mass).collect::<Vec<_>>(),
                "bonds": bonds(topology),
                // MDAnalysis divides by 18.2223 in single precision
                "tolerance": 1e-6,
            }));
        }
    }
    let mut python = std::process::Command::new("python3")
        .arg(repository("tests/python/read_topology.py"))
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(python.stdin.take().unwrap(), &cases).unwrap();
    assert!(python.wait().unwrap().success(), "python readers disagree");
}

/// Runs `md convert`; returns standard error if it fails, with the lines of a message joined.
fn convert(arguments: &[&std::ffi::OsStr]) -> Result<(), String> {
    let output = assert_cmd::Command::cargo_bin("md").unwrap().arg("convert").args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let words: Vec<&str> = message.split(['\n', '\u{2502}']).map(str::trim).filter(|line| !line.is_empty()).collect();
    if output.status.success() { Ok(()) } else { Err(words.join(" ")) }
}

#[test]
fn topologies_are_converted_by_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let peptide = repository("tests/systems/peptide-charged");
    let (top, gro) = (peptide.join("peptide-charged.top.xz"), peptide.join("peptide-charged.gro.xz"));
    let output = folder.path().join("system.prmtop");
    let arguments = |more: &[&'static str]| -> Vec<std::ffi::OsString> {
        let paths = [top.clone().into(), output.clone().into(), "--coordinates".into(), gro.clone().into()];
        paths.into_iter().chain(more.iter().map(std::ffi::OsString::from)).collect()
    };
    let run = |more: &[&'static str]| {
        let arguments = arguments(more);
        convert(&arguments.iter().map(|argument| argument.as_os_str()).collect::<Vec<_>>())
    };
    run(&["--define", "FLEXIBLE"]).unwrap();
    let found = read_topology(&output).unwrap();
    assert_eq!((found.topology.atoms.len(), found.cell_hint.kind), (729, md::system::BoxKind::Rectangular));
    let message = run(&["--define", "FLEXIBLE"]).unwrap_err();
    assert!(message.contains("--force"), "{message}");
    let message = run(&["--force", "--select", "protein"]).unwrap_err();
    assert!(message.contains("--select applies only to trajectories and structures"), "{message}");
    let pdb = folder.path().join("system.pdb");
    let message = convert(&[gro.as_ref(), pdb.as_ref(), "--define".as_ref(), "FLEXIBLE".as_ref()]).unwrap_err();
    assert!(message.contains("--define applies only to topologies"), "{message}");
}

#[test]
fn what_a_format_cannot_express_is_refused_with_the_term() {
    let mut peptide = read_topology(&repository("tests/systems/peptide-vacuum/peptide-vacuum.prmtop.xz")).unwrap();
    let refusal = |change: &dyn Fn(&mut Topology), ending: &str| {
        let mut changed = peptide.clone();
        change(&mut changed.topology);
        again(&changed, ending).expect_err(ending)
    };
    let constrained = |topology: &mut Topology| {
        topology.constraints.push(Constraint { atoms: [3, 7], length: 0.2 });
    };
    let message = refusal(&constrained, "prmtop");
    assert!(message.contains("atoms 4 and 8 have a constraint"), "{message}");
    let far = |topology: &mut Topology| {
        topology.bonded.pairs14.push(Pair14 { atoms: [0, 60], charge_product: 0.1, c6: 0.0, c12: 0.0 });
    };
    let message = refusal(&far, "prmtop");
    assert!(message.contains("the 1-4 pair of atoms 1 and 61"), "{message}");
    let opposite = |topology: &mut Topology| {
        topology.bonded.pairs14.iter_mut().for_each(|pair| pair.charge_product *= -1.0);
    };
    let message = refusal(&opposite, "prmtop");
    assert!(message.contains("is not a fraction of their non-bonded"), "{message}");
    let unbonded = |topology: &mut Topology| {
        let [i, j] = topology.connectivity[4];
        topology.bonded.bonds.retain(|bond| bond.atoms != [i, j] && bond.atoms != [j, i]);
    };
    let message = refusal(&unbonded, "prmtop");
    assert!(message.contains("the chemical bond of atoms") && message.contains("has no energy"), "{message}");
    let site = |construction: Construction| {
        move |topology: &mut Topology| {
            topology.atoms[5].mass = 0.0;
            topology.virtual_sites.push(md::system::VirtualSite { site: 5, construction: construction.clone() });
        }
    };
    let average = site(Construction::Average2 { atoms: [4, 6], weights: [0.4, 0.6] });
    let message = refusal(&average, "prmtop");
    assert!(message.contains("virtual site 6 is not at the place of an extra point"), "{message}");
    let weights = vec![[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]];
    let frame = site(Construction::LocalFrame { atoms: vec![4, 6, 8], weights, position: [0.1, 0.0, 0.0] });
    let message = refusal(&frame, "top");
    assert!(message.contains("virtual site 6 lies in a local frame"), "{message}");

    let outside = |topology: &mut Topology| topology.bonded.angles[0].atoms[2] = 1_000_000;
    for ending in ["top", "prmtop"] {
        let message = refusal(&outside, ending);
        assert!(message.contains("refers to atom 1000001, but there are only 74"), "{message}");
    }

    peptide.cell_hint.kind = md::system::BoxKind::Rectangular;
    let message = again(&peptide, "prmtop").unwrap_err();
    assert!(message.contains("--coordinates"), "{message}");
    again(&peptide, "top").unwrap();
}
