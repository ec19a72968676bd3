//! The variable TIMELINE of the environment: which events the person who starts a program wants.

use std::io::Write;

use crate::control::Control;
use crate::event::Selection;

/// Its name.
const VARIABLE: &str = "TIMELINE";

/// Switches channels and adds rules as TIMELINE says, if it is set.
///
/// If that fails, the program must run all the same, and only the person who set the variable can
/// do something about it. So this is told on standard error, although a library should not write
/// there.
pub fn follow(control: &Control) {
    let Some(text) = std::env::var_os(VARIABLE) else {
        return;
    };
    let text = text.to_string_lossy();
    let followed = (text.parse::<Selection>()).and_then(|selection| control.select(&selection));
    if let Err(error) = followed {
        // Nobody is there to be told of a failure to write.
        let _ = writeln!(
            std::io::stderr(),
            "timeline: {VARIABLE}={text:?} is ignored: {error}; expected CHANNELS:RULES, such as \
             itv,bbc:info,engine=packet"
        );
    }
}
