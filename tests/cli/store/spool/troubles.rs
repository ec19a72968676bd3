//! Spools that are full, lost, damaged, or none.

use nix::sys::signal::Signal;
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};
use timeline_net::LEAST_SPOOL;

use super::super::place::{
    Place, Program, assert_same, events, eventually, options, recorder, traces,
};
use super::super::{own_address, receiving};
use super::{Link, archives, arrive, assert_important, files, has, numbers, output_by, record_all};
use crate::command::{Running, fail, run};

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
    eventually("all to arrive again", || has(traces_folder.path(), 2000));
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    // What was in the ring or in the spool is there again.
    let trace = &traces(traces_folder.path())[0];
    assert_same(&events(trace), &program.recorded_here(), "all");
    assert_important(trace, 3);
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
