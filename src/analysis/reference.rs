//! Reference structures of an analysis.

use std::path::{Path, PathBuf};

use super::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::format::{Coordinates, TopologyOptions, check_order, read_coordinates, read_names};
use crate::observe::trajectory::{FrameSource, StoredFrame};
use crate::select::{Geometry, select_at};
use crate::system::Topology;
use crate::vec3::Vec3;
use md_build::entry::residue_name;

/// Reference structure of an observable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// number of a frame of the trajectory, from 0
    Frame(usize),
    /// structure in a coordinate file
    File(PathBuf),
}

impl Reference {
    /// Parses a reference: `first`, the number of a frame, or the name of a coordinate file.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        Ok(match (text, text.parse()) {
            ("first", _) => Reference::Frame(0),
            (_, Ok(index)) => Reference::Frame(index),
            _ => Reference::File(text.into()),
        })
    }

    /// Returns the reference structure of all atoms. Molecules are made whole in the cell of the reference. A structure
    /// from a file may have other atoms than the trajectory, if its selected atoms are those of `group`; the positions
    /// of all other atoms are then NaN.
    fn frame(
        &self,
        trajectory: &mut dyn FrameSource,
        system: &AnalysedSystem<'_>,
        group: &Group,
    ) -> Result<StoredFrame> {
        let mut frame = StoredFrame::default();
        match self {
            Reference::Frame(index) => {
                let count = trajectory.frames();
                if *index >= count {
                    let message = format!("--reference: there is no frame {index}; the trajectory has {count} frames");
                    return Err(Problem::new(message).help("frames are counted from 0").into());
                }
                trajectory.read(*index, &mut frame)?;
            }
            Reference::File(path) => {
                let topology = system.topology();
                let count = topology.atoms.len();
                let found = match read_coordinates(path, Some(count), None) {
                    Ok(found) => {
                        check_order(topology, &found.labels).map_err(|problem| problem.in_file(path))?;
                        found
                    }
                    Err(error) => match read_coordinates(path, None, None) {
                        Ok(found) if !found.labels.is_empty() && found.positions.len() != count => {
                            selected_atoms(path, found, topology, group)?
                        }
                        _ => return Err(error),
                    },
                };
                (frame.positions, frame.cell) = (found.positions, found.cell);
                // if positions stay as stored, only minimum-image distances use the cell. The cell of a crystal with
                // symmetry contains further copies of the atoms, so that its minimum-image distances are meaningless
                if found.left_out.symmetry && !system.makes_whole() {
                    frame.cell = None;
                }
            }
        }
        system.make_whole(&mut frame);
        Ok(frame)
    }

    /// Returns the reference structure of all atoms, for the measurement of distances within a group. In a structure
    /// from a file, the molecules of the group are moved to periodic images near each other. A structure from a file is
    /// returned without its cell, because distances between periodic images in a crystal are not distances of the
    /// simulation. A frame of the trajectory keeps its cell.
    pub fn without_images(
        &self,
        trajectory: &mut dyn FrameSource,
        system: &AnalysedSystem<'_>,
        group: &Group,
    ) -> Result<StoredFrame> {
        let mut frame = self.frame(trajectory, system, group)?;
        if matches!(self, Reference::File(_)) && system.makes_whole() {
            system.gather(group, &mut frame);
            frame.cell = None;
        }
        Ok(frame)
    }

    /// Returns the positions (nm) of a group in the reference, in the periodic images that fit the first frame of the
    /// trajectory best.
    pub fn positions(
        &self,
        trajectory: &mut dyn FrameSource,
        system: &AnalysedSystem<'_>,
        group: &Group,
    ) -> Result<Vec<Vec3>> {
        let first = group.positions(&Reference::Frame(0).frame(trajectory, system, group)?);
        Ok(group.fitted(&self.frame(trajectory, system, group)?, &first))
    }

    /// Returns the positions (nm) of a group in the reference, with each molecule in the cell of the reference. In a
    /// cell whose size fluctuates, distances from a molecule in another image would contain the change of a lattice
    /// vector, and thus depend on the image that is stored.
    pub fn positions_in_cell(
        &self,
        trajectory: &mut dyn FrameSource,
        system: &AnalysedSystem<'_>,
        group: &Group,
    ) -> Result<Vec<Vec3>> {
        Ok(group.in_cell(&self.frame(trajectory, system, group)?))
    }
}

/// Whether two names belong to the same residue in different force fields or protonation states.
fn is_same_residue(a: &str, b: &str) -> bool {
    a == b || residue_name(a).is_some_and(|name| residue_name(b) == Some(name))
}

/// Returns coordinates of all atoms of the topology, in which the atoms of the group have the positions of the atoms
/// that the selection of the group selects in a structure. All other positions are NaN. Fails if the selected atoms of
/// the structure have other names or residues than the group.
fn selected_atoms(path: &Path, found: Coordinates, topology: &Topology, group: &Group) -> Result<Coordinates> {
    let structure = read_names(path, &TopologyOptions::default())?.topology;
    let geometry = Geometry { positions: &found.positions, cell: found.cell.as_ref() };
    let selected = select_at(&structure, geometry, &group.text)?;
    let help = "select atoms that structure and trajectory have in common, for example \"protein and name CA\"";
    if selected.len() != group.atoms.len() {
        let (own, wanted, text) = (selected.len(), group.atoms.len(), &group.text);
        let message = format!("\"{text}\" selects {own} atoms of this structure, but {wanted} of the trajectory");
        return Err(Problem::new(message).in_file(path).help(help).into());
    }
    let mut positions = vec![Vec3::splat(f64::NAN); topology.atoms.len()];
    for (&from, &to) in selected.iter().zip(&group.atoms) {
        let names = [(&structure, from), (topology, to)].map(|(topology, atom)| {
            let atom = &topology.atoms[atom as usize];
            [atom.name, topology.residues[atom.residue as usize].name]
        });
        let [a, b] = names.each_ref().map(|[_, residue]| residue.as_str());
        if names[0][0] != names[1][0] || !is_same_residue(a, b) {
            let (own, other) = (structure.atom_name(from), topology.atom_name(to));
            let message = format!("the selected atom {own} of this structure belongs to {other} of the trajectory");
            return Err(Problem::new(message).in_file(path).help(help).into());
        }
        positions[to as usize] = found.positions[from as usize];
    }
    Ok(Coordinates { positions, ..found })
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reference::Frame(index) => write!(f, "frame {index}"),
            Reference::File(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_have_several_names() {
        for (a, b, same) in [
            ("HIS", "HSD", true),
            ("HIE", "HISH", true),
            ("ASPH", "ASH", true),
            ("LYSH", "LYN", true),
            ("MSE", "MET", true),
            ("LIG", "LIG", true),
            ("LIG", "UNK", false),
            ("ASP", "GLU", false),
            ("A", "DA", false),
        ] {
            assert_eq!(is_same_residue(a, b), same, "{a} {b}");
        }
    }

    #[test]
    fn references_are_named_in_three_ways() {
        let parsed = ["first", "17", "start.rst7"].map(|text| Reference::parse(text).unwrap());
        assert_eq!(parsed, [Reference::Frame(0), Reference::Frame(17), Reference::File("start.rst7".into())]);
    }
}
