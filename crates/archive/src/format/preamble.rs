//! Defines the preamble of an archive, which identifies the program and the ring of its events.

use timeline::ClockStep;
use timeline::internal::bounded;

use crate::format::tag::PREAMBLE;
use timeline::internal::msgpack::{FieldWriter, Unpacker};

/// The program and the ring that the records of one magic belong to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preamble {
    /// The number that every record of this program and ring contains.
    pub magic: Option<u64>,
    /// Full path of the executable.
    pub path: Option<String>,
    /// Bytes of the executable.
    pub size: Option<u64>,
    /// SHA-1 of the executable.
    pub sha1: Option<Vec<u8>>,
    /// Name of the machine.
    pub host: Option<String>,
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// The process that created the ring.
    pub pid: Option<u64>,
    /// The name of the ring.
    pub timeline: Option<String>,
    /// Pairs of ticks and the nanoseconds since the epoch at these ticks.
    pub anchors: Vec<(u64, u64)>,
    /// The clock whose ticks are recorded.
    pub clock: Option<String>,
    /// The program that wrote the archive, and its version.
    pub writer: Option<String>,
    /// When the ring was created, in nanoseconds since the epoch.
    pub created: Option<u64>,
    /// The NUMA node of each CPU. The index is the number of the CPU. 255 means that the node is
    /// not known.
    pub nodes: Vec<u64>,
    /// Moments at which the wall clock was set while the ring was recorded.
    pub steps: Vec<ClockStep>,
    /// Ticks per second.
    pub rate: Option<u64>,
    /// Name of the user whose program created the ring, or the user's number.
    pub user: Option<String>,
}

impl Preamble {
    /// Appends the record.
    pub fn encode(&self, fields: &mut FieldWriter, out: &mut Vec<u8>) {
        fields.number(1, self.magic);
        fields.text(2, self.path.as_deref());
        fields.number(3, self.size);
        fields.bytes(4, self.sha1.as_deref());
        fields.text(5, self.host.as_deref());
        fields.text(6, self.boot_id.as_deref());
        fields.number(7, self.pid);
        fields.text(8, self.timeline.as_deref());
        fields.pairs(9, &self.anchors);
        fields.text(10, self.clock.as_deref());
        fields.text(11, self.writer.as_deref());
        fields.number(12, self.created);
        fields.numbers(13, &self.nodes);
        let steps = self.steps.iter().flat_map(|step| {
            let ClockStep {
                ticks,
                after_ticks,
                after,
                before,
                unix,
            } = *step;
            [ticks, after_ticks, after, before, unix]
        });
        fields.numbers(14, &steps.collect::<Vec<u64>>());
        fields.number(15, self.rate);
        fields.text(16, self.user.as_deref());
        fields.finish(PREAMBLE, out);
    }

    /// Reads the value of a field.
    pub(crate) fn field(&mut self, field: u8, input: &mut Unpacker) -> Option<()> {
        match field {
            1 => self.magic = input.number()?,
            2 => self.path = text(input)?,
            3 => self.size = input.number()?,
            4 => self.sha1 = input.bytes()?.map(<[u8]>::to_vec),
            5 => self.host = text(input)?,
            6 => self.boot_id = text(input)?,
            7 => self.pid = input.number()?,
            8 => self.timeline = text(input)?,
            9 => self.anchors = input.pairs()?,
            10 => self.clock = text(input)?,
            11 => self.writer = text(input)?,
            12 => self.created = input.number()?,
            13 => input.numbers(&mut self.nodes)?,
            14 => {
                let mut numbers = Vec::new();
                input.numbers(&mut numbers)?;
                let (steps, _) = numbers.as_chunks::<5>();
                let step = |[ticks, after_ticks, after, before, unix]: &[u64; 5]| ClockStep {
                    ticks: *ticks,
                    after_ticks: *after_ticks,
                    after: *after,
                    before: *before,
                    unix: *unix,
                };
                self.steps = steps.iter().map(step).collect();
            }
            15 => self.rate = input.number()?,
            16 => self.user = text(input)?,
            _ => input.skip()?,
        }
        Some(())
    }
}

/// Reads a text, and cuts it to the length of texts of definitions, because readers may show it
/// with every event.
fn text(input: &mut Unpacker) -> Option<Option<String>> {
    Some(input.text()?.map(|text| bounded(&text).into_owned()))
}
