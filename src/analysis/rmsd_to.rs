//! RMSD of every frame from a reference structure.

use std::path::PathBuf;

use super::output::{Array, Findings};
use super::pass::{Observable, SelectedFrame, Selection, Selector};
use crate::error::{Problem, Result};
use crate::format::{check_order, read_coordinates};
use crate::observe::trajectory::{FrameSource, StoredFrame};
use crate::superpose::{correlation, overlap};
use crate::vec3::Vec3;

/// Reference structure of an RMSD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// frame of the trajectory, from 0
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

    /// Returns the positions of the selected atoms of the reference, in the periodic images that fit the first frame
    /// best.
    pub fn positions(&self, trajectory: &mut dyn FrameSource, selector: &Selector<'_>) -> Result<Vec<Vec3>> {
        let count = trajectory.frames();
        if let Reference::Frame(index) = self
            && *index >= count
        {
            let problem =
                Problem::new(format!("--reference: there is no frame {index}; the trajectory has {count} frames"));
            return Err(problem.help("frames are counted from 0").into());
        }
        let mut frame = StoredFrame::default();
        trajectory.read(0, &mut frame)?;
        let first = selector.positions(&mut frame);
        match self {
            Reference::Frame(index) => trajectory.read(*index, &mut frame)?,
            Reference::File(path) => {
                let topology = selector.selection().topology;
                let found = read_coordinates(path, Some(topology.atoms.len()), None)?;
                check_order(topology, &found.labels).map_err(|problem| problem.in_file(path))?;
                (frame.positions, frame.cell) = (found.positions, found.cell);
            }
        }
        Ok(selector.reference(&mut frame, &first))
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

/// Observable of the RMSD in nm of each frame from a reference: the root of the mean square deviation, which may be
/// weighted, after optimal superposition.
#[derive(Clone, Debug)]
pub struct RmsdToReference {
    /// description of the reference for the summary
    name: String,
    by_mass: bool,
    weights: Vec<f64>,
    /// centered positions of the reference, nm
    reference: Vec<Vec3>,
    /// Σ w |r|² over the centered positions r of the reference, with weights w, nm²
    spread: f64,
    values: Vec<f64>,
    times: Vec<f64>,
}

impl RmsdToReference {
    /// Creates the observable for the selected atoms of a reference, whose positions are in nm. `name` is the name of
    /// the reference in the summary.
    pub fn new(name: String, reference: Vec<Vec3>, by_mass: bool) -> Self {
        Self { name, by_mass, weights: vec![], reference, spread: 0.0, values: vec![], times: vec![] }
    }

    /// Returns the RMSD in nm of each frame added up to now.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// Subtracts the weighted center from the positions. Returns Σ w |r|² of the centered positions.
fn center(positions: &mut [Vec3], weights: &[f64]) -> f64 {
    let center = positions.iter().zip(weights).fold(Vec3::ZERO, |sum, (r, &weight)| sum + *r * weight);
    positions.iter_mut().for_each(|r| *r -= center);
    positions.iter().zip(weights).map(|(r, weight)| weight * r.norm_squared()).sum()
}

impl Observable for RmsdToReference {
    fn begin(&mut self, selection: &Selection<'_>) -> Result<()> {
        assert_eq!(self.reference.len(), selection.atoms.len(), "the reference has the selected atoms");
        (self.weights, _) = selection.weights(self.by_mass)?;
        self.spread = center(&mut self.reference, &self.weights);
        Ok(())
    }

    fn frame(&mut self, frame: &SelectedFrame<'_>) -> Result<()> {
        let mut positions = frame.positions.to_vec();
        let bound = 0.5 * (center(&mut positions, &self.weights) + self.spread);
        let weighted = positions.iter().zip(&self.weights).map(|(&r, &weight)| r * weight);
        let m = correlation(weighted.zip(self.reference.iter().copied()));
        self.values.push((2.0 * (bound - overlap(&m, bound))).max(0.0).sqrt());
        self.times.push(frame.time);
        Ok(())
    }

    fn finish(&mut self) -> Result<Findings> {
        let mean = self.values.iter().sum::<f64>() / self.values.len().max(1) as f64;
        let last = (0..self.values.len()).max_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        let largest = last.map(|at| format!("largest      {:.5} nm, at {:.3} ps", self.values[at], self.times[at]));
        let weights = if self.by_mass { "mass" } else { "equal" };
        Ok(Findings {
            arrays: vec![Array::new("rmsd", &[self.values.len()], self.values.clone(), "nm")],
            settings: vec![("weights", weights.to_owned()), ("reference", self.name.clone())],
            summary: [format!("mean         {mean:.5} nm from {}", self.name)].into_iter().chain(largest).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// Isosceles triangles of base 2 and height 3 h are rotated and translated, and differ only by their heights. The
    /// atoms of such a triangle have the centered heights −h, −h and 2 h, so the RMSD of two triangles is √((Δh)² (1
    /// + 1 + 4)/3) = √2 |Δh|.
    #[test]
    fn triangles_differ_by_their_heights() {
        let triangle = |h: f64, turn: f64| {
            let (sin, cos) = turn.sin_cos();
            let turned = |x: f64, y: f64| vec3(cos * x - sin * y, 5.0 + turn, sin * x + cos * y);
            vec![turned(-1.0, 0.0), turned(1.0, 0.0), turned(0.0, 3.0 * h)]
        };
        let name = Name::new("X");
        let atom = Atom { name, type_name: name, element: 6, mass: 2.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom; 3], ..Topology::default() };
        for by_mass in [false, true] {
            let mut found = RmsdToReference::new("a triangle".into(), triangle(1.0, 0.3), by_mass);
            found.begin(&Selection { topology: &topology, atoms: &[0, 1, 2] }).unwrap();
            let heights = [1.0, 1.5, 0.25, 4.0];
            for (index, h) in heights.into_iter().enumerate() {
                let positions = triangle(h, index as f64);
                found.frame(&SelectedFrame { index, step: 0, time: 0.0, cell: None, positions: &positions }).unwrap();
            }
            for (value, h) in found.values().iter().zip(heights) {
                // tolerance for the square root of rounding errors of numbers of order 1
                assert!((value - 2f64.sqrt() * (h - 1.0f64).abs()).abs() < 1e-7, "{h}: {value}");
            }
        }
    }

    #[test]
    fn references_are_named_in_three_ways() {
        let parsed = ["first", "17", "start.rst7"].map(|text| Reference::parse(text).unwrap());
        assert_eq!(parsed, [Reference::Frame(0), Reference::Frame(17), Reference::File("start.rst7".into())]);
    }
}
