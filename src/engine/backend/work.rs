//! Operation counts and memory traffic of each phase of a step.
//!
//! An addition, multiplication, division, root or maximum counts as one operation and a multiply-add as two, in
//! single and in double precision. Comparisons, conversions, masks and table look-ups count as zero. Bytes are the
//! minimum traffic of a phase: each array that the phase reads or writes counts once, with a cold cache at the start
//! of the phase and no cache misses after the first access. Operations per interaction were counted in the source
//! code; the counts of bonded terms and constraints are accurate to about 10 %.

use crate::pair::{LjRows, PairList};
use crate::system::{self, BondedTerm, Electrostatics, PmeParameters, System, bonded_terms};

/// Operations and bytes of a phase in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Work {
    /// floating-point operations
    pub flops: f64,
    /// bytes to and from memory
    pub bytes: f64,
}

impl Work {
    fn times(self, number: f64) -> Self {
        Work { flops: self.flops * number, bytes: self.bytes * number }
    }
}

/// Sizes of the pair lists in use; zeros for a backend without lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PairCounts {
    /// number of atom pairs that one evaluation computes, including pairs beyond the cutoff
    pub slots: u64,
    /// number of atom pairs among `slots` whose Lennard-Jones term is computed
    pub lj_slots: u64,
    /// number of entries of the pair list: on a CPU an entry is an i-cluster with one lattice shift, on a GPU an entry
    /// is a chunk of the list, which two warps process
    pub entries: u64,
    /// number of atom pairs of the outer list, from which the inner list is pruned
    pub outer_slots: u64,
    /// number of atom pairs that the rank with the most pairs computes; equal to `slots` on a single rank
    pub busiest_slots: u64,
}

/// Number of atom pairs in a cluster pair: a cluster of four atoms and a block of eight atoms.
const CLUSTER_PAIR: u64 = 32;

impl PairCounts {
    /// Counts the pairs of an outer list and of its inner list.
    pub fn new(outer: &PairList, inner: &PairList) -> Self {
        let mut counts = PairCounts { outer_slots: outer.slots() as u64, ..Self::default() };
        for entry in inner.chunks.iter().flat_map(|chunk| &chunk.entries) {
            let masked = u64::from(entry.masked[1] - entry.masked[0]);
            let [both, first, second, far] =
                [entry.both(), entry.single(0), entry.single(1), entry.far()].map(|range| range.len() as u64);
            counts.slots += CLUSTER_PAIR * masked + CLUSTER_PAIR / 2 * entry.vectors() as u64;
            // for masked cluster pairs, the kernel computes Lennard-Jones interactions of all four i-atoms
            let vectors = match entry.lj_rows {
                LjRows::All => 2 * (both + far) + first + second,
                LjRows::Half => both + first + far,
                LjRows::None => 0,
            };
            counts.lj_slots += CLUSTER_PAIR * masked + CLUSTER_PAIR / 2 * vectors;
            counts.entries += 1;
        }
        counts.busiest_slots = counts.slots;
        counts
    }
}

impl PairCounts {
    /// Returns the number of pairs of the rank with the most pairs, divided by the mean over `ranks` ranks; `None`
    /// without pairs.
    pub fn imbalance(&self, ranks: usize) -> Option<f64> {
        (self.slots > 0).then(|| self.busiest_slots as f64 * ranks as f64 / self.slots as f64)
    }
}

impl std::ops::Add for PairCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        PairCounts {
            slots: self.slots + other.slots,
            lj_slots: self.lj_slots + other.lj_slots,
            entries: self.entries + other.entries,
            outer_slots: self.outer_slots + other.outer_slots,
            busiest_slots: self.busiest_slots.max(other.busiest_slots),
        }
    }
}

/// Returns the expected number of pairs within the cutoff that are not excluded: N (ρ V_c − 1)/2 minus the number of
/// excluded pairs, with the volume V_c of the cutoff sphere and the mean density ρ. The number is accurate to 1 % in a
/// liquid, where correlations have decayed at the cutoff.
pub fn useful_pairs(system: &System, volume: Option<f64>) -> f64 {
    let atoms = system.topology.atoms.len() as f64;
    let cutoffs = [system.settings.cutoff, system.settings.cutoff_lj].into_iter().flatten();
    let partners = match (volume, cutoffs.reduce(f64::max)) {
        (Some(volume), Some(cutoff)) => atoms / volume * 4.0 / 3.0 * std::f64::consts::PI * cutoff.powi(3),
        _ => atoms,
    };
    (0.5 * atoms * (partners - 1.0) - system.topology.exclusions.len() as f64).max(0.0)
}

/// Counts that determine the work of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepCounts<'a> {
    /// the system, without terms whose energy is constant because of constraints
    pub system: &'a System,
    /// number of work partitions, each with its own force buffer; one on a GPU, which adds all forces atomically
    pub parts: usize,
    /// sizes of the pair lists
    pub pairs: PairCounts,
    /// number of searches for the outer list per step
    pub searches: f64,
    /// number of prunings of the inner list per step
    pub prunes: f64,
    /// number of reciprocal-space evaluations per step
    pub meshes: f64,
}

/// Operations per pair of the pair kernel: 1.5 for the offset of atom j from the center of the i-atoms (one computation
/// for two vectors of i-atoms), 8 for the difference vector and r², 1 for the lower bound of r², 1 for the charges, 1 +
/// 8 for the table, 1 for the product, 6 for the force on atom i and 3 for the force on atom j.
const PAIR_FLOPS: f64 = 30.5;
/// Additional operations of a pair with Lennard-Jones: 4 for 1/r², 2 for mixing, 4 for powers, 5 for the force. The
/// count is for the Lorentz–Berthelot rule; the counts of other combination rules differ by at most 3.
const LENNARD_JONES_FLOPS: f64 = 15.0;
/// Additional operations of a pair with a Lennard-Jones switch: 4 for 1/r, 3 for r and its distance from the switching
/// distance, 10 for two polynomials and their sums. The count is for the force switch; the count of the potential
/// switch differs by at most 3.
const SWITCH_FLOPS: f64 = 17.0;
/// Operations of the distance test of a pair: offset, difference and r².
const TEST_FLOPS: f64 = 9.5;
/// Operations for the grid position of an atom along three axes in f64. Per axis: 5 for the dot product, 1 for
/// rounding, 2 for scaling and fraction.
const GRID_POSITION_FLOPS: f64 = 24.0;
/// Operations of leapfrog per atom: 8 for each of two kinetic energies, 7 for the velocity, 6 for the position.
const LEAPFROG_FLOPS: f64 = 29.0;
/// Operations of SETTLE for one rigid water, including the update of its nine coordinates and nine velocity components.
const SETTLE_FLOPS: f64 = 320.0;
/// Operations per constraint of a SHAKE cluster: three iterations and the update.
const DISTANCE_FLOPS: f64 = 150.0;
/// Operations of a CMAP term; the next constant is the number of operations of a 1-4 pair. The table of bonded terms
/// has no counts for CMAP terms and 1-4 pairs. Both numbers include the displacements (12 operations for each nearest
/// image) and the sums of forces.
const CMAP_FLOPS: f64 = 400.0;
const PAIR14_FLOPS: f64 = 40.0;
/// Bytes of a position or velocity in f64, and of a force in f32.
const VECTOR: f64 = 24.0;
const FORCE: f64 = 12.0;

impl StepCounts<'_> {
    /// Returns the work per step of each phase, with the names and the order of [`super::Phases::named`].
    pub fn work(&self) -> [(&'static str, Work); 9] {
        let [spread, solve, gather] = self.mesh().map(|work| work.times(self.meshes));
        [
            ("pairs", self.pair_kernel()),
            ("search", self.search()),
            ("pme_spread", spread),
            ("pme_solve", solve),
            ("pme_gather", gather),
            ("bonded", self.bonded()),
            ("reduce", self.reduce()),
            ("constraints", self.constraints()),
            ("update", self.update()),
        ]
    }

    fn atoms(&self) -> f64 {
        self.system.topology.atoms.len() as f64
    }

    /// Returns the work of the pair kernel. The memory traffic per atom is 24 bytes for offset, charge and parameters,
    /// and the force, which is read and written. The list adds 4 bytes per cluster pair and 24 bytes per entry.
    fn pair_kernel(&self) -> Work {
        let PairCounts { slots, lj_slots, entries, .. } = self.pairs;
        let switch = if self.system.settings.lj_switch().is_some() { SWITCH_FLOPS } else { 0.0 };
        let flops = PAIR_FLOPS * slots as f64 + (LENNARD_JONES_FLOPS + switch) * lj_slots as f64;
        let per_atom = 3.0 * 4.0 + 4.0 + 8.0 + 2.0 * FORCE;
        Work { flops, bytes: per_atom * self.atoms() + list_bytes(slots) + 24.0 * entries as f64 }
    }

    /// Returns the work of testing the distances of every listed cluster pair, in searches and prunings. The count is a
    /// lower bound, because a search also tests blocks that are not listed afterwards.
    fn search(&self) -> Work {
        let PairCounts { slots, outer_slots, .. } = self.pairs;
        let tests = (self.searches + self.prunes) * outer_slots as f64;
        let lists = self.searches * list_bytes(outer_slots) + self.prunes * list_bytes(outer_slots + slots);
        // a search sorts positions and rebuilds the arrays in slot order; a pruning recomputes the offsets
        let copies = (self.searches * (VECTOR + 60.0) + self.prunes * (VECTOR + FORCE)) * self.atoms();
        Work { flops: TEST_FLOPS * tests, bytes: lists + copies }
    }

    /// Returns the work of spreading, of both Fourier transforms with the influence function between them, and of
    /// gathering.
    fn mesh(&self) -> [Work; 3] {
        let (settings, atoms) = (&self.system.settings, &self.system.topology.atoms);
        let mut sums = [Work::default(); 3];
        if let Electrostatics::Pme(pme) = settings.electrostatics {
            let charged = atoms.iter().filter(|atom| atom.charge != 0.0).count() as f64;
            sums = self.one_mesh(pme, charged);
        }
        if let Some(pme) = settings.lj_pme() {
            let charged = atoms.iter().filter(|atom| self.system.nonbonded.root_c6(atom.lj_type) != 0.0).count() as f64;
            for (sum, Work { flops, bytes }) in sums.iter_mut().zip(self.one_mesh(pme, charged)) {
                *sum = Work { flops: sum.flops + flops, bytes: sum.bytes + bytes };
            }
        }
        sums
    }

    fn one_mesh(&self, pme: PmeParameters, charged: f64) -> [Work; 3] {
        let [nx, ny, nz] = pme.grid.map(|n| n as f64);
        let (points, complex) = (nx * ny * nz, nx * ny * (nz / 2.0 + 1.0).floor());
        let (order, splines) = (pme.order as f64, GRID_POSITION_FLOPS + 3.0 * spline_flops(pme.order));
        let spread = splines + order * (1.0 + order * (1.0 + 2.0 * order));
        // per atom: two multiply-adds for each grid point, six operations for each row of grid points (products with
        // spline weights), and the chain rule
        let gather = splines + 4.0 * order.powi(3) + 6.0 * order.powi(2) + 18.0;
        [
            // each thread clears, fills and reduces its own grid (16 bytes per point); then the sum of the grids is
            // written
            Work {
                flops: spread * charged,
                bytes: (VECTOR + 8.0) * charged + (16.0 * self.parts as f64 + 4.0) * points,
            },
            // a real transform takes 5/2 N log₂ N operations, and the influence function takes two operations per
            // complex point. Each of the three passes reads and writes four bytes per point, and the second pass also
            // reads the influence function
            Work { flops: 5.0 * points * points.log2() + 2.0 * complex, bytes: 24.0 * points + 4.0 * complex },
            // the potential is copied with padding before it is read; mesh forces are added to the pair forces
            Work { flops: gather * charged, bytes: (VECTOR + 8.0 + 2.0 * FORCE) * charged + 12.0 * points },
        ]
    }

    /// Returns the work of the bonded terms. The memory traffic consists of each term with at most four parameters, and
    /// of the position, force and index of each atom of the term.
    fn bonded(&self) -> Work {
        let terms = &self.system.topology.bonded;
        let mut kinds = vec![(terms.cmaps.len(), 8, CMAP_FLOPS), (terms.pairs14.len(), 2, PAIR14_FLOPS)];
        macro_rules! lists {
            ($($(#[$doc:meta])* $energy:ident {
                $($list:ident: $Term:ident($n:literal, $e:literal, $p:literal) $name:literal),+
            })*) => {
                $($(kinds.push((terms.$list.len(), $n, system::$Term::FLOPS));)+)*
            };
        }
        bonded_terms!(lists);
        kinds.into_iter().fold(Work::default(), |sum, (count, atoms, flops)| Work {
            flops: sum.flops + flops * count as f64,
            bytes: sum.bytes + (f64::from(atoms) * (3.0 * VECTOR + 4.0) + 16.0) * count as f64,
        })
    }

    /// Returns the work of computing offsets from positions, summing forces over work partitions, and reordering forces
    /// into topology order.
    fn reduce(&self) -> Work {
        let parts = self.parts as f64;
        let bytes = 2.0 * (VECTOR + 4.0) + FORCE * (parts + 3.0);
        Work { flops: 3.0 * parts * self.atoms(), bytes: bytes * self.atoms() }
    }

    fn constraints(&self) -> Work {
        let constraints = &self.system.constraints;
        let (waters, distances) = (constraints.settles.len() as f64, constraints.bonds.len() as f64);
        // per atom, the old position, the position, the velocity and an index are read, and position and velocity are
        // written
        let per_atom = 5.0 * VECTOR + 4.0;
        Work {
            flops: SETTLE_FLOPS * waters + DISTANCE_FLOPS * distances,
            bytes: per_atom * (3.0 * waters + 2.0 * distances),
        }
    }

    /// Returns the work of leapfrog. Positions and velocities are read and written, and old positions are written.
    /// Forces, masses and inverse masses are read. Velocities and masses are read again for the second kinetic energy.
    fn update(&self) -> Work {
        Work { flops: LEAPFROG_FLOPS * self.atoms(), bytes: (7.0 * VECTOR + 24.0) * self.atoms() }
    }
}

/// Returns the bytes of a pair list, at four bytes per cluster pair.
fn list_bytes(slots: u64) -> f64 {
    4.0 * (slots / CLUSTER_PAIR) as f64
}

/// Returns the number of operations for the values and slopes of a B-spline of this order along one axis. The values
/// take one operation for 1 − fraction, and 6n − 7 operations to raise the order to each n from 3 on. Each slope except
/// the last takes one difference.
fn spline_flops(order: usize) -> f64 {
    ((3..=order).map(|n| 6 * n - 7).sum::<usize>() + order) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::{Entry, ListChunk, MaskedPair};

    #[test]
    fn slots_are_counted_by_rows() {
        let entry = |lj_rows, masked, plain| Entry { cluster: 0, shift: 0, lj_rows, coulomb: true, masked, plain };
        let pair = MaskedPair { block: 0, interacting: 1, excluded: 0, excepted: false };
        let chunk = ListChunk {
            entries: vec![
                entry(LjRows::All, [0, 1], [0, 0, 2, 3, 3]),
                entry(LjRows::Half, [1, 1], [3, 4, 7, 9, 9]),
                entry(LjRows::None, [1, 2], [9, 9, 10, 10, 10]),
            ],
            masked: vec![pair; 2],
            plain: vec![0; 10],
        };
        let mut list = PairList::default();
        list.chunks.push(chunk);
        let counts = PairCounts::new(&list, &list);
        // the pair kernel computes eight cluster pairs with all four i-atoms, and four cluster pairs with two of the
        // i-atoms. Lennard-Jones interactions are computed for both masked cluster pairs, for two cluster pairs and
        // half of a third in the first entry, and for half of each of four cluster pairs in the second entry
        let slots = 8 * 32 + 4 * 16;
        let lj_slots = 4 * 32 + 16 + 4 * 16;
        let expected = PairCounts { slots, lj_slots, entries: 3, outer_slots: slots, busiest_slots: slots };
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_cubic_spline_takes_32_operations() {
        // order 2 takes 1 operation for 1 − f; order 3 takes 2 + 6 + 3 operations, and order 4 takes 2 + 12 + 3; three
        // differences yield three slopes, and the fourth slope is only a change of sign
        assert_eq!(spline_flops(4), 32.0);
    }
}
