//! Biological assemblies: operator expressions, and copies of residues.

use std::collections::{BTreeMap, HashMap};

use md_engine::error::Problem;

use super::choose::Picked;
use super::decision::{Decision, Subject};
use super::model::{Assembly, Entry, Operator};

/// Maximum number of symmetry operators of an assembly. Virus capsids have 60 symmetry operators, and helical
/// assemblies have a few hundred.
const MOST_OPERATORS: usize = 500;
/// Maximum number of atoms of an assembly; the largest assemblies of protein in the PDB have fewer atoms.
const MOST_ATOMS: usize = 5_000_000;

/// Residues of an assembly, each with its chain and its symmetry operator.
pub(super) struct Built {
    /// identifiers of the chains
    pub(super) chains: Vec<String>,
    /// symmetry operators of the assembly; only the identity if no assembly is built
    pub(super) operators: Vec<Operator>,
    pub(super) copies: Vec<Copied>,
}

/// A copy of a residue: index of the residue, index of the chain, and index of the operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    pub(super) residue: usize,
    pub(super) chain: usize,
    pub(super) operator: usize,
}

/// Returns the units in a list such as `A,B,C`.
pub(super) fn units_of(list: &str) -> Vec<String> {
    list.split(',').map(|unit| unit.trim().to_owned()).filter(|unit| !unit.is_empty()).collect()
}

/// Operators of a file by their identifiers; a faulty description of an operator is a fault of the assemblies that have
/// the operator.
pub(super) type Operators = HashMap<String, Result<Operator, Problem>>;

/// Returns the operators of an expression such as `1,3`, `(1-60)` or `(1-60)(61,P)`. In a product, the operators on the
/// right are applied first.
pub(super) fn expression(text: &str, known: &Operators) -> Result<Vec<Operator>, Problem> {
    let mut product: Vec<Operator> = vec![];
    let factors = text.split(['(', ')']).map(str::trim).filter(|factor| !factor.is_empty() && *factor != ",");
    for (index, factor) in factors.enumerate() {
        let mut names: Vec<String> = vec![];
        for part in factor.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let range =
                part.split_once('-').and_then(|(a, b)| Some((a.parse::<usize>().ok()?, b.parse::<usize>().ok()?)));
            match range {
                Some((first, last)) if last.saturating_sub(first) >= MOST_OPERATORS => return Err(too_many()),
                Some((first, last)) => names.extend((first..=last).map(|number| number.to_string())),
                None => names.push(part.to_owned()),
            }
            if names.len() > MOST_OPERATORS {
                return Err(too_many());
            }
        }
        let mut operators = vec![];
        for name in names {
            let operator = known.get(&name).ok_or_else(|| {
                Problem::new(format!("the operator `{name}` of an assembly is not in _pdbx_struct_oper_list"))
                    .help("add the operator, or remove the assembly")
            })?;
            operators.push(operator.clone()?);
        }
        if operators.len().saturating_mul(product.len().max(1)) > MOST_OPERATORS {
            return Err(too_many());
        }
        product = match index {
            0 => operators,
            _ => product.iter().flat_map(|left| operators.iter().map(|right| left.after(right))).collect(),
        };
    }
    Ok(product)
}

fn too_many() -> Problem {
    Problem::new(format!("an assembly has more than {MOST_OPERATORS} operators"))
        .help("make the assembly with another program, or leave out --assembly")
}

/// Copies the residues of an assembly. Without an assembly, each residue is copied once. The first copy of a chain
/// keeps the identifier of the chain, and copy number k of chain A is called `A-k`.
pub(super) fn build(
    entry: &Entry,
    residues: &[Picked],
    wanted: Option<&str>,
    decisions: &mut Vec<Decision>,
) -> Result<Built, Problem> {
    let Some(wanted) = wanted else {
        let chains = entry.chains.iter().map(|chain| chain.id.clone()).collect();
        let copies = residues.iter().enumerate();
        let copies =
            copies.map(|(index, residue)| Copied { residue: index, chain: residue.chain, operator: 0 }).collect();
        let identity = Operator::from_rows([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
        return Ok(Built { chains, operators: vec![identity], copies });
    };
    let assembly = entry.assemblies.iter().find(|assembly| assembly.id == wanted).ok_or_else(|| {
        let known: Vec<&str> = entry.assemblies.iter().map(|assembly| assembly.id.as_str()).collect();
        let help = match known.is_empty() {
            true => "the file describes no assemblies".to_owned(),
            false => format!("the assemblies of the file are {}", known.join(", ")),
        };
        Problem::new(format!("the file has no assembly `{wanted}`")).help(help)
    })?;
    if let Some(fault) = &assembly.fault {
        return Err(fault.clone());
    }
    let copies = copies(entry, residues, assembly)?;
    let built = name_chains(entry, residues, copies);
    let (chains, operators) = (built.chains.len(), built.operators.len());
    let what = format!("built the assembly {wanted} of {chains} chains with {operators} operators");
    decisions.push(Decision::new(Subject::Assembly, "the whole entry", what, "the user asked for this assembly"));
    Ok(built)
}

/// Operators of an assembly, and a list with the index of the operator and the index of the residue for each copy.
type Copies = (Vec<Operator>, Vec<(usize, usize)>);

fn copies(entry: &Entry, residues: &[Picked], assembly: &Assembly) -> Result<Copies, Problem> {
    let mut operators: Vec<Operator> = vec![];
    let mut found: Vec<(usize, usize)> = vec![];
    let mut of_unit: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, residue) in residues.iter().enumerate() {
        of_unit.entry(entry.units[residue.unit as usize].as_str()).or_default().push(index);
    }
    let mut atoms = 0;
    for generator in &assembly.generators {
        for operator in &generator.operators {
            let index = operators.iter().position(|known| known == operator).unwrap_or(operators.len());
            if index == operators.len() {
                operators.push(*operator);
            }
            if operators.len() > MOST_OPERATORS {
                return Err(too_many());
            }
            let units = generator.units.iter().filter_map(|unit| of_unit.get(unit.as_str()));
            for &residue in units.flatten() {
                atoms += residues[residue].atoms.len();
                if atoms > MOST_ATOMS {
                    return Err(Problem::new(format!("the assembly {} has more than {MOST_ATOMS} atoms", assembly.id))
                        .help("leave out --assembly, or choose a smaller assembly"));
                }
                found.push((index, residue));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok((operators, found))
}

/// Assigns an identifier to each combination of chain and operator.
fn name_chains(entry: &Entry, residues: &[Picked], (operators, found): Copies) -> Built {
    let mut keys: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut chains: Vec<String> = vec![];
    let mut taken: std::collections::HashSet<String> = entry.chains.iter().map(|chain| chain.id.clone()).collect();
    let mut counts = vec![0; entry.chains.len()];
    let mut copies = vec![];
    for (operator, residue) in found {
        let of_entry = residues[residue].chain;
        let chain = *keys.entry((operator, of_entry)).or_insert_with(|| {
            counts[of_entry] += 1;
            let id = &entry.chains[of_entry].id;
            let mut name = if counts[of_entry] == 1 { id.clone() } else { format!("{id}-{}", counts[of_entry]) };
            while counts[of_entry] > 1 && !taken.insert(name.clone()) {
                counts[of_entry] += 1;
                name = format!("{id}-{}", counts[of_entry]);
            }
            chains.push(name);
            chains.len() - 1
        });
        copies.push(Copied { residue, chain, operator });
    }
    Built { chains, operators, copies }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift(x: f64) -> Operator {
        Operator::from_rows([[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    }

    #[test]
    fn expressions_give_all_products() {
        let known = (1..=3).map(|n| (n.to_string(), shift(f64::from(n)))).chain([("P".to_owned(), shift(10.0))]);
        let mut known: Operators = known.map(|(id, operator)| (id, Ok(operator))).collect();
        known.insert("X".to_owned(), Err(Problem::new("damaged")));
        let of = |text: &str| -> Vec<f64> {
            expression(text, &known).unwrap().iter().map(|operator| (10.0 * operator.translation.x).round()).collect()
        };
        assert_eq!(of("1"), [1.0]);
        assert_eq!(of("1,3"), [1.0, 3.0]);
        assert_eq!(of("(1-3)"), [1.0, 2.0, 3.0]);
        assert_eq!(of("(1,2)(P)"), [11.0, 12.0]);
        assert_eq!(of(""), [0.0; 0]);
        assert_eq!(expression("X", &known).unwrap_err().message, "damaged");
        assert!(expression("4", &known).unwrap_err().message.contains("`4`"));
        assert!(expression("1-1000000000000", &known).unwrap_err().message.contains("more than 500"));
        let many = format!("({})({})", "1,".repeat(30), "2,".repeat(30));
        assert!(expression(&many, &known).unwrap_err().message.contains("more than 500"));
    }
}
