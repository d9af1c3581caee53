//! The Verlet buffer: distance beyond the cutoff that a pair list must cover, because atoms move during the lifetime of
//! the list.
//!
//! A pair that is outside the list radius when the list is built can come within the cutoff before the list is rebuilt.
//! The list then lacks a pair that is within the cutoff. If distances change by y ~ N(0, σ²), the mean energy error
//! ⟨ΔV⟩ with the buffer b = r_list − r_cut is:
//!
//! ⟨ΔV⟩ = 4π r_list² ρ |−V′ J₁ + V″ J₂ − V‴ J₃ …|, J_n = E[(y − b)₊ⁿ⁺¹]/(n + 1)!,
//!
//! The symbols are the number density ρ, (x)₊ = max(x, 0), and the pair potential V, which is shifted to zero and
//! expanded at the cutoff (the double integral of Páll & Hess 2013, 10.1016/j.cpc.2013.06.003, in closed form). The
//! energy drift is ⟨ΔV⟩ divided by the list lifetime, summed over pairs of atom classes. The errors of pairs of like
//! charges and the errors of pairs of opposite charges cancel in the mean. Lennard-Jones and Coulomb errors are added.
//! A list of cluster pairs also holds most of the atom pairs just outside the list radius, see [`ClusterCorrection`].
//!
//! Missed pairs are also missing from the virial. Lennard-Jones pairs at the cutoff attract each other, so that the
//! mean pressure is too high if some of these pairs are missed. The pressure error occurs even without energy drift. A
//! missed pair at the distance r = r_cut − u lacks the virial r F = −r V′. The mean pressure error ⟨ΔP⟩ is:
//!
//! ⟨ΔP⟩ = 4π r_list² ρ |−r_cut V′ J₀ + (V′ + r_cut V″) J₁|/(3Ω) with the volume Ω and the moments J_n above, summed
//! over Lennard-Jones pairs.
//!
//! If Lennard-Jones interactions are switched, V, V′ and V″ are zero at the cutoff, and the first nonzero term of the
//! expansion is the term with the third derivative V‴. With a switch, the expression between the bars becomes −V‴ J₃ in
//! ⟨ΔV⟩ and −r_cut V‴ J₂ in ⟨ΔP⟩. With typical lists, missed pairs are at most 0.05 nm inside the cutoff. For missed
//! pairs at most 0.05 nm inside the cutoff, the whole expansion is 0.92 times its V‴ term if a force switch acts from
//! 1.0 to 1.2 nm. For force and potential switches over 0.1 to 0.4 nm, the whole expansion is 0.5 to 1.06 times its V‴
//! term.
//!
//! GROMACS has bounded the pressure error since 2024 (`verlet-buffer-pressure-tolerance`). ⟨ΔP⟩ omits charges, which
//! cancel in neutral molecules: for water the estimate is twice the measured error, and would be thirty times the
//! measured error if charges were included (`validation/lists`). The mean error over the list lifetime T follows from
//! Simpson's rule, ⅔ ΔP(T/2) + ⅙ ΔP(T), since no pair is missed at the age t = 0. Simpson's rule is exact for errors
//! that grow as tⁿ up to n = 3. With a buffer the errors grow as higher powers of t, for which Simpson's rule exceeds
//! the mean. The number of pairs that a list with lookahead f misses at time t equals the number that a list without
//! lookahead misses at time |t − f|. For a list with lookahead f and lifetime T, Simpson's rule therefore uses T − f,
//! which is at least f, in place of T. The outer and the inner list each get half of the tolerated pressure error.
//!
//! Pruning uses the positions r + v f that are predicted from the velocities v for the time f (the lookahead) after the
//! pruning, which is the middle of the lifetime of the inner list. The inner list then misses pairs that leave the
//! cutoff in the first half of its lifetime, and an equal number of pairs that enter the cutoff in the second half. By
//! time reversal the energy errors of the two halves of the lifetime are opposite. The actual drift is a small part of
//! the estimate, which ignores the cancellation of the two halves. The cancellation requires ballistic motion, which
//! limits the lifetime of inner lists. The virial errors of the two halves of the lifetime do not cancel. The energy
//! errors of the outer list do not cancel either, so that the outer list gets only the part [`OUTER_BUDGET`] of the
//! tolerated drift.
//!
//! The density ρ = N/Ω refers to the volume Ω that the N atoms fill ([`super::filled_volume`]), not to the cell: a slab
//! in vacuum has as many missed pairs as the same volume of bulk liquid. The pressure error is the error of the
//! pressure inside the slab.

use crate::system::{Electrostatics, ForceSettings, System};
use crate::units::{BOLTZMANN, COULOMB, FARTHEST};
use costs::{CPU, Costs, GPU};
use motion::{Class, Pairs, classes, pairs};
use std::collections::BTreeMap;
use std::f64::consts::PI;

mod costs;
mod motion;
#[cfg(test)]
mod tests;

/// Radii and lifetimes of the outer and the inner pair list.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListSchedule {
    /// number of steps between pair searches
    pub rebuild: u32,
    /// number of steps between prunings, which make the inner list from the outer list
    pub prune: u32,
    /// radius of the outer list, nm; infinite without a cutoff
    pub outer: f64,
    /// radius of the inner list, nm
    pub inner: f64,
    /// pruning lookahead, ps: pruning uses positions predicted this far ahead from the velocities
    pub lookahead: f64,
}

impl ListSchedule {
    /// Returns a schedule with lists of radius `outer` (nm) that are rebuilt when atoms have moved too far, not after a
    /// number of steps.
    pub fn exact(outer: f64) -> Self {
        ListSchedule { rebuild: u32::MAX, prune: u32::MAX, outer, inner: outer, lookahead: 0.0 }
    }

    /// Returns whether displacements, not a number of steps, limit the lifetime of these lists.
    pub fn is_exact(&self) -> bool {
        self.rebuild == u32::MAX
    }

    /// Returns whether a pair within `cutoff` (nm) may be missing from these lists. Since the search, a barostat has
    /// scaled the positions by μ = `scale`. In addition, atoms have moved by at most d, where d² = `longest_squared`
    /// (nm²). If a pair was further apart than the list radius R at the search, its distance is now at least μR − 2d.
    pub(crate) fn may_miss(&self, cutoff: f64, scale: f64, longest_squared: f64) -> bool {
        let slack = scale * self.outer - cutoff;
        slack < 0.0 || 4.0 * longest_squared > slack * slack
    }
}

/// Candidate lifetimes, in steps: `REBUILD` for the outer list and `PRUNE` for the inner list.
const REBUILD: [u32; 7] = [10, 20, 25, 40, 50, 80, 100];
const PRUNE: [u32; 7] = [2, 4, 5, 8, 10, 20, 25];

/// Angle (rad) up to which the fastest rotation, that of hydrogens, counts as ballistic motion. Hydrogens turn by 0.15
/// rad in 8 fs at 300 K. In solvated proteins of 24,000 and 89,000 atoms, pairs missed by lists with a lifetime of 16
/// fs cause a drift of −0.002 and −0.004 kT/ns per degree of freedom, respectively. Without lookahead the drift is
/// −0.015 kT/ns per degree of freedom. With a slightly larger list radius the drift is 0.02 kT/ns per degree of
/// freedom, because missed Coulomb forces then have a larger effect than missed Lennard-Jones forces.
const TURN: f64 = 0.15;
/// Lifetime (steps) of a single list without pruning.
const CONVENTIONAL_LIFETIME: u32 = 20;

/// The error budget of one list, as fractions of the tolerances for both lists together.
#[derive(Clone, Copy)]
struct ErrorBudget {
    drift: f64,
    /// budget for the drift due to Lennard-Jones interactions alone. The Lennard-Jones interactions of all pairs
    /// attract at the cutoff, so that the estimated drift equals the actual drift. The estimated Coulomb drift exceeds
    /// the actual drift, because the estimate adds the magnitudes of errors that nearly cancel
    lj: f64,
    pressure: f64,
}

/// Budget of the outer list. The errors of the outer list grow over its whole lifetime and do not cancel.
const OUTER_BUDGET: ErrorBudget = ErrorBudget { drift: 0.1, lj: 0.002, pressure: 0.5 };
/// Budget of an inner list with lookahead.
const INNER_BUDGET: ErrorBudget = ErrorBudget { drift: 1.0, lj: 0.03, pressure: 0.5 };

/// Correction for cluster pairs. An atom pair at a distance x beyond the list radius is absent from the list only if
/// all atom pairs of its cluster pair are beyond the radius. At the distance x beyond the radius, the fraction of
/// absent pairs is `at_radius` + `slope` x/l, with the block size l = (8/ρ)^(1/3) and the number density ρ of the
/// atoms. The values measured on water differ by at most 0.003 from the values measured on a solvated protein.
#[derive(Clone, Copy)]
struct ClusterCorrection {
    at_radius: f64,
    slope: f64,
}

/// Correction for the outer list, whose cluster pairs have 4 × 8 atom pairs.
const OUTER: ClusterCorrection = ClusterCorrection { at_radius: 0.053, slope: 0.75 };
/// Correction for the inner list, whose cluster pairs have 2 × 8 atom pairs.
const INNER: ClusterCorrection = ClusterCorrection { at_radius: 0.095, slope: 0.92 };
/// Correction for outer and inner lists of single j-atoms against i-blocks of 32 atoms, as on a GPU: a j-atom within
/// the radius of any i-atom is listed for all 32 i-atoms.
const SINGLE: ClusterCorrection = ClusterCorrection { at_radius: 0.064, slope: 0.55 };

/// Precision of the bisection for a radius, in nm.
const RESOLUTION: f64 = 1e-4;

/// Tolerated or estimated errors due to pairs that the lists miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListErrors {
    /// energy drift, kJ/mol/ps per atom
    pub drift: f64,
    /// error of the mean pressure, kJ/mol/nm³
    pub pressure: f64,
}

/// Errors due to the pairs that one list misses.
#[derive(Clone, Copy, Debug)]
struct Missed {
    /// drifts due to Lennard-Jones and due to Coulomb interactions, kJ/mol/ps per atom
    drifts: [f64; 2],
    /// error of the mean pressure, kJ/mol/nm³
    pressure: f64,
}

impl Missed {
    fn drift(&self) -> f64 {
        self.drifts[0] + self.drifts[1]
    }

    fn is_within(&self, budget: ErrorBudget, tolerance: ListErrors) -> bool {
        self.drifts[0] <= budget.lj * tolerance.drift
            && self.drift() <= budget.drift * tolerance.drift
            && self.pressure <= budget.pressure * tolerance.pressure
    }
}

/// Error estimates for the lists of one system at one temperature.
#[derive(Clone)]
pub struct BufferEstimate<'a> {
    system: &'a System,
    settings: ForceSettings,
    classes: Vec<Class>,
    pairs: Vec<Pairs>,
    /// volume filled by atoms, nm³
    volume: f64,
    kt: f64,
    timestep: f64,
    /// first derivative (1/nm²) and second derivative (1/nm³) of the Coulomb interaction of unit charges at the cutoff,
    /// for unit Coulomb constant
    coulomb_slopes: [f64; 2],
    /// corrections for the outer and the inner list
    corrections: [ClusterCorrection; 2],
    costs: Costs,
}

impl<'a> BufferEstimate<'a> {
    /// Estimates errors for a system. `volume` is the volume filled by atoms in nm³ ([`super::filled_volume`]),
    /// `temperature` is the highest temperature of the run in K, `timestep` is in ps.
    pub fn new(system: &'a System, volume: f64, temperature: f64, timestep: f64) -> Self {
        let settings = system.settings;
        let (kt, coulomb_slopes) = (BOLTZMANN * temperature, coulomb_slopes(&settings));
        let (corrections, costs, classes) = ([OUTER, INNER], CPU, classes(system));
        let pairs = pairs(system, &classes);
        BufferEstimate { system, settings, classes, pairs, volume, kt, timestep, coulomb_slopes, corrections, costs }
    }

    /// Returns the same estimate with other cutoffs and Coulomb parameters.
    pub fn with_settings(&self, settings: ForceSettings) -> Self {
        BufferEstimate { settings, coulomb_slopes: coulomb_slopes(&settings), ..self.clone() }
    }

    /// Returns the same estimate for lists of single j-atoms against i-blocks of 32 atoms, as on a GPU.
    pub fn of_single_atoms(self) -> Self {
        BufferEstimate { corrections: [SINGLE; 2], costs: GPU, ..self }
    }

    fn atoms(&self) -> f64 {
        self.system.topology.atoms.len().max(1) as f64
    }

    /// Returns the fraction of atom pairs that a list lacks, as a function of the distance of the pair beyond the list
    /// radius (nm).
    fn missing(&self, correction: ClusterCorrection) -> impl Fn(f64) -> f64 {
        let block = (8.0 * self.volume / self.atoms()).cbrt();
        move |beyond| (correction.at_radius + correction.slope * beyond / block).min(1.0)
    }

    /// Returns the age (ps) at which a list with a lifetime of `steps` steps is last used. The list is last used one
    /// step before the next list is built.
    fn lifetime(&self, steps: u32) -> f64 {
        f64::from(steps.saturating_sub(1).max(1)) * self.timestep
    }

    /// Returns the errors of a list with this radius (nm) and a lifetime of `steps`. The list is pruned with positions
    /// that are predicted for the time `lookahead` (ps) after the pruning.
    fn missed(&self, radius: f64, steps: u32, lookahead: f64, correction: ClusterCorrection) -> Missed {
        let (lifetime, missing) = (self.lifetime(steps), self.missing(correction));
        let after = |time: f64| self.virial(radius, time, &missing);
        let way = lifetime - lookahead;
        let virial = 2.0 / 3.0 * after(0.5 * way) + 1.0 / 6.0 * after(way);
        Missed { drifts: self.drifts(radius, lifetime, &missing), pressure: virial / (3.0 * self.volume) }
    }

    /// Returns the mean energy errors per atom and time (kJ/mol/ps) due to Lennard-Jones and due to Coulomb
    /// interactions, for a list with this radius (nm) after `time` (ps). `missing(x)` is the fraction of pairs at a
    /// distance x (nm) beyond the radius that the list lacks. The mean of x over missed pairs, weighted with the energy
    /// error of each pair, is J_n₊₁/J_n with the moments J_n of [`moments`]. The number n is the order of the first
    /// derivative of the pair potential that is not zero at the cutoff.
    fn drifts(&self, radius: f64, time: f64, missing: impl Fn(f64) -> f64) -> [f64; 2] {
        let (mut lj, mut coulomb) = (0.0, 0.0);
        for (pairs, shell, [_, j1, j2, j3, j4]) in self.displacement_moments(radius, time) {
            if let Some(third) = self.switched_lj(pairs) {
                lj -= if j3 > 0.0 { shell * missing(j4 / j3) * third * j3 } else { 0.0 };
            }
            if j1 > 0.0 {
                let (shell, [first, second]) = (shell * missing(j2 / j1), self.lj_slopes(pairs));
                lj += shell * (second * j2 - first * j1);
                let [first, second] = self.coulomb_slopes;
                coulomb += shell * COULOMB * pairs.charges * (second * j2 - first * j1).abs();
            }
        }
        [lj, coulomb].map(|energy: f64| energy.abs() / self.atoms() / time)
    }

    /// Returns the mean virial (kJ/mol) of the Lennard-Jones pairs that a list with this radius (nm) misses after
    /// `time` (ps).
    fn virial(&self, radius: f64, time: f64, missing: impl Fn(f64) -> f64) -> f64 {
        let (cutoff, mut virial) = (self.settings.cutoff_lj.unwrap_or(0.0), 0.0);
        for (pairs, shell, [j0, j1, j2, j3, _]) in self.displacement_moments(radius, time) {
            if let Some(third) = self.switched_lj(pairs) {
                virial -= if j2 > 0.0 { shell * missing(j3 / j2) * cutoff * third * j2 } else { 0.0 };
            } else if j0 > 0.0 {
                let [first, second] = self.lj_slopes(pairs);
                virial += shell * missing(j1 / j0) * ((first + cutoff * second) * j1 - cutoff * first * j0);
            }
        }
        virial.abs()
    }

    /// Returns three results for each pair of atom classes: the sums of interaction parameters, the fraction of atom
    /// pairs per nm of distance at the list radius, and the moments J₀ … J₄ of the displacements after `time` (ps).
    fn displacement_moments(&self, radius: f64, time: f64) -> impl Iterator<Item = (&Pairs, f64, [f64; 5])> {
        self.pairs.iter().map(move |pairs| {
            let sigma = pairs.motions.iter().map(|motion| motion.variance(self.kt, time)).sum::<f64>().sqrt();
            let shell = 4.0 * PI * (radius + sigma).powi(2) / self.volume;
            // the buffer is the same for the Coulomb and the Lennard-Jones cutoff
            (pairs, shell, moments(radius - self.cutoff(), sigma))
        })
    }

    /// Returns the smallest radius (nm) that keeps errors within the budget.
    fn radius(
        &self,
        budget: ErrorBudget,
        tolerance: ListErrors,
        steps: u32,
        lookahead: f64,
        correction: ClusterCorrection,
    ) -> f64 {
        let cutoff = self.cutoff();
        let fits = |radius: f64| self.missed(radius, steps, lookahead, correction).is_within(budget, tolerance);
        if steps <= 1 || fits(cutoff) {
            return cutoff;
        }
        let (mut low, mut high) = (cutoff, cutoff + 0.05);
        // `FARTHEST` exceeds the size of any cell, so larger radii are not tried
        while !fits(high) && high < FARTHEST {
            (low, high) = (high, cutoff + 2.0 * (high - cutoff));
        }
        while high - low > RESOLUTION {
            let middle = 0.5 * (low + high);
            if fits(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// Returns the radius (nm) of an outer list with a lifetime of `rebuild` steps.
    fn outer_radius(&self, tolerance: ListErrors, rebuild: u32) -> f64 {
        self.radius(OUTER_BUDGET, tolerance, rebuild, 0.0, self.corrections[0])
    }

    /// Returns the radius (nm) of an inner list with a lifetime of `prune` steps.
    fn inner_radius(&self, tolerance: ListErrors, prune: u32) -> f64 {
        let budget = if self.is_predictable(prune) { INNER_BUDGET } else { OUTER_BUDGET };
        self.radius(budget, tolerance, prune, self.lookahead(prune), self.corrections[1])
    }

    /// Returns the errors of both lists. The drift due to the inner list is included only without lookahead.
    pub fn errors_of(&self, schedule: &ListSchedule) -> ListErrors {
        let &ListSchedule { rebuild, prune, outer, inner, lookahead } = schedule;
        let [of_outer, of_inner] =
            [(outer, rebuild, 0.0, self.corrections[0]), (inner, prune, lookahead, self.corrections[1])]
                .map(|(radius, steps, lookahead, correction)| self.missed(radius, steps, lookahead, correction));
        let uncancelled = if self.is_predictable(prune) { 0.0 } else { of_inner.drift() };
        ListErrors { drift: of_outer.drift() + uncancelled, pressure: of_outer.pressure + of_inner.pressure }
    }

    /// Returns schedules with errors within the tolerance, the cheapest by [`BufferEstimate::cycles`] first. The order
    /// is the same in every run. `rebuild` (steps) is the lifetime of the outer list, and `largest` (nm) limits the
    /// radius of the outer list.
    pub fn schedules(&self, tolerance: ListErrors, rebuild: Option<u32>, largest: f64) -> Vec<ListSchedule> {
        let mut radii = BTreeMap::new();
        let mut found = vec![];
        for rebuild in rebuild.map_or(REBUILD.to_vec(), |steps| vec![steps]) {
            let outer = self.outer_radius(tolerance, rebuild);
            let fitting = |prune: &u32| rebuild % prune == 0 && *prune < rebuild && self.is_predictable(*prune);
            let mut lifetimes: Vec<u32> = PRUNE.into_iter().filter(fitting).collect();
            if lifetimes.is_empty() {
                lifetimes.push(rebuild);
            }
            for prune in lifetimes {
                let inner = *radii.entry(prune).or_insert_with(|| self.inner_radius(tolerance, prune));
                found.push(self.schedule(rebuild, prune, [outer.max(inner), inner]));
            }
        }
        let shortest_lived = found[0];
        found.retain(|schedule| schedule.outer <= largest);
        if found.is_empty() {
            found.push(shortest_lived);
        }
        found.sort_by(|a, b| self.cycles(a).total_cmp(&self.cycles(b)));
        found
    }

    /// Returns the schedule with list lifetimes of `rebuild` and `prune` steps, and with the radii that keep the errors
    /// within the tolerance.
    pub fn with_lifetimes(&self, tolerance: ListErrors, rebuild: u32, prune: u32) -> ListSchedule {
        let inner = self.inner_radius(tolerance, prune);
        self.schedule(rebuild, prune, [self.outer_radius(tolerance, rebuild).max(inner), inner])
    }

    fn schedule(&self, rebuild: u32, prune: u32, [outer, inner]: [f64; 2]) -> ListSchedule {
        ListSchedule { rebuild, prune, outer, inner, lookahead: self.lookahead(prune) }
    }

    /// Returns the pruning lookahead (ps) of an inner list of `prune` steps: half of its lifetime, limited to ballistic
    /// motion.
    fn lookahead(&self, prune: u32) -> f64 {
        let half_lifetime = 0.5 * f64::from(prune.saturating_sub(1)) * self.timestep;
        half_lifetime.min(self.ballistic_time())
    }

    /// Returns the time (ps) for which the motion of all atoms is ballistic: until the fastest rotation has turned by
    /// [`TURN`].
    fn ballistic_time(&self) -> f64 {
        let rotating = self.classes.iter().filter_map(|class| class.motion.rotating);
        let fastest = rotating.map(|(mass, radius)| self.kt / (mass * radius * radius)).fold(0.0, f64::max);
        TURN / fastest.sqrt()
    }

    /// Returns whether motion is ballistic for half of the lifetime `prune` (steps) of an inner list. The result is
    /// always true for the shortest lifetime.
    fn is_predictable(&self, prune: u32) -> bool {
        prune == PRUNE[0] || f64::from(prune) * self.timestep <= 2.0 * self.ballistic_time()
    }

    /// Returns a single list without pruning whose errors are within the tolerance. The lifetime is `rebuild` steps, or
    /// 20 steps if `rebuild` is `None`. A single list is used if list lifetimes are not tuned.
    pub fn conventional(&self, tolerance: ListErrors, rebuild: Option<u32>) -> ListSchedule {
        let lifetime = rebuild.unwrap_or(CONVENTIONAL_LIFETIME);
        self.with_lifetimes(tolerance, lifetime, lifetime)
    }

    /// Returns the estimated clock cycles per step for pairs and lists, summed over all threads (on a GPU: lanes).
    pub fn cycles(&self, schedule: &ListSchedule) -> f64 {
        let &ListSchedule { rebuild, prune, outer, inner, .. } = schedule;
        let Costs { prune: prune_cost, search, far, switched, reach, cycles } = self.costs;
        let volume = |radius: f64| (radius + reach).powi(3);
        // pruning separates the blocks beyond the Coulomb radius, which have only Lennard-Jones interactions, from the
        // other blocks
        let near = self.settings.cutoff.map_or(inner, |coulomb| inner - (self.cutoff() - coulomb));
        let pairs = volume(near) + far * (volume(inner) - volume(near));
        let pairs = if self.settings.lj_switch().is_some() { switched * pairs } else { pairs };
        let pruning = if prune < rebuild { prune_cost / f64::from(prune) } else { 0.0 };
        let slots = pairs + volume(outer) * (pruning + search / f64::from(rebuild));
        let atoms = self.atoms();
        0.5 * atoms * (atoms / self.volume) * 4.0 / 3.0 * PI * slots * cycles
    }

    fn cutoff(&self) -> f64 {
        let settings = &self.settings;
        settings.cutoff.unwrap_or(0.0).max(settings.cutoff_lj.unwrap_or(0.0))
    }

    /// Returns the third derivative of the Lennard-Jones potential (kJ/mol/nm³) at the cutoff, summed over pairs;
    /// `None` without a switch.
    fn switched_lj(&self, pairs: &Pairs) -> Option<f64> {
        let ([c6, c12, _], switch) = (pairs.lj, self.settings.lj_switch()?);
        let [sixth, twelfth] = switch.third_derivative(self.settings.cutoff_lj?);
        Some(12.0 * c12 * twelfth - 6.0 * c6 * sixth)
    }

    /// Returns the first (kJ/mol/nm) and the second derivative (kJ/mol/nm²) of the Lennard-Jones potential at the
    /// cutoff, summed over pairs; zeros with a switch.
    fn lj_slopes(&self, pairs: &Pairs) -> [f64; 2] {
        if self.settings.lj_modifier.switch_distance().is_some() {
            return [0.0; 2];
        }
        let ([c6, c12, c4], inverse) = (pairs.lj, self.settings.cutoff_lj.map_or(0.0, f64::recip));
        let [first, second] = attraction_slopes(&self.settings);
        [
            c6 * first * inverse.powi(7) - 12.0 * c12 * inverse.powi(13) + 4.0 * c4 * inverse.powi(5),
            c6 * second * inverse.powi(8) + 156.0 * c12 * inverse.powi(14) - 20.0 * c4 * inverse.powi(6),
        ]
    }
}

/// Returns the moments J₀ (nm) … J₄ (nm⁵) of a truncated normal distribution: J_n = σⁿ⁺¹ K_n₊₁ with K_m = E[(x −
/// z)₊ᵐ]/m!, where x is a normal number, z = b/σ, and b is the buffer. Higher moments follow from the recurrence (m +
/// 1) K_m₊₁ = K_m₋₁ − z K_m of repeated integrals of the error function (Abramowitz & Stegun, 7.2.5).
fn moments(buffer: f64, sigma: f64) -> [f64; 5] {
    let z = buffer / sigma;
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    let tail = 0.5 * libm::erfc(z / 2f64.sqrt());
    let square = (1.0 + z * z) * tail - z * density;
    let cube = (2.0 + z * z) * density - z * (3.0 + z * z) * tail;
    let fourth = (0.5 * square - z * cube / 6.0) / 4.0;
    let fifth = (cube / 6.0 - z * fourth) / 5.0;
    [
        sigma * (density - z * tail),
        0.5 * sigma * sigma * square,
        sigma.powi(3) / 6.0 * cube,
        sigma.powi(4) * fourth,
        sigma.powi(5) * fifth,
    ]
}

/// Returns the derivatives V′ and V″ of the attraction V = −1/r⁶ at the cutoff r, multiplied by r⁷ and r⁸. With LJ-PME
/// the direct-space attraction is −g(x)/r⁶ with x = βr: g = (1 + x² + x⁴/2) exp(−x²), g′ = −x⁵ exp(−x²).
fn attraction_slopes(settings: &ForceSettings) -> [f64; 2] {
    let Some((pme, cutoff)) = settings.lj_pme().zip(settings.cutoff_lj) else { return [6.0, -42.0] };
    let x2 = (pme.alpha * cutoff).powi(2);
    let (gaussian, x4) = ((-x2).exp(), x2 * x2);
    let g = (1.0 + x2 + 0.5 * x4) * gaussian;
    // x g′ and x² g″
    let (first, second) = (-x4 * x2 * gaussian, (2.0 * x2 - 5.0) * x4 * x2 * gaussian);
    [6.0 * g - first, -(42.0 * g - 12.0 * first + second)]
}

/// Returns V′ and V″ at the cutoff for unit charges and unit Coulomb constant, 1/nm² and 1/nm³; zeros without a cutoff.
fn coulomb_slopes(settings: &ForceSettings) -> [f64; 2] {
    let Some(r) = settings.cutoff else { return [0.0; 2] };
    match settings.electrostatics {
        Electrostatics::Off => [0.0; 2],
        Electrostatics::Plain => [-1.0 / (r * r), 2.0 / r.powi(3)],
        // the force of a conducting reaction field vanishes at the cutoff; V″ = 2/r³ + 2 k, k = 1/(2 r³)
        Electrostatics::ReactionField { .. } => [0.0, 3.0 / r.powi(3)],
        Electrostatics::Pme(pme) => {
            let alpha = pme.alpha;
            let gauss = 2.0 * alpha / PI.sqrt() * (-alpha * alpha * r * r).exp();
            let erfc = libm::erfc(alpha * r);
            let first = -(erfc / (r * r) + gauss / r);
            [first, 2.0 * erfc / r.powi(3) + 2.0 * gauss / (r * r) + 2.0 * alpha * alpha * gauss]
        }
    }
}
