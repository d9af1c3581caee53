//! PME solver, from charges to the potential on the mesh: Fourier transforms and influence function in three passes.
//!
//! Sixteen lines are transformed at once ([`LineFft`]), so two of the three directions need no transposition. The three
//! passes are:
//!
//! 1. For every pair of x-planes, the first pass transforms lines along y. Each vector holds sixteen consecutive grid
//!    points along z. Two real planes are transformed together, as real and imaginary part of one complex plane.
//! 2. For every k_y, the second pass transforms along x, transposes blocks of sixteen, and transforms along z. The pass
//!    then multiplies the spectrum by the influence function, and inverts both transforms.
//! 3. For every pair of x-planes, the third pass inverts the transform along y, and fills the padding of the potential.
//!
//! Each of the three passes reads one array and writes a different array, so that the lines of a task stay in the cache
//! of its core.

use super::influence_kernel::{Fill, Sum};
use super::mesh_grid::{Padded, SpreadBuffer};
use super::slabs::{Slabs, Turned};
use crate::arrays::map;
use crate::cell::PeriodicCell;
use crate::compute::{LineFft, Lines, LinesMut, Split};
use crate::memory;
use crate::pme::Influence;
use crate::ranks::{Purpose, Ranks};
use crate::simd::{Aligned16, Arithmetic, Float, Kernel, LANES, Level, Simd, dispatch};
use crate::team::Team;
use crate::vec3::Mat3;
use rayon::prelude::*;

/// Number of tasks per work partition, for load balance. Results do not depend on this number.
const PORTIONS_PER_PART: usize = 4;

/// Scratch memory of one task.
struct Scratch {
    work: [Split; 2],
    /// sixteen lines along y, at consecutive indices z
    line: Split,
    /// spectrum at one k_y: `[block of z][x]`
    columns: Split,
    /// spectrum at one k_y and sixteen x, indexed by z, before and after the transform along z
    turned: [Split; 2],
    /// charges on two x-planes
    planes: [Vec<Aligned16>; 2],
}

/// Fourier transforms and influence function of one mesh.
pub(super) struct Spectral {
    level: Level,
    pub(super) slabs: Slabs,
    padded: Padded,
    influence: Influence,
    /// 1-D transforms along x, y, z
    plans: [LineFft; 3],
    /// spectrum after the first pass, `[x][k_y][block of z]`
    forward: Turned,
    /// spectrum after the second pass, `[k_y][x][block of z]`
    backward: Turned,
    /// influence function for `green_cell`, `[k_y][block of x][z]`, for the k_y of this rank. The influence function is
    /// divided by the prefactor of the potential, because the charges already contain this prefactor
    green: Vec<Aligned16>,
    green_cell: Option<PeriodicCell>,
    scratch: Vec<Scratch>,
    /// energy (kJ/mol) and virial for each k_y of this rank
    partial: Vec<(f64, Mat3)>,
}

/// Sizes of the mesh in points and in vectors of sixteen points.
#[derive(Clone, Copy)]
struct Extent {
    /// number of values of k_y: from 0 to half the mesh size along y
    half: usize,
    /// number of blocks of sixteen points along x, and (next field) along z
    x_blocks: usize,
    z_blocks: usize,
    /// number of vectors in a row along z, and (next field) in an x-plane
    row: usize,
    plane: usize,
}

impl Extent {
    fn new(padded: &Padded) -> Self {
        let [nx, ny, nz] = padded.size;
        Extent {
            half: ny / 2 + 1,
            x_blocks: nx.div_ceil(LANES),
            z_blocks: nz.div_ceil(LANES),
            row: padded.row / LANES,
            plane: padded.plane / LANES,
        }
    }
}

impl Spectral {
    /// Plans the transforms of a mesh that `ranks` share.
    pub(super) fn new(padded: Padded, influence: Influence, parts: usize, level: Level, ranks: &Ranks) -> Self {
        let [nx, ny, nz] = padded.size;
        let Extent { half, x_blocks, z_blocks, plane, .. } = Extent::new(&padded);
        let scratch = || Scratch {
            work: LineFft::work(nx.max(ny).max(nz)),
            line: Split::new(ny),
            columns: Split::new(z_blocks * x_blocks * LANES),
            turned: [Split::new(z_blocks * LANES), Split::new(z_blocks * LANES)],
            planes: [vec![Aligned16::default(); plane], vec![Aligned16::default(); plane]],
        };
        let slabs = Slabs::new(ranks.for_purpose(Purpose::Mesh), [nx, half]);
        let [_, own] = slabs.own();
        Spectral {
            level,
            padded,
            influence,
            plans: padded.size.map(LineFft::new),
            forward: slabs.turned_to_y(z_blocks),
            backward: slabs.turned_to_x(z_blocks),
            green: memory::filled(Aligned16::default(), own.len() * x_blocks * nz),
            green_cell: None,
            scratch: (0..PORTIONS_PER_PART * parts).map(|_| scratch()).collect(),
            partial: vec![(0.0, Mat3::ZERO); own.len()],
            slabs,
        }
    }

    /// Computes the potential on the planes of this rank from the charges that all threads have spread to these planes,
    /// after [`SpreadBuffer::fold`]. Returns this rank's part of the energy ½ Σ G |S|² (influence function G, spectrum
    /// S) and of the virial. Energy and virial are zero unless `sums` is true.
    pub(super) fn solve(
        &mut self,
        team: &Team,
        thread_buffers: &[SpreadBuffer],
        cell: &PeriodicCell,
        potential: &mut [Aligned16],
        sums: bool,
    ) -> (f64, Mat3) {
        self.update_green(team, cell);
        self.along_y(team, thread_buffers);
        self.slabs.turn_to_y(&mut self.forward);
        self.along_x_and_z(team, cell, sums);
        self.slabs.turn_to_x(&mut self.backward);
        self.back_along_y(team, potential);
        if !sums {
            return (0.0, Mat3::ZERO);
        }
        let (mut energy, mut virial) = (0.0, Mat3::ZERO);
        for (part, part_virial) in &self.partial {
            energy += part;
            virial += *part_virial;
        }
        (energy, virial)
    }

    /// Transforms along y (first pass).
    fn along_y(&mut self, team: &Team, thread_buffers: &[SpreadBuffer]) {
        let Extent { half, z_blocks, row, .. } = Extent::new(&self.padded);
        let (level, padded, plan) = (self.level, self.padded, &self.plans[1]);
        let of_plane = half * z_blocks;
        let [own, _] = self.slabs.own();
        let pairs = own.len().div_ceil(2).div_ceil(self.scratch.len()).max(1);
        let Split { re, im } = self.forward.before();
        let portions = re.par_chunks_mut(2 * pairs * of_plane).zip(im.par_chunks_mut(2 * pairs * of_plane));
        team.for_each(portions.zip(&mut self.scratch).enumerate(), |(portion, ((re, im), scratch))| {
            let Scratch { work, line, planes: [first, second], .. } = scratch;
            let pairs_of = re.chunks_mut(2 * of_plane).zip(im.chunks_mut(2 * of_plane));
            for (pair, (re, im)) in pairs_of.enumerate() {
                let x = own.start + 2 * (portion * pairs + pair);
                let (first, second) =
                    (charges(thread_buffers, x, &padded, first), charges(thread_buffers, x + 1, &padded, second));
                for z in 0..z_blocks {
                    let input = Lines { re: &first[z..], im: &second[z..], stride: row };
                    plan.transform(level, input, line.lines_mut(0, 1), work);
                    let points = padded.size[1];
                    dispatch(level, Separate { line, points, re: &mut *re, im: &mut *im, z, z_blocks });
                }
            }
        });
    }

    /// Transforms along x and z, multiplies by the influence function, and inverts the transforms along z and x (second
    /// pass).
    fn along_x_and_z(&mut self, team: &Team, cell: &PeriodicCell, sums: bool) {
        let [nx, _, nz] = self.padded.size;
        let Extent { x_blocks, z_blocks, .. } = Extent::new(&self.padded);
        let (level, padded, influence, forward) = (self.level, self.padded, &self.influence, self.forward.after());
        let [along_x, _, along_z] = &self.plans;
        let [_, own] = self.slabs.own();
        let planes = own.len().div_ceil(self.scratch.len()).max(1);
        let of_plane = nx * z_blocks;
        let Split { re, im } = self.backward.before();
        let portions = re.par_chunks_mut(planes * of_plane).zip(im.par_chunks_mut(planes * of_plane));
        let portions = portions.zip(self.green.par_chunks(planes * x_blocks * nz));
        let portions = portions.zip(self.partial.par_chunks_mut(planes)).zip(&mut self.scratch).enumerate();
        team.for_each(portions, |(portion, ((((re, im), green), partial), scratch))| {
            let Scratch { work, columns, turned: [before, after], .. } = scratch;
            let height = x_blocks * LANES;
            let planes_of = re.chunks_mut(of_plane).zip(im.chunks_mut(of_plane));
            let planes_of = planes_of.zip(green.chunks(x_blocks * nz)).zip(partial).enumerate();
            for (plane, (((re, im), green), partial)) in planes_of {
                let y = portion * planes + plane;
                *partial = (0.0, Mat3::ZERO);
                for z in 0..z_blocks {
                    let input = forward.lines(y * z_blocks + z, own.len() * z_blocks);
                    along_x.transform(level, input, columns.lines_mut(z * height, 1), work);
                }
                for (x, green) in green.chunks(nz).enumerate() {
                    dispatch(level, Turn { columns, turned: before, first: x * LANES, height, back: false });
                    along_z.transform(level, before.lines(0, 1), after.lines_mut(0, 1), work);
                    if sums {
                        let place = [x * LANES, own.start + y];
                        let (energy, virial) = dispatch(
                            level,
                            Sum { influence, cell, spectrum: after, green, place, points: padded.size },
                        );
                        partial.0 += energy;
                        partial.1 += virial;
                    }
                    dispatch(level, Multiply { spectrum: after, green });
                    let (input, output) = (after.lines(0, 1).swapped(), before.lines_mut(0, 1).swapped());
                    along_z.transform(level, input, output, work);
                    dispatch(level, Turn { columns, turned: before, first: x * LANES, height, back: true });
                }
                for z in 0..z_blocks {
                    let output = LinesMut { re: &mut re[z..], im: &mut im[z..], stride: z_blocks };
                    along_x.transform(level, columns.lines(z * height, 1).swapped(), output.swapped(), work);
                }
            }
        });
    }

    /// Inverts the transform along y (third pass).
    fn back_along_y(&mut self, team: &Team, potential: &mut [Aligned16]) {
        let ny = self.padded.size[1];
        let Extent { z_blocks, row, plane, .. } = Extent::new(&self.padded);
        let (level, padded, plan, backward) = (self.level, self.padded, &self.plans[1], self.backward.after());
        let [own, _] = self.slabs.own();
        let inside = &mut potential[own.start * plane..own.end * plane];
        let pairs = own.len().div_ceil(2).div_ceil(self.scratch.len()).max(1);
        let portions = inside.par_chunks_mut(2 * pairs * plane).zip(&mut self.scratch).enumerate();
        team.for_each(portions, |(portion, (inside, scratch))| {
            let Scratch { work, line, planes: [_, spare], .. } = scratch;
            for (pair, inside) in inside.chunks_mut(2 * plane).enumerate() {
                let x = 2 * (portion * pairs + pair);
                let (first, second) = inside.split_at_mut(plane);
                for z in 0..z_blocks {
                    // the last plane is paired with itself if the number of planes is odd
                    let other = if second.is_empty() { x } else { x + 1 };
                    let planes = map([x, other], |x| backward.lines(x * z_blocks + z, own.len() * z_blocks));
                    dispatch(level, Join { planes, points: ny, line });
                    let im = if second.is_empty() { &mut spare[z..] } else { &mut second[z..] };
                    let output = LinesMut { re: &mut first[z..], im, stride: row };
                    plan.transform(level, line.lines(0, 1).swapped(), output.swapped(), work);
                }
                for plane in [first, second] {
                    fill_overhang(&padded, bytemuck::cast_slice_mut(plane));
                }
            }
        });
    }

    /// Copies the first planes of the potential into the padding behind the last plane.
    pub(super) fn fill_last_planes(&self, team: &Team, potential: &mut [Aligned16]) {
        let plane = Extent::new(&self.padded).plane;
        let (inside, overhang) = potential.split_at_mut(self.padded.size[0] * plane);
        let copies = overhang.par_chunks_mut(plane).zip(inside.par_chunks(plane));
        team.for_each(copies, |(to, from)| to.copy_from_slice(from));
    }

    /// Recomputes the influence function if the cell has changed.
    fn update_green(&mut self, team: &Team, cell: &PeriodicCell) {
        if self.green_cell == Some(*cell) {
            return;
        }
        self.green_cell = Some(*cell);
        let nz = self.padded.size[2];
        let x_blocks = Extent::new(&self.padded).x_blocks;
        let (level, influence, [_, own]) = (self.level, &self.influence, self.slabs.own());
        team.for_each(self.green.par_chunks_mut(x_blocks * nz).enumerate(), |(y, plane)| {
            for (block, green) in plane.chunks_mut(nz).enumerate() {
                dispatch(level, Fill { influence, cell, green, place: [block * LANES, own.start + y] });
            }
        });
    }
}

/// Returns the charges of plane x. If only one thread buffer has charges on this plane, the plane of this buffer is
/// returned. If several buffers have charges on this plane, the sum over all buffers is computed in `sum` and returned.
fn charges<'a>(
    thread_buffers: &'a [SpreadBuffer],
    x: usize,
    padded: &Padded,
    sum: &'a mut [Aligned16],
) -> &'a [Aligned16] {
    let plane = padded.plane / LANES;
    let of = |buffer: &'a SpreadBuffer| &buffer.grid[x * plane..][..plane];
    let mut parts = thread_buffers.iter().filter(|buffer| x < padded.size[0] && buffer.touched[x]).map(of);
    let (first, second) = match (parts.next(), parts.next()) {
        (Some(only), None) => return only,
        (Some(first), Some(second)) => (first, second),
        (None, _) => {
            sum.fill(Aligned16::default());
            return sum;
        }
    };
    for (sum, (a, b)) in sum.iter_mut().zip(first.iter().zip(second)) {
        for lane in 0..LANES {
            sum.0[lane] = a.0[lane] + b.0[lane];
        }
    }
    for part in parts {
        for (sum, from) in sum.iter_mut().zip(part) {
            for lane in 0..LANES {
                sum.0[lane] += from.0[lane];
            }
        }
    }
    sum
}

/// Copies the first rows of a plane into the padding behind its last row, and the first points of every row into the
/// padding behind the last point.
fn fill_overhang(padded: &Padded, plane: &mut [f32]) {
    let Padded { size: [_, ny, nz], row, over, .. } = *padded;
    if plane.is_empty() {
        return;
    }
    // a plain loop over the few padding points of a row is faster than a slice copy, which would be a call for each row
    for z in 0..over {
        for y in 0..ny {
            plane[y * row + nz + z] = plane[y * row + z];
        }
    }
    plane.copy_within(..over * row, ny * row);
}

/// Separates the transform C of a complex line a + ib into the transforms A and B of the real lines a and b of length
/// n: A(k) = (C(k) + C*(n − k))/2 and B(k) = (C(k) − C*(n − k))/2i, with the complex conjugate C* of C.
struct Separate<'a> {
    line: &'a Split,
    points: usize,
    /// output: `[A, B][k][block of z]`
    re: &'a mut [Aligned16],
    im: &'a mut [Aligned16],
    z: usize,
    z_blocks: usize,
}

impl Kernel for Separate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Separate { line, points, re, im, z, z_blocks } = self;
        let half = S::F::splat(0.5);
        let second = (points / 2 + 1) * z_blocks;
        for k in 0..=points / 2 {
            let image = if k == 0 { 0 } else { points - k };
            let (c, d) = (S::F::load(&line.re[k].0) * half, S::F::load(&line.im[k].0) * half);
            let (e, f) = (S::F::load(&line.re[image].0) * half, S::F::load(&line.im[image].0) * half);
            let to = k * z_blocks + z;
            (c + e).store(&mut re[to].0);
            (d - f).store(&mut im[to].0);
            if second < re.len() {
                (d + f).store(&mut re[second + to].0);
                (e - c).store(&mut im[second + to].0);
            }
        }
    }
}

/// Inverse of [`Separate`]: C(k) = A(k) + iB(k) and C(n − k) = A*(k) + iB*(k), with the transforms A and B of two real
/// lines of length n. The imaginary parts at k = 0 and k = n/2, which are zero in the transform of real lines, are not
/// read.
struct Join<'a> {
    planes: [Lines<'a>; 2],
    points: usize,
    line: &'a mut Split,
}

impl Kernel for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Join { planes: [a, b], points, line } = self;
        for k in 0..=points / 2 {
            let (p, q) = (S::F::load(&a.re[k * a.stride].0), S::F::load(&a.im[k * a.stride].0));
            let (r, s) = (S::F::load(&b.re[k * b.stride].0), S::F::load(&b.im[k * b.stride].0));
            if k == 0 || 2 * k == points {
                p.store(&mut line.re[k].0);
                r.store(&mut line.im[k].0);
            } else {
                (p - s).store(&mut line.re[k].0);
                (q + r).store(&mut line.im[k].0);
                (p + s).store(&mut line.re[points - k].0);
                (r - q).store(&mut line.im[points - k].0);
            }
        }
    }
}

/// Transposes the elements at sixteen x and all z between `columns` (`[block of z][x]`, with z in lanes) and `turned`
/// (`[z]`, with x in lanes).
struct Turn<'a> {
    columns: &'a mut Split,
    turned: &'a mut Split,
    /// index in a row of `columns` at which the sixteen elements along x begin
    first: usize,
    /// number of vectors in `columns` from one block of z to the next
    height: usize,
    /// whether to transpose from `turned` to `columns` instead of from `columns` to `turned`
    back: bool,
}

impl Kernel for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Turn { columns, turned, first, height, back } = self;
        let parts = [(&mut columns.re, &mut turned.re), (&mut columns.im, &mut turned.im)];
        for (columns, turned) in parts {
            for (block, turned) in turned.chunks_exact_mut(LANES).enumerate() {
                let columns = &mut columns[block * height + first..][..LANES];
                let (from, to) = if back { (turned, columns) } else { (columns, turned) };
                let mut lanes = [S::F::splat(0.0); LANES];
                for k in 0..LANES {
                    lanes[k] = S::F::load(&from[k].0);
                }
                lanes = S::F::transpose16(lanes);
                for k in 0..LANES {
                    lanes[k].store(&mut to[k].0);
                }
            }
        }
    }
}

/// Multiplies a spectrum by the influence function.
struct Multiply<'a> {
    spectrum: &'a mut Split,
    green: &'a [Aligned16],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Multiply { spectrum, green } = self;
        // all slices are cut to one length, so that the loop needs no bounds checks
        let length = spectrum.re.len().min(green.len());
        let (re, im, green) = (&mut spectrum.re[..length], &mut spectrum.im[..length], &green[..length]);
        for z in 0..length {
            let green = S::F::load(&green[z].0);
            (S::F::load(&re[z].0) * green).store(&mut re[z].0);
            (S::F::load(&im[z].0) * green).store(&mut im[z].0);
        }
    }
}
