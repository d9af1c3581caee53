//! Coulomb potential of charges at many positions, by a tree code.
//!
//! The method is that of J. Barnes and P. Hut, Nature 324, 446 (1986), doi:10.1038/324446a0. A node of the tree holds
//! the charges within a box. Far from the box, at the displacement d from the center of the box, the potential is the
//! multipole expansion up to the quadrupole, q/d + p·d/d³ + d·Q·d/2d⁵, with the charge q = Σ qᵢ, the dipole p = Σ qᵢrᵢ
//! and the traceless quadrupole Q = Σ qᵢ(3rᵢrᵢ − rᵢ²1) about the center (J. D. Jackson, Classical Electrodynamics, 3rd
//! edition, equation 4.10). Lengths are in nm, charges in e and potentials in e/nm. Periodic images are not included.

use std::ops::Range;

use md_engine::vec3::Vec3;

use super::extent::bounds;
use super::place::Charge;

/// Opening criterion of the tree code: the multipole expansion of a node is used if the radius of the node is at most
/// this fraction of the distance to the node. A unit test of this module measures the error of the tree code.
const OPENING: f64 = 0.3;
/// Largest number of charges of a leaf, a node that is not divided. Evaluating the expansion of a node takes about as
/// long as computing the potential of ten charges.
const LEAF: usize = 16;
/// Lower limit of the distance (nm) in a Coulomb potential, so that the potential is finite at the position of a
/// charge.
const SMALLEST_DISTANCE: f64 = 0.01;

/// Point charges, sorted into the nodes of a tree.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    charges: Vec<Charge>,
    /// nodes of the tree, with the root last; empty if there are no charges
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    center: Vec3,
    /// half of the diagonal of the node's box, nm
    radius: f64,
    charge: f64,
    dipole: Vec3,
    /// rows of the quadrupole tensor, e nm²
    quadrupole: [Vec3; 3],
    charges: Range<usize>,
    /// indices of the two child nodes; `None` for a leaf
    halves: Option<[usize; 2]>,
}

impl Sources {
    pub(super) fn new(charges: &[Charge]) -> Self {
        let mut sources = Self { charges: charges.to_vec(), nodes: vec![] };
        if !charges.is_empty() {
            sources.divide(0..charges.len());
        }
        sources
    }

    /// Creates the node that holds a range of charges, and its child nodes. Returns the index of the node. Each child
    /// node gets half of the charges, so the depth of the recursion grows as the logarithm of the number of charges.
    fn divide(&mut self, range: Range<usize>) -> usize {
        let charges = &mut self.charges[range.clone()];
        let positions: Vec<Vec3> = charges.iter().map(|charge| charge.position).collect();
        let [low, high] = bounds(&positions).unwrap_or_default();
        let mut node = Node::of(charges, (low + high) * 0.5, (high - low).norm() * 0.5);
        node.charges = range.clone();
        if range.len() > LEAF {
            let extent = (high - low).to_array();
            let longest = (0..3).fold(0, |best, axis| if extent[axis] > extent[best] { axis } else { best });
            let along = |charge: &Charge| charge.position.to_array()[longest];
            let middle = range.len() / 2;
            charges.select_nth_unstable_by(middle, |a, b| along(a).total_cmp(&along(b)));
            let middle = range.start + middle;
            node.halves = Some([self.divide(range.start..middle), self.divide(middle..range.end)]);
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Potential (e/nm) of all charges at a position.
    pub(super) fn at(&self, place: Vec3) -> f64 {
        let Some(root) = self.nodes.last() else { return 0.0 };
        let (mut sum, mut pending) = (0.0, Vec::with_capacity(64));
        pending.push(root);
        while let Some(node) = pending.pop() {
            let from_center = place - node.center;
            let square = from_center.norm_squared();
            if node.radius * node.radius < OPENING * OPENING * square {
                sum += node.far(from_center, square);
            } else if let Some(halves) = node.halves {
                pending.extend(halves.map(|half| &self.nodes[half]));
            } else {
                let near = self.charges[node.charges.clone()].iter();
                sum += near.map(|charge| coulomb(charge.charge, (place - charge.position).norm())).sum::<f64>();
            }
        }
        sum
    }
}

impl Node {
    /// Computes the multipoles of charges about a center.
    fn of(charges: &[Charge], center: Vec3, radius: f64) -> Self {
        let mut node = Self {
            center,
            radius,
            charge: 0.0,
            dipole: Vec3::ZERO,
            quadrupole: [Vec3::ZERO; 3],
            charges: 0..0,
            halves: None,
        };
        for Charge { position, charge } in charges {
            let r = *position - center;
            node.charge += charge;
            node.dipole += r * *charge;
            let components = r.to_array();
            for (axis, row) in node.quadrupole.iter_mut().enumerate() {
                let mut diagonal = [0.0; 3];
                diagonal[axis] = r.norm_squared();
                *row += (r * (3.0 * components[axis]) - Vec3::from(diagonal)) * *charge;
            }
        }
        node
    }

    /// Multipole expansion of the potential (e/nm) at the displacement `d` (nm) from the center; `square` is d².
    #[inline]
    fn far(&self, d: Vec3, square: f64) -> f64 {
        let inverse = 1.0 / square.sqrt();
        let inverse_square = inverse * inverse;
        let [x, y, z] = self.quadrupole;
        let quadrupole = d.x * x.dot(d) + d.y * y.dot(d) + d.z * z.dot(d);
        inverse * (self.charge + inverse_square * (self.dipole.dot(d) + 0.5 * inverse_square * quadrupole))
    }
}

/// Coulomb potential (e/nm) of a charge at a distance (nm).
pub(super) fn coulomb(charge: f64, distance: f64) -> f64 {
    charge / distance.max(SMALLEST_DISTANCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::rng::{Purpose, Stream};
    use md_engine::vec3::vec3;

    fn direct(charges: &[Charge], place: Vec3) -> f64 {
        charges.iter().map(|charge| charge.charge / (charge.position - place).norm()).sum()
    }

    /// Returns 3000 charges of ±0.5 e, whose sum is `total` (e), at random positions within a cube of 3 nm.
    fn cloud(total: f64) -> Vec<Charge> {
        let mut random = Stream::new(5, Purpose::Test, 0, 0);
        let charge = |index: usize| {
            let position = vec3(random.between(0.0, 3.0), random.between(0.0, 3.0), random.between(0.0, 3.0));
            let charge = if index.is_multiple_of(2) { 0.5 } else { -0.5 };
            Charge { position, charge: charge + total / 3000.0 }
        };
        (0..3000).map(charge).collect()
    }

    /// Tests that the RMS error of the tree code is below 1 % of the RMS potential, and that the largest error is below
    /// 5 % of the RMS potential.
    #[test]
    fn the_tree_gives_the_sum_over_all_charges() {
        for total in [0.0, -8.0, 5.0] {
            let charges = cloud(total);
            let sources = Sources::new(&charges);
            let mut random = Stream::new(6, Purpose::Test, 0, 0);
            let places =
                (0..500).map(|_| vec3(random.between(-3.0, 6.0), random.between(-3.0, 6.0), random.between(-3.0, 6.0)));
            let pairs: Vec<[f64; 2]> = places.map(|place| [sources.at(place), direct(&charges, place)]).collect();
            let square = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>() / 500.0;
            let error = square(&mut pairs.iter().map(|[a, b]| a - b)).sqrt();
            let rms = square(&mut pairs.iter().map(|[_, b]| *b)).sqrt();
            let largest = pairs.iter().map(|[a, b]| (a - b).abs()).fold(0.0, f64::max);
            println!("total {total} e: RMS potential {rms:.3}, RMS error {error:.1e}, largest {largest:.1e} e/nm");
            assert!(error < 0.01 * rms && largest < 0.05 * rms, "{error} {rms} {largest}");
        }
    }

    #[test]
    fn few_charges_are_summed_exactly() {
        let charges = &cloud(0.0)[..LEAF];
        let place = vec3(1.0, -0.7, 2.0);
        let near = Sources::new(charges).at(place);
        assert!((near - direct(charges, place)).abs() < 1e-12 * near.abs().max(1.0));
        assert_eq!(Sources::new(&[]).at(place), 0.0);
    }

    /// Tests the potential outside of a spherical shell of equal charges, which equals the potential of their sum at
    /// the center of the shell.
    #[test]
    fn many_charges_of_one_sign_act_like_their_sum() {
        let mut random = Stream::new(7, Purpose::Test, 0, 0);
        let mut direction = || vec3(random.gaussian(), random.gaussian(), random.gaussian());
        let half: Vec<Vec3> = (0..2000).map(|_| direction()).map(|v| v / v.norm()).collect();
        let shell = half.iter().flat_map(|&v| [v, -v]).map(|position| Charge { position, charge: 0.01 });
        let found = Sources::new(&shell.collect::<Vec<Charge>>()).at(vec3(0.0, 0.0, 20.0));
        assert!((found - 40.0 / 20.0).abs() < 1e-3, "{found}");
    }
}
