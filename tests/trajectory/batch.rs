//! Tests of frames that are read in batches, and of chains of trajectories.

use std::fs;
use std::path::{Path, PathBuf};

use md::error::Result;
use md::observe::trajectory::h5md::{TrajectoryReader, TrajectoryWriter};
use md::observe::trajectory::{Chain, Format, Frame, FrameSource, Precision, StoredFrame, open};
use md::vec3::{Vec3, vec3};

use crate::fuzz::Random;
use crate::{formats, round_trip, sample};

pub(crate) const EXTENSIONS: [&str; 6] = ["h5md", "xtc", "dcd", "trr", "nc", "pdb"];
const PRECISIONS: [Precision; 4] = [Precision::Raw, Precision::Lossless, Precision::Decimals3, Precision::Decimals4];

/// Writes the frames `range` of the sample to a new file.
pub(crate) fn write(path: &Path, kind: &str, precision: Precision, range: std::ops::Range<usize>, waters: usize) {
    if path.extension().unwrap() == "h5md" {
        let (mut writer, atoms) = round_trip::create(path, kind, precision, waters);
        round_trip::write(&mut writer, kind, range, atoms);
        writer.close().unwrap();
        return;
    }
    let (mut sink, atoms) = formats::create(path, kind, precision, waters);
    formats::write(sink.as_mut(), kind, range, atoms);
    sink.close().unwrap();
}

/// Reads frames one by one.
fn one_by_one(source: &mut dyn FrameSource, indices: &[usize]) -> Result<Vec<StoredFrame>> {
    let read = |&index: &usize| {
        let mut frame = StoredFrame::default();
        source.read(index, &mut frame).map(|()| frame)
    };
    indices.iter().map(read).collect()
}

/// Reads frames as a batch, on `threads` threads.
fn as_batch(source: &mut dyn FrameSource, indices: &[usize], threads: usize) -> Result<Vec<StoredFrame>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut frames = vec![StoredFrame::default(); indices.len()];
    pool.install(|| source.read_batch(indices, &mut frames)).map(|()| frames)
}

/// Returns a text with all numbers of all frames, or with the error. In a comparison of such texts NaN equals NaN.
fn described(read: Result<Vec<StoredFrame>>) -> String {
    match read {
        Ok(frames) => format!("{frames:?}"),
        Err(error) => format!("error {}: {error}", error.exit_code()),
    }
}

/// Reads a frame of an H5MD file through the HDF5 library.
fn by_library(reader: &TrajectoryReader, index: usize) -> Result<StoredFrame> {
    let (positions, cell) = reader.frame(index)?;
    let (velocities, forces) = reader.velocities_and_forces(index)?;
    let (step, time) = reader.step_and_time(index)?;
    Ok(StoredFrame { step, time, cell, positions, velocities, forces })
}

#[test]
fn a_batch_has_the_frames_that_are_read_one_by_one() {
    const FRAMES: usize = 70;
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(3);
    for extension in EXTENSIONS {
        for (kind, precision) in sample::CELLS.into_iter().flat_map(|kind| PRECISIONS.map(|p| (kind, p))) {
            let path = folder.path().join(format!("{kind}{precision:?}.{extension}"));
            write(&path, kind, precision, 0..FRAMES, 7);
            let (mut single, mut batch) = (open(&path).unwrap(), open(&path).unwrap());
            let ascending: Vec<usize> = (0..FRAMES).collect();
            let some: Vec<usize> = (0..31).map(|_| random.below(FRAMES)).collect();
            for (indices, threads) in [(&ascending, 3), (&some, 3), (&some, 1), (&vec![], 2), (&vec![5], 2)] {
                let expected = one_by_one(single.as_mut(), indices).unwrap();
                let found = as_batch(batch.as_mut(), indices, threads).unwrap();
                assert!(found == expected, "{extension} {kind} {precision:?} {indices:?} on {threads} threads");
                if extension == "h5md" {
                    let reader = TrajectoryReader::open(&path).unwrap();
                    let library: Vec<StoredFrame> = indices.iter().map(|&i| by_library(&reader, i).unwrap()).collect();
                    assert!(found == library, "{kind} {precision:?} {indices:?}: not as the library reads");
                }
            }
        }
    }
}

/// Tests a limit on the number of atoms that are read: the positions equal those of the first atoms of the whole
/// frames.
#[test]
fn the_first_atoms_are_those_of_the_whole_frame() {
    let folder = tempfile::tempdir().unwrap();
    for extension in EXTENSIONS {
        let path = folder.path().join(format!("limited.{extension}"));
        write(&path, sample::CELLS[0], Precision::Decimals3, 0..3, 7);
        let mut source = open(&path).unwrap();
        let indices = [0, 1, 2];
        let whole = as_batch(source.as_mut(), &indices, 2).unwrap();
        let atoms = source.atoms();
        assert!(atoms > 20, "{extension}: {atoms} atoms");
        for limit in 0..=atoms {
            source.limit(limit);
            let first = as_batch(source.as_mut(), &indices, 2).unwrap();
            for (first, whole) in first.iter().zip(&whole) {
                let read = first.positions.len();
                let fewer = ["xtc", "h5md"].contains(&extension) && read == limit;
                assert!(read == atoms || fewer, "{extension}: {read} for {limit}");
                assert_eq!(first.positions[..limit], whole.positions[..limit], "{extension}");
            }
        }
    }
}

/// Tests a limit on the number of atoms for frames that are divided into HDF5 chunks. Only the chunks of the first
/// atoms are read.
#[test]
fn the_first_chunks_hold_the_first_atoms() {
    let folder = tempfile::tempdir().unwrap();
    for precision in PRECISIONS {
        let path = folder.path().join(format!("{precision:?}.h5md"));
        write(&path, "triclinic", precision, 0..3, sample::DIVIDED);
        let chunk = hdf5::File::open(&path).unwrap().dataset("coordinates").unwrap().chunk().unwrap()[1];
        let mut source = open(&path).unwrap();
        let (atoms, reader) = (source.atoms(), TrajectoryReader::open(&path).unwrap());
        assert!(chunk < atoms, "{chunk} of {atoms} atoms in a chunk");
        for limit in [0, 1, chunk - 1, chunk, chunk + 1, atoms - 1, atoms, usize::MAX] {
            source.limit(limit);
            let found = as_batch(source.as_mut(), &[0, 1, 2], 2).unwrap();
            for (index, found) in found.iter().enumerate() {
                let whole = by_library(&reader, index).unwrap();
                let read = limit.min(atoms);
                assert_eq!(found.positions, whole.positions[..read], "{precision:?}, {limit} atoms");
                assert_eq!(found.velocities, whole.velocities[..read], "{precision:?}, {limit} atoms");
            }
        }
    }
}

/// Compares the decoder of md with the HDF5 library, bit for bit. Cases are the scale-offset filter with few and with
/// many bits, with zeros, which are the missing value of the filter, and with ranges that need 32 bits; and the deflate
/// filter with compressible and with incompressible numbers.
#[test]
fn the_decoder_gives_every_bit_that_the_library_gives() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(19);
    let (topology, observables, provenance) = (sample::topology(9), sample::observables(), sample::provenance());
    for precision in PRECISIONS {
        let path = folder.path().join(format!("{precision:?}.h5md"));
        let contents = sample::contents(&topology, "none", precision, &observables, &provenance);
        let mut writer = TrajectoryWriter::create(&path, &contents).unwrap();
        let atoms = topology.atoms.len();
        let mut vectors = |spread: f64, zeros: usize| -> Vec<Vec3> {
            let mut number = || if random.below(10) < zeros { 0.0 } else { spread * random.signed() };
            (0..atoms).map(|_| vec3(number(), number(), number())).collect()
        };
        for case in 0..120 {
            let spread = 10f64.powf(f64::from(case) / 10.0 - 5.0);
            let positions = vectors(spread, case as usize % 3 * 5);
            let (velocities, forces) = (vectors(1.0, case as usize % 11), vectors(1e3, 0));
            let frame = Frame {
                step: case as u64,
                time: f64::from(case),
                cell: None,
                positions: &positions,
                velocities: &velocities,
                forces: &forces,
                observables: &[0.0; 4],
            };
            writer.write(&frame).unwrap();
        }
        writer.close().unwrap();
        let indices: Vec<usize> = (0..120).collect();
        let reader = TrajectoryReader::open(&path).unwrap();
        let library = indices.iter().map(|&index| by_library(&reader, index)).collect::<Result<Vec<_>>>();
        let library = library.unwrap();
        let found = as_batch(open(&path).unwrap().as_mut(), &indices, 2).unwrap();
        for (index, (found, library)) in found.iter().zip(&library).enumerate() {
            // a comparison of texts also distinguishes 0 from −0
            assert!(format!("{found:?}") == format!("{library:?}"), "{precision:?}: frame {index}");
        }
    }
}

#[test]
fn the_error_of_a_batch_is_that_of_its_first_bad_frame() {
    const FRAMES: usize = 6;
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(5);
    let (mut read, mut refused) = (0, 0);
    for (extension, precision) in
        EXTENSIONS.into_iter().flat_map(|e| [Precision::Lossless, Precision::Decimals3].map(|p| (e, p)))
    {
        let path = folder.path().join(format!("{precision:?}.{extension}"));
        write(&path, "triclinic", precision, 0..FRAMES, 6);
        let good = fs::read(&path).unwrap();
        let places = data_of(&path, good.len());
        for _ in 0..80 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.below(3) {
                let place = &places[random.below(places.len())];
                bytes[place.start + random.below(place.len())] = random.next() as u8;
            }
            fs::write(&path, &bytes).unwrap();
            let Ok(mut single) = open(&path) else { continue };
            let mut indices: Vec<usize> = (0..single.frames()).collect();
            if random.below(2) == 0 {
                indices.reverse();
            }
            let expected = match extension {
                "h5md" => {
                    let reader = TrajectoryReader::open(&path).unwrap();
                    indices.iter().map(|&index| by_library(&reader, index)).collect()
                }
                _ => one_by_one(single.as_mut(), &indices),
            };
            if expected.is_ok() {
                read += 1
            } else {
                refused += 1
            }
            let expected = described(expected);
            for threads in [1, 3] {
                let found = described(as_batch(open(&path).unwrap().as_mut(), &indices, threads));
                assert!(found == expected, "{extension} {precision:?}: {found}\nexpected {expected}");
            }
        }
    }
    assert!(read > 80 && refused > 80, "{read} read, {refused} refused");
}

/// Returns the byte ranges of a file that hold the data of frames. Damaged headers of HDF5 files are tested elsewhere.
fn data_of(path: &Path, length: usize) -> Vec<std::ops::Range<usize>> {
    if path.extension().unwrap() != "h5md" {
        return std::iter::once(length / 10..length).collect();
    }
    let file = hdf5::File::open(path).unwrap();
    let names =
        ["coordinates", "velocities", "particles/trajectory/force/value", "particles/trajectory/box/edges/value"];
    let chunks = names.into_iter().flat_map(|name| {
        let dataset = file.dataset(name).unwrap();
        let count = dataset.num_chunks().unwrap();
        (0..count).map(move |chunk| dataset.chunk_info(chunk).unwrap()).collect::<Vec<_>>()
    });
    chunks.map(|chunk| chunk.addr as usize..(chunk.addr + chunk.size) as usize).collect()
}

/// Reads the step numbers of all frames of a chain, one by one and as a batch.
pub(crate) fn steps(chain: &mut Chain) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..chain.frames()).collect();
    let single = one_by_one(chain, &indices).unwrap();
    assert!(as_batch(chain, &indices, 2).unwrap() == single);
    indices.reverse();
    let backwards = as_batch(chain, &indices, 2).unwrap();
    assert!(backwards.iter().rev().eq(&single));
    single.iter().map(|frame| (frame.step as usize - 7) / 100).collect()
}

#[test]
fn a_chain_has_the_frames_of_its_files_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, range: std::ops::Range<usize>, waters: usize| {
        let path = folder.path().join(name);
        let extension = path.extension().unwrap().to_str().unwrap().to_owned();
        write(&path, "triclinic", formats::precision(&extension), range, waters);
        path
    };
    for extension in EXTENSIONS {
        let name = |part: usize| format!("{part}.{extension}");
        let paths =
            [file(&name(1), 0..5, 4), file(&name(2), 4..9, 4), file(&name(3), 9..10, 4), file(&name(4), 10..13, 4)];
        let mut chain = Chain::open(&paths).unwrap();
        assert_eq!((chain.frames(), chain.atoms()), (13, sample::topology(4).atoms.len()), "{extension}");
        assert_eq!(steps(&mut chain), (0..13).collect::<Vec<_>>(), "{extension}");
        let (single, own) = (open(&paths[0]).unwrap(), Chain::open(&paths[..1]).unwrap());
        assert_eq!((own.frames(), own.topology().is_some()), (5, single.topology().is_some()));
        assert_eq!((own.labels(), own.left_out()), (single.labels(), single.left_out()));
    }
    // a chain of formats with times in f32 and in f64, with a file without frames, and with a topology only in a later
    // file
    let paths = ["1.xtc", "none.xtc", "2.h5md", "3.trr"].map(|name| folder.path().join(name));
    write(&paths[1], "triclinic", Precision::Decimals3, 0..0, 4);
    let mut chain = Chain::open(&paths).unwrap();
    assert_eq!(steps(&mut chain), (0..10).collect::<Vec<_>>());
    assert_eq!(chain.topology().unwrap().residues, sample::topology(4).residues);
    assert_eq!(chain.labels().len(), 0);

    let other = file("other.dcd", 0..3, 5);
    let error = Chain::open(&[paths[0].clone(), other]).err().unwrap();
    let message = format!("each frame has 22 atoms, instead of 19 atoms as in {}", paths[0].display());
    assert!(error.exit_code() == 2 && error.to_string().contains(&message), "{error}");
    assert!(error.to_string().contains("other.dcd"), "{error}");
    assert!(Chain::open(&[]).is_err() && Chain::open(&[PathBuf::from("missing.xtc")]).is_err());
}

/// Tests that a chain keeps all single structures. Single structures often have no times, and must not be taken for
/// repeated frames of a continued run.
#[test]
fn a_chain_of_single_frames_keeps_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [0, 1, 2].map(|part| folder.path().join(format!("{part}.pdb")));
    for path in &paths {
        write(path, "none", Precision::Decimals3, 3..4, 4);
        assert_eq!(Format::of_file(path).unwrap().name, "PDB");
    }
    assert_eq!(steps(&mut Chain::open(&paths).unwrap()), [3; 3]);
}
