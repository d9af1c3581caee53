//! Numbers of ions: neutralization and salt.
//!
//! The volume of the solvent follows from the number of waters: one litre has 55.4 mol of water.

use md_engine::error::Problem;

/// Concentration of pure water, mol/L, as in `Modeller` of OpenMM: 0.998 g/cm³ divided by 18.015 g/mol.
const WATER_CONCENTRATION: f64 = 55.4;
/// Largest valence of an ion. The highest charge of a monatomic ion in water is +4.
const LARGEST_VALENCE: u32 = 8;
/// Largest magnitude of the charge of a solute, e.
const LARGEST_CHARGE: i64 = 1 << 40;

/// Rule for the number of salt ions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Salt {
    /// Counterions neutralize the solute. In addition, formula units of the salt are added at the given concentration.
    #[default]
    Added,
    /// The solvent is in equilibrium with a reservoir of the given salt concentration; [`sltcap`] computes the numbers
    /// of ions. The ions must be monovalent.
    Equilibrium,
}

/// Settings for the ions of a system: valences, salt concentration, and the rule for the number of salt ions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IonPlan {
    /// charge of a cation, e
    pub cation_valence: u32,
    /// magnitude of the charge of an anion, e
    pub anion_valence: u32,
    /// concentration of the salt, in formula units per volume of solvent, mol/L
    pub concentration: f64,
    /// rule for the number of salt ions
    pub salt: Salt,
}

impl Default for IonPlan {
    /// Returns the settings for monovalent counterions without salt.
    fn default() -> Self {
        Self { cation_valence: 1, anion_valence: 1, concentration: 0.0, salt: Salt::Added }
    }
}

/// Numbers of cations and anions that neutralize a solute, with their valences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IonCounts {
    /// number of cations
    pub cations: usize,
    /// number of anions
    pub anions: usize,
    /// charge of a cation, e
    pub cation_valence: u32,
    /// magnitude of the charge of an anion, e
    pub anion_valence: u32,
}

impl IonPlan {
    /// Returns the numbers of ions for a solute with the given charge (e). `waters` is the number of waters that ions
    /// can replace, and `kept` is the number of other waters, which also count as solvent. Solute and ions together are
    /// neutral.
    pub fn counts(&self, solute_charge: i64, waters: usize, kept: usize) -> Result<IonCounts, Problem> {
        self.check()?;
        if solute_charge.abs() > LARGEST_CHARGE {
            return Err(Problem::new(format!("the charge of the solute, {solute_charge} e, is too large"))
                .help("check the charges and the protonation of the solute"));
        }
        let solvent = waters.saturating_add(kept);
        if u32::try_from(solvent).is_err() {
            return Err(
                Problem::new(format!("{solvent} waters are more than md can number")).help("choose a smaller cell")
            );
        }
        let neutral = self.neutralizing(solute_charge)?;
        let [cations, anions] = match self.salt {
            Salt::Added => {
                let remaining = (solvent as f64 - (neutral[0] + neutral[1]) as f64).max(0.0);
                let units = (self.concentration * remaining / WATER_CONCENTRATION).round() as i64;
                let [cations, anions] = self.formula();
                [neutral[0] + units * cations, neutral[1] + units * anions]
            }
            Salt::Equilibrium => self.nearest_neutral(solute_charge, solvent, neutral),
        };
        if (cations + anions) as u64 > waters as u64 {
            return Err(Problem::new(format!(
                "{} ions cannot be placed, because the cell has only {waters} waters",
                cations + anions
            ))
            .help("choose a lower concentration or a larger cell"));
        }
        Ok(IonCounts {
            cations: cations as usize,
            anions: anions as usize,
            cation_valence: self.cation_valence,
            anion_valence: self.anion_valence,
        })
    }

    fn check(&self) -> Result<(), Problem> {
        if ![self.cation_valence, self.anion_valence].iter().all(|z| (1..=LARGEST_VALENCE).contains(z)) {
            let (cation, anion) = (self.cation_valence, self.anion_valence);
            return Err(Problem::new(format!("ions with the charges +{cation} e and −{anion} e are not supported"))
                .help(format!("choose ions with charges from 1 to {LARGEST_VALENCE} e")));
        }
        if !(0.0..=WATER_CONCENTRATION).contains(&self.concentration) {
            return Err(Problem::new(format!("a salt concentration of {} mol/L is not possible", self.concentration))
                .help("give a concentration in mol/L, such as 0.15"));
        }
        if self.salt == Salt::Equilibrium && self.valences() != [1, 1] {
            let (cation, anion) = (self.cation_valence, self.anion_valence);
            return Err(Problem::new(format!("SLTCAP cannot be used with ions of +{cation} e and −{anion} e"))
                .help("choose monovalent ions, or --salt-method volume"));
        }
        Ok(())
    }

    fn valences(&self) -> [i64; 2] {
        [i64::from(self.cation_valence), i64::from(self.anion_valence)]
    }

    /// Numbers of cations and anions in a formula unit of the salt, for example 1 and 2 for MgCl₂.
    fn formula(&self) -> [i64; 2] {
        let [cation, anion] = self.valences();
        let divisor = greatest_common_divisor(cation, anion);
        [anion / divisor, cation / divisor]
    }

    /// Returns the smallest numbers of cations and anions that neutralize a solute of the given charge (e). If
    /// counterions alone cannot neutralize the charge exactly, more counterions are used, and ions of the opposite sign
    /// compensate the excess charge.
    pub fn neutralizing(&self, charge: i64) -> Result<[i64; 2], Problem> {
        let [cation, anion] = self.valences();
        // if multivalent counterions cannot neutralize the charge exactly, more counterions are used, and ions of the
        // opposite sign compensate the excess charge
        let (own, other) = if charge < 0 { (cation, anion) } else { (anion, cation) };
        let least = (charge.abs() + own - 1) / own;
        let found = (least..least + other).find(|count| (count * own - charge.abs()) % other == 0);
        let Some(count) = found else {
            return Err(Problem::new(format!(
                "ions of +{cation} e and −{anion} e cannot neutralize a solute of {charge} e"
            ))
            .help("choose monovalent cations or anions"));
        };
        let rest = (count * own - charge.abs()) / other;
        Ok(if charge < 0 { [count, rest] } else { [rest, count] })
    }

    /// Returns the numbers of monovalent cations and anions that neutralize the solute and are nearest to the numbers
    /// of [`sltcap`]. `neutral` holds the smallest numbers of cations and anions that neutralize the solute.
    fn nearest_neutral(&self, charge: i64, waters: usize, neutral: [i64; 2]) -> [i64; 2] {
        let units = self.concentration * waters as f64 / WATER_CONCENTRATION;
        let [wanted, _] = sltcap(units, charge as f64);
        // adding pairs of a cation and an anion to the smallest numbers gives all other numbers that neutralize the
        // solute
        let pairs = (wanted - neutral[0] as f64).round().max(0.0) as i64;
        neutral.map(|count| count + pairs)
    }
}

/// Returns the mean numbers of monovalent cations and anions in a solvent that exchanges ions with a reservoir. The
/// formula is N± = N₀ exp(∓ arsinh(Q/2N₀)), the method SLTCAP of J. D. Schmit, N. L. Kariyawasam, V. Needham and P. E.
/// Smith, J. Chem. Theory Comput. 14, 1823 (2018), doi:10.1021/acs.jctc.7b01254.
///
/// `units` is the number N₀ = c₀V of formula units of salt; the number must not be negative. c₀ is the concentration in
/// the reservoir, and V is the volume of the solvent. `charge` is the charge Q of the solute (e). Without salt there
/// are only counterions.
pub fn sltcap(units: f64, charge: f64) -> [f64; 2] {
    if units <= charge.abs() * f64::EPSILON {
        return [(-charge).max(0.0), charge.max(0.0)];
    }
    let potential = (charge / (2.0 * units)).asinh();
    [units * (-potential).exp(), units * potential.exp()]
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(plan: IonPlan, charge: i64, waters: usize) -> [usize; 2] {
        let counts = plan.counts(charge, waters, 0).unwrap();
        [counts.cations, counts.anions]
    }

    fn plan(cation_valence: u32, anion_valence: u32, concentration: f64) -> IonPlan {
        IonPlan { cation_valence, anion_valence, concentration, salt: Salt::Added }
    }

    #[test]
    fn counterions_neutralize() {
        assert_eq!(counts(plan(1, 1, 0.0), -5, 100), [5, 0]);
        assert_eq!(counts(plan(1, 1, 0.0), 5, 100), [0, 5]);
        assert_eq!(counts(plan(1, 1, 0.0), 0, 0), [0, 0]);
        assert_eq!(counts(plan(2, 1, 0.0), -4, 100), [2, 0]);
        // magnesium ions alone cannot neutralize an odd charge, so one chloride is added
        assert_eq!(counts(plan(2, 1, 0.0), -5, 100), [3, 1]);
        assert_eq!(counts(plan(2, 3, 0.0), -1, 100), [2, 1]);
        assert_eq!(counts(plan(2, 3, 0.0), 1, 100), [1, 1]);
        assert!(plan(2, 2, 0.0).counts(-5, 100, 0).unwrap_err().message.contains("cannot neutralize"));
    }

    #[test]
    fn salt_has_the_concentration() {
        // a concentration of 0.15 mol/L in 5540 waters corresponds to 15 pairs of ions
        assert_eq!(counts(plan(1, 1, 0.15), 0, 5540), [15, 15]);
        assert_eq!(counts(plan(1, 1, 0.15), -8, 5548), [23, 15]);
        // 15 formula units of MgCl₂
        assert_eq!(counts(plan(2, 1, 0.15), 0, 5540), [15, 30]);
        // waters of the entry are solvent, although ions do not replace them
        let counts = plan(1, 1, 0.15).counts(0, 5000, 540).unwrap();
        assert_eq!([counts.cations, counts.anions], [15, 15]);
        assert!(plan(1, 1, 20.0).counts(0, 10, 1000).unwrap_err().message.contains("only 10 waters"));
        assert!(plan(1, 1, 40.0).counts(0, 1000, 0).unwrap_err().help.unwrap().contains("lower concentration"));
        assert!(plan(1, 1, 0.0).counts(-7, 6, 0).is_err());
        for bad in [f64::NAN, -0.1, 1e9] {
            assert!(plan(1, 1, bad).counts(0, 1000, 0).unwrap_err().help.is_some());
        }
        assert!(plan(0, 1, 0.1).counts(0, 1000, 0).is_err() && plan(1, 9, 0.1).counts(0, 1000, 0).is_err());
        assert!(plan(1, 1, 0.1).counts(i64::MAX, 1000, 0).is_err());
    }

    /// Compares [`sltcap`] with the closed form of the paper, N± = N₀ (√(1 + (Q/2N₀)²) ∓ Q/2N₀).
    #[test]
    fn sltcap_is_the_formula_of_the_paper() {
        for (units, charge) in [(15.0, -8.0), (15.0, 8.0), (3.0, 100.0), (1e5, -1.0), (0.01, -30.0), (7.0, 0.0)] {
            let ratio: f64 = charge / (2.0 * units);
            let root = (1.0 + ratio * ratio).sqrt();
            let [cations, anions] = sltcap(units, charge);
            // the closed form computes the smaller number of ions as a difference of nearly equal numbers;
            // `units / (root + |ratio|)` is the same number without cancellation
            let [larger, smaller] = [units * (root + ratio.abs()), units / (root + ratio.abs())];
            let expected = if charge < 0.0 { [larger, smaller] } else { [smaller, larger] };
            assert!((cations / expected[0] - 1.0).abs() < 1e-12, "{cations} {expected:?}");
            assert!((anions / expected[1] - 1.0).abs() < 1e-12, "{anions} {expected:?}");
        }
    }

    #[test]
    fn limits_of_sltcap() {
        // a neutral solute gets the salt of the reservoir; without salt there are only counterions
        assert_eq!(sltcap(15.0, 0.0), [15.0, 15.0]);
        assert_eq!(sltcap(0.0, -6.0), [6.0, 0.0]);
        assert_eq!(sltcap(0.0, 6.0), [0.0, 6.0]);
        // if the charge is small compared with the number of formula units, one half of the charge is neutralized by
        // additional counterions, and the second half by a deficit of coions
        let [cations, anions] = sltcap(1e6, -10.0);
        assert!((cations - 1e6 - 5.0).abs() < 1e-4 && (anions - 1e6 + 5.0).abs() < 1e-4, "{cations} {anions}");
        // if the charge is large compared with the number of formula units, nearly all ions are counterions
        let [cations, anions] = sltcap(1.0, -1000.0);
        assert!((cations - 1000.0).abs() < 0.01 && (anions - 0.001).abs() < 1e-6);
    }

    #[test]
    fn salt_in_equilibrium_has_fewer_ions_than_added_salt() {
        let equilibrium = IonPlan { salt: Salt::Equilibrium, ..plan(1, 1, 0.15) };
        // for 15 formula units and a solute charge of −8 e, the formula gives 19.5 cations and 11.5 anions
        let [cations, anions] = counts(equilibrium, -8, 5540);
        assert_eq!(cations - anions, 8);
        assert!((19..=20).contains(&cations), "{cations}");
        assert_eq!(counts(equilibrium, 0, 5540), [15, 15]);
        assert_eq!(counts(IonPlan { concentration: 0.0, ..equilibrium }, -8, 5540), [8, 0]);
        let divalent = IonPlan { cation_valence: 2, ..equilibrium }.counts(-8, 5540, 0).unwrap_err();
        assert!(divalent.message.contains("SLTCAP") && divalent.help.unwrap().contains("volume"));
    }

    proptest::proptest! {
        #[test]
        fn all_counts_are_neutral(
            valences in [0u32..5, 0u32..5],
            concentration in prop_oneof![prop::num::f64::ANY, 0.0..60.0f64],
            equilibrium: bool,
            charge in prop_oneof![any::<i64>(), -300i64..300],
            waters in prop_oneof![any::<usize>(), 0usize..30_000],
            kept in prop_oneof![any::<usize>(), 0usize..30_000],
        ) {
            let salt = if equilibrium { Salt::Equilibrium } else { Salt::Added };
            let plan = IonPlan { cation_valence: valences[0], anion_valence: valences[1], concentration, salt };
            if let Ok(counts) = plan.counts(charge, waters, kept) {
                let ions = counts.cations as i64 * i64::from(valences[0]) - counts.anions as i64 * i64::from(valences[1]);
                prop_assert_eq!(ions, -charge);
                prop_assert!(counts.cations + counts.anions <= waters);
            }
        }

        #[test]
        fn sltcap_is_neutral_and_obeys_the_donnan_equilibrium(units in 1e-3f64..1e5, charge in -1e4f64..1e4) {
            let [cations, anions] = sltcap(units, charge);
            prop_assert!((cations - anions + charge).abs() < 1e-9 * (cations + anions));
            // the product of the two numbers of ions equals the square of the number of formula units in the reservoir
            prop_assert!((cations * anions / (units * units) - 1.0).abs() < 1e-6);
        }
    }
}
