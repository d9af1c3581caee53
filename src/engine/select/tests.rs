//! Tests of the selection language.

use proptest::prelude::*;

use super::*;
use crate::system::{Atom, ChainLabel, Name, Residue};
use crate::vec3::vec3;

/// Returns a topology with the residues ALA 1 (atoms N H CA C O), LIG 7 (atom CA, a calcium), and two waters 8 and 9.
fn topology() -> Topology {
    let mut topology = Topology::default();
    let water = vec![("O", 8), ("H1", 1), ("H2", 1)];
    let residues = [
        ("ALA", 1, vec![("N", 7), ("H", 1), ("CA", 6), ("C", 6), ("O", 8)]),
        ("LIG", 7, vec![("CA", 20)]),
        ("WAT", 8, water.clone()),
        ("WAT", 9, water),
    ];
    for (residue, (name, number, atoms)) in (0u32..).zip(residues) {
        let first = topology.atoms.len() as u32;
        topology.residues.push(Residue { name: Name::new(name), number, first });
        topology.atoms.extend(atoms.iter().map(|&(name, element)| Atom {
            name: Name::new(name),
            type_name: Name::default(),
            element,
            mass: 1.0,
            charge: 0.0,
            lj_type: 0,
            residue,
        }));
    }
    topology
}

#[test]
fn words_choose_atoms() {
    for (text, expected) in [
        ("all", (0..12).collect::<Vec<u32>>()),
        ("protein", vec![0, 1, 2, 3, 4]),
        ("backbone", vec![0, 2, 3, 4]),
        ("water and not hydrogen", vec![6, 9]),
        ("ION or lipid or nucleic or water", (6..12).collect()),
        ("name CA", vec![2, 5]),
        ("NAME CA AND element Ca", vec![5]),
        ("protein and name CA C", vec![2, 3]),
        ("resname LIG or resid 9", vec![5, 9, 10, 11]),
        ("index 0-2 11", vec![0, 1, 2, 11]),
        ("resid -5-7 and heavy", vec![0, 2, 3, 4, 5]),
        ("index 9-11 0-5 2 3-4 11 7 0", vec![0, 1, 2, 3, 4, 5, 7, 9, 10, 11]),
        // `and` has a higher precedence than `or`
        ("name CA or water and name O", vec![2, 5, 6, 9]),
        ("(name CA or water)and name O", vec![6, 9]),
        ("not not (protein)", vec![0, 1, 2, 3, 4]),
    ] {
        assert_eq!(select(&topology(), text).unwrap(), expected, "{text}");
    }
}

#[test]
fn long_lists_choose_what_short_ones_do() {
    let names = "X ".repeat(300_000) + "CA";
    assert_eq!(select(&topology(), &format!("name {names}")).unwrap(), [2, 5]);
    let numbers: Vec<String> = (0..300_000).map(|k| (k % 3).to_string()).collect();
    assert_eq!(select(&topology(), &format!("index {}", numbers.join(" "))).unwrap(), [0, 1, 2]);
}

#[test]
fn mistakes_are_named() {
    for (text, expected) in [
        ("", "ends where a selection"),
        ("protein and", "ends where a selection"),
        ("protien", "\"protien\" is not a selection keyword"),
        ("name", "\"name\" needs at least one value"),
        ("name and protein", "\"name\" needs at least one value"),
        ("(protein", "not closed"),
        ("protein)", "but found \")\""),
        ("protein water", "but found \"water\""),
        ("resid x", "\"x\" is neither"),
        ("resid 9-7", "9-7 ends before it begins"),
        ("index 3 5-12", "index 5 to 12 is out of range: atoms are numbered 0 to 11"),
        ("index -1", "index -1 to -1 is out of range"),
        ("resid 3-", "\"3-\" is neither"),
        ("resid é", "\"é\" is neither"),
        ("resid 99999999999999999999", "is neither"),
        ("name ca", "no atom is selected"),
    ] {
        let problem = select(&topology(), text).unwrap_err().to_string();
        assert!(problem.contains(expected), "{text}: {problem}");
    }
    let mut large = topology();
    large.atoms = vec![large.atoms[0]; 1 << 20];
    let parts = "not all or ".repeat(3000) + "all";
    let problem = select(&large, &parts).unwrap_err().to_string();
    assert!(problem.contains("a selection from 1048576 atoms can have at most 2048 parts"), "{}", &problem[..100]);
    let deep = "(".repeat(1_000_000);
    let message = select(&topology(), &deep).unwrap_err().message;
    assert!(message.contains("((…\": more than 100 levels") && message.len() < 1000, "{message}");
}

/// Returns [`topology`] with bonds, masses, charges, types and chains: A for ALA and LIG, B for the waters.
fn described() -> Topology {
    let mut topology = topology();
    topology.connectivity = vec![[0, 1], [0, 2], [2, 3], [3, 4], [6, 7], [6, 8], [9, 10], [9, 11]];
    for (atom, index) in topology.atoms.iter_mut().zip(0u32..) {
        (atom.mass, atom.charge) = (f64::from(index) + 0.5, 0.1 * f64::from(index) - 0.5);
        atom.type_name = Name::new(if index == 5 { "C*" } else { "C1" });
    }
    let label =
        |chain, segment| ChainLabel { chain: Name::new(chain), segment: Name::new(segment), insertion_code: None };
    topology.chain_labels = vec![label("A", "PROT"), label("A", "PROT"), label("B", "WAT1"), label("B", "WAT2")];
    topology
}

#[test]
fn properties_and_symbols_choose_atoms() {
    for (text, expected) in [
        ("name C*", vec![2, 3, 5]),
        ("name C?", vec![2, 5]),
        ("name H?", vec![7, 8, 10, 11]),
        ("name \"C*\" CA", vec![2, 5]),
        // an atom has the type `C*`, so that `C*` is not used as a pattern
        ("type C*", vec![5]),
        ("type C?", (0..12).collect()),
        ("resid 7:8", vec![5, 6, 7, 8]),
        ("resid 7 to 8 1 and heavy", vec![0, 2, 3, 4, 5, 6]),
        ("resid >= 8 && ! hydrogen", vec![6, 9]),
        ("index<2||index==4", vec![0, 1, 4]),
        ("index != 3 & index < 5 | name X 'LIG' O and water", vec![0, 1, 2, 4, 6, 9]),
        ("mass>1.5 and mass <= 3.5", vec![2, 3]),
        ("charge <= -0.45", vec![0]),
        // the charge of this atom is stored as -0.19999999999999996
        ("charge == -0.2", vec![3]),
        ("charge > -0.2 and charge < 0", vec![4]),
        ("chain A", (0..6).collect()),
        ("segid WAT?", (6..12).collect()),
        ("segid WAT2 PROT and not chain B", (0..6).collect()),
        ("molecule 0", (0..5).collect()),
        ("molecule 1-2", (5..9).collect()),
        ("molecule > 1", (6..12).collect()),
        // ALA of this topology has no side chain
        ("sidechain or name N", vec![0]),
        ("byres name CA", (0..6).collect()),
        ("same residue as index 7", vec![6, 7, 8]),
        ("same molecule as index 7 11", (6..12).collect()),
        ("same chain as resname LIG", (0..6).collect()),
        ("bonded to name CA", vec![0, 3]),
        ("heavy and bonded to (name N or water)", vec![2, 6, 9]),
        ("(byres index 7) and name O", vec![6]),
        ("not byres index 7", vec![0, 1, 2, 3, 4, 5, 9, 10, 11]),
        ("byres byres index 7", vec![6, 7, 8]),
    ] {
        assert_eq!(select(&described(), text).unwrap(), expected, "{text}");
    }
}

#[test]
fn side_chains_have_neither_backbone_nor_caps() {
    let mut topology = topology();
    let names = ["N", "HA", "CB", "HB1", "OXT"];
    topology.atoms.iter_mut().zip(names).for_each(|(atom, name)| atom.name = Name::new(name));
    assert_eq!(select(&topology, "sidechain").unwrap(), [2, 3]);
    topology.residues[0].name = Name::new("NME");
    assert!(select(&topology, "sidechain").is_err() && select(&topology, "protein").is_ok());
}

#[test]
fn foreign_and_ambiguous_spellings_are_refused_with_their_meanings() {
    for (text, expected) in [
        ("around 5 protein", "(\"around 5\" has no unit), because distances are in angstrom in MDAnalysis"),
        (
            "within 5 of protein",
            "in angstrom in VMD, but in nm in GROMACS: write \"within 5 A of\" or \"within 5 nm of\"",
        ),
        ("exwithin 5 of protein", "write \"around 5 A of\""),
        ("residue 5", "counts residues from 0 in VMD and from 1 in GROMACS"),
        ("name CA residue 5", "counts residues from 0 in VMD and from 1 in GROMACS"),
        ("resSeq 5", "write \"resid\""),
        ("serial 5", "write \"index\", which counts from 0"),
        ("solvent", "solvent is water in PyMOL"),
        (":1-10@CA", "write \":1-10\" as \"resid 1-10\""),
        ("byres name CA and protein", "either \"byres (A and B)\" or \"(byres A) and B\""),
        ("protein and byres (name CA) or water", "either \"byres (A or B)\" or \"(byres A) or B\""),
        (
            "protien and name CA",
            "\">>protien<< and name CA\": \"protien\" is not a selection keyword; did you mean \"protein\"?",
        ),
        ("protein or (nmae CA)", "\"protein or (>>nmae<< CA)\""),
        ("name CA and and name CB", "expected a selection, found the keyword \"and\""),
        ("protein an name CA", "but found \"an\"; \"an\" is not a selection keyword; did you mean \"and\"?"),
        ("around 5 kcal of protein", "a distance needs a unit"),
        ("around 5kcal of protein", "\"kcal\" is not a unit of length"),
        ("around 5 A protein", "expected \"of\" next, for example \"around 0.5 nm of protein\""),
        ("around x of protein", "\"x\" is not a distance"),
        ("within 0 nm of protein", "a distance must be positive"),
        ("within", "expected a distance"),
        ("mass 12", "\"mass\" needs one of"),
        ("mass = 12", "write == for equal"),
        ("mass > x", "expected a number after \">\""),
        ("mass >", "expected a number after \">\""),
        ("name == CA", "write the values after the keyword"),
        ("same as", "expected \"same residue as\""),
        ("same fragment as", "write \"same molecule as\""),
        ("same residue", "expected \"as\" next"),
        ("bonded name CA", "expected \"to\" next"),
        ("name \"CA", "the quotation mark is not closed"),
        ("\"CA\"", "expected a keyword before the text in quotes"),
        ("resid 5 to 3", "the range 5 to 3 ends before it begins"),
        ("resid 5 to", "\"to\" is neither"),
        ("chain A", "states no chains"),
        ("segid A", "states no segments"),
        ("same chain as all", "states no chains"),
        ("charge < 0", "all charges are zero or unknown"),
        ("type C", "states no force-field types"),
        ("molecule 0", "states no bonds"),
        ("bonded to all", "states no bonds"),
        ("around 5 A of protein", "a distance needs positions"),
        ("&", "expected a selection, but found \"&\""),
    ] {
        let problem = select(&topology(), text).unwrap_err().to_string();
        assert!(problem.contains(expected), "{text}: {problem}");
    }
    let problem = select(&described(), "molecule 1-4").unwrap_err().to_string();
    assert!(problem.contains("molecule 1 to 4 is out of range: molecules are numbered 0 to 3"), "{problem}");
}

/// Positions along x: the atoms of ALA 0.1 nm apart, LIG at 0.95 nm, and the waters at 1.2 and 1.9 nm.
fn positions() -> Vec<Vec3> {
    let x = [0.0, 0.1, 0.2, 0.3, 0.4, 0.95, 1.2, 1.25, 1.15, 1.9, 1.95, 1.85];
    x.map(|x| vec3(x, 0.0, 0.0)).to_vec()
}

#[test]
fn distances_are_those_of_the_nearest_images() {
    let cell = PeriodicCell::orthorhombic([2.0, 3.0, 3.0]);
    let positions = positions();
    let [vacuum, periodic] = [None, Some(&cell)].map(|cell| Geometry { positions: &positions, cell });
    for (text, geometry, expected) in [
        ("around 0.26 nm of resname LIG", vacuum, vec![6, 8]),
        ("within 2.6 A of resname LIG", vacuum, vec![5, 6, 8]),
        ("within 2.6angstrom of resname LIG", vacuum, vec![5, 6, 8]),
        ("within 2.6 Å of resname LIG", vacuum, vec![5, 6, 8]),
        ("byres around 0.26nm of resname LIG", vacuum, vec![6, 7, 8]),
        ("water and within 0.16 nm of index 0", periodic, vec![9, 10, 11]),
        ("not within 0.56 nm of protein", vacuum, vec![6, 7, 8, 9, 10, 11]),
        ("around 0.06 nm of index 9", periodic, vec![10, 11]),
        ("around 900 nm of index 9", periodic, [(0..9).collect(), vec![10, 11]].concat()),
    ] {
        assert_eq!(select_at(&described(), geometry, text).unwrap(), expected, "{text}");
    }
    assert!(select_at(&described(), vacuum, "water and within 0.16 nm of index 0").is_err());
}

#[test]
fn fixed_selections_need_no_positions() {
    let positions = positions();
    let geometry = Geometry { positions: &positions, cell: None };
    let mut topology = described();
    let text = "around 0.26 nm of resname LIG";
    fix(&mut topology, geometry, [text, "protein", "nonsense", text]).unwrap();
    assert_eq!(topology.fixed_selections.len(), 1);
    assert_eq!(select(&topology, text).unwrap(), [6, 8]);
    assert!(fix(&mut topology, geometry, ["around 1 A of index 9999"]).is_err());
}

proptest! {
    /// If molecules are moved by lattice vectors, selections keep the same atoms.
    #[test]
    fn lattice_shifts_of_molecules_change_no_selection(
        shifts in prop::collection::vec([-3i32..4, -3..4, -3..4], 4),
        distance in 0.05f64..2.0,
    ) {
        let cell = PeriodicCell::from_lengths_angles([1.5, 1.6, 1.7], [80.0, 70.0, 100.0]).unwrap();
        let topology = described();
        let (before, molecules) = (positions(), topology.molecules());
        let moved = before.iter().enumerate().map(|(atom, &r)| r + cell.shift(shifts[molecules.of_atom(atom)]));
        let after: Vec<Vec3> = moved.collect();
        for text in [format!("within {distance} nm of protein"), format!("byres within {distance} nm of index 10")] {
            let [first, second] = [&before, &after].map(|positions| {
                select_at(&topology, Geometry { positions, cell: Some(&cell) }, &text).unwrap()
            });
            prop_assert_eq!(first, second, "{}", text);
        }
    }
}
