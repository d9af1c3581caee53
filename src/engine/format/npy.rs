//! NumPy arrays of vectors: `.npy` version 1.0, little-endian float64, shape (N, 3).

use std::io::Write;

use crate::vec3::Vec3;

/// Alignment of the data in bytes. The header is padded so that the data start at a multiple of 64 bytes (NumPy format
/// specification, version 1.0).
const ALIGNMENT: usize = 64;

/// Writes `vectors` as a NumPy array of shape (N, 3).
pub fn write_vectors(vectors: &[Vec3], out: &mut impl Write) -> std::io::Result<()> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 3), }}", vectors.len());
    // magic, version and length take 10 bytes, and the final line feed takes one
    let padding = (ALIGNMENT - (10 + header.len() + 1) % ALIGNMENT) % ALIGNMENT;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    let length = u16::try_from(header.len()).map_err(std::io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for value in vectors.iter().flat_map(|v| v.to_array()) {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn the_layout_is_that_of_the_specification() {
        let mut bytes = vec![];
        write_vectors(&[vec3(1.0, -2.5, 1e300), vec3(0.0, 4.0, 5.0)], &mut bytes).unwrap();
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % ALIGNMENT, 0);
        assert_eq!(bytes[9 + length], b'\n');
        assert_eq!(bytes.len(), 10 + length + 2 * 3 * 8);
        assert_eq!(&bytes[10 + length + 8..][..8], &(-2.5f64).to_le_bytes());
        assert!(std::str::from_utf8(&bytes[10..10 + length]).unwrap().contains("'shape': (2, 3)"));
    }
}
