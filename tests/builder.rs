//! Tests of systems built in code. The systems must be equal to systems that are read from files, and every mistake
//! must give a helpful error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use md::backend::{Reference, Workload};
use md::cell::PeriodicCell;
use md::error::Error;
use md::format::{Coordinates, read_coordinates, read_topology};
use md::prepare::{
    AtomSpec, ConstrainedTerms, ConstraintKind, Files, ForceOptions, Options, Prepared, Setting, SystemBuilder,
    TuningMethod, prepare,
};
use md::system::{
    Angle, Bond, Cmap, CmapGrid, CombinationRule, Construction, Description, DispersionCorrection, HarmonicImproper,
    LennardJones, LjModifier, Pair14, System, Torsion,
};
use md::vec3::{Vec3, vec3};

fn file(name: &str, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/systems/{name}/{name}.{extension}.xz"))
}

fn read(name: &str) -> (Description, Coordinates) {
    let description = read_topology(&file(name, "prmtop")).expect("a topology");
    let angle = description.cell_hint.angle_degrees;
    (description, read_coordinates(&file(name, "rst7"), None, angle).expect("coordinates"))
}

/// Returns a builder to which the atoms, residues, bonds and types of a description are added one by one.
fn rebuilt(description: &Description, coordinates: &Coordinates) -> SystemBuilder {
    let (topology, nonbonded) = (&description.topology, &description.nonbonded);
    let mut builder = System::builder();
    let parameters = |a, b| {
        let (c6, c12) = nonbonded.pair(a, b);
        LennardJones { c6, c12 }
    };
    for a in 0..nonbonded.types as u32 {
        let of_type = topology.atoms.iter().find(|atom| atom.lj_type == a);
        let name = of_type.map(|atom| atom.type_name.to_string()).unwrap_or_default();
        assert_eq!(builder.lj_type(&name, parameters(a, a)), a);
        for b in 0..a {
            builder.lj_pair([a, b], parameters(a, b));
        }
    }
    for (index, residue) in topology.residues.iter().enumerate() {
        builder.residue(residue.name.as_str());
        for i in topology.residue_atoms(index) {
            let (atom, position) = (&topology.atoms[i], coordinates.positions[i]);
            let (element, mass, charge, lj_type) = (atom.element, atom.mass, atom.charge, atom.lj_type);
            builder.atom(AtomSpec { name: atom.name.as_str(), element, mass, charge, lj_type, position });
        }
    }
    topology.connectivity.iter().for_each(|&pair| {
        builder.bond(pair);
    });
    if let Some(cell) = coordinates.cell {
        builder.cell(cell);
    }
    builder
}

#[test]
fn a_system_rebuilt_in_code_has_the_same_forces_to_the_bit() {
    for name in ["peptide-ff19sb", "peptide-charmm36", "peptide-vacuum", "octahedron"] {
        let (description, coordinates) = read(name);
        let mut builder = rebuilt(&description, &coordinates);
        *builder.bonded() = description.topology.bonded.clone();
        for pair in description.topology.exclusions.pairs() {
            builder.exclude(pair);
        }
        let usual = ForceOptions {
            cutoff: Setting::Given(Some(0.9)),
            lj_modifier: Setting::Given(LjModifier::PotentialShift),
            dispersion_correction: Setting::Given(DispersionCorrection::AllPairs),
            ..ForceOptions::default()
        };
        let forces = if coordinates.cell.is_some() { usual } else { ForceOptions::all_pairs() };
        builder.forces(forces.clone());
        let options = Options {
            forces: &forces,
            tuning: TuningMethod::Model,
            constrained_terms: ConstrainedTerms::Drop,
            files: Files::default(),
        };
        let evaluate = |Prepared { system, state, .. }: &Prepared| {
            let mut reference = Reference::new(system).unwrap();
            reference
                .evaluate(
                    state.cell.as_ref(),
                    &state.positions,
                    Workload { energy: true, virial: true, ..Workload::FORCES },
                )
                .clone()
        };
        let (made, read) = (builder.build().unwrap(), prepare(description, coordinates, &options).unwrap());
        assert_eq!(made.system.settings, read.system.settings, "{name}");
        assert_eq!(made.system.constraints, read.system.constraints, "{name}");
        assert_eq!(made.state, md::system::State { velocities: vec![], ..read.state.clone() }, "{name}");
        let (made, read) = (evaluate(&made), evaluate(&read));
        assert!(made.forces == read.forces && made.energies == read.energies, "{name}");
    }
}

#[test]
fn exclusions_and_scaled_pairs_follow_from_bonds_as_in_amber_files() {
    // ff14SB divides Coulomb 1-4 interactions by 1.2 and Lennard-Jones 1-4 interactions by 2; the tolerance allows
    // for rounding errors of products
    const ROUNDING: f64 = 1e-12;
    let (description, coordinates) = read("peptide-vacuum");
    let mut builder = rebuilt(&description, &coordinates);
    builder.scale_pairs14(1.0 / 1.2, 1.0 / 2.0);
    let Prepared { system, .. } = builder.build().unwrap();
    assert_eq!(system.topology.exclusions, description.topology.exclusions);
    let by_atoms = |pairs: &[Pair14]| -> BTreeMap<[u32; 2], [f64; 3]> {
        let ordered = |[i, j]: [u32; 2]| [i.min(j), i.max(j)];
        pairs.iter().map(|pair| (ordered(pair.atoms), [pair.charge_product, pair.c6, pair.c12])).collect()
    };
    let (made, expected) = (by_atoms(&system.topology.bonded.pairs14), by_atoms(&description.topology.bonded.pairs14));
    assert_eq!(made.len(), expected.len());
    for (pair, values) in &expected {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= ROUNDING * b.abs();
        assert!(made[pair].iter().zip(values).all(close), "{pair:?}: {:?} for {values:?}", made[pair]);
    }
}

/// Returns four atoms like the carbons of butane in a chain, and one separate atom.
fn chain() -> SystemBuilder {
    let mut builder = System::builder();
    let lj_type = builder.lj_type("C", LennardJones::from_sigma_epsilon(0.35, 0.3));
    builder.residue("BUT");
    for i in 0..5 {
        let position = vec3(0.153 * f64::from(i), 0.0, 0.0);
        builder.atom(AtomSpec { name: "C", element: 6, mass: 12.011, charge: 0.1, lj_type, position });
    }
    for i in 0..3 {
        builder.harmonic_bond(Bond { atoms: [i, i + 1], length: 0.153, force_constant: 2e5 });
    }
    builder
}

#[test]
fn what_is_given_goes_before_what_follows_from_bonds() {
    let pairs = |change: fn(&mut SystemBuilder)| {
        let mut builder = chain();
        change(&mut builder);
        let topology = builder.build().unwrap().system.topology;
        (topology.exclusions.pairs().collect::<Vec<_>>(), topology.bonded.pairs14)
    };
    let near = vec![[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]];
    let all = vec![[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let own = Pair14 { atoms: [3, 0], charge_product: 1.0, c6: 2.0, c12: 3.0 };
    assert_eq!(pairs(|_| ()), (vec![], vec![]));
    assert_eq!(pairs(|b| _ = b.exclude_neighbours(2)), (near, vec![]));
    assert_eq!(pairs(|b| _ = b.exclude_neighbours(3)), (all.clone(), vec![]));
    let (excluded, scaled) = pairs(|b| _ = b.scale_pairs14(0.5, 0.5));
    assert_eq!((excluded, scaled.len(), scaled[0].atoms), (all.clone(), 1, [0, 3]));
    assert!((scaled[0].charge_product - 0.005).abs() < 1e-15, "{scaled:?}");
    assert_eq!(pairs(|b| _ = b.scale_pairs14(0.5, 0.5).exclude([3, 0])), (all.clone(), vec![]));
    assert_eq!(pairs(|b| _ = b.scale_pairs14(0.0, 0.0)), (all.clone(), vec![]));
    let explicit = |b: &mut SystemBuilder| {
        b.bonded().pairs14.push(Pair14 { atoms: [3, 0], charge_product: 1.0, c6: 2.0, c12: 3.0 });
        b.scale_pairs14(0.5, 0.5);
    };
    assert_eq!(pairs(explicit), (all, vec![own]));
    let alone = |b: &mut SystemBuilder| {
        b.bonded().pairs14.push(Pair14 { atoms: [0, 4], charge_product: 1.0, c6: 2.0, c12: 3.0 })
    };
    assert_eq!(pairs(alone).0, vec![[0, 4]]);
}

#[test]
fn rules_combine_types_as_their_definitions_say() {
    let mixed = |rule| {
        let mut builder = chain();
        let other = builder.lj_type("X", LennardJones::from_sigma_epsilon(0.25, 1.2));
        builder.combination_rule(rule).exclude_neighbours(3);
        builder.atom(AtomSpec {
            name: "X",
            mass: 1.0,
            lj_type: other,
            position: vec3(0.0, 1.0, 0.0),
            ..AtomSpec::default()
        });
        builder.build().unwrap().system.nonbonded.sigma_epsilon(0, 1)
    };
    // σ is (0.35 + 0.25)/2 or √(0.35·0.25), and ε is √(0.3·1.2) for both rules, up to the rounding of twelfth powers
    // and their roots
    for (rule, sigma) in [(CombinationRule::LorentzBerthelot, 0.3), (CombinationRule::Geometric, 0.0875f64.sqrt())] {
        let (found, epsilon) = mixed(rule);
        assert!((found - sigma).abs() < 1e-14 && (epsilon - 0.6).abs() < 1e-13, "{found} {epsilon}");
    }
}

/// Asserts that the changed system is refused with a message that contains `words`.
#[track_caller]
fn refused(words: &str, change: impl FnOnce(&mut SystemBuilder)) {
    let mut builder = chain();
    change(&mut builder);
    match builder.build().map(|_| ()) {
        Err(error @ Error::Input(_)) => assert!(error.to_string().contains(words), "{words} in: {error}"),
        other => panic!("{words}: {other:?}"),
    }
}

#[test]
fn atoms_that_cannot_be_are_refused() {
    let atom = AtomSpec { name: "BAD", mass: 1.0, ..AtomSpec::default() };
    assert!(System::builder().build().is_err_and(|error| error.to_string().contains("no atoms")));
    refused("atom 6 (BAD) has the mass 0", |b| _ = b.atom(AtomSpec { mass: 0.0, ..atom }));
    refused("has the mass NaN", |b| _ = b.atom(AtomSpec { mass: f64::NAN, ..atom }));
    refused("has the charge inf", |b| _ = b.atom(AtomSpec { charge: f64::INFINITY, ..atom }));
    refused("type 7, but there are 1", |b| _ = b.atom(AtomSpec { lj_type: 7, ..atom }));
    refused("the position of atom 6 (BAD of BUT 1)", |b| {
        _ = b.atom(AtomSpec { position: Vec3::splat(f64::NAN), ..atom })
    });
    refused("must be contiguous and non-empty", |b| _ = b.residue("A"));
    refused("must be contiguous and non-empty", |b| _ = b.residue("A").residue("B").atom(atom));
    // one atom has an unknown type, and the 1-4 pairs of the chain need this type
    refused("type 7, but there are 1", |b| {
        let last = b.atom(AtomSpec { lj_type: 7, ..atom });
        b.bond([3, last]).scale_pairs14(0.5, 0.5);
    });
}

#[test]
fn terms_of_atoms_that_are_not_there_are_refused() {
    refused("a bond refers to atom 9, but there are only 5", |b| _ = b.bond([0, 8]));
    refused("a bond contains atom 1 twice", |b| _ = b.bond([0, 0]));
    refused("an exclusion refers to atom 9", |b| _ = b.exclude([8, 0]));
    refused("a 1-4 pair refers to atom 6", |b| {
        b.bonded().pairs14.push(Pair14 { atoms: [0, 5], charge_product: 0.0, c6: 0.0, c12: 0.0 })
    });
    refused("bonds: term 4 refers to atom 6", |b| {
        b.bonded().bonds.push(Bond { atoms: [0, 5], length: 0.1, force_constant: 1.0 })
    });
    refused("angles: term 1 contains atom 2 twice", |b| {
        b.bonded().angles.push(Angle { atoms: [1, 0, 1], angle: 2.0, force_constant: 1.0 })
    });
    let torsion = Torsion { atoms: [0, 1, 2, 3], periodicity: 3, phase: f64::NAN, force_constant: 1.0 };
    refused("proper torsions: term 1 has parameters that are not finite", |b| b.bonded().propers.push(torsion));
    refused("correction map uses grid 0, but there are only 0", |b| {
        b.bonded().cmaps.push(Cmap { atoms: [0, 1, 2, 3, 1, 2, 3, 4], grid: 0 })
    });
    refused("the grid of a correction map is not square", |b| {
        b.bonded().cmap_grids.push(CmapGrid { size: 4, energies: vec![0.0; 15] })
    });
}

/// Tests that a parameter outside its physical range gives an error that states the range, and that all signs and
/// sizes in force fields are accepted.
#[test]
fn parameters_outside_their_physical_ranges_are_refused() {
    let bond = Bond { atoms: [0, 1], length: 0.15, force_constant: 2e5 };
    let angle = Angle { atoms: [0, 1, 2], angle: 1.9, force_constant: 500.0 };
    let torsion = Torsion { atoms: [0, 1, 2, 3], periodicity: 3, phase: 3.2, force_constant: -6.0 };
    let improper = HarmonicImproper { atoms: [0, 1, 2, 3], angle: -0.6, force_constant: -20.0 };
    let pair = Pair14 { atoms: [0, 3], charge_product: 0.1, c6: 1e-3, c12: 1e-6 };
    let atom = AtomSpec { name: "BAD", mass: 1.0, ..AtomSpec::default() };
    let mut sound = chain();
    sound.bonded().urey_bradleys.push(Bond { force_constant: -1e4, ..bond });
    sound.bonded().distances.push(Bond { force_constant: -1e4, ..bond });
    sound.bonded().bonds.push(Bond { length: 0.0, force_constant: 0.0, ..bond });
    sound.bonded().propers.push(torsion);
    sound.bonded().harmonic_impropers.push(improper);
    sound.build().expect("a sound system");
    refused("atom 6 (BAD) has the charge 1e30 e, outside the physical range of -10000 to 10000 e", |b| {
        _ = b.atom(AtomSpec { charge: 1e30, ..atom })
    });
    refused("has the mass 1e300 amu, outside", |b| _ = b.atom(AtomSpec { mass: 1e300, ..atom }));
    refused("bonds: term 4, of atoms 1, 2, has the length -1 nm, outside the physical range of 0 to 1000 nm", |b| {
        b.bonded().bonds.push(Bond { length: -1.0, ..bond })
    });
    refused("has the force constant -100000 kJ/mol/nm²", |b| {
        b.bonded().bonds.push(Bond { force_constant: -1e5, ..bond })
    });
    refused("Urey-Bradley terms: term 1, of atoms 1, 2, has the length -0.1 nm", |b| {
        b.bonded().urey_bradleys.push(Bond { length: -0.1, ..bond })
    });
    refused("angles: term 1, of atoms 1, 2, 3, has the force constant -1", |b| {
        b.bonded().angles.push(Angle { force_constant: -1.0, ..angle })
    });
    refused("has the angle 7 rad", |b| b.bonded().angles.push(Angle { angle: 7.0, ..angle }));
    refused("proper torsions: term 1, of atoms 1, 2, 3, 4, has the energy -1e30 kJ/mol", |b| {
        b.bonded().propers.push(Torsion { force_constant: -1e30, ..torsion })
    });
    refused("proper torsions: term 1, of atoms 1, 2, 3, 4, has the angle 180 rad", |b| {
        b.bonded().propers.push(Torsion { phase: 180.0, ..torsion })
    });
    refused("harmonic impropers: term 1, of atoms 1, 2, 3, 4, has the force constant 1e30", |b| {
        b.bonded().harmonic_impropers.push(HarmonicImproper { force_constant: 1e30, ..improper })
    });
    refused("1-4 pairs: term 1, of atoms 1, 4, has the c12 1e30", |b| {
        b.bonded().pairs14.push(Pair14 { c12: 1e30, ..pair })
    });
    refused("the grid of a correction map has the energy 1e30 kJ/mol", |b| {
        b.bonded().cmap_grids.push(CmapGrid { size: 4, energies: vec![1e30; 16] })
    });
    refused("Lennard-Jones types C and 1: the c6 3.1", |b| _ = b.lj_type("L", LennardJones { c6: 1e30, c12: 1.0 }));
}

#[test]
fn types_and_options_that_contradict_each_other_are_refused() {
    let repulsive = LennardJones { c6: 0.0, c12: 1.0 };
    refused("cannot be combined", |b| _ = b.lj_type("R", repulsive));
    refused("cannot be combined", |b| _ = b.lj_type("R", LennardJones::from_sigma_epsilon(0.3, f64::NAN)));
    let mut geometric = chain();
    geometric.lj_type("R", repulsive);
    geometric.combination_rule(CombinationRule::Geometric);
    assert!(geometric.build().is_ok());
    refused("types 0 and 1 does not exist: there are 1", |b| _ = b.lj_pair([0, 1], repulsive));
    refused("is given twice", |b| _ = b.lj_pair([0, 0], repulsive).lj_pair([0, 0], repulsive));
    refused("types C and C: c6, c12 and c4 must be finite", |b| {
        _ = b.lj_pair([0, 0], LennardJones { c6: f64::NAN, c12: 1.0 })
    });
    refused("1-4 scaling factors", |b| _ = b.scale_pairs14(f64::NAN, 1.0));
    refused("needs a periodic cell", |b| _ = b.forces(ForceOptions::default()));
    refused("cutoff is 0.9 nm", |b| _ = b.cell(PeriodicCell::orthorhombic([1.0; 3])));
    refused("has no volume", |b| _ = b.cell(PeriodicCell::orthorhombic([1.0, f64::NAN, 1.0])));
    refused("set a cutoff", |b| _ = b.cell(PeriodicCell::orthorhombic([3.0; 3])).forces(ForceOptions::all_pairs()));
    // a single error lists all problems
    let mut builder = chain();
    builder.bond([0, 8]).exclude([9, 0]).scale_pairs14(f64::NAN, 1.0);
    match builder.build().map(|_| ()) {
        Err(Error::Input(problems)) => assert_eq!(problems.len(), 3, "{problems:?}"),
        other => panic!("{other:?}"),
    }
}

/// Tests a water with a virtual site. The position of the site is computed even if a position was given, and the site
/// takes part in the interactions.
#[test]
fn virtual_sites_are_placed() {
    let water = |site: Construction| {
        let mut builder = System::builder();
        let (oxygen, none) = (LennardJones::from_sigma_epsilon(0.316, 0.68), LennardJones { c6: 0.0, c12: 0.0 });
        let (o, h) = (builder.lj_type("OW", oxygen), builder.lj_type("HW", none));
        let places = [vec3(0.0, 0.0, 0.0), vec3(0.09572, 0.0, 0.0), vec3(-0.024, 0.09266, 0.0)];
        let masses = [(8, 15.9994, o), (1, 1.008, h), (1, 1.008, h)];
        for ((element, mass, lj_type), position) in masses.into_iter().zip(places) {
            let charge = if element == 1 { 0.5242 } else { 0.0 };
            builder.atom(AtomSpec { name: "X", element, mass, charge, lj_type, position });
        }
        for hydrogen in [1, 2] {
            builder.harmonic_bond(Bond { atoms: [0, hydrogen], length: 0.09572, force_constant: 4e5 });
        }
        builder.bonded().angles.push(Angle { atoms: [1, 0, 2], angle: 1.824, force_constant: 400.0 });
        builder.exclude_neighbours(3);
        let spec = AtomSpec { name: "M", charge: -1.0484, lj_type: h, ..AtomSpec::default() };
        builder.virtual_site(spec, site);
        builder.build()
    };
    let average = |weights: [f64; 3]| Construction::Average3 { atoms: [0, 1, 2], weights };
    let Prepared { system, state, .. } = water(average([0.8, 0.1, 0.1])).expect("a water");
    assert!((state.positions[3] - vec3(0.007172, 0.009266, 0.0)).norm() < 1e-6, "{:?}", state.positions);
    // SETTLE is used, and the site belongs to the molecule and to the constraint group
    assert_eq!((system.constraints.settles.len(), system.constrained_groups().len()), (1, 1));
    assert_eq!(system.topology.connectivity, [[0, 1], [0, 2], [0, 3]]);
    for (wrong, expected) in [
        (average([0.8, 0.1, 0.2]), "the sum of the weights of the site is 1.1"),
        (average([f64::NAN, 0.1, 0.2]), "the sum of the weights of the site is NaN"),
        (
            Construction::Average2 { atoms: [0, 0], weights: [0.5, 0.5] },
            "atom 1 appears twice in the construction of the site",
        ),
        (Construction::Average2 { atoms: [0, 3], weights: [0.5, 0.5] }, "the construction depends on the site itself"),
        (
            Construction::Average2 { atoms: [0, 9], weights: [0.5, 0.5] },
            "the site is constructed from atom 10, but there are only 4",
        ),
        (Construction::Average { atoms: vec![0, 1], weights: vec![1.0] }, "the site has 1 weights for 2 atoms"),
        (Construction::FixedDistance2 { atoms: [0, 1], distance: 0.0 }, "the distance of the site is 0 nm"),
        (
            Construction::FixedDistance3 { atoms: [0, 1, 2], weight: 0.5, distance: f64::NAN },
            "the distance of the site is NaN nm",
        ),
        (Construction::FixedAngle3 { atoms: [0, 1, 2], angle: f64::INFINITY, distance: 0.1 }, "are not finite"),
        (Construction::OutOfPlane { atoms: [0, 1, 2], weights: [0.1, 0.1], cross: f64::NAN }, "are not finite"),
        (
            Construction::OutOfPlane { atoms: [0, 1, 2], weights: [0.1, 0.1], cross: 1e300 },
            "has the coefficient of the cross product 1e300 1/nm, outside the physical range of -1000 to 1000 1/nm",
        ),
        (average([1e300, -1e300, 1.0]), "the site has the weight 1e300"),
        (
            Construction::LocalFrame {
                atoms: vec![0, 1],
                weights: vec![[1.0, -1.0, 0.0], [0.0, 0.5, 0.0]],
                position: [0.0; 3],
            },
            "the weights of an axis is -0.5",
        ),
    ] {
        let refusal = water(wrong).expect_err("a wrong site").to_string();
        assert!(refusal.contains("virtual site 4") && refusal.contains(expected), "{expected}: {refusal}");
    }
}

/// Tests virtual sites that depend on virtual sites. A site may depend on a site that is added later, but a site that
/// depends on itself through other sites is refused.
#[test]
fn sites_of_sites_are_placed_in_order() {
    let build = |last: Construction| {
        let mut builder = System::builder();
        let kind = builder.lj_type("AR", LennardJones::from_sigma_epsilon(0.34, 1.0));
        for x in [0.0, 0.2, 0.4] {
            let position = vec3(x, 0.0, 0.0);
            builder.atom(AtomSpec {
                name: "AR",
                element: 18,
                mass: 39.9,
                lj_type: kind,
                position,
                ..AtomSpec::default()
            });
        }
        let site = AtomSpec { name: "M", lj_type: kind, ..AtomSpec::default() };
        builder.virtual_site(site, Construction::Average2 { atoms: [0, 4], weights: [0.5, 0.5] });
        builder.virtual_site(site, last);
        builder.bond([0, 1]).bond([1, 2]).exclude_neighbours(4);
        builder.build()
    };
    let Prepared { system, state, .. } =
        build(Construction::Average2 { atoms: [1, 2], weights: [0.5, 0.5] }).expect("sites in order");
    assert!((state.positions[4] - vec3(0.3, 0.0, 0.0)).norm() < 1e-15, "{:?}", state.positions);
    assert!((state.positions[3] - vec3(0.15, 0.0, 0.0)).norm() < 1e-15, "{:?}", state.positions);
    let order: Vec<u32> = system.topology.virtual_sites.iter().map(|site| site.site).collect();
    assert_eq!(order, [4, 3]);
    let refusal =
        build(Construction::Average2 { atoms: [1, 3], weights: [0.5, 0.5] }).expect_err("a circle").to_string();
    assert!(refusal.contains("virtual site 4: the construction depends on the site itself"), "{refusal}");
}

#[test]
fn particles_without_mass_are_virtual_sites() {
    let mut builder = System::builder();
    builder.lj_type("AR", LennardJones::from_sigma_epsilon(0.34, 1.0));
    builder.atom(AtomSpec { name: "AR", element: 18, mass: 0.0, ..AtomSpec::default() });
    let refusal = builder.build().expect_err("no mass").to_string();
    assert!(refusal.contains("has the mass 0") && refusal.contains("virtual sites"), "{refusal}");
}

/// Tests that three atoms on a line whose three distances are constrained are refused. The third distance follows from
/// the other two, so that constraint forces are not defined.
#[test]
fn redundant_constraints_are_refused_with_their_atoms() {
    let built = |angle: f64| {
        let mut builder = System::builder();
        let lj_type = builder.lj_type("C", LennardJones::from_sigma_epsilon(0.35, 0.3));
        builder.residue("ROD");
        let places =
            [vec3(0.0, 0.0, 0.0), vec3(0.15, 0.0, 0.0), vec3(0.15 + 0.1 * angle.cos(), 0.1 * angle.sin(), 0.0)];
        for (name, position) in ["C1", "C2", "C3"].into_iter().zip(places) {
            builder.atom(AtomSpec { name, element: 6, mass: 12.0, charge: 0.0, lj_type, position });
        }
        for [i, j] in [[0, 1], [1, 2], [0, 2]] {
            let length = (places[i] - places[j]).norm();
            builder.harmonic_bond(Bond { atoms: [i as u32, j as u32], length, force_constant: 1e5 });
        }
        builder.forces(ForceOptions { constraints: ConstraintKind::AllBonds, ..ForceOptions::all_pairs() });
        builder.build()
    };
    assert!(built(1.0).is_ok(), "a triangle is rigid, but its constraints are independent");
    let message = built(0.0).unwrap_err().to_string();
    let end = "the longest is between atoms 1 (C1 of ROD 1) and 3 (C3 of ROD 1)";
    for part in ["3 constraints between the atoms 1 (C1 of ROD 1), 2 (C2 of ROD 1), 3", end, "h-bonds"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}
