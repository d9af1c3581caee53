//! Drawings as PNG.

use std::fmt::Display;

use png::{BitDepth, ColorType, Compression, Encoder};
use tiny_skia::{
    Color, FillRule, FilterQuality, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Rect, Stroke,
    StrokeDash, Transform,
};

use super::colour::Theme;
use super::font::Font;
use super::scene::{Anchor, Cells, Colour, EMPTY, Mark, Scene};
use crate::error::{Error, Result};

/// Number of pixels in a PNG file per pixel of the drawing, along each axis.
const SCALE: f32 = 2.0;

/// Returns the bytes of a PNG file in the colours of a theme.
pub(super) fn bytes(scene: &Scene, theme: Theme, font: &Font) -> Result<Vec<u8>> {
    let [width, height] = [scene.width, scene.height].map(|length| (length * SCALE).round() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| failed("the picture has a width or a height of zero"))?;
    pixels.fill(color(Colour::Paper.rgb(theme), 1.0));
    let mut mask = Mask::new(width, height).ok_or_else(|| failed("the picture has a width or a height of zero"))?;
    let [left, top, wide, high] = scene.clip();
    if let Some(area) = Rect::from_xywh(left, top, wide, high) {
        let scale = Transform::from_scale(SCALE, SCALE);
        mask.fill_path(&PathBuilder::from_rect(area), FillRule::Winding, true, scale);
    }
    for (marks, mask) in [(&scene.below, None), (&scene.data, Some(&mask)), (&scene.above, None)] {
        for mark in marks {
            Painter { pixels: &mut pixels, mask, theme, font }.draw(mark)?;
        }
    }
    // every pixel is opaque, because the background is opaque
    let opaque: Vec<u8> = pixels.data().chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
    let mut out = vec![];
    let mut encoder = Encoder::new(&mut out, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    // fast compression suffices for large areas of one colour; a better compression would take longer than drawing the
    // picture
    encoder.set_compression(Compression::Fast);
    write(encoder, &opaque)?;
    Ok(out)
}

/// Returns the bytes of a PNG file with one pixel for each cell, in the colours of a theme.
pub(super) fn cells(cells: &Cells, theme: Theme) -> Result<Vec<u8>> {
    let mut out = vec![];
    let mut encoder = Encoder::new(&mut out, cells.columns as u32, cells.rows as u32);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    // indices without a colour are transparent
    let palette: Vec<u8> = (0..=EMPTY).flat_map(|index| cells.palette.rgb(index, theme)).collect();
    encoder.set_palette(palette);
    encoder.set_trns((0..=EMPTY).map(|index| if index == EMPTY { 0 } else { 255 }).collect::<Vec<u8>>());
    write(encoder, &cells.indices)?;
    Ok(out)
}

fn write(encoder: Encoder<'_, &mut Vec<u8>>, data: &[u8]) -> Result<()> {
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(data).map_err(failed)?;
    writer.finish().map_err(failed)
}

fn failed(error: impl Display) -> Error {
    Error::Internal(format!("a picture cannot be drawn: {error}"))
}

fn color([red, green, blue]: [u8; 3], opacity: f32) -> Color {
    Color::from_rgba8(red, green, blue, (opacity * 255.0).round() as u8)
}

/// Pixel buffer of a picture, with the theme and the font in which marks are drawn.
struct Painter<'a> {
    pixels: &'a mut Pixmap,
    mask: Option<&'a Mask>,
    theme: Theme,
    font: &'a Font,
}

impl Painter<'_> {
    fn draw(&mut self, mark: &Mark) -> Result<()> {
        match mark {
            Mark::Line { points, colour, width, dashed } => {
                let dash = if *dashed { StrokeDash::new(vec![7.0, 4.0], 0.0) } else { None };
                let stroke = Stroke { width: *width, line_join: LineJoin::Round, dash, ..Stroke::default() };
                if let Some(path) = polygon(points, false) {
                    let scale = Transform::from_scale(SCALE, SCALE);
                    self.pixels.stroke_path(&path, &self.paint(*colour, 1.0), &stroke, scale, self.mask);
                }
            }
            Mark::Polygon { points, colour, opacity } => self.fill(polygon(points, true), *colour, *opacity),
            Mark::Rectangles { rectangles, colour, opacity } => {
                let mut path = PathBuilder::new();
                for &[left, top, width, height] in rectangles {
                    if let Some(rectangle) = Rect::from_xywh(left, top, width, height) {
                        path.push_rect(rectangle);
                    }
                }
                self.fill(path.finish(), *colour, *opacity);
            }
            Mark::Circles { centers, radius, colour, opacity } => {
                for &[x, y] in centers {
                    self.fill(PathBuilder::from_circle(x, y, *radius), *colour, *opacity);
                }
            }
            Mark::Cells { rectangle, cells } => self.cells(*rectangle, cells)?,
            Mark::Text { at, text, size, anchor, turned, colour } => {
                let width = self.font.width(text);
                let shift = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => -0.5 * width,
                    Anchor::End => -width,
                };
                let turn = if *turned { Transform::from_rotate(-90.0) } else { Transform::identity() };
                let place = Transform::from_translate(shift, 0.0)
                    .post_scale(*size, *size)
                    .post_concat(turn)
                    .post_translate(at[0], at[1]);
                let path = self.font.outline(text).and_then(|path| path.transform(place));
                self.fill(path, *colour, 1.0);
            }
        }
        Ok(())
    }

    fn paint(&self, colour: Colour, opacity: f32) -> Paint<'static> {
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        paint.set_color(color(colour.rgb(self.theme), opacity));
        paint
    }

    fn fill(&mut self, path: Option<Path>, colour: Colour, opacity: f32) {
        if let Some(path) = path {
            let scale = Transform::from_scale(SCALE, SCALE);
            self.pixels.fill_path(&path, &self.paint(colour, opacity), FillRule::Winding, scale, self.mask);
        }
    }

    fn cells(&mut self, [left, top, width, height]: [f32; 4], cells: &Cells) -> Result<()> {
        let [columns, rows] = [cells.columns as u32, cells.rows as u32];
        let mut image = Pixmap::new(columns, rows).ok_or_else(|| failed("a map has no cells"))?;
        for (pixel, &index) in image.pixels_mut().iter_mut().zip(&cells.indices) {
            if index != EMPTY {
                *pixel = color(cells.palette.rgb(index, self.theme), 1.0).premultiply().to_color_u8();
            }
        }
        let place = Transform::from_scale(width / columns as f32, height / rows as f32)
            .post_translate(left, top)
            .post_scale(SCALE, SCALE);
        let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
        self.pixels.draw_pixmap(0, 0, image.as_ref(), &paint, place, self.mask);
        Ok(())
    }
}

fn polygon(points: &[[f32; 2]], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, &[x, y]) in points.iter().enumerate() {
        if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}
