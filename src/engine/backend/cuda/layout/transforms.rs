//! The mesh's transforms.

use crate::backend::cuda::shared::{Element, Member, Pointer, members, shared};
use bytemuck::{Pod, Zeroable};

/// Lines along x of a block of threads: two for each 32 bytes that the memory reads at once and half of 32 banks.
pub(in crate::backend::cuda) const LINES: u32 = 16;
/// Maximum number of threads per block of these lines.
pub(in crate::backend::cuda) const LINE_THREADS: u32 = LINES * LARGEST_RADIX;
/// Maximum number of threads per block of a plane: planes of 100 × 100 points have one number of each stage for a thread.
pub(in crate::backend::cuda) const PLANE_THREADS: u32 = 512;
/// Minimum number of these blocks per multiprocessor. This limits registers to 64, which suffice for the largest radix;
/// more would keep blocks waiting for those of the pairs to leave.
pub(in crate::backend::cuda) const PLANE_BLOCKS: u32 = 2;
/// The first of two factors of a number of points; kernels are compiled for these.
pub(in crate::backend::cuda) const FIRST_RADICES: [u32; 9] = [3, 4, 5, 6, 8, 10, 12, 14, LARGEST_RADIX];
/// The second.
pub(in crate::backend::cuda) const SECOND_RADICES: [u32; 8] = [3, 4, 5, 6, 7, 8, 9, LARGEST_SECOND];
/// The largest of both.
const LARGEST_RADIX: u32 = 16;
/// The largest second one.
const LARGEST_SECOND: u32 = 10;

// each thread of a block loads one number of a table, which is as long as an axis
const _: () = assert!(LINES >= LARGEST_SECOND && PLANE_THREADS >= LARGEST_RADIX * LARGEST_SECOND);

shared! {
    /// A number by which kernels divide.
    Divisor {
        value: u32,
        /// 2³²/value, rounded up: products with numbers below 2³²/value, divided by 2³², are quotients
        reciprocal: u32,
    }
}

impl Divisor {
    /// At least 2.
    pub(in crate::backend::cuda) fn new(value: u32) -> Self {
        Divisor { value, reciprocal: u32::MAX / value + 1 }
    }
}

shared! {
    /// An axis whose points are a product of two radices; zeros where the transforms are cuFFT's.
    Axis {
        /// e^{−2πi k/points}
        roots: Pointer<[f32; 2]>,
        first: u32,
        second: u32,
    }
}

members!(Divisor, Axis);

shared! {
    /// What the kernels between spreading and gathering need beside the mesh.
    Transforms {
        x: Axis,
        y: Axis,
        z: Axis,
        first_z: Divisor,
        second_z: Divisor,
        /// grid_y/2
        half_y: Divisor,
        /// grid_z/2 + 1
        depth: Divisor,
        /// grid_y times that
        lines: u32,
        /// (π/α)², nm²
        gaussian: f32,
    }
}

members!(Transforms);
