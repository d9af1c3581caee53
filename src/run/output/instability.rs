//! Report on a simulation that became unstable, and the structure around the unstable atoms.

use std::fmt::Write;
use std::path::PathBuf;

use crate::backend::{Energies, Reference};
use crate::cell::displacement;
use crate::error::{Error, Result};
use crate::format::write_pdb_of;
use crate::observe::files::UNSTABLE;
use crate::observe::replace::replace_synced;
use crate::run::output::directory::Directory;
use crate::system::{State, System, Topology};
use crate::vec3::Vec3;

/// Radius (nm) around the unstable atoms within which residues are written. This radius includes two shells of
/// neighbours.
const REACH: f64 = 0.8;

/// Adds the unstable atoms and their largest energy terms to an instability error. The residues near the unstable atoms
/// are written to `unstable.pdb`, with the positions before the failed integration step. An error of any other kind is
/// returned unchanged.
pub(in crate::run) fn explain(error: Error, system: &System, before: &State, directory: &Directory) -> Error {
    let Error::Unstable { what, atoms } = error else { return error };
    let mut text = format!("step {}, {:.4} ps: {what}", before.step, before.time);
    // writing to a String cannot fail, so the results of `write!` are ignored below
    if let Ok(reference) = Reference::new(system) {
        for &atom in &atoms {
            let (term, energy) = largest(&reference.energies_of(atom, before.cell.as_ref(), &before.positions));
            let name = system.topology.atom_name(atom);
            let _ = write!(text, "\n  atom {} ({name}): largest energy term {term}, {energy:.3e} kJ/mol", atom + 1);
        }
    }
    if !atoms.is_empty() {
        let _ = match write_neighbourhood(system, before, &atoms, directory) {
            Ok(path) => write!(text, "\n  structure within {REACH} nm before this step: {}", path.display()),
            Err(error) => write!(text, "\n  the structure around the unstable atoms could not be written: {error}"),
        };
        text.push_str(
            "\n  help: minimise first if atoms overlap; otherwise use a shorter timestep, or heat more slowly",
        );
    }
    Error::Unstable { what: text, atoms }
}

/// Returns name and value (kJ/mol) of the energy term of largest magnitude; NaN counts as the largest.
fn largest(energies: &Energies) -> (&'static str, f64) {
    let terms = energies.named().filter(|(name, _)| *name != "potential");
    terms.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap_or(("none", 0.0))
}

fn write_neighbourhood(system: &System, before: &State, atoms: &[u32], directory: &Directory) -> Result<PathBuf> {
    let path = directory.file(UNSTABLE);
    let (chosen, positions) = neighbourhood(&system.topology, before, atoms);
    let title = format!("around atom {} before step {}", atoms[0] + 1, before.step);
    replace_synced(&path, |out| {
        write_pdb_of(&system.topology, chosen.iter().copied(), &positions, before.cell.as_ref(), &title, out)
    })?;
    Ok(path)
}

/// Returns the atoms of all residues near `atoms`, and the positions of all atoms of the system. The residues near
/// `atoms` are shifted to the periodic images that are nearest to `atoms`.
fn neighbourhood(topology: &Topology, state: &State, atoms: &[u32]) -> (Vec<usize>, Vec<Vec3>) {
    let mut positions = state.positions.clone();
    let between = |a: Vec3, b: Vec3| displacement(state.cell.as_ref(), a - b);
    let first = positions[atoms[0] as usize];
    let centers: Vec<Vec3> = atoms.iter().map(|&atom| first + between(positions[atom as usize], first)).collect();
    let mut chosen = vec![];
    for residue in 0..topology.residues.len() {
        let members = topology.residue_atoms(residue);
        let pairs = members.clone().flat_map(|i| centers.iter().map(move |&center| (i, center)));
        let distances = pairs.map(|(i, center)| {
            let d = between(positions[i], center);
            (d.norm_squared(), center + d - positions[i])
        });
        if let Some((square, shift)) = distances.min_by(|a, b| a.0.total_cmp(&b.0))
            && square <= REACH * REACH
        {
            members.clone().for_each(|i| positions[i] += shift);
            chosen.extend(members);
        }
    }
    (chosen, positions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::PeriodicCell;
    use crate::system::{Atom, Name, Residue};
    use crate::vec3::vec3;

    /// Creates residues of two atoms that are 0.1 nm apart; the first atom of each residue is at the position in
    /// `places`.
    fn pairs(places: &[Vec3]) -> (Topology, Vec<Vec3>) {
        let name = Name::new("X");
        let atom = |residue: usize| Atom {
            name,
            type_name: name,
            element: 6,
            mass: 12.0,
            charge: 0.0,
            lj_type: 0,
            residue: residue as u32,
        };
        let atoms = (0..2 * places.len()).map(|i| atom(i / 2)).collect();
        let residue = |i: usize| Residue { name, number: i as i32 + 1, first: 2 * i as u32 };
        let residues = (0..places.len()).map(residue).collect();
        let positions = places.iter().flat_map(|&r| [r, r + vec3(0.1, 0.0, 0.0)]).collect();
        (Topology { atoms, residues, ..Topology::default() }, positions)
    }

    #[test]
    fn whole_residues_in_the_images_that_meet() {
        let places = [vec3(0.1, 1.0, 1.0), vec3(3.8, 1.0, 1.0), vec3(2.0, 1.0, 1.0)];
        let (topology, positions) = pairs(&places);
        let cell = Some(PeriodicCell::orthorhombic([4.0; 3]));
        let state = State { cell, positions, ..State::default() };
        let (chosen, moved) = neighbourhood(&topology, &state, &[1]);
        // atom 1 is at x = 0.2 nm. The atom at 3.9 nm is within `REACH` of atom 1, because its periodic image is at
        // −0.1 nm; the atom at 2.0 nm is too far away
        assert_eq!(chosen, [0, 1, 2, 3]);
        assert!((moved[2].x + 0.2).abs() < 1e-12 && (moved[3].x + 0.1).abs() < 1e-12, "{moved:?}");
    }

    #[test]
    fn the_largest_term_is_named() {
        let energies = Energies { bond: 5.0, lj: 3.0, coulomb: -7.0, ..Energies::default() };
        assert_eq!(largest(&energies), ("coulomb", -7.0));
        let energies = Energies { bond: f64::NAN, lj: f64::INFINITY, ..Energies::default() };
        assert_eq!(largest(&energies).0, "bond");
    }
}
