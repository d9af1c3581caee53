//! Periodic cells around a solute.
//!
//! Lattice vectors are those of the manuals of GROMACS and AMBER, reduced as [`PeriodicCell`] requires. If the distance
//! between nearest periodic images is d, the volume of a cube is d³, of a truncated octahedron 4√3/9 d³ = 0.770 d³, and
//! of a rhombic dodecahedron √2/2 d³ = 0.707 d³. If a solute keeps the distance p (the padding) to every face, the
//! distance between the solute and its periodic images is at least 2p.

use md_engine::cell::PeriodicCell;
use md_engine::error::Problem;
use md_engine::vec3::{Vec3, vec3};

use super::extent::{bounds, diameter, principal_axes};
use super::limits;

/// Smallest distance (nm) between the solute and the faces of a cell. The value is the distance between nearest oxygens
/// in water, so that a layer of water fits: L. B. Skinner et al., J. Chem. Phys. 138, 074506 (2013),
/// doi:10.1063/1.4790861.
const WATER_LAYER: f64 = 0.28;

/// Shape of a periodic cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// cube
    Cube,
    /// rectangular box
    Rectangular,
    /// truncated octahedron, a lattice with the angles 109.47°, 109.47°, 109.47°
    Octahedron,
    /// rhombic dodecahedron with a square xy plane, a lattice with the angles 60°, 60°, 90°
    Dodecahedron,
}

/// Fails if a padding (nm) leaves no room for a layer of water at each face.
pub(super) fn check_padding(padding: f64) -> Result<(), Problem> {
    if padding >= WATER_LAYER && padding.is_finite() {
        return Ok(());
    }
    let message =
        format!("a padding of {padding} nm leaves no room for a layer of water, {WATER_LAYER} nm, at each face");
    Err(Problem::new(message).help("give a padding such as 1.0 nm"))
}

/// Size of a periodic cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Distance (nm) between the outermost atoms and the faces of the cell, measured between centers of atoms. A cube
    /// and a rectangular box enclose the bounding box of the solute. An octahedron and a dodecahedron enclose a sphere
    /// whose diameter is that of the solute, so that the solute can rotate.
    Padding(f64),
    /// distance (nm) between nearest periodic images; for a cube and a rectangular box, the length of all edges
    Distance(f64),
    /// edges (nm) of a rectangular box
    Edges([f64; 3]),
}

/// Shape, size and orientation of the cell that is made around a solute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellPlan {
    /// shape of the cell
    pub shape: Shape,
    /// size of the cell
    pub size: Size,
    /// Whether the solute is rotated so that its principal axes lie along x, y and z, with the longest principal axis
    /// along x. The solute is not rotated if the rotated solute would need a larger cell.
    pub orient: bool,
}

/// A solute in the center of its cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Enclosed {
    /// the periodic cell
    pub cell: PeriodicCell,
    /// positions (nm) of the solute, rotated and translated as a rigid body
    pub positions: Vec<Vec3>,
}

impl CellPlan {
    /// Makes the cell around a solute with the given positions (nm), and moves the solute to the center of the cell. If
    /// the plan states the size of the cell, `positions` may be empty.
    pub fn around(&self, positions: &[Vec3]) -> Result<Enclosed, Problem> {
        limits::check_positions(positions)?;
        let plain = self.enclose(positions.to_vec());
        if !self.orient || positions.is_empty() {
            return plain;
        }
        let axes = principal_axes(positions);
        let rotated = self.enclose(positions.iter().map(|&p| Vec3::from(axes.map(|axis| p.dot(axis)))).collect());
        match (&plain, &rotated) {
            (Ok(plain_cell), Ok(rotated_cell)) if plain_cell.cell.volume() < rotated_cell.cell.volume() => plain,
            (Ok(_), Err(_)) => plain,
            _ => rotated,
        }
    }

    fn enclose(&self, mut positions: Vec<Vec3>) -> Result<Enclosed, Problem> {
        let [low, high] = bounds(&positions).unwrap_or_default();
        let needed = match self.shape {
            Shape::Cube => [(high - low).to_array().into_iter().fold(0.0, f64::max); 3],
            Shape::Rectangular => (high - low).to_array(),
            Shape::Octahedron | Shape::Dodecahedron => [diameter(&positions); 3],
        };
        let cell = self.cell(needed, positions.is_empty())?;
        let center = cell.to_cartesian(Vec3::splat(0.5));
        let move_by = center - (low + high) * 0.5;
        positions.iter_mut().for_each(|p| *p += move_by);
        Ok(Enclosed { cell, positions })
    }

    /// Returns the cell for a solute whose smallest cell, without padding, has the edges `needed` (nm).
    fn cell(&self, needed: [f64; 3], empty: bool) -> Result<PeriodicCell, Problem> {
        let edges = match self.size {
            Size::Padding(_) if empty => {
                return Err(Problem::new("a padding without a solute has no meaning")
                    .help("give the size of the cell instead of the padding"));
            }
            Size::Padding(padding) => {
                check_padding(padding)?;
                needed.map(|edge| edge + 2.0 * padding)
            }
            Size::Distance(distance) => [distance; 3],
            Size::Edges(edges) if self.shape == Shape::Rectangular => edges,
            Size::Edges(_) => {
                return Err(Problem::new(format!("three edges are given for the shape {:?}", self.shape))
                    .help("give one distance, or choose a rectangular cell"));
            }
        };
        let cell = self.shape.cell(edges)?;
        let is_given = !empty && !matches!(self.size, Size::Padding(_));
        let room = if is_given { 2.0 * WATER_LAYER } else { 0.0 };
        if let Some(axis) = (0..3).find(|&axis| edges[axis] < needed[axis] + room) {
            let (edge, least) = (edges[axis], needed[axis]);
            let message = format!(
                "a cell of {edge:.3} nm is too small for a solute of {least:.3} nm and a layer of water, {WATER_LAYER} nm, \
                 at each face"
            );
            let help = format!("give at least {:.1} nm, which leaves 1 nm to each face", least + 2.0);
            return Err(Problem::new(message).help(help));
        }
        Ok(cell)
    }
}

impl Shape {
    /// Returns the cell of this shape with the given edges (nm). Shapes other than a rectangular box have equal edges,
    /// and only the first edge is used.
    fn cell(self, edges: [f64; 3]) -> Result<PeriodicCell, Problem> {
        let [d, ..] = edges;
        let rows = match self {
            Shape::Cube => [vec3(d, 0.0, 0.0), vec3(0.0, d, 0.0), vec3(0.0, 0.0, d)],
            Shape::Rectangular => [vec3(d, 0.0, 0.0), vec3(0.0, edges[1], 0.0), vec3(0.0, 0.0, edges[2])],
            // the scalar product of any two lattice vectors of length d is −d²/3
            Shape::Octahedron => {
                let (x, y, z) = (-d / 3.0, 8f64.sqrt() / 3.0 * d, 6f64.sqrt() / 3.0 * d);
                [vec3(d, 0.0, 0.0), vec3(x, y, 0.0), vec3(x, -0.5 * y, z)]
            }
            Shape::Dodecahedron => {
                [vec3(d, 0.0, 0.0), vec3(0.0, d, 0.0), vec3(0.5 * d, 0.5 * d, std::f64::consts::FRAC_1_SQRT_2 * d)]
            }
        };
        let cell = PeriodicCell::from_rows(rows).ok_or_else(|| {
            Problem::new(format!("no cell has the edges {edges:?} nm"))
                .help("give positive lengths in nm, or a larger padding")
        })?;
        limits::check_cell(&cell)?;
        Ok(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::rng::{Purpose, Stream};
    use proptest::prelude::*;

    const SHAPES: [Shape; 4] = [Shape::Cube, Shape::Rectangular, Shape::Octahedron, Shape::Dodecahedron];

    /// Returns an ellipsoid of points with the long axis along (1, 1, 1).
    fn solute() -> Vec<Vec3> {
        let mut random = Stream::new(7, Purpose::Test, 0, 0);
        let long = Vec3::splat(1.0 / 3f64.sqrt());
        let point = |_| {
            let p = vec3(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-1.0, 1.0));
            p + long * (2.0 * p.dot(long)) + vec3(5.0, -3.0, 8.0)
        };
        (0..300).map(point).collect()
    }

    fn plan(shape: Shape, size: Size) -> CellPlan {
        CellPlan { shape, size, orient: false }
    }

    /// Returns the smallest distance (nm) between a point of the solute and a periodic image of any point, by brute
    /// force.
    fn image_distance(made: &Enclosed) -> f64 {
        let images = (0..125).map(|i| [i % 5 - 2, i / 5 % 5 - 2, i / 25 - 2]).filter(|image| *image != [0; 3]);
        let shifts: Vec<Vec3> = images.map(|image| made.cell.shift(image)).collect();
        let pairs = made.positions.iter().flat_map(|&p| made.positions.iter().map(move |&q| p - q));
        pairs.flat_map(|d| shifts.iter().map(move |&shift| (d + shift).norm())).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn volumes_are_those_of_the_polyhedra() {
        let d = 3.7;
        for (shape, factor) in [
            (Shape::Cube, 1.0),
            (Shape::Rectangular, 1.0),
            (Shape::Octahedron, 4.0 * 3f64.sqrt() / 9.0),
            (Shape::Dodecahedron, 0.5f64.sqrt()),
        ] {
            let made = plan(shape, Size::Distance(d)).around(&[]).unwrap();
            assert!((made.cell.volume() / d.powi(3) - factor).abs() < 1e-12, "{shape:?}");
            // the length of the shortest lattice vector is `d`
            let images = (0..125).map(|i| [i % 5 - 2, i / 5 % 5 - 2, i / 25 - 2]).filter(|image| *image != [0; 3]);
            let nearest = images.map(|image| made.cell.shift(image).norm()).fold(f64::INFINITY, f64::min);
            assert!((nearest - d).abs() < 1e-12, "{shape:?}");
        }
        let made = plan(Shape::Rectangular, Size::Edges([2.0, 3.0, 4.0])).around(&[]).unwrap();
        assert_eq!(made.cell, PeriodicCell::orthorhombic([2.0, 3.0, 4.0]));
    }

    #[test]
    fn lattice_vectors_follow_the_manuals() {
        let cell = |shape| plan(shape, Size::Distance(3.0)).around(&[]).unwrap().cell;
        let octahedron = PeriodicCell::from_lengths_angles([3.0; 3], [109.471_219; 3]).unwrap();
        let near = |a: &PeriodicCell, b: &PeriodicCell| {
            a.rows().iter().zip(b.rows()).all(|(&row, other)| (row - other).norm() < 1e-12)
        };
        assert!(near(&cell(Shape::Octahedron), &octahedron));
        let (lengths, angles) = cell(Shape::Dodecahedron).lengths_angles();
        let off = lengths.iter().map(|v| v - 3.0).chain(angles.iter().zip([60.0, 60.0, 90.0]).map(|(a, b)| a - b));
        assert!(off.into_iter().all(|v| v.abs() < 1e-9), "{lengths:?} {angles:?}");
    }

    #[test]
    fn images_of_a_solute_keep_their_distance() {
        let solute = solute();
        for shape in SHAPES {
            for orient in [false, true] {
                let made = CellPlan { shape, size: Size::Padding(0.8), orient }.around(&solute).unwrap();
                let distance = image_distance(&made);
                assert!(distance >= 1.6 - 1e-9, "{shape:?} {distance}");
                let [low, high] = bounds(&made.positions).unwrap();
                assert!(((low + high) * 0.5 - made.cell.to_cartesian(Vec3::splat(0.5))).norm() < 1e-12);
                let (edge, least) = (made.cell.rows()[0].x, (high - low).x + 1.6);
                assert!(edge >= least - 1e-12, "{edge} {least}");
            }
        }
    }

    #[test]
    fn an_oriented_solute_keeps_its_form_and_needs_a_smaller_cell() {
        let solute = solute();
        let plain = plan(Shape::Rectangular, Size::Padding(1.0));
        let [plain, oriented] = [plain, CellPlan { orient: true, ..plain }].map(|p| p.around(&solute).unwrap());
        assert!(oriented.cell.volume() < 0.8 * plain.cell.volume());
        let [a, b, c] = oriented.cell.face_distances();
        assert!(a > b && a > c);
        let triple = |p: &[Vec3]| (p[1] - p[0]).cross(p[2] - p[0]).dot(p[3] - p[0]);
        assert!((triple(&solute) - triple(&oriented.positions)).abs() < 1e-9);
        for i in 1..solute.len() {
            let before = (solute[i] - solute[i - 1]).norm();
            assert!((before - (oriented.positions[i] - oriented.positions[i - 1]).norm()).abs() < 1e-12);
        }
        // the principal axes of this square are its diagonals
        let square = [vec3(-1.0, -1.0, 0.0), vec3(1.1, -1.0, 0.0), vec3(-1.0, 1.1, 0.0), vec3(1.0, 1.0, 0.0)];
        let plain = plan(Shape::Rectangular, Size::Padding(1.0));
        let volumes = [false, true].map(|orient| CellPlan { orient, ..plain }.around(&square).unwrap().cell.volume());
        assert!(volumes[1] <= volumes[0], "{volumes:?}");
    }

    #[test]
    fn impossible_cells_are_refused_with_advice() {
        let solute = solute();
        let refused = |shape, size, solute: &[Vec3]| {
            let problem = plan(shape, size).around(solute).unwrap_err();
            assert!(problem.help.is_some());
            problem.message
        };
        for shape in SHAPES {
            assert!(refused(shape, Size::Distance(2.0), &solute).contains("too small for a solute"));
            for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
                refused(shape, Size::Distance(bad), &[]);
            }
            for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 0.279] {
                assert!(refused(shape, Size::Padding(bad), &solute).contains("padding of"));
            }
            assert!(plan(shape, Size::Padding(0.28)).around(&solute).is_ok());
            assert!(refused(shape, Size::Distance(1e5), &solute).contains("more than"));
            assert!(refused(shape, Size::Padding(1.0), &[]).contains("without a solute"));
            refused(shape, Size::Padding(1.0), &[vec3(0.0, f64::NAN, 0.0)]);
            refused(shape, Size::Padding(1.0), &[vec3(0.0, 1e300, 0.0)]);
        }
        assert!(refused(Shape::Cube, Size::Edges([3.0; 3]), &[]).contains("three edges"));
    }

    /// Tests that two atoms that are 1 nm apart along y need a cell with an edge of at least 1 + 2 · 0.28 nm.
    #[test]
    fn cells_of_given_size_have_room_for_a_layer_of_water() {
        let solute = [Vec3::ZERO, vec3(0.0, 1.0, 0.0)];
        for shape in SHAPES {
            let size = |edge: f64| plan(shape, Size::Distance(edge)).around(&solute);
            let message = size(1.559).unwrap_err().message;
            assert!(message.contains("1.559 nm is too small for a solute of 1.000 nm"), "{message}");
            assert!((size(1.561).unwrap().cell.rows()[0].x - 1.561).abs() < 1e-12);
        }
        let edges = |y: f64| plan(Shape::Rectangular, Size::Edges([1.2, y, 1.3])).around(&solute);
        assert!(edges(1.559).is_err());
        assert_eq!(edges(1.561).unwrap().cell, PeriodicCell::orthorhombic([1.2, 1.561, 1.3]));
    }

    proptest::proptest! {
        #[test]
        fn any_size_is_accepted_or_refused(
            shape in prop::sample::select(SHAPES.to_vec()),
            kind in 0usize..3,
            length in prop_oneof![prop::num::f64::ANY, 0.0..10.0f64],
            orient: bool,
            raw in prop::collection::vec((prop_oneof![prop::num::f64::ANY, -9.0..9.0f64], -9.0..9.0f64, -9.0..9.0f64), 0..6),
        ) {
            let size = [Size::Padding(length), Size::Distance(length), Size::Edges([length, 3.0, 4.0])][kind];
            let solute: Vec<Vec3> = raw.into_iter().map(|(x, y, z)| vec3(x, y, z)).collect();
            if let Ok(made) = (CellPlan { shape, size, orient }).around(&solute) {
                prop_assert!(made.positions.iter().all(|p| p.is_finite()) && made.positions.len() == solute.len());
            }
        }
    }
}
