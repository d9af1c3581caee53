//! Shared structures of thermostats and barostats.

use crate::backend::cuda::shared::{Element, Member, Pointer, members, shared};
use crate::vec3::Vec3;
use bytemuck::{Pod, Zeroable};

shared! {
    /// Parameters of the velocity rescaling by a thermostat ([`crate::ensemble::rescaling::Rescaling`]).
    Rescaling {
        kept: f64,
        /// √(kJ/mol)
        along: f64,
        /// kJ/mol
        across: f64,
    }
}

shared! {
    /// Relaxation of an extent of the cell ([`crate::ensemble::barostat::Relaxation`]).
    Relaxation {
        /// nm³ mol/kJ
        rate: f64,
        /// kJ/mol/nm³
        pressure: f64,
        /// kJ/mol
        thermal: f64,
        /// nm^(3/2)
        noise: f64,
        /// 1 if the square root of the extent relaxes (stochastic cell rescaling), otherwise 0
        stochastic: u32,
        /// number of directions that are scaled alike; 0 if the cell has no such extent
        directions: u32,
    }
}

members!(Relaxation);

shared! {
    /// Parameters of the scaling by a barostat ([`crate::ensemble::barostat::BoxScaling`]).
    BoxScaling {
        /// relaxation of each extent; the extents take the directions x, y, z in this order
        relaxations: [Relaxation; 3],
        /// surface tension of the xy plane, kJ/mol/nm²
        surface_tension: f64,
    }
}

shared! {
    /// Arrays and factors of a Monte Carlo volume move ([`crate::backend::volume_move`]).
    VolumeMove {
        /// index in `members` of the first atom of each molecule, and the number of atoms
        starts: Pointer<u32>,
        /// atoms, molecule by molecule
        members: Pointer<u32>,
        /// positions after the move, nm
        stretched: Pointer<Vec3>,
        /// forces before the move, kJ/mol/nm
        kept_forces: Pointer<Vec3>,
        /// largest deviation of an atom from its own scaled position, nm; the bits of a float
        deviation: Pointer<u32>,
        /// length factors along x, y, z
        factors: [f64; 3],
        molecules: u32,
        unused: u32,
    }
}

members!(Rescaling, BoxScaling, VolumeMove);
