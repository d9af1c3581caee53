//! Tests of whole runs of the program: interrupted, repeated and refused runs, and runs whose results are compared with
//! physical laws.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at the first surprise and shows its figures"
)]

mod case;
mod checkpoints;
mod ensembles;
mod exchange;
mod extended;
mod files;
mod identity;
mod lists;
mod locks;
mod long_steps;
mod minimisation;
mod missed;
mod outputs;
mod physics;
#[path = "../python/probe.rs"]
mod probe;
mod restart;
mod restraints;
mod signals;
mod steps;
mod successive;
mod swaps;
mod trust;
mod tuning;
mod unstable;
