//! Heavy atoms around a residue that is rebuilt, and their repulsion on the rebuilt atoms.

use md_engine::vec3::Vec3;

use super::edit::element_of;
use super::growth::Places;
use super::ideal::Ideal;
use crate::entry::{Cleaned, ResidueKind};

/// Distance (nm) below which two heavy atoms that are not bonded to each other clash. Two heavy atoms in a strong
/// hydrogen bond are 0.24 nm apart.
pub(super) const CLASH: f64 = 0.2;
/// Contact distances (nm) of two heavy atoms: first of nitrogen and oxygen in a hydrogen bond, then of all other pairs.
/// The values are the shortest distances in protein structures (Word et al., J. Mol. Biol. 285, 1711 (1999),
/// doi:10.1006/jmbi.1998.2400).
const TOUCH: [f64; 2] = [0.28, 0.33];
/// Cutoff (nm) of the repulsion between atoms.
const REACH: f64 = 0.6;
/// Largest distance between the atom CA (or C3') of a residue and any atom of the residue, nm.
const EXTENT: f64 = 1.2;

/// An atom of the structure near a residue that is rebuilt.
#[derive(Clone, Copy, Debug)]
struct Near {
    atom: usize,
    position: Vec3,
    is_polar: bool,
    is_water: bool,
    /// index, in the ideal residue, of the rebuilt atom to which the near atom is bonded
    bonded_to: Option<usize>,
}

/// Atoms around a residue.
pub(super) struct Surroundings<'a> {
    ideal: &'a Ideal,
    near: Vec<Near>,
}

/// Repulsion of a conformation by the surrounding atoms, and the nearest atom of another residue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// sum of the repulsions of all pairs of atoms, dimensionless
    pub(super) score: f64,
    /// distance (nm) and index of the nearest atom of another residue; `None` if no atom is near
    pub(super) nearest: Option<(f64, usize)>,
}

impl Room {
    /// Whether the nearest atom of another residue is nearer than [`CLASH`].
    pub(super) fn has_clash(&self) -> bool {
        self.nearest.is_some_and(|(distance, _)| distance < CLASH)
    }
}

fn is_polar(element: u8) -> bool {
    matches!(element, 7 | 8)
}

/// Returns the dimensionless repulsion of two atoms at a distance (nm).
fn repulsion(distance: f64, are_polar: bool) -> f64 {
    let touch = TOUCH[usize::from(!are_polar)];
    if distance > REACH { 0.0 } else { (touch / distance.max(0.05)).powi(12) }
}

impl<'a> Surroundings<'a> {
    /// Finds the heavy atoms around residue `index`. `own` maps atoms of the ideal residue to atoms of the structure.
    pub(super) fn new(cleaned: &Cleaned, index: usize, ideal: &'a Ideal, own: &[Option<usize>], root: Vec3) -> Self {
        let structure = &cleaned.structure;
        let range = structure.residue_atoms(index);
        let mut near = vec![];
        for (residue, info) in cleaned.residues.iter().enumerate() {
            for atom in structure.residue_atoms(residue) {
                let (position, element) = (cleaned.positions[atom], structure.atoms[atom].element);
                let is_own = own.contains(&Some(atom));
                if is_own || element == 1 || (position - root).norm() > EXTENT + REACH {
                    continue;
                }
                let is_water = info.kind == Some(ResidueKind::Water);
                near.push(Near { atom, position, is_polar: is_polar(element), is_water, bonded_to: None });
            }
        }
        for &[a, b] in &structure.bonds {
            for (inner, outer) in [(a as usize, b as usize), (b as usize, a as usize)] {
                if range.contains(&inner)
                    && let Some(near) = near.iter_mut().find(|near| near.atom == outer)
                {
                    near.bonded_to = own.iter().position(|&atom| atom == Some(inner));
                }
            }
        }
        Self { ideal, near }
    }

    /// Computes the repulsion of the atoms `grown` by the surrounding atoms, with or without the waters of the entry.
    /// Pairs of atoms that are one or two bonds apart are left out.
    pub(super) fn room(&self, places: &Places, grown: &[usize], with_waters: bool) -> Room {
        let mut room = Room { score: 0.0, nearest: None };
        for &atom in grown {
            let Some(position) = places[atom] else { continue };
            let polar = is_polar(element_of(&self.ideal.names[atom]));
            for near in self.near.iter().filter(|near| with_waters || !near.is_water) {
                if near.bonded_to.is_some_and(|to| self.ideal.steps[atom][to] <= 1) {
                    continue;
                }
                let distance = (near.position - position).norm();
                room.score += repulsion(distance, polar && near.is_polar);
                if room.nearest.is_none_or(|(least, _)| distance < least) {
                    room.nearest = Some((distance, near.atom));
                }
            }
            for (other, place) in places.iter().enumerate().filter(|(other, _)| self.ideal.steps[atom][*other] > 2) {
                let both = polar && is_polar(element_of(&self.ideal.names[other]));
                room.score += place.map_or(0.0, |place| repulsion((place - position).norm(), both));
            }
        }
        room
    }

    /// Returns the waters that clash with the atoms `grown`.
    pub(super) fn waters(&self, places: &Places, grown: &[usize]) -> Vec<usize> {
        let clashes = |near: &&Near| {
            let is_near = |place: &Vec3| (*place - near.position).norm() < CLASH;
            near.is_water && grown.iter().filter_map(|&atom| places[atom].as_ref()).any(is_near)
        };
        self.near.iter().filter(clashes).map(|near| near.atom).collect()
    }
}
