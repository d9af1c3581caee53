//! Networks of hydrogen bonds. This module finds the combination of states of several groups with the highest score.
//!
//! The score of a combination is the sum of the scores of all groups and rotatable hydrogens ([`super::contact`]). A
//! contact between two of them counts in the scores of both.

use md_engine::vec3::Vec3;

use super::contact::{Dot, PROBE, Site, dots};

/// Largest number of combinations of states up to which all combinations in a cluster of groups are enumerated: the
/// number for three His with four states each.
const MOST_COMBINATIONS: usize = 64;
/// Number of rounds in which each rotatable hydrogen moves to its state with the highest score.
const ROUNDS: usize = 3;
/// Largest number of sweeps over the pairs of groups of a cluster with more than [`MOST_COMBINATIONS`] combinations.
const SWEEPS: usize = 6;

/// State of a mover.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) sites: Vec<Site>,
    /// dots on the spheres of the sites that may touch other movers
    dots: Vec<Dot>,
    /// score of all other dots of the sites, Å²
    score: f64,
    /// score that is subtracted when states are compared, Å²
    penalty: f64,
}

/// A group of atoms that can be in several states, such as a side chain that can be flipped or a rotatable hydrogen.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    /// reference position near the sites of all states, nm
    center: Vec3,
    /// largest distance (nm) from the center to a dot that touches a site of any state
    extent: f64,
    pub(super) states: Vec<State>,
    /// atoms near the mover that belong to no mover, until the dots are placed
    fixed: Vec<Site>,
}

impl Mover {
    /// Makes a mover from the sites and the penalty of each state. `surroundings` returns the atoms within a distance
    /// (nm) of a position that belong to no mover.
    pub(super) fn new(states: Vec<(Vec<Site>, f64)>, surroundings: impl Fn(Vec3, f64) -> Vec<Site>) -> Self {
        let sites = || states.iter().flat_map(|(sites, _)| sites);
        let center = sites().map(|site| site.position).sum::<Vec3>() * (1.0 / sites().count().max(1) as f64);
        let extent =
            sites().map(|site| (site.position - center).norm() + site.radius + 2.0 * PROBE).fold(0.0, f64::max);
        let fixed = surroundings(center, extent);
        let state = |(sites, penalty)| State { dots: vec![], sites, score: 0.0, penalty };
        Mover { center, extent, states: states.into_iter().map(state).collect(), fixed }
    }

    /// Places the dots of all states. Dots that are outside of the spheres of other movers are not kept, because their
    /// contributions to the scores are constant. A sphere has a center and a radius, nm. `bonded` lists the atoms that
    /// are bonded to each atom.
    fn place_dots(&mut self, spheres: &[(Vec3, f64)], bonded: &[Vec<u32>]) {
        let is_near = |dot: &Dot| {
            spheres.iter().any(|(center, radius)| (dot.position - *center).norm_squared() < radius * radius)
        };
        let fixed = std::mem::take(&mut self.fixed);
        for state in &mut self.states {
            let (near, far): (Vec<Dot>, Vec<Dot>) = dots(&state.sites, &fixed, bonded).into_iter().partition(is_near);
            state.score += far.iter().map(|dot| dot.value(dot.touch)).sum::<f64>();
            state.dots = near;
        }
    }
}

/// Movers and their states. The first movers are groups whose states are to be found. The remaining movers are
/// rotatable hydrogens. For every combination of the states of groups, the rotatable hydrogens take their states with
/// the highest score.
pub(super) struct Network {
    movers: Vec<Mover>,
    groups: usize,
    /// list of the movers with which each mover interacts
    near: Vec<Vec<usize>>,
    /// list of the rotatable hydrogens of each group that are placed anew for every state of the group
    followers: Vec<Vec<usize>>,
    /// state of each mover; `None` for a hydrogen that is not placed yet
    state: Vec<Option<usize>>,
}

impl Network {
    /// Makes a network with all groups in their first states. `followers` lists the rotatable hydrogens next to each
    /// group, as indices into `turning`. `bonded` lists the atoms that are bonded to each atom.
    pub(super) fn new(groups: Vec<Mover>, turning: Vec<Mover>, followers: &[Vec<usize>], bonded: &[Vec<u32>]) -> Self {
        let count = groups.len();
        let mut movers: Vec<Mover> = groups.into_iter().chain(turning).collect();
        let touch = |a: &Mover, b: &Mover| (a.center - b.center).norm() < a.extent + b.extent;
        let others = |a: usize| (0..movers.len()).filter(|&b| b != a && touch(&movers[a], &movers[b])).collect();
        let near: Vec<Vec<usize>> = (0..movers.len()).map(others).collect();
        let spheres: Vec<(Vec3, f64)> = movers.iter().map(|mover| (mover.center, mover.extent)).collect();
        for (mover, near) in movers.iter_mut().zip(&near) {
            mover.place_dots(&near.iter().map(|&other| spheres[other]).collect::<Vec<_>>(), bonded);
        }
        let followers = followers.iter().map(|list| list.iter().map(|k| k + count).collect()).collect();
        let state = (0..movers.len()).map(|mover| (mover < count).then_some(0)).collect();
        let mut network = Network { movers, groups: count, near, followers, state };
        network.relax(&(count..network.movers.len()).collect::<Vec<_>>());
        network
    }

    /// Score (Å²) of a mover in a state, among the movers that are already placed.
    fn score(&self, mover: usize, state: usize) -> f64 {
        let own = &self.movers[mover].states[state];
        let placed = self.near[mover].iter().filter_map(|&other| Some(&self.movers[other].states[self.state[other]?]));
        let others: Vec<&Site> = placed.flat_map(|state| &state.sites).collect();
        let value = |dot: &Dot| {
            let site = &own.sites[dot.site];
            dot.value(others.iter().fold(dot.touch, |touch, other| site.touch(dot.position, other, touch)))
        };
        own.score + own.dots.iter().map(value).sum::<f64>()
    }

    /// Places rotatable hydrogens one by one, and then optimises each hydrogen in further rounds. The result does not
    /// depend on the previous states of the hydrogens.
    fn relax(&mut self, turning: &[usize]) {
        turning.iter().for_each(|&mover| self.state[mover] = None);
        for _ in 0..ROUNDS {
            for &mover in turning {
                let states = 0..self.movers[mover].states.len();
                self.state[mover] = first_best(states.map(|state| (self.score(mover, state), state)));
            }
        }
    }

    /// Returns the score (Å²) of every combination of the states of some groups. For each combination, the rotatable
    /// hydrogens next to the groups take their states with the highest score. Afterwards the groups are in the first
    /// combination with the highest difference of score and penalty.
    fn enumerate(&mut self, groups: &[usize]) -> Vec<(Vec<usize>, f64)> {
        let mut turning: Vec<usize> = groups.iter().flat_map(|&group| self.followers[group].clone()).collect();
        turning.sort_unstable();
        turning.dedup();
        let set: Vec<usize> = groups.iter().chain(&turning).copied().collect();
        let mut found: Vec<(Vec<usize>, f64)> = vec![];
        for combination in combinations(groups.iter().map(|&group| self.movers[group].states.len())) {
            self.take(groups, &combination, &turning);
            let placed = set.iter().filter_map(|&mover| Some((mover, self.state[mover]?)));
            found.push((combination, placed.map(|(mover, state)| self.score(mover, state)).sum()));
        }
        let total = |(combination, score): &(Vec<usize>, f64)| score - self.penalty(groups, combination, None);
        if let Some(best) = first_best(found.iter().map(|found| (total(found), found.0.clone()))) {
            self.take(groups, &best, &turning);
        }
        found
    }

    /// Sum of the penalties (Å²) of the states of groups; the penalty of the group `except` is left out.
    fn penalty(&self, groups: &[usize], combination: &[usize], except: Option<usize>) -> f64 {
        let counted = groups.iter().zip(combination).filter(|(group, _)| Some(**group) != except);
        counted.map(|(&group, &state)| self.movers[group].states[state].penalty).sum()
    }

    fn take(&mut self, groups: &[usize], combination: &[usize], turning: &[usize]) {
        groups.iter().zip(combination).for_each(|(&group, &state)| self.state[group] = Some(state));
        self.relax(turning);
    }

    /// Finds the states of all groups. `links` are pairs of groups that interact. All combinations of states of a
    /// cluster of linked groups are enumerated. If a cluster has more than [`MOST_COMBINATIONS`] combinations, only the
    /// combinations of each pair of linked groups are enumerated; the sweeps over the pairs end when no state changes.
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

    /// Returns the state of each group, and for all states of the group the score of this state minus the score of the
    /// other, Å². When the state of a group is varied, the groups that are enumerated together with this group take
    /// their states with the highest score.
    pub(super) fn compare(&mut self, links: &[[usize; 2]]) -> Vec<(usize, Vec<f64>)> {
        let found = |group: usize| self.state[group].unwrap_or(0);
        let unknown = |group: usize| (found(group), vec![f64::INFINITY; self.movers[group].states.len()]);
        let mut compared: Vec<(usize, Vec<f64>)> = (0..self.groups).map(unknown).collect();
        for set in clusters(self.groups, links).iter().flat_map(|cluster| self.sets(cluster, links)).collect::<Vec<_>>()
        {
            let scores = self.enumerate(&set);
            for (k, &group) in set.iter().enumerate() {
                let (state, advantages) = &mut compared[group];
                let total = |(combination, score): &(Vec<usize>, f64)| {
                    (combination[k], score - self.penalty(&set, combination, Some(group)))
                };
                let of_state = |wanted: usize| {
                    let all = scores.iter().map(total).filter(|(state, _)| *state == wanted);
                    all.map(|(_, score)| score).fold(f64::NEG_INFINITY, f64::max)
                };
                let reference = of_state(*state);
                for (k, advantage) in advantages.iter_mut().enumerate() {
                    *advantage = advantage.min(reference - of_state(k));
                }
            }
        }
        compared
    }
}

/// Returns the first of the values with the highest score; `None` without values.
fn first_best<T>(values: impl Iterator<Item = (f64, T)>) -> Option<T> {
    values.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, value)| value)
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

    /// Returns a mover for tests: each state is a single donor or acceptor with a radius of 0.1 nm on the x axis. No
    /// bonds join atoms of different movers.
    fn mover(atom: usize, places: &[(f64, bool)]) -> Mover {
        let site = |&(x, donates): &(f64, bool)| Site {
            position: Vec3::from([x, 0.0, 0.0]),
            radius: 0.1,
            donates,
            accepts: !donates,
            charge: 0,
            overlaps: true,
            atom,
            is_hydrogen: false,
        };
        let states = places.iter().map(|place| (vec![site(place)], 0.0)).collect();
        Mover::new(states, |_, _| vec![])
    }

    /// Tests two groups whose score increases only if both change their states. A search that changes one group at a
    /// time would not find this combination.
    #[test]
    fn linked_groups_change_together() {
        // a donor and an acceptor overlap by 0.05 nm if both groups are in their second states, and two donors or two
        // acceptors if only one of them is
        let groups = vec![mover(0, &[(-0.5, true), (0.0, true)]), mover(1, &[(0.15, true), (0.15, false)])];
        let mut costly = groups.clone();
        costly[1].states[1].score = -0.01;
        let none = [vec![], vec![]];
        let bonded = [vec![], vec![]];
        let mut network = Network::new(costly.clone(), vec![], &none, &bonded);
        network.solve(&[]);
        assert_eq!(network.state, [Some(0), Some(0)]);
        let mut network = Network::new(costly, vec![], &none, &bonded);
        network.solve(&[[0, 1]]);
        assert_eq!(network.state, [Some(1), Some(1)]);
        // the volume is 2π a/d ∫ s (b − s) ds / 2 from s = d − a to b, with a = b = 1 Å and d = 1.5 Å, 4 for both
        let antiderivative = |s: f64| 0.5 * s * s - s * s * s / 3.0;
        let volume = std::f64::consts::PI / 1.5 * (antiderivative(1.0) - antiderivative(0.5));
        let compared = network.compare(&[[0, 1]]);
        let expected = 2.0 * 4.0 * volume - 0.01;
        assert!((compared[0].1[0] - expected).abs() < 0.02 * expected, "{compared:?} {expected}");
    }

    #[test]
    fn clusters_are_connected_sets() {
        assert_eq!(clusters(5, &[[3, 1], [4, 3]]), [vec![0], vec![1, 3, 4], vec![2]]);
        assert_eq!(combinations([2, 3].into_iter()).len(), 6);
        assert_eq!(combinations([2, 2].into_iter())[1], [0, 1]);
    }
}
