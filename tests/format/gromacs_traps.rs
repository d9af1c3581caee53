//! Tests of rules that GROMACS topologies leave implicit and that a reader may misinterpret.

use md::config::Config;
use md::format::{TopologyOptions, read_topology_with};
use md::prepare::ConstrainedTerms;

use crate::gromacs_text::{GRO, TOP, good, read, refused};

/// Tests the rule of `pdb2gmx` topologies, which list their 1-4 pairs: bonds alone create exclusions, but no 1-4 pairs.
#[test]
fn pairs_are_those_listed() {
    let text = crate::literal::replaced(TOP, "[ pairs ]\n1 4 1\n", "");
    let (with, without) = (good(TOP, &[]), good(&text, &[]));
    assert_eq!((with.bonded.pairs14.len(), without.bonded.pairs14.len()), (1, 0));
    assert_eq!(with.exclusions, without.exclusions);
}

/// Tests that several molecule types may have `[ settles ]`, also with different lengths.
#[test]
fn every_kind_of_water_is_rigid() {
    let (before, water) = TOP.split_once("[ moleculetype ]\nSOL").unwrap();
    let (water, system) = water.split_once("[ system ]").unwrap();
    let other = water.replace("1 1 0.09572 0.15139", "1 1 0.1 0.1633");
    let text = format!(
        "{before}[ moleculetype ]\nSOL{water}[ moleculetype ]\nSPC{other}[ system ]{}",
        system.replace("SOL 2\n", "SOL 1\nSPC 1\n")
    );
    let lengths: Vec<f64> = good(&text, &[]).constraints.iter().map(|constraint| constraint.length).collect();
    assert_eq!(lengths, [0.09572, 0.09572, 0.15139, 0.1, 0.1, 0.1633]);
}

/// Tests the exclusions of `[ settles ]`, from which `generate_excl` of grompp derives only one bond: between the first
/// two atoms.
#[test]
fn a_rigid_water_excludes_its_pairs_by_a_list() {
    refused("[ exclusions ]\n1 2 3\n2 3\n", "", &["atoms 1 and 3 of a rigid water interact", "in [ exclusions ]"]);
}

/// Tests a bond of function type 6, which is not a chemical bond: it creates no exclusions, joins no molecules, and is
/// never replaced by a constraint.
#[test]
fn harmonic_distances_are_no_bonds() {
    let topology = good(&crate::literal::replaced(TOP, "3 4 1 0.152 3e5", "3 4 6 0.152 3e5"), &[]);
    assert_eq!((topology.bonded.bonds.len(), topology.bonded.distances.len()), (2, 1));
    assert_eq!(topology.bonded.distances[0].atoms, [2, 3]);
    assert_eq!(topology.connectivity.len(), 2 + 4);
    assert_eq!(topology.exclusions.len(), 3 + 2 * 3);
}

/// Tests a damaged number of molecules, which costs neither time nor memory, because the reader only compares this
/// number with the coordinates.
#[test]
fn molecules_are_as_many_as_the_coordinates_hold() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("a.gro"), GRO).unwrap();
    let input = "[system]\ntopology = \"a.top\"\ncoordinates = \"a.gro\"\n[forces]\ncutoff = \"0.5 nm\"\nlj_modifier = \"none\"\n";
    let plan = Config::parse(input, &place("input.toml"), &[]).unwrap().plan;
    let load = |molecules: &str| {
        std::fs::write(place("a.top"), crate::literal::replaced(TOP, "BUT 1\nSOL 2\n", &format!("BUT 1\n{molecules}")))
            .unwrap();
        let loaded = md::run::load(&plan, ConstrainedTerms::Keep);
        loaded.map(|prepared| prepared.system.topology.atoms.len()).map_err(|error| error.to_string())
    };
    for (molecules, expected) in [
        ("SOL 11000000\n", "a.top: [ molecules ] lists 33000004 atoms, but the coordinates have 10"),
        ("SOL 1\n", "a.top: [ molecules ] lists 7 atoms, but the coordinates have 10"),
        ("SOL 12000000\n", "lists more than 33554432 atoms"),
    ] {
        let message = load(molecules).expect_err(molecules);
        assert!(message.contains(expected), "{message}");
    }
    std::fs::write(place("a.top"), TOP).unwrap();
    let read = |atoms| read_topology_with(&place("a.top"), &TopologyOptions { atoms, ..TopologyOptions::default() });
    assert_eq!([None, Some(9), Some(10)].map(|atoms| read(atoms).is_ok()), [true, false, true]);
}

/// Both function types of proper dihedrals use all lines of a block of `[ dihedraltypes ]`, as grompp does.
#[test]
fn dihedrals_have_all_terms_of_a_block() {
    let rows = "X CT CT X 9 0.0 0.65 3";
    let two = format!("{rows}\nX CT CT X 9 0.0 0.5 1");
    // grompp leaves out a line that repeats an earlier line of its block
    for block in [&two, &format!("{two}\n{rows}")] {
        for function in ["9", "1"] {
            let text = TOP.replace(rows, block).replace("1 2 3 4 9", &format!("1 2 3 4 {function}"));
            let topology = good(&text, &[]);
            let terms: Vec<(f64, u8)> =
                topology.bonded.propers.iter().map(|term| (term.force_constant, term.periodicity)).collect();
            assert_eq!(terms, [(0.65, 3), (0.5, 1)], "function type {function}");
        }
    }
    // lines of a block have the types in the same order
    let message = "two blocks of function type 9";
    refused(rows, "X CT HW X 9 0.0 0.65 3\nX HW CT X 9 0.0 0.5 1", &[message]);
}

/// cos(−nφ − φ₀) is cos(nφ + φ₀): GROMACS computes the potential with a negative multiplicity. Letters of particle
/// types may be small.
#[test]
fn multiplicities_may_be_negative_and_particle_types_small() {
    let text = crate::literal::replaced(TOP, "X CT CT X 9 0.0 0.65 3", "X CT CT X 9 30.0 0.65 -3");
    let text = crate::literal::replaced(&text, "HW      1.008 0.0 A 0.0 0.0", "HW 1.008 0.0 a 0.0 0.0");
    let term = good(&text, &[]).bonded.propers[0];
    assert_eq!((term.periodicity, term.phase), (3, -30f64.to_radians()));
}

/// A pair of function type 2 without parameters has no Lennard-Jones interaction in GROMACS: `gmx dump` of version
/// 2022.5 shows c6 = c12 = 0.
#[test]
fn pairs_of_type_two_without_parameters_have_charges_only() {
    let text = crate::literal::replaced(TOP, "[ pairs ]\n1 4 1\n", "[ pairs ]\n1 4 2\n");
    let [with, without] = [TOP, &text].map(|text| good(text, &[]).bonded.pairs14[0]);
    assert_eq!((without.c6, without.c12, without.charge_product), (0.0, 0.0, with.charge_product));
    assert!(with.c6 > 0.0);
}

/// GROMACS looks a correction map up by its types, and ignores a number after the function type.
#[test]
fn numbers_of_correction_maps_are_those_of_their_types() {
    let map = |first: f64| {
        let energies: Vec<String> = (0..16).map(|k| (first + f64::from(k)).to_string()).collect();
        format!("CT CT CT CT CT 1 4 4 {}\n", energies.join(" "))
    };
    let types = format!("[ cmaptypes ]\n{}[ dihedraltypes ]", map(0.0));
    let text = TOP
        .replace("[ dihedraltypes ]", &types)
        .replace("4 CT 1 BUT C4 1 -0.1", "4 CT 1 BUT C4 1 -0.1\n5 CT 1 BUT C5 1 0");
    let with = |line: &str| text.replace("[ pairs ]", &format!("[ cmap ]\n{line}\n[ pairs ]"));
    let found = good(&with("1 2 3 4 5 1"), &[]).bonded.cmaps;
    assert_eq!(good(&with("1 2 3 4 5 1 1"), &[]).bonded.cmaps, found);
    let message = read(&[("a.top", &with("1 2 3 4 5 1 2"))], &[], &[]).unwrap_err();
    assert!(message.contains("row 2 of [ cmaptypes ] is given, but the atom types select row 1"), "{message}");
}
