//! Compares the pairs that all ranks together list with a brute-force search: each pair within the radius must be
//! listed exactly once, on exactly one rank.

use super::*;
use crate::backend::domains::division::count_along;
use crate::pair::{
    BLOCK, CLUSTER, Grid, NO_ATOM, PairList, SearchInput, SearchScratch, SymmetricExclusions, search_chunk, shift_image,
};
use crate::rng::{Purpose, Stream};
use crate::simd::{AlignedArrays, Level};
use crate::system::Exclusions;
use crate::testing::linked_atoms;
use crate::vec3::vec3;
use proptest::prelude::*;
use std::collections::HashMap;

/// Rounding error (nm) of distances that are computed from `f32` offsets within blocks.
const ROUNDING: f64 = 5e-6;

/// Atoms i < j, and the displacement r_i − r_j in units of 10⁻³ nm.
type Pair = ([u32; 2], [i64; 3]);
/// Listed pairs, with the number of times that each pair is listed.
type Pairs = HashMap<Pair, u32>;

struct Case {
    cell: PeriodicCell,
    positions: Vec<Vec3>,
    system: CompactSystem,
    radius: f64,
}

impl Case {
    /// Creates random groups of one to four atoms, each in a random lattice image.
    fn new(shape: usize, atoms: usize, density: f64, seed: u64) -> Self {
        let mut random = Stream::new(seed, Purpose::Test, 0, 0);
        let mut between = |low, high| random.between(low, high);
        let edge = (atoms as f64 / density).cbrt();
        let cell = match shape {
            0 => PeriodicCell::orthorhombic([edge; 3]),
            1 => PeriodicCell::orthorhombic([2.0 * edge, edge, 0.5 * edge]),
            2 => PeriodicCell::from_lengths_angles([1.1 * edge; 3], [109.471_219; 3]).expect("a cell"),
            _ => PeriodicCell::from_lengths_angles([edge, 1.3 * edge, 1.1 * edge], [65.0, 70.0, 62.0]).expect("a cell"),
        };
        let narrowest = cell.face_distances().into_iter().fold(f64::INFINITY, f64::min);
        let arm = 0.03 * narrowest;
        let (mut positions, mut bonds): (Vec<Vec3>, Vec<[u32; 2]>) = (vec![], vec![]);
        while positions.len() < atoms {
            let first = positions.len() as u32;
            let mut far = vec3(between(-1.0, 2.0), between(-1.0, 2.0), between(-1.0, 2.0));
            if seed % 2 == 1 {
                // most groups are in the lower part of the cell, so that domains are of different widths
                far.z = far.z.floor() + (far.z - far.z.floor()).powi(2);
            }
            let size = between(1.0, 5.0) as u32;
            for atom in first..(first + size).min(atoms as u32) {
                let beside = vec3(between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0));
                positions.push(cell.to_cartesian(far) + beside * (arm / beside.norm()));
                bonds.extend((atom > first).then_some([first, atom]));
            }
        }
        let system = CompactSystem::new(&linked_atoms(atoms, &bonds));
        Case { cell, positions, system, radius: 0.3 * narrowest }
    }

    /// Returns the pairs within the radius that all ranks list.
    fn listed(&self, ranks: usize) -> Option<Pairs> {
        let atoms = count_along(self.positions.iter().map(|&position| self.cell.to_fractional(position)));
        let whole = Division::new(&self.cell, &atoms, 1, 0.0).ok()?;
        let everything: Vec<u32> = (0..self.system.groups() as u32).collect();
        let alone = |ranks: &Ranks| {
            let ground = DivisionContext { ranks, division: &whole, cell: &self.cell, system: &self.system };
            ground.group_radius(&everything, &self.positions)
        };
        let reach = self.radius + 2.0 * alone(&Ranks::alone());
        let division = Division::new(&self.cell, &atoms, ranks, reach).ok()?;
        let found = Ranks::threads(ranks, |ranks| {
            let ground = DivisionContext { ranks: &ranks, division: &division, cell: &self.cell, system: &self.system };
            // initially all groups are at home on the first rank
            let mut home = if ranks.is_first() { everything.clone() } else { vec![] };
            let mut positions = if ranks.is_first() { self.positions.clone() } else { vec![] };
            let (mut opposite, mut empty) = (positions.iter().map(|r| -*r).collect::<Vec<Vec3>>(), vec![]);
            ground.migrate(&mut home, &mut positions, &mut [&mut opposite, &mut empty]);
            assert_eq!(home, ground.homes(&self.positions)[ranks.rank()]);
            assert!(opposite.iter().map(|r| -*r).eq(positions.iter().copied()) && empty.is_empty());
            let (local, mut halo) = ground.add_halo(home, reach, &mut positions);
            // a second halo exchange brings the same positions
            let (home, others) = positions.split_at(local.region.home());
            let mut again = vec![Vec3::ZERO; others.len()];
            halo.fetch(&ranks, home, &mut again, || ());
            assert!(again == others);
            self.pairs(&local, &positions)
        });
        let mut all = HashMap::new();
        found.into_iter().flatten().for_each(|pair| *all.entry(pair).or_insert(0) += 1);
        Some(all)
    }

    fn pairs(&self, local: &Local, positions: &[Vec3]) -> Vec<Pair> {
        let atoms = local.atoms.len();
        let (mut grid, mut packed, mut list) = (Grid::default(), AlignedArrays::default(), PairList::default());
        grid.region = Some(local.region.clone());
        grid.build(Some(&self.cell), positions, &vec![true; atoms], &[]);
        packed.resize(grid.blocks());
        (0..grid.blocks()).for_each(|block| grid.pack_block(block, positions, &mut packed[block]));
        list.resize(&grid);
        let input = SearchInput {
            grid: &grid,
            packed: &packed,
            cell: Some(&self.cell),
            exclusions: &SymmetricExclusions::new(atoms, &Exclusions::from_pairs(atoms, [])),
            has_lj: &vec![true; atoms],
            marks: &[],
            far_exclusions: &[],
            exclusion_reach: self.radius,
            radius: self.radius,
        };
        let (mut scratch, mut found) = (SearchScratch::default(), vec![]);
        for (index, chunk) in list.chunks.iter_mut().enumerate() {
            search_chunk(Level::Portable, input, index, &mut scratch, chunk);
            for entry in &chunk.entries {
                let shift = self.cell.shift(shift_image(entry.shift as usize));
                let masked = &chunk.masked[entry.masked[0] as usize..entry.masked[1] as usize];
                let plain = &chunk.plain[entry.plain[0] as usize..entry.plain[4] as usize];
                let masked = masked.iter().map(|pair| (pair.block, pair.interacting));
                for (block, bits) in masked.chain(plain.iter().map(|&block| (block, u32::MAX))) {
                    for bit in (0..32).filter(|bit| bits >> bit & 1 == 1) {
                        let slot = |block: u32, size: usize, lane: usize| grid.slot_atom[block as usize * size + lane];
                        let [i, j] = [slot(entry.cluster, CLUSTER, bit / BLOCK), slot(block, BLOCK, bit % BLOCK)];
                        if i == NO_ATOM || j == NO_ATOM {
                            continue;
                        }
                        let at = |atom| local.region.wrapped(&self.cell, positions, atom);
                        let d = at(i) + shift - at(j);
                        if d.norm() < self.radius - ROUNDING {
                            found.push(key([i, j].map(|atom| local.atoms[atom as usize]), d));
                        }
                    }
                }
            }
        }
        found
    }

    fn brute_force(&self) -> Pairs {
        let mut all = HashMap::new();
        for i in 0..self.positions.len() {
            for j in 0..i {
                let d = self.cell.minimum_image(self.positions[i] - self.positions[j]);
                for image in (0..27).map(|n| [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1]) {
                    let d = d + self.cell.shift(image);
                    if d.norm() < self.radius - ROUNDING {
                        *all.entry(key([i as u32, j as u32], d)).or_insert(0) += 1;
                    }
                }
            }
        }
        all
    }
}

fn key([i, j]: [u32; 2], d: Vec3) -> Pair {
    let (pair, d) = if i < j { ([i, j], d) } else { ([j, i], -d) };
    (pair, d.map(|v| (1e3 * v).round()).to_array().map(|v| v as i64))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_pair_is_listed_once_on_one_rank(
        shape in 0..4usize,
        ranks in 1..9usize,
        atoms in 1..700usize,
        density in prop_oneof![Just(100.0), Just(4.0)],
        seed in any::<u64>(),
    ) {
        let case = Case::new(shape, atoms, density, seed);
        if let Some(listed) = case.listed(ranks) {
            let expected = case.brute_force();
            prop_assert!(listed == expected, "{} pairs, not {}", listed.len(), expected.len());
        }
    }
}
