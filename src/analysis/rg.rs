//! Radius of gyration.

use super::ObservableOptions;
use super::output::{Array, Findings};
use super::pass::{Observable, SelectedFrame, Selection, Selector};
use crate::error::Result;
use crate::observe::trajectory::FrameSource;
use crate::vec3::Vec3;

/// The radius of gyration has no options. Datasets of the result file: /rg (nm), /time, /step, /atoms
#[derive(Debug, clap::Args)]
pub(super) struct Options {}

impl ObservableOptions for Options {
    fn observable(&self, _: &mut dyn FrameSource, _: &Selector<'_>) -> Result<Box<dyn Observable>> {
        Ok(Box::new(RadiusOfGyration::default()))
    }
}

/// Observable of the radius of gyration √(Σ m |r − c|² / Σ m) in nm of each frame, with the center of mass c.
#[derive(Clone, Debug, Default)]
pub struct RadiusOfGyration {
    /// masses of the selected atoms divided by the sum of all masses
    weights: Vec<f64>,
    values: Vec<f64>,
}

impl RadiusOfGyration {
    /// Returns the radius of gyration in nm of each frame added up to now.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Observable for RadiusOfGyration {
    fn begin(&mut self, selection: &Selection<'_>) -> Result<()> {
        (self.weights, _) = selection.weights(true)?;
        Ok(())
    }

    fn frame(&mut self, frame: &SelectedFrame<'_>) -> Result<()> {
        let weighted = || frame.positions.iter().zip(&self.weights);
        let center = weighted().fold(Vec3::ZERO, |sum, (r, &weight)| sum + *r * weight);
        let square: f64 = weighted().map(|(r, weight)| weight * (*r - center).norm_squared()).sum();
        self.values.push(square.sqrt());
        Ok(())
    }

    fn finish(&mut self) -> Result<Findings> {
        let count = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / count.max(1.0);
        let square = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let (least, largest) =
            self.values.iter().fold((f64::INFINITY, 0f64), |(a, b), &value| (a.min(value), b.max(value)));
        Ok(Findings {
            arrays: vec![Array::new("rg", &[self.values.len()], self.values.clone(), "nm")],
            settings: vec![("weights", "mass".to_owned())],
            summary: vec![
                format!("mean         {mean:.5} nm, standard deviation {:.5} nm", square.sqrt()),
                format!("range        {least:.5} to {largest:.5} nm"),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// Two masses m and M at distance d have the radius of gyration √(m M)/(m + M) d wherever they are. A single atom
    /// has a radius of gyration of zero.
    #[test]
    fn two_masses() {
        let name = Name::new("X");
        let atom = |mass| Atom { name, type_name: name, element: 6, mass, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom(3.0), atom(0.0), atom(12.0)], ..Topology::default() };
        let mut found = RadiusOfGyration::default();
        found.begin(&Selection { topology: &topology, atoms: &[0, 2] }).unwrap();
        for (index, d) in [0.0, 0.5, 2.0].into_iter().enumerate() {
            let positions = [vec3(5.0, -1.0, 2.0), vec3(5.0, d - 1.0, 2.0)];
            found.frame(&SelectedFrame { index, step: 0, time: 0.0, cell: None, positions: &positions }).unwrap();
        }
        // tolerance for some rounding errors of numbers of order 1
        assert!(found.values().iter().zip([0.0, 0.2, 0.8]).all(|(a, b)| (a - b).abs() < 1e-15), "{:?}", found.values());
        let massless = RadiusOfGyration::default().begin(&Selection { topology: &topology, atoms: &[1] });
        assert!(massless.unwrap_err().to_string().contains("no mass"));
    }
}
