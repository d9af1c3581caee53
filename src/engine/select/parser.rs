//! Parser of the selection language, a recursive descent over the words of the text.

use std::ops::RangeInclusive;

use super::expression::{Class, Comparison, Expansion, Expression, Number, Place, ResidueNumber, Text, Value};
use super::foreign;
use super::residues::Kind;
use super::words::{Form, Word, split};
use crate::error::nearest;
use crate::format::element;
use crate::units::Dimension;

/// Keywords of the language. A keyword ends a list of values.
const KEYWORDS: [&str; 29] = [
    "and",
    "or",
    "not",
    "all",
    "protein",
    "backbone",
    "sidechain",
    "nucleic",
    "water",
    "ion",
    "lipid",
    "hydrogen",
    "heavy",
    "name",
    "resname",
    "element",
    "type",
    "chain",
    "segid",
    "resid",
    "index",
    "molecule",
    "mass",
    "charge",
    "byres",
    "same",
    "bonded",
    "around",
    "within",
];
/// Maximum depth of nested parentheses, "not" and expansions. The depth is limited because every level is a recursive
/// call.
const DEEPEST: usize = 100;

/// Maximum length of a lower-case keyword of another program that may stand in a list of values as a name. Residues may
/// be named `mol` or `box`, but not `residue`.
const LONGEST_SHORT: usize = 5;

/// Fault of the text of a selection, with the byte range of the faulty part.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) place: Place,
}

type Parsed<T> = Result<T, Fault>;

/// Parses a selection. Returns the syntax tree of the selection and the number of parts of the selection (words,
/// properties with values, and patterns).
pub(super) fn parse(text: &str) -> Parsed<(Expression, usize)> {
    let words = split(text).map_err(|place| fault(place, "the quotation mark is not closed"))?;
    let mut parser = Parser { end: text.len(), words, next: 0, depth: 0, parts: 0, expanded: None };
    let expression = parser.any_of()?;
    match parser.peek() {
        None => Ok((expression, parser.parts)),
        Some(word) => Err(parser.unexpected(word)),
    }
}

struct Parser<'a> {
    /// length of the text, bytes
    end: usize,
    words: Vec<Word<'a>>,
    next: usize,
    depth: usize,
    /// number of parts that were parsed already
    parts: usize,
    /// byte range of the keyword of an expansion that ends at the last parsed word; `None` if no expansion ends at this
    /// word
    expanded: Option<Place>,
}

impl<'a> Parser<'a> {
    fn any_of(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.all_of()?];
        while self.operator(&["or", "||", "|"])? {
            parts.push(self.all_of()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Any(parts) })
    }

    fn all_of(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.one()?];
        while self.operator(&["and", "&&", "&"])? {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::All(parts) })
    }

    /// Accepts an operator between two selections. An operator after an expansion is refused, because programs differ
    /// in whether the words after the operator belong to the expansion.
    fn operator(&mut self, spellings: &[&str]) -> Parsed<bool> {
        let at = self.next;
        if !self.accept(spellings) {
            return Ok(false);
        }
        let Some(place) = self.expanded.take() else { return Ok(true) };
        let operator = self.words[at].text;
        let what = format!(
            "it is unclear whether the part after \"{operator}\" belongs to this: MDAnalysis says yes, other programs no. \
             Write parentheses, either \"byres (A {operator} B)\" or \"(byres A) {operator} B\""
        );
        Err(fault(place.start..self.words[at].place.end, what))
    }

    fn one(&mut self) -> Parsed<Expression> {
        let Some(word) = self.peek() else {
            return Err(fault(self.end..self.end, "the text ends where a selection was expected"));
        };
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = format!("more than {DEEPEST} levels of \"not\", parentheses and expansions");
            return Err(fault(word.place, what));
        }
        self.parts += 1;
        self.next += 1;
        let expression = match word.form {
            Form::Quoted => return Err(fault(word.place, "expected a keyword before the text in quotes")),
            Form::Symbol if word.text == "(" => {
                let inner = self.any_of()?;
                self.close(&word)?;
                self.expanded = None;
                inner
            }
            Form::Symbol if word.text == "!" => Expression::Not(Box::new(self.one()?)),
            Form::Symbol => return Err(self.unexpected_start(&word)),
            Form::Plain => self.keyword(&word)?,
        };
        self.depth -= 1;
        Ok(expression)
    }

    /// Parses the selection that begins with the keyword `word`.
    fn keyword(&mut self, word: &Word<'a>) -> Parsed<Expression> {
        Ok(match word.text.to_ascii_lowercase().as_str() {
            "not" => Expression::Not(Box::new(self.one()?)),
            "all" => Expression::Class(Class::All),
            "backbone" => Expression::Class(Class::Backbone),
            "sidechain" => Expression::Class(Class::Sidechain),
            "hydrogen" => Expression::Class(Class::Hydrogen),
            "heavy" => Expression::Class(Class::Heavy),
            "name" => self.texts(word, Text::Name)?,
            "resname" => self.texts(word, Text::Resname)?,
            "element" => self.texts(word, Text::Element)?,
            "type" => self.texts(word, Text::Type)?,
            "chain" => self.texts(word, Text::Chain)?,
            "segid" => self.texts(word, Text::Segid)?,
            "resid" => self.numbers(word, Number::Resid)?,
            "index" => self.numbers(word, Number::Index)?,
            "molecule" => self.numbers(word, Number::Molecule)?,
            "mass" => self.comparison_only(word, Number::Mass)?,
            "charge" => self.comparison_only(word, Number::Charge)?,
            "byres" => self.expand(word, Expansion::SameResidue)?,
            "same" => {
                let kind = self.same(word)?;
                self.expand(word, kind)?
            }
            "bonded" => {
                self.expect(word, "to", "for example \"bonded to name CA\"")?;
                self.expand(word, Expansion::BondedTo)?
            }
            keyword @ ("around" | "within") => {
                let distance = self.distance(word, keyword)?;
                let is_around = keyword == "around";
                self.expand(word, if is_around { Expansion::Around(distance) } else { Expansion::Within(distance) })?
            }
            keyword => match Kind::of_word(keyword) {
                Some(kind) => Expression::Class(Class::Residues(kind)),
                None => return Err(unknown(word)),
            },
        })
    }

    fn expand(&mut self, word: &Word<'a>, expansion: Expansion) -> Parsed<Expression> {
        let inner = self.one()?;
        self.expanded = Some(word.place.clone());
        Ok(Expression::Expand(expansion, Box::new(inner), word.place.clone()))
    }

    /// Parses `residue as`, `molecule as` or `chain as`.
    fn same(&mut self, word: &Word<'a>) -> Parsed<Expansion> {
        let kinds = "expected \"same residue as\", \"same molecule as\" or \"same chain as\"";
        let what = self.peek().ok_or_else(|| fault(word.place.clone(), kinds))?;
        self.next += 1;
        let kind = match what.text.to_ascii_lowercase().as_str() {
            "residue" => Expansion::SameResidue,
            "molecule" => Expansion::SameMolecule,
            "chain" => Expansion::SameChain,
            "fragment" => return Err(fault(what.place, "a fragment is a molecule: write \"same molecule as\"")),
            _ => return Err(fault(what.place, kinds)),
        };
        self.expect(&what, "as", "for example \"same residue as name CA\"")?;
        Ok(kind)
    }

    /// Parses a length with its unit, and the following word `of`.
    fn distance(&mut self, word: &Word<'a>, keyword: &str) -> Parsed<f64> {
        let example = format!("for example \"{keyword} 0.5 nm of protein\"");
        let number = self.peek().filter(|word| word.form == Form::Plain);
        let number = number.ok_or_else(|| fault(word.place.clone(), format!("expected a distance, {example}")))?;
        self.next += 1;
        let text = number.text;
        let length = (0..=text.len()).rev().find(|&end| text.get(..end).is_some_and(|t| t.parse::<f64>().is_ok()));
        let Some((value, mut unit)) = length.map(|length| text.split_at(length)) else {
            return Err(fault(number.place, format!("\"{text}\" is not a distance, {example}")));
        };
        let mut place = number.place.clone();
        if unit.is_empty() {
            let next = self.peek().filter(|word| word.form == Form::Plain);
            if let Some(next) = next.filter(|word| is_length_unit(word.text)) {
                self.next += 1;
                (unit, place.end) = (next.text, next.place.end);
            }
        }
        if unit.is_empty() {
            return Err(fault(place, no_unit(keyword, value)));
        }
        if !is_length_unit(unit) {
            return Err(fault(place, format!("\"{unit}\" is not a unit of length: write nm or A")));
        }
        let unit = if unit.to_lowercase().starts_with(['a', 'å']) { "A".to_owned() } else { unit.to_lowercase() };
        let distance = Dimension::Length
            .parse(&format!("{value} {unit}"))
            .map_err(|problem| Fault { what: problem.message, place: place.clone() })?;
        if distance <= 0.0 {
            return Err(fault(place, "a distance must be positive"));
        }
        self.expect(&Word { place, ..number }, "of", &example)?;
        Ok(distance)
    }

    /// Parses the word `expected`, which must follow the word `after`.
    fn expect(&mut self, after: &Word<'a>, expected: &str, example: &str) -> Parsed<()> {
        if self.accept(&[expected]) {
            return Ok(());
        }
        Err(fault(after.place.clone(), format!("expected \"{expected}\" next, {example}")))
    }

    /// Parses the values of a text property.
    fn texts(&mut self, word: &Word<'a>, property: Text) -> Parsed<Expression> {
        let equal = self.peek().filter(|next| next.form == Form::Symbol && matches!(next.text, "==" | "!=" | "="));
        if let Some(symbol) = equal {
            let what = format!("write the values after the keyword: \"{0} CA CB\" or \"not {0} CA CB\"", word.text);
            return Err(fault(symbol.place, what));
        }
        let values = self.list(word)?.into_iter().map(|word| Value {
            text: word.text.to_owned(),
            quoted: word.form == Form::Quoted,
            place: word.place.clone(),
        });
        let values: Vec<Value> = values.collect();
        if property == Text::Element {
            values.iter().try_for_each(check_symbol)?;
        }
        self.parts += values.iter().filter(|value| value.is_pattern()).count();
        Ok(Expression::Text(property, values))
    }

    /// Parses a comparison, or numbers and ranges.
    fn numbers(&mut self, word: &Word<'a>, property: Number) -> Parsed<Expression> {
        if let Some(comparison) = self.comparison(word, property)? {
            return Ok(comparison);
        }
        let words = self.list(word)?;
        if property == Number::Resid {
            return Ok(Expression::Residues(ranges(&words, residue_number)?));
        }
        let place = word.place.start..words[words.len() - 1].place.end;
        Ok(Expression::Numbers(property, ranges(&words, |number| number.parse().ok())?, place))
    }

    /// Parses a comparison after a keyword that needs a comparison.
    fn comparison_only(&mut self, word: &Word<'a>, property: Number) -> Parsed<Expression> {
        let found = self.comparison(word, property)?;
        let keyword = word.text;
        found.ok_or_else(|| {
            let example = format!("\"{keyword} >= 0.5 and {keyword} < 1.5\"");
            fault(word.place.clone(), format!("\"{keyword}\" needs one of == != < <= > >=, for example {example}"))
        })
    }

    fn comparison(&mut self, word: &Word<'a>, property: Number) -> Parsed<Option<Expression>> {
        let Some(symbol) = self.peek().filter(|next| next.form == Form::Symbol) else { return Ok(None) };
        if symbol.text == "=" {
            return Err(fault(symbol.place, "write == for equal"));
        }
        let Some(comparison) = Comparison::of(symbol.text) else { return Ok(None) };
        self.next += 1;
        let number = self.peek().filter(|next| next.form != Form::Symbol);
        let value = number.as_ref().and_then(|number| number.text.parse::<f64>().ok()).filter(|value| !value.is_nan());
        let Some((number, value)) = number.zip(value) else {
            return Err(fault(symbol.place, format!("expected a number after \"{}\"", symbol.text)));
        };
        self.next += 1;
        let place = word.place.start..number.place.end;
        Ok(Some(Expression::Compare(property, comparison, value, place)))
    }

    /// Parses the values up to the next keyword. There must be at least one value.
    fn list(&mut self, keyword: &Word<'a>) -> Parsed<Vec<Word<'a>>> {
        let begin = self.next;
        while let Some(word) = self.words.get(self.next).filter(|word| is_value(word)) {
            if word.form == Form::Plain
                && word.text.len() > LONGEST_SHORT
                && let Some(advice) = foreign::advice(word.text)
            {
                return Err(fault(word.place.clone(), advice));
            }
            self.next += 1;
        }
        if self.next == begin {
            return Err(fault(keyword.place.clone(), format!("\"{}\" needs at least one value", keyword.text)));
        }
        Ok(self.words[begin..self.next].to_vec())
    }

    fn close(&mut self, open: &Word<'a>) -> Parsed<()> {
        match self.peek() {
            _ if self.accept(&[")"]) => Ok(()),
            None => Err(fault(open.place.clone(), "a parenthesis is not closed")),
            Some(word) => Err(self.unexpected(word)),
        }
    }

    /// Returns the fault of a word that follows a complete selection.
    fn unexpected(&self, word: Word<'a>) -> Fault {
        let what = format!("expected \"and\", \"or\" or the end of the selection, but found \"{}\"", word.text);
        let is_known = KEYWORDS.contains(&word.text.to_ascii_lowercase().as_str());
        if word.form == Form::Plain && !is_known {
            let unknown = unknown(&word);
            return fault(word.place, format!("{what}; {}", unknown.what));
        }
        fault(word.place, what)
    }

    /// Returns the fault of a selection that begins with a symbol.
    fn unexpected_start(&self, word: &Word<'a>) -> Fault {
        fault(word.place.clone(), format!("expected a selection, but found \"{}\"", word.text))
    }

    fn peek(&self) -> Option<Word<'a>> {
        self.words.get(self.next).cloned()
    }

    fn accept(&mut self, spellings: &[&str]) -> bool {
        let found = self.words.get(self.next).is_some_and(|word| {
            word.form != Form::Quoted && spellings.iter().any(|spelling| word.text.eq_ignore_ascii_case(spelling))
        });
        self.next += usize::from(found);
        found
    }
}

fn fault(place: Place, what: impl Into<String>) -> Fault {
    Fault { what: what.into(), place }
}

/// Whether a word is a value of a list, not a keyword or a symbol.
fn is_value(word: &Word<'_>) -> bool {
    match word.form {
        Form::Quoted => true,
        Form::Symbol => false,
        Form::Plain => !KEYWORDS.iter().any(|keyword| word.text.eq_ignore_ascii_case(keyword)),
    }
}

fn is_length_unit(text: &str) -> bool {
    ["nm", "a", "å", "pm", "angstrom", "angstroms"].contains(&text.to_lowercase().as_str())
}

/// Returns the message for a distance that has no unit.
fn no_unit(keyword: &str, value: &str) -> String {
    let programs = match keyword {
        "around" => "distances are in angstrom in MDAnalysis, but in nm in programs such as MDTraj",
        _ => "distances are in angstrom in VMD, but in nm in GROMACS",
    };
    format!(
        "a distance needs a unit (\"{keyword} {value}\" has no unit), because {programs}: write \"{keyword} {value} A \
             of\" or \"{keyword} {value} nm of\""
    )
}

/// Returns the fault of a word that is not a keyword. The message suggests the most similar keyword.
fn unknown(word: &Word<'_>) -> Fault {
    let lower = word.text.to_lowercase();
    if KEYWORDS.contains(&lower.as_str()) {
        return fault(word.place.clone(), format!("expected a selection, found the keyword \"{lower}\""));
    }
    let what = format!("\"{}\" is not a selection keyword", word.text);
    let advice = foreign::advice(&lower).or_else(|| foreign::mask_advice(&lower).map(str::to_owned));
    if let Some(advice) = advice {
        return fault(word.place.clone(), format!("{what}; {advice}"));
    }
    let near = nearest(&lower, KEYWORDS);
    let help = near.map(|keyword| format!("; did you mean \"{keyword}\"?")).unwrap_or_default();
    fault(word.place.clone(), what + &help)
}

/// Parses numbers and ranges. `number` parses one end of a range.
fn ranges<T: Copy + Ord>(words: &[Word<'_>], number: impl Fn(&str) -> Option<T>) -> Parsed<Vec<RangeInclusive<T>>> {
    let mut ranges = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let first = &words[at];
        let to = words.get(at + 1).filter(|next| next.text.eq_ignore_ascii_case("to"));
        let (text, found, used) = match to.and(words.get(at + 2)) {
            Some(last) => {
                let ends = number(first.text).zip(number(last.text));
                (format!("{} to {}", first.text, last.text), ends.map(|(first, last)| first..=last), 3)
            }
            None => (first.text.to_owned(), range(first.text, &number), 1),
        };
        let place = first.place.start..words[at + used - 1].place.end;
        match found {
            Some(range) if range.is_empty() => {
                return Err(fault(place, format!("the range {text} ends before it begins")));
            }
            Some(range) => ranges.push(range),
            None => {
                let what = format!("\"{text}\" is neither a number nor a range such as 5-17, 5:17 or 5 to 17");
                return Err(fault(place, what));
            }
        }
        at += used;
    }
    Ok(ranges)
}

/// Parses `5`, `5-17`, `5:17` or `-3`.
fn range<T: Copy>(word: &str, number: impl Fn(&str) -> Option<T>) -> Option<RangeInclusive<T>> {
    if let Some(number) = number(word) {
        return Some(number..=number);
    }
    if let Some((first, last)) = word.split_once(':') {
        return Some(number(first)?..=number(last)?);
    }
    // a leading minus is the sign of the number
    let dash = 1 + word.get(1..)?.find('-')?;
    Some(number(&word[..dash])?..=number(&word[dash + 1..])?)
}

/// Parses a residue number with an optional insertion code, as `60` or `60A`.
fn residue_number(word: &str) -> Option<ResidueNumber> {
    let code = word.chars().next_back().filter(char::is_ascii_alphabetic);
    let digits = word.strip_suffix(|last| Some(last) == code).unwrap_or(word);
    Some((digits.parse().ok()?, code))
}

/// Fails if a value is neither the symbol of an element nor a pattern. The message suggests the most similar symbol.
fn check_symbol(value: &Value) -> Parsed<()> {
    let text = &*value.text;
    if value.is_pattern() || text.is_empty() || element::symbols().any(|symbol| symbol == text) {
        return Ok(());
    }
    // symbols in capitals, ions such as Na+, and isotopes
    let element = element::number(text.trim_end_matches(|c: char| !c.is_alphabetic()));
    let near = Some(element::symbol(element)).filter(|symbol| !symbol.is_empty());
    let near = near.or_else(|| nearest(text, element::symbols()));
    let help = near.map(|symbol| format!("; did you mean \"{symbol}\"?")).unwrap_or_default();
    Err(fault(value.place.clone(), format!("\"{text}\" is not the symbol of an element{help}")))
}
