//! Spatial sorting, pair search and pruning on the device.

use super::device::{Device, Launch, allocate, clear, give_back, over, read, read_one};
use super::kernel::Kernel;
use super::layout::{Arguments, CHUNK_GROUPS, HALF, SCAN_THREADS, SEARCH_WARPS, Status, WARP};
use super::shared::Pointer;
use super::steps;
use super::virtual_sites;
use crate::backend::PairCounts;
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::vec3::Vec3;
use std::mem::offset_of;

/// Mean number of atoms in a slice. The number is small because the atoms of a slice are ordered by insertion sort.
const SLICE_ATOMS: f64 = 2.0;
/// Initial capacity of the lists in chunks per block, which is twice the need of a liquid at a cutoff of 1 nm. Lists
/// are enlarged when necessary.
const FIRST_CHUNKS: u32 = 6;
/// New capacity of a pair list that was too small, relative to the capacity that the search needed.
const GROWTH: f64 = 1.25;

/// Chooses columns and slices of the spatial sorting for the present cell, or, without a cell, for the bounding box of
/// the atoms.
fn divide(device: &impl Device, a: &mut Arguments, cell: Option<&PeriodicCell>) -> Result<()> {
    let edges = match cell {
        Some(cell) => cell.face_distances(),
        None => {
            let mut positions = vec![Vec3::ZERO; a.atoms as usize];
            read(device, a.positions, &mut positions)?;
            frame(a, &positions)
        }
    };
    // a column is as wide as a cube that contains 32 atoms on average, which is the number of atoms in a block
    let side = (f64::from(WARP) * edges.iter().product::<f64>() / f64::from(a.atoms.max(1))).cbrt();
    let columns = [0, 1].map(|k| (edges[k] / side).round().clamp(1.0, 1024.0) as u32);
    let in_column = f64::from(a.atoms) / f64::from(columns[0] * columns[1]);
    [a.columns_x, a.columns_y] = columns;
    a.slices = (in_column / SLICE_ATOMS).ceil().max(1.0) as u32;
    Ok(())
}

/// Stores the bounding box of the atoms, with each edge enlarged by 0.1 nm. Returns the edge lengths.
fn frame(a: &mut Arguments, positions: &[Vec3]) -> [f64; 3] {
    let corner = |pick: fn(f64, f64) -> f64, start: f64| {
        positions.iter().fold([start; 3], |c, r| [pick(c[0], r.x), pick(c[1], r.y), pick(c[2], r.z)])
    };
    let (low, high) = (corner(f64::min, f64::INFINITY), corner(f64::max, f64::NEG_INFINITY));
    let edges = [0, 1, 2].map(|k| if high[k] >= low[k] { high[k] - low[k] + 0.1 } else { 1.0 });
    (a.frame_low, a.frame_inverse) = (low, edges.map(f64::recip));
    edges
}

fn slices(a: &Arguments) -> usize {
    (a.columns_x * a.columns_y * a.slices) as usize
}

/// Reallocates the lists without keeping their contents. After an error the capacity of the lists is zero, so that list
/// kernels do nothing.
fn allocate_lists(device: &impl Device, a: &mut Arguments, chunks: u32) -> Result<()> {
    a.chunk_capacity = 0;
    let groups = [&mut a.chunk_block.0, &mut a.outer_groups.0, &mut a.inner_groups.0];
    let entries = [&mut a.outer.0, &mut a.inner.0];
    give_back(device, groups)?;
    give_back(device, entries)?;
    let entries = chunks as usize * (CHUNK_GROUPS * WARP) as usize;
    a.chunk_block = allocate(device, chunks as usize)?;
    a.outer_groups = allocate(device, chunks as usize)?;
    a.inner_groups = allocate(device, 2 * chunks as usize)?;
    a.outer = allocate(device, entries)?;
    a.inner = allocate(device, 2 * entries)?;
    a.chunk_capacity = chunks;
    Ok(())
}

/// Sorts the atoms into the slots of blocks on the device.
pub(super) fn sort(device: &impl Device, a: &mut Arguments, cell: Option<&PeriodicCell>) -> Result<()> {
    divide(device, a, cell)?;
    let slices = slices(a);
    if slices as u32 > a.slice_capacity {
        a.slice_capacity = 0;
        give_back(device, [&mut a.slice_starts.0, &mut a.slice_filled.0])?;
        let capacity = (slices as f64 * GROWTH) as u32;
        a.slice_starts = allocate(device, capacity as usize + 1)?;
        a.slice_filled = allocate(device, capacity as usize)?;
        a.slice_capacity = capacity;
    }
    clear(device, a.slice_starts, slices + 1)?;
    clear(device, a.slice_filled, slices)?;
    device.launch(over(Kernel::SortCount, a.atoms), a)?;
    device.launch(Launch { block: SCAN_THREADS, ..over(Kernel::SortScan, SCAN_THREADS) }, a)?;
    device.launch(over(Kernel::SortFill, a.atoms), a)?;
    device.launch(over(Kernel::SortOrder, slices as u32), a)?;
    device.launch(Launch { block: WARP * WARP, ..over(Kernel::SortFinish, a.slots) }, a)
}

/// Sorts the atoms and builds the outer list. Returns true if the lists were reallocated.
pub(super) fn rebuild(device: &impl Device, a: &mut Arguments, cell: Option<&PeriodicCell>) -> Result<bool> {
    let mut grown = a.chunk_capacity == 0;
    if grown {
        allocate_lists(device, a, a.blocks * FIRST_CHUNKS)?;
    }
    sort(device, a, cell)?;
    steps::pack(device, a)?;
    loop {
        clear(device, a.counts, 1)?;
        device.launch(Launch { block: SEARCH_WARPS * WARP, ..over(Kernel::Search, a.slots) }, a)?;
        device.launch(Launch { block: WARP, ..over(Kernel::CloseSearch, WARP) }, a)?;
        let found = read_one(device, a.counts)?.chunks_found;
        if found <= a.chunk_capacity {
            return Ok(grown);
        }
        allocate_lists(device, a, (f64::from(found) * GROWTH) as u32)?;
        grown = true;
    }
}

/// Prunes the outer list to the inner list at the positions predicted for a time `lookahead` (ps) later. The
/// predicted positions overwrite the positions in the arrays of `a`.
pub(super) fn prune(device: &impl Device, a: &Arguments, lookahead: f64) -> Result<()> {
    if lookahead > 0.0 {
        device.launch(Launch { parameter: lookahead, ..over(Kernel::PredictPositions, a.atoms) }, a)?;
        virtual_sites::place(device, a, false)?;
    }
    steps::pack(device, a)?;
    device.launch(Launch { block: SEARCH_WARPS * WARP, ..over(Kernel::Prune, a.chunk_capacity * WARP) }, a)
}

/// Returns the sizes of the lists.
pub(super) fn count(device: &impl Device, a: &Arguments) -> Result<PairCounts> {
    if a.chunk_capacity == 0 {
        return Ok(PairCounts::default());
    }
    let chunks = read_one(device, a.counts)?.chunks as usize;
    let slots_of = |lists, number, tile: u32| -> Result<u64> {
        let mut groups = vec![0; number];
        read(device, lists, &mut groups)?;
        Ok(groups.iter().map(|&groups: &u32| u64::from(groups * tile)).sum())
    };
    let slots = slots_of(a.inner_groups, 2 * chunks, HALF * WARP)?;
    let outer_slots = slots_of(a.outer_groups, chunks, WARP * WARP)?;
    // kernels compute Coulomb and Lennard-Jones terms for every pair within the larger cutoff
    Ok(PairCounts { slots, lj_slots: slots, entries: chunks as u64, outer_slots, busiest_slots: slots })
}

/// Checks whether the pair lists have expired because atoms have moved too far since the search. [`Kernel::Pack`] does
/// the check.
pub(super) fn check_displacements(device: &impl Device, a: &Arguments) -> Result<()> {
    steps::pack(device, a)
}

/// Clears the expiry flag and the step count after a search.
pub(super) fn reset_expiry(device: &impl Device, a: &Arguments) -> Result<()> {
    let cleared = [offset_of!(Status, lists_expired), offset_of!(Status, steps)];
    cleared.iter().try_for_each(|&offset| clear(device, Pointer::<u32>::new(a.status.0 + offset as u64), 1))
}
