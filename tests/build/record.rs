//! Tests of the files that `md build` writes for a single water: the record of the build, and the topology.

use std::path::Path;

use crate::{done, md};

/// Writes the file `water.pdb` with the oxygen of a water.
fn write_water(folder: &Path) {
    let line = "HETATM    1  O   HOH A   1       1.000   2.000   3.000  1.00  0.00           O";
    std::fs::write(folder.join("water.pdb"), line).unwrap();
}

/// Tests that the record of a build names all settings, and that ff19SB without a choice of water is told.
#[test]
fn a_build_can_be_repeated_from_its_record() {
    let folder = tempfile::tempdir().unwrap();
    write_water(folder.path());
    let build = |more: &[&str]| {
        let wishes = ["--forcefield", "amber19", "--size", "2.7 nm", "--seed", "7", "--salt", "0.15 M"];
        done(md(folder.path()).args(["build", "water.pdb", "-o", "w"]).args(wishes).args(more))
    };
    let opc = "took the water model tip3p (ff19SB was developed with the water model OPC: --water opc";
    assert!(!build(&["--water", "tip3p", "--dry-run"]).contains(opc));
    assert!(build(&[]).contains(opc));
    let file = |name: &str| std::fs::read_to_string(folder.path().join("w").join(name)).unwrap();
    let (log, json) = (file("build.log"), file("build.json"));
    let command = "md build water.pdb --forcefield amber19 --size '2.7 nm' --seed 7 --salt '0.15 M'\n";
    assert!(log.contains(command), "{log}");
    let parts =
        ["amber19/protein.ff19SB.xml", "amber14/tip3p.xml", "water tip3p", "pH 7", "propka", "seed 7", "cation Na+"];
    assert!(parts.iter().all(|part| log.contains(part)), "{log}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!({
        "options": ["water.pdb", "--forcefield", "amber19", "--size", "2.7 nm", "--seed", "7", "--salt", "0.15 M"],
        "force_field": ["amber19"], "water": "tip3p", "cation": "Na+", "anion": "Cl-", "salt": "0.15 M",
        "salt_method": "volume", "ion_places": "random", "seed": 7, "ph": 7.0, "pka_model": "propka",
        "shape": "dodecahedron", "padding": null, "size": "2.7 nm", "membrane": null,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&json["settings"][key], value, "{key}");
    }
    assert_eq!(json["settings"]["parameter_files"].as_array().unwrap().len(), 5, "{json}");
}

/// Tests the bonds from which readers of an AMBER topology derive the virtual site of a water. The geometries of OPC
/// (S. Izadi, R. Anandakrishnan, A. V. Onufriev, J. Phys. Chem. Lett. 5, 3863 (2014)) and of TIP4P-Ew (H. W. Horn et
/// al., J. Chem. Phys. 120, 9665 (2004)) give the lengths (Å) of the H–H bond and of the bond to the virtual site.
#[test]
fn waters_with_four_sites_have_an_amber_topology() {
    let folder = tempfile::tempdir().unwrap();
    write_water(folder.path());
    for (water, oh, angle, site) in [("opc", 0.8724, 103.6_f64, 0.1594), ("tip4pew", 0.9572, 104.52, 0.125)] {
        done(md(folder.path()).args(["build", "water.pdb", "-o", water, "--water", water, "--size", "2.7 nm"]));
        let text = std::fs::read_to_string(folder.path().join(water).join("system.prmtop")).unwrap();
        let section = text.split("%FLAG BOND_EQUIL_VALUE").nth(1).unwrap().split("%FLAG").next().unwrap();
        let numbers = section.lines().skip(2).flat_map(str::split_whitespace);
        let mut lengths: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
        lengths.sort_by(f64::total_cmp);
        let hh = 2.0 * oh * (0.5 * angle.to_radians()).sin();
        // the force-field files round the angle to 1e-5 rad and the weights of the site to 1e-4
        assert!(
            lengths.len() == 3 && lengths.iter().zip([site, oh, hh]).all(|(a, b)| (a - b).abs() < 1e-3),
            "{lengths:?}"
        );
        let check = done(md(folder.path()).args(["check", &format!("{water}/input.toml")]));
        assert!(check.contains("net charge 0 e"), "{check}");
    }
}
