//! Reads the address of a trace: `store://HOST[:PORT]/TRACE`.

use timeline_net::{HTTP_PORT, to_connect_to};

use crate::error::{Error, Result};

/// What the address of a trace begins with.
pub const TRACE_SCHEME: &str = "store://";

/// Where a trace is.
///
/// # Example
/// ```
/// use timeline_client::TraceUrl;
/// let url = TraceUrl::parse("store://db1/web/svc-20261128T060000Z-5e24").unwrap().unwrap();
/// assert_eq!(url.address, "db1:1989");
/// assert_eq!(url.trace, "web/svc-20261128T060000Z-5e24");
/// assert!(TraceUrl::parse("flight.tla").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceUrl {
    /// The host and its port.
    pub address: String,
    /// The name of the trace there. Empty if none is named.
    pub trace: String,
}

impl TraceUrl {
    /// Reads an address. `None` if the text is another path.
    ///
    /// # Errors
    /// `Url`, if no host can have this name.
    pub fn parse(text: &str) -> Option<Result<TraceUrl>> {
        let rest = text.strip_prefix(TRACE_SCHEME)?;
        let (host, trace) = rest.split_once('/').unwrap_or((rest, ""));
        let address = to_connect_to(host, HTTP_PORT);
        Some(match address {
            Ok(address) => Ok(TraceUrl {
                address,
                trace: trace.into(),
            }),
            Err(what) => Err(Error::Url(format!("{text}: {what}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_ports_and_names_are_taken_apart() {
        for (text, address, trace) in [
            ("store://db1/a/b", "db1:1989", "a/b"),
            ("store://db1:7/a b", "db1:7", "a b"),
            ("store://[::1]//timeline", "[::1]:1989", "/timeline"),
            ("store://[::1]:7/x", "[::1]:7", "x"),
            ("store://db1", "db1:1989", ""),
            ("store://db1/", "db1:1989", ""),
        ] {
            let url = TraceUrl::parse(text).unwrap().unwrap();
            assert_eq!(
                (&url.address[..], &url.trace[..]),
                (address, trace),
                "{text}"
            );
        }
        for bad in [
            "store:///a",
            "store://a b/c",
            "store://1980/c",
            "store://db1:0/c",
        ] {
            assert!(TraceUrl::parse(bad).unwrap().is_err(), "{bad}");
        }
        assert!(TraceUrl::parse("/timeline").is_none());
    }
}
