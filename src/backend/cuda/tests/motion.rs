//! Steps of an emulated device against those of the host with reference forces.

use super::sample::Sample;
use crate::backend::{Advance, Backend, Host, Kinetic, Moment, Reference, Workload};
use crate::ensemble::thermostat::{Rescaling, scaling_work};
use crate::simd::Level;
use crate::system::{Constraint, Constraints, State};
use crate::team::Team;
use crate::term::testing::random;
use crate::vec3::{Vec3, vec3};

const TIMESTEP: f64 = 0.002;
const STEPS: usize = 5;
/// Forces of 10³ kJ/mol/nm RMS are right to 2·10⁻⁵ of it, at worst ten times less so: dt²/m · 0.2 kJ/mol/nm is
/// 10⁻⁶ nm per step for hydrogen; over five steps this adds up to fifteen times as much at worst.
const POSITION: f64 = 1.5e-5;
/// Sums of squares of velocities that differ by as much per time step, relative to all.
const KINETIC: f64 = 1e-6;
/// Factors in `f64` on both sides, of velocities up to 100 nm/ps.
const FEW_ROUNDINGS: f64 = 1e-15;
/// Fixed distances hold to their tolerance on both sides; constraint forces are forces.
const VIRIAL: f64 = 1e-4;

fn advance(sums: bool) -> Advance {
    Advance { timestep: TIMESTEP, virial: sums, kinetic: sums, coupled: false }
}

fn state_of(backend: &impl Backend) -> State {
    let mut state = State::default();
    backend.download(&mut state).expect("a state");
    state
}

fn largest_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max)
}

fn host(sample: &Sample) -> Host<Reference> {
    let reference = Reference::new(&sample.system).expect("a supported system");
    let mut host = Host::new(&sample.system, reference, Level::Portable, Team::single()).expect("a supported system");
    host.upload(&sample.state).expect("a state");
    host.rebuild_pairs();
    host.prune_pairs();
    host
}

fn compare_steps(sample: &Sample) {
    let (mut cuda, mut host) = (sample.emulated(0), host(sample));
    for _ in 0..STEPS {
        for backend in [&mut cuda as &mut dyn Steps, &mut host] {
            backend.forces_now();
        }
        let (ours, theirs) = (cuda.advance(advance(true)).unwrap(), host.advance(advance(true)).unwrap());
        for (a, b) in [(ours.before, theirs.before), (ours.after, theirs.after)] {
            assert!((a / b - 1.0).abs() < KINETIC, "kinetic energy {a} against {b}");
        }
        let (a, b) = (ours.constraint_virial.trace(), theirs.constraint_virial.trace());
        assert!((a - b).abs() <= VIRIAL * (b.abs() + theirs.after), "virial of constraints {a} against {b}");
    }
    let (a, b) = (state_of(&cuda), state_of(&host));
    let off = largest_difference(&a.positions, &b.positions);
    assert!(off < POSITION, "positions differ by {off:e} nm");
    let (a, b) = (cuda.internal_kinetic_energy(), host.internal_kinetic_energy());
    assert!((a - b).abs() <= KINETIC * b.max(1.0), "inside groups {a} against {b}");
}

/// What both backends do here alike.
trait Steps {
    fn forces_now(&mut self);
}

impl<B: Backend> Steps for B {
    fn forces_now(&mut self) {
        self.forces(Workload { energy: true, virial: true }).expect("forces");
    }
}

#[test]
fn rigid_peptide_in_water() {
    compare_steps(&Sample::load("peptide-charged").rigid());
}

#[test]
fn flexible_water() {
    compare_steps(&Sample::load("water"));
}

#[test]
fn rigid_peptide_in_vacuum() {
    compare_steps(&Sample::load("peptide-vacuum").rigid());
}

/// Largest error of a fixed distance, relative: twice what the solver stops at, as that is half a squared length.
const DISTANCE: f64 = 2e-6;

/// Steps of chains, whose distances hold behind them.
fn compare_chains(sample: &Sample) {
    compare_steps(sample);
    let mut cuda = sample.emulated(0);
    for _ in 0..STEPS {
        cuda.forces(Workload::default()).unwrap();
        cuda.advance(advance(false)).unwrap();
    }
    let positions = state_of(&cuda).positions;
    let off = |c: &Constraint| {
        let bond = positions[c.atoms[1] as usize] - positions[c.atoms[0] as usize];
        (bond.norm_squared() / c.length.powi(2) - 1.0).abs()
    };
    let worst = sample.system.constraints.bonds.iter().map(off).fold(0.0, f64::max);
    assert!(worst <= DISTANCE, "a fixed distance is off by {worst:e}");
}

#[test]
fn peptide_of_fixed_bonds_in_water() {
    compare_chains(&Sample::load("peptide-charged").all_bonds());
}

#[test]
fn peptide_of_fixed_bonds_in_vacuum() {
    compare_chains(&Sample::load("peptide-vacuum").all_bonds());
}

#[test]
fn chain_longer_than_a_block_of_threads_has_bonds() {
    let mut sample = Sample::load("salt-displaced");
    let mut random = random(13);
    let mut component = || random.between(-0.5, 0.5);
    sample.state.velocities.iter_mut().for_each(|v| *v = vec3(component(), component(), component()));
    let positions = &sample.state.positions;
    let link = |atom: u32| {
        let length = (positions[atom as usize + 1] - positions[atom as usize]).norm();
        Constraint { atoms: [atom, atom + 1], length }
    };
    // a ring at its end
    let last = positions.len() as u32 - 1;
    let ring = Constraint {
        atoms: [last - 2, last],
        length: (positions[last as usize - 2] - positions[last as usize]).norm(),
    };
    let bonds = (0..last).map(link).chain([ring]).collect();
    compare_chains(&sample.constrained(Constraints { bonds, ..Constraints::default() }));
}

#[test]
fn waters_of_unequal_hydrogens_are_triangles() {
    let mut sample = Sample::load("water");
    for oxygen in (0..300).step_by(3) {
        sample.system.topology.atoms[oxygen + 1].mass = 2.014;
    }
    compare_chains(&sample.rigid());
}

#[test]
fn scaling_and_removal_of_motion() {
    for sample in [Sample::load("peptide-charged").rigid(), Sample::load("peptide-charged").all_bonds()] {
        compare_scaling(&sample);
    }
}

fn compare_scaling(sample: &Sample) {
    let (mut cuda, mut host) = (sample.emulated(0), host(sample));
    let both: [&mut dyn FnMut(); 2] = [
        &mut || {
            cuda.scale_cell(1.001).unwrap();
            cuda.scale_velocities(0.98);
            cuda.remove_motion();
        },
        &mut || {
            host.scale_cell(1.001).unwrap();
            host.scale_velocities(0.98);
            host.remove_motion();
        },
    ];
    both.into_iter().for_each(|work| work());
    let (a, b) = (state_of(&cuda), state_of(&host));
    // both are f64 throughout, and distances right to 10⁻⁶ of a bond
    assert!(largest_difference(&a.positions, &b.positions) < 1e-7);
    // momenta are summed as multiples of 2⁻²⁴
    assert!(largest_difference(&a.velocities, &b.velocities) < 1e-6);
    assert_eq!(a.cell, b.cell);
    let (a, b) = (cuda.strain(), host.strain());
    assert!((a.scale - b.scale).abs() < 1e-15 && (a.displacement - b.displacement).abs() < 1e-7);
    assert!((cuda.kinetic_energy() / host.kinetic_energy() - 1.0).abs() < 1e-6);
}

#[test]
fn coupling_on_the_device_is_that_of_the_host() {
    let sample = Sample::load("peptide-charged").rigid();
    let (mut quiet, mut looking) = (sample.emulated(0), sample.emulated(1));
    let rescaling = Rescaling { kept: 0.9, along: -0.3, across: 400.0 };
    let mut work = 0.0;
    for _ in 0..STEPS {
        quiet.forces(Workload::default()).unwrap();
        quiet.advance(Advance { coupled: true, ..advance(false) }).unwrap();
        quiet.couple(rescaling).unwrap();
        looking.forces_now();
        let Kinetic { before, after, .. } = looking.advance(Advance { coupled: true, ..advance(true) }).unwrap();
        let expected = rescaling.factor(0.5 * (before + after)).unwrap();
        let mut faster = state_of(&looking).velocities;
        faster.iter_mut().for_each(|v| *v = *v * expected);
        // what a barostat asks for in between leaves the energies of the move alone
        looking.internal_kinetic_energy();
        looking.couple(rescaling).unwrap();
        assert!(largest_difference(&state_of(&looking).velocities, &faster) <= FEW_ROUNDINGS * 100.0);
        work += scaling_work(after, expected);
        assert!((looking.thermostat_work().unwrap() - work).abs() <= FEW_ROUNDINGS * work.abs());
    }
    assert!(work.abs() > 1.0, "{work}");
    assert_eq!(state_of(&quiet), state_of(&looking));
    // work goes on from that of a state
    looking.upload(&state_of(&quiet)).unwrap();
    assert_eq!(looking.thermostat_work().unwrap(), quiet.thermostat_work().unwrap());
}

/// The state after steps that nothing is wanted of, by blocks and threads in some order.
fn quiet_steps(sample: &Sample, order: u32) -> State {
    let mut cuda = sample.emulated(order);
    for step in 0..2 * STEPS {
        if step == STEPS {
            cuda.rebuild_pairs();
            cuda.prune_pairs();
        }
        cuda.forces(Workload::default()).unwrap();
        cuda.advance(advance(false)).unwrap();
    }
    state_of(&cuda)
}

#[test]
fn quiet_steps_give_the_same_bits_in_any_order() {
    for sample in [Sample::load("peptide-charged").rigid(), Sample::load("peptide-vacuum").all_bonds()] {
        let first = quiet_steps(&sample, 0);
        assert!(first.positions != sample.state.positions);
        assert!((1..3).all(|order| quiet_steps(&sample, order) == first));
    }
}

#[test]
fn looking_does_not_change_the_way() {
    let sample = Sample::load("peptide-charged").rigid();
    let quiet = quiet_steps(&sample, 0);
    let mut cuda = sample.emulated(0);
    for step in 0..2 * STEPS {
        if step == STEPS {
            cuda.rebuild_pairs();
            cuda.prune_pairs();
        }
        cuda.forces_now();
        cuda.advance(advance(true)).unwrap();
    }
    assert_eq!(state_of(&cuda), quiet);
}

#[test]
fn lists_made_again_from_their_positions_go_on_alike() {
    let sample = Sample::load("water").rigid();
    let mut whole = sample.emulated(0);
    for _ in 0..STEPS {
        whole.forces(Workload::default()).unwrap();
        whole.advance(advance(false)).unwrap();
    }
    whole.prune_pairs();
    let (mut searched, mut pruned) = (State::default(), State::default());
    whole.list_positions(Moment::Search, &mut searched).unwrap();
    whole.list_positions(Moment::Prune, &mut pruned).unwrap();
    let mut again = sample.emulated(0);
    again.upload(&searched).unwrap();
    again.rebuild_pairs();
    again.upload(&pruned).unwrap();
    again.prune_pairs();
    again.upload(&state_of(&whole)).unwrap();
    for cuda in [&mut whole, &mut again] {
        for _ in 0..STEPS {
            cuda.forces(Workload::default()).unwrap();
            cuda.advance(advance(false)).unwrap();
        }
    }
    assert_eq!(state_of(&whole), state_of(&again));
}
