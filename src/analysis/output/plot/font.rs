//! Font of pictures: widths and outlines of its characters.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, OutlineBuilder};

/// Embedded font, DejaVu Sans.
pub(super) struct Font {
    face: Face<'static>,
}

impl Font {
    /// Parses the embedded font.
    pub(super) fn new() -> Self {
        Font { face: Face::parse(dejavu::sans::regular(), 0).expect("the program contains the font") }
    }

    /// Returns the width of a text as a multiple of the font size.
    pub(super) fn width(&self, text: &str) -> f32 {
        text.chars().map(|letter| self.glyph(letter).1).sum()
    }

    /// Returns the glyph of a character and its width as a multiple of the font size. The font shows its empty box for
    /// characters that it lacks.
    fn glyph(&self, letter: char) -> (ttf_parser::GlyphId, f32) {
        let glyph = self.face.glyph_index(letter).unwrap_or_default();
        let advance = f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0));
        (glyph, advance / f32::from(self.face.units_per_em()))
    }

    /// Returns the outline of a text at font size 1 whose baseline starts at the origin, with y downwards; `None` for a
    /// text without visible characters.
    pub(super) fn outline(&self, text: &str) -> Option<Path> {
        let scale = 1.0 / f32::from(self.face.units_per_em());
        let mut outline = Outline { path: PathBuilder::new(), scale, left: 0.0 };
        for letter in text.chars() {
            let (glyph, width) = self.glyph(letter);
            // spaces have no outline
            let _ = self.face.outline_glyph(glyph, &mut outline);
            outline.left += width;
        }
        outline.path.finish()
    }
}

/// Path of the characters of a text, one after another.
struct Outline {
    path: PathBuilder,
    scale: f32,
    left: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> [f32; 2] {
        [self.left + x * self.scale, -y * self.scale]
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let [x, y] = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let [x, y] = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let [[x1, y1], [x, y]] = [self.at(x1, y1), self.at(x, y)];
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let [[x1, y1], [x2, y2], [x, y]] = [self.at(x1, y1), self.at(x2, y2), self.at(x, y)];
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The font has all characters that axes need. By the `hmtx` table of DejaVu Sans a space is 651/2048 of the font
    /// size wide, and an "m" 1995/2048.
    #[test]
    fn characters_have_widths() {
        let font = Font::new();
        assert!((font.width(" m") - (651.0 + 1995.0) / 2048.0).abs() < 1e-6);
        for letter in "φψχωΔ½⁰¹²³⁴⁵⁶⁷⁸⁹⁻Å°−×…₁₀ä".chars() {
            assert!(font.face.glyph_index(letter).is_some(), "{letter}");
        }
        assert!(font.outline(" ").is_none() && font.outline("\u{10ffff}a").is_some());
    }
}
