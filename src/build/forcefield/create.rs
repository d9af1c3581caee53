//! Creation of a [`Description`] from a structure and a force field. The terms are those of `ForceField.createSystem`
//! of OpenMM without constraints.

use std::collections::HashMap;

use md_engine::error::{Problem, Result};
use md_engine::format::Factors14;
use md_engine::system::{
    self, Angle, Bond, BondedTerms, ChainLabel, Cmap, Constraint, Description, Exclusions, HarmonicImproper, Name,
    RyckaertBellemans, Topology, Torsion,
};

use super::ForceField;
use super::atom_types::Kind;
use super::bonded::Harmonic;
use super::charmm_terms;
use super::excluded;
use super::improper_order::{AtomData, OrderCache, order};
use super::interactions;
use super::script::Script;
use super::torsions::{Ordering, Periodic};
use super::typed::Typed;
use crate::structure::Structure;

/// Makes the description of a structure with the terms of a force field.
pub(super) fn description(field: &ForceField, structure: &Structure) -> Result<Description> {
    let typed = Typed::new(field, structure)?;
    let mut topology = typed.topology()?;
    typed.add_harmonic(&mut topology.bonded)?;
    typed.add_torsions(&mut topology.bonded);
    typed.add_cmaps(&mut topology.bonded);
    for script in &field.scripts {
        if let Script::Charmm(impropers) = script {
            charmm_terms::add(impropers, &typed, &mut topology.bonded)?;
        }
    }
    let nonbonded = typed.add_interactions(&mut topology)?;
    typed.add_molecules(&mut topology);
    Ok(Description { topology, nonbonded, ..Description::default() })
}

impl Typed<'_> {
    /// Makes the topology: atoms, residues, virtual sites and constraints, without charges and Lennard-Jones types.
    fn topology(&self) -> Result<Topology> {
        let (structure, types) = (self.structure, &self.field.types);
        let mut topology = Topology {
            charmm: self.field.lennard_jones.scale14.is_some(),
            connectivity: structure.bonds.clone(),
            virtual_sites: self.assignment.sites.iter().map(|own| own.site.clone()).collect(),
            ..Topology::default()
        };
        for (index, atom) in structure.atoms.iter().enumerate() {
            let of_type = types.get(self.atoms[index].of_type);
            topology.atoms.push(system::Atom {
                name: Name::new(&atom.name),
                type_name: Name::new(short(types.class_name(of_type.kind))),
                element: atom.element,
                mass: of_type.mass,
                charge: 0.0,
                lj_type: 0,
                residue: self.residues[index],
            });
        }
        for residue in &structure.residues {
            let name = Name::new(&residue.name);
            topology.residues.push(system::Residue { name, number: residue.number, first: residue.first });
            let chain = Name::new(&structure.chains[residue.chain as usize]);
            let insertion_code = residue.insertion_code;
            topology.chain_labels.push(ChainLabel { chain, segment: Name::default(), insertion_code });
        }
        let is_site = topology.site_mask();
        let wrong = |atom: &usize| is_site[*atom] != (topology.atoms[*atom].mass == 0.0);
        if let Some(atom) = (0..structure.atoms.len()).find(wrong) {
            let what =
                if is_site[atom] { "is a virtual site with a mass" } else { "has no mass, but is not a virtual site" };
            return Err(Problem::new(format!("{} {what}", self.label(atom))).into());
        }
        let constraints = self.assignment.constraints.iter();
        topology.constraints = constraints.map(|&(atoms, length)| Constraint { atoms, length }).collect();
        Ok(topology)
    }

    /// Adds bonds, angles and Urey–Bradley terms. Fails if a bond between two atoms with masses has no parameters.
    fn add_harmonic(&self, bonded: &mut BondedTerms) -> Result<()> {
        let parameters = &self.field.bonded;
        let mut known: HashMap<[Kind; 2], Option<&Harmonic>> = HashMap::new();
        for &atoms in &self.bonds {
            let kinds = self.kinds(atoms);
            let Some(found) = *known.entry(kinds).or_insert_with(|| parameters.bonds.first(kinds)) else {
                let [a, b] = atoms.map(|atom| atom as usize);
                if [a, b].iter().all(|&atom| self.structure.atoms[atom].element > 0) {
                    let message = format!(
                        "the force field has no parameters of the bond between {} and {}",
                        self.label(a),
                        self.label(b)
                    );
                    let help =
                        "add a force-field file with these parameters, or remove the bond if the atoms are not bonded";
                    return Err(Problem::new(message).help(help).into());
                }
                continue;
            };
            let Harmonic { equilibrium: length, force_constant } = *found;
            bonded.bonds.extend((force_constant != 0.0).then_some(Bond { atoms, length, force_constant }));
        }
        let lists = [&parameters.urey_bradleys_of_classes, &parameters.urey_bradleys_of_types];
        let mut known: HashMap<[Kind; 3], [Option<&Harmonic>; 3]> = HashMap::new();
        for &atoms in &self.connectivity.angles {
            let kinds = self.kinds(atoms);
            let find = || [&parameters.angles, lists[0], lists[1]].map(|list| list.first(kinds));
            let [angle, ureys @ ..] = *known.entry(kinds).or_insert_with(find);
            if let Some(&Harmonic { equilibrium: angle, force_constant }) = angle {
                bonded.angles.extend((force_constant != 0.0).then_some(Angle { atoms, angle, force_constant }));
            }
            for &Harmonic { equilibrium: length, force_constant } in ureys.into_iter().flatten() {
                let term = Bond { atoms: [atoms[0], atoms[2]], length, force_constant };
                bonded.urey_bradleys.extend((force_constant != 0.0).then_some(term));
            }
        }
        Ok(())
    }

    /// Adds the proper and improper torsions of all forces.
    fn add_torsions(&self, bonded: &mut BondedTerms) {
        let torsions = &self.field.torsions;
        let mut known: HashMap<[Kind; 4], Option<&Vec<Periodic>>> = HashMap::new();
        for &atoms in &self.connectivity.propers {
            let kinds = self.kinds(atoms);
            let find = || torsions.periodic.propers.most_specific(kinds).map(|(terms, _)| terms);
            let terms = *known.entry(kinds).or_insert_with(find);
            bonded.propers.extend(terms.into_iter().flatten().filter_map(|term| periodic(atoms, term)));
            if let Some((&coefficients, _)) = torsions.ryckaert_bellemans.propers.most_specific(kinds) {
                bonded.ryckaert_bellemans.push(RyckaertBellemans { atoms, coefficients });
            }
            for list in &torsions.harmonic {
                let found = list.propers.most_specific(kinds);
                bonded.harmonic_impropers.extend(found.map(|(parameters, _)| harmonic(atoms, *parameters)));
            }
        }
        let places: Vec<u32> = self.atoms.iter().map(|atom| atom.place).collect();
        let elements: Vec<u8> = self.structure.atoms.iter().map(|atom| atom.element).collect();
        let data = AtomData { kinds: &self.kinds, elements: &elements, residues: &self.residues, places: &places };
        let mut cache = OrderCache::default();
        for &improper in &self.connectivity.impropers {
            let known = &torsions.periodic.impropers;
            if let Some((index, atoms)) = cache.order(improper, known, &data) {
                let [a, b, c, d] = atoms;
                let copies = match known[index].ordering {
                    Ordering::Smirnoff => vec![[a, b, c, d], [a, c, d, b], [a, d, b, c]],
                    _ => vec![atoms],
                };
                for atoms in copies {
                    bonded.impropers.extend(known[index].parameters.iter().filter_map(|term| periodic(atoms, term)));
                }
            }
            let known = &torsions.ryckaert_bellemans.impropers;
            if let Some((index, atoms)) = order(improper, known, &data) {
                let coefficients = known[index].parameters;
                bonded.ryckaert_bellemans.push(RyckaertBellemans { atoms, coefficients });
            }
            for list in &torsions.harmonic {
                let found = order(improper, &list.impropers, &data);
                let term = found.map(|(index, atoms)| harmonic(atoms, list.impropers[index].parameters));
                bonded.harmonic_impropers.extend(term);
            }
        }
    }

    /// Adds correction maps (CMAP). The atoms of each map have the order of the atom types or classes in the parameters
    /// of the map.
    fn add_cmaps(&self, bonded: &mut BondedTerms) {
        let parameters = &self.field.bonded;
        let mut known: HashMap<[Kind; 5], Option<(u32, bool)>> = HashMap::new();
        for &chain in &self.connectivity.chains {
            let kinds = self.kinds(chain);
            let find = || parameters.cmaps.most_specific(kinds).map(|(grid, forward)| (*grid, forward));
            let Some((grid, forward)) = *known.entry(kinds).or_insert_with(find) else { continue };
            let [a, b, c, d, e] = if forward { chain } else { [chain[4], chain[3], chain[2], chain[1], chain[0]] };
            bonded.cmaps.push(Cmap { atoms: [a, b, c, d, b, c, d, e], grid });
        }
        if !bonded.cmaps.is_empty() {
            bonded.cmap_grids = parameters.grids.clone();
        }
    }

    /// Adds charges, Lennard-Jones types, exclusions and 1-4 pairs to the topology. Returns the table of Lennard-Jones
    /// parameters.
    fn add_interactions(&self, topology: &mut Topology) -> Result<system::Nonbonded> {
        let (charges, lennard_jones) = (&self.field.charges, &self.field.lennard_jones);
        let absent =
            || Problem::new("the force field has no NonbondedForce").help("add a force-field file with charges");
        let Factors14 { coulomb, lennard_jones: of_lj } = self.field.factors14().ok_or_else(absent)?;
        let factors = [coulomb, of_lj];
        let subject = |atom: usize| (self.kinds[atom], self.atoms[atom].parameters);
        let label = |atom: usize| self.label(atom);
        let found = interactions::find(self.atoms.len(), subject, label, charges, lennard_jones)?;
        for (index, atom) in topology.atoms.iter_mut().enumerate() {
            (atom.charge, atom.lj_type) = (found.charges[index], found.lj_types[index]);
        }
        let pairs = excluded::find(&self.neighbours, &self.assignment.sites)?;
        let own = self.scaled_pairs();
        for &atoms in &pairs.pairs14 {
            let pair = found.pair14(atoms, own.get(&atoms).copied().unwrap_or(factors), lennard_jones)?;
            if [pair.charge_product, pair.c6, pair.c12] != [0.0; 3] {
                topology.bonded.pairs14.push(pair);
            }
        }
        let excluded = pairs.near.into_iter().chain(pairs.pairs14).chain(self.excluded_in_molecules());
        topology.exclusions = Exclusions::from_pairs(self.atoms.len(), excluded);
        Ok(found.table)
    }

    /// Returns the scale factors of 1-4 pairs for which a script gives factors by the atom types of the torsion.
    fn scaled_pairs(&self) -> HashMap<[u32; 2], [f64; 2]> {
        let mut scaled = HashMap::new();
        for script in &self.field.scripts {
            let Script::Scaling14(scaling) = script else { continue };
            for &torsion in &self.connectivity.propers {
                let names = torsion.map(|atom| self.field.types.get(self.atoms[atom as usize].of_type).name.as_str());
                if let Some(factors) = scaling.factors(names) {
                    scaled.insert([torsion[0], torsion[3]], factors);
                }
            }
        }
        scaled
    }
}

/// Returns the part of a class name after the hyphen. A class name of AMBER consists of a file name and a type name, as
/// in `protein-CT`.
fn short(class: &str) -> &str {
    class.split_once('-').map(|(_, name)| name).filter(|name| !name.is_empty()).unwrap_or(class)
}

fn periodic(atoms: [u32; 4], term: &Periodic) -> Option<Torsion> {
    let Periodic { periodicity, phase, force_constant } = *term;
    (force_constant != 0.0).then_some(Torsion { atoms, periodicity, phase, force_constant })
}

fn harmonic(atoms: [u32; 4], [angle, force_constant]: [f64; 2]) -> HarmonicImproper {
    HarmonicImproper { atoms, angle, force_constant }
}
