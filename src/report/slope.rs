//! Slope of a series over time, with a standard error that holds for a random walk.
//!
//! With a stochastic thermostat the errors of the integration add up at random, so that the conserved energy performs a
//! random walk in addition to its fluctuations. A standard error of the slope that follows from the deviations from a
//! straight line would be several times too small. The model of the series is a straight line plus a random walk whose
//! steps have the variance q, plus independent noise of variance s (the local level model: A. C. Harvey, Forecasting,
//! Structural Time Series Models and the Kalman Filter, Cambridge University Press 1989, doi:10.1017/CBO9781107049994).
//! The values of the model are means over blocks of the series, so that their noise is independent. For each ratio q/s,
//! a Kalman filter gives the slope of generalised least squares, the variance of the slope, and the restricted
//! likelihood of the ratio. The result is the average over the ratios, weighted by their likelihoods, so that a weak
//! random walk is not mistaken for the absence of a random walk.

/// Number of blocks into which a series is divided. Fluctuations of the energy within a block are averaged, and the
/// steps between 64 blocks determine the variance of a random walk to 20 %.
const BLOCKS: usize = 64;
/// Smallest and largest ratio q/s that are considered, as exponents of ten in steps of one tenth. A random walk with
/// the ratio 10⁻³ adds as much to the error of the slope as the noise, and cannot be excluded by 64 values. A series
/// with the ratio 10³ is practically a random walk without noise.
const RATIOS: std::ops::RangeInclusive<i32> = -30..=30;

/// Slope of a column of the energy table over time, with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slope {
    /// slope, in the unit of the column per ps
    pub(super) value: f64,
    /// standard error of the slope; for uncorrelated noise the value is up to 2.4 times too large, and for a random
    /// walk up to 1.3 times too small
    pub(super) error: f64,
}

impl Slope {
    /// Fits a straight line to `values` at equidistant `times` (ps); `None` with fewer than four values. The first
    /// values that do not fill a block are left out.
    pub(super) fn of(times: &[f64], values: &[f64]) -> Option<Self> {
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
    /// −2 times the logarithm of the restricted likelihood of the ratio, without a constant
    loss: f64,
}

impl Fit {
    /// Fits a series by a Kalman filter, which predicts each value from the values before it. Because the filter is
    /// linear, its prediction errors for any straight line follow from its prediction errors for the series of the
    /// times.
    fn of(times: &[f64], values: &[f64], ratio: f64) -> Self {
        // levels that the filter predicts, one for the times and one for the values, and the variance of either level
        // in units of s; the initial levels are the first time and the first value
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
        // rounding errors set a lower limit to the noise, also if the series is a straight line
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

    /// Returns the standard deviation of slope/error over many series without a drift. Each series is a random walk,
    /// whose steps have the variance `step`, plus noise of variance one.
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
        // The standard deviation is one if errors are right. Errors of noise alone are up to 2.4 times too large,
        // because a weak random walk cannot be excluded; errors of random walks are too small, because their means over
        // blocks are correlated.
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
