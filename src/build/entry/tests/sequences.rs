//! Tests of sequences, missing residues and missing atoms.

use super::*;
use crate::entry::{Gap, GapPlace};

/// SEQRES records of chain A.
fn sequence(names: &str) -> String {
    let names: Vec<&str> = names.split(' ').collect();
    let line =
        |(index, row): (usize, &[&str])| format!("SEQRES {:>3} A {:>4}  {}\n", index + 1, names.len(), row.join(" "));
    names.chunks(13).enumerate().map(line).collect()
}

fn gap(place: GapPlace, names: &[&str]) -> Gap {
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    Gap { chain: 0, place, count: Some(names.len()), names }
}

#[test]
fn missing_residues_are_found() {
    let observed = chain_of(&[("ALA", 2, 0.0), ("SER", 3, 1.0), ("ALA", 6, 3.0)]);
    let found = cleaned(&format!("{}{observed}", sequence("MET ALA SER GLY LYS ALA VAL VAL")));
    let expected = [
        gap(GapPlace::Start { before: 0 }, &["MET"]),
        gap(GapPlace::Inner { after: 1, before: 2 }, &["GLY", "LYS"]),
        gap(GapPlace::End { after: 2 }, &["VAL", "VAL"]),
    ];
    assert_eq!(found.gaps, expected);
    let positions: Vec<Option<usize>> = found.residues.iter().map(|residue| residue.position).collect();
    assert_eq!(positions, [Some(1), Some(2), Some(5)]);
    assert!(found.bond_names().contains(&"0:C 1:N".to_owned()));
    assert!(!found.bond_names().contains(&"1:C 2:N".to_owned()));
}

#[test]
fn numbers_of_another_numbering_are_aligned() {
    // residue numbers as in a protease: numbers jump where no residue is missing, and insertion codes occur
    let observed = [
        amino_acid("ALA", 'A', 16, 0.0),
        amino_acid("SER", 'A', 20, 1.0),
        amino_acid("GLY", 'A', 20, 2.0).replace("A  20 ", "A  20A"),
        amino_acid("LYS", 'A', 21, 5.0),
    ]
    .concat();
    let found = cleaned(&format!("{}{observed}", sequence("MET ALA SER GLY THR THR LYS")));
    let expected =
        [gap(GapPlace::Start { before: 0 }, &["MET"]), gap(GapPlace::Inner { after: 2, before: 3 }, &["THR", "THR"])];
    assert_eq!(found.gaps, expected);
}

#[test]
fn breaks_without_a_sequence_are_gaps_of_unknown_residues() {
    let found = cleaned(&chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0), ("ALA", 8, 4.0), ("ALA", 9, 7.0)]));
    let unknown =
        |after, before, count| Gap { chain: 0, place: GapPlace::Inner { after, before }, count, names: vec![] };
    assert_eq!(found.gaps, [unknown(1, 2, Some(5)), unknown(2, 3, None)]);
    assert_eq!(found.said(Subject::Bonds).len(), 2);
}

#[test]
fn a_protein_ends_at_oxt() {
    let last = Line { name: "OXT", residue: "SER", number: 2, at: [7.3, 0.9, 0.0], ..Line::default() }.text();
    let [first, second] = [[("ALA", 1, 0.0), ("SER", 2, 1.0)], [("ALA", 1, 9.0), ("SER", 2, 10.0)]];
    let found = cleaned(&[chain_of(&first), last, chain_of(&second)].concat());
    assert_eq!(found.gaps, []);
    assert!(!found.bond_names().contains(&"1:C 2:N".to_owned()));
}

#[test]
fn consecutive_residues_without_a_bond_are_a_gap() {
    let observed = chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0), ("GLY", 3, 4.0), ("LYS", 6, 7.0)]);
    let found = cleaned(&format!("{}{observed}", sequence("ALA SER GLY THR VAL LYS MET")));
    let broken = Gap { chain: 0, place: GapPlace::Inner { after: 1, before: 2 }, count: None, names: vec![] };
    let expected = [
        broken,
        gap(GapPlace::Inner { after: 2, before: 3 }, &["THR", "VAL"]),
        gap(GapPlace::End { after: 3 }, &["MET"]),
    ];
    assert_eq!(found.gaps, expected);
}

#[test]
fn missing_residues_at_a_ter_record_are_found() {
    let [first, second] =
        [chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0)]), chain_of(&[("ALA", 5, 3.0), ("VAL", 6, 4.0)])];
    let cut = format!("{first}TER\n{second}");
    let found = cleaned(&format!("{}{cut}", sequence("ALA SER GLY LYS ALA VAL")));
    assert_eq!(found.gaps, [gap(GapPlace::Inner { after: 1, before: 2 }, &["GLY", "LYS"])]);
    // the chain may also be numbered without a jump
    let renumbered = format!("{first}TER\n{}", chain_of(&[("ALA", 3, 3.0), ("VAL", 4, 4.0)]));
    let found = cleaned(&format!("{}{renumbered}", sequence("ALA SER GLY LYS ALA VAL")));
    assert_eq!(found.gaps, [gap(GapPlace::Inner { after: 1, before: 2 }, &["GLY", "LYS"])]);
    // without a sequence, the jump of the residue numbers is reported, unless OXT ends the first piece
    let jump = "SER 2 of chain A and ALA 5 of chain A: took the residues as ends of two chains";
    let found = cleaned(&cut);
    assert_eq!(found.gaps, []);
    assert!(found.said(Subject::Sequence)[0].starts_with(jump));
    let last = Line { name: "OXT", residue: "SER", number: 2, at: [7.3, 0.9, 0.0], ..Line::default() }.text();
    assert_eq!(cleaned(&format!("{first}{last}TER\n{second}")).said(Subject::Sequence), [""; 0]);
}

#[test]
fn pieces_of_an_intact_chain_and_copies_of_a_chain_have_no_gaps() {
    let [first, second] =
        [chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0)]), chain_of(&[("GLY", 3, 2.0), ("LYS", 4, 3.0)])];
    let found = cleaned(&format!("{}{first}TER\n{second}", sequence("ALA SER GLY LYS")));
    assert_eq!(found.gaps, []);
    assert!(found.bond_names().contains(&"1:C 2:N".to_owned()));
    let copy = chain_of(&[("ALA", 1, 20.0), ("SER", 2, 21.0)]);
    assert_eq!(cleaned(&format!("{}{first}TER\n{copy}", sequence("ALA SER"))).gaps, []);
}

#[test]
fn mutations_are_said() {
    let observed = chain_of(&[("ALA", 1, 0.0), ("THR", 2, 1.0), ("GLY", 3, 2.0)]);
    let found = cleaned(&format!("{}{observed}", sequence("ALA SER GLY")));
    assert_eq!(found.gaps, []);
    assert!(
        found.said(Subject::Sequence)[0].contains("1 residues differ from the sequence, and 0 residues are not in")
    );
}

#[test]
fn missing_atoms_are_listed() {
    let found = cleaned(&chain_of(&[("LYS", 1, 0.0), ("GLY", 2, 1.0), ("SER", 3, 2.0)]));
    let missing: Vec<(u32, String)> =
        found.missing_atoms.iter().map(|missing| (missing.residue, missing.names.join(" "))).collect();
    assert_eq!(missing, [(0, "CD CE CG NZ".to_owned()), (2, "OG OXT".to_owned())]);
}

#[test]
fn the_first_nucleotide_needs_no_phosphate() {
    let nucleotide = |number: i32, names: &[&str]| -> String {
        let line = |name: &&str| Line { name, residue: "DT", number, ..Line::default() }.text();
        names.iter().map(line).collect()
    };
    let nucleoside =
        ["O5'", "C5'", "C4'", "O4'", "C3'", "O3'", "C2'", "C1'", "N1", "C2", "O2", "N3", "C4", "O4", "C5", "C7", "C6"];
    let found = cleaned(&[nucleotide(1, &nucleoside), nucleotide(2, &nucleoside)].concat());
    let missing: Vec<(u32, String)> =
        found.missing_atoms.iter().map(|missing| (missing.residue, missing.names.join(" "))).collect();
    assert_eq!(missing, [(1, "OP1 OP2 P".to_owned())]);
}
