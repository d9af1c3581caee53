//! Radial distribution function and coordination number.

use super::{Input, Options, check_distance};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::standard_error;
use crate::analysis::system::Group;
use crate::error::{Problem, Result};
use crate::neighbours::Neighbours;
use crate::observe::trajectory::StoredFrame;
use std::f64::consts::PI;

/// Results: g with its standard error g_error, and the coordination number within r, by distance r (nm)
#[derive(Debug, clap::Args)]
pub(super) struct RdfOptions {
    /// Selection of the atoms around which other atoms are counted
    #[arg(long, value_name = "TEXT", default_value = "water and element O")]
    select: String,
    /// Selection of the atoms that are counted; default: the same as --select
    #[arg(long, value_name = "TEXT")]
    with: Option<String>,
    /// Largest distance, for example "1 nm"; default: 0.95 times half of the shortest diameter of the first cell, which
    /// allows the cell to shrink
    #[arg(long, value_name = "LENGTH", value_parser = super::length)]
    range: Option<f64>,
    /// Width of the bins
    #[arg(long, value_name = "LENGTH", value_parser = super::length, default_value = "0.002 nm")]
    bin: f64,
    /// Leave out pairs within one molecule
    #[arg(long)]
    between_molecules: bool,
}

/// Default range as a fraction of the largest possible distance in the first cell, because a barostat may shrink the
/// cell during the trajectory.
const SHARE: f64 = 0.95;

impl Options for RdfOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let mut first = StoredFrame::default();
        input.trajectory.read(0, &mut first)?;
        let Some(cell) = first.cell else {
            let problem =
                Problem::new("a radial distribution function needs a periodic cell, and the frames have none");
            return Err(problem.help("g(r) is relative to the mean density in the cell").into());
        };
        let range = self.range.unwrap_or(SHARE * cell.max_cutoff());
        let bins = (range / self.bin).round();
        if !(1.0..=1e6).contains(&bins) {
            let problem = Problem::new(format!("a range of {range} nm in bins of {} nm has {bins} bins", self.bin));
            return Err(problem.help("choose --range and --bin so that there are 1 to 1000000 bins").into());
        }
        let center = input.system.group(&self.select)?;
        let others = input.system.group(self.with.as_ref().unwrap_or(&self.select))?;
        let molecules = input.system.molecules();
        if self.between_molecules {
            for group in [&center, &others] {
                input.system.require_molecules(&group.atoms, ", or leave out --between-molecules")?;
            }
        }
        let molecule =
            |atom: &u32| if self.between_molecules { molecules.of_atom(*atom as usize) as u32 } else { *atom };
        let owners = [&center, &others].map(|group| group.atoms.iter().map(molecule).collect::<Vec<u32>>());
        let rdf = RadialDistribution::new([center, others], owners, self.bin, bins as usize);
        if rdf.pairs == 0.0 {
            let words = if self.between_molecules { " of different molecules" } else { " of different atoms" };
            let problem = Problem::new(format!("the selections have no pairs{words}"));
            return Err(problem.help("choose the atoms by --select and --with").into());
        }
        Ok(Box::new(rdf))
    }
}

/// Radial distribution function g(r) of two groups: the density of atoms of the second group at distance r from an atom
/// of the first group, divided by the mean density of the second group. Each pair counts once, at its minimum-image
/// distance.
///
/// An owner is an atom or, if pairs within molecules are left out, a molecule. Pairs whose atoms have the same owner
/// are left out of the counts and of the mean density. The mean density in a frame is computed from the volume of that
/// frame.
#[derive(Debug)]
pub struct RadialDistribution {
    groups: [Group; 2],
    /// owner (atom or molecule) of each atom of both groups; pairs of atoms with the same owner are not counted
    owners: [Vec<u32>; 2],
    bin: f64,
    /// number of pairs of atoms with different owners (atoms or molecules)
    pairs: f64,
    counts: Vec<u64>,
    /// sum over frames of (number of pairs × volume), nm³, for each block of consecutive frames and each bin
    blocks: Vec<Vec<f64>>,
    /// number of frames in a block; the last block may have fewer
    block: usize,
    frames: usize,
}

/// Largest number of blocks. When this number is reached, neighbouring blocks are joined in pairs, so that memory does
/// not grow with the number of frames.
const MOST_BLOCKS: usize = 32;
/// Smallest number of complete blocks from which errors are estimated.
const LEAST_BLOCKS: usize = 4;

impl RadialDistribution {
    /// Creates the observable for two groups, the owner of each of their atoms, and `bins` bins of width `bin` (nm).
    pub fn new(groups: [Group; 2], owners: [Vec<u32>; 2], bin: f64, bins: usize) -> Self {
        let mut of_owner = std::collections::HashMap::new();
        owners[1].iter().for_each(|owner| *of_owner.entry(*owner).or_insert(0.0) += 1.0);
        let same: f64 = owners[0].iter().filter_map(|owner| of_owner.get(owner)).sum();
        let pairs = owners[0].len() as f64 * owners[1].len() as f64 - same;
        RadialDistribution { groups, owners, bin, pairs, counts: vec![0; bins], blocks: vec![], block: 1, frames: 0 }
    }

    /// Returns g(r) in each bin, averaged over all frames added so far.
    pub fn values(&self) -> Vec<f64> {
        self.normalized(&self.blocks, self.frames)
    }

    /// Returns g(r) in each bin, averaged over the frames of `blocks`, whose number is `frames`.
    fn normalized(&self, blocks: &[Vec<f64>], frames: usize) -> Vec<f64> {
        let shell = |k: usize| {
            let [a, b] = [k, k + 1].map(|k| k as f64 * self.bin);
            4.0 / 3.0 * PI * (b.powi(3) - a.powi(3))
        };
        let sum = |k: usize| blocks.iter().map(|block| block[k]).sum::<f64>();
        (0..self.counts.len()).map(|k| sum(k) / (self.pairs * frames as f64 * shell(k))).collect()
    }

    /// Returns the standard error of g in each bin, from the variance between complete blocks; NaN if there are fewer
    /// than [`LEAST_BLOCKS`] complete blocks.
    fn errors(&self) -> Vec<f64> {
        let complete = self.frames / self.block;
        if complete < LEAST_BLOCKS {
            return vec![f64::NAN; self.counts.len()];
        }
        let blocks: Vec<Vec<f64>> =
            self.blocks[..complete].chunks(1).map(|block| self.normalized(block, self.block)).collect();
        let error = |k: usize| standard_error(&blocks.iter().map(|block| block[k]).collect::<Vec<f64>>());
        (0..self.counts.len()).map(|k| error(k).unwrap_or(f64::NAN)).collect()
    }
}

impl Observable for RadialDistribution {
    /// number of pairs in each bin, and volume (nm³)
    type Sample = (Vec<u32>, f64);

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let Some(cell) = &frame.cell else {
            return Err(Problem::new(format!("the frame at {} ps has no cell", frame.time)).into());
        };
        let range = self.bin * self.counts.len() as f64;
        check_distance(frame, range, "--range")?;
        let [centers, others] = [0, 1].map(|k| self.groups[k].stored(frame));
        let grid = Neighbours::new(Some(cell), &others, range);
        let mut counts = vec![0; self.counts.len()];
        let (per_bin, largest) = (1.0 / self.bin, range * range);
        let mut scratch = vec![];
        for (&center, owner) in centers.iter().zip(&self.owners[0]) {
            grid.squares(center, &mut scratch, |others, squares| {
                for (&other, square) in others.iter().zip(squares).filter(|(_, square)| **square < largest) {
                    let bin = (square.sqrt() * per_bin) as usize;
                    if bin < counts.len() && self.owners[1][other as usize] != *owner {
                        counts[bin] += 1;
                    }
                }
            });
        }
        Ok((counts, cell.volume()))
    }

    fn add(&mut self, (counts, volume): Self::Sample) -> Result<()> {
        if self.frames == self.block * self.blocks.len() {
            self.blocks.push(vec![0.0; self.counts.len()]);
        }
        self.frames += 1;
        let last = self.blocks.last_mut().expect("the frame has a block");
        for (k, count) in counts.into_iter().enumerate() {
            self.counts[k] += u64::from(count);
            last[k] += f64::from(count) * volume;
        }
        if self.frames == self.block * MOST_BLOCKS {
            let joined = self.blocks.chunks(2).map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| a + b).collect());
            self.blocks = joined.collect();
            self.block *= 2;
        }
        Ok(())
    }

    fn finish(&mut self, _: &Passed) -> Result<Findings> {
        let (values, errors) = (self.values(), self.errors());
        let bins = values.len();
        let distances: Vec<f64> = (0..bins).map(|k| (k as f64 + 0.5) * self.bin).collect();
        let centers = (self.frames * self.groups[0].atoms.len()) as f64;
        // the distances are the centers of the bins, so that half of the pairs in a bin count as nearer
        let mut nearer = 0.0;
        let mut coordination = vec![];
        for &count in &self.counts {
            coordination.push((nearer + 0.5 * count as f64) / centers);
            nearer += count as f64;
        }
        let known = |error: f64| (!error.is_nan()).then_some(error);
        let highest = (0..bins).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
        let [first, second] = self.groups.each_ref().map(|group| group.text.clone());
        Ok(Findings {
            numbers: vec![
                Number { name: "peak_distance", value: distances[highest], error: None, unit: "nm" },
                Number { name: "peak_height", value: values[highest], error: known(errors[highest]), unit: "" },
            ],
            summary: vec![format!("peak         {:.3} at {:.4} nm", values[highest], distances[highest])],
            warnings: vec![],
            plots: vec![Plot {
                suffix: "",
                title: if first == second { format!("g(r): {first}") } else { format!("g(r): {first} – {second}") },
                x: Axis::between("r / nm", [0.0, bins as f64 * self.bin]),
                y: Axis::new("g(r)"),
                layers: vec![Layer::Line {
                    label: String::new(),
                    x: distances.clone(),
                    y: values.clone(),
                    error: if known(errors[highest]).is_some() { errors.clone() } else { vec![] },
                }],
            }],
            arrays: vec![
                Array::new("g", [("r", bins)], values, ""),
                Array::new("g_error", [("r", bins)], errors, ""),
                Array::new("coordination_number", [("r", bins)], coordination, ""),
                Array::new("r", [("r", bins)], distances, "nm"),
            ],
            settings: vec![("select", first), ("with", second)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::{AnalysedSystem, Images};
    use crate::cell::PeriodicCell;
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// A simple cubic lattice has 6, 12 and 8 neighbours at 1, √2 and √3 lattice constants.
    #[test]
    fn a_cubic_lattice_has_shells() {
        let name = Name::new("X");
        let atom = Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom; 216], ..Topology::default() };
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let group = system.group_of("all", (0..216).collect());
        let atoms: Vec<u32> = (0..216).collect();
        let mut rdf = RadialDistribution::new([group.clone(), group], [atoms.clone(), atoms], 0.01, 90);
        let place = |i: usize| vec3((i % 6) as f64, (i / 6 % 6) as f64, (i / 36) as f64) * 0.315 + vec3(5.0, -3.0, 0.1);
        let cell = Some(PeriodicCell::orthorhombic([6.0 * 0.315; 3]));
        rdf.observe(&[StoredFrame { cell, positions: (0..216).map(place).collect(), ..StoredFrame::default() }])
            .unwrap();
        let findings = rdf.finish(&Passed::default()).unwrap();
        let crate::analysis::Values::Double(coordination) = &findings.arrays[2].values else { panic!("f64") };
        for (r, neighbours) in [(0.305, 0.0), (0.315, 3.0), (0.325, 6.0), (0.455, 18.0), (0.555, 26.0)] {
            assert_eq!(coordination[(r / 0.01) as usize], neighbours, "{r}");
        }
        // the number of nearest neighbours is g times the density of the 215 other atoms, integrated over the bin at
        // the nearest-neighbour distance
        let density = 215.0 / (6.0f64 * 0.315).powi(3);
        let shell = 4.0 / 3.0 * PI * (0.32f64.powi(3) - 0.31f64.powi(3));
        assert!((rdf.values()[31] * density * shell - 6.0).abs() < 1e-9, "{:?}", rdf.values());
    }
}
