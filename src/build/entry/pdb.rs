//! Reader of entries in the PDB format 3.3 of the wwPDB.
//!
//! `MODEL` and `ENDMDL` enclose models. In files without `MODEL` and `ENDMDL`, an `END` record ends a model if the
//! atoms after the record repeat those of the model; otherwise the model continues ([`ends`]). A chain ends at its
//! `TER` record. Residues after the `TER` record are usually ligands and waters. However, a standard polymer residue in
//! an `ATOM` record after `TER` begins another chain with the same identifier.

use std::collections::HashMap;

use md_engine::error::Problem;
use md_engine::format::coordinates::cell_of;
use md_engine::format::pdb::lines::{AtomLine, number, record, residue_number, text};
use md_engine::units::ANGSTROM;

use super::ends;
use super::model::{
    Address, Assembly, Entry, EntryAtom, Generator, Link, LinkKind, Modified, Operator, SequencePosition,
};
use super::names::standard;
use super::records::{AtomRecord, Collector, Place, code, element_of, position};
use super::table::ResidueKind;

type Parsed<T> = Result<T, Problem>;

/// First column (from 0) of each serial number in a CONECT record. A serial number has [`SERIAL`] columns.
const CONECT: [usize; 5] = [6, 11, 16, 21, 26];
const SERIAL: usize = 5;

/// Reads an entry. `wanted` is the number of the model; `None` means the first model.
pub(super) fn read(bytes: &[u8], wanted: Option<i32>) -> Parsed<Entry> {
    let joints = ends::joints(bytes)?;
    let mut reader = Reader { wanted, ..Reader::default() };
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if joints.binary_search(&(index + 1)).is_ok() {
            reader.part += 1;
            continue;
        }
        let (name, line) = record(line);
        reader.record(&name, line).map_err(|problem| problem.at_line(index + 1))?;
    }
    Ok(Entry { continued: joints, ..reader.finish() })
}

#[derive(Default)]
struct Reader<'a> {
    collector: Collector,
    wanted: Option<i32>,
    /// number of the model to which the records belong
    model: i32,
    /// whether the current model has ended, so that further atoms belong to the next model
    is_ended: bool,
    /// whether the current model has atoms
    has_atoms: bool,
    /// `is_taken`: whether the current model is the requested model; `was_taken`: whether the requested model has been
    /// reached
    is_taken: bool,
    was_taken: bool,
    /// index of the chain of the last stored atom
    last: Option<usize>,
    /// whether a TER record has ended the chain, for each chain
    ended: Vec<bool>,
    /// number of END records after which the model has continued
    part: usize,
    /// atom with each serial number, in each part and in the whole file; `None` if several atoms have the same serial
    /// number
    serials: HashMap<(Option<usize>, &'a str), Option<Place>>,
    /// pairs of serial numbers from CONECT records, with the part that has the record
    connections: Vec<(usize, [&'a str; 2])>,
    /// sequence of each chain
    sequences: HashMap<String, Vec<SequencePosition>>,
    /// rows of the current operator of an assembly that have been read
    rows: Vec<[f64; 4]>,
}

impl<'a> Reader<'a> {
    fn record(&mut self, name: &[u8; 6], line: &'a [u8]) -> Parsed<()> {
        match name {
            b"ATOM  " | b"HETATM" => return self.atom(line, name == b"HETATM"),
            b"MODEL " => {
                let next = if self.has_atoms { self.model + 1 } else { self.model.max(1) };
                self.begin_model(text(line, 6..line.len().min(80)).parse().unwrap_or(next));
            }
            b"ENDMDL" | b"END   " => self.is_ended = self.has_atoms,
            b"TER   " => {
                if let Some(last) = self.last.filter(|_| self.is_taken && !self.is_ended) {
                    self.set_ended(last, true);
                }
            }
            b"CONECT" => self.connect(line),
            b"SEQRES" => self.sequence(line),
            b"SSBOND" => return self.link(line, LinkKind::Disulfide),
            b"LINK  " => return self.link(line, LinkKind::Covalent),
            b"MODRES" => {
                let [name, parent] = [text(line, 12..15).to_owned(), text(line, 24..27).to_owned()];
                self.collector.entry.modified.push(Modified { name, parent });
            }
            b"REMARK" if text(line, 7..10) == "350" => self.assembly(line),
            b"CRYST1" => self.cell(line),
            b"TITLE " => {
                let title = &mut self.collector.entry.title;
                let more = String::from_utf8_lossy(line.get(10..).unwrap_or_default()).trim().to_owned();
                let blank = if title.is_empty() || more.is_empty() { "" } else { " " };
                *title = format!("{title}{blank}{more}");
            }
            _ => {}
        }
        Ok(())
    }

    fn begin_model(&mut self, number: i32) {
        (self.model, self.is_ended, self.has_atoms) = (number, false, false);
    }

    fn set_ended(&mut self, chain: usize, is_ended: bool) {
        if self.ended.len() <= chain {
            self.ended.resize(chain + 1, false);
        }
        self.ended[chain] = is_ended;
    }

    fn atom(&mut self, line: &'a [u8], is_hetero: bool) -> Parsed<()> {
        if self.is_ended || self.model == 0 {
            self.begin_model(self.model + 1);
        }
        if !self.has_atoms {
            self.has_atoms = true;
            self.is_taken = !self.was_taken && self.wanted.is_none_or(|wanted| wanted == self.model);
            self.was_taken |= self.is_taken;
            let entry = &mut self.collector.entry;
            entry.models += 1;
            entry.model = if self.is_taken { self.model } else { entry.model };
        }
        if !self.is_taken {
            return Ok(());
        }
        let atom = AtomLine::new(line);
        let residue = String::from_utf8_lossy(atom.residue_name().trim_ascii()).into_owned();
        let chain = if atom.chain().is_empty() { atom.segment() } else { atom.chain() };
        let mut index = self.collector.chain(chain);
        let mut is_ended = self.ended.get(index).copied().unwrap_or(false);
        let kind = standard(&residue, &[]).map(|standard| standard.kind);
        if is_ended && !is_hetero && kind.is_some_and(|kind| kind != ResidueKind::Water) {
            index = self.collector.begin_chain(chain);
            is_ended = false;
        }
        let (element, is_deuterium) = element_of(atom.symbol(), atom.name(), &residue);
        let place = self.collector.add(AtomRecord {
            chain,
            unit: chain,
            residue: &residue,
            number: number_of_residue(atom.residue_number())?,
            insertion_code: code(atom.insertion_code()),
            is_hetero,
            may_be_polymer: !is_ended,
            position: None,
            atom: EntryAtom {
                name: atom.name().to_owned(),
                element,
                is_deuterium,
                position: position(atom.coordinates())?,
                occupancy: atom.occupancy().unwrap_or(1.0).clamp(0.0, 1.0),
                location: code(std::str::from_utf8(atom.location()).unwrap_or_default()),
            },
        });
        self.last = Some(index);
        for part in [Some(self.part), None] {
            let found = self.serials.entry((part, atom.serial_number()));
            found.and_modify(|found| *found = None).or_insert(Some(place));
        }
        Ok(())
    }

    fn connect(&mut self, line: &'a [u8]) {
        let [first, others @ ..] = CONECT.map(|start| text(line, start..start + SERIAL));
        let others = others.into_iter().filter(|other| !other.is_empty());
        self.connections.extend(others.map(|other| (self.part, [first, other])));
    }

    fn sequence(&mut self, line: &[u8]) {
        let names = text(line, 19..70).split_ascii_whitespace();
        let positions = names.map(|name| SequencePosition { name: name.to_owned(), number: None });
        self.sequences.entry(text(line, 11..12).to_owned()).or_default().extend(positions);
    }

    /// Reads an SSBOND or a LINK record. An SSBOND record has no atom names.
    fn link(&mut self, line: &[u8], kind: LinkKind) -> Parsed<()> {
        // columns in which fields begin, for each of the two atoms: atom name, residue name, and chain identifier
        let ends = match kind {
            LinkKind::Disulfide => [(None, 11, 15), (None, 25, 29)],
            _ => [(Some(12), 17, 21), (Some(42), 47, 51)],
        };
        let mut addresses = vec![];
        for (atom, residue, chain) in ends {
            // the residue number begins two columns after the chain identifier in SSBOND records, and one column after
            // the chain identifier in LINK records
            let number = if kind == LinkKind::Disulfide { chain + 2 } else { chain + 1 };
            addresses.push(Address {
                chain: text(line, chain..chain + 1).to_owned(),
                residue: text(line, residue..residue + 3).to_owned(),
                number: number_of_residue(text(line, number..number + 4).as_bytes())?,
                insertion_code: code(text(line, number + 4..number + 5)),
                atom: atom.map_or("SG", |start| text(line, start..start + 4)).to_owned(),
            });
        }
        let is_symmetry = text(line, 59..65) != text(line, 66..72);
        if let Ok(ends) = <[Address; 2]>::try_from(addresses) {
            self.collector.entry.links.push(Link { kind, ends, is_symmetry });
        }
        Ok(())
    }

    fn cell(&mut self, line: &[u8]) {
        let values = [6..15, 15..24, 24..33, 33..40, 40..47, 47..54].map(|columns| number(line, columns));
        if let [Some(a), Some(b), Some(c), Some(alpha), Some(beta), Some(gamma)] = values {
            // structures that were not determined by crystallography have placeholder edges of 1 Å
            let is_placeholder = [a, b, c] == [1.0; 3];
            let cell = cell_of([a, b, c].map(|edge| edge * ANGSTROM), [alpha, beta, gamma]);
            self.collector.entry.cell = cell.filter(|_| !is_placeholder);
        }
    }

    /// Reads a line of REMARK 350, which describes assemblies.
    fn assembly(&mut self, line: &[u8]) {
        let content = text(line, 10..line.len().min(80));
        let assemblies = &mut self.collector.entry.assemblies;
        if let Some(id) = content.strip_prefix("BIOMOLECULE:") {
            assemblies.push(Assembly { id: id.trim().to_owned(), ..Assembly::default() });
        }
        let Some(assembly) = assemblies.last_mut() else { return };
        if let Some((start, chains)) = content.split_once("CHAINS:") {
            let is_new = start.starts_with("APPLY");
            if is_new || assembly.generators.is_empty() {
                assembly.generators.push(Generator::default());
            }
            let names = chains.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
            // NULL stands for a chain without an identifier
            let names = names.map(|name| if name == "NULL" { "" } else { name }.to_owned());
            if let Some(generator) = assembly.generators.last_mut() {
                generator.units.extend(names);
            }
        }
        if content.starts_with("BIOMT") {
            let row = [23..33, 33..43, 43..53, 53..68].map(|columns| number(line, columns));
            let [Some(a), Some(b), Some(c), Some(d)] = row else {
                // the fault matters only if this assembly is built
                let line = text(line, 0..line.len().min(80));
                let message =
                    format!("columns 24-68 of \"{line}\" must hold three rotation elements and one translation");
                assembly.fault = Some(Problem::new(message).help("correct the BIOMT record"));
                return;
            };
            self.rows.push([a, b, c, d]);
            if let [first, second, third] = self.rows[..] {
                self.rows.clear();
                if let Some(generator) = assembly.generators.last_mut() {
                    generator.operators.push(Operator::from_rows([first, second, third]));
                }
            }
        }
    }

    fn finish(mut self) -> Entry {
        // structures that were joined may have the same serial numbers
        let place = |part: usize, serial: &str| {
            let own = self.serials.get(&(Some(part), serial));
            own.or_else(|| self.serials.get(&(None, serial))).copied().flatten()
        };
        let pairs = self.connections.iter().filter_map(|&(part, [a, b])| Some([place(part, a)?, place(part, b)?]));
        let mut pairs: Vec<[Place; 2]> = pairs.map(|[a, b]| [a.min(b), a.max(b)]).filter(|[a, b]| a != b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for pair in pairs {
            let ends = pair.map(|place| address(&self.collector.entry, place));
            self.collector.entry.links.push(Link { kind: LinkKind::Connection, ends, is_symmetry: false });
        }
        // TER records may divide a chain into several pieces; each piece has the sequence of the whole chain
        for chain in &mut self.collector.entry.chains {
            if let Some(sequence) = self.sequences.get(&chain.id) {
                chain.sequence.clone_from(sequence);
            }
        }
        self.collector.finish()
    }
}

/// Returns the address of the atom at the indices of a [`Place`].
fn address(entry: &Entry, [chain, residue, atom]: Place) -> Address {
    let chain = &entry.chains[chain];
    let residue = &chain.residues[residue];
    Address {
        chain: chain.id.clone(),
        residue: residue.name.clone(),
        number: residue.number,
        insertion_code: residue.insertion_code,
        atom: residue.atoms[atom].name.clone(),
    }
}

fn number_of_residue(field: &[u8]) -> Parsed<i32> {
    residue_number(field).ok_or_else(|| {
        let problem = Problem::new(format!("`{}` is not a residue number", String::from_utf8_lossy(field).trim()));
        problem.help("the columns of PDB files are fixed: a residue number is in columns 23-26 of an atom record")
    })
}
