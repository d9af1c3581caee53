//! Readers of OpenMM systems and states ([`state`]) as `XmlSerializer` writes them.
//!
//! Units and conventions of OpenMM are those of the engine. A bonded force may occur more than once. The input file of
//! md sets cutoffs and non-bonded methods ([`methods`]), thermostats and barostats. Custom forces may contain the
//! Lennard-Jones parameters as a table with an entry for each pair of types ([`lennard_jones`]). A force that md does
//! not support is refused, and the error names the force. Unknown attributes are refused, too ([`known`]).
//!
//! The file of an OpenMM system has no names of atoms and residues. If the coordinates have names, these names are used
//! ([`super::take_names`]). Without names in the coordinates, each atom is named by its element, which follows from its
//! mass, and each molecule is a residue ([`names`]).

mod forces;
mod known;
mod lennard_jones;
mod methods;
mod names;
mod nonbonded;
mod pairs;
mod sites;
mod state;

use std::path::Path;

use crate::cell::PeriodicCell;
use crate::error::Parsed;
use crate::format::options::TopologyOptions;
use crate::format::xml::{Document, Node};
use crate::system::{BoxKind, CellHint, Constraint, Description, Exclusions, Topology};
use crate::vec3::vec3;

pub(super) use state::{is_state, read_state};

use nonbonded::Nonbonded;
use pairs::Pairs;

/// Version of the format of OpenMM systems that md reads. Forces have version numbers of their own.
const VERSION: &str = "1";

/// Thermostats, barostats and removal of center-of-mass motion, which are ignored because the input file sets them.
const IGNORED: [&str; 7] = [
    "AndersenThermostat",
    "CMMotionRemover",
    "MonteCarloAnisotropicBarostat",
    "MonteCarloBarostat",
    "MonteCarloFlexibleBarostat",
    "MonteCarloMembraneBarostat",
    "MonteCarloMoleculeBarostat",
];

/// Whether the bytes are XML text that may be an OpenMM system.
pub(super) fn is_system(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    (text.starts_with(b"<?xml") || text.starts_with(b"<System")) && !is_state(bytes)
}

/// Reads the bytes of a system. `path` is the name of the file in messages.
pub(super) fn read(path: &Path, bytes: &[u8], options: &TopologyOptions) -> Parsed<Description> {
    options.are_used(&[], path)?;
    let document = Document::parse(path, bytes)?;
    let root = document.root();
    if root.name() != "System" {
        let problem = root.problem("expected a <System> of OpenMM");
        return Err(
            problem.help("write one with XmlSerializer.serialize(system); a State or a force field is not a System")
        );
    }
    if root.text("version")? != VERSION {
        return Err(root.problem(format!("version {}, expected {VERSION}", root.text("version")?)));
    }
    let mut topology = Topology { title: "OpenMM system".to_owned(), ..Topology::default() };
    let masses = particles(&root, &mut topology)?;
    let count = masses.len();
    let mut constrained = Pairs::default();
    for node in root.list("Constraints")? {
        let (atoms, length) = (node.particles(["p1", "p2"], count)?, node.real("d")?);
        constrained.add(atoms, node)?;
        topology.constraints.push(Constraint { atoms, length });
    }
    let (mut nonbonded, mut table, mut pairs14) = (None, None, vec![]);
    for force in root.list("Forces")? {
        let kind = force.text("type")?;
        match kind {
            "NonbondedForce" if nonbonded.is_some() => return Err(force.problem("a second NonbondedForce")),
            "NonbondedForce" => nonbonded = Some((force, nonbonded::read(&force, count)?)),
            "CustomNonbondedForce" => match lennard_jones::read_table(&force, count)? {
                Some(_) if table.is_some() => {
                    return Err(force.problem("the system has a second table of Lennard-Jones interactions"));
                }
                Some(found) => table = Some((force, found)),
                None => return Err(forces::unsupported(&force, "CustomNonbondedForce with an unsupported energy")),
            },
            "CustomBondForce" => match lennard_jones::read_pairs14(&force, count)? {
                Some(found) => pairs14.extend(found),
                None => return Err(forces::unsupported(&force, "CustomBondForce with an unsupported energy")),
            },
            kind if IGNORED.contains(&kind) => {}
            _ => forces::add(&force, kind, count, &mut topology)?,
        }
    }
    let no_force = || root.problem("no NonbondedForce").help("md needs charges and Lennard-Jones parameters");
    let (force, mut nonbonded) = nonbonded.ok_or_else(no_force)?;
    let (of_table, table) = table.unzip();
    lennard_jones::replace(&force, &mut nonbonded, table, pairs14)?;
    let Nonbonded { charges, lj_types, table, excluded, pairs14, periodic } = nonbonded;
    known::check(&root)?;
    topology.exclusions = Exclusions::from_pairs(count, excluded);
    topology.bonded.pairs14 = pairs14;
    names::add(&masses, &charges, &lj_types, &mut topology);
    let cell = if periodic { Some(cell(&root)?) } else { None };
    let kind = cell.as_ref().map_or(BoxKind::None, box_kind);
    topology.methods = methods::read(&force, of_table.as_ref(), cell.as_ref());
    Ok(Description { topology, nonbonded: table, cell_hint: CellHint { kind, angle_degrees: None }, nameless: true })
}

/// Reads the masses of the particles, and the virtual sites among them.
fn particles(root: &Node<'_>, topology: &mut Topology) -> Parsed<Vec<f64>> {
    let nodes: Vec<Node<'_>> = root.list("Particles")?.collect();
    let mut masses = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let mut sites = node.children();
        let (mass, site) = (node.real("mass")?, sites.next());
        if let Some(second) = sites.next() {
            return Err(second
                .problem(format!("particle {index} has two definitions of a virtual site"))
                .help("remove one of the two definitions"));
        }
        if mass < 0.0 || (site.is_some() != (mass == 0.0)) {
            let what = if site.is_some() { "a virtual site" } else { "a particle that is not a virtual site" };
            let problem = node.problem(format!("particle {index}, {what}, has the mass {mass}"));
            return Err(problem.help("OpenMM does not move massless particles; in md, use restraints instead"));
        }
        masses.push(mass);
        if let Some(site) = site {
            topology.virtual_sites.push(sites::read(&site, index as u32, nodes.len())?);
        }
    }
    Ok(masses)
}

/// Reads the periodic cell. If the coordinate file also has a cell, the run uses the cell of the coordinate file.
fn cell(root: &Node<'_>) -> Parsed<PeriodicCell> {
    let mut rows = [vec3(0.0, 0.0, 0.0); 3];
    let names = root.list("PeriodicBoxVectors")?.map(|node| node.name()).collect::<Vec<&str>>();
    if names != ["A", "B", "C"] {
        return Err(root.problem("expected the periodic box vectors A, B and C, once each"));
    }
    for (row, node) in rows.iter_mut().zip(root.list("PeriodicBoxVectors")?) {
        let [x, y, z] = node.reals(["x", "y", "z"])?;
        *row = vec3(x, y, z);
    }
    PeriodicCell::from_rows(rows).ok_or_else(|| root.problem("the periodic box vectors do not form a cell"))
}

fn box_kind(cell: &PeriodicCell) -> BoxKind {
    let [a, b, c] = cell.rows();
    let rectangular = [a.y, a.z, b.x, b.z, c.x, c.y] == [0.0; 6];
    if rectangular { BoxKind::Rectangular } else { BoxKind::Triclinic }
}
