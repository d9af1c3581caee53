//! Distribution of the atoms of a system over processes.

use crate::cell::PeriodicCell;
use crate::error::{Error, Result};
use crate::system::{CompactSystem, System};
use crate::vec3::Vec3;

/// The part of a system that this process holds: all atoms by default, or the home atoms of one rank. The backend
/// `Host` sums over the atoms of all processes with the functions of this trait, which all processes call together.
pub trait Distribution {
    /// Moves atoms to their new home processes, before a new outer list is built. Each array in `others` is empty or
    /// has one vector for each home atom; the vectors move with the atoms. Returns the system of the new home atoms, or
    /// `None` if the home atoms of this process cannot have changed.
    fn migrate(
        &mut self,
        _cell: Option<&PeriodicCell>,
        _positions: &mut Vec<Vec3>,
        _others: &mut [&mut Vec<Vec3>],
    ) -> Result<Option<System>> {
        Ok(None)
    }
    /// Whether the atoms can still be distributed over the processes if the cell becomes `cell`.
    fn fits(&self, _cell: &PeriodicCell) -> bool {
        true
    }
    /// Returns the home atoms of this process; `None` if this process holds all atoms.
    fn home(&self) -> Option<Home<'_>> {
        None
    }
    /// Returns whether this process counts the energies of terms that all processes evaluate. Exactly one process
    /// returns true.
    fn counts_shared_energies(&self) -> bool {
        true
    }
    /// Replaces each value, which is a sum over the home atoms of this process, by the sum over the atoms of all
    /// processes.
    fn sum(&self, _values: &mut [f64]) {}
    /// Returns the maximum of `value` over all processes.
    fn largest(&self, value: f64) -> f64 {
        value
    }
    /// Returns an error if a step has failed in any process.
    fn agree(&self, failure: Option<Error>) -> Result<()> {
        failure.map_or(Ok(()), Err)
    }
}

/// Home atoms of a process, as indices into the whole system.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// index in the topology of each home atom
    pub atoms: &'a [u32],
    /// whole system
    pub system: &'a CompactSystem,
    /// index in this process of each atom of the whole system. Only home atoms have an index below the number of home
    /// atoms. The array is empty before atoms are distributed
    pub numbers: &'a [u32],
}

impl Home<'_> {
    /// Converts the index of an atom in the whole system to its index among the home atoms. Returns `None` for an atom
    /// of another process.
    pub fn index(&self, atom: u32) -> Option<u32> {
        self.numbers.get(atom as usize).copied().filter(|&number| (number as usize) < self.atoms.len())
    }
}
