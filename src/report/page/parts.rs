//! HTML elements that several sections use: tables, figures, lists of terms.

use maud::{Markup, PreEscaped, html};

use crate::analysis::{Layer, Plot, inline_svg};
use crate::error::Result;
use crate::report::number::number;

/// Maximum number of rows in the table of the numbers of a figure.
const ROWS: usize = 25;

/// Returns an HTML table with a caption and column headings. The first cell of each row is the heading of the row.
pub(super) fn table<R: AsRef<[String]>>(caption: &str, headings: &[&str], rows: &[R]) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="group" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (index, cell) in row.as_ref().iter().enumerate() {
                                @if index == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns an HTML list of terms with their values.
pub(super) fn terms(entries: &[(&str, String)]) -> Markup {
    html! {
        dl class="terms" {
            @for (term, value) in entries {
                div { dt { (term) } dd { (value) } }
            }
        }
    }
}

/// Returns an HTML figure: a picture with its caption, and a table of its numbers. `name` must be unique in the page.
pub(super) fn figure(plot: &Plot, name: &str, caption: &Markup) -> Result<Markup> {
    let svg = inline_svg(plot, name)?;
    Ok(html! {
        div class="figure" {
            figure {
                (PreEscaped(svg))
                figcaption { (caption) }
            }
            (numbers(plot))
        }
    })
}

/// Returns a table of the data points of a plot. The table has at most [`ROWS`] rows, which are evenly spaced among the
/// data points.
fn numbers(plot: &Plot) -> Markup {
    let tables: Vec<Markup> = plot.layers.iter().map(|layer| of_layer(plot, layer)).collect();
    html! {
        details {
            summary { "Numbers: " (plot.title) }
            @for table in &tables { (table) }
        }
    }
}

fn of_layer(plot: &Plot, layer: &Layer) -> Markup {
    let caption = |label: &str| if label.is_empty() { plot.title.clone() } else { format!("{}: {label}", plot.title) };
    match layer {
        Layer::Line { label, x, y, error } => {
            let has_errors = error.len() == y.len() && !error.is_empty();
            let headings = [&plot.x.label, &plot.y.label, "standard error"];
            let row = |&k: &usize| {
                let mut row = vec![number(x[k]), number(y[k])];
                row.extend(has_errors.then(|| number(error[k])));
                row
            };
            let rows: Vec<Vec<String>> = thinned(x.len()).iter().map(row).collect();
            table(&caption(label), &headings[..if has_errors { 3 } else { 2 }], &rows)
        }
        Layer::Points { label, x, y } | Layer::Bars { label, x, y } => {
            let rows: Vec<[String; 2]> = thinned(x.len()).iter().map(|&k| [number(x[k]), number(y[k])]).collect();
            table(&caption(label), &[&plot.x.label, &plot.y.label], &rows)
        }
        Layer::Mean { value, error, .. } => {
            table(&plot.title, &["mean", "standard error"], &[[number(*value), number(*error)]])
        }
        Layer::Map { label, values, .. } => {
            let [low, high] = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], &v| [a.min(v), b.max(v)]);
            table(&plot.title, &[label, "value"], &[["least".into(), number(low)], ["largest".into(), number(high)]])
        }
        Layer::Classes { names, values, .. } => {
            let share = |class: usize| values.iter().filter(|&&value| usize::from(value) == class).count();
            let percent = |class| format!("{:.1} %", 100.0 * share(class) as f64 / values.len().max(1) as f64);
            let rows: Vec<[String; 2]> =
                names.iter().enumerate().map(|(class, name)| [(*name).to_owned(), percent(class)]).collect();
            table(&plot.title, &["class", "share"], &rows)
        }
    }
}

/// Returns at most [`ROWS`] evenly spaced indices below `count`, including the first and the last index.
fn thinned(count: usize) -> Vec<usize> {
    match count {
        0..=ROWS => (0..count).collect(),
        _ => (0..ROWS).map(|row| row * (count - 1) / (ROWS - 1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_at_equal_distances() {
        assert_eq!(thinned(3), [0, 1, 2]);
        let rows = thinned(100_000);
        assert_eq!((rows.len(), rows[0], rows[ROWS - 1]), (ROWS, 0, 99_999));
    }
}
