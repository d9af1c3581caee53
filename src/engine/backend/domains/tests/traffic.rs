//! Bytes and messages of one force evaluation, compared with the numbers of halo atoms, domains and ranks.

use super::*;

/// Size of the position of an atom, or of a force: three 64-bit numbers.
const VECTOR: u64 = 24;

/// Returns the messages that this rank sends during `work`, as the difference of its counters after and before.
fn sent_in(ranks: &Ranks, work: impl FnOnce()) -> Traffic {
    let (before, mut difference) = (ranks.sent(), Traffic::default());
    work();
    difference.add_difference(&ranks.sent(), &before);
    difference
}

/// Traffic of one rank in a force evaluation and in a pair search, with the numbers that determine the traffic.
struct Found {
    forces: Traffic,
    search: Traffic,
    home: usize,
    halo: usize,
    zones: u64,
}

fn measured(ranks: Ranks, Sample { system, state }: &Sample) -> Found {
    let schedule = ListSchedule::exact(CUTOFF + 0.03);
    let serving = crate::testing::serving(ranks.clone());
    let (whole, state) = if ranks.is_first() { (Some(system), Some(state)) } else { (None, None) };
    let mut host = serving.host(CompactSystem::new(system), whole, schedule).unwrap();
    upload(&mut host, state).unwrap();
    let search = sent_in(&ranks, || host.build_lists().unwrap());
    host.prune_lists(0.0).unwrap();
    let forces = sent_in(&ranks, || host.forces(Workload::FORCES).unwrap());
    let divided = host.field().division().unwrap().divided().into_iter().filter(|&divided| divided).count();
    let (home, local) = host.field().atoms_here();
    Found { forces, search, home, halo: local - home, zones: (1 << divided) - 1 }
}

#[test]
fn messages_of_a_force_evaluation_follow_from_the_halo() {
    for name in ["octahedron", "tip4pew"] {
        let sample = sample(name);
        for count in [2, 4, 8] {
            let found = Ranks::threads(count, |ranks| measured(ranks, &sample));
            let bytes = |purpose| found.iter().map(|rank| rank.forces.of(purpose).bytes).sum::<u64>();
            assert_eq!(found.iter().map(|rank| rank.home).sum::<usize>(), sample.system.topology.atoms.len());
            // each halo atom is received once, from a rank that sends its position, and its force is sent back
            let halo = found.iter().map(|rank| rank.halo as u64).sum::<u64>();
            assert!(halo > 0);
            assert_eq!(bytes(Purpose::HaloPositions), VECTOR * halo, "{name} on {count} ranks");
            for Found { forces, search, halo, zones, .. } in &found {
                assert_eq!(zones + 1, count as u64, "each divided direction has two domains");
                assert_eq!(forces.of(Purpose::HaloForces).bytes, VECTOR * *halo as u64, "{name} on {count} ranks");
                let messages = |purpose| forces.of(purpose).messages;
                assert_eq!([messages(Purpose::HaloPositions), messages(Purpose::HaloForces)], [*zones; 2]);
                // a gather of marks; exchanges of the spectrum among 2, 4 ranks, or in 4 rows and 2 columns of 8 ranks;
                // charges, and the potential back, between ranks with common points
                let (others, rounds) = (count as u64 - 1, u64::from(count.ilog2()));
                let spectrum = if count == 8 { 2 * (3 + 1) } else { 2 * others };
                let expected = spectrum + rounds + 2..=spectrum + rounds + 2 * others;
                assert!(expected.contains(&messages(Purpose::Mesh)), "{name} on {count} ranks");
                for purpose in [Purpose::Migration, Purpose::Sums, Purpose::Commands, Purpose::Output] {
                    assert_eq!(messages(purpose), 0, "{purpose:?}");
                }
                // messages of a search: four gathers, halo groups of each zone, sent as two messages, a length and a
                // value, and atoms that migrate to some of the other ranks
                let fewest = 4 * rounds + 2 * zones;
                assert!((fewest..=fewest + others).contains(&search.of(Purpose::Migration).messages));
                assert_eq!(search.of(Purpose::HaloPositions).messages, 0);
            }
        }
    }
}

/// Compares the forecast of a system on several ranks with the messages that the ranks send.
#[test]
fn the_forecast_is_near_to_what_is_sent() {
    for name in ["octahedron", "tip4pew"] {
        let sample = sample(name);
        for count in [2, 4, 8] {
            let forecast = RankShare::new(&sample.system, &sample.state, CUTOFF + 0.03, count).unwrap();
            let found = Ranks::threads(count, |ranks| measured(ranks, &sample));
            let mean =
                |purpose| found.iter().map(|rank| rank.forces.of(purpose).bytes).sum::<u64>() as f64 / count as f64;
            let near = |found: f64, forecast: f64| (forecast / found - 1.0).abs() < 0.1;
            let halo = (mean(Purpose::HaloForces), forecast.halo_bytes());
            assert!(near(halo.0, halo.1), "{name} on {count} ranks: halo {halo:?}");
            let mesh = (mean(Purpose::Mesh), forecast.mesh_bytes);
            assert!(near(mesh.0, mesh.1), "{name} on {count} ranks: mesh {mesh:?}");
            let sent: u64 = found.iter().map(|rank| rank.forces.of(Purpose::Mesh).messages).sum();
            let messages = (sent as f64 / count as f64, forecast.mesh_messages);
            assert!(near(messages.0, messages.1), "{name} on {count} ranks: {messages:?} messages of the mesh");
            assert_eq!(forecast.halo_messages() as u64, found[0].zones);
            let largest = found.iter().map(|rank| rank.home).max().unwrap() as f64 / forecast.atoms as f64;
            assert!(near(largest, forecast.work), "{name} on {count} ranks: {largest} of the atoms, {forecast:?}");
        }
    }
}

#[test]
fn rank_0_reads_the_counters_of_all_ranks_and_counts_its_orders() {
    let Sample { system, state } = sample("octahedron");
    assert_eq!(Serving::traffic(&Ranks::alone()), []);
    let (read, again, ordered, home) = on_ranks(4, |serving| {
        let mut domains = Domains::new(serving, &system, ListSchedule::exact(CUTOFF + 0.03)).unwrap();
        domains.upload(&state).unwrap();
        domains.build_lists().unwrap();
        domains.prune_lists(0.0).unwrap();
        let [read, again] = [Serving::traffic(&serving.ranks), Serving::traffic(&serving.ranks)];
        domains.forces(EVERYTHING).unwrap();
        (read, again, Serving::traffic(&serving.ranks), domains.host.field().atoms_here().0)
    });
    assert_eq!(read.len(), 4);
    let orders = |after: &[Traffic], before: &[Traffic]| {
        [0, 1, 2, 3]
            .map(|rank: usize| after[rank].of(Purpose::Commands).messages - before[rank].of(Purpose::Commands).messages)
    };
    // an order is sent by rank 0 to the ranks 1 and 2, and by rank 2 to rank 3; reading the counters is an order
    assert_eq!(orders(&again, &read), [2, 0, 1, 0]);
    assert_eq!(orders(&ordered, &again), [4, 0, 2, 0]);
    // energies and virial are gathered once after a check for failures; rank 0 collects the forces and the numbers of
    // their atoms
    for (rank, (after, before)) in ordered.iter().zip(&read).enumerate() {
        let messages = |purpose| after.of(purpose).messages - before.of(purpose).messages;
        assert_eq!([messages(Purpose::Sums), messages(Purpose::Output)], [2 * 2, if rank == 0 { 0 } else { 2 }]);
    }
    let output: u64 =
        ordered.iter().zip(&read).map(|(a, b)| a.of(Purpose::Output).bytes - b.of(Purpose::Output).bytes).sum();
    let sent = system.topology.atoms.len() - home;
    assert_eq!(output, (VECTOR + size_of::<u32>() as u64) * sent as u64);
}
