//! Roofline plot of a benchmark report.

use std::fmt::Write;

use super::{Report, Roofline, Row};

/// Width and height of the picture in px. [`MARGINS`] has the margins (left, top, right, bottom) in px.
const SIZE: [f64; 2] = [900.0, 560.0];
const MARGINS: [f64; 4] = [70.0, 40.0, 190.0, 60.0];
/// Range of the axis of the arithmetic intensity (operations per byte), as powers of ten.
const INTENSITY: [f64; 2] = [-2.0, 3.0];
/// Length of the speed axis (GFLOP/s) in decades. The axis ends at the peak speed.
const DEPTH: f64 = 4.0;
/// Colours of benchmark rows (Okabe and Ito), which colour-blind readers can distinguish.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Logarithmic axes of the roofline plot.
struct Axes {
    /// range of the speed axis (GFLOP/s), as powers of ten
    speed: [f64; 2],
}

impl Axes {
    fn x(&self, intensity: f64) -> f64 {
        let [low, high] = INTENSITY;
        let part = ((intensity.max(1e-9).log10() - low) / (high - low)).clamp(0.0, 1.0);
        MARGINS[0] + part * (SIZE[0] - MARGINS[0] - MARGINS[2])
    }

    fn y(&self, gflops: f64) -> f64 {
        let [low, high] = self.speed;
        let part = ((gflops.max(1e-9).log10() - low) / (high - low)).clamp(0.0, 1.0);
        SIZE[1] - MARGINS[3] - part * (SIZE[1] - MARGINS[1] - MARGINS[3])
    }
}

// The results of `writeln!` are ignored below, because writing to a String cannot fail.

/// Draws the phases of every row under the roofline of the machine, as SVG. Lines show the peak arithmetic rate and two
/// memory bandwidths. The dashed line shows the bandwidth for the smallest amount of data, which fits into a cache, and
/// the solid line shows the bandwidth for the largest amount of data.
pub fn roofline_svg(report: &Report) -> String {
    let highest = report.rooflines.iter().max_by(|a, b| a.peak.total_cmp(&b.peak));
    let top = highest.map_or(1e9, |roofline| roofline.peak).max(1e6);
    let high = (top * 1e-9 * 1.5).log10().ceil();
    let axes = Axes { speed: [high - DEPTH, high] };
    let [width, height] = SIZE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let title = format!("{} on {}", report.program(), report.processor);
    let _ = writeln!(svg, "<text x=\"{}\" y=\"24\" font-size=\"15\">{}</text>", MARGINS[0], escaped(&title));
    grid(&mut svg, &axes);
    if let Some(roofline) = highest {
        roofs(&mut svg, &axes, roofline);
    }
    for (index, row) in report.rows.iter().enumerate() {
        phases(&mut svg, &axes, index, row);
    }
    svg.push_str("</svg>\n");
    svg
}

fn grid(svg: &mut String, axes: &Axes) {
    let [left, top, right, bottom] = [MARGINS[0], MARGINS[1], SIZE[0] - MARGINS[2], SIZE[1] - MARGINS[3]];
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        let _ = writeln!(svg, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#ddd\"/>");
    };
    let decades = |[low, high]: [f64; 2]| (low as i32..=high as i32).map(|decade| 10f64.powi(decade));
    decades(INTENSITY).for_each(|value| line(axes.x(value), top, axes.x(value), bottom));
    decades(axes.speed).for_each(|value| line(left, axes.y(value), right, axes.y(value)));
    for value in decades(INTENSITY) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            axes.x(value),
            bottom + 18.0
        );
    }
    for value in decades(axes.speed) {
        let (x, y) = (left - 8.0, axes.y(value) + 4.0);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{value}</text>");
    }
    let (middle, below) = (0.5 * (left + right), bottom + 42.0);
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">operations per byte</text>");
    let _ =
        writeln!(svg, "<text transform=\"translate(18 {}) rotate(-90)\">GFLOP/s</text>", 0.5 * (top + bottom) + 24.0);
}

fn roofs(svg: &mut String, axes: &Axes, roofline: &Roofline) {
    let peak = roofline.peak * 1e-9;
    let ends = [roofline.bandwidths.last(), roofline.bandwidths.first()].into_iter().flatten();
    for (bandwidth, dashes) in ends.zip(["", " stroke-dasharray=\"6 4\""]) {
        let rate = (bandwidth.rate * 1e-9).max(1e-9);
        // the line for a bandwidth begins at the left or lower edge of the picture and ends where it reaches the peak
        // speed
        let start = 10f64.powf(INTENSITY[0]).max(10f64.powf(axes.speed[0]) / rate);
        let corner = peak / rate;
        let points = [(start, start * rate), (corner, peak), (10f64.powf(INTENSITY[1]), peak)];
        let path: Vec<String> = points.iter().map(|&(x, y)| format!("{:.1} {:.1}", axes.x(x), axes.y(y))).collect();
        let _ = writeln!(svg, "<path d=\"M{}\" fill=\"none\" stroke=\"#333\"{dashes}/>", path.join("L"));
        let label = format!("{rate:.0} GB/s at {:.0} MiB", bandwidth.bytes / f64::from(1 << 20));
        let (x, y) = (axes.x(start * 1.3), axes.y(start * 1.3 * rate) - 6.0);
        let slope = (axes.y(10.0) - axes.y(1.0)).atan2(axes.x(10.0) - axes.x(1.0)).to_degrees();
        let _ = writeln!(svg, "<text transform=\"translate({x:.1} {y:.1}) rotate({slope:.1})\">{label}</text>");
    }
    let (x, y) = (SIZE[0] - MARGINS[2], axes.y(peak) - 6.0);
    let label = format!("{peak:.0} GFLOP/s, {} threads, {}", roofline.threads, roofline.simd);
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>");
}

/// Draws a circle for each phase of a row. The area of a circle grows with the fraction of a step that the phase takes.
/// Large circles are labelled with the name of the phase.
fn phases(svg: &mut String, axes: &Axes, index: usize, row: &Row) {
    const WORTH_A_NAME: f64 = 0.03;
    let colour = COLOURS[index % COLOURS.len()];
    let (x, y) = (SIZE[0] - MARGINS[2] + 16.0, MARGINS[1] + 20.0 * (index as f64 + 1.0));
    let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{}\" r=\"5\" fill=\"{colour}\"/>", y - 4.0);
    let name = escaped(&format!("{}, {} × {}", row.name, row.threads, row.simd));
    let _ = writeln!(svg, "<text x=\"{}\" y=\"{y}\">{name}</text>", x + 10.0);
    for phase in row.step.phases.iter().filter(|phase| phase.gflops > 0.0) {
        let (x, y, radius) = (axes.x(phase.intensity), axes.y(phase.gflops), 2.0 + 16.0 * phase.share.sqrt());
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\" fill-opacity=\"0.55\"><title>{}: {:.1} \
             % of a step, {:.1} % of its roofline speed</title></circle>",
            phase.name,
            100.0 * phase.share,
            100.0 * phase.roof_share
        );
        if index == 0 && phase.share > WORTH_A_NAME {
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + radius + 3.0, y + 4.0, phase.name);
        }
    }
}

/// Escapes a text so that it can stand between XML tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_equally_far_apart_and_the_edges_hold() {
        let axes = Axes { speed: [-2.0, 2.0] };
        let width = SIZE[0] - MARGINS[0] - MARGINS[2];
        assert!((axes.x(1.0) - (MARGINS[0] + 0.4 * width)).abs() < 1e-9);
        assert!((axes.y(1.0) - 0.5 * (axes.y(0.01) + axes.y(100.0))).abs() < 1e-9);
        assert_eq!((axes.x(0.0), axes.x(1e9)), (MARGINS[0], SIZE[0] - MARGINS[2]));
        assert_eq!(escaped("a<b & c>"), "a&lt;b &amp; c&gt;");
    }
}
