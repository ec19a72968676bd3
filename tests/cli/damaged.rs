//! Archives that are damaged, of several programs, or none at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use timeline_archive::{Form, Preamble, RawEvent, Writer};

use crate::command::*;
use crate::mixture::Mixture;
use crate::support::Name;

/// An archive of single events, whose program has ended.
fn plain(test: &str) -> (Mixture, String) {
    let mut mixture = Mixture::new(test);
    mixture.log(20);
    mixture.end();
    let archive = mixture.record(mixture.name.path(), "plain.tla", &["--plain"]);
    (mixture, archive)
}

/// Where frames begin, but for those that only look like it.
pub fn frames(bytes: &[u8]) -> Vec<usize> {
    let marks = bytes.windows(7).enumerate();
    let marks = marks.filter(|(_, at)| at.starts_with(&[0xc1, 0xce]) && at[6] == 0xc1);
    marks.map(|(at, _)| at).collect()
}

#[test]
fn a_block_of_another_codec_is_not_damage() {
    let (mixture, archive) = plain("codec");
    let verified = &succeed(&["verify", "--json", &archive]).json()[0];
    assert_eq!(verified["events_of_other_codecs"], 0);
    let magic = verified["programs"][0]["magic"].as_str().unwrap();
    assert!(magic.len() == 18 && magic.starts_with("0x"), "{magic}");
    let info = succeed(&["info", "--json", &archive]).json();
    assert_eq!(info[0]["programs"][0]["magic"], magic);

    let of = u64::from_str_radix(&magic[2..], 16).unwrap().to_be_bytes();
    let block = [
        b"\x10\x84\x01\xcf",
        &of[..],
        b"\x02\xa4zstd\x04\x05\x09\xc4\x01\x00",
    ]
    .concat();
    let sum = crc32fast::hash(&block).to_be_bytes();
    let head = [&[0xc1, 0xce][..], &sum, &[0xc1, 0xa0 + block.len() as u8]].concat();
    let bytes = [&fs::read(&archive).unwrap()[..], &head, &block].concat();
    let newer = mixture.path("newer.tla");
    fs::write(&newer, bytes).unwrap();

    let ran = run(&["verify", "--json", &newer]);
    assert_eq!(ran.code, Some(1));
    let said = ran.stderr.trim_end();
    assert!(said.contains("is whole"), "{said}");
    assert!(
        said.ends_with(
            "5 events in blocks of a codec not known here; a later version may read them"
        ),
        "{said}"
    );
    let told = &ran.json()[0];
    assert_eq!(told["events"], verified["events"]);
    assert_eq!(told["events_lost_in_blocks"], 0);
    assert_eq!(told["events_of_other_codecs"], 5);
    let dumped = lacking(&["dump", "--json", &newer]);
    assert!(dumped.stderr.contains("not known here"), "{dumped:?}");
    assert_eq!(dumped.stdout, succeed(&["dump", "--json", &archive]).stdout);
}

/// Each way to read a damaged archive tells its damage once.
fn assert_told_once(damaged: &str) {
    let hows: [&[&str]; 6] = [
        &["dump", damaged, "--line", "0"],
        &["dump", damaged, "--reverse"],
        &["search", damaged, "a"],
        &["events", damaged],
        &["outliers", damaged],
        &["stats", damaged],
    ];
    for how in hows {
        let said = run(how).stderr;
        let told = said.matches("belong to no whole frame").count();
        assert_eq!(told, 1, "{how:?}: {said}");
    }
}

#[test]
fn damage_is_told_and_left_out() {
    let (mixture, archive) = plain("damage");
    let whole = succeed(&["dump", "--json", &archive]).stdout;
    let verified = succeed(&["verify", &archive]);
    assert_eq!(verified.stderr, "");
    // Several runs of one program differ by that.
    let program = verified
        .stdout
        .lines()
        .find(|line| line.contains("program"));
    let program = program.unwrap();
    let own = format!(
        " ({}), {}, created 20",
        std::process::id(),
        mixture.name.path()
    );
    assert!(program.contains(&own), "{program}: {own}");
    let mut bytes = fs::read(&archive).unwrap();
    let frames = frames(&bytes);
    // An event in the middle, which is not the first of its kind, and the end of the last one.
    let (from, to) = (frames[frames.len() / 2], frames[frames.len() / 2 + 1]);
    bytes[from + 20] ^= 1;
    let last = frames[frames.len() - 1];
    bytes.truncate(bytes.len() - 3);
    let damaged = mixture.path("damaged.tla");
    fs::write(&damaged, &bytes).unwrap();

    let read = lacking(&["dump", "--json", &damaged]);
    assert!(
        read.stderr.contains("in 2 places belong to no whole frame"),
        "{read:?}"
    );
    assert_told_once(&damaged);
    let ran = run(&["verify", "--json", &damaged]);
    assert_eq!(
        (ran.code, ran.stderr.lines().count()),
        (Some(1), 1),
        "{ran:?}"
    );
    let told = &ran.json()[0];
    assert_eq!(
        told["damage"],
        serde_json::json!([[from, to], [last, bytes.len()]])
    );
    assert_eq!(told["damaged_bytes"], to - from + bytes.len() - last);
    assert_eq!(told["events"], read.stdout.lines().count());
    assert!(
        run(&["verify", &damaged])
            .stdout
            .contains(&format!("from byte {} on", thousands(from)))
    );
    let info = lacking(&["info", "--json", &damaged]).json();
    assert_eq!(info[0]["damaged_places"], 2);
    // Nothing came out that was not logged, and all else did.
    let found = read.json();
    let logged: Vec<_> = whole
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .collect();
    assert_eq!(found.len() + 2, logged.len());
    let same = |one: &serde_json::Value, other: &serde_json::Value| {
        ["ticks", "tid", "message", "args", "time"]
            .iter()
            .all(|field| one[field] == other[field])
    };
    let mut rest = logged.iter();
    assert!(
        found
            .iter()
            .all(|event| rest.any(|logged| same(event, logged)))
    );

    let said = format!("without {} bytes of damage", told["damaged_bytes"]);
    is_repaired(&mixture, &damaged, &said, &read.stdout);
}

/// What `repair` and `save` make of an archive with damage: they say so, and keep its events.
fn is_repaired(mixture: &Mixture, damaged: &str, expected: &str, events: &str) {
    let repaired = mixture.path("repaired.tla");
    let said = succeed(&["repair", damaged, "-o", &repaired]).stderr;
    assert!(said.contains(expected), "{said}");
    assert_eq!(
        fs::metadata(&repaired).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(succeed(&["dump", "--json", &repaired]).stdout, events);
    succeed(&["verify", &repaired]);
    let kept = fs::read(&repaired).unwrap();
    let message = fail(&["repair", damaged, "-o", &repaired]);
    assert!(message.contains("exists"), "{message}");
    assert_eq!(fs::read(&repaired).unwrap(), kept);
    let (again, saved) = (mixture.path("again.tla"), mixture.path("saved.tla"));
    succeed(&["repair", &repaired, "-o", &again]);
    assert_eq!(fs::read(&again).unwrap(), kept);
    // An archive that stood there is replaced, and a timeline is not.
    fs::copy(&repaired, &saved).unwrap();
    let said = lacking(&["save", damaged, &saved]).stderr;
    assert!(said.contains("to no whole frame"), "{said}");
    // Nobody has said that what is missing there does not matter.
    assert_eq!(lacking(&["dump", "--json", &saved]).stdout, events);
    assert_eq!(
        fs::metadata(&saved).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let used = Name::new("damage-used");
    let timeline = used.create(256);
    let file = format!("/dev/shm{}", used.path());
    assert!(fail(&["save", damaged, &file]).contains("it is a timeline"));
    drop(timeline);
}

fn thousands(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}

#[test]
fn nothing_is_written_of_an_archive_without_a_whole_frame() {
    let (mixture, archive) = plain("frameless");
    let bytes = fs::read(&archive).unwrap();
    let second = frames(&bytes)[1];
    for (name, length) in [("cut.tla", second - 1), ("mark.tla", 1), ("head.tla", 7)] {
        let broken = mixture.path(name);
        fs::write(&broken, &bytes[..length]).unwrap();
        let out = mixture.path("out.tla");
        for args in [
            &["repair", &broken, "-o", &out][..],
            &["save", &broken, &out],
        ] {
            let said = fail(args);
            assert!(
                said.contains(&broken) && said.contains("no whole frame"),
                "{said}"
            );
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(!Path::new(&out).exists(), "{args:?}");
        }
        // What stands there stays.
        fs::write(&out, "something else").unwrap();
        fail(&["save", &broken, &out]);
        fail(&["repair", &broken, "-o", &out]);
        assert_eq!(fs::read(&out).unwrap(), b"something else");
        fs::remove_file(&out).unwrap();
        assert_eq!(run(&["verify", &broken]).code, Some(1));
    }
    // One is enough.
    let one = mixture.path("one.tla");
    fs::write(&one, &bytes[..second + 5]).unwrap();
    let out = mixture.path("out.tla");
    succeed(&["repair", &one, "-o", &out]);
    assert_eq!(fs::read(&out).unwrap(), bytes[..second]);
}

#[test]
fn archives_joined_are_the_archives_whichever_preamble_is_lost() {
    let archives = ["joined-1", "joined-2", "joined-3"].map(plain);
    let mut all = Vec::new();
    for (_, archive) in &archives {
        all.extend(fs::read(archive).unwrap());
    }
    // In the preamble of the first.
    all[30] ^= 1;
    let joined = archives[0].0.path("joined.tla");
    fs::write(&joined, all).unwrap();
    let lines = |path: &str| {
        let dump = ["dump", "--json", path];
        let ran = if path == joined {
            lacking(&dump)
        } else {
            succeed(&dump)
        };
        let mut lines = ran.json();
        let sort = |line: &serde_json::Value| {
            (crate::json::nanos(&line["unix_ns"]), line["ticks"].as_u64())
        };
        assert!(lines.is_sorted_by_key(|line| std::cmp::Reverse(sort(line))));
        for line in &mut lines {
            let fields = line.as_object_mut().unwrap();
            // Of the rings on either side, and of the preamble.
            fields.retain(|name, _| {
                !["cycles", "definition", "host", "timeline", "node"].contains(&name.as_str())
            });
        }
        lines
    };
    let mut apart: Vec<_> = archives.iter().flat_map(|(_, path)| lines(path)).collect();
    let mut together = lines(&joined);
    let key = |line: &serde_json::Value| (line["ticks"].as_u64(), line.to_string());
    apart.sort_by_key(key);
    together.sort_by_key(key);
    assert_eq!(together, apart);
    let timelines: Vec<_> = lacking(&["dump", "--json", &joined]).json();
    let of = |name: serde_json::Value| {
        timelines
            .iter()
            .filter(|line| line["timeline"] == name)
            .count()
    };
    assert_eq!(of(serde_json::Value::Null) as i64, archives[0].0.logged);
    assert_eq!(
        of(archives[1].0.name.path().into()) as i64,
        archives[1].0.logged
    );
    let info = lacking(&["info", &joined]).stdout;
    assert!(info.contains("its preamble was lost"), "{info}");
    assert!(
        run(&["verify", &joined])
            .stdout
            .contains(archives[2].0.name.path())
    );
}

/// The archive of a program on another machine: an event each microsecond.
fn on(host: &str, magic: u64, first: u64) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, magic, Form::Blocks);
    writer.preamble(&Preamble {
        magic: Some(magic),
        host: Some(host.into()),
        boot_id: Some(format!("boot of {host}")),
        timeline: Some("/program".into()),
        ..Preamble::default()
    });
    let (format, name) = (writer.string("number $n"), writer.string("worker"));
    for n in 0..5 {
        let mut event = RawEvent {
            // The clock of one machine is far behind.
            ticks: Some((magic << 40) + n * 100),
            unix_nanos: Some(1_700_000_000_000_000_000 + first + 2_000 * n),
            args: vec![n as i64],
            ..RawEvent::default()
        };
        event.definition.format = Some(format);
        event.thread.name = Some(name);
        event.thread.process = Some(name);
        event.thread.tid = Some(7);
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    file
}

#[test]
fn events_of_several_machines_are_in_the_order_of_the_wall_clock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both.tla").display().to_string();
    fs::write(&path, [on("left", 9, 0), on("right", 2, 1_000)].concat()).unwrap();
    for (verb, newest_first) in [("dump", true), ("tail", false)] {
        let hosts = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|host| host.to_string()).collect()
        };
        let mut expected: Vec<_> = ["left", "right"].into_iter().cycle().take(10).collect();
        if newest_first {
            expected.reverse();
        }
        let json = succeed(&[verb, "--json", &path]).json();
        let found: Vec<_> = json
            .iter()
            .map(|line| line["host"].as_str().unwrap().to_string())
            .collect();
        assert_eq!(hosts(&found), expected, "{verb}");
        // Ticks of two machines have no difference.
        assert!(
            json.iter()
                .all(|line| line["cycles"].is_null() && line["timeline"] == "/program"),
            "{json:?}"
        );
        let long = succeed(&[verb, "--long", &path]).stdout;
        let lines: Vec<_> = long
            .lines()
            .filter(|line| line.contains("number"))
            .collect();
        for (line, host) in lines.iter().zip(&expected) {
            assert!(line.contains(&format!(" {host}:worker 7 ")), "{line}");
        }
        assert_eq!(lines.len(), 10);
    }
}

#[test]
fn a_directory_may_have_more_files_than_a_process_may_open() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=600 {
        let file = format!("timeline-{number:06}.tla");
        let archive = on("left", number, 20_000 * (number * 7 % 600));
        fs::write(folder.path().join(file), archive).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    for (args, expected) in [
        (vec!["dump", "--json", path], 3_000),
        (vec!["tail", "--json", path, "-n", "2999"], 2_999),
    ] {
        let mut limited = std::process::Command::new("prlimit");
        limited.args(["--nofile=300", env!("CARGO_BIN_EXE_timeline")]);
        let ran = Ran::new(limited.args(args).output().unwrap());
        let lines = ran.stdout.lines().count();
        assert_eq!((ran.code, lines), (Some(0), expected), "{}", ran.stderr);
        let time = |line: &serde_json::Value| crate::json::nanos(&line["unix_ns"]);
        let mut times: Vec<_> = ran.json().iter().map(time).collect();
        times.dedup();
        assert_eq!(times.len(), expected);
        assert!(times.is_sorted() || times.is_sorted_by(|one, other| one > other));
    }
}

#[test]
fn what_is_no_archive_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("empty"), "").unwrap();
    fs::write(path("zeros"), [0; 100_000]).unwrap();
    let noise: Vec<u8> = (0..100_000u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect();
    fs::write(path("noise"), noise).unwrap();
    fs::create_dir(path("nothing")).unwrap();
    fs::create_dir(path("of-nothing")).unwrap();
    fs::write(path("of-nothing/timeline-000001.tla"), "").unwrap();
    mkfifo(&path("fifo"), Mode::S_IRWXU).unwrap();
    let out = path("out").display().to_string();
    for name in [
        "empty",
        "zeros",
        "noise",
        "nothing",
        "of-nothing",
        "fifo",
        "missing",
        "-",
    ] {
        let from = path(name).display().to_string();
        for verb in ["dump", "tail", "info", "verify"] {
            fail(&[verb, &from]);
        }
        fail(&["save", &from, &out]);
        fail(&["repair", &from, "-o", &out]);
        assert!(!Path::new(&out).exists(), "{name}");
    }
    // Of a directory, what is there is read, and nothing is written among it.
    let (mixture, archive) = plain("no-archive");
    let folder = mixture.path("of-nothing");
    fs::create_dir(&folder).unwrap();
    fs::copy(&archive, format!("{folder}/timeline-000001.tla")).unwrap();
    fs::write(format!("{folder}/timeline-000002.tla"), "").unwrap();
    assert_eq!(
        succeed(&["dump", &folder]).stdout,
        succeed(&["dump", &archive]).stdout
    );
    let inside = format!("{folder}/all.tla");
    for args in [
        ["save", &folder, &inside].as_slice(),
        &["repair", &folder, "-o", &inside],
    ] {
        assert!(fail(args).contains("twice"));
    }
    succeed(&["repair", &folder, "-o", &out]);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&archive).unwrap());
}
