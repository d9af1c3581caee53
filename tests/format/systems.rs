//! Tests that counts, charge, mass and box of every reference system agree with `ref.json`.

use md::cell::PeriodicCell;
use md::format::{read_coordinates, read_topology};
use md::system::{BoxKind, Construction, VirtualSite};
use md::units::DENSITY;
use md::vec3::vec3;

use crate::{reference, shared_systems, system_file};

/// Tolerance of the net charge in e. Up to 155 008 charges are added in another order, and partial sums of some tens of
/// e have rounding errors of 1e-15 e.
const CHARGE_TOLERANCE: f64 = 1e-9;
/// Relative tolerance of masses. The density in `ref.json` was computed with masses rounded to nine digits.
const MASS_TOLERANCE: f64 = 1e-8;
/// Tolerance of lattice vectors in nm. Box edges are printed to 1e-8 nm. The angle of an octahedron is 1.6e-6° (2.8e-8
/// rad) off in files, and `md` replaces the angle by the exact one. The resulting error is 2.8e-8 times 4.24 nm, and at
/// most three times this value for the third vector, which depends on three angles.
const BOX_TOLERANCE_NM: f64 = 4e-7;

#[test]
fn all_systems_agree_with_their_reference() {
    let Some(root) = shared_systems() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(root).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() || folder.ends_with("tip4pew-3k") {
            continue;
        }
        println!("{}", folder.display());
        let expected = reference(&folder);
        let amber = read_topology(&system_file(&folder, "prmtop")).unwrap();
        let atoms = &amber.topology.atoms;
        assert_eq!(atoms.len() as u64, expected["atoms"].as_u64().unwrap());
        let charge: f64 = atoms.iter().map(|atom| atom.charge).sum();
        assert!((charge - expected["net_charge_e"].as_f64().unwrap()).abs() < CHARGE_TOLERANCE, "charge {charge}");
        assert!(atoms.iter().all(|atom| atom.element > 0), "an element was not recognised");
        assert_eq!(amber.topology.charmm, folder.ends_with("charmm36-ala3"));

        let hint = amber.cell_hint.angle_degrees;
        let coordinates = read_coordinates(&system_file(&folder, "rst7"), Some(atoms.len()), hint).unwrap();
        assert_eq!(coordinates.positions.len(), atoms.len());
        assert_eq!(coordinates.cell.is_some(), amber.cell_hint.kind != BoxKind::None);
        if let Some(cell) = coordinates.cell {
            check_box(&cell, &expected["box_vectors_nm"]);
            let mass: f64 = atoms.iter().map(|atom| atom.mass).sum();
            let density = mass / expected["volume_nm3"].as_f64().unwrap() * DENSITY;
            let relative = density / expected["density_g_cc"].as_f64().unwrap() - 1.0;
            assert!(relative.abs() < MASS_TOLERANCE, "mass off by {relative:e}");
        }
        seen += 1;
    }
    assert!(seen >= 14, "only {seen} systems were found");
}

/// Asserts that the box vectors of the reference are lattice vectors of the cell, and that the volumes are equal.
fn check_box(cell: &PeriodicCell, expected: &serde_json::Value) {
    let mut diagonal = 1.0;
    for (i, row) in expected.as_array().unwrap().iter().enumerate() {
        let [x, y, z] = [0, 1, 2].map(|k| row[k].as_f64().unwrap());
        diagonal *= [x, y, z][i];
        let fractional = cell.to_fractional(vec3(x, y, z));
        let nearest = cell.to_cartesian(fractional.map(f64::round));
        assert!((nearest - vec3(x, y, z)).norm() < BOX_TOLERANCE_NM, "{row} is not a lattice vector of {cell:?}");
    }
    assert!((cell.volume() / diagonal - 1.0).abs() < BOX_TOLERANCE_NM);
}

/// Compares the weights of virtual sites, a in `r = r_O + a (r_H1 − r_O) + …`, with those in OpenMM's force field files
/// (tip4pew.xml, tip5p.xml), which have ten digits.
#[test]
fn extra_points_of_waters_are_virtual_sites() {
    let read = |name: &str| {
        let path = format!("{}/tests/systems/{name}/{name}.prmtop.xz", env!("CARGO_MANIFEST_DIR"));
        read_topology(path.as_ref()).unwrap().topology
    };
    let four = read("tip4pew");
    assert_eq!(four.virtual_sites.len(), four.residues.len());
    let Construction::Average3 { atoms: [0, 1, 2], weights: [o, h1, h2] } = four.virtual_sites[0].construction else {
        panic!("{:?}", four.virtual_sites[0]);
    };
    assert!((o - 0.786_646_558).abs() < 1e-8 && (h1 - 0.106_676_721).abs() < 1e-8 && h1 == h2, "{o} {h1}");
    // the reference is amber14/opc.xml, where the H–H length follows from a rounded angle and has an error of 4e-8 Å; a
    // third of this error enters the weight
    let opc = read("opc");
    assert_eq!(opc.virtual_sites.len(), opc.residues.len());
    let Construction::Average3 { atoms: [0, 1, 2], weights: [o, h1, h2] } = opc.virtual_sites[0].construction else {
        panic!("{:?}", opc.virtual_sites[0]);
    };
    assert!((o - 0.704_558_781).abs() < 2e-8 && (h1 - 0.147_720_609).abs() < 2e-8 && h1 == h2, "{o} {h1}");
    assert!(read("opc3").virtual_sites.is_empty());
    let five = read("tip5p");
    let lone_pair = |index: usize| match &five.virtual_sites[index] {
        VirtualSite { site, construction: Construction::OutOfPlane { atoms: [0, 1, 2], weights, cross } } => {
            (*site, *weights, *cross)
        }
        other => panic!("{other:?}"),
    };
    let ((3, [a, b], c), (4, _, minus_c)) = (lone_pair(0), lone_pair(1)) else { panic!("sites of the first water") };
    assert!((a + 0.344_908_261_58).abs() < 1e-9 && a == b, "{a}");
    assert!((c - 6.443_790_371_4).abs() < 1e-7 && minus_c == -c, "{c}");
}

/// Tests the virtual site of TIP4P-D, a water with the geometry of TIP4P-Ew whose site is 0.1546 Å from the oxygen (S.
/// Piana et al., J. Phys. Chem. B 119, 5113 (2015)).
#[test]
fn the_distance_of_an_extra_point_is_that_of_its_bond() {
    let path = format!("{}/tests/systems/tip4pew/tip4pew.prmtop.xz", env!("CARGO_MANIFEST_DIR"));
    let text = String::from_utf8(md::format::read(path.as_ref()).unwrap()).unwrap();
    let (_folder, path) =
        crate::literal::file("tip4pd.prmtop", text.replace("1.25000000E-01", "1.54600000E-01").as_bytes());
    let topology = read_topology(&path).unwrap().topology;
    let Construction::Average3 { weights: [_, h1, h2], .. } = topology.virtual_sites[0].construction else {
        panic!("{:?}", topology.virtual_sites[0]);
    };
    // weight of each hydrogen: half of 0.1546 Å divided by the height of the water, 0.9572 Å cos(104.52°/2)
    let expected = 0.5 * 0.1546 / (0.9572 * 52.26f64.to_radians().cos());
    assert!((h1 - expected).abs() < 1e-7 && h1 == h2, "{h1} for {expected}");
}

#[test]
fn water_braces_are_terms_but_not_chemical_bonds() {
    let Some(root) = shared_systems() else { return };
    let topology = read_topology(&system_file(&root.join("water-3k"), "prmtop")).unwrap().topology;
    assert_eq!((topology.bonded.bonds.len(), topology.connectivity.len()), (3000, 2000));
    assert!((0..1000).all(|residue| topology.is_water(residue)));
    assert_eq!(topology.exclusions.len(), 3000);
}
