//! Reads an archive that comes as bytes, through a pipe or over a connection.

use std::io::{self, ErrorKind, Read};

use timeline::Event;
use timeline_archive::{Archive, ArchiveInflow};
use timeline_latency::Lack;

use super::lack_meter::{AppendedLacks, LackMeter};

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 18;

/// The events that come with bytes, and what is missing among them.
pub struct ByteInflow<'a> {
    from: Box<dyn Read + Send + 'a>,
    inflow: ArchiveInflow<'a>,
    buffer: Vec<u8>,
    has_ended: bool,
    meter: LackMeter,
}

impl<'a> ByteInflow<'a> {
    /// Goes on behind what the archive has.
    pub fn new(archive: &'a Archive, from: Box<dyn Read + Send + 'a>) -> ByteInflow<'a> {
        ByteInflow {
            from,
            inflow: archive.inflow(),
            buffer: vec![0; AT_ONCE],
            has_ended: false,
            meter: LackMeter::default(),
        }
    }

    /// Whether more may come.
    pub fn goes_on(&self) -> bool {
        !self.has_ended || self.inflow.is_behind()
    }

    /// Reads once, and appends the events that are whole now. Returns what is missing among them,
    /// and whether any bytes came, or their end.
    pub fn poll(&mut self, batch: &mut Vec<Event>) -> io::Result<(Vec<Lack>, bool)> {
        if !self.goes_on() || !(self.inflow.is_behind() || self.receive()?) {
            return Ok((Vec::new(), false));
        }
        let missed = self.inflow.poll(batch);
        let now = AppendedLacks {
            unknown: self.inflow.missed_unknown(),
            damaged: self.inflow.damaged(),
            removed: 0,
            gone: self.inflow.gone(),
        };
        Ok((self.meter.lacks(missed, now), true))
    }

    /// Takes the next bytes. Returns whether any came, or their end.
    fn receive(&mut self) -> io::Result<bool> {
        match self.from.read(&mut self.buffer) {
            Ok(0) => {
                self.has_ended = true;
                self.inflow.end();
            }
            Ok(count) => self.inflow.receive(&self.buffer[..count]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                    return Ok(false);
                }
                _ => return Err(error),
            },
        }
        Ok(true)
    }
}
