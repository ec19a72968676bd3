//! A small LZ77 compressor: real work for the demo's threads.

/// A shorter match takes as many bytes as it replaces.
const MIN_MATCH: usize = 4;
/// A match's length is one byte.
const MAX_MATCH: usize = MIN_MATCH + 255;
/// A distance is two bytes.
const WINDOW: usize = 0xffff;
/// A run of literals is one byte, above the marker of a match.
const MAX_RUN: usize = 255;
const HASH_BITS: u32 = 12;

/// Compresses: runs of literals as `length bytes…`, matches as `0 length-4 distance(2)`.
/// `matched` hears of every match, as (position, length, distance).
pub fn compress(input: &[u8], mut matched: impl FnMut(usize, usize, usize)) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len() / 2);
    let mut last_seen = vec![usize::MAX; 1 << HASH_BITS];
    let (mut at, mut literals) = (0, 0);
    while at + MIN_MATCH <= input.len() {
        let bucket = hash(&input[at..]);
        let candidate = std::mem::replace(&mut last_seen[bucket], at);
        let length = match at.checked_sub(candidate) {
            Some(distance) if distance <= WINDOW => common(&input[candidate..], &input[at..]),
            _ => 0,
        };
        if length < MIN_MATCH {
            at += 1;
            continue;
        }
        write_literals(&input[literals..at], &mut out);
        let distance = at - candidate;
        out.extend([
            0,
            (length - MIN_MATCH) as u8,
            distance as u8,
            (distance >> 8) as u8,
        ]);
        matched(at, length, distance);
        at += length;
        literals = at;
    }
    write_literals(&input[literals..], &mut out);
    out
}

/// Undoes [`compress`]; `None` if `compress` cannot have made this.
pub fn expand(mut packed: &[u8]) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    while let Some((&run, rest)) = packed.split_first() {
        if run > 0 {
            let (literals, rest) = rest.split_at_checked(run.into())?;
            out.extend_from_slice(literals);
            packed = rest;
            continue;
        }
        let (&[length, low, high], rest) = rest.split_first_chunk()?;
        let start = out
            .len()
            .checked_sub(usize::from(u16::from_le_bytes([low, high])))?;
        // Byte by byte: a match may reach into itself.
        for i in start..start + usize::from(length) + MIN_MATCH {
            out.push(*out.get(i)?);
        }
        packed = rest;
    }
    Some(out)
}

fn hash(bytes: &[u8]) -> usize {
    let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    (word.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
}

fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter()
        .zip(b)
        .take(MAX_MATCH)
        .take_while(|(a, b)| a == b)
        .count()
}

fn write_literals(literals: &[u8], out: &mut Vec<u8>) {
    for run in literals.chunks(MAX_RUN) {
        out.push(run.len() as u8);
        out.extend_from_slice(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut noise = 1u32;
        let random: Vec<u8> = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        })
        .take(10_000)
        .collect();
        let text = b"the ring, the ring and the ring again; ".repeat(200);
        for input in [
            b"".as_slice(),
            b"abc",
            b"aaaaaaaaaaaaaaaa",
            &random,
            &text,
            &[0; 5_000],
        ] {
            let packed = compress(input, |_, _, _| {});
            assert_eq!(expand(&packed).as_deref(), Some(input));
        }
        assert!(compress(&text, |_, _, _| {}).len() < text.len() / 4);
    }

    #[test]
    fn damage_is_noticed_or_harmless() {
        let mut packed = compress(&b"abcd abcd abcd abcd".repeat(9), |_, _, _| {});
        assert_eq!(expand(&packed[..packed.len() - 1]), None);
        packed[3] ^= 1;
        assert_ne!(expand(&packed), Some(b"abcd abcd abcd abcd".repeat(9)));
    }
}
