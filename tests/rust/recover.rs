//! Logs with every kind of statement of Rust to a new timeline, which stays.

use std::time::{Duration, SystemTime};

use timeline::{
    Bytes, Event, Flags, Hex, Named, Priority, Timeline, async_span, event, span,
};

#[derive(Named)]
enum Port {
    Down,
    Up = 4,
}

#[derive(Named)]
enum Access {
    _Read = 1,
    _Write = 2,
}

/// Prose of a struct, which is in its message.
#[derive(Event)]
#[event(category = "derived", message = "request {size} of {host}", channels = "web")]
struct Request<'a> {
    size: u32,
    host: &'a str,
}

#[derive(Event)]
#[event(category = "derived")]
struct PacketSeen {
    length: u16,
    port: Port,
}

fn generic<T: timeline::Argument>(tl: &Timeline, value: &T) {
    event!(tl, Priority::Info, "generic", "generic {value}", value);
}

fn main() -> timeline::Result<()> {
    let path = std::env::args().nth(1).expect("a name");
    let tl = Timeline::with_size(&path, 4096, 1 << 16)?;
    tl.channel("storage", true)?;
    tl.channel("web", true)?;
    let (len, name, list) = (1500_u32, "eth0", [1_u16, 2]);
    for number in 0..3_i64 {
        event!(tl, Priority::Info, "net", "nothing but text");
        event!(tl, Priority::Info, "net", "braces {{ and }} alone");
        event!(tl, Priority::Info, "net", "parsed {len} of {name}", len, name);
        event!(tl, Priority::Info, "net", "counted {number}: {{{len}}}, 5$", number, len);
        event!(
            tl,
            Priority::Info,
            "net",
            "sent {size} in {time} at {at}\nProse of a {statement}.",
            size = Bytes(4096),
            time = Duration::from_millis(3),
            at = SystemTime::UNIX_EPOCH
        );
        event!(channels: "storage|web=on", tl, Priority::Info, "disk", "wrote {list} {hex}",
            list, hex = Hex(7));
        event!(important: true, tl, Priority::Error, "disk", "failed {ratio} {is_new} {letter}",
            ratio = 0.5, is_new = number > 1, letter = 'a');
        event!(tl, Priority::Info, "port", "port {port} with {access}", port = Port::Up,
            access = Flags::<Access>::new(3));
        event!(tl, Priority::Info, "many", "nine {a} {b} {c} {d} {e} {f} {g} {h} {i}", a = 1_i32,
            b = 2_i32, c = 3_i32, d = 4_i32, e = 5_i32, f = 6_i32, g = 7_i32, h = 8_i32, i = 9_i32);
        let _breath = span!(tl, Priority::Info, "engine", "breath {number}", number);
        drop(async_span!(tl, Priority::Info, "engine", "job {id} of {name}", id = 7_u64, name));
        Request { size: 3, host: "a" }.log(&tl);
        PacketSeen { length: 7, port: Port::Down }.log(&tl);
        generic(&tl, &len);
        generic(&tl, &name);
    }
    Ok(())
}
