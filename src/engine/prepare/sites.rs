//! Checks of the virtual sites of a topology.

use std::collections::HashMap;

use super::description::MEND;
use crate::error::Problem;
use crate::system::{Construction, Topology, VirtualSite};
use crate::units::Range;

/// Tolerance for the sums of the weights of a virtual site, because files may print only six digits of each weight.
const UNITY: f64 = 1e-5;

/// Returns the first problem in the constructions of virtual sites; `None` without a problem.
pub(super) fn problem(topology: &Topology, is_site: &[bool]) -> Option<Problem> {
    let mut seen = vec![false; is_site.len()];
    topology.virtual_sites.iter().find_map(|VirtualSite { site, construction }| {
        let problem = |what: String| Problem::new(format!("virtual site {}: {what}", u64::from(*site) + 1));
        let Some(seen) = seen.get_mut(*site as usize) else {
            return Some(problem(format!(
                "the atom of the site does not exist; the topology has {} atoms",
                is_site.len()
            )));
        };
        if std::mem::replace(seen, true) {
            return Some(problem("the site has more than one construction".into()));
        }
        let atoms = construction.atoms();
        if let Some(atom) = atoms.iter().find(|&&atom| atom as usize >= is_site.len()) {
            let count = is_site.len();
            return Some(problem(format!(
                "the site is constructed from atom {}, but there are only {count} atoms",
                u64::from(*atom) + 1
            )));
        }
        if let Some(atom) = repeated(atoms) {
            return Some(problem(format!("atom {} appears twice in the construction of the site", atom + 1)));
        }
        let beyond = || beyond(construction).map(|what| problem(what).help(MEND));
        shape(construction).map(problem).or_else(beyond)
    })
}

/// Returns an atom that appears twice in a list; `None` if all atoms are different.
fn repeated(atoms: &[u32]) -> Option<u32> {
    let mut sorted = atoms.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Sorts virtual sites so that each site comes after the sites from which it is constructed. Returns a problem if a
/// site depends on itself.
pub(super) fn order(topology: &mut Topology) -> Result<(), Problem> {
    let sites = &topology.virtual_sites;
    let place: HashMap<u32, usize> = sites.iter().enumerate().map(|(k, site)| (site.site, k)).collect();
    // `followers`: for each site, the sites that are constructed from this site; `lacking`: for each site, the number
    // of sites from which this site is constructed
    let (mut followers, mut lacking) = (vec![vec![]; sites.len()], vec![0; sites.len()]);
    for (k, site) in sites.iter().enumerate() {
        for parent in site.construction.atoms().iter().filter_map(|atom| place.get(atom)) {
            followers[*parent].push(k);
            lacking[k] += 1;
        }
    }
    let mut ordered: Vec<usize> = (0..sites.len()).filter(|&k| lacking[k] == 0).collect();
    let mut next = 0;
    while let Some(&placed) = ordered.get(next) {
        for &k in &followers[placed] {
            lacking[k] -= 1;
            if lacking[k] == 0 {
                ordered.push(k);
            }
        }
        next += 1;
    }
    if let Some(k) = lacking.iter().position(|&lacking| lacking > 0) {
        let message =
            format!("virtual site {}: the construction depends on the site itself", u64::from(sites[k].site) + 1);
        return Err(Problem::new(message)
            .help("a site must be constructed from atoms with mass, directly or through other sites"));
    }
    topology.virtual_sites = ordered.into_iter().map(|k| sites[k].clone()).collect();
    Ok(())
}

/// Describes the first parameter of a construction that is outside its physical range.
fn beyond(construction: &Construction) -> Option<String> {
    let check = |range: Range, values: &[f64]| values.iter().find_map(|&value| range.refusal(value));
    let (weights, distances) =
        (|values: &[f64]| check(Range::WEIGHT, values), |d: f64| check(Range::SITE_DISTANCE, &[d]));
    let refused = match construction {
        Construction::Average2 { weights: w, .. } => weights(w),
        Construction::Average3 { weights: w, .. } => weights(w),
        Construction::Average { weights: w, .. } => weights(w),
        Construction::FixedDistance2 { distance, .. } => distances(*distance),
        Construction::FixedDistance3 { weight, distance, .. } => weights(&[*weight]).or(distances(*distance)),
        Construction::FixedAngle3 { angle, distance, .. } => check(Range::TORSION, &[*angle]).or(distances(*distance)),
        Construction::OutOfPlane { weights: w, cross, .. } => weights(w).or(check(Range::CROSS, &[*cross])),
        Construction::FixedDistance4 { weights: w, distance, .. } => weights(w).or(distances(*distance)),
        Construction::LocalFrame { weights: rows, position, .. } => {
            weights(rows.as_flattened()).or(check(Range::SITE_DISTANCE, position))
        }
    };
    refused.map(|what| format!("the site has {what}"))
}

/// Describes the first fault of the weights, distances and angles of a construction; `None` without a fault.
fn shape(construction: &Construction) -> Option<String> {
    let sums_to = |what: &str, weights: &mut dyn Iterator<Item = f64>, wanted: f64| {
        let sum: f64 = weights.sum();
        // the comparison is false for NaN
        let right = (sum - wanted).abs() < UNITY;
        (!right).then(|| format!("the sum of {what} is {sum} instead of {wanted}"))
    };
    let distance =
        // with a negative distance the site is on the opposite side of the first atom
        |d: f64| (d == 0.0 || !d.is_finite()).then(|| format!("the distance of the site is {d} nm, but must be finite and not zero"));
    let finite = |numbers: &[f64]| {
        (!numbers.iter().all(|number| number.is_finite()))
            .then(|| format!("the parameters of the site are not finite: {numbers:?}"))
    };
    match construction {
        Construction::Average { atoms, weights } if atoms.len() != weights.len() => {
            Some(format!("the site has {} weights for {} atoms", weights.len(), atoms.len()))
        }
        Construction::LocalFrame { atoms, weights, .. } if atoms.len() != weights.len() => {
            Some(format!("the site has {} weights for {} atoms", weights.len(), atoms.len()))
        }
        Construction::Average2 { weights, .. } => sums_to("the weights of the site", &mut weights.iter().copied(), 1.0),
        Construction::Average3 { weights, .. } => sums_to("the weights of the site", &mut weights.iter().copied(), 1.0),
        Construction::Average { weights, .. } => sums_to("the weights of the site", &mut weights.iter().copied(), 1.0),
        Construction::FixedDistance2 { distance: d, .. } => distance(*d),
        Construction::FixedDistance3 { weight, distance: d, .. } => finite(&[*weight]).or(distance(*d)),
        Construction::FixedAngle3 { angle, distance: d, .. } => finite(&[*angle]).or(distance(*d)),
        Construction::OutOfPlane { weights: [a, b], cross, .. } => finite(&[*a, *b, *cross]),
        Construction::FixedDistance4 { weights, distance: d, .. } => finite(weights).or(distance(*d)),
        Construction::LocalFrame { weights, position, .. } => {
            let column = |k: usize| weights.iter().map(move |weights| weights[k]);
            let origin = sums_to("the weights of the origin", &mut column(0), 1.0);
            let axes = (1..3).find_map(|k| sums_to("the weights of an axis", &mut column(k), 0.0));
            origin.or(axes).or(finite(position))
        }
    }
}
