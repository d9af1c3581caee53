//! Lennard-Jones tables, exclusions and 1-4 pairs of CHARMM systems.

use std::collections::{BTreeSet, HashMap};

use super::Parsed;
use super::parameters::{Parameters, Type, Well, pair};
use super::terms::listed;
use crate::error::Problem;
use crate::system::{BondGraph, Exclusions, LennardJones, Nonbonded, Pair14, Topology};
use crate::units::{ANGSTROM, KCAL};

/// Number of bonds between the atoms of a 1-4 pair. 1-4 pairs have separate parameters, and pairs with fewer bonds
/// between their atoms are excluded.
const BONDS_OF_PAIR14: usize = 3;

/// Converts the depth ε and the distance R of ε [(R/r)¹² − 2 (R/r)⁶] to the coefficients of c12/r¹² − c6/r⁶.
fn coefficients(Well { depth, r_min }: Well) -> LennardJones {
    let (depth, r6) = (depth * KCAL, (r_min * ANGSTROM).powi(6));
    LennardJones { c6: 2.0 * depth * r6, c12: depth * r6 * r6 }
}

/// Combines the parameters of two types: ε = √(εᵢεⱼ), R = Rᵢ/2 + Rⱼ/2.
fn combined(a: Well, b: Well) -> Well {
    Well { depth: (a.depth * b.depth).sqrt(), r_min: a.r_min + b.r_min }
}

/// Returns the Lennard-Jones table of the types in use, and the index of each atom's type in the table.
pub(super) fn read(types: &[Type], parameters: &Parameters) -> Parsed<(Nonbonded, Vec<u32>)> {
    let (mut used, mut indices, mut missing) = (vec![], HashMap::new(), BTreeSet::new());
    let mut of_atoms = Vec::with_capacity(types.len());
    for &atom_type in types {
        if let Some(&index) = indices.get(&atom_type) {
            of_atoms.push(index);
            continue;
        }
        let index = used.len() as u32;
        match parameters.nonbonded.get(&atom_type)? {
            Some(found) => used.push((atom_type, found.general)),
            None => {
                missing.insert(parameters.names.of(&[atom_type]));
            }
        }
        indices.insert(atom_type, index);
        of_atoms.push(index);
    }
    if !missing.is_empty() {
        let names = listed(missing.iter().map(String::as_str).collect());
        let problem = Problem::new(format!("no Lennard-Jones parameters (NONBONDED) for the atom types {names}"));
        return Err(problem.help("add the file with these parameters to system.parameters"));
    }
    let count = used.len();
    Nonbonded::check_types(count)?;
    let table = Nonbonded::from_pairs(count, |a, b| {
        let ((type_a, well_a), (type_b, well_b)) = (used[a], used[b]);
        let special = parameters.nbfix.get(&pair([type_a, type_b]))?;
        Ok(coefficients(special.map_or_else(|| combined(well_a, well_b), |found| found.general)))
    })?;
    Ok((table, of_atoms))
}

/// Adds exclusions of pairs up to three bonds apart, and 1-4 terms for pairs three bonds apart. A lone pair is excluded
/// from its first host, from atoms one and two bonds away from this host, and from the lone pairs of all these atoms,
/// as in OpenMM.
pub(super) fn add_pairs(types: &[Type], parameters: &Parameters, topology: &mut Topology) -> Parsed<()> {
    let Topology { atoms, connectivity, bonded, exclusions, virtual_sites, .. } = topology;
    let scale = parameters.electrostatics14.unwrap_or(1.0);
    let own = |t: Type| Ok(parameters.nonbonded.get(&t)?.map_or(Well::default(), |found| found.pairs14));
    let well = |a: Type, b: Type| match parameters.nbfix.get(&pair([a, b]))? {
        Some(special) => Ok(special.pairs14),
        None => Ok(combined(own(a)?, own(b)?)),
    };
    let mut lone_pairs: HashMap<u32, Vec<u32>> = HashMap::new();
    for site in virtual_sites {
        lone_pairs.entry(site.construction.atoms()[0]).or_default().push(site.site);
    }
    // an atom, followed by its lone pairs
    let group = |i: u32| std::iter::once(i).chain(lone_pairs.get(&i).into_iter().flatten().copied());
    let mut graph = BondGraph::new(atoms.len(), connectivity);
    let mut excluded = vec![];
    for i in 0..atoms.len() as u32 {
        excluded.extend(group(i).flat_map(|a| group(i).map(move |b| [a, b])).filter(|[a, b]| a < b));
        for (index, shell) in graph.shells(i, BONDS_OF_PAIR14).into_iter().enumerate() {
            for j in shell.into_iter().filter(|&j| i < j) {
                if index + 1 < BONDS_OF_PAIR14 {
                    excluded.extend(group(i).flat_map(|a| group(j).map(move |b| [a, b])));
                    continue;
                }
                excluded.push([i, j]);
                let LennardJones { c6, c12 } = coefficients(well(types[i as usize], types[j as usize])?);
                let charge_product = scale * atoms[i as usize].charge * atoms[j as usize].charge;
                bonded.pairs14.push(Pair14 { atoms: [i, j], charge_product, c6, c12 });
            }
        }
        Exclusions::check_number(excluded.len() as u64, atoms.len())?;
    }
    *exclusions = Exclusions::from_pairs(atoms.len(), excluded);
    Ok(())
}
