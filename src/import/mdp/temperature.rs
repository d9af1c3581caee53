//! Translation of GROMACS' thermostat, its temperature groups, and simulated annealing.

use super::dynamics::interval;
use super::groups::Groups;
use super::{Draft, start_time};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::{ThermostatGroup, ThermostatKind};
use crate::import::coupling::{self, COLD};
use crate::run::Dynamics;

/// Temperature group of `tc-grps`.
struct Group {
    name: String,
    /// selection of the atoms of the group; `None` for the group of all remaining atoms, and for a group that only a
    /// missing index file defines
    selection: Option<String>,
    temperature: Schedule,
    coupling_time: f64,
}

pub(super) fn translate(draft: &mut Draft<'_>, stage: &mut Dynamics, known: &Groups) {
    let Some((key, kind)) = method(draft) else { return };
    let Some(mut groups) = groups(draft, key, kind, known) else { return };
    // the thermostat of all remaining atoms has the settings of the first group without a selection; if all groups have
    // selections, this thermostat has the settings of the last group
    let base = groups.iter().position(|group| group.selection.is_none()).unwrap_or(groups.len() - 1);
    let base = groups.remove(base);
    let differ =
        groups.iter().any(|group| (&group.temperature, group.coupling_time) != (&base.temperature, base.coupling_time));
    if groups.iter().any(|group| group.selection.is_none()) {
        // a thermostat that acts on each atom separately does not depend on groups with equal values
        if differ || !kind.facts().refreshes {
            let names: Vec<&str> = groups.iter().chain([&base]).map(|group| group.name.as_str()).collect();
            let text = format!(
                "groups are unknown ({}): the whole system is one group with the values of the first unknown group",
                known.reason(&names)
            );
            draft.differs("tc-grps", text);
        }
        groups.clear();
    } else if base.selection.is_none() && differ {
        let text = format!(
            "group {} is unknown ({}): it is taken for all atoms that are in no other group",
            base.name,
            known.reason(&[&base.name])
        );
        draft.differs("tc-grps", text);
    }
    let every = if kind == ThermostatKind::Langevin {
        if draft.is_given("nsttcouple") {
            draft.no_use("nsttcouple", "friction and noise act at every step, as in GROMACS");
        }
        None
    } else {
        interval(draft, "nsttcouple")
    };
    let mut words = vec![];
    if kind == ThermostatKind::Langevin {
        words.push("the friction is the inverse of tau-t");
    }
    let changes = |group: &Group| group.temperature.constant().is_none();
    if (changes(&base) || groups.iter().any(changes)) && start_time(draft) != 0.0 {
        words.push("times are reduced by tinit + init-step dt");
    }
    draft.carried_as("stage.thermostat", &[key, "tc-grps", "tau-t", "ref-t", "annealing"], &words.join("; "));
    let shortest = groups.iter().fold(base.coupling_time, |least, group| least.min(group.coupling_time));
    let mut thermostat = coupling::thermostat(stage, kind, 0.0, shortest, every);
    (thermostat.temperature, thermostat.coupling_time) = (base.temperature, base.coupling_time);
    let named = groups.into_iter().filter_map(|Group { selection, temperature, coupling_time, .. }| {
        Some(ThermostatGroup { select: selection?, temperature, coupling_time })
    });
    thermostat.groups = named.collect();
    stage.thermostat = Some(thermostat);
}

/// Returns the kind of thermostat, and the mdp key that selects it; `None` without a thermostat.
fn method(draft: &mut Draft<'_>) -> Option<(&'static str, ThermostatKind)> {
    let integrator = draft.word("integrator");
    let (key, method) = match integrator.as_str() {
        "sd" | "sd1" | "sd2" | "bd" => ("integrator", integrator),
        _ => ("tcoupl", draft.word("tcoupl")),
    };
    let kind = match method.as_str() {
        "no" => {
            draft.carried("stage.thermostat", &["tcoupl"]);
            return None;
        }
        "vrescale" => ThermostatKind::VRescale,
        "berendsen" => ThermostatKind::Berendsen,
        "nosehoover" => ThermostatKind::NoseHoover,
        "sd" | "sd1" | "sd2" => ThermostatKind::Langevin,
        "andersen" => ThermostatKind::Andersen,
        "andersenmassive" => {
            draft.differs(key, "md randomises the velocity of each atom separately, at intervals of tau-t on average");
            ThermostatKind::Andersen
        }
        "bd" => {
            draft.differs(key, "md has no Brownian dynamics: Langevin dynamics is used");
            if draft.is_given("bd-fric") {
                draft.differs("bd-fric", "the friction coefficient is the inverse of tau-t, or 1/ps without tau-t");
            }
            ThermostatKind::Langevin
        }
        other => {
            draft.unsupported("tcoupl", other, "expected `v-rescale`, `berendsen`, `nose-hoover` or `no`");
            return None;
        }
    };
    Some((key, kind))
}

/// Returns the temperature groups; `None` if there are no groups, or if a problem was recorded.
fn groups(draft: &mut Draft<'_>, key: &'static str, kind: ThermostatKind, known: &Groups) -> Option<Vec<Group>> {
    let names = draft.words("tc-grps");
    let times = match draft.reals("tau-t") {
        // the file of a Brownian dynamics run may set a single friction coefficient instead of coupling times
        times if times.is_empty() => vec![1.0; names.len()],
        times => times,
    };
    let temperatures = draft.reals("ref-t");
    for (name, values) in [("tau-t", &times), ("ref-t", &temperatures)] {
        if values.len() != names.len() {
            let message = format!("{name} has {} values for {} groups of tc-grps", values.len(), names.len());
            draft.problem(name, message, "give one value for each group");
            return None;
        }
    }
    if let Some(reason) = names.iter().find_map(|name| known.missing(name)) {
        draft.problem("tc-grps", reason, "correct the name of the group, or add the group to the index file");
        return None;
    }
    let schedules = annealing(draft, &temperatures)?;
    let is_redrawn = kind == ThermostatKind::VRescale && times.contains(&0.0);
    let groups = names.iter().zip(times).zip(schedules).filter(|((_, time), _)| *time > 0.0);
    let groups: Vec<Group> = groups
        .map(|((name, time), temperature)| {
            // for Langevin dynamics, the input file of `md` contains the friction, which is the inverse of the coupling
            // time; the double inverse has the same rounding errors as the coupling time that `md` computes from this
            // friction
            let friction = kind == ThermostatKind::Langevin;
            let coupling_time = if friction { time.recip().recip() } else { time };
            Group { name: (*name).to_owned(), selection: known.selection(name), temperature, coupling_time }
        })
        .collect();
    if groups.is_empty() {
        let text = if names.is_empty() { "no group is coupled: tc-grps is empty" } else { "no group is coupled" };
        draft.carried_as("stage.thermostat", &[key, "tc-grps", "tau-t", "ref-t"], text);
        if is_redrawn {
            draft.differs(
                "tau-t",
                "a coupling time of 0 renews the kinetic energy at each coupling; md couples no group",
            );
        }
        return None;
    }
    if groups.len() < names.len() {
        draft.differs("tau-t", "md couples the whole system to a thermostat");
    }
    for group in &groups {
        for (_, value) in group.temperature.points() {
            draft.admitted("stage.thermostat.temperature", "ref-t", *value);
        }
    }
    Some(groups)
}

/// Returns the temperatures (K) of all groups as functions of time, with annealing if the file requests it.
fn annealing(draft: &mut Draft<'_>, temperatures: &[f64]) -> Option<Vec<Schedule>> {
    let methods = draft.words("annealing");
    let constant = || Some(temperatures.iter().map(|&temperature| temperature.into()).collect());
    if methods.iter().all(|method| method.eq_ignore_ascii_case("no")) {
        return constant();
    }
    if methods.len() != temperatures.len() {
        let message = format!("annealing has {} words for {} groups", methods.len(), temperatures.len());
        draft.problem("annealing", message, "give no, single or periodic for each group of tc-grps");
        return None;
    }
    if let Some(other) =
        methods.iter().find(|method| !["no", "single"].iter().any(|word| method.eq_ignore_ascii_case(word)))
    {
        let help = "write the periods as points of one schedule, with `annealing = single`";
        draft.unsupported("annealing", other, help);
        return None;
    }
    let (begin, start) = (draft.real("tinit"), start_time(draft));
    let lists = ["annealing-npoints", "annealing-time", "annealing-temp"].map(|name| draft.reals(name));
    let [counts, mut times, mut values] = lists.map(Vec::into_iter);
    let mut schedules = vec![];
    for ((method, &temperature), count) in methods.iter().zip(temperatures).zip(counts.chain(std::iter::repeat(0.0))) {
        // md has no temperature of zero
        let points = times.by_ref().zip(values.by_ref().map(|value| if value == 0.0 { COLD } else { value }));
        let points: Vec<(f64, f64)> = points.take(count as usize).collect();
        if method.eq_ignore_ascii_case("no") {
            schedules.push(temperature.into());
            continue;
        }
        if let Some((first, _)) = points.first().filter(|(first, _)| *first > begin) {
            let message = format!("the first time of annealing-time, {first} ps, is later than tinit = {begin} ps");
            draft.problem("annealing-time", message, "grompp requires a point at tinit or before: add one");
            return None;
        }
        let complete = points.len() as f64 == count;
        let Some(schedule) = from_start(points, start).filter(|_| complete) else {
            let message = "annealing-npoints, annealing-time and annealing-temp do not give ascending \
                           times with one temperature each";
            draft.problem("annealing", message, "give as many times and temperatures as annealing-npoints says");
            return None;
        };
        schedules.push(schedule);
    }
    draft.carried(
        "stage.thermostat.temperature",
        &["annealing", "annealing-npoints", "annealing-time", "annealing-temp"],
    );
    Some(schedules)
}

/// Converts pairs of time of GROMACS (ps) and temperature to a schedule of a stage that begins at the time `start`. The
/// first point is at the start of the stage. Returns `None` if times do not ascend.
fn from_start(points: Vec<(f64, f64)>, start: f64) -> Option<Schedule> {
    let schedule = Schedule::new(points)?;
    let later = schedule.points().iter().filter(|(time, _)| *time > start).map(|(time, value)| (time - start, *value));
    Schedule::new(std::iter::once((0.0, schedule.at(start))).chain(later).collect())
}
