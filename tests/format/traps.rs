//! Tests of conventions of AMBER files that readers have misread and that no other test covers.

use md::config::Config;
use md::format::{read_coordinates, read_topology};
use md::prepare::ConstrainedTerms;
use md::run::load;
use md::system::Topology;

use crate::literal::{PRMTOP, RST7, file, replaced, with_line, without};

fn topology(text: &str) -> Topology {
    let (_folder, path) = file("small.prmtop", text.as_bytes());
    read_topology(&path).unwrap_or_else(|error| panic!("{error}")).topology
}

/// Tests a negative third pointer of a torsion, which means "no 1-4 pair", as needed in rings and for several terms of
/// one torsion. The row is still a proper torsion, and its atoms keep their order. LEaP reverses the atoms of a torsion
/// if the pointer that would be negative is 0, which has no sign.
#[test]
fn a_repeated_torsion_makes_one_pair() {
    let rows = "       0       3       6       9       1       9       6      -3       0       2";
    let bonded = topology(&with_line(PRMTOP, "DIHEDRALS_WITHOUT_HYDROGEN", 2, rows)).bonded;
    assert_eq!((bonded.propers.len(), bonded.impropers.len(), bonded.pairs14.len()), (2, 0, 1));
    assert_eq!((bonded.propers[1].atoms, bonded.propers[1].periodicity), ([3, 2, 1, 0], 2));
    assert_eq!(bonded.pairs14[0].atoms, [0, 3]);
}

/// Tests that the 1-4 interactions of a torsion are divided by the scale factors of its torsion type.
#[test]
fn scales_are_those_of_the_torsion() {
    let scaled = with_line(PRMTOP, "SCEE_SCALE_FACTOR", 2, "  1.00000000E+00  0.00000000E+00");
    let scaled = with_line(&scaled, "SCNB_SCALE_FACTOR", 2, "  8.00000000E+00  0.00000000E+00");
    let (usual, scaled) = (topology(PRMTOP).bonded.pairs14[0], topology(&scaled).bonded.pairs14[0]);
    for (ratio, expected) in [
        (scaled.charge_product / usual.charge_product, 1.2),
        (scaled.c6 / usual.c6, 0.25),
        (scaled.c12 / usual.c12, 0.25),
    ] {
        assert!((ratio - expected).abs() < 1e-12, "{ratio} for {expected}");
    }
}

/// Tests that a CHAMBER file without sections of 1-4 scale factors has factors of 1, as in CHARMM, not AMBER's 1.2 and
/// 2.
#[test]
fn chamber_files_without_scales_have_none() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/systems/peptide-charmm36/peptide-charmm36.prmtop.xz");
    let whole = String::from_utf8(md::format::read(path.as_ref()).unwrap()).unwrap();
    let bare = without(&without(&whole, "SCEE_SCALE_FACTOR"), "SCNB_SCALE_FACTOR");
    let amber = without(&without(PRMTOP, "SCEE_SCALE_FACTOR"), "SCNB_SCALE_FACTOR");
    let pairs = |text: &str| topology(text).bonded.pairs14;
    assert!(pairs(&whole).len() > 50);
    assert_eq!(pairs(&bare), pairs(&whole));
    assert_eq!(pairs(&amber), pairs(PRMTOP));
}

/// Tests that the box of the coordinate file is used, and not the box in the topology, which is the box at the time
/// when LEaP wrote the file.
#[test]
fn the_box_is_that_of_the_coordinates() {
    let stale =
        with_line(PRMTOP, "BOX_DIMENSIONS", 2, "  9.00000000E+01  4.48900000E+01  4.48900000E+01  4.48900000E+01");
    let (folder, _) = file("small.prmtop", stale.as_bytes());
    let system = |rst7: &str| {
        std::fs::write(folder.path().join("small.rst7"), rst7).unwrap();
        let input = "[system]\ntopology = \"small.prmtop\"\ncoordinates = \"small.rst7\"\n";
        let plan = Config::parse(input, &folder.path().join("input.toml"), &[]).unwrap().plan;
        load(&plan, ConstrainedTerms::Keep).map(|prepared| prepared.state.cell.unwrap().lengths_angles().0)
    };
    assert_eq!(system(RST7).unwrap(), [2.0, 2.1, 2.2]);
    let last = RST7.trim_end().rfind('\n').unwrap() + 1;
    let message = system(&RST7[..last]).unwrap_err().to_string();
    assert!(message.contains("the coordinates have no cell"), "{message}");
}

/// Tests that an atom count of six digits may use the column of the blank before it.
#[test]
fn counts_of_atoms_have_any_width() {
    let (_folder, path) = file("small.rst7", replaced(RST7, "    7  1.5", "000007 1.5").as_bytes());
    assert_eq!(read_coordinates(&path, Some(7), None).unwrap().time, Some(15.0));
}
