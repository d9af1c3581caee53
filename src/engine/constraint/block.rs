//! Blocks of eight waters or eight SHAKE clusters. A block stores the indices of its atoms, and reads and writes their
//! positions and velocities.

use super::lanes::{LANES, Lanes, gather, lane};
use super::settle::{self, SettleShape, settle};
use super::shake::{self, ShakeShape, ShakeSolution, shake};
use super::{ConstraintFailure, Drift, Motion, SharedVectors};
use crate::arrays::{from_fn, map};
use crate::simd::Simd;
use crate::vec3::{Mat3, Vec3, vec3};
use std::ops::Range;

/// Atoms of eight molecules of `K` atoms. Unused lanes at the end repeat the last molecule, and results in unused lanes
/// are not stored.
#[derive(Clone, Copy, Debug)]
struct Atoms<const K: usize> {
    of: [[u32; LANES]; K],
    used: usize,
}

impl<const K: usize> Atoms<K> {
    /// Makes a block of one to eight molecules.
    fn new(molecules: &[[u32; K]]) -> Self {
        let molecule = |lane: usize| molecules[lane.min(molecules.len() - 1)];
        Self { of: from_fn(|k| from_fn(|lane| molecule(lane)[k])), used: molecules.len() }
    }

    /// Reads the vectors of all lanes.
    ///
    /// # Safety
    /// All atom indices of the block are in range of `vectors`.
    #[inline(always)]
    unsafe fn read(&self, vectors: &[Vec3]) -> [Vec3<Lanes>; K] {
        // SAFETY: the caller guarantees that all atom indices are in range of `vectors`
        map(self.of, |atoms| gather(|lane| unsafe { *vectors.get_unchecked(atoms[lane] as usize) }))
    }

    /// Reads the vectors of all lanes from shared memory.
    ///
    /// # Safety
    /// All atom indices of the block are in range, and no other thread writes the vectors of these atoms during the
    /// call.
    #[inline(always)]
    unsafe fn read_shared(&self, vectors: &SharedVectors<'_>) -> [Vec3<Lanes>; K] {
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        map(self.of, |atoms| gather(|lane| unsafe { vectors.get(atoms[lane]) }))
    }

    /// Adds changes to the vectors of the used lanes.
    ///
    /// # Safety
    /// All atom indices of the block are in range, and no other thread accesses the vectors of these atoms during the
    /// call.
    #[inline(always)]
    unsafe fn add(&self, vectors: &SharedVectors<'_>, changes: &[Vec3<Lanes>; K]) {
        for k in 0..K {
            for l in 0..self.used.min(LANES) {
                // SAFETY: the caller guarantees the conditions under `# Safety` of this function
                unsafe { vectors.add(self.of[k][l], lane(changes[k], l)) };
            }
        }
    }

    /// Adds the corrections Δx to positions, and adds Δx/dt to velocities.
    ///
    /// # Safety
    /// The conditions of [`Self::add`] hold.
    #[inline(always)]
    unsafe fn correct(&self, motion: &Motion<'_>, changes: &[Vec3<Lanes>; K]) {
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            self.add(&motion.positions, changes);
            if let Some((velocities, rate)) = &motion.velocities {
                self.add(velocities, &map(*changes, |d| d * Lanes::splat(*rate)));
            }
        }
    }

    /// Factor for each lane: 1 in used lanes, and 0 in unused lanes, which repeat the last molecule.
    #[inline(always)]
    fn mask(&self) -> Lanes {
        Lanes(from_fn(|lane| if lane < self.used { 1.0 } else { 0.0 }))
    }
}

/// Reading and writing of molecules of three consecutive atoms. A molecule of three consecutive atoms is a row of nine
/// numbers in memory, which is read and written with vector instructions.
impl Atoms<3> {
    /// Whether the atoms of each molecule are consecutive.
    fn are_rows(&self) -> bool {
        let [first, second, third] = &self.of;
        (0..LANES).all(|lane| second[lane] == first[lane] + 1 && third[lane] == first[lane] + 2)
    }

    /// Range of the atoms of one molecule.
    #[inline(always)]
    fn row(&self, lane: usize) -> Range<usize> {
        let first = self.of[0][lane] as usize;
        first..first + 3
    }

    /// Transposes eight rows of nine numbers, where each row belongs to one molecule, into one vector of lanes for each
    /// atom.
    #[inline(always)]
    fn columns<S: Simd>(rows: [&[f64; 9]; LANES]) -> [Vec3<Lanes>; 3] {
        let [a, b, c, d, e, f, g, h] = map(S::transpose8(map(rows, first_eight)), Lanes);
        [vec3(a, b, c), vec3(d, e, f), vec3(g, h, Lanes(map(rows, |row| row[8])))]
    }

    /// Reads the vectors of all lanes like [`Self::read`], for molecules of consecutive atoms.
    ///
    /// # Safety
    /// The conditions of [`Self::read`] hold.
    #[inline(always)]
    unsafe fn read_rows<S: Simd>(&self, vectors: &[Vec3]) -> [Vec3<Lanes>; 3] {
        // SAFETY: the caller guarantees that all atoms are in range
        Self::columns::<S>(from_fn(|lane| nine(unsafe { vectors.get_unchecked(self.row(lane)) })))
    }

    /// Reads the vectors of all lanes like [`Self::read_shared`], for molecules of consecutive atoms.
    ///
    /// # Safety
    /// All atom indices of the block are in range, and no other thread accesses the vectors of these atoms during the
    /// call.
    #[inline(always)]
    unsafe fn read_shared_rows<S: Simd>(&self, vectors: &SharedVectors<'_>) -> [Vec3<Lanes>; 3] {
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        Self::columns::<S>(from_fn(|lane| nine(unsafe { vectors.read_slice(self.row(lane)) })))
    }

    /// Transposes the vectors of the atoms into eight rows of nine numbers, where each row belongs to one molecule.
    #[inline(always)]
    fn rows<S: Simd>([a, b, c]: &[Vec3<Lanes>; 3]) -> [(Lanes, f64); LANES] {
        let rows = S::transpose8([&a.x.0, &a.y.0, &a.z.0, &b.x.0, &b.y.0, &b.z.0, &c.x.0, &c.y.0]);
        from_fn(|lane| (Lanes(rows[lane]), c.z.0[lane]))
    }

    /// Adds rows of nine numbers to the vectors of the used lanes like [`Self::add`].
    ///
    /// # Safety
    /// The conditions of [`Self::add`] hold.
    #[inline(always)]
    unsafe fn add_rows(&self, vectors: &SharedVectors<'_>, rows: &[(Lanes, f64); LANES]) {
        for lane in 0..self.used {
            let (row, last) = rows[lane];
            // SAFETY: the caller guarantees the conditions under `# Safety` of this function; each slice is dropped
            // before the next slice is made
            add_nine(nine_mut(unsafe { vectors.slice(self.row(lane)) }), row, last);
        }
    }

    /// Adds corrections like [`Self::correct`], for molecules of consecutive atoms.
    ///
    /// # Safety
    /// The conditions of [`Self::add`] hold.
    #[inline(always)]
    unsafe fn correct_rows<S: Simd>(&self, motion: &Motion<'_>, changes: &[Vec3<Lanes>; 3]) {
        let rows = Self::rows::<S>(changes);
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            self.add_rows(&motion.positions, &rows);
            if let Some((velocities, rate)) = &motion.velocities {
                let rate = *rate;
                self.add_rows(velocities, &map(rows, |(row, last)| (row * Lanes::splat(rate), last * rate)));
            }
        }
    }
}

/// The nine components of three vectors.
#[inline(always)]
fn nine(vectors: &[Vec3]) -> &[f64; 9] {
    bytemuck::cast_slice(vectors).try_into().expect("three vectors")
}

/// The first eight of nine numbers.
#[inline(always)]
fn first_eight(nine: &[f64; 9]) -> &[f64; 8] {
    nine.first_chunk().expect("eight of nine numbers")
}

/// Adds the eight numbers `eight` and the ninth number `last` to `to`. The first eight numbers are added as [`Lanes`],
/// because the compiler does not translate a loop over nine numbers to vector instructions.
#[inline(always)]
fn add_nine(to: &mut [f64; 9], eight: Lanes, last: f64) {
    let first: &mut [f64; 8] = to.first_chunk_mut().expect("eight of nine numbers");
    *first = (Lanes(*first) + eight).0;
    to[8] += last;
}

/// The nine components of three vectors, mutable.
#[inline(always)]
fn nine_mut(vectors: &mut [Vec3]) -> &mut [f64; 9] {
    bytemuck::cast_slice_mut(vectors).try_into().expect("three vectors")
}

/// Sum Σ r⊗(m Δx) in amu nm² for each lane. The sum is over the hydrogens of waters or the leaves of SHAKE clusters,
/// with the mass m, the bond vector r and the correction Δx of each atom. The tensor is symmetric for central forces,
/// and its upper triangle is stored: xx xy xz yy yz zz.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneVirial([Lanes; 6]);

impl LaneVirial {
    pub(super) const ZERO: Self = Self([Lanes::ZERO; 6]);

    #[inline(always)]
    fn add(&mut self, r: Vec3<Lanes>, impulse: Vec3<Lanes>) {
        let terms =
            [r.x * impulse.x, r.x * impulse.y, r.x * impulse.z, r.y * impulse.y, r.y * impulse.z, r.z * impulse.z];
        for k in 0..6 {
            self.0[k] += terms[k];
        }
    }

    /// Sum of the virial over all lanes, in a fixed order.
    #[inline(always)]
    pub(super) fn total(&self) -> Mat3 {
        let [xx, xy, xz, yy, yz, zz] = map(self.0, Lanes::sum);
        Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    }
}

/// Eight waters of one shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct SettleBlock {
    atoms: Atoms<3>,
    /// whether the atoms of each water are consecutive
    rows: bool,
    shape: SettleShape,
}

impl SettleBlock {
    /// Makes a block of one to eight waters (O, H, H).
    pub(super) fn new(waters: &[[u32; 3]], shape: SettleShape) -> Self {
        let atoms = Atoms::new(waters);
        Self { rows: atoms.are_rows(), atoms, shape }
    }

    /// Corrects the positions and velocities of the waters, so that the waters are rigid. If `virial` is `Some`, adds
    /// the contribution of the corrections to the virial.
    ///
    /// # Safety
    /// All atom indices of the block are in range of the arrays of `motion`, and no other thread accesses the data of
    /// these atoms during the call.
    #[inline(always)]
    pub(super) unsafe fn apply<S: Simd>(
        &self,
        motion: &Motion<'_>,
        virial: Option<&mut LaneVirial>,
    ) -> Result<(), ConstraintFailure> {
        let (atoms, positions) = (&self.atoms, &motion.positions);
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        let (old, new) = unsafe {
            match self.rows {
                true => (atoms.read_rows::<S>(motion.old), atoms.read_shared_rows::<S>(positions)),
                false => (atoms.read(motion.old), atoms.read_shared(positions)),
            }
        };
        let changes = settle(&self.shape, old, new);
        self.check(&changes)?;
        if let Some(virial) = virial {
            let mass = atoms.mask() * Lanes::splat(self.shape.hydrogen_mass());
            for k in 1..3 {
                virial.add(old[k] - old[0], changes[k] * mass);
            }
        }
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            match self.rows {
                true => atoms.correct_rows::<S>(motion, &changes),
                false => atoms.correct(motion, &changes),
            }
        }
        Ok(())
    }

    /// Removes velocity components along the constraints.
    ///
    /// # Safety
    /// The conditions of [`Self::apply`] hold.
    pub(super) unsafe fn project(
        &self,
        positions: &[Vec3],
        velocities: &SharedVectors<'_>,
    ) -> Result<(), ConstraintFailure> {
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            let changes = settle::project(&self.shape, self.atoms.read(positions), self.atoms.read_shared(velocities));
            self.check(&changes)?;
            self.atoms.add(velocities, &changes);
        }
        Ok(())
    }

    /// Satisfies the constraints at the end of a drift.
    ///
    /// # Safety
    /// All atom indices of the block are in range of the arrays of `drift`, and no other thread accesses the data of
    /// these atoms during the call.
    #[inline(always)]
    pub(super) unsafe fn finish_drift<S: Simd>(&self, drift: &Drift<'_>) -> Result<(), ConstraintFailure> {
        let (atoms, half) = (&self.atoms, Lanes::splat(drift.half));
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        let (positions, velocities) = unsafe {
            match self.rows {
                true => (atoms.read_shared_rows::<S>(drift.positions), atoms.read_shared_rows::<S>(drift.velocities)),
                false => (atoms.read_shared(drift.positions), atoms.read_shared(drift.velocities)),
            }
        };
        let (mut middle, mut end) = (positions, positions);
        for k in 0..3 {
            middle[k] -= velocities[k] * half;
        }
        let projection = settle::project(&self.shape, middle, velocities);
        for k in 0..3 {
            end[k] += projection[k] * half;
        }
        let mut displacements = settle(&self.shape, middle, end);
        for k in 0..3 {
            displacements[k] += projection[k] * half;
        }
        self.check(&displacements)?;
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            match self.rows {
                true => {
                    atoms.add_rows(drift.velocities, &Atoms::rows::<S>(&projection));
                    atoms.add_rows(drift.positions, &Atoms::rows::<S>(&displacements));
                }
                false => {
                    atoms.add(drift.velocities, &projection);
                    atoms.add(drift.positions, &displacements);
                }
            }
        }
        Ok(())
    }

    /// Returns an error if a change is NaN or infinite in some lane. If any change in a lane is NaN or infinite, all
    /// three components of the change of the oxygen in this lane are NaN or infinite, too.
    #[inline(always)]
    fn check(&self, changes: &[Vec3<Lanes>; 3]) -> Result<(), ConstraintFailure> {
        let oxygen = changes[0].x;
        if oxygen.is_finite() {
            return Ok(());
        }
        let lane = oxygen.0.iter().position(|x| !x.is_finite()).unwrap_or(0);
        Err(ConstraintFailure { atoms: [self.atoms.of[0][lane], self.atoms.of[1][lane]] })
    }
}

/// A SHAKE cluster: center, leaves, and constraint lengths (nm).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shake<const N: usize> {
    pub(super) center: u32,
    pub(super) leaves: [u32; N],
    pub(super) lengths: [f64; N],
}

/// Eight SHAKE clusters of `N` leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShakeBlock<const N: usize> {
    center: Atoms<1>,
    leaves: Atoms<N>,
    shape: ShakeShape<N>,
}

impl<const N: usize> ShakeBlock<N> {
    /// Makes a block of one to eight SHAKE clusters. `inverse_mass` returns the inverse mass of an atom in 1/amu.
    pub(super) fn new(shakes: &[Shake<N>], inverse_mass: impl Fn(u32) -> f64) -> Self {
        let mut centers = [[0; 1]; LANES];
        let mut all_leaves = [[0; N]; LANES];
        for (lane, shake) in shakes.iter().enumerate() {
            centers[lane] = [shake.center];
            all_leaves[lane] = shake.leaves;
        }
        let center = Atoms::new(&centers[..shakes.len()]);
        let leaves = Atoms::new(&all_leaves[..shakes.len()]);
        let shake = |lane: usize| &shakes[lane.min(shakes.len() - 1)];
        let lanes = |value: &dyn Fn(usize) -> f64| Lanes(from_fn(value));
        let shape = ShakeShape {
            inverse_center_mass: lanes(&|lane| inverse_mass(shake(lane).center)),
            inverse_leaf_mass: from_fn(|i| lanes(&|lane| inverse_mass(shake(lane).leaves[i]))),
            length_squared: from_fn(|i| lanes(&|lane| shake(lane).lengths[i].powi(2))),
        };
        Self { center, leaves, shape }
    }

    /// Corrects positions until the constraints are satisfied. If `virial` is `Some`, adds the contribution of the
    /// corrections to the virial.
    ///
    /// # Safety
    /// All atom indices of the block are in range of the arrays of `motion`, and no other thread accesses the data of
    /// these atoms during the call.
    #[inline(always)]
    pub(super) unsafe fn apply(
        &self,
        motion: &Motion<'_>,
        tolerance: f64,
        virial: Option<&mut LaneVirial>,
    ) -> Result<(), ConstraintFailure> {
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        let (old, new) = unsafe {
            let [old_center] = self.center.read(motion.old);
            let old = map(self.leaves.read(motion.old), |leaf| leaf - old_center);
            (old, self.bonds(&motion.positions))
        };
        let solution = shake(&self.shape, &old, &new, tolerance);
        self.check(&solution)?;
        if let Some(virial) = virial {
            let mask = self.center.mask();
            for i in 0..N {
                virial.add(old[i], solution.leaves[i] * (mask / self.shape.inverse_leaf_mass[i]));
            }
        }
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            self.center.correct(motion, &[solution.center]);
            self.leaves.correct(motion, &solution.leaves);
        }
        Ok(())
    }

    /// Removes velocity components along the constraints.
    ///
    /// # Safety
    /// The conditions of [`Self::apply`] hold.
    pub(super) unsafe fn project(
        &self,
        positions: &[Vec3],
        velocities: &SharedVectors<'_>,
    ) -> Result<(), ConstraintFailure> {
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            let [center] = self.center.read(positions);
            let bonds = self.leaves.read(positions).map(|leaf| leaf - center);
            let solution = shake::project(&self.shape, &bonds, &self.bonds(velocities));
            self.check(&solution)?;
            self.center.add(velocities, &[solution.center]);
            self.leaves.add(velocities, &solution.leaves);
        }
        Ok(())
    }

    /// Returns, for all lanes, the vector of each leaf minus the vector of the center.
    ///
    /// # Safety
    /// All atom indices of the block are in range, and no other thread writes the vectors of these atoms during the
    /// call.
    #[inline(always)]
    unsafe fn bonds(&self, vectors: &SharedVectors<'_>) -> [Vec3<Lanes>; N] {
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        let ([center], leaves) = unsafe { (self.center.read_shared(vectors), self.leaves.read_shared(vectors)) };
        map(leaves, |leaf| leaf - center)
    }

    /// Satisfies the constraints at the end of a drift.
    ///
    /// # Safety
    /// All atom indices of the block are in range of the arrays of `drift`, and no other thread accesses the data of
    /// these atoms during the call.
    #[inline(always)]
    pub(super) unsafe fn finish_drift(&self, drift: &Drift<'_>, tolerance: f64) -> Result<(), ConstraintFailure> {
        let half = Lanes::splat(drift.half);
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        let [bonds, velocities] = unsafe { [self.bonds(drift.positions), self.bonds(drift.velocities)] };
        let [projection, rest] = shake::finish_drift(&self.shape, &bonds, &velocities, half, tolerance);
        self.check(&projection)?;
        self.check(&rest)?;
        let mut leaves = rest.leaves;
        for i in 0..N {
            leaves[i] += projection.leaves[i] * half;
        }
        // SAFETY: the caller guarantees the conditions under `# Safety` of this function
        unsafe {
            self.center.add(drift.velocities, &[projection.center]);
            self.leaves.add(drift.velocities, &projection.leaves);
            self.center.add(drift.positions, &[rest.center + projection.center * half]);
            self.leaves.add(drift.positions, &leaves);
        }
        Ok(())
    }

    #[inline(always)]
    fn check(&self, solution: &ShakeSolution<N>) -> Result<(), ConstraintFailure> {
        match solution.failed {
            None => Ok(()),
            Some((leaf, lane)) => {
                Err(ConstraintFailure { atoms: [self.center.of[0][lane], self.leaves.of[leaf][lane]] })
            }
        }
    }
}
