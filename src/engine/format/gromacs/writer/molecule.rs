//! Writer of `[ moleculetype ]` and its sections.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{Display, Write as _};

use super::atom_types::{AtomTypes, five};
use super::water::RigidWater;
use super::{Number, Parsed, line, sites, word};
use crate::system::{Bond, BondGraph, BondedTerms, RyckaertBellemans, Topology, Torsion, ordered};

/// Largest value of `nrexcl` that is written. All pairs up to `nrexcl` bonds apart are excluded.
const MOST_EXCLUDED_BONDS: usize = 3;
/// Maximum number of excluded partners per line of `[ exclusions ]`.
const PARTNERS: usize = 20;

/// Writes a molecule type. `first` is the index of the molecule's first atom in the whole system, for messages.
pub(super) fn write(molecule: &Topology, name: &str, types: &AtomTypes, first: u32, text: &mut String) -> Parsed<()> {
    let chemical = Chemical::new(molecule);
    let water = RigidWater::of(molecule);
    let (bonds, more) = match chemical.exclusions(molecule) {
        // all excluded pairs of a rigid water are listed, because GROMACS derives exclusions only from the first O–H
        // bond of a `[ settles ]` line; the water models of GROMACS list these pairs, too
        (bonds, _) if water.is_some() => (if bonds < 2 { 0 } else { 2 }, molecule.exclusions.pairs().collect()),
        exclusions => exclusions,
    };
    line!(text, "\n[ moleculetype ]\n; name nrexcl\n{name} {bonds}");
    write_atoms(molecule, types, first, text);
    let mut terms = String::new();
    write_bonds(molecule, &chemical, &mut terms);
    write_angles(&molecule.bonded, &mut terms);
    match water {
        Some(water) => {
            let settles = format!("\n[ settles ]\n; O funct OH HH\n1 1 {} {}\n", Number(water.oh), Number(water.hh));
            match water.by_terms {
                true => line!(text, "\n#ifndef FLEXIBLE{settles}#else{terms}#endif"),
                false => text.extend([settles, terms]),
            }
        }
        None => {
            text.push_str(&terms);
            write_constraints(molecule, &chemical, text);
        }
    }
    write_dihedrals(&molecule.bonded, text);
    write_pairs(molecule, types, text);
    let maps = molecule.bonded.cmaps.iter().map(|map| row(&five(map), "1", &[]));
    section("cmap", maps, text);
    sites::write(&molecule.virtual_sites, first, text)?;
    let lines = more.chunk_by(|a, b| a[0] == b[0]).flat_map(|pairs| pairs.chunks(PARTNERS)).map(|pairs| {
        let partners = pairs.iter().map(|pair| format!(" {}", pair[1] + 1));
        format!("{}{}", pairs[0][0] + 1, partners.collect::<String>())
    });
    section("exclusions", lines, text);
    Ok(())
}

/// Writes the heading and the lines of a section. Nothing is written if there are no lines.
fn section(name: &str, lines: impl Iterator<Item = String>, text: &mut String) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        line!(text, "\n[ {name} ]");
        lines.for_each(|own| line!(text, "{own}"));
    }
}

/// Returns a line with atoms, function type and parameters.
fn row(atoms: &[u32], function: impl Display, parameters: &[f64]) -> String {
    let mut text = String::new();
    atoms.iter().for_each(|atom| {
        let _ = write!(text, "{:>5} ", atom + 1);
    });
    let _ = write!(text, "{function}");
    parameters.iter().for_each(|&value| {
        let _ = write!(text, " {}", Number(value));
    });
    text
}

fn write_atoms(molecule: &Topology, types: &AtomTypes, first: u32, text: &mut String) {
    text.push_str("\n[ atoms ]\n; nr type resnr residue atom cgnr charge mass\n");
    let numbers = residue_numbers(molecule);
    for (i, atom) in (0..).zip(&molecule.atoms) {
        let residue = atom.residue as usize;
        line!(
            text,
            "{number:>5} {:<8} {:>5} {:<5} {:<5} {number:>5} {} {}",
            types.name(first + i),
            numbers[residue],
            word(molecule.residues[residue].name.as_str()),
            word(atom.name.as_str()),
            Number(atom.charge),
            Number(atom.mass),
            number = i + 1,
        );
    }
}

/// Returns the residue numbers as text. The residue of a molecule with a single residue gets the number 1, because
/// GROMACS itself numbers the residues of single-residue molecules. An insertion code follows the number. Consecutive
/// residues that would otherwise have the same name, number and insertion code are distinguished by the code A.
fn residue_numbers(molecule: &Topology) -> Vec<String> {
    let residues = &molecule.residues;
    if residues.len() == 1 {
        return vec!["1".to_owned()];
    }
    let mut repeated = false;
    let code = |residue: usize| molecule.chain_labels.get(residue).and_then(|label| label.insertion_code);
    let key = |residue: usize| (residues[residue].name, residues[residue].number, code(residue));
    let numbers = (0..residues.len()).map(|k| {
        repeated = !repeated && k > 0 && key(k - 1) == key(k);
        let code = if repeated { Some('A') } else { code(k).filter(char::is_ascii_alphabetic) };
        format!("{}{}", residues[k].number, code.map(String::from).unwrap_or_default())
    });
    numbers.collect()
}

/// Pairs of atoms with a chemical bond. Pairs with a virtual site are left out.
struct Chemical(BTreeSet<[u32; 2]>);

impl Chemical {
    fn new(molecule: &Topology) -> Self {
        let sites: HashSet<u32> = molecule.virtual_sites.iter().map(|site| site.site).collect();
        let bonds = molecule.connectivity.iter().filter(|pair| !pair.iter().any(|atom| sites.contains(atom)));
        Chemical(bonds.map(|&pair| ordered(pair)).collect())
    }

    fn contains(&self, pair: [u32; 2]) -> bool {
        self.0.contains(&ordered(pair))
    }

    /// Returns the largest n (`nrexcl`) for which all pairs up to n bonds apart are excluded, and the excluded pairs
    /// that are further apart.
    fn exclusions(&self, molecule: &Topology) -> (usize, Vec<[u32; 2]>) {
        let bonds: Vec<[u32; 2]> = self.0.iter().copied().collect();
        let mut graph = BondGraph::new(molecule.atoms.len(), &bonds);
        let mut shells = vec![BTreeSet::new(); MOST_EXCLUDED_BONDS];
        for atom in 0..molecule.atoms.len() as u32 {
            for (shell, near) in shells.iter_mut().zip(graph.shells(atom, MOST_EXCLUDED_BONDS)) {
                shell.extend(near.into_iter().filter(|&other| other > atom).map(|other| [atom, other]));
            }
        }
        let is_excluded = |shell: &&BTreeSet<[u32; 2]>| shell.iter().all(|&[i, j]| molecule.exclusions.contains(i, j));
        let mut implied: Vec<&BTreeSet<[u32; 2]>> = shells.iter().take_while(is_excluded).collect();
        while implied.len() > 1 && implied.last().is_some_and(|shell| shell.is_empty()) {
            implied.pop();
        }
        let more = molecule.exclusions.pairs().filter(|pair| !implied.iter().any(|shell| shell.contains(pair)));
        (implied.len(), more.collect())
    }
}

/// Writes bonds. Function type 1 is for chemical bonds, 2 for GROMOS-96 bonds, 6 for other distances, and 5 for
/// chemical bonds that have neither energy nor constraint.
fn write_bonds(molecule: &Topology, chemical: &Chemical, text: &mut String) {
    let mut open: BTreeSet<[u32; 2]> = chemical.0.clone();
    // an H–H bond of a flexible water is written with function type 1; the reader turns a bond between two hydrogens of
    // a water into a harmonic distance
    let is_brace = |[i, j]: [u32; 2]| molecule.is_water_brace([i, j]) && molecule.exclusions.contains(i, j);
    let bonds = molecule.bonded.bonds.iter().map(|bond| {
        let function = if open.remove(&ordered(bond.atoms)) || is_brace(bond.atoms) { 1 } else { 6 };
        row(&bond.atoms, function, &[bond.length, bond.force_constant])
    });
    let mut lines: Vec<String> = bonds.collect();
    lines.extend(molecule.bonded.g96_bonds.iter().map(|bond| {
        open.remove(&ordered(bond.atoms));
        row(&bond.atoms, 2, &[bond.length, bond.force_constant])
    }));
    molecule.constraints.iter().for_each(|constraint| {
        open.remove(&ordered(constraint.atoms));
    });
    let (_, alone) = split_urey_bradleys(&molecule.bonded);
    let distances = molecule.bonded.distances.iter().chain(&alone);
    lines.extend(distances.map(|term| row(&term.atoms, 6, &[term.length, term.force_constant])));
    lines.extend(open.iter().map(|pair| row(pair, 5, &[])));
    section("bonds", lines.into_iter(), text);
}

/// Returns the Urey–Bradley terms that belong to an angle, by the index of the angle, and the Urey–Bradley terms that
/// belong to no angle.
fn split_urey_bradleys(bonded: &BondedTerms) -> (HashMap<usize, Bond>, Vec<Bond>) {
    let (mut paired, mut alone) = (HashMap::new(), vec![]);
    if bonded.urey_bradleys.is_empty() {
        return (paired, alone);
    }
    let ends = bonded.angles.iter().enumerate().map(|(k, angle)| (ordered([angle.atoms[0], angle.atoms[2]]), k));
    let by_ends: HashMap<[u32; 2], usize> = ends.collect();
    for term in &bonded.urey_bradleys {
        match by_ends.get(&ordered(term.atoms)) {
            Some(&angle) if !paired.contains_key(&angle) => {
                paired.insert(angle, *term);
            }
            _ => alone.push(*term),
        }
    }
    (paired, alone)
}

fn write_angles(bonded: &BondedTerms, text: &mut String) {
    let (paired, _) = split_urey_bradleys(bonded);
    let lines = bonded.angles.iter().enumerate().map(|(k, angle)| {
        let own = [angle.angle.to_degrees(), angle.force_constant];
        match paired.get(&k) {
            Some(term) => row(&angle.atoms, 5, &[own[0], own[1], term.length, term.force_constant]),
            None => row(&angle.atoms, 1, &own),
        }
    });
    let g96 = bonded.g96_angles.iter();
    let g96 = g96.map(|angle| row(&angle.atoms, 2, &[angle.angle.to_degrees(), angle.force_constant]));
    section("angles", lines.chain(g96), text);
}

fn write_constraints(molecule: &Topology, chemical: &Chemical, text: &mut String) {
    let lines = molecule.constraints.iter().map(|constraint| {
        let function = if chemical.contains(constraint.atoms) { 1 } else { 2 };
        row(&constraint.atoms, function, &[constraint.length])
    });
    section("constraints", lines, text);
}

fn write_dihedrals(bonded: &BondedTerms, text: &mut String) {
    let periodic = |function: u8| {
        move |term: &Torsion| {
            let own = [term.phase.to_degrees(), term.force_constant, f64::from(term.periodicity)];
            row(&term.atoms, function, &own)
        }
    };
    section("dihedrals", bonded.propers.iter().map(periodic(9)), text);
    let ryckaert_bellemans = |term: &RyckaertBellemans| row(&term.atoms, 3, &term.coefficients);
    section("dihedrals", bonded.ryckaert_bellemans.iter().map(ryckaert_bellemans), text);
    section("dihedrals", bonded.impropers.iter().map(periodic(4)), text);
    let harmonic = bonded.harmonic_impropers.iter();
    let harmonic = harmonic.map(|term| row(&term.atoms, 2, &[term.angle.to_degrees(), term.force_constant]));
    section("dihedrals", harmonic, text);
}

/// Writes 1-4 pairs. Function type 1 is used if the charge product of the pair equals `fudgeQQ` of `[ defaults ]` times
/// the product of the two charges. Otherwise function type 2 is used, and the line of the pair contains the factor and
/// the charges.
fn write_pairs(molecule: &Topology, types: &AtomTypes, text: &mut String) {
    let lines = molecule.bonded.pairs14.iter().map(|pair| {
        let [first, second] = types.pair_parameters(pair);
        let charges = pair.atoms.map(|atom| molecule.atoms[atom as usize].charge);
        if types.has_usual_charges(pair, charges) {
            return format!("{} {first} {second}", row(&pair.atoms, 1, &[]));
        }
        let factor = pair.charge_product / (charges[0] * charges[1]);
        let own = if factor.is_finite() { [factor, charges[0], charges[1]] } else { [1.0, pair.charge_product, 1.0] };
        format!("{} {first} {second}", row(&pair.atoms, 2, &own))
    });
    section("pairs", lines, text);
}
