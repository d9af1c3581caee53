//! Tests of domain decomposition, in which the ranks are threads. Forces are compared with the double-precision
//! reference. Sums, which include the mesh, are compared with the sums of a single rank.

mod double;
mod faults;
mod methods;
mod traffic;

use super::*;
use crate::backend::accuracy::FORCE;
use crate::backend::{Cpu, CpuOptions, Reference};
use crate::ranks::{Purpose, Ranks, Traffic};
use crate::simd::Level;
use crate::team::Team;
use crate::testing::{SHORT_CUTOFF as CUTOFF, Sample, divisible as sample, on_ranks, with_short_cutoff};

const EVERYTHING: Workload = Workload { energy: true, virial: true, ..Workload::FORCES };
/// Tolerance of energies and virials, relative to the sum of the absolute values of their terms.
const SUMS: f64 = 2e-6;

/// Compares forces, energies and virial of a sample on `count` ranks with the expected values. Returns the number of
/// pairs of the busiest rank, relative to the mean.
fn compare(name: &str, sample: &Sample, count: usize) -> f64 {
    let Sample { system, state } = sample;
    let reference = Reference::new(system).unwrap();
    let mut expected = Host::new(system, reference, Level::Portable, Team::single()).unwrap();
    expected.upload(state).unwrap();
    expected.forces(EVERYTHING).unwrap();
    let mut placed = State::default();
    expected.download(&mut placed).unwrap();
    let expected = expected.evaluation();
    let (evaluation, pairs) = on_ranks(count, |serving| {
        let mut domains = Domains::new(serving, system, ListSchedule::exact(CUTOFF + 0.03)).unwrap();
        domains.upload(state).unwrap();
        domains.build_lists().unwrap();
        domains.prune_lists(0.0).unwrap();
        domains.forces(EVERYTHING).unwrap();
        let mut back = State::default();
        domains.download(&mut back).unwrap();
        // `download` returns the constructed positions of virtual sites
        assert!(back.positions == placed.positions && back.velocities == placed.velocities);
        (domains.evaluation().clone(), domains.pair_counts().unwrap())
    });
    let rms = |forces: &[Vec3]| forces.iter().map(|f| f.norm_squared()).sum::<f64>().sqrt();
    let differences: Vec<Vec3> =
        evaluation.forces.iter().zip(&expected.forces).map(|(ours, theirs)| *ours - *theirs).collect();
    let error = rms(&differences) / rms(&expected.forces);
    assert!(error < FORCE, "{name} on {count} ranks: {error}");
    let schedule = ListSchedule::exact(CUTOFF + 0.03);
    let options = CpuOptions { parts: 1, level: Level::Portable, schedule };
    let cpu = Cpu::new(system, options, Team::single()).unwrap();
    let mut alone = Host::new(system, cpu, Level::Portable, Team::single()).unwrap();
    alone.upload(state).unwrap();
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
    pairs.imbalance(count).unwrap()
}

#[test]
fn forces_are_those_of_one_rank() {
    for count in [1, 2, 4, 8] {
        ["octahedron", "tip5p", "tip4pew"].into_iter().for_each(|name| _ = compare(name, &sample(name), count));
    }
    // cells of these samples are wide enough for three domains along a direction
    for count in [2, 3, 6, 8, 12] {
        ["peptide-ff19sb", "peptide-charmm36"].into_iter().for_each(|name| _ = compare(name, &sample(name), count));
    }
}

#[test]
fn the_atoms_of_a_virtual_site_stay_together_without_constraints() {
    // without constraints only the virtual sites connect the atoms of a molecule of water
    for (name, sample) in [("tip4pew", Sample::load("tip4pew")), ("sites of sites", Sample::with_sites_of_sites())] {
        let sample = with_short_cutoff(sample);
        assert!(sample.system.constraints.settles.is_empty() && sample.system.constraints.bonds.is_empty());
        for count in [2, 4, 8] {
            compare(name, &sample, count);
        }
    }
}

#[test]
fn a_slab_beside_vacuum_is_divided_equally() {
    let mut slab = sample("peptide-ff19sb");
    let rows = slab.state.cell.unwrap().rows();
    slab.state.cell = Some(PeriodicCell::orthorhombic([rows[0].x, rows[1].y, 3.0 * rows[2].z]));
    for (count, most) in [(2, 1.1), (3, 1.15)] {
        let imbalance = compare("slab", &slab, count);
        // with planes at equal distances along z, a domain would be empty
        assert!(imbalance < most, "{count} ranks: {imbalance}");
    }
}
