//! Tests that compare a real GPU, if there is one, with the emulated device. `validation/gpu` has more tests.
//!
//! GPU and emulated device have different fused operations and different implementations of reciprocals. The limits are
//! those for interactions in `f32`, although the effect of these differences is smaller.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use super::{Gpu, check_driver};
use crate::backend::accuracy::{ENERGY, FORCE};
use crate::backend::cuda::Programs;
use crate::backend::cuda::tests::motion::coupled_steps;
use crate::backend::cuda::tests::refreshment::refreshed_steps;
use crate::backend::{Backend, Leapfrog, Workload};
use crate::system::State;
use crate::testing::{EVERYTHING, Sample};
use crate::vec3::rms;

const STEPS: usize = 20;
/// Names of sample systems, which together have every kind of term and cell, virtual sites, and ions without any bond.
const SYSTEMS: [&str; 10] = [
    "water",
    "tip4pew",
    "tip5p",
    "opc",
    "peptide-vacuum",
    "peptide-ff19sb",
    "peptide-charmm36",
    "peptide-nbfix",
    "octahedron",
    "salt-displaced",
];

/// Opens the GPU, or prints why no GPU can be used. Panics if there is a usable GPU that cannot be opened.
fn gpu() -> Option<Gpu> {
    super::find(0).map_err(|error| eprintln!("skipped: {error}")).ok()?;
    Some(Gpu::open(0, &Programs::default()).expect("a GPU with kernels"))
}

#[test]
fn drivers_that_are_too_old_are_refused() {
    let error = check_driver(Some(11060)).expect_err("no priorities in captured steps").to_string();
    assert!(error.contains("CUDA 11.6, but at least 11.7"), "{error}");
    for driver in [Some(11070), Some(13020), None] {
        check_driver(driver).expect("a driver that will do");
    }
}

#[test]
fn forces_are_those_of_the_emulated_device() {
    for name in SYSTEMS {
        let Some(gpu) = gpu() else { return };
        let sample = Sample::load(name);
        let (mut real, mut emulated) = (sample.on(gpu), sample.emulated(0));
        real.forces(EVERYTHING).expect("forces");
        emulated.forces(EVERYTHING).expect("forces");
        let (ours, theirs) = (real.evaluation(), emulated.evaluation());
        let error = rms(ours.forces.iter().zip(&theirs.forces).map(|(a, b)| *a - *b));
        assert!(error <= FORCE * rms(theirs.forces.iter().copied()), "{name}: forces off by {error} kJ/mol/nm");
        let largest = theirs.energies.named().fold(0f64, |most, (_, value)| most.max(value.abs()));
        for ((term, a), (_, b)) in ours.energies.named().zip(theirs.energies.named()) {
            assert!((a - b).abs() <= ENERGY * largest, "{name}: {term} {a} against {b}");
        }
    }
}

/// Returns the state after some steps. Without `sums` the steps are captured as a graph; with `sums` the steps compute
/// energies and virial.
fn steps_on(sample: &Sample, gpu: Gpu, sums: bool) -> State {
    let mut cuda = sample.on(gpu);
    for _ in 0..STEPS {
        cuda.forces(if sums { EVERYTHING } else { Workload::default() }).expect("forces");
        cuda.integrate(Leapfrog { timestep: 0.002, virial: sums, kinetic: sums, ..Leapfrog::default() }, None)
            .expect("a step");
    }
    let mut state = State::default();
    cuda.download(&mut state).expect("a state");
    state
}

#[test]
fn captured_steps_give_the_same_bits() {
    let sample = Sample::load("peptide-charged").rigid();
    let (Some(first), Some(second)) = (gpu(), gpu()) else { return };
    assert_eq!(steps_on(&sample, first, false), steps_on(&sample, second, false));
}

/// Tests that the kernels with and without sums of energies and virial, which are compiled separately, give bitwise
/// identical states.
#[test]
fn steps_with_energies_give_the_same_bits() {
    let sites = Sample::with_every_kind_of_site().rigid();
    for sample in [Sample::load("peptide-ff19sb").rigid(), Sample::load("peptide-charged").all_bonds(), sites] {
        let (Some(first), Some(second)) = (gpu(), gpu()) else { return };
        assert!(steps_on(&sample, first, false) == steps_on(&sample, second, true));
    }
}

/// Tests velocity refreshments in steps with and without output. GPU and emulated device use the same random numbers,
/// so their velocities differ only because their forces differ.
#[test]
fn renewed_velocities_are_those_of_the_emulated_device() {
    for sample in [Sample::load("opc").rigid(), Sample::load("peptide-charged").all_bonds()] {
        let (Some(first), Some(second)) = (gpu(), gpu()) else { return };
        let real = refreshed_steps(sample.on(first), false);
        assert!(real == refreshed_steps(sample.on(second), true));
        let emulated = refreshed_steps(sample.emulated(0), false);
        let pairs = real.velocities.iter().zip(&emulated.velocities);
        let off = rms(pairs.map(|(a, b)| *a - *b)) / rms(emulated.velocities.iter().copied());
        assert!(off < COUPLING, "velocities off by {off}");
    }
}

/// Largest difference between GPU and emulated device for forces that are accurate to [`FORCE`]: relative difference of
/// velocities and edge lengths, and difference of the work of couplings relative to the kinetic energy.
const COUPLING: f64 = 1e-4;

#[test]
fn couplings_are_those_of_the_emulated_device() {
    for name in ["peptide-charged", "peptide-vacuum"] {
        let sample = Sample::load(name).rigid();
        let (Some(first), Some(second)) = (gpu(), gpu()) else { return };
        let real = coupled_steps(sample.on(first));
        assert_eq!(real, coupled_steps(sample.on(second)));
        let emulated = coupled_steps(sample.emulated(0));
        let edge = |state: &State| state.cell.map_or(1.0, |cell| cell.rows()[0].x);
        assert!((edge(&real) / edge(&emulated) - 1.0).abs() < COUPLING);
        let masses = sample.system.topology.atoms.iter().map(|atom| atom.mass);
        let scale: f64 = masses.zip(&emulated.velocities).map(|(m, v)| 0.5 * m * v.norm_squared()).sum();
        let work = |state: &State| [state.coupling.thermostat_work, state.coupling.barostat_work];
        for (ours, theirs) in work(&real).into_iter().zip(work(&emulated)) {
            assert!((ours - theirs).abs() < COUPLING * scale, "work {ours} for {theirs} kJ/mol");
        }
    }
}
