//! Names addresses in call stacks of a ring, by the modules that its processes have loaded.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::event::Module;
use crate::source::Frame;
use crate::symbols::{ProgramFiles, Symbols};

/// The names found so far. They are discarded when there are new modules.
#[derive(Default)]
pub struct FrameNames(Mutex<FrameTable>);

#[derive(Default)]
struct FrameTable {
    /// How many definitions there were when the modules were read.
    known: u32,
    symbols: Option<Symbols>,
    /// What these were made of.
    asked: (Vec<Module>, ProgramFiles),
    frames: HashMap<(u32, u64), Option<Frame>>,
}

/// The most addresses that are remembered.
const MOST: usize = 1 << 16;

impl FrameNames {
    /// The files without lines because their debug information is compressed with zstd.
    pub fn compressed_with_zstd(&self) -> Vec<PathBuf> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let files = found.symbols.iter().flat_map(Symbols::compressed_with_zstd);
        files.map(Path::to_path_buf).collect()
    }

    /// The frame of an address in a process; `None` if no module was loaded there. `modules`, which
    /// tells of programs as well, is called again only if `known` has changed.
    pub fn find<I: Iterator<Item = Module>>(
        &self,
        pid: u32,
        address: u64,
        known: u32,
        modules: impl FnOnce() -> (I, ProgramFiles),
    ) -> Option<Frame> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.known != known || found.symbols.is_none() {
            found.known = known;
            let (modules, programs) = modules();
            let asked = (modules.collect(), programs);
            // Most definitions are of events: to read all files again would take long.
            if found.symbols.is_none() || found.asked != asked {
                found.symbols = Some(Symbols::of(asked.0.iter().cloned(), &asked.1));
                found.asked = asked;
                found.frames.clear();
            }
        }
        let FrameTable {
            symbols, frames, ..
        } = &mut *found;
        if frames.len() >= MOST {
            frames.clear();
        }
        let symbols = symbols.as_ref()?;
        let frame = frames.entry((pid, address)).or_insert_with(|| {
            let at = symbols.caller(pid, address)?;
            Some(Frame {
                address,
                file: Some(at.file.to_string_lossy().into_owned()),
                base: Some(at.base),
                name: at.name,
                start: at.start,
                source: at.source,
                inlined: at.inlined,
            })
        });
        frame.clone()
    }
}
