//! Draws lines, areas and texts, as SVG and PNG.
//!
//! What is drawn is collected first, so that a plot is laid out once for both. The coordinates of
//! `plotters` are whole numbers, so both are drawn larger: an SVG says that it is smaller, and the
//! pixels of a PNG are means, which makes its lines smooth.

use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, Color as _, DrawingArea, DrawingBackend, FontTransform, IntoDrawingArea,
    IntoFont, PathElement, RGBColor, Rectangle, SVGBackend, ShapeStyle, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};

use timeline::dump::printable;

use super::colors::{Color, PAPER, Stroke};
use super::error::{Error, Result};
use super::{ImageFormat, png};

/// The generic family in an SVG; in a PNG the font that is registered under its name.
const FONT: &str = "sans-serif";

/// How much larger an SVG is drawn.
const SVG_SCALE: u32 = 4;

/// How many pixels of a PNG a pixel of the frame has, each way; and how many are drawn for each.
const PNG_SCALE: u32 = 2;
const SAMPLES: u32 = 2;

/// How far below its place `plotters` must be told to draw a text in a PNG, as a share of its size:
/// it takes the height of a line for that of small letters.
const DROP: f64 = 0.13;

const LEAST: u32 = 200;
const MOST: u32 = 8192;

/// Which part of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextAnchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
    /// Its middle, turned to the left by a quarter.
    Turned,
}

#[derive(Debug)]
enum Mark {
    Line(Vec<(f64, f64)>, f64, Color),
    Area([f64; 4], Color),
    Text((f64, f64), String, f64, TextAnchor, Color),
}

/// What is drawn, in pixels from the upper left corner.
#[derive(Debug)]
pub struct Picture {
    pub width: f64,
    pub height: f64,
    marks: Vec<Mark>,
}

impl Picture {
    pub fn new(width: u32, height: u32) -> Result<Picture> {
        let fits = |pixels| (LEAST..=MOST).contains(&pixels);
        if !fits(width) || !fits(height) {
            return Err(Error::Size {
                width,
                height,
                least: LEAST,
                most: MOST,
            });
        }
        Ok(Picture {
            width: width.into(),
            height: height.into(),
            marks: Vec::new(),
        })
    }

    /// A line through these points. A single point becomes a dot.
    pub fn line(&mut self, points: Vec<(f64, f64)>, width: f64, color: Color) {
        if let [(x, y)] = points[..] {
            return self.area([x - width, y - width, x + width, y + width], color);
        }
        self.marks.push(Mark::Line(points, width, color));
    }

    /// A line that is drawn so.
    pub fn stroke(&mut self, points: Vec<(f64, f64)>, stroke: Stroke, width: f64, color: Color) {
        match stroke {
            Stroke::Solid => self.line(points, width, color),
            Stroke::Dashed => self.dashes(&points, (6.0, 4.0), (width, color)),
            Stroke::Dotted => self.dashes(&points, (2.0, 3.0), (width, color)),
        }
    }

    /// A line of dashes: so long, and so far apart.
    fn dashes(
        &mut self,
        points: &[(f64, f64)],
        (dash, gap): (f64, f64),
        (width, color): (f64, Color),
    ) {
        let Some(first) = points.first() else { return };
        let (mut from, mut piece) = (*first, vec![*first]);
        // Whether it is in a dash, and for how long.
        let (mut is_dash, mut rest) = (true, dash);
        for &to in &points[1..] {
            loop {
                let (x, y) = (to.0 - from.0, to.1 - from.1);
                let length = x.hypot(y);
                if length <= rest {
                    rest -= length;
                    break;
                }
                let share = rest / length;
                from = (from.0 + x * share, from.1 + y * share);
                piece.push(from);
                if is_dash {
                    self.line(std::mem::take(&mut piece), width, color);
                }
                piece = vec![from];
                is_dash = !is_dash;
                rest = if is_dash { dash } else { gap };
            }
            from = to;
            piece.push(from);
        }
        if is_dash {
            self.line(piece, width, color);
        }
    }

    /// A filled rectangle: left, top, right, bottom.
    pub fn area(&mut self, sides: [f64; 4], color: Color) {
        self.marks.push(Mark::Area(sides, color));
    }

    /// A text whose middle is at this height.
    pub fn text(
        &mut self,
        at: (f64, f64),
        text: &str,
        size: f64,
        anchor: TextAnchor,
        color: Color,
    ) {
        if text.is_empty() {
            return;
        }
        // Control characters have no place in an SVG.
        let text = Mark::Text(at, printable(text).into_owned(), size, anchor, color);
        self.marks.push(text);
    }

    pub fn draw(&self, image: ImageFormat) -> Result<Vec<u8>> {
        register();
        match image {
            ImageFormat::Svg => self.svg(),
            ImageFormat::Png => self.png(),
        }
    }

    fn svg(&self) -> Result<Vec<u8>> {
        let (width, height) = (self.width as u32, self.height as u32);
        let large = (width * SVG_SCALE, height * SVG_SCALE);
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, large).into_drawing_area();
            self.paint(&area, SVG_SCALE, 0.0)?;
        }
        let said = format!("width=\"{}\" height=\"{}\"", large.0, large.1);
        let meant = format!("width=\"{width}\" height=\"{height}\"");
        Ok(svg.replacen(&said, &meant, 1).into_bytes())
    }

    fn png(&self) -> Result<Vec<u8>> {
        let (width, height) = (
            self.width as u32 * PNG_SCALE,
            self.height as u32 * PNG_SCALE,
        );
        let large = (width * SAMPLES, height * SAMPLES);
        let mut pixels = vec![0; large.0 as usize * large.1 as usize * 3];
        {
            let area = BitMapBackend::with_buffer(&mut pixels, large).into_drawing_area();
            self.paint(&area, PNG_SCALE * SAMPLES, DROP)?;
        }
        let pixels = means(large.0 as usize, &pixels);
        png::encode(width, height, &pixels).map_err(drawing)
    }

    /// Draws all, so many times larger, and texts lower by a share of their size.
    fn paint<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: u32,
        drop: f64,
    ) -> Result<()> {
        area.fill(&rgb(PAPER)).map_err(drawing)?;
        let scale = f64::from(scale);
        let at = |(x, y): (f64, f64)| ((x * scale).round() as i32, (y * scale).round() as i32);
        for mark in &self.marks {
            match mark {
                Mark::Line(points, width, color) => {
                    let style = ShapeStyle {
                        color: rgb(*color).into(),
                        filled: false,
                        stroke_width: (width * scale).round().max(1.0) as u32,
                    };
                    let points: Vec<_> = points.iter().copied().map(at).collect();
                    area.draw(&PathElement::new(points, style))
                        .map_err(drawing)?;
                }
                Mark::Area([left, top, right, bottom], color) => {
                    let corners = [at((*left, *top)), at((*right, *bottom))];
                    let style = ShapeStyle::from(rgb(*color)).filled();
                    area.draw(&Rectangle::new(corners, style))
                        .map_err(drawing)?;
                }
                Mark::Text((x, y), text, size, anchor, color) => {
                    let place = match anchor {
                        TextAnchor::Turned => (x + drop * size, *y),
                        _ => (*x, y + drop * size),
                    };
                    let style = style(*size * scale, *anchor, *color);
                    area.draw_text(text, &style, at(place)).map_err(drawing)?;
                }
            }
        }
        area.present().map_err(drawing)
    }
}

/// The width of a text, in pixels.
pub fn text_width(text: &str, size: f64) -> f64 {
    register();
    // Whole pixels of a large font are fine enough.
    let font = (FONT, size * 16.0).into_font();
    font.box_size(text)
        .map_or(0.0, |(width, _)| f64::from(width) / 16.0)
}

fn style(size: f64, anchor: TextAnchor, color: Color) -> TextStyle<'static> {
    let font = (FONT, size).into_font();
    let (font, across) = match anchor {
        TextAnchor::Start => (font, HPos::Left),
        TextAnchor::Middle => (font, HPos::Center),
        TextAnchor::End => (font, HPos::Right),
        TextAnchor::Turned => (font.transform(FontTransform::Rotate270), HPos::Center),
    };
    let mut style = TextStyle::from(font).pos(Pos::new(across, VPos::Center));
    style.color = rgb(color).to_backend_color();
    style
}

fn rgb([red, green, blue]: Color) -> RGBColor {
    RGBColor(red, green, blue)
}

fn drawing(error: impl std::fmt::Display) -> Error {
    Error::Drawing {
        reason: error.to_string(),
    }
}

/// Tells `plotters` the font, once.
fn register() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // It only fails for a font that is none; without one, texts fail to be drawn.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
    });
}

/// A picture of half the size each way.
fn means(width: usize, pixels: &[u8]) -> Vec<u8> {
    let samples = SAMPLES as usize;
    let row = width * 3;
    let mut smaller = Vec::with_capacity(pixels.len() / (samples * samples));
    for rows in pixels.chunks_exact(row * samples) {
        for x in (0..width).step_by(samples) {
            for color in 0..3 {
                let mut sum = 0;
                for (line, across) in (0..samples * samples).map(|n| (n / samples, n % samples)) {
                    sum += u32::from(rows[line * row + (x + across) * 3 + color]);
                }
                smaller.push((sum / (SAMPLES * SAMPLES)) as u8);
            }
        }
    }
    smaller
}
