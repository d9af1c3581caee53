//! Tests that values that occur twice in a file are refused with both line numbers, and that included files that are
//! not topologies are refused without being quoted.

use std::io::Read;
use std::path::Path;

use md::format::{read_coordinates, read_topology, read_topology_with};

use crate::charmm::options;
use crate::golden::Golden;
use crate::gromacs_text;
use crate::literal::{PRMTOP, file, replaced};

/// Returns the number (from 1) of the line that contains `part`.
fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).unwrap() + 1
}

#[track_caller]
fn refused(error: md::error::Error, words: &[&str]) {
    let message = error.to_string();
    assert_eq!(error.exit_code(), 2, "{message}");
    words.iter().for_each(|word| assert!(message.contains(word), "{word} in {message}"));
}

#[test]
fn sections_of_a_prmtop() {
    let twice = format!("{PRMTOP}%FLAG MASS\n%FORMAT(5E16.8)\n  1.00000000E+00\n");
    let (_folder, path) = file("twice.prmtop", twice.as_bytes());
    let first = format!("at line {}", line_of(PRMTOP, "%FLAG MASS"));
    refused(read_topology(&path).unwrap_err(), &["section MASS was given before", &first]);
}

#[test]
fn atoms_of_a_psf_and_numbers_of_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/charmm");
    let text = std::fs::read_to_string(folder.join("charmm.psf")).unwrap();
    let parameters = options(&folder, &["charmm.rtf", "charmm.prm", "charmm.str"]);
    let (_folder, path) =
        file("twice.psf", replaced(&text, "       3 PROT 12A  TST  N ", "       2 PROT 12A  TST  N ").as_bytes());
    let first = format!("the first is in line {}", line_of(&text, " 2 PROT"));
    let place = format!("twice.psf:{}:", line_of(&text, " 3 PROT"));
    refused(read_topology_with(&path, &parameters).unwrap_err(), &["two atoms have the number 2", &first, &place]);
    // two types share a number, and the atoms of the PSF file refer to types by their numbers
    let masses = std::fs::read_to_string(folder.join("charmm.rtf")).unwrap();
    let changed = replaced(&masses, "MASS    13 TN ", "MASS    10 TN ");
    let (here, _) = file("charmm.rtf", changed.as_bytes());
    let mut parameters = options(&folder, &["charmm.rtf", "charmm.prm", "charmm.str"]);
    read_topology_with(&folder.join("charmm.numbers.psf"), &parameters).unwrap();
    parameters.parameters[0] = here.path().join("charmm.rtf");
    let error = read_topology_with(&folder.join("charmm.numbers.psf"), &parameters).unwrap_err();
    refused(error, &["MASS 10 is given twice", &format!("in line {}", line_of(&masses, "MASS    10"))]);
}

#[test]
fn parts_and_pairs_of_an_openmm_system() {
    let packed = std::fs::read(Golden::load("peptide-vacuum").unwrap().folder.join("peptide-vacuum.xml.xz")).unwrap();
    let mut text = String::new();
    lzma_rust2::XzReader::new(&packed[..], true).read_to_string(&mut text).unwrap();
    let exception = text.lines().find(|line| line.contains("<Exception ")).unwrap();
    let turned =
        exception.replace("p1=", "p9=").replace("p2=", "p1=").replace("p9=", "p2=").replace("eps=\".", "eps=\"1.");
    let constraint = |p1: u32, p2: u32| format!("<Constraint d=\".1\" p1=\"{p1}\" p2=\"{p2}\"/>\n");
    let first = format!("the first is in line {}", line_of(&text, exception));
    for (changed, words) in [
        (replaced(&text, exception, &format!("{exception}\n{turned}")), ["the pair of particles", &first]),
        (
            replaced(
                &text,
                "<Constraints/>",
                &format!("<Constraints>{}{}</Constraints>", constraint(0, 1), constraint(1, 0)),
            ),
            ["<Constraint>: the pair of particles 1 and 0 occurs twice", "the first is in line 84"],
        ),
        (
            replaced(&text, "</Exceptions>", "</Exceptions><Exceptions/>"),
            ["a second part <Exceptions>", &format!("the first is in line {}", line_of(&text, "<Exceptions>"))],
        ),
        (
            replaced(&text, "</Particles>\n\t<Constraints/>", "</Particles><Particles/>\n\t<Constraints/>"),
            ["a second part <Particles>", "the first is in line 8"],
        ),
    ] {
        let (_folder, path) = file("twice.xml", changed.as_bytes());
        refused(read_topology(&path).unwrap_err(), &words);
    }
}

const ATOM: &str = "ATOM      1  O   HOH A   1       1.000   2.000   3.000  1.00  0.00           O\n";

fn cryst1(edge: u32) -> String {
    format!("CRYST1   {edge}.000   {edge}.000   {edge}.000  90.00  90.00  90.00 P 1           1\n")
}

#[test]
fn cells_of_a_pdb() {
    let edge = |text: String| {
        let (_folder, path) = file("twice.pdb", text.as_bytes());
        read_coordinates(&path, None, None).map(|found| (found.cell.unwrap().lengths_angles().0[0] * 10.0).round())
    };
    let (a, b) = (cryst1(20), cryst1(30));
    assert_eq!(edge(format!("{a}{a}{ATOM}END\n")).unwrap(), 20.0);
    // the cell of a model replaces the cell of the file, and the next model has its own cell
    assert_eq!(edge(format!("{a}MODEL        1\n{b}{ATOM}ENDMDL\n")).unwrap(), 30.0);
    assert_eq!(edge(format!("{a}MODEL        1\n{ATOM}ENDMDL\nMODEL        2\n{b}{ATOM}ENDMDL\n")).unwrap(), 20.0);
    for text in [format!("{a}{b}{ATOM}END\n"), format!("{a}{ATOM}{b}END\n")] {
        refused(
            edge(text).unwrap_err(),
            &["a second CRYST1 record with another cell", "the first record is in line 1"],
        );
    }
}

#[test]
fn items_of_an_mmcif() {
    let loop_of = |more: &str| {
        format!("loop_\n_atom_site.id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n{more}")
    };
    let cell: String = ["length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma"]
        .map(|name| format!("_cell.{name} 90.0\n"))
        .concat();
    let read = |text: String| {
        let (_folder, path) = file("twice.cif", format!("data_x\n{text}").as_bytes());
        read_coordinates(&path, None, None)
    };
    read(format!("{cell}{}", loop_of("1 1.0 2.0 3.0\n"))).unwrap();
    let error = read(format!("{cell}_cell.length_a 20.0\n{}", loop_of("1 1.0 2.0 3.0\n"))).unwrap_err();
    refused(error, &["twice.cif:8:", "the tag `_cell.length_a` is given twice, first in line 2"]);
    let error = read(loop_of("_atom_site.cartn_X\n1 1.0 2.0 3.0 4.0\n")).unwrap_err();
    refused(error, &["twice.cif:7:", "the tag `_atom_site.cartn_X` is given twice, first in line 4"]);
}

/// Returns a CDF-1 file with one dimension, with the same attribute `attributes` times and the same variable
/// `variables` times, and with values after the header.
fn netcdf(attributes: usize, variables: usize) -> Vec<u8> {
    let word = |value: u32| value.to_be_bytes().to_vec();
    let name = |text: &str| {
        [word(text.len() as u32), text.as_bytes().to_vec(), vec![0; text.len().wrapping_neg() % 4]].concat()
    };
    let attribute = [name("units"), word(2), word(4), b"abcd".to_vec()].concat();
    let variable = [name("time"), word(1), word(0), word(0), word(0), word(6), word(8), word(400)].concat();
    let list = |tag: u32, count: usize, item: &[u8]| [word(tag), word(count as u32), item.repeat(count)].concat();
    let dimensions = list(10, 1, &[name("one"), word(1)].concat());
    let mut bytes = [b"CDF\x01".to_vec(), word(0), dimensions, list(12, attributes, &attribute)].concat();
    bytes.extend(list(11, variables, &variable));
    bytes.resize(500, 0);
    bytes
}

#[test]
fn names_in_the_header_of_a_netcdf() {
    let read = |attributes, variables| {
        let bytes = netcdf(attributes, variables);
        md::format::netcdf::Header::read(&bytes).map(|_| ()).map_err(md::error::Error::from)
    };
    read(1, 1).unwrap();
    refused(
        read(2, 1).unwrap_err(),
        &["the attribute `units` occurs twice in the header, as number 1 and as number 2"],
    );
    refused(read(1, 3).unwrap_err(), &["the variable `time` occurs twice in the header, as number 1 and as number 2"]);
}

const SECRET: &str = "root:$6$DECOY$hash:19000:0:999";

/// Returns a topology of argon with an `#include` at the given position.
fn argon(place: &str) -> String {
    let at = |here: &str| if here == place { "#include \"decoy\"\n" } else { "" };
    format!(
        "{}[ defaults ]\n{}1 2 yes 0.5 0.8333\n[ atomtypes ]\n{}Ar 18 39.948 0.0 A 0.34 0.996\n[ moleculetype ]\n{}Ar 2\n[ atoms ]\n{}\
         1 Ar 1 Ar Ar 1 0.0 39.948\n[ system ]\n{}argon\n[ molecules ]\n{}Ar 4\n",
        at("top"),
        at("defaults"),
        at("types"),
        at("molecule"),
        at("atoms"),
        at("system"),
        at("molecules")
    )
}

#[test]
fn included_files_that_are_no_topology_are_not_quoted() {
    let decoys = [
        format!("{SECRET}\n"),
        format!("# {SECRET}\n"),
        format!("#{SECRET}\n{SECRET}\n"),
        format!("#define {SECRET}\n"),
        format!("[ {SECRET} ]\n"),
        format!("[{SECRET}]\nx = 1\n"),
    ];
    for decoy in &decoys {
        for place in ["top", "defaults", "types", "molecule", "atoms", "molecules"] {
            let (folder, path) = file("a.top", argon(place).as_bytes());
            std::fs::write(folder.path().join("decoy"), decoy).unwrap();
            let error = match read_topology(&path) {
                Err(error) => error,
                Ok(_) => panic!("{decoy} is taken at {place}"),
            };
            refused(error, &["decoy:1: this line of an included file cannot be read", "included from", "a.top"]);
        }
    }
    for decoy in decoys {
        let (folder, path) = file("a.top", argon("system").as_bytes());
        std::fs::write(folder.path().join("decoy"), &decoy).unwrap();
        match read_topology(&path) {
            Ok(found) => assert_eq!(found.topology.title, "argon", "{decoy}"),
            Err(error) => assert!(!error.to_string().contains("root"), "{error}"),
        }
    }
}

#[test]
fn included_topologies_are_quoted_below_their_headings() {
    let (folder, path) = file("a.top", argon("molecules").as_bytes());
    std::fs::write(folder.path().join("decoy"), "[ molecules ]\nKr 1\n").unwrap();
    refused(read_topology(&path).unwrap_err(), &["decoy:2:", "no [ moleculetype ] `Kr`"]);
    // rows of an included file before its first heading belong to the section with the `#include`
    std::fs::write(folder.path().join("decoy"), "Ar 3\n").unwrap();
    assert_eq!(read_topology(&path).unwrap().topology.atoms.len(), 7);
}

#[test]
fn lines_that_replace_other_parameters_are_listed() {
    assert!(gromacs_text::good(gromacs_text::TOP, &[]).replaced.is_empty());
    /// Asserts that the reader reports exactly one replaced definition: the last line that equals `part`.
    #[track_caller]
    fn listed(text: &str, part: &str) {
        let line = text.lines().zip(1..).filter(|(line, _)| *line == part).last().unwrap().1;
        let found = gromacs_text::good(text, &[]).replaced;
        assert!(found.len() == 1 && found[0].ends_with(&format!("a.top:{line}")), "{found:?}, line {line}");
    }
    for (old, row) in [
        ("CT CT 1 bond_ca", "CT CT 1 0.16 2e5"),
        ("CT CT 1 bond_ca", "CT CT 1 0.15 2.6e5"),
        ("HW      1.008 0.0 A 0.0 0.0", "HW      1.009 0.0 A 0.0 0.0"),
    ] {
        let text = crate::literal::replaced(gromacs_text::TOP, old, &format!("{old}\n{row}"));
        listed(&text, row);
    }
    // a definition that is repeated with the same values is accepted
    let text = crate::literal::replaced(gromacs_text::TOP, "CT CT 1 bond_ca", "CT CT 1 bond_ca\nCT CT 1 bond_ca");
    assert!(gromacs_text::good(&text, &[]).replaced.is_empty());
    let pairs = "[ pairtypes ]\nCT CT 1 0.3 0.2\nCT CT 1 0.3 0.3\n[ bondtypes ]";
    let text = crate::literal::replaced(gromacs_text::TOP, "[ bondtypes ]", pairs);
    listed(&text, "CT CT 1 0.3 0.3");
}
