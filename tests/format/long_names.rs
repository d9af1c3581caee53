//! Tests of type names that are longer than eight bytes, as in OPLS-AA, in files that are read and written.

use md::convert::write_topology;
use md::format::{read_topology, read_topology_with};

use crate::gromacs_text::{TOP, good, read};

/// A topology in which two types of OPLS-AA differ only in the ninth byte of their names.
fn opls() -> String {
    let types = "CT CT 6 12.01 0.0 A 0.34 0.45\n";
    let named = TOP.replace(
        types,
        &format!("{types}opls_1001 CT 6 12.01 0.0 A 0.34 0.45\nopls_1002 CT 6 12.01 0.0 A 0.35 0.45\n"),
    );
    named
        .replace("1 CT 1 BUT C1 1  0.1", "1 opls_1001 1 BUT C1 1  0.1")
        .replace("2 CT 1 BUT C2", "2 opls_1002 1 BUT C2")
}

#[test]
fn long_type_names_are_kept_whole() {
    let topology = good(&opls(), &[]);
    let types: Vec<&str> = topology.atoms[..3].iter().map(|atom| atom.type_name.as_str()).collect();
    assert_eq!(types, ["opls_1001", "opls_1002", "CT"]);
    let chosen = md::select::select(&topology, "type opls_1002").unwrap();
    assert!(!chosen.is_empty() && chosen.iter().all(|&atom| topology.atoms[atom as usize].name.as_str() == "C2"));
}

#[test]
fn written_types_stay_different() {
    let folder = tempfile::tempdir().unwrap();
    let [source, top, prmtop] = ["a.top", "b.top", "b.prmtop"].map(|name| folder.path().join(name));
    std::fs::write(&source, opls()).unwrap();
    let description = read_topology_with(&source, &Default::default()).unwrap();
    let types = |path: &std::path::Path| -> Vec<String> {
        let atoms = read_topology(path).unwrap().topology.atoms;
        atoms[..3].iter().map(|atom| atom.type_name.to_string()).collect()
    };
    assert_eq!(write_topology(&description, None, &top).unwrap(), [""; 0]);
    assert_eq!(types(&top), ["opls_1001", "opls_1002", "CT"]);
    let losses = write_topology(&description, None, &prmtop).unwrap();
    assert_eq!(types(&prmtop), ["opls", "o001", "CT"]);
    assert!(losses.iter().any(|loss| loss.contains("are numbered: opls_1002 is o001, 1 in all")), "{losses:?}");
}

#[test]
fn names_that_md_cannot_hold_are_refused() {
    for (old, new) in
        [("BUT C1 1  0.1", "BUT C12345678901234567 1  0.1"), ("BUT C1 1  0.1", "B12345678901234567 C1 1  0.1")]
    {
        let message = read(&[("a.top", &TOP.replace(old, new))], &[], &[]).unwrap_err();
        assert!(message.contains("12345678901234567 has more than 16 bytes"), "{message}");
        assert!(message.contains("a.top:"), "{message}");
    }
}
