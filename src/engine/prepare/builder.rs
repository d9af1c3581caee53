//! Builder of a system in code, from atoms, bonds and interactions. [`SystemBuilder::build`] derives molecules,
//! exclusions and constraints.

use super::description::absent;
use super::{ConstrainedTerms, Files, ForceOptions, Options, Prepared, TuningMethod, prepare};
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::format::Coordinates;
use crate::system::{
    Atom, Bond, BondGraph, BondedTerms, CombinationRule, Construction, Description, Exclusions, LennardJones, Name,
    Nonbonded, Pair14, Residue, System, Topology, VirtualSite, ordered,
};
use crate::vec3::Vec3;
use std::collections::HashSet;

/// Number of bonds between the two atoms of a 1-4 pair.
const BONDS_OF_PAIR14: usize = 3;
/// Name of the residue for atoms added before the first residue.
const UNNAMED_RESIDUE: &str = "MOL";

/// An atom of a system built in code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtomSpec<'a> {
    /// atom name, cut to [`Name::LONGEST`] bytes
    pub name: &'a str,
    /// atomic number; 0 for particles without an element
    pub element: u8,
    /// mass in amu, positive; zero for virtual sites
    pub mass: f64,
    /// charge in e
    pub charge: f64,
    /// Lennard-Jones type, as returned by [`SystemBuilder::lj_type`]
    pub lj_type: u32,
    /// position, nm
    pub position: Vec3,
}

/// Builds a [`System`] in code; see [`System::builder`]. Atoms are numbered from 0 in the order in which they are
/// added. [`SystemBuilder::build`] checks the input.
#[derive(Clone, Debug, Default)]
pub struct SystemBuilder {
    topology: Topology,
    positions: Vec<Vec3>,
    cell: Option<PeriodicCell>,
    types: Vec<(Name, LennardJones)>,
    rule: Option<CombinationRule>,
    type_pairs: Vec<([u32; 2], LennardJones)>,
    excluded: Vec<[u32; 2]>,
    excluded_neighbours: usize,
    scales14: Option<[f64; 2]>,
    forces: Option<ForceOptions>,
    constrained_terms: ConstrainedTerms,
}

impl System {
    /// Starts to build a system in code. The example makes ten atoms of argon in a row, 0.4 nm apart, without a
    /// periodic cell:
    ///
    /// ```
    /// use md_engine::prepare::{AtomSpec, Prepared};
    /// use md_engine::system::{LennardJones, System};
    /// use md_engine::vec3::vec3;
    ///
    /// let mut builder = System::builder();
    /// let lj_type = builder.lj_type("Ar", LennardJones::from_sigma_epsilon(0.34, 0.998));
    /// for i in 0..10 {
    ///     let position = vec3(0.4 * f64::from(i), 0.0, 0.0);
    ///     let argon = AtomSpec { name: "AR", element: 18, mass: 39.948, charge: 0.0, lj_type, position };
    ///     builder.residue("AR").atom(argon);
    /// }
    /// let Prepared { system, state, .. } = builder.build()?;
    /// assert_eq!((system.topology.atoms.len(), state.positions.len()), (10, 10));
    /// # Ok::<(), md_engine::error::Error>(())
    /// ```
    pub fn builder() -> SystemBuilder {
        SystemBuilder::default()
    }
}

impl SystemBuilder {
    /// Sets the title, which is written to output files.
    pub fn title(&mut self, title: &str) -> &mut Self {
        title.clone_into(&mut self.topology.title);
        self
    }

    /// Sets the periodic cell. If no cell is set, the system is in vacuum.
    pub fn cell(&mut self, cell: PeriodicCell) -> &mut Self {
        self.cell = Some(cell);
        self
    }

    /// Sets cutoffs, electrostatics and constraints. The default is [`ForceOptions::default`], which has the defaults
    /// of the input file, or [`ForceOptions::all_pairs`] for a system without a cell.
    pub fn forces(&mut self, forces: ForceOptions) -> &mut Self {
        self.forces = Some(forces);
        self
    }

    /// Sets whether bonded terms that constraints hold fixed are kept or dropped. The default is to drop bonded terms
    /// that constraints hold fixed.
    pub fn constrained_terms(&mut self, terms: ConstrainedTerms) -> &mut Self {
        self.constrained_terms = terms;
        self
    }

    /// Adds a Lennard-Jones type. `name` becomes the type name of the atoms of this type. Returns the index of the
    /// type.
    pub fn lj_type(&mut self, name: &str, parameters: LennardJones) -> u32 {
        self.types.push((Name::new(name), parameters));
        (self.types.len() - 1) as u32
    }

    /// Sets the combination rule. The default is Lorentz–Berthelot.
    pub fn combination_rule(&mut self, rule: CombinationRule) -> &mut Self {
        self.rule = Some(rule);
        self
    }

    /// Sets explicit parameters for a pair of types (NBFIX), which replace those of the combination rule.
    pub fn lj_pair(&mut self, types: [u32; 2], parameters: LennardJones) -> &mut Self {
        self.type_pairs.push((types, parameters));
        self
    }

    /// Begins a residue for the following atoms. Residues are numbered from 1. Atoms before the first residue are in
    /// a residue named MOL.
    pub fn residue(&mut self, name: &str) -> &mut Self {
        let residues = &mut self.topology.residues;
        let (name, number) = (Name::new(name), residues.len() as i32 + 1);
        residues.push(Residue { name, number, first: self.topology.atoms.len() as u32 });
        self
    }

    /// Adds an atom to the current residue. Returns the index of the atom.
    pub fn atom(&mut self, atom: AtomSpec<'_>) -> u32 {
        if self.topology.residues.is_empty() {
            self.residue(UNNAMED_RESIDUE);
        }
        let AtomSpec { name, element, mass, charge, lj_type, position } = atom;
        let type_name = self.types.get(lj_type as usize).map_or_else(Name::default, |(name, _)| *name);
        let (name, residue) = (Name::new(name), self.topology.residues.len() as u32 - 1);
        self.topology.atoms.push(Atom { name, type_name, element, mass, charge, lj_type, residue });
        self.positions.push(position);
        (self.topology.atoms.len() - 1) as u32
    }

    /// Adds a virtual site with zero mass, and returns the index of the site. The position of the site is computed from
    /// the positions of atoms, and the field `position` of `site` is ignored. A virtual site takes part in bonded
    /// terms, exclusions and non-bonded interactions like an atom.
    pub fn virtual_site(&mut self, site: AtomSpec<'_>, construction: Construction) -> u32 {
        let index = self.atom(site);
        self.topology.virtual_sites.push(VirtualSite { site: index, construction });
        index
    }

    /// Adds a chemical bond without an energy term. Molecules, exclusions and constraints of hydrogens are derived
    /// from chemical bonds.
    pub fn bond(&mut self, atoms: [u32; 2]) -> &mut Self {
        self.topology.connectivity.push(atoms);
        self
    }

    /// Adds a chemical bond with a harmonic energy term.
    pub fn harmonic_bond(&mut self, bond: Bond) -> &mut Self {
        self.topology.bonded.bonds.push(bond);
        self.bond(bond.atoms)
    }

    /// Returns the lists of bonded terms, to which the caller can add angles, torsions, 1-4 pairs and other terms.
    pub fn bonded(&mut self) -> &mut BondedTerms {
        &mut self.topology.bonded
    }

    /// Excludes a pair of atoms from the non-bonded interactions.
    pub fn exclude(&mut self, atoms: [u32; 2]) -> &mut Self {
        self.excluded.push(atoms);
        self
    }

    /// Excludes all pairs of atoms that are at most `bonds` bonds apart.
    pub fn exclude_neighbours(&mut self, bonds: usize) -> &mut Self {
        self.excluded_neighbours = bonds;
        self
    }

    /// Excludes all pairs that are at most three bonds apart, and adds 1-4 pairs whose Coulomb and Lennard-Jones
    /// interactions are multiplied by the factors `coulomb` and `lennard_jones`. If both factors are zero, no 1-4 pairs
    /// are added. If a pair is already in [`SystemBuilder::exclude`] or has a 1-4 term in [`SystemBuilder::bonded`], no
    /// 1-4 pair is added for this pair.
    pub fn scale_pairs14(&mut self, coulomb: f64, lennard_jones: f64) -> &mut Self {
        self.scales14 = Some([coulomb, lennard_jones]);
        self
    }

    /// Checks the input, and makes the system and its initial state. The atoms are at rest (`velocities` is empty).
    /// Pairs with a 1-4 term are excluded from the other non-bonded interactions. Returns [`Error::Input`] with all
    /// problems found if the input is wrong.
    pub fn build(mut self) -> Result<Prepared> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let nonbonded = self.nonbonded();
        self.add_exceptions(&nonbonded);
        let default = if self.cell.is_some() { ForceOptions::default } else { ForceOptions::all_pairs };
        let forces = self.forces.unwrap_or_else(default);
        let options = Options {
            forces: &forces,
            tuning: TuningMethod::default(),
            constrained_terms: self.constrained_terms,
            files: Files::default(),
        };
        let coordinates = Coordinates { positions: self.positions, cell: self.cell, ..Coordinates::default() };
        prepare(Description { topology: self.topology, nonbonded, ..Description::default() }, coordinates, &options)
    }

    fn rule(&self) -> CombinationRule {
        self.rule.unwrap_or(CombinationRule::LorentzBerthelot)
    }

    /// Returns the problems of the input that prevent the builder from making a description.
    fn problems(&self) -> Vec<Problem> {
        let (atoms, types) = (self.topology.atoms.len(), self.types.len());
        let mut problems = vec![];
        let pairs14 = self.topology.bonded.pairs14.iter().map(|pair| pair.atoms);
        let lists: [(&str, Vec<[u32; 2]>); 3] = [
            ("a bond", self.topology.connectivity.clone()),
            ("an exclusion", self.excluded.clone()),
            ("a 1-4 pair", pairs14.collect()),
        ];
        for (what, pairs) in lists {
            problems.extend(pairs.iter().flatten().find(|&&i| i as usize >= atoms).map(|&i| absent(what, i, atoms)));
            let twice = pairs.iter().find(|[i, j]| i == j);
            problems.extend(twice.map(|[i, _]| Problem::new(format!("{what} contains atom {} twice", i + 1))));
        }
        let rule = self.rule();
        problems.extend(self.types.iter().filter(|(_, lj)| !lj.is_combined_by(rule)).map(|(name, lj)| {
            let problem =
                Problem::new(format!("Lennard-Jones type {name}: c6 {} and c12 {} cannot be combined", lj.c6, lj.c12));
            problem.help("c6 and c12 must not be negative; types with only one of them need CombinationRule::Geometric")
        }));
        let mut seen = HashSet::new();
        for &([a, b], _) in &self.type_pairs {
            if a.max(b) as usize >= types {
                problems.push(Problem::new(format!(
                    "the pair of Lennard-Jones types {a} and {b} does not exist: there are {types} types"
                )));
            } else if !seen.insert([a.min(b), a.max(b)]) {
                problems.push(Problem::new(format!("the pair of Lennard-Jones types {a} and {b} is given twice")));
            }
        }
        if self.scales14.is_some_and(|scales| scales.iter().any(|scale| !scale.is_finite())) {
            problems.push(Problem::new("the 1-4 scaling factors are not finite"));
        }
        problems
    }

    fn nonbonded(&self) -> Nonbonded {
        let types: Vec<LennardJones> = self.types.iter().map(|(_, parameters)| *parameters).collect();
        let mut nonbonded = Nonbonded::combine(&types, self.rule());
        for &([a, b], parameters) in &self.type_pairs {
            nonbonded.set_pair(a, b, parameters);
        }
        nonbonded
    }

    /// Adds exclusions and the 1-4 pairs derived from bonds.
    fn add_exceptions(&mut self, nonbonded: &Nonbonded) {
        let Topology { atoms, connectivity, bonded, exclusions, .. } = &mut self.topology;
        let explicit = self.excluded.iter().copied().chain(bonded.pairs14.iter().map(|pair| pair.atoms));
        let explicit: HashSet<[u32; 2]> = explicit.map(ordered).collect();
        let reach = self.excluded_neighbours.max(if self.scales14.is_some() { BONDS_OF_PAIR14 } else { 0 });
        let mut excluded: Vec<[u32; 2]> = explicit.iter().copied().collect();
        let mut graph = BondGraph::new(atoms.len(), connectivity);
        for i in 0..atoms.len() as u32 {
            for (index, shell) in graph.shells(i, reach).into_iter().enumerate() {
                for j in shell.into_iter().filter(|&j| i < j) {
                    excluded.push([i, j]);
                    let scales = self.scales14.filter(|&s| index + 1 == BONDS_OF_PAIR14 && s != [0.0; 2]);
                    if let Some(scales) = scales.filter(|_| !explicit.contains(&[i, j])) {
                        bonded.pairs14.extend(pair14(atoms, nonbonded, [i, j], scales));
                    }
                }
            }
        }
        *exclusions = Exclusions::from_pairs(atoms.len(), excluded);
    }
}

/// Returns the scaled 1-4 pair of two atoms; `None` if the Lennard-Jones type of an atom does not exist. The check of
/// the description reports a type that does not exist.
fn pair14(atoms: &[Atom], nonbonded: &Nonbonded, pair: [u32; 2], [coulomb, lj]: [f64; 2]) -> Option<Pair14> {
    let [a, b] = pair.map(|i| &atoms[i as usize]);
    if a.lj_type.max(b.lj_type) as usize >= nonbonded.types {
        return None;
    }
    let (c6, c12) = nonbonded.pair(a.lj_type, b.lj_type);
    Some(Pair14 { atoms: pair, charge_product: a.charge * b.charge * coulomb, c6: c6 * lj, c12: c12 * lj })
}
