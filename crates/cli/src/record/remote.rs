//! The options of a recording that is sent to a store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use timeline::dump::printable;
use timeline_archive::{ArchiveOutput, Destination, MAX_METADATA};
use timeline_net::{
    Acknowledge, LEAST_SPOOL, PORT, SPOOL, Sender, SenderOptions, Spool, to_connect_to,
};

use super::size::parse_file_size;
use crate::access::Access;
use crate::failure::{Failure, Result};
use crate::format::Bytes;
use crate::time::parse_duration;

/// Most bytes that wait for an answer, if no others are given.
const BUFFER: u64 = 64 << 20;

/// Where a recording is sent, and how.
#[derive(clap::Args)]
pub struct Remote {
    /// Send the recording to a store (`timeline store`) instead of writing it to a file. The port
    /// is 1980 if none is given. Until the store answers, the ring keeps what is logged
    #[arg(
        long,
        value_name = "HOST[:PORT]",
        value_parser = |text: &str| to_connect_to(text, PORT),
        conflicts_with_all = ["rotate_size", "rotate_every", "keep_size", "fsync"]
    )]
    to: Option<String>,

    /// Most bytes that wait for an answer of the store (64M if it is not given). Beyond that,
    /// events stay in the ring
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    buffer: Option<u64>,

    /// Record into this directory, send what is in it, and remove that once the store has it. So an
    /// outage may be as long as there is room, and the recorder may be killed; the next recorder
    /// with the same directory goes on. It costs to write and to read everything once more
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    spool: Option<PathBuf>,

    /// Most bytes of the spool (1G if it is not given, at least 1M). Beyond that, events stay in
    /// the ring
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size, requires = "spool")]
    spool_size: Option<u64>,

    /// What the store tells, so that it need not be sent again: that events are in its file (as
    /// long as nothing else is asked for), that they are on its disk, or nothing. With nothing,
    /// any program that writes what it reads to a file is a store (nc -l 1980 > flight.tla)
    #[arg(long, value_name = "WHAT", value_parser = acknowledge())]
    acknowledge: Option<Acknowledge>,

    /// End with an error if there is no store for so long (10m, 1h). Without it, the recorder tries
    /// for ever
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    patience: Option<Duration>,

    /// Something that the store keeps with the recording, such as service=db. Can be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_label)]
    label: Vec<(String, String)>,

    #[command(flatten)]
    access: Access,
}

fn acknowledge() -> impl TypedValueParser<Value = Acknowledge> {
    let what = PossibleValuesParser::new(["written", "durable", "nothing"]);
    what.map(|what| match what.as_str() {
        "durable" => Acknowledge::Durable,
        "nothing" => Acknowledge::Nothing,
        _ => Acknowledge::Written,
    })
}

/// Reads a name and a value.
pub fn parse_label(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err(format!(
            "expected a name and a value, such as service=db, got {}",
            printable(text)
        )),
    }
}

impl Remote {
    /// The address of the store, if there is one.
    pub fn address(&self) -> Option<&str> {
        self.to.as_deref()
    }

    /// The spool, if there is one.
    pub fn spool(&self) -> Option<&Path> {
        self.spool.as_deref()
    }

    /// What takes the recording, if there is a store.
    ///
    /// # Errors
    /// If there are too many labels; those of opening the spool.
    pub fn output(&self) -> Result<Option<ArchiveOutput>> {
        let Some(options) = self.options()? else {
            return Ok(None);
        };
        let name = options.address.clone();
        let destination: Box<dyn Destination> = match &self.spool {
            Some(folder) => {
                let most = self.spool_size.unwrap_or(SPOOL);
                Box::new(Spool::open(folder, most, options)?)
            }
            None => Box::new(Sender::new(options)),
        };
        Ok(Some(ArchiveOutput::to(name, destination)))
    }

    /// How the recording is sent, if there is a store.
    fn options(&self) -> Result<Option<SenderOptions>> {
        let Some(address) = &self.to else {
            // clap lets them pass, because `--to` would conflict with `-o`.
            let is_told = self.buffer.is_some()
                || self.acknowledge.is_some()
                || self.spool.is_some()
                || self.patience.is_some()
                || !self.label.is_empty()
                || self.access.is_given();
            return match is_told {
                true => Err(Failure::misuse(
                    "--buffer, --spool, --acknowledge, --for, --label, --fingerprint, --ca, \
                     --token-file and --insecure say how to send a recording, and need --to",
                )),
                false => Ok(None),
            };
        };
        if let Some(size) = self.spool_size.filter(|size| *size < LEAST_SPOOL) {
            let size = Bytes(size);
            return Err(Failure::misuse(format!(
                "--spool-size must be at least 1M, since a spool has several files, got {size}"
            )));
        }
        let is_told = self.acknowledge != Some(Acknowledge::Nothing);
        if self.spool.is_some() && (self.buffer.is_some() || !is_told) {
            return Err(Failure::misuse(
                "--spool keeps what the store has not acknowledged, so it needs no --buffer, and \
                 cannot be without acknowledgements",
            ));
        }
        let bytes = self
            .label
            .iter()
            .map(|(name, value)| name.len() + value.len());
        let (most, most_bytes) = MAX_METADATA;
        if self.label.len() > most || bytes.sum::<usize>() > most_bytes {
            return Err(Failure::misuse(format!(
                "expected at most {most} labels of at most {most_bytes} bytes together"
            )));
        }
        Ok(Some(SenderOptions {
            address: address.clone(),
            trust: self.access.trust()?,
            token: self.access.token()?,
            buffer: usize::try_from(self.buffer.unwrap_or(BUFFER)).unwrap_or(usize::MAX),
            acknowledge: self.acknowledge.unwrap_or_default(),
            patience: self.patience,
            metadata: self.label.clone(),
        }))
    }
}
