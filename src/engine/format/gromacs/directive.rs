//! Directives of a topology (the headings `[ name ]`), and the order in which they may occur.

use super::Parsed;
use crate::error::{Problem, nearest};
use crate::format::number;

/// Meaning of the lines below the heading of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Defaults,
    AtomTypes,
    BondTypes,
    ConstraintTypes,
    AngleTypes,
    DihedralTypes,
    PairTypes,
    NonbondParameters,
    CmapTypes,
    /// implicit solvent, which GROMACS no longer supports; its lines are skipped as in GROMACS
    ImplicitSolvent,
    MoleculeType,
    /// state after the single line below `[ moleculetype ]` has been read; a further line is an error
    MoleculeTypeRead,
    Atoms,
    Bonds,
    Pairs,
    Angles,
    Dihedrals,
    Cmaps,
    Exclusions,
    Constraints,
    Settles,
    /// virtual sites, with the number of atoms that define a site; 0 stands for any number
    VirtualSites(u8),
    /// position restraints, which belong to the stages of a run and not to the system
    PositionRestraints,
    /// interactions that md does not support, with advice for the error message
    Unsupported(&'static str),
    System,
    Molecules,
    /// terms between molecules: the heading `[ intermolecular_interactions ]`, followed by directives that molecule
    /// types also have
    Intermolecular,
}

/// Parts of a topology, in the order in which they occur in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    #[default]
    ForceField,
    Molecule,
    System,
    Intermolecular,
}

const RESTRAINTS: &str = "set restraints of distances, angles and torsions in the stage (restraints), and do not \
    define the macro that includes this section";
const ORIENTATIONS: &str = "md has no restraints of orientations; do not define the macro that includes this section";
pub(super) const POSITION_RESTRAINTS: &str = "set position restraints in the stage (position_restraints), and do not \
    define the macro that includes this section";
const POLARIZATION: &str = "polarisable force fields are not supported";

/// All directives of GROMACS: name, meaning of the lines, and the part of the topology.
const DIRECTIVES: &[(&str, Directive, Part)] = &[
    ("defaults", Directive::Defaults, Part::ForceField),
    ("atomtypes", Directive::AtomTypes, Part::ForceField),
    ("bondtypes", Directive::BondTypes, Part::ForceField),
    ("constrainttypes", Directive::ConstraintTypes, Part::ForceField),
    ("angletypes", Directive::AngleTypes, Part::ForceField),
    ("dihedraltypes", Directive::DihedralTypes, Part::ForceField),
    ("pairtypes", Directive::PairTypes, Part::ForceField),
    ("nonbond_params", Directive::NonbondParameters, Part::ForceField),
    ("cmaptypes", Directive::CmapTypes, Part::ForceField),
    ("implicit_genborn_params", Directive::ImplicitSolvent, Part::ForceField),
    ("implicit_surface_params", Directive::ImplicitSolvent, Part::ForceField),
    ("moleculetype", Directive::MoleculeType, Part::Molecule),
    ("atoms", Directive::Atoms, Part::Molecule),
    ("bonds", Directive::Bonds, Part::Molecule),
    ("pairs", Directive::Pairs, Part::Molecule),
    ("angles", Directive::Angles, Part::Molecule),
    ("dihedrals", Directive::Dihedrals, Part::Molecule),
    ("cmap", Directive::Cmaps, Part::Molecule),
    ("exclusions", Directive::Exclusions, Part::Molecule),
    ("constraints", Directive::Constraints, Part::Molecule),
    ("settles", Directive::Settles, Part::Molecule),
    ("virtual_sites1", Directive::VirtualSites(1), Part::Molecule),
    ("virtual_sites2", Directive::VirtualSites(2), Part::Molecule),
    ("virtual_sites3", Directive::VirtualSites(3), Part::Molecule),
    ("virtual_sites4", Directive::VirtualSites(4), Part::Molecule),
    ("virtual_sitesn", Directive::VirtualSites(0), Part::Molecule),
    ("pairs_nb", Directive::Unsupported("list the pairs in [ pairs ]"), Part::Molecule),
    ("position_restraints", Directive::PositionRestraints, Part::Molecule),
    ("angle_restraints", Directive::Unsupported(RESTRAINTS), Part::Molecule),
    ("angle_restraints_z", Directive::Unsupported(ORIENTATIONS), Part::Molecule),
    ("distance_restraints", Directive::Unsupported(RESTRAINTS), Part::Molecule),
    ("orientation_restraints", Directive::Unsupported(ORIENTATIONS), Part::Molecule),
    ("dihedral_restraints", Directive::Unsupported(RESTRAINTS), Part::Molecule),
    ("polarization", Directive::Unsupported(POLARIZATION), Part::Molecule),
    ("water_polarization", Directive::Unsupported(POLARIZATION), Part::Molecule),
    ("thole_polarization", Directive::Unsupported(POLARIZATION), Part::Molecule),
    ("system", Directive::System, Part::System),
    ("molecules", Directive::Molecules, Part::System),
    ("intermolecular_interactions", Directive::Intermolecular, Part::Intermolecular),
];

/// Directives that may occur below `[ intermolecular_interactions ]`. Constraints, virtual sites and exclusions between
/// molecules are not allowed.
const BETWEEN_MOLECULES: [Directive; 5] =
    [Directive::Bonds, Directive::Angles, Directive::Dihedrals, Directive::Pairs, Directive::Cmaps];

/// Returns the name in a heading; `None` if the line is not a heading.
pub(super) fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('[')?;
    Some(rest.split_once(']').map_or(rest, |(name, _)| name).trim())
}

/// Returns the directive with a name, and the part of the topology to which it belongs.
fn find(name: &str) -> Option<(Directive, Part)> {
    // GROMACS ignores case, dashes and underscores in names of directives; "dummies" is the old name of virtual sites
    let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
    let name = plain(name).replace("dummies", "virtualsites");
    let known = DIRECTIVES.iter().find(|(known, ..)| plain(known) == name)?;
    Some((known.1, known.2))
}

/// Returns the directive of a heading, and the part of the topology to which it belongs. Returns `None` if the line is
/// not a heading. `part` is the part of the topology to which the preceding line belongs. Fails if the heading is not
/// allowed after `part`.
pub(super) fn directive(line: &str, part: Part) -> Parsed<Option<(Directive, Part)>> {
    let Some(name) = heading(line) else { return Ok(None) };
    if !line.ends_with(']') {
        return Err(Problem::new("a heading must be alone in its line, such as [ atoms ]"));
    }
    let Some((directive, own)) = find(name) else {
        let problem = Problem::new(format!("[ {name} ] is unknown to GROMACS"));
        return Err(match nearest(name, DIRECTIVES.iter().map(|(known, ..)| *known)) {
            Some(near) => problem.help(format!("did you mean [ {near} ]?")),
            None => problem.help("is the name of the section misspelled?"),
        });
    };
    if (own, part) == (Part::Molecule, Part::Intermolecular) {
        return match directive {
            Directive::Unsupported(_) | Directive::PositionRestraints => Ok(Some((directive, part))),
            _ if BETWEEN_MOLECULES.contains(&directive) => Ok(Some((directive, part))),
            _ => {
                let problem = Problem::new(format!("[ {name} ] is not allowed below [ intermolecular_interactions ]"));
                Err(problem.help("bonds of function type 6, angles, dihedrals, pairs and cmap are allowed"))
            }
        };
    }
    if own < part {
        let message = format!("[ {name} ] comes too late in the topology");
        let help = "parameters of the force field must come before the first [ moleculetype ], and molecule types \
            before [ system ]; include files in that order";
        return Err(Problem::new(message).help(help));
    }
    Ok(Some((directive, own)))
}

/// Whether a line is the heading of a directive that GROMACS knows.
pub(super) fn is_heading(line: &str) -> bool {
    heading(line).is_some_and(|name| find(name).is_some())
}

/// Returns the error for a line with an interaction that md does not support.
pub(super) fn unsupported(what: impl std::fmt::Display, help: &str) -> Problem {
    Problem::new(format!("{what}: md does not support this")).help(help.to_owned())
}

/// Returns the error for a function type that md does not support in a directive.
pub(super) fn unknown_function(name: &str, number: &str, known: &str) -> Problem {
    let message = format!("function type {} of {name} is not supported", number::quoted(number.as_bytes()));
    Problem::new(message).help(format!("md supports {known}"))
}
