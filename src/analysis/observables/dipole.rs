//! Dipole moment, and the dielectric constant from its fluctuations.

use std::f64::consts::PI;

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::Summary;
use crate::analysis::system::{AnalysedSystem, Group};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::units::{BOLTZMANN, COULOMB, Dimension};
use crate::vec3::Vec3;

/// Results: dipole (e nm, time × xyz) and its magnitude (debye). A group with a net charge has the dipole about its
/// center of mass
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
    match Dimension::Temperature.parse(text).map_err(|problem| problem.to_string())? {
        value if value > 0.0 => Ok(value),
        value => Err(format!("{value} K is not a positive temperature")),
    }
}

/// 1 e nm in debye: 1/0.020819434, from 1 debye = 10⁻²¹ C m²/s divided by the speed of light, and the elementary charge
/// of CODATA 2018.
const DEBYE: f64 = 48.032_047_2;
/// Largest net charge (e) of a group that counts as neutral, which allows for charges that are rounded to six digits.
const NEUTRAL: f64 = 1e-3;

/// Charges of the atoms of a group.
struct Charges {
    group: Group,
    charges: Vec<f64>,
    /// weights of the center of mass, subtracted from positions of a charged group
    weights: Option<Vec<f64>>,
}

impl Charges {
    fn new(system: &AnalysedSystem<'_>, group: Group) -> Result<Self> {
        let charges: Vec<f64> = group.atoms.iter().map(|&atom| system.topology().atoms[atom as usize].charge).collect();
        if charges.iter().all(|charge| *charge == 0.0) {
            let problem = Problem::new("the selected atoms have no charges");
            return Err(problem.help("give a topology with charges by --topology (prmtop, top, psf, H5MD)").into());
        }
        let net: f64 = charges.iter().sum();
        let weights = if net.abs() > NEUTRAL { Some(system.weights(&group, true)?) } else { None };
        Ok(Charges { group, charges, weights })
    }

    /// Returns the dipole moment (e nm) of the group, with whole molecules.
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
            plots: vec![Plot {
                suffix: "",
                title: format!("Dipole moment: {}", self.charges.group.text),
                x: Axis::new("time / ps"),
                y: Axis::new("dipole moment / debye"),
                layers: summary.layers(&passed.times, &magnitudes),
            }],
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
    /// Returns the dielectric constant of the first `count` frames. `dipoles` is Σ M (e nm) and `squares` is Σ M² (e²
    /// nm²) over these frames.
    fn constant(&self, count: usize, dipoles: Vec3, squares: f64) -> f64 {
        let (mean, square) = (dipoles * (1.0 / count as f64), squares / count as f64);
        let volume = self.volume / self.rows.len() as f64;
        let fluctuation = square - mean.norm_squared();
        1.0 + 4.0 * PI / 3.0 * COULOMB * fluctuation / (volume * BOLTZMANN * self.temperature)
    }
}

impl Observable for Dielectric {
    /// dipole (e nm) and volume (nm³)
    type Sample = (Vec3, f64);

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        let Some(cell) = &frame.cell else {
            let problem = Problem::new(format!("the frame at {} ps has no cell", frame.time));
            return Err(problem.help("a dielectric constant needs the volume").into());
        };
        let positions = self.charges.group.stored(frame);
        Ok((positions.iter().zip(&self.charges.charges).map(|(r, &charge)| *r * charge).sum(), cell.volume()))
    }

    fn add(&mut self, (dipole, volume): Self::Sample) -> Result<()> {
        self.rows.push(dipole);
        self.volume += volume;
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let (mut dipoles, mut squares) = (Vec3::ZERO, 0.0);
        let running: Vec<f64> = self
            .rows
            .iter()
            .enumerate()
            .map(|(index, dipole)| {
                dipoles += *dipole;
                squares += dipole.norm_squared();
                self.constant(index + 1, dipoles, squares)
            })
            .collect();
        let value = running.last().copied().unwrap_or(f64::NAN);
        let count = running.len();
        Ok(Findings {
            numbers: vec![Number { name: "dielectric_constant", value, error: None, unit: "" }],
            summary: vec![format!("constant     {value:.2} at {} K", self.temperature)],
            plots: vec![Plot {
                suffix: "",
                title: format!("Dielectric constant of the frames so far: {}", self.charges.group.text),
                x: Axis::new("time / ps"),
                y: Axis::new("dielectric constant"),
                layers: vec![Layer::line("", &passed.times, &running)],
            }],
            arrays: vec![Array::new("dielectric_constant", [(TIME, count)], running, "")],
            settings: vec![
                ("select", self.charges.group.text.clone()),
                ("temperature", format!("{} K", self.temperature)),
            ],
        })
    }
}
