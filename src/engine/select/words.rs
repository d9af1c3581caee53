//! Splitting of the text of a selection into words, quoted texts and symbols, each with its byte range in the text.

use std::ops::Range;

/// Symbols of the selection language. Longer symbols come before shorter symbols, so that `&&` is not read as two
/// symbols `&`.
const SYMBOLS: [&str; 14] = ["&&", "||", "==", "!=", "<=", ">=", "(", ")", "&", "|", "<", ">", "=", "!"];

/// Word, quoted text or symbol of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// text without quotes
    pub(super) text: &'a str,
    pub(super) form: Form,
    /// byte range of the word in the selection, including quotes
    pub(super) place: Range<usize>,
}

/// Form of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// text in quotes, which is never a keyword or a pattern
    Quoted,
    Symbol,
}

/// Splits a text into words. The error is the byte range of a double quote without a closing quote.
pub(super) fn split(text: &str) -> Result<Vec<Word<'_>>, Range<usize>> {
    let mut words = vec![];
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let (length, word, form) = if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (symbol.len(), *symbol, Form::Symbol)
        } else if let Some(inside) = quoted(rest) {
            (inside.len() + 2, inside, Form::Quoted)
        } else if c == '"' {
            return Err(at..text.len());
        } else {
            let length = plain(rest);
            (length, &rest[..length], Form::Plain)
        };
        words.push(Word { text: word, form, place: at..at + length });
        at += length;
    }
    Ok(words)
}

/// Returns the text between quotes at the beginning of `rest`; `None` if there is no such text. The closing quote must
/// end the word. A single quote without a closing quote is a part of a name, as in `H5'`.
fn quoted(rest: &str) -> Option<&str> {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = &rest[1..];
    let ends_word = |end: usize| {
        let after = &inside[end + 1..];
        after.chars().next().is_none_or(char::is_whitespace) || SYMBOLS.iter().any(|symbol| after.starts_with(symbol))
    };
    // a text in single quotes is not accepted if the text contains blanks, because the quotes may be the last
    // characters of two names, as in `O5' C5'`
    let searched = match quote {
        '"' => inside,
        _ => &inside[..inside.find(char::is_whitespace).unwrap_or(inside.len())],
    };
    let end = searched.match_indices(quote).map(|(end, _)| end).find(|&end| ends_word(end))?;
    Some(&inside[..end])
}

/// Returns the length of the plain word at the beginning of `rest`. An exclamation mark belongs to a word unless `=`
/// follows.
fn plain(rest: &str) -> usize {
    let ends = |(at, c): &(usize, char)| {
        c.is_whitespace() || matches!(c, '(' | ')' | '&' | '|' | '<' | '>' | '=') || rest[*at..].starts_with("!=")
    };
    rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at)
}

/// Whether `text` matches the pattern, in which `*` stands for any text and `?` for any character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // index in the pattern after the last asterisk, and the index in the text up to which this asterisk matches
    let mut asterisk = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                asterisk = Some((p, t));
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => {
                let Some((after, end)) = asterisk else { return false };
                (p, t) = (after, end + 1);
                asterisk = Some((after, end + 1));
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_quotes_separate_words() {
        let split = |text| split(text).unwrap().into_iter().map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(
            split("!(mass>=1.5)&&name O5' \"a b\""),
            ["!", "(", "mass", ">=", "1.5", ")", "&&", "name", "O5'", "a b"]
        );
        assert_eq!(split("name 'HO2 H5''|resname 'CL-'"), ["name", "'HO2", "H5''", "|", "resname", "CL-"]);
        assert_eq!(super::split("name \"CA"), Err(5..8));
    }

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("C*", "CA", true),
            ("C*", "C", true),
            ("C?", "C", false),
            ("C?", "CA", true),
            ("*A*B", "AABAB", true),
            ("*A*B", "AABA", false),
            ("H?*", "HB2", true),
            ("", "", true),
            ("?", "é", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
