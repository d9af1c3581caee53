//! Distances, angles and torsions between the centers of groups of atoms.

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::Summary;
use crate::analysis::system::{AnalysedSystem, Group};
use crate::cell::displacement;
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::term::Dihedral;
use crate::vec3::Vec3;

/// Results: distance (nm, time × pair) between the centers of mass of each pair of groups, at the minimum image
#[derive(Debug, clap::Args)]
pub(super) struct DistancesOptions {
    /// Two selections, the ends of a distance; may be given several times
    #[arg(long, num_args = 2, value_names = ["A", "B"], required = true)]
    between: Vec<String>,
}

/// Results: angle (degrees, time × angle) between the centers of mass of three groups of atoms, or torsion of the
/// centers of mass of four groups
#[derive(Debug, clap::Args)]
pub(super) struct AnglesOptions {
    /// Three selections, with the vertex in the middle; may be given several times
    #[arg(long, num_args = 3, value_names = ["A", "B", "C"])]
    of: Vec<String>,
    /// Four selections of a torsion (−180 to 180 degrees, trans is 180); may be given several times
    #[arg(long, num_args = 4, value_names = ["A", "B", "C", "D"])]
    torsion: Vec<String>,
}

/// Results: distance (nm) from the first to the last selected atom of each molecule, by time
#[derive(Debug, clap::Args)]
pub(super) struct EndToEndOptions {
    /// Selection of atoms; the ends are the first and the last selected atom of each molecule
    #[arg(long, value_name = "TEXT", default_value = "protein and name CA")]
    select: String,
}

impl Options for DistancesOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let values = values(input.system, &self.between, 2)?;
        Ok(Box::new(Geometry::new("distance", "Distances", "nm", values)))
    }
}

impl Options for AnglesOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let mut all = values(input.system, &self.of, 3)?;
        all.extend(values(input.system, &self.torsion, 4)?);
        if all.is_empty() {
            let problem = Problem::new("no angle is given");
            return Err(problem.help("give three selections with --of, or four with --torsion").into());
        }
        Ok(Box::new(Geometry::new("angle", "Angles", "degree", all)))
    }
}

impl Options for EndToEndOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        let molecules = input.system.by_molecule(&group.atoms, "")?;
        let ends = molecules.iter().filter(|atoms| atoms.len() > 1).map(|atoms| {
            let point = |atom: u32| Point {
                group: input.system.group_of(&format!("atom {atom}"), vec![atom]),
                weights: vec![1.0],
            };
            // the distance between the ends of a whole molecule is not a minimum-image distance, because a chain may be
            // longer than half of the cell
            Value { points: vec![point(atoms[0]), point(atoms[atoms.len() - 1])], minimum_image: false }
        });
        let values: Vec<Value> = ends.collect();
        if values.is_empty() {
            let problem = Problem::new("no molecule has two selected atoms");
            return Err(problem.help("select at least the two ends of a molecule").into());
        }
        Ok(Box::new(Geometry::new("distance", "End-to-end distance", "nm", values)))
    }
}

/// Group of atoms, and the weights of the atoms in its center of mass.
#[derive(Debug)]
struct Point {
    group: Group,
    weights: Vec<f64>,
}

/// Distance between two points, angle of three points, or torsion of four points.
#[derive(Debug)]
struct Value {
    points: Vec<Point>,
    /// whether vectors between consecutive points are minimum-image vectors
    minimum_image: bool,
}

/// Parses selections into distances, angles or torsions. The number of selections in each value is `points`: 2 for a
/// distance, 3 for an angle, 4 for a torsion.
fn values(system: &AnalysedSystem<'_>, texts: &[String], points: usize) -> Result<Vec<Value>> {
    let point = |text: &String| {
        let group = system.group(text)?;
        let weights = system.weights(&group, true)?;
        Ok(Point { group, weights })
    };
    let value = |texts: &[String]| {
        let points = texts.iter().map(point).collect::<Result<Vec<Point>>>()?;
        check_different(&points)?;
        Ok(Value { points, minimum_image: true })
    };
    texts.chunks_exact(points).map(value).collect()
}

/// Fails if an angle is undefined because its vertex is one of its ends, or if a torsion is undefined because two of
/// three consecutive points are the same.
fn check_different(points: &[Point]) -> Result<()> {
    for (k, point) in points.iter().enumerate() {
        let mut later = points[k + 1..].iter().take(points.len().saturating_sub(2));
        if let Some(other) = later.find(|other| other.group.atoms == point.group.atoms) {
            let (one, two) = (&point.group.text, &other.group.text);
            let problem = Problem::new(format!("the angle is undefined: \"{one}\" and \"{two}\" are the same atoms"));
            return Err(problem.help("give different groups for the vertex and the ends of an angle").into());
        }
    }
    Ok(())
}

impl Point {
    /// Returns the center of mass (nm) of the group, with the molecules in periodic images near each other.
    fn position(&self, frame: &StoredFrame) -> Vec3 {
        self.group.positions(frame).into_iter().zip(&self.weights).map(|(r, &weight)| r * weight).sum()
    }
}

impl Value {
    /// Returns the distance in nm, or the angle or torsion in degrees.
    fn measure(&self, frame: &StoredFrame) -> f64 {
        let positions: Vec<Vec3> = self.points.iter().map(|point| point.position(frame)).collect();
        let cell = frame.cell.as_ref().filter(|_| self.minimum_image);
        let along = |i: usize, j: usize| displacement(cell, positions[j] - positions[i]);
        match positions.len() {
            2 => along(0, 1).norm(),
            3 => {
                let [a, b] = [along(1, 0), along(1, 2)];
                a.cross(b).norm().atan2(a.dot(b)).to_degrees()
            }
            _ => Dihedral::new([along(1, 0), along(1, 2), along(2, 3)]).angle().to_degrees(),
        }
    }

    fn is_torsion(&self) -> bool {
        self.points.len() == 4
    }

    fn name(&self) -> String {
        self.points.iter().map(|point| point.group.text.as_str()).collect::<Vec<_>>().join(" – ")
    }
}

/// Returns a line through torsions (degrees) over time, with a gap where a torsion passes from 180 to −180 degrees or
/// back.
fn with_gaps(label: &str, times: &[f64], values: &[f64]) -> Layer {
    let (mut x, mut y) = (vec![], vec![]);
    for (k, (&time, &value)) in times.iter().zip(values).enumerate() {
        if k > 0 && (value - values[k - 1]).abs() > 180.0 {
            x.push(time);
            y.push(f64::NAN);
        }
        x.push(time);
        y.push(value);
    }
    Layer::line(label, &x, &y)
}

/// Observable of distances or angles.
struct Geometry {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    values: Vec<Value>,
    rows: Vec<f64>,
    frames: usize,
}

impl Geometry {
    fn new(name: &'static str, title: &'static str, unit: &'static str, values: Vec<Value>) -> Self {
        Geometry { name, title, unit, values, rows: vec![], frames: 0 }
    }
}

impl Observable for Geometry {
    type Sample = Vec<f64>;

    fn memory(&self, frames: usize) -> f64 {
        (size_of::<f64>() * self.values.len()) as f64 * frames as f64
    }

    fn atoms_used(&self) -> usize {
        self.values.iter().flat_map(|value| &value.points).map(|point| point.group.end()).max().unwrap_or(0)
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        Ok(self.values.iter().map(|value| value.measure(frame)).collect())
    }

    fn add(&mut self, row: Self::Sample) -> Result<()> {
        self.rows.extend(row);
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let count = self.values.len();
        let names: Vec<String> = self.values.iter().map(Value::name).collect();
        let column = |k: usize| self.rows.iter().skip(k).step_by(count).copied().collect::<Vec<f64>>();
        let layers = (0..count).flat_map(|k| match (self.values[k].is_torsion(), count) {
            (true, 1) => vec![with_gaps("", &passed.times, &column(k))],
            (true, _) => vec![with_gaps(&names[k], &passed.times, &column(k))],
            (false, 1) => Summary::of(&column(k)).layers(&passed.times, &column(k)),
            (false, _) => vec![Layer::line(&names[k], &passed.times, &column(k))],
        });
        let has_torsions = self.values.iter().any(Value::is_torsion);
        let label = format!("{} / {}", self.name, self.unit);
        let mut findings = Findings {
            plots: vec![Plot::over_time(
                if count > 1 { self.title.to_owned() } else { format!("{}: {}", self.title, names[0]) },
                if has_torsions { Axis::between(label, [-180.0, 180.0]) } else { Axis::new(label) },
                layers.collect(),
            )],
            ..Findings::default()
        };
        for (k, name) in names.iter().enumerate() {
            let summary = match self.values[k].is_torsion() {
                true => Summary::of_torsions(&column(k)),
                false => Summary::of(&column(k)),
            };
            findings.summary.push(name.clone());
            findings.summary.extend(summary.lines(self.unit));
            if count == 1 {
                findings.numbers.push(summary.number(self.name, self.unit));
            }
        }
        let rows = std::mem::take(&mut self.rows);
        findings.arrays = vec![
            Array::new(self.name, [(TIME, self.frames), ("value", count)], rows, self.unit),
            Array::new("value", [("value", count)], names, ""),
        ];
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::Images;
    use crate::cell::PeriodicCell;
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// Distance, angle and torsion of four atoms at right angles, one of them stored on the other side of the cell.
    #[test]
    fn right_angles() {
        let name = Name::new("X");
        let atom = Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom; 4], ..Topology::default() };
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let texts: Vec<String> = (0..4).map(|index| format!("index {index}")).collect();
        let cell = Some(PeriodicCell::orthorhombic([3.0; 3]));
        let positions = vec![vec3(0.1, 0.5, 0.0), vec3(2.9, 0.5, 0.0), vec3(2.9, 0.1, 0.0), vec3(2.9, 0.1, 0.3)];
        let frame = StoredFrame { cell, positions, ..StoredFrame::default() };
        for (points, expected) in [(2, 0.2), (3, 90.0), (4, 90.0)] {
            let value = &values(&system, &texts[..points], points).unwrap()[0];
            assert!((value.measure(&frame) - expected).abs() < 1e-9, "{points}: {}", value.measure(&frame));
        }
        let given = |indices: &[usize]| {
            let texts: Vec<String> = indices.iter().map(|&index| texts[index].clone()).collect();
            values(&system, &texts, texts.len()).map(|_| ()).map_err(|error| error.to_string())
        };
        for undefined in [&[0, 0, 1][..], &[0, 1, 1], &[0, 1, 2, 1], &[0, 1, 0, 2], &[0, 1, 1, 2]] {
            assert!(given(undefined).unwrap_err().contains("are the same atoms"), "{undefined:?}");
        }
        for defined in [&[0, 0][..], &[0, 1, 0], &[0, 1, 2, 0]] {
            assert_eq!(given(defined), Ok(()), "{defined:?}");
        }
    }
}
