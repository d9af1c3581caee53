//! Reader of PDBx/mmCIF files. The reader reads the first model, or all models, of the first block that contains atoms.
//!
//! Loops may have their columns in any order, and a category of one row may be written as pairs of tag and value. Atom
//! names are those of the authors (`auth_atom_id`). For an atom without a name of the authors, the name is
//! `label_atom_id`. In the same way, `label_comp_id`, `label_seq_id` and `label_asym_id` replace unknown names and
//! numbers of residues and unknown chains. If a residue has alternative locations, the reader keeps the location that
//! is first in the file. If the cell is unknown, or if its edges are 1 Å or zero, the structure has no cell. A title
//! may contain the time in ps, as in `t= 1.00000`.

use std::collections::HashMap;
use std::iter::Peekable;

use super::token::{Value, Word, Words};
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::format::alternative::Alternative;
use crate::format::coordinates::{
    Coordinates, FARTHEST, Label, LeftOut, cell_of, has_other_vectors, has_symmetry, is_dummy, scaled, time_of_title,
    too_long,
};
use crate::format::text::without_mark;
use crate::format::{element, number};
use crate::system::{ChainLabel, Name};
use crate::units::ANGSTROM;

/// Result of a parsing step.
pub(super) type Parsed<T> = std::result::Result<T, Problem>;

/// Items of the cell: edges in Å, angles in degrees.
const CELL: [&str; 6] = ["length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma"];

/// Tags of the space group: the first tag in entries of the PDB, the second tag in files of other programs.
const GROUPS: [&[u8]; 2] = [b"_symmetry.space_group_name_H-M", b"_space_group.name_H-M_alt"];

/// Items of an atom that together identify its residue.
const RESIDUE: [&str; 5] = ["auth_asym_id", "auth_seq_id", "label_asym_id", "label_seq_id", "pdbx_PDB_ins_code"];

/// Whether a file with these first bytes is a PDBx/mmCIF file. A PDBx/mmCIF file has a block that begins with a tag or
/// a loop.
pub fn is_mmcif(beginning: &[u8]) -> bool {
    let mut words = Words::new(without_mark(beginning));
    matches!(words.next(), Some(Ok(Word::Block)))
        && matches!(words.next(), Some(Ok(Word::Loop | Word::Tag(_) | Word::Block)))
}

/// Reads the first model of a file.
pub(in crate::format) fn read(bytes: &[u8]) -> Parsed<Coordinates> {
    read_block(bytes, false)?.coordinates()
}

/// Reads all models of a file, which have the same number of atoms.
pub(in crate::format) fn read_models(bytes: &[u8]) -> Parsed<Vec<Coordinates>> {
    let mut block = read_block(bytes, true)?;
    let others = std::mem::take(&mut block.others);
    let first = block.coordinates()?;
    let expected = first.positions.len();
    let mut models = vec![first];
    for (index, model) in others.into_iter().enumerate() {
        let found = model.positions.len();
        if found != expected {
            let problem =
                Problem::new(format!("model {} has {found} atoms, but the first model has {expected}", index + 2));
            return Err(problem.help("all frames of a trajectory must have the same atoms"));
        }
        let Coordinates { title, cell, .. } = &models[0];
        let (title, cell, symmetry) = (title.clone(), *cell, models[0].left_out.symmetry);
        let left_out = LeftOut { symmetry, ..model.left_out };
        models.push(Coordinates { title, cell, left_out, ..model });
    }
    Ok(models)
}

/// Reads the block with the atoms. `every` says whether the models after the first model are kept.
fn read_block(bytes: &[u8], every: bool) -> Parsed<Block<'_>> {
    let mut words = Words::new(without_mark(bytes)).peekable();
    let mut block = Block { every, ..Block::default() };
    while let Some(word) = words.next().transpose()? {
        match word {
            Word::Block if block.has_atoms() => break,
            Word::Block => block = Block { every, ..Block::default() },
            Word::Tag(tag) => match words.next().transpose()? {
                Some(Word::Value(value)) => block.item(tag.text, value)?,
                _ => {
                    let problem = Problem::new(format!("{} has no value", number::quoted(tag.text)));
                    return Err(problem.at_line(tag.line).help(CUT));
                }
            },
            Word::Loop => read_loop(&mut words, &mut block)?,
            Word::Value(value) => {
                let message = format!("expected a tag or `loop_`, found {}", number::quoted(value.text));
                let help = "a value with blanks is quoted, and a loop has a whole number of rows";
                return Err(Problem::new(message).at_line(value.line).help(help));
            }
            Word::Reserved(word) => return Err(reserved(word)),
        }
    }
    Ok(block)
}

fn reserved(word: Value<'_>) -> Problem {
    let problem = Problem::new(format!("{} is not allowed in PDBx/mmCIF structures", number::quoted(word.text)));
    problem.at_line(word.line).help("a value of this form must be quoted")
}

const CUT: &str = "the file is damaged or cut off";

/// Contents of a block that have been read so far.
#[derive(Default)]
struct Block<'a> {
    /// contents of the first model
    found: Coordinates,
    /// models after the first, if all models are read
    others: Vec<Coordinates>,
    every: bool,
    /// values of the cell, in the order of [`CELL`]
    cell: [Option<Value<'a>>; 6],
    /// values of the space group and of the number of copies of the molecule in the cell
    symmetry: [Option<Value<'a>>; 2],
    /// tags and values of a single atom, if the file lists its items as pairs of tag and value
    pairs: Vec<(&'a [u8], Value<'a>)>,
}

fn twice(tag: &[u8], first: usize) -> Problem {
    Problem::new(format!("the tag {} is given twice, first in line {first}", number::quoted(tag)))
        .help("remove one of them")
}

/// Reads the tags of a loop. A repeated tag is an error.
fn loop_tags<'a>(words: &mut Peekable<Words<'a>>) -> Parsed<Vec<&'a [u8]>> {
    let mut found: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut tags = vec![];
    while let Some(Ok(Word::Tag(tag))) = words.next_if(|word| matches!(word, Ok(Word::Tag(_)))) {
        if let Some(first) = found.insert(tag.text.to_ascii_lowercase(), tag.line) {
            return Err(twice(tag.text, first).at_line(tag.line));
        }
        tags.push(tag.text);
    }
    Ok(tags)
}

/// Reads a loop, which has tags followed by the values of its rows.
fn read_loop<'a>(words: &mut Peekable<Words<'a>>, block: &mut Block<'a>) -> Parsed<()> {
    let tags = loop_tags(words)?;
    let mut atoms = None;
    let (mut row, mut rows) = (Vec::with_capacity(tags.len()), 0);
    while let Some(word) = words.next_if(|word| !matches!(word, Ok(Word::Block | Word::Loop | Word::Tag(_)))) {
        let value = match word? {
            Word::Value(value) => value,
            Word::Reserved(word) => return Err(reserved(word)),
            Word::Block | Word::Loop | Word::Tag(_) => break,
        };
        if tags.is_empty() {
            return Err(Problem::new("a loop without tags").at_line(value.line).help(CUT));
        }
        row.push(value);
        if row.len() < tags.len() {
            continue;
        }
        if rows == 0 && tags.iter().any(|tag| item_of(tag, b"_atom_site").is_some()) {
            if block.has_atoms() {
                return Err(Problem::new("a second loop of _atom_site").at_line(row[0].line));
            }
            let columns = Columns::new(&tags).map_err(|problem| problem.at_line(row[0].line))?;
            atoms = Some(Atoms { columns, models: vec![], alternative: Alternative::default() });
        }
        match &mut atoms {
            Some(atoms) => atoms.add(&row, block)?,
            None if rows == 0 => tags.iter().zip(&row).try_for_each(|(tag, value)| block.item(tag, *value))?,
            None => {}
        }
        rows += 1;
        row.clear();
    }
    match row.first() {
        None => Ok(()),
        Some(value) => {
            let message = format!("the last row of this loop has {} of {} values", row.len(), tags.len());
            Err(Problem::new(message).at_line(value.line).help(CUT))
        }
    }
}

impl<'a> Block<'a> {
    fn has_atoms(&self) -> bool {
        !self.found.positions.is_empty() || !self.pairs.is_empty()
    }

    /// Processes a tag with its value. If the tag is a column of a loop, `value` is the value in the first row of the
    /// loop.
    fn item(&mut self, tag: &'a [u8], value: Value<'a>) -> Parsed<()> {
        if item_of(tag, b"_atom_site").is_some() {
            if let Some((_, first)) = self.pairs.iter().find(|(other, _)| other.eq_ignore_ascii_case(tag)) {
                return Err(twice(tag, first.line).at_line(value.line));
            }
            self.pairs.push((tag, value));
        } else if let Some(item) = item_of(tag, b"_cell") {
            let place = CELL.iter().position(|name| item.eq_ignore_ascii_case(name.as_bytes()));
            if let Some(first) = place.and_then(|index| self.cell[index].replace(value)) {
                return Err(twice(tag, first.line).at_line(value.line));
            }
            if item.eq_ignore_ascii_case(b"Z_PDB") {
                self.symmetry[1] = Some(value);
            }
        } else if GROUPS.iter().any(|name| tag.eq_ignore_ascii_case(name)) {
            self.symmetry[0] = self.symmetry[0].or(Some(value));
        } else if item_of(tag, b"_struct").is_some_and(|item| item.eq_ignore_ascii_case(b"title")) {
            let title = value.known().map(String::from_utf8_lossy).unwrap_or_default();
            self.found.title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        Ok(())
    }

    fn coordinates(mut self) -> Parsed<Coordinates> {
        if !self.pairs.is_empty() {
            let (tags, row): (Vec<&[u8]>, Vec<Value<'_>>) = self.pairs.iter().copied().unzip();
            let columns = Columns::new(&tags).map_err(|problem| problem.at_line(row[0].line))?;
            let mut atoms = Atoms { columns, models: vec![], alternative: Alternative::default() };
            atoms.add(&row, &mut self)?;
        }
        if self.found.positions.is_empty() {
            let problem = Problem::new("the file holds no atoms (_atom_site.Cartn_x, Cartn_y, Cartn_z)");
            return Err(problem.help(
                "give a PDBx/mmCIF structure; CIF files of small molecules and of reflections have no Cartesian \
                 coordinates",
            ));
        }
        let time = time_of_title(&self.found.title);
        let (cell, vectors) = self.periodic_cell()?;
        self.found.left_out.vectors = vectors;
        let [group, copies] = self.symmetry.map(|value| value.and_then(|value| value.known()).unwrap_or_default());
        let [group, copies] = [group, copies].map(String::from_utf8_lossy);
        self.found.left_out.symmetry = cell.is_some() && has_symmetry(&group, &copies);
        Ok(Coordinates { time, cell, ..self.found })
    }

    /// Returns the cell, and whether it has other lattice vectors than the file.
    fn periodic_cell(&self) -> Parsed<(Option<PeriodicCell>, bool)> {
        if self.cell.iter().all(|value| value.is_none_or(|value| value.known().is_none())) {
            return Ok((None, false));
        }
        let mut numbers = [0.0; 6];
        for ((number, value), name) in numbers.iter_mut().zip(&self.cell).zip(CELL) {
            let missing = || Problem::new(format!("the cell lacks _cell.{name}"));
            let value = value.ok_or_else(missing)?;
            *number = real(value).ok_or_else(|| not_a_number(&format!("_cell.{name}"), value))?;
        }
        let [a, b, c, alpha, beta, gamma] = numbers;
        if is_dummy([a, b, c]) {
            return Ok((None, false));
        }
        let (lengths, angles) = ([a, b, c].map(|length| length * ANGSTROM), [alpha, beta, gamma]);
        let cell = cell_of(lengths, angles);
        cell.map(|cell| (Some(cell), has_other_vectors(&cell, lengths, angles))).ok_or_else(|| {
            let problem =
                Problem::new(format!("edges {a}, {b}, {c} and angles {alpha}, {beta}, {gamma} do not form a cell"));
            let line = self.cell[0].map(|value| value.line);
            line.into_iter().fold(problem, |problem, line| problem.at_line(line))
        })
    }
}

/// Returns the item of a tag `_category.item`. Returns `None` if the tag does not belong to `category`.
fn item_of<'a>(tag: &'a [u8], category: &[u8]) -> Option<&'a [u8]> {
    let (start, item) = tag.split_at_checked(category.len())?;
    item.strip_prefix(b".").filter(|_| start.eq_ignore_ascii_case(category))
}

/// Parses a number with an optional standard uncertainty: `12.34(5)`.
fn real(value: Value<'_>) -> Option<f64> {
    let text = value.known()?;
    let end = text.iter().position(|&byte| byte == b'(').filter(|_| text.ends_with(b")")).unwrap_or(text.len());
    number::real(&text[..end])
}

fn not_a_number(what: &str, value: Value<'_>) -> Problem {
    Problem::new(format!("expected the number {what}, found {}", number::quoted(value.text))).at_line(value.line)
}

/// Indices of the columns with the items of an atom.
struct Columns {
    position: [usize; 3],
    /// columns of the name of the authors and of the label; the first known value is used, also in the other pairs
    name: [Option<usize>; 2],
    symbol: Option<usize>,
    alternative: Option<usize>,
    model: Option<usize>,
    residue: [Option<usize>; 5],
    chain: [Option<usize>; 2],
    residue_name: [Option<usize>; 2],
    residue_number: [Option<usize>; 2],
}

impl Columns {
    fn new(tags: &[&[u8]]) -> Parsed<Self> {
        let find = |name: &str| {
            let is_it =
                |tag: &&[u8]| item_of(tag, b"_atom_site").is_some_and(|i| i.eq_ignore_ascii_case(name.as_bytes()));
            tags.iter().position(is_it)
        };
        let [Some(x), Some(y), Some(z)] = ["Cartn_x", "Cartn_y", "Cartn_z"].map(find) else {
            let problem = Problem::new("the atoms have no _atom_site.Cartn_x, Cartn_y and Cartn_z");
            return Err(problem.help("md reads Cartesian coordinates, not fractional coordinates"));
        };
        Ok(Self {
            position: [x, y, z],
            name: ["auth_atom_id", "label_atom_id"].map(find),
            symbol: find("type_symbol"),
            alternative: find("label_alt_id"),
            model: find("pdbx_PDB_model_num"),
            residue: RESIDUE.map(find),
            chain: ["auth_asym_id", "label_asym_id"].map(find),
            residue_name: ["auth_comp_id", "label_comp_id"].map(find),
            residue_number: ["auth_seq_id", "label_seq_id"].map(find),
        })
    }
}

/// Reader of atom rows, which adds each atom to its model.
struct Atoms<'a> {
    columns: Columns,
    /// names of the models that have been read so far, in the order of their first atoms
    models: Vec<&'a [u8]>,
    alternative: Alternative<'a, [&'a [u8]; 5]>,
}

impl<'a> Atoms<'a> {
    /// Returns the model to which an atom of the model `name` is added. Returns `None` if the atom belongs to a model
    /// that is not read.
    fn model<'b>(&mut self, name: &'a [u8], block: &'b mut Block<'_>) -> Parsed<Option<&'b mut Coordinates>> {
        if self.models.last() != Some(&name) {
            if self.models.contains(&name) {
                return match block.every {
                    true => {
                        Err(Problem::new(format!("the atoms of model {} are not consecutive", number::quoted(name))))
                    }
                    false => Ok((self.models.first() == Some(&name)).then_some(&mut block.found)),
                };
            }
            self.models.push(name);
            self.alternative = Alternative::default();
            match (self.models.len(), block.every) {
                (1, _) => {}
                (_, true) => block.others.push(Coordinates::default()),
                (_, false) => block.found.left_out.models += 1,
            }
        }
        Ok(match self.models.len() {
            1 => Some(&mut block.found),
            _ => block.others.last_mut(),
        })
    }

    fn add(&mut self, row: &[Value<'a>], block: &mut Block<'_>) -> Parsed<()> {
        let text = |column: Option<usize>| column.and_then(|column| row[column].known()).unwrap_or_default();
        let line = row.first().map_or(0, |value| value.line);
        let model = self.model(text(self.columns.model), block).map_err(|problem| problem.at_line(line))?;
        let Some(found) = model else { return Ok(()) };
        if !self.alternative.is_taken(self.columns.residue.map(text), text(self.columns.alternative)) {
            found.left_out.atoms += 1;
            return Ok(());
        }
        let mut triple = [0.0; 3];
        for ((number, column), axis) in triple.iter_mut().zip(self.columns.position).zip(["x", "y", "z"]) {
            let what = || format!("_atom_site.Cartn_{axis} of atom {}", found.positions.len() + 1);
            *number = real(row[column]).ok_or_else(|| not_a_number(&what(), row[column]))?;
        }
        let position = scaled(&triple, ANGSTROM, FARTHEST)
            .ok_or_else(|| too_long(found.positions.len(), &triple).at_line(row[self.columns.position[0]].line))?;
        found.positions.push(position);
        let first = |columns: [Option<usize>; 2]| {
            columns.map(text).into_iter().find(|text| !text.is_empty()).unwrap_or_default()
        };
        let name = Name::new(&String::from_utf8_lossy(first(self.columns.name)));
        let element = element::number(std::str::from_utf8(text(self.columns.symbol)).unwrap_or_default());
        let chain = Name::new(&String::from_utf8_lossy(first(self.columns.chain)));
        let [.., code] = self.columns.residue.map(text);
        let insertion_code = code.first().copied().map(char::from).filter(char::is_ascii_alphanumeric);
        let chain = ChainLabel { chain, insertion_code, ..ChainLabel::default() };
        let label = Label { name, element, chain, ..Label::default() };
        let [residue, number] = [self.columns.residue_name, self.columns.residue_number].map(first);
        found.labels.push(label.in_residue(residue, number, self.columns.residue.map(text)));
        Ok(())
    }
}
