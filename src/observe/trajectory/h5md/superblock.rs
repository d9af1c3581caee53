//! Repair of the superblock, the first 48 bytes of an HDF5 file, after a crash.
//!
//! Until a file that is written in single-writer-multiple-reader (SWMR) mode is closed, its superblock has "open for
//! writing" flags and an outdated file length, so ordinary readers refuse the file. All data that a reader needs are on
//! disk nevertheless, because frames are flushed in order. The repair clears the flags and stores the true length of
//! the file. Layout: HDF5 File Format Specification 3.0, II.A, superblock version 3 with 8-byte offsets.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use hdf5::OpenMode;

use crate::error::{Error, Problem, Result};
use crate::observe::trajectory::regular_file;

const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";
/// Size in bytes of a version 3 superblock with 8-byte offsets.
const SIZE: usize = 48;
const FLAGS: usize = 11;
/// Bit of the flags that marks a file in SWMR mode, which other programs may read while the file is written.
const SHARED: u8 = 4;
const END_OF_FILE: std::ops::Range<usize> = 28..36;
const CHECKSUM: std::ops::Range<usize> = 44..48;

/// Superblock of an HDF5 file, as the bytes in the file.
pub(super) struct Superblock([u8; SIZE]);

impl Superblock {
    /// Reads the superblock of the file at `path`. Returns a [`Problem`] for the user if the file is not an HDF5 file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let mut file = regular_file(path)?;
        let mut bytes = [0; SIZE];
        match file.read_exact(&mut bytes) {
            Ok(()) if bytes.starts_with(&SIGNATURE) => Ok(Self(bytes)),
            Err(e) if e.kind() != ErrorKind::UnexpectedEof => Err(Error::io(path, e)),
            _ => Err(Problem::new("the file is not an HDF5 file").in_file(path).into()),
        }
    }

    /// Whether the flags say that a writer has the file open, or that the last writer did not close the file.
    pub(super) fn is_open_for_writing(&self) -> bool {
        // only version 3 of the superblock has flags for open files
        self.0[8] == 3 && self.0[FLAGS] != 0
    }

    /// Returns the length of the file in bytes when its last writer closed it; `None` for a file that is open for
    /// writing, and for another version of the superblock than 3.
    pub(super) fn closed_length(&self) -> Option<u64> {
        let is_known = self.0[8] == 3 && [self.0[9], self.0[10]] == [8; 2] && !self.is_open_for_writing();
        let bytes: [u8; 8] = self.0[END_OF_FILE].try_into().ok()?;
        (is_known && self.is_intact()).then_some(u64::from_le_bytes(bytes))
    }

    /// Whether the checksum of the superblock is right. Versions before 3 have no flags and are not checked.
    pub(super) fn is_intact(&self) -> bool {
        self.0[8] != 3 || self.0[CHECKSUM] == lookup3(&self.0[..CHECKSUM.start]).to_le_bytes()
    }

    /// Returns the HDF5 mode in which to open the file at `path` for reading while other programs may have it open.
    pub(super) fn reading_mode(&self, path: &Path) -> Result<OpenMode> {
        if !self.is_open_for_writing() {
            return Ok(OpenMode::Read);
        }
        if self.0[FLAGS] & SHARED != 0 {
            return Ok(OpenMode::ReadSWMR);
        }
        Err(Problem::new(
            "the file is open for writing and cannot be read: a run is writing to it, or was killed while opening it",
        )
        .in_file(path)
        .help(
            "nothing is lost: the same `md run` command continues; if no run is active, `md repair` makes the \
             file readable",
        )
        .into())
    }

    /// Marks a file that was not closed as closed, stores its true length, and waits until the two changes are on disk.
    pub(super) fn repair_if_needed(mut self, path: &Path) -> Result<()> {
        if !self.is_open_for_writing() {
            return Ok(());
        }
        if self.0[9] != 8 || self.0[10] != 8 {
            let message =
                format!("the file is not a trajectory of md: its offsets have {} bytes instead of 8", self.0[9]);
            return Err(Problem::new(message).in_file(path).into());
        }
        let io = |e| Error::io(path, e);
        let mut file = OpenOptions::new().write(true).open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        self.0[FLAGS] = 0;
        self.0[END_OF_FILE].copy_from_slice(&length.to_le_bytes());
        let checksum = lookup3(&self.0[..CHECKSUM.start]);
        self.0[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        file.write_all(&self.0).map_err(io)?;
        file.sync_all().map_err(io)
    }
}

/// Computes Bob Jenkins' `lookup3` hash (hashlittle, 2006) with initial value 0, which is HDF5's metadata checksum.
fn lookup3(data: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(data.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    if data.is_empty() {
        return c;
    }
    let last = (data.len() - 1) / 12 * 12;
    let word = |bytes: &[u8]| {
        let mut padded = [0; 4];
        padded[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(padded)
    };
    let mut add = |chunk: &[u8], final_round: bool| {
        let mut words = chunk.chunks(4).map(word);
        for register in [&mut a, &mut b, &mut c] {
            *register = register.wrapping_add(words.next().unwrap_or(0));
        }
        if final_round {
            for (target, source, turn) in
                [(2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24)]
            {
                let mut r = [a, b, c];
                r[target] = (r[target] ^ r[source]).wrapping_sub(r[source].rotate_left(turn));
                [a, b, c] = r;
            }
        } else {
            // each step computes x = (x − z) XOR (z rotated by `turn` bits) and z = z + y
            for (x, y, z, turn) in
                [(0, 1, 2, 4), (1, 2, 0, 6), (2, 0, 1, 8), (0, 1, 2, 16), (1, 2, 0, 19), (2, 0, 1, 4)]
            {
                let mut r = [a, b, c];
                r[x] = r[x].wrapping_sub(r[z]) ^ r[z].rotate_left(turn);
                r[z] = r[z].wrapping_add(r[y]);
                [a, b, c] = r;
            }
        }
    };
    for chunk in data[..last].chunks(12) {
        add(chunk, false);
    }
    add(&data[last..], true);
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup3_gives_its_authors_values() {
        // expected values are the output of driver5 in lookup3.c
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }

    #[test]
    fn checksum_is_the_one_hdf5_stores() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.h5");
        super::super::hdf::options().create(&path).unwrap().close().unwrap();
        let superblock = Superblock::read(&path).unwrap();
        assert_eq!(superblock.0[8], 3);
        assert_eq!(superblock.0[CHECKSUM], lookup3(&superblock.0[..CHECKSUM.start]).to_le_bytes());
        assert!(!superblock.is_open_for_writing());
    }

    #[test]
    fn other_files_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.h5");
        std::fs::write(&path, b"short").unwrap();
        assert_eq!(Superblock::read(&path).err().map(|e| e.exit_code()), Some(2));
        std::fs::write(&path, [7; 100]).unwrap();
        assert_eq!(Superblock::read(&path).err().map(|e| e.exit_code()), Some(2));
        assert_eq!(Superblock::read(&directory.path().join("none")).err().map(|e| e.exit_code()), Some(2));
        assert_eq!(Superblock::read(directory.path()).err().map(|e| e.exit_code()), Some(2));
    }
}
