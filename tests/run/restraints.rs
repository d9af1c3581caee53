//! Tests of restraints, pulling and frozen atoms in whole runs.

use std::path::Path;

use crate::case::Case;

const VACUUM: &str = "[run]\nthreads = 1\nprecision = \"double\"\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n\
    constraints = \"none\"\n[output]\ntrajectory = \"none\"\nenergies = { every = \"1 steps\" }\n\
    restraints = { every = \"1 steps\" }\n";

fn stage(rest: &str) -> String {
    format!(
        "{VACUUM}[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"0.6 ps\"\ntimestep = \"0.25 fs\"\n\
         velocities = \"generate\"\ntemperature = \"200 K\"\ncom_removal = \"none\"\n{rest}"
    )
}

/// Returns the rows of one restraint in `restraints.csv`: value, center, force, energy, work.
fn rows(case: &Case, restraint: &str) -> Vec<[f64; 5]> {
    let text = String::from_utf8(case.contents("out").remove(Path::new("restraints.csv")).unwrap()).unwrap();
    let fields = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let own = fields.filter(|fields| fields[3] == restraint);
    own.map(|fields| std::array::from_fn(|k| fields[4 + k].parse().unwrap())).collect()
}

fn range(values: &[f64]) -> f64 {
    values.iter().fold(f64::MIN, |a, b| a.max(*b)) - values.iter().fold(f64::MAX, |a, b| a.min(*b))
}

#[test]
fn energy_and_work_balance_for_every_restraint() {
    let plain = Case::new("peptide-vacuum", &stage(""));
    plain.ends_with(0, &[]);
    // fluctuation of the conserved energy that leapfrog causes at this timestep, for the same molecule without
    // restraints
    let fluctuation = range(&plain.column("out", "conserved (kJ/mol)"));
    for restraint in [
        "kind = \"distance\", groups = [\"index 0\", \"index 70\"], force_constant = \"3000 kJ/mol/nm^2\", rate = \"1 nm/ps\"",
        "kind = \"distance\", groups = [\"index 0-20\", \"index 50-70\"], along = \"xy\", at = \"0.1 nm\", force_constant = \"3000 kJ/mol/nm^2\"",
        "kind = \"angle\", groups = [\"index 0-5\", \"index 30\", \"index 70\"], force_constant = \"900 kJ/mol/rad^2\", rate = \"-60 deg/ps\"",
        "kind = \"torsion\", groups = [\"index 0-5\", \"index 30\", \"index 40\", \"index 70\"], force_constant = \"300 kJ/mol/rad^2\", rate = \"400 deg/ps\"",
        "kind = \"rmsd\", groups = [\"heavy\"], at = \"0.02 nm\", force_constant = \"20000 kJ/mol/nm^2\", rate = \"0.1 nm/ps\"",
        "kind = \"distance\", groups = [\"index 0\", \"index 70\"], force = \"150 kJ/mol/nm\"",
        "kind = \"rmsd\", groups = [\"heavy\"], upper = \"0.02 nm\", force_constant = \"9000 kJ/mol/nm^2\", linear_beyond = \"0.01 nm\"",
    ] {
        let case = Case::new("peptide-vacuum", &stage(&format!("restraints = {{ {restraint} }}")));
        case.ends_with(0, &[]);
        let conserved = range(&case.column("out", "conserved (kJ/mol)"));
        let [energy, work] = ["restraint (kJ/mol)", "restraint_work (kJ/mol)"].map(|name| case.column("out", name));
        println!("{restraint}: conserved {conserved:.4}, plain {fluctuation:.4}, work {:.3}", work.last().unwrap());
        assert!(conserved < 2.0 * fluctuation, "{restraint}: {conserved} of {fluctuation}");
        let rows = rows(&case, "1");
        assert_eq!(rows.len(), energy.len());
        // the work is ∫ v f dt with the pulling rate v, by the trapezoidal rule over the rows; each value is rounded to
        // 1e-6
        let speed = (rows[rows.len() - 1][1] - rows[0][1]) / (rows.len() - 1) as f64;
        let integral = rows.windows(2).map(|pair| 0.5 * speed * (pair[0][2] + pair[1][2]));
        let integral: f64 = if speed.is_nan() { 0.0 } else { integral.sum() };
        let last = rows[rows.len() - 1];
        assert!((last[4] - integral).abs() < 1e-4 && (last[4] - work[work.len() - 1]).abs() < 1e-6, "{restraint}");
        assert!((last[3] - energy[energy.len() - 1]).abs() < 1e-6 && range(&energy) > 1.0, "{restraint}");
        if restraint.contains("rate") {
            assert!(last[4].abs() > 5.0 * fluctuation, "{restraint}: too little work to be seen: {}", last[4]);
        }
    }
}

#[test]
fn frozen_atoms_stay_to_the_bit_and_the_rest_has_its_temperature() {
    let frozen = "water and resid 10-80";
    let run = |thermostat: &str| {
        let forces = "[run]\nthreads = 2\n[forces]\ncutoff = \"0.8 nm\"\npme = { spacing = \"0.15 nm\" }\n[output]\n\
            trajectory = \"none\"\nenergies = { every = \"10 fs\" }";
        let case = Case::new(
            "water",
            &format!(
                "{forces}\n[[stage]]\nname = \"down\"\nkind = \"minimize\"\nsteps = 30\nfrozen = \"{frozen}\"\n\
                 [[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"3 ps\"\ntimestep = \"2 fs\"\n\
                 velocities = \"generate\"\nthermostat = {thermostat}\nfrozen = \"{frozen}\""
            ),
        );
        let start = md::format::read_coordinates(
            format!("{}/tests/systems/water/water.rst7.xz", env!("CARGO_MANIFEST_DIR")).as_ref(),
            None,
            None,
        );
        case.ends_with(0, &[]);
        (start.unwrap().positions, case)
    };
    for thermostat in [
        "{ kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"0.05 ps\" }",
        "{ kind = \"langevin\", temperature = \"300 K\", friction = \"20 1/ps\" }",
        "{ kind = \"andersen\", temperature = \"300 K\", coupling_time = \"0.05 ps\" }",
    ] {
        let (start, case) = run(thermostat);
        let state = case.state("out");
        let moved: Vec<bool> = start.iter().zip(&state.positions).map(|(a, b)| a != b).collect();
        let still = moved.iter().filter(|moved| !**moved).count();
        assert_eq!(still, 71 * 3, "{thermostat}");
        assert!(moved[..27].iter().all(|moved| *moved) && moved[27..240].iter().all(|moved| !moved), "{thermostat}");
        assert!(state.velocities[27..240].iter().all(|v| v.norm() == 0.0));
        // the 187 waters that are not frozen have six degrees of freedom each; the mean covers some thirty independent
        // values
        let temperatures = case.column("out", "temperature (K)");
        let late = &temperatures[temperatures.len() / 3..];
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        println!("{thermostat}: {mean:.1} K");
        assert!((mean - 300.0).abs() < 4.0 * 300.0 * (2.0f64 / (6.0 * 187.0) / 30.0).sqrt(), "{thermostat}: {mean}");
    }
}

/// Tests a selection by distance of atoms to freeze: a run that is interrupted and continued freezes the atoms that
/// were within the distance at the start of the run.
#[test]
fn distances_of_selections_are_those_of_the_start() {
    let text = "[forces]\ncutoff = \"0.8 nm\"\npme = { spacing = \"0.15 nm\" }\n[output]\ntrajectory = \"none\"\n\
        [[stage]]\nname = \"a\"\nkind = \"dynamics\"\nsteps = 20\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
        temperature = \"300 K\"\nfrozen = \"byres within 0.5 nm of index 0\"";
    let file = format!("{}/tests/systems/water/water.rst7.xz", env!("CARGO_MANIFEST_DIR"));
    let start = md::format::read_coordinates(file.as_ref(), None, None).unwrap();
    let (cell, positions) = (start.cell.unwrap(), start.positions);
    let near = |atom: usize| cell.minimum_image(positions[atom] - positions[0]).norm() <= 0.5;
    let expected: Vec<bool> = (0..positions.len()).map(|atom| (0..3).any(|k| near(atom / 3 * 3 + k))).collect();
    assert!(expected.contains(&false) && expected.iter().filter(|near| **near).count() > 30);
    let case = Case::new("water", text);
    for more in [&["--steps", "10"][..], &[]] {
        case.ends_with(0, more);
        let still: Vec<bool> = case.state("out").velocities.iter().map(|v| v.norm() == 0.0).collect();
        assert!(still == expected, "{more:?}");
    }
}

#[test]
fn what_does_not_fit_the_system_is_refused() {
    for (stage_keys, expected) in [
        ("frozen = \"index 0\"", "which is frozen, and atom"),
        ("frozen = \"all\"", "all atoms are frozen"),
        ("frozen = \"resname NONE\"", "no atom is selected"),
        (
            "restraints = { kind = \"distance\", groups = [\"index 0\", \"name XX\"], force = \"1 kJ/mol/nm\" }",
            "no atom is selected",
        ),
        (
            "restraints = { kind = \"distance\", groups = [\"index 0\", \"index 0\"], force = \"1 kJ/mol/nm\" }",
            "select the same atoms",
        ),
        (
            "restraints = { kind = \"rmsd\", groups = [\"index 0 1\"], at = \"0 nm\", force_constant = \"1 kJ/mol/nm^2\" }",
            "an RMSD needs at least 3 atoms",
        ),
        (
            "restraints = { kind = \"rmsd\", groups = [\"all\"], reference = \"other.gro\", force_constant = \"1 kJ/mol/nm^2\" }",
            "does not exist",
        ),
    ] {
        let forces = "[forces]\ncutoff = \"0.8 nm\"\npme = { spacing = \"0.15 nm\" }";
        let text = format!(
            "{forces}\n[[stage]]\nkind = \"dynamics\"\nsteps = 9\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
             temperature = \"300 K\"\n{stage_keys}"
        );
        let case = Case::new("water", &text);
        let message = case.ends_with(2, &[]);
        assert!(message.contains(expected), "{stage_keys}: {message}");
        // the line of the input file is quoted
        assert!(message.contains(stage_keys), "{stage_keys}: {message}");
        assert!(!case.path("out").join("checkpoint.md").exists(), "{stage_keys}: begun");
    }
}

#[test]
fn values_forces_and_energy_are_those_of_the_pull_code() {
    // Reference: gmx 2027.0-dev with pull-coord1 to 7 (umbrella, flat-bottom, constant-force) on peptide-charged.gro,
    // one step in mixed precision: pullx, pullf and COM-Pull-En.; angles are in degrees, printed with six digits.
    let expected: [(&str, f64, f64); 7] = [
        (
            "kind = \"distance\", groups = [A, B], at = \"0.3 nm\", force_constant = \"1000 kJ/mol/nm^2\"",
            0.345043,
            -45.043,
        ),
        (
            "kind = \"distance\", groups = [A, C], along = \"xy\", at = \"0.1 nm\", force_constant = \"700 kJ/mol/nm^2\"",
            0.436749,
            -235.725,
        ),
        (
            "kind = \"distance\", groups = [B, D], along = \"z\", at = \"0.25 nm\", force_constant = \"500 kJ/mol/nm^2\"",
            0.407478,
            -78.7392,
        ),
        (
            "kind = \"angle\", groups = [A, B, C], at = \"70 deg\", force_constant = \"150 kJ/mol/rad^2\"",
            112.819,
            -112.1,
        ),
        (
            "kind = \"torsion\", groups = [A, B, C, D], at = \"40 deg\", force_constant = \"90 kJ/mol/rad^2\"",
            -65.079,
            165.058,
        ),
        (
            "kind = \"distance\", groups = [A, C], upper = \"0.2 nm\", force_constant = \"800 kJ/mol/nm^2\"",
            0.450781,
            -200.625,
        ),
        ("kind = \"distance\", groups = [B, C], force = \"-55 kJ/mol/nm\"", 0.185646, -55.0),
    ];
    let pulled = 275.514_801;
    let groups = [("A", "index 0-4"), ("B", "index 7 8 10"), ("C", "index 14-17"), ("D", "index 21")];
    let restraints: Vec<String> = expected.iter().map(|(text, ..)| format!("{{ {text} }}")).collect();
    let restraints = groups.iter().fold(restraints.join(", "), |text, (name, words)| {
        [("[", ","), (" ", ","), (" ", "]")].iter().fold(text, |text, (before, after)| {
            text.replace(&format!("{before}{name}{after}"), &format!("{before}\"{words}\"{after}"))
        })
    });
    let text = format!(
        "[forces]\ncutoff = \"0.8 nm\"\nconstraints = \"none\"\nrigid_water = false\n[output]\ntrajectory = \"none\"\n[[stage]]\n\
         kind = \"dynamics\"\nsteps = 0\ntimestep = \"0.5 fs\"\nvelocities = \"generate\"\ntemperature = \"300 K\"\n\
         restraints = [{restraints}]"
    );
    let case = Case::new("peptide-charged", &text);
    case.ends_with(0, &[]);
    let energy: f64 = case.column("out", "restraint (kJ/mol)")[0];
    assert!((energy / pulled - 1.0).abs() < 1e-6, "{energy}");
    for (index, (text, value, force)) in expected.iter().enumerate() {
        let [found, _, push, ..] = rows(&case, &(index + 1).to_string())[0];
        // the tolerance is half a unit of the last printed digit, plus one rounding to f32
        let (found, digit) = if text.contains("deg") { (found.to_degrees(), 6e-4) } else { (found, 6e-7) };
        assert!((found - value).abs() <= digit, "{text}: {found}");
        assert!((push - force).abs() <= 2e-5 * force.abs(), "{text}: {push}");
    }
}

#[test]
fn a_run_that_goes_on_refuses_other_reference_positions() {
    let case = Case::new("peptide-vacuum", &stage(""));
    case.ends_with(0, &["--steps", "40", "--output-dir", "moved"]);
    let moved = std::fs::read(case.path("moved/final.rst7")).unwrap();
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-vacuum");
    let text = md::format::read(&system.join("peptide-vacuum.rst7.xz")).unwrap();
    let text = String::from_utf8(text).unwrap();
    let [reference, start] = ["reference.rst7", "start.rst7"].map(|name| case.path(name));
    let put = |path: &Path, contents: &[u8]| std::fs::write(path, contents).unwrap();
    put(&reference, text.as_bytes());
    put(&start, text.as_bytes());
    let rest = stage(
        "position_restraints = { select = \"backbone\", reference = \"reference.rst7\" }\n\
         restraints = { kind = \"rmsd\", groups = [\"heavy\"], at = \"0.02 nm\", force_constant = \"20000 kJ/mol/nm^2\", reference = \"reference.rst7\" }\n\
         frozen = \"within 0.3 nm of index 0\"",
    );
    case.write_input(&system.join("peptide-vacuum.prmtop.xz"), &start, &rest);
    case.ends_with(0, &["--steps", "10"]);
    put(&reference, &moved);
    let messages = case.ends_with(2, &["--steps", "20"]);
    for what in ["position_restraints 1 of stage \"a\"", "restraints 1 of stage \"a\""] {
        assert!(messages.contains(&format!("{what}: reference positions")), "{what}: {messages}");
    }
    // the reference and the atoms within a distance come from the file with the coordinates at the start
    put(&reference, text.as_bytes());
    put(&start, text.replacen("-0.4872643", "-9.4872643", 1).as_bytes());
    let messages = case.ends_with(2, &["--steps", "20"]);
    assert!(messages.contains("\"within 0.3 nm of index 0\": 8 -> 1"), "{messages}");
    put(&start, text.as_bytes());
    case.ends_with(0, &["--steps", "20"]);
}

/// Centers that start at the value of the variable: the first stage is checked before the run begins, and a later stage
/// before its first step.
#[test]
fn moving_centers_stay_in_the_range_of_the_variable() {
    let moving = |groups: &str, kind: &str, unit: &str, rate: &str| {
        format!(
            "restraints = {{ kind = \"{kind}\", groups = [{groups}], force_constant = \"1000 {unit}\", rate = \"{rate}\" }}"
        )
    };
    let pair = |rate: &str| moving("\"index 4\", \"index 16\"", "distance", "kJ/mol/nm^2", rate);
    let case = Case::new("peptide-vacuum", "");
    for (restraint, part) in [
        (pair("-20 nm/ps"), "outside the range of the distance"),
        (
            moving("\"index 4\", \"index 8\", \"index 16\"", "angle", "kJ/mol/rad^2", "2000 deg/ps"),
            "outside the range of the angle",
        ),
    ] {
        case.rewrite("peptide-vacuum", &stage(&restraint));
        let messages = case.ends_with(2, &[]);
        assert!(messages.contains(part) && messages.contains("restraints 1 of stage \"a\""), "{messages}");
        assert!(!case.path("out").exists());
    }
    // the second stage continues the motion of the first stage from the value at its start
    let first = stage(&pair("-0.1 nm/ps"));
    let second = |rate: &str| {
        let next =
            format!("[[stage]]\nkind = \"dynamics\"\nname = \"b\"\nsteps = 200\ntimestep = \"1 fs\"\n{}", pair(rate));
        format!("{first}\n{next}")
    };
    case.rewrite("peptide-vacuum", &second("-20 nm/ps"));
    let messages = case.ends_with(2, &[]);
    assert!(messages.contains("restraints 1 of stage \"b\"") && messages.contains("outside the range"), "{messages}");
    case.rewrite("peptide-vacuum", &second("-0.1 nm/ps"));
    case.ends_with(0, &["--output-dir", "slow"]);
}

/// An OpenMM System of three atoms in a cube of 2.2 nm.
const ATOMS: &str = r#"<?xml version="1.0" ?>
<System openmmVersion="8.6.1" type="System" version="1">
<PeriodicBoxVectors><A x="2.2" y="0" z="0"/><B x="0" y="2.2" z="0"/><C x="0" y="0" z="2.2"/></PeriodicBoxVectors>
<Particles><Particle mass="20"/><Particle mass="20"/><Particle mass="20"/></Particles><Constraints/>
<Forces><Force cutoff=".9" dispersionCorrection="1" ewaldTolerance=".0005" forceGroup="0" method="2" type="NonbondedForce" version="4">
<Particles><Particle eps=".5" q="0" sig=".3"/><Particle eps=".5" q="0" sig=".3"/><Particle eps=".5" q="0" sig=".3"/></Particles>
<Exceptions/></Force></Forces></System>
"#;

/// Positions of the atoms (nm), of which the first has a velocity of 2 nm/ps.
const MOVING: &str = r#"<?xml version="1.0" ?>
<State openmmVersion="8.6.1" stepCount="0" time="0" type="State" version="1">
<PeriodicBoxVectors><A x="2.2" y="0" z="0"/><B x="0" y="2.2" z="0"/><C x="0" y="0" z="2.2"/></PeriodicBoxVectors>
<Positions><Position x=".5" y=".5" z=".5"/><Position x="1.5" y="1.5" z="1.5"/><Position x="1" y=".4" z="1.8"/></Positions>
<Velocities><Velocity x="2" y="0" z="0"/><Velocity x="0" y="0" z="0"/><Velocity x="0" y="0" z="0"/></Velocities></State>
"#;

/// Tests a position restraint of an atom that has moved by a lattice vector before the stage of the restraint: the
/// nearest periodic image of the atom is held, also after a continuation within the stage.
#[test]
fn restraints_hold_the_image_that_is_nearest_at_the_start_of_their_stage() {
    let input = |steps: u32| {
        format!(
            "[run]\nthreads = 1\nprecision = \"double\"\n[forces]\ncutoff = \"0.9 nm\"\nelectrostatics = \"off\"\n\
             constraints = \"none\"\n[output]\ntrajectory = \"none\"\nenergies = {{ every = \"1 steps\" }}\n\
             [[stage]]\nname = \"free\"\nkind = \"dynamics\"\nsteps = 110\ntimestep = \"10 fs\"\ncom_removal = \"none\"\n\
             [[stage]]\nname = \"held\"\nkind = \"dynamics\"\nsteps = {steps}\ntimestep = \"1 fs\"\n\
             position_restraints = {{ select = \"index 0\", force_constant = \"1000 kJ/mol/nm^2\" }}"
        )
    };
    let case = |steps: u32| {
        let case = Case::new("peptide-vacuum", "");
        let [topology, coordinates] = [("system.xml", ATOMS), ("state.xml", MOVING)].map(|(name, text)| {
            std::fs::write(case.path(name), text).unwrap();
            case.path(name)
        });
        case.write_input(&topology, &coordinates, &input(steps));
        case.ends_with(0, &[]);
        case
    };
    let energies = |case: &Case| case.column("out", "position_restraint (kJ/mol)");
    let whole = case(40);
    let expected = energies(&whole);
    // after 1.1 ps the atom is a lattice vector, 2.2 nm, from its reference: in the image of the start, the energy
    // would be k/2 (2.2 nm)² = 2420 kJ/mol
    assert!(expected[110] < 0.1, "{} kJ/mol", expected[110]);
    // in 40 fs at 2 nm/ps the atom moves by 0.08 nm, where the energy is 3.2 kJ/mol without deceleration
    assert!(expected[150] > 1.0 && expected[150] < 3.2, "{} kJ/mol", expected[150]);
    let continued = case(20);
    let [topology, coordinates] = ["system.xml", "state.xml"].map(|name| continued.path(name));
    continued.write_input(&topology, &coordinates, &input(40));
    continued.ends_with(0, &[]);
    assert_eq!(energies(&continued), expected);
}
