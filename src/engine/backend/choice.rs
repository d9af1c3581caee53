//! Backends behind the trait, for programs that choose one when they run.
//!
//! The methods of a generic type are compiled in every package that makes one. Made by these functions, [`Host`] and
//! [`Cuda`] are compiled in this package alone.

use super::cuda::{Cuda, Emulated, Gpu, Programs};
use super::{Backend, Cpu, CpuOptions, Host, Reference};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::simd::Level;
use crate::system::System;
use crate::team::Team;
use std::sync::Arc;

/// The fast CPU backend.
pub fn cpu(system: &System, options: CpuOptions, team: Arc<Team>) -> Result<Box<dyn Backend>> {
    let level = options.level;
    let field = Cpu::new(system, options, Arc::clone(&team))?;
    Ok(Box::new(Host::new(system, field, level, team)?))
}

/// The reference in double precision; `level` serves constraints and the integrator.
pub fn double_precision(system: &System, level: Level, team: Arc<Team>) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Host::new(system, Reference::new(system)?, level, team)?))
}

/// The GPU of this number.
pub fn gpu(system: &System, number: u32, programs: &Programs, schedule: &ListSchedule) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Cuda::new(system, Gpu::open(number, programs)?, schedule)?))
}

/// An emulated GPU in the place of [`gpu`], for tests: the one of number 0 works, others forget a kernel.
pub fn emulated_gpu(
    system: &System,
    number: u32,
    programs: &Programs,
    schedule: &ListSchedule,
) -> Result<Box<dyn Backend>> {
    Ok(Box::new(Cuda::new(system, Emulated::open(number, programs)?, schedule)?))
}
