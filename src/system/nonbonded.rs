//! Lennard-Jones parameters as a type-by-type table: E = c12/r¹² − c6/r⁶.

/// A rule that reproduces the whole table from one pair of numbers per type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CombinationRule {
    /// c6 and c12 are geometric means
    Geometric,
    /// σ arithmetic, ε geometric
    LorentzBerthelot,
}

/// Symmetric tables over Lennard-Jones types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nonbonded {
    /// number of types
    pub types: usize,
    /// kJ/mol nm⁶, `c6[a * types + b]`
    pub c6: Vec<f64>,
    /// kJ/mol nm¹², `c12[a * types + b]`
    pub c12: Vec<f64>,
}

/// Files carry nine significant digits, so a rule holds if every entry agrees to this (relative).
const RULE_TOLERANCE: f64 = 1e-6;

impl Nonbonded {
    /// The entry (c6, c12) of a pair of types.
    #[inline(always)]
    pub fn pair(&self, a: u32, b: u32) -> (f64, f64) {
        let index = a as usize * self.types + b as usize;
        (self.c6[index], self.c12[index])
    }

    /// σ (nm) and ε (kJ/mol) of a pair of types; zeros where there is no interaction.
    pub fn sigma_epsilon(&self, a: u32, b: u32) -> (f64, f64) {
        let (c6, c12) = self.pair(a, b);
        if c6 == 0.0 || c12 == 0.0 { (0.0, 0.0) } else { ((c12 / c6).powf(1.0 / 6.0), c6 * c6 / (4.0 * c12)) }
    }

    /// The rule the table obeys, if any; geometric is preferred when both fit.
    pub fn rule(&self) -> Option<CombinationRule> {
        [CombinationRule::Geometric, CombinationRule::LorentzBerthelot].into_iter().find(|&rule| self.obeys(rule))
    }

    fn obeys(&self, rule: CombinationRule) -> bool {
        let close = |x: f64, y: f64| (x - y).abs() <= RULE_TOLERANCE * x.abs().max(y.abs());
        let types = self.types as u32;
        (0..types).all(|a| {
            // a type with only one of the two coefficients cannot be expressed by σ and ε
            let (c6, c12) = self.pair(a, a);
            let expressible = rule == CombinationRule::Geometric || (c6 == 0.0) == (c12 == 0.0);
            expressible
                && (0..a).all(|b| {
                    let (expected6, expected12) = self.combined(rule, a, b);
                    let (c6, c12) = self.pair(a, b);
                    close(c6, expected6) && close(c12, expected12)
                })
        })
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
        Nonbonded { types, c6, c12 }
    }

    #[test]
    fn rules_are_recognised() {
        let types = [(0.315, 0.636), (0.0, 0.0), (0.34, 0.45)];
        let lorentz = table(&types, |a, b| (0.5 * (a.0 + b.0), (a.1 * b.1).sqrt()));
        assert_eq!(lorentz.rule(), Some(CombinationRule::LorentzBerthelot));
        let geometric = table(&types, |a, b| ((a.0 * b.0).sqrt(), (a.1 * b.1).sqrt()));
        assert_eq!(geometric.rule(), Some(CombinationRule::Geometric));
        let mut special = lorentz.clone();
        special.c6[2] += 1e-4; // the pair of type 0 with type 2, both ways round
        special.c6[6] += 1e-4;
        assert_eq!(special.rule(), None);
    }
}
