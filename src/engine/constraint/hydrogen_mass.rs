//! Hydrogen mass repartitioning, for longer time steps.

use super::select::rigid_waters;
use crate::error::{Problem, Result};
use crate::system::Topology;

/// Key of the input file that sets the mass of hydrogens.
const KEY: &[&str] = &["forces", "hydrogen_mass"];

/// Atomic number of hydrogen.
const HYDROGEN: u8 = 1;

/// Sets the mass of every hydrogen to `target` (amu) and subtracts the difference from the mass of the heavy atom to
/// which the hydrogen is bonded.
///
/// The total mass and the equilibrium averages of all functions of positions stay the same. Only the dynamics change.
/// Rigid waters and hydrogens without a heavy partner are not changed, as in OpenMM. `rigid_water` is that of
/// [`derive`](super::derive).
pub fn repartition_hydrogen_mass(topology: &mut Topology, target: f64, rigid_water: bool) -> Result<()> {
    if !(target > 0.0 && target.is_finite()) {
        return Err(Problem::new(format!("hydrogen_mass = {target} amu is not a positive mass")).of_key(KEY).into());
    }
    let keep = rigid_waters(topology, rigid_water);
    let bonded = topology.connectivity.iter().copied().chain(topology.bonded.bond_lengths().map(|(atoms, _)| atoms));
    let mut done = vec![false; topology.atoms.len()];
    for [i, j] in bonded {
        let is_hydrogen = |atom: u32| topology.atoms[atom as usize].element == HYDROGEN;
        let (hydrogen, heavy) = match (is_hydrogen(i), is_hydrogen(j)) {
            (true, false) => (i as usize, j as usize),
            (false, true) => (j as usize, i as usize),
            _ => continue,
        };
        let atoms = &mut topology.atoms;
        let massless = atoms[hydrogen].mass <= 0.0 || atoms[heavy].mass <= 0.0;
        if massless || keep[atoms[hydrogen].residue as usize] || std::mem::replace(&mut done[hydrogen], true) {
            continue;
        }
        atoms[heavy].mass -= target - atoms[hydrogen].mass;
        atoms[hydrogen].mass = target;
        if atoms[heavy].mass <= 0.0 {
            let residue = &topology.residues[atoms[heavy].residue as usize];
            let message = format!(
                "hydrogen_mass = {target} amu would make the mass of atom {} {} of {} {} zero or negative",
                heavy + 1,
                atoms[heavy].name,
                residue.name,
                residue.number
            );
            return Err(Problem::new(message)
                .help("use a smaller hydrogen_mass; 3 amu is usual for time steps of 4 fs")
                .of_key(KEY)
                .into());
        }
    }
    Ok(())
}
