//! Tests that compare the mesh kernels, which include Fourier transforms, with the transform of the host in `f64`.

use crate::backend::accuracy::ENERGY;
use crate::backend::cuda::device::{read, store, write, zeros};
use crate::backend::cuda::emulator::device::Emulated;
use crate::backend::cuda::kernel::Kernel;
use crate::backend::cuda::layout::{Arguments, GRID_SCALE, SHIFTS, SUM_RECIPROCAL, SUMS};
use crate::backend::cuda::sums::Sums;
use crate::backend::cuda::{lattice, mesh, steps};
use crate::cell::PeriodicCell;
use crate::compute::Fft3;
use crate::pme::{Influence, MeshPotential, reciprocal_rows};
use crate::system::PmeParameters;
use crate::term::testing::random;
use crate::vec3::Mat3;
use bytemuck::Zeroable;
use num_complex::Complex;

/// Grid sizes that together use every radix along every axis that allows this radix. Some grid sizes are odd, because
/// rows of even and odd length are treated differently: only a row with an even number of points has a middle element
/// that is its own mirror image.
const GRIDS: [[usize; 3]; 12] = [
    [12, 20, 27],
    [9, 24, 25],
    [25, 42, 9],
    [27, 50, 12],
    [28, 12, 54],
    [36, 100, 15],
    [64, 56, 30],
    [100, 40, 84],
    [108, 72, 80],
    [21, 90, 45],
    [12, 126, 112],
    [126, 112, 12],
];

/// Tolerance of a transform in `f32`, RMS error over RMS value. In these tests the error is at most 1.3·10⁻⁷, which
/// is one unit in the last place.
const ROUNDING: f64 = 2e-7;
/// Tolerance for three forward and three inverse transforms, and for the exponential in the influence function, whose
/// argument is up to 20 and is rounded to `f32`.
const SOLVED: f64 = 5e-7;

struct Mesh {
    parameters: PmeParameters,
    cell: PeriodicCell,
    /// charges on the mesh in e
    charges: Vec<f64>,
    raw: Vec<i32>,
}

impl Mesh {
    fn new(grid: [usize; 3]) -> Self {
        let parameters = PmeParameters { alpha: 3.1, grid, order: 4 };
        let lengths = grid.map(|points| 0.11 * points as f64);
        let cell = PeriodicCell::from_lengths_angles(lengths, [80.0, 95.0, 70.0]).expect("a cell");
        let mut random = random(21);
        let raw: Vec<i32> = (0..grid.iter().product()).map(|_| (random.between(-1.0, 1.0) * 1e8) as i32).collect();
        let charges = raw.iter().map(|&raw| f64::from(raw) / f64::from(GRID_SCALE)).collect();
        Mesh { parameters, cell, charges, raw }
    }

    fn on(&self, device: &mut Emulated) -> Arguments {
        let mut a = Arguments::zeroed();
        mesh::upload(device, &mut a, &self.parameters).expect("arrays");
        a.cell = store(device, &[lattice::lattice(Some(&self.cell))]).expect("a cell");
        a.status = zeros(device, 1).expect("a status");
        a.shifts = zeros(device, 2 * SHIFTS as usize).expect("shifts");
        a.sums = zeros(device, SUMS as usize).expect("sums");
        steps::derive_cell(device, &a).expect("a cell");
        write(device, a.charge_grid, &self.raw).expect("charges");
        a
    }

    /// Returns the Fourier transforms of the mesh charges along y and z.
    fn planes(&self) -> Vec<Complex<f64>> {
        let [_, ny, nz] = self.parameters.grid;
        let mut fft = Fft3::new([1, ny, nz]);
        let (mut charges, mut plane) = (self.charges.clone(), vec![Complex::default(); ny * (nz / 2 + 1)]);
        let plane = |charges: &mut [f64]| {
            fft.forward(charges, &mut plane);
            plane.clone()
        };
        charges.chunks_exact_mut(ny * nz).flat_map(plane).collect()
    }

    /// Returns the potential, the energy and the virial of the charges.
    fn solved(&self) -> (Vec<f64>, f64, Mat3) {
        let mut fft = Fft3::new(self.parameters.grid);
        let [nx, ny, depth] = fft.reciprocal_size();
        let influence = Influence::new(&self.parameters, MeshPotential::Coulomb);
        let (rows, volume) = (reciprocal_rows(&self.cell), self.cell.volume());
        let (mut spectrum, mut energy, mut virial) = (vec![Complex::default(); ny * depth * nx], 0.0, Mat3::ZERO);
        fft.forward(&mut self.charges.clone(), &mut spectrum);
        for (number, value) in spectrum.iter_mut().enumerate() {
            let k = [number / (ny * depth), number / depth % ny, number % depth];
            let element = influence.element(&rows, volume, k);
            let own_image = k[2] == 0 || 2 * k[2] == self.parameters.grid[2];
            let part = if own_image { 0.5 } else { 1.0 } * value.norm_sqr();
            energy += part * element.green;
            for (i, row) in virial.0.iter_mut().enumerate() {
                for (j, entry) in row.iter_mut().enumerate() {
                    let diagonal = if i == j { element.green } else { 0.0 };
                    *entry += part * (diagonal - element.stress.0[i][j]);
                }
            }
            *value *= element.green;
        }
        let mut potential = vec![0.0; self.charges.len()];
        fft.inverse(&mut spectrum, &mut potential);
        (potential, energy, virial)
    }
}

/// Returns the RMS difference divided by the RMS of `theirs`.
fn error(ours: impl Iterator<Item = f64>, theirs: impl Iterator<Item = f64>) -> f64 {
    let (mut off, mut size) = (0.0, 0.0);
    for (ours, theirs) in ours.zip(theirs) {
        off += (ours - theirs).powi(2);
        size += theirs.powi(2);
    }
    f64::sqrt(off / size)
}

#[test]
fn planes_there_and_back() {
    for grid in GRIDS {
        let sample = Mesh::new(grid);
        let mut device = Emulated::without(Kernel::SolveLines);
        let a = sample.on(&mut device);
        mesh::solve(&device, &a, false).expect("transforms");
        assert_eq!(device.tally().kernels, 1 + 2, "{grid:?} is not ours");
        let [nx, ny, nz] = grid;
        let exact = sample.planes();
        let mut planes = vec![[0f32; 2]; exact.len()];
        read(&device, a.spectrum, &mut planes).expect("a spectrum");
        let planes = planes.as_flattened().iter().map(|&value| f64::from(value));
        let there = error(planes, exact.iter().flat_map(|value| [value.re, value.im]));
        assert!(there < ROUNDING, "{grid:?}: {there:.1e} of the transform");
        let (mut potential, mut left) = (vec![0f32; nx * ny * nz], vec![0i32; nx * ny * nz]);
        read(&device, a.grid, &mut potential).expect("a grid");
        read(&device, a.charge_grid, &mut left).expect("a grid");
        assert!(left.iter().all(|&charge| charge == 0), "{grid:?} leaves charges to the next step");
        let back = potential.iter().map(|&value| f64::from(value) / (ny * nz) as f64);
        let back = error(back, sample.charges.iter().copied());
        assert!(back < 2.0 * ROUNDING, "{grid:?}: {back:.1e} of the charges");
    }
}

#[test]
fn potential_energy_and_virial() {
    for grid in GRIDS {
        let sample = Mesh::new(grid);
        let (exact, energy, virial) = sample.solved();
        let mut found = vec![];
        for (order, with_sums) in [(0, true), (1, true), (2, true), (0, false)] {
            let mut device = Emulated::new(order);
            let a = sample.on(&mut device);
            mesh::solve(&device, &a, with_sums).expect("a potential");
            assert_eq!(device.tally().kernels, 1 + 3, "{grid:?}");
            let mut potential = vec![0f32; exact.len()];
            read(&device, a.grid, &mut potential).expect("a grid");
            let sums = Sums::read(&device, &a).expect("sums");
            found.push((potential, with_sums.then(|| (sums.at(SUM_RECIPROCAL), sums.virial()))));
        }
        let (potential, sums) = &found[0];
        let (ours, our_virial) = sums.expect("sums were asked for");
        assert!(found[1] == found[0] && found[2] == found[0], "{grid:?}: the order of threads matters");
        assert!(found[3].0 == *potential, "{grid:?}: sums change the potential");
        let error = error(potential.iter().map(|&value| f64::from(value)), exact.iter().copied());
        assert!(error < SOLVED, "{grid:?}: potential off by {error:.1e}");
        assert!((ours - energy).abs() < ENERGY * energy, "{grid:?}: energy {ours} for {energy}");
        let off = (0..9).map(|k| (our_virial.0[k / 3][k % 3] - virial.0[k / 3][k % 3]).abs()).fold(0.0, f64::max);
        assert!(off < ENERGY * energy, "{grid:?}: virial off by {off} of {energy}");
    }
}
