//! Makes what goes over connections.

use timeline_archive::SessionFile;
use timeline_archive::{Form, RunState};
use timeline_net::{
    Ack, Beat, ClockAnswer, Hello, RefusalCode, RefusalMessage, Welcome, WireMessage,
};

use super::seeds::archive;

/// What goes over a connection: in each direction, and something else.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let start = SessionFile {
        number: 1,
        magic: 7,
        metadata: vec![("service".into(), "db".into())],
        ..SessionFile::default()
    };
    let state = RunState {
        positions: vec![(0, 9), (5, u64::MAX)],
        gaps: vec![(5, 3)],
        important: vec![1, 7],
    };
    let welcome = Welcome {
        state: Some(state),
        size: Some(1 << 28),
        machine: Some(("boot".into(), "store".into())),
        ..Welcome::default()
    };
    let refusal = RefusalMessage {
        code: RefusalCode::InUse,
        sentence: "in use".into(),
    };
    let (mut sent, mut answers) = (Vec::new(), Vec::new());
    WireMessage::Hello(Hello::default()).put(&mut sent);
    WireMessage::File(start).put(&mut sent);
    sent.extend(archive(7, Form::Plain, 3));
    WireMessage::Bye.put(&mut sent);
    WireMessage::Welcome(welcome).put(&mut answers);
    WireMessage::Ack(Ack::default()).put(&mut answers);
    WireMessage::Beat(Beat {
        question: Some(3),
        ..Beat::default()
    })
    .put(&mut sent);
    WireMessage::Beat(Beat {
        answer: Some(ClockAnswer {
            asked: 3,
            received: 5,
            sent: u64::MAX,
        }),
        ..Beat::default()
    })
    .put(&mut answers);
    WireMessage::Gone.put(&mut answers);
    WireMessage::Refused(refusal).put(&mut answers);
    vec![
        ("sent", sent),
        ("answers", answers),
        ("foreign", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
    ]
}
