//! Vectors of eight `f64`, with which constraints are solved on every instruction set.
//!
//! [`Lanes`] has only operations whose result IEEE 754 defines exactly (no fused multiply-add, no approximate roots).
//! Results are therefore the same bit for bit, whether the compiler translates the loops to one AVX-512 register, to
//! two AVX2 registers, or to four SSE2 registers. All functions are `#[inline(always)]`, so that they are compiled with
//! the `#[target_feature]` of their caller.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use crate::vec3::{Vec3, vec3};

/// Number of lanes of a vector.
pub const LANES: usize = 8;

/// Eight numbers, aligned to a 512-bit register.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// Vector of zeros.
    pub const ZERO: Self = Lanes([0.0; LANES]);

    /// A vector with one number in every lane.
    #[inline(always)]
    pub const fn splat(value: f64) -> Self {
        Lanes([value; LANES])
    }

    /// Square root of every lane; NaN for a negative number.
    #[inline(always)]
    pub fn sqrt(mut self) -> Self {
        for value in &mut self.0 {
            *value = value.sqrt();
        }
        self
    }

    /// Sum over the lanes in a fixed order.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }

    /// Returns true if no lane is NaN and the magnitude of every lane is at most the number in the same lane of
    /// `bound`.
    #[inline(always)]
    pub fn within(self, bound: Self) -> bool {
        let mut all = true;
        for lane in 0..LANES {
            all &= self.0[lane].abs() <= bound.0[lane];
        }
        all
    }

    /// True when no lane is NaN or infinite.
    #[inline(always)]
    pub fn is_finite(self) -> bool {
        self.within(Self::splat(f64::MAX))
    }
}

macro_rules! lanewise {
    ($trait:ident, $method:ident, $assign_trait:ident, $assign_method:ident) => {
        lanewise!($trait, $method);
        impl $assign_trait for Lanes {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = $trait::$method(*self, other);
            }
        }
    };
    ($trait:ident, $method:ident) => {
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for lane in 0..LANES {
                    self.0[lane] = $trait::$method(self.0[lane], other.0[lane]);
                }
                self
            }
        }
    };
}
lanewise!(Add, add, AddAssign, add_assign);
lanewise!(Sub, sub, SubAssign, sub_assign);
lanewise!(Mul, mul);
lanewise!(Div, div);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

/// Makes eight three-dimensional vectors, with `read(lane)` in each lane.
#[inline(always)]
pub(super) fn gather(read: impl Fn(usize) -> Vec3) -> Vec3<Lanes> {
    let mut out = Vec3::splat(Lanes::ZERO);
    for lane in 0..LANES {
        let v = read(lane);
        out.x.0[lane] = v.x;
        out.y.0[lane] = v.y;
        out.z.0[lane] = v.z;
    }
    out
}

/// Three-dimensional vector in one lane.
#[inline(always)]
pub(super) fn lane(v: Vec3<Lanes>, lane: usize) -> Vec3 {
    vec3(v.x.0[lane], v.y.0[lane], v.z.0[lane])
}
