//! Tests that interval logs of anybody are read, and that what is written is whole.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::*;

/// A histogram of a duration of 2.8 ms.
const V2: &str = "HISTFAAAACN4nJNpmSzMwMDAwgABzFCaEUza//9v/wEi0H+UkQkAZ7oGEg==";
const START: &str =
    "#[StartTime: 1500000040.000 (seconds since epoch), Fri Jul 14 02:40:40 UTC 2017]\n";

/// Two intervals behind a StartTime, two behind the next, which is earlier.
fn log() -> String {
    let line = |tag: &str, at: &str| format!("{tag}{at},1.000,2.771,{V2}\n");
    format!(
        "#[of this and that]\n#[Histogram log format version 1.2]\n{START}\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
         \"Interval_Compressed_Histogram\"\n\
         {}{}#[moved]\n#[StartTime: 1400000000.000]\n{}{}",
        line("", "0.500"),
        line("Tag=A,", "0.500"),
        line("", "7.000"),
        line("Tag=A,", "6.000"),
    )
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// Start, offset and tag of each interval, as CSV has them.
fn rows(csv: &str) -> Vec<[String; 3]> {
    let rows = csv.lines().skip(1).map(|line| {
        let fields: Vec<_> = line.split(',').collect();
        [fields[1], fields[2], fields[0]].map(str::to_owned)
    });
    rows.filter(|[_, offset, _]| !offset.is_empty()).collect()
}

#[test]
fn times_that_count_from_start_time_are_read_so_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "a.hlog", log());
    let ran = succeed(&["histogram", &path, "--csv"]);
    let expected = [
        ["1500000040.500", "0.500", ""],
        ["1500000040.500", "0.500", "A"],
        ["1400000007.000", "7.000", ""],
        ["1400000006.000", "6.000", "A"],
    ];
    assert_eq!(rows(&ran.stdout), expected);
    let said = "the times of 4 intervals count from StartTime";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // Those without a tag alone.
    let ran = succeed(&["histogram", &path, "--csv", "--tag", ""]);
    assert_eq!(rows(&ran.stdout), [expected[0], expected[2]]);
}

#[test]
fn a_log_is_written_again_with_all_that_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "a.hlog", log());
    let again = folder.path().join("again.hlog").display().to_string();
    succeed(&["histogram", &path, "-o", &again]);
    let text = fs::read_to_string(&again).unwrap();
    let lines = text.lines().filter(|line| line.starts_with('#'));
    let lines: Vec<&str> = lines.map(|line| line.split('.').next().unwrap()).collect();
    assert_eq!(
        lines[1..],
        [
            "#[of this and that]",
            "#[Histogram log format version 1",
            "#[StartTime: 1500000040",
            "#[BaseTime: 1500000040",
            "#[moved]",
            "#[StartTime: 1400000000",
        ]
    );
    let table = |path: &str| succeed(&["histogram", path, "--csv"]).stdout;
    assert_eq!(table(&again), table(&path));
}

#[test]
fn logs_come_from_standard_input_compressed_and_as_editors_save_them() {
    let folder = tempfile::tempdir().unwrap();
    let plain = write(folder.path(), "a.hlog", log());
    let packed = Command::new("gzip")
        .args(["-c", &plain])
        .output()
        .unwrap()
        .stdout;
    let marked = format!("\u{feff}\r\n  \n{}", log());
    let expected = succeed(&["histogram", &plain, "--csv"]).stdout;
    for (name, bytes) in [
        ("packed", packed.clone()),
        ("a.hlog.gz", packed),
        ("marked", marked.into_bytes()),
        ("crlf", log().replace('\n', "\r\n").into_bytes()),
    ] {
        let path = write(folder.path(), name, &bytes);
        assert_eq!(
            succeed(&["histogram", &path, "--csv"]).stdout,
            expected,
            "{name}"
        );
        let mut piped = command(&["histogram", "-", "--csv"]);
        let ran = Ran::new(piped.stdin(File::open(&path).unwrap()).output().unwrap());
        assert_eq!(
            (ran.code, &ran.stdout),
            (Some(0), &expected),
            "{name}: {}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("standard input: the times"),
            "{}",
            ran.stderr
        );
    }
    // One that is cut short is a log all the same.
    let packed = fs::read(folder.path().join("packed")).unwrap();
    let cut = write(folder.path(), "cut", &packed[..packed.len() - 9]);
    let ran = run(&["histogram", &cut]);
    assert_eq!(ran.code, Some(1));
    assert!(!ran.stderr.contains("unpack it first"), "{}", ran.stderr);
    assert!(ran.stderr.contains("cut"), "{}", ran.stderr);
    let ran = run(&["histogram", &plain, "-", "-"]);
    assert!(ran.stderr.contains("- can be given once"), "{}", ran.stderr);
}

#[test]
fn what_fails_leaves_the_former_file() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = write(folder.path(), "bad.hlog", log() + "nonsense\n");
    let good = write(folder.path(), "good.hlog", log());
    let out = write(folder.path(), "out.hlog", "former");
    let picture = write(folder.path(), "out.svg", "former");
    fs::set_permissions(&picture, fs::Permissions::from_mode(0o640)).unwrap();
    let ran = run(&["histogram", &damaged, "-o", &out, "--plot", &picture]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("line 11: expected a start"),
        "{}",
        ran.stderr
    );
    for path in [&out, &picture] {
        assert_eq!(fs::read_to_string(path).unwrap(), "former");
    }
    let names = || fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names(), 4, "what was begun is removed");
    // A link leads to its file, which keeps its permissions.
    let link = folder.path().join("link.svg").display().to_string();
    std::os::unix::fs::symlink(&picture, &link).unwrap();
    succeed(&["histogram", &good, "-o", &out, "--plot", &link]);
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    let mode = fs::metadata(&picture).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode, fs::read_link(&link).is_ok()), (0o640, true));
    assert!(fs::read_to_string(&out).unwrap().starts_with('#'));
    assert_eq!(names(), 5);
    // What is no file is written to.
    succeed(&["histogram", &good, "-o", "/dev/null"]);
    let ran = run(&["histogram", &good, "-o", "/dev/full"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("cannot write /dev/full: No space left"),
        "{}",
        ran.stderr
    );
    let folder = folder.path().display().to_string();
    let ran = run(&["histogram", &good, "-o", &folder]);
    assert!(ran.code == Some(1), "{}", ran.stderr);
}

#[test]
fn no_tag_and_no_comment_commands_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let tag = "a\u{1b}[31m\u{9b}b\u{202e}c";
    let line = format!("#\u{1b}[2Jcleared\nTag={tag},1.0,1.0,1.0,{V2}\n");
    let path = write(folder.path(), "a.hlog", line);
    for words in [&[][..], &["--csv"], &["--json"]] {
        let ran = succeed(&[&["histogram", &path], words].concat());
        let is_bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!ran.stdout.contains(is_bad), "{words:?}: {:?}", ran.stdout);
        assert!(ran.stdout.contains("[31m"), "{words:?}: {:?}", ran.stdout);
    }
    let rows = succeed(&["histogram", &path, "--json"]).json();
    assert_eq!(rows[0]["tag"], tag, "nothing is lost");
    // There is no such tag in a log that is written; the error is shown as well.
    let ran = run(&["histogram", &path, "-o", "-"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
        "{ran:?}"
    );
    let ran = run(&["histogram", &path, &path, "--plot", "/dev/stdout.svg"]);
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn a_tag_that_no_interval_has_is_refused_with_those_that_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let line = |tag: &str| format!("{tag}1.0,1.0,1.0,{V2}\n");
    let tagged = write(
        folder.path(),
        "a.hlog",
        line("Tag=engine.breath,") + &line("Tag=disk,"),
    );
    let plain = write(folder.path(), "b.hlog", line(""));
    let out = write(folder.path(), "out.hlog", "former");
    for (words, said) in [
        (
            &[&*tagged, "--tag", "engine.braeth"][..],
            "did you mean engine.breath?",
        ),
        (
            &[&tagged, "--tag", "net"],
            "there is no tag net; there are: disk, engine.breath",
        ),
        (
            &[&tagged, "--tag", ""],
            "no interval is without a tag; there are: disk",
        ),
        (
            &[&plain, "--tag", "A"],
            "no interval has a tag, so none has A; leave --tag out",
        ),
        (
            &[&tagged, &plain, "--tag", "Disk", "-o", &out],
            "did you mean disk?",
        ),
    ] {
        let ran = run(&[&["histogram"], words].concat());
        assert_eq!(ran.code, Some(1), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(&out).unwrap(), "former");
    // Where one of them has it, also outside of the range, or there are none, nothing is wrong.
    succeed(&["histogram", &tagged, &plain, "--tag", "disk"]);
    succeed(&["histogram", &tagged, "--tag", "disk", "--start", "1h"]);
    let none = write(folder.path(), "none.hlog", "#[nothing]\n");
    succeed(&["histogram", &none, "--tag", "disk"]);
}

#[test]
fn numbers_of_another_unit_are_told_and_scaled() {
    let folder = tempfile::tempdir().unwrap();
    // 1, 1.5 and 2.25, as DoubleHistogram in Java encodes them.
    let floats = "DHISTwAAAAIAAAAAAAAAAhyEkxQAAAAmeJyTaZkszMDAwMEAAUxQmhFCMf+3b4Cw/jMy1TLNZWQCAGYE\
                  BTQ=";
    let path = write(folder.path(), "a.hlog", format!("1,1,2,{floats}\n"));
    let ran = succeed(&["histogram", &path, "--json"]);
    assert_eq!(ran.json()[0]["max"], 2);
    assert!(
        ran.stderr.contains("rounded to whole nanoseconds"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("floating-point numbers, taken for nanoseconds"),
        "{}",
        ran.stderr
    );
    let ran = succeed(&["histogram", &path, "--json", "--float-unit", "1ms"]);
    let row = &ran.json()[0];
    for (key, exact) in [("min", 1e6), ("p50", 1.5e6), ("max", 2.25e6)] {
        let found = row[key].as_f64().unwrap();
        assert!((found / exact - 1.0).abs() < 0.01, "{key}: {row}");
    }
    assert!(!ran.stderr.contains("floating-point"), "{}", ran.stderr);
}
