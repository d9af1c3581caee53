//! Tests of multiple time steps. Steps of the engine are compared with steps of a simple leapfrog integrator that is
//! written in this file. Other tests cover conservation of energy, the pressure, and bitwise equality after a restart.

use super::*;
use crate::backend::{Cpu, CpuOptions, Distribution, Evaluation, ForceField, Host, Reference};
use crate::cell::PeriodicCell;
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::ThermostatKind;
use crate::ensemble::velocities::maxwell_boltzmann;
use crate::pme::{MeshPotential, ReferencePme};
use crate::run::dynamics::simulation::ideal_gas::gas;
use crate::run::dynamics::simulation::refreshment::{MASS, atoms, start};
use crate::run::plan::{Dynamics, Velocities};
use crate::simd::Level;
use crate::system::{Constraints, DispersionCorrection, Electrostatics, PmeParameters, System};
use crate::team::Team;
use crate::testing::Sample;
use crate::vec3::vec3;

const TIMESTEP: f64 = 0.002;

fn nve(every: Option<u32>) -> Dynamics {
    let multiple_time_steps = every.map(|every| MultipleTimeSteps { every });
    let velocities = Velocities::File;
    Dynamics { timestep: TIMESTEP, velocities, com_removal: None, multiple_time_steps, ..Dynamics::default() }
}

/// Creates a simulation with the force field `field`, from a state of a sample.
fn simulation<'a, F: ForceField>(sample: &Sample, field: F, dynamics: &'a Dynamics) -> Simulation<'a, Host<F>> {
    tests::simulation(sample, Host::new(&sample.system, field, Level::detect(), Team::single()).unwrap(), dynamics)
}

fn cpu(sample: &Sample) -> Cpu {
    let options = CpuOptions { parts: 1, level: Level::detect(), schedule: sample.schedule() };
    Cpu::new(&sample.system, options, Team::single()).unwrap()
}

fn reference(sample: &Sample) -> Reference {
    Reference::new(&sample.system).unwrap()
}

fn state_of<F: ForceField>(simulation: &Simulation<'_, Host<F>>) -> State {
    let mut state = State::default();
    simulation.download(&mut state).unwrap();
    state
}

/// Compares steps with an impulse at every third step with the steps of a leapfrog integrator that is written in this
/// function. The CPU backend and the reference backend do the compared steps. The impulses include the forces of all
/// PME grids of the sample.
fn compare_steps(sample: &Sample) {
    const EVERY: u64 = 3;
    let (system, cell) = (&sample.system, sample.state.cell.unwrap());
    let Electrostatics::Pme(pme) = system.settings.electrostatics else { panic!("the sample has PME") };
    let atoms = &system.topology.atoms;
    let charges: Vec<f64> = atoms.iter().map(|atom| atom.charge).collect();
    let roots: Vec<f64> = atoms.iter().map(|atom| system.nonbonded.root_c6(atom.lj_type)).collect();
    let lj_mesh = system.settings.lj_pme().map(|pme| (ReferencePme::new(pme, MeshPotential::Dispersion), &roots));
    let coulomb = (ReferencePme::new(pme, MeshPotential::Coulomb), &charges);
    let (mut all, mut meshes) = (reference(sample), [Some(coulomb), lj_mesh]);
    let State { mut positions, mut velocities, .. } = sample.state.clone();
    for step in 0..7 {
        let total = all.evaluate(Some(&cell), &positions, Workload::FORCES).forces;
        let mut slow = vec![Vec3::ZERO; positions.len()];
        for (mesh, charges) in meshes.iter_mut().flatten() {
            mesh.evaluate(&cell, &positions, charges, &mut slow);
        }
        let weight = if step % EVERY == 0 { EVERY as f64 } else { 0.0 };
        for (atom, (r, v)) in positions.iter_mut().zip(&mut velocities).enumerate() {
            let force = total[atom] - slow[atom] + slow[atom] * weight;
            *v += force * (TIMESTEP / atoms[atom].mass);
            *r += *v * TIMESTEP;
        }
    }
    let dynamics = nve(Some(EVERY as u32));
    // relative error of the change of the velocities. For interactions in single precision, the allowed error follows
    // from the limit of 2·10⁻⁵ for forces
    let far = |found: &State| {
        let pairs = found.velocities.iter().zip(&velocities).zip(&sample.state.velocities);
        let [off, change] = pairs.fold([0.0, 0.0], |[off, change], ((found, expected), before)| {
            [off + (*found - *expected).norm_squared(), change + (*expected - *before).norm_squared()]
        });
        (off / change).sqrt()
    };
    let mut double = simulation(sample, reference(sample), &dynamics);
    let mut mixed = simulation(sample, cpu(sample), &dynamics);
    for _ in 0..7 {
        double.step(Wanted::default(), |_| Ok(())).unwrap();
        mixed.step(Wanted::default(), |_| Ok(())).unwrap();
    }
    let [double, mixed] = [far(&state_of(&double)), far(&state_of(&mixed))];
    assert!(double < 1e-11 && mixed < 1e-4, "{double:e}, {mixed:e}");
}

#[test]
fn steps_are_those_of_the_formula() {
    compare_steps(&Sample::load("peptide-charged"));
}

#[test]
fn the_mesh_of_lj_pme_belongs_to_the_impulses() {
    let mut sample = Sample::load("peptide-charged");
    let Electrostatics::Pme(pme) = sample.system.settings.electrostatics else { panic!("the sample has PME") };
    sample.system.settings.dispersion_correction = DispersionCorrection::Pme(PmeParameters { alpha: 3.0, ..pme });
    compare_steps(&sample);
}

/// Two springs from each atom to the origin. The softer spring stands for the reciprocal-space forces, and its force
/// is applied as an impulse.
struct Springs {
    /// angular frequency that an atom would have on the softer spring alone, 1/ps
    slow: f64,
}

impl Springs {
    /// Angular frequency that an atom would have on the stiffer spring alone, 1/ps.
    const FAST: f64 = 40.0;
}

impl Distribution for Springs {}

impl ForceField for Springs {
    fn description(&self) -> String {
        "springs".into()
    }
    fn evaluate(&mut self, _: Option<&PeriodicCell>, r: &[Vec3], work: Workload, out: &mut Evaluation) -> Result<()> {
        let [fast, slow] = [Self::FAST, self.slow].map(|frequency| MASS * frequency * frequency);
        let spring = |k: f64| r.iter().map(move |r| *r * -k);
        *out = Evaluation { forces: spring(fast).collect(), ..Evaluation::default() };
        out.energies.external = r.iter().map(|r| 0.5 * fast * r.norm_squared()).sum();
        if work.long_range != LongRange::Skipped {
            out.impulse.forces = spring(slow).collect();
            out.energies.coulomb = r.iter().map(|r| 0.5 * slow * r.norm_squared()).sum();
        }
        Ok(())
    }
}

/// Returns two values for an atom on two springs. The first value is the RMS fluctuation of the conserved energy at the
/// steps with impulses. The second value is the change of the mean conserved energy from the first to the second half
/// of the run. The fluctuation and the change are relative to the mean energy.
fn fluctuation(every: u32, timestep: f64) -> [f64; 2] {
    let (system, state) = atoms(1, vec3(1.0, -0.5, 0.7));
    let dynamics = Dynamics { timestep, ..nve(Some(every)) };
    let mut simulation = start(&system, Springs { slow: 11.0 }, &dynamics, &state);
    let steps = (20.0 / timestep) as u64;
    let mut found = vec![];
    for step in 0..steps {
        let energies = step.is_multiple_of(u64::from(every));
        let now = simulation.step(Wanted { energies }, |_| Ok(())).unwrap();
        found.extend(energies.then_some(now.conserved));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (all, halves) = (mean(&found), found.split_at(found.len() / 2));
    let variance = mean(&found.iter().map(|value| (value - all).powi(2)).collect::<Vec<_>>());
    [variance.sqrt() / all, (mean(halves.1) - mean(halves.0)) / all]
}

#[test]
fn the_energy_fluctuates_by_the_square_of_the_time_step_and_does_not_drift() {
    for every in [2, 3, 4] {
        let [[coarse, drift], [fine, _]] = [fluctuation(every, 0.002), fluctuation(every, 0.001)];
        // the fluctuation grows with the square of the time step. The fluctuation comes from the leading term of the
        // shadow energy. With n steps between impulses and the angular frequency ω, the next term is smaller by the
        // factor (n ω dt)², which is about 0.01
        assert!((coarse / fine - 4.0).abs() < 0.2, "{every}: {coarse:e} and {fine:e}");
        // the mean energies of the first and of the second half differ a little, because half of the run is not a whole
        // number of periods
        assert!(drift.abs() < 0.1 * coarse, "{every}: {drift:e} of {coarse:e}");
    }
}

/// Returns the slope of the conserved energy of water (kJ/mol/ps per atom), the standard error of the slope for
/// independent samples, and the RMS fluctuation (kJ/mol per atom).
fn drift(sample: &Sample, every: Option<u32>) -> [f64; 3] {
    const STEPS: u64 = 500;
    let dynamics = nve(every);
    let mut simulation = simulation(sample, cpu(sample), &dynamics);
    let mut found = vec![];
    for step in 0..STEPS {
        let energies = step.is_multiple_of(2);
        let now = simulation.step(Wanted { energies }, |_| Ok(())).unwrap();
        found.extend(energies.then_some((step as f64 * TIMESTEP, now.conserved)));
    }
    let (n, atoms) = (found.len() as f64, sample.system.topology.atoms.len() as f64);
    let [time, energy] = found.iter().fold([0.0; 2], |[a, b], (t, e)| [a + t / n, b + e / n]);
    let covariance: f64 = found.iter().map(|(t, e)| (t - time) * (e - energy)).sum();
    let square: f64 = found.iter().map(|(t, _)| (t - time).powi(2)).sum();
    let slope = covariance / square;
    let rest: f64 = found.iter().map(|(t, e)| (e - energy - slope * (t - time)).powi(2)).sum();
    [slope / atoms, (rest / n / square).sqrt() / atoms, (rest / n).sqrt() / atoms]
}

#[test]
fn water_keeps_its_energy_with_impulses() {
    let sample = Sample::load("water").rigid();
    let [[plain, error, noise], [slope, other, fluctuation]] = [drift(&sample, None), drift(&sample, Some(2))];
    // the tolerance is four standard errors. Impulses increase the fluctuation by a quarter. With n steps between
    // impulses, the mesh forces contribute a term proportional to (n dt)², and all other forces contribute a term
    // proportional to dt²
    assert!((slope - plain).abs() < 4.0 * error.hypot(other), "{slope:e} against {plain:e} kJ/mol/ps");
    assert!(fluctuation < 1.5 * noise, "{fluctuation:e} against {noise:e} kJ/mol");
}

#[test]
fn the_pressure_of_rigid_water_is_that_of_its_centers() {
    let sample = Sample::load("water").rigid();
    let dynamics = nve(Some(4));
    let mut simulation = simulation(&sample, reference(&sample), &dynamics);
    let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
    let groups = sample.system.constrained_groups();
    // energies and virial are computed at step 4, which has an impulse, and at step 6, which has none
    for step in 0..7 {
        let measured = step == 4 || step == 6;
        let before = state_of(&simulation);
        let mut centers = 0.0;
        let observed = simulation
            .step(Wanted { energies: measured }, |simulation| {
                let Evaluation { forces, virial, .. } = simulation.backend().evaluation();
                let inside = |group: usize| {
                    let atoms = groups.atoms(group);
                    let mass: f64 = atoms.iter().map(|&atom| masses[atom as usize]).sum();
                    let sum: Vec3 = atoms.iter().map(|&i| before.positions[i as usize] * masses[i as usize]).sum();
                    let from = |atom: u32| before.positions[atom as usize] - sum * (1.0 / mass);
                    atoms.iter().map(|&atom| from(atom).dot(forces[atom as usize])).sum::<f64>()
                };
                centers = virial.trace() - (0..groups.len()).map(inside).sum::<f64>();
                Ok(())
            })
            .unwrap();
        let after = state_of(&simulation);
        if !measured {
            continue;
        }
        let of_centers = |velocities: &[Vec3]| -> f64 {
            let momentum = |group| groups.atoms(group).iter().map(|&i| velocities[i as usize] * masses[i as usize]);
            let mass = |group| groups.atoms(group).iter().map(|&i| masses[i as usize]).sum::<f64>();
            (0..groups.len()).map(|group| 0.5 * momentum(group).sum::<Vec3>().norm_squared() / mass(group)).sum()
        };
        let kinetic = 0.5 * (of_centers(&before.velocities) + of_centers(&after.velocities));
        let expected = barostat::pressure(kinetic, centers, before.cell.unwrap().volume());
        // SETTLE satisfies the constraints exactly. The response of the positions to an impulse force F is nearly
        // linear. The nonlinear part changes the pressure of 10⁴ bar = 600 kJ/mol/nm³ by the fraction (dt² F/m/r)² =
        // 10⁻⁵, which is the square of the displacement dt² F/m divided by the bond length r
        assert!((observed.pressure - expected).abs() < 1e-2, "{step}: {} against {expected}", observed.pressure);
    }
}

/// Coupling time (ps) of thermostats that renew velocities. The constant `RESCALING` is the coupling time (ps) of
/// thermostats that rescale velocities; a Nosé–Hoover chain needs a long coupling time. The constant `LENGTH` is the
/// time (ps) between the first and the last tenth of the run.
const RENEWING: f64 = 0.02;
const RESCALING: f64 = 0.5;
const LENGTH: f64 = 4.0;
/// Angular frequency that an atom would have on the softer spring alone, 1/ps.
const SLOW: f64 = 40.0;

/// Returns the change of the conserved energy in a run with a thermostat, in units of kT per atom: the mean over the
/// last tenth of the run minus the mean over the first tenth. The system consists of many atoms on [`Springs`], either
/// free atoms or rigid dimers. The run starts from the equilibrium distribution.
fn change_of_conserved(kind: ThermostatKind, interval: u32, every: u32, rigid: bool) -> f64 {
    let system = if rigid { gas() } else { System { constraints: Constraints::default(), ..gas() } };
    let count = system.topology.atoms.len();
    let velocity = |atom: usize, purpose: u64| maxwell_boltzmann(5, purpose, atom as u32, MASS, 300.0);
    // the springs displace a rigid dimer as a whole, and the dimer turns freely about its center
    let half = if rigid { 0.06 } else { 0.0 };
    let end = |atom: usize| vec3(if atom.is_multiple_of(2) { -half } else { half }, 0.0, 0.0);
    let place = |atom: usize| {
        let molecule = if rigid { atom / 2 } else { atom };
        velocity(molecule, 1) * SLOW.hypot(Springs::FAST).recip() + end(atom)
    };
    let velocities = (0..count).map(|atom| velocity(atom, 0)).collect();
    let state = State { positions: (0..count).map(place).collect(), velocities, ..State::default() };
    let coupling_time = if kind.facts().refreshes { RENEWING } else { RESCALING };
    let thermostat = Some(Thermostat::new(kind, 300.0, coupling_time, interval));
    let dynamics = Dynamics { timestep: 0.001, thermostat, ..nve(Some(every)) };
    let mut simulation = start(&system, Springs { slow: SLOW }, &dynamics, &state);
    let mut found = vec![];
    for step in 0..=(LENGTH / 0.9 / 0.001) as u64 {
        let energies = step.is_multiple_of(u64::from(every));
        let now = simulation.step(Wanted { energies }, |_| Ok(())).unwrap();
        found.extend(energies.then_some(now.conserved / (count as f64 * BOLTZMANN * 300.0)));
    }
    let tenth = found.len() / 10;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    mean(&found[found.len() - tenth..]) - mean(&found[..tenth])
}

#[test]
fn thermostats_do_the_work_that_is_booked_between_impulses() {
    use ThermostatKind::{Andersen, Berendsen, Langevin, NoseHoover, VRescale};
    for every in [2, 4, 8] {
        // impulses advance the velocities by ℓ = c dt S/m, with the force S of the softer spring and the mass m. In
        // step k of a cycle of n steps, c is (n − 1)/2 − k. A thermostat with friction 1/τ removes the power m⟨ℓ²⟩/τ in
        // each of three directions, where the average ⟨ℓ²⟩ includes the average of c² over a cycle. With the
        // frequencies ω_S and ω_F of the softer and the stiffer spring, ⟨S²⟩/m = kT ω_S⁴/(ω_F² + ω_S²)
        let n = f64::from(every);
        let squares: f64 = (0..every).map(|move_number| (0.5 * (n - 1.0) - f64::from(move_number)).powi(2)).sum();
        let force = SLOW.powi(4) / (SLOW.powi(2) + Springs::FAST.powi(2));
        let of_lead = 3.0 * squares / n * 0.001f64.powi(2) * force * LENGTH / RENEWING;
        let renewing = [(Langevin, 1), (Langevin, 3), (Andersen, 1), (Andersen, 3)];
        let rescaling = [VRescale, NoseHoover, Berendsen].map(|kind| (kind, every));
        for (kind, interval) in renewing.into_iter().chain(rescaling) {
            for rigid in [false, true] {
                let change = change_of_conserved(kind, interval, every, rigid);
                // with n steps between impulses, the energies of 192 degrees of freedom of angular frequency ω = 57/ps
                // fluctuate by about ½ (n dt ω)²/√192 in units of kT. For n = 2, 4 and 8 the fluctuation is 0.0005,
                // 0.002 and 0.008 kT and does not grow with time; the limits of the test are 0.006, 0.03 and 0.13 kT
                assert!(change.abs() < 0.05 * of_lead, "{kind:?}, every {every}, rigid {rigid}: {change} kT");
            }
        }
    }
}

/// Returns the conserved energy (kJ/mol) after steps with impulses, velocity refreshments and a barostat.
fn conserved_with_barostat(sample: &Sample) -> f64 {
    let barostat = Barostat { pressure: [300.0; 3].map(Schedule::from), ..tests::barostat(2) };
    let thermostat = Thermostat::new(ThermostatKind::Langevin, 300.0, 0.1, 1);
    let dynamics = Dynamics { thermostat: Some(thermostat), barostat: Some(barostat), ..nve(Some(3)) };
    let mut simulation = simulation(sample, reference(sample), &dynamics);
    for _ in 0..12 {
        simulation.step(Wanted::default(), |_| Ok(())).unwrap();
    }
    simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap().conserved
}

#[test]
fn work_with_a_barostat_does_not_depend_on_images() {
    let sample = Sample::load("peptide-charged").rigid();
    let mut moved = Sample::load("peptide-charged").rigid();
    let (cell, molecules) = (sample.state.cell.unwrap(), sample.system.topology.molecules());
    for molecule in 0..molecules.len() {
        let shift = cell.shift([molecule % 5, molecule % 3, molecule % 7].map(|n| 4 * n as i32 - 8));
        molecules.atoms(molecule).iter().for_each(|&atom| moved.state.positions[atom as usize] += shift);
    }
    let [stored, moved] = [sample, moved].map(|sample| conserved_with_barostat(&sample));
    // rounding errors of positions far from the origin are 10⁻¹⁵ nm; forces of 10⁵ kJ/mol/nm on 10³ atoms turn them
    // into 10⁻⁷ kJ/mol
    assert!((stored - moved).abs() < 1e-6, "{stored} and {moved} kJ/mol");
}

#[test]
fn an_interrupted_run_has_the_same_bits_whatever_is_asked_of_it() {
    let sample = Sample::load("peptide-charged").rigid();
    for (kind, interval) in
        [(ThermostatKind::VRescale, 3), (ThermostatKind::Langevin, 1), (ThermostatKind::Andersen, 2)]
    {
        let mut dynamics = nve(Some(3));
        dynamics.thermostat = Some(Thermostat::new(kind, 300.0, 0.1, interval));
        let begin = || simulation(&sample, cpu(&sample), &dynamics);
        let (mut whole, mut first) = (begin(), begin());
        for _ in 0..14 {
            whole.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        for _ in 0..5 {
            first.step(Wanted { energies: true }, |_| Ok(())).unwrap();
        }
        let progress = StageProgress { steps: 5, first_time: 0.0, lists: first.list_origins().unwrap() };
        let host = Host::new(&sample.system, cpu(&sample), Level::detect(), Team::single()).unwrap();
        let (context, setup) = (Context::new(Box::new(host), sample.schedule()), tests::setup(&sample, &dynamics));
        let mut second = Simulation::new(context, setup, &state_of(&first), progress).unwrap();
        for step in 0..9 {
            second.step(Wanted { energies: step == 0 || step == 5 }, |_| Ok(())).unwrap();
        }
        let [whole, pieces] = [state_of(&whole), state_of(&second)];
        assert!(whole.positions == pieces.positions && whole.velocities == pieces.velocities);
        let works = [whole, pieces].map(|state| state.coupling.thermostat_work);
        assert!(works[0] != 0.0 && works[0] == works[1], "{kind:?}: {works:?}");
    }
}

#[test]
fn impulses_at_every_step_are_none() {
    let sample = Sample::load("peptide-charged").rigid();
    let run = |every| {
        let dynamics = nve(every);
        let mut simulation = simulation(&sample, cpu(&sample), &dynamics);
        for _ in 0..5 {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        let last = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
        (last, state_of(&simulation).velocities)
    };
    assert_eq!(run(None), run(Some(1)));
    assert_ne!(run(None).1, run(Some(2)).1);
}
