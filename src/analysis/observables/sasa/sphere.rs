//! Points on a unit sphere, and how many of them caps leave free.

use crate::vec3::{Vec3, vec3};
use std::f64::consts::PI;

/// Cap of the unit sphere: the points u with u·`direction` > `threshold`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cap {
    /// a vector of any length
    pub(super) direction: Vec3,
    pub(super) threshold: f64,
}

/// Number of points of a block.
const BLOCK: usize = 16;
/// Margin of the cosines that decide for whole blocks, above their rounding errors.
const MARGIN: f64 = 1e-7;

/// Neighbouring points.
#[derive(Clone, Debug)]
struct Block {
    /// unit vector to the middle of the points
    center: Vec3,
    /// components of the points
    x: [f64; BLOCK],
    y: [f64; BLOCK],
    z: [f64; BLOCK],
    /// bits of the points that the block has; the last block may have fewer than its size
    present: u16,
}

/// Points of equal area on the unit sphere, in blocks that a cap usually covers as a whole or not at all.
#[derive(Clone, Debug)]
pub(super) struct Sphere {
    blocks: Vec<Block>,
    /// largest angle between a point and the center of its block, as cosine and sine
    cosine: f64,
    sine: f64,
    count: usize,
}

/// Returns points on the unit sphere, on a spiral whose turns advance by the golden angle. The points are at equal
/// intervals along y.
fn spiral(count: usize) -> Vec<Vec3> {
    let golden_angle = PI * (3.0 - 5f64.sqrt());
    let point = |index: usize| {
        let y = (2 * index + 1) as f64 / count as f64 - 1.0;
        let (sin, cos) = (index as f64 * golden_angle).sin_cos();
        let radius = (1.0 - y * y).sqrt();
        vec3(cos * radius, y, sin * radius)
    };
    (0..count).map(point).collect()
}

/// Sorts the points so that each [`BLOCK`] of them is compact: they are cut in two along their longest extent, again
/// and again, after a whole number of blocks.
fn sort_into_blocks(points: &mut [Vec3]) {
    let blocks = points.len().div_ceil(BLOCK);
    if blocks < 2 {
        return;
    }
    let components = |point: &Vec3| point.to_array();
    let extent = |axis: usize| {
        let values = points.iter().map(|point| components(point)[axis]);
        values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
    };
    let longest = (0..3).max_by(|&a, &b| extent(a).total_cmp(&extent(b))).expect("three axes");
    let middle = blocks / 2 * BLOCK;
    points.select_nth_unstable_by(middle, |a, b| components(a)[longest].total_cmp(&components(b)[longest]));
    let (low, high) = points.split_at_mut(middle);
    sort_into_blocks(low);
    sort_into_blocks(high);
}

impl Block {
    fn new(points: &[Vec3]) -> Self {
        let sum: Vec3 = points.iter().copied().sum();
        // the points of a whole sphere have no middle, and any direction serves
        let center = if sum.norm() > MARGIN { sum * (1.0 / sum.norm()) } else { vec3(0.0, 0.0, 1.0) };
        let component =
            |axis: usize| std::array::from_fn(|k| points.get(k).map_or(0.0, |point| point.to_array()[axis]));
        let present = u16::MAX >> (BLOCK - points.len());
        Block { center, x: component(0), y: component(1), z: component(2), present }
    }

    /// Returns bits of the points inside a cap.
    fn covered(&self, cap: &Cap) -> u16 {
        let Vec3 { x, y, z } = cap.direction;
        let mut inside = [0; BLOCK];
        for k in 0..BLOCK {
            inside[k] = u16::from(self.x[k] * x + self.y[k] * y + self.z[k] * z > cap.threshold) << k;
        }
        inside.into_iter().fold(0, |bits, bit| bits | bit)
    }
}

impl Sphere {
    /// Creates a sphere with `count` points.
    pub(super) fn new(count: usize) -> Self {
        let mut points = spiral(count);
        sort_into_blocks(&mut points);
        let blocks: Vec<Block> = points.chunks(BLOCK).map(Block::new).collect();
        let farthest =
            |(block, points): (&Block, &[Vec3])| points.iter().map(|point| point.dot(block.center)).fold(1.0, f64::min);
        let cosine = blocks.iter().zip(points.chunks(BLOCK)).map(farthest).fold(1.0, f64::min);
        Sphere { blocks, cosine, sine: (1.0 - cosine * cosine).max(0.0).sqrt(), count }
    }

    /// Number of points.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of points that are in no cap. Caps that cover many points should come first. `open` is
    /// memory for the blocks with free points.
    pub(super) fn free_points(&self, caps: &[Cap], open: &mut Vec<(usize, u16)>) -> usize {
        open.clear();
        open.extend(self.blocks.iter().enumerate().map(|(index, block)| (index, block.present)));
        for cap in caps {
            let length = cap.direction.norm();
            // the cosine of the cap's angle; the cap has no point beyond 1, and every point below −1
            let cosine = (cap.threshold / length).clamp(-1.0, 1.0);
            let sine = (1.0 - cosine * cosine).sqrt();
            // a block is outside if its center is farther from the direction than the angles of cap and block
            // together, and inside if its center is nearer than their difference
            let product = [cosine * self.cosine, sine * self.sine];
            let outside = if cosine <= -self.cosine { -2.0 } else { product[0] - product[1] - MARGIN };
            let inside = if cosine >= self.cosine { 2.0 } else { product[0] + product[1] + MARGIN };
            open.retain_mut(|(index, free)| {
                let block = &self.blocks[*index];
                let along = block.center.dot(cap.direction);
                if along < outside * length {
                    return true;
                }
                if along > inside * length {
                    return false;
                }
                *free &= !block.covered(cap);
                *free != 0
            });
            if open.is_empty() {
                return 0;
            }
        }
        open.iter().map(|(_, free)| free.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn points_are_distributed_evenly() {
        let points = spiral(960);
        let center = points.iter().copied().sum::<Vec3>() * (1.0 / 960.0);
        assert!(center.norm() < 1e-3, "{center:?}");
        assert!(points.iter().all(|point| (point.norm() - 1.0).abs() < 1e-12));
    }

    proptest! {
        #[test]
        fn blocks_leave_the_points_free_that_single_tests_do(
            count in 1usize..1000,
            caps in prop::collection::vec((prop::array::uniform3(-1.0..1.0f64), -1.5..1.5f64), 0..12),
        ) {
            let caps: Vec<Cap> = caps
                .into_iter()
                .map(|([x, y, z], cosine)| (vec3(x, y, z), cosine))
                .filter(|(direction, _)| direction.norm() > 1e-3)
                .map(|(direction, cosine)| Cap { direction, threshold: cosine * direction.norm() })
                .collect();
            let is_free = |point: &&Vec3| caps.iter().all(|cap| point.dot(cap.direction) <= cap.threshold);
            let expected = spiral(count).iter().filter(is_free).count();
            prop_assert_eq!(Sphere::new(count).free_points(&caps, &mut vec![]), expected);
        }
    }
}
