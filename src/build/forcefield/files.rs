//! Reads the files of a force field, and the files that they include.

use std::path::{Path, PathBuf};

use md_engine::error::{Problem, Result};
use md_engine::format::xml::{Document, Node};

use super::builtin;

/// Largest number of files of a force field, including included files.
const MOST_FILES: usize = 64;

/// A file and its text.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// Reads files and the files that they include. A name is the path of a file. If no file has this path, the name is
/// that of a built-in file. The name in an `<Include>` is relative to the folder of the file that includes it.
pub(super) fn read(names: &[PathBuf]) -> Result<Vec<File>> {
    let mut pending: Vec<PathBuf> = names.to_vec();
    let mut files: Vec<File> = vec![];
    let mut next = 0;
    while next < pending.len() {
        let path = pending[next].clone();
        next += 1;
        if next > MOST_FILES {
            let problem = Problem::new(format!("the force field has more than {MOST_FILES} files")).in_file(&path);
            return Err(problem.help("join some of the files").into());
        }
        let bytes = contents(&path)?;
        for name in includes(&path, &bytes)? {
            let beside = path.with_file_name(&name);
            let known = |file: &PathBuf| file.exists() || builtin::is_known(file);
            let included = if known(&beside) { beside } else { PathBuf::from(&name) };
            if !pending.contains(&included) {
                pending.push(included);
            }
        }
        files.push(File { path, bytes });
    }
    Ok(files)
}

fn contents(path: &Path) -> Result<Vec<u8>> {
    if path.exists() {
        return md_engine::format::read(path);
    }
    match builtin::read(path)? {
        Some(bytes) => Ok(bytes),
        None => {
            let known: Vec<&str> = builtin::names().collect();
            let problem = Problem::new(format!("no file and no force field of md is named {}", path.display()));
            Err(problem.help(format!("force fields of md are {}", known.join(", "))).into())
        }
    }
}

/// Returns the names in the elements `<Include>` of a file.
fn includes(path: &Path, bytes: &[u8]) -> std::result::Result<Vec<String>, Problem> {
    let document = Document::parse(path, bytes)?;
    let root = document.root();
    check_root(&root)?;
    let included = root.children().filter(|node| node.name() == "Include");
    included.map(|node| node.text("file").map(str::to_owned)).collect()
}

/// Fails if the root element is not `<ForceField>`.
fn check_root(root: &Node<'_>) -> std::result::Result<(), Problem> {
    match root.name() {
        "ForceField" => Ok(()),
        "System" => {
            let problem = root.problem("the file is a serialized system of OpenMM, not a force field");
            Err(problem.help("md run reads serialized systems, but md build needs a force-field file"))
        }
        _ => Err(root.problem("expected a <ForceField> of OpenMM")),
    }
}
