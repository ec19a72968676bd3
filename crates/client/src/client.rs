//! Sends requests, and reads the answers.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use timeline_net::{StoreToken, StoreTrust};
use ureq::http::{Method, Request, Response};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::{Agent, AsSendBody, Body};

use crate::error::{Error, Result};
use crate::transport::HostConnector;

/// Most bytes of an answer that is read as a whole.
const MOST_ANSWER: u64 = 64 << 20;
/// Bytes that are copied at a time.
const COPIED: usize = 64 << 10;
/// The head in which an answer that goes on says how many bytes there were when it began.
const BEGUN: &str = "timeline-bytes";
/// The head in which it says that more may come.
const GROWING: &str = "timeline-growing";
/// How long the bytes of an answer may take. That of a program that is followed takes days.
const LONG: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// How long an answer may take to begin. Long work sends its head at once.
const HEAD: Duration = Duration::from_secs(60);

/// Where requests go, and how both sides know each other.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The host and its port.
    pub address: String,
    /// By what the other side is known.
    pub trust: StoreTrust,
    /// The secret that it asks for.
    pub token: Option<StoreToken>,
}

/// Asks one host.
pub struct Client {
    agent: Agent,
    address: String,
    token: Option<StoreToken>,
}

/// A log that a host has.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RemoteLog {
    /// Its name in requests.
    pub id: String,
    /// What holds its events: `live`, `snapshot` or `archive`.
    pub kind: String,
    /// The bytes of its files.
    pub bytes: Option<u64>,
    /// When it was written last, in RFC 3339.
    pub modified: Option<String>,
}

#[derive(Deserialize)]
struct LogList {
    logs: Vec<RemoteLog>,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

impl Client {
    /// A client of a host. Nothing is sent before the first request.
    pub fn new(options: ClientOptions) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_recv_response(Some(HEAD))
            .timeout_recv_body(Some(LONG))
            .user_agent(concat!("timeline/", env!("CARGO_PKG_VERSION")))
            .build();
        let connector = HostConnector {
            address: options.address.clone(),
            trust: options.trust,
            has_secret: options.token.is_some(),
        };
        Client {
            agent: Agent::with_parts(config, connector, DefaultResolver::default()),
            address: options.address,
            token: options.token,
        }
    }

    /// The host and its port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The logs that the host has, by name.
    ///
    /// # Errors
    /// `Connection`, `Refused`, `Answer`.
    pub fn logs(&self) -> Result<Vec<RemoteLog>> {
        self.get::<LogList>("logs", &[]).map(|list| list.logs)
    }

    /// What is at a place below `/api/`, as a value.
    ///
    /// # Errors
    /// `Connection`, `Refused`, `Answer`.
    pub fn get<T: DeserializeOwned>(&self, place: &str, parameters: &Parameters) -> Result<T> {
        let answer = self.ask(Method::GET, place, parameters, ())?;
        self.value(answer)
    }

    /// Sends a value to a place below `/api/`, and reads the answer.
    ///
    /// # Errors
    /// `Connection`, `Refused`, `Answer`.
    pub fn post<T: DeserializeOwned>(&self, place: &str, value: &impl Serialize) -> Result<T> {
        // What is sent here can be written as JSON.
        let body = serde_json::to_vec(value).unwrap_or_default();
        let answer = self.ask(Method::POST, place, &[], body)?;
        self.value(answer)
    }

    /// Removes what is at a place below `/api/`, and reads the answer.
    ///
    /// # Errors
    /// `Connection`, `Refused`, `Answer`.
    pub fn delete<T: DeserializeOwned>(&self, place: &str) -> Result<T> {
        let answer = self.ask(Method::DELETE, place, &[], ())?;
        self.value(answer)
    }

    /// Sends a request to a place below `/api/`, whose answer is bytes. They may come at any time:
    /// only a connection that broke ends the wait for them.
    ///
    /// # Errors
    /// `Connection`, `Refused`.
    pub fn bytes(&self, place: &str, parameters: &Parameters) -> Result<RemoteBytes> {
        self.ask(Method::GET, place, parameters, ())
            .map(|answer| self.remote(answer))
    }

    /// Likewise, and sends a value.
    ///
    /// # Errors
    /// `Connection`, `Refused`.
    pub fn post_for_bytes(&self, place: &str, value: &impl Serialize) -> Result<RemoteBytes> {
        let body = serde_json::to_vec(value).unwrap_or_default();
        self.ask(Method::POST, place, &[], body)
            .map(|answer| self.remote(answer))
    }

    fn remote(&self, answer: Response<Body>) -> RemoteBytes {
        let begun = answer.headers().get(BEGUN);
        let begun = begun.and_then(|value| value.to_str().ok()?.parse().ok());
        RemoteBytes {
            address: self.address.clone(),
            begun,
            grows: answer.headers().contains_key(GROWING),
            body: Box::new(answer.into_body().into_reader()),
        }
    }

    fn ask(
        &self,
        method: Method,
        place: &str,
        parameters: &Parameters,
        body: impl AsSendBody,
    ) -> Result<Response<Body>> {
        let request = Request::builder()
            .method(method)
            .uri(format!(
                "http://{}/api/{place}{}",
                self.address,
                question(parameters)
            ))
            .header("Accept", "application/json")
            .header("Content-Type", "application/json");
        let request = match &self.token {
            Some(token) => request.header("Authorization", format!("Bearer {}", token.text())),
            None => request,
        };
        let request = request.body(body).map_err(|error| self.broken(&error))?;
        let answer = self
            .agent
            .run(request)
            .map_err(|error| self.broken(&error))?;
        match answer.status().is_success() {
            true => Ok(answer),
            false => Err(self.refused(answer)),
        }
    }

    fn value<T: DeserializeOwned>(&self, answer: Response<Body>) -> Result<T> {
        let text = self.text(answer)?;
        serde_json::from_slice(&text).map_err(|error| Error::Answer {
            address: self.address.clone(),
            found: error.to_string(),
        })
    }

    fn text(&self, answer: Response<Body>) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let body = answer.into_body().into_reader();
        let read = body.take(MOST_ANSWER).read_to_end(&mut text);
        read.map_err(|error| self.broken(&error))?;
        Ok(text)
    }

    /// Why a request was refused.
    fn refused(&self, answer: Response<Body>) -> Error {
        let (address, status) = (self.address.clone(), answer.status());
        let failure = self.text(answer).ok();
        let failure = failure.and_then(|text| serde_json::from_slice::<Failure>(&text).ok());
        match failure {
            Some(Failure { error }) => Error::Refused {
                address,
                status: status.as_u16(),
                sentence: error,
            },
            None => Error::Answer {
                address,
                found: format!("the status {status}"),
            },
        }
    }

    fn broken(&self, error: &dyn std::error::Error) -> Error {
        broken(&self.address, error)
    }
}

/// The bytes of an answer, which come as they are made.
pub struct RemoteBytes {
    address: String,
    begun: Option<u64>,
    grows: bool,
    body: Box<dyn Read + Send>,
}

impl RemoteBytes {
    /// How many bytes of an answer that goes on there were when it began.
    pub fn begun(&self) -> Option<u64> {
        self.begun
    }

    /// Whether more may come behind what there was when it began.
    pub fn grows(&self) -> bool {
        self.grows
    }

    /// Writes what comes to a file, until `goes_on`, which gets the number of bytes so far, says
    /// no, or the answer ends.
    ///
    /// # Errors
    /// `Connection`, also if the answer breaks off; `Output`.
    pub fn copy(
        &mut self,
        out: &mut dyn Write,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Result<()> {
        let (mut bytes, mut copied) = (vec![0; COPIED], 0);
        while goes_on(copied) {
            let count = match self.body.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(broken(&self.address, &error)),
            };
            // Somebody may look at it as it comes.
            let written = out.write_all(&bytes[..count]).and_then(|()| out.flush());
            written.map_err(|reason| Error::Output {
                address: self.address.clone(),
                reason,
            })?;
            copied += count as u64;
        }
        Ok(())
    }
}

impl Read for RemoteBytes {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.body.read(bytes)
    }
}

fn broken(address: &str, error: &dyn std::error::Error) -> Error {
    Error::Connection {
        address: address.into(),
        reason: match error.to_string() {
            text if text.contains("http parse") => {
                "no answer of HTTP comes from there; the port of a store for requests is 1989, \
                 and of an agent 1985"
                    .into()
            }
            text => text.trim_start_matches("io: ").into(),
        },
    }
}

/// Parameters of a request: names and values.
pub type Parameters = [(&'static str, String)];

/// A name as one part of a place below `/api/`.
///
/// # Example
/// ```
/// assert_eq!(timeline_client::place_of("/timeline"), "%2Ftimeline");
/// ```
pub fn place_of(name: &str) -> String {
    utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()
}

fn question(parameters: &Parameters) -> String {
    let mut text = String::new();
    for (name, value) in parameters {
        let sign = if text.is_empty() { '?' } else { '&' };
        let _ = write!(text, "{sign}{name}={}", place_of(value));
    }
    text
}
