//! Tests of the import of several files as one input, and of position restraints in topologies.

use std::path::{Path, PathBuf};

use md::format::RestraintShape::{Harmonic, Sphere};
use md::format::{AtomRestraint, TopologyOptions, read_position_restraints};
use md::import::{Files, Imported, import_texts};
use md::restraint::ReferenceScaling;
use md::run::{Interval, StageKind, Velocities};

use super::{BASE, ImportedExt, files, same_plan};

#[track_caller]
fn of(inputs: &[(&str, &str)], files: &Files) -> Imported {
    let inputs: Vec<(&Path, String)> =
        inputs.iter().map(|(name, text)| (Path::new(*name), (*text).to_owned())).collect();
    same_plan(import_texts(&inputs, files, Path::new(BASE)).unwrap())
}

const FORCES: &str = "coulombtype = PME\nconstraints = h-bonds\n";

#[test]
fn each_file_is_a_stage_with_its_own_intervals_and_velocities() {
    let nvt = format!(
        "{FORCES}nsteps = 50\nnstenergy = 5\nnstxout-compressed = 0\ngen-vel = yes\ngen-temp = 310\ngen-seed = 7"
    );
    let npt = format!("{FORCES}nsteps = 60\nnstenergy = 10\nnstxout-compressed = 20\ncontinuation = yes");
    let imported = of(
        &[
            ("em.mdp", &format!("integrator = steep\n{FORCES}")),
            ("eq/nvt.mdp", &nvt),
            ("eq/npt.mdp", &npt),
            ("md.mdp", &npt.replace("60", "70").replace("20", "40")),
            ("more/md.mdp", &npt.replace("nstenergy = 10", "nstenergy = 0")),
        ],
        &files(),
    );
    let names: Vec<&str> = imported.plan.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, ["em", "nvt", "npt", "md", "md-2"]);
    assert!(matches!(imported.plan.stages[0].kind, StageKind::Minimize(_)));
    let steps: Vec<(u64, Velocities)> =
        imported.plan.dynamics().map(|(_, stage)| (stage.steps, stage.velocities)).collect();
    let drawn = Velocities::Generate { temperature: 310.0 };
    assert_eq!(steps, [(50, drawn), (60, Velocities::File), (70, Velocities::File), (60, Velocities::File)]);
    assert_eq!(imported.plan.run.seed, 7);
    let every = |name: &str| (1..5).map(|stage| imported.plan.intervals(name).of_stage(stage)).collect::<Vec<_>>();
    let steps = |steps: [u64; 4]| steps.map(|steps| (steps > 0).then_some(Interval::Steps(steps))).to_vec();
    assert_eq!(every("energies.csv"), steps([5, 10, 10, 0]));
    assert_eq!(every("trajectory.xtc"), steps([0, 20, 40, 20]));
    assert_eq!(imported.differing(), Vec::<&str>::new());
    assert!(
        imported
            .text
            .starts_with("# Made by `md import` from em.mdp, nvt.mdp, npt.mdp, md.mdp, md.mdp, GROMACS mdp files")
    );
}

/// A seed of -1 is a random seed. The first file that sets a seed decides, and a contradiction is named.
#[test]
fn the_seed_is_that_of_the_first_file_that_sets_one() {
    let coupled = format!("{FORCES}nsteps = 5\ntcoupl = v-rescale\ntc-grps = system\ntau-t = 1\nref-t = 300\n");
    let with = |seeds: [&str; 2]| {
        let [a, b] = seeds.map(|seed| format!("{coupled}{seed}"));
        of(&[("a.mdp", &a), ("b.mdp", &b)], &files())
    };
    let contradiction: &[&str] = &["run.seed"];
    for (seeds, line, differing) in [
        (["", ""], "seed = \"random\"", &[][..]),
        (["ld-seed = -1", ""], "seed = \"random\"", &[]),
        (["", "ld-seed = 7"], "seed = 7", &[]),
        (["ld-seed = -1", "ld-seed = 7"], "seed = \"random\"", contradiction),
        (["ld-seed = 7", "ld-seed = -1"], "seed = 7", contradiction),
    ] {
        let imported = with(seeds);
        assert!(imported.text.contains(&format!("\n{line} ")), "{seeds:?}: {}", imported.text);
        assert_eq!(imported.differing(), differing, "{seeds:?}");
    }
}

#[test]
fn contradictions_are_named_with_both_places() {
    let imported = of(
        &[
            ("em.mdp", "integrator = steep\ncoulombtype = PME\nrcoulomb = 1.2\ndefine = -DFLEXIBLE\ntinit = 5"),
            ("md.mdp", "coulombtype = PME\nnsteps = 3\ntinit = 5\nrcoulomb = 1.0"),
        ],
        &files(),
    );
    assert_eq!(imported.plan.forces, super::text("md.mdp", "coulombtype = PME\nnsteps = 3").plan.forces);
    assert_eq!(imported.plan.system.define, Vec::<String>::new());
    let described: Vec<String> =
        imported.remarks.iter().filter(|remark| remark.differs).map(|remark| remark.describe()).collect();
    assert_eq!(imported.differing(), ["tinit", "forces.cutoff", "system.define", "gen-vel"], "{described:#?}");
    assert_eq!(described[0], "tinit = 5, line 5 of em.mdp, line 3 of md.mdp: md counts the time from 0");
    assert_eq!(
        described[1],
        "forces.cutoff = \"1.2 nm\", line 3 of em.mdp: the value follows from rcoulomb = 1.2; all stages use the \
         value \"1 nm\" from md.mdp, line 4 (rcoulomb = 1.0)"
    );
}

/// Tests the velocities after minimisations, which write none: dynamics that read velocities start at rest in GROMACS.
#[test]
fn dynamics_after_a_minimisation_start_at_rest() {
    let (minimise, run) = (format!("integrator = steep\n{FORCES}"), format!("{FORCES}nsteps = 5\n"));
    let drawn = format!("{run}gen-vel = yes\ngen-temp = 310");
    let velocities = |inputs: &[&str]| {
        let inputs: Vec<(&str, &str)> = inputs.iter().map(|&text| ("x.mdp", text)).collect();
        let imported = of(&inputs, &files());
        let remarks =
            imported.remarks.iter().filter(|remark| remark.text.contains("a minimisation of GROMACS writes no"));
        (imported.plan.dynamics().map(|(_, stage)| stage.velocities).collect::<Vec<_>>(), remarks.count())
    };
    let [cold, warm] = [1e-3, 310.0].map(|temperature| Velocities::Generate { temperature });
    assert_eq!(velocities(&[&minimise, &run, &run]), (vec![cold, Velocities::File], 1));
    assert_eq!(velocities(&[&minimise, &drawn, &run]), (vec![warm, Velocities::File], 0));
    assert_eq!(velocities(&[&run, &minimise, &run]), (vec![Velocities::File, cold], 1));
}

#[test]
fn files_of_two_programs_and_wrong_files_are_refused() {
    let refused = |inputs: &[(&Path, String)]| import_texts(inputs, &files(), Path::new(BASE)).unwrap_err().to_string();
    let mdp = |name: &'static str, text: &str| (Path::new(name), text.to_owned());
    assert!(refused(&[]).contains("no file"));
    assert!(refused(&[mdp("a.mdp", "dt = 0.001"), mdp("b.mdin", "t\n &cntrl /\n")]).contains("a.mdp is a GROMACS mdp"));
    let both = refused(&[mdp("a.mdp", "rvwd = 1"), mdp("b.mdp", "dt = 0.001\nno setting\n")]);
    assert!(both.contains("a.mdp") && both.contains("b.mdp"), "{both}");
}

/// Topology with a molecule of three atoms and a molecule of one atom, and with position restraints inside `#ifdef`
/// blocks, as in the files of pdb2gmx and CHARMM-GUI.
const TOPOLOGY: &str = "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nX 6 12.0 0.0 A 0.3 0.4\n\
    [ moleculetype ]\nA 3\n[ atoms ]\n1 X 1 R C1 1 0\n2 X 1 R C2 1 0\n3 X 1 R C3 1 0\n\
    #ifdef POSRES\n#include \"posre.itp\"\n#endif\n#ifdef POSRES_FC\n[ position_restraints ]\n2 1 POSRES_FC POSRES_FC POSRES_FC\n#endif\n\
    [ moleculetype ]\nB 3\n[ atoms ]\n1 X 1 S C1 1 0\n#ifdef POSRES_B\n[ position_restraints ]\n1 1 0 0 500\n1 2 1 0.2 300\n#endif\n\
    [ system ]\nname\n[ molecules ]\nA 2\nB 1\nA 1\n";

fn topology() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("topol.top");
    std::fs::write(&path, TOPOLOGY).unwrap();
    let lines = "; heavy atoms\n[ position_restraints ]\n1 1 1000 1000 1000\n3 1 1000 1000 1000\n";
    std::fs::write(place.path().join("posre.itp"), lines).unwrap();
    (place, path)
}

#[test]
fn position_restraints_of_a_topology_are_those_of_its_macros() {
    let (_place, path) = topology();
    let read = |define: &[&str]| {
        let define = define.iter().map(|&name| name.to_owned()).collect();
        read_position_restraints(&path, &TopologyOptions { define, ..TopologyOptions::default() }).unwrap()
    };
    let all: Vec<AtomRestraint> =
        [0, 2, 3, 5, 7, 9].map(|atom| AtomRestraint { atom, shape: Harmonic([1000.0; 3]) }).to_vec();
    assert_eq!(read(&["POSRES"]), all);
    let shapes = [Harmonic([0.0, 0.0, 500.0]), Sphere { radius: 0.2, force_constant: 300.0 }];
    assert_eq!(read(&["POSRES_B"]), shapes.map(|shape| AtomRestraint { atom: 6, shape }));
    assert_eq!(read(&["POSRES_FC=40"])[1], AtomRestraint { atom: 4, shape: Harmonic([40.0; 3]) });
    assert_eq!(read(&[]), []);
}

#[test]
fn position_restraints_are_carried_over_by_force_constants() {
    let (place, path) = topology();
    let reference = place.path().join("reference.gro");
    let files = Files { topology: Some(path), reference: Some(reference.clone()), ..files() };
    let imported = of(
        &[
            ("nvt.mdp", "define = -DPOSRES -DPOSRES_FC=400.0 -DPOSRES_B\nrefcoord-scaling = all\nnsteps = 1"),
            ("npt.mdp", "nsteps = 1\ndefine = -DPOSRES"),
            ("md.mdp", "nsteps = 1"),
        ],
        &files,
    );
    let held = |stage: usize| {
        let restraints = imported.plan.stages[stage].position_restraints.iter();
        restraints.map(|one| (one.select.as_str(), one.force_constant.at(0.0), one.flat_radius)).collect::<Vec<_>>()
    };
    let all = "index 0 2-3 5 7 9";
    assert_eq!(held(0), [(all, 1000.0, 0.0), ("index 1 4 8", 400.0, 0.0), ("index 6", 300.0, 0.2)]);
    assert_eq!((held(1), held(2)), (vec![(all, 1000.0, 0.0)], vec![]));
    let first = &imported.plan.stages[0].position_restraints[0];
    assert_eq!((first.reference_scaling, first.reference.as_deref()), (ReferenceScaling::All, Some(&*reference)));
    // `none` is the default of refcoord-scaling in GROMACS
    assert_eq!(imported.plan.stages[1].position_restraints[0].reference_scaling, ReferenceScaling::None);
    assert_eq!(imported.differing(), ["define"]);
    assert!(imported.remark("define").text.contains("the first: 0 0 500"), "{:?}", imported.remark("define"));
}
