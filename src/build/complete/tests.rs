//! Tests with ubiquitin without some of its atoms: the rebuilt atoms are compared with the crystal structure 1UBI.

use std::path::Path;

use md_engine::vec3::{Vec3, vec3};
use proptest::prelude::*;

use super::*;
use crate::entry::{Entry, EntryResidue, Options, SequencePosition, Subject, clean, parse, read, standard_residue};
use crate::geometry;
use crate::structure::{Structure, neighbours};

/// Largest deviation of a rebuilt bond length from the crystal structure, nm. Bond lengths deviate from the values of
/// Engh & Huber (1991) by up to 0.004 nm in ideal residues, and by 0.002 nm in the crystal structure.
const LENGTH: f64 = 0.006;
/// Largest deviation of a bond angle from the crystal structure, degrees: three times the standard deviation of
/// side-chain angles, which is up to 3 degrees (Engh & Huber, 1991).
const ANGLE: f64 = 9.0;
/// Atoms of the backbone, which these tests never remove.
const BACKBONE: [&str; 5] = ["N", "CA", "C", "O", "OXT"];

fn ubiquitin() -> Entry {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../inputs/ubiquitin/1ubi.pdb.xz");
    read(&path, None).unwrap()
}

/// Returns ubiquitin without the atoms for which `is_removed` is true. The arguments of `is_removed` are the index of
/// the residue and the name of the atom.
fn without(is_removed: impl Fn(usize, &str) -> bool) -> Cleaned {
    let mut entry = ubiquitin();
    for (index, residue) in entry.chains[0].residues.iter_mut().enumerate() {
        residue.atoms.retain(|atom| !is_removed(index, &atom.name));
    }
    entry.chains[0].residues.retain(|residue| !residue.atoms.is_empty());
    clean(&entry, &Options::default()).unwrap()
}

fn completed(is_removed: impl Fn(usize, &str) -> bool) -> Cleaned {
    let mut cleaned = without(is_removed);
    complete(&mut cleaned, Caps::None).unwrap_or_else(|problem| panic!("{problem:?}"));
    check(&cleaned);
    cleaned
}

/// Checks that the heavy atoms of standard residues are complete and bonded, that no bond is too long or too short, and
/// that no atoms without a bond between them clash.
fn check(cleaned: &Cleaned) {
    let Cleaned { structure, positions, .. } = cleaned;
    structure.check().unwrap();
    assert!(cleaned.missing_atoms.is_empty());
    assert_eq!([positions.len(), cleaned.residues.len()], [structure.atoms.len(), structure.residues.len()]);
    for (index, residue) in structure.residues.iter().enumerate() {
        let standard = standard_residue(&residue.name).unwrap();
        let is_there = |name: &str| structure.atom_named(index, name).is_some();
        let is_needed = |name: &&str| index > 0 || !matches!(*name, "P" | "OP1" | "OP2");
        assert!(standard.heavy_atoms().filter(is_needed).all(is_there), "{residue:?}");
        let is_bonded = |[a, b]: &[String; 2]| {
            let [a, b] = [a, b].map(|name| structure.atom_named(index, name).map(|atom| atom as u32));
            a.zip(b).is_none_or(|(a, b)| structure.bonds.contains(&[a, b]) || structure.bonds.contains(&[b, a]))
        };
        assert!(standard.bonds.iter().all(is_bonded), "{residue:?}");
    }
    let bonded = neighbours(structure.atoms.len(), &structure.bonds);
    let residues = structure.residue_of_atoms();
    for a in 0..positions.len() {
        let label = structure.residue_label(residues[a] as usize);
        for b in 0..a {
            let distance = (positions[a] - positions[b]).norm();
            if distance > 0.25 {
                continue;
            }
            let [u, v] = [a, b].map(|atom| &structure.atoms[atom].name);
            if bonded[a].contains(&(b as u32)) {
                // bonds of heavy atoms are 0.12 to 0.185 nm long, and 0.203 nm between sulfur atoms
                assert!((0.115..0.205).contains(&distance), "{u} {v} of {label}: {distance}");
            } else if !bonded[a].iter().any(|atom| bonded[b].contains(atom)) {
                assert!(distance > 0.2, "{u} {v} of {label}: {distance}");
            }
        }
    }
}

/// Compares bond lengths, angles and chirality in a rebuilt residue with the crystal structure.
fn compare(found: &Cleaned, crystal: &Cleaned, index: usize) {
    let names = standard_residue(&crystal.structure.residues[index].name).unwrap().heavy_atoms();
    let names: Vec<&str> = names.filter(|name| crystal.structure.atom_named(index, name).is_some()).collect();
    let label = crystal.structure.residue_label(index);
    let bonded = neighbours(crystal.structure.atoms.len(), &crystal.structure.bonds);
    let both = |name: &str| [found, crystal].map(|of| of.positions[of.structure.atom_named(index, name).unwrap()]);
    let name_of = |atom: &u32| crystal.structure.atoms[*atom as usize].name.as_str();
    for name in &names {
        let atom = crystal.structure.atom_named(index, name).unwrap();
        let around: Vec<&str> = bonded[atom].iter().map(name_of).filter(|other| names.contains(other)).collect();
        let around: Vec<&str> = if *name == "C" || *name == "N" { vec![] } else { around };
        let center = both(name);
        let toward = |name: &&str| [0, 1].map(|k| both(name)[k] - center[k]);
        let bonds: Vec<[Vec3; 2]> = around.iter().map(toward).collect();
        for (bond, other) in bonds.iter().zip(&around) {
            let lengths = bond.map(Vec3::norm);
            assert!((lengths[0] - lengths[1]).abs() < LENGTH, "{name}-{other} of {label}: {lengths:?}");
        }
        let pairs = (0..bonds.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        for (a, b) in pairs {
            let angles = [0, 1].map(|k| geometry::angle(bonds[a][k], Vec3::default(), bonds[b][k]).to_degrees());
            let atoms = format!("{}-{name}-{}", around[a], around[b]);
            assert!((angles[0] - angles[1]).abs() < ANGLE, "{atoms} of {label}: {angles:?}");
        }
        if let [a, b, c] = bonds[..] {
            let volume = |k: usize| geometry::unit(a[k]).dot(geometry::unit(b[k]).cross(geometry::unit(c[k])));
            // the triple product of unit vectors along three bonds is zero at planar atoms, and ±0.77 at tetrahedral
            // atoms
            assert!((volume(0) - volume(1)).abs() < 0.3, "{name} of {label}: {} {}", volume(0), volume(1));
        }
    }
}

#[test]
fn side_chains_have_the_geometry_of_the_crystal() {
    let crystal = without(|_, _| false);
    let mut kinds = std::collections::BTreeSet::new();
    for index in 0..76 {
        let name = &crystal.structure.residues[index].name;
        if name == "GLY" || !kinds.insert(name.clone()) {
            continue;
        }
        for kept in [&BACKBONE[..], &["N", "CA", "C", "O", "OXT", "CB"]] {
            let found = completed(|residue, atom| residue == index && !kept.contains(&atom));
            compare(&found, &crystal, index);
            let said = found.decisions.iter().filter(|decision| decision.subject == Subject::Completion);
            let said: Vec<String> = said.map(ToString::to_string).collect();
            let label = crystal.structure.residue_label(index);
            assert!(name == "ALA" || said[0].starts_with(&format!("{label}: rebuilt ")), "{said:?}");
        }
    }
    assert_eq!(kinds.len(), 17, "ubiquitin has no CYS and no TRP: {kinds:?}");
}

#[test]
fn oxygens_of_the_backbone_are_opposite() {
    let crystal = without(|_, _| false);
    let found = completed(|residue, atom| matches!(residue, 20 | 75) && atom == "O");
    for index in [20, 75] {
        let at = |of: &Cleaned, name: &str| of.positions[of.structure.atom_named(index, name).unwrap()];
        // the tolerance of 0.02 nm is the deviation that the largest angle ([`ANGLE`]) causes at a distance of 0.123 nm
        assert!((at(&found, "O") - at(&crystal, "O")).norm() < 0.02, "{index}");
    }
}

#[test]
fn a_hole_in_a_side_chain_is_closed() {
    let crystal = without(|_, _| false);
    let found = completed(|residue, atom| residue == 7 && atom == "CG");
    compare(&found, &crystal, 7);
    let moved = |name: &str| {
        let at = |of: &Cleaned| of.positions[of.structure.atom_named(7, name).unwrap()];
        (at(&found) - at(&crystal)).norm()
    };
    assert_eq!(["CB", "CD1", "CD2"].map(moved), [0.0; 3]);
    assert!(moved("CG") < 0.01, "{}", moved("CG"));
    // atoms of the side chain beyond a missing atom are also placed anew
    let found = completed(|residue, atom| residue == 5 && atom == "CG");
    assert!(found.decisions.iter().any(|said| said.to_string().contains("were placed again: CD, CE, NZ")));
    compare(&found, &crystal, 5);
}

#[test]
fn waters_in_the_way_are_removed() {
    let mut entry = ubiquitin();
    let chain = &mut entry.chains[0].residues;
    let place = |name: &str| chain[27].atoms.iter().find(|atom| atom.name == name).unwrap().position;
    let (alpha, beta) = (place("CA"), place("CB"));
    assert_eq!(chain[27].name, "ALA");
    chain[27].atoms.retain(|atom| atom.name != "CB");
    let water = entry.chains.iter_mut().flat_map(|chain| &mut chain.residues).find(|residue| residue.name == "HOH");
    let water = water.unwrap();
    let number = water.number;
    water.atoms[0].position = beta + (beta - alpha) * 0.5;
    let mut cleaned = clean(&entry, &Options::default()).unwrap();
    let waters = |of: &Structure| of.residues.iter().filter(|residue| residue.name == "HOH").count();
    let before = waters(&cleaned.structure);
    complete(&mut cleaned, Caps::None).unwrap();
    check(&cleaned);
    assert_eq!(waters(&cleaned.structure), before - 1);
    let said = format!("HOH {number} of chain A: removed this water");
    assert!(cleaned.decisions.iter().any(|decision| decision.to_string().starts_with(&said)));
}

#[test]
fn residues_without_a_backbone_are_refused() {
    let refusal = |is_removed: fn(usize, &str) -> bool| {
        let problem = complete(&mut without(is_removed), Caps::None).unwrap_err();
        format!("{} / {}", problem.message, problem.help.unwrap_or_default())
    };
    let message = refusal(|residue, atom| residue == 5 && matches!(atom, "CA" | "NZ"));
    assert!(message.contains("LYS 6 of chain A lacks CA, NZ, and the residue cannot be placed"), "{message}");
    assert!(message.contains("PDBFixer"), "{message}");
    let message = refusal(|residue, _| (20..24).contains(&residue));
    assert!(message.contains("4 residues are missing between SER 20 of chain A and ASN 25 of chain A"), "{message}");
    assert!(message.contains("--cap ACE,NME"), "{message}");
}

#[test]
fn caps_without_room_are_refused() {
    // there is no space for caps in a gap of one residue in a helix
    let problem = complete(&mut without(|residue, _| residue == 30), Caps::Gaps).unwrap_err();
    assert!(problem.message.contains("ACE before ASP 32 of chain A clashes with other atoms"), "{problem:?}");
    assert!(problem.help.as_ref().is_some_and(|help| help.contains("remove the residues beside")), "{problem:?}");
}

/// Returns the distance (nm) between the last two of three atoms, and the angle (degrees) at the second atom. Each atom
/// is given by residue index and atom name.
fn measured(of: &Cleaned, atoms: [(usize, &str); 3]) -> [f64; 2] {
    let [a, b, c] = atoms.map(|(residue, name)| of.positions[of.structure.atom_named(residue, name).unwrap()]);
    [(b - c).norm(), geometry::angle(a, b, c).to_degrees()]
}

#[test]
fn gaps_are_capped() {
    for (gap, caps) in [(20..24, Caps::Gaps), (29..32, Caps::Gaps), (35..39, Caps::GapsAndEnds)] {
        let mut cleaned = without(|residue, _| gap.contains(&residue));
        complete(&mut cleaned, caps).unwrap_or_else(|problem| panic!("{problem:?}"));
        check(&cleaned);
        assert!(cleaned.gaps.is_empty());
        let names: Vec<&str> = cleaned.structure.residues.iter().map(|residue| residue.name.as_str()).collect();
        let after = names.iter().position(|name| *name == "NME").unwrap();
        assert_eq!(names[after + 1], "ACE");
        assert_eq!(after, gap.start + usize::from(caps == Caps::GapsAndEnds));
        if caps == Caps::GapsAndEnds {
            let polymer: Vec<&&str> = names.iter().filter(|name| **name != "HOH").collect();
            assert_eq!([polymer[0], polymer[polymer.len() - 1]], [&"ACE", &"NME"]);
        }
        // reference: bond lengths and angles of peptides by Engh & Huber (1991); bond lengths and angles that include
        // atoms of the crystal structure deviate more
        let near = |atoms, [length, angle]: [f64; 2]| {
            let [found, at] = measured(&cleaned, atoms);
            assert!((found - length).abs() < 1e-6 && (at - angle).abs() < 4.0, "{atoms:?}: {found} {at}");
        };
        near([(after - 1, "CA"), (after - 1, "C"), (after, "N")], [0.1329, 116.2]);
        near([(after - 1, "C"), (after, "N"), (after, "C")], [0.1458, 121.7]);
        near([(after + 2, "N"), (after + 1, "C"), (after + 1, "CH3")], [0.1525, 116.2]);
        near([(after + 2, "CA"), (after + 2, "N"), (after + 1, "C")], [0.1329, 121.7]);
    }
}

/// Returns completed DNA (TGATAGC) without the atoms for which `is_removed` is true. OpenMM has relaxed the structure
/// with the force field OL15, because the crystal, with a resolution of 0.27 nm, is less exact.
fn dna(is_removed: impl Fn(usize, &str) -> bool) -> Cleaned {
    let mut cleaned = part_of_dna(is_removed);
    complete(&mut cleaned, Caps::None).unwrap_or_else(|problem| panic!("{problem:?}"));
    check(&cleaned);
    cleaned
}

/// Returns the DNA of [`dna`] without the removed atoms, before missing atoms are rebuilt.
fn part_of_dna(is_removed: impl Fn(usize, &str) -> bool) -> Cleaned {
    let mut entry = parse(include_bytes!("../tests/dna.pdb"), None).unwrap();
    for (index, residue) in entry.chains[0].residues.iter_mut().enumerate() {
        residue.atoms.retain(|atom| !is_removed(index, &atom.name));
    }
    entry.chains[0].residues.retain(|residue| !residue.atoms.is_empty());
    clean(&entry, &Options::default()).unwrap()
}

#[test]
fn nucleotides_without_an_atom_of_the_sugar_are_refused() {
    let problem = complete(&mut part_of_dna(|residue, name| residue == 2 && name == "C2'"), Caps::None).unwrap_err();
    assert!(
        problem.message.contains("DA 423 of chain D lacks C2', and the residue cannot be placed without C2'"),
        "{problem:?}"
    );
}

#[test]
fn bases_and_phosphates_have_the_geometry_of_the_force_field() {
    let relaxed = dna(|_, _| false);
    let base = |name: &str| name.len() <= 2 && name != "P";
    let oxygens = |name: &str| matches!(name, "OP1" | "OP2");
    let parts: [&dyn Fn(&str) -> bool; 4] = [&base, &oxygens, &|name| name == "OP1", &|name| name == "OP2"];
    for index in 0..relaxed.structure.residues.len() {
        for part in parts {
            compare(&dna(|residue, name| residue == index && part(name)), &relaxed, index);
        }
    }
    for index in 1..relaxed.structure.residues.len() {
        let found = dna(|residue, name| residue == index && oxygens(name));
        for name in ["OP1", "OP2"] {
            let at = |of: &Cleaned| of.positions[of.structure.atom_named(index, name).unwrap()];
            // the tolerance of 0.025 nm is the deviation that the largest angle ([`ANGLE`]) causes at a distance of
            // 0.1485 nm
            assert!((at(&found) - at(&relaxed)).norm() < 0.025, "{name} of residue {index}");
        }
    }
}

#[test]
fn phosphates_before_chains_are_removed() {
    let found = dna(|residue, name| residue == 0 || (residue == 1 && name == "OP2"));
    let has = |residue: usize, name: &str| found.structure.atom_named(residue, name).is_some();
    assert_eq!(["P", "OP1", "OP2"].map(|name| has(0, name)), [false; 3]);
    assert_eq!(["P", "OP1", "OP2"].map(|name| has(1, name)), [true; 3]);
    let said: Vec<String> = found.decisions.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().any(|said| said.starts_with("DG 422 of chain D: removed P, OP1 of the 5' phosphate")),
        "{said:?}"
    );
    found.structure.check().unwrap();
}

#[test]
fn phosphates_after_breaks_are_kept() {
    let mut entry = parse(include_bytes!("../tests/dna.pdb"), None).unwrap();
    let chain = &mut entry.chains[0];
    let position = |residue: &EntryResidue| SequencePosition { name: residue.name.clone(), number: None };
    chain.sequence = chain.residues.iter().map(position).collect();
    for atom in chain.residues[..3].iter_mut().flat_map(|residue| &mut residue.atoms) {
        atom.position += vec3(5.0, 0.0, 0.0);
    }
    let mut cleaned = clean(&entry, &Options::default()).unwrap();
    let problem = complete(&mut cleaned, Caps::None).unwrap_err();
    let expected = "O3' of DA 423 of chain D and P of DT 424 of chain D are 5.079 nm apart, too far for a bond";
    assert!(problem.message.contains(expected), "{problem:?}");
    assert!(cleaned.structure.atom_named(3, "P").is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_atoms_of_side_chains_can_be_missing(
        residues in prop::collection::btree_map(0usize..76, any::<u16>(), 1..4)
    ) {
        let crystal = without(|_, _| false);
        let side = |residue: usize, atom: &str| {
            let names = standard_residue(&crystal.structure.residues[residue].name).unwrap().heavy_atoms();
            names.filter(|name| !BACKBONE.contains(name)).position(|name| name == atom)
        };
        let is_removed = |residue: usize, atom: &str| {
            let bits = residues.get(&residue).copied().unwrap_or(0);
            residue < 76 && side(residue, atom).is_some_and(|at| bits >> at & 1 == 1)
        };
        completed(is_removed);
    }
}

#[test]
fn inverted_configurations_are_said() {
    let inverted = |cleaned: &Cleaned| -> Vec<String> {
        let said = cleaned.decisions.iter().filter(|decision| decision.what.contains("inverted configuration"));
        said.map(|decision| format!("{}: {}", decision.place, decision.what)).collect()
    };
    let [protein, nucleic] = [completed(|_, _| false), dna(|_, _| false)];
    assert_eq!([inverted(&protein), inverted(&nucleic)], [vec![], [""; 0].map(String::from).to_vec()]);
    // mirror images: all amino acids but glycine, and all three chiral atoms of each sugar
    let mirrored = |mut cleaned: Cleaned| {
        cleaned.positions.iter_mut().for_each(|position| position.x = -position.x);
        cleaned.decisions.clear();
        hands::report(&mut cleaned);
        inverted(&cleaned)
    };
    let glycines = protein.structure.residues.iter().filter(|residue| residue.name == "GLY").count();
    let said = mirrored(protein.clone());
    assert_eq!(said.len(), 76 - glycines);
    assert_eq!(said[0], "MET 1 of chain A: kept the inverted configuration of CA");
    let nucleotides = nucleic.residues.iter().filter(|residue| residue.kind == Some(ResidueKind::Nucleic)).count();
    let said = mirrored(nucleic);
    assert_eq!(said.len(), nucleotides);
    assert!(said.iter().all(|text| text.ends_with("of C1' and C3' and C4'")), "{said:?}");
}

#[test]
fn messages_name_what_helps() {
    let refusal = |mut cleaned: Cleaned| {
        let problem = complete(&mut cleaned, Caps::None).unwrap_err();
        [problem.message, problem.help.unwrap()]
    };
    let second = |name: &str, change: fn(&mut EntryResidue)| {
        let mut entry = parse(include_bytes!("../tests/dna.pdb"), None).unwrap();
        change(&mut entry.chains[0].residues[1]);
        let [message, help] = refusal(clean(&entry, &Options::default()).unwrap());
        assert!(message.contains(name), "{message}");
        assert!(help.contains(NUCLEIC_HELP) && !help.contains("--cap"), "{help}");
    };
    second(" lacks P, which bonds it to D", |residue| residue.atoms.retain(|atom| atom.name != "P"));
    second(" nm apart, too far for a bond", |residue| {
        residue.atoms.iter_mut().filter(|atom| atom.name == "P").for_each(|atom| atom.position.z += 0.2);
    });
    // a modified residue of a chain
    let of_protein = |change: fn(&mut EntryResidue)| {
        let mut entry = ubiquitin();
        change(&mut entry.chains[0].residues[19]);
        refusal(clean(&entry, &Options::default()).unwrap())
    };
    let [message, help] = of_protein(|residue| residue.name = "SEP".to_owned());
    assert!(message.contains("the bonds of SEP 20 of chain A are unknown"), "{message}");
    assert!(help.contains("--forcefield amber14,FILE.xml") && !help.contains("--ligand"), "{help}");
}

#[test]
fn a_bond_in_the_place_of_a_missing_atom_is_named() {
    let mut cleaned = without(|index, name| index == 15 && name == "OE2");
    let atom = |residue: usize, name: &str| cleaned.structure.atom_named(residue, name).unwrap() as u32;
    let bond = [atom(5, "NZ"), atom(15, "CD")];
    cleaned.structure.bonds.push(bond);
    let message = complete(&mut cleaned, Caps::None).unwrap_err().message;
    let expected = "GLU 16 of chain A lacks OE2, but CD of GLU 16 of chain A is bonded to NZ of LYS 6 of chain A";
    assert!(message.contains(expected), "{message}");
}

/// Returns ubiquitin without residues 1 and 74 to 76, which its sequence has.
fn without_ends() -> Cleaned {
    let mut entry = ubiquitin();
    let chain = &mut entry.chains[0];
    let polymer = chain.residues.iter().filter(|residue| residue.is_polymer);
    let position = |residue: &EntryResidue| SequencePosition { name: residue.name.clone(), number: None };
    chain.sequence = polymer.map(position).collect();
    chain.residues.retain(|residue| !residue.is_polymer || (2..=73).contains(&residue.number));
    clean(&entry, &Options::default()).unwrap()
}

#[test]
fn residues_that_are_missing_at_ends_of_chains_are_said() {
    let said = |caps: Caps| {
        let mut cleaned = without_ends();
        complete(&mut cleaned, caps).unwrap();
        let of_sequence = cleaned.decisions.iter().filter(|decision| decision.subject == Subject::Sequence);
        of_sequence.map(ToString::to_string).collect::<Vec<String>>()
    };
    let advice = "--cap ACE,NME --cap-ends gives ends of chains caps without a charge";
    let expected = [
        format!(
            "GLN 2 of chain A: the chain begins here with a charged amino group (1 residue of the sequence before this \
             residue has no atoms; {advice})"
        ),
        format!(
            "LEU 73 of chain A: the chain ends here with a charged carboxylate (3 residues of the sequence after this \
             residue have no atoms; {advice})"
        ),
    ];
    assert_eq!(said(Caps::None), expected);
    let capped = said(Caps::GapsAndEnds);
    assert!(capped[0].contains("begins here with a bond to ACE 1 of chain A (1 residue of"), "{capped:?}");
    assert!(capped[1].contains("ends here with a bond to NME 74 of chain A (3 residues of"), "{capped:?}");
}

#[test]
fn caps_have_numbers_that_no_other_residue_has() {
    let labels = |shift: i32| {
        let mut cleaned = without(|residue, _| (20..24).contains(&residue));
        cleaned.structure.residues[20..72].iter_mut().for_each(|residue| residue.number -= shift);
        complete(&mut cleaned, Caps::Gaps).unwrap();
        let caps = (0..cleaned.structure.residues.len()).map(|index| cleaned.structure.residue_address(index));
        let names = cleaned.structure.residues.iter().map(|residue| residue.name.clone());
        names
            .zip(caps)
            .filter(|(name, _)| matches!(name.as_str(), "ACE" | "NME"))
            .map(|(_, at)| at)
            .collect::<Vec<String>>()
    };
    // residues 21 to 24 are missing
    assert_eq!(labels(0), ["A:21", "A:24"]);
    // the residues after the gap have the numbers 22 and on: both caps need 21
    assert_eq!(labels(3), ["A:21", "A:22A"]);
    // the numbers are consecutive
    assert_eq!(labels(4), ["A:20A", "A:21A"]);
}
