//! Tests of trajectory files, which are read by md, by the HDF5 library and by Python packages, also after a kill of
//! the writer.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests stop at the first surprise")]

mod allocation;
mod batch;
mod convert;
mod coordinates;
mod cost;
mod crash;
mod damage;
mod ends;
mod foreign;
mod formats;
mod fuzz;
mod golden;
mod losses;
mod names;
mod others;
mod power;
#[path = "../python/probe.rs"]
mod probe;
mod python;
mod round_trip;
mod sample;
