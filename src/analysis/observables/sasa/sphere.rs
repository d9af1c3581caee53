//! Points on a unit sphere, and the number of points outside of all caps.

use crate::vec3::{Vec3, vec3};
use std::f64::consts::PI;

/// Cap of the unit sphere: the points u with u·`direction` > `threshold`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cap {
    /// axis of the cap, of any length
    pub(super) direction: Vec3,
    pub(super) threshold: f64,
}

/// Number of points of a block.
const BLOCK: usize = 16;
/// Margin for rounding errors of the cosines that decide whether a whole block is inside or outside of a cap.
const MARGIN: f64 = 1e-7;

/// Block of neighbouring points.
#[derive(Clone, Debug)]
struct Block {
    /// unit vector towards the center of the points
    center: Vec3,
    /// components of the points
    x: [f64; BLOCK],
    y: [f64; BLOCK],
    z: [f64; BLOCK],
    /// bit mask of the points of the block; only the last block may have fewer than [`BLOCK`] points
    present: u16,
}

/// Points of equal area on the unit sphere, in blocks that a cap usually covers as a whole or not at all.
#[derive(Clone, Debug)]
pub(super) struct Sphere {
    blocks: Vec<Block>,
    /// cosine and sine of the largest angle between a point and the center of its block
    cosine: f64,
    sine: f64,
    count: usize,
}

/// Returns `count` points on the unit sphere, on a spiral whose turns advance by the golden angle. The points are at
/// equal intervals along y.
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

/// Sorts the points so that each [`BLOCK`] of consecutive points is compact: the points are bisected recursively along
/// their longest extent, at a multiple of the block size.
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
        // if the mean of the points is the origin, as for the points of a whole sphere, the center of the block is
        // arbitrary
        let center = if sum.norm() > MARGIN { sum * (1.0 / sum.norm()) } else { vec3(0.0, 0.0, 1.0) };
        let component =
            |axis: usize| std::array::from_fn(|k| points.get(k).map_or(0.0, |point| point.to_array()[axis]));
        let present = u16::MAX >> (BLOCK - points.len());
        Block { center, x: component(0), y: component(1), z: component(2), present }
    }

    /// Returns a bit mask of the points inside a cap.
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

    /// Returns the number of points.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of points that are in no cap. Caps that cover many points should come first. `open` is
    /// scratch memory for the blocks with free points.
    pub(super) fn free_points(&self, caps: &[Cap], open: &mut Vec<(usize, u16)>) -> usize {
        open.clear();
        open.extend(self.blocks.iter().enumerate().map(|(index, block)| (index, block.present)));
        for cap in caps {
            let length = cap.direction.norm();
            // cosine of the opening angle of the cap; a cap contains no point for a value above 1, and every point for
            // a value below −1
            let cosine = (cap.threshold / length).clamp(-1.0, 1.0);
            let sine = (1.0 - cosine * cosine).sqrt();
            // θ is the angle between the axis of the cap and the center of the block. The block is outside of the cap
            // if θ is larger than the sum of the opening angles of cap and block. The block is inside if θ is smaller
            // than the opening angle of the cap minus the opening angle of the block
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
