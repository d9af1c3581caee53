//! Shifts of pKa values by pairs of ionisable groups. If the sign or presence of a shift depends on the pKa values, the
//! shift is iterated.
//!
//! The charge of group A shifts the pKa of group B only if A is ionised at the pH at which B titrates. If both groups
//! are acids, the acid with the lower pKa (without the interaction) is already charged when the acid with the higher
//! pKa titrates. The charge of the acid with the lower pKa therefore raises the higher pKa. If both groups are bases,
//! the charge of the base with the higher pKa lowers the lower pKa. A hydrogen bond between two acids or two bases
//! raises the higher pKa and lowers the lower pKa. An acid and a base shift the pKa values of each other only if the
//! pKa of the acid is lower than the pKa of the base. For some kinds of groups, the pKa values of a pair always have
//! the same order as in water. The shifts of all other pairs are iterated (Olsson et al. 2011, doi:10.1021/ct100578z).

use super::Shifts;
use super::groups::{Group, Kind};

/// Ionisable groups that are connected by at most `BONDS` bonds do not interact.
pub(super) const BONDS: usize = 3;
/// Maximum number of iterations.
const ITERATIONS: usize = 10;
/// Largest change of a pKa at which the iteration counts as converged. The tolerance exceeds the rounding errors of
/// sums of about ten terms.
const CONVERGED: f64 = 1e-9;

/// Difference of two pKa values below which the values count as equal. Equivalent groups of an assembly differ by the
/// rounding of coordinates and operators, and pKa values have an error that is larger by orders of magnitude.
pub(crate) const TIE: f64 = 1e-3;

/// Two ionisable groups that interact.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) groups: [usize; 2],
    /// magnitude of the pKa shift by hydrogen bonds
    pub(super) hydrogen_bond: f64,
    /// magnitude of the pKa shift by the charges of the groups
    pub(super) coulomb: f64,
    /// whether the shifts are iterated, because their signs depend on the pKa values
    pub(super) is_iterated: bool,
}

/// Shifts of the two groups of a pair by hydrogen bonds and by charges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Exchange {
    pub(super) hydrogen_bonds: [f64; 2],
    pub(super) charges: [f64; 2],
}

impl Exchange {
    fn sum(&self, k: usize) -> f64 {
        self.hydrogen_bonds[k] + self.charges[k]
    }
}

/// Whether the interaction between groups of the kinds `a` and `b` is iterated; `None` if groups of these kinds do not
/// interact.
pub(super) fn interaction(a: Kind, b: Kind) -> Option<bool> {
    use Kind::{Amide, Amine, Ammonium, Carboxyl, Imidazole, Phenol, Thiol};
    if a.charge() == 0.0 || b.charge() == 0.0 {
        let (polar, other) = if a.charge() == 0.0 { (a, b) } else { (b, a) };
        let interacts = other.charge() < 0.0 || (polar, other) == (Amide, Imidazole);
        return interacts.then_some(false);
    }
    let is_pair = |&(first, second): &(Kind, Kind)| (first, second) == (a, b) || (first, second) == (b, a);
    let of_different_kinds = [
        (Thiol, Imidazole),
        (Thiol, Carboxyl),
        (Carboxyl, Imidazole),
        (Phenol, Amine),
        (Phenol, Imidazole),
        (Phenol, Ammonium),
    ];
    Some((a == b && a != Kind::Phosphate) || of_different_kinds.iter().any(is_pair))
}

/// Returns the shifts of two groups. `charges` are the charges of the ionised groups: ±1 e, or 0 for one of the two
/// groups. `pkas` holds the pKa values of the two groups without the interaction of the pair. If these values are equal
/// within [`TIE`], the pKa of the earlier group counts as higher.
pub(super) fn exchange(charges: [f64; 2], pkas: [f64; 2], pair: &Pair) -> Exchange {
    let (bond, coulomb) = (pair.hydrogen_bond, pair.coulomb);
    if charges[0] != charges[1] {
        let on_both = |size: f64| charges.map(|charge| charge * size);
        return Exchange { hydrogen_bonds: on_both(bond), charges: on_both(coulomb) };
    }
    let difference = pkas[0] - pkas[1];
    let is_first_higher = if difference.abs() < TIE { pair.groups[0] < pair.groups[1] } else { difference > 0.0 };
    let hydrogen_bonds = if is_first_higher { [bond, -bond] } else { [-bond, bond] };
    let charges = match (charges[0] < 0.0, is_first_higher) {
        (true, true) => [coulomb, 0.0],
        (true, false) => [0.0, coulomb],
        (false, true) => [0.0, -coulomb],
        (false, false) => [-coulomb, 0.0],
    };
    Exchange { hydrogen_bonds, charges }
}

/// Returns the shifts of an iterated pair. An acid and a base do not interact if the pKa of the acid is equal to or
/// higher than the pKa of the base.
fn iterated(charges: [f64; 2], pkas: [f64; 2], pair: &Pair) -> Exchange {
    let exchange = exchange(charges, pkas, pair);
    let shifted = [0, 1].map(|k| pkas[k] + exchange.sum(k));
    let (acid, base) = if charges[0] < 0.0 { (shifted[0], shifted[1]) } else { (shifted[1], shifted[0]) };
    if charges[0] != charges[1] && acid >= base { Exchange::default() } else { exchange }
}

/// Computes the pKa shifts by interactions within pairs, and adds them to the shifts of all groups.
pub(super) fn add(groups: &[Group], pairs: &[Pair], shifts: &mut [Shifts]) {
    let in_water = |group: usize| groups[group].ionizable.map_or(0.0, |ionizable| ionizable.in_water());
    let charges = |pair: &Pair| pair.groups.map(|group| groups[group].kind.charge());
    let apply = |pair: &Pair, exchange: &Exchange, shifts: &mut [Shifts]| {
        for (k, &group) in pair.groups.iter().enumerate() {
            shifts[group].hydrogen_bonds += exchange.hydrogen_bonds[k];
            shifts[group].charges += exchange.charges[k];
        }
    };
    for pair in pairs.iter().filter(|pair| !pair.is_iterated) {
        apply(pair, &exchange(charges(pair), pair.groups.map(in_water), pair), shifts);
    }
    let coupled: Vec<&Pair> = pairs.iter().filter(|pair| pair.is_iterated).collect();
    let alone: Vec<f64> = (0..groups.len()).map(|group| in_water(group) + shifts[group].sum()).collect();
    let mut exchanges = vec![Exchange::default(); coupled.len()];
    let mut pkas = alone.clone();
    for _ in 0..ITERATIONS {
        let mut next = alone.clone();
        for (pair, last) in coupled.iter().zip(&mut exchanges) {
            let without = [0, 1].map(|k| pkas[pair.groups[k]] - last.sum(k));
            *last = iterated(charges(pair), without, pair);
            pair.groups.iter().enumerate().for_each(|(k, &group)| next[group] += last.sum(k));
        }
        let change = next.iter().zip(&pkas).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        pkas = next;
        if change < CONVERGED {
            break;
        }
    }
    coupled.iter().zip(&exchanges).for_each(|(pair, exchange)| apply(pair, exchange, shifts));
}
