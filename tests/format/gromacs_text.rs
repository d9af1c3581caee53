//! Tests of GROMACS files that are written in the tests: the preprocessor, every form of a line, and every refusal.

use std::path::{Path, PathBuf};

use md::error::Error;
use md::format::{Coordinates, TopologyOptions, read_coordinates, read_topology_with};
use md::system::Topology;
use md::vec3::vec3;

/// Topology with two molecule types and every section.
pub(crate) const TOP: &str = "\
; a comment
#define bond_ca 0.15 2.5e5
[ defaults ]
1 2 yes 0.5 0.8333

[ atomtypes ]
CT CT 6 12.01 0.0 A 0.34 0.45
OW    8 16.00 0.0 A 0.315 0.636
HW      1.008 0.0 A 0.0 0.0

[ bondtypes ]
CT CT 1 bond_ca

[ dihedraltypes ]
X CT CT X 9 0.0 0.65 3

[ moleculetype ]
BUT 3

[ atoms ]
1 CT 1 BUT C1 1  0.1
2 CT 1 BUT C2 1 -0.1
3 CT 1 BUT C3 1  0.1
4 CT 1 BUT C4 1 -0.1

[ bonds ]
1 2
2 3 1
3 4 1 0.152 3e5

[ angles ]
1 2 3 1 109.5 400
2 3 4 5 111.0 300 0.25 1000

[ dihedrals ]
1 2 3 4 9

[ pairs ]
1 4 1

#ifdef POSRES
[ position_restraints ]
1 1 1000 1000 1000
#endif

[ moleculetype ]
SOL 2

[ atoms ]
1 OW 1 SOL OW 1 -0.834 16.0
2 HW 1 SOL HW1 1 0.417 1.008
3 HW 1 SOL HW2 1 0.417 1.008

#ifdef FLEXIBLE
[ bonds ]
1 2 1 0.09572 502416
1 3 1 0.09572 502416
[ angles ]
2 1 3 1 104.52 628
#else
[ settles ]
1 1 0.09572 0.15139
#endif

[ exclusions ]
1 2 3
2 3

[ system ]
butane in water

[ molecules ]
BUT 1
SOL 2
";

/// Coordinates of the ten atoms of [`TOP`] in the gro format.
pub(crate) const GRO: &str = "\
butane in water, t=   1.50000 step= 750
   10
    1BUT     C1    1   0.100   0.200   0.300  0.0100 -0.0200  0.0300
    1BUT     C2    2   0.250   0.200   0.300  0.0000  0.0000  0.0000
    1BUT     C3    3   0.300   0.340   0.300  0.0000  0.0000  0.0000
    1BUT     C4    4   0.450   0.340   0.300  0.0000  0.0000  0.0000
99999SOL     OW99999   1.000   1.000   1.000  0.5000 -0.5000  0.2500
99999SOL    HW1    0   1.096   1.000   1.000  0.0000  0.0000  0.0000
99999SOL    HW2    1   0.976   1.093   1.000  0.0000  0.0000  0.0000
    0SOL     OW    2  -1.000   1.000   1.000  0.0000  0.0000  0.0000
    0SOL    HW1    3  -0.904   1.000   1.000  0.0000  0.0000  0.0000
    0SOL    HW2    4  -1.024   1.093   1.000  0.0000  0.0000  0.0000
   2.00000   2.10000   2.20000
";

/// Coordinates of the ten atoms of [`TOP`] in the g96 format.
pub(crate) const G96: &str = "\
TITLE
two atoms
END
TIMESTEP
             10       0.020000
END
POSITION
    1 SOL   OW         1    1.000000001   -2.000000002    3.000000003
# a comment
    1 SOL   HW1        2  100.000000000-1000.000000000    0.500000000
END
VELOCITY
    1 SOL   OW         1    0.100000000    0.200000000    0.300000000
    1 SOL   HW1        2    0.000000000    0.000000000   -0.500000000
END
BOX
    3.000000000    2.900000000    2.800000000    0.000000000    0.000000000    1.000000000    0.000000000   -1.000000000    0.500000000
END
";

/// Writes files to a new folder and reads the first one.
pub(crate) fn read(files: &[(&str, &str)], define: &[&str], include: &[&str]) -> Result<Topology, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let options = TopologyOptions {
        include: include.iter().map(|name| folder.path().join(name)).collect(),
        define: define.iter().map(ToString::to_string).collect(),
        ..TopologyOptions::default()
    };
    let found = read_topology_with(&folder.path().join(files[0].0), &options);
    found.map(|description| description.topology).map_err(|error| {
        assert_eq!(error.exit_code(), 2, "{error}");
        error.to_string().replace(&format!("{}/", folder.path().display()), "")
    })
}

#[track_caller]
pub(crate) fn good(text: &str, define: &[&str]) -> Topology {
    read(&[("a.top", text)], define, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts that [`TOP`] with `old` replaced by `new` is refused with a message that contains all `parts`.
#[track_caller]
pub(crate) fn refused(old: &str, new: &str, parts: &[&str]) {
    let text = crate::literal::replaced(TOP, old, new);
    let message = read(&[("a.top", &text)], &[], &[]).expect_err("a fault");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message}");
    }
}

/// Returns the number of the line that contains `piece`, in the form in which messages state line numbers.
fn line(text: &str, piece: &str) -> String {
    let at = text.lines().position(|line| line.contains(piece)).unwrap() + 1;
    format!("a.top:{at}:")
}

#[test]
fn a_topology_means_what_it_says() {
    let topology = good(TOP, &[]);
    assert_eq!((topology.title.as_str(), topology.atoms.len(), topology.residues.len()), ("butane in water", 10, 3));
    let bonds: Vec<_> = topology.bonded.bonds.iter().map(|b| (b.atoms, b.length, b.force_constant)).collect();
    assert_eq!(bonds, [([0, 1], 0.15, 2.5e5), ([1, 2], 0.15, 2.5e5), ([2, 3], 0.152, 3e5)]);
    assert_eq!((topology.bonded.propers.len(), topology.bonded.pairs14.len()), (1, 1));
    assert_eq!((topology.constraints.len(), topology.connectivity.len()), (6, 3 + 4));
    // all six pairs of butane are within three bonds
    assert_eq!(topology.exclusions.len(), 6 + 2 * 3);
    let atoms: Vec<_> = topology.atoms.iter().map(|atom| (atom.element, atom.mass)).collect();
    assert_eq!(atoms[3..6], [(6, 12.01), (8, 16.0), (1, 1.008)]);
    assert_eq!(topology.residues.iter().map(|residue| residue.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(topology.charmm, "only CHARMM has Urey-Bradley terms");
}

#[test]
fn macros_switch_and_replace() {
    let flexible = good(TOP, &["FLEXIBLE"]);
    assert_eq!((flexible.constraints.len(), flexible.bonded.bonds.len(), flexible.bonded.angles.len()), (0, 7, 4));
    // a macro of the input file (`define`) is defined from the start of the topology, and a `#define` in the topology
    // replaces it
    let text = TOP.replace("#define bond_ca 0.15 2.5e5\n", "");
    assert_eq!(good(&text, &["bond_ca=0.14 1e5"]).bonded.bonds[0].length, 0.14);
    let replaced = good(TOP, &["bond_ca=0.14 1e5"]);
    assert_eq!(replaced.bonded.bonds[0].length, 0.15);
    for (define, expected) in [
        ("FLEXIBEL", "has FLEXIBEL, but no file of this topology uses this macro"),
        ("-DFLEXIBLE", "write \"NAME\" or \"NAME=text\", without -D"),
        ("POSRES", "[ position_restraints ]: md does not support this (set position restraints in the stage"),
    ] {
        let message = read(&[("a.top", TOP)], &[define], &[]).expect_err(define);
        assert!(message.contains(expected), "{message}");
    }
    let nested = "#ifndef A\n#define A\n#ifdef B\n[ nonsense ]\n#else\n#undef A\n#endif\n#else\n[ nonsense ]\n#endif\n";
    let text = format!("{nested}#ifdef A\n[ nonsense ]\n#endif\n#ifdef OFF\n#include \"missing.itp\"\n#endif\n{TOP}");
    assert_eq!(good(&text, &[]).atoms.len(), 10);
}

#[test]
fn lines_go_on_behind_a_backslash_and_end_at_a_semicolon() {
    for (old, new) in [
        ("X CT CT X 9 0.0 0.65 3\n", "X CT CT \\\n  X 9 \\  \n 0.0 0.65 \\\n3 ; three lines\n"),
        ("1 2 yes 0.5 0.8333\n", "1 2 yes 0.5 0.8333;comment\n"),
        ("[ bonds ]\n1 2\n", "[bonds] ; comment\r\n\t1\t2\t\r\n"),
        ("; a comment\n", "* how force fields begin\n*** [ x ] **\n"),
        ("[ bondtypes ]", "[ implicit_genborn_params ]\nCT 0.19 1 1 0.2 0.7\n[ bondtypes ]"),
        ("SOL 2\n\n[ atoms ]", "sol 2\n\n[ atoms ]"),
        ("[ angles ]\n1 2 3", "[ Angles ]\n1 2 3"),
    ] {
        let text = TOP.replacen(old, new, 1);
        assert_ne!(text, TOP, "{old}");
        assert_eq!(format!("{:?}", good(&text, &[]).bonded), format!("{:?}", good(TOP, &[]).bonded), "{new}");
    }
}

#[test]
fn included_files_are_found_beside_their_file_and_along_the_search_path() {
    let (force_field, molecules) = TOP.split_once("[ moleculetype ]\nBUT").unwrap();
    let (butane, rest) = molecules.split_once("[ moleculetype ]\nSOL").unwrap();
    let (butane, rest) = (format!("[ moleculetype ]\nBUT{butane}"), format!("[ moleculetype ]\nSOL{rest}"));
    let top = format!("#include \"ff/all.itp\" ; the force field\n#include <but.itp>\n{rest}");
    let files = [
        ("a.top", top.as_str()),
        // an included file is searched in the folder of the including file, then in the folder of the topology, then
        // along the search path
        ("ff/all.itp", "#include \"types.itp\"\n#include \"empty.itp\"\n"),
        ("ff/types.itp", force_field),
        ("empty.itp", "; nothing\n"),
        ("second/but.itp", "[ nonsense ]"),
        ("first/but.itp", &butane),
    ];
    let whole = read(&files, &[], &["none", "first", "second"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(whole.bonded, good(TOP, &[]).bonded);
    let message = read(&files, &[], &["none"]).expect_err("no such file");
    assert!(message.starts_with("a.top:2: #include \"but.itp\": no such file in "), "{message}");
    assert!(message.contains("none (give the folder of the file in system.include"), "{message}");
    let message = read(&files, &[], &["second"]).expect_err("nonsense");
    assert!(
        message.starts_with("second/but.itp:1: this line of an included file cannot be read; included from a.top:2"),
        "{message}"
    );
}

#[test]
fn includes_without_end_are_refused_with_their_chain() {
    let circle = [
        ("a.top", "\n#include \"b.itp\"\n"),
        ("b.itp", "#include \"d/c.itp\""),
        ("d/c.itp", "\n\n#include \"../a.top\"\n"),
    ];
    let message = read(&circle, &[], &[]).expect_err("a circle");
    let expected = "d/c.itp:3: #include \"../a.top\": this file includes itself; included from b.itp:1, from a.top:2";
    assert!(message.starts_with(expected), "{message}");
    let deep: Vec<(String, String)> =
        (0..100).map(|level| (format!("{level}.itp"), format!("#include \"{}.itp\"\n", level + 1))).collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let message = read(&deep, &[], &[]).expect_err("too deep");
    assert!(message.contains("files include each other more than 64 levels deep"), "{message}");
    let (twice, many) = ("#include \"1.itp\"\n".repeat(120), "#include \"2.itp\"\n".repeat(120));
    let message = read(&[("0.top", &twice), ("1.itp", &many), ("2.itp", ";\n")], &[], &[]).expect_err("too many");
    assert!(message.contains("more than 10000 files are included"), "{message}");
    let message =
        read(&[("a.top", "#define A B\n#define B A\n[ defaults ]\n1 A yes\n")], &[], &[]).expect_err("endless");
    assert!(message.starts_with("a.top:4: the text of macro A contains the macro itself: A -> B -> A"), "{message}");
    // nested macros with a finite expansion of half a megabyte
    let doubling: String = (0..14).map(|level| format!("#define M{level} M{} M{}\n", level + 1, level + 1)).collect();
    let long =
        format!("{doubling}#define M14 {}\n[ defaults ]\n1 2 yes\n[ system ]\n{}", "1".repeat(31), "M0\n".repeat(200));
    let message = read(&[("a.top", &long)], &[], &[]).expect_err("too much");
    assert!(message.contains("macros have made lines longer by more than 64 MiB"), "{message}");
}

#[test]
fn faults_of_the_preprocessor_are_named() {
    for (text, expected) in [
        ("[ defaults ]\n#ifdef A\n#endif\n#endif\n", "a.top:4: #endif without #ifdef"),
        ("#ifdef A\n#else\n#else\n#endif\n", "a.top:3: #else without #ifdef"),
        ("\n#ifndef A\n#ifdef B\n#endif\n", "a.top:2: #ifdef without #endif in the same file"),
        ("#ifdef\n#endif\n", "a.top:1: #ifdef without the name"),
        ("#define\n", "a.top:1: #define without the name"),
        ("#define f(x) x\n", "a.top:1: f(x) is not the name of a macro"),
        ("#include a.itp\n", "a.top:1: expected #include \"FILE\""),
        ("#include \"a.itp\n", "closed by \""),
        ("#ifdef A\n#if B\n#endif\n#endif\n", "a.top:2: #if is unknown"),
        ("#define A\n#pragma once\n", "a.top:2: #pragma is unknown"),
        ("#define A\natoms\n", "a.top:2: `atoms` is before the first heading"),
        ("[ defaults ]\n1 2 \\\n#ifdef A\nyes\n#endif\n", "a preprocessor command stands between the lines"),
        ("# define A B\natoms\n", "a.top:2: `atoms` is before the first heading"),
        ("; nothing\n", "unknown format of a topology file"),
    ] {
        let message = read(&[("a.top", text)], &[], &[]).expect_err(text);
        assert!(message.contains(expected), "{expected} is not in {message}");
    }
}

#[test]
fn faults_of_the_force_field_are_named() {
    let defaults = "1 2 yes 0.5 0.8333\n";
    refused(defaults, "2 2 yes\n", &[&line(TOP, "1 2 yes"), "Buckingham"]);
    refused(defaults, "1 4 yes\n", &["combination rule 4 is not 1, 2 or 3"]);
    refused(defaults, "1 2 yes 0.5 0.8 10\n", &["repulsion power"]);
    refused(defaults, "1 2 yes\n1 2 yes\n", &["second line of [ defaults ]"]);
    refused(&format!("[ defaults ]\n{defaults}"), "", &["no [ defaults ] before this"]);
    refused(defaults, "1 2 no\n", &[&line(TOP, "1 4 1"), "[ pairtypes ] has no types CT and CT, and gen-pairs is no"]);
    refused("HW      1.008 0.0 A 0.0 0.0", "HW 1.008 0.0 S 0.0 0.0", &["particle type S"]);
    refused("HW      1.008 0.0 A 0.0 0.0", "HW 1.008 0.0 A 0.0", &["the line ends, but C12 or epsilon is expected"]);
    refused("HW      1.008 0.0 A 0.0 0.0", "HW 1.008 0.0 A 0.0 0.0 1", &["`1` is not expected in this line"]);
    refused("HW      1.008 0.0 A 0.0 0.0", "HW 1.008", &["expected name, bonded type"]);
    refused("HW      1.008 0.0 A 0.0 0.0", "HW 1.008 0.0 A 0.3 -0.2", &["negative"]);
    refused("CT CT 1 bond_ca", "CT CX 1 bond_ca", &["no atom type has the bonded type `CX`"]);
    refused("CT CT 1 bond_ca", "CT CT 1 bond_cb 2", &["found `bond_cb`", "its #define is missing"]);
    refused(
        "CT CT 1 bond_ca",
        "CT CT 7 bond_ca",
        &["function type `7` of bonds is not supported", "md supports 1, 2, 5, 6"],
    );
    refused("X CT CT X 9 0.0 0.65 3", "X CT CT X 9 0.0 0.65 2.5", &[&line(TOP, "1 2 3 4 9"), "multiplicity 2.5"]);
    refused("X CT CT X 9 0.0 0.65 3", "X CT CT X 9 0.0 0.65 12", &["multiplicity 12 is not a whole number up to 7"]);
    let twice = "X CT CT X 9 0.0 0.65 3\nX HW HW X 9 0.0 0.65 3\nX CT CT X 9 0.0 1.65 3";
    refused("X CT CT X 9 0.0 0.65 3", twice, &["two blocks of function type 9"]);
    refused("[ dihedraltypes ]", "[ dihedral_types ]\n[ dihedraltype ]", &["did you mean [ dihedraltypes ]?"]);
    refused("[ dihedraltypes ]", "[ cmaptypes ]\nCT CT CT CT CT 1 24 12 1\n[ dihedraltypes ]", &["24 by 12"]);
    refused(
        "[ dihedraltypes ]",
        "[ cmaptypes ]\nCT CT CT CT CT 1 4 4 1 2\n[ dihedraltypes ]",
        &["an energy of the map"],
    );
}

#[test]
fn faults_of_molecule_types_are_named() {
    refused("4 CT 1 BUT C4", "5 CT 1 BUT C4", &["atom 5 follows atom 3"]);
    refused("4 CT 1 BUT C4", "4 CX 1 BUT C4", &["there is no atom type `CX`"]);
    refused("C4 1 -0.1", "C4 1 -0.1 12.0 CT -0.2 12.0", &["states A and B differ", "free-energy"]);
    refused("3 4 1 0.152 3e5", "3 5 1 0.152 3e5", &[&line(TOP, "0.152"), "atom 5 is not between 1 and 4"]);
    refused("3 4 1 0.152 3e5", "3 3 1 0.152 3e5", &["the line names atom 3 twice"]);
    refused("3 4 1 0.152 3e5", "3 4 1 0.152", &["1 parameters follow the function type, expected 2"]);
    refused("3 4 1 0.152 3e5", "3 4 1 0.152 3e5 0.152 2e5", &["states A and B differ"]);
    refused("3 4 1 0.152 3e5", "3 4 3 0.152 3e5 2", &["function type `3` of bonds"]);
    refused("1 2 3 1 109.5 400", "1 2 3 1", &["the force field has none for these types of atoms"]);
    refused("1 2 3 1 109.5 400", "1 2 3 8 1 2", &["function type `8` of angles"]);
    refused("3 4 1 0.152 3e5", "3 4 10 0.1 0.2 0.3 500", &[&line(TOP, "0.152"), "function type `10` of bonds"]);
    refused("1 2 3 4 9", "1 2 3 4 8", &["function type `8` of dihedrals"]);
    refused("1 4 1\n", "1 4 3\n", &["function type `3` of pairs"]);
    refused("1 1 0.09572", "2 1 0.09572", &["two hydrogens must follow the oxygen"]);
    refused("[ settles ]", "[ polarization ]", &["polarisable"]);
    refused("2 HW 1 SOL HW1 1 0.417 1.008", "2 HW 1 SOL HW1 1 0.417 0.0", &["particle without mass, atom 2 (HW1)"]);
    refused("[ exclusions ]", "[ virtual_sites2 ]\n3 1 2 1 0.5\n[ exclusions ]", &["virtual site with a mass: atom 3"]);
    refused("[ exclusions ]", "[ virtual_sites3 ]\n3 1 2 1 0.5\n[ exclusions ]", &["the line names atom"]);
    refused(
        "[ exclusions ]",
        "[ virtual_sites2 ]\n3 1 2 1\n[ exclusions ]",
        &["parameters of the virtual site are missing"],
    );
    refused("[ exclusions ]", "[ virtual_sitesn ]\n3 4 1 2\n[ exclusions ]", &["function type `4` of virtual_sitesn"]);
    let (last, site) =
        ("4 CT 1 BUT C4 1 -0.1\n", "5 HW 1 BUT M 1 0.0 0.0\n[ virtual_sites4 ]\n5 1 2 3 4 1 0.1 0.1 0.1\n");
    refused(last, &format!("{last}{site}"), &["a.top:27: function type `1` of virtual_sites4", "md supports 2 (4fdn"]);
    refused("SOL 2\n\n[ atoms ]", "SOL -2\n\n[ atoms ]", &["nrexcl is -2"]);
    refused("SOL 2\n\n[ atoms ]", "BUT 2\n\n[ atoms ]", &["two molecule types have the name BUT"]);
    refused("SOL 2\n\n[ atoms ]", "SOL 2\nSOL 2\n[ atoms ]", &["[ moleculetype ] has more than one line"]);
    refused("[ moleculetype ]\nBUT 3\n", "", &["there is no [ moleculetype ] before this"]);
    refused(
        "[ moleculetype ]\nSOL",
        "[ atomtypes ]\nX 1 0 A 0 0\n[ moleculetype ]\nSOL",
        &["[ atomtypes ] comes too late in the topology"],
    );
    refused("[ pairs ]\n1 4 1", "[ cmap ]\n1 2 3 4 1 1", &["the line names atom 1 twice"]);
}

#[test]
fn faults_of_the_system_are_named() {
    refused("BUT 1\nSOL 2\n", "BUT 1\nSOK 2\n", &["there is no [ moleculetype ] `SOK` (did you mean SOL?)"]);
    refused("BUT 1\nSOL 2\n", "BUT 1\nSOL -2\n", &["-2 molecules"]);
    refused("BUT 1\nSOL 2\n", "BUT 999999999\nSOL 999999999\n", &["more than 33554432 atoms"]);
    for number in ["2000000000", "99999999999999999999"] {
        let expected = format!("a number of molecules: expected a whole number of up to nine digits, found `{number}`");
        refused("BUT 1\nSOL 2\n", &format!("BUT 1\nSOL {number}\n"), &[&expected]);
    }
    refused("BUT 1\nSOL 2\n", "", &["the topology has no atoms"]);
    refused(
        "butane in water\n\n[ mol",
        "butane in water\n[ pairs ]\n[ mol",
        &["[ pairs ] comes too late in the topology"],
    );
}

fn coordinates(name: &str, text: &str) -> Result<Coordinates, String> {
    let (_folder, path) = crate::literal::file(name, text.as_bytes());
    read_coordinates(&path, None, None).map_err(|error| message(&error, &path))
}

fn message(error: &Error, path: &Path) -> String {
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string().replace(&format!("{}/", PathBuf::from(path).parent().unwrap().display()), "")
}

#[test]
fn gro_of_any_precision() {
    let found = coordinates("a.gro", GRO).unwrap();
    assert_eq!((found.positions.len(), found.time), (10, Some(1.5)));
    assert_eq!(found.positions[4], vec3(1.0, 1.0, 1.0));
    assert_eq!(found.velocities.as_ref().unwrap()[4], vec3(0.5, -0.5, 0.25));
    assert_eq!(found.cell.unwrap().volume(), 2.0 * 2.1 * 2.2);
    for decimals in [1, 3, 6, 10] {
        let width = decimals + 5;
        let atom = |x: f64, v: f64| {
            let label = "    1SOL     OW    1";
            format!(
                "{label}{x:width$.decimals$}{x:width$.decimals$}{x:width$.decimals$}{v:width$.*}{v:width$.*}{v:width$.*}\r\n",
                decimals + 1,
                decimals + 1,
                decimals + 1
            )
        };
        let text = format!("t\r\n 2\r\n{}{}0 0 0\r\n\n", atom(-12.5, 0.5), atom(0.5, -0.25));
        let found = coordinates("a.gro", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.positions, [vec3(-12.5, -12.5, -12.5), vec3(0.5, 0.5, 0.5)], "{decimals}");
        assert_eq!(found.velocities.unwrap()[1], vec3(-0.25, -0.25, -0.25));
        assert_eq!((found.cell, found.time), (None, None));
    }
    let box_of_nine = "2.0 1.9 1.8 0 0 1.0 0 -1.0 0.5\n";
    let triclinic = coordinates("a.gro", &GRO.replace("   2.00000   2.10000   2.20000\n", box_of_nine)).unwrap();
    assert_eq!(triclinic.cell.unwrap().rows(), [vec3(2.0, 0.0, 0.0), vec3(1.0, 1.9, 0.0), vec3(-1.0, 0.5, 1.8)]);
}

#[test]
fn faults_of_gro_files_are_named() {
    for (old, new, expected) in [
        ("   10\n", "   11\n", "a.gro:13: the line of the box is missing"),
        ("   10\n", "   20\n", "a.gro:13: expected 20 lines of atoms and the box, found 11"),
        ("   10\n", "    9\n", "a.gro:13: the file continues after the box"),
        (
            "   1.096   1.000",
            "   1.096   1,000",
            "a.gro:8: number 2 of the atom: expected a number in 8 columns, found `1,000`",
        ),
        (
            "  0.5000 -0.5000  0.2500\n",
            "\n",
            "a.gro:7: number 4 of the atom: expected a number in 8 columns, found nothing",
        ),
        ("  0.5000 -0.5000  0.2500\n", "  0.5000 -0.5000  0.2500  1.0\n", "a.gro:7: the atom has more than 6 numbers"),
        (
            "   0.100   0.200   0.300  0.0100",
            "   0.100  0.2000   0.300  0.0100",
            "a.gro:3: expected x, y and z after column 20",
        ),
        ("   2.00000   2.10000   2.20000\n", "   2.00000   2.10000\n", "a.gro:13: expected the box, 3 or 9 numbers"),
        (
            "   2.00000   2.10000   2.20000\n",
            "  -2.00000   2.10000   2.20000\n",
            "a.gro:13: [-2.0, 2.1, 2.2] do not form a box",
        ),
        ("   2.00000   2.10000   2.20000\n", "2 2 2 1 0 0 0 0 0\n", "do not form a box"),
    ] {
        let message = coordinates("a.gro", &crate::literal::replaced(GRO, old, new)).expect_err(new);
        assert!(message.contains(expected), "{expected} is not in {message}");
    }
}

#[test]
fn g96_keeps_its_decimals() {
    let found = coordinates("a.g96", G96).unwrap();
    assert_eq!(found.positions, [vec3(1.000000001, -2.000000002, 3.000000003), vec3(100.0, -1000.0, 0.5)]);
    assert_eq!(found.velocities.unwrap()[1], vec3(0.0, 0.0, -0.5));
    assert_eq!((found.title.as_str(), found.time), ("two atoms", Some(0.02)));
    assert_eq!(found.cell.unwrap().rows(), [vec3(3.0, 0.0, 0.0), vec3(1.0, 2.9, 0.0), vec3(-1.0, 0.5, 2.8)]);
    let cut = |row: &str| format!("{}\n", row.get(24..).filter(|_| row.len() == 69).unwrap_or(row));
    let reduced = G96.lines().map(cut).collect::<String>();
    let reduced = reduced.replace("POSITION", "POSITIONRED").replace("VELOCITY", "VELOCITYRED");
    let reduced = coordinates("a.g96", &reduced).unwrap();
    assert_eq!((reduced.positions[1], reduced.labels), (vec3(100.0, -1000.0, 0.5), vec![]));
    let labels = found.labels.iter().map(|label| (label.name.as_str(), label.residue.as_str(), label.number));
    assert!(labels.eq([("OW", "SOL", 1), ("HW1", "SOL", 1)]));
    for (old, new, expected) in [
        ("BOX\n", "GENBOX\n", "the block `GENBOX` is unknown"),
        ("BOX\n", "VELOCITY\n", "a second block `VELOCITY`"),
        ("-1000.000000000    0.500000000\nEND", "-1000.000000000    0.500000000", "columns 25 to 39"),
        ("0.020000\nEND", "0.020000\n", "a.g96:4: expected numbers in this block"),
        ("    0.100000000    0.200000000    0.300000000\n", "    0.1\n", "a.g96:13: number 1 of the atom"),
        (
            "    1 SOL   OW         1    0.100000000    0.200000000    0.300000000\n",
            "",
            "2 positions, but 1 velocities",
        ),
        ("   -1.000000000    0.500000000\nEND\n", "", "the block `BOX` has no END"),
    ] {
        let message = coordinates("a.g96", &crate::literal::replaced(G96, old, new)).expect_err(new);
        assert!(message.contains(expected), "{expected} is not in {message}");
    }
}
