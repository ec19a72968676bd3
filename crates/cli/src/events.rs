//! `timeline events`: prints the definitions of a timeline, or checks a catalogue of events.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use timeline::internal::Catalogue;
use timeline::{Definition, Event, FieldType, Order, Source};
use timeline_reading::json::write_line;
use timeline_reading::{Extent, Request};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::{Count, things};
use crate::health;
use crate::output::{self, TextLine};
use crate::recovery::Executables;
use crate::target::Target;
use crate::verb::Verb;

/// Print the events that a program defines, with what explains them
///
/// Each event has its number, its name, which is its category and the words of its message up to
/// the first argument, its priority, whether it is important, and how many events of it are held.
/// Its message, its arguments with their types, its channels, the place of its statement, and its
/// explanation follow. PATH may be an archive: then those events are printed that it holds.
///
/// With --check, the mistakes of a catalogue are printed: a text file from which a program defines
/// its events. docs/events.md describes it. The exit status is 1 if there are any.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,

    /// Check a catalogue of events
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "json"])]
    pub check: Option<PathBuf>,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    ("What can this program log?", "timeline events /timeline"),
    (
        "The names of all events of a snapshot",
        "timeline events snapshot.timeline --json | jq -r .name",
    ),
    (
        "Check a file from which a program defines its events",
        "timeline events --check engine.events",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn is_long(&self) -> bool {
        true
    }

    fn target(&mut self) -> Option<&mut Target> {
        self.check.is_none().then_some(&mut self.target)
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if let Some(file) = &args.check {
        return check(file);
    }
    let log = args.target.open(Extent::Whole)?;
    let mut stream = log.stream(Request::new(Order::NewestFirst));
    let held = EventCounts::of(log.source(), stream.by_ref());
    print(log.source(), &held, args.json)?;
    health::report_stream(&stream)
}

/// How many events of each definition there are, and whether they are important.
struct EventCounts(HashMap<*const Definition, (u64, bool)>);

impl EventCounts {
    fn of(at: &dyn Source, events: impl Iterator<Item = Event>) -> EventCounts {
        let mut held = HashMap::new();
        for event in events {
            if let Some(definition) = at.definition(event.id) {
                let (count, _) = held
                    .entry(std::ptr::from_ref(definition))
                    .or_insert((0, event.important));
                *count += 1;
            }
        }
        EventCounts(held)
    }

    fn count(&self, definition: &Definition) -> u64 {
        self.of_definition(definition).map_or(0, |(count, _)| count)
    }

    /// Whether events of a definition are important. In an archive only they say it.
    fn important(&self, definition: &Definition) -> bool {
        let held = self.of_definition(definition);
        let known = definition.important;
        known.unwrap_or(held.is_some_and(|(_, important)| important))
    }

    fn of_definition(&self, definition: &Definition) -> Option<(u64, bool)> {
        self.0.get(&std::ptr::from_ref(definition)).copied()
    }
}

fn print(at: &dyn Source, held: &EventCounts, as_json: bool) -> Result {
    let mut out = output::stdout();
    let mut any = false;
    // An archive knows them in the order in which its parts are read.
    let mut definitions: Vec<&Definition> = at.definitions().collect();
    definitions.sort_by_key(|definition| definition.id);
    for definition in definitions {
        match as_json {
            true => write_line(&object(definition, held), &mut out)?,
            false => text(definition, held, any, &mut out)?,
        }
        any = true;
    }
    out.flush()?;
    if !any {
        output::say("no event is defined");
    }
    Ok(())
}

fn text(
    definition: &Definition,
    held: &EventCounts,
    follows: bool,
    out: &mut impl Write,
) -> Result {
    let theme = output::theme();
    if follows {
        writeln!(out)?;
    }
    let priority = definition.priority.map_or("?", |priority| priority.name());
    let count = Count(held.count(definition));
    let important = match held.important(definition) {
        true => " important",
        false => "",
    };
    TextLine::from(format!("{} ", definition.id.0))
        .styled(theme.name, definition.name())
        .text(format_args!("  {priority}{important}  {count} held"))
        .write(out)?;
    let indented = |text: &str| TextLine::from("    ").text(text);
    indented(definition.summary()).write(out)?;
    let fields = fields(definition);
    if !fields.is_empty() {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, kind)| format!("{name} {kind}"))
            .collect();
        indented(&format!("arguments: {}", fields.join(", "))).write(out)?;
    }
    if !definition.channels.is_empty() {
        indented(&format!("channels: {}", definition.channels)).write(out)?;
    }
    if let Some(place) = place(definition) {
        indented(&format!("statement: {place}")).write(out)?;
    }
    for line in definition.prose().lines() {
        // Explanations are often indented by tabs, which no terminal is to interpret.
        indented(&line.replace('\t', "    ")).write(out)?;
    }
    Ok(())
}

fn place(definition: &Definition) -> Option<String> {
    let file = definition.file.as_ref()?;
    Some(match definition.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    })
}

/// The arguments: their names, and their types as the message has them.
fn fields(definition: &Definition) -> Vec<(String, String)> {
    if let Some(object) = &definition.object {
        let fields = object.fields();
        let typed = fields.map(|field| (field.name.to_owned(), field.kind.to_string()));
        return typed.collect();
    }
    let untyped = || FieldType::UNTYPED.to_string();
    let mut rest = definition.summary();
    let mut fields = Vec::new();
    for field in definition.fields() {
        let argument = format!("${}", field.name);
        let behind = rest.split_once(&argument).map_or("", |(_, behind)| behind);
        let kind = behind.strip_prefix(':').and_then(|kind| {
            let (_, length) = FieldType::parse(kind).ok()?;
            kind.get(..length)
        });
        fields.push((
            field.name.to_owned(),
            kind.map_or_else(untyped, str::to_owned),
        ));
        rest = behind;
    }
    fields
}

/// A definition for programs. The field names are part of the interface.
fn object(definition: &Definition, held: &EventCounts) -> Value {
    let fields = fields(definition);
    let fields = fields
        .iter()
        .map(|(name, kind)| json!({ "name": name, "type": kind }));
    let channels = definition.channels.split('|');
    json!({
        "event": definition.name(),
        "definition": definition.id.0,
        "category": definition.category,
        "priority": definition.priority.map(|priority| priority.name()),
        "important": held.important(definition),
        "message": definition.summary(),
        "fields": fields.collect::<Vec<_>>(),
        "channels": channels.filter(|name| !name.is_empty()).collect::<Vec<_>>(),
        "file": definition.file,
        "line": definition.line,
        "prose": definition.prose(),
        "held": held.count(definition),
    })
}

fn check(file: &Path) -> Result {
    let found = Catalogue::read(file)?;
    let mut out = output::stdout();
    for mistake in &found.mistakes {
        TextLine::from(mistake.to_string()).write(&mut out)?;
    }
    out.flush()?;
    let told = |count: usize, thing| things(count as u64, thing);
    let (file, events) = (file.display(), told(found.events.len(), "event"));
    match found.mistakes.len() {
        0 => output::say(format_args!("{file}: {events}, no mistake")),
        count => {
            let mistakes = told(count, "mistake");
            return Err(Failure::Message(format!("{file}: {mistakes}")));
        }
    }
    Ok(())
}
