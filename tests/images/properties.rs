//! Tests of values that must not depend on the stored periodic images, in rectangular, octahedral, dodecahedral and
//! skewed cells. Lattice translations of whole molecules, wrapping of frames into the cell, and rigid motions of
//! references must not change these values.

use md::analysis::observables::{RadiusOfGyration, RmsdToReference};
use md::analysis::{self, AnalysedSystem, FrameObserver, Images};
use md::cell::PeriodicCell;
use md::convert::{Center, Operation};
use md::ensemble::schedule::Schedule;
use md::image::WholeMolecules;
use md::observe::trajectory::StoredFrame;
use md::restraint::{
    Configuration, Group, Held, Members, PositionRestraints, ReferenceScaling, Superposed, Variable, VariableKind,
};
use md::system::{Atom, Name, Residue, Topology};
use md::vec3::{Vec3, vec3};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{BEADS, chain};

/// Tolerance in nm for positions of some 10 nm that are moved by lattice vectors.
const ROUNDING: f64 = 1e-9;

fn cells() -> impl Strategy<Value = PeriodicCell> {
    let edges = [4.0f64..6.0, 4.0..6.0, 4.0..6.0];
    (0..4, edges, [-0.5f64..0.5, -0.5..0.5, -0.5..0.5]).prop_map(|(kind, [x, y, z], [bx, cx, cy])| match kind {
        0 => PeriodicCell::orthorhombic([x, y, z]),
        1 => PeriodicCell::from_lengths_angles([x + 2.0; 3], [109.471_219; 3]).unwrap(),
        2 => PeriodicCell::from_lengths_angles([x + 1.0; 3], [60.0, 60.0, 90.0]).unwrap(),
        _ => PeriodicCell::from_rows([vec3(x, 0.0, 0.0), vec3(bx * x, y, 0.0), vec3(cx * x, cy * y, z)]).unwrap(),
    })
}

fn turned(r: Vec3, [a, b, c]: [f64; 3]) -> Vec3 {
    let about_z = |r: Vec3, angle: f64| {
        let (sin, cos) = angle.sin_cos();
        vec3(cos * r.x - sin * r.y, sin * r.x + cos * r.y, r.z)
    };
    let r = about_z(r, a);
    let r = about_z(vec3(r.y, r.z, r.x), b);
    about_z(vec3(r.y, r.z, r.x), c)
}

const MOLECULES: usize = 4;

/// Strategy that generates chains in any orientation, each 0.6 to 1.2 nm from the preceding one.
fn molecules() -> impl Strategy<Value = Vec<Vec3>> {
    let turns = || [-3.0f64..3.0, -3.0..3.0, -3.0..3.0];
    vec((turns(), turns(), 0.6f64..1.2), MOLECULES).prop_map(|all| {
        let mut center = vec3(1.0, 0.5, 2.0);
        let molecule = |(own, way, distance): ([f64; 3], [f64; 3], f64)| {
            center += turned(vec3(distance, 0.0, 0.0), way);
            chain().into_iter().map(|r| center + turned(r, own)).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(molecule).collect()
    })
}

fn topology() -> Topology {
    let name = Name::new("C");
    let atom = |index: usize| Atom {
        name,
        type_name: name,
        element: 6,
        mass: 12.0 + (index % BEADS) as f64,
        charge: 0.0,
        lj_type: 0,
        residue: (index / BEADS) as u32,
    };
    let atoms: Vec<Atom> = (0..MOLECULES * BEADS).map(atom).collect();
    let residues = (0..MOLECULES).map(|index| Residue { name, number: 1, first: (index * BEADS) as u32 }).collect();
    let bonds = (1..atoms.len() as u32).filter(|i| !i.is_multiple_of(BEADS as u32)).map(|i| [i - 1, i]).collect();
    Topology { atoms, residues, connectivity: bonds, ..Topology::default() }
}

/// Returns the positions with every molecule translated by its own lattice vector.
fn elsewhere(cell: &PeriodicCell, positions: &[Vec3], images: &[[i32; 3]]) -> Vec<Vec3> {
    positions.iter().enumerate().map(|(index, r)| *r + cell.shift(images[index / BEADS])).collect()
}

fn images() -> impl Strategy<Value = Vec<[i32; 3]>> {
    vec([-2..=2, -2..=2, -2..=2], MOLECULES)
}

/// Returns a frame whose molecules are whole.
fn whole_frame(system: &AnalysedSystem<'_>, cell: &PeriodicCell, positions: &[Vec3]) -> StoredFrame {
    let mut frame = StoredFrame { cell: Some(*cell), positions: positions.to_vec(), ..StoredFrame::default() };
    system.make_whole(&mut frame);
    frame
}

fn all_atoms(system: &AnalysedSystem<'_>) -> analysis::Group {
    system.group_of("all", (0..system.topology().atoms.len() as u32).collect())
}

/// Returns the values of the restrained collective variables at the start of a stage.
fn restrained(topology: &Topology, cell: &PeriodicCell, positions: &[Vec3], reference: &[Vec3]) -> Vec<f64> {
    let molecules = topology.molecules();
    let mass = |atom: u32| topology.atoms[atom as usize].mass;
    let atoms = |from: usize, to: usize| ((from * BEADS) as u32..(to * BEADS) as u32).collect::<Vec<_>>();
    let group = |from, to| Group::new(&atoms(from, to), mass, &molecules, None).unwrap();
    let members = Members::new(atoms(0, MOLECULES), &molecules, None);
    let mut reference = reference.to_vec();
    let fitted = members.parts().fit(cell, &reference, &members.gathered(Some(cell), positions));
    members.parts().shift(cell, &fitted, &mut reference);
    let variables = [
        Variable::Distance([group(0, 2), group(2, 4)], [true; 3]),
        Variable::Angle([group(0, 1), group(1, 3), group(3, 4)]),
        Variable::Torsion([group(0, 2), group(1, 2), group(2, 3), group(2, 4)]),
        Variable::Rmsd(Superposed::new(members, &reference)),
    ];
    let value = |variable: &Variable| {
        let images = variable.gather(Some(cell), positions);
        let value = variable.find(Configuration { cell: Some(cell), positions, images: &images }).value;
        // torsions are periodic, so their cosines are compared
        if variable.kind() == VariableKind::Torsion { value.cos() } else { value }
    };
    variables.iter().map(value).collect()
}

/// Returns the energies of position restraints for each kind of reference scaling, once with reference positions from a
/// cell whose edges are 1.03 times as long, and once with reference positions from the same cell.
fn held(topology: &Topology, cell: &PeriodicCell, positions: &[Vec3], reference: &[Vec3]) -> Vec<f64> {
    let molecules = topology.molecules();
    let scalings = [ReferenceScaling::None, ReferenceScaling::CenterOfMass, ReferenceScaling::All];
    let energy = |scaling, factor: f64| {
        let held = reference.iter().enumerate().map(|(atom, r)| Held::new(atom as u32, *r * factor)).collect();
        let force_constant = Schedule::from(100.0);
        let cell_of_file = Some(cell.scaled(factor));
        let center = Vec3::ZERO;
        let mut restraints =
            PositionRestraints { force_constant, flat_radius: 0.0, scaling, cell: cell_of_file, center, held };
        restraints.place_references(topology, &molecules, Some(cell));
        restraints.choose_images(&molecules, Some(cell), positions);
        restraints.apply(100.0, Some(cell), positions, &mut vec![Vec3::ZERO; positions.len()]).0
    };
    scalings.iter().flat_map(|&scaling| [1.0, 1.03].map(|factor| energy(scaling, factor))).collect()
}

fn agree(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < ROUNDING * a.abs().max(1.0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn observables(cell in cells(), whole in molecules(), shifts in images(), angles in [-3.0f64..3.0, -3.0..3.0, -3.0..3.0]) {
        let topology = topology();
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let group = all_atoms(&system);
        let first = group.positions(&whole_frame(&system, &cell, &whole));
        let reference: Vec<Vec3> = first.iter().map(|r| turned(*r, angles) + vec3(3.0, -1.0, 0.2)).collect();
        let mut in_cell = whole.clone();
        WholeMolecules::of(&topology).put_into_cell(&cell, &mut in_cell);
        let mut values: Vec<[f64; 3]> = vec![];
        for stored in [&whole, &elsewhere(&cell, &whole, &shifts), &in_cell] {
            let frames = [whole_frame(&system, &cell, stored)];
            let mut rg = RadiusOfGyration::new(&system, group.clone()).unwrap();
            rg.observe(&frames).unwrap();
            // the reference positions are also stored in other periodic images
            let of_file = whole_frame(&system, &cell, &elsewhere(&cell, &reference, &shifts));
            let fitted = group.fitted(&of_file, &first);
            let mut rmsd = RmsdToReference::new(&system, group.clone(), fitted, false).unwrap();
            rmsd.observe(&frames).unwrap();
            let still = RmsdToReference::new(&system, group.clone(), first.clone(), false).unwrap();
            let mut still = still.without_superposition();
            still.observe(&frames).unwrap();
            values.push([rg.values()[0], rmsd.values()[0], still.values()[0]]);
        }
        // an RMSD of zero is the square root of rounding errors of squares, so its tolerance is larger
        let is_same = |[rg, rmsd, still]: &[f64; 3]| (rg - values[0][0]).abs() < ROUNDING && *rmsd < 1e-6 && *still < 1e-6;
        prop_assert!(values.iter().all(is_same), "{values:?}");
    }

    #[test]
    fn restraints(cell in cells(), whole in molecules(), shifts in images(), other in images()) {
        let topology = topology();
        // reference positions, displaced from the start by known vectors
        let reference: Vec<Vec3> = whole.iter().enumerate().map(|(i, r)| *r + vec3(0.01 * (i % 7) as f64, 0.02, 0.0)).collect();
        let expected = (restrained(&topology, &cell, &whole, &reference), held(&topology, &cell, &whole, &reference));
        let stored = elsewhere(&cell, &whole, &shifts);
        let values = restrained(&topology, &cell, &stored, &elsewhere(&cell, &reference, &other));
        prop_assert!(agree(&values, &expected.0), "{values:?} {:?}", expected.0);
        let energies = held(&topology, &cell, &stored, &reference);
        prop_assert!(agree(&energies, &expected.1), "{energies:?} {:?}", expected.1);
        // periodic images in a reference file matter only if reference positions from another cell are not scaled
        let energies = held(&topology, &cell, &stored, &elsewhere(&cell, &reference, &other));
        let canonical = [0, 2, 3, 4, 5].map(|k| (energies[k], expected.1[k]));
        prop_assert!(canonical.iter().all(|(a, b)| agree(&[*a], &[*b])), "{canonical:?}");
    }

    #[test]
    fn centered_groups(cell in cells(), whole in molecules(), shifts in images()) {
        let topology = topology();
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let centered = |positions: Vec<Vec3>| {
            let mut frame = StoredFrame { cell: Some(cell), positions, ..StoredFrame::default() };
            Center::new(&system, all_atoms(&system)).apply(&mut frame).unwrap();
            frame.positions
        };
        let (a, b) = (centered(whole.clone()), centered(elsewhere(&cell, &whole, &shifts)));
        prop_assert!(a.iter().zip(&b).all(|(a, b)| (*a - *b).norm() < ROUNDING), "{a:?} {b:?}");
    }
}

/// Tests two frames of a rhombic dodecahedron whose cells are the two reduced forms of one lattice.
#[test]
fn a_centered_group_stays_in_the_same_place_in_both_forms_of_a_cell() {
    let forms = [2.0001, -2.0001].map(|half| {
        let rows = [vec3(4.0, 0.0, 0.0), vec3(0.0, 4.0, 0.0), vec3(half, half, 2.0 * 2f64.sqrt())];
        PeriodicCell::from_rows(rows).unwrap()
    });
    assert!(forms[0].rows()[2].x * forms[1].rows()[2].x < 0.0, "{forms:?}");
    let topology = topology();
    let system = AnalysedSystem::new(&topology, Images::Gathered);
    let mut center = Center::new(&system, all_atoms(&system));
    let positions: Vec<Vec3> = (0..MOLECULES).flat_map(|_| chain()).collect();
    let centered = forms.map(|cell| {
        let mut frame = StoredFrame { cell: Some(cell), positions: positions.clone(), ..StoredFrame::default() };
        center.apply(&mut frame).unwrap();
        frame.positions[0]
    });
    // the two lattices differ by 0.0002 nm
    assert!((centered[0] - centered[1]).norm() < 1e-3, "{centered:?}");
}
