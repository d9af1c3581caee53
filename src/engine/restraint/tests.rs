//! Compares collective restraints with OpenMM, and their forces with derivatives of the energies.

use super::*;
use crate::cell::PeriodicCell;
use crate::system::Molecules;
use crate::vec3::{Mat3, Vec3, vec3};

/// Reference values in `tests/systems/restraints.json`, written by `tests/systems/build/restraints.py`.
#[derive(serde::Deserialize)]
struct File {
    masses: Vec<f64>,
    positions: Vec<[f64; 3]>,
    reference: Vec<[f64; 3]>,
    cell: [[f64; 3]; 3],
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    kind: VariableKind,
    groups: Vec<Vec<u32>>,
    along: String,
    force_constant: f64,
    center: f64,
    below: Option<f64>,
    above: Option<f64>,
    linear_beyond: Option<f64>,
    energy: f64,
    forces: Vec<[f64; 3]>,
}

fn file() -> File {
    serde_json::from_str(include_str!("../../../tests/systems/restraints.json")).expect("the file of the build script")
}

impl File {
    fn positions(&self) -> Vec<Vec3> {
        self.positions.iter().map(|r| Vec3::from(*r)).collect()
    }

    fn cell(&self) -> PeriodicCell {
        PeriodicCell::from_rows(self.cell.map(Vec3::from)).expect("a cell")
    }

    fn restraint(&self, case: &Case) -> CollectiveRestraint {
        // all atoms are one molecule, so that no molecule is moved to another periodic image
        let atoms = self.masses.len();
        let bonds: Vec<[u32; 2]> = (1..atoms as u32).map(|atom| [atom - 1, atom]).collect();
        let molecules = Molecules::from_bonds(atoms, &bonds);
        let mass = |atom: u32| self.masses[atom as usize];
        let group = |index: usize| Group::new(&case.groups[index], mass, &molecules, None).expect("atoms have mass");
        let along = ["x", "y", "z"].map(|axis| case.along.contains(axis));
        let variable = match case.kind {
            VariableKind::Distance => Variable::Distance([group(0), group(1)], along),
            VariableKind::Angle => Variable::Angle([0, 1, 2].map(group)),
            VariableKind::Torsion => Variable::Torsion([0, 1, 2, 3].map(group)),
            VariableKind::Rmsd => {
                let reference = |&atom: &u32| Vec3::from(self.reference[atom as usize]);
                let members = Members::new(case.groups[0].clone(), &molecules, None);
                Variable::Rmsd(Superposed::new(members, &case.groups[0].iter().map(reference).collect::<Vec<_>>()))
            }
        };
        let Case { center, below, above, force_constant, linear_beyond, .. } = *case;
        let well = Well { center: Some(center), rate: 0.0, below, above, force_constant, linear_beyond };
        CollectiveRestraint { variable, potential: Potential::Well(well) }
    }
}

fn restraining(restraint: CollectiveRestraint) -> Restraining {
    Restraining::new(Restraints { collective: vec![Arc::new(restraint)], ..Restraints::default() }, &[])
}

/// Returns energy, forces and virial of a restraint. The cell must be so large that no minimum image is ambiguous.
fn applied(restraint: &CollectiveRestraint, cell: Option<&PeriodicCell>, r: &[Vec3]) -> (f64, Vec<Vec3>, Mat3) {
    let mut forces = vec![Vec3::ZERO; r.len()];
    let applied = restraining(restraint.clone()).apply(cell, r, &mut forces).expect("near images");
    (applied.collective, forces, applied.virial)
}

/// Tolerance relative to the largest of the compared numbers.
const REFERENCE: f64 = 1e-9;

#[test]
fn energies_and_forces_are_those_of_openmm() {
    let file = file();
    let (positions, cell) = (file.positions(), file.cell());
    for (index, case) in file.cases.iter().enumerate() {
        let cell = (case.along == "xyz").then_some(&cell);
        let (energy, forces, _) = applied(&file.restraint(case), cell, &positions);
        let scale = case.forces.iter().map(|f| Vec3::from(*f).norm()).fold(1.0, f64::max);
        assert!((energy - case.energy).abs() <= REFERENCE * case.energy.max(1.0), "{index}: {energy} {}", case.energy);
        for (found, expected) in forces.iter().zip(&case.forces) {
            assert!((*found - Vec3::from(*expected)).norm() <= REFERENCE * scale, "{index}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn forces_and_virial_are_derivatives_of_the_energy() {
    const STEP: f64 = 1e-5;
    // the error of the finite difference is the third derivative of the energy, about 1e5 kJ/mol/nm³, times STEP²,
    // plus rounding errors of 1e-14 kJ/mol divided by STEP
    const DIFFERENCE: f64 = 1e-5;
    let file = file();
    let (positions, cell) = (file.positions(), file.cell());
    let mut restraints: Vec<CollectiveRestraint> = file.cases.iter().map(|case| file.restraint(case)).collect();
    let constant = |variable| CollectiveRestraint { variable, potential: Potential::Force(-35.0) };
    let pulled = file.cases.iter().filter(|case| case.kind != VariableKind::Torsion);
    restraints.extend(pulled.map(|case| constant(file.restraint(case).variable)));
    for (index, restraint) in restraints.iter().enumerate() {
        let (_, forces, virial) = applied(restraint, Some(&cell), &positions);
        let energy = |cell: &PeriodicCell, r: &[Vec3]| applied(restraint, Some(cell), r).0;
        for (atom, force) in forces.iter().enumerate() {
            for direction in [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)] {
                let at = |step: f64| {
                    let mut moved = positions.clone();
                    moved[atom] += direction * step;
                    energy(&cell, &moved)
                };
                let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                assert!((slope + force.dot(direction)).abs() < DIFFERENCE, "{index}, atom {atom}: {slope} {force:?}");
            }
        }
        // applies a strain that adds ε times component b to component a of all positions and cell vectors: W_ba =
        // −∂E/∂ε; only strains that keep the cell vectors in reduced form are tested
        for (a, b) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
            let strained = |step: f64, r: Vec3| {
                let mut change = [0.0; 3];
                change[a] = step * r.to_array()[b];
                r + Vec3::from(change)
            };
            let at = |step: f64| {
                let cell = PeriodicCell::from_rows(cell.rows().map(|row| strained(step, row))).expect("a cell");
                energy(&cell, &positions.iter().map(|r| strained(step, *r)).collect::<Vec<Vec3>>())
            };
            let (slope, found) = ((at(STEP) - at(-STEP)) / (2.0 * STEP), virial.0[b][a]);
            assert!((slope + found).abs() < DIFFERENCE, "{index}, strain {a}{b}: {slope} {found}");
        }
        let total: Vec3 = forces.iter().copied().sum();
        assert!(total.norm() < 1e-10, "{index}: {total:?}");
    }
}

/// Molecules of four unconnected atoms.
fn separate() -> Molecules {
    Molecules::from_bonds(4, &[])
}

/// A group of atoms of equal masses.
fn group(atoms: &[u32]) -> Group {
    Group::new(atoms, |_| 1.0, &separate(), None).expect("mass")
}

/// Positions of three atoms on a line, and of a fourth atom off the line.
fn line() -> Vec<Vec3> {
    vec![vec3(-0.1, 0.0, 0.0), Vec3::ZERO, vec3(0.2, 0.0, 0.0), vec3(0.3, 0.1, 0.0)]
}

#[test]
fn undefined_directions_give_no_force() {
    let atom = |index: u32| group(&[index]);
    let harmonic = Well {
        center: Some(0.5),
        rate: 0.0,
        below: Some(0.0),
        above: Some(0.0),
        force_constant: 9.0,
        linear_beyond: None,
    };
    let mut meeting = line();
    meeting[2] = meeting[1];
    for (variable, positions) in [
        (Variable::Distance([atom(1), atom(2)], [true; 3]), &meeting),
        (Variable::Distance([atom(0), atom(1)], [false, true, true]), &line()),
        (Variable::Angle([atom(0), atom(1), atom(2)]), &line()),
        (Variable::Angle([atom(0), atom(1), atom(2)]), &meeting),
        (Variable::Torsion([atom(0), atom(1), atom(2), atom(3)]), &line()),
        (Variable::Rmsd(Superposed::new(Members::new(vec![0, 1, 2, 3], &separate(), None), &line())), &line()),
    ] {
        let restraint = CollectiveRestraint { variable, potential: Potential::Well(harmonic) };
        let (energy, forces, virial) = applied(&restraint, None, positions);
        assert!(energy > 0.0 && forces.iter().all(|f| f.is_finite()), "{restraint:?} {forces:?}");
        assert!(virial.trace().abs() < 1e-12, "{restraint:?} {virial:?}");
    }
}

#[test]
fn a_distance_that_may_be_to_another_image_is_refused_where_it_acts() {
    let cell = PeriodicCell::orthorhombic([2.0, 3.0, 4.0]);
    let atom = |index: u32| group(&[index]);
    let of = |along, center| CollectiveRestraint {
        variable: Variable::Distance([atom(0), atom(1)], along),
        potential: Potential::Well(Well {
            center: Some(center),
            rate: 0.0,
            below: Some(0.0),
            above: None,
            force_constant: 9.0,
            linear_beyond: None,
        }),
    };
    let apply = |restraint, far: f64| {
        let r = [Vec3::ZERO, vec3(0.1, 0.2, far)];
        restraining(restraint).apply(Some(&cell), &r, &mut [Vec3::ZERO; 2]).map_err(|error| error.to_string())
    };
    let refusal = apply(of([true; 3], 5.0), 1.2).expect_err("beyond half of the shortest edge");
    assert!(refusal.contains("restraint 1") && refusal.contains("larger cell"), "{refusal}");
    assert!(apply(of([true; 3], 5.0), 0.9).is_ok());
    // a distance of any length is accepted if the restraint exerts no force; the cell is longer along z
    assert!(apply(of([true; 3], 0.1), 1.2).is_ok());
    assert!(apply(of([false, false, true], 5.0), 1.9).is_ok());
    assert!(apply(of([false, false, true], 5.0), 1.99).is_err());
}

/// Tests a distance along some components in a truncated octahedron. The lattice has a projection onto z and onto yz,
/// so that these distances do not depend on the other components. The image of a distance along x depends on them and
/// may be ambiguous.
#[test]
fn a_distance_along_some_components_does_not_depend_on_the_others() {
    let edge = 3.4;
    let rows = [
        vec3(1.0, 0.0, 0.0),
        vec3(1.0 / 3.0, 8f64.sqrt() / 3.0, 0.0),
        vec3(-1.0 / 3.0, 2f64.sqrt() / 3.0, (2.0 / 3.0f64).sqrt()),
    ];
    let cell = PeriodicCell::from_rows(rows.map(|row| row * edge)).expect("a cell");
    let molecules = Molecules::from_bonds(2, &[]);
    let atom = |index: u32| Group::new(&[index], |_| 1.0, &molecules, None).expect("mass");
    let found = |along: Components, d: Vec3| {
        let variable = Variable::Distance([atom(0), atom(1)], along);
        let positions = [vec3(0.1, 0.2, 0.3), vec3(0.1, 0.2, 0.3) + d];
        variable.find(Configuration { cell: Some(&cell), positions: &positions, images: &[[0; 3]; 2] })
    };
    let (x, z, yz) = ([true, false, false], [false, false, true], [false, true, true]);
    let mut refused = 0;
    for k in 0..200 {
        let aside = 0.04 * f64::from(k);
        let [along_z, along_yz, along_x] =
            [found(z, vec3(aside, -aside, 1.25)), found(yz, vec3(aside, 0.3, 0.4)), found(x, vec3(0.4, aside, 0.0))];
        assert!((along_z.value - 1.25).abs() < 1e-12 && !along_z.ambiguous, "{aside}: {along_z:?}");
        assert!((along_yz.value - 0.5).abs() < 1e-12 && !along_yz.ambiguous, "{aside}: {along_yz:?}");
        assert!(along_x.ambiguous || (along_x.value - 0.4).abs() < 1e-12 || aside > 0.5 * edge, "{aside}: {along_x:?}");
        refused += usize::from(along_x.ambiguous);
    }
    assert!(refused > 0);
    // other images of the same atoms
    for image in [[1, 0, 0], [0, -1, 0], [0, 0, 2], [3, -2, 1]] {
        let value = found(z, vec3(0.2, -0.3, 1.25) + cell.shift(image)).value;
        assert!((value - 1.25).abs() < 1e-9, "{image:?}: {value}");
    }
}

#[test]
fn work_is_the_integral_of_the_force_along_the_path_of_the_center() {
    const TIMESTEP: f64 = 0.01;
    let atom = |index: u32| group(&[index]);
    let well = Well {
        center: None,
        rate: 0.5,
        below: Some(0.0),
        above: Some(0.0),
        force_constant: 200.0,
        linear_beyond: None,
    };
    let restraint = CollectiveRestraint {
        variable: Variable::Distance([atom(0), atom(1)], [true; 3]),
        potential: Potential::Well(well),
    };
    let mut running = restraining(restraint.clone());
    let (mut again, mut integral, mut before) = (running.clone(), 0.0, None);
    for step in 0..100 {
        let time = f64::from(step) * TIMESTEP;
        // the atoms lag behind the center, and oscillate
        let r = [Vec3::ZERO, vec3(0.3 + 0.4 * time + 0.02 * (9.0 * time).sin(), 0.0, 0.0)];
        if step == 60 {
            // restarts the stage from the stored progress
            let restraints = Restraints { collective: vec![Arc::new(restraint.clone())], ..Restraints::default() };
            again = Restraining::new(restraints, running.progress());
        }
        for running in [&mut running, &mut again] {
            running.set_time(time);
            running.apply(None, &r, &mut [Vec3::ZERO; 2]).expect("no cell");
            running.book_work(TIMESTEP);
        }
        let RestraintSample { value, center, force, work, .. } = running.samples()[0];
        assert!((center - (0.3 + 0.5 * time)).abs() < 1e-14 && (force + 200.0 * (value - center)).abs() < 1e-10);
        // trapezoidal rule for ∫ v f dt
        integral += before.map_or(0.0, |before: f64| 0.5 * TIMESTEP * 0.5 * (before + force));
        before = Some(force);
        assert!((work - integral).abs() < 1e-12, "{step}: {work} {integral}");
        assert_eq!(work, running.work());
    }
    assert_eq!((running.samples(), running.progress()), (again.samples(), again.progress()));
}

#[test]
fn a_group_of_several_molecules_has_one_center_in_all_images() {
    let cell = PeriodicCell::orthorhombic([2.0, 3.0, 4.0]);
    let whole = [vec3(0.1, 0.2, 0.3), vec3(0.5, 0.2, 0.3), vec3(1.1, 0.2, 0.7), vec3(0.1, 0.2, 1.3)];
    let value = |positions: &[Vec3], around: Option<u32>| {
        let group = Group::new(&[0, 1, 2], |_| 1.0, &separate(), around).expect("mass");
        let distance = Variable::Distance([group, self::group(&[3])], [true; 3]);
        let images = distance.gather(Some(&cell), positions);
        distance.find(Configuration { cell: Some(&cell), positions, images: &images }).value
    };
    // distance between the mean of three points and a fourth point
    let expected = (vec3(1.7 / 3.0, 0.2, 1.3 / 3.0) - whole[3]).norm();
    for images in [[[0; 3]; 4], [[1, 0, 0], [0, -2, 0], [0, 0, 3], [-1, 0, 0]]] {
        let stored: Vec<Vec3> = whole.iter().zip(images).map(|(r, image)| *r + cell.shift(image)).collect();
        assert!((value(&stored, None) - expected).abs() < 1e-12, "{images:?}");
    }
    // the third atom is 1.0 nm or more from the first; if the group is gathered around the first atom, the coordinate
    // 1.1 of the third atom becomes -0.9 + 2 k
    let far = [whole[0], whole[1], whole[2] + vec3(0.1, 0.0, 0.0), whole[3]];
    let expected = |x: f64| (vec3((0.6 + x) / 3.0, 0.2, 1.3 / 3.0) - whole[3]).norm();
    assert!((value(&far, None) - expected(1.2)).abs() < 1e-12);
    assert!((value(&far, Some(0)) - expected(-0.8)).abs() < 1e-12);
}

#[test]
fn images_of_a_group_are_those_of_the_start() {
    let cell = PeriodicCell::orthorhombic([2.0; 3]);
    let distance = Variable::Distance([group(&[0, 1]), group(&[2])], [true; 3]);
    let well = Well {
        center: Some(0.0),
        rate: 0.0,
        below: Some(0.0),
        above: Some(0.0),
        force_constant: 2.0,
        linear_beyond: None,
    };
    let mut running = restraining(CollectiveRestraint { variable: distance, potential: Potential::Well(well) });
    let mut positions = vec![Vec3::ZERO, vec3(1.9, 0.0, 0.0), Vec3::ZERO, Vec3::ZERO];
    let mut value = |positions: &[Vec3]| {
        running.apply(Some(&cell), positions, &mut [Vec3::ZERO; 4]).expect("near");
        running.samples()[0].value
    };
    // the second atom moves from -0.1 to -1.1, although the image of this position nearest to the first atom is at
    // 0.9
    assert!((value(&positions) - 0.05).abs() < 1e-12);
    positions[1].x = 0.9;
    assert!((value(&positions) - 0.55).abs() < 1e-12);
}

#[test]
fn groups_too_far_apart_are_refused_in_words_of_the_variable() {
    let file = file();
    for (kind, words, remedy) in [
        (VariableKind::Distance, ["the distance (value ", " nm) is too long"], "`along`"),
        (
            VariableKind::Angle,
            ["the groups of the angle (value ", " degrees) are too far apart"],
            "closer to each other",
        ),
        (
            VariableKind::Torsion,
            ["the groups of the torsion (value ", " degrees) are too far apart"],
            "closer to each other",
        ),
    ] {
        let case = file.cases.iter().find(|case| case.kind == kind).expect("a case of each kind");
        let restraint = CollectiveRestraint { potential: Potential::Force(-35.0), ..file.restraint(case) };
        let mut forces = vec![Vec3::ZERO; file.masses.len()];
        // in one of these cells a displacement is nearly half of the cell
        let refused = (1..100).find_map(|tenths| {
            let cell = PeriodicCell::orthorhombic([0.1 * f64::from(tenths); 3]);
            restraining(restraint.clone()).apply(Some(&cell), &file.positions(), &mut forces).err()
        });
        let message = refused.expect("an ambiguous image").to_string();
        assert!(words.iter().all(|word| message.contains(word)) && message.contains(remedy), "{message}");
    }
}
