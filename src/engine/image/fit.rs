//! Images of a reference.

use super::{Image, Parts};
use crate::cell::PeriodicCell;
use crate::superpose::Superposition;
use crate::vec3::Vec3;

/// Rounds after which images that still change are left as they are; a few suffice.
const MOST_ROUNDS: usize = 20;

impl Parts {
    /// Images of the parts of a `reference` (nm, molecules whole, lattice `cell`) in which it fits best to `target` (nm,
    /// molecules whole and gathered): with the least root mean square deviation after superposition.
    ///
    /// Each arrangement that is tried (as stored, gathered, and by the superposition of the largest part alone) is improved by
    /// moving every part to the image nearest to where the superposition of all expects it, until nothing changes. The
    /// result does not depend on the images that a file stores, nor on a rigid motion of the reference.
    pub fn fit(&self, cell: &PeriodicCell, reference: &[Vec3], target: &[Vec3]) -> Vec<Image> {
        let stored = vec![[0; 3]; self.len()];
        let Some(largest) = self.iter().max_by_key(|part| part.len()).filter(|_| self.len() > 1) else { return stored };
        let of = |all: &[Vec3]| largest.iter().map(|&place| all[place as usize]).collect::<Vec<_>>();
        // from target to reference
        let by_largest = Superposition::new(&of(target), &of(reference));
        let arrangements = [stored, self.gather(cell, reference), self.expected(cell, &by_largest, reference, target)];
        let improved = arrangements.map(|images| self.improved(cell, images, reference, target));
        let best = improved.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(images, _)| images).unwrap_or_default()
    }

    /// The arrangement that is reached from another, and its deviation.
    fn improved(
        &self,
        cell: &PeriodicCell,
        mut images: Vec<Image>,
        reference: &[Vec3],
        target: &[Vec3],
    ) -> (Vec<Image>, f64) {
        let evaluate = |images: &[Image]| {
            let mut moved = reference.to_vec();
            self.shift(cell, images, &mut moved);
            let motion = Superposition::new(target, &moved);
            let deviation = motion.deviation(target, &moved);
            (motion, deviation)
        };
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

    /// Images nearest to where a motion of the target onto the reference expects the parts.
    fn expected(&self, cell: &PeriodicCell, motion: &Superposition, reference: &[Vec3], target: &[Vec3]) -> Vec<Image> {
        let target: Vec<Vec3> = target.iter().map(|r| motion.apply(*r)).collect();
        self.nearest_to(cell, reference, &target)
    }
}
