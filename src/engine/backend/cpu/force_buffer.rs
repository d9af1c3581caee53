//! Force buffers of the threads that run the pair kernel.

use crate::pair::{BLOCK, ListChunk};
use crate::simd::{AlignedArrays, Kernel, LANES, Level, Simd, dispatch};

/// Forces that one work partition adds to the atoms of blocks.
#[derive(Default)]
pub(super) struct ForceBuffer {
    /// number of arrays for each block, see [`Level::halves`]
    halves: usize,
    /// forces (kJ/mol/nm) on the slots of each block, in the first array of the block; the other arrays of the block
    /// are zero after [`Self::fold`]
    arrays: AlignedArrays<24>,
    /// whether the partition adds forces to each block
    touched: Vec<bool>,
}

impl ForceBuffer {
    /// Prepares the buffer for the entries of `chunks`, in a grid of `blocks` blocks.
    pub(super) fn prepare(&mut self, level: Level, blocks: usize, chunks: &[ListChunk]) {
        self.halves = level.halves();
        self.arrays.resize(self.halves * blocks);
        self.touched.clear();
        self.touched.resize(blocks, false);
        for chunk in chunks {
            chunk.entries.iter().for_each(|entry| self.touched[entry.cluster as usize / 2] = true);
            chunk.masked.iter().for_each(|pair| self.touched[pair.block as usize] = true);
            chunk.plain.iter().for_each(|&block| self.touched[block as usize] = true);
        }
    }

    /// Sets all forces to zero.
    pub(super) fn clear(&mut self) {
        let ForceBuffer { halves, arrays, touched } = self;
        for (arrays, _) in arrays.chunks_exact_mut(*halves).zip(&*touched).filter(|(_, touched)| **touched) {
            arrays[0] = [0.0; 24];
        }
    }

    /// Returns the arrays to which forces are added after [`Self::clear`], [`Level::halves`] arrays for each block.
    pub(super) fn arrays(&mut self) -> &mut [[f32; 24]] {
        &mut self.arrays
    }

    /// Adds the arrays of each block, after all forces have been added.
    pub(super) fn fold(&mut self, level: Level) {
        let ForceBuffer { halves, arrays, touched } = self;
        if *halves == 2 {
            dispatch(level, Fold { arrays, touched });
        }
    }

    /// Returns the forces on a block, or `None` if the partition adds no forces to the block.
    #[inline(always)]
    pub(super) fn get(&self, block: usize) -> Option<&[f32; 24]> {
        self.touched[block].then(|| &self.arrays[self.halves * block])
    }
}

/// Adds the two halves of the lanes of each block. The sums are stored in the first of the two arrays of the block, and
/// the second array is set to zero.
struct Fold<'a> {
    arrays: &'a mut [[f32; 24]],
    touched: &'a [bool],
}

impl Kernel for Fold<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let blocks: &mut [[[f32; LANES]; 3]] = bytemuck::cast_slice_mut(self.arrays);
        assert!(blocks.len() == self.touched.len());
        for index in 0..blocks.len() {
            if !self.touched[index] {
                continue;
            }
            let (lanes, mut sums) = (blocks[index], [[0.0; LANES]; 3]);
            for axis in 0..3 {
                for slot in 0..BLOCK {
                    sums[axis / 2][axis % 2 * BLOCK + slot] = lanes[axis][slot] + lanes[axis][slot + BLOCK];
                }
            }
            blocks[index] = sums;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::{Entry, LjRows};

    #[test]
    fn forces_of_earlier_steps_and_lists_are_gone() {
        let chunk = |cluster: u32, block: u32| ListChunk {
            entries: vec![Entry {
                cluster,
                shift: 0,
                lj_rows: LjRows::All,
                coulomb: true,
                masked: [0; 2],
                plain: [0, 0, 1, 1, 1],
            }],
            masked: vec![],
            plain: vec![block],
        };
        for level in Level::available() {
            let mut buffer = ForceBuffer::default();
            for (cluster, block, value) in [(0, 1, 1.0), (0, 1, 2.0), (4, 0, 3.0)] {
                buffer.prepare(level, 3, &[chunk(cluster, block)]);
                let touched = [cluster as usize / 2, block as usize];
                buffer.clear();
                let (forces, halves) = (buffer.arrays(), level.halves());
                assert_eq!(forces.len(), 3 * halves);
                for block in touched {
                    let forces = forces[halves * block..][..halves].as_flattened_mut();
                    forces.iter_mut().enumerate().for_each(|(k, force)| *force += value * (1 + k) as f32);
                }
                buffer.fold(level);
                let expected: [f32; 24] = match level.halves() {
                    1 => std::array::from_fn(|k| value * (1 + k) as f32),
                    _ => std::array::from_fn(|k| value * (2 * (1 + 2 * (k - k % 8) + k % 8) + 8) as f32),
                };
                for block in 0..3 {
                    let forces = touched.contains(&block).then_some(&expected);
                    assert_eq!(buffer.get(block), forces, "{} {block}", level.name());
                }
            }
        }
    }
}
