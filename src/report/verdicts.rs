//! Judgements of a run as a referee would give them: each has a number, a threshold, and advice.

mod cell;
mod couplings;
mod energies;
mod restraints;
mod settings;

use super::folder::RunFolder;
use super::production::Production;

/// Judgement of one aspect of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// the aspect needs attention before results are used
    Problem,
    /// a fact that the reader should know
    Information,
    /// the aspect is as it should be
    Passed,
}

impl Judgement {
    /// Word for the reader.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Problem => "problem",
            Judgement::Information => "information",
            Judgement::Passed => "passed",
        }
    }
}

/// Judgement of one aspect of a run, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// the judgement
    pub judgement: Judgement,
    /// aspect that is judged
    pub aspect: &'static str,
    /// number that was found, with its unit
    pub found: String,
    /// condition that the number has to meet
    pub threshold: String,
    /// advice; empty if nothing has to be done
    pub advice: String,
}

impl Verdict {
    /// Judges an aspect: a problem with advice if `is_good` is false.
    fn of(
        aspect: &'static str,
        is_good: bool,
        found: impl Into<String>,
        threshold: impl Into<String>,
        advice: &str,
    ) -> Self {
        let judgement = if is_good { Judgement::Passed } else { Judgement::Problem };
        let advice = if is_good { String::new() } else { advice.to_owned() };
        Verdict { judgement, aspect, found: found.into(), threshold: threshold.into(), advice }
    }

    /// States a fact without a judgement.
    fn information(aspect: &'static str, found: impl Into<String>, advice: &str) -> Self {
        let (found, advice) = (found.into(), advice.to_owned());
        Verdict { judgement: Judgement::Information, aspect, found, threshold: String::new(), advice }
    }
}

/// Judges a run. Problems come first.
pub fn verdicts(run: &RunFolder, production: Option<&Production<'_>>) -> Vec<Verdict> {
    let mut found = settings::verdicts(run);
    if let Some(production) = production {
        found.extend(energies::verdicts(run, production));
        found.extend(couplings::verdicts(run, production));
        found.extend(cell::verdicts(run, production));
        found.extend(restraints::verdicts(run, production));
    }
    found.sort_by_key(|verdict| verdict.judgement);
    found
}
