//! Tests of rules for comments and interfaces. Each rule has a limit that the code just satisfies.

use super::{Source, assert_none, sources};

/// Largest number of columns of a comment.
const COLUMNS: usize = 120;
/// Largest number of methods of a trait. Traits with more methods should be split. Traits of vector operations are
/// exempt.
const TRAIT_METHODS: usize = 26;
/// Largest number of function parameters that are tuples, in all functions together. Values of the same kind may form a
/// tuple; different values should have names, as separate arguments or in a struct.
const TUPLE_PARAMETERS: usize = 5;

/// First words of a doc comment that refer to something outside the sentence.
const LEANING: &str = " they those these it its their them of what none to with from where which whose as but and so that \
                       by for in on at such both neither nor than then there here this he one others other some same \
                       latter former ";
/// Words that must not be used, each with the standard term that replaces the word.
const REPLACED: [(&str, &str); 12] = [
    ("Desk", "scheduler"),
    ("Hub", "barrier"),
    ("Deal", "assignment"),
    ("Tell", "message sender"),
    ("Seat", "processor set"),
    ("Ground", "context"),
    ("Loan", "halo groups"),
    ("obey", "execute"),
    ("dismiss", "release"),
    ("wherefrom", "its source"),
    ("foresight", "lookahead"),
    ("dilate", "scale the box"),
];

/// Whether the first word of a doc comment refers to something outside the sentence.
fn leans(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphabetic() && c != '\'').filter(|word| !word.is_empty());
    let first = words.map(str::to_lowercase).find(|word| !["the", "a", "an"].contains(&word.as_str()));
    first.is_some_and(|word| LEANING.contains(&format!(" {word} ")))
}

/// Text of a doc comment; `None` for other lines.
fn doc(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

fn opening_faults(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let begins = |&at: &usize| {
        let text = doc(lines[at]).unwrap_or_default().trim_start();
        let first = at == 0 || doc(lines[at - 1]).is_none();
        first && !text.is_empty() && !text.starts_with(['`', '#', '|', '-', '[']) && leans(text)
    };
    (0..lines.len())
        .filter(begins)
        .map(|at| source.at(at + 1, "the doc comment begins with a word that leans"))
        .collect()
}

fn column_faults(source: &Source) -> Vec<String> {
    let is_long = |line: &str| {
        let text = line.trim_start();
        text.starts_with("//") && !text.contains(" |") && !text.contains("http") && line.chars().count() > COLUMNS
    };
    let long = source.text.lines().enumerate().filter(|(_, line)| is_long(line));
    long.map(|(at, _)| source.at(at + 1, &format!("a comment of more than {COLUMNS} columns"))).collect()
}

fn word_faults(source: &Source) -> Vec<String> {
    let mut faults = vec![];
    for (number, line) in source.text.lines().enumerate() {
        for word in line.split(|c: char| !c.is_alphanumeric()) {
            if let Some((_, instead)) = REPLACED.iter().find(|(replaced, _)| *replaced == word) {
                faults.push(source.at(number + 1, &format!("{word}: the word of the field is {instead}")));
            }
        }
    }
    faults
}

/// Returns the number of methods of each trait, with the line of the trait.
fn traits(source: &Source) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = source.text.lines().collect();
    let is_trait = |line: &str| line.ends_with('{') && line.split_whitespace().take(3).any(|word| word == "trait");
    let starts = (0..lines.len()).filter(|&at| is_trait(lines[at]));
    let methods = |start: usize| {
        let body = lines[start + 1..].iter().take_while(|line| **line != "}");
        let first = |line: &&&str| ["    fn ", "    unsafe fn "].iter().any(|word| line.starts_with(word));
        (start + 1, body.filter(first).count())
    };
    starts.map(methods).collect()
}

/// Number of tuple types among the parameters of functions.
fn tuple_parameters(source: &Source) -> usize {
    let code: String = source.code().map(|(_, line)| format!("{} ", line.trim())).collect();
    let signatures =
        code.split("fn ").skip(1).filter_map(|rest| rest.split_once('(').map(|(_, parameters)| parameters));
    let count = |parameters: &str| {
        let (mut depth, mut count, mut before) = (1, 0, "");
        for (at, character) in parameters.char_indices() {
            match character {
                '(' => {
                    count += usize::from(depth == 1 && before.ends_with(": ") && !parameters[at..].starts_with("()"));
                    depth += 1;
                }
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            before = &parameters[..at + character.len_utf8()];
        }
        count
    };
    signatures.map(count).sum()
}

#[test]
fn doc_comments_stand_alone() {
    assert_none(sources("src", &["rs"]).iter().flat_map(opening_faults).collect());
}

#[test]
fn comments_fit_the_columns() {
    let folders = ["src", "tests", "benches", "examples", "kernels"];
    let all = folders.iter().flat_map(|folder| sources(folder, &["rs", "cu", "cuh"]));
    assert_none(all.flat_map(|source| column_faults(&source)).collect());
}

#[test]
fn invented_words_do_not_come_back() {
    assert_none(sources("src", &["rs"]).iter().flat_map(word_faults).collect());
}

#[test]
fn traits_and_parameters_are_small() {
    let all = sources("src", &["rs"]);
    let is_counted = |source: &&Source| !source.path.starts_with("src/engine/simd");
    let large = |source: &Source| {
        let large = traits(source).into_iter().filter(|&(_, methods)| methods > TRAIT_METHODS);
        large.map(|(line, methods)| source.at(line, &format!("a trait of {methods} methods"))).collect::<Vec<_>>()
    };
    assert_none(all.iter().filter(is_counted).flat_map(large).collect());
    let tuples: usize = all.iter().map(tuple_parameters).sum();
    assert!(tuples <= TUPLE_PARAMETERS, "{tuples} parameters are tuples, {TUPLE_PARAMETERS} were reached before");
}

/// Tests that the checks of this module detect violations.
#[test]
fn checks_can_fail() {
    let faults = |text: &str| opening_faults(&Source::new("src/a.rs", text)).len();
    for leaning in ["/// They, with the work", "//! Of the couplings", "    /// the same again", "fn f();\n/// In nm"] {
        assert_eq!(faults(leaning), 1, "{leaning}");
    }
    for standing in ["/// Charges in e", "/// Length.\n/// It is in nm.", "// of a part", "/// [`X`] of it", "/// Ofen"]
    {
        assert_eq!(faults(standing), 0, "{standing}");
    }
    let long = |prefix: &str| column_faults(&Source::new("a.rs", &format!("{prefix}{}", "x".repeat(COLUMNS)))).len();
    assert_eq!([long("// "), long("    /// "), long("let "), long("/// a | ")], [1, 1, 0, 0]);
    assert_eq!(word_faults(&Source::new("a.rs", "struct Hub; // Hubble")).len(), 1);
    let text =
        "pub trait A: B {\n    /// x\n    fn a();\n    unsafe fn b() {\n        fn c() {}\n    }\n}\nfn d() {}\n";
    assert_eq!(traits(&Source::new("a.rs", text)), [(1, 2)]);
    let text =
        "fn f(a: (u8, f64), (b, c): (u8, u8), d: fn(u8) -> (), e: Vec<(u8, u8)>) -> (u8, u8) { g(|x: (u8, u8)| x) }";
    assert_eq!(tuple_parameters(&Source::new("a.rs", text)), 2);
}
