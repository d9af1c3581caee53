//! Tests of the reference backend against OpenMM's double-precision Reference platform: every energy term and every
//! force.
#![allow(clippy::print_stderr, reason = "a skipped system says why, and the figures are worth seeing")]

mod golden;

use golden::Golden;
use md::backend::{Energies, Evaluation, Reference, Workload};
use md::system::{BondedTerms, Exclusions, G96Angle, G96Bond, RyckaertBellemans, Topology};
use md::vec3::{Vec3, rms};

/// Relative tolerance: the project's limit. md and OpenMM compute in f64 with the same α, grid and interpolation order.
/// The order of summation and the last digits of converted units (Å, kcal, AMBER's charge factor 18.2223) differ.
const TOLERANCE: f64 = 1e-7;
/// Absolute tolerance of energies in kJ/mol, for terms that vanish at their minimum. Such energies are sums of
/// differences of nearly equal numbers. The rounding error of a cosine or a distance, 10⁻¹⁶, is multiplied by force
/// constants of up to 5·10⁵ in a few thousand terms.
const FLOOR: f64 = 1e-12;
/// Relative tolerance of the dispersion correction with a type table. OpenMM's `CustomNonbondedForce` computes the
/// correction by numerical integration, which stops at a relative change of this order.
const NUMERICAL_TAIL: f64 = 1e-6;
/// Minimum RMS force in kJ/mol/nm to which force errors are relative. The minimum matters on a perfect lattice, where
/// forces cancel. The value is 10⁻³ of the force between two ions in contact.
const FORCE_FLOOR: f64 = 1.0;

fn evaluate(golden: &mut Golden, case: &str) -> Evaluation {
    golden.choose(case);
    let mut reference = Reference::new(&golden.system).expect("a supported system");
    let everything = Workload { energy: true, virial: true, ..Workload::FORCES };
    let mut found = reference.evaluate(golden.cell.as_ref(), &golden.positions, everything);
    golden::spread(&golden.system, &golden.positions, &mut found);
    found
}

/// Returns name, energy of md and energy of OpenMM (kJ/mol) for each term. The reference values `elec_*` and `lj_*`
/// include 1-4 pairs. With a type table, the part without 1-4 pairs is in `lj_nbfix`.
fn energies(golden: &Golden, case: &str, ours: &Evaluation) -> Vec<(&'static str, f64, f64)> {
    let their = |key| golden.number(case, key);
    let e = &ours.energies;
    vec![
        ("bond", e.bond, their("bond")),
        ("angle", e.angle, their("angle")),
        ("urey_bradley", e.urey_bradley, their("urey_bradley")),
        ("proper", e.proper, their("dihedral_proper")),
        ("improper", e.improper, their("dihedral_improper") + their("improper_harmonic")),
        ("cmap", e.cmap, their("cmap")),
        ("coulomb", e.coulomb, their("elec_total")),
        ("coulomb_14", e.coulomb_14, their("elec_14")),
        ("coulomb_direct", e.coulomb - e.coulomb_reciprocal, their("elec_direct")),
        ("coulomb_reciprocal", e.coulomb_reciprocal, their("elec_recip")),
        ("lj", e.lj, their("lj_with_dispcorr") + their("lj_nbfix")),
        ("lj_14", e.lj_14, their("lj_14")),
        ("dispersion", e.dispersion_correction, their("lj_dispersion_correction")),
        ("potential", e.potential(), their("total_with_dispcorr") + their("total")),
    ]
}

/// Compares the energies and forces of a system with OpenMM for all Coulomb settings, and reports all deviations
/// together.
fn compare(name: &str) {
    let mut golden = match Golden::load(name) {
        Ok(golden) => golden,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let mut failures = vec![];
    for case in golden.cases() {
        let ours = evaluate(&mut golden, &case);
        let mut worst = ("", 0.0);
        for (term, mine, theirs) in energies(&golden, &case, &ours) {
            let error = (mine - theirs).abs() / theirs.abs().max(FLOOR / TOLERANCE);
            if error > worst.1 {
                worst = (term, error);
            }
            let numerical_tail = term == "dispersion" && golden.number(&case, "lj_nbfix") != 0.0;
            if error > if numerical_tail { NUMERICAL_TAIL } else { TOLERANCE } {
                failures.push(format!("{name} {case} {term}: {mine} against {theirs} ({error:.1e})"));
            }
        }
        eprintln!("{name} {case}: largest energy error {:.1e} ({})", worst.1, worst.0);
        if let Some(theirs) = golden.forces(&case) {
            let scale = rms(theirs.iter().copied()).max(FORCE_FLOOR);
            let differences = || ours.forces.iter().zip(&theirs).map(|(a, b)| *a - *b);
            let (error, largest) =
                (rms(differences()) / scale, differences().map(|d| d.norm()).fold(0.0, f64::max) / scale);
            eprintln!("{name} {case}: forces off by {error:.1e} RMS, {largest:.1e} at most");
            if largest > TOLERANCE {
                failures.push(format!("{name} {case} forces: {error:.1e} RMS, {largest:.1e} at most"));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Defines a test for each system.
macro_rules! systems {
    ($($test:ident: $name:literal $(, $ignore:meta)?;)*) => {
        $(#[test] $(#[$ignore])? fn $test() { compare($name); })*
    };
}

systems! {
    alanine_dipeptide_in_vacuum: "ala2-vacuum";
    alanine_dipeptide_in_water: "ala2-explicit";
    argon: "argon";
    charmm_with_cmap: "charmm36-ala3";
    type_table: "ff14ipq";
    salt_crystal: "nacl-crystal";
    salt_off_the_lattice: "nacl-displaced";
    spce_water: "spce-3k";
    tip3p_water: "water-3k";
    truncated_octahedron: "tz2-truncoct";
    own_truncated_octahedron: "octahedron";
    four_site_water: "tip4pew";
    five_site_water: "tip5p";
    opc_water: "opc";
    opc3_water: "opc3";
    twelve_six_four_ions: "ions";
    more_four_site_water: "tip4pew-3k";
    dhfr: "dhfr";
    larger_water: "water-24k";
    atoms_47_thousand: "med47k", ignore = "minutes";
    atoms_89_thousand: "large89k", ignore = "minutes";
    atoms_155_thousand: "huge156k", ignore = "minutes, and 4 GB for a grid of 500³";
}

/// Systems with reference values for switched interactions, and the allowed relative error of their dispersion
/// correction. The systems have one kind of atom, a combination rule, and a type table without a rule.
const SWITCHED: [(&str, f64); 3] =
    [("argon", TOLERANCE), ("peptide-charged", TOLERANCE), ("peptide-nbfix", NUMERICAL_TAIL)];

#[test]
fn switched_interactions() {
    for (name, tail_tolerance) in SWITCHED {
        for kind in ["force-switch", "potential-switch"] {
            let mut golden = Golden::load(name).expect("an own system");
            let [energy, dispersion] = golden.switch(kind);
            let everything = Workload { energy: true, virial: true, ..Workload::FORCES };
            let mut reference = Reference::new(&golden.system).expect("a supported system");
            let ours = reference.evaluate(golden.cell.as_ref(), &golden.positions, everything);
            let (e, theirs) = (&ours.energies, golden.forces(kind).expect("forces"));
            let off = ((e.lj - e.dispersion_correction) / energy - 1.0).abs();
            let tail_off = (e.dispersion_correction / dispersion - 1.0).abs();
            let error = rms(ours.forces.iter().zip(&theirs).map(|(a, b)| *a - *b)) / rms(theirs.iter().copied());
            eprintln!("{name} {kind}: energy {off:.1e}, dispersion correction {tail_off:.1e}, forces {error:.1e}");
            assert!(off < TOLERANCE, "{name} {kind}: {} against {energy}", e.lj - e.dispersion_correction);
            assert!(tail_off < tail_tolerance, "{name} {kind}: {} against {dispersion}", e.dispersion_correction);
            assert!(error < TOLERANCE, "{name} {kind}: forces off by {error:.1e}");
        }
    }
}

/// Tests LJ-PME against OpenMM for one kind of atom, for a combination rule, and for another cell, with excluded and
/// 1-4 pairs.
#[test]
fn lennard_jones_by_pme() {
    for name in ["argon", "peptide-charged", "peptide-charmm36", "octahedron"] {
        let mut golden = Golden::load(name).expect("an own system");
        let energy = golden.lj_pme();
        let mut reference = Reference::new(&golden.system).expect("a supported system");
        let everything = Workload { energy: true, virial: true, ..Workload::FORCES };
        let ours = reference.evaluate(golden.cell.as_ref(), &golden.positions, everything);
        let theirs = golden.forces("lj-pme").expect("forces");
        let off = (ours.energies.lj / energy - 1.0).abs();
        let error = rms(ours.forces.iter().zip(&theirs).map(|(a, b)| *a - *b)) / rms(theirs.iter().copied());
        eprintln!("{name}: energy {off:.1e}, forces {error:.1e}");
        assert!(off < TOLERANCE, "{name}: {} against {energy}", ours.energies.lj);
        assert!(error < TOLERANCE, "{name}: forces off by {error:.1e}");
    }
}

/// Reference data of Ryckaert–Bellemans and Fourier torsions, written by `tests/systems/build/ryckaert_bellemans.py`.
#[derive(serde::Deserialize)]
struct Torsions {
    positions: Vec<[f64; 3]>,
    atoms: Vec<[u32; 4]>,
    coefficients: Vec<[f64; 6]>,
    fourier: Vec<[f64; 4]>,
    openmm: std::collections::HashMap<String, Expected>,
}

#[derive(serde::Deserialize)]
struct Expected {
    energy: f64,
    forces: Vec<[f64; 3]>,
}

/// Compares Ryckaert–Bellemans torsions with OpenMM's `RBTorsionForce`, and Fourier torsions with sums of
/// `PeriodicTorsionForce`.
#[test]
fn ryckaert_bellemans_and_fourier_torsions() {
    let text = include_str!("systems/ryckaert-bellemans.json");
    let file: Torsions = serde_json::from_str(text).expect("the file of the build script");
    let positions: Vec<Vec3> = file.positions.iter().map(|&r| r.into()).collect();
    let terms = |kind: &str| -> Vec<RyckaertBellemans> {
        let given = file.atoms.iter().zip(file.coefficients.iter().zip(&file.fourier));
        let term = |(&atoms, (&coefficients, &fourier)): (&[u32; 4], (&[f64; 6], &[f64; 4]))| match kind {
            "fourier" => RyckaertBellemans::fourier(atoms, fourier),
            _ => RyckaertBellemans { atoms, coefficients },
        };
        given.map(term).collect()
    };
    for (kind, expected) in &file.openmm {
        let bonded = BondedTerms { ryckaert_bellemans: terms(kind), ..BondedTerms::default() };
        agree_alone(kind, &positions, bonded, |energies| energies.ryckaert_bellemans, expected);
    }
    assert_eq!(file.openmm.len(), 2);
}

/// Compares energies and forces of one kind of bonded terms, for atoms without other interactions.
fn agree_alone(kind: &str, positions: &[Vec3], bonded: BondedTerms, energy: fn(&Energies) -> f64, expected: &Expected) {
    let mut system = Golden::load("peptide-vacuum").expect("a system of this repository").system;
    let count = positions.len() as u32;
    let all_pairs = (0..count).flat_map(|i| (i + 1..count).map(move |j| [i, j]));
    system.topology = Topology {
        atoms: vec![system.topology.atoms[0]; positions.len()],
        exclusions: Exclusions::from_pairs(positions.len(), all_pairs),
        bonded,
        ..Topology::default()
    };
    let everything = Workload { energy: true, virial: true, ..Workload::FORCES };
    let mut reference = Reference::new(&system).expect("a supported system");
    let ours = reference.evaluate(None, positions, everything);
    let found = energy(&ours.energies);
    let off = (found / expected.energy - 1.0).abs();
    assert!(off < TOLERANCE, "{kind}: {found} against {} kJ/mol", expected.energy);
    assert_eq!(ours.energies.potential(), found);
    let errors = ours.forces.iter().zip(&expected.forces).map(|(ours, &theirs)| *ours - Vec3::from(theirs));
    let error = rms(errors) / rms(ours.forces.iter().copied());
    eprintln!("{kind}: energy {off:.1e}, forces {error:.1e}");
    assert!(error < TOLERANCE, "{kind}: forces off by {error:e}");
}

/// Reference data of GROMOS-96 bonds and angles, written by `tests/systems/build/g96.py`. A term lists its atoms, its
/// equilibrium value and its force constant.
#[derive(serde::Deserialize)]
struct Gromos {
    positions: Vec<[f64; 3]>,
    bonds: Vec<(u32, u32, f64, f64)>,
    angles: Vec<(u32, u32, u32, f64, f64)>,
    openmm: std::collections::HashMap<String, Expected>,
}

/// Compares GROMOS-96 bonds and angles with OpenMM's `CustomBondForce` and `CustomAngleForce` with the same formulas.
#[test]
fn bonds_and_angles_of_gromos() {
    let file: Gromos = serde_json::from_str(include_str!("systems/g96.json")).expect("the file of the build script");
    let positions: Vec<Vec3> = file.positions.iter().map(|&r| r.into()).collect();
    let bond = |&(i, j, length, force_constant)| G96Bond { atoms: [i, j], length, force_constant };
    let angle = |&(i, j, k, angle, force_constant)| G96Angle { atoms: [i, j, k], angle, force_constant };
    let bonds = BondedTerms { g96_bonds: file.bonds.iter().map(bond).collect(), ..BondedTerms::default() };
    agree_alone("bonds", &positions, bonds, |energies| energies.bond, &file.openmm["bonds"]);
    let angles = BondedTerms { g96_angles: file.angles.iter().map(angle).collect(), ..BondedTerms::default() };
    agree_alone("angles", &positions, angles, |energies| energies.angle, &file.openmm["angles"]);
}
