//! Words of the command line of `md analyze`: names of observables, and options with their values.

use std::ffi::OsStr;

use clap::{Arg, Command};

use crate::analysis::observables::{OBSERVABLES, ObservableEntry};

/// Whether a word is the name of an observable.
pub(super) fn is_observable(word: &OsStr) -> bool {
    ObservableEntry::named(word).is_some()
}

/// Whether `word` is an option of the command whose value is the next word.
pub(super) fn takes_value(command: &Command, word: &OsStr) -> bool {
    let Some(word) = word.to_str() else { return false };
    let option = |arg: &&Arg| match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => arg.get_long() == Some(long),
        (None, Some(short)) => arg.get_short().is_some_and(|c| short == c.to_string()),
        _ => false,
    };
    command.get_arguments().find(option).is_some_and(|arg| arg.get_action().takes_values())
}

/// Returns the error message for a word that is not an observable; the message suggests the observable with the most
/// similar name.
pub(super) fn unknown(word: &str) -> String {
    let nearest = crate::error::nearest(word, OBSERVABLES.iter().map(|entry| entry.name));
    let tip = nearest.map_or(String::new(), |name| format!("; did you mean \"{name}\"?"));
    format!(
        "unknown observable \"{word}\"{tip}\nmd analyze --help lists the observables; options follow their observable, \
         trajectories come last\n"
    )
}
