//! Reads compressed logs: gzip, Zstandard and xz, which their first bytes say.
//!
//! Everything is expanded as it is read. The memory for that is bounded, whatever a file asks for.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
/// The end of the magic number of a skippable frame, with which a file of Zstandard may begin. Its
/// first byte is 0x50 to 0x5f.
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];
/// The most memory for expanding xz. Its highest level takes 65 MiB.
const MOST_XZ: u64 = 256 << 20;
/// The largest window of Zstandard: 128 MiB, as the command zstd has it.
const MOST_WINDOW: u32 = 27;
/// So much is read at once.
const PIECE: usize = 1 << 16;

/// Bytes that were read to see what they are, and all others.
type Whole<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// Whether a log that begins so is compressed.
pub fn is_compressed(begin: &[u8]) -> bool {
    begin.starts_with(GZIP) || is_zstd(begin) || begin.starts_with(XZ)
}

fn is_zstd(begin: &[u8]) -> bool {
    let is_skippable =
        matches!(begin, [0x50..=0x5f, rest @ ..] if rest.starts_with(ZSTD_SKIPPABLE));
    begin.starts_with(ZSTD) || is_skippable
}

/// The bytes of a log, expanded if they are compressed.
///
/// # Errors
/// Those of the log.
pub fn expanded<R: Read + 'static>(mut log: R) -> io::Result<Box<dyn Read>> {
    let mut begin = Vec::new();
    (&mut log).take(XZ.len() as u64).read_to_end(&mut begin)?;
    let is_gzip = begin.starts_with(GZIP);
    let (is_zstd, is_xz) = (is_zstd(&begin), begin.starts_with(XZ));
    let whole: Whole<R> = BufReader::with_capacity(PIECE, Cursor::new(begin).chain(log));
    Ok(if is_gzip {
        Expanding::of(Members(Some(GzDecoder::new(whole))), "gzip", "gzip -dc")
    } else if is_zstd {
        let mut decoder = zstd::Decoder::with_buffer(whole)?;
        decoder.window_log_max(MOST_WINDOW)?;
        Expanding::of(decoder, "Zstandard", "zstd -dc")
    } else if is_xz {
        let stream = Stream::new_stream_decoder(MOST_XZ, CONCATENATED)?;
        Expanding::of(XzDecoder::new_stream(whole, stream), "xz", "xz -dc")
    } else {
        Box::new(whole)
    })
}

/// The members of a file of gzip, one after the other. Zeros behind one are padding, as on tapes.
struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let rest = self.0.take().map(GzDecoder::into_inner);
            self.0 = match rest {
                Some(rest) => next_member(rest)?,
                None => None,
            };
        }
        Ok(0)
    }
}

fn next_member<R: BufRead>(mut rest: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let (zeros, all) = (
            bytes.iter().take_while(|byte| **byte == 0).count(),
            bytes.len(),
        );
        rest.consume(zeros);
        if zeros < all {
            return Ok(Some(GzDecoder::new(rest)));
        }
    }
}

/// Bytes that are expanded, with errors that say what came and what to do.
struct Expanding<R> {
    from: R,
    format: &'static str,
    command: &'static str,
    count: u64,
}

impl<R: Read + 'static> Expanding<R> {
    fn of(from: R, format: &'static str, command: &'static str) -> Box<dyn Read> {
        Box::new(Expanding {
            from,
            format,
            command,
            count: 0,
        })
    }
}

impl<R: Read> Read for Expanding<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (format, command) = (self.format, self.command);
        match self.from.read(out) {
            Ok(count) => {
                self.count += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let message = format!(
                    "its {format} data is cut off: expected its end after {} expanded bytes, got \
                     the end of the file; get the whole file, or import what there is by \
                     `{command} FILE | timeline import - -o OUT`",
                    self.count
                );
                Err(io::Error::new(error.kind(), message))
            }
            Err(error) if error.raw_os_error().is_some() => Err(error),
            Err(error) => {
                let message = format!(
                    "its {format} data is damaged after {} expanded bytes: {error}",
                    self.count
                );
                Err(io::Error::new(error.kind(), message))
            }
        }
    }
}
