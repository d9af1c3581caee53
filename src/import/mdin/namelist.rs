//! Reader of Fortran namelists: `&name key = value, key = 3*value … /`, in any number of lines.
//!
//! Blanks and commas separate values. Texts are in quotes; inside a text, a doubled quote represents one quote. An
//! exclamation mark begins a comment. A slash, `&end` or `$end` ends a namelist. Lines before, between and after
//! namelists (a title, group cards, redirections of files) belong to no namelist.

use super::super::settings::{Entry, shortened};
use crate::error::Problem;

/// Namelists of a file, in their order, and lines outside namelists.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Namelists {
    pub(super) lists: Vec<Namelist>,
    /// lines after the first namelist that belong to no namelist, with their line numbers
    pub(super) cards: Vec<(usize, String)>,
}

/// Namelist with its settings.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Namelist {
    /// name in lower case
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: Vec<Entry>,
}

/// Largest repeat count of a value such as `3*1.0`. No array of AMBER's programs is longer.
const MOST_COPIES: usize = 1000;

#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Text(String),
    Equals,
    Comma,
    End,
}

/// Returns the name of a namelist that begins on this line, and the rest of the line.
pub(super) fn beginning(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix(['&', '$'])?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    (!name.is_empty() && !name.eq_ignore_ascii_case("end")).then_some((name, rest))
}

/// Reads all namelists of a text.
pub(super) fn read(text: &str) -> Result<Namelists, Problem> {
    let mut found = Namelists::default();
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    while let Some((number, line)) = lines.next() {
        let Some((name, mut rest)) = beginning(line) else {
            if !found.lists.is_empty() && !line.trim().is_empty() {
                found.cards.push((number, line.trim().to_owned()));
            }
            continue;
        };
        let mut list = Reader::default();
        let mut at = number;
        while !list.line(rest, at)? {
            (at, rest) = lines.next().ok_or_else(|| {
                let problem = Problem::new(format!("the namelist &{} has no end", shortened(name))).at_line(number);
                problem.help("end the namelist with a line that contains only a slash")
            })?;
        }
        found.lists.push(Namelist { name: name.to_ascii_lowercase(), line: number, entries: list.entries() });
    }
    Ok(found)
}

/// Reader of the settings of one namelist.
#[derive(Default)]
struct Reader {
    entries: Vec<(Entry, Vec<String>)>,
}

impl Reader {
    /// Reads the rest of a line of the namelist. Returns whether the namelist ends on this line.
    fn line(&mut self, text: &str, number: usize) -> Result<bool, Problem> {
        let tokens = tokens(text).map_err(|problem| problem.at_line(number))?;
        for (index, token) in tokens.iter().enumerate() {
            let is_key = tokens.get(index + 1) == Some(&Token::Equals);
            match token {
                Token::End => return Ok(true),
                Token::Word(name) if is_key => {
                    let entry = Entry { name: (*name).to_owned(), value: String::new(), line: number };
                    self.entries.push((entry, vec![]));
                }
                Token::Word(word) => {
                    let copies = copies(word).map_err(|problem| problem.at_line(number))?;
                    self.values(number, word)?.extend(copies);
                }
                Token::Text(value) => self.values(number, value)?.push(value.clone()),
                Token::Equals if index == 0 || !matches!(tokens[index - 1], Token::Word(_)) => {
                    return Err(Problem::new("\"=\" without a key before it").at_line(number).help(SYNTAX));
                }
                Token::Equals | Token::Comma => {}
            }
        }
        Ok(false)
    }

    /// Returns the values of the last key, to which the caller appends `value`. Fails if no key precedes the value.
    fn values(&mut self, number: usize, value: &str) -> Result<&mut Vec<String>, Problem> {
        let problem = || {
            let message = format!("\"{}\" is before the first key", shortened(value));
            Problem::new(message).at_line(number).help(SYNTAX)
        };
        self.entries.last_mut().map(|(_, values)| values).ok_or_else(problem)
    }

    fn entries(self) -> Vec<Entry> {
        self.entries.into_iter().map(|(entry, values)| Entry { value: values.join(" "), ..entry }).collect()
    }
}

const SYNTAX: &str = "expected KEY = VALUE, KEY = VALUE … and a slash at the end";

/// Returns the values of a word: one value, or n copies for `n*value`.
fn copies(word: &str) -> Result<Vec<String>, Problem> {
    let Some((count, value)) = word.split_once('*') else { return Ok(vec![word.to_owned()]) };
    let problem = || Problem::new(format!("\"{}\": this repeated value cannot be read", shortened(word)));
    match count.parse::<usize>() {
        Ok(count) if count <= MOST_COPIES => Ok(vec![value.to_owned(); if value.is_empty() { 0 } else { count }]),
        Ok(_) => Err(problem().help(format!("write at most {MOST_COPIES} copies"))),
        Err(_) => Err(problem().help("expected a number of copies and a value, as in 3*0.5")),
    }
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Problem> {
    let mut tokens = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        match first {
            '!' => break,
            '/' => {
                tokens.push(Token::End);
                break;
            }
            '\'' | '"' => {
                let (value, after) = quoted(rest, first)?;
                tokens.push(Token::Text(value));
                rest = after;
            }
            '=' | ',' => {
                tokens.push(if first == '=' { Token::Equals } else { Token::Comma });
                rest = &rest[1..];
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || "=,/!'\"".contains(c);
                let (word, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
                let is_end = ["&end", "$end"].iter().any(|end| word.eq_ignore_ascii_case(end));
                tokens.push(if is_end { Token::End } else { Token::Word(word) });
                if is_end {
                    break;
                }
                rest = after;
            }
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

/// Returns the text in quotes at the beginning of `text`, and the rest of the line. A doubled quote represents one
/// quote.
fn quoted(text: &str, quote: char) -> Result<(String, &str), Problem> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c != quote {
            value.push(c);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            value.push(quote);
        } else {
            return Ok((value, &text[at + 1..]));
        }
    }
    Err(Problem::new(format!("the text {} has no closing quote", shortened(text)))
        .help("close the quotes in the same line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<(String, String, usize)> {
        let found = read(text).expect("namelists");
        found.lists.into_iter().flat_map(|list| list.entries).map(|e| (e.name, e.value, e.line)).collect()
    }

    fn entry(name: &str, value: &str, line: usize) -> (String, String, usize) {
        (name.to_owned(), value.to_owned(), line)
    }

    #[test]
    fn values_are_read_in_all_their_forms() {
        let text = "title, with a = and a /\n &CNTRL imin=0,irest = 1, ! comment, x=3\n\n\n mask=':1-10 & !@H=', w=2*1.5,\n \
                    q = \"it's\", d='it''s' a=1 2,3 /ignored = 1\n";
        let expected = [
            entry("imin", "0", 2),
            entry("irest", "1", 2),
            entry("mask", ":1-10 & !@H=", 5),
            entry("w", "1.5 1.5", 5),
            entry("q", "it's", 6),
            entry("d", "it's", 6),
            entry("a", "1 2 3", 6),
        ];
        let found = entries(text);
        assert_eq!(found, expected);
    }

    #[test]
    fn namelists_and_cards_are_told_apart() {
        let text = "title\n&cntrl a=1 &end\n&wt type='END' /\ngroup\n 10.0\nRES 1 5\nEND\n&Ewald b=2\n$end\n";
        let found = read(text).expect("namelists");
        let names: Vec<(&str, usize)> = found.lists.iter().map(|list| (list.name.as_str(), list.line)).collect();
        assert_eq!(names, [("cntrl", 2), ("wt", 3), ("ewald", 8)]);
        let cards: Vec<(usize, &str)> = found.cards.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(cards, [(4, "group"), (5, "10.0"), (6, "RES 1 5"), (7, "END")]);
    }

    #[test]
    fn wrong_namelists_are_refused_with_their_line() {
        for (text, line, expected) in [
            ("t\n&cntrl\n a = 1\n", 2, "no end"),
            ("&cntrl\n 3, a = 1 /", 2, "is before the first key"),
            ("&cntrl a = 'x /\n/", 1, "has no closing quote"),
            ("&cntrl a = 1,\n = 3 /", 2, "without a key"),
            ("&cntrl a = 99999999*1 /", 1, "cannot be read"),
            ("&cntrl a = x*1 /", 1, "cannot be read"),
        ] {
            let problem = read(text).expect_err(text);
            assert_eq!(problem.line, Some(line), "{text}");
            assert!(problem.message.contains(expected), "{problem}");
        }
    }
}
