//! The reference backend: double precision, plain loops over [`crate::term`], clarity before speed.
//!
//! It is what the fast backends are compared with, and what `precision = "double"` runs. Results do not depend on the
//! number of threads: parallel work is cut into fixed pieces whose sums are added in order.

mod bonded;
mod neighbours;
mod nonbonded;
mod sample;

use super::{DispersionTail, Energies, Evaluation, Workload};
use crate::cell::{PeriodicCell, displacement};
use crate::error::Problem;
use crate::pme::{self, ReferencePme};
use crate::system::{Electrostatics, System};
use crate::term::{CmapTable, MAX_PERIODICITY};
use crate::vec3::{Mat3, Vec3};
use nonbonded::PairPotential;
pub use sample::{ListsMade, Sampled, sample};

/// Forces and energies of one system in double precision.
pub struct Reference {
    system: System,
    charges: Vec<f64>,
    potential: PairPotential,
    tables: Vec<CmapTable>,
    tail: DispersionTail,
    pme: Option<ReferencePme>,
    scratch: nonbonded::Scratch,
}

/// Cell and positions.
#[derive(Clone, Copy)]
struct Geometry<'a> {
    cell: Option<&'a PeriodicCell>,
    positions: &'a [Vec3],
}

impl Geometry<'_> {
    /// r_i − r_j, nearest image.
    fn between(&self, i: u32, j: u32) -> Vec3 {
        displacement(self.cell, self.positions[i as usize] - self.positions[j as usize])
    }
}

/// The results while they are being summed.
struct Sums {
    forces: Vec<Vec3>,
    energies: Energies,
    virial: Mat3,
}

impl Sums {
    /// Zeros for so many atoms, reusing the memory of `forces`.
    fn new(mut forces: Vec<Vec3>, atoms: usize) -> Self {
        forces.clear();
        forces.resize(atoms, Vec3::ZERO);
        Sums { forces, energies: Energies::default(), virial: Mat3::ZERO }
    }

    /// A force on atom i and its opposite on j, with d = r_i − r_j.
    fn pair(&mut self, [i, j]: [u32; 2], d: Vec3, force: Vec3) {
        self.forces[i as usize] += force;
        self.forces[j as usize] -= force;
        self.virial += Mat3::outer(d, force);
    }

    /// Forces of one term, with the positions of its atoms relative to any common origin.
    fn add<const N: usize>(&mut self, atoms: [u32; N], positions: [Vec3; N], forces: [Vec3; N]) {
        for ((atom, position), force) in atoms.into_iter().zip(positions).zip(forces) {
            self.forces[atom as usize] += force;
            self.virial += Mat3::outer(position, force);
        }
    }
}

impl Reference {
    /// Refuses what the formulas do not cover: unusual periodicities, PME without a cutoff.
    pub fn new(system: &System) -> Result<Self, Problem> {
        check_system(system)?;
        let tables = system.topology.bonded.cmap_grids.iter().map(|g| CmapTable::new(g.size, &g.energies)).collect();
        let pme = match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => Some(ReferencePme::new(parameters)),
            _ => None,
        };
        Ok(Self {
            charges: system.topology.atoms.iter().map(|atom| atom.charge).collect(),
            potential: PairPotential::new(&system.settings),
            tables,
            tail: DispersionTail::new(system),
            pme,
            scratch: nonbonded::Scratch::default(),
            system: system.clone(),
        })
    }

    /// Forces, and the requested energies and virial, at `positions` (nm, topology order, wrapped or not).
    ///
    /// The caller guarantees that there is a cell where PME or a cutoff needs one, and that no cutoff exceeds its
    /// [`PeriodicCell::max_cutoff`].
    pub fn evaluate(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], workload: Workload) -> Evaluation {
        let mut out = Evaluation::default();
        self.evaluate_into(cell, positions, workload, &mut out);
        out
    }

    /// [`Self::evaluate`] into the memory of the last result.
    pub fn evaluate_into(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) {
        let (system, potential, charges) = (&self.system, &self.potential, &self.charges);
        let geometry = Geometry { cell, positions };
        let mut sums = Sums::new(std::mem::take(&mut out.forces), positions.len());
        bonded::evaluate(&system.topology.bonded, &self.tables, geometry, &mut sums);
        nonbonded::interacting_pairs(system, potential, charges, geometry, (&mut self.scratch, &mut sums));
        nonbonded::excluded_pairs(system.topology.exclusions.pairs(), potential, charges, geometry, &mut sums);
        nonbonded::pairs14(system, &system.topology.bonded.pairs14, geometry, &mut sums);
        if let Some(cell) = cell {
            let (energy, virial) = self.tail.at(cell.volume());
            sums.energies.dispersion_correction = energy;
            sums.energies.lj += energy;
            for (axis, row) in sums.virial.0.iter_mut().enumerate() {
                row[axis] += virial;
            }
        }
        if let Some(pme) = &mut self.pme {
            let cell = cell.expect("the plan gives PME a cell");
            let (energy, virial) = pme.evaluate(cell, positions, charges, &mut sums.forces);
            sums.energies.coulomb_reciprocal = energy;
            sums.energies.coulomb += energy;
            sums.virial += virial;
        }
        *out = Evaluation {
            forces: sums.forces,
            energies: if workload.energy { sums.energies } else { Energies::default() },
            virial: if workload.virial { sums.virial } else { Mat3::ZERO },
        };
    }

    /// Energies of the terms of `atom`, without the mesh.
    pub fn energies_of(&self, atom: u32, cell: Option<&PeriodicCell>, positions: &[Vec3]) -> Energies {
        let (system, geometry) = (&self.system, Geometry { cell, positions });
        let bonded = system.topology.bonded.of_atom(atom);
        let mut sums = Sums::new(vec![], positions.len());
        bonded::evaluate(&bonded, &self.tables, geometry, &mut sums);
        nonbonded::pairs_of(atom, system, &self.potential, geometry, &mut sums);
        nonbonded::pairs14(system, &bonded.pairs14, geometry, &mut sums);
        sums.energies
    }
}

/// Refuse what the formulas do not cover: unusual periodicities, PME without a cutoff.
pub fn check_system(system: &System) -> Result<(), Problem> {
    let topology = &system.topology;
    let torsions = topology.bonded.propers.iter().chain(&topology.bonded.impropers);
    if let Some(torsion) = torsions.clone().find(|torsion| torsion.periodicity > MAX_PERIODICITY) {
        return Err(Problem::new(format!(
            "the torsion of atoms {:?} has periodicity {}, the largest supported is {MAX_PERIODICITY}",
            torsion.atoms.map(|i| i + 1),
            torsion.periodicity
        )));
    }
    let settings = &system.settings;
    if let Electrostatics::Pme(parameters) = &settings.electrostatics {
        pme::check(parameters)?;
    }
    let needs_cutoff = matches!(settings.electrostatics, Electrostatics::Pme(_) | Electrostatics::ReactionField { .. });
    if needs_cutoff && settings.cutoff.is_none() {
        return Err(Problem::new("PME and reaction field need a cutoff").help("set `cutoff`, for example \"0.9 nm\""));
    }
    Ok(())
}
