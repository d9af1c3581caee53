//! Tests of whole constraint plans: the solvers agree, conservation laws hold, sections are independent, and wrong
//! input is an error.

mod redundancy;
mod selection;

use super::*;
use crate::error::Problem;
use crate::rng::{Purpose, Stream};
use crate::simd::Level;
use crate::system::{Constraint, Constraints, Settle};
use crate::vec3::{Mat3, vec3};

/// Relative tolerance that is so small that the errors of bonds of 0.1 nm come only from the rounding (4e-16 nm) of
/// positions of a few nm.
const TIGHT: f64 = 1e-13;
/// Maximum difference (nm) between the results of two solvers that iterate to [`TIGHT`], which is the tolerance times
/// the bond length and a small condition number.
const SAME_POSITION: f64 = 1e-12;
/// Inverse of a time step of 2 fs, 1/ps.
const RATE: f64 = 500.0;

const OH: f64 = 0.095_72;
const HH: f64 = 0.151_390_065_2;

/// Atoms whose positions satisfy the constraints, and their positions after the thermal displacement of one step.
#[derive(Default)]
struct Scene {
    masses: Vec<f64>,
    old: Vec<Vec3>,
    constraints: Constraints,
}

fn gauss(stream: &mut Stream) -> Vec3 {
    vec3(stream.gaussian(), stream.gaussian(), stream.gaussian())
}

fn unit(stream: &mut Stream) -> Vec3 {
    let v = gauss(stream);
    v / v.norm()
}

impl Scene {
    fn new() -> Self {
        Self { constraints: Constraints { tolerance: TIGHT, ..Constraints::default() }, ..Self::default() }
    }

    fn atom(&mut self, mass: f64, at: Vec3) -> u32 {
        self.masses.push(mass);
        self.old.push(at);
        self.masses.len() as u32 - 1
    }

    fn bond(&mut self, i: u32, j: u32) {
        let length = (self.old[i as usize] - self.old[j as usize]).norm();
        self.constraints.bonds.push(Constraint { atoms: [i, j], length });
    }

    fn water(&mut self, stream: &mut Stream) {
        let origin = gauss(stream);
        let e1 = unit(stream);
        let e2 = e1.cross(unit(stream));
        let e2 = e2 / e2.norm();
        let foot = origin + e1 * (OH * OH - HH * HH / 4.0).sqrt();
        let atoms = [
            self.atom(15.9994, origin),
            self.atom(1.008, foot + e2 * (HH / 2.0)),
            self.atom(1.008, foot - e2 * (HH / 2.0)),
        ];
        self.constraints.settles.push(Settle { atoms, oh: OH, hh: HH });
    }

    fn shake(&mut self, leaves: usize, stream: &mut Stream) {
        let at = gauss(stream);
        let center = self.atom(12.011, at);
        for _ in 0..leaves {
            let leaf = self.atom(1.008, at + unit(stream) * 0.109);
            self.bond(center, leaf);
        }
    }

    /// Adds a branched chain with hydrogens and some rings to the scene.
    fn polymer(&mut self, length: usize, stream: &mut Stream) {
        let mut chain = vec![self.atom(12.011, gauss(stream))];
        for k in 1..length {
            let from = chain[k - 1];
            let at = self.old[from as usize] + unit(stream) * 0.15;
            chain.push(self.atom(if k % 3 == 0 { 14.007 } else { 12.011 }, at));
            self.bond(from, chain[k]);
            if k % 2 == 0 {
                let hydrogen = self.atom(1.008, at + unit(stream) * 0.1);
                self.bond(chain[k], hydrogen);
            }
            if k % 7 == 6 {
                self.bond(chain[k - 5], chain[k]);
            }
        }
    }

    fn mixed() -> Self {
        let mut stream = Stream::new(3, Purpose::Test, 0, 0);
        let mut scene = Self::new();
        for k in 0..700 {
            scene.water(&mut stream);
            scene.shake(1 + k % 4, &mut stream);
        }
        scene.polymer(60, &mut stream);
        scene.polymer(9, &mut stream);
        scene
    }

    fn plan(&self) -> ConstraintPlan {
        ConstraintPlan::new(&self.constraints, &self.masses).unwrap()
    }

    /// Positions after a 2 fs step of free flight at 300 K.
    fn moved(&self) -> Vec<Vec3> {
        let step = |(i, (r, m)): (usize, (&Vec3, &f64))| {
            let mut stream = Stream::new(4, Purpose::Test, 0, i as u32);
            *r + gauss(&mut stream) * ((crate::units::BOLTZMANN * 300.0 / m).sqrt() / RATE)
        };
        self.old.iter().zip(&self.masses).enumerate().map(step).collect()
    }

    fn largest_error(&self, positions: &[Vec3]) -> f64 {
        let error =
            |i: u32, j: u32, length: f64| ((positions[i as usize] - positions[j as usize]).norm() / length - 1.0).abs();
        let bonds = self.constraints.bonds.iter().map(|c| error(c.atoms[0], c.atoms[1], c.length));
        let waters = self.constraints.settles.iter().flat_map(|w| {
            let [o, h1, h2] = w.atoms;
            [error(o, h1, w.oh), error(o, h2, w.oh), error(h1, h2, w.hh)]
        });
        bonds.chain(waters).fold(0.0, f64::max)
    }

    fn momentum(&self, vectors: &[Vec3]) -> Vec3 {
        vectors.iter().zip(&self.masses).map(|(v, &m)| *v * m).sum()
    }
}

fn solve(plan: &ConstraintPlan, old: &[Vec3], new: &mut [Vec3], velocities: &mut [Vec3]) -> Mat3 {
    let mut motion =
        Motion { old, positions: SharedVectors::new(new), velocities: Some((SharedVectors::new(velocities), RATE)) };
    plan.apply_all(&mut motion, true, &mut vec![]).unwrap()
}

#[test]
fn distances_momentum_velocities_and_virial() {
    let scene = Scene::mixed();
    let moved = scene.moved();
    assert!(scene.largest_error(&moved) > 0.05, "the move must break the distances");
    let (mut new, mut velocities) = (moved.clone(), vec![Vec3::ZERO; moved.len()]);
    let virial = solve(&scene.plan(), &scene.old, &mut new, &mut velocities);
    // the solver compares half of the relative error of the squared length with the tolerance; rounding of positions
    // adds about 1e-14
    assert!(scene.largest_error(&new) < 1.2 * TIGHT, "{}", scene.largest_error(&new));
    let change: Vec<Vec3> = new.iter().zip(&moved).map(|(a, b)| *a - *b).collect();
    // tolerance for Σ m Δx over 5000 atoms with |m Δx| of 1e-3 amu nm, where each Δx is rounded to 1e-15 nm
    assert!(scene.momentum(&change).norm() < 1e-11);
    for (v, d) in velocities.iter().zip(&change) {
        assert!((*v - *d * RATE).norm() < 1e-11);
    }
    let mut expected = Mat3::ZERO;
    for ((r, d), m) in scene.old.iter().zip(&change).zip(&scene.masses) {
        expected += Mat3::outer(*r, *d * *m);
    }
    let size = expected.trace().abs();
    for (row, other) in virial.0.iter().zip(expected.0) {
        for (a, b) in row.iter().zip(other) {
            // `expected` is computed from differences of positions of a few nm, whose rounding error of 1e-15 nm is
            // small relative to corrections of 1e-3 nm
            assert!((a - b).abs() < 1e-10 * size, "{virial:?} {expected:?}");
        }
    }
}

#[test]
fn neither_order_nor_instruction_set_changes_a_bit() {
    let scene = Scene::mixed();
    let plan = scene.plan();
    let (mut all, mut velocities) = (scene.moved(), vec![Vec3::ZERO; scene.old.len()]);
    solve(&plan, &scene.old, &mut all, &mut velocities);
    assert!(plan.sections() > 2);
    for level in Level::available() {
        let (mut parts, mut rates) = (scene.moved(), vec![Vec3::ZERO; scene.old.len()]);
        let motion = Motion {
            old: &scene.old,
            positions: SharedVectors::new(&mut parts),
            velocities: Some((SharedVectors::new(&mut rates), RATE)),
        };
        for section in (0..plan.sections()).rev() {
            // SAFETY: one thread makes all calls, one call for each section
            unsafe { plan.apply(level, section, &motion, false) }.unwrap();
        }
        assert!(all == parts && velocities == rates, "{level:?}");
    }
}

/// Positions and velocities at the end of a drift in whose middle `change` was added to the velocities.
fn drifted(scene: &Scene, level: Level, change: impl Fn(usize) -> Vec3) -> [Vec<Vec3>; 2] {
    let plan = scene.plan();
    let mut positions = scene.moved();
    let mut velocities: Vec<Vec3> = positions.iter().zip(&scene.old).map(|(new, old)| (*new - *old) * RATE).collect();
    solve(&plan, &scene.old, &mut positions, &mut velocities);
    let half = 0.5 / RATE;
    for (atom, (r, v)) in positions.iter_mut().zip(&mut velocities).enumerate() {
        *v += change(atom);
        *r += change(atom) * half;
    }
    let drift = Drift {
        positions: &SharedVectors::new(&mut positions),
        velocities: &SharedVectors::new(&mut velocities),
        half,
    };
    for section in 0..plan.sections() {
        // SAFETY: one thread makes all calls, one call for each section
        unsafe { plan.finish_drift(level, section, &drift) }.unwrap();
    }
    [positions, velocities]
}

#[test]
fn changed_velocities_are_perpendicular_to_the_mean_bonds_of_the_drift() {
    let scene = Scene::mixed();
    let [end, before] = drifted(&scene, Level::Portable, |_| Vec3::ZERO);
    let kick = |atom: usize| {
        let mut stream = Stream::new(6, Purpose::Test, 0, atom as u32);
        gauss(&mut stream) * (crate::units::BOLTZMANN * 300.0 / scene.masses[atom]).sqrt()
    };
    let [positions, velocities] = drifted(&scene, Level::Portable, kick);
    assert!(scene.largest_error(&end) < 1.2 * TIGHT && scene.largest_error(&positions) < 1.2 * TIGHT);
    let waters = scene.constraints.settles.iter().flat_map(|w| {
        let [o, h1, h2] = w.atoms;
        [[o, h1], [o, h2], [h1, h2]]
    });
    for atoms in waters.chain(scene.constraints.bonds.iter().map(|c| c.atoms)) {
        let difference = |vectors: &[Vec3]| vectors[atoms[1] as usize] - vectors[atoms[0] as usize];
        let mean = (difference(&scene.old) + difference(&end)) * 0.5;
        // velocities of a few nm/ps follow from displacements that are rounded to 1e-15 nm, times the rate
        assert!(mean.dot(difference(&before)).abs() < 1e-10);
        assert!(mean.dot(difference(&velocities)).abs() < 1e-10);
    }
    let momentum = scene.momentum(&velocities) - scene.momentum(&before);
    let given: Vec<Vec3> = (0..scene.masses.len()).map(kick).collect();
    // tolerance for Σ m v over 5000 atoms, where each v is rounded to 1e-12 nm/ps
    assert!((momentum - scene.momentum(&given)).norm() < 1e-7);
    for level in Level::available() {
        assert!(drifted(&scene, level, kick) == [positions.clone(), velocities.clone()], "{level:?}");
    }
}

#[test]
fn sections_cover_all_atoms_and_no_constraint_crosses_them() {
    let scene = Scene::mixed();
    let plan = scene.plan();
    let mut section_of = vec![];
    for section in 0..plan.sections() {
        assert_eq!(plan.atoms(section).start, section_of.len());
        section_of.resize(plan.atoms(section).end, section);
    }
    assert_eq!(section_of.len(), scene.masses.len());
    let bonds = scene.constraints.bonds.iter().map(|c| c.atoms.to_vec());
    for atoms in bonds.chain(scene.constraints.settles.iter().map(|w| w.atoms.to_vec())) {
        assert!(atoms.iter().all(|&a| section_of[a as usize] == section_of[atoms[0] as usize]), "{atoms:?}");
    }
}

/// Waters whose atoms are far apart in the order of the file, as in a file sorted by element. All scattered waters are
/// in one section.
#[test]
fn scattered_molecules_share_a_section() {
    let mut stream = Stream::new(6, Purpose::Test, 0, 0);
    let mut scene = Scene::new();
    (0..1500).for_each(|_| scene.water(&mut stream));
    let count = scene.masses.len() as u32;
    // atoms sorted by element: of n atoms in waters, atom 3 k + m (atom m of water k) becomes atom m n/3 + k
    let place = |a: u32| a % 3 * (count / 3) + a / 3;
    let mut sorted = Scene::new();
    sorted.constraints = scene.constraints.clone();
    sorted.constraints.settles.iter_mut().for_each(|w| w.atoms = w.atoms.map(place));
    (sorted.masses, sorted.old) = (scene.masses.clone(), scene.old.clone());
    for a in 0..count {
        sorted.masses[place(a) as usize] = scene.masses[a as usize];
        sorted.old[place(a) as usize] = scene.old[a as usize];
    }
    assert_eq!(sorted.plan().sections(), 1);
    let mut new = sorted.moved();
    sorted.plan().satisfy(&sorted.old, &mut new).unwrap();
    assert!(sorted.largest_error(&new) < TIGHT);
    // waters of consecutive atoms are read with vector instructions, other waters atom by atom
    let moved = sorted.moved();
    let mut rows: Vec<Vec3> = (0..count).map(|a| moved[place(a) as usize]).collect();
    scene.plan().satisfy(&scene.old, &mut rows).unwrap();
    assert!((0..count).all(|a| rows[a as usize] == new[place(a) as usize]));
}

#[test]
fn all_solvers_find_the_same_positions() {
    let scene = Scene::mixed();
    let mut by_kind = scene.moved();
    scene.plan().satisfy(&scene.old, &mut by_kind).unwrap();
    // SETTLE is compared with the sparse solver, for which a water is three constraints
    let mut coupled =
        Scene { masses: scene.masses.clone(), old: scene.old.clone(), constraints: scene.constraints.clone() };
    for water in coupled.constraints.settles.drain(..) {
        let [o, h1, h2] = water.atoms;
        for (atoms, length) in [([o, h1], OH), ([o, h2], OH), ([h1, h2], HH)] {
            coupled.constraints.bonds.push(Constraint { atoms, length });
        }
    }
    let mut by_sparse = scene.moved();
    coupled.plan().satisfy(&scene.old, &mut by_sparse).unwrap();
    for (a, b) in by_kind.iter().zip(&by_sparse) {
        assert!((*a - *b).norm() < SAME_POSITION);
    }
    // SHAKE clusters are compared with the sparse solver, which is called directly since a plan would recognise SHAKE
    // clusters
    for leaves in 1..=4 {
        let mut stream = Stream::new(9, Purpose::Test, 0, leaves as u32);
        let mut one = Scene::new();
        one.shake(leaves, &mut stream);
        let mut by_shake = one.moved();
        one.plan().satisfy(&one.old, &mut by_shake).unwrap();
        let cluster = coupled::Coupled::new(&one.constraints.bonds, |atom| 1.0 / one.masses[atom as usize]);
        let mut by_cluster = one.moved();
        let motion = Motion { old: &one.old, positions: SharedVectors::new(&mut by_cluster), velocities: None };
        // SAFETY: only one thread runs, and the atoms belong to the scene
        unsafe { cluster.shake(&motion, TIGHT) }.unwrap();
        for (a, b) in by_shake.iter().zip(&by_cluster) {
            assert!((*a - *b).norm() < SAME_POSITION);
        }
    }
}

#[test]
fn projected_velocities_stretch_nothing() {
    let scene = Scene::mixed();
    let mut velocities: Vec<Vec3> = scene.moved().iter().zip(&scene.old).map(|(a, b)| (*a - *b) * RATE).collect();
    let momentum = scene.momentum(&velocities);
    let plan = scene.plan();
    plan.project(&scene.old, &mut velocities).unwrap();
    for c in &scene.constraints.bonds {
        let [i, j] = c.atoms.map(|a| a as usize);
        // tolerance for velocities of 2 nm/ps, bonds of 0.1 nm, and the condition number of the constraints of a chain
        // of 60 atoms
        assert!((scene.old[i] - scene.old[j]).dot(velocities[i] - velocities[j]).abs() < 1e-13);
    }
    assert!((scene.momentum(&velocities) - momentum).norm() < 1e-10);
    let once = velocities.clone();
    plan.project(&scene.old, &mut velocities).unwrap();
    for (a, b) in once.iter().zip(&velocities) {
        assert!((*a - *b).norm() < 1e-11);
    }
}

/// Leapfrog without external forces conserves Σ m v and Σ m x(t) × v(t+½) exactly, since the constraint forces act
/// along the bonds at t. The kinetic energy is conserved up to oscillations of order dt².
#[test]
fn free_flight_keeps_momenta_and_energy() {
    let mut stream = Stream::new(8, Purpose::Test, 0, 0);
    let mut scene = Scene::new();
    for leaves in 1..=4 {
        scene.water(&mut stream);
        scene.shake(leaves, &mut stream);
    }
    scene.polymer(12, &mut stream);
    let plan = scene.plan();
    let mut velocities: Vec<Vec3> = scene.moved().iter().zip(&scene.old).map(|(a, b)| (*a - *b) * RATE).collect();
    plan.project(&scene.old, &mut velocities).unwrap();
    let mut positions = scene.old.clone();
    let kinetic = |v: &[Vec3]| crate::ensemble::velocities::kinetic_energy(&scene.masses, v);
    let start = kinetic(&velocities);
    let mut angular: Vec<Vec3> = vec![];
    let mut energies = vec![];
    for _ in 0..20_000 {
        let mut new: Vec<Vec3> = positions.iter().zip(&velocities).map(|(x, v)| *x + *v / RATE).collect();
        solve(&plan, &positions, &mut new, &mut velocities);
        let moment = |i: usize| positions[i].cross(velocities[i]) * scene.masses[i];
        angular.push((0..positions.len()).map(moment).sum());
        energies.push(kinetic(&velocities));
        positions = new;
    }
    // 20,000 rounding errors of 1e-15 nm / 2 fs = 5e-13 nm/ps, at distances of up to 40 nm, add up like a random walk
    // to about 1e-10 amu nm²/ps
    let drift = angular.iter().map(|l| (*l - angular[0]).norm()).fold(0.0, f64::max);
    assert!(drift < 1e-9, "{drift}");
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (early, late) = (mean(&energies[1000..6000]), mean(&energies[15_000..]));
    // bonds rotate by up to 0.05 rad per step, which changes single values of the kinetic energy by a relative 1e-3;
    // means over 10 ps agree better
    println!("K {start} -> {early} -> {late}, angular momentum off by {drift:.1e}");
    assert!((late / early - 1.0).abs() < 1e-4 && (early / start - 1.0).abs() < 1e-2);
}

#[test]
fn loose_tolerance_is_kept_too() {
    let mut scene = Scene::mixed();
    scene.constraints.tolerance = 1e-6;
    let mut new = scene.moved();
    scene.plan().satisfy(&scene.old, &mut new).unwrap();
    // the solver limits ((L + δ)² − L²)/2L² = δ/L (1 + δ/2L) for an error δ of the length L
    assert!(scene.largest_error(&new) < 1.001e-6);
}

#[test]
fn what_cannot_be_solved_is_named() {
    for leaves in [1, 3] {
        let mut stream = Stream::new(5, Purpose::Test, 0, 0);
        let mut scene = Scene::new();
        scene.shake(leaves, &mut stream);
        let mut new = scene.old.clone();
        // the atom is displaced sideways by three bond lengths; no displacement along the bond at the start of the
        // step can correct this
        new[1] = new[0] + (scene.old[1] - scene.old[0]).cross(vec3(0.3, 0.7, 0.2)) * 4.0;
        assert_eq!(scene.plan().satisfy(&scene.old, &mut new).unwrap_err().atoms, [0, 1]);
        new[1] = vec3(f64::NAN, 0.0, 0.0);
        assert_eq!(scene.plan().satisfy(&scene.old, &mut new).unwrap_err().atoms, [0, 1]);
    }
    let mut stream = Stream::new(5, Purpose::Test, 0, 0);
    let mut scene = Scene::new();
    scene.polymer(20, &mut stream);
    scene.water(&mut stream);
    let mut new = scene.old.clone();
    new[5].x = f64::INFINITY;
    let failure = scene.plan().satisfy(&scene.old, &mut new).unwrap_err();
    assert!(failure.atoms.contains(&5), "{failure}");
    let mut new = scene.old.clone();
    let oxygen = scene.old.len() - 3;
    new[oxygen] = vec3(f64::NAN, 0.0, 0.0);
    assert_eq!(scene.plan().satisfy(&scene.old, &mut new).unwrap_err().atoms[0], oxygen as u32);
}

fn refused(scene: &Scene) -> Problem {
    ConstraintPlan::new(&scene.constraints, &scene.masses).unwrap_err()
}

#[test]
fn impossible_constraints_are_refused() {
    let mut stream = Stream::new(5, Purpose::Test, 0, 0);
    let mut scene = Scene::new();
    scene.shake(2, &mut stream);
    let good = scene.constraints.bonds.clone();
    scene.constraints.bonds.push(Constraint { atoms: [1, 0], length: 0.1 });
    assert!(refused(&scene).message.contains("more than one constraint"));
    for (bad, word) in [
        (Constraint { atoms: [0, 9], length: 0.1 }, "refers to atoms 1, 10, but there are only 3"),
        (Constraint { atoms: [0, 0], length: 0.1 }, "connects an atom with itself"),
        (Constraint { atoms: [1, 2], length: 0.0 }, "positive length"),
        (Constraint { atoms: [1, 2], length: f64::NAN }, "positive length"),
    ] {
        scene.constraints.bonds = good.clone();
        scene.constraints.bonds.push(bad);
        assert!(refused(&scene).message.contains(word), "{}", refused(&scene));
    }
    scene.constraints.bonds = good;
    scene.masses[1] = 0.0;
    assert!(refused(&scene).message.contains("without mass"));
    scene.masses = vec![1.0; 66];
    scene.constraints.bonds = (1..66).map(|leaf| Constraint { atoms: [0, leaf], length: 0.1 }).collect();
    assert!(refused(&scene).message.contains("atom 1 is in 65 constraints"), "{}", refused(&scene));
    scene.constraints.bonds.pop();
    scene.plan();
    scene.constraints.tolerance = f64::NAN;
    assert!(refused(&scene).message.contains("tolerance"));
}

#[test]
fn waters_unfit_for_settle_are_solved_all_the_same() {
    let mut stream = Stream::new(6, Purpose::Test, 0, 0);
    let mut scene = Scene::new();
    scene.water(&mut stream);
    scene.masses[2] = 2.014;
    let mut new = scene.moved();
    scene.plan().satisfy(&scene.old, &mut new).unwrap();
    assert!(scene.largest_error(&new) < 1.2 * TIGHT);
}
