//! The processes that log, and their executables, as `timeline info` tells them.

use serde_json::{Value, json};
use timeline::Attached;
use timeline_archive::{Archive, ProcessRecord};
use timeline_reading::json::whole_number;

use crate::format::{hexadecimal, things};

/// Those of a timeline. The files of those that have no digest there are read.
pub fn of_ring(at: &Attached) -> Vec<ProcessRecord> {
    let record = |joined: timeline::JoinedProcess| {
        let sha1 = at.sha1(&joined);
        ProcessRecord::of(0, &joined, sha1)
    };
    at.processes().into_iter().map(record).collect()
}

/// Those of a ring in an archive.
pub fn of_archive(archive: &Archive, magic: Option<u64>) -> Vec<ProcessRecord> {
    archive.processes(magic.unwrap_or(0))
}

/// What is known of one.
pub fn line(process: &ProcessRecord) -> String {
    let pid = process.pid.map_or("?".to_string(), |pid| pid.to_string());
    let name = process.name.as_deref().unwrap_or("?");
    let Some(path) = process.path.as_deref() else {
        return format!("{name} ({pid}), its executable is not known");
    };
    let size = process
        .size
        .map(|size| format!(", {}", things(size, "byte")));
    let sha1 = process.sha1.as_deref();
    let sha1 = sha1.map(|sha1| format!(", SHA-1 {}", hexadecimal(sha1)));
    let (size, sha1) = (size.unwrap_or_default(), sha1.unwrap_or_default());
    format!("{name} ({pid}): {path}{size}{sha1}")
}

/// The same for programs. The field names are part of the interface.
pub fn objects(processes: &[ProcessRecord]) -> Vec<Value> {
    let object = |process: &ProcessRecord| {
        json!({
            "pid": process.pid,
            "name": process.name,
            "joined_ticks": process.joined.map(whole_number),
            "executable": process.path,
            "executable_size": process.size,
            "executable_sha1": process.sha1.as_deref().map(hexadecimal),
        })
    };
    processes.iter().map(object).collect()
}
