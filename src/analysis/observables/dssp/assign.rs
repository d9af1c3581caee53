//! Assignment of DSSP classes to the residues of one structure.

use super::super::peptide::is_peptide_bond;
use crate::cell::{PeriodicCell, displacement};
use crate::neighbours::Neighbours;
use crate::term::Dihedral;
use crate::vec3::Vec3;

/// Secondary structure class of a residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Loop,
    Alpha,
    Bridge,
    Strand,
    ThreeTen,
    Pi,
    Polyproline,
    Turn,
    Bend,
}

impl Class {
    /// All classes, in the order of their indices.
    pub(super) const ALL: [Class; 9] = [
        Class::Loop,
        Class::Alpha,
        Class::Bridge,
        Class::Strand,
        Class::ThreeTen,
        Class::Pi,
        Class::Polyproline,
        Class::Turn,
        Class::Bend,
    ];

    /// Returns the letter of the class in DSSP. A loop, for which DSSP prints a blank, has the letter `C`.
    pub(super) fn letter(self) -> char {
        ['C', 'H', 'B', 'E', 'G', 'I', 'P', 'T', 'S'][self as usize]
    }

    /// Returns the name of the class for the user.
    pub(super) fn name(self) -> &'static str {
        ["loop", "α helix", "bridge", "strand", "3₁₀ helix", "π helix", "polyproline", "turn", "bend"][self as usize]
    }
}

/// Positions (nm) of the backbone of a residue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backbone {
    pub(super) n: Vec3,
    pub(super) ca: Vec3,
    pub(super) c: Vec3,
    pub(super) o: Vec3,
    /// whether N has no hydrogen, because the residue is a proline
    pub(super) proline: bool,
}

/// Constant K of the energy of a hydrogen bond (Kabsch & Sander), in nm kcal/mol: 0.42 e · 0.20 e · 332 Å kcal/mol/e².
const COUPLING: f64 = 0.42 * 0.20 * 33.2;
/// Energy in kcal/mol below which two groups form a hydrogen bond (Kabsch & Sander).
const BOND_ENERGY: f64 = -0.5;
/// Lowest energy of a hydrogen bond in kcal/mol (DSSP). A hydrogen bond with two atoms closer than [`LEAST_DISTANCE`]
/// (nm) also has the lowest energy.
const LEAST_ENERGY: f64 = -9.9;
const LEAST_DISTANCE: f64 = 0.05;
/// Number of steps per kcal/mol: energies are rounded to multiples of 1/1000 kcal/mol, as in DSSP.
const STEPS: f64 = 1000.0;
/// Largest distance (nm) between the CA atoms of two residues that may form a hydrogen bond (DSSP).
const CA_DISTANCE: f64 = 0.9;
/// Length (nm) of the N–H bond (Kabsch & Sander).
const NH_BOND: f64 = 0.1;
/// Angle (degrees) between the directions from CA(i − 2) to CA(i) and from CA(i) to CA(i + 2) above which the chain is
/// bent (Kabsch & Sander).
const BEND: f64 = 70.0;
/// Dihedral angles φ and ψ (degrees) of a polyproline helix (DSSP 4). [`POLYPROLINE_DEVIATION`] is the largest
/// deviation from these angles (degrees), and [`POLYPROLINE_LENGTH`] is the smallest number of residues of a
/// polyproline helix.
const POLYPROLINE: [f64; 2] = [-75.0, 145.0];
const POLYPROLINE_DEVIATION: f64 = 29.0;
const POLYPROLINE_LENGTH: usize = 3;

/// Returns the class of each residue. Consecutive residues belong to one chain if they are joined by a peptide bond.
pub(super) fn classes(cell: Option<&PeriodicCell>, residues: &[Backbone]) -> Vec<Class> {
    let chain = Chain::new(cell, residues);
    let mut classes = vec![Class::Loop; residues.len()];
    chain.mark_strands(&mut classes);
    let starts = [3, 4, 5].map(|stride| chain.turns(stride));
    mark_helices(&starts, &mut classes);
    chain.mark_turns_and_bends(&starts, &mut classes);
    chain.mark_polyproline(&mut classes);
    classes
}

/// Residues with their chain breaks and hydrogen bonds.
struct Chain<'a> {
    cell: Option<&'a PeriodicCell>,
    residues: &'a [Backbone],
    /// number of chain breaks before each residue
    breaks: Vec<usize>,
    /// acceptors of each residue i: the residues whose C=O groups accept a hydrogen bond from the N–H group of residue
    /// i. If there are more than two hydrogen bonds, the two bonds of lowest energy are kept
    acceptors: Vec<[Option<usize>; 2]>,
}

/// Returns the energy (kcal/mol) of the hydrogen bond from the N–H group of `donor`, with its hydrogen at `h`, to the
/// C=O group whose C and O are at `acceptor`.
fn energy(donor: &Backbone, h: Vec3, acceptor: [Vec3; 2]) -> f64 {
    let [c, o] = acceptor;
    let [ho, hc] = [(o - h).norm(), (c - h).norm()];
    let [nc, no] = [(c - donor.n).norm(), (o - donor.n).norm()];
    if ho.min(hc).min(nc).min(no) < LEAST_DISTANCE {
        return LEAST_ENERGY;
    }
    let [ho, hc, nc, no] = [COUPLING / ho, COUPLING / hc, COUPLING / nc, COUPLING / no];
    (((hc - ho + no - nc) * STEPS).round() / STEPS).max(LEAST_ENERGY)
}

/// Returns the largest distance (nm) between the midpoints of an N–H and a C–O bond that may form a hydrogen bond. The
/// energy E of a hydrogen bond is the constant K = [`COUPLING`] times a second difference of 1/r, taken along the N–H
/// bond and along the C–O bond. The mixed second derivative of 1/r is at most 2/r³ in magnitude, so that the magnitude
/// of E is at most 2 K |NH| |CO|/r³, where r is the smallest distance between points of the two bonds.
fn longest_bond(residues: &[Backbone]) -> f64 {
    let carbonyl = residues.iter().map(|residue| (residue.o - residue.c).norm()).fold(0.0, f64::max);
    let r = (2.0 * COUPLING * NH_BOND * carbonyl / (-BOND_ENERGY - 1.0 / STEPS)).cbrt();
    r + (NH_BOND + carbonyl) / 2.0
}

impl<'a> Chain<'a> {
    fn new(cell: Option<&'a PeriodicCell>, residues: &'a [Backbone]) -> Self {
        let mut breaks = vec![0; residues.len()];
        for i in 1..residues.len() {
            breaks[i] = breaks[i - 1] + usize::from(!is_peptide_bond(cell, residues[i - 1].c, residues[i].n));
        }
        let mut chain = Chain { cell, residues, breaks, acceptors: vec![] };
        chain.find_bonds();
        chain
    }

    /// Whether the chain has no break between the residues `first` and `last`.
    fn is_unbroken(&self, first: usize, last: usize) -> bool {
        last < self.breaks.len() && self.breaks[first] == self.breaks[last]
    }

    /// Finds the hydrogen bonds of all residues, and keeps the two acceptors of lowest energy of each donor.
    fn find_bonds(&mut self) {
        let residues = self.residues;
        let middles: Vec<Vec3> = residues.iter().map(|residue| (residue.c + residue.o) * 0.5).collect();
        let grid = Neighbours::new(self.cell, &middles, longest_bond(residues));
        for (i, donor) in residues.iter().enumerate() {
            // the hydrogen is placed so that the N–H bond is antiparallel to the C=O bond of the preceding residue
            // (Kabsch & Sander)
            let before = i.checked_sub(1).filter(|&before| self.is_unbroken(before, i) && !donor.proline);
            let hydrogen = before.map(|before| {
                let carbonyl = residues[before].c - residues[before].o;
                donor.n + carbonyl * (NH_BOND / carbonyl.norm())
            });
            let Some(h) = hydrogen else {
                self.acceptors.push([None; 2]);
                continue;
            };
            let middle = (donor.n + h) * 0.5;
            let mut best = [(0.0, None); 2];
            grid.visit(middle, |other, d| {
                let j = other as usize;
                let shift = middle + d - middles[j];
                if j == i || j + 1 == i || (residues[j].ca + shift - donor.ca).norm_squared() > CA_DISTANCE.powi(2) {
                    return;
                }
                let bond = (energy(donor, h, [residues[j].c + shift, residues[j].o + shift]), Some(j));
                if bond.0 < best[0].0 {
                    best = [bond, best[0]];
                } else if bond.0 < best[1].0 {
                    best[1] = bond;
                }
            });
            self.acceptors.push(best.map(|(energy, acceptor)| acceptor.filter(|_| energy < BOND_ENERGY)));
        }
    }

    /// Returns the pairs of residues that may form a bridge: the CA atoms are close, and at least one hydrogen bond of
    /// a bridge exists. The first index of each pair is smaller than the second index, and the pairs are in ascending
    /// order.
    fn candidates(&self) -> Vec<[usize; 2]> {
        let mut found = vec![];
        for (donor, acceptors) in self.acceptors.iter().enumerate() {
            for &acceptor in acceptors.iter().flatten() {
                // the cases have the order in which `bridge` tests them
                let before = donor.wrapping_sub(1);
                found.extend([[before, acceptor], [acceptor, before], [before, acceptor + 1], [acceptor, donor]]);
            }
        }
        let ca = |index: usize| self.residues[index].ca;
        found.retain(|&[i, j]| {
            i < j && j < self.residues.len() && displacement(self.cell, ca(j) - ca(i)).norm() <= CA_DISTANCE
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether the N–H group of the residue `donor` forms a hydrogen bond with the C=O group of the residue `acceptor`.
    fn is_bond(&self, donor: usize, acceptor: usize) -> bool {
        self.acceptors[donor].contains(&Some(acceptor))
    }

    /// Returns whether each residue i starts a turn: the C=O group of residue i accepts a hydrogen bond from the N–H
    /// group of residue i + `stride`.
    fn turns(&self, stride: usize) -> Vec<bool> {
        let starts = |i| self.is_unbroken(i, i + stride) && self.is_bond(i + stride, i);
        (0..self.residues.len()).map(starts).collect()
    }

    fn mark_turns_and_bends(&self, starts: &[Vec<bool>; 3], classes: &mut [Class]) {
        for i in 1..classes.len().saturating_sub(1) {
            if classes[i] != Class::Loop {
                continue;
            }
            let is_inside = |(turns, stride): (&Vec<bool>, usize)| (1..stride).any(|k| k <= i && turns[i - k]);
            if starts.iter().zip(3..).any(is_inside) {
                classes[i] = Class::Turn;
            } else if i >= 2 && self.is_unbroken(i - 2, i + 2) {
                let ca = |at: usize| self.residues[at].ca;
                let [a, b] = [(i - 2, i), (i, i + 2)].map(|(from, to)| displacement(self.cell, ca(to) - ca(from)));
                if a.dot(b) < BEND.to_radians().cos() * a.norm() * b.norm() {
                    classes[i] = Class::Bend;
                }
            }
        }
    }

    /// Whether φ and ψ of a residue are close to the angles of a polyproline helix; false if the residue has no
    /// preceding or no following residue in its chain.
    fn is_polyproline(&self, i: usize) -> bool {
        let Some(before) = i.checked_sub(1).filter(|&before| self.is_unbroken(before, i + 1)) else { return false };
        let close = |[a, b, c, d]: [Vec3; 4], angle: f64| {
            let bonds = [a - b, c - b, d - c].map(|bond| displacement(self.cell, bond));
            (Dihedral::new(bonds).angle().to_degrees() - angle).abs() <= POLYPROLINE_DEVIATION
        };
        let own = &self.residues[i];
        let (c, n) = (self.residues[before].c, self.residues[i + 1].n);
        close([c, own.n, own.ca, own.c], POLYPROLINE[0]) && close([own.n, own.ca, own.c, n], POLYPROLINE[1])
    }

    fn mark_polyproline(&self, classes: &mut [Class]) {
        let mut consecutive = 0; // number of consecutive polyproline residues up to residue i
        for i in 0..classes.len() {
            consecutive = if self.is_polyproline(i) { consecutive + 1 } else { 0 };
            if consecutive >= POLYPROLINE_LENGTH {
                let loops = classes[i + 1 - POLYPROLINE_LENGTH..=i].iter_mut();
                loops.filter(|class| **class == Class::Loop).for_each(|class| *class = Class::Polyproline);
            }
        }
    }

    /// Returns whether the bridge between two residues is parallel; `None` if they form no bridge.
    fn bridge(&self, i: usize, j: usize) -> Option<bool> {
        let inside = i >= 1 && j >= 1 && self.is_unbroken(i - 1, i + 1) && self.is_unbroken(j - 1, j + 1);
        // residues i − 1 to i + 1 and j − 1 to j + 1 must not overlap
        if !inside || j < i + 3 {
            return None;
        }
        let bond = |donor, acceptor| self.is_bond(donor, acceptor);
        if (bond(i + 1, j) && bond(j, i - 1)) || (bond(j + 1, i) && bond(i, j - 1)) {
            Some(true)
        } else {
            ((bond(i + 1, j - 1) && bond(j + 1, i - 1)) || (bond(j, i) && bond(i, j))).then_some(false)
        }
    }

    /// Marks the residues of bridges and strands. Ladders of bridges are joined across bulges.
    fn mark_strands(&self, classes: &mut [Class]) {
        let mut ladders: Vec<Ladder> = vec![];
        for [i, j] in self.candidates() {
            let Some(parallel) = self.bridge(i, j) else { continue };
            if !ladders.iter_mut().any(|ladder| ladder.extend(parallel, i, j)) {
                ladders.push(Ladder { parallel, bridges: 1, i: [i, i], j: [j, j] });
            }
        }
        ladders.sort_by_key(|ladder| ladder.i[0]);
        let mut first = 0;
        while first < ladders.len() {
            let mut second = first + 1;
            while second < ladders.len() {
                if self.is_bulge(&ladders[first], &ladders[second]) {
                    let joined = ladders.remove(second);
                    ladders[first].join(&joined);
                } else {
                    second += 1;
                }
            }
            first += 1;
        }
        for ladder in ladders {
            let class = if ladder.bridges > 1 { Class::Strand } else { Class::Bridge };
            for residue in (ladder.i[0]..=ladder.i[1]).chain(ladder.j[0]..=ladder.j[1]) {
                if classes[residue] != Class::Strand {
                    classes[residue] = class;
                }
            }
        }
    }

    /// Whether a bulge joins two ladders: between the ladders, one strand has at most one additional residue, and the
    /// other strand has at most four (Kabsch & Sander).
    fn is_bulge(&self, a: &Ladder, b: &Ladder) -> bool {
        let chains = [[a.i, b.i], [a.j, b.j]].map(|[a, b]| self.is_unbroken(a[0].min(b[0]), a[1].max(b[1])));
        if a.parallel != b.parallel || chains.contains(&false) {
            return false;
        }
        let along = b.i[0].checked_sub(a.i[1]).filter(|&gap| gap > 0);
        let across = if a.parallel { b.j[0].checked_sub(a.j[1]) } else { a.j[0].checked_sub(b.j[1]) };
        let (Some(along), Some(across)) = (along, across) else { return false };
        (along < 6 && across < 3) || (along < 3 && across < 6)
    }
}

/// Ladder: consecutive bridges of one kind (parallel or antiparallel) between two strands.
struct Ladder {
    parallel: bool,
    bridges: usize,
    /// first and last residue of the first strand; `j` has the residues of the second strand
    i: [usize; 2],
    j: [usize; 2],
}

impl Ladder {
    /// Adds a bridge between the residues i and j, if the bridge continues the ladder. Returns whether the bridge was
    /// added.
    fn extend(&mut self, parallel: bool, i: usize, j: usize) -> bool {
        let end = usize::from(self.parallel);
        let next = if self.parallel { self.j[1] + 1 } else { self.j[0].wrapping_sub(1) };
        let continues = parallel == self.parallel && i == self.i[1] + 1 && j == next;
        if continues {
            self.i[1] = i;
            self.j[end] = j;
            self.bridges += 1;
        }
        continues
    }

    fn join(&mut self, other: &Ladder) {
        self.bridges += other.bridges;
        for (own, other) in [(&mut self.i, &other.i), (&mut self.j, &other.j)] {
            *own = [own[0].min(other[0]), own[1].max(other[1])];
        }
    }
}

/// Marks helices: two consecutive turns of the same kind begin a helix at the second residue of the first turn. An α
/// helix replaces a strand, a π helix replaces an α helix, and a 3₁₀ helix replaces neither (DSSP 2 and later).
fn mark_helices(starts: &[Vec<bool>; 3], classes: &mut [Class]) {
    for (turn, class, replaced) in [
        (1, Class::Alpha, None),
        (0, Class::ThreeTen, Some([Class::Loop, Class::ThreeTen, Class::ThreeTen])),
        (2, Class::Pi, Some([Class::Loop, Class::Pi, Class::Alpha])),
    ] {
        let stride = turn + 3;
        for i in 1..classes.len().saturating_sub(stride) {
            let inside = &mut classes[i..i + stride];
            let is_free = replaced.is_none_or(|replaced| inside.iter().all(|class| replaced.contains(class)));
            if starts[turn][i - 1] && starts[turn][i] && is_free {
                inside.fill(class);
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
