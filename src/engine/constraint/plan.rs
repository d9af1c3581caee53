//! Constraints sorted into independent blocks.

use std::ops::Range;

use rayon::prelude::*;

use super::block::{LaneVirial, SettleBlock, Shake, ShakeBlock};
use super::coupled::Coupled;
use super::lanes::LANES;
use super::settle::SettleShape;
use super::shake::MAX_LEAVES;
use super::{ConstraintFailure, Drift, Motion, SharedVectors};
use crate::error::Problem;
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::system::{Constraint, Constraints, Molecules, Settle};
use crate::vec3::{Mat3, Vec3};

/// Minimum number of atoms of a section. The work for a section takes about 3 µs, and the data of a section fit into
/// the second-level cache. Many small sections can be divided evenly among many threads. The number is a multiple of 24
/// and of 32, which are the numbers of atoms in eight three-site waters and in eight four-site waters.
const SECTION: usize = 384;

/// All constraints of a system, sorted into blocks that share no atom. Blocks are sorted into sections of consecutive
/// atoms.
#[derive(Debug, Default)]
pub struct ConstraintPlan {
    atoms: usize,
    tolerance: f64,
    sections: Vec<Section>,
    coupled: Vec<Coupled>,
    settles: Vec<SettleBlock>,
    shakes1: Vec<ShakeBlock<1>>,
    shakes2: Vec<ShakeBlock<2>>,
    shakes3: Vec<ShakeBlock<3>>,
    shakes4: Vec<ShakeBlock<4>>,
}

/// Groups of constraints that share no atom, in one list for each solver.
#[derive(Debug, Default)]
pub struct Groups {
    /// rigid waters without other constraints
    pub settles: Vec<Settle>,
    /// SHAKE clusters: the center atom, and its one to four constraints
    pub shakes: Vec<(u32, Vec<Constraint>)>,
    /// clusters of coupled constraints, largest first
    pub coupled: Vec<Vec<Constraint>>,
}

impl Groups {
    /// Sorts constraints into waters, SHAKE clusters and coupled clusters. Returns an error for the same input as
    /// [`ConstraintPlan::new`], except that waters whose sides form no triangle are accepted.
    pub fn new(constraints: &Constraints, masses: &[f64]) -> Result<Self, Problem> {
        let (settles, clusters) = independent(constraints, masses)?;
        let mut groups = Groups { settles, ..Groups::default() };
        for cluster in clusters {
            match center_of(&cluster, masses) {
                Some(center) => groups.shakes.push((center, cluster)),
                None => groups.coupled.push(cluster),
            }
        }
        // the sort is stable, so that clusters of equal size stay in the order of their atoms
        groups.coupled.sort_by_key(|c| std::cmp::Reverse(c.len()));
        Ok(groups)
    }
}

/// A section of consecutive atoms, with the blocks of all constraints of these atoms. Coupled clusters have one block
/// each, and waters and SHAKE clusters are in blocks of eight.
#[derive(Clone, Debug, Default)]
struct Section {
    atoms: Range<usize>,
    coupled: Range<usize>,
    settles: Range<usize>,
    shakes1: Range<usize>,
    shakes2: Range<usize>,
    shakes3: Range<usize>,
    shakes4: Range<usize>,
}

/// Runs `$body` for each block of `$section`, for the kinds of blocks that the caller names.
macro_rules! for_each_block {
    ($plan:ident, $section:ident, [$($kind:ident)*], |$block:ident| $body:expr) => {
        $(for $block in &$plan.$kind[$section.$kind.clone()] {
            $body;
        })*
    };
}

impl ConstraintPlan {
    /// Sorts `constraints` into blocks. `masses` holds the masses (amu) of all atoms.
    ///
    /// A water is solved as three separate constraints if its hydrogens differ in mass, or if one of its atoms has
    /// another constraint. Returns an error if an atom is massless or does not exist, if a length is not positive, or
    /// if two constraints are on the same pair of atoms.
    pub fn new(constraints: &Constraints, masses: &[f64]) -> Result<Self, Problem> {
        if !(constraints.tolerance > 0.0 && constraints.tolerance < 1.0) {
            return Err(Problem::new(format!("constraint tolerance {} is not between 0 and 1", constraints.tolerance)));
        }
        let (settles, clusters) = independent(constraints, masses)?;
        let mut plan = Self {
            atoms: masses.len(),
            tolerance: constraints.tolerance,
            sections: vec![],
            coupled: vec![],
            settles: vec![],
            shakes1: vec![],
            shakes2: vec![],
            shakes3: vec![],
            shakes4: vec![],
        };
        let (mut settles, mut clusters) = (&settles[..], &clusters[..]);
        for atoms in cut(masses.len(), settles, clusters) {
            let inside = |atom: u32| (atom as usize) < atoms.end;
            let waters = settles.partition_point(|water| inside(water.atoms[0]));
            let others = clusters.partition_point(|cluster| inside(cluster[0].atoms[0]));
            plan.add_section(atoms, &settles[..waters], &clusters[..others], masses)?;
            (settles, clusters) = (&settles[waters..], &clusters[others..]);
        }
        Ok(plan)
    }

    /// Appends the section of the atoms in the range `atoms`, with blocks for the constraints in `settles` and
    /// `clusters`.
    fn add_section(
        &mut self,
        atoms: Range<usize>,
        settles: &[Settle],
        clusters: &[Vec<Constraint>],
        masses: &[f64],
    ) -> Result<(), Problem> {
        let inverse_mass = |atom: u32| 1.0 / masses[atom as usize];
        let (mut one, mut two, mut three, mut four) = (vec![], vec![], vec![], vec![]);
        let (mut coupled, settles) = (vec![], settle_blocks(settles, masses)?);
        for cluster in clusters {
            let Some(center) = center_of(cluster, masses) else {
                coupled.push(Coupled::new(cluster, inverse_mass));
                continue;
            };
            match cluster.len() {
                1 => one.push(shake(cluster, center)),
                2 => two.push(shake(cluster, center)),
                3 => three.push(shake(cluster, center)),
                _ => four.push(shake(cluster, center)),
            }
        }
        self.sections.push(Section {
            atoms,
            coupled: append(&mut self.coupled, coupled),
            settles: append(&mut self.settles, settles),
            shakes1: append(&mut self.shakes1, one.chunks(LANES).map(|s| ShakeBlock::new(s, inverse_mass))),
            shakes2: append(&mut self.shakes2, two.chunks(LANES).map(|s| ShakeBlock::new(s, inverse_mass))),
            shakes3: append(&mut self.shakes3, three.chunks(LANES).map(|s| ShakeBlock::new(s, inverse_mass))),
            shakes4: append(&mut self.shakes4, four.chunks(LANES).map(|s| ShakeBlock::new(s, inverse_mass))),
        });
        Ok(())
    }

    /// Number of sections. Sections are ranges of consecutive atoms that together cover all atoms. No constraint
    /// connects two sections.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// Range of the atoms of a section.
    #[inline(always)]
    pub fn atoms(&self, section: usize) -> Range<usize> {
        self.sections[section].atoms.clone()
    }

    /// Corrects the positions and velocities of the atoms in a section.
    ///
    /// If `virial` is true, returns the sum Σ r⊗(m Δx) in amu nm² over the atoms of the section, with the mass m,
    /// position r and position correction Δx of each atom. Otherwise returns zero. The sum divided by dt² is the virial
    /// Σ r⊗F of the constraint forces F = m Δx/dt² at the start of the step. If the caller adds the results of the
    /// sections in order, the sum is the same bit for bit on any number of threads. SETTLE is exact; other constraints
    /// are satisfied within the relative tolerance.
    ///
    /// # Safety
    /// No other thread accesses the atoms of the section at the same time.
    ///
    /// # Panics
    /// Panics if the length of an array is not the number of atoms of the system.
    pub unsafe fn apply(
        &self,
        level: Level,
        section: usize,
        motion: &Motion<'_>,
        virial: bool,
    ) -> Result<Mat3, ConstraintFailure> {
        dispatch(level, SectionKernel { plan: self, section, motion, virial })
    }

    /// Corrects positions and velocities like [`Self::apply`], compiled for the caller's instruction set.
    ///
    /// # Safety
    /// The conditions of [`Self::apply`] hold.
    #[inline(always)]
    unsafe fn correct<S: Simd>(
        &self,
        section: usize,
        motion: &Motion<'_>,
        virial: bool,
    ) -> Result<Mat3, ConstraintFailure> {
        assert!(motion.old.len() == self.atoms && motion.positions.len() == self.atoms, "one position for each atom");
        assert!(motion.velocities.as_ref().is_none_or(|(v, _)| v.len() == self.atoms), "one velocity for each atom");
        let mut sum = virial.then_some(LaneVirial::ZERO);
        let mut coupled_virial = Mat3::ZERO;
        let section = &self.sections[section];
        // SAFETY: `new` has checked that all atoms are within the arrays; no atom is in two blocks, and no other call
        // works on this section
        unsafe {
            for_each_block!(self, section, [coupled], |cluster| {
                coupled_virial += cluster.shake(motion, self.tolerance)?
            });
            for_each_block!(self, section, [settles], |block| block.apply::<S>(motion, sum.as_mut())?);
            for_each_block!(self, section, [shakes1 shakes2 shakes3 shakes4], |block| {
                block.apply(motion, self.tolerance, sum.as_mut())?
            });
        }
        Ok(match sum {
            Some(sum) => coupled_virial + sum.total(),
            None => Mat3::ZERO,
        })
    }

    /// Satisfies the constraints of the atoms in a section at the end of a drift.
    ///
    /// # Safety
    /// No other thread accesses the atoms of the section at the same time.
    ///
    /// # Panics
    /// Panics if the length of an array is not the number of atoms of the system.
    pub unsafe fn finish_drift(
        &self,
        level: Level,
        section: usize,
        drift: &Drift<'_>,
    ) -> Result<(), ConstraintFailure> {
        let Drift { positions, velocities, .. } = drift;
        assert!(positions.len() == self.atoms && velocities.len() == self.atoms, "one vector for each atom");
        dispatch(level, DriftKernel { plan: self, section, drift })
    }

    /// Calls [`Self::apply`] for every section in parallel, with portable instructions. `partials` is scratch memory,
    /// kept between calls.
    pub fn apply_all(
        &self,
        motion: &mut Motion<'_>,
        virial: bool,
        partials: &mut Vec<Result<Mat3, ConstraintFailure>>,
    ) -> Result<Mat3, ConstraintFailure> {
        let motion = &*motion;
        let sections = (0..self.sections()).into_par_iter();
        // SAFETY: sections share no atom; the borrows of `motion` and of the vectors in it exclude all other access
        let applied = sections.map(|section| unsafe { self.apply(Level::Portable, section, motion, virial) });
        applied.collect_into_vec(partials);
        partials.iter().try_fold(Mat3::ZERO, |sum, part| Ok(sum + (*part)?))
    }

    /// Moves `positions` (nm) with all threads until all constraints are satisfied. The corrections are along the
    /// directions of the constraints at the positions `reference` (nm).
    pub fn satisfy(&self, reference: &[Vec3], positions: &mut [Vec3]) -> Result<(), ConstraintFailure> {
        let mut motion = Motion { old: reference, positions: SharedVectors::new(positions), velocities: None };
        self.apply_all(&mut motion, false, &mut vec![]).map(|_| ())
    }

    /// Removes from `velocities` (nm/ps), in parallel, the components along constraints at `positions` (nm). Momentum
    /// is conserved. With unit masses, a plan also removes the components of forces along constraints, if forces are
    /// passed in place of velocities.
    pub fn project(&self, positions: &[Vec3], velocities: &mut [Vec3]) -> Result<(), ConstraintFailure> {
        assert!(positions.len() == self.atoms && velocities.len() == self.atoms, "one vector for each atom");
        let velocities = &SharedVectors::new(velocities);
        self.sections.par_iter().try_for_each(|section| {
            // SAFETY: all atoms are in range, and sections share no atom
            unsafe {
                for_each_block!(self, section, [coupled settles shakes1 shakes2 shakes3 shakes4], |block| {
                    block.project(positions, velocities)?
                });
            }
            Ok(())
        })
    }
}

/// A section of a plan, for dispatch by instruction set. The code that constructs this value guarantees the safety
/// conditions of [`ConstraintPlan::apply`].
struct SectionKernel<'a> {
    plan: &'a ConstraintPlan,
    section: usize,
    motion: &'a Motion<'a>,
    virial: bool,
}

impl Kernel for SectionKernel<'_> {
    type Output = Result<Mat3, ConstraintFailure>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        // SAFETY: the code that made the kernel guarantees the safety conditions of `ConstraintPlan::apply`
        unsafe { self.plan.correct::<S>(self.section, self.motion, self.virial) }
    }
}

/// A drift of a section, for dispatch by instruction set. The code that constructs this value guarantees the safety
/// conditions of [`ConstraintPlan::finish_drift`].
struct DriftKernel<'a> {
    plan: &'a ConstraintPlan,
    section: usize,
    drift: &'a Drift<'a>,
}

impl Kernel for DriftKernel<'_> {
    type Output = Result<(), ConstraintFailure>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        let Self { plan, section, drift } = self;
        let section = &plan.sections[section];
        // SAFETY: all atoms are within the arrays; no atom is in two blocks, and no other call works on this section
        unsafe {
            for_each_block!(plan, section, [coupled], |cluster| cluster.finish_drift(drift, plan.tolerance)?);
            for_each_block!(plan, section, [settles], |block| block.finish_drift::<S>(drift)?);
            for_each_block!(plan, section, [shakes1 shakes2 shakes3 shakes4], |block| {
                block.finish_drift(drift, plan.tolerance)?
            });
        }
        Ok(())
    }
}

/// Splits constraints into waters for SETTLE and clusters of all other constraints, both in the order of their first
/// atoms.
fn independent(constraints: &Constraints, masses: &[f64]) -> Result<(Vec<Settle>, Vec<Vec<Constraint>>), Problem> {
    check(constraints, masses)?;
    let (mut settles, distances) = separate(constraints, masses);
    settles.sort_by_key(|water| water.atoms.iter().min().copied());
    Ok((settles, clusters_of(distances, masses.len())?))
}

/// Appends items, and returns their range.
fn append<T>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) -> Range<usize> {
    let start = all.len();
    all.extend(more);
    start..all.len()
}

/// Divides all atoms into ranges of at least [`SECTION`] atoms such that no constraint connects two ranges.
fn cut(atoms: usize, settles: &[Settle], clusters: &[Vec<Constraint>]) -> Vec<Range<usize>> {
    // for each atom, the last atom of the constrained group that begins at this atom
    let mut last: Vec<u32> = (0..atoms as u32).collect();
    let mut tie = |group: &mut dyn Iterator<Item = u32>| {
        let (low, high) = group.fold((u32::MAX, 0), |(low, high), atom| (low.min(atom), high.max(atom)));
        last[low as usize] = last[low as usize].max(high);
    };
    settles.iter().for_each(|water| tie(&mut water.atoms.into_iter()));
    clusters.iter().for_each(|cluster| tie(&mut cluster.iter().flat_map(|c| c.atoms)));
    let (mut sections, mut start, mut reach) = (vec![], 0, 0);
    for (atom, &partner) in last.iter().enumerate() {
        reach = reach.max(partner as usize);
        let end = atom + 1;
        if end == atoms || (reach < end && end - start >= SECTION) {
            sections.push(start..end);
            start = end;
        }
    }
    sections
}

/// Maximum number of constraints of one atom. All constraints of an atom are solved together, so that the number of
/// constraints of an atom must be limited. Atoms of real molecules have far fewer bonds than this maximum.
const MOST_PER_ATOM: usize = 64;

/// Returns an error if an atom of a constraint does not exist, has no mass or occurs twice, if a length is not
/// positive, or if an atom has too many constraints.
fn check(constraints: &Constraints, masses: &[f64]) -> Result<(), Problem> {
    let check = |atoms: &[u32], lengths: &[f64]| {
        let name = || atoms.iter().map(|a| (a + 1).to_string()).collect::<Vec<_>>().join(", ");
        if atoms.iter().any(|&a| a as usize >= masses.len()) {
            return Err(Problem::new(format!(
                "a constraint refers to atoms {}, but there are only {} atoms",
                name(),
                masses.len()
            )));
        }
        if atoms.iter().any(|&a| !(masses[a as usize] > 0.0 && masses[a as usize].is_finite())) {
            return Err(Problem::new(format!("the constraint between atoms {} includes an atom without mass", name())));
        }
        if lengths.iter().any(|&l| !(l > 0.0 && l.is_finite())) {
            return Err(Problem::new(format!("the constraint between atoms {} needs a positive length", name())));
        }
        let repeated = atoms.iter().enumerate().any(|(k, a)| atoms[..k].contains(a));
        if repeated {
            return Err(Problem::new(format!("the constraint between atoms {} connects an atom with itself", name())));
        }
        Ok(())
    };
    for water in &constraints.settles {
        check(&water.atoms, &[water.oh, water.hh])?;
    }
    constraints.bonds.iter().try_for_each(|bond| check(&bond.atoms, &[bond.length]))?;
    let mut counts = vec![0; masses.len()];
    constraints.bonds.iter().flat_map(|bond| bond.atoms).for_each(|atom| counts[atom as usize] += 1);
    match counts.iter().position(|&count| count > MOST_PER_ATOM) {
        None => Ok(()),
        Some(atom) => {
            let message =
                format!("atom {} is in {} constraints; the maximum is {MOST_PER_ATOM}", atom + 1, counts[atom]);
            Err(Problem::new(message).help("set constraints = \"none\", or check the bonds of the atom"))
        }
    }
}

/// Splits constraints into waters for SETTLE and all other constraints.
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

/// Groups waters into blocks of eight, each with one shape.
fn settle_blocks(settles: &[Settle], masses: &[f64]) -> Result<Vec<SettleBlock>, Problem> {
    // a list instead of a map keeps the shapes in the order in which they first appear; there is almost always only
    // one shape
    let mut by_shape: Vec<(SettleShape, Vec<[u32; 3]>)> = vec![];
    for water in settles {
        let [oxygen, hydrogen, _] = water.atoms;
        let Some(shape) = SettleShape::new([oxygen, hydrogen].map(|a| masses[a as usize]), water.oh, water.hh) else {
            let message = format!(
                "the sides of the rigid water at atom {} do not form a triangle: O-H {} nm, H-H {} nm",
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

/// Connected clusters of constraints, in the order of their first atoms. Returns an error if two constraints are on
/// the same pair of atoms.
fn clusters_of(mut distances: Vec<Constraint>, atoms: usize) -> Result<Vec<Vec<Constraint>>, Problem> {
    let pairs: Vec<[u32; 2]> = distances.iter().map(|c| c.atoms).collect();
    let molecules = Molecules::from_bonds(atoms, &pairs);
    let ascending = |c: &Constraint| [c.atoms[0].min(c.atoms[1]), c.atoms[0].max(c.atoms[1])];
    distances.sort_by_key(|c| (molecules.of_atom(c.atoms[0] as usize), ascending(c)));
    if let Some(twice) = distances.windows(2).find(|w| ascending(&w[0]) == ascending(&w[1])) {
        let [i, j] = ascending(&twice[0]);
        return Err(Problem::new(format!("there is more than one constraint between atoms {} and {}", i + 1, j + 1)));
    }
    let same = |a: &Constraint, b: &Constraint| {
        molecules.of_atom(a.atoms[0] as usize) == molecules.of_atom(b.atoms[0] as usize)
    };
    Ok(distances.chunk_by(same).map(<[_]>::to_vec).collect())
}

/// The atom common to all constraints of a cluster of at most four constraints. For a single constraint, which has two
/// common atoms, the heavier atom is returned. The result is `None` if there is no common atom.
fn center_of(cluster: &[Constraint], masses: &[f64]) -> Option<u32> {
    let [i, j] = cluster[0].atoms;
    let common = |atom: &u32| cluster.iter().all(|c| c.atoms.contains(atom));
    let heavier_first = if masses[j as usize] > masses[i as usize] { [j, i] } else { [i, j] };
    heavier_first.into_iter().find(common).filter(|_| cluster.len() <= MAX_LEAVES)
}

/// Makes a SHAKE cluster from its constraints and its center.
fn shake<const N: usize>(cluster: &[Constraint], center: u32) -> Shake<N> {
    let leaf = |c: &Constraint| if c.atoms[0] == center { c.atoms[1] } else { c.atoms[0] };
    Shake {
        center,
        leaves: std::array::from_fn(|i| leaf(&cluster[i])),
        lengths: std::array::from_fn(|i| cluster[i].length),
    }
}
