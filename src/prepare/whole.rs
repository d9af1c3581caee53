//! From the plan to the system: reads the files it names, derives constraints and PME parameters.

use std::path::Path;

use rayon::prelude::*;

use super::check::check_system;
use crate::cell::PeriodicCell;
use crate::constraint::{derive, repartition_hydrogen_mass};
use crate::error::{Error, Problem, Result};
use crate::format::{BoxKind, Coordinates, file, read_coordinates, read_prmtop};
use crate::observe::checkpoint::is_checkpoint;
use crate::pme::{self, Splitting};
use crate::run::{Alternatives, Checkpoint, ElectrostaticsSpec, Plan, PmeSpec, TuningMethod};
use crate::system::{
    BondedTerms, Constraints, Coupling, Electrostatics, ForceSettings, Molecules, PmeParameters, State, System,
    Topology,
};
use crate::units::COULOMB;
use crate::vec3::Vec3;

/// The system and the state it starts from: molecules made whole, `velocities` empty where the file has none.
/// Every bonded term of the topology is there, constrained or not; see [`drop_constrained_terms`].
pub fn load(plan: &Plan) -> Result<(System, State)> {
    load_with_alternatives(plan).map(|(system, state, _)| (system, state))
}

/// The same, with other ways of computing PME that are as accurate as the plan asks for.
pub fn load_with_alternatives(plan: &Plan) -> Result<(System, State, Alternatives)> {
    let path = &plan.system.coordinates;
    let (amber, coordinates) =
        rayon::join(|| read_prmtop(&plan.system.topology), || read_coordinates_or_checkpoint(path, None, None));
    let amber = amber?;
    let mut topology = amber.topology;
    let atoms = topology.atoms.len();
    let coordinates = match coordinates {
        Ok(coordinates) if coordinates.positions.len() == atoms => coordinates,
        // once more with what the topology knows: perhaps that was all that lacked, else it makes the better message
        _ => read_coordinates_or_checkpoint(path, Some(atoms), amber.cell_hint.angle_degrees)?,
    };
    if coordinates.cell.is_none() && amber.cell_hint.kind != BoxKind::None && plan.forces.cutoff.is_some() {
        let problem = Problem::new("the topology is of a periodic system, but these coordinates have no cell");
        let help = "take coordinates that end with the box; the sizes in a topology are often out of date";
        return Err(problem.in_file(path).help(help).into());
    }
    let mut state = State {
        step: 0,
        time: 0.0,
        cell: coordinates.cell,
        positions: coordinates.positions,
        velocities: coordinates.velocities.unwrap_or_default(),
        coupling: Coupling::default(),
    };
    let problems = check_system(plan, &topology, &state);
    if !problems.is_empty() {
        return Err(Error::Input(problems));
    }
    if let Some(cell) = &state.cell {
        make_molecules_whole(&topology, cell, &mut state.positions);
    }
    let forces = &plan.forces;
    if let Some(mass) = forces.hydrogen_mass {
        repartition_hydrogen_mass(&mut topology, mass, forces.rigid_water)?;
    }
    let mut constraints = derive(&topology, forces.constraints, forces.rigid_water)?;
    constraints.tolerance = forces.constraint_tolerance;
    let (electrostatics, alternatives) = electrostatics(plan, &topology, &state)?;
    let settings = ForceSettings {
        cutoff: forces.cutoff,
        cutoff_lj: forces.cutoff_lj,
        electrostatics,
        lj_modifier: forces.lj_modifier,
        coulomb_modifier: forces.coulomb_modifier,
        dispersion_correction: forces.dispersion_correction,
        list: forces.list,
    };
    Ok((System { topology, nonbonded: amber.nonbonded, constraints, settings }, state, alternatives))
}

/// As [`read_coordinates`], or positions, velocities and cell of a checkpoint; step and time begin anew.
fn read_coordinates_or_checkpoint(
    path: &Path,
    expected_atoms: Option<usize>,
    box_angle: Option<f64>,
) -> Result<Coordinates> {
    // looking into a pipe would wait for somebody to write
    if file::open(path).is_err() || !is_checkpoint(path) {
        return read_coordinates(path, expected_atoms, box_angle);
    }
    let state = Checkpoint::read_state(path)?;
    let found = state.positions.len();
    if let Some(expected) = expected_atoms.filter(|&expected| expected != found) {
        let message = format!("{found} atoms, where the topology has {expected}");
        return Err(Problem::new(message).in_file(path).help("take the topology of the run that wrote it").into());
    }
    Ok(Coordinates {
        title: String::new(),
        time: Some(state.time),
        positions: state.positions,
        velocities: (!state.velocities.is_empty()).then_some(state.velocities),
        cell: state.cell,
    })
}

/// Moves atoms by lattice vectors so that bonded neighbours are nearest images. Whole molecules keep their bits.
fn make_molecules_whole(topology: &Topology, cell: &PeriodicCell, positions: &mut [Vec3]) {
    // nanometres where a bond crosses the cell, else roundings of 1e-15
    let to_image = |from: Vec3, to: Vec3| cell.minimum_image(to - from) - (to - from);
    let is_broken = |images: Vec3| images.norm() > 0.5 * cell.max_cutoff();
    let bonds = &topology.connectivity;
    if !bonds.iter().any(|&[i, j]| is_broken(to_image(positions[i as usize], positions[j as usize]))) {
        return;
    }
    let mut neighbours = vec![vec![]; positions.len()];
    for &[i, j] in bonds {
        neighbours[i as usize].push(j as usize);
        neighbours[j as usize].push(i as usize);
    }
    let molecules = Molecules::from_bonds(positions.len(), bonds);
    let mut placed = vec![false; positions.len()];
    for molecule in 0..molecules.len() {
        let first = molecules.atoms(molecule)[0] as usize;
        placed[first] = true;
        let mut reached = vec![first];
        while let Some(i) = reached.pop() {
            for &j in &neighbours[i] {
                if !std::mem::replace(&mut placed[j], true) {
                    let images = to_image(positions[i], positions[j]);
                    if is_broken(images) {
                        positions[j] += images;
                    }
                    reached.push(j);
                }
            }
        }
    }
}

fn electrostatics(plan: &Plan, topology: &Topology, state: &State) -> Result<(Electrostatics, Alternatives)> {
    let only = match plan.forces.electrostatics {
        ElectrostaticsSpec::Off => Electrostatics::Off,
        ElectrostaticsSpec::Plain => Electrostatics::Plain,
        ElectrostaticsSpec::ReactionField { permittivity } => Electrostatics::ReactionField { permittivity },
        // nothing to sum: atoms of a noble gas
        ElectrostaticsSpec::Pme(_) if topology.atoms.iter().all(|atom| atom.charge == 0.0) => Electrostatics::Off,
        ElectrostaticsSpec::Pme(spec) => {
            let missing = || Error::Internal("PME passed the checks without cell and cutoff".to_owned());
            let cell = state.cell.as_ref().ok_or_else(missing)?;
            let cutoff = plan.forces.cutoff.ok_or_else(missing)?;
            let (parameters, alternatives) = pme_parameters((plan, spec), cell, cutoff, topology, &state.positions)?;
            pme::check(&parameters)?;
            return Ok((Electrostatics::Pme(parameters), alternatives));
        }
    };
    Ok((only, Alternatives::default()))
}

/// A perfect crystal has no forces to relate the error to. Then this part of the force between two mean charges at
/// their mean distance is taken instead; in liquids, where the RMS force is about that force itself, it never acts.
const SMALLEST_RELATIVE_FORCE: f64 = 0.01;
/// Coulomb cutoffs that tuning may try, as parts of the longer cutoff: below, excluded pairs come to stand beyond what
/// the pair kernels correct; above, pairs grow more than a mesh can save.
const SHORTEST_CUTOFF: f64 = 0.65;
const LONGEST_CUTOFF: f64 = 1.2;
/// Part of half the cell's width that such a cutoff may have, so that a cell under pressure has room to shrink.
const ROOM: f64 = 0.9;

fn pme_parameters(
    (plan, spec): (&Plan, PmeSpec),
    cell: &PeriodicCell,
    cutoff: f64,
    topology: &Topology,
    positions: &[Vec3],
) -> Result<(PmeParameters, Alternatives)> {
    let charges: Vec<f64> = topology.atoms.iter().map(|atom| atom.charge).collect();
    let model = || {
        let structure = pme::ChargeStructure::sample(cell, positions, &charges);
        pme::ErrorModel::new(cell, cutoff, &charges, structure)
    };
    let longer = plan.forces.cutoff_lj.map_or(cutoff, |lj| lj.max(cutoff));
    let longest = (LONGEST_CUTOFF * longer).min(ROOM * cell.max_cutoff()).max(cutoff);
    let cutoffs = SHORTEST_CUTOFF * longer..=longest;
    let measures = plan.run.tuning == TuningMethod::Measure;
    let none = |own| (own, Alternatives { conventional: Some(own), others: vec![] });
    Ok(match spec {
        PmeSpec::Explicit { alpha, grid, order } => none(PmeParameters { alpha, grid, order }),
        PmeSpec::Spacing { spacing, order } => {
            let (own, mut alternatives) = none(pme::parameters_for_spacing(cell, cutoff, spacing, order)?);
            if measures {
                let model = model();
                let allowed = model.named_by_spacing(spacing, order);
                alternatives.others = model.splittings(&own, allowed, cutoffs);
            }
            (own, alternatives)
        }
        PmeSpec::ForceError(relative) => {
            let model = model();
            let error = relative * force_scale(cell, cutoff, topology, positions);
            let choices = model.choices(error)?;
            let own = if plan.run.tuning == TuningMethod::Off { choices[0] } else { model.cheapest(choices) };
            let others = choices.into_iter().filter(|other| *other != own);
            let mut others: Vec<Splitting> = others.map(|parameters| Splitting { cutoff, parameters }).collect();
            if measures {
                others.extend(model.splittings(&own, pme::allowed(error), cutoffs));
            }
            (own, Alternatives { conventional: Some(choices[0]), others })
        }
    })
}

/// The RMS electrostatic force (kJ/mol/nm) to which an error is related.
fn force_scale(cell: &PeriodicCell, cutoff: f64, topology: &Topology, positions: &[Vec3]) -> f64 {
    let charges: Vec<f64> = topology.atoms.iter().map(|atom| atom.charge).collect();
    let excluded = |i: usize, j: usize| topology.exclusions.contains(i as u32, j as u32);
    let force = pme::sample_force_rms(cell, positions, &charges, excluded, cutoff);
    let atoms = charges.len() as f64;
    let mean_square = charges.iter().map(|q| q * q).sum::<f64>() / atoms;
    let mean_force = COULOMB * mean_square * (atoms / cell.volume()).powf(2.0 / 3.0);
    force.max(SMALLEST_RELATIVE_FORCE * mean_force)
}

/// Drops the terms that constraints hold at a fixed value: bonds of fixed length, angles of rigid waters.
/// Dynamics leaves their constant energy out, and their forces would only work against the constraints.
pub fn drop_constrained_terms(topology: &mut Topology, constraints: &Constraints) {
    let ordered = |i: u32, j: u32| (i.min(j), i.max(j));
    let rigid = constraints.settles.iter().flat_map(|settle| {
        let [o, h1, h2] = settle.atoms;
        [ordered(o, h1), ordered(o, h2), ordered(h1, h2)]
    });
    let mut fixed: Vec<(u32, u32)> =
        constraints.bonds.iter().map(|bond| ordered(bond.atoms[0], bond.atoms[1])).chain(rigid).collect();
    fixed.sort_unstable();
    let is_fixed = |i, j| fixed.binary_search(&ordered(i, j)).is_ok();
    let BondedTerms { bonds, angles, .. } = &mut topology.bonded;
    let free_bonds = std::mem::take(bonds).into_par_iter().filter(|bond| !is_fixed(bond.atoms[0], bond.atoms[1]));
    *bonds = free_bonds.collect();
    let free_angles = std::mem::take(angles).into_par_iter().filter(|angle| {
        let [i, j, k] = angle.atoms;
        !(is_fixed(i, j) && is_fixed(j, k) && is_fixed(i, k))
    });
    *angles = free_angles.collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Angle, Bond, Constraint, Settle};
    use crate::vec3::vec3;

    #[test]
    fn broken_molecules_are_joined_and_whole_ones_untouched() {
        let cell = PeriodicCell::orthorhombic([2.0, 2.0, 2.0]);
        let topology = Topology { connectivity: vec![[0, 1], [1, 2], [3, 4]], ..Topology::default() };
        let whole = [vec3(1.95, 0.0, 0.1), vec3(2.04, 0.0, 0.1), vec3(2.13, 0.0, 0.1), vec3(0.3, 0.3, 0.3)];
        let mut positions = vec![whole[0], whole[1] - vec3(2.0, 0.0, 0.0), whole[2] - vec3(2.0, 4.0, 0.0), whole[3]];
        positions.push(vec3(0.4, 0.3, 0.3));
        make_molecules_whole(&topology, &cell, &mut positions);
        // two additions of numbers near 2: a few roundings of 4e-16
        assert!(whole.iter().zip(&positions).all(|(a, b)| (*a - *b).norm() < 2e-15), "{positions:?}");
        let before = positions.clone();
        make_molecules_whole(&topology, &cell, &mut positions);
        assert_eq!(before, positions);
    }

    #[test]
    fn constrained_terms_are_dropped_and_no_others() {
        let mut topology = Topology::default();
        let bond = |i, j| Bond { atoms: [i, j], length: 0.1, force_constant: 1.0 };
        let angle = |i, j, k| Angle { atoms: [i, j, k], angle: 1.9, force_constant: 1.0 };
        topology.bonded.bonds = vec![bond(0, 1), bond(2, 0), bond(2, 1), bond(4, 3), bond(4, 5)];
        topology.bonded.angles = vec![angle(1, 0, 2), angle(3, 4, 5)];
        let constraints = Constraints {
            settles: vec![Settle { atoms: [0, 1, 2], oh: 0.1, hh: 0.15 }],
            bonds: vec![Constraint { atoms: [3, 4], length: 0.1 }],
            ..Constraints::default()
        };
        drop_constrained_terms(&mut topology, &constraints);
        assert_eq!(topology.bonded.bonds, vec![bond(4, 5)]);
        assert_eq!(topology.bonded.angles, vec![angle(3, 4, 5)]);
    }
}
