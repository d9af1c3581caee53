//! Tests of the terms of pKa values on small geometries, against values computed by hand from the formulae of the
//! papers, and of the villin headpiece against PROPKA 3.5.1.

use md_engine::vec3::{Vec3, vec3};

use super::super::tests::reference;
use super::backbone::Link;
use super::burial::{Burial, HeavyAtoms};
use super::coulomb::Ion;
use super::coupling::{Exchange, Pair};
use super::groups::{Contact, Group, Ionizable, Kind};
use super::*;
use crate::structure::{Atom, Residue};

/// Tolerance for rounding errors of sums of some ten terms.
const ROUNDING: f64 = 1e-9;

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < ROUNDING, "{value}, expected {expected}");
}

fn heavy(position: Vec3) -> Contact {
    Contact { position, parent: None }
}

/// Returns a group at a position, with one atom that forms all hydrogen bonds.
fn group(kind: Kind, ionizable: Option<Ionizable>, contacts: &[Contact]) -> Group {
    let contacts = contacts.to_vec();
    Group {
        kind,
        ionizable,
        residue: 0,
        atom: 0,
        center: contacts[0].position,
        to_bases: contacts.clone(),
        to_others: contacts,
    }
}

fn along_x(x: f64) -> Vec3 {
    vec3(x, 0.0, 0.0)
}

/// Returns a structure with atoms on a line, each given by name of the residue, name of the atom, atomic number, and
/// distance from the origin in nm.
fn line(atoms: &[(&str, &str, u8, f64)]) -> (Structure, Vec<Vec3>) {
    let residue = |(index, (name, ..)): (usize, &(&str, &str, u8, f64))| Residue {
        name: (*name).into(),
        number: index as i32,
        insertion_code: None,
        chain: 0,
        first: index as u32,
    };
    let structure = Structure {
        chains: vec!["A".into()],
        residues: atoms.iter().enumerate().map(residue).collect(),
        atoms: atoms.iter().map(|(_, name, element, _)| Atom { name: (*name).into(), element: *element }).collect(),
        bonds: vec![],
    };
    (structure, atoms.iter().map(|(.., x)| along_x(*x)).collect())
}

/// Tests the desolvation: an oxygen at 0.5 nm contributes V r⁻⁴ = 16 nm⁻⁴, a carbon of a side chain at 0.1 nm
/// contributes as if it were at 0.275 nm, and a nitrogen at 1.6 nm does not contribute to the weight of the burial. For
/// a group on the surface, the desolvation is a quarter of its full value.
#[test]
fn desolvation_is_a_sum_over_heavy_atoms() {
    let atoms = [("ASP", "CG", 6, 0.0), ("SER", "OG", 8, 0.5), ("ALA", "CB", 6, 0.1), ("GLY", "N", 7, 1.6)];
    let others = [("GLY", "H", 1, 0.2), ("HOH", "O", 8, 0.3), ("GLY", "CA", 6, 2.1)];
    let (structure, positions) = line(&[&atoms[..], &others[..]].concat());
    let burial = HeavyAtoms::new(&structure, &positions).around(along_x(0.0), 0);
    near(burial.volume, 16.0 + 2.64 / 0.275_f64.powi(4) + 1.06 / 1.6_f64.powi(4));
    near(burial.count, 2.0);
    near(burial.desolvation(-1.0), 13.0e-4 * burial.volume * 0.25);
    near(burial.desolvation(1.0), -13.0e-4 * burial.volume * 0.25);
    let weights = [280.0, 420.0, 560.0, 700.0].map(|count| Burial { count, volume: 1000.0 });
    near(weights[1].weight(), 0.5);
    assert_eq!([0, 2, 3].map(|k| weights[k].weight()), [0.0, 1.0, 1.0]);
    near(weights[1].desolvation(-1.0), 1.3 * 0.625);
    near(Burial::pair_weight([&weights[0], &weights[1]]), 0.25);
}

#[test]
fn charges_interact_by_distance_and_burial() {
    let burial = |count: f64| Burial { count, volume: 0.0 };
    let between = |distance: f64, count: f64| coulomb::between(distance, [&burial(count), &burial(count)]);
    near(between(0.5, 560.0), 244.12 / (30.0 * 5.0) * 5.0 / 6.0);
    near(between(0.2, 560.0), 244.12 / (30.0 * 4.0));
    near(between(0.7, 280.0), 244.12 / (160.0 * 7.0) * 0.5);
    near(between(0.4, 420.0), 244.12 / (95.0 * 4.0));
    assert_eq!([between(1.0, 560.0), between(0.5, 139.0)], [0.0, 0.0]);
}

/// Tests a zinc ion at 0.4 nm from two buried groups, which lowers the pKa of an acid and of a base by 2 · 244.12/(30 ·
/// 4).
#[test]
fn a_positive_ion_lowers_all_pkas() {
    let buried = Burial { count: 600.0, volume: 0.0 };
    let groups = [
        group(Kind::Thiol, Some(Ionizable::Cys), &[heavy(along_x(0.4))]),
        group(Kind::Imidazole, Some(Ionizable::His), &[heavy(along_x(-0.4))]),
        group(Kind::Hydroxyl, None, &[heavy(along_x(0.3))]),
    ];
    let ion = Ion { position: along_x(0.0), charge: 2.0, burial: buried };
    let mut shifts = [Shifts::default(); 3];
    coulomb::add_ions(&groups, &[buried; 3], &[ion], &mut shifts);
    near(shifts[0].ions, -2.0 * 244.12 / 120.0);
    near(shifts[1].ions, -2.0 * 244.12 / 120.0);
    assert_eq!(shifts[2], Shifts::default());
    let (structure, positions) = line(&[("ZN", "ZN", 30, 0.0), ("ALA", "CA", 6, 0.3), ("CL", "CL", 17, 0.5)]);
    let found = coulomb::ions(&structure, &positions, &HeavyAtoms::new(&structure, &positions));
    assert_eq!(found.iter().map(|ion| ion.charge).collect::<Vec<f64>>(), [2.0, -1.0]);
}

#[test]
fn hydrogen_bonds_depend_on_distance_and_angle() {
    let surface = Burial::default();
    let between = |a: &Group, b: &Group| hydrogen_bond::between(a, b, [&surface, &surface]);
    let acid = group(Kind::Carboxyl, Some(Ionizable::Asp), &[heavy(along_x(0.0))]);
    let hydroxyl = |x: f64| group(Kind::Hydroxyl, None, &[heavy(along_x(x))]);
    near(between(&acid, &hydroxyl(0.26)), 0.85);
    near(between(&acid, &hydroxyl(0.315)), 0.425);
    near(between(&hydroxyl(0.37), &acid), 0.0);
    // a hydrogen at 0.25 nm, whose nitrogen is on the same line behind the hydrogen, or at an angle of 60 degrees
    let hydrogen = |parent: Vec3| Contact { position: along_x(0.25), parent: Some(parent) };
    let amide = |parent: Vec3| group(Kind::Amide, None, &[hydrogen(parent), heavy(parent)]);
    near(between(&acid, &amide(along_x(0.35))), 0.425);
    near(between(&acid, &amide(vec3(0.30, 0.05 * 3.0_f64.sqrt(), 0.0))), 0.2125);
    // no hydrogen bond, because the nitrogen is nearer than the hydrogen
    near(between(&acid, &amide(along_x(0.15))), 0.0);
}

/// Tests two parallel hydrogen bonds between a carboxyl and a guanidinium group at 0.235 nm, each of which contributes
/// 0.85/2 pKa units.
#[test]
fn two_bonds_to_arginine_add_up() {
    let oxygens = [heavy(vec3(0.0, 0.0, 0.0)), heavy(vec3(0.0, 0.22, 0.0))];
    let acid = group(Kind::Carboxyl, Some(Ionizable::Glu), &oxygens);
    let hydrogen = |y: f64| Contact { position: vec3(0.235, y, 0.0), parent: Some(vec3(0.336, y, 0.0)) };
    let base = group(Kind::Guanidinium, Some(Ionizable::Arg), &[hydrogen(0.0), hydrogen(0.22)]);
    let surface = Burial::default();
    near(hydrogen_bond::between(&acid, &base, [&surface, &surface]), 0.85);
    near(hydrogen_bond::between(&base, &acid, [&surface, &surface]), 0.85);
}

#[test]
fn buried_pairs_have_their_own_bonds() {
    let burial = |count: f64| Burial { count, volume: 0.0 };
    let acid = |x: f64| group(Kind::Carboxyl, Some(Ionizable::Asp), &[heavy(along_x(x))]);
    let base = group(Kind::Imidazole, Some(Ionizable::His), &[heavy(along_x(0.28))]);
    let between = |a: &Group, b: &Group, n: f64, m: f64| hydrogen_bond::between(a, b, [&burial(n), &burial(m)]);
    near(between(&acid(0.0), &base, 401.0, 401.0), 1.60);
    near(between(&acid(0.0), &base, 601.0, 300.0), 1.60);
    // the pair is not buried, and no hydrogen bond exists because the nearest atom is not a hydrogen
    near(between(&acid(0.0), &base, 401.0, 400.0), 0.0);
    near(between(&acid(0.0), &acid(0.25), 560.0, 560.0), 1.70);
    near(between(&acid(0.0), &acid(0.30), 420.0, 420.0), 0.6375);
}

/// Tests a carbonyl oxygen at 0.45 nm that points to a buried carboxyl group, with a shift of 0.8 · 0.5, and a carbonyl
/// oxygen that points away from the group.
#[test]
fn carbonyls_that_point_to_buried_acids_raise_their_pka() {
    let carbonyl = |oxygen: f64, carbon: f64| Link {
        amide: None,
        carbonyl: Some(Contact { position: along_x(oxygen), parent: Some(along_x(carbon)) }),
    };
    let links = [carbonyl(0.45, 0.57), carbonyl(-0.45, -0.33)];
    let at_origin = |kind, ionizable| group(kind, Some(ionizable), &[heavy(along_x(0.0))]);
    let groups = [Ionizable::Asp, Ionizable::Glu, Ionizable::CTerminus].map(|acid| at_origin(Kind::Carboxyl, acid));
    let burials = [560.0, 420.0, 560.0].map(|count| Burial { count, volume: 0.0 });
    let mut shifts = [Shifts::default(); 3];
    reorganisation::add(&groups, &burials, &links, &mut shifts);
    near(shifts[0].reorganisation, 0.4);
    near(shifts[1].reorganisation, 0.2);
    assert_eq!(shifts[2], Shifts::default());
}

#[test]
fn the_backbone_lowers_acids_and_raises_histidine() {
    let amide = [Contact { position: along_x(0.25), parent: Some(along_x(0.351)) }, heavy(along_x(0.351))];
    let link = |carbonyl: f64| Link { amide: Some(amide), carbonyl: Some(heavy(along_x(carbonyl))) };
    let acid = group(Kind::Carboxyl, Some(Ionizable::Asp), &[heavy(along_x(0.0))]);
    let base = group(
        Kind::Imidazole,
        Some(Ionizable::His),
        &[Contact { position: along_x(0.0), parent: Some(along_x(0.101)) }, heavy(along_x(0.101))],
    );
    let mut shifts = [Shifts::default(); 3];
    let phenol = group(Kind::Phenol, Some(Ionizable::Tyr), &[heavy(along_x(0.0))]);
    backbone::add(&[acid, base, phenol], &[link(-0.22)], &mut shifts);
    near(shifts[0].hydrogen_bonds, -0.425);
    near(shifts[1].hydrogen_bonds, 0.85 * 0.8);
    near(shifts[2].hydrogen_bonds, -0.85 * 0.7);
}

#[test]
fn the_order_of_pkas_decides_about_the_signs() {
    let pair = Pair { groups: [0, 1], hydrogen_bond: 0.5, coulomb: 1.0, is_iterated: true };
    let exchange = |charges, pkas| coupling::exchange(charges, pkas, &pair);
    let shift = |hydrogen_bonds, charges| Exchange { hydrogen_bonds, charges };
    assert_eq!(exchange([-1.0, -1.0], [5.0, 4.0]), shift([0.5, -0.5], [1.0, 0.0]));
    assert_eq!(exchange([-1.0, -1.0], [4.0, 5.0]), shift([-0.5, 0.5], [0.0, 1.0]));
    assert_eq!(exchange([1.0, 1.0], [6.0, 10.0]), shift([-0.5, 0.5], [-1.0, 0.0]));
    assert_eq!(exchange([-1.0, 1.0], [4.0, 10.0]), shift([-0.5, 0.5], [-1.0, 1.0]));
    // the rounding of coordinates does not decide about equivalent groups, and the order of the groups does
    for noise in [-1e-4, 0.0, 1e-4] {
        assert_eq!(exchange([-1.0, -1.0], [4.0 + noise, 4.0]), shift([0.5, -0.5], [1.0, 0.0]), "{noise}");
        let reversed = Pair { groups: [1, 0], ..pair.clone() };
        let exchange = coupling::exchange([-1.0, -1.0], [4.0 + noise, 4.0], &reversed);
        assert_eq!(exchange, shift([-0.5, 0.5], [0.0, 1.0]), "{noise}");
    }
    assert_eq!(exchange([-1.0, -1.0], [3.998, 4.0]), shift([-0.5, 0.5], [0.0, 1.0]));
}

/// Tests two coupled acids, of which the first has the higher pKa, and an acid of pKa 12 and a base of pKa 5, which do
/// not interact because the pKa of the acid is the higher one.
#[test]
fn coupled_groups_are_iterated() {
    let of = |kind, ionizable| group(kind, Some(ionizable), &[heavy(along_x(0.0))]);
    let acids = [of(Kind::Carboxyl, Ionizable::Asp), of(Kind::Carboxyl, Ionizable::Asp)];
    let pair = Pair { groups: [0, 1], hydrogen_bond: 0.85, coulomb: 1.5, is_iterated: true };
    let mut shifts = [Shifts { desolvation: 0.2, ..Shifts::default() }, Shifts::default()];
    coupling::add(&acids, std::slice::from_ref(&pair), &mut shifts);
    near(shifts[0].sum(), 0.2 + 0.85 + 1.5);
    near(shifts[1].sum(), -0.85);
    let mixed = [of(Kind::Carboxyl, Ionizable::Asp), of(Kind::Imidazole, Ionizable::His)];
    let mut shifts =
        [Shifts { desolvation: 8.2, ..Shifts::default() }, Shifts { desolvation: -1.5, ..Shifts::default() }];
    coupling::add(&mixed, std::slice::from_ref(&pair), &mut shifts);
    assert_eq!((shifts[0].charges, shifts[1].hydrogen_bonds), (0.0, 0.0));
    let mut shifts = [Shifts::default(); 2];
    coupling::add(&mixed, &[pair], &mut shifts);
    near(shifts[0].sum(), -2.35);
    near(shifts[1].sum(), 2.35);
}

#[test]
fn kinds_interact_as_in_the_table_of_propka() {
    use Kind::{Amide, Amine, Ammonium, Carboxyl, Guanidinium, Hydroxyl, Imidazole, Indole, Phenol, Phosphate, Thiol};
    let is = coupling::interaction;
    assert_eq!([is(Amide, Imidazole), is(Hydroxyl, Imidazole), is(Ammonium, Amide)], [Some(false), None, None]);
    assert_eq!([is(Indole, Phenol), is(Thiol, Hydroxyl), is(Indole, Hydroxyl)], [Some(false), Some(false), None]);
    assert_eq!([is(Carboxyl, Imidazole), is(Phenol, Ammonium), is(Amine, Amine)], [Some(true); 3]);
    assert_eq!([is(Phosphate, Ammonium), is(Phosphate, Hydroxyl), is(Phosphate, Carboxyl)], [Some(false); 3]);
    assert_eq!([is(Carboxyl, Phenol), is(Guanidinium, Carboxyl), is(Amine, Imidazole)], [Some(false); 3]);
}

/// Compares pKa values of the villin headpiece with PROPKA 3.5.1. PROPKA prints two digits, and places hydrogens with
/// slightly different bond lengths and angles.
#[test]
fn villin_has_the_pkas_of_propka() {
    const OFF: f64 = 0.03;
    let expected = [
        (Ionizable::NTerminus, 1, 7.53),
        (Ionizable::Asp, 3, 3.29),
        (Ionizable::Glu, 4, 4.56),
        (Ionizable::Asp, 5, 3.93),
        (Ionizable::Lys, 7, 10.46),
        (Ionizable::Arg, 14, 12.42),
        (Ionizable::Lys, 24, 10.31),
        (Ionizable::His, 27, 6.47),
        (Ionizable::Lys, 29, 11.26),
        (Ionizable::Lys, 30, 10.31),
        (Ionizable::Glu, 31, 4.32),
        (Ionizable::Lys, 32, 10.31),
        (Ionizable::CTerminus, 35, 2.11),
    ];
    let (structure, positions, _) = reference();
    let settings = super::super::Protonation {
        ph: 7.0,
        model: super::super::PkaModel::Environment,
        given: vec![],
        flips: Default::default(),
        components: vec![],
    };
    let found = super::super::add(&structure, &positions, &settings).unwrap().pkas;
    assert_eq!(found.len(), expected.len());
    for (pka, (group, number, value)) in found.iter().zip(expected) {
        assert_eq!((pka.group, pka.residue + 1), (group, number));
        assert!((pka.value() - value).abs() < OFF, "{pka:?}: {}, expected {value}", pka.value());
    }
}
