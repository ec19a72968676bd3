//! Recordings by way of a spool: an outage of any length loses nothing, and nothing comes twice.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::Signal;
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, RecordedEvent, Recorder};
use timeline_net::{LEAST_SPOOL, SenderOptions, Spool};

use super::place::{
    Place, Program, assert_same, events, eventually, is_important, options, recorder, send, traces,
};
use super::proxy::Proxy;
use super::{own_address, receiving};
use crate::command::{Running, fail, run, succeed};
use crate::support::{Random, size};

/// An output by way of a spool of the least size.
fn output_by(folder: &Path, options: &SenderOptions) -> ArchiveOutput {
    let spool = Spool::open(folder, LEAST_SPOOL, options.clone()).unwrap();
    ArchiveOutput::to(&options.address, Box::new(spool))
}

/// A store that can be away.
struct Link {
    proxy: Proxy,
    is_away: Arc<AtomicBool>,
}

impl Link {
    fn to(place: &Place) -> Link {
        let is_away = Arc::new(AtomicBool::new(false));
        let is_away_now = Arc::clone(&is_away);
        let plan = move |_| is_away_now.load(Ordering::Relaxed).then_some(0);
        Link {
            proxy: Proxy::new(place.address, plan),
            is_away,
        }
    }

    /// Is away from the next connection on; returns how it is reached.
    fn set(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::Relaxed);
    }

    fn options(&self) -> SenderOptions {
        options(self.proxy.address)
    }
}

fn record_all(recorder: &mut Recorder) {
    while recorder.step() {}
    recorder.flush();
}

fn arrive(recorder: &mut Recorder) {
    eventually("the spool to be sent", || {
        record_all(recorder);
        recorder.waiting() == 0
    });
}

/// Files in a directory, the oldest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn numbers(events: &[RecordedEvent]) -> Vec<u64> {
    let plain = events.iter().filter(|event| !is_important(event));
    let mut numbers: Vec<_> = plain.map(|event| event.args[0] as u64).collect();
    numbers.sort_unstable();
    numbers
}

/// Each file of a trace begins with the important events, and has each of them once.
fn assert_important(trace: &Path, least: usize) {
    for file in files(trace) {
        let archive = Archive::open(&file).unwrap();
        let all: Vec<_> = archive.events().filter(is_important).collect();
        let mut ids: Vec<_> = all.iter().map(|event| event.args[0]).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all.len(), "{}", file.display());
        assert!(all.len() >= least, "{}", file.display());
    }
}

/// The ring holds a thousand entries, the outage ten thousand.
#[test]
fn an_outage_longer_than_the_ring_loses_nothing() {
    let mut program = Program::new("spooled", 1024);
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let (link, spool) = (Link::to(&place), folder.path().join("spool"));
    let at = program.name.attach();
    // The store is away at first, and once more later.
    link.set(true);
    let mut output = output_by(&spool, &link.options());
    let mut recorder = recorder(&at, &mut output, Form::Blocks);
    for round in 0..2 {
        link.set(true);
        for _ in 0..50 {
            program.log(200);
            record_all(&mut recorder);
        }
        program.keep(100 + round);
        record_all(&mut recorder);
        if round == 0 {
            assert!(recorder.waiting() > 50_000, "{}", recorder.waiting());
            // Any verb reads it meanwhile.
            assert_eq!(numbers(&events(&spool)), (0..10_000).collect::<Vec<_>>());
            let path = spool.display().to_string();
            let dumped = succeed(&["dump", &path, "-n", "1"]).stdout;
            assert!(dumped.contains("interface id(100)"), "{dumped}");
        }
        link.set(false);
        program.log(5);
        arrive(&mut recorder);
    }
    let totals = recorder.finish();
    drop(output);
    assert_eq!((totals.events, totals.missed), (20_015, 0));
    let trace = place.trace();
    assert_eq!(numbers(&events(&trace)), (0..20_010).collect::<Vec<_>>());
    assert_important(&trace, 3);
    // As long as the ring is there, it is known how far it is recorded.
    let stored = files(&trace).pop().unwrap();
    let left: Vec<_> = archives(&spool);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(
        std::fs::read(&left[0]).unwrap(),
        std::fs::read(stored).unwrap()
    );
    timeline::unlink(program.name.path()).unwrap();
    let mut output = output_by(&spool, &link.options());
    eventually("nothing to be left", || {
        output.attend();
        archives(&spool).is_empty()
    });
    drop(output);
    assert_eq!(files(&spool), [] as [PathBuf; 0]);
}

/// A program may go on behind the name of its timeline: the file that is written stays.
#[test]
fn the_present_file_stays_without_a_ring() {
    let mut program = Program::new("spool-present", 1024);
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let (link, spool) = (Link::to(&place), folder.path().join("spool"));
    let at = program.name.attach();
    let mut output = output_by(&spool, &link.options());
    let mut recorder = recorder(&at, &mut output, Form::Blocks);
    timeline::unlink(program.name.path()).unwrap();
    for _ in 0..3 {
        program.log(10);
        arrive(&mut recorder);
        assert_eq!(recorder.change(), None);
        assert_eq!(archives(&spool).len(), 1);
    }
    assert_eq!(recorder.finish().events, 33);
    drop(output);
    assert_eq!(files(&spool), [] as [PathBuf; 0]);
    assert_eq!(
        numbers(&events(&place.trace())),
        (0..30).collect::<Vec<_>>()
    );
}

/// The archives in a directory that have something.
fn archives(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder);
    let is_archive = |file: &Path| file.extension().is_some_and(|end| end == "tla");
    let has_bytes = |file: &Path| file.metadata().is_ok_and(|data| data.len() > 0);
    files.retain(|file| is_archive(file) && has_bytes(file));
    files
}

/// What was sent to the store by others, or by this recorder before, is not sent again.
#[test]
fn a_spool_goes_on_where_the_store_is() {
    let mut program = Program::new("spool-goes-on", 1 << 12);
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let (link, spool) = (Link::to(&place), folder.path().join("spool"));
    program.log(10);
    send(&program, &link.options(), Form::Blocks);
    let at = program.name.attach();
    for round in 0..6 {
        program.log(10);
        // After all has arrived, one finds it away from the start: the newest file says what is
        // there.
        link.set(round % 3 == 1);
        let mut output = output_by(&spool, &link.options());
        let mut recorder = recorder(&at, &mut output, Form::Blocks);
        record_all(&mut recorder);
        if round % 3 == 0 {
            arrive(&mut recorder);
        }
        let totals = recorder.finish_at_once();
        assert_eq!((totals.events, totals.missed), (10, 0), "{round}");
    }
    link.set(false);
    let mut output = output_by(&spool, &link.options());
    let mut recorder = recorder(&at, &mut output, Form::Blocks);
    arrive(&mut recorder);
    recorder.finish();
    assert_same(&events(&place.trace()), &program.recorded_here(), "all");
    assert_important(&place.trace(), 3);
}

/// A full spool is like a full disk: what is in the ring stays there, and what that overwrites is
/// counted.
#[test]
fn a_full_spool_leaves_events_in_the_ring_and_counts() {
    let mut program = Program::new("spool-full", 1 << 12);
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let (link, spool) = (Link::to(&place), folder.path().join("spool"));
    let at = program.name.attach();
    link.set(true);
    let mut output = output_by(&spool, &link.options());
    let mut recorder = recorder(&at, &mut output, Form::Plain);
    eventually("the spool to be full", || {
        program.log(1000);
        recorder.step();
        recorder.is_full()
    });
    let trouble = recorder.trouble().map(|trouble| trouble.error.to_string());
    assert!(
        trouble
            .as_deref()
            .unwrap_or("")
            .contains("waits for the store"),
        "{trouble:?}"
    );
    let bytes: u64 = files(&spool)
        .iter()
        .map(|file| file.metadata().unwrap().len())
        .sum();
    assert!(
        bytes <= LEAST_SPOOL + 200 && bytes > LEAST_SPOOL / 2,
        "{bytes}"
    );
    let kept = program.logged;
    program.log(1000);
    recorder.step();
    link.set(false);
    arrive(&mut recorder);
    assert!(kept > 5000);
    program.log(20_000);
    arrive(&mut recorder);
    let totals = recorder.finish();
    let archive = Archive::open(place.trace()).unwrap();
    assert!(archive.damage().is_empty());
    let found: Vec<_> = archive.events().collect();
    assert_eq!(totals.events, found.len() as u64);
    assert!(totals.missed > 10_000, "{totals:?}");
    assert_eq!((archive.missed(), archive.repeated()), (totals.missed, 0));
    let found = numbers(&found);
    assert!(found.contains(&(kept as u64 - 1)) && found.contains(&0));
    assert_eq!(found.last(), Some(&(program.logged as u64 - 1)));
}

/// A store that lost a session is sent what is left, as another one.
#[test]
fn a_session_that_the_store_has_lost_goes_on_as_another() {
    let mut program = Program::new("spool-lost", 1 << 14);
    let (folder, traces_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spool = folder.path().join("spool").display().to_string();
    let (mut store, address) = receiving(traces_folder.path(), &own_address());
    let args = [
        "record",
        program.name.path(),
        "--to",
        &address,
        "--spool",
        &spool,
    ];
    let args: Vec<String> = args.map(String::from).to_vec();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let recorder = Running::start(&args);
    program.log(1000);
    eventually("events to arrive", || has(traces_folder.path(), 1000));
    store.signal(Signal::SIGKILL);
    store.finish();
    std::fs::remove_dir_all(&traces(traces_folder.path())[0]).unwrap();
    program.log(1000);
    (store, _) = receiving(traces_folder.path(), &address);
    eventually("the rest to arrive", || {
        let found = traces(traces_folder.path());
        let found = found.first().map(|trace| numbers(&events(trace)));
        found.is_some_and(|found| found.last() == Some(&1999))
    });
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    // What was in the ring or in the spool is there again.
    let trace = &traces(traces_folder.path())[0];
    assert_same(&events(trace), &program.recorded_here(), "all");
    assert_important(trace, 3);
}

/// Whether a store has so many plain events.
fn has(folder: &Path, logged: i64) -> bool {
    let found = |trace: &PathBuf| {
        Some(numbers(
            &Archive::open(trace).ok()?.events().collect::<Vec<_>>(),
        ))
    };
    let found = traces(folder).iter().find_map(found);
    found.is_some_and(|found| found.len() as i64 >= logged)
}

#[test]
fn recorders_are_killed_while_the_store_is_away_and_nothing_is_lost() {
    let mut program = Program::new("spool-killed", 1 << 15);
    let (folder, traces_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spool = folder.path().join("spool").display().to_string();
    let (store, address) = receiving(traces_folder.path(), &own_address());
    let mut store = Some(store);
    let args = [
        "record",
        program.name.path(),
        "--to",
        &address,
        "--spool",
        &spool,
        "--spool-size",
        "1M",
    ];
    let args: Vec<String> = args.map(String::from).to_vec();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut recorder = Running::start(&args);
    let mut random = Random(u64::from(std::process::id()));
    let rounds = 20 * size();
    for round in 0..rounds {
        program.log(300);
        program.keep(1000 + round as i64);
        match random.below(4) {
            0 => match store.take() {
                Some(away) => {
                    away.signal(Signal::SIGKILL);
                    away.finish();
                }
                None => store = Some(receiving(traces_folder.path(), &address).0),
            },
            1 | 2 => {
                // At any moment: also before it has begun.
                if random.below(2) == 0 {
                    let logged = program.logged;
                    eventually("some events", || {
                        has_spooled(Path::new(&spool), traces_folder.path(), logged - 1)
                    });
                }
                recorder.signal(Signal::SIGKILL);
                recorder.finish();
                recorder = Running::start(&args);
            }
            _ => {}
        }
    }
    let store = store.unwrap_or_else(|| receiving(traces_folder.path(), &address).0);
    let logged = program.logged;
    eventually("all to arrive", || has(traces_folder.path(), logged));
    let is_begun = |lines: &[String]| lines.iter().any(|line| line.contains("; Ctrl-C stops"));
    recorder.stderr_until("its beginning", is_begun);
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    let trace = traces(traces_folder.path());
    assert_eq!(trace.len(), 1, "{trace:?}");
    // The ring has overwritten the first of them long ago.
    let found = events(&trace[0]);
    let is_all = numbers(&found) == (0..logged as u64).collect::<Vec<_>>();
    assert!(is_all, "{} events of {logged}", found.len());
    let important = found.iter().filter(|event| is_important(event)).count() as u64;
    assert_eq!(important, 3 + rounds);
    assert_important(&trace[0], 3);
}

/// Whether an event is in the spool or at the store.
fn has_spooled(spool: &Path, store: &Path, number: i64) -> bool {
    let places = traces(store).into_iter().chain([spool.to_path_buf()]);
    let mut found = places.filter_map(|place| Some(Archive::open(place).ok()?.events().collect()));
    found.any(|all: Vec<_>| numbers(&all).contains(&(number as u64)))
}

/// Two runs of a program come and go while the store is away.
#[test]
fn runs_that_are_over_are_sent_when_the_store_is_back() {
    let (folder, traces_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spool = folder.path().join("spool").display().to_string();
    let (first, address) = receiving(traces_folder.path(), &own_address());
    first.signal(Signal::SIGTERM);
    first.succeed();
    let mut expected = Vec::new();
    let mut name = String::new();
    for count in [100, 200] {
        let mut program = Program::new("spool-over", 1024);
        name = program.name.path().to_string();
        program.log(count);
        expected.push(program.recorded_here());
        let snapshot = crate::command::snapshot(&program.name, folder.path());
        let args = [
            "record", &snapshot, "--to", &address, "--spool", &spool, "--once",
        ];
        let sent = succeed(&args);
        let told = format!("waits in {spool} for {address}");
        assert!(sent.stderr.contains(&told), "{sent:?}");
        std::fs::remove_file(snapshot).unwrap();
    }
    // No such program is there any more.
    let (store, _) = receiving(traces_folder.path(), &address);
    let recorder = Running::start(&["record", &name, "--to", &address, "--spool", &spool]);
    eventually("both to arrive", || archives(Path::new(&spool)).is_empty());
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    assert_eq!(files(Path::new(&spool)), [] as [PathBuf; 0]);
    let mut found: Vec<_> = traces(traces_folder.path())
        .iter()
        .map(|trace| events(trace))
        .collect();
    found.sort_by_key(Vec::len);
    assert_eq!(found.len(), 2);
    for (found, expected) in found.iter().zip(&expected) {
        assert_same(found, expected, "a run");
    }
}

/// A damaged file is sent without its damage, and the store says that something is missing there.
#[test]
fn damage_in_a_spool_stops_nothing() {
    let mut program = Program::new("spool-damaged", 1 << 12);
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let (link, spool) = (Link::to(&place), folder.path().join("spool"));
    let at = program.name.attach();
    link.set(true);
    let mut output = output_by(&spool, &link.options());
    let mut recorder1 = recorder(&at, &mut output, Form::Plain);
    program.log(1000);
    record_all(&mut recorder1);
    recorder1.finish_at_once();
    drop(output);
    let file = archives(&spool).remove(0);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    link.set(false);
    program.log(10);
    let mut output = output_by(&spool, &link.options());
    let mut recorder2 = recorder(&at, &mut output, Form::Plain);
    arrive(&mut recorder2);
    recorder2.finish();
    let archive = Archive::open(place.trace()).unwrap();
    assert!(archive.damage().is_empty());
    // Of the 1,013 events one was in the damaged frame.
    let found = archive.events().count() as u64;
    assert_eq!((found, archive.gone(), archive.repeated()), (1012, 1, 0));
}

#[test]
fn a_directory_of_something_else_is_no_spool() {
    let program = Program::new("spool-refused", 1024);
    let folder = tempfile::tempdir().unwrap();
    let spool = folder.path().display().to_string();
    let name = program.name.path();
    let file = folder.path().join("timeline-000001.tla");
    let mut output = ArchiveOutput::open(&file, Keeping::default()).unwrap();
    let at = program.name.attach();
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
    record_all(&mut recorder);
    recorder.finish();
    drop(output);
    let before = std::fs::read(&file).unwrap();
    let told = fail(&["record", name, "--to", "127.0.0.1:1", "--spool", &spool]);
    assert!(
        told.contains("expected a directory that is empty"),
        "{told}"
    );
    assert_eq!(
        (files(folder.path()).len(), std::fs::read(&file).unwrap()),
        (1, before)
    );
    for args in [
        &["record", name, "-o", "x.tla", "--spool", &spool][..],
        &["record", name, "--to", "host", "--spool-size", "1M"],
        &[
            "record",
            name,
            "--to",
            "host",
            "--spool",
            &spool,
            "--spool-size",
            "64K",
        ],
        &[
            "record", name, "--to", "host", "--spool", &spool, "--buffer", "1M",
        ],
        &[
            "record",
            name,
            "--to",
            "host",
            "--spool",
            &spool,
            "--acknowledge",
            "nothing",
        ],
    ] {
        assert_eq!(run(args).code, Some(2), "{args:?}");
    }
    let spool = folder.path().join("spool");
    let first = output_by(&spool, &options("127.0.0.1:1".parse().unwrap()));
    let spool = spool.display().to_string();
    let told = fail(&["record", name, "--to", "127.0.0.1:1", "--spool", &spool]);
    assert!(told.contains("another recorder"), "{told}");
    drop(first);
}
