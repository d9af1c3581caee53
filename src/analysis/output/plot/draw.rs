//! Layout of a picture: title, legend, axes, area of the data, colour bar.

use super::colour::Palette;
use super::font::Font;
use super::layers::{ColourBar, bar_width, marks, readable};
use super::scale::{Numbers, Scale, Ticks, extent, ticks, widened};
use super::scene::{Anchor, Cells, Colour, Mark, Scene};
use crate::analysis::findings::{Axis, Layer, Plot};

/// Size of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// size for a talk
    Slide,
    /// size for a column of a page; the font sizes equal those of a slide
    Column,
}

impl Size {
    /// Returns the width and the height of the data area, in pixels.
    fn area(self) -> [f32; 2] {
        match self {
            Size::Slide => [680.0, 400.0],
            Size::Column => [440.0, 270.0],
        }
    }

    /// Returns the edge (pixels) of the square data area of a picture whose two axes have the same range.
    fn square(self) -> f32 {
        match self {
            Size::Slide => 460.0,
            Size::Column => 330.0,
        }
    }

    /// Returns the largest number of ticks along an axis or a colour bar of a data area.
    fn most_ticks(self, area: [f32; 2]) -> usize {
        if self == Size::Slide && area == self.area() { 8 } else { 6 }
    }
}

/// Distance (pixels) between the edges of the picture and its content.
const EDGE: f32 = 16.0;
/// Font sizes (pixels) of titles, labels and ticks.
const TITLE: f32 = 22.0;
const LABEL: f32 = 20.0;
const TICK: f32 = 17.0;
/// Length of a tick, and the distance between a tick and its text, in pixels.
const TICK_LENGTH: f32 = 6.0;
const TICK_DISTANCE: f32 = 6.0;
/// Height of a row of the legend, in pixels.
const ROW: f32 = 27.0;
/// Largest number of entries of a legend.
const MOST_ENTRIES: usize = 24;
/// Largest number of lines of an entry of a legend.
const MOST_LINES: usize = 3;
/// Width of the colour bar, in pixels.
const BAR: f32 = 22.0;
/// Smallest length (ps) of a time axis whose ticks are labelled in nanoseconds.
const LONG: f64 = 1e4;
/// Height of digits above the baseline, as a fraction of the font size.
const DIGIT_HEIGHT: f32 = 0.73;

/// Lays out a picture and returns its marks.
pub(super) fn scene(plot: &Plot, format: Size, font: &Font) -> Scene {
    let layers = readable(plot);
    let has_cells = layers.iter().any(|layer| matches!(layer, Layer::Map { .. } | Layer::Classes { .. }));
    let ranges = [range(&plot.x, &layers, horizontal), range(&plot.y, &layers, vertical)];
    let has_lines = layers.iter().any(|layer| matches!(layer, Layer::Line { .. } | Layer::Bars { .. }));
    let size = if ranges[0] == ranges[1] && !has_lines { [format.square(); 2] } else { format.area() };
    let numbers = |axis: &Axis| match axis {
        Axis { is_whole: true, .. } => Numbers::Whole,
        Axis { label, .. } if label.contains("degree") || label.contains('°') => Numbers::Angles,
        _ => Numbers::Real,
    };
    let most_ticks = format.most_ticks(size);
    let (x_label, x_ticks) = labelled(&plot.x, ranges[0], |range| ticks(range, most_ticks, numbers(&plot.x)));
    let (y_label, y_ticks) = labelled(&plot.y, ranges[1], |range| ticks(range, most_ticks, numbers(&plot.y)));
    let side = Side::new(&layers, most_ticks);
    let entries = entries(&layers);
    let rows = rows(&entries, size[0], font);

    let left = EDGE + LABEL + 10.0 + widest(&y_ticks, font) + TICK_LENGTH + TICK_DISTANCE;
    let factor = if y_ticks.factor.is_empty() { 0.0 } else { TICK + 4.0 };
    let above = if plot.title.is_empty() { EDGE } else { EDGE + TITLE + 12.0 };
    let gap = if rows.is_empty() { 0.0 } else { 6.0 };
    let top = above + ROW * rows.len() as f32 + gap + factor;
    let area = [left.ceil(), top.ceil(), size[0], size[1]];
    let below = TICK_LENGTH + TICK_DISTANCE + TICK + 10.0 + LABEL + EDGE;
    let mut scene = Scene {
        width: area[0] + size[0] + side.width(font).ceil(),
        height: (area[1] + size[1] + below).ceil(),
        title: plot.title.clone(),
        area,
        ..Scene::default()
    };
    let x = Scale { range: ranges[0], ends: [area[0], area[0] + size[0]] };
    let y = Scale { range: ranges[1], ends: [area[1] + size[1], area[1]] };
    horizontal_axis(&mut scene, &x_label, &x, &x_ticks, font, has_cells);
    vertical_axis(&mut scene, &y_label, &y, &y_ticks, font, has_cells);
    let mut series = 0;
    for layer in &layers {
        scene.data.extend(marks(layer, series, &x, &y));
        series += usize::from(label(layer).is_some());
    }
    if layers.is_empty() || scene.data.iter().all(is_blank) {
        let at = [area[0] + 0.5 * size[0], area[1] + 0.5 * size[1]];
        scene.above.push(text(at, "no data", LABEL, Anchor::Middle));
    }
    let (title, title_size) = fitted(&plot.title, TITLE, scene.width - area[0] - EDGE, font);
    scene.above.push(text([area[0], EDGE + 0.8 * TITLE], &title, title_size, Anchor::Start));
    legend(&mut scene, &rows, above);
    side.draw(&mut scene, font);
    scene
}

fn is_blank(mark: &Mark) -> bool {
    match mark {
        Mark::Rectangles { rectangles, .. } => rectangles.is_empty(),
        Mark::Circles { centers, .. } => centers.is_empty(),
        _ => false,
    }
}

fn text(at: [f32; 2], text: &str, size: f32, anchor: Anchor) -> Mark {
    Mark::Text { at, text: text.to_owned(), size, anchor, turned: false, colour: Colour::Ink }
}

/// Returns a text and a font size with which the text is no wider than `width`. If the font size would become too
/// small, the text is shortened, but a unit at its end is kept.
fn fitted(text: &str, size: f32, width: f32, font: &Font) -> (String, f32) {
    let least = 0.75 * size;
    let smaller = size.min(width / font.width(text).max(1e-3));
    if smaller >= least {
        return (text.to_owned(), smaller);
    }
    let (text, unit) = text.rfind(" / ").map_or((text, ""), |place| text.split_at(place));
    let mut letters: Vec<char> = text.chars().collect();
    let joined = |letters: &[char]| format!("{}…{unit}", letters.iter().collect::<String>().trim_end());
    while letters.len() > 1 && font.width(&joined(&letters)) * least > width {
        letters.pop();
    }
    (joined(&letters), least)
}

fn widest(ticks: &Ticks, font: &Font) -> f32 {
    ticks.marks.iter().map(|(_, text)| font.width(text) * TICK).fold(0.0, f32::max)
}

/// Returns the label and the ticks of an axis with the ends `range`. An axis in picoseconds has ticks in nanoseconds if
/// its length is at least [`LONG`].
fn labelled(axis: &Axis, range: [f64; 2], ticks: impl Fn([f64; 2]) -> Ticks) -> (String, Ticks) {
    const PER_NANOSECOND: f64 = 1000.0;
    match axis.label.strip_suffix(" / ps") {
        Some(quantity) if range[1] - range[0] >= LONG => {
            let mut ticks = ticks(range.map(|time| time / PER_NANOSECOND));
            ticks.marks.iter_mut().for_each(|(value, _)| *value *= PER_NANOSECOND);
            (format!("{quantity} / ns"), ticks)
        }
        _ => (axis.label.clone(), ticks(range)),
    }
}

/// Returns the ends of an axis.
fn range(axis: &Axis, layers: &[Layer], of: impl Fn(&Layer) -> (Option<[f64; 2]>, f64)) -> [f64; 2] {
    if let Some([low, high]) = axis.range.filter(|[low, high]| low.is_finite() && high.is_finite() && low < high) {
        return [low, high];
    }
    let found: Vec<(Option<[f64; 2]>, f64)> = layers.iter().map(of).collect();
    let all = extent(found.iter().filter_map(|(range, _)| *range).flatten());
    let margin = found.iter().map(|&(_, margin)| margin).fold(f64::INFINITY, f64::min);
    let [low, high] = widened(all, if margin.is_finite() { margin } else { 0.0 });
    // the margin is kept if there are points, because points at an end of the axis would be cut
    if layers.iter().any(|layer| matches!(layer, Layer::Points { .. })) {
        return [low, high];
    }
    // if no value is negative, the axis begins at zero or above; if no value is positive, the axis ends at zero or
    // below
    match all {
        Some([least, greatest]) if least >= 0.0 && greatest > 0.0 => [low.max(0.0), high],
        Some([least, greatest]) if greatest <= 0.0 && least < 0.0 => [low, high.min(0.0)],
        _ => [low, high],
    }
}

/// Returns the extent of a layer along the horizontal axis, and the margin at its ends as a fraction of the extent.
fn horizontal(layer: &Layer) -> (Option<[f64; 2]>, f64) {
    match layer {
        Layer::Line { x, .. } => (extent(x.iter().copied()), 0.0),
        Layer::Points { x, .. } => (extent(x.iter().copied()), 0.04),
        Layer::Bars { x, .. } => {
            let half = 0.5 * bar_width(x);
            (extent(x.iter().flat_map(|x| [x - half, x + half])), 0.0)
        }
        Layer::Mean { x, .. } | Layer::Map { x, .. } | Layer::Classes { x, .. } => (extent(*x), 0.0),
    }
}

/// Returns the extent of a layer along the vertical axis, and the margin at its ends as a fraction of the extent.
fn vertical(layer: &Layer) -> (Option<[f64; 2]>, f64) {
    match layer {
        Layer::Line { y, error, .. } if error.len() == y.len() => {
            // an error band that reaches below zero is cut at zero if no value is negative
            let least = if y.iter().any(|&y| y < 0.0) { f64::NEG_INFINITY } else { 0.0 };
            let ends = y.iter().zip(error).flat_map(|(y, error)| [*y, (y - error).max(least), y + error]);
            (extent(ends), 0.05)
        }
        Layer::Line { y, .. } | Layer::Points { y, .. } => (extent(y.iter().copied()), 0.05),
        Layer::Bars { y, .. } => (extent(y.iter().copied().chain([0.0])), 0.05),
        Layer::Mean { value, error, .. } => (extent([value - error, value + error]), 0.05),
        Layer::Map { y, .. } | Layer::Classes { y, .. } => (extent(*y), 0.0),
    }
}

/// Returns the label of a layer that has the colour of a series; `None` for other layers.
fn label(layer: &Layer) -> Option<&str> {
    match layer {
        Layer::Line { label, .. } | Layer::Points { label, .. } | Layer::Bars { label, .. } => Some(label),
        Layer::Mean { .. } | Layer::Map { .. } | Layer::Classes { .. } => None,
    }
}

/// Symbol of an entry of a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Symbol {
    /// line in the colour of a series
    Line(usize),
    /// square in the colour of a series
    Square(usize),
    /// line and band of a mean
    Mean,
}

/// Returns the entries of the legend: the mean, and the layers with labels. If the picture has only one label and no
/// mean, the legend has no entries.
fn entries(layers: &[Layer]) -> Vec<(Symbol, &str)> {
    let coloured = layers.iter().filter_map(|layer| Some((matches!(layer, Layer::Line { .. }), label(layer)?)));
    let symbol = |series, is_line| if is_line { Symbol::Line(series) } else { Symbol::Square(series) };
    let all = coloured.enumerate().map(|(series, (is_line, text))| (symbol(series, is_line), text));
    let mut entries: Vec<(Symbol, &str)> = all.filter(|(_, text)| !text.is_empty()).take(MOST_ENTRIES).collect();
    let has_mean = layers.iter().any(|layer| matches!(layer, Layer::Mean { .. }));
    if entries.len() == 1 && !has_mean {
        entries.clear();
    }
    entries.extend(has_mean.then_some((Symbol::Mean, "mean ± standard error")));
    entries
}

/// Row of a legend: the horizontal position, the symbol and the text of each entry. A text that continues the previous
/// row has no symbol.
type Row = Vec<(f32, Option<Symbol>, String)>;

/// Distributes the entries of the legend over rows.
fn rows(entries: &[(Symbol, &str)], width: f32, font: &Font) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![];
    let mut right = f32::INFINITY;
    for (symbol, text) in entries {
        for (index, line) in wrapped(text, width - 40.0, font).into_iter().enumerate() {
            let needed = 36.0 + font.width(&line) * TICK;
            if index > 0 || right + needed > width {
                rows.push(vec![]);
                right = 0.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((right, (index == 0).then_some(*symbol), line));
            }
            right += needed + 24.0;
        }
    }
    rows
}

/// Returns the lines of a text that is wrapped at the width `width`, in the font size of ticks. A text with more than
/// [`MOST_LINES`] lines is cut at the end of the last line.
fn wrapped(text: &str, width: f32, font: &Font) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let (count, line) = (lines.len(), lines.pop().unwrap_or_default());
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || count == MOST_LINES || font.width(&longer) * TICK <= width {
            lines.push(longer);
        } else {
            lines.extend([line, word.to_owned()]);
        }
    }
    lines.iter().map(|line| fitted(line, TICK / 0.75, width, font).0).collect()
}

fn legend(scene: &mut Scene, rows: &[Row], top: f32) {
    for (index, row) in rows.iter().enumerate() {
        let middle = top + ROW * (index as f32 + 0.4);
        for (left, symbol, shown) in row {
            let left = scene.area[0] + left;
            let line = |colour, width, dashed| Mark::Line {
                points: vec![[left, middle], [left + 28.0, middle]],
                colour,
                width,
                dashed,
            };
            let square = |from, edges: [f32; 2], colour, opacity| {
                let rectangles = vec![[left + from, middle - 8.0, edges[0], edges[1]]];
                Mark::Rectangles { rectangles, colour, opacity }
            };
            scene.above.extend(match *symbol {
                Some(Symbol::Line(series)) => vec![line(Colour::Series(series), 3.0, series >= super::colour::SERIES)],
                Some(Symbol::Square(series)) => vec![square(6.0, [16.0, 16.0], Colour::Series(series), 0.8)],
                Some(Symbol::Mean) => {
                    vec![square(0.0, [28.0, 16.0], Colour::Ink, 0.25), line(Colour::Ink, 2.2, true)]
                }
                None => vec![],
            });
            scene.above.push(text([left + 36.0, middle + 0.5 * DIGIT_HEIGHT * TICK], shown, TICK, Anchor::Start));
        }
    }
}

fn rule(points: [[f32; 2]; 2], colour: Colour) -> Mark {
    Mark::Line { points: points.to_vec(), colour, width: 1.3, dashed: false }
}

fn horizontal_axis(scene: &mut Scene, label: &str, axis: &Scale, ticks: &Ticks, font: &Font, has_cells: bool) {
    let [left, top, width, height] = scene.area;
    let bottom = top + height;
    let baseline = bottom + TICK_LENGTH + TICK_DISTANCE + DIGIT_HEIGHT * TICK;
    for (value, shown) in &ticks.marks {
        let x = axis.at(*value);
        if !has_cells {
            scene.below.push(rule([[x, top], [x, bottom]], Colour::Grid));
        }
        scene.above.push(rule([[x, bottom], [x, bottom + TICK_LENGTH]], Colour::Ink));
        scene.above.push(text([x, baseline], shown, TICK, Anchor::Middle));
    }
    scene.above.push(rule([[left, bottom], [left + width, bottom]], Colour::Ink));
    let label = if ticks.factor.is_empty() { label.to_owned() } else { format!("{label}   ({})", ticks.factor) };
    let (label, size) = fitted(&label, LABEL, width, font);
    scene.above.push(text([left + 0.5 * width, baseline + 10.0 + LABEL], &label, size, Anchor::Middle));
}

fn vertical_axis(scene: &mut Scene, label: &str, axis: &Scale, ticks: &Ticks, font: &Font, has_cells: bool) {
    let [left, top, width, height] = scene.area;
    for (value, shown) in &ticks.marks {
        let y = axis.at(*value);
        if !has_cells {
            scene.below.push(rule([[left, y], [left + width, y]], Colour::Grid));
        }
        scene.above.push(rule([[left - TICK_LENGTH, y], [left, y]], Colour::Ink));
        let at = [left - TICK_LENGTH - TICK_DISTANCE, y + 0.5 * DIGIT_HEIGHT * TICK];
        scene.above.push(text(at, shown, TICK, Anchor::End));
    }
    scene.above.push(rule([[left, top], [left, top + height]], Colour::Ink));
    if has_cells {
        scene.above.push(rule([[left, top], [left + width, top]], Colour::Ink));
        scene.above.push(rule([[left + width, top], [left + width, top + height]], Colour::Ink));
    }
    if !ticks.factor.is_empty() {
        scene.above.push(text([left, top - 8.0], &ticks.factor, TICK, Anchor::Middle));
    }
    scene.above.push(turned([EDGE + 0.8 * LABEL, top + 0.5 * height], label, height, font));
}

fn turned(at: [f32; 2], label: &str, length: f32, font: &Font) -> Mark {
    let (text, size) = fitted(label, LABEL, length, font);
    Mark::Text { at, text, size, anchor: Anchor::Middle, turned: true, colour: Colour::Ink }
}

/// Explanation of colours at the right of the data area.
enum Side {
    /// no explanation
    Nothing,
    /// colour bar of a map, with its ticks
    Bar(ColourBar, Ticks),
    /// names of classes
    Names(Vec<&'static str>),
}

impl Side {
    fn new(layers: &[Layer], most_ticks: usize) -> Self {
        layers.iter().fold(Side::Nothing, |side, layer| match layer {
            Layer::Map { label, values, .. } => {
                let bar = ColourBar::new(label, values);
                let numbers = if label.contains("degree") { Numbers::Angles } else { Numbers::Real };
                let ticks = ticks(bar.range, most_ticks, numbers);
                Side::Bar(bar, ticks)
            }
            Layer::Classes { names, .. } => Side::Names(names.clone()),
            _ => side,
        })
    }

    fn width(&self, font: &Font) -> f32 {
        match self {
            Side::Nothing => 2.0 * EDGE,
            Side::Bar(_, ticks) => 18.0 + BAR + TICK_LENGTH + TICK_DISTANCE + widest(ticks, font) + 10.0 + LABEL + EDGE,
            Side::Names(names) => {
                18.0 + 26.0 + names.iter().map(|name| font.width(name) * TICK).fold(0.0, f32::max) + EDGE
            }
        }
    }

    fn draw(&self, scene: &mut Scene, font: &Font) {
        let [left, top, width, height] = scene.area;
        let left = left + width + 18.0;
        match self {
            Side::Nothing => {}
            Side::Bar(bar, ticks) => {
                scene.above.push(Mark::Cells { rectangle: [left, top, BAR, height], cells: bar.cells() });
                let axis = Scale { range: bar.range, ends: [top + height, top] };
                let right = left + BAR;
                for (value, shown) in &ticks.marks {
                    let y = axis.at(*value);
                    scene.above.push(rule([[right, y], [right + TICK_LENGTH, y]], Colour::Ink));
                    let at = [right + TICK_LENGTH + TICK_DISTANCE, y + 0.5 * DIGIT_HEIGHT * TICK];
                    scene.above.push(text(at, shown, TICK, Anchor::Start));
                }
                let label = if ticks.factor.is_empty() {
                    bar.label.clone()
                } else {
                    format!("{}   ({})", bar.label, ticks.factor)
                };
                scene.above.push(turned([scene.width - EDGE, top + 0.5 * height], &label, height, font));
            }
            Side::Names(names) => {
                for (index, name) in names.iter().enumerate() {
                    let y = top + ROW * index as f32;
                    let cells = Cells { columns: 1, rows: 1, indices: vec![index as u8], palette: Palette::Classes };
                    scene.above.push(Mark::Cells { rectangle: [left, y, 18.0, 18.0], cells });
                    let at = [left + 26.0, y + 9.0 + 0.5 * DIGIT_HEIGHT * TICK];
                    scene.above.push(text(at, name, TICK, Anchor::Start));
                }
            }
        }
    }
}
