//! HTML page of an ensemble of replicas.

use maud::{Markup, html};

use super::parts::{figure, table, terms};
use super::{Badge, Section, assemble};
use crate::error::Result;
use crate::observe::files::{EXCHANGE, REPORT, SUMMARY};
use crate::observe::progress::three_digits;
use crate::observe::replicas::title;
use crate::observe::status::RunState;
use crate::observe::summary::Summary;
use crate::report::Options;
use crate::report::ensemble::Ensemble;
use crate::report::number::{number, with_error};

/// Returns the HTML text of the page of an ensemble.
pub(in crate::report) fn of_ensemble(ensemble: &Ensemble, options: Options) -> Result<String> {
    let sections =
        [Some(Section { id: "replicas", heading: "Replicas", body: replicas(ensemble) }), exchanges(ensemble)?];
    let sections: Vec<Section> = sections.into_iter().flatten().collect();
    let folder = ensemble.path.canonicalize().unwrap_or_else(|_| ensemble.path.clone());
    let name = format!("Ensemble: {}", folder.file_name().unwrap_or_default().to_string_lossy());
    let state = ensemble.status.state;
    let shown = if state == RunState::Waiting { RunState::Running } else { state };
    let badge = Badge { class: shown.word(), text: state.word() };
    Ok(assemble(&name, &badge, &sections, options, ensemble.goes_on()))
}

/// Formats the mean and the standard error of a quantity in the last stage of a replica; empty if the quantity has no
/// average.
fn mean(summary: &Summary, name: &str) -> String {
    let average = summary.stages.last().and_then(|stage| stage.averages.iter().find(|average| average.name == name));
    average.map_or(String::new(), |average| match average.error {
        Some(error) => with_error(average.mean, error),
        None => number(average.mean),
    })
}

fn replicas(ensemble: &Ensemble) -> Markup {
    let status = &ensemble.status;
    let mut entries = vec![("Replicas", status.replicas.len().to_string()), ("Computer", status.host.clone())];
    entries.extend(status.ns_per_day.map(|speed| ("Speed of all", format!("{} ns/day", three_digits(speed)))));
    let statistics = ensemble.statistics();
    let walks = statistics.as_ref().map_or(&[][..], |statistics| &statistics.replicas);
    let row = |(index, (replica, folder)): (usize, (&crate::observe::replicas::ReplicaStatus, std::path::PathBuf))| {
        let summary = Summary::read(&folder.join(SUMMARY)).unwrap_or_default();
        vec![
            title(&replica.folder, &replica.name),
            replica.description.clone(),
            replica.state.word().to_owned(),
            format!("{} ps", number(replica.time_ps)),
            replica.ns_per_day.map_or(String::new(), three_digits),
            mean(&summary, "temperature"),
            mean(&summary, "potential"),
            walks.get(index).map_or(String::new(), |walk| walk.round_trips.to_string()),
        ]
    };
    let rows: Vec<Vec<String>> = status.replicas.iter().zip(ensemble.folders()).enumerate().map(row).collect();
    let headings =
        ["replica", "sets", "state", "time", "ns/day", "temperature / K", "potential energy / kJ/mol", "round trips"];
    let count = headings.len() - usize::from(walks.is_empty());
    let rows: Vec<&[String]> = rows.iter().map(|row| &row[..count]).collect();
    let reports = status.replicas.iter().filter(|replica| ensemble.path.join(&replica.folder).join(REPORT).is_file());
    html! {
        (terms(&entries))
        (table("Replicas", &headings[..count], &rows))
        ul {
            @for replica in reports {
                li { a href={ (replica.folder) "/" (REPORT) } { "Page of " (title(&replica.folder, &replica.name)) } }
            }
        }
    }
}

fn exchanges(ensemble: &Ensemble) -> Result<Option<Section>> {
    let Some((matrix, statistics)) = ensemble.matrix().zip(ensemble.statistics()) else { return Ok(None) };
    let mut figures =
        vec![figure(&matrix, "moves", &html! { "Fraction of attempts with a move from one state to another." })?];
    for (index, walk) in ensemble.walks().iter().enumerate() {
        let caption = html! { "The state of each replica after each attempt, from " code { (EXCHANGE) } "." };
        figures.push(figure(walk, &format!("walk-{index}"), &caption)?);
    }
    let rows: Vec<[String; 3]> = statistics
        .pairs
        .iter()
        .map(|pair| {
            let [low, high] = pair.states;
            [format!("{low} and {high}"), pair.tried.to_string(), format!("{:.3}", pair.mean_probability)]
        })
        .collect();
    let body = html! {
        p { (statistics.attempts) " attempts." }
        (table("Acceptance", &["states", "attempts", "mean probability"], &rows))
        div class="figures" { @for figure in &figures { (figure) } }
    };
    Ok(Some(Section { id: "exchanges", heading: "Exchanges", body }))
}
