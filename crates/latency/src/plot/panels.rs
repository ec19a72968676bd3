//! Divides a plot into panels: one for each label, with its name, and axes that all of them share.

use super::PlotFrame;
use super::axis::Axis;
use super::chart::{Chart, LABEL, MARGIN, PlotArea, Side};
use super::colors::INK;
use super::picture::TextAnchor;

/// What a panel takes, in pixels, if the frame is as large as the panels need.
const HEIGHT: u32 = 118;
/// Between two panels: room for the name of the lower one.
const GAP: f64 = 30.0;
const GUTTER: f64 = 22.0;

/// A frame with room for so many panels below and beside each other.
pub fn frame(title: &str, panels: usize) -> PlotFrame {
    let usual = PlotFrame {
        title: title.to_owned(),
        ..PlotFrame::default()
    };
    if panels <= 1 {
        return usual;
    }
    let columns = columns(panels);
    let rows = panels.div_ceil(columns) as u32;
    let height = MARGIN as u32 + rows * (HEIGHT + GAP as u32);
    PlotFrame {
        width: usual.width + 220 * (columns as u32 - 1),
        height: height.max(usual.height),
        ..usual
    }
}

/// How many panels stand beside each other.
fn columns(panels: usize) -> usize {
    match panels {
        0..=4 => 1,
        5..=16 => 2,
        _ => 3,
    }
}

/// How high each of so many panels is in a frame.
pub fn height(frame: &PlotFrame, panels: usize) -> usize {
    let rows = panels.max(1).div_ceil(columns(panels)) as u32;
    (frame.height.saturating_sub(MARGIN as u32) / rows).saturating_sub(GAP as u32) as usize
}

/// Draws axes and names of panels, and has `draw` fill each: the number of its label, and a chart
/// whose room is that of the panel.
pub fn draw<'a>(
    chart: &mut Chart,
    names: impl ExactSizeIterator<Item = &'a str>,
    (times, durations): (&Axis, &Side),
    mut draw: impl FnMut(usize, &mut Chart),
) {
    let (all, panels) = (chart.room, names.len().max(1));
    let columns = columns(panels);
    let rows = panels.div_ceil(columns);
    let gap = if panels == 1 { 0.0 } else { GAP };
    let height = ((all.bottom - all.top) / rows as f64 - gap).max(4.0);
    let width = (all.right - all.left - GUTTER * (columns - 1) as f64) / columns as f64;
    let width = width.max(10.0);
    for (number, name) in names.enumerate() {
        let (row, column) = (number / columns, number % columns);
        let top = all.top + row as f64 * (height + gap) + gap;
        let left = all.left + column as f64 * (width + GUTTER);
        chart.room = PlotArea {
            left,
            top,
            right: left + width,
            bottom: top + height,
        };
        // The last one of each column has the times, the first of each row the durations.
        let (ticks, unit) = times.time_ticks(width as usize / 80);
        let is_last = number + columns >= panels;
        let across = Side {
            axis: *times,
            ticks,
            title: if is_last {
                format!("{unit} since StartTime")
            } else {
                String::new()
            },
        };
        chart.left_side(if column == 0 {
            durations.clone()
        } else {
            durations.bare()
        });
        chart.bottom_side(if is_last { across } else { across.bare() });
        draw(number, chart);
        if panels > 1 {
            let at = (left, top - gap / 2.0 + 2.0);
            chart.text_within(at, width, name, LABEL, (TextAnchor::Start, INK));
        }
    }
    chart.room = all;
}
