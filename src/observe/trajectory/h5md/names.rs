//! Atom, residue and chain names, in the JSON form that MDTraj stores in `/topology`.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::format::element::symbol;
use crate::system::{self, Constraint, Name, Topology};

#[derive(Serialize, Deserialize)]
struct Document<'a> {
    chains: Vec<Chain>,
    bonds: Cow<'a, [[u32; 2]]>,
    /// constraints between atoms that no bond joins; atoms that a constraint joins belong to the same molecule. This
    /// field is an extension of MDTraj's layout by md
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<Constraint>,
}

#[derive(Serialize, Deserialize)]
struct Chain {
    index: usize,
    chain_id: Option<char>,
    residues: Vec<Residue>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Residue {
    index: usize,
    name: String,
    res_seq: i32,
    #[serde(rename = "segmentID")]
    segment_id: Cow<'static, str>,
    atoms: Vec<Atom>,
}

#[derive(Serialize, Deserialize)]
struct Atom {
    index: usize,
    name: String,
    element: Cow<'static, str>,
}

/// Returns the JSON text of a topology in plain ASCII, with the chains of [`Topology::chains`].
pub(super) fn mdtraj_topology(topology: &Topology) -> serde_json::Result<String> {
    let chain = |(index, (residues, _)): (usize, (std::ops::Range<usize>, bool))| {
        let chain_id = u8::try_from(index).ok().filter(|&n| n < 26).map(|n| char::from(b'A' + n));
        Chain { index, chain_id, residues: residues.map(|residue| self::residue(topology, residue)).collect() }
    };
    let chains = topology.chains().into_iter().enumerate().map(chain).collect();
    let ascending = |[i, j]: [u32; 2]| [i.min(j), i.max(j)];
    let bonds: HashSet<[u32; 2]> = match topology.constraints.len() {
        0 => HashSet::new(),
        _ => topology.connectivity.iter().copied().map(ascending).collect(),
    };
    let others = topology.constraints.iter().filter(|constraint| !bonds.contains(&ascending(constraint.atoms)));
    let constraints = others.copied().collect();
    serde_json::to_string(&Document { chains, bonds: Cow::Borrowed(&topology.connectivity), constraints })
}

fn residue(topology: &Topology, index: usize) -> Residue {
    let residue = &topology.residues[index];
    let atoms = topology.residue_atoms(index).map(|i| {
        let atom = &topology.atoms[i];
        // a virtual site gets an empty element symbol, as MDTraj expects
        Atom { index: i, name: ascii(atom.name.as_str()), element: symbol(atom.element).into() }
    });
    Residue {
        index,
        name: ascii(residue.name.as_str()),
        res_seq: residue.number,
        segment_id: "".into(),
        atoms: atoms.collect(),
    }
}

/// Reads names, residues and bonds from the JSON text of a topology. Masses, charges and elements are not in this text,
/// and are zero in the result. Atoms must be numbered in order, and bonds must join existing atoms. The error describes
/// the fault of the text.
pub(super) fn read_topology(json: &str) -> Result<Topology, String> {
    let document: Document<'_> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let (connectivity, constraints) = (document.bonds.into_owned(), document.constraints);
    let mut topology = Topology { connectivity, constraints, ..Topology::default() };
    for residue in document.chains.iter().flat_map(|chain| &chain.residues) {
        let (index, first) = (topology.residues.len() as u32, topology.atoms.len() as u32);
        let name = Name::new(&residue.name);
        topology.residues.push(system::Residue { name, number: residue.res_seq, first });
        for atom in &residue.atoms {
            if atom.index != topology.atoms.len() {
                return Err(format!("found atom number {}, expected number {}", atom.index, topology.atoms.len()));
            }
            topology.atoms.push(system::Atom {
                name: Name::new(&atom.name),
                type_name: Name::default(),
                element: 0,
                mass: 0.0,
                charge: 0.0,
                lj_type: 0,
                residue: index,
            });
        }
    }
    let atoms = topology.atoms.len();
    match topology.links().iter().flatten().find(|&&atom| atom as usize >= atoms) {
        Some(atom) => Err(format!("a bond refers to atom {atom}, but there are only {atoms} atoms")),
        None => Ok(topology),
    }
}

/// Converts a name to ASCII, because other programs accept only ASCII strings in the file.
fn ascii(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Creates a topology of two bonded residues with two atoms each, and of `waters` water molecules.
    fn dipeptide_in_water(waters: usize) -> Topology {
        let mut topology = Topology { connectivity: vec![[0, 1], [1, 2], [2, 3]], ..Topology::default() };
        let mut add = |name: &str, elements: &[u8]| {
            let (residue, first) = (topology.residues.len() as u32, topology.atoms.len() as u32);
            topology.residues.push(system::Residue { name: Name::new(name), number: residue as i32 + 1, first });
            let atom = |&element: &u8| system::Atom {
                name: Name::new(symbol(element)),
                type_name: Name::default(),
                element,
                mass: 1.0,
                charge: 0.0,
                lj_type: 0,
                residue,
            };
            topology.atoms.extend(elements.iter().map(atom));
            first
        };
        add("ALA", &[7, 6]);
        add("GLÉ", &[7, 6]);
        let oxygens: Vec<u32> = (0..waters).map(|_| add("WAT", &[8, 1, 1])).collect();
        topology.connectivity.extend(oxygens.iter().flat_map(|&o| [[o, o + 1], [o, o + 2]]));
        topology
    }

    #[test]
    fn waters_share_a_chain_and_a_peptide_has_its_own() {
        let json = mdtraj_topology(&dipeptide_in_water(3)).unwrap();
        assert!(json.is_ascii());
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let chains = value["chains"].as_array().unwrap();
        assert_eq!(chains.len(), 2);
        assert_eq!(chains[0]["residues"].as_array().unwrap().len(), 2);
        assert_eq!(chains[1]["residues"].as_array().unwrap().len(), 3);
        assert_eq!(chains[0]["residues"][1]["name"], "GL?");
        assert_eq!(chains[1]["residues"][0]["name"], "WAT");
        assert_eq!(chains[1]["residues"][2]["atoms"][1]["index"], 11);
        assert_eq!(chains[1]["residues"][2]["resSeq"], 5);
    }

    #[test]
    fn the_text_can_be_read_back() {
        let mut topology = dipeptide_in_water(3);
        let constraint = |atoms| Constraint { atoms, length: 0.3 };
        // the second constraint coincides with a bond, which already joins the two atoms
        topology.constraints = vec![constraint([2, 0]), constraint(topology.connectivity[0])];
        let found = read_topology(&mdtraj_topology(&topology).unwrap()).unwrap();
        assert_eq!(found.connectivity, topology.connectivity);
        assert_eq!(found.constraints, topology.constraints[..1]);
        let names = |t: &Topology| t.atoms.iter().map(|a| (a.name, a.residue)).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&topology));
        assert_eq!(found.residues[2..], topology.residues[2..]);
        assert_eq!(found.residues[1].name.as_str(), "GL?");
    }

    #[test]
    fn text_that_is_no_topology_is_refused() {
        let residue = |atoms: &str| format!(r#"{{"index":0,"name":"X","resSeq":1,"segmentID":"","atoms":[{atoms}]}}"#);
        let document = |atoms: &str, bonds: &str| {
            let residue = residue(atoms);
            format!(r#"{{"chains":[{{"index":0,"chain_id":null,"residues":[{residue}]}}],"bonds":[{bonds}]}}"#)
        };
        let atom = |index: usize| format!(r#"{{"index":{index},"name":"C","element":"C"}}"#);
        assert_eq!(read_topology(&document(&atom(0), "")).unwrap().atoms.len(), 1);
        for text in ["", "{}", "[1,2", &document(&atom(1), ""), &document(&atom(0), "[0,1]")] {
            assert!(read_topology(text).is_err(), "{text}");
        }
    }
}
