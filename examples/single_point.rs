//! Computes the energy of a system, term by term, with the library.
//!
//!     cargo run --release --example single_point -- inputs/ala2-vacuum/input.toml
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use md::config::Config;
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::{Engine, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: single_point INPUT.toml")?;
    let config = Config::read(path.as_ref(), &[])?;
    let Prepared { system, state, .. } = load(&config.plan, ConstrainedTerms::Keep)?;
    let evaluation = Engine::new(&config.plan)?.single_point(&config.plan, &system, &state)?;
    for (name, energy) in evaluation.energies.named() {
        println!("{name:<24}{energy:>18.6} kJ/mol");
    }
    let largest = evaluation.forces.iter().map(|force| force.norm()).fold(0.0, f64::max);
    println!("{:<24}{largest:>18.6} kJ/mol/nm", "largest force");
    Ok(())
}
