//! Tests of opening an archive by the outlines that its index has.

use std::fs;
use std::path::Path;

use timeline_archive::{Archive, Form};

use super::{Logged, TEMPLATES, append, check, check_lines, naive};
use crate::index::{Index, file, open_archive};
use crate::{Case, Needle};

/// Waits until the file system's clock tells a further change of this archive from the last one.
fn wait_until_settled(path: &Path) {
    let begun = std::time::Instant::now();
    while !Archive::open(path).unwrap().has_new_outline(0) {
        assert!(begun.elapsed().as_secs() < 60, "the clock stands still");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// The same is in an archive and found in it, whether all of it was read or it was opened by its
/// outlines.
fn check_opened(path: &Path, is_outlined: bool) {
    let archive = open_archive(path).unwrap();
    let mut files = 0..archive.bytes().files().count();
    assert_eq!(
        files.all(|file| !archive.has_new_outline(file)),
        is_outlined
    );
    let read = Archive::open(path).unwrap();
    assert!(read.has_new_outline(0));
    let units = |archive: &Archive| archive.units().collect::<Vec<_>>();
    assert_eq!(units(&archive), units(&read));
    for needle in ["n", "took 1", "7000"] {
        let needle = Needle::text(needle, Case::Smart).unwrap();
        assert_eq!(naive(&archive, &needle), naive(&read, &needle));
        check(&archive, &mut Index::open(&archive), &needle);
    }
    check_lines(&archive, &Index::open(&archive), 5);
}

/// Logged to each file.
const EVENTS: u64 = 120;

#[test]
fn an_archive_that_did_not_change_is_opened_by_its_outline() {
    let folder = tempfile::tempdir().unwrap();
    let logged = |number: u64| Logged {
        ring: number.is_multiple_of(7),
        time: number * 13 % 300,
        template: number as usize % TEMPLATES.len(),
        text: format!("n{} {}", number * 7, number * 1_000_003),
        is_important: number.is_multiple_of(50),
        ends: number.is_multiple_of(20),
    };
    let all: Vec<Logged> = (0..EVENTS).map(logged).collect();
    let mut paths = Vec::new();
    for (name, forms) in [
        ("blocks.tla", vec![Form::Blocks]),
        ("plain.tla", vec![Form::Plain]),
        ("mixed.tla", vec![Form::Blocks, Form::Plain, Form::Blocks]),
    ] {
        let path = folder.path().join(name);
        for (part, form) in forms.into_iter().enumerate() {
            append(&path, &all, EVENTS as usize * part, form);
        }
        paths.push(path);
    }
    let both = folder.path().join("both");
    fs::create_dir(&both).unwrap();
    for (number, form) in [Form::Blocks, Form::Plain].into_iter().enumerate() {
        append(
            &both.join(format!("{number}.tla")),
            &all,
            EVENTS as usize * number,
            form,
        );
    }
    wait_until_settled(&both);
    for path in paths.iter().chain([&both]) {
        check_opened(path, false);
        // Once it is made, it need not be made again.
        for lacks in [true, false] {
            let archive = open_archive(path).unwrap();
            let mut index = Index::open(&archive);
            assert!(!index.lacks_outlines());
            index.update(|_| ()).unwrap();
            assert!(!index.lacks_outlines());
            assert_eq!(lacks, archive.has_new_outline(0));
        }
        check_opened(path, true);
    }
    // The state of a file that grew, or of another one of the same length, is another.
    let [blocks, plain, mixed] = &paths[..] else {
        panic!("three archives");
    };
    append(blocks, &all, EVENTS as usize, Form::Blocks);
    fs::copy(plain, folder.path().join("copy.tla")).unwrap();
    fs::rename(folder.path().join("copy.tla"), plain).unwrap();
    let mut bytes = fs::read(mixed).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(mixed, bytes).unwrap();
    wait_until_settled(mixed);
    for path in &paths {
        check_opened(path, false);
    }
    assert!(!open_archive(mixed).unwrap().damage().is_empty());
    // An outline that is damaged is not believed.
    let beside = file::path_of(&both.join("0.tla"));
    let index = fs::read(&beside).unwrap();
    check_opened(&both, true);
    let root = index.len() - 200;
    for at in [root, root - 300] {
        let mut damaged = index.clone();
        damaged[at] ^= 4;
        fs::write(&beside, damaged).unwrap();
        check_opened(&both, false);
    }
}

#[test]
fn an_index_that_somebody_ends_keeps_what_is_written_and_is_completed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla");
    let logged = |number: usize| Logged {
        ring: false,
        time: 0,
        is_important: false,
        template: 0,
        text: format!("text {number}"),
        // A block of its own for each ten.
        ends: number % 10 == 9,
    };
    let all: Vec<_> = (0..200).map(logged).collect();
    append(&path, &all, 0, Form::Blocks);
    let archive = Archive::open(&path).unwrap();
    let missing = || Index::open(&archive).coverage().missing;
    let (all, mut before) = (missing(), missing());
    for parts in [0, 1, 2, 3] {
        let mut index = Index::open(&archive);
        let mut asked = 0..;
        index
            .update_while(|_| asked.next().unwrap_or(0) < parts)
            .unwrap();
        let now = missing();
        assert!(
            now > 0 && (parts == 0 && now == all || now < before),
            "{parts}: {now}"
        );
        assert_eq!(index.coverage().missing, now);
        before = now;
        let needle = Needle::text("text 1", Case::Sensitive).unwrap();
        check(&archive, &mut index, &needle);
    }
    let mut index = Index::open(&archive);
    let mut asked = 0;
    let update = index.update_while(|_| {
        asked += 1;
        true
    });
    update.unwrap();
    assert_eq!(missing(), 0);
    // Of the sixteen blocks that are left, once in the midst of each and once behind it.
    assert!(asked >= 2 * 16 - 1, "{asked}");
    check_lines(&archive, &index, 7);
}
