//! Equilibrated patches of lipid bilayers.
//!
//! A patch is periodic along x and y. The two leaflets of a patch have the same number of lipids. The molecules are
//! whole, and a patch has no water. `data/lipids.py` makes the patch files from files of OpenMM and describes the
//! format of the patch files.

use std::io::Read;

use md_engine::error::Problem;
use md_engine::vec3::{Vec3, vec3};

use crate::structure::Atom;

/// Residue name of each lipid in force fields, and the file of its patch, compressed with xz.
const PACKED: [(&str, &[u8]); 6] = [
    ("POPC", include_bytes!("../../data/lipids/POPC.txt.xz")),
    ("POPE", include_bytes!("../../data/lipids/POPE.txt.xz")),
    ("DLPC", include_bytes!("../../data/lipids/DLPC.txt.xz")),
    ("DLPE", include_bytes!("../../data/lipids/DLPE.txt.xz")),
    ("DMPC", include_bytes!("../../data/lipids/DMPC.txt.xz")),
    ("DOPC", include_bytes!("../../data/lipids/DOPC.txt.xz")),
];
/// Unit of length in the files, nm.
const UNIT: f64 = 1e-3;
/// Name of the phosphorus atom, whose position determines the leaflet of a lipid.
const PHOSPHORUS: &str = "P";
/// Names of the carbonyl carbons of the two chains, which mark the boundary of the hydrocarbon core.
const CARBONYLS: [&str; 2] = ["C21", "C31"];

/// Names of the lipids for which there are patches.
pub fn lipid_names() -> impl Iterator<Item = &'static str> {
    PACKED.iter().map(|(name, _)| *name)
}

/// A patch of a bilayer of one kind of lipid. The middle of the bilayer is at z = 0.
#[derive(Clone, Debug)]
pub struct Patch {
    /// name of the lipid
    pub name: &'static str,
    /// periodic edges of the patch along x and y, nm
    pub edges: [f64; 2],
    /// atoms of one lipid
    pub atoms: Vec<Atom>,
    /// bonds of one lipid, as pairs of atom indices
    pub bonds: Vec<[u32; 2]>,
    /// positions (nm) of the atoms of all lipids, `[lipid][atom]`
    pub lipids: Vec<Vec<Vec3>>,
}

impl Patch {
    /// Reads the patch of the lipid with the given name.
    pub fn read(name: &str) -> Result<Self, Problem> {
        let Some(&(name, packed)) = PACKED.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = lipid_names().collect();
            return Err(Problem::new(format!("there is no membrane of {name:?}"))
                .help(format!("the lipids are {}", names.join(", "))));
        };
        let damaged = || Problem::new(format!("the patch of {name} is damaged")).help("install md again");
        let mut text = String::new();
        lzma_rust2::XzReader::new(packed, false).read_to_string(&mut text).map_err(|_| damaged())?;
        Self::parse(name, &text).ok_or_else(damaged)
    }

    /// Parses the text of a patch file; `None` if the text is damaged.
    fn parse(name: &'static str, text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut head = lines.next()?.split(' ');
        let edges = [head.next()?.parse().ok()?, head.next()?.parse().ok()?];
        let (count, lipids): (usize, usize) = (head.next()?.parse().ok()?, head.next()?.parse().ok()?);
        let (mut atoms, mut bonds) = (vec![], vec![]);
        for index in 0..count {
            let mut words = lines.next()?.split(' ');
            atoms.push(Atom { name: words.next()?.to_owned(), element: words.next()?.parse().ok()? });
            let partner: i64 = words.next()?.parse().ok()?;
            if index > 0 {
                let partner = u32::try_from(partner).ok().filter(|&partner| (partner as usize) < index)?;
                bonds.push([partner, index as u32]);
            }
        }
        let positions = |line: &str| {
            let steps: Vec<f64> = line.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
            let mut sites: Vec<Vec3> = steps.chunks_exact(3).map(|s| vec3(s[0], s[1], s[2]) * UNIT).collect();
            if sites.len() != count {
                return None;
            }
            for &[partner, atom] in &bonds {
                let from = sites[partner as usize];
                sites[atom as usize] += from;
            }
            Some(sites)
        };
        let lipids: Vec<Vec<Vec3>> = lines.by_ref().take(lipids).map(positions).collect::<Option<_>>()?;
        Some(Patch { name, edges, atoms, bonds, lipids })
    }

    /// Index of the atom with the given name; 0 if the lipid has no such atom.
    fn atom(&self, name: &str) -> usize {
        self.atoms.iter().position(|atom| atom.name == name).unwrap_or_default()
    }

    /// Returns, for each lipid, whether the lipid is in the upper leaflet: its phosphorus atom is above the middle of
    /// the bilayer.
    pub(super) fn is_upper(&self) -> Vec<bool> {
        let phosphorus = self.atom(PHOSPHORUS);
        self.lipids.iter().map(|lipid| lipid[phosphorus].z > 0.0).collect()
    }

    /// Area per lipid, nm².
    pub fn area_per_lipid(&self) -> f64 {
        2.0 * self.edges[0] * self.edges[1] / self.lipids.len() as f64
    }

    /// Half of the thickness (nm) of the hydrocarbon core: the mean distance between carbonyl carbons and the middle of
    /// the bilayer.
    pub fn core(&self) -> f64 {
        let carbons = CARBONYLS.map(|name| self.atom(name));
        let heights = self.lipids.iter().flat_map(|lipid| carbons.map(|atom| lipid[atom].z.abs()));
        heights.sum::<f64>() / (carbons.len() * self.lipids.len()) as f64
    }

    /// Largest distance (nm) of an atom from the middle of the bilayer.
    pub(super) fn reach(&self) -> f64 {
        self.lipids.iter().flatten().map(|site| site.z.abs()).fold(0.0, f64::max)
    }

    /// Returns for each atom of a lipid whether it is heavy, that is, not a hydrogen.
    pub(super) fn heavy(&self) -> Vec<bool> {
        self.atoms.iter().map(|atom| atom.element > 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::cell::PeriodicCell;
    use md_engine::neighbours::Neighbours;

    /// Values from the CRYST1 and HETATM records of the files of OpenMM 8.6.1: name of the lipid, edges (nm) of the
    /// patch, and number of atoms of one lipid.
    const OF_OPENMM: [(&str, [f64; 2], usize); 6] = [
        ("POPC", [6.3701, 6.6874], 134),
        ("POPE", [6.1498, 5.8651], 125),
        ("DLPC", [6.2502, 6.5506], 106),
        ("DLPE", [5.9312, 5.9191], 97),
        ("DMPC", [6.2909, 6.3306], 118),
        ("DOPC", [6.2104, 6.6555], 138),
    ];

    #[test]
    fn patches_are_those_of_openmm() {
        assert!(lipid_names().eq(OF_OPENMM.map(|(name, ..)| name)));
        for (name, edges, atoms) in OF_OPENMM {
            let patch = Patch::read(name).unwrap();
            assert_eq!((patch.edges, patch.atoms.len(), patch.lipids.len()), (edges, atoms, 128), "{name}");
            assert_eq!(patch.bonds.len(), atoms - 1);
            assert_eq!(patch.is_upper().iter().filter(|upper| **upper).count(), 64, "{name}");
        }
        // N and P of the first lipid of POPC.pdb are at 46.07, 6.13, 51.31 Å and 42.22, 8.58, 51.78 Å
        let patch = Patch::read("POPC").unwrap();
        let [nitrogen, phosphorus] = ["N", "P"].map(|name| patch.lipids[0][patch.atom(name)]);
        assert!((phosphorus - vec3(4.222, 0.858, phosphorus.z)).norm() < 1e-9, "{phosphorus:?}");
        assert!((nitrogen - phosphorus - vec3(0.385, -0.245, -0.047)).norm() < 1e-9, "{nitrogen:?}");
    }

    #[test]
    fn molecules_are_whole_and_apart() {
        for name in lipid_names() {
            let patch = Patch::read(name).unwrap();
            // equilibrium bond lengths of lipids are 0.1 to 0.155 nm, and about 0.16 nm for P–O
            let is_bond = |length: f64| (0.085..0.18).contains(&length);
            let length = |lipid: &[Vec3], [a, b]: [u32; 2]| (lipid[a as usize] - lipid[b as usize]).norm();
            assert!(patch.lipids.iter().all(|lipid| patch.bonds.iter().all(|&bond| is_bond(length(lipid, bond)))));
            let cell = PeriodicCell::orthorhombic([patch.edges[0], patch.edges[1], 2.0 * patch.reach() + 1.0]);
            let (sites, count) = (patch.lipids.concat(), patch.atoms.len());
            let near = Neighbours::new(Some(&cell), &sites, 0.12);
            for (index, &site) in sites.iter().enumerate() {
                near.visit(site, |other, _| assert_eq!(other as usize / count, index / count, "{name} {index}"));
            }
        }
    }

    /// Tests the configuration R at C2 of the glycerol, which natural phospholipids have. By the rules of Cahn, Ingold
    /// and Prelog, O21 ranks before C1, C1 before C3, and C3 before the hydrogen.
    #[test]
    fn lipids_have_the_natural_configuration() {
        for name in lipid_names() {
            let patch = Patch::read(name).unwrap();
            let [center, first, second, third] = ["C2", "O21", "C1", "C3"].map(|name| patch.atom(name));
            for lipid in &patch.lipids {
                let arm = |atom: usize| lipid[atom] - lipid[center];
                assert!(arm(first).dot(arm(second).cross(arm(third))) < 0.0, "{name}");
            }
        }
    }

    #[test]
    fn unknown_lipids_and_damaged_files_are_refused() {
        let problem = Patch::read("DPPC").unwrap_err();
        assert!(problem.message.contains("no membrane of \"DPPC\"") && problem.help.unwrap().contains("POPC, POPE"));
        let good = "6 6 2 1\nN 7 -1\nC 6 0\n1 2 3 0 0 100\n";
        assert!((Patch::parse("X", good).unwrap().lipids[0][1] - vec3(0.001, 0.002, 0.103)).norm() < 1e-12);
        for bad in
            ["", "6 6 2 1\nN 7 -1\nC 6 1\n1 2 3 0 0 100\n", "6 6 2 1\nN 7 -1\nC 6 0\n1 2 3\n", "6 6 9 1\nN 7 -1\n"]
        {
            assert!(Patch::parse("X", bad).is_none(), "{bad:?}");
        }
    }
}
