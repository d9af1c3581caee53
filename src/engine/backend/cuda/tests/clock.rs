//! Tests of the times of phases, on a device on which all launches take the same time.

use crate::backend::cuda::Cuda;
use crate::backend::cuda::emulator::device::{Emulated, LAUNCH};
use crate::backend::{Backend, Leapfrog, Phases, Workload, useful_pairs};
use crate::testing::{EVERYTHING, Sample};

fn steps(cuda: &mut Cuda<Emulated>, number: usize, workload: Workload) {
    let sums = workload != Workload::default();
    for _ in 0..number {
        cuda.forces(workload).unwrap();
        cuda.integrate(Leapfrog { timestep: 0.002, virial: sums, kinetic: sums, ..Leapfrog::default() }, None).unwrap();
    }
}

/// Returns the times of the kernels of `steps` steps. Pairs and bonded terms together take one kernel. The influence
/// function together with the Fourier transforms takes three kernels. The kernel that integrates also packs positions.
fn launches(steps: f64) -> Phases {
    Phases { pairs: 1.0, pme_spread: 1.0, pme_solve: 3.0, pme_gather: 1.0, update: 1.0, ..Phases::default() }
        .scaled(steps * LAUNCH)
}

/// Number of kernels of a pair search and a pruning. A pair search takes eight kernels: five kernels sort the atoms,
/// and one kernel each packs positions, searches, and ends the search. A pruning takes two kernels, one of which packs
/// positions.
const LISTS: f64 = 8.0 + 2.0;

#[test]
fn one_timed_step_per_list_lifetime_represents_all() {
    let mut cuda = Sample::load("peptide-charged").rigid().emulated(0);
    assert_eq!(cuda.phases().unwrap(), Phases { search: LISTS * LAUNCH, ..Phases::default() });
    steps(&mut cuda, 10, Workload::default());
    let expected = Phases { search: LISTS * LAUNCH, ..launches(10.0) };
    assert_eq!(cuda.phases().unwrap(), expected);
    // a second reading returns the same times
    assert_eq!(cuda.phases().unwrap(), expected);
    steps(&mut cuda, 3, EVERYTHING);
    cuda.build_lists().unwrap();
    cuda.prune_lists(0.0).unwrap();
    steps(&mut cuda, 7, Workload::default());
    assert_eq!(cuda.phases().unwrap(), Phases { search: 2.0 * LISTS * LAUNCH, ..launches(20.0) });
}

#[test]
fn lists_are_counted_in_tiles() {
    let sample = Sample::load("water");
    let counts = sample.emulated(0).pair_counts().unwrap();
    let useful = useful_pairs(&sample.system, sample.state.cell.map(|cell| cell.volume()));
    let share = useful / counts.slots as f64;
    // the 16 atoms of half a block fill half of a cube of 0.7 nm; an atom within 0.95 nm of one of these 16 atoms is
    // paired with all 16 atoms, so that about (0.9/1.2)³ = 0.42 of the pairs are within the cutoff
    assert!((0.2..0.5).contains(&share), "{share} of the pairs are useful");
    assert!(counts.slots.is_multiple_of(512) && counts.lj_slots == counts.slots && counts.outer_slots > counts.slots);
    assert!(counts.entries > 0 && counts.entries * 8 * 1024 >= counts.outer_slots);
}
