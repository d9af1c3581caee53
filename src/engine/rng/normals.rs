//! Normal random numbers for many indices at once, in loops that a compiler vectorises.
//!
//! Numbers are in single precision. The Box–Muller transform uses 32 random bits for the radius and 32 for the angle,
//! so that the largest magnitude is √(2·33 ln 2) = 6.8. The functions ln, sin and cos have relative errors below 10⁻⁷.
//! The code uses only sums, products, quotients and square roots, which every instruction set rounds alike, so that
//! results are the same bit for bit on all instruction sets.

use super::{MULTIPLIERS, Purpose, ROUNDS, RandomKey, WEYL};
use crate::arrays::{from_fn, map};
use std::f32::consts::{FRAC_PI_2, LN_2, SQRT_2};

/// Number of indices for which a call of [`normals`] returns numbers.
pub const NORMALS: usize = 32;
/// Array with a value for each index.
pub type Lanes<T> = [T; NORMALS];

/// Returns `NORMALS` consecutive indices from `first` on.
#[inline(always)]
pub fn indices_from(first: u32) -> Lanes<u32> {
    let mut index = [0; NORMALS];
    for (lane, index) in index.iter_mut().enumerate() {
        *index = first.wrapping_add(lane as u32);
    }
    index
}

/// Returns three independent normal numbers (mean 0, variance 1) for each index. The numbers are a pure function of
/// (seed, purpose, step, index).
#[inline(always)]
pub fn normals(RandomKey { seed, step }: RandomKey, purpose: Purpose, index: Lanes<u32>) -> [Lanes<f32>; 3] {
    let counter = [index, [step as u32; NORMALS], [(step >> 32) as u32; NORMALS], [(purpose as u32) << 24; NORMALS]];
    let [a, b, c, d] = philox(counter, [seed as u32, (seed >> 32) as u32]);
    let ([x, y], [z, _]) = (box_muller(a, b), box_muller(c, d));
    [x, y, z]
}

/// Two lanes in each 64-bit word, with the first lane in the lower half. Each 32-bit half can be used in a
/// multiplication without a conversion.
type Halves = [u64; NORMALS / 2];

/// Applies [`super::philox4x32_10`] in every lane.
#[inline(always)]
fn philox(counter: [Lanes<u32>; 4], mut key: [u32; 2]) -> [Lanes<u32>; 4] {
    const LOWER: u64 = u32::MAX as u64;
    let pair = |lower: u32, upper: u32| u64::from(lower) | u64::from(upper) << 32;
    let [mut w, mut x, mut y, mut z] =
        map(counter, |word| -> Halves { from_fn(|i| pair(word[2 * i], word[2 * i + 1])) });
    for _ in 0..ROUNDS {
        let keys = map(key, |key| pair(key, key));
        for i in 0..w.len() {
            // products of the lower 32-bit halves, and products of the upper 32-bit halves
            let [[a, b], [c, d]] = map([(w[i], MULTIPLIERS[0]), (y[i], MULTIPLIERS[1])], |(number, factor)| {
                map([number & LOWER, number >> 32], |half| half * u64::from(factor))
            });
            w[i] = (c >> 32 | d & !LOWER) ^ x[i] ^ keys[0];
            y[i] = (a >> 32 | b & !LOWER) ^ z[i] ^ keys[1];
            x[i] = c & LOWER | d << 32;
            z[i] = a & LOWER | b << 32;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    map([w, x, y, z], |halves| from_fn(|lane| (halves[lane / 2] >> (32 * (lane % 2))) as u32))
}

/// Returns two independent normal numbers from two random words, lane by lane.
#[inline(always)]
fn box_muller(radius: Lanes<u32>, angle: Lanes<u32>) -> [Lanes<f32>; 2] {
    let (mut along, mut across) = ([0.0; NORMALS], [0.0; NORMALS]);
    for lane in 0..NORMALS {
        // uniform number in (0, 1], at least 2⁻³³
        let uniform = (radius[lane] as f32 + 0.5) * (1.0 / 4_294_967_296.0);
        let length = (-2.0 * ln(uniform)).sqrt();
        // two bits of the word choose the quadrant, and thirty bits choose the angle within the quadrant, from −π/4 to
        // π/4
        let within = ((angle[lane] & 0x3fff_ffff) as i32 - 0x2000_0000) as f32 * (FRAC_PI_2 / 1_073_741_824.0);
        let (sine, cosine) = (sin(within), cos(within));
        let sign = if angle[lane] >> 31 == 0 { length } else { -length };
        let turned = angle[lane] & 0x4000_0000 != 0;
        along[lane] = sign * if turned { -sine } else { cosine };
        across[lane] = sign * if turned { cosine } else { sine };
    }
    [along, across]
}

/// Computes the natural logarithm of a normal float x = 2ᵉ m, √½ ≤ m < √2, as e ln 2 + 2 artanh((m−1)/(m+1)), with a
/// series for artanh.
#[inline(always)]
fn ln(x: f32) -> f32 {
    let root_half = (0.5 * SQRT_2).to_bits();
    let shifted = x.to_bits().wrapping_sub(root_half) as i32;
    let exponent = shifted >> 23;
    let mantissa = f32::from_bits(x.to_bits().wrapping_sub((exponent << 23) as u32));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    // |s| ≤ 0.172: the first omitted term is below 10⁻⁹
    let series = ((square * (1.0 / 9.0) + 1.0 / 7.0) * square + 1.0 / 5.0) * square + 1.0 / 3.0;
    exponent as f32 * LN_2 + 2.0 * (s + s * square * series)
}

/// Computes sin x for |x| ≤ π/4 by its Taylor series. The first omitted term is below 10⁻⁸.
#[inline(always)]
fn sin(x: f32) -> f32 {
    let square = x * x;
    let series = ((square * (1.0 / 362_880.0) - 1.0 / 5_040.0) * square + 1.0 / 120.0) * square - 1.0 / 6.0;
    x + x * square * series
}

/// Computes cos x for |x| ≤ π/4 by its Taylor series. The first omitted term is below 3·10⁻⁸.
#[inline(always)]
fn cos(x: f32) -> f32 {
    let square = x * x;
    let series = ((square * (1.0 / 40_320.0) - 1.0 / 720.0) * square + 1.0 / 24.0) * square - 0.5;
    1.0 + square * series
}

#[cfg(test)]
mod tests {
    use super::super::philox4x32_10;
    use super::*;

    #[test]
    fn words_are_those_of_philox() {
        let counter = |lane: u32| [lane, 7, 8, 9 << 24];
        let lanes: [Lanes<u32>; 4] = std::array::from_fn(|word| std::array::from_fn(|lane| counter(lane as u32)[word]));
        let words = philox(lanes, [1, 2]);
        for lane in 0..NORMALS {
            assert_eq!(words.map(|word| word[lane]), philox4x32_10(counter(lane as u32), [1, 2]));
        }
    }

    #[test]
    fn functions_are_those_of_mathematics() {
        for k in 0..1_000_000u32 {
            let word = k.wrapping_mul(0x9e37_79b9);
            let uniform = (word as f32 + 0.5) / 4_294_967_296.0;
            let [x, y] = box_muller([word; NORMALS], [word ^ k; NORMALS]).map(|lanes| f64::from(lanes[0]));
            let exact = -2.0 * f64::from(uniform).ln();
            // the tolerance allows for squaring, which doubles the relative error of the length
            assert!((x * x + y * y - exact).abs() <= 1e-6 * exact, "{word}");
        }
        for k in -1000..=1000 {
            let x = k as f32 / 1000.0 * 0.25 * std::f32::consts::PI;
            assert!((f64::from(sin(x)) - f64::from(x).sin()).abs() < 1e-7);
            assert!((f64::from(cos(x)) - f64::from(x).cos()).abs() < 1e-7);
        }
    }

    #[test]
    fn numbers_are_normal_and_independent() {
        const STANDARD_ERRORS: f64 = 4.0;
        let (blocks, key) = (100_000u32, RandomKey { seed: 5, step: 3 });
        let mut sums = [[0.0f64; 4]; 3];
        let mut products = [0.0f64; 4];
        let mut beyond = [0u32; 3];
        for block in 0..blocks {
            let [x, y, z] = normals(key, Purpose::Test, indices_from(block * NORMALS as u32));
            for lane in 0..NORMALS {
                let now = [x, y, z].map(|lanes| f64::from(lanes[lane]));
                let next = f64::from(x[(lane + 1) % NORMALS]);
                for (sum, x) in sums.iter_mut().zip(now) {
                    for (power, sum) in sum.iter_mut().enumerate() {
                        *sum += x.powi(power as i32 + 1);
                    }
                }
                for (product, pair) in
                    products.iter_mut().zip([now[0] * now[1], now[1] * now[2], now[2] * now[0], now[0] * next])
                {
                    *product += pair;
                }
                for (count, limit) in beyond.iter_mut().zip([1.0, 3.0, 4.5]) {
                    *count += now.iter().filter(|x| x.abs() > limit).count() as u32;
                }
            }
        }
        let n = f64::from(blocks) * NORMALS as f64;
        // the first four moments of a normal number x are 0, 1, 0, 3; x, x², x³ and x⁴ have the variances 1, 2, 15, 96
        for sum in sums {
            for (sum, (moment, variance)) in sum.into_iter().zip([(0.0, 1.0f64), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)])
            {
                assert!((sum / n - moment).abs() < STANDARD_ERRORS * (variance / n).sqrt(), "{} for {moment}", sum / n);
            }
        }
        for product in products {
            assert!((product / n).abs() < STANDARD_ERRORS / n.sqrt(), "{}", product / n);
        }
        // probabilities of |x| > 1, 3 and 4.5
        for (count, share) in beyond.into_iter().zip([0.317_310_507_9, 0.002_699_796_063, 6.795_346_249e-6]) {
            let expected = 3.0 * n * share;
            assert!((f64::from(count) - expected).abs() < STANDARD_ERRORS * expected.sqrt(), "{count} for {expected}");
        }
    }
}
