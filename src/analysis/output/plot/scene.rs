//! Drawing of a picture as a list of marks, from which SVG and PNG are made.

use super::colour::Palette;

/// Distance (pixels) by which marks of the data may extend beyond the data area, so that lines along its borders are
/// drawn at their full width.
const OVERHANG: f32 = 2.0;

/// Drawing in pixels, with the origin at the upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scene {
    /// width
    pub(super) width: f32,
    /// height
    pub(super) height: f32,
    /// title, for programs that read pages aloud
    pub(super) title: String,
    /// data area: left, top, width, height
    pub(super) area: [f32; 4],
    /// marks below the data
    pub(super) below: Vec<Mark>,
    /// marks of the data, which are cut a little outside of `area`
    pub(super) data: Vec<Mark>,
    /// marks above the data
    pub(super) above: Vec<Mark>,
}

impl Scene {
    /// Returns the rectangle (left, top, width, height) at whose borders marks of the data are cut.
    pub(super) fn clip(&self) -> [f32; 4] {
        let [left, top, width, height] = self.area;
        [left - OVERHANG, top - OVERHANG, width + 2.0 * OVERHANG, height + 2.0 * OVERHANG]
    }
}

/// Element of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// polyline
    Line { points: Vec<[f32; 2]>, colour: Colour, width: f32, dashed: bool },
    /// filled polygon
    Polygon { points: Vec<[f32; 2]>, colour: Colour, opacity: f32 },
    /// filled rectangles: left, top, width, height
    Rectangles { rectangles: Vec<[f32; 4]>, colour: Colour, opacity: f32 },
    /// filled circles
    Circles { centers: Vec<[f32; 2]>, radius: f32, colour: Colour, opacity: f32 },
    /// coloured cells that fill a rectangle
    Cells { rectangle: [f32; 4], cells: Cells },
    /// text, with the point `at` on its baseline
    Text { at: [f32; 2], text: String, size: f32, anchor: Anchor, turned: bool, colour: Colour },
}

/// Colour of a mark, which depends on the theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    /// text and axes
    Ink,
    /// grid lines
    Grid,
    /// background
    Paper,
    /// colour of the line or class with the given index
    Series(usize),
}

/// Part of a text that is placed at the position of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// first character
    Start,
    /// middle
    Middle,
    /// last character
    End,
}

/// Grid of cells, each of one colour, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    /// number of columns
    pub(super) columns: usize,
    /// number of rows
    pub(super) rows: usize,
    /// index of the colour of each cell in `palette`, or [`EMPTY`]
    pub(super) indices: Vec<u8>,
    pub(super) palette: Palette,
}

/// Index of a cell without a colour.
pub(super) const EMPTY: u8 = u8::MAX;
