//! Broken AMBER topologies: each must be refused with file, line and a helpful message.

use md::format::read_topology;
use md::system::Topology;
use md::units::{ANGSTROM, KCAL};

use crate::literal::{PRMTOP, file, replaced, with_line, without};
use crate::{shared_systems, system_file};

fn topology(text: &str) -> Topology {
    let (_folder, path) = file("small.prmtop", text.as_bytes());
    read_topology(&path).unwrap_or_else(|error| panic!("{error}")).topology
}

/// Asserts that a text is refused with a message that contains every one of `words` and names `line`.
fn refused(text: &str, line: Option<usize>, words: &[&str]) {
    let (_folder, path) = file("small.prmtop", text.as_bytes());
    let error = match read_topology(&path) {
        Ok(_) => panic!("accepted, expected words {words:?}"),
        Err(error) => error,
    };
    assert_eq!(error.exit_code(), 2, "{error}");
    let message = error.to_string();
    let place = line.map_or("small.prmtop".into(), |line| format!("small.prmtop:{line}:"));
    assert!(message.contains(&place), "expected {place} in: {message}");
    for word in words {
        assert!(message.contains(word), "expected {word:?} in: {message}");
    }
}

/// 1-based line of `%FLAG name`.
fn flag(name: &str) -> usize {
    PRMTOP.lines().position(|line| line == format!("%FLAG {name}")).unwrap() + 1
}

#[test]
fn the_valid_file_means_what_it_says() {
    let small = topology(PRMTOP);
    assert_eq!(small.title, "chain and water");
    assert_eq!((small.atoms.len(), small.residues.len()), (7, 2));
    assert_eq!(small.atoms[4].name.as_str(), "O");
    assert_eq!((small.residues[1].name.as_str(), small.residues[1].first), ("WAT", 4));
    assert!((small.atoms[0].charge - 0.1).abs() < 1e-15 && (small.atoms[4].charge + 0.834).abs() < 1e-8);
    let bonded = &small.bonded;
    assert_eq!((bonded.bonds.len(), small.connectivity.len(), bonded.angles.len()), (6, 5, 2));
    assert!(!small.connectivity.contains(&[5, 6]) && bonded.bonds[2].atoms == [5, 6]);
    // 310 kcal/mol/Å² in an energy without the factor ½ equals 620 · 4.184 · 100 kJ/mol/nm² with the factor ½
    assert!((bonded.bonds[3].force_constant - 620.0 * KCAL / (ANGSTROM * ANGSTROM)).abs() < 1e-6);
    assert_eq!((bonded.propers.len(), bonded.impropers.len(), bonded.pairs14.len()), (1, 1, 1));
    assert_eq!((bonded.propers[0].periodicity, bonded.impropers[0].atoms), (3, [0, 1, 2, 3]));
    let pair = bonded.pairs14[0];
    assert!((pair.charge_product + 0.01 / 1.2).abs() < 1e-12 && pair.atoms == [0, 3]);
    let c6 = 675.612247 / 2.0 * KCAL * ANGSTROM.powi(6);
    assert!((pair.c6 / c6 - 1.0).abs() < 1e-12);
    assert_eq!(small.exclusions.len(), 9);
    assert!(small.exclusions.contains(6, 4) && !small.exclusions.contains(0, 4));
}

/// Section with the radii of implicit solvent.
const RADII: &str = "\
%FLAG RADII
%FORMAT(5E16.8)
  1.70000000E+00  1.70000000E+00  1.70000000E+00  1.70000000E+00  1.50000000E+00
  8.00000000E-01  8.00000000E-01
%FLAG SCREEN
%FORMAT(5E16.8)
  7.20000000E-01  7.20000000E-01  7.20000000E-01  7.20000000E-01  8.50000000E-01
  8.50000000E-01  8.50000000E-01
";

/// Section of an AMBER topology with blank names, and with residue numbers that exceed their columns.
const UNREAD: &str = "\
%FLAG TREE_CHAIN_CLASSIFICATION
%FORMAT(20a4)
    M
%FLAG JOIN_ARRAY
%FORMAT(10I8)
       0       0       0       0       0       0       0
%FLAG RESIDUE_CHAINID
%FORMAT(20a4)

%FLAG RESIDUE_NUMBER
%FORMAT(20I4)
1234512346
%FLAG SOLVENT_POINTERS
%FORMAT(3I8)
       1       2       2
%FLAG ATOMS_PER_MOLECULE
%FORMAT(10I8)
       4       3
";

#[test]
fn sections_that_nothing_reads_have_their_length() {
    for (name, line, text) in [
        ("RADII", 3, "  8.00000000E-01"),
        ("RADII", 3, "  8.00000000E-01  8.00000000E-01  8.00000000E-01"),
        ("JOIN_ARRAY", 2, "       0       0       0       0       0       0"),
        ("SOLVENT_POINTERS", 2, "       1       2"),
        ("ATOMS_PER_MOLECULE", 2, "       4"),
        ("RESIDUE_NUMBER", 2, "   1   2\n   3"),
        ("SOLTY", 2, "  0.00000000E+00  0.00000000E+00"),
    ] {
        let text = with_line(&format!("{PRMTOP}{RADII}{UNREAD}"), name, line, text);
        refused(&text, None, &[name, "cut off"]);
    }
    let text = format!("{PRMTOP}{RADII}{UNREAD}");
    refused(&without(&text, "SOLVENT_POINTERS"), None, &["SOLVENT_POINTERS is missing"]);
    refused(&format!("{PRMTOP}{RADII}%FLAG RESIDUE_ICODE\n%FORMAT(20a4)\n"), None, &["RESIDUE_ICODE", "cut off"]);
}

#[test]
fn sections_that_others_announce_must_be_there() {
    refused(&without(PRMTOP, "IPOL"), None, &["IPOL is missing"]);
    refused(&without(PRMTOP, "BOX_DIMENSIONS"), None, &["BOX_DIMENSIONS is missing"]);
    refused(&without(PRMTOP, "AMBER_ATOM_TYPE"), None, &["AMBER_ATOM_TYPE is missing"]);
    let coefficients = format!("{PRMTOP}%FLAG LENNARD_JONES_14_ACOEF\n%FORMAT(5E16.8)\n  1.00000000E+00\n");
    refused(&coefficients, Some(PRMTOP.lines().count() + 1), &["LENNARD_JONES_14_ACOEF", "no CTITLE"]);
    refused(&PRMTOP.replace("%FLAG TITLE", "%FLAG CTITLE"), None, &["FORCE_FIELD_TYPE is missing"]);
    let charmm = "%FLAG FORCE_FIELD_TYPE\n%FORMAT(i2,a78)\n 1 CHARMM  31\n%FLAG ATOM_NAME\n";
    refused(&replaced(PRMTOP, "%FLAG ATOM_NAME\n", charmm), Some(11), &["FORCE_FIELD_TYPE", "no CTITLE"]);
    let Some(text) = chamber() else { return };
    refused(&without(&text, "CHARMM_UREY_BRADLEY_COUNT"), None, &["CHARMM_UREY_BRADLEY_COUNT is missing"]);
    let maps = ["COUNT", "RESOLUTION", "PARAMETER_01", "INDEX"];
    let bare = maps.iter().fold(text, |text, rest| without(&text, &format!("CHARMM_CMAP_{rest}")));
    refused(&bare, None, &["residue 2 (ALA) needs the CMAP terms of CHARMM36", "no CMAP"]);
}

#[test]
fn harmless_variations_read_the_same() {
    let expected = format!("{:?}", topology(PRMTOP));
    let padded: String = PRMTOP.lines().map(|line| format!("{line:<80}\n")).collect();
    for (what, text) in [
        ("carriage returns", PRMTOP.replace('\n', "\r\n")),
        ("blanks to column 80", padded),
        ("no final newline", PRMTOP.trim_end().to_owned()),
        ("comments", PRMTOP.replace("%FORMAT(10I8)", "%COMMENT words\n%FORMAT(10I8)")),
        ("nested format", PRMTOP.replace("%FORMAT(10I8)", "%FORMAT(2(5(I8)))")),
        ("Fortran exponents", PRMTOP.replace("E+0", "D+0")),
        ("no atomic numbers", without(PRMTOP, "ATOMIC_NUMBER")),
        ("unknown atomic numbers", with_line(PRMTOP, "ATOMIC_NUMBER", 2, &"      -1".repeat(7))),
        ("negative periodicity", with_line(PRMTOP, "DIHEDRAL_PERIODICITY", 2, " -3.00000000E+00  2.00000000E+00")),
        ("NUMEXTRA left out", with_line(PRMTOP, "POINTERS", 5, "")),
        ("radii in place of IPOL", without(PRMTOP, "IPOL") + RADII),
        ("older than IPOL", without(&without(PRMTOP, "IPOL"), "ATOMIC_NUMBER")),
        ("atomic numbers added to an older file", {
            let numbers =
                "%FLAG ATOMIC_NUMBER\n%FORMAT(10I8)\n       6       6       6       6       8       1       1\n";
            without(&without(PRMTOP, "IPOL"), "ATOMIC_NUMBER") + numbers
        }),
        ("the force field named", {
            let named = "%FLAG FORCE_FIELD_TYPE\n%FORMAT(i2,a78)\n 2  parm10.dat\n 2  frcmod.ff14SB\n%FLAG ATOM_NAME\n";
            replaced(PRMTOP, "%FLAG ATOM_NAME\n", named)
        }),
        ("sections that nothing reads", format!("{PRMTOP}{RADII}{UNREAD}")),
        ("default scales", without(&without(PRMTOP, "SCEE_SCALE_FACTOR"), "SCNB_SCALE_FACTOR")),
    ] {
        assert_eq!(format!("{:?}", topology(&text)), expected, "{what}");
    }
}

#[test]
fn names_may_touch_and_hold_blanks() {
    let text = with_line(PRMTOP, "ATOM_NAME", 2, "C1A'C 2 HC3'C4  O   H1  H2");
    let names: Vec<String> = topology(&text).atoms.iter().map(|atom| atom.name.to_string()).collect();
    assert_eq!(names, ["C1A'", "C 2", "HC3'", "C4", "O", "H1", "H2"]);
    let stripped = with_line(PRMTOP, "ATOM_NAME", 2, "C1  C2  C3  C4  O   H1  H");
    assert_eq!(topology(&stripped).atoms[6].name.as_str(), "H");
    // one additional or missing character shifts all later names in the line
    for moved in ["C1  C2 C3  C4  O   H1  H2  ", "C1  C2   C3  C4  O   H1  H2  "] {
        refused(
            &with_line(PRMTOP, "ATOM_NAME", 2, moved),
            Some(flag("ATOM_NAME") + 2),
            &["the column width 4", "damaged"],
        );
    }
}

#[test]
fn hydrogen_bond_terms_of_zero_are_accepted() {
    let text = with_line(
        PRMTOP,
        "NONBONDED_PARM_INDEX",
        2,
        "       1       2      -1       2       3       5      -1       5       6",
    );
    let text = replaced(
        &text,
        "      12       2       3       2       2       3       1       2       1       0",
        "      12       2       3       2       2       3       1       2       1       1",
    );
    let zero = "  0.00000000E+00";
    let accepted = with_line(&with_line(&text, "HBOND_ACOEF", 2, zero), "HBOND_BCOEF", 2, zero);
    assert_eq!(topology(&accepted).atoms.len(), 7);
    let refusal = with_line(&accepted, "HBOND_ACOEF", 2, "  7.55700000E+03");
    refused(&refusal, Some(flag("HBOND_ACOEF") + 2), &["10-12"]);
    refused(&text, Some(flag("HBOND_ACOEF") + 2), &["expected 1 values, found 0"]);
}

#[test]
fn what_md_cannot_compute_is_refused() {
    let pointers = flag("POINTERS");
    let third = "       0       0       0       0       0       0       0       1       4       0";
    let swap = |new: &str| replaced(PRMTOP, third, new);
    let added = |name: &str| format!("{PRMTOP}%FLAG {name}\n%FORMAT(5E16.8)\n  1.00000000E+00\n");
    let end = PRMTOP.lines().count() + 1;
    refused(
        &swap("       1       0       0       0       0       0       0       1       4       0"),
        Some(pointers + 4),
        &["IFPERT"],
    );
    refused(
        &swap("       0       0       0       0       0       0       0       1       4       1"),
        Some(pointers + 4),
        &["IFCAP"],
    );
    refused(
        &swap("       0       0       0       0       0       0       0       7       4       0"),
        Some(pointers + 4),
        &["IFBOX is 7"],
    );
    refused(&with_line(PRMTOP, "POINTERS", 5, "       0       8"), Some(pointers + 5), &["NCOPY"]);
    refused(&with_line(PRMTOP, "IPOL", 2, "       1"), Some(flag("IPOL")), &["polarizable"]);
    refused(&added("POLARIZABILITY"), Some(end), &["polarizable"]);
    refused(&added("LENNARD_JONES_CCOEF"), Some(end + 2), &["expected 6 values, found 1"]);
    refused(&added("LENNARD_JONES_DCOEF"), Some(end), &["12-6-4"]);
    refused(&added("AMOEBA_FORCEFIELD"), Some(end), &["AMOEBA"]);
    refused(&added("LES_NTYP"), Some(end), &["locally enhanced"]);
    refused(&added("LENNARD_JONES_ACOEFF"), Some(end), &["unknown section", "LENNARD_JONES_ACOEF"]);
    refused(&added("CMAP_PARAMETER_01"), None, &["CMAP_COUNT is missing"]);
    let massless = with_line(PRMTOP, "MASS", 3, "  0.00000000E+00  1.00800000E+00");
    refused(&massless, Some(flag("MASS") + 3), &["atom 6", "extra point outside of a water"]);
    let negative = with_line(PRMTOP, "MASS", 3, " -1.00000000E+00  1.00800000E+00");
    refused(&negative, Some(flag("MASS") + 3), &["atom 6", "mass -1"]);
}

#[test]
fn damaged_containers_are_refused() {
    refused("", Some(1), &["known formats: AMBER topology"]);
    refused("ATOM      1  N   ALA     1\n", Some(1), &["known formats: AMBER topology"]);
    refused("%VERSION\n", None, &["POINTERS is missing"]);
    refused("%FLAG POINTERS\n", Some(1), &["no %FORMAT"]);
    refused("%VERSION\n%FORMAT(10I8)\n", Some(2), &["without a %FLAG"]);
    refused("%FLAG A\n%FLAG B\n%FORMAT(10I8)\n", Some(2), &["section A"]);
    refused("%FLAGS POINTERS\n", Some(1), &["expected %FLAG"]);
    refused(&format!("{PRMTOP}%FLAG MASS\n%FORMAT(5E16.8)\n"), None, &["MASS was given before"]);
    let mass = flag("MASS");
    for format in ["%FORMAT(20a4)", "%FORMAT(5E)", "%FORMAT", "%FORMAT(i2,a78)", "%FORMAT(((((((5E16.8)))))))"] {
        refused(&with_line(PRMTOP, "MASS", 1, format), Some(mass + 1), &["MASS: %FORMAT", "does not fit"]);
    }
    for name in [
        "POINTERS",
        "ATOM_NAME",
        "CHARGE",
        "MASS",
        "ATOM_TYPE_INDEX",
        "NUMBER_EXCLUDED_ATOMS",
        "EXCLUDED_ATOMS_LIST",
        "NONBONDED_PARM_INDEX",
        "RESIDUE_LABEL",
        "RESIDUE_POINTER",
        "BOND_FORCE_CONSTANT",
        "BOND_EQUIL_VALUE",
        "ANGLE_FORCE_CONSTANT",
        "ANGLE_EQUIL_VALUE",
        "DIHEDRAL_FORCE_CONSTANT",
        "DIHEDRAL_PERIODICITY",
        "DIHEDRAL_PHASE",
        "LENNARD_JONES_ACOEF",
        "LENNARD_JONES_BCOEF",
        "BONDS_INC_HYDROGEN",
        "BONDS_WITHOUT_HYDROGEN",
        "ANGLES_INC_HYDROGEN",
        "ANGLES_WITHOUT_HYDROGEN",
        "DIHEDRALS_INC_HYDROGEN",
        "DIHEDRALS_WITHOUT_HYDROGEN",
    ] {
        refused(&without(PRMTOP, name), None, &[name, "is missing"]);
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    // the file is cut at every position up to the last section that the reader needs
    let needed = PRMTOP.find("%FLAG AMBER_ATOM_TYPE").unwrap() - "%FLAG HBOND_ACOEF\n%FORMAT(5E16.8)\n\n".len() * 2;
    for cut in (0..needed - 20).step_by(37) {
        let (_folder, path) = file("cut.prmtop", &PRMTOP.as_bytes()[..cut]);
        assert!(read_topology(&path).is_err_and(|error| error.exit_code() == 2), "cut at byte {cut}");
    }
}

// Long because the test is a table.
#[test]
fn wrong_values_are_refused_at_their_line() {
    for (name, line, text, words) in [
        (
            "POINTERS",
            2,
            "      -7       3       3       3       0       2       0       2       0       0",
            &["count -7"][..],
        ),
        (
            "POINTERS",
            2,
            "       0       3       3       3       0       2       0       2       0       0",
            &["no atoms"],
        ),
        (
            "POINTERS",
            2,
            "       7       x       3       3       0       2       0       2       0       0",
            &["value 2", "`x`"],
        ),
        ("ATOM_NAME", 2, "C1  C2  C3", &["expected 7 values, found 3"]),
        ("CHARGE", 3, "  7.59869910E+00  7.59869910E+00  0.00000000E+00", &["found more"]),
        ("CHARGE", 3, "             NaN  7.59869910E+00", &["`NaN`"]),
        ("CHARGE", 3, "  7.59869910E+00  1.0000000E+999", &["1.0000000E+999"]),
        ("CHARGE", 3, "****************  7.59869910E+00", &["too large for its column"]),
        ("CHARGE", 3, "  7.59869910E+00", &["expected 7 values, found 6"]),
        ("CHARGE", 3, "                  7.59869910E+00", &["found nothing"]),
        ("CHARGE", 3, "  7.59869910E+00  7.59869910E+0", &["value 2 of the line does not fill its 16 columns"]),
        ("CHARGE", 3, " 7.59869910E+00   7.59869910E+00", &["value 1 of the line does not fill"]),
        ("CHARGE", 3, "  7.59869910E+00  7.59869910E+31", &["expected a number below 1e30"]),
        ("MASS", 2, " -1.20100000E+01  1.20100000E+01  1.20100000E+01  1.20100000E+01  1.60000000E+01", &["atom 1"]),
        ("ATOM_TYPE_INDEX", 2, "       1       1       1       1       2       3       4", &["type 4 of atom 7"]),
        ("ATOM_TYPE_INDEX", 2, "       0       1       1       1       2       3       3", &["type 0"]),
        (
            "NONBONDED_PARM_INDEX",
            2,
            "       1       3       4       2       3       5       4       5       6",
            &["symmetric"],
        ),
        (
            "NONBONDED_PARM_INDEX",
            2,
            "       1       2       4       2       3       5       4       5       7",
            &["index 7"],
        ),
        (
            "NONBONDED_PARM_INDEX",
            2,
            "       1       2       4       2       3       5       4       5      -1",
            &["10-12 term 1"],
        ),
        ("RESIDUE_POINTER", 2, "       2       5", &["begin at atom 1"]),
        ("RESIDUE_POINTER", 2, "       1       8", &["residue 2"]),
        ("RESIDUE_POINTER", 2, "       1       1", &["ascending"]),
        ("NUMBER_EXCLUDED_ATOMS", 2, "       3       2       1       1       2       1       9", &["atom 7"]),
        ("NUMBER_EXCLUDED_ATOMS", 2, "       3       2       1       1       2       1      -2", &["atom 7"]),
        (
            "EXCLUDED_ATOMS_LIST",
            2,
            "       2       3       8       3       4       4       0       6       7       7",
            &["cannot exclude atom 8"],
        ),
        (
            "EXCLUDED_ATOMS_LIST",
            2,
            "       1       3       4       3       4       4       0       6       7       7",
            &["cannot exclude atom 1"],
        ),
        (
            "BONDS_INC_HYDROGEN",
            2,
            "      12      15       4      12      18       2      15      18       3",
            &["bond type 4"],
        ),
        (
            "BONDS_INC_HYDROGEN",
            2,
            "      12      16       2      12      18       2      15      18       3",
            &["16 is not the pointer"],
        ),
        (
            "BONDS_INC_HYDROGEN",
            2,
            "      12      21       2      12      18       2      15      18       3",
            &["21 is not the pointer"],
        ),
        (
            "BONDS_INC_HYDROGEN",
            2,
            "     -12      15       2      12      18       2      15      18       3",
            &["negative"],
        ),
        (
            "BONDS_INC_HYDROGEN",
            2,
            "      12      12       2      12      18       2      15      18       3",
            &["atom 5 twice"],
        ),
        (
            "ANGLES_WITHOUT_HYDROGEN",
            2,
            "       0       3       6       2       3       6       9       1",
            &["angle type 2"],
        ),
        (
            "DIHEDRALS_WITHOUT_HYDROGEN",
            2,
            "       0       3       6       9       0       0       3      -6      -9       2",
            &["dihedral type 0"],
        ),
        (
            "DIHEDRALS_WITHOUT_HYDROGEN",
            2,
            "       0       3       6       9       2       0       3      -6      -9       2",
            &["SCEE"],
        ),
        (
            "DIHEDRALS_WITHOUT_HYDROGEN",
            2,
            "       0      -3       6       9       1       0       3      -6      -9       2",
            &["negative"],
        ),
        ("BOX_DIMENSIONS", 2, "  9.00000000E+01  2.00000000E+01", &["expected 4 values"]),
    ] {
        println!("{name} {text}");
        refused(&with_line(PRMTOP, name, line, text), Some(flag(name) + line), words);
    }
    let few = with_line(PRMTOP, "POINTERS", 2, "       7       3");
    refused(&few, Some(flag("POINTERS")), &["expected at least 30 values, found 23"]);
    let many = "99999999       3       3       3       0       2       0       2       0       0";
    refused(&with_line(PRMTOP, "POINTERS", 2, many), Some(flag("ATOM_TYPE_INDEX")), &["expected 99999999 values"]);
    let half = with_line(PRMTOP, "DIHEDRAL_PERIODICITY", 2, "  2.50000000E+00  2.00000000E+00");
    refused(&half, Some(flag("DIHEDRAL_PERIODICITY") + 2), &["2.5 is not a valid periodicity"]);
}

/// Returns the AMBER topology of the CHARMM reference system (CHAMBER format) as text.
fn chamber() -> Option<String> {
    let root = shared_systems()?;
    let bytes = md::format::read(&system_file(&root.join("charmm36-ala3"), "prmtop")).unwrap();
    Some(String::from_utf8(bytes).unwrap())
}

#[test]
fn chamber_sections_are_read_and_checked() {
    let Some(text) = chamber() else { return };
    let charmm = topology(&text);
    let bonded = &charmm.bonded;
    // expected values are the counts in POINTERS and in the CHARMM sections, read from the file by a person
    assert_eq!((bonded.cmaps.len(), bonded.cmap_grids.len(), bonded.cmap_grids[0].size), (1, 1, 24));
    assert_eq!((bonded.propers.len(), bonded.impropers.len()), (76, 0));
    assert!(!bonded.urey_bradleys.is_empty() && !bonded.harmonic_impropers.is_empty());

    // topologies with ff19SB have the same maps without the prefix CHARMM_
    let plain = topology(&text.replace("%FLAG CHARMM_CMAP", "%FLAG CMAP"));
    assert_eq!(plain.bonded, *bonded);
    // older files state the phase of impropers in degrees
    let phase = |value: &str| {
        let line = format!("{value}  0.00000000E+00  0.00000000E+00");
        let impropers = topology(&with_commented_line(&text, "CHARMM_IMPROPER_PHASE", &line)).bonded.harmonic_impropers;
        impropers.iter().map(|improper| improper.angle).fold(0.0, f64::max)
    };
    let printed = 5e-9; // tolerance: half a unit of the ninth digit
    for value in ["  1.80000000E+02", "  3.14159265E+00"] {
        assert!((phase(value) - std::f64::consts::PI).abs() < printed, "{value}");
    }

    for (name, line, words) in [
        ("CHARMM_UREY_BRADLEY_COUNT", "      -1       1", &["count -1"][..]),
        ("CHARMM_UREY_BRADLEY_COUNT", "       1       1", &["expected"]),
        ("CHARMM_NUM_IMPROPERS", "       1", &["found more"]),
        ("CHARMM_CMAP_COUNT", "       1       2", &["announces 2 maps", "holds 1"]),
        ("CHARMM_CMAP_COUNT", "       2       1", &["CHARMM_CMAP_INDEX", "expected 12 values"]),
        ("CHARMM_CMAP_RESOLUTION", "   3", &["expected a resolution"]),
        ("CHARMM_CMAP_RESOLUTION", "  23", &["CHARMM_CMAP_PARAMETER_01", "expected 529 values, found more"]),
        ("CHARMM_CMAP_RESOLUTION", "  25", &["CHARMM_CMAP_PARAMETER_01", "expected 625 values, found 576"]),
        ("CHARMM_CMAP_INDEX", "       5       7       9      15    2777       1", &["atom 2777"]),
        ("CHARMM_CMAP_INDEX", "       5       7       9      15      17       2", &["map 2"]),
        ("CHARMM_CMAP_INDEX", "       5       7       9      15       5       1", &["atom 5 twice"]),
    ] {
        println!("{name} {line}");
        refused(&with_commented_line(&text, name, line), None, words);
    }
    for name in [
        "LENNARD_JONES_14_ACOEF",
        "CHARMM_UREY_BRADLEY",
        "CHARMM_IMPROPERS",
        "CHARMM_IMPROPER_PHASE",
        "CHARMM_NUM_IMPR_TYPES",
        "CHARMM_CMAP_INDEX",
    ] {
        refused(&without(&text, name), None, &[name, "is missing"]);
    }
}

/// Replaces the first line of values of a section whose header has comment lines.
fn with_commented_line(text: &str, name: &str, new: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let flag = lines.iter().position(|l| l.trim() == format!("%FLAG {name}")).unwrap();
    let offset = lines[flag..].iter().position(|line| !line.starts_with('%')).unwrap();
    with_line(text, name, offset, new)
}
