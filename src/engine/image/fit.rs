//! Choice of the periodic images in which the molecules of a reference structure fit best to a target structure.

use super::{Image, Parts};
use crate::cell::PeriodicCell;
use crate::superpose::Superposition;
use crate::vec3::Vec3;

/// Maximum number of iterations that improve an arrangement of the molecules. A few iterations are usually enough.
const MOST_ROUNDS: usize = 20;
/// Maximum number of parts of which single parts are moved to neighbouring images. The cost grows with the square of
/// the number of parts; among many parts, a single part hardly changes the superposition.
const FEW_PARTS: usize = 16;
/// Deviation, as a fraction of the smallest width of the cell, below which an arrangement is right: a part that moves
/// by a lattice vector would be away from its place by ten times as much.
const CLOSE: f64 = 0.1;

impl Parts {
    /// Chooses periodic images for the parts (molecules) of a `reference` structure. The chosen images minimise the
    /// root-mean-square deviation from `target` after superposition. The molecules of `reference` (nm) must be whole,
    /// and `cell` is the periodic cell of `reference`. The molecules of `target` (nm) must be whole and in the images
    /// that [`Self::gather`] chooses.
    ///
    /// Four initial arrangements are tried: the stored images, the images of [`Self::gather`], the images nearest to
    /// the target as it is, and the images nearest to the target after a superposition of the largest part alone. The
    /// third arrangement serves many small parts, such as water molecules, because the rotation of one molecule says
    /// nothing about the others. Each arrangement is improved iteratively. One iteration superposes the whole target on
    /// the reference, and then moves every part of the reference to the image nearest to the superposed target. The
    /// iteration ends when the deviation no longer decreases. If few parts fit badly in the best arrangement, single
    /// parts are then moved to neighbouring images as long as the deviation decreases, because a part that is far from
    /// the others turns the superposition towards its own image. The result does not depend on the images that are
    /// stored in a file. For few parts, the result is the same after a rigid motion of the reference.
    pub fn fit(&self, cell: &PeriodicCell, reference: &[Vec3], target: &[Vec3]) -> Vec<Image> {
        let stored = vec![[0; 3]; self.len()];
        let Some(largest) = self.iter().max_by_key(|part| part.len()).filter(|_| self.len() > 1) else { return stored };
        let of = |all: &[Vec3]| largest.iter().map(|&place| all[place as usize]).collect::<Vec<_>>();
        // superposition of the target on the reference, computed from the largest part alone
        let by_largest = Superposition::new(&of(target), &of(reference));
        let by_largest = self.expected(cell, &by_largest, reference, target);
        let near = self.nearest_to(cell, reference, target);
        let arrangements = [stored, self.gather(cell, reference), near, by_largest];
        let [first, others @ ..] = arrangements.map(|images| self.improved(cell, images, reference, target));
        let best = others.into_iter().fold(first, |best, other| if other.1 < best.1 { other } else { best });
        let is_close = best.1 < CLOSE * 2.0 * cell.max_cutoff();
        let fits = is_close || self.len() > FEW_PARTS;
        if fits { best.0 } else { self.moved_singly(cell, best.0, reference, target) }
    }

    /// Improves an arrangement of images iteratively. Returns the final images, and the root-mean-square deviation
    /// between the target and the reference in the final images.
    fn improved(
        &self,
        cell: &PeriodicCell,
        mut images: Vec<Image>,
        reference: &[Vec3],
        target: &[Vec3],
    ) -> (Vec<Image>, f64) {
        let evaluate = |images: &[Image]| self.superposed(cell, images, reference, target);
        let (mut motion, mut deviation) = evaluate(&images);
        for _ in 0..MOST_ROUNDS {
            let next = self.expected(cell, &motion, reference, target);
            let (next_motion, next_deviation) = evaluate(&next);
            if next_deviation >= deviation {
                break;
            }
            (images, motion, deviation) = (next, next_motion, next_deviation);
        }
        (images, deviation)
    }

    /// Moves single parts to neighbouring images, and improves the arrangement after each move that decreases the
    /// deviation, until no move decreases the deviation.
    fn moved_singly(
        &self,
        cell: &PeriodicCell,
        mut images: Vec<Image>,
        reference: &[Vec3],
        target: &[Vec3],
    ) -> Vec<Image> {
        let mut deviation = self.superposed(cell, &images, reference, target).1;
        for _ in 0..MOST_ROUNDS {
            let before = deviation;
            for part in 0..self.len() {
                for number in 0..27 {
                    let mut next = images.clone();
                    let steps = [number % 3, number / 3 % 3, number / 9].map(|step| step - 1);
                    next[part] = [0, 1, 2].map(|axis| images[part][axis] + steps[axis]);
                    if self.superposed(cell, &next, reference, target).1 < deviation {
                        (images, deviation) = self.improved(cell, next, reference, target);
                    }
                }
            }
            if deviation >= before {
                break;
            }
        }
        images
    }

    /// Superposes the target on the reference, whose parts are in the given images. Returns the motion of the target
    /// and the root-mean-square deviation.
    fn superposed(
        &self,
        cell: &PeriodicCell,
        images: &[Image],
        reference: &[Vec3],
        target: &[Vec3],
    ) -> (Superposition, f64) {
        let mut moved = reference.to_vec();
        self.shift(cell, images, &mut moved);
        let motion = Superposition::new(target, &moved);
        let deviation = motion.deviation(target, &moved);
        (motion, deviation)
    }

    /// Moves the target by `motion`, and returns the images in which the parts of the reference are nearest to the
    /// moved target.
    fn expected(&self, cell: &PeriodicCell, motion: &Superposition, reference: &[Vec3], target: &[Vec3]) -> Vec<Image> {
        let target: Vec<Vec3> = target.iter().map(|r| motion.apply(*r)).collect();
        self.nearest_to(cell, reference, &target)
    }
}
