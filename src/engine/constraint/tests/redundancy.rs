//! Tests that redundant constraints are found before a run, and that independent constraints are accepted.

use super::Scene;
use crate::constraint::check_independent;
use crate::error::Problem;
use crate::vec3::{Vec3, vec3};

/// Displacement (nm) of the first atom from a line or a plane, as in a structure from a simulation.
const DISPLACEMENT: f64 = 0.003;

fn check(scene: &Scene) -> Result<(), Problem> {
    check_independent(&scene.constraints, &scene.masses, &scene.old, |atom| format!("X{atom} of MOL 1"))
}

/// Makes a scene with atoms at `places` and constraints between `pairs` whose lengths are the distances in `places`.
fn scene(places: &[Vec3], pairs: &[[u32; 2]]) -> Scene {
    let mut scene = Scene::new();
    for (index, &place) in places.iter().enumerate() {
        scene.atom(1.0 + 11.0 * (index % 2) as f64, place);
    }
    pairs.iter().for_each(|&[i, j]| scene.bond(i, j));
    scene
}

/// Returns the corners of a regular hexagon in a plane.
fn hexagon() -> Vec<Vec3> {
    let corner = |k: u32| {
        let (sin, cos) = (std::f64::consts::FRAC_PI_3 * f64::from(k)).sin_cos();
        vec3(1.0, 2.0, 0.5) + vec3(cos, sin, 0.0) * 0.14
    };
    (0..6).map(corner).collect()
}

fn ring(step: u32) -> impl Iterator<Item = [u32; 2]> {
    (0..6).map(move |k| [k, (k + step) % 6])
}

#[test]
fn redundant_constraints_are_named() {
    let line = [vec3(0.0, 0.0, 0.0), vec3(0.1, 0.0, 0.0), vec3(0.25, 0.0, 0.0)];
    let square = [[0.0, 0.0], [0.15, 0.0], [0.16, 0.12], [0.0, 0.15]].map(|[x, y]| vec3(x, y, 1.0));
    let sides = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]];
    let with_second_neighbors: Vec<[u32; 2]> = ring(1).chain(ring(2)).collect();
    for (places, pairs, parts) in [
        (line.to_vec(), vec![[0, 1], [1, 2], [0, 2]], ["3 constraints", "1 (X0 of MOL 1) and 3 (X2 of MOL 1)"]),
        (square.to_vec(), sides.to_vec(), ["6 constraints", "2 (X1 of MOL 1) and 4 (X3 of MOL 1)"]),
        (hexagon(), with_second_neighbors, ["depend on each other", "6 (X5 of MOL 1)"]),
    ] {
        let mut scene = scene(&places, &pairs);
        for height in [0.0, DISPLACEMENT] {
            scene.old[0].z += height;
            let problem = check(&scene).unwrap_err();
            for part in parts.into_iter().chain(["is redundant"]) {
                assert!(problem.message.contains(part), "{part} in {problem}");
            }
            assert!(problem.help.unwrap().contains("constraints = \"h-bonds\""));
        }
    }
}

#[test]
fn independent_constraints_are_accepted() {
    assert_eq!(check(&Scene::mixed()), Ok(()));
    // a planar ring without diagonals, and a ring whose atoms are alternately above and below a plane
    let bonds: Vec<[u32; 2]> = ring(1).collect();
    assert_eq!(check(&scene(&hexagon(), &bonds)), Ok(()));
    let second: Vec<[u32; 2]> = ring(1).chain(ring(2)).collect();
    let chair: Vec<Vec3> =
        hexagon().iter().zip([0.025, -0.025].iter().cycle()).map(|(r, z)| *r + vec3(0.0, 0.0, *z)).collect();
    assert_eq!(check(&scene(&chair, &second)), Ok(()));
    // methane with five angles, which is rigid
    let corners = [[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]].map(|c| {
        let [x, y, z] = c.map(f64::from);
        vec3(x, y, z) * 0.063
    });
    let methane: Vec<Vec3> = std::iter::once(Vec3::ZERO).chain(corners).collect();
    let pairs = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4]];
    let mut methane = scene(&methane, &pairs);
    assert_eq!(check(&methane), Ok(()));
    methane.old[2].x += 0.01;
    assert_eq!(check(&methane), Ok(()));
    // the sixth angle follows from the other constraints
    methane.old[2].x -= 0.01;
    methane.bond(3, 4);
    assert!(check(&methane).is_err());
}
