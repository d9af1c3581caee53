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

/// Colours of lines on white: Okabe and Ito, Color Universal Design (2008), with grey in place of yellow, which is too
/// pale on white, and with dark blue and brown.
const ON_WHITE: [[u8; 3]; SERIES] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xe6, 0x9f, 0x00],
    [0xcc, 0x79, 0xa7],
    [0x56, 0xb4, 0xe9],
    [0x7a, 0x7a, 0x7a],
    [0x33, 0x22, 0x88],
    [0x8c, 0x4a, 0x2f],
];

/// Colours of lines on black, in an order similar to [`ON_WHITE`], with yellow and pale red in place of dark blue and
/// brown.
const ON_BLACK: [[u8; 3]; SERIES] = [
    [0x56, 0xb4, 0xe9],
    [0xd5, 0x5e, 0x00],
    [0x1f, 0xbf, 0x90],
    [0xe6, 0x9f, 0x00],
    [0xdd, 0x93, 0xba],
    [0x2f, 0x86, 0xc4],
    [0xa8, 0xa8, 0xa8],
    [0xf0, 0xe4, 0x42],
    [0xf4, 0xc3, 0xb0],
];

/// Number of colours of classes.
const CLASSES: usize = SERIES + 3;
/// Further colours of classes on white: yellow, black and pale red.
const FURTHER_ON_WHITE: [[u8; 3]; CLASSES - SERIES] = [[0xf0, 0xe4, 0x42], [0x1c, 0x1c, 0x1c], [0xf4, 0xc3, 0xb0]];
/// Further colours of classes on black: brown, white and violet.
const FURTHER_ON_BLACK: [[u8; 3]; CLASSES - SERIES] = [[0xa0, 0x59, 0x3a], [0xe8, 0xe8, 0xe8], [0x8a, 0x7b, 0xe0]];

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
    /// Returns the red, green and blue of the colour with an index. The colours of classes repeat.
    pub(super) fn rgb(self, index: u8, theme: Theme) -> [u8; 3] {
        let index = usize::from(index);
        match (self, theme) {
            (Palette::Sequential, _) => interpolated(&VIRIDIS, index),
            (Palette::Diverging, _) => interpolated(&DIVERGING, index),
            (Palette::Classes, Theme::Light) => class(&ON_WHITE, &FURTHER_ON_WHITE, index),
            (Palette::Classes, Theme::Dark) => class(&ON_BLACK, &FURTHER_ON_BLACK, index),
        }
    }
}

fn class(of_lines: &[[u8; 3]], further: &[[u8; 3]], index: usize) -> [u8; 3] {
    let index = index % CLASSES;
    of_lines.get(index).copied().unwrap_or_else(|| further[index - of_lines.len()])
}

fn interpolated(anchors: &[[u8; 3]], step: usize) -> [u8; 3] {
    let place = step.min(STEPS - 1) as f64 / (STEPS - 1) as f64 * (anchors.len() - 1) as f64;
    let lower = (place as usize).min(anchors.len() - 2);
    let mixed = |k: usize| {
        let [from, to] = [anchors[lower][k], anchors[lower + 1][k]].map(f64::from);
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
