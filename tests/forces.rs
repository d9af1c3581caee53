//! Tests of the fast CPU backend with every instruction set of this machine and several numbers of threads. Forces
//! are compared with OpenMM's double-precision forces, or with the reference backend if OpenMM's forces are not
//! available.
#![allow(clippy::print_stderr, reason = "a skipped system says why, and the figures are worth seeing")]

mod golden;

use golden::Golden;
use md::backend::accuracy::{ENERGY, FORCE, LATTICE_FORCE};
use md::backend::{Cpu, CpuOptions, Evaluation, ForceField, Reference, Workload};
use md::cell::PeriodicCell;
use md::pair::ListSchedule;
use md::simd::Level;
use md::system::{
    DispersionCorrection, Electrostatics, G96Angle, G96Bond, LjModifier, Modifier, PmeParameters, RyckaertBellemans,
    System,
};
use md::team::Team;
use md::vec3::{Vec3, rms};
use std::sync::Arc;

/// Maximum relative error of the virial, which is a sum of products of positions (a few nm) and forces accurate to
/// [`FORCE`].
const VIRIAL: f64 = 2e-5;
/// Maximum error of the Coulomb virial relative to its direct and reciprocal parts. The trace of the Coulomb virial
/// is the Coulomb energy, whose direct and reciprocal parts cancel. The trace of each part is accurate to [`ENERGY`],
/// and a diagonal element is accurate to a few times [`ENERGY`].
const VIRIAL_PARTS: f64 = 4e-6;

const EVERYTHING: Workload = Workload { energy: true, virial: true, ..Workload::FORCES };

/// Evaluates a system on the fast CPU backend with new lists.
fn mixed(
    system: &System,
    cell: Option<&PeriodicCell>,
    positions: &[Vec3],
    (level, threads): (Level, usize),
    workload: Workload,
) -> Evaluation {
    let cutoff = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    let radius = cutoff(system.settings.cutoff).max(cutoff(system.settings.cutoff_lj)) + 0.05;
    let schedule = ListSchedule { rebuild: 1, prune: 1, outer: radius, inner: radius, lookahead: 0.0 };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let team = Arc::new(Team::new(threads, |_| ()).expect("threads"));
    pool.install(|| {
        let options = CpuOptions { parts: threads, level, schedule };
        let mut field = Cpu::new(system, options, team).expect("a supported system");
        let mut out = Evaluation::default();
        field.rebuild(cell, positions);
        field.prune(cell, positions, 0.0);
        field.evaluate(cell, positions, workload, &mut out).expect("an evaluation");
        golden::spread(system, positions, &mut out);
        out
    })
}

/// Evaluates a system in double precision on the reference backend.
fn exact(system: &System, cell: Option<&PeriodicCell>, positions: &[Vec3]) -> Evaluation {
    let mut out = Reference::new(system).expect("a supported system").evaluate(cell, positions, EVERYTHING);
    golden::spread(system, positions, &mut out);
    out
}

/// Returns the RMS error of the forces `ours` relative to the RMS of `theirs`, and the same error as a multiple of the
/// allowed error.
fn force_excess(ours: &[Vec3], theirs: &[Vec3]) -> (f64, f64) {
    let error = rms(ours.iter().zip(theirs).map(|(a, b)| *a - *b));
    let scale = rms(theirs.iter().copied());
    (error / scale.max(1e-300), error / (FORCE * scale).max(LATTICE_FORCE))
}

/// Returns the tested combinations of instruction set and number of threads: all instruction sets with two threads, and
/// the best instruction set with one and with seven threads.
fn ways() -> Vec<(Level, usize)> {
    let mut ways: Vec<_> = Level::available().into_iter().map(|level| (level, 2)).collect();
    ways.extend([(Level::detect(), 1), (Level::detect(), 7)]);
    ways
}

fn compare(name: &str) {
    let mut golden = match Golden::load(name) {
        Ok(golden) => golden,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    for case in golden.cases() {
        golden.choose(&case);
        let Some(theirs) = golden.forces(&case) else { continue };
        let (system, cell, positions) = (&golden.system, golden.cell.as_ref(), &golden.positions);
        let exact = exact(system, cell, positions);
        for way in ways() {
            let ours = mixed(system, cell, positions, way, EVERYTHING);
            let (relative, excess) = force_excess(&ours.forces, &theirs);
            let e = &exact.energies;
            let terms = [e.bond, e.angle, e.urey_bradley, e.proper, e.improper, e.cmap, e.lj, e.coulomb];
            let scale: f64 = terms.iter().map(|term| term.abs()).sum();
            let expected = golden.number(&case, "total_with_dispcorr") + golden.number(&case, "total");
            let energy = (ours.energies.potential() - expected).abs() / scale;
            eprintln!("{name} {case} {way:?}: forces {relative:.1e}, energy {energy:.1e}");
            assert!(excess <= 1.0, "{name} {case} {way:?}: forces off by {relative:.1e}");
            assert!(energy <= ENERGY, "{name} {case} {way:?}: energy off by {energy:.1e}");
            check_virial(&ours, &exact, positions, name);
            let quiet = mixed(system, cell, positions, way, Workload::default());
            assert!(quiet.forces == ours.forces, "{name} {way:?}: asking for energies changes forces");
        }
    }
}

fn check_virial(ours: &Evaluation, exact: &Evaluation, positions: &[Vec3], name: &str) {
    let scale = rms(exact.forces.iter().copied()) * (positions.len() as f64).sqrt();
    let e = &exact.energies;
    let parts = e.coulomb_reciprocal.abs() + (e.coulomb - e.coulomb_reciprocal).abs();
    for row in 0..3 {
        for column in 0..3 {
            let (mine, theirs) = (ours.virial.0[row][column], exact.virial.0[row][column]);
            let allowed = VIRIAL * (theirs.abs() + 10.0 * scale) + VIRIAL_PARTS * parts;
            assert!((mine - theirs).abs() <= allowed, "{name}: virial {row}{column} {mine} against {theirs}");
        }
    }
}

/// Defines a test for each system.
macro_rules! systems {
    ($($test:ident: $name:literal;)*) => { $(#[test] fn $test() { compare($name); })* };
}

systems! {
    own_peptide_in_vacuum: "peptide-vacuum";
    own_peptide_with_cmap: "peptide-ff19sb";
    own_chamber: "peptide-charmm36";
    own_type_table: "peptide-nbfix";
    own_net_charge: "peptide-charged";
    own_water: "water";
    own_opc_water: "opc";
    own_salt_crystal: "salt-crystal";
    own_salt_off_the_lattice: "salt-displaced";
    own_argon: "argon";
    own_truncated_octahedron: "octahedron";
    own_four_site_water: "tip4pew";
    own_five_site_water: "tip5p";
    own_opc3_water: "opc3";
    own_twelve_six_four_ions: "ions";
    alanine_dipeptide_in_vacuum: "ala2-vacuum";
    alanine_dipeptide_in_water: "ala2-explicit";
    charmm_with_cmap: "charmm36-ala3";
    type_table: "ff14ipq";
    spce_water: "spce-3k";
    truncated_octahedron: "tz2-truncoct";
}

/// Compares the fast backend with the reference backend after `change`, for settings without reference data. The best
/// instruction set is used.
fn against_reference(name: &str, change: impl Fn(&mut System)) {
    compare_changed(name, &[Level::detect()], change);
}

/// Compares the fast backend with the reference backend for a system after `change`, with the given instruction sets.
fn compare_changed(name: &str, levels: &[Level], change: impl Fn(&mut System)) {
    let mut golden = Golden::load(name).expect("an own system");
    let case = golden.cases()[0].clone();
    golden.choose(&case);
    change(&mut golden.system);
    let (system, cell, positions) = (&golden.system, golden.cell.as_ref(), &golden.positions);
    let exact = exact(system, cell, positions);
    for &level in levels {
        let ours = mixed(system, cell, positions, (level, 2), EVERYTHING);
        let (relative, excess) = force_excess(&ours.forces, &exact.forces);
        let scale = exact.energies.lj.abs() + exact.energies.coulomb.abs();
        let energy = (ours.energies.potential() - exact.energies.potential()).abs() / scale;
        eprintln!("{name} {level:?}: forces {relative:.1e}, energy {energy:.1e}");
        assert!(excess <= 1.0, "{name} {level:?}: forces off by {relative:.1e}");
        assert!(energy <= 2.0 * ENERGY, "{name} {level:?}: energy off by {energy:.1e}");
        check_virial(&ours, &exact, positions, name);
        let quiet = mixed(system, cell, positions, (level, 2), Workload::default());
        assert!(quiet.forces == ours.forces, "{name} {level:?}: asking for energies changes forces");
    }
}

#[test]
fn other_spline_orders() {
    for order in [4, 6, 8] {
        against_reference("water", |system| {
            system.settings.electrostatics =
                Electrostatics::Pme(PmeParameters { alpha: 3.3, grid: [24, 25, 28], order });
        });
    }
}

#[test]
fn shifted_potentials() {
    for name in ["water", "peptide-nbfix", "octahedron"] {
        against_reference(name, |system| {
            system.settings.lj_modifier = LjModifier::PotentialShift;
            system.settings.coulomb_modifier = Modifier::PotentialShift;
        });
    }
}

/// Replaces the periodic torsions of a system by Ryckaert–Bellemans torsions.
#[test]
fn ryckaert_bellemans_torsions() {
    against_reference("peptide-vacuum", |system| {
        let bonded = &mut system.topology.bonded;
        let torsion = |(index, torsion): (usize, &md::system::Torsion)| {
            let coefficients = [9.3, 12.2, -13.1, -3.1, 26.2, -31.5].map(|c| c * (1.0 + 0.01 * index as f64));
            RyckaertBellemans { atoms: torsion.atoms, coefficients }
        };
        bonded.ryckaert_bellemans = bonded.propers.iter().enumerate().map(torsion).collect();
        bonded.propers.clear();
    });
}

/// Tests GROMOS-96 bonds and angles with the stiffness of GROMOS force fields: bonds of some 10⁷ kJ/mol/nm⁴, angles
/// of some 500 kJ/mol.
#[test]
fn bonds_and_angles_of_gromos() {
    against_reference("peptide-vacuum", |system| {
        let bonded = &mut system.topology.bonded;
        let bond = |bond: md::system::Bond| G96Bond {
            atoms: bond.atoms,
            length: bond.length,
            force_constant: bond.force_constant / (2.0 * bond.length * bond.length),
        };
        bonded.g96_bonds = std::mem::take(&mut bonded.bonds).into_iter().map(bond).collect();
        let angle = |angle: md::system::Angle| G96Angle {
            atoms: angle.atoms,
            angle: angle.angle,
            force_constant: angle.force_constant / angle.angle.sin().powi(2),
        };
        bonded.g96_angles = std::mem::take(&mut bonded.angles).into_iter().map(angle).collect();
    });
}

/// Scales the Lennard-Jones coefficient c12 of a pair of types.
fn scale_c12(system: &mut System, [a, b]: [usize; 2], factor: f64) {
    let types = system.nonbonded.types;
    system.nonbonded.c12[a * types + b] *= factor;
    if a != b {
        system.nonbonded.c12[b * types + a] *= factor;
    }
}

/// Gives a system `types` Lennard-Jones types, which are copies of its original types. Each pair of types deviates
/// from every combination rule by a different factor.
fn many_types(system: &mut System, types: usize) {
    let old = &system.nonbonded.clone();
    let atoms = &mut system.topology.atoms;
    let original: Vec<u32> = atoms.iter().map(|atom| atom.lj_type).collect();
    let kind = &|t: usize| original[t * 11 % original.len()];
    atoms.iter_mut().enumerate().for_each(|(i, atom)| {
        let same = (0..types).filter(|&t| kind(t) == original[i]).nth(i % 3);
        atom.lj_type = same.unwrap_or(i % types) as u32;
    });
    let pairs = (0..types).flat_map(|a| (0..types).map(move |b| old.pair(kind(a), kind(b))));
    (system.nonbonded.c6, system.nonbonded.c12) = pairs.unzip();
    (system.nonbonded.types, system.nonbonded.rounding, system.nonbonded.c4) = (types, vec![], vec![]);
    for (a, b) in (0..types).flat_map(|a| (0..=a).map(move |b| (a, b))) {
        scale_c12(system, [a, b], 1.0 + 0.01 * ((7 * a + 3 * b) % 23) as f64);
    }
}

/// Tests type tables of different sizes. For each size and instruction set, different code reads the table.
#[test]
fn tables_of_every_size() {
    for (types, cutoff_lj) in [(12, 0.9), (29, 0.9), (58, 0.9), (90, 0.9), (29, 0.7)] {
        compare_changed("peptide-charmm36", &Level::available(), |system| {
            many_types(system, types);
            system.settings.cutoff_lj = Some(cutoff_lj);
        });
    }
}

/// Tests pairs of types that deviate from the combination rule, as with NBFIX, both for types with few atoms and for
/// the types of water.
#[test]
fn exceptions_of_a_rule() {
    // types 14 and 15 belong to water, and type 10 to a single atom. In the last case so many pairs of types deviate
    // from the rule that the type table is used
    for (pairs, cutoff_lj) in [
        (vec![[7, 4]], 0.9),
        (vec![[14, 10], [7, 4]], 0.9),
        (vec![[14, 10]], 0.7),
        (vec![[14, 6], [3, 1], [15, 12]], 0.9),
    ] {
        compare_changed("peptide-charmm36", &Level::available(), |system| {
            pairs.iter().for_each(|&pair| scale_c12(system, pair, 1.5));
            system.settings.cutoff_lj = Some(cutoff_lj);
        });
    }
}

/// Compares forces after a change of settings, for every source of Lennard-Jones parameters: combination rules, a
/// rule with deviating pairs of types, and type tables of all sizes.
fn compare_every_rule(change: impl Fn(&mut System)) {
    for name in ["water", "argon", "peptide-charged", "peptide-charmm36", "peptide-nbfix"] {
        compare_changed(name, &Level::available(), &change);
    }
    compare_changed("peptide-charmm36", &Level::available(), |system| {
        change(system);
        scale_c12(system, [7, 4], 1.5);
    });
    for types in [12, 29, 58, 90] {
        compare_changed("peptide-charmm36", &Level::available(), |system| {
            change(system);
            many_types(system, types);
        });
    }
    compare_changed("peptide-charmm36", &Level::available(), |system| {
        change(system);
        geometric(system);
    });
}

/// Tests both switching functions of Lennard-Jones interactions, with equal and with different cutoffs.
#[test]
fn switched_interactions() {
    let switches = |from| [LjModifier::ForceSwitch { from }, LjModifier::PotentialSwitch { from }];
    for (cutoff, from, cutoff_lj) in [(0.9, 0.75, 0.9), (0.9, 0.6, 0.7), (0.7, 0.6, 0.9)] {
        for modifier in switches(from) {
            let change = |system: &mut System| {
                system.settings.cutoff = Some(cutoff);
                system.settings.cutoff_lj = Some(cutoff_lj);
                system.settings.lj_modifier = modifier;
            };
            compare_every_rule(change);
        }
    }
}

/// Tests LJ-PME with equal and with different cutoffs, for every source of Lennard-Jones parameters.
#[test]
fn lennard_jones_by_pme() {
    for (cutoff, cutoff_lj, lj_modifier) in
        [(0.9, 0.9, LjModifier::PotentialShift), (0.9, 0.7, LjModifier::None), (0.7, 0.9, LjModifier::None)]
    {
        let change = |system: &mut System| {
            let mesh = PmeParameters { alpha: 3.6, grid: [24, 20, 25], order: 4 };
            system.settings.cutoff = Some(cutoff);
            system.settings.cutoff_lj = Some(cutoff_lj);
            system.settings.lj_modifier = lj_modifier;
            system.settings.dispersion_correction = DispersionCorrection::Pme(mesh);
        };
        compare_every_rule(change);
        compare_changed("octahedron", &Level::available(), change);
        // excluded pairs interact only through the mesh
        compare_changed("peptide-charged", &Level::available(), |system| {
            change(system);
            system.settings.electrostatics = Electrostatics::Off;
        });
    }
}

/// Tests 12-6-4 ions with two cutoffs, a potential shift, LJ-PME, pairs that deviate from the combination rule, type
/// tables, and another combination rule, and without a cutoff.
#[test]
fn twelve_six_four_ions() {
    let compare = |change: &dyn Fn(&mut System)| compare_changed("ions", &Level::available(), change);
    for (cutoff, cutoff_lj) in [(0.9, 0.7), (0.7, 0.9)] {
        compare(&|system| {
            (system.settings.cutoff, system.settings.cutoff_lj) = (Some(cutoff), Some(cutoff_lj));
            system.settings.lj_modifier = LjModifier::PotentialShift;
        });
    }
    compare(&|system| {
        let mesh = PmeParameters { alpha: 3.6, grid: [24, 20, 25], order: 4 };
        system.settings.dispersion_correction = DispersionCorrection::Pme(mesh);
    });
    compare(&|system| scale_c12(system, [2, 0], 1.5));
    compare(&geometric);
    let third_with_all = |system: &mut System| {
        let types = system.nonbonded.types;
        let is_pair = |k: usize| (k % types == 3) != (k / types == 3);
        system.nonbonded.c4 = (0..types * types).map(|k| if is_pair(k) { 0.02 } else { 0.0 }).collect();
    };
    for types in [12, 29, 58, 90] {
        compare(&|system| {
            many_types(system, types);
            third_with_all(system);
        });
    }
    compare_changed("peptide-vacuum", &Level::available(), third_with_all);
}

/// Sets the Lennard-Jones parameters of all pairs of types by the geometric combination rule.
fn geometric(system: &mut System) {
    let types = system.nonbonded.types;
    let own = |c: &[f64]| (0..types).map(|t| c[t * types + t].sqrt()).collect::<Vec<_>>();
    let mixed = |own: Vec<f64>| own.iter().flat_map(|a| own.iter().map(move |b| a * b)).collect::<Vec<_>>();
    system.nonbonded.c6 = mixed(own(&system.nonbonded.c6));
    system.nonbonded.c12 = mixed(own(&system.nonbonded.c12));
    system.nonbonded.rounding = vec![];
}

#[test]
fn a_lennard_jones_cutoff_of_its_own() {
    for (cutoff, cutoff_lj) in [(0.9, 0.7), (0.7, 0.9)] {
        for name in ["water", "peptide-nbfix", "argon"] {
            against_reference(name, |system| {
                system.settings.cutoff = Some(cutoff);
                system.settings.cutoff_lj = Some(cutoff_lj);
            });
        }
    }
}

#[test]
fn other_coulomb_methods() {
    for electrostatics in [
        Electrostatics::Off,
        Electrostatics::Plain,
        Electrostatics::ReactionField { permittivity: f64::INFINITY },
        Electrostatics::ReactionField { permittivity: 78.0 },
    ] {
        against_reference("peptide-charged", |system| system.settings.electrostatics = electrostatics);
    }
}

#[test]
fn excluded_pairs_far_apart_are_corrected() {
    against_reference("water", |system| {
        let mut pairs: Vec<[u32; 2]> = system.topology.exclusions.pairs().collect();
        let atoms = system.topology.atoms.len() as u32;
        pairs.extend((0..atoms / 2).step_by(5).map(|i| [i, atoms - 1 - i]));
        system.topology.exclusions = md::system::Exclusions::from_pairs(atoms as usize, pairs);
    });
}

#[test]
fn atoms_many_images_away_and_on_top_of_each_other() {
    let mut golden = Golden::load("octahedron").expect("an own system");
    let case = golden.cases()[0].clone();
    golden.choose(&case);
    let cell = golden.cell.expect("a cell");
    let way = (Level::detect(), 2);
    let at_home = mixed(&golden.system, Some(&cell), &golden.positions, way, EVERYTHING);
    let mut moved = golden.positions.clone();
    for (index, r) in moved.iter_mut().enumerate() {
        // atoms of a water move by the same lattice vector, as in a run
        let n = (index / 3) as i32 % 7 - 3;
        *r += cell.shift([n, -2 * n, 3 * n]);
    }
    let spread = mixed(&golden.system, Some(&cell), &moved, way, EVERYTHING);
    let (relative, excess) = force_excess(&spread.forces, &at_home.forces);
    assert!(excess <= 1.0, "lattice shifts change forces by {relative:.1e}");

    moved[30] = moved[60];
    moved[33] = moved[61];
    let clash = mixed(&golden.system, Some(&cell), &moved, way, EVERYTHING);
    assert!(clash.forces.iter().all(|f| f.is_finite()), "overlapping atoms have finite forces");
    assert!(clash.energies.potential().is_finite());
}
