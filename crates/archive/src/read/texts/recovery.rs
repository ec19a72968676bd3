//! What became of the texts that an archive lacks.

use std::fmt;
use std::path::PathBuf;

use crate::format::symbol::Symbol;
use crate::read::texts::executable::Misfit;

/// What became of the lost texts of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// How many texts that events refer to had no string in the archive.
    pub lost: u64,
    /// How many of these are known again.
    pub recovered: u64,
    /// How many addresses of call stacks had no symbol in the archive.
    pub lost_symbols: u64,
    /// How many of these have a name again. Others have only a file, as modules say.
    pub recovered_symbols: u64,
    /// The executables that were looked at.
    pub searched: Vec<ExecutableSearch>,
    /// Magic and number of each text that is known again.
    pub(crate) texts: Vec<(u64, u64)>,
    /// The symbols that are known again.
    pub(crate) symbols: Vec<Symbol>,
}

/// An executable that was looked at for texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutableSearch {
    /// Where it was looked for.
    pub path: PathBuf,
    /// How many texts came from it, or why it is not the one that logged.
    pub found: Result<u64, Misfit>,
}

impl fmt::Display for ExecutableSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.found {
            Ok(_) => write!(f, "{path}"),
            Err(misfit) => write!(f, "{path} {misfit}"),
        }
    }
}
