//! Thermostats, and the velocity changes that each thermostat applies to its temperature groups. [`super::rescaling`]
//! and [`super::nose_hoover`] multiply all velocities of a group by one factor. [`super::refreshment`] partially
//! refreshes each velocity.

use super::groups::PerGroup;
use super::nose_hoover::{LEAST_COUPLINGS, NoseHoover};
use super::refreshment::{Refreshment, Renewal};
use super::rescaling::{Bath, Rescaling, berendsen, velocity_rescale};
use super::schedule::Schedule;
use super::{CouplingStep, is_due};
use crate::units::Dimension;
use serde::{Deserialize, Serialize};

/// Temperature coupling of a stage: algorithm, target temperature and coupling time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thermostat {
    /// thermostat algorithm
    pub kind: ThermostatKind,
    /// target temperature, K
    pub temperature: Schedule,
    /// coupling time, ps: the relaxation time of rescaling thermostats, the inverse friction coefficient of Langevin
    /// dynamics, the inverse collision rate of Andersen's thermostat, and the period of the oscillations of a
    /// Nosé–Hoover chain
    pub coupling_time: f64,
    /// steps between couplings
    pub every: u32,
    /// groups of atoms whose temperature or coupling time differs from that of all other atoms
    pub groups: Vec<ThermostatGroup>,
}

/// A temperature group of selected atoms, with its own temperature and coupling time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThermostatGroup {
    /// selection of the group's atoms
    pub select: String,
    /// target temperature, K
    pub temperature: Schedule,
    /// coupling time, ps, as in [`Thermostat`]
    pub coupling_time: f64,
}

/// Thermostat algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThermostatKind {
    /// stochastic velocity rescaling: canonical (Bussi, Donadio, Parrinello 2007)
    VRescale,
    /// weak coupling: not canonical, for equilibration (Berendsen 1984)
    Berendsen,
    /// chain of three thermostats: canonical, deterministic (Martyna, Klein, Tuckerman 1992)
    NoseHoover,
    /// friction and noise on every atom (Langevin dynamics, middle scheme): canonical (Zhang et al. 2019)
    Langevin,
    /// collisions that replace velocities: canonical (Andersen 1980)
    Andersen,
}

/// Properties of a thermostat algorithm, from which checks, messages and help texts are generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThermostatFacts {
    /// name of the algorithm in the input file
    pub word: &'static str,
    /// name in messages, with an article
    pub name: &'static str,
    /// quantity by which an input file states the coupling time
    pub key: CouplingKey,
    /// whether the algorithm samples the canonical ensemble
    pub is_canonical: bool,
    /// whether the algorithm draws random numbers
    pub is_random: bool,
    /// whether the algorithm refreshes velocities atom by atom
    pub refreshes: bool,
    /// minimum number of couplings per coupling time
    pub min_couplings: f64,
}

/// Quantity by which an input file states the coupling time of a thermostat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CouplingKey {
    /// the coupling time itself
    Time,
    /// the friction, which is the inverse of the coupling time
    Friction,
}

impl CouplingKey {
    /// Returns the key of the input file.
    pub fn word(self) -> &'static str {
        match self {
            CouplingKey::Time => "coupling_time",
            CouplingKey::Friction => "friction",
        }
    }

    /// Returns the coupling time (ps) for a value of the quantity in ps or 1/ps.
    pub fn coupling_time(self, value: f64) -> f64 {
        match self {
            CouplingKey::Time => value,
            CouplingKey::Friction => value.recip(),
        }
    }

    /// Writes the quantity for a coupling time (ps), such that [`Self::coupling_time`] gives exactly this time for the
    /// value read back.
    pub fn spell(self, time: f64) -> String {
        match self {
            CouplingKey::Time => Dimension::Time.spell(time),
            CouplingKey::Friction => Dimension::Rate.spell_by(time.recip(), |friction| friction.recip() == time),
        }
    }
}

impl ThermostatKind {
    /// All kinds of thermostats, in the order of the help text.
    pub const ALL: [ThermostatKind; 5] = [
        ThermostatKind::VRescale,
        ThermostatKind::NoseHoover,
        ThermostatKind::Langevin,
        ThermostatKind::Andersen,
        ThermostatKind::Berendsen,
    ];

    /// Returns the properties of the algorithm.
    pub const fn facts(self) -> ThermostatFacts {
        let common = ThermostatFacts {
            word: "v-rescale",
            name: "stochastic velocity rescaling",
            key: CouplingKey::Time,
            is_canonical: true,
            is_random: true,
            refreshes: false,
            // no minimum is needed, since the algorithm is exact for any ratio of the coupling interval to the coupling
            // time
            min_couplings: 0.0,
        };
        match self {
            ThermostatKind::VRescale => common,
            ThermostatKind::NoseHoover => ThermostatFacts {
                word: "nose-hoover",
                name: "a Nosé-Hoover chain",
                is_random: false,
                min_couplings: LEAST_COUPLINGS,
                ..common
            },
            ThermostatKind::Langevin => ThermostatFacts {
                word: "langevin",
                name: "Langevin dynamics",
                key: CouplingKey::Friction,
                refreshes: true,
                ..common
            },
            ThermostatKind::Andersen => {
                ThermostatFacts { word: "andersen", name: "Andersen's thermostat", refreshes: true, ..common }
            }
            // with less than one coupling per coupling time, weak coupling overshoots the target temperature
            ThermostatKind::Berendsen => ThermostatFacts {
                word: "berendsen",
                name: "Berendsen's weak coupling",
                is_canonical: false,
                is_random: false,
                min_couplings: 1.0,
                ..common
            },
        }
    }
}

/// Change of velocities by a thermostat: one factor for each temperature group, or a partial refreshment of each
/// velocity.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum VelocityChange {
    /// the velocities of each group are multiplied by a factor that depends on the kinetic energy of the group
    Rescale(PerGroup<Rescaling>),
    /// the velocities of each group are multiplied by the factor of a Nosé–Hoover chain, which is part of the state
    NoseHoover(PerGroup<NoseHoover>),
    /// each velocity is partially refreshed
    Refresh(Refreshment),
}

impl Thermostat {
    /// A thermostat with one temperature (K) for the whole system. `coupling_time` is in ps, and `every` is in steps.
    pub fn new(kind: ThermostatKind, temperature: f64, coupling_time: f64, every: u32) -> Self {
        Thermostat { kind, temperature: temperature.into(), coupling_time, every, groups: vec![] }
    }

    /// Whether the thermostat changes velocities at the end of step `step` of the stage, where steps are numbered from
    /// 0: the thermostat acts when the number of steps done becomes a multiple of `every`.
    pub fn acts_at(&self, step: u64) -> bool {
        is_due(self.every, step + 1)
    }

    /// Atom selections of all temperature groups except group 0, which contains all atoms that are in no other group.
    pub fn selections(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.select.as_str())
    }

    /// Highest target temperature of any group at any time, K.
    pub fn highest_temperature(&self) -> f64 {
        let groups = self.groups.iter().map(|group| group.temperature.largest());
        groups.fold(self.temperature.largest(), f64::max)
    }

    /// Mean temperature (K) of all groups, weighted by their degrees of freedom, at a time (ps) since the start of
    /// the stage.
    pub fn mean_temperature(&self, degrees_of_freedom: &[f64], time: f64) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for bath in self.baths(degrees_of_freedom, time) {
            sum += bath.degrees_of_freedom * bath.temperature;
            weight += bath.degrees_of_freedom;
        }
        if weight > 0.0 { sum / weight } else { self.temperature.at(time) }
    }

    /// Heat baths of the groups, with their degrees of freedom, at a time (ps) since the start of the stage.
    fn baths(&self, degrees_of_freedom: &[f64], time: f64) -> impl Iterator<Item = Bath> {
        let first = (&self.temperature, self.coupling_time);
        let groups = self.groups.iter().map(|group| (&group.temperature, group.coupling_time));
        std::iter::once(first).chain(groups).zip(degrees_of_freedom).map(
            move |((temperature, coupling_time), &degrees_of_freedom)| Bath {
                degrees_of_freedom,
                temperature: temperature.at(time),
                coupling_time,
            },
        )
    }

    /// Change of velocities after the coupling step `at`, for temperature groups with `degrees_of_freedom` degrees of
    /// freedom.
    pub fn change(&self, degrees_of_freedom: &[f64], at: CouplingStep) -> VelocityChange {
        let CouplingStep { time, timestep, key } = at;
        let baths = self.baths(degrees_of_freedom, time);
        let interval = f64::from(self.every) * timestep;
        match self.kind {
            ThermostatKind::VRescale => {
                let rescale = |(bath, group)| velocity_rescale(bath, interval, key, group);
                VelocityChange::Rescale(baths.zip(0..).map(rescale).collect())
            }
            ThermostatKind::Berendsen => VelocityChange::Rescale(baths.map(|bath| berendsen(bath, interval)).collect()),
            ThermostatKind::NoseHoover => {
                VelocityChange::NoseHoover(baths.map(|bath| NoseHoover { bath, interval }).collect())
            }
            ThermostatKind::Langevin => {
                let renewals = baths.map(|bath| Renewal::langevin(bath, interval)).collect();
                VelocityChange::Refresh(Refreshment { renewals, key })
            }
            ThermostatKind::Andersen => {
                let renewals = baths.map(|bath| Renewal::andersen(bath, interval)).collect();
                VelocityChange::Refresh(Refreshment { renewals, key })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};

    /// Tests that thermostats, barostats and volume moves act at the end of the 10th, 20th, … step of a stage.
    #[test]
    fn a_stage_of_n_steps_has_n_over_every_couplings() {
        let thermostat = Thermostat::new(ThermostatKind::VRescale, 300.0, 1.0, 10);
        let barostat = |kind| Barostat {
            kind,
            coupling: PressureCoupling::Isotropic,
            pressure: [0.06; 3].map(Schedule::from),
            surface_tension: 0.0,
            coupling_time: 5.0,
            compressibility: [7.5e-4; 3],
            every: 10,
        };
        let steps = |acts: &dyn Fn(u64) -> bool| (0..30).filter(|&step| acts(step)).collect::<Vec<_>>();
        let expected = [9, 19, 29];
        assert_eq!(steps(&|step| thermostat.acts_at(step)), expected);
        assert_eq!(steps(&|step| barostat(BarostatKind::CRescale).acts_at(step)), expected);
        assert_eq!(steps(&|step| barostat(BarostatKind::MonteCarlo).tries_at(step)), expected);
        assert_eq!(steps(&|step| barostat(BarostatKind::MonteCarlo).acts_at(step)), Vec::<u64>::new());
    }
}
