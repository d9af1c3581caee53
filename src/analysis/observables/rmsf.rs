//! Root mean square fluctuation (RMSF) of atoms, and the B-factors that follow from it.

use std::f64::consts::PI;

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::reference::Reference;
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::Result;
use crate::observe::trajectory::StoredFrame;
use crate::superpose::{correlation, rotation};
use crate::vec3::Vec3;

/// Factor from nm² to Å², the unit of B-factors in PDB files.
const SQUARE_ANGSTROMS: f64 = 100.0;

/// Results: rmsf (nm), b_factor (Å²) and mean position (nm) of each atom, with its residue (atom_residue, 0-based)
#[derive(Debug, clap::Args)]
pub(super) struct RmsfOptions {
    /// Selection of atoms
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Structure on which every frame is superposed: first, the number of a frame (from 0), or a coordinate file of the
    /// same atoms
    #[arg(long, value_name = "FRAME|FILE", default_value = "first", value_parser = Reference::parse)]
    reference: Reference,
    /// Weight atoms by mass in the superposition (default: equal weights)
    #[arg(long)]
    mass_weighted: bool,
}

impl Options for RmsfOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        let positions = self.reference.positions(input.trajectory, input.system, &group)?;
        let mut fluctuation = Fluctuation::new(input.system, group, positions, self.mass_weighted)?;
        fluctuation.name = self.reference.to_string();
        Ok(Box::new(fluctuation))
    }
}

/// Observable of the root mean square fluctuation √⟨|r − ⟨r⟩|²⟩ in nm of each atom at r, after optimal superposition of
/// every frame on a reference.
///
/// The mean positions and the squared deviations are updated frame by frame (Welford, Technometrics 4, 419 (1962),
/// doi:10.1080/00401706.1962.10490022), so that no frames are stored. An isotropic B-factor is the mean square
/// fluctuation times 8π²/3.
#[derive(Clone, Debug)]
pub struct Fluctuation {
    /// description of the reference for the summary
    pub name: String,
    group: Group,
    residues: Vec<u32>,
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
    /// Creates the observable for a group. Frames are superposed on the positions `reference` (nm) of the group.
    pub fn new(system: &AnalysedSystem<'_>, group: Group, reference: Vec<Vec3>, by_mass: bool) -> Result<Self> {
        assert_eq!(reference.len(), group.atoms.len(), "the reference must have one position for each selected atom");
        let weights = system.weights(&group, by_mass)?;
        let residues = group.atoms.iter().map(|&atom| system.topology().atoms[atom as usize].residue).collect();
        let (mean, squares) = (vec![Vec3::ZERO; reference.len()], vec![0.0; reference.len()]);
        let name = "a structure".to_owned();
        let mut new =
            Self { name, group, residues, by_mass, weights, reference, center: Vec3::ZERO, count: 0, mean, squares };
        new.center = new.center(&new.reference);
        Ok(new)
    }

    /// Returns the RMSF (nm) of each atom over all frames added so far.
    pub fn values(&self) -> Vec<f64> {
        self.squares.iter().map(|square| (square / self.count.max(1) as f64).sqrt()).collect()
    }

    fn center(&self, positions: &[Vec3]) -> Vec3 {
        positions.iter().zip(&self.weights).fold(Vec3::ZERO, |sum, (r, &weight)| sum + *r * weight)
    }
}

impl Observable for Fluctuation {
    /// superposed positions, nm
    type Sample = Vec<Vec3>;

    fn atoms_used(&self) -> usize {
        self.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let mut positions = self.group.fitted(frame, &self.reference);
        let own = self.center(&positions);
        let weighted = positions.iter().zip(&self.weights).map(|(&a, &weight)| (a - own) * weight);
        let r = rotation(&correlation(weighted.zip(self.reference.iter().map(|&b| b - self.center))));
        let rows = [0, 1, 2].map(|i| Vec3::from([r[(i, 0)], r[(i, 1)], r[(i, 2)]]));
        positions.iter_mut().for_each(|p| *p = Vec3::from(rows.map(|row| row.dot(*p - own))) + self.center);
        Ok(positions)
    }

    fn add(&mut self, superposed: Self::Sample) -> Result<()> {
        self.count += 1;
        for ((position, mean), square) in superposed.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let before = *position - *mean;
            *mean += before / self.count as f64;
            *square += before.dot(*position - *mean);
        }
        Ok(())
    }

    fn finish(&mut self, _: &Passed) -> Result<Findings> {
        let values = self.values();
        let atoms = values.len();
        let mean = values.iter().sum::<f64>() / atoms.max(1) as f64;
        let largest = (0..atoms).max_by(|&a, &b| values[a].total_cmp(&values[b]));
        let largest =
            largest.map(|at| format!("largest      {:.5} nm, atom {} (from 0)", values[at], self.group.atoms[at]));
        let factors: Vec<f64> =
            values.iter().map(|value| 8.0 / 3.0 * PI * PI * value * value * SQUARE_ANGSTROMS).collect();
        let positions: Vec<f64> = self.mean.iter().flat_map(|r| r.to_array()).collect();
        let weights = if self.by_mass { "mass" } else { "equal" };
        let number: Vec<f64> = self.group.atoms.iter().map(|&atom| f64::from(atom)).collect();
        Ok(Findings {
            plots: vec![Plot {
                suffix: "",
                title: format!("Fluctuation of atoms: {}", self.group.text),
                x: Axis::new("atom (from 0)").of_whole_numbers(),
                y: Axis::new("RMSF / nm"),
                layers: vec![Layer::line("", &number, &values)],
            }],
            arrays: vec![
                Array::new("rmsf", [("atoms", atoms)], values, "nm"),
                Array::new("b_factor", [("atoms", atoms)], factors, "angstrom+2"),
                Array::new("atom_residue", [("atoms", atoms)], self.residues.clone(), ""),
                Array::new("mean", [("atoms", atoms), ("xyz", 3)], positions, "nm"),
                self.group.array(),
            ],
            settings: vec![
                ("select", self.group.text.clone()),
                ("weights", weights.to_owned()),
                ("reference", self.name.clone()),
            ],
            summary: [format!("mean         {mean:.5} nm over all atoms, superposed on {}", self.name)]
                .into_iter()
                .chain(largest)
                .collect(),
            ..Findings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::Images;
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
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let group = system.group_of("all", (0..5).collect());
        let mut found = Fluctuation::new(&system, group, frame(0), true).unwrap();
        for index in 0..8 {
            found.observe(&[StoredFrame { positions: frame(index), ..StoredFrame::default() }]).unwrap();
        }
        // tolerance for the square root of rounding errors of numbers of order 1, and for the weight of the fifth
        // atom
        for (value, expected) in found.values().iter().zip([0.0, 0.0, 0.0, 0.0, amplitude]) {
            assert!((value - expected).abs() < 1e-7, "{:?}", found.values());
        }
        // expected B-factor: 8π²/3 · (1.25 Å)²
        let factors = &found.finish(&Passed::default()).unwrap().arrays[1];
        let crate::analysis::findings::Values::Double(factors) = &factors.values else { panic!("f64") };
        assert!((factors[4] - 41.123_351_671_205_7).abs() < 1e-4, "{factors:?}");
    }
}
