//! Forecast of the computational load and the messages of each rank in a step, from the distribution of the atoms along
//! the lattice vectors.

use super::division::{AtomsAlong, Divisible, Division, share, work_along};
use crate::backend::cpu::{borrowers_of_rank, largest_mesh_part, mesh_bytes_of_rank};
use crate::error::Problem;
use crate::ranks::rounds;
use crate::system::{PmeParameters, State, System};
use std::array::from_fn;
use std::fmt;

/// Size of the position of an atom, or of a force, in a message: three 64-bit numbers.
const VECTOR: f64 = 24.0;

/// Computational load of a rank in a step, and the bytes and messages that the rank sends.
#[derive(Clone, Debug)]
pub struct RankShare {
    /// number of ranks
    pub ranks: usize,
    division: Division,
    /// computational load of the busiest rank as a fraction of the load of a single rank that computes the whole
    /// system; the load counts only the computation that is proportional to the numbers of atoms and pairs
    pub work: f64,
    /// number of atoms whose positions a rank receives, averaged over ranks
    pub halo_atoms: f64,
    /// number of atoms of the system
    pub atoms: usize,
    /// fraction of the PME mesh that the busiest rank transforms; 0 without a mesh
    pub mesh: f64,
    /// fraction of the planes of a PME mesh on which a rank has charges, averaged over ranks; 0 without a mesh
    pub planes: f64,
    /// number of bytes that a rank sends in an evaluation of PME, averaged over ranks
    pub mesh_bytes: f64,
    /// number of messages that a rank sends in an evaluation of PME, averaged over ranks
    pub mesh_messages: f64,
}

impl RankShare {
    /// Divides the cell of `state` among `ranks` ranks, for outer lists of radius `radius` (nm). Returns an error if
    /// the system cannot be divided into so many domains.
    pub fn new(system: &System, state: &State, radius: f64, ranks: usize) -> Result<Self, Problem> {
        let groups = system.constrained_groups();
        let atoms_of_groups = (0..groups.len()).map(|group| groups.atoms(group).iter().copied());
        let divisible = Divisible::of(&system.settings, atoms_of_groups, state, radius, ranks)?;
        let (division, Divisible { cell, atoms: along, halo }) = (divisible.divided(ranks)?, divisible);
        let widths = cell.face_distances();
        let halos = widths.map(|width| halo / width);
        let atoms = system.topology.atoms.len();
        let meshes: Vec<PmeParameters> = system.settings.meshes().collect();
        // an atom may be outside of the domain of its group, because only the center of the group must be inside
        let overhang = widths.map(|width| (halo - radius) / width);
        let touched = |mesh: &PmeParameters| from_fn(|k| touched(mesh, &division, k, overhang[k]));
        let domains = from_fn(|k| division.planes(k).len() - 1);
        let bytes = |mesh: &PmeParameters| mesh_bytes_of_rank(mesh, touched(mesh), domains);
        let planes = |mesh: &PmeParameters| touched(mesh)[0] / mesh.grid[0] as f64;
        Ok(RankShare {
            ranks,
            work: work(&division, &along, widths.map(|width| radius / width)),
            halo_atoms: atoms as f64 * halo_fraction(&division, &along, halos),
            atoms,
            mesh: meshes.iter().map(|mesh| largest_mesh_part(mesh, ranks)).fold(0.0, f64::max),
            planes: meshes.iter().map(planes).fold(0.0, f64::max),
            mesh_bytes: meshes.iter().map(bytes).sum(),
            mesh_messages: meshes.iter().map(|mesh| mesh_messages(mesh, &division, overhang[0], ranks)).sum(),
            division,
        })
    }

    /// Returns the bytes of the positions of halo atoms, which are sent before each force evaluation. The forces on
    /// halo atoms, which are sent back, take the same number of bytes.
    pub fn halo_bytes(&self) -> f64 {
        VECTOR * self.halo_atoms
    }

    /// Returns the number of messages in which a rank sends positions of halo atoms.
    pub fn halo_messages(&self) -> usize {
        self.division.divided().into_iter().filter(|&divided| divided).count()
    }

    /// Returns the number of messages that a rank sends in a pair search: four gathers over all ranks, halo groups with
    /// their length along each divided direction, and atoms that move to the domains around the rank's domain.
    pub fn search_messages(&self) -> usize {
        let around: usize = (0..3).map(|k| (self.division.planes(k).len() - 1).min(3)).product();
        4 * self.gather_messages() + 2 * self.halo_messages() + around - 1
    }

    /// Returns the number of messages, one after another, in which all ranks gather small arrays, or rank 0 sends a
    /// command to all ranks.
    pub fn gather_messages(&self) -> usize {
        rounds(self.ranks)
    }
}

impl fmt::Display for RankShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.division.fmt(f)
    }
}

/// Returns the computational load of the busiest rank as a fraction of the load of all ranks. The density of atoms is
/// assumed to be a product of three functions, one for the coordinate along each lattice vector.
fn work(division: &Division, along: &AtomsAlong, radius: [f64; 3]) -> f64 {
    (0..3)
        .map(|k| {
            let planes = division.planes(k);
            if planes.len() == 2 {
                return 1.0;
            }
            let work = work_along(&along[k], radius[k]);
            planes.windows(2).map(|ends| share(&work, ends[0], ends[1])).fold(0.0, f64::max)
        })
        .product()
}

/// Returns the mean number of halo atoms of a rank, as a fraction of all atoms.
fn halo_fraction(division: &Division, along: &AtomsAlong, halos: [f64; 3]) -> f64 {
    let mean = |k: usize, halo: f64| {
        let planes = division.planes(k);
        let parts = planes.len() - 1;
        if parts == 1 {
            return 1.0;
        }
        planes.windows(2).map(|ends| share(&along[k], ends[0], ends[1] + halo)).sum::<f64>() / parts as f64
    };
    let all: f64 = (0..3).map(|k| mean(k, halos[k])).product();
    let home: f64 = (0..3).map(|k| mean(k, 0.0)).product();
    all - home
}

/// Returns the mean number of mesh points along direction k on which a rank has charges. `overhang` is the distance by
/// which atoms may be outside their domain, as a fraction of the lattice vector.
fn touched(mesh: &PmeParameters, division: &Division, k: usize, overhang: f64) -> f64 {
    let (points, planes) = (mesh.grid[k] as f64, division.planes(k));
    let touched = |ends: &[f64]| ((ends[1] - ends[0] + overhang) * points + mesh.order as f64).min(points);
    planes.windows(2).map(touched).sum::<f64>() / (planes.len() - 1) as f64
}

/// Returns the mean number of messages that a rank sends in an evaluation of PME. All ranks gather the marks of the
/// planes on which a rank has charges. A rank sends one message for each of two transposes to every other rank. A rank
/// also sends its charges to each rank that transforms planes on which these charges lie, and sends the potential back
/// to each rank that has sent charges.
fn mesh_messages(mesh: &PmeParameters, division: &Division, overhang: f64, ranks: usize) -> f64 {
    let points = mesh.grid[0] as f64;
    let borrowers = |rank: usize| {
        let [low, high] = division.ends(rank).map(|end| end[0]);
        let first = ((low - 0.5 * overhang) * points).floor() as i64;
        let last = ((high + 0.5 * overhang) * points).floor() as i64 + mesh.order as i64;
        borrowers_of_rank(mesh, first..last, rank, ranks)
    };
    (rounds(ranks) + 2 * (ranks - 1)) as f64 + 2.0 * (0..ranks).map(borrowers).sum::<usize>() as f64 / ranks as f64
}
