//! Whatever stops a run, the same command goes on, and what it leaves is bit for bit what an undisturbed run leaves.
//!
//! Every n-th call by which `md run` changes files meets a fault here. `MD_RELIABILITY=every` tries each of them, a number so
//! many-th, as `validation/reliability` describes.

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
