//! Writer of torsions and impropers, and of the 1-4 pairs, which are the end atoms of torsions.
//!
//! A negative third pointer means that the end atoms of the row are not a 1-4 pair. A negative fourth pointer means
//! that the row is an improper. The pointer of atom 0 is 0 and cannot be negative. OpenMM takes the end atoms as a 1-4
//! pair only if the third and the fourth pointer are positive. Therefore the atoms of a torsion are written in reverse
//! order if atom 0 is the third or the fourth atom. The reverse order does not change the energy.

use std::f64::consts::PI;

use super::nonbonded::Types;
use super::refused;
use super::sections::{Rows, Text};
use crate::format::prmtop::sections::Parsed;
use crate::system::{BondGraph, Pair14, RyckaertBellemans, Topology, Torsion, ordered};
use crate::units::KCAL;

/// Rows of the two dihedral sections, with and without hydrogen. The parameters of a row are force constant,
/// periodicity, phase, and the divisors of the Coulomb and the Lennard-Jones energy of its 1-4 pair.
pub(super) struct Dihedrals {
    pub(super) rows: Rows<4, 5>,
}

impl Dihedrals {
    pub(super) fn new(topology: &Topology, types: &Types) -> Parsed<Self> {
        let mut dihedrals = Dihedrals { rows: Rows::new() };
        let mut pairs = Pairs::new(topology);
        let bonded = &topology.bonded;
        let cosines = bonded.ryckaert_bellemans.iter().flat_map(cosines);
        for torsion in bonded.propers.iter().flat_map(with_periodicity).chain(cosines) {
            dihedrals.push(topology, types, torsion, &mut pairs)?;
        }
        for torsion in pairs.ends_of_paths(topology)? {
            dihedrals.push(topology, types, torsion, &mut pairs)?;
        }
        for torsion in bonded.impropers.iter().flat_map(with_periodicity) {
            dihedrals.add(topology, &torsion, [true, true], types.usual_scales());
        }
        Ok(dihedrals)
    }

    fn push(&mut self, topology: &Topology, types: &Types, torsion: Torsion, pairs: &mut Pairs) -> Parsed<()> {
        let pair = pairs.take([torsion.atoms[0], torsion.atoms[3]]);
        let scales = pair.map_or(Ok(types.usual_scales()), |pair| types.scales(topology, &pair))?;
        self.add(topology, &torsion, [pair.is_none(), false], scales);
        Ok(())
    }

    /// Adds the row of a torsion. `negative` says whether the third and the fourth pointer are written with a minus
    /// sign.
    fn add(&mut self, topology: &Topology, torsion: &Torsion, negative: [bool; 2], scales: [f64; 2]) {
        let mut atoms = torsion.atoms;
        if atoms[2..].contains(&0) {
            atoms.reverse();
        }
        let parameters = [torsion.force_constant / KCAL, f64::from(torsion.periodicity), torsion.phase];
        let [k, n, phase] = parameters;
        let signs = [false, false, negative[0], negative[1]];
        self.rows.push(topology, atoms, signs, [k, n, phase, scales[0], scales[1]]);
    }

    pub(super) fn write_types(&self, text: &mut Text) {
        let names = [
            "DIHEDRAL_FORCE_CONSTANT",
            "DIHEDRAL_PERIODICITY",
            "DIHEDRAL_PHASE",
            "SCEE_SCALE_FACTOR",
            "SCNB_SCALE_FACTOR",
        ];
        self.rows.write_types(names, text);
    }

    pub(super) fn write(&self, text: &mut Text) {
        self.rows.write("DIHEDRALS", text);
    }
}

/// Returns torsions of periodicity 1 or more whose sum is `torsion`.
///
/// A torsion of periodicity 0 has the constant energy C = k (1 + cos φ₀), which is written as in [`cosines`]. A single
/// torsion with a force constant of zero stands for C = 0.
fn with_periodicity(torsion: &Torsion) -> impl Iterator<Item = Torsion> + use<> {
    let constant = torsion.force_constant * (1.0 + torsion.phase.cos());
    let terms = match torsion.periodicity {
        0 if constant == 0.0 => vec![Torsion { periodicity: 1, phase: 0.0, force_constant: 0.0, ..*torsion }],
        0 => constants(torsion.atoms, constant).to_vec(),
        _ => vec![*torsion],
    };
    terms.into_iter()
}

/// Returns two torsions whose sum is the constant C: ½ C (1 + cos φ) + ½ C (1 − cos φ).
fn constants(atoms: [u32; 4], constant: f64) -> [Torsion; 2] {
    [0.0, PI].map(|phase| Torsion { atoms, periodicity: 1, phase, force_constant: 0.5 * constant })
}

/// Returns the cosine torsions whose sum is a Ryckaert–Bellemans torsion.
///
/// The energy is a polynomial in cos ψ with ψ = φ − 180°. Each power of cos ψ is a sum of terms cos nψ, and cos nψ =
/// (−1)ⁿ cos nφ. The constant is written as [`constants`].
fn cosines(term: &RyckaertBellemans) -> impl Iterator<Item = Torsion> + use<> {
    let [c0, c1, c2, c3, c4, c5] = term.coefficients;
    // coefficients of cos nψ for n = 0, 1, 2, …
    let of_psi = [
        c0 + c2 / 2.0 + 3.0 * c4 / 8.0,
        c1 + 3.0 * c3 / 4.0 + 5.0 * c5 / 8.0,
        c2 / 2.0 + c4 / 2.0,
        c3 / 4.0 + 5.0 * c5 / 16.0,
        c4 / 8.0,
        c5 / 16.0,
    ];
    let amplitudes: [f64; 6] = std::array::from_fn(|n| if n % 2 == 0 { of_psi[n] } else { -of_psi[n] });
    let constant = amplitudes[0] - amplitudes[1..].iter().map(|amplitude| amplitude.abs()).sum::<f64>();
    let atoms = term.atoms;
    let waves = (1u8..6).map(move |n| {
        let amplitude = amplitudes[usize::from(n)];
        let phase = if amplitude < 0.0 { PI } else { 0.0 };
        Torsion { atoms, periodicity: n, phase, force_constant: amplitude.abs() }
    });
    waves.chain(constants(atoms, constant)).filter(|torsion| torsion.force_constant != 0.0)
}

/// 1-4 pairs of a topology. For each pair, a flag tells whether a torsion in the file already represents the pair.
struct Pairs {
    /// 1-4 pairs, sorted by their atoms
    sorted: Vec<([u32; 2], Pair14)>,
    taken: Vec<bool>,
}

impl Pairs {
    fn new(topology: &Topology) -> Self {
        let pairs = topology.bonded.pairs14.iter().filter(|pair| [pair.charge_product, pair.c6, pair.c12] != [0.0; 3]);
        let mut sorted: Vec<([u32; 2], Pair14)> = pairs.map(|pair| (ordered(pair.atoms), *pair)).collect();
        sorted.sort_by_key(|(atoms, _)| *atoms);
        Pairs { taken: vec![false; sorted.len()], sorted }
    }

    /// Returns a 1-4 pair of the two atoms `ends`. Each 1-4 pair is returned only once.
    fn take(&mut self, ends: [u32; 2]) -> Option<Pair14> {
        let ends = ordered(ends);
        let first = self.sorted.partition_point(|(atoms, _)| *atoms < ends);
        let alike = self.sorted[first..].iter().take_while(|(atoms, _)| *atoms == ends).count();
        let found = (first..first + alike).find(|&k| !self.taken[k])?;
        self.taken[found] = true;
        Some(self.sorted[found].1)
    }

    /// Returns torsions with a force constant of zero for the 1-4 pairs that no earlier torsion represents. The 1-4
    /// pairs are the end atoms of these torsions.
    fn ends_of_paths(&self, topology: &Topology) -> Parsed<Vec<Torsion>> {
        let open: Vec<[u32; 2]> =
            self.sorted.iter().zip(&self.taken).filter(|(_, taken)| !**taken).map(|((atoms, _), _)| *atoms).collect();
        if open.is_empty() {
            return Ok(vec![]);
        }
        let mut graph = BondGraph::new(topology.atoms.len(), &topology.connectivity);
        let mut bonded = |atom: u32| graph.shells(atom, 1).into_iter().next().unwrap_or_default();
        let torsions = open.into_iter().map(|[i, l]| {
            let (from, to) = (bonded(i), bonded(l));
            let path = from.into_iter().filter(|&j| j != l).find_map(|j| {
                let next = bonded(j);
                let k = to.iter().copied().find(|&k| k != i && k != j && next.contains(&k))?;
                Some([i, j, k, l])
            });
            let atoms = path.ok_or_else(|| {
                let message = format!("the 1-4 pair of atoms {} and {} is not three bonds apart", i + 1, l + 1);
                refused(message, "the 1-4 pairs of an AMBER topology are the end atoms of torsions")
            })?;
            Ok(Torsion { atoms, periodicity: 1, phase: 0.0, force_constant: 0.0 })
        });
        torsions.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::BondedTerm;
    use crate::vec3::{Vec3, vec3};

    #[test]
    fn torsions_without_periodicity_are_constants() {
        let torsion = |phase, force_constant| Torsion { atoms: [0, 1, 2, 3], periodicity: 0, phase, force_constant };
        for (torsion, expected) in [(torsion(0.3, 2.0), 2.0 * (1.0 + 0.3_f64.cos())), (torsion(0.0, 0.0), 0.0)] {
            for phi in [0.0_f64, 0.7, -2.1] {
                let chain: [Vec3; 3] = [vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(phi.cos(), phi.sin(), 0.0)];
                let terms: Vec<Torsion> = with_periodicity(&torsion).collect();
                let sum: f64 = terms.iter().map(|term| Torsion::evaluate(chain, term.parameters()).1).sum();
                assert!((sum - expected).abs() < 1e-12 && terms.iter().all(|term| term.periodicity == 1));
            }
        }
    }

    #[test]
    fn a_ryckaert_bellemans_torsion_is_its_cosines() {
        let term = RyckaertBellemans { atoms: [0, 1, 2, 3], coefficients: [9.28, 12.16, -13.12, -3.06, 26.24, -31.5] };
        for step in -8..=8 {
            let phi = 0.4 * f64::from(step);
            let chain: [Vec3; 3] = [vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(phi.cos(), phi.sin(), 0.0)];
            let (_, expected) = RyckaertBellemans::evaluate(chain, term.parameters());
            let sum: f64 = cosines(&term).map(|torsion| Torsion::evaluate(chain, torsion.parameters()).1).sum();
            // the terms are below 100, and their relative errors are about 1e-16
            assert!((sum - expected).abs() < 1e-12, "{phi}: {sum} against {expected}");
        }
    }
}
