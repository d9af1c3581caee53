//! Tests that a written plan reads back to the same plan.

use std::path::Path;

use super::*;
use crate::config::Config;

/// Input files that together set every key.
const INPUTS: [&str; 12] = [
    "[[stage]]\nkind = \"dynamics\"\nsteps = 3\ntimestep = \"2 fs\"\ncom_removal = 50\n\
     position_restraints = [{ select = \"protein\" }, { select = \"heavy\", force_constant = [[\"1 ps\", \"12 kJ/mol/nm^2\"], [\"3 ps\", \"0 kJ/mol/nm^2\"]], \
     flat_radius = \"0.2 nm\", reference = \"r.gro\", reference_scaling = \"none\" }]\n\
     thermostat = { kind = \"langevin\", temperature = \"310 K\", friction = \"0.7 1/ps\" }\n\
     [[stage]]\nname = \"next\"\nkind = \"dynamics\"\nsteps = 4\ntimestep = \"2 fs\"\nmultiple_time_steps = { every = 4 }\n\
     thermostat = { kind = \"andersen\", temperature = \"310 K\", coupling_time = \"3 ps\" }",
    "[[stage]]\nkind = \"dynamics\"\nsteps = 3\ntimestep = \"2 fs\"\n\
     thermostat = { kind = \"nose-hoover\", temperature = [[\"0 ps\", \"10 K\"], [\"2.5 ps\", \"300 K\"]], \
     groups = [{ select = \"protein\", temperature = \"310 K\" }, { select = \"water\", coupling_time = \"2 ps\" }] }",
    r#"
[output]
restraints = { every = "7 steps" }
[[stage]]
name = "hold"
kind = "minimize"
frozen = "resname \"SLAB\""
restraints = { kind = "rmsd", groups = ["protein"], reference = "r.gro", upper = "2 A", force_constant = "3 kcal/mol/A^2" }
[[stage]]
kind = "dynamics"
steps = 3
timestep = "2 fs"
frozen = "index 0"
restraints = [
    { kind = "distance", groups = ["index 1", "index 2"], along = "xy", force_constant = "10 kJ/mol/nm^2", rate = "-2 A/ns" },
    { kind = "distance", groups = ["index 1", "index 2"], lower = "0.4 nm", force_constant = "10 kJ/mol/nm^2", linear_beyond = "1 A" },
    { kind = "distance", groups = ["index 1", "index 2"], gather_around = ["index 5", "none"], force = "-20 kJ/mol/nm" },
    { kind = "angle", groups = ["index 1", "index 2", "index 3"], force = "2 kJ/mol/rad" },
    { kind = "distance", groups = ["index 1", "index 2"], lower = "0.25 nm", upper = "1.3 nm", force_constant = "10 kJ/mol/nm^2" },
    { kind = "torsion", groups = ["index 1", "index 2", "index 3", "index 4"], at = "-60 deg", flat = "10 deg", force_constant = "10 kcal/mol/rad^2", rate = "1.5 deg/ps" },
]
"#,
    r#"
[system]
topology = "data/a b.top"
coordinates = "/elsewhere/\"c\".gro"
include = ["toppar", "/opt/ff"]
define = ["FLEXIBLE", "POSRES=1000"]
parameters = ["p.prm"]
cell = ["3 nm", "4 nm", "5.5 nm"]
[forces]
cutoff = "1.2 nm"
cutoff_lj = "10 A"
electrostatics = "pme"
pme = { alpha = "3.1234 1/nm", grid = [32, 36, 40], order = 6 }
lj_modifier = "force-switch"
lj_switch = "0.9 nm"
coulomb_modifier = "none"
dispersion_correction = "non-excluded"
constraints = "all-bonds"
rigid_water = false
constraint_tolerance = 1e-8
hydrogen_mass = "3.024 amu"
scaled_solute = { select = "protein and not name \"X\"", factor = 0.7 }
list = { tolerance = "0.001 kJ/mol/ps", pressure_tolerance = "0.1 bar", interval = 25 }
[run]
seed = 9223372036854775807
device = "cuda:3"
threads = 7
pin = true
precision = "mixed"
tuning = "measure"
reproducible = true
simd = "avx2"
max_time = "23.5 h"
max_steps = 12
[output]
directory = "results"
trajectory = [
    { file = "a.h5md", every = "10 ps", velocities = true, forces = true, images = true, precision = "0.001 nm" },
    { file = "b.xtc", every = "500 steps", select = "not (water or name \"X\")" },
]
energies = { every = "7 steps" }
checkpoint = { every = "15 min" }
[[stage]]
name = "em"
kind = "minimize"
steps = 77
force_tolerance = "0.3 kJ/mol/nm"
max_displacement = "0.001 nm"
[[stage]]
name = "npt"
kind = "dynamics"
duration = "1 us"
timestep = "2.5 fs"
velocities = "generate"
temperature = "310.15 K"
thermostat = { kind = "v-rescale", temperature = "298.15 K", coupling_time = "0.1 ps", every = 3 }
barostat = { kind = "c-rescale", pressure = "1 atm", coupling_time = "12 ps", compressibility = "3e-5 1/bar", every = 7 }
com_removal = "none"
"#,
    "[forces]\nelectrostatics = \"reaction-field\"\npermittivity = 61\n[output]\nfinal_gro = true\ntrajectory = \"none\"\nenergies = \"none\"\n\
     [[stage]]\nkind = \"dynamics\"\nsteps = 3\ntimestep = \"0.5 fs\"\nthermostat = { kind = \"berendsen\", temperature = \"1 K\" }\n\
     barostat = { kind = \"berendsen\", pressure = \"-1000 bar\" }",
    "[[stage]]\nkind = \"dynamics\"\nsteps = 3\ntimestep = \"2 fs\"\nthermostat = { temperature = \"1 K\" }\n\
     barostat = { kind = \"monte-carlo\", coupling = \"semi-isotropic\", surface_tension = \"23 mN/m\", every = 50,\n\
     compressibility = [\"4.5e-5 1/bar\", \"0 1/bar\"] }\n\
     [stage.output]\ntrajectory = { file = \"trajectory.h5md\", every = \"none\" }\nenergies.every = \"3 steps\"\n\
     restraints = \"none\"\ncheckpoint.every = \"90 s\"\n\
     [[stage]]\nname = \"b\"\nkind = \"dynamics\"\nsteps = 3\ntimestep = \"2 fs\"\nthermostat = { temperature = \"1 K\" }\n\
     barostat = { coupling = \"anisotropic\", pressure = [\"1 bar\", \"2 bar\", [[\"0 ps\", \"3 bar\"], [\"9 ps\", \"1 bar\"]]] }\n\
     [[stage]]\nname = \"c\"\nkind = \"dynamics\"\nsteps = 3\ntimestep = \"2 fs\"\nthermostat = { temperature = \"1 K\" }\n\
     barostat = { pressure = [[\"0 ps\", \"1 bar\"], [\"7 ps\", \"1000 bar\"]] }",
    "[forces]\nelectrostatics = \"reaction-field\"\npermittivity = \"infinity\"\nlist = { buffer = \"0.11 nm\" }\n\
     [run]\ndevice = \"cpu\"\nprecision = \"double\"",
    "[forces]\ncutoff = \"none\"\nlj_modifier = \"none\"\n",
    "[forces]\npme = { spacing = \"0.115 nm\", order = 8 }\nlj_modifier = \"potential-switch\"\nlj_switch = \"0.8 nm\"\n\
     dispersion_correction = true\n",
    "[forces]\ndispersion_correction = \"pme\"\nlj_pme = { alpha = \"3.2 1/nm\", grid = [30, 32, 36], order = 6 }\n",
    "[forces]\ndispersion_correction = \"pme\"\nlj_pme = { spacing = \"0.1 nm\" }\n",
    "[forces]\npme = { force_error = 1e-5 }\ncutoff = \"force-field\"\nlj_modifier = \"potential-shift\"\n\
     dispersion_correction = false\nelectrostatics = \"pme\"\n[output]\ntrajectory = { every = \"0.3 ns\", format = \"trr\" }",
];

fn parse(text: &str) -> Plan {
    let files = "topology = \"t\"\ncoordinates = \"c\"\n";
    let text = if text.contains("[system]") { text.to_owned() } else { format!("[system]\n{files}{text}") };
    Config::parse(&text, Path::new("/base/input.toml"), &[]).unwrap_or_else(|e| panic!("{e:?}\n{text}")).plan
}

fn text(plan: &Plan, remark: &dyn Fn(&str) -> Option<String>) -> String {
    write(plan, Path::new("/base"), &|_, key| remark(key)).iter().map(|line| format!("{}\n", line.text)).collect()
}

#[test]
fn what_is_written_reads_back_to_the_same_plan() {
    for input in INPUTS {
        let plan = parse(input);
        for remark in [|_: &str| None, |key: &str| Some(format!("a remark on {key}"))] {
            let text = text(&plan, &remark);
            assert_eq!(parse(&text), plan, "{text}");
        }
    }
}

#[test]
fn every_key_is_written() {
    let remark = |_: &str| Some("shown".to_owned());
    let written: String = INPUTS.iter().map(|input| text(&parse(input), &remark)).collect();
    // keys that are written in another form or not at all: a duration becomes a number of steps, the format of a
    // trajectory becomes the extension of its file, and presets and repetitions become single stages. A plan has
    // neither replicas nor a report
    let other = ["duration", "format", "preset", "repeat", "report"];
    let of_a_plan = keys::all().into_iter().filter(|(path, _)| !path.starts_with("ensemble"));
    for (path, key) in of_a_plan.filter(|(_, key)| !other.contains(&key.name)) {
        let header = [format!("[{path}]"), format!("[[{path}]]")];
        let is_there = header.iter().any(|header| written.contains(header))
            || written.contains(&format!("\n{} = ", key.name))
            || [" ", "{ "].iter().any(|before| written.contains(&format!("{before}{} = ", key.name)));
        assert!(is_there, "{path}");
    }
}

#[test]
fn defaults_are_left_out_unless_there_is_a_remark() {
    let plan = parse("[[stage]]\nkind = \"minimize\"");
    let bare = text(&plan, &|_| None);
    assert!(!bare.contains("[forces]") && !bare.contains("[run]") && bare.contains("topology = \"t\"\n"), "{bare}");
    let one = text(&plan, &|key| (key == "run.seed").then(|| "gen-seed = 1".to_owned()));
    assert!(one.contains("[run]\nseed = 1 ") && one.contains("  # gen-seed = 1\n") && !one.contains("pin"), "{one}");
}
