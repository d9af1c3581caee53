//! Writer of bonds and angles. The writer also adds bonds that represent rigid waters, and bonds whose lengths
//! determine the positions of extra points.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::extra_points;
use super::refused;
use super::sections::{Rows, Text};
use crate::error::Problem;
use crate::format::prmtop::sections::Parsed;
use crate::system::{Bond, BondedTerms, Construction, Topology, VirtualSite, ordered};
use crate::units::{ANGSTROM, KCAL};

/// Factor that converts the force constant of the engine to that of the file. The energy is ½ k (x − x₀)² in the
/// engine and k (x − x₀)² in the file.
pub(super) const HALF: f64 = 0.5;
/// Force constant of water bonds in LEaP's parameters of water models, kcal/mol/Å².
const WATER: f64 = 553.0;
/// Maximum relative difference at which two lengths, or two weights of a virtual site, count as equal. The tolerance
/// allows for the rounding of numbers in AMBER topologies, which have eight decimals.
const SAME: f64 = 1e-6;

/// Bonds and angles of an AMBER topology that is written.
pub(super) struct Bonds {
    pub(super) pairs: Rows<2, 2>,
    pub(super) angles: Rows<3, 2>,
    /// waters with extra points whose angle term was replaced by an H–H bond
    braced: usize,
}

impl Bonds {
    pub(super) fn new(topology: &Topology) -> Parsed<Self> {
        refuse_others(&topology.bonded)?;
        let braces = braces(topology);
        let bonds = complete(topology, &braces)?;
        check_sites(topology, &bonds)?;
        let (mut pairs, mut angles) = (Rows::new(), Rows::new());
        for bond in &bonds {
            pairs.push(topology, bond.atoms, [false; 2], parameters(bond));
        }
        for (_, angle) in topology.bonded.angles.iter().enumerate().filter(|(index, _)| !braces.contains_key(index)) {
            angles.push(topology, angle.atoms, [false; 3], [HALF * angle.force_constant / KCAL, angle.angle]);
        }
        Ok(Bonds { pairs, angles, braced: braces.len() })
    }

    /// Returns a sentence about the angle terms that the file contains as bonds.
    pub(super) fn loss(&self) -> Option<String> {
        let what = "instead of an angle term, waters with extra points have an H–H bond of the same geometry, as in LEaP's files";
        (self.braced > 0).then(|| format!("{what} ({} waters)", self.braced))
    }

    pub(super) fn write_types(&self, text: &mut Text) {
        self.pairs.write_types(["BOND_FORCE_CONSTANT", "BOND_EQUIL_VALUE"], text);
        self.angles.write_types(["ANGLE_FORCE_CONSTANT", "ANGLE_EQUIL_VALUE"], text);
    }

    pub(super) fn write(&self, text: &mut Text) {
        self.pairs.write("BONDS", text);
        self.angles.write("ANGLES", text);
    }
}

/// Returns the force constant k (kcal/mol/Å²) of k (r − r₀)² and the length r₀ (Å) of a bond.
pub(super) fn parameters(bond: &Bond) -> [f64; 2] {
    [HALF * bond.force_constant * ANGSTROM * ANGSTROM / KCAL, bond.length / ANGSTROM]
}

/// Returns an error if the topology has bonds or angles with a function that is not harmonic.
fn refuse_others(bonded: &BondedTerms) -> Parsed<()> {
    let bonds = bonded.g96_bonds.iter().map(|bond| ("bond", bond.atoms[0], bond.atoms[1]));
    let mut others = bonds.chain(bonded.g96_angles.iter().map(|angle| ("angle", angle.atoms[0], angle.atoms[2])));
    match others.next() {
        Some((what, i, j)) => {
            let message = format!("the {what} from atom {} to {} has an energy function of GROMOS-96", i + 1, j + 1);
            Err(refused(message, "bonds and angles of an AMBER topology are harmonic"))
        }
        None => Ok(()),
    }
}

/// Returns the H–H bonds of waters with extra points whose geometry is given by an angle term. The key is the index of
/// the angle term. The length of the bond follows from the O–H bonds and the angle θ: r² = a² + b² − 2ab cos θ. Readers
/// of the format derive the positions of extra points from the H–H bond.
fn braces(topology: &Topology) -> BTreeMap<usize, Bond> {
    let oxygens = topology.virtual_sites.iter().filter_map(|site| site.construction.atoms().first().copied());
    let oxygens: HashSet<u32> = oxygens.collect();
    if oxygens.is_empty() {
        return BTreeMap::new();
    }
    let has_site = |[h1, o, h2]: [u32; 3]| oxygens.contains(&o) && topology.is_water_brace([h1, h2]);
    let constrained = topology.constraints.iter().map(|constraint| (ordered(constraint.atoms), constraint.length));
    let bonds = topology.bonded.bonds.iter().chain(&topology.bonded.distances);
    let lengths: HashMap<[u32; 2], f64> =
        bonds.map(|bond| (ordered(bond.atoms), bond.length)).chain(constrained).collect();
    let brace = |[h1, o, h2]: [u32; 3], angle: f64| {
        let [a, b] = [[o, h1], [o, h2]].map(|pair| lengths.get(&ordered(pair)).copied());
        let (a, b) = (a?, b?);
        let length = (a * a + b * b - 2.0 * a * b * angle.cos()).sqrt();
        let is_missing = !lengths.contains_key(&ordered([h1, h2]));
        is_missing.then_some(Bond { atoms: [h1, h2], length, force_constant: water_force_constant() })
    };
    let angles = topology.bonded.angles.iter().enumerate().filter(|(_, angle)| has_site(angle.atoms));
    angles.filter_map(|(index, angle)| Some((index, brace(angle.atoms, angle.angle)?))).collect()
}

/// Returns the force constant of water bonds in the units of the engine.
fn water_force_constant() -> f64 {
    WATER / HALF * KCAL / (ANGSTROM * ANGSTROM)
}

/// Returns the bonds of the topology, the bonds that represent the constraints of rigid waters, the H–H bonds `braces`,
/// and the bonds from extra points to their oxygens.
fn complete(topology: &Topology, braces: &BTreeMap<usize, Bond>) -> Parsed<Vec<Bond>> {
    let mut bonds = topology.bonded.bonds.clone();
    bonds.extend(braces.values().copied());
    for term in &topology.bonded.distances {
        let of_site = term.atoms.iter().any(|&atom| topology.atoms[atom as usize].mass == 0.0);
        if !(of_site || topology.is_water_brace(term.atoms)) {
            let [i, j] = term.atoms.map(|atom| atom + 1);
            let message = format!("the harmonic distance of atoms {i} and {j} is not a chemical bond");
            return Err(refused(message, "in an AMBER topology every harmonic distance is a bond"));
        }
        bonds.push(*term);
    }
    let mut lengths: HashMap<[u32; 2], f64> = bonds.iter().map(|bond| (ordered(bond.atoms), bond.length)).collect();
    let force_constant = water_force_constant();
    for constraint in &topology.constraints {
        let residues = constraint.atoms.map(|atom| topology.atoms[atom as usize].residue);
        let [i, j] = constraint.atoms.map(|atom| atom + 1);
        if residues[0] != residues[1] || !topology.is_water(residues[0] as usize) {
            let message = format!("atoms {i} and {j} have a constraint and are not part of a water");
            return Err(refused(message, "an AMBER topology has no constraints; they are chosen for each run"));
        }
        match lengths.get(&ordered(constraint.atoms)) {
            Some(length) if (length - constraint.length).abs() <= SAME * constraint.length => {}
            Some(_) => {
                let message = format!("atoms {i} and {j} have a bond and a constraint of another length");
                return Err(refused(
                    message,
                    "in an AMBER topology a constraint has the equilibrium length of its bond",
                ));
            }
            None => {
                lengths.insert(ordered(constraint.atoms), constraint.length);
                bonds.push(Bond { atoms: constraint.atoms, length: constraint.length, force_constant });
            }
        }
    }
    for VirtualSite { site, construction } in &topology.virtual_sites {
        let oxygen = construction.atoms().first().copied().unwrap_or(*site);
        if !lengths.contains_key(&ordered([oxygen, *site])) {
            let length = reach(construction, &lengths).ok_or_else(|| no_extra_point(*site))?;
            lengths.insert(ordered([oxygen, *site]), length);
            bonds.push(Bond { atoms: [oxygen, *site], length, force_constant });
        }
    }
    match topology.connectivity.iter().find(|pair| !lengths.contains_key(&ordered(**pair))) {
        Some([i, j]) => {
            let message = format!("the chemical bond of atoms {} and {} has no energy", i + 1, j + 1);
            Err(refused(message, "in an AMBER topology every bond has an energy term"))
        }
        None => Ok(bonds),
    }
}

/// Returns the distance (nm) of a virtual site of a water from its oxygen. The site lies on the bisector of the H–O–H
/// angle, or in the direction of a lone pair.
fn reach(construction: &Construction, lengths: &HashMap<[u32; 2], f64>) -> Option<f64> {
    let [o, h1, h2] = *construction.atoms().first_chunk()?;
    let length = |i: u32, j: u32| lengths.get(&ordered([i, j])).copied();
    let (oh, hh) = (length(o, h1)?, length(h1, h2)?);
    let height = (oh * oh - 0.25 * hh * hh).sqrt();
    match construction {
        Construction::Average3 { weights: [_, a, b], .. } => Some((a + b) * height),
        Construction::OutOfPlane { weights: [a, b], cross, .. } => Some(((a + b) * height).hypot(cross * hh * height)),
        _ => None,
    }
}

fn no_extra_point(site: u32) -> Problem {
    let message =
        format!("virtual site {} is not at the place of an extra point of a four-site or five-site water", site + 1);
    refused(message, "an AMBER topology does not say where extra points are")
}

/// Returns an error if the file would give a virtual site a different position than the topology.
fn check_sites(topology: &Topology, bonds: &[Bond]) -> Parsed<()> {
    if topology.virtual_sites.is_empty() {
        return Ok(());
    }
    let Topology { atoms, residues, .. } = topology;
    let bonded = BondedTerms { bonds: bonds.to_vec(), ..BondedTerms::default() };
    let written = Topology { atoms: atoms.clone(), residues: residues.clone(), bonded, ..Topology::default() };
    let derived = extra_points::derive(&written, |site, _| no_extra_point(site))?;
    let derived: HashMap<u32, Construction> =
        { derived }.into_iter().map(|site| (site.site, site.construction)).collect();
    for VirtualSite { site, construction } in &topology.virtual_sites {
        if !derived.get(site).is_some_and(|other| is_same(construction, other)) {
            return Err(no_extra_point(*site));
        }
    }
    Ok(())
}

/// Whether two constructions of a virtual site of a water give the same position. The two lone pairs of a water are
/// equivalent, so either lone pair may be above the plane of the water.
fn is_same(own: &Construction, other: &Construction) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() <= SAME * b.abs();
    let oxygen = own.atoms().first() == other.atoms().first();
    oxygen
        && match (own, other) {
            (Construction::Average3 { weights: a, .. }, Construction::Average3 { weights: b, .. }) => {
                a.iter().zip(b).all(|(a, b)| close(*a, *b))
            }
            (
                Construction::OutOfPlane { weights: a, cross: c, .. },
                Construction::OutOfPlane { weights: b, cross: d, .. },
            ) => close(a[0], b[0]) && close(a[1], b[1]) && close(c.abs(), d.abs()),
            _ => false,
        }
}
