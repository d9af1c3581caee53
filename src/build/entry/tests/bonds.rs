//! Tests of bonds: disulfides, links, ligands, nucleic acids, and coordination of metals.

use super::*;

fn cysteine(chain: char, number: i32, slot: f64, sulfur: [f64; 3]) -> String {
    let line = Line { name: "SG", residue: "CYS", chain, number, at: sulfur, ..Line::default() };
    format!("{}{}", amino_acid("CYS", chain, number, slot), line.text())
}

/// Returns an SSBOND record of two cysteines of chain A, with the given second symmetry operator.
fn ssbond(first: i32, second: i32, symmetry: &str) -> String {
    format!("SSBOND   1 CYS A {first:>4}    CYS A {second:>4}                          1555 {symmetry:>6}  2.04\n")
}

#[test]
fn disulfides_are_found_by_distance_each_sulfur_once() {
    let text = [
        cysteine('A', 1, 0.0, [0.0, 5.0, 0.0]),
        cysteine('A', 5, 10.0, [2.4, 5.0, 0.0]),
        cysteine('A', 9, 20.0, [4.4, 5.0, 0.0]),
        cysteine('A', 13, 30.0, [9.0, 5.0, 0.0]),
    ]
    .concat();
    let found = cleaned(&text);
    // the second and third sulfur atoms are 0.20 nm apart, and the first and second are 0.24 nm apart
    assert_eq!(found.disulfides.len(), 1);
    assert!(found.bond_names().contains(&"1:SG 2:SG".to_owned()));
    let said = found.said(Subject::Bonds).join("\n");
    assert!(
        said.contains("CYS 5 of chain A and CYS 9 of chain A: made a disulfide bond (the sulfur atoms are 0.200 nm")
    );
}

#[test]
fn hydrogens_and_contacts_exclude_disulfides() {
    let pair =
        |distance: f64| [cysteine('A', 1, 0.0, [0.0, 5.0, 0.0]), cysteine('A', 5, 10.0, [distance, 5.0, 0.0])].concat();
    for (distance, count) in [(1.79, 0), (1.81, 1), (2.49, 1), (2.51, 0)] {
        assert_eq!(cleaned(&pair(distance)).disulfides.len(), count, "{distance}");
    }
    let hydrogen = Line { name: "HG", residue: "CYS", number: 5, at: [3.0, 6.0, 0.0], ..Line::default() }.text();
    assert_eq!(cleaned(&format!("{}{hydrogen}", pair(2.04))).disulfides.len(), 0);
}

#[test]
fn stated_disulfides_may_be_longer_but_not_by_symmetry() {
    let pair = [cysteine('A', 1, 0.0, [0.0, 5.0, 0.0]), cysteine('A', 5, 10.0, [2.8, 5.0, 0.0])].concat();
    let with = |symmetry: &str| cleaned(&format!("{}{pair}", ssbond(1, 5, symmetry)));
    assert_eq!(with("1555").disulfides.len(), 1);
    let symmetric = with("3655");
    assert_eq!(symmetric.disulfides.len(), 0);
    assert!(symmetric.said(Subject::Bonds).join("\n").contains("the bond is between symmetry copies of a crystal"));
}

#[test]
fn names_of_cysteines_state_disulfides_and_thiolates() {
    let named = |number: i32, slot: f64, x: f64, residue: &'static str| {
        cysteine('A', number, slot, [x, 5.0, 0.0]).replace("CYS", residue)
    };
    let pair = |distance: f64, names: [&'static str; 2]| {
        let found = cleaned(&[named(1, 0.0, 0.0, names[0]), named(5, 10.0, distance, names[1])].concat());
        (found.disulfides.len(), found.said(Subject::Bonds).join("\n"))
    };
    let (count, said) = pair(2.62, ["CYX", "CYX"]);
    assert_eq!(count, 1);
    let expected = "CYS 1 of chain A and CYS 5 of chain A: made a disulfide bond (the names of both residues state the bond; \
                    the distance is 0.262 nm)";
    assert!(said.contains(expected), "{said}");
    assert_eq!([pair(3.01, ["CYX", "CYX"]).0, pair(2.62, ["CYX", "CYS"]).0, pair(2.04, ["CYX", "CYS"]).0], [0, 0, 1]);
    let (_, said) = pair(3.01, ["CYX", "CYX"]);
    for number in [1, 5] {
        assert!(
            said.contains(&format!("CYS {number} of chain A: made no disulfide bond, which the name CYX")),
            "{said}"
        );
    }
    assert_eq!(pair(2.04, ["CYM", "CYM"]).0, 0);
    // the second and third sulfur atoms are 0.26 nm apart, and the first and second are 0.29 nm apart
    let three = [named(1, 0.0, 0.0, "CYX"), named(5, 10.0, 2.9, "CYX"), named(9, 20.0, 5.5, "CYX")].concat();
    let found = cleaned(&three);
    assert!(found.disulfides.len() == 1 && found.bond_names().contains(&"1:SG 2:SG".to_owned()));
}

#[test]
fn a_disulfide_with_a_symmetry_copy_of_itself_is_told() {
    let one = cysteine('A', 1, 0.0, [0.0, 5.0, 0.0]);
    let found = cleaned(&format!("{}{one}", ssbond(1, 1, "3655")));
    let said = found.said(Subject::Bonds).join("\n");
    assert!(said.contains("symmetry copies of a crystal, which --assembly builds"), "{said}");
    assert_eq!((found.disulfides.len(), cleaned(&format!("{}{one}", ssbond(1, 1, "1555"))).disulfides.len()), (0, 0));
}

#[test]
fn links_join_residues() {
    let sugar = |name, at| Line { is_hetero: true, name, residue: "NAG", number: 301, at, ..Line::default() }.text();
    let text = [
        "LINK         ND2 ASN A   1                 C1  NAG A 301     1555   1555  1.44\n".to_owned(),
        amino_acid("ASN", 'A', 1, 0.0),
        Line { name: "ND2", residue: "ASN", at: [2.0, 4.0, 0.0], ..Line::default() }.text(),
        "TER\n".to_owned(),
        sugar("C1", [2.0, 5.44, 0.0]),
        sugar("O5", [3.2, 6.0, 0.0]),
    ]
    .concat();
    let found = cleaned(&text);
    assert!(found.bond_names().contains(&"0:ND2 1:C1".to_owned()));
    assert_eq!((found.unsupported.len(), found.unsupported[0].unbonded), (1, 1));
    assert!(found.unsupported[0].help.contains("bonds of NAG"));
    // if the sugar is dropped, its bond is cut, and the log says so
    let dropped = clean(&parse(text.as_bytes(), None).unwrap(), &Options { hetero: false, ..Options::default() });
    let cut = "ND2 of ASN 1 of chain A: cut the bond to C1 of NAG 301 of chain A (NAG was left out";
    let said = dropped.unwrap().said(Subject::Bonds);
    assert!(said.len() == 1 && said[0].starts_with(cut), "{said:?}");
}

#[test]
fn a_ter_record_within_a_chain_breaks_no_bond() {
    let [first, second, apart] = [1.0, 2.0, 9.0].map(|slot| amino_acid("ALA", 'A', slot as i32, slot));
    let found = cleaned(&format!("{first}TER\n{second}"));
    assert!(found.bond_names().contains(&"0:C 1:N".to_owned()), "{:?}", found.bond_names());
    assert_eq!(found.missing_atoms.len(), 1);
    assert_eq!(cleaned(&format!("{first}TER\n{apart}")).missing_atoms.len(), 2);
}

#[test]
fn cyclic_peptides_need_no_oxt() {
    let line = |name, at| Line { name, residue: "GLY", number: 2, at, ..Line::default() }.text();
    let second = [
        line("N", [3.8, 0.0, 0.0]),
        line("CA", [2.5, -2.0, 0.0]),
        line("C", [0.5, -1.2, 0.0]),
        line("O", [0.0, -2.2, 0.0]),
    ];
    let peptide = format!("{}{}", amino_acid("GLY", 'A', 1, 0.0), second.concat());
    let link = "LINK         C   GLY A   2                 N   GLY A   1     1555   1555  1.30\n";
    let cyclic = cleaned(&format!("{link}{peptide}"));
    assert!(cyclic.bond_names().contains(&"0:N 1:C".to_owned()), "{:?}", cyclic.bond_names());
    assert_eq!(cyclic.missing_atoms, []);
    // the distance is enough, unless the file has an end with OXT
    let by_distance = cleaned(&peptide);
    assert_eq!((by_distance.bond_names(), by_distance.missing_atoms.len()), (cyclic.bond_names(), 0));
    assert!(by_distance.said(Subject::Bonds)[0].contains("0.130 nm apart"), "{:?}", by_distance.said(Subject::Bonds));
    let open = cleaned(&format!("{peptide}{}", line("OXT", [0.0, -0.5, 1.0])));
    assert!(!open.bond_names().contains(&"0:N 1:C".to_owned()));
    assert_eq!(cleaned(&peptide.replace("-1.200", "-3.200")).missing_atoms[0].names, ["OXT"]);
}

#[test]
fn connections_give_the_bonds_of_ligands() {
    let line = |serial, name, x| {
        Line { is_hetero: true, serial, name, residue: "LIG", number: 9, at: [x, 9.0, 0.0], ..Line::default() }.text()
    };
    let ligand = [line(21, "C1", 0.0), line(22, "C2", 1.5), line(23, "O1", 2.7)].concat();
    let connections = "CONECT   21   22\nCONECT   22   21   23\nCONECT   23   22\n";
    let found = cleaned(&format!("{}TER\n{ligand}{connections}", amino_acid("ALA", 'A', 1, 0.0)));
    assert_eq!(found.bond_names()[found.structure.bonds.len() - 2..], ["1:C1 1:C2", "1:C2 1:O1"]);
    assert_eq!(found.unsupported, []);
    let alone = cleaned(&ligand);
    assert_eq!(alone.unsupported[0].unbonded, 3);
}

#[test]
fn a_metal_within_a_residue_keeps_its_stated_bonds() {
    let line = |serial, name, residue, number, x, element| {
        let at = [x, 9.0, 0.0];
        Line { is_hetero: true, serial, name, residue, number, at, element, ..Line::default() }.text()
    };
    let heme = [line(21, "FE", "HEM", 9, 0.0, "FE"), line(22, "NA", "HEM", 9, 2.0, "N")].concat();
    let zinc = line(23, "ZN", "ZN", 10, 4.0, "ZN");
    let found = cleaned(&format!("{heme}{zinc}CONECT   21   22\nCONECT   22   23\n"));
    assert_eq!(found.bond_names(), ["0:FE 0:NA"]);
    assert_eq!(found.unsupported, []);
}

#[test]
fn nucleotides_are_joined() {
    let line = |name, number, x| Line { name, residue: "U", number, at: [x, 0.0, 0.0], ..Line::default() }.text();
    let text =
        [line("C3'", 1, 0.0), line("O3'", 1, 1.4), line("P", 2, 3.0), line("OP1", 2, 4.4), line("P", 3, 6.0)].concat();
    assert_eq!(cleaned(&text).bond_names(), ["0:C3' 0:O3'", "0:O3' 1:P", "1:P 1:OP1"]);
}

#[test]
fn zinc_sites_are_said() {
    let zinc = Line {
        is_hetero: true,
        name: "ZN",
        residue: "ZN",
        number: 99,
        at: [2.3, 5.0, 0.0],
        element: "ZN",
        ..Line::default()
    };
    let text = [
        cysteine('A', 1, 0.0, [0.0, 5.0, 0.0]),
        cysteine('A', 5, 10.0, [4.7, 5.0, 0.0]),
        cysteine('A', 9, 20.0, [2.3, 8.0, 0.0]),
        "TER\n".to_owned(),
        zinc.text(),
    ]
    .concat();
    let found = cleaned(&text);
    assert_eq!(found.metal_sites.len(), 1);
    let distances: Vec<f64> =
        found.metal_sites[0].donors.iter().map(|(_, distance)| (distance * 1e3).round()).collect();
    assert_eq!(distances, [230.0, 240.0]);
    assert!(!found.bond_names().iter().any(|bond| bond.contains("ZN")));
    let said = found.said(Subject::Metal).join("\n");
    assert!(
        said.contains("ZN of ZN 99 of chain A: coordinated by SG of CYS 1 of chain A (0.230 nm), SG of CYS 5"),
        "{said}"
    );
}
