//! The division of a cell into domains, one for each rank.

use super::local::group_radius;
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::system::{Molecules, State, System};
use crate::vec3::Vec3;

/// Domains are at least so much wider than the halo that they need: a barostat may shrink the cell.
const ROOM: f64 = 1.05;

/// Equal domains between planes parallel to the faces of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// along each lattice vector
    counts: [usize; 3],
}

impl Division {
    /// Into as many domains as ranks, with the least volume of halos of this thickness (nm), so that the least is sent. Refuses
    /// a cell that is too small.
    pub(super) fn new(cell: &PeriodicCell, ranks: usize, halo: f64) -> Result<Self, Problem> {
        let widths = cell.face_distances();
        let fits = |counts: &[usize; 3]| (0..3).all(|k| counts[k] == 1 || widths[k] / counts[k] as f64 >= ROOM * halo);
        // of equal ones first those that are divided along x, as the mesh is
        let factors = || (1..=ranks).rev().filter(|n| ranks.is_multiple_of(*n));
        let all = factors().flat_map(|x| factors().map(move |y| [x, y]));
        let all = all.filter(|[x, y]| ranks.is_multiple_of(x * y)).map(|[x, y]| [x, y, ranks / (x * y)]);
        // in thousandths of the cell, so that a cell that a barostat has changed a little is divided as before
        let volume = |counts: &[usize; 3]| -> u64 {
            let extent = |k: usize| 1.0 / counts[k] as f64 + if counts[k] > 1 { halo / widths[k] } else { 0.0 };
            (1e3 * extent(0) * extent(1) * extent(2)).round() as u64
        };
        let best = all.filter(fits).min_by_key(volume);
        let counts = best.ok_or_else(|| Self::refusal(cell, ranks, halo))?;
        Ok(Division { counts })
    }

    fn refusal(cell: &PeriodicCell, ranks: usize, halo: f64) -> Problem {
        let most = cell.face_distances().map(|width| ((width / (ROOM * halo)) as usize).max(1));
        let [a, b, c] = cell.face_distances();
        let what = format!(
            "the cell ({a:.2} x {b:.2} x {c:.2} nm between its faces) cannot be divided among {ranks} ranks: a domain must be \
             wider than what it needs of its neighbours, {:.2} nm",
            ROOM * halo
        );
        let [x, y, z] = most;
        Problem::new(what).help(format!(
            "start fewer ranks with more threads each; at most {x} x {y} x {z} domains fit along the lattice vectors"
        ))
    }

    /// Of a system at a state, with outer lists of this radius (nm). Refuses what has no cell or no cutoff.
    pub(super) fn of(
        (system, groups): (&System, &Molecules),
        state: &State,
        radius: f64,
        ranks: usize,
    ) -> Result<Self, Problem> {
        let refuse = |what: &str| {
            let message = format!("there are {ranks} ranks, and a system without {what} cannot be divided among them");
            Problem::new(message).help("start md without mpirun, with run.threads for the processors of this machine")
        };
        let cell = state.cell.ok_or_else(|| refuse("a periodic cell"))?;
        if !system.settings.longest_cutoff().is_finite() {
            return Err(refuse("a cutoff"));
        }
        let of_group = |group: usize| {
            let atoms = groups.atoms(group).iter().map(|&atom| state.positions[atom as usize]);
            group_radius(atoms)
        };
        // groups are nearly rigid
        let largest = (0..groups.len()).map(of_group).fold(0.0, f64::max);
        Self::new(&cell, ranks, radius + 2.0 * largest)
    }

    /// Refuses a cell that has become too small for a halo of this thickness (nm).
    pub(super) fn check(&self, cell: &PeriodicCell, halo: f64) -> Result<(), Problem> {
        let widths = cell.face_distances();
        let fits = (0..3).all(|k| self.counts[k] == 1 || widths[k] >= halo * self.counts[k] as f64);
        let ranks = self.counts.iter().product();
        if fits { Ok(()) } else { Err(Self::refusal(cell, ranks, halo)) }
    }

    /// Directions along which there are several domains.
    pub(super) fn divided(&self) -> [bool; 3] {
        self.counts.map(|count| count > 1)
    }

    /// Where a rank's domain is.
    pub(super) fn coordinates(&self, rank: usize) -> [usize; 3] {
        let [_, y, z] = self.counts;
        [rank / (y * z), rank / z % y, rank % z]
    }

    fn rank_at(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.counts[1] + j) * self.counts[2] + k
    }

    /// The ranks below and above along a direction.
    pub(super) fn neighbours(&self, rank: usize, direction: usize) -> [usize; 2] {
        let (count, mut at) = (self.counts[direction], self.coordinates(rank));
        let own = at[direction];
        [own + count - 1, own + 1].map(|next| {
            at[direction] = next % count;
            self.rank_at(at)
        })
    }

    /// Ends of a rank's domain, as fractions of the lattice vectors.
    pub(super) fn ends(&self, rank: usize) -> [[f64; 3]; 2] {
        let at = self.coordinates(rank);
        [0, 1].map(|end| std::array::from_fn(|k| (at[k] + end) as f64 / self.counts[k] as f64))
    }

    /// The rank in whose domain a point is, and its lattice image there along the divided directions.
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
        // a point between two representable numbers below one is not outside
        let (rank, image) = division.home_of(vec3(0.5, -1e-18, -0.25));
        assert_eq!((division.coordinates(rank), image), ([0, 1, 3], [0, -1, -1]));
    }
}
