//! Tests that a stopped run continues with the same command, and that its results are bit for bit equal to the
//! results of an undisturbed run.
//!
//! These tests cause a fault at every n-th call with which `md run` changes files. `MD_RELIABILITY=every` tries every
//! call, and `MD_RELIABILITY=n` with a number n tries every n-th call, as `validation/reliability` describes.

#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at the first surprise and shows its figures"
)]

mod calls;
mod case;
mod disk;
mod heap;
mod journal;
mod mutate;
mod mutation;
mod originals;
mod power;
