//! Template of an input file, written by `md new`.

/// Returns a commented input file for a solvated biomolecule, with `topology` and `coordinates` filled in.
pub fn template(topology: &str, coordinates: &str) -> String {
    let quote = super::raw::quote;
    TEMPLATE.replace("TOPOLOGY", &quote(topology)).replace("COORDINATES", &quote(coordinates))
}

const TEMPLATE: &str = r#"# Input of md. Check it with `md check`, run it with `md run`; `md help KEY` explains a key.
# Quantities are written with their unit: "2 fs", "0.9 nm", "300 K", "1 bar".

[system]
topology    = TOPOLOGY            # AMBER prmtop or GROMACS top; also .gz, .xz, .zst
coordinates = COORDINATES         # AMBER rst7, GROMACS gro or g96

[forces]
# cutoff       = "0.9 nm"                  # default: by the force field, 0.9 nm; CHARMM: 1.2 nm, forces switched from 1.0 nm
electrostatics = "pme"                     # vacuum: "plain" with cutoff = "none"
pme            = { force_error = 5e-4 }    # or { spacing = "0.12 nm", order = 4 }
constraints    = "h-bonds"                 # none | h-bonds | all-bonds | h-angles
# hydrogen_mass = "3.024 amu"              # with a time step of 4 fs

[run]
seed = 1
# threads = 8
# tuning = "measure"                       # choose lists and PME by the clock, at the same accuracy
# max_time = "23.5 h"                      # stop with a checkpoint; the same command continues

[output]
directory  = "out"
trajectory = { every = "10 ps" }
energies   = { every = "1 ps" }
checkpoint = { every = "5 min" }

# [[stage]]                                # for a protein, in place of the stages minimize and heat: minimises, heats,
# preset = "equilibrate-protein"           # relaxes the density, and releases position restraints

[[stage]]
name = "minimize"
kind = "minimize"

[[stage]]
name       = "heat"
kind       = "dynamics"
duration   = "50 ps"
timestep   = "2 fs"
velocities = "generate"                    # "file": those of the coordinate file
thermostat = { kind = "v-rescale", temperature = "300 K", coupling_time = "0.1 ps" }

[[stage]]
name       = "production"
kind       = "dynamics"
duration   = "1 ns"
timestep   = "2 fs"
thermostat = { kind = "v-rescale", temperature = "300 K", coupling_time = "1 ps" }
barostat   = { kind = "c-rescale", pressure = "1 bar", coupling_time = "5 ps" }
"#;
