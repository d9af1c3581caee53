//! Every kernel compiles for every kind of GPU, wherever the run-time compiler can be loaded: it needs no GPU.

use crate::backend::cuda::compiler;

/// Turing, Ampere, Hopper, Blackwell.
const ARCHITECTURES: [(i32, i32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

#[test]
fn kernels_compile_for_every_architecture() {
    if let Err(error) = compiler::check() {
        eprintln!("skipped: {error}");
        return;
    }
    for capability in ARCHITECTURES {
        let image = compiler::compile(capability).expect("the kernels compile");
        // an ELF file
        assert_eq!(&image[..4], b"\x7fELF");
    }
}
