//! Tests of the import of AMBER's mdin files.

use std::path::Path;

use md::ensemble::barostat::{BarostatKind, PressureCoupling};
use md::ensemble::thermostat::ThermostatKind;
use md::import::{Files, import_text};
use md::prepare::{ConstraintKind, ElectrostaticsSpec, LjPmeSpec, PmeSpec, Setting};
use md::restraint::ReferenceScaling;
use md::run::{Interval, Velocities};
use md::system::{DispersionCorrection, ListPolicy, LjModifier, Modifier};
use md::units::BAR;

use super::{BASE, ImportedExt, file, problem, text};

#[test]
fn a_minimisation() {
    let imported = file("tutorial-min.mdin");
    let minimisation = imported.minimisation();
    assert_eq!(minimisation.steps, 2000);
    // 1e-4 kcal/mol/Å in kJ/mol/nm, with 1 kcal = 4.184 kJ
    assert!((minimisation.force_tolerance - 4.184e-3).abs() < 1e-12);
    let forces = &imported.plan.forces;
    assert_eq!((forces.cutoff, forces.cutoff_lj), (Setting::Given(Some(0.8)), Setting::Given(Some(0.8))));
    assert_eq!((forces.lj_modifier, forces.coulomb_modifier), (Setting::Given(LjModifier::None), Modifier::None));
    assert_eq!(forces.dispersion_correction, Setting::Given(DispersionCorrection::AllPairs));
    assert_eq!((forces.constraints, forces.rigid_water), (ConstraintKind::None, false));
    assert!(matches!(forces.electrostatics, ElectrostaticsSpec::Pme(PmeSpec::ForceError(_))));
    // sander prints "Ewald Coefficient = 0.34864" for a cutoff of 8 Å
    assert!(imported.text.contains("AMBER uses alpha = 3.486"), "{}", imported.text);
    assert_eq!(imported.differing(), Vec::<&str>::new());
    assert_eq!(imported.plan.output.energies.unwrap(), Interval::Steps(100));
}

#[test]
fn heating() {
    let imported = file("tutorial-heat.mdin");
    let stage = imported.dynamics();
    assert_eq!((stage.steps, stage.timestep), (10_000, 0.002));
    assert_eq!(stage.velocities, Velocities::Generate { temperature: 1e-3 });
    let thermostat = stage.thermostat.as_ref().unwrap();
    // the friction is 2/ps
    // the ramp of 9000 steps of 2 fs; a thermostat cannot have a temperature of zero
    assert_eq!(thermostat.temperature.points(), [(0.0, 1e-3), (18.0, 300.0)]);
    assert_eq!(thermostat.kind, ThermostatKind::Langevin);
    assert_eq!((thermostat.coupling_time, thermostat.every, stage.com_removal), (0.5, 1, None));
    assert!(imported.text.contains("friction = \"2 1/ps\""), "{}", imported.text);
    assert_eq!(imported.differing(), ["tempi"]);
    assert!(
        imported.text.contains("\nseed = \"random\"") && imported.text.contains("# ig = -1\n"),
        "{}",
        imported.text
    );
    assert_eq!(imported.remark("&wt").line, Some(11));
    assert_eq!(imported.plan.output.trajectories[0].file, "trajectory.nc");
}

#[test]
fn production() {
    let imported = file("tutorial-prod.mdin");
    let stage = imported.dynamics();
    assert_eq!((stage.velocities, stage.com_removal), (Velocities::File, None));
    let thermostat = stage.thermostat.as_ref().unwrap();
    assert_eq!((thermostat.kind, thermostat.coupling_time), (ThermostatKind::VRescale, 1.5));
    let barostat = stage.barostat.as_ref().unwrap();
    assert_eq!((barostat.kind, barostat.coupling_time), (BarostatKind::Berendsen, 2.0));
    assert!(barostat.pressure.iter().all(|pressure| (pressure.at(0.0) / BAR - 1.01325).abs() < 1e-12));
    assert!(barostat.compressibility.iter().all(|value| (value * BAR - 45e-6).abs() < 1e-15));
    let forces = &imported.plan.forces;
    let ElectrostaticsSpec::Pme(PmeSpec::Explicit { alpha, grid, order }) = forces.electrostatics else { panic!() };
    // sander prints "Ewald Coefficient = 0.30768" for a cutoff of 9 Å
    assert!((alpha - 3.0768).abs() < 1e-4, "{alpha}");
    assert_eq!((grid, order, imported.plan.run.seed), ([64, 60, 72], 4, 71277));
    assert_eq!((forces.constraint_tolerance, forces.list), (1e-6, ListPolicy::Exact { buffer: 0.15 }));
    let trajectory = &imported.plan.output.trajectories[0];
    assert!(trajectory.velocities && trajectory.every == Interval::Steps(1000));
    assert_eq!(imported.differing(), ["t"]);
    let [held] = &imported.plan.stages[0].position_restraints[..] else { panic!("one restraint") };
    assert_eq!(held.select, "resid 1-10 and not name H*");
    // 2.5 kcal/mol/Å² · d² is ½ · 2092 kJ/mol/nm² · d²
    assert!((held.force_constant.at(0.0) - 2092.0).abs() < 1e-9, "{:?}", held.force_constant);
    assert_eq!(held.reference_scaling, ReferenceScaling::CenterOfMass);
}

#[test]
fn ramps_that_are_no_single_line_are_named() {
    let of = |weights: &str| {
        let text = format!("t\n&cntrl ntt=3, gamma_ln=1, temp0=310, nmropt=1, dt=0.002, nstlim=100 /\n{weights}");
        self::text("x.mdin", &text)
    };
    let temperature = |weights: &str| of(weights).dynamics().thermostat.clone().unwrap().temperature;
    let two = "&wt type='TEMP0', istep1=0, istep2=500, value1=100.0, value2=310.0 /\n\
               &wt type='TEMP0', istep1=501, istep2=1000, value1=310.0, value2=310.0 /\n&wt type='END' /\n";
    assert_eq!(temperature(two).points(), [(0.0, 100.0), (1.0, 310.0), (2.0, 310.0)]);
    // at a step of two parts the later part applies, and after the last part temp0
    let plateaus = "&wt type='TEMP0', istep1=0, istep2=20, value1=300.0, value2=300.0 /\n\
                    &wt type='TEMP0', istep1=20, istep2=40, value1=400.0, value2=400.0 /\n\
                    &wt type='TEMP0', istep1=41, istep2=60, value1=500.0, value2=480.0 /\n";
    let steps = [(0, 300.0), (19, 300.0), (20, 400.0), (40, 400.0), (41, 500.0), (60, 480.0), (61, 310.0)];
    let found = temperature(plateaus);
    assert_eq!(found.points().len(), steps.len(), "{found:?}");
    for ((time, value), (step, expected)) in found.points().iter().zip(steps) {
        assert!((time - 0.002 * f64::from(step)).abs() < 1e-12 && *value == expected, "{found:?}");
    }
    for other in [
        "&wt type='TEMP0', istep1=100, istep2=500, value1=100.0, value2=310.0 /\n",
        "&wt type='TEMP0', istep1=0, istep2=500, value1=100.0, value2=310.0, iinc=10 /\n",
    ] {
        assert_eq!(temperature(other).points(), [(0.0, 310.0)]);
        assert!(of(other).differing().contains(&"&wt"));
    }
}

#[test]
fn settings_that_depend_on_others_follow_amber() {
    let of = |keys: &str| text("x.mdin", &format!("t\n&cntrl {keys} /\n"));
    // names of water are no settings of md
    let names = of("watnam='WAT', owtnm='O', hwtnm1='H1', ntr=1, restraintmask='@CA', restraint_wt=1, nscm=500, ig=3");
    assert_eq!(names.dynamics().com_removal, None);
    assert!(names.text.contains("com_removal") && names.text.contains("ntr = 1"), "{}", names.text);
    let switched = of("cut=12, fswitch=10, ig=3");
    assert!(switched.remark("fswitch").text.contains("Steinbach"), "{:?}", switched.remarks);
    assert!(switched.remark("vdwmeth").text.contains("truncated at the cutoff"), "{:?}", switched.remarks);
    let off = text(
        "x.mdin",
        "t\n&cntrl ntt=3, gamma_ln=1, ig=3 /\n&wt type='TEMP0', istep1=0, istep2=5 /\n&wt type='END' /\n",
    );
    assert!(off.remark("&wt").text.contains("nmropt is off") && !off.differing().contains(&"&wt"), "{:?}", off.remarks);
    // a minimisation writes no frames
    let minimisation = of("imin=1, ntwx=10");
    assert!(minimisation.plan.output.trajectories.is_empty());
    assert!(minimisation.remark("output.trajectory").text.contains("writes no frames"), "{:?}", minimisation.remarks);
}

#[test]
fn atoms_that_do_not_move_are_frozen() {
    let of = |keys: &str| text("x.mdin", &format!("t\n&cntrl ntt=1, ig=3, {keys} /\n"));
    assert_eq!(of("ibelly=1, bellymask=':LIG'").plan.stages[0].frozen.as_deref(), Some("not (resname LIG)"));
    let other = of("ibelly=1, bellymask=':LIG<:5.0'");
    assert!(other.remark("ibelly").text.contains("has no counterpart in md"), "{}", other.remark("ibelly").text);
    assert!(of("ntr=1, restraint_wt=1").differing().contains(&"ntr"));
    let free = of("ntr=1, restraint_wt=0.0, restraintmask=':LIG'");
    assert!(free.plan.stages[0].position_restraints.is_empty());
    assert!(free.remark("ntr").text.contains("no atom is restrained") && !free.differing().contains(&"ntr"));
}

/// Tests `lj1264 = 0` with a topology that has 12-6-4 terms, with one that has none, and without a topology.
#[test]
fn terms_that_amber_leaves_out_are_named() {
    let differs = |system: Option<&str>, lj1264: u8| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems");
        let topology = system.map(|name| folder.join(name).join(format!("{name}.prmtop.xz")));
        let files = Files { topology, ..super::files() };
        let input = format!("t\n&cntrl lj1264={lj1264} /\n");
        import_text(&input, Path::new("x.mdin"), &files, Path::new(BASE)).unwrap().remark("lj1264").differs
    };
    for (system, lj1264, expected) in
        [(Some("ions"), 0, true), (Some("ions"), 1, false), (Some("peptide-vacuum"), 0, false), (None, 0, true)]
    {
        assert_eq!(differs(system, lj1264), expected, "{system:?} {lj1264}");
    }
}

#[test]
fn vacuum_and_switches() {
    let forces = |keys: &str| text("x.mdin", &format!("t\n&cntrl {keys} /\n")).plan.forces;
    for keys in ["ntb = 0", "igb = 6", "ntb = 0, cut = 999.0, imin = 1", "ntb=0, cut=9999."] {
        let vacuum = forces(keys);
        assert_eq!((vacuum.cutoff, vacuum.cutoff_lj), (Setting::Given(None), Setting::Given(None)), "{keys}");
        assert_eq!(vacuum.electrostatics, ElectrostaticsSpec::Plain);
    }
    let short = forces("ntb = 0, cut = 12");
    assert_eq!((short.cutoff, short.electrostatics), (Setting::Given(Some(1.2)), ElectrostaticsSpec::Plain));
    let switched = forces("es_cutoff = 9, vdw_cutoff = 12.0, fswitch = 10, ntc = 3, ntf = 3");
    assert_eq!((switched.cutoff, switched.cutoff_lj), (Setting::Given(Some(0.9)), Setting::Given(Some(1.2))));
    assert_eq!(switched.lj_modifier, Setting::Given(LjModifier::ForceSwitch { from: 1.0 }));
    assert_eq!((switched.constraints, switched.rigid_water), (ConstraintKind::AllBonds, true));
    let uncorrected = text("x.mdin", "t\n&cntrl cut=9 /\n&EWALD vdwmeth=0 /").plan.forces;
    assert_eq!(uncorrected.dispersion_correction, Setting::Given(DispersionCorrection::Off));
    let mesh = text("x.mdin", "t\n&cntrl cut=9 /\n&EWALD vdwmeth=3, order=6 /");
    let by_spacing = LjPmeSpec::Spacing { spacing: 0.1, order: 6 };
    assert_eq!(mesh.plan.forces.dispersion_correction, Setting::Given(DispersionCorrection::Pme(by_spacing)));
}

#[test]
fn wrong_files_are_refused_at_their_lines() {
    for (keys, message) in [
        ("igb = 5", "no implicit solvent"),
        ("imin = 6", "imin = 6"),
        ("ntc = 4", "expected 1 (none)"),
        ("ntt = 7", "ntt = 7"),
        ("cutt = 9", "did you mean \"cut\"?"),
        ("dt = 2", "at most 100 fs"),
        ("nstlim = 1.5", "not a whole number"),
        ("cut = 8 9", "2 values"),
        ("irest = 1", "needs velocities"),
        ("ntx = 1, ntx = 1", "set twice"),
        ("ntb = 2", "ntb = 2 does not fit ntp = 0"),
        ("ntb = 1, ntp = 1", "ntb = 1 does not fit ntp = 1"),
        ("imin = 1, ntb = 2", "ntb = 2 does not fit ntp = 0"),
        ("imin = 1, nrespa = 2", "nrespa is greater than 1"),
        ("ntp = 1, nrespa = 2", "nrespa is greater than 1"),
    ] {
        let (line, found) = problem("x.mdin", &format!("title\n&cntrl\n {keys},\n/\n"));
        assert!(line == 3 && found.contains(message), "{keys}: {found}");
    }
}

#[test]
fn trial_moves_and_surface_tensions() {
    let barostat = |keys: &str| {
        let imported =
            text("x.mdin", &format!("x\n &cntrl irest=1, ntx=5, ig=1, ntt=3, gamma_ln=1, ntb=2, pres0=1, {keys} /\n"));
        (imported.dynamics().barostat.clone().unwrap(), imported.differing().join(" "))
    };
    let (trials, differing) = barostat("ntp=1, barostat=2");
    assert_eq!((trials.kind, trials.coupling), (BarostatKind::MonteCarlo, PressureCoupling::Isotropic));
    // 100 steps is the default of mcbarint
    assert_eq!((trials.every, differing.as_str()), (100, ""));
    assert_eq!(barostat("ntp=1, barostat=2, mcbarint=25").0.every, 25);
    let (each, differing) = barostat("ntp=2, barostat=1");
    assert_eq!((each.kind, each.coupling), (BarostatKind::Berendsen, PressureCoupling::Anisotropic));
    assert_eq!(differing, "");
    let (tension, differing) = barostat("ntp=3, barostat=2, csurften=3, gamma_ten=20, ninterface=2");
    assert_eq!((tension.coupling, differing.as_str()), (PressureCoupling::SemiIsotropic, ""));
    // 20 dyn/cm for each of two interfaces is 400 bar nm
    assert!((tension.surface_tension / BAR - 400.0).abs() < 1e-9, "{}", tension.surface_tension);
    let (_, found) = problem("x.mdin", "x\n &cntrl ntp=3, csurften=1 /\n");
    assert!(found.contains("set csurften = 3"), "{found}");
}

/// Keys of `&cntrl` and `&ewald` in the chapters of AMBER's manual on sander and pmemd, each with a value that is not
/// the default.
const KEYS: &str = "imin=1 nmropt=1 jar=1 ntx=5 irest=1 ntxo=2 ntpr=7 ntave=7 ntwr=7 iwrap=1 ntwx=7 ntwv=7 ntwf=7 ntwe=7 ioutfm=0 \
    ntwprt=7 idecomp=1 ibelly=1 ntr=1 restraint_wt=7 restraintmask=':1' bellymask=':1' maxcyc=7 ncyc=7 ntmin=2 dx0=7 drms=7 \
    nstlim=7 nscm=7 t=7 dt=0.002 nrespa=2 ntt=3 temp0=7 temp0les=7 tempi=7 ig=7 tautp=7 gamma_ln=7 vrand=7 vlimit=7 ntp=2 \
    barostat=2 mcbarint=7 pres0=7 comp=7 taup=7 baroscalingdir=1 csurften=3 gamma_ten=7 ninterface=3 ntc=2 tol=1e-6 jfastw=4 \
    noshakemask=':1' ivcap=1 fcap=7 ntf=2 ntb=0 dielc=7 cut=7 nsnb=7 ipol=1 ifqnt=1 igb=6 ievb=1 iamoeba=1 icfe=1 clambda=1 \
    nfft1=32 nfft2=32 nfft3=32 order=6 verbose=1 ew_type=1 dsum_tol=1e-6 ew_coeff=0.3 nbflag=0 skinnb=3 nbtell=1 netfrc=0 \
    vdwmeth=0 eedmeth=4 eedtbdns=7 column_fft=1 lj1264=1 fswitch=6 es_cutoff=7 vdw_cutoff=7";

#[test]
fn every_key_is_carried_over_or_spoken_of() {
    for setting in KEYS.split_whitespace() {
        let (key, _) = setting.split_once('=').unwrap();
        // some keys are valid only together with further keys: a restart and some switches require further keys, and a
        // minimisation has no time step
        let others = match key {
            "irest" => "ntx=5,",
            "ntx" => "irest=1,",
            "imin" => "",
            "ntt" => "gamma_ln = 1,",
            "vdwmeth" | "fswitch" => "cut = 8,",
            _ => "",
        };
        let imported = text("x.mdin", &format!("t\n&cntrl {others} {setting} /\n"));
        assert!(imported.speaks_of(key), "{key}\n{}\n{:#?}", imported.text, imported.remarks);
    }
}
