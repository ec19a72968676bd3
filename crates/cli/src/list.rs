//! `timeline list`: the timelines in shared memory, with their writers and fill.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;
use timeline::dump::is_printable;
use timeline::{Info, ListedTimeline};
use timeline_reading::json::write_line;

use crate::args::Example;
use crate::failure::Result;
use crate::fetch;
use crate::format::{self, Align, Bytes, Cell, Count};
use crate::info;
use crate::output;
use crate::permission::{self, refused};
use crate::remote_list;
use crate::style::Theme;
use crate::time::{self, HumanDuration};
use crate::verb::Verb;

/// List the timelines in shared memory, with their writers, fill and level
///
/// The list includes timelines whose programs have ended. A timeline that cannot be read is listed
/// with the reason. A file that you may not read is listed with its owner and mode, if its size is
/// that of a timeline.
#[derive(clap::Args)]
pub struct Args {
    /// List the traces of a store (store://HOST), or the timelines of another machine, where an
    /// agent runs (store://HOST:1985)
    #[arg(value_name = "HOST", conflicts_with = "names")]
    store: Option<PathBuf>,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,

    /// Print only the names, each with a NUL behind it, for shells to complete. Names with
    /// characters that nobody sees are left out
    #[arg(long, hide = true, conflicts_with = "json")]
    names: bool,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    ("All timelines in shared memory", "timeline list"),
    ("The same for programs", "timeline list --json"),
    ("The traces of a store", "timeline list store://store1"),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if let Some(store) = &args.store {
        return remote_list::show(&fetch::client_of(store)?, args.json);
    }
    let mut out = output::stdout();
    if args.names {
        let names = timeline::names()?.into_iter();
        for name in names.filter(|name| name.chars().all(is_shown)) {
            write!(out, "{name}\0")?;
        }
        out.flush()?;
        return Ok(());
    }
    let listed = timeline::list()?;
    if args.json {
        for timeline in &listed {
            let object = match &timeline.state {
                Ok(info) => info::object(&timeline.name, info),
                Err(error) => json!({
                    "path": timeline.name,
                    "error": permission::told(error),
                    "owner": refused(error).map(|refusal| permission::object(&refusal.owner)),
                }),
            };
            write_line(&object, &mut out)?;
        }
    } else if !listed.is_empty() {
        let columns = [
            ("NAME", Align::Left),
            ("LEVEL", Align::Left),
            ("ENTRIES", Align::Right),
            ("FULL", Align::Right),
            ("SIZE", Align::Right),
            ("AGE", Align::Right),
            ("WRITERS", Align::Left),
        ];
        let theme = output::theme();
        let rows: Vec<_> = listed
            .iter()
            .map(|timeline| row(timeline, &theme))
            .collect();
        format::table(&mut out, theme.bold, &columns, &rows)?;
    }
    out.flush()?;
    let errors = listed.iter().filter_map(|one| one.state.as_ref().err());
    let foreign = errors.filter_map(refused).count();
    if foreign > 0 {
        let count = Count(foreign as u64);
        output::say(format_args!(
            "you may not read {count} of these; `sudo timeline list` shows more"
        ));
    }
    if listed.is_empty() {
        output::say("no timeline in shared memory; `timeline demo` creates one to try");
    }
    Ok(())
}

/// Whether a shell shows this character, or another one in its place, and nobody is misled.
pub fn is_shown(c: char) -> bool {
    // In the place of bytes that are no text.
    (is_printable(c) || c == '\n') && c != char::REPLACEMENT_CHARACTER
}

fn row(timeline: &ListedTimeline, theme: &Theme) -> Vec<Cell> {
    let name = Cell::new(theme.name, &timeline.name);
    let info = match &timeline.state {
        Ok(info) => info,
        Err(error) => {
            let reason = match refused(error) {
                Some(refusal) => {
                    format!(
                        "may not be read: it belongs to {}",
                        permission::owner(&refusal.owner)
                    )
                }
                None => format!("cannot be read: {error}"),
            };
            return vec![name, Cell::new(theme.bad, reason)];
        }
    };
    let age = std::time::Duration::from_nanos(time::now().saturating_sub(info.created_unix_nanos));
    vec![
        name,
        info::level_in_short(info).into(),
        Count(info.entries_written).to_string().into(),
        format::percent(info.entries_held, info.entries).into(),
        Bytes(info.size).to_string().into(),
        HumanDuration(age).to_string().into(),
        writers(info, theme),
    ]
}

fn writers(info: &Info, theme: &Theme) -> Cell {
    let alive: Vec<_> = info.writers.iter().filter(|writer| writer.alive).collect();
    if alive.is_empty() {
        let none = format!("none; created by {}", info::creator(info));
        return Cell::new(theme.dim, none);
    }
    let names: Vec<_> = alive.iter().map(|writer| info::writer(writer)).collect();
    Cell::new(theme.good, names.join(", "))
}
