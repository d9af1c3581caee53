//! Radius and tensor of gyration.

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Plot, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::Summary;
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::Result;
use crate::observe::trajectory::StoredFrame;
use crate::vec3::Vec3;
use nalgebra::{Matrix3, SymmetricEigen};

/// Results: rg (nm), and the eigenvalues of the tensor of gyration (nm², largest first), over time. The trace of the
/// tensor is the square of the radius
#[derive(Debug, clap::Args)]
pub(super) struct RgOptions {
    /// Selection of atoms
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
}

impl Options for RgOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        Ok(Box::new(RadiusOfGyration::new(input.system, group)?))
    }
}

/// Observable of the radius of gyration √(Σ m |r − c|² / Σ m) in nm, with the center of mass c, and of the eigenvalues
/// of the tensor of gyration Σ m (r − c)⊗(r − c) / Σ m in nm² (Theodorou & Suter, Macromolecules 18, 1206 (1985),
/// doi:10.1021/ma00148a028).
#[derive(Debug)]
pub struct RadiusOfGyration {
    group: Group,
    /// masses of the atoms divided by the total mass
    weights: Vec<f64>,
    radii: Vec<f64>,
    eigenvalues: Vec<f64>,
}

impl RadiusOfGyration {
    /// Creates the observable for a group. Fails if the group has no mass.
    pub fn new(system: &AnalysedSystem<'_>, group: Group) -> Result<Self> {
        let weights = system.weights(&group, true)?;
        Ok(Self { group, weights, radii: vec![], eigenvalues: vec![] })
    }

    /// Returns the radius of gyration (nm) of each frame added so far.
    pub fn values(&self) -> &[f64] {
        &self.radii
    }
}

impl Observable for RadiusOfGyration {
    /// radius (nm), and eigenvalues of the tensor (nm²), largest first
    type Sample = (f64, [f64; 3]);

    fn atoms_used(&self) -> usize {
        self.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let positions = self.group.positions(frame);
        let weighted = || positions.iter().zip(&self.weights);
        let center = weighted().fold(Vec3::ZERO, |sum, (r, &weight)| sum + *r * weight);
        let tensor = weighted().fold([[0.0; 3]; 3], |mut sum, (r, &weight)| {
            let r = (*r - center).to_array();
            sum.iter_mut()
                .zip(r)
                .for_each(|(row, a)| row.iter_mut().zip(r).for_each(|(sum, b)| *sum += weight * a * b));
            sum
        });
        let mut values: [f64; 3] = SymmetricEigen::new(Matrix3::from_fn(|i, j| tensor[i][j])).eigenvalues.into();
        values.sort_by(|a, b| b.total_cmp(a));
        Ok(((tensor[0][0] + tensor[1][1] + tensor[2][2]).sqrt(), values))
    }

    fn add(&mut self, (radius, eigenvalues): Self::Sample) -> Result<()> {
        self.radii.push(radius);
        self.eigenvalues.extend(eigenvalues);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let count = self.radii.len();
        let summary = Summary::of(&self.radii);
        Ok(Findings {
            arrays: vec![
                Array::new("rg", [(TIME, count)], self.radii.clone(), "nm"),
                Array::new("eigenvalues", [(TIME, count), ("axis", 3)], self.eigenvalues.clone(), "nm+2"),
                self.group.array(),
            ],
            numbers: vec![summary.number("rg", "nm")],
            settings: vec![("select", self.group.text.clone()), ("weights", "mass".to_owned())],
            summary: summary.lines("nm"),
            warnings: vec![],
            plots: vec![Plot::over_time(
                format!("Radius of gyration: {}", self.group.text),
                Axis::new("radius of gyration / nm"),
                summary.layers(&passed.times, &self.radii),
            )],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::Images;
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// Two masses m and M at a distance d have the radius of gyration √(m M)/(m + M) d wherever they are in the cell; a
    /// single atom has the radius of gyration zero.
    #[test]
    fn two_masses() {
        let name = Name::new("X");
        let atom = |mass| Atom { name, type_name: name, element: 6, mass, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom(3.0), atom(0.0), atom(12.0)], ..Topology::default() };
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let mut found = RadiusOfGyration::new(&system, system.group_of("two", vec![0, 2])).unwrap();
        for d in [0.0, 0.5, 2.0] {
            let positions = vec![vec3(5.0, -1.0, 2.0), Vec3::ZERO, vec3(5.0, d - 1.0, 2.0)];
            found.observe(&[StoredFrame { positions, ..StoredFrame::default() }]).unwrap();
        }
        // tolerance for a few rounding errors of numbers of order 1
        assert!(found.values().iter().zip([0.0, 0.2, 0.8]).all(|(a, b)| (a - b).abs() < 1e-15), "{:?}", found.values());
        let massless = RadiusOfGyration::new(&system, system.group_of("one", vec![1]));
        assert!(massless.unwrap_err().to_string().contains("no mass"));
    }
}
