//! Geometric criteria of hydrogen bonds, and a search for the bonds of a frame.
//!
//! A donor is N, O or S with a bonded hydrogen; an acceptor is N, O or S, and F on request. The criterion of Luzar and
//! Chandler (Nature 379, 55 (1996), doi:10.1038/379055a0), which `gmx hbond` uses, limits the distance from donor to
//! acceptor and the angle between hydrogen, donor (vertex) and acceptor. The criterion of Baker and Hubbard (Prog.
//! Biophys. Mol. Biol. 44, 97 (1984), doi:10.1016/0079-6107(84)90007-5) limits the distance from hydrogen to acceptor
//! and the angle at the hydrogen.

use super::check_distance;
use crate::analysis::system::{AnalysedSystem, Group, end_of};
use crate::cell::displacement;
use crate::error::Result;
use crate::neighbours::Neighbours;
use crate::observe::trajectory::StoredFrame;
use crate::system::Topology;
use crate::units::Dimension;
use crate::vec3::Vec3;

/// Atomic numbers of N, O and S.
const POLAR: [u8; 3] = [7, 8, 16];
/// Atomic number of F.
const FLUORINE: u8 = 9;

/// Kind of geometric criterion of hydrogen bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Distance from donor to acceptor, and angle between hydrogen, donor and acceptor, as in gmx hbond
    LuzarChandler,
    /// Distance from hydrogen to acceptor, and angle between donor, hydrogen and acceptor
    BakerHubbard,
}

// Options of a hydrogen bond criterion. The struct has no doc comment, because clap would show a doc comment of
// flattened options as the description of the observable.
#[derive(Debug, clap::Args)]
pub(super) struct CriterionOptions {
    /// Geometric criterion of a hydrogen bond
    #[arg(long, value_enum, default_value_t = Kind::LuzarChandler)]
    pub(super) criterion: Kind,
    /// Largest distance; default: 0.35 nm from donor to acceptor, or for baker-hubbard 0.25 nm from hydrogen to
    /// acceptor
    #[arg(long, value_name = "LENGTH", value_parser = super::length)]
    pub(super) distance: Option<f64>,
    /// Limit of the angle; default: at most 30 deg between hydrogen, donor and acceptor, or for baker-hubbard more
    /// than 120 deg between donor, hydrogen and acceptor
    #[arg(long, value_name = "ANGLE", value_parser = degrees)]
    pub(super) angle: Option<f64>,
    /// Count fluorine as an acceptor
    #[arg(long)]
    pub(super) fluorine: bool,
}

/// Parses an angle between two directions, with its unit. Returns the value in degrees.
fn degrees(text: &str) -> std::result::Result<f64, String> {
    match Dimension::Angle.parse(text).map_err(|problem| problem.to_string())?.to_degrees() {
        angle if (0.0..=180.0).contains(&angle) => Ok(angle),
        angle => Err(format!("{angle} degrees are not between 0 and 180")),
    }
}

impl CriterionOptions {
    /// Returns the criterion with the limits of the options. Limits that the options do not set have default values.
    pub(super) fn criterion(&self) -> Criterion {
        let (distance, angle) = match self.criterion {
            Kind::LuzarChandler => (0.35, 30.0),
            Kind::BakerHubbard => (0.25, 120.0),
        };
        let (distance, angle) = (self.distance.unwrap_or(distance), self.angle.unwrap_or(angle));
        Criterion { kind: self.criterion, distance, angle }
    }
}

/// Geometric criterion of a hydrogen bond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Criterion {
    kind: Kind,
    /// largest distance, nm: from donor to acceptor (Luzar–Chandler), or from hydrogen to acceptor (Baker–Hubbard)
    distance: f64,
    /// limit of the angle, degrees: the largest angle at the donor (Luzar–Chandler), or the smallest angle at the
    /// hydrogen (Baker–Hubbard)
    angle: f64,
}

/// Possible donors and acceptors of hydrogen bonds.
#[derive(Clone, Debug)]
pub(super) struct Sites {
    /// pairs of a donor and one of its hydrogens, as indices of atoms
    pub(super) donors: Vec<[u32; 2]>,
    /// acceptors, as indices of atoms
    pub(super) acceptors: Vec<u32>,
}

/// Returns the pairs of a donor in a group and one of its hydrogens. The hydrogens need not be in the group.
fn donors(topology: &Topology, group: &Group) -> Vec<[u32; 2]> {
    let element = |atom: u32| topology.atoms[atom as usize].element;
    let both = topology.connectivity.iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
    let donates = |&[donor, hydrogen]: &[u32; 2]| {
        element(hydrogen) == 1 && POLAR.contains(&element(donor)) && group.atoms.binary_search(&donor).is_ok()
    };
    let mut found: Vec<[u32; 2]> = both.filter(donates).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the acceptors of a group: N, O and S, and F if `fluorine`.
fn acceptors(topology: &Topology, group: &Group, fluorine: bool) -> Vec<u32> {
    let accepts = |atom: &u32| {
        let element = topology.atoms[*atom as usize].element;
        POLAR.contains(&element) || (fluorine && element == FLUORINE)
    };
    group.atoms.iter().copied().filter(accepts).collect()
}

impl Sites {
    /// Returns the donors of the group `from` and the acceptors of the group `to`, with F if `fluorine`. Fails if the
    /// bonds of a possible donor are unknown.
    pub(super) fn between(system: &AnalysedSystem<'_>, [from, to]: [&Group; 2], fluorine: bool) -> Result<Self> {
        let topology = system.topology();
        let is_polar = |atom: &u32| POLAR.contains(&topology.atoms[*atom as usize].element);
        system.require_molecules(&from.atoms.iter().copied().filter(is_polar).collect::<Vec<u32>>(), "")?;
        Ok(Sites { donors: donors(topology, from), acceptors: acceptors(topology, to, fluorine) })
    }

    /// Returns the smallest N for which the first N atoms of a frame include all donors and acceptors.
    pub(super) fn end(&self) -> usize {
        end_of(self.donors.as_flattened()).max(end_of(&self.acceptors))
    }

    /// Whether no hydrogen bond is possible, because there are no donors or no acceptors.
    pub(super) fn is_empty(&self) -> bool {
        self.donors.is_empty() || self.acceptors.is_empty()
    }
}

impl Criterion {
    /// Whether a donor, its hydrogen and an acceptor form a hydrogen bond by this criterion. `bond` is the displacement
    /// from donor to hydrogen; `to` is the displacement to the acceptor from the donor (Luzar–Chandler) or from the
    /// hydrogen (Baker–Hubbard).
    fn holds(&self, bond: Vec3, to: Vec3) -> bool {
        let angle = |a: Vec3, b: Vec3| a.cross(b).norm().atan2(a.dot(b)).to_degrees();
        match self.kind {
            Kind::LuzarChandler => to.norm() <= self.distance && angle(bond, to) <= self.angle,
            Kind::BakerHubbard => to.norm() < self.distance && angle(-bond, to) > self.angle,
        }
    }

    /// Returns the hydrogen bonds of a frame, each as donor, hydrogen and acceptor, in ascending order.
    pub(super) fn bonds(&self, frame: &StoredFrame, sites: &Sites) -> Result<Vec<[u32; 3]>> {
        check_distance(frame, self.distance, "--distance")?;
        let cell = frame.cell.as_ref();
        let at = |atom: u32| frame.positions[atom as usize];
        let points: Vec<Vec3> = sites.acceptors.iter().map(|&atom| at(atom)).collect();
        let grid = Neighbours::new(cell, &points, self.distance);
        let mut found = vec![];
        for &[donor, hydrogen] in &sites.donors {
            let bond = displacement(cell, at(hydrogen) - at(donor));
            let from = if self.kind == Kind::LuzarChandler { at(donor) } else { at(hydrogen) };
            grid.visit(from, |index, to| {
                let acceptor = sites.acceptors[index as usize];
                if acceptor != donor && self.holds(bond, to) {
                    found.push([donor, hydrogen, acceptor]);
                }
            });
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Returns the settings of the criterion for the result file.
    pub(super) fn settings(&self) -> [(&'static str, String); 3] {
        let kind = match self.kind {
            Kind::LuzarChandler => "luzar-chandler",
            Kind::BakerHubbard => "baker-hubbard",
        };
        let [distance, angle] = [(self.distance, "nm"), (self.angle, "degree")].map(|(v, unit)| format!("{v} {unit}"));
        [("criterion", kind.to_owned()), ("distance", distance), ("angle", angle)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::PeriodicCell;
    use crate::vec3::vec3;

    /// Returns the number of hydrogen bonds between a donor near a face of the cell and an acceptor beyond the face.
    /// The acceptor is at the given distance (nm) and direction (degrees from the x axis) from the donor. The hydrogen
    /// is 0.1 nm from the donor along x.
    fn bonds(kind: Kind, distance: f64, degrees: f64) -> usize {
        let options = CriterionOptions { criterion: kind, distance: None, angle: None, fluorine: false };
        let cell = PeriodicCell::orthorhombic([2.0; 3]);
        let (sin, cos) = degrees.to_radians().sin_cos();
        let donor = vec3(1.95, 0.3, 0.3);
        let positions = [donor, donor + vec3(0.1, 0.0, 0.0), donor + vec3(cos, sin, 0.0) * distance];
        let positions = positions.map(|r| cell.wrap(r).0).to_vec();
        let frame = StoredFrame { cell: Some(cell), positions, ..StoredFrame::default() };
        let sites = Sites { donors: vec![[0, 1]], acceptors: vec![0, 2] };
        options.criterion().bonds(&frame, &sites).unwrap().len()
    }

    #[test]
    fn luzar_and_chandler_limit_distance_and_angle_of_the_donor() {
        for (distance, degrees, expected) in
            [(0.349, 29.9, 1), (0.351, 0.0, 0), (0.3, 30.1, 0), (0.3, -29.9, 1), (0.3, 180.0, 0)]
        {
            assert_eq!(bonds(Kind::LuzarChandler, distance, degrees), expected, "{distance} {degrees}");
        }
    }

    /// The distance from the hydrogen at (0.1, 0) to the acceptor at d (cos α, sin α) is √(0.01 + d² − 0.2 d cos α) in
    /// nm. For d = 0.3 and α = 40° the distance is 0.232 nm, and the angle at the hydrogen (law of cosines) is 123.9°.
    /// For α = 45° the distance is 0.240 nm, and the angle 117.9°.
    #[test]
    fn baker_and_hubbard_limit_distance_and_angle_of_the_hydrogen() {
        for (distance, degrees, expected) in
            [(0.349, 0.0, 1), (0.351, 0.0, 0), (0.3, 40.0, 1), (0.3, -40.0, 1), (0.3, 45.0, 0)]
        {
            assert_eq!(bonds(Kind::BakerHubbard, distance, degrees), expected, "{distance} {degrees}");
        }
    }
}
