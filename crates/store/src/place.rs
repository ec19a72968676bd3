//! Makes the name of the directory of a run: HOST/PROGRAM-CREATED-MAGIC.
//!
//! Names come from the network. What is left of them is never a path.

use std::path::{Path, PathBuf};

use timeline_archive::Preamble;

/// Most bytes of the name of a host or a program.
const MOST: usize = 64;

/// The directory of a run, below that of the store.
pub fn of_run(run: &Preamble) -> PathBuf {
    let host = safe(run.host.as_deref().unwrap_or_default());
    let program = run.path.as_deref().unwrap_or_default();
    // What the kernel says of one that was replaced.
    let program = program.trim_end_matches(" (deleted)");
    let program = safe(program.rsplit('/').next().unwrap_or_default());
    let created = created(run.created.unwrap_or(0));
    let magic = run.magic.unwrap_or(0);
    Path::new(&host).join(format!("{program}-{created}-{magic:016x}"))
}

/// A name of letters, digits and `.`, `_` and `-`, which does not begin with a dot.
fn safe(name: &str) -> String {
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let safe = name.chars().map(|c| if is_safe(&c) { c } else { '_' });
    let safe: String = safe.take(MOST).collect();
    match safe.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if safe.is_empty() => "unknown".into(),
        None => safe,
    }
}

/// A time as a part of a name, in UTC: 20261127T235959.
fn created(unix_nanos: u64) -> String {
    let time = jiff::Timestamp::from_nanosecond(unix_nanos.into());
    time.unwrap_or_default()
        .strftime("%Y%m%dT%H%M%S")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(host: &str, program: &str) -> Preamble {
        Preamble {
            host: Some(host.into()),
            path: Some(program.into()),
            magic: Some(0xbeef),
            created: Some(1_795_823_999_000_000_000),
            ..Preamble::default()
        }
    }

    #[test]
    fn a_run_has_the_names_of_its_host_and_program() {
        let place = of_run(&run("db1.example.org", "/usr/sbin/packet-engine (deleted)"));
        let expected = "db1.example.org/packet-engine-20261127T235959-000000000000beef";
        assert_eq!(place, Path::new(expected));
        let nothing = of_run(&Preamble::default());
        let expected = "unknown/unknown-19700101T000000-0000000000000000";
        assert_eq!(nothing, Path::new(expected));
    }

    #[test]
    fn no_name_leaves_the_directory_of_the_store() {
        let long = "n".repeat(10_000);
        for name in [
            "..",
            ".",
            "../../etc",
            "/",
            "a/b",
            "\0",
            "\n",
            "ü",
            "~",
            ".hidden",
            &long,
        ] {
            let place = of_run(&run(name, name));
            assert_eq!(place.components().count(), 2, "{name:?}: {place:?}");
            assert!(place.is_relative());
            let is_plain = |part: std::path::Component| {
                let part = part.as_os_str().to_str().unwrap();
                !part.starts_with('.') && part.len() <= 255 && part.is_ascii()
            };
            assert!(place.components().all(is_plain), "{name:?}: {place:?}");
        }
    }
}
