//! The parts of a message whose values are all whole numbers in base 10.

/// How a word is a number: its lower bits, with a sign or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    /// At most 64.
    pub bits: u32,
    /// Whether the highest of the bits is the sign.
    pub is_signed: bool,
}

impl Whole {
    /// A word as it is.
    pub const WORD: Whole = Whole::signed(64);

    pub(crate) const fn signed(bits: u32) -> Whole {
        Whole {
            bits,
            is_signed: true,
        }
    }

    pub(crate) const fn unsigned(bits: u32) -> Whole {
        Whole {
            bits,
            is_signed: false,
        }
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePart {
    /// Shown as it is.
    Text(String),
    /// The next word of the entry.
    Number(Whole),
}

impl MessagePart {
    pub(crate) fn text(text: &str) -> MessagePart {
        MessagePart::Text(text.to_string())
    }
}
