//! Parameters of bonds, angles, Urey–Bradley terms and correction maps.

use md_engine::format::xml::Node;
use md_engine::system::CmapGrid;

use super::Parsed;
use super::atom_types::{AtomTypes, Pattern};
use super::tables::Terms;
use super::unknown;

/// Equilibrium value x₀ (nm or rad) and force constant k (kJ/mol/nm² or kJ/mol/rad²) of the energy ½ k (x − x₀)².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Harmonic {
    pub(super) equilibrium: f64,
    pub(super) force_constant: f64,
}

impl Harmonic {
    /// Reads the equilibrium value from the attribute `equilibrium` of an element, and the force constant.
    fn read(node: &Node<'_>, equilibrium: &str) -> Parsed<Self> {
        Ok(Harmonic { equilibrium: node.real(equilibrium)?, force_constant: node.real("k")? })
    }
}

/// Calls `read` with each child of a force. Fails if the name of a child differs from `name`.
fn each(force: &Node<'_>, name: &str, mut read: impl FnMut(&Node<'_>) -> Parsed<()>) -> Parsed<()> {
    force.children().try_for_each(|node| if node.name() == name { read(&node) } else { Err(unknown(&node, force)) })
}

/// Parameters of harmonic terms and correction maps.
#[derive(Clone, Debug, Default)]
pub(super) struct Bonded {
    pub(super) bonds: Terms<2, Harmonic>,
    pub(super) angles: Terms<3, Harmonic>,
    /// Urey–Bradley terms of atom classes
    pub(super) urey_bradleys_of_classes: Terms<3, Harmonic>,
    /// Urey–Bradley terms of atom types; an angle can have a term of this list and a term of `urey_bradleys_of_classes`
    pub(super) urey_bradleys_of_types: Terms<3, Harmonic>,
    /// correction maps, as indices into `grids`
    pub(super) cmaps: Terms<5, u32>,
    pub(super) grids: Vec<CmapGrid>,
}

impl Bonded {
    pub(super) fn read_bonds(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        each(force, "Bond", |node| self.bonds.add(node, types, Harmonic::read(node, "length")?))
    }

    pub(super) fn read_angles(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        each(force, "Angle", |node| self.angles.add(node, types, Harmonic::read(node, "angle")?))
    }

    /// Reads Urey–Bradley terms, whose energy is k (r − d)² without the factor ½.
    pub(super) fn read_urey_bradleys(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        each(force, "UreyBradley", |node| {
            let mut found = Harmonic::read(node, "d")?;
            found.force_constant *= 2.0;
            let Some(patterns) = types.patterns::<3>(node)? else { return Ok(()) };
            let is_class = |pattern: &Pattern| matches!(pattern, Pattern::Class(_));
            let is_type = |pattern: &Pattern| matches!(pattern, Pattern::Type(_));
            if patterns.iter().all(is_class) {
                self.urey_bradleys_of_classes.push(patterns, found);
            } else if patterns.iter().all(is_type) {
                self.urey_bradleys_of_types.push(patterns, found);
            } else {
                return Err(node.problem("expected three classes or three types"));
            }
            Ok(())
        })
    }

    pub(super) fn read_cmaps(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        let first = self.grids.len() as u32;
        let maps = force.children().filter(|node| node.name() == "Map").count();
        for node in force.children() {
            match node.name() {
                "Map" => self.grids.push(read_grid(&node)?),
                "Torsion" => {
                    let map = first + node.index("map", maps)?;
                    self.cmaps.add(&node, types, map)?;
                }
                _ => return Err(unknown(&node, force)),
            }
        }
        Ok(())
    }
}

/// Reads the energies of a correction map.
fn read_grid(node: &Node<'_>) -> Parsed<CmapGrid> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|energy| energy.is_finite());
    let energies = node
        .content()
        .split_whitespace()
        .map(|text| number(text).ok_or_else(|| node.problem(format!("`{}` is not a number", text.escape_default()))));
    let energies = energies.collect::<Parsed<Vec<f64>>>()?;
    let size = energies.len().isqrt();
    let good = size * size == energies.len() && size.is_multiple_of(2) && CmapGrid::SIZES.contains(&size);
    if !good {
        let problem = node.problem(format!("the map has {} energies", energies.len()));
        return Err(problem.help("the number of energies must be the square of an even number that is at least 4"));
    }
    Ok(CmapGrid::from_openmm(size, &energies))
}
