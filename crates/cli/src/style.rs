//! The colours of the command: one theme for all verbs, empty when colour is off.

use anstyle::{AnsiColor, Style};
use timeline::{Priority, dump::Styles};

/// Styles to be written around text as `{style}text{style:#}`.
#[derive(Clone, Copy)]
pub struct Theme {
    /// Column headings and the names of things.
    pub bold: Style,
    /// Details that few readers need.
    pub dim: Style,
    /// Names to copy into the next command.
    pub name: Style,
    /// A good state.
    pub good: Style,
    /// A bad state.
    pub bad: Style,
    /// A state that may be bad.
    pub doubtful: Style,
}

impl Theme {
    /// The theme, with colours or without.
    pub fn new(on: bool) -> Theme {
        let colour = |colour: AnsiColor| {
            if on {
                colour.on_default()
            } else {
                Style::new()
            }
        };
        let effect = |style: Style| if on { style } else { Style::new() };
        Theme {
            bold: effect(Style::new().bold()),
            dim: effect(Style::new().dimmed()),
            name: colour(AnsiColor::Cyan),
            good: colour(AnsiColor::Green),
            bad: effect(AnsiColor::Red.on_default().bold()),
            doubtful: colour(AnsiColor::Yellow),
        }
    }

    /// Whether there are colours.
    pub fn is_on(&self) -> bool {
        self.bold != Style::new()
    }

    /// The style of an event of this priority: errors and warnings stand out, details are dim.
    pub fn priority(&self, priority: Priority) -> Style {
        match priority {
            Priority::Error => self.bad,
            Priority::Warning => self.doubtful,
            Priority::Info | Priority::Trace | Priority::App => Style::new(),
            Priority::Packet | Priority::Library => self.dim,
        }
    }

    /// The styles of a dump.
    pub fn dump(&self) -> Styles {
        let around = |style: Style| (style.to_string(), format!("{style:#}"));
        let mut styles = Styles {
            heading: around(self.bold),
            priorities: std::array::from_fn(|_| around(self.bad)),
            gap: around(self.dim),
        };
        for priority in Priority::ALL {
            styles.priorities[priority as usize] = around(self.priority(priority));
        }
        styles
    }
}

/// The colours of `--help`.
pub const HELP: clap::builder::Styles = clap::builder::Styles::styled()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Green.on_default());
