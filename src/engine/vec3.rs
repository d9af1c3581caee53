//! Three-component vectors over any number type, and 3×3 matrices of `f64`.
//!
//! Positions, velocities and forces are `Vec3<f64>`. The interaction formulas of [`crate::term`] use `Vec3<T>` with `T`
//! a scalar, a dual number or a SIMD vector of 16 lanes. This module does not depend on periodic cells.

use crate::arrays::map;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Vector in Cartesian space. Lengths are in nm unless a field says otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Vec3<T = f64> {
    /// first component
    pub x: T,
    /// second component
    pub y: T,
    /// third component
    pub z: T,
}

// SAFETY: `#[repr(C)]` with three `f64` fields and no padding; every bit pattern is valid.
unsafe impl bytemuck::Zeroable for Vec3<f64> {}
// SAFETY: see the implementation of `Zeroable`.
unsafe impl bytemuck::Pod for Vec3<f64> {}

/// Creates a [`Vec3`] from its components.
#[inline(always)]
pub const fn vec3<T>(x: T, y: T, z: T) -> Vec3<T> {
    Vec3 { x, y, z }
}

impl<T: Copy> Vec3<T> {
    /// Returns a vector with the same value in all three components.
    #[inline(always)]
    pub const fn splat(value: T) -> Self {
        vec3(value, value, value)
    }

    /// Applies `f` to each component.
    #[inline(always)]
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Vec3<U> {
        vec3(f(self.x), f(self.y), f(self.z))
    }

    /// Returns the components as an array `[x, y, z]`.
    #[inline(always)]
    pub fn to_array(self) -> [T; 3] {
        [self.x, self.y, self.z]
    }
}

impl<T> From<[T; 3]> for Vec3<T> {
    #[inline(always)]
    fn from([x, y, z]: [T; 3]) -> Self {
        vec3(x, y, z)
    }
}

impl<T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>> Vec3<T> {
    /// Computes the scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Computes the vector product (right-handed).
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// Computes the squared length.
    #[inline(always)]
    pub fn norm_squared(self) -> T {
        self.dot(self)
    }
}

impl Vec3<f64> {
    /// The zero vector.
    pub const ZERO: Self = vec3(0.0, 0.0, 0.0);

    /// Multiplies each component by the corresponding component of `factors`.
    #[inline(always)]
    pub fn stretched(self, factors: Self) -> Self {
        vec3(self.x * factors.x, self.y * factors.y, self.z * factors.z)
    }

    /// Computes the length.
    #[inline(always)]
    pub fn norm(self) -> f64 {
        self.norm_squared().sqrt()
    }

    /// Whether all components are finite.
    #[inline(always)]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}

impl<T: Add<Output = T>> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        vec3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl<T: Sub<Output = T>> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        vec3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl<T: Neg<Output = T>> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        vec3(-self.x, -self.y, -self.z)
    }
}

impl<T: Copy + Mul<Output = T>> Mul<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        vec3(self.x * s, self.y * s, self.z * s)
    }
}

impl<T: Copy + Div<Output = T>> Div<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn div(self, s: T) -> Self {
        vec3(self.x / s, self.y / s, self.z / s)
    }
}

impl<T: Copy + Add<Output = T>> AddAssign for Vec3<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<T: Copy + Sub<Output = T>> SubAssign for Vec3<T> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl std::iter::Sum for Vec3<f64> {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |a, b| a + b)
    }
}

/// 3×3 matrix of `f64`, indexed as `[row][column]`: virials, cell vectors, inertia.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mat3(pub [[f64; 3]; 3]);

impl Mat3 {
    /// Matrix of zeros.
    pub const ZERO: Self = Mat3([[0.0; 3]; 3]);

    /// Computes the dyadic product a⊗b, with the elements (i, j) = a_i b_j.
    #[inline(always)]
    pub fn outer(a: Vec3, b: Vec3) -> Self {
        let (a, b) = (a.to_array(), b.to_array());
        Mat3(map(a, |ai| map(b, |bj| ai * bj)))
    }

    /// Computes the trace.
    #[inline(always)]
    pub fn trace(self) -> f64 {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// Returns the diagonal elements.
    #[inline(always)]
    pub fn diagonal(self) -> Vec3 {
        vec3(self.0[0][0], self.0[1][1], self.0[2][2])
    }

    /// Multiplies every element by `s`.
    #[inline(always)]
    pub fn scaled(self, s: f64) -> Self {
        Mat3(map(self.0, |row| map(row, |v| v * s)))
    }
}

impl Add for Mat3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        let mut out = self;
        out += o;
        out
    }
}

impl AddAssign for Mat3 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        for (row, other) in self.0.iter_mut().zip(o.0) {
            for (v, w) in row.iter_mut().zip(other) {
                *v += w;
            }
        }
    }
}

/// Returns the root mean square of the lengths of vectors; zero without vectors.
pub fn rms(vectors: impl Iterator<Item = Vec3>) -> f64 {
    let (sum, number) = vectors.fold((0.0, 0.0), |(sum, number), v| (sum + v.norm_squared(), number + 1.0));
    f64::sqrt(sum / f64::max(number, 1.0))
}

/// Returns the root mean square of the lengths of the differences between vectors at the same index.
pub fn rms_difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    rms(a.iter().zip(b).map(|(a, b)| *a - *b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cross_product_is_right_handed() {
        assert_eq!(vec3(1.0, 0.0, 0.0).cross(vec3(0.0, 1.0, 0.0)), vec3(0.0, 0.0, 1.0));
    }

    #[test]
    fn outer_product_has_row_times_column() {
        let m = Mat3::outer(vec3(1.0, 2.0, 3.0), vec3(4.0, 5.0, 6.0));
        assert_eq!(m.0[1][2], 12.0);
        assert_eq!(m.trace(), 32.0);
    }
}
