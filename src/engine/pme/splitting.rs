//! PME tuning: search for other splittings of the Coulomb sum between direct and reciprocal space. All splittings have
//! the same error. A splitting with a finer grid has a shorter cutoff, and a splitting with a coarser grid has a longer
//! cutoff.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::parameters::{CHOICES, bisect_coarse, check, good_size};
use super::{ErrorEstimate, ErrorModel};
use crate::system::PmeParameters;

/// A splitting of the Coulomb sum: a cutoff of the direct sum, and matching parameters of the reciprocal sum.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Splitting {
    /// cutoff of the direct sum, nm
    pub cutoff: f64,
    /// parameters of the reciprocal sum
    pub parameters: PmeParameters,
}

/// Allowed range of the number of grid points along an edge, as a multiple of the number along this edge in the initial
/// grid. The total number of grid points is therefore between an eighth of the initial number and three times the
/// initial number.
const FINENESS: RangeInclusive<f64> = 0.5..=1.45;
/// Number of steps in the range [`FINENESS`]. The steps are so small that all allowed sizes of a grid of about a
/// hundred points are tried.
const STEPS: u32 = 48;
/// Number of cutoff steps per nm: cutoffs are multiples of 1/1000 nm.
const CUTOFF_STEPS: f64 = 1000.0;

impl ErrorModel {
    /// Finds a splitting for every spline order and for every grid that is about as fine as the grid of `base`. Each
    /// splitting has the largest α that keeps the reciprocal error within the limit, and the shortest cutoff that keeps
    /// the direct error within the limit. The limits of both errors are in `allowed`. Splittings with a cutoff outside
    /// the range `cutoffs` (nm) are dropped.
    pub fn splittings(
        &self,
        base: &PmeParameters,
        allowed: ErrorEstimate,
        cutoffs: RangeInclusive<f64>,
    ) -> Vec<Splitting> {
        let step = (FINENESS.end() - FINENESS.start()) / f64::from(STEPS);
        let fineness = (0..=STEPS).map(|index| FINENESS.start() + f64::from(index) * step);
        let grids: BTreeSet<[usize; 3]> = fineness
            .map(|fineness| base.grid.map(|points| good_size((points as f64 * fineness).round() as usize)))
            .collect();
        let choices = CHOICES.into_iter().flat_map(|order| grids.iter().map(move |&grid| (grid, order)));
        choices.filter_map(|(grid, order)| self.splitting(grid, order, allowed, &cutoffs)).collect()
    }

    fn splitting(
        &self,
        grid: [usize; 3],
        order: usize,
        allowed: ErrorEstimate,
        cutoffs: &RangeInclusive<f64>,
    ) -> Option<Splitting> {
        let (shortest, longest) = (*cutoffs.start(), *cutoffs.end());
        let rows = self.cell.rows();
        let spacing = [0, 1, 2].map(|d| rows[d].norm() / grid[d] as f64);
        // range of α·cutoff, as in [`ErrorModel::choices`]
        let alpha =
            bisect_coarse(1.0, 6.0, |x| self.reciprocal(x / shortest, spacing, order) <= allowed.reciprocal) / shortest;
        if self.reciprocal(alpha, spacing, order) > allowed.reciprocal || self.direct(alpha, longest) > allowed.direct {
            return None;
        }
        let needed = bisect_coarse(shortest, longest, |cutoff| self.direct(alpha, cutoff) > allowed.direct);
        // the result of the bisection may be slightly smaller than the required cutoff, because the bisection has a
        // limited precision
        let enough = |steps: &f64| self.direct(alpha, steps / CUTOFF_STEPS) <= allowed.direct;
        let first = (needed * CUTOFF_STEPS).ceil();
        let cutoff = [first, first + 1.0, first + 2.0].into_iter().find(enough)? / CUTOFF_STEPS;
        let parameters = PmeParameters { alpha, grid, order };
        check(&parameters).ok()?;
        Some(Splitting { cutoff, parameters })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::PeriodicCell;
    use crate::pme::{ChargeStructure, allowed};

    fn model(cutoff: f64) -> ErrorModel {
        let charges: Vec<f64> = (0..12_000).map(|i| if i % 3 == 0 { -0.8 } else { 0.4 }).collect();
        let cell = PeriodicCell::orthorhombic([5.0, 5.0, 7.0]);
        ErrorModel::new(&cell, cutoff, &charges, ChargeStructure::uncorrelated())
    }

    #[test]
    fn no_splitting_has_a_larger_error_or_leaves_the_range() {
        for error in [0.02, 0.5] {
            let base = model(0.9).parameters(error).unwrap();
            let limits = allowed(error);
            let found = model(0.9).splittings(&base, limits, 0.7..=1.0);
            assert!(found.len() > 10, "only {}", found.len());
            for splitting in &found {
                let estimate = model(splitting.cutoff).estimate(&splitting.parameters);
                assert!(estimate.direct <= limits.direct && estimate.reciprocal <= limits.reciprocal, "{splitting:?}");
                assert!((0.7..=1.0).contains(&splitting.cutoff), "{splitting:?}");
            }
            // the later splittings of the list have finer grids, which allow shorter cutoffs
            let of_order: Vec<&Splitting> = found.iter().filter(|s| s.parameters.order == base.order).collect();
            assert!(of_order.is_sorted_by(|a, b| a.cutoff >= b.cutoff), "{of_order:?}");
            assert!(of_order.iter().any(|s| s.cutoff < 0.8) && of_order.iter().any(|s| s.cutoff > 0.9));
        }
    }

    #[test]
    fn an_error_out_of_reach_leaves_nothing() {
        let base = model(0.9).parameters(0.5).unwrap();
        assert!(model(0.9).splittings(&base, allowed(1e-9), 0.7..=1.0).is_empty());
    }
}
