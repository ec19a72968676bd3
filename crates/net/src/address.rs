//! Reads addresses: a name or a number of a host, and a port.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use timeline::dump::printable;

/// The port of a store, if none is given.
pub const PORT: u16 = 1980;
/// The port of an agent, if none is given.
pub const AGENT_PORT: u16 = 1985;
/// The port at which a store answers requests of HTTP, if none is given.
pub const HTTP_PORT: u16 = 1989;

/// Resolvers take a number alone for an address of IPv4, and here it is meant as a port.
fn refuse_number(text: &str) -> Result<(), String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match is_number {
        true => Err(format!(
            "expected an address, got a number alone; for a port, write 127.0.0.1:{text}"
        )),
        false => Ok(()),
    }
}

/// Reads the address to listen on: with a port, or a host alone, which gets this port.
///
/// # Errors
/// If no host has this name.
pub fn to_listen_on(text: &str, port: u16) -> Result<SocketAddr, String> {
    refuse_number(text)?;
    let found = text
        .to_socket_addrs()
        .or_else(|_| (text, port).to_socket_addrs());
    let first = found.ok().and_then(|mut found| found.next());
    first.ok_or_else(|| {
        format!(
            "expected an address such as 127.0.0.1:{port} or localhost, got {}",
            printable(text)
        )
    })
}

/// Whether an address with a port is one of this machine alone: `localhost`, or a number of it.
pub fn is_here(address: &str) -> bool {
    let (host, _) = address.rsplit_once(':').unwrap_or((address, ""));
    let number = host.trim_start_matches('[').trim_end_matches(']');
    let is_number = |address: IpAddr| address.to_canonical().is_loopback();
    host.eq_ignore_ascii_case("localhost") || number.parse().is_ok_and(is_number)
}

/// Reads the address of another machine: with a port, or a host alone, which gets this port. The
/// name is looked up later, and again after each failure.
///
/// # Errors
/// If it is no name and no address.
pub fn to_connect_to(text: &str, port: u16) -> Result<String, String> {
    refuse_number(text)?;
    let host = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    if let Ok(address) = host.unwrap_or(text).parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port).to_string());
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address.to_string());
    }
    let (host, given) = match text.split_once(':') {
        Some((host, given)) => (host, given.parse().ok().filter(|port| *port > 0)),
        None => (text, Some(port)),
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match given {
        Some(port) if !host.is_empty() && host.chars().all(is_part) => Ok(format!("{host}:{port}")),
        _ => Err(format!(
            "expected a host and a port, such as db1:{port} or [::1]:{port}, got {}",
            printable(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_get_the_usual_port() {
        for (text, expected) in [
            ("db1", "db1:1980"),
            ("db1.example.org:7", "db1.example.org:7"),
            ("10.0.0.1", "10.0.0.1:1980"),
            ("::1", "[::1]:1980"),
            ("[::1]", "[::1]:1980"),
            ("[::1]:7", "[::1]:7"),
        ] {
            assert_eq!(to_connect_to(text, 1980).as_deref(), Ok(expected));
        }
        for bad in [
            "",
            "1980",
            ":1980",
            "db1:",
            "db1:0",
            "db1:99999",
            "db1:x",
            "a b",
            "a/b",
            "a:1:2",
        ] {
            assert!(to_connect_to(bad, 1980).is_err(), "{bad}");
        }
    }
}
