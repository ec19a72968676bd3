//! What a verb of the command is: arguments that say what to do.

use crate::args::Example;
use crate::failure::Result;
use crate::recovery::Executables;
use crate::target::Target;

/// A verb, by its arguments.
pub trait Verb {
    /// Shown by `--help`.
    fn examples() -> &'static [Example]
    where
        Self: Sized;

    /// The timeline of the verb, if that can be omitted where there is only one.
    fn target(&mut self) -> Option<&mut Target> {
        None
    }

    /// Where it finds texts and names again that a damaged archive lacks, if it reads archives.
    fn executables(&self) -> Option<&Executables> {
        None
    }

    /// Whether its output is read in a pager.
    fn is_long(&self) -> bool {
        false
    }

    /// Whether it ends with status 1 if it finds nothing, as grep does, and with 2 if it fails.
    fn is_search(&self) -> bool {
        false
    }

    /// Does what the arguments say.
    fn run(&self) -> Result;
}

impl<T: Verb> Verb for Box<T> {
    fn examples() -> &'static [Example] {
        T::examples()
    }

    fn target(&mut self) -> Option<&mut Target> {
        (**self).target()
    }

    fn executables(&self) -> Option<&Executables> {
        (**self).executables()
    }

    fn is_long(&self) -> bool {
        (**self).is_long()
    }

    fn is_search(&self) -> bool {
        (**self).is_search()
    }

    fn run(&self) -> Result {
        (**self).run()
    }
}
