//! Tests of pictures: each kind of layer, and data that are hard to draw.

use std::path::Path;

use super::*;
use crate::analysis::findings::{Axis, Layer};

/// Largest size of an SVG file in bytes.
const LARGEST: usize = 500_000;

fn plot(suffix: &'static str, title: &str, [x, y]: [Axis; 2], layers: Vec<Layer>) -> Plot {
    Plot { suffix, title: title.into(), x, y, layers }
}

/// Returns `count` pseudo-random numbers between 0 and 1 of a linear congruential generator.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn walk(count: usize, seed: u64) -> Vec<f64> {
    noise(count, seed)
        .iter()
        .scan(0.0, |sum, x| {
            *sum = 0.98 * *sum + (x - 0.5);
            Some(*sum)
        })
        .collect()
}

/// Returns pictures with each kind of layer. Long because it is a list of pictures.
fn examples() -> Vec<Plot> {
    let times: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1).collect();
    let many: Vec<f64> = (0..50_000).map(|i| f64::from(i) * 0.1).collect();
    let radii: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.006).collect();
    let rdf: Vec<f64> =
        radii.iter().map(|r| if *r < 0.25 { 0.0 } else { 1.0 + 1.8 * (-4.0 * r).exp() * (30.0 * r).sin() }).collect();
    let shifted: Vec<f64> = rdf.iter().map(|g| g * 0.8 + 0.1).collect();
    let error = radii.iter().map(|r| 0.12 * (1.3 - r)).collect();
    let angles = |seed| {
        noise(20_000, seed)
            .iter()
            .zip(noise(20_000, seed + 7))
            .map(|(a, b)| -70.0 + 200.0 * (a + b - 1.0) * (a - 0.3))
            .collect::<Vec<f64>>()
    };
    let long = "A title that is so long that it does not fit: protein and not (name H* or resname WAT HOH) within 5 Å";
    let map = |shift: f64| {
        (0..600 * 600)
            .map(|i| ((i / 600) as f64 - (i % 600) as f64).abs().sqrt() * 0.02 + shift + 0.01 * (i % 7) as f64)
            .collect::<Vec<f64>>()
    };
    let label = |text: &str| Axis::new(text);
    let axes = |x: &str, y: &str| [label(x), label(y)];
    let names = vec!["coil", "bend", "turn", "α-helix", "3₁₀-helix", "π-helix", "β-strand", "β-bridge", "break"];
    vec![
        plot(
            "line",
            "Radial distribution: O to O",
            axes("r / nm", "g(r)"),
            vec![Layer::Line { label: String::new(), x: radii.clone(), y: rdf.clone(), error }],
        ),
        plot(
            "lines",
            "Two lines",
            axes("r / nm", "g(r)"),
            vec![Layer::line("oxygen to oxygen", &radii, &rdf), Layer::line("oxygen to hydrogen", &radii, &shifted)],
        ),
        plot(
            "long",
            long,
            axes("time / ps", "radius of gyration / nm"),
            vec![Layer::line("", &many, &walk(50_000, 3))],
        ),
        plot(
            "mean",
            "Surface tension",
            axes("time / ps", "γ / mN m⁻¹"),
            vec![
                Layer::line("each row", &many, &noise(50_000, 9)),
                Layer::Mean { x: [0.0, 5000.0], value: 0.5, error: 0.03 },
            ],
        ),
        plot(
            "points",
            "Projections on two components: backbone",
            axes("component 1 / nm", "component 2 / nm"),
            vec![Layer::Points { label: String::new(), x: walk(1000, 1), y: walk(1000, 2) }],
        ),
        plot(
            "cloud",
            "Ramachandran plot: protein",
            [Axis::between("φ / degree", [-180.0, 180.0]), Axis::between("ψ / degree", [-180.0, 180.0])],
            vec![Layer::Points { label: String::new(), x: angles(1), y: angles(5) }],
        ),
        plot(
            "bars",
            "Distribution of lengths",
            axes("length / nm", "density / nm⁻¹"),
            vec![Layer::Bars {
                label: String::new(),
                x: radii[..40].to_vec(),
                y: radii[..40].iter().map(|x| 4e6 * (-((x - 0.1) / 0.05).powi(2)).exp()).collect(),
            }],
        ),
        plot(
            "map",
            "RMSD between frames: protein and not name H*",
            [Axis::between("time / ps", [0.0, 600.0]), Axis::between("time / ps", [0.0, 600.0])],
            vec![Layer::Map {
                label: "RMSD / nm".into(),
                x: [0.0, 600.0],
                y: [0.0, 600.0],
                columns: 600,
                values: map(0.0),
            }],
        ),
        plot(
            "signed",
            "Correlation",
            axes("residue", "residue"),
            vec![Layer::Map {
                label: "correlation".into(),
                x: [0.5, 30.5],
                y: [0.5, 30.5],
                columns: 30,
                values: (0..900).map(|i| ((i / 30) as f64 - (i % 30) as f64).cos()).collect(),
            }],
        ),
        plot(
            "classes",
            "Secondary structure",
            axes("time / ps", "residue"),
            vec![Layer::Classes {
                names,
                x: [0.0, 100.0],
                y: [0.5, 20.5],
                columns: 200,
                values: (0..4000).map(|i| ((i / 400 + i % 200 / 23) % 9) as u8).collect(),
            }],
        ),
        plot(
            "legend",
            "Nine lines",
            axes("time / ps", "a label of the vertical axis that is longer than the axis itself / kJ mol⁻¹ nm⁻²"),
            (0..10)
                .map(|k| {
                    Layer::line(
                        format!("chain {k} of the complex"),
                        &times,
                        &walk(1000, k).iter().map(|y| y + k as f64 * 2.0).collect::<Vec<_>>(),
                    )
                })
                .collect(),
        ),
    ]
}

/// Returns the texts of a picture.
fn texts(plot: &Plot) -> Vec<String> {
    let scene = draw::scene(plot, draw::Size::Slide, &font::Font::new());
    let of = |mark: scene::Mark| if let scene::Mark::Text { text, .. } = mark { Some(text) } else { None };
    scene.above.into_iter().filter_map(of).collect()
}

/// Returns pictures of data that are hard to draw: without numbers, with a single number, or with extreme numbers.
fn hard() -> Vec<Plot> {
    let axes = || [Axis::new("x < \"y\" & z"), Axis::new("")];
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0, 1e-310, 1.0];
    let (x, y) = (bad.to_vec(), bad.iter().rev().copied().collect::<Vec<_>>());
    let all = |x: &[f64], y: &[f64], columns| {
        let (x, y, label) = (x.to_vec(), y.to_vec(), String::new);
        vec![
            Layer::Line { label: label(), x: x.clone(), y: y.clone(), error: y.clone() },
            Layer::Points { label: label(), x: x.clone(), y: y.clone() },
            Layer::Bars { label: label(), x: x.clone(), y: y.clone() },
            Layer::Mean { x: [0.0, 1.0], value: f64::NAN, error: f64::MAX },
            Layer::Map { label: label(), x: [0.0, 1.0], y: [0.0, 1.0], columns, values: y.clone() },
            Layer::Classes { names: vec!["a"], x: [0.0, 1.0], y: [f64::NAN, 1.0], columns, values: vec![0, 255] },
        ]
    };
    let single = |layer: Layer| plot("", "\u{1}<single>", axes(), vec![layer]);
    let mut plots: Vec<Plot> = [(&x[..], &y[..], 4), (&[], &[], 0), (&[1.0], &[2.0], 1), (&[f64::NAN], &[f64::NAN], 3)]
        .into_iter()
        .flat_map(|(x, y, columns)| all(x, y, columns))
        .map(single)
        .collect();
    plots.push(plot("", "", axes(), all(&x, &y, 2)));
    plots.push(plot("", "", axes(), vec![]));
    plots
}

/// Checks that the elements of an XML text are nested and that the text has only characters that XML allows. The parser
/// handles elements, attributes in double quotes, and entities; the SVG files have nothing else.
fn check_xml(text: &str) {
    let mut open: Vec<&str> = vec![];
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>') && !rest[..start].contains("& "), "{}", &rest[..start]);
        let end = start + rest[start..].find('>').expect("an end");
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match (tag.strip_prefix('/'), tag.ends_with('/')) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name)),
            (None, true) => {}
            (None, false) => open.push(tag.split(' ').next().expect("a name")),
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(text.chars().all(|letter| !letter.is_control() || letter == '\n'));
    assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
}

#[test]
fn pictures_are_small_and_valid() {
    let font = font::Font::new();
    let themes = [colour::Theme::Light, colour::Theme::Dark];
    let (examples, hard) = (examples(), hard());
    let all = examples.iter().map(|plot| (plot, &themes[..])).chain(hard.iter().map(|plot| (plot, &themes[..1])));
    for (plot, themes) in all {
        let scene = draw::scene(plot, draw::Size::Slide, &font);
        let text = svg::text(&scene).expect("drawn");
        check_xml(&text);
        assert!(text.len() < LARGEST, "{}: {} bytes", plot.suffix, text.len());
        for &theme in themes {
            let bytes = png::bytes(&scene, theme, &font).expect("drawn");
            let pixels = tiny_skia::Pixmap::decode_png(&bytes).expect("a PNG file");
            let data = pixels.pixels();
            assert!(data.iter().any(|pixel| *pixel != data[0]), "{} is empty", plot.suffix);
        }
    }
}

/// All texts of the examples lie within the picture.
#[test]
fn texts_are_inside() {
    let font = font::Font::new();
    for plot in examples() {
        let scene = draw::scene(&plot, draw::Size::Slide, &font);
        for mark in scene.below.iter().chain(&scene.above) {
            let scene::Mark::Text { at: [x, y], text, size, anchor, turned, .. } = mark else { continue };
            let width = font.width(text) * size;
            let before = match anchor {
                scene::Anchor::Start => 0.0,
                scene::Anchor::Middle => 0.5 * width,
                scene::Anchor::End => width,
            };
            let [from, to, room] = if *turned {
                [y - width + before, y + before, scene.height]
            } else {
                [x - before, x - before + width, scene.width]
            };
            assert!(from >= 0.0 && to <= room, "{}: {text:?} from {from} to {to} of {room}", plot.suffix);
        }
    }
}

/// The ticks of times above 10 ns are in nanoseconds: a line from 0 to 100 000 ps has ticks from 0 to 100.
#[test]
fn long_times_are_in_nanoseconds() {
    let picture = |end: f64| {
        plot("", "", [Axis::new("time / ps"), Axis::new("RMSD / nm")], vec![Layer::line("", &[0.0, end], &[1.0, 2.0])])
    };
    let (long, short) = (texts(&picture(1e5)), texts(&picture(9e3)));
    assert!(long.contains(&"time / ns".into()) && long.contains(&"100".into()), "{long:?}");
    assert!(short.contains(&"time / ps".into()) && short.contains(&"8000".into()), "{short:?}");
}

/// The axis of values that are not negative begins at zero, even if the error band reaches below zero.
#[test]
fn error_bands_do_not_extend_axes_below_zero() {
    let (x, y, error) = (vec![0.0, 1.0], vec![0.1, 3.0], vec![0.5, 0.5]);
    let layers = vec![Layer::Line { label: String::new(), x, y, error }];
    let picture = plot("", "", [Axis::new("r / nm"), Axis::new("g(r)")], layers);
    let scene = draw::scene(&picture, draw::Size::Slide, &font::Font::new());
    let zero = scene.above.iter().filter_map(|mark| match mark {
        scene::Mark::Text { at, text, anchor: scene::Anchor::End, .. } if text == "0" => Some(at[1]),
        _ => None,
    });
    let [_, top, _, height] = scene.area;
    // the baseline of a label is 6.2 pixels below its tick
    assert!(zero.into_iter().all(|y| (y - top - height - 6.2).abs() < 0.1));
}

/// The legend of a picture with a mean names the mean, and long names of lines are wrapped, not cut.
#[test]
fn legends_are_complete() {
    let name = "resname ALA and name N – resname ALA and name CA – resname ALA and name C – resname NME and name N";
    let lines = ["a", name].map(|name| Layer::line(name, &[0.0, 1.0], &[1.0, 2.0]));
    let layers = lines.into_iter().chain([Layer::Mean { x: [0.0, 1.0], value: 1.5, error: 0.1 }]).collect();
    let texts = texts(&plot("", "", [Axis::new("time / ps"), Axis::new("angle / degree")], layers));
    assert!(texts.contains(&"mean ± standard error".into()), "{texts:?}");
    assert!(texts.join(" ").contains(name), "{texts:?}");
}

/// Writes the examples to the folder in the environment variable `MD_PICTURES`, for inspection by eye.
#[test]
fn examples_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let chosen = std::env::var("MD_PICTURES");
    let stem = chosen.as_ref().map_or(folder.path(), Path::new).join("example");
    let mut written = vec![];
    write(&stem, &examples(), &mut written).expect("written");
    assert_eq!(written.len(), 3 * examples().len());
    assert!(written.iter().all(|path| path.exists()) && written[0].ends_with("example-line.svg"));
}
