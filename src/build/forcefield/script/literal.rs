//! Parser of Python literals: strings, numbers, `None`, tuples, lists and dictionaries.

/// Largest depth of nested tuples and dictionaries.
const MOST_DEPTH: usize = 8;

/// A literal. A list counts as a tuple.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Number(f64),
    None,
    Tuple(Vec<Literal>),
    Dictionary(Vec<(Literal, Literal)>),
}

impl Literal {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Literal::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn tuple(&self) -> Option<&[Literal]> {
        match self {
            Literal::Tuple(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn dictionary(&self) -> Option<&[(Literal, Literal)]> {
        match self {
            Literal::Dictionary(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the items of a tuple; `None` if the literal is no tuple of N items.
    pub(super) fn items<const N: usize>(&self) -> Option<&[Literal; N]> {
        self.tuple()?.try_into().ok()
    }
}

/// Reads the literal at the beginning of a text. Returns the literal and the rest of the text, or `None` if there is no
/// literal.
pub(super) fn read(text: &str) -> Option<(Literal, &str)> {
    read_nested(text, 0)
}

fn read_nested(text: &str, depth: usize) -> Option<(Literal, &str)> {
    let text = text.trim_start();
    let first = text.chars().next()?;
    match first {
        _ if depth > MOST_DEPTH => None,
        '\'' | '"' => {
            let (inside, rest) = text[1..].split_once(first)?;
            (!inside.contains(['\\', '\n'])).then(|| (Literal::Text(inside.to_owned()), rest))
        }
        '(' | '[' => {
            let end = if first == '(' { ')' } else { ']' };
            let (mut items, mut rest) = (vec![], text[1..].trim_start());
            while !rest.starts_with(end) {
                let (item, after) = read_nested(rest, depth + 1)?;
                items.push(item);
                rest = after_comma(after, end)?;
            }
            Some((Literal::Tuple(items), &rest[1..]))
        }
        '{' => {
            let (mut items, mut rest) = (vec![], text[1..].trim_start());
            while !rest.starts_with('}') {
                let (key, after) = read_nested(rest, depth + 1)?;
                let (value, after) = read_nested(after.trim_start().strip_prefix(':')?, depth + 1)?;
                items.push((key, value));
                rest = after_comma(after, '}')?;
            }
            Some((Literal::Dictionary(items), &rest[1..]))
        }
        _ => match text.strip_prefix("None") {
            Some(rest) => Some((Literal::None, rest)),
            None => {
                let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(text.len());
                let number = text[..end].parse::<f64>().ok().filter(|number| number.is_finite())?;
                Some((Literal::Number(number), &text[end..]))
            }
        },
    }
}

/// Skips a comma. The comma is optional before `end`, the character that ends a tuple or a dictionary.
fn after_comma(text: &str, end: char) -> Option<&str> {
    let text = text.trim_start();
    match text.strip_prefix(',') {
        Some(rest) => Some(rest.trim_start()),
        None => text.starts_with(end).then_some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_python_are_read() {
        let (found, rest) = read("{'A': ((1, 'x'), (-1, None)), \"B\": (2.5e1,),\n} rest").expect("a literal");
        assert_eq!(rest, " rest");
        let text = |text: &str| Literal::Text(text.to_owned());
        let pair = |number, name| Literal::Tuple(vec![Literal::Number(number), name]);
        let expected = Literal::Dictionary(vec![
            (text("A"), Literal::Tuple(vec![pair(1.0, text("x")), pair(-1.0, Literal::None)])),
            (text("B"), Literal::Tuple(vec![Literal::Number(25.0)])),
        ]);
        assert_eq!(found, expected);
        assert_eq!(read("{\n}\n"), Some((Literal::Dictionary(vec![]), "\n")));
        for faulty in ["", "(1", "(1 2)", "{1}", "{1: }", "'a", "x", "nan", "'a\\n'", &"(".repeat(100_000)] {
            assert_eq!(read(faulty), None, "{faulty:.20}");
        }
    }
}
