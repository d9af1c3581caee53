//! Dihedral angles of proteins: φ, ψ, ω, χ₁.

use super::ObservableOptions;
use super::output::{Array, Findings, Values};
use super::pass::{Observable, SelectedFrame, Selection, Selector};
use crate::error::{Problem, Result};
use crate::observe::trajectory::FrameSource;
use crate::system::Topology;
use crate::term::Dihedral;
use crate::vec3::Vec3;

/// Possible names of the fourth atom of χ₁ (IUPAC-IUB, J. Mol. Biol. 52, 1 (1970), doi:10.1016/0022-2836(70)90173-9).
/// If the side chain is branched at this atom, the atom of the first branch is taken.
const GAMMA: [&str; 5] = ["CG", "CG1", "OG", "OG1", "SG"];

/// Datasets of the result file: /phi, /psi, /omega and /chi1 (degrees, -180 to 180, frames × residues), /phi_residue,
/// … (0-based residues of the topology), /time, /step, /atoms
#[derive(Debug, clap::Args)]
pub(super) struct Options {}

impl ObservableOptions for Options {
    fn observable(&self, _: &mut dyn FrameSource, _: &Selector<'_>) -> Result<Box<dyn Observable>> {
        Ok(Box::new(Dihedrals::default()))
    }
}

/// Observable of the dihedral angles, in degrees, of all residues in which the four atoms of an angle are selected.
#[derive(Clone, Debug, Default)]
pub struct Dihedrals {
    kinds: Vec<Kind>,
    frames: usize,
}

/// Values of one kind of dihedral angle in every residue that has this angle.
#[derive(Clone, Debug)]
struct Kind {
    /// names of two arrays in the result file: the array of angles, and the array of the residues of these angles
    names: [&'static str; 2],
    residues: Vec<u32>,
    /// the four atoms of each angle, as indices into the selection
    atoms: Vec<[usize; 4]>,
    /// angles in degrees, for all residues of the first frame, then for all residues of the second frame, and so on
    values: Vec<f32>,
}

/// Atoms of the residues of a chain, found by name.
struct Chain<'a> {
    topology: &'a Topology,
    /// index of each atom of the topology in the selection; `None` if the atom is not selected
    places: Vec<Option<usize>>,
    /// residue that precedes each residue: the C of the preceding residue is bonded to the N of the residue
    before: Vec<Option<usize>>,
}

impl<'a> Chain<'a> {
    fn new(selection: &Selection<'a>) -> Self {
        let topology = selection.topology;
        let mut places = vec![None; topology.atoms.len()];
        for (place, &atom) in selection.atoms.iter().enumerate() {
            places[atom as usize] = Some(place);
        }
        let mut before = vec![None; topology.residues.len()];
        for &[i, j] in &topology.connectivity {
            for (carbon, nitrogen) in [(i, j), (j, i)] {
                let [carbon, nitrogen] = [carbon, nitrogen].map(|atom| &topology.atoms[atom as usize]);
                let is_peptide = carbon.name.as_str() == "C" && nitrogen.name.as_str() == "N";
                if is_peptide && carbon.residue != nitrogen.residue {
                    before[nitrogen.residue as usize] = Some(carbon.residue as usize);
                }
            }
        }
        Chain { topology, places, before }
    }

    /// Returns the selected atom of this name in a residue.
    fn atom(&self, residue: usize, name: &str) -> Option<usize> {
        let mut atoms = self.topology.residue_atoms(residue);
        atoms.find(|&atom| self.topology.atoms[atom].name.as_str() == name).and_then(|atom| self.places[atom])
    }

    /// Returns the atoms of φ, ψ, ω and χ₁. The angle ω is assigned to the residue before the peptide bond, as in
    /// MDTraj and MDAnalysis.
    fn angles(&self, residue: usize, after: Option<usize>) -> [Option<[usize; 4]>; 4] {
        let own = |name| self.atom(residue, name);
        let of = |residue: Option<usize>, name| residue.and_then(|residue| self.atom(residue, name));
        let all = |atoms: [Option<usize>; 4]| match atoms {
            [Some(i), Some(j), Some(k), Some(l)] => Some([i, j, k, l]),
            _ => None,
        };
        [
            all([of(self.before[residue], "C"), own("N"), own("CA"), own("C")]),
            all([own("N"), own("CA"), own("C"), of(after, "N")]),
            all([own("CA"), own("C"), of(after, "N"), of(after, "CA")]),
            all([own("N"), own("CA"), own("CB"), GAMMA.iter().find_map(|name| self.atom(residue, name))]),
        ]
    }
}

impl Observable for Dihedrals {
    fn memory(&self, frames: usize, atoms: usize) -> f64 {
        // memory for at most four angles per residue, if each residue has only four selected atoms
        size_of::<f32>() as f64 * frames as f64 * atoms as f64
    }

    fn begin(&mut self, selection: &Selection<'_>) -> Result<()> {
        let chain = Chain::new(selection);
        let mut after = vec![None; chain.before.len()];
        for (residue, before) in chain.before.iter().enumerate() {
            if let Some(before) = *before {
                after[before] = Some(residue);
            }
        }
        let names =
            [["phi", "phi_residue"], ["psi", "psi_residue"], ["omega", "omega_residue"], ["chi1", "chi1_residue"]];
        self.kinds = names.map(|names| Kind { names, residues: vec![], atoms: vec![], values: vec![] }).to_vec();
        for (residue, &after) in after.iter().enumerate() {
            for (kind, atoms) in self.kinds.iter_mut().zip(chain.angles(residue, after)) {
                if let Some(atoms) = atoms {
                    kind.residues.push(residue as u32);
                    kind.atoms.push(atoms);
                }
            }
        }
        if self.kinds.iter().all(|kind| kind.atoms.is_empty()) {
            return Err(Problem::new("the selection contains no dihedral angle of a protein")
                .help("select residues of a protein with their atoms N, CA, C (for chi1 also CB and the gamma atom)")
                .into());
        }
        Ok(())
    }

    fn frame(&mut self, frame: &SelectedFrame<'_>) -> Result<()> {
        for kind in &mut self.kinds {
            let angle = |&atoms: &[usize; 4]| {
                let [i, j, k, l]: [Vec3; 4] = atoms.map(|place| frame.positions[place]);
                Dihedral::new([i - j, k - j, l - k]).angle().to_degrees() as f32
            };
            kind.values.extend(kind.atoms.iter().map(angle));
        }
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<Findings> {
        let mut findings = Findings::default();
        for Kind { names: [name, residue], residues, values, .. } in self.kinds.drain(..) {
            findings.summary.push(format!("{name:<13}{} residues", residues.len()));
            let shape = vec![self.frames, residues.len()];
            findings.arrays.push(Array { name, shape, values: Values::Single(values), unit: "degree" });
            let shape = vec![residues.len()];
            findings.arrays.push(Array { name: residue, shape, values: Values::Whole(residues), unit: "" });
        }
        Ok(findings)
    }
}
