//! Virtual sites, whose positions are computed from the positions of atoms, and whose forces are distributed to these
//! atoms.
//!
//! A site at the position r(r_1 … r_n) moves with the atoms 1 … n from which it is constructed. A force F on the site
//! therefore acts on atom k as F_k = (∂r/∂r_k)ᵀ F. The total force and the total torque do not change. Energies depend
//! only on the positions of the atoms. If a site is constructed from other virtual sites, the positions of the other
//! sites are computed first. The module [`formula`] computes positions and distributes forces for every
//! [`crate::system::Construction`]; a [`SitePlan`] applies these formulas to a system. Positions are not wrapped, and
//! molecules are whole, so that minimum images are not needed.

mod formula;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;

pub use formula::{position, spread};

use crate::constraint::SharedVectors;
use crate::system::{Topology, VirtualSite};
use crate::team::Team;
use crate::vec3::{Mat3, Vec3, vec3};
use rayon::prelude::*;

/// Number of atoms per section; sections are processed in parallel.
const ATOMS: usize = 1024;

/// Virtual sites of a system, in sections that share no atom and are processed in parallel. Results do not depend on
/// the number of threads.
#[derive(Clone, Debug, Default)]
pub struct SitePlan {
    sites: Vec<VirtualSite>,
    sections: Vec<Section>,
    /// virial (kJ/mol) of each section, from the last call of `spread`
    virials: Vec<Mat3>,
}

/// Range of consecutive atoms, and the range of virtual sites that are constructed from these atoms.
#[derive(Clone, Debug)]
struct Section {
    atoms: Range<usize>,
    sites: Range<usize>,
}

impl SitePlan {
    /// Divides the virtual sites of a topology into sections. Each site must come after the sites from which it is
    /// constructed.
    pub fn new(topology: &Topology) -> Self {
        let mut sites: Vec<(usize, &VirtualSite)> = topology.virtual_sites.iter().enumerate().collect();
        let range = |site: &VirtualSite| {
            let (atoms, site) = (site.construction.atoms(), site.site);
            atoms.iter().fold((site, site), |(least, most), &atom| (least.min(atom), most.max(atom)))
        };
        sites.sort_by_key(|(_, site)| range(site));
        let mut sections: Vec<Section> = vec![];
        for (index, (_, site)) in sites.iter().enumerate() {
            let (first, last) = range(site);
            let (first, end) = (first as usize, last as usize + 1);
            match sections.last_mut() {
                Some(section) if first < section.atoms.end || section.atoms.len() < ATOMS => {
                    section.atoms.end = section.atoms.end.max(end);
                    section.sites.end = index + 1;
                }
                _ => sections.push(Section { atoms: first..end, sites: index..index + 1 }),
            }
        }
        // a site that is constructed from another site is in the same section; sorting puts each site after the sites
        // from which it is constructed
        sections.iter().for_each(|section| sites[section.sites.clone()].sort_by_key(|(number, _)| *number));
        let sites = sites.into_iter().map(|(_, site)| site.clone()).collect();
        SitePlan { sites, virials: vec![Mat3::ZERO; sections.len()], sections }
    }

    /// Computes the positions of all sites (nm).
    pub fn place(&self, team: &Team, positions: &mut [Vec3]) {
        if self.sites.is_empty() {
            return;
        }
        let positions = &SharedVectors::new(positions);
        team.for_each(self.sections.par_iter(), |Section { atoms, sites }| {
            // SAFETY: sections share no atom, and each section is processed by one thread
            let positions = unsafe { positions.slice(atoms.clone()) };
            for VirtualSite { site, construction } in &self.sites[sites.clone()] {
                let placed = position(construction, |atom| positions[atom as usize - atoms.start]);
                positions[*site as usize - atoms.start] = placed;
            }
        });
    }

    /// Distributes the forces (kJ/mol/nm) on sites over the atoms from which the sites are constructed. Returns the
    /// resulting change of the virial W = Σ r⊗F (kJ/mol). The change is zero if the position of a site is linear in
    /// the positions of its atoms.
    pub fn spread(&mut self, team: &Team, positions: &[Vec3], forces: &mut [Vec3]) -> Mat3 {
        let SitePlan { sites, sections, virials } = self;
        if sites.is_empty() {
            return Mat3::ZERO;
        }
        let forces = &SharedVectors::new(forces);
        team.for_each(sections.par_iter().zip(virials.par_iter_mut()), |(Section { atoms, sites: range }, virial)| {
            // SAFETY: sections share no atom, and each section is processed by one thread
            let forces = unsafe { forces.slice(atoms.clone()) };
            *virial = Mat3::ZERO;
            for VirtualSite { site, construction } in sites[range.clone()].iter().rev() {
                let force = std::mem::take(&mut forces[*site as usize - atoms.start]);
                let origin = positions[*site as usize];
                spread(
                    construction,
                    |atom| positions[atom as usize],
                    force,
                    |atom, part| {
                        forces[atom as usize - atoms.start] += part;
                        *virial += Mat3::outer(positions[atom as usize] - origin, part);
                    },
                );
            }
        });
        virials.iter().fold(Mat3::ZERO, |sum, virial| sum + *virial)
    }

    /// Returns `atoms` together with all sites that are constructed, directly or through other sites, from these atoms,
    /// in ascending order.
    pub fn with_sites(&self, atoms: &[u32]) -> Vec<u32> {
        let mut all: HashSet<u32> = atoms.iter().copied().collect();
        for VirtualSite { site, construction } in &self.sites {
            if construction.atoms().iter().any(|atom| all.contains(atom)) {
                all.insert(*site);
            }
        }
        let mut all: Vec<u32> = all.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// Distributes the forces on the listed sites over the atoms from which the sites are constructed. The forces on
    /// other atoms and sites need not be known. `forces` (kJ/mol/nm) are the forces on the atoms and sites `listed`
    /// (ascending). The resulting force on an atom is complete if all sites that are constructed from this atom are in
    /// `listed`.
    pub fn spread_listed(&self, positions: &[Vec3], listed: &[u32], forces: &mut [Vec3]) {
        for VirtualSite { site, construction } in self.sites.iter().rev() {
            let Ok(index) = listed.binary_search(site) else { continue };
            let force = std::mem::take(&mut forces[index]);
            spread(
                construction,
                |atom| positions[atom as usize],
                force,
                |atom, part| {
                    if let Ok(index) = listed.binary_search(&atom) {
                        forces[index] += part;
                    }
                },
            );
        }
    }

    /// Distributes the error bounds of forces on sites (kJ/mol/nm) over the atoms of the sites, like
    /// [`SitePlan::spread_listed`]. Bounds are magnitudes without a direction.
    pub fn spread_errors(&self, positions: &[Vec3], listed: &[u32], errors: &mut [f64]) {
        for VirtualSite { site, construction } in self.sites.iter().rev() {
            let Ok(index) = listed.binary_search(site) else { continue };
            let error = std::mem::take(&mut errors[index]);
            // a force of unknown direction has at most the magnitude `error` along each axis
            for along in [vec3(error, 0.0, 0.0), vec3(0.0, error, 0.0), vec3(0.0, 0.0, error)] {
                spread(
                    construction,
                    |atom| positions[atom as usize],
                    along,
                    |atom, part| {
                        if let Ok(index) = listed.binary_search(&atom) {
                            errors[index] += part.norm();
                        }
                    },
                );
            }
        }
    }
}
