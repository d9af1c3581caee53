//! Bilayers in the xy plane: area per lipid, thickness, and order of the chains.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::{Input, Options, cell_of};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Plot, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::{Summary, plus_minus};
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::system::BondGraph;

/// Results: area_per_lipid (area of the cell divided by the mean number of lipids in a leaflet, nm²; a protein in the
/// membrane makes it larger) and thickness (nm) over time; order parameter s_cd and its standard error s_cd_error by
/// chain and carbon
///
/// The bilayer is parallel to the xy plane. A lipid belongs to the leaflet to which its head points; the thickness is
/// the distance between the mean heights of the heads of both leaflets
#[derive(Debug, clap::Args)]
pub(super) struct MembraneOptions {
    /// Selection of the lipids
    #[arg(long, value_name = "TEXT", default_value = "lipid")]
    select: String,
    /// Selection of the atoms of the heads, at least one in each lipid that is counted
    #[arg(long, value_name = "TEXT", default_value = "lipid and element P")]
    heads: String,
}

const HYDROGEN: u8 = 1;
const CARBON: u8 = 6;
/// Index of the carbon by which a chain is bonded to the head, such as the carbonyl carbon of an ester. The carbons of
/// the chain after this carbon have the indices 2, 3, and so on.
const FIRST: usize = 1;

impl Options for MembraneOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let lipids = input.system.group(&self.select)?;
        let heads = input.system.group(&self.heads)?;
        Ok(Box::new(Membrane::new(input.system, &lipids, &heads)?))
    }
}

/// Observable of a bilayer.
///
/// The order parameter of a carbon atom is S_CD = ⟨3 cos² θ − 1⟩/2, where θ is the angle between a bond from the carbon
/// to a hydrogen and the normal of the bilayer (Seelig & Seelig, Biochemistry 13, 4839 (1974),
/// doi:10.1021/bi00720a024).
struct Membrane {
    /// names of the selections: lipids, heads
    texts: [String; 2],
    lipids: Vec<Lipid>,
    chains: Vec<Chain>,
    /// area per lipid (nm²) and thickness (nm) of each frame
    areas: Vec<f64>,
    thicknesses: Vec<f64>,
    /// S_CD of each carbon of each chain in each frame
    order: Vec<f32>,
}

/// Atoms of a lipid: all selected atoms, and the atoms of the head.
struct Lipid {
    atoms: Vec<u32>,
    heads: Vec<u32>,
}

/// Carbon atoms of one chain in all lipids of one kind.
struct Chain {
    /// name of the chain: the residue, and the atom by which the chain is bonded to the head
    name: String,
    /// names of the residues of the lipid
    kind: String,
    /// C–H bonds of each carbon of the chain, by the number of the carbon; the carbons are numbered from 2
    bonds: BTreeMap<usize, Vec<[u32; 2]>>,
}

/// Measurement of one frame.
struct Sample {
    area: f64,
    thickness: f64,
    order: Vec<f32>,
}

impl Membrane {
    /// Creates the observable. Fails if no selected molecule has an atom of a head.
    fn new(system: &AnalysedSystem<'_>, lipids: &Group, heads: &Group) -> Result<Self> {
        let molecules = system.molecules();
        let mut of_molecule: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for &head in heads.atoms.iter().filter(|head| lipids.atoms.binary_search(head).is_ok()) {
            of_molecule.entry(molecules.of_atom(head as usize)).or_default().push(head);
        }
        let lipid = |(molecule, heads)| Lipid { atoms: molecules.atoms(molecule).to_vec(), heads };
        let found: Vec<Lipid> = of_molecule.into_iter().map(lipid).collect();
        if found.is_empty() || found.iter().any(|lipid| lipid.atoms.len() == 1) {
            let problem = Problem::new("no molecule of the selected lipids has an atom of the selected heads");
            let help = "choose other atoms by --select and --heads, and give a topology with bonds";
            return Err(problem.help(help).into());
        }
        Ok(Membrane {
            texts: [lipids.text.clone(), heads.text.clone()],
            lipids: found,
            chains: chains(system, &lipids.atoms),
            areas: vec![],
            thicknesses: vec![],
            order: vec![],
        })
    }

    /// Returns the number of lipids in the upper and in the lower leaflet, and the distance (nm) between the mean
    /// heights of the heads of both leaflets. `height` is the period of the cell along z, nm.
    fn leaflets(&self, frame: &StoredFrame, height: f64) -> ([f64; 2], f64) {
        let z = |atoms: &[u32]| {
            atoms.iter().map(|&atom| frame.positions[atom as usize].z).sum::<f64>() / atoms.len() as f64
        };
        // the circular mean of the heights of the lipids is the middle of the bilayer, also if the bilayer crosses a
        // face of the cell
        let centers: Vec<f64> = self.lipids.iter().map(|lipid| z(&lipid.atoms)).collect();
        let angles = centers.iter().map(|center| TAU * center / height);
        let [sine, cosine] = angles.fold([0.0, 0.0], |[s, c], angle| [s + angle.sin(), c + angle.cos()]);
        let middle = sine.atan2(cosine) / TAU * height;
        let (mut counts, mut sums) = ([0.0; 2], [0.0; 2]);
        for (lipid, center) in self.lipids.iter().zip(centers) {
            let head = z(&lipid.heads);
            let above_middle = center - middle - ((center - middle) / height).round() * height + (head - center);
            let leaflet = usize::from(head < center);
            counts[leaflet] += 1.0;
            sums[leaflet] += above_middle;
        }
        (counts, sums[0] / counts[0] - sums[1] / counts[1])
    }

    /// Returns the number of carbons of all chains.
    fn carbons(&self) -> usize {
        self.chains.iter().map(|chain| chain.bonds.len()).sum()
    }
}

/// Finds the chains of the selected atoms. The carbons of a chain have at least one hydrogen each and are bonded to
/// carbon and hydrogen only. A chain starts at a carbon that is bonded to another element.
///
/// Lipids of which head and tails are separate residues may have equal heads and different tails. Lipids with different
/// sequences of residue names therefore have chains of their own, whose names end with this sequence if necessary.
fn chains(system: &AnalysedSystem<'_>, selected: &[u32]) -> Vec<Chain> {
    let (topology, molecules) = (system.topology(), system.molecules());
    let kind_of = |atom: u32| {
        let atoms = molecules.atoms(molecules.of_atom(atom as usize));
        let mut residues: Vec<u32> = atoms.iter().map(|&atom| topology.atoms[atom as usize].residue).collect();
        residues.dedup();
        let names: Vec<String> =
            residues.iter().map(|&residue| topology.residues[residue as usize].name.to_string()).collect();
        names.join("-")
    };
    let graph = BondGraph::new(topology.atoms.len(), &topology.connectivity);
    let element = |atom: u32| topology.atoms[atom as usize].element;
    let is_hydrocarbon = |atom: u32| {
        let neighbours = graph.of(atom);
        element(atom) == CARBON
            && neighbours.iter().all(|&other| matches!(element(other), CARBON | HYDROGEN))
            && neighbours.iter().any(|&other| element(other) == HYDROGEN)
    };
    let mut chains: Vec<Chain> = vec![];
    let mut seen = vec![false; topology.atoms.len()];
    for &head in selected.iter().filter(|&&atom| element(atom) == CARBON && !is_hydrocarbon(atom)) {
        let mut shell: Vec<u32> = graph.of(head).iter().copied().filter(|&atom| is_hydrocarbon(atom)).collect();
        if shell.is_empty() {
            continue;
        }
        let atom = &topology.atoms[head as usize];
        let name = format!("{} {}", topology.residues[atom.residue as usize].name, atom.name);
        let kind = kind_of(head);
        let is_same = |chain: &Chain| chain.name == name && chain.kind == kind;
        let place = chains.iter().position(is_same).unwrap_or_else(|| {
            chains.push(Chain { name, kind, bonds: BTreeMap::new() });
            chains.len() - 1
        });
        for number in FIRST + 1.. {
            shell.retain(|&carbon| !std::mem::replace(&mut seen[carbon as usize], true));
            if shell.is_empty() {
                break;
            }
            let neighbours = |&carbon: &u32| graph.of(carbon).iter().map(move |&other| [carbon, other]);
            let (hydrogens, others): (Vec<[u32; 2]>, Vec<[u32; 2]>) =
                shell.iter().flat_map(neighbours).partition(|bond| element(bond[1]) == HYDROGEN);
            chains[place].bonds.entry(number).or_default().extend(hydrogens);
            shell = others.into_iter().map(|bond| bond[1]).filter(|&atom| is_hydrocarbon(atom)).collect();
        }
    }
    let names: Vec<String> = chains.iter().map(|chain| chain.name.clone()).collect();
    for chain in &mut chains {
        if names.iter().filter(|name| **name == chain.name).count() > 1 {
            chain.name = format!("{} of {}", chain.name, chain.kind);
        }
    }
    chains
}

impl Observable for Membrane {
    type Sample = Sample;

    fn memory(&self, frames: usize) -> f64 {
        (size_of::<f32>() * self.carbons()) as f64 * frames as f64
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let cell = cell_of(frame, "the area per lipid needs a periodic cell")?;
        let height = cell.rows()[2].z;
        let (counts, thickness) = self.leaflets(frame, height);
        if counts.contains(&0.0) {
            let problem = Problem::new(format!("in the frame at {} ps, all heads point to the same side", frame.time));
            return Err(problem.help("a bilayer has two leaflets; choose other atoms by --select and --heads").into());
        }
        let order = |bonds: &Vec<[u32; 2]>| {
            let cosine_squared = |&[carbon, hydrogen]: &[u32; 2]| {
                let bond = frame.positions[hydrogen as usize] - frame.positions[carbon as usize];
                bond.z * bond.z / bond.norm_squared()
            };
            (1.5 * bonds.iter().map(cosine_squared).sum::<f64>() / bonds.len() as f64 - 0.5) as f32
        };
        Ok(Sample {
            area: cell.volume() / height / (0.5 * (counts[0] + counts[1])),
            thickness,
            order: self.chains.iter().flat_map(|chain| chain.bonds.values()).map(order).collect(),
        })
    }

    fn add(&mut self, sample: Self::Sample) -> Result<()> {
        self.areas.push(sample.area);
        self.thicknesses.push(sample.thickness);
        self.order.extend(sample.order);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (frames, columns) = (self.areas.len(), self.carbons());
        let [area, thickness] = [&self.areas, &self.thicknesses].map(|values| Summary::of(values));
        let over_time = |suffix, title: &str, label: &str, values: &[f64], summary: &Summary| Plot {
            suffix,
            title: title.to_owned(),
            x: Axis::new("time / ps"),
            y: Axis::new(label),
            layers: summary.layers(&passed.times, values),
        };
        let mut plots = vec![
            over_time("", "Area per lipid", "area / nm²", &self.areas, &area),
            over_time("thickness", "Thickness of the bilayer", "thickness / nm", &self.thicknesses, &thickness),
        ];
        let last = self.chains.iter().filter_map(|chain| chain.bonds.keys().last()).max().map_or(FIRST, |&last| last);
        let length = last - FIRST;
        let mut order = vec![f64::NAN; self.chains.len() * length];
        let (mut errors, mut layers, mut column) = (order.clone(), vec![], 0);
        for (row, chain) in self.chains.iter().enumerate() {
            let (mut x, mut y, mut error) = (vec![], vec![], vec![]);
            for &number in chain.bonds.keys() {
                let values = (0..frames).map(|frame| f64::from(self.order[frame * columns + column]));
                let of_carbon = Summary::of(&values.collect::<Vec<f64>>());
                let place = row * length + number - FIRST - 1;
                (order[place], errors[place]) = (of_carbon.mean, of_carbon.error.unwrap_or(f64::NAN));
                x.push(number as f64);
                y.push(-of_carbon.mean);
                error.push(of_carbon.error.unwrap_or(f64::NAN));
                column += 1;
            }
            layers.push(Layer::Line { label: chain.name.clone(), x, y, error });
        }
        if !layers.is_empty() {
            plots.push(Plot {
                suffix: "order",
                title: "Order of the chains".to_owned(),
                x: Axis::new("number of the carbon atom").of_whole_numbers(),
                y: Axis::new("order parameter −Sᴄᴅ"),
                layers,
            });
        }
        let mut summary = vec![format!("lipids       {}", self.lipids.len())];
        for (name, summary_of, unit) in [("area", &area, "nm²"), ("thickness", &thickness, "nm")] {
            let error = plus_minus(summary_of.error, 5);
            summary.push(format!("{name:<13}{:.5}{error} {unit}", summary_of.mean));
        }
        let chains = self.chains.len();
        let names: Vec<String> = self.chains.iter().map(|chain| chain.name.clone()).collect();
        let numbers: Vec<u32> = (FIRST + 1..=last).map(|number| number as u32).collect();
        let [lipids, heads] = self.texts.clone();
        Ok(Findings {
            numbers: vec![area.number("area_per_lipid", "nm^2"), thickness.number("thickness", "nm")],
            settings: vec![("select", lipids), ("heads", heads)],
            summary,
            warnings: vec![],
            plots,
            arrays: vec![
                Array::new("area_per_lipid", [(TIME, frames)], std::mem::take(&mut self.areas), "nm+2"),
                Array::new("thickness", [(TIME, frames)], std::mem::take(&mut self.thicknesses), "nm"),
                Array::new("s_cd", [("chain", chains), ("carbon", length)], order, ""),
                Array::new("s_cd_error", [("chain", chains), ("carbon", length)], errors, ""),
                Array::new("chain", [("chain", chains)], names, ""),
                Array::new("carbon", [("carbon", length)], numbers, ""),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::Values;
    use crate::analysis::system::Images;
    use crate::cell::PeriodicCell;
    use crate::system::{Atom, Name, Residue, Topology};
    use crate::vec3::{Vec3, vec3};

    /// Elements and bonds of a lipid: a phosphorus, a carbonyl group, and a chain of two carbons with their hydrogens.
    const ELEMENTS: [u8; 8] = [15, 6, 8, 6, 1, 1, 6, 1];
    const BONDS: [[u32; 2]; 7] = [[0, 1], [1, 2], [1, 3], [3, 4], [3, 5], [3, 6], [6, 7]];

    fn topology(lipids: u32) -> Topology {
        let atom = |index: u32| Atom {
            name: Name::new(["P", "C1", "O1", "C2", "H2", "H3", "C3", "H4"][(index % 8) as usize]),
            type_name: Name::new("X"),
            element: ELEMENTS[(index % 8) as usize],
            mass: 12.0,
            charge: 0.0,
            lj_type: 0,
            residue: index / 8,
        };
        let residue = |lipid| Residue { name: Name::new("POPC"), number: 1, first: 8 * lipid };
        Topology {
            atoms: (0..8 * lipids).map(atom).collect(),
            residues: (0..lipids).map(residue).collect(),
            connectivity: (0..lipids).flat_map(|l| BONDS.map(|[i, j]| [8 * l + i, 8 * l + j])).collect(),
            ..Topology::default()
        }
    }

    /// Positions of a lipid whose phosphorus is at the height `z` (nm). The lipid points up if `up` is 1, and down if
    /// `up` is −1. The two C–H bonds of the first carbon of the chain are along z and along x. The C–H bond of the
    /// second carbon is at the magic angle to z.
    fn lipid(z: f64, up: f64) -> [Vec3; 8] {
        let magic = vec3(2.0f64.sqrt(), 0.0, 1.0) * 0.1;
        let at = |depth: f64| vec3(1.0, 1.0, z - up * depth);
        let [first, second] = [at(1.0), at(1.5)];
        let hydrogens = [first + vec3(0.0, 0.0, 0.11), first + vec3(0.11, 0.0, 0.0)];
        [at(0.0), at(0.5), at(0.5) + vec3(0.1, 0.0, 0.0), first, hydrogens[0], hydrogens[1], second, second + magic]
    }

    /// Four lipids in a cell of 2 by 3 by 10 nm, of which two are in each leaflet: the area per lipid is 3 nm². The
    /// heads are 4 nm apart, also if the bilayer crosses a face of the cell.
    #[test]
    fn a_bilayer_of_four_lipids() {
        let topology = topology(4);
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let [lipids, heads] = ["all", "element P"].map(|text| system.group(text).unwrap());
        let mut membrane = Membrane::new(&system, &lipids, &heads).unwrap();
        let cell = Some(PeriodicCell::orthorhombic([2.0, 3.0, 10.0]));
        for middle in [5.0, 0.5, 9.9] {
            let positions = [2.1, -1.8, 1.9, -2.2].map(|z| lipid(middle + z, f64::signum(z)));
            let mut positions = positions.concat();
            // the second lipid is stored one period lower along z
            positions[8..16].iter_mut().for_each(|r| r.z -= 10.0);
            membrane.observe(&[StoredFrame { cell, positions, ..StoredFrame::default() }]).unwrap();
        }
        let passed = Passed { steps: vec![0; 3], times: vec![0.0, 1.0, 2.0], ..Passed::default() };
        let findings = membrane.finish(&passed).unwrap();
        let of = |name| match &findings.arrays.iter().find(|array| array.name == name).unwrap().values {
            Values::Double(values) => values.clone(),
            other => panic!("{other:?}"),
        };
        assert!(of("area_per_lipid").iter().all(|area| (area - 3.0).abs() < 1e-12));
        assert!(of("thickness").iter().all(|thickness| (thickness - 4.0).abs() < 1e-12), "{:?}", of("thickness"));
        let order = of("s_cd");
        // S_CD is (1 − 1/2)/2 for one C–H bond along z and one C–H bond perpendicular to z, and zero at the magic
        // angle, in single precision
        assert!((order[0] - 0.25).abs() < 1e-7 && order[1].abs() < 1e-7, "{order:?}");
        assert_eq!(findings.plots.len(), 3);
    }

    /// The phosphorus and the carbonyl group of each lipid are a residue PC, and its chain is a residue PA or OL.
    #[test]
    fn chains_of_lipids_with_equal_heads_are_separate() {
        let rows = |tails: [&str; 2]| {
            let mut topology = topology(2);
            for (k, atom) in topology.atoms.iter_mut().enumerate() {
                atom.residue = 2 * (k / 8) as u32 + u32::from(k % 8 > 2);
            }
            let residue = |(name, first)| Residue { name: Name::new(name), number: 1, first };
            topology.residues = [("PC", 0), (tails[0], 3), ("PC", 8), (tails[1], 11)].map(residue).to_vec();
            let system = AnalysedSystem::new(&topology, Images::Gathered);
            chains(&system, &system.group("all").unwrap().atoms).into_iter().map(|chain| chain.name).collect::<Vec<_>>()
        };
        assert_eq!(rows(["PA", "PA"]), ["PC C1"]);
        assert_eq!(rows(["PA", "OL"]), ["PC C1 of PC-PA", "PC C1 of PC-OL"]);
    }

    #[test]
    fn one_leaflet_is_refused() {
        let topology = topology(2);
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let [lipids, heads] = ["all", "element P"].map(|text| system.group(text).unwrap());
        let membrane = Membrane::new(&system, &lipids, &heads).unwrap();
        let cell = Some(PeriodicCell::orthorhombic([2.0, 3.0, 10.0]));
        let frame = StoredFrame { cell, positions: [lipid(7.0, 1.0); 2].concat(), ..StoredFrame::default() };
        let error = membrane.measure(&frame).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("same side"), "{error}");
        let water = system.group("element O").unwrap();
        assert!(Membrane::new(&system, &lipids, &water).is_ok(), "any atom may be the head");
        assert!(Membrane::new(&system, &water, &heads).is_err(), "the heads are not in the lipids");
    }
}
