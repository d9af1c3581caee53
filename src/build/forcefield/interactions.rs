//! Charges, Lennard-Jones tables and 1-4 pairs of a structure.

use std::collections::HashMap;

use md_engine::arrays;
use md_engine::error::Problem;
use md_engine::system::{self, Pair14};

use super::atom_types::Kind;
use super::nonbonded::{Charges, LennardJones, Memberships, SigmaEpsilon};
use super::template::PARAMETERS;

/// Non-bonded parameters of the atoms of a structure.
#[derive(Clone, Debug, Default)]
pub(super) struct Interactions {
    /// charges in e
    pub(super) charges: Vec<f64>,
    pub(super) lj_types: Vec<u32>,
    pub(super) table: system::Nonbonded,
    types: Vec<LjType>,
}

/// A Lennard-Jones type of the structure.
#[derive(Clone, Debug)]
struct LjType {
    usual: SigmaEpsilon,
    of_pairs14: SigmaEpsilon,
    /// pairs of types with specific parameters (NBFIX) to which the Lennard-Jones type belongs
    memberships: Memberships,
}

/// Key that equal Lennard-Jones types share: the bits of the parameters, and the pairs of types with specific
/// parameters (NBFIX).
type TypeKey = ([u64; 4], Memberships);

/// Type and class of an atom, and the charge, σ and ε that the template of the atom states.
pub(super) type Subject = (Kind, [Option<f64>; 3]);

/// Combines two types by the Lorentz–Berthelot rule: σ is the arithmetic and ε the geometric mean.
fn combined([s, e]: SigmaEpsilon, [t, f]: SigmaEpsilon) -> SigmaEpsilon {
    [0.5 * (s + t), (e * f).sqrt()]
}

/// Finds charges and Lennard-Jones types. `subject` returns the data of an atom, and `label` returns the name of an
/// atom for messages.
pub(super) fn find(
    atoms: usize,
    subject: impl Fn(usize) -> Subject,
    label: impl Fn(usize) -> String,
    charges: &Charges,
    lennard_jones: &LennardJones,
) -> Result<Interactions, Problem> {
    let mut found = Interactions::default();
    let mut known: HashMap<TypeKey, u32> = HashMap::new();
    let mut memberships: HashMap<Kind, Memberships> = HashMap::new();
    for atom in 0..atoms {
        let (kind, parameters) = subject(atom);
        let named = |problem: String| Problem::new(format!("{}: {problem}", label(atom)));
        let [charge, sigma, epsilon] = values((kind, parameters), charges).map_err(named)?;
        found.charges.push(charge);
        let (usual, of_pairs14) = match lennard_jones.scale14 {
            None => ([sigma, epsilon], [sigma, epsilon]),
            Some(_) if epsilon != 0.0 => {
                let problem = named("NonbondedForce and LennardJonesForce both give an epsilon".to_owned());
                return Err(problem.help("use files of one family of force fields"));
            }
            Some(_) => {
                let absent = || named("LennardJonesForce has no parameters of the atom type".to_owned());
                let parameters = lennard_jones.atoms.get(kind).ok_or_else(absent)?;
                (parameters.usual, parameters.of_pairs14)
            }
        };
        if [usual, of_pairs14].iter().any(|[sigma, epsilon]| *sigma < 0.0 || *epsilon < 0.0) {
            return Err(named(format!("sigma ({} nm) or epsilon ({} kJ/mol) is negative", usual[0], usual[1])));
        }
        let memberships = memberships.entry(kind).or_insert_with(|| lennard_jones.memberships(kind));
        let key = ([usual[0], usual[1], of_pairs14[0], of_pairs14[1]].map(f64::to_bits), memberships.clone());
        let lj_type = *known.entry(key).or_insert_with(|| {
            found.types.push(LjType { usual, of_pairs14, memberships: memberships.clone() });
            found.types.len() as u32 - 1
        });
        found.lj_types.push(lj_type);
    }
    system::Nonbonded::check_types(found.types.len())?;
    found.table = table(&found.types, lennard_jones)?;
    Ok(found)
}

/// Returns charge, σ and ε of an atom, from the `NonbondedForce` or from the template.
fn values((kind, parameters): Subject, charges: &Charges) -> Result<[f64; 3], String> {
    let of_force = charges.atoms.get(kind).ok_or("NonbondedForce has no parameters of the atom type")?;
    let missing = |k: usize| format!("neither NonbondedForce nor the template gives the {}", PARAMETERS[k]);
    arrays::try_from_fn(|k| of_force[k].or(parameters[k]).ok_or_else(|| missing(k)))
}

/// Returns the specific parameters (NBFIX) of a pair of Lennard-Jones types; `None` if the pair has no specific
/// parameters. Fails if several specific parameters apply to the pair.
fn own_pair(a: &LjType, b: &LjType, lennard_jones: &LennardJones) -> Result<Option<SigmaEpsilon>, Problem> {
    match lennard_jones.pairs_of(&a.memberships, &b.memberships).as_slice() {
        [] => Ok(None),
        [index] => Ok(Some(lennard_jones.pairs[*index].1)),
        several => {
            let message = format!("{} elements <NBFixPair> apply to the same two atom types", several.len());
            Err(Problem::new(message).help("remove all but one of these elements"))
        }
    }
}

fn table(types: &[LjType], lennard_jones: &LennardJones) -> Result<system::Nonbonded, Problem> {
    system::Nonbonded::from_pairs(types.len(), |i, j| {
        let (a, b) = (&types[i], &types[j]);
        let usual = || combined(a.usual, b.usual);
        let [sigma, epsilon] = own_pair(a, b, lennard_jones)?.unwrap_or_else(usual);
        Ok(system::LennardJones::from_sigma_epsilon(sigma, epsilon))
    })
}

impl Interactions {
    /// Returns the parameters of a 1-4 pair. `factors` holds the scale factors of the Coulomb and Lennard-Jones
    /// interactions of the pair.
    pub(super) fn pair14(
        &self,
        atoms: [u32; 2],
        factors: [f64; 2],
        lennard_jones: &LennardJones,
    ) -> Result<Pair14, Problem> {
        let [i, j] = atoms.map(|atom| atom as usize);
        let [a, b] = [i, j].map(|atom| &self.types[self.lj_types[atom] as usize]);
        let usual = || combined(a.of_pairs14, b.of_pairs14);
        let [sigma, epsilon] = own_pair(a, b, lennard_jones)?.unwrap_or_else(usual);
        let system::LennardJones { c6, c12 } = system::LennardJones::from_sigma_epsilon(sigma, epsilon * factors[1]);
        Ok(Pair14 { atoms, charge_product: factors[0] * self.charges[i] * self.charges[j], c6, c12 })
    }
}
