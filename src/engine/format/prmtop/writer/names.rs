//! Names of atoms, types and residues in AMBER topologies, which have four characters.

use std::collections::{HashMap, HashSet};

use crate::error::Problem;
use crate::format::prmtop::sections::Parsed;
use crate::system::{Name, Topology};

/// Number of characters of a name.
const WIDTH: usize = 4;
/// Type of extra points, by which sander recognises them.
const POINT_TYPE: &str = "EP";
/// Beginnings of the names of extra points, by which OpenMM and ParmEd recognise them.
const POINT_NAMES: [&str; 2] = ["EP", "LP"];

/// Names of residues that OpenMM 8 treats as water: other residues have neither virtual sites nor rigid geometry.
const WATER_NAMES: [&str; 5] = ["WAT", "HOH", "TP4", "TP5", "T4E"];

/// Names of atoms, types and residues as they are written.
pub(super) struct Names {
    pub(super) atoms: Vec<Name>,
    pub(super) types: Vec<Name>,
    pub(super) residues: Vec<Name>,
    /// sentences about changed names
    pub(super) losses: Vec<String>,
}

impl Names {
    /// Chooses the names of a topology. Names are cut to four characters. Names of types that would become equal are
    /// numbered. A virtual site whose name does not begin with EP or LP is called `EPW`, or `EP1` and `EP2` if its
    /// residue has several. Waters are called `WAT`, unless their name is one of [`WATER_NAMES`]. Fails for names with
    /// other characters than ASCII, and if two atoms of a residue would lose the difference between their names.
    pub(super) fn new(topology: &Topology) -> Parsed<Self> {
        let own = |atom: &crate::system::Atom| [atom.name, atom.type_name];
        let residues = topology.residues.iter().map(|residue| residue.name);
        let all = topology.atoms.iter().flat_map(own).chain(residues);
        if let Some(name) = { all }.find(|name| !name.as_str().is_ascii()) {
            let problem = Problem::new(format!("the name {name} has characters that an AMBER topology cannot contain"));
            return Err(problem.help("use names of ASCII characters, or write a GROMACS topology"));
        }
        check_different(topology)?;
        let (types, numbered) = short_types(topology);
        let mut names = Names {
            atoms: topology.atoms.iter().map(|atom| cut(atom.name)).collect(),
            types: topology.atoms.iter().map(|atom| types[&atom.type_name]).collect(),
            residues: topology.residues.iter().map(|residue| residue.name).collect(),
            losses: vec![],
        };
        names.rename_waters(topology);
        for (what, old) in [
            ("names of atoms", topology.atoms.iter().map(|atom| atom.name).collect()),
            ("names of types", topology.atoms.iter().map(|atom| atom.type_name).collect()),
            ("names of residues", names.residues.clone()),
        ] {
            let long: Vec<Name> = { old }.into_iter().filter(|&name| cut(name) != name).collect();
            if let Some(&first) = long.first() {
                let count = long.len();
                names
                    .losses
                    .push(format!("{what} are cut to four characters: {first} is {}, {count} in all", cut(first)));
            }
        }
        if let Some(&first) = numbered.first() {
            let (short, count) = (types[&first], numbered.len());
            names.losses.push(format!(
                "names of types whose first four characters are those of another type are numbered: {first} is {short}, \
                 {count} in all"
            ));
        }
        names.residues.iter_mut().for_each(|name| *name = cut(*name));
        names.rename_points(topology);
        Ok(names)
    }

    /// Gives virtual sites the names and the type of extra points.
    fn rename_points(&mut self, topology: &Topology) {
        let mut renamed = None;
        for sites in topology.virtual_sites.chunk_by(|a, b| residue(topology, a.site) == residue(topology, b.site)) {
            for (number, site) in (1..).zip(sites) {
                let atom = site.site as usize;
                self.types[atom] = Name::new(POINT_TYPE);
                if POINT_NAMES.iter().any(|begin| self.atoms[atom].as_str().starts_with(begin)) {
                    continue;
                }
                let name = if sites.len() == 1 { "EPW".to_owned() } else { format!("EP{number}") };
                self.atoms[atom] = Name::new(&name);
                renamed.get_or_insert((topology.atoms[atom].name, name));
            }
        }
        if let Some((old, new)) = renamed {
            self.losses.push(format!(
                "virtual site {old} is called {new}, because AMBER and OpenMM recognise extra points by their names"
            ));
        }
    }

    /// Gives waters a name by which OpenMM recognises them.
    fn rename_waters(&mut self, topology: &Topology) {
        let mut renamed = None;
        for (index, name) in self.residues.iter_mut().enumerate() {
            if !WATER_NAMES.contains(&name.as_str()) && topology.is_water(index) {
                renamed.get_or_insert(topology.residues[index].name);
                *name = Name::new(WATER_NAMES[0]);
            }
        }
        if let Some(old) = renamed {
            self.losses.push(format!(
                "water {old} is called {}, because OpenMM recognises water by the name of its residue",
                WATER_NAMES[0]
            ));
        }
    }
}

fn residue(topology: &Topology, atom: u32) -> u32 {
    topology.atoms[atom as usize].residue
}

/// Cuts an ASCII name to the width of the format.
fn cut(name: Name) -> Name {
    Name::new(name.as_str().get(..WIDTH).unwrap_or(name.as_str()))
}

/// Returns the name of four characters of each type, and the types whose names are numbered, because their first four
/// characters are those of another type. A numbered name is the first character of the name and a number of three
/// digits in base 36.
fn short_types(topology: &Topology) -> (HashMap<Name, Name>, Vec<Name>) {
    let mut seen = HashSet::new();
    let mut names: Vec<Name> =
        topology.atoms.iter().map(|atom| atom.type_name).filter(|&name| seen.insert(name)).collect();
    // short names come first, so that they stay unchanged
    names.sort_by_key(|&name| cut(name) != name);
    let (mut taken, mut short, mut numbered) = (HashSet::new(), HashMap::new(), vec![]);
    for name in names {
        let digit = |number: u32| char::from_digit(number % 36, 36).unwrap_or('0').to_ascii_uppercase();
        let first = name.as_str().get(..1).unwrap_or("T");
        let spelled = |n: u32| format!("{first}{}{}{}", digit(n / 36 / 36), digit(n / 36), digit(n));
        let others = (1..36 * 36 * 36).map(|number| Name::new(&spelled(number)));
        let own = std::iter::once(cut(name)).chain(others).find(|own| taken.insert(*own)).unwrap_or(cut(name));
        if own != cut(name) {
            numbered.push(name);
        }
        short.insert(name, own);
    }
    (short, numbered)
}

/// Fails if two atoms of a residue with different names have the same first four characters.
fn check_different(topology: &Topology) -> Parsed<()> {
    let mut known: HashMap<(u32, Name), Name> = HashMap::new();
    for atom in &topology.atoms {
        let first = *known.entry((atom.residue, cut(atom.name))).or_insert(atom.name);
        if first != atom.name {
            let residue = topology.residues[atom.residue as usize].name;
            let message = format!(
                "atoms {first} and {} of residue {residue} would both be called {} in an AMBER topology",
                atom.name,
                cut(first)
            );
            let help = "names have four characters in this format: rename the atoms, or write a GROMACS topology";
            return Err(Problem::new(message).help(help));
        }
    }
    Ok(())
}
