//! Dipole moment, and the dielectric constant from its fluctuations.

use std::f64::consts::PI;

use super::{Input, Options, cell_of, positive};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::{Summary, plus_minus};
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::units::{BOLTZMANN, COULOMB, Dimension};
use crate::vec3::Vec3;

/// Results: dipole (e nm, time × xyz) and its magnitude (debye). The dipole of a group with a net charge is relative to
/// the center of mass of the group
#[derive(Debug, clap::Args)]
pub(super) struct DipoleOptions {
    /// Selection of atoms
    #[arg(long, value_name = "TEXT", default_value = "protein")]
    select: String,
}

/// Results: dielectric constant (relative permittivity) of all frames, and of the frames up to each time
#[derive(Debug, clap::Args)]
pub(super) struct DielectricOptions {
    /// Selection of atoms; molecules must be neutral
    #[arg(long, value_name = "TEXT", default_value = "all")]
    select: String,
    /// Temperature of the simulation
    #[arg(long, value_name = "TEMPERATURE", value_parser = temperature, default_value = "298.15 K")]
    temperature: f64,
}

fn temperature(text: &str) -> std::result::Result<f64, String> {
    positive(text, Dimension::Temperature, "is not a positive temperature in K")
}

/// 1 e nm in debye: 1/0.020819434, from 1 debye = 10⁻²¹ C m²/s divided by the speed of light, and the elementary charge
/// of CODATA 2018.
const DEBYE: f64 = 48.032_047_2;
/// Largest net charge (e) of a group that counts as neutral. The limit allows for charges that are rounded to six
/// digits.
const NEUTRAL: f64 = 1e-3;

/// Charges of the atoms of a group.
struct Charges {
    group: Group,
    charges: Vec<f64>,
    /// weights of the atoms in the center of mass, about which the dipole of a charged group is computed; `None` for a
    /// neutral group
    weights: Option<Vec<f64>>,
}

impl Charges {
    fn new(system: &AnalysedSystem<'_>, group: Group) -> Result<Self> {
        let charges = system.charges(&group)?;
        let net: f64 = charges.iter().sum();
        let weights = if net.abs() > NEUTRAL { Some(system.weights(&group, true)?) } else { None };
        Ok(Charges { group, charges, weights })
    }

    /// Returns the dipole moment (e nm) of the group in a frame of whole molecules.
    fn dipole(&self, frame: &StoredFrame) -> Vec3 {
        let positions = self.group.positions(frame);
        let center = self
            .weights
            .as_ref()
            .map_or(Vec3::ZERO, |weights| positions.iter().zip(weights).map(|(r, &weight)| *r * weight).sum());
        positions.iter().zip(&self.charges).map(|(r, &charge)| (*r - center) * charge).sum()
    }
}

impl Options for DipoleOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let charges = Charges::new(input.system, input.system.group(&self.select)?)?;
        Ok(Box::new(Dipole { charges, rows: vec![] }))
    }
}

impl Options for DielectricOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let (system, group) = (input.system, input.system.group(&self.select)?);
        let molecules = system.molecules();
        let mut charges = vec![0.0; molecules.len()];
        for &atom in &group.atoms {
            charges[molecules.of_atom(atom as usize)] += system.topology().atoms[atom as usize].charge;
        }
        if let Some(charge) = charges.iter().find(|charge| charge.abs() > NEUTRAL) {
            let problem = Problem::new(format!("a selected molecule has a charge of {charge:.3} e"));
            let help = "the dipole of ions depends on the periodic image; select neutral molecules, for example water";
            return Err(problem.help(help).into());
        }
        let charges = Charges::new(system, group)?;
        Ok(Box::new(Dielectric { charges, temperature: self.temperature, rows: vec![], volume: 0.0 }))
    }
}

/// Observable of the dipole moment Σ q r.
struct Dipole {
    charges: Charges,
    rows: Vec<Vec3>,
}

impl Observable for Dipole {
    type Sample = Vec3;

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        Ok(self.charges.dipole(frame))
    }

    fn add(&mut self, dipole: Self::Sample) -> Result<()> {
        self.rows.push(dipole);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let count = self.rows.len();
        let magnitudes: Vec<f64> = self.rows.iter().map(|dipole| dipole.norm() * DEBYE).collect();
        let summary = Summary::of(&magnitudes);
        let rows: Vec<f64> = self.rows.iter().flat_map(|dipole| dipole.to_array()).collect();
        Ok(Findings {
            numbers: vec![summary.number("dipole", "debye")],
            summary: summary.lines("debye"),
            warnings: vec![],
            plots: vec![Plot::over_time(
                format!("Dipole moment: {}", self.charges.group.text),
                Axis::new("dipole moment / debye"),
                summary.layers(&passed.times, &magnitudes),
            )],
            arrays: vec![
                Array::new("magnitude", [(TIME, count)], magnitudes, "debye"),
                Array::new("dipole", [(TIME, count), ("xyz", 3)], rows, "e nm"),
            ],
            settings: vec![("select", self.charges.group.text.clone())],
        })
    }
}

/// Observable of the dielectric constant ε = 1 + 4π/3 (⟨M²⟩ − ⟨M⟩²)/(4πε₀ V kT) of a system with the dipole moment M
/// and the volume V, with the conducting boundary conditions of PME (Neumann & Steinhauser, Chem. Phys. Lett. 102, 508
/// (1983), doi:10.1016/0009-2614(83)87455-7).
struct Dielectric {
    charges: Charges,
    /// temperature, K
    temperature: f64,
    rows: Vec<Vec3>,
    /// sum of the cell volumes over frames, nm³
    volume: f64,
}

impl Dielectric {
    /// Returns the contribution of a fluctuation ⟨M²⟩ − ⟨M⟩² (e² nm²) to the dielectric constant.
    fn contribution(&self, fluctuation: f64) -> f64 {
        let volume = self.volume / self.rows.len() as f64;
        4.0 * PI / 3.0 * COULOMB * fluctuation / (volume * BOLTZMANN * self.temperature)
    }

    /// Returns the dielectric constant at each frame, computed from the frame and all earlier frames.
    fn running(&self) -> Vec<f64> {
        let (mut dipoles, mut squares) = (Vec3::ZERO, 0.0);
        let with = |(index, dipole): (usize, &Vec3)| {
            dipoles += *dipole;
            squares += dipole.norm_squared();
            let count = (index + 1) as f64;
            1.0 + self.contribution(squares / count - (dipoles * (1.0 / count)).norm_squared())
        };
        self.rows.iter().enumerate().map(with).collect()
    }

    /// Returns the standard error of the dielectric constant of all frames. To first order, the fluctuation is the mean
    /// of (M − ⟨M⟩)².
    fn error(&self) -> Option<f64> {
        let mean = self.rows.iter().copied().sum::<Vec3>() * (1.0 / self.rows.len() as f64);
        let squares: Vec<f64> = self.rows.iter().map(|dipole| (*dipole - mean).norm_squared()).collect();
        Summary::of(&squares).error.map(|error| self.contribution(error))
    }
}

impl Observable for Dielectric {
    /// dipole (e nm) and volume (nm³)
    type Sample = (Vec3, f64);

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let cell = cell_of(frame, "a dielectric constant needs the volume")?;
        let positions = self.charges.group.stored(frame);
        Ok((positions.iter().zip(&self.charges.charges).map(|(r, &charge)| *r * charge).sum(), cell.volume()))
    }

    fn add(&mut self, (dipole, volume): Self::Sample) -> Result<()> {
        self.rows.push(dipole);
        self.volume += volume;
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        if self.rows.len() < 2 {
            return Err(Problem::new("a dielectric constant needs at least two frames").into());
        }
        let (running, error) = (self.running(), self.error());
        let value = running.last().copied().unwrap_or(f64::NAN);
        let uncertainty = plus_minus(error, 2);
        let count = running.len();
        Ok(Findings {
            numbers: vec![Number { name: "dielectric_constant", value, error, unit: "" }],
            summary: vec![format!("constant     {value:.2}{uncertainty} at {} K", self.temperature)],
            warnings: vec![],
            plots: vec![Plot::over_time(
                format!("Dielectric constant of the frames so far: {}", self.charges.group.text),
                Axis::new("dielectric constant"),
                vec![Layer::line("", &passed.times, &running)],
            )],
            arrays: vec![Array::new("dielectric_constant", [(TIME, count)], running, "")],
            settings: vec![
                ("select", self.charges.group.text.clone()),
                ("temperature", format!("{} K", self.temperature)),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::system::Images;
    use crate::system::Topology;

    /// Dipole moments M with components that are uniformly distributed between −1 and 1 have ⟨M²⟩ = 1, and M² has the
    /// variance 12/45.
    #[test]
    fn independent_dipoles_have_a_known_error() {
        let mut state = 1u64;
        let mut uniform = || {
            // Knuth's linear congruential generator
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let rows: Vec<Vec3> = (0..8192).map(|_| [uniform(), uniform(), uniform()].into()).collect();
        let topology = Topology::default();
        let group = AnalysedSystem::new(&topology, Images::AsStored).group_of("none", vec![]);
        let charges = Charges { group, charges: vec![], weights: None };
        let count = rows.len() as f64;
        let found = Dielectric { charges, temperature: 300.0, volume: 2.0 * count, rows };
        // 4π/3 · e²/(4πε₀ · 2 nm · kT), with e²/(4πε₀) = 138.935 kJ/mol nm and kT = 2.49434 kJ/mol
        let scale = 4.0 * PI / 3.0 * 138.935 / (2.0 * 2.49434);
        let error = (12.0 / 45.0 / count).sqrt();
        let constant = *found.running().last().unwrap();
        assert!((constant - 1.0 - scale).abs() < 4.0 * scale * error, "{constant}");
        let ratio = found.error().unwrap() / (scale * error);
        assert!((0.75..1.35).contains(&ratio), "{ratio}");
        let mut single = Dielectric { rows: found.rows[..1].to_vec(), ..found };
        let error = single.finish(&Passed::default()).unwrap_err().to_string();
        assert!(error.contains("at least two frames"), "{error}");
    }
}
