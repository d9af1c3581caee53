//! Tests of the numbers that kernels compute, by flags of x86-64 processors.

#![cfg(target_arch = "x86_64")]

use super::*;
use crate::backend::{Backend, Host};
use crate::system::LjModifier;
use crate::testing::Sample;
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
                let options = CpuOptions { parts: 1, level, schedule: ListSchedule::exact(cutoff + 0.03) };
                let cpu = Cpu::new(&system, options, Team::single()).expect("a supported system");
                let mut host = Host::new(&system, cpu, level, Team::single()).expect("a supported system");
                host.upload(&state).expect("a state");
                host.build_lists().expect("lists");
                host.prune_lists(0.0).expect("lists");
                let flags = flags_of(|| host.forces(Workload::FORCES).expect("forces"));
                assert_eq!(flags & SUBNORMAL, 0, "{name}, {modifier:?}, {}: flags {flags:#x}", level.name());
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
