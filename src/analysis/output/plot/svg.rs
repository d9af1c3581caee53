//! Drawings as SVG, in the colours of the reader's theme.

use std::fmt::Write;

use super::super::base64::base64;
use super::colour::{Palette, SERIES, Theme};
use super::png;
use super::scene::{Anchor, Colour, Mark, Scene};
use crate::error::Result;

/// Font families of an SVG file. The layout of a drawing uses the character widths of the font of PNG files; the
/// characters of the families in `FONTS` have similar widths.
const FONTS: &str = "DejaVu Sans, Verdana, sans-serif";

/// Returns the text of an SVG file. The colours in attributes, which every program can read, are those of the light
/// theme. A style sheet replaces the colours of the light theme if the reader prefers a dark theme.
pub(super) fn text(scene: &Scene) -> Result<String> {
    let Scene { width, height, .. } = scene;
    let attributes = format!(
        "xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{width}\" \
         height=\"{height}\""
    );
    element(scene, &attributes, &format!("<style>{}</style>\n", rules()), "area")
}

/// Returns an SVG element for an HTML page whose style sheet has the [`rules`]. `name` must be unique in the page.
pub(super) fn inline(scene: &Scene, name: &str) -> Result<String> {
    element(scene, "", "", &format!("{name}-area"))
}

/// Returns an SVG element with further attributes and a style sheet. `area` is the identifier of the clip path of the
/// data area.
fn element(scene: &Scene, attributes: &str, style: &str, area: &str) -> Result<String> {
    let Scene { width, height, title, .. } = scene;
    let [left, top, wide, high] = scene.clip();
    let mut out = format!(
        "<svg {attributes} viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONTS}\">\n\
         <title>{}</title>\n{style}\
         <clipPath id=\"{area}\"><rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\"/></clipPath>\n\
         <rect width=\"{width}\" height=\"{height}\" {}/>\n",
        escaped(title),
        paint("fill", Colour::Paper),
    );
    scene.below.iter().try_for_each(|mark| draw(mark, &mut out))?;
    let _ = writeln!(out, "<g clip-path=\"url(#{area})\">");
    scene.data.iter().try_for_each(|mark| draw(mark, &mut out))?;
    out.push_str("</g>\n");
    scene.above.iter().try_for_each(|mark| draw(mark, &mut out))?;
    out.push_str("</svg>\n");
    Ok(out)
}

/// Returns the style sheet that gives drawings the colours of the dark theme if the reader prefers the dark theme.
pub(super) fn rules() -> String {
    format!("@media(prefers-color-scheme:dark){{{}}}", dark_rules())
}

/// Returns the colours of the dark theme as a style sheet.
fn dark_rules() -> String {
    let colours = [Colour::Ink, Colour::Grid, Colour::Paper].into_iter().chain((0..SERIES).map(Colour::Series));
    let images = String::from(".on-white{display:none}.on-black{display:inline}");
    colours.fold(images, |mut text, colour| {
        for attribute in ["fill", "stroke"] {
            let _ = write!(text, ".{attribute}-{}{{{attribute}:{}}}", name(colour), hexadecimal(colour, Theme::Dark));
        }
        text
    })
}

fn hexadecimal(colour: Colour, theme: Theme) -> String {
    let [red, green, blue] = colour.rgb(theme);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn name(colour: Colour) -> String {
    match colour {
        Colour::Ink => "ink".into(),
        Colour::Grid => "grid".into(),
        Colour::Paper => "paper".into(),
        Colour::Series(index) => format!("c{}", index % SERIES),
    }
}

/// Returns the attributes that set `fill` or `stroke` of an element to a colour.
fn paint(attribute: &str, colour: Colour) -> String {
    format!("{attribute}=\"{}\" class=\"{attribute}-{}\"", hexadecimal(colour, Theme::Light), name(colour))
}

fn draw(mark: &Mark, out: &mut String) -> Result<()> {
    // `write!` into a string does not fail
    let _ = match mark {
        Mark::Line { points, colour, width, dashed } => {
            let dash = if *dashed { " stroke-dasharray=\"7 4\"" } else { "" };
            writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" {} stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}/>",
                path(points),
                paint("stroke", *colour)
            )
        }
        Mark::Polygon { points, colour, opacity } => {
            writeln!(out, "<path d=\"{}Z\" {} fill-opacity=\"{opacity}\"/>", path(points), paint("fill", *colour))
        }
        Mark::Rectangles { rectangles, colour, opacity } => {
            let all = rectangles.iter().fold(String::new(), |mut text, &[x, y, width, height]| {
                let [x, y, width, height] = [x, y, width, height].map(short);
                let _ = write!(text, "M{x} {y}h{width}v{height}h-{width}z");
                text
            });
            writeln!(out, "<path d=\"{all}\" {} fill-opacity=\"{opacity}\"/>", paint("fill", *colour))
        }
        Mark::Circles { centers, radius, colour, opacity } => {
            let all = centers.iter().fold(String::new(), |mut text, &[x, y]| {
                let _ = write!(text, "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\"/>", short(x), short(y));
                text
            });
            writeln!(out, "<g {} fill-opacity=\"{opacity}\">{all}</g>", paint("fill", *colour))
        }
        Mark::Cells { rectangle: [x, y, width, height], cells } => {
            let themes: &[(Theme, &str)] = match cells.palette {
                Palette::Sequential | Palette::Diverging => &[(Theme::Light, "")],
                Palette::Classes => {
                    &[(Theme::Light, " class=\"on-white\""), (Theme::Dark, " class=\"on-black\" display=\"none\"")]
                }
            };
            for (theme, attributes) in themes {
                let _ = writeln!(
                    out,
                    "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
                     image-rendering=\"pixelated\"{attributes} xlink:href=\"data:image/png;base64,{}\"/>",
                    base64(&png::cells(cells, *theme)?)
                );
            }
            Ok(())
        }
        Mark::Text { at: [x, y], text, size, anchor, turned, colour } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = if *turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" {}{turn}>{}</text>",
                paint("fill", *colour),
                escaped(text)
            )
        }
    };
    Ok(())
}

/// Returns a number (pixels) as text with at most one digit after the decimal point.
fn short(value: f32) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

fn path(points: &[[f32; 2]]) -> String {
    points.iter().enumerate().fold(String::new(), |mut text, (index, &[x, y])| {
        let _ = write!(text, "{}{} {}", if index == 0 { 'M' } else { 'L' }, short(x), short(y));
        text
    })
}

/// Returns a text escaped for XML, without the control characters that XML does not allow.
pub(super) fn escaped(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}')).fold(
        String::new(),
        |mut text, letter| {
            match letter {
                '&' => text.push_str("&amp;"),
                '<' => text.push_str("&lt;"),
                '>' => text.push_str("&gt;"),
                '"' => text.push_str("&quot;"),
                _ => text.push(letter),
            }
            text
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_xml_are_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\u{7}φ"), "a&lt;b&gt; &amp; &quot;c&quot;φ");
    }
}
