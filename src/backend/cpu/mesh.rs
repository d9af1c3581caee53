//! Reciprocal-space forces: smooth particle-mesh Ewald in `f32` on slots of the spatial grid.
//!
//! Every thread spreads a contiguous run of blocks onto a private padded grid (no wrapping inside the loops); the
//! copies are folded into one periodic grid in a fixed order, transformed, multiplied, transformed back, padded again,
//! and gathered. Energy and virial are sums over the spectrum, made only when asked for.

use super::mesh_kernel::{Gather, MeshAtoms, Spread};
use super::threads::{Parts, part};
use crate::cell::PeriodicCell;
use crate::compute::Fft3;
use crate::pair::Grid;
use crate::pme::{Influence, plasma_energy, reciprocal_rows, self_energy};
use crate::simd::{LANES, Level, dispatch};
use crate::system::PmeParameters;
use crate::vec3::Mat3;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;

/// Strides and sizes of a grid with room for splines that hang over the upper faces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Padded {
    /// points of the periodic grid
    pub size: [usize; 3],
    /// floats from one z-row to the next
    pub row: usize,
    /// floats from one x-plane to the next
    pub plane: usize,
    /// x-planes
    pub planes: usize,
}

impl Padded {
    fn new(parameters: &PmeParameters) -> Self {
        let [nx, ny, nz] = parameters.grid;
        let over = parameters.order - 1;
        // kernels move whole fours, and whole vectors along z
        let row = (nz + parameters.order.next_multiple_of(4) - 1).next_multiple_of(LANES);
        Padded { size: parameters.grid, row, plane: (ny + over) * row, planes: nx + over }
    }

    fn len(&self) -> usize {
        self.plane * self.planes
    }
}

/// What one thread needs for its run of blocks.
struct Share {
    /// private charges
    grid: Vec<f32>,
    /// x-planes that hold anything
    touched: Vec<bool>,
    /// x-planes at which an atom's spline begins
    begins: Vec<bool>,
}

/// Time spent, s, in the parts of an evaluation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeshTimes {
    pub spread: f64,
    pub fft: f64,
    pub solve: f64,
    pub gather: f64,
}

/// The reciprocal-space part of PME.
pub(super) struct Mesh {
    parameters: PmeParameters,
    level: Level,
    padded: Padded,
    charges: Vec<f64>,
    influence: Influence,
    fft: Fft3<f32>,
    shares: Vec<Share>,
    grid: Vec<f32>,
    spectrum: Vec<Complex<f32>>,
    potential: Vec<f32>,
    /// influence function for `green_cell`
    green: Vec<f32>,
    green_cell: Option<PeriodicCell>,
    /// partial sums of the spectrum, one per x-plane
    partial: Vec<(f64, Mat3)>,
    /// measured
    pub times: MeshTimes,
}

impl Mesh {
    /// Plan for charges (e) in topology order.
    pub(super) fn new(parameters: PmeParameters, charges: Vec<f64>, threads: usize, level: Level) -> Self {
        let padded = Padded::new(&parameters);
        let fft = Fft3::new(parameters.grid);
        let complex = fft.reciprocal_size().iter().product();
        let share = || Share {
            grid: vec![0.0; padded.len()],
            touched: vec![false; padded.planes],
            begins: vec![false; padded.size[0]],
        };
        Mesh {
            parameters,
            level,
            padded,
            charges,
            influence: Influence::new(&parameters),
            fft,
            shares: (0..threads).map(|_| share()).collect(),
            grid: vec![0.0; parameters.grid.iter().product()],
            spectrum: vec![Complex::default(); complex],
            potential: vec![0.0; padded.len()],
            green: vec![0.0; complex],
            green_cell: None,
            partial: vec![(0.0, Mat3::ZERO); parameters.grid[0]],
            times: MeshTimes::default(),
        }
    }

    /// Spread the charges of all slots, solve for the potential; energy (with self and plasma terms) and virial are
    /// zero unless `sums`.
    pub(super) fn solve(&mut self, input: MeshInput<'_>, sums: bool) -> (f64, Mat3) {
        let cell = input.cell;
        let start = std::time::Instant::now();
        self.spread(input);
        let spread = std::time::Instant::now();
        self.fft.forward(&mut self.grid, &mut self.spectrum);
        let forward = std::time::Instant::now();
        self.update_green(cell);
        let result = if sums { self.sum_spectrum(cell) } else { (0.0, Mat3::ZERO) };
        self.spectrum.par_chunks_mut(4096).zip(self.green.par_chunks(4096)).for_each(|(values, green)| {
            for (value, &g) in values.iter_mut().zip(green) {
                *value *= g;
            }
        });
        let solved = std::time::Instant::now();
        self.fft.inverse(&mut self.spectrum, &mut self.grid);
        let inverse = std::time::Instant::now();
        self.pad();
        self.times.spread += (spread - start).as_secs_f64();
        self.times.fft += (forward - spread).as_secs_f64() + (inverse - solved).as_secs_f64();
        self.times.solve += (solved - forward).as_secs_f64();
        self.times.gather += inverse.elapsed().as_secs_f64();
        result
    }

    fn spread(&mut self, MeshInput { grid, cell, packed, charges }: MeshInput<'_>) {
        let (padded, order, level, parts) = (self.padded, self.parameters.order, self.level, self.shares.len());
        let atoms = MeshAtoms { grid, cell, packed, charges, padded };
        self.shares.par_iter_mut().enumerate().for_each(|(index, share)| {
            let blocks = part(grid.blocks(), index, parts);
            for (x, touched) in share.touched.iter_mut().enumerate() {
                if *touched {
                    share.grid[x * padded.plane..(x + 1) * padded.plane].fill(0.0);
                    *touched = false;
                }
            }
            share.begins.fill(false);
            let (to, begins) = (&mut share.grid[..], &mut share.begins[..]);
            match order {
                4 => dispatch(level, Spread::<4, 1> { atoms, blocks, to, begins }),
                5 => dispatch(level, Spread::<5, 2> { atoms, blocks, to, begins }),
                6 => dispatch(level, Spread::<6, 2> { atoms, blocks, to, begins }),
                _ => dispatch(level, Spread::<8, 2> { atoms, blocks, to, begins }),
            }
            for (x, _) in share.begins.iter().enumerate().filter(|(_, begins)| **begins) {
                share.touched[x..x + order].fill(true);
            }
        });
        self.fold();
    }

    /// Sum the private grids into the periodic grid, share by share, overhang by overhang.
    fn fold(&mut self) {
        let Padded { size: [nx, ny, nz], row, plane, planes } = self.padded;
        let shares = &self.shares;
        self.grid.par_chunks_mut(ny * nz).enumerate().for_each(|(x, to)| {
            to.fill(0.0);
            for share in shares {
                for source in (x..planes).step_by(nx).filter(|&source| share.touched[source]) {
                    let from = &share.grid[source * plane..(source + 1) * plane];
                    for (y, from) in from.chunks_exact(row).enumerate() {
                        let to = &mut to[y % ny * nz..][..nz];
                        for (t, f) in to.iter_mut().zip(&from[..nz]) {
                            *t += f;
                        }
                        for (z, f) in from.iter().enumerate().skip(nz) {
                            to[z % nz] += f;
                        }
                    }
                }
            }
        });
    }

    /// The potential with its overhang filled in.
    fn pad(&mut self) {
        let Padded { size: [nx, ny, nz], row, plane, .. } = self.padded;
        let grid = &self.grid;
        self.potential.par_chunks_mut(plane).enumerate().for_each(|(x, to)| {
            let from = &grid[x % nx * ny * nz..][..ny * nz];
            for (y, to) in to.chunks_exact_mut(row).enumerate() {
                let from = &from[y % ny * nz..][..nz];
                to[..nz].copy_from_slice(from);
                for z in nz..row {
                    to[z] = from[z % nz];
                }
            }
        });
    }

    /// Reciprocal-space forces of the blocks of one part, into `forces` (that part's blocks only).
    pub(super) fn gather(&self, atoms: MeshInput<'_>, parts: Parts, forces: &mut [[f32; 24]]) {
        let MeshInput { grid, cell, packed, charges } = atoms;
        let blocks: Range<usize> = part(grid.blocks(), parts.index, parts.count);
        let atoms = MeshAtoms { grid, cell, packed, charges, padded: self.padded };
        let from = &self.potential[..];
        match self.parameters.order {
            4 => dispatch(self.level, Gather::<4, 1> { atoms, blocks, from, forces }),
            5 => dispatch(self.level, Gather::<5, 2> { atoms, blocks, from, forces }),
            6 => dispatch(self.level, Gather::<6, 2> { atoms, blocks, from, forces }),
            _ => dispatch(self.level, Gather::<8, 2> { atoms, blocks, from, forces }),
        }
    }

    /// The influence function changes only with the cell. Charges carry √Coulomb already, so it is divided by it.
    fn update_green(&mut self, cell: &PeriodicCell) {
        if self.green_cell == Some(*cell) {
            return;
        }
        self.green_cell = Some(*cell);
        let [_, ny, mz] = self.fft.reciprocal_size();
        let (reciprocal, volume, influence) = (reciprocal_rows(cell), cell.volume(), &self.influence);
        self.green.par_chunks_mut(ny * mz).enumerate().for_each(|(x, plane)| {
            for (index, g) in plane.iter_mut().enumerate() {
                let element = influence.element(&reciprocal, volume, [x, index / mz, index % mz]);
                *g = (element.green / crate::units::COULOMB) as f32;
            }
        });
    }

    /// ½ Σ G |S|² with its virial, and the self and plasma terms.
    fn sum_spectrum(&mut self, cell: &PeriodicCell) -> (f64, Mat3) {
        let [_, ny, mz] = self.fft.reciprocal_size();
        let nz = self.parameters.grid[2];
        let (reciprocal, volume, influence) = (reciprocal_rows(cell), cell.volume(), &self.influence);
        let (spectrum, green) = (&self.spectrum, &self.green);
        self.partial.par_iter_mut().enumerate().for_each(|(x, partial)| {
            let (mut energy, mut virial) = (0.0, Mat3::ZERO);
            let plane = x * ny * mz..(x + 1) * ny * mz;
            for (index, (value, &g)) in spectrum[plane.clone()].iter().zip(&green[plane]).enumerate() {
                let (y, z) = (index / mz, index % mz);
                let half = if z == 0 || 2 * z == nz { 0.5 } else { 1.0 };
                let part = half * f64::from(g) * (f64::from(value.re).powi(2) + f64::from(value.im).powi(2));
                energy += part;
                let element = influence.element(&reciprocal, volume, [x, y, z]);
                virial += Mat3::outer(element.wave, element.wave).scaled(-part * element.virial);
            }
            *partial = (energy, virial);
        });
        let (mut energy, mut virial) = (0.0, Mat3::ZERO);
        for (part, part_virial) in &self.partial {
            energy += part;
            virial += *part_virial;
        }
        let alpha = self.parameters.alpha;
        let plasma = plasma_energy(alpha, &self.charges, volume);
        for (axis, row) in virial.0.iter_mut().enumerate() {
            row[axis] += energy + plasma;
        }
        (energy + self_energy(alpha, &self.charges) + plasma, virial)
    }
}

/// Atoms as the mesh sees them.
#[derive(Clone, Copy)]
pub(super) struct MeshInput<'a> {
    pub grid: &'a Grid,
    pub cell: &'a PeriodicCell,
    /// offsets of the slots from the centres of their blocks
    pub packed: &'a [[f32; 24]],
    /// charges times √Coulomb constant, by slot
    pub charges: &'a [[f32; 8]],
}
