use super::*;
use crate::rng::{Purpose, Stream};
use crate::system::Construction;
use crate::term::Real;
use crate::term::dual::{Dual, dual};

/// Tolerance of the difference between forces of about 1 from dual numbers and from the formulas. The difference is the
/// rounding of a few dozen operations.
const ROUNDING: f64 = 1e-12;

/// Returns a construction of every kind, on atoms without special geometry.
fn constructions() -> Vec<Construction> {
    let atoms = [0, 1, 2];
    let local = vec![[0.2, -1.0, 0.3], [0.5, 0.4, -0.9], [0.3, 0.6, 0.6]];
    vec![
        Construction::Average2 { atoms: [1, 0], weights: [0.3, 0.7] },
        Construction::Average3 { atoms, weights: [0.8, 0.1, 0.1] },
        Construction::Average { atoms: vec![3, 1, 0, 2], weights: vec![0.1, 0.2, 0.3, 0.4] },
        Construction::FixedDistance2 { atoms: [0, 2], distance: 0.05 },
        Construction::FixedDistance3 { atoms, weight: 0.4, distance: 0.07 },
        Construction::FixedAngle3 { atoms, angle: 2.1, distance: 0.1 },
        Construction::OutOfPlane { atoms, weights: [-0.34, -0.33], cross: 6.4 },
        Construction::FixedDistance4 { atoms: [0, 1, 2, 3], weights: [0.9, 0.8], distance: 0.1 },
        Construction::LocalFrame { atoms: vec![0, 1, 2], weights: local, position: [0.01, -0.05, 0.03] },
    ]
}

/// Returns the positions of four atoms with distances of about 0.15 nm, far from the origin.
fn positions(seed: u64) -> Vec<Vec3> {
    let mut random = Stream::new(seed, Purpose::Test, 0, 0);
    let mut jitter = || Vec3::from([(); 3].map(|()| random.between(-0.03, 0.03)));
    let chain = [vec3(4.0, -3.0, 2.0), vec3(4.15, -3.0, 2.0), vec3(4.0, -2.85, 2.05), vec3(3.9, -3.05, 2.15)];
    chain.iter().map(|r| *r + jitter()).collect()
}

fn spread_on(construction: &Construction, positions: &[Vec3], force: Vec3) -> Vec<Vec3> {
    let mut forces = vec![Vec3::ZERO; positions.len()];
    spread(construction, |atom| positions[atom as usize], force, |atom, part| forces[atom as usize] += part);
    forces
}

#[test]
fn forces_are_the_derivative_of_the_position() {
    let force = vec3(0.7, -0.4, 1.1);
    for construction in constructions() {
        for seed in 0..20 {
            let positions = positions(seed);
            let forces = spread_on(&construction, &positions, force);
            for atom in 0..positions.len() {
                for axis in 0..3 {
                    let at = |i: u32| {
                        let mut r = positions[i as usize].map(|x| dual(x, 0.0)).to_array();
                        r[axis].slope = if i as usize == atom { 1.0 } else { 0.0 };
                        Vec3::<Dual>::from(r)
                    };
                    let work = position(&construction, at).dot(force.map(Dual::constant)).slope;
                    let found = forces[atom].to_array()[axis];
                    assert!((found - work).abs() < ROUNDING, "{construction:?} {atom} {axis}: {found} for {work}");
                }
            }
        }
    }
}

#[test]
fn total_force_and_torque_stay() {
    let force = vec3(0.7, -0.4, 1.1);
    for construction in constructions() {
        let positions = positions(5);
        let site = position(&construction, |atom| positions[atom as usize]);
        let forces = spread_on(&construction, &positions, force);
        let total: Vec3 = forces.iter().copied().sum();
        let torque: Vec3 = positions.iter().zip(&forces).map(|(r, f)| (*r - site).cross(*f)).sum();
        assert!((total - force).norm() < ROUNDING && torque.norm() < ROUNDING, "{construction:?}");
    }
}

/// Returns a topology with one site of every kind. The four atoms of each site are interleaved with the atoms of other
/// sites. All sites come after all atoms.
fn topology() -> Topology {
    let kinds = constructions();
    let number = kinds.len() as u32;
    let moved = |construction: &Construction, k: u32| {
        let mut moved = construction.clone();
        moved.atoms_mut().iter_mut().for_each(|atom| *atom = *atom * number + k);
        VirtualSite { site: 4 * number + k, construction: moved }
    };
    let virtual_sites = (0..number).zip(&kinds).map(|(k, kind)| moved(kind, k)).collect();
    Topology { virtual_sites, ..Topology::default() }
}

#[test]
fn a_plan_places_and_spreads_all_and_counts_their_virial() {
    let topology = topology();
    let number = topology.virtual_sites.len();
    let mut plan = SitePlan::new(&topology);
    let team = Team::single();
    let one = positions(3);
    let mut all: Vec<Vec3> = (0..4 * number).map(|i| one[i / number]).collect();
    all.resize(5 * number, Vec3::ZERO);
    plan.place(&team, &mut all);
    let at = |k: usize| position(&constructions()[k], |atom| one[atom as usize]);
    assert!((0..number).all(|k| all[4 * number + k] == at(k)), "atoms stay, sites are placed");
    let force = vec3(-0.2, 0.9, 0.4);
    let mut forces = vec![Vec3::ZERO; all.len()];
    forces[4 * number..].fill(force);
    let before: Mat3 = (4 * number..all.len()).map(|i| Mat3::outer(all[i], force)).fold(Mat3::ZERO, |sum, w| sum + w);
    let (mut listed, mut errors) = (forces.clone(), forces.iter().map(|f| f.norm()).collect::<Vec<_>>());
    let change = plan.spread(&team, &all, &mut forces);
    let after: Mat3 = all.iter().zip(&forces).map(|(r, f)| Mat3::outer(*r, *f)).fold(Mat3::ZERO, |sum, w| sum + w);
    for (row, k) in (0..3).flat_map(|row| (0..3).map(move |k| (row, k))) {
        let error = before.0[row][k] + change.0[row][k] - after.0[row][k];
        assert!(error.abs() < 100.0 * ROUNDING, "virial {row} {k}: {error}");
    }
    assert!(forces[4 * number..].iter().all(|f| *f == Vec3::ZERO));
    // `spread_listed` with all atoms and sites must distribute the same forces
    let everybody: Vec<u32> = (0..all.len() as u32).collect();
    plan.spread_listed(&all, &everybody, &mut listed);
    assert_eq!(listed, forces);
    plan.spread_errors(&all, &everybody, &mut errors);
    assert!(forces.iter().zip(&errors).all(|(force, error)| force.norm() <= *error + ROUNDING));
    assert_eq!(plan.with_sites(&[0]), [vec![0], (0..1).map(|k| 4 * number as u32 + k).collect()].concat());
}

/// Returns a topology with the sites 5, 4 and 6, in this order of construction, on the atoms 0 to 3. Sites 4 and 6 are
/// constructed from earlier sites.
fn nested() -> Topology {
    let sites = [
        (5, Construction::FixedDistance3 { atoms: [0, 1, 2], weight: 0.4, distance: 0.07 }),
        (4, Construction::OutOfPlane { atoms: [5, 3, 1], weights: [0.3, 0.4], cross: 2.0 }),
        (6, Construction::Average { atoms: vec![4, 5, 0], weights: vec![0.5, 0.2, 0.3] }),
    ];
    let virtual_sites = sites.map(|(site, construction)| VirtualSite { site, construction }).to_vec();
    Topology { virtual_sites, ..Topology::default() }
}

#[test]
fn sites_made_of_sites_are_placed_and_spread_in_order() {
    let (topology, team) = (nested(), Team::single());
    let mut plan = SitePlan::new(&topology);
    let mut all = positions(7);
    all.resize(7, Vec3::ZERO);
    plan.place(&team, &mut all);
    let on_sites = [vec3(0.7, -0.4, 1.1), vec3(-0.3, 0.8, 0.2), vec3(0.5, 0.6, -0.9)];
    let mut forces = vec![Vec3::ZERO; 7];
    forces[4..].copy_from_slice(&on_sites);
    let mut listed = forces.clone();
    let mut errors: Vec<f64> = forces.iter().map(|force| force.norm()).collect();
    let change = plan.spread(&team, &all, &mut forces);
    assert_eq!(forces[4..], [Vec3::ZERO; 3]);
    for (atom, axis) in (0..4).flat_map(|atom| (0..3).map(move |axis| (atom, axis))) {
        let mut dual_positions: Vec<Vec3<Dual>> = all.iter().map(|r| r.map(|x| dual(x, 0.0))).collect();
        let mut moved = dual_positions[atom].to_array();
        moved[axis].slope = 1.0;
        dual_positions[atom] = moved.into();
        for VirtualSite { site, construction } in &topology.virtual_sites {
            dual_positions[*site as usize] = position(construction, |i| dual_positions[i as usize]);
        }
        let work = |k: usize| dual_positions[4 + k].dot(on_sites[k].map(Dual::constant)).slope;
        let (found, expected) = (forces[atom].to_array()[axis], work(0) + work(1) + work(2));
        assert!((found - expected).abs() < ROUNDING, "{atom} {axis}: {found} for {expected}");
    }
    let virial = |forces: &[Vec3]| all.iter().zip(forces).fold(Mat3::ZERO, |sum, (r, f)| sum + Mat3::outer(*r, *f));
    let (before, after) = (virial(&listed), virial(&forces));
    for (row, k) in (0..3).flat_map(|row| (0..3).map(move |k| (row, k))) {
        let error = before.0[row][k] + change.0[row][k] - after.0[row][k];
        assert!(error.abs() < 100.0 * ROUNDING, "virial {row} {k}: {error}");
    }
    let everybody: Vec<u32> = (0..7).collect();
    plan.spread_listed(&all, &everybody, &mut listed);
    assert_eq!(listed, forces);
    plan.spread_errors(&all, &everybody, &mut errors);
    assert!(forces.iter().zip(&errors).all(|(force, error)| force.norm() <= *error + ROUNDING));
    // site 5 is constructed from atom 2, and the sites 4 and 6 depend on site 5; site 4 is constructed from atom 3, and
    // site 6 from site 4
    assert_eq!(plan.with_sites(&[2]), [2, 4, 5, 6]);
    assert_eq!(plan.with_sites(&[3]), [3, 4, 6]);
}

#[test]
fn sections_share_no_atom_and_threads_change_no_bit() {
    // number of molecules (three atoms and a site each), large enough for several sections
    let waters = 3000u32;
    let sites = (0..waters).map(|w| VirtualSite {
        site: 4 * w + 3,
        construction: Construction::Average3 { atoms: [4 * w, 4 * w + 1, 4 * w + 2], weights: [0.8, 0.1, 0.1] },
    });
    let mut virtual_sites: Vec<VirtualSite> = sites.collect();
    virtual_sites.reverse();
    let topology = Topology { virtual_sites, ..Topology::default() };
    let mut plan = SitePlan::new(&topology);
    assert!(plan.sections.len() > 8, "{}", plan.sections.len());
    assert!(plan.sections.windows(2).all(|pair| pair[0].atoms.end <= pair[1].atoms.start));
    let mut random = Stream::new(8, Purpose::Test, 0, 0);
    let mut vectors =
        || (0..4 * waters).map(|_| Vec3::from([(); 3].map(|()| random.between(-1.0, 1.0)))).collect::<Vec<_>>();
    let (start, forces) = (vectors(), vectors());
    let mut results = [1, 3].map(|threads| {
        let team = if threads == 1 {
            Team::single()
        } else {
            std::sync::Arc::new(Team::new(threads, |_| ()).expect("threads"))
        };
        let (mut positions, mut forces) = (start.clone(), forces.clone());
        plan.place(&team, &mut positions);
        let virial = plan.spread(&team, &positions, &mut forces);
        (positions, forces, virial.0)
    });
    let [one, three] = &mut results;
    assert_eq!(one, three);
}
