//! Property tests of periodic images in cells of every shape.

use super::{Image, Parts, Paths, WholeMolecules};
use crate::cell::PeriodicCell;
use crate::system::Molecules;
use crate::vec3::{Vec3, vec3};
use nalgebra::{Rotation3, Vector3};
use proptest::collection::vec;
use proptest::prelude::*;

/// Tolerance (nm) for positions below 100 nm that are displaced by a few lattice vectors, with rounding errors of 1e-14
/// each.
const ROUNDING: f64 = 1e-11;

/// Rectangular, octahedral, dodecahedral and skewed cells, nm.
fn cells() -> impl Strategy<Value = PeriodicCell> {
    let edges = [3.0f64..6.0, 3.0..6.0, 3.0..6.0];
    (0..4, edges, [-0.5f64..0.5, -0.5..0.5, -0.5..0.5]).prop_map(|(kind, [x, y, z], [bx, cx, cy])| match kind {
        0 => PeriodicCell::orthorhombic([x, y, z]),
        1 => PeriodicCell::from_lengths_angles([x; 3], [109.471_219; 3]).expect("a cell"),
        2 => PeriodicCell::from_lengths_angles([x; 3], [60.0, 60.0, 90.0]).expect("a cell"),
        _ => {
            PeriodicCell::from_rows([vec3(x, 0.0, 0.0), vec3(bx * x, y, 0.0), vec3(cx * x, cy * y, z)]).expect("a cell")
        }
    })
}

/// Chains of four atoms 0.15 nm apart, in random directions from random starts.
fn chains(count: usize) -> impl Strategy<Value = Vec<Vec3>> {
    let point = || [-1.0f64..1.0, -1.0..1.0, -1.0..1.0].prop_map(Vec3::from);
    vec((point(), vec(point(), 3)), 2..=count).prop_map(|chains| {
        let chain = |(start, steps): (Vec3, Vec<Vec3>)| {
            let mut at = start * 20.0;
            let step = move |d: Vec3| {
                at += d * (0.15 / d.norm().max(0.1));
                at
            };
            std::iter::once(start * 20.0).chain(steps.into_iter().map(step)).collect::<Vec<_>>()
        };
        chains.into_iter().flat_map(chain).collect()
    })
}

/// Bonds of the chains, which have four atoms each.
fn bonds(atoms: usize) -> Vec<[u32; 2]> {
    (0..atoms as u32 - 1).filter(|i| i % 4 != 3).map(|i| [i, i + 1]).collect()
}

fn images(count: usize) -> impl Strategy<Value = Vec<Image>> {
    vec([-3..=3, -3..=3, -3..=3], count)
}

fn parts(atoms: usize) -> Parts {
    let all: Vec<u32> = (0..atoms as u32).collect();
    Parts::new(&Molecules::from_bonds(atoms, &bonds(atoms)), &all)
}

/// Returns the displacement of each atom from the first atom.
fn shape(positions: &[Vec3]) -> Vec<Vec3> {
    positions.iter().map(|r| *r - positions[0]).collect()
}

fn agree(a: &[Vec3], b: &[Vec3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (*a - *b).norm() < ROUNDING)
}

proptest! {
    /// Scattered atoms return to their original chains, up to a lattice vector for each chain.
    #[test]
    fn molecules_become_whole(cell in cells(), chains in chains(5), images in images(20)) {
        let mut scattered = chains.clone();
        scattered.iter_mut().zip(&images).for_each(|(r, n)| *r += cell.shift(*n));
        WholeMolecules::new(chains.len(), &bonds(chains.len())).make_whole(&cell, &mut scattered);
        for (a, b) in scattered.chunks(4).zip(chains.chunks(4)) {
            prop_assert!(agree(&shape(a), &shape(b)));
        }
    }

    /// Gathering gives the same arrangement for any stored images of the molecules.
    #[test]
    fn gathering_does_not_depend_on_stored_images(cell in cells(), chains in chains(8), images in images(8)) {
        let parts = parts(chains.len());
        let (mut a, mut b) = (chains.clone(), chains);
        parts.shift(&cell, &images, &mut b);
        parts.make_gathered(&cell, &mut a);
        parts.make_gathered(&cell, &mut b);
        prop_assert!(agree(&shape(&a), &shape(&b)), "{a:?} {b:?}");
    }

    /// The links that hold a gathered group together are the shortest possible links: a spanning tree of an independent
    /// algorithm (Prim's, over all pairs of atoms and images) has the same length. No gap in the gathered group is
    /// longer than the longest link.
    #[test]
    fn gathered_molecules_hang_on_the_shortest_links(cell in cells(), chains in chains(7)) {
        let parts = parts(chains.len());
        let mut gathered = chains.clone();
        parts.make_gathered(&cell, &mut gathered);
        let periodic = |a: Vec3, b: Vec3| cell.minimum_image(b - a).norm();
        let direct = |a: Vec3, b: Vec3| (b - a).norm();
        let tree = [tree_length(&chains, periodic), tree_length(&gathered, direct)];
        prop_assert!((tree[0] - tree[1]).abs() < ROUNDING, "{tree:?}");
    }

    /// Points walk in a cell whose size fluctuates. The paths of the points are the same whatever images are stored,
    /// and in a cell of constant size the paths are equal to the walks.
    #[test]
    fn paths_do_not_depend_on_stored_images(
        cell in cells(),
        walk in vec([-0.5f64..0.5, -0.5..0.5, -0.5..0.5], 1..30),
        stored in images(30),
        strains in vec(0.98f64..1.02, 30),
    ) {
        let mut at = Vec3::splat(0.3);
        let step = |step: [f64; 3]| { at += Vec3::from(step); at };
        let points: Vec<Vec3> = std::iter::once(Vec3::splat(0.3)).chain(walk.into_iter().map(step)).collect();
        for fluctuates in [false, true] {
            let cells = strains.iter().map(|&strain| cell.scaled(if fluctuates { strain } else { 1.0 }));
            let [mut plain, mut shifted] = [Paths::default(), Paths::default()];
            let mut starts = [Vec3::ZERO; 2];
            for (frame, ((cell, point), image)) in cells.zip(&points).zip(&stored).enumerate() {
                let other = *point + cell.shift(*image);
                let mut found = [*point, other].into_iter().zip([&mut plain, &mut shifted]);
                let found: [Vec3; 2] = std::array::from_fn(|_| {
                    let (point, paths) = found.next().expect("two paths");
                    paths.add(Some(&cell), &[point]).next().expect("one point")
                });
                if frame == 0 {
                    starts = found;
                }
                let moved = [found[0] - starts[0], found[1] - starts[1]];
                prop_assert!((moved[0] - moved[1]).norm() < ROUNDING, "{moved:?}");
                prop_assert!(fluctuates || (moved[0] - (*point - points[0])).norm() < ROUNDING, "{moved:?}");
            }
        }
    }

    /// A copy of the target is rotated and moved, and its molecules are moved to random images. The fit restores the
    /// images of the target.
    #[test]
    fn references_fit(
        cell in cells(), chains in chains(6), images in images(6), angles in [-3.0f64..3.0, -3.0..3.0, -3.0..3.0],
    ) {
        let parts = parts(chains.len());
        let turn = Rotation3::from_euler_angles(angles[0], angles[1], angles[2]);
        let turned = |r: &Vec3| Vec3::from(<[f64; 3]>::from(turn * Vector3::from(r.to_array()))) + Vec3::splat(1.0);
        let whole: Vec<Vec3> = chains.iter().map(turned).collect();
        let mut reference = whole.clone();
        parts.shift(&cell, &images, &mut reference);
        let found = parts.fit(&cell, &reference, &chains);
        parts.shift(&cell, &found, &mut reference);
        // for nearly straight chains the error of the rotation about the chain axis is the square root of the
        // rounding error
        let deviation = crate::superpose::Superposition::new(&reference, &chains).deviation(&reference, &chains);
        prop_assert!(deviation < 1e-6, "{deviation}");
    }
}

proptest! {
    /// Each molecule has turned, moved by up to 0.4 nm along each axis, and gone to a random image. The deviation after
    /// superposition in the images of the fit is not larger than the deviation without superposition in the original
    /// images.
    #[test]
    fn molecules_that_moved_apart_fit(
        cell in cells(),
        chains in chains(30),
        moves in vec(([-0.4f64..0.4, -0.4..0.4, -0.4..0.4], -3.0f64..3.0, [-3..=3, -3..=3, -3..=3]), 30),
    ) {
        let parts = parts(chains.len());
        let mut target = chains;
        parts.shift(&cell, &parts.gather(&cell, &target), &mut target);
        let moved = |(molecule, (by, angle, _)): (&[Vec3], &([f64; 3], f64, Image))| {
            let turn = Rotation3::from_euler_angles(*angle, 0.0, 0.0);
            let first = molecule[0];
            let turned = |r: &Vec3| Vec3::from(<[f64; 3]>::from(turn * Vector3::from((*r - first).to_array())));
            molecule.iter().map(|r| first + Vec3::from(*by) + turned(r)).collect::<Vec<_>>()
        };
        let mut reference: Vec<Vec3> = target.chunks(4).zip(&moves).flat_map(moved).collect();
        let squares: f64 = reference.iter().zip(&target).map(|(a, b)| (*a - *b).norm_squared()).sum();
        let images: Vec<Image> = moves.iter().map(|(.., image)| *image).collect();
        parts.shift(&cell, &images, &mut reference);
        let found = parts.fit(&cell, &reference, &target);
        parts.shift(&cell, &found, &mut reference);
        let deviation = crate::superpose::Superposition::new(&reference, &target).deviation(&reference, &target);
        prop_assert!(deviation <= (squares / target.len() as f64).sqrt() + ROUNDING, "{deviation}");
    }
}

/// Returns the length of the minimum spanning tree over chains, from distances between atoms (Prim's algorithm).
fn tree_length(positions: &[Vec3], distance: impl Fn(Vec3, Vec3) -> f64) -> f64 {
    let chains: Vec<&[Vec3]> = positions.chunks(4).collect();
    let between = |a: &[Vec3], b: &[Vec3]| {
        let pairs = a.iter().flat_map(|r| b.iter().map(|s| distance(*r, *s)));
        pairs.fold(f64::INFINITY, f64::min)
    };
    let (mut length, mut inside) = (0.0, vec![0]);
    while inside.len() < chains.len() {
        let outside = (0..chains.len()).filter(|chain| !inside.contains(chain));
        let nearest = |&chain: &usize| {
            inside.iter().map(|&other| between(chains[other], chains[chain])).fold(f64::INFINITY, f64::min)
        };
        let next = outside.min_by(|a, b| nearest(a).total_cmp(&nearest(b))).expect("one is outside");
        length += nearest(&next);
        inside.push(next);
    }
    length
}

#[test]
fn a_chain_of_contacts_stays_together_beyond_half_the_cell() {
    let cell = PeriodicCell::orthorhombic([8.0; 3]);
    let whole: Vec<Vec3> = (0..6).map(|i| vec3(f64::from(i) * 1.2, 0.3, 0.1)).collect();
    let parts = Parts::new(&Molecules::from_bonds(6, &[]), &[0, 1, 2, 3, 4, 5]);
    let mut stored: Vec<Vec3> = whole.iter().map(|r| cell.wrap(*r + vec3(3.0, 0.0, 0.0)).0).collect();
    parts.make_gathered(&cell, &mut stored);
    assert!(agree(&shape(&stored), &shape(&whole)), "{stored:?}");
    // gathering around the last atom moves each atom to within half of the cell edge from the last atom, so that the
    // first atom, which was 6 nm away, moves to the opposite side of the last atom
    let images = parts.gather_around(&cell, &whole, whole[5]);
    assert_eq!(images, [[1, 0, 0], [1, 0, 0], [0; 3], [0; 3], [0; 3], [0; 3]]);
}

#[test]
fn parts_are_the_molecules_of_a_selection() {
    let molecules = Molecules::from_bonds(6, &[[1, 4], [3, 5]]);
    let parts = Parts::new(&molecules, &[4, 5, 1, 0]);
    assert_eq!(parts.iter().collect::<Vec<_>>(), [&[0, 2][..], &[1], &[3]]);
}
