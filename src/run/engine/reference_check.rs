//! Comparison of the first step of a run with the double-precision reference.
//!
//! The forces and energies of the first step are compared. The run computes these forces and energies with its present
//! pair lists. After a restart the present pair lists may be several steps old. In small systems all forces and all
//! energies are compared. In large systems the forces on a fixed sample of atoms are compared; the sample has some
//! atoms of every Lennard-Jones type. If the PME grid is very large, reciprocal space is left out. Leapfrog,
//! constraints, restraints and couplings are not compared. The comparison does not change the state.

use crate::backend::accuracy::{ENERGY, FORCE, LATTICE_FORCE, least_energy_scale};
use crate::backend::{Backend, Energies, Evaluation, ListLevel, ListsMade, Sampled, sample};
use crate::error::{Error, Result};
use crate::observe::log::Level;
use crate::pair::ListSchedule;
use crate::restraint::Restraining;
use crate::run::engine::self_check::compare_energies;
use crate::system::{State, System};
use crate::vec3::{Vec3, rms, rms_difference};
use std::f64::consts::PI;
use std::time::Instant;

/// Largest ratio of an error to its limit that causes only a warning. A larger ratio ends the run with an error.
/// Relative rounding errors are larger in systems whose forces nearly cancel. All deliberate faults in tests of whole
/// systems caused errors of more than [`LEEWAY`] times the limits.
const LEEWAY: f64 = 5.0;
/// Largest error of the Coulomb energy that causes only a warning, relative to the sum of the absolute direct-space and
/// reciprocal-space energies. In a lattice of molecules with the same orientation, the direct-space and the
/// reciprocal-space energy nearly cancel. A lattice has only a few different distances. The errors of the interpolated
/// pair energies, up to 5·10⁻⁷ per pair, therefore add up.
const PARTS: f64 = 2e-6;
/// Minimum distance (nm) between interacting atoms for a comparison of forces and energies. Atoms at a shorter distance
/// overlap; even hydrogen bonds are longer than 0.15 nm. The fast backends replace distances below about 0.06 nm by
/// 0.06 nm, so their results for overlapping atoms differ from the reference. In addition, the large force between
/// overlapping atoms hides small terms in sums in `f32`.
const OVERLAP: f64 = 0.1;

/// Maximum number of pairs, with each pair counted twice, for which the forces on all atoms are compared. With this
/// number of pairs the comparison takes about a second on one core.
const WHOLE: f64 = 8e6;
/// Maximum number of grid points, summed over all PME grids, with which reciprocal space is compared. FFTs in `f64`
/// take about 0.1 s per million points.
const LARGEST_GRID: usize = 2_000_000;
/// Approximate number of compared atoms in a large system. The compared atoms are divided equally among the
/// Lennard-Jones types, so that an error in one row of the type table is found.
const SAMPLE: usize = 2048;

/// Result of the comparison of a step with the double-precision reference.
#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    /// all errors are within the limits; the text states the errors
    Agrees(String),
    /// an error exceeds its limit by a factor below [`LEEWAY`]; the text states the errors
    Strays(String),
    /// an error exceeds its limit by more than the factor [`LEEWAY`]; the text states the errors
    Differs(String),
    /// interacting atoms overlap, so forces and energies cannot be compared
    Undecided,
}

/// Compares the last forces and energies of `backend` with the double-precision reference. Returns a line for the log,
/// or an error if a difference is too large.
pub(in crate::run) fn verify<B: Backend + ?Sized>(
    system: &System,
    lists: &ListSchedule,
    backend: &B,
    on_gpu: bool,
) -> Result<(Level, String)> {
    let start = Instant::now();
    let verdict = compare(system, lists, backend)?;
    let time = format!("; took {:.2} s", start.elapsed().as_secs_f64());
    match verdict {
        Verdict::Agrees(how) => Ok((Level::Note, how + &time)),
        Verdict::Strays(how) => Ok((Level::Warning, how + &time)),
        Verdict::Undecided => Ok((Level::Note, "force check: skipped, because atoms overlap".into())),
        Verdict::Differs(what) => {
            let what = format!("{what}, on {}", backend.description());
            Err(match on_gpu {
                true => Error::Device(format!(
                    "{what}: this GPU or its driver is faulty, or md has a defect; set run.device = \"cpu\" to avoid \
                     the GPU, and please report this message"
                )),
                false => Error::Internal(format!(
                    "{what}: either this processor or its memory is faulty, or md has a defect; try another run.simd \
                     (\"avx2\", \"portable\"), or run.precision = \"double\", which is slow but is the reference itself; \
                     if other machines give the same result"
                )),
            })
        }
    }
}

fn compare<B: Backend + ?Sized>(system: &System, schedule: &ListSchedule, backend: &B) -> Result<Verdict> {
    let [mut now, mut searched, mut pruned] = [(); 3].map(|()| State::default());
    backend.download(&mut now)?;
    backend.list_positions(ListLevel::Outer, &mut searched)?;
    backend.list_positions(ListLevel::Inner, &mut pruned)?;
    let atoms = choose(system, &now, WHOLE, SAMPLE);
    let lists = ListsMade { schedule, searched: &searched, pruned: &pruned };
    let large = system.settings.meshes().map(|mesh| mesh.grid.iter().product::<usize>()).sum::<usize>() > LARGEST_GRID;
    let mut found = BackendForces::new(backend, &atoms, large);
    if let Some(restraining) = backend.restraining().filter(|restraining| restraining.acts()) {
        found.take_off(restraining, &atoms, &now);
    }
    let reference = sample(system, &now, &atoms, lists, !found.lacks_reciprocal);
    Ok(judge(system, &atoms, &found, &reference))
}

/// Forces and energies that the backend computed, without the contributions of restraints.
struct BackendForces {
    /// force on each of the compared atoms, kJ/mol/nm
    forces: Vec<Vec3>,
    /// whether the reciprocal-space forces were subtracted from `forces`
    lacks_reciprocal: bool,
    energies: Energies,
}

impl BackendForces {
    /// Copies the results of the last force evaluation from `backend`. If `without_reciprocal` is set, the
    /// reciprocal-space forces are subtracted, provided that the backend can compute them separately.
    fn new<B: Backend + ?Sized>(backend: &B, atoms: &[u32], without_reciprocal: bool) -> Self {
        let Evaluation { forces, energies, .. } = backend.evaluation();
        let mut forces: Vec<Vec3> = atoms.iter().map(|&i| forces[i as usize]).collect();
        let reciprocal = if without_reciprocal { backend.reciprocal_forces(atoms) } else { None };
        for (force, part) in forces.iter_mut().zip(reciprocal.iter().flatten()) {
            *force -= *part;
        }
        BackendForces { forces, lacks_reciprocal: reciprocal.is_some(), energies: *energies }
    }

    /// Subtracts forces and energies of restraints, which the reference does not compute.
    fn take_off(&mut self, restraining: &Restraining, atoms: &[u32], now: &State) {
        let mut own = vec![Vec3::ZERO; now.positions.len()];
        restraining.again(now.cell.as_ref(), &now.positions, &mut own);
        for (force, atom) in self.forces.iter_mut().zip(atoms) {
            *force -= own[*atom as usize];
        }
        (self.energies.position_restraint, self.energies.restraint) = (0.0, 0.0);
    }
}

/// Chooses the atoms to compare and returns their indices in ascending order. All atoms are chosen if the system has at
/// most `whole` pairs. In a larger system about `number` atoms with mass are chosen, evenly spaced among the atoms of
/// each Lennard-Jones type.
fn choose(system: &System, state: &State, whole: f64, number: usize) -> Vec<u32> {
    let atoms = &system.topology.atoms;
    let everybody = atoms.len() as f64;
    let sphere = 4.0 / 3.0 * PI * system.settings.longest_cutoff().powi(3);
    let neighbours = state.cell.map_or(everybody, |cell| (everybody / cell.volume() * sphere).min(everybody));
    if everybody * neighbours <= whole {
        return (0..atoms.len() as u32).collect();
    }
    let types = system.nonbonded.types;
    let mut count = vec![0; types];
    let massive = || (0..).zip(atoms).filter(|(_, atom)| atom.mass > 0.0).map(|(i, atom)| (i, atom.lj_type as usize));
    massive().for_each(|(_, lj_type)| count[lj_type] += 1);
    let share = (number / types.max(1)).max(1);
    let mut seen = vec![0; types];
    let chosen = |atom: &(u32, usize)| {
        let (place, of_all) = (&mut seen[atom.1], count[atom.1]);
        *place += 1;
        (*place - 1) % usize::div_ceil(of_all, share) == 0
    };
    massive().filter(chosen).map(|(i, _): (u32, usize)| i).collect()
}

fn judge(system: &System, atoms: &[u32], found: &BackendForces, reference: &Sampled) -> Verdict {
    if reference.closest < OVERLAP || !reference.forces.iter().all(|force| force.is_finite()) {
        return Verdict::Undecided;
    }
    // part of the force error that is not caused by pairs missing from the lists
    let unexplained = |((found, force), &lacking): ((&Vec3, &Vec3), &f64)| {
        let error = (*found - *force).norm();
        if error <= lacking { 0.0 } else { error - lacking }
    };
    let errors: Vec<f64> =
        found.forces.iter().zip(&reference.forces).zip(&reference.lacking).map(unexplained).collect();
    let error = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64).sqrt();
    let scale = rms(reference.forces.iter().copied());
    let [relative, whole] =
        [error, rms_difference(&found.forces, &reference.forces)].map(|e| e / scale.max(f64::MIN_POSITIVE));
    // the comparison is false if the error is NaN
    let within = |times: f64| error <= times * FORCE * scale || error <= times * LATTICE_FORCE;
    let energies_within = |bar: f64, of_parts: f64| {
        reference.energies.as_ref().map_or(Ok(0.0), |expected| {
            let parts = expected.coulomb_reciprocal.abs() + (expected.coulomb - expected.coulomb_reciprocal).abs();
            let slack = reference.lacking_energy + of_parts * parts;
            let least = least_energy_scale(reference.forces.len());
            compare_energies(&found.energies, expected, [bar, least], slack, "the reference's")
        })
    };
    let (energies, energies_agree) = (energies_within(LEEWAY * ENERGY, PARTS), energies_within(ENERGY, 0.0).is_ok());
    let number = found.forces.len();
    let (largest, wrong_energy) = match energies {
        Ok(largest) if within(LEEWAY) => (largest, None),
        Ok(_) => (0.0, Some(String::new())),
        Err(what) => (0.0, Some(format!("; {what}"))),
    };
    if let Some(wrong_energy) = wrong_energy {
        // NaN counts as the largest error
        let worst = (0..number).max_by(|&a, &b| errors[a].total_cmp(&errors[b]));
        let place = worst.map_or(String::new(), |at| {
            let (atom, by) = (atoms[at], errors[at]);
            format!(", most on atom {} by {by:.3e} kJ/mol/nm", system.topology.numbered_name(atom))
        });
        let what = if within(LEEWAY) { "energies" } else { "forces" };
        return Verdict::Differs(format!(
            "the {what} differ from the double-precision reference: forces on {number} atoms by {relative:.1e} of their \
             RMS{place}, with a limit of {FORCE:.0e} of the RMS{wrong_energy}"
        ));
    }
    let Sampled { pairs, lacking_pairs, .. } = reference;
    let mesh = if found.lacks_reciprocal { ", without reciprocal space" } else { "" };
    let energies = reference.energies.map_or(String::new(), |_| format!(", {largest:.1e} of the energies"));
    let lists = match lacking_pairs {
        0 => String::new(),
        some => format!(
            "; pair lists of this age may lack {some} of {pairs} pairs near the cutoff, and without these pairs the error of \
             the forces is {relative:.1e}"
        ),
    };
    let text = format!(
        "force check against double precision: relative RMS error {whole:.1e} of the forces on {number} \
         atoms{energies}{mesh}{lists}"
    );
    if within(1.0) && energies_agree {
        return Verdict::Agrees(text);
    }
    Verdict::Strays(format!(
        "{text}; the limits are {FORCE:.0e} for forces and {ENERGY:.0e} for energies. The RMS force is {scale:.0} kJ/mol/nm: \
         where forces nearly cancel, as after a minimisation, rounding errors are a larger part of them, and the warning is \
         of no consequence if the next stage has none"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Cpu, CpuOptions, Host, Workload};
    use crate::simd::Level as Simd;
    use crate::system::{Electrostatics, Exclusions, LennardJones, Nonbonded, PmeParameters, Residue};
    use crate::team::Team;
    use crate::testing::{Sample, linked_atoms};
    use crate::vec3::vec3;

    const ENERGIES: Workload = Workload { energy: true, virial: false, ..Workload::FORCES };
    /// Time (ps) by which positions are extrapolated for the pruning of the inner list.
    const LOOKAHEAD: f64 = 0.008;

    /// Returns a list schedule like that of a run, with pruning by predicted positions. The buffer is so small that the
    /// lists miss some pairs.
    fn schedule(sample: &Sample) -> ListSchedule {
        let inner = sample.system.settings.longest_cutoff() + 0.005;
        ListSchedule { inner, lookahead: LOOKAHEAD, ..sample.schedule() }
    }

    fn host(system: &System, schedule: ListSchedule, level: Simd) -> Host<Cpu> {
        let options = CpuOptions { parts: 1, level, schedule };
        let cpu = Cpu::new(system, options, Team::single()).expect("a supported system");
        Host::new(system, cpu, level, Team::single()).expect("a supported system")
    }

    /// Computes the forces at the state of the sample with a backend whose pair lists were built at the state `then`,
    /// and returns the backend.
    fn computed(sample: &Sample, system: &System, schedule: ListSchedule, then: &State) -> Host<Cpu> {
        let mut host = host(system, schedule, Simd::detect());
        host.upload(then).expect("a state");
        host.build_lists().expect("lists");
        host.prune_lists(schedule.lookahead).expect("lists");
        host.upload(&sample.state).expect("a state");
        host.forces(ENERGIES).expect("forces");
        host
    }

    /// Changes a system by `spoil` and computes its forces with the fast backend. Compares these forces with the
    /// double-precision reference for the original system.
    fn spoilt(sample: &Sample, spoil: impl FnOnce(&mut System)) -> Verdict {
        let (mut system, lists) = (sample.system.clone(), schedule(sample));
        spoil(&mut system);
        compare(&sample.system, &lists, &computed(sample, &system, lists, &sample.state)).expect("two states")
    }

    #[track_caller]
    fn differs(verdict: Verdict, part: &str) {
        let Verdict::Differs(what) = verdict else { panic!("{part}: {verdict:?}") };
        assert!(what.contains(part), "{part} in {what}");
    }

    #[test]
    fn the_fast_path_agrees_on_every_level() {
        let names = ["peptide-charged", "peptide-vacuum", "peptide-charmm36", "peptide-nbfix", "octahedron", "argon"];
        let rigid = ["peptide-ff19sb", "tip5p"].map(|name| Sample::load(name).rigid());
        for sample in names.map(Sample::load).into_iter().chain(rigid) {
            for level in Simd::available() {
                let lists = schedule(&sample);
                let mut host = host(&sample.system, lists, level);
                host.upload(&sample.state).expect("a state");
                host.build_lists().expect("lists");
                host.prune_lists(lists.lookahead).expect("lists");
                host.forces(ENERGIES).expect("forces");
                let verdict = compare(&sample.system, &lists, &host).expect("a verdict");
                // with the settings of this test, the errors of these systems may slightly exceed the limits. With the
                // settings of `tests/forces.rs`, errors must be within the limits
                let (Verdict::Agrees(how) | Verdict::Strays(how)) = &verdict else { panic!("{level:?} {verdict:?}") };
                assert!(how.contains("energies"), "{level:?} {how}");
            }
        }
    }

    #[test]
    fn forgotten_terms_are_found() {
        let charmm = Sample::load("peptide-charmm36");
        let amber = Sample::load("peptide-charged");
        differs(spoilt(&amber, |s| s.topology.bonded.bonds.truncate(9)), "bond");
        differs(spoilt(&amber, |s| s.topology.bonded.angles.truncate(9)), "angle");
        differs(spoilt(&amber, |s| s.topology.bonded.propers.clear()), "proper");
        differs(spoilt(&amber, |s| s.topology.bonded.impropers.clear()), "improper");
        differs(spoilt(&amber, |s| s.topology.bonded.pairs14.truncate(9)), "forces");
        differs(spoilt(&charmm, |s| s.topology.bonded.urey_bradleys.clear()), "urey_bradley");
        differs(spoilt(&charmm, |s| s.topology.bonded.harmonic_impropers.clear()), "improper");
        differs(spoilt(&charmm, |s| s.topology.bonded.cmaps.clear()), "cmap");
    }

    #[test]
    fn wrong_exclusions_types_and_meshes_are_found() {
        let sample = Sample::load("peptide-nbfix");
        let excluded: Vec<[u32; 2]> = sample.system.topology.exclusions.pairs().collect();
        let exclude = |pairs: &[[u32; 2]]| {
            let exclusions = Exclusions::from_pairs(sample.system.topology.atoms.len(), pairs.iter().copied());
            spoilt(&sample, |system| system.topology.exclusions = exclusions)
        };
        differs(exclude(&excluded[1..]), "forces");
        // two atoms of the peptide whose non-bonded interaction is not excluded
        let distant = [0, 15];
        assert!(!excluded.contains(&distant));
        differs(exclude(&[&[distant], &excluded[..]].concat()), "forces");
        let types = sample.system.nonbonded.types;
        for row in 0..types {
            let interacts = sample.system.nonbonded.c12[row * types..][..types].iter().any(|c12| *c12 != 0.0);
            let verdict = spoilt(&sample, |system| {
                for other in 0..types {
                    system.nonbonded.c12[row * types + other] *= 1.3;
                    system.nonbonded.c12[other * types + row] *= 1.3;
                }
            });
            assert!(matches!(verdict, Verdict::Differs(_)) == interacts, "type {row}: {verdict:?}");
        }
        let with_mesh = |change: fn(&mut PmeParameters)| {
            spoilt(&sample, |system| {
                let Electrostatics::Pme(pme) = &mut system.settings.electrostatics else { unreachable!() };
                change(pme);
            })
        };
        differs(with_mesh(|pme| pme.grid = pme.grid.map(|points| points / 2 + 2)), "forces");
        // PME with a lower B-spline order is less accurate, but not wrong
        let verdict = with_mesh(|pme| pme.order = 4);
        assert!(matches!(&verdict, Verdict::Strays(how) if how.contains("the limits are 2e-5")), "{verdict:?}");
    }

    #[test]
    fn lists_may_lack_what_they_promise_and_no_more() {
        let sample = Sample::load("peptide-charged");
        let lists = schedule(&sample);
        // pair lists are built from positions 40 fs before the present positions
        let mut then = sample.state.clone();
        then.positions.iter_mut().zip(&sample.state.velocities).for_each(|(r, v)| *r -= *v * 0.04);
        let host = computed(&sample, &sample.system, lists, &then);
        let verdict = compare(&sample.system, &lists, &host).expect("a verdict");
        assert!(
            matches!(&verdict, Verdict::Agrees(how) if how.contains("pair lists of this age may lack")),
            "{verdict:?}"
        );
        // lists are built from positions 150 fs earlier, but the check is told that the lists were built at the present
        // positions
        then.positions.iter_mut().zip(&sample.state.velocities).for_each(|(r, v)| *r -= *v * 0.11);
        let host = computed(&sample, &sample.system, lists, &then);
        let atoms = choose(&sample.system, &sample.state, WHOLE, SAMPLE);
        let mut now = [(); 2].map(|()| sample.state.clone());
        now[1].positions.iter_mut().zip(&sample.state.velocities).for_each(|(r, v)| *r += *v * LOOKAHEAD);
        let made = ListsMade { schedule: &lists, searched: &now[0], pruned: &now[1] };
        let expected = crate::backend::sample(&sample.system, &sample.state, &atoms, made, true);
        let found = BackendForces::new(&host, &atoms, false);
        differs(judge(&sample.system, &atoms, &found, &expected), "forces");
        // pair lists with a smaller radius than the list schedule states
        let short = ListSchedule { inner: lists.inner - 0.3, ..lists };
        let host = computed(&sample, &sample.system, short, &sample.state);
        differs(compare(&sample.system, &lists, &host).expect("a verdict"), "forces");
    }

    #[test]
    fn a_sample_has_every_type_and_finds_a_wrong_row() {
        let sample = Sample::load("peptide-nbfix");
        let (system, lists) = (&sample.system, schedule(&sample));
        let atoms = choose(system, &sample.state, 0.0, 60);
        assert!(atoms.is_sorted() && atoms.len() < 120, "{atoms:?}");
        let types = |atoms: &mut dyn Iterator<Item = u32>| {
            let mut types: Vec<u32> = atoms.map(|i| system.topology.atoms[i as usize].lj_type).collect();
            types.sort_unstable();
            types.dedup();
            types
        };
        assert_eq!(types(&mut atoms.iter().copied()), types(&mut (0..system.topology.atoms.len() as u32)));
        let verdict = |fast: &System| {
            let host = computed(&sample, fast, lists, &sample.state);
            let [searched, mut pruned] = [(); 2].map(|()| sample.state.clone());
            host.list_positions(ListLevel::Inner, &mut pruned).expect("positions");
            let made = ListsMade { schedule: &lists, searched: &searched, pruned: &pruned };
            let found = BackendForces::new(&host, &atoms, true);
            assert!(found.lacks_reciprocal);
            let expected = crate::backend::sample(system, &sample.state, &atoms, made, false);
            assert!(expected.energies.is_none());
            judge(system, &atoms, &found, &expected)
        };
        assert!(matches!(verdict(system), Verdict::Agrees(_)), "{:?}", verdict(system));
        let mut wrong = system.clone();
        wrong.topology.atoms.iter_mut().filter(|atom| atom.lj_type == 0).for_each(|atom| atom.lj_type = 1);
        differs(verdict(&wrong), "most on atom");
    }

    #[test]
    fn a_sample_has_the_forces_of_its_virtual_sites() {
        let sample = Sample::load("tip5p").rigid();
        let (system, lists) = (&sample.system, schedule(&sample));
        let atoms = choose(system, &sample.state, 0.0, 60);
        assert!(atoms.len() > 30 && atoms.iter().all(|&i| system.topology.atoms[i as usize].mass > 0.0), "{atoms:?}");
        let host = computed(&sample, system, lists, &sample.state);
        let [mut now, mut pruned] = [(); 2].map(|()| State::default());
        host.download(&mut now).expect("a state");
        host.list_positions(ListLevel::Inner, &mut pruned).expect("positions");
        let made = ListsMade { schedule: &lists, searched: &now, pruned: &pruned };
        for reciprocal in [true, false] {
            let found = BackendForces::new(&host, &atoms, !reciprocal);
            let expected = crate::backend::sample(system, &now, &atoms, made, reciprocal);
            assert_eq!([expected.forces.len(), expected.lacking.len()], [atoms.len(); 2]);
            let verdict = judge(system, &atoms, &found, &expected);
            assert!(matches!(verdict, Verdict::Agrees(_)), "{verdict:?}");
        }
    }

    #[test]
    fn overlapping_atoms_tell_nothing_and_no_number_is_within_no_bar() {
        let mut sample = Sample::load("water");
        let lists = schedule(&sample);
        let mut host = computed(&sample, &sample.system, lists, &sample.state);
        let atoms = choose(&sample.system, &sample.state, WHOLE, SAMPLE);
        let made = ListsMade { schedule: &lists, searched: &sample.state, pruned: &sample.state };
        let expected = crate::backend::sample(&sample.system, &sample.state, &atoms, made, true);
        let mut wrong = BackendForces::new(&host, &atoms, false);
        wrong.forces[17].y = f64::NAN;
        differs(judge(&sample.system, &atoms, &wrong, &expected), "atom 18 (");
        sample.state.positions[30] = sample.state.positions[300] + vec3(0.02, 0.0, 0.0);
        host = computed(&sample, &sample.system, lists, &sample.state);
        assert_eq!(compare(&sample.system, &lists, &host).expect("a verdict"), Verdict::Undecided);
    }

    #[test]
    fn two_atoms_whose_energy_cancels_agree() {
        let LennardJones { c6, c12 } = LennardJones::from_sigma_epsilon(0.3, 0.5);
        let nonbonded = Nonbonded { types: 1, c6: vec![c6], c12: vec![c12], ..Nonbonded::default() };
        let positions = [0.01234, 0.31234].map(|x| vec3(x, 0.0, 0.0)).to_vec();
        let state = State { velocities: vec![Vec3::ZERO; 2], positions, ..State::default() };
        let mut sample = Sample { system: System { nonbonded, ..linked_atoms(2, &[]) }, state };
        sample.system.topology.residues = vec![Residue { name: Default::default(), number: 1, first: 0 }];
        let verdict = spoilt(&sample, |_| ());
        assert!(matches!(verdict, Verdict::Agrees(_)), "{verdict:?}");
        differs(spoilt(&sample, |system| system.nonbonded.c12[0] *= 1.001), "\"lj\"");
    }

    #[test]
    fn a_run_that_computes_wrong_ends_and_says_what_to_do() {
        let sample = Sample::load("peptide-vacuum");
        let (mut wrong, lists) = (sample.system.clone(), sample.schedule());
        let right = computed(&sample, &sample.system, lists, &sample.state);
        let (level, how) = verify(&sample.system, &lists, &right, false).expect("it agrees");
        assert!(
            level == Level::Note && how.starts_with("force check against ") && how.contains("on 74 atoms"),
            "{how}"
        );
        wrong.topology.bonded.angles.pop();
        let host = computed(&sample, &wrong, lists, &sample.state);
        for (on_gpu, code, help) in [(false, 1, "run.precision = \"double\""), (true, 6, "run.device = \"cpu\"")] {
            let error = verify(&sample.system, &lists, &host, on_gpu).expect_err("a term is missing");
            let text = error.to_string();
            assert!(error.exit_code() == code && text.contains(help) && text.contains("please report"), "{text}");
            assert!(
                text.contains("most on atom") && text.contains("\"angle\"") && text.contains("CPU, 1 thread"),
                "{text}"
            );
        }
    }
}
