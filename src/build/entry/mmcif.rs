//! Reader of entries in the PDBx/mmCIF format of the wwPDB.
//!
//! Chain identifiers, residue numbers and atom names come from the items of the authors (such as `auth_asym_id` and
//! `auth_seq_id`). In files without items of the authors, the `label_` items are used. Sequences come from
//! `_pdbx_poly_seq_scheme`, or from `_entity_poly_seq` in files without `_pdbx_poly_seq_scheme`. Assemblies consist of
//! units that are identified by `label_asym_id`.

use std::collections::{HashMap, HashSet};

use md_engine::error::Problem;
use md_engine::format::coordinates::cell_of;
use md_engine::units::ANGSTROM;

use super::assembly::{Operators, expression, units_of};
use super::cif::{Row, each_row};
use super::model::{
    Address, Assembly, ComponentBond, Entry, EntryAtom, Generator, Link, LinkKind, Modified, Operator, SequencePosition,
};
use super::records::{AtomRecord, Collector, code, element_of, position};

type Parsed<T> = Result<T, Problem>;

/// mmCIF categories that are read.
const CATEGORIES: [&str; 11] = [
    "_atom_site",
    "_cell",
    "_struct",
    "_struct_asym",
    "_entity_poly_seq",
    "_pdbx_poly_seq_scheme",
    "_struct_conn",
    "_pdbx_struct_assembly_gen",
    "_pdbx_struct_oper_list",
    "_chem_comp_bond",
    "_pdbx_struct_mod_residue",
];

/// Maximum number of operators in the generators of all assemblies together; the limit bounds the memory. Entries of
/// virus capsids have a few hundred operators.
const MOST_OPERATORS: usize = 10_000;

/// Reads an entry. `wanted` is the number of the model; `None` means the first model.
pub(super) fn read(bytes: &[u8], wanted: Option<i32>) -> Parsed<Entry> {
    let mut reader = Reader { wanted, ..Reader::default() };
    each_row(bytes, &CATEGORIES, &mut reader, Reader::row, |reader| !reader.models.is_empty())?;
    reader.finish()
}

/// Number of a position in a sequence (from 1), and the residue at this position.
type Numbered = (usize, SequencePosition);

#[derive(Default)]
struct Reader {
    collector: Collector,
    wanted: Option<i32>,
    models: HashSet<i32>,
    /// entity identifier of each unit (`label_asym_id`)
    entities: HashMap<String, String>,
    /// sequence of each unit (`label_asym_id`)
    schemes: HashMap<String, Vec<Numbered>>,
    /// sequence of each entity identifier
    sequences: HashMap<String, Vec<Numbered>>,
    /// polymer chains with atoms: index of each chain, and its first unit
    polymers: Vec<(usize, String)>,
    operators: Operators,
    /// assembly, operator expression and list of units from each row of `_pdbx_struct_assembly_gen`
    generators: Vec<(String, String, String)>,
}

impl Reader {
    fn row(&mut self, category: &str, row: &Row<'_, '_>) -> Parsed<()> {
        let entry = &mut self.collector.entry;
        match category {
            "_atom_site" => return self.atom(row),
            "_cell" => entry.cell = cell(row),
            "_struct" => {
                entry.title = row.text("title").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
            }
            "_struct_asym" => {
                if let (Some(id), Some(entity)) = (row.text("id"), row.text("entity_id")) {
                    self.entities.insert(id, entity);
                }
            }
            "_entity_poly_seq" => {
                let position = SequencePosition { name: row.text("mon_id").unwrap_or_default(), number: None };
                if let (Some(entity), Some(number)) = (row.text("entity_id"), index(row, "num")) {
                    self.sequences.entry(entity).or_default().push((number, position));
                }
            }
            "_pdbx_poly_seq_scheme" => {
                let number = row.first(["pdb_seq_num", "auth_seq_num"]).and_then(|text| text.parse().ok());
                let position = SequencePosition { name: row.text("mon_id").unwrap_or_default(), number };
                if let (Some(unit), Some(number)) = (row.text("asym_id"), index(row, "seq_id")) {
                    self.schemes.entry(unit).or_default().push((number, position));
                }
            }
            "_struct_conn" => entry.links.extend(link(row)),
            "_pdbx_struct_assembly_gen" => {
                let item = |name| row.text(name).unwrap_or_default();
                self.generators.push((item("assembly_id"), item("oper_expression"), item("asym_id_list")));
            }
            "_pdbx_struct_oper_list" => {
                let operator = operator(row).map_err(|problem| problem.at_line(row.line()));
                self.operators.insert(row.text("id").unwrap_or_default(), operator);
            }
            "_chem_comp_bond" => {
                if let [Some(residue), Some(a), Some(b)] =
                    ["comp_id", "atom_id_1", "atom_id_2"].map(|item| row.text(item))
                {
                    entry.component_bonds.push(ComponentBond { residue, atoms: [a, b] });
                }
            }
            _ => {
                let name = row.first(["label_comp_id", "auth_comp_id"]);
                let parent = row.text("parent_comp_id");
                if let (Some(name), Some(parent)) = (name, parent) {
                    entry.modified.push(Modified { name, parent });
                }
            }
        }
        Ok(())
    }

    fn atom(&mut self, row: &Row<'_, '_>) -> Parsed<()> {
        let model = row.text("pdbx_pdb_model_num").and_then(|text| text.parse().ok()).unwrap_or(1);
        self.models.insert(model);
        if self.models.len() == 1 {
            self.collector.entry.model = self.wanted.unwrap_or(model);
        }
        if model != self.collector.entry.model {
            return Ok(());
        }
        let unit = row.first(["label_asym_id", "auth_asym_id"]).unwrap_or_default();
        let chain = row.first(["auth_asym_id", "label_asym_id"]).unwrap_or_default();
        let name = row.first(["auth_atom_id", "label_atom_id"]).unwrap_or_default();
        let residue = row.first(["auth_comp_id", "label_comp_id"]).unwrap_or_default();
        let number = match row.first(["auth_seq_id", "label_seq_id"]) {
            None => 0,
            Some(text) => text.parse().map_err(|_| {
                let problem = Problem::new(format!("`{text}` is not a residue number"));
                problem.help("auth_seq_id and label_seq_id are whole numbers")
            })?,
        };
        let position_in_sequence = index(row, "label_seq_id");
        let is_hetero = row.text("group_pdb").is_some_and(|group| group == "HETATM");
        if let (Some(_), Some(entity)) = (position_in_sequence, row.text("label_entity_id")) {
            self.entities.entry(unit.clone()).or_insert(entity);
        }
        let has_numbers = position_in_sequence.is_some();
        let (element, is_deuterium) = element_of(&row.text("type_symbol").unwrap_or_default(), &name, &residue);
        let [chain_index, ..] = self.collector.add(AtomRecord {
            chain: &chain,
            unit: &unit,
            residue: &residue,
            number,
            insertion_code: row.text("pdbx_pdb_ins_code").and_then(|text| code(&text)),
            is_hetero,
            may_be_polymer: has_numbers,
            position: position_in_sequence.map(|number| number - 1),
            atom: EntryAtom {
                name,
                element,
                is_deuterium,
                position: position(["cartn_x", "cartn_y", "cartn_z"].map(|item| row.number(item)))?,
                occupancy: row.number("occupancy").unwrap_or(1.0).clamp(0.0, 1.0),
                location: row.text("label_alt_id").and_then(|text| code(&text)),
            },
        });
        if has_numbers && self.polymers.last().is_none_or(|(last, _)| *last != chain_index) {
            self.polymers.push((chain_index, unit));
        }
        Ok(())
    }

    fn finish(mut self) -> Parsed<Entry> {
        self.collector.entry.models = self.models.len();
        // some programs write no positions in the sequence: then the names of residues tell polymers, as in PDB files
        if self.polymers.is_empty() {
            let residues = self.collector.entry.chains.iter_mut().flat_map(|chain| &mut chain.residues);
            residues.for_each(|residue| residue.is_polymer = true);
        }
        for (chain, unit) in std::mem::take(&mut self.polymers) {
            let entity = self.entities.get(&unit).and_then(|entity| self.sequences.get(entity));
            let Some(numbered) = self.schemes.get(&unit).or(entity) else { continue };
            let chain = &mut self.collector.entry.chains[chain];
            if chain.sequence.is_empty() {
                // microheterogeneity: all residues at one position of the sequence have the same number, and only the
                // first residue is kept
                let positions = numbered.chunk_by(|(a, _), (b, _)| a == b).filter_map(<[Numbered]>::first);
                chain.sequence = positions.map(|(_, position)| position.clone()).collect();
            }
            let is_complete =
                numbered.chunk_by(|(a, _), (b, _)| a == b).zip(1..).all(|(kinds, number)| kinds[0].0 == number);
            let unit = self.collector.entry.units.iter().position(|known| *known == unit);
            for residue in &mut chain.residues {
                let is_of_unit = unit == Some(residue.unit as usize);
                residue.position = residue.position.filter(|_| is_of_unit && is_complete);
            }
        }
        let mut assemblies: Vec<Assembly> = vec![];
        let mut count = 0;
        for (id, operators, units) in &self.generators {
            let index = assemblies.iter().position(|assembly| assembly.id == *id).unwrap_or(assemblies.len());
            if index == assemblies.len() {
                assemblies.push(Assembly { id: id.clone(), ..Assembly::default() });
            }
            // a fault matters only if this assembly is built
            match expression(operators, &self.operators) {
                Ok(operators) if count + operators.len() <= MOST_OPERATORS => {
                    count += operators.len();
                    assemblies[index].generators.push(Generator { units: units_of(units), operators });
                }
                Ok(_) => {
                    let problem = Problem::new(format!("the assemblies have more than {MOST_OPERATORS} operators"));
                    assemblies[index].fault = Some(problem.help("remove other assemblies from the file"));
                }
                Err(problem) => assemblies[index].fault = Some(problem),
            }
        }
        self.collector.entry.assemblies = assemblies;
        Ok(self.collector.finish())
    }
}

/// Returns the value of an item, if the value is a positive integer; otherwise returns `None`.
fn index(row: &Row<'_, '_>, item: &str) -> Option<usize> {
    row.text(item)?.parse().ok().filter(|&number| number > 0)
}

fn cell(row: &Row<'_, '_>) -> Option<md_engine::cell::PeriodicCell> {
    let edges = ["length_a", "length_b", "length_c"].map(|item| row.number(item));
    let angles = ["angle_alpha", "angle_beta", "angle_gamma"].map(|item| row.number(item));
    let ([Some(a), Some(b), Some(c)], [Some(alpha), Some(beta), Some(gamma)]) = (edges, angles) else { return None };
    // structures that were not determined by crystallography have placeholder edges of 1 Å
    if [a, b, c] == [1.0; 3] {
        return None;
    }
    cell_of([a, b, c].map(|edge| edge * ANGSTROM), [alpha, beta, gamma])
}

fn link(row: &Row<'_, '_>) -> Option<Link> {
    let kind = row.text("conn_type_id")?.to_ascii_lowercase();
    let kind = match kind.as_str() {
        "disulf" => LinkKind::Disulfide,
        "metalc" => LinkKind::Metal,
        kind if kind.starts_with("covale") || kind == "modres" => LinkKind::Covalent,
        _ => LinkKind::Other,
    };
    let end = |end: &str| {
        let item = |author: &str, label: &str| row.first([&format!("{end}_{author}"), &format!("{end}_{label}")]);
        Some(Address {
            chain: item("auth_asym_id", "label_asym_id")?,
            residue: item("auth_comp_id", "label_comp_id")?,
            number: item("auth_seq_id", "label_seq_id").unwrap_or_default().parse().unwrap_or(0),
            insertion_code: row.text(&format!("pdbx_{end}_pdb_ins_code")).and_then(|text| code(&text)),
            atom: item("auth_atom_id", "label_atom_id")?,
        })
    };
    let is_symmetry = row.text("ptnr1_symmetry") != row.text("ptnr2_symmetry");
    Some(Link { kind, ends: [end("ptnr1")?, end("ptnr2")?], is_symmetry })
}

fn operator(row: &Row<'_, '_>) -> Parsed<Operator> {
    let mut rows = [[0.0; 4]; 3];
    for (i, values) in rows.iter_mut().enumerate() {
        for (j, value) in values.iter_mut().enumerate() {
            let item = if j < 3 { format!("matrix[{}][{}]", i + 1, j + 1) } else { format!("vector[{}]", i + 1) };
            *value = row.number(&item).ok_or_else(|| {
                let problem = Problem::new(format!("_pdbx_struct_oper_list.{item} is not a number"));
                problem.help("correct the operator, or leave out --assembly")
            })?;
        }
    }
    Ok(Operator::from_rows(rows))
}
