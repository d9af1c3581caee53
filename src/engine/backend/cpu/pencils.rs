//! Pencil decomposition of the mesh transforms among ranks.
//!
//! The ranks form a table. Each rank holds whole lines of the mesh along the direction of a transform, for ranges of
//! the other two directions. The row of a rank in the table selects its planes along x and its values of k_y, and the
//! column selects its blocks along z and its blocks of k_x; a block is sixteen points. With one column the pencils are
//! slabs: a rank has all z, and needs no exchange between the transforms along x and z.

use super::threads::partition;
use crate::compute::Split;
use crate::ranks::{Purpose, Ranks};
use crate::simd::{Aligned16, LANES};
use std::ops::Range;

/// Number of bytes whose transfer takes as long as an additional message: 2 µs at 12 GB/s, the network that forecasts
/// assume. Only the number of columns depends on this constant.
const MESSAGE: usize = 24_000;

/// Division of the mesh lines among ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshDivision {
    /// number of mesh points along x, y and z
    grid: [usize; 3],
    /// number of rows of the table of ranks
    rows: usize,
    /// number of columns of the table of ranks
    columns: usize,
}

impl MeshDivision {
    /// Divides a mesh among `ranks` ranks, with the number of columns for which messages take the least time.
    pub(super) fn new(grid: [usize; 3], ranks: usize) -> Self {
        let with = |columns: usize| MeshDivision { grid, rows: ranks / columns, columns };
        let slabs = with(1);
        let columns = 1..=slabs.z_blocks().min(slabs.x_blocks());
        let divisions = columns.filter(|columns| ranks.is_multiple_of(*columns)).map(with);
        divisions.min_by_key(|division| division.messages() * MESSAGE + division.bytes()).unwrap_or(slabs)
    }

    /// Returns the number of messages of a rank in the exchanges of the spectrum: two exchanges among the ranks of a
    /// column of the table, and two exchanges among the ranks of a row.
    pub(super) fn messages(&self) -> usize {
        2 * (self.rows - 1) + 2 * (self.columns - 1)
    }

    /// Returns the mean number of bytes that a rank sends in the exchanges of the spectrum.
    pub(super) fn bytes(&self) -> usize {
        let MeshDivision { grid, rows, columns } = *self;
        let spectrum = grid[0] * self.half() * self.z_blocks() * 2 * size_of::<Aligned16>();
        let sent = |among: usize| 2 * spectrum * (among - 1) / (among * rows * columns);
        sent(rows) + sent(columns)
    }

    /// Returns the fraction of the mesh that the busiest rank transforms.
    pub(super) fn largest_part(&self) -> f64 {
        let part = |total: usize, among: usize| total.div_ceil(among) as f64 / total as f64;
        part(self.grid[0].div_ceil(2), self.rows) * part(self.z_blocks(), self.columns)
    }

    /// Returns the number of values of k_y: from 0 to half the mesh size along y.
    pub(super) fn half(&self) -> usize {
        self.grid[1] / 2 + 1
    }

    /// Returns the number of blocks along z.
    pub(super) fn z_blocks(&self) -> usize {
        self.grid[2].div_ceil(LANES)
    }

    /// Returns the number of blocks along x.
    fn x_blocks(&self) -> usize {
        self.grid[0].div_ceil(LANES)
    }

    /// Returns the planes along x of a rank. They are pairs of planes; only the last plane of a mesh with an odd number
    /// of planes has no partner.
    pub(super) fn x(&self, rank: usize) -> Range<usize> {
        let Range { start, end } = partition(self.grid[0].div_ceil(2), rank / self.columns, self.rows);
        2 * start..(2 * end).min(self.grid[0])
    }

    /// Returns the blocks along z of a rank.
    pub(super) fn z(&self, rank: usize) -> Range<usize> {
        partition(self.z_blocks(), rank % self.columns, self.columns)
    }

    /// Returns the values of k_y of a rank.
    fn k_y(&self, rank: usize) -> Range<usize> {
        partition(self.half(), rank / self.columns, self.rows)
    }

    /// Returns the blocks of k_x of a rank, for the transforms along z.
    fn k_x(&self, rank: usize) -> Range<usize> {
        partition(self.x_blocks(), rank % self.columns, self.columns)
    }
}

/// Parts of the mesh that a rank transforms.
pub(super) struct Own {
    /// planes along x
    pub(super) x: Range<usize>,
    /// blocks along z
    pub(super) z: Range<usize>,
    /// values of k_y
    pub(super) k_y: Range<usize>,
    /// blocks of k_x, for the transforms along z
    pub(super) k_x: Range<usize>,
}

/// Pencils of this rank, and buffers for the exchanges of the spectrum.
pub(super) struct Pencils {
    pub(super) ranks: Ranks,
    pub(super) division: MeshDivision,
    /// parts of a spectrum that are sent, that arrive, and that stay on this rank
    buffers: [Vec<Aligned16>; 3],
}

impl Pencils {
    /// Divides a mesh among all ranks.
    pub(super) fn new(ranks: &Ranks, grid: [usize; 3]) -> Self {
        let division = MeshDivision::new(grid, ranks.count());
        Pencils { ranks: ranks.for_purpose(Purpose::Mesh), division, buffers: Default::default() }
    }

    /// Returns the parts of the mesh that this rank transforms.
    pub(super) fn own(&self) -> Own {
        let (division, rank) = (&self.division, self.ranks.rank());
        Own { x: division.x(rank), z: division.z(rank), k_y: division.k_y(rank), k_x: division.k_x(rank) }
    }

    /// Creates the spectrum that is exchanged after the transforms along y. It is indexed `[x][k_y][block of z]`,
    /// before the exchange for the x of this rank, and after the exchange for its k_y.
    pub(super) fn x_to_k_y(&self) -> Exchanged {
        let Self { division, ranks, .. } = self;
        self.exchanged(self.column(), |rank| [division.x(rank), division.k_y(rank)], 1, division.z(ranks.rank()).len())
    }

    /// Creates the spectrum that is exchanged after the inverse transforms along x. It is indexed `[k_y][x][block of
    /// z]`, before the exchange for the k_y of this rank, and after the exchange for its x.
    pub(super) fn k_y_to_x(&self) -> Exchanged {
        let Self { division, ranks, .. } = self;
        self.exchanged(self.column(), |rank| [division.k_y(rank), division.x(rank)], 1, division.z(ranks.rank()).len())
    }

    /// Creates the spectrum that is exchanged between the transforms along x and along z, forth and back. It is indexed
    /// `[k_y][block of z][k_x]`, before the exchange for the z of this rank, and after the exchange for its k_x.
    /// Returns `None` if this rank has all z.
    pub(super) fn z_to_k_x(&self) -> Option<Exchanged> {
        let Self { division, ranks, .. } = self;
        let this = ranks.rank();
        let row = (0..division.columns).map(|column| this - this % division.columns + column);
        let ranges = |rank| [division.z(rank), division.k_x(rank)];
        (division.columns > 1).then(|| self.exchanged(row, ranges, division.k_y(this).len(), LANES))
    }

    /// Returns the ranks in the column of this rank in the table of ranks.
    fn column(&self) -> impl Iterator<Item = usize> + use<> {
        let (MeshDivision { rows, columns, .. }, this) = (self.division, self.ranks.rank());
        (0..rows).map(move |row| row * columns + this % columns)
    }

    /// Creates the spectrum of an exchange among `members`. `ranges` returns the rows of a member before the exchange
    /// and its columns after the exchange.
    fn exchanged(
        &self,
        members: impl Iterator<Item = usize>,
        ranges: impl Fn(usize) -> [Range<usize>; 2],
        outer: usize,
        vectors: usize,
    ) -> Exchanged {
        let member = |rank| {
            let [rows, columns] = ranges(rank);
            Member { rank, rows, columns }
        };
        let members: Vec<Member> = members.map(member).collect();
        let own = members.iter().position(|member| member.rank == self.ranks.rank()).expect("this rank is a member");
        let total = |ranges: fn(&Member) -> &Range<usize>| members.iter().map(|member| ranges(member).len()).sum();
        let (rows, columns) = (total(|member| &member.rows), total(|member| &member.columns));
        let shape = |rows, columns| Shape { outer, rows, columns, vectors };
        let shapes = [shape(members[own].rows.len(), columns), shape(rows, members[own].columns.len())];
        let [before, after] = shapes.map(|shape| shape.length());
        let after = (members.len() > 1).then(|| Split::new(after));
        Exchanged { members, own, shapes, before: Split::new(before), after }
    }

    /// Exchanges a spectrum. Calls `work` while messages travel, unless there is a single member. All members call this
    /// function together.
    pub(super) fn exchange(&mut self, spectrum: &mut Exchanged, work: impl FnOnce()) {
        self.run(spectrum, false, work);
    }

    /// Exchanges a spectrum back: from its place after the exchange to its place before the exchange. Calls `work`
    /// while messages travel, unless there is a single member. All members call this function together.
    pub(super) fn exchange_back(&mut self, spectrum: &mut Exchanged, work: impl FnOnce()) {
        self.run(spectrum, true, work);
    }

    fn run(&mut self, spectrum: &mut Exchanged, is_back: bool, work: impl FnOnce()) {
        let Exchanged { members, own, shapes: [narrow, wide], before, after: Some(after) } = spectrum else { return };
        let (this, count) = (&members[*own], members.len());
        // parts of the arrays before and after the exchange that this rank exchanges with a member
        let of_before = |member: &Member| [0..this.rows.len(), member.columns.clone()];
        let of_after = |member: &Member| [member.rows.clone(), 0..this.columns.len()];
        let source_part = |to: &Member| if is_back { of_after(to) } else { of_before(to) };
        let target_part = |from: &Member| if is_back { of_before(from) } else { of_after(from) };
        let [(source, source_shape), (target, target_shape)] =
            if is_back { [(after, wide), (before, narrow)] } else { [(before, narrow), (after, wide)] };
        // the first message of each member goes to the next member, so that no member receives all first messages
        let receivers = || (1..count).map(|step| &members[(*own + step) % count]);
        let senders = || (1..count).map(|step| &members[(*own + count - step) % count]);
        let [to_send, arrived, staying] = &mut self.buffers;
        to_send.clear();
        receivers().for_each(|to| source_shape.pack(source, source_part(to), to_send));
        let to = receivers().map(|to| (to.rank, source_shape.vectors_in(source_part(to))));
        let from = senders().map(|from| (from.rank, target_shape.vectors_in(target_part(from))));
        arrived.resize(from.clone().map(|(_, vectors)| vectors).sum(), Aligned16::default());
        self.ranks.exchange_during(to_send, to, arrived, from.clone(), || {
            staying.clear();
            source_shape.pack(source, source_part(this), staying);
            target_shape.unpack(target, target_part(this), staying);
            work();
        });
        let mut arrived = &arrived[..];
        for (from, (_, vectors)) in senders().zip(from) {
            let vectors = arrived.split_off(..vectors).expect("the length of the message");
            target_shape.unpack(target, target_part(from), vectors);
        }
    }
}

/// Rank that takes part in an exchange.
struct Member {
    rank: usize,
    /// rows of this rank before the exchange
    rows: Range<usize>,
    /// columns of this rank after the exchange
    columns: Range<usize>,
}

/// Spectrum before and after an exchange among ranks.
pub(super) struct Exchanged {
    members: Vec<Member>,
    /// index of this rank in `members`
    own: usize,
    /// shapes of `before` and `after`
    shapes: [Shape; 2],
    /// all columns, and the rows of this rank
    before: Split,
    /// all rows, and the columns of this rank; `None` with a single member, for which nothing is exchanged
    after: Option<Split>,
}

impl Exchanged {
    /// Returns the numbers of vectors at one outer index, before and after the exchange.
    pub(super) fn inner_lengths(&self) -> [usize; 2] {
        self.shapes.map(|Shape { rows, columns, vectors, .. }| rows * columns * vectors)
    }

    /// Returns the spectrum before the exchange.
    pub(super) fn before(&mut self) -> &mut Split {
        &mut self.before
    }

    /// Returns the spectrum after the exchange.
    pub(super) fn after(&self) -> &Split {
        self.after.as_ref().unwrap_or(&self.before)
    }

    /// Returns the spectrum after the exchange, mutable.
    pub(super) fn after_mut(&mut self) -> &mut Split {
        self.after.as_mut().unwrap_or(&mut self.before)
    }
}

/// Shape of an array that is indexed `[outer][row][column][vector]`.
#[derive(Clone, Copy)]
struct Shape {
    outer: usize,
    rows: usize,
    columns: usize,
    vectors: usize,
}

impl Shape {
    fn length(&self) -> usize {
        self.outer * self.rows * self.columns * self.vectors
    }

    /// Returns the number of vectors in the given rows and columns, counting real and imaginary parts.
    fn vectors_in(&self, [rows, columns]: [Range<usize>; 2]) -> usize {
        2 * self.outer * rows.len() * columns.len() * self.vectors
    }

    /// Returns the ranges of vectors of the given columns in each of the given rows.
    fn ranges(self, [rows, columns]: [Range<usize>; 2]) -> impl Iterator<Item = Range<usize>> + Clone {
        let at = move |row: usize, column: usize| (row * self.columns + column) * self.vectors;
        let rows = (0..self.outer).flat_map(move |outer| rows.clone().map(move |row| outer * self.rows + row));
        rows.map(move |row| at(row, columns.start)..at(row, columns.end))
    }

    /// Appends the given rows and columns of `array` to `to`.
    fn pack(self, array: &Split, part: [Range<usize>; 2], to: &mut Vec<Aligned16>) {
        for array in [&array.re, &array.im] {
            self.ranges(part.clone()).for_each(|range| to.extend_from_slice(&array[range]));
        }
    }

    /// Copies `from` to the given rows and columns of `array`.
    fn unpack(self, array: &mut Split, part: [Range<usize>; 2], from: &[Aligned16]) {
        let mut chunks = from.chunks_exact((part[1].len() * self.vectors).max(1));
        for array in [&mut array.re, &mut array.im] {
            self.ranges(part.clone()).zip(&mut chunks).for_each(|(range, chunk)| array[range].copy_from_slice(chunk));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_on_one_rank() {
        for grid in [[20, 18, 33], [64, 64, 64], [96, 100, 81]] {
            for ranks in 1..=70 {
                let division = MeshDivision::new(grid, ranks);
                let covered = |first: fn(&MeshDivision, usize) -> Range<usize>,
                               second: fn(&MeshDivision, usize) -> Range<usize>,
                               sizes: [usize; 2]| {
                    let mut count = vec![0; sizes[0] * sizes[1]];
                    for rank in 0..ranks {
                        for at in first(&division, rank) {
                            second(&division, rank).for_each(|other| count[at * sizes[1] + other] += 1);
                        }
                    }
                    assert!(count.iter().all(|&count| count == 1), "{division:?}");
                };
                let [half, x_blocks, z_blocks] = [division.half(), division.x_blocks(), division.z_blocks()];
                covered(MeshDivision::x, MeshDivision::z, [grid[0], z_blocks]);
                covered(MeshDivision::k_y, MeshDivision::z, [half, z_blocks]);
                covered(MeshDivision::k_y, MeshDivision::k_x, [half, x_blocks]);
                let largest = (0..ranks).map(|rank| division.x(rank).len() * division.z(rank).len()).max();
                let ratio = division.largest_part() * (grid[0] * z_blocks) as f64 / largest.unwrap_or(0) as f64;
                assert!((1.0 - 1e-12..1.5).contains(&ratio), "{division:?}: {ratio}");
            }
        }
    }

    #[test]
    fn many_ranks_have_several_columns_and_few_ranks_have_slabs() {
        let columns = |ranks| MeshDivision::new([96; 3], ranks).columns;
        assert_eq!([1, 2, 4, 7, 64, 67].map(columns), [1, 1, 1, 1, 4, 1]);
        let slabs = MeshDivision { grid: [96; 3], rows: 64, columns: 1 };
        let pencils = MeshDivision::new([96; 3], 64);
        assert_eq!([slabs.messages(), pencils.messages()], [2 * 63, 2 * (15 + 3)]);
    }

    /// After each exchange, every element is where its indices say, and an exchange back restores the array.
    #[test]
    fn elements_keep_their_indices_in_an_exchange() {
        Ranks::threads(6, |ranks| {
            let mut pencils = Pencils::new(&ranks, [20, 10, 40]);
            pencils.division = MeshDivision { grid: [20, 10, 40], rows: 3, columns: 2 };
            let own = pencils.own();
            // number of the element at the given indices
            let mark = |at: [usize; 4], part: usize| {
                let number = at.into_iter().fold(part, |number, index| 41 * number + index);
                Aligned16([number as f32; LANES])
            };
            // marks of an array with these ranges of indices, for real or imaginary parts
            let array = |ranges: [Range<usize>; 4], part: usize| -> Vec<Aligned16> {
                let [a, b, c, d] = &ranges;
                let of_c = |at: [usize; 3]| d.clone().map(move |d| [at[0], at[1], at[2], d]);
                let of_b = |at: [usize; 2]| c.clone().flat_map(move |c| of_c([at[0], at[1], c]));
                let indices = a.clone().flat_map(|a| b.clone().flat_map(move |b| of_b([a, b])));
                indices.map(|at| mark(at, part)).collect()
            };
            let fill = |to: &mut Split, ranges: [Range<usize>; 4]| {
                (to.re, to.im) = (array(ranges.clone(), 1), array(ranges, 2));
            };
            let check = |found: &Split, ranges: [Range<usize>; 4]| {
                assert!(found.re == array(ranges.clone(), 1) && found.im == array(ranges, 2));
            };
            let (all_x, all_y, all_z, one) = (0..20, 0..6, 0..3, 0..1);
            let mut spectrum = pencils.x_to_k_y();
            fill(spectrum.before(), [own.x.clone(), all_y.clone(), own.z.clone(), one.clone()]);
            pencils.exchange(&mut spectrum, || ());
            check(spectrum.after(), [all_x.clone(), own.k_y.clone(), own.z.clone(), one.clone()]);
            let mut spectrum = pencils.k_y_to_x();
            fill(spectrum.before(), [own.k_y.clone(), all_x, own.z.clone(), one.clone()]);
            pencils.exchange(&mut spectrum, || ());
            check(spectrum.after(), [all_y, own.x.clone(), own.z.clone(), one]);
            let mut spectrum = pencils.z_to_k_x().unwrap();
            let x = |blocks: &Range<usize>| blocks.start * LANES..blocks.end * LANES;
            let before = [own.k_y.clone(), own.z.clone(), x(&(0..2)), 0..1];
            fill(spectrum.before(), before.clone());
            pencils.exchange(&mut spectrum, || ());
            check(spectrum.after(), [own.k_y.clone(), all_z, x(&own.k_x), 0..1]);
            spectrum.before().re.fill(Aligned16::default());
            spectrum.before().im.fill(Aligned16::default());
            pencils.exchange_back(&mut spectrum, || ());
            check(spectrum.before(), before);
        });
    }
}
