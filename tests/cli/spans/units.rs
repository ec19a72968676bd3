//! Tests that a percentile distribution has its unit, and says which one it is.

use super::*;

/// A log of one duration, of 2,768,896 to 2,770,943 ns.
const LOG: &str = "#[Histogram log format version 1.2]\n\
                   0.500,1.000,2.771,HISTFAAAACN4nJNpmSzMwMDAwgABzFCaEUza//9v/wEi0H+UkQkAZ7\
                   oGEg==\n";

/// The value of 100 %, and the line of the unit.
fn last(words: &[&str]) -> (String, Option<String>) {
    let text = succeed(&[&["histogram"], words, &["--percentiles"]].concat()).stdout;
    let last = text.lines().find(|line| line.contains(" 1.000000000000 "));
    let value = last.expect("100 %").split_whitespace().next();
    let unit = text.lines().find(|line| line.starts_with("#[Unit"));
    (value.unwrap().to_owned(), unit.map(str::to_owned))
}

#[test]
fn a_distribution_is_in_the_unit_that_is_wanted_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("one.hlog").display().to_string();
    std::fs::write(&log, LOG).unwrap();
    // As HistogramLogProcessor has it, byte for byte.
    let (milliseconds, unit) = last(&[&log]);
    assert_eq!((&*milliseconds, unit), ("2.771", None));
    for (unit, value) in [
        ("ns", "2770943.000"),
        ("us", "2770.943"),
        ("ms", "2.771"),
        ("s", "0.003"),
    ] {
        let line = format!("#[Unit    = {unit:>12}]");
        assert_eq!(last(&[&log, "--unit", unit]), (value.into(), Some(line)));
    }
    let ran = run(&["histogram", &log, "--unit", "us"]);
    assert!(
        ran.code == Some(2) && ran.stderr.contains("--percentiles"),
        "{ran:?}"
    );
}

#[test]
fn values_that_are_no_durations_are_as_they_are() {
    let name = Name::new("histogram-units");
    let tl = name.create(256);
    let sent = tl
        .define("net", Priority::Info, "sent $size:bytes to $port")
        .unwrap();
    tl.log(sent, [1500, 80]);
    let of = |field| ["histogram", name.path(), "--field", field];
    let unit = format!("#[Unit    = {:>12}]", "bytes");
    assert_eq!(
        last(&of("net.sent.size")[1..]),
        ("1500.000".into(), Some(unit))
    );
    assert_eq!(last(&of("net.sent.port")[1..]), ("80.000".into(), None));
    let ran = run(&[&of("net.sent.size")[..], &["--percentiles", "--unit", "us"]].concat());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("these values are none"), "{ran:?}");
}
