//! Tests of properties that hold for every force field: forces and virial are derivatives of the energy, the
//! numbering of atoms and the choice of images do not matter, and PME is an Ewald sum.

mod model;

use md::backend::{Evaluation, Reference, Workload};
use md::cell::PeriodicCell;
use md::pme::ewald::ewald;
use md::pme::{ChargeStructure, ErrorModel};
use md::system::{
    BondedTerms, DispersionCorrection, Electrostatics, Exclusions, LjModifier, Modifier, PmeParameters, System,
};
use md::units::COULOMB;
use md::vec3::{Vec3, rms, vec3};
use model::{Model, chains, random, random_vector, rock_salt};

const EVERYTHING: Workload = Workload { energy: true, virial: true, ..Workload::FORCES };

fn evaluate(model: &Model) -> Evaluation {
    let mut reference = Reference::new(&model.system).expect("a supported system");
    reference.evaluate(Some(&model.cell), &model.positions, EVERYTHING)
}

fn pme(alpha: f64, points: usize, order: usize) -> Electrostatics {
    Electrostatics::Pme(PmeParameters { alpha, grid: [points; 3], order })
}

/// Returns variants of the chain system: for each kind of interaction, the system with only this interaction; and the
/// system with all interactions.
fn variants() -> Vec<(&'static str, Model)> {
    type Keep = fn(&mut BondedTerms, &BondedTerms);
    let bonded: [(&str, Keep); 11] = [
        ("bond", |new, all| new.bonds = all.bonds.clone()),
        ("GROMOS-96 bond", |new, all| new.g96_bonds = all.g96_bonds.clone()),
        ("angle", |new, all| new.angles = all.angles.clone()),
        ("GROMOS-96 angle", |new, all| new.g96_angles = all.g96_angles.clone()),
        ("urey_bradley", |new, all| new.urey_bradleys = all.urey_bradleys.clone()),
        ("proper", |new, all| new.propers = all.propers.clone()),
        ("ryckaert_bellemans", |new, all| new.ryckaert_bellemans = all.ryckaert_bellemans.clone()),
        ("improper", |new, all| new.impropers = all.impropers.clone()),
        ("harmonic improper", |new, all| new.harmonic_impropers = all.harmonic_impropers.clone()),
        ("cmap", |new, all| (new.cmaps, new.cmap_grids) = (all.cmaps.clone(), all.cmap_grids.clone())),
        ("1-4", |new, all| new.pairs14 = all.pairs14.clone()),
    ];
    let full = chains();
    let mut bare = full.clone();
    bare.system.topology.bonded = BondedTerms::default();
    let mut inert = bare.clone();
    inert.system.nonbonded.c6.fill(0.0);
    inert.system.nonbonded.c12.fill(0.0);

    let mut variants = vec![];
    for (name, keep) in bonded {
        let mut model = inert.clone();
        keep(&mut model.system.topology.bonded, &full.system.topology.bonded);
        model.system.settings.electrostatics = Electrostatics::Plain;
        model.system.topology.atoms.iter_mut().for_each(|atom| atom.charge = 0.0);
        variants.push((name, model));
    }
    let with = |model: &Model, electrostatics| {
        let mut model = model.clone();
        model.system.settings.electrostatics = electrostatics;
        model
    };
    variants.push(("lennard-jones", bare));
    variants.push(("plain", with(&inert, Electrostatics::Plain)));
    variants.push(("reaction field", with(&inert, Electrostatics::ReactionField { permittivity: 78.0 })));
    variants.push(("pme, order 4", with(&inert, pme(3.2, 24, 4))));
    variants.push(("pme, order 5", with(&inert, pme(3.2, 27, 5))));
    let mut tail = with(&inert, Electrostatics::Off);
    tail.system.nonbonded = full.system.nonbonded.clone();
    tail.system.settings.dispersion_correction = DispersionCorrection::AllPairs;
    variants.push(("lennard-jones with dispersion correction", tail));
    for (name, lj_modifier) in [
        ("force switch", LjModifier::ForceSwitch { from: 0.6 }),
        ("potential switch", LjModifier::PotentialSwitch { from: 0.6 }),
    ] {
        // tr W = −3V dE/dV also holds with a switching function
        let mut switched = variants[variants.len() - 1].1.clone();
        switched.system.settings.lj_modifier = lj_modifier;
        variants.push((name, switched));
    }
    let mut lj_pme = with(&inert, Electrostatics::Off);
    lj_pme.system.nonbonded = full.system.nonbonded.clone();
    let mesh = PmeParameters { alpha: 4.0, grid: [27, 24, 30], order: 5 };
    lj_pme.system.settings.dispersion_correction = DispersionCorrection::Pme(mesh);
    variants.push(("lennard-jones with a mesh", lj_pme));
    let mut everything = with(&full, pme(3.2, 27, 5));
    everything.system.settings.cutoff_lj = Some(0.77);
    everything.system.settings.dispersion_correction = DispersionCorrection::NonExcluded;
    variants.push(("everything, two cutoffs", everything));
    variants
}

/// Step of central differences, and the tolerance of derivatives that are computed from central differences. The error
/// is h² times the third derivative plus 10⁻¹⁶ E/h. With energies of up to 10⁴ kJ/mol and derivatives of up to 10⁵
/// kJ/mol it is at most 10⁻⁶ relative to the largest derivative.
const STEP: f64 = 3e-6;
const DIFFERENCE_TOLERANCE: f64 = 1e-6;

/// Returns (E(+h) − E(−h))/2h of a model that is changed by a strength h.
fn slope(model: &Model, change: impl Fn(&mut Model, f64)) -> f64 {
    let energy = |h: f64| {
        let mut moved = model.clone();
        change(&mut moved, h);
        evaluate(&moved).energies.potential()
    };
    (energy(STEP) - energy(-STEP)) / (2.0 * STEP)
}

#[test]
fn forces_are_the_gradient_of_every_energy() {
    for (name, model) in variants() {
        let forces = evaluate(&model).forces;
        let scale = 1.0 + forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
        for atom in [0, 2, 34, 71] {
            for axis in [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)] {
                let slope = slope(&model, |m, h| m.positions[atom] += axis * h);
                let error = (forces[atom].dot(axis) + slope).abs() / scale;
                assert!(error < DIFFERENCE_TOLERANCE, "{name}, atom {atom}: {error:e}");
            }
        }
    }
}

#[test]
fn virial_is_the_derivative_under_strain() {
    // with the strains r → r + ε (r·e_source) e_target a lower-triangular cell stays lower-triangular; the diagonal
    // strains add up to tr W = −3V dE/dV
    let strains = [(0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (2, 1)];
    for (name, model) in variants() {
        let virial = evaluate(&model).virial.0;
        let scale = 1.0 + virial.iter().flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
        for (source, target) in strains {
            let strain = |r: Vec3, h: f64| {
                let mut r = r.to_array();
                r[target] += h * r[source];
                Vec3::from(r)
            };
            let slope = slope(&model, |m, h| {
                m.positions.iter_mut().for_each(|r| *r = strain(*r, h));
                m.cell = PeriodicCell::from_rows(m.cell.rows().map(|row| strain(row, h))).expect("a cell");
            });
            let error = (virial[source][target] + slope).abs() / scale;
            assert!(error < DIFFERENCE_TOLERANCE, "{name}, W[{source}][{target}]: {error:e}");
            assert!((virial[source][target] - virial[target][source]).abs() / scale < 1e-9, "{name} is not symmetric");
        }
    }
}

/// Relative tolerance for rounding errors of sums in another order, and of displacements that are rounded differently:
/// 10⁻¹⁶ times a thousand contributions.
const ROUNDING: f64 = 1e-11;

fn assert_same(name: &str, a: &Evaluation, b: &Evaluation) {
    let scale = a.forces.iter().map(|f| f.norm()).fold(1.0, f64::max);
    for (i, (f, g)) in a.forces.iter().zip(&b.forces).enumerate() {
        assert!((*f - *g).norm() < ROUNDING * scale, "{name}, atom {i}: {f:?} {g:?}");
    }
    let absolute: f64 = a.energies.named().map(|(_, e)| e.abs()).sum();
    assert!((a.energies.potential() - b.energies.potential()).abs() < ROUNDING * (1.0 + absolute), "{name}");
    let trace = a.virial.0.iter().flatten().fold(1.0, |a: f64, b| a.max(b.abs()));
    assert!((a.virial.trace() - b.virial.trace()).abs() < ROUNDING * 10.0 * trace, "{name}");
}

#[test]
fn any_image_of_any_atom_will_do() {
    let mut random = random(7);
    for (name, model) in variants() {
        let mut shifted = model.clone();
        for r in &mut shifted.positions {
            let image = [(); 3].map(|()| random.between(-2.0, 3.0).floor() as i32);
            *r += model.cell.shift(image);
        }
        assert_same(name, &evaluate(&model), &evaluate(&shifted));
    }
}

#[test]
fn numbering_does_not_matter() {
    for (name, model) in variants() {
        let atoms = model.positions.len() as u32;
        // 37 has no common factor with the number of atoms, 135
        let renumbered = |i: u32| (i * 37 + 11) % atoms;
        let other = renumber(&model, renumbered);
        let mut result = evaluate(&other);
        result.forces = (0..atoms).map(|i| result.forces[renumbered(i) as usize]).collect();
        assert_same(name, &evaluate(&model), &result);
    }
}

fn renumber(model: &Model, to: impl Fn(u32) -> u32) -> Model {
    let mut other = model.clone();
    let topology = &mut other.system.topology;
    for i in 0..model.positions.len() {
        let new = to(i as u32) as usize;
        other.positions[new] = model.positions[i];
        topology.atoms[new] = model.system.topology.atoms[i];
    }
    topology.residues.clear();
    let pairs: Vec<_> = topology.exclusions.pairs().map(|p| p.map(&to)).collect();
    topology.exclusions = Exclusions::from_pairs(model.positions.len(), pairs);
    topology.bonded.renumber(to);
    other
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let (_, model) = variants().pop().expect("the last variant has everything");
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let result = pool.install(|| evaluate(&model));
        (result.forces, result.energies, result.virial)
    };
    assert!(run(1) == run(3));
}

#[test]
fn unwanted_results_are_zero() {
    let (_, model) = variants().pop().expect("the last variant has everything");
    let mut reference = Reference::new(&model.system).expect("a supported system");
    let quiet = reference.evaluate(Some(&model.cell), &model.positions, Workload::default());
    assert!(quiet.energies.potential() == 0.0 && quiet.virial.trace() == 0.0);
    assert!(quiet.forces == evaluate(&model).forces, "what is asked for never changes a force");
}

/// Madelung constant of rock salt (OEIS A085469).
const MADELUNG: f64 = 1.747_564_594_633_182_2;

#[test]
fn rock_salt_has_its_madelung_energy() {
    let distance = 0.282;
    let expected = |ions: usize| -0.5 * ions as f64 * COULOMB * MADELUNG / distance;

    let model = rock_salt(2, distance, 0.55);
    let charges: Vec<f64> = model.system.topology.atoms.iter().map(|atom| atom.charge).collect();
    let (energy, forces) = ewald(&model.cell, &model.positions, &charges, 1e-16);
    assert!((energy / expected(64) - 1.0).abs() < 1e-12, "Ewald: {energy}");
    assert!(forces.iter().all(|f| f.norm() < 1e-9));

    let mut model = rock_salt(4, distance, 1.1);
    model.system.settings.coulomb_modifier = Modifier::None;
    model.system.settings.electrostatics = pme(4.5, 64, 6);
    let result = evaluate(&model);
    let error = (result.energies.coulomb / expected(512) - 1.0).abs();
    assert!(error < 1e-6, "PME: {error:e}");
    // the energy is proportional to 1/L with the cell edge L, so the trace of the virial equals the energy
    assert!((result.virial.trace() / result.energies.coulomb - 1.0).abs() < 1e-5);
}

/// Returns a random ionic gas in the cell of [`chains`], with distances of at least 0.15 nm and a net charge of 2 e.
fn ionic_gas() -> (PeriodicCell, Vec<Vec3>, Vec<f64>) {
    let cell = chains().cell;
    let mut random = random(99);
    let mut positions: Vec<Vec3> = vec![];
    while positions.len() < 400 {
        let r = cell.to_cartesian(random_vector(&mut random, 0.5));
        if positions.iter().all(|&other| cell.minimum_image(r - other).norm() > 0.15) {
            positions.push(r);
        }
    }
    let charges = (0..400).map(|i| if i % 2 == 0 { 0.81 } else { -0.8 }).collect();
    (cell, positions, charges)
}

/// Returns the RMS force error (kJ/mol/nm) of PME, with a direct sum up to the cutoff, relative to a plain Ewald sum.
fn pme_error(gas: &(PeriodicCell, Vec<Vec3>, Vec<f64>), exact: &[Vec3], cutoff: f64, parameters: PmeParameters) -> f64 {
    let (cell, positions, charges) = gas;
    let mut system: System = chains().system;
    let template = system.topology.atoms[0];
    system.topology.atoms = charges.iter().map(|&charge| md::system::Atom { charge, ..template }).collect();
    system.topology.bonded = BondedTerms::default();
    system.topology.exclusions = Exclusions::from_pairs(charges.len(), []);
    system.nonbonded.c6.fill(0.0);
    system.nonbonded.c12.fill(0.0);
    system.settings.cutoff = Some(cutoff);
    system.settings.electrostatics = Electrostatics::Pme(parameters);
    let result = evaluate(&Model { system, positions: positions.clone(), cell: *cell });
    rms(result.forces.iter().zip(exact).map(|(a, b)| *a - *b))
}

#[test]
fn pme_converges_to_ewald_with_grid_and_order() {
    let gas = ionic_gas();
    let (_, exact) = ewald(&gas.0, &gas.1, &gas.2, 1e-15);
    let cutoff = 1.1;
    // erfc(αr_c) = 10⁻¹², so that only the error of the grid remains
    let alpha = 5.0 / cutoff;
    let model = ErrorModel::new(&gas.0, cutoff, &gas.2, ChargeStructure::uncorrelated());
    let error = |points, order| {
        let parameters = PmeParameters { alpha, grid: [points; 3], order };
        let estimate = model.estimate(&parameters).total();
        let error = pme_error(&gas, &exact, cutoff, parameters);
        // The estimate assumes uncorrelated charges, and the charges of this gas are almost uncorrelated. An RMS over
        // 400 atoms scatters by some per cent.
        assert!((0.85..1.15).contains(&(error / estimate)), "{points} {order}: {error:e}, estimated {estimate:e}");
        error
    };
    for order in [4, 5, 6, 8] {
        let (coarse, medium, fine) = (error(24, order), error(36, order), error(54, order));
        // the error decreases with the grid spacing to the power of the order; the test requires half of this power
        let steps = 1.5f64.powf(0.5 * order as f64);
        assert!(coarse / medium > steps && medium / fine > steps, "order {order}: {coarse:e} {medium:e} {fine:e}");
    }
    for points in [36, 54] {
        let errors = [4, 5, 6, 8].map(|order| error(points, order));
        assert!(errors.windows(2).all(|e| e[1] < 0.8 * e[0]), "{points} points: {errors:?}");
    }
}

/// Returns two atoms at the given distance (nm) in the cell of the chains, with charges ±1 e.
fn pair(distance: f64, electrostatics: Electrostatics) -> Model {
    let mut model = chains();
    let (template, topology) = (model.system.topology.atoms[0], &mut model.system.topology);
    topology.atoms = [1.0, -1.0].map(|charge| md::system::Atom { charge, ..template }).to_vec();
    topology.bonded = BondedTerms::default();
    topology.exclusions = Exclusions::from_pairs(2, []);
    model.system.settings.electrostatics = electrostatics;
    model.positions = vec![vec3(0.1, 0.2, 0.3), vec3(0.1, 0.2, 0.3) + vec3(0.6, 0.0, 0.8) * distance];
    model
}

#[test]
fn shifted_potentials_end_at_zero() {
    let field = Electrostatics::ReactionField { permittivity: 78.0 };
    for electrostatics in [Electrostatics::Plain, field] {
        // the force is 172 kJ/mol/nm over a distance of 10⁻⁹ nm, so the energy may change by 1.7·10⁻⁷ kJ/mol
        let inside = evaluate(&pair(0.9 - 1e-9, electrostatics)).energies;
        assert!(inside.coulomb.abs() < 1e-6 && inside.coulomb != 0.0 && inside.lj.abs() < 1e-9 && inside.lj != 0.0);
        let outside = evaluate(&pair(0.9 + 1e-9, electrostatics)).energies;
        assert_eq!((outside.coulomb, outside.lj), (0.0, 0.0));
    }
}

#[test]
fn shift_of_the_ewald_pair_is_its_value_at_the_cutoff() {
    let shifted = pair(0.5, pme(3.0, 24, 4));
    let mut plain = shifted.clone();
    plain.system.settings.coulomb_modifier = Modifier::None;
    let (a, b) = (evaluate(&shifted), evaluate(&plain));
    // expected energy with erfc(2.7) from the C library
    let expected = COULOMB * 1.343_327_399e-4 / 0.9;
    assert!(
        (a.energies.coulomb - b.energies.coulomb - expected).abs() < 1e-9,
        "{}",
        a.energies.coulomb - b.energies.coulomb
    );
    assert!(a.forces == b.forces, "a shift changes no force");
}

#[test]
fn what_cannot_be_computed_is_refused() {
    type Spoil = fn(&mut System);
    let spoilers: [(&str, Spoil); 4] = [
        ("periodicity", |system| system.topology.bonded.propers[0].periodicity = 8),
        ("order 7", |system| system.settings.electrostatics = pme(3.0, 24, 7)),
        ("grid", |system| system.settings.electrostatics = pme(3.0, 3, 4)),
        ("cutoff", |system| {
            system.settings.electrostatics = pme(3.0, 24, 4);
            system.settings.cutoff = None;
        }),
    ];
    for (word, spoil) in spoilers {
        let mut system = chains().system;
        spoil(&mut system);
        let refusal = Reference::new(&system).err().map(|problem| problem.to_string()).unwrap_or_default();
        assert!(refusal.contains(word), "{word}: {refusal}");
    }
}
