//! Colours that readers with any kind of colour vision can tell apart.

use super::scene::Colour;

/// Theme of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    /// dark text on white
    Light,
    /// light text on black
    Dark,
}

/// Number of colours of lines and classes.
pub(super) const SERIES: usize = 8;

/// Colours of lines on white: Okabe and Ito, Color Universal Design (2008), with grey in place of yellow, which is too
/// pale on white.
const ON_WHITE: [[u8; 3]; SERIES] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xe6, 0x9f, 0x00],
    [0xcc, 0x79, 0xa7],
    [0x56, 0xb4, 0xe9],
    [0x7a, 0x7a, 0x7a],
    [0x33, 0x22, 0x88],
];

/// Colours of lines on black, in an order similar to [`ON_WHITE`], with yellow in place of dark blue.
const ON_BLACK: [[u8; 3]; SERIES] = [
    [0x56, 0xb4, 0xe9],
    [0xf0, 0x7a, 0x26],
    [0x1f, 0xbf, 0x90],
    [0xe6, 0x9f, 0x00],
    [0xdd, 0x93, 0xba],
    [0x2f, 0x86, 0xc4],
    [0xa8, 0xa8, 0xa8],
    [0xf0, 0xe4, 0x42],
];

impl Colour {
    /// Returns the red, green and blue of a colour in a theme.
    pub(super) fn rgb(self, theme: Theme) -> [u8; 3] {
        let dark = theme == Theme::Dark;
        match self {
            Colour::Ink => [if dark { 0xe8 } else { 0x1c }; 3],
            Colour::Grid => [if dark { 0x36 } else { 0xe4 }; 3],
            Colour::Paper => [if dark { 0x16 } else { 0xff }; 3],
            Colour::Series(index) => (if dark { ON_BLACK } else { ON_WHITE })[index % SERIES],
        }
    }
}

/// Further colours of classes: yellow of Okabe and Ito, brown, black, and pale red.
const FURTHER: [[u8; 3]; 4] = [[0xf0, 0xe4, 0x42], [0x8c, 0x4a, 0x2f], [0x1c, 0x1c, 0x1c], [0xf4, 0xc3, 0xb0]];

/// Returns the colours of `count` classes, which are the same in both themes. The colours repeat after twelve.
pub(super) fn classes(count: usize) -> Vec<[u8; 3]> {
    ON_WHITE.iter().chain(&FURTHER).copied().cycle().take(count).collect()
}

/// Colour map viridis of Matplotlib, sampled at equal distances.
const VIRIDIS: [[u8; 3]; 11] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x24, 0x75],
    [0x41, 0x44, 0x87],
    [0x35, 0x5f, 0x8d],
    [0x2a, 0x78, 0x8e],
    [0x21, 0x91, 0x8c],
    [0x22, 0xa8, 0x84],
    [0x44, 0xbf, 0x70],
    [0x7a, 0xd1, 0x51],
    [0xbd, 0xdf, 0x26],
    [0xfd, 0xe7, 0x25],
];

/// Colour map RdBu of ColorBrewer, from blue to red, for values on both sides of zero.
const DIVERGING: [[u8; 3]; 9] = [
    [0x21, 0x66, 0xac],
    [0x43, 0x93, 0xc3],
    [0x92, 0xc5, 0xde],
    [0xd1, 0xe5, 0xf0],
    [0xf7, 0xf7, 0xf7],
    [0xfd, 0xdb, 0xc7],
    [0xf4, 0xa5, 0x82],
    [0xd6, 0x60, 0x4d],
    [0xb2, 0x18, 0x2b],
];

/// Number of colours of a map.
pub(super) const STEPS: usize = 255;

/// Returns the colours of a map, from the lowest value to the highest. If `diverging`, the colours suit values on both
/// sides of zero.
pub(super) fn map(diverging: bool) -> Vec<[u8; 3]> {
    let anchors: &[[u8; 3]] = if diverging { &DIVERGING } else { &VIRIDIS };
    let colour = |step: usize| {
        let place = step as f64 / (STEPS - 1) as f64 * (anchors.len() - 1) as f64;
        let lower = (place as usize).min(anchors.len() - 2);
        let mixed = |k: usize| {
            let [from, to] = [anchors[lower][k], anchors[lower + 1][k]].map(f64::from);
            (from + (to - from) * (place - lower as f64)).round() as u8
        };
        [mixed(0), mixed(1), mixed(2)]
    };
    (0..STEPS).map(colour).collect()
}
