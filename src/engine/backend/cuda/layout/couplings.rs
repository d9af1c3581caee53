//! Structures, shared by host and kernels, of thermostats and barostats.

use crate::backend::cuda::shared::{Element, Member, Pointer, members, shared};
use crate::vec3::Vec3;
use bytemuck::{Pod, Zeroable};

shared! {
    /// Parameters of the velocity rescaling by a thermostat ([`crate::ensemble::rescaling::Rescaling`]).
    Rescaling {
        kept: f64,
        /// noise along the velocities, √(kJ/mol)
        along: f64,
        /// coefficient d of the new kinetic energy (a √K + b)² + d, with a = `kept`, b = `along` and the old kinetic
        /// energy K, kJ/mol
        across: f64,
    }
}

shared! {
    /// Relaxation of an extent of the cell: a length, an area or the volume
    /// ([`crate::ensemble::barostat::Relaxation`]).
    Relaxation {
        /// relative change of the extent (of the square root of the extent if `stochastic` is 1) per unit of the
        /// pressure deviation, nm³ mol/kJ
        rate: f64,
        /// reference pressure P₀, kJ/mol/nm³
        pressure: f64,
        /// energy e of the thermal term −e/V in the pressure deviation P₀ − P − e/V, with pressure P and volume V,
        /// kJ/mol
        thermal: f64,
        /// amplitude n of the noise n/√V at volume V, nm^(3/2)
        noise: f64,
        /// 1 if the square root of the extent relaxes (stochastic cell rescaling), otherwise 0
        stochastic: u32,
        /// number of directions (x, y, z) that this extent scales by the same factor; 0 for an unused extent
        directions: u32,
    }
}

members!(Relaxation);

shared! {
    /// Parameters of the scaling by a barostat ([`crate::ensemble::barostat::BoxScaling`]).
    BoxScaling {
        /// relaxation of each extent of the cell; the first extent has the first `directions` of the directions x, y,
        /// z, and each further extent has the directions that follow
        relaxations: [Relaxation; 3],
        /// surface tension of the xy plane, kJ/mol/nm²
        surface_tension: f64,
    }
}

shared! {
    /// Arrays and factors of a Monte Carlo volume move ([`crate::backend::volume_move`]).
    VolumeMove {
        /// index in `members` of the first atom of each molecule, followed by the number of atoms
        starts: Pointer<u32>,
        /// atom indices, molecule by molecule
        members: Pointer<u32>,
        /// positions after the move, nm
        stretched: Pointer<Vec3>,
        /// forces before the move, kJ/mol/nm
        kept_forces: Pointer<Vec3>,
        /// largest distance (nm), over all atoms, between the new position and the old position scaled by `factors`, as
        /// the bits of a float; the two positions differ because molecules move as rigid bodies
        deviation: Pointer<u32>,
        /// scale factors of lengths along x, y, z
        factors: [f64; 3],
        molecules: u32,
        unused: u32,
    }
}

members!(Rescaling, BoxScaling, VolumeMove);
