//! Structure, shared by host and device, for the forces that the host computes.

use crate::backend::cuda::shared::{Element, Member, Pointer, members, shared};
use crate::vec3::Vec3;
use bytemuck::{Pod, Zeroable};

shared! {
    /// Arrays that host and device exchange for the forces that the host computes.
    ComputedOnHost {
        /// atoms whose positions the host needs
        atoms: Pointer<u32>,
        /// positions of the atoms in `atoms` (nm), followed by one more vector, whose x is 1 if the host must not
        /// compute forces
        positions: Pointer<Vec3>,
        /// forces on the atoms in `atoms` (kJ/mol/nm), followed by the three rows of the virial (kJ/mol)
        forces: Pointer<Vec3>,
        /// number of atoms in `atoms`
        count: u32,
        unused: u32,
    }
}

members!(ComputedOnHost);
