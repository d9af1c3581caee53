//! Running averages: mean, fluctuation, drift, and a standard error that accounts for the correlation of samples.
//!
//! The memory of an average grows only with the logarithm of the number of samples, so that a checkpoint can hold the
//! averages.

/// Minimum number of block means from which a standard error is computed. Standard errors from two or three block means
/// are unreliable, because the block means are often nearly equal by chance.
const LEAST_BLOCKS: u64 = 4;
/// Minimum number of independent samples (the variance of the samples over the square of the standard error of their
/// mean) from which a standard error is computed. In series of fewer correlation times, block means and correlations
/// give standard errors that are two to three times too small.
pub const LEAST_INDEPENDENT: f64 = 20.0;

/// Running averages of several quantities that are sampled at the same times.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Statistics {
    quantities: Vec<Quantity>,
}

/// Mean, fluctuation, error and drift of one quantity.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Average {
    /// name of the quantity
    pub name: String,
    /// unit of the quantity
    pub unit: String,
    /// number of samples
    pub samples: u64,
    /// arithmetic mean of the samples
    pub mean: f64,
    /// root mean square deviation of the samples from their mean
    pub fluctuation: f64,
    /// standard error of the mean; `None` if there are too few samples, or if the samples are too correlated for an
    /// estimate
    pub error: Option<f64>,
    /// slope of the least-squares line through the samples, in the unit of the quantity per ps
    pub drift: f64,
}

impl Statistics {
    /// Memory of one quantity, bytes.
    pub const BYTES: usize = size_of::<Quantity>() + LEVELS * size_of::<Level>();

    /// Creates averages without samples, for quantities with the names and units in `columns`.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let quantity = |(name, unit): (&str, &str)| Quantity {
            name: name.to_owned(),
            unit: unit.to_owned(),
            levels: Vec::with_capacity(LEVELS),
            ..Quantity::default()
        };
        Self { quantities: columns.into_iter().map(quantity).collect() }
    }

    /// Adds one sample of each quantity at `time` (ps). If there are more values than quantities, the last values are
    /// ignored.
    pub fn add(&mut self, time: f64, values: &[f64]) {
        for (quantity, &value) in self.quantities.iter_mut().zip(values) {
            quantity.add(time, value);
        }
    }

    /// Adds one sample at `time` (ps) of each quantity for which `value` returns a value for the name of the quantity.
    pub fn add_named(&mut self, time: f64, value: impl Fn(&str) -> Option<f64>) {
        for quantity in &mut self.quantities {
            if let Some(value) = value(&quantity.name) {
                quantity.add(time, value);
            }
        }
    }

    /// Returns the averages of the quantities with the names and units in `columns`, in this order. A quantity that
    /// `self` does not have has no samples.
    pub fn with_columns<'a>(mut self, columns: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut sorted = Self::new(columns);
        for quantity in &mut sorted.quantities {
            let is_same = |own: &&mut Quantity| own.name == quantity.name && own.unit == quantity.unit;
            if let Some(own) = self.quantities.iter_mut().find(is_same) {
                std::mem::swap(quantity, own);
            }
        }
        sorted
    }

    /// Returns the averages over all samples added so far.
    pub fn averages(&self) -> Vec<Average> {
        self.quantities.iter().map(Quantity::average).collect()
    }
}

/// Number of block sizes for which memory is reserved in advance, enough for 2⁴⁰ samples.
const LEVELS: usize = 40;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Quantity {
    name: String,
    unit: String,
    mean_time: f64,
    /// sum Σ(t − t̄)² over the sample times t, where t̄ is the mean time; `products` is Σ(t − t̄)(x − x̄) with the
    /// samples x and their mean x̄
    time_squares: f64,
    products: f64,
    /// statistics of block means; level k has blocks of 2ᵏ samples
    levels: Vec<Level>,
}

/// Statistics of block means for one block size: mean, and sum of the squared deviations from the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Level {
    count: u64,
    mean: f64,
    /// Σ(x − x̄)² over the block means x, with their mean x̄
    squares: f64,
    /// mean of the first half of a block of twice the size; `None` if the first half is not complete
    half: Option<f64>,
}

impl Level {
    /// Updates mean and sum of squares with one block mean (Welford, Technometrics 4, 419 (1962)). If this block mean
    /// completes a block of twice the size, returns the mean of that larger block.
    fn add(&mut self, value: f64) -> Option<f64> {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
        match self.half.take() {
            Some(first) => Some(0.5 * (first + value)),
            None => {
                self.half = Some(value);
                None
            }
        }
    }

    /// Returns the square of the standard error of the mean under the assumption that blocks of this size are
    /// independent.
    fn error_squared(&self) -> f64 {
        let count = self.count as f64;
        self.squares / (count * (count - 1.0))
    }
}

impl Quantity {
    fn add(&mut self, time: f64, value: f64) {
        let mut block = Some(value);
        let mut size = 0;
        while let Some(value) = block {
            if size == self.levels.len() {
                self.levels.push(Level::default());
            }
            block = self.levels[size].add(value);
            size += 1;
        }
        let before = time - self.mean_time;
        self.mean_time += before / self.levels[0].count as f64;
        self.time_squares += before * (time - self.mean_time);
        self.products += before * (value - self.levels[0].mean);
    }

    fn average(&self) -> Average {
        let samples = self.levels.first().copied().unwrap_or_default();
        let count = samples.count as f64;
        Average {
            name: self.name.clone(),
            unit: self.unit.clone(),
            samples: samples.count,
            mean: samples.mean,
            fluctuation: if samples.count > 0 { (samples.squares / count).sqrt() } else { 0.0 },
            error: self.error(),
            drift: if self.time_squares > 0.0 { self.products / self.time_squares } else { 0.0 },
        }
    }

    /// Returns the standard error of the mean by blocking (Flyvbjerg & Petersen, J. Chem. Phys. 91, 461 (1989)). The
    /// block size is the smallest B (in samples) with B³ > 2 n (ε_B/ε_1)⁴, where n is the number of samples and ε_B is
    /// the standard error from blocks of B samples. At this block size, bias and noise of the standard error balance
    /// (Lee et al., Phys. Rev. E 83, 066706 (2011)). Returns `None` if there are fewer than [`LEAST_BLOCKS`] blocks of
    /// this size, or fewer than [`LEAST_INDEPENDENT`] independent samples.
    fn error(&self) -> Option<f64> {
        let samples = self.levels.first().filter(|level| level.count > 1)?;
        let uncorrelated = samples.error_squared();
        if uncorrelated == 0.0 {
            return Some(0.0);
        }
        let blocks = self.levels.iter().enumerate().take_while(|(_, level)| level.count >= LEAST_BLOCKS);
        let errors = blocks.map(|(size, level)| (2f64.powi(size as i32), level.error_squared()));
        let variance = uncorrelated * samples.count as f64;
        errors
            .into_iter()
            .find(|(block, error)| block.powi(3) > 2.0 * samples.count as f64 * (error / uncorrelated).powi(2))
            .filter(|(_, error)| variance >= LEAST_INDEPENDENT * error)
            .map(|(_, error)| error.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Returns a stream of random numbers for the test with this seed.
    fn random(seed: u64) -> Stream {
        Stream::new(seed, Purpose::Test, 0, 0)
    }

    fn average_of(values: impl Iterator<Item = (f64, f64)>) -> Average {
        let mut statistics = Statistics::new([("x", "K")]);
        values.for_each(|(time, value)| statistics.add(time, &[value]));
        statistics.averages().remove(0)
    }

    #[test]
    fn a_straight_line_has_its_slope() {
        let average = average_of((0..101).map(|i| (0.1 * f64::from(i), 1e6 + 3.0 * 0.1 * f64::from(i))));
        assert_eq!(average.samples, 101);
        // values near 1e6 have rounding errors of 1.2e-10, and sums of 101 such values have errors below 1e-8
        assert!((average.mean - 1_000_015.0).abs() < 1e-8);
        assert!((average.drift - 3.0).abs() < 1e-8);
        // 101 equidistant points 0.3 apart: variance 0.3² (101² − 1)/12
        assert!((average.fluctuation - 0.3 * ((101.0f64.powi(2) - 1.0) / 12.0).sqrt()).abs() < 1e-8);
    }

    #[test]
    fn independent_samples_have_the_textbook_error() {
        let mut random = random(1);
        let samples = 1 << 16;
        let average = average_of((0..samples).map(|i| (f64::from(i), 5.0 + 2.0 * random.gaussian())));
        let exact = 2.0 / f64::from(samples).sqrt();
        // 1024 blocks of 64 samples (64³ > 2n): the relative error of the standard error is 1/√2046 = 2.2 %; the
        // bound is five times as large
        assert!((average.error.unwrap() / exact - 1.0).abs() < 0.11, "{average:?} {exact}");
        assert!((average.mean - 5.0).abs() < 5.0 * exact);
        assert!((average.fluctuation / 2.0 - 1.0).abs() < 0.015);
    }

    #[test]
    fn correlated_samples_have_a_larger_error() {
        // the series x' = ρx + √(1 − ρ²)ξ with standard normal ξ has unit variance; for large n, the standard error
        // of its mean over n samples is √((1 + ρ)/(1 − ρ)/n)
        let (rho, samples) = (0.9f64, 1 << 18);
        let mut random = random(2);
        let mut x = 0.0;
        let average = average_of((0..samples).map(|i| {
            x = rho * x + (1.0 - rho * rho).sqrt() * random.gaussian();
            (f64::from(i), x)
        }));
        let exact = ((1.0 + rho) / (1.0 - rho) / f64::from(samples)).sqrt();
        // 256 blocks of 1024 samples (B³ > 2 n 19²): the noise of the standard error is 4.4 %, its bias −(correlation
        // length)/B = −1 %; the bound is five times the noise
        assert!((average.error.unwrap() / exact - 1.0).abs() < 0.23, "{average:?} {exact}");
    }

    #[test]
    fn too_few_or_too_correlated_samples_have_no_error() {
        assert_eq!(average_of([].into_iter()).error, None);
        assert_eq!(average_of([(0.0, 1.0)].into_iter()).error, None);
        assert_eq!(average_of((0..64).map(|i| (f64::from(i), f64::from(i)))).error, None);
        assert_eq!(average_of((0..64).map(|i| (f64::from(i), 4.0))).error, Some(0.0));
        // the first and the second half of the samples have the same mean
        let halves = [1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0];
        assert_eq!(average_of((0..8).map(f64::from).zip(halves)).error, None);
    }

    #[test]
    fn samples_stay_with_their_names() {
        let mut statistics = Statistics::new([("x", "K"), ("y", "bar")]);
        statistics.add(0.0, &[1.0, 5.0]);
        let mut statistics = statistics.with_columns([("y", "bar"), ("z", "nm"), ("x", "K")]);
        statistics.add(1.0, &[7.0, 2.0, 3.0]);
        statistics.add_named(2.0, |name| (name != "z").then_some(if name == "x" { 5.0 } else { 9.0 }));
        let found: Vec<_> =
            statistics.averages().into_iter().map(|average| (average.name, average.samples, average.mean)).collect();
        assert_eq!(found, [("y".into(), 3, 7.0), ("z".into(), 1, 2.0), ("x".into(), 3, 3.0)]);
    }

    #[test]
    fn a_restart_changes_nothing() {
        let mut whole = Statistics::new([("x", "K"), ("y", "bar")]);
        let mut parts = whole.clone();
        for i in 0..1000 {
            let (time, values) = (f64::from(i), [f64::from(i).sin(), f64::from(i).sqrt()]);
            whole.add(time, &values);
            parts.add(time, &values);
            if i == 333 {
                let stored = postcard::to_stdvec(&parts).unwrap();
                parts = postcard::from_bytes(&stored).unwrap();
            }
        }
        assert_eq!(whole, parts);
    }
}
