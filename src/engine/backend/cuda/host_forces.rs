//! Forces that the host computes for a system on a device: restraints of collective variables ([`Restraining`]) and
//! external forces ([`ExternalForce`]). The code of the CPU backend computes these forces, so that no kernel contains
//! their formulas.
//!
//! Order of operations in a step:
//!
//! 1. A kernel gathers the positions (`f64`) of the atoms that the host needs: for restraints the atoms of the groups
//!    of the collective variables, and for external forces all atoms.
//! 2. The host waits, reads the positions, computes energies, forces and virial, and writes forces and virial.
//! 3. After the other forces, and before the forces on virtual sites are spread, a kernel adds the host's forces to the
//!    fixed-point forces. If the step has sums, the kernel also adds the host's virial, from which a barostat on the
//!    device computes the pressure. The kernel is part of the captured graph of the step.
//!
//! Cost: the device is idle during two copies, the computation on the host, and the launch of the next graph. If
//! displacements limit the lifetime of the pair lists, the host also checks the lists before every step. The check
//! takes one launch of the packing kernel and one more copy.
//!
//! The check of the pair lists guarantees that the device makes every step for which the host computes forces. A step
//! with host forces is never replayed, so that the work of moving restraint centers is added only once per step, and
//! each external force is called only once per evaluation.

use super::Cuda;
use super::device::{Device, allocate, give_back, over, read, store, write};
use super::kernel::Kernel;
use super::layout::Arguments;
use crate::backend::{Backend, Energies, External, ExternalForce};
use crate::cell::PeriodicCell;
use crate::error::{Error, Result};
use crate::restraint::Restraining;
use crate::vec3::{Mat3, Vec3};

/// External forces, and scratch memory for the forces that the host computes.
#[derive(Default)]
pub(super) struct HostForces {
    external: Vec<Box<dyn ExternalForce>>,
    /// atoms whose positions the host needs, in ascending order
    atoms: Vec<u32>,
    /// host copy of an array of the device: first the positions of `atoms` (nm), later in the step the forces on
    /// `atoms` (kJ/mol/nm)
    exchanged: Vec<Vec3>,
    /// positions (nm) and forces (kJ/mol/nm) in topology order; only the elements of `atoms` are used
    positions: Vec<Vec3>,
    forces: Vec<Vec3>,
    /// energy of the external forces, and (next field) of the restraints, in the last evaluation, kJ/mol
    external_energy: f64,
    restraint_energy: f64,
}

impl HostForces {
    /// Adds an external force.
    pub(super) fn push(&mut self, force: Box<dyn ExternalForce>) {
        self.external.push(force);
    }

    /// Returns the forces and the virial that were last written to the device; empty if the host computes no forces.
    pub(super) fn written(&self) -> &[Vec3] {
        if self.atoms.is_empty() { &[] } else { &self.exchanged }
    }

    /// Adds the energies that the host computed in the last evaluation to `energies`, which the device computed.
    pub(super) fn add_energies(&self, energies: &mut Energies) {
        energies.external += self.external_energy;
        energies.restraint += self.restraint_energy;
    }

    /// Computes forces and energies at the positions that were read from the device. Returns the virial W = Σ r⊗F,
    /// kJ/mol.
    fn evaluate(&mut self, cell: Option<&PeriodicCell>, restraints: &mut Restraining) -> Result<Mat3> {
        (self.external_energy, self.restraint_energy) = (0.0, 0.0);
        self.forces.fill(Vec3::ZERO);
        let mut sum = Mat3::ZERO;
        for force in &mut self.external {
            let External { energy, virial } = force.apply(cell, &self.positions, &mut self.forces);
            self.external_energy += energy;
            sum += virial;
        }
        let applied = restraints.apply_collective(cell, &self.positions, &mut self.forces)?;
        self.restraint_energy = applied.collective;
        Ok(sum + applied.virial)
    }
}

impl<D: Device> Cuda<D> {
    /// Returns whether the host computes some of the forces.
    pub(super) fn computes_on_host(&self) -> bool {
        self.arguments.host.count > 0
    }

    /// Determines the atoms that the host needs and allocates their arrays, after a change of restraints or external
    /// forces.
    pub(super) fn set_host_atoms(&mut self) -> Result<()> {
        let (device, a, host) = (&self.device, &mut self.arguments, &mut self.host_forces);
        let (all, external) = (self.masses.len(), !host.external.is_empty());
        host.atoms = if external { (0..all as u32).collect() } else { self.restraints.collective_atoms() };
        let (used, all) = (host.atoms.len(), if host.atoms.is_empty() { 0 } else { all });
        host.positions.resize(all, Vec3::ZERO);
        host.forces.resize(all, Vec3::ZERO);
        (host.external_energy, host.restraint_energy) = (0.0, 0.0);
        a.host.count = 0;
        give_back(device, [&mut a.host.atoms.0, &mut a.host.positions.0, &mut a.host.forces.0])?;
        a.host.atoms = store(device, &host.atoms)?;
        a.host.positions = allocate(device, used + 1)?;
        a.host.forces = allocate(device, used + 3)?;
        a.host.count = used as u32;
        self.epoch += 1;
        Ok(())
    }

    /// Waits for the device, computes the host's forces at the present positions, and writes the forces to the device.
    pub(super) fn compute_host_forces(&mut self) -> Result<()> {
        if !self.computes_on_host() {
            return Ok(());
        }
        self.gather_positions()?;
        let cell = self.cell()?;
        let virial = self.host_forces.evaluate(cell.as_ref(), &mut self.restraints)?;
        let HostForces { atoms, exchanged, forces, .. } = &mut self.host_forces;
        exchanged.clear();
        exchanged.extend(atoms.iter().map(|&atom| forces[atom as usize]));
        exchanged.extend(virial.0.map(Vec3::from));
        write(&self.device, self.arguments.host.forces, exchanged)
    }

    /// Reads the positions that the host needs. Returns an error if a step has failed.
    fn gather_positions(&mut self) -> Result<()> {
        self.device.launch(over(Kernel::GatherPositions, self.arguments.host.count), &self.arguments)?;
        let HostForces { atoms, exchanged, positions, .. } = &mut self.host_forces;
        exchanged.resize(atoms.len() + 1, Vec3::ZERO);
        read(&self.device, self.arguments.host.positions, exchanged)?;
        atoms.iter().zip(&*exchanged).for_each(|(&atom, &r)| positions[atom as usize] = r);
        if exchanged[atoms.len()].x == 0.0 {
            return Ok(());
        }
        self.check()?;
        Err(Error::Internal("the host's forces were requested before the pair lists were checked".into()))
    }
}

/// Adds the forces that the host has computed to the forces on the device, and adds their virial if `sums` is true.
pub(super) fn add(device: &impl Device, a: &Arguments, sums: bool) -> Result<()> {
    let kernel = if sums { Kernel::AddHostForcesSums } else { Kernel::AddHostForces };
    device.launch(over(kernel, a.host.count), a)
}
