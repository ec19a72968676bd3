//! Channels: how many there can be, and how the environment switches them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use timeline::{Attached, Attributes, Error, EventId, Level, Priority, Timeline};

use crate::support::user::are_root;
use crate::support::{Name, Process, copy_program, place, say};

#[test]
fn a_channel_for_which_there_is_no_room_is_refused_and_nothing_is_defined() {
    let name = Name::new("channels");
    let timeline = Timeline::with_size(name.path(), 256, 4096).expect("created");
    for i in 0..63 {
        timeline
            .channel(&format!("c{i}"), i % 2 == 0)
            .expect("room");
    }
    let attached = Attached::open(name.path()).expect("attached");
    let used = || (attached.info().definitions, attached.info().string_bytes);
    let before = used();
    let define = |channels: &str| {
        let attributes = Attributes {
            channels,
            ..Attributes::default()
        };
        timeline.define_with("net", Priority::Info, "sent", &attributes)
    };
    let error = define("c1|new|newer").expect_err("64 at most");
    assert!(
        matches!(&error, Error::ChannelTableFull { name, capacity: 64, .. } if name == "newer"),
        "{error}"
    );
    let told = error.to_string();
    assert!(
        told.contains("has 63 of at most 64 channels, and this needs 2 more"),
        "{told}"
    );
    assert_eq!(used(), before);
    let last = define("new|c62").expect("the last channel");
    assert!(timeline.channel("newer", true).is_err());
    timeline.channel("new", true).expect("switched");
    assert!(timeline.enabled(last));
    assert_eq!(define("c62|new").expect("the same"), last);
    assert_ne!(define("c62").expect("another"), last);
    let channels = attached.info().channels;
    assert_eq!((channels.len(), channels[63].name.as_str()), (64, "new"));
    assert_eq!(
        attached.definition(last).map(|d| d.channels.as_str()),
        Some("c62|new")
    );
    for wrong in ["", "a b", "-a", "a|b", &"x".repeat(33)] {
        assert!(matches!(
            timeline.channel(wrong, true),
            Err(Error::BadChannel { .. })
        ));
    }
}

/// The channels that there are, and the rules.
fn in_force(timeline: &Timeline) -> String {
    let channels = timeline.control().channels().into_iter();
    let channels: Vec<_> = channels.map(|c| format!("{}={}", c.name, c.on)).collect();
    format!("{} {}", channels.join(","), timeline.rules())
}

/// Makes a timeline as its environment says, and says what is in force, before and after it defines
/// an event of two channels.
fn as_the_environment_says(given: &[String]) {
    let timeline = Timeline::with_size(&given[0], 256, 2048).expect("created all the same");
    say(in_force(&timeline));
    on_air(&timeline, "itv|bbc");
    say(in_force(&timeline));
}

fn on_air(timeline: &Timeline, channels: &str) -> EventId {
    let attributes = Attributes {
        channels,
        ..Attributes::default()
    };
    let defined = timeline.define_with("news", Priority::Info, "on air", &attributes);
    defined.expect("defined")
}

#[test]
fn the_environment_switches_channels_and_sets_rules() {
    for (variable, before, after) in [
        ("itv,bbc:packet", " packet", "itv=true,bbc=true packet"),
        ("-itv", " all", "itv=false,bbc=false all"),
        ("bbc", " all", "itv=false,bbc=true all"),
        (
            ":info,net=packet",
            " info,net=packet",
            "itv=false,bbc=false info,net=packet",
        ),
        ("", " all", "itv=false,bbc=false all"),
        (" ", " all", "itv=false,bbc=false all"),
        // A level is one where a channel is expected, too.
        ("info", " info", "itv=false,bbc=false info"),
        ("itv,none", " none", "itv=true,bbc=false none"),
        // Not understood: nothing of it is followed, and the program runs.
        ("itv:pakcet", " all", "itv=false,bbc=false all"),
        ("itv,,bbc", " all", "itv=false,bbc=false all"),
        ("INFO", " all", "itv=false,bbc=false all"),
    ] {
        let name = Name::new("environment");
        let environment = [("TIMELINE", variable)];
        let mut child = Process::start_with(as_the_environment_says, &[name.path()], &environment);
        assert_eq!([child.line(), child.line()], [before, after], "{variable}");
        child.finish();
    }
}

/// What a role says on standard error, with this variable.
fn said_of(variable: &OsStr) -> String {
    let name = Name::new("said");
    let ran = Command::new(std::env::current_exe().expect("our own path"))
        .env("TIMELINE_TEST_ROLE", place(as_the_environment_says))
        .env("TIMELINE", variable)
        .arg(name.path())
        .output()
        .expect("ran");
    assert!(ran.status.success());
    String::from_utf8(ran.stderr).expect("plain text")
}

#[test]
fn what_is_not_followed_or_means_something_else_is_told_in_a_few_words() {
    let said = said_of("itv,info:-a.b".as_ref());
    assert!(said.contains("info is taken for a level"), "{said}");
    let said = said_of("itv,inof".as_ref());
    assert!(
        said.contains("inof is taken for a channel; if the level info is meant"),
        "{said}"
    );
    let said = said_of("info,net=packet".as_ref());
    assert!(
        said.contains("rules stand behind a colon, as in :info,net=packet"),
        "{said}"
    );
    let said = said_of("INFO".as_ref());
    assert!(said.contains("unknown level \"INFO\""), "{said}");
    let said = said_of("\x1b[2J".as_ref());
    assert!(
        said.contains("is ignored") && !said.contains('\x1b'),
        "{said}"
    );
    let said = said_of(OsStr::from_bytes(b"itv,\xff\xfe"));
    assert!(said.contains("is ignored"), "{said}");
    let said = said_of("x,".repeat(60_000).as_ref());
    assert!(said.contains("120000 bytes") && said.len() < 200, "{said}");
    for followed in ["", "itv", ":info", "itv:info", "inof:", "itv2"] {
        assert_eq!(said_of(followed.as_ref()), "", "{followed}");
    }
}

/// Joins a timeline with what the environment says of it, and defines an event of the channel itv.
fn joins(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    on_air(&timeline, "itv");
    say(in_force(&timeline));
}

#[test]
fn no_variable_uses_up_channels_or_rules() {
    let name = Name::new("used-up");
    let timeline = name.create(256);
    for round in 0..4 {
        let channels: Vec<_> = (0..63).map(|n| format!("c{round}.{n}")).collect();
        let rules: Vec<_> = (0..20).map(|n| format!("r{round}.{n}=info")).collect();
        for variable in [channels.join(","), format!(":{}", rules.join(","))] {
            let environment = [("TIMELINE", variable.as_str())];
            let mut child = Process::start_with(joins, &[name.path()], &environment);
            child.line();
            child.finish();
        }
    }
    let channels = timeline.control().channels();
    assert_eq!(channels.len(), 1, "{channels:?}");
    let rules = "q".repeat(200);
    timeline
        .switch(&format!("{rules}=info").parse().expect("a rule"))
        .expect("there is room for what an operator asks for");
}

#[test]
fn a_wish_is_granted_once_and_changes_nothing_that_somebody_switched() {
    let name = Name::new("wish");
    let timeline = name.create(256);
    let joins = |variable| {
        let mut child = Process::start_with(joins, &[name.path()], &[("TIMELINE", variable)]);
        let line = child.line();
        child.finish();
        line
    };
    // Another process has defined the event already.
    on_air(&timeline, "itv");
    assert_eq!(joins("bbc"), "itv=false all");
    assert_eq!(joins("itv"), "itv=true all");
    timeline.channel("itv", false).expect("switched");
    assert_eq!(joins("bbc,itv2"), "itv=false all");
    // Who asks for it when a program starts asks later.
    assert_eq!(joins("itv"), "itv=true all");
}

/// Says whether this program has more rights than who started it.
fn says_what_it_reads(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    on_air(&timeline, "itv");
    let variable = timeline::internal::variable("TIMELINE");
    say(format!("{variable:?} {}", in_force(&timeline)));
}

#[test]
fn the_environment_of_a_setuid_program_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = nix::sys::statvfs::statvfs(folder.path())
        .expect("a file system")
        .flags();
    if !are_root() || flags.contains(nix::sys::statvfs::FsFlags::ST_NOSUID) {
        eprintln!("not run: no program here can have more rights than who starts it");
        return;
    }
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("open");
    let program = folder.path().join("setuid");
    copy_program(std::env::current_exe().expect("our own path"), &program);
    let name = Name::new("setuid");
    let timeline = name.create(256);
    let run = |mode: u32, user: u32| {
        std::fs::set_permissions(&program, PermissionsExt::from_mode(mode)).expect("set");
        let ran = Command::new(&program)
            .uid(user)
            .env("TIMELINE_TEST_ROLE", place(says_what_it_reads))
            .env("TIMELINE", "itv:none")
            .arg(name.path())
            .output();
        let ran = ran.expect("ran");
        assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
        String::from_utf8(ran.stdout).expect("plain text")
    };
    assert_eq!(run(0o4755, 65534), "None itv=false all\n");
    assert_eq!(timeline.level(), Level::ALL);
    // Root may do this to its own program.
    assert_eq!(run(0o755, 0), "Some(\"itv:none\") itv=true none\n");
}
