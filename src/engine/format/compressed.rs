//! Reading of whole files into memory. Files packed with gzip, bzip2, xz or zstd are recognised by their first bytes
//! and unpacked.

use std::io::{ErrorKind, Read};
use std::path::Path;

use super::file;
use super::text::remove_mark;
use crate::error::{Error, Parsed, Problem, Result};

/// Maximum size in bytes of a file, before and after unpacking. The limit is the size of a topology of about 20 million
/// atoms.
const MAX_UNPACKED: u64 = 4 << 30;

/// Maximum ratio of unpacked to packed size, for files of an unpacked size up to [`MAX_REPETITIVE`]. A topology of
/// 300,000 atoms of a noble gas, in which all lines are alike, is packed up to 800-fold by xz. Zeros are packed
/// 7000-fold by xz, and without limit by zstd.
const MAX_RATIO: u64 = 2000;

/// Unpacked size in bytes up to which the larger ratio [`MAX_RATIO`] is allowed. The limit is the size of a topology of
/// a noble gas with some two million atoms. The limit bounds the memory that a small file can take.
const MAX_REPETITIVE: u64 = 160 << 20;

/// Maximum ratio of unpacked to packed size, for files that are larger than [`MAX_REPETITIVE`] when unpacked. xz
/// packs topologies of water and protein 25- to 55-fold.
const MAX_LARGE_RATIO: u64 = 200;

/// Number of packed streams or frames that a file of any size may have. Each stream or frame beyond this number must
/// have at least [`BYTES_PER_STREAM`] unpacked bytes. pbzip2 packs blocks of 100 kB or more, and bgzip packs blocks of
/// 64 KiB. Unpacking a bzip2 stream takes 0.6 ms even if the stream is empty.
const FREE_STREAMS: u64 = 1000;
const BYTES_PER_STREAM: u64 = 16 << 10;

/// Maximum size of an xz dictionary in KiB; `xz -9` needs 64 MiB.
const MAX_XZ_MEMORY_KIB: u32 = 512 << 10;

/// Minimum Jaro–Winkler similarity of two file names. The error for a missing file suggests existing files whose names
/// are at least this similar.
const SIMILAR: f64 = 0.85;

/// Returns the contents of a file, unpacked if it is compressed.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = file::read(path, MAX_UNPACKED).map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing(path).into(),
        ErrorKind::InvalidInput => Problem::new(error.to_string()).in_file(path).into(),
        _ => Error::io(path, error),
    })?;
    let limit = most_unpacked(bytes.len() as u64);
    let mut bytes = unpack(bytes, limit).map_err(|problem| problem.in_file(path))?;
    // a compressed text may begin with a byte-order mark
    remove_mark(&mut bytes);
    Ok(bytes)
}

/// Returns the maximum unpacked size of a file with the given packed size, both in bytes.
fn most_unpacked(packed: u64) -> u64 {
    MAX_UNPACKED.min((MAX_RATIO * packed).min(MAX_REPETITIVE).max(MAX_LARGE_RATIO * packed))
}

/// Returns the compression format of a file with these first bytes; `None` if the file is not compressed.
pub fn packing(beginning: &[u8]) -> Option<&'static str> {
    match beginning {
        [0x1f, 0x8b, ..] => Some("gzip"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [b'P', b'K', 3, 4, ..] => Some("zip"),
        _ => None,
    }
}

/// Returns the compression format of a file and at most `count` bytes of its beginning, unpacked; `None` if the file is
/// not compressed, or cannot be unpacked.
pub fn unpacked_beginning(path: &Path, count: usize) -> Option<(&'static str, Vec<u8>)> {
    let mut file = std::io::BufReader::new(file::open(path).ok()?);
    let kind = packing(std::io::BufRead::fill_buf(&mut file).ok()?)?;
    let mut packed: Box<dyn Read> = match kind {
        "gzip" => Box::new(flate2::read::MultiGzDecoder::new(file)),
        "xz" => Box::new(lzma_rust2::XzReader::new_mem_limit(file, true, MAX_XZ_MEMORY_KIB)),
        "bzip2" => Box::new(bzip2::bufread::BzDecoder::new(file)),
        "zstd" => Box::new(ruzstd::decoding::StreamingDecoder::new(file).ok()?),
        _ => return None,
    };
    let mut bytes = vec![];
    packed.by_ref().take(count as u64).read_to_end(&mut bytes).ok()?;
    Some((kind, bytes))
}

/// Unpacks `bytes` up to `limit` bytes. Returns `bytes` unchanged if the bytes are not in a compression format.
fn unpack(bytes: Vec<u8>, limit: u64) -> Parsed<Vec<u8>> {
    let packed = bytes.as_slice();
    match packing(packed) {
        Some("gzip") => collect("gzip", flate2::read::MultiGzDecoder::new(packed), limit),
        Some("xz") => collect("xz", lzma_rust2::XzReader::new_mem_limit(packed, true, MAX_XZ_MEMORY_KIB), limit),
        Some("bzip2") => unpack_bzip2(packed, limit),
        Some("zstd") => unpack_zstd(packed, limit),
        Some(kind) => Err(unsupported(kind)),
        None => Ok(bytes),
    }
}

fn unpack_bzip2(mut packed: &[u8], limit: u64) -> Parsed<Vec<u8>> {
    let (mut out, mut streams) = (Vec::new(), 0);
    while !packed.is_empty() {
        count_stream("bzip2", &mut streams, &out)?;
        append("bzip2", bzip2::bufread::BzDecoder::new(&mut packed), limit, &mut out)?;
    }
    Ok(out)
}

fn unpack_zstd(mut packed: &[u8], limit: u64) -> Parsed<Vec<u8>> {
    let (mut out, mut frames) = (Vec::new(), 0);
    // a zstd file is a sequence of frames, and the decoder reads only one frame
    while !packed.is_empty() {
        count_stream("zstd", &mut frames, &out)?;
        let mut decoder =
            ruzstd::decoding::StreamingDecoder::new(&mut packed).map_err(|error| corrupt("zstd", error))?;
        append("zstd", &mut decoder, limit, &mut out)?;
        let decoder = decoder.into_frame_decoder();
        let stored = decoder.get_checksum_from_data();
        if stored.is_some() && stored != decoder.get_calculated_checksum() {
            return Err(corrupt("zstd", "checksum does not match"));
        }
    }
    Ok(out)
}

/// Counts one more stream of a file. `out` is the part of the file that is already unpacked. Returns an error if
/// there are too many streams for the unpacked size.
fn count_stream(kind: &str, streams: &mut u64, out: &[u8]) -> Parsed<()> {
    *streams += 1;
    if *streams <= FREE_STREAMS + out.len() as u64 / BYTES_PER_STREAM {
        return Ok(());
    }
    let message = format!(
        "this file has more than {} {kind} streams, which together unpack to {} bytes",
        *streams - 1,
        out.len()
    );
    let help = format!(
        "in a file of more than {FREE_STREAMS} streams, each must unpack to {BYTES_PER_STREAM} bytes on average; if \
         the file is right, unpack it yourself"
    );
    Err(Problem::new(message).help(help))
}

fn collect(kind: &str, reader: impl Read, limit: u64) -> Parsed<Vec<u8>> {
    let mut out = Vec::new();
    append(kind, reader, limit, &mut out)?;
    Ok(out)
}

/// Appends the output of the reader to `out`, up to `limit` bytes in all.
fn append(kind: &str, reader: impl Read, limit: u64, out: &mut Vec<u8>) -> Parsed<()> {
    // one byte more than the limit is read, to tell a file that is too large from a file that reaches the limit
    // exactly
    let left = limit - out.len() as u64 + 1;
    reader.take(left).read_to_end(out).map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => {
            let most = MAX_XZ_MEMORY_KIB >> 10;
            let problem =
                Problem::new(format!("the {kind} stream needs more than {most} MiB of memory to be unpacked"));
            problem.help(format!("pack it again with {kind} -9 or less"))
        }
        _ => corrupt(kind, error),
    })?;
    if out.len() as u64 > limit {
        let message = format!("the {kind} stream unpacks to more than {limit} bytes");
        let help = format!(
            "md unpacks at most {MAX_RATIO} times the packed size up to {} MiB, and {MAX_LARGE_RATIO} times up to {} \
             GiB; if the file is right, unpack it yourself",
            MAX_REPETITIVE >> 20,
            MAX_UNPACKED >> 30
        );
        return Err(Problem::new(message).help(help));
    }
    Ok(())
}

fn corrupt(kind: &str, reason: impl std::fmt::Display) -> Problem {
    Problem::new(format!("the {kind} stream is damaged: {reason}")).help("copy or download the file again")
}

fn unsupported(kind: &str) -> Problem {
    Problem::new(format!("md does not read {kind} files")).help("unpack it, or pack it with gzip, bzip2, xz or zstd")
}

/// Returns the error for a file that does not exist. The error suggests similar file names in the same folder.
pub fn missing(path: &Path) -> Problem {
    let problem = Problem::new("the file does not exist").in_file(path);
    let folder = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return problem,
    };
    let Ok(entries) = std::fs::read_dir(folder) else {
        return problem.help(format!("the folder {} cannot be read either", folder.display()));
    };
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let mut near: Vec<(f64, String)> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|name| (strsim::jaro_winkler(&wanted, &name), name))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    match near.iter().take(3).map(|(_, name)| name.as_str()).collect::<Vec<_>>().as_slice() {
        [] => problem.help(format!("{} contains no file with a similar name", folder.display())),
        names => problem.help(format!("did you mean {}?", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: &[u8] = b"%VERSION and some text, some text, some text\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Output of `printf 'hello\n' | xz -C crc32` with xz 5.4.
    const HELLO_XZ: [u8; 60] = [
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21, 0x01, 0x16, 0x00,
        0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x00, 0x00, 0x00,
        0x20, 0x30, 0x3a, 0x36, 0x00, 0x01, 0x1a, 0x06, 0xc5, 0xea, 0xc8, 0x79, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00,
        0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
    ];

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Output of `printf 'hello\n' | bzip2` with bzip2 1.0.8.
    const HELLO_BZIP2: [u8; 42] = [
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xc1, 0xc0, 0x80, 0xe2, 0x00, 0x00, 0x01, 0x41,
        0x00, 0x00, 0x10, 0x02, 0x44, 0xa0, 0x00, 0x30, 0xcd, 0x00, 0xc3, 0x46, 0x29, 0x97, 0x17, 0x72, 0x45, 0x38,
        0x50, 0x90, 0xc1, 0xc0, 0x80, 0xe2,
    ];

    #[test]
    fn every_kind_is_unpacked() {
        assert_eq!(unpack(TEXT.to_vec(), 1000).unwrap(), TEXT);
        assert_eq!(unpack(gzip(TEXT), 1000).unwrap(), TEXT);
        assert_eq!(unpack(zstd(TEXT), 1000).unwrap(), TEXT);
        assert_eq!(unpack(bzip2(TEXT), 1000).unwrap(), TEXT);
        assert_eq!(unpack(HELLO_XZ.to_vec(), 1000).unwrap(), b"hello\n");
        assert_eq!(unpack(HELLO_BZIP2.to_vec(), 1000).unwrap(), b"hello\n");
    }

    #[test]
    fn several_streams_in_one_file_are_joined() {
        let twice = [TEXT, TEXT].concat();
        assert_eq!(unpack([gzip(TEXT), gzip(TEXT)].concat(), 1000).unwrap(), twice);
        assert_eq!(unpack([bzip2(TEXT), bzip2(TEXT)].concat(), 1000).unwrap(), twice);
        assert_eq!(unpack([zstd(TEXT), zstd(TEXT)].concat(), 1000).unwrap(), twice);
    }

    #[test]
    fn damage_is_reported() {
        for packed in [gzip(TEXT), bzip2(TEXT), zstd(TEXT)] {
            let cut = unpack(packed[..packed.len() - 6].to_vec(), 1000).unwrap_err();
            assert!(cut.message.contains("damaged"), "{cut}");
            let mut flipped = packed.clone();
            let middle = packed.len() / 2;
            flipped[middle] ^= 0x10;
            assert!(unpack(flipped, 1000).is_err_and(|problem| problem.message.contains("damaged")));
        }
        let mut changed = HELLO_XZ.to_vec();
        changed[28] ^= 1;
        for packed in [changed, HELLO_XZ[..40].to_vec()] {
            assert!(unpack(packed, 1000).is_err_and(|problem| problem.message.contains("xz stream is damaged")));
        }
    }

    #[test]
    fn bombs_are_stopped_at_the_limit() {
        let zeros = vec![0u8; 1 << 20];
        for packed in [gzip(&zeros), zstd(&zeros), bzip2(&zeros)] {
            assert_eq!(unpack(packed.clone(), 1 << 20).unwrap().len(), 1 << 20);
            let problem = unpack(packed, (1 << 20) - 1).unwrap_err();
            assert!(problem.message.contains("unpacks to more than"), "{problem}");
        }
    }

    #[test]
    fn many_streams_that_hold_next_to_nothing_are_refused() {
        for packed in [bzip2(b""), bzip2(b"1"), zstd(b"1")] {
            let streams = FREE_STREAMS as usize;
            assert!(unpack(packed.repeat(streams), 1 << 20).is_ok());
            let problem = unpack(packed.repeat(streams + 1), 1 << 20).unwrap_err().to_string();
            assert!(problem.contains("has more than 1000") && problem.contains("unpack it yourself"), "{problem}");
        }
        // a file of many streams, each of which has the minimum number of unpacked bytes
        let block = vec![b'1'; BYTES_PER_STREAM as usize];
        assert_eq!(unpack(zstd(&block).repeat(1100), 1 << 30).unwrap().len(), 1100 << 14);
    }

    #[test]
    fn small_files_unpack_to_little_and_large_ones_to_what_topologies_need() {
        assert_eq!(most_unpacked(1000), 2_000_000);
        assert_eq!(most_unpacked(700_000), MAX_REPETITIVE);
        assert_eq!(most_unpacked(10 << 20), 2000 << 20);
        assert_eq!(most_unpacked(1 << 30), MAX_UNPACKED);
    }

    #[test]
    fn other_archives_are_named() {
        assert!(unpack(b"PK\x03\x04..".to_vec(), 1000).unwrap_err().message.contains("zip"));
    }

    #[test]
    fn a_missing_file_names_its_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("dhfr.prmtop.xz"), b"").unwrap();
        let error = read(&folder.path().join("dhfr.prmtop")).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("did you mean dhfr.prmtop.xz?"), "{error}");
        assert_eq!(read(folder.path()).unwrap_err().exit_code(), 2);
    }
}
