use super::*;
use crate::backend::{Backend, Energies, Host, Reference, Workload};
use crate::simd::Level;
use crate::system::System;
use crate::team::Team;
use crate::testing::Sample;

/// Positions for selections without distances.
const NOWHERE: Geometry<'static> = Geometry { positions: &[], cell: None };

/// Energies of a test system (kJ/mol) in double precision, before and after the interactions of the atoms selected by
/// `select` are scaled by `factor`.
fn energies(name: &str, select: &str, factor: f64) -> [Energies; 2] {
    let sample = Sample::load(name);
    let mut scaled = sample.system.clone();
    let solute = ScaledSolute { select: select.to_owned(), factor };
    solute.apply(&mut scaled.topology, &mut scaled.nonbonded, NOWHERE).unwrap();
    if factor == 1.0 {
        let same = |system: &System| postcard::to_allocvec(system).unwrap();
        assert!(same(&scaled) == same(&sample.system));
    }
    [&sample.system, &scaled].map(|system| {
        let reference = Reference::new(system).unwrap();
        let mut backend = Host::new(system, reference, Level::Portable, Team::single()).unwrap();
        backend.upload(&sample.state).unwrap();
        backend.forces(Workload { energy: true, ..Workload::FORCES }).unwrap();
        backend.evaluation().energies
    })
}

#[track_caller]
fn near(what: &str, found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= 1e-10 * scale.abs().max(1.0), "{what}: {found}, expected {expected}");
}

#[test]
fn a_molecule_by_itself_is_scaled_but_for_bonds_and_angles() {
    for (name, factor) in [("peptide-vacuum", 0.6), ("peptide-vacuum", 1.0)] {
        let [plain, scaled] = energies(name, "all", factor);
        for (term, before, after) in
            plain.named().zip(scaled.named()).map(|((term, before), (_, after))| (term, before, after))
        {
            let expected = match term {
                "bond" | "angle" | "urey_bradley" | "potential" => before,
                _ => factor * before,
            };
            if term != "potential" {
                near(term, after, expected, before);
            }
        }
        assert!(plain.proper != 0.0 && plain.improper != 0.0 && plain.coulomb_14 != 0.0 && plain.lj_14 != 0.0);
    }
}

/// The energy is U(λ) = λ A + √λ B + C. Energies at three factors λ determine A, B and C, and the energy at a fourth
/// factor must agree. C is the energy inside the solvent.
#[test]
fn energy_with_the_rest_goes_by_the_root() {
    let of = |factor: f64| {
        let [_, scaled] = energies("peptide-ff19sb", "not water", factor);
        [scaled.lj, scaled.coulomb, scaled.proper + scaled.cmap]
    };
    let (one, quarter, small) = (of(1.0), of(0.25), of(1.0 / 16.0));
    let probe = of(0.49);
    for (term, name) in ["Lennard-Jones", "Coulomb", "torsions"].into_iter().enumerate() {
        // energies A λ + B √λ + C at √λ = 1, ½ and ¼, whose differences determine A and B
        let (a, b) = (one[term] - quarter[term], quarter[term] - small[term]);
        let of_solute = (a - 2.0 * b) / (0.75 - 2.0 * 0.1875);
        let with_rest = 2.0 * (a - 0.75 * of_solute);
        let of_rest = one[term] - of_solute - with_rest;
        near(name, probe[term], 0.49 * of_solute + 0.7 * with_rest + of_rest, one[term]);
        assert!(of_solute.abs() > 1.0, "{name}: {of_solute}");
    }
}

#[test]
fn torsions_across_the_border_are_scaled_by_their_ends() {
    let sample = Sample::load("peptide-ff19sb");
    let solute = ScaledSolute { select: "resid 2".to_owned(), factor: 0.25 };
    let (mut topology, mut nonbonded) = (sample.system.topology.clone(), sample.system.nonbonded.clone());
    solute.apply(&mut topology, &mut nonbonded, NOWHERE).unwrap();
    let inside: Vec<bool> = {
        let atoms = crate::select::select(&topology, "resid 2").unwrap();
        (0..topology.atoms.len() as u32).map(|atom| atoms.contains(&atom)).collect()
    };
    let mut seen = [false; 3];
    for (before, after) in sample.system.topology.bonded.propers.iter().zip(&topology.bonded.propers) {
        let ends = usize::from(inside[before.atoms[0] as usize]) + usize::from(inside[before.atoms[3] as usize]);
        assert_eq!(after.force_constant, before.force_constant * [1.0, 0.5, 0.25][ends]);
        seen[ends] |= before.force_constant != 0.0;
    }
    assert_eq!(seen, [true; 3]);
    // the combination rule of the force field is still recognised
    assert_eq!(nonbonded.rule(), sample.system.nonbonded.rule());
    assert!(nonbonded.types > sample.system.nonbonded.types);
    let wrong = ScaledSolute { select: "resname NONE".to_owned(), factor: 0.5 };
    let error = wrong.apply(&mut topology, &mut nonbonded, NOWHERE).unwrap_err().to_string();
    assert!(error.contains("\"resname NONE\" selects no atom") || error.contains("scaled_solute.select"), "{error}");
}
