//! Who may send and to whom: certificates, fingerprints, tokens, and what goes over the wire.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use timeline_archive::Form;
use timeline_net::{Acknowledge, Fingerprint, SenderOptions, StoreToken, StoreTrust};
use timeline_store::CertificateFiles;

use super::place::{
    Place, Program, assert_same, events, eventually, options, output_to, send, store_options,
    traces,
};
use super::proxy::Proxy;
use super::{assert_refused, receiving};
use crate::command::{Running, command, run, snapshot};
use crate::support::Random;

const TOKEN: &str = "correct-horse-battery-staple";

/// Options of a sender that believes the store with this certificate.
fn pinned(place: &Place, address: SocketAddr) -> SenderOptions {
    SenderOptions {
        trust: StoreTrust::Fingerprint(place.fingerprint),
        ..options(address)
    }
}

/// What a sender complains about in the end. Nothing arrives.
fn complaint(place: &Place, program: &Program, options: &SenderOptions) -> String {
    let at = program.name.attach();
    let mut output = output_to(options);
    eventually("a complaint", || {
        let error = output.prepare(&at).unwrap_err();
        assert!(error.is_pending(), "{error}");
        output.trouble().is_some()
    });
    assert_eq!(place.traces(), [] as [PathBuf; 0]);
    output.trouble().unwrap().error.to_string()
}

fn write_secret(path: &Path, text: &str) -> String {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

fn openssl(folder: &Path, args: &[&str]) {
    let mut openssl = Command::new("openssl");
    let ran = openssl.args(args).current_dir(folder).output().unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
}

#[test]
fn what_is_sent_is_encrypted_and_whole() {
    let mut program = Program::new("tls", 1024);
    program.log(40);
    let place = Place::new();
    // Keeps what the sender said.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, store) = (listener.local_addr().unwrap(), place.address);
    let tap = thread::spawn(move || {
        let (mut sender, _) = listener.accept().unwrap();
        let mut store = TcpStream::connect(store).unwrap();
        let (mut back_from, mut back_to) =
            (store.try_clone().unwrap(), sender.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut back_from, &mut back_to));
        let (mut said, mut bytes) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = sender.read(&mut bytes) {
            said.extend_from_slice(&bytes[..count]);
            store.write_all(&bytes[..count]).unwrap();
        }
        said
    });
    let totals = send(&program, &pinned(&place, address), Form::Plain);
    assert_eq!((totals.events, totals.missed), (43, 0));
    let said = tap.join().unwrap();
    for word in ["service", "number ", "timeline-test"] {
        let is_said = said.windows(word.len()).any(|part| part == word.as_bytes());
        assert!(!is_said, "{word} is to be read in {} bytes", said.len());
    }
    assert_same(&events(&place.trace()), &program.recorded_here(), "all");
}

/// As without encryption, wherever the connection breaks: in the handshake, too.
#[test]
fn an_encrypted_session_that_is_cut_goes_on() {
    let mut program = Program::new("tls-cut", 1 << 15);
    program.log(2000);
    let expected = program.recorded_here();
    let mut random = Random(u64::from(std::process::id()));
    for first in [10, 300, 1500] {
        let place = Place::new();
        let cuts = [first, 900 + random.below(8000), 900 + random.below(20_000)];
        let proxy = Proxy::new(place.address, move |number| {
            cuts.get(number as usize).copied()
        });
        let totals = send(&program, &pinned(&place, proxy.address), Form::Blocks);
        assert_eq!((totals.events, totals.missed), (2003, 0), "{cuts:?}");
        assert_same(&events(&place.trace()), &expected, &format!("{cuts:?}"));
    }
}

#[test]
fn a_store_with_another_certificate_gets_nothing() {
    let program = Program::new("pin", 1024);
    let (place, other) = (Place::new(), Place::new());
    let told = complaint(&place, &program, &pinned(&other, place.address));
    let (expected, shown) = (other.fingerprint.to_string(), place.fingerprint.to_string());
    assert!(told.contains(&expected) && told.contains(&shown), "{told}");
    // Whoever has heard of it, and has no key, is not the store either.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    thread::spawn(move || {
        for mut socket in nobody.incoming().map_while(Result::ok) {
            let _ = socket.write_all(b"SSH-2.0-OpenSSH_9.2\r\n");
            let _ = socket.read(&mut [0; 1024]);
        }
    });
    let told = complaint(&place, &program, &pinned(&place, address));
    assert!(told.contains("something else answers there"), "{told}");
}

#[test]
fn a_sender_without_the_token_is_refused() {
    let mut program = Program::new("token", 1024);
    program.log(10);
    let tokens = ["another-token-of-last-year", TOKEN].map(|text| StoreToken::parse(text).unwrap());
    let place = Place::with(|options| options.tokens = tokens.to_vec());
    for (token, expected) in [
        (None, "expected a token, got none"),
        (Some("wrong-horse-battery-staple"), "expected another token"),
        (
            Some("correct-horse-battery-stapl"),
            "expected another token",
        ),
    ] {
        let options = SenderOptions {
            token: token.map(|text| StoreToken::parse(text).unwrap()),
            ..options(place.address)
        };
        let told = complaint(&place, &program, &options);
        assert!(told.contains(expected), "{told}");
    }
    let options = SenderOptions {
        token: Some(tokens[1].clone()),
        ..pinned(&place, place.address)
    };
    send(&program, &options, Form::Blocks);
    assert_same(&events(&place.trace()), &program.recorded_here(), "all");
}

/// Makes an authority (ca.pem), and a certificate of it for localhost (store.pem, key.pem).
fn make_certificates(at: &Path) {
    let new = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=authority",
    ];
    openssl(
        at,
        &[&new[..], &["-keyout", "ca.key", "-out", "ca.pem"]].concat(),
    );
    let new = ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=store"];
    openssl(
        at,
        &[&new[..], &["-keyout", "key.pem", "-out", "request.pem"]].concat(),
    );
    fs::write(at.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let sign = [
        "x509",
        "-req",
        "-in",
        "request.pem",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
    ];
    let out = ["-CAcreateserial", "-extfile", "names", "-out", "store.pem"];
    openssl(at, &[&sign[..], &out[..]].concat());
}

/// The tools of others make the certificate, and find the same fingerprint.
#[test]
fn a_certificate_may_be_signed_by_an_authority() {
    let mut program = Program::new("ca", 1024);
    program.log(10);
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    make_certificates(at);
    let place = Place::with(|options| {
        options.certificate = Some(CertificateFiles {
            certificate: at.join("store.pem"),
            key: at.join("key.pem"),
        });
    });
    openssl(
        at,
        &[
            "x509",
            "-in",
            "store.pem",
            "-outform",
            "der",
            "-out",
            "store.der",
        ],
    );
    assert_eq!(
        place.fingerprint,
        Fingerprint::of(&fs::read(at.join("store.der")).unwrap())
    );
    let named = |host: &str, trust| SenderOptions {
        address: format!("{host}:{}", place.address.port()),
        trust,
        ..options(place.address)
    };
    let authority = StoreTrust::authority(&at.join("ca.pem")).unwrap();
    let told = complaint(&place, &program, &named("127.0.0.1", authority.clone()));
    assert!(told.contains("not valid for name"), "{told}");
    let itself = StoreTrust::authority(&at.join("store.pem")).unwrap();
    let told = complaint(&place, &program, &named("localhost", itself));
    assert!(told.contains("certificate"), "{told}");
    send(&program, &named("localhost", authority), Form::Blocks);
    assert_same(&events(&place.trace()), &program.recorded_here(), "all");
    let told = StoreTrust::authority(&at.join("key.pem"))
        .unwrap_err()
        .to_string();
    assert!(told.contains("found none"), "{told}");
}

/// Connections that say nothing, a half or nonsense take the places of strangers only, and those
/// are free again when they end.
#[test]
fn strangers_take_no_place_of_senders() {
    let mut program = Program::new("crowd", 1024);
    program.log(10);
    let place = Place::new();
    let begin = |bytes: &[u8]| {
        let mut socket = TcpStream::connect(place.address).unwrap();
        socket.write_all(bytes).unwrap();
        socket
    };
    // The beginnings of a hello in TLS and of a frame, and nothing at all.
    let halves: [&[u8]; 3] = [&[0x16, 3, 1, 2, 0, 1], &[0xc1, 0xce], &[]];
    let crowd: Vec<_> = (0..64).map(|number| begin(halves[number % 3])).collect();
    let mut refused = begin(&[]);
    refused
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut told = Vec::new();
    refused.read_to_end(&mut told).unwrap();
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains("64 without a hello"), "{told}");
    let told = complaint(&place, &program, &options(place.address));
    assert!(told.contains("64 without a hello"), "{told}");
    drop(crowd);
    // Nonsense is not waited for.
    for bytes in [
        &[0x16, 3, 1, 0xff, 0xff][..],
        &[0x16; 600],
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut socket = begin(bytes);
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let _ = socket.read_to_end(&mut Vec::new());
    }
    send(&program, &pinned(&place, place.address), Form::Blocks);
    assert_same(&events(&place.trace()), &program.recorded_here(), "all");
}

/// `openssl s_server` is to encrypted connections what nc is to others.
#[test]
fn whoever_decrypts_and_writes_is_a_store() {
    let mut program = Program::new("s_server", 1 << 15);
    program.log(20_000);
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new();
    let own = place.folder().join("store.pem");
    let file = folder.path().join("flight.tla");
    let mut server = Command::new("openssl")
        .args([
            "s_server",
            "-accept",
            "127.0.0.1:0",
            "-naccept",
            "1",
            "-cert",
        ])
        .arg(own)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = std::io::BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    let port: u16 = loop {
        line.clear();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        if let Some(address) = line.strip_prefix("ACCEPT ") {
            break address.trim().rsplit(':').next().unwrap().parse().unwrap();
        }
    };
    let path = file.clone();
    let writer = thread::spawn(move || {
        let mut file = fs::File::create(path).unwrap();
        std::io::copy(&mut out, &mut file).unwrap();
    });
    let sender = SenderOptions {
        acknowledge: Acknowledge::Nothing,
        ..pinned(&place, ([127, 0, 0, 1], port).into())
    };
    let totals = send(&program, &sender, Form::Blocks);
    assert_eq!((totals.events, totals.missed), (20_003, 0));
    writer.join().unwrap();
    server.wait().unwrap();
    // It talks before and behind what it was sent, which counts as damage.
    let archive = timeline_archive::Archive::open(&file).unwrap();
    assert_eq!(archive.events().count(), 20_003);
}

#[test]
fn the_verbs_take_what_the_other_side_printed() {
    let mut program = Program::new("verbs", 1024);
    program.log(10);
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let token = write_secret(&at.join("token"), &format!("# of the fleet\n{TOKEN}\n"));
    let store_folder = at.join("traces").display().to_string();
    let args = [
        "store",
        &store_folder,
        "--listen",
        "127.0.0.1:0",
        "--token-file",
        &token,
    ];
    let mut store = Running::start(&args);
    let address = store.stdout_until("an address", |lines| !lines.is_empty())[0].clone();
    let said = store.stderr_until("a fingerprint", |lines| !lines.is_empty());
    let fingerprint = said[0]
        .strip_prefix("timeline: certificate ")
        .unwrap()
        .to_owned();
    let path = snapshot(&program.name, at);
    let record = ["record", &path, "--once", "--to", &address];
    assert_refused(Running::start(&record), "expected a token, got none");
    // By the option, and by the environment.
    let pin = ["--fingerprint", &fingerprint];
    let sent = run(&[&record[..], &pin, &["--token-file", &token]].concat());
    assert_eq!(sent.code, Some(0), "{sent:?}");
    program.log(10);
    snapshot(&program.name, at);
    let mut again = command(&[&record[..], &pin].concat());
    let sent = again.env("TIMELINE_TOKEN", TOKEN).output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    // The file of known stores counts where no option says otherwise.
    let config = at.join("timeline");
    fs::create_dir(&config).unwrap();
    let known = |name: Fingerprint| {
        fs::write(config.join("stores"), format!("{address} {name}\n")).unwrap();
        let mut record = command(&[&record[..], &["--token-file", &token]].concat());
        record.env("XDG_CONFIG_HOME", at);
        Running::of(record)
    };
    program.log(10);
    snapshot(&program.name, at);
    assert_refused(known(Fingerprint::of(b"another")), "it is another store");
    known(fingerprint.parse().unwrap()).succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    let all = traces(Path::new(&store_folder));
    assert_eq!(all.len(), 1, "{all:?}");
    assert_same(&events(&all[0]), &program.recorded_here(), "all");
    // After another start, it is still the same store.
    let (mut store, _) = receiving(Path::new(&store_folder), "127.0.0.1:0");
    let said = store.stderr_until("a fingerprint", |lines| !lines.is_empty());
    assert_eq!(said[0], format!("timeline: certificate {fingerprint}"));
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn secrets_that_are_none_are_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let traces = at.join("traces").display().to_string();
    let short = write_secret(&at.join("short"), "secret\n");
    let open = write_secret(&at.join("open"), TOKEN);
    fs::set_permissions(&open, Permissions::from_mode(0o644)).unwrap();
    let nothing = at.join("nothing").display().to_string();
    for (args, code, expected) in [
        (
            &["--token-file", &short][..],
            1,
            "line 1: expected a token of 16 to 256",
        ),
        (
            &["--token-file", &open],
            1,
            "everybody can read or change it",
        ),
        (&["--token-file", &nothing], 1, "No such file"),
        (&["--key", &nothing], 2, "--certificate"),
        (
            &["--key", &nothing, "--certificate", &nothing],
            1,
            "cannot use the certificate in",
        ),
        (&["--listen", "0.0.0.0:0"], 2, "--token-file"),
    ] {
        let ran = run(&[&["store", &traces][..], args].concat());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
    }
    for args in [
        &["--fingerprint", "sha256:12"][..],
        &["--insecure", "--ca", &open],
    ] {
        let ran = run(&[&["record", "/x", "--to", "db1"][..], args].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
    let ran = run(&["record", "/x", "--to", "db1", "--ca", &open]);
    assert!(ran.stderr.contains("found none"), "{ran:?}");
    // Nothing of it is shown by whoever lists processes, or in a message.
    let store = store_options(&at.join("shown"));
    assert!(
        store.tokens.is_empty() && !format!("{:?}", StoreToken::parse(TOKEN)).contains("horse")
    );
}
