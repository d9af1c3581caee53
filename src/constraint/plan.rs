//! Constraints sorted into independent blocks.

use std::ops::Range;

use rayon::prelude::*;

use super::block::{LaneVirial, SettleBlock, Star, StarBlock};
use super::coupled::Coupled;
use super::lanes::LANES;
use super::settle::SettleShape;
use super::star::MAX_LEAVES;
use super::{ConstraintFailure, Motion, SharedVectors};
use crate::error::Problem;
use crate::system::{Constraint, Constraints, Molecules, Settle};
use crate::vec3::{Mat3, Vec3};

/// Blocks handled by one task of [`ConstraintPlan::apply_all`]: about 256 waters, some 10 µs.
const BLOCKS_PER_TASK: usize = 32;

/// Every constraint of a system, sorted into blocks that share no atom.
///
/// Block order: coupled clusters (one per block, largest first), then waters and stars, eight per block.
#[derive(Debug)]
pub struct ConstraintPlan {
    atoms: usize,
    tolerance: f64,
    coupled: Vec<Coupled>,
    settles: Vec<SettleBlock>,
    stars1: Vec<StarBlock<1>>,
    stars2: Vec<StarBlock<2>>,
    stars3: Vec<StarBlock<3>>,
    stars4: Vec<StarBlock<4>>,
}

/// Constraints in groups that share no atom.
#[derive(Debug, Default)]
pub struct Groups {
    /// rigid waters that nothing else is tied to
    pub settles: Vec<Settle>,
    /// up to four distances from one centre, which comes first
    pub stars: Vec<(u32, Vec<Constraint>)>,
    /// all others, largest first
    pub coupled: Vec<Vec<Constraint>>,
}

impl Groups {
    /// Sorts constraints, and refuses what [`ConstraintPlan::new`] refuses but for waters that are no triangle.
    pub fn new(constraints: &Constraints, masses: &[f64]) -> Result<Self, Problem> {
        check(constraints, masses)?;
        let (settles, distances) = separate(constraints, masses);
        let mut groups = Groups { settles, ..Groups::default() };
        for cluster in clusters_of(distances, masses.len())? {
            match center_of(&cluster, masses) {
                Some(center) => groups.stars.push((center, cluster)),
                None => groups.coupled.push(cluster),
            }
        }
        // stable: clusters of equal size stay in the order of their atoms
        groups.coupled.sort_by_key(|c| std::cmp::Reverse(c.len()));
        Ok(groups)
    }
}

/// `$body` for the blocks of the named kinds that fall into `$range`, of which `$first` counts those before.
macro_rules! for_each_block {
    ($plan:ident, $range:ident, $first:ident, [$($kind:ident)*], |$block:ident| $body:expr) => {
        $(for $block in &$plan.$kind[overlap(&$range, &mut $first, $plan.$kind.len())] {
            $body;
        })*
    };
}

/// The part of `length` blocks numbered from `*first` on that lies in `range`; moves `first` behind them.
#[inline(always)]
fn overlap(range: &Range<usize>, first: &mut usize, length: usize) -> Range<usize> {
    let start = range.start.saturating_sub(*first).min(length);
    let end = range.end.saturating_sub(*first).min(length);
    *first += length;
    start..end.max(start)
}

impl ConstraintPlan {
    /// Sort `constraints` into blocks; `masses` (amu) of all atoms.
    ///
    /// Waters whose hydrogens differ in mass, or that share an atom with another constraint, are solved as three
    /// distances. Refused: massless or missing atoms, lengths that are not positive, a distance given twice.
    pub fn new(constraints: &Constraints, masses: &[f64]) -> Result<Self, Problem> {
        if !(constraints.tolerance > 0.0 && constraints.tolerance < 1.0) {
            return Err(Problem::new(format!("constraint tolerance {} is not between 0 and 1", constraints.tolerance)));
        }
        let Groups { settles, stars, coupled: clusters } = Groups::new(constraints, masses)?;
        let inverse_mass = |atom: u32| 1.0 / masses[atom as usize];
        let mut plan = Self {
            atoms: masses.len(),
            tolerance: constraints.tolerance,
            coupled: vec![],
            settles: settle_blocks(settles, masses)?,
            stars1: vec![],
            stars2: vec![],
            stars3: vec![],
            stars4: vec![],
        };
        let (mut one, mut two, mut three, mut four) = (vec![], vec![], vec![], vec![]);
        for (center, bonds) in &stars {
            match bonds.len() {
                1 => one.push(star(bonds, *center)),
                2 => two.push(star(bonds, *center)),
                3 => three.push(star(bonds, *center)),
                _ => four.push(star(bonds, *center)),
            }
        }
        plan.stars1 = one.chunks(LANES).map(|s| StarBlock::new(s, inverse_mass)).collect();
        plan.stars2 = two.chunks(LANES).map(|s| StarBlock::new(s, inverse_mass)).collect();
        plan.stars3 = three.chunks(LANES).map(|s| StarBlock::new(s, inverse_mass)).collect();
        plan.stars4 = four.chunks(LANES).map(|s| StarBlock::new(s, inverse_mass)).collect();
        plan.coupled = clusters.iter().map(|c| Coupled::new(c, inverse_mass)).collect();
        Ok(plan)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.coupled.len()
            + self.settles.len()
            + self.stars1.len()
            + self.stars2.len()
            + self.stars3.len()
            + self.stars4.len()
    }

    /// True when nothing is constrained.
    pub fn is_empty(&self) -> bool {
        self.blocks() == 0
    }

    /// Correct the positions and velocities of the atoms in `blocks`.
    ///
    /// Returns Σ r⊗(m Δx) in amu nm² if `VIRIAL` (else zero): divided by dt², it is the virial Σ r⊗F of the constraint
    /// forces F = m Δx/dt² at the start of the step. The sum runs in block order; a caller that adds up fixed ranges
    /// in order gets the same bits on any number of threads. Waters are exact; distances are right within the
    /// relative tolerance of the constraints. Inlined whole, so that it uses the caller's instruction set.
    ///
    /// # Safety
    /// No other thread works on the same blocks or touches their atoms meanwhile.
    ///
    /// # Panics
    /// Where an array has not the length of the system.
    #[inline(always)]
    pub unsafe fn apply<const VIRIAL: bool>(
        &self,
        blocks: Range<usize>,
        motion: &Motion<'_>,
    ) -> Result<Mat3, ConstraintFailure> {
        assert!(motion.old.len() == self.atoms && motion.positions.len() == self.atoms, "one position for each atom");
        assert!(motion.velocities.is_none_or(|(v, _)| v.len() == self.atoms), "one velocity for each atom");
        let mut virial = LaneVirial::ZERO;
        let mut coupled_virial = Mat3::ZERO;
        let mut first = 0;
        // SAFETY: `new` checked all atoms against the length, which is that of the arrays; no atom is in two blocks,
        // and this call alone works on its blocks
        unsafe {
            for_each_block!(self, blocks, first, [coupled], |cluster| {
                coupled_virial += cluster.shake(motion, self.tolerance)?
            });
            for_each_block!(self, blocks, first, [settles], |block| block.apply::<VIRIAL>(motion, &mut virial)?);
            for_each_block!(self, blocks, first, [stars1 stars2 stars3 stars4], |block| {
                block.apply::<VIRIAL>(motion, self.tolerance, &mut virial)?
            });
        }
        Ok(if VIRIAL { coupled_virial + virial.total() } else { Mat3::ZERO })
    }

    /// [`Self::apply`] to every block, in parallel, for callers without an instruction set of their own.
    /// `partials` is room for intermediate results, kept between calls.
    pub fn apply_all<const VIRIAL: bool>(
        &self,
        motion: &Motion<'_>,
        partials: &mut Vec<Result<Mat3, ConstraintFailure>>,
    ) -> Result<Mat3, ConstraintFailure> {
        // SAFETY: the tasks split the blocks, and the borrows inside `motion` keep everyone else out
        self.tasks().map(|blocks| unsafe { self.apply::<VIRIAL>(blocks, motion) }).collect_into_vec(partials);
        partials.iter().try_fold(Mat3::ZERO, |sum, part| Ok(sum + (*part)?))
    }

    /// Move `positions` (nm) to where every distance is right, along the bonds of `reference`, in parallel.
    pub fn satisfy(&self, reference: &[Vec3], positions: &mut [Vec3]) -> Result<(), ConstraintFailure> {
        let motion = Motion { old: reference, positions: SharedVectors::new(positions), velocities: None };
        self.apply_all::<false>(&motion, &mut vec![]).map(|_| ())
    }

    /// Remove from `velocities` (nm/ps) whatever changes a fixed distance at `positions` (nm), in parallel; momentum is
    /// kept. With a plan made for unit masses it removes the forces that constraints would balance.
    pub fn project(&self, positions: &[Vec3], velocities: &mut [Vec3]) -> Result<(), ConstraintFailure> {
        assert!(positions.len() == self.atoms && velocities.len() == self.atoms, "one vector for each atom");
        let velocities = SharedVectors::new(velocities);
        self.tasks().try_for_each(|blocks| {
            let mut first = 0;
            // SAFETY: as in `apply`; the tasks split the blocks
            unsafe {
                for_each_block!(self, blocks, first, [coupled settles stars1 stars2 stars3 stars4], |block| {
                    block.project(positions, velocities)?
                });
            }
            Ok(())
        })
    }

    /// Ranges of blocks that cover the plan.
    fn tasks(&self) -> impl IndexedParallelIterator<Item = Range<usize>> {
        let blocks = self.blocks();
        (0..blocks.div_ceil(BLOCKS_PER_TASK)).into_par_iter().map(move |task| {
            let start = task * BLOCKS_PER_TASK;
            start..(start + BLOCKS_PER_TASK).min(blocks)
        })
    }
}

/// Refuse what cannot be solved, whatever the geometry.
fn check(constraints: &Constraints, masses: &[f64]) -> Result<(), Problem> {
    let check = |atoms: &[u32], lengths: &[f64]| {
        let name = || atoms.iter().map(|a| (a + 1).to_string()).collect::<Vec<_>>().join(", ");
        if atoms.iter().any(|&a| a as usize >= masses.len()) {
            return Err(Problem::new(format!("a constraint names atoms {} of {}", name(), masses.len())));
        }
        if atoms.iter().any(|&a| !(masses[a as usize] > 0.0 && masses[a as usize].is_finite())) {
            return Err(Problem::new(format!("a constraint of atoms {} includes one without mass", name())));
        }
        if lengths.iter().any(|&l| !(l > 0.0 && l.is_finite())) {
            return Err(Problem::new(format!("the constraint of atoms {} needs a positive length", name())));
        }
        let repeated = atoms.iter().enumerate().any(|(k, a)| atoms[..k].contains(a));
        if repeated {
            return Err(Problem::new(format!("a constraint of atoms {} names one of them twice", name())));
        }
        Ok(())
    };
    for water in &constraints.settles {
        check(&water.atoms, &[water.oh, water.hh])?;
    }
    constraints.bonds.iter().try_for_each(|bond| check(&bond.atoms, &[bond.length]))
}

/// Waters fit for SETTLE, and everything else as distances.
fn separate(constraints: &Constraints, masses: &[f64]) -> (Vec<Settle>, Vec<Constraint>) {
    let mut uses = vec![0u32; masses.len()];
    let in_settles = constraints.settles.iter().flat_map(|w| w.atoms);
    for atom in in_settles.chain(constraints.bonds.iter().flat_map(|b| b.atoms)) {
        uses[atom as usize] += 1;
    }
    let fits = |water: &Settle| {
        let [_, h1, h2] = water.atoms.map(|a| masses[a as usize]);
        h1 == h2 && water.atoms.iter().all(|&a| uses[a as usize] == 1)
    };
    let (settles, others): (Vec<Settle>, Vec<Settle>) = constraints.settles.iter().partition(|w| fits(w));
    let mut distances = constraints.bonds.clone();
    for water in others {
        let [o, h1, h2] = water.atoms;
        for (atoms, length) in [([o, h1], water.oh), ([o, h2], water.oh), ([h1, h2], water.hh)] {
            distances.push(Constraint { atoms, length });
        }
    }
    (settles, distances)
}

/// Waters eight by eight, each block of one shape.
fn settle_blocks(settles: Vec<Settle>, masses: &[f64]) -> Result<Vec<SettleBlock>, Problem> {
    // almost always one shape; a list keeps the order in which shapes first appear
    let mut by_shape: Vec<(SettleShape, Vec<[u32; 3]>)> = vec![];
    for water in settles {
        let [oxygen, hydrogen, _] = water.atoms;
        let Some(shape) = SettleShape::new([oxygen, hydrogen].map(|a| masses[a as usize]), water.oh, water.hh) else {
            let message = format!(
                "the rigid water at atom {} is no triangle: O-H {} nm, H-H {} nm",
                oxygen + 1,
                water.oh,
                water.hh
            );
            return Err(Problem::new(message).help("H-H must be shorter than twice O-H"));
        };
        match by_shape.iter_mut().find(|(s, _)| *s == shape) {
            Some((_, waters)) => waters.push(water.atoms),
            None => by_shape.push((shape, vec![water.atoms])),
        }
    }
    let blocks = |(shape, waters): &(SettleShape, Vec<[u32; 3]>)| {
        waters.chunks(LANES).map(|w| SettleBlock::new(w, *shape)).collect::<Vec<_>>()
    };
    Ok(by_shape.iter().flat_map(blocks).collect())
}

/// Connected clusters of distances, in the order of their first atoms. A pair given twice is refused.
fn clusters_of(mut distances: Vec<Constraint>, atoms: usize) -> Result<Vec<Vec<Constraint>>, Problem> {
    let pairs: Vec<[u32; 2]> = distances.iter().map(|c| c.atoms).collect();
    let molecules = Molecules::from_bonds(atoms, &pairs);
    let ascending = |c: &Constraint| [c.atoms[0].min(c.atoms[1]), c.atoms[0].max(c.atoms[1])];
    distances.sort_by_key(|c| (molecules.of_atom(c.atoms[0] as usize), ascending(c)));
    if let Some(twice) = distances.windows(2).find(|w| ascending(&w[0]) == ascending(&w[1])) {
        let [i, j] = ascending(&twice[0]);
        return Err(Problem::new(format!("the distance between atoms {} and {} is fixed twice", i + 1, j + 1)));
    }
    let same = |a: &Constraint, b: &Constraint| {
        molecules.of_atom(a.atoms[0] as usize) == molecules.of_atom(b.atoms[0] as usize)
    };
    Ok(distances.chunk_by(same).map(<[_]>::to_vec).collect())
}

/// The atom common to all of at most four distances, the heavier of a pair; `None` where there is none.
fn center_of(cluster: &[Constraint], masses: &[f64]) -> Option<u32> {
    let [i, j] = cluster[0].atoms;
    let common = |atom: &u32| cluster.iter().all(|c| c.atoms.contains(atom));
    let heavier_first = if masses[j as usize] > masses[i as usize] { [j, i] } else { [i, j] };
    heavier_first.into_iter().find(common).filter(|_| cluster.len() <= MAX_LEAVES)
}

/// The cluster seen from its centre.
fn star<const N: usize>(cluster: &[Constraint], center: u32) -> Star<N> {
    let leaf = |c: &Constraint| if c.atoms[0] == center { c.atoms[1] } else { c.atoms[0] };
    Star {
        center,
        leaves: std::array::from_fn(|i| leaf(&cluster[i])),
        lengths: std::array::from_fn(|i| cluster[i].length),
    }
}
