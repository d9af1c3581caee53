//! Networks of hydrogen bonds. This module finds the combination of states of several groups with the lowest energy.
//!
//! The energy of two sites at the distance r is `k q₁ q₂ / (ε r) · (1 − r/R)² + min(((a₁ + a₂)/r)¹², most)` in kJ/mol,
//! with Coulomb's constant k, charges q, the permittivity ε = 2, the cutoff R = 0.6 nm, radii a and the limit
//! [`MOST_REPULSION`]. Groups that can be flipped have the charges of ff14SB, and all other atoms have the charges of
//! [`Surroundings`]. The factor `(1 − r/R)²` keeps hydrogen bonds and contacts, and removes the field of distant
//! charges, which water screens. Waters do not interact with each other, because their neighbouring waters can rotate
//! as well: each water has the orientation with the lowest energy next to groups and solute, as a donor or as an
//! acceptor. A radius is half the distance at which two like atoms have a repulsion of 1 kJ/mol in ff14SB (Maier et
//! al., J. Chem. Theory Comput. 11, 3696 (2015), doi:10.1021/acs.jctc.5b00255), so that hydrogen bonds and overlaps
//! have the same weights as in the force field. Published scores (Word et al., J. Mol. Biol. 285, 1735 (1999),
//! doi:10.1006/jmbi.1998.2401) count dots on surfaces; such scores need the same hydrogens and more computing time.

use md_engine::units::COULOMB;
use md_engine::vec3::Vec3;

use super::energy::{Source, Surroundings};

/// Cutoff R of the interaction of sites, nm.
const REACH: f64 = 0.6;
/// Relative permittivity ε at short distances, due to electronic polarisation in organic matter: the square of the
/// refractive index of about 1.4 (Gilson and Honig, Biopolymers 25, 2097 (1986), doi:10.1002/bip.360251106).
const PERMITTIVITY: f64 = 2.0;
/// Largest repulsion energy of two sites, kJ/mol: about the energy of two hydrogen bonds. Larger overlaps are errors of
/// the structure, which no state of a group can correct.
const MOST_REPULSION: f64 = 40.0;
/// Largest number of combinations of states up to which all combinations in a cluster of groups are enumerated: the
/// number for three His with four states each.
const MOST_COMBINATIONS: usize = 64;
/// Number of rounds in which each rotatable hydrogen moves to its state of lowest energy.
const ROUNDS: usize = 3;
/// Largest number of sweeps over the pairs of groups of a cluster with more than [`MOST_COMBINATIONS`] combinations.
const SWEEPS: usize = 6;

/// A point charge with a radius.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// position, nm
    pub(super) position: Vec3,
    /// charge, e
    pub(super) charge: f64,
    /// radius, nm
    pub(super) radius: f64,
}

/// State of a mover: its sites, and its energy (kJ/mol) in the fixed surroundings, without interactions with other
/// movers.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) sites: Vec<Site>,
    pub(super) energy: f64,
    /// energy (kJ/mol) that is added to the energy of the state when states are compared
    pub(super) penalty: f64,
}

/// A group of atoms that can be in several states, such as a side chain that can be flipped or a rotatable hydrogen.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    /// reference position near the sites of all states, nm
    pub(super) center: Vec3,
    /// largest distance (nm) of a site of any state from the center
    pub(super) extent: f64,
    pub(super) states: Vec<State>,
    /// whether the mover is a water; waters do not interact with each other
    pub(super) is_water: bool,
}

impl Mover {
    /// Makes a mover from the sites and the penalty of each state. `felt` returns the site of an atom of the
    /// surroundings; `None` if the atom does not interact with the mover, or belongs to a mover.
    pub(super) fn new(
        states: Vec<(Vec<Site>, f64)>,
        surroundings: &Surroundings,
        is_water: bool,
        felt: impl Fn(&Source) -> Option<Site>,
    ) -> Self {
        let places = || states.iter().flat_map(|(sites, _)| sites.iter().map(|site| site.position));
        let center = places().sum::<Vec3>() * (1.0 / places().count().max(1) as f64);
        let extent = places().map(|place| (place - center).norm()).fold(0.0, f64::max);
        let fixed: Vec<Site> = surroundings.within(center, REACH + extent).filter_map(felt).collect();
        let state = |(sites, penalty): (Vec<Site>, f64)| State { energy: energy(&sites, &fixed), sites, penalty };
        Mover { center, extent, states: states.into_iter().map(state).collect(), is_water }
    }
}

/// Interaction of two sets of sites, kJ/mol.
fn energy(first: &[Site], second: &[Site]) -> f64 {
    let mut sum = 0.0;
    for a in first {
        for b in second {
            let squared = (a.position - b.position).norm_squared();
            if squared >= REACH * REACH {
                continue;
            }
            let distance = squared.sqrt().max(0.01);
            let shift = 1.0 - distance / REACH;
            let repulsion = ((a.radius + b.radius) / distance).powi(12).min(MOST_REPULSION);
            sum += COULOMB * a.charge * b.charge / (PERMITTIVITY * distance) * shift * shift + repulsion;
        }
    }
    sum
}

/// Movers and their states. The first movers are groups whose states are to be found. The remaining movers are
/// rotatable hydrogens, which take their states of lowest energy for every combination of the states of groups.
pub(super) struct Network {
    movers: Vec<Mover>,
    groups: usize,
    /// list of the movers that interact with a mover, for each mover
    near: Vec<Vec<usize>>,
    /// rotatable hydrogens that are placed anew for every state of a group, for each group
    followers: Vec<Vec<usize>>,
    /// state of each mover; `None` for a hydrogen that is not placed yet
    state: Vec<Option<usize>>,
}

impl Network {
    /// Makes a network with all groups in their first states. `followers` lists the rotatable hydrogens next to each
    /// group, as indices into `turning`.
    pub(super) fn new(groups: Vec<Mover>, turning: Vec<Mover>, followers: &[Vec<usize>]) -> Self {
        let count = groups.len();
        let movers: Vec<Mover> = groups.into_iter().chain(turning).collect();
        let interact = |a: usize, b: usize| {
            let (a, b) = (&movers[a], &movers[b]);
            !(a.is_water && b.is_water) && (a.center - b.center).norm() < REACH + a.extent + b.extent
        };
        let others = |a: usize| (0..movers.len()).filter(|&b| b != a && interact(a, b)).collect();
        let near = (0..movers.len()).map(others).collect();
        let followers = followers.iter().map(|list| list.iter().map(|k| k + count).collect()).collect();
        let state = (0..movers.len()).map(|mover| (mover < count).then_some(0)).collect();
        let mut network = Network { movers, groups: count, near, followers, state };
        network.relax(&(count..network.movers.len()).collect::<Vec<_>>());
        network
    }

    /// Energy (kJ/mol) of a mover in a state, with its interactions with all movers that are placed.
    fn energy_of(&self, mover: usize, state: usize) -> f64 {
        let own = &self.movers[mover].states[state];
        let placed = self.near[mover].iter().filter_map(|&other| Some(&self.movers[other].states[self.state[other]?]));
        own.energy + placed.map(|other| energy(&own.sites, &other.sites)).sum::<f64>()
    }

    /// Places rotatable hydrogens one by one, and then optimises each hydrogen in further rounds. The result does not
    /// depend on the previous states of the hydrogens.
    fn relax(&mut self, turning: &[usize]) {
        turning.iter().for_each(|&mover| self.state[mover] = None);
        for _ in 0..ROUNDS {
            for &mover in turning {
                let states = (0..self.movers[mover].states.len()).map(|state| (self.energy_of(mover, state), state));
                self.state[mover] = states.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, state)| state);
            }
        }
    }

    /// Energy (kJ/mol) of a set of movers with each other and with all other movers. Every pair counts once.
    fn energy_of_set(&self, set: &[usize]) -> f64 {
        let of_mover = |&mover: &usize| {
            let Some(state) = self.state[mover] else { return 0.0 };
            let own = &self.movers[mover].states[state];
            let counts = |other: &&usize| **other > mover || !set.contains(other);
            let placed = self.near[mover].iter().filter(counts);
            let placed = placed.filter_map(|&other| Some(&self.movers[other].states[self.state[other]?]));
            own.energy + placed.map(|other| energy(&own.sites, &other.sites)).sum::<f64>()
        };
        set.iter().map(of_mover).sum()
    }

    /// Returns the energy (kJ/mol) of every combination of the states of some groups, after the rotatable hydrogens
    /// next to them have taken their states of lowest energy. Leaves the groups in the combination whose energy plus
    /// penalty is lowest; if several are equal, in the first of them.
    fn enumerate(&mut self, groups: &[usize]) -> Vec<(Vec<usize>, f64)> {
        let mut turning: Vec<usize> = groups.iter().flat_map(|&group| self.followers[group].clone()).collect();
        turning.sort_unstable();
        turning.dedup();
        let set: Vec<usize> = groups.iter().chain(&turning).copied().collect();
        let mut found: Vec<(Vec<usize>, f64)> = vec![];
        for combination in combinations(groups.iter().map(|&group| self.movers[group].states.len())) {
            self.take(groups, &combination, &turning);
            found.push((combination, self.energy_of_set(&set)));
        }
        let total = |(combination, energy): &(Vec<usize>, f64)| energy + self.penalty(groups, combination, None);
        let best = found.iter().min_by(|a, b| total(a).total_cmp(&total(b)));
        if let Some(best) = best.map(|(combination, _)| combination.clone()) {
            self.take(groups, &best, &turning);
        }
        found
    }

    /// Sum of the penalties (kJ/mol) of the states of groups; the penalty of the group `except` is left out.
    fn penalty(&self, groups: &[usize], combination: &[usize], except: Option<usize>) -> f64 {
        let counted = groups.iter().zip(combination).filter(|(group, _)| Some(**group) != except);
        counted.map(|(&group, &state)| self.movers[group].states[state].penalty).sum()
    }

    fn take(&mut self, groups: &[usize], combination: &[usize], turning: &[usize]) {
        groups.iter().zip(combination).for_each(|(&group, &state)| self.state[group] = Some(state));
        self.relax(turning);
    }

    /// Finds the states of all groups. `links` are pairs of groups that interact. All combinations of states of a
    /// cluster of linked groups are enumerated. In a cluster with more than [`MOST_COMBINATIONS`] combinations, each
    /// pair of linked groups is enumerated in turn, until no state changes.
    pub(super) fn solve(&mut self, links: &[[usize; 2]]) {
        for cluster in clusters(self.groups, links) {
            let sets = self.sets(&cluster, links);
            for _ in 0..if sets.len() > 1 { SWEEPS } else { 1 } {
                let before = self.state[..self.groups].to_vec();
                sets.iter().for_each(|set| {
                    self.enumerate(set);
                });
                if before == self.state[..self.groups] {
                    break;
                }
            }
        }
    }

    /// Returns the sets of groups that are enumerated together: the whole cluster, or each link of a large cluster.
    fn sets(&self, cluster: &[usize], links: &[[usize; 2]]) -> Vec<Vec<usize>> {
        let sizes = cluster.iter().map(|&group| self.movers[group].states.len());
        if sizes.fold(1_usize, usize::saturating_mul) <= MOST_COMBINATIONS {
            return vec![cluster.to_vec()];
        }
        links.iter().filter(|pair| cluster.contains(&pair[0])).map(|pair| pair.to_vec()).collect()
    }

    /// Returns the state of each group, and for every possible state of the group the energy difference (kJ/mol) from
    /// the returned state. For each state of a group, the groups that are enumerated together with this group take
    /// their best states.
    pub(super) fn compare(&mut self, links: &[[usize; 2]]) -> Vec<(usize, Vec<f64>)> {
        let found = |group: usize| self.state[group].unwrap_or(0);
        let unknown = |group: usize| (found(group), vec![f64::INFINITY; self.movers[group].states.len()]);
        let mut compared: Vec<(usize, Vec<f64>)> = (0..self.groups).map(unknown).collect();
        for set in clusters(self.groups, links).iter().flat_map(|cluster| self.sets(cluster, links)).collect::<Vec<_>>()
        {
            let energies = self.enumerate(&set);
            for (k, &group) in set.iter().enumerate() {
                let (state, lowest) = &mut compared[group];
                let total = |(combination, energy): &(Vec<usize>, f64)| {
                    (combination[k], energy + self.penalty(&set, combination, Some(group)))
                };
                let of_state = |wanted: usize| {
                    let all = energies.iter().map(total).filter(|(state, _)| *state == wanted);
                    all.map(|(_, energy)| energy).fold(f64::INFINITY, f64::min)
                };
                let reference = of_state(*state);
                lowest.iter_mut().enumerate().for_each(|(k, energy)| *energy = energy.min(of_state(k) - reference));
            }
        }
        compared
    }
}

/// Returns all combinations of states of movers with the given numbers of states. In the first combination all movers
/// have their first state.
fn combinations(sizes: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    sizes.fold(vec![vec![]], |all, size| {
        let extended = all.iter().flat_map(|list| (0..size).map(move |state| [list.as_slice(), &[state]].concat()));
        extended.collect()
    })
}

/// Returns the sets of groups that are connected by links, each in ascending order.
fn clusters(groups: usize, links: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut label: Vec<usize> = (0..groups).collect();
    for &[a, b] in links {
        let (keep, lose) = (label[a].min(label[b]), label[a].max(label[b]));
        label.iter_mut().filter(|label| **label == lose).for_each(|label| *label = keep);
    }
    let members = |first: usize| (first..groups).filter(|&group| label[group] == first).collect::<Vec<_>>();
    (0..groups).map(members).filter(|members| !members.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a mover of which each state is a single site on the x axis.
    fn mover(places: &[(f64, f64)]) -> Mover {
        let site = |&(x, charge): &(f64, f64)| Site { position: Vec3::from([x, 0.0, 0.0]), charge, radius: 0.0 };
        let state = |place| State { sites: vec![site(place)], energy: 0.0, penalty: 0.0 };
        let states = places.iter().map(state).collect();
        Mover { center: Vec3::from([places[0].0, 0.0, 0.0]), extent: 0.5, states, is_water: false }
    }

    #[test]
    fn two_charges_have_the_energy_of_the_formula() {
        let site = |x: f64, charge| Site { position: Vec3::from([x, 0.0, 0.0]), charge, radius: 0.15 };
        // 138.935458 · 0.5 · (−0.4) / (2 · 0.3) · 0.5² + 1
        let found = energy(&[site(0.0, 0.5)], &[site(0.3, -0.4)]);
        assert!((found - (-10.577_954_8)).abs() < 1e-5, "{found}");
        assert_eq!(energy(&[site(0.0, 0.5)], &[site(0.6, -0.4)]), 0.0);
        assert!((energy(&[site(0.0, 0.0)], &[site(0.1, 0.0)]) - MOST_REPULSION).abs() < 1e-12);
    }

    /// Tests two groups whose energy decreases only if both change their states. A search that changes one group at a
    /// time would not find this combination.
    #[test]
    fn linked_groups_change_together() {
        let weak = [(0.0, 0.1), (0.1, 1.0)];
        let groups = vec![mover(&weak), mover(&[(0.3, -0.1), (0.3, -1.0)])];
        let field = |k: usize| groups[k].states[1].energy;
        assert_eq!((field(0), field(1)), (0.0, 0.0));
        let mut costly = groups.clone();
        costly[0].states[1].energy = 50.0;
        costly[1].states[1].energy = 50.0;
        let mut network = Network::new(costly.clone(), vec![], &[vec![], vec![]]);
        network.solve(&[]);
        assert_eq!(network.state, [Some(0), Some(0)]);
        let mut network = Network::new(costly, vec![], &[vec![], vec![]]);
        network.solve(&[[0, 1]]);
        assert_eq!(network.state, [Some(1), Some(1)]);
    }

    #[test]
    fn clusters_are_connected_sets() {
        assert_eq!(clusters(5, &[[3, 1], [4, 3]]), [vec![0], vec![1, 3, 4], vec![2]]);
        assert_eq!(combinations([2, 3].into_iter()).len(), 6);
        assert_eq!(combinations([2, 2].into_iter())[1], [0, 1]);
    }
}
