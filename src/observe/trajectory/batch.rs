//! Reading of trajectory frames, one by one or in batches.
//!
//! One thread reads the stored bytes of the frames of a batch in file order. At the same time, all threads of the
//! current pool decode the frames whose bytes have been read ([`read_and_decode`]). [`RecordSource`] calls
//! [`read_and_decode`] for the formats of `records.rs`.

use std::io::{Read, Seek, SeekFrom};

use super::records::Opened;
use super::{FrameSource, StoredFrame};
use crate::error::{Error, Problem, Result};
use crate::format::Label;

/// Reads the bytes of frames with `read` in ascending order of their indices, and decodes the frames with `decode` on
/// all threads of the current pool. `stored` keeps the memory of the stored frames for the next batch. Returns the
/// results in the order of `indices`.
pub(super) fn read_and_decode<S: Default + Send, E: Send>(
    indices: &[usize],
    frames: &mut [StoredFrame],
    stored: &mut Vec<S>,
    mut read: impl FnMut(usize, &mut S) -> std::result::Result<(), E>,
    decode: impl Fn(usize, &mut S, &mut StoredFrame) -> std::result::Result<(), E> + Sync,
) -> Vec<std::result::Result<(), E>> {
    let count = indices.len().min(frames.len());
    let mut results: Vec<std::result::Result<(), E>> = std::iter::repeat_with(|| Ok(())).take(count).collect();
    let mut jobs: Vec<_> = indices.iter().zip(frames).zip(&mut results).collect();
    jobs.sort_by_key(|((index, _), _)| **index);
    // with a single thread each frame is decoded directly after it is read, while its bytes are in the CPU cache
    let alone = count <= 1 || rayon::current_num_threads() == 1;
    stored.resize_with(stored.len().max(if alone { 1 } else { count }), S::default);
    if alone {
        for ((&index, frame), result) in jobs {
            *result = read(index, &mut stored[0]).and_then(|()| decode(index, &mut stored[0], frame));
        }
        return results;
    }
    let decode = &decode;
    rayon::in_place_scope(|scope| {
        for (((&index, frame), result), stored) in jobs.into_iter().zip(stored) {
            match read(index, stored) {
                Ok(()) => scope.spawn(move |_| *result = decode(index, stored, frame)),
                Err(error) => *result = Err(error),
            }
        }
    });
    results
}

/// Reader of a trajectory whose frames are separate blocks of bytes.
pub(super) struct RecordSource {
    pub(super) opened: Opened,
    /// stored bytes of the frames of a batch, reused for the next batch
    pub(super) stored: Vec<Vec<u8>>,
}

impl FrameSource for RecordSource {
    fn atoms(&self) -> usize {
        self.opened.facts.atoms
    }

    fn frames(&self) -> usize {
        self.opened.index.count()
    }

    fn labels(&self) -> &[Label] {
        &self.opened.facts.labels
    }

    fn left_out(&self) -> usize {
        self.opened.facts.left_out
    }

    fn has_times(&self) -> bool {
        self.opened.facts.has_times
    }

    fn doubtful_interval(&self) -> Option<f64> {
        self.opened.facts.doubtful_interval
    }

    fn is_crystal(&self) -> bool {
        self.opened.facts.is_crystal
    }

    fn has_other_vectors(&self) -> bool {
        self.opened.facts.has_other_vectors
    }

    fn cut_off(&self) -> Option<String> {
        self.opened.cut_off()
    }

    fn resolution(&self) -> Option<f64> {
        self.opened.facts.resolution
    }

    fn skipped(&self) -> u64 {
        self.opened.facts.skipped
    }

    fn warnings(&self) -> Vec<String> {
        self.cut_off().into_iter().chain(self.opened.skipped()).collect()
    }

    fn limit(&mut self, atoms: usize) {
        self.opened.layout.limit(atoms);
    }

    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
        self.read_batch(&[index], std::slice::from_mut(frame))
    }

    fn read_batch(&mut self, indices: &[usize], frames: &mut [StoredFrame]) -> Result<()> {
        let Opened { path, file, layout, index: places, .. } = &mut self.opened;
        let (path, layout, places) = (&*path, layout.as_ref(), &*places);
        let mut at = None;
        let read = |index: usize, bytes: &mut Vec<u8>| {
            let std::ops::Range { start, end } = places.frame(index);
            // the frame lies inside the file, so the buffer is never larger than the file
            bytes.resize((end - start) as usize, 0);
            // a relative seek keeps the read buffer of the file from one frame to the next
            let found = match at.replace(end) {
                Some(at) => file.seek_relative(start as i64 - at as i64),
                None => file.seek(SeekFrom::Start(start)).map(drop),
            };
            let done = found.and_then(|()| file.read_exact(bytes));
            done.map_err(|error| {
                at = None;
                Error::io(path, error)
            })
        };
        let decode = |index: usize, bytes: &mut Vec<u8>, frame: &mut StoredFrame| {
            layout.decode(index, bytes, frame).map_err(|reason| {
                let place = places.frame(index).start;
                let problem = Problem::new(format!("frame {index} at byte {place}: {reason}"));
                problem
                    .in_file(path)
                    .help("`md verify` checks every frame, and `md repair` saves the undamaged frames")
                    .into()
            })
        };
        read_and_decode(indices, frames, &mut self.stored, read, decode).into_iter().collect()
    }
}
