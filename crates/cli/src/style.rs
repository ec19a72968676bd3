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

    /// The style of an event: errors and warnings stand out, details are dim. An imported line may
    /// have no priority.
    pub fn priority(&self, priority: Option<Priority>) -> Style {
        match priority {
            Some(Priority::Error) => self.bad,
            Some(Priority::Warning) => self.doubtful,
            Some(Priority::Info | Priority::Trace | Priority::App) | None => Style::new(),
            Some(Priority::Packet | Priority::Library) => self.dim,
        }
    }

    /// The style of what was found in a text of this style.
    pub fn found(&self, style: Style) -> Style {
        if style == self.bad && self.is_on() {
            self.bad.invert()
        } else {
            self.bad
        }
    }

    /// The styles of a dump.
    pub fn dump(&self) -> Styles {
        let around = |style: Style| (style.to_string(), format!("{style:#}"));
        let mut styles = Styles {
            heading: around(self.bold),
            priorities: std::array::from_fn(|_| around(self.priority(None))),
            gap: around(self.dim),
        };
        for priority in Priority::ALL {
            styles.priorities[priority as usize] = around(self.priority(Some(priority)));
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
