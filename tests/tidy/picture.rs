//! The picture of the layers in `docs/layers.svg`, drawn from the list of layers.

use std::fmt::Write as _;
use std::path::Path;

use super::{LAYERS, layer};

/// Height of a row and height of a box in a row, in units of the picture.
const ROW: usize = 38;
const BOX: usize = 28;
/// Width of the picture.
const WIDTH: usize = 960;
/// Width of a character in a box, and width of a box without its text.
const CHARACTER: usize = 8;
const MARGIN: usize = 22;
/// Style sheet with the colors of text and boxes on light and dark pages.
const STYLE: &str = "  <style>
    rect { fill: #ffffff; stroke: #57606a; stroke-width: 1.2 } .engine { fill: #dbeafe; stroke: #1d4ed8 }
    text { font-size: 14px; fill: #1f2328; text-anchor: middle } .note { fill: #57606a; text-anchor: start }
    @media (prefers-color-scheme: dark) {
      rect { fill: #161b22; stroke: #8b949e } .engine { fill: #10243f; stroke: #60a5fa }
      text { fill: #e6edf3 } .note { fill: #b1bac4 }
    }
  </style>
";

/// Draws each layer as a row of modules, the highest layer at the top. Modules of the packages below `md` have another
/// color.
fn drawn() -> String {
    let highest_of_others = layer("pipeline").expect("the highest module of another package");
    let height = LAYERS.len() * ROW + 44;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Layers of \
         modules\" font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\">\n{STYLE}"
    );
    for (row, (level, modules)) in LAYERS.iter().enumerate().rev().enumerate() {
        let top = 10 + row * ROW;
        let widths: Vec<usize> = modules.iter().map(|name| CHARACTER * name.len() + MARGIN).collect();
        let gaps = 10 * (modules.len() - 1);
        let mut left = (WIDTH - widths.iter().sum::<usize>() - gaps) / 2;
        for (name, width) in modules.iter().zip(widths) {
            let class = if level <= highest_of_others { " class=\"engine\"" } else { "" };
            let (middle, base) = (left + width / 2, top + 19);
            writeln!(
                svg,
                "  <rect{class} x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{BOX}\" rx=\"6\"/>\
                 <text x=\"{middle}\" y=\"{base}\">{name}</text>"
            )
            .expect("a string takes everything");
            left += width + 10;
        }
    }
    let base = height - 18;
    svg += &format!(
        "  <text class=\"note\" x=\"10\" y=\"{base}\">A module uses only modules of its own row and of the rows below. Blue: \
         the packages md-engine, md-fft, md-xtc and md-build.</text>\n</svg>\n"
    );
    svg
}

#[test]
fn the_picture_of_the_layers_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/layers.svg");
    if std::env::var_os("MD_WRITE_DOCS").is_some() {
        std::fs::write(&path, drawn()).expect("the picture can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == drawn(), "draw the picture again: MD_WRITE_DOCS=1 cargo test --test tidy picture");
}
