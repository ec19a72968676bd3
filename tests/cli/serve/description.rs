//! The description of the requests is valid OpenAPI, and the answers are as it says.

use std::process::Command;

use timeline::{Priority, event};

use super::http::{Served, quoted};
use crate::support::{Name, root};

#[test]
fn answers_are_as_the_description_says() {
    let name = Name::new("described");
    let tl = name.create(1024);
    for number in 0..10_u32 {
        let host = "eth0";
        event!(
            tl,
            Priority::Info,
            "net",
            "sent {number} to {host}",
            number,
            host
        );
    }
    event!(important: true, tl, Priority::Error, "net", "down");
    let id = u64::MAX;
    event!(tl, Priority::Info, "net", "begin poll");
    event!(tl, Priority::Info, "net", "start request {id}", id);
    event!(tl, Priority::Info, "net", "finish request {id}", id);
    event!(tl, Priority::Info, "net", "end poll");
    let served = Served::begin(&[name.path()]);
    let script = root().join("tests/browser/describe.mjs");
    let checked = Command::new("node")
        .arg(script)
        .args([&format!("http://{}", served.host), &quoted(name.path())])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    let wrong = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}{wrong}");
    // Each path of the description was asked for, but those that change something.
    assert!(said.contains("30 described, 19 asked"), "{said}");
}

#[test]
fn a_browser_that_has_the_page_gets_it_no_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::begin(&[&folder.path().display().to_string()]);
    let mut tags = Vec::new();
    for (path, kind) in [
        ("/", "html"),
        ("/app/page.js", "javascript"),
        ("/app/page.css", "css"),
        ("/app/data/time.js", "javascript"),
        ("/app/shell/style.css", "css"),
    ] {
        let first = served.get(path);
        let wanted = format!("content-type: text/{kind}; charset=utf-8");
        assert!(first.head.contains(&wanted), "{path}: {}", first.head);
        let tag = first
            .head
            .lines()
            .find_map(|line| line.strip_prefix("etag: w/"));
        let tag = tag
            .unwrap_or_else(|| panic!("{path}: {}", first.head))
            .trim();
        let known = format!("If-None-Match: W/{tag}");
        let again = served.ask("GET", path, &[&known, "Accept-Encoding: gzip"], "");
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let other = served.ask("GET", path, &["If-None-Match: W/\"5\""], "");
        assert!(other.status == 200 && other.body == first.body, "{path}");
        assert!(!tags.contains(&tag.to_owned()));
        tags.push(tag.to_owned());
    }
}

#[test]
fn answers_are_compressed_for_those_who_ask_for_it() {
    let name = Name::new("compressed");
    let tl = name.create(1024);
    for number in 0..500_u32 {
        event!(tl, Priority::Info, "net", "sent {number}", number);
    }
    let served = Served::begin(&[name.path()]);
    let path = format!("/api/logs/{}/lines?count=500", quoted(name.path()));
    let plain = served.get(&path);
    assert!(!plain.head.contains("content-encoding"), "{}", plain.head);
    let short = served.ask("GET", &path, &["Accept-Encoding: gzip"], "");
    assert!(
        short.head.contains("content-encoding: gzip"),
        "{}",
        short.head
    );
    assert!(short.body.len() * 4 < plain.body.len());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &short.body).unwrap();
    let read = std::fs::File::open(file.path()).unwrap();
    let expanded = Command::new("gzip").arg("-dc").stdin(read).output();
    assert!(expanded.unwrap().stdout == plain.body);
}
