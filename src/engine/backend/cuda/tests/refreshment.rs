//! Tests that compare velocity refreshments on an emulated device with the host.

use super::motion::{DROPLET, advance, host, largest_difference, state_of};
use crate::backend::cuda::device::Device;
use crate::backend::cuda::emulator::{self, device::Emulated};
use crate::backend::cuda::{Cuda, refreshment};
use crate::backend::{Backend, Leapfrog, Workload};
use crate::context::Context;
use crate::ensemble::barostat::{BoxScaling, Relaxation};
use crate::ensemble::refreshment::{Refreshment, Renewal};
use crate::ensemble::rescaling::Bath;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::velocities::kinetic_energy;
use crate::pair::ListSchedule;
use crate::rng::{NORMALS, Purpose, RandomKey, indices_from, normals};
use crate::system::State;
use crate::testing::{EVERYTHING, Sample};
use smallvec::smallvec;

const STEPS: u64 = 5;
/// Tolerance of positions, nm, as in `motion`. Device and host use the same random numbers, so that only forces
/// differ.
const POSITION: f64 = 1.5e-5;
/// Tolerance of velocities: [`POSITION`] over half a time step, nm/ps.
const VELOCITY: f64 = POSITION / 0.001;
/// Tolerance of the work in each step, relative to the kinetic energy. The work is a sum of squared velocities, and
/// the errors of the velocities are [`VELOCITY`].
const WORK: f64 = 5e-6;

/// Returns a refreshment with a friction of 50/ps, which renews a large part of the velocities in five steps. Seed
/// and step are so large that both of their 32-bit words are used.
fn refreshed(step: u64) -> Refreshment {
    let bath = Bath { degrees_of_freedom: 0.0, temperature: 400.0, coupling_time: 0.02 };
    let key = RandomKey { seed: 7 | 3 << 40, step: (1 << 32) - 3 + step };
    Refreshment { renewals: smallvec![Renewal::langevin(bath, 0.002)], key }
}

fn leapfrog() -> Leapfrog {
    Leapfrog { coupled: true, refreshed: true, ..advance(false) }
}

#[test]
fn random_numbers_are_those_of_the_host() {
    for step in [0, 7, 1 << 40] {
        let seed = 12345u64 | step << 13;
        for first in (0..20_000u32).step_by(NORMALS) {
            let expected = normals(RandomKey { seed, step }, Purpose::Noise, indices_from(first));
            for lane in 0..NORMALS {
                let word = |number: u64, shift: u32| f64::from((number >> shift) as u32);
                let atom = f64::from(first + lane as u32);
                let input = [word(seed, 0), word(seed, 32), word(step, 0), word(step, 32), atom];
                let found: [f64; 3] = emulator::library().term("normals_f64", &input);
                assert_eq!(found, expected.map(|lanes| f64::from(lanes[lane])));
            }
        }
    }
}

fn compare(sample: &Sample) {
    let (mut cuda, mut host) = (sample.emulated(0), host(sample));
    for backend in [&mut cuda as &mut dyn Backend, &mut host] {
        for step in 0..STEPS {
            backend.forces(Workload::default()).unwrap();
            backend.integrate(leapfrog(), Some(&refreshed(step))).unwrap();
        }
    }
    let (a, b) = (state_of(&cuda), state_of(&host));
    assert!(largest_difference(&a.positions, &b.positions) < POSITION);
    assert!(largest_difference(&a.velocities, &b.velocities) < VELOCITY);
    let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
    let kinetic = kinetic_energy(&masses, &b.velocities);
    let (ours, theirs) = (a.coupling.thermostat_work, b.coupling.thermostat_work);
    assert!((ours - theirs).abs() < WORK * kinetic, "work {ours} for {theirs} at {kinetic}");
    assert!(theirs.abs() > 0.1 * kinetic, "a work of {theirs} at {kinetic} tells nothing");
}

#[test]
fn velocities_are_renewed_as_on_the_host() {
    compare(&Sample::load("peptide-charged").rigid());
    compare(&Sample::load("water"));
    compare(&Sample::load("tip4pew").rigid());
    compare(&Sample::load("peptide-charged").all_bonds());
}

/// Makes steps, with output if `look` is true. Every third step has no refreshment.
fn steps(cuda: &mut Cuda<impl Device>, range: std::ops::Range<u64>, look: bool) {
    for step in range {
        cuda.forces(if look { EVERYTHING } else { Workload::default() }).unwrap();
        let looked = Leapfrog { virial: look, kinetic: look, ..leapfrog() };
        if step % 3 == 2 {
            cuda.integrate(looked, None).unwrap();
        } else if look {
            cuda.integrate(looked, None).unwrap();
            cuda.change_velocities(&VelocityChange::Refresh(refreshed(step))).unwrap();
        } else {
            cuda.integrate(looked, Some(&refreshed(step))).unwrap();
        }
    }
}

/// Returns the state after the steps that [`steps`] makes.
pub(crate) fn refreshed_steps(mut cuda: Cuda<impl Device>, look: bool) -> State {
    steps(&mut cuda, 0..2 * STEPS, look);
    state_of(&cuda)
}

#[test]
fn refreshments_have_the_same_bits_in_any_order_looked_at_or_restarted() {
    for sample in [
        Sample::load("peptide-charged").rigid(),
        Sample::load("peptide-vacuum").all_bonds(),
        Sample::with_sites_of_sites().droplet(DROPLET).rigid(),
    ] {
        let first = refreshed_steps(sample.emulated(0), false);
        assert_eq!(refreshed_steps(sample.emulated(1), true), first);
        let mut again = sample.emulated(2);
        steps(&mut again, 0..STEPS, false);
        let middle = state_of(&again);
        again.upload(&middle).unwrap();
        steps(&mut again, STEPS..2 * STEPS, false);
        assert_eq!(state_of(&again), first);
    }
}

#[test]
fn the_device_goes_on_by_itself() {
    let mut cuda = Sample::load("water").rigid().emulated(0);
    let mut kernels = vec![];
    for step in 0..4 {
        let before = cuda.device().tally().kernels;
        cuda.forces(Workload::default()).unwrap();
        cuda.integrate(leapfrog(), Some(&refreshed(step))).unwrap();
        kernels.push(cuda.device().tally().kernels - before);
    }
    // in the first step separate kernels set the refreshment and pack positions; in later steps the integration packs
    // positions
    assert_eq!(kernels, [9, 7, 7, 7]);
}

#[test]
fn a_refreshment_follows_a_barostat_as_on_the_host() {
    for sample in [Sample::load("tip4pew").rigid(), Sample::load("peptide-charged").all_bonds()] {
        let (mut cuda, mut host) = (sample.emulated(0), host(&sample));
        let noise = 0.0025 * sample.state.cell.unwrap().volume().sqrt();
        let relaxation = Relaxation { rate: 1e-6, pressure: 0.06, thermal: 1.0, noise, stochastic: true };
        let virial = Workload { energy: false, virial: true, ..Workload::FORCES };
        for backend in [&mut cuda as &mut dyn Backend, &mut host] {
            for step in 0..STEPS {
                backend.forces(virial).unwrap();
                let pending_work = step > 0;
                backend.integrate(Leapfrog { pending_work, ..leapfrog() }, None).unwrap();
                backend.scale_box(BoxScaling::isotropic(relaxation)).unwrap();
                backend.change_velocities(&VelocityChange::Refresh(refreshed(step))).unwrap();
            }
        }
        let (a, b) = (state_of(&cuda), state_of(&host));
        let [edge, expected] = [a.cell, b.cell].map(|cell| cell.unwrap().rows()[0].x);
        let stretch = (edge / expected - 1.0).abs();
        assert!(stretch < 1e-6 && (expected / sample.state.cell.unwrap().rows()[0].x - 1.0).abs() > 1e-3);
        let size = b.positions.iter().fold(0.0f64, |most, r| most.max(r.norm()));
        assert!(largest_difference(&a.positions, &b.positions) < POSITION + stretch * size);
        let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let scale = kinetic_energy(&masses, &b.velocities) + host.evaluation().virial.trace().abs();
        assert!((a.coupling.thermostat_work - b.coupling.thermostat_work).abs() < WORK * scale);
        assert!((a.coupling.barostat_work - b.coupling.barostat_work).abs() < WORK * scale);
    }
}

/// Returns the state after steps in which lists expire by displacement, with or without a check in each step.
fn expiring(sample: &Sample, must_know: bool) -> (State, u64) {
    let schedule = ListSchedule::exact(0.93);
    let cuda = Cuda::new(&sample.system, Emulated::new(0), &schedule).unwrap();
    let mut context = Context::new(Box::new(cuda), schedule);
    context.set_state(&sample.state).unwrap();
    for step in 0..8 * STEPS {
        context.forces(Workload::default()).unwrap();
        context.integrate(leapfrog(), Some(&refreshed(step))).unwrap();
        if must_know {
            context.flush().unwrap();
        }
    }
    context.flush().unwrap();
    (state_of(context.backend()), context.backend().searches())
}

#[test]
fn replayed_steps_have_their_own_random_numbers() {
    let sample = Sample::load("water").droplet(DROPLET).rigid();
    let (late, searches) = expiring(&sample, false);
    assert!(searches > 2, "{searches}");
    assert_eq!(late, expiring(&sample, true).0);
}

#[test]
fn what_does_not_act_on_all_is_refused() {
    let bath = Bath { degrees_of_freedom: 0.0, temperature: 300.0, coupling_time: 1.0 };
    let langevin = Renewal::langevin(bath, 0.002);
    for renewals in [smallvec![Renewal::andersen(bath, 0.002)], smallvec![langevin, langevin]] {
        let refused = refreshment::on_device(&Refreshment { renewals, key: RandomKey { seed: 1, step: 2 } });
        assert!(refused.err().expect("no kernel").to_string().contains("does not support this kind of thermostat"));
    }
}
