//! The plain Ewald sum in double precision, to which PME converges, for validation on small systems.

use std::f64::consts::{PI, TAU};

use num_complex::Complex;
use rayon::prelude::*;

use super::{ChargeSums, MeshPotential, reciprocal_rows};
use crate::cell::PeriodicCell;
use crate::term::ewald_direct;
use crate::units::COULOMB;
use crate::vec3::Vec3;

/// Returns the electrostatic energy (kJ/mol) and forces (kJ/mol/nm) of point charges (e) in a periodic cell with
/// conducting surroundings. No pair is excluded. `tolerance` is the relative size of the largest omitted terms.
///
/// The direct sum runs over minimum images up to the largest cutoff r_c of the cell. The splitting parameter is α =
/// x/r_c with x² = −ln `tolerance`. The reciprocal sum runs over wave vectors m with |m| < α x/π, where α is the
/// splitting parameter and x² = −ln `tolerance`. The cost for N charges grows as N² + N · (number of wave vectors).
pub fn ewald(cell: &PeriodicCell, positions: &[Vec3], charges: &[f64], tolerance: f64) -> (f64, Vec<Vec3>) {
    let x = (-tolerance.ln()).sqrt();
    let cutoff = cell.max_cutoff();
    let alpha = x / cutoff;
    let (mut energy, mut forces) = direct(cell, positions, charges, alpha, cutoff);
    energy += reciprocal(cell, positions, charges, alpha, alpha * x / PI, &mut forces);
    let (coulomb, sums) = (MeshPotential::Coulomb, ChargeSums::of(charges.iter().copied()));
    energy += coulomb.self_energy(alpha, sums) + coulomb.plasma_energy(alpha, sums, cell.volume());
    (energy, forces)
}

fn direct(cell: &PeriodicCell, positions: &[Vec3], charges: &[f64], alpha: f64, cutoff: f64) -> (f64, Vec<Vec3>) {
    let rows: Vec<(f64, Vec3)> = (0..positions.len())
        .into_par_iter()
        .map(|i| {
            let (mut energy, mut force) = (0.0, Vec3::ZERO);
            for j in (0..positions.len()).filter(|&j| j != i) {
                let d = cell.image_within_cutoff(positions[i] - positions[j]);
                let r2 = d.norm_squared();
                if r2 < cutoff * cutoff {
                    let (f, e) = ewald_direct(COULOMB * charges[i] * charges[j], r2, 1.0 / r2.sqrt(), alpha);
                    energy += 0.5 * e;
                    force += d * f;
                }
            }
            (energy, force)
        })
        .collect();
    (rows.iter().map(|row| row.0).sum(), rows.into_iter().map(|row| row.1).collect())
}

fn reciprocal(
    cell: &PeriodicCell,
    positions: &[Vec3],
    charges: &[f64],
    alpha: f64,
    longest: f64,
    forces: &mut [Vec3],
) -> f64 {
    let (rows, volume) = (reciprocal_rows(cell), cell.volume());
    // bounds of the integers k_a, k_b, k_c of a wave vector m: |k_a| = |m·a| ≤ |m||a|
    let [ka, kb, kc] = cell.rows().map(|row| (longest * row.norm()).floor() as i64);
    let waves: Vec<Vec3> = (0..=ka)
        .flat_map(|a| (-kb..=kb).flat_map(move |b| (-kc..=kc).map(move |c| [a, b, c])))
        .filter(|&[a, b, c]| a > 0 || b > 0 || (b == 0 && c > 0))
        .map(|[a, b, c]| rows[0] * a as f64 + rows[1] * b as f64 + rows[2] * c as f64)
        .filter(|m| m.norm_squared() < longest * longest)
        .collect();
    let phase = |m: &Vec3, r: &Vec3| Complex::from_polar(1.0, TAU * m.dot(*r));
    // each wave vector m also represents −m
    let spectrum: Vec<(f64, Complex<f64>)> = waves
        .par_iter()
        .map(|m| {
            let squared = m.norm_squared();
            let green = 2.0 * COULOMB / (PI * volume) * (-PI * PI * squared / (alpha * alpha)).exp() / squared;
            (green, positions.iter().zip(charges).map(|(r, &q)| phase(m, r) * q).sum())
        })
        .collect();
    forces.par_iter_mut().zip(positions.par_iter().zip(charges)).for_each(|(force, (r, &q))| {
        for (m, (green, sum)) in waves.iter().zip(&spectrum) {
            *force += *m * (TAU * q * green * (phase(m, r) * sum.conj()).im);
        }
    });
    spectrum.iter().map(|(green, sum)| 0.5 * green * sum.norm_sqr()).sum()
}
