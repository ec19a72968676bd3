//! Whatever is wrong with a request, its answer is an object with one sentence.

use serde_json::Value;
use timeline::{Priority, event};

use super::http::{Served, quoted};
use crate::support::Name;

#[test]
fn whatever_fails_is_answered_by_an_object_with_an_error() {
    let name = Name::new("errors");
    let tl = name.create(1024);
    event!(tl, Priority::Info, "net", "sent");
    let folder = tempfile::tempdir().unwrap();
    let file = crate::command::snapshot(&name, folder.path());
    let served = Served::begin(&[&file, name.path(), "--allow-control"]);
    let (live, copy) = (quoted(name.path()), quoted(&file));
    let json = "Content-Type: application/json";
    let level = format!("/api/logs/{live}/rules");
    let long = format!("{{\"rules\":\"{}\"}}", "a".repeat(100_000));
    let file = format!("/api/logs/{copy}/file");
    let requests: Vec<(&str, String, Vec<&str>, &str, u16)> = vec![
        ("GET", "/nonesuch".into(), vec![], "", 404),
        ("GET", "/api".into(), vec![], "", 404),
        ("GET", "/api/nonesuch".into(), vec![], "", 404),
        ("GET", format!("/api/logs/{live}/nonesuch"), vec![], "", 404),
        ("GET", "/app/nonesuch.js".into(), vec![], "", 404),
        ("GET", "/app/%FF".into(), vec![], "", 400),
        ("GET", "/api/logs/%FF".into(), vec![], "", 400),
        ("GET", "/api/logs/nonesuch".into(), vec![], "", 404),
        ("GET", format!("/api/logs/{live}/lines/x"), vec![], "", 400),
        (
            "GET",
            format!("/api/logs/{live}/lines?from=x"),
            vec![],
            "",
            400,
        ),
        ("POST", format!("/api/logs/{live}/lines"), vec![], "", 405),
        ("GET", level.clone(), vec![], "", 405),
        ("DELETE", level.clone(), vec![], "", 405),
        ("POST", level.clone(), vec![], "{\"rules\":\"all\"}", 415),
        ("POST", level.clone(), vec![json], "{\"rules\":", 400),
        ("POST", level.clone(), vec![json], "{}", 422),
        ("POST", level, vec![json], &long, 413),
        ("GET", file, vec!["Range: bytes=99999999999-"], "", 416),
        (
            "GET",
            "/api/logs".into(),
            vec!["Host: evil.example"],
            "",
            421,
        ),
        (
            "GET",
            "/api/logs".into(),
            vec!["Origin: http://evil.example"],
            "",
            403,
        ),
    ];
    for (method, path, head, body, status) in requests {
        let answer = served.ask(method, &path, &head, body);
        let told = format!("{method} {path}: {} {}", answer.status, answer.text());
        assert_eq!(answer.status, status, "{told}");
        let is_json = "content-type: application/json\r\n";
        assert!(format!("{}\r\n", answer.head).contains(is_json), "{told}");
        let object: Value = serde_json::from_slice(&answer.body).expect(&told);
        let object = object.as_object().expect(&told);
        assert_eq!(object.len(), 1, "{told}");
        assert!(
            object["error"]
                .as_str()
                .is_some_and(|error| !error.is_empty())
        );
    }
}
