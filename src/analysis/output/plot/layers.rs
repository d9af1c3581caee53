//! Conversion of the layers of a picture into marks.

use super::colour::{Palette, STEPS};
use super::scale::{Scale, counted, extent, thinned, widened};
use super::scene::{Cells, Colour, EMPTY, Mark};
use crate::analysis::findings::{Layer, Plot};

/// Number of points above which a layer of points is shown as a map of their density, because points would hide each
/// other.
const MOST_POINTS: usize = 5000;
/// Number of points above which a line is reduced.
const MOST_LINE_POINTS: usize = 2000;
/// Largest number of cells of a map along each axis. With more cells, an SVG file becomes larger than 500 kB.
const MOST_CELLS: usize = 512;
/// Number of cells of a density map along each axis.
const DENSITY_CELLS: usize = 115;
/// Opacity of the error band of a line.
const BAND: f32 = 0.25;
/// Width (pixels) of lines; [`DENSE_WIDTH`] is the width of dense lines (see [`DENSE`]).
const WIDTH: f32 = 2.2;
const DENSE_WIDTH: f32 = 1.2;
/// Number of points for each column of pixels above which a line is dense.
const DENSE: f32 = 3.0;

/// Returns the layers of a picture. A layer of too many points is replaced by a map of their density or, if several
/// layers have points, by fewer points.
pub(super) fn readable(plot: &Plot) -> Vec<Layer> {
    let clouds = plot.layers.iter().filter(|layer| matches!(layer, Layer::Points { .. })).count();
    let reduced = |layer: &Layer| match layer {
        Layer::Points { x, y, .. } if x.len() > MOST_POINTS && plot.layers.len() == 1 => {
            let x_range = plot.x.range.unwrap_or_else(|| widened(extent(x.iter().copied()), 0.02));
            let y_range = plot.y.range.unwrap_or_else(|| widened(extent(y.iter().copied()), 0.02));
            let counts = counted(x, y, [x_range, y_range], [DENSITY_CELLS; 2]);
            let values = counts.iter().map(|&count| (1.0 + count).log10()).collect();
            let label = "log₁₀(1 + points per cell)".into();
            Layer::Map { label, x: x_range, y: y_range, columns: DENSITY_CELLS, values }
        }
        Layer::Points { label, x, y } if x.len() * clouds > 2 * MOST_POINTS => {
            let stride = (x.len() * clouds).div_ceil(2 * MOST_POINTS);
            let every = |values: &[f64]| values.iter().copied().step_by(stride).collect();
            Layer::Points { label: label.clone(), x: every(x), y: every(y) }
        }
        _ => layer.clone(),
    };
    plot.layers.iter().map(reduced).collect()
}

/// Returns the width of bars with the centers `x`: the smallest distance between two centers.
pub(super) fn bar_width(x: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = x.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let distances = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|&distance| distance > 0.0);
    extent(distances).map_or(1.0, |[least, _]| least)
}

/// Colours of a map and the values that they represent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColourBar {
    /// quantity with its unit
    pub(super) label: String,
    /// values that the first and the last colour represent
    pub(super) range: [f64; 2],
    pub(super) palette: Palette,
}

impl ColourBar {
    /// Creates the colour bar of a map of `values`. Diverging colours, with white at zero, are used if both negative
    /// and positive values are important.
    pub(super) fn new(label: &str, values: &[f64]) -> Self {
        let range = widened(extent(values.iter().copied()), 0.0);
        let [low, high] = range;
        let is_diverging = low < 0.0 && high > 0.0 && low.abs().min(high) > 0.2 * low.abs().max(high);
        let reach = low.abs().max(high);
        let range = if is_diverging { [-reach, reach] } else { range };
        let palette = if is_diverging { Palette::Diverging } else { Palette::Sequential };
        ColourBar { label: label.to_owned(), range, palette }
    }

    fn index(&self, value: f64) -> u8 {
        if !value.is_finite() {
            return EMPTY;
        }
        let [low, high] = self.range;
        ((value - low) / (high - low) * (STEPS - 1) as f64).round().clamp(0.0, (STEPS - 1) as f64) as u8
    }

    /// Returns the cells of the colour bar, with the largest value at the top.
    pub(super) fn cells(&self) -> Cells {
        let indices = (0..STEPS).rev().map(|index| index as u8).collect();
        Cells { columns: 1, rows: STEPS, indices, palette: self.palette }
    }
}

/// Returns the marks of a layer, drawn in the colour of the series with the index `series`.
pub(super) fn marks(layer: &Layer, series: usize, x_axis: &Scale, y_axis: &Scale) -> Vec<Mark> {
    let colour = Colour::Series(series);
    match layer {
        Layer::Line { x, y, error, .. } => line(x, y, error, series, [x_axis, y_axis]),
        Layer::Points { x, y, .. } => {
            let finite = x.iter().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite());
            let centers: Vec<[f32; 2]> = finite.map(|(&x, &y)| [x_axis.at(x), y_axis.at(y)]).collect();
            let [radius, opacity] = if centers.len() > 300 { [2.6, 0.6] } else { [4.0, 0.8] };
            vec![Mark::Circles { centers, radius, colour, opacity }]
        }
        Layer::Bars { x, y, .. } => {
            let half = 0.5 * bar_width(x);
            let finite = x.iter().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite());
            let bar = |(&x, &y): (&f64, &f64)| {
                let [left, right] = [x_axis.at(x - half), x_axis.at(x + half)];
                let [zero, top] = [y_axis.at(0.0), y_axis.at(y)];
                // a gap of one pixel separates bars that are wide enough
                let gap = if right - left > 6.0 { 1.0 } else { 0.0 };
                [left, zero.min(top), (right - left - gap).max(0.2), (zero - top).abs()]
            };
            vec![Mark::Rectangles { rectangles: finite.map(bar).collect(), colour, opacity: 0.75 }]
        }
        Layer::Mean { x, value, error } => mean(*x, *value, *error, [x_axis, y_axis]),
        Layer::Map { label, x, y, columns, values } => {
            let bar = ColourBar::new(label, values);
            let average = |block: &[f64]| {
                let (sum, count) =
                    block.iter().filter(|v| v.is_finite()).fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
                bar.index(sum / count)
            };
            grid(*columns, values, bar.palette, average, rectangle(*x, *y, x_axis, y_axis))
        }
        Layer::Classes { names, x, y, columns, values } => {
            let count = names.len();
            let most_frequent = |block: &[u8]| {
                let frequency = |class: u8| block.iter().filter(|&&other| other == class).count();
                let best = block.iter().copied().max_by_key(|&class| (frequency(class), std::cmp::Reverse(class)));
                best.filter(|&class| usize::from(class) < count).unwrap_or(EMPTY)
            };
            grid(*columns, values, Palette::Classes, most_frequent, rectangle(*x, *y, x_axis, y_axis))
        }
    }
}

/// Returns the line and the band of a mean. A margin in the background colour separates the line from the series behind
/// the line.
fn mean(x: [f64; 2], value: f64, error: f64, [x_axis, y_axis]: [&Scale; 2]) -> Vec<Mark> {
    if ![x[0], x[1], value, error].iter().all(|number| number.is_finite()) {
        return vec![];
    }
    let ends = |value: f64| x.map(|x| [x_axis.at(x), y_axis.at(value)]);
    let ([upper, lower], points) = ([value + error, value - error].map(ends), ends(value).to_vec());
    vec![
        Mark::Polygon { points: vec![upper[0], upper[1], lower[1], lower[0]], colour: Colour::Ink, opacity: BAND },
        Mark::Line { points: points.clone(), colour: Colour::Paper, width: 2.0 * WIDTH, dashed: false },
        Mark::Line { points, colour: Colour::Ink, width: WIDTH, dashed: true },
    ]
}

fn rectangle(x: [f64; 2], y: [f64; 2], x_axis: &Scale, y_axis: &Scale) -> [f32; 4] {
    let [left, right] = x.map(|x| x_axis.at(x));
    let [bottom, top] = y.map(|y| y_axis.at(y));
    [left, top, right - left, bottom - top]
}

/// Returns the cells of a map, whose bottom row is the first row of `values`. Blocks of values are merged into one cell
/// if there are more than [`MOST_CELLS`] values along an axis.
fn grid<T: Copy>(
    columns: usize,
    values: &[T],
    palette: Palette,
    index: impl Fn(&[T]) -> u8,
    rectangle: [f32; 4],
) -> Vec<Mark> {
    if columns == 0 || values.len() < columns || !(rectangle[2] > 0.0 && rectangle[3] > 0.0) {
        return vec![];
    }
    let rows = values.len() / columns;
    let [wide, high] = [columns.min(MOST_CELLS), rows.min(MOST_CELLS)];
    let mut indices = Vec::with_capacity(wide * high);
    let mut block = vec![];
    for row in (0..high).rev() {
        for column in 0..wide {
            block.clear();
            for from in row * rows / high..(row + 1) * rows / high {
                let place = |column: usize| from * columns + column * columns / wide;
                block.extend_from_slice(&values[place(column)..place(column + 1)]);
            }
            indices.push(index(&block));
        }
    }
    vec![Mark::Cells { rectangle, cells: Cells { columns: wide, rows: high, indices, palette } }]
}

/// Returns a line and its error band. Values that are not finite interrupt line and band.
fn line(x: &[f64], y: &[f64], error: &[f64], series: usize, [x_axis, y_axis]: [&Scale; 2]) -> Vec<Mark> {
    let colour = Colour::Series(series);
    let many = x.len() > MOST_LINE_POINTS;
    let reduce = |points: Vec<[f32; 2]>| if many { thinned(&points) } else { points };
    let (mut bands, mut lines) = (vec![], vec![]);
    let indices: Vec<usize> = (0..x.len().min(y.len())).collect();
    let is_finite = |&index: &usize| x[index].is_finite() && y[index].is_finite();
    for run in indices.split(|index| !is_finite(index)).filter(|run| !run.is_empty()) {
        let curve = |value: &dyn Fn(usize) -> f64| {
            run.iter().map(|&index| [x_axis.at(x[index]), y_axis.at(value(index))]).collect::<Vec<_>>()
        };
        if error.len() == y.len() {
            let error = |index: usize| if error[index].is_finite() { error[index].abs() } else { 0.0 };
            let upper = reduce(curve(&|index| y[index] + error(index)));
            let lower = reduce(curve(&|index| y[index] - error(index)));
            let points = upper.into_iter().chain(lower.into_iter().rev()).collect();
            bands.push(Mark::Polygon { points, colour, opacity: BAND });
        }
        let points = reduce(curve(&|index| y[index]));
        if let [single] = points[..] {
            lines.push(Mark::Circles { centers: vec![single], radius: 3.0, colour, opacity: 1.0 });
        } else {
            let [left, right] = x_axis.ends;
            let width = if points.len() as f32 > DENSE * (right - left) { DENSE_WIDTH } else { WIDTH };
            lines.push(Mark::Line { points, colour, width, dashed: series >= super::colour::SERIES });
        }
    }
    bands.into_iter().chain(lines).collect()
}
