//! Sums and faults of the device, converted to units of the host.

use super::device::{Device, read, read_one};
use super::lattice;
use super::layout::{
    Arguments, BondedLists, FORCE_SCALE, KIND_CMAP, KIND_EXCLUDED, KIND_PAIR14, KIND_POSITION, NO_ATOM,
    STOPPED_BY_CELL, STOPPED_BY_PRESSURE, STOPPED_BY_SPEED, SUM_COULOMB, SUM_COULOMB_14, SUM_LJ, SUM_RECIPROCAL,
    SUM_RESTRAINT_TORQUE, SUM_SCALE, SUM_VIRIAL, SUMS, Status,
};
use crate::backend::Energies;
use crate::constraint::ConstraintFailure;
use crate::ensemble::barostat::{LARGEST_CHANGE, check_minimum_image, torn};
use crate::error::{Error, Result};
use crate::vec3::{Mat3, Vec3, vec3};

/// All sums of the device, in kJ/mol, kJ/mol/ps (power) and amu nm/ps (momenta).
pub(super) struct Sums([f64; SUMS as usize]);

impl Sums {
    /// Reads the sums. Waits for the device.
    pub(super) fn read(device: &impl Device, a: &Arguments) -> Result<Self> {
        let mut raw = [0; SUMS as usize];
        read(device, a.sums, &mut raw)?;
        Ok(Sums(raw.map(|sum| sum as f64 / SUM_SCALE)))
    }

    /// Returns the sum with the given index.
    pub(super) fn at(&self, which: u32) -> f64 {
        self.0[which as usize]
    }

    /// Returns the vector that begins at index `first`.
    pub(super) fn vector(&self, first: u32) -> Vec3 {
        vec3(self.at(first), self.at(first + 1), self.at(first + 2))
    }

    /// Returns the symmetric tensor that begins at index `first`.
    pub(super) fn tensor(&self, first: u32) -> Mat3 {
        let at = |k| self.at(first + k);
        Mat3([[at(0), at(1), at(2)], [at(1), at(3), at(4)], [at(2), at(4), at(5)]])
    }

    /// Returns the energies of all terms that the kernels compute.
    pub(super) fn energies(&self) -> Energies {
        let (lj_14, coulomb_14) = (self.at(KIND_PAIR14), self.at(SUM_COULOMB_14));
        let reciprocal = self.at(SUM_RECIPROCAL);
        let mut energies = Energies {
            cmap: self.at(KIND_CMAP),
            lj: self.at(SUM_LJ) + lj_14,
            lj_14,
            coulomb: self.at(SUM_COULOMB) + self.at(KIND_EXCLUDED) + coulomb_14 + reciprocal,
            coulomb_14,
            coulomb_reciprocal: reciprocal,
            position_restraint: self.at(KIND_POSITION),
            ..Energies::default()
        };
        BondedLists::add_energies(&mut energies, |list| self.at(list));
        energies
    }

    /// Returns the virial of all terms that the kernels compute.
    pub(super) fn virial(&self) -> Mat3 {
        let Vec3 { x, y, z } = self.vector(SUM_RESTRAINT_TORQUE);
        // the kernels sum the elements on and above the diagonal; the elements below the diagonal equal the elements
        // above the diagonal, corrected by the torque
        self.tensor(SUM_VIRIAL) + Mat3([[0.0; 3], [-z, 0.0, 0.0], [y, -x, 0.0]])
    }
}

/// Returns the status after all launched steps. Returns an error if a step has failed. After a failed step the device
/// makes no further steps.
pub(super) fn check(device: &impl Device, a: &Arguments) -> Result<Status> {
    let status = read_one(device, a.status)?;
    let Status { overflow, failed, stopped, length_factors, pressure, .. } = status;
    // constraints are checked first, because forces have no meaning after a constraint has failed
    if failed[0] != NO_ATOM {
        return Err(ConstraintFailure { atoms: failed }.into());
    }
    if overflow != NO_ATOM {
        let what = format!("the force on atom {} is too large or not a number", u64::from(overflow) + 1);
        return Err(Error::unstable(what, [overflow]));
    }
    match stopped {
        STOPPED_BY_SPEED => Err(flying_off(device, a)?),
        STOPPED_BY_PRESSURE => {
            // the device stops computing scale factors after a factor that is NaN or too far from 1
            let allowed = |factor: &f64| (factor - 1.0).abs() <= LARGEST_CHANGE;
            let factor = length_factors.into_iter().find(|factor| !allowed(factor)).unwrap_or(f64::NAN);
            Err(torn(factor, pressure))
        }
        STOPPED_BY_CELL => {
            let cell = lattice::cell(&read_one(device, a.cell)?);
            cell.map_or(Ok(()), |cell| check_minimum_image(&cell, a.cutoff)).map(|()| status)
        }
        _ => Ok(status),
    }
}

/// Returns an error that names the fastest atom.
pub(super) fn flying_off(device: &impl Device, a: &Arguments) -> Result<Error> {
    let mut velocities = vec![Vec3::ZERO; a.atoms as usize];
    read(device, a.velocities, &mut velocities)?;
    let speed = |atom: &usize| velocities[*atom].norm();
    let fastest = (0..velocities.len()).max_by(|a, b| speed(a).total_cmp(&speed(b))).unwrap_or(0);
    let what = format!("atom {} moves at {:.1e} nm/ps: the simulation has blown up", fastest + 1, speed(&fastest));
    Ok(Error::unstable(what, [fastest as u32]))
}

/// Reads the forces in topology order, kJ/mol/nm.
pub(super) fn forces(device: &impl Device, a: &Arguments, forces: &mut Vec<Vec3>) -> Result<()> {
    let (atoms, slots) = (a.atoms as usize, a.slots as usize);
    let (mut raw, mut slot_of) = (vec![0i64; 3 * slots], vec![0u32; atoms]);
    read(device, a.forces, &mut raw)?;
    read(device, a.atom_slot, &mut slot_of)?;
    forces.clear();
    forces.extend(slot_of.iter().map(|&slot| {
        let component = |axis: usize| raw[axis * slots + slot as usize] as f64 / FORCE_SCALE;
        vec3(component(0), component(1), component(2))
    }));
    Ok(())
}
