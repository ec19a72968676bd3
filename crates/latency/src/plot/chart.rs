//! Lays a plot out: title, axes with their grid, legend, and the room for what is plotted.

use super::axis::{Axis, Tick};
use super::colors::{AXIS, Color, FAINT_INK, GRID, INK, Stroke};
use super::error::Result;
use super::picture::{Picture, TextAnchor, text_width};
use super::{ImageFormat, PlotFrame};

pub const TITLE: f64 = 21.0;
pub const LABEL: f64 = 15.0;

/// The longest text of a legend, in characters. Of longer ones the end is shown, which tells files
/// apart.
const LONGEST: usize = 28;

const SWATCH: f64 = 22.0;
const LINE_HEIGHT: f64 = 21.0;

/// A line, and what it stands for.
pub type Key = (Stroke, Color, String);

/// What stands above and below the room of a plot with a title.
pub const MARGIN: f64 = 110.0;

/// An axis with what is written at it.
#[derive(Clone)]
pub struct Side {
    pub axis: Axis,
    pub ticks: Vec<Tick>,
    pub title: String,
}

impl Side {
    /// The same, with nothing written at it.
    pub fn bare(&self) -> Side {
        let tick = |tick: &Tick| Tick {
            value: tick.value,
            label: String::new(),
        };
        Side {
            axis: self.axis,
            ticks: self.ticks.iter().map(tick).collect(),
            title: String::new(),
        }
    }
}

/// The room in which a plot is drawn.
#[derive(Debug, Clone, Copy)]
pub struct PlotArea {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// A plot that is being drawn.
pub struct Chart {
    pub picture: Picture,
    pub room: PlotArea,
}

impl Chart {
    /// Draws the title and the legend, and leaves room for axes of durations with these ticks.
    pub fn new(frame: &PlotFrame, durations: &[Tick], legend: &[Key]) -> Result<Chart> {
        let mut picture = Picture::new(frame.width, frame.height)?;
        let labels = durations.iter().map(|tick| text_width(&tick.label, LABEL));
        let left = 46.0 + labels.fold(20.0, f64::max);
        let keys = legend
            .iter()
            .map(|(.., text)| text_width(&cut(text), LABEL));
        let legend_width = match legend {
            [] => 0.0,
            _ => SWATCH + 24.0 + keys.fold(0.0, f64::max),
        };
        let room = PlotArea {
            left,
            top: if frame.title.is_empty() { 18.0 } else { 52.0 },
            right: (picture.width - 24.0 - legend_width).max(left + 40.0),
            bottom: picture.height - 58.0,
        };
        let middle = (room.left, 28.0);
        picture.text(middle, &frame.title, TITLE, TextAnchor::Start, INK);
        let mut chart = Chart { picture, room };
        chart.legend(legend);
        Ok(chart)
    }

    fn legend(&mut self, legend: &[Key]) {
        let left = self.room.right + 18.0;
        let fitting = ((self.room.bottom - self.room.top) / LINE_HEIGHT).max(2.0) as usize;
        let shown = match legend.len() > fitting {
            true => fitting - 1,
            false => legend.len(),
        };
        for (number, (stroke, color, text)) in legend.iter().take(shown).enumerate() {
            let y = self.room.top + LINE_HEIGHT * (number as f64 + 0.5);
            let swatch = vec![(left, y), (left + SWATCH - 6.0, y)];
            self.picture.stroke(swatch, *stroke, 3.0, *color);
            self.picture.text(
                (left + SWATCH, y),
                &cut(text),
                LABEL,
                TextAnchor::Start,
                INK,
            );
        }
        if shown < legend.len() {
            let y = self.room.top + LINE_HEIGHT * (shown as f64 + 0.5);
            let more = format!("… and {} more", legend.len() - shown);
            self.picture
                .text((left, y), &more, LABEL, TextAnchor::Start, FAINT_INK);
        }
    }

    /// Draws a text of which as much is shown as fits: its end, which tells names apart.
    pub fn text_within(
        &mut self,
        at: (f64, f64),
        width: f64,
        text: &str,
        size: f64,
        (anchor, color): (TextAnchor, Color),
    ) {
        let mut shown = text.to_owned();
        let mut kept = text.chars().count();
        while kept > 1 && text_width(&shown, size) > width {
            kept -= 1;
            shown = end_of(text, kept);
        }
        self.picture.text(at, &shown, size, anchor, color);
    }

    /// Draws an axis below the room, with its grid.
    pub fn bottom_side(&mut self, side: Side) {
        let room = self.room;
        let mut free = f64::NEG_INFINITY;
        for tick in &side.ticks {
            let x = self.x(&side.axis, tick.value);
            self.picture
                .line(vec![(x, room.top), (x, room.bottom)], 1.0, GRID);
            let half = text_width(&tick.label, LABEL) / 2.0;
            if x - half > free {
                let at = (x, room.bottom + 15.0);
                self.picture
                    .text(at, &tick.label, LABEL, TextAnchor::Middle, FAINT_INK);
                free = x + half + 6.0;
            }
        }
        let ends = vec![(room.left, room.bottom), (room.right, room.bottom)];
        self.picture.line(ends, 1.0, AXIS);
        let middle = ((room.left + room.right) / 2.0, room.bottom + 40.0);
        self.picture
            .text(middle, &side.title, LABEL, TextAnchor::Middle, INK);
    }

    /// Draws an axis at the left of the room, with its grid.
    pub fn left_side(&mut self, side: Side) {
        let room = self.room;
        for tick in &side.ticks {
            let y = self.y(&side.axis, tick.value);
            self.picture
                .line(vec![(room.left, y), (room.right, y)], 1.0, GRID);
            let at = (room.left - 8.0, y);
            self.picture
                .text(at, &tick.label, LABEL, TextAnchor::End, FAINT_INK);
        }
        let ends = vec![(room.left, room.top), (room.left, room.bottom)];
        self.picture.line(ends, 1.0, AXIS);
        let middle = (16.0, (room.top + room.bottom) / 2.0);
        self.picture
            .text(middle, &side.title, LABEL, TextAnchor::Turned, INK);
    }

    pub fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.room.left + axis.share(value) * (self.room.right - self.room.left)
    }

    pub fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.room.bottom - axis.share(value) * (self.room.bottom - self.room.top)
    }

    pub fn draw(&self, image: ImageFormat) -> Result<Vec<u8>> {
        self.picture.draw(image)
    }
}

/// The end of a text that is too long.
fn cut(text: &str) -> String {
    end_of(text, LONGEST)
}

/// So many of the last characters of a text, or all.
fn end_of(text: &str, most: usize) -> String {
    let length = text.chars().count();
    match length > most {
        true => "…"
            .chars()
            .chain(text.chars().skip(length - most + 1))
            .collect(),
        false => text.to_owned(),
    }
}

/// A frame in which a legend of so many keys has room.
pub fn frame(title: &str, keys: usize) -> PlotFrame {
    let usual = PlotFrame {
        title: title.to_owned(),
        ..PlotFrame::default()
    };
    let height = MARGIN + LINE_HEIGHT * keys as f64;
    PlotFrame {
        height: usual.height.max(height as u32),
        ..usual
    }
}
