//! Reader of the `NonbondedForce` of an OpenMM system: charges, Lennard-Jones parameters, and exceptions (exclusions
//! and 1-4 pairs).

use std::collections::HashMap;

use super::Parsed;
use super::pairs::Pairs;
use crate::format::number;
use crate::format::xml::Node;
use crate::system::{self, CombinationRule, LennardJones, Pair14};

/// Contents of a `NonbondedForce` of an OpenMM system.
pub(super) struct Nonbonded {
    /// charges of the particles, e
    pub(super) charges: Vec<f64>,
    pub(super) lj_types: Vec<u32>,
    pub(super) table: system::Nonbonded,
    /// pairs of all exceptions of the force, which are excluded from the non-bonded sum
    pub(super) excluded: Vec<[u32; 2]>,
    /// exceptions of the force that have an interaction, as 1-4 pairs
    pub(super) pairs14: Vec<Pair14>,
    pub(super) periodic: bool,
}

/// OpenMM's methods: `NoCutoff`, `CutoffNonPeriodic`, `CutoffPeriodic`, `Ewald`, `PME`, `LJPME`. The first two methods
/// have no periodic cell.
const METHODS: [&str; 6] = ["0", "1", "2", "3", "4", "5"];
const WITHOUT_CELL: usize = 2;

/// Reads the `NonbondedForce` of a system of `count` particles. Particles with the same parameters get the same
/// Lennard-Jones type.
pub(super) fn read(force: &Node<'_>, count: usize) -> Parsed<Nonbonded> {
    let parts = force.children().filter(|part| ["ParticleOffsets", "ExceptionOffsets"].contains(&part.name()));
    if let Some(offset) = parts.flat_map(|part| part.children()).next() {
        let problem = offset.problem("the parameters depend on a global parameter");
        return Err(problem.help("md does not support parameter offsets"));
    }
    if force.attribute("includeDirectSpace").is_some_and(|value| value != "1") {
        let problem =
            force.problem("includeDirectSpace is not 1: the direct-space part of the interactions is left out");
        return Err(
            problem.help("md computes all parts of the non-bonded interactions; call setIncludeDirectSpace(True)")
        );
    }
    let (mut charges, mut lj_types) = (vec![], vec![]);
    let (mut types, mut indices) = (vec![], HashMap::new());
    for node in force.list("Particles")? {
        let [charge, sigma, epsilon] = node.reals(["q", "sig", "eps"])?;
        let parameters = lennard_jones(&node, sigma, epsilon)?;
        if sigma == 0.0 && epsilon != 0.0 {
            let problem = node.problem(format!("sigma is 0, but epsilon is {epsilon} kJ/mol"));
            return Err(problem.help("OpenMM combines such an atom with others; give sigma and epsilon of the pairs"));
        }
        let key = [parameters.c6, parameters.c12].map(f64::to_bits);
        let index = *indices.entry(key).or_insert_with(|| {
            types.push(parameters);
            types.len() as u32 - 1
        });
        charges.push(charge);
        lj_types.push(index);
    }
    if charges.len() != count {
        return Err(force.problem(format!("the force has {} particles, but the system has {count}", charges.len())));
    }
    let (mut excluded, mut pairs14) = (vec![], vec![]);
    let mut pairs = Pairs::default();
    for node in force.list("Exceptions")? {
        let atoms = node.particles(["p1", "p2"], count)?;
        pairs.add(atoms, node)?;
        let [charge_product, sigma, epsilon] = node.reals(["q", "sig", "eps"])?;
        excluded.push(atoms);
        if charge_product != 0.0 || epsilon != 0.0 {
            let LennardJones { c6, c12 } = lennard_jones(&node, sigma, epsilon)?;
            pairs14.push(Pair14 { atoms, charge_product, c6, c12 });
        }
    }
    system::Nonbonded::check_types(types.len())
        .map_err(|found| crate::error::Problem { help: found.help, ..force.problem(found.message) })?;
    let table = system::Nonbonded::combine(&types, CombinationRule::LorentzBerthelot);
    let method = force.text("method")?;
    if !METHODS.contains(&method) {
        let message = format!("the non-bonded method {} is unknown", number::quoted(method.as_bytes()));
        return Err(force.problem(message).help("the methods of OpenMM are 0 (NoCutoff) to 5 (LJPME)"));
    }
    let periodic = !METHODS[..WITHOUT_CELL].contains(&method);
    Ok(Nonbonded { charges, lj_types, table, excluded, pairs14, periodic })
}

fn lennard_jones(node: &Node<'_>, sigma: f64, epsilon: f64) -> Parsed<LennardJones> {
    let parameters = LennardJones::from_sigma_epsilon(sigma, epsilon);
    if sigma >= 0.0 && parameters.is_combined_by(CombinationRule::LorentzBerthelot) {
        return Ok(parameters);
    }
    Err(node.problem(format!("the Lennard-Jones parameters are invalid: sigma {sigma} nm, epsilon {epsilon} kJ/mol")))
}
