//! Atoms within a distance of other atoms, in any periodic cell.
//!
//! The targets (the atoms to which distances are measured) are sorted into a grid of bins whose opposite faces are at
//! least the search distance apart. Every target within the search distance of an atom is in the bin of the atom or in
//! an adjacent bin. The distance of two atoms is the distance of their nearest periodic images, even if the search
//! distance is more than half of the cell.

use crate::cell::PeriodicCell;
use crate::vec3::Vec3;

/// Maximum number of bins along an axis, which limits the memory of the grid to 2 MB.
const MOST_BINS: usize = 64;
/// Relative margin of the bin size, so that rounding puts no atom outside of the bins that are searched.
const MARGIN: f64 = 1e-9;

/// Returns for each position whether a target is within `distance` (nm). A target is within any distance of itself.
pub(super) fn within(positions: &[Vec3], targets: &[bool], cell: Option<&PeriodicCell>, distance: f64) -> Vec<bool> {
    let Some(cell) = cell.copied().or_else(|| surrounding(positions, distance)) else { return targets.to_vec() };
    let bins = cell.face_distances().map(|faces| ((faces / (distance * (1.0 + MARGIN))) as usize).clamp(1, MOST_BINS));
    let bin = |position: Vec3| {
        let fractions = cell.to_fractional(cell.wrap(position).0).to_array();
        std::array::from_fn(|d| ((fractions[d] * bins[d] as f64) as usize).min(bins[d] - 1))
    };
    let index = |[x, y, z]: [usize; 3]| (z * bins[1] + y) * bins[0] + x;
    let placed: Vec<(usize, Vec3)> = targets
        .iter()
        .zip(positions)
        .filter(|(target, _)| **target)
        .map(|(_, &position)| (index(bin(position)), cell.wrap(position).0))
        .collect();
    let mut starts = vec![0; bins.iter().product::<usize>() + 1];
    placed.iter().for_each(|(bin, _)| starts[bin + 1] += 1);
    for bin in 1..starts.len() {
        starts[bin] += starts[bin - 1];
    }
    let (mut next, mut sorted) = (starts.clone(), vec![Vec3::ZERO; placed.len()]);
    for (bin, position) in placed {
        sorted[next[bin]] = position;
        next[bin] += 1;
    }
    let is_near = |position: Vec3| {
        let center = bin(position);
        let wrapped = cell.wrap(position).0;
        let [x, y, z] = std::array::from_fn(|d| around(center[d], bins[d]));
        z.clone().any(|z| {
            y.clone().any(|y| {
                x.clone().any(|x| {
                    let bin = index([x, y, z]);
                    let near =
                        |target: &Vec3| cell.minimum_image(*target - wrapped).norm_squared() <= distance * distance;
                    sorted[starts[bin]..starts[bin + 1]].iter().any(near)
                })
            })
        })
    };
    positions.iter().zip(targets).map(|(&position, &target)| target || is_near(position)).collect()
}

/// Returns the index `center` of a bin and the indices of the two adjacent bins along a periodic axis, each index once.
/// The first index is `center`, because most atoms that have a target nearby have one in their own bin.
fn around(center: usize, bins: usize) -> impl Iterator<Item = usize> + Clone {
    (0..bins.min(3)).map(move |k| (center + [0, 1, bins - 1][k]) % bins)
}

/// Returns a rectangular cell around all positions, wide enough that no position is within `distance` (nm) of a
/// periodic image. `None` if there are no positions, or if a position is not finite.
fn surrounding(positions: &[Vec3], distance: f64) -> Option<PeriodicCell> {
    let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    for position in positions {
        for (bound, value) in bounds.iter_mut().zip(position.to_array()) {
            *bound = [bound[0].min(value), bound[1].max(value)];
        }
    }
    let edges = bounds.map(|[low, high]| high - low + 3.0 * distance);
    let is_finite = positions.iter().all(|position| position.is_finite()) && edges.iter().all(|edge| edge.is_finite());
    is_finite.then(|| PeriodicCell::orthorhombic(edges))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells() -> [Option<PeriodicCell>; 4] {
        [
            None,
            Some(PeriodicCell::orthorhombic([2.0, 3.0, 4.0])),
            PeriodicCell::from_lengths_angles([3.0; 3], [109.471_219; 3]),
            PeriodicCell::from_lengths_angles([3.0, 3.0, 1.0], [60.0, 60.0, 90.0]),
        ]
    }

    #[test]
    fn the_own_bin_is_searched_first() {
        for (center, bins, expected) in
            [(0, 1, vec![0]), (1, 2, vec![1, 0]), (0, 5, vec![0, 1, 4]), (4, 5, vec![4, 0, 3])]
        {
            assert_eq!(around(center, bins).collect::<Vec<_>>(), expected);
        }
    }

    proptest! {
        /// The grid search agrees with a search over all images within four lattice vectors.
        #[test]
        fn the_grid_finds_what_all_images_do(
            which in 0usize..4,
            fractions in prop::collection::vec([-1.5f64..1.5, -1.5..1.5, -1.5..1.5], 1..40),
            count in 1usize..10,
            distance in 0.05f64..2.5,
        ) {
            let cell = cells()[which];
            let space = cell.unwrap_or(PeriodicCell::orthorhombic([2.0; 3]));
            let positions: Vec<Vec3> = fractions.iter().map(|&s| space.to_cartesian(Vec3::from(s))).collect();
            let targets: Vec<bool> = (0..positions.len()).map(|index| index < count).collect();
            let found = within(&positions, &targets, cell.as_ref(), distance);
            let images: Vec<Vec3> = match cell {
                None => vec![Vec3::ZERO],
                Some(cell) => (0..9 * 9 * 9).map(|i| cell.shift([i % 9 - 4, i / 9 % 9 - 4, i / 81 - 4])).collect(),
            };
            for (index, &position) in positions.iter().enumerate() {
                let near = positions.iter().take(count).any(|&target| {
                    images.iter().any(|&image| (target - position + image).norm() <= distance)
                });
                prop_assert_eq!(found[index], near, "atom {}", index);
            }
        }
    }
}
