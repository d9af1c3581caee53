//! Parameters of charges, Lennard-Jones interactions and 1-4 pairs.

use md_engine::format::xml::Node;

use super::Parsed;
use super::atom_types::{AtomTypes, Kind, Pattern};
use super::tables::OfAtoms;
use super::template::PARAMETERS;
use super::unknown;

/// Largest difference between two 1-4 scale factors that count as equal. Files state the same factor with different
/// numbers of digits.
const SCALE_TOLERANCE: f64 = 1e-5;

/// σ (nm) and ε (kJ/mol).
pub(super) type SigmaEpsilon = [f64; 2];

/// Charges, Lennard-Jones parameters and 1-4 scale factors of a `NonbondedForce`.
#[derive(Clone, Debug, Default)]
pub(super) struct Charges {
    /// scale factors of Coulomb and Lennard-Jones interactions of 1-4 pairs; `None` without a `NonbondedForce`
    pub(super) scales14: Option<[f64; 2]>,
    /// charge (e), σ (nm) and ε (kJ/mol) by atom type or class; a value that is `None` comes from the template of the
    /// residue
    pub(super) atoms: OfAtoms<[Option<f64>; 3]>,
}

impl Charges {
    pub(super) fn read(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        let scales = force.reals(["coulomb14scale", "lj14scale"])?;
        let known = *self.scales14.get_or_insert(scales);
        if known.iter().zip(scales).any(|(a, b)| (a - b).abs() > SCALE_TOLERANCE) {
            let [coulomb, lj] = known;
            let message =
                format!("an earlier file scales 1-4 interactions by {coulomb} (Coulomb) and {lj} (Lennard-Jones)");
            let help = "use files of one family of force fields";
            return Err(force.problem(message).help(help));
        }
        let from_residue = force.children().filter(|node| node.name() == "UseAttributeFromResidue");
        let from_residue = from_residue.map(|node| match node.text("name")? {
            name if PARAMETERS.contains(&name) => Ok(name),
            name => Err(node.problem(format!("{name} is not charge, sigma or epsilon"))),
        });
        let from_residue = from_residue.collect::<Parsed<Vec<&str>>>()?;
        for node in force.children() {
            match node.name() {
                "UseAttributeFromResidue" => continue,
                "Atom" => {}
                _ => return Err(unknown(&node, force)),
            }
            let mut values = [None; 3];
            for (value, name) in values.iter_mut().zip(PARAMETERS) {
                match (from_residue.contains(&name), node.attribute(name).is_some()) {
                    (true, false) => {}
                    (false, _) => *value = Some(node.real(name)?),
                    (true, true) => {
                        let problem =
                            node.problem(format!("the attribute {name} contradicts <UseAttributeFromResidue>"));
                        return Err(problem.help("remove the attribute, or remove <UseAttributeFromResidue>"));
                    }
                }
            }
            if let Some(pattern) = types.pattern(&node, "")? {
                self.atoms.insert(pattern, values);
            }
        }
        Ok(())
    }
}

/// Specific Lennard-Jones parameters (NBFIX) that may apply to an atom: index of the pair of types, and position (0 or
/// 1) of the atom's type in the pair.
pub(super) type Memberships = Vec<(usize, usize)>;

/// Lennard-Jones parameters of an atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LjAtom {
    pub(super) usual: SigmaEpsilon,
    /// parameters for 1-4 pairs
    pub(super) of_pairs14: SigmaEpsilon,
}

/// Parameters of a `LennardJonesForce`. Pairs of types may have specific parameters (NBFIX).
#[derive(Clone, Debug, Default)]
pub(super) struct LennardJones {
    /// scale factor of 1-4 interactions; `None` without a `LennardJonesForce`
    pub(super) scale14: Option<f64>,
    pub(super) atoms: OfAtoms<LjAtom>,
    pub(super) pairs: Vec<([Pattern; 2], SigmaEpsilon)>,
}

impl LennardJones {
    pub(super) fn read(&mut self, force: &Node<'_>, types: &AtomTypes) -> Parsed<()> {
        let scale = force.real("lj14scale")?;
        let known = *self.scale14.get_or_insert(scale);
        if (known - scale).abs() > SCALE_TOLERANCE {
            let problem = force.problem(format!("lj14scale is {known} in an earlier file"));
            return Err(problem.help("use files of one family of force fields"));
        }
        for node in force.children() {
            let usual = node.reals(["sigma", "epsilon"]);
            match node.name() {
                "Atom" => {
                    let usual = usual?;
                    let mut of_pairs14 = usual;
                    for (value, name) in of_pairs14.iter_mut().zip(["sigma14", "epsilon14"]) {
                        if node.attribute(name).is_some() {
                            *value = node.real(name)?;
                        }
                    }
                    if let Some(pattern) = types.pattern(&node, "")? {
                        self.atoms.insert(pattern, LjAtom { usual, of_pairs14 });
                    }
                }
                "NBFixPair" => {
                    let found = usual?;
                    if let Some(patterns) = types.patterns(&node)? {
                        self.pairs.push((patterns, found));
                    }
                }
                _ => return Err(unknown(&node, force)),
            }
        }
        Ok(())
    }

    /// Returns the pairs of types with specific parameters that an atom matches, and the position of the atom's type in
    /// each pair.
    pub(super) fn memberships(&self, atom: Kind) -> Memberships {
        let sides = |(index, (patterns, _)): (usize, &([Pattern; 2], SigmaEpsilon))| {
            let found: Memberships =
                (0..2).filter(|&side| patterns[side].matches(atom)).map(|side| (index, side)).collect();
            found
        };
        self.pairs.iter().enumerate().flat_map(sides).collect()
    }

    /// Returns the indices of the specific parameters (NBFIX) that apply to two atoms. The arguments are the
    /// [`Memberships`] of the two atoms.
    pub(super) fn pairs_of(&self, a: &[(usize, usize)], b: &[(usize, usize)]) -> Vec<usize> {
        let mut found: Vec<usize> =
            a.iter().filter(|(index, side)| b.contains(&(*index, 1 - side))).map(|(index, _)| *index).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
