//! Virtual sites on the device, computed by `kernels/virtual_sites.cu`.
//!
//! The positions of virtual sites are computed after every change of atomic positions. The forces on sites are
//! distributed to atoms after all other forces have been computed. One thread computes all sites of a cluster, in an
//! order in which each site depends only on atoms and on earlier sites. Most clusters are a single site.

use super::device::{Device, Launch, copy, over, read, store};
use super::kernel::Kernel;
use super::layout::{Arguments, VirtualSite, site_parameters};
use crate::error::Result;
use crate::system::{Molecules, System};
use crate::vec3::Vec3;

/// Uploads all virtual sites and the atoms from which they are constructed.
pub(super) fn upload(device: &impl Device, a: &mut Arguments, system: &System) -> Result<()> {
    let topology = &system.topology;
    let is_site = topology.site_mask();
    let (mut links, mut number) = (vec![], vec![0; topology.atoms.len()]);
    for (index, site) in topology.virtual_sites.iter().enumerate() {
        number[site.site as usize] = index;
        let others = site.construction.atoms().iter().filter(|&&atom| is_site[atom as usize]);
        links.extend(others.map(|&other| [site.site, other]));
    }
    let clusters = Molecules::from_bonds(topology.atoms.len(), &links);
    let (mut starts, mut sites, mut atoms, mut parameters) = (vec![0], vec![], vec![], vec![]);
    for cluster in (0..clusters.len()).map(|cluster| clusters.atoms(cluster)).filter(|c| is_site[c[0] as usize]) {
        // a topology lists each site after the sites on which it depends
        let mut members: Vec<usize> = cluster.iter().map(|&site| number[site as usize]).collect();
        members.sort_unstable();
        for site in members.into_iter().map(|index| &topology.virtual_sites[index]) {
            let (kind, numbers) = site_parameters(&site.construction);
            let of_site = site.construction.atoms();
            sites.push(VirtualSite {
                site: site.site,
                kind,
                first_atom: atoms.len() as u32,
                atoms: of_site.len() as u32,
                first_parameter: parameters.len() as u32,
            });
            atoms.extend_from_slice(of_site);
            parameters.extend(numbers);
        }
        starts.push(sites.len() as u32);
    }
    a.site_clusters = starts.len() as u32 - 1;
    a.site_starts = store(device, &starts)?;
    a.virtual_sites = store(device, &sites)?;
    a.site_atoms = store(device, &atoms)?;
    a.site_parameters = store(device, &parameters)?;
    Ok(())
}

/// Computes the positions of all sites. `moved` is true if a step has moved the atoms. If `moved` is true, the old
/// positions of the sites are kept, because the old positions are needed if the step has failed.
pub(super) fn place(device: &impl Device, a: &Arguments, moved: bool) -> Result<()> {
    let parameter = if moved { 1.0 } else { 0.0 };
    device.launch(Launch { parameter, ..over(Kernel::PlaceSites, a.site_clusters) }, a)
}

/// Computes the positions of all sites of an uploaded state, on the device and in `positions`, which is the copy on
/// the host.
pub(super) fn place_first(device: &impl Device, a: &Arguments, positions: &mut [Vec3]) -> Result<()> {
    if a.site_clusters == 0 {
        return Ok(());
    }
    place(device, a, false)?;
    copy(device, a.positions, a.old, positions.len())?;
    read(device, a.positions, positions)
}

/// Distributes the forces on sites to the atoms from which the sites are constructed. If `sums` is true, the function
/// also corrects the virial.
pub(super) fn spread(device: &impl Device, a: &Arguments, sums: bool) -> Result<()> {
    device.launch(over(if sums { Kernel::SpreadSitesSums } else { Kernel::SpreadSites }, a.site_clusters), a)
}
