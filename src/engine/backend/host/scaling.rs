//! Barostats that scale the cell and the centers of constraint groups: see [`crate::ensemble::barostat`].

use super::{ATOMS, Host};
use crate::backend::ForceField;
use crate::backend::centers::{GroupSums, center_of, internal_virial, totals};
use crate::ensemble::barostat::{BoxScaling, ScaleFactors, check_minimum_image, directional_pressure};
use crate::error::Result;
use crate::memory;
use crate::vec3::Vec3;
use rayon::prelude::*;

/// Centers of mass of the constraint groups, and scratch memory for sums over groups and atoms.
#[derive(Default)]
pub(super) struct Centers {
    /// position (nm) and velocity (nm/ps) of the center of mass of each constraint group
    of_groups: Vec<[Vec3; 2]>,
    /// partial sums over constraint groups
    sums: Vec<GroupSums>,
    /// partial sums over atoms of the kinetic-energy components along x, y, z
    along: Vec<Vec3>,
}

impl Centers {
    /// Allocates the memory of partial sums for `atoms` atoms and `groups` constraint groups.
    pub(super) fn resize(&mut self, atoms: usize, groups: usize) {
        self.along = vec![Vec3::ZERO; atoms.div_ceil(ATOMS)];
        self.sums = vec![GroupSums::default(); groups.div_ceil(ATOMS)];
    }
}

impl<F: ForceField> Host<F> {
    /// Scales the cell and the group centers. Adds the part of the barostat's work that does not depend on the forces
    /// after the scaling.
    pub(super) fn scale(&mut self, box_scaling: BoxScaling) -> Result<()> {
        let Some(cell) = self.cell else { return Ok(()) };
        let GroupSums { before, after, cross, internal_virial } = self.measure_centers();
        let virial = self.evaluation.virial.diagonal() - internal_virial;
        let measured = directional_pressure((before + after) * 0.5, virial, cell.volume());
        let factors = box_scaling.factors(measured, &cell)?;
        check_minimum_image(&cell.stretched(factors.lengths), self.cutoff)?;
        let changes = factors.lengths.map(f64::ln);
        self.coupling.barostat_work +=
            factors.kinetic_work(after, cross) + ScaleFactors::half_potential_work(changes, virial);
        self.coupling.pending_scaling = changes;
        self.scale_centers(factors);
        self.kinetic_after += factors.kinetic_change(after);
        Ok(())
    }

    /// Adds the part of the barostat's work that depends on the forces after the scaling. The function is called before
    /// a step.
    pub(super) fn finish_barostat_work(&mut self) {
        let changes = std::mem::take(&mut self.coupling.pending_scaling);
        if changes != Vec3::ZERO {
            self.coupling.barostat_work += ScaleFactors::half_potential_work(changes, self.center_virial());
        }
    }

    /// Returns the kinetic energy of the present velocities along x, y, z, kJ/mol.
    pub(super) fn kinetic_along(&mut self) -> Vec3 {
        let chunks = self.centers.along.par_iter_mut().zip(self.velocities.par_chunks(ATOMS));
        let chunks = chunks.zip(self.atoms.masses.par_chunks(ATOMS));
        self.team.for_each(chunks, |((part, velocities), masses)| {
            *part = velocities.iter().zip(masses).map(|(v, mass)| v.stretched(*v) * (0.5 * mass)).sum();
        });
        let [along] = self.sum_all([self.centers.along.iter().copied().sum()]);
        along
    }

    /// Returns the sums over all processes; `sums` holds the sums over the atoms of this process.
    fn sum_all<const N: usize>(&self, mut sums: [Vec3; N]) -> [Vec3; N] {
        self.field.sum(bytemuck::cast_slice_mut(&mut sums));
        sums
    }

    /// Computes the centers of the constraint groups, and sums over these centers, at the time of the forces of the
    /// last step.
    fn measure_centers(&mut self) -> GroupSums {
        memory::resize(&mut self.centers.of_groups, self.atoms.groups.len(), [Vec3::ZERO; 2]);
        let (groups, masses, timestep) = (&self.atoms.groups, &self.atoms.masses, self.timestep);
        let (positions, velocities, forces) = (&self.old, &self.velocities, &self.evaluation.forces);
        let acting = self.evaluation.acting();
        let chunks = self.centers.of_groups.par_chunks_mut(ATOMS).zip(&mut self.centers.sums).enumerate();
        self.team.for_each(chunks, |(chunk, (centers, part))| {
            *part = GroupSums::default();
            for (k, center) in centers.iter_mut().enumerate() {
                let atoms = groups.atoms(chunk * ATOMS + k);
                let (mass, momentum, force) = totals(atoms, masses, velocities, acting);
                let before = momentum - force * timestep;
                *center = [center_of(atoms, masses, positions), momentum / mass];
                part.before += before.stretched(before) * (0.5 / mass);
                part.after += momentum.stretched(momentum) * (0.5 / mass);
                part.cross += before.stretched(momentum) * (0.5 / mass);
                part.internal_virial += internal_virial(atoms, center[0], positions, forces);
            }
        });
        let sums = self.centers.sums.iter().fold(GroupSums::default(), |sum, part| sum + *part);
        let GroupSums { before, after, cross, internal_virial } = sums;
        let [before, after, cross, internal_virial] = self.sum_all([before, after, cross, internal_virial]);
        GroupSums { before, after, cross, internal_virial }
    }

    /// Returns the diagonal elements of the virial of group centers at the present positions and forces, kJ/mol.
    fn center_virial(&mut self) -> Vec3 {
        let (groups, masses) = (&self.atoms.groups, &self.atoms.masses);
        let (positions, forces) = (&self.positions, &self.evaluation.forces);
        self.team.for_each(self.centers.sums.par_iter_mut().enumerate(), |(chunk, part)| {
            let range = chunk * ATOMS..((chunk + 1) * ATOMS).min(groups.len());
            let of = |atoms| internal_virial(atoms, center_of(atoms, masses, positions), positions, forces);
            part.internal_virial = range.map(|group| of(groups.atoms(group))).sum();
        });
        let [inside] = self.sum_all([self.centers.sums.iter().map(|part| part.internal_virial).sum()]);
        self.evaluation.virial.diagonal() - inside
    }

    /// Scales the cell, and the positions and velocities of the group centers that [`Self::measure_centers`] computed
    /// last.
    fn scale_centers(&mut self, ScaleFactors { lengths, velocities }: ScaleFactors) {
        self.cell = self.cell.map(|cell| cell.stretched(lengths));
        let [further, faster] = [lengths, velocities].map(|factors| factors - Vec3::splat(1.0));
        let (groups, centers, timestep) = (&self.atoms.groups, &self.centers.of_groups, self.timestep);
        let atoms = self.positions.par_iter_mut().zip(&mut self.velocities).with_min_len(ATOMS).enumerate();
        self.team.for_each(atoms, |(atom, (r, v))| {
            let [position, velocity] = centers[groups.of_atom(atom)];
            let change = velocity.stretched(faster);
            *r += position.stretched(further) + change * timestep;
            *v += change;
        });
        self.atoms.sites.place(&self.team, &mut self.positions);
        self.field.cell_changed(self.cell.as_ref());
    }
}
