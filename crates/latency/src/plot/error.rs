//! Defines the errors of plots.

use thiserror::Error as ThisError;

/// The result of making a plot.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of making a plot.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A frame that is too small or too large.
    #[error(
        "expected a plot of {least} to {most} pixels each way, got {width} x {height}; choose \
         another size"
    )]
    Size {
        /// The width that was asked for.
        width: u32,
        /// The height that was asked for.
        height: u32,
        /// The least number of pixels.
        least: u32,
        /// The greatest number of pixels.
        most: u32,
    },

    /// A percentile that there is none of.
    #[error("expected percentiles from 0 to 100, got {percentile}")]
    Percentile {
        /// What was asked for.
        percentile: f64,
    },

    /// Nothing to be drawn.
    #[error("there is no duration to plot; choose other intervals or tags")]
    Empty,

    /// More labels than a plot can show.
    #[error("there are more than {most} labels; plot some of the files or tags")]
    TooManyLabels {
        /// The limit.
        most: usize,
    },

    /// A plot that could not be drawn.
    #[error("the plot cannot be drawn: {reason}")]
    Drawing {
        /// The reason.
        reason: String,
    },
}
