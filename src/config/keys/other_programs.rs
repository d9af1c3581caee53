//! Keys of other programs, for messages about unknown keys.

/// Keys of GROMACS (mdp) and AMBER (mdin), each with the key of `md` that has the same purpose. Names with several
/// meanings are left out.
const SAME_PURPOSE: &[(&str, &str)] = &[
    ("dt", "stage.timestep"),
    ("nsteps", "stage.steps"),
    ("nstlim", "stage.steps"),
    ("maxcyc", "stage.steps"),
    ("emtol", "stage.force_tolerance"),
    ("emstep", "stage.initial_step"),
    ("integrator", "stage.kind"),
    ("imin", "stage.kind"),
    ("gen_vel", "stage.velocities"),
    ("gen_temp", "stage.temperature"),
    ("tempi", "stage.temperature"),
    ("gen_seed", "run.seed"),
    ("ld_seed", "run.seed"),
    ("ig", "run.seed"),
    ("tcoupl", "stage.thermostat.kind"),
    ("ntt", "stage.thermostat.kind"),
    ("tc_grps", "stage.thermostat.groups"),
    ("tau_t", "stage.thermostat.coupling_time"),
    ("tautp", "stage.thermostat.coupling_time"),
    ("gamma_ln", "stage.thermostat.friction"),
    ("ref_t", "stage.thermostat.temperature"),
    ("temp0", "stage.thermostat.temperature"),
    ("pcoupl", "stage.barostat.kind"),
    ("ntp", "stage.barostat.coupling"),
    ("pcoupltype", "stage.barostat.coupling"),
    ("tau_p", "stage.barostat.coupling_time"),
    ("taup", "stage.barostat.coupling_time"),
    ("ref_p", "stage.barostat.pressure"),
    ("pres0", "stage.barostat.pressure"),
    ("comp", "stage.barostat.compressibility"),
    ("refcoord_scaling", "stage.position_restraints.reference_scaling"),
    ("restraintmask", "stage.position_restraints.select"),
    ("restraint_wt", "stage.position_restraints.force_constant"),
    ("freezegrps", "stage.frozen"),
    ("comm_mode", "stage.com_removal"),
    ("nscm", "stage.com_removal"),
    ("rcoulomb", "forces.cutoff"),
    ("cut", "forces.cutoff"),
    ("rvdw", "forces.cutoff_lj"),
    ("vdw_modifier", "forces.lj_modifier"),
    ("rvdw_switch", "forces.lj_switch"),
    ("coulombtype", "forces.electrostatics"),
    ("epsilon_rf", "forces.permittivity"),
    ("dispcorr", "forces.dispersion_correction"),
    ("vdwmeth", "forces.dispersion_correction"),
    ("fourierspacing", "forces.pme.spacing"),
    ("pme_order", "forces.pme.order"),
    ("ntc", "forces.constraints"),
    ("shake_tol", "forces.constraint_tolerance"),
    ("mass_repartition_factor", "forces.hydrogen_mass"),
    ("nstlist", "forces.list.interval"),
    ("verlet_buffer_tolerance", "forces.list.tolerance"),
    ("nstxout", "output.trajectory.every"),
    ("nstxout_compressed", "output.trajectory.every"),
    ("ntwx", "output.trajectory.every"),
    ("compressed_x_grps", "output.trajectory.select"),
    ("nstenergy", "output.energies.every"),
    ("nstlog", "output.energies.every"),
    ("ntpr", "output.energies.every"),
    ("ntwe", "output.energies.every"),
    ("ntwr", "output.checkpoint.every"),
];

/// Returns the dotted path of the key of `md` that has the same purpose as the key `name` of another program.
pub fn of_other_program(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace('-', "_");
    SAME_PURPOSE.iter().find(|(other, _)| *other == name).map(|(_, path)| *path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_path_is_a_key_and_no_name_is() {
        let all = super::super::all();
        let paths: BTreeSet<&str> = all.iter().map(|(path, _)| path.as_str()).collect();
        let names: BTreeSet<&str> = all.iter().map(|(_, key)| key.name).collect();
        for (other, path) in SAME_PURPOSE {
            assert!(paths.contains(path) && !names.contains(other), "{other}: {path}");
            assert_eq!(of_other_program(other), Some(*path));
        }
        assert_eq!(of_other_program("Tau-T"), Some("stage.thermostat.coupling_time"));
    }
}
