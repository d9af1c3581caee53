//! Lennard-Jones parameters as a type-by-type table: E = c12/r¹² − c6/r⁶ − c4/r⁴, where the last term is for ions of
//! 12-6-4 models.

use crate::error::Problem;

/// Maximum number of Lennard-Jones types of a system. Force fields have a few hundred types. Tables for 4096 types
/// take 270 MB of memory.
const MOST_TYPES: usize = 4096;

/// A combination rule, which determines the Lennard-Jones parameters of all pairs of types from two parameters of each
/// type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CombinationRule {
    /// c6 and c12 are geometric means
    Geometric,
    /// σ is an arithmetic mean, and ε is a geometric mean
    LorentzBerthelot,
}

/// Lennard-Jones parameters of a type, or of a pair of types: E = c12/r¹² − c6/r⁶.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LennardJones {
    /// coefficient of 1/r⁶, kJ/mol nm⁶
    pub c6: f64,
    /// coefficient of 1/r¹², kJ/mol nm¹²
    pub c12: f64,
}

impl LennardJones {
    /// Lennard-Jones parameters from σ (nm) and ε (kJ/mol): c6 = 4εσ⁶, c12 = 4εσ¹².
    pub fn from_sigma_epsilon(sigma: f64, epsilon: f64) -> Self {
        LennardJones { c6: 4.0 * epsilon * sigma.powi(6), c12: 4.0 * epsilon * sigma.powi(12) }
    }

    /// Whether the combination rule can combine the parameters of this type with the parameters of other types. c6 and
    /// c12 must be finite and not negative. If the rule combines σ and ε, c6 and c12 must both be zero or both be
    /// positive.
    pub fn is_combined_by(&self, rule: CombinationRule) -> bool {
        let LennardJones { c6, c12 } = *self;
        let good = [c6, c12].iter().all(|c| c.is_finite() && *c >= 0.0);
        good && (rule == CombinationRule::Geometric || (c6 == 0.0) == (c12 == 0.0))
    }
}

/// Symmetric tables of Lennard-Jones parameters for all pairs of types.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Nonbonded {
    /// number of types
    pub types: usize,
    /// c6 in kJ/mol nm⁶, `c6[a * types + b]`
    pub c6: Vec<f64>,
    /// c12 in kJ/mol nm¹², `c12[a * types + b]`
    pub c12: Vec<f64>,
    /// c4 in kJ/mol nm⁴, `c4[a * types + b]`: attraction between an ion and the dipole that the ion induces (Li and
    /// Merz, J. Chem. Theory Comput. 10, 289 (2014)); empty if no pair has a c4
    pub c4: Vec<f64>,
    /// maximum errors of (c6, c12) for each pair of types, due to the limited number of digits in a file; empty if
    /// the values are exact
    pub rounding: Vec<[f64; 2]>,
}

/// Relative tolerance for deciding whether a pair of types follows a combination rule. c6 and c12 must agree with the
/// rule within this tolerance, or within the precision of the digits in the file. In the single precision of the
/// kernels, σ has a relative error of 2⁻²⁴, and σ¹² has a relative error of 7·10⁻⁷.
const RULE_TOLERANCE: f64 = 1e-6;
/// Maximum relative uncertainty, due to the digits in the file, of parameters that are compared with a combination
/// rule. A pair of types with a larger uncertainty keeps the parameters from the file.
const MOST_ROUNDING: f64 = 1e-4;

impl Nonbonded {
    /// Returns an error if there are more Lennard-Jones types than a table can have.
    pub fn check_types(types: usize) -> Result<(), Problem> {
        if types <= MOST_TYPES {
            return Ok(());
        }
        let message = format!("{types} types of Lennard-Jones parameters are in use, but the maximum is {MOST_TYPES}");
        Err(Problem::new(message).help("give atoms of the same kind exactly the same parameters, digit by digit"))
    }

    /// Table made by a combination rule from the parameters of each type. The rule must be able to combine the
    /// parameters of all types ([`LennardJones::is_combined_by`]).
    pub fn combine(types: &[LennardJones], rule: CombinationRule) -> Self {
        let count = types.len();
        let zeros = vec![0.0; count * count];
        let mut table = Nonbonded { types: count, c6: zeros.clone(), c12: zeros, ..Nonbonded::default() };
        for (a, &parameters) in (0u32..).zip(types) {
            table.set_pair(a, a, parameters);
            for b in 0..a {
                let (c6, c12) = table.combined(rule, a, b);
                table.set_pair(a, b, LennardJones { c6, c12 });
            }
        }
        table
    }

    /// Table of the parameters that `pair` returns for each pair of types i and j with j ≤ i.
    pub fn from_pairs<E>(
        types: usize,
        mut pair: impl FnMut(usize, usize) -> Result<LennardJones, E>,
    ) -> Result<Self, E> {
        let zeros = vec![0.0; types * types];
        let mut table = Nonbonded { types, c6: zeros.clone(), c12: zeros, ..Nonbonded::default() };
        for i in 0..types {
            for j in 0..=i {
                table.set_pair(i as u32, j as u32, pair(i, j)?);
            }
        }
        Ok(table)
    }

    /// Sets the parameters of a pair of types, in both orders.
    pub fn set_pair(&mut self, a: u32, b: u32, parameters: LennardJones) {
        for (a, b) in [(a, b), (b, a)] {
            let index = a as usize * self.types + b as usize;
            (self.c6[index], self.c12[index]) = (parameters.c6, parameters.c12);
        }
    }

    /// Coefficients (c6, c12) of a pair of types, in kJ/mol nm⁶ and kJ/mol nm¹².
    #[inline(always)]
    pub fn pair(&self, a: u32, b: u32) -> (f64, f64) {
        let index = a as usize * self.types + b as usize;
        (self.c6[index], self.c12[index])
    }

    /// σ (nm) and ε (kJ/mol) of a pair of types; both are zero if c6 or c12 is zero.
    pub fn sigma_epsilon(&self, a: u32, b: u32) -> (f64, f64) {
        let (c6, c12) = self.pair(a, b);
        if c6 == 0.0 || c12 == 0.0 { (0.0, 0.0) } else { ((c12 / c6).powf(1.0 / 6.0), c6 * c6 / (4.0 * c12)) }
    }

    /// Coefficient c4 of a pair of types, kJ/mol nm⁴.
    #[inline(always)]
    pub fn c4(&self, a: u32, b: u32) -> f64 {
        self.c4.get(a as usize * self.types + b as usize).copied().unwrap_or(0.0)
    }

    /// Whether atoms of the types `a` and `b` have a Lennard-Jones interaction.
    pub fn interact(&self, a: u32, b: u32) -> bool {
        self.pair(a, b) != (0.0, 0.0) || self.c4(a, b) != 0.0
    }

    /// √c6 (kJ^½/mol^½ nm³) of a pair of atoms of the same type. The mesh of LJ-PME uses √c6 instead of a charge.
    pub fn root_c6(&self, lj_type: u32) -> f64 {
        self.pair(lj_type, lj_type).0.max(0.0).sqrt()
    }

    /// The combination rule that the table follows; `None` if the table follows no rule. If both rules fit,
    /// [`CombinationRule::Geometric`] is returned.
    pub fn rule(&self) -> Option<CombinationRule> {
        let types: Vec<u32> = (0..self.types as u32).collect();
        let obeys = |rule| self.exceptions(rule, &types).is_some_and(|exceptions| exceptions.is_empty());
        [CombinationRule::Geometric, CombinationRule::LorentzBerthelot].into_iter().find(|&rule| obeys(rule))
    }

    /// Exceptions: pairs of `types` whose parameters in the table differ from the parameters that the combination rule
    /// gives. `None` if the rule cannot combine the parameters of a type.
    pub fn exceptions(&self, rule: CombinationRule, types: &[u32]) -> Option<Vec<[u32; 2]>> {
        let expressible = |&t: &u32| {
            let (c6, c12) = self.pair(t, t);
            LennardJones { c6, c12 }.is_combined_by(rule)
        };
        let before = types.iter().enumerate().flat_map(|(n, &a)| types[..n].iter().map(move |&b| [a, b]));
        types.iter().all(expressible).then(|| before.filter(|&[a, b]| !self.gives(rule, a, b)).collect())
    }

    /// Whether the parameters in the table for a pair of types agree with the combination rule.
    fn gives(&self, rule: CombinationRule, a: u32, b: u32) -> bool {
        let ((expected6, expected12), (c6, c12)) = (self.combined(rule, a, b), self.pair(a, b));
        let [rounding6, rounding12] = self.combined_rounding(rule, a, b);
        let own = self.relative_rounding(a, b);
        let close = |x: f64, y: f64, rounding: f64| {
            rounding <= MOST_ROUNDING && (x - y).abs() <= RULE_TOLERANCE.max(rounding) * x.abs().max(y.abs())
        };
        close(c6, expected6, rounding6 + own[0]) && close(c12, expected12, rounding12 + own[1])
    }

    /// Maximum relative errors of c6 and c12 of a pair of types.
    fn relative_rounding(&self, a: u32, b: u32) -> [f64; 2] {
        let (c6, c12) = self.pair(a, b);
        let rounding = self.rounding.get(a as usize * self.types + b as usize).copied().unwrap_or_default();
        let relative = |rounding: f64, value: f64| if value == 0.0 { 0.0 } else { rounding / value.abs() };
        [relative(rounding[0], c6), relative(rounding[1], c12)]
    }

    fn combined(&self, rule: CombinationRule, a: u32, b: u32) -> (f64, f64) {
        match rule {
            CombinationRule::Geometric => {
                let ((a6, a12), (b6, b12)) = (self.pair(a, a), self.pair(b, b));
                ((a6 * b6).sqrt(), (a12 * b12).sqrt())
            }
            CombinationRule::LorentzBerthelot => {
                let ((sa, ea), (sb, eb)) = (self.sigma_epsilon(a, a), self.sigma_epsilon(b, b));
                let (epsilon, s6) = ((ea * eb).sqrt(), (0.5 * (sa + sb)).powi(6));
                (4.0 * epsilon * s6, 4.0 * epsilon * s6 * s6)
            }
        }
    }

    /// Maximum relative errors of the results of [`Self::combined`] due to the errors of the parameters of both types,
    /// to first order in these errors: δσ/σ = (δc6/c6 + δc12/c12)/6, δε/ε = 2 δc6/c6 + δc12/c12.
    fn combined_rounding(&self, rule: CombinationRule, a: u32, b: u32) -> [f64; 2] {
        let ([a6, a12], [b6, b12]) = (self.relative_rounding(a, a), self.relative_rounding(b, b));
        match rule {
            CombinationRule::Geometric => [0.5 * (a6 + b6), 0.5 * (a12 + b12)],
            CombinationRule::LorentzBerthelot => {
                let ((sa, _), (sb, _)) = (self.sigma_epsilon(a, a), self.sigma_epsilon(b, b));
                let sum = (sa + sb).max(f64::MIN_POSITIVE);
                let sigma = (sa * (a6 + a12) + sb * (b6 + b12)) / (6.0 * sum);
                let epsilon = 0.5 * (2.0 * (a6 + b6) + a12 + b12);
                [epsilon + 6.0 * sigma, epsilon + 12.0 * sigma]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(sigma_epsilon: &[(f64, f64)], mix: impl Fn((f64, f64), (f64, f64)) -> (f64, f64)) -> Nonbonded {
        let types = sigma_epsilon.len();
        let (mut c6, mut c12) = (vec![], vec![]);
        for &a in sigma_epsilon {
            for &b in sigma_epsilon {
                let (s, e) = mix(a, b);
                c6.push(4.0 * e * s.powi(6));
                c12.push(4.0 * e * s.powi(12));
            }
        }
        Nonbonded { types, c6, c12, ..Nonbonded::default() }
    }

    /// A table as read from a file with `digits` decimals.
    fn printed(exact: &Nonbonded, digits: usize) -> Nonbonded {
        let mut table = exact.clone();
        table.rounding = vec![[0.0; 2]; exact.c6.len()];
        for (coefficient, values) in [&mut table.c6, &mut table.c12].into_iter().enumerate() {
            for (value, rounding) in values.iter_mut().zip(&mut table.rounding) {
                let text = format!("{value:.digits$e}");
                rounding[coefficient] = 0.5 * 10f64.powf(value.log10().floor() - digits as f64);
                *value = text.parse().expect("a number");
            }
        }
        table
    }

    #[test]
    fn rules_are_recognised_behind_the_digits_of_a_file() {
        let types =
            [(0.329_632_5, 0.8368), (0.040_001_35, 0.192_464), (0.363_486_7, 0.326_352), (0.315_057_4, 0.636_386)];
        let exact = table(&types, |a, b| (0.5 * (a.0 + b.0), (a.1 * b.1).sqrt()));
        let products = table(&types, |a, b| ((a.0 * b.0).sqrt(), (a.1 * b.1).sqrt()));
        for digits in [5, 6, 8, 16] {
            assert_eq!(printed(&exact, digits).rule(), Some(CombinationRule::LorentzBerthelot), "{digits}");
            assert_eq!(printed(&products, digits).rule(), Some(CombinationRule::Geometric), "{digits}");
            // the change of c12 is ten times the largest error that the rounding of all parameters can cause
            let mut off = printed(&exact, digits);
            let change = 1.0 + 10.0 * (9.0 * 0.5 * 10f64.powi(-(digits as i32))).max(RULE_TOLERANCE);
            off.c12[1] *= change;
            off.c12[4] *= change;
            let all: Vec<u32> = (0..4).collect();
            assert_eq!(off.exceptions(CombinationRule::LorentzBerthelot, &all), Some(vec![[1, 0]]), "{digits}");
            assert_eq!(off.rule(), None, "{digits}");
        }
        // with four significant digits the parameters are too uncertain to follow a rule
        assert_eq!(printed(&exact, 3).rule(), None);
    }

    #[test]
    fn types_that_no_rule_expresses_make_none() {
        let mut negative = table(&[(0.3, 0.5)], |a, _| a);
        negative.c6[0] = -negative.c6[0];
        assert_eq!(negative.rule(), None);
        let mut repulsive = table(&[(0.3, 0.5), (0.3, 0.5)], |a, _| a);
        repulsive.c6.fill(0.0);
        assert_eq!(repulsive.rule(), Some(CombinationRule::Geometric));
        assert_eq!(repulsive.exceptions(CombinationRule::LorentzBerthelot, &[0, 1]), None);
    }

    #[test]
    fn rules_are_recognised() {
        let types = [(0.315, 0.636), (0.0, 0.0), (0.34, 0.45)];
        let lorentz = table(&types, |a, b| (0.5 * (a.0 + b.0), (a.1 * b.1).sqrt()));
        assert_eq!(lorentz.rule(), Some(CombinationRule::LorentzBerthelot));
        let geometric = table(&types, |a, b| ((a.0 * b.0).sqrt(), (a.1 * b.1).sqrt()));
        assert_eq!(geometric.rule(), Some(CombinationRule::Geometric));
        let mut special = lorentz.clone();
        special.c6[2] += 1e-4; // the pair of type 0 and type 2, in both orders
        special.c6[6] += 1e-4;
        assert_eq!(special.rule(), None);
    }
}
