//! Structure, shared by host and kernels, of partial velocity refreshments by a thermostat.

use crate::backend::cuda::shared::{Element, Member, members, shared};
use crate::rng::Purpose;
use bytemuck::{Pod, Zeroable};

/// Purpose of the random numbers, which selects their stream: thermostat noise.
pub(in crate::backend::cuda) const PURPOSE_NOISE: u32 = Purpose::Noise as u32;

shared! {
    /// A velocity refreshment ([`crate::ensemble::refreshment::Refreshment`]). Numbers of 64 bits are stored as low
    /// and high words.
    Refreshment {
        seed: [u32; 2],
        step: [u32; 2],
        /// index of the step of the next refreshment
        next_step: [u32; 2],
        /// α − 1, with the fraction α of a velocity that is kept
        lost: f64,
        /// (1−α²) kT at temperature T, with the fraction α of a velocity that is kept: the mass times the variance of
        /// the velocity noise, kJ/mol
        variance: f64,
    }
}

members!(Refreshment);
