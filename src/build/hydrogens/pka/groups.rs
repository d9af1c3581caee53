//! Ionisable groups, and polar groups of side chains that form hydrogen bonds to them.

use md_engine::vec3::{Vec3, vec3};

use super::super::center::{Center, Place};
use crate::structure::Structure;

/// An ionisable group of a protein.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ionizable {
    /// side chain of aspartate
    Asp,
    /// side chain of glutamate
    Glu,
    /// side chain of histidine
    His,
    /// thiol of a cysteine without disulfide bond
    Cys,
    /// phenol of tyrosine
    Tyr,
    /// ammonium of lysine
    Lys,
    /// guanidinium of arginine
    Arg,
    /// carboxyl group at the end of a chain
    CTerminus,
    /// amine at the beginning of a chain
    NTerminus,
    /// phosphodiester of a nucleic acid, whose charge shifts the pKa of other groups
    Phosphate,
}

impl Ionizable {
    /// Returns the pKa in water (Olsson et al. 2011, doi:10.1021/ct100578z). The value for phosphates is that of PROPKA
    /// 3.5.
    pub fn in_water(self) -> f64 {
        match self {
            Ionizable::Asp => 3.80,
            Ionizable::Glu => 4.50,
            Ionizable::His => 6.50,
            Ionizable::Cys => 9.00,
            Ionizable::Tyr => 10.00,
            Ionizable::Lys => 10.50,
            Ionizable::Arg => 12.50,
            Ionizable::CTerminus => 3.20,
            Ionizable::NTerminus => 8.00,
            Ionizable::Phosphate => 1.00,
        }
    }

    /// Name of the residue or of the chain end to which the group belongs.
    pub fn name(self) -> &'static str {
        match self {
            Ionizable::Asp => "ASP",
            Ionizable::Glu => "GLU",
            Ionizable::His => "HIS",
            Ionizable::Cys => "CYS",
            Ionizable::Tyr => "TYR",
            Ionizable::Lys => "LYS",
            Ionizable::Arg => "ARG",
            Ionizable::CTerminus => "C-terminus",
            Ionizable::NTerminus => "N-terminus",
            Ionizable::Phosphate => "phosphate",
        }
    }
}

/// Kind of a group, which determines the parameters of its interactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// carboxyl group of a side chain or of the end of a chain
    Carboxyl,
    /// imidazole of histidine
    Imidazole,
    /// thiol of cysteine
    Thiol,
    /// phenol of tyrosine
    Phenol,
    /// ammonium of lysine
    Ammonium,
    /// guanidinium of arginine
    Guanidinium,
    /// amine at the beginning of a chain
    Amine,
    /// phosphodiester of a nucleic acid
    Phosphate,
    /// amide of asparagine and glutamine
    Amide,
    /// indole of tryptophan
    Indole,
    /// hydroxyl of serine and threonine
    Hydroxyl,
}

impl Kind {
    /// Charge of the ionised group, e; 0 for groups that are not ionisable.
    pub(super) fn charge(self) -> f64 {
        match self {
            Kind::Carboxyl | Kind::Thiol | Kind::Phenol | Kind::Phosphate => -1.0,
            Kind::Imidazole | Kind::Ammonium | Kind::Guanidinium | Kind::Amine => 1.0,
            Kind::Amide | Kind::Indole | Kind::Hydroxyl => 0.0,
        }
    }

    /// Whether hydrogen bonds of the group depend on the angle at the hydrogen. The angle matters for groups whose
    /// hydrogens have fixed positions.
    pub(super) fn has_angle(self) -> bool {
        matches!(self, Kind::Imidazole | Kind::Guanidinium | Kind::Amide | Kind::Indole)
    }
}

/// An atom that takes part in hydrogen bonds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contact {
    /// position, nm
    pub(super) position: Vec3,
    /// position (nm) of the parent atom of a hydrogen; `None` for heavy atoms
    pub(super) parent: Option<Vec3>,
}

/// A group of a side chain or of a chain end.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) kind: Kind,
    /// ionisable group, which determines the pKa in water; `None` for a group that only forms hydrogen bonds
    pub(super) ionizable: Option<Ionizable>,
    pub(super) residue: usize,
    /// atom from which the bonds to other groups are counted
    pub(super) atom: usize,
    /// center of the charge, nm
    pub(super) center: Vec3,
    /// atoms that form hydrogen bonds to bases
    pub(super) to_bases: Vec<Contact>,
    /// atoms that form hydrogen bonds to other groups
    pub(super) to_others: Vec<Contact>,
}

impl Group {
    /// Returns the atoms that form hydrogen bonds to a group of the kind `to`.
    pub(super) fn contacts(&self, to: Kind) -> &[Contact] {
        if to.charge() > 0.0 { &self.to_bases } else { &self.to_others }
    }
}

/// A structure whose ionisable and polar groups are searched.
struct Search<'a> {
    structure: &'a Structure,
    positions: &'a [Vec3],
    bonded: &'a [Vec<u32>],
}

/// Finds all groups, in the order of the residues. A terminal amine is listed before the side chain of its residue, and
/// a terminal carboxyl group after the side chain.
pub(super) fn find(structure: &Structure, positions: &[Vec3], bonded: &[Vec<u32>]) -> Vec<Group> {
    let search = Search { structure, positions, bonded };
    let residues = 0..structure.residues.len();
    let of_residue = |residue| {
        [search.amine(residue), search.side_chain(residue), search.carboxyl(residue), search.phosphate(residue)]
    };
    residues.flat_map(of_residue).flatten().collect()
}

impl Search<'_> {
    /// Returns the amine at the beginning of a chain.
    fn amine(&self, residue: usize) -> Option<Group> {
        let [nitrogen, ..] = self.backbone(residue)?;
        let is_inside = |&to: &u32| !self.structure.residue_atoms(residue).contains(&(to as usize));
        if self.bonded[nitrogen].iter().any(is_inside) {
            return None;
        }
        Some(self.group(Kind::Amine, Ionizable::NTerminus, residue, nitrogen, &[nitrogen]))
    }

    /// Returns the carboxyl group at the end of a chain.
    fn carboxyl(&self, residue: usize) -> Option<Group> {
        let [_, _, carbon] = self.backbone(residue)?;
        let end = self.structure.atom_named(residue, "OXT")?;
        let oxygens = self.neighbours(carbon, 8);
        (oxygens.len() == 2).then(|| self.group(Kind::Carboxyl, Ionizable::CTerminus, residue, end, &oxygens))
    }

    /// Returns the atoms N, CA and C of an amino acid.
    fn backbone(&self, residue: usize) -> Option<[usize; 3]> {
        let named = |name| self.structure.atom_named(residue, name);
        Some([named("N")?, named("CA")?, named("C")?])
    }

    /// Returns the phosphate of a nucleotide.
    fn phosphate(&self, residue: usize) -> Option<Group> {
        let [phosphorus, first, second, _] = self.named(residue, ["P", "OP1", "OP2", "O5'"])?;
        Some(self.group(Kind::Phosphate, Ionizable::Phosphate, residue, phosphorus, &[first, second]))
    }

    fn side_chain(&self, residue: usize) -> Option<Group> {
        self.backbone(residue)?;
        let named = |name: &str| self.structure.atom_named(residue, name);
        let group = |kind, ionizable, atom: usize| self.group(kind, ionizable, residue, atom, &[atom]);
        match self.structure.residues[residue].name.as_str() {
            "ASP" => self.side_carboxyl(Ionizable::Asp, residue, ["CG", "OD1", "OD2"]),
            "GLU" => self.side_carboxyl(Ionizable::Glu, residue, ["CD", "OE1", "OE2"]),
            "HIS" => self.imidazole(residue),
            "CYS" => {
                let sulfur = named("SG")?;
                let is_bridged = !self.neighbours(sulfur, 16).is_empty();
                (!is_bridged).then(|| group(Kind::Thiol, Ionizable::Cys, sulfur))
            }
            "TYR" => Some(group(Kind::Phenol, Ionizable::Tyr, named("OH")?)),
            "LYS" => Some(group(Kind::Ammonium, Ionizable::Lys, named("NZ")?)),
            "ARG" => self.guanidinium(residue),
            "ASN" => self.amide(residue, ["CG", "OD1", "ND2"]),
            "GLN" => self.amide(residue, ["CD", "OE1", "NE2"]),
            "TRP" => {
                let nitrogen = named("NE1")?;
                let heavy = self.heavy(nitrogen);
                let to_others = [self.hydrogens(nitrogen, 1), vec![heavy]].concat();
                Some(self.polar(Kind::Indole, residue, nitrogen, heavy.position, [vec![heavy], to_others]))
            }
            "SER" => self.hydroxyl(residue, "OG"),
            "THR" => self.hydroxyl(residue, "OG1"),
            _ => None,
        }
    }

    /// Makes an ionisable group, whose center is the mean position of `atoms`. The hydrogen bonds of the group are
    /// formed by `atoms`.
    fn group(&self, kind: Kind, ionizable: Ionizable, residue: usize, atom: usize, atoms: &[usize]) -> Group {
        let contacts: Vec<Contact> = atoms.iter().map(|&atom| self.heavy(atom)).collect();
        let polar = self.polar(kind, residue, atom, self.mean(atoms), [contacts.clone(), contacts]);
        Group { ionizable: Some(ionizable), ..polar }
    }

    /// Makes a polar group that is not ionisable.
    fn polar(&self, kind: Kind, residue: usize, atom: usize, center: Vec3, contacts: [Vec<Contact>; 2]) -> Group {
        let [to_bases, to_others] = contacts;
        Group { kind, ionizable: None, residue, atom, center, to_bases, to_others }
    }

    fn side_carboxyl(&self, ionizable: Ionizable, residue: usize, names: [&str; 3]) -> Option<Group> {
        let [carbon, first, second] = self.named(residue, names)?;
        Some(self.group(Kind::Carboxyl, ionizable, residue, carbon, &[first, second]))
    }

    fn imidazole(&self, residue: usize) -> Option<Group> {
        let ring = self.named(residue, ["CG", "ND1", "CD2", "CE1", "NE2"])?;
        let nitrogens = [ring[1], ring[4]];
        let heavy: Vec<Contact> = nitrogens.iter().map(|&atom| self.heavy(atom)).collect();
        let hydrogens = nitrogens.iter().flat_map(|&atom| self.hydrogens(atom, 1));
        let to_others = hydrogens.chain(heavy.iter().copied()).collect();
        let polar = self.polar(Kind::Imidazole, residue, ring[0], self.mean(&ring), [heavy, to_others]);
        Some(Group { ionizable: Some(Ionizable::His), ..polar })
    }

    fn guanidinium(&self, residue: usize) -> Option<Group> {
        let [carbon, nitrogens @ ..] = self.named(residue, ["CZ", "NE", "NH1", "NH2"])?;
        let heavy: Vec<Contact> = nitrogens.iter().map(|&atom| self.heavy(atom)).collect();
        let hydrogens = nitrogens.iter().zip([1, 2, 2]).flat_map(|(&atom, count)| self.hydrogens(atom, count));
        let to_others = hydrogens.chain(heavy.iter().copied()).collect();
        let polar = self.polar(Kind::Guanidinium, residue, carbon, self.positions[carbon], [heavy, to_others]);
        Some(Group { ionizable: Some(Ionizable::Arg), ..polar })
    }

    fn amide(&self, residue: usize, names: [&str; 3]) -> Option<Group> {
        let [carbon, oxygen, nitrogen] = self.named(residue, names)?;
        let to_others = [self.hydrogens(nitrogen, 2), vec![self.heavy(nitrogen)]].concat();
        let contacts = [vec![self.heavy(oxygen)], to_others];
        Some(self.polar(Kind::Amide, residue, carbon, self.mean(&[oxygen, nitrogen]), contacts))
    }

    fn hydroxyl(&self, residue: usize, name: &str) -> Option<Group> {
        let oxygen = self.structure.atom_named(residue, name)?;
        let heavy = self.heavy(oxygen);
        Some(self.polar(Kind::Hydroxyl, residue, oxygen, heavy.position, [vec![heavy], vec![heavy]]))
    }

    /// Returns the atoms of a residue with these names; `None` if one is missing.
    fn named<const N: usize>(&self, residue: usize, names: [&str; N]) -> Option<[usize; N]> {
        let found = names.map(|name| self.structure.atom_named(residue, name));
        found.iter().all(Option::is_some).then(|| found.map(|atom| atom.unwrap_or_default()))
    }

    /// Returns those neighbours of an atom whose atomic number is `element`.
    fn neighbours(&self, atom: usize, element: u8) -> Vec<usize> {
        let is_element = |&to: &usize| self.structure.atoms[to].element == element;
        self.bonded[atom].iter().map(|&to| to as usize).filter(is_element).collect()
    }

    fn mean(&self, atoms: &[usize]) -> Vec3 {
        atoms.iter().fold(vec3(0.0, 0.0, 0.0), |sum, &atom| sum + self.positions[atom]) * (1.0 / atoms.len() as f64)
    }

    fn heavy(&self, atom: usize) -> Contact {
        Contact { position: self.positions[atom], parent: None }
    }

    fn hydrogens(&self, nitrogen: usize, count: usize) -> Vec<Contact> {
        hydrogens(self.positions, self.bonded, nitrogen, count)
    }
}

/// Returns the computed positions (nm) of `count` hydrogens of a planar nitrogen.
pub(super) fn hydrogens(positions: &[Vec3], bonded: &[Vec<u32>], nitrogen: usize, count: usize) -> Vec<Contact> {
    let only = if let [only] = bonded[nitrogen].as_slice() { Some(*only as usize) } else { None };
    let beyond = only.and_then(|only| bonded[only].iter().find(|&&to| to as usize != nitrogen));
    let center = Center {
        position: positions[nitrogen],
        element: 7,
        is_planar: true,
        neighbours: bonded[nitrogen].iter().map(|&to| positions[to as usize]).collect(),
        beyond: beyond.map(|&to| positions[to as usize]),
        neighbour_is_planar: true,
    };
    let places = match center.place(count) {
        Place::Fixed(places) => places,
        Place::Turning(turn) => turn.positions(turn.torsions[0]),
        Place::Water { .. } => vec![],
    };
    places.into_iter().map(|position| Contact { position, parent: Some(center.position) }).collect()
}
