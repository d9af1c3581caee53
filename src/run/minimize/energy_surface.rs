//! Energy surface of a system for the minimiser: constraints, and a context with pair lists that are rebuilt when atoms
//! have moved too far.

use crate::backend::{Backend, Workload};
use crate::constraint::{ConstraintPlan, approach};
use crate::context::{Context, ListOrigins};
use crate::error::{Error, Problem, Result};
use crate::restraint::RestraintProgress;
use crate::run::minimize::Surface;
use crate::system::{Constraints, State, System};
use crate::team::Team;
use crate::vec3::Vec3;
use crate::virtual_sites::SitePlan;
use std::sync::Arc;

/// Context and constraints for the minimiser. The constraint algorithm treats all constrained atoms as atoms of unit
/// mass, so that projections on the constraints do not depend on the masses.
pub(in crate::run) struct ForceSurface<B: Backend + ?Sized = dyn Backend> {
    constraints: ConstraintPlan,
    /// constraints and inverse masses (1/amu), for start positions that violate the constraints; the inverse mass of a
    /// frozen atom is zero
    start: (Constraints, Vec<f64>),
    sites: SitePlan,
    team: Arc<Team>,
    /// state that is passed to the context for each evaluation; its velocities are zero
    state: State,
    /// atoms without mass: virtual sites, which follow other atoms, and frozen atoms
    massless: Vec<usize>,
    context: Context<B>,
}

impl<B: Backend + ?Sized> ForceSurface<B> {
    /// Creates the energy surface for the cell of `state`, from a context whose pair lists are rebuilt when atoms have
    /// moved too far. If a minimisation continues, `origin` holds the positions from which its pair lists were last
    /// built.
    pub(in crate::run) fn new(
        system: &System,
        mut context: Context<B>,
        state: &State,
        origin: Option<&[Vec3]>,
    ) -> Result<Self> {
        let atoms = system.topology.atoms.len();
        let constraints = ConstraintPlan::new(&system.constraints, &vec![1.0; atoms])?;
        let mut still = State { cell: state.cell, velocities: vec![Vec3::ZERO; atoms], ..State::default() };
        if let Some(origin) = origin {
            still.positions = origin.to_vec();
            let origins = ListOrigins { rebuilt: still.clone(), pruned: still.clone() };
            context.restore_lists(&origins, 0)?;
        }
        let (sites, team) = (SitePlan::new(&system.topology), Team::single());
        let mobility = |mass: f64| if mass > 0.0 { 1.0 / mass } else { 0.0 };
        let mobilities = system.topology.atoms.iter().map(|atom| mobility(atom.mass)).collect();
        let start = (system.constraints.clone(), mobilities);
        let massless = (0..atoms).filter(|&atom| system.topology.atoms[atom].mass == 0.0).collect();
        Ok(ForceSurface { constraints, start, sites, team, state: still, massless, context })
    }

    /// Describes the device, threads and instruction set of the context, for the log.
    pub(in crate::run) fn description(&self) -> String {
        self.context.backend().description()
    }

    /// Returns the progress of collective restraints, for a checkpoint.
    pub(in crate::run) fn restraints(&self) -> Vec<RestraintProgress> {
        self.context.backend().restraining().map_or_else(Vec::new, |restraining| restraining.progress().to_vec())
    }

    /// Returns the positions from which the pair lists were built.
    pub(in crate::run) fn origin(&self) -> Result<Vec<Vec3>> {
        Ok(self.context.list_origins()?.map_or_else(Vec::new, |origins| origins.rebuilt.positions))
    }
}

impl<B: Backend + ?Sized> Surface for ForceSurface<B> {
    fn evaluate(&mut self, positions: &mut [Vec3], forces: &mut [Vec3]) -> Result<f64> {
        self.sites.place(&self.team, positions);
        self.state.positions.clear();
        self.state.positions.extend_from_slice(positions);
        self.context.set_state(&self.state)?;
        match self.context.forces(Workload { energy: true, virial: false, ..Workload::FORCES }) {
            Ok(found) => {
                forces.copy_from_slice(&found.forces);
                self.massless.iter().for_each(|&atom| forces[atom] = Vec3::ZERO);
                Ok(found.energies.potential())
            }
            // a GPU cannot sum the huge forces of overlapping atoms, so the forces count as NaN and the energy as
            // infinite
            Err(Error::Unstable { .. }) => {
                forces.fill(Vec3::splat(f64::NAN));
                self.massless.iter().for_each(|&atom| forces[atom] = Vec3::ZERO);
                Ok(f64::INFINITY)
            }
            Err(error) => Err(error),
        }
    }

    fn satisfy(&mut self, reference: &[Vec3], positions: &mut [Vec3]) -> bool {
        self.constraints.satisfy(reference, positions).is_ok()
    }

    fn enforce(&mut self, positions: &mut [Vec3]) -> Result<()> {
        let mut reference = positions.to_vec();
        if self.constraints.satisfy(&reference, positions).is_ok() {
            return Ok(());
        }
        let (constraints, mobilities) = &self.start;
        approach(constraints, mobilities, &mut reference);
        positions.copy_from_slice(&reference);
        self.constraints.satisfy(&reference, positions).map_err(|failure| {
            let [i, j] = failure.atoms.map(|atom| atom + 1);
            let message = format!("no positions near the start satisfy the constraint between atoms {i} and {j}");
            Problem::new(message).help("check the coordinates of these atoms, or set constraints = \"none\"").into()
        })
    }

    fn project(&mut self, positions: &[Vec3], vectors: &mut [Vec3]) {
        // the projection fails only if the atoms of a constraint coincide; `satisfy` then refuses the displacement
        let _ = self.constraints.project(positions, vectors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::{Cuda, Emulated};
    use crate::backend::{Host, Reference};
    use crate::pair::ListSchedule;
    use crate::run::minimize::{MinimizeSettings, Minimizer};
    use crate::simd::Level;
    use crate::team::Team;
    use crate::testing::Sample;
    use crate::vec3::vec3;

    /// Buffer of the pair lists, nm.
    const BUFFER: f64 = 0.05;
    const STEPS: u64 = 12;
    /// Allowed relative error of energies with interactions in `f32`: the project's limit of 10⁻⁶ of the sum of the
    /// absolute energy terms.
    const ENERGY: f64 = 1e-6;
    /// Allowed relative difference between the energy decreases of two minimisations with the same start. Rounding
    /// errors grow during a minimisation, so two minimisations with the same start may end at different energies.
    const FALL: f64 = 0.2;

    fn surface<B: Backend>(sample: &Sample, backend: B, origin: Option<&[Vec3]>) -> ForceSurface<B> {
        let context = Context::new(Box::new(backend), lists(sample));
        ForceSurface::new(&sample.system, context, &sample.state, origin).expect("a surface")
    }

    fn lists(sample: &Sample) -> ListSchedule {
        ListSchedule::exact(sample.system.settings.longest_cutoff() + BUFFER)
    }

    fn gpu(sample: &Sample, origin: Option<&[Vec3]>) -> ForceSurface<Cuda<Emulated>> {
        let gpu = Cuda::new(&sample.system, Emulated::new(0), &lists(sample)).expect("a supported system");
        surface(sample, gpu, origin)
    }

    fn descend(mut minimizer: Minimizer, surface: &mut impl Surface, steps: u64) -> Minimizer {
        while minimizer.steps() < steps {
            minimizer.step(surface).expect("a step");
        }
        minimizer
    }

    fn begin(sample: &Sample, surface: &mut impl Surface) -> Minimizer {
        let settings = MinimizeSettings { energy_precision: 1e-7, ..MinimizeSettings::default() };
        Minimizer::new(settings, sample.state.positions.clone(), surface).expect("a start")
    }

    #[test]
    fn a_gpu_descends_as_the_reference_does() {
        for sample in [Sample::load("peptide-charged").rigid(), Sample::load("peptide-vacuum")] {
            let reference = || Reference::new(&sample.system).expect("a supported system");
            let host =
                Host::new(&sample.system, reference(), Level::Portable, Team::single()).expect("a supported system");
            let mut exact = surface(&sample, host, None);
            let mut surface = gpu(&sample, None);
            let (start, expected) = (begin(&sample, &mut surface), begin(&sample, &mut exact));
            let (top, fall) = (start.energy(), descend(expected, &mut exact, STEPS).energy());
            let found = descend(start, &mut surface, STEPS);
            assert!(((top - found.energy()) / (top - fall) - 1.0).abs() < FALL, "{} against {fall}", found.energy());
            let workload = Workload { energy: true, virial: false, ..Workload::FORCES };
            let e = reference().evaluate(sample.state.cell.as_ref(), found.positions(), workload).energies;
            let terms = [e.bond, e.angle, e.urey_bradley, e.proper, e.improper, e.cmap, e.lj, e.coulomb];
            let total: f64 = terms.iter().map(|term| term.abs()).sum();
            assert!((e.potential() - found.energy()).abs() <= ENERGY * total, "{} is {e:?}", found.energy());
        }
    }

    #[test]
    fn a_stored_descent_goes_on_with_the_same_bits() {
        let sample = Sample::load("peptide-charged").rigid();
        let mut surface = gpu(&sample, None);
        let half = descend(begin(&sample, &mut surface), &mut surface, STEPS / 2);
        let mut again = gpu(&sample, Some(&surface.origin().expect("an origin")));
        let whole = descend(half.clone(), &mut surface, STEPS);
        assert_eq!(whole.positions(), descend(half, &mut again, STEPS).positions());
    }

    #[test]
    fn virtual_sites_follow_their_atoms_down() {
        let sample = Sample::load("tip5p").rigid();
        let (sites, team) = (SitePlan::new(&sample.system.topology), Team::single());
        let reference = Reference::new(&sample.system).expect("a supported system");
        let host = Host::new(&sample.system, reference, Level::Portable, Team::single()).expect("a supported system");
        let mut surface = surface(&sample, host, None);
        let start = begin(&sample, &mut surface);
        let found = descend(start.clone(), &mut surface, STEPS);
        assert!(found.energy() < start.energy());
        let mut placed = found.positions().to_vec();
        sites.place(&team, &mut placed);
        assert_eq!(placed, found.positions());
    }

    #[test]
    fn a_trial_into_overlapping_atoms_is_infinitely_high() {
        let mut sample = Sample::load("water");
        sample.state.positions[30] = sample.state.positions[300] + vec3(0.02, 0.0, 0.0);
        let mut forces = vec![Vec3::ZERO; sample.state.positions.len()];
        let energy = gpu(&sample, None).evaluate(&mut sample.state.positions, &mut forces).expect("no failure");
        assert_eq!(energy, f64::INFINITY);
    }
}
