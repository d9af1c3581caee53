//! Scripts of force-field files. In OpenMM, the Python code in `<Script>` runs after the terms of a system are made.
//!
//! md runs no Python code. Three scripts are supported: impropers of CHARMM by atom names of residues ([`charmm`]), and
//! 1-4 scale factors of AMBER and of GLYCAM by atom types ([`scaling14`]). The SHA-256 digest of the text without the
//! tables identifies a script. The tables are read from the file, and the procedures of the scripts are part of md. Any
//! other script is refused.

pub(super) mod charmm;
mod literal;
pub(super) mod scaling14;

use std::collections::HashMap;

use md_engine::format::xml::Node;
use sha2::{Digest, Sha256};

use super::Parsed;
use charmm::CharmmImpropers;
use literal::Literal;
use scaling14::Scaling14;

/// SHA-256 digest of the script that adds CHARMM's impropers in OpenMM 8.4 to 8.6.
const CHARMM: &str = "36216d5b86708dfe5865591b27acc2bc7b312b4b61885d25df6d284a520e330e";
/// SHA-256 digest of the script that scales AMBER's 1-4 pairs in OpenMM 8.4 to 8.6.
const SCALING14: &str = "ec236528663129053b5e4b713b1766170b93977d9441ab37abba15cb2e28ffcb";

/// SHA-256 digest of the script with the unscaled 1-4 pairs of GLYCAM in OpenMM 8.4 to 8.6.
const UNSCALED14: &str = "c3d36f62549d3bd2d862803d857d0333a56869a4718681f2e7b09f0898572ac2";

/// A supported script of a force-field file, with its tables.
#[derive(Clone, Debug)]
pub(super) enum Script {
    Charmm(Box<CharmmImpropers>),
    Scaling14(Scaling14),
}

/// Tables of a script by their names. The items of a set have the value `None`.
type Tables = HashMap<String, Vec<(Literal, Literal)>>;

/// Reads an element `<Script>`.
pub(super) fn read(node: &Node<'_>) -> Parsed<Script> {
    let unknown = || {
        let problem = node.problem("the script contains Python code that md does not know");
        problem.help(
            "md supports only the scripts of charmm36_2024.xml, lipid21.xml and GLYCAM_06j-1.xml of OpenMM; use another \
             force field",
        )
    };
    let (tables, procedure) = split(node.content()).ok_or_else(unknown)?;
    let digest: String = Sha256::digest(procedure.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let script = match digest.as_str() {
        CHARMM => CharmmImpropers::read(&tables).map(|found| Script::Charmm(Box::new(found))),
        SCALING14 => Scaling14::read(&tables).map(Script::Scaling14),
        UNSCALED14 => Scaling14::unscaled(&tables).map(Script::Scaling14),
        _ => return Err(unknown()),
    };
    script.ok_or_else(|| node.problem("a table of the script does not have the expected form"))
}

/// Splits a script into its tables and its other lines. A table is a dictionary that begins with a line `name = {`, or
/// a set that begins with `name = set(`. The other lines include a line with the name of each table. Empty lines are
/// left out, and so are blanks at the ends of lines.
fn split(script: &str) -> Option<(Tables, String)> {
    let (mut tables, mut lines, mut rest) = (Tables::new(), vec![], script);
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let [dictionary, set] = [" = {", " = set(["].map(|sign| line.find(sign).filter(|_| !line.starts_with(' ')));
        if let Some(length) = dictionary.filter(|_| line.ends_with('{')).or(set) {
            let name = &line[..length];
            let start = length + if set.is_some() { " = set(".len() } else { " = ".len() };
            let (found, after) = literal::read(&rest[start..])?;
            let items = match set {
                Some(_) => found.tuple()?.iter().map(|item| (item.clone(), Literal::None)).collect(),
                None => found.dictionary()?.to_vec(),
            };
            tables.insert(name.to_owned(), items);
            lines.push(name);
            let after = if set.is_some() { after.strip_prefix(')')? } else { after };
            rest = after.strip_prefix('\n').unwrap_or(after);
        } else {
            let line = line.trim_end();
            lines.extend((!line.is_empty()).then_some(line));
            rest = after;
        }
    }
    Some((tables, lines.join("\n")))
}

/// Converts the items of a table to a map.
fn map<K: std::hash::Hash + Eq, V>(
    tables: &Tables,
    name: &str,
    item: impl Fn(&Literal, &Literal) -> Option<(K, V)>,
) -> Option<HashMap<K, V>> {
    tables.get(name)?.iter().map(|(key, value)| item(key, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_separated_from_the_procedure() {
        let (tables, procedure) =
            split("import a\n\nt = {\n  'x': 1,\n}\nu = {\n}\nfor i in t:  \n    v = {}\n").unwrap();
        assert_eq!(procedure, "import a\nt\nu\nfor i in t:\n    v = {}");
        assert_eq!(tables["t"], [(Literal::Text("x".into()), Literal::Number(1.0))]);
        assert!(tables["u"].is_empty());
        let (tables, procedure) = split("s = set([('a', 'b'),\n  ('c', 'd')])\n\nif s:\n  x = set()\n").unwrap();
        assert_eq!((tables["s"].len(), procedure.as_str()), (2, "s\nif s:\n  x = set()"));
        assert!(split("t = {\n  open('x')\n}\n").is_none());
    }
}
