//! The columns of events as text, and the forms of their time.

use clap::ValueEnum;

/// How events are shown as text.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Columns")]
pub struct TextOptions {
    /// The form of times
    #[arg(long, value_name = "FORM", conflicts_with = "json")]
    pub time: Option<TimeStyle>,

    /// The columns, in this order, with commas between
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "json"
    )]
    pub columns: Vec<Column>,
}

/// The form of a time.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimeStyle {
    /// The time of day, or date and time with --long
    Absolute,
    /// Seconds since the first event that is printed
    Relative,
    /// Seconds since the next older event that is printed
    Delta,
    /// Cycles of the clock since the next older event that is printed
    Cycles,
}

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Column {
    /// The time, in the form of --time
    Time,
    /// The NUMA node of the core
    Node,
    /// The core that the event was logged on
    Core,
    /// Process, thread and the kernel's number of the thread
    Thread,
    /// The kernel's number of the thread
    Tid,
    /// The number of the process
    Pid,
    /// The priority
    Priority,
    /// The category
    Category,
    /// The name of the event
    Event,
    /// The message
    Message,
    /// The timeline or archive
    Path,
    /// Of several hosts: by how much the time may be wrong, after ~ if the order is not known
    Error,
}

impl Column {
    /// Those of a tail.
    pub const SHORT: [Column; 3] = [Column::Time, Column::Category, Column::Message];
    /// Those of a tail with --long.
    pub const LONG: [Column; 6] = [
        Column::Time,
        Column::Thread,
        Column::Priority,
        Column::Core,
        Column::Category,
        Column::Message,
    ];
    /// Those of a dump.
    pub const DUMP: [Column; 5] = [
        Column::Node,
        Column::Core,
        Column::Time,
        Column::Category,
        Column::Message,
    ];

    /// Its name, and how many characters wide it is at least.
    pub fn heading(self) -> (&'static str, usize) {
        match self {
            Column::Time => ("time", 15),
            Column::Node => ("numa", 4),
            Column::Core => ("core", 4),
            Column::Thread => ("thread", 26),
            Column::Tid => ("tid", 7),
            Column::Pid => ("pid", 7),
            Column::Priority => ("priority", 8),
            Column::Category => ("category", 12),
            Column::Event => ("event", 24),
            Column::Message => ("message", 0),
            Column::Path => ("path", 12),
            Column::Error => ("error", 9),
        }
    }

    /// Whether its values stand at the right.
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Column::Node | Column::Core | Column::Tid | Column::Pid
        )
    }
}
