//! Energies and virials that do not depend on the positions of the atoms and that no kernel computes: the self energy
//! of PME, the energy of the neutralising background charge, and the dispersion correction.

use crate::backend::{DispersionTail, Energies};
use crate::pme::{ChargeSums, MeshPotential};
use crate::system::{Electrostatics, System};
use crate::vec3::Mat3;

/// Volume-dependent terms of a system.
pub(super) struct VolumeTerms {
    tail: DispersionTail,
    /// Ewald parameter (1/nm) and sums of the charges; `None` without PME
    mesh: Option<(f64, ChargeSums)>,
}

impl VolumeTerms {
    pub(super) fn new(system: &System) -> Self {
        let charges = system.topology.atoms.iter().map(|atom| atom.charge);
        let mesh = match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => Some((parameters.alpha, ChargeSums::of(charges))),
            _ => None,
        };
        VolumeTerms { tail: DispersionTail::new(system), mesh }
    }

    /// Returns the energy (kJ/mol) of the background charge that neutralises the net charge, at a volume in nm³. Each
    /// diagonal element of the virial of the background charge equals the energy of the background charge.
    fn plasma(&self, volume: f64) -> f64 {
        self.mesh.map_or(0.0, |(alpha, sums)| MeshPotential::Coulomb.plasma_energy(alpha, sums, volume))
    }

    /// Returns the value of each diagonal element of the virial of the volume-dependent terms, kJ/mol. The virial of
    /// these terms is inversely proportional to the volume (nm³).
    pub(super) fn virial(&self, volume: f64) -> f64 {
        self.plasma(volume) + self.tail.at(volume).1
    }

    /// Adds energies and virial of the volume-dependent terms at a volume in nm³.
    pub(super) fn add(&self, volume: f64, energies: &mut Energies, virial: &mut Mat3) {
        let self_energy = self.mesh.map_or(0.0, |(alpha, sums)| MeshPotential::Coulomb.self_energy(alpha, sums));
        let charges = self.plasma(volume) + self_energy;
        energies.coulomb_reciprocal += charges;
        energies.coulomb += charges;
        energies.dispersion_correction = self.tail.at(volume).0;
        energies.lj += energies.dispersion_correction;
        let along = self.virial(volume);
        *virial += Mat3([[along, 0.0, 0.0], [0.0, along, 0.0], [0.0, 0.0, along]]);
    }
}
