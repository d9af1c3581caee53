//! Extra points of waters with four and five sites. The AMBER format states which particles are extra points, but not
//! the positions of extra points. The positions of extra points follow from the bond lengths of the water, as in sander
//! and OpenMM.

use super::sections::{Parsed, Sections};
use super::unsupported;
use crate::error::Problem;
use crate::system::{Construction, Topology, VirtualSite, ordered};

/// Cosine of 54.735°, half of the angle of 109.47° between the lone pairs of five-site water (M. W. Mahoney, W. L.
/// Jorgensen, J. Chem. Phys. 112, 8910 (2000), doi:10.1063/1.481505). [`SINE`] is the sine of 54.735°.
const COSINE: f64 = 0.577358966515530;
const SINE: f64 = 0.816490430920117;

/// Returns the virtual sites of a topology: all particles without mass. The atoms and bonds of the topology must be
/// known.
pub(super) fn read(sections: &Sections<'_>, topology: &Topology) -> Parsed<Vec<VirtualSite>> {
    derive(topology, |site, what| {
        let message = format!("atom {} has no mass and is an extra point {what}", site + 1);
        let problem = match sections.get("MASS") {
            Some(section) => section.problem_at(site as usize, message),
            None => Problem::new(message),
        };
        let help = "the format does not contain the positions of extra points; md knows only those of water with four \
            sites (TIP4P, OPC) and five (TIP5P)";
        unsupported(problem, help)
    })
}

/// Returns the virtual sites whose positions follow from atoms and bonds. For a site whose position does not follow
/// from atoms and bonds, `refused` returns the error.
pub(super) fn derive(topology: &Topology, refused: impl Fn(u32, &str) -> Problem) -> Parsed<Vec<VirtualSite>> {
    let lengths = Lengths::new(topology);
    let mut sites = vec![];
    for residue in 0..topology.residues.len() {
        let atoms = topology.residue_atoms(residue);
        let points: Vec<u32> = atoms.filter(|&i| topology.atoms[i].mass == 0.0).map(|i| i as u32).collect();
        let Some(&first) = points.first() else { continue };
        if !topology.is_water(residue) {
            return Err(refused(first, "outside of a water"));
        }
        let water = Water::new(topology, residue, &lengths)
            .ok_or_else(|| refused(first, "in a water whose bond lengths are unknown"))?;
        let placed = match points[..] {
            [point] => water.on_bisector(&lengths, point).map(|construction| vec![construction]),
            [above, below] => water.lone_pairs(&lengths, [above, below]),
            _ => None,
        };
        let placed = placed.ok_or_else(|| refused(first, "whose position cannot be derived from its bonds"))?;
        sites.extend(points.into_iter().zip(placed).map(|(site, construction)| VirtualSite { site, construction }));
    }
    Ok(sites)
}

/// Atoms and distances (nm) of a water.
struct Water {
    /// indices of the oxygen and the two hydrogens
    atoms: [u32; 3],
    oh: f64,
    hh: f64,
}

impl Water {
    fn new(topology: &Topology, residue: usize, lengths: &Lengths) -> Option<Self> {
        let of_element = |element: u8| {
            topology.residue_atoms(residue).filter(move |&i| topology.atoms[i].element == element).map(|i| i as u32)
        };
        let (oxygen, mut hydrogens) = (of_element(8).next()?, of_element(1));
        let atoms @ [o, h1, h2] = [oxygen, hydrogens.next()?, hydrogens.next()?];
        Some(Water { atoms, oh: lengths.of(o, h1)?, hh: lengths.of(h1, h2)? })
    }

    /// Returns the distance (nm) from the oxygen to the midpoint of the hydrogens.
    fn height(&self) -> f64 {
        (self.oh * self.oh - 0.25 * self.hh * self.hh).sqrt()
    }

    /// Returns the construction of the fourth site of a water. The site lies on the bisector of the H–O–H angle, on the
    /// side of the hydrogens. The distance between the site and the oxygen is the length of the bond between oxygen and
    /// site.
    fn on_bisector(&self, lengths: &Lengths, point: u32) -> Option<Construction> {
        let part = lengths.of(self.atoms[0], point)? / self.height();
        Some(Construction::Average3 { atoms: self.atoms, weights: [1.0 - part, 0.5 * part, 0.5 * part] })
    }

    /// Returns the constructions of the fourth and the fifth site of a water. The sites are on the side away from the
    /// hydrogens, one above and one below the plane of the water.
    fn lone_pairs(&self, lengths: &Lengths, points: [u32; 2]) -> Option<Vec<Construction>> {
        let area = self.hh * self.height();
        let placed = points.into_iter().zip([1.0, -1.0]).map(|(point, side)| {
            let distance = lengths.of(self.atoms[0], point)?;
            let weight = -0.5 * COSINE * distance / self.height();
            let cross = side * SINE * distance / area;
            Some(Construction::OutOfPlane { atoms: self.atoms, weights: [weight; 2], cross })
        });
        placed.collect()
    }
}

/// Bond lengths (nm) of residues with extra points, sorted by the atoms of the bond.
struct Lengths(Vec<([u32; 2], f64)>);

impl Lengths {
    fn new(topology: &Topology) -> Self {
        let mut has_points = vec![false; topology.residues.len()];
        let massless = topology.atoms.iter().filter(|atom| atom.mass == 0.0);
        massless.for_each(|atom| has_points[atom.residue as usize] = true);
        let bonds = topology.bonded.bonds.iter();
        let wanted = bonds.filter(|bond| has_points[topology.atoms[bond.atoms[0] as usize].residue as usize]);
        let mut lengths: Vec<([u32; 2], f64)> = wanted.map(|bond| (ordered(bond.atoms), bond.length)).collect();
        lengths.sort_unstable_by_key(|(atoms, _)| *atoms);
        Lengths(lengths)
    }

    fn of(&self, i: u32, j: u32) -> Option<f64> {
        let found = self.0.binary_search_by_key(&[i.min(j), i.max(j)], |(atoms, _)| *atoms).ok()?;
        Some(self.0[found].1)
    }
}
