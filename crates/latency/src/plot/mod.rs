//! Plots of interval logs, as SVG and PNG.
//!
//! [`OverTime`] draws percentiles against time, [`Spectrum`] all percentiles of histograms, and
//! [`HeatMap`] how many durations there are of each length at each time. Each takes intervals or
//! histograms under labels, which are the files or tags to be compared, keeps only what it draws
//! (bounded_items.rs bounds that), and draws a [`PlotFrame`]. axis.rs scales and labels, chart.rs
//! lays a plot out around its axes in colors.rs, panels.rs divides it, and picture.rs draws lines,
//! areas and texts with `plotters`; png.rs encodes.
//!
//! over_time.rs, spectrum.rs and heat_map.rs are the three plots, and error.rs has the errors.

mod axis;
mod bounded_items;
mod chart;
mod colors;
mod error;
mod heat_map;
mod over_time;
mod panels;
mod picture;
mod png;
mod spectrum;
#[cfg(test)]
mod tests;

pub use error::{Error, Result};
pub use heat_map::HeatMap;
pub use over_time::OverTime;
pub use spectrum::Spectrum;

/// Most labels of a plot.
pub const MOST_LABELS: usize = 64;

/// What a plot is drawn as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFormat {
    /// Texts in the sans-serif font of whoever shows it.
    Svg,
    /// Texts in DejaVu Sans, and two pixels for each pixel of the frame, for fine screens.
    Png,
}

/// How durations are scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scale {
    /// Logarithmic if the longest is more than 50 times the shortest.
    #[default]
    Auto,
    /// From zero.
    Linear,
    /// Each power of ten as high as the others.
    Logarithmic,
}

/// What is around a plot.
#[derive(Debug, Clone)]
pub struct PlotFrame {
    /// The title, in one line.
    pub title: String,
    /// Width in pixels, from 200 to 8192.
    pub width: u32,
    /// Height in pixels, from 200 to 8192.
    pub height: u32,
    /// The scale of durations. Heat maps are logarithmic.
    pub scale: Scale,
}

impl Default for PlotFrame {
    /// 1000 × 560, without a title.
    fn default() -> Self {
        PlotFrame {
            title: String::new(),
            width: 1000,
            height: 560,
            scale: Scale::Auto,
        }
    }
}
