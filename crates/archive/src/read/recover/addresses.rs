//! Names addresses of call stacks again whose symbols are lost, by what their processes had loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use timeline::internal::symbols::Symbols;

use crate::format::record::Record;
use crate::format::symbol::Symbol;
use crate::read::open::archive::Archive;
use crate::read::texts::recovery::Recovery;

/// Most addresses that are looked for.
const MOST: usize = 1 << 20;

/// Finds symbols again in the files of modules: where these say, or among the given ones.
pub fn recover(archive: &Archive, given: &[PathBuf], recovery: &mut Recovery) {
    let rings = archive
        .magics()
        .map(|magic| (magic, archive.modules(magic)));
    let rings = rings.filter(|(_, modules)| !modules.is_empty());
    let rings: Vec<_> = rings.collect();
    if rings.is_empty() {
        return;
    }
    let mut lost = lost(archive);
    for (magic, modules) in rings {
        let programs = archive.contents_of_programs([magic].into_iter());
        let symbols = Symbols::of(modules, &programs).also_in(given);
        for (pid, address) in lost.remove(&magic).unwrap_or_default() {
            recovery.lost_symbols += 1;
            let number = pid.and_then(|pid| u32::try_from(pid).ok());
            let Some(found) = number.and_then(|pid| symbols.caller(pid, address)) else {
                continue;
            };
            let line = found.source.as_ref().map(|source| source.line.into());
            let symbol = Symbol {
                magic: Some(magic),
                address: Some(address),
                file: Some(found.file.to_string_lossy().into_owned()),
                base: Some(found.base),
                name: found.name,
                start: found.start,
                pid,
                source: found.source.map(|source| source.file),
                line,
                recovered: true,
                inlined: found.inlined,
            };
            recovery.recovered_symbols += u64::from(symbol.name.is_some());
            recovery.symbols.push(symbol.clone());
            archive.names().take(Record::Symbol(symbol));
        }
    }
}

/// A process, and an address in it.
type Place = (Option<u64>, u64);

/// The addresses of call stacks that have no symbol, by the magics of their rings.
fn lost(archive: &Archive) -> BTreeMap<u64, BTreeSet<Place>> {
    let (mut lost, mut count) = (BTreeMap::<u64, BTreeSet<_>>::new(), 0);
    for event in archive.events() {
        let (magic, pid) = (event.definition.magic, event.thread.pid);
        for address in &event.backtrace {
            let is_known = archive.symbol(magic, pid, *address).is_some();
            if !is_known && count < MOST && lost.entry(magic).or_default().insert((pid, *address)) {
                count += 1;
            }
        }
    }
    lost
}
