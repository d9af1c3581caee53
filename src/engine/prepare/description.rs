//! Checks of a description: every index is within its list, every number in its physical range, and residues are in
//! order.

use super::sites;
use crate::error::Problem;
use crate::system::{Atom, BondedTerm, BondedTerms, CmapGrid, Description, Nonbonded, Topology, bonded_terms};
use crate::units::Range;

/// Help text of an error about a number outside its physical range.
pub(super) const MEND: &str =
    "correct the value in the topology, or in the included file or parameter file that has it; check its unit";

/// Physical ranges of the parameters of each list of bonded terms, in the order of [`BondedTerm::parameters`]. Force
/// constants of torsions, and of distances that are not bonds, may be negative, because such terms may correct other
/// terms.
struct TermRanges {
    bonds: [Range; 2],
    distances: [Range; 2],
    g96_bonds: [Range; 2],
    angles: [Range; 2],
    g96_angles: [Range; 2],
    urey_bradleys: [Range; 2],
    propers: [Range; 4],
    ryckaert_bellemans: [Range; 6],
    impropers: [Range; 4],
    harmonic_impropers: [Range; 2],
}

const TORSION: [Range; 4] = [Range::PERIODICITY, Range::COSINE, Range::COSINE, Range::AMPLITUDE];
const RANGES: TermRanges = TermRanges {
    bonds: [Range::LENGTH, Range::STIFFNESS],
    distances: [Range::LENGTH, Range::CORRECTION],
    g96_bonds: [Range::LENGTH, Range::QUARTIC],
    angles: [Range::ANGLE, Range::ANGULAR],
    g96_angles: [Range::COSINE, Range::ANGULAR],
    urey_bradleys: [Range::LENGTH, Range::CORRECTION],
    propers: TORSION,
    ryckaert_bellemans: [Range::AMPLITUDE; 6],
    impropers: TORSION,
    harmonic_impropers: [Range::TORSION, Range::ANGULAR_CORRECTION],
};

/// Returns the first problem of each kind in a description. The result is empty if every index is within its list and
/// every number is in its physical range.
pub fn problems(description: &Description) -> Vec<Problem> {
    let Topology { atoms, bonded, connectivity, exclusions, .. } = &description.topology;
    if atoms.is_empty() {
        return vec![Problem::new("the topology has no atoms")];
    }
    if u32::try_from(atoms.len()).is_err() {
        return vec![Problem::new(format!("{} atoms exceed the maximum number of atoms", atoms.len()))];
    }
    let mut problems = vec![];
    problems.extend(check_types(&description.nonbonded, atoms));
    let is_site = description.topology.site_mask();
    let check = |(i, atom)| check_atom(i, atom, is_site[i], description.nonbonded.types);
    problems.extend(atoms.iter().enumerate().find_map(check));
    problems.extend(sites::problem(&description.topology, &is_site));
    problems.extend(check_residues(&description.topology));
    problems.extend(check_terms("chemical bonds", atoms.len(), connectivity, [], |&pair| pair, |_| []));
    let number = atoms.len();
    let (constraints, ranges) = (&description.topology.constraints, [Range::CONSTRAINT]);
    problems.extend(check_terms("constraints", number, constraints, ranges, |term| term.atoms, |term| [term.length]));
    check_bonded(number, bonded, &mut problems);
    if exclusions.atoms() != atoms.len() {
        problems.push(Problem::new(format!(
            "the exclusion table has {} atoms, but the topology has {}",
            exclusions.atoms(),
            atoms.len()
        )));
    } else {
        let outside = exclusions.pairs().find(|pair| pair[1] as usize >= atoms.len());
        problems.extend(outside.map(|pair| absent("an exclusion", pair[1], atoms.len())));
    }
    problems
}

fn check_atom(index: usize, atom: &Atom, is_site: bool, types: usize) -> Option<Problem> {
    let problem = |what: String| Some(Problem::new(format!("atom {} ({}) {what}", index + 1, atom.name)));
    let mass = match is_site {
        true => (atom.mass != 0.0).then(|| format!("the mass {}", atom.mass)),
        false => Range::MASS.refusal(atom.mass),
    };
    if let Some(what) = mass {
        let help = "masses are in amu: positive for atoms, zero for virtual sites";
        return problem(format!("has {what}")).map(|problem| problem.help(help));
    }
    if let Some(what) = Range::CHARGE.refusal(atom.charge) {
        return problem(format!("has {what}")).map(|problem| problem.help(MEND));
    }
    if atom.lj_type as usize >= types {
        return problem(format!("has Lennard-Jones type {}, but there are {types} types", atom.lj_type));
    }
    None
}

fn check_types(nonbonded: &Nonbonded, atoms: &[Atom]) -> Option<Problem> {
    let Nonbonded { types, c6, c12, c4, rounding } = nonbonded;
    let pairs = types.saturating_mul(*types);
    if [c6.len(), c12.len()] != [pairs; 2]
        || [rounding.len(), c4.len()].iter().any(|length| ![0, pairs].contains(length))
    {
        return Some(Problem::new(format!("the Lennard-Jones tables must have {pairs} entries for {types} types")));
    }
    let wrong = (0..pairs).find(|&k| {
        let other = (k % types) * types + k / types;
        [c6, c12, c4].iter().filter(|c| !c.is_empty()).any(|c| !c[k].is_finite() || c[k] != c[other])
    });
    let name = |lj_type: usize| match atoms.iter().find(|atom| atom.lj_type as usize == lj_type) {
        Some(atom) if !atom.type_name.as_str().is_empty() => atom.type_name.to_string(),
        _ => lj_type.to_string(),
    };
    let named = |k: usize| format!("Lennard-Jones types {} and {}", name(k / types), name(k % types));
    if let Some(k) = wrong {
        let message = format!("{}: c6, c12 and c4 must be finite and symmetric", named(k));
        return Some(Problem::new(message));
    }
    [(c6, Range::C6), (c12, Range::C12), (c4, Range::C4)].into_iter().find_map(|(coefficients, range)| {
        let refused = |(k, &value): (usize, &f64)| range.refusal(value).map(|what| (k, what));
        let (k, what) = coefficients.iter().enumerate().find_map(refused)?;
        Some(Problem::new(format!("{}: {what}", named(k))).help(MEND))
    })
}

fn check_residues(topology: &Topology) -> Option<Problem> {
    let Topology { atoms, residues, .. } = topology;
    let firsts: Vec<usize> = residues.iter().map(|residue| residue.first as usize).collect();
    let ascending = firsts.windows(2).all(|pair| pair[0] < pair[1]) && firsts.last().is_some_and(|&f| f < atoms.len());
    if firsts.first() != Some(&0) || !ascending {
        return Some(Problem::new("residues must be contiguous and non-empty, and the first must begin with atom 1"));
    }
    let mut at = 0;
    let wrong = atoms.iter().enumerate().find(|&(i, atom)| {
        at += usize::from(firsts.get(at + 1) == Some(&i));
        atom.residue as usize != at
    })?;
    Some(Problem::new(format!("atom {} is outside the atom range of its residue", wrong.0 + 1)))
}

/// Calls [`check_terms`] for every list of the table of bonded terms.
macro_rules! check_lists {
    ($($(#[$doc:meta])* $energy:ident {
        $($list:ident: $Term:ident($n:literal, $e:literal, $p:literal) $name:literal),+
    })*) => {
        fn check_lists(atoms: usize, bonded: &BondedTerms, problems: &mut Vec<Problem>) {
            $($(problems.extend(check_terms(
                $name,
                atoms,
                &bonded.$list[..],
                RANGES.$list,
                BondedTerm::<$n, $e, $p>::atoms,
                BondedTerm::<$n, $e, $p>::parameters,
            ));)+)*
        }
    };
}
bonded_terms!(check_lists);

fn check_bonded(atoms: usize, bonded: &BondedTerms, problems: &mut Vec<Problem>) {
    check_lists(atoms, bonded, problems);
    let BondedTerms { propers, impropers, cmaps, cmap_grids, pairs14, .. } = bonded;
    // the parameters of a torsion are cosine and sine of its phase, which are in range for every phase
    for (what, torsions) in [("proper torsions", propers), ("improper torsions", impropers)] {
        problems.extend(check_terms(what, atoms, torsions, [Range::TORSION], |t| t.atoms, |t| [t.phase]));
    }
    let quadruple = |atoms: [u32; 8], first: usize| [0, 1, 2, 3].map(|k| atoms[first + k]);
    for first in [0, 4] {
        problems.extend(check_terms("correction maps", atoms, cmaps, [], |t| quadruple(t.atoms, first), |_| []));
    }
    let grid = cmaps.iter().find(|term| term.grid as usize >= cmap_grids.len());
    problems.extend(grid.map(|term| {
        Problem::new(format!("a correction map uses grid {}, but there are only {} grids", term.grid, cmap_grids.len()))
    }));
    let good = |grid: &CmapGrid| {
        let whole =
            grid.size >= *CmapGrid::SIZES.start() && grid.size.checked_mul(grid.size) == Some(grid.energies.len());
        whole && grid.energies.iter().all(|energy| energy.is_finite())
    };
    if !cmap_grids.iter().all(good) {
        let message = format!(
            "the grid of a correction map is not square, has fewer than {} points per angle, or contains a non-finite \
             energy",
            CmapGrid::SIZES.start()
        );
        problems.push(Problem::new(message));
    }
    let energies = cmap_grids.iter().flat_map(|grid| &grid.energies);
    let beyond = energies.filter(|energy| energy.is_finite()).find_map(|&energy| Range::AMPLITUDE.refusal(energy));
    problems.extend(beyond.map(|what| Problem::new(format!("the grid of a correction map has {what}")).help(MEND)));
    let ranges = [Range::CHARGE_PRODUCT, Range::C6, Range::C12];
    problems.extend(check_terms("1-4 pairs", atoms, pairs14, ranges, |t| t.atoms, |t| [t.charge_product, t.c6, t.c12]));
}

/// Returns a problem for the first term that refers to a missing atom or contains an atom twice. A term with a
/// parameter that is not finite or that is outside its physical range is also a problem.
fn check_terms<T, const N: usize, const M: usize>(
    what: &str,
    atoms: usize,
    terms: &[T],
    ranges: [Range; M],
    of: impl Fn(&T) -> [u32; N],
    parameters: impl Fn(&T) -> [f64; M],
) -> Option<Problem> {
    terms.iter().enumerate().find_map(|(index, term)| {
        let (named, what) = (of(term), || format!("{what}: term {}", index + 1));
        if let Some(&atom) = named.iter().find(|&&atom| atom as usize >= atoms) {
            return Some(absent(&what(), atom, atoms));
        }
        if let Some((_, atom)) = named.iter().enumerate().find(|&(k, atom)| named[..k].contains(atom)) {
            return Some(Problem::new(format!("{} contains atom {} twice", what(), atom + 1)));
        }
        let numbers = parameters(term);
        if numbers.iter().any(|number| !number.is_finite()) {
            return Some(Problem::new(format!("{} has parameters that are not finite: {numbers:?}", what())));
        }
        let refused = ranges.iter().zip(numbers).find_map(|(range, number)| range.refusal(number))?;
        let named = named.map(|atom| (u64::from(atom) + 1).to_string()).join(", ");
        Some(Problem::new(format!("{}, of atoms {named}, has {refused}", what())).help(MEND))
    })
}

/// Returns the problem for a term with an atom that does not exist.
pub(super) fn absent(what: &str, atom: u32, atoms: usize) -> Problem {
    let message = format!("{what} refers to atom {}, but there are only {atoms} atoms", u64::from(atom) + 1);
    Problem::new(message).help("atoms are numbered from 0 in code, but from 1 in messages")
}
