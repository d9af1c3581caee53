//! Parameters of bonded terms, and the table of all kinds of bonded terms. The code that lists or evaluates the terms
//! is generated from the table.
//!
//! [`bonded_terms`] lists every kind of term. The table [`bonded_terms`] generates the lists of [`BondedTerms`], the
//! fields of [`Energies`](crate::backend::Energies), the columns of `energies.csv`, the loops of all backends, the
//! layout on a GPU, counts and fingerprints. A new kind of term needs a formula in [`crate::term`], a type of its
//! parameters that implements [`BondedTerm`], a row in the table, a reader, and for GPUs a formula in
//! `kernels/term.cuh`.
//!
//! Correction maps (eight atoms) and 1-4 pairs (two energies) have separate lists and loops.

use super::CmapGrid;
use crate::term::{self, Real};
use crate::vec3::Vec3;

/// A kind of bonded term on N atoms with P parameters. The formula of the term takes the parameters and E = N − 1
/// displacements, [`term::DISPLACEMENTS`].
pub trait BondedTerm<const N: usize, const E: usize, const P: usize>: Copy + Send + Sync + 'static {
    /// Name of the formula in `kernels/term.cuh`. `None` if the file has no formula for the term: GPUs then do not
    /// support systems with this term.
    const KERNEL: Option<&'static str>;
    /// Number type in which mixed-precision backends compute the term: `f64` if the term is so stiff that the
    /// rounding of `f32` matters.
    type Number;
    /// Indices of the parameters that are force constants or amplitudes: energy and forces are proportional to these
    /// parameters.
    const STRENGTHS: &'static [usize];
    /// Number of floating-point operations for one term, accurate to about 10 %. The number includes computing the
    /// displacements and adding the forces to the atomic forces.
    const FLOPS: f64;

    /// Atoms of the term, in the order of the formula.
    fn atoms(&self) -> [u32; N];
    /// Parameters of the term, in the order of the formula.
    fn parameters(&self) -> [f64; P];
    /// Returns the forces on the atoms (kJ/mol/nm) and the energy (kJ/mol).
    fn evaluate<T: Real>(displacements: [Vec3<T>; E], parameters: [T; P]) -> ([Vec3<T>; N], T);
}

/// Passes the table of bonded terms to a macro. The table has a row for each reported energy, with the lists of terms
/// that contribute to this energy. For each list, the row gives the type of the terms, the numbers of atoms,
/// displacements and parameters of a term, and a name for messages.
///
/// Terms are evaluated and energies are reported in the order of the table.
#[macro_export]
macro_rules! bonded_terms {
    ($apply:ident) => {
        $apply! {
            /// harmonic and GROMOS-96 bonds, and harmonic distances that are not chemical bonds
            bond {
                bonds: Bond(2, 1, 2) "bonds",
                distances: Bond(2, 1, 2) "harmonic distances",
                g96_bonds: G96Bond(2, 1, 2) "GROMOS-96 bonds"
            }
            /// harmonic and GROMOS-96 angles
            angle { angles: Angle(3, 2, 2) "angles", g96_angles: G96Angle(3, 2, 2) "GROMOS-96 angles" }
            /// Urey–Bradley 1-3 terms
            urey_bradley { urey_bradleys: Bond(2, 1, 2) "Urey-Bradley terms" }
            /// proper torsions
            proper { propers: Torsion(4, 3, 4) "proper torsions" }
            /// Ryckaert–Bellemans and Fourier torsions
            ryckaert_bellemans {
                ryckaert_bellemans: RyckaertBellemans(4, 3, 6) "Ryckaert-Bellemans torsions"
            }
            /// impropers, periodic (AMBER) and harmonic (CHARMM)
            improper {
                impropers: Torsion(4, 3, 4) "improper torsions",
                harmonic_impropers: HarmonicImproper(4, 3, 2) "harmonic impropers"
            }
        }
    };
}
pub use bonded_terms;

macro_rules! define_bonded_terms {
    ($($(#[$doc:meta])* $energy:ident {
        $($list:ident: $Term:ident($n:literal, $e:literal, $p:literal) $name:literal),+
    })*) => {
        /// Lists of all bonded terms of a system.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct BondedTerms {
            $($(
                #[doc = $name]
                pub $list: Vec<$Term>,
            )+)*
            /// torsion–torsion correction maps (CMAP)
            pub cmaps: Vec<Cmap>,
            /// energy grids of the correction maps (CMAP)
            pub cmap_grids: Vec<CmapGrid>,
            /// scaled 1-4 pairs
            pub pairs14: Vec<Pair14>,
        }

        impl BondedTerms {
            /// Name and number of terms of each list.
            pub fn counts(&self) -> Vec<(&'static str, usize)> {
                vec![
                    $($(($name, self.$list.len()),)+)*
                    ("CMAP terms", self.cmaps.len()),
                    ("1-4 pairs", self.pairs14.len()),
                ]
            }

            /// Keeps the terms whose atoms `keep` accepts.
            pub fn retain(&mut self, keep: impl Fn(&[u32]) -> bool) {
                $($(self.$list.retain(|term| keep(&term.atoms));)+)*
                self.cmaps.retain(|term| keep(&term.atoms));
                self.pairs14.retain(|term| keep(&term.atoms));
            }

            /// Returns a copy of the terms whose atoms `keep` accepts, without the grids of the correction maps.
            pub fn of_those(&self, keep: impl Fn(&[u32]) -> bool) -> Self {
                let mut result = Self::default();
                result.append_those(self, keep, |atom| atom);
                result
            }

            /// Adds the terms of `other` whose atoms `keep` accepts, with every atom index replaced by the value that
            /// `to` returns for this index. The correction maps of `other` must use the grids of `self`.
            pub fn append_those(&mut self, other: &Self, keep: impl Fn(&[u32]) -> bool, to: impl Fn(u32) -> u32) {
                $($(
                    let kept = other.$list.iter().filter(|term| keep(&term.atoms));
                    self.$list.extend(kept.map(|term| $Term { atoms: term.atoms.map(&to), ..*term }));
                )+)*
                let kept = other.cmaps.iter().filter(|term| keep(&term.atoms));
                self.cmaps.extend(kept.map(|term| Cmap { atoms: term.atoms.map(&to), ..*term }));
                let kept = other.pairs14.iter().filter(|term| keep(&term.atoms));
                self.pairs14.extend(kept.map(|term| Pair14 { atoms: term.atoms.map(&to), ..*term }));
            }

            /// Replaces every atom index by the value that `to` returns for this index.
            pub fn renumber(&mut self, to: impl Fn(u32) -> u32) {
                $($(self.$list.iter_mut().for_each(|term| term.atoms = term.atoms.map(&to));)+)*
                self.cmaps.iter_mut().for_each(|term| term.atoms = term.atoms.map(&to));
                self.pairs14.iter_mut().for_each(|term| term.atoms = term.atoms.map(&to));
            }

            /// Adds `copies` copies of the terms of a molecule with `size` atoms. The correction maps of the molecule
            /// must use the grids of `self`. Atom 0 of the molecule becomes atom `first + k * size` in copy k.
            pub fn append_copies(&mut self, molecule: &Self, first: u32, size: u32, copies: u32) {
                $($(append_copies(&mut self.$list, &molecule.$list, copies, |term, copy| {
                    term.atoms.iter_mut().for_each(|atom| *atom += first + copy * size);
                });)+)*
                append_copies(&mut self.cmaps, &molecule.cmaps, copies, |term, copy| {
                    term.atoms.iter_mut().for_each(|atom| *atom += first + copy * size);
                });
                append_copies(&mut self.pairs14, &molecule.pairs14, copies, |term, copy| {
                    term.atoms.iter_mut().for_each(|atom| *atom += first + copy * size);
                });
            }

            /// Calls `see` with the atoms of every term.
            pub fn for_each(&self, mut see: impl FnMut(&[u32])) {
                $($(self.$list.iter().for_each(|term| see(&term.atoms));)+)*
                self.cmaps.iter().for_each(|term| see(&term.atoms));
                self.pairs14.iter().for_each(|term| see(&term.atoms));
            }

            /// Splits the terms among `parts` parts of a system. `part` returns the part to which an atom belongs.
            /// The grids of the correction maps are not copied.
            pub fn by_part(&self, parts: usize, part: impl Fn(u32) -> usize) -> Vec<Self> {
                let mut result = vec![Self::default(); parts];
                $($(self.$list.iter().for_each(|term| result[part(term.atoms[0])].$list.push(*term));)+)*
                self.cmaps.iter().for_each(|term| result[part(term.atoms[0])].cmaps.push(*term));
                self.pairs14.iter().for_each(|term| result[part(term.atoms[0])].pairs14.push(*term));
                result
            }

            /// Moves all terms of `other` to `self`. The correction maps of `other` must use the grids of `self`.
            pub fn append(&mut self, other: &mut Self) {
                $($(self.$list.append(&mut other.$list);)+)*
                self.cmaps.append(&mut other.cmaps);
                self.pairs14.append(&mut other.pairs14);
            }
        }
    };
}
bonded_terms!(define_bonded_terms);

/// Appends copies of the list of terms of a molecule. The function `change` modifies each copied term. The second
/// argument of `change` is the number of the copy.
fn append_copies<T: Copy>(list: &mut Vec<T>, molecule: &[T], copies: u32, change: impl Fn(&mut T, u32)) {
    list.reserve(molecule.len() * copies as usize);
    for copy in 0..if molecule.is_empty() { 0 } else { copies } {
        list.extend(molecule.iter().map(|term| {
            let mut term = *term;
            change(&mut term, copy);
            term
        }));
    }
}

impl BondedTerms {
    /// Number of terms of all lists.
    pub fn total(&self) -> usize {
        self.counts().into_iter().map(|(_, count)| count).sum()
    }

    /// The terms in which `atom` takes part.
    pub fn of_atom(&self, atom: u32) -> Self {
        let mut terms = self.clone();
        terms.retain(|atoms| atoms.contains(&atom));
        terms
    }

    /// Chemical bonds that have a harmonic or GROMOS-96 energy term, with their equilibrium lengths (nm).
    pub fn bond_lengths(&self) -> impl Iterator<Item = ([u32; 2], f64)> + '_ {
        let g96 = self.g96_bonds.iter().map(|bond| (bond.atoms, bond.length));
        self.bonds.iter().map(|bond| (bond.atoms, bond.length)).chain(g96)
    }

    /// Harmonic and GROMOS-96 angles, with their equilibrium values (rad).
    pub fn angle_values(&self) -> impl Iterator<Item = ([u32; 3], f64)> + '_ {
        let g96 = self.g96_angles.iter().map(|angle| (angle.atoms, angle.angle));
        self.angles.iter().map(|angle| (angle.atoms, angle.angle)).chain(g96)
    }
}

/// Harmonic distance term E = ½ k (r − r₀)², also used for Urey–Bradley 1-3 terms and for distances that are not
/// chemical bonds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bond {
    /// the two atoms
    pub atoms: [u32; 2],
    /// equilibrium length r₀ in nm
    pub length: f64,
    /// force constant k of the energy ½ k (r − r₀)², in kJ/mol/nm²
    pub force_constant: f64,
}

impl BondedTerm<2, 1, 2> for Bond {
    const KERNEL: Option<&'static str> = Some("bond");
    type Number = f64;
    const STRENGTHS: &'static [usize] = &[1];
    const FLOPS: f64 = 35.0;

    fn atoms(&self) -> [u32; 2] {
        self.atoms
    }
    fn parameters(&self) -> [f64; 2] {
        [self.length, self.force_constant]
    }
    #[inline(always)]
    fn evaluate<T: Real>(displacements: [Vec3<T>; 1], parameters: [T; 2]) -> ([Vec3<T>; 2], T) {
        term::bond(displacements, parameters)
    }
}

/// GROMOS-96 bond E = ¼ k (r² − b²)².
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct G96Bond {
    /// the two atoms
    pub atoms: [u32; 2],
    /// equilibrium length b in nm
    pub length: f64,
    /// force constant k of the energy ¼ k (r² − b²)², in kJ/mol/nm⁴
    pub force_constant: f64,
}

impl G96Bond {
    /// Curvature d²E/dr² = 2 k b² at the equilibrium length, in kJ/mol/nm².
    pub fn curvature(&self) -> f64 {
        2.0 * self.force_constant * self.length * self.length
    }
}

impl BondedTerm<2, 1, 2> for G96Bond {
    const KERNEL: Option<&'static str> = None;
    type Number = f64;
    const STRENGTHS: &'static [usize] = &[1];
    const FLOPS: f64 = 30.0;

    fn atoms(&self) -> [u32; 2] {
        self.atoms
    }
    fn parameters(&self) -> [f64; 2] {
        [self.length, self.force_constant]
    }
    #[inline(always)]
    fn evaluate<T: Real>(displacements: [Vec3<T>; 1], parameters: [T; 2]) -> ([Vec3<T>; 2], T) {
        term::g96_bond(displacements, parameters)
    }
}

/// Harmonic angle E = ½ k (θ − θ₀)².
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Angle {
    /// the three atoms, with the vertex in the middle
    pub atoms: [u32; 3],
    /// equilibrium angle θ₀ in rad
    pub angle: f64,
    /// force constant k of the energy ½ k (θ − θ₀)², in kJ/mol/rad²
    pub force_constant: f64,
}

impl BondedTerm<3, 2, 2> for Angle {
    const KERNEL: Option<&'static str> = Some("angle");
    type Number = f32;
    const STRENGTHS: &'static [usize] = &[1];
    const FLOPS: f64 = 110.0;

    fn atoms(&self) -> [u32; 3] {
        self.atoms
    }
    fn parameters(&self) -> [f64; 2] {
        [self.angle, self.force_constant]
    }
    #[inline(always)]
    fn evaluate<T: Real>(displacements: [Vec3<T>; 2], parameters: [T; 2]) -> ([Vec3<T>; 3], T) {
        term::angle(displacements, parameters)
    }
}

/// GROMOS-96 angle E = ½ k (cos θ − cos θ₀)².
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct G96Angle {
    /// the three atoms, with the vertex in the middle
    pub atoms: [u32; 3],
    /// equilibrium angle θ₀ in rad
    pub angle: f64,
    /// force constant k of the energy ½ k (cos θ − cos θ₀)², in kJ/mol
    pub force_constant: f64,
}

impl G96Angle {
    /// Curvature d²E/dθ² = k sin² θ₀ at the equilibrium angle, in kJ/mol/rad².
    pub fn curvature(&self) -> f64 {
        self.force_constant * self.angle.sin().powi(2)
    }
}

impl BondedTerm<3, 2, 2> for G96Angle {
    const KERNEL: Option<&'static str> = None;
    type Number = f32;
    const STRENGTHS: &'static [usize] = &[1];
    const FLOPS: f64 = 80.0;

    fn atoms(&self) -> [u32; 3] {
        self.atoms
    }
    fn parameters(&self) -> [f64; 2] {
        [self.angle.cos(), self.force_constant]
    }
    #[inline(always)]
    fn evaluate<T: Real>(displacements: [Vec3<T>; 2], parameters: [T; 2]) -> ([Vec3<T>; 3], T) {
        term::g96_angle(displacements, parameters)
    }
}

/// Periodic torsion E = k (1 + cos(nφ − φ₀)), IUPAC sign (trans = π).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Torsion {
    /// the four atoms
    pub atoms: [u32; 4],
    /// periodicity n ≥ 0
    pub periodicity: u8,
    /// phase φ₀ in rad
    pub phase: f64,
    /// amplitude k in kJ/mol
    pub force_constant: f64,
}

impl BondedTerm<4, 3, 4> for Torsion {
    const KERNEL: Option<&'static str> = Some("torsion");
    type Number = f32;
    const STRENGTHS: &'static [usize] = &[3];
    const FLOPS: f64 = 180.0;

    fn atoms(&self) -> [u32; 4] {
        self.atoms
    }
    fn parameters(&self) -> [f64; 4] {
        let (sine, cosine) = self.phase.sin_cos();
        [f64::from(self.periodicity), cosine, sine, self.force_constant]
    }
    #[inline(always)]
    fn evaluate<T: Real>(displacements: [Vec3<T>; 3], parameters: [T; 4]) -> ([Vec3<T>; 4], T) {
        term::torsion(displacements, parameters)
    }
}

/// Ryckaert–Bellemans torsion E = Σ C_n cosⁿ ψ for n from 0 to 5, with ψ = φ − π (trans = 0).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RyckaertBellemans {
    /// the four atoms
    pub atoms: [u32; 4],
    /// coefficients C₀ to C₅ in kJ/mol
    pub coefficients: [f64; 6],
}

impl RyckaertBellemans {
    /// The Fourier torsion E = ½ [F₁ (1 + cos φ) + F₂ (1 − cos 2φ) + F₃ (1 + cos 3φ) + F₄ (1 − cos 4φ)], with F₁ to F₄
    /// in kJ/mol, as in OPLS-AA (Jorgensen, Maxwell & Tirado-Rives, J. Am. Chem. Soc. 118, 11225 (1996)), written in
    /// powers of cos ψ.
    pub fn fourier(atoms: [u32; 4], [f1, f2, f3, f4]: [f64; 4]) -> Self {
        let coefficients = [f2 + 0.5 * (f1 + f3), 0.5 * (3.0 * f3 - f1), 4.0 * f4 - f2, -2.0 * f3, -4.0 * f4, 0.0];
        RyckaertBellemans { atoms, coefficients }
    }
}

impl BondedTerm<4, 3, 6> for RyckaertBellemans {
    const KERNEL: Option<&'static str> = Some("ryckaert_bellemans");
    type Number = f32;
    const STRENGTHS: &'static [usize] = &[0, 1, 2, 3, 4, 5];
    const FLOPS: f64 = 170.0;

    fn atoms(&self) -> [u32; 4] {
        self.atoms
    }
    fn parameters(&self) -> [f64; 6] {
        self.coefficients
    }
    #[inline(always)]
    fn evaluate<T: Real>(displacements: [Vec3<T>; 3], parameters: [T; 6]) -> ([Vec3<T>; 4], T) {
        term::ryckaert_bellemans(displacements, parameters)
    }
}

/// Harmonic improper E = ½ k (φ − φ₀)² of CHARMM. The difference φ − φ₀ is wrapped to (−π, π].
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HarmonicImproper {
    /// the four atoms
    pub atoms: [u32; 4],
    /// equilibrium angle φ₀ in rad
    pub angle: f64,
    /// force constant k of the energy ½ k (φ − φ₀)², in kJ/mol/rad²
    pub force_constant: f64,
}

impl BondedTerm<4, 3, 2> for HarmonicImproper {
    const KERNEL: Option<&'static str> = Some("harmonic_improper");
    type Number = f32;
    const STRENGTHS: &'static [usize] = &[1];
    const FLOPS: f64 = 180.0;

    fn atoms(&self) -> [u32; 4] {
        self.atoms
    }
    fn parameters(&self) -> [f64; 2] {
        [self.angle, self.force_constant]
    }
    #[inline(always)]
    fn evaluate<T: Real>(displacements: [Vec3<T>; 3], parameters: [T; 2]) -> ([Vec3<T>; 4], T) {
        term::harmonic_improper(displacements, parameters)
    }
}

/// A torsion–torsion correction map (CMAP) on two torsions φ and ψ. The two torsions may share atoms: usually φ has
/// the atoms 0-3 and ψ has the atoms 1-4 of five atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cmap {
    /// atoms of φ, then atoms of ψ
    pub atoms: [u32; 8],
    /// index into [`BondedTerms::cmap_grids`]
    pub grid: u32,
}

/// A scaled 1-4 pair E = k q/r + c12/r¹² − c6/r⁶ with Coulomb's constant k and the scaled charge product q, without a
/// cutoff.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pair14 {
    /// the two atoms
    pub atoms: [u32; 2],
    /// charge product q_i q_j times the electrostatic scale of 1-4 pairs, e²
    pub charge_product: f64,
    /// coefficient c6 of the scaled Lennard-Jones interaction, kJ/mol nm⁶
    pub c6: f64,
    /// coefficient c12 of the scaled Lennard-Jones interaction, kJ/mol nm¹²
    pub c12: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    /// Displacements between four atoms whose dihedral angle is φ.
    fn chain(phi: f64) -> [Vec3; 3] {
        [vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0), vec3(phi.cos(), phi.sin(), 0.0)]
    }

    #[test]
    fn fourier_torsions_are_their_textbook_sum() {
        let f = [1.7, -0.9, 2.3, 0.6];
        let term = RyckaertBellemans::fourier([0, 1, 2, 3], f);
        for step in -6..=6 {
            let phi = 0.5 * f64::from(step);
            let (_, energy) = RyckaertBellemans::evaluate(chain(phi), term.parameters());
            let cosine = |n: f64| (n * phi).cos();
            let expected = 0.5
                * (f[0] * (1.0 + cosine(1.0))
                    + f[1] * (1.0 - cosine(2.0))
                    + f[2] * (1.0 + cosine(3.0))
                    + f[3] * (1.0 - cosine(4.0)));
            // tolerance for six products of numbers below 10, each with a relative rounding error of 1e-16
            assert!((energy - expected).abs() < 1e-13, "{phi}: {energy} against {expected}");
        }
    }
}
