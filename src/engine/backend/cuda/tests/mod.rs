//! Tests of the CUDA backend that need no GPU: terms, compilation, and whole steps on an emulated device.

mod cell;
mod clock;
mod failures;
mod forces;
mod host_forces;
mod lists;
mod mesh;
pub(crate) mod motion;
pub(crate) mod refreshment;
mod restraints;
mod terms;
mod volume;

use super::Cuda;
use super::device::read;
use super::emulator::device::Emulated;
use super::lists::sort;
use crate::backend::Backend;
use crate::pair::ListSchedule;
use crate::system::{State, System};

/// Returns the atoms in the order in which the kernels sort them.
pub(crate) fn sorted_on_device(system: &System, state: &State) -> Vec<u32> {
    let schedule = ListSchedule::exact(0.5);
    let mut cuda = Cuda::new(system, Emulated::new(0), &schedule).expect("a supported system");
    cuda.upload(state).expect("a state");
    sort(&cuda.device, &mut cuda.arguments, state.cell.as_ref()).expect("sorted atoms");
    let mut order = vec![0; cuda.arguments.atoms as usize];
    read(&cuda.device, cuda.arguments.slot_atom, &mut order).expect("an array");
    order
}
