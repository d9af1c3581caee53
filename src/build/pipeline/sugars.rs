//! Sugars of the Protein Data Bank: their names in GLYCAM, and the configuration of their anomeric carbons.

use md_engine::vec3::Vec3;

use crate::entry::EntryResidue;

/// Configuration of the anomeric carbon of a sugar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anomer {
    Alpha,
    Beta,
}

impl Anomer {
    /// Last letter of the names of GLYCAM.
    pub(super) fn letter(self) -> char {
        match self {
            Anomer::Alpha => 'A',
            Anomer::Beta => 'B',
        }
    }
}

/// A sugar with a six-membered ring.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sugar {
    /// names in the Protein Data Bank of the α anomer and of the β anomer; empty if there is no component
    names: [&'static str; 2],
    /// letter of the sugar in the names of GLYCAM: capital letters are D sugars, small letters are L sugars
    pub(super) letter: char,
    kind: Kind,
}

/// Kinds of sugars that differ in their atom names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// hexose, pentose, deoxyhexose or uronic acid, whose atoms have the same names in both
    Plain,
    /// hexose with an acetamido group at C2
    Acetamido,
    /// N-acetylneuraminic acid, whose anomeric carbon is C2
    Sialic,
}

/// Sugars of glycoproteins and polysaccharides. Names of components: wwPDB Chemical Component Dictionary; letters: list
/// of residues of GLYCAM06 (Kirschner et al., J. Comput. Chem. 29, 622 (2008), doi:10.1002/jcc.20820).
const SUGARS: [Sugar; 12] = [
    Sugar { names: ["NDG", "NAG"], letter: 'Y', kind: Kind::Acetamido },
    Sugar { names: ["A2G", "NGA"], letter: 'V', kind: Kind::Acetamido },
    Sugar { names: ["MAN", "BMA"], letter: 'M', kind: Kind::Plain },
    Sugar { names: ["GLC", "BGC"], letter: 'G', kind: Kind::Plain },
    Sugar { names: ["GLA", "GAL"], letter: 'L', kind: Kind::Plain },
    Sugar { names: ["FUC", "FUL"], letter: 'f', kind: Kind::Plain },
    Sugar { names: ["RAM", "RM4"], letter: 'h', kind: Kind::Plain },
    Sugar { names: ["XYS", "XYP"], letter: 'X', kind: Kind::Plain },
    Sugar { names: ["GCU", "BDP"], letter: 'Z', kind: Kind::Plain },
    Sugar { names: ["ADA", "GTR"], letter: 'O', kind: Kind::Plain },
    Sugar { names: ["IDR", ""], letter: 'u', kind: Kind::Plain },
    Sugar { names: ["SIA", "SLB"], letter: 'S', kind: Kind::Sialic },
];

/// Atom names of the acetyl group of acetamido sugars: wwPDB, GLYCAM.
const ACETAMIDO: [(&str, &str); 3] = [("C7", "C2N"), ("O7", "O2N"), ("C8", "CME")];
/// Atom names of the acetyl group of N-acetylneuraminic acid: wwPDB, GLYCAM.
const SIALIC: [(&str, &str); 3] = [("C10", "C5N"), ("O10", "O5N"), ("C11", "CME")];

/// Returns the sugar with this name in the Protein Data Bank, and the anomer for which the name stands.
pub(super) fn named(name: &str) -> Option<(&'static Sugar, Anomer)> {
    let sugar = SUGARS.iter().find(|sugar| !name.is_empty() && sugar.names.contains(&name))?;
    Some((sugar, if sugar.names[0] == name { Anomer::Alpha } else { Anomer::Beta }))
}

impl Sugar {
    /// Atom with the bond to the preceding residue of a glycan.
    pub(super) fn anomeric(&self) -> &'static str {
        if self.kind == Kind::Sialic { "C2" } else { "C1" }
    }

    /// Oxygen of the hydroxyl group at the anomeric carbon, which free sugars have.
    pub(super) fn hydroxyl(&self) -> &'static str {
        if self.kind == Kind::Sialic { "O2" } else { "O1" }
    }

    /// Returns the atom name in GLYCAM for a name in the Protein Data Bank.
    pub(super) fn atom<'a>(&self, name: &'a str) -> &'a str {
        let names: &[(&str, &'static str)] = match self.kind {
            Kind::Plain => &[],
            Kind::Acetamido => &ACETAMIDO,
            Kind::Sialic => &SIALIC,
        };
        names.iter().find(|(other, _)| *other == name).map_or(name, |(_, glycam)| glycam)
    }

    /// Returns the anomer of a sugar by its coordinates; `None` for sugars without C6 at the ring, and if atoms are
    /// missing. `outer` is the position (nm) of the atom to which the anomeric carbon is bonded outside of the ring. In
    /// a β anomer this atom is on the side of the ring on which C6 is (IUPAC-IUBMB, Pure Appl. Chem. 68, 1919 (1996),
    /// 2-Carb-6).
    pub(super) fn anomer(&self, residue: &EntryResidue, outer: Vec3) -> Option<Anomer> {
        if self.kind == Kind::Sialic {
            return None;
        }
        let atom = |name: &str| residue.atoms.iter().find(|atom| atom.name == name).map(|atom| atom.position);
        let side = |center: Vec3, before: Vec3, after: Vec3, outside: Vec3| {
            (before - center).cross(after - center).dot(outside - center)
        };
        let (one, two, four, five) = (atom("C1")?, atom("C2")?, atom("C4")?, atom("C5")?);
        let (six, oxygen) = (atom("C6")?, atom("O5")?);
        let is_same = side(one, oxygen, two, outer) * side(five, four, oxygen, six) > 0.0;
        Some(if is_same { Anomer::Beta } else { Anomer::Alpha })
    }
}
