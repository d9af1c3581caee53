//! Orientation of the amides of Asn and Gln and of the ring of His, and the tautomer of neutral His.
//!
//! X-ray diffraction hardly distinguishes N from O and C, so that in about a fifth of these side chains the atoms are
//! exchanged in the file (Word et al., J. Mol. Biol. 285, 1735 (1999), doi:10.1006/jmbi.1998.2401). Both orientations
//! of each group, and both tautomers of neutral His, are compared by the score of their contacts ([`super::contact`]).
//! Hydrogens of hydroxyl and ammonium groups next to the group rotate to their best positions for each orientation. A
//! water donates a hydrogen bond to any acceptor, because its hydrogens are not known. For the comparison, pairs of
//! atoms of the group exchange their positions, so that both orientations occupy the same space. To flip a group, md
//! rotates the group by 180° about the bond between its planar carbon and the preceding carbon. The rotation keeps all
//! bond lengths and angles.

use md_engine::vec3::Vec3;

use super::center::{Center, Place};
use super::contact::{Contacts, LARGEST_RADIUS, Site};
use super::energy::{Source, Surroundings};
use super::network::{Mover, Network};
use super::rotors::Rotor;
use super::{Choice, Heavy, Reason};

/// Smallest difference of scores (Å²) at which a group is flipped; the opposite orientation must have the higher score.
/// The value is the penalty of a flip in the program reduce (Word et al.).
pub const MARGIN: f64 = 0.5;
/// Largest distance (nm) between an atom of a group and the parent atom of a rotatable hydrogen at which the hydrogen
/// is placed anew for each state of the group. The value is the largest distance between the heavy atoms of a hydrogen
/// bond, rounded up (Jeffrey, An Introduction to Hydrogen Bonding, 1997).
const FOLLOWS: f64 = 0.36;
/// Largest distance (nm) between atoms of two groups at which all combinations of their states are enumerated.
const LINKED: f64 = 0.4;

/// A kind of side chain that can be flipped: name of the residue, atom before the group, and atoms of the group. The
/// planar carbon is the first atom of the group. `partners` holds, for each atom, the index of the atom with which the
/// atom exchanges its position.
struct Kind {
    residue: &'static str,
    before: &'static str,
    atoms: &'static [&'static str],
    partners: &'static [usize],
}

const KINDS: [Kind; 3] = [
    Kind { residue: "ASN", before: "CB", atoms: &["CG", "OD1", "ND2"], partners: &[0, 2, 1] },
    Kind { residue: "GLN", before: "CG", atoms: &["CD", "OE1", "NE2"], partners: &[0, 2, 1] },
    Kind { residue: "HIS", before: "CB", atoms: &["CG", "ND1", "CD2", "CE1", "NE2"], partners: &[0, 2, 1, 4, 3] },
];

/// Variants of His, and for each atom of the ring in the order of [`KINDS`] whether the atom has a hydrogen.
const RING: [(&str, [bool; 5]); 3] = [
    ("HID", [false, true, true, true, false]),
    ("HIE", [false, false, true, true, true]),
    ("HIP", [false, true, true, true, true]),
];
/// Neighbours of each ring atom within the ring.
const RING_BONDS: [[usize; 2]; 5] = [[1, 2], [0, 3], [0, 4], [1, 4], [2, 3]];

/// Options that determine which side chains are flipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flips {
    /// whether side chains are flipped if the score of the opposite orientation is clearly higher
    pub proposed: bool,
    /// indices of residues that are flipped regardless of the score
    pub given: Vec<usize>,
}

/// Orientation of a side chain that was compared with the opposite orientation, or flipped on request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation {
    /// index of the residue
    pub residue: usize,
    /// whether the side chain was flipped
    pub is_turned: bool,
    /// score of the returned orientation minus the score of the opposite orientation, Å²; `None` if the user requested
    /// the flip
    pub advantage: Option<f64>,
}

impl Orientation {
    /// Whether the opposite orientation has a score higher by more than [`MARGIN`], and the side chain was not flipped.
    pub fn is_proposed(&self) -> bool {
        !self.is_turned && self.advantage.is_some_and(|score| score < -MARGIN)
    }

    /// Returns the comparison for an unflipped side chain: the same scores, with the orientation of the entry as the
    /// returned orientation.
    pub(super) fn kept(self) -> Self {
        let advantage = self.advantage.map(|score| if self.is_turned { -score } else { score });
        Orientation { is_turned: false, advantage, ..self }
    }
}

/// A side chain with several states. A state consists of the orientation (flipped or not) and, for His, of the
/// protonation variant.
pub(super) struct Group {
    residue: usize,
    kind: &'static Kind,
    /// atoms of the group in the order of [`Kind::atoms`]
    atoms: Vec<usize>,
    states: Vec<(bool, &'static str)>,
}

/// Returns the kind of a residue, the atoms of its group and the atom before the group. Returns `None` if the residue
/// has no group of [`KINDS`].
fn side_chain(heavy: &Heavy<'_>, residue: usize) -> Option<(&'static Kind, Vec<usize>, usize)> {
    let kind = KINDS.iter().find(|kind| kind.residue == heavy.structure.residues[residue].name)?;
    let named = |name: &&str| heavy.structure.atom_named(residue, name);
    let atoms: Option<Vec<usize>> = kind.atoms.iter().map(named).collect();
    Some((kind, atoms?, named(&kind.before)?))
}

/// Whether the atoms of a side chain that exchange their positions are bonded only to atoms of the group.
fn is_free(heavy: &Heavy<'_>, atoms: &[usize]) -> bool {
    atoms[1..].iter().all(|&atom| heavy.bonded[atom].iter().all(|&other| atoms.contains(&(other as usize))))
}

/// Returns the positions of the atoms of a side chain after a rotation by 180° about the bond to the atom before the
/// group. Returns `None` if the residue has no side chain that can be flipped.
pub(super) fn turned(heavy: &Heavy<'_>, residue: usize) -> Option<Vec<(usize, Vec3)>> {
    let (_, atoms, before) = side_chain(heavy, residue)?;
    let center = heavy.positions[atoms[0]];
    let along = center - heavy.positions[before];
    let squared = along.norm_squared();
    if squared < 1e-6 || !is_free(heavy, &atoms) {
        return None;
    }
    let place = |atom: usize| {
        let from = heavy.positions[atom] - center;
        center + along * (2.0 * along.dot(from) / squared) - from
    };
    Some(atoms[1..].iter().map(|&atom| (atom, place(atom))).collect())
}

/// Returns the groups whose states the score decides. If `may_turn` is false, only tautomers are compared. A side
/// chain is not flipped if the side chain is in `given`, or if `is_fixed` is true for one of its atoms.
pub(super) fn find(
    heavy: &Heavy<'_>,
    choices: &[Choice],
    may_turn: bool,
    given: &[usize],
    is_fixed: impl Fn(usize) -> bool,
) -> Vec<Group> {
    let group = |residue: usize| {
        let (kind, atoms, _) = side_chain(heavy, residue)?;
        let choice = choices.binary_search_by_key(&residue, |choice| choice.residue).ok().map(|k| &choices[k]);
        let variants: Vec<&str> = match choice {
            Some(Choice { reason: Reason::Pka(_), variant, .. }) if variant == "HIP" => vec!["HIP"],
            Some(Choice { reason: Reason::Pka(_), .. }) => {
                let is_open = |(_, atom): &(&str, usize)| heavy.bonded[*atom].len() == 2;
                [("HIE", atoms[4]), ("HID", atoms[1])].into_iter().filter(is_open).map(|(name, _)| name).collect()
            }
            Some(_) => return None,
            None => vec![kind.residue],
        };
        let may_turn = may_turn
            && !given.contains(&residue)
            && is_free(heavy, &atoms)
            && !atoms.iter().any(|&atom| is_fixed(atom));
        let turns = if may_turn { vec![false, true] } else { vec![false] };
        let states: Vec<(bool, &str)> =
            turns.into_iter().flat_map(|turn| variants.iter().map(move |&variant| (turn, variant))).collect();
        (states.len() > 1).then_some(Group { residue, kind, atoms, states })
    };
    (0..heavy.structure.residues.len()).filter_map(group).collect()
}

impl Group {
    /// Returns the sites of a state: the atoms of the group and their hydrogens. If `turned`, the atoms have exchanged
    /// their positions.
    fn sites(&self, heavy: &Heavy<'_>, contacts: &Contacts<'_>, turned: bool, variant: &str) -> Vec<Site> {
        let place = |k: usize| heavy.positions[self.atoms[if turned { self.kind.partners[k] } else { k }]];
        let center = |k: usize, bonds: &[usize]| Center {
            position: place(k),
            element: heavy.structure.atoms[self.atoms[k]].element,
            is_planar: true,
            neighbours: bonds.iter().map(|&other| place(other)).collect(),
            beyond: (bonds.len() == 1).then(|| place(1)),
            neighbour_is_planar: true,
        };
        let hydrogens = |k: usize, bonds: &[usize], count: usize| -> Vec<Site> {
            let places = match center(k, bonds).place(count) {
                Place::Fixed(places) => places,
                Place::Turning(turn) => turn.positions(0.0),
                Place::Water { .. } => vec![],
            };
            places.into_iter().map(|position| contacts.hydrogen(self.atoms[k], position)).collect()
        };
        let mut sites: Vec<Site> = (0..self.atoms.len()).map(|k| contacts.atom(self.atoms[k], place(k))).collect();
        let Some((_, protonated)) = RING.iter().find(|(name, _)| *name == variant) else {
            sites.extend(hydrogens(2, &[0], 2));
            return sites;
        };
        for k in 0..self.atoms.len() {
            let is_nitrogen = heavy.structure.atoms[self.atoms[k]].element == 7;
            sites[k].accepts = is_nitrogen && !protonated[k];
            if protonated[k] {
                sites.extend(hydrogens(k, &RING_BONDS[k], 1));
            }
        }
        sites.iter_mut().for_each(|site| site.charge = i8::from(variant == "HIP"));
        sites
    }

    /// Smallest distance (nm) between the atoms of two groups. Planar carbons do not count, because a flip does not
    /// move these carbons.
    fn distance(&self, other: &Group, positions: &[Vec3]) -> f64 {
        let pairs = self.atoms[1..].iter().flat_map(|&a| other.atoms[1..].iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| (positions[a] - positions[b]).norm()).fold(f64::INFINITY, f64::min)
    }
}

/// Finds the states of groups with the highest score. Sets the variants of His in `choices`, and returns the
/// orientations that were compared. `wanted` lists the names of the hydrogens of each atom, `surroundings` holds all
/// atoms, with hydrogens for the orientation of the entry, and `rotors` holds the rotatable hydrogens.
pub(super) fn decide(
    heavy: &Heavy<'_>,
    wanted: &[Vec<String>],
    groups: &[Group],
    surroundings: &Surroundings,
    rotors: &[Rotor<'_>],
    choices: &mut [Choice],
) -> Vec<Orientation> {
    let contacts = Contacts::new(heavy, wanted);
    let mut in_group = vec![false; heavy.positions.len()];
    groups.iter().flat_map(|group| &group.atoms).for_each(|&atom| in_group[atom] = true);
    let (turning, followers) = followers(heavy, groups, rotors, &in_group, surroundings);
    let mut turns = vec![false; heavy.positions.len()];
    turning.iter().for_each(|&rotor| turns[rotors[rotor].parent] = true);
    let is_water = |atom: usize| heavy.structure.atoms[atom].element == 8 && heavy.bonded[atom].is_empty();
    let fixed = |center: Vec3, extent: f64| -> Vec<Site> {
        let is_fixed = |source: &&Source| {
            let moves = turns[source.atom] || is_water(source.atom);
            !(in_group[source.atom] || source.is_hydrogen && moves)
        };
        surroundings
            .within(center, extent + LARGEST_RADIUS)
            .filter(is_fixed)
            .map(|source| contacts.source(source))
            .collect()
    };
    let of_group = |group: &Group| {
        let state = |&(turned, name): &(bool, &str)| {
            (group.sites(heavy, &contacts, turned, name), if turned { MARGIN } else { 0.0 })
        };
        Mover::new(group.states.iter().map(state).collect(), |center, extent| {
            let mut sites = fixed(center, extent);
            let waters: Vec<Site> = sites.iter().filter(|site| is_water(site.atom)).copied().collect();
            let acceptors = group.atoms[1..].iter().map(|&atom| heavy.positions[atom]);
            let pairs = acceptors.flat_map(|acceptor| waters.iter().map(move |water| (acceptor, water)));
            sites.extend(pairs.filter_map(|(acceptor, water)| contacts.hydrogen_of_water(water, acceptor)));
            sites
        })
    };
    let of_rotor = |&rotor: &usize| {
        let rotor = &rotors[rotor];
        let site = |position| contacts.hydrogen(rotor.parent, position);
        let states = rotor.candidates(surroundings).into_iter().map(|all| (all.into_iter().map(site).collect(), 0.0));
        Mover::new(states.collect(), fixed)
    };
    let movers = groups.iter().map(of_group).collect();
    let mut network = Network::new(movers, turning.iter().map(of_rotor).collect(), &followers, &heavy.bonded);
    let links = links(groups, &followers, &heavy.positions);
    network.solve(&links);
    chosen(groups, &network.compare(&links), choices)
}

/// Returns the orientations of groups. `compared` holds, for each group, its state, and the score of this state
/// minus the score of each state of the group. Sets the variants of His in `choices`.
fn chosen(groups: &[Group], compared: &[(usize, Vec<f64>)], choices: &mut [Choice]) -> Vec<Orientation> {
    let mut orientations = vec![];
    for (group, (state, advantages)) in groups.iter().zip(compared) {
        let (is_turned, variant) = group.states[*state];
        let lowest = |is_other: &dyn Fn(&(bool, &str)) -> bool| {
            let others = group.states.iter().zip(advantages).filter(|(state, _)| is_other(state));
            others.map(|(_, advantage)| *advantage).min_by(f64::total_cmp)
        };
        if let Some(advantage) = lowest(&|other| other.0 != is_turned) {
            orientations.push(Orientation { residue: group.residue, is_turned, advantage: Some(advantage) });
        }
        let choice = choices.iter_mut().find(|choice| choice.residue == group.residue);
        let tautomer = lowest(&|other| other.0 == is_turned && other.1 != variant);
        if let Some((choice, difference)) = choice.zip(tautomer) {
            (choice.variant, choice.reason) = (variant.to_owned(), Reason::Tautomer(difference));
        }
    }
    orientations
}

/// Returns the rotatable hydrogens next to groups as indices into `rotors`, and, for each group, the positions of its
/// rotatable hydrogens in this list.
fn followers(
    heavy: &Heavy<'_>,
    groups: &[Group],
    rotors: &[Rotor<'_>],
    in_group: &[bool],
    surroundings: &Surroundings,
) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut rotor_of = vec![None; heavy.positions.len()];
    let can_turn = |rotor: &Rotor<'_>| {
        let is_bonded = !rotor.neighbours.is_empty();
        matches!(rotor.element, 7 | 8 | 16) && is_bonded && !in_group[rotor.parent] && rotor.turns()
    };
    rotors.iter().enumerate().filter(|(_, rotor)| can_turn(rotor)).for_each(|(k, rotor)| {
        rotor_of[rotor.parent] = Some(k);
    });
    let next_to = |group: &Group| -> Vec<usize> {
        let near = group.atoms[1..].iter().flat_map(|&atom| surroundings.within(heavy.positions[atom], FOLLOWS));
        let heavy_atoms = near.filter(|source| !source.is_hydrogen);
        let mut found: Vec<usize> = heavy_atoms.filter_map(|source| rotor_of[source.atom]).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let of_groups: Vec<Vec<usize>> = groups.iter().map(next_to).collect();
    let mut all: Vec<usize> = of_groups.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    let index = |rotor: &usize| all.binary_search(rotor).ok();
    let indices = of_groups.iter().map(|list| list.iter().filter_map(index).collect()).collect();
    (all, indices)
}

/// Returns the pairs of groups that interact: those with atoms within [`LINKED`], and groups that share a nearby
/// rotatable hydrogen.
fn links(groups: &[Group], followers: &[Vec<usize>], positions: &[Vec3]) -> Vec<[usize; 2]> {
    let sees = |a: usize, b: usize| {
        groups[a].distance(&groups[b], positions) < LINKED || followers[a].iter().any(|k| followers[b].contains(k))
    };
    let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| [a, b]));
    pairs.filter(|&[a, b]| sees(a, b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hydrogens::{Hydrogenated, PkaModel, Protonation, add};
    use crate::structure::{Atom, Residue, Structure};

    /// Atoms of Asn: name, atomic number and position (nm). The amide is in the plane z = 0.
    const ASN: [(&str, u8, [f64; 3]); 8] = [
        ("N", 7, [-0.345, 0.02, 0.185]),
        ("CA", 6, [-0.205, 0.0, 0.144]),
        ("C", 6, [-0.19, -0.03, 0.293]),
        ("O", 8, [-0.085, -0.05, 0.35]),
        ("CB", 6, [-0.152, 0.0, 0.0]),
        ("CG", 6, [0.0, 0.0, 0.0]),
        ("OD1", 8, UPPER),
        ("ND2", 7, LOWER),
    ];
    const UPPER: [f64; 3] = [0.064, 0.111, 0.0];
    const LOWER: [f64; 3] = [0.064, -0.111, 0.0];
    const ASN_BONDS: [[u32; 2]; 7] = [[0, 1], [1, 2], [2, 3], [1, 4], [4, 5], [5, 6], [5, 7]];

    /// Returns Asn, with OD1 on the upper side unless `is_wrong`. If `partners`, the structure also has an N–H group
    /// that points to the upper atom of the amide, and a C=O group on the side of the lower atom.
    fn asn(is_wrong: bool, partners: bool) -> (Structure, Vec<Vec3>) {
        let mut atoms = ASN.to_vec();
        if is_wrong {
            (atoms[6].2, atoms[7].2) = (LOWER, UPPER);
        }
        let mut residues = vec![("ASN", 0)];
        let mut bonds = ASN_BONDS.to_vec();
        if partners {
            // both hydrogen bonds N–H…O have 0.285 nm between N and O: one along the C=O bond, one along x
            let along = |length: f64| [UPPER[0] + 0.5 * length, UPPER[1] + 0.866 * length, 0.0];
            atoms.extend([("N1", 7, along(0.285)), ("H1", 1, along(0.184)), ("C1", 6, along(0.432))]);
            let beside = |length: f64| [LOWER[0] + length, LOWER[1], 0.0];
            atoms.extend([("O1", 8, beside(0.285)), ("C2", 6, beside(0.408))]);
            residues.extend([("LIG", 8), ("LIG", 11)]);
            bonds.extend([[8, 9], [8, 10], [11, 12]]);
        }
        let residue = |(number, (name, first)): (i32, (&str, u32))| Residue {
            name: name.into(),
            number,
            insertion_code: None,
            chain: 0,
            first,
        };
        let structure = Structure {
            chains: vec!["A".into()],
            residues: (1..).zip(residues).map(residue).collect(),
            atoms: atoms.iter().map(|(name, element, _)| Atom { name: (*name).into(), element: *element }).collect(),
            bonds,
        };
        (structure, atoms.iter().map(|(.., position)| Vec3::from(*position)).collect())
    }

    /// Options for tests: a side chain is flipped whenever the score of the opposite orientation is clearly higher.
    const ALL: Flips = Flips { proposed: true, given: vec![] };

    fn hydrogenated((structure, positions): &(Structure, Vec<Vec3>), flips: Flips) -> Hydrogenated {
        add(
            structure,
            positions,
            &Protonation { ph: 7.0, model: PkaModel::Water, given: vec![], flips, components: vec![] },
        )
        .unwrap()
    }

    fn position(found: &Hydrogenated, name: &str) -> Vec3 {
        found.positions[found.structure.atom_named(0, name).unwrap()]
    }

    #[test]
    fn an_amide_turns_toward_its_hydrogen_bonds() {
        for is_wrong in [true, false] {
            let found = hydrogenated(&asn(is_wrong, true), ALL);
            let [orientation] = found.orientations[..] else { panic!("one orientation") };
            assert_eq!(orientation.is_turned, is_wrong);
            assert!(orientation.advantage.unwrap() > 2.0 * MARGIN, "{orientation:?}");
            // after the flip, the oxygen is next to the donor, and a hydrogen of the amide points to the acceptor
            assert!((position(&found, "OD1") - Vec3::from(UPPER)).norm() < 1e-9);
            let acceptor = Vec3::from([LOWER[0] + 0.285, LOWER[1], 0.0]);
            let nearest = ["HD21", "HD22"].map(|name| (position(&found, name) - acceptor).norm());
            assert!(nearest[0].min(nearest[1]) < 0.2, "{nearest:?}");
        }
    }

    #[test]
    fn a_lone_amide_keeps_its_orientation() {
        for is_wrong in [true, false] {
            let found = hydrogenated(&asn(is_wrong, false), ALL);
            let [orientation] = found.orientations[..] else { panic!("one orientation") };
            assert!(!orientation.is_turned && orientation.advantage.unwrap().abs() < MARGIN, "{orientation:?}");
        }
        let kept = hydrogenated(&asn(true, true), Flips::default());
        let [orientation] = kept.orientations[..] else { panic!("one orientation") };
        assert!(orientation.is_proposed() && (position(&kept, "OD1") - Vec3::from(LOWER)).norm() < 1e-9);
    }

    /// Tests that an amide whose oxygen coordinates a metal is not flipped.
    #[test]
    fn an_amide_at_a_metal_keeps_its_orientation() {
        let (mut structure, mut positions) = asn(true, true);
        structure.residues.push(Residue { name: "CA".into(), number: 9, first: 13, ..structure.residues[0].clone() });
        structure.atoms.push(Atom { name: "CA".into(), element: 20 });
        positions.push(Vec3::from([LOWER[0] + 0.1, LOWER[1] - 0.2, 0.0]));
        assert!(hydrogenated(&(structure, positions), ALL).orientations.is_empty());
    }

    #[test]
    fn a_turn_on_request_keeps_bonds_and_angles() {
        let (structure, mut positions) = asn(false, false);
        positions[6] += Vec3::from([0.004, -0.01, 0.013]);
        let asked = Flips { proposed: true, given: vec![0] };
        let found = hydrogenated(&(structure.clone(), positions.clone()), asked.clone());
        assert_eq!(found.orientations, [Orientation { residue: 0, is_turned: true, advantage: None }]);
        let names = ["CB", "CG", "OD1", "ND2"];
        for (a, b) in names.iter().flat_map(|a| names.iter().map(move |b| (a, b))) {
            let before = |name: &str| positions[structure.atom_named(0, name).unwrap()];
            let lengths = [(before(a) - before(b)).norm(), (position(&found, a) - position(&found, b)).norm()];
            assert!((lengths[0] - lengths[1]).abs() < 1e-12, "{a} {b}");
        }
        assert!((position(&found, "OD1") - Vec3::from(LOWER)).norm() < 0.02);
        let again = hydrogenated(&(found.structure.clone(), found.positions.clone()), asked);
        assert!((position(&again, "OD1") - positions[6]).norm() < 1e-12);
        let other = Flips { proposed: true, given: vec![1] };
        let (structure, positions) = asn(false, true);
        let error = add(
            &structure,
            &positions,
            &Protonation { ph: 7.0, model: PkaModel::Water, given: vec![], flips: other, components: vec![] },
        )
        .unwrap_err();
        assert!(error.to_string().contains("no side chain that can be turned"), "{error}");
    }
}
