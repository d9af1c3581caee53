//! Tests of conservation laws and temperatures in short runs.

use md::observe::statistics::Average;
use md::vec3::Vec3;

use crate::case::Case;

const PERIODIC: &str = "cutoff = \"0.8 nm\"\npme = { spacing = \"0.12 nm\", order = 5 }";
const VACUUM: &str = "cutoff = \"none\"\nelectrostatics = \"plain\"";
const QUIET: &str = "\n[output]\ntrajectory = \"none\"";

fn input(run: &str, forces: &str, stage: &str) -> String {
    format!(
        "[run]\nthreads = 1\n{run}\n[forces]\n{forces}\n[[stage]]\nname = \"a\"\nkind = \"dynamics\"\n\
         velocities = \"generate\"\n{stage}"
    )
}

/// RMS deviation of a column from its least-squares line.
fn fluctuation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (mean, middle) = (values.iter().sum::<f64>() / n, 0.5 * (n - 1.0));
    let products: f64 = values.iter().enumerate().map(|(i, v)| (i as f64 - middle) * (v - mean)).sum();
    let slope = products / (n * (n * n - 1.0) / 12.0);
    let squares: f64 = values.iter().enumerate().map(|(i, v)| (v - mean - slope * (i as f64 - middle)).powi(2)).sum();
    (squares / n).sqrt()
}

/// Returns the RMS fluctuation of the conserved energy, sampled every 0.25 fs over eleven periods of the fastest
/// vibration.
fn fluctuation_at(timestep: &str, system: &str, run: &str, forces: &str) -> f64 {
    let stage = format!(
        "temperature = \"300 K\"\ntimestep = \"{timestep}\"\nduration = \"0.1 ps\"\ncom_removal = \"none\"{QUIET}\n\
         energies = {{ every = \"0.25 fs\" }}"
    );
    let case = Case::new(system, &input(run, &format!("{forces}\nconstraints = \"none\""), &stage));
    case.ends_with(0, &[]);
    let found = fluctuation(&case.column("out", "conserved (kJ/mol)"));
    println!("{system} {run} {timestep}: fluctuation {found:.5} kJ/mol");
    found
}

/// Expected ratio of the energy fluctuations with two time steps, and its tolerance. The energy error of leapfrog is
/// dt² times a function of the trajectory. The next order is smaller by about (ω dt)², which is 3 % for the fastest
/// vibration (O–H, N–H: period 9 fs) with steps of 0.25 fs. The rest of the tolerance allows for the divergence of
/// both trajectories, which is small because the runs are short.
const RATIO: (f64, f64) = (4.0, 0.2);

#[test]
fn fluctuation_grows_with_the_square_of_the_time_step() {
    for (system, run, forces) in [
        ("peptide-vacuum", "precision = \"double\"", VACUUM),
        ("peptide-vacuum", "", VACUUM),
        // water molecules are flexible, so that the forces from virtual sites act on every bond
        ("tip4pew", "", PERIODIC),
        ("tip5p", "", PERIODIC),
    ] {
        let [long, short] = ["0.25 fs", "0.125 fs"].map(|dt| fluctuation_at(dt, system, run, forces));
        let ratio = long / short;
        println!("{system} {run}: ratio {ratio:.3}");
        assert!((ratio - RATIO.0).abs() < RATIO.1, "{system} {run}: {ratio}");
    }
}

/// Change of the conserved energy in kJ/mol that strong friction may cause in 258 rigid waters within 2 ps. Leapfrog
/// conserves an energy that differs by ⅛ (ω dt)² m v² for each of 774 librations, 0.0064 kT for 600 cm⁻¹ and 2 fs. A
/// velocity refreshment changes this difference at random, 2γt = 200 times in all: √(2·774·200)·0.0064·2.5 = 9; the
/// bound is three times this change. If the work of constraints were left out of the conserved energy, the change would
/// be 60.
const FRICTION: f64 = 27.0;

#[test]
fn friction_leaves_the_conserved_energy_of_rigid_water_alone() {
    for thermostat in
        ["kind = \"langevin\", friction = \"50 1/ps\"", "kind = \"andersen\", coupling_time = \"0.02 ps\""]
    {
        let stage = format!(
            "timestep = \"2 fs\"\nduration = \"2 ps\"\nthermostat = {{ {thermostat}, temperature = \"300 K\" }}{QUIET}\n\
             energies = {{ every = \"0.2 ps\" }}"
        );
        let case = Case::new("water", &input("", PERIODIC, &stage));
        case.ends_with(0, &[]);
        let values = case.column("out", "conserved (kJ/mol)");
        let change = values.last().unwrap() - values[0];
        println!("{thermostat}: {change:.2} kJ/mol");
        assert!(change.abs() < FRICTION, "{thermostat}: {values:?}");
    }
}

/// Total momentum Σ m v in amu nm/ps, with the masses of water or of the peptide's file.
fn momentum(case: &Case, system: &str) -> Vec3 {
    let file = format!("{}/tests/systems/{system}/{system}.prmtop.xz", env!("CARGO_MANIFEST_DIR"));
    let topology = md::format::read_topology(file.as_ref()).unwrap().topology;
    topology.atoms.iter().zip(case.state("out").velocities).map(|(atom, v)| v * atom.mass).sum()
}

#[test]
fn momentum_is_conserved() {
    // Tolerance in double precision: 1000 steps × 74 forces of 1000 kJ/mol/nm × 0.002 ps × 2⁻⁵³, as if all rounding
    // errors had one sign: 2e-11. In mixed precision reaction field has no mesh, whose forces would not sum to zero.
    // The two forces of a pair are the same f32 number, and their sums over some ten blocks have rounding errors of
    // 2⁻²⁴ of 1000 kJ/mol/nm. A random walk over 774 atoms and 500 steps gives √(774·500·10)·1000·2⁻²⁴·0.002 = 2e-4.
    let field = "cutoff = \"0.8 nm\"\nelectrostatics = \"reaction-field\"";
    for (system, run, forces, steps, tolerance) in
        [("peptide-vacuum", "precision = \"double\"", VACUUM, 1000, 2e-11), ("water", "", field, 500, 1e-3)]
    {
        let stage =
            format!("temperature = \"300 K\"\ntimestep = \"2 fs\"\nsteps = {steps}\ncom_removal = \"none\"{QUIET}");
        let case = Case::new(system, &input(run, forces, &stage));
        // the momentum of the generated velocities is conserved, because nothing removes momentum
        case.ends_with(0, &["--steps", "1"]);
        let before = momentum(&case, system);
        assert!(before.norm() > 1.0, "{before:?}");
        case.ends_with(0, &[]);
        let found = (momentum(&case, system) - before).norm();
        println!("{system} {run}: momentum {found:.2e} amu nm/ps");
        assert!(found < tolerance, "{system}: {found}");
    }
}

/// Default of `constraint_tolerance`, relative.
const TOLERANCE: f64 = 1e-6;

#[test]
fn constraints_hold() {
    let barostat = "barostat = { pressure = \"1 bar\", coupling_time = \"1 ps\" }";
    for (precision, steps) in [("mixed", 151), ("double", 11)] {
        let stage = format!(
            "timestep = \"2 fs\"\nsteps = {steps}\nthermostat = {{ temperature = \"300 K\" }}\n{barostat}{QUIET}"
        );
        let case = Case::new("water", &input(&format!("precision = \"{precision}\""), PERIODIC, &stage));
        case.ends_with(0, &[]);
        let positions = case.state("out").positions;
        // geometry of TIP3P: 0.09572 nm, 104.52°
        let lengths = [0.09572, 0.09572, 2.0 * 0.09572 * (0.5 * 104.52f64.to_radians()).sin()];
        for water in positions.chunks(3) {
            let found = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| (water[i] - water[j]).norm());
            // the file gives 104.52° as an H–H length with four decimals in Å
            let allowed = [TOLERANCE, TOLERANCE, 4e-5];
            for k in 0..3 {
                assert!((found[k] / lengths[k] - 1.0).abs() < allowed[k], "{precision}: {found:?}");
            }
        }
    }
}

fn average(case: &Case, name: &str) -> Average {
    let stage = case.summary("out").stages.pop().unwrap();
    let found = stage.averages.into_iter().find(|average| average.name == name).unwrap();
    let (mean, error, drift) = (found.mean, found.error, found.drift);
    println!("{name}: {mean:.3} +- {error:?}, fluctuation {:.3}, drift {drift:.4} /ps", found.fluctuation);
    found
}

/// Returns a finished run of the peptide over 60 ps at 300 K.
fn thermostatted(coupling: &str) -> Case {
    let stage = format!(
        "duration = \"60 ps\"\ntimestep = \"2 fs\"\nthermostat = {{ {coupling}, temperature = \"300 K\" }}{QUIET}\n\
         energies = {{ every = \"20 fs\" }}"
    );
    let case = Case::new("peptide-vacuum", &input("", &format!("{VACUUM}\nconstraints = \"h-bonds\""), &stage));
    case.ends_with(0, &[]);
    case
}

#[track_caller]
fn assert_mean_temperature(case: &Case, coupling: &str) {
    let temperature = average(case, "temperature");
    let error = temperature.error.unwrap();
    // for a meaningful test the standard error must be below 1 %
    assert!(error < 3.0 && (temperature.mean - 300.0).abs() < 3.0 * error, "{coupling}: {temperature:?}");
}

#[test]
fn mean_temperature_is_that_of_the_thermostat() {
    for coupling in ["kind = \"langevin\", friction = \"10 1/ps\"", "kind = \"andersen\", coupling_time = \"0.1 ps\""] {
        assert_mean_temperature(&thermostatted(coupling), coupling);
    }
}

/// Tolerance in kJ/mol/ps: a fifth of the energy that would be missing if only (λ² − 1) K counted as work of the
/// thermostat (λ: velocity scale factor, K: kinetic energy). The tolerance exceeds the slope that the fluctuation of
/// the conserved energy, 2 kJ/mol, causes over 60 ps if it is correlated throughout: √12 · 2/60.
const THERMOSTAT_DRIFT: f64 = 0.2;

#[track_caller]
fn assert_work_is_booked(case: &Case, coupling: &str) {
    let conserved = average(case, "conserved");
    assert!(conserved.drift.abs() < THERMOSTAT_DRIFT, "{coupling}: {conserved:?}");
}

#[test]
fn velocity_rescaling_has_its_mean_temperature_and_books_its_work() {
    let coupling = "kind = \"v-rescale\", coupling_time = \"0.1 ps\"";
    let case = thermostatted(coupling);
    assert_mean_temperature(&case, coupling);
    assert_work_is_booked(&case, coupling);
}

#[test]
fn work_of_a_strong_thermostat_is_booked_in_full() {
    for coupling in [
        "kind = \"berendsen\", coupling_time = \"0.1 ps\"",
        // for thermostats that redraw velocities, the work lacks terms that grow with the rate of redrawing
        // (`ensemble::refreshment`)
        "kind = \"langevin\", friction = \"2 1/ps\"",
        "kind = \"andersen\", coupling_time = \"1 ps\"",
    ] {
        assert_work_is_booked(&thermostatted(coupling), coupling);
    }
}

/// Pressure (bar) of half of the centripetal forces in 258 rigid waters at 300 K: half of twice the rotational kinetic
/// energy, 3/2 kT per water, divided by 3V with a volume of 7.7 nm³.
const HALF_CENTRIPETAL: f64 = 690.0;

#[test]
fn pressure_of_the_first_row_is_that_of_a_run() {
    let stage =
        format!("temperature = \"300 K\"\ntimestep = \"1 fs\"\nsteps = 3{QUIET}\nenergies = {{ every = \"1 fs\" }}");
    let case = Case::new("water", &input("precision = \"double\"", PERIODIC, &stage));
    case.ends_with(0, &[]);
    let pressure = case.column("out", "pressure (bar)");
    // the pressure is extrapolated linearly from the next two steps; the curvature of librations, (ω dt)² of a
    // fluctuation of 500 bar with a period of 40 fs, adds an error of 12 bar
    let expected = 2.0 * pressure[1] - pressure[2];
    assert!((pressure[0] - expected).abs() < 0.1 * HALF_CENTRIPETAL, "{pressure:?}");
}

/// Drift that `list.tolerance` allows, kJ/mol/ps per atom.
const LIST_TOLERANCE: f64 = 0.005;

/// Checks the conserved energy over 6 ps. The drift must stay below the sum of the drift that lists may cause for
/// `atoms`, and the slope that a fluctuation of `noise` kJ/mol causes if it is correlated throughout: √12 · noise / 6
/// ps.
#[track_caller]
fn assert_conserved(system: &str, atoms: f64, noise: f64, forces: &str, coupling: &str) {
    let stage =
        format!("duration = \"6 ps\"\ntimestep = \"2 fs\"\n{coupling}{QUIET}\nenergies = {{ every = \"20 fs\" }}");
    let case = Case::new(system, &input("", forces, &stage));
    case.ends_with(0, &[]);
    let [conserved, total, _] = ["conserved", "total", "volume"].map(|name| average(&case, name));
    let bound = LIST_TOLERANCE * atoms + 12f64.sqrt() * noise / 6.0;
    assert!(conserved.drift.abs() < bound, "{conserved:?} exceeds {bound}");
    // the test is meaningful only if the couplings exchange energy with the system
    assert!(total.fluctuation > 3.0 * bound, "{total:?}");
}

#[test]
fn conserved_quantity_at_constant_volume() {
    // the conserved energy of rigid waters fluctuates by 2 kJ/mol with steps of 2 fs
    let coupling = "thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }";
    assert_conserved("water", 774.0, 2.0, PERIODIC, coupling);
}

#[test]
fn conserved_quantity_at_constant_pressure() {
    // the work of the barostat is integrated by the trapezoidal rule, to second order; the conserved energy of atoms
    // without constraints fluctuates by less than 1 kJ/mol
    let coupling = "thermostat = { temperature = \"120 K\", coupling_time = \"0.1 ps\" }\n\
        barostat = { pressure = \"500 bar\", coupling_time = \"1 ps\", compressibility = \"2e-4 1/bar\" }";
    assert_conserved("argon", 512.0, 1.0, "cutoff = \"0.9 nm\"", coupling);
    // the system consists of rigid waters, whose internal coordinates the barostat does not scale
    let coupling = "thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
        barostat = { pressure = \"1 bar\", coupling_time = \"1 ps\" }";
    assert_conserved("water", 774.0, 2.0, PERIODIC, coupling);
}

/// Barostats that scale directions differently, or that make Monte Carlo volume moves.
const DIRECTIONAL: [&str; 3] = [
    "coupling = \"semi-isotropic\", surface_tension = \"20 mN/m\", coupling_time = \"1 ps\"",
    "coupling = \"anisotropic\", coupling_time = \"1 ps\"",
    "kind = \"monte-carlo\", coupling = \"semi-isotropic\", every = 10",
];

#[test]
fn conserved_quantity_where_directions_differ() {
    for barostat in DIRECTIONAL {
        let coupling = format!(
            "thermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}\n\
             barostat = {{ pressure = \"1 bar\", {barostat} }}"
        );
        assert_conserved("water", 774.0, 2.0, PERIODIC, &coupling);
        let coupling = format!(
            "thermostat = {{ temperature = \"120 K\", coupling_time = \"0.1 ps\" }}\n\
             barostat = {{ pressure = \"500 bar\", compressibility = \"2e-4 1/bar\", {barostat} }}\n\
             position_restraints = {{ select = \"all\", force_constant = \"500 kJ/mol/nm^2\", reference_scaling = \"all\" }}"
        );
        assert_conserved("argon", 512.0, 1.0, "cutoff = \"0.9 nm\"", &coupling);
    }
}

#[test]
fn conserved_quantity_with_impulses_at_constant_pressure() {
    for barostat in ["coupling_time = \"1 ps\"", DIRECTIONAL[1], DIRECTIONAL[2]] {
        let coupling = format!(
            "multiple_time_steps = {{ every = 2 }}\n\
             thermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}\n\
             barostat = {{ pressure = \"1 bar\", {barostat} }}"
        );
        // with the reciprocal forces in every second step, the conserved energy of rigid waters fluctuates by a quarter
        // more
        assert_conserved("water", 774.0, 2.5, PERIODIC, &coupling);
    }
}

#[test]
fn conserved_quantity_with_restraints_at_constant_pressure() {
    for scaling in ["none", "center-of-mass", "all"] {
        let coupling = format!(
            "thermostat = {{ temperature = \"120 K\", coupling_time = \"0.1 ps\" }}\n\
             barostat = {{ pressure = \"500 bar\", coupling_time = \"1 ps\", compressibility = \"2e-4 1/bar\" }}\n\
             position_restraints = {{ select = \"all\", force_constant = \"500 kJ/mol/nm^2\", reference_scaling = \"{scaling}\" }}\n\
             restraints = {{ kind = \"distance\", groups = [\"index 0\", \"index 1\"], at = \"0.7 nm\", \
             force_constant = \"3000 kJ/mol/nm^2\", rate = \"-0.1 nm/ps\" }}"
        );
        assert_conserved("argon", 512.0, 1.0, "cutoff = \"0.9 nm\"", &coupling);
    }
}
