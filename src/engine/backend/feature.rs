//! Features that each platform supports. The checks of plans and systems, the messages of these checks and the table of
//! `docs/features.md` are all derived from this module.

use crate::ensemble::barostat::BarostatKind;
use crate::ensemble::thermostat::ThermostatKind;
use crate::system::System;

/// A method that some platforms do not support. The CPU supports all of these methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// a thermostat of this kind
    Thermostat(ThermostatKind),
    /// temperature groups: separate heat baths for parts of the system
    TemperatureGroups,
    /// an isotropic barostat of this kind
    Barostat(BarostatKind),
    /// a barostat that scales the directions x, y, z by different factors
    DirectionalBarostat,
    /// multiple time steps: reciprocal-space forces every n-th step
    MultipleTimeSteps,
    /// restraints of positions
    PositionRestraints,
    /// restraints and pulling of collective variables
    Restraints,
    /// LJ-PME: Lennard-Jones interactions beyond the cutoff on a mesh
    LjPme,
    /// r⁻⁴ terms of ions (12-6-4 potential)
    Ions1264,
    /// forces that a program adds through the library
    ExternalForces,
    /// double-precision reference forces: `precision = "double"`
    DoublePrecision,
    /// systems without a periodic cell or without a cutoff
    NoCell,
}

impl Feature {
    /// Returns all features.
    pub fn all() -> Vec<Feature> {
        let mut all: Vec<Feature> = ThermostatKind::ALL.map(Feature::Thermostat).into();
        all.push(Feature::TemperatureGroups);
        all.extend(BarostatKind::ALL.map(Feature::Barostat));
        all.extend([
            Feature::DirectionalBarostat,
            Feature::MultipleTimeSteps,
            Feature::PositionRestraints,
            Feature::Restraints,
            Feature::LjPme,
            Feature::Ions1264,
            Feature::ExternalForces,
            Feature::DoublePrecision,
            Feature::NoCell,
        ]);
        all
    }

    /// Returns the name of the feature for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Thermostat(kind) => kind.facts().name,
            Feature::TemperatureGroups => "temperature groups",
            Feature::Barostat(kind) => kind.facts().name,
            Feature::DirectionalBarostat => "a semi-isotropic or anisotropic barostat",
            Feature::MultipleTimeSteps => "multiple time steps",
            Feature::PositionRestraints => "position restraints",
            Feature::Restraints => "restraints of collective variables",
            Feature::LjPme => "LJ-PME",
            Feature::Ions1264 => "12-6-4 ions",
            Feature::ExternalForces => "external forces",
            Feature::DoublePrecision => "double precision",
            Feature::NoCell => "no periodic cell or no cutoff",
        }
    }

    /// Returns the features that a system uses.
    pub fn of_system(system: &System) -> impl Iterator<Item = Feature> {
        let ions = (!system.nonbonded.c4.is_empty()).then_some(Feature::Ions1264);
        ions.into_iter().chain(system.settings.lj_pme().map(|_| Feature::LjPme))
    }
}

/// A platform that supports only some features, such as a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// name of the platform in messages
    pub name: &'static str,
    /// features that the platform does not support
    lacks: &'static [Feature],
}

/// The platform of one NVIDIA GPU.
pub const GPU: Platform = Platform {
    name: "the CUDA backend",
    lacks: &[
        Feature::Thermostat(ThermostatKind::NoseHoover),
        Feature::Thermostat(ThermostatKind::Andersen),
        Feature::TemperatureGroups,
        Feature::MultipleTimeSteps,
        Feature::LjPme,
        Feature::Ions1264,
        Feature::DoublePrecision,
    ],
};

/// The platform of several MPI ranks on CPUs with domain decomposition of one system.
pub const RANKS: Platform =
    Platform { name: "a run on several ranks", lacks: &[Feature::ExternalForces, Feature::NoCell] };

impl Platform {
    /// Returns whether the platform supports a feature.
    pub fn supports(self, feature: Feature) -> bool {
        !self.lacks.contains(&feature)
    }

    /// Returns an error message if the platform does not support one of the features in `used`. Each element of `used`
    /// holds the name of a part of the input and the feature that this part uses. The message contains the first
    /// unsupported feature and the name of the part that uses the feature.
    pub fn refusal<S: std::fmt::Display>(self, used: impl IntoIterator<Item = (S, Feature)>) -> Option<String> {
        let (user, feature) = used.into_iter().find(|&(_, feature)| !self.supports(feature))?;
        Some(format!("{user} uses {}, which {} does not support", feature.name(), self.name))
    }
}
