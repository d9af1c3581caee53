//! Tests of coordinate files: every variant of the text formats, NetCDF written by an independent library, and files
//! written by `md`.

use std::path::Path;

use md::error::Result;
use md::format::{Coordinates, read_coordinates, read_topology, write_gro, write_mmcif, write_pdb, write_rst7};
use md::units::AMBER_VELOCITY;
use md::vec3::{Vec3, vec3};

use crate::literal::{PRMTOP, RST7, file, replaced};
use crate::{shared_systems, system_file};

/// Tolerance of positions in nm. Text files have seven decimals in Å; half a unit of the last decimal is 5e-9 nm, and
/// the rest allows for rounding errors.
const POSITION_TOLERANCE_NM: f64 = 5.1e-9;
/// Tolerance of velocities. Text files have seven decimals in Å per 1/20.455 ps.
const VELOCITY_TOLERANCE: f64 = 5.1e-8 * AMBER_VELOCITY;

fn read(text: &str, expected: Option<usize>, angle: Option<f64>) -> Result<Coordinates> {
    let (_folder, path) = file("small.rst7", text.as_bytes());
    read_coordinates(&path, expected, angle)
}

fn refused(text: &str, words: &[&str]) {
    let error = match read(text, Some(7), None) {
        Ok(_) => panic!("accepted, expected {words:?}"),
        Err(error) => error,
    };
    assert_eq!(error.exit_code(), 2);
    let message = error.to_string();
    for word in ["small.rst7"].iter().chain(words) {
        assert!(message.contains(word), "expected {word:?} in: {message}");
    }
}

/// Returns the first `count` lines of the restart file.
fn head(count: usize) -> String {
    RST7.lines().take(count).map(|line| format!("{line}\n")).collect()
}

#[test]
fn positions_velocities_and_box_are_told_apart_by_lines() {
    let whole = read(RST7, Some(7), None).unwrap();
    assert_eq!((whole.title.as_str(), whole.time), ("chain and water", Some(15.0)));
    assert!((whole.positions[6] - vec3(0.976_001_3, 1.092_662_7, 1.0)).norm() < 1e-14);
    // 1 Å per 1/20.455 ps is 2.0455 nm/ps
    let velocities = whole.velocities.as_ref().unwrap();
    assert!((velocities[0] - vec3(0.020_455, -0.040_91, 0.061_365)).norm() < 1e-14);
    assert_eq!(whole.cell.unwrap().lengths_angles().1, [90.0; 3]);

    let positions = read(&head(6), None, None).unwrap();
    assert!(positions.velocities.is_none() && positions.cell.is_none());
    assert_eq!(positions.positions, whole.positions);
    assert_eq!(read(&head(10), None, None).unwrap().velocities, whole.velocities);
    assert!(read(&head(10), None, None).unwrap().cell.is_none());
    let boxed = head(6) + RST7.lines().last().unwrap();
    let boxed = read(&boxed, None, None).unwrap();
    assert_eq!((boxed.velocities, boxed.cell), (None, whole.cell));
    for text in [RST7.replace('\n', "\r\n"), format!("{RST7}\n\n"), RST7.trim_end().to_owned()] {
        assert_eq!(read(&text, Some(7), None).unwrap(), whole);
    }
    assert_eq!(read(&replaced(RST7, "  1.5000000E+01", ""), None, None).unwrap().time, None);
    assert_eq!(read(&replaced(RST7, "    7  1.5", "7 1.5"), None, None).unwrap(), whole);
}

#[test]
fn a_box_of_three_numbers_takes_the_angle_of_the_topology() {
    let text = head(10) + "  20.0000000  20.0000000  20.0000000\n";
    refused(&text, &[":11:", "no angles"]);
    let cell = read(&text, Some(7), Some(109.471_219)).unwrap().cell.unwrap();
    let octahedron = 8.0 * 4.0 / 27f64.sqrt() * 1.0; // volume of a truncated octahedron: a³ · 4√3/9 with a = 2 nm
    assert!((cell.volume() / octahedron - 1.0).abs() < 1e-12);
    assert!(read(&(head(10) + &"   0.0000000".repeat(6)), Some(7), None).unwrap().cell.is_none());
}

#[test]
fn one_or_two_atoms_are_ambiguous_but_never_misread() {
    let head = "argon\n    2\n   1.0000000   2.0000000   3.0000000   4.0000000   5.0000000   6.0000000\n";
    let boxed =
        read(&format!("{head}  30.0000000  30.0000000  30.0000000  90.0000000  90.0000000  90.0000000"), None, None);
    assert!(boxed.is_ok_and(|c| c.cell.is_some() && c.velocities.is_none()));
    let moving =
        read(&format!("{head}   0.1000000   0.2000000   0.3000000   0.1000000   0.2000000   0.3000000"), None, None);
    assert!(moving.is_ok_and(|c| c.cell.is_none() && c.velocities.is_some()));
}

#[test]
fn broken_files_are_refused_at_their_line() {
    for other in ["", "title\n", "words\nATOM      1  N   ALA\n", "title\n-7\n", "a\n3\nnames and numbers\n"] {
        refused(other, &["unknown format of a coordinate file", "known formats: AMBER", "PDB, "]);
    }
    refused("title\nATOM      1  N   ALA\n", &[":2:", "expected x, y and z of an atom"]);
    refused("title\n0\n", &[":2:", "number of atoms"]);
    refused(
        "\0\u{1}binary",
        &[":1:", "known formats: AMBER coordinates (NetCDF restart), ", "PDB, ", "AMBER coordinates (rst7, inpcrd)"],
    );
    refused("title\n 99999999\n", &["expected 50000000 lines"]);
    refused(&replaced(RST7, "1.5000000E+01", "soon"), &[":2:", "time"]);
    refused(&replaced(RST7, "    7  1.5", "    5  1.5"), &[":5:", "expected 3 numbers, found more"]);
    refused(&replaced(RST7, "    7  1.5", "    4  1.5"), &[":5:", "7 lines follow"]);
    refused(&replaced(RST7, "    7  1.5", "    8  1.5"), &[":6:", "expected 6 numbers, found 3"]);
    refused(&head(4), &["expected 4 lines for 7 atoms, found 2", "cut off"]);
    refused(&head(8), &[":7:", "2 lines follow"]);
    refused(&format!("{RST7}   1.0000000\n"), &["6 lines follow"]);
    refused(&replaced(RST7, "   4.5000000", "************"), &[":4:", "number 4", "****"]);
    refused(&replaced(RST7, "   4.5000000", "         NaN"), &[":4:", "`NaN`"]);
    refused(&replaced(RST7, "   4.5000000", "     abc    "), &[":4:", "`abc`"]);
    refused(&replaced(RST7, "   4.5000000", "            "), &[":4:", "expected 6 numbers, found 3"]);
    refused(&replaced(RST7, "  -0.5000000", "        -inf"), &[":9:", "`-inf`"]);
    refused(&replaced(RST7, "   9.7600130  10.9266270  10.0000000", "   9.7600130  10.9266270"), &[":6:", "found 2"]);
    refused(&replaced(RST7, "  22.0000000  90.0000000", "  22.0000000 190.0000000"), &[":11:", "do not form a box"]);
    refused(&replaced(RST7, "  20.0000000  21.0000000", " -20.0000000  21.0000000"), &[":11:", "do not form a box"]);
    refused(&replaced(RST7, "   4.5000000", "   4.500000 "), &[":4:", "number 4", "does not fill its 12 columns"]);
    refused(RST7.trim_end().trim_end_matches('0'), &[":11:", "number 6", "does not fill its 12 columns"]);
    // positions beyond 1 mm = 1e7 Å and velocities beyond the speed of light, 146,560 Å per 1/20.455 ps, are refused
    refused(&replaced(RST7, "   4.5000000", "     1.0E+08"), &[":4:", "atom 4", "exceeds the limit"]);
    refused(&replaced(RST7, "   4.5000000", "    1.0E+308"), &[":4:", "atom 4", "exceeds the limit"]);
    refused(&replaced(RST7, "  -0.5000000", "     2.0E+05"), &[":9:", "atom 6", "exceeds the limit"]);
    refused(&replaced(RST7, "  20.0000000", "     1.0E+08"), &[":11:", "do not form a box"]);
    let error = read(RST7, Some(8), None).unwrap_err().to_string();
    assert!(error.contains("the coordinates have 7 atoms, but the topology has 8"), "{error}");
}

fn close(a: &[Vec3], b: &[Vec3], tolerance: f64) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(&a, &b)| (a - b).to_array().iter().all(|difference| difference.abs() <= tolerance))
}

fn written(coordinates: &Coordinates) -> String {
    let mut out = Vec::new();
    write_rst7(coordinates, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_is_written_reads_back() {
    let whole = read(RST7, Some(7), None).unwrap();
    // the writer reproduces every digit of the file, except for the width of the atom count
    assert_eq!(written(&whole), replaced(RST7, "    7  1.5", "     7  1.5"));
    for (velocities, cell) in [(false, false), (false, true), (true, false)] {
        let mut part = whole.clone();
        part.velocities = part.velocities.filter(|_| velocities);
        part.cell = part.cell.filter(|_| cell);
        assert_eq!(read(&written(&part), Some(7), None).unwrap(), part);
    }
    let mut far = whole;
    far.positions = vec![vec3(-123.456_789_012_3, 999.999_999_99, 12345.6); 7];
    let back = read(&written(&far), Some(7), None).unwrap();
    // a column of twelve characters leaves space for six decimals of −1234.56789 Å and for five of 123456 Å
    assert!(close(&far.positions, &back.positions, 5.1e-7), "{:?}", back.positions[0]);
}

/// Tests that numbers which do not fit into their columns are refused by every writer with columns, and that no file
/// with asterisks is written.
#[test]
fn numbers_wider_than_their_columns_are_refused() {
    let (folder, path) = file("small.prmtop", PRMTOP.as_bytes());
    let topology = read_topology(&path).unwrap().topology;
    let small = read(RST7, Some(7), None).unwrap();
    let write = |name: &str, c: &Coordinates, out: &mut dyn std::io::Write| {
        let (mut out, cell) = (out, c.cell.as_ref());
        match name {
            "rst7" => write_rst7(c, &mut out),
            "pdb" => write_pdb(&topology, &c.positions, cell, "", &mut out),
            "gro" => write_gro(&topology, 0..7, &c.positions, c.velocities.as_deref().unwrap(), cell, "", &mut out),
            _ => write_mmcif(&topology, 0..7, &c.positions, cell, "", &mut out),
        }
    };
    let far = |change: fn(&mut Coordinates)| {
        let mut coordinates = small.clone();
        change(&mut coordinates);
        coordinates
    };
    let cases = [
        (far(|c| c.positions[4].y = 1e12), "atom 5: the position", vec!["rst7", "pdb", "gro"]),
        // a number of a .gro file has three decimals, because readers take the width of the columns from the first atom
        (far(|c| c.positions[4].y = -1000.0), "atom 5: the position (nm)", vec!["gro"]),
        (far(|c| c.velocities.as_mut().unwrap()[2].x = f64::NAN), "atom 3: the velocity", vec!["rst7", "gro"]),
        (
            far(|c| c.cell = Some(md::cell::PeriodicCell::orthorhombic([2.0, 2.0, 1e12]))),
            "of the cell",
            vec!["rst7", "pdb", "gro"],
        ),
    ];
    for (coordinates, message, refused) in &cases {
        for name in ["rst7", "pdb", "gro", "cif"] {
            let path = folder.path().join(format!("x.{name}"));
            std::fs::write(&path, "old").unwrap();
            let written = md::observe::replace::replace_synced(&path, |out| write(name, coordinates, out));
            let text = std::fs::read_to_string(&path).unwrap();
            if refused.contains(&name) {
                let error = written.unwrap_err();
                for part in [*message, "cannot be written in columns of", "mmCIF", &format!("x.{name}")] {
                    assert!(error.to_string().contains(part), "{part} in {error}");
                }
                assert!(error.exit_code() == 2 && text == "old", "{name}: {text}");
            } else {
                assert!(written.is_ok() && !text.contains('*') && text != "old", "{name}, {message}");
            }
        }
    }
}

/// Tests that edges of 1 µm and more stay separate words in the last line of a `.gro` file.
#[test]
fn a_large_box_has_blanks_between_its_numbers() {
    let (_folder, path) = file("small.prmtop", PRMTOP.as_bytes());
    let topology = read_topology(&path).unwrap().topology;
    let coordinates = read(RST7, Some(7), None).unwrap();
    let cell = md::cell::PeriodicCell::orthorhombic([2.5, 12345.678, 5000.5]);
    let mut out = vec![];
    write_gro(&topology, 0..7, &coordinates.positions, &[], Some(&cell), "", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().last(), Some("   2.50000 12345.678 5000.5000"));
}

#[test]
fn reference_systems_survive_the_round_trip() {
    let Some(root) = shared_systems() else { return };
    for name in ["ala2-vacuum", "tz2-truncoct", "charmm36-ala3", "dhfr"] {
        let mut first = read_coordinates(&system_file(&root.join(name), "rst7"), None, None).unwrap();
        first.velocities = Some(first.positions.iter().map(|&r| r * 0.01).collect());
        let second = read(&written(&first), None, None).unwrap();
        assert!(close(&first.positions, &second.positions, POSITION_TOLERANCE_NM), "{name}");
        let (v, w) = (first.velocities.unwrap(), second.velocities.unwrap());
        assert!(close(&v, &w, VELOCITY_TOLERANCE), "{name}");
        match (first.cell, second.cell) {
            (Some(a), Some(b)) => assert!(close(&a.rows(), &b.rows(), 10.0 * POSITION_TOLERANCE_NM), "{name}"),
            (a, b) => assert_eq!(a, b),
        }
    }
}

/// Writes a restart file in AMBER's layout with the `netcdf3` crate.
pub(crate) fn write_netcdf(path: &Path, version: netcdf3::Version, velocity_unit: &str, frames: bool) {
    let mut set = netcdf3::DataSet::new();
    set.add_global_attr_string("title", "small").unwrap();
    set.add_global_attr_string("Conventions", "AMBERRESTART").unwrap();
    for (name, size) in [("atom", 3), ("spatial", 3), ("cell_spatial", 3), ("cell_angular", 3)] {
        set.add_fixed_dim(name, size).unwrap();
    }
    if frames {
        set.add_fixed_dim("frame", 1).unwrap();
    }
    let variables: [(&str, &[&str], &str, Vec<f64>); 5] = [
        ("time", &[], "picosecond", vec![12.5]),
        ("coordinates", &["atom", "spatial"], "angstrom", (1..=9).map(f64::from).collect()),
        ("velocities", &["atom", "spatial"], velocity_unit, (1..=9).map(|v| 0.01 * f64::from(v)).collect()),
        ("cell_lengths", &["cell_spatial"], "angstrom", vec![20.0, 30.0, 40.0]),
        ("cell_angles", &["cell_angular"], "degree", vec![90.0; 3]),
    ];
    for (name, dimensions, unit, _) in &variables {
        set.add_var_f64(name, dimensions).unwrap();
        set.add_var_attr_string(name, "units", *unit).unwrap();
    }
    set.add_var_attr_f64("velocities", "scale_factor", vec![20.455]).unwrap();
    let mut writer = netcdf3::FileWriter::open(path).unwrap();
    writer.set_def(&set, version, 0).unwrap();
    for (name, _, _, values) in &variables {
        writer.write_var_f64(name, values).unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn netcdf_restarts_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for version in [netcdf3::Version::Classic, netcdf3::Version::Offset64Bit] {
        let path = folder.path().join(format!("{version:?}.ncrst"));
        write_netcdf(&path, version, "angstrom/picosecond", false);
        let found = read_coordinates(&path, Some(3), None).unwrap();
        assert_eq!((found.title.as_str(), found.time), ("small", Some(12.5)));
        assert!((found.positions[2] - vec3(0.7, 0.8, 0.9)).norm() < 1e-15);
        // the velocity in the file, 0.09, is multiplied by 20.455 Å/ps only once
        assert!((found.velocities.unwrap()[2].z - 0.184_095).abs() < 1e-15);
        let (lengths, _) = found.cell.unwrap().lengths_angles();
        assert!(lengths.iter().zip([2.0, 3.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-14));
        assert!(read_coordinates(&path, Some(4), None).is_err());
        let bytes = std::fs::read(&path).unwrap();
        for cut in 3..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(read_coordinates(&path, Some(3), None).is_err(), "cut at byte {cut} of {}", bytes.len());
        }
        // inserted bytes shift the last variables, so that the offsets in the header are wrong
        for at in [bytes.len(), bytes.len() - 80] {
            let mut longer = bytes.clone();
            longer.splice(at..at, [0; 8]);
            std::fs::write(&path, longer).unwrap();
            let error = read_coordinates(&path, Some(3), None).unwrap_err().to_string();
            assert!(error.contains("its header announces"), "{error}");
        }
    }
}

/// The program cpptraj and others write edges of 1 Å for structures without a cell.
#[test]
fn a_dummy_box_is_no_cell() {
    let of_rst7 = replaced(RST7, "  20.0000000  21.0000000  22.0000000", &"   1.0000000".repeat(3));
    assert!(read(RST7, Some(7), None).unwrap().cell.is_some());
    assert_eq!(read(&of_rst7, Some(7), None).unwrap().cell, None);
    let gro = |cell: &str| format!("x\n    1\n    1WAT      O    1   0.100   0.200   0.300\n{cell}\n");
    let of_gro = |cell: &str| {
        let (_folder, path) = file("x.gro", gro(cell).as_bytes());
        read_coordinates(&path, None, None).unwrap().cell
    };
    assert_eq!(["   0.10000   0.10000   0.10000", "0 0 0", "0.1 0.1 0.1 0 0 0 0 0 0"].map(of_gro), [None; 3]);
    assert!(of_gro("0.1 0.1 0.2").is_some() && of_gro("0.1 0.1 0.1 0 0 0.05 0 0 0").is_some());
}

#[test]
fn netcdf_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.ncrst");
    let message = || read_coordinates(&path, None, None).unwrap_err().to_string();
    write_netcdf(&path, netcdf3::Version::Classic, "nanometer/picosecond", false);
    assert!(message().contains("expected the unit angstrom/picosecond"), "{}", message());
    write_netcdf(&path, netcdf3::Version::Classic, "angstrom/picosecond", true);
    assert!(message().contains("trajectory"), "{}", message());
    // coordinates with atoms along the second dimension
    let mut set = netcdf3::DataSet::new();
    set.add_fixed_dim("spatial", 3).unwrap();
    set.add_fixed_dim("atom", 6).unwrap();
    set.add_var_f64("coordinates", &["spatial", "atom"]).unwrap();
    let mut writer = netcdf3::FileWriter::open(&path).unwrap();
    writer.set_def(&set, netcdf3::Version::Classic, 0).unwrap();
    writer.write_var_f64("coordinates", &[1.0; 18]).unwrap();
    writer.close().unwrap();
    assert!(message().contains("`coordinates`: expected three numbers per atom"), "{}", message());
    let mut set = netcdf3::DataSet::new();
    set.add_fixed_dim("atom", 1).unwrap();
    set.add_fixed_dim("spatial", 3).unwrap();
    set.add_var_f64("coordinates", &["atom", "spatial"]).unwrap();
    set.add_var_attr_f64("coordinates", "add_offset", vec![100.0]).unwrap();
    let mut writer = netcdf3::FileWriter::open(&path).unwrap();
    writer.set_def(&set, netcdf3::Version::Classic, 0).unwrap();
    writer.write_var_f64("coordinates", &[1.0; 3]).unwrap();
    writer.close().unwrap();
    assert!(message().contains("add_offset is not 0"), "{}", message());
    std::fs::write(&path, b"CDF\x03\0\0\0\0").unwrap();
    assert!(message().contains("CDF-1, CDF-2 or CDF-5"), "{}", message());
}

#[test]
fn pdb_columns_are_where_they_belong() {
    let (_folder, path) = file("small.prmtop", PRMTOP.as_bytes());
    let topology = read_topology(&path).unwrap().topology;
    let state = read(RST7, Some(7), None).unwrap();
    let mut out = Vec::new();
    write_pdb(&topology, &state.positions, state.cell.as_ref(), "small\nfile", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // PDB format 3.3, columns 1-based: name 13-16, residue 18-20, number 23-26, x 31-38, element 77-78
    assert_eq!(lines[0], "TITLE     smallfile");
    assert_eq!(lines[1], "CRYST1   20.000   21.000   22.000  90.00  90.00  90.00 P 1           1");
    assert_eq!(lines[2], "HETATM    1  C1  BUT     1       1.000   2.000   3.000  1.00  0.00           C");
    assert_eq!(lines[6], "HETATM    5  O   WAT     2      10.000  10.000  10.000  1.00  0.00           O");
    // the bonds of water follow from its name
    let bonds = ["CONECT    1    2", "CONECT    2    1    3", "CONECT    3    2    4", "CONECT    4    3"];
    assert_eq!(lines[9..].join("\n"), format!("{}\nEND", bonds.join("\n")));
}

#[test]
fn pdb_numbers_wrap_without_moving_columns() {
    let Some(root) = shared_systems() else { return };
    let folder = root.join("huge156k");
    let topology = read_topology(&system_file(&folder, "prmtop")).unwrap().topology;
    let state = read_coordinates(&system_file(&folder, "rst7"), None, None).unwrap();
    let mut out = Vec::new();
    write_pdb(&topology, &state.positions, state.cell.as_ref(), "", &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let atoms = text.lines().filter(|line| line.starts_with("ATOM") || line.starts_with("HETATM"));
    let mut count = 0;
    for (line, position) in atoms.zip(&state.positions) {
        count += 1;
        assert_eq!(line.len(), 78, "{line}");
        let x: f64 = line[30..38].trim().parse().unwrap();
        // coordinates have three decimals in Å
        assert!((0.1 * x - position.x).abs() < 5.1e-5, "{line}");
        assert_eq!(line[6..11].trim().parse::<usize>().unwrap(), count % 100_000);
    }
    assert_eq!(count, 155_008);
    assert!(text.lines().any(|line| line.starts_with("ATOM  ")));
}
