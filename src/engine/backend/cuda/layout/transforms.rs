//! Structures, shared by host and kernels, of the Fourier transforms of the PME mesh.

use crate::backend::cuda::shared::{Element, Member, Pointer, members, shared};
use bytemuck::{Pod, Zeroable};

/// Number of lines along x per block of threads. Sixteen lines suit both memories: global memory is read in units of 32
/// bytes (four complex numbers), and one row of the 32 banks of shared memory holds 16 complex numbers.
pub(in crate::backend::cuda) const LINES: u32 = 16;
/// Maximum number of threads per block in kernels that transform lines along x.
pub(in crate::backend::cuda) const LINE_THREADS: u32 = LINES * LARGEST_RADIX;
/// Maximum number of threads per block in kernels that transform planes. With 512 threads each thread computes one
/// short transform per stage in a plane of 100 × 100 points.
pub(in crate::backend::cuda) const PLANE_THREADS: u32 = 512;
/// Minimum number of resident blocks per multiprocessor in kernels that transform planes. Two resident blocks of 512
/// threads limit each thread to 64 registers, which suffice for the largest radix. If each thread used more registers,
/// blocks of the transform would have to wait until blocks of the pair kernel finish.
pub(in crate::backend::cuda) const PLANE_BLOCKS: u32 = 2;
/// First radices for which kernels are compiled. The number of points along an axis is the product of the first and
/// the second radix.
pub(in crate::backend::cuda) const FIRST_RADICES: [u32; 9] = [3, 4, 5, 6, 8, 10, 12, 14, LARGEST_RADIX];
/// Second radices for which kernels are compiled.
pub(in crate::backend::cuda) const SECOND_RADICES: [u32; 8] = [3, 4, 5, 6, 7, 8, 9, LARGEST_SECOND];
/// Largest of all radices.
const LARGEST_RADIX: u32 = 16;
/// Largest of the second radices.
const LARGEST_SECOND: u32 = 10;

// a table has one element per point of an axis, and each thread of a block loads one element, so a block needs at least
// as many threads as an axis has points
const _: () = assert!(LINES >= LARGEST_SECOND && PLANE_THREADS >= LARGEST_RADIX * LARGEST_SECOND);

shared! {
    /// An integer divisor. Kernels replace the division by a multiplication, which is faster.
    Divisor {
        value: u32,
        /// 2³²/value, rounded up. For n < 2³²/value, the quotient n/value, rounded down, equals n · reciprocal / 2³²,
        /// rounded down
        reciprocal: u32,
    }
}

impl Divisor {
    /// Creates a divisor; `value` must be at least 2.
    pub(in crate::backend::cuda) fn new(value: u32) -> Self {
        Divisor { value, reciprocal: u32::MAX / value + 1 }
    }
}

shared! {
    /// An axis whose number of points is a product of two radices. All fields are zero if cuFFT transforms the mesh.
    Axis {
        /// roots of unity e^{−2πi k/points} for k from 0 to points − 1
        roots: Pointer<[f32; 2]>,
        first: u32,
        second: u32,
    }
}

members!(Divisor, Axis);

shared! {
    /// Constants of the kernels for Fourier transforms and influence function.
    Transforms {
        x: Axis,
        y: Axis,
        z: Axis,
        first_z: Divisor,
        second_z: Divisor,
        /// half the number of grid points along y: grid_y/2
        half_y: Divisor,
        /// number of points of a spectrum along z: grid_z/2 + 1
        depth: Divisor,
        /// number of lines along x in the spectrum: grid_y · (grid_z/2 + 1)
        lines: u32,
        /// (π/α)² in the exponent of the influence function, with the Ewald parameter α, nm²
        gaussian: f32,
    }
}

members!(Transforms);
