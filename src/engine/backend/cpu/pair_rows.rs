//! Register contents of the pair kernel: the atoms of an i-cluster, and their distances to the atoms of a j-block.

use super::pair_input::{PairInput, PairOutput, eight};
use super::pair_radial::Radial;
use super::pair_rules::{LJ_PME, UNLIMITED};
use crate::arrays::map;
use crate::pair::{BLOCK, CENTRE_QUANTUM, CLUSTER, Entry, SHIFTS, shift_image};
use crate::simd::{Arithmetic, Float, Simd};
use crate::term::{ForceSwitch, LjSwitch, PotentialSwitch};
use crate::vec3::Vec3;

/// `N` vectors of two i-atoms each, in registers.
pub(super) struct Rows<S: Simd, const N: usize> {
    /// offsets of the i-atoms from the center, including the remainder that is left when the lattice shift is rounded
    /// to a multiple of `CENTRE_QUANTUM`
    pub(super) x: [[S::F; N]; 3],
    pub(super) charge: [S::F; N],
    pub(super) lj: [[S::F; N]; 2],
    pub(super) types: [[usize; 2]; N],
    /// √c6 of the i-atoms; zeros without LJ-PME
    pub(super) root_c6: [S::F; N],
    pub(super) force: [[S::F; N]; 3],
    /// negative of the center, which is the block center plus the lattice shift rounded to a multiple of
    /// `CENTRE_QUANTUM`; an instruction can add a number in memory to it, but not subtract the center from that number
    pub(super) minus_center: [S::F; 3],
}

/// Loop invariants: constants in registers, and array addresses, which the compiler would otherwise reload after each
/// store of a force.
pub(super) struct Fixed<'a, S: Simd> {
    pub(super) input: &'a PairInput<'a>,
    pub(super) packed: &'a [[f32; 24]],
    pub(super) centers: &'a [[f32; 3]],
    pub(super) charges: &'a [[f32; 8]],
    pub(super) force: Radial<'a, S>,
    /// smallest r² for which forces are computed, nm²
    pub(super) lowest: S::F,
    pub(super) cutoff_squared: S::F,
    /// force switch; its values are valid only in kernels with a force switch
    pub(super) force_switch: ForceSwitch<S::F>,
    /// potential switch; its values are valid only in kernels with a potential switch
    pub(super) potential_switch: PotentialSwitch<S::F>,
}

impl<'a, S: Simd> Fixed<'a, S> {
    #[inline(always)]
    pub(super) fn new(input: &'a PairInput<'a>) -> Self {
        let force_switch = match input.lj_switch {
            Some(LjSwitch::Force(switch)) => switch,
            _ => ForceSwitch { from: 0.0, square: [0.0; 2], cube: [0.0; 2], shift: [0.0; 2] },
        };
        let potential_switch = match input.lj_switch {
            Some(LjSwitch::Potential(switch)) => switch,
            _ => PotentialSwitch::new(0.0, 1.0),
        };
        Fixed {
            input,
            packed: input.packed,
            centers: &input.grid.centers,
            charges: input.charges,
            force: Radial::new(&input.coulomb.force),
            lowest: S::F::splat(input.coulomb.force.table.0.lowest),
            cutoff_squared: S::F::splat(input.cutoff_squared),
            force_switch: force_switch.constant(),
            potential_switch: potential_switch.constant(),
        }
    }
}

/// Loads one value of each of the four i-atoms of a cluster as two vectors, and adds `extra` to each value.
#[inline(always)]
fn two_rows<S: Simd>(values: &[f32], extra: f32) -> [S::F; 2] {
    [S::F::two(values[0] + extra, values[1] + extra), S::F::two(values[2] + extra, values[3] + extra)]
}

impl<S: Simd> Rows<S, 2> {
    #[inline(always)]
    pub(super) fn load<const END: u8>(input: &PairInput<'_>, entry: &Entry) -> Self {
        let (index, base) = (entry.cluster as usize / 2, entry.cluster as usize % 2 * CLUSTER);
        let shift = match input.cell {
            Some(cell) if entry.shift as usize != SHIFTS / 2 => cell.shift(shift_image(entry.shift as usize)),
            _ => Vec3::ZERO,
        };
        let (coarse, fine) = split(shift);
        let (packed, lj) = (&input.packed[index], &input.lj[index]);
        let zero = S::F::splat(0.0);
        let kind = |row: usize| input.slot_types[index][base + row].to_bits() as usize;
        let mut rows = Rows {
            x: [[zero; 2]; 3],
            charge: two_rows::<S>(&input.charges[index][base..], 0.0),
            lj: [two_rows::<S>(&lj[base..], 0.0), two_rows::<S>(&lj[BLOCK + base..], 0.0)],
            types: [[kind(0), kind(1)], [kind(2), kind(3)]],
            root_c6: if END == LJ_PME { two_rows::<S>(&input.dispersion[index][base..], 0.0) } else { [zero; 2] },
            force: [[zero; 2]; 3],
            minus_center: [zero; 3],
        };
        for k in 0..3 {
            rows.x[k] = two_rows::<S>(&packed[k * BLOCK + base..], fine[k]);
            // `black_box` hides the value from the compiler, which would otherwise add centers as scalars and broadcast
            // each sum by a permutation
            rows.minus_center[k] = std::hint::black_box(S::F::splat(-input.grid.centers[index][k] - coarse[k]));
        }
        rows
    }

    /// Returns the vector of two i-atoms with index `half`, with zero forces.
    #[inline(always)]
    pub(super) fn row(&self, half: usize) -> Rows<S, 1> {
        let zero = S::F::splat(0.0);
        let Rows { x, charge, lj, types, root_c6, minus_center, .. } = self;
        Rows {
            x: [[x[0][half]], [x[1][half]], [x[2][half]]],
            charge: [charge[half]],
            lj: [[lj[0][half]], [lj[1][half]]],
            types: [types[half]],
            root_c6: [root_c6[half]],
            force: [[zero]; 3],
            minus_center: *minus_center,
        }
    }

    /// Adds the forces of `row` to the vector with index `half`.
    #[inline(always)]
    pub(super) fn add_forces(&mut self, half: usize, row: &Rows<S, 1>) {
        for k in 0..3 {
            self.force[k][half] += row.force[k][0];
        }
    }

    /// Adds the accumulated forces on the i-atoms to the slots of the cluster. The sum of these forces is also added to
    /// the total for the lattice shift of the entry.
    #[inline(always)]
    pub(super) fn finish(self, entry: &Entry, forces: &mut [BlockForces<S>], output: &mut PairOutput) {
        let (index, base) = (entry.cluster as usize / 2, entry.cluster as usize % 2 * CLUSTER);
        let sums = S::F::half_sums(self.force);
        for k in 0..3 {
            let slots = &mut forces[index][k].as_mut()[base..base + CLUSTER];
            for atom in 0..CLUSTER {
                slots[atom] += sums[k][atom];
            }
        }
        // without a shift, the forces do not contribute to the virial of the shifts
        if entry.shift as usize != SHIFTS / 2 {
            let total = map(sums, |[a, b, c, d]| (f64::from(a) + f64::from(b)) + (f64::from(c) + f64::from(d)));
            output.shift_forces[entry.shift as usize] += Vec3::from(total);
        }
    }
}

impl<S: Simd, const N: usize> Rows<S, N> {
    /// Adds `total` to the forces on the i-atoms.
    #[inline(always)]
    pub(super) fn add(&mut self, total: &[[S::F; N]; 3]) {
        for k in 0..3 {
            for row in 0..N {
                self.force[k][row] += total[k][row];
            }
        }
    }
}

/// Forces on the eight atoms of a block in the force buffer of a thread: along x, y and z.
pub(super) type BlockForces<S> = [<<S as Simd>::F as Float>::Slots; 3];

/// Adds the pair forces f · d, where f is the force divided by the distance and d is the displacement, to the forces on
/// the j-atoms, and subtracts the pair forces from the forces on the i-atoms.
#[inline(always)]
pub(super) fn apply<S: Simd, const N: usize>(
    near: &Near<S, N>,
    f: [S::F; N],
    total: &mut [[S::F; N]; 3],
    forces: &mut [BlockForces<S>],
) {
    // SAFETY: the block is in range, see `positions`
    let slots = unsafe { forces.get_unchecked_mut(near.block) };
    for k in 0..3 {
        let d = near.d[k];
        for row in 0..N {
            total[k][row] = f[row].neg_mul_add(d[row], total[k][row]);
        }
        S::F::add_products(f, d, &mut slots[k]);
    }
}

/// Splits a lattice shift into a multiple of `CENTRE_QUANTUM`, which is exact in f32, and the rest.
#[inline(always)]
fn split(shift: Vec3) -> ([f32; 3], [f32; 3]) {
    let coarse = shift.map(|v| (v / CENTRE_QUANTUM).round() * CENTRE_QUANTUM);
    (coarse.map(|v| v as f32).to_array(), (shift - coarse).map(|v| v as f32).to_array())
}

/// Distance vectors between i-atoms and the atoms of a block.
pub(super) struct Near<S: Simd, const N: usize> {
    pub(super) block: usize,
    /// displacements r_j − r_i, nm
    pub(super) d: [[S::F; N]; 3],
    /// squared distances, nm²
    pub(super) r2: [S::F; N],
}

impl<S: Simd, const N: usize> Near<S, N> {
    #[inline(always)]
    pub(super) fn new(fixed: &Fixed<'_, S>, rows: &Rows<S, N>, block: u32) -> Self {
        Self::at(rows, block, positions(fixed, rows, block))
    }

    /// Computes the distances to the atoms of a block; `positions` is the result of [`positions`] for the block.
    #[inline(always)]
    pub(super) fn at(rows: &Rows<S, N>, block: u32, positions: [S::F; 3]) -> Self {
        let zero = S::F::splat(0.0);
        let mut d = [[zero; N]; 3];
        for k in 0..3 {
            for row in 0..N {
                d[k][row] = positions[k] - rows.x[k][row];
            }
        }
        let mut r2 = [zero; N];
        for row in 0..N {
            r2[row] = d[2][row].mul_add(d[2][row], d[1][row].mul_add(d[1][row], d[0][row] * d[0][row]));
        }
        Near { block: block as usize, d, r2 }
    }

    /// Returns the squared distances (nm²), clamped to the smallest r² for which forces are computed. With a cutoff,
    /// only masked blocks are clamped: pairs that could be too close for the tables are always in masked blocks, see
    /// `pair::prune`.
    #[inline(always)]
    pub(super) fn tabulated<const RULE: u8, const MASKED: bool>(&self, fixed: &Fixed<'_, S>) -> [S::F; N] {
        let mut r2 = self.r2;
        if RULE == UNLIMITED || MASKED {
            for row in 0..N {
                r2[row] = r2[row].max(fixed.lowest);
            }
        }
        r2
    }
}

/// Returns the positions of a block's atoms relative to the center of the i-atoms. Each of the two halves of a vector
/// holds all eight positions.
#[inline(always)]
pub(super) fn positions<S: Simd, const N: usize>(fixed: &Fixed<'_, S>, rows: &Rows<S, N>, block: u32) -> [S::F; 3] {
    let block = block as usize;
    // SAFETY: the block is in range, because pruning has indexed the packed offsets with every block of the list. The
    // kernel has checked that atoms have not been sorted since the pruning, and that every array has one element per
    // block of the grid
    let (packed, center) = unsafe { (fixed.packed.get_unchecked(block), fixed.centers.get_unchecked(block)) };
    let mut positions = [S::F::splat(0.0); 3];
    for k in 0..3 {
        let between = rows.minus_center[k].uniform() + S::F::splat(center[k]);
        positions[k] = S::F::load_twice(eight(packed, k)) + between;
    }
    positions
}
