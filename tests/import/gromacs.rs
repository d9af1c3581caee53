//! Tests of the import of GROMACS mdp files.

use md::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};
use md::ensemble::schedule::Schedule;
use md::ensemble::thermostat::ThermostatKind;
use md::import::{Files, import_text};
use md::prepare::{ConstraintKind, ElectrostaticsSpec, LjPmeSpec, PmeSpec, Setting};
use md::run::{Interval, Velocities};
use md::system::{DispersionCorrection, ListPolicy, LjModifier, Modifier};
use md::units::BAR;

use super::{ImportedExt, file, folder, problem, text, translated};

fn spacing(spacing: f64) -> ElectrostaticsSpec {
    ElectrostaticsSpec::Pme(PmeSpec::Spacing { spacing, order: 4 })
}

#[test]
fn a_minimisation_of_charmm() {
    let imported = file("charmm-min.mdp");
    let minimisation = imported.minimisation();
    assert_eq!((minimisation.steps, minimisation.force_tolerance, minimisation.max_displacement), (5000, 1000.0, 0.01));
    let forces = &imported.plan.forces;
    assert_eq!((forces.cutoff, forces.cutoff_lj), (Setting::Given(Some(1.2)), Setting::Given(Some(1.2))));
    assert_eq!(forces.lj_modifier, Setting::Given(LjModifier::ForceSwitch { from: 1.0 }));
    assert_eq!(forces.electrostatics, spacing(0.12));
    assert_eq!(forces.dispersion_correction, Setting::Given(DispersionCorrection::Off));
    assert_eq!((forces.constraints, forces.rigid_water), (ConstraintKind::HBonds, true));
    assert_eq!(imported.plan.system.define, ["DIHRES"]);
    assert_eq!(imported.differing(), ["define"]);
    assert_eq!((imported.remark("define").line, imported.plan.stages[0].name.as_str()), (Some(2), "charmm-min"));
    assert!(imported.plan.output.trajectories.is_empty());
}

#[test]
fn constant_pressure_of_charmm() {
    let imported = file("charmm-npt.mdp");
    let stage = imported.dynamics();
    assert_eq!((stage.steps, stage.timestep, stage.velocities), (500_000, 0.002, Velocities::File));
    let thermostat = stage.thermostat.as_ref().unwrap();
    assert_eq!(thermostat.kind, ThermostatKind::VRescale);
    assert_eq!((thermostat.temperature.at(0.0), thermostat.coupling_time), (310.15, 1.0));
    let barostat = stage.barostat.as_ref().unwrap();
    assert_eq!((barostat.kind, barostat.coupling_time, barostat.every), (BarostatKind::CRescale, 5.0, 10));
    assert_eq!(
        (barostat.coupling, &barostat.pressure),
        (PressureCoupling::SemiIsotropic, &[BAR; 3].map(Schedule::from))
    );
    assert!(barostat.compressibility.iter().all(|value| (value * BAR - 4.5e-5).abs() < 1e-15));
    assert_eq!((stage.com_removal, imported.plan.output.trajectories.len()), (Some(100), 1));
    let trajectory = &imported.plan.output.trajectories[0];
    assert_eq!((trajectory.file.as_str(), trajectory.every), ("trajectory.xtc", Interval::Steps(50_000)));
    assert_eq!(imported.plan.output.energies.unwrap(), Interval::Steps(1000));
    assert_eq!(imported.differing(), ["tc_grps", "comm_grps"]);
}

#[test]
fn constant_volume_of_the_tutorial() {
    let imported = file("tutorial-nvt.mdp");
    let stage = imported.dynamics();
    assert_eq!(stage.velocities, Velocities::Generate { temperature: 300.0 });
    let thermostat = stage.thermostat.as_ref().unwrap();
    assert_eq!((thermostat.temperature.at(0.0), thermostat.coupling_time), (300.0, 0.1));
    assert_eq!(stage.barostat, None);
    let forces = &imported.plan.forces;
    assert_eq!(forces.electrostatics, spacing(0.16));
    assert_eq!(forces.dispersion_correction, Setting::Given(DispersionCorrection::NonExcluded));
    let trajectory = &imported.plan.output.trajectories[0];
    assert_eq!((trajectory.file.as_str(), trajectory.every), ("trajectory.trr", Interval::Steps(500)));
    assert!(trajectory.velocities && !trajectory.forces);
    assert_eq!(imported.differing(), ["define"]);
    assert!(
        imported.text.contains("\nseed = \"random\"") && imported.text.contains("# gen_seed = -1"),
        "{}",
        imported.text
    );
    assert_eq!(imported.remark("lincs_iter").line, Some(16));
}

#[test]
fn constant_pressure_of_older_tutorials() {
    let imported = file("tutorial-npt.mdp");
    let stage = imported.dynamics();
    let forces = &imported.plan.forces;
    assert_eq!((forces.cutoff, forces.cutoff_lj), (Setting::Given(Some(0.9)), Setting::Given(Some(1.4))));
    assert_eq!((forces.constraints, stage.velocities), (ConstraintKind::AllBonds, Velocities::File));
    let thermostat = stage.thermostat.as_ref().unwrap();
    let groups: Vec<_> = thermostat.groups.iter().map(|g| (g.select.as_str(), g.temperature.at(0.0))).collect();
    assert_eq!((thermostat.temperature.at(0.0), &groups[..]), (310.0, &[("protein", 300.0)][..]));
    assert_eq!(stage.barostat.as_ref().unwrap().coupling_time, 2.0);
    assert_eq!(imported.plan.output.trajectories[0].select.as_deref(), Some("protein"));
    let differing = ["ewald_rtol", "pcoupl", "pull"];
    assert_eq!(imported.differing(), differing);
    // α = 3.84323/nm, because erfc(3.84323 · 0.9) = 1e-6; GROMACS' calc_ewaldcoeff_q prints the same number to the log
    assert!(imported.remark("ewald_rtol").text.contains("3.84323"), "{:?}", imported.remark("ewald_rtol"));
    assert!(!imported.remark("free_energy").differs);
}

#[test]
fn a_coarse_grained_model() {
    let imported = file("martini.mdp");
    let forces = &imported.plan.forces;
    assert_eq!(forces.electrostatics, ElectrostaticsSpec::ReactionField { permittivity: f64::INFINITY });
    assert_eq!((forces.constraints, forces.rigid_water), (ConstraintKind::None, false));
    assert_eq!(imported.differing(), ["coulombtype", "epsilon_r", "pcoupl"]);
    assert_eq!(imported.plan.output.trajectories[0].precision, Some(0.01));
}

/// Tests the defaults of absent keys against https://manual.gromacs.org/current/user-guide/mdp-options.html.
#[test]
fn absent_keys_have_the_defaults_of_gromacs() {
    let imported = text("x.mdp", "nsteps = 3");
    let forces = &imported.plan.forces;
    assert_eq!((forces.cutoff, forces.cutoff_lj), (Setting::Given(Some(1.0)), Setting::Given(Some(1.0))));
    assert_eq!(forces.electrostatics, ElectrostaticsSpec::Plain);
    assert_eq!(forces.lj_modifier, Setting::Given(LjModifier::PotentialShift));
    assert_eq!(forces.dispersion_correction, Setting::Given(DispersionCorrection::Off));
    assert_eq!((forces.constraints, forces.rigid_water), (ConstraintKind::None, false));
    let list = ListPolicy::Drift { tolerance: 0.005, pressure_tolerance: 0.5 * BAR, interval: None };
    assert_eq!(forces.list, list);
    let stage = imported.dynamics();
    assert_eq!((stage.steps, stage.timestep, stage.com_removal), (3, 0.001, Some(100)));
    assert_eq!((&stage.thermostat, &stage.barostat, stage.velocities), (&None, &None, Velocities::File));
    assert_eq!(imported.plan.output.energies.unwrap(), Interval::Steps(1000));
    assert_eq!(imported.differing(), Vec::<&str>::new());
}

/// Tests the force settings that result from adding a single mdp setting to a periodic system with PME.
#[test]
fn methods_are_translated() {
    let forces = |lines: &str| text("x.mdp", &format!("coulombtype = PME\n{lines}")).plan.forces;
    let explicit =
        forces("fourier-nx = 32\nfourier_ny = 36\nfourier-NZ = 40\npme-order = 6\newald-rtol = 1e-5\nrcoulomb = 1.0");
    let ElectrostaticsSpec::Pme(PmeSpec::Explicit { alpha, grid, order }) = explicit.electrostatics else { panic!() };
    // α = 3.123413/nm, because erfc(3.123413) = 1e-5 (Abramowitz and Stegun, table 7.1 inverted); GROMACS prints
    // 3.12341
    assert!((alpha - 3.123_413).abs() < 1e-6, "{alpha}");
    assert_eq!((grid, order), ([32, 36, 40], 6));
    assert_eq!(forces("coulomb-modifier = None").coulomb_modifier, Modifier::None);
    let lj = |lines: &str| forces(lines).lj_modifier;
    let switch = "rvdw = 1.2\nrvdw-switch = 0.9";
    let force_switch = Setting::Given(LjModifier::ForceSwitch { from: 0.9 });
    assert_eq!(lj(&format!("vdwtype = Shift\n{switch}")), force_switch);
    assert_eq!(lj(&format!("vdw_modifier = forceswitch\n{switch}")), force_switch);
    assert_eq!(lj(&format!("vdwtype = switch\n{switch}")), Setting::Given(LjModifier::PotentialSwitch { from: 0.9 }));
    let dispersion = |lines: &str| forces(&format!("vdwtype = PME\n{lines}")).dispersion_correction;
    let spacing = LjPmeSpec::Spacing { spacing: 0.12, order: 4 };
    assert_eq!(dispersion("DispCorr = EnerPres"), Setting::Given(DispersionCorrection::Pme(spacing)));
    let mesh = "fourier-nx = 32\nfourier-ny = 36\nfourier-nz = 40\nrvdw = 1.0";
    let Setting::Given(DispersionCorrection::Pme(LjPmeSpec::Explicit(explicit))) = dispersion(mesh) else { panic!() };
    // GROMACS prints 1/beta = 0.298423 nm for ewald_rtol = 1e-3
    assert!((1.0 / explicit.alpha - 0.298_423).abs() < 1e-6, "{}", explicit.alpha);
    assert_eq!((explicit.grid, explicit.order), ([32, 36, 40], 4));
    let rule = text("x.mdp", "vdwtype = PME\nlj-pme-comb-rule = Lorentz-Berthelot");
    assert_eq!(rule.differing(), ["lj-pme-comb-rule"]);
    assert_eq!(lj("vdw-modifier = none"), Setting::Given(LjModifier::None));
    assert_eq!(forces("verlet-buffer-tolerance = -1\nrlist = 1.1").list, ListPolicy::Exact { buffer: 0.1 });
    let heavy = |lines: &str| text("x.mdp", &format!("mass-repartition-factor = 3\n{lines}"));
    assert_eq!((heavy("").plan.forces.hydrogen_mass, heavy("").differing()), (Some(3.024), vec![]));
    assert_eq!(heavy("constraints = h-bonds").differing(), ["mass-repartition-factor"]);
    let angles = text("x.mdp", "constraints = h-angles");
    assert_eq!((angles.plan.forces.constraints, angles.differing()), (ConstraintKind::HAngles, vec![]));
    let flexible = text("x.mdp", "define = -DFLEXIBLE -DK=3\nconstraints = h-bonds");
    assert_eq!(flexible.plan.system.define, ["FLEXIBLE", "K=3"]);
    assert!(!flexible.plan.forces.rigid_water);
    let vacuum = text("x.mdp", "pbc = no\nrcoulomb = 0\nrvdw = 0\nrlist = 0\nnstlist = 0").plan.forces;
    assert_eq!((vacuum.cutoff, vacuum.electrostatics), (Setting::Given(None), ElectrostaticsSpec::Plain));
}

#[test]
fn settings_without_their_companions_are_not_lost() {
    let of = |lines: &str| text("x.mdp", lines);
    assert_eq!(of("coulomb-modifier = None").plan.forces.coulomb_modifier, Modifier::None);
    let part = of("coulombtype = PME\nfourier-nx = 60");
    assert!(part.remark("fourier-nx").text.contains("all three directions"), "{:?}", part.remarks);
    assert!(of("E-x = 1 0.5 0").remark("E-x").differs);
    // md removes rotation in vacuum, and only there
    let vacuum = "pbc = no\nrcoulomb = 0\nrvdw = 0\nrlist = 0\nnstlist = 0\ncomm-mode =";
    assert!(of(&format!("{vacuum} Linear")).differing().contains(&"comm-mode"));
    assert!(!of(&format!("{vacuum} Angular")).differing().contains(&"comm-mode"));
    let cold = of("tcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\nannealing = single\n\
                   annealing-npoints = 2\nannealing-time = 0 10\nannealing-temp = 0 300");
    assert_eq!(cold.dynamics().thermostat.clone().unwrap().temperature.points(), [(0.0, 1e-3), (10.0, 300.0)]);
    let minimisation = of("integrator = steep\nnstxout = 1");
    assert!(
        minimisation.plan.output.trajectories.is_empty() && minimisation.differing().contains(&"output.trajectory")
    );
    let frozen = of("freezegrps = System\nfreezedim = Y Y Y");
    assert!(frozen.text.contains("would move frozen atoms"), "{}", frozen.text);
}

/// Tests macros that switch on restraints, and coordinates without velocities.
#[test]
fn the_topology_and_the_coordinates_decide() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let topology = "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nA 6 12.0 0.0 A 0.3 0.4\n[ moleculetype ]\nM 3\n[ atoms ]\n\
                    1 A 1 M A1 1 0.0\n2 A 1 M A2 1 0.0\n3 A 1 M A3 1 0.0\n4 A 1 M A4 1 0.0\n[ bonds ]\n1 2 1 0.15 1000\n\
                    2 3 1 0.15 1000\n3 4 1 0.15 1000\n#ifdef HOLD\n[ position_restraints ]\n1 1 500 500 500\n#endif\n\
                    #ifdef DIHRES\n[ dihedral_restraints ]\n1 2 3 4 1 180 0 10\n#endif\n#ifdef OTHER\n[ exclusions ]\n1 4\n#endif\n[ system ]\nm\n[ molecules ]\nM 1\n";
    std::fs::write(path("m.top"), topology).unwrap();
    let atoms = (1..=4).map(|k| format!("    1M       A{k}{k:5}   1.{k}00   1.000   1.000\n")).collect::<String>();
    std::fs::write(path("m.gro"), format!("m\n4\n{atoms}   3.0 3.0 3.0\n")).unwrap();
    let files = Files { topology: Some(path("m.top")), coordinates: Some(path("m.gro")), ..Files::default() };
    let lines = "define = -DHOLD -DDIHRES -DOTHER\nnsteps = 3";
    let imported = import_text(lines, &path("x.mdp"), &files, folder.path()).unwrap();
    assert_eq!(imported.plan.system.define, ["OTHER"]);
    assert_eq!(imported.plan.stages[0].position_restraints.len(), 1);
    assert!(imported.remark("define").text.contains("the macro DIHRES is left out"), "{:?}", imported.remarks);
    assert_eq!(imported.dynamics().velocities, Velocities::Generate { temperature: 1e-3 });
    assert!(imported.remark("gen-vel").text.contains("starts at rest"), "{:?}", imported.remarks);
}

#[test]
fn multiple_time_steps_are_translated() {
    let with = |lines: &str| format!("nstenergy = 100\nmts = yes\n{lines}");
    let mts = |lines: &str| {
        let text = text("x.mdp", &with(lines));
        let every = text.dynamics().multiple_time_steps.map(|steps| steps.every);
        (every, text.differing().into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let pme = |lines: &str| format!("coulombtype = PME\nnsteps = 600\n{lines}");
    let none: Vec<String> = vec![];
    assert_eq!(mts(&pme("")), (Some(2), none.clone()));
    let all = "mts-levels = 2\nmts-level2-forces = longrange-nonbonded\nmts-level2-factor = 4";
    assert_eq!(mts(&pme(all)), (Some(4), none));
    let groups = "mts-level2-forces = longrange-nonbonded nonbonded";
    assert_eq!(mts(&pme(groups)), (Some(2), vec!["mts-level2-forces".into()]));
    // grompp requires multiples of the multiple-time-step factor only for nstenergy, nstcalcenergy, nstlog and nstfout
    assert_eq!(mts("coulombtype = PME\nnsteps = 601"), (None, vec!["mts".into()]));
    // a second remark says that reaction field has no reciprocal space
    assert_eq!(mts("coulombtype = reaction-field\nnsteps = 600"), (None, vec!["mts".into(), "coulombtype".into()]));
    assert_eq!(text("x.mdp", "mts = no\nmts-level2-factor = 3").differing(), Vec::<&str>::new());
    let mistake = |lines: &str| problem("x.mdp", &with(&pme(lines))).1;
    assert!(mistake("mts-level2-factor = 1").contains("mts-level2-factor = 1"));
    assert!(mistake("mts-levels = 3").contains("only two levels"));
}

#[test]
fn thermostats_are_translated() {
    let thermostat = |lines: &str| {
        let imported = text("x.mdp", &format!("tc-grps = A B\nref-t = 300 300\ntau-t = 2 2\n{lines}"));
        let differs = !imported.differing().is_empty();
        imported.dynamics().thermostat.as_ref().map(|t| (t.kind, t.coupling_time, differs))
    };
    assert_eq!(thermostat("integrator = sd"), Some((ThermostatKind::Langevin, 2.0, false)));
    assert_eq!(thermostat("integrator = sd\ntcoupl = berendsen"), Some((ThermostatKind::Langevin, 2.0, false)));
    // two thermostats that scale velocities have become one, although the groups have equal values
    assert_eq!(thermostat("tcoupl = v-rescale"), Some((ThermostatKind::VRescale, 2.0, true)));
    assert_eq!(thermostat("tcoupl = andersen"), Some((ThermostatKind::Andersen, 2.0, false)));
    assert_eq!(thermostat("tcoupl = nose-hoover"), Some((ThermostatKind::NoseHoover, 2.0, true)));
    assert_eq!(thermostat("integrator = bd"), Some((ThermostatKind::Langevin, 2.0, true)));
    assert_eq!(thermostat("tcoupl = no"), None);
    // in GROMACS the integrator sd ignores the interval of the coupling
    for (lines, every) in [("integrator = sd", 1), ("tcoupl = v-rescale", 20)] {
        let lines = format!("tc-grps = System\nref-t = 300\ntau-t = 2\nnsttcouple = 20\n{lines}");
        assert_eq!(text("x.mdp", &lines).dynamics().thermostat.as_ref().unwrap().every, every, "{lines}");
    }
}

/// Tests that the motion of the center of mass is not removed if the thermostat acts on this motion.
#[test]
fn thermostats_of_each_atom_keep_the_motion_of_the_center_of_mass() {
    let removal = |lines: &str| {
        let imported = text("x.mdp", &format!("tc-grps = System\nref-t = 300\ntau-t = 2\nnstcomm = 50\n{lines}"));
        (imported.dynamics().com_removal, imported.text.contains("the thermostat also acts on this motion"))
    };
    for lines in ["integrator = sd", "integrator = bd", "tcoupl = andersen"] {
        assert_eq!(removal(lines), (None, true), "{lines}");
    }
    assert_eq!(removal("tcoupl = v-rescale"), (Some(50), false));
}

#[test]
fn groups_and_annealing_are_translated() {
    let of = |text: &str| self::text("x.mdp", text);
    let groups = of("tcoupl = v-rescale\ntc-grps = Protein Water_and_ions\nref-t = 310 300\ntau-t = 0.5 1\n\
                     annealing = no single\nannealing-npoints = 0 3\nannealing-time = 0 10 20\n\
                     annealing-temp = 5 100 300\n");
    assert_eq!(groups.differing(), Vec::<&str>::new());
    let thermostat = groups.dynamics().thermostat.as_ref().unwrap();
    assert_eq!(thermostat.temperature.points(), [(0.0, 5.0), (10.0, 100.0), (20.0, 300.0)]);
    assert_eq!((thermostat.coupling_time, thermostat.groups.len()), (1.0, 1));
    let protein = &thermostat.groups[0];
    assert_eq!((protein.select.as_str(), protein.temperature.at(3.0), protein.coupling_time), ("protein", 310.0, 0.5));
    // a single unknown group is the rest of the system
    let rest = of("tcoupl = v-rescale\ntc-grps = Protein LIG\nref-t = 310 300\ntau-t = 1 1\n");
    assert!(rest.remark("tc-grps").text.contains("group LIG is unknown"), "{}", rest.remark("tc-grps").text);
    // two groups whose names are defined only in an index file cannot be resolved
    let unknown = of("tcoupl = v-rescale\ntc-grps = SOLU SOLV\nref-t = 310 300\ntau-t = 1 1\n");
    assert_eq!(unknown.differing(), ["tc-grps"]);
    assert_eq!(unknown.dynamics().thermostat.as_ref().unwrap().groups, []);
    let base = "tcoupl = v-rescale\ntc-grps = A\nref-t = 300\ntau-t = 1\n";
    for (lines, message) in [
        ("annealing = periodic\n", "annealing = periodic"),
        ("annealing = single\nannealing-npoints = 1\nannealing-time = 2\nannealing-temp = 5\n", "later than tinit = 0"),
        ("annealing = single single\n", "2 words for 1 groups"),
        ("annealing = single\nannealing-npoints = 2\nannealing-time = 0\nannealing-temp = 1 2\n", "ascending times"),
    ] {
        let (_, found) = problem("x.mdp", &format!("{base}{lines}"));
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn couplings_are_made_to_fit_the_time_step() {
    let stage = |lines: &str| {
        let couplings = "tcoupl = berendsen\ntc-grps = System\ntau-t = 0.01\nref-t = 300\npcoupl = C-rescale\nref-p = 1\n\
                         compressibility = 4.5e-5\n";
        let imported = text("x.mdp", &format!("{couplings}dt = 0.002\n{lines}"));
        (imported.dynamics().clone(), imported.differing().into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let (fitting, differing) = stage("tau-p = 0.2");
    assert_eq!((fitting.thermostat.unwrap().every, fitting.barostat.unwrap().every), (5, 5));
    assert_eq!(differing, Vec::<String>::new());
    let (short, differing) = stage("tau-p = 0.01");
    let barostat = short.barostat.unwrap();
    assert_eq!((barostat.every, barostat.coupling_time), (1, 0.04));
    assert_eq!(differing, ["tau-p"]);
    let without = text("x.mdp", "pcoupl = C-rescale\nref-p = 1\ncompressibility = 4.5e-5");
    assert_eq!(without.dynamics().barostat.as_ref().unwrap().kind, BarostatKind::Berendsen);
    assert_eq!(without.differing(), ["pcoupl"]);
    // a single remark, on the barostat that is used
    let other = text("x.mdp", "pcoupl = Parrinello-Rahman\nref-p = 1\ncompressibility = 4.5e-5");
    assert_eq!(other.differing(), ["pcoupl"]);
    assert!(other.remark("pcoupl").text.contains("Berendsen"), "{:?}", other.remarks);
}

/// Tests the components of the pressure against
/// https://manual.gromacs.org/current/user-guide/mdp-options.html#mdp-pcoupltype.
#[test]
fn directions_of_the_pressure() {
    let barostat = |lines: &str| {
        let thermostat = "tcoupl = v-rescale\ntc-grps = System\ntau-t = 1\nref-t = 300\ndt = 0.002\ntau-p = 5";
        let imported = text("x.mdp", &format!("{thermostat}\npcoupl = C-rescale\n{lines}"));
        (imported.dynamics().barostat.clone().unwrap(), imported.differing().join(" "))
    };
    let at_start = |barostat: &Barostat| barostat.pressure.each_ref().map(|pressure| pressure.at(0.0));
    let in_bar = |values: [f64; 3], unit: f64| values.map(|value| (value / unit * 1e9).round() / 1e9);
    let (semi, differing) = barostat("pcoupltype = semiisotropic\nref-p = 2 1\ncompressibility = 3e-4 0");
    assert_eq!((semi.coupling, in_bar(at_start(&semi), BAR)), (PressureCoupling::SemiIsotropic, [2.0, 2.0, 1.0]));
    assert_eq!(in_bar(semi.compressibility, 1.0 / BAR), [3e-4, 3e-4, 0.0]);
    assert_eq!((semi.surface_tension, differing.as_str()), (0.0, ""));
    let (tension, differing) = barostat("pcoupltype = surface-tension\nref-p = 400 1\ncompressibility = 4e-5 4e-5");
    assert_eq!((tension.coupling, in_bar(at_start(&tension), BAR)), (PressureCoupling::SemiIsotropic, [1.0; 3]));
    // the surface tension is in bar nm, as the sum over all interfaces
    assert!((tension.surface_tension / BAR - 400.0).abs() < 1e-9 && differing.is_empty());
    let six = "pcoupltype = anisotropic\nref-p = 1 2 3 0 0 0\ncompressibility = 1e-5 2e-5 3e-5";
    let (each, differing) = barostat(&format!("{six} 0 0 0"));
    assert_eq!((each.coupling, in_bar(at_start(&each), BAR)), (PressureCoupling::Anisotropic, [1.0, 2.0, 3.0]));
    assert_eq!((in_bar(each.compressibility, 1.0 / BAR), differing.as_str()), ([1e-5, 2e-5, 3e-5], ""));
    assert_eq!(barostat(&format!("{six} 4e-5 0 0")).1, "compressibility");
    let (line, found) =
        problem("x.mdp", "pcoupl = C-rescale\npcoupltype = semiisotropic\nref-p = 1\ncompressibility = 1 1");
    assert!(line == 3 && found.contains("needs more than 1 values of ref-p"), "{found}");
}

#[test]
fn wrong_files_are_refused_at_their_lines() {
    for (text, line, message) in [
        ("dt = 0.002\nrcoulonb = 1\n", 2, "did you mean \"rcoulomb\"?"),
        ("dt = 0.002\nthis is no setting\n", 2, "not a setting"),
        ("dt = fast\n", 1, "not a finite number"),
        ("nsteps = 1\ndt = 0.2\n", 2, "at most 100 fs"),
        ("nsteps = 1.5\n", 1, "not a whole number"),
        ("nsteps = -1\n", 1, "must end"),
        ("dt = 0.001\nDT = 0.002\n", 2, "set twice; the first setting is in line 1"),
        (" = 3\n", 1, "a value but no key"),
        ("integrator = tpi\n", 1, "integrator = tpi"),
        (
            "nsteps = 1\ntcoupl = v-rescale\ntc-grps = A B\ntau-t = 1 1\nref-t = 300\n",
            5,
            "ref-t has 1 values for 2 groups",
        ),
        ("rvdw = 1.2\nvdw-modifier = Force-switch\nrvdw-switch = 1.3", 3, "must begin before the cutoff"),
        ("rcoulomb = -1", 1, "greater than zero"),
        ("coulombtype = magic", 1, "coulombtype = magic"),
        ("gen-vel = perhaps", 1, "expected yes or no"),
        ("define = POSRES", 1, "expected words -DNAME"),
        ("pcoupl = berendsen\n", 1, "without ref-p"),
    ] {
        let (at, found) = problem("x.mdp", text);
        assert!(at == line && found.contains(message), "{text}: {found}");
    }
    let several = translated("x.mdp", "dt = 1\nrvdw = 0\nrcoulomb = -3\nfoo = bar").expect_err("four problems");
    assert_eq!(several.len(), 4, "{several:?}");
}

#[test]
fn frozen_groups_are_carried_over_where_their_atoms_are_known() {
    let imported = text("x.mdp", "freezegrps = Protein\nfreezedim = Y Y Y\n");
    let stage = &imported.plan.stages[0];
    assert_eq!((stage.frozen.as_deref(), imported.dynamics().com_removal), (Some("protein"), None));
    for (setting, expected) in [
        ("freezegrps = Protein\nfreezedim = Y Y N\n", "only in all directions"),
        ("freezegrps = Wall\nfreezedim = Y Y Y\n", "instead of Wall"),
    ] {
        let imported = text("x.mdp", setting);
        assert!(imported.plan.stages[0].frozen.is_none() && imported.remark("freezegrps").text.contains(expected));
    }
}

/// Values that differ from the default, by mdp key. All keys that are not listed get the value `1`.
const CHOICES: [(&str, &str); 44] = [
    ("dt", "0.002"),
    ("emstep", "0.05"),
    ("include", "-I/force/field"),
    ("define", "-DX"),
    ("integrator", "sd"),
    ("comm-mode", "Angular"),
    ("comm-grps", "A B"),
    ("cutoff-scheme", "group"),
    ("pbc", "xy"),
    ("periodic-molecules", "yes"),
    ("coulombtype", "PME"),
    ("coulomb-modifier", "None"),
    ("vdw-type", "PME"),
    ("vdw-modifier", "None"),
    ("DispCorr", "EnerPres"),
    ("rvdw-switch", "0.5"),
    ("tcoupl", "berendsen"),
    ("pcoupl", "Berendsen"),
    ("pcoupltype", "anisotropic"),
    ("gen-vel", "yes"),
    ("constraints", "all-angles"),
    ("continuation", "yes"),
    ("morse", "yes"),
    ("pull", "yes"),
    ("awh", "yes"),
    ("rotation", "yes"),
    ("disre", "simple"),
    ("orire", "yes"),
    ("free-energy", "yes"),
    ("swapcoords", "X"),
    ("simulated-tempering", "yes"),
    ("mts", "yes"),
    ("QMMM", "yes"),
    ("ewald-geometry", "3dc"),
    ("adress", "yes"),
    ("implicit-solvent", "GBSA"),
    ("refcoord-scaling", "com"),
    ("density-guided-simulation-active", "true"),
    ("colvars-active", "true"),
    ("nnpot-active", "true"),
    ("ewald-rtol", "1e-6"),
    ("annealing", "single\nannealing-npoints = 1\nannealing-time = 0\nannealing-temp = 300"),
    ("annealing-npoints", "1\nannealing = single\nannealing-time = 0\nannealing-temp = 300"),
    ("annealing-time", "5"),
];

/// Tests every mdp key of a file that `grompp` wrote: the import translates the key or mentions it in a remark.
#[test]
fn every_key_of_grompp_is_carried_over_or_spoken_of() {
    let list = std::fs::read_to_string(folder().join("mdout.mdp")).unwrap();
    let keys: Vec<&str> = list.lines().filter(|l| !l.starts_with(';')).filter_map(|l| l.split(" =").next()).collect();
    assert_eq!(keys.len(), 184);
    // a key with its default value is not reported as different
    let defaults = text("mdout.mdp", &list);
    assert_eq!(defaults.differing(), Vec::<&str>::new());
    // temperature and pressure coupling have all their settings, so that each key of a coupling has an effect
    let others = "tc-grps = A\ntau-t = 1\nref-t = 300\ncompressibility = 4.5e-5\nref-p = 1\n";
    for key in keys {
        let value = CHOICES.iter().find(|(name, _)| *name == key).map_or("1", |(_, value)| value);
        let others: String = others.lines().filter(|line| !line.starts_with(key)).map(|l| format!("{l}\n")).collect();
        let imported = text("x.mdp", &format!("{others}{key} = {value}\n"));
        let key = if key == "vdw-type" { "vdwtype" } else { key };
        assert!(imported.speaks_of(key), "{key}\n{}\n{:#?}", imported.text, imported.remarks);
    }
}
