//! Radial distribution function and coordination number.

use super::{Input, Options, check_distance};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::system::Group;
use crate::error::{Problem, Result};
use crate::neighbours::Neighbours;
use crate::observe::statistics::{Average, Statistics};
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
    /// averages of (number of pairs × volume), nm³, of each bin
    averages: Statistics,
    frames: usize,
}

impl RadialDistribution {
    /// Creates the observable for two groups, the owner of each of their atoms, and `bins` bins of width `bin` (nm).
    pub fn new(groups: [Group; 2], owners: [Vec<u32>; 2], bin: f64, bins: usize) -> Self {
        let mut of_owner = std::collections::HashMap::new();
        owners[1].iter().for_each(|owner| *of_owner.entry(*owner).or_insert(0.0) += 1.0);
        let same: f64 = owners[0].iter().filter_map(|owner| of_owner.get(owner)).sum();
        let pairs = owners[0].len() as f64 * owners[1].len() as f64 - same;
        let averages = Statistics::new(vec![("", ""); bins]);
        RadialDistribution { groups, owners, bin, pairs, counts: vec![0; bins], averages, frames: 0 }
    }

    /// Returns g(r) in each bin, averaged over all frames added so far.
    pub fn values(&self) -> Vec<f64> {
        self.values_and_errors().0
    }

    /// Returns g(r) in each bin, averaged over all frames added so far, and its standard error from block averages
    /// ([`crate::observe::statistics`]); NaN if there are too few frames, or if the frames are too correlated.
    fn values_and_errors(&self) -> (Vec<f64>, Vec<f64>) {
        let of_bin = |(k, average): (usize, Average)| {
            let [a, b] = [k, k + 1].map(|k| k as f64 * self.bin);
            let ideal = self.pairs * 4.0 / 3.0 * PI * (b.powi(3) - a.powi(3));
            (average.mean / ideal, average.error.map_or(f64::NAN, |error| error / ideal))
        };
        self.averages.averages().into_iter().enumerate().map(of_bin).unzip()
    }
}

impl Observable for RadialDistribution {
    /// number of pairs in each bin, and volume (nm³)
    type Sample = (Vec<u32>, f64);

    fn memory(&self, _: usize) -> f64 {
        Statistics::BYTES as f64 * self.counts.len() as f64
    }

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
        self.counts.iter_mut().zip(&counts).for_each(|(sum, &count)| *sum += u64::from(count));
        let products: Vec<f64> = counts.into_iter().map(|count| f64::from(count) * volume).collect();
        self.averages.add(self.frames as f64, &products);
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self, _: &Passed) -> Result<Findings> {
        let (values, errors) = self.values_and_errors();
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
                    error: if errors.iter().any(|error| error.is_finite()) { errors.clone() } else { vec![] },
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
    use crate::rng::{Purpose, Stream};
    use crate::system::{Atom, Name, Topology};
    use crate::vec3::vec3;

    /// Two atoms are 0.15 nm or 0.25 nm apart, at random for each `repeats` frames. Each of the two bins has the
    /// variance p (1 − p) = 1/4 of the number of pairs (of both orders, 2), so that the standard error of the mean of n
    /// independent frames is 1/√n of 2 · √(1/4), times the volume over the number of pairs and the volume of the shell.
    #[test]
    fn errors_are_those_of_independent_frames() {
        let name = Name::new("X");
        let atom = Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom; 2], ..Topology::default() };
        let system = AnalysedSystem::new(&topology, Images::AsStored);
        let errors = |frames: usize, repeats: usize| {
            let group = system.group_of("all", vec![0, 1]);
            let owners = [vec![0, 1], vec![0, 1]];
            let mut rdf = RadialDistribution::new([group.clone(), group], owners, 0.1, 3);
            let (mut random, mut distance) = (Stream::new(11, Purpose::Test, 0, 0), 0.0);
            for t in 0..frames {
                if t % repeats == 0 {
                    distance = if random.uniform() < 0.5 { 0.15 } else { 0.25 };
                }
                let positions = vec![vec3(0.0, 0.0, 0.0), vec3(distance, 0.0, 0.0)];
                let cell = Some(PeriodicCell::orthorhombic([1.0; 3]));
                rdf.observe(&[StoredFrame { cell, positions, ..StoredFrame::default() }]).unwrap();
            }
            rdf.values_and_errors().1
        };
        let shell = 4.0 / 3.0 * PI * (0.2f64.powi(3) - 0.1f64.powi(3));
        for (frames, repeats) in [(4096, 1), (32_768, 10)] {
            let exact = 0.5 / shell / ((frames / repeats) as f64).sqrt();
            let found = errors(frames, repeats);
            // at least 64 blocks: the relative error of the standard error is at most 1/√126 = 9 %, and the bound is
            // about three times as large
            assert!((found[1] / exact - 1.0).abs() < 0.27, "{repeats}: {} {exact}", found[1]);
        }
        // 20 independent configurations are too few for blocks that are longer than 10 frames
        assert!(errors(200, 10)[1].is_nan());
    }

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
