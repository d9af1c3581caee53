//! Graph of the dependencies between source files. File A depends on file B if the code of A names an item that B
//! defines; re-exports are followed to the definition. Files of a folder may depend on the `mod.rs` of the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Source;

/// Largest number of files in a dependency cycle. The files of a cycle must be in one folder.
const CIRCLE: usize = 3;
/// Keywords that precede the name of an item that a file defines.
const DEFINITIONS: [&str; 9] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "macro_rules"];

/// Path of a module below its crate, one name after the other.
type Module = Vec<String>;

/// A node of the graph: a file, with the items that the file defines and the items that its code names.
#[derive(Default)]
struct File {
    path: PathBuf,
    defined: BTreeSet<String>,
    /// path of a re-exported item, by the name under which it is exported; `*` for all items of a module
    exported: Vec<(String, Vec<String>)>,
    /// absolute paths of the items that the code names
    named: Vec<Vec<String>>,
}

/// Returns the forbidden dependency cycles of a package whose sources are below `root`: cycles of more than [`CIRCLE`]
/// files, or of files in several folders.
pub(crate) fn circle_faults(sources: &[Source], root: &str) -> Vec<String> {
    let files: BTreeMap<Module, &Source> =
        sources.iter().filter_map(|source| Some((module(&source.path, root)?, source))).collect();
    let files: BTreeMap<Module, File> =
        files.iter().map(|(module, source)| (module.clone(), read(module, source, &files))).collect();
    let mut uses: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (module, file) in &files {
        let used = file.named.iter().filter_map(|path| definition(&files, path, 0));
        uses.insert(module, used.filter(|other| !module.starts_with(other)).collect());
    }
    circles(&uses).into_iter().filter_map(|circle| fault(&circle, &files)).collect()
}

fn fault(circle: &[&Module], files: &BTreeMap<Module, File>) -> Option<String> {
    let paths: Vec<&Path> = circle.iter().map(|module| files[*module].path.as_path()).collect();
    let one_folder = paths.iter().all(|path| path.parent() == paths[0].parent());
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    (circle.len() > CIRCLE || !one_folder).then(|| format!("these files use each other: {}", names.join(", ")))
}

/// Returns the module of a file below `root`. Returns `None` for files of other packages below `src`.
fn module(path: &Path, root: &str) -> Option<Module> {
    let below = path.strip_prefix(root).ok()?.with_extension("");
    let mut names: Module = below.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if root == "src" && names.first().is_some_and(|name| name == "build" || name == "engine") {
        return None;
    }
    names.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    Some(names)
}

/// Reads the definitions, re-exports and paths of a file.
fn read(module: &Module, source: &Source, files: &BTreeMap<Module, &Source>) -> File {
    let code: Vec<String> = source.code().flat_map(|(_, line)| tokens(line)).collect();
    let mut file = File { path: source.path.clone(), ..File::default() };
    let mut at = 0;
    while at < code.len() {
        if DEFINITIONS.contains(&code[at].as_str()) {
            let name = code[at + 1..].iter().find(|token| is_name(token));
            file.defined.extend(name.cloned());
            at += 1;
        } else if code[at] == "use" {
            let public = code[..at].last().is_some_and(|before| before == "pub" || before == ")");
            let end = code[at..].iter().position(|token| token == ";").map_or(code.len(), |length| at + length);
            for path in tree(&code[at + 1..end]) {
                let (path, alias) = path;
                let Some(full) = absolute(&path, module, files) else { continue };
                match public {
                    true => file.exported.push((alias, full)),
                    false => file.named.push(full),
                }
            }
            at = end;
        } else if is_name(&code[at]) && code.get(at + 1).is_some_and(|next| next == "::") {
            let mut path = vec![code[at].clone()];
            while code.get(at + 1).is_some_and(|next| next == "::")
                && code.get(at + 2).is_some_and(|name| is_name(name))
            {
                path.push(code[at + 2].clone());
                at += 2;
            }
            file.named.extend(absolute(&path, module, files));
            at += 1;
        } else {
            at += 1;
        }
    }
    file
}

/// Splits a line of code, without strings, into names, `::` and other characters.
fn tokens(line: &str) -> Vec<String> {
    let (mut found, mut rest) = (vec![], line);
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if first == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            rest = &rest[end..];
            continue;
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            found.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the paths of a `use` declaration, each with the name under which it imports an item.
fn tree(code: &[String]) -> Vec<(Vec<String>, String)> {
    let (mut found, mut prefixes, mut path): (Vec<_>, Vec<Vec<String>>, Vec<String>) = (vec![], vec![], vec![]);
    let mut alias: Option<String> = None;
    let mut end = |path: &mut Vec<String>, alias: &mut Option<String>, prefix: Option<&Vec<String>>| {
        if path.len() > prefix.map_or(0, Vec::len) {
            let name = alias.take().unwrap_or_else(|| path[path.len() - 1].clone());
            found.push((path.clone(), name));
        }
        *path = prefix.cloned().unwrap_or_default();
    };
    let mut tokens = code.iter();
    while let Some(token) = tokens.next() {
        match token.as_str() {
            "{" => prefixes.push(path.clone()),
            "}" => {
                end(&mut path, &mut alias, prefixes.last());
                prefixes.pop();
                path = prefixes.last().cloned().unwrap_or_default();
            }
            "," => end(&mut path, &mut alias, prefixes.last()),
            "as" => alias = tokens.next().cloned(),
            "*" => path.push("*".to_owned()),
            name if is_name(name) => path.push(name.to_owned()),
            _ => {}
        }
    }
    end(&mut path, &mut alias, None);
    found
}

/// Returns the path from the root of the crate; `None` for an item of another crate or of the file itself.
fn absolute(path: &[String], module: &Module, files: &BTreeMap<Module, &Source>) -> Option<Vec<String>> {
    let (mut base, mut rest) = (module.clone(), path);
    match path[0].as_str() {
        "crate" => (base, rest) = (vec![], &path[1..]),
        "self" | "super" => {
            while let Some(first) = rest.first().filter(|name| *name == "self" || *name == "super") {
                if first == "super" {
                    base.pop();
                }
                rest = &rest[1..];
            }
        }
        child => {
            let folder = [module.as_slice(), &[child.to_owned()]].concat();
            files.contains_key(&folder).then_some(())?;
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// Returns the file that defines the item of a path.
fn definition<'f>(files: &'f BTreeMap<Module, File>, path: &[String], depth: usize) -> Option<&'f Module> {
    let length = (1..=path.len()).rev().find(|&length| files.contains_key(&path[..length]))?;
    let (module, file) = files.get_key_value(&path[..length])?;
    let Some(name) = path.get(length).filter(|name| !file.defined.contains(*name) && depth < 8) else {
        return Some(module);
    };
    let follow = |full: &[String], rest: &[String]| definition(files, &[full, rest].concat(), depth + 1);
    if let Some((_, full)) = file.exported.iter().find(|(exported, _)| exported == name) {
        return follow(full, &path[length + 1..]);
    }
    let all = file.exported.iter().filter(|(exported, _)| exported == "*");
    let found = all
        .filter_map(|(_, full)| follow(&full[..full.len() - 1], &[]))
        .find(|other| files[*other].defined.contains(name));
    Some(found.unwrap_or(module))
}

/// Returns the sets of modules that depend on each other.
fn circles<'m>(uses: &BTreeMap<&'m Module, BTreeSet<&'m Module>>) -> Vec<Vec<&'m Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = uses.keys().map(|&start| (start, reach(uses, start))).collect();
    let (mut found, mut seen) = (vec![], BTreeSet::new());
    for (&start, others) in &reached {
        let circle: Vec<&Module> = others.iter().copied().filter(|other| reached[other].contains(start)).collect();
        if circle.len() > 1 && seen.insert(circle.clone()) {
            found.push(circle);
        }
    }
    found
}

fn reach<'m>(uses: &BTreeMap<&'m Module, BTreeSet<&'m Module>>, start: &'m Module) -> BTreeSet<&'m Module> {
    let (mut found, mut pending) = (BTreeSet::new(), vec![start]);
    while let Some(module) = pending.pop() {
        pending.extend(uses[module].iter().copied().filter(|&other| found.insert(other)));
    }
    found
}

/// Tests that the checks of this module find dependency cycles through re-exports, and accept allowed cycles.
#[test]
fn circles_are_seen_through_re_exports() {
    let sources = |back: &str| {
        [
            Source::new("src/a/mod.rs", "mod x;\npub use x::{X, Y as Z};\npub struct Common;"),
            Source::new("src/a/x.rs", "use super::Common;\nuse crate::b::{self, B};\npub struct X;\npub fn Y() {}"),
            Source::new("src/b.rs", back),
        ]
    };
    assert!(circle_faults(&sources("pub struct B(u8); // crate::a::X"), "src").is_empty());
    for back in ["use crate::a::X;", "fn f() { crate::a::Z(); }", "use crate::{c, a::{X}};", "use super::a::x::*;"] {
        let faults = circle_faults(&sources(&format!("{back}\npub struct B;")), "src");
        assert_eq!(faults, ["these files use each other: src/a/x.rs, src/b.rs"], "{back}");
    }
    // a cycle of three files in one folder is allowed, one of four is not
    let ring = |count: usize| -> Vec<Source> {
        let file = |i: usize| {
            Source::new(&format!("src/r{i}.rs"), &format!("use crate::r{}::R;\npub struct R;", (i + 1) % count))
        };
        (0..count).map(file).collect()
    };
    assert!(circle_faults(&ring(3), "src").is_empty() && circle_faults(&ring(4), "src").len() == 1);
}
