//! Events whose messages are too long with the types of their arguments, and some that just fit.

// The compiler knows that when it makes code. Then it points at each statement.
#![crate_type = "lib"]

use timeline::{Argument, Event, Flags, Named, Priority, Timeline, event, span};

pub struct Long;

impl Named for Long {
    const NAMES: &'static str = match std::str::from_utf8(&LIST) {
        Ok(list) => list,
        Err(_) => panic!(),
    };
}

/// One long name, with the number 1. Its flags take 2,040 bytes.
const LIST: [u8; 2033] = {
    let mut list = [b'a'; 2033];
    [list[2031], list[2032]] = *b"=1";
    list
};

type Bits = Flags<Long>;

pub fn statements(tl: &Timeline, a: Bits, b: Bits) {
    event!(tl, Priority::Info, "net", "{a} {b} 12345678", a, b);
    event!(tl, Priority::Info, "net", "{a} {b} 123456789", a, b); //~ fits::<17>
    event!(tl, Priority::Info, "net", "{a} {b} 1234567{{", a, b);
    event!(tl, Priority::Info, "net", "{a} {b} 1234567890{{", a, b); //~ fits::<19>
    let _short = span!(tl, Priority::Info, "net", "s {a} {b}", a, b);
    let _long = span!(tl, Priority::Info, "net", "s {a} {b} 1", a, b); //~ fits::<17>
}

fn generic<T: Argument>(tl: &Timeline, x: T, b: Bits) {
    event!(tl, Priority::Info, "net", "{x} {b} 12345678 1", x, b); //~ fits::<18>
}

pub fn of_some_types(tl: &Timeline, bits: Bits) {
    generic(tl, 1, bits);
    generic(tl, bits, bits);
}

#[derive(Event)]
#[event(category = "net", message = "{a} {b} 12345678")]
pub struct Short {
    a: Bits,
    b: Bits,
}

#[derive(Event)] //~ fits::<17>
#[event(category = "net", message = "{a} {b} 123456789")]
pub struct TooLong {
    a: Bits,
    b: Bits,
}

pub fn structs(tl: &Timeline, a: Bits, b: Bits) {
    Short { a, b }.log(tl);
    TooLong { a, b }.log(tl);
}
