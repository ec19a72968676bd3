//! Which times are found in lines.

use super::*;

/// The time that is found in a line: what it reads, and as what in UTC.
fn found(line: &str) -> Option<(String, String)> {
    // In Berlin, summer time ended on the 25th of October 2026.
    let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
    let mut times = Timestamps::new(berlin);
    // The 23rd of November 2026.
    times.begin_file(1_795_442_587);
    let found = times.find(line.as_bytes())?;
    let (from, to) = found.span;
    let mut again = Vec::new();
    times.form(found.form).write(found.unix_nanos, &mut again);
    let text = &line[from as usize..to as usize];
    assert_eq!(String::from_utf8_lossy(&again), text);
    let time = jiff::Timestamp::from_nanosecond(found.unix_nanos.into()).expect("a time");
    Some((text.into(), time.to_string()))
}

/// Lines, the text of the time in each, and the time in UTC.
const TIMES: &[(&str, &str, &str)] = &[
    (
        "2026-11-23T14:03:07Z x",
        "2026-11-23T14:03:07Z",
        "2026-11-23T14:03:07Z",
    ),
    (
        "2026-11-23T14:03:07.25+01:00",
        "2026-11-23T14:03:07.25+01:00",
        "2026-11-23T13:03:07.25Z",
    ),
    (
        "2026-11-23 14:03:07,123 INFO",
        "2026-11-23 14:03:07,123",
        "2026-11-23T13:03:07.123Z",
    ),
    (
        "2026-07-01 14:03:07 -0330 x",
        "2026-07-01 14:03:07 -0330",
        "2026-07-01T17:33:07Z",
    ),
    (
        "2026-07-01 14:03:07 status",
        "2026-07-01 14:03:07",
        "2026-07-01T12:03:07Z",
    ),
    (
        "[2026/11/23 14:03:07] x",
        "2026/11/23 14:03:07",
        "2026-11-23T13:03:07Z",
    ),
    (
        "INFO [main] 2026-11-23 14:03:07.123456789 x",
        "2026-11-23 14:03:07.123456789",
        "2026-11-23T13:03:07.123456789Z",
    ),
    (
        "Nov 23 14:03:07 host sshd[5]: x",
        "Nov 23 14:03:07",
        "2026-11-23T13:03:07Z",
    ),
    (
        "Nov  3 14:03:07 host",
        "Nov  3 14:03:07",
        "2026-11-03T13:03:07Z",
    ),
    // It is not later than the file.
    (
        "Dec 24 14:03:07 host",
        "Dec 24 14:03:07",
        "2025-12-24T13:03:07Z",
    ),
    (
        "Feb 29 14:03:07 host",
        "Feb 29 14:03:07",
        "2024-02-29T13:03:07Z",
    ),
    (
        "<34>Nov 23 14:03:07 host su: x",
        "Nov 23 14:03:07",
        "2026-11-23T13:03:07Z",
    ),
    (
        "<34>1 2003-10-11T22:14:15.003Z host",
        "2003-10-11T22:14:15.003Z",
        "2003-10-11T22:14:15.003Z",
    ),
    (
        "Mon Nov 23 14:03:07 2026 x",
        "Mon Nov 23 14:03:07 2026",
        "2026-11-23T13:03:07Z",
    ),
    (
        "[Mon Nov 23 14:03:07.123456 2026] [core:error]",
        "Mon Nov 23 14:03:07.123456 2026",
        "2026-11-23T13:03:07.123456Z",
    ),
    (
        "10.0.0.1 - - [23/Nov/2026:14:03:07 +0000] \"GET",
        "23/Nov/2026:14:03:07 +0000",
        "2026-11-23T14:03:07Z",
    ),
    ("1795442587 x", "1795442587", "2026-11-23T14:03:07Z"),
    (
        "1795442587.123456 x",
        "1795442587.123456",
        "2026-11-23T14:03:07.123456Z",
    ),
    (
        "1795442587123 x",
        "1795442587123",
        "2026-11-23T14:03:07.123Z",
    ),
    (
        "[1795442587123456] x",
        "1795442587123456",
        "2026-11-23T14:03:07.123456Z",
    ),
    (
        "1795442587123456789",
        "1795442587123456789",
        "2026-11-23T14:03:07.123456789Z",
    ),
    (
        "{\"level\":30,\"time\":1795442587123,\"msg\"",
        "1795442587123",
        "2026-11-23T14:03:07.123Z",
    ),
    (
        "{\"ts\":1795442587.25,",
        "1795442587.25",
        "2026-11-23T14:03:07.25Z",
    ),
    (
        "{\"__REALTIME_TIMESTAMP\":\"1795442587123456\",",
        "1795442587123456",
        "2026-11-23T14:03:07.123456Z",
    ),
    (
        "time=\"2026-11-23T14:03:07Z\" level=info",
        "2026-11-23T14:03:07Z",
        "2026-11-23T14:03:07Z",
    ),
    (
        "level=info ts=1795442587.5 x",
        "1795442587.5",
        "2026-11-23T14:03:07.5Z",
    ),
    (
        "I1123 14:03:07.123456    12 main.c:5] x",
        "1123 14:03:07.123456",
        "2026-11-23T13:03:07.123456Z",
    ),
    (
        "[   12.345678] usb 1-1: x",
        "   12.345678",
        "1970-01-01T00:00:12.345678Z",
    ),
    (
        "<6>[12345.345678] usb",
        "12345.345678",
        "1970-01-01T03:25:45.345678Z",
    ),
    // The hour that comes twice, and the one that does not come.
    (
        "2026-10-25 02:30:00 x",
        "2026-10-25 02:30:00",
        "2026-10-25T00:30:00Z",
    ),
    (
        "2026-03-29 02:30:00 x",
        "2026-03-29 02:30:00",
        "2026-03-29T00:30:00Z",
    ),
];

#[test]
fn times_are_found_in_the_shapes_of_logs() {
    for (line, text, utc) in TIMES {
        let expected = Some((text.to_string(), utc.to_string()));
        assert_eq!(found(line), expected, "{line}");
    }
}

#[test]
fn the_shape_of_the_line_before_is_no_reason_to_read_less() {
    for (lines, times) in [
        (
            &[
                "2026-11-23T14:03:07 a",
                "2026-11-23T14:03:08.5 b",
                "2026-11-23T14:03:08+01:00 c",
                "2026-11-23T14:03:08.5-05:00 d",
                "2026-11-23 14:03:08 -5 e",
            ][..],
            &[
                "2026-11-23T13:03:07Z",
                "2026-11-23T13:03:08.5Z",
                "2026-11-23T13:03:08Z",
                "2026-11-23T19:03:08.5Z",
                "2026-11-23T13:03:08Z",
            ][..],
        ),
        (
            &["1795442587 a", "1795442587.5 b", "1795442587 c"],
            &[
                "2026-11-23T14:03:07Z",
                "2026-11-23T14:03:07.5Z",
                "2026-11-23T14:03:07Z",
            ],
        ),
        (
            &["2026-11-23 14:03:07.123 a", "2026-11-23 14:03:08.123 +0100"],
            &["2026-11-23T13:03:07.123Z", "2026-11-23T13:03:08.123Z"],
        ),
        (
            &["2026-11-23T14:03:07.1234567891Z", "2026-11-23T14:03:07.9Z"],
            &["2026-11-23T13:03:07Z", "2026-11-23T14:03:07.9Z"],
        ),
        // What follows belongs to no time.
        (
            &[
                "2026-11-23 14:03:07 start",
                "2026-11-23 14:03:08 +12345 bytes",
                "2026-11-23 14:03:09 -200012 credits",
                "2026-11-23 14:03:10-12345 pid",
                "2026-11-23 14:03:11.123ms x",
            ],
            &[
                "2026-11-23T13:03:07Z",
                "2026-11-23T13:03:08Z",
                "2026-11-23T13:03:09Z",
                "2026-11-23T13:03:10Z",
                "2026-11-23T13:03:11Z",
            ],
        ),
        // The first time of a line counts, also where the one of the line before stood later.
        (
            &[
                "aaaaaaaaaaaaaaaaaaaaa 2026-11-23T14:03:07Z",
                "2025-01-01T00:00:00Z  2026-11-24T14:03:07Z",
            ],
            &["2026-11-23T14:03:07Z", "2025-01-01T00:00:00Z"],
        ),
    ] {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        let mut finder = Timestamps::new(berlin);
        finder.begin_file(1_795_442_587);
        for (line, time) in lines.iter().zip(times) {
            let found = finder.find(line.as_bytes()).map(|found| {
                let time = jiff::Timestamp::from_nanosecond(found.unix_nanos.into());
                time.expect("a time").to_string()
            });
            assert_eq!(found.as_deref(), Some(*time), "{line}");
        }
    }
}

#[test]
fn other_numbers_are_no_times() {
    for line in [
        "",
        "order 1795442587123 paid",
        "2026-13-23 14:03:07",
        "2026-11-23",
        "2026-11-23 24:03:07",
        "2026-11-23 14:03:60",
        "12026-11-23 14:03:07",
        "Nov 31 14:03:07",
        "179544258712",
        "99-2026-11-23 14:03:07",
        "1969-11-23 14:03:07Z",
    ] {
        assert_eq!(found(line), None, "{line}");
    }
}
