//! Encodes a PNG.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

const SIGNATURE: &[u8; 8] = b"\x89PNG\r\n\x1a\n";

/// Eight bits a colour, three colours, deflate, the usual filters, not interlaced.
const KIND: [u8; 5] = [8, 2, 0, 0, 0];

/// The filter that stores the difference to the pixel above, which is often the same.
const UP: u8 = 2;

/// The PNG of these pixels, three bytes each, row for row.
pub fn encode(width: u32, height: u32, pixels: &[u8]) -> io::Result<Vec<u8>> {
    let row_bytes = width as usize * 3;
    let mut above = vec![0; row_bytes];
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut line = Vec::with_capacity(row_bytes + 1);
    for row in pixels.chunks_exact(row_bytes) {
        line.clear();
        line.push(UP);
        line.extend(
            row.iter()
                .zip(&above)
                .map(|(byte, above)| byte.wrapping_sub(*above)),
        );
        packed.write_all(&line)?;
        above.copy_from_slice(row);
    }
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend(KIND);
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &packed.finish()?);
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

/// A length, a name, the bytes, and the checksum of the name and the bytes.
fn chunk(file: &mut Vec<u8>, name: [u8; 4], bytes: &[u8]) {
    file.extend((bytes.len() as u32).to_be_bytes());
    let from = file.len();
    file.extend(name);
    file.extend(bytes);
    let checksum = crc32fast::hash(&file[from..]);
    file.extend(checksum.to_be_bytes());
}
