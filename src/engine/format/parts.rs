//! Division of the atoms of a system into consecutive parts. Topology files list each part as a molecule.

use crate::system::{BondedTerms, Topology};

/// Compile-time check that the topology writers treat every list of bonded terms. A writer must either write a list or
/// refuse it. If a list is added to [`BondedTerms`], add the list to the writers of AMBER and GROMACS topologies, and
/// then to this pattern.
const _: fn(&BondedTerms) = |terms| {
    let BondedTerms {
        bonds: _,
        distances: _,
        g96_bonds: _,
        angles: _,
        g96_angles: _,
        urey_bradleys: _,
        propers: _,
        ryckaert_bellemans: _,
        impropers: _,
        harmonic_impropers: _,
        cmaps: _,
        cmap_grids: _,
        pairs14: _,
    } = terms;
};

/// Returns the index of the first atom of each part, followed by the number of atoms. A part ends after an atom if no
/// link connects any of the atoms up to this atom with a later atom. The next part begins with the next atom. A part is
/// a molecule, or several molecules whose atoms are interleaved. `links` must call its argument once for each link,
/// with the atoms of the link.
pub(super) fn starts(atoms: usize, links: impl FnOnce(&mut dyn FnMut(&[u32]))) -> Vec<u32> {
    // for each atom, the largest index of the atoms that are linked to this atom
    let mut reach: Vec<u32> = (0..atoms as u32).collect();
    links(&mut |joined| {
        if let (Some(&first), Some(&last)) = (joined.iter().min(), joined.iter().max()) {
            let reach = &mut reach[first as usize];
            *reach = last.max(*reach);
        }
    });
    let (mut starts, mut end) = (vec![0], 0);
    for (atom, reach) in (0..).zip(reach) {
        if atom > end {
            starts.push(atom);
        }
        end = end.max(reach);
    }
    if atoms > 0 {
        starts.push(atoms as u32);
    }
    starts
}

/// Calls `see` with the atoms of each chemical bond. For each virtual site, calls `see` with the site and each atom
/// that defines the site.
pub(super) fn chemical_links(topology: &Topology, see: &mut dyn FnMut(&[u32])) {
    topology.connectivity.iter().for_each(|pair| see(pair));
    for site in &topology.virtual_sites {
        site.construction.atoms().iter().for_each(|&atom| see(&[site.site, atom]));
    }
}

/// Calls `see` with the atoms of each chemical link, bonded term, constraint and exclusion.
pub(super) fn all_links(topology: &Topology, see: &mut dyn FnMut(&[u32])) {
    chemical_links(topology, see);
    topology.bonded.for_each(&mut *see);
    topology.constraints.iter().for_each(|constraint| see(&constraint.atoms));
    topology.exclusions.pairs().for_each(|pair| see(&pair));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_where_no_link_reaches_across() {
        let links: [&[u32]; 4] = [&[1, 0], &[5, 3, 8], &[4, 6], &[10, 9]];
        let starts = |atoms: usize| starts(atoms, |see| links.iter().for_each(|link| see(link)));
        assert_eq!(starts(11), [0, 2, 3, 9, 11]);
        assert_eq!(super::starts(2, |_| ()), [0, 1, 2]);
        assert_eq!(super::starts(0, |_| ()), [0]);
    }
}
