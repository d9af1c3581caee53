//! Tests against reference energies of the NIST Standard Reference Simulation Website (`nist/README.md`), to the last
//! printed digit. `validation/nist` has all configurations.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::f64::consts::PI;
use std::path::Path;

use assert_cmd::Command;
use md::format::read_coordinates;
use md::vec3::{Vec3, vec3};
use serde_json::Value;

/// Gas constant in kJ/mol/K.
const GAS: f64 = 8.314_462_618_153_24e-3;
/// Coulomb's constant in K nm/e².
const COULOMB: f64 = 138.935_457_644_381_98 / GAS;
/// Charges of SPC/E water in e.
const CHARGES: [f64; 3] = [-0.8476, 0.4238, 0.4238];
/// Relative difference between the physical constants of 2010, which NIST uses, and the current constants.
const CONSTANTS: f64 = 2e-7;

/// Returns the JSON output of `md energy` for a configuration. The `[forces]` section of the input contains the lines
/// `forces`.
fn energy_in(precision: &str, name: &str, forces: &str) -> Value {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nist");
    let [topology, coordinates] = ["top", "gro.xz"].map(|ending| data.join(format!("{name}.{ending}")));
    let text = format!(
        "[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n[run]\nthreads = 1\n[forces]\nlj_modifier = \"none\"\n{forces}\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("input.toml"), text).unwrap();
    let mut command = Command::cargo_bin("md").unwrap();
    command.current_dir(folder.path()).args(["energy", "input.toml", "--precision", precision, "--json", "e.json"]);
    command.assert().success();
    serde_json::from_slice(&std::fs::read(folder.path().join("e.json")).unwrap()).unwrap()
}

/// Returns the output of `md energy` in double precision.
fn energy(name: &str, forces: &str) -> Value {
    energy_in("double", name, forces)
}

/// Returns an energy term in kJ/mol.
fn term(found: &Value, name: &str) -> f64 {
    found["energies"][name].as_f64().unwrap()
}

/// Asserts that a number agrees with the digits that NIST cites.
fn has_digits(what: &str, value: f64, cited: &str, constants: f64) {
    let (mantissa, exponent) = cited.split_once('E').unwrap();
    let decimals = mantissa.split_once('.').unwrap().1.len();
    let unit = 10_f64.powi(exponent.parse::<i32>().unwrap() - i32::try_from(decimals).unwrap());
    let difference = (value - cited.parse::<f64>().unwrap()).abs();
    assert!(difference <= 0.5 * unit + constants * value.abs(), "{what}: {value} is not {cited}");
}

#[test]
fn lennard_jones_energies_are_those_of_nist() {
    for (cutoff, pairs, virial, correction) in
        [(3, "-6.9000E+02", "-5.6846E+02", "-2.4230E+01"), (4, "-7.0460E+02", "-6.5599E+02", "-1.0226E+01")]
    {
        let with = |word| {
            energy(
                "lj-2",
                &format!("cutoff = \"{cutoff} nm\"\nelectrostatics = \"off\"\ndispersion_correction = {word}"),
            )
        };
        let (plain, corrected) = (with("false"), with("true"));
        let trace: f64 = (0..3).map(|i| plain["virial"][i][i].as_f64().unwrap()).sum();
        has_digits("pairs", term(&plain, "lj"), pairs, 0.0);
        has_digits("virial", trace, virial, 0.0);
        has_digits("correction", term(&corrected, "dispersion_correction"), correction, 0.0);
    }
}

/// Tests mixed precision with a configuration without velocities. With velocities, pruning of pair lists uses
/// predicted positions.
#[test]
fn mixed_precision_needs_no_velocities() {
    let forces = "cutoff = \"3 nm\"\nelectrostatics = \"off\"\n";
    let [mixed, double] = ["mixed", "double"].map(|precision| term(&energy_in(precision, "lj-2", forces), "lj"));
    // the tolerance is that of energies in mixed precision in tests/forces.rs
    assert!((mixed / double - 1.0).abs() < 1e-6, "{mixed} and {double}");
}

/// Returns the minimum image of a distance vector. Molecules may be split across the faces of the cell.
fn nearest(d: Vec3, edge: f64) -> Vec3 {
    let image = |x: f64| x - edge * (x / edge).round();
    vec3(image(d.x), image(d.y), image(d.z))
}

/// Returns the energy in K of the wave vectors 2πn/L with n² ≥ 27 (n: vector of integers, L: cell edge), which the NIST
/// values do not include. Wave vectors with |n| > 12 add less than a fraction e⁻⁴⁵.
fn left_out(positions: &[Vec3], edge: f64, alpha: f64) -> f64 {
    let reach = -12_i32..=12;
    let mut sum = 0.0;
    for (x, y, z) in reach.clone().flat_map(|x| reach.clone().flat_map(move |y| (0..=12).map(move |z| (x, y, z)))) {
        let square = x * x + y * y + z * z;
        if !(27..=144).contains(&square) {
            continue;
        }
        let k = 2.0 * PI / edge;
        let (mut cosine, mut sine) = (0.0, 0.0);
        for (i, r) in positions.iter().enumerate() {
            let (s, c) = (k * (f64::from(x) * r.x + f64::from(y) * r.y + f64::from(z) * r.z)).sin_cos();
            (cosine, sine) = (cosine + CHARGES[i % 3] * c, sine + CHARGES[i % 3] * s);
        }
        let k2 = k * k * f64::from(square);
        // wave vectors with negative z have the same terms as those with positive z, which therefore count twice
        let images = if z == 0 { 1.0 } else { 2.0 };
        sum += images * (-k2 / (4.0 * alpha * alpha)).exp() / k2 * (cosine * cosine + sine * sine);
    }
    COULOMB * 2.0 * PI / edge.powi(3) * sum
}

#[test]
fn water_energies_are_those_of_nist() {
    let (molecules, edge) = (100.0, 2.0);
    let alpha = 5.6 / edge;
    let forces = format!(
        "cutoff = \"1 nm\"\nelectrostatics = \"pme\"\ncoulomb_modifier = \"none\"\npme = {{ alpha = \"{alpha} 1/nm\", grid = [64, 64, 64], order = 8 }}\n"
    );
    let found = energy("spce-1", &format!("{forces}dispersion_correction = false"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nist/spce-1.gro.xz");
    let positions = read_coordinates(&path, Some(300), None).unwrap().positions;
    // NIST lists two terms separately that md adds to other terms: the self energy -α/√π Σq², and -Σ qq' erf(αr)/r
    // over pairs within a molecule
    let own = -alpha / PI.sqrt() * molecules * CHARGES.iter().map(|q| q * q).sum::<f64>() * COULOMB;
    let inside: f64 = positions
        .chunks_exact(3)
        .flat_map(|water| {
            [(0, 1), (0, 2), (1, 2)].map(|(a, b)| (CHARGES[a] * CHARGES[b], nearest(water[a] - water[b], edge).norm()))
        })
        .map(|(charges, r)| -COULOMB * charges * libm::erf(alpha * r) / r)
        .sum();
    let waves = term(&found, "coulomb_reciprocal") / GAS - own - left_out(&positions, edge, alpha);
    let real = (term(&found, "coulomb") - term(&found, "coulomb_reciprocal")) / GAS - inside;
    has_digits("dispersion", term(&found, "lj") / GAS, "9.95387E+04", CONSTANTS);
    has_digits("self", own, "-2.84469E+06", CONSTANTS);
    has_digits("intramolecular", inside, "2.80999E+06", CONSTANTS);
    has_digits("reciprocal", waves, "6.27009E+03", CONSTANTS);
    has_digits("real", real, "-5.58889E+05", CONSTANTS);
    // number of oxygen pairs relative to all pairs in the dispersion correction, for n oxygens among N atoms: md and
    // OpenMM count n(n+1)/2 of N(N+1)/2 pairs, and NIST counts n²/2 of N²/2 pairs
    let corrected = energy("spce-1", &format!("{forces}dispersion_correction = true"));
    let counting = (1.0 + 1.0 / molecules) / (1.0 + 1.0 / (3.0 * molecules));
    has_digits("correction", term(&corrected, "dispersion_correction") / GAS / counting, "-8.23715E+02", CONSTANTS);
}
