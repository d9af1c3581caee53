//! Tests that entries with random damage never make the program panic or hang, and that structures from these entries
//! are consistent.

use md_engine::rng::{Purpose, Stream};

use super::*;

const ROUNDS: u32 = 1500;

/// An entry with records of all kinds.
fn whole_entry() -> String {
    let hetero = |serial, name, residue, number, at| {
        Line { is_hetero: true, serial, name, residue, number, at, ..Line::default() }.text()
    };
    [
        "TITLE     ALL KINDS OF RECORDS\nCRYST1   50.000   60.000   70.000  90.00  90.00  90.00 P 1           1\n"
            .to_owned(),
        "SEQRES   1 A    7  MET ALA SER GLY CYS MSE CYS\nMODRES 1ABC MSE A    6  MET\n".to_owned(),
        "SSBOND   1 CYS A    5    CYS A    7                          1555   1555  2.04\n".to_owned(),
        "LINK         SG  CYS A   5                ZN    ZN A 301     1555   1555  2.30\n".to_owned(),
        "REMARK 350 BIOMOLECULE: 1\nREMARK 350 APPLY THE FOLLOWING TO CHAINS: A\n".to_owned(),
        "REMARK 350   BIOMT1   1 -1.000000  0.000000  0.000000       10.00000\n".to_owned(),
        "REMARK 350   BIOMT2   1  0.000000 -1.000000  0.000000        0.00000\n".to_owned(),
        "REMARK 350   BIOMT3   1  0.000000  0.000000  1.000000        5.00000\nMODEL        1\n".to_owned(),
        chain_of(&[("ALA", 2, 0.0), ("SER", 3, 1.0), ("CYS", 5, 3.0), ("MSE", 6, 4.0), ("CYS", 7, 5.0)]),
        Line { name: "SG", residue: "CYS", number: 7, location: 'B', occupancy: 0.5, ..Line::default() }.text(),
        "TER\n".to_owned(),
        hetero(90, "ZN", "ZN", 301, [9.0, 9.0, 0.0]),
        hetero(91, "C1", "LIG", 302, [20.0, 9.0, 0.0]),
        hetero(92, "O1", "LIG", 302, [21.4, 9.0, 0.0]),
        hetero(93, "O", "HOH", 401, [9.0, 20.0, 0.0]),
        "ENDMDL\nCONECT   91   92\nCONECT   92   91   90\nEND\n".to_owned(),
    ]
    .concat()
}

/// Applies a few random changes to a text: changed bytes, and removed, repeated or moved lines.
fn damage(text: &str, random: &mut Stream) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
    let below = |random: &mut Stream, limit: usize| (random.uniform() * limit as f64) as usize % limit.max(1);
    for _ in 0..=below(random, 4) {
        let (a, b) = (below(random, lines.len()), below(random, lines.len()));
        match below(random, 6) {
            0 if lines.len() > 1 => drop(lines.remove(a)),
            1 => lines.insert(b, lines[a].clone()),
            2 => lines.swap(a, b),
            3 => {
                let length = below(random, lines[a].len());
                lines[a].truncate(length);
            }
            _ => {
                let bytes = b" 0123456789-.?'\";#_ABCZzx(),\n\t\xff";
                let byte = bytes[below(random, bytes.len())];
                let at = below(random, lines[a].len());
                if let Some(place) = lines[a].get_mut(at) {
                    *place = byte;
                }
            }
        }
    }
    lines.concat()
}

#[test]
fn damaged_entries_are_read_or_refused() {
    let (mut read, mut refused) = (0, 0);
    for text in [whole_entry().as_str(), mmcif::ENTRY] {
        let whole = cleaned(text);
        assert!(!whole.metal_sites.is_empty() || !whole.unsupported.is_empty() || whole.structure.atoms.len() > 20);
        for round in 0..ROUNDS {
            let mut random = Stream::new(7, Purpose::Test, 0, round);
            let bytes = damage(text, &mut random);
            for assembly in [None, Some("1".to_owned())] {
                let options = Options { assembly, waters: round % 2 == 0, hetero: round % 3 > 0, kept: vec![] };
                match parse(&bytes, None).and_then(|entry| clean(&entry, &options)) {
                    Ok(found) => {
                        assert_eq!(found.structure.check(), Ok(()));
                        assert_eq!(found.positions.len(), found.structure.atoms.len());
                        assert_eq!(found.residues.len(), found.structure.residues.len());
                        read += 1;
                    }
                    Err(problem) => {
                        assert!(problem.help.is_some(), "{problem}");
                        refused += 1;
                    }
                }
            }
        }
    }
    // the damage is neither always harmless nor always fatal
    assert!(read > 1000 && refused > 300, "{read} read, {refused} refused");
}

#[test]
fn large_degenerate_entries_take_little_time() {
    // the atoms of 5000 zinc ions and cysteines are all at one point
    let zinc = Line { is_hetero: true, name: "ZN", residue: "ZN", element: "ZN", ..Line::default() }.text();
    let sulfur = Line { name: "SG", residue: "CYS", element: "S", ..Line::default() }.text();
    let found = cleaned(&format!("{}{}", sulfur.repeat(5000), zinc.repeat(5000)));
    assert!(found.structure.residues.len() <= 10000);
    // a long sequence of equal residues, and observed residues whose numbers repeat
    let sequence = format!("SEQRES   1 A 9999  {}\n", ["ALA"; 13].join(" ")).repeat(300);
    let observed: String = (0..2000).map(|index| Line { number: index % 7, ..Line::default() }.text()).collect();
    cleaned(&format!("{sequence}{observed}"));
}
