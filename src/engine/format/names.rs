//! Names, masses and bonds of atoms without a force field, as needed for reading a trajectory.
//!
//! A topology states names, masses and bonds. Reading the names and bonds of a PSF file does not require the parameter
//! files of the force field. Structures (gro, PDB, mmCIF) state names and residues. The masses of a structure are the
//! standard atomic weights of the elements. The element of an atom is stated in the file, or follows from the names of
//! the atom and its residue ([`element::of_names`]). The bonds of a PDB file are known if its CONECT records join all
//! atoms of every residue. Other structures state no bonds, or bonds of some residues only.

use std::path::Path;

use super::coordinates::Label;
use super::known::{COORDINATES, TOPOLOGIES, recognise};
use super::options::TopologyOptions;
use super::{charmm, element, pdb};
use crate::error::{Problem, Result};
use crate::system::{Atom, Exclusions, Residue, Topology};

/// Topology with the names of atoms and residues in a file.
#[derive(Clone, Debug)]
pub struct Names {
    /// topology of the atoms; if the file has no force field, the topology has no bonded terms and no parameters
    pub topology: Topology,
    /// whether the file states which atoms are bonded
    pub has_bonds: bool,
}

impl Names {
    /// Returns the atoms and residues that the labels name. The bonds are unknown.
    pub fn of_labels(labels: &[Label]) -> Self {
        Names { topology: of_labels(labels), has_bonds: false }
    }

    /// Returns the names in a topology that a trajectory contains. The bonds may be unknown, because the trajectory may
    /// have been written from a structure. A topology without bonds is complete if it consists of single atoms, such as
    /// ions, of which none is the backbone atom of a residue.
    pub fn of_stored(topology: Topology) -> Self {
        let is_single = |residue: usize| {
            let atoms = &topology.atoms[topology.residue_atoms(residue)];
            atoms.len() == 1 && atoms[0].element > 0 && !topology.is_trace(residue)
        };
        let has_bonds = match topology.links().is_empty() {
            true => (0..topology.residues.len()).all(is_single),
            false => joins_residues(&topology),
        };
        Names { topology, has_bonds }
    }
}

/// Reads the names of atoms from a topology or a structure, compressed or not. The error is a [`Problem`] that names
/// file and line.
pub fn read_names(path: &Path, options: &TopologyOptions) -> Result<Names> {
    let bytes = super::read(path)?;
    let located = |problem: Problem| problem.in_file(path);
    if charmm::is_psf(&bytes) && options.parameters.is_empty() {
        return Ok(Names { topology: charmm::read_names(path, &bytes)?, has_bonds: true });
    }
    let structure = COORDINATES.iter().find(|format| (format.recognises)(&bytes));
    let Some(structure) = structure.filter(|_| !TOPOLOGIES.iter().any(|format| (format.recognises)(&bytes))) else {
        let format = recognise(TOPOLOGIES, "topology", &bytes).map_err(located)?;
        return Ok(Names { topology: (format.read)(path, &bytes, options)?.topology, has_bonds: true });
    };
    let coordinates = (structure.read)(&bytes, None).map_err(located)?;
    if coordinates.labels.is_empty() {
        let problem = Problem::new(format!("{} contains no atom names", structure.name)).in_file(path);
        return Err(problem.help("give a topology, or a gro, PDB or mmCIF file of the same atoms").into());
    }
    let mut topology = of_labels(&coordinates.labels);
    topology.title = coordinates.title;
    if pdb::is_pdb(&bytes) {
        topology.connectivity = pdb::read_bonds(&bytes);
    }
    let has_bonds = joins_residues(&topology);
    Ok(Names { topology, has_bonds })
}

/// Whether the bonds of the topology join all atoms of every residue.
fn joins_residues(topology: &Topology) -> bool {
    let molecules = topology.molecules();
    let mut pairs = topology.atoms.windows(2).zip(0..).filter(|(pair, _)| pair[0].residue == pair[1].residue);
    !topology.links().is_empty() && pairs.all(|(_, first)| molecules.of_atom(first) == molecules.of_atom(first + 1))
}

/// Copies the names and residues of a structure to the atoms of a topology. If the structure does not have a label for
/// each atom, the topology does not change.
pub fn take_names(topology: &mut Topology, labels: &[Label]) {
    if labels.is_empty() || labels.len() != topology.atoms.len() {
        return;
    }
    let Topology { atoms, residues, chain_labels, .. } = of_labels(labels);
    for (own, named) in topology.atoms.iter_mut().zip(atoms) {
        (own.name, own.residue) = (named.name, named.residue);
        own.element = if own.element == 0 && own.mass > 0.0 { named.element } else { own.element };
    }
    (topology.residues, topology.chain_labels) = (residues, chain_labels);
}

/// Returns a topology with the atoms and residues of a structure, from the labels of its atoms.
fn of_labels(labels: &[Label]) -> Topology {
    let mut topology = Topology { exclusions: Exclusions::from_pairs(labels.len(), []), ..Topology::default() };
    let mut last: Option<&Label> = None;
    for (label, index) in labels.iter().zip(0u32..) {
        if last.is_none_or(|last| !last.is_of_residue(label)) {
            topology.residues.push(Residue { name: label.residue, number: label.number, first: index });
            topology.chain_labels.push(label.chain);
        }
        last = Some(label);
        let number = match label.element {
            0 => element::of_names(label.name.as_str(), label.residue.as_str()),
            stated => stated,
        };
        topology.atoms.push(Atom {
            name: label.name,
            type_name: label.name,
            element: number,
            mass: element::weight(number),
            charge: 0.0,
            lj_type: 0,
            residue: topology.residues.len() as u32 - 1,
        });
    }
    topology
}
