//! Tests of the constraints and masses derived from a topology.

use super::{HH, OH};
use crate::constraint::*;
use crate::error::Error;
use crate::format::{read_coordinates, read_topology};
use crate::system::{Angle, Atom, Bond, Constraint, Constraints, G96Angle, G96Bond, Name, Residue, Topology};
use crate::vec3::Vec3;

/// Methanol (C, 3 H, O, H) and two TIP4P-like waters with a massless site, with bonds as in AMBER.
fn solution() -> Topology {
    let mut topology = Topology::default();
    let mut add = |element: u8, mass: f64, residue: u32| {
        topology.atoms.push(Atom {
            name: Name::new("X"),
            type_name: Name::new("X"),
            element,
            mass,
            charge: 0.0,
            lj_type: 0,
            residue,
        });
    };
    for (element, mass) in [(6, 12.011), (1, 1.008), (1, 1.008), (1, 1.008), (8, 15.999), (1, 1.008)] {
        add(element, mass, 0);
    }
    for residue in 1..3 {
        for (element, mass) in [(8, 15.999), (1, 1.008), (1, 1.008), (0, 0.0)] {
            add(element, mass, residue);
        }
    }
    for (number, (name, first)) in [("MOH", 0), ("WAT", 6), ("WAT", 10)].into_iter().enumerate() {
        topology.residues.push(Residue { name: Name::new(name), number: number as i32 + 1, first });
    }
    let lengths = [([0, 1], 0.109), ([0, 2], 0.109), ([3, 0], 0.109), ([0, 4], 0.141), ([4, 5], 0.096)];
    let waters = [6, 10].into_iter().flat_map(|o| [([o, o + 1], OH), ([o + 2, o], OH), ([o, o + 3], 0.0125)]);
    for (atoms, length) in lengths.into_iter().chain(waters).chain([([7, 8], HH)]) {
        topology.bonded.bonds.push(Bond { atoms, length, force_constant: 1.0 });
        topology.connectivity.push(atoms);
    }
    // the second water specifies its angle instead of the H–H length
    let angle = 2.0 * (HH / 2.0 / OH).asin();
    topology.bonded.angles.push(Angle { atoms: [12, 10, 11], angle, force_constant: 1.0 });
    topology
}

#[test]
fn constraints_follow_from_the_topology() {
    let topology = solution();
    let pairs = |c: &Constraints| c.bonds.iter().map(|b| b.atoms).collect::<Vec<_>>();
    let none = derive(&topology, ConstraintKind::None, false).unwrap();
    assert_eq!(none.count(), 0);
    assert_eq!(degrees_of_freedom(&topology, &none, RemovedMotion::Translation), 3 * 12 - 3);
    assert_eq!(degrees_of_freedom(&topology, &none, RemovedMotion::TranslationAndRotation), 3 * 12 - 6);
    assert_eq!(degrees_of_freedom(&topology, &none, RemovedMotion::Nothing), 3 * 12);

    let usual = derive(&topology, ConstraintKind::HBonds, true).unwrap();
    assert_eq!(pairs(&usual), [[0, 1], [0, 2], [0, 3], [4, 5]]);
    assert_eq!(usual.settles.iter().map(|w| w.atoms).collect::<Vec<_>>(), [[6, 7, 8], [10, 11, 12]]);
    for water in &usual.settles {
        // the test writes the angle with only fifteen digits
        assert!((water.oh - OH).abs() < 1e-15 && (water.hh - HH).abs() < 1e-15);
    }
    assert_eq!(degrees_of_freedom(&topology, &usual, RemovedMotion::Translation), 3 * 12 - 4 - 6 - 3);

    let all = derive(&topology, ConstraintKind::AllBonds, true).unwrap();
    assert_eq!(pairs(&all), [[0, 1], [0, 2], [0, 3], [0, 4], [4, 5]]);
    let flexible = derive(&topology, ConstraintKind::HBonds, false).unwrap();
    assert_eq!(flexible.settles.len(), 0);
    assert_eq!(flexible.bonds.len(), 4 + 3 + 2);
}

#[test]
fn bonds_and_angles_of_gromos_are_constrained_as_harmonic_ones() {
    let harmonic = solution();
    let mut gromos = solution();
    let terms = &mut gromos.bonded;
    let bond = |bond: Bond| G96Bond { atoms: bond.atoms, length: bond.length, force_constant: 1e7 };
    terms.g96_bonds = std::mem::take(&mut terms.bonds).into_iter().map(bond).collect();
    let angle = |angle: Angle| G96Angle { atoms: angle.atoms, angle: angle.angle, force_constant: 500.0 };
    terms.g96_angles = std::mem::take(&mut terms.angles).into_iter().map(angle).collect();
    // a distance term of an elastic network is not a bond and is not constrained
    terms.distances.push(Bond { atoms: [1, 4], length: 0.3, force_constant: 500.0 });
    gromos.connectivity.clear();
    for kind in [ConstraintKind::None, ConstraintKind::HBonds, ConstraintKind::AllBonds] {
        for rigid_water in [true, false] {
            let (theirs, ours) = [&harmonic, &gromos].map(|t| derive(t, kind, rigid_water).unwrap()).into();
            assert_eq!((ours.bonds, ours.settles), (theirs.bonds, theirs.settles), "{kind:?} {rigid_water}");
        }
    }
    let masses = |mut topology: Topology| {
        repartition_hydrogen_mass(&mut topology, 3.0, true).unwrap();
        topology.atoms.iter().map(|atom| atom.mass).collect::<Vec<_>>()
    };
    assert_eq!(masses(gromos), masses(harmonic));
}

/// A GROMACS topology from the test data, its constraints, and positions that satisfy the constraints.
fn helix(kind: ConstraintKind) -> (Topology, Constraints, Vec<Vec3>) {
    let folder = crate::testing::folder("inputs/helix-gromacs");
    let topology = read_topology(&folder.join("helix.top.xz")).unwrap().topology;
    let atoms = topology.atoms.len();
    let coordinates = read_coordinates(&folder.join("helix.gro.xz"), Some(atoms), None).unwrap();
    let constraints = derive(&topology, kind, true).unwrap();
    let reference = coordinates.positions;
    let mut positions = reference.clone();
    plan(&topology, &constraints).satisfy(&reference, &mut positions).unwrap();
    (topology, constraints, positions)
}

fn plan(topology: &Topology, constraints: &Constraints) -> ConstraintPlan {
    let masses: Vec<f64> = topology.atoms.iter().map(|atom| atom.mass).collect();
    ConstraintPlan::new(constraints, &masses).unwrap()
}

#[test]
fn a_peptide_has_the_constraints_and_degrees_of_freedom_of_gromacs() {
    // expected values from `gmx grompp` of GROMACS 2027 with these constraints: entries CONSTR and nrdf of `gmx dump`
    for (kind, bonds, free) in [
        (ConstraintKind::HBonds, 111, 14_679),
        (ConstraintKind::AllBonds, 207, 14_583),
        (ConstraintKind::HAngles, 273, 14_517),
    ] {
        let (topology, constraints, positions) = helix(kind);
        assert_eq!(constraints.bonds.len(), bonds, "{kind:?}");
        assert_eq!(degrees_of_freedom(&topology, &constraints, RemovedMotion::Translation), free, "{kind:?}");
        // displacements in a step at 300 K, in which hydrogens move by about 3 pm
        let mut stream = crate::rng::Stream::new(5, crate::rng::Purpose::Noise, 0, 0);
        let mut moved: Vec<Vec3> = positions.iter().map(|r| *r + super::gauss(&mut stream) * 0.003).collect();
        let before = largest_deviation(&constraints, &moved);
        plan(&topology, &constraints).satisfy(&positions, &mut moved).unwrap();
        let after = largest_deviation(&constraints, &moved);
        // the solver compares half of the relative error of the squared length with the tolerance
        assert!(before > 0.01 && after < 1.01 * constraints.tolerance, "{kind:?}: {before:e}, {after:e}");
    }
}

#[test]
fn four_hydrogens_have_no_more_constraints_than_make_them_rigid() {
    let mut topology = solution();
    topology.atoms[4].element = 1;
    topology.bonded.bonds.retain(|bond| bond.atoms != [4, 5]);
    let pairs = [[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];
    topology.bonded.angles.extend(pairs.map(|[i, k]| Angle { atoms: [i, 0, k], angle: 1.9106, force_constant: 1.0 }));
    let methane = derive(&topology, ConstraintKind::HAngles, true).unwrap();
    assert_eq!(methane.bonds.len(), 9);
    assert_eq!(derive(&topology, ConstraintKind::AllBonds, true).unwrap().bonds.len(), 4);
}

#[test]
fn faults_of_the_topology_are_explained() {
    let message = |topology: &Topology, kind| match derive(topology, kind, true).unwrap_err() {
        Error::Input(problems) => problems[0].to_string(),
        other => panic!("{other}"),
    };
    let mut topology = solution();
    topology.bonded.angles.clear();
    assert!(message(&topology, ConstraintKind::None).contains("water WAT 3 (atom 11) cannot be rigid: neither"));
    let mut topology = solution();
    topology.bonded.bonds.retain(|b| b.atoms != [6, 7]);
    assert!(message(&topology, ConstraintKind::None).contains("no O-H bond length"));
    let mut topology = solution();
    topology.bonded.bonds[0].length = 0.0;
    assert!(message(&topology, ConstraintKind::HBonds).contains("atoms 1 and 2 has length 0 nm"));
    let mut topology = solution();
    topology.bonded.bonds.push(Bond { atoms: [1, 0], length: 0.11, force_constant: 1.0 });
    assert!(message(&topology, ConstraintKind::HBonds).contains("two bonds of different lengths"));
}

#[test]
fn hydrogens_grow_at_the_expense_of_their_heavy_atoms() {
    let total = |t: &Topology| t.atoms.iter().map(|a| a.mass).sum::<f64>();
    let mut topology = solution();
    let before = total(&topology);
    repartition_hydrogen_mass(&mut topology, 3.0, true).unwrap();
    assert!((total(&topology) - before).abs() < 1e-12);
    assert_eq!(topology.atoms[1].mass, 3.0);
    assert!((topology.atoms[0].mass - (12.011 - 3.0 * 1.992)).abs() < 1e-12);
    assert_eq!(topology.atoms[7].mass, 1.008, "rigid waters keep their masses");
    let mut topology = solution();
    repartition_hydrogen_mass(&mut topology, 3.0, false).unwrap();
    assert!((topology.atoms[6].mass - (15.999 - 2.0 * 1.992)).abs() < 1e-12);
    // a water whose three sides are constrained in the topology is rigid in any case
    let side = |i, j| Constraint { atoms: [i, j], length: 0.1 };
    let mut topology = solution();
    topology.constraints = vec![side(6, 7), side(6, 8), side(7, 8)];
    assert_eq!(derive(&topology, ConstraintKind::None, false).unwrap().settles.len(), 1);
    repartition_hydrogen_mass(&mut topology, 3.0, false).unwrap();
    assert_eq!([6, 7].map(|atom| topology.atoms[atom].mass), [15.999, 1.008]);
    assert_eq!(topology.atoms[1].mass, 3.0);
    for bad in [0.0, f64::NAN, 6.0] {
        assert!(repartition_hydrogen_mass(&mut solution(), bad, true).is_err(), "{bad}");
    }
}
