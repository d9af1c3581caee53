//! Molecule types: the sections between one `[ moleculetype ]` and the next.

use super::Parsed;
use super::directive::{Directive, unknown_function};
use super::fields::Fields;
use super::force_field::ForceField;
use super::function::{Function, Kind, Parameters, function, same_state};
use super::{bonded_types::Tables, virtual_sites};
use crate::error::Problem;
use crate::format::element;
use crate::format::number;
use crate::system::{
    Atom, BondGraph, ChainLabel, Cmap, Constraint, Exclusions, LennardJones, Name, Pair14, Residue, Topology,
};
use std::collections::HashSet;

/// Molecule type. Atoms are numbered from 0 within the molecule type, and Lennard-Jones types are numbered as in the
/// force field.
#[derive(Default)]
pub(super) struct MoleculeType {
    pub(super) name: String,
    /// largest number of bonds between two atoms that do not interact (`nrexcl`)
    excluded_bonds: usize,
    pub(super) topology: Topology,
    /// chemical bonds, which count for the exclusions of pairs up to `nrexcl` bonds apart
    chemical: Vec<[u32; 2]>,
    /// oxygens of `[ settles ]`, each of which is followed by its two hydrogens. GROMACS counts only the first O–H bond
    /// of a `[ settles ]` line as a bond for exclusions
    waters: Vec<u32>,
    /// pairs of atoms listed in `[ exclusions ]`
    excluded: Vec<[u32; 2]>,
    /// residue number of the last atom, as text of the file
    last_residue: String,
}

impl MoleculeType {
    /// Reads the line below `[ moleculetype ]`.
    pub(super) fn new(mut fields: Fields<'_, '_>) -> Parsed<Self> {
        let name = fields.word("a name")?.to_owned();
        let bonds = fields.integer("nrexcl, a number of bonds")?;
        fields.end()?;
        let negative = |_| Problem::new(format!("nrexcl is {bonds}, expected 0 or more"));
        Ok(MoleculeType { name, excluded_bonds: usize::try_from(bonds).map_err(negative)?, ..Self::default() })
    }

    /// Reads a line below a heading of a molecule type.
    pub(super) fn line(
        &mut self,
        force_field: &mut ForceField,
        directive: Directive,
        mut fields: Fields<'_, '_>,
    ) -> Parsed<()> {
        let count = self.topology.atoms.len();
        match directive {
            Directive::Atoms => self.read_atom(force_field, fields),
            Directive::Bonds => {
                let pair = fields.atoms(count)?;
                let types = force_field.bonded_of(self.types(pair));
                let function = add(&mut self.topology, &mut force_field.bonds, directive, pair, types, fields)?;
                if function.kind != Kind::Distance {
                    self.chemical.push(pair);
                }
                Ok(())
            }
            Directive::Angles => {
                let atoms = fields.atoms(count)?;
                let types = force_field.bonded_of(self.types(atoms));
                add(&mut self.topology, &mut force_field.angles, directive, atoms, types, fields).map(drop)
            }
            Directive::Dihedrals => self.read_dihedral(force_field, fields),
            Directive::Constraints => self.read_constraint(force_field, fields),
            Directive::Settles => self.read_settle(fields),
            Directive::Pairs => self.read_pair(force_field, fields),
            Directive::Cmaps => self.read_cmap(force_field, fields),
            Directive::Exclusions => {
                let atom = fields.atom(count)?;
                while !fields.is_empty() {
                    self.excluded.push([atom, fields.atom(count)?]);
                }
                Ok(())
            }
            Directive::VirtualSites(atoms) => {
                let site = virtual_sites::read(atoms, fields, &self.topology)?;
                self.topology.virtual_sites.push(site);
                Ok(())
            }
            _ => Err(Problem::new("the heading above this line belongs to another part of the topology")),
        }
    }

    /// Whether the molecule type has bonds that count for exclusions.
    pub(super) fn has_chemical_bonds(&self) -> bool {
        !self.chemical.is_empty()
    }

    fn types<const N: usize>(&self, atoms: [u32; N]) -> [u32; N] {
        atoms.map(|atom| self.topology.atoms[atom as usize].lj_type)
    }

    /// Reads an atom. The line of an atom has number, type, residue number, residue name, atom name, charge group,
    /// and optionally charge and mass.
    fn read_atom(&mut self, force_field: &ForceField, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let Topology { atoms, residues, chain_labels, .. } = &mut self.topology;
        let number = fields.integer("the number of the atom")?;
        if usize::try_from(number) != Ok(atoms.len() + 1) {
            let message = format!("atom {number} follows atom {}", atoms.len());
            return Err(Problem::new(message).help("atoms of a molecule type must be numbered from 1 without gaps"));
        }
        let type_name = fields.word("a type")?;
        let lj_type = force_field.atom_type(type_name)?;
        let kind = &force_field.types[lj_type as usize];
        let residue_number = fields.word("the number of the residue")?;
        let (residue_name, name) = (Name::whole(fields.word("a residue")?)?, Name::whole(fields.word("a name")?)?);
        fields.word("a charge group")?;
        let charge = if fields.is_empty() { kind.charge } else { fields.real("a charge")? };
        let mass = if fields.is_empty() { kind.mass } else { fields.real("a mass")? };
        if !fields.is_empty() {
            let other = force_field.atom_type(fields.word("a type")?)?;
            let rest = [charge, mass];
            let mut second = rest;
            for value in &mut second {
                *value = if fields.is_empty() { *value } else { fields.real("charge and mass of state B")? };
            }
            same_state(&[f64::from(lj_type), rest[0], rest[1]], &[f64::from(other), second[0], second[1]])?;
        }
        fields.end()?;
        if mass < 0.0 {
            return Err(Problem::new(format!("the mass {mass} is negative")));
        }
        if residues.is_empty()
            || residues.last().is_some_and(|last| last.name != residue_name)
            || self.last_residue != residue_number
        {
            let (digits, insertion_code) = number::residue_number(residue_number);
            let number = number::integer(digits.as_bytes());
            let number =
                number.ok_or_else(|| Problem::new(format!("{residue_number} is not the number of a residue")))?;
            residues.push(Residue { name: residue_name, number, first: atoms.len() as u32 });
            chain_labels.push(ChainLabel { insertion_code, ..ChainLabel::default() });
            self.last_residue = residue_number.to_owned();
        }
        atoms.push(Atom {
            name,
            type_name: Name::whole(type_name)?,
            element: match mass {
                0.0 => 0,
                _ => kind.element.unwrap_or_else(|| element::guess(name, mass)),
            },
            mass,
            charge,
            lj_type,
            residue: residues.len() as u32 - 1,
        });
        Ok(())
    }

    fn read_dihedral(&mut self, force_field: &mut ForceField, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let mut atoms = fields.atoms(self.topology.atoms.len())?;
        let types = force_field.bonded_of(self.types(atoms));
        let Resolved { function, rows, types } =
            resolve(&mut force_field.dihedrals, Directive::Dihedrals, types, fields)?;
        if let (Kind::Improper | Kind::HarmonicImproper, Some(types), [row]) = (function.kind, types, &rows[..]) {
            atoms = force_field.improper_order(function.table, atoms, types, row[1]);
        }
        rows.iter().try_for_each(|row| function.add(&atoms, row, &mut self.topology.bonded))
    }

    fn read_constraint(&mut self, force_field: &mut ForceField, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let pair = fields.atoms(self.topology.atoms.len())?;
        let types = force_field.bonded_of(self.types(pair));
        let Resolved { function, rows, .. } =
            resolve(&mut force_field.constraints, Directive::Constraints, types, fields)?;
        let length = rows.first().map_or(0.0, |row| row[0]);
        self.topology.constraints.push(Constraint { atoms: pair, length });
        if function.kind == Kind::BondConstraint {
            self.chemical.push(pair);
        }
        Ok(())
    }

    /// Reads a rigid water. The line of `[ settles ]` has the oxygen, which comes before the two hydrogens, and the
    /// distances O–H and H–H.
    fn read_settle(&mut self, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let count = self.topology.atoms.len();
        let oxygen = fields.atom(count)?;
        if oxygen as usize + 2 >= count {
            return Err(Problem::new(format!(
                "two hydrogens must follow the oxygen of a water, but the last atom is {count}"
            )));
        }
        fields.function_one("settles")?;
        let (oh, hh) = (fields.real("the O-H distance")?, fields.real("the H-H distance")?);
        fields.end()?;
        let [first, second] = [oxygen + 1, oxygen + 2];
        let sides = [([oxygen, first], oh), ([oxygen, second], oh), ([first, second], hh)];
        self.topology.constraints.extend(sides.map(|(atoms, length)| Constraint { atoms, length }));
        self.chemical.push([oxygen, first]);
        self.waters.push(oxygen);
        Ok(())
    }

    /// Reads a 1-4 pair. A line with function type 1 may have Lennard-Jones parameters. A line with function type 2
    /// may have a factor of the charge product, two charges and Lennard-Jones parameters.
    fn read_pair(&mut self, force_field: &ForceField, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let pair = fields.atoms(self.topology.atoms.len())?;
        let number = if fields.is_empty() { "1" } else { fields.word("the function type")? };
        let [a, b] = self.types(pair);
        let [first, second] = pair.map(|atom| self.topology.atoms[atom as usize].charge);
        let mut charges = [first, second];
        let (LennardJones { c6, c12 }, factor) = match number {
            "1" if fields.is_empty() => force_field.pair14(a, b)?,
            // grompp takes no Lennard-Jones parameters from the types of such a pair, only the Coulomb interaction
            "2" if fields.is_empty() => (LennardJones::default(), force_field.pair14(a, b)?.1),
            "1" => force_field.own_pair14(&mut fields)?,
            "2" => {
                let factor = fields.real("fudgeQQ")?;
                charges = [fields.real("a charge")?, fields.real("a charge")?];
                (force_field.own_pair14(&mut fields)?.0, factor)
            }
            other => return Err(unknown_function("pairs", other, "1, 2")),
        };
        let charge_product = factor * charges[0] * charges[1];
        self.topology.bonded.pairs14.push(Pair14 { atoms: pair, charge_product, c6, c12 });
        Ok(())
    }

    fn read_cmap(&mut self, force_field: &ForceField, mut fields: Fields<'_, '_>) -> Parsed<()> {
        let five = fields.atoms::<5>(self.topology.atoms.len())?;
        let Topology { atoms, residues, .. } = &self.topology;
        let names = five.map(|atom| &residues[atoms[atom as usize].residue as usize].name);
        let types = force_field.bonded_of(self.types(five));
        let grid = force_field.cmaps.find(types, names.map(|name| name.as_str()), fields)?;
        let [a, b, c, d, e] = five;
        self.topology.bonded.cmaps.push(Cmap { atoms: [a, b, c, d, b, c, d, e], grid });
        Ok(())
    }

    /// Returns the chemical bonds, each once, without the H–H bond of a flexible water. A bond from each virtual site
    /// to the first atom that defines the site is included, so that the site belongs to the molecule.
    pub(super) fn connectivity(&self) -> Vec<[u32; 2]> {
        let of_waters = self.waters.iter().map(|&oxygen| [oxygen, oxygen + 2]);
        let bonds = self.chemical.iter().copied().chain(of_waters).filter(|&pair| !self.topology.is_water_brace(pair));
        let mut pairs: Vec<[u32; 2]> =
            bonds.chain(self.topology.site_links()).map(|[i, j]| [i.min(j), i.max(j)]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Returns the pairs that do not interact: the pairs of `[ exclusions ]`, and the pairs that are at most `nrexcl`
    /// bonds apart. Fails if two atoms of a rigid water would interact with each other.
    pub(super) fn exclusions(&self) -> Parsed<Vec<[u32; 2]>> {
        let atoms = self.topology.atoms.len();
        let mut graph = BondGraph::new(atoms, &self.chemical);
        let mut pairs = self.excluded.clone();
        for atom in 0..atoms as u32 {
            let near = graph.shells(atom, self.excluded_bonds).into_iter().flatten();
            pairs.extend(near.filter(|&other| other > atom).map(|other| [atom, other]));
            Exclusions::check_number(pairs.len() as u64, atoms).map_err(|problem| {
                let message = format!("molecule type {}: {}", self.name, problem.message);
                Problem::new(message).help("correct the bonds, or nrexcl (a number of bonds, usually 3)")
            })?;
        }
        let mut sides: HashSet<[u32; 2]> =
            self.waters.iter().flat_map(|&o| [[o, o + 1], [o, o + 2], [o + 1, o + 2]]).collect();
        for &[i, j] in &pairs {
            sides.remove(&[i.min(j), i.max(j)]);
        }
        match sides.into_iter().min() {
            None => Ok(pairs),
            Some([i, j]) => {
                let message =
                    format!("molecule type {}: atoms {} and {} of a rigid water interact", self.name, i + 1, j + 1);
                let help = "[ settles ] excludes only the first O-H pair: list all three pairs in [ exclusions ]";
                Err(Problem::new(message).help(help))
            }
        }
    }

    /// Fails if the molecule type has no atoms, if a particle without mass is not a virtual site, or if a virtual
    /// site has a mass.
    pub(super) fn check(&self) -> Parsed<()> {
        let (atoms, is_site) = (&self.topology.atoms, self.topology.site_mask());
        let wrong = atoms.iter().zip(&is_site).position(|(atom, &site)| site != (atom.mass == 0.0));
        let problem = |what: String| Err(Problem::new(format!("molecule type {} {what}", self.name)));
        match wrong {
            _ if atoms.is_empty() => problem("has no atoms".into()),
            Some(index) if is_site[index] => {
                problem(format!("has a virtual site with a mass: atom {} ({})", index + 1, atoms[index].name))
            }
            Some(index) => {
                let what = "is not a virtual site, because [ virtual_sitesN ] has no line for the particle";
                problem(format!(
                    "has a particle without mass, atom {} ({}), which {what}",
                    index + 1,
                    atoms[index].name
                ))
            }
            None => Ok(()),
        }
    }
}

/// Function type and parameters of a term. The parameters come from the line of the term or from a table.
struct Resolved<const N: usize> {
    function: Function,
    /// parameters of each term
    rows: Vec<Parameters>,
    /// types in the row of the table that has the parameters; `None` if the line of the term has the parameters
    types: Option<[u32; N]>,
}

/// Returns the function type of a line and its parameters. Parameters are looked up in the tables if the line has
/// none.
fn resolve<const N: usize>(
    tables: &mut Tables<N>,
    directive: Directive,
    types: [u32; N],
    mut fields: Fields<'_, '_>,
) -> Parsed<Resolved<N>> {
    let number = if fields.is_empty() { "1" } else { fields.word("the function type")? };
    let function = function(directive, number)?;
    if let Some(own) = function.read(fields.rest())? {
        return Ok(Resolved { function, rows: vec![own], types: None });
    }
    let rows = tables.get_mut(&function.table).and_then(|table| table.find(types));
    let (rows, types) = rows.ok_or_else(|| {
        let problem =
            Problem::new("the line gives no parameters, and the force field has none for these types of atoms");
        problem.help("is a file of the force field missing? otherwise give the parameters after the function type")
    })?;
    Ok(Resolved { function, rows: rows.to_vec(), types: Some(types) })
}

/// Adds the bonded terms that a line defines.
fn add<const N: usize>(
    topology: &mut Topology,
    tables: &mut Tables<N>,
    directive: Directive,
    atoms: [u32; N],
    types: [u32; N],
    fields: Fields<'_, '_>,
) -> Parsed<Function> {
    let Resolved { function, rows, .. } = resolve(tables, directive, types, fields)?;
    for row in &rows {
        function.add(&atoms, row, &mut topology.bonded)?;
    }
    Ok(function)
}
