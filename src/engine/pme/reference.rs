//! PME in double precision, written for clarity rather than speed.

use num_complex::Complex;
use rayon::prelude::*;

use super::{ChargeSums, Influence, MeshPotential, reciprocal_rows, spline};
use crate::cell::PeriodicCell;
use crate::compute::Fft3;
use crate::system::PmeParameters;
use crate::vec3::{Mat3, Vec3};

/// The reciprocal part of an Ewald sum on a grid, in double precision.
pub struct ReferencePme {
    parameters: PmeParameters,
    influence: Influence,
    fft: Fft3,
    grid: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    /// energy (kJ/mol) and virial of each x-slab
    slabs: Vec<(f64, Mat3)>,
}

impl ReferencePme {
    /// Plans the transforms of the grid. The order must be one of [`super::ORDERS`], and each grid dimension must be
    /// at least the order.
    pub fn new(parameters: PmeParameters, potential: MeshPotential) -> Self {
        let fft = Fft3::new(parameters.grid);
        Self {
            parameters,
            influence: Influence::new(&parameters, potential),
            grid: vec![0.0; parameters.grid.iter().product()],
            spectrum: vec![Complex::default(); fft.reciprocal_size().iter().product()],
            slabs: vec![(0.0, Mat3::ZERO); parameters.grid[0]],
            fft,
        }
    }

    /// Adds the reciprocal-space forces (kJ/mol/nm) to `forces`. Returns the energy (reciprocal + self + plasma,
    /// kJ/mol) and its virial Σ r⊗F.
    pub fn evaluate(
        &mut self,
        cell: &PeriodicCell,
        positions: &[Vec3],
        charges: &[f64],
        forces: &mut [Vec3],
    ) -> (f64, Mat3) {
        let sums = self.solve_potential(cell, positions, charges);
        forces.par_iter_mut().zip(positions.par_iter().zip(charges)).for_each(|(force, (&position, &charge))| {
            *force += self.force(cell, position, charge);
        });
        sums
    }

    /// Computes the potential of the charges on the grid for later calls of [`Self::force`]. Returns energy and virial
    /// like [`Self::evaluate`].
    pub fn solve_potential(&mut self, cell: &PeriodicCell, positions: &[Vec3], charges: &[f64]) -> (f64, Mat3) {
        match self.parameters.order {
            4 => self.spread::<4>(cell, positions, charges),
            5 => self.spread::<5>(cell, positions, charges),
            6 => self.spread::<6>(cell, positions, charges),
            8 => self.spread::<8>(cell, positions, charges),
            _ => unreachable!("the order has been checked against ORDERS"),
        }
        self.fft.forward(&mut self.grid, &mut self.spectrum);
        let (mut energy, mut virial) = self.solve(cell);
        self.fft.inverse(&mut self.spectrum, &mut self.grid);

        let (alpha, potential) = (self.parameters.alpha, self.influence.potential());
        let sums = ChargeSums::of(charges.iter().copied());
        let plasma = potential.plasma_energy(alpha, sums, cell.volume());
        energy += potential.self_energy(alpha, sums) + plasma;
        for (axis, row) in virial.0.iter_mut().enumerate() {
            row[axis] += plasma;
        }
        (energy, virial)
    }

    /// Spreads charges onto the grid with B-splines of order N.
    fn spread<const N: usize>(&mut self, cell: &PeriodicCell, positions: &[Vec3], charges: &[f64]) {
        let points = self.parameters.grid;
        self.grid.fill(0.0);
        for (&position, &charge) in positions.iter().zip(charges) {
            let support = Support::<N>::new(cell, position, points);
            support.for_each(|index, [x, y, z], value, _| {
                self.grid[index] += charge * value[0][x] * value[1][y] * value[2][z]
            });
        }
    }

    /// Multiplies the spectrum by the influence function. Returns the energy ½ Σ G |S|² and its virial, with the
    /// influence function G and the spectrum S of the charges.
    fn solve(&mut self, cell: &PeriodicCell) -> (f64, Mat3) {
        let [_, ny, mz] = self.fft.reciprocal_size();
        let nz = self.parameters.grid[2];
        let (reciprocal, volume, influence) = (reciprocal_rows(cell), cell.volume(), &self.influence);
        (self.spectrum.par_chunks_mut(ny * mz).zip(&mut self.slabs).enumerate()).for_each(
            |(x, (slab, (energy, virial)))| {
                (*energy, *virial) = (0.0, Mat3::ZERO);
                for (index, value) in slab.iter_mut().enumerate() {
                    let (y, z) = (index / mz, index % mz);
                    let element = influence.element(&reciprocal, volume, [x, y, z]);
                    // the energy of a stored element counts twice, because only half of the spectrum is stored; the
                    // planes z = 0 and z = nz/2 are stored completely and count once
                    let own_image = z == 0 || 2 * z == nz;
                    let part = if own_image { 0.5 } else { 1.0 } * value.norm_sqr();
                    *energy += part * element.green;
                    *virial += element.stress.scaled(-part);
                    *value *= element.green;
                }
            },
        );
        let (mut energy, mut virial) = (0.0, Mat3::ZERO);
        for (part, part_virial) in &self.slabs {
            energy += part;
            virial += *part_virial;
        }
        for (axis, row) in virial.0.iter_mut().enumerate() {
            row[axis] += energy;
        }
        (energy, virial)
    }

    /// Returns the force (kJ/mol/nm) on a charge q from the potential φ on the grid: F = −q Σ φ ∇w with the spline
    /// weights w of the grid points.
    pub fn force(&self, cell: &PeriodicCell, position: Vec3, charge: f64) -> Vec3 {
        match self.parameters.order {
            4 => self.gather::<4>(cell, position, charge),
            5 => self.gather::<5>(cell, position, charge),
            6 => self.gather::<6>(cell, position, charge),
            8 => self.gather::<8>(cell, position, charge),
            _ => unreachable!("the order has been checked against ORDERS"),
        }
    }

    fn gather<const N: usize>(&self, cell: &PeriodicCell, position: Vec3, charge: f64) -> Vec3 {
        let (points, reciprocal) = (self.parameters.grid, reciprocal_rows(cell));
        let per_step = [0, 1, 2].map(|d| reciprocal[d] * points[d] as f64);
        let mut slope = [0.0; 3];
        Support::<N>::new(cell, position, points).for_each(|index, [x, y, z], value, derivative| {
            let potential = self.grid[index];
            slope[0] += potential * derivative[0][x] * value[1][y] * value[2][z];
            slope[1] += potential * value[0][x] * derivative[1][y] * value[2][z];
            slope[2] += potential * value[0][x] * value[1][y] * derivative[2][z];
        });
        (per_step[0] * slope[0] + per_step[1] * slope[1] + per_step[2] * slope[2]) * -charge
    }
}

/// The N³ grid points around one atom, and the spline weights of the atom at these points.
struct Support<const N: usize> {
    points: [usize; 3],
    first: [usize; 3],
    value: [[f64; N]; 3],
    derivative: [[f64; N]; 3],
}

impl<const N: usize> Support<N> {
    fn new(cell: &PeriodicCell, position: Vec3, points: [usize; 3]) -> Self {
        let s = cell.to_fractional(position).to_array();
        let (mut first, mut value, mut derivative) = ([0; 3], [[0.0; N]; 3], [[0.0; N]; 3]);
        for d in 0..3 {
            let place = (s[d] - s[d].floor()) * points[d] as f64;
            first[d] = place as usize;
            (value[d], derivative[d]) = spline(place - place.floor());
        }
        Self { points, first, value, derivative }
    }

    /// Calls `visit(grid index, weight index along each axis, spline values, spline derivatives)` for every grid point.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(usize, [usize; 3], &[[f64; N]; 3], &[[f64; N]; 3])) {
        let at = |d: usize, j: usize| (self.first[d] + j) % self.points[d];
        for x in 0..N {
            for y in 0..N {
                let row = (at(0, x) * self.points[1] + at(1, y)) * self.points[2];
                for z in 0..N {
                    visit(row + at(2, z), [x, y, z], &self.value, &self.derivative);
                }
            }
        }
    }
}
