//! Ends of the models in a PDB file.
//!
//! `ENDMDL` or `END` ends a model. If a model has neither `ENDMDL` nor `END`, the next `MODEL` ends the model. Records
//! before a `MODEL` record belong to the model that follows. The end of the file also ends a model, except in files
//! that md wrote. md ends every model with a complete line `ENDMDL`, so a model without this line was cut off when md
//! was killed. Files that md wrote are recognised by a `TITLE` after `MODEL`.

use super::lines::record;

/// Finder of the ends of the models in a PDB file, line by line.
#[derive(Default)]
pub struct ModelEnds {
    /// offset in bytes of the end of each model from the start of the file
    ends: Vec<u64>,
    next: Pending,
}

/// Kinds of records that were found after the end of the last model.
#[derive(Default)]
struct Pending {
    /// whether there are any records after the end of the last model; all of them belong to the next model
    any: bool,
    /// whether there is a `MODEL` record after the end of the last model
    model: bool,
    /// whether a title follows the `MODEL` record
    titled: bool,
    /// whether there are atom records after the end of the last model
    atoms: bool,
}

impl ModelEnds {
    /// Processes the next line, which begins at byte `start` and includes its end of line.
    pub fn line(&mut self, line: &[u8], start: u64) {
        let end = start + line.len() as u64;
        let is_whole = line.ends_with(b"\n") || !self.next.titled;
        match &record(line).0 {
            b"MODEL " => {
                if self.next.atoms {
                    self.ends.push(start);
                    self.next = Pending::default();
                }
                (self.next.any, self.next.model) = (true, true);
            }
            b"ENDMDL" | b"END   " if self.next.atoms && is_whole => {
                self.ends.push(end);
                self.next = Pending::default();
            }
            // after the end of a model, records of these kinds still belong to this model and not to the next model
            b"END   " | b"ENDMDL" | b"TER   " | b"CONECT" | b"MASTER" | b"      " if !self.next.any => {
                if let Some(last) = self.ends.last_mut() {
                    *last = end;
                }
            }
            name => {
                self.next.any = true;
                self.next.titled |= name == b"TITLE " && self.next.model && !self.next.atoms;
                self.next.atoms |= name == b"ATOM  " || name == b"HETATM";
            }
        }
    }

    /// Returns the number of models that have ended so far, and the end of the last of them.
    pub fn last(&self) -> Option<(usize, u64)> {
        self.ends.last().map(|&end| (self.ends.len(), end))
    }

    /// Returns the end of each model that `ENDMDL`, `END` or the next `MODEL` has ended.
    pub fn complete(self) -> Vec<u64> {
        self.ends
    }

    /// Returns the ends of all models in a file of `length` bytes.
    pub fn finish(mut self, length: u64) -> Vec<u64> {
        if self.next.atoms && !self.next.titled {
            self.ends.push(length);
        }
        self.ends
    }
}
