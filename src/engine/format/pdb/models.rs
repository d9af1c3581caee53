//! Models of a file: where each ends.
//!
//! `ENDMDL` or `END` ends a model, and so does the next `MODEL` where both are missing. What precedes a model belongs to it.
//! A model that the end of the file ends counts, unless `md` began it (its `TITLE` stands below `MODEL`): `md` ends every
//! model with a whole line `ENDMDL`, and a model without it was cut off when its writer was killed.

use super::lines::record;

/// Finds the ends of models line by line.
#[derive(Default)]
pub struct ModelEnds {
    /// bytes from the start of the file to the end of each model
    ends: Vec<u64>,
    next: Pending,
}

/// Lines since the last model.
#[derive(Default)]
struct Pending {
    /// some belong to the next model
    any: bool,
    /// a `MODEL` record
    model: bool,
    /// a title below it
    titled: bool,
    /// atoms
    atoms: bool,
}

impl ModelEnds {
    /// The next line, which begins at byte `start`, with its end of line.
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
            // follows a model and says nothing of the next
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

    /// The ends of the models that a record ended.
    pub fn complete(self) -> Vec<u64> {
        self.ends
    }

    /// The ends of all models of a file of so many bytes.
    pub fn finish(mut self, length: u64) -> Vec<u64> {
        if self.next.atoms && !self.next.titled {
            self.ends.push(length);
        }
        self.ends
    }
}
