//! Verdicts on the quality of a run, as a referee of a publication might give them. Each verdict states a number, a
//! threshold for this number, and advice.

mod cell;
mod couplings;
mod energies;
mod means;
mod restraints;
mod settings;
#[cfg(test)]
mod tests;

use super::folder::RunFolder;
use super::production::Production;

/// Judgement of one aspect of a run, such as the drift of the energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// the aspect needs attention before the results of the run are used
    Problem,
    /// the aspect is not judged, but is reported as information for the reader
    Information,
    /// the aspect meets its threshold
    Passed,
}

impl Judgement {
    /// Returns the word for the judgement in a report.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Problem => "problem",
            Judgement::Information => "information",
            Judgement::Passed => "passed",
        }
    }
}

/// Judgement of one aspect of a run, with its reason and advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// whether the aspect is a problem
    pub judgement: Judgement,
    /// aspect of the run that is judged, as a heading
    pub aspect: &'static str,
    /// number on which the judgement is based, with its unit
    pub found: String,
    /// condition under which the judgement is [`Judgement::Passed`]
    pub threshold: String,
    /// advice to the user; empty if nothing has to be done
    pub advice: String,
}

impl Verdict {
    /// Creates a verdict. The judgement is `Passed` if `is_good` is true; otherwise the judgement is `Problem`, and the
    /// verdict contains the advice.
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

    /// Creates a verdict that states a fact without judging it.
    fn information(aspect: &'static str, found: impl Into<String>, advice: &str) -> Self {
        let (found, advice) = (found.into(), advice.to_owned());
        Verdict { judgement: Judgement::Information, aspect, found, threshold: String::new(), advice }
    }
}

/// Returns the verdicts on a run, problems first.
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
