//! The columns of a block, as they are before events are made of them.

use timeline::{EventId, ThreadRef};

use crate::format::block::SHAPE;
use crate::format::varint::Cursor;
use crate::read::unpack::UnpackedEvents;

/// The columns of a block.
pub struct BlockColumns<'a> {
    definitions: Vec<EventId>,
    threads: Vec<(ThreadRef, u32)>,
    columns: Vec<Cursor<'a>>,
    shapes: Option<Vec<u16>>,
}

impl<'a> BlockColumns<'a> {
    /// Those of a block whose shapes and threads have these meanings, and of which no event was
    /// taken.
    pub(crate) fn of(
        unpacked: &UnpackedEvents<'a>,
        definitions: Vec<EventId>,
        threads: Vec<(ThreadRef, u32)>,
    ) -> BlockColumns<'a> {
        BlockColumns {
            definitions,
            threads,
            columns: unpacked.columns().to_vec(),
            shapes: None,
        }
    }

    /// The definitions of the shapes of the block.
    pub fn definitions(&self) -> &[EventId] {
        &self.definitions
    }

    /// The threads of the block, with their ids in the kernel.
    pub fn threads(&self) -> &[(ThreadRef, u32)] {
        &self.threads
    }

    /// The number of the shape of each event. In a damaged block there may be fewer.
    pub fn shapes(&mut self) -> &[u16] {
        let most = self.definitions.len();
        let mut column = self.columns[SHAPE];
        self.shapes.get_or_insert_with(|| {
            let numbers = std::iter::from_fn(|| column.get());
            let shapes = numbers.map_while(|number| u16::try_from(number).ok());
            shapes
                .take_while(|shape| usize::from(*shape) < most)
                .collect()
        })
    }
}
