//! Density profile along an axis of the cell.

use super::{Input, Options, cell_of};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::Group;
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::observe::statistics::Statistics;
use crate::observe::trajectory::StoredFrame;
use crate::units::DENSITY;

/// Names of the axes of a cell.
const AXES: [&str; 3] = ["x", "y", "z"];
/// Change of a tilt between two frames above which a lattice vector was replaced by another one. A replacement changes
/// the tilt by one.
const OTHER_VECTOR: f64 = 0.5;
/// Largest tilt that counts as a right angle.
const STRAIGHT: f64 = 1e-6;

/// Results: density by position (nm) along the axis, with its standard error and its standard deviation over time.
/// Positions start at a face of the cell, or are relative to the center of mass of a group
#[derive(Debug, clap::Args)]
pub(super) struct DensityOptions {
    /// Selection of atoms
    #[arg(long, value_name = "TEXT", default_value = "all")]
    select: String,
    /// Axis of the cell: x, y and z stand for the lattice vectors a, b and c of the reduced cell
    #[arg(long, value_parser = AXES, default_value = "z")]
    axis: String,
    /// Quantity: mass (kg/m³), charge (e/nm³) or number (1/nm³)
    #[arg(long, value_parser = ["mass", "charge", "number"], default_value = "mass")]
    of: String,
    /// Number of bins
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    bins: u32,
    /// Shift each frame so that the center of mass of this selection is in the middle of the profile
    #[arg(long, value_name = "TEXT")]
    center: Option<String>,
}

impl Options for DensityOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        let scaled = |masses: Vec<f64>| masses.into_iter().map(|mass| mass * 1000.0 * DENSITY).collect();
        let (weights, title, unit): (Vec<f64>, _, _) = match self.of.as_str() {
            "mass" => (scaled(input.system.masses(&group)), "Mass", "kg m-3"),
            "charge" => (input.system.charges(&group)?, "Charge", "e nm-3"),
            "number" => (vec![1.0; group.atoms.len()], "Number", "nm-3"),
            other => unreachable!("{other} is not a value of the option --of"),
        };
        let center = match &self.center {
            Some(text) => {
                let group = input.system.group(text)?;
                let weights = input.system.weights(&group, true)?;
                Some((group, weights))
            }
            None => None,
        };
        let axis = AXES.iter().position(|axis| self.axis == *axis).unwrap_or(2);
        let bins = self.bins as usize;
        Ok(Box::new(Profile {
            group,
            weights,
            center,
            axis,
            of: self.of.clone(),
            title,
            unit,
            densities: Statistics::new(vec![("", ""); bins]),
            bins,
            length: 0.0,
            frames: 0,
            cell: None,
        }))
    }
}

/// Observable of a density profile: the sum of a quantity over the atoms in a slab, divided by the volume of the slab
/// in each frame. The slabs divide one lattice vector into equal parts and are parallel to the other two lattice
/// vectors.
struct Profile {
    group: Group,
    /// contribution of each atom to the quantity, in the unit of the density times nm³
    weights: Vec<f64>,
    /// group whose center of mass is moved to the middle of the profile, and the weights of its atoms
    center: Option<(Group, Vec<f64>)>,
    axis: usize,
    /// quantity whose density is measured, as in the option `--of`
    of: String,
    /// name of the quantity as the first word of a title
    title: &'static str,
    unit: &'static str,
    /// averages of the density of each slab
    densities: Statistics,
    /// number of slabs
    bins: usize,
    /// sum over frames of the distance between the two cell faces that bound the profile, nm
    length: f64,
    frames: usize,
    /// cell of the last frame
    cell: Option<PeriodicCell>,
}

/// Sample of a frame: time (ps), density of each slab, and the cell.
struct Slabs {
    time: f64,
    densities: Vec<f64>,
    cell: PeriodicCell,
}

impl Profile {
    /// Returns the tilts that determine the direction of the slabs, and that the reduction of the cell may change by
    /// one: components of other lattice vectors along the divided vector, as fractions of its length. Slabs along c
    /// have no such tilt, because c is the only vector with a component along z.
    fn tilts(&self, cell: &PeriodicCell) -> Vec<f64> {
        let [a, b, c] = cell.rows();
        match self.axis {
            0 => vec![b.x / a.x, c.x / a.x],
            1 => vec![c.y / b.y],
            _ => vec![],
        }
    }
}

impl Observable for Profile {
    type Sample = Slabs;

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let cell = cell_of(frame, "a density profile divides the cell into slabs")?;
        let bins = self.bins;
        let fraction = |r| cell.to_fractional(r).to_array()[self.axis];
        let middle = self.center.as_ref().map(|(group, weights)| {
            let positions = group.positions(frame);
            fraction(positions.into_iter().zip(weights).map(|(r, &weight)| r * weight).sum()) - 0.5
        });
        let mut slabs = vec![0.0; bins];
        for (r, weight) in self.group.stored(frame).into_iter().zip(&self.weights) {
            let along = (fraction(r) - middle.unwrap_or(0.0)).rem_euclid(1.0);
            slabs[((along * bins as f64) as usize).min(bins - 1)] += weight;
        }
        let volume = cell.volume() / bins as f64;
        slabs.iter_mut().for_each(|sum| *sum /= volume);
        Ok(Slabs { time: frame.time, densities: slabs, cell: *cell })
    }

    fn add(&mut self, Slabs { time, densities, cell }: Self::Sample) -> Result<()> {
        if let Some(before) = &self.cell {
            let (now, before) = (self.tilts(&cell), self.tilts(before));
            if now.iter().zip(&before).any(|(now, before)| (now - before).abs() > OTHER_VECTOR) {
                let axis = AXES[self.axis];
                let message = format!(
                    "the cell changes its shape so much that the reduced lattice vectors from the frame at {time} ps on \
                     are other vectors of the lattice. A profile along {axis} would mix two directions"
                );
                let help =
                    "analyse the frames before and after this time separately (--end, --begin), or choose --axis z";
                return Err(Problem::new(message).help(help).into());
            }
        }
        self.densities.add(self.frames as f64, &densities);
        self.length += cell.face_distances()[self.axis];
        self.frames += 1;
        self.cell = Some(cell);
        Ok(())
    }

    fn finish(&mut self, _: &Passed) -> Result<Findings> {
        let bins = self.bins;
        let length = self.length / self.frames.max(1) as f64;
        let start = if self.center.is_some() { -0.5 * length } else { 0.0 };
        let positions: Vec<f64> = (0..bins).map(|k| start + (k as f64 + 0.5) * length / bins as f64).collect();
        let averages = self.densities.averages();
        let densities: Vec<f64> = averages.iter().map(|slab| slab.mean).collect();
        let deviations: Vec<f64> = averages.iter().map(|slab| slab.fluctuation).collect();
        let errors: Vec<f64> = averages.iter().map(|slab| slab.error.unwrap_or(f64::NAN)).collect();
        let mean = densities.iter().sum::<f64>() / bins as f64;
        let words = self.unit.replace("-3", "⁻³");
        let mut summary = vec![format!("mean         {mean:.4} {words} over {length:.4} nm")];
        if let Some(cell) = self.cell.filter(|cell| self.tilts(cell).iter().any(|tilt| tilt.abs() > STRAIGHT)) {
            let [a, b, c] = cell.rows().map(|v| format!("({:.4}, {:.4}, {:.4})", v.x, v.y, v.z));
            summary.push(format!(
                "slabs        parallel to the other two vectors of the reduced cell, in the last frame a = {a}, b = {b}, \
                 c = {c} nm"
            ));
        }
        Ok(Findings {
            summary,
            plots: vec![Plot {
                suffix: "",
                title: format!("{} density: {}", self.title, self.group.text),
                x: Axis::between(format!("{} / nm", AXES[self.axis]), [start, start + length]),
                y: Axis::new(format!("density / {words}")),
                layers: vec![Layer::Line {
                    label: String::new(),
                    x: positions.clone(),
                    y: densities.clone(),
                    error: if errors.iter().any(|error| error.is_finite()) { errors.clone() } else { vec![] },
                }],
            }],
            arrays: vec![
                Array::new("density", [("position", bins)], densities, self.unit),
                Array::new("error", [("position", bins)], errors, self.unit),
                Array::new("deviation", [("position", bins)], deviations, self.unit),
                Array::new("position", [("position", bins)], positions, "nm"),
            ],
            settings: vec![("select", self.group.text.clone()), ("of", self.of.clone())],
            ..Findings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::{AnalysedSystem, Images};
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// Profile of a single atom in two slabs along an axis.
    fn profile(axis: usize) -> Profile {
        let name = Name::new("X");
        let atom = Atom { name, type_name: name, element: 6, mass: 12.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom], ..Topology::default() };
        let group = AnalysedSystem::new(&topology, Images::AsStored).group_of("all", vec![0]);
        Profile {
            group,
            weights: vec![1.0],
            center: None,
            axis,
            of: "number".to_owned(),
            title: "Number",
            unit: "nm-3",
            densities: Statistics::new(vec![("", ""); 2]),
            bins: 2,
            length: 0.0,
            frames: 0,
            cell: None,
        }
    }

    /// A cell whose angle γ passes 60° gets another reduced vector b, so that slabs along a would turn.
    #[test]
    fn slabs_do_not_turn_with_the_reduction_of_the_cell() {
        for (axis, is_refused) in [(0, true), (1, false), (2, false)] {
            let mut profile = profile(axis);
            let mut add = |gamma: f64| {
                let (sin, cos) = gamma.to_radians().sin_cos();
                let rows = [vec3(3.0, 0.0, 0.0), vec3(3.0 * cos, 3.0 * sin, 0.0), vec3(0.0, 0.0, 3.0)];
                let cell = Some(PeriodicCell::from_rows(rows).unwrap());
                let frame = StoredFrame { cell, positions: vec![vec3(0.1, 0.1, 0.1)], ..StoredFrame::default() };
                let sample = profile.measure(&frame).unwrap();
                profile.add(sample)
            };
            add(62.0).unwrap();
            add(61.0).unwrap();
            assert_eq!(add(59.0).is_err(), is_refused, "{axis}");
        }
    }

    /// An atom that alternates between two slabs from frame to frame gives both slabs the same mean density.
    #[test]
    fn an_atom_alternates_between_slabs() {
        let mut profile = profile(2);
        for k in 0..64 {
            let positions = vec![vec3(0.1, 0.2, 0.5 + f64::from(k % 2))];
            let cell = Some(PeriodicCell::orthorhombic([1.0, 2.0, 2.0]));
            let sample = profile.measure(&StoredFrame { cell, positions, ..StoredFrame::default() }).unwrap();
            profile.add(sample).unwrap();
        }
        for slab in profile.densities.averages() {
            assert!((slab.mean - 0.25).abs() < 1e-12 && (slab.fluctuation - 0.25).abs() < 1e-12, "{slab:?}");
        }
        assert_eq!(profile.length, 128.0);
    }
}
