//! Periodic cell, orthorhombic or triclinic, in the reduced lower-triangular form.
//!
//! The row vectors of a cell are a = (a_x, 0, 0), b = (b_x, b_y, 0), c = (c_x, c_y, c_z) with |b_x| ≤ a_x/2, |c_x| ≤
//! a_x/2, |c_y| ≤ b_y/2 (the convention of GROMACS and OpenMM). Systems in vacuum have no cell, which is written as
//! `None` of `Option<PeriodicCell>`.

use crate::vec3::{Vec3, vec3};

/// Lattice vectors (nm) of a periodic cell, in the reduced lower-triangular form.
///
/// ```
/// use md_engine::cell::PeriodicCell;
/// use md_engine::vec3::vec3;
///
/// let cell = PeriodicCell::orthorhombic([2.0, 3.0, 4.0]);
/// assert_eq!((cell.volume(), cell.max_cutoff()), (24.0, 1.0));
/// assert_eq!(cell.minimum_image(vec3(1.5, 0.0, -3.0)), vec3(-0.5, 0.0, 1.0));
/// // a truncated octahedron has 4√3/9 of the volume of the cube of its edge
/// let octahedron = PeriodicCell::from_lengths_angles([3.0; 3], [109.471_219; 3]).expect("a cell");
/// assert!((octahedron.volume() / 27.0 - 4.0 * 3f64.sqrt() / 9.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PeriodicCell {
    rows: [Vec3; 3],
}

/// Exact angle of a truncated octahedron, acos(−1/3). In files this angle is written as 109.4712190°.
const OCTAHEDRON_ANGLE_DEGREES: f64 = 109.471_220_634_490_69;
/// An angle that differs by less than this number of degrees from the exact angle of a truncated octahedron is replaced
/// by the exact angle. Angles in files are rounded to 7 decimals or fewer.
const OCTAHEDRON_SNAP_DEGREES: f64 = 1e-4;

impl PeriodicCell {
    /// Creates a rectangular cell from its edges in nm.
    pub fn orthorhombic(edges: [f64; 3]) -> Self {
        Self { rows: [vec3(edges[0], 0.0, 0.0), vec3(0.0, edges[1], 0.0), vec3(0.0, 0.0, edges[2])] }
    }

    /// Creates a cell from three row vectors (nm) with a along x and b in the xy plane, and reduces the vectors.
    /// Returns `None` if a is not along x, if b is not in the xy plane, if a vector is not finite, or if the volume is
    /// not positive.
    pub fn from_rows(rows: [Vec3; 3]) -> Option<Self> {
        let [a, mut b, mut c] = rows;
        let lower_triangular = a.y == 0.0 && a.z == 0.0 && b.z == 0.0;
        let positive = a.x > 0.0 && b.y > 0.0 && c.z > 0.0;
        let finite = rows.iter().all(|row| row.is_finite());
        if !(lower_triangular && positive && finite) {
            return None;
        }
        c = c - b * excess(c.y / b.y);
        c = c - a * excess(c.x / a.x);
        b = b - a * excess(b.x / a.x);
        Some(Self { rows: [a, b, c] })
    }

    /// Creates a cell from three row vectors (nm) in any orientation. Also returns the Cartesian axes of the reduced
    /// cell: e₁ along a, e₂ in the plane of a and b, and e₃ perpendicular to both. A vector v has the components (v·e₁,
    /// v·e₂, v·e₃) along these axes. Returns `None` if the vectors are not finite or not right-handed.
    pub fn from_vectors(rows: [Vec3; 3]) -> Option<(Self, [Vec3; 3])> {
        let [a, b, c] = rows;
        let normal = a.cross(b);
        let e3 = normal * (1.0 / normal.norm());
        let e1 = a * (1.0 / a.norm());
        let e2 = e3.cross(e1);
        let cell = Self::from_rows([
            vec3(a.norm(), 0.0, 0.0),
            vec3(b.dot(e1), b.dot(e2), 0.0),
            vec3(c.dot(e1), c.dot(e2), c.dot(e3)),
        ])?;
        Some((cell, [e1, e2, e3]))
    }

    /// Creates a cell from edge lengths (nm) and angles (degrees): α between b and c, β between a and c, γ between a
    /// and b. Returns `None` if no cell has these lengths and angles. Angles of a truncated octahedron are replaced by
    /// acos(−1/3).
    pub fn from_lengths_angles(lengths: [f64; 3], angles_degrees: [f64; 3]) -> Option<Self> {
        let [a, b, c] = lengths;
        if lengths.iter().any(|&length| length <= 0.0) || !angles_degrees.iter().all(|&v| 0.0 < v && v < 180.0) {
            return None;
        }
        let cosines = angles_degrees.map(|angle| {
            if angle == 90.0 {
                0.0
            } else if (angle - OCTAHEDRON_ANGLE_DEGREES).abs() < OCTAHEDRON_SNAP_DEGREES {
                -1.0 / 3.0
            } else if (angle - (180.0 - OCTAHEDRON_ANGLE_DEGREES)).abs() < OCTAHEDRON_SNAP_DEGREES {
                1.0 / 3.0
            } else {
                angle.to_radians().cos()
            }
        });
        let [cos_alpha, cos_beta, cos_gamma] = cosines;
        let sin_gamma = (1.0 - cos_gamma * cos_gamma).sqrt();
        let cx = c * cos_beta;
        let cy = c * (cos_alpha - cos_beta * cos_gamma) / sin_gamma;
        let cz = (c * c - cx * cx - cy * cy).sqrt();
        Self::from_rows([vec3(a, 0.0, 0.0), vec3(b * cos_gamma, b * sin_gamma, 0.0), vec3(cx, cy, cz)])
    }

    /// Returns the row vectors a, b, c in nm.
    #[inline(always)]
    pub fn rows(&self) -> [Vec3; 3] {
        self.rows
    }

    /// Returns the edge lengths in nm, and the angles α, β, γ in degrees.
    pub fn lengths_angles(&self) -> ([f64; 3], [f64; 3]) {
        let [a, b, c] = self.rows;
        let angle = |u: Vec3, v: Vec3| (u.dot(v) / (u.norm() * v.norm())).acos().to_degrees();
        ([a.norm(), b.norm(), c.norm()], [angle(b, c), angle(a, c), angle(a, b)])
    }

    /// Returns the volume in nm³.
    #[inline(always)]
    pub fn volume(&self) -> f64 {
        self.rows[0].x * self.rows[1].y * self.rows[2].z
    }

    /// Returns the distances (nm) between opposite faces, for the directions a, b, c.
    pub fn face_distances(&self) -> [f64; 3] {
        let [a, b, c] = self.rows;
        let volume = self.volume();
        [volume / b.cross(c).norm(), volume / c.cross(a).norm(), volume / a.cross(b).norm()]
    }

    /// Returns the largest cutoff (nm) within which an atom has at most one image, the minimum image. This cutoff is
    /// half of the smallest diagonal element of the reduced cell.
    #[inline(always)]
    pub fn max_cutoff(&self) -> f64 {
        0.5 * self.rows[0].x.min(self.rows[1].y).min(self.rows[2].z)
    }

    /// Returns the cell scaled uniformly by `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { rows: self.rows.map(|row| row * factor) }
    }

    /// Returns the cell stretched along x, y, z by `factors`, in the reduced form.
    pub fn stretched(&self, factors: Vec3) -> Self {
        Self { rows: self.rows.map(|row| row.stretched(factors)) }
    }

    /// Returns the factors along x, y, z that stretch the cell `before` into this cell.
    pub fn stretch_since(&self, before: &Self) -> Vec3 {
        let diagonal = |cell: &Self| [cell.rows[0].x, cell.rows[1].y, cell.rows[2].z];
        let ([x, y, z], [a, b, c]) = (diagonal(self), diagonal(before));
        vec3(x / a, y / b, z / c)
    }

    /// Returns the same lattice with vectors that correspond to the vectors of `other`. The returned vectors need not
    /// be in the reduced form. Some lattices have two reduced forms, for example the lattice of a rhombic dodecahedron,
    /// where a component of c is half of a. Rounding decides which of the two forms a file has. Fractional coordinates
    /// of two cells are comparable only if the lattice vectors of the two cells correspond.
    pub fn corresponding_to(&self, other: &Self) -> Self {
        let ([a, mut b, mut c], [x, y, z]) = (self.rows, other.rows);
        b = b + a * (y.x / x.x - b.x / a.x).round();
        c = c + b * (z.y / y.y - c.y / b.y).round();
        c = c + a * (z.x / x.x - c.x / a.x).round();
        Self { rows: [a, b, c] }
    }

    /// Returns the fractional coordinates of a Cartesian position (nm), which are not wrapped.
    #[inline(always)]
    pub fn to_fractional(&self, r: Vec3) -> Vec3 {
        let [a, b, c] = self.rows;
        let sz = r.z / c.z;
        let sy = (r.y - sz * c.y) / b.y;
        let sx = (r.x - sy * b.x - sz * c.x) / a.x;
        vec3(sx, sy, sz)
    }

    /// Returns the Cartesian position (nm) of fractional coordinates.
    #[inline(always)]
    pub fn to_cartesian(&self, s: Vec3) -> Vec3 {
        self.rows[0] * s.x + self.rows[1] * s.y + self.rows[2] * s.z
    }

    /// Returns the shift n_a a + n_b b + n_c c (nm) of a lattice image (n_a, n_b, n_c).
    #[inline(always)]
    pub fn shift(&self, image: [i32; 3]) -> Vec3 {
        self.to_cartesian(vec3(f64::from(image[0]), f64::from(image[1]), f64::from(image[2])))
    }

    /// Reduces a displacement (nm) by whole lattice vectors: first c, then b, then a. The result is the minimum image
    /// for every pair whose minimum-image distance is below [`Self::max_cutoff`], and therefore for all pairs within
    /// the cutoff. Use [`Self::minimum_image`] for longer distances.
    #[inline(always)]
    pub fn image_within_cutoff(&self, mut d: Vec3) -> Vec3 {
        let [a, b, c] = self.rows;
        // nearly all displacements need no reduction: if every component is below half of the diagonal, the roundings
        // below would give zero
        if d.z.abs() < 0.5 * c.z && d.y.abs() < 0.5 * b.y && d.x.abs() < 0.5 * a.x {
            return d;
        }
        d -= c * (d.z / c.z).round();
        d -= b * (d.y / b.y).round();
        d -= a * (d.x / a.x).round();
        d
    }

    /// Returns the shortest periodic image of a displacement (nm), for every cell and every distance.
    #[inline(always)]
    pub fn minimum_image(&self, d: Vec3) -> Vec3 {
        if self.is_shortest(d) { d } else { self.minimum_image_of_far(d) }
    }

    /// Returns the shortest image of a displacement that may be longer than [`Self::max_cutoff`].
    #[cold]
    #[inline(never)]
    fn minimum_image_of_far(&self, d: Vec3) -> Vec3 {
        let reduced = self.image_within_cutoff(d);
        if self.is_shortest(reduced) { reduced } else { d + self.shift(self.nearest_image(d)) }
    }

    /// Returns whether a displacement is shorter than [`Self::max_cutoff`]. No periodic image of such a displacement is
    /// shorter, because every lattice vector is at least twice as long as [`Self::max_cutoff`].
    #[inline(always)]
    fn is_shortest(&self, d: Vec3) -> bool {
        d.norm_squared() < self.max_cutoff().powi(2)
    }

    /// Returns the image n for which `d + shift(n)` is the shortest periodic image of the displacement `d` (nm).
    /// Returns zero if `d` itself is the shortest image.
    ///
    /// The closest lattice point is found by enumeration (Schnorr and Euchner, Math. Program. 66, 181 (1994),
    /// doi:10.1007/BF01581144). The multiples of c are enumerated first, then the multiples of b. The enumeration along
    /// an axis goes outward from the nearest multiple, and ends when the component along this axis alone is longer than
    /// the shortest image already found. At most [`MOST_IMAGES`] multiples of a lattice vector are tried.
    pub fn nearest_image(&self, d: Vec3) -> [i32; 3] {
        let square = d.norm_squared();
        if self.is_shortest(d) || !square.is_finite() {
            return [0; 3];
        }
        let [a, b, c] = self.rows;
        let (mut shortest, mut nearest) = (square, Vec3::ZERO);
        for k in outward(-d.z / c.z) {
            let z = d.z + k * c.z;
            if z * z >= shortest {
                break;
            }
            let (x, y) = (d.x + k * c.x, d.y + k * c.y);
            for j in outward(-y / b.y) {
                let (x, y) = (x + j * b.x, y + j * b.y);
                if z * z + y * y >= shortest {
                    break;
                }
                let i = (-x / a.x).round();
                let x = x + i * a.x;
                let length = x * x + y * y + z * z;
                if length < shortest * (1.0 - EQUAL) {
                    (shortest, nearest) = (length, vec3(i, j, k));
                }
            }
        }
        nearest.map(|n| n as i32).to_array()
    }

    /// Wraps a position (nm) into the parallelepiped 0 ≤ s < 1 of fractional coordinates s. Returns the wrapped
    /// position and its lattice image: `wrapped + shift(image) = r`.
    pub fn wrap(&self, r: Vec3) -> (Vec3, [i32; 3]) {
        let image = self.to_fractional(r).map(f64::floor);
        let mut wrapped = r - self.to_cartesian(image);
        let mut image = image.map(|v| v as i32).to_array();
        // rounding can give s = 1 exactly, so the position is wrapped a second time to guarantee s < 1
        let again = self.to_fractional(wrapped).map(f64::floor).map(|v| v as i32).to_array();
        if again != [0, 0, 0] {
            wrapped -= self.shift(again);
            for (n, extra) in image.iter_mut().zip(again) {
                *n += extra;
            }
        }
        (wrapped, image)
    }
}

/// Returns the number of whole lattice vectors to subtract from a component that is `ratio` times the lattice vector. A
/// component of half a lattice vector is left unchanged: see [`TIE`].
fn excess(ratio: f64) -> f64 {
    if ratio.abs() < 0.5 + TIE { 0.0 } else { ratio.round() }
}

/// Largest excess of a component over half a lattice vector that counts as rounding. In a truncated octahedron c_y =
/// −b_y/2, and rounding must not switch the cell between its two reduced forms from frame to frame. The roundest files
/// are PDB files: an angle with two decimals moves c_y/b_y by up to 1.3·10⁻⁴, and a length of 1 nm with three decimals
/// in Å by 5·10⁻⁵. GROMACS accepts an excess of 5·10⁻⁴.
const TIE: f64 = 2e-4;

/// Maximum number of multiples of one lattice vector that [`PeriodicCell::nearest_image`] tries. This number is enough
/// for reduced cells whose edges differ by less than a factor of 60.
pub const MOST_IMAGES: usize = 129;
/// Two images count as equally near if the relative difference of their squared lengths is below this number, which
/// allows a few rounding errors. Among equally near images, the search prefers the image without a shift; if all
/// equally near images have shifts, the search returns the first image that was found.
const EQUAL: f64 = 1e-13;

/// Iterates over all integers, in the order of their distance from `value`.
fn outward(value: f64) -> impl Iterator<Item = f64> {
    let nearest = value.round();
    let side = if value < nearest { -1.0 } else { 1.0 };
    let offset = move |index: usize| {
        let steps = index.div_ceil(2) as f64;
        if index.is_multiple_of(2) { -side * steps } else { side * steps }
    };
    (0..MOST_IMAGES).map(move |index| nearest + offset(index))
}

/// Returns the shortest periodic image of a displacement (nm), or the displacement unchanged if `cell` is `None`
/// (vacuum).
#[inline(always)]
pub fn displacement(cell: Option<&PeriodicCell>, d: Vec3) -> Vec3 {
    cell.map_or(d, |cell| cell.minimum_image(d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::Strategy;

    fn octahedron() -> PeriodicCell {
        PeriodicCell::from_lengths_angles([4.2438; 3], [109.471_219; 3]).expect("valid cell")
    }

    #[test]
    fn octahedron_has_its_textbook_volume() {
        // V = a³ · 4√3/9 for a truncated octahedron with lattice constant a
        let expected = 4.2438f64.powi(3) * 4.0 * 3f64.sqrt() / 9.0;
        assert!((octahedron().volume() / expected - 1.0).abs() < 1e-12);
    }

    /// The cells are the box lines of two gro files of a rhombic dodecahedron, which has two reduced forms.
    #[test]
    fn a_dodecahedron_corresponds_to_its_other_form() {
        let cells = [[7.03058, 4.97137, 3.51529], [7.02449, 4.96707, -3.51225]];
        let [first, second] = cells.map(|[edge, height, half]| {
            let rows = [vec3(edge, 0.0, 0.0), vec3(0.0, edge, 0.0), vec3(half, half, height)];
            PeriodicCell::from_rows(rows).unwrap()
        });
        assert!(first.rows()[2].x > 0.0 && second.rows()[2].x < 0.0);
        let near = |a: Vec3, b: Vec3| (a - b).norm() < 1e-12;
        let [_, _, c] = first.corresponding_to(&second).rows();
        assert!(near(c, vec3(-3.51529, -3.51529, 4.97137)));
        assert!(near(second.corresponding_to(&first).rows()[2], vec3(3.51224, 3.51224, 4.96707)));
        assert_eq!(first.corresponding_to(&first), first);
    }

    /// The first cell is a rhombic dodecahedron of a gro file, in which half of a is rounded up. Lengths and angles of
    /// an octahedron are rounded as in a PDB file, and vectors to `f32`.
    #[test]
    fn rounding_does_not_change_the_form() {
        let rows = [vec3(7.02449, 0.0, 0.0), vec3(0.0, 7.02449, 0.0), vec3(3.51225, 3.51225, 4.96707)];
        assert_eq!(PeriodicCell::from_rows(rows).unwrap().rows(), rows);
        let acute = 180.0 - OCTAHEDRON_ANGLE_DEGREES;
        for edge in [4.2438, 1.0006] {
            let exact = PeriodicCell::from_lengths_angles([edge; 3], [acute, OCTAHEDRON_ANGLE_DEGREES, acute]).unwrap();
            let assert_form = |found: PeriodicCell| {
                let moved = found.rows().into_iter().zip(exact.rows()).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                assert!(moved < 1e-3 * edge, "{found:?} {exact:?}");
            };
            for shift in [-0.005, 0.005] {
                let angles = [acute - shift, OCTAHEDRON_ANGLE_DEGREES + shift, acute + shift];
                let lengths = [edge, edge - 5e-5, edge + 5e-5];
                assert_form(PeriodicCell::from_lengths_angles(lengths, angles).unwrap());
            }
            let rounded = exact.rows().map(|row| row.map(|v| f64::from(v as f32)));
            assert_form(PeriodicCell::from_rows(rounded).unwrap());
        }
    }

    #[test]
    fn octahedron_is_reduced() {
        let [a, b, c] = octahedron().rows();
        assert!(b.x.abs() <= 0.5 * a.x + 1e-12 && c.x.abs() <= 0.5 * a.x + 1e-12 && c.y.abs() <= 0.5 * b.y + 1e-12);
    }

    #[test]
    fn a_reduced_cell_keeps_its_angles() {
        let (lengths, angles) = octahedron().lengths_angles();
        assert!(angles.iter().all(|angle| (angle - OCTAHEDRON_ANGLE_DEGREES).abs() < 1e-9), "{angles:?}");
        let again = PeriodicCell::from_lengths_angles(lengths, angles).expect("valid cell");
        assert!(again.rows().iter().zip(octahedron().rows()).all(|(&a, b)| (a - b).norm() < 1e-12));
    }

    #[test]
    fn a_stretched_cell_stays_reduced_and_keeps_fractions() {
        let (cell, factors) = (octahedron(), vec3(1.1, 0.9, 1.3));
        let stretched = cell.stretched(factors);
        let again = PeriodicCell::from_rows(stretched.rows()).expect("valid cell");
        assert!((stretched.volume() / cell.volume() - 1.1 * 0.9 * 1.3).abs() < 1e-12 && again == stretched);
        assert!((stretched.stretch_since(&cell) - factors).norm() < 1e-12);
        let r = vec3(-3.1, 7.7, 0.4);
        assert!((stretched.to_fractional(r.stretched(factors)) - cell.to_fractional(r)).norm() < 1e-12);
    }

    #[test]
    fn vectors_in_any_orientation_are_turned() {
        // the rows of a cell rotated by 90° about x and then about z: (x, y, z) becomes (z, x, y)
        let rows = [vec3(3.0, 0.0, 0.0), vec3(1.0, 4.0, 0.0), vec3(-1.0, 1.0, 5.0)];
        let turned = |v: Vec3| vec3(v.z, v.x, v.y);
        let (cell, axes) = PeriodicCell::from_vectors(rows.map(turned)).expect("a cell");
        assert!(cell.rows().iter().zip(rows).all(|(&found, row)| (found - row).norm() < 1e-12), "{cell:?}");
        let v = vec3(0.3, -0.7, 1.1);
        let back = Vec3::from(axes.map(|axis| turned(v).dot(axis)));
        assert!((back - v).norm() < 1e-12, "{back:?}");
        // rows that make no cell: left-handed, flat, and NaN
        for rows in [
            [rows[1], rows[0], rows[2]],
            [rows[0], rows[0], rows[2]],
            [Vec3::ZERO, rows[1], rows[2]],
            [vec3(f64::NAN, 0.0, 0.0), rows[1], rows[2]],
        ] {
            assert!(PeriodicCell::from_vectors(rows).is_none());
        }
    }

    #[test]
    fn fractional_round_trip() {
        let cell = octahedron();
        let r = vec3(-3.1, 7.7, 0.4);
        assert!((cell.to_cartesian(cell.to_fractional(r)) - r).norm() < 1e-13);
    }

    #[test]
    fn wrap_and_image_restore_the_position() {
        let cell = octahedron();
        for r in [vec3(-3.1, 7.7, 0.4), vec3(-1e-18, 0.0, 4.0), vec3(100.0, -50.0, 3.0)] {
            let (wrapped, image) = cell.wrap(r);
            let s = cell.to_fractional(wrapped).to_array();
            assert!(s.iter().all(|v| (0.0..1.0).contains(v)), "{s:?}");
            assert!((wrapped + cell.shift(image) - r).norm() < 1e-12);
        }
    }

    #[test]
    fn pairs_within_the_cutoff_have_one_image() {
        let cell = octahedron();
        let d = vec3(0.3, -0.5, 0.8);
        let moved = d + cell.shift([2, -3, 1]);
        assert!((cell.image_within_cutoff(moved) - d).norm() < 1e-12);
    }

    /// Rectangular, octahedral, dodecahedral, hexagonal and strongly skewed cells, all of them reduced.
    fn cells() -> impl Strategy<Value = PeriodicCell> {
        let edges = [0.5f64..4.0, 0.5..4.0, 0.5..4.0];
        (0..5, edges, [-0.5f64..0.5, -0.5..0.5, -0.5..0.5]).prop_map(|(kind, [x, y, z], [bx, cx, cy])| {
            let angles = |angles| PeriodicCell::from_lengths_angles([x; 3], angles).expect("a cell");
            match kind {
                0 => PeriodicCell::orthorhombic([x, y, z]),
                1 => angles([109.471_219; 3]),
                2 => angles([60.0, 60.0, 90.0]),
                3 => PeriodicCell::from_lengths_angles([x, x, z], [90.0, 90.0, 120.0]).expect("a cell"),
                _ => PeriodicCell::from_rows([vec3(x, 0.0, 0.0), vec3(bx * x, y, 0.0), vec3(cx * x, cy * y, z)])
                    .expect("a cell"),
            }
        })
    }

    proptest::proptest! {
        /// The test tries all images within four lattice vectors of the reduced displacement. Fewer images would be
        /// enough for the cells in this test.
        #[test]
        fn the_minimum_image_is_the_shortest_of_all(cell in cells(), s in [-3.0f64..3.0, -3.0..3.0, -3.0..3.0]) {
            let d = cell.to_cartesian(Vec3::from(s));
            let reduced = cell.image_within_cutoff(d);
            let all = (0..9 * 9 * 9).map(|i| [i % 9 - 4, i / 9 % 9 - 4, i / 81 - 4]);
            let shortest = all.map(|n| (reduced + cell.shift(n)).norm()).fold(f64::INFINITY, f64::min);
            let found = cell.minimum_image(d);
            proptest::prop_assert!((found.norm() - shortest).abs() < 1e-12, "{found:?} {shortest}");
            let images = cell.to_fractional(found - d);
            proptest::prop_assert!((images - images.map(f64::round)).norm() < 1e-12);
            proptest::prop_assert_eq!(cell.nearest_image(found), [0; 3]);
        }
    }

    #[test]
    fn impossible_cells_are_refused() {
        assert!(PeriodicCell::from_lengths_angles([1.0, 1.0, 1.0], [10.0, 170.0, 90.0]).is_none());
        assert!(PeriodicCell::from_lengths_angles([0.0, 1.0, 1.0], [90.0; 3]).is_none());
        assert!(PeriodicCell::from_lengths_angles([f64::NAN, 1.0, 1.0], [90.0; 3]).is_none());
        assert!(PeriodicCell::from_lengths_angles([1.0, 1.0, -1.0], [90.0; 3]).is_none());
        assert!(PeriodicCell::from_lengths_angles([1.0; 3], [190.0, 90.0, 90.0]).is_none());
    }
}
