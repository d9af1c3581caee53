//! Potential energy, term by term.

/// Energies in kJ/mol. `lj` and `coulomb` are totals that contain their parts named after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Energies {
    /// harmonic bonds
    pub bond: f64,
    /// harmonic angles
    pub angle: f64,
    /// Urey–Bradley 1-3 terms
    pub urey_bradley: f64,
    /// proper torsions
    pub proper: f64,
    /// impropers, periodic and harmonic
    pub improper: f64,
    /// torsion–torsion maps
    pub cmap: f64,
    /// Lennard-Jones: pairs + 1-4 + dispersion correction
    pub lj: f64,
    /// the 1-4 part of `lj`
    pub lj_14: f64,
    /// the long-range part of `lj`
    pub dispersion_correction: f64,
    /// Coulomb: real space + 1-4 + exclusion correction + reciprocal + self + plasma term
    pub coulomb: f64,
    /// the 1-4 part of `coulomb`
    pub coulomb_14: f64,
    /// the reciprocal + self + plasma part of `coulomb`
    pub coulomb_reciprocal: f64,
}

impl Energies {
    /// Names and values of the terms in the order of the energy table.
    pub fn named(&self) -> [(&'static str, f64); 13] {
        [
            ("bond", self.bond),
            ("angle", self.angle),
            ("urey_bradley", self.urey_bradley),
            ("proper", self.proper),
            ("improper", self.improper),
            ("cmap", self.cmap),
            ("lj", self.lj),
            ("lj_14", self.lj_14),
            ("dispersion_correction", self.dispersion_correction),
            ("coulomb", self.coulomb),
            ("coulomb_14", self.coulomb_14),
            ("coulomb_reciprocal", self.coulomb_reciprocal),
            ("potential", self.potential()),
        ]
    }

    /// The sum of all terms.
    pub fn potential(&self) -> f64 {
        self.bond + self.angle + self.urey_bradley + self.proper + self.improper + self.cmap + self.lj + self.coulomb
    }
}

impl std::ops::AddAssign for Energies {
    fn add_assign(&mut self, o: Self) {
        self.bond += o.bond;
        self.angle += o.angle;
        self.urey_bradley += o.urey_bradley;
        self.proper += o.proper;
        self.improper += o.improper;
        self.cmap += o.cmap;
        self.lj += o.lj;
        self.lj_14 += o.lj_14;
        self.dispersion_correction += o.dispersion_correction;
        self.coulomb += o.coulomb;
        self.coulomb_14 += o.coulomb_14;
        self.coulomb_reciprocal += o.coulomb_reciprocal;
    }
}
