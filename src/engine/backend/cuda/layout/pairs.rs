//! Structures, shared by host and kernels, of pair interactions.

use crate::backend::cuda::shared::{Element, Member, members, shared};
use crate::pair::MOST_TERMS;
use bytemuck::{Pod, Zeroable};

/// Number of coefficients of a polynomial that kernels always evaluate, enough for the usual Ewald splittings.
pub(in crate::backend::cuda) const FIRST_TERMS: usize = 10;
/// Maximum number of additional coefficients.
pub(in crate::backend::cuda) const MORE_TERMS: usize = MOST_TERMS - FIRST_TERMS;

shared! {
    /// The square root of a function of r² as a polynomial in `center` − r² ([`crate::pair::RootPolynomial`]).
    RootPolynomial {
        /// r² at which the argument of the polynomial is zero, nm²
        center: f32,
        /// number of coefficients in `more`
        more_terms: u32,
        /// coefficients of the powers 0 to `FIRST_TERMS` − 1
        first: [f32; FIRST_TERMS],
        /// coefficients of higher powers, in descending order
        more: [f32; MORE_TERMS],
    }
}

members!(RootPolynomial);

shared! {
    /// A Lennard-Jones switch ([`crate::term::LjSwitch`]).
    LjSwitch {
        /// distance at which the switch begins, nm
        from: f32,
        /// factors 1/(r_c − r₁) and 30/(r_c − r₁) (1/nm) of the potential switch between the switching distance r₁ and
        /// the cutoff r_c
        inverse_width: f32,
        slope: f32,
        /// coefficients of the force switch for the potentials r⁻⁶ (α = 6) and r⁻¹² (α = 12): A/α (of t²), B/α (of t³)
        /// and C/α (potential shift), where t is the distance r minus the switching distance
        square: [f32; 2],
        cube: [f32; 2],
        shift: [f32; 2],
    }
}

members!(LjSwitch);
