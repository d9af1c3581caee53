//! What can be checked of the CUDA backend without a GPU: terms, compilation, and whole steps on an emulated device.

mod compile;
mod failures;
mod forces;
mod lists;
mod motion;
mod sample;
mod terms;
