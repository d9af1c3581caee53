//! Formatting of numbers for a report.

/// Limit for the ratio of a standard error to the mean. If the ratio is below this limit, all averaged values are
/// equal, and the standard error consists only of rounding errors.
const ROUNDING: f64 = 1e-13;

/// Formats a number with six significant digits.
pub(super) fn number(value: f64) -> String {
    let size = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    match size {
        -5..=5 => {
            let text = format!("{value:.0$}", (5 - size) as usize);
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        6..=9 => format!("{value:.0}"),
        _ => format!("{value:.5e}"),
    }
}

/// Formats the standard error of a mean with six significant digits; 0 if the values differ only by rounding errors.
pub(super) fn error_of(mean: f64, error: f64) -> String {
    number(if error.abs() <= ROUNDING * mean.abs() { 0.0 } else { error })
}

/// Formats a value and its standard error, with two significant digits of the error.
pub(super) fn with_error(value: f64, error: f64) -> String {
    if !(error.is_finite() && error > ROUNDING * value.abs()) {
        return format!("{} ± {}", number(value), error_of(value, error));
    }
    match 1 - error.log10().floor() as i32 {
        decimals @ 0..=5 => format!("{value:.0$} ± {error:.0$}", decimals as usize),
        ..0 => format!("{value:.0} ± {error:.0}"),
        _ => format!("{value:.1e} ± {error:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let found = [0.0, 1.0, -0.125, 299.98765432, 123456.7, 1e-7, 2.5e12].map(number);
        assert_eq!(found, ["0", "1", "-0.125", "299.988", "123457", "1.00000e-7", "2.50000e12"]);
    }

    #[test]
    fn values_have_the_digits_that_their_errors_allow() {
        let pairs = [(-2.4713, 1.0421), (299.8712, 0.0442), (-303365.3, 4285.7), (2.1e-7, 3.17e-6), (1.5, 0.0)];
        let found = pairs.map(|(value, error)| with_error(value, error));
        let expected = ["-2.5 ± 1.0", "299.871 ± 0.044", "-303365 ± 4286", "2.1e-7 ± 3.2e-6", "1.5 ± 0"];
        assert_eq!(found, expected);
        assert_eq!(error_of(0.917609, 3.9e-17), "0");
    }
}
