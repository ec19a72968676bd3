//! The Tracy client: a zone with four values. No server is attached, so the client keeps all of it in memory.

mod common;

use tracy_client::{Client, span_location};

struct Tracy(Client);

impl common::Peer for Tracy {
    const NAME: &'static str = "tracy";
    const NOTE: &'static str =
        "no server attached: keeps every event in memory, without limit, and does no other work";
    const CRATE: &'static str = "tracy-client";
    type Thread = Client;

    fn thread(&self) -> Client {
        self.0.clone()
    }

    #[inline(always)]
    fn log(&self, client: &mut Client, i: i64) {
        let zone = client.clone().span(span_location!("event"), 0);
        zone.emit_value(i as u64);
        zone.emit_value(i as u64 + 1);
        zone.emit_value(i as u64 + 2);
        zone.emit_value(i as u64 + 3);
    }

    fn drain(&self) {}

    fn lost(&self) -> Option<u64> {
        Some(0)
    }
}

fn main() {
    common::run(|| Tracy(Client::start()));
}
