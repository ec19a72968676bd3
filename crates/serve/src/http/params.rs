//! Reads the parameters of requests: the same filters as the command line has.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawQuery};
use axum::http::request::Parts;
use timeline_latency::Measure;
use timeline_search::{Case, Needle, PARAMETERS, Query, local_now};
use utoipa::IntoParams;

use super::failure::RequestFailure;
use crate::error::{Error, Result};

/// Most bytes of all parameters.
const LONGEST: usize = 16 << 10;
/// Most values of `what`.
const MOST_MEASURES: usize = 16;

/// The parameters of a request, in their order.
#[derive(Debug, Clone, Default)]
pub struct Params(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = RequestFailure;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &S,
    ) -> std::result::Result<Params, RequestFailure> {
        let RawQuery(query) = RawQuery::from_request_parts(parts, state)
            .await
            .unwrap_or(RawQuery(None));
        Ok(Params::parse(query.as_deref().unwrap_or(""))?)
    }
}

/// The log of a request, for its description.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "axum takes the path apart")]
pub struct LogPath {
    /// The id of the log.
    log: String,
}

/// The filters of a request, for its description. They are those of the command line.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "`Params` reads them, because they may come several times"
)]
pub struct FilterParams {
    /// Patterns of categories: * is any text and ? any one character.
    category: Option<Vec<String>>,
    /// Patterns of names of events, such as `engine.*`.
    event: Option<Vec<String>>,
    /// A priority, or a range: ..info, warning..trace.
    priority: Option<String>,
    /// Names of threads (patterns), or numbers of the kernel.
    thread: Option<Vec<String>>,
    /// Numbers of processes.
    pid: Option<Vec<u32>>,
    /// Cores: 0-3,8.
    core: Option<Vec<String>>,
    /// The first time: 2026-11-23T14:03:07Z, 5m ago, @1763906587.
    since: Option<String>,
    /// The first time behind the wanted events.
    until: Option<String>,
    /// Conditions on values: bytes > 1.5KiB && tcp == 10.
    #[param(rename = "where")]
    conditions: Option<Vec<String>>,
    /// Texts of messages.
    grep: Option<Vec<String>>,
    /// Regular expressions that messages match.
    #[param(rename = "match")]
    patterns: Option<Vec<String>>,
}

impl Params {
    fn parse(query: &str) -> Result<Params> {
        if query.len() > LONGEST {
            return Err(Error::request(format!(
                "the parameters have more than {LONGEST} bytes"
            )));
        }
        let parsed = serde_urlencoded::from_str(query);
        let parsed = parsed.map_err(|error| Error::request(format!("bad parameters: {error}")))?;
        Ok(Params(parsed))
    }

    /// The values of a parameter.
    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let of_name = self.0.iter().filter(move |(known, _)| known == name);
        of_name.map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that may come once.
    pub fn one<'a>(&'a self, name: &str) -> Result<Option<&'a str>> {
        let mut all = self.all(name);
        let first = all.next();
        match all.next() {
            Some(_) => Err(Error::request(format!("{name} came several times"))),
            None => Ok(first),
        }
    }

    /// The value of a parameter that is a number.
    pub fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>> {
        let read = |text: &str| {
            let wrong = || Error::request(format!("expected {name} to be a number, got {text:?}"));
            text.parse().map_err(|_| wrong())
        };
        self.one(name)?.map(read).transpose()
    }

    /// Fails if there is a parameter that is neither a filter nor among these.
    pub fn only(&self, known: &[&str], has_filters: bool) -> Result<()> {
        let is_known =
            |name: &str| known.contains(&name) || has_filters && PARAMETERS.contains(&name);
        match self.0.iter().find(|(name, _)| !is_known(name)) {
            Some((name, _)) => Err(Error::request(format!(
                "there is no parameter {name:?} here"
            ))),
            None => Ok(()),
        }
    }

    /// A range of time, in nanoseconds since 1970.
    pub fn range(&self) -> Result<Option<(u64, u64)>> {
        match (self.number("from")?, self.number("to")?) {
            (Some(from), Some(to)) if from < to => Ok(Some((from, to))),
            (Some(_), Some(_)) => Err(Error::request("expected `from` to be before `to`")),
            (None, None) => Ok(None),
            _ => Err(Error::request("expected both from and to, or none")),
        }
    }

    /// Whether rows are cores, and no threads.
    pub fn by_core(&self) -> Result<bool> {
        match self.one("by")? {
            None | Some("thread") => Ok(false),
            Some("core") => Ok(true),
            Some(other) => Err(Error::request(format!(
                "expected by to be thread or core, got {other:?}"
            ))),
        }
    }

    /// Which durations are wanted; all spans if nothing is said.
    pub fn measures(&self) -> Result<Vec<Measure>> {
        let read = |text: &str| {
            Measure::parse(text).map_err(|error| Error::request(format!("what: {error}")))
        };
        let measures: Vec<Measure> = self.all("what").map(read).collect::<Result<_>>()?;
        match measures.len() {
            0 => Ok(vec![Measure::Spans("*".into())]),
            count if count > MOST_MEASURES => Err(Error::request(format!(
                "expected at most {MOST_MEASURES} times what, got {count}"
            ))),
            _ => Ok(measures),
        }
    }

    /// Which events are wanted.
    pub fn query(&self) -> Result<Query> {
        let all = self.0.iter().map(|(name, value)| (&name[..], &value[..]));
        let all: Vec<_> = all.collect();
        Ok(Query::from_parameters(&all, &local_now())?)
    }

    /// A text that tells these filters from all others.
    pub fn key(&self, query: &Query) -> String {
        // A time such as "5m ago" is another one soon.
        let is_time = |name: &str| name == "since" || name == "until";
        let is_filter = |name: &str| PARAMETERS.contains(&name) && !is_time(name);
        let filters = self.0.iter().filter(|(name, _)| is_filter(name));
        let shown = filters.map(|(name, value)| format!("{name}={value:?};"));
        shown.collect::<String>() + &format!("{:?} {:?}", query.since, query.until)
    }

    /// The text or regular expression to search for.
    pub fn needle(&self) -> Result<Option<Needle>> {
        let case = match self.one("case")? {
            None | Some("smart") => Case::Smart,
            Some("sensitive") => Case::Sensitive,
            Some("insensitive") => Case::Insensitive,
            Some(other) => {
                let expected = "smart, sensitive or insensitive";
                return Err(Error::request(format!(
                    "expected case to be {expected}, got {other:?}"
                )));
            }
        };
        let needle = match (self.one("q")?, self.flag("regex")?) {
            (None | Some(""), _) => return Ok(None),
            (Some(text), true) => Needle::regex(text, case),
            (Some(text), false) => Needle::text(text, case),
        };
        Ok(Some(needle?))
    }

    /// A parameter that is `true` or `false`.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.one(name)? {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(Error::request(format!(
                "expected {name} to be true or false, got {other:?}"
            ))),
        }
    }
}
