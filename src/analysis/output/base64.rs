//! Base64 encoding.

/// Returns bytes as Base64 text (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, k| word << 8 | u32::from(group.get(k).copied().unwrap_or(0)));
        for digit in 0..4 {
            let is_padding = digit > group.len();
            out.push(if is_padding { '=' } else { char::from(DIGITS[(word >> (18 - 6 * digit)) as usize & 63]) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are the test vectors of RFC 4648, section 10.
    #[test]
    fn base_64() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
