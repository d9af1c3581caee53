//! Pictures of the energy table, of the minimisations and of the restraints of a run.

use super::folder::RunFolder;
use super::production::dynamics;
use crate::analysis::{Axis, Layer, Plot};
use crate::ensemble::schedule::Schedule;
use crate::observe::energies::EnergyRecord;
use crate::run::minimize::CLASH_FORCE;
use crate::run::{Dynamics, Restraint, StageKind};
use crate::units::BAR;

/// Quantity of the energy table that the report shows as a picture.
struct Quantity {
    title: &'static str,
    /// names of the columns of the energy table, each with the label of its line in the picture
    columns: &'static [(&'static str, &'static str)],
    label: &'static str,
    /// whether the first value of each stage is subtracted from the values of this stage
    is_relative: bool,
    /// function that returns the target of the quantity in a stage of dynamics, for example the reference temperature
    target: fn(&Dynamics) -> Option<f64>,
}

impl Quantity {
    /// Creates a quantity without a target, whose values are shown unchanged.
    const fn of(title: &'static str, columns: &'static [(&'static str, &'static str)], label: &'static str) -> Self {
        Quantity { title, columns, label, is_relative: false, target: |_| None }
    }
}

const QUANTITIES: [Quantity; 6] = [
    Quantity {
        target: |dynamics| dynamics.thermostat.as_ref()?.temperature.constant(),
        ..Quantity::of("Temperature", &[("temperature", "")], "temperature / K")
    },
    Quantity {
        target: |dynamics| {
            // the column is the mean over the directions, whose targets may differ
            let barostat = dynamics.barostat.as_ref().filter(|barostat| barostat.surface_tension == 0.0)?;
            let [x, y, z] = barostat.pressure.each_ref().map(Schedule::constant);
            Some(z? / BAR).filter(|_| x == z && y == z)
        },
        ..Quantity::of("Pressure", &[("pressure", "")], "pressure / bar")
    },
    Quantity::of("Density", &[("density", "")], "density / g/cm³"),
    Quantity::of("Potential energy", &[("potential", "")], "potential energy / kJ/mol"),
    Quantity {
        is_relative: true,
        ..Quantity::of(
            "Conserved energy, change since the start of the stage",
            &[("conserved", "")],
            "conserved energy / kJ/mol",
        )
    },
    Quantity::of("Edges of the cell along x, y and z", &[("a_x", "x"), ("b_y", "y"), ("c_z", "z")], "length / nm"),
];

/// Returns the pictures of the quantities in the energy table over time, for all stages of dynamics.
pub(super) fn of_energies(run: &RunFolder) -> Vec<Plot> {
    QUANTITIES.iter().filter_map(|quantity| of_quantity(run, quantity)).collect()
}

fn of_quantity(run: &RunFolder, quantity: &Quantity) -> Option<Plot> {
    let record = run.energies.as_ref()?;
    let stages: Vec<(u32, &str, &Dynamics)> = dynamics(&run.plan).collect();
    // a picture of one column has a line for each stage; a picture of several columns has a line for each column,
    // through all stages
    let is_joined = quantity.columns.len() > 1;
    let mut layers: Vec<Layer> = vec![];
    let mut targets = (vec![], vec![]);
    for (column, label) in quantity.columns {
        let index = record.columns.iter().position(|(name, _)| name == column)?;
        let (mut times, mut values) = (vec![], vec![]);
        for (number, name, _) in &stages {
            let rows: Vec<&Vec<f64>> = record.of_stage(*number).collect();
            let first = rows.first().map_or(0.0, |row| if quantity.is_relative { row[index] } else { 0.0 });
            times.extend(rows.iter().map(|row| row[EnergyRecord::TIME]));
            values.extend(rows.iter().map(|row| row[index] - first));
            if !is_joined && !times.is_empty() {
                layers.push(Layer::line(*name, &std::mem::take(&mut times), &std::mem::take(&mut values)));
            }
        }
        if !times.is_empty() {
            layers.push(Layer::line(*label, &times, &values));
        }
    }
    // a replica of a replica exchange has the targets of other states, too
    for (number, _, dynamics) in stages.iter().filter(|_| run.exchange.is_none()) {
        let mut times = record.of_stage(*number).map(|row| row[EnergyRecord::TIME]);
        let ends = times.next().and_then(|first| Some([first, times.last()?]));
        if let Some((target, ends)) = (quantity.target)(dynamics).zip(ends) {
            targets.0.extend(ends);
            targets.1.extend([target; 2]);
        }
    }
    if !targets.0.is_empty() && !layers.is_empty() {
        layers.push(Layer::line("target", &targets.0, &targets.1));
    }
    let (x, y) = (Axis::new("time / ps"), Axis::new(quantity.label));
    (!layers.is_empty()).then(|| Plot { suffix: "", title: quantity.title.to_owned(), x, y, layers })
}

/// Smallest force (kJ/mol/nm) that the picture of the largest force shows, because the logarithm of zero is infinite.
const SMALLEST_FORCE: f64 = 1e-6;

/// Returns the pictures of energy and largest force over the steps of the minimisations. The picture of the largest
/// force also has the force tolerance of each minimisation.
pub(super) fn of_minimisations(run: &RunFolder) -> Vec<Plot> {
    let Some(record) = &run.minimisation else { return vec![] };
    let column = |name: &str| record.columns.iter().position(|(column, _)| column == name);
    let Some((energy, force)) = column("potential").zip(column("largest_force")) else { return vec![] };
    let (mut energies, mut forces) = (vec![], vec![]);
    for (number, stage) in (1u32..).zip(&run.plan.stages) {
        let StageKind::Minimize(settings) = &stage.kind else { continue };
        let is_shown = |row: &&Vec<f64>| row[energy].is_finite() && row[force].is_finite();
        let rows: Vec<&Vec<f64>> = record.of_stage(number).filter(is_shown).collect();
        let Some(ends) = rows.first().zip(rows.last()).map(|(first, last)| [first, last]) else { continue };
        let ends = ends.map(|row| row[EnergyRecord::STEP]);
        let exponent = |force: f64| force.max(SMALLEST_FORCE).log10();
        let layer = |rows: &[&Vec<f64>], value: &dyn Fn(&Vec<f64>) -> f64| {
            let steps: Vec<f64> = rows.iter().map(|row| row[EnergyRecord::STEP]).collect();
            Layer::line(stage.name.as_str(), &steps, &rows.iter().map(|row| value(row)).collect::<Vec<f64>>())
        };
        // the energy of overlapping atoms would hide all further changes of the energy
        let apart = rows.iter().position(|row| row[force] <= CLASH_FORCE).unwrap_or(0);
        energies.push(layer(&rows[apart..], &|row| row[energy]));
        forces.push(layer(&rows, &|row| exponent(row[force])));
        let name = format!("force_tolerance of {}", stage.name);
        forces.push(Layer::line(name, &ends, &[exponent(settings.force_tolerance); 2]));
    }
    let plot = |title: &str, label: &str, layers: Vec<Layer>| {
        let (x, y) = (Axis::new("step").of_whole_numbers(), Axis::new(label));
        (!layers.is_empty()).then(|| Plot { suffix: "", title: title.to_owned(), x, y, layers })
    };
    let energies = plot("Energy of the minimisation", "potential energy / kJ/mol", energies);
    let forces = plot("Largest force of the minimisation", "log10 (largest force / (kJ/mol/nm))", forces);
    energies.into_iter().chain(forces).collect()
}

/// Picture of a collective restraint, with its mean energy and its work.
pub(super) struct RestraintFigure {
    /// name of the stage and number of the restraint, in words
    pub(super) title: String,
    /// picture of value and center of the restraint over time
    pub(super) plot: Plot,
    /// mean energy of the restraint, kJ/mol
    pub(super) energy: f64,
    /// work that the moving center has done until the last row of the table of restraints, kJ/mol
    pub(super) work: f64,
}

/// Returns the pictures of the collective restraints of each stage.
pub(super) fn of_restraints(run: &RunFolder) -> Vec<RestraintFigure> {
    let stages = (1u32..).zip(&run.plan.stages);
    let restraints = stages.flat_map(|(number, stage)| {
        (1u32..).zip(&stage.restraints).map(move |(index, restraint)| (number, stage.name.as_str(), index, restraint))
    });
    restraints
        .filter_map(|(number, name, index, restraint)| of_restraint(run, number, name, index, restraint))
        .collect()
}

fn of_restraint(
    run: &RunFolder,
    number: u32,
    name: &str,
    index: u32,
    restraint: &Restraint,
) -> Option<RestraintFigure> {
    let rows = || run.restraints.iter().filter(|row| row.stage == number && row.restraint == index);
    let last = rows().next_back()?;
    let (scale, unit) =
        if restraint.kind.is_angular() { (180.0 / std::f64::consts::PI, "degree") } else { (1.0, "nm") };
    let times: Vec<f64> = rows().map(|row| row.time).collect();
    let values: Vec<f64> = rows().map(|row| scale * row.sample.value).collect();
    let centers: Vec<f64> = rows().map(|row| scale * row.sample.center).collect();
    let mut layers = vec![Layer::line("value", &times, &values)];
    if centers.iter().all(|center| center.is_finite()) {
        layers.push(Layer::line("center", &times, &centers));
    }
    let kind = restraint.kind.name();
    let title = format!("Restraint {index} of stage \"{name}\": {kind} of {}", restraint.groups.join(", "));
    let energy = rows().map(|row| row.sample.energy).sum::<f64>() / times.len() as f64;
    Some(RestraintFigure {
        plot: Plot::over_time(title.clone(), Axis::new(format!("{kind} / {unit}")), layers),
        title,
        energy,
        work: last.sample.work,
    })
}
