//! Lines of PDB files: the record names, and the columns of atom records.

/// Record names of wwPDB format 3.3 and of older versions, and the record names that CASP adds to the format.
const RECORDS: [&[u8; 6]; 63] = [
    b"ANISOU", b"ATOM  ", b"AUTHOR", b"CAVEAT", b"CISPEP", b"COMPND", b"CONECT", b"CRYST1", b"DBREF ", b"DBREF1",
    b"DBREF2", b"END   ", b"ENDMDL", b"EXPDTA", b"FORMUL", b"FTNOTE", b"HEADER", b"HELIX ", b"HET   ", b"HETATM",
    b"HETNAM", b"HETSYN", b"HYDBND", b"JRNL  ", b"KEYWDS", b"LINK  ", b"MASTER", b"MDLTYP", b"METHOD", b"MODEL ",
    b"MODRES", b"MTRIX1", b"MTRIX2", b"MTRIX3", b"NUMMDL", b"OBSLTE", b"ORIGX1", b"ORIGX2", b"ORIGX3", b"PARENT",
    b"PFRMAT", b"REMARK", b"REVDAT", b"SCALE1", b"SCALE2", b"SCALE3", b"SEQADV", b"SEQRES", b"SHEET ", b"SIGATM",
    b"SIGUIJ", b"SITE  ", b"SLTBRG", b"SOURCE", b"SPLIT ", b"SPRSDE", b"SSBOND", b"TARGET", b"TER   ", b"TITLE ",
    b"TURN  ", b"TVECT ", b"USER  ",
];

/// First column (0-based) of each of the three coordinates. [`COORDINATE`] is the number of columns of a coordinate.
const COORDINATES: [usize; 3] = [30, 38, 46];
const COORDINATE: usize = 8;
/// Column of the decimal point within a coordinate with three decimals.
const POINT: usize = 4;

/// Returns the record name of a line and the line from its record name on. The name is in capitals and padded to six
/// columns. Blanks before a known record name are skipped.
pub fn record(line: &[u8]) -> ([u8; 6], &[u8]) {
    let found = name(line);
    if found[0] != b' ' && found[0] != b'\t' {
        return (found, line);
    }
    let trimmed = line.trim_ascii_start();
    let moved = name(trimmed);
    if is_known(&moved) { (moved, trimmed) } else { (found, line) }
}

/// Whether the PDB format has a record of this name.
pub fn is_known(name: &[u8; 6]) -> bool {
    RECORDS.contains(&name)
}

/// Returns the first six columns of a line in capitals. In an `ATOM` record, digits of a long serial number in the
/// fifth and sixth column are replaced by blanks.
fn name(line: &[u8]) -> [u8; 6] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let name: [u8; 6] = std::array::from_fn(|i| line.get(i).copied().unwrap_or(b' ').to_ascii_uppercase());
    match &name {
        [b'A', b'T', b'O', b'M', rest @ ..] if rest.iter().all(|byte| *byte == b' ' || byte.is_ascii_digit()) => {
            *b"ATOM  "
        }
        _ => name,
    }
}

/// An atom record. A serial number of more than five digits or a residue number of more than four digits may shift the
/// columns that follow. The decimal points of the coordinates show whether columns are shifted.
#[derive(Clone, Copy)]
pub struct AtomLine<'a> {
    line: &'a [u8],
    /// number of columns by which the atom name is shifted
    serial: usize,
    /// number of columns by which the coordinates are shifted
    moved: usize,
}

impl<'a> AtomLine<'a> {
    /// Finds the columns of an atom record, which begins with its record name.
    pub fn new(line: &'a [u8]) -> Self {
        let still = Self { line, serial: 0, moved: 0 };
        if has_points(line, 0) {
            return still;
        }
        // returns the number of digits by which a number extends beyond column `last`, in which the number should end
        let beyond = |last: usize| match line.get(last) {
            Some(byte) if byte.is_ascii_digit() => line[last + 1..].iter().take_while(|b| b.is_ascii_digit()).count(),
            _ => 0,
        };
        let serial = beyond(10);
        [(serial, serial + beyond(25 + serial)), (serial, serial), (0, beyond(25))]
            .into_iter()
            .filter(|&(_, moved)| moved > 0)
            .find(|&(_, moved)| has_points(line, moved))
            .map_or(still, |(serial, moved)| Self { line, serial, moved })
    }

    /// Whether the decimal points of all three coordinates are in their columns.
    pub fn has_points(&self) -> bool {
        has_points(self.line, self.moved)
    }

    /// Returns x, y and z in Å. A coordinate is `None` if its columns do not contain a number, or if they contain only
    /// a part of a number.
    pub fn coordinates(&self) -> [Option<f64>; 3] {
        COORDINATES.map(|start| {
            let columns = start + self.moved..start + self.moved + COORDINATE;
            let is_whole = self.has_points() || is_whole(self.line, columns.clone());
            number(self.line, columns).filter(|_| is_whole)
        })
    }

    /// Returns the serial number of the atom as text.
    pub fn serial_number(&self) -> &'a str {
        text(self.line, 6..11 + self.serial)
    }

    /// Returns the atom name.
    pub fn name(&self) -> &'a str {
        text(self.line, 12 + self.serial..16 + self.serial)
    }

    /// Returns the element symbol.
    pub fn symbol(&self) -> &'a str {
        text(self.line, 76 + self.moved..78 + self.moved)
    }

    /// Returns the identifier of the chain; empty if there is none.
    pub fn chain(&self) -> &'a str {
        text(self.line, 21 + self.serial..22 + self.serial)
    }

    /// Returns the name of the segment, which is an extension of the format; empty if there is none.
    pub fn segment(&self) -> &'a str {
        text(self.line, 72 + self.moved..76 + self.moved)
    }

    /// Returns chain, number and insertion code of the residue as one text.
    pub fn residue(&self) -> &'a [u8] {
        self.line.get(21 + self.serial..27 + self.moved).unwrap_or_default()
    }

    /// Returns the residue name.
    pub fn residue_name(&self) -> &'a [u8] {
        self.line.get(17 + self.serial..21 + self.serial).unwrap_or_default()
    }

    /// Returns the residue number as text.
    pub fn residue_number(&self) -> &'a [u8] {
        self.line.get(22 + self.serial..26 + self.moved).unwrap_or_default()
    }

    /// Returns the insertion code of the residue; empty if there is none.
    pub fn insertion_code(&self) -> &'a str {
        text(self.line, 26 + self.moved..27 + self.moved)
    }

    /// Returns the occupancy; `None` if the occupancy is not a number.
    pub fn occupancy(&self) -> Option<f64> {
        number(self.line, 54 + self.moved..60 + self.moved)
    }

    /// Returns the identifier of the alternative location; empty if there is none.
    pub fn location(&self) -> &'a [u8] {
        self.line.get(16 + self.serial..17 + self.serial).unwrap_or_default().trim_ascii()
    }
}

/// Whether the decimal points of the coordinates are in their columns, if the coordinates are shifted by `moved`
/// columns.
fn has_points(line: &[u8], moved: usize) -> bool {
    COORDINATES.iter().all(|start| line.get(start + POINT + moved) == Some(&b'.'))
}

/// Whether the number in the given columns has a decimal point, and neither begins before nor ends after these columns.
fn is_whole(line: &[u8], columns: std::ops::Range<usize>) -> bool {
    let is_digit = |column: usize| line.get(column).is_some_and(u8::is_ascii_digit);
    let continues = |column: usize| is_digit(column) || line.get(column) == Some(&b'.');
    let begins_before = continues(columns.start)
        && (continues(columns.start - 1) || line.get(columns.start - 1).is_some_and(|byte| b"+-".contains(byte)));
    let ends_after = continues(columns.end - 1) && continues(columns.end);
    text(line, columns).contains('.') && !begins_before && !ends_after
}

/// Returns the text in the given columns, 0-based; empty if the line is shorter or the text is not ASCII.
pub fn text(line: &[u8], columns: std::ops::Range<usize>) -> &str {
    let found = line.get(columns.start..columns.end.min(line.len())).unwrap_or_default();
    std::str::from_utf8(found).unwrap_or_default().trim()
}

/// Returns the finite number in the given columns; `None` if there is none.
pub fn number(line: &[u8], columns: std::ops::Range<usize>) -> Option<f64> {
    text(line, columns).parse().ok().filter(|value: &f64| value.is_finite())
}

/// Parses the columns of a residue number. Numbers beyond 9999 may be in the hybrid-36 notation of the Computational
/// Crystallography Toolbox, in which `A000` follows 9999 and `a000` follows `ZZZZ`. Returns `None` for other text.
pub fn residue_number(field: &[u8]) -> Option<i32> {
    /// Number of four-digit hybrid-36 numbers that begin with an upper-case letter; equally many numbers begin with a
    /// lower-case letter.
    const LETTERS: i32 = 26 * 36 * 36 * 36;
    let text = std::str::from_utf8(field).ok()?.trim();
    let hybrid = || {
        let is_upper = text.starts_with(|c: char| c.is_ascii_uppercase());
        let is_lower = text.starts_with(|c: char| c.is_ascii_lowercase());
        let value = i32::from_str_radix(text, 36).ok().filter(|_| text.len() == 4 && (is_upper || is_lower))?;
        Some(value - 10 * 36 * 36 * 36 + 10_000 + if is_lower { LETTERS } else { 0 })
    };
    text.parse().ok().or_else(hybrid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residue_numbers_of_all_notations_are_read() {
        for (text, expected) in [("  -3", -3), ("9999", 9999), ("A000", 10000), ("A001", 10001), ("a000", 1_223_056)] {
            assert_eq!(residue_number(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!([b"    ", b"A0-1"].map(|field| residue_number(field)), [None, None]);
    }
}
