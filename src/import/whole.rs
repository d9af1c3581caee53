//! Merging of the translated files of a run. Each file becomes a stage, in the order of the files. Settings that `md`
//! has only once for all stages get their values from the last file. A [`Remark`] names every other file that has a
//! different value. Each stage keeps the output intervals of its file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::coupling::COLD;
use super::draft::{Finished, Place, Remark};
use super::settings::shortened;
use crate::config::{Line, write};
use crate::error::Problem;
use crate::format::read_coordinates;
use crate::observe::files::RESTRAINTS;
use crate::run::{Dynamics, Plan, Stage, StageKind, TrajectoryOptions, Velocities};

/// Merged translation of all files.
pub(super) struct Whole {
    pub(super) plan: Plan,
    pub(super) remarks: Vec<Remark>,
    /// translation of each file
    parts: Vec<Finished>,
}

/// Key of the random seed. The first file that sets a seed determines the seed of the run; the other files need not
/// repeat the seed.
const SEED: &str = "run.seed";
/// Value of [`SEED`] that requests a random seed, as TOML.
const RANDOM: &str = "\"random\"";

impl Whole {
    /// Merges the translations of at least one file.
    pub(super) fn new(mut parts: Vec<Finished>, base: &Path) -> Self {
        let last = parts.len() - 1;
        let mut plan = parts[last].plan.clone();
        let mut remarks = vec![];
        if last == 0 {
            remarks.append(&mut parts[0].remarks);
            let mut whole = Whole { plan, remarks, parts };
            let is_minimisation = |stage: &Stage| matches!(stage.kind, StageKind::Minimize(_));
            if whole.plan.stages.iter().all(is_minimisation) && !whole.plan.output.trajectories.is_empty() {
                whole.plan.output.trajectories.clear();
                whole.remarks.push(without_frames(&whole.parts[0]));
            }
            return whole;
        }
        plan.stages = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.plan.stages)).collect();
        different_names(&mut plan.stages);
        for part in &mut parts {
            let path = part.path.clone();
            let located = |remark: Remark| {
                let places = vec![Place { file: path.clone(), line: remark.line }];
                Remark { places, ..remark }
            };
            remarks.extend(std::mem::take(&mut part.remarks).into_iter().map(located));
        }
        let mut whole = Whole { plan, remarks, parts };
        whole.plan.run.seed = whole.parts[whole.decisive(SEED)].plan.run.seed;
        whole.output();
        whole.contradictions(base);
        whole.remarks = merged(std::mem::take(&mut whole.remarks));
        whole
    }

    /// Generates very slow velocities in each stage of dynamics that reads velocities from a file without velocities.
    /// Such a file is the final structure of a minimisation, and may be the coordinate file. `key` is the setting on
    /// which the remarks are.
    pub(super) fn start_at_rest(&mut self, key: &str) {
        let lacks_velocities = |path: &Path| {
            let coordinates = read_coordinates(path, None, None);
            coordinates.is_ok_and(|found| found.velocities.is_none())
        };
        let mut before: Option<&StageKind> = None;
        let mut at_rest = vec![];
        for (index, stage) in self.plan.stages.iter().enumerate() {
            if let StageKind::Dynamics(Dynamics { velocities: Velocities::File, .. }) = &stage.kind {
                let coordinates = &self.plan.system.coordinates;
                match before {
                    Some(StageKind::Minimize(_)) => {
                        at_rest.push((index, "a minimisation of GROMACS writes no velocities"))
                    }
                    None if lacks_velocities(coordinates) => {
                        at_rest.push((index, "the coordinates have no velocities"))
                    }
                    _ => {}
                }
            }
            before = Some(&stage.kind);
        }
        for (index, why) in at_rest {
            if let StageKind::Dynamics(dynamics) = &mut self.plan.stages[index].kind {
                dynamics.velocities = Velocities::Generate { temperature: COLD };
            }
            let text = format!("{why}, and GROMACS starts at rest: velocities are generated at {COLD} K");
            self.remarks.push(remark(&self.parts[index], key, "no", text));
        }
        self.remarks.sort_by_key(|remark| !remark.differs);
    }

    /// Returns the index of the file that determines the value of a key that all stages share.
    fn decisive(&self, key: &str) -> usize {
        let last = self.parts.len() - 1;
        if key != SEED {
            return last;
        }
        let given = self.parts.iter().position(|part| part.line(key).is_some());
        // if no file sets a seed, the default of the first file that uses random numbers applies
        given.or_else(|| self.parts.iter().position(|part| part.note(key).is_some())).unwrap_or(last)
    }

    /// Returns the lines of the input file, for a file in the folder `base`.
    pub(super) fn lines(&self, base: &Path) -> Vec<Line> {
        let mut lines = write(&self.plan, base, &|stage, key| self.note(stage, key));
        if self.has_random_seed() {
            for line in lines.iter_mut().filter(|line| line.key == SEED) {
                line.set_value(RANDOM);
            }
        }
        lines
    }

    /// Whether the foreign program draws a random seed.
    pub(super) fn has_random_seed(&self) -> bool {
        self.parts[self.decisive(SEED)].random_seed
    }

    /// Returns the comment on a key of a stage or, if `stage` is `None`, on a key that all stages share.
    pub(super) fn note(&self, stage: Option<usize>, key: &str) -> Option<String> {
        self.parts[stage.unwrap_or_else(|| self.decisive(key))].note(key)
    }

    /// Converts a problem of a key to a problem that names the original setting in the foreign file.
    pub(super) fn problem(&self, stage: Option<usize>, key: &str, problem: Problem) -> Problem {
        self.parts[stage.unwrap_or_else(|| self.decisive(key))].problem(key, problem)
    }

    /// Merges the output of all dynamics stages. Each stage keeps its own intervals.
    fn output(&mut self) {
        let is_dynamics = |stage: &Stage| matches!(stage.kind, StageKind::Dynamics(_));
        let dynamics: Vec<usize> = (0..self.parts.len()).filter(|&k| is_dynamics(&self.plan.stages[k])).collect();
        let output = &mut self.plan.output;
        output.trajectories.clear();
        for options in dynamics.iter().rev().flat_map(|&k| &self.parts[k].plan.output.trajectories) {
            if output.trajectories.iter().all(|other| other.file != options.file) {
                output.trajectories.push(options.clone());
            }
        }
        output.energies = dynamics.iter().rev().find_map(|&k| self.parts[k].plan.output.energies);
        output.restraints = dynamics.iter().rev().find_map(|&k| self.parts[k].plan.output.restraints);
        for (stage, part) in self.plan.stages.iter_mut().zip(&self.parts) {
            if !is_dynamics(stage) {
                if !part.plan.output.trajectories.is_empty() {
                    self.remarks.push(without_frames(part));
                }
                continue;
            }
            for name in self.plan.output.names() {
                let own = part.plan.output.every(&name);
                let has_rows = name != RESTRAINTS || !stage.restraints.is_empty();
                if own != self.plan.output.every(&name) && has_rows {
                    stage.output.every.insert(name, own);
                }
            }
            for options in &part.plan.output.trajectories {
                let same = |other: &&TrajectoryOptions| other.file == options.file;
                let taken = self.plan.output.trajectories.iter().find(same);
                if taken.is_some_and(|taken| *options != TrajectoryOptions { every: options.every, ..taken.clone() }) {
                    let text = "the last stage that writes the file sets velocities, forces, precision and atoms of \
                                its frames";
                    self.remarks.push(remark(part, "output.trajectory", &options.file, text.to_owned()));
                }
            }
        }
    }

    /// Adds remarks on settings that all stages share and for which the files have different values.
    fn contradictions(&mut self, base: &Path) {
        let values: Vec<BTreeMap<String, String>> = self.parts.iter().map(|part| values(part, base)).collect();
        let keys: BTreeSet<&String> = values.iter().flat_map(BTreeMap::keys).collect();
        for key in keys {
            let decisive = self.decisive(key);
            let value = |k: usize| values[k].get(key).map_or("none", String::as_str);
            let chosen = &self.parts[decisive];
            let line = chosen.line(key).map_or(String::new(), |line| format!(", line {line}"));
            let from = chosen.note(key).map_or(String::new(), |note| format!(" ({note})"));
            for (k, part) in self.parts.iter().enumerate() {
                if value(k) == value(decisive) || (key == SEED && part.line(key).is_none()) {
                    continue;
                }
                let own = part.note(key).map_or(String::new(), |note| format!("the value follows from {note}; "));
                let text = format!(
                    "{own}all stages use the value {} from {}{line}{from}",
                    shortened(value(decisive)),
                    chosen.path.display()
                );
                self.remarks.push(remark(part, key, value(k), text));
            }
        }
    }
}

/// Remark that the frames of a minimisation are not written.
fn without_frames(part: &Finished) -> Remark {
    remark(part, "output.trajectory", "", "a minimisation writes no frames".to_owned())
}

/// Returns the remark that the input file of `md` and the translated file `part` have different values for a key.
fn remark(part: &Finished, key: &str, value: &str, text: String) -> Remark {
    let line = part.line(key);
    let places = vec![Place { file: part.path.clone(), line }];
    Remark { key: key.to_owned(), value: shortened(value).to_owned(), line, places, differs: true, text }
}

/// Returns the keys that all stages share, except the output keys, with their values in TOML notation.
fn values(part: &Finished, base: &Path) -> BTreeMap<String, String> {
    // with a comment on every key, `write` also lists keys that have their default values
    let lines = write(&part.plan, base, &|_, _| Some(String::new())).into_iter();
    let of_run = lines.filter(|line| line.stage.is_none() && !line.key.is_empty() && !line.key.starts_with("output."));
    let mut values: BTreeMap<String, String> = of_run.map(|line| (line.key, line.value)).collect();
    if part.random_seed {
        values.insert(SEED.to_owned(), RANDOM.to_owned());
    }
    values
}

/// Appends a number to stage names that occur several times.
fn different_names(stages: &mut [Stage]) {
    for k in 1..stages.len() {
        let name = stages[k].name.clone();
        let is_free = |name: &String| stages[..k].iter().all(|stage| stage.name != *name);
        let mut names = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
        if let Some(free) = names.find(is_free) {
            stages[k].name = free;
        }
    }
}

/// Merges equal remarks of several files. Remarks on differences come before remarks on settings without meaning.
fn merged(remarks: Vec<Remark>) -> Vec<Remark> {
    let mut merged: Vec<Remark> = vec![];
    for remark in remarks {
        let same = |other: &&mut Remark| {
            (&other.key, &other.value, &other.text, other.differs)
                == (&remark.key, &remark.value, &remark.text, remark.differs)
        };
        match merged.iter_mut().find(same) {
            Some(other) => other.places.extend(remark.places),
            None => merged.push(remark),
        }
    }
    merged.sort_by_key(|remark| !remark.differs);
    merged
}
