//! Forces of a system on several ranks, which are threads here, against the double-precision reference, and sums, which the mesh
//! has its part in, against one rank.

use super::*;
use crate::backend::Reference;
use crate::backend::cuda::Sample;
use crate::system::{Electrostatics, LjModifier, PmeParameters};

const EVERYTHING: Workload = Workload { energy: true, virial: true, ..Workload::FORCES };
/// nm; the cells are 2 nm wide, and two domains must fit.
const CUTOFF: f64 = 0.45;
/// Of forces, by the rounding of mixed precision: the project's bar.
const FORCES: f64 = 2e-5;
/// Of energies and virials: relative to the sum of the sizes of their terms.
const SUMS: f64 = 2e-6;

fn serving(ranks: Ranks) -> Serving {
    Serving { ranks, parts: 2, level: Level::Portable, team: Team::single() }
}

/// A system with a short cutoff, at which no force has a step: pairs there may be within it or not.
pub(crate) fn sample(name: &str) -> Sample {
    let mut sample = Sample::load(name).rigid();
    let settings = &mut sample.system.settings;
    (settings.cutoff, settings.cutoff_lj) = (Some(CUTOFF), Some(CUTOFF));
    settings.lj_modifier = LjModifier::PotentialSwitch { from: 0.8 * CUTOFF };
    settings.electrostatics = Electrostatics::Pme(PmeParameters { alpha: 6.0, grid: [48, 40, 54], order: 6 });
    sample
}

/// Does `work` on the first of so many ranks, which the others serve.
pub(crate) fn on_ranks<R: Send>(count: usize, work: impl Fn(&Serving) -> R + Sync) -> R {
    let done = Ranks::threads(count, |ranks| {
        let serving = serving(ranks);
        if serving.ranks.is_first() {
            let result = work(&serving);
            Serving::dismiss(&serving.ranks);
            return Some(result);
        }
        serving.serve();
        None
    });
    done.into_iter().flatten().next().expect("the first rank")
}

fn compare(name: &str, count: usize) {
    let Sample { system, state } = sample(name);
    let reference = Reference::new(&system).unwrap();
    let mut expected = Host::new(&system, reference, Level::Portable, Team::single()).unwrap();
    expected.upload(&state).unwrap();
    expected.forces(EVERYTHING).unwrap();
    let mut placed = State::default();
    expected.download(&mut placed).unwrap();
    let expected = expected.evaluation();
    let evaluation = on_ranks(count, |serving| {
        let mut domains = Domains::new(serving, &system, ListSchedule::exact(CUTOFF + 0.03)).unwrap();
        domains.upload(&state).unwrap();
        domains.build_lists().unwrap();
        domains.prune_lists(0.0).unwrap();
        domains.forces(EVERYTHING).unwrap();
        let mut back = State::default();
        domains.download(&mut back).unwrap();
        // virtual sites are where they belong
        assert!(back.positions == placed.positions && back.velocities == placed.velocities);
        domains.evaluation().clone()
    });
    let rms = |forces: &[Vec3]| forces.iter().map(|f| f.norm_squared()).sum::<f64>().sqrt();
    let differences: Vec<Vec3> =
        evaluation.forces.iter().zip(&expected.forces).map(|(ours, theirs)| *ours - *theirs).collect();
    let error = rms(&differences) / rms(&expected.forces);
    assert!(error < FORCES, "{name} on {count} ranks: {error}");
    let schedule = ListSchedule::exact(CUTOFF + 0.03);
    let options = CpuOptions { parts: 1, level: Level::Portable, schedule };
    let cpu = Cpu::new(&system, options, Team::single()).unwrap();
    let mut alone = Host::new(&system, cpu, Level::Portable, Team::single()).unwrap();
    alone.upload(&state).unwrap();
    alone.build_lists().unwrap();
    alone.prune_lists(0.0).unwrap();
    alone.forces(EVERYTHING).unwrap();
    let expected = alone.evaluation();
    let scale: f64 = expected.energies.values().iter().map(|energy| energy.abs()).sum();
    for ((what, ours), theirs) in evaluation.energies.named().zip(expected.energies.values()) {
        assert!((ours - theirs).abs() < SUMS * scale, "{name} on {count} ranks, {what}: {ours}, not {theirs}");
    }
    for (ours, theirs) in evaluation.virial.0.as_flattened().iter().zip(expected.virial.0.as_flattened()) {
        assert!((ours - theirs).abs() < SUMS * scale, "{name} on {count} ranks, virial: {ours}, not {theirs}");
    }
}

#[test]
fn forces_are_those_of_one_rank() {
    for count in [1, 2, 4, 8] {
        ["octahedron", "tip5p", "tip4pew"].into_iter().for_each(|name| compare(name, count));
    }
    // these cells are wide enough for three
    for count in [2, 3, 6, 8, 12] {
        ["peptide-ff19sb", "peptide-charmm36"].into_iter().for_each(|name| compare(name, count));
    }
}
