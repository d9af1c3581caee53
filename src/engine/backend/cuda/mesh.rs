//! PME mesh on the device: its arrays, and the kernels between spreading and gathering.
//!
//! Three kernels of this project (`kernels/mesh_fft.cu`), which include the Fourier transforms, are used for all meshes
//! within the limits of these kernels. The kernels of this project replace cuFFT because latency, not throughput,
//! limits the speed of the reciprocal sum. On an H100, with 23 558 atoms and 54³ grid points, the two transforms of
//! cuFFT consist of six kernels of 4.7 µs each. The conversion of the mesh before the transforms takes 3.4 µs, and the
//! multiplication by the influence function between the transforms takes 4.1 µs. With cuFFT, each kernel is followed by
//! a gap of 1 µs and uses 3 to 7 percent of the GPU's throughput. A whole step takes 95 µs.
//!
//! cuFFT transforms the meshes that are beyond the limits of the kernels of this project. A mesh needs cuFFT if a plane
//! exceeds the shared memory of a block, if the number of rows is odd, or if a size is not a product of two available
//! radices. The sizes that the program chooses fit the kernels of this project up to 128 points along an edge, or up to
//! 112 points on Turing.

use super::device::{Device, Direction, Launch, allocate, over, store, zeros};
use super::kernel::Kernel;
use super::layout::{
    Arguments, Axis, Divisor, FIRST_RADICES, LINE_THREADS, LINES, PLANE_THREADS, SECOND_RADICES, Transforms, WARP,
};
use crate::error::Result;
use crate::pme::{Influence, MeshPotential};
use crate::system::PmeParameters;
use bytemuck::Zeroable;
use std::f64::consts::{PI, TAU};

/// Shared memory in bytes that a block may use without a request to the driver. The kernels that transform lines along
/// x need less shared memory than this amount.
const UNASKED: u32 = 48 * 1024;
/// Bytes of a complex number.
const COMPLEX: u32 = 8;

/// Allocates the arrays of the mesh, uploads its tables, and plans the transforms.
pub(super) fn upload(device: &mut impl Device, a: &mut Arguments, parameters: &PmeParameters) -> Result<()> {
    let [nx, ny, nz] = parameters.grid;
    let influence = Influence::new(parameters, MeshPotential::Coulomb);
    let moduli: Vec<f32> = (0..3).flat_map(|d| influence.inverse_moduli(d)).map(|&v| v as f32).collect();
    a.order = parameters.order as u32;
    [a.grid_x, a.grid_y, a.grid_z] = parameters.grid.map(|points| points as u32);
    (a.alpha, a.exact_alpha) = (parameters.alpha as f32, parameters.alpha);
    a.charge_grid = zeros(device, nx * ny * nz)?;
    a.grid = allocate(device, nx * ny * nz)?;
    a.spectrum = allocate(device, nx * ny * (nz / 2 + 1))?;
    a.moduli = store(device, &moduli)?;
    a.transforms = Transforms {
        half_y: Divisor::new(a.grid_y / 2),
        depth: Divisor::new(a.grid_z / 2 + 1),
        lines: a.grid_y * (a.grid_z / 2 + 1),
        gaussian: (PI / parameters.alpha).powi(2) as f32,
        ..Transforms::zeroed()
    };
    match factors(parameters.grid, device.shared_memory()) {
        Some(factors) => set_axes(device, &mut a.transforms, parameters.grid, factors),
        None => device.plan_transforms(parameters.grid),
    }
}

/// Returns the radices of the two stages along each axis, or `None` if the kernels of this project cannot transform
/// this mesh with `shared_memory` bytes per block.
fn factors([nx, ny, nz]: [usize; 3], shared_memory: u32) -> Option<[[u32; 2]; 3]> {
    let [nx, ny, nz] = [nx, ny, nz].map(|points| u32::try_from(points).unwrap_or(0));
    // a thread processes two rows of y at once
    let [x, y, z] = [two_factors(nx, 1)?, two_factors(ny, 2)?, two_factors(nz, 1)?];
    let [forward, inverse] = [z, [z[1], z[0]]].map(|parts| plane_shared([ny, nz], parts));
    (forward.max(inverse) <= shared_memory && line_shared(nx) <= UNASKED).then_some([x, y, z])
}

/// Returns two radices whose product is `points`; the first radix is a multiple of `step`. Of all pairs with this
/// product, the function picks the pair whose larger radix is smallest. If both orders of this pair are possible, the
/// smaller radix is the first.
fn two_factors(points: u32, step: u32) -> Option<[u32; 2]> {
    let firsts = FIRST_RADICES.into_iter().filter(|first| first.is_multiple_of(step) && points.is_multiple_of(*first));
    let pairs = firsts.map(|first| [first, points / first]).filter(|[_, second]| SECOND_RADICES.contains(second));
    pairs.min_by_key(|&[first, second]| (first.max(second), first))
}

/// Uploads the radices and the roots of unity of the three axes.
fn set_axes(device: &impl Device, t: &mut Transforms, grid: [usize; 3], factors: [[u32; 2]; 3]) -> Result<()> {
    let root = |k: usize, points: usize| {
        let (sine, cosine) = (-TAU * k as f64 / points as f64).sin_cos();
        [cosine as f32, sine as f32]
    };
    let axis = |number: usize| -> Result<Axis> {
        let points = grid[number];
        let roots: Vec<[f32; 2]> = (0..points).map(|k| root(k, points)).collect();
        let [first, second] = factors[number];
        Ok(Axis { roots: store(device, &roots)?, first, second })
    };
    [t.x, t.y, t.z] = [axis(0)?, axis(1)?, axis(2)?];
    [t.first_z, t.second_z] = [t.z.first, t.z.second].map(Divisor::new);
    Ok(())
}

/// Returns the number of complex numbers per row of a plane. A row consists of `parts` parts, each padded to an odd
/// length, and two more elements for the wave numbers k along z that equal −k modulo the grid size. The total is
/// rounded up to an odd number, so that neighbours in a column are in different banks of shared memory.
fn pitch(parts: u32, length: u32) -> u32 {
    (parts * (length | 1) + 2) | 1
}

/// Returns the bytes of shared memory for a plane and for the roots of unity of its axes. A row has `parts` parts of
/// `length` numbers.
fn plane_shared([ny, nz]: [u32; 2], [parts, length]: [u32; 2]) -> u32 {
    (ny / 2 * pitch(parts, length) + ny + nz) * COMPLEX
}

/// Returns the bytes of shared memory for lines along x, with the roots of unity and the spline moduli.
fn line_shared(nx: u32) -> u32 {
    nx * (LINES * COMPLEX + COMPLEX + size_of::<f32>() as u32)
}

/// Computes the potential on the mesh from the charges on the mesh, with the kernels of this project or with cuFFT. If
/// `sums` is true, also computes energy and virial.
pub(super) fn solve(device: &impl Device, a: &Arguments, sums: bool) -> Result<()> {
    if a.transforms.x.first == 0 {
        return solve_by_library(device, a, sums);
    }
    let Transforms { x, y, z, half_y, depth, lines, .. } = a.transforms;
    let stages = [half_y.value * z.first.max(z.second), depth.value * y.first.max(y.second)];
    let most = stages[0].max(stages[1]);
    let block = most.div_ceil(most.div_ceil(PLANE_THREADS)).next_multiple_of(WARP);
    let planes = |kernel, parts| {
        let shared = plane_shared([a.grid_y, a.grid_z], parts);
        Launch { block, shared, ..over(kernel, a.grid_x * block) }
    };
    let of_lines = (LINES * x.first.max(x.second)).next_multiple_of(WARP).min(LINE_THREADS);
    let kernel = over(if sums { Kernel::SolveLinesSums } else { Kernel::SolveLines }, lines.div_ceil(LINES) * of_lines);
    device.launch(planes(Kernel::TransformPlanes, [z.first, z.second]), a)?;
    device.launch(Launch { block: of_lines, shared: line_shared(a.grid_x), ..kernel }, a)?;
    device.launch(planes(Kernel::RestorePlanes, [z.second, z.first]), a)
}

/// Computes the potential on the mesh from the charges on the mesh with cuFFT.
fn solve_by_library(device: &impl Device, a: &Arguments, sums: bool) -> Result<()> {
    device.launch(over(Kernel::ConvertGrid, a.grid_x * a.grid_y * a.grid_z), a)?;
    device.transform(Direction::Forward, a.grid.0, a.spectrum.0)?;
    let waves = a.grid_x * a.transforms.lines;
    device.launch(over(if sums { Kernel::SolveSums } else { Kernel::Solve }, waves), a)?;
    device.transform(Direction::Inverse, a.grid.0, a.spectrum.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pme::good_size;

    #[test]
    fn sizes_that_the_program_chooses_have_two_radices_as_far_as_planes_fit() {
        for points in (12..=128).map(good_size).filter(|&points| points != 14) {
            // maximum shared memory of a block: 64 KiB on Turing, at least 99 KiB on all later GPUs
            let shared_memory = if points <= 112 { 64 } else { 99 } * 1024;
            let factors = factors([points; 3], shared_memory);
            let [_, y, z] = factors.unwrap_or_else(|| panic!("our kernels cannot transform {points} points"));
            assert!(y[0].is_multiple_of(2) && y[0] * y[1] == points as u32 && z[0] * z[1] == points as u32);
        }
        assert_eq!(factors([54; 3], UNASKED), Some([[6, 9]; 3]));
        assert_eq!(factors([50, 50, 27], UNASKED), Some([[5, 10], [10, 5], [3, 9]]));
        // meshes that need cuFFT: a plane that is too large, a factor of 11, an odd number of rows, too many points for
        // two radices
        for grid in [[54, 108, 108], [22, 54, 54], [54, 27, 54], [162, 54, 54]] {
            assert_eq!(factors(grid, UNASKED), None, "{grid:?}");
        }
    }
}
