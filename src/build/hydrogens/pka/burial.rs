//! Burial of a group, and the shift of its pKa by desolvation.
//!
//! Desolvation shifts the pKa by ±c s(w) Σ V r⁻⁴, with a prefactor c, a factor s(w) that depends on the burial weight
//! w, and a sum over the heavy atoms within 2 nm. V is the volume of an atom relative to the volume of oxygen, and r is
//! the distance of the atom, at least 0.275 nm. The weight w increases with the number of heavy atoms within 1.5 nm,
//! from 0 for a group on the surface to 1 for a buried group. The factor s(w) = 1 − 0.75 (1 − w) reduces the shift of
//! groups near the surface (Olsson et al. 2011, doi:10.1021/ct100578z; parameters of PROPKA 3.5.1).

use md_engine::neighbours::Neighbours;
use md_engine::vec3::Vec3;

use crate::structure::Structure;

/// Prefactor c of the desolvation in nm⁴ (13.0 Å⁴).
const PREFACTOR: f64 = 13.0e-4;
/// Factor s(0): desolvation of a group on the surface, relative to the desolvation of a buried group.
const ON_SURFACE: f64 = 0.25;
/// Largest distance at which atoms contribute to the desolvation of a group, nm.
const REACH: f64 = 2.0;
/// Smallest distance r in the sum of the desolvation, nm. Smaller distances are replaced by this distance.
const LEAST_DISTANCE: f64 = 0.275;
/// Largest distance (nm) at which heavy atoms are counted for the weight w of the burial.
const COUNTED: f64 = 1.5;
/// Limits for the number of heavy atoms within [`COUNTED`]. The weight w is 0 up to `FEWEST` atoms, and 1 from `MOST`
/// atoms on.
pub(super) const FEWEST: f64 = 280.0;
const MOST: f64 = 560.0;
/// Volumes of atoms by atomic number, relative to the volume of oxygen (Bondi, J. Phys. Chem. 68, 441 (1964)). The
/// listed volume of carbon applies to backbone carbons. Elements that are not listed have a relative volume of 1.
const VOLUMES: [(u8, f64); 6] = [(6, 1.40), (7, 1.06), (9, 0.90), (15, 1.66), (16, 1.66), (17, 1.53)];
/// Relative volume of a side-chain carbon together with its hydrogens.
const ALIPHATIC: f64 = 2.64;
/// Names of residues whose atoms do not contribute to the burial: waters, and molecules of buffers and cryoprotectants.
const IGNORED: [&str; 7] = ["HOH", "H2O", "SO4", "PO4", "PEG", "EPE", "TRS"];

/// Heavy atoms that may bury groups.
pub(super) struct HeavyAtoms {
    atoms: Neighbours,
    /// residue and relative volume of each atom
    properties: Vec<(u32, f64)>,
}

/// Sums over the heavy atoms around a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Burial {
    /// number of heavy atoms within 1.5 nm
    pub(super) count: f64,
    /// sum of V r⁻⁴ over atoms with the relative volume V and the distance r, nm⁻⁴
    pub(super) volume: f64,
}

impl HeavyAtoms {
    /// Collects the heavy atoms that contribute to the burial. Positions are in nm.
    pub(super) fn new(structure: &Structure, positions: &[Vec3]) -> Self {
        let residue_of = structure.residue_of_atoms();
        let counts = |&atom: &usize| {
            let residue = &structure.residues[residue_of[atom] as usize];
            structure.atoms[atom].element > 1 && !IGNORED.contains(&residue.name.as_str())
        };
        let heavy: Vec<usize> = (0..structure.atoms.len()).filter(counts).collect();
        let positions: Vec<Vec3> = heavy.iter().map(|&atom| positions[atom]).collect();
        let volume = |atom: &crate::structure::Atom| match (atom.element, atom.name.as_str()) {
            (6, "C" | "CA") => VOLUMES[0].1,
            (6, _) => ALIPHATIC,
            (element, _) => VOLUMES.iter().find(|(of, _)| *of == element).map_or(1.0, |(_, volume)| *volume),
        };
        let properties = heavy.iter().map(|&atom| (residue_of[atom], volume(&structure.atoms[atom])));
        Self { atoms: Neighbours::new(None, &positions, REACH), properties: properties.collect() }
    }

    /// Returns the burial of the point `center` (nm) by the atoms of residues other than `residue`.
    pub(super) fn around(&self, center: Vec3, residue: usize) -> Burial {
        let mut burial = Burial::default();
        self.atoms.visit(center, |atom, displacement| {
            let (of, volume) = self.properties[atom as usize];
            if of as usize == residue {
                return;
            }
            let squared = displacement.norm_squared();
            burial.volume += volume / squared.max(LEAST_DISTANCE * LEAST_DISTANCE).powi(2);
            burial.count += f64::from(u8::from(squared < COUNTED * COUNTED));
        });
        burial
    }
}

impl Burial {
    /// Returns the weight w of the burial of a group: 0 on the surface, 1 for a buried group.
    pub(super) fn weight(&self) -> f64 {
        ((self.count - FEWEST) / (MOST - FEWEST)).clamp(0.0, 1.0)
    }

    /// Returns the weight of the burial of a pair of groups: 0 on the surface, 1 for a buried pair.
    pub(super) fn pair_weight(pair: [&Burial; 2]) -> f64 {
        let [a, b] = pair;
        Burial { count: 0.5 * (a.count + b.count), volume: 0.0 }.weight()
    }

    /// Returns the shift of the pKa of a group by desolvation. Desolvation raises the pKa of acids and lowers the pKa
    /// of bases.
    pub(super) fn desolvation(&self, charge: f64) -> f64 {
        let scale = 1.0 - (1.0 - ON_SURFACE) * (1.0 - self.weight());
        -charge * PREFACTOR * self.volume * scale
    }
}
