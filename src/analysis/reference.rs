//! Reference structures of an analysis.

use std::path::PathBuf;

use super::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::format::{check_order, read_coordinates};
use crate::observe::trajectory::{FrameSource, StoredFrame};
use crate::vec3::Vec3;

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

    /// Returns the reference structure of all atoms. Molecules are made whole in the cell of the reference.
    pub fn frame(&self, trajectory: &mut dyn FrameSource, system: &AnalysedSystem<'_>) -> Result<StoredFrame> {
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
                let found = read_coordinates(path, Some(topology.atoms.len()), None)?;
                check_order(topology, &found.labels).map_err(|problem| problem.in_file(path))?;
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
        let mut frame = self.frame(trajectory, system)?;
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
        let first = group.positions(&Reference::Frame(0).frame(trajectory, system)?);
        Ok(group.fitted(&self.frame(trajectory, system)?, &first))
    }
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
    fn references_are_named_in_three_ways() {
        let parsed = ["first", "17", "start.rst7"].map(|text| Reference::parse(text).unwrap());
        assert_eq!(parsed, [Reference::Frame(0), Reference::Frame(17), Reference::File("start.rst7".into())]);
    }
}
