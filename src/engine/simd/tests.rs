//! Tests of every operation on every instruction set of this machine against its definition, lane by lane, bit for bit.

use super::{Arithmetic, Float, Kernel, LANES, Level, Simd, dispatch};
use crate::rng::{Purpose, Stream};
use std::array::from_fn;

mod tables;

type Lanes = [f32; LANES];

/// Values for which results of levels could differ: signed zeros, denormals, the ends of the range, NaN and
/// infinities, halves, and the limits above which floats have no fractional part or do not fit into integers.
const EDGES: [f32; 26] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-45,
    -1e-45,
    1.175_494_2e-38,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    0.5,
    -0.5,
    1.5,
    -2.5,
    0.499_999_97,
    -0.3,
    4_194_304.5,
    8_388_607.5,
    -8_388_609.0,
    2_147_483_648.0,
    -3e9,
    std::f32::consts::PI,
];
/// Number of rounds of sixteen lanes. Each pair of edge values occurs about ten times.
const ROUNDS: usize = 4000;

/// Returns the random numbers of one test.
fn random(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Test, 0, 0)
}

/// Returns a random float: an edge value, arbitrary bits, or a number of moderate size.
fn any(random: &mut Stream) -> f32 {
    match random.bits() % 3 {
        0 => EDGES[(random.bits() % EDGES.len() as u64) as usize],
        1 => f32::from_bits(random.bits() as u32),
        _ => random.between(-10.0, 10.0) as f32,
    }
}

/// Returns a random number of either sign within twenty octaves. Every addition to a sum of such numbers is rounded.
fn ordinary(random: &mut Stream) -> f32 {
    (random.between(-1.0, 1.0) * random.between(-10.0, 10.0).exp2()) as f32
}

#[inline(always)]
fn lanes(v: impl Float) -> Lanes {
    let mut out = [0.0; LANES];
    v.store(&mut out);
    out
}

/// Whether two floats have the same bits, or are both NaN (the bits of a NaN depend on the processor).
fn same(found: f32, expected: f32) -> bool {
    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
}

#[inline(always)]
fn check(name: &str, found: impl Float, expected: impl Fn(usize) -> f32) {
    for (k, found) in lanes(found).into_iter().enumerate() {
        assert!(same(found, expected(k)), "{name}, lane {k}: {found:e} instead of {:e}", expected(k));
    }
}

/// Applies all arithmetic operations to three vectors.
struct Operations {
    input: [Lanes; 3],
    /// whether multiply-adds are rounded only once
    fused: bool,
}

impl Kernel for Operations {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let Operations { input: [x, y, z], fused } = self;
        let (a, b, c) = (S::F::load(&x), S::F::load(&y), S::F::load(&z));
        check("load and store", a, |k| x[k]);
        check("a + b", a + b, |k| x[k] + y[k]);
        check("a − b", a - b, |k| x[k] - y[k]);
        check("a · b", a * b, |k| x[k] * y[k]);
        check("a / b", a / b, |k| x[k] / y[k]);
        check("−a", -a, |k| f32::from_bits(x[k].to_bits() ^ 1 << 31));
        let (mut sum, mut difference) = (a, a);
        sum += b;
        difference -= b;
        check("a += b", sum, |k| x[k] + y[k]);
        check("a −= b", difference, |k| x[k] - y[k]);
        check("√a", a.sqrt(), |k| x[k].sqrt());
        check("round", a.round(), |k| x[k].round_ties_even());
        check("bin offset", a.bin_offset(), |k| x[k] - f32::from_bits(x[k].to_bits() & !((1 << 21) - 1)));

        let multiply_add = |a: f32, b: f32, c: f32| if fused { a.mul_add(b, c) } else { a * b + c };
        check("a · b + c", a.mul_add(b, c), |k| multiply_add(x[k], y[k], z[k]));
        check("c − a · b", a.neg_mul_add(b, c), |k| multiply_add(-x[k], y[k], z[k]));
        assert!(same(S::fma(x[0], y[0], z[0]), multiply_add(x[0], y[0], z[0])), "fma");

        let less: u16 = (0..LANES).map(|k| u16::from(x[k] < y[k]) << k).sum();
        assert_eq!(S::F::bits(a.lt(b)), less, "{x:?} < {y:?}");
        let larger = lanes(a.max(b));
        for k in (0..LANES).filter(|&k| !x[k].is_nan() && !y[k].is_nan()) {
            // if both arguments are zeros, `max` may return either of them
            assert!(larger[k] == x[k].max(y[k]), "max of {:e} and {:e}: {:e}", x[k], y[k], larger[k]);
        }
    }
}

#[test]
fn arithmetic_is_that_of_ieee_754() {
    let mut random = random(1);
    for _ in 0..ROUNDS {
        let input = from_fn(|_| from_fn(|_| any(&mut random)));
        for level in Level::available() {
            dispatch(level, Operations { input, fused: level != Level::Portable });
        }
    }
}

/// Applies the loads that fill a vector from fewer than sixteen numbers.
struct Loads(Lanes);

impl Kernel for Loads {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let x = self.0;
        let eight: [f32; 8] = from_fn(|k| x[k]);
        let four: [[f32; 4]; 4] = from_fn(|row| from_fn(|k| x[4 * row + k]));
        check("splat", S::F::splat(x[3]), |_| x[3]);
        let mut through_registers = [0.0; LANES];
        for index in 0..S::F::REGISTERS {
            S::F::store_register(S::F::load_register(&x, index), &mut through_registers, index);
        }
        check("registers", S::F::load(&through_registers), |k| x[k]);
        check("two", S::F::two(x[0], x[1]), |k| x[k / 8]);
        check("load twice", S::F::load_twice(&eight), |k| x[k % 8]);
        let mut low = [0.0; 8];
        S::F::load(&x).store_low(&mut low);
        check("store low", S::F::load_twice(&low), |k| x[k % 8]);
        check("load four times", S::F::load_four_times(&four[1]), |k| x[4 + k % 4]);
        check("spread", S::F::spread4(&four[2]), |k| x[8 + k / 4]);
        let rows = [&four[2], &four[0], &four[3], &four[1]];
        check("rows", S::F::load_rows4(rows), |k| x[4 * [2, 0, 3, 1][k / 4] + k % 4]);
    }
}

#[test]
fn loads_put_every_number_in_its_lane() {
    let mut random = random(2);
    for _ in 0..ROUNDS {
        let input = from_fn(|_| any(&mut random));
        Level::available().into_iter().for_each(|level| dispatch(level, Loads(input)));
    }
}

/// Tests all masks, each combined with another mask.
struct Masks([Lanes; 2]);

impl Kernel for Masks {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let [x, y] = self.0;
        let (a, b) = (S::F::load(&x), S::F::load(&y));
        for bits in 0..=u16::MAX {
            let other = bits.wrapping_mul(40_503).rotate_left(7);
            let mask = S::F::mask(bits);
            assert_eq!(S::F::bits(mask), bits);
            assert_eq!(S::F::any(mask) != 0, bits != 0);
            assert_eq!(S::F::bits(S::F::and(mask, S::F::mask(other))), bits & other);
            let set = |k: usize| bits >> k & 1 == 1;
            check("keep", a.keep(mask), |k| if set(k) { x[k] } else { 0.0 });
            check("select", a.select(mask, b), |k| if set(k) { x[k] } else { y[k] });
        }
    }
}

#[test]
fn masks_choose_lanes() {
    let mut random = random(3);
    // masks must select correctly for any lanes, including NaN
    for edges in [&EDGES[..16], &EDGES[10..]] {
        let input = [from_fn(|k| edges[k]), from_fn(|_| any(&mut random))];
        Level::available().into_iter().for_each(|level| dispatch(level, Masks(input)));
    }
}

/// Applies the sums over lanes.
struct Sums(Box<[Lanes; 16]>);

/// Relative tolerance of added products of two rows. Products are rounded, then sums of two products, and then two
/// sums, each time by at most half of 2⁻²³ times the sum of magnitudes. The factor 4.01 instead of 4 allows for
/// rounded magnitudes.
const PRODUCTS: f64 = 4.01 * 0.5 * f32::EPSILON as f64;

/// Checks that [`Float::add_products`] adds `N` products of rows to the first row.
#[inline(always)]
fn check_products<S: Simd, const N: usize>(rows: &[Lanes; 16]) {
    let mut slots: <S::F as Float>::Slots = bytemuck::Zeroable::zeroed();
    let width = slots.as_mut().len();
    slots.as_mut().copy_from_slice(&rows[0][..width]);
    let factors = |first: usize| from_fn(|product| S::F::load(&rows[first + 2 * product]));
    S::F::add_products::<N>(factors(1), factors(2), &mut slots);
    for (k, &sum) in slots.as_mut().iter().enumerate() {
        let start = f64::from(rows[0][k]);
        let (mut expected, mut scale) = (start, start.abs());
        for lane in (k..LANES).step_by(width) {
            for product in 0..N {
                let value = f64::from(rows[1 + 2 * product][lane]) * f64::from(rows[2 + 2 * product][lane]);
                (expected, scale) = (expected + value, scale + value.abs());
            }
        }
        let error = f64::from(sum) - expected;
        assert!(error.abs() <= PRODUCTS * scale, "{N} products, lane {k}: {error:e} of {scale:e}");
    }
}

/// Returns the sum of the values by repeated halving, in the tree order 16 → 8 → 4 → 2 → 1.
fn tree(values: &[f32]) -> f32 {
    if values.len() == 1 {
        return values[0];
    }
    let (low, high) = values.split_at(values.len() / 2);
    tree(&low.iter().zip(high).map(|(a, b)| a + b).collect::<Vec<f32>>())
}

impl Kernel for Sums {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let rows = *self.0;
        let vectors: [S::F; 16] = from_fn(|k| S::F::load(&rows[k]));
        assert!(same(vectors[0].sum(), tree(&rows[0])), "sum of {:?}", rows[0]);
        let sums = S::F::half_sums(from_fn(|pair| from_fn(|vector| vectors[2 * pair + vector])));
        for (half, sum) in sums.as_flattened().iter().enumerate() {
            assert!(same(*sum, tree(&rows.as_flattened()[8 * half..][..8])), "halves: {sums:?}");
        }
        check("sixteen sums", S::F::sums16(&vectors), |k| tree(&rows[k]));
        check_products::<S, 1>(&self.0);
        check_products::<S, 2>(&self.0);
    }
}

#[test]
fn sums_have_one_order_on_every_level() {
    let mut random = random(4);
    for _ in 0..ROUNDS {
        let rows: Box<[Lanes; 16]> = Box::new(from_fn(|_| from_fn(|_| ordinary(&mut random))));
        Level::available().into_iter().for_each(|level| dispatch(level, Sums(rows.clone())));
    }
    let zeros = Box::new([[-0.0; LANES]; 16]);
    Level::available().into_iter().for_each(|level| dispatch(level, Sums(zeros.clone())));
}

/// Computes the largest relative error of the fast reciprocal over all lanes.
struct Reciprocal(Lanes);

impl Kernel for Reciprocal {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        let found = lanes(S::F::load(&self.0).recip_fast());
        (0..LANES).map(|k| (f64::from(found[k]) * f64::from(self.0[k]) - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// Bound of the relative error of the fast reciprocal. The seed of AVX2 has an error of 1.5·2⁻¹² (RCPPS, Intel's
/// Software Developer's Manual), which the Newton step squares. The step adds two rounding errors of 2⁻²⁴.
const RECIPROCAL_ERROR: f64 = (1.5 / 4096.0) * (1.5 / 4096.0) + 2.0 / 16_777_216.0;

#[test]
fn fast_reciprocals_keep_their_error() {
    for level in Level::available() {
        // exponents for which argument and result are normal numbers, with mantissas that are 2⁻¹³ apart
        for exponent in [-125, -60, -1, 0, 1, 60, 124] {
            for step in 0..512u32 {
                let x = from_fn(|k| {
                    let mantissa = f64::from(((step * 16 + k as u32) << 10) + step * 37 % 1024) / 8_388_608.0;
                    let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                    (sign * (1.0 + mantissa) * f64::from(exponent).exp2()) as f32
                });
                let error = dispatch(level, Reciprocal(x));
                assert!(error < RECIPROCAL_ERROR, "{level:?}: {error:e} for {x:?}");
            }
        }
    }
}

/// Computes the largest relative error of the fast reciprocal square root over all lanes.
struct ReciprocalRoot(Lanes);

impl Kernel for ReciprocalRoot {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        let found = lanes(S::F::load(&self.0).recip_sqrt_fast());
        (0..LANES).map(|k| (f64::from(found[k]) * f64::from(self.0[k]).sqrt() - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// Bound of the relative error of the fast reciprocal square root. The seed of AVX2 has an error of 1.5·2⁻¹² (RSQRTPS,
/// Intel's Software Developer's Manual). One Newton step turns a relative error ε into 3/2 ε². The step adds two
/// rounding errors of 2⁻²⁴, and half of such an error from the product that is subtracted from 3.
const ROOT_ERROR: f64 = 1.5 * (1.5 / 4096.0) * (1.5 / 4096.0) + 2.5 / 16_777_216.0;

#[test]
fn fast_reciprocal_roots_keep_their_error() {
    for level in Level::available() {
        for exponent in [-125, -60, -3, -2, -1, 0, 1, 60, 124] {
            for step in 0..512u32 {
                let x = from_fn(|k| {
                    let mantissa = f64::from(((step * 16 + k as u32) << 10) + step * 37 % 1024) / 8_388_608.0;
                    ((1.0 + mantissa) * f64::from(exponent).exp2()) as f32
                });
                let error = dispatch(level, ReciprocalRoot(x));
                assert!(error < ROOT_ERROR, "{level:?}: {error:e} for {x:?}");
            }
        }
    }
}

/// Applies [`Float::uniform`] to a vector of equal lanes.
struct Uniform(f32);

impl Kernel for Uniform {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        check("uniform", S::F::splat(self.0).uniform(), |_| self.0);
    }
}

#[test]
fn equal_lanes_stay_what_they_are() {
    EDGES.into_iter().for_each(|x| Level::available().into_iter().for_each(|level| dispatch(level, Uniform(x))));
}

/// Transposes sixteen vectors as a whole, the first four in 4 × 4 matrices, and an 8 × 8 quarter in double precision.
struct Turn([[f32; 16]; 16]);

impl Kernel for Turn {
    type Output = ([[f32; 16]; 16], [[f32; 16]; 4], [[f64; 8]; 8]);

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        let (mut rows, mut squares) = (self.0, [[0.0; 16]; 4]);
        let vectors = S::F::transpose16(rows.each_ref().map(S::F::load));
        vectors.iter().zip(&mut rows).for_each(|(vector, row)| vector.store(row));
        let vectors = S::F::transpose4([0, 1, 2, 3].map(|k| S::F::load(&self.0[k])));
        vectors.iter().zip(&mut squares).for_each(|(vector, row)| vector.store(row));
        let eight: [[f64; 8]; 8] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(self.0[i][j])));
        (rows, squares, S::transpose8(eight.each_ref()))
    }
}

#[test]
fn transposes_exchange_vectors_and_lanes() {
    let numbers: [[f32; 16]; 16] = std::array::from_fn(|i| std::array::from_fn(|j| (16 * i + j) as f32));
    for level in Level::available() {
        let (rows, squares, eight) = dispatch(level, Turn(numbers));
        for (i, j) in (0..16).flat_map(|i| (0..16).map(move |j| (i, j))) {
            assert_eq!(rows[j][i], numbers[i][j], "{level:?}");
            if i < 4 {
                assert_eq!(squares[j % 4][j / 4 * 4 + i], numbers[i][j], "{level:?}");
            }
            if i < 8 && j < 8 {
                assert_eq!(eight[j][i], f64::from(numbers[i][j]), "{level:?}");
            }
        }
    }
}

/// Computes sums of rows, and integer parts, which are rounded down and limited to at most 5.
struct Fold([[f32; 16]; 16]);

impl Kernel for Fold {
    type Output = ([f32; 16], [f32; 16], [u32; 16]);

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        let vectors = self.0.each_ref().map(S::F::load);
        let (mut sums, mut floors, mut whole) = ([0.0; 16], [0.0; 16], [0; 16]);
        S::F::sums16(&vectors).store(&mut sums);
        vectors[0].floor().store(&mut floors);
        vectors[0].max(S::F::splat(0.0)).min(S::F::splat(5.0)).store_whole(&mut whole);
        (sums, floors, whole)
    }
}

#[test]
fn sums_floors_and_whole_numbers() {
    let numbers: [[f32; 16]; 16] = std::array::from_fn(|i| std::array::from_fn(|j| (i * j) as f32 - 7.5 + j as f32));
    for level in Level::available() {
        let (sums, floors, whole) = dispatch(level, Fold(numbers));
        for i in 0..16 {
            assert_eq!(sums[i], numbers[i].iter().sum::<f32>(), "{level:?}: halves are exact in any order");
            assert_eq!(floors[i], numbers[0][i].floor(), "{level:?}");
            assert_eq!(whole[i], numbers[0][i].clamp(0.0, 5.0) as u32, "{level:?}");
        }
    }
}

struct NotZero([u16; LANES]);

impl Kernel for NotZero {
    type Output = u16;
    #[inline(always)]
    fn run<S: Simd>(self) -> u16 {
        S::not_zero(&self.0)
    }
}

#[test]
fn words_that_are_not_zero_are_found() {
    let mut random = random(6);
    for level in Level::available() {
        for bits in 0..=u16::MAX {
            let word = (random.bits() as u16).max(1);
            let words = from_fn(|lane| if bits >> lane & 1 == 1 { word } else { 0 });
            assert_eq!(dispatch(level, NotZero(words)), bits, "{level:?} {word}");
        }
    }
}

struct Compress(u16);

impl Kernel for Compress {
    type Output = Vec<u32>;
    #[inline(always)]
    fn run<S: Simd>(self) -> Vec<u32> {
        let (values, mut numbers) = (std::array::from_fn(|lane| 100 + lane as u32), [7; LANES]);
        let count = S::compress(values, self.0, &mut numbers);
        numbers[..count].to_vec()
    }
}

#[test]
fn values_are_compressed_in_order() {
    for level in Level::available() {
        for bits in 0..=u16::MAX {
            let expected: Vec<u32> = (0..16).filter(|lane| bits >> lane & 1 == 1).map(|lane| 100 + lane).collect();
            assert_eq!(dispatch(level, Compress(bits)), expected, "{level:?} {bits:b}");
        }
    }
}
