//! Thermostats: what each does to the velocities of its temperature groups. [`super::rescaling`] and [`super::nose_hoover`]
//! multiply all of a group by one factor, [`super::refreshment`] renews each in part.

use super::groups::PerGroup;
use super::is_due;
use super::nose_hoover::NoseHoover;
use super::refreshment::{Refreshment, Renewal};
use super::rescaling::{Bath, Rescaling, berendsen, velocity_rescale};
use super::schedule::Schedule;
use serde::{Deserialize, Serialize};

/// Temperature coupling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thermostat {
    /// algorithm
    pub kind: ThermostatKind,
    /// K
    pub temperature: Schedule,
    /// ps; of Langevin dynamics the inverse of the friction coefficient, of Andersen's thermostat that of the collision rate, of
    /// a Nosé–Hoover chain the period of its oscillations
    pub coupling_time: f64,
    /// steps between couplings
    pub every: u32,
    /// groups of atoms with another temperature or time
    pub groups: Vec<ThermostatGroup>,
}

/// A temperature group beside that of all other atoms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThermostatGroup {
    /// selection of its atoms
    pub select: String,
    /// K
    pub temperature: Schedule,
    /// ps, as that of the [`Thermostat`]
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
    /// friction and noise on every atom, the middle scheme: canonical (Zhang et al. 2019)
    Langevin,
    /// collisions that renew velocities: canonical (Andersen 1980)
    Andersen,
}

impl ThermostatKind {
    /// It renews velocities one by one.
    pub fn refreshes(self) -> bool {
        matches!(self, ThermostatKind::Langevin | ThermostatKind::Andersen)
    }
}

/// What a thermostat does to velocities.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum VelocityChange {
    /// all of a group are multiplied by one factor that follows from their kinetic energy, one for each group
    Rescale(PerGroup<Rescaling>),
    /// the same by chains that have a state
    NoseHoover(PerGroup<NoseHoover>),
    /// each is renewed in part
    Refresh(Refreshment),
}

impl Thermostat {
    /// One temperature (K) for the whole system; `coupling_time` in ps, `every` in steps.
    pub fn new(kind: ThermostatKind, temperature: f64, coupling_time: f64, every: u32) -> Self {
        Thermostat { kind, temperature: temperature.into(), coupling_time, every, groups: vec![] }
    }

    /// It acts after a step.
    pub fn acts_at(&self, step: u64) -> bool {
        step > 0 && is_due(self.every, step)
    }

    /// Selections of atoms beside the first group, which has all others.
    pub fn selections(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.select.as_str())
    }

    /// The highest temperature at any time, K.
    pub fn highest_temperature(&self) -> f64 {
        let groups = self.groups.iter().map(|group| group.temperature.largest());
        groups.fold(self.temperature.largest(), f64::max)
    }

    /// The temperature (K) of all groups, weighted by their degrees of freedom, at a time (ps) since the start of the stage.
    pub fn mean_temperature(&self, degrees_of_freedom: &[f64], time: f64) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for bath in self.baths(degrees_of_freedom, time) {
            sum += bath.degrees_of_freedom * bath.temperature;
            weight += bath.degrees_of_freedom;
        }
        if weight > 0.0 { sum / weight } else { self.temperature.at(time) }
    }

    /// The baths of groups with these degrees of freedom, at a time (ps) since the start of the stage.
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

    /// What it does after a step of the run, at a `time` since the start of the stage and for a time step, both in ps, to
    /// groups with these degrees of freedom.
    pub fn change(&self, degrees_of_freedom: &[f64], (time, timestep): (f64, f64), key: (u64, u64)) -> VelocityChange {
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
