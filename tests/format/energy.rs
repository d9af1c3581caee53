//! Tests bonded parameters through energies. Each term is computed by its textbook formula in f64 and compared with
//! the energy of this term on OpenMM's Reference platform.

use std::f64::consts::{PI, TAU};

use md::format::{read_coordinates, read_topology};
use md::system::{CmapGrid, Topology};
use md::units::COULOMB;
use md::vec3::Vec3;

use crate::{reference, shared_systems, system_file};

/// Relative tolerance. md and OpenMM compute in f64. Stiff bonds lose digits in r − r₀ (relative error 1e-16 · r/(r −
/// r₀)), and sums over 10⁵ terms lose a few more digits. Parameters have 8 digits in the files, but md and OpenMM read
/// the same digits.
const TOLERANCE: f64 = 1e-9;

fn angle(a: Vec3, b: Vec3, c: Vec3) -> f64 {
    let (u, v) = (a - b, c - b);
    u.cross(v).norm().atan2(u.dot(v))
}

/// Returns the dihedral angle (rad) with the sign convention of IUPAC; trans is π.
fn dihedral([a, b, c, d]: [Vec3; 4]) -> f64 {
    let (u, v, w) = (b - a, c - b, d - c);
    let (m, n) = (u.cross(v), v.cross(w));
    (v.norm() * u.dot(n)).atan2(m.dot(n))
}

fn terms(topology: &Topology, x: &[Vec3]) -> Vec<(&'static str, f64)> {
    let at = |i: u32| x[i as usize];
    let bonded = &topology.bonded;
    let harmonic = |bonds: &[md::system::Bond]| -> f64 {
        let energy = |bond: &md::system::Bond| {
            let r = (at(bond.atoms[0]) - at(bond.atoms[1])).norm();
            0.5 * bond.force_constant * (r - bond.length).powi(2)
        };
        bonds.iter().map(energy).sum()
    };
    let periodic = |torsions: &[md::system::Torsion]| -> f64 {
        let energy = |torsion: &md::system::Torsion| {
            let phi = dihedral(torsion.atoms.map(at));
            torsion.force_constant * (1.0 + (f64::from(torsion.periodicity) * phi - torsion.phase).cos())
        };
        torsions.iter().map(energy).sum()
    };
    let angles = bonded.angles.iter().map(|term| {
        let [a, b, c] = term.atoms.map(at);
        0.5 * term.force_constant * (angle(a, b, c) - term.angle).powi(2)
    });
    let impropers = bonded.harmonic_impropers.iter().map(|term| {
        let difference = dihedral(term.atoms.map(at)) - term.angle;
        0.5 * term.force_constant * (difference - TAU * (difference / TAU).round()).powi(2)
    });
    let distance = |atoms: [u32; 2]| (at(atoms[0]) - at(atoms[1])).norm();
    let pairs = &bonded.pairs14;
    let cmaps = bonded.cmaps.iter().map(|term| {
        let [a, b, c, d, e, f, g, h] = term.atoms.map(at);
        interpolate(&bonded.cmap_grids[term.grid as usize], dihedral([a, b, c, d]), dihedral([e, f, g, h]))
    });
    vec![
        ("bond", harmonic(&bonded.bonds)),
        ("urey_bradley", harmonic(&bonded.urey_bradleys)),
        ("angle", angles.sum()),
        ("dihedral_proper", periodic(&bonded.propers)),
        ("dihedral_improper", periodic(&bonded.impropers)),
        ("improper_harmonic", impropers.sum()),
        ("cmap", cmaps.sum()),
        ("elec_14", pairs.iter().map(|p| COULOMB * p.charge_product / distance(p.atoms)).sum()),
        ("lj_14", pairs.iter().map(|p| p.c12 / distance(p.atoms).powi(12) - p.c6 / distance(p.atoms).powi(6)).sum()),
    ]
}

/// Returns the slopes s (per grid step) of the periodic cubic spline through the values `y`, from s₋ + 4 s + s₊ = 3 (y₊
/// − y₋), where ₋ and ₊ denote the neighbouring grid points. Gauss–Seidel sweeps solve the equations; each sweep
/// reduces the error by at least half.
fn slopes(y: &[f64]) -> Vec<f64> {
    let n = y.len();
    let mut s = vec![0.0; n];
    for _ in 0..100 {
        for i in 0..n {
            let (before, after) = ((i + n - 1) % n, (i + 1) % n);
            s[i] = (3.0 * (y[after] - y[before]) - s[before] - s[after]) / 4.0;
        }
    }
    s
}

/// Returns the value at t ∈ [0, 1] of the cubic polynomial with the given values and slopes at the ends.
fn hermite([y0, y1]: [f64; 2], [s0, s1]: [f64; 2], t: f64) -> f64 {
    let (t2, t3) = (t * t, t * t * t);
    y0 * (2.0 * t3 - 3.0 * t2 + 1.0) + s0 * (t3 - 2.0 * t2 + t) + y1 * (3.0 * t2 - 2.0 * t3) + s1 * (t3 - t2)
}

/// Returns the value of the bicubic spline of a correction map: every row is interpolated along ψ, and then the results
/// are interpolated along φ.
fn interpolate(grid: &CmapGrid, phi: f64, psi: f64) -> f64 {
    let n = grid.size;
    let place = |angle: f64| ((angle + PI) / TAU * n as f64).rem_euclid(n as f64);
    let (u, v) = (place(phi), place(psi));
    let (j, t) = (v as usize % n, v.fract());
    let row = |i: usize| {
        let values = &grid.energies[i * n..(i + 1) * n];
        let s = slopes(values);
        hermite([values[j], values[(j + 1) % n]], [s[j], s[(j + 1) % n]], t)
    };
    let column: Vec<f64> = (0..n).map(row).collect();
    let s = slopes(&column);
    let (i, t) = (u as usize % n, u.fract());
    hermite([column[i], column[(i + 1) % n]], [s[i], s[(i + 1) % n]], t)
}

#[test]
fn bonded_energies_agree_with_the_reference() {
    let Some(root) = shared_systems() else { return };
    for name in ["ala2-vacuum", "ala2-explicit", "charmm36-ala3", "ff14ipq", "tz2-truncoct", "dhfr"] {
        let folder = root.join(name);
        let topology = read_topology(&system_file(&folder, "prmtop")).unwrap().topology;
        let state = read_coordinates(&system_file(&folder, "rst7"), None, None).unwrap();
        let expected = reference(&folder);
        let case = if name == "ala2-vacuum" { "nocutoff" } else { "1e-06" };
        let expected = &expected["cases"][case]["terms"];
        for (term, energy) in terms(&topology, &state.positions) {
            let reference = expected[term].as_f64().unwrap_or(0.0);
            println!("{name} {term}: {energy:.12} {reference:.12}");
            assert!((energy - reference).abs() <= TOLERANCE * reference.abs().max(1.0), "{name} {term}");
        }
    }
}
