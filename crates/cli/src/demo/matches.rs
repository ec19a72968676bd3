//! The matches in a block of LZ4: what its compressor found twice.

/// Some bytes that stood in the block before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Where it stands, in bytes from the start of what was compressed.
    pub position: usize,
    /// How many bytes it has.
    pub length: usize,
    /// How many bytes before it the same bytes stand.
    pub distance: usize,
}

/// The shortest match, which has the length 0.
const SHORTEST: usize = 4;

/// The matches of a block, in their order; up to where it is damaged. The format is that of
/// lz4_Block_format.md of the LZ4 project.
pub fn matches(block: &[u8]) -> impl Iterator<Item = Match> {
    let (mut rest, mut position) = (block, 0);
    std::iter::from_fn(move || {
        let token = take(&mut rest, 1)?[0];
        let literals = length(token >> 4, &mut rest)?;
        take(&mut rest, literals)?;
        let distance = u16::from_le_bytes(*take(&mut rest, 2)?.first_chunk()?);
        let length = SHORTEST + length(token & 15, &mut rest)?;
        position += literals;
        let found = Match {
            position,
            length,
            distance: distance.into(),
        };
        position += length;
        Some(found)
    })
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// A length of four bits. If all of them are set, bytes follow that are added, up to one below 255.
fn length(bits: u8, rest: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(bits);
    let mut goes_on = bits == 15;
    while goes_on {
        let byte = take(rest, 1)?[0];
        length += usize::from(byte);
        goes_on = byte == 255;
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_match_repeats_what_stood_before() {
        let mut text = b"ring lane chunk lane ring ".repeat(20);
        text.extend((0..3000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8));
        text.extend(b"chunk lane ring lane ".repeat(2));
        let block = lz4_flex::block::compress(&text);
        let found: Vec<Match> = matches(&block).collect();
        assert!(found.len() > 1, "{found:?}");
        for Match {
            position,
            length,
            distance,
        } in found
        {
            for at in position..position + length {
                assert_eq!(text[at], text[at - distance]);
            }
        }
    }

    #[test]
    fn a_damaged_block_has_those_before_the_damage() {
        let block = lz4_flex::block::compress(&b"to and fro ".repeat(50));
        for end in 0..block.len() {
            let cut: Vec<Match> = matches(&block[..end]).collect();
            assert!(
                cut.iter()
                    .eq(matches(&block).take(cut.len()).collect::<Vec<_>>().iter())
            );
        }
    }
}
