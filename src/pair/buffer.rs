//! How far beyond the cutoff a list must reach for its lifetime.
//!
//! Pairs outside the list radius when it was built can come within the cutoff before it is rebuilt. For a pair whose
//! distance changes by y ~ N(0, σ²) and which is missed while V(r) ≠ 0, the mean error with b = r_list − r_cut is
//!
//! ⟨ΔV⟩ = 4π r_list² ρ |−V′ J₁ + V″ J₂|, J_n = E[(y − b)₊ⁿ⁺¹]/(n + 1)!,
//!
//! with V shifted to zero at the cutoff and expanded there (the double integral of Páll & Hess 2013,
//! 10.1016/j.cpc.2013.06.003, done in one go). The drift is this error per lifetime, summed over pairs of classes:
//! charges of opposite sign cancel in the mean, Lennard-Jones and Coulomb terms are not set off against each other.
//! A list holds groups of pairs and thereby most pairs just outside its radius, see [`Grain`].
//!
//! Missed pairs also lack in the virial. Lennard-Jones pairs at the cutoff attract each other: the mean pressure is too
//! high, while the drift may vanish. A pair that has come u within the cutoff lacks r F = −r V′ at r = r_cut − u, so
//!
//! ⟨ΔP⟩ = 4π r_list² ρ |−r_cut V′ J₀ + (V′ + r_cut V″) J₁|/(3V), summed over Lennard-Jones pairs.
//!
//! GROMACS bounds it since 2024 (`verlet-buffer-pressure-tolerance`). Charges of neutral molecules cancel: without them the
//! estimate for water is twice what is missed, with them thirty times (`validation/lists`). The mean over the age t of the
//! list is Simpson's rule ⅔ ΔP(T/2) + ⅙ ΔP(T): nothing is missed at t = 0, and the rule is exact for tⁿ up to n = 3 and
//! above the mean beyond, where the buffer makes ΔP rise more steeply. A list that looks ahead by f misses as much at t as
//! another at |t − f|; T − f ≥ f takes the place of T. Each list gets half of the pressure that is tolerated.
//!
//! The inner list is made for where atoms will be in the middle of its life, as far as velocities tell. It then misses
//! pairs that are leaving the cutoff in the first half as often as pairs that are entering it in the second; by reversal
//! of time the errors of both are opposite, and what is left of the drift is a small part of the estimate, which does
//! not count on it. That works as long as atoms fly straight, and inner lists live no longer. The virials of both do not
//! cancel, and nothing cancels the errors of the outer list, which gets a part [`OUTER_SHARE`] of the tolerated drift.
//!
//! The density ρ = N/V is that of the volume that atoms fill ([`super::filled_volume`]), not of the cell: a slab in vacuum
//! misses as many pairs as the liquid that it was cut from. The pressure is that inside the slab, too.

use crate::system::{Electrostatics, ForceSettings, System};
use crate::units::{BOLTZMANN, COULOMB};
use motion::{Class, Pairs, classes, pairs};
use std::collections::BTreeMap;
use std::f64::consts::PI;

mod motion;
#[cfg(test)]
mod tests;

/// Radii and lifetimes of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListSchedule {
    /// steps between searches
    pub rebuild: u32,
    /// steps between prunings of the outer to the inner list
    pub prune: u32,
    /// radius of the outer list in nm; infinite without a cutoff
    pub outer: f64,
    /// radius of the inner list in nm
    pub inner: f64,
    /// the inner list is made for where atoms will be so much later if nothing acts on them, ps
    pub lookahead: f64,
}

impl ListSchedule {
    /// Lists of radius `outer` (nm) that live until atoms have moved too far, however long that takes.
    pub fn exact(outer: f64) -> Self {
        ListSchedule { rebuild: u32::MAX, prune: u32::MAX, outer, inner: outer, lookahead: 0.0 }
    }

    /// True when displacements, not steps, end the life of these lists.
    pub fn is_exact(&self) -> bool {
        self.rebuild == u32::MAX
    }

    /// Whether a pair within `cutoff` (nm) may be missing from these lists, in a configuration that differs from that of
    /// the search by a factor μ to all of it and then by ways d of the atoms, the longest squared being given (nm²).
    /// Pairs further apart than the list's radius R were at the search are now at least μR − 2d apart.
    pub(crate) fn may_miss(&self, cutoff: f64, scale: f64, longest_squared: f64) -> bool {
        let slack = scale * self.outer - cutoff;
        slack < 0.0 || 4.0 * longest_squared > slack * slack
    }
}

/// Lifetimes that are considered, in steps.
const REBUILD: [u32; 7] = [10, 20, 25, 40, 50, 80, 100];
const PRUNE: [u32; 7] = [2, 4, 5, 8, 10, 20, 25];

/// What lists cost.
#[derive(Clone, Copy)]
struct Costs {
    /// of pruning one slot of the outer list against computing one of the inner
    prune: f64,
    /// of searching one
    search: f64,
    /// of a slot that only Lennard-Jones interactions reach, against one within both cutoffs
    far: f64,
    /// a list of radius r holds slots as if it reached this much (nm) further
    reach: f64,
    /// clock cycles for a slot of the inner list
    cycles: f64,
}

/// Measured on Zen 4 with AVX-512, `far` on DHFR.
const PROCESSOR: Costs = Costs { prune: 0.56, search: 2.4, far: 0.4, reach: 0.25, cycles: 2.8 };
/// Of single atoms beside blocks of 32, as on a GPU. **Estimates, never measured**, from the text of the kernels for a
/// system of some 10⁴ atoms on a large GPU, where a step takes 50 µs:
///
/// - `cycles`: instructions of a lane for a pair (53, or 57 where some of a tile do not interact), one per clock;
/// - `prune`: a distance per slot until the first hit, 8 of 57, and as much again for copying positions and two launches;
/// - `search`: distances to thrice as many slots, boxes of blocks and exclusions, 60 of 57, a dozen launches, and the
///   way to the host and back that tells how long the list is, 100 µs or thrice the time of the pairs;
/// - `far`: one branch holds both terms;
/// - `reach`: atoms within 0.9 nm to 1.2 nm of a cube of 32 atoms of a liquid (0.68 nm wide) are those in a sphere with a
///   radius larger by this much.
const GRAPHICS: Costs = Costs { prune: 0.3, search: 4.0, far: 1.0, reach: 0.487, cycles: 57.0 };
/// Angle (radian) by which the fastest rotation, that of hydrogens, may turn while it is taken for a straight flight: at
/// 300 K that takes 8 fs. In proteins in water of 24,000 and 89,000 atoms forces that lists of twice that life miss then
/// heat by −0.002 and −0.004 kT/ns per degree of freedom; without lookahead by −0.015, or by 0.02 with a slightly larger
/// radius, where Coulomb forces outweigh those of Lennard-Jones.
const TURN: f64 = 0.15;
/// Lifetime (steps) of the conventional list.
const CONVENTIONAL_LIFETIME: u32 = 20;

/// What a list may use up of what both may, as parts of it.
#[derive(Clone, Copy)]
struct Share {
    drift: f64,
    /// of the tolerated drift, by Lennard-Jones interactions alone: at the cutoff all attract, so that the estimate is what
    /// is missed; that of charges is a sum of magnitudes, which in neutral molecules nearly cancel
    lj: f64,
    pressure: f64,
}

/// The outer list: what it misses grows all its life, and nothing cancels it.
const OUTER_SHARE: Share = Share { drift: 0.1, lj: 0.002, pressure: 0.5 };
/// An inner list that looks ahead.
const INNER_SHARE: Share = Share { drift: 1.0, lj: 0.03, pressure: 0.5 };

/// How coarse a list is. A pair that stands x beyond the radius is missing only if no other pair of its group is inside:
/// that happens to `at_radius` + `slope` x/l of the pairs, l = (8/ρ)^(1/3) being the size of a block. Measured on water
/// and a protein in water, alike to 0.003 at the radius.
#[derive(Clone, Copy)]
struct Grain {
    at_radius: f64,
    slope: f64,
}

/// The outer list: 4 × 8 pairs are in or out together.
const OUTER: Grain = Grain { at_radius: 0.053, slope: 0.75 };
/// The inner list: 2 × 8 pairs.
const INNER: Grain = Grain { at_radius: 0.095, slope: 0.92 };
/// Lists of single atoms beside blocks of 32, as on a GPU, the outer and the inner one: an atom within the radius of one
/// of the 32 is listed for all.
const SINGLE: Grain = Grain { at_radius: 0.064, slope: 0.55 };

/// Precision of the bisection for a radius, in nm.
const RESOLUTION: f64 = 1e-4;

/// What lists may cost, or are estimated to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListErrors {
    /// energy drift, kJ/mol/ps per atom
    pub drift: f64,
    /// error of the mean pressure, kJ/mol/nm³
    pub pressure: f64,
}

/// What one list misses.
#[derive(Clone, Copy, Debug)]
struct Missed {
    /// drifts by Lennard-Jones and by Coulomb interactions, kJ/mol/ps per atom
    drifts: [f64; 2],
    /// kJ/mol/nm³
    pressure: f64,
}

impl Missed {
    fn drift(&self) -> f64 {
        self.drifts[0] + self.drifts[1]
    }

    fn is_within(&self, share: Share, tolerance: ListErrors) -> bool {
        self.drifts[0] <= share.lj * tolerance.drift
            && self.drift() <= share.drift * tolerance.drift
            && self.pressure <= share.pressure * tolerance.pressure
    }
}

/// The errors of one system's lists at one temperature.
#[derive(Clone)]
pub struct BufferEstimate<'a> {
    system: &'a System,
    settings: ForceSettings,
    classes: Vec<Class>,
    pairs: Vec<Pairs>,
    /// nm³
    volume: f64,
    kt: f64,
    timestep: f64,
    /// V′ and V″ of unit charges at the Coulomb cutoff
    coulomb_slopes: [f64; 2],
    /// of the outer and the inner list
    grains: [Grain; 2],
    costs: Costs,
}

impl<'a> BufferEstimate<'a> {
    /// For the volume that the atoms fill in nm³ ([`super::filled_volume`]), the highest temperature of the run in K, and
    /// the time step in ps.
    pub fn new(system: &'a System, volume: f64, temperature: f64, timestep: f64) -> Self {
        let settings = system.settings;
        let (kt, coulomb_slopes) = (BOLTZMANN * temperature, coulomb_slopes(&settings));
        let (grains, costs, classes) = ([OUTER, INNER], PROCESSOR, classes(system));
        let pairs = pairs(system, &classes);
        BufferEstimate { system, settings, classes, pairs, volume, kt, timestep, coulomb_slopes, grains, costs }
    }

    /// The same with other cutoffs and Coulomb parameters than the system's.
    pub fn with_settings(&self, settings: ForceSettings) -> Self {
        BufferEstimate { settings, coulomb_slopes: coulomb_slopes(&settings), ..self.clone() }
    }

    /// For lists of single atoms beside blocks of 32, as on a GPU.
    pub fn of_single_atoms(self) -> Self {
        BufferEstimate { grains: [SINGLE; 2], costs: GRAPHICS, ..self }
    }

    fn atoms(&self) -> f64 {
        self.system.topology.atoms.len().max(1) as f64
    }

    /// The part of pairs so far beyond the radius (nm) that is not listed.
    fn missing(&self, grain: Grain) -> impl Fn(f64) -> f64 {
        let block = (8.0 * self.volume / self.atoms()).cbrt();
        move |beyond| (grain.at_radius + grain.slope * beyond / block).min(1.0)
    }

    /// Life of a list, ps: its forces are last used when it is a step younger than its successor.
    fn life(&self, steps: u32) -> f64 {
        f64::from(steps.saturating_sub(1).max(1)) * self.timestep
    }

    /// What a list with this radius (nm) misses that is kept for `steps` and was made for where atoms are `lookahead` (ps)
    /// later.
    fn missed(&self, radius: f64, steps: u32, lookahead: f64, grain: Grain) -> Missed {
        let (life, missing) = (self.life(steps), self.missing(grain));
        let after = |time: f64| self.virial(radius, time, &missing);
        let way = life - lookahead;
        let virial = 2.0 / 3.0 * after(0.5 * way) + 1.0 / 6.0 * after(way);
        Missed { drifts: self.drifts(radius, life, &missing), pressure: virial / (3.0 * self.volume) }
    }

    /// Mean energy errors per atom and time (kJ/mol/ps), by Lennard-Jones and Coulomb interactions, of a list with this radius
    /// (nm) after `time` (ps), where of the pairs that stood a distance beyond the radius (nm) only the part `missing` is not listed. On average missed pairs stood
    /// ∫ x E[(y − b − x)₊] dx/J₁ = J₂/J₁ beyond, weighted with the error that V′ makes.
    fn drifts(&self, radius: f64, time: f64, missing: impl Fn(f64) -> f64) -> [f64; 2] {
        let (mut lj, mut coulomb) = (0.0, 0.0);
        for (pairs, shell, [_, j1, j2]) in self.movements(radius, time) {
            if j1 > 0.0 {
                let (shell, [first, second]) = (shell * missing(j2 / j1), self.lj_slopes(pairs));
                lj += shell * (second * j2 - first * j1);
                let [first, second] = self.coulomb_slopes;
                coulomb += shell * COULOMB * pairs.charges * (second * j2 - first * j1).abs();
            }
        }
        [lj, coulomb].map(|energy: f64| energy.abs() / self.atoms() / time)
    }

    /// Mean virial (kJ/mol) of the Lennard-Jones pairs that a list with this radius (nm) misses after `time` (ps).
    fn virial(&self, radius: f64, time: f64, missing: impl Fn(f64) -> f64) -> f64 {
        let (cutoff, mut virial) = (self.settings.cutoff_lj.unwrap_or(0.0), 0.0);
        for (pairs, shell, [j0, j1, _]) in self.movements(radius, time) {
            if j0 > 0.0 {
                let [first, second] = self.lj_slopes(pairs);
                virial += shell * missing(j1 / j0) * ((first + cutoff * second) * j1 - cutoff * first * j0);
            }
        }
        virial.abs()
    }

    /// Pairs, those of them per nm of distance at the radius (nm) as part of all, and moments J₀, J₁, J₂ of their moves in
    /// `time` (ps).
    fn movements(&self, radius: f64, time: f64) -> impl Iterator<Item = (&Pairs, f64, [f64; 3])> {
        self.pairs.iter().map(move |pairs| {
            let sigma = pairs.motions.iter().map(|motion| motion.variance(self.kt, time)).sum::<f64>().sqrt();
            let shell = 4.0 * PI * (radius + sigma).powi(2) / self.volume;
            // where the cutoffs differ, pruning leaves the same buffer around both
            (pairs, shell, moments(radius - self.cutoff(), sigma))
        })
    }

    /// The radius (nm) that keeps errors below the share of the tolerance.
    fn radius(&self, limits: (Share, ListErrors), steps: u32, lookahead: f64, grain: Grain) -> f64 {
        let (cutoff, (share, tolerance)) = (self.cutoff(), limits);
        let fits = |radius: f64| self.missed(radius, steps, lookahead, grain).is_within(share, tolerance);
        if steps <= 1 || fits(cutoff) {
            return cutoff;
        }
        let (mut low, mut high) = (cutoff, cutoff + 0.05);
        while !fits(high) {
            (low, high) = (high, cutoff + 2.0 * (high - cutoff));
        }
        while high - low > RESOLUTION {
            let middle = 0.5 * (low + high);
            if fits(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// The radius (nm) of an outer list that lives for `rebuild` steps: nothing sets its errors off.
    fn outer_radius(&self, tolerance: ListErrors, rebuild: u32) -> f64 {
        self.radius((OUTER_SHARE, tolerance), rebuild, 0.0, self.grains[0])
    }

    /// The radius (nm) of an inner list that lives for `prune` steps.
    fn inner_radius(&self, tolerance: ListErrors, prune: u32) -> f64 {
        let share = if self.is_predictable(prune) { INNER_SHARE } else { OUTER_SHARE };
        self.radius((share, tolerance), prune, self.lookahead(prune), self.grains[1])
    }

    /// Errors of both lists: the drift of an inner list counts where lookahead does not cancel it.
    pub fn errors_of(&self, schedule: &ListSchedule) -> ListErrors {
        let &ListSchedule { rebuild, prune, outer, inner, lookahead } = schedule;
        let [of_outer, of_inner] = [(outer, rebuild, 0.0, self.grains[0]), (inner, prune, lookahead, self.grains[1])]
            .map(|(radius, steps, lookahead, grain)| self.missed(radius, steps, lookahead, grain));
        let uncancelled = if self.is_predictable(prune) { 0.0 } else { of_inner.drift() };
        ListErrors { drift: of_outer.drift() + uncancelled, pressure: of_outer.pressure + of_inner.pressure }
    }

    /// Schedules within the tolerance, the cheapest by [`BufferEstimate::cycles`] first: no timing, the same on every run.
    /// `rebuild` fixes the list's lifetime, `largest` (nm) bounds its radius.
    pub fn schedules(&self, tolerance: ListErrors, rebuild: Option<u32>, largest: f64) -> Vec<ListSchedule> {
        let mut radii = BTreeMap::new();
        let mut found = vec![];
        for rebuild in rebuild.map_or(REBUILD.to_vec(), |steps| vec![steps]) {
            let outer = self.outer_radius(tolerance, rebuild);
            let fitting = |prune: &u32| rebuild % prune == 0 && *prune < rebuild && self.is_predictable(*prune);
            let mut lives: Vec<u32> = PRUNE.into_iter().filter(fitting).collect();
            if lives.is_empty() {
                lives.push(rebuild);
            }
            for prune in lives {
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

    /// The radii that the tolerance asks for with these lifetimes, in steps.
    pub fn with_lifetimes(&self, tolerance: ListErrors, rebuild: u32, prune: u32) -> ListSchedule {
        let inner = self.inner_radius(tolerance, prune);
        self.schedule(rebuild, prune, [self.outer_radius(tolerance, rebuild).max(inner), inner])
    }

    fn schedule(&self, rebuild: u32, prune: u32, [outer, inner]: [f64; 2]) -> ListSchedule {
        ListSchedule { rebuild, prune, outer, inner, lookahead: self.lookahead(prune) }
    }

    /// How far (ps) ahead an inner list of so many steps looks: to the middle of its life.
    fn lookahead(&self, prune: u32) -> f64 {
        let half_life = 0.5 * f64::from(prune.saturating_sub(1)) * self.timestep;
        half_life.min(self.straight())
    }

    /// How long (ps) all atoms fly straight: until the fastest rotation has turned by [`TURN`].
    fn straight(&self) -> f64 {
        let rotating = self.classes.iter().filter_map(|class| class.motion.rotating);
        let fastest = rotating.map(|(mass, radius)| self.kt / (mass * radius * radius)).fold(0.0, f64::max);
        TURN / fastest.sqrt()
    }

    /// Whether an inner list of so many steps stays near the middle of its life for which it is made.
    fn is_predictable(&self, prune: u32) -> bool {
        prune == PRUNE[0] || f64::from(prune) * self.timestep <= 2.0 * self.straight()
    }

    /// One list, kept for `rebuild` steps or 20, and within the tolerance: what is usual without any tuning.
    pub fn conventional(&self, tolerance: ListErrors, rebuild: Option<u32>) -> ListSchedule {
        let lifetime = rebuild.unwrap_or(CONVENTIONAL_LIFETIME);
        self.with_lifetimes(tolerance, lifetime, lifetime)
    }

    /// Clock cycles of a step's pairs and lists, all threads (on a GPU lanes) together.
    pub fn cycles(&self, schedule: &ListSchedule) -> f64 {
        let &ListSchedule { rebuild, prune, outer, inner, .. } = schedule;
        let Costs { prune: prune_cost, search, far, reach, cycles } = self.costs;
        let volume = |radius: f64| (radius + reach).powi(3);
        // as pruning sorts blocks: within the Coulomb cutoff and the buffer, or only in reach of Lennard-Jones
        let near = self.settings.cutoff.map_or(inner, |coulomb| inner - (self.cutoff() - coulomb));
        let pairs = volume(near) + far * (volume(inner) - volume(near));
        let pruning = if prune < rebuild { prune_cost / f64::from(prune) } else { 0.0 };
        let slots = pairs + volume(outer) * (pruning + search / f64::from(rebuild));
        let atoms = self.atoms();
        0.5 * atoms * (atoms / self.volume) * 4.0 / 3.0 * PI * slots * cycles
    }

    fn cutoff(&self) -> f64 {
        let settings = &self.settings;
        settings.cutoff.unwrap_or(0.0).max(settings.cutoff_lj.unwrap_or(0.0))
    }

    /// V′ (kJ/mol/nm) and V″ (kJ/mol/nm²) at the Lennard-Jones cutoff, summed over pairs.
    fn lj_slopes(&self, pairs: &Pairs) -> [f64; 2] {
        let ([c6, c12], inverse) = (pairs.lj, self.settings.cutoff_lj.map_or(0.0, f64::recip));
        [
            6.0 * c6 * inverse.powi(7) - 12.0 * c12 * inverse.powi(13),
            -42.0 * c6 * inverse.powi(8) + 156.0 * c12 * inverse.powi(14),
        ]
    }
}

/// J₀ (nm), J₁ (nm²) and J₂ (nm³): moments of a truncated normal distribution.
fn moments(buffer: f64, sigma: f64) -> [f64; 3] {
    let z = buffer / sigma;
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    let tail = 0.5 * libm::erfc(z / 2f64.sqrt());
    let square = (1.0 + z * z) * tail - z * density;
    let cube = (2.0 + z * z) * density - z * (3.0 + z * z) * tail;
    [sigma * (density - z * tail), 0.5 * sigma * sigma * square, sigma.powi(3) / 6.0 * cube]
}

/// V′ and V″ at the cutoff for unit charges and unit Coulomb constant, 1/nm² and 1/nm³; zeros without a cutoff.
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
