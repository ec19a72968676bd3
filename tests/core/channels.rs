//! Channels: how many there can be, and how the environment switches them.

use timeline::{Attached, Attributes, Error, Priority, Timeline};

use crate::support::{Name, Process, say};

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

/// Makes a timeline as its environment says, and says what is in force.
fn as_the_environment_says(given: &[String]) {
    let timeline = Timeline::with_size(&given[0], 256, 2048).expect("created all the same");
    let channels = timeline.control().channels().into_iter();
    let channels: Vec<_> = channels.map(|c| format!("{}={}", c.name, c.on)).collect();
    say(format!("{} {}", channels.join(","), timeline.rules()));
}

#[test]
fn the_environment_switches_channels_and_sets_rules() {
    for (variable, expected) in [
        ("itv,bbc:packet", "itv=true,bbc=true packet"),
        ("-itv", "itv=false all"),
        (":info,net=packet", " info,net=packet"),
        ("", " all"),
        (" ", " all"),
        // Not understood: nothing of it is followed, and the program runs.
        ("itv:pakcet", " all"),
        ("itv,,bbc", " all"),
    ] {
        let name = Name::new("environment");
        let environment = [("TIMELINE", variable)];
        let mut child = Process::start_with(as_the_environment_says, &[name.path()], &environment);
        assert_eq!(child.line(), expected, "{variable}");
        child.finish();
    }
}
