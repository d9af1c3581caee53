//! Reader of Lennard-Jones interactions from a table that has an entry for each pair of types. OpenMM writes the
//! interactions of CHARMM force fields as such tables. A system with a Lennard-Jones table has three forces: a
//! `CustomNonbondedForce` with the tables `acoef` and `bcoef`, a `NonbondedForce` without Lennard-Jones parameters, and
//! a `CustomBondForce` for 1-4 pairs.

use super::Parsed;
use super::nonbonded::Nonbonded;
use crate::format::xml::Node;
use crate::system::{self, LennardJones, Pair14};
use std::collections::HashMap;

/// Known energy expressions of a `CustomNonbondedForce`, without blanks and without the last semicolon. The number n
/// beside each expression is the exponent in C12 = `acoef`ⁿ. OpenMM's `ForceField` and OpenMM's readers of CHARMM,
/// AMBER and GROMACS files write the expressions in this table.
const TABLES: [(&str, i32); 4] = [
    ("acoef(type1,type2)/r^12-bcoef(type1,type2)/r^6", 1),
    ("(a/r6)^2-b/r6;r6=r^6;a=acoef(type1,type2);b=bcoef(type1,type2)", 2),
    ("(a/r6)^2-b/r6;r6=r2*r2*r2;r2=r^2;a=acoef(type1,type2);b=bcoef(type1,type2)", 2),
    ("a/r6^2-b/r6;r6=r^6;a=acoef(type1,type2);b=bcoef(type1,type2)", 1),
];
/// Energy expression of 1-4 pairs in a `CustomBondForce`, without blanks.
const PAIRS14: &str = "4*epsilon*((sigma/r)^12-(sigma/r)^6)";
/// Maximum difference between the elements (i, j) and (j, i) of a table over pairs of types, relative to the element.
/// The limit allows a few rounding errors.
const SYMMETRY: f64 = 1e-12;

/// Lennard-Jones types of the particles, and the table over pairs of types.
pub(super) struct Table {
    lj_types: Vec<u32>,
    table: system::Nonbonded,
    /// pairs of particles that are excluded from the Lennard-Jones interaction
    excluded: Vec<[u32; 2]>,
}

/// Returns the energy expression of a custom force, after removal of all blanks and of semicolons at the end. The
/// result is empty if the force has no expression.
fn energy(force: &Node<'_>) -> String {
    let energy: String = force.text("energy").unwrap_or_default().split_whitespace().collect();
    energy.trim_end_matches(';').to_owned()
}

/// Reads a `CustomNonbondedForce` of `count` particles. Returns `None` if the energy expression of the force is not in
/// [`TABLES`].
pub(super) fn read_table(force: &Node<'_>, count: usize) -> Parsed<Option<Table>> {
    let energy = energy(force);
    let Some((_, power)) = TABLES.into_iter().find(|(known, _)| *known == energy) else { return Ok(None) };
    for part in ["GlobalParameters", "ComputedValues", "InteractionGroups"] {
        let inside = force.children().filter(|child| child.name() == part).flat_map(|child| child.children()).next();
        if let Some(node) = inside {
            return Err(node.problem(format!("md does not support {part} of Lennard-Jones interactions")));
        }
    }
    let functions: Vec<Node<'_>> = force.list("Functions")?.collect();
    let [(size, a), (other, b)] =
        [coefficients(force, &functions, "acoef")?, coefficients(force, &functions, "bcoef")?];
    if size != other {
        return Err(force.problem(format!("acoef has {size} types, but bcoef has {other} types")));
    }
    let mut lj_types = Vec::with_capacity(count);
    let names = force.list("PerParticleParameters")?.map(|node| node.text("name")).collect::<Parsed<Vec<&str>>>()?;
    let [place] =
        names.iter().enumerate().filter(|(_, name)| **name == "type").map(|(k, _)| k + 1).collect::<Vec<_>>()[..]
    else {
        return Err(force.problem("the force does not have exactly one particle parameter with the name type"));
    };
    let parameter = format!("param{place}");
    for node in force.list("Particles")? {
        let number = node.real(&parameter)?;
        if !(0.0..size as f64).contains(&number) || number.fract() != 0.0 {
            return Err(node.problem(format!("type {number} of {size}")));
        }
        lj_types.push(number as u32);
    }
    if lj_types.len() != count {
        return Err(force.problem(format!("the force has {} particles, but the system has {count}", lj_types.len())));
    }
    let excluded = force.list("Exclusions")?.map(|node| node.particles(["p1", "p2"], count));
    let excluded = excluded.collect::<Parsed<_>>()?;
    let c12 = a.into_iter().map(|value| value.powi(power)).collect();
    let table = system::Nonbonded { types: size, c6: b, c12, ..system::Nonbonded::default() };
    Ok(Some(Table { lj_types, table, excluded }))
}

/// Returns the number of types and the values of a table over pairs of types. Fails if the table is not symmetric.
fn coefficients(force: &Node<'_>, functions: &[Node<'_>], name: &str) -> Parsed<(usize, Vec<f64>)> {
    let function = functions.iter().find(|node| node.text("name").is_ok_and(|found| found == name));
    let function = function.ok_or_else(|| force.problem(format!("the force lacks the tabulated function {name}")))?;
    let kind = function.text("type")?;
    if kind != "Discrete2DFunction" {
        return Err(function.problem(format!("{name} is a {kind}, expected a Discrete2DFunction")));
    }
    let values = function.list("Values")?.map(|node| node.real("v")).collect::<Parsed<Vec<f64>>>()?;
    let size = values.len().isqrt();
    let sizes = [function.real("xsize")?, function.real("ysize")?];
    if size * size != values.len() || sizes != [size as f64; 2] {
        return Err(function.problem(format!(
            "the table has {} values for {} x {} types",
            values.len(),
            sizes[0],
            sizes[1]
        )));
    }
    let differs = |&[i, j]: &[usize; 2]| {
        let [a, b] = [values[i * size + j], values[j * size + i]];
        (a - b).abs() > SYMMETRY * a.abs().max(b.abs())
    };
    match (0..size).flat_map(|i| (0..i).map(move |j| [i, j])).find(differs) {
        Some([i, j]) => Err(function.problem(format!("the entries of types {i} and {j} differ"))),
        None => Ok((size, values)),
    }
}

/// Reads a `CustomBondForce` of `count` particles. Returns `None` if the energy expression of the force is not that of
/// 1-4 pairs ([`PAIRS14`]).
pub(super) fn read_pairs14(force: &Node<'_>, count: usize) -> Parsed<Option<Vec<Pair14>>> {
    if energy(force) != PAIRS14 {
        return Ok(None);
    }
    let names = force.list("PerBondParameters")?.map(|node| node.text("name")).collect::<Parsed<Vec<&str>>>()?;
    let place = |name| names.iter().position(|&known| known == name).map(|index| format!("param{}", index + 1));
    let (Some(sigma), Some(epsilon)) = (place("sigma"), place("epsilon")) else {
        return Err(force.problem("the force lacks the bond parameter sigma or epsilon"));
    };
    let pair = |node: Node<'_>| {
        let atoms = node.particles(["p1", "p2"], count)?;
        let LennardJones { c6, c12 } = LennardJones::from_sigma_epsilon(node.real(&sigma)?, node.real(&epsilon)?);
        Ok(Pair14 { atoms, charge_product: 0.0, c6, c12 })
    };
    force.list("Bonds")?.map(pair).collect::<Parsed<_>>().map(Some)
}

/// Puts the Lennard-Jones table and the 1-4 pairs of the custom forces into the non-bonded parameters. Fails if the
/// system has a table and the `NonbondedForce` also has Lennard-Jones parameters.
pub(super) fn replace(
    force: &Node<'_>,
    nonbonded: &mut Nonbonded,
    table: Option<Table>,
    pairs14: Vec<Pair14>,
) -> Parsed<()> {
    let ordered = |&[i, j]: &[u32; 2]| [i.min(j), i.max(j)];
    let sorted = |pairs: &[[u32; 2]]| {
        let mut pairs: Vec<[u32; 2]> = pairs.iter().map(ordered).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    };
    let excluded = sorted(&nonbonded.excluded);
    if let Some(Table { lj_types, table, excluded: others }) = table {
        if nonbonded.table.c12.iter().any(|&c12| c12 != 0.0) {
            let problem =
                force.problem("particles have a nonzero epsilon, although a CustomNonbondedForce has their Lennard-Jones interactions");
            return Err(problem.help("set epsilon of all particles of the NonbondedForce to zero"));
        }
        if sorted(&others) != excluded {
            let problem = force.problem("the exceptions differ from the exclusions of the CustomNonbondedForce");
            return Err(problem.help("md uses the same list of excluded pairs for all non-bonded interactions"));
        }
        (nonbonded.lj_types, nonbonded.table) = (lj_types, table);
    }
    let mut known: HashMap<[u32; 2], usize> =
        nonbonded.pairs14.iter().enumerate().map(|(index, pair)| (ordered(&pair.atoms), index)).collect();
    for pair in pairs14 {
        let atoms = ordered(&pair.atoms);
        if excluded.binary_search(&atoms).is_err() {
            let problem =
                force.problem(format!("the 1-4 pair of particles {} and {} has no exception", atoms[0], atoms[1]));
            return Err(problem.help("add exceptions for the pairs of the CustomBondForce"));
        }
        let index = *known.entry(atoms).or_insert_with(|| {
            nonbonded.pairs14.push(Pair14 { c6: 0.0, c12: 0.0, ..pair });
            nonbonded.pairs14.len() - 1
        });
        nonbonded.pairs14[index].c6 += pair.c6;
        nonbonded.pairs14[index].c12 += pair.c12;
    }
    Ok(())
}
