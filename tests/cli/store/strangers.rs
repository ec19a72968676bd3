//! What a sender makes of whatever answers in the place of a store.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use timeline_archive::{Form, Recorder, RunState};
use timeline_net::{Ack, Beat, Inbox, MAX_HELLO, Received, VERSION, Welcome, WireMessage};

use super::place::{Program, eventually, options, output_to, recorder};

/// Answers each connection in this way.
fn stranger(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It ends with the process.
    thread::spawn(move || {
        thread::scope(|scope| {
            for socket in listener.incoming().map_while(Result::ok) {
                scope.spawn(|| answer(socket));
            }
        });
    });
    address
}

fn bytes_of(messages: &[WireMessage]) -> Vec<u8> {
    let mut bytes = Vec::new();
    messages.iter().for_each(|message| message.put(&mut bytes));
    bytes
}

fn welcome() -> Welcome {
    Welcome {
        version: VERSION,
        ..Welcome::default()
    }
}

fn steps(recorder: &mut Recorder, count: u32) {
    for _ in 0..count {
        recorder.step();
        recorder.flush();
    }
}

#[test]
fn a_store_that_never_stops_talking_keeps_no_recorder_from_its_ring() {
    let mut program = Program::new("talks", 1024);
    let address = stranger(|mut socket| {
        let beats = vec![WireMessage::Beat(Beat::default()); 10_000];
        let _ = socket.write_all(&bytes_of(&[WireMessage::Welcome(welcome())]));
        while socket.write_all(&bytes_of(&beats)).is_ok() {}
    });
    let (at, options) = (program.name.attach(), options(address));
    let mut output = output_to(&options);
    let mut recorder = recorder(&at, &mut output, Form::Blocks);
    program.log(50);
    steps(&mut recorder, 50);
    assert_eq!(recorder.unread(), 0);
    // Nothing was acknowledged, so nothing counts as recorded.
    let totals = recorder.finish_at_once();
    assert_eq!((totals.events, totals.unsent), (3, 50), "{totals:?}");
}

#[test]
fn a_store_that_makes_no_sense_does_no_harm() {
    let odd = Welcome {
        file: 7,
        written: u64::MAX,
        state: Some(RunState {
            positions: vec![(0, u64::MAX), (u64::MAX, 3), (5, 1 << 40)],
            gaps: vec![(9, 9)],
            important: vec![u64::MAX, 0],
        }),
        size: Some(0),
        age: Some(0),
        ..welcome()
    };
    let far = Ack {
        file: u64::MAX,
        written: u64::MAX,
        durable: u64::MAX,
    };
    let odd = WireMessage::Welcome(odd);
    let cases: Vec<Vec<u8>> = vec![
        bytes_of(&[odd.clone(), odd.clone(), WireMessage::Ack(far)]),
        bytes_of(&[odd.clone(), WireMessage::Gone, WireMessage::Gone]),
        bytes_of(&[odd, WireMessage::Bye, WireMessage::Unknown]),
    ];
    for (number, bytes) in cases.into_iter().enumerate() {
        let mut program = Program::new("odd", 1024);
        let address = stranger(move |mut socket| {
            let _ = socket.write_all(&bytes);
            // Until the sender closes it.
            let _ = socket.read_to_end(&mut Vec::new());
        });
        let (at, options) = (program.name.attach(), options(address));
        let mut output = output_to(&options);
        let mut recorder = recorder(&at, &mut output, Form::Plain);
        program.log(200);
        steps(&mut recorder, 50);
        recorder.finish_at_once();
        drop(output);
        assert!(program.name.attach().intact().is_ok(), "case {number}");
    }
}

/// The connection breaks while the system has no room for more of what is sent.
#[test]
fn a_connection_that_breaks_amid_a_frame_is_followed_by_a_whole_one() {
    let mut program = Program::new("amid", 1 << 17);
    let (send_break, breaks) = channel::<()>();
    let (send_hello, hellos) = channel::<WireMessage>();
    let (breaks, hellos_to) = (Mutex::new(breaks), Mutex::new(send_hello));
    let number = AtomicU64::new(0);
    let address = stranger(move |mut socket| {
        if number.fetch_add(1, Ordering::Relaxed) == 0 {
            let welcome = bytes_of(&[WireMessage::Welcome(welcome())]);
            socket.write_all(&welcome).unwrap();
            // Nothing is read until then.
            breaks.lock().unwrap().recv().unwrap();
            return;
        }
        let (mut inbox, mut bytes) = (Inbox::default(), [0; 4096]);
        while let Ok(count @ 1..) = socket.read(&mut bytes) {
            inbox.receive(&bytes[..count]);
            if let Some(frame) = inbox.next(MAX_HELLO).unwrap()
                && let Some(Received::Message(message)) = Received::read(frame.record())
            {
                let _ = hellos_to.lock().unwrap().send(message);
                return;
            }
        }
    });
    let (at, options) = (program.name.attach(), options(address));
    let mut output = output_to(&options);
    let mut recorder = recorder(&at, &mut output, Form::Plain);
    program.log(100_000);
    steps(&mut recorder, 60);
    send_break.send(()).unwrap();
    let mut hello = None;
    eventually("another hello", || {
        recorder.step();
        hello = hellos.try_recv().ok();
        hello.is_some()
    });
    assert!(matches!(hello, Some(WireMessage::Hello(_))), "{hello:?}");
}

#[test]
fn what_is_no_store_is_told() {
    let program = Program::new("web", 1024);
    let address = stranger(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = socket.read_to_end(&mut Vec::new());
    });
    let at = program.name.attach();
    let mut output = output_to(&options(address));
    eventually("a complaint", || {
        let error = output.prepare(&at).unwrap_err();
        assert!(error.is_pending(), "{error}");
        output.trouble().is_some()
    });
    let told = output.trouble().unwrap().error.to_string();
    assert!(told.contains("expected a store of timeline"), "{told}");
}
