//! Packs the blocks of an archive by several codecs, and expands them: sizes and speed.
//!
//!     codecs REPEATS <BLOCKS
//!
//! BLOCKS is one block after the other: its length expanded, its length as LZ4 (little-endian, 4
//! bytes each), and the block as LZ4. Prints one JSON object for each codec and repeat.

use std::io::Read;
use std::mem::MaybeUninit;

use zstd::bulk::{Compressor, Decompressor};

/// The blocks, expanded.
fn blocks(mut input: &[u8]) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    while let Some((head, rest)) = input.split_at_checked(8) {
        let [length, packed] = [&head[..4], &head[4..]]
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")) as usize);
        let block = lz4_flex::block::decompress(&rest[..packed], length).expect("a block of LZ4");
        blocks.push(block);
        input = &rest[packed..];
    }
    blocks
}

/// Processor time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let mut time = MaybeUninit::<Timespec>::uninit();
    // SAFETY: `time` is a place for what the call writes; 3 is CLOCK_THREAD_CPUTIME_ID on Linux.
    let time = unsafe {
        clock_gettime(3, time.as_mut_ptr());
        time.assume_init()
    };
    time.seconds as f64 + time.nanoseconds as f64 / 1e9
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn measure(
    codec: &str,
    blocks: &[Vec<u8>],
    mut pack: impl FnMut(&[u8]) -> Vec<u8>,
    mut expand: impl FnMut(&[u8], usize) -> Vec<u8>,
) {
    let start = cpu_seconds();
    let packed: Vec<_> = blocks.iter().map(|block| pack(block)).collect();
    let middle = cpu_seconds();
    let pairs = blocks.iter().zip(&packed);
    let expanded: Vec<_> = pairs
        .map(|(block, packed)| expand(packed, block.len()))
        .collect();
    let end = cpu_seconds();
    assert!(expanded == blocks, "{codec}: every block comes back");
    let total = |all: &[Vec<u8>]| all.iter().map(Vec::len).sum::<usize>();
    println!(
        "{{\"codec\":\"{codec}\",\"expanded\":{},\"packed\":{},\
         \"compress_seconds\":{:.9},\"expand_seconds\":{:.9}}}",
        total(blocks),
        total(&packed),
        middle - start,
        end - middle
    );
}

fn main() {
    let repeats = std::env::args().nth(1);
    let repeats: u32 = repeats.and_then(|n| n.parse().ok()).expect("REPEATS");
    let mut input = Vec::new();
    std::io::stdin()
        .read_to_end(&mut input)
        .expect("blocks on standard input");
    let blocks = blocks(&input);
    for _ in 0..repeats {
        measure(
            "lz4",
            &blocks,
            lz4_flex::block::compress,
            |packed, length| lz4_flex::block::decompress(packed, length).expect("LZ4"),
        );
        for level in [-1, 1, 3, 9] {
            // Kept from block to block, as a recorder does.
            let mut compressor = Compressor::new(level).expect("a level of Zstandard");
            let mut decompressor = Decompressor::new().expect("Zstandard");
            measure(
                &format!("zstd {level}"),
                &blocks,
                |block| compressor.compress(block).expect("Zstandard"),
                |packed, length| decompressor.decompress(packed, length).expect("Zstandard"),
            );
        }
    }
}
