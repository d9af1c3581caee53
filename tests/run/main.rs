//! Whole runs of the program: interrupted, repeated, refused, and physically right.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod case;
mod files;
mod lists;
mod physics;
mod restart;
