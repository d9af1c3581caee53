//! Tests that compare integration on an emulated device with the host integrator with reference forces.

use crate::backend::cuda::Cuda;
use crate::backend::cuda::device::Device;
use crate::backend::{Backend, Host, Kinetic, Leapfrog, ListLevel, Reference, Workload};
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::{BoxScaling, PressureCoupling, Relaxation, directional_pressure};
use crate::ensemble::motion::{angular_velocity, weighted_mean};
use crate::ensemble::rescaling::{Rescaling, pending, pending_work, scaling_work};
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::velocities::kinetic_energy;
use crate::simd::Level;
use crate::system::{Constraint, Constraints, State};
use crate::team::Team;
use crate::term::testing::random;
use crate::testing::Sample;
use crate::vec3::{Vec3, vec3};
use crate::virtual_sites::SitePlan;

/// Radius (nm) of droplets of water for tests in which the number of molecules does not matter: about 70 molecules, so
/// that every kernel has several blocks of threads.
pub(super) const DROPLET: f64 = 0.8;
const TIMESTEP: f64 = 0.002;
const STEPS: usize = 5;
/// Tolerance of positions, nm. Forces have an RMS value of 10³ kJ/mol/nm, and their RMS error is 2·10⁻⁵ of this value.
/// The largest error is ten times the RMS error, 0.2 kJ/mol/nm. For hydrogen this error changes the position by dt²/m ·
/// 0.2 kJ/mol/nm = 10⁻⁶ nm per step. Over five steps the error grows at most to fifteen times 10⁻⁶ nm.
const POSITION: f64 = 1.5e-5;
/// Relative tolerance of sums of squared velocities. The velocities differ by at most [`POSITION`] divided by the time
/// step.
const KINETIC: f64 = 1e-6;
/// Relative tolerance of velocities up to 100 nm/ps that device and host multiply by factors in `f64`.
const FEW_ROUNDINGS: f64 = 1e-15;
/// Tolerance of the constraint virial. Device and host satisfy constraints to the same tolerance, and constraint
/// forces are as accurate as other forces.
const VIRIAL: f64 = 1e-4;

pub(super) fn advance(sums: bool) -> Leapfrog {
    Leapfrog { timestep: TIMESTEP, virial: sums, kinetic: sums, ..Leapfrog::default() }
}

pub(super) fn state_of(backend: &impl Backend) -> State {
    let mut state = State::default();
    backend.download(&mut state).expect("a state");
    state
}

pub(super) fn largest_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max)
}

pub(super) fn host(sample: &Sample) -> Host<Reference> {
    let reference = Reference::new(&sample.system).expect("a supported system");
    let mut host = Host::new(&sample.system, reference, Level::Portable, Team::single()).expect("a supported system");
    host.upload(&sample.state).expect("a state");
    host.build_lists().unwrap();
    host.prune_lists(0.0).unwrap();
    host
}

fn compare_steps(sample: &Sample) {
    let (mut cuda, mut host) = (sample.emulated(0), host(sample));
    for _ in 0..STEPS {
        for backend in [&mut cuda as &mut dyn Steps, &mut host] {
            backend.forces_now();
        }
        let (ours, theirs) =
            (cuda.integrate(advance(true), None).unwrap(), host.integrate(advance(true), None).unwrap());
        for (a, b) in [(ours.before, theirs.before), (ours.after, theirs.after)] {
            assert!((a / b - 1.0).abs() < KINETIC, "kinetic energy {a} against {b}");
        }
        let off = (ours.along - theirs.along).norm();
        assert!(off < KINETIC * theirs.along.norm(), "kinetic energies {:?} against {:?}", ours.along, theirs.along);
        let (a, b) = (ours.constraint_virial.trace(), theirs.constraint_virial.trace());
        assert!((a - b).abs() <= VIRIAL * (b.abs() + theirs.after), "virial of constraints {a} against {b}");
    }
    let (a, b) = (state_of(&cuda), state_of(&host));
    let off = largest_difference(&a.positions, &b.positions);
    assert!(off < POSITION, "positions differ by {off:e} nm");
}

#[test]
fn frozen_atoms_stay() {
    let mut sample = Sample::load("peptide-charged");
    let frozen = 10..30;
    for atom in frozen.clone() {
        (sample.system.topology.atoms[atom].mass, sample.state.velocities[atom]) = (0.0, Vec3::ZERO);
    }
    compare_steps(&sample);
    let mut cuda = sample.emulated(0);
    for _ in 0..STEPS {
        cuda.forces(Workload::FORCES).expect("forces");
        cuda.integrate(advance(false), None).expect("a step");
        cuda.rescale_velocities(Rescaling { kept: 0.9, along: 0.0, across: 1.0 }).expect("a factor");
        cuda.remove_com_motion(removed_motion(&sample)).expect("a mean");
    }
    let state = state_of(&cuda);
    assert!(state.positions[frozen.clone()] == sample.state.positions[frozen.clone()]);
    assert!(state.velocities[frozen].iter().all(|&velocity| velocity == Vec3::ZERO));
}

/// Operations that the tests call on both backends.
trait Steps {
    fn forces_now(&mut self);
}

impl<B: Backend> Steps for B {
    fn forces_now(&mut self) {
        self.forces(Workload { energy: true, virial: true, ..Workload::FORCES }).expect("forces");
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

#[test]
fn waters_with_virtual_sites() {
    for name in ["tip4pew", "tip5p"] {
        compare_steps(&Sample::load(name).rigid());
    }
    compare_steps(&Sample::with_every_kind_of_site().droplet(DROPLET).rigid());
    compare_steps(&Sample::with_sites_of_sites().droplet(DROPLET).rigid());
    compare_steps(&Sample::load("tip4pew").droplet(DROPLET).all_bonds());
}

/// Largest relative error of a squared constraint length. The limit is twice the tolerance of the solver, because the
/// solver compares half of this error with the tolerance.
const DISTANCE: f64 = 2e-6;

/// Compares steps with coupled constraints, and checks that the constraints are satisfied afterwards.
fn compare_chains(sample: &Sample) {
    compare_steps(sample);
    let mut cuda = sample.emulated(0);
    for _ in 0..STEPS {
        cuda.forces(Workload::default()).unwrap();
        cuda.integrate(advance(false), None).unwrap();
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
fn peptide_of_fixed_bonds_and_angles_with_hydrogen() {
    compare_chains(&Sample::load("peptide-vacuum").h_angles());
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
    // a constraint that closes a ring at the end of the chain
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
    let mut sample = Sample::load("water").droplet(DROPLET);
    for oxygen in (0..sample.state.positions.len() / 2).step_by(3) {
        sample.system.topology.atoms[oxygen + 1].mass = 2.014;
    }
    compare_chains(&sample.rigid());
}

/// Relative tolerance of lengths. The barostat computes scaling factors of about 1.005 from pressures. The
/// contributions to the pressure are accurate to [`VIRIAL`] and partly cancel, so that the pressure is a third of the
/// largest contribution.
const LENGTH: f64 = 3.0 * 5e-3 * VIRIAL;
/// Tolerance of work relative to the kinetic energy: twice the length error [`LENGTH`] times a virial.
const WORK: f64 = 2.0 * LENGTH;

#[test]
fn barostats_on_the_device_are_those_of_the_host() {
    use PressureCoupling::{Anisotropic, Isotropic, SemiIsotropic};
    for sample in [Sample::load("peptide-charged").rigid(), Sample::load("peptide-charged").all_bonds()] {
        compare_scaling(&sample, Isotropic, true);
        compare_scaling(&sample, SemiIsotropic, false);
        compare_scaling(&sample, Anisotropic, true);
    }
    compare_scaling(&Sample::load("water"), Isotropic, false);
    compare_scaling(&Sample::load("tip5p").rigid(), SemiIsotropic, true);
    compare_scaling(&Sample::load("octahedron"), Anisotropic, false);
}

/// Returns the motion of the whole system that no force changes.
fn removed_motion(sample: &Sample) -> RemovedMotion {
    if sample.state.cell.is_some() { RemovedMotion::Translation } else { RemovedMotion::TranslationAndRotation }
}

/// Makes a step with thermostat, barostat and removal of the center-of-mass motion, and one more step.
fn coupled_step(backend: &mut impl Backend, box_scaling: BoxScaling) {
    let has_cell = backend.cell().unwrap().is_some();
    let motion = if has_cell { RemovedMotion::Translation } else { RemovedMotion::TranslationAndRotation };
    let virial = Workload { energy: false, virial: true, ..Workload::FORCES };
    backend.forces(virial).unwrap();
    backend.integrate(Leapfrog { coupled: true, ..advance(false) }, None).unwrap();
    backend.scale_box(box_scaling).unwrap();
    backend
        .change_velocities(&VelocityChange::Rescale(smallvec::smallvec![Rescaling {
            kept: 0.9,
            along: -0.3,
            across: 400.0
        }]))
        .unwrap();
    backend.remove_com_motion(motion).unwrap();
    backend.forces(virial).unwrap();
    backend.integrate(Leapfrog { pending_work: true, ..advance(false) }, None).unwrap();
}

/// Surface tension of the xy plane, kJ/mol/nm².
const TENSION: f64 = 20.0;

fn compare_scaling(sample: &Sample, coupling: PressureCoupling, stochastic: bool) {
    let (mut cuda, mut host) = (sample.emulated(0), host(sample));
    let cell = sample.state.cell.unwrap();
    // the measured pressure changes the relative extents of the cell by up to 0.001; the noise changes each extent by
    // more, and by a different amount
    let mut probe = self::host(sample);
    probe.forces_now();
    let Kinetic { along, constraint_virial, .. } = probe.integrate(advance(true), None).unwrap();
    let virial = (probe.evaluation().virial + constraint_virial).diagonal();
    let measured = directional_pressure(along, virial, cell.volume()).map(f64::abs);
    let rate = 0.001 / (measured.x.max(measured.y).max(measured.z) + TENSION);
    let noise = 0.005 * cell.volume().sqrt();
    let extent = |share: f64| Relaxation { rate, pressure: 0.0, thermal: 1.0, noise: noise * share, stochastic };
    let relaxations = [1.0, 0.7, 1.6].map(extent);
    let box_scaling = BoxScaling { coupling, relaxations, surface_tension: TENSION };
    coupled_step(&mut cuda, box_scaling);
    coupled_step(&mut host, box_scaling);
    let (a, b) = (state_of(&cuda), state_of(&host));
    let growth = (b.cell.unwrap().stretch_since(&cell) - Vec3::splat(1.0)).norm();
    assert!((1e-3..0.1).contains(&growth), "the cell grows by {growth}");
    let stretch = a.cell.unwrap().stretch_since(&b.cell.unwrap()) - Vec3::splat(1.0);
    assert!(stretch.norm() < LENGTH, "edges differ by factors of 1 + {stretch:?}");
    let size = b.positions.iter().fold(0.0f64, |most, r| most.max(r.norm()));
    assert!(largest_difference(&a.positions, &b.positions) < POSITION + LENGTH * size);
    let (ours, theirs) = (a.coupling, b.coupling);
    let scale = host.evaluation().virial.trace().abs() + kinetic_energy(&masses(sample), &b.velocities);
    for (ours, theirs) in [(ours.thermostat_work, theirs.thermostat_work), (ours.barostat_work, theirs.barostat_work)] {
        assert!((ours - theirs).abs() < WORK * scale, "work {ours} for {theirs}, {scale}");
    }
    let work = theirs.barostat_work.abs();
    assert!(work > 10.0 * WORK * scale, "a work of {work} kJ/mol in {scale} tells nothing");
    assert_eq!((ours.pending_scaling, theirs.pending_scaling), (Vec3::ZERO, Vec3::ZERO));
    assert!(ours.pending_rescaling.is_empty() && theirs.pending_rescaling.is_empty());
}

/// Returns the state after steps with all couplings and without output.
pub(crate) fn coupled_steps(mut cuda: Cuda<impl Device>) -> State {
    let box_scaling =
        BoxScaling::isotropic(Relaxation { rate: 1e-6, pressure: 0.06, thermal: 1.0, noise: 0.01, stochastic: true });
    for _ in 0..2 {
        coupled_step(&mut cuda, box_scaling);
    }
    state_of(&cuda)
}

#[test]
fn couplings_give_the_same_bits_in_any_order() {
    for sample in [Sample::load("peptide-charged").rigid(), Sample::load("peptide-vacuum").all_bonds()] {
        let first = coupled_steps(sample.emulated(0));
        assert!((1..3).all(|order| coupled_steps(sample.emulated(order)) == first));
        assert!(first.coupling.thermostat_work != 0.0);
        assert_eq!(first.coupling.barostat_work != 0.0, sample.state.cell.is_some());
    }
}

fn masses(sample: &Sample) -> Vec<f64> {
    sample.system.topology.atoms.iter().map(|atom| atom.mass).collect()
}

#[test]
fn the_whole_comes_to_rest() {
    for name in ["peptide-charged", "peptide-vacuum", "tip4pew"] {
        let mut sample = Sample::load(name);
        let mut random = random(14);
        let mut component = || random.between(0.0, 1.0);
        sample.state.velocities.iter_mut().for_each(|v| *v = vec3(component(), component(), component()));
        let masses = masses(&sample);
        let before = kinetic_energy(&masses, &sample.state.velocities);
        for motion in [RemovedMotion::Translation, RemovedMotion::TranslationAndRotation] {
            let (mut cuda, mut host) = (sample.emulated(0), host(&sample));
            if motion == RemovedMotion::TranslationAndRotation && sample.state.cell.is_some() {
                continue;
            }
            cuda.remove_com_motion(motion).unwrap();
            host.remove_com_motion(motion).unwrap();
            let (a, b) = (state_of(&cuda), state_of(&host));
            // momenta are summed as multiples of 2⁻²⁴ amu nm/ps if only the translation is removed, and otherwise in
            // `f64`
            let allowed = if motion == RemovedMotion::Translation { 1e-6 } else { 1e-12 };
            assert!(largest_difference(&a.velocities, &b.velocities) < allowed);
            assert!(largest_difference(&a.velocities, &sample.state.velocities) > 0.1);
            // the work is the change of the kinetic energy; the velocities before are below 2 nm/ps
            for state in [a, b] {
                let change = kinetic_energy(&masses, &state.velocities) - before;
                let off = (state.coupling.thermostat_work - change).abs();
                assert!(off < 2.0 * allowed * masses.iter().sum::<f64>(), "{name}: {off} of {change} kJ/mol");
                assert!(change < -0.3 * before, "{name}: a change of {change} kJ/mol is too small for this test");
            }
        }
    }
}

#[test]
fn without_a_cell_the_translation_can_be_removed_alone() {
    let mut sample = Sample::load("peptide-vacuum");
    let omega = vec3(0.3, -0.2, 0.9);
    let turning = sample.state.positions.iter().map(|r| omega.cross(*r)).collect();
    sample.state.velocities = turning;
    let (masses, positions) = (masses(&sample), &sample.state.positions);
    for motion in [RemovedMotion::Translation, RemovedMotion::TranslationAndRotation] {
        let (mut cuda, mut host) = (sample.emulated(0), host(&sample));
        cuda.remove_com_motion(motion).unwrap();
        host.remove_com_motion(motion).unwrap();
        let kept = if motion == RemovedMotion::Translation { omega } else { Vec3::ZERO };
        for state in [state_of(&cuda), state_of(&host)] {
            assert!((angular_velocity(&masses, positions, &state.velocities) - kept).norm() < 1e-6, "{motion:?}");
            assert!(weighted_mean(&masses, &state.velocities).norm() < 1e-6, "{motion:?}");
        }
    }
}

#[test]
fn coupling_on_the_device_is_that_of_the_host() {
    let sample = Sample::load("peptide-charged").rigid();
    let (mut quiet, mut looking) = (sample.emulated(0), sample.emulated(1));
    let rescaling = Rescaling { kept: 0.9, along: -0.3, across: 400.0 };
    let (mut work, mut left) = (0.0, 0.0);
    for step in 0..STEPS {
        quiet.forces(Workload::default()).unwrap();
        quiet.integrate(Leapfrog { coupled: true, pending_work: step > 0, ..advance(false) }, None).unwrap();
        quiet.rescale_velocities(rescaling).unwrap();
        looking.forces_now();
        let scaled = state_of(&looking).velocities;
        let forces = looking.evaluation().forces.clone();
        let this = Leapfrog { coupled: true, pending_work: step > 0, ..advance(true) };
        let Kinetic { after, .. } = looking.integrate(this, None).unwrap();
        let moved = state_of(&looking).velocities;
        let by_forces: f64 = TIMESTEP * scaled.iter().zip(&forces).map(|(v, f)| v.dot(*f)).sum::<f64>();
        let changes = scaled.iter().zip(&moved).zip(masses(&sample)).map(|((v, w), m)| m * v.dot(*w - *v));
        work += pending_work(left, by_forces, changes.sum::<f64>() - by_forces);
        let expected = rescaling.factor(after).unwrap();
        left = pending(expected);
        let mut faster = state_of(&looking).velocities;
        faster.iter_mut().for_each(|v| *v = *v * expected);
        looking.rescale_velocities(rescaling).unwrap();
        assert!(largest_difference(&state_of(&looking).velocities, &faster) <= FEW_ROUNDINGS * 100.0);
        work += scaling_work(after, expected);
        assert!((looking.coupling().unwrap().thermostat_work - work).abs() <= FEW_ROUNDINGS * work.abs() + SUMMED);
    }
    assert!(work.abs() > 1.0, "{work}");
    assert_eq!(state_of(&quiet), state_of(&looking));
    // after the upload of a state, the work of the couplings continues from the value in that state
    looking.upload(&state_of(&quiet)).unwrap();
    assert_eq!(looking.coupling().unwrap(), quiet.coupling().unwrap());
}

/// Rounding error (kJ/mol) of the work over five steps. In each step about fifty warps add energies as multiples of
/// 2⁻²⁴ kJ/mol, and the work is about a tenth of these energies.
const SUMMED: f64 = 5.0 * 0.1 * 50.0 * 6e-8;

/// Returns the state after steps without output. `order` is the order in which the emulator executes blocks and
/// threads.
fn quiet_steps(sample: &Sample, order: u32) -> State {
    let mut cuda = sample.emulated(order);
    for step in 0..2 * STEPS {
        if step == STEPS {
            cuda.build_lists().unwrap();
            cuda.prune_lists(0.0).unwrap();
        }
        cuda.forces(Workload::default()).unwrap();
        cuda.integrate(advance(false), None).unwrap();
    }
    state_of(&cuda)
}

#[test]
fn quiet_steps_give_the_same_bits_in_any_order() {
    let sites = Sample::with_sites_of_sites().droplet(DROPLET).rigid();
    for sample in [Sample::load("peptide-charged").rigid(), Sample::load("peptide-vacuum").all_bonds(), sites] {
        let first = quiet_steps(&sample, 0);
        assert!(first.positions != sample.state.positions);
        assert!((1..3).all(|order| quiet_steps(&sample, order) == first));
    }
}

#[test]
fn looking_does_not_change_the_way() {
    for sample in [Sample::load("peptide-charged").rigid(), Sample::with_every_kind_of_site().droplet(DROPLET).rigid()]
    {
        let quiet = quiet_steps(&sample, 0);
        let mut cuda = sample.emulated(0);
        for step in 0..2 * STEPS {
            if step == STEPS {
                cuda.build_lists().unwrap();
                cuda.prune_lists(0.0).unwrap();
            }
            cuda.forces_now();
            cuda.integrate(advance(true), None).unwrap();
        }
        assert_eq!(state_of(&cuda), quiet);
    }
}

/// Time for which positions are predicted, ps.
const LOOKAHEAD: f64 = 0.004;

#[test]
fn lists_are_pruned_for_where_sites_will_be() {
    let mut sample = Sample::with_sites_of_sites().rigid();
    sample.state.velocities.iter_mut().for_each(|v| *v += vec3(1.0, 2.0, -1.0));
    let mut cuda = sample.emulated(0);
    cuda.prune_lists(LOOKAHEAD).unwrap();
    let mut pruned = State::default();
    cuda.list_positions(ListLevel::Inner, &mut pruned).unwrap();
    let topology = &sample.system.topology;
    let flight = |(r, v): (&Vec3, &Vec3)| *r + *v * LOOKAHEAD;
    let mut expected: Vec<Vec3> = sample.state.positions.iter().zip(&sample.state.velocities).map(flight).collect();
    SitePlan::new(topology).place(&Team::single(), &mut expected);
    assert!(largest_difference(&pruned.positions, &expected) < 1e-12);
    // pruning does not predict positions of virtual sites
    let mut now = sample.state.positions.clone();
    SitePlan::new(topology).place(&Team::single(), &mut now);
    assert!(largest_difference(&state_of(&cuda).positions, &now) < 1e-12);
    assert!(largest_difference(cuda.previous_positions().1, &now) < 1e-12);
}

#[test]
fn lists_made_again_from_their_positions_go_on_alike() {
    let sample = Sample::load("water").rigid();
    let mut whole = sample.emulated(0);
    for _ in 0..STEPS {
        whole.forces(Workload::default()).unwrap();
        whole.integrate(advance(false), None).unwrap();
    }
    whole.prune_lists(LOOKAHEAD).unwrap();
    let (mut searched, mut pruned) = (State::default(), State::default());
    whole.list_positions(ListLevel::Outer, &mut searched).unwrap();
    whole.list_positions(ListLevel::Inner, &mut pruned).unwrap();
    let now = state_of(&whole);
    for ((predicted, r), v) in pruned.positions.iter().zip(&now.positions).zip(&now.velocities) {
        assert!((*predicted - *r - *v * LOOKAHEAD).norm() < 1e-12);
    }
    let mut again = sample.emulated(0);
    again.upload(&searched).unwrap();
    again.build_lists().unwrap();
    again.upload(&pruned).unwrap();
    again.prune_lists(0.0).unwrap();
    again.upload(&state_of(&whole)).unwrap();
    for cuda in [&mut whole, &mut again] {
        for _ in 0..STEPS {
            cuda.forces(Workload::default()).unwrap();
            cuda.integrate(advance(false), None).unwrap();
        }
    }
    assert_eq!(state_of(&whole), state_of(&again));
}
