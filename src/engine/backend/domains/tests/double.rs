//! Double-precision forces on several ranks are those of one rank, bit for bit.

use super::*;
use crate::testing::serving;

/// Makes some steps in double precision, and returns the last state and evaluation.
fn steps(serving: &Serving, Sample { system, state }: &Sample) -> (State, Evaluation) {
    let field = SharedReference::new(serving, system).unwrap();
    let mut host = Host::new(system, field, Level::Portable, Team::single()).unwrap();
    host.upload(state).unwrap();
    for _ in 0..3 {
        host.forces(EVERYTHING).unwrap();
        host.integrate(Leapfrog { timestep: 0.002, ..Leapfrog::default() }, None).unwrap();
    }
    host.forces(EVERYTHING).unwrap();
    let mut end = State::default();
    host.download(&mut end).unwrap();
    (end, host.evaluation().clone())
}

#[test]
fn pairs_shared_among_ranks_give_the_bits_of_one_rank() {
    // with more ranks than chunks of atoms, some ranks have no atoms
    for (name, counts) in [("peptide-ff19sb", [2, 3]), ("octahedron", [2, 60])] {
        let sample = sample(name);
        let (state, evaluation) = steps(&serving(Ranks::alone()), &sample);
        let alone = Reference::new(&sample.system).unwrap().evaluate(state.cell.as_ref(), &state.positions, EVERYTHING);
        assert!(sample.system.topology.virtual_sites.is_empty(), "the host distributes forces on virtual sites");
        assert!(alone.forces == evaluation.forces && alone.energies == evaluation.energies);
        for count in counts {
            let (divided, shared) = on_ranks(count, |serving| steps(serving, &sample));
            assert!(divided.positions == state.positions && divided.velocities == state.velocities, "{name}, {count}");
            assert!(shared.forces == evaluation.forces && shared.virial == evaluation.virial, "{name}, {count}");
            assert!(shared.energies == evaluation.energies, "{name}, {count}");
        }
    }
}
