//! Velocities that a thermostat renews in part.

use crate::backend::cuda::shared::{Element, Member, members, shared};
use crate::rng::Purpose;
use bytemuck::{Pod, Zeroable};

/// The purpose of the random numbers.
pub(in crate::backend::cuda) const PURPOSE_NOISE: u32 = Purpose::Noise as u32;

shared! {
    /// A refreshment ([`crate::ensemble::refreshment::Refreshment`]). Numbers of 64 bits are low and high words.
    Refreshment {
        seed: [u32; 2],
        step: [u32; 2],
        /// that of the refreshment after it
        next_step: [u32; 2],
        /// α − 1
        lost: f64,
        /// (1−α²) kT, kJ/mol
        variance: f64,
    }
}

members!(Refreshment);
