//! Random numbers as a pure function of (seed, purpose, step, index), from the counter-based generator Philox4x32-10.
//!
//! The generator has no state that must be stored: the same key (seed, purpose, step, index) gives the same numbers on
//! any thread, on any device and after any restart (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
//! SC11, doi:10.1145/2063384.2063405).
//!
//! A [`Stream`] is the sequence of random numbers of one key. A stream is a temporary value that is never stored.
//! [`normals`] returns three normally distributed numbers for each of many indices at once.

mod normals;

pub use normals::{Lanes, NORMALS, indices_from, normals};

/// Purpose of random numbers. Two purposes never use the same random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// initial velocities; index = atom
    Velocities = 1,
    /// random numbers of thermostats
    Thermostat = 2,
    /// random numbers of barostats
    Barostat = 3,
    /// velocities that a thermostat refreshes; index = atom
    Noise = 4,
    /// collisions of groups of atoms; index = first atom of the group
    Collision = 5,
    /// random displacements of coinciding atoms in a minimisation; index = atom
    Minimize = 6,
    /// attempts to exchange replicas; step = number of the attempt, index = lower state of the pair
    Exchange = 7,
    /// choice of the waters that ions replace; index = water
    Ions = 8,
    /// random numbers of tests
    Test = 255,
}

/// Seed and step of random numbers, which are the same for all random numbers of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RandomKey {
    /// seed of the run
    pub seed: u64,
    /// number of the step in the run
    pub step: u64,
}

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// Increments of the Philox key between rounds (Weyl constants): the golden ratio and √3 − 1 as 32-bit fractions.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;
/// Number of blocks of four random words that one key can give. The number of the block occupies 24 bits of the Philox
/// counter.
const BLOCKS: u32 = 1 << 24;

/// Applies the bijection Philox4x32 with ten rounds to `counter` under `key`.
#[inline]
pub fn philox4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let a = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let b = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// Sequence of the random numbers of one key (seed, purpose, step, index).
///
/// The four counter words are the index, the low and the high half of the step, and a word with the purpose in the top
/// eight bits and the block number in the other bits. The Philox key is the seed.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    /// unused second half of the last block of four words; the field `spare_gaussian` holds the second number of the
    /// last Box–Muller pair
    spare_word: Option<u64>,
    spare_gaussian: Option<f64>,
}

impl Stream {
    /// Creates the sequence of the random numbers of (seed, purpose, step, index).
    pub fn new(seed: u64, purpose: Purpose, step: u64, index: u32) -> Self {
        let counter = [index, step as u32, (step >> 32) as u32, (purpose as u32) << 24];
        Self { key: [seed as u32, (seed >> 32) as u32], counter, spare_word: None, spare_gaussian: None }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        if let Some(word) = self.spare_word.take() {
            return word;
        }
        let [a, b, c, d] = philox4x32_10(self.counter, self.key);
        // the block number stays within 24 bits and starts again at zero, so that the bits of the purpose never change
        self.counter[3] = (self.counter[3] & !(BLOCKS - 1)) | (self.counter[3].wrapping_add(1) & (BLOCKS - 1));
        self.spare_word = Some(u64::from(c) | u64::from(d) << 32);
        u64::from(a) | u64::from(b) << 32
    }

    /// Returns a uniform number in the open interval (0, 1). The number is the midpoint of one of 2⁵² equal parts of
    /// the interval, and is exact in `f64`.
    pub fn uniform(&mut self) -> f64 {
        const PART: f64 = 1.0 / (1u64 << 52) as f64;
        ((self.bits() >> 12) as f64 + 0.5) * PART
    }

    /// Returns a uniform number between two bounds.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Returns a normal number with mean 0 and variance 1, by the Box–Muller transform. The largest magnitude is √(2·53
    /// ln 2) = 8.6.
    pub fn gaussian(&mut self) -> f64 {
        if let Some(value) = self.spare_gaussian.take() {
            return value;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare_gaussian = Some(radius * sine);
        radius * cosine
    }

    /// Returns a number of the gamma distribution with the given shape > 0 and scale 1.
    ///
    /// The method of Marsaglia and Tsang (2000, doi:10.1145/358407.358414) rejects less than 5 % of its trials, so that
    /// the cost does not grow with the shape. A gamma number of shape a < 1 is drawn as a gamma number of shape a + 1
    /// times U^{1/a}, where U is a uniform number, as Marsaglia and Tsang describe.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.uniform().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.gaussian();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Returns the sum of the squares of `count` independent normal numbers. The sum has the χ² distribution with
    /// `count` degrees of freedom, and is drawn as twice a gamma number of shape `count`/2. `count` need not be an
    /// integer.
    pub fn sum_of_squares(&mut self, count: f64) -> f64 {
        if count > 0.0 { 2.0 * self.gamma(0.5 * count) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_random123() {
        // test vectors of philox4x32 with 10 rounds, from the file kat_vectors of the Random123 distribution
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, answer) in cases {
            assert_eq!(philox4x32_10(counter, key), answer);
        }
    }

    #[test]
    fn every_part_of_the_key_matters() {
        let first = |seed, purpose, step, index| Stream::new(seed, purpose, step, index).bits();
        let base = first(1, Purpose::Test, 1, 1);
        assert_eq!(base, first(1, Purpose::Test, 1, 1));
        for other in [
            first(2, Purpose::Test, 1, 1),
            first(1 | 1 << 40, Purpose::Test, 1, 1),
            first(1, Purpose::Barostat, 1, 1),
            first(1, Purpose::Test, 2, 1),
            first(1, Purpose::Test, 1 | 1 << 40, 1),
            first(1, Purpose::Test, 1, 2),
        ] {
            assert_ne!(base, other);
        }
    }

    /// Number of standard errors within which a sampled moment must lie. The seed is fixed, so that the test cannot
    /// fail at random.
    const STANDARD_ERRORS: f64 = 4.0;
    const SAMPLES: u32 = 200_000;

    fn check_moments(mut draw: impl FnMut(u32) -> f64, mean: f64, variance: f64, fourth_central: f64) {
        let n = f64::from(SAMPLES);
        let values: Vec<f64> = (0..SAMPLES).map(&mut draw).collect();
        let sampled_mean = values.iter().sum::<f64>() / n;
        let sampled_variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        assert!((sampled_mean - mean).abs() < STANDARD_ERRORS * (variance / n).sqrt(), "mean {sampled_mean}");
        let error = ((fourth_central - variance * variance) / n).sqrt();
        assert!((sampled_variance - variance).abs() < STANDARD_ERRORS * error, "variance {sampled_variance}");
    }

    #[test]
    fn moments_of_uniform_and_normal() {
        let stream = |i| Stream::new(11, Purpose::Test, 5, i);
        check_moments(|i| stream(i).uniform(), 0.5, 1.0 / 12.0, 1.0 / 80.0);
        check_moments(|i| stream(i).between(-3.0, 9.0), 3.0, 12.0, 12f64.powi(4) / 80.0);
        check_moments(|i| stream(i).gaussian(), 0.0, 1.0, 3.0);
        let mut one = stream(0);
        check_moments(|_| one.gaussian(), 0.0, 1.0, 3.0);
    }

    #[test]
    fn moments_of_chi_square() {
        // the χ² distribution with k degrees of freedom has the mean k, the variance 2k and the fourth central moment
        // 12 k (k + 4)
        for k in [0.3, 1.0, 2.0, 2.7, 3.0, 50.0, 3_000_000.0] {
            check_moments(
                |i| Stream::new(12, Purpose::Test, k as u64, i).sum_of_squares(k),
                k,
                2.0 * k,
                12.0 * k * (k + 4.0),
            );
        }
        assert_eq!(Stream::new(1, Purpose::Test, 0, 0).sum_of_squares(0.0), 0.0);
    }
}
