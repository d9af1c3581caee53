//! `END` records of PDB files that have no `MODEL` records.
//!
//! Some programs write an `END` record after each model, and others after each part of a structure. Chain, residue
//! number, insertion code and name of the atoms after the record tell the two apart: another model repeats those of the
//! atoms before the record, and another part repeats none.

use std::collections::HashSet;

use md_engine::error::Problem;
use md_engine::format::pdb::lines::{AtomLine, record};

/// Identification of an atom in a file: chain or segment; chain, number and insertion code of the residue; atom name.
type Key<'a> = (&'a str, &'a [u8], &'a str);

/// Returns the lines (from 1, in ascending order) of the `END` records after which the same model continues. Fails if
/// the atoms after an `END` record are neither another model nor another part of the model.
pub(super) fn joints(bytes: &[u8]) -> Result<Vec<usize>, Problem> {
    let lines = || bytes.split(|&byte| byte == b'\n').map(record);
    let is_atom = |name: &[u8; 6]| matches!(name, b"ATOM  " | b"HETATM");
    let is_of_model = |name: &[u8; 6]| matches!(name, b"MODEL " | b"ENDMDL");
    let has_atoms_after_end = lines().skip_while(|(name, _)| name != b"END   ").any(|(name, _)| is_atom(&name));
    if !has_atoms_after_end || lines().any(|(name, _)| is_of_model(&name)) {
        return Ok(vec![]);
    }
    let mut parts = Parts::default();
    for (index, (name, line)) in lines().enumerate() {
        if is_atom(&name) {
            parts.part.insert(key(line));
        } else if &name == b"END   " {
            parts.close()?;
            parts.ends.push(index + 1);
        }
    }
    parts.close()?;
    Ok(parts.joints)
}

fn key(line: &[u8]) -> Key<'_> {
    let atom = AtomLine::new(line);
    let chain = if atom.chain().is_empty() { atom.segment() } else { atom.chain() };
    (chain, atom.residue(), atom.name())
}

/// Parts of a file that `END` records separate.
#[derive(Default)]
struct Parts<'a> {
    /// atoms of the first model
    model: HashSet<Key<'a>>,
    /// whether another model has followed
    has_models: bool,
    /// atoms of the current part
    part: HashSet<Key<'a>>,
    /// lines of the END records directly before the current part
    ends: Vec<usize>,
    /// lines of the END records after which the first model continues
    joints: Vec<usize>,
}

impl Parts<'_> {
    /// Ends the current part, unless it has no atoms.
    fn close(&mut self) -> Result<(), Problem> {
        if self.part.is_empty() {
            return Ok(());
        }
        let repeated = self.part.iter().filter(|atom| self.model.contains(*atom)).count();
        let is_new = repeated == 0 && !self.has_models;
        if is_new && !self.model.is_empty() {
            self.joints.append(&mut self.ends);
        }
        if is_new {
            self.model.extend(self.part.drain());
        } else if repeated == self.part.len() {
            self.has_models = true;
        } else {
            let message = format!(
                "{repeated} of the {} atoms after this END record have the chains, residue numbers and names of \
                 earlier atoms, and the others do not",
                self.part.len()
            );
            let problem = Problem::new(message).help(
                "put MODEL and ENDMDL records around models; if the file joins structures, give their chains different \
                 names",
            );
            return Err(problem.at_line(self.ends.last().copied().unwrap_or(1)));
        }
        self.part.clear();
        self.ends.clear();
        Ok(())
    }
}
