//! Translation of AMBER's masks to selections.
//!
//! A mask combines lists of residues (`:1-10,WAT`) and of atoms (`@CA,C` or `@%CT`) with `!`, `&`, `|` and parentheses.
//! Numbers of residues count from 1 in the order of the topology, and numbers of atoms from 1. In a name, `*` and `=`
//! stand for any characters, and `?` for one character.

use std::iter::Peekable;
use std::str::Chars;

use crate::import::atoms::indices;
use crate::system::Topology;

/// Returns the selection that a mask means. Residues are selected by number if the residues of the topology are
/// numbered from 1 without gaps, or if the topology is unknown, and otherwise by the indices of their atoms. The error
/// is the reason why the mask cannot be translated.
pub(super) fn selection(mask: &str, topology: Option<&Topology>) -> Result<String, String> {
    let mut reader = Reader { rest: mask.chars().peekable(), topology };
    let found = reader.alternatives()?;
    match reader.next() {
        None => Ok(found),
        Some(other) => Err(format!("\"{other}\" is not expected there")),
    }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    topology: Option<&'a Topology>,
}

impl Reader<'_> {
    /// Returns the next character that is no blank, and leaves it in place.
    fn next(&mut self) -> Option<char> {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
        self.rest.peek().copied()
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.next() == Some(wanted) && self.rest.next().is_some()
    }

    fn alternatives(&mut self) -> Result<String, String> {
        let mut all = vec![self.conjunction()?];
        while self.takes('|') {
            all.push(self.conjunction()?);
        }
        Ok(all.join(" or "))
    }

    fn conjunction(&mut self) -> Result<String, String> {
        let mut all = vec![self.term()?];
        while self.takes('&') {
            all.push(self.term()?);
        }
        Ok(all.join(" and "))
    }

    fn term(&mut self) -> Result<String, String> {
        if self.takes('!') {
            let inside = self.term()?;
            let is_single = [" and ", " or "].iter().all(|operator| !inside.contains(operator));
            return Ok(if is_single { format!("not {inside}") } else { format!("not ({inside})") });
        }
        if self.takes('(') {
            let inside = self.alternatives()?;
            return if self.takes(')') {
                Ok(format!("({inside})"))
            } else {
                Err("a parenthesis is not closed".to_owned())
            };
        }
        if self.takes('*') {
            return Ok("all".to_owned());
        }
        let mut all = vec![];
        while let Some(kind) = self.rest.next_if(|c| [':', '@'].contains(c)) {
            let list = self.list();
            if list.starts_with([':', '<', '>', ';', '/']) && kind == ':' || list.contains(['<', '>']) {
                return Err(format!("{kind}{list} has no counterpart in md"));
            }
            all.push(if kind == ':' { self.residues(&list)? } else { atoms(&list)? });
        }
        match all.is_empty() {
            true => Err("expected \":\" and residues, or \"@\" and atoms".to_owned()),
            false => Ok(all.join(" and ")),
        }
    }

    /// Returns the characters of a list of residues or atoms.
    fn list(&mut self) -> String {
        let mut list = String::new();
        while let Some(c) = self.rest.next_if(|c| !c.is_whitespace() && !"&|!():@".contains(*c)) {
            list.push(c);
        }
        list
    }

    fn residues(&self, list: &str) -> Result<String, String> {
        let parts = Parts::of(list)?;
        let mut all = vec![];
        if !parts.ranges.is_empty() {
            let is_counted =
                |topology: &Topology| topology.residues.iter().zip(1..).all(|(r, number)| r.number == number);
            all.push(match self.topology.filter(|topology| !is_counted(topology)) {
                None => format!("resid {}", spelled(&parts.ranges)),
                Some(topology) => {
                    let count = topology.residues.len();
                    let residues = parts.ranges.iter().flat_map(|&[first, last]| first..=last.min(count));
                    let atoms = residues.flat_map(|number| topology.residue_atoms(number - 1));
                    let atoms: Vec<u32> = atoms.map(|atom| atom as u32 + 1).collect();
                    indices(&atoms).ok_or("the residues have no atoms, or too many ranges of atoms")?
                }
            });
        }
        if !parts.names.is_empty() {
            all.push(format!("resname {}", parts.names.join(" ")));
        }
        Ok(bracketed(all))
    }
}

fn atoms(list: &str) -> Result<String, String> {
    let mut all = vec![];
    for (mark, keyword) in [("%", "type"), ("/", "element"), ("", "name")] {
        let own: Vec<&str> = list
            .split(',')
            .filter(|item| match mark {
                "" => !item.starts_with(['%', '/']),
                mark => item.starts_with(mark),
            })
            .map(|item| &item[mark.len()..])
            .collect();
        if own.is_empty() {
            continue;
        }
        let parts = Parts::of(&own.join(","))?;
        if mark.is_empty() && !parts.ranges.is_empty() {
            let zero_based: Vec<[usize; 2]> = parts.ranges.iter().map(|range| range.map(|number| number - 1)).collect();
            all.push(format!("index {}", spelled(&zero_based)));
        } else if !parts.ranges.is_empty() {
            return Err(format!("{mark} needs names"));
        }
        if !parts.names.is_empty() {
            all.push(format!("{keyword} {}", parts.names.join(" ")));
        }
    }
    Ok(bracketed(all))
}

/// Items of a list.
#[derive(Default)]
struct Parts {
    /// first and last number of each range
    ranges: Vec<[usize; 2]>,
    names: Vec<String>,
}

impl Parts {
    fn of(list: &str) -> Result<Self, String> {
        let mut parts = Parts::default();
        for item in list.split(',') {
            let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
            let range = item.split_once('-').unwrap_or((item, item));
            match (number(range.0), number(range.1)) {
                (Some(first), Some(last)) if first <= last => parts.ranges.push([first, last]),
                (Some(_), Some(_)) => return Err(format!("the range {item} is empty")),
                (Some(_), None) => return Err(format!("{item} is not a range")),
                _ if item.is_empty() => return Err("an item of a list is missing".to_owned()),
                _ => parts.names.push(name(item)?),
            }
        }
        Ok(parts)
    }
}

/// Returns a name in the language of selections.
fn name(item: &str) -> Result<String, String> {
    if !item.chars().all(|c| c.is_ascii_alphanumeric() || "*=?+-'_".contains(c)) {
        return Err(format!("\"{item}\" is not a name"));
    }
    let pattern = item.replace('=', "*");
    let is_plain = pattern.chars().all(|c| c.is_ascii_alphanumeric() || "*?_".contains(c));
    Ok(if is_plain { pattern } else { format!("\"{pattern}\"") })
}

fn spelled(ranges: &[[usize; 2]]) -> String {
    let words = ranges.iter().map(|&[first, last]| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Joins selections by "or", in parentheses if there are several.
fn bracketed(all: Vec<String>) -> String {
    if all.len() > 1 { format!("({})", all.join(" or ")) } else { all.concat() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
mod tests {
    use super::*;
    use crate::system::{Atom, Name, Residue};

    #[test]
    fn masks_are_selections() {
        for (mask, expected) in [
            (":1-10,12", "resid 1-10 12"),
            (":WAT,Na+", "resname WAT \"Na+\""),
            (":1-3,WAT@CA,C,N", "(resid 1-3 or resname WAT) and name CA C N"),
            ("!:WAT", "not resname WAT"),
            ("!:1-3@CA", "not (resid 1-3 and name CA)"),
            ("!(:1|:3)", "not ((resid 1 or resid 3))"),
            (":1-10 & !@H=", "resid 1-10 and not name H*"),
            ("(:1-5 | :LIG) & @CA", "(resid 1-5 or resname LIG) and name CA"),
            ("@1-3,7", "index 0-2 6"),
            ("@%CT,%HC", "type CT HC"),
            ("@/C", "element C"),
            ("@O5',C?", "name \"O5'\" C?"),
            ("*", "all"),
            (":1-2|@CA&!:3", "resid 1-2 or name CA and not resid 3"),
        ] {
            assert_eq!(selection(mask, None).as_deref(), Ok(expected), "{mask}");
        }
        for mask in ["", ":1-", "(:1", ":5-3", ":1-3<:5.0", "::A", "CA", "@CA)", ":1,,2", "@%1"] {
            assert!(selection(mask, None).is_err(), "{mask}: {:?}", selection(mask, None));
        }
    }

    /// Residues are counted in the order of the topology, whatever their numbers are.
    #[test]
    fn residues_are_counted() {
        let atom = |residue| Atom {
            name: Name::new("C"),
            type_name: Name::default(),
            element: 6,
            mass: 12.0,
            charge: 0.0,
            lj_type: 0,
            residue,
        };
        let numbered = |numbers: [i32; 2]| Topology {
            atoms: [0, 0, 1].map(atom).to_vec(),
            residues: [0, 1]
                .map(|k| Residue { name: Name::new("A"), number: numbers[k], first: 2 * k as u32 })
                .to_vec(),
            ..Topology::default()
        };
        assert_eq!(selection(":2", Some(&numbered([1, 2]))).unwrap(), "resid 2");
        assert_eq!(selection(":2,1", Some(&numbered([16, 17]))).unwrap(), "index 0-2");
        assert_eq!(selection(":2-99999999999999", Some(&numbered([16, 17]))).unwrap(), "index 2");
        assert!(selection(":3", Some(&numbered([16, 17]))).is_err());
    }
}
