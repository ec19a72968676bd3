//! Lets a recorder continue in a file of any bytes.
//! What is in the file stays, and nothing is recorded twice.

use std::sync::OnceLock;

use timeline::Attached;
use timeline_archive::{Archive, ArchiveOutput, Error, Form, Keeping, Recorder, Totals};

use super::scratch::Scratch;
use super::{frames, ring};

/// Calls in which a small ring is read to its end.
const STEPS: usize = 64;

/// Goes on with an archive of the sound ring with payloads, or with anything else.
pub fn run(bytes: &[u8]) {
    static RING: OnceLock<Scratch> = OnceLock::new();
    let ring = RING.get_or_init(|| Scratch::new(ring::sound(1)));
    let attached = Attached::open(ring.path()).expect("a sound ring");
    let file = Scratch::new(bytes);
    let Some(totals) = record(&attached, &file) else {
        assert_eq!(file.content(), bytes, "refused, and yet written to");
        return;
    };
    let content = file.content();
    let (before, after) = (
        Archive::from_bytes(bytes),
        Archive::from_bytes(content.clone()),
    );
    // Of no more than a preamble, nothing stays.
    let whole = before.whole();
    let frames = frames::whole(bytes).len();
    if frames > before.preambles().len().min(1) {
        assert!(
            content.starts_with(&bytes[..whole]),
            "what was whole is gone"
        );
        let damage = before.damage().iter().map(|d| d.start..d.end.min(whole));
        let damage: Vec<_> = damage.filter(|d| !d.is_empty()).collect();
        assert_eq!(after.damage(), damage, "new damage");
        let count = before.recoverable().0 + totals.events;
        assert_eq!(after.recoverable().0, count);
    } else {
        assert!(after.damage().is_empty(), "{:?}", after.damage());
    }
    let again = record(&attached, &file).expect("what it made itself");
    assert_eq!(again.events, 0, "recorded twice");
    assert!(file.content() == content, "nothing new, and yet written");
}

/// Records to the end of the ring, unless the archive is of something else.
fn record(attached: &Attached, file: &Scratch) -> Option<Totals> {
    let mut output = ArchiveOutput::open(file.path(), Keeping::default()).expect("an output");
    let mut recorder = match Recorder::new(attached, &mut output, Form::Blocks) {
        Ok(recorder) => recorder,
        Err(Error::OtherRing { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    assert!((0..STEPS).any(|_| !recorder.step()), "more, and more");
    assert!(recorder.trouble().is_none());
    Some(recorder.finish())
}
