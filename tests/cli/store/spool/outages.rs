//! Stores that are away, and recorders that are killed meanwhile.

use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use timeline_archive::{Archive, Form};

use super::super::place::{
    Place, Program, assert_same, events, eventually, is_important, recorder, send, traces,
};
use super::super::{own_address, receiving};
use super::{Link, archives, arrive, assert_important, files, has, numbers, output_by, record_all};
use crate::command::{Running, succeed};
use crate::support::{Random, size};

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
        if round % 3 == 1 {
            // As if the last recorder had been killed after it removed what had arrived.
            drop(output);
            std::fs::remove_file(&archives(&spool)[0]).unwrap();
        }
    }
    link.set(false);
    let mut output = output_by(&spool, &link.options());
    let mut recorder = recorder(&at, &mut output, Form::Blocks);
    arrive(&mut recorder);
    recorder.finish();
    assert_same(&events(&place.trace()), &program.recorded_here(), "all");
    assert_important(&place.trace(), 3);
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
        // The ring has room for 256 of them.
        if round < 200 {
            program.keep(1000 + round as i64);
        }
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
    assert_eq!(important, 3 + rounds.min(200));
    assert_important(&trace[0], 3);
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

/// Whether an event is in the spool or at the store.
fn has_spooled(spool: &Path, store: &Path, number: i64) -> bool {
    let places = traces(store).into_iter().chain([spool.to_path_buf()]);
    let mut found = places.filter_map(|place| Some(Archive::open(place).ok()?.events().collect()));
    found.any(|all: Vec<_>| numbers(&all).contains(&(number as u64)))
}
