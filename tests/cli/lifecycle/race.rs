//! Has several processes create one name at the same moment: one of them does.

use timeline::{Error, Timeline};

use crate::support::{Process, Role, hear, say};

/// How many processes take part.
const PROCESSES: usize = 3;

/// Creates the timeline at the word, and says how that went.
pub fn creates_at_the_word(given: &[String]) {
    say("ready");
    hear();
    let result = Timeline::with_size(&given[0], 256, 2048);
    say(match &result {
        Ok(_) => "won".to_owned(),
        Err(Error::InUse { .. }) => "in use".to_owned(),
        Err(error) => error.to_string(),
    });
    hear();
}

/// Processes of this role create a timeline at this path at once. Fails unless one of them does and
/// the others say that it is in use. `during` runs while the winner has it open.
pub fn exactly_one_creates(role: Role, path: &str, during: impl FnOnce()) {
    let mut all: Vec<_> = (0..PROCESSES)
        .map(|_| Process::start(role, &[path]))
        .collect();
    all.iter_mut().for_each(|p| assert_eq!(p.line(), "ready"));
    all.iter_mut().for_each(Process::tell);
    let mut said: Vec<String> = all.iter_mut().map(Process::line).collect();
    said.sort();
    assert_eq!(said, ["in use", "in use", "won"]);
    during();
    all.iter_mut().for_each(Process::tell);
    all.into_iter().for_each(Process::finish);
}
