//! Forces on the atoms of one rank's domain.

use super::division::{ALONE, Divisible, Division, count_along};
use super::halo::Halo;
use super::local::{DivisionContext, Local};
use super::restrict::{Numbers, at_home, select_terms};
use crate::backend::{Cpu, Distribution, Evaluation, ForceField, Home, PairCounts, Phases, Workload};
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::memory;
use crate::ranks::{Purpose, Ranks};
use crate::system::{CompactSystem, ImpulseCycle, State, System, UnitKind};
use crate::vec3::Vec3;
use bytemuck::AnyBitPattern;

/// A rank's part of the system and of the forces. Positions and forces in the methods of [`ForceField`] belong to the
/// home atoms. All methods are collective: all ranks call them together.
pub(in crate::backend) struct Domain {
    ranks: Ranks,
    system: CompactSystem,
    cpu: Cpu,
    /// radius of the outer list, nm
    radius: f64,
    /// thickness of the halo at the last pair search, nm; zero before the first search
    reach: f64,
    division: Option<Division>,
    local: Local,
    halo: Halo,
    numbers: Numbers,
    /// positions of all local atoms: first home atoms, then halo atoms
    positions: Vec<Vec3>,
}

impl Domain {
    /// Creates a domain of a system, initially without atoms. `radius` (nm) is the radius of the outer list.
    pub(super) fn new(ranks: &Ranks, system: CompactSystem, cpu: Cpu, radius: f64) -> Self {
        Domain {
            ranks: ranks.clone(),
            system,
            cpu,
            radius,
            reach: 0.0,
            division: None,
            local: Local::default(),
            halo: Halo::default(),
            numbers: Numbers::default(),
            positions: vec![],
        }
    }

    /// Returns the division of the cell; `None` before the first call of [`Self::divide`].
    pub(super) fn division(&self) -> Option<&Division> {
        self.division.as_ref()
    }

    /// Returns the topology indices of the home atoms.
    fn own(&self) -> &[u32] {
        &self.local.atoms[..self.home_count()]
    }

    /// Returns the number of home atoms and the number of all local atoms.
    #[cfg(test)]
    pub(super) fn atoms_here(&self) -> (usize, usize) {
        (self.home_count(), self.local.atoms.len())
    }

    fn home_count(&self) -> usize {
        self.local.region.zone_starts.get(1).map_or(self.local.atoms.len(), |&home| home as usize)
    }

    /// Divides the cell and selects the home groups of this rank, unless the cell is divided already. `state` holds all
    /// atoms on the first rank, and is `None` on the other ranks. Returns the system of the home atoms if this call has
    /// divided the cell. All ranks call this function together.
    pub(super) fn divide(&mut self, state: Option<&State>) -> Result<Option<System>> {
        if self.division.is_some() {
            return Ok(None);
        }
        let ranks = self.ranks.for_purpose(Purpose::Commands);
        let divided = state.map_or_else(|| Ok((Division::default(), vec![])), |state| self.homes(state));
        let (division, mut homes) = ranks.agree(divided)?;
        let (division, groups) = ranks.scatter(|rank| (division.clone(), std::mem::take(&mut homes[rank])));
        self.local.atoms = groups.iter().flat_map(|&group| self.system.group(group)).collect();
        self.local.groups = groups;
        self.local.region = Default::default();
        self.division = Some(division);
        self.numbers.assign(self.system.atoms(), &self.local.atoms);
        Ok(Some(at_home(&self.system, &self.numbers, &self.local.atoms)))
    }

    /// Divides the cell, and returns the home groups of each rank. `state` holds all atoms.
    fn homes(&self, state: &State) -> Result<(Division, Vec<Vec<u32>>)> {
        let Domain { ranks, system, .. } = self;
        let groups = (0..system.groups() as u32).map(|group| system.group(group));
        let divisible = Divisible::of(&system.settings, groups, state, self.radius, ranks.count())?;
        for unit in system.units() {
            let UnitKind { bonded, exclusions, .. } = unit.kind;
            divisible.check_terms(bonded, exclusions, |atom| unit.number(atom), &state.positions)?;
        }
        let (division, cell) = (divisible.divided(ranks.count())?, divisible.cell);
        let homes = DivisionContext { ranks, division: &division, cell: &cell, system }.homes(&state.positions);
        Ok((division, homes))
    }

    /// Returns the state of the home atoms. `state` holds all atoms on the first rank, and is `None` on the other
    /// ranks. All ranks call this function together.
    pub(super) fn part_of(&self, state: Option<&State>) -> State {
        let ranks = self.ranks.for_purpose(Purpose::Commands);
        let own = ranks.collect_bytes(bytemuck::cast_slice(self.own()));
        ranks.scatter(|rank| {
            let (state, own) = state.zip(own.as_ref()).expect("the first rank has the state");
            let part = |all: &[Vec3]| -> Vec<Vec3> {
                if all.is_empty() { vec![] } else { values(&own[rank]).map(|atom: u32| all[atom as usize]).collect() }
            };
            let ImpulseCycle { slow, changes, .. } = &state.cycle;
            State {
                positions: part(&state.positions),
                velocities: part(&state.velocities),
                coupling: state.coupling.clone(),
                cycle: ImpulseCycle { slow: part(slow), changes: part(changes), ..state.cycle },
                ..*state
            }
        })
    }

    /// Collects the vectors of all atoms on the first rank; `all` stays empty on the other ranks. All ranks call this
    /// function together.
    pub(super) fn collect(&self, own: &[Vec3], all: &mut Vec<Vec3>) {
        let ranks = self.ranks.for_purpose(Purpose::Output);
        let numbers = ranks.collect_bytes(bytemuck::cast_slice(&self.own()[..own.len()]));
        let (Some(numbers), Some(vectors)) = (numbers, ranks.collect_bytes(bytemuck::cast_slice(own))) else { return };
        let known = vectors.iter().any(|bytes| !bytes.is_empty());
        memory::resize(all, if known { self.system.atoms() } else { 0 }, Vec3::ZERO);
        for (numbers, vectors) in numbers.iter().zip(&vectors) {
            values(numbers).zip(values(vectors)).for_each(|(atom, vector): (u32, Vec3)| all[atom as usize] = vector);
        }
    }

    /// Divides the cell anew, with planes between domains of equal work, and returns the division and the thickness
    /// (nm) of the halo. `positions` are the positions of the home atoms. The division depends only on the cell and the
    /// positions of all atoms, so that a continued run has the same domains. All ranks call this function together.
    fn divide_again(&self, ranks: &Ranks, cell: &PeriodicCell, positions: &[Vec3]) -> Result<(Division, f64)> {
        let division = self.division.as_ref().expect("a system is divided before its atoms migrate");
        let ground = DivisionContext { ranks, division, cell, system: &self.system };
        let reach = self.radius + 2.0 * ranks.largest(ground.group_radius(&self.local.groups, positions));
        let mut atoms = count_along(positions.iter().map(|&position| cell.to_fractional(position)));
        ranks.sum(atoms.as_flattened_mut());
        let mut division = Division::new(cell, &atoms, ranks.count(), reach)?;
        let widths = cell.face_distances();
        division.balance(&atoms, widths.map(|width| self.radius / width), widths.map(|width| reach / width));
        Ok((division, reach))
    }

    /// Updates the positions of all local atoms: copies the positions of the home atoms from `home` and receives the
    /// positions of the halo atoms. Calls `work` while the messages travel.
    fn fetch(&mut self, home: &[Vec3], work: impl FnOnce(&mut Cpu)) {
        let Domain { ranks, halo, cpu, positions, .. } = self;
        let (own, others) = positions.split_at_mut(home.len());
        own.copy_from_slice(home);
        halo.fetch(ranks, own, others, || work(cpu));
    }
}

/// Returns the numbers or vectors in the bytes of a message.
fn values<T: AnyBitPattern>(bytes: &[u8]) -> impl Iterator<Item = T> + '_ {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned)
}

impl Distribution for Domain {
    fn migrate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &mut Vec<Vec3>,
        others: &mut [&mut Vec<Vec3>],
    ) -> Result<Option<System>> {
        let Some(cell) = cell.filter(|_| self.division.is_some()) else { return Ok(None) };
        let ranks = &self.ranks.for_purpose(Purpose::Migration);
        let (division, reach) = self.divide_again(ranks, cell, positions)?;
        self.reach = reach;
        let ground = DivisionContext { ranks, division: &division, cell, system: &self.system };
        ground.migrate(&mut self.local.groups, positions, others);
        let home = std::mem::take(&mut self.local.groups);
        self.positions.clone_from(positions);
        (self.local, self.halo) = ground.add_halo(home, reach, &mut self.positions);
        self.numbers.assign(self.system.atoms(), &self.local.atoms);
        let share = select_terms(&self.system, &self.numbers, &self.local, cell, &self.positions);
        let own = [share.topology.bonded.total(), share.excluded.len(), positions.len()];
        let all = ranks.gather(&own);
        let counts = [0, 1, 2].map(|what| all.iter().map(|counts| counts[what]).sum::<usize>());
        let expected = [self.system.terms(), self.system.exclusions(), self.system.atoms()];
        if counts != expected {
            let what = format!(
                "of {expected:?} bonded terms, excluded pairs and atoms only {counts:?} belong to one domain with its halo: two \
                 atoms of a bonded term or of an excluded pair are too far from each other for the domains"
            );
            return Err(Problem::new(what).help(ALONE).into());
        }
        self.division = Some(division);
        self.cpu.select(&self.system.settings, share, self.local.region.clone());
        Ok(Some(at_home(&self.system, &self.numbers, self.own())))
    }

    fn fits(&self, cell: &PeriodicCell) -> bool {
        Division::exists(cell, self.ranks.count(), self.reach)
    }

    fn sum(&self, values: &mut [f64]) {
        self.ranks.for_purpose(Purpose::Sums).sum(values);
    }

    fn largest(&self, value: f64) -> f64 {
        self.ranks.for_purpose(Purpose::Sums).largest(value)
    }

    fn home(&self) -> Option<Home<'_>> {
        Some(Home { atoms: self.own(), system: &self.system, numbers: self.numbers.as_slice() })
    }

    fn counts_shared_energies(&self) -> bool {
        self.ranks.is_first()
    }

    fn agree(&self, failure: Option<Error>) -> Result<()> {
        self.ranks.for_purpose(Purpose::Sums).agree(failure.map_or(Ok(()), Err))
    }
}

impl ForceField for Domain {
    fn description(&self) -> String {
        self.cpu.description()
    }

    fn rebuild(&mut self, cell: Option<&PeriodicCell>, _: &[Vec3]) {
        self.cpu.rebuild(cell, &self.positions);
    }

    fn prune(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], margin: f64) {
        self.fetch(positions, |_| ());
        self.cpu.prune(cell, &self.positions, margin);
    }

    fn cell_changed(&mut self, cell: Option<&PeriodicCell>) {
        self.cpu.cell_changed(cell);
    }

    fn evaluate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) -> Result<()> {
        // the meshes of a rank need only home atoms: charges are spread while positions of halo atoms travel, and mesh
        // forces are gathered while forces on halo atoms travel
        self.fetch(positions, |cpu| {
            cpu.pack_home(positions);
            cpu.spread_charges(cell, workload);
        });
        let Domain { ranks, halo, cpu, positions: local, .. } = self;
        let home = positions.len();
        cpu.pack_halo(local);
        cpu.interact(cell, local, workload);
        memory::resize(&mut out.forces, local.len(), Vec3::ZERO);
        let (own, others) = out.forces.split_at_mut(home);
        cpu.collect(home, others);
        halo.return_forces(ranks, own, others, |own| {
            cpu.gather_meshes(cell, workload);
            cpu.collect(0, own);
        });
        out.forces.truncate(home);
        cpu.finish(cell, workload, out);
        Ok(())
    }

    fn phases(&self) -> Phases {
        self.cpu.phases()
    }

    fn pair_counts(&self) -> PairCounts {
        let own = self.cpu.pair_counts();
        let all = self.ranks.for_purpose(Purpose::Sums).gather(&own);
        all.into_iter().fold(PairCounts::default(), |sum, counts| sum + counts)
    }
}
