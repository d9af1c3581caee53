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

/// Number of colours of lines.
pub(super) const SERIES: usize = 9;
/// Number of colours of classes; the first [`SERIES`] of these colours are the colours of lines.
const CLASSES: usize = SERIES + 3;

/// Colours of classes on white, as `0xRRGGBB`. The first colours are those of Okabe and Ito, Color Universal Design
/// (2008), with grey instead of yellow, which is too pale for lines on white. Dark blue and brown follow, then yellow,
/// black and pale red.
const ON_WHITE: [u32; CLASSES] = [
    0x0072b2, 0xd55e00, 0x009e73, 0xe69f00, 0xcc79a7, 0x56b4e9, 0x7a7a7a, 0x332288, 0x8c4a2f, 0xf0e442, 0x1c1c1c,
    0xf4c3b0,
];

/// Colours of classes on black, in an order similar to [`ON_WHITE`]. Yellow and pale red replace dark blue and brown,
/// and the last three colours are brown, white and violet.
const ON_BLACK: [u32; CLASSES] = [
    0x56b4e9, 0xd55e00, 0x1fbf90, 0xe69f00, 0xdd93ba, 0x2f86c4, 0xa8a8a8, 0xf0e442, 0xf4c3b0, 0xa0593a, 0xe8e8e8,
    0x8a7be0,
];

/// Returns the red, green and blue of a colour `0xRRGGBB`.
fn channels(colour: u32) -> [u8; 3] {
    let [_, red, green, blue] = colour.to_be_bytes();
    [red, green, blue]
}

impl Colour {
    /// Returns the red, green and blue of a colour in a theme.
    pub(super) fn rgb(self, theme: Theme) -> [u8; 3] {
        let dark = theme == Theme::Dark;
        match self {
            Colour::Ink => [if dark { 0xe8 } else { 0x1c }; 3],
            Colour::Grid => [if dark { 0x36 } else { 0xe4 }; 3],
            Colour::Paper => [if dark { 0x16 } else { 0xff }; 3],
            Colour::Series(index) => channels(if dark { ON_BLACK } else { ON_WHITE }[index % SERIES]),
        }
    }
}

/// Colour map viridis of Matplotlib, sampled at equal distances.
const VIRIDIS: [u32; 11] =
    [0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725];

/// Colour map RdBu of ColorBrewer, from blue to red, for values on both sides of zero.
const DIVERGING: [u32; 9] = [0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b];

/// Number of colours of a map.
pub(super) const STEPS: usize = 255;

/// Colours of the cells of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    /// colours of values, from the lowest to the highest value; both themes have the same colours
    Sequential,
    /// colours of values on both sides of zero; both themes have the same colours
    Diverging,
    /// colours of classes; a class and a line with the same index have the same colour
    Classes,
}

impl Palette {
    /// Returns the red, green and blue of the colour with an index. If there are more classes than colours, the colours
    /// repeat.
    pub(super) fn rgb(self, index: u8, theme: Theme) -> [u8; 3] {
        let index = usize::from(index);
        match (self, theme) {
            (Palette::Sequential, _) => interpolated(&VIRIDIS, index),
            (Palette::Diverging, _) => interpolated(&DIVERGING, index),
            (Palette::Classes, Theme::Light) => channels(ON_WHITE[index % CLASSES]),
            (Palette::Classes, Theme::Dark) => channels(ON_BLACK[index % CLASSES]),
        }
    }
}

fn interpolated(anchors: &[u32], step: usize) -> [u8; 3] {
    let place = step.min(STEPS - 1) as f64 / (STEPS - 1) as f64 * (anchors.len() - 1) as f64;
    let lower = (place as usize).min(anchors.len() - 2);
    let mixed = |k: usize| {
        let [from, to] = [anchors[lower], anchors[lower + 1]].map(|anchor| f64::from(channels(anchor)[k]));
        (from + (to - from) * (place - lower as f64)).round() as u8
    };
    [mixed(0), mixed(1), mixed(2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_colours_of_lines() {
        for theme in [Theme::Light, Theme::Dark] {
            let all: Vec<[u8; 3]> = (0..CLASSES as u8).map(|index| Palette::Classes.rgb(index, theme)).collect();
            let lines: Vec<[u8; 3]> = (0..SERIES).map(|index| Colour::Series(index).rgb(theme)).collect();
            assert_eq!(all[..SERIES], lines);
            assert!((1..CLASSES).all(|index| !all[..index].contains(&all[index])), "{theme:?}: {all:x?}");
        }
    }
}
