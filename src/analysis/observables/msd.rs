//! Mean squared displacement and diffusion coefficient.

use rayon::prelude::*;

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::{plus_minus, standard_error_of_groups};
use crate::analysis::system::Group;
use crate::cell::PeriodicCell;
use crate::compute::Autocorrelation;
use crate::error::{Problem, Result};
use crate::image::Paths;
use crate::observe::trajectory::StoredFrame;
use crate::vec3::Vec3;

/// Results: msd (nm²) by lag (ps), in total and along x, y and z, with its standard error; the diffusion coefficient
#[derive(Debug, clap::Args)]
pub(super) struct MsdOptions {
    /// Selection of atoms; the center of mass of the selected atoms of each molecule is followed
    #[arg(long, value_name = "TEXT", default_value = "water")]
    select: String,
    /// Follow every selected atom instead of the centers of molecules
    #[arg(long)]
    atoms: bool,
    /// Start of the linear fit, as a fraction of the longest lag
    #[arg(long, value_name = "FRACTION", default_value_t = 0.1)]
    fit_begin: f64,
    /// End of the linear fit, as a fraction of the longest lag
    #[arg(long, value_name = "FRACTION", default_value_t = 0.5)]
    fit_end: f64,
    /// Dimensions in which particles diffuse: xyz, xy, z, …
    #[arg(long, value_name = "AXES", default_value = "xyz", value_parser = axes)]
    axes: Axes,
}

/// Cartesian axes whose displacements enter the total mean squared displacement and the diffusion coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axes([bool; 3]);

fn axes(text: &str) -> std::result::Result<Axes, String> {
    let axes = ['x', 'y', 'z'].map(|axis| text.contains(axis));
    let known = !text.is_empty() && text.chars().all(|c| "xyz".contains(c));
    known.then_some(Axes(axes)).ok_or_else(|| format!("\"{text}\" does not name axes; write for example xyz or xy"))
}

impl Options for MsdOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        if !(0.0 <= self.fit_begin && self.fit_begin < self.fit_end && self.fit_end <= 1.0) {
            let problem = Problem::new(format!(
                "the range of the linear fit from {} to {} is empty",
                self.fit_begin, self.fit_end
            ));
            return Err(problem.help("--fit-begin and --fit-end are fractions of the longest lag, 0 to 1").into());
        }
        let group = input.system.group(&self.select)?;
        let mut particles: Vec<Vec<(u32, f64)>> = if self.atoms {
            group.atoms.iter().map(|&atom| vec![(atom, 1.0)]).collect()
        } else {
            let molecules = input.system.by_molecule(&group.atoms, ", or follow atoms with --atoms")?;
            let weighted = |atom: u32| (atom, input.system.topology().atoms[atom as usize].mass);
            molecules.into_iter().map(|atoms| atoms.into_iter().map(weighted).collect()).collect()
        };
        for particle in &mut particles {
            let mass: f64 = particle.iter().map(|(_, mass)| mass).sum();
            if mass.is_nan() || mass <= 0.0 {
                return Err(Problem::new("a selected molecule has no mass").help("select atoms with mass").into());
            }
            particle.iter_mut().for_each(|(_, weight)| *weight /= mass);
        }
        let first_atoms: Vec<u32> = particles.iter().map(|particle| particle[0].0).collect();
        Ok(Box::new(SquaredDisplacement {
            group,
            independent: input.system.independent_groups(&first_atoms),
            particles,
            axes: self.axes,
            fit: [self.fit_begin, self.fit_end],
            is_unwrapped: !input.system.chooses_images(),
            motion: Paths::default(),
            paths: vec![],
            frames: 0,
        }))
    }
}

/// Observable of the mean squared displacement ⟨|r(t+τ) − r(t)|²⟩ over particles and times t, and of the diffusion
/// coefficient: the slope of the linear part of the displacement, divided by twice the number of dimensions (Einstein
/// relation).
///
/// Particles are followed from frame to frame ([`Paths`]). All lags are computed by FFT (Calandrini, Pellegrini,
/// Calligari, Hinsen & Kneller, Collection SFN 12, 201 (2011), doi:10.1051/sfn/201112010).
struct SquaredDisplacement {
    group: Group,
    /// atoms of each particle, and their weights in the center of the particle
    particles: Vec<Vec<(u32, f64)>>,
    /// particles of each group of molecules from which standard errors are estimated; empty if errors are unknown
    independent: Vec<Vec<usize>>,
    axes: Axes,
    /// first and last lag of the linear fit, as fractions of the longest lag
    fit: [f64; 2],
    /// whether the stored positions are continuous paths, which need no choice of periodic images
    is_unwrapped: bool,
    /// centers of the particles, followed from frame to frame
    motion: Paths,
    /// unwrapped centers (nm) of all particles, frame after frame
    paths: Vec<Vec3>,
    frames: usize,
}

impl SquaredDisplacement {
    /// Returns the mean squared displacement (nm²) of the given particles along x, y and z, for each lag.
    fn mean(&self, particles: &[usize]) -> Vec<[f64; 3]> {
        let (frames, all, count) = (self.frames, self.particles.len(), particles.len() as f64);
        let plan = Autocorrelation::new(frames);
        let zero = || (plan.clone(), vec![[0.0; 3]; frames]);
        let of_particle = |(mut plan, mut sums): (Autocorrelation, Vec<[f64; 3]>), &particle: &usize| {
            // displacements are relative to the first frame, which keeps the numbers small
            let start = self.paths[particle];
            let at = |t: usize| (self.paths[t * all + particle] - start).to_array();
            for axis in 0..3 {
                let mut products = vec![0.0; frames];
                plan.add((0..frames).map(|t| at(t)[axis]), &mut products);
                let square = |t: usize| at(t)[axis].powi(2);
                let mut squares = 2.0 * (0..frames).map(square).sum::<f64>();
                for lag in 0..frames {
                    if lag > 0 {
                        squares -= square(lag - 1) + square(frames - lag);
                    }
                    sums[lag][axis] += (squares - 2.0 * products[lag]) / (frames - lag) as f64;
                }
            }
            (plan, sums)
        };
        // a fixed partition of the particles keeps the order of summation independent of the number of threads
        let chunk = particles.len().div_ceil(8).max(1);
        let sums: Vec<Vec<[f64; 3]>> =
            particles.par_chunks(chunk).map(|chunk| chunk.iter().fold(zero(), of_particle).1).collect();
        let total = |lag: usize| [0, 1, 2].map(|axis| sums.iter().map(|sum| sum[lag][axis]).sum::<f64>() / count);
        (0..frames).map(total).collect()
    }

    fn chosen(&self, along: &[f64; 3]) -> f64 {
        along.iter().zip(self.axes.0).filter(|(_, chosen)| *chosen).map(|(value, _)| value).sum()
    }

    /// Fits a least-squares line to `values` between the chosen fractions of the longest lag. Returns the slope of the
    /// line, and the first and the last lag (ps) of the fit.
    fn slope(&self, lags: &[f64], values: &[f64]) -> Option<(f64, [f64; 2])> {
        let last = values.len().checked_sub(1)?;
        let [from, to] = self.fit.map(|part| (part * last as f64).round() as usize);
        let range = from.max(1)..=to;
        let count = range.clone().count() as f64;
        if count < 2.0 {
            return None;
        }
        let mean = |of: &[f64]| range.clone().map(|k| of[k]).sum::<f64>() / count;
        let (x, y) = (mean(lags), mean(values));
        let products: f64 = range.clone().map(|k| (lags[k] - x) * (values[k] - y)).sum();
        let squares: f64 = range.clone().map(|k| (lags[k] - x).powi(2)).sum();
        Some((products / squares, [lags[*range.start()], lags[*range.end()]]))
    }
}

/// Reason why the frames of several runs have no correlation in time.
pub(super) const OF_RUNS: &str = "the frames are of separate runs";
/// Advice for a quantity that needs the frames of one run.
pub(super) const ONE_RUN: &str =
    "analyse each run by itself, and average the results; runs that continue each other need no --separate-runs";
/// Advice for frames at unequal intervals.
pub(super) const OF_INTERVALS: &str = "stages may write frames at different intervals: choose the frames of one stage by \
                                       --begin and --end, or frames by --stride; remove frames that were written twice";
/// Diffusion coefficient of 1 nm²/ps in the unit of results, 10⁻⁵ cm²/s.
pub(super) const DIFFUSION: f64 = 1000.0;

/// Returns the problem of frames without a common interval. `what` says which quantity needs the interval.
pub(super) fn no_interval(what: &str, passed: &Passed) -> Problem {
    match passed.is_of_runs {
        true => Problem::new(format!("{what}, but {OF_RUNS}")).help(ONE_RUN),
        false => Problem::new(what).help(OF_INTERVALS),
    }
}

impl Observable for SquaredDisplacement {
    /// cell in which particles are followed, and center of each particle (nm)
    type Sample = (Option<PeriodicCell>, Vec<Vec3>);

    fn memory(&self, frames: usize) -> f64 {
        (size_of::<Vec3>() * self.particles.len()) as f64 * frames as f64
    }

    fn needs_every_frame(&self) -> bool {
        !self.is_unwrapped
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let center = |particle: &Vec<(u32, f64)>| {
            particle.iter().map(|&(atom, weight)| frame.positions[atom as usize] * weight).sum()
        };
        Ok((frame.cell.filter(|_| !self.is_unwrapped), self.particles.iter().map(center).collect()))
    }

    fn add(&mut self, (cell, centers): Self::Sample) -> Result<()> {
        self.paths.extend(self.motion.add(cell.as_ref(), &centers));
        self.frames += 1;
        Ok(())
    }

    fn follow(&mut self, (cell, centers): Self::Sample) {
        let _ = self.motion.add(cell.as_ref(), &centers);
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (frames, count) = (self.frames, self.particles.len());
        let Some(interval) = passed.interval() else {
            let what = "a mean squared displacement needs at least three frames at equal intervals";
            return Err(no_interval(what, passed).into());
        };
        let lags: Vec<f64> = (0..frames).map(|lag| lag as f64 * interval).collect();
        let along = self.mean(&(0..count).collect::<Vec<usize>>());
        let values: Vec<f64> = along.iter().map(|along| self.chosen(along)).collect();
        let dimensions = self.axes.0.iter().filter(|chosen| **chosen).count() as f64;
        let of_group = |group: &Vec<usize>| self.mean(group).iter().map(|along| self.chosen(along)).collect();
        let of_groups: Vec<Vec<f64>> = self.independent.iter().map(of_group).collect();
        let sizes: Vec<f64> = self.independent.iter().map(|group| group.len() as f64).collect();
        let error_of = |of: &dyn Fn(&[f64]) -> f64| {
            standard_error_of_groups(&of_groups.iter().map(|group| of(group)).collect::<Vec<f64>>(), &sizes)
        };
        let errors: Vec<f64> = (0..frames).map(|lag| error_of(&|group| group[lag]).unwrap_or(f64::NAN)).collect();
        let mut findings = Findings::default();
        if let Some((slope, [from, to])) = self.slope(&lags, &values) {
            let value = slope / (2.0 * dimensions) * DIFFUSION;
            let of_group = |group: &[f64]| self.slope(&lags, group).map_or(f64::NAN, |(slope, _)| slope);
            let error = error_of(&of_group).map(|error| error / (2.0 * dimensions) * DIFFUSION);
            findings.numbers.push(Number { name: "diffusion", value, error, unit: "1e-5 cm2/s" });
            let error = plus_minus(error, 4);
            findings
                .summary
                .push(format!("diffusion    {value:.4}{error} · 10⁻⁵ cm²/s, fit from {from:.3} to {to:.3} ps"));
        } else {
            findings.summary.push("diffusion    coefficient unknown: fewer than two lags in the fit".to_owned());
        }
        findings.summary.push(format!("particles    {count}"));
        findings.plots.push(Plot {
            suffix: "",
            title: format!("Mean squared displacement: {}", self.group.text),
            x: Axis::new("lag / ps"),
            y: Axis::new("MSD / nm²"),
            layers: vec![Layer::Line {
                label: String::new(),
                x: lags.clone(),
                y: values.clone(),
                error: if !self.independent.is_empty() { errors.clone() } else { vec![] },
            }],
        });
        let axes: Vec<f64> = along.into_iter().flatten().collect();
        findings.settings.push(("select", self.group.text.clone()));
        findings.arrays = vec![
            Array::new("msd", [("lag", frames)], values, "nm+2"),
            Array::new("msd_error", [("lag", frames)], errors, "nm+2"),
            Array::new("msd_along", [("lag", frames), ("xyz", 3)], axes, "nm+2"),
            Array::new("lag", [("lag", frames)], lags, "ps"),
        ];
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::Values;
    use crate::analysis::system::{AnalysedSystem, Images};
    use crate::system::{Atom, Name, Residue, Topology};
    use crate::vec3::vec3;

    /// Five molecules of four atoms each move at constant velocities of k/10 nm/ps along x, with k = 1 to 5. The
    /// squared displacements are v² τ², and their standard error is that of five independent values, whether atoms or
    /// molecules are followed. Four molecules have no standard error.
    #[test]
    fn errors_are_those_of_independent_molecules() {
        let name = Name::new("X");
        let atom =
            |k: u32| Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue: k / 4 };
        let topology = Topology {
            atoms: (0..20).map(atom).collect(),
            residues: (0..5).map(|k: u32| Residue { name, number: k as i32, first: 4 * k }).collect(),
            connectivity: (0..5).flat_map(|k| [1, 2, 3].map(|other| [4 * k, 4 * k + other])).collect(),
            ..Topology::default()
        };
        let system = AnalysedSystem::new(&topology, Images::AsStored);
        let velocity = |atom: u32| 0.1 * f64::from(atom / 4 + 1);
        let squares: Vec<f64> = (0..5).map(|k| velocity(4 * k).powi(2)).collect();
        let mean = squares.iter().sum::<f64>() / 5.0;
        let error = (squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / (5.0 * 4.0)).sqrt();
        for atoms in [20, 16] {
            let followed: Vec<u32> = (0..atoms).collect();
            let mut msd = SquaredDisplacement {
                group: system.group_of("all", followed.clone()),
                particles: followed.iter().map(|&atom| vec![(atom, 1.0)]).collect(),
                independent: system.independent_groups(&followed),
                axes: Axes([true; 3]),
                fit: [0.1, 0.5],
                is_unwrapped: true,
                motion: Paths::default(),
                paths: vec![],
                frames: 0,
            };
            let mut passed = Passed::default();
            for t in 0..20 {
                let positions = (0..20).map(|atom| vec3(velocity(atom) * f64::from(t), 0.0, 0.0)).collect();
                msd.observe(&[StoredFrame { positions, ..StoredFrame::default() }]).unwrap();
                passed.times.push(f64::from(t));
            }
            let findings = msd.finish(&passed).unwrap();
            let Values::Double(errors) = &findings.arrays[1].values else { panic!("f64") };
            let is_known = atoms == 20;
            assert_eq!(findings.numbers[0].error.is_some(), is_known);
            for (lag, found) in errors.iter().enumerate() {
                // tolerance for the rounding of an FFT of squares of up to 100
                let expected = error * (lag * lag) as f64;
                assert!(if is_known { (found - expected).abs() < 1e-10 } else { found.is_nan() }, "{lag}: {found}");
            }
            // a fit from lag 10 to lag 10
            msd.fit = [0.5, 0.52];
            let findings = msd.finish(&passed).unwrap();
            assert!(findings.numbers.is_empty());
            assert!(findings.summary[0].ends_with("coefficient unknown: fewer than two lags in the fit"));
        }
    }

    /// Two particles at constant velocities v cross the cell many times. The displacement in a time τ is v τ and its
    /// square v² τ², whichever periodic image is stored.
    #[test]
    fn particles_at_constant_velocity() {
        for is_unwrapped in [false, true] {
            assert_squares_of_constant_velocities(is_unwrapped);
        }
    }

    /// Positions are stored within the cell or, if `is_unwrapped` is set, as continuous paths. On a continuous path the
    /// particles move by more than half of the cell between frames.
    fn assert_squares_of_constant_velocities(is_unwrapped: bool) {
        let name = Name::new("X");
        let atom = Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue: 0 };
        let topology = Topology { atoms: vec![atom; 2], ..Topology::default() };
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let mut msd = SquaredDisplacement {
            group: system.group_of("all", vec![0, 1]),
            particles: vec![vec![(0, 1.0)], vec![(1, 1.0)]],
            independent: vec![],
            axes: Axes([true; 3]),
            fit: [0.1, 0.5],
            is_unwrapped,
            motion: Paths::default(),
            paths: vec![],
            frames: 0,
        };
        let size = if is_unwrapped { 0.2 } else { 1.0 };
        let cell = PeriodicCell::orthorhombic([1.0, 2.0, 3.0].map(|edge| edge * size));
        let velocities = [vec3(0.3, -0.2, 0.1), vec3(0.0, 0.5, -0.4)];
        for t in 0..20 {
            let path = |v: Vec3| v * f64::from(t) + vec3(0.1, 0.2, 0.3);
            let at = |v: Vec3| if is_unwrapped { path(v) } else { cell.wrap(path(v)).0 };
            let positions = velocities.map(at).to_vec();
            msd.observe(&[StoredFrame { cell: Some(cell), positions, ..StoredFrame::default() }]).unwrap();
        }
        let square = 0.5 * (velocities[0].norm_squared() + velocities[1].norm_squared());
        for (lag, along) in msd.mean(&[0, 1]).iter().enumerate() {
            // tolerance for the rounding of an FFT of squares of up to 100
            let expected = square * (lag * lag) as f64;
            assert!((along.iter().sum::<f64>() - expected).abs() < 1e-10, "{lag}: {along:?} {expected}");
        }
    }
}
