//! HTML page of a single run.

use maud::{Markup, PreEscaped, html};

use super::parts::{figure, table, terms};
use super::{Badge, Section, assemble};
use crate::analysis::Plot;
use crate::error::Result;
use crate::observe::files::{EFFECTIVE, ENERGIES, FINAL_PDB, MINIMISATION};
use crate::observe::progress::{duration, three_digits};
use crate::report::Options;
use crate::report::figures::{of_energies, of_minimisations, of_restraints};
use crate::report::folder::{Condition, RunFolder};
use crate::report::methods::methods;
use crate::report::number::{error_of, number};
use crate::report::picture::Picture;
use crate::report::production::{ColumnAverage, Production};
use crate::report::structure::Structure;
use crate::report::verdicts::{Judgement, Verdict, verdicts};
use crate::run::describe_stage;

/// Returns the HTML text of the page of a run.
pub(in crate::report) fn of_run(run: &RunFolder, options: Options) -> Result<String> {
    let production = Production::of(run);
    let structure = Structure::of(run);
    let sections = [
        Some(Section { id: "verdicts", heading: "Verdicts", body: judged(&verdicts(run, production.as_ref())) }),
        Some(Section { id: "run", heading: "The run", body: overview(run) }),
        minimisations(run)?,
        energies(run, production.as_ref())?,
        observables(&structure)?,
        structure.picture.as_ref().map(viewer),
        restraints(run)?,
        Some(Section { id: "methods", heading: "Methods", body: paragraph(run) }),
        Some(Section { id: "settings", heading: "Settings that differ from their defaults", body: settings(run) }),
        warnings(run, &structure),
    ];
    let sections: Vec<Section> = sections.into_iter().flatten().collect();
    let condition = run.condition();
    Ok(assemble(&title(run), &badge(condition), &sections, options, condition == Condition::Running))
}

fn title(run: &RunFolder) -> String {
    let name = run.plan.system.topology.file_name().unwrap_or_default().to_string_lossy();
    let folder = run.path.canonicalize().unwrap_or_else(|_| run.path.clone());
    format!("{name}: {}", folder.file_name().unwrap_or_default().to_string_lossy())
}

fn badge(condition: Condition) -> Badge {
    let (class, text) = match condition {
        Condition::Running => ("running", "running"),
        Condition::Finished => ("finished", "finished"),
        Condition::Stopped => ("stopped", "stopped on request"),
        Condition::Failed => ("failed", "failed"),
        Condition::Killed => ("failed", "interrupted: the process disappeared"),
    };
    Badge { class, text }
}

fn judged(verdicts: &[Verdict]) -> Markup {
    let problems = verdicts.iter().filter(|verdict| verdict.judgement == Judgement::Problem).count();
    let passed = verdicts.iter().filter(|verdict| verdict.judgement == Judgement::Passed).count();
    html! {
        p class="lead" {
            @match problems {
                0 => { "No problem was found in " (passed) " checks." }
                1 => { "One problem was found; " (passed) " checks passed." }
                _ => { (problems) " problems were found; " (passed) " checks passed." }
            }
        }
        ul class="verdicts" {
            @for Verdict { judgement, aspect, found, threshold, advice } in verdicts {
                li class=(judgement.word()) {
                    p { strong { (aspect) } " " span class="word" { (judgement.word()) } }
                    p { (found) }
                    @if !threshold.is_empty() { p class="threshold" { "Threshold: " (threshold) "." } }
                    @if !advice.is_empty() { p class="advice" { (advice) } }
                }
            }
        }
    }
}

fn overview(run: &RunFolder) -> Markup {
    let summary = run.summary.as_ref();
    let status = &run.status;
    let speed = summary.and_then(|summary| summary.ns_per_day).or(status.ns_per_day);
    let mut entries = vec![];
    entries.extend(summary.map(|summary| ("Atoms", summary.atoms.to_string())));
    entries.push(("Time", format!("{} ps", number(status.time_ps))));
    entries.extend(speed.map(|speed| ("Speed", format!("{} ns/day", three_digits(speed)))));
    entries.extend(summary.map(|summary| ("Device", summary.device.clone())));
    entries.push(("Computer", status.host.clone()));
    entries.push(("Wall time", duration(status.wall_seconds)));
    let updated = status.updated.split('.').next().unwrap_or_default();
    entries.push(("Last update", format!("{} UTC", updated.replace('T', " ").trim_end_matches('Z'))));
    entries.extend(summary.map(|summary| ("Program", format!("md {} ({})", summary.version, summary.commit))));
    let stages: Vec<[String; 2]> =
        run.plan.stages.iter().map(|stage| [stage.name.clone(), describe_stage(&run.plan, stage)]).collect();
    let phases = summary.map_or(&[][..], |summary| &summary.phases);
    let total: f64 = phases.iter().map(|phase| phase.seconds).sum();
    let rows: Vec<[String; 3]> = phases
        .iter()
        .filter(|phase| phase.seconds > 0.0)
        .map(|phase| {
            let percent = format!("{:.1} %", 100.0 * phase.seconds / total);
            [phase.name.clone(), format!("{:.2} s", phase.seconds), percent]
        })
        .collect();
    html! {
        (terms(&entries))
        (table("Stages", &["stage", "description"], &stages))
        @if !rows.is_empty() { (table("Time of each phase", &["phase", "wall time", "share"], &rows)) }
    }
}

fn minimisations(run: &RunFolder) -> Result<Option<Section>> {
    let plots = of_minimisations(run);
    if plots.is_empty() {
        return Ok(None);
    }
    let source = html! { "From the table " code { (MINIMISATION) } "." };
    let body = html! { div class="figures" { @for figure in &figures(&plots, "minimisation", &source)? { (figure) } } };
    Ok(Some(Section { id: "minimisation", heading: "Energy minimisation", body }))
}

/// Returns the figures of `plots`, whose names begin with `name`, with the same caption.
fn figures(plots: &[Plot], name: &str, caption: &Markup) -> Result<Vec<Markup>> {
    plots.iter().enumerate().map(|(index, plot)| figure(plot, &format!("{name}-{index}"), caption)).collect()
}

fn energies(run: &RunFolder, production: Option<&Production<'_>>) -> Result<Option<Section>> {
    let plots = of_energies(run);
    if plots.is_empty() {
        return Ok(None);
    }
    let figures = figures(&plots, "energy", &html! { "From the energy table " code { (ENERGIES) } "." })?;
    let averages = production.map(|production| averages(run, production));
    let body = html! {
        div class="figures" { @for figure in &figures { (figure) } }
        @if let Some(averages) = averages { (averages) }
    };
    Ok(Some(Section { id: "energies", heading: "Energies, temperature, pressure, cell", body }))
}

/// Returns an HTML table of the averages over the production stage.
fn averages(run: &RunFolder, production: &Production<'_>) -> Markup {
    let row = |column: &ColumnAverage| {
        let (average, interval) = (&column.average, production.length() / (production.times.len() - 1) as f64);
        [
            column.name.clone(),
            column.unit.clone(),
            number(average.mean),
            average.known_error().map_or("unknown".to_owned(), |error| error_of(average.mean, error)),
            number(average.start as f64 * interval),
            format!("{:.0}", average.samples),
        ]
    };
    // energy terms that the system does not have are zero in all rows, and are left out
    let is_there = |column: &&ColumnAverage| column.values.iter().any(|value| *value != 0.0);
    let rows: Vec<[String; 6]> = production.averages.iter().filter(is_there).map(row).collect();
    let headings = ["quantity", "unit", "mean", "standard error", "equilibration / ps", "uncorrelated samples"];
    let which = if production.is_last { "" } else { ", which is not the last stage of the plan" };
    html! {
        @match &production.reason {
            Some(reason) => p { "There are no averages of stage \"" (production.name) "\": " (reason) }
            None => {
                p {
                    "Averages of stage \"" (production.name) "\"" (which) ", without the rows before equilibration "
                    "(doi:10.1021/acs.jctc.5b00784), as computed by "
                    code { "md analyze energies --stage " (production.number) " " (run.words(ENERGIES)) }
                    "."
                }
                (table("Averages of the production stage", &headings, &rows))
            }
        }
    }
}

fn observables(structure: &Structure) -> Result<Option<Section>> {
    if structure.results.is_empty() {
        return Ok(None);
    }
    let mut figures = vec![];
    for (index, result) in structure.results.iter().enumerate() {
        for (part, plot) in result.plots.iter().enumerate() {
            let caption = html! {
                code { (result.command) }
                @if part == 0 && !result.summary.is_empty() && result.summary.len() <= 6 {
                    pre { (result.summary.join("\n")) }
                }
            };
            figures.push(figure(plot, &format!("observable-{index}-{part}"), &caption)?);
        }
    }
    let body = html! {
        p { "The trajectory has " (structure.frames) " frames. Each caption is the command that gives the same numbers." }
        div class="figures" { @for figure in &figures { (figure) } }
    };
    Ok(Some(Section { id: "observables", heading: "Observables of the trajectory", body }))
}

fn viewer(picture: &Picture) -> Section {
    let label = format!("Structure at {} ps: {} atoms ({})", number(picture.time), picture.atoms, picture.select);
    let view = |name: &str, text: &str, pressed: bool| {
        html! { button type="button" data-view=(name) aria-pressed=(if pressed { "true" } else { "false" }) { (text) } }
    };
    let has_chains = picture.chains > 0;
    // the data need no HTML escaping: they contain only numbers, base 64 and the letters of DSSP, and no text of an
    // input file
    let data = PreEscaped(picture.data.to_string());
    let body = html! {
        div id="structure-view" {
            canvas tabindex="0" role="img" aria-label=(label) {}
            p class="viewer-note" {}
            div class="buttons" {
                @if has_chains { (view("cartoon", "Cartoon", true)) }
                (view("sticks", "Sticks", !has_chains))
                (view("spheres", "Spheres", false))
                button type="button" data-view="reset" { "Reset" }
            }
        }
        p {
            (label) ". Drag to turn; with the keyboard: arrow keys turn, + and − zoom, Home resets. The structure with all "
            "atoms is in " code { (FINAL_PDB) } " after the end of the run."
        }
        script type="application/json" id="structure-data" { (data) }
    };
    Section { id: "structure", heading: "Structure", body }
}

fn restraints(run: &RunFolder) -> Result<Option<Section>> {
    let all = of_restraints(run);
    if all.is_empty() {
        return Ok(None);
    }
    let figures = all.iter().enumerate().map(|(index, restraint)| {
        let caption = html! {
            (restraint.title) ". Mean energy " (number(restraint.energy)) " kJ/mol; work of the moving center "
            (number(restraint.work)) " kJ/mol."
        };
        figure(&restraint.plot, &format!("restraint-{index}"), &caption)
    });
    let figures = figures.collect::<Result<Vec<Markup>>>()?;
    let body = html! { div class="figures" { @for figure in &figures { (figure) } } };
    Ok(Some(Section { id: "restraints", heading: "Restraints", body }))
}

fn paragraph(run: &RunFolder) -> Markup {
    let methods = methods(run);
    let bibliography: Vec<String> = methods.citations.iter().map(crate::report::Citation::bibtex).collect();
    html! {
        p class="methods" { (methods.text) }
        ul {
            @for citation in &methods.citations {
                li {
                    (citation.short()) ", " em { (citation.title) } ", " (citation.journal) " " (citation.volume) ", "
                    (citation.page) ". "
                    a href={ "https://doi.org/" (citation.doi) } { "doi:" (citation.doi) }
                }
            }
        }
        details {
            summary { "BibTeX" }
            pre { (bibliography.join("\n")) }
        }
    }
}

fn settings(run: &RunFolder) -> Markup {
    let rows: Vec<[String; 4]> = run
        .given
        .iter()
        .map(|given| [given.section.clone(), given.key.clone(), given.value.clone(), given.default.clone()])
        .collect();
    html! {
        (table("Settings that differ from their defaults", &["section", "key", "value", "default"], &rows))
        p { "All settings are in " code { (EFFECTIVE) } "." }
    }
}

fn warnings(run: &RunFolder, structure: &Structure) -> Option<Section> {
    let of_run = run.summary.as_ref().map_or(&[][..], |summary| &summary.warnings);
    let all: Vec<&String> = of_run.iter().chain(&run.unreadable).chain(&structure.notes).collect();
    let body = html! { ul { @for warning in &all { li { (warning) } } } };
    (!all.is_empty()).then_some(Section { id: "warnings", heading: "Warnings", body })
}
