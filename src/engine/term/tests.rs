//! Compares every formula on sixteen lanes of `f32` with the same formula in `f64`, on every instruction set. The CUDA
//! version of the formula in `kernels/term.cuh` is compared with the formula in `f64`, too. The difference must be
//! within the rounding error bound of the geometry ([`Rounded`]), and this bound must be small.

use super::rounded::{Rounded, UNIT};
use super::testing::{chain, random};
use super::{
    Dihedral, MAX_PERIODICITY, Patch, Real, angle, bond, cmap, g96_angle, g96_bond, harmonic_improper, pair14,
    ryckaert_bellemans, torsion,
};
use crate::backend::cuda::emulator;
use crate::rng::Stream;
use crate::simd::{Float, Kernel, LANES, Level, Simd, dispatch};
use crate::vec3::Vec3;
use std::array::from_fn;
use std::marker::PhantomData;

/// A term as a function from displacements and parameters to forces and energies.
trait Formula<const IN: usize, const OUT: usize> {
    /// Name of the CUDA version of the formula in `src/engine/backend/cuda/emulator/terms.cpp`; `None` if the kernels
    /// do not have the formula.
    const TWIN: Option<&'static str>;
    fn evaluate<T: Real>(input: [T; IN]) -> [T; OUT];
    /// Returns random parameters of one term.
    fn parameters(random: &mut Stream) -> Vec<f64>;
}

/// Returns the vector of three consecutive numbers of `input`, which begin at index `first`.
#[inline(always)]
fn vector<T: Real>(input: &[T], first: usize) -> Vec3<T> {
    Vec3::from([input[first], input[first + 1], input[first + 2]])
}

/// Returns the three displacement vectors of a torsion, which are the first nine numbers of `input`.
#[inline(always)]
fn displacements<T: Real>(input: &[T]) -> [Vec3<T>; 3] {
    [vector(input, 0), vector(input, 3), vector(input, 6)]
}

/// Returns the components of N forces, followed by E energies, as one array.
#[inline(always)]
fn flat<T: Real, const N: usize, const E: usize, const OUT: usize>(forces: [Vec3<T>; N], energies: [T; E]) -> [T; OUT] {
    from_fn(|k| if k < 3 * N { forces[k / 3].to_array()[k % 3] } else { energies[k - 3 * N] })
}

/// Bonds and Urey–Bradley distances.
struct Distance;

impl Formula<5, 4> for Distance {
    const TWIN: Option<&str> = Some("term_distance");
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 5]) -> [T; 4] {
        let ([force, _], energy) = bond([vector(&input, 0)], [input[3], input[4]]);
        flat([force], [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        vec![random.between(0.09, 0.16), random.between(1e4, 5e5)]
    }
}

struct Bend;

impl Formula<8, 10> for Bend {
    const TWIN: Option<&str> = Some("term_bend");
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 8]) -> [T; 10] {
        let (forces, energy) = angle([vector(&input, 0), vector(&input, 3)], [input[6], input[7]]);
        flat(forces, [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        vec![random.between(1.7, 2.2), random.between(200.0, 1000.0)]
    }
}

/// Bonds of GROMOS-96.
struct G96Distance;

impl Formula<5, 4> for G96Distance {
    const TWIN: Option<&str> = None;
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 5]) -> [T; 4] {
        let ([force, _], energy) = g96_bond([vector(&input, 0)], [input[3], input[4]]);
        flat([force], [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        vec![random.between(0.09, 0.16), random.between(1e6, 2e7)]
    }
}

/// Angles of GROMOS-96.
struct G96Bend;

impl Formula<8, 10> for G96Bend {
    const TWIN: Option<&str> = None;
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 8]) -> [T; 10] {
        let (forces, energy) = g96_angle([vector(&input, 0), vector(&input, 3)], [input[6], input[7]]);
        flat(forces, [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        vec![random.between(-0.7, 0.0), random.between(200.0, 1000.0)]
    }
}

/// Proper and improper torsions.
struct Periodic;

impl Formula<13, 13> for Periodic {
    const TWIN: Option<&str> = Some("term_periodic");
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 13]) -> [T; 13] {
        let (forces, energy) = torsion(displacements(&input), [input[9], input[10], input[11], input[12]]);
        flat(forces, [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        let (sine, cosine) = random.between(-3.0, 3.0).sin_cos();
        let periodicity = random.bits() % (u64::from(MAX_PERIODICITY) + 1);
        vec![periodicity as f64, cosine, sine, random.between(-20.0, 20.0)]
    }
}

struct Polynomial;

impl Formula<15, 13> for Polynomial {
    const TWIN: Option<&str> = Some("term_ryckaert_bellemans");
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 15]) -> [T; 13] {
        let coefficients = [input[9], input[10], input[11], input[12], input[13], input[14]];
        let (forces, energy) = ryckaert_bellemans(displacements(&input), coefficients);
        flat(forces, [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        (0..6).map(|_| random.between(-20.0, 20.0)).collect()
    }
}

struct HarmonicDihedral;

impl Formula<11, 13> for HarmonicDihedral {
    const TWIN: Option<&str> = Some("term_harmonic_dihedral");
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 11]) -> [T; 13] {
        let (forces, energy) = harmonic_improper(displacements(&input), [input[9], input[10]]);
        flat(forces, [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        vec![random.between(-3.0, 3.0), random.between(10.0, 1000.0)]
    }
}

struct Pair;

impl Formula<6, 5> for Pair {
    const TWIN: Option<&str> = Some("term_pair");
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 6]) -> [T; 5] {
        let (force, coulomb, lj) = pair14(vector(&input, 0), input[3], input[4], input[5]);
        flat([force], [coulomb, lj])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        vec![random.between(-80.0, 80.0), random.between(1e-4, 5e-3), random.between(1e-9, 5e-6)]
    }
}

/// A correction map. The position in the square of the map is an input.
struct Map;

impl Formula<31, 25> for Map {
    const TWIN: Option<&str> = Some("term_map");
    #[inline(always)]
    fn evaluate<T: Real>(input: [T; 31]) -> [T; 25] {
        let [ij, kj, lk, ml] = [0, 3, 6, 9].map(|first| vector(&input, first));
        let patch =
            Patch { coefficients: from_fn(|k| input[12 + k]), u: input[28], v: input[29], steps_per_radian: input[30] };
        let (phi, psi) = (Dihedral::new([ij, kj, lk]), Dihedral::new([-kj, lk, ml]));
        let (on_phi, on_psi, energy) = cmap(&phi, &psi, |_, _| patch);
        flat::<T, 8, 1, 25>(from_fn(|k| if k < 4 { on_phi[k] } else { on_psi[k - 4] }), [energy])
    }
    fn parameters(random: &mut Stream) -> Vec<f64> {
        let coefficients = (0..16).map(|_| random.between(-10.0, 10.0));
        let mut parameters: Vec<f64> = coefficients.collect();
        parameters.extend([random.between(0.0, 1.0), random.between(0.0, 1.0), 24.0 / std::f64::consts::TAU]);
        parameters
    }
}

/// A formula on sixteen lanes.
struct OnLanes<'a, M, const IN: usize, const OUT: usize>(&'a [[f32; LANES]; IN], PhantomData<M>);

impl<M: Formula<IN, OUT>, const IN: usize, const OUT: usize> Kernel for OnLanes<'_, M, IN, OUT> {
    type Output = [[f32; LANES]; OUT];
    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        M::evaluate::<S::F>(from_fn(|k| S::F::load(&self.0[k]))).map(|v| {
            let mut out = [0.0; LANES];
            v.store(&mut out);
            out
        })
    }
}

/// Number of batches of sixteen terms of each kind.
const BATCHES: usize = 200;
/// Upper limit of the median error bound, since a test with large bounds would test nothing. For half of all results
/// the bound must be less than `TYPICAL_ROUNDINGS` rounding errors of the largest result of the same kind. Formulas
/// with about fifty operations have error bounds of about fifty rounding errors.
const TYPICAL_ROUNDINGS: f64 = 100.0;

/// Input of a term. The first numbers are the ATOMS − 1 bond vectors of a chain with the signs of
/// [`DISPLACEMENTS`](super::DISPLACEMENTS), and the parameters come after the bond vectors.
fn input<M: Formula<IN, OUT>, const IN: usize, const OUT: usize, const ATOMS: usize>(
    random: &mut Stream,
    displacements: fn([Vec3; ATOMS]) -> Vec<Vec3>,
) -> [f32; IN] {
    let mut numbers: Vec<f64> = displacements(chain(random)).into_iter().flat_map(Vec3::to_array).collect();
    numbers.extend(M::parameters(random));
    from_fn(|k| numbers[k] as f32)
}

/// Compares every result on every instruction set with its value and error bound.
fn check<M: Formula<IN, OUT>, const IN: usize, const OUT: usize, const ATOMS: usize>(
    seed: u64,
    displacements: fn([Vec3; ATOMS]) -> Vec<Vec3>,
) {
    let mut random = random(seed);
    let mut bounds = vec![];
    let device = emulator::library();
    for _ in 0..BATCHES {
        let terms: [[f32; IN]; LANES] = from_fn(|_| input::<M, IN, OUT, ATOMS>(&mut random, displacements));
        let expected = terms.map(|term| M::evaluate(term.map(Rounded::exact)));
        let levels = Level::available().into_iter().map(|level| {
            let lanes = from_fn(|k| terms.map(|term| term[k]));
            (level.name(), dispatch(level, OnLanes::<M, IN, OUT>(&lanes, PhantomData)))
        });
        let on_device = M::TWIN.map(|twin| {
            let results = terms.map(|term| device.term::<f32, IN, OUT>(twin, &term));
            ("kernels", from_fn(|k| results.map(|results| results[k])))
        });
        for (place, found) in levels.chain(on_device) {
            for (lane, results) in expected.iter().enumerate() {
                for (k, Rounded { value, error }) in results.iter().enumerate() {
                    let off = (f64::from(found[k][lane]) - value).abs();
                    assert!(off <= *error, "{place}, result {k}: {value} is off by {off:e}, more than {error:e}");
                }
            }
        }
        for results in expected {
            let largest = results.iter().fold(0f64, |a, r| a.max(r.value.abs()));
            bounds.extend(results.iter().map(|r| r.error / largest));
        }
    }
    bounds.sort_by(f64::total_cmp);
    let typical = bounds[bounds.len() / 2] / UNIT;
    assert!(typical < TYPICAL_ROUNDINGS, "a bound of {typical} roundings tests nothing");
}

#[test]
fn distances() {
    check::<Distance, _, _, 2>(1, |[i, j]| vec![i - j]);
}

#[test]
fn angles() {
    check::<Bend, _, _, 3>(2, |[i, j, k]| vec![i - j, k - j]);
}

#[test]
fn bonds_and_angles_of_gromos() {
    check::<G96Distance, _, _, 2>(8, |[i, j]| vec![i - j]);
    check::<G96Bend, _, _, 3>(9, |[i, j, k]| vec![i - j, k - j]);
}

#[test]
fn torsions() {
    check::<Periodic, _, _, 4>(3, |[i, j, k, l]| vec![i - j, k - j, l - k]);
}

#[test]
fn ryckaert_bellemans_torsions() {
    check::<Polynomial, _, _, 4>(7, |[i, j, k, l]| vec![i - j, k - j, l - k]);
}

#[test]
fn harmonic_impropers() {
    check::<HarmonicDihedral, _, _, 4>(4, |[i, j, k, l]| vec![i - j, k - j, l - k]);
}

#[test]
fn scaled_pairs() {
    check::<Pair, _, _, 4>(5, |[i, _, _, l]| vec![i - l]);
}

#[test]
fn correction_maps() {
    check::<Map, _, _, 5>(6, |[i, j, k, l, m]| vec![i - j, k - j, l - k, m - l]);
}
