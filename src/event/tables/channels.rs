//! Channels: up to 64 named switches of a timeline; an event is logged if all of its own are on.
//!
//! A channel is defined when an event first names it, or when somebody first switches it. So one
//! can be switched on before any event of it is defined. Channels are never removed.
//!
//! The bits of channels are Relaxed: they change under the define lock, and a reader that takes no
//! lock may as well have come a moment earlier.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::event::control::channel::{Channel, LONGEST_NAME, Switch};
use crate::event::tables::strings::Strings;
use crate::layout::header::CHANNELS;
use crate::layout::{Geometry, Header};
use crate::shm::Mapping;
use crate::sync::{AtomicU64, Ordering};

/// The channels of one timeline.
#[derive(Clone)]
pub struct Channels {
    map: Arc<Mapping>,
    strings: Strings,
}

impl Channels {
    /// The channels of a mapping whose geometry was checked.
    pub fn new(map: &Arc<Mapping>, geometry: &Geometry) -> Channels {
        Channels {
            map: Arc::clone(map),
            strings: Strings::new(map, geometry),
        }
    }

    /// The names of all channels. The position of each is the number of its bit.
    fn names(&self) -> Vec<String> {
        let places = self.map.header().field(|header| &header.channels);
        let offsets = places.each().map(|place| {
            // Acquire (pairs with the Release in `add`): the name is visible.
            place.load(Ordering::Acquire)
        });
        let names = offsets.take_while(|offset| *offset != 0);
        names
            .map(|offset| self.strings.whole(offset, LONGEST_NAME as u64 + 1))
            .collect()
    }

    fn bits(&self, field: fn(&Header) -> &AtomicU64) -> u64 {
        self.map.header().field(field).load(Ordering::Relaxed)
    }

    /// The channels that are on, as bits.
    pub fn on(&self) -> u64 {
        self.bits(|header| &header.channels_on)
    }

    /// All channels.
    pub fn all(&self) -> Vec<Channel> {
        let (on, switched) = (self.on(), self.bits(|header| &header.channels_switched));
        let names = self.names().into_iter().enumerate();
        names
            .map(|(number, name)| Channel {
                name,
                on: on >> number & 1 == 1,
                switched: switched >> number & 1 == 1,
            })
            .collect()
    }

    /// The names of the channels with these bits, with `|` between.
    pub fn text(&self, bits: u64) -> String {
        if bits == 0 {
            return String::new();
        }
        let names = self.names().into_iter().enumerate();
        let named = names.filter(|(number, _)| bits >> number & 1 == 1);
        named.map(|(_, name)| name).collect::<Vec<_>>().join("|")
    }

    /// The bits of channels; `None` if one of them is not defined.
    pub fn known<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Option<u64> {
        let mut names = names.into_iter().peekable();
        if names.peek().is_none() {
            return Some(0);
        }
        let all = self.names();
        let bit = |name: &String| {
            let number = all.iter().position(|other| other == name)?;
            Some(1_u64 << number)
        };
        names.try_fold(0, |bits, name| Some(bits | bit(name)?))
    }

    /// The channels among these that are not defined yet.
    pub fn missing<'a>(&self, path: &Path, wanted: &'a [Switch]) -> Result<Vec<&'a str>> {
        let all = self.names();
        let mut missing: Vec<&str> = Vec::new();
        for (name, _) in wanted {
            if !all.contains(name) && !missing.contains(&name.as_str()) {
                missing.push(name);
            }
        }
        if all.len() + missing.len() > CHANNELS {
            return Err(Error::ChannelTableFull {
                path: path.to_path_buf(),
                name: missing[CHANNELS.saturating_sub(all.len())].to_owned(),
                defined: all.len(),
                missing: missing.len(),
                capacity: CHANNELS,
            });
        }
        Ok(missing)
    }

    /// Adds channels that were missing, whose names are in the string table. The caller holds the
    /// define lock.
    pub fn add(&self, offsets: &[u32]) {
        let first = self.names().len();
        let places = &self.map.header().shared().channels;
        for (place, offset) in places.iter().skip(first).zip(offsets) {
            // Release, pairs with the Acquire in `names`: publishes the name.
            place.store(*offset, Ordering::Release);
        }
    }

    /// The bits of those channels that are off, although their definition says on, and nobody asked
    /// otherwise.
    pub fn to_switch_on(&self, wanted: &[Switch]) -> u64 {
        let names = wanted.iter().filter(|(_, on)| *on).map(|(name, _)| name);
        let bits = self.known(names).unwrap_or(0);
        bits & !self.bits(|header| &header.channels_switched) & !self.on()
    }

    /// Switches channels on as their definitions say. The caller holds the define lock.
    pub fn switch_on(&self, bits: u64) {
        let header = self.map.header().shared();
        header
            .channels_on
            .store(self.on() | bits, Ordering::Relaxed);
    }

    /// Switches channels that are defined, because somebody asks for it. The caller holds the
    /// define lock.
    pub fn switch(&self, wanted: &[Switch]) {
        let header = self.map.header().shared();
        for (name, on) in wanted {
            let bit = self.known([name]).unwrap_or(0);
            let switched = self.bits(|header| &header.channels_switched) | bit;
            header.channels_switched.store(switched, Ordering::Relaxed);
            let on = if *on {
                self.on() | bit
            } else {
                self.on() & !bit
            };
            header.channels_on.store(on, Ordering::Relaxed);
        }
    }
}
