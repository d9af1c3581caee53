//! Bonded terms and units of motion.

use crate::backend::cuda::shared::{Element, Member, shared};
use bytemuck::{Pod, Zeroable};

shared! {
    /// Harmonic distance.
    BondTerm {
        atoms: [u32; 2],
        /// nm
        length: f64,
        /// kJ/mol/nm²
        force_constant: f64,
    }
}

shared! {
    /// Harmonic angle.
    AngleTerm {
        atoms: [u32; 3],
        /// rad
        angle: f32,
        /// kJ/mol/rad²
        force_constant: f32,
    }
}

shared! {
    /// Periodic torsion.
    TorsionTerm {
        atoms: [u32; 4],
        periodicity: f32,
        cosine_phase: f32,
        sine_phase: f32,
        /// kJ/mol
        force_constant: f32,
    }
}

shared! {
    /// Harmonic improper.
    ImproperTerm {
        atoms: [u32; 4],
        /// rad
        angle: f32,
        /// kJ/mol/rad²
        force_constant: f32,
    }
}

shared! {
    /// Correction map.
    CmapTerm {
        atoms: [u32; 8],
        /// where the squares of its grid begin
        first_patch: u32,
        /// points per angle
        size: u32,
    }
}

shared! {
    /// Scaled 1-4 pair.
    Pair14Term {
        atoms: [u32; 2],
        /// kJ nm/mol
        charge_product: f32,
        c6: f32,
        c12: f32,
    }
}

shared! {
    /// Excluded pair that the reciprocal sum counts.
    ExcludedTerm {
        atoms: [u32; 2],
        /// kJ nm/mol
        charge_product: f32,
    }
}

shared! {
    /// Rigid water.
    WaterUnit {
        atoms: [u32; 3],
        unused: u32,
        /// nm
        oh: f64,
        hh: f64,
    }
}

shared! {
    /// Constraints from a centre to up to four leaves.
    ShakeUnit {
        /// the centre, then the leaves
        atoms: [u32; 5],
        unused: u32,
        /// nm
        lengths: [f64; 4],
    }
}

shared! {
    /// Constraints coupled in any way, and the atoms they join.
    ChainUnit {
        first_bond: u32,
        bonds: u32,
        first_atom: u32,
        atoms: u32,
    }
}

shared! {
    /// One of these distances.
    ChainBond {
        /// numbers among the atoms of chains
        ends: [u32; 2],
        /// nm
        length: f64,
    }
}

shared! {
    /// An atom of a chain.
    ChainAtom {
        atom: u32,
        /// where its ends of bonds begin; they go on to where those of the next atom begin
        first_end: u32,
    }
}
