//! Pictures as SVG and PNG.
//!
//! A picture is laid out once, as a list of marks. The SVG file follows the theme that the reader prefers; there is one
//! PNG file for the light theme and one for the dark theme. Files stay small: long lines are reduced to the extremes of
//! each column of pixels, many points become a map of their density, and maps have at most 512 cells along each axis.

mod colour;
mod draw;
mod font;
mod layers;
mod png;
mod scale;
mod scene;
mod svg;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::with_ending;
use crate::analysis::findings::Plot;
use crate::error::{Error, Result};

/// Endings of the names of the files that are written for each picture.
pub(super) const ENDINGS: [&str; 3] = [".svg", ".png", ".dark.png"];

/// Writes the files of pictures, each with its suffix after the stem, and adds the path of each file to `written`
/// before the file is created.
pub(super) fn write(stem: &Path, plots: &[Plot], written: &mut Vec<PathBuf>) -> Result<()> {
    let drawn: Vec<[Vec<u8>; 3]> = plots.par_iter().map(files).collect::<Result<_>>()?;
    for (plot, contents) in plots.iter().zip(drawn) {
        for (ending, content) in ENDINGS.into_iter().zip(contents) {
            let path = with_ending(stem, &format!("{}{ending}", suffix(plot)));
            written.push(path.clone());
            std::fs::write(&path, content).map_err(|error| Error::io(&path, error))?;
        }
    }
    Ok(())
}

/// Returns the contents of the files of a picture, in the order of [`ENDINGS`].
fn files(plot: &Plot) -> Result<[Vec<u8>; 3]> {
    let font = font::Font::new();
    let scene = draw::scene(plot, draw::Size::Slide, &font);
    let (light, dark) = rayon::join(
        || png::bytes(&scene, colour::Theme::Light, &font),
        || png::bytes(&scene, colour::Theme::Dark, &font),
    );
    Ok([svg::text(&scene)?.into_bytes(), light?, dark?])
}

/// Returns a picture as an SVG element for an HTML page with the style sheet of [`svg_rules`]. The element is smaller
/// than a picture in a file, and its text is readable on a phone. `name` must be unique in the page.
pub fn inline_svg(plot: &Plot, name: &str) -> Result<String> {
    let scene = draw::scene(plot, draw::Size::Column, &font::Font::new());
    svg::inline(&scene, name)
}

/// Returns the style sheet that an HTML page needs for the pictures of [`inline_svg`].
pub fn svg_rules() -> String {
    svg::rules()
}

/// Returns the part of the file name of a picture after the stem.
fn suffix(plot: &Plot) -> String {
    if plot.suffix.is_empty() { String::new() } else { format!("-{}", plot.suffix) }
}

#[cfg(test)]
mod tests;
