//! What a store refuses, and what it does without: other senders, strangers, room, its directory.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use timeline_archive::frames::{self, Checksum};
use timeline_archive::{Archive, Form, SessionFile, WatchMark};
use timeline_net::{
    Acknowledge, Beat, Hello, Inbox, Received, RefusalCode, RefusalMessage, VERSION, WireMessage,
};

use super::place::{
    Place, Program, assert_same, events, eventually, options, output_to, recorder, send, settle,
};
use crate::support::Random;

/// A sender of whatever a test says.
struct Stranger {
    socket: TcpStream,
    inbox: Inbox,
}

impl Stranger {
    fn new(address: SocketAddr) -> Stranger {
        let socket = TcpStream::connect(address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Stranger {
            socket,
            inbox: Inbox::default(),
        }
    }

    fn say(&mut self, message: &WireMessage) {
        let mut bytes = Vec::new();
        message.put(&mut bytes);
        self.write(&bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        // The store may have refused already.
        let _ = self.socket.write_all(bytes);
    }

    /// The next message; `None` at the end.
    fn hear(&mut self) -> Option<WireMessage> {
        let mut bytes = [0; 4096];
        loop {
            if let Some(frame) = self.inbox.next(1 << 20).unwrap() {
                match Received::read(frame.record()).unwrap() {
                    Received::Message(message) => return Some(message),
                    Received::Data => panic!("a store sends no data"),
                }
            }
            match self.socket.read(&mut bytes) {
                Ok(count @ 1..) => self.inbox.receive(&bytes[..count]),
                _ => return None,
            }
        }
    }

    /// The refusal that comes, behind any other messages.
    fn refusal(&mut self) -> RefusalMessage {
        loop {
            match self.hear() {
                Some(WireMessage::Refused(refusal)) => return refusal,
                Some(_) => {}
                None => panic!("the connection ended without a refusal"),
            }
        }
    }
}

fn hello(magic: u64) -> Hello {
    Hello {
        version: VERSION,
        session: [7; 16],
        magic,
        acknowledge: Acknowledge::Written,
        ..Hello::default()
    }
}

fn file(magic: u64) -> WireMessage {
    WireMessage::File(SessionFile {
        session: [7; 16],
        number: 1,
        magic,
        metadata: Vec::new(),
    })
}

/// A frame that a store has to keep if it does not know it.
fn unknown_record() -> Vec<u8> {
    let mut frame = Vec::new();
    frames::put(&[99, 0x81, 1, 2], &mut Checksum::default(), &mut frame);
    frame
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let place = Place::new();
    let refused = |what: &str, say: &dyn Fn(&mut Stranger)| {
        let mut stranger = Stranger::new(place.address);
        say(&mut stranger);
        let refusal = stranger.refusal();
        assert_eq!(refusal.code, RefusalCode::Protocol, "{what}");
        assert!(
            refusal.sentence.starts_with("expected "),
            "{what}: {refusal:?}"
        );
        assert_eq!(stranger.hear(), None, "{what}");
    };
    refused("a browser", &|s| s.write(b"GET / HTTP/1.1\r\n\r\n"));
    refused("another message", &|s| {
        s.say(&WireMessage::Beat(Beat::default()))
    });
    refused("data before a hello", &|s| s.write(&unknown_record()));
    refused("a long hello", &|s| {
        s.write(&[0xc1, 0xce, 0, 0, 0, 0, 0xc1, 0xdb, 0, 0xff, 0xff, 0xff]);
    });
    refused("a later version", &|s| {
        let version = VERSION + 1;
        s.say(&WireMessage::Hello(Hello {
            version,
            ..hello(1)
        }));
    });
    refused("who hears nothing", &|s| {
        let acknowledge = Acknowledge::Nothing;
        s.say(&WireMessage::Hello(Hello {
            acknowledge,
            ..hello(1)
        }));
    });
    refused("data before a file", &|s| {
        s.say(&WireMessage::Hello(hello(2)));
        s.write(&unknown_record());
    });
    refused("another file", &|s| {
        s.say(&WireMessage::Hello(hello(3)));
        s.say(&WireMessage::File(SessionFile {
            session: [8; 16],
            ..SessionFile::default()
        }));
    });
    refused("the file of another run", &|s| {
        s.say(&WireMessage::Hello(hello(6)));
        s.say(&file(7));
    });
    refused("damage", &|s| {
        s.say(&WireMessage::Hello(hello(4)));
        s.say(&file(4));
        let mut frame = unknown_record();
        *frame.last_mut().unwrap() ^= 1;
        s.write(&frame);
    });
    refused("no preamble", &|s| {
        s.say(&WireMessage::Hello(hello(5)));
        s.say(&file(5));
        (0..100_000).for_each(|_| s.write(&unknown_record()));
    });
    assert!(place.traces().is_empty(), "{:?}", place.traces());
    // It goes on.
    let mut program = Program::new("sense", 1024);
    program.log(5);
    send(&program, &options(place.address), Form::Blocks);
    assert_same(
        &events(&place.trace()),
        &program.recorded_here(),
        "after all",
    );
}

#[test]
fn any_bytes_leave_a_store_at_work() {
    let place = Place::new();
    let mut random = Random(u64::from(std::process::id()));
    for round in 0..200 {
        let mut stranger = Stranger::new(place.address);
        if round % 2 == 0 {
            stranger.say(&WireMessage::Hello(hello(random.next())));
        }
        let mut bytes = Vec::new();
        for _ in 0..random.below(20) {
            match random.below(4) {
                0 => file(random.next()).put(&mut bytes),
                1 => bytes.extend(unknown_record()),
                2 => WireMessage::Bye.put(&mut bytes),
                _ => bytes.extend((0..random.below(40)).map(|_| random.next() as u8)),
            }
        }
        stranger.write(&bytes);
    }
    let mut program = Program::new("bytes", 1024);
    program.log(5);
    send(&program, &options(place.address), Form::Blocks);
    let own = place.traces().into_iter().find(|trace| {
        let archive = Archive::open(trace);
        archive.is_ok_and(|archive| archive.events().count() > 0)
    });
    assert_same(
        &events(&own.unwrap()),
        &program.recorded_here(),
        "after all",
    );
}

#[test]
fn a_run_has_one_sender_and_a_second_one_is_told_who() {
    let mut program = Program::new("two", 1024);
    program.log(10);
    let place = Place::new();
    let at = program.name.attach();
    let first_options = options(place.address);
    let mut first = output_to(&first_options);
    let mut recorder = recorder(&at, &mut first, Form::Blocks);
    settle(&mut recorder);
    let mut second = output_to(&first_options);
    eventually("a refusal", || {
        let error = second.prepare(&at).unwrap_err();
        assert!(error.is_pending(), "{error}");
        second.trouble().is_some()
    });
    let trouble = second.trouble().unwrap().error.to_string();
    assert!(
        trouble.starts_with("127.0.0.1:") && trouble.ends_with("sends this run already"),
        "{trouble}"
    );
    program.log(10);
    settle(&mut recorder);
    recorder.finish();
    // The place is free.
    eventually("the second sender", || second.prepare(&at).is_ok());
    assert_same(
        &events(&place.trace()),
        &program.recorded_here(),
        "by the first",
    );
}

#[test]
fn a_session_that_a_store_does_not_know_begins_anew() {
    let mut program = Program::new("unknown", 1024);
    program.log(10);
    let place = Place::new();
    let mut stranger = Stranger::new(place.address);
    stranger.say(&WireMessage::Hello(Hello {
        file: 2,
        acknowledged: 77,
        ..hello(9)
    }));
    assert_eq!(stranger.refusal().code, RefusalCode::UnknownSession);

    // The directory of the run is removed while it is sent: all that is in the ring comes again.
    let at = program.name.attach();
    let first_options = options(place.address);
    let mut output = output_to(&first_options);
    let mut first = recorder(&at, &mut output, Form::Blocks);
    settle(&mut first);
    std::fs::remove_dir_all(place.trace()).unwrap();
    program.log(10);
    eventually("the recorder to know", || {
        first.step();
        first.flush();
        first.is_cut_off()
    });
    first.finish_at_once();
    program.log(10);
    let mut second = recorder(&at, &mut output, Form::Blocks);
    settle(&mut second);
    let totals = second.finish();
    assert_eq!((totals.events, totals.missed, totals.unsent), (33, 0, 0));
    assert_same(
        &events(&place.trace()),
        &program.recorded_here(),
        "all of it",
    );
}

/// Whoever watches a run at the store need not wait until a block is full.
#[test]
fn a_recorder_knows_that_its_run_is_watched_at_the_store() {
    let mut program = Program::new("watched", 1024);
    program.log(10);
    let place = Place::new();
    let at = program.name.attach();
    let options = options(place.address);
    let mut output = output_to(&options);
    let mut recorder = recorder(&at, &mut output, Form::Blocks);
    settle(&mut recorder);
    assert!(!recorder.is_watched());
    let watched = WatchMark::new(&place.trace());
    watched.renew().unwrap();
    eventually("the recorder to know", || {
        recorder.step();
        recorder.is_watched()
    });
    watched.end();
    eventually("the end of it", || {
        recorder.step();
        !recorder.is_watched()
    });
}
