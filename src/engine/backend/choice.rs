//! Constructors of boxed backends, for programs that choose the backend at run time.
//!
//! Rust compiles the methods of a generic type in every package that instantiates the type. The constructors of this
//! module instantiate [`Host`] and [`Cuda`], so both types are compiled in this package only.

use super::cuda::{Cuda, Emulated, Gpu, Programs};
use super::{Backend, Cpu, CpuOptions, Host, Serving, SharedReference};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::system::System;
use crate::team::Team;
use std::sync::Arc;

/// Returns the fast CPU backend.
pub fn cpu(system: &System, options: CpuOptions, team: Arc<Team>) -> Result<Box<dyn Backend>> {
    let level = options.level;
    let field = Cpu::new(system, options, Arc::clone(&team))?;
    Ok(Box::new(Host::new(system, field, level, team)?))
}

/// Returns the double-precision reference backend, whose pairs are shared among the ranks of `serving`; the other ranks
/// must be in [`Serving::serve`].
pub fn double_precision(system: &System, serving: &Serving) -> Result<Box<dyn Backend>> {
    let field = SharedReference::new(serving, system)?;
    Ok(Box::new(Host::new(system, field, serving.level, Arc::clone(&serving.team))?))
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
