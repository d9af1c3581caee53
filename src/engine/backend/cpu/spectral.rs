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
use super::pencils::{Exchanged, Own, Pencils};
use super::spectral_kernel::{Join, Multiply, Separate, Turn};
use crate::arrays::map;
use crate::cell::PeriodicCell;
use crate::compute::{LineFft, Lines, LinesMut, Split};
use crate::memory;
use crate::pme::Influence;
use crate::ranks::Ranks;
use crate::simd::{Aligned16, LANES, Level, dispatch};
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
    pub(super) pencils: Pencils,
    padded: Padded,
    influence: Influence,
    /// 1-D transforms along x, y, z
    plans: [LineFft; 3],
    /// spectrum after the first pass, `[x][k_y][block of z]`
    forward: Exchanged,
    /// spectrum within the second pass, `[k_y][block of z][k_x]`; `None` if this rank has all z
    columns: Option<Exchanged>,
    /// spectrum after the second pass, `[k_y][x][block of z]`
    backward: Exchanged,
    /// influence function for `green_cell`, `[k_y][block of k_x][z]`, for the k_y and k_x of this rank. The influence
    /// function is divided by the prefactor of the potential, because the charges already contain this prefactor
    green: Vec<Aligned16>,
    green_cell: Option<PeriodicCell>,
    scratch: Vec<Scratch>,
    /// energy (kJ/mol) and virial for each k_y of this rank
    partial: Vec<(f64, Mat3)>,
}

impl Spectral {
    /// Plans the transforms of a mesh that `ranks` share.
    pub(super) fn new(padded: Padded, influence: Influence, parts: usize, level: Level, ranks: &Ranks) -> Self {
        let [nx, ny, nz] = padded.size;
        let pencils = Pencils::new(ranks, padded.size);
        let z_blocks = pencils.division.z_blocks();
        let scratch = || Scratch {
            work: LineFft::work(nx.max(ny).max(nz)),
            line: Split::new(ny),
            columns: Split::new(z_blocks * nx.next_multiple_of(LANES)),
            turned: [Split::new(z_blocks * LANES), Split::new(z_blocks * LANES)],
            planes: [0; 2].map(|_| vec![Aligned16::default(); padded.plane / LANES]),
        };
        let Own { k_y, k_x, .. } = pencils.own();
        Spectral {
            level,
            padded,
            influence,
            plans: padded.size.map(LineFft::new),
            forward: pencils.x_to_k_y(),
            columns: pencils.z_to_k_x(),
            backward: pencils.k_y_to_x(),
            green: memory::filled(Aligned16::default(), k_y.len() * k_x.len() * nz),
            green_cell: None,
            scratch: (0..PORTIONS_PER_PART * parts).map(|_| scratch()).collect(),
            partial: vec![(0.0, Mat3::ZERO); k_y.len()],
            pencils,
        }
    }

    /// Computes the potential on the pencils of this rank from the charges that all threads have spread there, after
    /// [`SpreadBuffer::fold`]. A single rank also fills the padding of the planes. Returns this rank's part of the
    /// energy ½ Σ G |S|² (influence function G, spectrum S) and of the virial. Energy and virial are zero unless `sums`
    /// is true. Calls `work` in each exchange among ranks.
    pub(super) fn solve(
        &mut self,
        team: &Team,
        thread_buffers: &[SpreadBuffer],
        cell: &PeriodicCell,
        potential: &mut [Aligned16],
        sums: bool,
        work: &mut dyn FnMut(),
    ) -> (f64, Mat3) {
        self.update_green(team, cell);
        self.along_y(team, thread_buffers);
        self.pencils.exchange(&mut self.forward, &mut *work);
        self.along_x_and_z(team, cell, sums, work);
        self.pencils.exchange(&mut self.backward, work);
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
        let (level, padded, plan, row) = (self.level, self.padded, &self.plans[1], self.padded.row / LANES);
        let own = self.pencils.own();
        let of_plane = self.pencils.division.half() * own.z.len();
        let pairs = own.x.len().div_ceil(2).div_ceil(self.scratch.len()).max(1);
        let portions = portions(self.forward.before(), 2 * pairs * of_plane).zip(&mut self.scratch);
        team.for_each(portions.enumerate(), |(portion, (spectrum, scratch))| {
            let Scratch { work, line, planes: [first, second], .. } = scratch;
            for (pair, [re, im]) in chunks(spectrum, 2 * of_plane).enumerate() {
                let x = own.x.start + 2 * (portion * pairs + pair);
                let (first, second) =
                    (charges(thread_buffers, x, &padded, first), charges(thread_buffers, x + 1, &padded, second));
                for (z, block) in own.z.clone().enumerate() {
                    let input = Lines { re: &first[block..], im: &second[block..], stride: row };
                    plan.transform(level, input, line.lines_mut(0, 1), work);
                    let (points, z_blocks) = (padded.size[1], own.z.len());
                    dispatch(level, Separate { line, points, re: &mut *re, im: &mut *im, z, z_blocks });
                }
            }
        });
    }

    /// Transforms along x and z, multiplies by the influence function, and inverts the transforms along z and x (second
    /// pass).
    fn along_x_and_z(&mut self, team: &Team, cell: &PeriodicCell, sums: bool, during_exchange: &mut dyn FnMut()) {
        let Self { pencils, plans: [along_x, _, along_z], padded, influence, scratch, green, partial, .. } = self;
        let own = pencils.own();
        let pass = SecondPass { level: self.level, along_x, along_z, padded, own: &own, influence, cell, sums };
        let planes = own.k_y.len().div_ceil(scratch.len()).max(1);
        let (forward, backward) = (self.forward.after(), self.backward.before());
        let of_output = padded.size[0] * own.z.len();
        let of_green = own.k_x.len() * padded.size[2];
        let green = green.par_chunks(planes * of_green).zip(partial.par_chunks_mut(planes));
        let Some(columns) = &mut self.columns else {
            // the lines of one k_y stay in the cache between the transforms
            let portions = portions(backward, planes * of_output).zip(green).zip(scratch).enumerate();
            return team.for_each(portions, |(portion, ((output, (green, partial)), scratch))| {
                let Scratch { work, columns: Split { re, im }, turned, .. } = scratch;
                let planes_of = chunks(output, of_output).zip(green.chunks(of_green)).zip(partial);
                for (y, ((output, green), partial)) in (portion * planes..).zip(planes_of) {
                    pass.along_x(forward, y, [re, im], work);
                    *partial = pass.along_z(y, [re, im], green, turned, work);
                    pass.back_along_x([re, im], output, work);
                }
            });
        };
        let [before, after] = columns.inner_lengths();
        let of_x = portions(columns.before(), planes * before).zip(&mut *scratch).enumerate();
        team.for_each(of_x, |(portion, (columns, Scratch { work, .. }))| {
            let planes_of = (portion * planes..).zip(chunks(columns, before));
            planes_of.for_each(|(y, columns)| pass.along_x(forward, y, columns, work));
        });
        pencils.exchange(columns, &mut *during_exchange);
        let of_z = portions(columns.after_mut(), planes * after).zip(green).zip(&mut *scratch).enumerate();
        team.for_each(of_z, |(portion, ((columns, (green, partial)), Scratch { work, turned, .. }))| {
            let planes_of = chunks(columns, after).zip(green.chunks(of_green)).zip(partial);
            for (y, ((columns, green), partial)) in (portion * planes..).zip(planes_of) {
                *partial = pass.along_z(y, columns, green, turned, work);
            }
        });
        pencils.exchange_back(columns, during_exchange);
        let of_x = portions(columns.before(), planes * before).zip(portions(backward, planes * of_output));
        team.for_each(of_x.zip(scratch), |((columns, output), Scratch { work, .. })| {
            let planes_of = chunks(columns, before).zip(chunks(output, of_output));
            planes_of.for_each(|([re, im], output)| pass.back_along_x([re, im], output, work));
        });
    }

    /// Inverts the transform along y (third pass).
    fn back_along_y(&mut self, team: &Team, potential: &mut [Aligned16]) {
        let (level, padded, plan, backward) = (self.level, self.padded, &self.plans[1], self.backward.after());
        let [plane, row] = [padded.plane / LANES, padded.row / LANES];
        let (own, is_alone) = (self.pencils.own(), self.pencils.ranks.count() == 1);
        let inside = &mut potential[own.x.start * plane..own.x.end * plane];
        let pairs = own.x.len().div_ceil(2).div_ceil(self.scratch.len()).max(1);
        let portions = inside.par_chunks_mut(2 * pairs * plane).zip(&mut self.scratch).enumerate();
        team.for_each(portions, |(portion, (inside, scratch))| {
            let Scratch { work, line, planes: [_, spare], .. } = scratch;
            for (pair, inside) in inside.chunks_mut(2 * plane).enumerate() {
                let x = 2 * (portion * pairs + pair);
                let (first, second) = inside.split_at_mut(plane);
                for (z, block) in own.z.clone().enumerate() {
                    // the last plane is paired with itself if the number of planes is odd
                    let other = if second.is_empty() { x } else { x + 1 };
                    let [z_blocks, planes] = [own.z.len(), own.x.len()];
                    let planes = map([x, other], |x| backward.lines(x * z_blocks + z, planes * z_blocks));
                    dispatch(level, Join { planes, points: padded.size[1], line });
                    let im = if second.is_empty() { &mut spare[block..] } else { &mut second[block..] };
                    let output = LinesMut { re: &mut first[block..], im, stride: row };
                    plan.transform(level, line.lines(0, 1).swapped(), output.swapped(), work);
                }
                for plane in [first, second].into_iter().filter(|plane| is_alone && !plane.is_empty()) {
                    padded.fill_overhang(bytemuck::cast_slice_mut(plane));
                }
            }
        });
    }

    /// Copies the first planes of the potential into the padding behind the last plane.
    pub(super) fn fill_last_planes(&self, team: &Team, potential: &mut [Aligned16]) {
        let plane = self.padded.plane / LANES;
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
        let (level, influence, own, nz) = (self.level, &self.influence, self.pencils.own(), self.padded.size[2]);
        team.for_each(self.green.par_chunks_mut(own.k_x.len() * nz).enumerate(), |(y, plane)| {
            for (block, green) in own.k_x.clone().zip(plane.chunks_mut(nz)) {
                dispatch(level, Fill { influence, cell, green, place: [block * LANES, own.k_y.start + y] });
            }
        });
    }
}

/// Real and imaginary parts of a piece of a spectrum.
type Parts<'a> = [&'a mut [Aligned16]; 2];

/// Returns the pieces of `size` vectors of a spectrum.
fn portions(spectrum: &mut Split, size: usize) -> impl IndexedParallelIterator<Item = Parts<'_>> {
    let Split { re, im } = spectrum;
    re.par_chunks_mut(size.max(1)).zip(im.par_chunks_mut(size.max(1))).map(|(re, im)| [re, im])
}

/// Returns the pieces of `size` vectors of a piece of a spectrum.
fn chunks([re, im]: Parts<'_>, size: usize) -> impl Iterator<Item = Parts<'_>> {
    re.chunks_mut(size.max(1)).zip(im.chunks_mut(size.max(1))).map(|(re, im)| [re, im])
}

/// Transforms of the second pass at one k_y. `y` is the index of k_y among the values of this rank. The lines of a k_y
/// are indexed `[block of z][x]`: for all x and the z of this rank in transforms along x, and for all z and the k_x of
/// this rank in transforms along z.
struct SecondPass<'a> {
    level: Level,
    along_x: &'a LineFft,
    along_z: &'a LineFft,
    padded: &'a Padded,
    own: &'a Own,
    influence: &'a Influence,
    cell: &'a PeriodicCell,
    sums: bool,
}

impl SecondPass<'_> {
    /// Returns the number of vectors from one block of z to the next in transforms along x.
    fn height(&self) -> usize {
        self.padded.size[0].next_multiple_of(LANES)
    }

    /// Transforms the spectrum `forward` along x.
    fn along_x(&self, forward: &Split, y: usize, [re, im]: Parts<'_>, work: &mut [Split; 2]) {
        let ([z_blocks, k_y], height) = ([self.own.z.len(), self.own.k_y.len()], self.height());
        for z in 0..z_blocks {
            let output = LinesMut { re: &mut re[z * height..], im: &mut im[z * height..], stride: 1 };
            self.along_x.transform(self.level, forward.lines(y * z_blocks + z, k_y * z_blocks), output, work);
        }
    }

    /// Transforms along z, multiplies by the influence function `green`, and inverts the transform. Returns energy
    /// (kJ/mol) and virial, which are zero unless sums are requested.
    fn along_z(
        &self,
        y: usize,
        [re, im]: Parts<'_>,
        green: &[Aligned16],
        [before, after]: &mut [Split; 2],
        work: &mut [Split; 2],
    ) -> (f64, Mat3) {
        let Self { level, along_z, influence, cell, own, .. } = *self;
        let (height, mut sum) = (own.k_x.len() * LANES, (0.0, Mat3::ZERO));
        for (x, green) in green.chunks(self.padded.size[2]).enumerate() {
            let first = x * LANES;
            dispatch(level, Turn { columns: [re, im], turned: before, first, height, back: false });
            along_z.transform(level, before.lines(0, 1), after.lines_mut(0, 1), work);
            if self.sums {
                let place = [(own.k_x.start + x) * LANES, own.k_y.start + y];
                let points = self.padded.size;
                let kernel = Sum { influence, cell, spectrum: after, green, place, points };
                let (energy, virial) = dispatch(level, kernel);
                sum.0 += energy;
                sum.1 += virial;
            }
            dispatch(level, Multiply { spectrum: after, green });
            along_z.transform(level, after.lines(0, 1).swapped(), before.lines_mut(0, 1).swapped(), work);
            dispatch(level, Turn { columns: [re, im], turned: before, first, height, back: true });
        }
        sum
    }

    /// Inverts the transform along x. The output is indexed `[x][block of z]`.
    fn back_along_x(&self, [re, im]: Parts<'_>, output: Parts<'_>, work: &mut [Split; 2]) {
        let (z_blocks, height) = (self.own.z.len(), self.height());
        let [out_re, out_im] = output;
        for z in 0..z_blocks {
            let input = Lines { re: &re[z * height..], im: &im[z * height..], stride: 1 };
            let output = LinesMut { re: &mut out_re[z..], im: &mut out_im[z..], stride: z_blocks };
            self.along_x.transform(self.level, input.swapped(), output.swapped(), work);
        }
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
        *sum = *a + *b;
    }
    for part in parts {
        for (sum, from) in sum.iter_mut().zip(part) {
            *sum = *sum + *from;
        }
    }
    sum
}
