//! Tests of files of other programs that are not among the golden files. The tests write the files byte by byte and
//! compare what the reader returns.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use md::observe::trajectory::{Contents, Fields, Format, Precision, StoredFrame, open};
use md::vec3::vec3;

use crate::sample;

/// Tolerance of distances in nm. f32 has 24 bits, so coordinates below 200 Å have errors of up to 2⁻¹⁷ Å, and distances
/// of up to 2√3 · 2⁻¹⁷ Å = 3e-6 nm.
const SINGLE: f64 = 3e-6;

#[track_caller]
fn frames(path: &Path) -> Vec<StoredFrame> {
    sample::all_frames(md::convert::open(path, None))
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Returns a little-endian DCD file. `title` is the title record, and `stated` the length that the file states for it.
fn dcd(version: i32, cell: Option<[f64; 6]>, title: &[u8], stated: usize, frames: &[Vec<[f32; 3]>]) -> Vec<u8> {
    let mut bytes = vec![];
    let mut record = |content: &[u8], length: usize| {
        let length = (length as i32).to_le_bytes();
        bytes.extend([&length, content, &length].concat());
    };
    let mut header = b"CORD".to_vec();
    for word in 0..20 {
        let value = match word {
            2 => 1,
            // word 9 is the time step, 20 fs
            9 => (0.02f32 / 0.048_888_21).to_bits() as i32,
            10 => i32::from(cell.is_some()),
            19 => version,
            _ => 0,
        };
        header.extend(value.to_le_bytes());
    }
    record(&header, 84);
    record(title, stated);
    record(&(frames[0].len() as i32).to_le_bytes(), 4);
    for frame in frames {
        if let Some(cell) = cell {
            record(cell.map(f64::to_le_bytes).as_flattened(), 48);
        }
        for axis in 0..3 {
            let values: Vec<u8> = frame.iter().flat_map(|r| r[axis].to_le_bytes()).collect();
            record(&values, values.len());
        }
    }
    bytes
}

const TITLE: &[u8] = &[0; 4];

/// Tests lattices with three edges of length L and the same angle between any two edges; c is the cosine of this angle.
/// The lattices are rotated so that their matrix is symmetric: x on the diagonal and y off the diagonal, with x − y = L
/// √(1 − c) and x + 2y = L √(1 + 2c).
#[test]
fn shape_matrices_turn_cell_and_positions() {
    let folder = tempfile::tempdir().unwrap();
    for (version, length, angle) in
        [(46, 30.0, 60.0f64), (46, 100.0, 60.0), (35, 30.0, 109.471_220_634_490_69), (24, 80.0, 109.471_220_634_490_69)]
    {
        let cosine = angle.to_radians().cos();
        let (difference, sum) = (length * (1.0 - cosine).sqrt(), length * (1.0 + 2.0 * cosine).sqrt());
        let y = (sum - difference) / 3.0;
        let x = y + difference;
        // two atoms 1.5 Å apart, the second moved by a lattice vector
        let [first, second] = [vec3(1.0, 2.0, 3.0), vec3(1.0 + x, 3.5 + y, 3.0 + y)];
        let positions = [first, second].map(|r| r.map(|v| v as f32).to_array()).to_vec();
        let bytes = dcd(version, Some([x, y, x, y, y, x]), TITLE, 4, &[positions]);
        let found = frames(&file(folder.path(), "shape.dcd", &bytes)).remove(0);
        let cell = found.cell.unwrap();
        let (lengths, angles) = cell.lengths_angles();
        // edges and angles of the reduced cell: an angle of 60° stays, or becomes its supplement of 120°
        assert!(lengths.iter().all(|edge| (edge - 0.1 * length).abs() < 1e-6), "{version} {length}: {lengths:?}");
        let right = angles.iter().all(|found| (found - angle).abs().min((180.0 - found - angle).abs()) < 1e-5);
        assert!(right, "{version} {length}: {angles:?}");
        let bond = cell.minimum_image(found.positions[1] - found.positions[0]).norm();
        assert!((bond - 0.15).abs() < SINGLE, "{version} {length}: {bond}");
        assert!((found.positions[0].norm() - 0.1 * first.norm()).abs() < SINGLE);
    }
}

#[test]
fn angles_stay_angles() {
    let folder = tempfile::tempdir().unwrap();
    let positions = vec![[1.0, 2.0, 3.0], [2.5, 2.0, 3.0]];
    for (version, edge, slot, angle) in [
        (24, 100.0, 60.0, 60.0),
        (24, 100.0, 0.5, 60.0),
        (24, 30.0, 90.0, 90.0),
        (46, 500.0, 90.0, 90.0),
        (46, 30.0, 60.0, 60.0),
    ] {
        let bytes =
            dcd(version, Some([edge, slot, edge, slot, slot, edge]), TITLE, 4, std::slice::from_ref(&positions));
        let found = frames(&file(folder.path(), "angles.dcd", &bytes)).remove(0);
        let (lengths, angles) = found.cell.unwrap().lengths_angles();
        assert!(lengths.iter().all(|length| (length - 0.1 * edge).abs() < 1e-9), "{version} {slot}: {lengths:?}");
        assert!(angles.iter().all(|found| (found - angle).abs() < 1e-9), "{version} {slot}: {angles:?}");
        assert!((found.positions[0] - vec3(0.1, 0.2, 0.3)).norm() < SINGLE);
    }
}

#[test]
fn titles_of_other_lengths_than_announced_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let frame = vec![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    for lines in [0usize, 1, 2, 3, 5] {
        let mut title = (lines as i32).to_le_bytes().to_vec();
        title.extend(vec![b'x'; 80 * lines]);
        // the length of the title record is right, or is that of two lines regardless of the title
        for length in [title.len(), 164] {
            let bytes = dcd(24, None, &title, length, &[frame.clone(), frame.clone()]);
            let path = file(folder.path(), "title.dcd", &bytes);
            if lines < 2 && length == 164 {
                continue;
            }
            let found = frames(&path);
            assert_eq!(found.len(), 2, "{lines} lines in {length} bytes");
            assert!((found[1].positions[1] - vec3(0.4, 0.5, 0.6)).norm() < SINGLE);
        }
    }
    let bytes = dcd(24, None, &[0; 100], 164, &[frame]);
    let error = open(&file(folder.path(), "title.dcd", &bytes)).err().unwrap().to_string();
    assert!(error.contains("title"), "{error}");
}

/// Returns the PDB records of two atoms that move by 0.1 Å per frame.
fn atoms(frame: usize) -> String {
    let x = 1.0 + 0.1 * frame as f64;
    format!(
        "ATOM      1  C1  CHN A   1    {x:8.3}   2.000   3.000  1.00  0.00           C\n\
         ATOM      2  C2  CHN A   1    {:8.3}   5.000   6.000  1.00  0.00           C\n",
        x + 3.0
    )
}

const CELL: &str = "CRYST1   30.000   40.000   50.000  90.00  90.00  90.00 P 1           1\n";

#[track_caller]
fn assert_pdb(path: &Path, count: usize, case: &str) {
    let found = frames(path);
    assert_eq!(found.len(), count, "{case}");
    for (index, frame) in found.iter().enumerate() {
        let x = 0.1 + 0.01 * index as f64;
        let expected = [vec3(x, 0.2, 0.3), vec3(x + 0.3, 0.5, 0.6)];
        assert_eq!(frame.positions.len(), 2, "{case}");
        assert!(frame.positions.iter().zip(expected).all(|(a, b)| (*a - b).norm() < 1e-12), "{case}: {frame:?}");
        let (lengths, _) = frame.cell.unwrap_or_else(|| panic!("{case}: no cell")).lengths_angles();
        assert!(lengths.iter().zip([3.0, 4.0, 5.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{case}");
    }
}

#[test]
fn models_without_their_ends_are_frames() {
    let folder = tempfile::tempdir().unwrap();
    let all = |before: &str, after: &str| (0..3).map(|k| format!("{before}{}{after}", atoms(k))).collect::<String>();
    let model = "MODEL        1\n";
    for (text, count) in [
        (all(model, "ENDMDL\n"), 3),
        (all(model, "ENDMDL\n") + "END\n", 3),
        (all(model, "ENDMDL\n") + "END", 3),
        (all(model, "ENDMDL\n").trim_end().to_owned(), 3),
        (all(model, "END\n"), 3),
        (all(model, "END\nENDMDL\n"), 3),
        (all(model, "TER\nENDMDL\n").to_lowercase().replace("atom", "Atom"), 3),
        (all(model, ""), 3),
        (all("", "END\n"), 3),
        (all("", "END\n").trim_end().to_owned(), 3),
        (format!("{model}{}", atoms(0)), 1),
        (format!("{model}{}ENDMDL", atoms(0)), 1),
        (atoms(0).trim_end().to_owned(), 1),
    ] {
        for ends in ["\n", "\r\n"] {
            let text = format!("{CELL}{text}").replace('\n', ends);
            assert_pdb(&file(folder.path(), "models.pdb", text.as_bytes()), count, &text);
        }
    }
    // a model with fewer atoms than the other models must not be accepted as a frame without a message
    let cut = format!("{}{model}{}", all(model, "ENDMDL\n"), atoms(0).lines().next().unwrap());
    let path = file(folder.path(), "cut.pdb", cut.as_bytes());
    let mut trajectory = open(&path).unwrap();
    assert_eq!(trajectory.frames(), 4);
    let error = trajectory.read(3, &mut StoredFrame::default()).unwrap_err().to_string();
    assert!(error.contains("1 atoms, but the first frame has 2"), "{error}");
}

/// Tests that errors in a frame name the line in the file.
#[test]
fn errors_of_models_name_their_line() {
    let folder = tempfile::tempdir().unwrap();
    for (before, after, line) in [("MODEL        1\n", "ENDMDL\n", 12), ("", "END\n", 9), ("MODEL        1\n", "", 10)]
    {
        let mut text: String = (0..3).map(|k| format!("{before}{}{after}", atoms(k))).collect();
        // the last atom has no number z
        let place = text.rfind("   6.000").unwrap();
        text.replace_range(place..place + 8, "   x.xxx");
        let path = file(folder.path(), "line.pdb", format!("{CELL}{text}").as_bytes());
        let error = open(&path).unwrap().read(2, &mut StoredFrame::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("line {line}: expected x, y and z of an atom")), "{error}");
        let first = text.replacen("   2.000", "   x.xxx", 1);
        let path = file(folder.path(), "line.pdb", format!("{CELL}{first}").as_bytes());
        let error = open(&path).err().unwrap().to_string();
        assert!(
            error.contains(&format!("line {}: expected x, y and z", if before.is_empty() { 2 } else { 3 })),
            "{error}"
        );
    }
}

#[test]
fn any_record_begins_a_pdb() {
    let folder = tempfile::tempdir().unwrap();
    for first in [
        "",
        "\n",
        "\u{feff}",
        "\n  \n",
        " ",
        "#comment\n",
        "REMARK\n",
        "PARENT N/A\n",
        "PFRMAT TS\n",
        "TER\n",
        "SSBOND   1 CYS A    3\n",
        "HELIX    1 H1  CHN A    1\n",
        "LINK         C1  CHN A   1\n",
        "ORIGX1      1.000000\n",
        "DBREF  1ABC A    1\n",
        "SEQADV 1ABC CHN A\n",
        "CONECT    1    2\n",
        "HET    CHN  A   1       6\n",
        "MTRIX1   1  1.000000\n",
        "ANISOU    1  C1\n",
        "FORMUL   2  HOH   *2(H2 O)\n",
        "SCALE1      0.033333\n",
        "header    small\n",
    ] {
        let text = format!("{first}{CELL}{}END\n", atoms(0));
        let path = file(folder.path(), "first.pdb", text.as_bytes());
        assert_pdb(&path, 1, first);
        // PDB files can be read as a trajectory and as coordinates
        assert_eq!(Format::of_file(&path).unwrap().name, "PDB", "{first}");
        assert_eq!(md::format::read_coordinates(&path, Some(2), None).unwrap().labels[1].name.as_str(), "C2");
    }
    // the title of a file in another format may look like a PDB record
    let rst7 = "REMARK of a title\n    2\n   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n";
    let found = frames(&file(folder.path(), "x.rst7", rst7.as_bytes())).remove(0);
    assert!((found.positions[1] - vec3(0.4, 0.5, 0.6)).norm() < 1e-12);
}

#[test]
fn long_numbers_move_columns_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let tail = "       1.000   2.000   3.000  1.00  0.00           C";
    for (text, name) in [
        // serial numbers of five digits, in hybrid-36, hexadecimal, and beyond the width of the column
        (format!("ATOM  99999  C5  CHN A   1{tail}"), "C5"),
        (format!("ATOM  A0000  C5  CHN A   1{tail}"), "C5"),
        (format!("ATOM  186a0  C5  CHN A   1{tail}"), "C5"),
        (format!("ATOM  *****  C5  CHN AA000{tail}"), "C5"),
        // serial numbers of six digits from the sixth or seventh column on, with all other columns unchanged
        (format!("ATOM 100000  C5  CHN A   1{tail}"), "C5"),
        (format!("ATOM  100000 C5  CHN A   1{tail}"), "C5"),
        (format!("HETATM100000 C5  CHN A   1{tail}"), "C5"),
        // a serial number of six digits that shifts all later columns
        (format!("ATOM  100000  C5  CHN A   1{tail}"), "C5"),
        (format!("ATOM  1000000  C5  CHN A   1{tail}"), "C5"),
        (format!("HETATM100000  C5  CHN A   1{tail}"), "C5"),
        (format!("ATOM      1  C5  CHN A10000{tail}"), "C5"),
        (format!("ATOM  100000  C5  CHN A10000{tail}"), "C5"),
    ] {
        let second = text.replace("   1.000   2.000", "   7.000  -8.000");
        let path = file(folder.path(), "long.pdb", format!("{text}\n{second}\nEND\n").as_bytes());
        let found = md::format::read_coordinates(&path, Some(2), None).unwrap();
        let expected = [vec3(0.1, 0.2, 0.3), vec3(0.7, -0.8, 0.3)];
        assert!(found.positions.iter().zip(expected).all(|(a, b)| (*a - b).norm() < 1e-12), "{text}: {found:?}");
        assert!(
            found.labels.iter().all(|label| label.name.as_str() == name && label.element == 6),
            "{text}: {found:?}"
        );
        assert_eq!(frames(&path)[0].positions.len(), 2, "{text}");
    }
}

#[test]
fn packed_models_and_models_of_mmcif_are_frames() {
    let folder = tempfile::tempdir().unwrap();
    let models: String = (0..3).map(|k| format!("MODEL     {:4}\n{}ENDMDL\n", k + 1, atoms(k))).collect();
    let text = format!("{CELL}{models}END\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = file(folder.path(), "models.pdb.gz", &gzip.finish().unwrap());
    let zstd = ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let zstd = file(folder.path(), "models.pdb.zst", &zstd);
    assert_pdb(&gzip, 3, "gzip");
    assert_pdb(&zstd, 3, "zstd");
    let error = open(&gzip).err().unwrap().to_string();
    assert!(error.contains("compressed with gzip"), "{error}");
    for name in ["mdtraj.xtc", "mdtraj.dcd", "mdtraj.trr", "mdtraj.nc", "mdanalysis.h5md"] {
        let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trajectory/golden").join(name)).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(&bytes[..], ruzstd::encoding::CompressionLevel::Fastest);
        for (ending, packed) in [("gz", gzip.finish().unwrap()), ("zst", zstd)] {
            let path = file(folder.path(), &format!("{name}.{ending}"), &packed);
            let error = md::convert::open(&path, None).err().unwrap().to_string();
            let info = Command::cargo_bin("md").unwrap().arg("info").arg(&path).output().unwrap();
            for message in [error, String::from_utf8(info.stderr).unwrap()] {
                let message = message.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
                assert!(message.contains("trajectories that are compressed with"), "{name}.{ending}: {message}");
            }
        }
    }
    let row = |k: usize, atom: usize| {
        let r = [1.0 + 0.1 * k as f64 + 3.0 * atom as f64, 2.0 + 3.0 * atom as f64, 3.0 + 3.0 * atom as f64];
        format!("ATOM {} C C{} . CHN A 1 {:.3} {:.3} {:.3} {}\n", atom + 1, atom + 1, r[0], r[1], r[2], k + 1)
    };
    let rows: String = (0..3).flat_map(|k| (0..2).map(move |atom| row(k, atom))).collect();
    let head = "data_x\n_cell.length_a 30\n_cell.length_b 40\n_cell.length_c 50\n_cell.angle_alpha 90\n_cell.angle_beta 90\n\
                _cell.angle_gamma 90\nloop_\n_atom_site.group_PDB\n_atom_site.id\n_atom_site.type_symbol\n\
                _atom_site.label_atom_id\n_atom_site.label_alt_id\n_atom_site.label_comp_id\n_atom_site.label_asym_id\n\
                _atom_site.label_seq_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n\
                _atom_site.pdbx_PDB_model_num\n";
    assert_pdb(&file(folder.path(), "models.cif", format!("{head}{rows}").as_bytes()), 3, "cif");
    assert_pdb(&file(folder.path(), "mark.cif", format!("\u{feff}{head}{rows}").as_bytes()), 3, "byte-order mark");
    let fewer = rows.lines().take(5).collect::<Vec<_>>().join("\n");
    for (name, text) in [("fewer.cif", format!("{head}{fewer}\n")), ("fewer.pdb.gz", String::new())] {
        let path = if text.is_empty() {
            let cut = models.replace(atoms(2).lines().last().unwrap(), "");
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(cut.as_bytes()).unwrap();
            file(folder.path(), name, &gzip.finish().unwrap())
        } else {
            file(folder.path(), name, text.as_bytes())
        };
        let error = md::convert::open(&path, None).err().unwrap().to_string();
        assert!(error.contains("model 3 has 1 atoms, but the first model has 2"), "{error}");
    }
}

/// Writes frames of the sample at the given times (ps) to `name`.
fn written(folder: &Path, name: &str, times: &[f64], velocities: bool) -> PathBuf {
    let (topology, provenance) = (sample::topology(1), sample::provenance());
    let path = folder.join(name);
    let fields = Fields { velocities, forces: false, image: false };
    let contents = sample::contents(&topology, "orthorhombic", Precision::Lossless, &[], &provenance);
    let contents = Contents { fields, ..contents };
    let mut sink = Format::of_name(name).unwrap().files.create(&path, &contents).unwrap();
    for (index, &time) in times.iter().enumerate() {
        sample::with_frame("orthorhombic", index, topology.atoms.len(), |frame| {
            sink.write(&md::observe::trajectory::Frame { time, step: index as u64, ..*frame })
        })
        .unwrap();
    }
    sink.close().unwrap();
    path
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let (mut out, mut found) = (bytes.to_vec(), 0);
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            out[at..at + to.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0, "{}", from.escape_ascii());
    out
}

#[test]
fn units_of_netcdf_are_converted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "x.nc", &[0.0, 2.0], true);
    let expected = frames(&path);
    let bytes = fs::read(&path).unwrap();
    let length = |n: u32, text: &str| [&n.to_be_bytes()[..], text.as_bytes()].concat();
    let read = |bytes: &[u8]| frames(&file(folder.path(), "y.nc", bytes));
    for (from, to) in [
        (length(8, "angstrom"), length(8, "Angstrom")),
        (length(8, "angstrom"), length(8, "Å\0\0\0\0\0\0")),
        (length(10, "picosecond\0\0"), length(11, "Picoseconds\0")),
        (length(6, "degree\0\0"), length(7, "DEGREES\0")),
        (length(19, "angstrom/picosecond\0"), length(20, "Angstrom/ps\0\0\0\0\0\0\0\0\0")),
    ] {
        assert_eq!(read(&replaced(&bytes, &from, &to)), expected, "{}", to.escape_ascii());
    }
    let femto = read(&replaced(&bytes, &length(10, "picosecond\0\0"), &length(11, "femtosecond\0")));
    assert_eq!(femto[1].time, 0.002);
    let fast = read(&replaced(&bytes, &length(19, "angstrom/picosecond\0"), &length(20, "angstrom/femtosecond")));
    for (fast, slow) in fast[1].velocities.iter().zip(&expected[1].velocities) {
        assert!((*fast - *slow * 1000.0).norm() < 1e-9, "{fast:?} {slow:?}");
    }
    for unit in ["nm\0\0\0\0\0\0", "lj\0\0\0\0\0\0", "second\0\0"] {
        let other = replaced(&bytes, &length(8, "angstrom"), &length(8, unit));
        let error = open(&file(folder.path(), "z.nc", &other)).err().unwrap().to_string();
        assert!(error.contains("expected the unit angstrom"), "{error}");
    }
}

#[test]
fn fill_values_of_netcdf_are_missing_values() {
    const FILL: f64 = 9.969_209_968_386_869e36;
    let folder = tempfile::tempdir().unwrap();
    let found = frames(&written(folder.path(), "x.nc", &[FILL, FILL, FILL], false));
    assert_eq!(found.iter().map(|frame| frame.time).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    // one position consists of fill values
    let path = written(folder.path(), "y.nc", &[0.0], false);
    let bytes = fs::read(&path).unwrap();
    let position = (frames(&path)[0].positions[3].x * 10.0) as f32;
    let filled = replaced(&bytes, &position.to_be_bytes(), &(FILL as f32).to_be_bytes());
    let mut trajectory = open(&file(folder.path(), "z.nc", &filled)).unwrap();
    let error = trajectory.read(0, &mut StoredFrame::default()).unwrap_err().to_string();
    assert!(error.contains("atom 4 is missing"), "{error}");
    // the header states that the values of a variable begin inside the header
    let at = bytes.windows(10).position(|part| part == b"picosecond").unwrap() + 12 + 8;
    let mut inside = bytes.clone();
    inside[at..at + 8].fill(0);
    let error = open(&file(folder.path(), "inside.nc", &inside)).err().unwrap().to_string();
    assert!(error.contains("variable `time`: the values begin at byte 0, inside the header"), "{error}");
}

fn convert(input: &Path, output: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::cargo_bin("md").unwrap();
    let done = command.arg("convert").args([input, output]).args(arguments).env("NO_COLOR", "1").output().unwrap();
    (done.status.success(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
}

#[test]
fn velocities_in_some_frames_only_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let [with, without] = [("a.trr", true), ("b.trr", false)]
        .map(|(name, velocities)| fs::read(written(folder.path(), name, &[0.0, 1.0], velocities)).unwrap());
    for mixed in [[&with[..], &without].concat(), [&without[..], &with].concat()] {
        let (mixed, output) = (file(folder.path(), "mixed.trr", &mixed), folder.path().join("out.nc"));
        let (done, message) = convert(&mixed, &output, &["--force"]);
        assert!(!done && message.contains("--no-velocities") && message.contains("has none"), "{message}");
        let (done, message) = convert(&mixed, &output, &["--no-velocities", "--force"]);
        assert!(done, "{message}");
        let found = frames(&output);
        assert!(found.len() == 4 && found.iter().all(|frame| frame.velocities.is_empty()));
    }
}

#[test]
fn times_that_dcd_cannot_hold_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for (times, is_told) in [
        (vec![0.0, 1.0, 2.0, 10.0, 20.0, 30.0], true),
        (vec![5.0, 6.0, 7.0], true),
        (vec![0.0, 0.5, 1.0, 1.5], false),
        (vec![0.0], false),
    ] {
        let input = written(folder.path(), &format!("{}-{}.trr", times.len(), times[0]), &times, false);
        let (done, message) = convert(&input, &folder.path().join("out.dcd"), &["--force"]);
        assert!(done && message.contains("DCD stores one interval for all frames") == is_told, "{times:?}: {message}");
        let (done, message) = convert(&input, &folder.path().join("out.xtc"), &["--force"]);
        assert!(done && !message.contains("warning"), "{message}");
    }
}
