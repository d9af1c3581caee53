//! Energies and virials that do not depend on the positions of the atoms and that no kernel computes: the self energy
//! of PME, the energy of the neutralising background charge, and the dispersion correction.

use crate::backend::{DispersionTail, Energies};
use crate::pme::MeshPotential;
use crate::system::{Electrostatics, System};
use crate::vec3::Mat3;

/// Constants of PME that are needed in addition to the mesh parameters.
struct MeshConstants {
    alpha: f64,
    /// self energy −C α/√π Σ q² of the charges q, with Coulomb's constant C and the Ewald parameter α, kJ/mol
    self_energy: f64,
    /// net charge Σ q, e
    net_charge: f64,
}

/// Volume-dependent terms of a system.
pub(super) struct VolumeTerms {
    tail: DispersionTail,
    mesh: Option<MeshConstants>,
}

impl VolumeTerms {
    pub(super) fn new(system: &System) -> Self {
        let charges: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.charge).collect();
        let mesh = match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => {
                let alpha = parameters.alpha;
                let self_energy = MeshPotential::Coulomb.self_energy(alpha, &charges);
                Some(MeshConstants { alpha, self_energy, net_charge: charges.iter().sum() })
            }
            _ => None,
        };
        VolumeTerms { tail: DispersionTail::new(system), mesh }
    }

    /// Returns the energy (kJ/mol) of the background charge that neutralises the net charge, at a volume in nm³. Each
    /// diagonal element of the virial of the background charge equals the energy of the background charge.
    fn plasma(&self, volume: f64) -> f64 {
        let plasma =
            |mesh: &MeshConstants| MeshPotential::Coulomb.plasma_energy(mesh.alpha, &[mesh.net_charge], volume);
        self.mesh.as_ref().map_or(0.0, plasma)
    }

    /// Returns the value of each diagonal element of the virial of the volume-dependent terms, kJ/mol. The virial of
    /// these terms is inversely proportional to the volume (nm³).
    pub(super) fn virial(&self, volume: f64) -> f64 {
        self.plasma(volume) + self.tail.at(volume).1
    }

    /// Adds energies and virial of the volume-dependent terms at a volume in nm³.
    pub(super) fn add(&self, volume: f64, energies: &mut Energies, virial: &mut Mat3) {
        let charges = self.plasma(volume) + self.mesh.as_ref().map_or(0.0, |mesh| mesh.self_energy);
        energies.coulomb_reciprocal += charges;
        energies.coulomb += charges;
        energies.dispersion_correction = self.tail.at(volume).0;
        energies.lj += energies.dispersion_correction;
        let along = self.virial(volume);
        *virial += Mat3([[along, 0.0, 0.0], [0.0, along, 0.0], [0.0, 0.0, along]]);
    }
}
