//! Forecast of the computational load and the messages of each rank in a step, from the distribution of the atoms along
//! the lattice vectors.

use super::division::{AtomsAlong, Divisible, Division, share, work_along};
use super::local::center;
use crate::backend::cpu::MeshTraffic;
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::ranks::rounds;
use crate::system::{Molecules, PmeParameters, State, System, Topology};
use crate::vec3::Vec3;
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
        let groups = system.rank_groups();
        let atoms_of_groups = (0..groups.len()).map(|group| groups.atoms(group).iter().copied());
        let divisible = Divisible::of(&system.settings, atoms_of_groups, state, radius, ranks)?;
        let Topology { bonded, exclusions, .. } = &system.topology;
        divisible.check_terms(bonded, exclusions, |atom| atom, &state.positions)?;
        let division = divisible.divided(ranks)?;
        let Divisible { cell, atoms: along, halo } = divisible;
        let widths = cell.face_distances();
        let halos = widths.map(|width| halo / width);
        let atoms = system.topology.atoms.len();
        let meshes: Vec<PmeParameters> = system.settings.meshes().collect();
        let traffic = |mesh: &PmeParameters| {
            let touched = touched(mesh, &division, &cell, &groups, &state.positions);
            let planes: usize = touched.iter().map(|[x, ..]| x.iter().filter(|&&x| x).count()).sum();
            (MeshTraffic::new(mesh, &touched), planes as f64 / (ranks * mesh.grid[0]) as f64)
        };
        let traffic: Vec<(MeshTraffic, f64)> = meshes.iter().map(traffic).collect();
        Ok(RankShare {
            ranks,
            work: work(&division, &along, widths.map(|width| radius / width)),
            halo_atoms: atoms as f64 * halo_fraction(&division, &along, halos),
            atoms,
            mesh: traffic.iter().map(|(mesh, _)| mesh.largest_part).fold(0.0, f64::max),
            planes: traffic.iter().map(|(_, planes)| *planes).fold(0.0, f64::max),
            mesh_bytes: traffic.iter().map(|(mesh, _)| mesh.bytes).sum(),
            mesh_messages: traffic.iter().map(|(mesh, _)| mesh.messages).sum(),
            division,
        })
    }

    /// Returns the bytes of the positions of halo atoms, which are sent before each force evaluation. The forces on
    /// halo atoms, which are sent back, take the same number of bytes.
    pub fn halo_bytes(&self) -> f64 {
        VECTOR * self.halo_atoms
    }

    /// Returns the number of messages in which a rank sends positions of halo atoms: one for each zone of the halo.
    pub fn halo_messages(&self) -> usize {
        (1 << self.division.divided().into_iter().filter(|&divided| divided).count()) - 1
    }

    /// Returns the number of messages that a rank sends in a pair search: four gathers over all ranks, halo groups of
    /// each zone with their length, and atoms that move to the domains around the rank's domain.
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

/// Returns, for each rank, whether the rank has atoms whose splines reach each mesh point along x, y and z.
fn touched(
    mesh: &PmeParameters,
    division: &Division,
    cell: &PeriodicCell,
    groups: &Molecules,
    positions: &[Vec3],
) -> Vec<[Vec<bool>; 3]> {
    let ranks: usize = (0..3).map(|k| division.planes(k).len() - 1).product();
    let mut touched = vec![mesh.grid.map(|points| vec![false; points]); ranks];
    for group in 0..groups.len() {
        let atoms = groups.atoms(group);
        let center = center(atoms.iter().map(|&atom| positions[atom as usize]));
        let home = &mut touched[division.home_of(cell.to_fractional(center)).0];
        for &atom in atoms {
            let place = cell.to_fractional(positions[atom as usize]).to_array();
            for (touched, s) in home.iter_mut().zip(place) {
                let points = touched.len();
                let first = ((s - s.floor()) * points as f64) as usize;
                (first..first + mesh.order).for_each(|point| touched[point % points] = true);
            }
        }
    }
    touched
}
