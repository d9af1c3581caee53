//! Translation of the restraints of `nmropt = 1`. The file that `DISANG` names has a namelist `&rst` for each
//! restraint.
//!
//! A namelist `&rst` inherits all settings of the previous `&rst` except atoms, r0 and k0. A `&rst` without atoms ends
//! the list of restraints.

use std::collections::BTreeMap;

use super::distances::Distances;
use super::{Draft, namelist, shortened};
use crate::error::Problem;
use crate::format::file;
use crate::import::settings::{Entry, real, words};
use crate::run::Interval;

/// Largest DISANG file in bytes, enough for a refinement with thousands of restraints.
const LARGEST_FILE: u64 = 1 << 24;
/// Largest number of restraints of a stage.
const MOST_RESTRAINTS: usize = 1000;
/// Largest number of groups of atoms in a restraint.
const MOST_GROUPS: usize = 8;

/// Settings that have no equivalent in `md`, each with the values for which the setting has no effect.
const ABSENT: [(&str, &[f64]); 10] = [
    ("nstep1", &[0.0]),
    ("nstep2", &[0.0]),
    ("irstyp", &[0.0]),
    ("ifvari", &[0.0]),
    ("ialtd", &[0.0]),
    ("iresid", &[0.0]),
    ("ir6", &[0.0]),
    ("rjcoef", &[0.0, 0.0, 0.0]),
    ("rstwt", &[0.0, 0.0, 0.0, 0.0]),
    ("fxyz", &[1.0, 1.0, 1.0]),
];
/// Settings without effect in `md`. A setting of this list modifies only settings that have no equivalent ([`ABSENT`]),
/// or does not influence a restraint.
const NO_EFFECT: [&str; 12] =
    ["ifntyp", "ixpk", "nxpk", "outxyz", "ninc", "imult", "r1a", "r2a", "r3a", "r4a", "rk2a", "rk3a"];
/// First letters of the types of `&wt` namelists that scale restraints.
const WEIGHTS: [&str; 6] = ["rest", "all", "disav", "angav", "torav", "nstep0"];

/// Whether the namelists of restraints, weights and ramps are read. With jar = 1, sander and pmemd set nmropt = 1.
pub(super) fn are_on(draft: &mut Draft<'_>) -> bool {
    draft.whole("nmropt") != 0 || draft.whole("jar") != 0
}

/// Translates the restraints. `is_ramped` tells whether the ramp of the temperature is translated.
pub(super) fn translate(draft: &mut Draft<'_>, is_ramped: bool) {
    let is_on = are_on(draft);
    let mut rows = None;
    let mut weighed = false;
    for entry in draft.others() {
        let (differs, text) = match kind_of(entry) {
            Other::Restraints(_) | Other::Weight | Other::Ramp if !is_on => {
                (false, "the entry has no effect, because nmropt is off")
            }
            Other::Restraints(_) => continue,
            Other::Rows(steps) => {
                rows = steps;
                (false, "output.restraints sets the interval")
            }
            Other::Weight => {
                weighed = true;
                (true, "md has no varying weights of restraints")
            }
            Other::Ramp if is_ramped => (false, "the ramp is translated to thermostat.temperature"),
            Other::Ramp => (
                true,
                "write the ramp as a list of times and values in thermostat.temperature, [[\"0 ps\", \"100 K\"], [\"50 \
                 ps\", \"300 K\"]]",
            ),
            Other::Names => (false, "md does not write the file that the entry names"),
            Other::End => (false, "end of the list"),
            Other::Unknown => (true, "md has no counterpart for this namelist or card"),
        };
        draft.other(entry, differs, text);
    }
    for entry in draft.others().iter().filter(|_| is_on) {
        let Other::Restraints(name) = kind_of(entry) else { continue };
        let path = draft.path().with_file_name(name);
        let left = match read(draft, &path, weighed) {
            Ok(left) => left,
            Err(problem) => {
                draft.fault(problem.in_file(&path));
                continue;
            }
        };
        match left.is_empty() {
            true => draft.other(entry, false, "the namelist is translated to restraints of the stage"),
            false => draft.other(entry, true, &left.join("; ")),
        }
    }
    if draft.restraints.is_empty() {
        draft.no_use("nmropt", "see the remarks on the restraint and weight namelists");
        return;
    }
    draft.carried_as("stage.restraints", &["nmropt"], "restraints of DISANG");
    if let Some(steps) = rows {
        draft.plan.output.restraints = Some(Interval::Steps(steps));
    }
}

/// Entry outside the namelists `&cntrl` and `&ewald`.
enum Other<'a> {
    /// name of the restraint file
    Restraints(&'a str),
    /// number of steps between rows of restraint values
    Rows(Option<u64>),
    Weight,
    /// ramp of the temperature during the run
    Ramp,
    Names,
    End,
    Unknown,
}

/// Returns the entries of the ramp of the temperature: the numbers of the first and the last step of each part, and the
/// temperatures (K) there; `None` if an entry has other settings.
pub(super) fn ramps(entries: &[Entry]) -> Option<Vec<[f64; 4]>> {
    let ramps = entries.iter().filter(|entry| matches!(kind_of(entry), Other::Ramp));
    let numbers = |entry: &Entry| {
        let text = entry.value.to_ascii_lowercase();
        let mut values = [0.0; 4];
        for (name, value) in text.split(", ").filter_map(|one| one.split_once(" = ")) {
            match ["istep1", "istep2", "value1", "value2"].iter().position(|known| *known == name) {
                Some(index) => values[index] = real(value)?,
                None if name == "type" || real(value) == Some(0.0) => {}
                None => return None,
            }
        }
        Some(values)
    };
    ramps.map(numbers).collect()
}

fn kind_of(entry: &Entry) -> Other<'_> {
    if entry.name == "&wt" {
        let text = entry.value.to_ascii_lowercase();
        let value = |name: &str| text.split(", ").find_map(|one| one.strip_prefix(name)?.strip_prefix(" = "));
        return match value("type").unwrap_or_default() {
            "end" => Other::End,
            "temp0" => Other::Ramp,
            "dumpfreq" => Other::Rows(value("istep1").and_then(|steps| steps.parse().ok()).filter(|&steps| steps > 0)),
            kind if WEIGHTS.iter().any(|weight| kind.starts_with(weight)) => Other::Weight,
            _ => Other::Unknown,
        };
    }
    match entry.value.split_once('=').map(|(name, file)| (name.trim().to_ascii_uppercase(), file.trim())) {
        Some((name, file)) if name == "DISANG" && !file.is_empty() => Other::Restraints(file),
        Some((name, _)) if ["LISTIN", "LISTOUT", "DUMPAVE"].contains(&name.as_str()) => Other::Names,
        _ => Other::Unknown,
    }
}

/// Adds the restraints of the DISANG file at `path` to the stage. Returns the restraints that are left out, with the
/// reasons.
fn read(draft: &mut Draft<'_>, path: &std::path::Path, weighed: bool) -> Result<Vec<String>, Problem> {
    let bytes = file::read(path, LARGEST_FILE).map_err(|error| {
        Problem::new(format!("cannot read the file: {error}"))
            .help("DISANG names the file, relative to the folder of the mdin file")
    })?;
    let found = namelist::read(&String::from_utf8_lossy(&bytes))?;
    let (mut kept, mut left) = (BTreeMap::new(), vec![]);
    for list in found.lists.iter().filter(|list| list.name == "rst") {
        let restraint = one(&mut kept, &list.entries);
        let Some(restraint) = restraint.transpose() else { break };
        let restraints = match restraint.and_then(|distances| distances.restraints()) {
            Ok(_) if weighed => Err("the weight changes with time".to_owned()),
            Ok(_) if draft.restraints.len() >= MOST_RESTRAINTS => Err("there are too many restraints".to_owned()),
            other => other,
        };
        match restraints {
            Ok(restraints) => draft.restraints.extend(restraints),
            Err(why) => left.push(format!("&rst in line {}: {why}", list.line)),
        }
    }
    Ok(left)
}

/// Settings that the next `&rst` inherits: name in lower case, and numbers.
type Kept = BTreeMap<String, Vec<f64>>;

/// Reads a `&rst` namelist; `None` if the namelist has no atoms.
fn one(kept: &mut Kept, entries: &[Entry]) -> Result<Option<Distances>, String> {
    kept.retain(|name, _| !["iat", "igr", "r0", "k0"].iter().any(|start| name.starts_with(start)));
    let mut unknown = None;
    for Entry { name, value, .. } in entries {
        let name = name.to_ascii_lowercase();
        match words(value).map(real).collect::<Option<Vec<f64>>>() {
            Some(numbers) if is_known(&name) => _ = kept.insert(name, numbers),
            _ => unknown = unknown.or(Some(name)),
        }
    }
    let iat = list(kept, "iat");
    let count = iat.iter().position(|atom| *atom == 0.0).unwrap_or(iat.len());
    if count == 0 && unknown.is_none() {
        return Ok(None);
    }
    if let Some(name) = unknown {
        return Err(format!("md does not translate {}", shortened(&name)));
    }
    let off = |(name, off): &(&str, &[f64])| kept.get(*name).is_some_and(|value| !off.starts_with(value));
    let has_groups = iat.iter().any(|atom| *atom < 0.0);
    let absent = ABSENT.iter().filter(|(name, _)| *name != "ir6" || (has_groups && count == 2));
    if let Some((name, _)) = absent.copied().find(|entry| off(entry)) {
        return Err(format!("md does not translate {name}"));
    }
    let groups = (1..).zip(&iat[..count]).map(|(number, atom)| match *atom {
        atom if atom < 0.0 => atoms(&list(kept, &format!("igr{number}"))),
        atom => atoms(&[atom]),
    });
    let groups = groups.collect::<Option<Vec<_>>>().ok_or("iat or igr contains no atom numbers")?;
    let value = |name: &str| kept.get(name).and_then(|values| values.first()).copied();
    let (mut r, mut k) = (["r1", "r2", "r3", "r4"].map(value), ["rk2", "rk3"].map(value));
    if value("r0").is_some() || value("k0").is_some() {
        let r0 = value("r0").unwrap_or(0.0);
        r = match count {
            2 => [0.0, r0, r0, r0 + 500.0],
            3 => [0.0, r0, r0, 180.0],
            _ => [r0 - 180.0, r0, r0, r0 + 180.0],
        }
        .map(Some);
        k = [value("k0").or(Some(0.0)); 2];
        for (name, value) in ["r1", "r2", "r3", "r4", "rk2", "rk3"].into_iter().zip(r.into_iter().chain(k)) {
            kept.insert(name.to_owned(), value.into_iter().collect());
        }
    }
    Ok(Some(Distances { groups, r: r.map(|r| r.unwrap_or(0.0)), k: k.map(|k| k.unwrap_or(0.0)) }))
}

fn is_known(name: &str) -> bool {
    let plain = name.split('(').next().unwrap_or_default();
    let numbers = ["r1", "r2", "r3", "r4", "rk2", "rk3", "r0", "k0", "iat"];
    let is_group =
        plain.strip_prefix("igr").is_some_and(|number| number.parse().is_ok_and(|n| (1..=MOST_GROUPS).contains(&n)));
    numbers.contains(&name)
        || ABSENT.iter().any(|(known, _)| *known == name)
        || NO_EFFECT.contains(&plain)
        || plain == "iat"
        || is_group
}

/// Returns the values of an array that is set as a whole, `iat = 1, 2`, or element by element, `iat(1) = 1`. Elements
/// that are not set are zero.
fn list(kept: &Kept, name: &str) -> Vec<f64> {
    /// Largest number of atoms of a group in AMBER.
    const LONGEST: usize = 200;
    let mut values = kept.get(name).cloned().unwrap_or_default();
    let elements = kept.iter().filter_map(|(key, value)| {
        let index = key.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
        Some((index.trim().parse::<usize>().ok().filter(|index| (1..=LONGEST).contains(index))?, value))
    });
    for (index, numbers) in elements {
        let end = index - 1 + numbers.len();
        values.resize(values.len().max(end), 0.0);
        values[index - 1..end].copy_from_slice(numbers);
    }
    values
}

/// Returns the atom numbers before the first zero; `None` if a value is not an atom number.
fn atoms(numbers: &[f64]) -> Option<Vec<u32>> {
    let numbers = numbers.iter().take_while(|number| **number != 0.0);
    numbers
        .map(|&number| {
            (number > 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
        })
        .collect()
}
