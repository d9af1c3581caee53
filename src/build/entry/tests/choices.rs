//! Tests of models, alternative locations, insertion codes, modified residues, and residues that are dropped.

use md_engine::vec3::vec3;

use super::*;

#[test]
fn locations_of_consecutive_backbones_belong_together() {
    let residue = |number, occupancies: [f64; 2]| {
        ["N", "CA", "C"].map(|name| {
            let at = |x: f64| [x + 3.8 * f64::from(number), 0.0, 0.0];
            let line = |location, occupancy, x| {
                Line { name, residue: "ALA", number, location, occupancy, at: at(x), ..Line::default() }.text()
            };
            [line('A', occupancies[0], 0.0), line('B', occupancies[1], 0.5)].concat()
        })
    };
    let chosen = |middle: [f64; 2]| {
        let text = [residue(1, [0.5, 0.5]), residue(2, middle), residue(3, [0.5, 0.5])].concat().concat();
        let said = cleaned(&text).said(Subject::Location);
        let letter = |line: &String| line.split("location ").nth(1).and_then(|rest| rest.chars().next()).unwrap();
        said.iter().map(letter).collect::<String>()
    };
    assert_eq!(chosen([0.49, 0.51]), "AAA");
    assert_eq!(chosen([0.4, 0.6]), "ABB");
    assert_eq!(chosen([0.6, 0.4]), "AAA");
}

#[test]
fn locations_with_the_highest_occupancy_are_taken() {
    let line = |name, location, occupancy, x| {
        Line { name, residue: "SER", location, occupancy, at: [x, 0.0, 0.0], ..Line::default() }.text()
    };
    let text = [
        line("CA", ' ', 1.0, 0.0),
        line("CB", 'A', 0.35, 1.0),
        line("CB", 'B', 0.65, 2.0),
        line("OG", 'A', 0.35, 3.0),
        line("OG", 'B', 0.65, 4.0),
        line("N", 'A', 0.35, 5.0),
    ]
    .concat();
    let found = cleaned(&text);
    assert_eq!(found.atom_names(), ["CA", "CB", "OG", "N"]);
    assert_eq!(found.positions[1], vec3(2.0, 0.0, 0.0) * 0.1);
    assert_eq!(found.positions[3], vec3(5.0, 0.0, 0.0) * 0.1);
    assert_eq!(found.left_out, 2);
    assert_eq!(
        found.said(Subject::Location),
        ["SER 1 of chain A: took the alternative location B, and 1 missing atoms from other locations (this location \
          has the mean occupancy 0.65; other locations: A (0.35))"]
    );
    // of locations with equal occupancies, the location with the first letter is chosen, regardless of the order in the
    // file
    let equal = [line("CA", ' ', 1.0, 0.0), line("CB", 'B', 0.5, 1.0), line("CB", 'A', 0.5, 2.0)].concat();
    assert_eq!(cleaned(&equal).positions[1], vec3(2.0, 0.0, 0.0) * 0.1);
    // occupancies of a third that differ only by rounding count as equal
    let thirds = [line("CB", 'C', 0.33, 1.0), line("CB", 'A', 0.33, 2.0), line("CB", 'B', 0.33, 3.0)].concat();
    assert_eq!(cleaned(&thirds).positions[0], vec3(2.0, 0.0, 0.0) * 0.1);
}

#[test]
fn atoms_without_a_letter_are_a_location_beside_lettered_ones() {
    let line = |name, location, occupancy, x| {
        Line { name, residue: "SER", location, occupancy, at: [x, 0.0, 0.0], ..Line::default() }.text()
    };
    let taken = |blank: f64| {
        let moving = ["CB", "OG"].map(|name| [line(name, ' ', blank, 1.0), line(name, 'A', 1.0 - blank, 2.0)].concat());
        let found = cleaned(&[line("CA", ' ', 1.0, 0.0), moving.concat()].concat());
        assert_eq!((found.atom_names(), found.left_out), (vec!["CA", "CB", "OG"], 2));
        (found.positions[1].x, found.positions[2].x, found.said(Subject::Location))
    };
    let (carbon, oxygen, said) = taken(0.6);
    assert_eq!((carbon, oxygen), (0.1, 0.1));
    assert!(said[0].contains("took the alternative location without a letter") && said[0].contains("A (0.40)"));
    let (carbon, oxygen, said) = taken(0.3);
    assert_eq!((carbon, oxygen), (0.2, 0.2));
    assert!(said[0].contains("location A") && said[0].contains("without a letter (0.30)"), "{said:?}");
}

#[test]
fn caps_in_the_residues_of_charmm_become_residues() {
    let line = |name, x, y| Line { name, residue: "ALA", number: 1, at: [x, y, 0.0], ..Line::default() }.text();
    let alanine = amino_acid("ALA", 'A', 1, 0.0);
    let acetyl = [line("CAY", -2.1, 0.6), line("CY", -1.3, 0.0), line("OY", -1.3, -1.2)].concat();
    let methyl = [line("NT", 3.6, 0.7), line("CAT", 4.9, 0.2)].concat();
    let found = cleaned(&format!("{alanine}{acetyl}{methyl}"));
    assert_eq!(found.names(), ["ACE", "ALA", "NME"]);
    assert_eq!(found.structure.residues.iter().map(|residue| residue.number).collect::<Vec<i32>>(), [0, 1, 2]);
    assert_eq!(found.missing_atoms, []);
    for bond in ["0:C 1:N", "1:C 2:N", "0:CH3 0:C", "2:N 2:C"] {
        assert!(found.bond_names().contains(&bond.to_owned()), "{bond}: {:?}", found.bond_names());
    }
    assert!(found.said(Subject::Names)[0].contains("a residue ACE of the atoms CAY, CY, OY"));
    // behind the end of another chain, as `md build` writes a single residue between two gaps
    let hetero = format!("{acetyl}{alanine}{methyl}").replace("ATOM  ", "HETATM").replace("ALA A   1", "ALA A   9");
    let behind = cleaned(&format!("{}TER\n{hetero}", amino_acid("GLY", 'A', 3, 9.0)));
    assert_eq!(behind.names(), ["GLY", "ACE", "ALA", "NME"]);
    assert!(behind.bond_names().contains(&"1:C 2:N".to_owned()), "{:?}", behind.bond_names());
    // the amide of the patch CT2
    let amide = cleaned(&format!("{alanine}{}", line("NT", 3.6, 0.7)));
    assert_eq!((amide.names(), amide.missing_atoms.len()), (vec!["ALA", "NH2"], 0));
}

#[test]
fn one_of_several_residues_at_a_site_is_taken() {
    let line =
        |residue, location, occupancy, name| Line { name, residue, location, occupancy, ..Line::default() }.text();
    // the lines of the two residues of a site alternate, as in PDB files
    let text = [
        line("PRO", 'A', 0.6, "N"),
        line("SER", 'B', 0.4, "N"),
        line("PRO", 'A', 0.6, "CA"),
        line("SER", 'B', 0.4, "CA"),
    ]
    .concat();
    let found = cleaned(&text);
    assert_eq!((found.names(), found.left_out), (vec!["PRO"], 2));
    assert!(found.said(Subject::Location)[0].contains("took PRO of the residues PRO, SER at this site"));
    let tie = text.replace("0.60", "0.40");
    assert_eq!(cleaned(&tie).names(), ["PRO"]);
    assert_eq!(cleaned(&text.replace("0.40", "0.70")).names(), ["SER"]);
    // an atom without a location belongs to both residues, as N of residue 22 of 1EJG does
    let shared = [line("PRO", ' ', 1.0, "N"), line("PRO", 'A', 0.3, "CA"), line("SER", 'B', 0.7, "CA")].concat();
    let found = cleaned(&shared);
    assert_eq!((found.names(), found.atom_names()), (vec!["SER"], vec!["N", "CA"]));
    assert_eq!(cleaned(&shared.replace("0.70", "0.20")).names(), ["PRO"]);
}

#[test]
fn more_atoms_do_not_outweigh_a_higher_occupancy() {
    let lines = |residue, location, occupancy, names: &[&str]| -> String {
        let line = |name: &&str| Line { name, residue, location, occupancy, ..Line::default() }.text();
        names.iter().map(line).collect()
    };
    let arginine = ["N", "CA", "C", "O", "CB", "CG", "CD", "NE", "CZ", "NH1", "NH2"];
    let serine = ["N", "CA", "C", "O", "CB", "OG"];
    let site = [lines("ARG", 'A', 0.4, &arginine), lines("SER", 'B', 0.6, &serine)].concat();
    let found = cleaned(&site);
    assert_eq!((found.names(), found.left_out), (vec!["SER"], 11));
    assert!(found.said(Subject::Location)[0].contains("this residue has the highest mean occupancy"));
    // location A has more atoms of lower occupancy, and a hydrogen whose occupancy does not count
    let parts = [lines("LYS", 'A', 0.4, &["CG", "CD", "CE"]), lines("LYS", 'B', 0.6, &["CG", "CD"])];
    let hydrogen = lines("LYS", 'A', 1.0, &["HZ1"]);
    let said = cleaned(&[parts.concat(), hydrogen].concat()).said(Subject::Location);
    assert!(said[0].contains("took the alternative location B, and 1 missing atoms from other locations"), "{said:?}");
}

#[test]
fn insertion_codes_and_negative_numbers_are_kept() {
    let line = |number, code| Line { number, code, ..Line::default() }.text();
    let text = [line(-2, ' '), line(0, ' '), line(52, ' '), line(52, 'A'), line(52, 'B')].concat();
    let found = cleaned(&text);
    let labels: Vec<String> = (0..5).map(|index| found.structure.residue_label(index)).collect();
    let expected = ["-2", "0", "52", "52A", "52B"].map(|number| format!("ALA {number} of chain A"));
    assert_eq!(labels, expected);
}

#[test]
fn waters_of_one_number_are_different_residues() {
    let water = |x: f64| {
        let line = |name, x| Line { name, residue: "HOH", at: [x, 0.0, 0.0], ..Line::default() }.text();
        [line("O", x), line("H1", x + 0.9), line("H2", x - 0.9)].concat()
    };
    let found = cleaned(&[water(0.0), water(5.0), water(10.0)].concat());
    assert_eq!(found.names(), ["HOH"; 3]);
    assert_eq!(found.structure.bonds.len(), 6);
    // a residue of chain B stands between two residues with the same number
    let other = Line { chain: 'B', ..Line::default() }.text();
    let names = [Line::default().text(), other, Line::default().text()].concat();
    assert_eq!(cleaned(&names).names(), ["ALA"; 3]);
}

#[test]
fn models_are_counted_and_one_is_read() {
    let model = |number: i32, x: f64| {
        let line = Line { at: [x, 0.0, 0.0], ..Line::default() }.text();
        format!("MODEL     {number:>4}\n{line}ENDMDL\n")
    };
    let text = [model(1, 1.0), model(2, 2.0), model(5, 3.0)].concat();
    let entry = entry_of(&text);
    assert_eq!((entry.models, entry.model), (3, 1));
    assert!(cleaned(&text).said(Subject::Model)[0].contains("took model 1 of 3"));
    let fifth = parse(text.as_bytes(), Some(5)).unwrap();
    assert_eq!((fifth.models, fifth.model), (3, 5));
    assert_eq!(fifth.chains[0].residues[0].atoms[0].position, vec3(3.0, 0.0, 0.0) * 0.1);
    let problem = parse(text.as_bytes(), Some(4)).unwrap_err();
    assert_eq!(problem.message, "the file has no model 4 with atoms");
    // models with the same number are not mixed
    let same = [model(1, 1.0), model(1, 2.0)].concat();
    assert_eq!(entry_of(&same).chains[0].residues[0].atoms.len(), 1);
    // models that END records separate
    let line = Line::default().text();
    assert_eq!(entry_of(&format!("{line}END\n{line}END\n")).models, 2);
}

#[test]
fn selenomethionine_becomes_methionine() {
    let line = |name, element| Line { is_hetero: true, name, residue: "MSE", element, ..Line::default() }.text();
    let text = [line("N", "N"), line("CA", "C"), line("C", "C"), line("SE", "SE"), line("CE", "C")].concat();
    let found = cleaned(&text);
    assert_eq!(found.names(), ["MET"]);
    assert_eq!(found.atom_names()[3], "SD");
    assert_eq!(found.structure.atoms[3].element, 16);
    assert!(found.residues[0].is_polymer && found.residues[0].given_name == "MSE");
    assert!(found.bond_names().contains(&"0:SD 0:CE".to_owned()), "{:?}", found.bond_names());
    assert_eq!(found.said(Subject::Modified).len(), 1);
}

#[test]
fn other_modified_residues_are_listed_and_kept() {
    let modres = "MODRES 1ABC SEP A    1  SER  PHOSPHOSERINE\n";
    let text = format!("{modres}{}", amino_acid("SEP", 'A', 1, 0.0).replace("ATOM  ", "HETATM"));
    let found = cleaned(&text);
    assert_eq!(found.names(), ["SEP"]);
    assert!(found.said(Subject::Modified)[0].starts_with("SEP 1 of chain A: kept SEP, a modified SER"));
    assert_eq!(found.unsupported.len(), 1);
}

#[test]
fn deuterium_is_hydrogen() {
    let line =
        |name, location, occupancy, element| Line { name, location, occupancy, element, ..Line::default() }.text();
    let text = [line("N", ' ', 1.0, "N"), line("H", 'A', 0.3, "H"), line("D", 'B', 0.7, "D")].concat();
    let found = cleaned(&text);
    assert_eq!(found.atom_names(), ["N", "H"]);
    assert_eq!(found.structure.atoms[1].element, 1);
    assert!(found.said(Subject::Names)[0].contains("replaced 1 atom of deuterium"));
    assert_eq!(found.bond_names(), ["0:N 0:H"]);
}

#[test]
fn waters_and_hetero_groups_are_kept_or_dropped() {
    let water =
        Line { is_hetero: true, name: "O", residue: "HOH", number: 201, at: [0.0, 5.0, 0.0], ..Line::default() }.text();
    let ion =
        Line { is_hetero: true, name: "SOD", residue: "SOD", number: 202, at: [0.0, 8.0, 0.0], ..Line::default() }
            .text();
    let text = format!("{}TER\n{water}{ion}", chain_of(&[("ALA", 1, 0.0), ("GLY", 2, 1.0)]));
    let names = |waters, hetero| {
        let found = cleaned_with(&text, &Options { waters, hetero, assembly: None, kept: vec![] });
        (found.names().join(" "), found.said(Subject::Selection).join("; "))
    };
    assert_eq!(names(true, true).0, "ALA GLY HOH NA");
    let (kept, said) = names(false, true);
    assert_eq!(kept, "ALA GLY NA");
    assert!(said.contains("dropped 1 water ("), "{said}");
    let (kept, said) = names(true, false);
    assert_eq!(kept, "ALA GLY HOH");
    assert!(said.contains("dropped 1 residue SOD"), "{said}");
}

#[test]
fn chains_without_identifiers_end_at_ter() {
    let text = format!("{}TER\n{}", amino_acid("ALA", ' ', 1, 0.0), amino_acid("ALA", ' ', 2, 9.0));
    let found = cleaned(&text);
    assert_eq!(found.structure.chains, ["", ""]);
    // the only missing atom is OXT at the end of each chain
    assert!(found.missing_atoms.iter().all(|missing| missing.names == ["OXT"]), "{:?}", found.missing_atoms);
    assert_eq!(found.missing_atoms.len(), 2);
}

#[test]
fn faults_name_their_line() {
    let line = Line::default().text();
    let problem = parse(format!("{line}{}", line.replace("   0.000   0.000", "   0.0x0   0.000")).as_bytes(), None);
    assert_eq!(problem.unwrap_err().line, Some(2));
    let problem = parse(line.replace("   1    ", "   x    ").as_bytes(), None).unwrap_err();
    assert_eq!((problem.line, problem.message.as_str()), (Some(1), "`x` is not a residue number"));
    assert!(parse(b"HEADER\nTITLE     NOTHING\n", None).unwrap_err().message.contains("no atoms"));
    assert!(parse(b"hello\n", None).unwrap_err().message.contains("neither a PDB nor"));
    let missing = super::super::read(std::path::Path::new("no-such-entry.pdb"), None);
    assert_eq!(missing.unwrap_err().exit_code(), 2);
}

#[test]
fn virtual_sites_of_waters_are_left_out() {
    let line = |name| Line { is_hetero: true, name, residue: "SOL", element: "", ..Line::default() }.text();
    let text: String = ["OW", "HW1", "HW2", "MW"].map(line).concat();
    let found = cleaned(&text);
    assert_eq!(found.atom_names(), ["O", "H1", "H2"]);
    assert!(found.said(Subject::Selection).iter().any(|said| said.contains("left out 1 virtual site of waters")));
    // virtual sites of waters: lone pairs, and the extra point in AMBER's files
    let five: String = ["OW", "HW1", "HW2", "LP1", "LP2"].map(line).concat();
    assert_eq!(cleaned(&five).atom_names(), ["O", "H1", "H2"]);
    assert_eq!(cleaned(&text.replace("MW ", "EPW")).atom_names(), ["O", "H1", "H2"]);
}

/// Nucleotides of chain A: names, and whether each nucleotide has O2'.
fn nucleotides(residues: &[(&str, bool)]) -> String {
    let of = |(index, &(residue, has_oxygen)): (usize, &(&str, bool))| -> String {
        let names = ["C1'", "C2'", "C3'", "O2'"].into_iter().filter(|name| has_oxygen || *name != "O2'");
        let line = |name| Line { name, residue, number: index as i32 + 1, ..Line::default() }.text();
        names.map(line).collect()
    };
    residues.iter().enumerate().map(of).collect()
}

#[test]
fn the_chain_tells_rna_from_dna() {
    let names = |residues: &[(&str, bool)]| cleaned(&nucleotides(residues)).names().join(" ");
    // another nucleotide of the chain has O2', or the chain has U
    assert_eq!(names(&[("G", false), ("C", true)]), "G C");
    assert_eq!(names(&[("GUA", false), ("CYT", true)]), "G C");
    assert_eq!(names(&[("G", false), ("U", false)]), "G U");
    // DNA of old files and of CHARMM
    assert_eq!(names(&[("G", false), ("C", false)]), "DG DC");
    assert_eq!(names(&[("A", false), ("T", false)]), "DA DT");
    // nucleotides of RNA and DNA in one chain
    assert_eq!(names(&[("ADE", true), ("ADE", false), ("THY", false)]), "A DA DT");
    // the sequence has U
    let sequence = "SEQRES   1 A    3    G   C   U\n";
    let found = cleaned(&format!("{sequence}{}", nucleotides(&[("G", false), ("C", false)])));
    assert_eq!(found.names().join(" "), "G C");
}

#[test]
fn a_free_amino_acid_is_dropped_with_other_molecules() {
    let free = amino_acid("GLY", 'B', 500, 9.0).replace("ATOM  ", "HETATM");
    let text = format!("{}TER\n{free}", chain_of(&[("ALA", 1, 0.0), ("SER", 2, 1.0)]));
    let names = |hetero| {
        let options = Options { hetero, ..Options::default() };
        clean(&parse(text.as_bytes(), None).unwrap(), &options).unwrap().names().join(" ")
    };
    assert_eq!([names(true), names(false)], ["ALA SER GLY", "ALA SER"]);
}

#[test]
fn atoms_without_occupancy_are_counted() {
    let line = |name, occupancy, element| Line { name, residue: "SER", occupancy, element, ..Line::default() }.text();
    let text = |occupancy: f64| {
        let side = [line("CB", occupancy, "C"), line("OG", occupancy, "O"), line("HG", occupancy, "H")].concat();
        format!("{}{side}", line("CA", 1.0, "C"))
    };
    // hydrogens are replaced, so that their occupancies do not matter
    let said = cleaned(&text(0.0)).said(Subject::Selection);
    assert!(said.len() == 1 && said[0].contains("took 2 heavy atoms with the occupancy 0.00"), "{said:?}");
    assert_eq!(cleaned(&text(0.01)).said(Subject::Selection), [""; 0]);
    // atoms at a location that was not chosen are not used
    let other = Line { name: "CA", residue: "SER", location: 'B', occupancy: 0.0, ..Line::default() }.text();
    let taken = Line { name: "CA", residue: "SER", location: 'A', occupancy: 1.0, ..Line::default() }.text();
    assert_eq!(cleaned(&[taken, other].concat()).said(Subject::Selection), [""; 0]);
}

#[test]
fn caps_of_charmm_get_numbers_that_are_free() {
    let line = |name, x, y| Line { name, residue: "ALA", number: 1, at: [x, y, 0.0], ..Line::default() }.text();
    let methyl = [line("NT", 3.6, 0.7), line("CAT", 4.9, 0.2)].concat();
    let found = cleaned(&format!("{}{methyl}{}", amino_acid("ALA", 'A', 1, 0.0), amino_acid("GLY", 'A', 2, 9.0)));
    let labels: Vec<String> = (0..3).map(|index| found.structure.residue_label(index)).collect();
    assert_eq!(labels, ["ALA 1 of chain A", "NME 1A of chain A", "GLY 2 of chain A"]);
}
