//! Reference backend: double precision, plain loops over [`crate::term`], written for clarity rather than speed.
//!
//! Tests compare the fast backends with the reference backend, and `precision = "double"` selects the reference backend
//! for a run. Results do not depend on the number of threads: parallel work is divided into fixed chunks, whose sums
//! are added in order.

mod bonded;
mod neighbours;
mod nonbonded;
mod sample;

use super::{DispersionTail, Energies, Evaluation, Workload};
use crate::cell::{PeriodicCell, displacement};
use crate::ensemble::multiple_time_steps::LongRange;
use crate::error::Problem;
use crate::pme::{self, MeshPotential, ReferencePme};
use crate::ranks::Ranks;
use crate::system::{Electrostatics, ForceSettings, System};
use crate::term::{CmapTable, MAX_PERIODICITY};
use crate::vec3::{Mat3, Vec3};
use neighbours::Boxes;
use nonbonded::{PairPotential, PairSums};
pub use sample::{ListsMade, Sampled, sample};

/// Forces and energies of one system in double precision.
pub struct Reference {
    system: System,
    charges: nonbonded::Charges,
    potential: PairPotential,
    tables: Vec<CmapTable>,
    tail: DispersionTail,
    pme: Option<ReferencePme>,
    lj_pme: Option<ReferencePme>,
    /// scratch memory, reused in every step
    boxes: Boxes,
    pairs: PairSums,
}

/// Cell and positions, from which displacements are computed.
#[derive(Clone, Copy)]
struct Geometry<'a> {
    cell: Option<&'a PeriodicCell>,
    positions: &'a [Vec3],
}

impl Geometry<'_> {
    /// Returns the displacement r_i − r_j to the nearest image.
    fn between(&self, i: u32, j: u32) -> Vec3 {
        displacement(self.cell, self.positions[i as usize] - self.positions[j as usize])
    }
}

/// Forces, energies and virial during summation.
struct Sums {
    forces: Vec<Vec3>,
    energies: Energies,
    virial: Mat3,
}

impl Sums {
    /// Creates forces, energies and a virial of zero for `atoms` atoms, and reuses the memory of `forces`.
    fn new(mut forces: Vec<Vec3>, atoms: usize) -> Self {
        forces.clear();
        forces.resize(atoms, Vec3::ZERO);
        Sums { forces, energies: Energies::default(), virial: Mat3::ZERO }
    }

    /// Adds `force` to the force on atom i, −`force` to the force on atom j, and the virial of `force` with d = r_i −
    /// r_j.
    fn pair(&mut self, [i, j]: [u32; 2], d: Vec3, force: Vec3) {
        self.forces[i as usize] += force;
        self.forces[j as usize] -= force;
        self.virial += Mat3::outer(d, force);
    }

    /// Adds the forces of one term, and their virial. `positions` are the positions of the atoms of the term, relative
    /// to any common origin.
    fn add<const N: usize>(&mut self, atoms: [u32; N], positions: [Vec3; N], forces: [Vec3; N]) {
        for ((atom, position), force) in atoms.into_iter().zip(positions).zip(forces) {
            self.forces[atom as usize] += force;
            self.virial += Mat3::outer(position, force);
        }
    }
}

impl Reference {
    /// Creates the backend. Returns an error for settings that the formulas do not cover, see [`check_system`].
    pub fn new(system: &System) -> Result<Self, Problem> {
        check_system(system)?;
        let tables = system.topology.bonded.cmap_grids.iter().map(|g| CmapTable::new(g.size, &g.energies)).collect();
        let pme = match system.settings.electrostatics {
            Electrostatics::Pme(parameters) => Some(ReferencePme::new(parameters, MeshPotential::Coulomb)),
            _ => None,
        };
        let lj_pme = system.settings.lj_pme();
        Ok(Self {
            charges: nonbonded::Charges::new(system),
            potential: PairPotential::new(&system.settings),
            tables,
            tail: DispersionTail::new(system),
            pme,
            lj_pme: lj_pme.map(|parameters| ReferencePme::new(parameters, MeshPotential::Dispersion)),
            boxes: Boxes::default(),
            pairs: PairSums::default(),
            system: system.clone(),
        })
    }

    /// Computes forces, and the requested energies and virial, at `positions` (nm, topology order, wrapped or not).
    ///
    /// The caller guarantees that `cell` is given if the system uses PME or a cutoff, and that no cutoff exceeds the
    /// [`PeriodicCell::max_cutoff`] of the cell.
    pub fn evaluate(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], workload: Workload) -> Evaluation {
        let mut out = Evaluation::default();
        self.evaluate_into(cell, positions, workload, &mut out);
        out
    }

    /// Computes the same quantities as [`Self::evaluate`], and stores the results in the memory of `out`.
    pub fn evaluate_into(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) {
        self.evaluate_among(&Ranks::alone(), cell, positions, workload, out);
    }

    /// Computes the same quantities as [`Self::evaluate_into`] on rank 0 of `ranks`. The other ranks must call
    /// [`Self::compute_share`] for the same cell and positions at the same time. The results are the same bit for bit
    /// for any number of ranks.
    pub(in crate::backend) fn evaluate_among(
        &mut self,
        ranks: &Ranks,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) {
        self.compute_pairs(ranks, cell, positions);
        let (system, potential, charges) = (&self.system, &self.potential, &self.charges);
        let geometry = Geometry { cell, positions };
        out.impulse.clear();
        let mut sums = Sums::new(std::mem::take(&mut out.forces), positions.len());
        bonded::evaluate(&system.topology.bonded, &self.tables, geometry, &mut sums);
        let mut end = self.pairs.add_to(&mut sums, 0);
        for rank in 1..ranks.count() {
            let share: Option<PairSums> = ranks.receive_from(rank);
            end = share.map_or(end, |share| share.add_to(&mut sums, end));
        }
        let excluded = system.topology.exclusions.pairs();
        nonbonded::excluded_pairs(excluded, system, potential, charges, geometry, &mut sums);
        nonbonded::pairs14(system, &system.topology.bonded.pairs14, geometry, &mut sums);
        if let Some(cell) = cell {
            let (energy, virial) = self.tail.at(cell.volume());
            sums.energies.dispersion_correction = energy;
            sums.energies.lj += energy;
            for (axis, row) in sums.virial.0.iter_mut().enumerate() {
                row[axis] += virial;
            }
        }
        let impulse = &mut out.impulse.forces;
        match workload.long_range {
            LongRange::Ordinary => self.reciprocal_space(geometry, &mut sums, None),
            LongRange::Apart { .. } => {
                impulse.resize(positions.len(), Vec3::ZERO);
                self.reciprocal_space(geometry, &mut sums, Some(impulse));
            }
            LongRange::Skipped => {}
        }
        out.forces = sums.forces;
        out.energies = if workload.energy { sums.energies } else { Energies::default() };
        out.virial = if workload.virial { sums.virial } else { Mat3::ZERO };
    }

    /// Computes the interacting pairs of the atoms of this rank and sends the results to rank 0; see
    /// [`Self::evaluate_among`].
    pub(in crate::backend) fn compute_share(&mut self, ranks: &Ranks, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        self.compute_pairs(ranks, cell, positions);
        ranks.send(0, &self.pairs);
    }

    /// Computes the interacting pairs of the atoms of this rank.
    fn compute_pairs(&mut self, ranks: &Ranks, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        let Self { system, potential, charges, boxes, pairs, .. } = self;
        let atoms = nonbonded::share(positions.len(), ranks.rank(), ranks.count());
        nonbonded::interacting_pairs(system, potential, charges, Geometry { cell, positions }, atoms, boxes, pairs);
    }

    /// Adds the reciprocal-space terms. If `apart` is given, the reciprocal-space forces are added to `apart` instead
    /// of to `sums`.
    fn reciprocal_space(&mut self, geometry: Geometry<'_>, sums: &mut Sums, apart: Option<&mut Vec<Vec3>>) {
        let (Geometry { cell, positions }, charges) = (geometry, &self.charges);
        let forces = apart.unwrap_or(&mut sums.forces);
        if let Some(pme) = &mut self.pme {
            let cell = cell.expect("a system with PME has a cell");
            let (energy, virial) = pme.evaluate(cell, positions, &charges.coulomb, forces);
            sums.energies.coulomb_reciprocal = energy;
            sums.energies.coulomb += energy;
            sums.virial += virial;
        }
        if let Some(lj_pme) = &mut self.lj_pme {
            let cell = cell.expect("a system with LJ-PME has a cell");
            let (energy, virial) = lj_pme.evaluate(cell, positions, &charges.dispersion, forces);
            sums.energies.dispersion_correction = energy;
            sums.energies.lj += energy;
            sums.virial += virial;
        }
    }

    /// Returns the energies (kJ/mol) of all terms that contain `atom`, without the mesh.
    pub fn energies_of(&self, atom: u32, cell: Option<&PeriodicCell>, positions: &[Vec3]) -> Energies {
        let (system, geometry) = (&self.system, Geometry { cell, positions });
        let bonded = system.topology.bonded.of_atom(atom);
        let mut sums = Sums::new(vec![], positions.len());
        bonded::evaluate(&bonded, &self.tables, geometry, &mut sums);
        nonbonded::pairs_of(atom, system, &self.potential, &self.charges, geometry, &mut sums);
        nonbonded::pairs14(system, &bonded.pairs14, geometry, &mut sums);
        sums.energies
    }
}

/// Returns an error for settings that the formulas do not cover: torsion periodicities above [`MAX_PERIODICITY`],
/// unusable parameters of PME, LJ-PME with a Lennard-Jones switch, 12-6-4 ions with a Lennard-Jones switch, and PME or
/// a reaction field without a cutoff.
pub fn check_system(system: &System) -> Result<(), Problem> {
    let topology = &system.topology;
    let torsions = topology.bonded.propers.iter().chain(&topology.bonded.impropers);
    if let Some(torsion) = torsions.clone().find(|torsion| torsion.periodicity > MAX_PERIODICITY) {
        return Err(Problem::new(format!(
            "the torsion of atoms {:?} has periodicity {}; the largest supported periodicity is {MAX_PERIODICITY}",
            torsion.atoms.map(|i| i + 1),
            torsion.periodicity
        )));
    }
    let settings = &system.settings;
    if let Electrostatics::Pme(parameters) = &settings.electrostatics {
        pme::check(parameters)?;
    }
    check_lj_pme(settings)?;
    if !system.nonbonded.c4.is_empty() && settings.lj_switch().is_some() {
        let problem = Problem::new("12-6-4 ions cannot be combined with a Lennard-Jones switch");
        return Err(problem.help("set lj_modifier = \"potential-shift\" or \"none\""));
    }
    let needs_cutoff = matches!(settings.electrostatics, Electrostatics::Pme(_) | Electrostatics::ReactionField { .. });
    if needs_cutoff && settings.cutoff.is_none() {
        return Err(Problem::new("PME and reaction field need a cutoff").help("set `cutoff`, for example \"0.9 nm\""));
    }
    Ok(())
}

/// Returns an error if LJ-PME is used without a cutoff or with a switch. LJ-PME needs a truncated potential, with or
/// without a potential shift.
fn check_lj_pme(settings: &ForceSettings) -> Result<(), Problem> {
    let Some(parameters) = settings.lj_pme() else { return Ok(()) };
    pme::check(&parameters)?;
    if settings.cutoff_lj.is_none() {
        return Err(Problem::new("LJ-PME needs a cutoff").help("set `cutoff`, for example \"0.9 nm\""));
    }
    if settings.lj_modifier.switch_distance().is_some() {
        let problem = Problem::new("LJ-PME cannot be combined with a Lennard-Jones switch");
        return Err(problem.help("set lj_modifier = \"potential-shift\""));
    }
    Ok(())
}
