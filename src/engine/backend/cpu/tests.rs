//! Tests of the numbers that kernels compute, by flags of x86-64 processors.

#![cfg(target_arch = "x86_64")]

use super::*;
use crate::backend::{Backend, Host, Reference};
use crate::system::{DispersionCorrection, LjModifier, PmeParameters, State};
use crate::testing::Sample;
use crate::virtual_sites::SitePlan;
use std::arch::asm;

/// Sticky flags of the register MXCSR: an instruction had a subnormal operand, or a result too small for a normal
/// number.
const SUBNORMAL: u32 = 1 << 1 | 1 << 4;
/// All sticky flags of MXCSR.
const FLAGS: u32 = 0x3f;

/// Runs `work`, and returns the flags that it sets on this thread.
fn flags_of(work: impl FnOnce()) -> u32 {
    let mut register = 0u32;
    // SAFETY: the instructions copy the register to memory that is valid for writes, and back without its flags
    unsafe {
        asm!("stmxcsr [{to}]", to = in(reg) &raw mut register, options(nostack));
        register &= !FLAGS;
        asm!("ldmxcsr [{from}]", from = in(reg) &raw const register, options(nostack));
    }
    work();
    // SAFETY: the instruction copies the register to memory that is valid for writes
    unsafe { asm!("stmxcsr [{to}]", to = in(reg) &raw mut register, options(nostack)) };
    register & FLAGS
}

/// Returns the backend with pair lists for a cutoff (nm).
fn with_lists(system: &System, state: &State, level: Level, cutoff: f64) -> Host<Cpu> {
    let options = CpuOptions { parts: 1, level, schedule: ListSchedule::exact(cutoff + 0.03) };
    let cpu = Cpu::new(system, options, Team::single()).expect("a supported system");
    let mut host = Host::new(system, cpu, level, Team::single()).expect("a supported system");
    host.upload(state).expect("a state");
    host.build_lists().expect("lists");
    host.prune_lists(0.0).expect("lists");
    host
}

/// Intel processors take about 150 clock cycles for an instruction with a subnormal result, and empty slots, whose
/// distances are large, are in many blocks.
#[test]
fn forces_need_no_subnormal_numbers() {
    let (cutoff, from) = (0.9, 0.7);
    let modifiers =
        [LjModifier::PotentialShift, LjModifier::ForceSwitch { from }, LjModifier::PotentialSwitch { from }];
    for name in ["water", "peptide-charged"] {
        for modifier in modifiers {
            let Sample { mut system, state } = Sample::load(name);
            system.settings.lj_modifier = modifier;
            for level in Level::available().into_iter().filter(|&level| level != Level::Portable) {
                let mut host = with_lists(&system, &state, level, cutoff);
                let flags = flags_of(|| host.forces(Workload::FORCES).expect("forces"));
                assert_eq!(flags & SUBNORMAL, 0, "{name}, {modifier:?}, {}: flags {flags:#x}", level.name());
            }
        }
    }
}

/// Wave numbers at half of an even grid stand for both signs, whose wave vectors have different lengths in a triclinic
/// cell. The CPU mesh stores half of the spectrum along another axis than the reference.
#[test]
fn coarse_even_grids_of_triclinic_cells_are_those_of_the_reference() {
    let Sample { mut system, state } = Sample::load("octahedron");
    let everything = Workload { energy: true, virial: true, ..Workload::FORCES };
    for grid in [[16, 16, 16], [16, 15, 18], [18, 16, 15], [15, 18, 16]] {
        system.settings.electrostatics = Electrostatics::Pme(PmeParameters { alpha: 3.5, grid, order: 6 });
        let mut reference = Reference::new(&system).expect("a supported system");
        let exact = reference.evaluate(state.cell.as_ref(), &state.positions, everything);
        let mut host = with_lists(&system, &state, Level::Portable, 0.9);
        host.forces(everything).expect("forces");
        let ours = host.evaluation();
        let rms = |forces: &mut dyn Iterator<Item = Vec3>| forces.map(|f| f.norm_squared()).sum::<f64>().sqrt();
        let scale = rms(&mut exact.forces.iter().copied());
        let error = rms(&mut ours.forces.iter().zip(&exact.forces).map(|(a, b)| *a - *b));
        assert!(error < 2e-5 * scale, "{grid:?}: forces off by {:.1e}", error / scale);
        let terms: f64 = exact.energies.named().map(|(_, term)| term.abs()).sum();
        for (a, b) in ours.virial.0.as_flattened().iter().zip(exact.virial.0.as_flattened()) {
            assert!((a - b).abs() < 2e-6 * terms, "{grid:?}: virial {a} against {b}");
        }
    }
}

/// Compares forces and energies with those of the reference backend, for cutoffs at which tables begin at different
/// distances. The closest charges are 0.087 nm apart, and their interaction is excluded. In one system the virtual
/// sites of water are 0.0125 nm from oxygens that have charges, as extra points of lone pairs are.
#[test]
fn forces_are_those_of_the_reference_at_every_cutoff() {
    // limits of this project: RMS force error over RMS force, and error of an energy over the sum of the terms
    let (force, energy) = (2e-5, 1e-6);
    let everything = Workload { energy: true, ..Workload::FORCES };
    let rms = |forces: &mut dyn Iterator<Item = Vec3>| forces.map(|f| f.norm_squared()).sum::<f64>().sqrt();
    for (name, cutoff, lj_pme) in [
        ("tip4pew", 0.95, false),
        ("tip4pew", 1.05, true),
        ("tip4pew", 1.2, false),
        ("charged oxygen", 0.9, false),
        ("peptide-charmm36", 1.5, false),
        ("tip4pew", 2.5, true),
        ("peptide-charged", 4.5, false),
    ] {
        let is_charged = name == "charged oxygen";
        let Sample { mut system, mut state } = Sample::with_cutoff(if is_charged { "tip4pew" } else { name }, cutoff);
        for oxygen in system.topology.atoms.iter_mut().filter(|atom| is_charged && atom.element == 8) {
            oxygen.charge = -0.3;
        }
        if lj_pme {
            let parameters = PmeParameters { alpha: 2.0, grid: [32; 3], order: 5 };
            system.settings.dispersion_correction = DispersionCorrection::Pme(parameters);
            system.settings.lj_modifier = LjModifier::None;
        }
        SitePlan::new(&system.topology).place(&Team::single(), &mut state.positions);
        let mut reference = Reference::new(&system).expect("a supported system");
        let exact = reference.evaluate(state.cell.as_ref(), &state.positions, everything);
        let scale = rms(&mut exact.forces.iter().copied());
        let terms: f64 = exact.energies.named().map(|(_, term)| term.abs()).sum();
        for level in Level::available() {
            let mut host = with_lists(&system, &state, level, cutoff);
            host.forces(everything).expect("forces");
            let ours = host.evaluation();
            let mut exact_forces = exact.forces.clone();
            SitePlan::new(&system.topology).spread(&Team::single(), &state.positions, &mut exact_forces);
            let error = rms(&mut ours.forces.iter().zip(&exact_forces).map(|(a, b)| *a - *b));
            let what = format!("{name}, {cutoff} nm, {}", level.name());
            assert!(error < force * scale, "{what}: forces off by {:.1e}", error / scale);
            for ((term, a), (_, b)) in ours.energies.named().zip(exact.energies.named()) {
                assert!((a - b).abs() < energy * terms, "{what}: {term} {a} against {b}");
            }
        }
    }
}

#[test]
fn flags_tell_of_small_products() {
    let small = std::hint::black_box(1e-20f32);
    assert_ne!(flags_of(|| _ = std::hint::black_box(small * small)) & SUBNORMAL, 0);
    assert_eq!(flags_of(|| _ = std::hint::black_box(small * 0.5)) & SUBNORMAL, 0);
}
