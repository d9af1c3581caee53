//! Pair interactions of the CPU backend: sorted atom data, pair lists, the kernel on every thread, and the reduction
//! of forces.

mod far_exclusions;

use super::apart::kept_apart;
use super::force_buffer::ForceBuffer;
use super::mesh::{Mesh, MeshInput};
use super::pair_dispersion::LjPme;
use super::pair_input::{CoulombTables, PairInput, PairOutput};
use super::pair_kernel::shift_virial;
use super::pair_types::PairTypes;
use super::pair_variants::{Variant, end_of, run};
use super::short_range::Slices;
use crate::arrays::map;
use crate::backend::PairCounts;
use crate::backend::local_terms::LocalTerms;
use crate::backend::potential::CoulombPotential;
use crate::cell::PeriodicCell;
use crate::memory;
use crate::pair::{
    BLOCK, CLUSTER, Grid, ListSchedule, Marks, NO_ATOM, PairList, PruneInput, Reach, Region, SearchInput,
    SearchScratch, SymmetricExclusions, prune_chunk, search_chunk,
};
use crate::pme::MeshPotential;
use crate::simd::{AlignedArrays, Level};
use crate::system::{Atom, Electrostatics, LjModifier, System, Topology};
use crate::team::{Team, locked};
use crate::term::LjSwitch;
use crate::units::COULOMB;
use crate::vec3::{Mat3, Vec3, vec3};
use far_exclusions::ExcludedForces;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Distance, as a fraction of the cutoff, within which at most one periodic image of a pair lies: the nearest image.
/// Only the nearest image is excluded; all other images are further apart, as the cell is at least two cutoffs wide.
const IMAGE_REACH: f64 = 1.0;

/// Maximum number of list chunks in a search task, for load balance. The number of chunks in a task does not affect the
/// contents of the chunks.
const CHUNKS: usize = 64;
/// Number of blocks in one task of packing or force reduction, small enough to give many threads equal work.
const BLOCKS: usize = 16;

/// Chunks of the list and results of one work partition.
#[derive(Default)]
struct Part {
    forces: ForceBuffer,
    chunks: Range<usize>,
    output: PairOutput,
}

/// Pair interactions of one system.
pub(super) struct Nonbonded {
    team: Arc<Team>,
    level: Level,
    /// charge times √(Coulomb constant), one per atom
    charges: Vec<f32>,
    types: PairTypes,
    /// index of the Lennard-Jones type of each atom in the types of the system
    lj_types: Vec<u32>,
    has_lj: Vec<bool>,
    /// whether each Lennard-Jones type interacts with at least one type
    interacting_types: Vec<bool>,
    /// whether each atom lacks a charge; empty if atoms without charge have no separate blocks
    apart_atoms: Vec<bool>,
    exclusions: SymmetricExclusions,
    excluded_pairs: Vec<[u32; 2]>,
    far_exclusions: Vec<[u32; 2]>,
    /// corrections of [`Self::far_exclusions`] in the last evaluation
    pub excluded_forces: ExcludedForces,
    coulomb: CoulombPotential,
    /// energy correction of all excluded pairs at distance zero, kJ/mol. The kernel adds only the dependence on the
    /// distance. Many excluded pairs have the same distance, as in rigid water, so that `f32` rounding errors of the
    /// full energies would add up
    excluded_at_contact: f64,
    tables: CoulombTables,
    /// treatment of Lennard-Jones interactions at the cutoff, see [`super::pair_rules`]
    end: u8,
    split: bool,
    cutoff: f64,
    cutoff_lj: f64,
    lj_shift: f32,
    c4_shift: f32,
    lj_switch: Option<LjSwitch<f64>>,
    lj_pme: Option<LjPme>,
    schedule: ListSchedule,
    pub grid: Grid,
    pub slot_charges: AlignedArrays<8>,
    /// √c6 for LJ-PME, one per slot; empty without LJ-PME
    pub slot_root_c6: AlignedArrays<8>,
    slot_lj: AlignedArrays<16>,
    slot_types: AlignedArrays<8>,
    /// bit masks of each cluster, which identify cluster pairs with possible exceptions to the combination rule; empty
    /// if all pairs of types follow the rule
    cluster_marks: Vec<Marks>,
    /// bit mask of each block: one bit per atom, set if the atom has Lennard-Jones interactions
    lj_lanes: Vec<u8>,
    pub packed: AlignedArrays<24>,
    outer: PairList,
    inner: PairList,
    /// scratch memory of the search, one per thread
    scratch: Vec<Mutex<SearchScratch>>,
    ranges: Vec<Range<usize>>,
    parts: Vec<Part>,
    /// forces (kJ/mol/nm) on the slots of each block, summed over threads
    pub total: AlignedArrays<24>,
    /// reciprocal-space forces (kJ/mol/nm) on the slots of each block, if they are stored separately
    pub apart: AlignedArrays<24>,
    virial_parts: Vec<Mat3>,
}

impl Nonbonded {
    /// Creates the interactions of a system, without the energy of excluded pairs at distance zero, see
    /// [`Self::count_excluded`]. `counts` are the numbers of atoms of each Lennard-Jones type.
    pub(super) fn new(
        system: &System,
        counts: &[usize],
        schedule: ListSchedule,
        parts: usize,
        level: Level,
        team: Arc<Team>,
    ) -> Self {
        let settings = &system.settings;
        let atoms = &system.topology.atoms;
        let coulomb = CoulombPotential::new(settings);
        let cutoff = settings.cutoff.unwrap_or(f64::INFINITY);
        let cutoff_lj = settings.cutoff_lj.unwrap_or(f64::INFINITY);
        let nonbonded = &system.nonbonded;
        let types = 0..nonbonded.types as u32;
        let interacts: Vec<bool> =
            types.clone().map(|t| types.clone().any(|other| nonbonded.interact(t, other))).collect();
        let mut excluded_pairs = Vec::with_capacity(system.topology.exclusions.len());
        excluded_pairs.extend(system.topology.exclusions.pairs());
        let charges = kernel_charges(settings.electrostatics, atoms);
        let is_shifted = settings.lj_modifier == LjModifier::PotentialShift;
        let shift = |power: i32| if is_shifted { cutoff_lj.powi(-power) as f32 } else { 0.0 };
        let has_lj: Vec<bool> = atoms.iter().map(|a| interacts[a.lj_type as usize]).collect();
        Nonbonded {
            team,
            level,
            types: PairTypes::new(system, counts),
            lj_types: atoms.iter().map(|a| a.lj_type).collect(),
            interacting_types: interacts,
            apart_atoms: kept_apart(&charges, &has_lj),
            charges,
            has_lj,
            exclusions: SymmetricExclusions::new(atoms.len(), &system.topology.exclusions),
            excluded_pairs,
            far_exclusions: vec![],
            excluded_forces: ExcludedForces::default(),
            tables: CoulombTables::new(&coulomb, settings.cutoff),
            coulomb,
            excluded_at_contact: 0.0,
            end: end_of(settings),
            split: cutoff != cutoff_lj,
            cutoff,
            cutoff_lj,
            lj_shift: shift(6),
            c4_shift: shift(4),
            lj_switch: settings.lj_switch(),
            lj_pme: LjPme::new(system),
            schedule,
            grid: Grid::default(),
            slot_charges: AlignedArrays::default(),
            slot_root_c6: AlignedArrays::default(),
            slot_lj: AlignedArrays::default(),
            slot_types: AlignedArrays::default(),
            cluster_marks: vec![],
            lj_lanes: vec![],
            packed: AlignedArrays::default(),
            outer: PairList::default(),
            inner: PairList::default(),
            scratch: (0..parts).map(|_| Mutex::default()).collect(),
            ranges: vec![],
            parts: (0..parts).map(|_| Part::default()).collect(),
            total: AlignedArrays::default(),
            apart: AlignedArrays::default(),
            virial_parts: vec![],
        }
    }

    /// Sets the energy of all excluded pairs of a system at distance zero.
    pub(super) fn count_excluded(&mut self, System { topology, settings, .. }: &System) {
        let charges = kernel_charges(settings.electrostatics, &topology.atoms);
        let product = |[i, j]: [u32; 2]| f64::from(charges[i as usize]) * f64::from(charges[j as usize]);
        let products = topology.exclusions.pairs().map(product).sum::<f64>();
        self.excluded_at_contact = self.coulomb.excluded_at_contact() * products;
    }

    /// Replaces the atoms of the system by the atoms of a domain.
    pub(super) fn select(&mut self, electrostatics: Electrostatics, terms: LocalTerms, region: Region) {
        let LocalTerms { topology: Topology { atoms, exclusions, .. }, excluded } = terms;
        self.charges = kernel_charges(electrostatics, &atoms);
        self.lj_types.clear();
        self.lj_types.extend(atoms.iter().map(|atom| atom.lj_type));
        self.has_lj.clear();
        self.has_lj.extend(self.lj_types.iter().map(|&lj_type| self.interacting_types[lj_type as usize]));
        self.apart_atoms = kept_apart(&self.charges, &self.has_lj);
        self.exclusions = SymmetricExclusions::new(atoms.len(), &exclusions);
        self.excluded_pairs = excluded;
        if let Some(lj_pme) = &mut self.lj_pme {
            lj_pme.select(&self.lj_types);
        }
        self.grid.region = Some(region);
    }

    /// Sorts the atoms and builds the outer list. A call of [`Self::prune`] must follow to build the inner list.
    pub(super) fn rebuild(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]) {
        self.grid.build(cell, positions, &self.has_lj, &self.apart_atoms);
        self.fill_slots();
        let blocks = self.grid.blocks();
        self.packed.resize(blocks);
        self.total.resize(blocks);
        self.find_far_exclusions(cell, positions);
        self.pack(0..blocks, positions);
        self.outer.resize(&self.grid);
        let input = SearchInput {
            grid: &self.grid,
            packed: &self.packed,
            cell,
            exclusions: &self.exclusions,
            far_exclusions: &self.far_exclusions,
            exclusion_reach: IMAGE_REACH * self.cutoff,
            has_lj: &self.has_lj,
            marks: &self.cluster_marks,
            radius: self.schedule.outer,
        };
        let (scratch, level) = (&self.scratch, self.level);
        self.outer.chunks.par_iter_mut().enumerate().with_max_len(CHUNKS).for_each(|(index, chunk)| {
            let thread = rayon::current_thread_index().unwrap_or(0) % scratch.len();
            let mut scratch = locked(&scratch[thread]);
            search_chunk(level, input, index, &mut scratch, chunk);
        });
        self.outer.split(self.parts.len(), &mut self.ranges);
    }

    /// Copies charges and Lennard-Jones parameters into slot order.
    fn fill_slots(&mut self) {
        let blocks = self.grid.blocks();
        self.slot_charges.resize(blocks);
        self.slot_lj.resize(blocks);
        self.slot_types.resize(blocks);
        memory::resize(&mut self.lj_lanes, blocks, 0);
        let Nonbonded { grid, types, lj_types, has_lj, charges, slot_charges, slot_lj, slot_types, lj_lanes, .. } =
            self;
        let PairTypes { parameters, of_type, count, marks, .. } = types;
        let empty = *count as u32 - 1;
        let slots = slot_charges.par_iter_mut().zip(slot_lj.par_iter_mut()).zip(slot_types.par_iter_mut());
        let slots = slots.zip(lj_lanes).zip(grid.slot_atom.par_chunks(BLOCK));
        slots.with_min_len(BLOCKS).for_each(|((((slot_charges, slot_lj), slot_types), lanes), atoms)| {
            *lanes = 0;
            for (lane, &atom) in atoms.iter().enumerate() {
                let known = (atom != NO_ATOM).then(|| (atom as usize, lj_types[atom as usize] as usize));
                let [a, b] = known.map_or([0.0; 2], |(_, lj_type)| parameters[lj_type]);
                (slot_lj[lane], slot_lj[lane + BLOCK]) = (a, b);
                slot_types[lane] = f32::from_bits(known.map_or(empty, |(_, lj_type)| of_type[lj_type]));
                slot_charges[lane] = known.map_or(0.0, |(atom, _)| charges[atom]);
                *lanes |= u8::from(known.is_some_and(|(atom, _)| has_lj[atom])) << lane;
            }
        });
        if let Some(LjPme { charges, .. }) = &self.lj_pme {
            self.slot_root_c6.resize(blocks);
            let slots = self.slot_root_c6.par_iter_mut().zip(grid.slot_atom.par_chunks(BLOCK));
            slots.with_min_len(BLOCKS).for_each(|(slots, atoms)| {
                for (slot, &atom) in slots.iter_mut().zip(atoms) {
                    *slot = if atom == NO_ATOM { 0.0 } else { charges[atom as usize] };
                }
            });
        }
        if !marks.is_empty() {
            let of_cluster =
                |types: &[f32]| types.iter().fold(Marks::default(), |all, t| all | marks[t.to_bits() as usize]);
            self.cluster_marks.clear();
            self.cluster_marks.extend(slot_types.iter().flat_map(|types| types.chunks(CLUSTER)).map(of_cluster));
        }
    }

    /// Builds the inner list from the pairs of the outer list that are now within the inner radius plus `margin`
    /// (nm), and partitions the inner list over the threads.
    pub(super) fn prune(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], margin: f64) {
        self.pack(0..self.grid.blocks(), positions);
        let cutoff = self.cutoff.max(self.cutoff_lj);
        let buffer = if cutoff.is_finite() { self.schedule.inner - cutoff + margin } else { 0.0 };
        let input = PruneInput {
            grid: &self.grid,
            packed: &self.packed,
            cell,
            lj_lanes: &self.lj_lanes,
            reach: Reach { coulomb: self.cutoff + buffer, lj: self.cutoff_lj + buffer },
        };
        self.outer.assert_of(&self.grid);
        self.inner.resize(&self.grid);
        let (outer, level) = (&self.outer.chunks, self.level);
        // a chunk often stays in the cache, because usually the thread that prunes the chunk also computes its pairs
        self.team.for_each(self.inner.chunks.par_iter_mut().zip(outer), |(inner, outer)| {
            prune_chunk(level, input, outer, inner);
        });
        self.inner.split(self.parts.len(), &mut self.ranges);
        let (inner, blocks) = (&self.inner, self.grid.blocks());
        self.team.for_each(self.parts.par_iter_mut().zip(&self.ranges), |(part, range)| {
            part.chunks = range.clone();
            part.forces.prepare(level, blocks, &inner.chunks[range.clone()]);
        });
    }

    /// Recomputes the centers of the blocks after a change of the cell.
    pub(super) fn place(&mut self, cell: Option<&PeriodicCell>) {
        self.grid.place(cell);
    }

    /// Computes the offsets of the slots of some blocks for the current positions.
    pub(super) fn pack(&mut self, blocks: Range<usize>, positions: &[Vec3]) {
        let (grid, first) = (&self.grid, blocks.start);
        self.team.for_each(self.packed[blocks].par_chunks_mut(BLOCKS).enumerate(), |(chunk, packed)| {
            for (index, to) in packed.iter_mut().enumerate() {
                grid.pack_block(first + chunk * BLOCKS + index, positions, to);
            }
        });
    }

    /// Returns the number of threads that compute the forces.
    pub(super) fn threads(&self) -> usize {
        self.team.threads()
    }

    /// Returns the sizes of the pair lists.
    pub(super) fn counts(&self) -> PairCounts {
        PairCounts::new(&self.outer, &self.inner)
    }

    /// Runs the kernel on slices of every work partition. After the last slice calls `work(part, item)` on the same
    /// thread, where `item` is the element of `items` for this partition.
    pub(super) fn forces<T: Send>(
        &mut self,
        cell: Option<&PeriodicCell>,
        energy: bool,
        slices: &Slices,
        items: &mut [T],
        work: impl Fn(usize, &mut T) + Sync,
    ) {
        let input = PairInput {
            grid: &self.grid,
            cell,
            packed: &self.packed,
            charges: &self.slot_charges,
            lj: &self.slot_lj,
            slot_types: &self.slot_types,
            type_table: &self.types.table,
            types: self.types.count,
            c4_table: &self.types.c4,
            type_rows: &self.types.rows,
            coulomb: &self.tables,
            cutoff_squared: (self.cutoff * self.cutoff) as f32,
            cutoff_lj_squared: (self.cutoff_lj * self.cutoff_lj) as f32,
            lj_shift: self.lj_shift,
            c4_shift: self.c4_shift,
            lj_switch: self.lj_switch,
            dispersion: &self.slot_root_c6,
            dispersion_tables: self.lj_pme.as_ref().map(|lj_pme| &lj_pme.tables),
        };
        let (inner, level) = (&self.inner, self.level);
        let variant = Variant { rule: self.types.rule, end: self.end, split: self.split, energy };
        self.team.for_each(self.parts.par_iter_mut().zip(items).enumerate(), |(index, (part, item))| {
            let Part { forces, chunks, output } = part;
            if slices.are_first() {
                *output = PairOutput::default();
                forces.clear();
            }
            run(level, variant, input, inner, slices.of(chunks), forces.arrays(), output);
            if slices.are_last() {
                forces.fold(level);
                work(index, item);
            }
        });
    }

    /// Sums the forces of all work partitions into `total`, in the order of the partitions.
    pub(super) fn sum(&mut self) {
        let parts = &self.parts;
        self.team.for_each(self.total.par_chunks_mut(BLOCKS).enumerate(), |(chunk, total)| {
            for (block, to) in (chunk * BLOCKS..).zip(total) {
                // each sum is accumulated in registers and stored with few wide stores, see `Grid::pack_block`
                let mut sums = [0.0; 24];
                for part in parts {
                    let Some(forces) = part.forces.get(block) else { continue };
                    for k in 0..24 {
                        sums[k] += forces[k];
                    }
                }
                *to = sums;
            }
        });
    }

    /// Sets the separately stored mesh forces to zero, before they are gathered.
    pub(super) fn clear_apart(&mut self) {
        self.apart.resize(self.total.len());
        self.team.for_each(self.apart.par_chunks_mut(BLOCKS), |blocks| blocks.fill([0.0; 24]));
    }

    /// Adds the forces of a mesh to `total`, or to the separately stored mesh forces if `apart` is true.
    pub(super) fn gather(&mut self, mesh: &Mesh, cell: &PeriodicCell, apart: bool) {
        let home = self.grid.home_blocks();
        let Nonbonded { team, total, apart: other, grid, packed, slot_charges, slot_root_c6, .. } = self;
        let (charges, charged) = of_mesh(mesh, grid, slot_charges, slot_root_c6);
        let input = MeshInput { grid, cell, packed, charges, charged };
        let sums = if apart { other } else { total };
        team.for_each(sums[..home].par_chunks_mut(BLOCKS).enumerate(), |(chunk, sums)| {
            let first = chunk * BLOCKS;
            mesh.gather(input, first..first + sums.len(), sums);
        });
    }

    /// Returns positions and charges of the slots, as the input of `mesh`.
    pub(super) fn mesh_input<'a>(&'a self, mesh: &Mesh, cell: &'a PeriodicCell) -> MeshInput<'a> {
        let (charges, charged) = of_mesh(mesh, &self.grid, &self.slot_charges, &self.slot_root_c6);
        MeshInput { grid: &self.grid, cell, packed: &self.packed, charges, charged }
    }

    /// Returns the Lennard-Jones and Coulomb energies (kJ/mol) of the last kernel, without [`Self::excluded_forces`].
    pub(super) fn energies(&self) -> (f64, f64) {
        self.parts.iter().fold((0.0, self.excluded_at_contact), |(lj, coulomb), part| {
            (lj + part.output.lj, coulomb + part.output.coulomb)
        })
    }

    /// Returns the virial of the pair forces F in `total`: Σ r⊗F over wrapped positions r, plus Σ shift⊗F over lattice
    /// shifts.
    pub(super) fn virial(&mut self, cell: Option<&PeriodicCell>) -> Mat3 {
        let Nonbonded { total, virial_parts, grid, packed, .. } = self;
        let parts = total.par_chunks(BLOCKS).enumerate();
        parts.map(|(chunk, forces)| block_virial(grid, packed, chunk * BLOCKS, forces)).collect_into_vec(virial_parts);
        let inside = virial_parts.iter().fold(Mat3::ZERO, |a, &b| a + b);
        self.parts.iter().fold(inside, |sum, part| sum + shift_virial(cell, &part.output.shift_forces))
    }
}

/// Returns the kernel charges of all atoms.
fn kernel_charges(electrostatics: Electrostatics, atoms: &[Atom]) -> Vec<f32> {
    let are_charged = electrostatics != Electrostatics::Off;
    atoms.iter().map(|atom| if are_charged { kernel_charge(atom.charge) } else { 0.0 }).collect()
}

/// Converts a charge in e to the kernel's unit: charge times √(Coulomb constant).
pub(super) fn kernel_charge(charge: f64) -> f32 {
    (COULOMB.sqrt() * charge) as f32
}

/// Returns the charges of the mesh potential, one per slot, and the number of blocks that contain charged atoms.
fn of_mesh<'a>(
    mesh: &Mesh,
    grid: &Grid,
    coulomb: &'a [[f32; 8]],
    dispersion: &'a [[f32; 8]],
) -> (&'a [[f32; 8]], usize) {
    match mesh.potential {
        MeshPotential::Coulomb => (coulomb, grid.main_blocks()),
        MeshPotential::Dispersion => (dispersion, grid.home_blocks()),
    }
}

/// Returns Σ r⊗F, with wrapped positions r and forces F, over consecutive blocks from `first` on.
fn block_virial(grid: &Grid, packed: &[[f32; 24]], first: usize, forces: &[[f32; 24]]) -> Mat3 {
    let mut sum = Mat3::ZERO;
    for (block, forces) in (first..).zip(forces) {
        let center = map(grid.centers[block], f64::from);
        for lane in 0..BLOCK {
            if grid.slot_atom[block * BLOCK + lane] == NO_ATOM {
                continue;
            }
            let at = |k: usize, values: &[f32; 24]| f64::from(values[k * BLOCK + lane]);
            let r = vec3(0, 1, 2).map(|k| center[k] + at(k, &packed[block]));
            sum += Mat3::outer(r, vec3(0, 1, 2).map(|k| at(k, forces)));
        }
    }
    sum
}
