//! Position restraints, which hold atoms near reference positions.
//!
//! The energy of an atom is E = ½ k (|d| − ρ)² if |d| > ρ, else 0, with the force constant k, the radius ρ of a flat
//! bottom, and the displacement d = x − x₀ from the reference position x₀. AMBER's `restraint_wt` and CHARMM's force
//! constants equal ½ k. Positions are not wrapped, and molecules are whole. Each atom has a lattice image n, chosen at
//! the start of the stage such that the molecule of the atom is nearest to the molecule's reference positions. The
//! restrained position is x = r − n h, where r is the position of the atom and h are the lattice vectors. The
//! displacement d is not replaced by its minimum image.
//!
//! A barostat may scale the reference positions together with the cell ([`ReferenceScaling`]). The virial is minus the
//! derivative of the energy with respect to a strain of the cell and all atoms about the origin of the cell. The virial
//! is W = Σ a⊗F with the forces F, where the vector a (the arm) depends on the [`ReferenceScaling`].

use crate::cell::PeriodicCell;
use crate::ensemble::schedule::Schedule;
use crate::image::{Image, Parts};
use crate::system::{Molecules, Topology};
use crate::vec3::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Reference scaling: how reference positions follow a cell that a barostat scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceScaling {
    /// reference positions are not scaled; the arm a in the virial is the restrained position x
    None,
    /// the center of mass X₀ of the reference positions is scaled, and displacements from X₀ are not scaled; the arm a
    /// in the virial is x − X₀ with the restrained position x
    CenterOfMass,
    /// every reference position is scaled; the arm a in the virial is the displacement d from the reference position
    All,
}

/// An atom and its reference position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// atom number, 0-based
    pub atom: u32,
    /// reference position x₀, nm
    pub reference: Vec3,
    /// lattice image n, whose shift is subtracted from the position of the atom
    pub image: Image,
}

impl Held {
    /// Makes a restrained atom with the lattice image n = 0. `reference` is in nm.
    pub fn new(atom: u32, reference: Vec3) -> Self {
        Held { atom, reference, image: [0; 3] }
    }
}

/// A set of atoms restrained to reference positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositionRestraints {
    /// force constant k, kJ/mol/nm², as a function of the time since the start of the stage
    pub force_constant: Schedule,
    /// radius ρ of the flat bottom, nm
    pub flat_radius: f64,
    /// reference scaling
    pub scaling: ReferenceScaling,
    /// cell for which the reference positions are given
    pub cell: Option<PeriodicCell>,
    /// center of mass X₀ of the references in `cell`, nm
    pub center: Vec3,
    /// restrained atoms with their reference positions
    pub held: Vec<Held>,
}

impl PositionRestraints {
    /// Adds the forces (kJ/mol/nm) of the restraints with the force constant k to `forces`, for atoms at `positions`
    /// (nm, not wrapped). Returns the derivative ∂E/∂k = E/k (nm²) of the energy E, and the virial (kJ/mol).
    pub fn apply(&self, k: f64, cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> (f64, Mat3) {
        let scaled = self.scaled(cell);
        let (mut slope, mut virial) = (0.0, Mat3::ZERO);
        for held in &self.held {
            let shift = cell.map_or(Vec3::ZERO, |cell| cell.shift(held.image));
            let position = positions[held.atom as usize] - shift;
            let (reference, origin) = scaled(held.reference);
            let (force, half_square) = self.well(k, position - reference);
            forces[held.atom as usize] += force;
            slope += half_square;
            virial += Mat3::outer(position - origin, force);
        }
        (slope, virial)
    }

    /// Returns the restraints of a part of the atoms. `number` returns the index of an atom in this part; `None` for an
    /// atom that is not in the part.
    pub fn part(&self, number: impl Fn(u32) -> Option<u32>) -> Self {
        let held = self.held.iter().filter_map(|held| Some(Held { atom: number(held.atom)?, ..*held }));
        PositionRestraints { force_constant: self.force_constant.clone(), held: held.collect(), ..*self }
    }

    /// Returns a function that scales a reference position to the current cell. The returned function also returns the
    /// origin of the vector a in the virial Σ a⊗F.
    fn scaled(&self, cell: Option<&PeriodicCell>) -> impl Fn(Vec3) -> (Vec3, Vec3) + use<> {
        let (cells, scaling, center) = (self.cell.zip(cell.copied()), self.scaling, self.center);
        let moved = move |r: Vec3| cells.map_or(r, |(then, now)| now.to_cartesian(then.to_fractional(r)));
        let moved_center = moved(center);
        move |reference| match scaling {
            ReferenceScaling::None => (reference, Vec3::ZERO),
            ReferenceScaling::CenterOfMass => (reference + (moved_center - center), moved_center),
            ReferenceScaling::All => (moved(reference), moved(reference)),
        }
    }

    /// Moves reference positions to periodic images that do not depend on the images in files, and computes their
    /// center of mass. `cell` is the cell at the start of the run.
    ///
    /// With center-of-mass scaling, reference positions are moved by lattice vectors into their cell, molecule by
    /// molecule. Without scaling, reference positions are moved in the same way if their cell is equal to `cell`, the
    /// cell of the system. In all other cases reference positions are not moved: either the periodic images in the file
    /// have no effect on the energy, or the user has chosen these images. If consecutive restrained molecules are
    /// equal, only the first of these molecules contributes to the center of mass, as in GROMACS.
    pub fn place_references(&mut self, topology: &Topology, molecules: &Molecules, cell: Option<&PeriodicCell>) {
        if let Some(present) = cell {
            self.cell = self.cell.map(|own| own.corresponding_to(present));
        }
        let atoms: Vec<u32> = self.held.iter().map(|held| held.atom).collect();
        let mut references: Vec<Vec3> = self.held.iter().map(|held| held.reference).collect();
        let parts = Parts::new(molecules, &atoms);
        let are_periodic = match self.scaling {
            ReferenceScaling::None => cell == self.cell.as_ref(),
            ReferenceScaling::CenterOfMass => true,
            ReferenceScaling::All => false,
        };
        if let Some(own) = self.cell.filter(|_| are_periodic) {
            parts.put_into_cell(&own, &mut references);
        }
        let molecule = |atom: u32| molecules.of_atom(atom as usize);
        let restrained: HashSet<usize> = atoms.iter().map(|&atom| molecule(atom)).collect();
        let weight = |atom: u32| match molecule(atom) {
            m if m > 0 && restrained.contains(&(m - 1)) && molecules.repeats(topology, m) => 0.0,
            _ => topology.atoms[atom as usize].mass,
        };
        let weights: Vec<f64> = atoms.iter().map(|&atom| weight(atom)).collect();
        let total: f64 = weights.iter().sum();
        self.center = references.iter().zip(weights).map(|(r, weight)| *r * (weight / total)).sum();
        self.held.iter_mut().zip(references).for_each(|(held, reference)| held.reference = reference);
    }

    /// Chooses one periodic image for each molecule, the image in which the molecule is nearest to its reference
    /// positions. `positions` (nm, molecules whole) and `cell` are the positions and the cell at the start of the
    /// stage.
    pub fn choose_images(&mut self, molecules: &Molecules, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        let Some(cell) = cell else { return };
        let atoms: Vec<u32> = self.held.iter().map(|held| held.atom).collect();
        let parts = Parts::new(molecules, &atoms);
        let scaled = self.scaled(Some(cell));
        let present: Vec<Vec3> = self.held.iter().map(|held| scaled(held.reference).0).collect();
        let own: Vec<Vec3> = atoms.iter().map(|&atom| positions[atom as usize]).collect();
        // a shift of an atom by a lattice vector has the same effect as the opposite shift of the reference position
        for (part, image) in parts.iter().zip(parts.nearest_to(cell, &own, &present)) {
            part.iter().for_each(|&place| self.held[place as usize].image = image.map(|n| -n));
        }
    }

    /// Force (kJ/mol/nm) and energy divided by the force constant k (nm²) for a displacement d (nm).
    fn well(&self, k: f64, d: Vec3) -> (Vec3, f64) {
        let beyond = d.norm() - self.flat_radius;
        if beyond <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        (d * (-k * beyond / d.norm()), 0.5 * beyond * beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    const K: f64 = 1000.0;
    const SCALINGS: [ReferenceScaling; 3] =
        [ReferenceScaling::None, ReferenceScaling::CenterOfMass, ReferenceScaling::All];

    fn restraints(scaling: ReferenceScaling, flat_radius: f64) -> (PositionRestraints, Vec<Vec3>, PeriodicCell) {
        let cell = PeriodicCell::from_lengths_angles([3.0, 3.2, 2.9], [80.0, 95.0, 100.0]).unwrap();
        let held = vec![
            Held::new(0, vec3(0.1, 0.2, 0.3)),
            Held { image: [1, -2, 0], ..Held::new(2, vec3(1.1, -0.4, 2.0)) },
            Held::new(3, vec3(0.7, 0.9, 1.0)),
        ];
        let center = vec3(0.6, 0.3, 1.1);
        let positions =
            vec![vec3(0.3, 0.1, 0.3), Vec3::ZERO, vec3(1.0, -0.3, 2.3) + cell.shift([1, -2, 0]), vec3(0.71, 0.9, 1.0)];
        (
            PositionRestraints { force_constant: K.into(), flat_radius, scaling, cell: Some(cell), center, held },
            positions,
            cell,
        )
    }

    #[test]
    fn harmonic_in_closed_form() {
        let (restraints, positions, cell) = restraints(ReferenceScaling::None, 0.0);
        let mut forces = vec![Vec3::ZERO; 4];
        let (slope, _) = restraints.apply(K, Some(&cell), &positions, &mut forces);
        let energy = K * slope;
        // |d|² is 0.05, 0.11 and 0.0001 nm²
        assert!((energy - 500.0 * 0.1601).abs() < 1e-10);
        assert!((forces[0] - vec3(-200.0, 100.0, 0.0)).norm() < 1e-10 && forces[1] == Vec3::ZERO);
    }

    #[test]
    fn forces_and_virial_are_derivatives_of_the_energy() {
        const STEP: f64 = 1e-5;
        for (scaling, flat) in SCALINGS.into_iter().flat_map(|scaling| [(scaling, 0.0), (scaling, 0.05)]) {
            let (restraints, positions, start) = restraints(scaling, flat);
            let cell = start.scaled(1.03);
            let energy = |cell: &PeriodicCell, positions: &[Vec3]| {
                K * restraints.apply(K, Some(cell), positions, &mut [Vec3::ZERO; 4]).0
            };
            let mut forces = vec![Vec3::ZERO; 4];
            let (_, virial) = restraints.apply(K, Some(&cell), &positions, &mut forces);
            for atom in 0..4 {
                for direction in [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)] {
                    let at = |step: f64| {
                        let mut moved = positions.clone();
                        moved[atom] += direction * step;
                        energy(&cell, &moved)
                    };
                    let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                    assert!((slope + forces[atom].dot(direction)).abs() < 1e-6, "{scaling:?} {flat}");
                }
            }
            let at = |step: f64| {
                let stretched: Vec<Vec3> = positions.iter().map(|r| *r * (1.0 + step)).collect();
                energy(&cell.scaled(1.0 + step), &stretched)
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!((slope + virial.trace()).abs() < 1e-6, "{scaling:?} {flat}: {slope} {}", virial.trace());
        }
    }

    #[test]
    fn the_center_is_that_of_the_first_of_equal_molecules_that_are_restrained() {
        let name = crate::system::Name::new("X");
        let atom =
            crate::system::Atom { name, type_name: name, element: 6, mass: 12.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom; 4], ..Topology::default() };
        let (mut restraints, _, cell) = restraints(ReferenceScaling::CenterOfMass, 0.0);
        restraints.held = vec![Held::new(1, vec3(0.1, 0.2, 0.3)), Held::new(2, vec3(0.4, 0.4, 0.4))];
        restraints.place_references(&topology, &topology.molecules(), Some(&cell));
        assert_eq!(restraints.center, vec3(0.1, 0.2, 0.3));
        // the first and third molecules are equal but not consecutive, so that both contribute to the center of mass
        restraints.held = vec![Held::new(0, vec3(0.1, 0.2, 0.3)), Held::new(2, vec3(0.3, 0.4, 0.5))];
        restraints.place_references(&topology, &topology.molecules(), Some(&cell));
        assert!((restraints.center - vec3(0.2, 0.3, 0.4)).norm() < 1e-15);
    }

    #[test]
    fn nothing_acts_within_a_flat_bottom() {
        let (restraints, positions, cell) = restraints(ReferenceScaling::All, 0.5);
        let mut forces = vec![Vec3::ZERO; 4];
        assert_eq!(restraints.apply(K, Some(&cell), &positions, &mut forces), (0.0, Mat3::ZERO));
        assert!(forces.iter().all(|force| *force == Vec3::ZERO));
    }
}
