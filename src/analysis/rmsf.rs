//! Root mean square fluctuation (RMSF) of atoms, and the B-factors that follow from it.

use std::f64::consts::PI;

use super::ObservableOptions;
use super::output::{Array, Findings};
use super::pass::{Observable, SelectedFrame, Selection, Selector};
use super::rmsd_to::Reference;
use crate::error::Result;
use crate::observe::trajectory::FrameSource;
use crate::superpose::{correlation, rotation};
use crate::vec3::Vec3;

/// Conversion from nm² to Å², the unit of B-factors in PDB files.
const SQUARE_ANGSTROMS: f64 = 100.0;

/// Datasets of the result file: /rmsf (nm), /b_factor (Å²) and /mean (nm, atoms × 3) of each atom, /time, /step,
/// /atoms
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Structure on which every frame is superposed. Give the word first, the number of a frame (from 0), or a
    /// coordinate file of the same atoms
    #[arg(long, value_name = "FRAME|FILE", default_value = "first", value_parser = Reference::parse)]
    reference: Reference,
    /// Weight atoms by mass in the superposition (default: equal weights)
    #[arg(long)]
    mass_weighted: bool,
}

impl ObservableOptions for Options {
    fn observable(&self, trajectory: &mut dyn FrameSource, selector: &Selector<'_>) -> Result<Box<dyn Observable>> {
        let positions = self.reference.positions(trajectory, selector)?;
        Ok(Box::new(Fluctuation::new(self.reference.to_string(), positions, self.mass_weighted)))
    }
}

/// Root mean square fluctuation √⟨|r − ⟨r⟩|²⟩ in nm of each atom, after optimal superposition of every frame on a
/// reference.
///
/// The mean positions and the squared deviations are updated frame by frame (Welford, Technometrics 4, 419 (1962),
/// doi:10.1080/00401706.1962.10490022). Therefore frames are not stored. An isotropic B-factor is the mean square
/// fluctuation times 8π²/3.
#[derive(Clone, Debug)]
pub struct Fluctuation {
    /// description of the reference for the summary
    name: String,
    by_mass: bool,
    weights: Vec<f64>,
    /// positions of the reference, nm
    reference: Vec<Vec3>,
    center: Vec3,
    count: usize,
    /// mean ⟨r⟩ of the superposed positions, nm
    mean: Vec<Vec3>,
    /// Σ |r − ⟨r⟩|² of each atom over the frames, nm²
    squares: Vec<f64>,
}

impl Fluctuation {
    /// Creates the observable. Frames are superposed on the selected atoms of a reference structure, whose positions
    /// are in nm. `name` is the name of the reference in the summary.
    pub fn new(name: String, reference: Vec<Vec3>, by_mass: bool) -> Self {
        let (mean, squares) = (vec![Vec3::ZERO; reference.len()], vec![0.0; reference.len()]);
        Self { name, by_mass, weights: vec![], reference, center: Vec3::ZERO, count: 0, mean, squares }
    }

    /// Returns the RMSF in nm of each atom, over the frames added up to now.
    pub fn values(&self) -> Vec<f64> {
        self.squares.iter().map(|square| (square / self.count.max(1) as f64).sqrt()).collect()
    }

    fn center(&self, positions: &[Vec3]) -> Vec3 {
        positions.iter().zip(&self.weights).fold(Vec3::ZERO, |sum, (r, &weight)| sum + *r * weight)
    }
}

impl Observable for Fluctuation {
    fn begin(&mut self, selection: &Selection<'_>) -> Result<()> {
        assert_eq!(self.reference.len(), selection.atoms.len(), "the reference has the selected atoms");
        (self.weights, _) = selection.weights(self.by_mass)?;
        self.center = self.center(&self.reference);
        Ok(())
    }

    fn frame(&mut self, frame: &SelectedFrame<'_>) -> Result<()> {
        let own = self.center(frame.positions);
        let weighted = frame.positions.iter().zip(&self.weights).map(|(&a, &weight)| (a - own) * weight);
        let r = rotation(&correlation(weighted.zip(self.reference.iter().map(|&b| b - self.center))));
        let row = |i: usize| Vec3::from([r[(i, 0)], r[(i, 1)], r[(i, 2)]]);
        let rows = [row(0), row(1), row(2)];
        self.count += 1;
        for ((position, mean), square) in frame.positions.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let turned = Vec3::from(rows.map(|row| row.dot(*position - own))) + self.center;
            let before = turned - *mean;
            *mean += before / self.count as f64;
            *square += before.dot(turned - *mean);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Findings> {
        let values = self.values();
        let atoms = values.len();
        let mean = values.iter().sum::<f64>() / atoms.max(1) as f64;
        let largest = (0..atoms).max_by(|&a, &b| values[a].total_cmp(&values[b]));
        let largest = largest.map(|at| format!("largest      {:.5} nm, selected atom {at} (from 0)", values[at]));
        let factors = values.iter().map(|value| 8.0 / 3.0 * PI * PI * value * value * SQUARE_ANGSTROMS).collect();
        let positions = self.mean.iter().flat_map(|r| r.to_array()).collect();
        let weights = if self.by_mass { "mass" } else { "equal" };
        Ok(Findings {
            arrays: vec![
                Array::new("rmsf", &[atoms], values, "nm"),
                Array::new("b_factor", &[atoms], factors, "angstrom+2"),
                Array::new("mean", &[atoms, 3], positions, "nm"),
            ],
            settings: vec![("weights", weights.to_owned()), ("reference", self.name.clone())],
            summary: [format!("mean         {mean:.5} nm over all atoms, superposed on {}", self.name)]
                .into_iter()
                .chain(largest)
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// Four atoms are at the corners of a large square, and a fifth atom of negligible weight swings by ±a about the
    /// center of the square. Whatever the rotation and translation of the frames, only the fifth atom fluctuates, and
    /// its RMSF is a.
    #[test]
    fn one_atom_swings() {
        let name = Name::new("X");
        let atom = |mass| Atom { name, type_name: name, element: 6, mass, charge: 0.0, lj_type: 0, residue: 0 };
        let atoms = [10.0, 10.0, 10.0, 10.0, 1e-9].map(atom).to_vec();
        let topology = Topology { atoms, ..Topology::default() };
        let amplitude = 0.125;
        let frame = |index: usize| {
            let (sin, cos) = (0.7 * index as f64).sin_cos();
            let swing = if index.is_multiple_of(2) { amplitude } else { -amplitude };
            let corners = [[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, swing]];
            corners.map(|[x, y, z]| vec3(cos * x - sin * y + index as f64, z - 3.0, sin * x + cos * y)).to_vec()
        };
        let mut found = Fluctuation::new("the first".into(), frame(0), true);
        found.begin(&Selection { topology: &topology, atoms: &[0, 1, 2, 3, 4] }).unwrap();
        for index in 0..8 {
            let positions = frame(index);
            found.frame(&SelectedFrame { index, step: 0, time: 0.0, cell: None, positions: &positions }).unwrap();
        }
        // tolerance for the square root of rounding errors of numbers of order 1, and for the weight of the fifth
        // atom
        for (value, expected) in found.values().iter().zip([0.0, 0.0, 0.0, 0.0, amplitude]) {
            assert!((value - expected).abs() < 1e-7, "{:?}", found.values());
        }
        // expected B-factor: 8π²/3 · (1.25 Å)²
        let factors = &found.finish().unwrap().arrays[1];
        let crate::analysis::Values::Double(factors) = &factors.values else { panic!("f64") };
        assert!((factors[4] - 41.123_351_671_205_7).abs() < 1e-4, "{factors:?}");
    }
}
