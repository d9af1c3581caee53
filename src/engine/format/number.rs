//! Parsing of numbers printed by Fortran programs.

/// Returns the field without blanks at either end.
pub(super) fn trim(field: &[u8]) -> &[u8] {
    field.trim_ascii()
}

/// Parses a finite real number with optional blanks around it. Accepts Fortran's `1.5D+00` and `0.15-100`.
pub(super) fn real(field: &[u8]) -> Option<f64> {
    let text = trim(field);
    let value = fast_float2::parse::<f64, _>(text).ok().or_else(|| fortran_real(text))?;
    value.is_finite().then_some(value)
}

/// Parses the rare forms of a number: a leading plus, `D` in front of the exponent, or an exponent of three digits
/// without the letter `E` before it.
fn fortran_real(text: &[u8]) -> Option<f64> {
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let split = text.iter().skip(1).position(|b| b"DdEeQq+-".contains(b))? + 1;
    let (mantissa, exponent) = text.split_at(split);
    let exponent = if exponent[0].is_ascii_alphabetic() { &exponent[1..] } else { exponent };
    let plain = [mantissa, b"e", exponent].concat();
    fast_float2::parse::<f64, _>(&plain).ok()
}

/// Returns the maximum rounding error of a printed number: half a unit of its last digit.
pub(super) fn rounding(field: &[u8]) -> Option<f64> {
    let text = trim(field);
    let end = text.iter().skip(1).position(|b| b"DdEeQq+-".contains(b)).map_or(text.len(), |k| k + 1);
    let (mantissa, exponent) = text.split_at(end);
    let decimals = mantissa.iter().position(|&b| b == b'.').map_or(0, |point| mantissa.len() - point - 1);
    let exponent =
        exponent.strip_prefix(b"+").or(exponent.get(1..).filter(|_| exponent[0] != b'-')).unwrap_or(exponent);
    let exponent = if exponent.is_empty() { 0 } else { integer(exponent)? };
    Some(0.5 * 10f64.powi(exponent - i32::try_from(decimals).ok()?))
}

/// Splits a residue number, as in `60A`, into the number and the letter of an insertion code that may follow it.
pub(super) fn residue_number(text: &str) -> (&str, Option<char>) {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    (digits, text[digits.len()..].chars().next())
}

/// Parses a whole number of up to nine digits with optional blanks around it.
#[inline]
pub(super) fn integer(field: &[u8]) -> Option<i32> {
    let text = trim(field);
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut value = 0i32;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        // a number of nine digits is below 2³¹
        value = 10 * value + i32::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}

/// Returns the text of a field for a message. Long texts are shortened, and unprintable bytes are replaced.
pub(super) fn quoted(field: &[u8]) -> String {
    let shown = &field[..field.len().min(40)];
    format!("`{}`", String::from_utf8_lossy(shown).trim().escape_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_spellings_of_a_real() {
        for (text, value) in [
            ("  1.50000000E+00", 1.5),
            ("1.5D+01", 15.0),
            ("0.15-100", 0.15e-100),
            ("+2.5", 2.5),
            ("-3.25+02", -325.0),
            (" 7", 7.0),
        ] {
            assert_eq!(real(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["", "  ", "nan", "inf", "1e999", "*******", "1.2.3", "-", "e5", "1.0 2.0", "+-3", "1e++3"] {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn digits_say_how_far_a_number_is_rounded() {
        for (text, rounding_of_text) in [
            ("  1.50000000E+00", 5e-9),
            ("1.5D+01", 0.5),
            ("-1.5D-03", 5e-5),
            ("0.15-100", 5e-103),
            ("-3.25+02", 0.5),
            (" 7", 0.5),
            ("+0.000309", 5e-7),
        ] {
            let found = rounding(text.as_bytes()).expect("a number");
            assert!((found / rounding_of_text - 1.0).abs() < 1e-12, "{text}: {found}");
        }
    }

    #[test]
    fn integers_are_checked() {
        assert_eq!(integer(b"   -42 "), Some(-42));
        assert_eq!(integer(b"999999999"), Some(999_999_999));
        for text in ["", " ", "1 2", "1.0", "9999999999", "--1", "x"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
    }
}
