//! Tests of the import of GROMACS' pull code and AMBER's DISANG files. Expected parameters were converted by hand from
//! the units of each program, and expected energies and forces were computed by the programs.

use std::f64::consts::PI;
use std::path::{Path, PathBuf};

use md::error::Error;
use md::import::{Files, Imported, import, import_text};
use md::prepare::ConstrainedTerms;
use md::restraint::{Potential, Restraining, RestraintSample, VariableKind, Well};
use md::run::{Interval, Restraint, load, restraints};
use proptest::prelude::*;

use super::{BASE, ImportedExt, damage, folder, same_plan, text};

fn system(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(name)
}

fn files_of(system_name: &str, kinds: [&str; 2], index: Option<&str>) -> Files {
    let path = |kind: &str| Some(system(system_name).join(format!("{system_name}.{kind}.xz")));
    Files {
        topology: path(kinds[0]),
        coordinates: path(kinds[1]),
        index: index.map(|name| folder().join(name)),
        ..Files::default()
    }
}

fn pulled() -> Imported {
    let files = files_of("peptide-charged", ["top", "gro"], Some("pull.ndx"));
    same_plan(import(&[folder().join("pull.mdp")], &files, Path::new(BASE)).unwrap())
}

fn refined() -> Imported {
    let files = files_of("peptide-vacuum", ["prmtop", "rst7"], None);
    same_plan(import(&[folder().join("restraints.mdin")], &files, Path::new(BASE)).unwrap())
}

/// Returns the values, energies and forces of all restraints of the stage at the starting coordinates.
fn at_start(imported: &Imported) -> Vec<RestraintSample> {
    let prepared = load(&imported.plan, ConstrainedTerms::Keep).unwrap();
    let mut all = restraints(&imported.plan, &prepared.system, &prepared.state).unwrap();
    let mut restraining = Restraining::new(all.remove(0), &[]);
    let mut forces = prepared.state.positions.clone();
    restraining.apply(prepared.state.cell.as_ref(), &prepared.state.positions, &mut forces).unwrap();
    restraining.samples().to_vec()
}

fn well(restraint: &Restraint) -> Well {
    match restraint.potential {
        Potential::Well(well) => well,
        Potential::Force(force) => panic!("a constant force {force}"),
    }
}

const HARMONIC: Well =
    Well { center: None, rate: 0.0, below: Some(0.0), above: Some(0.0), force_constant: 0.0, linear_beyond: None };

#[test]
fn pull_coordinates_are_restraints() {
    let imported = pulled();
    let [first, wall, angle, push, torsion, moving, high] = &imported.plan.stages[0].restraints[..] else { panic!() };
    assert_eq!((first.kind, first.groups.join(", ")), (VariableKind::Distance, "index 0-5, index 6-17".to_owned()));
    assert_eq!(well(first), Well { center: Some(0.35), rate: 0.01, force_constant: 1000.0, ..HARMONIC });
    assert_eq!((wall.along, wall.groups[1].as_str()), ([false, false, true], "index 18-23"));
    assert_eq!(well(wall), Well { center: Some(0.1), below: None, force_constant: 2000.0, ..HARMONIC });
    assert_eq!((angle.kind, &angle.groups[1]), (VariableKind::Angle, &first.groups[1]));
    assert!((well(angle).center.unwrap() - 7.0 * PI / 18.0).abs() < 1e-12);
    assert_eq!(push.potential, Potential::Force(-55.0));
    // the rate in the file is 0.5 deg/ps
    assert!((well(torsion).rate - PI / 360.0).abs() < 1e-14);
    assert!((well(torsion).center.unwrap() + PI / 3.0).abs() < 1e-12);
    assert_eq!(torsion.groups.last().unwrap(), "index 30");
    assert_eq!(well(moving), Well { rate: -0.002, force_constant: 500.0, ..HARMONIC });
    assert_eq!((high.kind, well(high).below, well(high).above), (VariableKind::Angle, Some(0.0), None));
    assert_eq!(imported.plan.output.restraints.unwrap(), Interval::Steps(5));
    assert_eq!(imported.differing(), Vec::<&str>::new());
}

/// Compares pull coordinates with `gmx mdrun` of GROMACS 2027-dev and `pull.mdp`. Values (nm, deg) and forces
/// (kJ/mol/nm, kJ/mol/rad) at step 0 have six digits and are computed from positions in single precision; the sum of
/// the energies is in kJ/mol.
#[test]
fn pull_coordinates_agree_with_gromacs() {
    const DIGITS: f64 = 2e-5;
    let values = [0.341_791, 0.302_228, 76.977, 0.290_792, 91.1002, 0.832_264, 82.1427];
    let forces = [8.208_49, -404.457, -1.826_56, -55.0, -31.6464, 0.0, 47.3733];
    let samples = at_start(&pulled());
    assert_eq!(samples.len(), values.len());
    for ((sample, value), force) in samples.iter().zip(values).zip(forces) {
        let found = if value > 1.0 { sample.value.to_degrees() } else { sample.value };
        assert!((found - value).abs() < DIGITS * value, "{found} {value}");
        // a distance of 0.008 nm loses its first two digits by cancellation
        assert!((sample.force - force).abs() < DIGITS * force.abs().max(50.0), "{} {force}", sample.force);
    }
    let energy: f64 = samples.iter().map(|sample| sample.energy).sum();
    assert!((energy - 126.816_490).abs() < 1e-3, "{energy}");
}

#[test]
fn what_the_pull_code_has_more_is_said() {
    let head = "pull = yes\npull-ncoords = 11\npull-group1-name = Protein\npull-group2-name = SOL\npull-group3-name = C\n\
        pull-group4-name = Water\npull-group4-weights = 1 2\n";
    let coordinates = "pull-coord1-groups = 1 2\npull-coord1-k = 1000\npull-coord1-init = 1\n\
        pull-coord2-groups = 1 3\npull-coord2-dim = N N Y\npull-coord2-type = flat-bottom\npull-coord2-init = 1.5\npull-coord2-k = 20\n\
        pull-coord3-groups = 0 1\npull-coord4-geometry = cylinder\npull-coord5-groups = 1 4\npull-coord5-k = 1\n\
        pull-coord6-groups = 1 2\npull-coord6-geometry = direction\npull-coord6-vec = 0 0 1\n\
        pull-coord7-groups = 1 2\npull-coord7-start = yes\npull-coord7-init = 0.1\npull-coord7-k = 3\n\
        pull-coord8-groups = 1 2\npull-coord8-type = constraint\npull-coord9-groups = 1 2\n\
        pull-coord10-geometry = angle\npull-coord10-groups = 2 1 2 3\npull-coord10-dim = Y Y N\npull-coord10-k = 9\n\
        pull-coord11-groups = 1 2\npull-coord11-start = yes\npull-coord11-type = flat-bottom\npull-coord11-k = 3\n";
    let imported = text("x.mdp", &format!("{head}{coordinates}"));
    assert_eq!(imported.plan.stages[0].restraints.len(), 1);
    let said = &imported.remark("pull").text;
    for expected in [
        "with selections instead of names, restraints = [{ kind = \"distance\", groups = [\"Protein\", \"C\"], along = \"z\", \
         upper = \"1.5 nm\", force_constant = \"20 kJ/mol/nm^2\" }]",
        "coordinate 3: md pulls groups only relative to other groups",
        "coordinate 4: md does not support the geometry cylinder",
        "coordinate 5: md has no atom weights",
        "coordinate 6: md has no signed component",
        "coordinate 7: md has no references with an offset from the initial value",
        "coordinate 8: md does not support pulling of type constraint",
        "coordinate 9: k = 0",
        "coordinate 10: md has no angle or dihedral of projected vectors",
        "coordinate 11: md has no walls relative to the initial value",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let minimised = text("x.mdp", &format!("integrator = steep\npull-coord1-rate = 1\n{head}{coordinates}"));
    assert!(minimised.remark("pull").text.contains("md has no moving restraints in a minimisation"));
}

#[test]
fn index_files_name_groups_everywhere() {
    let files = files_of("peptide-charged", ["top", "gro"], Some("pull.ndx"));
    let settings = "tcoupl = v-rescale\ntc-grps = First Last\ntau-t = 1 1\nref-t = 300 310\nfreezegrps = Oxygen\n\
        freezedim = Y Y Y\nnstxout-compressed = 5\ncompressed-x-grps = Last First\n";
    let imported = |text: &str| import_text(text, Path::new("x.mdp"), &files, Path::new(BASE));
    let found = same_plan(imported(settings).unwrap());
    assert_eq!(found.plan.stages[0].frozen.as_deref(), Some("index 30"));
    assert_eq!(found.plan.output.trajectories[0].select.as_deref(), Some("index 18-23 or index 0-5"));
    let thermostat = found.dynamics().thermostat.as_ref().unwrap();
    assert_eq!((thermostat.temperature.at(0.0), thermostat.groups[0].select.as_str()), (310.0, "index 0-5"));
    let unknown = imported("tcoupl = v-rescale\ntc-grps = First Frist\ntau-t = 1 1\nref-t = 300 310\n").unwrap_err();
    assert!(unknown.to_string().contains("the index file has no group Frist"), "{unknown}");
    // if an index file is given, only the groups of the index file exist
    assert_eq!(same_plan(imported("freezegrps = Protein\nfreezedim = Y Y Y").unwrap()).differing(), ["freezegrps"]);
}

#[test]
fn wrong_index_files_are_refused_at_their_lines() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.ndx");
    for (text, line, message) in [
        ("1 2\n[ A ]\n", 1, "before the first heading"),
        ("[ A ]\n1 0\n", 2, "\"0\" is not an atom number"),
        ("[ A ]\n1 x\n", 2, "\"x\" is not an atom number"),
        ("[ A ]\n4294967296\n", 2, "not an atom number"),
        ("[ A ]\n1\n[ B\n", 3, "lacks its closing bracket"),
    ] {
        std::fs::write(&path, text).unwrap();
        let files = Files { index: Some(path.clone()), ..Files::default() };
        let Err(Error::Input(problems)) = import_text("dt = 0.001", Path::new("x.mdp"), &files, Path::new(BASE)) else {
            panic!("{text}");
        };
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert!(problem.line == Some(line) && problem.message.contains(message), "{text}: {problem}");
        assert_eq!(problem.file.as_deref(), Some(path.as_path()));
        let for_amber = import_text("t\n &cntrl /\n", Path::new("x.mdin"), &files, Path::new(BASE));
        assert!(for_amber.unwrap_err().to_string().contains("applies only to a GROMACS mdp"));
    }
}

/// Tests the translation of DISANG files. Expected values use 1 kcal = 4.184 kJ, and a factor of 2 because AMBER's
/// energy has no ½.
#[test]
fn disang_files_are_restraints() {
    let imported = refined();
    let all = &imported.plan.stages[0].restraints;
    // an entry becomes two restraints if the force constants below and above its range differ, which is so for two
    // entries
    assert_eq!(all.len(), 15);
    let close =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found} {expected}");
    let [lower, upper] = [&all[0], &all[1]].map(well);
    assert_eq!((&all[0].groups[0], &all[0].groups[1]), (&"index 0".to_owned(), &"index 70".to_owned()));
    assert_eq!((lower.center, lower.below, lower.above), (Some(0.1), Some(0.0), None));
    // 2 · 20 kcal/mol/Å² in kJ/mol/nm²
    close(lower.force_constant, 16_736.0);
    close(lower.linear_beyond.unwrap(), 0.05);
    close(upper.force_constant, 25_104.0);
    assert_eq!((upper.center, upper.below, upper.above), (Some(0.12), None, Some(0.0)));
    // the entry has r0 and k0 only
    let simple = well(&all[4]);
    close(simple.center.unwrap(), 0.3);
    close(simple.force_constant, 5857.6);
    assert_eq!((simple.below, simple.above), (Some(0.0), Some(0.0)));
    assert_eq!(all[7].groups, ["index 0-4", "index 59-61"]);
    // the force constant is 2 · 5 kcal/mol/rad², and the center moves from 10 to 20 deg
    let angle = well(&all[9]);
    close(angle.force_constant, 41.84);
    close(angle.center.unwrap(), 15f64.to_radians());
    close(angle.above.unwrap(), 5f64.to_radians());
    let torsion = well(&all[11]);
    close(torsion.center.unwrap(), -60f64.to_radians());
    close(torsion.linear_beyond.unwrap(), 120f64.to_radians());
    assert_eq!(imported.plan.output.restraints.unwrap(), Interval::Steps(25));
    assert_eq!(imported.differing(), ["ntb"]);
}

/// Compares restraint energies with `sander` of AmberTools 26 and `restraints.mdin`. Penalties are in kcal/mol, to
/// three decimals, in the order of the file.
#[test]
fn disang_files_agree_with_sander() {
    const DECIMALS: f64 = 6e-4;
    let penalties = [140.210, 1925.746, 697.789, 7.905, 191.523, 2.552, 28.982, 5.114, 28.444, 9.543, 7.056, 4.320];
    let samples = at_start(&refined());
    // number of restraints of each entry: two if the force constants below and above the range differ
    let parts = [2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1];
    let mut rest = samples.iter();
    for (penalty, count) in penalties.into_iter().zip(parts) {
        let energy: f64 = rest.by_ref().take(count).map(|sample| sample.energy).sum::<f64>() / 4.184;
        assert!((energy - penalty).abs() < DECIMALS, "{energy} {penalty}");
    }
    assert_eq!(rest.len(), 0);
    let energy: f64 = samples.iter().map(|sample| sample.energy).sum::<f64>() / 4.184;
    assert!((energy - 3049.1820).abs() < DECIMALS, "{energy}");
}

/// Imports a DISANG file in a new folder, through an mdin file that names it.
fn with_disang(contents: &[u8]) -> Result<Imported, Error> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run.mdin");
    std::fs::write(place.path().join("a.dist"), contents).unwrap();
    import_text("t\n &cntrl nmropt = 1 /\nDISANG=a.dist\n", &path, &Files::default(), Path::new(BASE))
}

#[test]
fn what_disang_files_have_more_is_said() {
    let said = |list: &str| {
        let imported = same_plan(with_disang(format!("{list}\n").as_bytes()).unwrap());
        let remarks: Vec<String> =
            imported.remarks.iter().filter(|r| r.differs && r.key == "a card").map(|r| r.describe()).collect();
        (imported.plan.stages[0].restraints.len(), remarks.join("\n"))
    };
    let shape = "r1=0, r2=1, r3=2, r4=3, rk2=1, rk3=1";
    for (list, count, expected) in [
        (format!("&rst iat=1,2, {shape} /"), 1, ""),
        (
            format!("&rst iat=1,2, {shape}, ifvari=1 /\n&rst iat=1,2, ifvari=0 /"),
            1,
            "&rst in line 1: md does not translate ifvari",
        ),
        (format!("&rst iat=1,2, {shape}, nstep2=10 /\n&rst iat=3,4 /"), 0, "in line 2: md does not translate nstep2"),
        (format!("&rst iat=1,2,3,4,5, {shape} /"), 0, "md has no restraint on 5 atoms"),
        (format!("&rst iat=-1,2, igr1=3,4, {shape}, ir6=1 /"), 0, "does not translate ir6"),
        (format!("&rst iat=1,2,3,4, {shape}, r4=5 /"), 0, "linear region on both sides"),
        ("&rst iat=1,2, r1=3, r2=1, r3=2, r4=3, rk2=1, rk3=1 /".to_owned(), 0, "not in ascending order"),
        ("&rst restraint = 'distance( (45) (49) )', r2 = 1 /".to_owned(), 0, "does not translate restraint"),
        (format!("&rst iat=1,2, {shape}, rk2=0, rk3=0 /"), 0, ""),
        (format!("&rst iat=0, {shape} /\n&rst iat=1,2 /"), 0, ""),
        (format!("&rst iat=1.5,2, {shape} /"), 0, "no atom numbers"),
    ] {
        let (found, text) = said(&list);
        assert!(
            found == count && text.contains(expected) && text.is_empty() == expected.is_empty(),
            "{list}: {found} {text}"
        );
    }
    let weighed = "t\n &cntrl nmropt=1 /\n&wt type='REST', istep1=0, istep2=9, value1=0., value2=1. /\n&wt type='END' /\nDISANG=restraints.dist\n";
    let path = folder().join("x.mdin");
    let imported = import_text(weighed, &path, &Files::default(), Path::new(BASE)).unwrap();
    assert!(imported.plan.stages[0].restraints.is_empty());
    assert!(imported.remark("&wt").differs && imported.remark("a card").text.contains("the weight changes"));
    let nowhere = import_text(
        "t\n &cntrl nmropt=1 /\nDISANG=a.dist\n",
        Path::new("/nowhere/x.mdin"),
        &Files::default(),
        Path::new(BASE),
    );
    let message = nowhere.unwrap_err().to_string();
    assert!(message.contains("/nowhere/a.dist: cannot read the file"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_lists_are_translated_or_refused_in_words(damages in damage::damage(), disang in any::<bool>()) {
        let name = if disang { "restraints.dist" } else { "pull.ndx" };
        let damaged = damage::apply(&std::fs::read(folder().join(name)).unwrap(), &damages);
        let found = if disang {
            with_disang(&damaged)
        } else {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join(name);
            std::fs::write(&path, damaged).unwrap();
            let files = Files { index: Some(path), ..files_of("peptide-charged", ["top", "gro"], None) };
            import(&[folder().join("pull.mdp")], &files, Path::new(BASE))
        };
        match found {
            Ok(imported) => _ = same_plan(imported),
            Err(error) => prop_assert!(matches!(&error, Error::Input(_)), "{error}"),
        }
    }
}
