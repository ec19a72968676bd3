//! The variable TIMELINE of the environment: which events the person who starts a program wants.
//!
//! Who starts a program need not be the one whom its timeline belongs to, and starts it often. So a
//! variable uses nothing up that others need. A channel that nobody has named yet gets no place in
//! the table of channels: the program remembers it, and switches it when it defines an event of it.
//! Rules get at most half of the room for rules. And the variable of a program that has more rights
//! than who started it is not read: see [`variable`].

use std::io::Write;

use crate::control::Control;
use crate::error::Result;
use crate::event::{Level, Selection};
use crate::shm::variable;

/// Its name.
const VARIABLE: &str = "TIMELINE";

/// The most bytes of it: more than all channels and rules take.
const LONGEST: usize = 4096;

/// Switches channels and adds rules as TIMELINE says, if it is set.
///
/// If that fails, the program must run all the same, and only the person who set the variable can
/// do something about it. So this is told on standard error, although a library should not write
/// there.
pub fn follow(control: &mut Control) {
    let Some(text) = variable(VARIABLE) else {
        return;
    };
    if text.len() > LONGEST {
        let length = text.len();
        tell(format_args!(
            " is ignored: it has {length} bytes; expected at most {LONGEST}"
        ));
        return;
    }
    let text = text.to_string_lossy();
    // Written as Rust writes texts: no character of it controls a terminal.
    match followed(control, &text) {
        Ok(None) => {
            for (word, level) in Selection::levels_like_channels(&text) {
                tell(format_args!(
                    "={text:?}: {word} is taken for a channel; if the level {level} is meant, \
                     write {VARIABLE}=:{level}, and otherwise a colon behind the channels"
                ));
            }
        }
        Ok(Some(level)) => tell(format_args!(
            "={text:?}: {level} is taken for a level, and not for a channel; expected a colon \
             before a level, as in {VARIABLE}=:{level} (`timeline channel` switches a channel of \
             that name)"
        )),
        Err(error) => tell(format_args!(
            "={text:?} is ignored: {error}; expected CHANNELS:RULES, such as \
             itv,bbc:info,engine=packet"
        )),
    }
}

/// Follows a text. Returns the level that it has in the place of a channel.
fn followed(control: &mut Control, text: &str) -> Result<Option<Level>> {
    control.wish(text.parse()?)?;
    Ok(Selection::level_among_channels(text))
}

fn tell(what: std::fmt::Arguments) {
    // Nobody is there to be told of a failure to write.
    let _ = writeln!(std::io::stderr(), "timeline: {VARIABLE}{what}");
}
