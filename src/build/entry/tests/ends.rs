//! Tests of END records in files without MODEL records.

use super::*;

#[test]
fn an_end_record_between_two_structures_does_not_end_the_entry() {
    let first = chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0)]);
    let second = [amino_acid("GLY", 'B', 1, 9.0), amino_acid("LYS", 'B', 2, 10.0)].concat();
    let zinc = Line {
        is_hetero: true,
        name: "ZN",
        residue: "ZN",
        chain: 'B',
        number: 9,
        at: [0.0, 90.0, 0.0],
        ..Line::default()
    };
    let joined = format!("{first}TER\nEND\n{second}TER\n{}END\n", zinc.text());
    let found = cleaned(&joined);
    assert_eq!(found.names(), ["ALA", "SER", "GLY", "LYS", "ZN"]);
    assert_eq!(entry_of(&joined).models, 1);
    // two residues with five atoms and a TER record precede the record
    let said = found.said(Subject::Model);
    assert!(said[0].starts_with("the whole entry: read the atoms after the END record in line 12 ("), "{said:?}");
    // several END records, also at one place
    let third = amino_acid("GLY", 'C', 1, 20.0);
    let found = cleaned(&format!("END\n{first}TER\nEND\nEND\n{second}END\n{third}END\n"));
    assert_eq!(found.names(), ["ALA", "SER", "GLY", "LYS", "GLY"]);
    assert!(found.said(Subject::Model)[0].contains("in line 13 and of 2 more END records"));
}

#[test]
fn an_end_record_within_a_chain_does_not_end_the_chain() {
    let [first, second] =
        [chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0)]), chain_of(&[("GLY", 3, 2.0), ("LYS", 4, 3.0)])];
    let found = cleaned(&format!("{first}END\n{second}"));
    assert_eq!(found.names(), ["ALA", "SER", "GLY", "LYS"]);
    assert!(found.bond_names().contains(&"1:C 2:N".to_owned()), "{:?}", found.bond_names());
    assert_eq!(found.gaps, []);
}

#[test]
fn an_end_record_before_repeated_atoms_ends_a_model() {
    let [first, second] = [amino_acid("ALA", 'A', 1, 0.0), amino_acid("GLY", 'B', 1, 9.0)];
    // two models of two parts
    let entry = entry_of(&[&first, &second, &first, &second].map(|part| format!("{part}END\n")).concat());
    assert_eq!((entry.chains.len(), entry.chains[0].residues.len()), (2, 1));
    // a model may have fewer atoms than the first
    let entry = entry_of(&format!("{first}{second}END\n{first}END\n"));
    assert_eq!((entry.models, entry.chains.len(), entry.continued.len()), (2, 2, 0));
    // MODEL records state the models
    let entry = entry_of(&format!("MODEL        1\n{first}ENDMDL\nEND\n{second}END\n"));
    assert_eq!((entry.chains.len(), entry.continued.len()), (1, 0));
}

#[test]
fn atoms_that_are_partly_another_model_are_refused() {
    let first = chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0)]);
    let second = chain_of(&[("GLY", 2, 1.0), ("LYS", 3, 2.0)]);
    let problem = parse(format!("{first}END\n{second}END\n").as_bytes(), None).unwrap_err();
    // N, CA, C and O of residue 2 occur twice, and the five atoms of residue 3 once
    assert!(problem.message.starts_with("4 of the 9 atoms after this END record"), "{problem}");
    assert_eq!(problem.line, Some(11));
    // a new part after another model may belong to any model
    let other = amino_acid("GLY", 'B', 1, 9.0);
    let problem = parse(format!("{first}END\n{first}END\n{other}END\n").as_bytes(), None).unwrap_err();
    assert!(problem.message.starts_with("0 of the 4 atoms"), "{problem}");
}

#[test]
fn connections_of_joined_structures_belong_to_their_part() {
    let ligand = |residue, chain, x: f64| {
        let line = |serial, name, x| Line {
            is_hetero: true,
            serial,
            name,
            residue,
            chain,
            at: [x, 0.0, 0.0],
            ..Line::default()
        };
        format!("{}{}CONECT    1    2\nEND\n", line(1, "C1", x).text(), line(2, "C2", x + 1.5).text())
    };
    let found = cleaned(&[ligand("LIG", 'A', 0.0), ligand("DRG", 'B', 9.0)].concat());
    assert_eq!(found.bond_names(), ["0:C1 0:C2", "1:C1 1:C2"]);
    assert_eq!(found.unsupported, []);
    // records after the last part may name the atoms of all parts
    let text = ligand("LIG", 'A', 0.0).replace("CONECT    1    2\n", "");
    let last =
        Line { is_hetero: true, serial: 3, name: "ZN", residue: "ZN", chain: 'B', at: [9.0; 3], ..Line::default() };
    let found = cleaned(&format!("{text}{}CONECT    1    2\nEND\n", last.text()));
    assert_eq!(found.bond_names(), ["0:C1 0:C2"]);
}
