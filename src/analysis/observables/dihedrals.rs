//! Dihedral angles of proteins: φ, ψ, ω, χ₁, χ₂.

use super::peptide::{named, preceding};
use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot, TIME, Values};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::{AnalysedSystem, Group};
use crate::cell::displacement;
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::system::Topology;
use crate::term::Dihedral;
use crate::vec3::Vec3;

/// Possible names of the fourth atom of χ₁ (IUPAC-IUB, J. Mol. Biol. 52, 1 (1970), doi:10.1016/0022-2836(70)90173-9).
/// If a side chain has two γ atoms (Val, Ile, Thr), the γ atom of the first branch defines χ₁.
const GAMMA: [&str; 5] = ["CG", "CG1", "OG", "OG1", "SG"];
/// Possible names of the fourth atom of χ₂. In CHARMM, the δ carbon of isoleucine is named CD instead of CD1.
const DELTA: [&str; 5] = ["CD", "CD1", "OD1", "ND1", "SD"];

/// Line of the summary if the selection has dihedral angles χ₁ or χ₂ but none of φ, ψ and ω.
const NO_CHAIN: &str = "note         no selected residue has phi, psi or omega: none is joined to another selected residue \
                        by a bond of C and N (a distance of at most 0.25 nm in the first frame, if bonds are unknown)";

/// Results: phi, psi, omega, chi1 and chi2 (degrees, -180 to 180, time × residue), and the residues (0-based) of each
/// angle; pictures of the Ramachandran plot (phi, psi) and the Janin plot (chi1, chi2)
#[derive(Debug, clap::Args)]
pub(super) struct DihedralsOptions {
    /// Selection of atoms; an angle is measured if its four atoms are selected
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
}

impl Options for DihedralsOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        Ok(Box::new(Dihedrals::new(input.system, input.system.group(&self.select)?)?))
    }
}

/// Observable of the dihedral angles, in degrees. A residue has an angle if the four atoms of the angle are selected.
#[derive(Clone, Debug)]
pub struct Dihedrals {
    group: Group,
    kinds: Vec<Kind>,
    frames: usize,
}

/// Values of one kind of dihedral angle in every residue that has this angle.
#[derive(Clone, Debug)]
struct Kind {
    /// names of two arrays in the result file: the array of angles, and the array of residues (one for each angle)
    names: [&'static str; 2],
    residues: Vec<u32>,
    /// the four atoms of each angle, as indices into the selection
    atoms: Vec<[usize; 4]>,
    /// angles in degrees, for all residues of the first frame, then for all residues of the second frame, and so on
    values: Vec<f32>,
}

/// Lookup of the selected atoms of a protein chain by residue and atom name.
struct Chain<'a> {
    topology: &'a Topology,
    /// index of each atom of the topology in the selection; `None` if the atom is not selected
    places: Vec<Option<usize>>,
    /// residue that precedes each residue in the chain ([`preceding`])
    before: Vec<Option<usize>>,
}

impl<'a> Chain<'a> {
    fn new(system: &AnalysedSystem<'a>, group: &Group) -> Self {
        let topology = system.topology();
        let mut places = vec![None; topology.atoms.len()];
        for (place, &atom) in group.atoms.iter().enumerate() {
            places[atom as usize] = Some(place);
        }
        Chain { topology, places, before: preceding(system) }
    }

    /// Returns the index in the selection of the atom `name` of a residue; `None` if the atom does not exist or is not
    /// selected.
    fn atom(&self, residue: usize, name: &str) -> Option<usize> {
        named(self.topology, residue, name).and_then(|atom| self.places[atom])
    }

    /// Returns the four atoms of each of φ, ψ, ω, χ₁ and χ₂ of a residue; `after` is the next residue of the chain. The
    /// angle ω is assigned to the residue before the peptide bond, as in MDTraj and MDAnalysis.
    fn angles(&self, residue: usize, after: Option<usize>) -> [Option<[usize; 4]>; 5] {
        let own = |name| self.atom(residue, name);
        let first = |names: [&str; 5]| names.iter().find_map(|name| self.atom(residue, name));
        let of = |residue: Option<usize>, name| residue.and_then(|residue| self.atom(residue, name));
        let all = |atoms: [Option<usize>; 4]| match atoms {
            [Some(i), Some(j), Some(k), Some(l)] => Some([i, j, k, l]),
            _ => None,
        };
        [
            all([of(self.before[residue], "C"), own("N"), own("CA"), own("C")]),
            all([own("N"), own("CA"), own("C"), of(after, "N")]),
            all([own("CA"), own("C"), of(after, "N"), of(after, "CA")]),
            all([own("N"), own("CA"), own("CB"), first(GAMMA)]),
            all([own("CA"), own("CB"), first(GAMMA), first(DELTA)]),
        ]
    }
}

impl Dihedrals {
    /// Creates the observable. Fails if the group contains no dihedral angle of a protein.
    pub fn new(system: &AnalysedSystem<'_>, group: Group) -> Result<Self> {
        let chain = Chain::new(system, &group);
        let mut after = vec![None; chain.before.len()];
        for (residue, before) in chain.before.iter().enumerate() {
            if let Some(before) = *before {
                after[before] = Some(residue);
            }
        }
        let names = [
            ["phi", "phi_residue"],
            ["psi", "psi_residue"],
            ["omega", "omega_residue"],
            ["chi1", "chi1_residue"],
            ["chi2", "chi2_residue"],
        ];
        let mut kinds = names.map(|names| Kind { names, residues: vec![], atoms: vec![], values: vec![] }).to_vec();
        for (residue, &after) in after.iter().enumerate() {
            for (kind, atoms) in kinds.iter_mut().zip(chain.angles(residue, after)) {
                if let Some(atoms) = atoms {
                    kind.residues.push(residue as u32);
                    kind.atoms.push(atoms);
                }
            }
        }
        if kinds.iter().all(|kind| kind.atoms.is_empty()) {
            return Err(Problem::new("the selection contains no dihedral angle of a protein")
                .help("select residues of a protein with their atoms N, CA, C (for chi1 and chi2 also the side chain)")
                .into());
        }
        Ok(Dihedrals { group, kinds, frames: 0 })
    }
}

impl Observable for Dihedrals {
    /// angles in degrees of all residues, for each kind of angle
    type Sample = Vec<Vec<f32>>;

    fn memory(&self, frames: usize) -> f64 {
        let angles: usize = self.kinds.iter().map(|kind| kind.atoms.len()).sum();
        size_of::<f32>() as f64 * frames as f64 * angles as f64
    }

    fn atoms_used(&self) -> usize {
        self.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let positions = self.group.positions(frame);
        let angle = |&atoms: &[usize; 4]| {
            let [i, j, k, l]: [Vec3; 4] = atoms.map(|place| positions[place]);
            // minimum-image vectors, because molecules are not whole if their bonds are unknown
            let bonds = [i - j, k - j, l - k].map(|bond| displacement(frame.cell.as_ref(), bond));
            Dihedral::new(bonds).angle().to_degrees() as f32
        };
        Ok(self.kinds.iter().map(|kind| kind.atoms.iter().map(angle).collect()).collect())
    }

    fn add(&mut self, angles: Self::Sample) -> Result<()> {
        self.kinds.iter_mut().zip(angles).for_each(|(kind, angles)| kind.values.extend(angles));
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self, _: &Passed) -> Result<Findings> {
        let plots = vec![
            self.plot("", "Ramachandran plot", [("φ", &self.kinds[0]), ("ψ", &self.kinds[1])]),
            self.plot("janin", "Janin plot", [("χ₁", &self.kinds[3]), ("χ₂", &self.kinds[4])]),
        ];
        let plots = plots.into_iter().flatten().collect();
        let mut findings = Findings { plots, ..Findings::default() };
        findings.settings.push(("select", self.group.text.clone()));
        if self.kinds[..3].iter().all(|kind| kind.atoms.is_empty()) {
            findings.summary.push(NO_CHAIN.to_owned());
        }
        for Kind { names: [name, residue], residues, values, .. } in self.kinds.drain(..) {
            findings.summary.push(format!("{name:<13}{} residues", residues.len()));
            let count = residues.len();
            let values = Values::Single(values);
            findings.arrays.push(Array::new(name, [(TIME, self.frames), (residue, count)], values, "degree"));
            findings.arrays.push(Array::new(residue, [(residue, count)], residues, ""));
        }
        findings.arrays.push(self.group.array());
        Ok(findings)
    }
}

impl Dihedrals {
    /// Returns a scatter plot of two kinds of angles in all residues that have both kinds; `None` if no residue has
    /// both kinds.
    fn plot(&self, suffix: &'static str, title: &str, kinds: [(&str, &Kind); 2]) -> Option<Plot> {
        let [(_, first), (_, second)] = kinds;
        let (mut x, mut y) = (vec![], vec![]);
        for (column, residue) in first.residues.iter().enumerate() {
            let Ok(other) = second.residues.binary_search(residue) else { continue };
            for frame in 0..self.frames {
                x.push(f64::from(first.values[frame * first.residues.len() + column]));
                y.push(f64::from(second.values[frame * second.residues.len() + other]));
            }
        }
        let [across, up] = kinds.map(|(name, _)| Axis::between(format!("{name} / degree"), [-180.0, 180.0]));
        (!x.is_empty()).then(|| Plot {
            suffix,
            title: format!("{title}: {}", self.group.text),
            x: across,
            y: up,
            layers: vec![Layer::Points { label: String::new(), x, y }],
        })
    }
}
