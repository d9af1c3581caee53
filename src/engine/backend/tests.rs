//! Tests that compare the backends of the processor and the emulated GPU.

use super::{Backend, Cpu, CpuOptions, Host, Reference};
use crate::pair::ListSchedule;
use crate::simd::Level;
use crate::system::{Bond, BondedTerms};
use crate::team::Team;
use crate::testing::{EVERYTHING, Sample};
use crate::vec3::Vec3;

/// Relative tolerance of energies and forces: the project's limit for interactions in `f32`, with a margin for the sums
/// of fixed-point forces on a GPU.
const TOLERANCE: f64 = 1e-5;

/// The nearest image of two atoms that are farther apart than half of the smallest diagonal element of the cell need
/// not be the image with the smallest components.
#[test]
fn long_bonds_take_the_nearest_image() {
    const CONSTANT: f64 = 100.0;
    const LENGTH: f64 = 0.5;
    let mut sample = Sample::load("octahedron");
    let cell = sample.state.cell.expect("a cell");
    let atoms = sample.state.positions.len() as u32;
    let pairs: Vec<[u32; 2]> = {
        let is_far = |&[i, j]: &[u32; 2]| {
            let d = sample.state.positions[i as usize] - sample.state.positions[j as usize];
            cell.image_within_cutoff(d).norm() - cell.minimum_image(d).norm() > 0.1
        };
        (1..atoms).map(|j| [0, j]).filter(is_far).take(20).collect()
    };
    assert_eq!(pairs.len(), 20);
    let (mut energy, mut force) = (0.0, Vec3::ZERO);
    for &[i, j] in &pairs {
        let d = cell.minimum_image(sample.state.positions[i as usize] - sample.state.positions[j as usize]);
        let stretch = d.norm() - LENGTH;
        energy += 0.5 * CONSTANT * stretch * stretch;
        force -= d * (CONSTANT * stretch / d.norm());
    }
    // with the bonds and without them
    let evaluate = |sample: &Sample| {
        let Sample { system, state } = sample;
        let reference = Reference::new(system).expect("a supported system");
        let reference = Host::new(system, reference, Level::Portable, Team::single()).expect("a host");
        let mut all: Vec<(String, Box<dyn Backend>)> = vec![("reference".to_owned(), Box::new(reference))];
        for level in Level::available() {
            let options = CpuOptions { parts: 1, level, schedule: ListSchedule::exact(0.95) };
            let cpu = Cpu::new(system, options, Team::single()).expect("a supported system");
            let host = Host::new(system, cpu, level, Team::single()).expect("a host");
            all.push((level.name().to_owned(), Box::new(host)));
        }
        all.push(("GPU".to_owned(), Box::new(sample.emulated(0))));
        let found = all.into_iter().map(|(name, mut backend)| {
            backend.upload(state).expect("a state");
            backend.build_lists().expect("lists");
            backend.prune_lists(0.0).expect("lists");
            backend.forces(EVERYTHING).expect("forces");
            let evaluation = backend.evaluation();
            (name, evaluation.energies.bond, evaluation.forces[0])
        });
        found.collect::<Vec<(String, f64, Vec3)>>()
    };
    sample.system.topology.bonded = BondedTerms::default();
    let without = evaluate(&sample);
    let bond = |&atoms: &[u32; 2]| Bond { atoms, length: LENGTH, force_constant: CONSTANT };
    sample.system.topology.bonded.distances = pairs.iter().map(bond).collect();
    for ((name, found, with), (_, _, rest)) in evaluate(&sample).into_iter().zip(without) {
        assert!((found - energy).abs() < TOLERANCE * energy, "{name}: {found} instead of {energy} kJ/mol");
        let off = (with - rest - force).norm();
        assert!(off < TOLERANCE * (force.norm() + rest.norm()), "{name}: force off by {off} of {force:?}");
    }
}
