//! Compares the error estimate with measured errors, for water whose atoms are displaced by normal deviates.

use super::motion::{Motion, motions};
use super::*;
use crate::backend::cuda::sorted_on_device;
use crate::cell::PeriodicCell;
use crate::neighbours::Neighbours;
use crate::pair::{
    BLOCK, CLUSTER, Grid, ListChunk, NO_ATOM, PairList, PruneInput, Reach, SearchInput, SearchScratch,
    SymmetricExclusions, prune_chunk, search_chunk,
};
use crate::rng::{Purpose, Stream};
use crate::simd::Level;
use crate::system::{
    Atom, Constraints, DispersionCorrection, Exclusions, ForceSettings, ListPolicy, LjModifier, Modifier, Name,
    Nonbonded, PmeParameters, Settle, State, Topology,
};
use crate::term::lennard_jones;
use crate::units::BAR;
use crate::vec3::Vec3;

#[test]
fn moments_are_those_of_the_normal_distribution() {
    // numerical integration of (y − b)₊ⁿ⁺¹/(n + 1)! over the normal density of y
    let (buffer, sigma) = (0.03, 0.05);
    let steps = 400_000;
    let mut integrals = [0.0; 5];
    for k in 0..steps {
        let y = buffer + 12.0 * sigma * (f64::from(k) + 0.5) / f64::from(steps);
        let weight = (-0.5 * (y / sigma).powi(2)).exp() / (sigma * (2.0 * PI).sqrt()) * 12.0 * sigma / f64::from(steps);
        let mut power = weight;
        for (n, integral) in (1..).zip(&mut integrals) {
            power *= (y - buffer) / f64::from(n);
            *integral += power;
        }
    }
    for (moment, integral) in moments(buffer, sigma).into_iter().zip(integrals) {
        assert!((moment / integral - 1.0).abs() < 1e-6);
    }
}

#[test]
fn rotation_saturates() {
    let motion = Motion { translating: 18.0, rotating: Some((1.0, 0.09)) };
    let still = Motion { translating: 18.0, rotating: None };
    let late = motion.variance(2.5, 10.0) - still.variance(2.5, 10.0);
    assert!((late / (2.0 / 3.0 * 0.0081) - 1.0).abs() < 1e-9);
}

/// Tolerance, nm. The region within a distance r of a cube is not a sphere, so that the radius of a sphere of equal
/// volume is only approximately r + `reach`.
const REACH: f64 = 0.004;

#[test]
fn single_atoms_reach_as_far_as_around_a_cube_of_a_block() {
    // volume of all points within r of a cube of edge s, which contains 32 atoms of a liquid: s³ + 6 s² r + 3π s r² +
    // 4/3 π r³
    let s = (32f64 / 100.0).cbrt();
    for r in [0.9, 1.0, 1.1, 1.2] {
        let volume = s.powi(3) + 6.0 * s * s * r + 3.0 * PI * s * r * r + 4.0 / 3.0 * PI * r.powi(3);
        let radius = (3.0 * volume / (4.0 * PI)).cbrt();
        assert!((radius - r - GPU.reach).abs() < REACH, "{radius} around {r}");
    }
}

#[test]
fn off_and_model_differ_for_single_atoms_too() {
    let system = water(Electrostatics::Pme(PmeParameters { alpha: ALPHA, grid: [24; 3], order: 4 }));
    let estimate = BufferEstimate::new(&system, EDGE.powi(3), TEMPERATURE, TIMESTEP).of_single_atoms();
    let largest = f64::INFINITY;
    let (off, model) = (estimate.conventional(TOLERANCE, None), estimate.schedules(TOLERANCE, None, largest)[0]);
    assert_eq!((off.rebuild, off.prune, off.outer), (20, 20, off.inner));
    assert!(estimate.cycles(&model) < estimate.cycles(&off), "{model:?}");
    // on a GPU the host waits for each search, which costs more than on a CPU, so that lists with pruning get longer
    // lifetimes
    let cpu = BufferEstimate::new(&system, EDGE.powi(3), TEMPERATURE, TIMESTEP).schedules(TOLERANCE, None, largest)[0];
    assert!(model.rebuild >= cpu.rebuild && model.prune < model.rebuild, "{model:?} {cpu:?}");
    for lists in [off, model] {
        assert_within(&estimate, &lists, [SINGLE; 2]);
    }
}

/// Lennard-Jones parameters of TIP3P oxygens: c6 in kJ/mol nm⁶, c12 in kJ/mol nm¹².
const OXYGENS: (f64, f64) = (2.49e-3, 2.435e-6);
/// Charges (e) of the atoms O, H and H of TIP3P.
const CHARGES: [f64; 3] = [-0.834, 0.417, 0.417];
/// Geometry of TIP3P water: O–H distance in nm, and half of the H–O–H angle in rad.
const WATER: (f64, f64) = (0.0957, 0.912);
const TEMPERATURE: f64 = 300.0;
const TIMESTEP: f64 = 0.002;
const CUTOFF: f64 = 0.9;
const ALPHA: f64 = 3.1;
const MOLECULES: u32 = 500;
/// Edge of the cubic cell in nm, for 33.3 molecules per nm³.
const EDGE: f64 = 2.467;

/// Returns a system of rigid water molecules.
fn water(electrostatics: Electrostatics) -> System {
    let name = Name::new("W");
    let atom = |k: u32| {
        let (element, mass) = if k.is_multiple_of(3) { (8, 15.999) } else { (1, 1.008) };
        let (charge, lj_type) = (CHARGES[k as usize % 3], u32::from(!k.is_multiple_of(3)));
        Atom { name, type_name: name, element, mass, charge, lj_type, residue: k / 3 }
    };
    let hh = 2.0 * WATER.0 * WATER.1.sin();
    let settles = (0..MOLECULES).map(|m| Settle { atoms: [0, 1, 2].map(|k| 3 * m + k), oh: WATER.0, hh });
    System {
        topology: Topology { atoms: (0..3 * MOLECULES).map(atom).collect(), ..Topology::default() },
        nonbonded: Nonbonded {
            types: 2,
            c6: vec![OXYGENS.0, 0.0, 0.0, 0.0],
            c12: vec![OXYGENS.1, 0.0, 0.0, 0.0],
            ..Nonbonded::default()
        },
        constraints: Constraints { settles: settles.collect(), ..Constraints::default() },
        settings: ForceSettings {
            cutoff: Some(CUTOFF),
            cutoff_lj: Some(CUTOFF),
            electrostatics,
            lj_modifier: LjModifier::PotentialShift,
            coulomb_modifier: Modifier::PotentialShift,
            dispersion_correction: DispersionCorrection::Off,
            list: ListPolicy::Exact { buffer: 0.1 },
        },
    }
}

/// Returns the positions of atoms of molecules that have random positions and orientations, without any order between
/// molecules.
fn places(random: &mut Stream) -> Vec<Vec3> {
    let mut positions = vec![];
    for _ in 0..MOLECULES {
        let oxygen = Vec3::from([(); 3].map(|()| random.between(0.0, EDGE)));
        let mut direction = || Vec3::from([(); 3].map(|()| random.gaussian()));
        let (u, v) = (direction(), direction());
        let along = u * (WATER.0 * WATER.1.cos() / u.norm());
        let across = v - u * (u.dot(v) / u.norm_squared());
        let across = across * (WATER.0 * WATER.1.sin() / across.norm());
        positions.extend([oxygen, oxygen + along + across, oxygen + along - across]);
    }
    positions
}

/// Returns the pairs held by the outer list, the inner list, and a list on a GPU with the same radius. Each pair is
/// stored at `[i][j]` and at `[j][i]`.
fn listed(system: &System, cell: &PeriodicCell, positions: &[Vec3], radius: f64) -> [Vec<Vec<bool>>; 3] {
    let atoms = positions.len();
    let (mut grid, mut list) = (Grid::default(), PairList::default());
    let has_lj: Vec<bool> = (0..atoms).map(|i| i % 3 == 0).collect();
    grid.build(Some(cell), positions, &has_lj, &[]);
    let mut packed = vec![[0.0; 24]; grid.blocks()];
    packed.iter_mut().enumerate().for_each(|(block, to)| grid.pack_block(block, positions, to));
    list.resize(&grid);
    let exclusions = SymmetricExclusions::new(atoms, &Exclusions::from_pairs(atoms, []));
    let input = SearchInput {
        grid: &grid,
        packed: &packed,
        cell: Some(cell),
        exclusions: &exclusions,
        has_lj: &has_lj,
        far_exclusions: &[],
        exclusion_reach: CUTOFF,
        marks: &[],
        radius,
    };
    let reach = Reach { coulomb: radius, lj: radius };
    let lj_lanes = vec![u8::MAX; grid.blocks()];
    let prune = PruneInput { grid: &grid, packed: &packed, cell: Some(cell), lj_lanes: &lj_lanes, reach };
    let mut listed = [(); 3].map(|()| vec![vec![false; atoms]; atoms]);
    let (level, mut inner) = (Level::detect(), ListChunk::default());
    for (chunk, outer) in list.chunks.iter_mut().enumerate() {
        search_chunk(level, input, chunk, &mut SearchScratch::default(), outer);
        prune_chunk(level, prune, outer, &mut inner);
        mark(&grid, outer, &mut listed[0]);
        mark(&grid, &inner, &mut listed[1]);
    }
    mark_single(system, cell, positions, radius, &mut listed[2]);
    listed
}

/// Number of atoms in a block on a GPU.
const GPU_BLOCK: usize = 32;
/// Distance beyond the list radius, nm. Pairs beyond this distance are ignored.
const LOOK_BEYOND: f64 = 0.3;

/// Marks the atom pairs that the list of a GPU holds. For a pair of blocks, one block lists the atoms of the other
/// block that are within the radius of at least one atom of the listing block. The listing block is the first block of
/// the pair if the block numbers differ by an odd number, and otherwise the second block (`lists` in
/// `kernels/list.cu`).
fn mark_single(system: &System, cell: &PeriodicCell, positions: &[Vec3], radius: f64, listed: &mut [Vec<bool>]) {
    let state = State { cell: Some(*cell), positions: positions.to_vec(), ..State::default() };
    // the order of atoms does not depend on the Lennard-Jones modifier, so the sort uses a potential shift for every
    // system
    let mut truncated = system.clone();
    truncated.settings.lj_modifier = LjModifier::PotentialShift;
    let order: Vec<usize> = sorted_on_device(&truncated, &state).into_iter().map(|atom| atom as usize).collect();
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &atom)| rank[atom] = place);
    let wrapped: Vec<Vec3> = positions.iter().map(|&r| cell.wrap(r).0).collect();
    let neighbours = Neighbours::new(Some(cell), positions, radius + LOOK_BEYOND);
    for (i, &position) in positions.iter().enumerate() {
        neighbours.visit(position, |j, d| {
            let j = j as usize;
            if rank[i] >= rank[j] || cell.nearest_image(d) != [0; 3] {
                return;
            }
            let blocks = [i, j].map(|atom| rank[atom] / GPU_BLOCK);
            let odd = (blocks[1] - blocks[0]) % 2 == 1;
            let (block, from, d) = if odd { (blocks[0], i, d) } else { (blocks[1], j, -d) };
            let members = &order[block * GPU_BLOCK..order.len().min((block + 1) * GPU_BLOCK)];
            // the periodic image of atom j that is nearest to atom i; the i-atoms stay in the periodic images in
            // which they were sorted into blocks
            let other = wrapped[from] + d;
            let near = members.iter().any(|&atom| (wrapped[atom] - other).norm_squared() < radius * radius);
            let holds = near || blocks[0] == blocks[1];
            (listed[i][j], listed[j][i]) = (holds, holds);
        });
    }
}

/// Marks the atom pairs of one list chunk in `listed`.
fn mark(grid: &Grid, chunk: &ListChunk, listed: &mut [Vec<bool>]) {
    for entry in &chunk.entries {
        let masked = &chunk.masked[entry.masked[0] as usize..entry.masked[1] as usize];
        let masked = masked.iter().map(|pair| (pair.block, 0..CLUSTER));
        let ranges = [(entry.both(), 0..CLUSTER), (entry.single(0), 0..2), (entry.single(1), 2..CLUSTER)];
        let plain =
            ranges.iter().flat_map(|(range, rows)| chunk.plain[range.clone()].iter().map(|&b| (b, rows.clone())));
        for (block, rows) in masked.chain(plain) {
            let cluster = &grid.slot_atom[entry.cluster as usize * CLUSTER..][..CLUSTER];
            for &i in cluster[rows].iter().filter(|&&i| i != NO_ATOM) {
                let block = &grid.slot_atom[block as usize * BLOCK..][..BLOCK];
                for &j in block.iter().filter(|&&j| j != NO_ATOM) {
                    listed[i as usize][j as usize] = true;
                    listed[j as usize][i as usize] = true;
                }
            }
        }
    }
}

const CONFIGURATIONS: u32 = 10;
const DRAWS: u32 = 4;
/// Maximum displacement in standard deviations. The fraction of larger displacements is 10⁻⁶.
const TAIL: f64 = 5.0;
/// Number of standard errors by which the estimate may be smaller than the measured error. The seed is fixed, so that
/// the test cannot fail at random.
const STANDARD_ERRORS: f64 = 3.0;

/// Energy and virial of the pairs that come within the cutoff but are not in the list.
#[derive(Clone, Copy, Default)]
struct Gained {
    lj: f64,
    /// Coulomb energy (kJ/mol) of the pairs with 0, 1 and 2 hydrogens; all pairs with the same number of hydrogens have
    /// the same product of charges
    coulomb: [f64; 3],
    /// virial of Lennard-Jones pairs, kJ/mol
    virial: f64,
}

impl Gained {
    /// Returns the energy drift per atom in kJ/mol/ps, with the same definition as in the estimate.
    fn drift(&self, time: f64) -> f64 {
        let energy = self.coulomb.iter().fold(self.lj.abs(), |sum, e| sum + e.abs());
        energy / f64::from(DRAWS) / f64::from(3 * MOLECULES) / time
    }

    /// Returns the missed virial in kJ/mol.
    fn virial(&self) -> f64 {
        self.virial.abs() / f64::from(DRAWS)
    }
}

/// Returns the missed energies for one configuration: with all pairs within the radius listed, with the outer list,
/// with the inner list, and with the list of a GPU.
fn missed(system: &System, radius: f64, sigma: &[f64], random: &mut Stream) -> [Gained; 4] {
    let cell = PeriodicCell::orthorhombic([EDGE; 3]);
    // force divided by distance, and energy
    let lj_pair = |r: f64| match system.settings.lj_switch() {
        Some(switch) => switch.radial(r * r, 1.0 / r).pair(6.0 * OXYGENS.0, 12.0 * OXYGENS.1),
        None => lennard_jones(r.powi(-2), OXYGENS.0, OXYGENS.1),
    };
    let lj = |r: f64| lj_pair(r).1;
    let coulomb = |r: f64| match system.settings.electrostatics {
        Electrostatics::Off => 0.0,
        _ => COULOMB * libm::erfc(ALPHA * r) / r,
    };
    let at_cutoff = (lj(CUTOFF), coulomb(CUTOFF));
    let positions = places(random);
    let distance = |r: &[Vec3], i: usize, j: usize| cell.minimum_image(r[i] - r[j]).norm();
    let listed = listed(system, &cell, &positions, radius);
    let longest = CUTOFF + TAIL * sigma.iter().fold(0.0f64, |a, &b| a.max(b)) * 2f64.sqrt();
    let neighbours = Neighbours::new(Some(&cell), &positions, longest);
    let mut outside = vec![];
    for (i, &position) in positions.iter().enumerate() {
        neighbours.visit(position, |j, d| {
            let j = j as usize;
            let reach = CUTOFF + TAIL * sigma[i % 3].hypot(sigma[j % 3]);
            if j < i && (radius..reach).contains(&d.norm()) && cell.nearest_image(d) == [0; 3] {
                outside.push((i, j));
            }
        });
    }
    let mut sums = [Gained::default(); 4];
    for _ in 0..DRAWS {
        let mut step = |i: usize| Vec3::from([(); 3].map(|()| sigma[i % 3] * random.gaussian()));
        let moved: Vec<Vec3> = positions.iter().enumerate().map(|(i, &r)| r + step(i)).collect();
        for &(i, j) in &outside {
            let r = distance(&moved, i, j);
            if r < CUTOFF {
                let hydrogens = usize::from(i % 3 > 0) + usize::from(j % 3 > 0);
                let energy_lj = if hydrogens == 0 { lj(r) - at_cutoff.0 } else { 0.0 };
                // virial r F of the pair
                let virial = if hydrogens == 0 { r * r * lj_pair(r).0 } else { 0.0 };
                let energy_coulomb = CHARGES[i % 3] * CHARGES[j % 3] * (coulomb(r) - at_cutoff.1);
                let missing = [true, !listed[0][i][j], !listed[1][i][j], !listed[2][i][j]];
                for (sum, _) in sums.iter_mut().zip(missing).filter(|(_, missing)| *missing) {
                    sum.lj += energy_lj;
                    sum.coulomb[hydrogens] += energy_coulomb;
                    sum.virial += virial;
                }
            }
        }
    }
    sums
}

/// Returns the mean of samples and the standard error of the mean.
fn statistics(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Returns the factor by which the estimate may exceed the measured error. The estimate counts pairs in a shell at
/// radius + σ, and lets the atoms of a pair move only along the line between the two atoms. Displacements by σ in the
/// two other directions increase the distance by σ²/r. The relative decrease of the missed energy with the buffer b,
/// J₀/J₁, is at most (2 + b/σ)/σ.
fn excess(radius: f64, sigma: f64) -> f64 {
    (1.0 + sigma / radius).powi(2) * ((radius - CUTOFF + 2.0 * sigma) / CUTOFF).exp()
}

/// Factor for lists of clusters, to be multiplied by [`excess`]. The estimate uses a straight line for the fraction of
/// missing pairs, fitted to measurements up to half a block beyond the radius. The straight line is too high close to
/// the radius.
const GROUP_EXCESS: f64 = 1.15;

/// Distance at which the switch of the tests begins, nm.
const SWITCH: f64 = 0.7;
/// Factor for switched interactions, to be multiplied by [`excess`]. The estimate neglects the next order of the
/// expansion, which is at most a fifth of the estimate for oxygens that move by 0.02 nm.
const NEXT_ORDER: f64 = 1.2;

#[test]
fn missed_pairs_of_charges_cost_what_is_estimated() {
    let pme = Electrostatics::Pme(PmeParameters { alpha: ALPHA, grid: [24; 3], order: 4 });
    assert_cost_as_estimated(&water(pme), &[(0.92, 4), (0.92, 8), (1.0, 20)]);
}

#[test]
fn missed_pairs_without_charges_cost_what_is_estimated() {
    assert_cost_as_estimated(&water(Electrostatics::Off), &[(0.91, 8), (0.92, 20)]);
}

#[test]
fn missed_pairs_of_switched_interactions_cost_what_is_estimated() {
    for lj_modifier in [LjModifier::ForceSwitch { from: SWITCH }, LjModifier::PotentialSwitch { from: SWITCH }] {
        let mut system = water(Electrostatics::Off);
        system.settings.lj_modifier = lj_modifier;
        assert_cost_as_estimated(&system, &[(0.9, 20)]);
    }
}

/// Asserts that missed pairs add as much energy and virial as estimated, for list radii in nm and lifetimes in steps.
fn assert_cost_as_estimated(system: &System, lists: &[(f64, u32)]) {
    for &(radius, steps) in lists {
        let estimate = BufferEstimate::new(system, EDGE.powi(3), TEMPERATURE, TIMESTEP);
        let time = f64::from(steps - 1) * TIMESTEP;
        let sigma: Vec<f64> =
            motions(system)[..3].iter().map(|m| m.variance(BOLTZMANN * TEMPERATURE, time).sqrt()).collect();
        let samples: Vec<[Gained; 4]> = (0..CONFIGURATIONS)
            .map(|index| missed(system, radius, &sigma, &mut Stream::new(1, Purpose::Test, 0, index)))
            .collect();
        let measured = |kind: usize| statistics(&samples.iter().map(|s| s[kind].drift(time)).collect::<Vec<_>>());
        // the error of a sample without a missed pair is the energy of one pair of oxygens: if three missed pairs are
        // expected, at least one is found in 95 of 100 tests
        let one_pair = 6.0 * OXYGENS.0 / CUTOFF.powi(6) / f64::from(CONFIGURATIONS * DRAWS);
        let virial = |kind: usize| match statistics(&samples.iter().map(|s| s[kind].virial()).collect::<Vec<_>>()) {
            (0.0, _) => (0.0, one_pair),
            found => found,
        };
        let next_order = if system.settings.lj_switch().is_some() { NEXT_ORDER } else { 1.0 };
        let excess = next_order * excess(radius, 2f64.sqrt() * sigma[1]);
        let check = |estimate: f64, (mean, error): (f64, f64), excess: f64| {
            let (low, high) = (mean - STANDARD_ERRORS * error, excess * mean + STANDARD_ERRORS * error);
            assert!(
                low < estimate && estimate < high,
                "{radius} nm, {steps} steps: {estimate:e} for {mean:e} ± {error:e}"
            );
        };
        let sum = |[lj, coulomb]: [f64; 2]| lj + coulomb;
        check(sum(estimate.drifts(radius, time, |_| 1.0)), measured(0), excess);
        check(estimate.virial(radius, time, |_| 1.0), virial(0), excess);
        for (kind, correction) in [(1, OUTER), (2, INNER), (3, SINGLE)] {
            let missing = estimate.missing(correction);
            check(sum(estimate.drifts(radius, time, &missing)), measured(kind), GROUP_EXCESS * excess);
            check(estimate.virial(radius, time, &missing), virial(kind), GROUP_EXCESS * excess);
        }
    }
}

/// Tolerances: 0.005 kJ/mol/ps per atom and 0.5 bar.
const TOLERANCE: ListErrors = ListErrors { drift: 0.005, pressure: 0.5 * BAR };

/// Asserts that both lists stay within their error budgets.
fn assert_within(
    estimate: &BufferEstimate,
    lists: &ListSchedule,
    [outer_correction, inner_correction]: [ClusterCorrection; 2],
) {
    let &ListSchedule { rebuild, prune, outer, inner, lookahead } = lists;
    let [of_outer, of_inner] = [
        estimate.missed(outer, rebuild, 0.0, outer_correction),
        estimate.missed(inner, prune, lookahead, inner_correction),
    ];
    assert!(
        of_outer.drift() <= OUTER_BUDGET.drift * TOLERANCE.drift && of_inner.drift() <= TOLERANCE.drift,
        "{lists:?}"
    );
    assert!(of_outer.drifts[0] <= OUTER_BUDGET.lj * TOLERANCE.drift, "{lists:?}");
    assert!(of_outer.pressure + of_inner.pressure <= TOLERANCE.pressure, "{lists:?}");
    let ListErrors { drift, pressure } = estimate.errors_of(lists);
    assert!(drift <= TOLERANCE.drift && pressure <= TOLERANCE.pressure, "{lists:?}");
}

#[test]
fn no_schedule_errs_more_than_is_tolerated() {
    let pme = Electrostatics::Pme(PmeParameters { alpha: ALPHA, grid: [24; 3], order: 4 });
    let system = water(pme);
    let usual = BufferEstimate::new(&system, EDGE.powi(3), TEMPERATURE, TIMESTEP);
    let longer = usual.with_settings(ForceSettings { cutoff: Some(1.0), ..system.settings });
    for estimate in [usual, longer] {
        let mut schedules = estimate.schedules(TOLERANCE, None, f64::INFINITY);
        assert!(schedules.len() > REBUILD.len());
        assert!(schedules.is_sorted_by(|a, b| estimate.cycles(a) <= estimate.cycles(b)));
        let conventional = estimate.conventional(TOLERANCE, None);
        assert_eq!((conventional.rebuild, conventional.prune), (CONVENTIONAL_LIFETIME, CONVENTIONAL_LIFETIME));
        assert!(estimate.cycles(&conventional) >= estimate.cycles(&schedules[0]));
        schedules.extend([conventional, estimate.conventional(TOLERANCE, Some(7))]);
        schedules.push(estimate.with_lifetimes(TOLERANCE, 60, 6));
        for lists in schedules {
            assert_within(&estimate, &lists, [OUTER, INNER]);
            let ListSchedule { rebuild, prune, outer, inner, .. } = lists;
            assert!(rebuild % prune == 0 && outer >= inner && inner >= estimate.cutoff());
        }
    }
}

#[test]
fn radii_stay_within_the_cell_if_any_lifetime_allows_it() {
    let system = water(Electrostatics::Off);
    let estimate = BufferEstimate::new(&system, EDGE.powi(3), TEMPERATURE, TIMESTEP);
    let wide = estimate.schedules(TOLERANCE, None, f64::INFINITY);
    let limit = 0.5 * (CUTOFF + wide.iter().map(|s| s.outer).fold(0.0, f64::max));
    let tight = estimate.schedules(TOLERANCE, None, limit);
    assert!(tight.len() < wide.len() && tight.iter().all(|s| s.outer <= limit), "{tight:?}");
    assert_eq!(estimate.schedules(TOLERANCE, None, 0.1).len(), 1);
}
