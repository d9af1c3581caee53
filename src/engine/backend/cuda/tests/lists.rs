//! Tests that compare the pair lists of an emulated device with all pairs.

use crate::backend::Backend;
use crate::backend::cuda::Cuda;
use crate::backend::cuda::device::read;
use crate::backend::cuda::emulator::device::Emulated;
use crate::backend::cuda::layout::{CHUNK_GROUPS, HALF, NO_ATOM, SLOT_BITS, WARP};
use crate::backend::cuda::shared::{Element, Pointer};
use crate::cell::displacement;
use crate::pair::{ListSchedule, shift_image};
use crate::testing::{EVERYTHING, Sample};
use crate::vec3::{Vec3, vec3};

fn array<T: Element>(cuda: &Cuda<Emulated>, pointer: Pointer<T>, length: u32) -> Vec<T> {
    let mut elements = vec![T::zeroed(); length as usize];
    read(&cuda.device, pointer, &mut elements).expect("an array");
    elements
}

/// Entry of a list: a pair of atoms i < j, and the displacement r_i − r_j of one image of the pair.
type Listed = ([u32; 2], Vec3);

/// Returns the displacements of all list entries of a pair, from entries that are sorted by pair.
fn images_of(listed: &[Listed], wanted: [u32; 2]) -> impl Iterator<Item = Vec3> {
    let first = listed.partition_point(|(pair, _)| *pair < wanted);
    listed[first..].iter().take_while(move |(pair, _)| *pair == wanted).map(|(_, d)| *d)
}

/// Returns all list entries, sorted by pair.
fn listed(cuda: &Cuda<Emulated>, sample: &Sample, inner: bool) -> Vec<Listed> {
    let a = &cuda.arguments;
    let counts = array(cuda, a.counts, 1)[0];
    // the inner list has separate groups for each half of a block, and the outer list has one group for each block
    let (groups, entries, parts) = if inner { (a.inner_groups, a.inner, 2) } else { (a.outer_groups, a.outer, 1) };
    let groups = array(cuda, groups, parts * counts.chunks);
    let blocks = array(cuda, a.chunk_block, counts.chunks);
    let entries = array(cuda, entries, parts * counts.chunks * CHUNK_GROUPS * WARP);
    let slots = array(cuda, a.slot_atom, a.slots);
    let images = array(cuda, a.images, a.slots);
    let cell = sample.state.cell.as_ref();
    let wrapped = |slot: u32| {
        let [na, nb, nc, _] = images[slot as usize];
        let position = sample.state.positions[slots[slot as usize] as usize];
        cell.map_or(position, |cell| position - cell.shift([na, nb, nc]))
    };
    let mut found = vec![];
    for list in 0..parts * counts.chunks {
        let (chunk, part) = (list / parts, list % parts);
        for index in 0..groups[list as usize] * WARP {
            let [entry, mask] = entries[(list * CHUNK_GROUPS * WARP + index) as usize];
            let (slot_j, shift) = (entry & ((1 << SLOT_BITS) - 1), entry >> SLOT_BITS);
            let moved = cell.map_or(Vec3::ZERO, |cell| cell.shift(shift_image(shift as usize)));
            for lane in (0..WARP).filter(|lane| mask >> lane & 1 == 1) {
                let slot_i = blocks[chunk as usize] * WARP + part * HALF + lane;
                let (i, j) = (slots[slot_i as usize], slots[slot_j as usize]);
                if i != NO_ATOM {
                    let d = wrapped(slot_i) - wrapped(slot_j) - moved;
                    found.push(([i.min(j), i.max(j)], if i < j { d } else { -d }));
                }
            }
        }
    }
    found.sort_unstable_by_key(|(pair, _)| *pair);
    found
}

/// Checks that every pair within the radius is listed once, in its nearest image, that excluded pairs are not listed,
/// and that no pair is listed twice.
fn check(name: &str) {
    let sample = Sample::load(name);
    let cuda = sample.emulated(0);
    let (cell, positions) = (sample.state.cell.as_ref(), &sample.state.positions);
    let schedule = sample.schedule();
    for (inner, radius) in [(false, schedule.outer), (true, schedule.inner)] {
        let found = listed(&cuda, &sample, inner);
        for images in found.chunk_by(|(a, _), (b, _)| a == b) {
            let same = |a: Vec3, b: Vec3| (a - b).norm() < 1e-6;
            let twice =
                images.iter().enumerate().any(|(k, (_, d))| images[..k].iter().any(|(_, other)| same(*d, *other)));
            assert!(!twice, "{name}: {:?} stands twice in one image", images[0].0);
        }
        let exclusions = &sample.system.topology.exclusions;
        for j in 0..positions.len() as u32 {
            for i in 0..j {
                let d = displacement(cell, positions[i as usize] - positions[j as usize]);
                if exclusions.contains(i, j) {
                    let times = images_of(&found, [i, j]).count();
                    assert_eq!(times, 0, "{name}: {i} {j} are excluded, but listed");
                } else if d.norm() < radius {
                    let times = images_of(&found, [i, j]).filter(|other| (*other - d).norm() < 1e-6).count();
                    assert_eq!(times, 1, "{name}: {i} {j} at {} nm in the inner ({inner}) or outer list", d.norm());
                }
            }
        }
    }
}

#[test]
fn slots_without_atoms_have_no_force() {
    // no kernel adds forces to empty slots, but the host reads the whole array of forces
    let mut cuda = Sample::load("peptide-ff19sb").emulated(0);
    cuda.forces(EVERYTHING).expect("forces");
    let a = &cuda.arguments;
    let (slots, forces) = (array(&cuda, a.slot_atom, a.slots), array(&cuda, a.forces, 3 * a.slots));
    let empty: Vec<usize> = (0..slots.len()).filter(|&slot| slots[slot] == NO_ATOM).collect();
    assert!(!empty.is_empty(), "the last block is full");
    assert!(empty.iter().all(|slot| (0..3).all(|axis| forces[slot + axis * slots.len()] == 0)));
}

#[test]
fn lists_hold_every_pair_once() {
    for name in ["water", "octahedron", "peptide-vacuum", "salt-crystal"] {
        check(name);
    }
}

/// A box, given by two corners.
type Corners = [[f32; 3]; 2];

fn boxes(cuda: &Cuda<Emulated>, pointer: Pointer<[f32; 4]>, number: u32) -> Vec<Corners> {
    let corners = array(cuda, pointer, 2 * number);
    corners.chunks(2).map(|pair| [0, 1].map(|k| [pair[k][0], pair[k][1], pair[k][2]])).collect()
}

#[test]
fn regions_are_the_boxes_around_their_blocks() {
    let cuda = Sample::load("octahedron").emulated(0);
    let a = &cuda.arguments;
    let (blocks, number) = (boxes(&cuda, a.bounds, a.blocks), a.blocks.div_ceil(WARP));
    let regions = boxes(&cuda, a.regions, number);
    assert!(number > 2 && !a.blocks.is_multiple_of(WARP), "several, the last of which is not full");
    for (blocks, region) in blocks.chunks(WARP as usize).zip(regions) {
        let corner = |k: usize, pick: fn(f32, f32) -> f32| {
            [0, 1, 2].map(|axis| blocks.iter().map(|corners| corners[k][axis]).reduce(pick).expect("a block"))
        };
        assert_eq!([corner(0, f32::min), corner(1, f32::max)], region);
    }
}

#[test]
fn lists_expire_by_actual_and_not_by_predicted_positions() {
    let mut sample = Sample::load("water");
    sample.state.velocities.fill(vec3(1.0, 0.0, 0.0));
    let mut cuda = Cuda::new(&sample.system, Emulated::new(0), &ListSchedule::exact(1.0)).expect("a supported system");
    cuda.upload(&sample.state).expect("a state");
    cuda.build_lists().unwrap();
    // the predicted positions are 0.2 nm away, which is four times the displacement that these lists allow
    cuda.prune_lists(0.2).unwrap();
    assert_eq!(array(&cuda, cuda.arguments.status, 1)[0].lists_expired, 0);
}

#[test]
fn lists_grow_when_they_must() {
    let sample = Sample::load("water");
    let mut cuda = sample.emulated(0);
    let needed = array(&cuda, cuda.arguments.counts, 1)[0].chunks;
    let before = listed(&cuda, &sample, false).len();
    let epoch = cuda.epoch;
    // start with a capacity that is half of what the lists need
    cuda.arguments.chunk_capacity = needed / 2;
    cuda.build_lists().unwrap();
    assert!(cuda.arguments.chunk_capacity >= needed && cuda.epoch > epoch);
    assert_eq!(listed(&cuda, &sample, false).len(), before);
}

#[test]
fn lists_that_cannot_be_allocated_are_reported_and_touch_nothing() {
    let mut cuda = Sample::load("water").emulated(0);
    // start with a minimal capacity
    cuda.arguments.chunk_capacity = 1;
    cuda.device.fill();
    let error = cuda.build_lists().expect_err("no lists");
    cuda.prune_lists(0.0).unwrap();
    // the memory of the lists has been freed
    assert_eq!(cuda.arguments.chunk_capacity, 0);
    assert!(error.to_string().contains("out of memory"), "{error}");
}
