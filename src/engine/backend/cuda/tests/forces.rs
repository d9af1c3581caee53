//! Tests that compare forces, energies and virials of an emulated device with the reference backend.

use crate::backend::accuracy::{ENERGY, FORCE, LATTICE_FORCE};
use crate::backend::cuda::{steps, sums};
use crate::backend::{Backend, Evaluation, Reference};
use crate::system::{DispersionCorrection, Electrostatics, LjModifier, PmeParameters, RyckaertBellemans, Torsion};
use crate::team::Team;
use crate::testing::{EVERYTHING, Sample};
use crate::vec3::{Mat3, rms};
use crate::virtual_sites::SitePlan;

/// Tolerance of the virial, a sum of positions of a few nm times forces that are accurate to [`FORCE`]. The value is
/// the same as in `tests/forces.rs`.
const VIRIAL: f64 = 2e-5;
/// Tolerance of the virial, relative to the direct and reciprocal parts of the Coulomb virial. The two parts nearly
/// cancel, and each part is accurate to a few times [`ENERGY`].
const VIRIAL_PARTS: f64 = 4e-6;

fn check_virial(ours: &Mat3, exact: &Evaluation, what: &str) {
    let scale = rms(exact.forces.iter().copied()) * (exact.forces.len() as f64).sqrt();
    let e = &exact.energies;
    let parts = e.coulomb_reciprocal.abs() + (e.coulomb - e.coulomb_reciprocal).abs();
    for row in 0..3 {
        for column in 0..3 {
            let (mine, theirs) = (ours.0[row][column], exact.virial.0[row][column]);
            let allowed = VIRIAL * (theirs.abs() + 10.0 * scale) + VIRIAL_PARTS * parts;
            assert!((mine - theirs).abs() <= allowed, "{what}: virial {row}{column} {mine} against {theirs}");
        }
    }
}

/// Compares forces, energies and virial of a system with those of the reference backend, with and without sums of
/// energies and virial, and with different orders of blocks and threads.
fn compare(sample: &Sample, what: &str) {
    let (system, state) = (&sample.system, &sample.state);
    let (mut sites, mut positions) = (SitePlan::new(&system.topology), state.positions.clone());
    sites.place(&Team::single(), &mut positions);
    let mut reference = Reference::new(system).expect("a supported system");
    let mut exact = reference.evaluate(state.cell.as_ref(), &positions, EVERYTHING);
    exact.virial += sites.spread(&Team::single(), &positions, &mut exact.forces);
    let mut cuda = sample.emulated(0);
    cuda.forces(EVERYTHING).expect("forces");
    let ours = cuda.evaluation().clone();
    let error = rms(ours.forces.iter().zip(&exact.forces).map(|(a, b)| *a - *b));
    let scale = rms(exact.forces.iter().copied());
    let total = exact.energies.magnitude();
    for ((name, mine), (_, theirs)) in ours.energies.named().zip(exact.energies.named()) {
        let off = (mine - theirs).abs() / total;
        assert!(off <= ENERGY, "{what}: {name} {mine} against {theirs}, {off:.1e} of all terms");
    }
    assert!(error <= (FORCE * scale).max(LATTICE_FORCE), "{what}: forces off by {:.1e}", error / scale);
    check_virial(&ours.virial, &exact, what);

    let mut quiet = vec![];
    steps::pack(&cuda.device, &cuda.arguments).expect("positions");
    steps::forces(&cuda.device, &cuda.arguments, cuda.rule, false).expect("forces");
    sums::forces(&cuda.device, &cuda.arguments, &mut quiet).expect("forces");
    assert!(quiet == ours.forces, "{what}: asking for energies changes forces");
    for order in 1..3 {
        let mut other = sample.emulated(order);
        other.forces(EVERYTHING).expect("forces");
        let other = other.evaluation();
        assert!(other.forces == ours.forces, "{what}: forces depend on the order of blocks and threads");
        assert!(other.energies == ours.energies && other.virial == ours.virial, "{what}: sums depend on the order");
    }
}

#[test]
fn water() {
    compare(&Sample::load("water"), "water");
}

/// Tests that excluded pairs of hydrogens and virtual sites, which are 0.087 nm apart, have accurate forces.
#[test]
fn a_longer_cutoff() {
    compare(&Sample::with_cutoff("tip4pew", 1.5), "four-site water with a cutoff of 1.5 nm");
}

#[test]
fn peptide_in_vacuum() {
    compare(&Sample::load("peptide-vacuum"), "peptide-vacuum");
}

#[test]
fn correction_maps() {
    compare(&Sample::load("peptide-ff19sb"), "peptide-ff19sb");
}

#[test]
fn urey_bradley_and_harmonic_impropers() {
    compare(&Sample::load("peptide-charmm36"), "peptide-charmm36");
}

#[test]
fn ryckaert_bellemans_torsions() {
    let mut sample = Sample::load("peptide-vacuum");
    let bonded = &mut sample.system.topology.bonded;
    let coefficients = [9.3, 12.2, -13.1, -3.1, 26.2, -31.5];
    let torsion = |torsion: &Torsion| RyckaertBellemans { atoms: torsion.atoms, coefficients };
    bonded.ryckaert_bellemans = bonded.propers.iter().map(torsion).collect();
    compare(&sample, "ryckaert-bellemans");
}

#[test]
fn type_table() {
    compare(&Sample::load("peptide-nbfix"), "peptide-nbfix");
}

#[test]
fn truncated_octahedron() {
    compare(&Sample::load("octahedron"), "octahedron");
}

#[test]
fn every_order_of_splines() {
    for order in [4, 6, 8] {
        let mut sample = Sample::load("salt-displaced");
        if let Electrostatics::Pme(parameters) = &mut sample.system.settings.electrostatics {
            parameters.order = order;
        }
        compare(&sample, &format!("order {order}"));
    }
}

#[test]
fn meshes_of_the_library() {
    let mut sample = Sample::load("salt-displaced");
    if let Electrostatics::Pme(parameters) = &mut sample.system.settings.electrostatics {
        parameters.grid = [22, 25, 27];
    }
    compare(&sample, "a mesh with a factor of 11 and odd rows");
}

#[test]
fn other_electrostatics_and_cutoffs() {
    let mut sample = Sample::load("peptide-charged");
    sample.system.settings.electrostatics = Electrostatics::ReactionField { permittivity: 78.0 };
    sample.system.settings.cutoff = Some(0.8);
    compare(&sample, "reaction field");
    sample.system.settings.electrostatics = Electrostatics::Off;
    sample.system.settings.lj_modifier = LjModifier::None;
    sample.system.settings.dispersion_correction = DispersionCorrection::Off;
    compare(&sample, "uncharged");
}

#[test]
fn virtual_sites() {
    for name in ["tip4pew", "tip5p", "opc"] {
        compare(&Sample::load(name), name);
    }
    compare(&Sample::with_every_kind_of_site(), "sites of every kind");
    compare(&Sample::with_sites_of_sites(), "sites of sites");
}

/// Tests a short cutoff, for which α is large. With a large α the energies of excluded pairs and of the mesh nearly
/// cancel, and their sum is a tenth of either energy.
#[test]
fn energies_that_cancel() {
    for name in ["water", "opc"] {
        let mut sample = Sample::load(name).rigid();
        sample.system.settings.cutoff = Some(0.8);
        let parameters = PmeParameters { alpha: 3.9, grid: [24, 24, 24], order: 5 };
        sample.system.settings.electrostatics = Electrostatics::Pme(parameters);
        compare(&sample, name);
    }
}

#[test]
fn geometric_rule() {
    compare(&Sample::load("argon"), "argon");
}

/// Tests each combination rule with each switch. The systems have 1-4 pairs, which are not switched, and a Coulomb
/// cutoff that is shorter than the Lennard-Jones cutoff.
#[test]
fn switched_interactions() {
    let switches = |from| [LjModifier::ForceSwitch { from }, LjModifier::PotentialSwitch { from }];
    for name in ["argon", "peptide-charmm36", "peptide-nbfix"] {
        for lj_modifier in switches(0.6) {
            let mut sample = Sample::load(name);
            sample.system.settings.lj_modifier = lj_modifier;
            compare(&sample, &format!("{name} with {lj_modifier:?}"));
        }
    }
    for lj_modifier in switches(0.85) {
        let mut sample = Sample::load("water");
        let settings = &mut sample.system.settings;
        (settings.lj_modifier, settings.cutoff, settings.electrostatics) =
            (lj_modifier, Some(0.7), Electrostatics::ReactionField { permittivity: 78.0 });
        compare(&sample, &format!("two cutoffs and {lj_modifier:?}"));
    }
}
