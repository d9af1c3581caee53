//! Selected atoms of a trajectory, centered and weighted, in memory.

use super::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::vec3::Vec3;

/// Positions of the selected atoms in several frames.
///
/// The position r_i of atom i is stored as √w_i (r_i − c), with weights w that add up to 1 and the center c = Σ w r.
/// Sums over the scaled positions of atoms need no weights. The matrix of a rotation about the center c also rotates
/// the scaled positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frames {
    /// selected atoms, 0-based
    pub atoms: Vec<u32>,
    /// weights w_i, which are equal or proportional to the masses; the sum of all weights is 1
    pub weights: Vec<f64>,
    /// whether the weights are proportional to the masses
    pub by_mass: bool,
    /// sum of the weights before normalisation: the number of atoms, or the total mass in amu if the weights are
    /// masses
    pub total_weight: f64,
    /// weighted center of the selected atoms in the first frame, nm
    pub first_center: Vec3,
    /// scaled positions √w_i (r_i − c) in nm. The values of a frame are the x coordinates of all atoms, then all y
    /// coordinates, then all z coordinates
    pub scaled: Vec<f64>,
}

impl Frames {
    /// Returns the memory in bytes that `frames` frames of `atoms` atoms need.
    pub fn bytes(frames: usize, atoms: usize) -> f64 {
        (3 * size_of::<f64>()) as f64 * frames as f64 * atoms as f64
    }

    /// Creates an empty set of frames. If `masses` (amu) are given, weights are proportional to the masses. If no
    /// masses are given, all weights are equal.
    pub fn new(atoms: Vec<u32>, masses: Option<&[f64]>) -> Result<Self> {
        let raw = masses.map_or_else(|| vec![1.0; atoms.len()], <[f64]>::to_vec);
        let total_weight: f64 = raw.iter().sum();
        if !(total_weight > 0.0 && total_weight.is_finite()) {
            return Err(Problem::new("the selected atoms have no mass").help("leave out --mass-weighted").into());
        }
        let weights = raw.iter().map(|weight| weight / total_weight).collect();
        Ok(Self { atoms, weights, by_mass: masses.is_some(), total_weight, ..Self::default() })
    }

    /// Creates an empty set of frames of the selected atoms `group`, with weights by mass if `by_mass`.
    pub fn of(system: &AnalysedSystem<'_>, group: &Group, by_mass: bool) -> Result<Self> {
        let masses = by_mass.then(|| system.masses(group));
        Self::new(group.atoms.clone(), masses.as_deref())
    }

    /// Returns the name and the value of the setting in the result file that states the kind of weights (mass or
    /// equal).
    pub(super) fn weights_setting(&self) -> (&'static str, String) {
        ("weights", if self.by_mass { "mass" } else { "equal" }.to_owned())
    }

    /// Adds a frame, given by the positions (nm) of the selected atoms.
    pub fn push(&mut self, positions: &[Vec3]) {
        assert_eq!(positions.len(), self.atoms.len(), "a frame must have one position for each selected atom");
        let center = positions.iter().zip(&self.weights).fold(Vec3::ZERO, |sum, (r, &weight)| sum + *r * weight);
        if self.scaled.is_empty() {
            self.first_center = center;
        }
        let weighted = || positions.iter().zip(&self.weights).map(|(r, weight)| (*r - center) * weight.sqrt());
        for axis in 0..3 {
            self.scaled.extend(weighted().map(|r| r.to_array()[axis]));
        }
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.scaled.len() / (3 * self.atoms.len()).max(1)
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.scaled.is_empty()
    }

    /// Returns Σ w |r − c|² of each frame in nm², which is the square of the radius of gyration about the center c.
    pub fn spreads(&self) -> Vec<f64> {
        self.scaled.chunks_exact(3 * self.atoms.len()).map(|frame| frame.iter().map(|x| x * x).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn frames_are_centered_by_weight() {
        let mut frames = Frames::new(vec![4, 7], Some(&[1.0, 3.0])).unwrap();
        frames.push(&[vec3(1.0, 0.0, 2.0), vec3(5.0, 0.0, 2.0)]);
        // the weighted center is at x = 4, so the scaled x coordinates are √(1/4) · (−3) and √(3/4) · 1
        let expected = [-1.5, 0.75f64.sqrt(), 0.0, 0.0, 0.0, 0.0];
        assert!(frames.scaled.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{:?}", frames.scaled);
        assert_eq!((frames.first_center, frames.total_weight), (vec3(4.0, 0.0, 2.0), 4.0));
        // Σ w |r − c|² is ¼ · 9 + ¾ · 1
        assert!((frames.spreads()[0] - 3.0).abs() < 1e-14);
    }

    #[test]
    fn weights_need_a_mass() {
        assert!(Frames::new(vec![0], Some(&[0.0])).is_err());
    }
}
