//! Division of a cell into domains, one per rank.

use super::local::group_radius;
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::system::{BondedTerms, Exclusions, ForceSettings, State};
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// Minimum ratio of the width of a domain to the width of the halo, if a division with such domains exists. A barostat
/// may then shrink the cell without a change of the division.
const WIDTH_MARGIN: f64 = 1.05;
/// Estimated work of a halo atom, which is sent, received and sorted, relative to the work of a home atom.
const HALO_ATOM: f64 = 0.25;
/// Ratio of the loads of two divisions above which the division with the smaller load is chosen.
const CLEARLY: f64 = 1.3;
/// Fraction of the work of a step that pair forces and pair search take: 71 % with 23,558 atoms on a processor with
/// AVX-512.
const PAIRS: f64 = 0.71;
/// Number of equal intervals of a lattice vector; the atoms are counted in each interval.
const INTERVALS: usize = 256;

/// Advice for a system that cannot be divided.
pub(super) const ALONE: &str =
    "start md without mpirun, and set run.threads to the number of processors of this machine";

/// Numbers of atoms in equal intervals of each lattice vector.
pub(super) type AtomsAlong = [[f64; INTERVALS]; 3];

/// Cell, numbers of atoms and halo thickness of a system that is divided into domains.
pub(super) struct Divisible {
    pub(super) cell: PeriodicCell,
    pub(super) atoms: AtomsAlong,
    /// thickness of the halo, nm
    pub(super) halo: f64,
}

impl Divisible {
    /// Determines the cell, the numbers of atoms and the halo of a system with outer lists of radius `radius` (nm).
    /// `groups` yields the atoms of each rank group. Returns an error if there is no cell or no cutoff; the error
    /// message contains the number `ranks`.
    pub(super) fn of<G: Iterator<Item = u32> + Clone>(
        settings: &ForceSettings,
        groups: impl Iterator<Item = G>,
        state: &State,
        radius: f64,
        ranks: usize,
    ) -> Result<Self, Problem> {
        let refuse = |what: &str| {
            let message = format!("a system without {what} cannot be divided among {ranks} ranks");
            Problem::new(message).help(ALONE)
        };
        let cell = state.cell.ok_or_else(|| refuse("a periodic cell"))?;
        if !settings.longest_cutoff().is_finite() {
            return Err(refuse("a cutoff"));
        }
        let of_group = |group: G| group_radius(group.map(|atom| state.positions[atom as usize]));
        // an atom may be outside the domain of its rank group by the radius of the group, so the halo is thicker
        // than the list radius by twice the largest group radius
        let largest = groups.map(of_group).fold(0.0, f64::max);
        let atoms = count_along(state.positions.iter().map(|&position| cell.to_fractional(position)));
        Ok(Divisible { cell, atoms, halo: radius + 2.0 * largest })
    }

    /// Returns an error if an atom of a bonded term or of an excluded pair is further from the first atom of this term
    /// or pair than the thickness of the halo: no domain with its halo might contain both atoms. `positions` are the
    /// positions of all atoms, and `number` returns the number of each atom of the terms.
    pub(super) fn check_terms(
        &self,
        bonded: &BondedTerms,
        exclusions: &Exclusions,
        number: impl Fn(u32) -> u32,
        positions: &[Vec3],
    ) -> Result<(), Problem> {
        let found = Cell::new(None);
        let measure = |those: &[u32]| {
            let at = |atom: u32| positions[number(atom) as usize];
            for &atom in &those[1..] {
                let distance = self.cell.minimum_image(at(atom) - at(those[0])).norm();
                if distance > self.halo {
                    found.set(Some(([those[0], atom].map(|atom| number(atom) + 1), distance)));
                }
            }
            false
        };
        _ = bonded.of_those(measure);
        exclusions.pairs().for_each(|pair| _ = measure(&pair));
        let Some(([i, j], distance)) = found.get() else { return Ok(()) };
        let what = format!(
            "atoms {i} and {j} of a bonded term or an excluded pair are {distance:.2} nm apart, and the halo of a domain is \
             {:.2} nm thick: the system cannot be divided among ranks",
            self.halo
        );
        Err(Problem::new(what).help(ALONE))
    }

    /// Divides the cell into one domain per rank. Returns an error if the cell is too small.
    pub(super) fn divided(&self, ranks: usize) -> Result<Division, Problem> {
        Division::new(&self.cell, &self.atoms, ranks, self.halo)
    }
}

/// Division into domains, separated by planes parallel to the faces of the cell. Along each lattice vector the planes
/// divide the work equally, unless a domain would become narrower than the halo.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Division {
    /// planes along each lattice vector, as fractions of the vector: 0, the planes between domains, and 1
    planes: [Vec<f64>; 3],
}

impl Division {
    /// Divides a cell into one domain per rank. The function chooses the division with the smallest volume of domain
    /// and halo, and thus the least communication, unless another division clearly has less work for the busiest rank.
    /// `halo` is the thickness of the halo in nm. `atoms` has the numbers of atoms in equal intervals of each lattice
    /// vector. Returns an error if the cell is too small.
    pub(super) fn new(cell: &PeriodicCell, atoms: &AtomsAlong, ranks: usize, halo: f64) -> Result<Self, Problem> {
        let widths = cell.face_distances();
        // volume of domain and halo, rounded to thousandths of the cell, so that small changes of the cell by a
        // barostat leave the division unchanged
        let volume = |counts: [usize; 3]| -> u64 {
            let extent = |k: usize| 1.0 / counts[k] as f64 + if counts[k] > 1 { halo / widths[k] } else { 0.0 };
            (1e3 * extent(0) * extent(1) * extent(2)).round() as u64
        };
        let halos = widths.map(|width| halo / width);
        let balanced = |counts: [usize; 3]| {
            let mut division = Division { planes: counts.map(uniform) };
            division.balance(atoms, halos, halos.map(|halo| WIDTH_MARGIN * halo));
            division
        };
        let mut all = possible_counts(cell, ranks, WIDTH_MARGIN * halo);
        if all.is_empty() {
            all = possible_counts(cell, ranks, halo);
        }
        let mut all: Vec<(u64, Division)> = all.into_iter().map(|counts| (volume(counts), balanced(counts))).collect();
        all.sort_by_key(|(volume, _)| *volume);
        let loads: Vec<f64> = all.iter().map(|(_, division)| division.load(atoms, halos)).collect();
        // a division is rejected only if its load clearly exceeds the least load, so that fluctuations of the density
        // leave the division unchanged
        let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
        let best = loads.iter().position(|load| *load <= CLEARLY * least);
        best.map(|best| all.swap_remove(best).1).ok_or_else(|| Self::refusal(cell, ranks, halo))
    }

    /// Whether a cell can be divided into one domain per rank, each at least as wide as a halo of thickness `halo`
    /// (nm).
    pub(super) fn exists(cell: &PeriodicCell, ranks: usize, halo: f64) -> bool {
        !possible_counts(cell, ranks, halo).is_empty()
    }

    /// Returns the work of the busiest rank as a fraction of the work of a single rank that computes the whole system,
    /// estimated from the atoms in its domain and in its halo. `halos` is the thickness of the halo along each lattice
    /// vector, as a fraction of the vector.
    fn load(&self, atoms: &AtomsAlong, halos: [f64; 3]) -> f64 {
        let largest = |k: usize, halo: f64| {
            let between = |ends: &[f64]| share(&atoms[k], ends[0], ends[1] + halo);
            let planes = &self.planes[k];
            if planes.len() == 2 { 1.0 } else { planes.windows(2).map(between).fold(0.0, f64::max) }
        };
        let home: f64 = (0..3).map(|k| largest(k, 0.0)).product();
        let all: f64 = (0..3).map(|k| largest(k, halos[k])).product();
        home + HALO_ATOM * (all - home)
    }

    /// Moves the planes along each lattice vector so that the work between neighbouring planes is equal. `atoms` has
    /// the numbers of atoms in equal intervals of each vector. `radius` is the list radius, and `least` is the minimum
    /// width of a domain, both as fractions of the lattice vectors.
    pub(super) fn balance(&mut self, atoms: &AtomsAlong, radius: [f64; 3], least: [f64; 3]) {
        for (k, planes) in self.planes.iter_mut().enumerate() {
            let count = planes.len() - 1;
            if count == 1 {
                continue;
            }
            let work = work_along(&atoms[k], radius[k]);
            let total: f64 = work.iter().sum();
            let (mut interval, mut below) = (0, 0.0);
            for (place, plane) in planes.iter_mut().enumerate().take(count).skip(1) {
                let wanted = total * place as f64 / count as f64;
                while interval + 1 < work.len() && below + work[interval] < wanted {
                    below += work[interval];
                    interval += 1;
                }
                let part = if work[interval] > 0.0 { (wanted - below) / work[interval] } else { 0.0 };
                *plane = (interval as f64 + part) / work.len() as f64;
            }
            let least = least[k].min(1.0 / count as f64);
            for place in 1..count {
                planes[place] = planes[place].max(planes[place - 1] + least);
            }
            for place in (1..count).rev() {
                planes[place] = planes[place].min(planes[place + 1] - least);
            }
        }
    }

    /// Returns the planes along lattice vector `k`, as fractions of the vector.
    pub(super) fn planes(&self, k: usize) -> &[f64] {
        &self.planes[k]
    }

    /// Returns the number of domains along each lattice vector.
    fn counts(&self) -> [usize; 3] {
        self.planes.each_ref().map(|planes| planes.len() - 1)
    }

    fn refusal(cell: &PeriodicCell, ranks: usize, halo: f64) -> Problem {
        let most = cell.face_distances().map(|width| ((width / halo) as usize).max(1));
        let [a, b, c] = cell.face_distances();
        let what = format!(
            "the cell ({a:.2} x {b:.2} x {c:.2} nm between its faces) cannot be divided among {ranks} ranks: a domain must be \
             wider than its halo, {halo:.2} nm"
        );
        let [x, y, z] = most;
        let products = (1..=x).flat_map(|x| (1..=y).flat_map(move |y| (1..=z).map(move |z| x * y * z)));
        let mut fewer: Vec<usize> = products.filter(|&product| product < ranks).collect();
        fewer.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        fewer.dedup();
        let some = fewer.iter().take(3).map(usize::to_string).collect::<Vec<_>>().join(", ");
        let start =
            if fewer == [1] { "start md without mpirun".to_owned() } else { format!("start fewer ranks ({some})") };
        Problem::new(what)
            .help(format!("{start} with more threads; at most {x} x {y} x {z} domains fit along the lattice vectors"))
    }

    /// Returns, for each lattice vector, whether the cell has more than one domain along the vector.
    pub(super) fn divided(&self) -> [bool; 3] {
        self.counts().map(|count| count > 1)
    }

    /// Returns the coordinates of a rank's domain in the grid of domains.
    pub(super) fn coordinates(&self, rank: usize) -> [usize; 3] {
        let [_, y, z] = self.counts();
        [rank / (y * z), rank / z % y, rank % z]
    }

    fn rank_at(&self, [i, j, k]: [usize; 3]) -> usize {
        let [_, y, z] = self.counts();
        (i * y + j) * z + k
    }

    /// Returns the ranks of the neighbouring domains below and above along all directions in `along`.
    pub(super) fn neighbours(&self, rank: usize, along: [bool; 3]) -> [usize; 2] {
        let (counts, at) = (self.counts(), self.coordinates(rank));
        let moved = |k: usize, step: usize| if along[k] { (at[k] + step) % counts[k] } else { at[k] };
        [self.rank_at([0, 1, 2].map(|k| moved(k, counts[k] - 1))), self.rank_at([0, 1, 2].map(|k| moved(k, 1)))]
    }

    /// Returns the lower and upper ends of a rank's domain, as fractions of the lattice vectors.
    pub(super) fn ends(&self, rank: usize) -> [[f64; 3]; 2] {
        let at = self.coordinates(rank);
        [0, 1].map(|end| std::array::from_fn(|k| self.planes[k][at[k] + end]))
    }

    /// Returns the rank whose domain contains a point, and the point's lattice image along the divided directions.
    pub(super) fn home_of(&self, fractional: Vec3) -> (usize, [i32; 3]) {
        let (mut at, mut image) = ([0; 3], [0; 3]);
        for (k, s) in fractional.to_array().into_iter().enumerate() {
            let planes = &self.planes[k][1..];
            if planes.len() > 1 {
                let inside = s - s.floor();
                image[k] = s.floor() as i32;
                at[k] = planes.partition_point(|&plane| plane <= inside).min(planes.len() - 1);
            }
        }
        (self.rank_at(at), image)
    }
}

impl std::fmt::Display for Division {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.counts();
        write!(f, "{x} x {y} x {z} domains")
    }
}

/// Returns the numbers of points with the given fractional coordinates in equal intervals of each lattice vector.
pub(super) fn count_along(points: impl Iterator<Item = Vec3>) -> AtomsAlong {
    let mut counts = [[0.0; INTERVALS]; 3];
    for point in points {
        for (counts, s) in counts.iter_mut().zip(point.to_array()) {
            let interval = ((s - s.floor()) * INTERVALS as f64) as usize;
            counts[interval.min(INTERVALS - 1)] += 1.0;
        }
    }
    counts
}

/// Returns the work in each interval of a lattice vector, as a fraction of the total work. The fraction [`PAIRS`] of
/// the total work is proportional to the numbers of pairs, and the rest is proportional to the numbers of atoms. A pair
/// is computed in the domain of its atom with the lower coordinate along the vector. The atoms are assumed to fill the
/// planes across the vector evenly. An atom then has pairs with all atoms in the circle in which a plane at the height
/// d cuts its cutoff sphere. The number of these pairs is proportional to the number of atoms in the plane and to the
/// area of the circle, π (r² − d²), where r is the radius of the cutoff sphere.
pub(super) fn work_along(atoms: &[f64], radius: f64) -> Vec<f64> {
    let intervals = atoms.len();
    let reach = radius * intervals as f64;
    let area = |height: usize| {
        let area = (1.0 - (height as f64 / reach.max(1.0)).powi(2)).max(0.0);
        if height == 0 { 0.5 * area } else { area }
    };
    let areas: Vec<f64> = (0..intervals.min(reach as usize + 1)).map(area).collect();
    let partners = |low: usize| {
        areas.iter().enumerate().map(|(height, area)| area * atoms[(low + height) % intervals]).sum::<f64>()
    };
    let pairs: Vec<f64> = atoms.iter().enumerate().map(|(low, count)| count * partners(low)).collect();
    let [all_pairs, all_atoms] = [&pairs[..], atoms].map(|counts| counts.iter().sum::<f64>().max(1.0));
    pairs
        .iter()
        .zip(atoms)
        .map(|(pairs, atoms)| PAIRS * pairs / all_pairs + (1.0 - PAIRS) * atoms / all_atoms)
        .collect()
}

/// Returns the share of the atoms whose fractional coordinate along a lattice vector is between `low` and `high`;
/// `high` may exceed 1. `counts` has the numbers of atoms in equal intervals of the lattice vector.
pub(super) fn share(counts: &[f64], low: f64, high: f64) -> f64 {
    let all: f64 = counts.iter().sum();
    let below = |s: f64| {
        let place = s.fract() * counts.len() as f64;
        let (whole, part) = (place as usize, place.fract());
        s.floor() * all + counts[..whole].iter().sum::<f64>() + part * counts.get(whole).unwrap_or(&0.0)
    };
    (below(high.min(low + 1.0)) - below(low)) / all.max(1.0)
}

/// Returns the numbers of domains along the lattice vectors in all divisions of a cell into `ranks` domains that are at
/// least `width` (nm) wide along each divided direction. Divisions with more domains along x come first: the mesh is
/// divided along x, and the first of several divisions with equal volumes of domain and halo is chosen.
fn possible_counts(cell: &PeriodicCell, ranks: usize, width: f64) -> Vec<[usize; 3]> {
    let widths = cell.face_distances();
    // the tolerance allows for rounding errors in the positions of the planes
    let fits =
        |counts: &[usize; 3]| (0..3).all(|k| counts[k] == 1 || widths[k] >= width * counts[k] as f64 * (1.0 - 1e-9));
    let factors = || (1..=ranks).rev().filter(|n| ranks.is_multiple_of(*n));
    let all = factors().flat_map(|x| factors().map(move |y| [x, y]));
    let all = all.filter(|[x, y]| ranks.is_multiple_of(x * y)).map(|[x, y]| [x, y, ranks / (x * y)]);
    all.filter(fits).collect()
}

/// Returns the lower and upper planes of `count` domains of equal width, as fractions from 0 to 1.
fn uniform(count: usize) -> Vec<f64> {
    (0..=count).map(|place| place as f64 / count as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    /// Returns the numbers of atoms in equal intervals of each lattice vector, for atoms that fill a part of the cell
    /// evenly. The filled part begins at the origin.
    fn evenly(part: [f64; 3]) -> AtomsAlong {
        let side = 40;
        let at = move |n: usize, k: usize| (n / [1, side, side * side][k] % side) as f64 / side as f64 * part[k];
        count_along((0..side.pow(3)).map(|n| vec3(at(n, 0), at(n, 1), at(n, 2))))
    }

    #[test]
    fn a_slab_is_divided_into_equal_domains() {
        let cell = PeriodicCell::orthorhombic([8.0, 8.0, 24.0]);
        let counts = |atoms: &AtomsAlong| Division::new(&cell, atoms, 4, 1.5).unwrap().counts();
        // a cell of this shape with uniform density is cut along z; a thin slab has no room for four domains along z
        assert_eq!(counts(&evenly([1.0; 3])), [1, 1, 4]);
        assert_eq!(counts(&evenly([1.0, 1.0, 0.15])), [2, 1, 2]);
        // a slab of water with a thickness of 3.1 nm, which fills the lower third of a narrow cell
        let small = PeriodicCell::orthorhombic([3.1, 3.1, 9.3]);
        let division = Division::new(&small, &evenly([1.0, 1.0, 1.0 / 3.0]), 4, 1.2).unwrap();
        assert_eq!(division.counts(), [2, 1, 2]);
        // a thick slab is cut along z by planes within the slab
        let thick = evenly([1.0, 1.0, 0.5]);
        let division = Division::new(&cell, &thick, 4, 1.5).unwrap();
        assert_eq!(division.counts(), [1, 1, 4]);
        for (place, plane) in division.planes[2][..4].iter().enumerate() {
            assert!((plane - 0.125 * place as f64).abs() < 0.025, "{division:?}");
        }
    }

    #[test]
    fn the_share_of_atoms_is_that_of_their_intervals() {
        let counts = [1.0, 3.0, 0.0, 4.0];
        for (low, high, expected) in [(0.0, 0.25, 1.0), (0.125, 0.5, 3.5), (0.75, 1.25, 5.0), (0.5, 3.0, 8.0)] {
            assert!((share(&counts, low, high) - expected / 8.0).abs() < 1e-12, "{low} {high}");
        }
    }

    #[test]
    fn planes_divide_the_work_but_keep_the_width_of_a_halo() {
        let width = 1.0 / INTERVALS as f64;
        let mut division = Division { planes: [1, 1, 3].map(uniform) };
        let mut atoms = [[1.0; INTERVALS]; 3];
        atoms[2] = [0.0; INTERVALS];
        (atoms[2][0], atoms[2][1], atoms[2][INTERVALS - 1]) = (4.0, 4.0, 1.0);
        // each atom interacts only with atoms of its own interval; the three intervals with atoms have 4, 4 and 1
        // atoms, so that the numbers of pairs are in the ratio 16 : 16 : 1
        division.balance(&atoms, [width; 3], [0.0; 3]);
        let work = [16.0, 16.0, 1.0].map(|pairs: f64| PAIRS * pairs / 33.0 + (1.0 - PAIRS) * pairs.sqrt() / 9.0);
        let expected = [1.0 / 3.0 / work[0], 1.0 + (2.0 / 3.0 - work[0]) / work[1]];
        for (plane, expected) in division.planes[2][1..3].iter().zip(expected) {
            assert!((plane / width - expected).abs() < 1e-9, "{}, not {expected}", plane / width);
        }
        atoms[2] = [0.0; INTERVALS];
        atoms[2][INTERVALS - 1] = 1.0;
        division.balance(&atoms, [width; 3], [0.0, 0.0, 0.2]);
        assert_eq!((division.planes[2][0], division.planes[2][3]), (0.0, 1.0));
        let widths: Vec<f64> = division.planes[2].windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(widths.iter().all(|width| *width >= 0.2 - 1e-12), "{widths:?}");
    }

    #[test]
    fn a_cell_is_divided_where_it_is_longest() {
        let cell = PeriodicCell::orthorhombic([6.0, 7.0, 12.0]);
        let counts = |ranks| Division::new(&cell, &evenly([1.0; 3]), ranks, 1.6).map(|division| division.counts());
        assert_eq!(counts(1).unwrap(), [1, 1, 1]);
        assert_eq!(counts(2).unwrap(), [1, 1, 2]);
        assert_eq!(counts(8).unwrap(), [1, 2, 4]);
        let refusal = counts(7 * 13).unwrap_err().to_string();
        assert!(refusal.contains("at most 3 x 4 x 7 domains"), "{refusal}");
        // at most 3, 4 and 7 domains fit along the three directions; 91 is not a product of three such numbers, and 84
        // is the largest such product below 91
        assert!(refusal.contains("start fewer ranks (84, 72, 63)"), "{refusal}");
    }

    #[test]
    fn a_cell_that_shrinks_stays_divided_until_its_domains_are_as_narrow_as_the_halo() {
        let halo = 1.5;
        for (edge, possible) in [(4.0 * halo * 1.06, true), (4.0 * halo * 1.02, true), (4.0 * halo * 0.98, false)] {
            let cell = PeriodicCell::orthorhombic([2.9, 2.9, edge]);
            assert_eq!(Division::exists(&cell, 4, halo), possible, "{edge} nm");
            let division = Division::new(&cell, &evenly([1.0; 3]), 4, halo);
            assert_eq!(division.ok().map(|division| division.counts()), possible.then_some([1, 1, 4]));
        }
    }

    #[test]
    fn every_point_is_at_home_in_one_domain() {
        let cell = PeriodicCell::orthorhombic([6.0, 7.0, 12.0]);
        let division = Division::new(&cell, &evenly([1.0; 3]), 8, 1.6).unwrap();
        for rank in 0..8 {
            let [low, high] = division.ends(rank).map(Vec3::from);
            assert_eq!(division.home_of(low * 0.999 + high * 0.001), (rank, [0; 3]));
            for along in [[false, false, true], [true, false, true]] {
                let [below, above] = division.neighbours(rank, along);
                assert_eq!([division.neighbours(below, along)[1], division.neighbours(above, along)[0]], [rank; 2]);
            }
        }
        // a fractional coordinate that rounds to one belongs to the first domain of the next image
        let (rank, image) = division.home_of(vec3(0.5, -1e-18, -0.25));
        assert_eq!((division.coordinates(rank), image), ([0, 1, 3], [0, -1, -1]));
    }
}
