//! Any run that was stopped continues with the same command, and its results are bit for bit those of an undisturbed
//! run.
//!
//! These tests cause a fault at every n-th call with which `md run` changes files. `MD_RELIABILITY=every` tries every
//! call, a number n every n-th, as `validation/reliability` describes.

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
