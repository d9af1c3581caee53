//! Axes of pictures: ends, ticks at round numbers, and the reduction of points that a reader cannot tell apart.

/// Linear map from the numbers of an axis to positions in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// numbers at the two ends of the axis
    pub(super) range: [f64; 2],
    /// positions of the ends, in pixels
    pub(super) ends: [f32; 2],
}

impl Scale {
    /// Returns the position (pixels) of a number on the axis.
    pub(super) fn at(&self, value: f64) -> f32 {
        let [low, high] = self.range;
        let [from, to] = self.ends.map(f64::from);
        let place = from + (value - low) / (high - low) * (to - from);
        // positions far outside of the picture are clamped, because drawing libraries reject numbers that are too large
        place.clamp(-1e5, 1e5) as f32
    }
}

/// Returns the smallest and the largest finite number; `None` if no number is finite.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    values.into_iter().filter(|value| value.is_finite()).fold(None, |range, value| match range {
        None => Some([value; 2]),
        Some([low, high]) => Some([f64::min(low, value), f64::max(high, value)]),
    })
}

/// Returns the ends of an axis, moved outwards by `margin`, a fraction of their distance. Equal ends are moved apart.
/// Without data the ends are 0 and 1, with the margin.
pub(super) fn widened(range: Option<[f64; 2]>, margin: f64) -> [f64; 2] {
    let [low, high] = range.unwrap_or([0.0, 1.0]);
    // if the ends exceed half of the largest `f64`, their distance overflows
    let [low, high] = [low.max(-1e300), high.min(1e300)];
    // a difference below 1e-12 of the larger number is mostly rounding
    let size = low.abs().max(high.abs());
    if high - low <= 1e-12 * size || high <= low {
        let half = if size > 0.0 { 0.1 * size } else { 0.5 };
        let middle = 0.5 * (low + high);
        return [middle - half, middle + half];
    }
    [low - margin * (high - low), high + margin * (high - low)]
}

/// Numbers at which an axis has ticks, with their labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    /// numbers and their labels
    pub(super) marks: Vec<(f64, String)>,
    /// common factor of all labels, such as "×10⁵"; empty for 1
    pub(super) factor: String,
}

/// Kind of the numbers of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// any numbers
    Real,
    /// counts and indices
    Whole,
    /// angles in degrees
    Angles,
}

/// Returns about `count` ticks at multiples of 1, 2 or 5 times a power of ten, or of 15, 30, 45, 60 or 90 for wide
/// ranges of angles.
pub(super) fn ticks([low, high]: [f64; 2], count: usize, numbers: Numbers) -> Ticks {
    let rough = (high - low) / count.max(1) as f64;
    let rough = if numbers == Numbers::Whole { rough.max(1.0) } else { rough };
    if !rough.is_finite() || rough <= 0.0 {
        return Ticks::default();
    }
    let power = 10f64.powf(rough.log10().floor());
    let decimal = [1.0, 2.0, 5.0].map(|step| step * power).into_iter().find(|&step| step >= rough * 0.999);
    let angle = [15.0, 30.0, 45.0, 60.0, 90.0].into_iter().find(|&step| step >= rough * 0.999);
    let step = match angle {
        Some(step) if numbers == Numbers::Angles && high - low >= 90.0 => step,
        _ => decimal.unwrap_or(10.0 * power),
    };
    // a tick may be a thousandth of a step outside of the range, because the ends are rounded
    let [first, last] = [(low / step - 1e-3).ceil(), (high / step + 1e-3).floor()];
    if last - first > 100.0 {
        return Ticks::default();
    }
    let values: Vec<f64> = (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect();
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let magnitude = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
    let exponent = if (-3..5).contains(&magnitude) { 0 } else { magnitude };
    let unit = 10f64.powi(exponent);
    let decimals = (-((step / unit).log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
    let label = |value: f64| {
        let text = format!("{:.decimals$}", value / unit);
        let is_zero = text.chars().all(|letter| matches!(letter, '-' | '0' | '.'));
        if is_zero { "0".into() } else { text.replace('-', "−") }
    };
    let factor = if exponent == 0 { String::new() } else { format!("×10{}", raised(exponent)) };
    Ticks { marks: values.iter().map(|&value| (value, label(value))).collect(), factor }
}

/// Returns a whole number in superscript digits.
fn raised(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = number.to_string();
    digits.chars().map(|digit| digit.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize])).collect()
}

/// Reduces a line to the first, lowest, highest and last point of each column of pixels. If the line leaves a column
/// and returns to it, each passage is reduced separately, so that the reduced line covers the same pixels.
pub(super) fn thinned(points: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let mut kept = vec![];
    for column in points.chunk_by(|a, b| a[0].floor() == b[0].floor()) {
        let by_height = |&a: &usize, &b: &usize| column[a][1].total_cmp(&column[b][1]);
        let [least, greatest] = [(0..column.len()).min_by(by_height), (0..column.len()).max_by(by_height)];
        let mut indices = [0, least.unwrap_or(0), greatest.unwrap_or(0), column.len() - 1];
        indices.sort_unstable();
        let distinct = indices.iter().enumerate().filter(|&(place, index)| place == 0 || indices[place - 1] != *index);
        kept.extend(distinct.map(|(_, &index)| column[index]));
    }
    kept
}

/// Counts points in the cells of a grid. Returns the counts row by row, from the lower end of the vertical axis.
pub(super) fn counted(x: &[f64], y: &[f64], ranges: [[f64; 2]; 2], [columns, rows]: [usize; 2]) -> Vec<f64> {
    let mut counts = vec![0.0; columns * rows];
    let cell = |value: f64, [low, high]: [f64; 2], cells: usize| {
        let place = (value - low) / (high - low);
        // the condition is false for NaN; the upper end of the range belongs to the last cell
        (0.0..=1.0).contains(&place).then(|| ((place * cells as f64) as usize).min(cells - 1))
    };
    for (&x, &y) in x.iter().zip(y) {
        if let (Some(column), Some(row)) = (cell(x, ranges[0], columns), cell(y, ranges[1], rows)) {
            counts[row * columns + column] += 1.0;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(range: [f64; 2], numbers: Numbers) -> Vec<String> {
        ticks(range, 6, numbers).marks.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_at_round_numbers() {
        assert_eq!(texts([0.0, 1.0], Numbers::Real), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts([-0.03, 0.11], Numbers::Real), ["0", "0.05", "0.10"]);
        assert_eq!(texts([-180.0, 180.0], Numbers::Angles), ["−180", "−120", "−60", "0", "60", "120", "180"]);
        assert_eq!(texts([0.5, 3.5], Numbers::Whole), ["1", "2", "3"]);
        assert_eq!(texts([7.0, 100.0], Numbers::Real), ["20", "40", "60", "80", "100"]);
        let large = ticks([0.0, 3.2e6], 6, Numbers::Real);
        assert_eq!((large.marks[1].1.as_str(), large.factor.as_str()), ("1", "×10⁶"));
        let small = ticks([0.0, 4e-6], 6, Numbers::Real);
        assert_eq!((small.marks[1].1.as_str(), small.factor.as_str()), ("1", "×10⁻⁶"));
        for bad in [[0.0, f64::NAN], [1.0, 1.0], [f64::NEG_INFINITY, 0.0]] {
            assert_eq!(ticks(bad, 6, Numbers::Real), Ticks::default());
        }
    }

    #[test]
    fn ends_are_apart() {
        assert_eq!(widened(None, 0.5), [-0.5, 1.5]);
        assert_eq!(widened(Some([0.0, 0.0]), 0.1), [-0.5, 0.5]);
        assert_eq!(widened(Some([0.0, 10.0]), 0.1), [-1.0, 11.0]);
        let [low, high] = widened(extent([f64::MAX, f64::MIN, f64::NAN]), 0.05);
        assert!((high - low).is_finite());
        assert_eq!(extent([f64::NAN, f64::INFINITY]), None);
    }

    /// A line with 50 points in each column of pixels keeps at most four points per column, and the peak is one of
    /// them.
    #[test]
    fn peaks_survive_thinning() {
        let mut points: Vec<[f32; 2]> = (0..5000).map(|i| [i as f32 / 50.0, (i % 7) as f32]).collect();
        points[1234][1] = 99.0;
        let kept = thinned(&points);
        assert!(kept.len() <= 400 && kept.contains(&points[1234]), "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert_eq!(thinned(&[]), Vec::<[f32; 2]>::new());
    }

    #[test]
    fn points_are_counted_in_cells() {
        let x = [0.0, 0.9, 1.0, 2.0, f64::NAN, 3.0];
        let y = [0.0, 0.1, 0.9, 1.0, 0.0, 0.5];
        assert_eq!(counted(&x, &y, [[0.0, 2.0], [0.0, 1.0]], [2, 2]), [2.0, 0.0, 0.0, 2.0]);
    }
}
