//! Reference forces on a sample of atoms in double precision, for comparison with a fast backend during a run.

use super::neighbours::{Boxes, Neighbours};
use super::nonbonded::{Charges, PairPotential, excluded_pairs, pairs14};
use super::{Geometry, Sums, bonded};
use crate::backend::{DispersionTail, Energies};
use crate::cell::displacement;
use crate::pair::ListSchedule;
use crate::pme::{MeshPotential, ReferencePme};
use crate::system::{Electrostatics, State, System};
use crate::term::CmapTable;
use crate::vec3::Vec3;
use crate::virtual_sites::SitePlan;
use rayon::prelude::*;

/// Rounding error of distances in fast backends, nm. Fast backends compute distances in `f32` from offsets of a few nm,
/// which are accurate to about 10⁻⁶ nm. Fast backends may count a pair as inside or as outside a list radius or cutoff
/// if the distance of the pair differs from this radius or cutoff by less than this error.
const ROUNDING: f64 = 1e-5;

/// Fraction of the cutoff; a valid pair list contains all pairs with distances below this fraction of the cutoff.
const NEVER_LACKING: f64 = 0.8;

/// Distance below which a pair with a virtual site counts as an overlap, nm. Virtual sites have no repulsion of their
/// own, and lone pairs come as close as 0.09 nm to hydrogens. Fast backends clamp distances below about 0.06 nm.
const SITE_OVERLAP: f64 = 0.07;

/// Pair lists of a fast backend: list radii, and the states at which the lists were built.
#[derive(Clone, Copy)]
pub struct ListsMade<'a> {
    /// radii of the lists
    pub schedule: &'a ListSchedule,
    /// state at the search for the outer list
    pub searched: &'a State,
    /// state with the predicted positions for which the inner list was pruned
    pub pruned: &'a State,
}

impl ListsMade<'_> {
    /// Returns whether these lists may miss the pair i, j. The present distance of the pair is less than `cutoff` (nm),
    /// which is the Coulomb or the Lennard-Jones cutoff. A list misses a pair that was beyond the outer radius at the
    /// search, or beyond the inner radius at the pruning. `longest` (nm) is the longer of the two cutoffs; the list
    /// radii exceed this cutoff.
    fn may_lack(&self, [i, j]: [usize; 2], cutoff: f64, longest: f64) -> bool {
        let apart = |then: &State| displacement(then.cell.as_ref(), then.positions[i] - then.positions[j]).norm();
        let ListSchedule { outer, inner, .. } = *self.schedule;
        apart(self.searched) > outer - ROUNDING || apart(self.pruned) > cutoff + inner - longest - ROUNDING
    }
}

/// Reference forces on a sample of atoms, and energies.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// forces on the atoms, kJ/mol/nm
    pub forces: Vec<Vec3>,
    /// possible force error of each atom from pairs that lists may miss, and from pairs whose distance is close to a
    /// cutoff, kJ/mol/nm
    pub lacking: Vec<f64>,
    /// number of pairs that lists may miss, summed over the sampled atoms
    pub lacking_pairs: u64,
    /// number of all pairs within the cutoff, summed over the sampled atoms
    pub pairs: u64,
    /// smallest distance of a pair within the cutoff, nm; infinite without a pair. A pair with a virtual site counts
    /// only if the distance of the pair is below [`SITE_OVERLAP`]
    pub closest: f64,
    /// energies of all terms; `None` unless all atoms and the mesh are requested
    pub energies: Option<Energies>,
    /// possible error of the energies from pairs that lists may miss, and from pairs whose distance is close to a
    /// cutoff, kJ/mol
    pub lacking_energy: f64,
}

/// Sums over the interacting pairs of one atom.
#[derive(Clone, Copy)]
struct Pairs {
    force: Vec3,
    lacking: f64,
    count: [u64; 2],
    closest_squared: f64,
    coulomb: f64,
    lj: f64,
    lacking_energy: f64,
}

/// Computes the forces on `atoms` (ascending) at the positions and cell of `state` with the formulas of
/// [`super::Reference`]. The mesh is included only if `reciprocal` is true.
///
/// Pairs are computed only for the given atoms and their virtual sites, but bonded terms and the mesh are computed for
/// the whole system. The system must be one that [`super::check_system`] accepts.
pub fn sample(system: &System, state: &State, atoms: &[u32], lists: ListsMade<'_>, reciprocal: bool) -> Sampled {
    let sites = SitePlan::new(&system.topology);
    let listed = sites.with_sites(atoms);
    let mut sampled = sample_unspread(system, state, &listed, lists, reciprocal);
    sites.spread_listed(&state.positions, &listed, &mut sampled.forces);
    sites.spread_errors(&state.positions, &listed, &mut sampled.lacking);
    let is_wanted = |index: usize| atoms.binary_search(&listed[index]).is_ok();
    let mut index = 0..listed.len();
    sampled.forces.retain(|_| index.next().is_some_and(is_wanted));
    let mut index = 0..listed.len();
    sampled.lacking.retain(|_| index.next().is_some_and(is_wanted));
    sampled
}

/// Computes the result of [`sample`], but does not move the forces on virtual sites to their parent atoms.
fn sample_unspread(system: &System, state: &State, atoms: &[u32], lists: ListsMade<'_>, reciprocal: bool) -> Sampled {
    let (topology, cell) = (&system.topology, state.cell.as_ref());
    let geometry = Geometry { cell, positions: &state.positions };
    let potential = PairPotential::new(&system.settings);
    let charges = Charges::new(system);
    let everybody = atoms.len() == topology.atoms.len();
    let pairs = interacting(system, &potential, &charges, geometry, atoms, lists);

    let tables: Vec<CmapTable> =
        topology.bonded.cmap_grids.iter().map(|g| CmapTable::new(g.size, &g.energies)).collect();
    let mut sums = Sums::new(vec![], state.positions.len());
    bonded::evaluate(&topology.bonded, &tables, geometry, &mut sums);
    let mut wanted = vec![false; topology.atoms.len()];
    atoms.iter().for_each(|&i| wanted[i as usize] = true);
    let excluded = topology.exclusions.pairs().filter(|pair| pair.iter().any(|&i| wanted[i as usize]));
    excluded_pairs(excluded, system, &potential, &charges, geometry, &mut sums);
    pairs14(system, &topology.bonded.pairs14, geometry, &mut sums);

    let mut forces: Vec<Vec3> =
        atoms.iter().zip(&pairs).map(|(&i, pairs)| sums.forces[i as usize] + pairs.force).collect();
    let mut energies = sums.energies;
    for pairs in &pairs {
        energies.coulomb += pairs.coulomb;
        energies.lj += pairs.lj;
    }
    if let Some(cell) = cell {
        energies.dispersion_correction = DispersionTail::new(system).at(cell.volume()).0;
        energies.lj += energies.dispersion_correction;
        let mut mesh = |parameters, potential, charges: &[f64]| {
            let mut pme = ReferencePme::new(parameters, potential);
            let (energy, _) = pme.solve_potential(cell, &state.positions, charges);
            forces.par_iter_mut().zip(atoms).for_each(|(force, &i)| {
                *force += pme.force(cell, state.positions[i as usize], charges[i as usize]);
            });
            energy
        };
        if let Electrostatics::Pme(parameters) = system.settings.electrostatics
            && reciprocal
        {
            energies.coulomb_reciprocal = mesh(parameters, MeshPotential::Coulomb, &charges.coulomb);
            energies.coulomb += energies.coulomb_reciprocal;
        }
        if let Some(parameters) = system.settings.lj_pme()
            && reciprocal
        {
            energies.dispersion_correction = mesh(parameters, MeshPotential::Dispersion, &charges.dispersion);
            energies.lj += energies.dispersion_correction;
        }
    }
    Sampled {
        forces,
        lacking: pairs.iter().map(|pairs| pairs.lacking).collect(),
        lacking_pairs: pairs.iter().map(|pairs| pairs.count[1]).sum(),
        pairs: pairs.iter().map(|pairs| pairs.count[0]).sum(),
        closest: pairs.iter().map(|pairs| pairs.closest_squared).fold(f64::INFINITY, f64::min).sqrt(),
        energies: (everybody && reciprocal).then_some(energies),
        lacking_energy: pairs.iter().map(|pairs| pairs.lacking_energy).sum(),
    }
}

/// Returns, for each of `atoms`, the sums over the pairs of this atom that are within the cutoff and not excluded. Each
/// pair contributes half of its energy.
fn interacting(
    system: &System,
    potential: &PairPotential,
    charges: &Charges,
    geometry: Geometry<'_>,
    atoms: &[u32],
    lists: ListsMade<'_>,
) -> Vec<Pairs> {
    let longest = system.settings.longest_cutoff();
    let cutoffs = [system.settings.cutoff, system.settings.cutoff_lj].map(|cutoff| cutoff.unwrap_or(f64::INFINITY));
    let mut boxes = Boxes::default();
    let neighbours = Neighbours::new(geometry, longest + ROUNDING, &mut boxes);
    let topology = &system.topology;
    let one = |&i: &u32| {
        let mut sum = Pairs {
            force: Vec3::ZERO,
            lacking: 0.0,
            count: [0; 2],
            closest_squared: f64::INFINITY,
            coulomb: 0.0,
            lj: 0.0,
            lacking_energy: 0.0,
        };
        let atom = &topology.atoms[i as usize];
        neighbours.for_each(i as usize, |j, d, r2| {
            if topology.exclusions.contains(i, j as u32) {
                return;
            }
            let other = &topology.atoms[j];
            let pair = charges.pair(system, [i as usize, j]);
            let at = |distance: f64| potential.evaluate(pair, distance * distance);
            let r = r2.sqrt();
            if cutoffs.iter().any(|cutoff| (r - cutoff).abs() < ROUNDING) {
                let ((f, coulomb, lj), beyond) = (at(r - 2.0 * ROUNDING), at(r + 2.0 * ROUNDING));
                sum.lacking += r * (f - beyond.0).abs();
                sum.lacking_energy += 0.5 * ((coulomb - beyond.1).abs() + (lj - beyond.2).abs());
            }
            if r > longest {
                return;
            }
            let (f, coulomb, lj) = potential.evaluate(pair, r2);
            sum.force += d * f;
            sum.coulomb += 0.5 * coulomb;
            sum.lj += 0.5 * lj;
            sum.count[0] += 1;
            let has_site = atom.mass == 0.0 || other.mass == 0.0;
            if !has_site || r < SITE_OVERLAP {
                sum.closest_squared = sum.closest_squared.min(r2);
            }
            // beyond the Coulomb cutoff there are only Lennard-Jones interactions, up to the longer cutoff
            let reach = if r <= cutoffs[0] { cutoffs[0] } else { longest };
            if r > NEVER_LACKING * reach && lists.may_lack([i as usize, j], reach, longest) {
                sum.lacking += (d * f).norm();
                sum.lacking_energy += 0.5 * (coulomb.abs() + lj.abs());
                sum.count[1] += 1;
            }
        });
        sum
    };
    atoms.par_iter().map(one).collect()
}
