//! Compares lists with brute force: every pair of atoms within the radius, in every lattice image, is listed exactly
//! once, and no pair is listed twice.

use super::prune::close;
use super::*;
use crate::cell::PeriodicCell;
use crate::rng::{Purpose, Stream};
use crate::simd::Level;
use crate::system::Exclusions;
use crate::vec3::{Vec3, vec3};
use proptest::prelude::*;
use std::collections::HashMap;

/// Tolerance of distances, nm. A distance is computed in `f32` from offsets within blocks and from block centers. The
/// result has a few rounding errors of coordinates up to 10 nm, of 5·10⁻⁷ nm each.
const ROUNDING: f64 = 5e-6;
/// Densities (atoms per nm³) of water, and of a gas in which most blocks are nearly empty.
const DENSITIES: [f64; 2] = [100.0, 4.0];

/// Shapes of the cells of the tests; `Vacuum` has no cell.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Cube,
    Slab,
    Octahedron,
    Skewed,
    Vacuum,
}

const SHAPES: [Shape; 5] = [Shape::Cube, Shape::Slab, Shape::Octahedron, Shape::Skewed, Shape::Vacuum];

/// A system, and the radii of its lists.
#[derive(Clone, Debug)]
struct Case {
    cell: Option<PeriodicCell>,
    positions: Vec<Vec3>,
    exclusions: Exclusions,
    has_lj: Vec<bool>,
    /// uncharged atoms that are kept in the second section
    apart: Vec<bool>,
    cutoff: f64,
    outer: f64,
    inner: f64,
}

impl Case {
    /// Returns molecules of up to three atoms at random positions, in any image, with all pairs inside a molecule
    /// excluded.
    fn new(shape: Shape, atoms: usize, density: f64, seed: u64) -> Self {
        let mut random = Stream::new(seed, Purpose::Test, 0, 0);
        let mut between = |low, high| random.between(low, high);
        let edge = (atoms as f64 / density).cbrt();
        let frame = match shape {
            Shape::Cube | Shape::Vacuum => PeriodicCell::orthorhombic([edge; 3]),
            Shape::Slab => PeriodicCell::orthorhombic([1.5 * edge, edge, 0.7 * edge]),
            Shape::Octahedron => PeriodicCell::from_lengths_angles([1.1 * edge; 3], [109.471_219; 3]).expect("a cell"),
            Shape::Skewed => {
                PeriodicCell::from_lengths_angles([edge, 1.3 * edge, 1.1 * edge], [65.0, 70.0, 62.0]).expect("a cell")
            }
        };
        let cell = (!matches!(shape, Shape::Vacuum)).then_some(frame);
        // as in a run, no atom is within the cutoff of its own periodic image; the list radius is so long that some
        // pairs are listed in two images
        let limit = cell.map_or(f64::INFINITY, |cell| cell.max_cutoff());
        let cutoff = (0.9 * limit).min(0.9);
        let arm = (0.25 * cutoff).min(0.1);
        let (mut positions, mut excluded): (Vec<Vec3>, Vec<[u32; 2]>) = (vec![], vec![]);
        while positions.len() < atoms {
            let first = positions.len() as u32;
            let center = frame.to_cartesian(vec3(between(0.0, 1.0), between(0.0, 1.0), between(0.0, 1.0)));
            for i in first..(first + 3).min(atoms as u32) {
                let beside = vec3(between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0));
                let image = [(); 3].map(|()| between(-1.0, 2.0).floor() as i32);
                let shift = cell.map_or(Vec3::ZERO, |cell| cell.shift(image));
                positions.push(center + beside * (arm / beside.norm()) + shift);
                excluded.extend((first..i).map(|other| [other, i]));
            }
        }
        Case {
            cell,
            has_lj: (0..atoms).map(|i| i % 3 == 0).collect(),
            apart: vec![],
            exclusions: Exclusions::from_pairs(atoms, excluded),
            positions,
            cutoff,
            outer: (1.25 * cutoff).min(2.0 * limit - cutoff),
            inner: 1.05 * cutoff,
        }
    }

    /// Removes the charge from every second atom that has Lennard-Jones interactions.
    fn with_uncharged(self) -> Self {
        Case { apart: (0..self.positions.len()).map(|i| i % 6 == 0).collect(), ..self }
    }

    /// Returns whether a pair has Coulomb interactions, and Lennard-Jones interactions.
    fn interactions(&self, pair: [u32; 2]) -> [bool; 2] {
        let charged = |i: u32| self.apart.get(i as usize) != Some(&true);
        [pair.into_iter().all(charged), pair.into_iter().all(|i| self.has_lj[i as usize])]
    }

    fn distance(&self, [i, j]: [u32; 2], image: [i32; 3]) -> f64 {
        let shift = self.cell.map_or(Vec3::ZERO, |cell| cell.shift(image));
        (self.positions[i as usize] - self.positions[j as usize] + shift).norm()
    }
}

/// Atoms i ≤ j and the lattice shift of i relative to j: r_i + shift − r_j is the distance vector.
type Key = ([u32; 2], [i32; 3]);

fn key(i: u32, j: u32, image: [i32; 3]) -> Key {
    let opposite = image.map(|n| -n);
    if i < j || i == j && image <= opposite { ([i, j], image) } else { ([j, i], opposite) }
}

/// Number of times that each pair is listed as interacting and as excluded.
type Listed = HashMap<Key, [u32; 2]>;

/// Returns all atom pairs of a list. If `far` is false, blocks beyond the Coulomb radius are left out.
fn listed(grid: &Grid, list: &PairList, has_lj: &[bool], far: bool) -> Listed {
    let mut found = Listed::new();
    for chunk in &list.chunks {
        for entry in &chunk.entries {
            let slots = entry.cluster as usize * CLUSTER..(entry.cluster as usize + 1) * CLUSTER;
            let rows: Vec<u32> = slots.map(|slot| grid.slot_atom[slot]).collect();
            let silent = match entry.lj_rows {
                LjRows::None => &rows[..],
                LjRows::Half => &rows[2..],
                LjRows::All => &[],
            };
            assert!(silent.iter().all(|&a| a == NO_ATOM || !has_lj[a as usize]), "{entry:?} leaves out an interaction");
            let masked = &chunk.masked[entry.masked[0] as usize..entry.masked[1] as usize];
            let far_bits = if !far { 0 } else { [0, 0xffff, u32::MAX][entry.lj_rows.vectors()] };
            let ranges = [
                (entry.both(), u32::MAX),
                (entry.single(0), 0xffff),
                (entry.single(1), 0xffff << 16),
                (entry.far(), far_bits),
            ];
            let plain = ranges.into_iter().flat_map(|(range, interacting)| {
                chunk.plain[range].iter().map(move |&block| MaskedPair {
                    block,
                    interacting,
                    excluded: 0,
                    excepted: false,
                })
            });
            for pair in masked.iter().copied().chain(plain) {
                for bit in 0..(CLUSTER * BLOCK) {
                    let (i, j) = (rows[bit / BLOCK], grid.slot_atom[pair.block as usize * BLOCK + bit % BLOCK]);
                    if i == NO_ATOM || j == NO_ATOM {
                        continue;
                    }
                    let (a, b) = (grid.images[i as usize], grid.images[j as usize]);
                    let moved = shift_image(entry.shift as usize);
                    let times = found.entry(key(i, j, std::array::from_fn(|k| moved[k] - a[k] + b[k]))).or_default();
                    times[0] += pair.interacting >> bit & 1;
                    times[1] += pair.excluded >> bit & 1;
                }
            }
        }
    }
    found
}

/// Visits every pair of atoms closer than `radius` with its distance, in every image. For radii below the length of
/// the third row of a reduced cell, the images tried here include all such pairs of wrapped positions.
fn each_near(case: &Case, grid: &Grid, radius: f64, mut visit: impl FnMut(Key, f64)) {
    let shift = |image| case.cell.map_or(Vec3::ZERO, |cell| cell.shift(image));
    let reach = if case.cell.is_some() { [2, 1, 1] } else { [0; 3] };
    let span = |k: usize| -reach[k]..=reach[k];
    let images = span(0).flat_map(|x| span(1).flat_map(move |y| span(2).map(move |z| [x, y, z])));
    let images: Vec<([i32; 3], Vec3)> = images.map(|image| (image, shift(image))).collect();
    let wrapped: Vec<Vec3> = case.positions.iter().zip(&grid.images).map(|(&r, &image)| r - shift(image)).collect();
    for j in 0..wrapped.len() {
        for i in 0..j {
            let d = wrapped[i] - wrapped[j];
            for &(image, shift) in &images {
                let distance = (d + shift).norm();
                if distance < radius {
                    let (a, b) = (grid.images[i], grid.images[j]);
                    visit(key(i as u32, j as u32, std::array::from_fn(|k| image[k] - a[k] + b[k])), distance);
                }
            }
        }
    }
}

/// Checks that the list holds each pair within the radius once, and no pair twice.
fn check_list(case: &Case, grid: &Grid, list: &PairList, reach: Reach) {
    let found = listed(grid, list, &case.has_lj, false);
    for (&([i, j], image), times) in &found {
        let excluded = case.exclusions.contains(i, j);
        let what = format!("{i} {j} {image:?}, {} nm apart: {times:?}", case.distance([i, j], image));
        assert!(times[0] + times[1] <= 1, "listed twice: {what}");
        assert!(times[usize::from(!excluded)] == 0, "excluded and ordinary pairs are mixed up: {what}");
        assert!(i != j || times[0] == 0 || image != [0; 3], "an atom interacts with itself: {what}");
        let far = case.distance([i, j], image) > case.cutoff;
        assert!(!(excluded && far) || times[1] == 0, "the correction is meant for another image: {what}");
    }
    let with_far = listed(grid, list, &case.has_lj, true);
    each_near(case, grid, reach.lj - ROUNDING, |(pair, image), distance| {
        let excluded = case.exclusions.contains(pair[0], pair[1]);
        if case.interactions(pair)[1] && !excluded {
            let times = with_far.get(&(pair, image)).copied().unwrap_or_default();
            assert_eq!(times, [1, 0], "Lennard-Jones of {pair:?} {image:?}, {distance} nm apart");
        }
    });
    each_near(case, grid, reach.coulomb - ROUNDING, |(pair, image), distance| {
        let excluded = case.exclusions.contains(pair[0], pair[1]);
        let [coulomb, lj] = case.interactions(pair);
        if (coulomb && !excluded) || ((coulomb || lj) && excluded && distance < case.cutoff) {
            let times = found.get(&(pair, image)).copied().unwrap_or_default();
            assert_eq!(
                times[usize::from(excluded)],
                1,
                "{pair:?} {image:?}, {distance} nm apart, excluded: {excluded}"
            );
        }
    });
}

/// Returns the offsets of all atoms from the centers of their blocks, in the layout of the pair kernel.
fn pack(grid: &Grid, positions: &[Vec3]) -> Vec<[f32; 24]> {
    let mut packed = vec![[0.0; 24]; grid.blocks()];
    packed.iter_mut().enumerate().for_each(|(block, to)| grid.pack_block(block, positions, to));
    packed
}

/// Builds the outer list of a case.
fn search(case: &Case, grid: &Grid, level: Level) -> PairList {
    let (packed, mut outer) = (pack(grid, &case.positions), PairList::default());
    outer.resize(grid);
    let known = |atoms: &[u32]| atoms.iter().copied().filter(|&atom| atom != NO_ATOM).map(mark).collect::<Vec<_>>();
    let of_cluster = |atoms: &[u32]| known(atoms).into_iter().fold(Marks::default(), |all, one| all | one);
    let marks: Vec<Marks> = grid.slot_atom.chunks(CLUSTER).map(of_cluster).collect();
    let mut scratch = SearchScratch::default();
    let input = SearchInput {
        grid,
        packed: &packed,
        cell: case.cell.as_ref(),
        exclusions: &SymmetricExclusions::new(case.positions.len(), &case.exclusions),
        has_lj: &case.has_lj,
        marks: &marks,
        far_exclusions: &[],
        exclusion_reach: case.cutoff,
        radius: case.outer,
    };
    for (chunk, to) in outer.chunks.iter_mut().enumerate() {
        search_chunk(level, input, chunk, &mut scratch, to);
    }
    outer
}

/// Searches the outer list, moves the atoms as far as the buffer allows, and prunes. Checks the outer and the inner
/// list.
fn check_case(case: &Case, level: Level, seed: u64) {
    let (cell, mut grid) = (case.cell.as_ref(), Grid::default());
    grid.build(cell, &case.positions, &case.has_lj, &case.apart);
    let charged = |&atom: &u32| atom != NO_ATOM && case.apart.get(atom as usize) != Some(&true);
    assert!(!grid.slot_atom[grid.main_blocks() * BLOCK..].iter().any(charged), "a charge in the second section");
    let (outer, mut inner) = (search(case, &grid, level), PairList::default());
    inner.resize(&grid);
    check_list(case, &grid, &outer, Reach { coulomb: case.outer, lj: case.outer });

    let mut random = Stream::new(seed, Purpose::Test, 1, 0);
    // without a cutoff nothing limits the displacements
    let reach = if case.outer.is_finite() { 0.5 * (case.outer - case.inner) } else { 0.1 };
    let mut moved = case.clone();
    for r in &mut moved.positions {
        let step = vec3(random.gaussian(), random.gaussian(), random.gaussian());
        *r += step * (reach / step.norm());
    }
    let packed = pack(&grid, &moved.positions);
    let mut lj_lanes = vec![0u8; grid.blocks()];
    for (slot, &atom) in grid.slot_atom.iter().enumerate() {
        lj_lanes[slot / BLOCK] |= u8::from(atom != NO_ATOM && case.has_lj[atom as usize]) << (slot % BLOCK);
    }
    for nearer in [1.0, 0.8] {
        // without a cutoff the radii for both interactions are infinite
        let coulomb = if case.inner.is_finite() { nearer * case.inner } else { case.inner };
        let reach = Reach { coulomb, lj: case.inner };
        let input = PruneInput { grid: &grid, packed: &packed, cell, lj_lanes: &lj_lanes, reach };
        for (from, to) in outer.chunks.iter().zip(&mut inner.chunks) {
            prune_chunk(level, input, from, to);
        }
        assert!(inner.slots() <= outer.slots());
        check_list(&moved, &grid, &inner, reach);
        check_plain(&moved, &grid, &inner, reach);
        check_exceptions(&grid, &inner);
    }
}

/// Makes some pairs of atoms exceptions to the combination rule.
fn mark(atom: u32) -> Marks {
    Marks { keys: u32::from(atom % 50 == 7), partners: u32::from(atom % 5 == 1) }
}

/// Checks that every pair that does not follow the combination rule is in a block that is marked for exceptions.
fn check_exceptions(grid: &Grid, list: &PairList) {
    let mut rest = list.clone();
    for chunk in &mut rest.chunks {
        let excepted = chunk.masked.iter_mut().filter(|pair| pair.excepted);
        excepted.for_each(|pair| (pair.interacting, pair.excluded) = (0, 0));
    }
    let nobody = vec![false; grid.atom_slot.len()];
    for (([i, j], image), times) in listed(grid, &rest, &nobody, true) {
        assert!(times == [0; 2] || !mark(i).meet(mark(j)), "exception {i} {j} {image:?} in a block like others");
    }
}

/// Checks that blocks without masks hold no close pairs.
fn check_plain(case: &Case, grid: &Grid, list: &PairList, reach: Reach) {
    let mut plain = list.clone();
    plain.chunks.iter_mut().flat_map(|chunk| &mut chunk.entries).for_each(|entry| entry.masked = [0; 2]);
    for (pair, image) in listed(grid, &plain, &case.has_lj, true).into_keys() {
        let distance = case.distance(pair, image);
        assert!(distance > close(reach) - ROUNDING, "{pair:?} {image:?}, {distance} nm apart, without a mask");
    }
}

/// Returns the SIMD levels on which a case is checked: all levels, or a single level if the brute-force comparison
/// takes long.
fn levels(atoms: usize, index: usize) -> Vec<Level> {
    let all = Level::available();
    if atoms < 100 { all } else { vec![all[index % all.len()]] }
}

#[test]
fn lists_hold_every_pair_once() {
    let mut index = 0;
    for shape in SHAPES {
        for density in DENSITIES {
            for atoms in [1, 2, 3, 7, 33, 400] {
                index += 1;
                let case = Case::new(shape, atoms, density, index as u64);
                levels(atoms, index).into_iter().for_each(|level| check_case(&case, level, index as u64));
            }
        }
    }
}

#[test]
fn lists_with_atoms_apart_hold_every_pair_that_interacts() {
    for (index, shape) in SHAPES.into_iter().enumerate() {
        for atoms in [6, 300] {
            let case = Case::new(shape, atoms, DENSITIES[0], index as u64).with_uncharged();
            Level::available().into_iter().for_each(|level| check_case(&case, level, index as u64));
        }
    }
}

#[test]
fn charges_do_not_meet_uncharged_atoms_of_four_site_water() {
    let case = Case::new(Shape::Cube, 1000, DENSITIES[0], 1);
    // sites in the order of four-site water: an oxygen, then three charges
    let case = Case { has_lj: (0..1000).map(|i| i % 4 == 0).collect(), ..case };
    let case = Case { apart: case.has_lj.clone(), ..case };
    check_case(&case, Level::detect(), 1);
    let mut grid = Grid::default();
    grid.build(case.cell.as_ref(), &case.positions, &case.has_lj, &case.apart);
    assert_eq!(grid.slot_atom[..grid.main_blocks() * BLOCK].iter().filter(|&&atom| atom != NO_ATOM).count(), 750);
    let list = search(&case, &grid, Level::detect());
    for ([i, j], _) in listed(&grid, &list, &case.has_lj, true).into_keys() {
        assert_eq!(case.apart[i as usize], case.apart[j as usize], "{i} and {j} do not interact");
    }
}

#[test]
fn without_a_cutoff_all_pairs_are_listed() {
    for atoms in [1, 2, 33, 150] {
        let case = Case::new(Shape::Vacuum, atoms, DENSITIES[0], atoms as u64);
        let case = Case { cutoff: f64::INFINITY, outer: f64::INFINITY, inner: f64::INFINITY, ..case };
        Level::available().into_iter().for_each(|level| check_case(&case, level, 1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_system_is_listed(
        shape in prop::sample::select(&SHAPES[..]),
        atoms in 1..200usize,
        density in 1.0..150.0,
        uncharged: bool,
        seed in 0..u64::MAX,
    ) {
        let case = Case::new(shape, atoms, density, seed);
        let case = if uncharged { case.with_uncharged() } else { case };
        levels(atoms, seed as usize).into_iter().for_each(|level| check_case(&case, level, seed));
    }
}

#[test]
fn tiles_hold_every_column_once() {
    for columns in [[1, 1], [7, 40], [15, 15], [16, 33], [62, 65]] {
        let tiles = Tiles::new(columns);
        let all = (0..columns[0]).flat_map(|x| (0..columns[1]).map(move |y| [x, y]));
        let mut order: Vec<usize> = all.map(|[x, y]| tiles.column(x, y)).collect();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..columns[0] * columns[1]), "{columns:?}");
    }
}

#[test]
#[should_panic(expected = "atoms were sorted after the search")]
fn lists_of_another_order_are_refused() {
    let (positions, mut grid, mut list) = ([Vec3::ZERO; 3], Grid::default(), PairList::default());
    grid.build(None, &positions, &[true; 3], &[]);
    list.resize(&grid);
    list.assert_of(&grid);
    grid.build(None, &positions, &[true; 3], &[]);
    list.assert_of(&grid);
}
