//! Tests of reading and cleaning entries, with small entries that the tests write.

mod bonds;
mod choices;
mod damage;
mod ends;
mod mmcif;
mod sequences;

use super::{Cleaned, Decision, Entry, Options, Subject, clean, parse};

/// Contents of an ATOM or HETATM line, with coordinates in Å.
struct Line<'a> {
    is_hetero: bool,
    serial: usize,
    name: &'a str,
    location: char,
    residue: &'a str,
    chain: char,
    number: i32,
    code: char,
    at: [f64; 3],
    occupancy: f64,
    element: &'a str,
}

impl Default for Line<'_> {
    fn default() -> Self {
        Self {
            is_hetero: false,
            serial: 1,
            name: "CA",
            location: ' ',
            residue: "ALA",
            chain: 'A',
            number: 1,
            code: ' ',
            at: [0.0; 3],
            occupancy: 1.0,
            element: "",
        }
    }
}

impl Line<'_> {
    fn text(&self) -> String {
        let record = if self.is_hetero { "HETATM" } else { "ATOM  " };
        let name = if self.name.len() == 4 { self.name.to_owned() } else { format!(" {:<3}", self.name) };
        let [x, y, z] = self.at;
        format!(
            "{record}{:>5} {name}{}{:>3} {}{:>4}{}   {x:8.3}{y:8.3}{z:8.3}{:6.2}{:6.2}          {:>2}\n",
            self.serial,
            self.location,
            self.residue,
            self.chain,
            self.number,
            self.code,
            self.occupancy,
            0.0,
            self.element
        )
    }
}

/// Returns the ATOM lines of the backbone and of CB of an amino acid, at position `slot` of a straight chain whose
/// peptide bonds are 1.33 Å long.
fn amino_acid(residue: &str, chain: char, number: i32, slot: f64) -> String {
    let x = 3.8 * slot;
    let atoms = [
        ("N", [x, 0.0, 0.0]),
        ("CA", [x + 1.2, 0.8, 0.0]),
        ("C", [x + 2.47, 0.0, 0.0]),
        ("O", [x + 2.5, -1.2, 0.0]),
        ("CB", [x + 1.2, 2.3, 0.0]),
    ];
    let kept = atoms.into_iter().filter(|(name, _)| residue != "GLY" || *name != "CB");
    kept.map(|(name, at)| Line { name, residue, chain, number, at, ..Line::default() }.text()).collect()
}

fn chain_of(residues: &[(&str, i32, f64)]) -> String {
    residues.iter().map(|&(residue, number, slot)| amino_acid(residue, 'A', number, slot)).collect()
}

#[track_caller]
fn entry_of(text: &str) -> Entry {
    parse(text.as_bytes(), None).unwrap_or_else(|problem| panic!("{problem}"))
}

#[track_caller]
fn cleaned_with(text: &str, options: &Options) -> Cleaned {
    clean(&entry_of(text), options).unwrap_or_else(|problem| panic!("{problem}"))
}

#[track_caller]
fn cleaned(text: &str) -> Cleaned {
    cleaned_with(text, &Options::default())
}

impl Cleaned {
    fn said(&self, subject: Subject) -> Vec<String> {
        let of_subject = |decision: &&Decision| decision.subject == subject;
        self.decisions.iter().filter(of_subject).map(Decision::to_string).collect()
    }

    fn names(&self) -> Vec<&str> {
        self.structure.residues.iter().map(|residue| residue.name.as_str()).collect()
    }

    fn atom_names(&self) -> Vec<&str> {
        self.structure.atoms.iter().map(|atom| atom.name.as_str()).collect()
    }

    /// Returns the bonds as texts of residue indices and atom names, such as `0:C 1:N`.
    fn bond_names(&self) -> Vec<String> {
        let residues = self.structure.residue_of_atoms();
        let name = |atom: u32| format!("{}:{}", residues[atom as usize], self.structure.atoms[atom as usize].name);
        self.structure.bonds.iter().map(|&[a, b]| format!("{} {}", name(a), name(b))).collect()
    }
}
