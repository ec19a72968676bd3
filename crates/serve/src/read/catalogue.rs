//! Lists the definitions and the threads of a log.

use serde::Serialize;
use timeline::{Definition, Priority, ProcessExecutable, Source, Thread};
use timeline_reading::DefinitionView;
use utoipa::ToSchema;

use super::cancel::Cancel;
use super::summary::LogSummary;
use crate::error::Result;
use crate::logs::Version;

/// A definition.
#[derive(Debug, Serialize, ToSchema)]
pub struct DefinitionObject {
    /// Its number in its ring; others may have it in an archive of several.
    pub definition: Option<u32>,
    /// The name of its events, such as `engine.got_packet`.
    pub event: Option<String>,
    /// The part of the program it belongs to.
    pub category: Option<String>,
    /// How much detail it is.
    pub priority: Option<&'static str>,
    /// Its message up to the first line break.
    pub message: String,
    /// The further lines.
    pub prose: Option<String>,
    /// Its fields.
    pub fields: Vec<FieldObject>,
    /// The file of the statement.
    pub file: Option<String>,
    /// The line of the statement in its file.
    pub source_line: Option<u32>,
    /// Its channels.
    pub channels: Vec<String>,
}

/// A field of a definition.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldObject {
    /// Its name.
    pub name: String,
    /// Its type, as a message names it.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its unit, if the type has one.
    pub unit: Option<&'static str>,
}

/// A thread.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ThreadObject {
    /// Its name.
    pub name: Option<String>,
    /// The kernel's id.
    pub tid: Option<u32>,
    /// That of its process.
    pub pid: Option<u32>,
    /// The name of its process.
    pub process: Option<String>,
    /// The executable of that process, if it is known.
    pub executable: Option<ExecutableObject>,
    /// Its group, if the program gave it one.
    pub group: Option<String>,
    /// How many events it logged.
    pub count: u64,
}

/// The executable of a process.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ExecutableObject {
    /// Its path.
    pub path: String,
    /// Its bytes.
    pub size: Option<u64>,
    /// Its SHA-1, in hexadecimal digits.
    pub sha1: Option<String>,
}

impl ExecutableObject {
    fn new(executable: &ProcessExecutable) -> ExecutableObject {
        let digits = |sha1: &[u8; 20]| sha1.iter().map(|byte| format!("{byte:02x}")).collect();
        ExecutableObject {
            path: executable.path.clone(),
            size: executable.size,
            sha1: executable.sha1.as_ref().map(digits),
        }
    }
}

impl ThreadObject {
    /// A thread, of which nothing may be known but the kernel's id.
    pub fn new(thread: Option<Thread>, tid: u32, count: u64) -> ThreadObject {
        let thread = thread.unwrap_or_default();
        ThreadObject {
            tid: thread.known_tid().or((tid != 0).then_some(tid)),
            pid: thread.known_pid(),
            name: thread.name,
            process: thread.process,
            executable: thread.executable.as_deref().map(ExecutableObject::new),
            group: thread.group,
            count,
        }
    }
}

/// All definitions of a log.
pub fn definitions(version: &Version, cancel: &Cancel) -> Result<Vec<DefinitionObject>> {
    // They are in the events: of a large log, that takes long.
    version.archive().find_definitions(|| !cancel.is_set());
    cancel.check()?;
    let mut all: Vec<_> = version.archive().definitions().map(object).collect();
    all.sort_by_key(|definition| definition.definition);
    Ok(all)
}

fn object(definition: &Definition) -> DefinitionObject {
    let view = DefinitionView::new(Some(definition));
    DefinitionObject {
        definition: view.number(),
        event: view.name(),
        category: view.category().map(String::from),
        priority: view.priority().map(Priority::name),
        message: definition.summary().to_string(),
        prose: view.prose().map(String::from),
        fields: definition
            .fields()
            .map(|field| FieldObject {
                name: field.name.to_string(),
                kind: field.kind.to_string(),
                unit: field.kind.descriptor().unit,
            })
            .collect(),
        file: definition.file.clone(),
        source_line: definition.line,
        channels: view.channels().map(String::from).collect(),
    }
}

/// All threads of a log, the busiest first.
pub fn threads(version: &Version, cancel: &Cancel) -> Result<Vec<ThreadObject>> {
    let summary = LogSummary::of(version, cancel)?;
    let mut counts = vec![0_u64; summary.names.threads.len()];
    for entry in summary.all_entries() {
        counts[entry.thread as usize] += u64::from(entry.count);
    }
    let threads = summary.names.threads.iter().zip(counts);
    let mut threads: Vec<_> = threads
        .map(|(logger, count)| ThreadObject::new(logger.thread.clone(), logger.tid, count))
        .collect();
    threads.sort_by_key(|thread| (std::cmp::Reverse(thread.count), thread.tid));
    Ok(threads)
}
