//! Parameters of proper and improper torsions.

use md_engine::format::xml::Node;

use super::Parsed;
use super::atom_types::{AtomTypes, Pattern};
use super::tables::Terms;
use super::unknown;

/// Largest number of periodic terms of one torsion.
const MOST_TERMS: usize = 16;
/// Largest periodicity of a torsion.
const MOST_PERIODICITY: usize = 32;

/// Energy expressions of harmonic torsions, without blanks and without the last semicolon. The second value is the
/// factor f of the energy f · ½ k (θ − θ₀)².
const HARMONIC: [(&str, f64); 3] = [
    ("k*(theta-theta0)^2", 2.0),
    ("0.5*k*(theta-theta0)^2", 1.0),
    ("k*min(dtheta,2*pi-dtheta)^2;dtheta=abs(theta-theta0)", 2.0),
];

/// A term k (1 + cos(nφ − φ₀)) of the energy of a torsion φ, with the periodicity n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Periodic {
    pub(super) periodicity: u8,
    /// φ₀ in rad
    pub(super) phase: f64,
    /// k in kJ/mol
    pub(super) force_constant: f64,
}

/// Rule for the order of the atoms of an improper torsion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordering {
    /// order: first two outer atoms, sorted by element and index; then the center; then the third outer atom
    Default,
    /// order: the center, then the outer atoms in the order of the parameters; if the parameters have wildcards, the
    /// order is that of `Default`
    Charmm,
    /// order: the center is third, and outer atoms of equal type are sorted by their indices in the templates
    Amber,
    /// order: the center is first; one improper has three torsions with cyclic permutations of the outer atoms
    Smirnoff,
}

/// Parameters of an improper torsion. The first pattern is that of the central atom.
#[derive(Clone, Debug)]
pub(super) struct Improper<T> {
    pub(super) patterns: [Pattern; 4],
    pub(super) ordering: Ordering,
    pub(super) parameters: T,
}

/// Parameters of the proper and improper torsions of one functional form.
#[derive(Clone, Debug)]
pub(super) struct Torsions<T> {
    pub(super) propers: Terms<4, T>,
    pub(super) impropers: Vec<Improper<T>>,
}

impl<T> Default for Torsions<T> {
    fn default() -> Self {
        Self { propers: Terms::default(), impropers: vec![] }
    }
}

impl<T> Torsions<T> {
    /// Reads the elements `<Proper>` and `<Improper>` of a force. The closure `parameters` reads the parameters of one
    /// torsion from its element.
    fn read(
        &mut self,
        force: &Node<'_>,
        types: &AtomTypes,
        usual: Ordering,
        parameters: impl Fn(&Node<'_>) -> Parsed<T>,
    ) -> Parsed<()> {
        let ordering = match force.attribute("ordering") {
            None => usual,
            Some("default") => Ordering::Default,
            Some("charmm") => Ordering::Charmm,
            Some("amber") => Ordering::Amber,
            Some("smirnoff") => Ordering::Smirnoff,
            Some(name) => {
                let problem = force.problem(format!("the ordering {name} of impropers is unknown"));
                return Err(problem.help("expected default, charmm, amber or smirnoff"));
            }
        };
        for node in force.children() {
            match node.name() {
                "Proper" => {
                    let found = parameters(&node)?;
                    self.propers.add(&node, types, found)?;
                }
                "Improper" => {
                    let parameters = parameters(&node)?;
                    if let Some(patterns) = types.patterns(&node)? {
                        self.impropers.push(Improper { patterns, ordering, parameters });
                    }
                }
                "PerTorsionParameter" if force.name() == "CustomTorsionForce" => {}
                _ => return Err(unknown(&node, force)),
            }
        }
        Ok(())
    }
}

/// Parameters of all torsions.
#[derive(Clone, Debug, Default)]
pub(super) struct AllTorsions {
    pub(super) periodic: Torsions<Vec<Periodic>>,
    /// coefficients C₀ to C₅ of Ryckaert–Bellemans torsions, kJ/mol
    pub(super) ryckaert_bellemans: Torsions<[f64; 6]>,
    /// θ₀ (rad) and k (kJ/mol/rad²) of harmonic torsions ½ k (θ − θ₀)², one list for each force
    pub(super) harmonic: Vec<Torsions<[f64; 2]>>,
}

impl AllTorsions {
    pub(super) fn read_periodic(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        self.periodic.read(force, types, Ordering::Default, periodic_terms)
    }

    pub(super) fn read_ryckaert_bellemans(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        let coefficients = |node: &Node<'_>| node.reals(["c0", "c1", "c2", "c3", "c4", "c5"]);
        self.ryckaert_bellemans.read(force, types, Ordering::Charmm, coefficients)
    }

    /// Reads a force with an energy expression, which must be one of [`HARMONIC`].
    pub(super) fn read_custom(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        let energy: String = force.text("energy")?.split_whitespace().collect();
        let energy = energy.trim_end_matches(';');
        let energy = energy.rsplit_once(";pi=").map_or(energy, |(formula, _)| formula);
        let Some((_, factor)) = HARMONIC.iter().find(|(known, _)| *known == energy) else {
            let problem = force.problem(format!("the energy `{}` is not supported", energy.escape_default()));
            return Err(problem.help("md supports the harmonic energy k*(theta-theta0)^2"));
        };
        let parameters = force.children().filter(|node| node.name() == "PerTorsionParameter");
        let mut names = parameters.map(|node| node.text("name")).collect::<Parsed<Vec<&str>>>()?;
        names.sort_unstable();
        if names != ["k", "theta0"] {
            return Err(force.problem(format!("the parameters are {}, expected k and theta0", names.join(", "))));
        }
        let mut torsions = Torsions::default();
        torsions.read(force, types, Ordering::Charmm, |node| Ok([node.real("theta0")?, factor * node.real("k")?]))?;
        self.harmonic.push(torsions);
        Ok(())
    }
}

/// Reads the periodic terms of a torsion from the attributes `periodicity1`, `phase1`, `k1`, `periodicity2`, …
fn periodic_terms(node: &Node<'_>) -> Parsed<Vec<Periodic>> {
    let mut terms = vec![];
    for k in 1..=MOST_TERMS {
        let phase = format!("phase{k}");
        if node.attribute(&phase).is_none() {
            break;
        }
        terms.push(Periodic {
            periodicity: node.index(&format!("periodicity{k}"), MOST_PERIODICITY + 1)? as u8,
            phase: node.real(&phase)?,
            force_constant: node.real(&format!("k{k}"))?,
        });
    }
    Ok(terms)
}
