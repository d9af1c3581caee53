//! Drawings as SVG, in the colours of the reader's theme.

use std::fmt::Write;

use super::colour::{SERIES, Theme};
use super::png;
use super::scene::{Anchor, Colour, Mark, Scene};
use crate::error::Result;

/// Fonts with the widths of the font of PNG files, for which the drawing was laid out.
const FONTS: &str = "DejaVu Sans, Verdana, sans-serif";

/// Returns the text of an SVG file. Colours are those on white, as attributes that every program reads. A style sheet
/// replaces them if the reader prefers a dark theme.
pub(super) fn text(scene: &Scene) -> Result<String> {
    let Scene { width, height, title, area: [left, top, wide, high], .. } = scene;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         font-family=\"{FONTS}\">\n<title>{}</title>\n<style>@media(prefers-color-scheme:dark){{{}}}</style>\n\
         <clipPath id=\"area\"><rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\"/></clipPath>\n\
         <rect width=\"{width}\" height=\"{height}\" {}/>\n",
        escaped(title),
        dark_rules(),
        paint("fill", Colour::Paper),
    );
    scene.below.iter().try_for_each(|mark| draw(mark, &mut out))?;
    out.push_str("<g clip-path=\"url(#area)\">\n");
    scene.data.iter().try_for_each(|mark| draw(mark, &mut out))?;
    out.push_str("</g>\n");
    scene.above.iter().try_for_each(|mark| draw(mark, &mut out))?;
    out.push_str("</svg>\n");
    Ok(out)
}

/// Returns the colours of the dark theme as a style sheet.
fn dark_rules() -> String {
    let colours = [Colour::Ink, Colour::Grid, Colour::Paper].into_iter().chain((0..SERIES).map(Colour::Series));
    colours.fold(String::new(), |mut text, colour| {
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

/// Returns the attributes of an element with this colour of `fill` or `stroke`.
fn paint(attribute: &str, colour: Colour) -> String {
    format!("{attribute}=\"{}\" class=\"{attribute}-{}\"", hexadecimal(colour, Theme::Light), name(colour))
}

fn draw(mark: &Mark, out: &mut String) -> Result<()> {
    // formatting into a string does not fail
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
        Mark::Cells { rectangle: [x, y, width, height], cells } => writeln!(
            out,
            "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,{}\"/>",
            base64(&png::cells(cells)?)
        ),
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

/// Returns a number with at most one digit after the point, in pixels.
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

/// Returns a text for XML, without the control characters that XML does not allow.
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

/// Returns bytes in base 64 (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, k| word << 8 | u32::from(group.get(k).copied().unwrap_or(0)));
        for digit in 0..4 {
            let is_padding = digit > group.len();
            out.push(if is_padding { '=' } else { char::from(DIGITS[(word >> (18 - 6 * digit)) as usize & 63]) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of RFC 4648, section 10.
    #[test]
    fn base_64() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn characters_of_xml_are_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\u{7}φ"), "a&lt;b&gt; &amp; &quot;c&quot;φ");
    }
}
