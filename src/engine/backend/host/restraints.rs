//! Restraints whose atoms are home atoms of several processes.
//!
//! Position restraints act on each home atom alone. Every process receives the positions of all atoms of collective
//! variables, evaluates the variables, and adds the forces on its own home atoms.

use super::Host;
use crate::backend::{Distribution, ForceField, Home};
use crate::error::Result;
use crate::restraint::{Applied, Restraining};
use crate::vec3::Vec3;

/// Atoms of the collective variables of a stage, and scratch memory for their positions and forces.
#[derive(Default)]
pub(super) struct CollectiveAtoms {
    /// indices of the atoms in the whole system, in ascending order
    atoms: Vec<u32>,
    /// index in `atoms` and index among the home atoms, for each atom of `atoms` that is a home atom of this process
    home: Vec<[u32; 2]>,
    /// positions of `atoms`, nm
    known: Vec<Vec3>,
    /// positions (nm) and forces (kJ/mol/nm), indexed as in the whole system; only the elements of `atoms` are used
    positions: Vec<Vec3>,
    forces: Vec<Vec3>,
}

impl CollectiveAtoms {
    /// Collects the atoms of the collective variables of new restraints. No atom counts as a home atom before
    /// [`Self::take_home`] is called.
    pub(super) fn of(restraints: &Restraining) -> Self {
        let atoms = restraints.collective_atoms();
        let length = atoms.last().map_or(0, |&last| last as usize + 1);
        CollectiveAtoms {
            known: vec![Vec3::ZERO; atoms.len()],
            positions: vec![Vec3::ZERO; length],
            forces: vec![Vec3::ZERO; length],
            home: vec![],
            atoms,
        }
    }

    /// Finds which atoms of the collective variables are home atoms of this process.
    fn take_home(&mut self, home: Home<'_>) {
        let places = (0..).zip(&self.atoms).filter_map(|(place, &atom)| Some([place, home.index(atom)?]));
        self.home = places.collect();
    }

    /// Collects the positions of all atoms of the collective variables. `home` are the positions of the home atoms of
    /// this process.
    fn collect(&mut self, field: &impl Distribution, home: &[Vec3]) {
        self.known.fill(Vec3::ZERO);
        self.home.iter().for_each(|&[place, index]| self.known[place as usize] = home[index as usize]);
        field.sum(bytemuck::cast_slice_mut(&mut self.known));
        self.atoms.iter().zip(&self.known).for_each(|(&atom, &r)| self.positions[atom as usize] = r);
        self.atoms.iter().for_each(|&atom| self.forces[atom as usize] = Vec3::ZERO);
    }

    /// Adds the restraint forces on the home atoms to `forces`.
    fn add_to(&self, forces: &mut [Vec3]) {
        for &[place, index] in &self.home {
            forces[index as usize] += self.forces[self.atoms[place as usize] as usize];
        }
    }
}

impl<F: ForceField> Host<F> {
    /// Adds the forces of restraints. If several processes hold the atoms, the energies and virials of all processes
    /// add up to the energies and the virial of the restraints.
    pub(super) fn add_restraints(&mut self) -> Result<Applied> {
        let (cell, positions, forces) = (self.cell.as_ref(), &self.positions, &mut self.evaluation.forces);
        if self.field.home().is_none() {
            return self.restraints.apply(cell, positions, forces);
        }
        let mut applied = self.restraints.apply_positions(cell, positions, forces);
        if self.restraints.changes() {
            self.field.sum(self.restraints.slopes_mut());
        }
        let shared = &mut self.collective;
        if shared.atoms.is_empty() {
            return Ok(applied);
        }
        shared.collect(&self.field, positions);
        let collective = self.restraints.apply_collective(cell, &shared.positions, &mut shared.forces)?;
        shared.add_to(forces);
        if self.field.counts_shared_energies() {
            applied.collective = collective.collective;
            applied.virial += collective.virial;
        }
        Ok(applied)
    }

    /// Restricts the restraints to the home atoms of this process.
    pub(super) fn take_home_restraints(&mut self) {
        let Some(home) = self.field.home().filter(|_| self.restraints.acts()) else { return };
        self.restraints.take_home(|atom| home.index(atom));
        self.collective.take_home(home);
    }
}
