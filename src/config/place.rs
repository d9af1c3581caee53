//! Origin of a value: the input file, the command line, or a default.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Problem;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// byte range of the input file
    File(Range<usize>),
    /// an option of the command line, as typed
    Option(Arc<str>),
    /// the default of the key
    Default,
}

impl Place {
    /// Adds this origin of a value to a problem.
    pub fn problem(&self, problem: Problem) -> Problem {
        match self {
            Place::File(span) => problem.at_span(span.clone()),
            Place::Option(typed) => Problem { message: format!("{typed}: {}", problem.message), ..problem },
            Place::Default => problem,
        }
    }
}
