//! Reads and writes what the fields of messages have in common.

use timeline::internal::msgpack::Unpacker;

/// Reads the fields of a record.
pub fn each(
    fields: u32,
    input: &mut Unpacker,
    mut read: impl FnMut(u8, &mut Unpacker) -> Option<()>,
) -> Option<()> {
    for _ in 0..fields {
        let key = input.key()?;
        read(key, input)?;
    }
    Some(())
}

/// A number; 0 where something else stands.
pub fn number(input: &mut Unpacker) -> Option<u64> {
    Some(input.number()?.unwrap_or(0))
}

/// A session; zeros where something else stands.
pub fn session(input: &mut Unpacker) -> Option<[u8; 16]> {
    let bytes = input.bytes()?;
    Some(
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .unwrap_or([0; 16]),
    )
}

/// Pairs, one behind the other.
pub fn flat(pairs: &[(u64, u64)]) -> Vec<u64> {
    pairs
        .iter()
        .flat_map(|(lane, number)| [*lane, *number])
        .collect()
}

/// The pairs again.
pub fn paired(numbers: &[u64]) -> Vec<(u64, u64)> {
    let (pairs, _) = numbers.as_chunks();
    pairs
        .iter()
        .map(|[lane, number]| (*lane, *number))
        .collect()
}
