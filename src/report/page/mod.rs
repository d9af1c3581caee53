//! HTML text of the pages of a report.

mod ensemble;
mod parts;
mod run;

pub(super) use ensemble::of_ensemble;
pub(super) use run::of_run;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Options;
use crate::analysis::svg_rules;

const STYLE: &str = include_str!("style.css");
const VIEWER: &str = include_str!("viewer.js");

/// Section of a page, with a heading and an entry in the table of contents.
struct Section {
    /// HTML identifier of the section, unique in the page
    id: &'static str,
    heading: &'static str,
    body: Markup,
}

/// Badge beside the title of a page, which shows the state of the run.
struct Badge {
    /// CSS class of the badge
    class: &'static str,
    text: &'static str,
}

/// Assembles the HTML text of a page from its sections.
fn assemble(title: &str, badge: &Badge, sections: &[Section], options: Options, goes_on: bool) -> String {
    let has_picture = sections.iter().any(|section| section.id == "structure");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(svg_rules())) }
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                header {
                    h1 { (title) }
                    p class={ "badge " (badge.class) } { (badge.text) }
                }
                nav aria-label="Contents" {
                    ul {
                        @for section in sections {
                            li { a href={ "#" (section.id) } { (section.heading) } }
                        }
                    }
                }
                main id="main" {
                    @for Section { id, heading, body } in sections {
                        section id=(id) aria-labelledby={ (id) "-heading" } {
                            h2 id={ (id) "-heading" } { (heading) }
                            (body)
                        }
                    }
                }
                footer {
                    p {
                        "Written by md " (crate::VERSION) " on " (crate::observe::clock::local("%Y-%m-%d %H:%M")) "."
                    }
                }
                @if has_picture {
                    script { (PreEscaped(VIEWER)) }
                }
                @if let Some(seconds) = options.renew.filter(|_| goes_on) {
                    script { (PreEscaped(format!("setTimeout(() => location.reload(), {});", 1000 * seconds))) }
                }
            }
        }
    }
    .into_string()
}
