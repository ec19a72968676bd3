//! Requests that must not be answered are refused.
//!
//! They come from other sites, name other hosts, have no token, ask for other files, or are such as
//! no client sends.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;

use super::http::{Answer, Served, quoted};
use crate::command::*;
use crate::support::Name;
use timeline::{Priority, event};

/// A directory with an archive, and a secret one beside it to which a link in it leads.
fn folders() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let name = Name::new("guard");
    let tl = name.create(1024);
    for number in 0..10 {
        event!(tl, Priority::Info, "net", "sent {number}", number);
    }
    let (served, secret) = (folder.path().join("served"), folder.path().join("secret"));
    for folder in [&served, &secret] {
        fs::create_dir(folder).unwrap();
        let path = folder.join("flight.tla").display().to_string();
        let file = snapshot(&name, folder);
        succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
        fs::remove_file(file).unwrap();
    }
    fs::rename(secret.join("flight.tla"), secret.join("secret.tla")).unwrap();
    fs::write(secret.join("plain.txt"), "a secret").unwrap();
    symlink(&secret, served.join("folder")).unwrap();
    symlink(secret.join("secret.tla"), served.join("link.tla")).unwrap();
    let numbered = served.join("numbered");
    fs::create_dir(&numbered).unwrap();
    symlink(
        secret.join("secret.tla"),
        numbered.join("timeline-000001.tla"),
    )
    .unwrap();
    let served = served.display().to_string();
    (folder, served)
}

#[test]
fn only_what_is_below_the_served_directory_can_be_reached() {
    let (folder, path) = folders();
    let served = Served::begin(&[&path]);
    let logs = served.json("/api/logs");
    let ids: Vec<_> = logs["logs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|log| &log["id"])
        .collect();
    assert_eq!(ids, ["flight.tla"]);
    assert_eq!(served.json("/api/logs/flight.tla")["lines"], 10);
    let secret = folder.path().join("secret");
    let whole = |name: &str| secret.join(name).display().to_string();
    for id in [
        "link.tla",
        "numbered",
        "numbered/timeline-000001.tla",
        "folder",
        "folder/secret.tla",
        "../secret/secret.tla",
        "./../secret/secret.tla",
        "flight.tla/../../secret/secret.tla",
        "..",
        ".",
        "",
        "flight.tla\0",
        &whole("secret.tla"),
        &whole("plain.txt"),
        "/etc/passwd",
    ] {
        for request in ["", "/lines", "/file", "/search?q=a", "/follow", "/tracks"] {
            let answer = served.get(&format!("/api/logs/{}{request}", quoted(id)));
            assert!(
                [400, 404].contains(&answer.status),
                "{id}{request}: {}",
                answer.status
            );
            assert!(!answer.text().contains("secret.tla\""), "{}", answer.text());
        }
    }
    for path in [
        "/../secret/plain.txt",
        "/app/../../Cargo.toml",
        "/app/%2e%2e/%2e%2e/Cargo.toml",
        "/app//etc/passwd",
        "/app/%2Fetc%2Fpasswd",
        "//etc/passwd",
    ] {
        assert_eq!(served.get(path).status, 404, "{path}");
    }
    // The file became a link after it was listed.
    let file = std::path::Path::new(&path).join("flight.tla");
    fs::remove_file(&file).unwrap();
    symlink(secret.join("secret.tla"), &file).unwrap();
    for request in ["", "/lines", "/file"] {
        let answer = served.get(&format!("/api/logs/flight.tla{request}"));
        assert_eq!(answer.status, 404, "{request}: {}", answer.text());
    }
}

#[test]
fn requests_of_other_sites_and_for_other_hosts_are_refused() {
    let (_folder, path) = folders();
    let served = Served::begin(&[&path, "--allow-control"]);
    let port = served.host.rsplit(':').next().unwrap();
    let ask = |head: &[&str]| served.ask("GET", "/api/logs", head, "").status;
    assert_eq!(ask(&[]), 200);
    assert_eq!(ask(&[&format!("Host: localhost:{port}")]), 200);
    for host in [
        format!("evil.example:{port}"),
        "evil.example".into(),
        "localhost".into(),
        format!("localhost:{port}.evil.example"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1:{port}@evil.example"),
        String::new(),
    ] {
        let status = ask(&[&format!("Host: {host}")]);
        assert!([400, 421].contains(&status), "{host}: {status}");
    }
    let status = ask(&[&format!("Host: {}", served.host), "Host: evil.example"]);
    assert!([400, 421].contains(&status), "{status}");
    let own = format!("Origin: http://{}", served.host);
    assert_eq!(ask(&[&own]), 200);
    for head in [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://localhost:1",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        assert_eq!(ask(&[head]), 403, "{head}");
    }
    // A link on another site leads to the page; its frames and pictures lead nowhere.
    let far = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"];
    assert_eq!(served.ask("GET", "/", &far, "").status, 200);
    assert_eq!(ask(&far), 403);
    let level = |head: &[&str]| {
        let path = "/api/logs/flight.tla/rules";
        served.ask("POST", path, head, "{\"rules\":\"all\"}").status
    };
    let json = "Content-Type: application/json";
    assert_eq!(level(&[json, "Origin: http://evil.example"]), 403);
    // A form of another site can send no JSON; an archive has no level.
    assert_eq!(level(&["Content-Type: text/plain", &own]), 415);
    assert_eq!(level(&[json, &own]), 400);
    let answer = served.get("/");
    for line in [
        "content-security-policy: default-src 'none'; script-src 'self';",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(answer.head.contains(line), "{line} in {}", answer.head);
    }
    // A page that another site may have opened is kept apart from that site.
    for (head, is_apart) in [
        (&["Sec-Fetch-Site: none"][..], false),
        (&["Sec-Fetch-Site: same-origin"], false),
        (&["Sec-Fetch-Site: same-site", far[1]], true),
        (&far, true),
        (&["Sec-Fetch-Site: else", far[1]], true),
        (&[], true),
    ] {
        let head_of = served.ask("GET", "/", head, "").head;
        let has = head_of.contains("cross-origin-opener-policy: same-origin");
        assert_eq!(has, is_apart, "{head:?}: {head_of}");
        assert!(head_of.contains("vary: sec-fetch-site"), "{head_of}");
    }
}

#[test]
fn beyond_this_machine_each_request_needs_the_token() {
    let (_folder, path) = folders();
    let served = Served::begin_at("0.0.0.0:0", &[&path]);
    let token = served.token.clone().expect("a token");
    assert_eq!(token.len(), 32);
    assert_eq!(served.get("/api/logs").status, 200);
    let ask = |head: &[&str]| {
        served
            .ask("GET", "/api/logs/flight.tla/lines", head, "")
            .status
    };
    assert_eq!(ask(&[&format!("Authorization: Bearer {token}")]), 200);
    for wrong in [
        String::new(),
        "Authorization: Bearer ".into(),
        format!("Authorization: Bearer {}", &token[1..]),
        format!("Authorization: Bearer {token}0"),
        format!("Authorization: Basic {token}"),
        format!("Authorization: Bearer {}", "0".repeat(32)),
        format!("X: Bearer {token}"),
    ] {
        let head: Vec<&str> = [wrong.as_str()]
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect();
        assert_eq!(ask(&head), 401, "{wrong}");
    }
    let other = Served::begin(&[&path, "--token"]);
    assert_eq!(other.ask("GET", "/api/logs", &[], "").status, 401);
    assert_eq!(other.get("/api/logs").status, 200);
    assert_ne!(other.token, served.token);
    // The page itself can be loaded, and holds nothing.
    assert_eq!(served.ask("GET", "/", &[], "").status, 200);
}

#[test]
fn changes_need_to_be_allowed() {
    let name = Name::new("changes");
    let tl = name.create(1024);
    event!(tl, Priority::Info, "net", "sent");
    let json = "Content-Type: application/json";
    let path = |what: &str| format!("/api/logs/{}/{what}", quoted(name.path()));
    let served = Served::begin(&[name.path()]);
    for (what, body) in [
        ("rules", "{\"rules\":\"error\"}"),
        (
            "sample",
            "{\"level\":\"all\",\"for_ns\":1,\"every_ns\":2,\"duration_ns\":3}",
        ),
        ("channels", "{\"name\":\"itv\",\"on\":true}"),
        ("snapshot", ""),
    ] {
        assert_eq!(
            served.ask("POST", &path(what), &[json], body).status,
            403,
            "{what}"
        );
    }
    assert_eq!(served.json(&path("control"))["level"], "all");
    let served = Served::begin(&[name.path(), "--allow-control"]);
    let level = |level: &str| {
        let body = format!("{{\"rules\":\"{level}\"}}");
        served.ask("POST", &path("rules"), &[json], &body)
    };
    assert_eq!(level("error").status, 200);
    assert_eq!(tl.level().to_string(), "error");
    let refused = level("loud");
    assert_eq!(refused.status, 400);
    assert!(
        refused.text().contains("expected error, warning"),
        "{}",
        refused.text()
    );
    let channel = "{\"name\":\"itv\",\"on\":true}";
    assert_eq!(
        served
            .ask("POST", &path("channels"), &[json], channel)
            .status,
        200
    );
    assert_eq!(served.json(&path("control"))["channels"][0]["name"], "itv");
    let copy = served.ask("POST", &path("snapshot"), &[], "");
    assert_eq!(copy.status, 200);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &copy.body).unwrap();
    let dumped = succeed(&["dump", &file.path().display().to_string(), "--json"]).json();
    assert_eq!(dumped.len(), 1);
}

#[test]
fn a_change_that_is_misspelt_is_refused() {
    let name = Name::new("changes-misspelt");
    let tl = name.create(1024);
    let json = "Content-Type: application/json";
    let path = |what: &str| format!("/api/logs/{}/{what}", quoted(name.path()));
    let served = Served::begin(&[name.path(), "--allow-control"]);
    let channel = "{\"name\":\"itv\",\"on\":true}";
    let asked = served.ask("POST", &path("channels"), &[json], channel);
    assert_eq!(asked.status, 200);
    // A name that is misspelt, and a word that is no field, change nothing.
    for (what, body, status, told) in [
        (
            "channels",
            "{\"name\":\"ivt\",\"on\":true}",
            400,
            "did you mean itv?",
        ),
        (
            "channels",
            "{\"name\":\"ivt\",\"on\":true,\"latr\":true}",
            422,
            "latr",
        ),
        (
            "rules",
            "{\"rules\":\"none\",\"x\":1}",
            422,
            "unknown field `x`",
        ),
    ] {
        let refused = served.ask("POST", &path(what), &[json], body);
        assert_eq!(refused.status, status, "{}", refused.text());
        assert!(refused.text().contains(told), "{}", refused.text());
    }
    assert_eq!(tl.level().to_string(), "all");
    assert_eq!(
        served.json(&path("control"))["channels"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let later = "{\"name\":\"ivt\",\"on\":true,\"later\":true}";
    assert_eq!(
        served.ask("POST", &path("channels"), &[json], later).status,
        200
    );
}

#[test]
fn what_no_client_sends_is_refused_and_the_server_goes_on() {
    let (_folder, path) = folders();
    let served = Served::begin(&[&path]);
    let host = format!("Host: {}\r\n", served.host);
    let long = "a".repeat(200_000);
    let requests: Vec<Vec<u8>> = vec![
        b"\r\n\r\n".to_vec(),
        b"\0\0\0\0".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        format!("GET /{long} HTTP/1.1\r\n{host}\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\n{host}X: {long}\r\n\r\n").into_bytes(),
        format!(
            "POST /api/logs/flight.tla/rules HTTP/1.1\r\n{host}\
            Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{{"
        )
        .into_bytes(),
        format!("POST /api/logs/flight.tla/rules HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n")
            .into_bytes(),
        format!("GET /api/logs HTTP/1.1\r\n{host}Range: bytes=5-1,-0,x\r\n\r\n").into_bytes(),
        format!("TRACE / HTTP/1.1\r\n{host}\r\n").into_bytes(),
    ];
    for request in requests {
        let mut stream = served.connect();
        let _ = stream.write_all(&request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        if !answer.is_empty() {
            let status = Answer::of(&answer).status;
            let shown = String::from_utf8_lossy(&request[..request.len().min(60)]);
            assert!(
                (400..500).contains(&status) || shown.contains("Range"),
                "{status} {shown}"
            );
        }
    }
    assert_eq!(served.json("/api/logs/flight.tla")["lines"], 10);
}

#[test]
fn questions_that_cannot_be_read_are_refused() {
    let (_folder, path) = folders();
    let served = Served::begin(&[&path]);
    for query in [
        "lines?from=-1",
        "lines?from=1&from=2",
        "lines?count=1001",
        "lines?at=3,2",
        "lines?at=",
        "lines?where=x",
        "lines/x",
        "lines/10",
        "lines/99999999999999999999",
        "at",
        "at?time=soon",
        "events?since=soon",
        "events?after=1",
        "events?where=(",
        "events?priority=loud",
        "tracks?from=1",
        "tracks?from=2&to=1",
        "tracks?by=dog",
        "search?q=(&regex=true",
        "search?q=a&regex=maybe",
        "search?q=a&case=upper",
        "search?nonesuch=1",
        "search?q=%ff%00",
    ] {
        let answer = served.get(&format!("/api/logs/flight.tla/{query}"));
        let is_refused = answer.status == 400 || query == "search?q=%ff%00";
        assert!(is_refused, "{query}: {} {}", answer.status, answer.text());
    }
    let huge = format!("search?q={}", "a".repeat(20_000));
    assert_eq!(
        served.get(&format!("/api/logs/flight.tla/{huge}")).status,
        400
    );
    assert_eq!(served.json("/api/logs/flight.tla")["lines"], 10);
}
