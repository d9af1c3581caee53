//! Principal component analysis: the directions of largest motion of a molecule.

use nalgebra::{DMatrix, Matrix3, SymmetricEigen};
use rayon::prelude::*;

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot, TIME};
use crate::analysis::frames::Frames;
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::reference::Reference;
use crate::analysis::system::Group;
use crate::compute::{Matrix, gemm};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::superpose::{Correlation, rotation};
use crate::vec3::Vec3;

/// Results: eigenvalues (all), eigenvectors (component × atom × 3), projections (time × component), the cosine content
/// of each projection, and the mean positions (nm, atom × 3)
#[derive(Debug, clap::Args)]
pub(super) struct PcaOptions {
    /// Selection of atoms
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Weight atoms by mass (default: equal weights)
    #[arg(long)]
    mass_weighted: bool,
    /// Number of eigenvectors and projections to write; all eigenvalues are written
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    components: u32,
}

impl Options for PcaOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        let first = Reference::Frame(0).positions(input.trajectory, input.system, &group)?;
        let frames = Frames::of(input.system, &group, self.mass_weighted)?;
        let components = self.components as usize;
        Ok(Box::new(Components { by_mass: self.mass_weighted, components, group, first, frames }))
    }
}

/// Observable of the principal components. The positions of the selected atoms of every frame are kept in memory.
struct Components {
    by_mass: bool,
    components: usize,
    group: Group,
    /// positions (nm) of the group in the first frame, to which the periodic images of all frames are fitted
    first: Vec<Vec3>,
    frames: Frames,
}

/// Computes the cosine content 2/T (Σ cos(i π t/T) p(t))² / Σ p²(t) of the projection p on component i (from 1) over T
/// frames. A cosine content near 1 is typical of random diffusion (Hess, Phys. Rev. E 65, 031910 (2002),
/// doi:10.1103/PhysRevE.65.031910). The frames are at the times t = 1/2, 3/2, …, T − 1/2, in units of the interval
/// between frames.
fn cosine_content(projection: &[f64], component: usize) -> f64 {
    let frames = projection.len() as f64;
    let cosine = |t: usize| (std::f64::consts::PI * component as f64 * (t as f64 + 0.5) / frames).cos();
    let overlap: f64 = projection.iter().enumerate().map(|(t, p)| cosine(t) * p).sum();
    let square: f64 = projection.iter().map(|p| p * p).sum();
    if square > 0.0 { 2.0 / frames * overlap * overlap / square } else { 0.0 }
}

impl Observable for Components {
    type Sample = Vec<Vec3>;

    fn memory(&self, frames: usize) -> f64 {
        let atoms = self.group.atoms.len();
        Frames::bytes(frames, atoms) + Pca::bytes(frames, atoms)
    }

    fn atoms_used(&self) -> usize {
        self.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        Ok(self.group.fitted(frame, &self.first))
    }

    fn add(&mut self, positions: Self::Sample) -> Result<()> {
        self.frames.push(&positions);
        Ok(())
    }

    fn finish(&mut self, _: &Passed) -> Result<Findings> {
        let pca = Pca::new(&self.frames, self.components)?;
        let (variance, length, words) =
            if self.by_mass { ("u nm+2", "u+1/2 nm", "amu nm2") } else { ("nm+2", "nm", "nm2") };
        let total = pca.total_variance();
        let mut summary = vec![format!("variance     {total:.6} {words} in {} directions", pca.eigenvalues.len())];
        let mut sum = 0.0;
        for (number, value) in (1..=self.components).zip(&pca.eigenvalues) {
            sum += value;
            let share = 100.0 * sum / total;
            summary.push(format!("component {number:<3}{value:12.6} {words}, {share:5.1} % cumulative"));
        }
        let (atoms, kept, count) = (self.frames.atoms.len(), pca.eigenvectors.len(), self.frames.len());
        let vectors: Vec<f64> = pca.eigenvectors.iter().flatten().flatten().copied().collect();
        let along = |k: usize| pca.projections.iter().map(|row| row[k]).collect::<Vec<f64>>();
        let cosines: Vec<f64> = (0..kept).map(|k| cosine_content(&along(k), k + 1)).collect();
        summary.extend(
            cosines.first().map(|cosine| format!("cosine       {cosine:.3}, the cosine content of component 1")),
        );
        let plots = if kept > 1 {
            vec![Plot {
                suffix: "",
                title: format!("Projections on two principal components: {}", self.group.text),
                x: Axis::new(format!("component 1 / {}", words_of(length))),
                y: Axis::new(format!("component 2 / {}", words_of(length))),
                layers: vec![Layer::Points { label: String::new(), x: along(0), y: along(1) }],
            }]
        } else {
            vec![]
        };
        let arrays = vec![
            Array::new("eigenvalues", [("mode", pca.eigenvalues.len())], pca.eigenvalues.clone(), variance),
            Array::new("eigenvectors", [("component", kept), ("atoms", atoms), ("xyz", 3)], vectors, ""),
            Array::new("projections", [(TIME, count), ("component", kept)], pca.projections.concat(), length),
            Array::new("cosine_content", [("component", kept)], cosines, ""),
            Array::new("mean", [("atoms", atoms), ("xyz", 3)], pca.mean.as_flattened().to_vec(), "nm"),
            self.group.array(),
        ];
        let settings = vec![("select", self.group.text.clone()), self.frames.weights_setting()];
        Ok(Findings { arrays, settings, summary, plots, ..Findings::default() })
    }
}

/// Returns the unit of projections in words, for the label of a picture.
fn words_of(unit: &str) -> &'static str {
    if unit == "nm" { "nm" } else { "amu^½ nm" }
}

/// Largest dimension of an eigenvalue problem that is solved. The dimension is 3 × atoms or the number of frames,
/// whichever is smaller. The time to solve the problem grows with the cube of the dimension, and is some minutes on
/// one core for the largest dimension.
pub const LARGEST_PROBLEM: usize = 6000;
/// Smallest eigenvalue that is kept, as a fraction of the largest eigenvalue. Smaller eigenvalues are rounding
/// errors, and their eigenvectors are meaningless.
const NEGLIGIBLE: f64 = 1e-12;

/// Eigenvalues and leading eigenvectors of the covariance of superposed positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Pca {
    /// mean positions after superposition on the first frame, nm: x, y, z of each atom
    pub mean: Vec<[f64; 3]>,
    /// eigenvalues that are not zero, the largest first. An eigenvalue is the variance along its eigenvector in nm²
    /// (amu nm² if mass-weighted)
    pub eigenvalues: Vec<f64>,
    /// leading eigenvectors, normalised: x, y, z of each atom
    pub eigenvectors: Vec<Vec<[f64; 3]>>,
    /// coordinates of each frame along the leading eigenvectors in nm (amu^½ nm if mass-weighted)
    pub projections: Vec<Vec<f64>>,
}

impl Pca {
    /// Superposes all frames on the first frame and diagonalises the covariance Σ (q − ⟨q⟩)⊗(q − ⟨q⟩)/(F − 1) of F
    /// frames, where q is the vector of the positions of all atoms. In mass-weighted frames, the position of each atom
    /// is multiplied by the square root of its mass.
    ///
    /// If D = 3 × atoms ≤ F, the covariance itself is computed, as a product of a D × F by an F × D matrix. With fewer
    /// frames, the Gram matrix of F × F is computed instead (the snapshot method: Sirovich, Q. Appl. Math. 45, 561
    /// (1987), doi:10.1090/qam/910462). The Gram matrix and the covariance have the same nonzero eigenvalues. An
    /// eigenvector u of the Gram matrix corresponds to the eigenvector Xᵀu/|Xᵀu| of the covariance, where the rows of X
    /// are the deviations q − ⟨q⟩ of the frames.
    pub fn new(frames: &Frames, components: usize) -> Result<Self> {
        let (count, width) = (frames.len(), 3 * frames.atoms.len());
        if count < 2 {
            return Err(Problem::new("principal components need at least two frames").into());
        }
        let smaller = check_size(frames.atoms.len(), count)?;
        // the weights add up to 1; multiplied by the total weight, they are the masses, or 1 if all atoms have equal
        // weights
        let scale = frames.total_weight.sqrt();
        let mut deviations: Vec<f64> = superposed(frames).into_iter().map(|x| x * scale).collect();
        let mean = subtract_mean(&mut deviations, width);

        let x = Matrix::new(&deviations, width);
        let (mut eigenvalues, basis) = eigen(&product(if width <= count { x.transposed() } else { x }), smaller);
        eigenvalues.iter_mut().for_each(|value| *value /= (count - 1) as f64);
        let largest = eigenvalues.first().copied().unwrap_or(0.0);
        eigenvalues.retain(|&value| value > NEGLIGIBLE * largest);
        // the mean is subtracted from the frames, so F frames span at most F − 1 directions
        eigenvalues.truncate(count - 1);

        let kept = components.min(eigenvalues.len());
        let vectors = directions(&basis[..kept * smaller], &x, smaller);
        let mut along = vec![0.0; count * kept];
        if kept > 0 {
            gemm(1.0, x, Matrix::new(&vectors, width).transposed(), 0.0, &mut along);
        }
        let back: Vec<f64> = frames.weights.iter().map(|weight| 1.0 / (scale * weight.sqrt())).collect();
        let center = frames.first_center.to_array();
        Ok(Self {
            mean: by_atom(&mean, |i, axis, value| value * back[i] + center[axis]),
            eigenvalues,
            eigenvectors: vectors.chunks_exact(width).map(|vector| by_atom(vector, |_, _, value| value)).collect(),
            projections: (0..count).map(|frame| along[frame * kept..][..kept].to_vec()).collect(),
        })
    }

    /// Returns the memory in bytes that [`Self::new`] needs in addition to the frames: two copies of the deviations,
    /// the covariance or Gram matrix, and its eigenvectors.
    pub fn bytes(frames: usize, atoms: usize) -> f64 {
        let smaller = frames.min(3 * atoms) as f64;
        2.0 * Frames::bytes(frames, atoms) + (3 * size_of::<f64>()) as f64 * smaller * smaller
    }

    /// Returns the sum of all eigenvalues.
    pub fn total_variance(&self) -> f64 {
        self.eigenvalues.iter().sum()
    }
}

/// Returns the dimension of the eigenvalue problem. Fails if the problem is too large.
fn check_size(atoms: usize, frames: usize) -> Result<usize> {
    let smaller = (3 * atoms).min(frames);
    if smaller > LARGEST_PROBLEM {
        let message = format!("principal components of {atoms} atoms over {frames} frames");
        let problem = format!("{message}: a matrix of {smaller} × {smaller} is too large to diagonalise");
        let help = format!("select at most {} atoms, or use at most {LARGEST_PROBLEM} frames", LARGEST_PROBLEM / 3);
        return Err(Problem::new(problem).help(help).into());
    }
    Ok(smaller)
}

/// Computes the matrix A Aᵀ for a matrix A of n × k.
fn product(a: Matrix<'_, f64>) -> Vec<f64> {
    let mut result = vec![0.0; a.rows() * a.rows()];
    gemm(1.0, a, a.transposed(), 0.0, &mut result);
    result
}

/// Superposes every frame on the first frame.
fn superposed(frames: &Frames) -> Vec<f64> {
    let (count, atoms) = (frames.len(), frames.atoms.len());
    let all = Matrix::new(&frames.scaled, atoms);
    let mut correlations = vec![0.0; 9 * count];
    let first = Matrix::new(&frames.scaled[..3 * atoms], atoms);
    gemm(1.0, all, first.transposed(), 0.0, &mut correlations);
    let mut turned = vec![0.0; frames.scaled.len()];
    let sources = frames.scaled.par_chunks(3 * atoms).zip(correlations.par_chunks(9));
    turned.par_chunks_mut(3 * atoms).zip(sources).for_each(|(turned, (frame, m))| {
        let m: Correlation = [0, 1, 2].map(|i| [0, 1, 2].map(|j| m[3 * i + j]));
        let r: Matrix3<f64> = rotation(&m);
        for axis in 0..3 {
            for atom in 0..atoms {
                turned[axis * atoms + atom] = (0..3).map(|k| r[(axis, k)] * frame[k * atoms + atom]).sum();
            }
        }
    });
    turned
}

/// Subtracts the mean of all rows from each row. Returns the mean.
fn subtract_mean(rows: &mut [f64], width: usize) -> Vec<f64> {
    let mut mean = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
    }
    let count = (rows.len() / width) as f64;
    mean.iter_mut().for_each(|mean| *mean /= count);
    for row in rows.chunks_exact_mut(width) {
        row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
    mean
}

/// Returns the eigenvalues of a symmetric matrix of `size` × `size`, the largest first, followed by the eigenvectors
/// in the same order.
fn eigen(matrix: &[f64], size: usize) -> (Vec<f64>, Vec<f64>) {
    let found = SymmetricEigen::new(DMatrix::from_row_slice(size, size, matrix));
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| found.eigenvalues[b].total_cmp(&found.eigenvalues[a]));
    let vectors = order.iter().flat_map(|&k| found.eigenvectors.column(k).iter().copied().collect::<Vec<_>>());
    (order.iter().map(|&k| found.eigenvalues[k]).collect(), vectors.collect())
}

/// Returns the eigenvectors of the covariance as unit vectors, one per row, with one element for each coordinate.
/// `basis` holds the eigenvectors of the covariance or the eigenvectors of the Gram matrix, which have one element for
/// each frame. The sign of each unit vector is such that its largest component is positive.
fn directions(basis: &[f64], deviations: &Matrix<'_, f64>, size: usize) -> Vec<f64> {
    let width = deviations.columns();
    let mut vectors = basis.to_vec();
    if size != width && !basis.is_empty() {
        vectors = vec![0.0; basis.len() / size * width];
        gemm(1.0, Matrix::new(basis, size), *deviations, 0.0, &mut vectors);
    }
    for vector in vectors.chunks_exact_mut(width) {
        let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
        let largest = vector.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(1.0);
        vector.iter_mut().for_each(|v| *v /= length.copysign(largest));
    }
    vectors
}

/// Changes the order of values from "all x, all y, all z" to "x, y, z of each atom". `convert` is called with atom,
/// axis and value, and returns the new value.
fn by_atom(values: &[f64], convert: impl Fn(usize, usize, f64) -> f64) -> Vec<[f64; 3]> {
    let atoms = values.len() / 3;
    (0..atoms).map(|i| [0, 1, 2].map(|axis| convert(i, axis, values[axis * atoms + i]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::{Vec3, vec3};

    /// Tolerance for the sum of some hundred rounding errors of numbers of order 1.
    const ROUNDING: f64 = 1e-12;

    /// Returns frames of six atoms on the axes, at ±1. In each frame the atoms on the x axis move outwards by a, and
    /// the atoms on the y axis by b. `amplitudes` has the displacements a and b in each frame. By symmetry no
    /// superposition rotates the atoms, so the principal directions and variances are known.
    fn breathing(amplitudes: &[[f64; 2]], turned: bool) -> Frames {
        let mut frames = Frames::new((0..6).collect(), None).unwrap();
        for (index, [a, b]) in amplitudes.iter().enumerate() {
            let (sin, cos) = if turned { (0.4 * index as f64).sin_cos() } else { (0.0, 1.0) };
            let place = |x: f64, y: f64, z: f64| vec3(cos * x - sin * z, y + index as f64, sin * x + cos * z);
            let positions: [Vec3; 6] = [
                place(1.0 + a, 0.0, 0.0),
                place(-1.0 - a, 0.0, 0.0),
                place(0.0, 1.0 + b, 0.0),
                place(0.0, -1.0 - b, 0.0),
                place(0.0, 0.0, 1.0),
                place(0.0, 0.0, -1.0),
            ];
            frames.push(&positions);
        }
        frames
    }

    fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count;
        values.map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0)
    }

    #[test]
    fn breathing_has_two_components() {
        // the amplitudes a and b are uncorrelated. The cases are few frames (Gram matrix), many frames (covariance),
        // and rotated frames
        let square = [[0.3, 0.1], [0.3, -0.1], [-0.3, 0.1], [-0.3, -0.1]];
        for (repeats, turned) in [(1, false), (6, false), (1, true), (6, true)] {
            let amplitudes = square.repeat(repeats);
            let found = Pca::new(&breathing(&amplitudes, turned), 5).unwrap();
            // two atoms move by a in opposite directions, which is a displacement along the unit vector (1, −1)/√2
            let expected = [0, 1].map(|k| 2.0 * variance(amplitudes.iter().map(|a| a[k])));
            assert_eq!(found.eigenvalues.len(), 2, "{:?}", found.eigenvalues);
            for k in 0..2 {
                assert!((found.eigenvalues[k] - expected[k]).abs() < ROUNDING);
                let root = 0.5f64.sqrt();
                let [first, second] = [found.eigenvectors[k][2 * k][k], found.eigenvectors[k][2 * k + 1][k]];
                assert!((first.abs() - root).abs() < ROUNDING && (first + second).abs() < ROUNDING, "{first} {second}");
                for (projection, amplitude) in found.projections.iter().zip(&amplitudes) {
                    assert!((projection[k].abs() - 2f64.sqrt() * amplitude[k].abs()).abs() < ROUNDING);
                }
            }
            assert!((found.total_variance() - expected[0] - expected[1]).abs() < ROUNDING);
            let corner = found.mean[2];
            assert!(corner.iter().zip([0.0, 1.0, 0.0]).all(|(a, b)| (a - b).abs() < ROUNDING), "{corner:?}");
        }
    }

    #[test]
    fn masses_weigh_variances() {
        // two atoms of mass 1 and 4 on a line, at a distance of 1 + d; their reduced mass is 0.8
        let distances = [1.0, 1.2, 1.4, 1.1];
        let mut frames = Frames::new(vec![0, 1], Some(&[1.0, 4.0])).unwrap();
        distances.iter().for_each(|&d| frames.push(&[vec3(0.0, 0.0, 3.0), vec3(0.0, d, 3.0)]));
        let found = Pca::new(&frames, 1).unwrap();
        let expected = 0.8 * variance(distances.iter().copied());
        assert!((found.eigenvalues[0] - expected).abs() < ROUNDING, "{:?}", found.eigenvalues);
        assert_eq!(found.eigenvalues.len(), 1);
        // superposition on the first frame keeps the center of mass of the first frame
        let middle = distances.iter().sum::<f64>() / 4.0;
        assert!((found.mean[1][1] - found.mean[0][1] - middle).abs() < ROUNDING);
        assert!((found.mean[0][1] * 0.2 + found.mean[1][1] * 0.8 - 0.8).abs() < ROUNDING);
    }

    #[test]
    fn frames_that_do_not_move_have_no_components() {
        let found = Pca::new(&breathing(&[[0.0, 0.0]; 3], false), 2).unwrap();
        assert!(found.total_variance() < ROUNDING);
        assert!(Pca::new(&breathing(&[[0.0, 0.0]], false), 2).is_err());
    }

    #[test]
    fn problems_too_large_are_refused() {
        let problem = check_size(LARGEST_PROBLEM / 3 + 1, LARGEST_PROBLEM + 1).unwrap_err().to_string();
        assert!(problem.contains("6001 × 6001"), "{problem}");
    }
}
