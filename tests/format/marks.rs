//! Tests of the recognition of file formats: a byte-order mark has no influence, and a file in an unknown format is
//! refused.

use md::format::{read_coordinates, read_topology, read_topology_with};

use crate::gromacs_text::{G96, GRO, TOP};
use crate::literal::{PRMTOP, RST7, file};

const MARK: &str = "\u{feff}";

const PDB: &str = "ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00  0.00           C\nEND\n";

const CIF: &str =
    "data_x\nloop_\n_atom_site.auth_atom_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\nCA 1 2 3\n";

#[test]
fn a_byte_order_mark_is_harmless() {
    for (name, text) in [("a.gro", GRO), ("a.g96", G96), ("a.rst7", RST7), ("a.pdb", PDB), ("a.cif", CIF)] {
        let read = |text: &str| {
            let (_folder, path) = file(name, text.as_bytes());
            read_coordinates(&path, None, None).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(read(&format!("{MARK}{text}")), read(text), "{name}");
    }
    for (name, text) in [("a.top", TOP), ("a.prmtop", PRMTOP)] {
        let read = |text: &str| {
            let (_folder, path) = file(name, text.as_bytes());
            read_topology(&path).unwrap_or_else(|error| panic!("{error}")).topology
        };
        let (marked, plain) = (read(&format!("{MARK}{text}")), read(text));
        assert_eq!((marked.title, marked.atoms, marked.bonded), (plain.title, plain.atoms, plain.bonded), "{name}");
    }
}

#[test]
fn a_byte_order_mark_is_harmless_in_files_of_charmm() {
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/charmm");
    let marked = tempfile::tempdir().unwrap();
    let names = ["charmm.psf", "charmm.rtf", "charmm.prm", "charmm.str", "charmm.crd"];
    for name in names {
        let text = std::fs::read_to_string(from.join(name)).unwrap();
        std::fs::write(marked.path().join(name), format!("{MARK}{text}")).unwrap();
    }
    let read = |folder: &std::path::Path| {
        let options = crate::charmm::options(folder, &names[1..4]);
        let topology = read_topology_with(&folder.join(names[0]), &options).unwrap_or_else(|error| panic!("{error}"));
        let positions = read_coordinates(&folder.join(names[4]), None, None).unwrap().positions;
        (topology.topology.atoms, topology.topology.bonded, topology.nonbonded, positions)
    };
    assert_eq!(read(marked.path()), read(&from));
}

/// Tests the header of a GROMACS run input file (`.tpr`): the lengths of a text in XDR, and the text.
#[test]
fn a_run_input_file_of_gromacs_is_called_that() {
    for header in [&b"\0\0\0\x0d\0\0\0\x0cVERSION 2022"[..], b"\0\0\0\x0dVERSION 4.6.7\0"] {
        let (_folder, path) = file("a.tpr", header);
        for message in [
            read_topology(&path).unwrap_err().to_string(),
            read_coordinates(&path, None, None).unwrap_err().to_string(),
        ] {
            assert!(
                message.contains("GROMACS run input files (tpr)") && message.contains("use the topology (top)"),
                "{message}"
            );
        }
    }
}
