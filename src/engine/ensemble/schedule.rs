//! Quantities that change during a stage.

use crate::units::Dimension;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A quantity that changes linearly with time between given points, for example the temperature in simulated annealing.
/// The quantity is constant before the first and after the last point.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// pairs of time (ps from the start of the stage, ascending) and value; at least one pair
    points: Vec<(f64, f64)>,
}

impl Schedule {
    /// Makes a schedule through points of time (ps) and value. `None` if there is no point, or if times do not ascend.
    pub fn new(points: Vec<(f64, f64)>) -> Option<Self> {
        let ascending = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (ascending && !points.is_empty()).then_some(Schedule { points })
    }

    /// Value of the quantity at a time in ps from the start of the stage.
    pub fn at(&self, time: f64) -> f64 {
        let later = self.points.partition_point(|point| point.0 <= time);
        match (later.checked_sub(1).map(|before| self.points[before]), self.points.get(later)) {
            (Some((t0, v0)), Some((t1, v1))) => v0 + (v1 - v0) * ((time - t0) / (t1 - t0)),
            (Some((_, value)), None) | (None, Some(&(_, value))) => value,
            (None, None) => unreachable!("a schedule has a point"),
        }
    }

    /// Points of the schedule: time in ps from the start of the stage, and value.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The value of a quantity that does not change; `None` if the schedule has several points.
    pub fn constant(&self) -> Option<f64> {
        match self.points[..] {
            [(_, value)] => Some(value),
            _ => None,
        }
    }

    /// Returns the values in words with a preposition, for example "at 300 K" or "from 0 K to 300 K".
    pub fn words(&self, dimension: Dimension) -> String {
        let values: Vec<String> = self.points.iter().map(|(_, value)| dimension.spell(*value)).collect();
        match values.as_slice() {
            [only] => format!("at {only}"),
            several => format!("from {}", several.join(" to ")),
        }
    }

    /// Largest value of the quantity in the whole schedule.
    pub fn largest(&self) -> f64 {
        self.points.iter().fold(f64::NEG_INFINITY, |largest, point| largest.max(point.1))
    }
}

impl From<f64> for Schedule {
    /// Makes a schedule with a constant value.
    fn from(value: f64) -> Self {
        Schedule { points: vec![(0.0, value)] }
    }
}

/// A schedule with a constant value is serialised as a single number.
impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.points[..] {
            [(_, value)] if serializer.is_human_readable() => value.serialize(serializer),
            points => points.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Text {
            Value(f64),
            Points(Vec<(f64, f64)>),
        }
        let points = if deserializer.is_human_readable() {
            match Text::deserialize(deserializer)? {
                Text::Value(value) => return Ok(value.into()),
                Text::Points(points) => points,
            }
        } else {
            Vec::deserialize(deserializer)?
        };
        Schedule::new(points).ok_or_else(|| serde::de::Error::custom("times must ascend"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_before_and_after_the_points() {
        let schedule = Schedule::new(vec![(1.0, 100.0), (3.0, 300.0), (4.0, 200.0)]).unwrap();
        for (time, value) in [(0.0, 100.0), (1.0, 100.0), (1.5, 150.0), (3.0, 300.0), (3.5, 250.0), (9.0, 200.0)] {
            assert_eq!(schedule.at(time), value, "at {time}");
        }
        assert_eq!(schedule.largest(), 300.0);
        assert_eq!(Schedule::from(5.0).at(7.0), 5.0);
    }

    #[test]
    fn written_and_read() {
        for schedule in [Schedule::from(300.0), Schedule::new(vec![(0.0, 1.0), (2.0, 3.0)]).unwrap()] {
            let text = serde_json::to_string(&schedule).unwrap();
            assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), schedule, "{text}");
            let bytes = postcard::to_stdvec(&schedule).unwrap();
            assert_eq!(postcard::from_bytes::<Schedule>(&bytes).unwrap(), schedule);
        }
        assert_eq!(serde_json::to_string(&Schedule::from(300.0)).unwrap(), "300.0");
        assert!(serde_json::from_str::<Schedule>("[[1.0,2.0],[0.0,3.0]]").is_err());
    }

    #[test]
    fn times_that_do_not_ascend_are_refused() {
        assert!(Schedule::new(vec![]).is_none());
        assert!(Schedule::new(vec![(1.0, 1.0), (1.0, 2.0)]).is_none());
        assert!(Schedule::new(vec![(1.0, 1.0), (f64::NAN, 2.0)]).is_none());
    }
}
