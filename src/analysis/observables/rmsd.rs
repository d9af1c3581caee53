//! RMSD of every frame from a reference structure.

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Plot, TIME, Values};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::reference::Reference;
use crate::analysis::statistics::Summary;
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::Result;
use crate::observe::trajectory::StoredFrame;
use crate::superpose::{correlation, overlap, rotation};
use crate::vec3::Vec3;

/// Results: rmsd (nm) over time; with --per-residue also rmsd_residue (nm, time × residue)
#[derive(Debug, clap::Args)]
pub(super) struct RmsdOptions {
    /// Selection of atoms that are superposed and compared
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Reference structure: first, the number of a frame (from 0), or a structure in any format of coordinates. If the
    /// structure has other atoms than the trajectory, the selection chooses the atoms in both
    #[arg(long, value_name = "FRAME|FILE", default_value = "first", value_parser = Reference::parse)]
    reference: Reference,
    /// Weight atoms by mass (default: equal weights)
    #[arg(long)]
    mass_weighted: bool,
    /// Compare positions without superposition; each molecule is in the periodic image nearest to the reference, whose
    /// molecules are put into the cell
    #[arg(long)]
    no_superposition: bool,
    /// Also compute the deviation of each residue, after the superposition of all selected atoms
    #[arg(long)]
    per_residue: bool,
}

impl Options for RmsdOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        let positions = match self.no_superposition {
            true => self.reference.positions_in_cell(input.trajectory, input.system, &group)?,
            false => self.reference.positions(input.trajectory, input.system, &group)?,
        };
        let mut rmsd = RmsdToReference::new(input.system, group, positions, self.mass_weighted)?;
        rmsd.name = self.reference.to_string();
        if self.no_superposition {
            rmsd = rmsd.without_superposition();
        }
        if self.per_residue {
            rmsd.divide(input.system);
        }
        Ok(Box::new(rmsd))
    }
}

/// Observable of the (weighted) root mean square deviation of each frame from a reference, in nm. Frames are optimally
/// superposed on the reference if `superposes` is true.
#[derive(Clone, Debug)]
pub struct RmsdToReference {
    /// description of the reference, for the summary
    pub name: String,
    /// whether frames are superposed on the reference
    pub superposes: bool,
    group: Group,
    by_mass: bool,
    weights: Vec<f64>,
    /// positions (nm) of the reference, to which the periodic images of molecules are fitted
    target: Vec<Vec3>,
    /// positions (nm) of the reference relative to their weighted center; `center` (nm) is this center
    reference: Vec<Vec3>,
    center: Vec3,
    /// Σ w |r|² over the centered positions r of the reference with the weights w, nm²
    spread: f64,
    /// residues (0-based); `ends` holds, for each residue, the index in the group at which the atoms of the residue end
    /// (exclusive)
    residues: Vec<u32>,
    ends: Vec<usize>,
    values: Vec<f64>,
    of_residues: Vec<f32>,
}

/// Returns the weighted center of positions.
fn center_of(positions: &[Vec3], weights: &[f64]) -> Vec3 {
    positions.iter().zip(weights).fold(Vec3::ZERO, |sum, (r, &weight)| sum + *r * weight)
}

fn spread_of(positions: &[Vec3], weights: &[f64]) -> f64 {
    positions.iter().zip(weights).map(|(r, weight)| weight * r.norm_squared()).sum()
}

impl RmsdToReference {
    /// Creates the observable for a group and the positions (nm) of its atoms in the reference.
    pub fn new(system: &AnalysedSystem<'_>, group: Group, target: Vec<Vec3>, by_mass: bool) -> Result<Self> {
        assert_eq!(target.len(), group.atoms.len(), "the reference must have one position for each selected atom");
        let weights = system.weights(&group, by_mass)?;
        let center = center_of(&target, &weights);
        let reference: Vec<Vec3> = target.iter().map(|r| *r - center).collect();
        let spread = spread_of(&reference, &weights);
        Ok(Self {
            name: "a structure".to_owned(),
            superposes: true,
            group,
            by_mass,
            weights,
            target,
            reference,
            center,
            spread,
            residues: vec![],
            ends: vec![],
            values: vec![],
            of_residues: vec![],
        })
    }

    /// Disables superposition, so that positions are compared as they are.
    pub fn without_superposition(self) -> Self {
        Self { superposes: false, ..self }
    }

    /// Enables the RMSD of each residue, in addition to the RMSD of all atoms.
    fn divide(&mut self, system: &AnalysedSystem<'_>) {
        for (index, &atom) in self.group.atoms.iter().enumerate() {
            let residue = system.topology().atoms[atom as usize].residue;
            if self.residues.last() != Some(&residue) {
                self.residues.push(residue);
                self.ends.push(index);
            }
            if let Some(end) = self.ends.last_mut() {
                *end = index + 1;
            }
        }
    }

    /// Returns the RMSD (nm) of each frame added so far.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the root mean square deviation (nm) of all atoms after superposition; `positions` (nm) are relative to
    /// their center.
    fn superposed(&self, positions: &[Vec3]) -> f64 {
        let bound = 0.5 * (spread_of(positions, &self.weights) + self.spread);
        let weighted = positions.iter().zip(&self.weights).map(|(&r, &weight)| r * weight);
        let m = correlation(weighted.zip(self.reference.iter().copied()));
        (2.0 * (bound - overlap(&m, bound))).max(0.0).sqrt()
    }

    /// Returns the weighted squared deviation of each atom after superposition, nm²; `positions` (nm) are relative to
    /// their center.
    fn squares(&self, positions: &[Vec3]) -> Vec<f64> {
        let weighted = positions.iter().zip(&self.weights).map(|(&r, &weight)| r * weight);
        let r = rotation(&correlation(weighted.zip(self.reference.iter().copied())));
        let rows = [0, 1, 2].map(|i| Vec3::from([r[(i, 0)], r[(i, 1)], r[(i, 2)]]));
        let turned = positions.iter().map(|p| Vec3::from(rows.map(|row| row.dot(*p))));
        let pairs = turned.zip(&self.reference).zip(&self.weights);
        pairs.map(|((a, b), weight)| weight * (a - *b).norm_squared()).collect()
    }
}

impl Observable for RmsdToReference {
    /// RMSD (nm) of all atoms and of each residue
    type Sample = (f64, Vec<f32>);

    fn atoms_used(&self) -> usize {
        self.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let (mut positions, center) = if self.superposes {
            let positions = self.group.fitted(frame, &self.target);
            let center = center_of(&positions, &self.weights);
            (positions, center)
        } else {
            (self.group.nearest(frame, &self.target), self.center)
        };
        positions.iter_mut().for_each(|r| *r -= center);
        if self.superposes && self.residues.is_empty() {
            return Ok((self.superposed(&positions), vec![]));
        }
        let squares = if self.superposes {
            self.squares(&positions)
        } else {
            let pairs = positions.iter().zip(&self.reference).zip(&self.weights);
            pairs.map(|((a, b), weight)| weight * (*a - *b).norm_squared()).collect()
        };
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let of = |(start, &end): (usize, &usize)| {
            let weight: f64 = self.weights[start..end].iter().sum();
            (squares[start..end].iter().sum::<f64>() / weight).sqrt() as f32
        };
        let all = if self.superposes { self.superposed(&positions) } else { squares.iter().sum::<f64>().sqrt() };
        Ok((all, starts.zip(&self.ends).map(of).collect()))
    }

    fn add(&mut self, (value, of_residues): Self::Sample) -> Result<()> {
        self.values.push(value);
        self.of_residues.extend(of_residues);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (count, residues) = (self.values.len(), self.residues.len());
        let summary = Summary::of(&self.values);
        let mut arrays = vec![Array::new("rmsd", [(TIME, count)], self.values.clone(), "nm")];
        if residues > 0 {
            let values = Values::Single(std::mem::take(&mut self.of_residues));
            arrays.push(Array::new("rmsd_residue", [(TIME, count), ("residue", residues)], values, "nm"));
            arrays.push(Array::new("residue", [("residue", residues)], self.residues.clone(), ""));
        }
        arrays.push(self.group.array());
        let mut lines = summary.lines("nm");
        lines.push(format!("reference    {}", self.name));
        let weights = if self.by_mass { "mass" } else { "equal" };
        Ok(Findings {
            arrays,
            numbers: vec![summary.number("rmsd", "nm")],
            settings: vec![
                ("select", self.group.text.clone()),
                ("weights", weights.to_owned()),
                ("reference", self.name.clone()),
                ("superposition", self.superposes.to_string()),
            ],
            summary: lines,
            warnings: vec![],
            plots: vec![Plot::over_time(
                format!("RMSD from {}: {}", self.name, self.group.text),
                Axis::new("RMSD / nm"),
                summary.layers(&passed.times, &self.values),
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

    /// Isosceles triangles of base 2 and height 3 h, rotated and translated, differ by their heights. The heights of
    /// the corners relative to the center are −h, −h and 2 h, so that the RMSD of two triangles is √((Δh)² (1 + 1 +
    /// 4)/3) = √2 Δh.
    #[test]
    fn triangles_differ_by_their_heights() {
        let triangle = |h: f64, turn: f64| {
            let (sin, cos) = turn.sin_cos();
            let turned = |x: f64, y: f64| vec3(cos * x - sin * y, 5.0 + turn, sin * x + cos * y);
            vec![turned(-1.0, 0.0), turned(1.0, 0.0), turned(0.0, 3.0 * h)]
        };
        let name = Name::new("X");
        let atom = |residue| Atom { name, type_name: name, element: 6, mass: 2.0, charge: 0.0, lj_type: 0, residue };
        let topology = Topology { atoms: vec![atom(0), atom(0), atom(1)], ..Topology::default() };
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        for (by_mass, per_residue) in [(false, false), (true, false), (false, true)] {
            let group = system.group_of("all", vec![0, 1, 2]);
            let mut found = RmsdToReference::new(&system, group, triangle(1.0, 0.3), by_mass).unwrap();
            if per_residue {
                found.divide(&system);
            }
            let heights = [1.0, 1.5, 0.25, 4.0];
            for (index, h) in heights.into_iter().enumerate() {
                found.observe(&[StoredFrame { positions: triangle(h, index as f64), ..Default::default() }]).unwrap();
            }
            for (index, (value, h)) in found.values().iter().zip(heights).enumerate() {
                // tolerance for the square root of rounding errors of numbers of order 1
                let change = (h - 1.0f64).abs();
                assert!((value - 2f64.sqrt() * change).abs() < 1e-7, "{h}: {value}");
                if per_residue {
                    // the two lower atoms differ by Δh and the upper atom by 2 Δh; values of residues are stored in f32
                    let [low, high] = [found.of_residues[2 * index], found.of_residues[2 * index + 1]].map(f64::from);
                    assert!((low - change).abs() < 1e-6 && (high - 2.0 * change).abs() < 1e-6, "{low} {high}");
                }
            }
        }
    }
}
