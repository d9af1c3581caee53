//! Secondary structure of proteins by hydrogen bonds of the backbone.
//!
//! Classes are those of DSSP (Kabsch & Sander, Biopolymers 22, 2577 (1983), doi:10.1002/bip.360221211), with the
//! priority of π helices of DSSP 2 and with the polyproline helices of DSSP 4 (Hekkelman, Álvarez Salmoral, Perrakis
//! & Joosten, Protein Science 34, e70208 (2025), doi:10.1002/pro.70208).

mod assign;

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::{AnalysedSystem, Group, end_of};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::system::Topology;
use crate::vec3::Vec3;
use assign::{Backbone, Class, classes};

/// Names of the oxygen of the carbonyl group. Force fields use different names for this oxygen at the C terminus.
const OXYGEN: [&str; 4] = ["O", "OT1", "OC1", "O1"];

/// Results: class (index, time × residue), the names of the classes (class_name), the residues (0-based), the fraction
/// of residues in each class over time, and of frames in each class by residue
#[derive(Debug, clap::Args)]
pub(super) struct DsspOptions {
    /// Selection of atoms; a residue is classified if its atoms N, CA, C and O are selected
    #[arg(long, value_name = "TEXT", default_value = "protein")]
    select: String,
}

impl Options for DsspOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        Ok(Box::new(SecondaryStructure::new(input.system, input.system.group(&self.select)?)?))
    }
}

/// Observable of the secondary structure class of each residue.
#[derive(Clone, Debug)]
struct SecondaryStructure {
    text: String,
    /// residues (0-based) with a complete backbone
    residues: Vec<u32>,
    /// atoms N, CA, C and O of each residue
    atoms: Vec<[u32; 4]>,
    /// whether the N of each residue is in the ring of a proline and therefore has no hydrogen
    prolines: Vec<bool>,
    /// class of each residue of the first frame, then of the second frame, and so on
    classes: Vec<u8>,
    frames: usize,
}

/// Returns whether the N of each residue is in a ring with CD, as in proline.
fn prolines(topology: &Topology) -> Vec<bool> {
    let mut prolines: Vec<bool> = topology.residues.iter().map(|residue| residue.name.as_str() == "PRO").collect();
    for bond in &topology.connectivity {
        let [i, j] = bond.map(|atom| &topology.atoms[atom as usize]);
        if i.residue == j.residue && matches!((i.name.as_str(), j.name.as_str()), ("N", "CD") | ("CD", "N")) {
            prolines[i.residue as usize] = true;
        }
    }
    prolines
}

impl SecondaryStructure {
    /// Creates the observable. Fails if no selected residue has a complete backbone.
    fn new(system: &AnalysedSystem<'_>, group: Group) -> Result<Self> {
        let topology = system.topology();
        let (mut residues, mut atoms) = (vec![], vec![]);
        let of_residue = |place: usize| topology.atoms[group.atoms[place] as usize].residue;
        let mut start = 0;
        while start < group.atoms.len() {
            let residue = of_residue(start);
            let end = (start..group.atoms.len()).find(|&at| of_residue(at) != residue).unwrap_or(group.atoms.len());
            let own = &group.atoms[start..end];
            let find = |name: &str| own.iter().copied().find(|&i| topology.atoms[i as usize].name.as_str() == name);
            let oxygen = OXYGEN.iter().find_map(|name| find(name));
            if let (Some(n), Some(ca), Some(c), Some(o)) = (find("N"), find("CA"), find("C"), oxygen) {
                residues.push(residue);
                atoms.push([n, ca, c, o]);
            }
            start = end;
        }
        if residues.is_empty() {
            return Err(Problem::new("the selection contains no residue with a complete backbone")
                .help("select residues of a protein with their atoms N, CA, C and O")
                .into());
        }
        let all = prolines(topology);
        let prolines = residues.iter().map(|&residue| all[residue as usize]).collect();
        Ok(Self { text: group.text, residues, atoms, prolines, classes: vec![], frames: 0 })
    }

    /// Returns the number of residues of each class in each frame, and the number of frames in which each residue has
    /// each class.
    fn counts(&self) -> (Vec<f64>, Vec<f64>) {
        let kinds = Class::ALL.len();
        let residues = self.residues.len();
        let mut of_frames = vec![0.0; self.frames * kinds];
        let mut of_residues = vec![0.0; residues * kinds];
        for (index, &class) in self.classes.iter().enumerate() {
            of_frames[index / residues * kinds + class as usize] += 1.0;
            of_residues[index % residues * kinds + class as usize] += 1.0;
        }
        (of_frames, of_residues)
    }

    /// Returns the picture of the class of each residue over time, and the picture of the fraction of each class.
    fn plots(&self, times: &[f64], fractions: &[f64]) -> Vec<Plot> {
        let (frames, residues) = (self.frames, self.residues.len());
        let ends = [times.first(), times.last()].map(|time| time.copied().unwrap_or(0.0));
        // the rows of the picture are residues, the first residue at the bottom
        let by_residue = (0..residues * frames).map(|at| self.classes[at % frames * residues + at / frames]).collect();
        let is_row = self.residues.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let (first, label) = match self.residues.first() {
            Some(&first) if is_row => (f64::from(first), "residue (from 0)"),
            _ => (0.0, "selected residue (from 0)"),
        };
        let line = |(index, class): (usize, &Class)| {
            let values: Vec<f64> = fractions.iter().skip(index).step_by(Class::ALL.len()).copied().collect();
            Layer::line(class.name(), times, &values)
        };
        vec![
            Plot {
                suffix: "",
                title: format!("Secondary structure: {}", self.text),
                x: Axis::new("time / ps"),
                y: Axis::new(label).of_whole_numbers(),
                layers: vec![Layer::Classes {
                    names: Class::ALL.map(Class::name).to_vec(),
                    x: ends,
                    y: [first - 0.5, first + residues as f64 - 0.5],
                    columns: frames,
                    values: by_residue,
                }],
            },
            Plot {
                suffix: "fractions",
                title: format!("Fractions of secondary structure: {}", self.text),
                x: Axis::new("time / ps"),
                y: Axis::new("fraction of residues"),
                layers: Class::ALL.iter().enumerate().map(line).collect(),
            },
        ]
    }
}

impl Observable for SecondaryStructure {
    /// class of each residue
    type Sample = Vec<Class>;

    fn memory(&self, frames: usize) -> f64 {
        // for each residue and frame, the class takes 1 byte in `classes`, 1 byte in the picture, and 4 bytes in the
        // array for the result file
        6.0 * frames as f64 * self.residues.len() as f64
    }

    fn atoms_used(&self) -> usize {
        end_of(self.atoms.as_flattened())
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let residue = |(&atoms, &proline): (&[u32; 4], &bool)| {
            let [n, ca, c, o]: [Vec3; 4] = atoms.map(|atom| frame.positions[atom as usize]);
            Backbone { n, ca, c, o, proline }
        };
        let residues: Vec<Backbone> = self.atoms.iter().zip(&self.prolines).map(residue).collect();
        Ok(classes(frame.cell.as_ref(), &residues))
    }

    fn add(&mut self, classes: Self::Sample) -> Result<()> {
        self.classes.extend(classes.into_iter().map(|class| class as u8));
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (frames, residues, kinds) = (self.frames, self.residues.len(), Class::ALL.len());
        let (mut of_frames, mut of_residues) = self.counts();
        of_frames.iter_mut().for_each(|count| *count /= residues as f64);
        of_residues.iter_mut().for_each(|count| *count /= frames.max(1) as f64);
        let mean = |class: Class| of_residues.iter().skip(class as usize).step_by(kinds).sum::<f64>() / residues as f64;
        let helix = mean(Class::Alpha) + mean(Class::ThreeTen) + mean(Class::Pi);
        let strand = mean(Class::Bridge) + mean(Class::Strand);
        let lines = Class::ALL.iter().map(|&class| format!("{:<13}{:.4}", class.name(), mean(class))).collect();
        let letters = Class::ALL.map(|class| class.letter().to_string()).to_vec();
        Ok(Findings {
            numbers: vec![
                Number { name: "helix", value: helix, error: None, unit: "" },
                Number { name: "strand", value: strand, error: None, unit: "" },
            ],
            summary: lines,
            warnings: vec![],
            plots: self.plots(&passed.times, &of_frames),
            settings: vec![("select", self.text.clone())],
            arrays: vec![
                Array::new(
                    "class",
                    [(TIME, frames), ("residue", residues)],
                    self.classes.iter().map(|&class| u32::from(class)).collect::<Vec<u32>>(),
                    "",
                ),
                Array::new("fraction", [(TIME, frames), ("class_name", kinds)], of_frames, ""),
                Array::new("residue_fraction", [("residue", residues), ("class_name", kinds)], of_residues, ""),
                Array::new("class_name", [("class_name", kinds)], letters, ""),
                Array::new("residue", [("residue", residues)], self.residues.clone(), ""),
            ],
        })
    }
}
