//! Score of the contacts, hydrogen bonds and overlaps of an atom, from dots on its sphere.
//!
//! The score is that of Word et al., J. Mol. Biol. 285, 1711 and 1735 (1999), doi:10.1006/jmbi.1998.2400 and
//! doi:10.1006/jmbi.1998.2401. A dot touches another atom if a probe of 0.25 Å that rolls on the outside of the sphere
//! overlaps with the atom at this dot. For the atom whose sphere is closest, with the gap g (Å, negative inside the
//! sphere), the area of the dot (Å²) contributes with the weight
//!
//! - `exp(−(g/0.25)²)` outside of the sphere: a contact;
//! - `4 |g|/2` inside the sphere, if the atoms form a hydrogen bond;
//! - `−10 |g|/2` inside the sphere of any other atom: an overlap.
//!
//! A hydrogen bond that is deeper than a limit counts as an overlap beyond this limit. A contact counts only within the
//! circle on which the probe touches both spheres if the two spheres touch each other, because the dots around an
//! overlap are not a favourable contact. Dots inside the spheres of atoms that are at most three bonds away do not
//! count, and neither do interactions with these atoms.

use std::f64::consts::PI;

use md_engine::vec3::{Vec3, vec3};

use super::Heavy;
use super::energy::Source;
use crate::structure::bonds_between;

/// Radius of the probe, nm (Word et al.).
pub(super) const PROBE: f64 = 0.025;
/// Gap at which the weight of a contact is 1/e, nm (Word et al.).
const CONTACT_GAP: f64 = 0.025;
/// Weights of the depths of hydrogen bonds and of overlaps, Å⁻¹ (Word et al.).
const BOND_WEIGHT: f64 = 4.0;
const OVERLAP_WEIGHT: f64 = 10.0;
/// Depths (nm) up to which a donor and an acceptor form a hydrogen bond: for any pair, and for opposite charges.
const BOND_DEPTH: f64 = 0.06;
const SALT_BRIDGE_DEPTH: f64 = 0.08;
/// Dots per nm² (16 per Å², Word et al.).
const DENSITY: f64 = 1600.0;
/// Number of bonds up to which atoms do not interact.
const EXCLUDED_BONDS: usize = 3;
/// Radii (nm) of C, N, O, F, P, S, Cl, Br and I by atomic number: Gavezzotti, J. Am. Chem. Soc. 105, 5220 (1983),
/// doi:10.1021/ja00354a007, and Bondi, J. Phys. Chem. 68, 441 (1964), doi:10.1021/j100785a001.
const RADII: [(u8, f64); 9] = [
    (6, 0.170),
    (7, 0.155),
    (8, 0.140),
    (9, 0.130),
    (15, 0.180),
    (16, 0.180),
    (17, 0.177),
    (35, 0.195),
    (53, LARGEST_RADIUS),
];
/// Largest radius of an atom, nm.
pub(super) const LARGEST_RADIUS: f64 = 0.210;
/// Radii (nm) of carbon in C=O, and of planar carbon that is bonded to another planar carbon.
const CARBONYL_RADIUS: f64 = 0.165;
const AROMATIC_RADIUS: f64 = 0.175;
/// Radii (nm) of hydrogen at the positions of nuclei: hydrogen bonded to N, O, S or an aromatic carbon, and other
/// hydrogen.
const POLAR_RADIUS: f64 = 0.100;
const HYDROGEN_RADIUS: f64 = 0.117;
/// Bond length of water, and radius of the acceptors of its hydrogen bonds (oxygen), nm.
const WATER_BOND: f64 = 0.1;
const ACCEPTOR_RADIUS: f64 = 0.14;
/// Radius (nm) of all other atoms, mostly metal ions: about the ionic radius of Ca²⁺ and Na⁺ (Pauling).
const OTHER_RADIUS: f64 = 0.097;

/// An atom with the properties that determine its contacts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// position, nm
    pub(super) position: Vec3,
    /// radius, nm
    pub(super) radius: f64,
    /// whether the atom is a hydrogen that can form a hydrogen bond
    pub(super) donates: bool,
    /// whether the atom can accept a hydrogen bond
    pub(super) accepts: bool,
    /// sign of the charge of the ionised group of the atom; 0 in a neutral group
    pub(super) charge: i8,
    /// whether the atom overlaps with others; false for a possible hydrogen of water, which only forms hydrogen bonds
    pub(super) overlaps: bool,
    /// index in the structure of this atom, or of the atom to which this hydrogen is bonded
    pub(super) atom: usize,
    pub(super) is_hydrogen: bool,
}

/// Interaction of a dot with the atom whose sphere is closest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// gap between the dot and the sphere of the other atom, nm; negative inside
    gap: f64,
    /// depth up to which an overlap is a hydrogen bond, nm; 0 for other pairs of atoms
    bond: f64,
    /// whether the dot is in the circle in which contacts count
    is_central: bool,
}

impl Touch {
    /// Dot that touches no atom.
    pub(super) const NONE: Touch = Touch { gap: f64::INFINITY, bond: 0.0, is_central: false };

    /// Contribution to the score per area.
    fn value(self) -> f64 {
        let depth = -self.gap;
        let half_in_angstroms = 5.0;
        if depth <= 0.0 {
            if self.is_central { (-(self.gap / CONTACT_GAP).powi(2)).exp() } else { 0.0 }
        } else if depth < self.bond {
            BOND_WEIGHT * half_in_angstroms * depth
        } else {
            -OVERLAP_WEIGHT * half_in_angstroms * (depth - self.bond)
        }
    }
}

/// A dot on the sphere of an atom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dot {
    /// position, nm
    pub(super) position: Vec3,
    /// index of the atom in a list of sites
    pub(super) site: usize,
    /// area, Å²
    area: f64,
    /// interaction with the closest atom of the fixed surroundings
    pub(super) touch: Touch,
}

impl Dot {
    /// Contribution of the dot to the score, Å², if `touch` is its interaction with the closest atom.
    pub(super) fn value(&self, touch: Touch) -> f64 {
        self.area * touch.value()
    }
}

impl Site {
    /// Returns the closer of `touch` and the interaction of a dot of this atom with another atom.
    pub(super) fn touch(&self, dot: Vec3, other: &Site, touch: Touch) -> Touch {
        let outward = (dot - self.position) * (1.0 / self.radius);
        let probe = dot + outward * PROBE;
        if (probe - other.position).norm_squared() > (other.radius + PROBE).powi(2) {
            return touch;
        }
        let gap = (dot - other.position).norm() - other.radius;
        if gap >= touch.gap {
            return touch;
        }
        let forms_bond = self.donates && other.accepts || self.accepts && other.donates;
        let bond = match self.charge * other.charge {
            -1 if forms_bond => SALT_BRIDGE_DEPTH,
            0 if forms_bond => BOND_DEPTH,
            _ if !other.overlaps => return touch,
            _ => 0.0,
        };
        // half of the angle between the directions to the other atom and to the probe, if the spheres touch each other
        let sine_squared = other.radius * PROBE / ((self.radius + other.radius) * (self.radius + PROBE));
        let between = other.position - self.position;
        let cosine = outward.dot(between) / between.norm();
        Touch { gap, bond, is_central: cosine >= 1.0 - 2.0 * sine_squared }
    }
}

/// Returns the dots on the spheres of `sites` that are outside of atoms at most three bonds away. Each dot has its
/// interaction with the closest atom of `fixed`. The atoms of `sites` do not interact with each other.
pub(super) fn dots(sites: &[Site], fixed: &[Site], bonded: &[Vec<u32>]) -> Vec<Dot> {
    let mut all = vec![];
    for (index, site) in sites.iter().enumerate() {
        let is_excluded = |other: &Site| {
            let hydrogens = usize::from(site.is_hydrogen) + usize::from(other.is_hydrogen);
            bonds_between(bonded, site.atom, other.atom, EXCLUDED_BONDS - hydrogens).is_some()
        };
        let near = |other: &&Site| (other.position - site.position).norm() < other.radius + site.radius + PROBE;
        let (excluded, others): (Vec<&Site>, Vec<&Site>) =
            fixed.iter().filter(near).partition(|site| is_excluded(site));
        let own = sites.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
        let hiding: Vec<&Site> = excluded.into_iter().chain(own.filter(near)).collect();
        let area = 4.0 * PI * site.radius * site.radius;
        let count = (area * DENSITY).round().max(1.0) as usize;
        for direction in directions(count) {
            let position = site.position + direction * site.radius;
            let is_inside = |other: &&Site| (position - other.position).norm_squared() < other.radius * other.radius;
            if !hiding.iter().any(is_inside) {
                let touch = others.iter().fold(Touch::NONE, |touch, other| site.touch(position, other, touch));
                all.push(Dot { position, site: index, area: 100.0 * area / count as f64, touch });
            }
        }
    }
    all
}

/// Returns `count` unit vectors at equal heights and at multiples of the golden angle, which cover a sphere evenly.
fn directions(count: usize) -> impl Iterator<Item = Vec3> {
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    (0..count).map(move |k| {
        let z = 1.0 - (2 * k + 1) as f64 / count as f64;
        let (sin, cos) = (golden * k as f64).sin_cos();
        let across = (1.0 - z * z).sqrt();
        vec3(across * cos, across * sin, z)
    })
}

/// Properties of the atoms of a structure that determine contacts.
pub(super) struct Contacts<'a> {
    heavy: &'a Heavy<'a>,
    /// number of bonds of each atom, with hydrogens
    bonds: Vec<usize>,
    /// sign of the charge of the ionised group of each atom
    charges: Vec<i8>,
}

impl<'a> Contacts<'a> {
    /// `wanted` lists the names of the hydrogens that each atom gets.
    pub(super) fn new(heavy: &'a Heavy<'a>, wanted: &[Vec<String>]) -> Self {
        let bonds: Vec<usize> = (0..heavy.bonded.len()).map(|k| heavy.bonded[k].len() + wanted[k].len()).collect();
        let mut charges = vec![0; bonds.len()];
        let element = |atom: usize| heavy.structure.atoms[atom].element;
        for atom in 0..bonds.len() {
            let others = |test: &dyn Fn(usize) -> bool| -> Vec<usize> {
                heavy.bonded[atom].iter().map(|&other| other as usize).filter(|&other| test(other)).collect()
            };
            let ends = others(&|other| element(other) == 8 && bonds[other] == 1);
            let nitrogens = others(&|other| element(other) == 7);
            match element(atom) {
                // carboxylates, phosphates and sulfates
                6 | 15 | 16 if ends.len() > 1 => ends.into_iter().for_each(|end| charges[end] = -1),
                // guanidinium groups
                6 if nitrogens.len() == 3 => nitrogens.into_iter().for_each(|nitrogen| charges[nitrogen] = 1),
                // protonated imidazole rings
                6 if nitrogens.len() == 2 && bonds[atom] == 3 => {
                    let protonated = |&atom: &usize| bonds[atom] == 3 && heavy.bonded[atom].len() == 2;
                    if nitrogens.iter().all(protonated) {
                        nitrogens.into_iter().for_each(|nitrogen| charges[nitrogen] = 1);
                    }
                }
                7 if bonds[atom] == 4 => charges[atom] = 1,
                9 | 17 | 35 | 53 if bonds[atom] == 0 => charges[atom] = -1,
                1 | 6..=9 | 14..=17 | 35 | 53 => {}
                _ => charges[atom] = 1,
            }
        }
        Contacts { heavy, bonds, charges }
    }

    fn element(&self, atom: usize) -> u8 {
        self.heavy.structure.atoms[atom].element
    }

    /// Whether a carbon is planar.
    fn is_planar_carbon(&self, atom: usize) -> bool {
        self.element(atom) == 6 && self.bonds[atom] == 3
    }

    /// Whether a carbon is planar and bonded to another planar carbon, and not part of a C=O group.
    fn is_aromatic(&self, atom: usize) -> bool {
        let others = || self.heavy.bonded[atom].iter().map(|&other| other as usize);
        self.is_planar_carbon(atom) && !self.is_carbonyl(atom) && others().any(|other| self.is_planar_carbon(other))
    }

    fn is_carbonyl(&self, atom: usize) -> bool {
        let mut others = self.heavy.bonded[atom].iter().map(|&other| other as usize);
        self.element(atom) == 6 && others.any(|other| self.element(other) == 8 && self.bonds[other] == 1)
    }

    /// Returns an atom at a position.
    pub(super) fn atom(&self, atom: usize, position: Vec3) -> Site {
        let element = self.element(atom);
        let radius = RADII.iter().find(|(number, _)| *number == element).map_or(OTHER_RADIUS, |(_, radius)| *radius);
        let (radius, accepts) = match element {
            6 if self.is_carbonyl(atom) => (CARBONYL_RADIUS, false),
            6 if self.is_aromatic(atom) => (AROMATIC_RADIUS, true),
            7 => (radius, self.bonds[atom] == 2),
            _ => (radius, matches!(element, 8 | 9 | 16 | 17 | 35 | 53)),
        };
        let charge = self.charges[atom];
        Site { position, radius, donates: false, accepts, charge, overlaps: true, atom, is_hydrogen: false }
    }

    /// Returns a hydrogen at a position, bonded to the atom `parent`.
    pub(super) fn hydrogen(&self, parent: usize, position: Vec3) -> Site {
        let donates = matches!(self.element(parent), 7 | 8 | 16);
        let radius = if donates || self.is_aromatic(parent) { POLAR_RADIUS } else { HYDROGEN_RADIUS };
        let charge = self.charges[parent];
        Site { position, radius, donates, accepts: false, charge, overlaps: true, atom: parent, is_hydrogen: true }
    }

    /// Returns the hydrogen with which a water may form a hydrogen bond to an acceptor at a position. The bond of the
    /// hydrogen is shortened so that the hydrogen bond is not too deep. Returns `None` if the acceptor is too far away.
    pub(super) fn hydrogen_of_water(&self, water: &Site, acceptor: Vec3) -> Option<Site> {
        let between = acceptor - water.position;
        let gap = between.norm() - WATER_BOND - POLAR_RADIUS - ACCEPTOR_RADIUS;
        let length = WATER_BOND + (gap + BOND_DEPTH).clamp(-WATER_BOND, 0.0);
        let position = water.position + between * (length / between.norm().max(1e-9));
        (gap < 0.0).then(|| Site { overlaps: false, ..self.hydrogen(water.atom, position) })
    }

    /// Returns an atom of the surroundings.
    pub(super) fn source(&self, source: &Source) -> Site {
        if source.is_hydrogen {
            self.hydrogen(source.atom, source.position)
        } else {
            self.atom(source.atom, source.position)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an atom on the x axis that neither donates nor accepts hydrogen bonds.
    fn site(atom: usize, x: f64, radius: f64) -> Site {
        let position = vec3(x, 0.0, 0.0);
        Site { position, radius, donates: false, accepts: false, charge: 0, overlaps: true, atom, is_hydrogen: false }
    }

    fn score(site: Site, other: Site, bonded: &[Vec<u32>]) -> f64 {
        dots(&[site], &[other], bonded).iter().map(|dot| dot.value(dot.touch)).sum()
    }

    /// Integrates `weight(g)`, with the gap g in Å, over the sphere of an atom with the radius `a` up to the angle
    /// `largest` from the direction to an atom with the radius `b` at the distance `d`, all in Å.
    fn integral([a, b, d]: [f64; 3], largest: f64, weight: impl Fn(f64) -> f64) -> f64 {
        let steps = 20_000;
        let width = largest / f64::from(steps);
        let ring = |k| {
            let angle = (f64::from(k) + 0.5) * width;
            let gap = (a * a + d * d - 2.0 * a * d * angle.cos()).sqrt() - b;
            2.0 * PI * a * a * angle.sin() * width * weight(gap)
        };
        (0..steps).map(ring).sum()
    }

    #[test]
    fn scores_are_integrals_over_the_sphere() {
        let bonded = [vec![], vec![]];
        // large atoms, so that many dots contribute: all up to the angle at which a probe touches both atoms (law of
        // cosines for two sides a + p, and the distance d)
        let [a, p, d] = [20.0_f64, 0.25, 40.2];
        let cosine = d / (2.0 * (a + p));
        let contact = integral([a, a, d], cosine.acos(), |gap| (-(gap / 0.25).powi(2)).exp());
        let found = score(site(0, 0.0, 2.0), site(1, 4.02, 2.0), &bonded);
        assert!((found - contact).abs() < 0.02 * contact, "{found} {contact}");
        let first = site(0, 0.0, 0.1);
        let near = site(1, 0.2, 0.14);
        let overlap = integral([1.0, 1.4, 2.0], PI, |gap| if gap < 0.0 { 5.0 * gap } else { 0.0 });
        let found = score(first, near, &bonded);
        assert!((found - overlap).abs() < 0.02 * overlap.abs(), "{found} {overlap}");
        let (donor, acceptor) = (Site { donates: true, ..first }, Site { accepts: true, ..near });
        let bond = integral([1.0, 1.4, 2.0], PI, |gap| if gap < 0.0 { -2.0 * gap } else { 0.0 });
        let found = score(donor, acceptor, &bonded);
        assert!((found - bond).abs() < 0.02 * bond, "{found} {bond}");
        // 0.8 Å at most: too deep for a hydrogen bond of neutral groups, not for one of opposite charges
        let close = Site { position: vec3(0.16, 0.0, 0.0), ..acceptor };
        let charged = score(Site { charge: 1, ..donor }, Site { charge: -1, ..close }, &bonded);
        assert!(score(donor, close, &bonded) < charged);
        assert!(score(Site { charge: 1, ..donor }, Site { charge: 1, ..close }, &bonded) < 0.0);
    }

    #[test]
    fn hydrogens_of_water_only_form_hydrogen_bonds() {
        let bonded = [vec![], vec![]];
        let hydrogen = Site { overlaps: false, donates: true, ..site(1, 0.2, 0.1) };
        assert_eq!(score(site(0, 0.0, 0.14), hydrogen, &bonded), 0.0);
        assert!(score(Site { accepts: true, ..site(0, 0.0, 0.14) }, hydrogen, &bonded) > 0.0);
    }

    #[test]
    fn atoms_within_three_bonds_hide_dots() {
        let bonded = [vec![1], vec![0, 2], vec![1, 3], vec![2, 4], vec![3]];
        let first = site(0, 0.0, 0.15);
        let count = dots(&[first], &[], &bonded).len();
        assert_eq!(count, (4.0 * PI * 0.15 * 0.15 * DENSITY).round() as usize);
        let hidden = dots(&[first], &[site(3, 0.2, 0.15)], &bonded);
        assert!(hidden.len() < count && hidden.iter().all(|dot| dot.value(dot.touch) == 0.0));
        let seen = dots(&[first], &[site(4, 0.2, 0.15)], &bonded);
        assert!(seen.len() == count && seen.iter().any(|dot| dot.value(dot.touch) < 0.0));
    }
}
