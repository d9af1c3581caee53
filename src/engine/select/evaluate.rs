//! Evaluation of a parsed selection.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use super::Geometry;
use super::expression::{Class, Comparison, Expansion, Expression, Number, Place, ResidueNumber, Text, Value};
use super::parser::Fault;
use super::residues::{CAPS, Kind};
use super::words::matches;
use crate::format::element::symbol;
use crate::neighbours::Neighbours;
use crate::system::{ChainLabel, Molecules, Residue, Topology};
use crate::vec3::Vec3;

/// Largest difference (e) at which a charge equals the number in a comparison. AMBER topologies store charges with nine
/// digits in another unit, so that the charges of one molecule differ by up to 10⁻⁸ e between files.
const SAME_CHARGE: f64 = 1e-7;

/// Names of backbone atoms.
const BACKBONE: [&str; 4] = ["N", "CA", "C", "O"];
/// Names of the hydrogens and terminal oxygens of the backbone, which the side chain does not contain. GROMACS' group
/// SideChain leaves out the same atoms.
const ON_BACKBONE: [&str; 20] = [
    "H", "HN", "H1", "H2", "H3", "HT1", "HT2", "HT3", "HA", "HA1", "HA2", "HA3", "OXT", "HXT", "OT1", "OT2", "OC1",
    "OC2", "O1", "O2",
];

/// Topology and positions for which a selection is evaluated.
pub(super) struct Evaluation<'a> {
    topology: &'a Topology,
    geometry: Option<Geometry<'a>>,
    molecules: OnceCell<Molecules>,
}

type Chosen = Result<Vec<bool>, Fault>;

impl<'a> Evaluation<'a> {
    pub(super) fn new(topology: &'a Topology, geometry: Option<Geometry<'a>>) -> Self {
        Evaluation { topology, geometry, molecules: OnceCell::new() }
    }

    /// Returns for each atom whether the atom is selected.
    pub(super) fn of(&self, expression: &Expression) -> Chosen {
        Ok(match expression {
            Expression::Any(parts) => self.joined(parts, |chosen, more| *chosen |= more)?,
            Expression::All(parts) => self.joined(parts, |chosen, also| *chosen &= also)?,
            Expression::Not(inner) => self.of(inner)?.into_iter().map(|chosen| !chosen).collect(),
            Expression::Class(class) => self.class(*class),
            Expression::Text(property, values) => self.texts(*property, values)?,
            Expression::Numbers(property, ranges, place) => self.numbers(*property, ranges, place)?,
            Expression::Residues(ranges) => self.residue_numbers(ranges),
            Expression::Compare(property, comparison, bound, place) => {
                self.comparison(*property, *comparison, *bound, place)?
            }
            Expression::Expand(expansion, inner, place) => self.expansion(*expansion, &self.of(inner)?, place)?,
        })
    }

    fn joined(&self, parts: &[Expression], join: impl Fn(&mut bool, bool)) -> Chosen {
        let mut chosen = self.of(&parts[0])?;
        for part in &parts[1..] {
            chosen.iter_mut().zip(self.of(part)?).for_each(|(chosen, other)| join(chosen, other));
        }
        Ok(chosen)
    }

    fn atoms(&self, choose: impl Fn(usize) -> bool) -> Vec<bool> {
        (0..self.topology.atoms.len()).map(choose).collect()
    }

    fn residue(&self, atom: usize) -> usize {
        self.topology.atoms[atom].residue as usize
    }

    fn class(&self, class: Class) -> Vec<bool> {
        let topology = self.topology;
        let name = |atom: usize| topology.atoms[atom].name.as_str();
        match class {
            Class::All => self.atoms(|_| true),
            Class::Hydrogen => self.atoms(|atom| topology.atoms[atom].element == 1),
            Class::Heavy => self.atoms(|atom| topology.atoms[atom].element > 1),
            Class::Residues(kind) => {
                let chosen = self.residues(kind);
                self.atoms(|atom| chosen[self.residue(atom)])
            }
            Class::Backbone => {
                let protein = self.residues(Kind::Protein);
                self.atoms(|atom| protein[self.residue(atom)] && BACKBONE.contains(&name(atom)))
            }
            Class::Sidechain => {
                let protein = self.residues(Kind::Protein);
                let has_none = |residue: usize| CAPS.contains(&topology.residues[residue].name.as_str());
                let is_backbone = |name| BACKBONE.contains(&name) || ON_BACKBONE.contains(&name);
                self.atoms(|atom| {
                    let residue = self.residue(atom);
                    protein[residue] && !has_none(residue) && !is_backbone(name(atom))
                })
            }
        }
    }

    /// Returns for each residue whether the residue is of the given kind (such as protein or water).
    fn residues(&self, kind: Kind) -> Vec<bool> {
        let residues = self.topology.residues.iter().enumerate();
        let is = |index| kind == Kind::Water && self.topology.is_water(index);
        residues.map(|(index, residue)| kind.has(residue.name.as_str()) || is(index)).collect()
    }

    /// Selects atoms whose text equals one of the values or matches a pattern. A value with `*` or `?` that equals the
    /// text of some atom, like the name `C1*`, is not used as a pattern.
    fn texts(&self, property: Text, values: &[Value]) -> Chosen {
        let place = values.first().map_or(0..0, |value| value.place.clone());
        if property == Text::Type && !self.has_types() {
            let what = "the file states no force-field types: give a topology".to_owned();
            return Err(Fault { what, place });
        }
        let labels = self.labels(property, place)?;
        let text = |atom: usize| match property {
            Text::Name => self.topology.atoms[atom].name.as_str(),
            Text::Type => self.topology.atoms[atom].type_name.as_str(),
            Text::Element => symbol(self.topology.atoms[atom].element),
            Text::Resname => self.topology.residues[self.residue(atom)].name.as_str(),
            Text::Chain => labels[self.residue(atom)].chain.as_str(),
            Text::Segid => labels[self.residue(atom)].segment.as_str(),
        };
        let wanted: HashSet<&str> = values.iter().map(|value| value.text.as_str()).collect();
        let mut verdicts: HashMap<&str, bool> =
            (0..self.topology.atoms.len()).map(|atom| (text(atom), false)).collect();
        let patterns = values.iter().filter(|value| value.is_pattern() && !verdicts.contains_key(value.text.as_str()));
        let patterns: Vec<&str> = patterns.map(|value| value.text.as_str()).collect();
        for (text, verdict) in &mut verdicts {
            *verdict = wanted.contains(text) || patterns.iter().any(|pattern| matches(pattern, text));
        }
        Ok(self.atoms(|atom| verdicts[text(atom)]))
    }

    /// Returns the chain labels of the residues. Fails if the property needs chains or segments that the file does not
    /// state.
    fn labels(&self, property: Text, place: Place) -> Result<&'a [ChainLabel], Fault> {
        let labels = &self.topology.chain_labels;
        let (keyword, is_given): (_, fn(&ChainLabel) -> bool) = match property {
            Text::Chain => ("chains", |label| !label.chain.as_str().is_empty()),
            Text::Segid => ("segments", |label| !label.segment.as_str().is_empty()),
            _ => return Ok(&[]),
        };
        if labels.len() == self.topology.residues.len() && labels.iter().any(is_given) {
            return Ok(labels);
        }
        let files = "PDB and mmCIF files state chains; PSF and PDB files state segments";
        let what = format!("the file states no {keyword} ({files}): select with \"molecule\", \"resid\" or \"index\"");
        Err(Fault { what, place })
    }

    /// Selects the atoms for which the property is in one of the ranges.
    fn numbers(&self, property: Number, ranges: &[RangeInclusive<i64>], place: &Place) -> Chosen {
        let number = self.number(property, place)?;
        let counted = match property {
            Number::Index => Some(("index", "atoms", self.topology.atoms.len())),
            Number::Molecule => Some(("molecule", "molecules", self.molecules().len())),
            _ => None,
        };
        if let Some((keyword, plural, count)) = counted {
            let last = count as i64 - 1;
            if let Some(outside) = ranges.iter().find(|range| *range.start() < 0 || *range.end() > last) {
                let (first, end) = outside.clone().into_inner();
                let what = format!("{keyword} {first} to {end} is out of range: {plural} are numbered 0 to {last}");
                return Err(Fault { what, place: place.clone() });
            }
        }
        let ranges = Disjoint::new(ranges);
        Ok(self.atoms(|atom| ranges.contains(number(atom) as i64)))
    }

    /// Selects the atoms of the residues whose number and insertion code are in one of the ranges.
    fn residue_numbers(&self, ranges: &[RangeInclusive<ResidueNumber>]) -> Vec<bool> {
        let (topology, ranges) = (self.topology, Disjoint::new(ranges));
        let chosen = topology.residues.iter().enumerate().map(|(residue, &Residue { number, .. })| {
            let code = topology.chain_labels.get(residue).and_then(|label| label.insertion_code);
            ranges.contains((i64::from(number), code))
        });
        let chosen: Vec<bool> = chosen.collect();
        self.atoms(|atom| chosen[self.residue(atom)])
    }

    fn comparison(&self, property: Number, comparison: Comparison, bound: f64, place: &Place) -> Chosen {
        let number = self.number(property, place)?;
        let tolerance = if property == Number::Charge { SAME_CHARGE } else { 0.0 };
        Ok(self.atoms(|atom| {
            let value = number(atom);
            comparison.holds(if (value - bound).abs() <= tolerance { bound } else { value }, bound)
        }))
    }

    /// Returns a function from the index of an atom to the value of the property.
    fn number(&self, property: Number, place: &Place) -> Result<impl Fn(usize) -> f64, Fault> {
        self.check_known(property, place)?;
        Ok(move |atom: usize| match property {
            Number::Resid => f64::from(self.topology.residues[self.residue(atom)].number),
            Number::Index => atom as f64,
            Number::Molecule => self.molecules().of_atom(atom) as f64,
            Number::Mass => self.topology.atoms[atom].mass,
            Number::Charge => self.topology.atoms[atom].charge,
        })
    }

    /// Fails if the file does not state the given property of atoms. Coordinate files, for example, state neither
    /// charges nor bonds.
    fn check_known(&self, property: Number, place: &Place) -> Result<(), Fault> {
        let atoms = &self.topology.atoms;
        let what = match property {
            Number::Molecule => return self.check_bonds(place),
            Number::Mass if atoms.iter().all(|atom| atom.mass == 0.0) => "masses",
            Number::Charge if atoms.iter().all(|atom| atom.charge == 0.0) => "charges",
            _ => return Ok(()),
        };
        let what = format!("all {what} are zero or unknown: give a topology that states these values");
        Err(Fault { what, place: place.clone() })
    }

    /// Whether the file states the types of atoms. Coordinate files state no types, so that atom names are used
    /// instead.
    fn has_types(&self) -> bool {
        let atoms = &self.topology.atoms;
        !atoms.iter().all(|atom| atom.type_name == atom.name && atom.charge == 0.0 && atom.lj_type == 0)
            && !atoms.iter().all(|atom| atom.type_name.as_str().is_empty())
    }

    fn molecules(&self) -> &Molecules {
        self.molecules.get_or_init(|| self.topology.molecules())
    }

    /// Fails if the file states no bonds. A file in which every residue is a single atom passes the check, because
    /// single atoms have no bonds.
    fn check_bonds(&self, place: &Place) -> Result<(), Fault> {
        let topology = self.topology;
        let has_bonds = !topology.connectivity.is_empty() || !topology.constraints.is_empty();
        if has_bonds || topology.residues.len() == topology.atoms.len() {
            return Ok(());
        }
        let what = "this file states no bonds, so its molecules are unknown: give a topology, or select with \
                    \"resid\" or \"byres\"";
        Err(Fault { what: what.to_owned(), place: place.clone() })
    }

    /// Returns the atoms that have the relation `expansion` to the atoms in `inner`.
    fn expansion(&self, expansion: Expansion, inner: &[bool], place: &Place) -> Chosen {
        let topology = self.topology;
        Ok(match expansion {
            Expansion::SameResidue => self.sharing(inner, topology.residues.len(), |atom| self.residue(atom)),
            Expansion::SameMolecule => {
                self.check_bonds(place)?;
                let molecules = self.molecules();
                self.sharing(inner, molecules.len(), |atom| molecules.of_atom(atom))
            }
            Expansion::SameChain => {
                let labels = self.labels(Text::Chain, place.clone())?;
                let chosen = inner.iter().enumerate().filter(|(_, chosen)| **chosen);
                let chains: HashSet<_> = chosen.map(|(atom, _)| labels[self.residue(atom)].chain).collect();
                self.atoms(|atom| chains.contains(&labels[self.residue(atom)].chain))
            }
            Expansion::BondedTo => {
                self.check_bonds(place)?;
                let mut chosen = vec![false; inner.len()];
                for [i, j] in topology.connectivity.iter().map(|pair| pair.map(|atom| atom as usize)) {
                    chosen[i] |= inner[j];
                    chosen[j] |= inner[i];
                }
                chosen
            }
            Expansion::Around(distance) => {
                let near = self.near(inner, distance, place)?;
                near.into_iter().zip(inner).map(|(near, inner)| near && !inner).collect()
            }
            Expansion::Within(distance) => self.near(inner, distance, place)?,
        })
    }

    /// Selects all atoms of the groups that contain a chosen atom. `group` returns the index (below `count`) of the
    /// group of an atom.
    fn sharing(&self, chosen: &[bool], count: usize, group: impl Fn(usize) -> usize) -> Vec<bool> {
        let mut groups = vec![false; count];
        chosen.iter().enumerate().filter(|(_, chosen)| **chosen).for_each(|(atom, _)| groups[group(atom)] = true);
        self.atoms(|atom| groups[group(atom)])
    }

    /// Returns for each atom whether an atom of `inner` is within `distance` (nm). An atom of `inner` is within any
    /// distance of itself.
    fn near(&self, inner: &[bool], distance: f64, place: &Place) -> Chosen {
        let fault = |what: &str| Fault { what: what.to_owned(), place: place.clone() };
        let Some(Geometry { positions, cell }) = self.geometry else {
            return Err(fault(
                "a distance needs positions, which are not known here. Positions are known to md run, md analyze, md \
                 convert, and md select with a structure or trajectory",
            ));
        };
        if positions.len() != inner.len() {
            return Err(fault("the number of positions differs from the number of atoms"));
        }
        // every position has a periodic image within half the sum of the lengths of the lattice vectors
        let farthest = cell.map_or(f64::INFINITY, |cell| 0.5 * cell.rows().map(Vec3::norm).iter().sum::<f64>());
        let distance = distance.min(farthest);
        let chosen = positions.iter().zip(inner).filter(|(_, inner)| **inner).map(|(&position, _)| position);
        let targets = Neighbours::new(cell, &chosen.collect::<Vec<Vec3>>(), distance);
        // most positions that have a target within the distance have one far within it, which is found sooner
        let has_target = |position: Vec3, range: f64| targets.any_within(position, range, |_, _| true);
        let is_near = |&position: &Vec3| has_target(position, 0.25 * distance) || has_target(position, distance);
        Ok(positions.iter().zip(inner).map(|(position, &inner)| inner || is_near(position)).collect())
    }
}

/// Ranges in ascending order that do not overlap.
struct Disjoint<T>(Vec<RangeInclusive<T>>);

impl<T: Copy + Ord> Disjoint<T> {
    fn new(ranges: &[RangeInclusive<T>]) -> Self {
        let mut sorted = ranges.to_vec();
        sorted.sort_unstable_by_key(|range| *range.start());
        let mut merged: Vec<RangeInclusive<T>> = vec![];
        for range in sorted {
            match merged.last_mut() {
                Some(last) if range.start() <= last.end() => *last = *last.start()..=*last.end().max(range.end()),
                _ => merged.push(range),
            }
        }
        Disjoint(merged)
    }

    fn contains(&self, value: T) -> bool {
        // only the last range that begins at or before `value` can contain `value`
        let after = self.0.partition_point(|range| *range.start() <= value);
        after > 0 && self.0[after - 1].contains(&value)
    }
}
