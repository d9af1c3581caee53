//! Words of a CIF file: blocks, loops, tags and values.

use crate::error::{Parsed, Problem};

/// A word of a CIF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// beginning `data_NAME` of a block
    Block,
    /// beginning `loop_` of a loop
    Loop,
    /// tag `_category.item`, which names a value or a column
    Tag(Value<'a>),
    /// value of a tag
    Value(Value<'a>),
    /// reserved word `save_`, `global_` or `stop_`, which does not occur in structures
    Reserved(Value<'a>),
}

/// A word of a CIF file, without its quotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// text of the word, in the encoding of the file
    pub text: &'a [u8],
    /// whether the word is quoted; a quoted `?` or `.` is ordinary text
    is_quoted: bool,
    /// 1-based line number
    pub line: usize,
}

impl<'a> Value<'a> {
    /// Returns the text of the value. Returns `None` for `?` (unknown) and `.` (does not apply).
    pub fn known(&self) -> Option<&'a [u8]> {
        (self.is_quoted || !matches!(self.text, b"?" | b".")).then_some(self.text)
    }
}

/// Iterator over the words of a file. The iterator ends after an error.
pub struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    /// 1-based number of the line with byte `at`
    line: usize,
}

impl<'a> Words<'a> {
    /// Returns an iterator over the words of a text, from its beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// Skips blanks and comments, and returns the first byte of the next word.
    fn begin(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b'\n' => self.line += 1,
                b'#' => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                    continue;
                }
                byte if byte.is_ascii_whitespace() => {}
                byte => return Some(byte),
            }
            self.at += 1;
        }
    }

    /// Reads a text of several lines. The text begins with a `;` at the beginning of a line, and ends at the next `;`
    /// at the beginning of a line.
    fn text_field(&mut self) -> Parsed<Value<'a>> {
        let (line, rest) = (self.line, &self.bytes[self.at + 1..]);
        let end =
            rest.windows(2).position(|pair| pair == b"\n;").ok_or_else(|| unclosed("a text between lines", line))?;
        let text = &rest[..end];
        self.line += 1 + text.iter().filter(|&&byte| byte == b'\n').count();
        self.at += end + 3;
        Ok(Value { text: text.strip_suffix(b"\r").unwrap_or(text), is_quoted: true, line })
    }

    /// Reads a quoted text. A quote ends the text only if a blank follows the quote.
    fn quoted(&mut self, quote: u8) -> Parsed<Value<'a>> {
        let rest = &self.bytes[self.at + 1..];
        let of_line = &rest[..rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())];
        let ends = |&k: &usize| of_line[k] == quote && of_line.get(k + 1).is_none_or(u8::is_ascii_whitespace);
        let end = (0..of_line.len()).find(ends).ok_or_else(|| unclosed("a text in quotes", self.line))?;
        self.at += end + 2;
        Ok(Value { text: &of_line[..end], is_quoted: true, line: self.line })
    }

    fn word(&mut self, first: u8) -> Parsed<Word<'a>> {
        let begins_line = self.at == 0 || self.bytes[self.at - 1] == b'\n';
        match first {
            b';' if begins_line => return self.text_field().map(Word::Value),
            b'\'' | b'"' => return self.quoted(first).map(Word::Value),
            _ => {}
        }
        let rest = &self.bytes[self.at..];
        let text = &rest[..rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len())];
        self.at += text.len();
        let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let is_any = |words: &[&[u8]]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        let value = Value { text, is_quoted: false, line: self.line };
        Ok(match first {
            b'_' => Word::Tag(value),
            _ if begins(b"data_") => Word::Block,
            _ if is_any(&[b"loop_"]) => Word::Loop,
            _ if begins(b"save_") || is_any(&[b"global_", b"stop_"]) => Word::Reserved(value),
            _ => Word::Value(value),
        })
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Parsed<Word<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.begin()?;
        let word = self.word(first);
        if word.is_err() {
            self.at = self.bytes.len();
        }
        Some(word)
    }
}

fn unclosed(what: &str, line: usize) -> Problem {
    Problem::new(format!("{what} begins here and does not end")).at_line(line).help("the file is damaged or cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, bool, usize)> {
        let value = |word: Parsed<Word<'_>>| match word {
            Ok(Word::Value(value)) => {
                (String::from_utf8_lossy(value.text).into_owned(), value.known().is_some(), value.line)
            }
            other => panic!("{other:?} is no value"),
        };
        Words::new(text.as_bytes()).map(value).collect()
    }

    #[test]
    fn quotes_lines_and_comments() {
        let of = |text: &str, known: bool, line: usize| (text.to_owned(), known, line);
        assert_eq!(values("a 'b c' \"d'e\"\n"), [of("a", true, 1), of("b c", true, 1), of("d'e", true, 1)]);
        // a quote that is within a word or has no blank after it does not end the text
        assert_eq!(values("O5' 'a'b c' ''"), [of("O5'", true, 1), of("a'b c", true, 1), of("", true, 1)]);
        assert_eq!(
            values("? . '?' \".\" ?? .5"),
            [
                of("?", false, 1),
                of(".", false, 1),
                of("?", true, 1),
                of(".", true, 1),
                of("??", true, 1),
                of(".5", true, 1)
            ]
        );
        assert_eq!(values("x # y 'z\n#\nw a#b\n"), [of("x", true, 1), of("w", true, 3), of("a#b", true, 3)]);
        for end in ["\n", "\r\n"] {
            let text = ["x", ";one 'two", "# three", "; y ;no", ""].join(end);
            let field = ["one 'two", "# three"].join(end);
            assert_eq!(values(&text), [of("x", true, 1), of(&field, true, 2), of("y", true, 4), of(";no", true, 4)]);
        }
    }

    #[test]
    fn words_of_structure() {
        let words: Parsed<Vec<Word<'_>>> = Words::new(b"DATA_x Loop_ _a.b save_x stop_ 'loop_' loop_x").collect();
        let words = words.unwrap_or_else(|problem| panic!("{problem}"));
        let [block, a_loop, tag, save, stop, rest @ ..] = &words[..] else { panic!("{words:?}") };
        assert_eq!((*block, *a_loop), (Word::Block, Word::Loop));
        assert!(matches!(tag, Word::Tag(tag) if tag.text == b"_a.b"));
        assert!(matches!((save, stop), (Word::Reserved(_), Word::Reserved(_))));
        assert!(rest.len() == 2 && rest.iter().all(|word| matches!(word, Word::Value(_))));
    }

    #[test]
    fn what_does_not_end_is_told() {
        for (text, line) in [("a\n'b c\n'", 2), ("\n\n\"b'", 3), ("a\n;b\nc", 2)] {
            let problem = Words::new(text.as_bytes()).find_map(Result::err).unwrap_or_else(|| panic!("{text} is read"));
            assert!(problem.line == Some(line) && problem.message.contains("does not end"), "{problem}");
        }
    }
}
