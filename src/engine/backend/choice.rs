//! Constructors of boxed backends, for programs that choose the backend at run time.
//!
//! Rust compiles the methods of a generic type in every package that instantiates the type. The constructors of this
//! module instantiate [`Host`] and [`Cuda`], so both types are compiled in this package only.

use super::cuda::{Cuda, Emulated, Gpu, Programs};
use super::{Backend, Cpu, CpuOptions, Host, Reference};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::simd::Level;
use crate::system::System;
use crate::team::Team;
use std::sync::Arc;

/// Returns the fast CPU backend.
pub fn cpu(system: &System, options: CpuOptions, team: Arc<Team>) -> Result<Box<dyn Backend>> {
    let level = options.level;
    let field = Cpu::new(system, options, Arc::clone(&team))?;
    Ok(Box::new(Host::new(system, field, level, team)?))
}

/// Returns the double-precision reference backend. `level` is the SIMD level of the constraint solver and the
/// integrator.
pub fn double_precision(system: &System, level: Level, team: Arc<Team>) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Host::new(system, Reference::new(system)?, level, team)?))
}

/// Returns the backend of the GPU with index `number`.
pub fn gpu(system: &System, number: u32, programs: &Programs, schedule: &ListSchedule) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Cuda::new(system, Gpu::open(number, programs)?, schedule)?))
}

/// Returns the backend of an emulated GPU, which runs on the CPU, for tests. The emulated GPU with number 0 works; an
/// emulated GPU with any other number lacks a kernel.
pub fn emulated_gpu(
    system: &System,
    number: u32,
    programs: &Programs,
    schedule: &ListSchedule,
) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Cuda::new(system, Emulated::open(number, programs)?, schedule)?))
}
