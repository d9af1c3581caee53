//! Overlapping atoms: overlapping waters and ions are left out, and entries with other overlaps are refused.

use std::collections::HashSet;

use md_engine::error::Problem;
use md_engine::vec3::Vec3;

use super::assembly::{Built, Copied};
use super::choose::{Picked, label};
use super::decision::{Decision, Subject};
use super::metals::{DONORS, is_metal};
use super::model::{Entry, LinkKind};
use super::near::Grid;
use crate::structure::{Structure, bonds_between, neighbours};

/// Distance (nm) below which a water or an ion counts as overlapping with another atom. The oxygens of waters around
/// lithium, the smallest common ion, are at 0.19 nm (H. Ohtaki and T. Radnai, Chem. Rev. 93, 1157 (1993),
/// doi:10.1021/cr00019a014).
const SHARED_PLACE: f64 = 0.18;
/// Distance (nm) below which a metal ion overlaps with an oxygen, nitrogen or sulfur of another residue. Above this
/// distance the two atoms are taken as bonded: M–OH and M=O bonds are 0.16 to 0.19 nm long, and the positions of metals
/// in crystals may be wrong by a few hundredths.
const METAL_AND_DONOR: f64 = 0.12;
/// Distance (nm) below which two atoms cannot both exist. The shortest bond, O–H, is 0.096 nm long.
pub(crate) const SAME_PLACE: f64 = 0.08;
/// Distance (nm) below which two heavy atoms of different residues cannot both exist without a bond. The shortest bonds
/// of heavy atoms in biomolecules, C=O, are 0.120 nm long (F. H. Allen et al., J. Chem. Soc. Perkin Trans. 2, S1
/// (1987), doi:10.1039/P298700000S1).
const SHORTEST_HEAVY: f64 = 0.12;
/// Distance (nm) up to which two heavy atoms of different residues without a bond are reported. Heavy atoms in contact
/// are farther apart: the shortest hydrogen bonds are 0.24 nm long.
const CONTACT: f64 = 0.2;
/// Largest number of contacts that are reported one by one.
const MOST_CONTACTS: usize = 20;
/// Length (nm) of the longest bond that is accepted. The longest bond in standard residues, S–S, is 0.205 nm long. The
/// limit is larger, because some structures are inaccurate.
const LONGEST_BOND: f64 = 0.3;

/// Leaves out waters and ions that overlap with other atoms. Overlaps have two causes. Every operator copies a water or
/// ion on a symmetry axis, and a file may list a site several times with partial occupancies. If several waters and
/// ions overlap, only the first of these residues is kept, and metals before all others. A residue of a single atom
/// with a bond that was found by its length is neither a water nor an ion.
pub(super) fn leave_out(entry: &Entry, picked: &[Picked], built: &mut Built, decisions: &mut Vec<Decision>) {
    let found = entry.links.iter().filter(|link| link.kind == LinkKind::Found).flat_map(|link| &link.ends);
    let bonded: HashSet<(&str, i32, Option<char>, &str)> =
        found.map(|end| (end.chain.as_str(), end.number, end.insertion_code, end.residue.as_str())).collect();
    let is_bonded = |residue: &Picked| {
        let Picked { chain, number, insertion_code, given, .. } = residue;
        bonded.contains(&(entry.chains[*chain].id.as_str(), *number, *insertion_code, given.as_str()))
    };
    let heavy = |copy: usize| {
        let source = &built.copies[copy];
        let atoms = picked[source.residue].atoms.iter().filter(|atom| atom.element != 1);
        atoms.map(|atom| (atom.element, built.operators[source.operator].apply(atom.position)))
    };
    let (mut elements, mut positions): (Vec<u8>, Vec<Vec3>) = (vec![], vec![]);
    let mut copy_of: Vec<usize> = vec![];
    for copy in 0..built.copies.len() {
        for (element, position) in heavy(copy) {
            elements.push(element);
            positions.push(position);
        }
        copy_of.resize(positions.len(), copy);
    }
    let is_single = |copy: usize| {
        let source = &picked[built.copies[copy].residue];
        !source.is_polymer && !is_bonded(source) && heavy(copy).count() == 1
    };
    let is_single: Vec<bool> = (0..built.copies.len()).map(is_single).collect();
    let grid = Grid::new(&positions, 0..positions.len() as u32, SHARED_PLACE);
    let mut is_left_out = vec![false; built.copies.len()];
    let rank = |atom: usize| (!is_metal(elements[atom]), copy_of[atom]);
    let mut singles: Vec<usize> = (0..positions.len()).filter(|&atom| is_single[copy_of[atom]]).collect();
    singles.sort_by_key(|&atom| rank(atom));
    for atom in singles {
        let overlaps = |(distance, other): (f64, u32)| {
            let other = other as usize;
            let [own, others] = [atom, other].map(|atom| elements[atom]);
            let is_bond = |metal, donor| is_metal(metal) && DONORS.contains(&donor) && distance > METAL_AND_DONOR;
            let is_kept = !is_single[copy_of[other]] || (rank(other) < rank(atom) && !is_left_out[copy_of[other]]);
            is_kept && !is_bond(own, others) && !is_bond(others, own)
        };
        is_left_out[copy_of[atom]] = grid.around(atom as u32).into_iter().any(overlaps);
    }
    let count = is_left_out.iter().filter(|&&is_left_out| is_left_out).count();
    if count > 0 {
        let is_ion = |copy: &&Copied| picked[copy.residue].name != "HOH";
        let left_out = built.copies.iter().zip(&is_left_out).filter(|(_, is_left_out)| **is_left_out);
        let ions: Vec<String> = left_out
            .map(|(copy, _)| copy)
            .filter(is_ion)
            .map(|copy| {
                let Picked { name, number, insertion_code, .. } = &picked[copy.residue];
                label(name, *number, *insertion_code, &built.chains[copy.chain])
            })
            .collect();
        let ions = if ions.is_empty() { String::new() } else { format!(", among them {}", ions.join(", ")) };
        let mut flags = is_left_out.iter();
        built.copies.retain(|_| flags.next() == Some(&false));
        let what = format!("left out {count} waters and ions{ions}");
        let why = format!(
            "they are nearer than {SHARED_PLACE} nm to other atoms, such as waters and ions on a symmetry axis or with partial occupancy"
        );
        decisions.push(Decision::new(Subject::Selection, "the whole entry", what, why));
    }
}

/// Fails if two atoms are at the same place, or if a bond is impossibly long. Atoms with an atomic number below
/// `lightest` are not checked.
pub(crate) fn check(structure: &Structure, positions: &[Vec3], lightest: u8) -> Result<(), Problem> {
    let label = |atom: u32| structure.atom_label(atom as usize);
    let is_checked = |&atom: &u32| structure.atoms[atom as usize].element >= lightest;
    let checked = || (0..structure.atoms.len() as u32).filter(is_checked);
    let grid = Grid::new(positions, checked(), SAME_PLACE);
    for atom in checked() {
        if let Some((distance, other)) = grid.around(atom).first() {
            let message = format!("{} and {} are {distance:.3} nm apart", label(atom), label(*other));
            let overlapping = [atom, *other];
            let heavy = overlapping.map(|atom| heavy_atom(structure, atom));
            let help = match overlapping == heavy {
                true => "remove one of the two overlapping atoms or residues from the file".to_owned(),
                false => format!(
                    "md build places hydrogens by their heavy atoms: correct the positions of {} and {} in the file, or \
                     remove one of these residues",
                    label(heavy[0]),
                    label(heavy[1])
                ),
            };
            return Err(Problem::new(message).help(help));
        }
    }
    for [a, b] in structure.bonds.iter().filter(|bond| bond.iter().all(is_checked)) {
        let distance = (positions[*a as usize] - positions[*b as usize]).norm();
        if distance > LONGEST_BOND {
            let message = format!("{} is {distance:.3} nm from {}, to which it is bonded", label(*a), label(*b));
            return Err(Problem::new(message).help(
                "remove the misplaced atom, and md build rebuilds the atom; if the entry is a frame of a simulation, make molecules whole with md convert --whole",
            ));
        }
    }
    Ok(())
}

/// Returns a decision for each pair of heavy atoms of different residues that are nearer than [`CONTACT`] without a
/// bond. Fails if two of these atoms are nearer than [`SHORTEST_HEAVY`]. Atoms that have a bond to the same atom do not
/// count, and neither do a metal and an atom that coordinates it.
pub(crate) fn contacts(structure: &Structure, positions: &[Vec3]) -> Result<Vec<Decision>, Problem> {
    let residue_of = structure.residue_of_atoms();
    let element = |atom: u32| structure.atoms[atom as usize].element;
    let heavy = || (0..structure.atoms.len() as u32).filter(|&atom| element(atom) > 1);
    let bonded = neighbours(structure.atoms.len(), &structure.bonds);
    let grid = Grid::new(positions, heavy(), CONTACT);
    let mut found = vec![];
    for a in heavy() {
        for (distance, b) in grid.around(a) {
            let is_bond = |metal, donor| is_metal(metal) && DONORS.contains(&donor) && distance > METAL_AND_DONOR;
            let [first, second] = [a, b].map(element);
            if a < b
                && residue_of[a as usize] != residue_of[b as usize]
                && !is_bond(first, second)
                && !is_bond(second, first)
                && bonds_between(&bonded, a as usize, b as usize, 2).is_none()
            {
                found.push((distance, [a, b].map(|atom| structure.atom_label(atom as usize))));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((distance, [a, b])) = found.first().filter(|(distance, _)| *distance < SHORTEST_HEAVY) {
        let help = "remove one of the two overlapping atoms or residues from the file";
        return Err(Problem::new(format!("{a} and {b} are {distance:.3} nm apart")).help(help));
    }
    let why = "atoms without a bond are farther apart: check these atoms, which may be misplaced or lack a bond";
    let more = found.len().saturating_sub(MOST_CONTACTS);
    let listed = found.into_iter().take(MOST_CONTACTS);
    let say = |place: String, what: String| Decision::new(Subject::Bonds, place, what, why);
    let mut decisions: Vec<Decision> = listed
        .map(|(distance, atoms)| {
            say(atoms.join(" and "), format!("made no bond, although they are {distance:.3} nm apart"))
        })
        .collect();
    if more > 0 {
        decisions.push(say("the whole entry".to_owned(), format!("{more} more pairs are up to {CONTACT} nm apart")));
    }
    Ok(decisions)
}

/// Returns the atom to which a hydrogen is bonded, or the atom itself if it is no hydrogen with one bond.
fn heavy_atom(structure: &Structure, atom: u32) -> u32 {
    let partner = |&[a, b]: &[u32; 2]| (a == atom).then_some(b).or((b == atom).then_some(a));
    let is_hydrogen = structure.atoms[atom as usize].element == 1;
    structure.bonds.iter().find_map(partner).filter(|_| is_hydrogen).unwrap_or(atom)
}

#[cfg(test)]
mod tests {
    use md_engine::vec3::vec3;

    use super::*;
    use crate::entry::{Options, clean, parse};
    use crate::structure::{Atom, Residue};

    /// A water whose oxygen is at (x, 0, 0) Å.
    fn water(number: i32, x: f64) -> String {
        format!("HETATM{number:>5}  O   HOH A{number:>4}    {x:8.3}   0.000   0.000  1.00  0.00           O\n")
    }

    #[test]
    fn of_waters_at_one_place_the_first_stays() {
        let numbers = |text: &str, assembly: Option<&str>| -> Vec<i32> {
            let options = Options { assembly: assembly.map(str::to_owned), ..Options::default() };
            let found = clean(&parse(text.as_bytes(), None).unwrap(), &options).unwrap();
            found.structure.residues.iter().map(|residue| residue.number).collect()
        };
        // waters 1 and 2 are 1.7 Å apart, and so are waters 2 and 3; if water 2 is left out, water 3 overlaps with no
        // atom
        let row = [water(1, 0.0), water(2, 1.7), water(3, 3.4), water(4, 8.0)].concat();
        assert_eq!(numbers(&row, None), [1, 3, 4]);
        // a twofold axis along z maps the water on the axis to itself, and the other water to (-5, 0, 0)
        let operator = "\
REMARK 350 BIOMOLECULE: 1
REMARK 350 APPLY THE FOLLOWING TO CHAINS: A
REMARK 350   BIOMT1   1  1.000000  0.000000  0.000000        0.00000
REMARK 350   BIOMT2   1  0.000000  1.000000  0.000000        0.00000
REMARK 350   BIOMT3   1  0.000000  0.000000  1.000000        0.00000
REMARK 350   BIOMT1   2 -1.000000  0.000000  0.000000        0.00000
REMARK 350   BIOMT2   2  0.000000 -1.000000  0.000000        0.00000
REMARK 350   BIOMT3   2  0.000000  0.000000  1.000000        0.00000
";
        assert_eq!(numbers(&[operator, &water(1, 0.0), &water(2, 5.0)].concat(), Some("1")), [1, 2, 2]);
    }

    #[test]
    fn a_metal_near_a_donor_is_bonded_and_stays_before_a_water() {
        let zinc = "HETATM    9 ZN    ZN A   9       0.000   0.000   0.000  1.00  0.00          ZN\n";
        let kept = |x: f64| {
            let text = [&water(1, x), zinc].concat();
            let found = clean(&parse(text.as_bytes(), None).unwrap(), &Options::default()).unwrap();
            let left_out: Vec<String> =
                found.decisions.iter().map(|d| d.what.clone()).filter(|what| what.contains("left out")).collect();
            let names: Vec<String> = found.structure.residues.iter().map(|residue| residue.name.clone()).collect();
            (names.join(" "), left_out.join(""))
        };
        assert_eq!(kept(1.7), ("HOH ZN".to_owned(), String::new()));
        assert_eq!(kept(1.0), ("ZN".to_owned(), "left out 1 waters and ions".to_owned()));
    }

    #[test]
    fn ions_that_are_left_out_are_named() {
        let zinc = |number: u8, x: f64| {
            format!("HETATM    {number} ZN    ZN A   {number}    {x:8.3}   0.000   0.000  0.50  0.00          ZN\n")
        };
        let text = [zinc(1, 0.0), zinc(2, 1.1)].concat();
        let found = clean(&parse(text.as_bytes(), None).unwrap(), &Options::default()).unwrap();
        let what = "left out 1 waters and ions, among them ZN 2 of chain A";
        assert!(found.decisions.iter().any(|decision| decision.what == what), "{:?}", found.decisions);
    }

    #[test]
    fn contacts_of_residues_without_a_bond_are_refused_or_reported() {
        // two residues of one atom each, and an atom of the first residue that is bonded to both
        let found = |elements: [u8; 2], distance: f64, bonds: &[[u32; 2]]| {
            let residue =
                |number: i32, first| Residue { name: "LIG".to_owned(), number, insertion_code: None, chain: 0, first };
            let atom = |name: &str, element| Atom { name: name.to_owned(), element };
            let structure = Structure {
                chains: vec!["A".to_owned()],
                residues: vec![residue(1, 0), residue(2, 2)],
                atoms: vec![atom("M", 6), atom("A", elements[0]), atom("B", elements[1])],
                bonds: bonds.to_vec(),
            };
            let places = [vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 0.0), vec3(distance, 0.0, 0.0)];
            let of_text = |decisions: Vec<Decision>| decisions.iter().map(ToString::to_string).collect::<Vec<String>>();
            contacts(&structure, &places).map(of_text).map_err(|problem| problem.message)
        };
        let none = Ok(vec![]);
        let refusal = "A of LIG 1 of chain A and B of LIG 2 of chain A are 0.119 nm apart";
        assert_eq!(found([6, 8], 0.119, &[]), Err(refusal.to_owned()));
        for distance in [0.121, 0.199] {
            let said = found([8, 8], distance, &[]).unwrap();
            let expected = format!("B of LIG 2 of chain A: made no bond, although they are {distance:.3} nm apart");
            assert!(said.len() == 1 && said[0].contains(&expected), "{said:?}");
        }
        // a disulfide bond is 0.205 nm long
        assert_eq!(found([16, 16], 0.205, &[]), none);
        // hydrogens, bonds, atoms with a bond to the same atom, and metals with atoms that coordinate them
        assert_eq!(found([1, 8], 0.1, &[]), none);
        assert_eq!(found([6, 7], 0.11, &[[1, 2]]), none);
        assert_eq!(found([6, 7], 0.11, &[[0, 1], [0, 2]]), none);
        assert_eq!([found([30, 8], 0.17, &[]), found([16, 26], 0.17, &[])], [none.clone(), none]);
        assert!(found([30, 8], 0.11, &[]).is_err() && found([30, 6], 0.17, &[]).unwrap().len() == 1);
    }

    #[test]
    fn atoms_at_one_place_and_long_bonds_are_refused() {
        let atom = |name: &str| Atom { name: name.to_owned(), element: 6 };
        let structure = Structure {
            chains: vec!["A".to_owned()],
            residues: vec![Residue { name: "LIG".to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 }],
            atoms: vec![atom("C1"), atom("C2")],
            bonds: vec![[0, 1]],
        };
        let refusal = |x: f64| check(&structure, &[vec3(0.0, 0.0, 0.0), vec3(x, 0.0, 0.0)], 1).err().map(|p| p.message);
        assert_eq!(refusal(0.15), None);
        assert_eq!(refusal(0.07).unwrap(), "C1 of LIG 1 of chain A and C2 of LIG 1 of chain A are 0.070 nm apart");
        assert!(refusal(3.0).unwrap().contains("is 3.000 nm from C2 of LIG 1"));
        let mut hydrogens = structure.clone();
        hydrogens.atoms[1].element = 1;
        hydrogens.bonds.clear();
        hydrogens.atoms.push(atom("C3"));
        hydrogens.bonds.push([1, 2]);
        let places = [vec3(0.0, 0.0, 0.0), vec3(0.07, 0.0, 0.0), vec3(0.18, 0.0, 0.0)];
        let problem = check(&hydrogens, &places, 1).unwrap_err();
        let help = problem.help.unwrap();
        assert!(help.contains("positions of C1 of LIG 1 of chain A and C3 of LIG 1 of chain A in the file"), "{help}");
    }
}
