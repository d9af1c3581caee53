//! Tests of `md import`: inputs of GROMACS and AMBER as in tutorials, every key, damaged files, and the command.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod amber;
mod command;
#[path = "../damage/mod.rs"]
mod damage;
mod gromacs;
mod medium;
mod restraints;
mod several;
mod start_time;

use std::path::{Path, PathBuf};

use md::config::Config;
use md::error::{Error, Problem};
use md::import::{Files, Imported, Remark, import_text};
use md::run::{Dynamics, Minimize, Plan, RunOptions, StageKind};
use proptest::prelude::*;

/// Folder of the imported input files.
const BASE: &str = "/work place";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/files")
}

fn files() -> Files {
    let path = |name: &str| Some(Path::new(BASE).join(name));
    Files { topology: path("system.top"), coordinates: path("system.gro"), ..Files::default() }
}

fn translated(name: &str, text: &str) -> Result<Imported, Vec<Problem>> {
    import_text(text, Path::new(name), &files(), Path::new(BASE)).map_err(|error| match error {
        Error::Input(problems) => problems,
        other => panic!("{other}"),
    })
}

/// Imports a text as the file `name`. The resulting input file must give the same plan when it is read.
#[track_caller]
fn text(name: &str, text: &str) -> Imported {
    same_plan(translated(name, text).unwrap_or_else(|problems| panic!("{problems:?}")))
}

#[track_caller]
fn same_plan(imported: Imported) -> Imported {
    assert_eq!(read_again(&imported).expect(&imported.text), imported.plan);
    imported
}

/// Reads the translated text. If the text requests a random seed, the plan has the seed of the plan from which the text
/// was written.
fn read_again(imported: &Imported) -> Result<Plan, Vec<Problem>> {
    Config::parse(&imported.text, &Path::new(BASE).join("input.toml"), &[]).map(|config| {
        let seed = if config.drawn_seed.is_some() { imported.plan.run.seed } else { config.plan.run.seed };
        Plan { run: RunOptions { seed, ..config.plan.run }, ..config.plan }
    })
}

#[track_caller]
fn file(name: &str) -> Imported {
    let imported = text(name, &std::fs::read_to_string(folder().join(name)).unwrap());
    assert_eq!(imported.plan.system.topology, Path::new(BASE).join("system.top"));
    assert!(imported.text.contains("topology = \"system.top\"\n"), "{}", imported.text);
    imported
}

impl ImportedExt for Imported {
    fn dynamics(&self) -> &Dynamics {
        match &self.plan.stages[..] {
            [stage] => match &stage.kind {
                StageKind::Dynamics(dynamics) => dynamics,
                StageKind::Minimize(_) => panic!("a minimisation"),
            },
            stages => panic!("{stages:?}"),
        }
    }

    fn minimisation(&self) -> Minimize {
        match &self.plan.stages[0].kind {
            StageKind::Minimize(minimize) => *minimize,
            StageKind::Dynamics(_) => panic!("dynamics"),
        }
    }

    fn remark(&self, key: &str) -> &Remark {
        let found = self.remarks.iter().find(|remark| remark.key == key);
        found.unwrap_or_else(|| panic!("nothing on {key}: {:#?}", self.remarks))
    }

    fn differing(&self) -> Vec<&str> {
        self.remarks.iter().filter(|remark| remark.differs).map(|remark| remark.key.as_str()).collect()
    }

    fn speaks_of(&self, key: &str) -> bool {
        let comments = self.text.lines().filter_map(|line| line.split_once("  # ")).map(|(_, comment)| comment);
        let quoted = |comment: &str| comment.split(", ").any(|one| one.starts_with(&format!("{key} =")));
        { comments }.any(quoted) || self.remarks.iter().any(|remark| remark.key == key)
    }
}

trait ImportedExt {
    fn dynamics(&self) -> &Dynamics;
    fn minimisation(&self) -> Minimize;
    fn remark(&self, key: &str) -> &Remark;
    /// keys whose effect in `md` differs from the effect in GROMACS or AMBER
    fn differing(&self) -> Vec<&str>;
    /// whether a comment or a remark names the key
    fn speaks_of(&self, key: &str) -> bool;
}

/// Returns the line number, the message and the help of the only problem of a text.
#[track_caller]
fn problem(name: &str, text: &str) -> (usize, String) {
    let problems = translated(name, text).map(|imported| imported.text).expect_err(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].file.as_deref(), Some(Path::new(name)));
    (problems[0].line.unwrap_or_default(), problems[0].to_string())
}

const SAMPLES: [&str; 8] = [
    "charmm-min.mdp",
    "charmm-npt.mdp",
    "tutorial-nvt.mdp",
    "tutorial-npt.mdp",
    "martini.mdp",
    "tutorial-min.mdin",
    "tutorial-heat.mdin",
    "tutorial-prod.mdin",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("CASES").map_or(500, |c| c.parse().unwrap()), failure_persistence: None, ..ProptestConfig::default() })]

    /// Tests damaged files. A file that can be read must become a plan, and every setting must be mentioned in the
    /// result. Any other file must be refused with an explanation.
    #[test]
    fn damaged_files_are_translated_or_refused_in_words(
        sample in prop::sample::select(SAMPLES.to_vec()),
        damages in damage::damage(),
    ) {
        let original = std::fs::read(folder().join(sample)).unwrap();
        let damaged = damage::apply(&original, &damages);
        match translated(sample, &String::from_utf8_lossy(&damaged)) {
            Ok(imported) => {
                prop_assert_eq!(read_again(&imported), Ok(imported.plan));
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty() && problems.iter().all(|problem| problem.file.is_some()));
            }
        }
    }

    #[test]
    fn any_text_is_refused_or_translated(text in "(&cntrl|&ewald|[a-z-]{1,8}|[0-9.]{1,4}|=|,|/|'|\"|!|;|\\*|\n| ){0,60}") {
        let _ = translated("any", &text);
    }
}

/// Tests that every time is written as a text that is read back as exactly the same number. Because of rounding, not
/// every number is the product of a number and a unit.
#[test]
fn every_time_is_spelled_so_that_it_reads_back() {
    for k in 1..200 {
        // the mantissas of the tested times are spread over the whole range
        let value = 0.02 * (1.0 + (f64::from(k) * 0.618_033_988_749_894_9).fract());
        let (fast, slow) = (value, 40.0 * value);
        let couplings =
            "tc-grps = Protein Water\nref-t = 300 300\nnstxout-compressed = 1\nref-p = 1\npcoupl = C-rescale";
        for integrator in ["sd", "md\ntcoupl = andersen", "md\ntcoupl = v-rescale"] {
            let settings =
                format!("{couplings}\nintegrator = {integrator}\ntau-t = {slow} {fast}\ncompressibility = {value}");
            text("x.mdp", &format!("{settings}\ntau-p = {slow}\ndt = {}\nrlist = {slow}\n", 0.1 * fast));
        }
        for thermostat in ["ntt = 2, vrand = 7", "ntt = 3, gamma_ln = ", "ntt = 1, tautp = "] {
            let number = if thermostat.ends_with("= ") { slow.to_string() } else { String::new() };
            let pressure = format!("ntp = 1, taup = {slow}, comp = {slow}, pres0 = {slow}");
            text("x.mdin", &format!("t\n &cntrl irest=1, ntx=5, dt = {fast}, {thermostat}{number}, {pressure} /\n"));
        }
    }
}

#[test]
fn what_is_no_input_is_refused() {
    for text in ["", "a title\nand nothing else\n", "&wt type = 'END' /\n".replace('=', " ").as_str()] {
        assert!(problem("x", text).1.contains("unknown format of an input file"), "{text}");
    }
}
