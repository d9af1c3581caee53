//! Upload of a system: its constant data become arrays on the device.

use super::device::{Device, allocate, store, zeros};
use super::layout::{
    self, Arguments, BondedLists, CmapTerm, Counts, CoupledAtom, CoupledCluster, CoupledConstraint, ExcludedTerm,
    FIRST_TERMS, GRID_BITS, Lattice, MORE_TERMS, NO_ATOM, Pair14Term, RULE_FORCE_SWITCH, RULE_GEOMETRIC,
    RULE_LORENTZ_BERTHELOT, RULE_POTENTIAL_SWITCH, RULE_TYPE_TABLE, RootPolynomial, SHIFTS, SLOT_BITS, SUMS,
    SettleWater, ShakeCluster, Status, UPDATE_GROUP_KINDS, WARP,
};
use super::{mesh, virtual_sites};
use crate::backend::cpu::{FORCE_TOLERANCE, GEOMETRIC, LORENTZ_BERTHELOT, LOWEST_R2, lj_parameters, type_table};
use crate::backend::potential::CoulombPotential;
use crate::backend::{Feature, GPU};
use crate::constraint::{ConstraintPlan, Groups};
use crate::error::{Problem, Result};
use crate::pair::{self, ListSchedule, SmoothPart, SymmetricExclusions};
use crate::system::{CombinationRule, Constraint, Electrostatics, LjModifier, PmeParameters, System};
use crate::term::{CmapTable, ForceSwitch, LjSwitch, PotentialSwitch};
use crate::units::COULOMB;
use bytemuck::Zeroable;
use std::collections::BTreeMap;

/// Largest error of the polynomial for the Coulomb energy, as a fraction of the unscreened energy 1/r at the distance
/// r. The value is about the rounding error of `f32`. The tolerance is smaller than on the CPU. On the CPU excluded
/// pairs also use a table, so that most errors cancel in neutral molecules. On the GPU the energies of excluded pairs
/// are exact, so that the errors of other pairs do not cancel.
const ENERGY_TOLERANCE: f64 = 5e-8;

/// Returns the Lennard-Jones rule of the pair kernels for a system.
fn rule(system: &System) -> u32 {
    match (system.settings.lj_switch(), system.nonbonded.rule()) {
        (Some(LjSwitch::Force(_)), _) => RULE_FORCE_SWITCH,
        (Some(LjSwitch::Potential(_)), _) => RULE_POTENTIAL_SWITCH,
        (None, Some(CombinationRule::Geometric)) => RULE_GEOMETRIC,
        (None, Some(CombinationRule::LorentzBerthelot)) => RULE_LORENTZ_BERTHELOT,
        (None, None) => RULE_TYPE_TABLE,
    }
}

/// Returns the Lennard-Jones parameters of an atom in the form that a rule of the pair kernels needs. Rows of the
/// parameter table have `types` elements.
fn parameters(system: &System, rule: u32, lj_type: u32, types: u32) -> [f32; 2] {
    match rule {
        RULE_GEOMETRIC => lj_parameters(system, GEOMETRIC, lj_type),
        RULE_LORENTZ_BERTHELOT => lj_parameters(system, LORENTZ_BERTHELOT, lj_type),
        _ => [lj_type * types, lj_type].map(f32::from_bits),
    }
}

/// Returns an error if the kernels do not support the system. The log shows this error as the reason why a run uses
/// the CPU.
pub(super) fn check(system: &System) -> std::result::Result<Groups, Problem> {
    let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
    let refuse = |what: &str| Err(Problem::new(what.to_owned()).help("set run.device = \"cpu\""));
    if let Some(terms) = BondedLists::unsupported(&system.topology.bonded) {
        return refuse(&format!("the CUDA backend has no kernel for {terms}"));
    }
    ConstraintPlan::new(&system.constraints, &masses)?;
    let groups = Groups::new(&system.constraints, &masses)?;
    if let Some(message) = GPU.refusal(Feature::of_system(system).map(|feature| ("the system", feature))) {
        return refuse(&message);
    }
    if masses.len() > 1 << SLOT_BITS {
        return refuse("the CUDA backend supports at most 33 million atoms");
    }
    if let Electrostatics::Pme(PmeParameters { grid, .. }) = system.settings.electrostatics
        && grid.iter().any(|&points| points > 1 << GRID_BITS)
    {
        return refuse("the CUDA backend supports at most 1024 grid points along an edge");
    }
    Ok(groups)
}

/// Allocates and uploads all arrays except positions, velocities and lists. Returns the arguments of kernels and the
/// Lennard-Jones rule.
pub(super) fn upload(device: &mut impl Device, system: &System, schedule: &ListSchedule) -> Result<(Arguments, u32)> {
    let groups = check(system)?;
    let mut a = Arguments::zeroed();
    sizes(&mut a, system.topology.atoms.len());
    allocate_scratch(device, &mut a)?;
    let rule = atoms(device, &mut a, system)?;
    nonbonded(&mut a, system, schedule);
    bonded(device, &mut a, system)?;
    update_groups(device, &mut a, system, &groups)?;
    virtual_sites::upload(device, &mut a, system)?;
    // the integration kernel packs no positions if there are virtual sites, whose positions are computed later, or if
    // displacements limit the list lifetime, because expiry must be known before a step begins
    a.packs_ahead = u32::from(a.site_clusters == 0 && a.check_displacements == 0);
    if let Electrostatics::Pme(parameters) = system.settings.electrostatics {
        mesh::upload(device, &mut a, &parameters)?;
    }
    Ok((a, rule))
}

fn sizes(a: &mut Arguments, atoms: usize) {
    a.atoms = atoms as u32;
    a.blocks = a.atoms.div_ceil(WARP);
    a.slots = a.blocks * WARP;
}

/// Allocates the arrays that kernels or [`upload`] fill later.
fn allocate_scratch(device: &impl Device, a: &mut Arguments) -> Result<()> {
    let (atoms, slots, blocks) = (a.atoms as usize, a.slots as usize, a.blocks as usize);
    a.cell = zeros::<Lattice>(device, 1)?;
    a.searched_cell = zeros::<Lattice>(device, 1)?;
    a.status = zeros::<Status>(device, 1)?;
    a.counts = zeros::<Counts>(device, 1)?;
    a.sums = zeros(device, SUMS as usize)?;
    a.positions = zeros(device, atoms)?;
    a.velocities = zeros(device, atoms)?;
    a.old = zeros(device, atoms)?;
    a.searched = zeros(device, atoms)?;
    a.atom_slot = zeros(device, atoms)?;
    a.atom_images = allocate(device, atoms)?;
    a.atom_slice = allocate(device, atoms)?;
    a.slot_atom = allocate(device, slots)?;
    a.images = allocate(device, slots)?;
    a.packed = allocate(device, slots)?;
    a.slot_lj = allocate(device, slots)?;
    a.places = allocate(device, slots)?;
    a.forces = allocate(device, 3 * slots)?;
    a.origins = allocate(device, blocks)?;
    a.bounds = allocate(device, 2 * blocks)?;
    a.regions = allocate(device, 2 * blocks.div_ceil(WARP as usize))?;
    a.shifts = allocate(device, 2 * SHIFTS as usize)?;
    Ok(())
}

/// Uploads masses, charges, Lennard-Jones parameters and exclusions.
fn atoms(device: &impl Device, a: &mut Arguments, system: &System) -> Result<u32> {
    let atoms = &system.topology.atoms;
    let (rule, types) = (rule(system), system.nonbonded.types as u32 + 1);
    let charge_scale = if system.settings.electrostatics == Electrostatics::Off { 0.0 } else { COULOMB.sqrt() };
    a.masses = store(device, &atoms.iter().map(|atom| atom.mass).collect::<Vec<f64>>())?;
    a.charges = store(device, &atoms.iter().map(|atom| (charge_scale * atom.charge) as f32).collect::<Vec<f32>>())?;
    let lj: Vec<[f32; 2]> = atoms.iter().map(|atom| parameters(system, rule, atom.lj_type, types)).collect();
    a.lj = store(device, &lj)?;
    a.type_table = store(device, &type_table(system))?;
    // the last row and the last column of the table are zeros, for empty slots
    let combined = matches!(rule, RULE_GEOMETRIC | RULE_LORENTZ_BERTHELOT);
    a.empty_lj = if combined { [0.0; 2] } else { parameters(system, rule, types - 1, types) };
    a.inverse_root_coulomb = COULOMB.sqrt().recip() as f32;
    let (starts, partners) = SymmetricExclusions::new(atoms.len(), &system.topology.exclusions).into_rows();
    a.exclusion_starts = store(device, &starts)?;
    a.exclusions = store(device, &partners)?;
    Ok(rule)
}

fn root_polynomial(part: &SmoothPart) -> RootPolynomial {
    let polynomial = pair::RootPolynomial::fit(part, FIRST_TERMS);
    let (first, higher) = polynomial.split();
    let mut more = [0.0; MORE_TERMS];
    more[..higher.len()].copy_from_slice(&higher);
    RootPolynomial { center: polynomial.center, more_terms: higher.len() as u32, first, more }
}

fn lj_switch(switch: &LjSwitch<f64>) -> layout::LjSwitch {
    let none = layout::LjSwitch::zeroed();
    match switch {
        LjSwitch::Force(switch) => {
            let ForceSwitch { from, square, cube, shift } = switch.constant();
            layout::LjSwitch { from, square, cube, shift, ..none }
        }
        LjSwitch::Potential(switch) => {
            let PotentialSwitch { from, inverse_width } = switch.constant();
            layout::LjSwitch { from, inverse_width, slope: 30.0 * inverse_width, ..none }
        }
    }
}

/// Sets radial functions, cutoffs and list radii.
fn nonbonded(a: &mut Arguments, system: &System, schedule: &ListSchedule) {
    let settings = &system.settings;
    let coulomb = CoulombPotential::new(settings);
    a.lowest_r2 = LOWEST_R2;
    if let Some(cutoff) = settings.cutoff {
        let (force, energy) = (|r: f64| coulomb.interacting(1.0, r * r).0, |r: f64| coulomb.interacting(1.0, r * r).1);
        let force = SmoothPart::new(&force, &|r| r.powi(-3), FORCE_TOLERANCE, cutoff);
        a.coulomb_force = root_polynomial(&force);
        a.coulomb_energy = root_polynomial(&SmoothPart::new(&energy, &f64::recip, ENERGY_TOLERANCE, cutoff));
        a.lowest_r2 = force.lowest() as f32;
    }
    let squared = |cutoff: Option<f64>| cutoff.map_or(f32::MAX, |r| (r * r) as f32);
    a.coulomb_cutoff2 = squared(settings.cutoff);
    a.lj_cutoff2 = squared(settings.cutoff_lj);
    a.largest_cutoff2 = a.coulomb_cutoff2.max(a.lj_cutoff2);
    let shifted = settings.lj_modifier == LjModifier::PotentialShift;
    a.lj_shift = settings.cutoff_lj.filter(|_| shifted).map_or(0.0, |r| r.powi(-6) as f32);
    a.lj_switch = settings.lj_switch().map_or(Zeroable::zeroed(), |switch| lj_switch(&switch));
    // radii are limited, because their squares must be finite in f32
    let radius = |r: f64| r.min(1e18) as f32;
    (a.outer_radius, a.inner_radius) = (radius(schedule.outer), radius(schedule.inner));
    (a.cutoff, a.check_displacements) = (settings.longest_cutoff(), u32::from(schedule.is_exact()));
}

/// Returns the index of the first thread of each kind of bonded terms or update groups, followed by the total number of
/// threads. Each kind begins at a multiple of the warp size.
pub(super) fn starts<const N: usize, const M: usize>(counts: [u32; N]) -> [u32; M] {
    let mut starts = [0; M];
    for kind in 0..N {
        starts[kind + 1] = starts[kind] + counts[kind].next_multiple_of(WARP);
    }
    starts
}

/// Uploads bonded terms and excluded pairs. The kernels subtract the contribution of excluded pairs to the reciprocal
/// sum.
fn bonded(device: &impl Device, a: &mut Arguments, system: &System) -> Result<()> {
    let terms = &system.topology.bonded;
    let scale = if system.settings.electrostatics == Electrostatics::Off { 0.0 } else { COULOMB };
    let (cmaps, patches) = correction_maps(system);
    let pair14 = |t: &crate::system::Pair14| Pair14Term {
        atoms: t.atoms,
        charge_product: (scale * t.charge_product) as f32,
        c6: t.c6 as f32,
        c12: t.c12 as f32,
    };
    let pairs14: Vec<_> = terms.pairs14.iter().map(pair14).collect();
    let excluded = excluded_pairs(system);
    let (lists, lengths) = BondedLists::store(device, terms)?;
    let others = [cmaps.len(), pairs14.len(), excluded.len()];
    for (count, length) in a.bonded_counts.iter_mut().zip(lengths.into_iter().chain(others)) {
        *count = length as u32;
    }
    a.bonded_starts = starts(a.bonded_counts);
    a.bonded = lists;
    a.cmaps = store(device, &cmaps)?;
    a.cmap_patches = store(device, &patches)?;
    a.pairs14 = store(device, &pairs14)?;
    a.excluded = store(device, &excluded)?;
    Ok(())
}

/// Returns the correction-map (CMAP) terms, and the coefficients of all grid squares of all maps.
fn correction_maps(system: &System) -> (Vec<CmapTerm>, Vec<f64>) {
    let terms = &system.topology.bonded;
    let (mut patches, mut maps) = (vec![], vec![]);
    for grid in &terms.cmap_grids {
        maps.push([(patches.len() / 16) as u32, grid.size as u32]);
        patches.extend(CmapTable::new(grid.size, &grid.energies).patches().as_flattened());
    }
    let term = |t: &crate::system::Cmap| {
        let [first_patch, size] = maps[t.grid as usize];
        CmapTerm { atoms: t.atoms, first_patch, size }
    };
    (terms.cmaps.iter().map(term).collect(), patches)
}

fn excluded_pairs(system: &System) -> Vec<ExcludedTerm> {
    if !CoulombPotential::new(&system.settings).corrects_excluded() {
        return vec![];
    }
    let charge = |i: u32| system.topology.atoms[i as usize].charge;
    let pairs = system.topology.exclusions.pairs();
    pairs.map(|[i, j]| ExcludedTerm { atoms: [i, j], charge_product: COULOMB * charge(i) * charge(j) }).collect()
}

/// Uploads update groups: groups of atoms connected by constraints, and atoms without constraints.
fn update_groups(device: &impl Device, a: &mut Arguments, system: &System, groups: &Groups) -> Result<()> {
    // virtual sites (mass zero) are not free atoms, because their positions are computed from other atoms
    let mut free: Vec<bool> = system.topology.atoms.iter().map(|atom| atom.mass > 0.0).collect();
    let mut shakes: [Vec<ShakeCluster>; 4] = Default::default();
    let water = |w: &crate::system::Settle| SettleWater { atoms: w.atoms, unused: 0, oh: w.oh, hh: w.hh };
    let waters: Vec<SettleWater> = groups.settles.iter().map(water).collect();
    for (center, bonds) in &groups.shakes {
        let leaf = |c: &Constraint| if c.atoms[0] == *center { c.atoms[1] } else { c.atoms[0] };
        let mut shake = ShakeCluster { atoms: [*center; 5], ..ShakeCluster::zeroed() };
        for (k, bond) in bonds.iter().enumerate() {
            shake.atoms[k + 1] = leaf(bond);
            shake.lengths[k] = bond.length;
        }
        shakes[bonds.len() - 1].push(shake);
    }
    let tied = waters.iter().flat_map(|w| w.atoms).chain(shakes.iter().flatten().flat_map(|shake| shake.atoms));
    tied.for_each(|atom| free[atom as usize] = false);
    coupled_clusters(device, a, &groups.coupled)?.iter().for_each(|atom| free[atom.atom as usize] = false);
    let free: Vec<u32> = (0..a.atoms).filter(|&atom| free[atom as usize]).collect();
    let counts: [usize; UPDATE_GROUP_KINDS as usize] =
        [free.len(), waters.len(), shakes[0].len(), shakes[1].len(), shakes[2].len(), shakes[3].len()];
    a.update_group_counts = counts.map(|count| count as u32);
    a.update_group_starts = starts(a.update_group_counts);
    a.free_atoms = store(device, &free)?;
    a.waters = store(device, &waters)?;
    a.shakes1 = store(device, &shakes[0])?;
    a.shakes2 = store(device, &shakes[1])?;
    a.shakes3 = store(device, &shakes[2])?;
    a.shakes4 = store(device, &shakes[3])?;
    a.constraint_tolerance = system.constraints.tolerance;
    Ok(())
}

/// Uploads coupled constraints. Returns the atoms that have coupled constraints.
fn coupled_clusters(device: &impl Device, a: &mut Arguments, clusters: &[Vec<Constraint>]) -> Result<Vec<CoupledAtom>> {
    let (mut coupled, mut constraints, mut atoms, mut ends) = (vec![], vec![], vec![], vec![]);
    for cluster in clusters {
        // atoms are in ascending order and constraints are in the order of the cluster, so that sums over the
        // constraints of an atom have a fixed order
        let mut ends_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (number, constraint) in (constraints.len() as u32..).zip(cluster) {
            for (end, atom) in (0..).zip(constraint.atoms) {
                ends_of.entry(atom).or_default().push(2 * number + end);
            }
        }
        let first_atom = atoms.len() as u32;
        let number: BTreeMap<u32, u32> = ends_of.keys().copied().zip(first_atom..).collect();
        coupled.push(CoupledCluster {
            first_constraint: constraints.len() as u32,
            constraints: cluster.len() as u32,
            first_atom,
            atoms: number.len() as u32,
        });
        constraints.extend(
            cluster.iter().map(|c| CoupledConstraint { ends: c.atoms.map(|atom| number[&atom]), length: c.length }),
        );
        for (atom, its_ends) in ends_of {
            atoms.push(CoupledAtom { atom, first_end: ends.len() as u32 });
            ends.extend(its_ends);
        }
    }
    let last = CoupledAtom { atom: NO_ATOM, first_end: ends.len() as u32 };
    a.coupled_count = coupled.len() as u32;
    a.coupled_clusters = store(device, &coupled)?;
    a.coupled_constraints = store(device, &constraints)?;
    a.coupled_atoms = store(device, &[&atoms[..], &[last]].concat())?;
    a.coupled_ends = store(device, &ends)?;
    a.coupled_vectors = allocate(device, constraints.len())?;
    a.coupled_diagonal = allocate(device, constraints.len())?;
    a.coupled_multipliers = allocate(device, constraints.len())?;
    a.coupled_residuals = allocate(device, constraints.len())?;
    a.coupled_directions = allocate(device, constraints.len())?;
    a.coupled_products = allocate(device, constraints.len())?;
    a.coupled_positions = allocate(device, atoms.len())?;
    a.coupled_displacements = allocate(device, atoms.len())?;
    Ok(atoms)
}
