//! Fortran edit descriptors such as `(10I8)`, `(5E16.8)`, `(20a4)`, and nested descriptors such as `(8(F9.5))`.

/// Kind of values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// whole numbers, which have an `I` descriptor
    Integer,
    /// real numbers, which have an `E`, `F`, `D` or `G` descriptor
    Real,
    /// text, which has an `A` descriptor
    Text,
}

/// Adjacent columns of the same kind and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// kind of every column
    pub(super) kind: Kind,
    /// characters per column
    pub(super) width: usize,
    /// columns per line
    pub(super) per_line: usize,
}

/// Maximum depth of nested groups in a format. Formats in use are nested less deeply, and deeper nesting could exhaust
/// the stack.
const MAX_DEPTH: usize = 4;
/// Maximum length of a line, in characters, that a format may describe.
const MAX_LINE: usize = 100_000;

impl Columns {
    /// Parses the text in `%FORMAT(...)`, including the parentheses. Returns `None` if the text is malformed, or if
    /// it has columns of different kinds, as in `(i2,a78)`. Sections that are read in columns never have different
    /// kinds of columns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let compact: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        let mut rest = compact.strip_prefix(b"(")?;
        let columns = group(&mut rest, 1)?;
        rest.is_empty().then_some(columns)
    }
}

/// Parses descriptors up to the closing parenthesis.
fn group(rest: &mut &[u8], depth: usize) -> Option<Columns> {
    let mut all: Option<Columns> = None;
    loop {
        let item = item(rest, depth)?;
        all = Some(match all {
            None => item,
            Some(so_far) if (so_far.kind, so_far.width) == (item.kind, item.width) => {
                Columns { per_line: so_far.per_line + item.per_line, ..item }
            }
            Some(_) => return None,
        });
        let (&separator, tail) = rest.split_first()?;
        *rest = tail;
        match separator {
            b',' => {}
            b')' => return all.filter(|c| c.per_line.checked_mul(c.width).is_some_and(|line| line <= MAX_LINE)),
            _ => return None,
        }
    }
}

/// Parses `[count]descriptor` or `[count](group)`.
fn item(rest: &mut &[u8], depth: usize) -> Option<Columns> {
    let count = digits(rest).unwrap_or(1);
    let (&letter, tail) = rest.split_first()?;
    *rest = tail;
    let kind = match letter.to_ascii_uppercase() {
        b'(' if depth < MAX_DEPTH => {
            let inner = group(rest, depth + 1)?;
            return Some(Columns { per_line: inner.per_line.checked_mul(count)?, ..inner }).filter(|c| c.per_line > 0);
        }
        b'I' => Kind::Integer,
        b'E' | b'F' | b'D' | b'G' => Kind::Real,
        b'A' => Kind::Text,
        _ => return None,
    };
    let width = digits(rest)?;
    if let Some(tail) = rest.strip_prefix(b".") {
        *rest = tail;
        digits(rest)?;
    }
    Some(Columns { kind, width, per_line: count }).filter(|c| c.width > 0 && c.per_line > 0)
}

fn digits(rest: &mut &[u8]) -> Option<usize> {
    let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, tail) = rest.split_at(length);
    let value = std::str::from_utf8(digits).ok()?.parse().ok().filter(|&value| value <= MAX_LINE)?;
    *rest = tail;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_seen_in_the_wild() {
        for (text, kind, width, per_line) in [
            ("(10I8)", Kind::Integer, 8, 10),
            ("(5E16.8)", Kind::Real, 16, 5),
            ("(20a4)", Kind::Text, 4, 20),
            ("(8(F9.5))", Kind::Real, 9, 8),
            ("(1a80)", Kind::Text, 80, 1),
            ("( 3E24.16 )", Kind::Real, 24, 3),
            ("(2(I8,2I8))", Kind::Integer, 8, 6),
            ("(a80)", Kind::Text, 80, 1),
        ] {
            assert_eq!(Columns::parse(text), Some(Columns { kind, width, per_line }), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let deep = "(".repeat(100_000);
        for text in [
            "",
            "(",
            "()",
            "10I8",
            "(10I8",
            "(i2,a78)",
            "(0I8)",
            "(10I0)",
            "(10I)",
            "(5E16.)",
            "(99999999999I8)",
            &deep,
        ] {
            assert_eq!(Columns::parse(text), None, "{text:.20}");
        }
    }
}
