//! Spatial sorting: which atom sits in which slot, and where each block is.

use crate::cell::PeriodicCell;
use crate::vec3::{Vec3, vec3};

/// Slots of a block (j side).
pub const BLOCK: usize = 8;
/// Slots of a cluster (i side); a block holds two.
pub const CLUSTER: usize = 4;
/// Marks a slot without an atom.
pub const NO_ATOM: u32 = u32::MAX;

/// Block centres are multiples of this (nm), so that differences of centres are exact in `f32` up to 16 µm.
pub const CENTRE_QUANTUM: f64 = 1.0 / 1024.0;
/// Side of a column in units of (1/density)^(1/3): between cubic clusters (4^(1/3)) and cubic blocks (8^(1/3)), where
/// water needs the fewest vectors of pairs.
const COLUMN_SIDE: f64 = 1.9;
/// Where empty slots are put, as an offset from the block's centre (nm): beyond any cutoff, squares stay finite.
const NOWHERE: f32 = 1.0e6;

/// Lower and upper corner of an axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// smallest coordinates
    pub low: [f32; 3],
    /// largest coordinates
    pub high: [f32; 3],
}

impl Bounds {
    const EMPTY: Bounds = Bounds { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    fn include(&mut self, p: [f32; 3]) {
        for (k, value) in p.into_iter().enumerate() {
            self.low[k] = self.low[k].min(value);
            self.high[k] = self.high[k].max(value);
        }
    }

    /// Squared distance between two boxes, the first moved by `shift`.
    #[inline(always)]
    pub fn distance_squared(&self, shift: [f32; 3], other: &Bounds) -> f32 {
        let mut sum = 0.0;
        for k in 0..3 {
            let below = other.low[k] - (self.high[k] + shift[k]);
            let above = (self.low[k] + shift[k]) - other.high[k];
            let gap = below.max(above).max(0.0);
            sum += gap * gap;
        }
        sum
    }
}

/// Atoms sorted into columns of blocks. Valid until atoms have moved too far (the list's lifetime).
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// columns along the first two lattice directions
    pub columns: [usize; 2],
    /// first block of each column, and the number of blocks at the end
    pub column_starts: Vec<u32>,
    /// atom of each slot, [`NO_ATOM`] where empty
    pub slot_atom: Vec<u32>,
    /// slot of each atom
    pub atom_slot: Vec<u32>,
    /// lattice image each atom is taken from: wrapped position = position − shift(image)
    pub images: Vec<[i32; 3]>,
    /// centre of each block, multiples of [`CENTRE_QUANTUM`], nm
    pub centres: Vec<[f32; 3]>,
    /// bounds of each i-cluster (wrapped coordinates); empty clusters are inverted
    pub cluster_bounds: Vec<Bounds>,
    /// bounds of each block
    pub block_bounds: Vec<Bounds>,
    /// fractional extent of each block along the third direction
    pub block_depth: Vec<[f32; 2]>,
    /// origin of each slot in unwrapped coordinates: packed offset = position − origin
    origins: Vec<Vec3>,
    keys: Vec<(u32, f64)>,
    order: Vec<u32>,
}

impl Grid {
    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.slot_atom.len() / BLOCK
    }

    /// Sort all atoms. Within a cluster, atoms with `first[atom]` come first (those with Lennard-Jones interactions).
    /// Without a cell a bounding box takes its place and no images exist.
    pub fn build(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], first: &[bool]) {
        let frame = cell.copied().unwrap_or_else(|| bounding_cell(positions));
        let origin = if cell.is_some() { Vec3::ZERO } else { lower_corner(positions) };
        self.choose_columns(&frame, positions.len());
        self.images.clear();
        self.keys.clear();
        for &r in positions {
            let (wrapped, image) = if cell.is_some() { frame.wrap(r) } else { (r, [0; 3]) };
            let s = frame.to_fractional(wrapped - origin);
            let column = |s: f64, n: usize| ((s * n as f64) as usize).min(n - 1);
            let index = column(s.x, self.columns[0]) * self.columns[1] + column(s.y, self.columns[1]);
            self.images.push(image);
            self.keys.push((index as u32, s.z));
        }
        self.fill_slots(first);
        self.measure(cell, positions, origin, &frame);
        self.place(cell);
    }

    /// Square columns of [`COLUMN_SIDE`].
    fn choose_columns(&mut self, frame: &PeriodicCell, atoms: usize) {
        let side = COLUMN_SIDE * (frame.volume() / atoms.max(1) as f64).cbrt();
        let [a, b, _] = frame.face_distances();
        self.columns = [a, b].map(|length| ((length / side).round() as usize).clamp(1, 4096));
    }

    fn fill_slots(&mut self, first: &[bool]) {
        let atoms = self.keys.len();
        let columns = self.columns[0] * self.columns[1];
        self.order.clear();
        self.order.extend(0..atoms as u32);
        let keys = &self.keys;
        self.order.sort_unstable_by(|&a, &b| {
            let (ka, kb) = (keys[a as usize], keys[b as usize]);
            ka.0.cmp(&kb.0).then(ka.1.total_cmp(&kb.1)).then(a.cmp(&b))
        });
        self.slot_atom.clear();
        self.column_starts.clear();
        let mut next = 0;
        for column in 0..columns as u32 {
            self.column_starts.push((self.slot_atom.len() / BLOCK) as u32);
            while next < atoms && keys[self.order[next] as usize].0 == column {
                self.slot_atom.push(self.order[next]);
                next += 1;
            }
            self.slot_atom.resize(self.slot_atom.len().next_multiple_of(BLOCK), NO_ATOM);
        }
        self.column_starts.push((self.slot_atom.len() / BLOCK) as u32);
        for cluster in self.slot_atom.chunks_exact_mut(CLUSTER) {
            cluster.sort_by_key(|&atom| if atom == NO_ATOM { 2 } else { u8::from(!first[atom as usize]) });
        }
        self.atom_slot.clear();
        self.atom_slot.resize(atoms, 0);
        for (slot, &atom) in self.slot_atom.iter().enumerate() {
            if atom != NO_ATOM {
                self.atom_slot[atom as usize] = slot as u32;
            }
        }
    }

    /// Bounds, centres and depths of clusters and blocks.
    fn measure(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], origin: Vec3, frame: &PeriodicCell) {
        self.centres.clear();
        self.cluster_bounds.clear();
        self.block_bounds.clear();
        self.block_depth.clear();
        for block in self.slot_atom.chunks_exact(BLOCK) {
            let mut whole = Bounds::EMPTY;
            let mut depth = [f32::INFINITY, f32::NEG_INFINITY];
            let mut middle = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
            for cluster in block.chunks_exact(CLUSTER) {
                let mut bounds = Bounds::EMPTY;
                for &atom in cluster.iter().filter(|&&atom| atom != NO_ATOM) {
                    let r = wrapped(cell, positions, &self.images, atom);
                    bounds.include(r.map(|v| v as f32).to_array());
                    let s = frame.to_fractional(r - origin).z as f32;
                    depth = [depth[0].min(s), depth[1].max(s)];
                    middle.0 = vec3(middle.0.x.min(r.x), middle.0.y.min(r.y), middle.0.z.min(r.z));
                    middle.1 = vec3(middle.1.x.max(r.x), middle.1.y.max(r.y), middle.1.z.max(r.z));
                }
                self.cluster_bounds.push(bounds);
                if bounds.low[0] <= bounds.high[0] {
                    whole.include(bounds.low);
                    whole.include(bounds.high);
                }
            }
            self.block_bounds.push(whole);
            self.block_depth.push(depth);
            let centre = (middle.0 + middle.1) * 0.5;
            let quantise = |v: f64| ((v / CENTRE_QUANTUM).round() * CENTRE_QUANTUM) as f32;
            self.centres.push(centre.map(quantise).to_array());
        }
    }

    /// Recompute the origin of every slot for the current cell: the block's centre plus the shift of the atom's image.
    pub fn place(&mut self, cell: Option<&PeriodicCell>) {
        self.origins.clear();
        for (slot, &atom) in self.slot_atom.iter().enumerate() {
            let centre = Vec3::from(self.centres[slot / BLOCK].map(f64::from));
            let image = if atom == NO_ATOM { [0; 3] } else { self.images[atom as usize] };
            self.origins.push(match cell {
                Some(cell) if image != [0; 3] => centre + cell.shift(image),
                _ => centre,
            });
        }
    }

    /// Offsets of the slots of a block from its centre as x×8 y×8 z×8, rounded from `f64` differences.
    #[inline(always)]
    pub fn pack_block(&self, block: usize, positions: &[Vec3], to: &mut [f32; 24]) {
        for lane in 0..BLOCK {
            let slot = block * BLOCK + lane;
            let atom = self.slot_atom[slot];
            let offset = if atom == NO_ATOM {
                [NOWHERE; 3]
            } else {
                (positions[atom as usize] - self.origins[slot]).map(|v| v as f32).to_array()
            };
            [to[lane], to[lane + 8], to[lane + 16]] = offset;
        }
    }
}

#[inline(always)]
fn wrapped(cell: Option<&PeriodicCell>, positions: &[Vec3], images: &[[i32; 3]], atom: u32) -> Vec3 {
    let r = positions[atom as usize];
    match cell {
        Some(cell) if images[atom as usize] != [0; 3] => r - cell.shift(images[atom as usize]),
        _ => r,
    }
}

fn lower_corner(positions: &[Vec3]) -> Vec3 {
    positions.iter().fold(Vec3::splat(f64::INFINITY), |a, r| vec3(a.x.min(r.x), a.y.min(r.y), a.z.min(r.z)))
}

/// A rectangular cell just larger than the extent of the atoms.
fn bounding_cell(positions: &[Vec3]) -> PeriodicCell {
    let low = lower_corner(positions);
    let high =
        positions.iter().fold(Vec3::splat(f64::NEG_INFINITY), |a, r| vec3(a.x.max(r.x), a.y.max(r.y), a.z.max(r.z)));
    // never thinner than a bond, so that flat molecules still have a volume
    let edge = |low: f64, high: f64| if high >= low { (high - low) * 1.001 + 0.1 } else { 1.0 };
    PeriodicCell::orthorhombic([edge(low.x, high.x), edge(low.y, high.y), edge(low.z, high.z)])
}
