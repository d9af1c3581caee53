//! Atoms, residues, exclusions and names, in topology order (the order of the input file).

use super::{BondedTerms, Constraint, Methods, VirtualSite};
use crate::error::Problem;
use crate::units::DENSITY;
use std::fmt;
use std::ops::Range;

/// A short name of an atom, residue or type, of at most [`Name::LONGEST`] bytes of UTF-8, which is cheap to copy.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Name([u8; Name::LONGEST]);

impl Name {
    /// Maximum length of a name in bytes. The longest type names of OPLS-AA in GROMACS have nine bytes (`opls_1001`).
    pub const LONGEST: usize = 16;

    /// Makes a name from the trimmed text. Fails if the text is longer than [`Name::LONGEST`].
    pub fn whole(text: &str) -> Result<Self, Problem> {
        if text.trim().len() <= Self::LONGEST {
            return Ok(Self::new(text));
        }
        let problem = Problem::new(format!("the name {} has more than {} bytes", text.trim(), Self::LONGEST));
        Err(problem.help("give the atom, residue or type a shorter name"))
    }

    /// Makes a name from the first [`Name::LONGEST`] bytes of the trimmed text, cut at a character boundary. Readers of
    /// topologies use [`Name::whole`], because atoms or types with long names could otherwise become equal.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        let mut bytes = [0; Self::LONGEST];
        let mut length = text.len().min(Self::LONGEST);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Name(bytes)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|&b| b == 0).unwrap_or(Self::LONGEST);
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// An atom of the topology, with its names, mass, charge and Lennard-Jones type.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Atom {
    /// atom name, e.g. `CA`
    pub name: Name,
    /// force-field type name, e.g. `CT`
    pub type_name: Name,
    /// atomic number; 0 if unknown, or for a massless site
    pub element: u8,
    /// mass in amu
    pub mass: f64,
    /// charge in e
    pub charge: f64,
    /// Lennard-Jones type, an index into [`super::Nonbonded`]
    pub lj_type: u32,
    /// index of the residue in [`Topology::residues`]
    pub residue: u32,
}

/// A residue: a contiguous run of atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Residue {
    /// residue name, e.g. `ALA`, `WAT`
    pub name: Name,
    /// number in files, usually from 1; formats with few columns print only the last digits
    pub number: i32,
    /// index of the first atom of the residue
    pub first: u32,
}

/// Chain, segment and insertion code of a residue as named in a file; names that are missing in the file are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ChainLabel {
    /// identifier of the chain, e.g. `A`
    pub chain: Name,
    /// name of the segment, e.g. `PROA`
    pub segment: Name,
    /// letter that distinguishes residues with the same number
    pub insertion_code: Option<char>,
}

/// A selection that depends on positions. The selection is evaluated only once, and the selected atoms are stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FixedSelection {
    /// text of the selection, in the language of [`crate::select`]
    pub text: String,
    /// selected atoms, ascending
    pub atoms: Vec<u32>,
}

/// Excluded pairs in compressed sparse rows (CSR): for each atom i, all partners j > i in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Exclusions {
    starts: Vec<u32>,
    partners: Vec<u32>,
}

/// Number of excluded pairs that a system of any size may have. The number is enough for a group of 4000 atoms
/// without mutual interactions. In addition, each atom may have `EXCLUSIONS_PER_ATOM` excluded pairs (about 25 atoms
/// are within three bonds of an atom). No system may have more than `MOST_EXCLUSIONS` pairs.
const FREE_EXCLUSIONS: u64 = 1 << 23;
const EXCLUSIONS_PER_ATOM: u64 = 64;
const MOST_EXCLUSIONS: u64 = 1 << 28;

impl Exclusions {
    /// Returns an error if `pairs` excluded pairs are too many for a system of `atoms` atoms. The check must precede
    /// the allocation of memory for the pairs.
    pub fn check_number(pairs: u64, atoms: usize) -> Result<(), Problem> {
        let most = MOST_EXCLUSIONS.min(FREE_EXCLUSIONS + EXCLUSIONS_PER_ATOM * atoms as u64);
        if pairs <= most {
            return Ok(());
        }
        let message = format!("more than {most} pairs of {atoms} atoms are excluded from interactions");
        Err(Problem::new(message)
            .help("check the bonds from which exclusions are derived: one atom may have too many bonds"))
    }

    /// Makes exclusions from unordered pairs. Duplicates and self pairs are dropped.
    pub fn from_pairs(atoms: usize, pairs: impl IntoIterator<Item = [u32; 2]>) -> Self {
        let mut sorted: Vec<[u32; 2]> =
            pairs.into_iter().filter(|p| p[0] != p[1]).map(|p| [p[0].min(p[1]), p[0].max(p[1])]).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut starts = vec![0u32; atoms + 1];
        for pair in &sorted {
            starts[pair[0] as usize + 1] += 1;
        }
        for i in 0..atoms {
            starts[i + 1] += starts[i];
        }
        Self { starts, partners: sorted.into_iter().map(|p| p[1]).collect() }
    }

    /// Number of atoms for which exclusions are stored.
    pub fn atoms(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Partners j > i with which atom i has excluded pairs, in ascending order.
    #[inline]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.partners[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Whether the pair of atoms i and j is excluded. The order of i and j does not matter.
    #[inline]
    pub fn contains(&self, i: u32, j: u32) -> bool {
        self.of(i.min(j) as usize).binary_search(&i.max(j)).is_ok()
    }

    /// All excluded pairs [i, j] with i < j.
    pub fn pairs(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        (0..self.atoms()).flat_map(|i| self.of(i).iter().map(move |&j| [i as u32, j]))
    }

    /// Returns the exclusions of a range of atoms. No excluded pair may have only one atom in the range. The first atom
    /// of the range gets the number 0.
    pub fn within(&self, atoms: Range<usize>) -> Self {
        let [first, end] = [self.starts[atoms.start], self.starts[atoms.end]];
        let partners = &self.partners[first as usize..end as usize];
        Exclusions {
            starts: self.starts[atoms.start..=atoms.end].iter().map(|start| start - first).collect(),
            partners: partners.iter().map(|partner| partner - atoms.start as u32).collect(),
        }
    }

    /// Number of excluded pairs.
    pub fn len(&self) -> usize {
        self.partners.len()
    }

    /// Whether no pair is excluded.
    pub fn is_empty(&self) -> bool {
        self.partners.is_empty()
    }
}

/// Atoms and bonded terms.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Topology {
    /// title line of the file
    pub title: String,
    /// whether the force field is CHARMM
    pub charmm: bool,
    /// non-bonded methods that the topology file specifies, if any; the run uses the methods of the input file, and the
    /// log names the methods of both files
    pub methods: Option<Methods>,
    /// file and line (`file:line`) of each parameter that replaces an earlier parameter of the same atom types, as
    /// GROMACS allows
    pub replaced: Vec<String>,
    /// all atoms
    pub atoms: Vec<Atom>,
    /// all residues, in ascending order of `first`
    pub residues: Vec<Residue>,
    /// chain, segment and insertion code of each residue; empty if the file states no chains, segments and insertion
    /// codes
    pub chain_labels: Vec<ChainLabel>,
    /// selections that depend on positions, evaluated with the starting positions
    pub fixed_selections: Vec<FixedSelection>,
    /// chemical bonds, with or without an energy term, and links of virtual sites; written to output files, and used
    /// to find molecules
    pub connectivity: Vec<[u32; 2]>,
    /// bonded interactions
    pub bonded: BondedTerms,
    /// constraints that are part of the force field; the input file may request more constraints
    pub constraints: Vec<Constraint>,
    /// virtual sites; in a [`System`](super::System) each site comes after the sites from which it is constructed
    pub virtual_sites: Vec<VirtualSite>,
    /// pairs excluded from the non-bonded sum
    pub exclusions: Exclusions,
}

impl Topology {
    /// Range of the atoms of residue `index`.
    pub fn residue_atoms(&self, index: usize) -> Range<usize> {
        let end = self.residues.get(index + 1).map_or(self.atoms.len(), |next| next.first as usize);
        self.residues[index].first as usize..end
    }

    /// Returns the sum of all masses, amu.
    pub fn mass(&self) -> f64 {
        self.atoms.iter().map(|atom| atom.mass).sum()
    }

    /// Returns the mass density (g/cm³) of the atoms in a volume (nm³).
    pub fn density(&self, volume: f64) -> f64 {
        DENSITY * self.mass() / volume
    }

    /// Returns the sum of all charges in e, rounded to 10⁻⁴ e, the resolution of charges in force fields.
    pub fn net_charge(&self) -> f64 {
        let charge: f64 = self.atoms.iter().map(|atom| atom.charge).sum();
        // adding zero turns a rounded -0 into 0
        (charge * 1e4).round() / 1e4 + 0.0
    }

    /// Returns the name of an atom, as `HB2 of ALA 7`.
    pub fn atom_name(&self, atom: u32) -> String {
        let atom = &self.atoms[atom as usize];
        format!("{} of {}", atom.name, self.residue_name(atom.residue as usize))
    }

    /// Returns name, number and insertion code of a residue, as `ALA 7` or `ALA 60A`.
    pub fn residue_name(&self, residue: usize) -> String {
        let Residue { name, number, .. } = self.residues[residue];
        let code = self.chain_labels.get(residue).and_then(|label| label.insertion_code);
        format!("{name} {number}{}", code.map(String::from).unwrap_or_default())
    }

    /// Returns number and name of an atom, as `98 (HB2 of ALA 7)`. Numbers count from 1.
    pub fn numbered_name(&self, atom: u32) -> String {
        format!("{} ({})", atom + 1, self.atom_name(atom))
    }

    /// Pairs of atoms, one pair for each virtual site: the first atom from which the site is constructed, and the site.
    pub fn site_links(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.virtual_sites.iter().filter_map(|site| Some([*site.construction.atoms().first()?, site.site]))
    }

    /// Mask with the value true for each atom that is a virtual site. Sites whose atoms do not exist are ignored.
    pub fn site_mask(&self) -> Vec<bool> {
        let mut is_site = vec![false; self.atoms.len()];
        let sites = self.virtual_sites.iter().map(|site| site.site as usize);
        sites.filter(|&site| site < self.atoms.len()).for_each(|site| is_site[site] = true);
        is_site
    }

    /// Adds links that join virtual sites to molecules. A virtual site without a chemical bond is linked to the first
    /// atom of its construction.
    pub(crate) fn link_sites(&mut self) {
        if self.virtual_sites.is_empty() {
            return;
        }
        let mut bonded = vec![false; self.atoms.len()];
        self.connectivity.iter().flatten().for_each(|&atom| bonded[atom as usize] = true);
        let links: Vec<[u32; 2]> = self.site_links().filter(|[_, site]| !bonded[*site as usize]).collect();
        self.connectivity.extend(links);
    }

    /// Whether a residue has the composition of water: one oxygen, two hydrogens, and otherwise only massless sites.
    pub fn is_water(&self, residue: usize) -> bool {
        let atoms = &self.atoms[self.residue_atoms(residue)];
        let count = |element| atoms.iter().filter(|a| a.element == element && a.mass > 0.0).count();
        count(8) == 1 && count(1) == 2 && atoms.iter().filter(|a| a.mass > 0.0).count() == 3
    }

    /// Whether a pair is the H–H bond of a water. LEaP writes an H–H bond instead of the angle term of water, and
    /// CHARMM writes an H–H bond for SHAKE. The H–H bond of a water fixes the H–H distance and is not a chemical bond.
    pub fn is_water_brace(&self, pair: [u32; 2]) -> bool {
        let [a, b] = pair.map(|i| &self.atoms[i as usize]);
        a.element == 1 && b.element == 1 && a.residue == b.residue && self.is_water(a.residue as usize)
    }
}
