//! The options by which a store and whoever connects to it know each other.

use std::path::{Path, PathBuf};

use timeline_net::{Fingerprint, KnownStores, StoreToken, StoreTrust, is_here};

use crate::failure::{Failure, Result};

/// How a store is known, and by what it knows this side.
#[derive(clap::Args)]
pub struct Access {
    /// Encrypt the connection, and believe only the store with this certificate (sha256:…, as the
    /// store printed). Without it, ~/.config/timeline/stores names the certificates of stores, a
    /// line each: db1:1980 sha256:…
    #[arg(long, value_name = "SHA256", conflicts_with_all = ["ca", "insecure"])]
    fingerprint: Option<Fingerprint>,

    /// Encrypt the connection, and believe a store whose certificate one of these authorities (a
    /// file in PEM) has signed for the name of its host
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,

    /// The token that the store asks for is in this file; otherwise in the variable TIMELINE_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Do not encrypt the connection, although everybody in between can read and change what is
    /// sent. To this machine, that is so anyhow unless the store's certificate is known
    #[arg(long)]
    insecure: bool,
}

impl Access {
    /// Whether anything was said.
    pub fn is_given(&self) -> bool {
        self.fingerprint.is_some()
            || self.ca.is_some()
            || self.token_file.is_some()
            || self.insecure
    }

    /// By what the store is known.
    ///
    /// # Errors
    /// If there is no certificate in the file.
    pub fn trust(&self) -> Result<StoreTrust> {
        Ok(match (self.fingerprint, &self.ca) {
            (Some(fingerprint), _) => StoreTrust::Fingerprint(fingerprint),
            (None, Some(path)) => {
                let authority = StoreTrust::authority(path);
                authority.map_err(|error| Failure::Message(error.to_string()))?
            }
            (None, None) if self.insecure => StoreTrust::Nothing,
            (None, None) => StoreTrust::KnownStores,
        })
    }

    /// The file with the token, if one was named.
    pub fn token_file(&self) -> Option<&Path> {
        self.token_file.as_deref()
    }

    /// By what the store knows this side: the first of the tokens in the file.
    ///
    /// # Errors
    /// If it makes no sense.
    pub fn token(&self) -> Result<Option<StoreToken>> {
        Ok(tokens(self.token_file.as_deref())?.into_iter().next())
    }
}

/// The tokens in a file, or else the one in the environment.
///
/// # Errors
/// If they make no sense.
pub fn tokens(file: Option<&Path>) -> Result<Vec<StoreToken>> {
    if let Some(path) = file {
        return StoreToken::read_file(path).map_err(|error| {
            let path = path.display();
            Failure::Message(format!("cannot use the tokens in {path}: {error}"))
        });
    }
    let token = StoreToken::from_environment().map_err(Failure::Message)?;
    Ok(token.into_iter().collect())
}

/// The token by which the agent of this user and its clients on this machine know each other. It is
/// made if there is none.
///
/// # Errors
/// If it cannot be written or read.
pub fn own_token() -> Result<StoreToken> {
    let path = own_token_file().ok_or_else(|| {
        Failure::Message("expected HOME or XDG_CONFIG_HOME to be set, neither is".into())
    })?;
    let failed = |error| {
        let path = path.display();
        Failure::Message(format!("cannot keep a token in {path}: {error}"))
    };
    if !path.exists() {
        StoreToken::random()
            .and_then(|token| token.keep(&path))
            .map_err(failed)?;
    }
    let tokens = StoreToken::read_file(&path).map_err(failed)?;
    tokens
        .into_iter()
        .next()
        .ok_or_else(|| failed(std::io::ErrorKind::InvalidData.into()))
}

/// The token for a host: the one that was given, that of the environment, or on this machine that
/// of the agent of this user.
///
/// # Errors
/// If it makes no sense.
pub fn token_for(address: &str, given: Option<&Path>) -> Result<Option<StoreToken>> {
    let token = tokens(given)?.into_iter().next();
    if token.is_some() || !is_here(address) {
        return Ok(token);
    }
    let own = own_token_file().and_then(|path| StoreToken::read_file(&path).ok());
    Ok(own.and_then(|tokens| tokens.into_iter().next()))
}

fn own_token_file() -> Option<PathBuf> {
    let known = KnownStores::of_user()?;
    Some(known.path().with_file_name("agent.token"))
}
