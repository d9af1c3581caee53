//! Reader of the rows of categories in a PDBx/mmCIF file. A category is written as a loop or as pairs of tag and value.

use md_engine::error::Problem;
use md_engine::format::{Value, Word, Words};

type Parsed<T> = Result<T, Problem>;

/// A row of a category.
pub(super) struct Row<'r, 'a> {
    /// names of the items, in lower case
    items: &'r [String],
    values: &'r [Value<'a>],
}

impl Row<'_, '_> {
    /// Returns the value of an item; `None` if the item is missing or unknown.
    pub(super) fn text(&self, item: &str) -> Option<String> {
        let index = self.items.iter().position(|known| known == item)?;
        self.values.get(index)?.known().map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// Returns the value of the first item, or the value of the second item if the first value is unknown.
    pub(super) fn first(&self, items: [&str; 2]) -> Option<String> {
        items.into_iter().find_map(|item| self.text(item))
    }

    /// Returns the finite number that is the value of an item; `None` if the item is missing, unknown or not a number.
    pub(super) fn number(&self, item: &str) -> Option<f64> {
        let text = self.text(item)?;
        // a standard uncertainty in parentheses may follow the number
        let plain = text.split('(').next().unwrap_or_default();
        plain.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Returns the line number of the first value of the row.
    pub(super) fn line(&self) -> usize {
        self.values.first().map_or(0, |value| value.line)
    }
}

/// Calls `see(category, row)` for all rows of the wanted categories. Names of categories are in lower case and begin
/// with `_`. `is_done` is called at the beginning of each data block after the first. If `is_done` returns `true`, the
/// rest of the file is skipped.
pub(super) fn each_row<T>(
    bytes: &[u8],
    wanted: &[&str],
    seen: &mut T,
    see: impl Fn(&mut T, &str, &Row<'_, '_>) -> Parsed<()>,
    is_done: impl Fn(&T) -> bool,
) -> Parsed<()> {
    let mut words = Words::new(bytes).peekable();
    let mut pairs = Pairs::default();
    while let Some(word) = words.next().transpose()? {
        match word {
            Word::Tag(tag) => {
                let (category, item) = split(tag.text);
                let value = match words.next().transpose()? {
                    Some(Word::Value(value)) => value,
                    _ => return Err(cut(tag.line)),
                };
                if category != pairs.category {
                    pairs.end(wanted, seen, &see)?;
                    pairs.category = category;
                }
                pairs.items.push(item);
                pairs.values.push(value);
                continue;
            }
            Word::Loop => {
                pairs.end(wanted, seen, &see)?;
                let mut tags = vec![];
                let mut line = 0;
                while let Some(Ok(Word::Tag(tag))) = words.next_if(|word| matches!(word, Ok(Word::Tag(_)))) {
                    tags.push(split(tag.text));
                    line = tag.line;
                }
                let Some((category, _)) = tags.first().cloned() else { return Err(cut(line)) };
                let items: Vec<String> = tags.into_iter().map(|(_, item)| item).collect();
                let is_wanted = wanted.contains(&category.as_str());
                let mut values = Vec::with_capacity(items.len());
                while let Some(Ok(Word::Value(value))) = words.next_if(|word| matches!(word, Ok(Word::Value(_)))) {
                    line = value.line;
                    values.push(value);
                    if values.len() == items.len() {
                        if is_wanted {
                            let row = Row { items: &items, values: &values };
                            see(seen, &category, &row).map_err(|problem| at(problem, row.line()))?;
                        }
                        values.clear();
                    }
                }
                if !values.is_empty() {
                    return Err(cut(line).help("every row of a loop must be complete; the file is damaged or cut off"));
                }
            }
            Word::Block => {
                pairs.end(wanted, seen, &see)?;
                if is_done(seen) {
                    return Ok(());
                }
            }
            Word::Value(value) | Word::Reserved(value) => {
                let problem = Problem::new("expected a tag or `loop_`, found another word").at_line(value.line);
                return Err(problem.help("quote values that contain blanks, and complete all rows of loops"));
            }
        }
    }
    pairs.end(wanted, seen, &see)
}

/// Items of a category that have been read so far from pairs of tag and value.
#[derive(Default)]
struct Pairs<'a> {
    category: String,
    items: Vec<String>,
    values: Vec<Value<'a>>,
}

impl Pairs<'_> {
    /// Passes the pairs of a category to `see` as a single row, and clears the pairs.
    fn end<T>(
        &mut self,
        wanted: &[&str],
        seen: &mut T,
        see: &impl Fn(&mut T, &str, &Row<'_, '_>) -> Parsed<()>,
    ) -> Parsed<()> {
        if wanted.contains(&self.category.as_str()) {
            let row = Row { items: &self.items, values: &self.values };
            see(seen, &self.category, &row).map_err(|problem| at(problem, row.line()))?;
        }
        self.items.clear();
        self.values.clear();
        self.category.clear();
        Ok(())
    }
}

/// Returns category and item of a tag, in lower case.
fn split(tag: &[u8]) -> (String, String) {
    let tag = String::from_utf8_lossy(tag).to_ascii_lowercase();
    match tag.split_once('.') {
        Some((category, item)) => (category.to_owned(), item.to_owned()),
        None => (tag, String::new()),
    }
}

fn at(problem: Problem, line: usize) -> Problem {
    if problem.line.is_some() { problem } else { problem.at_line(line) }
}

fn cut(line: usize) -> Problem {
    Problem::new("a tag has no value, or a row is incomplete").at_line(line).help("the file is damaged or cut off")
}
