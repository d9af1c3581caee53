//! Influence function, and energy and virial of a charge spectrum, for sixteen wave vectors at a time.

use crate::arrays::map;
use crate::cell::PeriodicCell;
use crate::compute::Split;
use crate::pme::{Influence, MeshPotential, gaussian, reciprocal_rows};
use crate::simd::{Aligned16, Kernel, LANES, Simd};
use crate::vec3::{Mat3, Vec3};
use std::hint::black_box;

/// Components x, y, z (1/nm) of sixteen vectors.
type Vectors = [[f64; LANES]; 3];

/// Sixteen wave vectors m, which differ in k_x and share k_y. The arrays of two elements have a value for each part of
/// [`Influence::wave_number`].
struct Waves<'a> {
    influence: &'a Influence,
    /// factors of the influence function that depend on k_x and k_y, zero beyond the grid
    factors: [f64; LANES],
    /// reciprocal lattice vector a* (1/nm)
    a: Vec3,
    /// the sixteen integers k_x, which are zero beyond the grid
    along_x: [[f64; LANES]; 2],
    /// k_y b*, 1/nm
    along_y: [Vec3; 2],
    /// reciprocal lattice vector c*, 1/nm
    c: Vec3,
    /// whether the second part along x or y is not zero for one of the wave vectors
    has_half: bool,
}

impl<'a> Waves<'a> {
    #[inline(always)]
    fn new(influence: &'a Influence, cell: &PeriodicCell, [first, y]: [usize; 2]) -> Self {
        let [a, b, c] = reciprocal_rows(cell);
        let factor = influence.inverse_moduli(1)[y] / cell.volume() / influence.potential().constant();
        let (mut factors, mut along_x) = ([0.0; LANES], [[0.0; LANES]; 2]);
        let moduli = &influence.inverse_moduli(0)[first..];
        for lane in 0..moduli.len().min(LANES) {
            factors[lane] = moduli[lane] * factor;
            [along_x[0][lane], along_x[1][lane]] = influence.wave_number(0, first + lane);
        }
        let k_y = influence.wave_number(1, y);
        let has_half = k_y[1] + along_x[1].iter().sum::<f64>() != 0.0;
        Waves { influence, factors, a, along_x, along_y: map(k_y, |number| b * number), c, has_half }
    }

    /// Returns the signs of the second part for which the influence function at index `z` of k_z is a mean: one sign
    /// if this part is zero.
    #[inline(always)]
    fn signs(&self, z: usize) -> &'static [f64] {
        if self.has_half || self.influence.wave_number(2, z)[1] != 0.0 { &[1.0, -1.0] } else { &[1.0] }
    }

    /// Returns the wave vectors with index `z` of k_z and their squared lengths |m|² (1/nm²). The second part has the
    /// given sign.
    #[inline(always)]
    fn at(&self, z: usize, sign: f64) -> (Vectors, [f64; LANES]) {
        let [k_z, half] = self.influence.wave_number(2, z);
        let rest = self.along_y[0] + self.along_y[1] * sign + self.c * (k_z + half * sign);
        let mut along_x = self.along_x[0];
        for lane in 0..LANES {
            along_x[lane] += self.along_x[1][lane] * sign;
        }
        let axis = |a: f64, rest: f64| map(along_x, |k| a * k + rest);
        let waves = [axis(self.a.x, rest.x), axis(self.a.y, rest.y), axis(self.a.z, rest.z)];
        let mut squares = [0.0; LANES];
        for lane in 0..LANES {
            let [x, y, z] = map([0, 1, 2], |axis: usize| waves[axis][lane]);
            squares[lane] = x * x + y * y + z * z;
        }
        (waves, squares)
    }

    /// Returns the influence function at squared wave vectors (1/nm²) with index `z` of k_z, divided by the constant
    /// factor of the mesh potential and by `count`.
    #[inline(always)]
    fn green(&self, z: usize, squares: [f64; LANES], count: usize) -> [f64; LANES] {
        let (potential, alpha) = (self.influence.potential(), self.influence.alpha());
        let factor = self.influence.inverse_moduli(2)[z] / count as f64;
        // the exponentials are library calls, which prevent vectorisation; a separate loop for them lets the compiler
        // vectorise the next loop
        let gaussians = map(squares, |squared| gaussian(squared, alpha));
        let mut values = [0.0; LANES];
        for lane in 0..LANES {
            let transform = potential.transform(squares[lane], gaussians[lane], alpha);
            values[lane] = transform * self.factors[lane] * factor;
        }
        values
    }
}

/// Magnitude below which a value of the influence function is zero. The largest value in a cell of the length L is
/// about 1/(π L), so that these values do not change sums in `f32`. Their products with the spectrum could be subnormal
/// numbers, which are slow on Intel processors.
const NEGLIGIBLE: f64 = 1e-20;

/// Computes the PME influence function, divided by the constant factor of the mesh potential, for sixteen k_x at one
/// k_y and all k_z.
pub(super) struct Fill<'a> {
    pub(super) influence: &'a Influence,
    pub(super) cell: &'a PeriodicCell,
    pub(super) green: &'a mut [Aligned16],
    /// index of the first of the sixteen k_x, and index of k_y
    pub(super) place: [usize; 2],
}

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Fill { influence, cell, green, place } = self;
        let waves = Waves::new(influence, cell, place);
        for z in 0..green.len().min(influence.inverse_moduli(2).len()) {
            let signs = waves.signs(z);
            let mut values = [0.0; LANES];
            for &sign in signs {
                let part = waves.green(z, waves.at(z, sign).1, signs.len());
                for lane in 0..LANES {
                    values[lane] += part[lane];
                }
            }
            let values = map(values, |value: f64| if value.abs() < NEGLIGIBLE { 0.0 } else { value });
            // `black_box` hides the values from the compiler, which would otherwise convert negligible values to
            // subnormal numbers and replace them by zero after that
            green[z].0 = map(black_box(values), |value| value as f32);
        }
    }
}

/// Computes ½ Σ G |S|² and its virial for sixteen k_x at one k_y, with influence function G and spectrum S.
pub(super) struct Sum<'a> {
    pub(super) influence: &'a Influence,
    pub(super) cell: &'a PeriodicCell,
    pub(super) spectrum: &'a Split,
    pub(super) green: &'a [Aligned16],
    /// index of the first of the sixteen k_x, and index of k_y
    pub(super) place: [usize; 2],
    pub(super) points: [usize; 3],
}

impl Kernel for Sum<'_> {
    type Output = (f64, Mat3);

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        let (potential, alpha) = (self.influence.potential(), self.influence.alpha());
        // Coulomb and dispersion have separate loops, because the Coulomb loop needs no function call and can be
        // vectorised
        match potential {
            MeshPotential::Coulomb => self.add(|squared| MeshPotential::Coulomb.virial_factor(squared, alpha)),
            MeshPotential::Dispersion => self.add(|squared| potential.virial_factor(squared, alpha)),
        }
    }
}

impl Sum<'_> {
    #[inline(always)]
    fn add(self, virial_factor: impl Fn(f64) -> f64) -> (f64, Mat3) {
        const PAIRS: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
        let Sum { influence, cell, spectrum, green, place, points } = self;
        let waves = Waves::new(influence, cell, place);
        let weight = if place[1] == 0 || 2 * place[1] == points[1] { 0.5 } else { 1.0 };
        let (mut energies, mut virials) = ([0.0; LANES], [[0.0; LANES]; 6]);
        for z in 0..spectrum.re.len().min(green.len()) {
            let (re, im, green) = (&spectrum.re[z], &spectrum.im[z], map(green[z].0, f64::from));
            let signs = waves.signs(z);
            for &sign in signs {
                let (waves_z, squares) = waves.at(z, sign);
                let green = if signs.len() == 1 { green } else { waves.green(z, squares, signs.len()) };
                let mut parts = [0.0; LANES];
                for lane in 0..LANES {
                    let [re, im] = map([re.0[lane], im.0[lane]], f64::from);
                    let part = weight * green[lane] * (re * re + im * im);
                    energies[lane] += part;
                    parts[lane] = -part * virial_factor(squares[lane]);
                }
                for k in 0..6 {
                    let [i, j] = PAIRS[k];
                    for lane in 0..LANES {
                        virials[k][lane] += parts[lane] * waves_z[i][lane] * waves_z[j][lane];
                    }
                }
            }
        }
        let [xx, xy, xz, yy, yz, zz] = map(virials, |lanes| lanes.iter().sum());
        (energies.iter().sum(), Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    }
}
