//! RMSD between all pairs of frames.

use rayon::prelude::*;

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot, TIME, Values};
use crate::analysis::frames::Frames;
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::reference::Reference;
use crate::analysis::system::Group;
use crate::compute::{Core, CudaCore, HostCore, Operand};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::run::Device;
use crate::superpose::{Correlation, overlap};
use crate::vec3::Vec3;

/// Results: rmsd (nm, frame × frame), with the time of each frame
#[derive(Debug, clap::Args)]
pub(super) struct RmsdMatrixOptions {
    /// Selection of atoms that are superposed and compared
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Weight atoms by mass (default: equal weights)
    #[arg(long)]
    mass_weighted: bool,
    /// Device that multiplies matrices: auto, cpu, cuda or cuda:1; auto is the CPU
    #[arg(long, value_parser = device)]
    device: Option<Device>,
}

pub(super) fn device(text: &str) -> std::result::Result<Device, String> {
    Device::from_text(text).ok_or_else(|| format!("\"{text}\" is not a device; write {}", Device::SPELLING))
}

impl Options for RmsdMatrixOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        Ok(Box::new(AllToAll(Compared::new(input, &self.select, self.mass_weighted, self.device)?)))
    }
}

/// Frames of a group in memory, to be compared with each other.
pub(super) struct Compared {
    device: Device,
    pub(super) group: Group,
    /// positions (nm) of the group in the first frame, to which the periodic images of all frames are fitted
    first: Vec<Vec3>,
    pub(super) frames: Frames,
}

impl Compared {
    /// Creates an empty set of frames of the selected atoms. Fails if the GPU cannot be used, so that the user learns
    /// of the problem before the frames are read.
    pub(super) fn new(input: &mut Input<'_>, select: &str, by_mass: bool, device: Option<Device>) -> Result<Self> {
        let group = input.system.group(select)?;
        let first = Reference::Frame(0).positions(input.trajectory, input.system, &group)?;
        let frames = Frames::of(input.system, &group, by_mass)?;
        let device = device.unwrap_or(Device::Auto);
        if let Device::Cuda(number) = device {
            CudaCore::open(number)?;
        }
        Ok(Compared { device, group, first, frames })
    }

    /// Returns the positions (nm) of the group in a frame.
    pub(super) fn positions(&self, frame: &StoredFrame) -> Vec<Vec3> {
        self.group.fitted(frame, &self.first)
    }

    /// Returns the memory in bytes that `frames` frames and their RMSD matrix need.
    pub(super) fn bytes(&self, frames: usize) -> f64 {
        Frames::bytes(frames, self.group.atoms.len()) + RmsdMatrix::bytes(frames)
    }

    /// Computes the RMSD between all pairs of frames.
    pub(super) fn matrix(&self) -> Result<RmsdMatrix> {
        match self.device {
            Device::Cuda(number) => rmsd_matrix(&CudaCore::open(number)?, &self.frames),
            Device::Auto | Device::Cpu => rmsd_matrix(&HostCore, &self.frames),
        }
    }
}

/// Observable of the RMSD between all pairs of frames. The positions of the selected atoms of every frame are kept in
/// memory.
struct AllToAll(Compared);

impl Observable for AllToAll {
    type Sample = Vec<Vec3>;

    fn memory(&self, frames: usize) -> f64 {
        self.0.bytes(frames)
    }

    fn atoms_used(&self) -> usize {
        self.0.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        Ok(self.0.positions(frame))
    }

    fn add(&mut self, positions: Self::Sample) -> Result<()> {
        self.0.frames.push(&positions);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let matrix = self.0.matrix()?;
        let Compared { group, frames, .. } = &self.0;
        let ([a, b], largest) = matrix.largest();
        let time = |frame: usize| format!("{:.3}", passed.times[frame]);
        let count = matrix.frames;
        let summary = vec![
            format!("mean         {:.5} nm over all pairs", matrix.mean()),
            format!("largest      {largest:.5} nm, between {} and {} ps", time(a), time(b)),
            format!("central      {} ps, the frame with the smallest RMSD to all others", time(matrix.central())),
        ];
        let ends = [passed.times[0], passed.times[count - 1]];
        let values = matrix.values.iter().map(|&value| f64::from(value)).collect();
        Ok(Findings {
            plots: vec![Plot::over_time(
                format!("RMSD between frames: {}", group.text),
                Axis::new("time / ps"),
                vec![Layer::Map { label: "RMSD / nm".into(), x: ends, y: ends, columns: count, values }],
            )],
            arrays: vec![
                Array::new("rmsd", [(TIME, count), ("frame", count)], Values::Single(matrix.values), "nm"),
                group.array(),
            ],
            settings: vec![("select", group.text.clone()), frames.weights_setting()],
            summary,
            ..Findings::default()
        })
    }
}

/// Edge, in frames, of the tiles in which correlation matrices are computed. A tile has 9 × 192² numbers, which take
/// 2.5 MiB in `f64`, and each number is used once. Larger tiles are not faster.
const TILE: usize = 192;

/// RMSD of all pairs of frames.
#[derive(Clone, Debug, PartialEq)]
pub struct RmsdMatrix {
    /// number of frames
    pub frames: usize,
    /// RMSD in nm, row-major, symmetric, zero on the diagonal
    pub values: Vec<f32>,
}

/// Computes the RMSD (nm) of every pair of frames after optimal superposition.
///
/// The 3 × 3 correlation matrices M of all pairs of frames follow from a single matrix product: a matrix with three
/// rows per frame (x, y and z of its atoms) times its transpose. Element (3a + i, 3b + j) of the product is M_ij of the
/// frames a and b. The product is computed in square tiles on and above the diagonal, in `f64`, because an RMSD is the
/// square root of a difference of two nearly equal numbers. The RMSD is accurate to 10⁻⁸ of the radius of gyration.
/// `core` computes the matrix products, and the current rayon pool does all other work.
pub fn rmsd_matrix(core: &impl Core, frames: &Frames) -> Result<RmsdMatrix> {
    let count = frames.len();
    let mut values = zeros(count)?;
    let (atoms, spreads) = (frames.atoms.len(), frames.spreads());
    let scaled = core.store(&frames.scaled)?;
    let rows = |first: usize, last: usize| Operand::new(&scaled, 3 * first..3 * last, atoms);
    let mut correlations = core.zeros(9 * TILE * TILE)?;
    for first_row in (0..count).step_by(TILE) {
        let last_row = (first_row + TILE).min(count);
        for first in (first_row..count).step_by(TILE) {
            let last = (first + TILE).min(count);
            let width = 3 * (last - first);
            core.gemm(1.0, rows(first_row, last_row), rows(first, last).transposed(), 0.0, &mut correlations)?;
            let tile = core.read(&correlations)?;
            let lines = values[first_row * count..last_row * count].par_chunks_mut(count);
            lines.zip(tile.par_chunks(3 * width)).enumerate().for_each(|(row, (line, tile))| {
                let a = first_row + row;
                for b in first.max(a + 1)..last {
                    let column = 3 * (b - first);
                    let m: Correlation = [0, 1, 2].map(|i| [0, 1, 2].map(|j| tile[i * width + column + j]));
                    let bound = 0.5 * (spreads[a] + spreads[b]);
                    line[b] = (2.0 * (bound - overlap(&m, bound))).max(0.0).sqrt() as f32;
                }
            });
        }
    }
    for a in 0..count {
        for b in 0..a {
            values[a * count + b] = values[b * count + a];
        }
    }
    Ok(RmsdMatrix { frames: count, values })
}

fn zeros(count: usize) -> Result<Vec<f32>> {
    let mut values = vec![];
    let size = count.checked_mul(count);
    if size.is_none_or(|size| values.try_reserve_exact(size).is_err()) {
        let needed = 4e-9 * count as f64 * count as f64;
        return Err(Problem::new(format!(
            "the RMSD between all pairs of {count} frames needs {needed:.0} GB of memory"
        ))
        .help("use fewer frames, for example every tenth")
        .into());
    }
    values.resize(count * count, 0.0);
    Ok(values)
}

impl RmsdMatrix {
    /// Returns the memory in bytes that the matrix needs for `frames` frames.
    pub fn bytes(frames: usize) -> f64 {
        size_of::<f32>() as f64 * (frames as f64).powi(2)
    }

    /// Returns the RMSD (nm) of frame `index` from all frames.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.frames..][..self.frames]
    }

    /// Returns the mean RMSD (nm) over all pairs of different frames. The mean is zero if there are no pairs.
    pub fn mean(&self) -> f64 {
        let pairs = (self.frames * self.frames.saturating_sub(1)) as f64;
        self.values.iter().map(|&value| f64::from(value)).sum::<f64>() / pairs.max(1.0)
    }

    /// Returns the pair of frames with the largest RMSD, and the RMSD (nm) of this pair.
    pub fn largest(&self) -> ([usize; 2], f32) {
        let place = (0..self.values.len()).max_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        place.map_or(([0; 2], 0.0), |at| ([at % self.frames, at / self.frames], self.values[at]))
    }

    /// Returns the frame with the smallest mean square deviation from all other frames.
    pub fn central(&self) -> usize {
        let square = |index: usize| self.row(index).iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        let squares: Vec<f64> = (0..self.frames).map(square).collect();
        (0..self.frames).min_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::HostCore;
    use crate::vec3::{Vec3, vec3};

    /// Returns frames of an isosceles triangle with base 2 and height 3 h, rotated and translated.
    fn triangles(heights: &[f64]) -> Frames {
        let mut frames = Frames::new(vec![0, 1, 2], None).unwrap();
        for (index, h) in heights.iter().enumerate() {
            let (sin, cos) = (0.7 * index as f64).sin_cos();
            let turned = |x: f64, y: f64| vec3(cos * x - sin * y, 5.0 + index as f64, sin * x + cos * y);
            let positions: [Vec3; 3] = [turned(-1.0, 0.0), turned(1.0, 0.0), turned(0.0, 3.0 * h)];
            frames.push(&positions);
        }
        frames
    }

    /// Tolerance for storage in f32, and for the square root of rounding errors of numbers of order 1 in f64.
    const ROUNDING: f64 = 1e-7;

    #[test]
    fn triangles_differ_by_their_heights() {
        // there are more frames than a tile has. The three atoms of a triangle have the heights −h, −h and 2 h relative
        // to their center, and all triangles have the same base. The mean square deviation of two frames with the
        // heights 3 h and 3 (h + Δh) is (Δh)² (1 + 1 + 4)/3
        let heights: Vec<f64> = (0..TILE + 7).map(|i| 1.0 + 0.25 * ((i * 5) % 11) as f64).collect();
        let found = rmsd_matrix(&HostCore, &triangles(&heights)).unwrap();
        for (a, ha) in heights.iter().enumerate() {
            for (b, hb) in heights.iter().enumerate() {
                let expected = 2f64.sqrt() * (ha - hb).abs();
                let value = f64::from(found.row(a)[b]);
                assert!((value - expected).abs() < ROUNDING * (1.0 + expected), "{a} {b}: {value} for {expected}");
            }
        }
    }

    #[test]
    fn summaries_name_frames() {
        let found = rmsd_matrix(&HostCore, &triangles(&[1.0, 4.0, 2.0])).unwrap();
        let (pair, largest) = found.largest();
        assert_eq!(([pair[0].min(pair[1]), pair[0].max(pair[1])], found.central()), ([0, 1], 2));
        assert!((f64::from(largest) - 3.0 * 2f64.sqrt()).abs() < 1e-6);
        assert!((found.mean() - 2.0 * 2f64.sqrt()).abs() < 1e-6);
        let one = rmsd_matrix(&HostCore, &triangles(&[1.0])).unwrap();
        assert_eq!((one.mean(), one.largest(), one.central()), (0.0, ([0, 0], 0.0), 0));
    }
}
