//! Tests that each warning is given for plans that call for this warning, and for no other plan.

use super::*;
use crate::config::Config;
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::prepare::{ConstrainedTerms, Prepared};
use crate::run::check::describe_stage;
use crate::run::plan::{Interval, StageKind};
use crate::run::session::load;
use std::path::Path;

const PME: &str = "pme = { spacing = \"0.15 nm\" }\nconstraints = \"h-bonds\"\n";
const NVE: &str = "timestep = \"2 fs\"";
const NPT: &str = "timestep = \"2 fs\"\nthermostat = { temperature = \"300 K\" }\nbarostat = {}";

fn loaded(system: &str, forces: &str, stage: &str) -> (Plan, System, State) {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(system);
    let [topology, coordinates] = ["prmtop", "rst7"].map(|kind| files.join(format!("{system}.{kind}.xz")));
    let text = format!(
        "[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n[forces]\n{forces}\n[[stage]]\n\
         name = \"production\"\nkind = \"dynamics\"\nsteps = 10\nvelocities = \"generate\"\ntemperature = \"300 K\"\n{stage}\n"
    );
    let plan = Config::parse(&text, Path::new("input.toml"), &[]).expect("a valid file").plan;
    let Prepared { system, state, .. } = load(&plan, ConstrainedTerms::Drop).expect("a system");
    (plan, system, state)
}

fn found(system: &str, forces: &str, stage: &str) -> Vec<String> {
    let (plan, system, state) = loaded(system, forces, stage);
    warnings(&plan, &system, &state, LeftOut::default())
}

/// Asserts that `found` holds exactly one warning, and that this warning contains all texts in `parts`.
#[track_caller]
fn one(found: &[String], parts: &[&str]) {
    assert!(found.len() == 1 && parts.iter().all(|part| found[0].contains(part)), "{parts:?} in {found:?}");
}

/// Returns the warnings about a plan with impulses every `every` steps of length `timestep`, and the error if the plan
/// is refused.
fn impulses(system: &str, forces: &str, timestep: &str, every: u32) -> (Vec<String>, Option<String>) {
    let (mut plan, system, state) = loaded(system, forces, &format!("timestep = \"{timestep}\""));
    for stage in &mut plan.stages {
        if let StageKind::Dynamics(dynamics) = &mut stage.kind {
            dynamics.multiple_time_steps = Some(MultipleTimeSteps { every });
        }
    }
    let warned =
        warnings(&plan, &system, &state, LeftOut::default()).into_iter().filter(|text| text.contains("impulses"));
    (warned.collect(), refuse(&plan, &system).err().map(|error| error.to_string()))
}

fn refusal(system: &str, forces: &str, stage: &str) -> Option<String> {
    let (plan, system, _) = loaded(system, forces, stage);
    refuse(&plan, &system).err().map(|error| {
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    })
}

#[test]
fn replaced_parameters() {
    let (plan, mut system, state) = loaded("water", PME, NVE);
    system.topology.replaced = ["a.itp:3", "a.itp:7", "b.itp:1"].map(str::to_owned).to_vec();
    one(
        &warnings(&plan, &system, &state, LeftOut::default()),
        &["a.itp:3 and 2 more lines", "replace earlier parameters"],
    );
}

#[test]
fn hydrogen_mass_without_hydrogens_that_change() {
    let forces = format!("{PME}hydrogen_mass = \"2 amu\"\n");
    one(&found("water", &forces, NVE), &["hydrogen_mass has no effect", "rigid water"]);
    let vacuum = "cutoff = \"none\"\nelectrostatics = \"plain\"\nconstraints = \"h-bonds\"\nhydrogen_mass = \"2 amu\"";
    assert_eq!(found("peptide-vacuum", vacuum, NVE), [""; 0]);
}

#[test]
fn times_between_rows_are_whole_steps() {
    let (mut plan, system, state) = loaded("water", PME, NVE);
    for (time, written) in [(0.003, "4 fs"), (0.0001, "2 fs"), (0.1, ""), (0.1999, "")] {
        plan.output.energies = Some(Interval::Time(time));
        let found = warnings(&plan, &system, &state, LeftOut::default());
        match written {
            "" => assert!(found.is_empty(), "{found:?}"),
            _ => one(&found, &["energies.csv", &format!("every {written}"), "no whole number of steps of 2 fs"]),
        }
    }
}

#[test]
fn sound_plans_pass_in_silence() {
    for (forces, stage) in [(PME, NVE), (PME, NPT), ("constraints = \"none\"\n", "timestep = \"0.5 fs\"")] {
        assert_eq!(found("water", forces, stage), Vec::<String>::new());
        assert_eq!(refusal("water", forces, stage), None);
    }
    let vacuum = "cutoff = \"none\"\nconstraints = \"h-bonds\"";
    assert_eq!(found("peptide-vacuum", vacuum, NVE), Vec::<String>::new());
}

#[test]
fn a_timestep_below_five_steps_per_period_is_refused_and_below_ten_warned_of() {
    let flexible = |rest: &str| format!("cutoff = \"none\"\nconstraints = \"none\"\n{rest}");
    // periods: 10.1 fs for N-H (434 kcal/mol/Å², 14.01 amu), 9.0 fs for the hydroxyl's O-H (553 kcal/mol/Å², 16 amu)
    let text = refusal("peptide-vacuum", &flexible(""), NVE).expect("4.5 steps");
    for part in
        ["stage \"production\"", "the bond of atoms", "of SER 3", "9.0 fs has 4.5 steps", "constraints = \"h-bonds\""]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(refusal("peptide-vacuum", &flexible(""), "timestep = \"1.7 fs\""), None);
    let warned = found("peptide-vacuum", &flexible(""), "timestep = \"1 fs\"");
    one(&warned, &["the timestep of 1 fs", "9.0 fs has 9.0 steps", "fewer than 10", "0.8 fs or less"]);
    assert_eq!(found("peptide-vacuum", &flexible(""), "timestep = \"0.8 fs\""), Vec::<String>::new());
    // with constraints the fastest vibration is C-O of a carboxylate: 656 kcal/mol/Å² give a period of 22.2 fs
    let heavy = found("peptide-vacuum", "cutoff = \"none\"\nconstraints = \"h-bonds\"", "timestep = \"3 fs\"");
    one(&heavy, &["7.4 steps", "constraints = \"all-bonds\""]);
    let water = refusal("water", "constraints = \"none\"\nrigid_water = false", NVE).expect("an H-H spring");
    assert!(water.contains("rigid_water = true"), "{water}");
}

#[test]
fn impulses_near_resonance_are_warned_of_and_refused() {
    for (timestep, every) in [("2 fs", 2), ("2 fs", 3), ("1 fs", 7)] {
        assert_eq!(impulses("water", PME, timestep, every), (vec![], None));
    }
    for (timestep, every, better) in [("2 fs", 4, 3), ("2 fs", 5, 3), ("1 fs", 11, 7)] {
        let (warned, refused) = impulses("water", PME, timestep, every);
        one(&warned, &["\"production\"", "librations of water", &format!("every = {better} }}")]);
        assert_eq!(refused, None);
    }
    for (timestep, every) in [("2 fs", 6), ("3 fs", 4), ("1 fs", 12), ("2 fs", 8)] {
        let refused = impulses("water", PME, timestep, every).1.expect("12 fs or more");
        assert!(refused.contains("heat") && refused.contains("multiple_time_steps"), "{refused}");
    }
    // the stiffest bond of flexible water, H-H with 553 kcal/mol/Å² and a reduced mass of 0.504 amu, has a period of
    // 6.6 fs
    let free = PME.replace("h-bonds", "none");
    for (every, warns, refuses) in [(2, false, false), (3, true, false), (4, true, false), (5, true, true)] {
        let (warned, refused) = impulses("peptide-charged", &free, "0.5 fs", every);
        let warned = warned.iter().any(|text| text.contains("resonate"));
        assert_eq!((warned, refused.is_some()), (warns, refuses), "{every}");
        assert!(refused.is_none_or(|text| text.contains("constraints = \"h-bonds\"")));
    }
}

#[test]
fn a_net_charge_with_pme_is_told() {
    one(&found("peptide-charged", PME, NVE), &["net charge is -1.000 e", "counter-ions"]);
    let field = "electrostatics = \"reaction-field\"\nconstraints = \"h-bonds\"";
    assert_eq!(found("peptide-charged", field, NVE), Vec::<String>::new());
}

#[test]
fn charmm_files_are_told_of_other_conventions() {
    let others = "cutoff = \"0.9 nm\"\nlj_modifier = \"potential-shift\"\ndispersion_correction = true\n";
    let parts = ["CHARMM's", "a cutoff of 0.9 nm, potential shift, dispersion correction over", "leave out cutoff"];
    one(&found("peptide-charmm36", &format!("{PME}{others}"), NVE), &parts);
    assert!(found("peptide-ff19sb", PME, NVE).is_empty());
    // the cell of this sample is too small for the Lennard-Jones cutoff of the CHARMM convention, 1.2 nm
    let (plan, mut system, _) = loaded("peptide-charmm36", &format!("{PME}{others}"), NVE);
    let mut with = |from, cutoff, correction| {
        let settings = &mut system.settings;
        (settings.cutoff_lj, settings.dispersion_correction) = (Some(cutoff), correction);
        settings.lj_modifier = LjModifier::ForceSwitch { from };
        cutoffs(&plan, &system).is_some()
    };
    assert!(!with(1.0, 1.2, DispersionCorrection::Off));
    assert!(with(0.8, 1.2, DispersionCorrection::Off) && with(1.0, 1.1, DispersionCorrection::Off));
    assert!(with(1.0, 1.2, DispersionCorrection::AllPairs));
}

#[test]
fn short_cutoffs_and_missing_dispersion_are_told() {
    let short = format!("{PME}cutoff = \"0.7 nm\"");
    one(&found("water", &short, NVE), &["cutoff of 0.7 nm is shorter than 0.8 nm"]);
    let enough = format!("{PME}cutoff = \"0.8 nm\"");
    assert_eq!(found("water", &enough, NVE), Vec::<String>::new());
    let bare = format!("{PME}dispersion_correction = false");
    one(&found("water", &bare, NPT), &["dispersion_correction = true"]);
    assert_eq!(found("water", &bare, NVE), Vec::<String>::new());
}

#[test]
fn truncated_charges_in_a_cell_are_told() {
    let plain = "electrostatics = \"plain\"\nconstraints = \"h-bonds\"";
    one(&found("water", plain, NVE), &["electrostatics = \"plain\"", "\"pme\""]);
    assert_eq!(found("argon", plain, NVE), Vec::<String>::new());
}

#[test]
fn weak_coupling_is_told_of_the_last_stage_only() {
    let weak = "timestep = \"2 fs\"\nthermostat = { kind = \"berendsen\", temperature = \"300 K\" }";
    one(&found("water", PME, weak), &["stage \"production\"", "thermostat of kind \"berendsen\"", "v-rescale"]);
    let barostat = "timestep = \"2 fs\"\nthermostat = { temperature = \"300 K\" }\nbarostat = { kind = \"berendsen\" }";
    one(&found("water", PME, barostat), &["barostat of kind \"berendsen\"", "c-rescale"]);
    let equilibration = format!("{weak}\n[[stage]]\nname = \"last\"\nkind = \"dynamics\"\nsteps = 10\n{NPT}");
    assert_eq!(found("water", PME, &equilibration), Vec::<String>::new());
}

#[test]
fn a_cell_that_hardly_holds_the_cutoff_is_told_with_a_barostat() {
    let (_, _, state) = loaded("water", PME, NVE);
    let largest = state.cell.expect("a cell").max_cutoff();
    let tight = format!("{PME}cutoff = \"{:.4} nm\"", 0.97 * largest);
    one(&found("water", &tight, NPT), &["stage \"production\"", "exit code 4"]);
    assert_eq!(found("water", &tight, NVE), Vec::<String>::new());
}

#[test]
fn without_removal_the_center_of_mass_keeps_its_share() {
    let (_, system, _) = loaded("peptide-vacuum", "cutoff = \"none\"\nconstraints = \"h-bonds\"", NVE);
    let free = |stage: &str, periodic: bool| {
        let (plan, ..) = loaded("peptide-vacuum", "cutoff = \"none\"\nconstraints = \"h-bonds\"", stage);
        crate::run::describe_degrees_of_freedom(&plan, &system, periodic)
    };
    let bare = 3 * system.topology.atoms.len() - system.constraints.count();
    let none = format!("{NVE}\ncom_removal = \"none\"");
    assert_eq!(free(&none, true), bare.to_string());
    assert_eq!(free(&none, false), bare.to_string());
    assert_eq!(free(NVE, true), (bare - 3).to_string());
    assert_eq!(free(NVE, false), (bare - 6).to_string());
    let both = format!("{NVE}\n[[stage]]\nname = \"last\"\nkind = \"dynamics\"\nsteps = 10\n{none}");
    assert_eq!(free(&both, true), format!("{} (production), {bare} (last)", bare - 3));
    // a restraint along x exerts a torque, and the rotation is not removed
    let restraint = |along: &str| {
        let groups = "groups = [\"index 0\", \"index 70\"], force_constant = \"3000 kJ/mol/nm^2\"";
        format!("{NVE}\nrestraints = {{ kind = \"distance\", {groups}, along = \"{along}\" }}")
    };
    assert_eq!(free(&restraint("xyz"), false), (bare - 6).to_string());
    assert_eq!(free(&restraint("x"), false), (bare - 3).to_string());
    assert_eq!(free(&restraint("x"), true), (bare - 3).to_string());
}

#[test]
fn dynamics_from_positions_of_three_decimals_are_warned_of() {
    let flexible = format!("{}rigid_water = false", PME.replace("h-bonds", "none"));
    let (mut plan, system, mut state) = loaded("water", &flexible, "timestep = \"0.5 fs\"");
    let edges = state.cell.expect("a cell").rows().map(|row| row.norm());
    for (index, position) in state.positions.iter_mut().enumerate() {
        // every second molecule is in another periodic image
        let moved = if index / 3 % 2 == 0 { edges[0] } else { 0.0 };
        *position = position.map(|x| (x * 1e3).round() / 1e3 + moved);
    }
    one(&warnings(&plan, &system, &state, LeftOut::default()), &["rounded to 0.001 nm", "kind \"minimize\""]);
    // rigid waters have no bonds that release heat
    let (_, rigid, _) = loaded("water", PME, NVE);
    assert_eq!(warnings(&plan, &rigid, &state, LeftOut::default()), Vec::<String>::new());
    let minimize = Config::parse(
        "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n[[stage]]\nkind = \"minimize\"\n",
        Path::new("input.toml"),
        &[],
    );
    plan.stages.insert(0, minimize.expect("a valid file").plan.stages.swap_remove(0));
    assert_eq!(warnings(&plan, &system, &state, LeftOut::default()), Vec::<String>::new());
    let crystal = LeftOut { symmetry: true, ..LeftOut::default() };
    one(&warnings(&plan, &system, &state, crystal), &["is that of a crystal with a space group other than P 1"]);
}

#[test]
fn lengths_of_a_liquid_that_wander_are_told() {
    let stage = |barostat: &str| {
        format!("timestep = \"2 fs\"\nthermostat = {{ temperature = \"300 K\" }}\nbarostat = {{ {barostat} }}")
    };
    let long = |barostat: &str, picoseconds: f64| {
        let (mut plan, system, state) = loaded("water", PME, &stage(barostat));
        let StageKind::Dynamics(dynamics) = &mut plan.stages[0].kind else { panic!("dynamics") };
        dynamics.steps = (picoseconds / 0.002) as u64;
        (plan, system, state)
    };
    let found = |barostat: &str, picoseconds: f64| {
        let (plan, system, state) = long(barostat, picoseconds);
        warnings(&plan, &system, &state, LeftOut::default())
    };
    // with a volume of 7.8 nm³ and a coupling time of 5 ps, the mean square relative change of an edge length grows by
    // 4.8e-5 per ps
    one(&found("coupling = \"semi-isotropic\"", 200.0), &["x and y, and z are coupled", "by about 10 % in this stage"]);
    one(&found("coupling = \"anisotropic\"", 200.0), &["x, y and z are coupled"]);
    one(&found("coupling = \"semi-isotropic\", kind = \"monte-carlo\"", 200.0), &["drifts"]);
    assert_eq!(found("coupling = \"semi-isotropic\"", 20.0), Vec::<String>::new());
    assert_eq!(found("coupling = \"isotropic\"", 1e5), Vec::<String>::new());
    let rigid = "coupling = \"semi-isotropic\", compressibility = [\"4.5e-5 1/bar\", \"0 1/bar\"]";
    assert_eq!(found(rigid, 1e5), Vec::<String>::new());
    // water fills half of the cell's height, as in a layered system whose surface tension controls the area of the cell
    let layered = |barostat: &str| {
        let (plan, system, mut state) = long(barostat, 200.0);
        let cell = state.cell.expect("a cell");
        state.positions.iter_mut().for_each(|r| r.z = 0.5 * cell.wrap(*r).0.z);
        let mut found = warnings(&plan, &system, &state, LeftOut::default());
        // the molecules are half as long along z
        found.retain(|text| !text.starts_with("constrained distances"));
        found
    };
    assert_eq!(layered("coupling = \"semi-isotropic\""), Vec::<String>::new());
    one(&layered("coupling = \"anisotropic\""), &["drifts"]);
}

#[test]
fn small_temperature_groups_are_told_where_one_factor_moves_them() {
    let stage = |kind: &str, select: &str| {
        let groups = format!("groups = {{ select = \"{select}\" }}");
        format!("timestep = \"2 fs\"\nthermostat = {{ kind = \"{kind}\", temperature = \"300 K\", {groups} }}")
    };
    one(
        &found("water", PME, &stage("v-rescale", "resid 1")),
        &["group of resid 1 has only 6 degrees", "kind = \"langevin\""],
    );
    one(
        &found("water", PME, &stage("nose-hoover", "not resid 1-3")),
        &["group of all other atoms has only 18 degrees"],
    );
    assert_eq!(found("water", PME, &stage("langevin", "resid 1")), Vec::<String>::new());
    assert_eq!(found("water", PME, &stage("v-rescale", "resid 1-99")), Vec::<String>::new());
    assert_eq!(found("water", PME, &stage("v-rescale", "all")), Vec::<String>::new());
}

#[test]
fn schedules_that_a_stage_ends_before_are_told() {
    let npt = |temperature: &str, pressure: &str| {
        format!(
            "timestep = \"2 fs\"\nthermostat = {{ temperature = {temperature} }}\nbarostat = {{ pressure = {pressure} }}"
        )
    };
    let heating = npt("[[\"0 ps\", \"100 K\"], [\"0.022 ps\", \"300 K\"]]", "\"1 bar\"");
    assert_eq!(found("water", PME, &heating), Vec::<String>::new(), "a step more or less");
    let heating = npt("[[\"0 ps\", \"100 K\"], [\"0.2 ps\", \"300 K\"]]", "\"1 bar\"");
    one(
        &found("water", PME, &heating),
        &["ends after 20 fs", "thermostat.temperature, 0.2 ps", "120.0 K and not 300.0 K"],
    );
    let pressing = npt("\"300 K\"", "[[\"0 ps\", \"1 bar\"], [\"2 ps\", \"1001 bar\"]]");
    one(&found("water", PME, &pressing), &["barostat.pressure", "11.0 bar and not 1001.0 bar"]);
    // the length of a short trial run, run.max_steps, has no influence
    let heating = npt("[[\"0 ps\", \"100 K\"], [\"0.02 ps\", \"300 K\"]]", "\"1 bar\"");
    let (mut plan, system, state) = loaded("water", PME, &heating);
    plan.run.max_steps = Some(5);
    assert_eq!(warnings(&plan, &system, &state, LeftOut::default()), Vec::<String>::new());
    assert!(
        describe_stage(&plan, &plan.stages[0]).contains("10 steps of 2 fs = 20 fs, of which run.max_steps leaves 5")
    );
}

#[test]
fn pressures_that_differ_between_free_directions_are_told() {
    let stage = |rest: &str| {
        format!(
            "timestep = \"2 fs\"\nthermostat = {{ temperature = \"300 K\" }}\n\
             barostat = {{ coupling = \"semi-isotropic\", pressure = [\"1 bar\", \"100 bar\"]{rest} }}"
        )
    };
    let rigid = ", compressibility = [\"4.5e-5 1/bar\", \"0 1/bar\"]";
    assert_eq!(found("water", PME, &stage(rigid)), Vec::<String>::new());
    one(&found("water", PME, &stage("")), &["stage \"production\"", "different pressures, at 1 bar and at 100 bar"]);
}

#[test]
fn references_that_stay_under_a_barostat_are_told() {
    let restrained = |scaling: &str, stage: &str| {
        let restraint = format!("position_restraints = {{ select = \"resid 1\", reference_scaling = \"{scaling}\" }}");
        found("water", PME, &format!("{stage}\n{restraint}"))
    };
    one(&restrained("none", NPT), &["reference positions are not scaled", "reference_scaling = \"center-of-mass\""]);
    assert_eq!(restrained("center-of-mass", NPT), Vec::<String>::new());
    assert_eq!(restrained("none", NVE), Vec::<String>::new());
}

#[test]
fn chains_without_solvent_are_told() {
    let stage = |kind: &str| {
        format!(
            "timestep = \"2 fs\"\nthermostat = {{ kind = \"{kind}\", temperature = \"300 K\", coupling_time = \"1 ps\" }}"
        )
    };
    let vacuum = "cutoff = \"none\"\nconstraints = \"h-bonds\"";
    one(&found("peptide-vacuum", vacuum, &stage("nose-hoover")), &["without solvent", "kind = \"v-rescale\""]);
    assert_eq!(found("peptide-vacuum", vacuum, &stage("v-rescale")), Vec::<String>::new());
    assert_eq!(found("water", PME, &stage("nose-hoover")), Vec::<String>::new());
}

#[test]
fn frames_that_a_trajectory_cannot_date_are_told() {
    let stages = |file: &str, first: &str, second: &str| {
        let next = |name: &str| format!("[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = 20\n");
        format!("{first}\n{}{second}\n[output.trajectory]\nfile = \"{file}\"\nevery = \"10 steps\"\n", next("second"))
    };
    let short = "timestep = \"1 fs\"";
    let silent = |stage: &str| format!("{stage}\noutput = {{ trajectory = {{ every = \"none\" }} }}");
    assert_eq!(found("water", PME, &stages("x.dcd", NVE, NVE)), Vec::<String>::new());
    assert_eq!(found("water", PME, &stages("x.xtc", short, NVE)), Vec::<String>::new());
    let parts = ["x.dcd stores a single time interval", "stage \"second\"", "than stage \"production\"", ".xtc"];
    one(&found("water", PME, &stages("x.dcd", short, NVE)), &parts);
    one(
        &found("water", PME, &stages("x.dcd", &silent(short), NVE)),
        &["a different time step than the preceding stage \"production\""],
    );
    assert_eq!(found("water", PME, &stages("x.dcd", &silent(NVE), NVE)), Vec::<String>::new());
    let uneven = stages("x.dcd", NVE, NVE).replace("10 steps", "7 steps");
    one(&found("water", PME, &uneven), &["stage \"second\" has a preceding stage \"production\" that ends between"]);
}

#[test]
fn distances_beyond_half_of_the_cell() {
    let stage = |potential: &str| {
        format!(
            "{NVE}\n[[stage.restraints]]\nkind = \"distance\"\ngroups = [\"index 0\", \"index 3\"]\n\
             force_constant = \"1000 kJ/mol/nm^2\"\n{potential}"
        )
    };
    let warned = |potential: &str| {
        let all = found("water", PME, &stage(potential));
        all.into_iter().filter(|text| text.contains("restraint 1")).collect::<Vec<String>>()
    };
    let (_, _, state) = loaded("water", PME, NVE);
    let cell = state.cell.expect("a cell");
    let half = 0.5 * cell.face_distances().into_iter().fold(f64::INFINITY, f64::min);
    // the one step of the stage takes 0.002 ps
    let rate = format!("at = \"0.3 nm\"\nrate = \"{} nm/ps\"", half / 0.002);
    for potential in [format!("at = \"{half} nm\""), rate] {
        one(&warned(&potential), &["stage \"production\"", "moves it up to", "Beyond", "larger cell"]);
    }
    assert_eq!(warned(&format!("at = \"{} nm\"", 0.9 * half)), [""; 0]);
    assert_eq!(warned(""), [""; 0]);
}

#[test]
fn couplings_that_never_act_are_told() {
    let stage = |thermostat: &str, barostat: &str| {
        format!("{NVE}\nthermostat = {{ temperature = \"300 K\"{thermostat} }}\nbarostat = {{ {barostat} }}")
    };
    one(&found("water", PME, &stage(", every = 11", "")), &["thermostat never acts", "11 steps", "has 10 steps"]);
    one(&found("water", PME, &stage("", "kind = \"monte-carlo\"")), &["barostat never acts", "barostat.every = 10"]);
    assert_eq!(found("water", PME, &stage(", every = 10", "every = 10")), Vec::<String>::new());
}

#[test]
fn removals_of_a_motion_on_which_other_forces_act_are_told() {
    let stage = |kind: &str, rest: &str| {
        format!("{NVE}\nthermostat = {{ kind = \"{kind}\", temperature = \"300 K\" }}\n{rest}")
    };
    for (kind, name) in [("langevin", "Langevin dynamics"), ("andersen", "Andersen's thermostat")] {
        let told = found("water", PME, &stage(kind, "com_removal = 100"));
        one(&told, &[name, "com_removal = 100", "3 degrees of freedom", "com_removal = \"none\""]);
        assert_eq!(found("water", PME, &stage(kind, "")), Vec::<String>::new());
    }
    let vacuum = "cutoff = \"none\"\nconstraints = \"h-bonds\"";
    one(&found("peptide-vacuum", vacuum, &stage("langevin", "com_removal = 100")), &["6 degrees of freedom"]);
    assert_eq!(found("water", PME, &stage("v-rescale", "com_removal = 100")), Vec::<String>::new());
    let restraint = "position_restraints = { select = \"resid 1\" }";
    let told = found("water", PME, &stage("v-rescale", &format!("com_removal = 100\n{restraint}")));
    one(&told, &["position restraints also act on this motion"]);
    assert_eq!(found("water", PME, &stage("v-rescale", restraint)), Vec::<String>::new());
}

#[test]
fn positions_that_do_not_belong_to_the_topology() {
    let (plan, system, state) = loaded("water", PME, NVE);
    let of = |state: &State| warnings(&plan, &system, state, LeftOut::default());
    assert_eq!(of(&state), Vec::<String>::new());
    // a hydrogen of the eleventh water
    let mut broken = state.clone();
    broken.positions[31].x += 1.7;
    one(&of(&broken), &["by up to 1630 %", "the atoms 31 (O of HOH 11) and 32"]);
    // lengths in Å that are read as nm
    let mut large = state.clone();
    large.cell = state.cell.map(|cell| cell.scaled(10.0));
    one(&of(&large), &["the density is 9.65e-4 g/cm3"]);
}
