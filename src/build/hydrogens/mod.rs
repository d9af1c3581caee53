//! Addition of hydrogens to a structure: protonation states at a pH, and positions of hydrogens.
//!
//! A table lists the hydrogens of each residue, and the variants of residues that differ in protonation. Hydrogens
//! whose positions follow from the heavy atoms are placed first. Afterwards, hydrogens that can rotate about a bond and
//! hydrogens of water are placed at the positions with the lowest energy. A side chain of Asn, Gln or His is reported
//! if the opposite orientation has clearly better hydrogen bonds and contacts; on request, the side chain is rotated by
//! 180°.

mod center;
mod contact;
mod energy;
mod flips;
mod metals;
mod network;
mod pka;
mod protonation;
mod rotors;
mod stated;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use md_engine::error::{Problem, Result};
use md_engine::vec3::Vec3;

use crate::structure::{Atom, Component, Residue, Structure, neighbours};
use center::{Center, Place};
use energy::Surroundings;
pub use flips::{Flips, MARGIN, Orientation};
use metals::Metals;
pub(crate) use pka::TIE;
pub use pka::{Ionizable, Pka, Shifts};
pub use protonation::{Choice, PkaModel, Reason};
use rotors::Rotor;
pub use stated::Contradiction;
use table::Table;

/// Settings of the protonation.
#[derive(Clone, Debug, PartialEq)]
pub struct Protonation {
    /// pH of the solution
    pub ph: f64,
    /// model of the pKa values
    pub model: PkaModel,
    /// variants that the user or the file gives: index of the residue, and name of the variant, such as `HID`
    pub given: Vec<(usize, String)>,
    /// options that determine which side chains of Asn, Gln and His are flipped
    pub flips: Flips,
    /// nonstandard residues whose hydrogens are defined by a force field or a topology file
    pub components: Vec<Component>,
}

/// Returns the protonation variant that a residue name states, as `HID`, CHARMM's `HSD` and `GLUP` and GROMACS's `HISH`
/// do; `None` for names that state no variant.
pub fn variant_of_name(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 20] = [
        ("HID", "HID"),
        ("HIE", "HIE"),
        ("HIP", "HIP"),
        ("HSD", "HID"),
        ("HSE", "HIE"),
        ("HSP", "HIP"),
        ("HISA", "HID"),
        ("HISB", "HIE"),
        ("HISD", "HID"),
        ("HISE", "HIE"),
        ("HISH", "HIP"),
        ("ASH", "ASH"),
        ("ASPH", "ASH"),
        ("ASPP", "ASH"),
        ("GLH", "GLH"),
        ("GLUH", "GLH"),
        ("GLUP", "GLH"),
        ("LYN", "LYN"),
        ("LSN", "LYN"),
        ("CYM", "CYM"),
    ];
    NAMES.iter().find(|(alias, _)| *alias == name).map(|(_, variant)| *variant)
}

/// A structure with all hydrogens.
#[derive(Clone, Debug)]
pub struct Hydrogenated {
    /// the structure, in which the hydrogens of each atom directly follow the atom
    pub structure: Structure,
    /// positions in nm
    pub positions: Vec<Vec3>,
    /// chosen variants of the residues that have several variants
    pub choices: Vec<Choice>,
    /// pKa values of all ionisable groups; none with [`PkaModel::Water`]
    pub pkas: Vec<Pka>,
    /// orientations of side chains of Asn, Gln and His that were compared, or flipped on request
    pub orientations: Vec<Orientation>,
    /// residues whose hydrogens in the input contradict the chosen variants
    pub contradictions: Vec<Contradiction>,
    /// indices of residues that are not in the table of hydrogens, and that keep the hydrogens of the input
    pub unknown: Vec<usize>,
}

/// A hydrogen that is added to a structure.
struct Added {
    name: String,
    /// atom to which the hydrogen is bonded
    parent: usize,
    /// position in nm
    position: Vec3,
}

/// Adds hydrogens to a structure. Existing hydrogens are first removed from residues in the table and from residues of
/// [`Protonation::components`].
pub fn add(structure: &Structure, positions: &[Vec3], settings: &Protonation) -> Result<Hydrogenated> {
    structure.check()?;
    if positions.len() != structure.atoms.len() || positions.iter().any(|position| !position.is_finite()) {
        return Err(Problem::new("the structure has atoms without a position").into());
    }
    let mut table = Table::read()?;
    settings.components.iter().for_each(|component| table.add(component));
    let input = structure;
    let (structure, positions) = without_hydrogens(input, positions, &table);
    let bonded = neighbours(structure.atoms.len(), &structure.bonds);
    let mut heavy = Heavy { structure: &structure, positions, bonded };
    let mut orientations = vec![];
    for &residue in &settings.flips.given {
        let Some(turned) = flips::turned(&heavy, residue) else {
            let label = structure.residue_label(residue);
            let problem = Problem::new(format!("{label} has no side chain that can be turned by 180 degrees"));
            return Err(problem.help("only free amides of ASN and GLN and free rings of HIS can be turned").into());
        };
        heavy.set(turned);
        orientations.push(Orientation { residue, is_turned: true, advantage: None });
    }
    let pkas = match settings.model {
        PkaModel::Water => vec![],
        PkaModel::Environment => pka::estimate(&structure, &heavy.positions, &heavy.bonded),
    };
    let mut choices = protonation::choose(&structure, &heavy.bonded, &table, settings, &pkas)?;
    let metals = Metals::new(&heavy);
    metals.choose(&heavy, &mut choices)?;
    let mut wanted = protonation::hydrogens(&structure, &heavy.bonded, &table, &choices)?;
    protonation::check_valences(&structure, &heavy.bonded, &wanted)?;
    let given = &settings.flips.given;
    let groups = flips::find(&heavy, &choices, true, given, |atom| metals.coordinate(&heavy, atom));
    let (mut added, surroundings, rotors) = heavy.place(&wanted);
    if !groups.is_empty() {
        let entry = choices.clone();
        let mut compared = flips::decide(&heavy, &wanted, &groups, &surroundings, &rotors, &mut choices);
        if !settings.flips.proposed && compared.iter().any(|orientation| orientation.is_turned) {
            compared = compared.into_iter().map(Orientation::kept).collect();
            choices = entry;
            let kept = flips::find(&heavy, &choices, false, given, |_| false);
            flips::decide(&heavy, &wanted, &kept, &surroundings, &rotors, &mut choices);
        }
        let turned = compared.iter().filter(|orientation| orientation.is_turned);
        let turned: Vec<_> = turned.filter_map(|orientation| flips::turned(&heavy, orientation.residue)).collect();
        turned.into_iter().for_each(|places| heavy.set(places));
        orientations.extend(compared);
        wanted = protonation::hydrogens(&structure, &heavy.bonded, &table, &choices)?;
        added = heavy.place(&wanted).0;
    }
    let unknown = (0..structure.residues.len()).filter(|&r| table.find(&structure.residues[r].name).is_none());
    let unknown = unknown.collect();
    let contradictions = stated::contradictions(input, &table, &choices);
    let (structure, positions) = with_hydrogens(&structure, &heavy.positions, added);
    Ok(Hydrogenated { structure, positions, choices, pkas, orientations, contradictions, unknown })
}

/// The heavy atoms of a structure, with the neighbours of each atom.
struct Heavy<'a> {
    structure: &'a Structure,
    positions: Vec<Vec3>,
    bonded: Vec<Vec<u32>>,
}

impl Heavy<'_> {
    /// Whether the bonds of an atom lie in a plane. A carbon is planar if it has three bonds; a nitrogen is planar if
    /// it has three bonds, of which at least one leads to a planar carbon. `wanted` lists the hydrogens of all atoms.
    fn is_planar(&self, atom: usize, wanted: &[Vec<String>]) -> bool {
        let three = |atom: usize| self.bonded[atom].len() + wanted[atom].len() == 3;
        let element = |atom: usize| self.structure.atoms[atom].element;
        let carbon = |&other: &u32| element(other as usize) == 6 && three(other as usize);
        match element(atom) {
            6 => three(atom),
            7 => three(atom) && self.bonded[atom].iter().any(carbon),
            _ => false,
        }
    }

    fn center(&self, atom: usize, wanted: &[Vec<String>]) -> Center {
        let place = |&other: &u32| self.positions[other as usize];
        let only = match self.bonded[atom].as_slice() {
            [only] => Some(*only as usize),
            _ => None,
        };
        let beyond = only.and_then(|only| self.bonded[only].iter().find(|&&other| other as usize != atom));
        Center {
            position: self.positions[atom],
            element: self.structure.atoms[atom].element,
            is_planar: self.is_planar(atom, wanted),
            neighbours: self.bonded[atom].iter().map(place).collect(),
            beyond: beyond.map(place),
            neighbour_is_planar: only.is_some_and(|only| self.is_planar(only, wanted)),
        }
    }

    /// Sets the positions of the given atoms.
    fn set(&mut self, places: Vec<(usize, Vec3)>) {
        places.into_iter().for_each(|(atom, position)| self.positions[atom] = position);
    }

    /// Places hydrogens. `wanted` lists, for each atom, the names of the hydrogens to be placed. Returns the placed
    /// hydrogens, the surroundings that contain all atoms and hydrogens, and the groups of hydrogens that can rotate.
    fn place(&self, wanted: &[Vec<String>]) -> (Vec<Added>, Surroundings, Vec<Rotor<'_>>) {
        let (mut added, mut rotors) = (vec![], vec![]);
        let mut surroundings = Surroundings::new(self.structure, &self.positions, &self.bonded, wanted);
        for (parent, names) in wanted.iter().enumerate().filter(|(_, names)| !names.is_empty()) {
            let center = self.center(parent, wanted);
            match center.place(names.len()) {
                Place::Fixed(places) => {
                    for (name, &position) in names.iter().zip(&places) {
                        surroundings.add_hydrogen(parent, center.element, position);
                        added.push(Added { name: name.clone(), parent, position });
                    }
                }
                place => rotors.push(Rotor {
                    parent,
                    element: center.element,
                    position: center.position,
                    neighbours: &self.bonded[parent],
                    names: names.clone(),
                    place,
                }),
            }
        }
        added.extend(rotors::place(&rotors, &mut surroundings));
        (added, surroundings, rotors)
    }
}

/// Returns the structure without the hydrogens of the residues in the table.
fn without_hydrogens(structure: &Structure, positions: &[Vec3], table: &Table) -> (Structure, Vec<Vec3>) {
    let residue_of = structure.residue_of_atoms();
    let is_known: Vec<bool> = structure.residues.iter().map(|residue| table.find(&residue.name).is_some()).collect();
    let is_kept = |atom: usize| structure.atoms[atom].element != 1 || !is_known[residue_of[atom] as usize];
    let kept: Vec<usize> = (0..structure.atoms.len()).filter(|&atom| is_kept(atom)).collect();
    let atoms = kept.iter().map(|&atom| (structure.atoms[atom].clone(), positions[atom], residue_of[atom]));
    assembled(structure, atoms.collect(), structure.bonds.iter().copied(), &kept)
}

/// Returns the structure with added hydrogens. Each hydrogen follows the atom to which the hydrogen is bonded.
fn with_hydrogens(structure: &Structure, positions: &[Vec3], added: Vec<Added>) -> (Structure, Vec<Vec3>) {
    let residue_of = structure.residue_of_atoms();
    let heavy = structure.atoms.len();
    let mut of_parent: HashMap<usize, Vec<usize>> = HashMap::new();
    added.iter().enumerate().for_each(|(k, hydrogen)| of_parent.entry(hydrogen.parent).or_default().push(k));
    let (mut atoms, mut old) = (vec![], vec![]);
    for atom in 0..heavy {
        atoms.push((structure.atoms[atom].clone(), positions[atom], residue_of[atom]));
        old.push(atom);
        for &k in of_parent.get(&atom).into_iter().flatten() {
            let Added { name, position, .. } = &added[k];
            atoms.push((Atom { name: name.clone(), element: 1 }, *position, residue_of[atom]));
            old.push(heavy + k);
        }
    }
    let to_hydrogens = added.iter().enumerate().map(|(k, hydrogen)| [hydrogen.parent as u32, (heavy + k) as u32]);
    assembled(structure, atoms, structure.bonds.iter().copied().chain(to_hydrogens), &old)
}

/// Returns a structure with the chains of `of` and the given atoms. Each atom has a position and the index of its
/// residue in `of`. The indices in `bonds` refer to an older list of atoms: `old` holds, for each of the given atoms,
/// the index of this atom in the older list.
fn assembled(
    of: &Structure,
    atoms: Vec<(Atom, Vec3, u32)>,
    bonds: impl Iterator<Item = [u32; 2]>,
    old: &[usize],
) -> (Structure, Vec<Vec3>) {
    let new: HashMap<usize, u32> = old.iter().copied().zip(0..).collect();
    let renumbered = bonds.filter_map(|[a, b]| Some([*new.get(&(a as usize))?, *new.get(&(b as usize))?]));
    let mut structure = Structure { chains: of.chains.clone(), bonds: renumbered.collect(), ..Structure::default() };
    let mut positions = vec![];
    let mut last = None;
    for (atom, position, residue) in atoms {
        if last != Some(residue) {
            let first = structure.atoms.len() as u32;
            structure.residues.push(Residue { first, ..of.residues[residue as usize].clone() });
            last = Some(residue);
        }
        structure.atoms.push(atom);
        positions.push(position);
    }
    (structure, positions)
}
