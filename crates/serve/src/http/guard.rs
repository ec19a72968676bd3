//! Refuses requests that must not be answered, and says in each answer what a browser may do.
//!
//! A page of another site can have a browser send requests to this machine. It cannot choose the
//! headers Host and Origin: so a request for another host is refused, which a name that was bound
//! to this address anew would be (DNS rebinding), and so is one that comes from another site.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use timeline_net::StoreToken;

use super::failure::RequestFailure;
use super::state::ServerState;

/// Which hosts a request may name.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// The address that is listened on.
    pub address: SocketAddr,
    /// The address, if it is not that of this machine only. Then any host may be named, because
    /// nobody knows by which name this machine is reached; the token protects instead.
    pub is_open: bool,
}

impl Hosts {
    fn allow(&self, host: &str) -> bool {
        if self.is_open {
            return true;
        }
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port),
            _ => (host, "80"),
        };
        let own = self.address.ip().to_string();
        let is_local = ["127.0.0.1", "localhost", "[::1]"].contains(&name) || name == own;
        is_local && port == self.address.port().to_string()
    }
}

const SECURITY: [(HeaderName, HeaderValue); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Keeps a page that another site opened apart from that site. No site opened a page that was
/// asked for by a person or by itself, and Chromium would start one more process for it.
const OPENER_POLICY: (HeaderName, HeaderValue) = (
    HeaderName::from_static("cross-origin-opener-policy"),
    HeaderValue::from_static("same-origin"),
);

/// Lets a request through, or refuses it.
pub async fn guard(
    Shared((state, hosts)): Shared<(Arc<ServerState>, Hosts)>,
    request: Request,
    next: Next,
) -> Response {
    let site = request.headers().get(SITE);
    let may_be_opened = !site.is_some_and(|site| site == "none" || site == "same-origin");
    let mut response = match refusal(&state, &hosts, &request) {
        Some(failure) => failure.into_response(),
        None => next.run(request).await,
    };
    let opener = may_be_opened.then_some(OPENER_POLICY);
    for (name, value) in SECURITY.into_iter().chain(opener) {
        response.headers_mut().insert(name, value);
    }
    let vary = HeaderValue::from_name(SITE);
    response.headers_mut().append(header::VARY, vary);
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

fn refusal(state: &ServerState, hosts: &Hosts, request: &Request) -> Option<RequestFailure> {
    let headers = request.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST);
    if headers.get_all(header::HOST).iter().count() > 1 || !host.is_some_and(|h| hosts.allow(h)) {
        let message = "expected the header Host to name this server";
        return Some(RequestFailure::new(
            StatusCode::MISDIRECTED_REQUEST,
            message,
        ));
    }
    if !is_own_origin(request, host.unwrap_or("")) {
        let message = "requests of other sites are refused";
        return Some(RequestFailure::new(StatusCode::FORBIDDEN, message));
    }
    let methods = [Method::GET, Method::HEAD, Method::POST, Method::DELETE];
    if !methods.contains(request.method()) {
        let message = "expected GET, HEAD, POST or DELETE";
        return Some(RequestFailure::new(StatusCode::METHOD_NOT_ALLOWED, message));
    }
    // The page itself holds nothing, and is what sends the token.
    let needs_token = request.uri().path().starts_with("/api/");
    if needs_token && !state.tokens.is_empty() {
        let given = text(header::AUTHORIZATION).and_then(|value| value.split_once(' '));
        let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let given = given.and_then(|(_, token)| StoreToken::parse(token.trim()).ok());
        if !given
            .as_ref()
            .is_some_and(|given| given.is_one_of(&state.tokens))
        {
            let message = match given {
                Some(_) => "expected another token; --token-file or TIMELINE_TOKEN says which",
                None => {
                    "expected a token: `timeline serve` shows it in its address; for a store or an \
                     agent, say --token-file, or set TIMELINE_TOKEN"
                }
            };
            return Some(RequestFailure::new(StatusCode::UNAUTHORIZED, message));
        }
    }
    None
}

/// Whether a request comes from the page, or from no site at all.
fn is_own_origin(request: &Request, host: &str) -> bool {
    let headers = request.headers();
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(origin) = headers.get(header::ORIGIN) {
        return origin.to_str().is_ok_and(|origin| {
            origin
                .strip_prefix("http://")
                .or(origin.strip_prefix("https://"))
                == Some(host)
        });
    }
    // A browser says so about requests without an Origin. A link on another site may lead to the
    // page, but nothing else: its frames and pictures could keep the server busy.
    let site = text(&SITE);
    let mode = text(&HeaderName::from_static("sec-fetch-mode"));
    let is_page = request.uri().path() == "/" && mode == Some("navigate");
    matches!(site, None | Some("same-origin" | "none")) || is_page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        let hosts = Hosts {
            address: ([127, 0, 0, 2], 4280).into(),
            is_open: false,
        };
        for host in [
            "127.0.0.1:4280",
            "127.0.0.2:4280",
            "localhost:4280",
            "[::1]:4280",
        ] {
            assert!(hosts.allow(host), "{host}");
        }
        for host in [
            "",
            "evil.example:4280",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost:42800",
            "127.0.0.1.evil.example:4280",
            "127.0.0.1:4280:4280",
            "[::1]",
            "localhost:+4280",
        ] {
            assert!(!hosts.allow(host), "{host}");
        }
    }
}
