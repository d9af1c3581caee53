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

/// Tests files in formats of other programs that `md` does not read.
#[test]
fn files_that_md_does_not_read_are_named_with_advice() {
    let tng = [&[0; 40][..], b"GENERAL INFO\0", &[0; 40]].concat();
    let old_row = (1..=12).map(|number| format!("{number:6}")).collect::<String>();
    let old_topology = format!("title\n{old_row}\n{old_row}\n");
    let dump = b"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\n";
    let molecule =
        b"water\n  md\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 O   0  0\nM  END\n";
    let trajectory = b"title\n   1.000   2.000   3.000 -14.000   5.000   6.000\n";
    let files: [(&str, &[u8], &str, &str); 12] = [
        // the header has the lengths of a text in XDR, and the text
        ("a.tpr", b"\0\0\0\x0d\0\0\0\x0cVERSION 2022", "run input files (tpr)", "use the topology (top)"),
        ("b.tpr", b"\0\0\0\x0dVERSION 4.6.7\0", "run input files (tpr)", "use the topology (top)"),
        ("a.cpt", &[0, 2, 0x9f, 0x29, 0, 0, 0, 22], "checkpoints (cpt)", "gmx trjconv"),
        ("a.edr", &[0xff, 0xff, 0x26, 0xfd, 0, 0, 0, 5], "energy files (edr)", "gmx energy"),
        ("a.tng", &tng, "TNG", "gmx trjconv"),
        ("old.prmtop", old_topology.as_bytes(), "before AMBER 7", "outparm"),
        ("a.mdcrd", trajectory, "text (mdcrd)", "cpptraj"),
        ("a.lammpstrj", dump, "LAMMPS", "MDAnalysis"),
        ("a.xyz", b"2\ncomment\nO 0 0 0.5\nH 1 0 0\n", "XYZ", "obabel"),
        ("a.mol2", b"# made by hand\n@<TRIPOS>MOLECULE\nwater\n", "mol2", "antechamber"),
        ("a.sdf", molecule, "sdf", "antechamber"),
        ("a.bcif", b"\x83\xa7version\xa50.3.0\xa7encoder\xa1x", "bcif", "as text"),
    ];
    for (name, contents, format, advice) in files {
        let (_folder, path) = file(name, contents);
        for message in [
            read_topology(&path).unwrap_err().to_string(),
            read_coordinates(&path, None, None).unwrap_err().to_string(),
            md::observe::trajectory::open(&path).err().expect("no trajectory").to_string(),
        ] {
            let names = message.contains("md does not read") && message.contains(format);
            assert!(names && message.contains(advice), "{name}: {message}");
        }
    }
}
