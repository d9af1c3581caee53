//! Keys of other programs, for messages about unknown keys.

/// Keys of `md`, each with the keys of GROMACS (mdp), of AMBER (mdin) and of older versions of `md` that have the same
/// purpose. Names with several meanings are left out.
const SAME_PURPOSE: &[(&str, &[&str])] = &[
    ("stage.timestep", &["dt"]),
    ("stage.steps", &["nsteps", "nstlim", "maxcyc"]),
    ("stage.force_tolerance", &["emtol"]),
    ("stage.max_displacement", &["emstep", "initial_step"]),
    ("stage.kind", &["integrator", "imin"]),
    ("stage.velocities", &["gen_vel"]),
    ("stage.temperature", &["gen_temp", "tempi"]),
    ("run.seed", &["gen_seed", "ld_seed", "ig"]),
    ("stage.thermostat.kind", &["tcoupl", "ntt"]),
    ("stage.thermostat.groups", &["tc_grps"]),
    ("stage.thermostat.coupling_time", &["tau_t", "tautp"]),
    ("stage.thermostat.friction", &["gamma_ln"]),
    ("stage.thermostat.temperature", &["ref_t", "temp0"]),
    ("stage.barostat.kind", &["pcoupl"]),
    ("stage.barostat.coupling", &["ntp", "pcoupltype"]),
    ("stage.barostat.coupling_time", &["tau_p", "taup"]),
    ("stage.barostat.pressure", &["ref_p", "pres0"]),
    ("stage.barostat.compressibility", &["comp"]),
    ("stage.position_restraints.reference_scaling", &["refcoord_scaling"]),
    ("stage.position_restraints.select", &["restraintmask"]),
    ("stage.position_restraints.force_constant", &["restraint_wt"]),
    ("stage.frozen", &["freezegrps"]),
    ("stage.com_removal", &["comm_mode", "nscm"]),
    ("forces.cutoff", &["rcoulomb", "cut"]),
    ("forces.cutoff_lj", &["rvdw"]),
    ("forces.lj_modifier", &["vdw_modifier"]),
    ("forces.lj_switch", &["rvdw_switch"]),
    ("forces.electrostatics", &["coulombtype"]),
    ("forces.permittivity", &["epsilon_rf"]),
    ("forces.dispersion_correction", &["dispcorr", "vdwmeth"]),
    ("forces.pme.spacing", &["fourierspacing"]),
    ("forces.pme.order", &["pme_order"]),
    ("forces.constraints", &["ntc"]),
    ("forces.constraint_tolerance", &["shake_tol"]),
    ("forces.hydrogen_mass", &["mass_repartition_factor"]),
    ("forces.list.interval", &["nstlist"]),
    ("forces.list.tolerance", &["verlet_buffer_tolerance"]),
    ("output.trajectory.every", &["nstxout", "nstxout_compressed", "ntwx"]),
    ("output.trajectory.select", &["compressed_x_grps"]),
    ("output.energies.every", &["nstenergy", "nstlog", "ntpr", "ntwe"]),
    ("output.checkpoint.every", &["ntwr"]),
];

/// Returns the dotted path of the key of `md` that has the same purpose as the key `name` of another program.
pub fn of_other_program(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace('-', "_");
    SAME_PURPOSE.iter().find(|(_, others)| others.contains(&name.as_str())).map(|(path, _)| *path)
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
        for (path, others) in SAME_PURPOSE {
            assert!(paths.contains(path), "{path}");
            for other in *others {
                assert!(!names.contains(other), "{other}: {path}");
                assert_eq!(of_other_program(other), Some(*path));
            }
        }
        assert_eq!(of_other_program("Tau-T"), Some("stage.thermostat.coupling_time"));
    }
}
