//! Division of a cell into domains, one per rank.

use super::local::group_radius;
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::system::{Molecules, State, System};
use crate::vec3::Vec3;

/// Minimum ratio of the width of a domain to the width of the halo. The margin allows a barostat to shrink the cell.
const WIDTH_MARGIN: f64 = 1.05;

/// Division into domains of equal size, separated by planes parallel to the faces of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// number of domains along each lattice vector
    counts: [usize; 3],
}

impl Division {
    /// Divides a cell into one domain per rank. The division minimises the volume of the halos of thickness `halo`
    /// (nm), and with it the communication. Returns an error if the cell is too small.
    pub(super) fn new(cell: &PeriodicCell, ranks: usize, halo: f64) -> Result<Self, Problem> {
        let widths = cell.face_distances();
        let fits =
            |counts: &[usize; 3]| (0..3).all(|k| counts[k] == 1 || widths[k] / counts[k] as f64 >= WIDTH_MARGIN * halo);
        // of divisions with equal volumes the one with the most domains along x is chosen, because the mesh is
        // divided along x
        let factors = || (1..=ranks).rev().filter(|n| ranks.is_multiple_of(*n));
        let all = factors().flat_map(|x| factors().map(move |y| [x, y]));
        let all = all.filter(|[x, y]| ranks.is_multiple_of(x * y)).map(|[x, y]| [x, y, ranks / (x * y)]);
        // volume of domain and halo, rounded to thousandths of the cell, so that small changes of the cell by a
        // barostat leave the division unchanged
        let volume = |counts: &[usize; 3]| -> u64 {
            let extent = |k: usize| 1.0 / counts[k] as f64 + if counts[k] > 1 { halo / widths[k] } else { 0.0 };
            (1e3 * extent(0) * extent(1) * extent(2)).round() as u64
        };
        let best = all.filter(fits).min_by_key(volume);
        let counts = best.ok_or_else(|| Self::refusal(cell, ranks, halo))?;
        Ok(Division { counts })
    }

    fn refusal(cell: &PeriodicCell, ranks: usize, halo: f64) -> Problem {
        let most = cell.face_distances().map(|width| ((width / (WIDTH_MARGIN * halo)) as usize).max(1));
        let [a, b, c] = cell.face_distances();
        let what = format!(
            "the cell ({a:.2} x {b:.2} x {c:.2} nm between its faces) cannot be divided among {ranks} ranks: a domain must be \
             wider than its halo, {:.2} nm",
            WIDTH_MARGIN * halo
        );
        let [x, y, z] = most;
        Problem::new(what).help(format!(
            "start fewer ranks with more threads each; at most {x} x {y} x {z} domains fit along the lattice vectors"
        ))
    }

    /// Divides the cell of `state` for a system with outer lists of radius `radius` (nm). Returns an error without a
    /// cell or without a cutoff.
    pub(super) fn of(
        (system, groups): (&System, &Molecules),
        state: &State,
        radius: f64,
        ranks: usize,
    ) -> Result<Self, Problem> {
        let refuse = |what: &str| {
            let message = format!("a system without {what} cannot be divided among {ranks} ranks");
            Problem::new(message)
                .help("start md without mpirun, and set run.threads to the number of processors of this machine")
        };
        let cell = state.cell.ok_or_else(|| refuse("a periodic cell"))?;
        if !system.settings.longest_cutoff().is_finite() {
            return Err(refuse("a cutoff"));
        }
        let of_group = |group: usize| {
            let atoms = groups.atoms(group).iter().map(|&atom| state.positions[atom as usize]);
            group_radius(atoms)
        };
        // the radius of a constraint group is computed only here, because groups are nearly rigid
        let largest = (0..groups.len()).map(of_group).fold(0.0, f64::max);
        Self::new(&cell, ranks, radius + 2.0 * largest)
    }

    /// Returns an error if the cell has become too small for a halo of thickness `halo` (nm).
    pub(super) fn check(&self, cell: &PeriodicCell, halo: f64) -> Result<(), Problem> {
        let widths = cell.face_distances();
        let fits = (0..3).all(|k| self.counts[k] == 1 || widths[k] >= halo * self.counts[k] as f64);
        let ranks = self.counts.iter().product();
        if fits { Ok(()) } else { Err(Self::refusal(cell, ranks, halo)) }
    }

    /// Returns whether each direction has more than one domain.
    pub(super) fn divided(&self) -> [bool; 3] {
        self.counts.map(|count| count > 1)
    }

    /// Returns the coordinates of a rank's domain in the grid of domains.
    pub(super) fn coordinates(&self, rank: usize) -> [usize; 3] {
        let [_, y, z] = self.counts;
        [rank / (y * z), rank / z % y, rank % z]
    }

    fn rank_at(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.counts[1] + j) * self.counts[2] + k
    }

    /// Returns the ranks of the neighbouring domains below and above along a direction.
    pub(super) fn neighbours(&self, rank: usize, direction: usize) -> [usize; 2] {
        let (count, mut at) = (self.counts[direction], self.coordinates(rank));
        let own = at[direction];
        [own + count - 1, own + 1].map(|next| {
            at[direction] = next % count;
            self.rank_at(at)
        })
    }

    /// Returns the lower and upper ends of a rank's domain, as fractions of the lattice vectors.
    pub(super) fn ends(&self, rank: usize) -> [[f64; 3]; 2] {
        let at = self.coordinates(rank);
        [0, 1].map(|end| std::array::from_fn(|k| (at[k] + end) as f64 / self.counts[k] as f64))
    }

    /// Returns the rank whose domain contains a point, and the point's lattice image along the divided directions.
    pub(super) fn home_of(&self, fractional: Vec3) -> (usize, [i32; 3]) {
        let (mut at, mut image) = ([0; 3], [0; 3]);
        for (k, s) in fractional.to_array().into_iter().enumerate().filter(|&(k, _)| self.counts[k] > 1) {
            let inside = s - s.floor();
            image[k] = s.floor() as i32;
            at[k] = ((inside * self.counts[k] as f64) as usize).min(self.counts[k] - 1);
        }
        (self.rank_at(at), image)
    }
}

impl std::fmt::Display for Division {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.counts;
        write!(f, "{x} x {y} x {z} domains")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn a_cell_is_divided_where_it_is_longest() {
        let cell = PeriodicCell::orthorhombic([6.0, 7.0, 12.0]);
        let counts = |ranks| Division::new(&cell, ranks, 1.6).map(|division| division.counts);
        assert_eq!(counts(1).unwrap(), [1, 1, 1]);
        assert_eq!(counts(2).unwrap(), [1, 1, 2]);
        assert_eq!(counts(8).unwrap(), [1, 2, 4]);
        let refusal = counts(7 * 13).unwrap_err().to_string();
        assert!(refusal.contains("at most 3 x 4 x 7 domains"), "{refusal}");
    }

    #[test]
    fn every_point_is_at_home_in_one_domain() {
        let cell = PeriodicCell::orthorhombic([6.0, 7.0, 12.0]);
        let division = Division::new(&cell, 8, 1.6).unwrap();
        for rank in 0..8 {
            let [low, high] = division.ends(rank).map(Vec3::from);
            assert_eq!(division.home_of(low * 0.999 + high * 0.001), (rank, [0; 3]));
            let [below, above] = [0, 1].map(|k| division.neighbours(rank, 2)[k]);
            assert_eq!((division.neighbours(below, 2)[1], division.neighbours(above, 2)[0]), (rank, rank));
        }
        // a fractional coordinate that rounds to one belongs to the first domain of the next image
        let (rank, image) = division.home_of(vec3(0.5, -1e-18, -0.25));
        assert_eq!((division.coordinates(rank), image), ([0, 1, 3], [0, -1, -1]));
    }
}
