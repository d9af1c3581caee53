//! Shared structures of pair interactions.

use crate::backend::cuda::shared::{Element, Member, members, shared};
use crate::pair::FIRST_TERMS;
use bytemuck::{Pod, Zeroable};

shared! {
    /// A polynomial in c − r², where c is the center of its range of r² ([`crate::pair::Polynomial`]).
    Smooth {
        /// nm²
        center: f32,
        /// number of pairs of coefficients in `more`
        more_pairs: u32,
        /// c₀ to c₁₀
        first: [f32; FIRST_TERMS],
        /// [c₁₂, c₁₁], [c₁₄, c₁₃] and so on, stored in falling order
        more: [f32; 8],
    }
}

members!(Smooth);

shared! {
    /// A Lennard-Jones switch ([`crate::term::LjSwitch`]).
    LjSwitch {
        /// distance at which the switch begins, nm
        from: f32,
        /// potential switch: 1/(r_c − r₁), and 30/(r_c − r₁), 1/nm
        inverse_width: f32,
        slope: f32,
        /// force switch, for α = 6 and 12: A/α, B/α and C/α
        square: [f32; 2],
        cube: [f32; 2],
        shift: [f32; 2],
    }
}

members!(LjSwitch);
