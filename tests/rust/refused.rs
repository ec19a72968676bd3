//! Events that are refused. A comment behind a line is a part of what the compiler says about it.

use timeline::{Event, Named, Priority, Timeline, async_span, event, span};

#[derive(Event)]
#[event(category = "net", priority = Important)] //~ no variant or associated item named `Important`
struct OtherPriority {
    x: u8,
}

#[derive(Event)]
#[event(category = "net", message = "a {y}, {x}")] //~ `NoField` logs no field of that name
struct NoField {
    x: u8,
}

#[derive(Event)]
#[event(category = "net", message = "a {x}")]
struct NoPlace {
    x: u8,
    y: u8, //~ field `y` has no place in the message
}

#[derive(Event)]
#[event(category = "net", message = "a {x")] //~ an opening brace without a closing one
struct Brace {
    x: u8,
}

#[derive(Event)] //~ a letter, a digit or [ directly behind a place
#[event(category = "net", message = "a {x}ms")]
struct Behind {
    x: u8,
}

#[derive(Event)]
struct NoCategory { //~ an event needs a category
    x: u8,
}

#[derive(Event)]
#[event(category = "net", level = 1)] //~ expected category, priority, message, channels
struct OtherOption {
    x: u8,
}

#[derive(Event)]
#[event(category = "net")]
#[event(category = "net")] //~ `category` stands here twice
struct Twice {
    x: u8,
}

#[derive(Event)] //~ a channel is 1 to 32 ASCII letters
#[event(category = "net", channels = "a,b")]
struct Channels {
    x: u8,
}

#[derive(Event)]
#[event(category = "net")]
struct Unnamed(u8); //~ an event is a struct with named fields

#[derive(Event)]
#[event(category = "net")]
enum Enumeration { //~ an event is a struct with named fields
    A,
}

#[derive(Event)]
#[event(category = "net")]
struct Field {
    #[event(hide)] //~ expected skip
    x: u8,
}

#[derive(Event)]
#[event(category = "net")]
struct NoArgument {
    x: u8,
    to: std::net::Ipv4Addr, //~ `Ipv4Addr` is no argument of an event
}

#[derive(Named)]
enum WithField {
    A(u8), //~ names are those of an enum without fields
}

#[derive(Named)]
struct NoEnum { //~ names are those of an enum without fields
    x: u8,
}

#[derive(Named)]
enum Empty {} //~ an enum without variants has no names

#[derive(Named)]
#[event(category = "net")] //~ expected crate
enum OfCategory {
    A,
}

enum Unnamed2 {
    A,
}

fn named(tl: &Timeline, port: Unnamed2) {
    event!(tl, Priority::Info, "net", "on {port}", port); //~ `Unnamed2` is no argument of an event
    let _ = timeline::Flags::<Unnamed2>::new(3); //~ the numbers of `Unnamed2` have no names
}

fn statements(tl: &Timeline, x: u8, to: std::net::Ipv4Addr) {
    event!(tl, Priority::Info, "net", "to {to}", to); //~ `Ipv4Addr` is no argument of an event
    event!(tl, Priority::Info, "net", "to {x}", x = Some(x)); //~ `Option<u8>` is no argument
    event!(channels: "a b", tl, Priority::Info, "net", "to {x}", x); //~ a channel is 1 to 32
    event!(tl, Priority::Info, "net", "to {y}", x); //~ an argument has another name
    event!(tl, Priority::Info, "net", "to {x}", 1); //~ a variable, or `name = expression`
    event!(tl, Priority::Info, "net", "to {x}", x.len()); //~ a variable, or `name = expression`
    event!(important: true, tl, Priority::Info, NET, "to {x}", x); //~ message are literals
    let _a = span!(tl, Priority::Info, "net", "to {x}", 1); //~ a variable, or `name = expression`
    let _b = async_span!(tl, Priority::Info, "net", "{x}", 1); //~ or `name = expression`
}

fn main() {}
