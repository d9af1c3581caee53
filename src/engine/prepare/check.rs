//! Checks that description, coordinates and options are valid and consistent with each other.

use super::options::Truncation;
use super::{ElectrostaticsSpec, Files, ForceOptions, LjPmeSpec, Options, PmeSpec, Setting, description};
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::format::Coordinates;
use crate::format::coordinates::{DEFAULT_BOX, FARTHEST, FASTEST};
use crate::system::{BoxKind, Description, DispersionCorrection, ListPolicy, Topology};
use crate::vec3::Vec3;
use std::path::Path;

/// Returns all problems of the description, the coordinates and the options.
pub(super) fn problems(
    description: &Description,
    coordinates: &Coordinates,
    options: &Options<'_>,
    truncation: &Truncation,
) -> Vec<Problem> {
    let Files { topology: file, coordinates: coordinates_file } = options.files;
    let forces = options.forces;
    let mut problems: Vec<Problem> =
        description::problems(description).into_iter().map(|problem| named(problem, file)).collect();
    problems.extend(check_options(forces, truncation));
    problems.extend(check_switch(forces, truncation));
    if !description.nonbonded.c4.is_empty() && truncation.lj_modifier.switch_distance().is_some() {
        let problem = Problem::new("12-6-4 ions cannot be combined with a Lennard-Jones switch");
        let help = "set lj_modifier = \"potential-shift\" or \"none\"";
        problems.push(problem.help(help).of_key(&["forces", "lj_modifier"]));
    }
    if problems.is_empty() && coordinates.cell.is_none() && truncation.cutoff.is_some() {
        problems.extend(missing_cell(description, coordinates).map(|problem| named(problem, coordinates_file)));
    }
    if !problems.is_empty() {
        return problems;
    }
    let topology = &description.topology;
    problems.extend(check_vectors(topology, coordinates).into_iter().map(|problem| named(problem, coordinates_file)));
    match &coordinates.cell {
        Some(cell) => {
            check_cell(forces, truncation, cell, &mut problems);
            problems.extend(too_long(topology, cell).map(|problem| named(problem, file)));
        }
        None => check_vacuum(forces, truncation, coordinates_file, &mut problems),
    }
    problems
}

/// Adds the name of the file to a problem. Without a file the problem is returned unchanged.
fn named(problem: Problem, file: Option<&Path>) -> Problem {
    match file {
        Some(path) => problem.in_file(path),
        None => problem,
    }
}

/// Returns a problem if the topology is periodic. The caller has checked that a cutoff is set and that the coordinates
/// have no cell.
fn missing_cell(description: &Description, coordinates: &Coordinates) -> Option<Problem> {
    let problem = Problem::new("the topology is for a periodic system, but the coordinates have no cell");
    let help = match coordinates.left_out.default_box {
        true => format!("{DEFAULT_BOX}, or set system.cell"),
        false => {
            "use a coordinate file with a box, or set system.cell; the box size in a topology is often out of date"
                .to_owned()
        }
    };
    (description.cell_hint.kind != BoxKind::None).then(|| problem.help(help))
}

/// Longest cutoff, nm. Tables of kernels in single precision cover distances from 1/256 of the cutoff on.
const MOST_CUTOFF: f64 = 15.0;

/// Largest product of α of PME and the cutoff. The part of the potential that is left out beyond the cutoff is erfc(6)
/// = 2·10⁻¹⁷ of the full potential, less than a rounding error of f64. For products above 7, the polynomials of
/// kernels in single precision would be inaccurate.
const MOST_SPLITTING: f64 = 6.0;

/// Returns a problem for each option that is invalid or contradicts another option.
fn check_options(forces: &ForceOptions, truncation: &Truncation) -> Vec<Problem> {
    let mut problems = vec![];
    let mut require = |good: bool, message: &str, help: &str| {
        if !good {
            problems.push(Problem::new(message).help(help));
        }
    };
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let distances = [truncation.cutoff, truncation.cutoff_lj];
    require(distances.iter().flatten().all(|&cutoff| positive(cutoff)), "a cutoff is not positive", "0.9 nm is usual");
    require(
        distances.iter().flatten().all(|&cutoff| cutoff <= MOST_CUTOFF || !cutoff.is_finite()),
        "a cutoff is longer than 15 nm",
        "without a cell, set cutoff = \"none\" for the interactions of all pairs",
    );
    require(
        truncation.cutoff.is_some() == truncation.cutoff_lj.is_some(),
        "cutoff and cutoff_lj must both be distances, or both be absent",
        "set both to the same distance unless the force field needs two",
    );
    let (needs_cutoff, numbers) = match forces.electrostatics {
        ElectrostaticsSpec::Off | ElectrostaticsSpec::Plain => (false, true),
        ElectrostaticsSpec::ReactionField { permittivity } => (true, permittivity >= 1.0),
        ElectrostaticsSpec::Pme(_) => (true, true),
    };
    require(
        !needs_cutoff || truncation.cutoff.is_some(),
        "PME and reaction field need a cutoff",
        "set electrostatics = \"plain\", the only Coulomb method without a cutoff",
    );
    require(
        numbers,
        "the relative permittivity of a reaction field is less than 1",
        "set the permittivity of the solvent, about 78 for water, or infinity for a conductor",
    );
    let lj_pme = match truncation.dispersion_correction {
        DispersionCorrection::Pme(LjPmeSpec::Explicit(parameters)) => Some(parameters.alpha),
        _ => None,
    };
    let pme = match forces.electrostatics {
        ElectrostaticsSpec::Pme(PmeSpec::Explicit { alpha, .. }) => Some(alpha),
        _ => None,
    };
    let products = [pme.zip(truncation.cutoff), lj_pme.zip(truncation.cutoff_lj)].into_iter().flatten();
    require(
        { products }.all(|(alpha, cutoff)| alpha * cutoff <= MOST_SPLITTING),
        "the product of alpha of PME and the cutoff is more than 6",
        "choose a smaller alpha or cutoff; at 3.5 the interactions beyond the cutoff are already below 10⁻⁶",
    );
    require(
        truncation.dispersion_correction == DispersionCorrection::Off || truncation.cutoff_lj.is_some(),
        "the dispersion correction needs a cutoff",
        "set dispersion_correction = false, or set a cutoff",
    );
    require(
        positive(forces.constraint_tolerance) && forces.constraint_tolerance < 1.0,
        "the constraint tolerance is not between 0 and 1",
        "the tolerance is relative to the length; 1e-6 is usual",
    );
    let list = match forces.list {
        ListPolicy::Drift { tolerance, pressure_tolerance, interval } => {
            positive(tolerance) && positive(pressure_tolerance) && interval != Some(0)
        }
        ListPolicy::Exact { buffer } => positive(buffer),
    };
    require(list, "tolerances, interval and buffer of pair lists must be positive", "use ForceOptions::default().list");
    problems
}

/// Returns a problem if a Lennard-Jones switch has no cutoff, or does not begin before the cutoff.
fn check_switch(forces: &ForceOptions, truncation: &Truncation) -> Option<Problem> {
    let from = truncation.lj_modifier.switch_distance()?;
    if matches!(truncation.dispersion_correction, DispersionCorrection::Pme(_)) {
        let problem = Problem::new("LJ-PME cannot be combined with a Lennard-Jones switch");
        let help = "set lj_modifier = \"potential-shift\" or \"none\"";
        return Some(problem.help(help).of_key(&["forces", "lj_modifier"]));
    }
    let Some(cutoff) = truncation.cutoff_lj else {
        let problem = Problem::new("a Lennard-Jones switch needs a cutoff");
        return Some(problem.help("set a cutoff, or leave lj_modifier out").of_key(&["forces", "lj_modifier"]));
    };
    // the comparison is false for NaN and if there is no cutoff
    if from > 0.0 && from < cutoff {
        return None;
    }
    if forces.lj_modifier == Setting::ForceField {
        let message = format!(
            "the CHARMM convention switches Lennard-Jones forces off from {from} nm, but cutoff_lj is only {cutoff} nm"
        );
        let help = "use a longer cutoff (1.2 nm in the CHARMM convention), or set lj_modifier";
        return Some(Problem::new(message).help(help).of_key(&["forces", "cutoff_lj"]));
    }
    let message = format!("lj_switch is {from} nm, but must be between zero and cutoff_lj, which is {cutoff} nm");
    let help = "for example lj_switch = \"1.0 nm\" with cutoff_lj = \"1.2 nm\"";
    Some(Problem::new(message).help(help).of_key(&["forces", "lj_switch"]))
}

fn check_vectors(topology: &Topology, coordinates: &Coordinates) -> Vec<Problem> {
    let velocities = coordinates.velocities.as_deref();
    let vectors = [(Some(&coordinates.positions[..]), "position", FARTHEST), (velocities, "velocity", FASTEST)];
    let mut problems = vec![];
    for (values, what, most) in vectors {
        let Some(values) = values else { continue };
        let (found, expected) = (values.len(), topology.atoms.len());
        if found != expected {
            let message =
                format!("the coordinates have a {what} for each of {found} atoms, but the topology has {expected}");
            problems.push(Problem::new(message).help("use the coordinates of the system that the topology describes"));
        }
        problems.extend(beyond(values, what, most, topology));
    }
    problems
}

/// Checks that all components of all vectors are finite and that no vector is longer than `most`. Returns a single
/// problem, which names the first vector that fails.
fn beyond(values: &[Vec3], what: &str, most: f64, topology: &Topology) -> Option<Problem> {
    let good = |v: &Vec3| v.norm() <= most;
    let count = values.iter().filter(|v| !good(v)).count();
    let first = values.iter().position(|v| !good(v))?;
    let name = topology.atoms.get(first).map(|atom| {
        let residue = topology.residues.get(atom.residue as usize);
        residue.map_or_else(|| format!(" ({})", atom.name), |r| format!(" ({} of {} {})", atom.name, r.name, r.number))
    });
    let message = format!(
        "the {what} of atom {}{} is NaN, infinite or outside the physical range; {count} atoms have this problem",
        first + 1,
        name.unwrap_or_default()
    );
    Some(Problem::new(message).help("the run that wrote the coordinate file was probably unstable; use another frame"))
}

fn check_cell(forces: &ForceOptions, truncation: &Truncation, cell: &PeriodicCell, problems: &mut Vec<Problem>) {
    let largest = cell.max_cutoff();
    if !(largest > 0.0 && cell.rows().iter().all(|row| row.norm() <= FARTHEST)) {
        problems.push(Problem::new(format!(
            "the periodic cell {:?} has no volume, or an edge is outside the physical range",
            cell.rows()
        )));
        return;
    }
    let Some(cutoff) = truncation.cutoff else {
        let problem = Problem::new("cutoff = \"none\" (all pairs) is not possible with a periodic cell");
        let help = format!("set a cutoff of at most {largest:.4} nm");
        problems.push(problem.help(help).of_key(&["forces", "cutoff"]));
        return;
    };
    for (name, distance) in [("cutoff", Some(cutoff)), ("cutoff_lj", truncation.cutoff_lj.filter(|lj| *lj != cutoff))] {
        if let Some(distance) = distance.filter(|distance| *distance > largest) {
            let message = format!(
                "{name} is {distance} nm, but the minimum-image convention allows at most {largest:.4} nm in this cell"
            );
            let help = "choose a smaller cutoff, or a larger cell";
            problems.push(Problem::new(message).help(help).of_key(&["forces", name]));
        }
    }
    let reach = truncation.cutoff_lj.map_or(cutoff, |lj| lj.max(cutoff));
    if let ListPolicy::Exact { buffer } = forces.list
        && reach <= largest
        && reach + buffer > largest
    {
        let message = format!(
            "list.buffer: cutoff + buffer is {} nm, but the minimum-image convention allows at most {largest:.4} nm",
            reach + buffer
        );
        let help = format!("at most \"{:.3} nm\" is possible", largest - reach);
        problems.push(Problem::new(message).help(help).of_key(&["forces", "list", "buffer"]));
    }
}

/// Returns a problem if a constraint is longer than half of the cell. A constraint longer than half of the cell cannot
/// be satisfied, because displacements are minimum images.
fn too_long(topology: &Topology, cell: &PeriodicCell) -> Option<Problem> {
    let longest = cell.max_cutoff();
    let constraint = topology.constraints.iter().find(|constraint| constraint.length > longest)?;
    let [a, b] = constraint.atoms.map(|atom| u64::from(atom) + 1);
    let message = format!(
        "the constraint between atoms {a} and {b} is {} nm long, but the minimum-image convention allows at most \
         {longest:.4} nm in this cell",
        constraint.length
    );
    Some(Problem::new(message).help("correct its length, or use coordinates with a larger cell"))
}

fn check_vacuum(forces: &ForceOptions, truncation: &Truncation, path: Option<&Path>, problems: &mut Vec<Problem>) {
    let mut without_cell = |what: &str, help: &str| problems.push(needs_cell(what, path).help(help));
    if matches!(forces.electrostatics, ElectrostaticsSpec::Pme(_)) {
        without_cell("electrostatics = \"pme\"", "in vacuum set cutoff = \"none\" and electrostatics = \"plain\"");
    }
    if truncation.dispersion_correction != DispersionCorrection::Off {
        without_cell("dispersion_correction", "set dispersion_correction = false, or cutoff = \"none\"");
    }
}

/// Returns the problem that a setting needs a periodic cell, but the coordinates have no cell.
pub fn needs_cell(what: &str, coordinates: Option<&Path>) -> Problem {
    let message = format!("{what} needs a periodic cell, and the coordinates have none");
    named(Problem::new(message), coordinates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LeftOut;
    use crate::prepare::{ConstrainedTerms, TuningMethod};
    use crate::system::{Atom, Exclusions, LjModifier, Nonbonded, Residue};
    use crate::vec3::vec3;

    fn problems(forces: ForceOptions, coordinates: &Coordinates) -> Vec<String> {
        let atom = Atom {
            name: Default::default(),
            type_name: Default::default(),
            element: 18,
            mass: 39.9,
            charge: 0.0,
            lj_type: 0,
            residue: 0,
        };
        let topology = Topology {
            atoms: vec![atom; 2],
            residues: vec![Residue { name: Default::default(), number: 1, first: 0 }],
            exclusions: Exclusions::from_pairs(2, []),
            ..Topology::default()
        };
        let nonbonded = Nonbonded { types: 1, c6: vec![1.0], c12: vec![1.0], ..Nonbonded::default() };
        let description = Description { topology, nonbonded, ..Description::default() };
        let options = Options {
            forces: &forces,
            tuning: TuningMethod::Model,
            constrained_terms: ConstrainedTerms::Drop,
            files: Files::default(),
        };
        let truncation = forces.truncation(&description.topology);
        super::problems(&description, coordinates, &options, &truncation).iter().map(ToString::to_string).collect()
    }

    fn still(edge: Option<f64>) -> Coordinates {
        Coordinates {
            cell: edge.map(|edge| PeriodicCell::orthorhombic([edge, edge, 2.0 * edge])),
            positions: vec![Vec3::ZERO; 2],
            velocities: Some(vec![Vec3::ZERO; 2]),
            ..Coordinates::default()
        }
    }

    #[track_caller]
    fn assert_one(found: &[String], expected: &str) {
        assert!(found.len() == 1 && found[0].contains(expected), "expected {expected}, found {found:?}");
    }

    #[test]
    fn sound_systems_pass() {
        assert_eq!(problems(ForceOptions::default(), &still(Some(2.0))), Vec::<String>::new());
        assert_eq!(problems(ForceOptions::all_pairs(), &still(None)), Vec::<String>::new());
    }

    #[test]
    fn cutoffs_and_permittivities_outside_the_range_of_tables_are_refused() {
        let field = |permittivity, cutoff| ForceOptions {
            cutoff: Setting::Given(Some(cutoff)),
            electrostatics: ElectrostaticsSpec::ReactionField { permittivity },
            ..ForceOptions::default()
        };
        assert_eq!(problems(field(1.0, 1.2), &still(Some(3.0))), Vec::<String>::new());
        assert_one(&problems(field(0.99, 1.2), &still(Some(3.0))), "less than 1");
        assert_one(&problems(field(78.0, 15.1), &still(Some(40.0))), "longer than 15 nm");
    }

    #[test]
    fn splittings_that_nothing_needs_are_refused() {
        let with = |alpha: f64, cutoff: f64| ForceOptions {
            cutoff: Setting::Given(Some(cutoff)),
            electrostatics: ElectrostaticsSpec::Pme(PmeSpec::Explicit { alpha, grid: [16; 3], order: 4 }),
            ..ForceOptions::default()
        };
        assert_eq!(problems(with(5.0, 1.2), &still(Some(3.0))), Vec::<String>::new());
        assert_one(&problems(with(5.1, 1.2), &still(Some(3.0))), "more than 6");
    }

    #[test]
    fn cutoffs_beyond_half_the_cell_are_refused() {
        let default = ForceOptions::default;
        assert_one(&problems(default(), &still(Some(1.79))), "cutoff is 0.9 nm");
        let longer = ForceOptions { cutoff_lj: Setting::Given(Some(1.2)), ..default() };
        assert_one(&problems(longer, &still(Some(2.0))), "cutoff_lj is 1.2 nm");
        let exact = ForceOptions { list: ListPolicy::Exact { buffer: 0.2 }, ..default() };
        assert_one(&problems(exact, &still(Some(2.0))), "at most \"0.100 nm\"");
    }

    #[test]
    fn cells_that_are_none_are_refused() {
        for edge in [0.0, -2.0, f64::NAN, f64::INFINITY] {
            assert_one(&problems(ForceOptions::default(), &still(Some(edge))), "has no volume");
        }
    }

    #[test]
    fn all_pairs_and_cells_exclude_each_other() {
        assert_one(&problems(ForceOptions::all_pairs(), &still(Some(2.0))), "set a cutoff of at most 1.0000 nm");
        let found = problems(ForceOptions::default(), &still(None));
        assert_eq!(found.len(), 2, "{found:?}");
        for (problem, expected) in found.iter().zip(["\"pme\"", "dispersion_correction"]) {
            assert!(problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn a_cube_that_was_read_as_no_cell_is_explained() {
        let mut description = Description::default();
        let help = |description: &Description, default_box| {
            let left_out = LeftOut { default_box, ..LeftOut::default() };
            let coordinates = Coordinates { left_out, ..Coordinates::default() };
            missing_cell(description, &coordinates).map(|problem| problem.to_string())
        };
        assert_eq!(help(&description, true), None);
        description.cell_hint.kind = BoxKind::Rectangular;
        for is_default in [true, false] {
            let text = help(&description, is_default).expect("a problem");
            assert!(text.contains("cube of 2 nm") == is_default && text.contains("set system.cell"), "{text}");
        }
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let with = |change: fn(&mut ForceOptions)| {
            let mut forces = ForceOptions::default();
            change(&mut forces);
            problems(forces, &still(Some(2.0)))
        };
        assert_one(&with(|f| f.cutoff = Setting::Given(Some(f64::NAN))), "a cutoff is not positive");
        let one_distance = |f: &mut ForceOptions| {
            (f.cutoff_lj, f.dispersion_correction) = (Setting::Given(None), Setting::Given(DispersionCorrection::Off));
        };
        assert_one(&with(one_distance), "both be absent");
        assert_one(&with(|f| f.constraint_tolerance = 1.0), "between 0 and 1");
        assert_one(&with(|f| f.list = ListPolicy::Exact { buffer: 0.0 }), "must be positive");
        let field = |f: &mut ForceOptions| f.electrostatics = ElectrostaticsSpec::ReactionField { permittivity: -1.0 };
        assert_one(&with(field), "permittivity");
        let mut forces = ForceOptions::all_pairs();
        forces.electrostatics = ForceOptions::default().electrostatics;
        assert_one(&problems(forces, &still(None)), "need a cutoff");
        let forces = ForceOptions {
            dispersion_correction: Setting::Given(DispersionCorrection::AllPairs),
            ..ForceOptions::all_pairs()
        };
        assert_one(&problems(forces, &still(None)), "the dispersion correction needs a cutoff");
    }

    #[test]
    fn switches_that_do_not_end_at_the_cutoff_are_refused() {
        let with = |lj_modifier, forces| problems(ForceOptions { lj_modifier, ..forces }, &still(Some(2.0)));
        for from in [0.9, 1.0, 0.0, -0.1, f64::NAN] {
            for modifier in [LjModifier::ForceSwitch { from }, LjModifier::PotentialSwitch { from }] {
                assert_one(
                    &with(Setting::Given(modifier), ForceOptions::default()),
                    "must be between zero and cutoff_lj",
                );
            }
        }
        let switch = Setting::Given(LjModifier::ForceSwitch { from: 0.8 });
        assert_eq!(with(switch, ForceOptions::default()), Vec::<String>::new());
        let all_pairs = ForceOptions { lj_modifier: switch, ..ForceOptions::all_pairs() };
        assert_one(&problems(all_pairs, &still(None)), "a Lennard-Jones switch needs a cutoff");
    }

    #[test]
    fn vectors_that_are_no_numbers_name_the_atom() {
        let mut bad = still(Some(2.0));
        bad.positions[1] = vec3(0.0, f64::NAN, 0.0);
        assert_one(&problems(ForceOptions::default(), &bad), "the position of atom 2");
        let mut bad = still(Some(2.0));
        bad.velocities = Some(vec![vec3(f64::INFINITY, 0.0, 0.0), Vec3::ZERO]);
        assert_one(&problems(ForceOptions::default(), &bad), "the velocity of atom 1");
        let mut bad = still(Some(2.0));
        bad.positions.pop();
        assert_one(&problems(ForceOptions::default(), &bad), "for each of 1 atoms, but the topology has 2");
    }
}
