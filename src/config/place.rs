//! Place where a value of the input file was written.

use std::ops::Range;
use std::rc::Rc;

use crate::error::Problem;

/// Place where a value was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// byte range of the input file
    File(Range<usize>),
    /// an option of the command line, as typed
    Option(Rc<str>),
    /// nowhere, because the value is a default
    Default,
}

impl Place {
    /// Adds this place to a problem.
    pub fn problem(&self, problem: Problem) -> Problem {
        match self {
            Place::File(span) => problem.at_span(span.clone()),
            Place::Option(typed) => Problem { message: format!("{typed}: {}", problem.message), ..problem },
            Place::Default => problem,
        }
    }
}
