//! Structures, shared by host and kernels, of pair interactions.

use crate::backend::cuda::shared::{Element, Member, members, shared};
use crate::pair::FIRST_TERMS;
use bytemuck::{Pod, Zeroable};

shared! {
    /// A polynomial in c − r², where c is the center of the range of r² in which the polynomial is valid
    /// ([`crate::pair::Polynomial`]).
    Smooth {
        /// center c of the range of r², nm²
        center: f32,
        /// number of pairs of coefficients in `more`
        more_pairs: u32,
        /// coefficients c₀ to c₁₀
        first: [f32; FIRST_TERMS],
        /// coefficients of the powers above 10 in pairs, the highest powers first: …, [c₁₄, c₁₃], [c₁₂, c₁₁]
        more: [f32; 8],
    }
}

members!(Smooth);

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
