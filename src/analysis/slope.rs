//! Slope of a series over time, with a standard error that is also valid if the series contains a random walk.
//!
//! With a stochastic thermostat the errors of the integration add up at random, so that the conserved energy performs a
//! random walk in addition to its fluctuations. A standard error that is computed from the deviations of the series
//! from a straight line would be several times too small. The model of a series is the sum of a straight line, a random
//! walk whose steps have the variance q, and independent noise of variance s (the local level model: A. C. Harvey,
//! Forecasting, Structural Time Series Models and the Kalman Filter, Cambridge University Press 1989,
//! doi:10.1017/CBO9781107049994). The model is fitted to the means of blocks of the series, because successive values
//! of the series are correlated, whereas the noise of block means is independent. The ratio q/s of the variances of
//! random walk and noise is not known. For each ratio q/s, a Kalman filter gives the slope of generalised least
//! squares, the variance of the slope, and the restricted likelihood of the ratio. The resulting slope is the average
//! over all ratios q/s, weighted by the likelihoods of the ratios. The error of the slope therefore includes the effect
//! of a weak random walk.

/// Number of blocks into which a series is divided. Averaging over a block reduces the fluctuations of the energy. The
/// differences between the means of 64 successive blocks determine the variance of a random walk with a relative error
/// of 20 %.
const BLOCKS: usize = 64;
/// Range of the ratio q/s of the variances of random walk and noise, stored as 10 log₁₀(q/s): the value −30 stands for
/// a ratio of 10⁻³. At the variance ratio q/s = 10⁻³, the random walk is too weak to be detected in 64 values, but its
/// contribution to the error of the slope is as large as the contribution of the noise. At the variance ratio q/s =
/// 10³, the noise is negligible.
const RATIOS: std::ops::RangeInclusive<i32> = -30..=30;

/// Slope of a series over time, with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slope {
    /// slope, in the unit of the series per ps
    pub(crate) value: f64,
    /// standard error of the slope; up to 2.4 times too large for uncorrelated noise, and up to 1.3 times too small for
    /// a random walk
    pub(crate) error: f64,
}

impl Slope {
    /// Fits a straight line to `values` at equidistant `times` (ps); `None` with fewer than four values. Values at the
    /// start of the series that do not fill a block are left out.
    pub(crate) fn of(times: &[f64], values: &[f64]) -> Option<Self> {
        let size = values.len().div_ceil(BLOCKS);
        if values.len() < 4 {
            return None;
        }
        let blocks = |series: &[f64]| -> Vec<f64> { series.rchunks_exact(size).rev().map(mean).collect() };
        let (times, values) = (blocks(times), blocks(values));
        let fits: Vec<Fit> =
            RATIOS.map(|exponent| Fit::of(&times, &values, 10f64.powf(0.1 * f64::from(exponent)))).collect();
        let best = fits.iter().map(|fit| fit.loss).fold(f64::INFINITY, f64::min);
        let weight = |fit: &Fit| (0.5 * (best - fit.loss)).exp();
        let total: f64 = fits.iter().map(weight).sum();
        let average =
            |quantity: &dyn Fn(&Fit) -> f64| fits.iter().map(|fit| weight(fit) * quantity(fit)).sum::<f64>() / total;
        let value = average(&|fit| fit.slope);
        let error = average(&|fit| fit.variance + (fit.slope - value).powi(2)).sqrt();
        error.is_finite().then_some(Slope { value, error })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Slope for one ratio q/s, where q is the variance of the steps of the random walk and s is the variance of the noise.
struct Fit {
    slope: f64,
    /// variance of the slope
    variance: f64,
    /// −2 times the logarithm of the restricted likelihood of the ratio q/s, up to an additive constant
    loss: f64,
}

impl Fit {
    /// Fits a series by a Kalman filter, which predicts each value from the values before it. The Kalman filter is
    /// linear. The prediction errors for the series `times` therefore determine the prediction errors for any straight
    /// line.
    fn of(times: &[f64], values: &[f64], ratio: f64) -> Self {
        // the filter predicts the level of the times and the level of the values; the uncertainty is the variance of
        // each level in units of the noise variance. The initial levels are the first time and the first value
        let (mut levels, mut uncertainty) = ([times[0], values[0]], 1.0);
        let ([mut tt, mut tv, mut vv], mut logarithms) = ([0.0; 3], 0.0f64);
        for (&time, &value) in times.iter().zip(values).skip(1) {
            let predicted = uncertainty + ratio;
            let [t, v] = [time - levels[0], value - levels[1]];
            tt += t * t / (predicted + 1.0);
            tv += t * v / (predicted + 1.0);
            vv += v * v / (predicted + 1.0);
            logarithms += (predicted + 1.0).ln();
            uncertainty = predicted / (predicted + 1.0);
            levels = [levels[0] + uncertainty * t, levels[1] + uncertainty * v];
        }
        // the slope and the first level take one degree of freedom each
        let freedom = (values.len() - 2) as f64;
        let slope = tv / tt;
        // rounding errors set a lower limit to the noise, even if the series is a straight line
        let noise = ((vv - slope * tv) / freedom).max(f64::EPSILON * vv).max(f64::MIN_POSITIVE);
        Fit { slope, variance: noise / tt, loss: freedom * noise.ln() + logarithms + tt.ln() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Number of series of each kind.
    const SERIES: u32 = 1000;

    /// Returns the standard deviation, over many series without a drift, of the slope divided by its estimated error.
    /// Each series is a random walk, whose steps have the variance `step`, plus noise of variance one.
    fn spread(step: f64, count: usize) -> f64 {
        let times: Vec<f64> = (0..count).map(|row| 0.2 * row as f64).collect();
        let scores = (0..SERIES).map(|series| {
            let mut stream = Stream::new(11, Purpose::Test, 0, series);
            let mut level = 0.0;
            let values: Vec<f64> = times
                .iter()
                .map(|_| {
                    level += step.sqrt() * stream.gaussian();
                    level + stream.gaussian()
                })
                .collect();
            let Slope { value, error } = Slope::of(&times, &values).expect("a slope");
            (value / error).powi(2)
        });
        (scores.sum::<f64>() / f64::from(SERIES)).sqrt()
    }

    #[test]
    fn errors_are_those_of_noise_and_of_random_walks() {
        // If the estimated errors are right, the ratio of slope and estimated error has the standard deviation one. For
        // noise alone, the estimated errors are up to 2.4 times too large, because a weak random walk cannot be
        // excluded. For random walks, the estimated errors are too small, because block means of a random walk are
        // correlated.
        for (step, count) in [(0.0, 64), (0.0, 1000), (1e-4, 1000), (0.01, 1000), (1.0, 1000), (100.0, 300)] {
            let spread = spread(step, count);
            assert!((0.4..1.3).contains(&spread), "{step} {count}: {spread}");
        }
    }

    #[test]
    fn a_drift_is_found() {
        let times: Vec<f64> = (0..1000).map(f64::from).collect();
        let values: Vec<f64> = times.iter().map(|t| 3.0 + 0.5 * t + if *t % 2.0 == 0.0 { 1.0 } else { -1.0 }).collect();
        let found = Slope::of(&times, &values).expect("a slope");
        assert!((found.value - 0.5).abs() < 1e-4 && found.error < 1e-3, "{found:?}");
        assert_eq!(Slope::of(&times[..3], &values[..3]), None);
        assert_eq!(Slope::of(&[1.0; 4], &[0.0; 4]), None);
    }
}
