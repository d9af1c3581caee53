//! Placement of ions: choice of the waters that ions replace.
//!
//! Ions are at least 0.5 nm from the atoms of the solute and from each other. If no water satisfies this condition, the
//! minimum distance is reduced in steps.

use md_engine::cell::PeriodicCell;
use md_engine::error::Problem;
use md_engine::neighbours::Neighbours;
use md_engine::rng::{Purpose, Stream};
use md_engine::vec3::Vec3;

use super::ions::IonCounts;
use super::limits;
use super::potential::{Sources, coulomb};

/// Minimum distances (nm) of ions from the solute and from each other; the distances are tried in this order. The first
/// distance is the default `ionCutoff` of `Modeller` of OpenMM.
const DISTANCES: [f64; 4] = [0.5, 0.4, 0.3, 0.0];
/// An atom of the solute with its charge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Charge {
    /// position, nm
    pub position: Vec3,
    /// charge, e
    pub charge: f64,
}

/// Method that chooses the waters that ions replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// random waters
    Random {
        /// seed of the random numbers
        seed: u64,
    },
    /// Each ion replaces the water at which the energy of the ion is lowest in the Coulomb potential of the solute and
    /// of the ions already placed. Cations are placed at the lowest potential, and anions at the highest potential. The
    /// potential has no cutoff. The method is that of the command `addIons` of AMBER's `tleap`, but ions replace
    /// oxygens of waters, and there is no grid. The potential at a water includes one periodic image of the whole
    /// solute, the image whose center is nearest to the water. For each placed ion, the potential includes the nearest
    /// image. [`super::potential`] approximates the potential of the solute; the approximate potential agrees with the
    /// direct sum within 1 %. The method places ions next to ions of the opposite charge. [`Placement::Random`] is
    /// therefore better for salt.
    Electrostatic,
}

/// Indices of the waters that ions replace, in the order in which the ions are placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IonSites {
    /// waters replaced by cations
    pub cations: Vec<usize>,
    /// waters replaced by anions
    pub anions: Vec<usize>,
}

/// Chooses the waters that all ions of `counts` replace. Waters are given by the positions (nm) of their oxygens.
/// `solute` lists all atoms from which ions keep a distance, including uncharged atoms.
pub fn place_ions(
    cell: &PeriodicCell,
    solute: &[Charge],
    oxygens: &[Vec3],
    counts: &IonCounts,
    placement: Placement,
) -> Result<IonSites, Problem> {
    check(cell, solute, oxygens, counts)?;
    if counts.cations + counts.anions == 0 {
        return Ok(IonSites::default());
    }
    let positions: Vec<Vec3> = solute.iter().map(|atom| atom.position).collect();
    let mut work = Work {
        cell,
        oxygens,
        counts,
        near_solute: Neighbours::new(Some(cell), &positions, DISTANCES[0]),
        near_oxygens: Neighbours::new(Some(cell), oxygens, DISTANCES[0]),
        open: vec![true; oxygens.len()],
        sites: IonSites::default(),
        solute,
        center: positions.iter().copied().sum::<Vec3>() / positions.len().max(1) as f64,
        total: solute.iter().map(|atom| atom.charge).sum(),
    };
    let order = match placement {
        Placement::Random { seed } => shuffled(oxygens.len(), seed),
        Placement::Electrostatic => vec![],
    };
    for distance in DISTANCES {
        if work.next_charge().is_none() {
            break;
        }
        work.reopen(distance);
        match placement {
            Placement::Random { .. } => work.place_in_order(&order, distance),
            Placement::Electrostatic => work.place_by_potential(distance),
        }
    }
    Ok(work.sites)
}

fn check(cell: &PeriodicCell, solute: &[Charge], oxygens: &[Vec3], counts: &IonCounts) -> Result<(), Problem> {
    limits::check_cell(cell)?;
    limits::check_positions(oxygens)?;
    limits::check_positions(&solute.iter().map(|atom| atom.position).collect::<Vec<Vec3>>())?;
    if let Some(index) = solute.iter().position(|atom| !atom.charge.is_finite()) {
        return Err(Problem::new(format!("atom {} has the charge {} e", index + 1, solute[index].charge))
            .help("give finite charges in e"));
    }
    let ions = counts.cations.saturating_add(counts.anions);
    if ions > oxygens.len() {
        return Err(Problem::new(format!("{ions} ions need as many waters, but there are only {}", oxygens.len()))
            .help("choose a lower concentration or a larger cell"));
    }
    Ok(())
}

/// Returns the numbers 0 to `count` − 1 in random order.
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut keys: Vec<(u64, usize)> =
        (0..count).map(|index| (Stream::new(seed, Purpose::Ions, 0, index as u32).bits(), index)).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, index)| index).collect()
}

/// State of the algorithm that places ions.
struct Work<'a> {
    cell: &'a PeriodicCell,
    oxygens: &'a [Vec3],
    counts: &'a IonCounts,
    near_solute: Neighbours,
    near_oxygens: Neighbours,
    /// whether an ion may replace the water, for each water
    open: Vec<bool>,
    sites: IonSites,
    solute: &'a [Charge],
    /// mean position of the atoms of the solute, nm
    center: Vec3,
    /// charge of the solute and of the ions placed so far, e
    total: f64,
}

impl Work<'_> {
    /// Marks waters as open if their distance from the solute and from all placed ions is at least the given distance
    /// (nm).
    fn reopen(&mut self, distance: f64) {
        self.open = self.oxygens.iter().map(|&o| !self.near_solute.any_within(o, distance, |_, _| true)).collect();
        for at in 0..self.sites.cations.len() {
            self.close(self.sites.cations[at], distance);
        }
        for at in 0..self.sites.anions.len() {
            self.close(self.sites.anions[at], distance);
        }
    }

    fn close(&mut self, water: usize, distance: f64) {
        self.open[water] = false;
        let open = &mut self.open;
        self.near_oxygens.any_within(self.oxygens[water], distance, |near, _| {
            open[near as usize] = false;
            false
        });
    }

    /// Returns the charge (e) of the next ion; `None` if all ions have been placed. The next ion reduces the magnitude
    /// of the total charge, as long as ions of the required sign remain.
    fn next_charge(&self) -> Option<f64> {
        let cations_left = self.sites.cations.len() < self.counts.cations;
        let anions_left = self.sites.anions.len() < self.counts.anions;
        match (cations_left, anions_left) {
            (false, false) => None,
            (true, anions) if !anions || self.total <= 0.0 => Some(f64::from(self.counts.cation_valence)),
            _ => Some(-f64::from(self.counts.anion_valence)),
        }
    }

    fn place(&mut self, water: usize, charge: f64, distance: f64) {
        let sites = if charge > 0.0 { &mut self.sites.cations } else { &mut self.sites.anions };
        sites.push(water);
        self.total += charge;
        self.close(water, distance);
    }

    fn place_in_order(&mut self, order: &[usize], distance: f64) {
        for &water in order {
            let Some(charge) = self.next_charge() else { return };
            if self.open[water] {
                self.place(water, charge, distance);
            }
        }
    }

    fn place_by_potential(&mut self, distance: f64) {
        let sources = Sources::new(self.solute);
        let open = (0..self.oxygens.len()).filter(|&water| self.open[water]);
        let mut candidates: Vec<(usize, f64)> =
            open.map(|water| (water, self.potential(&sources, self.oxygens[water]))).collect();
        while let Some(charge) = self.next_charge() {
            candidates.retain(|&(water, _)| self.open[water]);
            let lower = |a: (usize, f64), b: (usize, f64)| if b.1 * charge < a.1 * charge { b } else { a };
            let Some((water, _)) = candidates.iter().copied().reduce(lower) else { return };
            self.place(water, charge, distance);
            for (other, potential) in &mut candidates {
                *potential += self.potential_of_ion(self.oxygens[*other], water, charge);
            }
        }
    }

    /// Coulomb potential (e/nm) of the solute and of the placed ions at an oxygen.
    fn potential(&self, sources: &Sources, oxygen: Vec3) -> f64 {
        let at = self.center + self.cell.minimum_image(oxygen - self.center);
        let of_ions = |ions: &[usize], charge: f64| -> f64 {
            ions.iter().map(|&ion| self.potential_of_ion(oxygen, ion, charge)).sum()
        };
        sources.at(at)
            + of_ions(&self.sites.cations, f64::from(self.counts.cation_valence))
            + of_ions(&self.sites.anions, -f64::from(self.counts.anion_valence))
    }

    fn potential_of_ion(&self, oxygen: Vec3, ion: usize, charge: f64) -> f64 {
        coulomb(charge, self.cell.minimum_image(oxygen - self.oxygens[ion]).norm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solvent::{CellPlan, IonPlan, Shape, Size, SoluteAtom, WaterGeometry, fill};
    use md_engine::vec3::vec3;
    use proptest::prelude::*;

    const METHODS: [Placement; 2] = [Placement::Random { seed: 3 }, Placement::Electrostatic];

    /// Returns a cell with a solute and oxygens of waters. The solute has a charge of −2 e at one end, and of −1 e at
    /// the opposite end.
    fn system(shape: Shape) -> (PeriodicCell, Vec<Charge>, Vec<Vec3>) {
        let cell = CellPlan { shape, size: Size::Distance(4.0), orient: false }.around(&[]).unwrap().cell;
        let center = cell.to_cartesian(Vec3::splat(0.5));
        let atom = |x: f64, charge| Charge { position: center + vec3(x, 0.0, 0.0), charge };
        let charges = vec![atom(-0.6, -2.0), atom(-0.2, 0.0), atom(0.2, 0.0), atom(0.6, -1.0)];
        let solute: Vec<SoluteAtom> =
            charges.iter().map(|charge| SoluteAtom { position: charge.position, radius: 0.2 }).collect();
        let waters = fill(&cell, &solute, &WaterGeometry::TIP3P).unwrap();
        (cell, charges, waters.iter().map(|water| water[0]).collect())
    }

    fn counts(cations: usize, anions: usize) -> IonCounts {
        IonCounts { cations, anions, cation_valence: 1, anion_valence: 1 }
    }

    fn all(sites: &IonSites) -> Vec<usize> {
        sites.cations.iter().chain(&sites.anions).copied().collect()
    }

    #[test]
    fn ions_are_apart_from_the_solute_and_each_other() {
        for shape in [Shape::Cube, Shape::Rectangular, Shape::Octahedron, Shape::Dodecahedron] {
            let (cell, charges, oxygens) = system(shape);
            let counts = IonPlan { concentration: 0.2, ..IonPlan::default() }.counts(-3, oxygens.len(), 0).unwrap();
            for method in METHODS {
                let sites = place_ions(&cell, &charges, &oxygens, &counts, method).unwrap();
                assert_eq!([sites.cations.len(), sites.anions.len()], [counts.cations, counts.anions]);
                let waters = all(&sites);
                for (at, &water) in waters.iter().enumerate() {
                    let distance = |p: Vec3| cell.minimum_image(oxygens[water] - p).norm();
                    assert!(charges.iter().all(|charge| distance(charge.position) >= 0.5));
                    assert!(waters[..at].iter().all(|&other| distance(oxygens[other]) >= 0.5));
                }
            }
        }
    }

    /// Tests that the first cation replaces the water at the lowest potential among all waters that are far enough from
    /// the solute. The test finds this water by brute force. The chosen water is near the end of the solute that has a
    /// charge of −2 e.
    #[test]
    fn the_potential_decides() {
        let (cell, charges, oxygens) = system(Shape::Octahedron);
        let distance = |o: Vec3, atom: &Charge| cell.minimum_image(o - atom.position).norm();
        let center = cell.to_cartesian(Vec3::splat(0.5));
        let potential = |o: Vec3| {
            let at = center + cell.minimum_image(o - center);
            charges.iter().map(|atom| atom.charge / (at - atom.position).norm()).sum::<f64>()
        };
        let allowed = (0..oxygens.len()).filter(|&i| charges.iter().all(|atom| distance(oxygens[i], atom) >= 0.5));
        let lowest = allowed.min_by(|&i, &j| potential(oxygens[i]).total_cmp(&potential(oxygens[j]))).unwrap();
        let sites = place_ions(&cell, &charges, &oxygens, &counts(3, 1), METHODS[1]).unwrap();
        assert_eq!(sites.cations[0], lowest);
        assert!(distance(oxygens[lowest], &charges[0]) < 0.6);
        // the anion is at the highest potential of the solute and of the cations that were placed before the anion
        let ions: Vec<Charge> =
            sites.cations.iter().map(|&water| Charge { position: oxygens[water], charge: 1.0 }).collect();
        let potential = |o: Vec3| potential(o) + ions.iter().map(|ion| ion.charge / distance(o, ion)).sum::<f64>();
        let is_far = |o: Vec3| charges.iter().chain(&ions).all(|atom| distance(o, atom) >= 0.5);
        let allowed = (0..oxygens.len()).filter(|&i| is_far(oxygens[i]));
        let highest = allowed.max_by(|&i, &j| potential(oxygens[i]).total_cmp(&potential(oxygens[j]))).unwrap();
        assert_eq!(sites.anions, [highest]);
    }

    #[test]
    fn the_distance_is_reduced_where_ions_are_many() {
        let (cell, charges, oxygens) = system(Shape::Cube);
        let half = oxygens.len() / 2;
        for method in METHODS {
            let sites = place_ions(&cell, &charges, &oxygens, &counts(half, oxygens.len() - half), method).unwrap();
            let mut waters = all(&sites);
            waters.sort_unstable();
            assert!(waters.into_iter().eq(0..oxygens.len()));
        }
    }

    #[test]
    fn seeds_decide_and_nothing_else() {
        let (cell, charges, oxygens) = system(Shape::Dodecahedron);
        let place = |method| place_ions(&cell, &charges, &oxygens, &counts(9, 6), method).unwrap();
        for method in METHODS {
            assert_eq!(place(method), place(method));
        }
        assert_ne!(place(Placement::Random { seed: 4 }), place(METHODS[0]));
    }

    #[test]
    fn impossible_input_is_refused_with_advice() {
        let cell = PeriodicCell::orthorhombic([3.0; 3]);
        let refused = |charge: Charge, oxygens: &[Vec3], cations, anions| {
            let problem = place_ions(&cell, &[charge], oxygens, &counts(cations, anions), METHODS[1]).unwrap_err();
            assert!(problem.help.is_some());
        };
        let good = Charge { position: Vec3::ZERO, charge: 0.0 };
        refused(good, &[Vec3::ZERO], 1, 1);
        refused(good, &[], usize::MAX, 1);
        refused(good, &[Vec3::splat(f64::INFINITY)], 1, 0);
        refused(Charge { charge: f64::NAN, ..good }, &[Vec3::ZERO], 1, 0);
        refused(Charge { position: Vec3::splat(f64::NAN), ..good }, &[Vec3::ZERO], 1, 0);
    }

    proptest::proptest! {
        #[test]
        fn every_ion_has_a_water_of_its_own(
            raw in prop::collection::vec([-3.0f64..3.0, -3.0..3.0, -3.0..3.0], 0..40),
            charges in prop::collection::vec(([-3.0f64..3.0, -3.0..3.0, -3.0..3.0], -2.0f64..2.0), 0..5),
            cations in 0usize..20,
            anions in 0usize..20,
            method in prop::sample::select(METHODS.to_vec()),
        ) {
            let cell = PeriodicCell::orthorhombic([1.5; 3]);
            let oxygens: Vec<Vec3> = raw.into_iter().map(Vec3::from).collect();
            let solute: Vec<Charge> =
                charges.into_iter().map(|(p, charge)| Charge { position: p.into(), charge }).collect();
            let placed = place_ions(&cell, &solute, &oxygens, &counts(cations, anions), method);
            prop_assert_eq!(placed.is_ok(), cations + anions <= oxygens.len());
            if let Ok(sites) = placed {
                prop_assert_eq!([sites.cations.len(), sites.anions.len()], [cations, anions]);
                let mut waters = all(&sites);
                waters.sort_unstable();
                waters.dedup();
                prop_assert_eq!(waters.len(), cations + anions);
            }
        }
    }
}
