//! Chooses the parameters of the Coulomb method and of LJ-PME, for example the mesh parameters for a requested
//! accuracy.

use super::options::Truncation;
use super::{ElectrostaticsSpec, LjPmeSpec, Options, PmeSpec, TuningMethod};
use crate::cell::PeriodicCell;
use crate::error::{Error, Result};
use crate::pme::{self, Splitting};
use crate::system::{DispersionCorrection, Electrostatics, PmeParameters, State, Topology};
use crate::units::COULOMB;
use crate::vec3::Vec3;

/// Alternative PME parameters with the accuracy that the input requests. Coulomb methods other than PME have no
/// alternatives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alternatives {
    /// PME parameters that are used if tuning is off
    pub conventional: Option<PmeParameters>,
    /// alternatives to the PME parameters in the settings of the system
    pub others: Vec<Splitting>,
}

/// Returns the Coulomb method with all its parameters, and alternative PME parameters with the requested accuracy.
pub(super) fn electrostatics(
    options: &Options<'_>,
    truncation: &Truncation,
    topology: &Topology,
    state: &State,
) -> Result<(Electrostatics, Alternatives)> {
    let only = match options.forces.electrostatics {
        ElectrostaticsSpec::Off => Electrostatics::Off,
        ElectrostaticsSpec::Plain => Electrostatics::Plain,
        ElectrostaticsSpec::ReactionField { permittivity } => Electrostatics::ReactionField { permittivity },
        // without charges, as in noble gases, PME is not needed; 1-4 pairs may have charges of their own
        ElectrostaticsSpec::Pme(_) if topology.atoms.iter().all(|atom| atom.charge == 0.0) => {
            let is_charged = topology.bonded.pairs14.iter().any(|pair| pair.charge_product != 0.0);
            if is_charged { Electrostatics::Plain } else { Electrostatics::Off }
        }
        ElectrostaticsSpec::Pme(spec) => {
            let (parameters, alternatives) = pme_parameters(options, spec, truncation, topology, state)?;
            return Ok((Electrostatics::Pme(parameters), alternatives));
        }
    };
    Ok((only, Alternatives::default()))
}

/// Returns the dispersion correction, and for LJ-PME also the mesh parameters.
pub(super) fn dispersion(truncation: &Truncation, state: &State) -> Result<DispersionCorrection> {
    let spec = match truncation.dispersion_correction {
        DispersionCorrection::Off => return Ok(DispersionCorrection::Off),
        DispersionCorrection::AllPairs => return Ok(DispersionCorrection::AllPairs),
        DispersionCorrection::NonExcluded => return Ok(DispersionCorrection::NonExcluded),
        DispersionCorrection::Pme(spec) => spec,
    };
    let missing = || Error::Internal("LJ-PME passed the checks without cell and cutoff".to_owned());
    let (cell, cutoff) = state.cell.as_ref().zip(truncation.cutoff_lj).ok_or_else(missing)?;
    let parameters = match spec {
        LjPmeSpec::Explicit(parameters) => parameters,
        LjPmeSpec::Spacing { spacing, order } => pme::lj_parameters_for_spacing(cell, cutoff, spacing, order)?,
    };
    pme::check(&parameters)?;
    Ok(DispersionCorrection::Pme(parameters))
}

/// Lower bound of the RMS force to which a relative error refers, as a fraction of the force between two ions with the
/// RMS charge at the mean distance of atoms in a liquid. In liquids of polar molecules the RMS force is about equal to
/// this force between ions. The bound matters where the electrostatic forces nearly vanish: in a perfect crystal, and
/// between molecules without dipoles, such as methane. There an error relative to the RMS force would need a grid that
/// is many times finer, although other forces exceed the error by orders of magnitude.
const SMALLEST_RELATIVE_FORCE: f64 = 0.1;
/// Number density of the atoms of a liquid, 1/nm³: that of water. In a denser system, the density of the system counts.
const LIQUID: f64 = 100.0;
/// Shortest Coulomb cutoff for tuning, as a fraction of the longer of the Coulomb and the Lennard-Jones cutoff.
/// [`LONGEST_CUTOFF`] is the upper limit. With a shorter cutoff excluded pairs may be farther apart than the pair
/// kernels can correct. With longer cutoffs the additional pairs cost more than a coarser mesh saves.
const SHORTEST_CUTOFF: f64 = 0.65;
const LONGEST_CUTOFF: f64 = 1.2;
/// Maximum Coulomb cutoff for tuning, as a fraction of half the width of the cell. The margin lets a barostat shrink
/// the cell.
const MARGIN: f64 = 0.9;

fn pme_parameters(
    options: &Options<'_>,
    spec: PmeSpec,
    truncation: &Truncation,
    topology: &Topology,
    state: &State,
) -> Result<(PmeParameters, Alternatives)> {
    let missing = || Error::Internal("PME passed the checks without cell and cutoff".to_owned());
    let (State { positions, .. }, cell) = (state, state.cell.as_ref().ok_or_else(missing)?);
    let cutoff = truncation.cutoff.ok_or_else(missing)?;
    let longer = truncation.cutoff_lj.map_or(cutoff, |lj| lj.max(cutoff));
    let charges: Vec<f64> = topology.atoms.iter().map(|atom| atom.charge).collect();
    let model = || {
        let structure = pme::ChargeStructure::sample(cell, positions, &charges);
        pme::ErrorModel::new(cell, cutoff, &charges, structure)
    };
    let longest = (LONGEST_CUTOFF * longer).min(MARGIN * cell.max_cutoff()).max(cutoff);
    let cutoffs = SHORTEST_CUTOFF * longer..=longest;
    let measures = options.tuning == TuningMethod::Measure;
    let none = |own| (own, Alternatives { conventional: Some(own), others: vec![] });
    Ok(match spec {
        PmeSpec::Explicit { alpha, grid, order } => none(PmeParameters { alpha, grid, order }),
        PmeSpec::Spacing { spacing, order } => {
            let (own, mut alternatives) = none(pme::parameters_for_spacing(cell, cutoff, spacing, order)?);
            if measures {
                let model = model();
                let allowed = model.named_by_spacing(spacing, order);
                alternatives.others = model.splittings(&own, allowed, cutoffs);
            }
            (own, alternatives)
        }
        PmeSpec::ForceError(relative) => {
            let model = model();
            let error = relative * force_scale(cell, cutoff, topology, positions);
            let choices = model.choices(error)?;
            let own = if options.tuning == TuningMethod::Off { choices[0] } else { model.cheapest(choices) };
            let others = choices.into_iter().filter(|other| *other != own);
            let mut others: Vec<Splitting> = others.map(|parameters| Splitting { cutoff, parameters }).collect();
            if measures {
                others.extend(model.splittings(&own, pme::allowed(error), cutoffs));
            }
            (own, Alternatives { conventional: Some(choices[0]), others })
        }
    })
}

/// Returns the RMS electrostatic force (kJ/mol/nm) that is the scale of relative force errors.
fn force_scale(cell: &PeriodicCell, cutoff: f64, topology: &Topology, positions: &[Vec3]) -> f64 {
    let charges: Vec<f64> = topology.atoms.iter().map(|atom| atom.charge).collect();
    let excluded = |i: usize, j: usize| topology.exclusions.contains(i as u32, j as u32);
    let force = pme::sample_force_rms(cell, positions, &charges, excluded, cutoff);
    let atoms = charges.len() as f64;
    let mean_square = charges.iter().map(|q| q * q).sum::<f64>() / atoms;
    let mean_force = COULOMB * mean_square * (atoms / cell.volume()).max(LIQUID).powf(2.0 / 3.0);
    force.max(SMALLEST_RELATIVE_FORCE * mean_force)
}
