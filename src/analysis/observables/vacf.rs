//! Velocity autocorrelation function, with the diffusion coefficient and the vibrational spectrum that follow from it.

use std::f64::consts::PI;

use rayon::prelude::*;

use super::msd::{DIFFUSION, no_interval};
use super::{Input, Options, positive};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::{plus_minus, standard_error_of_groups};
use crate::analysis::system::{AnalysedSystem, Group};
use crate::compute::Autocorrelation;
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::units::Dimension;
use crate::vec3::{Vec3, vec3};

/// Results: vacf (nm²/ps², by lag in ps) and its normalised form with standard error; a third of the integral of
/// vacf from 0 to each lag (diffusion, nm²/ps); the vibrational density of states (cm, by wavenumber in 1/cm)
#[derive(Debug, clap::Args)]
pub(super) struct VacfOptions {
    /// Selection of atoms
    #[arg(long, value_name = "TEXT", default_value = "all")]
    select: String,
    /// Weight atoms by mass, for the density of states (default: equal weights)
    #[arg(long)]
    mass_weighted: bool,
    /// Follow the centers of mass of the selected atoms of each molecule instead of atoms
    #[arg(long)]
    molecules: bool,
    /// Longest lag, for example "2 ps"; default: half of the duration of the trajectory
    #[arg(long, value_name = "TIME", value_parser = time)]
    lag: Option<f64>,
}

fn time(text: &str) -> std::result::Result<f64, String> {
    positive(text, Dimension::Time, "is not a positive time in ps")
}

impl Options for VacfOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let group = input.system.group(&self.select)?;
        let particles = particles(input.system, &group, self.molecules)?;
        let first_atoms: Vec<u32> = particles.iter().map(|particle| particle.atoms[0].0).collect();
        Ok(Box::new(VelocityCorrelation {
            text: group.text,
            independent: input.system.independent_groups(&first_atoms),
            particles,
            by_mass: self.mass_weighted,
            longest: self.lag,
            velocities: vec![],
            frames: 0,
        }))
    }
}

/// Fails if a frame has no velocities.
fn check(frame: &StoredFrame) -> Result<()> {
    if !frame.velocities.is_empty() {
        return Ok(());
    }
    let problem = Problem::new(format!("the frame at {} ps has no velocities", frame.time));
    Err(problem
        .help(
            "write a trajectory with velocities = true in a format that stores velocities (H5MD, TRR, AMBER NetCDF), \
             every few femtoseconds",
        )
        .into())
}

/// Atom or molecule whose velocity is followed.
#[derive(Clone, Debug, PartialEq)]
struct Particle {
    /// mass, amu
    mass: f64,
    /// atoms of the particle, each with its fraction of the mass of the particle
    atoms: Vec<(u32, f64)>,
}

/// Returns the atoms of a group that have mass or, if `by_molecule` is set, the molecules of the group.
fn particles(system: &AnalysedSystem<'_>, group: &Group, by_molecule: bool) -> Result<Vec<Particle>> {
    let mass = |atom: u32| system.topology().atoms[atom as usize].mass;
    let massive: Vec<u32> = group.atoms.iter().copied().filter(|&atom| mass(atom) > 0.0).collect();
    let particles = match by_molecule {
        true => system.by_molecule(&massive, ", or leave out --molecules")?,
        false => massive.into_iter().map(|atom| vec![atom]).collect(),
    };
    let particle = |atoms: Vec<u32>| {
        let atoms: Vec<(u32, f64)> = atoms.into_iter().map(|atom| (atom, mass(atom))).collect();
        Particle { mass: atoms.iter().map(|(_, mass)| mass).sum(), atoms }
    };
    let mut particles: Vec<Particle> = particles.into_iter().map(particle).collect();
    if particles.is_empty() {
        return Err(Problem::new("the selected atoms have no mass").help("select atoms with mass").into());
    }
    for particle in &mut particles {
        particle.atoms.iter_mut().for_each(|(_, share)| *share /= particle.mass);
    }
    Ok(particles)
}

/// Observable of the velocity autocorrelation C(τ) = ⟨v(t)·v(t + τ)⟩ over particles and times t.
///
/// All lags are computed by FFT. The diffusion coefficient is ∫ C dτ / 3 (Green, J. Chem. Phys. 22, 398 (1954),
/// doi:10.1063/1.1740082; Kubo, J. Phys. Soc. Jpn. 12, 570 (1957), doi:10.1143/JPSJ.12.570). The density of states is
/// the cosine transform of C weighted by mass (Dickey & Paskin, Phys. Rev. 188, 1407 (1969),
/// doi:10.1103/PhysRev.188.1407).
struct VelocityCorrelation {
    text: String,
    particles: Vec<Particle>,
    /// particles of each group of molecules from which standard errors are estimated; empty if errors are unknown
    independent: Vec<Vec<usize>>,
    by_mass: bool,
    /// longest lag, ps; `None` for half of the duration of the trajectory
    longest: Option<f64>,
    /// velocities (nm/ps) of all particles, frame after frame
    velocities: Vec<Vec3<f32>>,
    frames: usize,
}

/// Wavenumber in 1/cm of a frequency of 1/ps, which is 10¹² Hz divided by the speed of light, 299 792 458 m/s.
const WAVENUMBER: f64 = 1e10 / 299_792_458.0;

/// Integrates values at equal intervals by the trapezoidal rule. Returns the integral up to each value.
fn integral(values: &[f64], interval: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let steps = values.windows(2).map(|pair| 0.5 * interval * (pair[0] + pair[1]));
    std::iter::once(0.0).chain(steps.map(|step| (sum += step, sum).1)).collect()
}

/// Largest value of [`upper_end`] for a spectrum that frames resolve.
const LARGEST_UPPER_END: f64 = 0.25;

/// Returns the mean density of states in the upper tenth of the spectrum, relative to the mean of the whole spectrum.
/// If the interval between frames is too long, higher frequencies are folded into the spectrum, and the ratio is close
/// to one. If the interval is short enough, the ratio is close to zero.
fn upper_end(density: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    mean(&density[density.len() - density.len().div_ceil(10)..]) / mean(density)
}

/// Computes the density of states g(ν) = 4 ∫ c(τ) w(τ) cos(2πντ) dτ of a normalised correlation function c, up to the
/// Nyquist frequency. The Hann window w suppresses ripples, which would arise because the correlation function ends at
/// the longest lag. Returns wavenumbers (1/cm) and densities (cm). The integral of the density over wavenumbers is 1.
fn density_of_states(normalised: &[f64], interval: f64) -> [Vec<f64>; 2] {
    let last = normalised.len() - 1;
    let window = |lag: usize| 0.5 + 0.5 * (PI * lag as f64 / last as f64).cos();
    // the trapezoidal rule gives the first and the last value half weight
    let end = |lag: usize| if lag == 0 || lag == last { 0.5 } else { 1.0 };
    let weighted: Vec<f64> = normalised.iter().enumerate().map(|(lag, c)| c * window(lag) * end(lag)).collect();
    let cosines: Vec<f64> = (0..2 * last).map(|k| (PI * k as f64 / last as f64).cos()).collect();
    let density = |k: usize| {
        let product = |(lag, c): (usize, &f64)| c * cosines[lag * k % cosines.len()];
        4.0 * interval / WAVENUMBER * weighted.iter().enumerate().map(product).sum::<f64>()
    };
    let wavenumber = |k: usize| k as f64 / (2.0 * last as f64 * interval) * WAVENUMBER;
    [(0..=last).map(wavenumber).collect(), (0..=last).into_par_iter().map(density).collect()]
}

impl VelocityCorrelation {
    /// Returns the velocity autocorrelation C (nm²/ps²) of the given particles at `lags` lags.
    fn mean(&self, particles: &[usize], lags: usize) -> Vec<f64> {
        let (frames, all) = (self.frames, self.particles.len());
        let total = self.weight(particles);
        let plan = Autocorrelation::new(frames);
        let of_particle = |(mut plan, mut sums): (Autocorrelation, Vec<f64>), &particle: &usize| {
            let scale = self.weight(&[particle]).sqrt();
            for axis in 0..3 {
                let at = |t: usize| scale * f64::from(self.velocities[t * all + particle].to_array()[axis]);
                plan.add((0..frames).map(at), &mut sums);
            }
            (plan, sums)
        };
        // a fixed partition of the particles keeps the order of summation independent of the number of threads
        let chunk = particles.len().div_ceil(8).max(1);
        let of_chunk = |chunk: &[usize]| chunk.iter().fold((plan.clone(), vec![0.0; lags]), of_particle).1;
        let sums: Vec<Vec<f64>> = particles.par_chunks(chunk).map(of_chunk).collect();
        let mean = |lag: usize| sums.iter().map(|sum| sum[lag]).sum::<f64>() / (total * (frames - lag) as f64);
        (0..lags).map(mean).collect()
    }

    /// Returns the sum of the weights of the given particles: of their masses (amu), or their number.
    fn weight(&self, particles: &[usize]) -> f64 {
        let weight = |&particle: &usize| if self.by_mass { self.particles[particle].mass } else { 1.0 };
        particles.iter().map(weight).sum()
    }

    /// Returns the interval between frames (ps), and the number of lags including lag zero.
    fn lags(&self, passed: &Passed) -> Result<(f64, usize)> {
        let Some(interval) = passed.interval() else {
            let what = "a velocity autocorrelation needs at least three frames at equal intervals";
            return Err(no_interval(what, passed).into());
        };
        let lags = self.longest.map_or(self.frames / 2, |longest| (longest / interval).round() as usize) + 1;
        if !(2..=self.frames).contains(&lags) {
            let range = interval * (self.frames - 1) as f64;
            let problem = Problem::new(format!("the longest lag is not between {interval} ps and {range} ps"));
            return Err(problem.help("choose another --lag, or a longer trajectory").into());
        }
        Ok((interval, lags))
    }

    fn plots(&self, correlation: [&[f64]; 3], states: [&[f64]; 2]) -> Vec<Plot> {
        let ([lags, values, errors], [wavenumbers, density]) = (correlation, states);
        let layer = Layer::Line {
            label: String::new(),
            x: lags.to_vec(),
            y: values.to_vec(),
            error: if errors.iter().all(|error| error.is_finite()) { errors.to_vec() } else { vec![] },
        };
        let end = wavenumbers.last().copied().unwrap_or(1.0);
        vec![
            Plot {
                suffix: "",
                title: format!("Velocity autocorrelation: {}", self.text),
                x: Axis::new("lag / ps"),
                y: Axis::new("C(τ) / C(0)"),
                layers: vec![layer],
            },
            Plot {
                suffix: "states",
                title: format!("Vibrational density of states: {}", self.text),
                x: Axis::between("wavenumber / cm⁻¹", [0.0, end]),
                y: Axis::new("density of states / cm"),
                layers: vec![Layer::line("", wavenumbers, density)],
            },
        ]
    }
}

impl Observable for VelocityCorrelation {
    /// velocity of each particle, nm/ps
    type Sample = Vec<Vec3<f32>>;

    fn memory(&self, frames: usize) -> f64 {
        (size_of::<Vec3<f32>>() * self.particles.len()) as f64 * frames as f64
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        check(frame)?;
        let velocity = |particle: &Particle| {
            let terms = particle.atoms.iter().map(|&(atom, share)| frame.velocities[atom as usize] * share);
            let Vec3 { x, y, z } = terms.sum::<Vec3>();
            vec3(x as f32, y as f32, z as f32)
        };
        Ok(self.particles.iter().map(velocity).collect())
    }

    fn add(&mut self, velocities: Self::Sample) -> Result<()> {
        self.velocities.extend(velocities);
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (interval, count) = self.lags(passed)?;
        let all = self.particles.len();
        let values = self.mean(&(0..all).collect::<Vec<usize>>(), count);
        let lags: Vec<f64> = (0..count).map(|lag| lag as f64 * interval).collect();
        let zero = values[0];
        if !(zero > 0.0 && zero.is_finite()) {
            return Err(Problem::new("all velocities are zero").help("use a trajectory of moving atoms").into());
        }
        let of_groups: Vec<Vec<f64>> = self.independent.iter().map(|group| self.mean(group, count)).collect();
        let weights: Vec<f64> = self.independent.iter().map(|group| self.weight(group)).collect();
        let error_of = |of: &dyn Fn(&[f64]) -> f64| {
            standard_error_of_groups(&of_groups.iter().map(|group| of(group)).collect::<Vec<f64>>(), &weights)
        };
        let errors: Vec<f64> = (0..count).map(|lag| error_of(&|group| group[lag] / zero).unwrap_or(f64::NAN)).collect();
        let normalised: Vec<f64> = values.iter().map(|value| value / zero).collect();
        let [wavenumbers, density] = density_of_states(&normalised, interval);
        let plots = self.plots([&lags, &normalised, &errors], [&wavenumbers, &density]);
        let highest = (0..count).max_by(|&a, &b| density[a].total_cmp(&density[b])).unwrap_or(0);
        let nyquist = wavenumbers[count - 1];
        let mut findings = Findings { plots, ..Findings::default() };
        let is_resolved = upper_end(&density) < LARGEST_UPPER_END;
        if !is_resolved {
            findings.warnings.push(format!(
                "the spectrum is not small at its upper end: frames {interval} ps apart do not resolve the \
                 motion, and {} wrong",
                if self.by_mass { "the spectrum is" } else { "spectrum and diffusion coefficient are" }
            ));
        }
        if !self.by_mass && is_resolved {
            let coefficients = |values: &[f64]| -> Vec<f64> {
                integral(values, interval).into_iter().map(|integral| integral / 3.0).collect()
            };
            let running = coefficients(&values);
            let last = |coefficients: Vec<f64>| DIFFUSION * coefficients[count - 1];
            let error = error_of(&|group| last(coefficients(group)));
            let value = DIFFUSION * running[count - 1];
            findings.numbers.push(Number { name: "diffusion", value, error, unit: "1e-5 cm2/s" });
            let error = plus_minus(error, 4);
            findings
                .summary
                .push(format!("diffusion    {value:.4}{error} · 10⁻⁵ cm²/s, up to {:.3} ps", lags[count - 1]));
            findings.arrays.push(Array::new("diffusion", [("lag", count)], running, "nm+2 ps-1"));
        }
        findings.numbers.push(Number { name: "peak", value: wavenumbers[highest], error: None, unit: "1/cm" });
        findings
            .summary
            .push(format!("peak         {:.1} 1/cm, in a spectrum up to {nyquist:.0} 1/cm", wavenumbers[highest]));
        findings.summary.push(format!("particles    {all}"));
        findings.settings =
            vec![("select", self.text.clone()), ("weights", if self.by_mass { "mass" } else { "equal" }.to_owned())];
        findings.arrays.extend([
            Array::new("vacf", [("lag", count)], values, "nm+2 ps-2"),
            Array::new("vacf_normalised", [("lag", count)], normalised, ""),
            Array::new("vacf_normalised_error", [("lag", count)], errors, ""),
            Array::new("lag", [("lag", count)], lags, "ps"),
            Array::new("density_of_states", [("wavenumber", count)], density, "cm"),
            Array::new("wavenumber", [("wavenumber", count)], wavenumbers, "cm-1"),
        ]);
        Ok(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::Values;

    /// Returns an observable with two particles whose velocities along x are cos ωt and sin ωt, and the times of the
    /// frames. The velocity autocorrelation is ½ cos ωτ at every lag τ.
    fn oscillators(frames: usize, interval: f64, omega: f64) -> (VelocityCorrelation, Passed) {
        let particle = |atom| Particle { mass: 2.0, atoms: vec![(atom, 1.0)] };
        let mut vacf = VelocityCorrelation {
            text: "all".to_owned(),
            particles: vec![particle(0), particle(1)],
            independent: vec![],
            by_mass: false,
            longest: None,
            velocities: vec![],
            frames: 0,
        };
        let mut passed = Passed::default();
        for t in 0..frames {
            let time = t as f64 * interval;
            let (sin, cos) = (omega * time).sin_cos();
            let velocities = vec![vec3(cos, 0.0, 0.0), vec3(sin, 0.0, 0.0)];
            vacf.observe(&[StoredFrame { time, velocities, ..StoredFrame::default() }]).unwrap();
            passed.steps.push(t as i64);
            passed.times.push(time);
        }
        (vacf, passed)
    }

    fn array<'a>(findings: &'a Findings, name: &str) -> &'a [f64] {
        let found = findings.arrays.iter().find(|array| array.name == name).unwrap();
        let Values::Double(values) = &found.values else { panic!("f64") };
        values
    }

    /// The trapezoidal sum of cos ωτ up to T at intervals Δ is ½ Δ sin(ωT) / tan(½ ωΔ). The oscillators have a
    /// wavelength of 1/1000 cm, and the range of wavenumbers ends at 1/(2cΔ).
    #[test]
    fn oscillators_have_one_frequency() {
        let (interval, omega) = (0.002, 2.0 * PI * 1000.0 / WAVENUMBER);
        let (mut vacf, passed) = oscillators(1000, interval, omega);
        let findings = vacf.finish(&passed).unwrap();
        // tolerance for velocities that are stored in f32
        const ROUNDING: f64 = 1e-6;
        for (&lag, &value) in array(&findings, "lag").iter().zip(array(&findings, "vacf")) {
            assert!((value - 0.5 * (omega * lag).cos()).abs() < ROUNDING, "{lag}: {value}");
        }
        let closed = |lag: f64| 0.5 * 0.5 * interval * (omega * lag).sin() / (0.5 * omega * interval).tan() / 3.0;
        for (&lag, &value) in array(&findings, "lag").iter().zip(array(&findings, "diffusion")) {
            assert!((value - closed(lag)).abs() < ROUNDING, "{lag}: {value}");
        }
        let wavenumbers = array(&findings, "wavenumber");
        let spacing = wavenumbers[1];
        assert!((wavenumbers[500] - 1.0 / (2.0 * 2.997_924_58e-2 * interval)).abs() < 1e-6, "{wavenumbers:?}");
        let peak = findings.numbers.iter().find(|number| number.name == "peak").unwrap();
        assert!((peak.value - 1000.0).abs() <= 0.5 * spacing + 1e-9, "{peak:?} {spacing}");
        // the integral over wavenumbers is the normalised correlation at lag zero, which is 1
        let total = integral(array(&findings, "density_of_states"), spacing).pop().unwrap();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }

    /// Tests oscillators of 1000/cm at intervals at which the spectrum ends at 1030/cm and at 340/cm. The second
    /// spectrum has its peak at 320/cm. Both peaks are at the upper end of the spectrum, where they may be aliases.
    #[test]
    fn motion_that_frames_do_not_resolve_gives_no_diffusion_coefficient() {
        let omega = 2.0 * PI * 1000.0 / WAVENUMBER;
        for upper in [1030.0, 340.0] {
            let (mut vacf, passed) = oscillators(1000, 0.5 * WAVENUMBER / upper, omega);
            let findings = vacf.finish(&passed).unwrap();
            assert!(findings.numbers.iter().all(|number| number.name != "diffusion"));
            assert!(findings.warnings.iter().any(|line| line.starts_with("the spectrum is not small")));
        }
    }

    #[test]
    fn frames_without_velocities_are_refused() {
        let message = check(&StoredFrame::default()).unwrap_err().to_string();
        assert!(message.contains("no velocities"), "{message}");
        let (mut vacf, mut passed) = oscillators(10, 0.1, 1.0);
        passed.times[4] += 0.05;
        assert!(vacf.finish(&passed).is_err());
    }
}
