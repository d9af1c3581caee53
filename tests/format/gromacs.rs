//! GROMACS topologies: each function type, combination rule, 1-4 convention and kind of virtual site is compared with
//! the energies that GROMACS computes (`gromacs/`, made by `../systems/build/gromacs.py`), and systems of AMBER files
//! with OpenMM.

use std::path::{Path, PathBuf};

use md::backend::{Energies, Reference, Workload};
use md::format::{TopologyOptions, read_coordinates, read_topology, read_topology_with};
use md::system::{Construction, Description};
use md::vec3::Vec3;

use crate::golden::{Golden, file};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format/gromacs").join(name)
}

fn flexible() -> TopologyOptions {
    TopologyOptions { define: vec!["FLEXIBLE".into()], ..TopologyOptions::default() }
}

/// Returns the energies of all pairs, without a periodic cell.
fn energies(description: Description, positions: &[Vec3]) -> Energies {
    crate::charmm::evaluate(description, positions).energies
}

/// Relative tolerance. GROMACS computes in single precision: positions below 2 nm have an error of 1.2e-7 nm, energies
/// a relative error of 6e-8. The energy of a bond with a force constant of 3·10⁵ kJ/mol/nm² and a displacement of 0.01
/// nm, some tens of kJ/mol, then has an error of 4·10⁻⁴ kJ/mol.
const TOLERANCE: f64 = 1e-5;
/// Absolute tolerance in kJ/mol, for energies whose terms cancel.
const FLOOR: f64 = 1e-4;

#[test]
fn every_function_agrees_with_gromacs() {
    let reference: serde_json::Value = serde_json::from_slice(&std::fs::read(path("reference.json")).unwrap()).unwrap();
    for name in ["functions", "types", "rule1", "rule2", "rule3", "rings", "leap", "gromos"] {
        let description = read_topology(&path(&format!("{name}.top"))).unwrap_or_else(|error| panic!("{error}"));
        let atoms = description.topology.atoms.len();
        let coordinates = read_coordinates(&path(&format!("{name}.gro")), Some(atoms), None).unwrap();
        assert_eq!(coordinates.time, Some(2.5));
        let found = energies(description, &coordinates.positions);
        let their = |names: &[&str]| names.iter().filter_map(|term| reference[name][term].as_f64()).sum::<f64>();
        for (term, energy, expected) in [
            ("bond", found.bond, their(&["Bond", "Harmonic Pot.", "G96Bond"])),
            // GROMACS reports the sum of both parts of a Urey-Bradley angle
            ("angle", found.angle + found.urey_bradley, their(&["Angle", "U-B", "G96Angle"])),
            ("proper", found.proper, their(&["Proper Dih."])),
            ("improper", found.improper, their(&["Improper Dih.", "Per. Imp. Dih."])),
            ("polynomial", found.ryckaert_bellemans, their(&["Ryckaert-Bell.", "Fourier Dih."])),
            ("lj 1-4", found.lj_14, their(&["LJ-14"])),
            ("coulomb 1-4", found.coulomb_14, their(&["Coulomb-14"])),
            ("lj", found.lj - found.lj_14, their(&["LJ (SR)"])),
            ("coulomb", found.coulomb - found.coulomb_14, their(&["Coulomb (SR)"])),
        ] {
            println!("{name} {term}: {energy:.6} {expected:.6}");
            assert!((energy - expected).abs() <= TOLERANCE * expected.abs() + FLOOR, "{name} {term}");
        }
    }
}

/// Relative tolerance. Both energies are sums of products of numbers with at least six digits. The files prmtop and top
/// round σ to eight digits in different ways, and r⁻¹² multiplies this error by twelve.
const DIGITS: f64 = 1e-6;

#[test]
fn systems_of_amber_files_agree_with_openmm() {
    let systems = [
        ("peptide-charged", true),
        ("argon", false),
        ("salt-crystal", false),
        ("salt-displaced", false),
        ("water", true),
        ("tip4pew", true),
    ];
    for (name, has_water) in systems {
        let mut golden = Golden::load(name).unwrap();
        let top = file(&golden.folder, &format!("{name}.top")).unwrap();
        let options = if has_water { flexible() } else { TopologyOptions::default() };
        let Description { topology, nonbonded, .. } = read_topology_with(&top, &options).unwrap();
        let (amber, atoms) = (&golden.system.topology, topology.atoms.len());
        assert_eq!(topology.exclusions, amber.exclusions, "{name}");
        assert_eq!(sorted(&topology.connectivity), sorted(&amber.connectivity), "{name}");
        let elements = |topology: &md::system::Topology| topology.atoms.iter().map(|a| a.element).collect::<Vec<_>>();
        assert_eq!(elements(&topology), elements(amber), "{name}");
        (golden.system.topology, golden.system.nonbonded) = (topology, nonbonded);
        if let Some(gro) = file(&golden.folder, &format!("{name}.gro")) {
            let coordinates = read_coordinates(&gro, Some(atoms), None).unwrap();
            let far = golden.positions.iter().zip(&coordinates.positions).map(|(a, b)| (*a - *b).norm());
            assert!(far.fold(0.0, f64::max) < 1e-8, "{name}: another structure");
            golden.positions = coordinates.positions;
        }
        let case = golden.cases().swap_remove(0);
        golden.choose(&case);
        let mut reference = Reference::new(&golden.system).unwrap();
        let everything = Workload { energy: true, virial: false, ..Workload::FORCES };
        let found = reference.evaluate(golden.cell.as_ref(), &golden.positions, everything).energies;
        let their = |key| golden.number(&case, key);
        for (term, energy, expected) in [
            ("bond", found.bond, their("bond")),
            ("angle", found.angle, their("angle")),
            ("proper", found.proper, their("dihedral_proper")),
            ("improper", found.improper, their("dihedral_improper")),
            ("coulomb 1-4", found.coulomb_14, their("elec_14")),
            ("lj 1-4", found.lj_14, their("lj_14")),
            ("coulomb", found.coulomb, their("elec_total")),
            ("lj", found.lj, their("lj_with_dispcorr")),
        ] {
            println!("{name} {term}: {energy:.9} {expected:.9}");
            assert!((energy - expected).abs() <= DIGITS * expected.abs().max(1.0), "{name} {term}");
        }
    }
}

fn sorted(pairs: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = pairs.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
    pairs.sort_unstable();
    pairs
}

/// Tolerance in nm. GROMACS writes positions to a `.g96` file from single precision, with an error of 1.2e-7 nm below 2
/// nm. The constructions, with factors below 6, multiply this error by a small number.
const SITE_TOLERANCE: f64 = 1e-6;

#[test]
fn sites_stand_where_gromacs_puts_them() {
    let description = read_topology(&path("sites.top")).unwrap();
    let expected = read_coordinates(&path("sites.g96"), Some(15), None).unwrap();
    assert!((expected.cell.unwrap().volume() - 1728.0).abs() < 1e-6);
    let start = read_coordinates(&path("sites.gro"), Some(15), None).unwrap().positions;
    let sites = &description.topology.virtual_sites;
    assert_eq!(sites.iter().map(|site| site.site).collect::<Vec<_>>(), (4..15).collect::<Vec<_>>());
    for site in sites {
        let found = place(&site.construction, &start);
        let off = (found - expected.positions[site.site as usize]).norm();
        println!("{:?}: {off:e}", site.construction);
        assert!(off < SITE_TOLERANCE, "{:?}", site.construction);
    }
    assert_eq!(description.topology.connectivity.len(), 1 + 11, "sites belong to the molecule");
}

/// Returns the position of a virtual site, by the formulas in the documentation of [`Construction`].
fn place(construction: &Construction, x: &[Vec3]) -> Vec3 {
    let at: Vec<Vec3> = construction.atoms().iter().map(|&atom| x[atom as usize]).collect();
    let to = |k: usize| at[k] - at[0];
    let unit = |v: Vec3| v * (1.0 / v.norm());
    let average = |weights: &[f64]| at.iter().zip(weights).fold(Vec3::ZERO, |sum, (r, w)| sum + *r * *w);
    match construction {
        Construction::Average2 { weights, .. } => average(weights),
        Construction::Average3 { weights, .. } => average(weights),
        Construction::Average { weights, .. } => average(weights),
        Construction::FixedDistance2 { distance, .. } => at[0] + unit(to(1)) * *distance,
        Construction::FixedDistance3 { weight, distance, .. } => {
            at[0] + unit(to(1) + (at[2] - at[1]) * *weight) * *distance
        }
        Construction::FixedAngle3 { angle, distance, .. } => {
            let (ij, jk) = (to(1), at[2] - at[1]);
            let side = jk - ij * (ij.dot(jk) / ij.dot(ij));
            at[0] + unit(ij) * (distance * angle.cos()) + unit(side) * (distance * angle.sin())
        }
        Construction::OutOfPlane { weights: [a, b], cross, .. } => {
            at[0] + to(1) * *a + to(2) * *b + to(1).cross(to(2)) * *cross
        }
        Construction::FixedDistance4 { weights: [a, b], distance, .. } => {
            at[0] + unit((to(2) * *a - to(1)).cross(to(3) * *b - to(1))) * *distance
        }
        Construction::LocalFrame { .. } => panic!("GROMACS has none"),
    }
}

/// Tests sites that are constructed from other sites. The order of sites in the file does not matter.
#[test]
fn sites_of_sites_stand_where_gromacs_puts_them() {
    let description = read_topology(&path("nested.top")).unwrap();
    let expected = read_coordinates(&path("nested.g96"), Some(7), None).unwrap().positions;
    let start = read_coordinates(&path("nested.gro"), Some(7), None).unwrap();
    let options = md::prepare::Options {
        forces: &md::prepare::ForceOptions::all_pairs(),
        tuning: md::prepare::TuningMethod::default(),
        constrained_terms: md::prepare::ConstrainedTerms::default(),
        files: md::prepare::Files::default(),
    };
    let coordinates = md::format::Coordinates { cell: None, velocities: None, ..start };
    let prepared = md::prepare::prepare(description, coordinates, &options).unwrap();
    let order: Vec<u32> = prepared.system.topology.virtual_sites.iter().map(|site| site.site).collect();
    assert_eq!(order, [6, 4, 5]);
    for (site, (found, expected)) in prepared.state.positions.iter().zip(&expected).enumerate() {
        let off = (*found - *expected).norm();
        println!("{site}: {off:e}");
        assert!(off < SITE_TOLERANCE, "{site}: {found:?} {expected:?}");
    }
}

#[test]
fn settles_make_rigid_waters_and_flexible_ones_have_bonds() {
    let folder = crate::golden::folder("tip4pew").unwrap();
    let top = file(&folder, "tip4pew.top").unwrap();
    let rigid = read_topology(&top).unwrap().topology;
    let waters = rigid.residues.len();
    assert_eq!((rigid.constraints.len(), rigid.connectivity.len()), (3 * waters, 3 * waters));
    assert_eq!((rigid.virtual_sites.len(), rigid.exclusions.len()), (waters, 6 * waters));
    assert!((0..waters).all(|residue| rigid.is_water(residue)));
    let first: Vec<_> = rigid.constraints[..3].iter().map(|constraint| (constraint.atoms, constraint.length)).collect();
    assert_eq!(first, [([0, 1], 0.09572), ([0, 2], 0.09572), ([1, 2], 0.151390065)]);
    let (last, site) = (rigid.atoms.len() as u32 - 4, &rigid.virtual_sites[waters - 1]);
    assert_eq!((site.site, site.construction.atoms()), (last + 3, &[last, last + 1, last + 2][..]));
    // the residues of molecules with one residue each are numbered consecutively
    assert!(rigid.residues.iter().zip(1..).all(|(residue, number)| residue.number == number));
    let flexible = read_topology_with(&top, &flexible()).unwrap().topology;
    assert_eq!((flexible.constraints.len(), flexible.bonded.bonds.len()), (0, 3 * waters));
    assert_eq!(sorted(&flexible.connectivity), sorted(&rigid.connectivity));
}
