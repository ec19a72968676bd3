//! The macros for structs and enums, with their documentation: its examples use this library.

/// Gives a struct with named fields the function `log`, which logs its values as a typed event.
///
/// ```
/// use timeline::{Attached, Bytes, Event, Timeline};
///
/// /// A packet left the machine.
/// #[derive(Event)]
/// #[event(category = "net", priority = Info, message = "sent {size} to {host}")]
/// struct Sent<'a> {
///     size: Bytes,
///     host: &'a str,
/// }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = format!("/timeline-doc-derive-{}", std::process::id());
/// # let path = path.as_str();
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// Sent { size: Bytes(4096), host: "eth0" }.log(&tl);
///
/// let mut shown = Vec::new();
/// timeline::dump::write(&Attached::open(path)?, None, &mut shown)?;
/// let shown = String::from_utf8(shown)?;
/// assert!(shown.contains("sent size(4 KiB) to host(eth0)"), "{shown}");
/// # timeline::unlink(path)?;
/// # Ok(())
/// # }
/// ```
///
/// Options of the struct, in `#[event(…)]`:
///
/// | option | meaning |
/// |---|---|
/// | `category = "net"` | the category; required |
/// | `priority = Info` | a priority of `timeline::Priority`; without it, `Info` |
/// | `message = "sent {size}"` | the message, with a place for each field, in any order |
/// | `important` | nothing overwrites the event; see `timeline::Attributes` |
/// | `channels = "itv\|bbc"` | its channels; see `timeline::Attributes` |
/// | `crate = path` | where the crate `timeline` is, if it has another name |
///
/// Without a message, it has the words of the struct's name and all fields: `TcpSent` logs `tcp
/// sent {size} {host}`. Each field is a `timeline::Argument`, or is left out by `#[event(skip)]`.
/// The documentation of the struct explains the event to readers. Lifetimes, type parameters and
/// constant parameters work; each set of types is an event of its own.
///
/// The struct gets two functions, as visible as itself:
///
/// - `fn log(&self, timeline: &Timeline)` logs the event, if it is enabled. Like a statement of
///   `event!`, it defines the event when it first runs for a timeline.
/// - `fn define(timeline: &Timeline) -> timeline::Result<EventId>` defines the event before. After
///   that, `log` takes no lock and allocates nothing, in signal handlers and forked children as
///   well.
///
/// With the feature `off` of the crate `timeline`, `log` does nothing.
///
/// Mistakes do not compile:
/// ```compile_fail
/// #[derive(timeline::Event)]
/// #[event(category = "net", message = "sent {size} to {hots}")]
/// struct Sent { size: u32, host: u32 } // hots is no field
/// ```
/// ```compile_fail
/// #[derive(timeline::Event)]
/// #[event(category = "net", message = "sent {size}")]
/// struct Sent { size: u32, host: u32 } // host has no place
/// ```
/// ```compile_fail
/// #[derive(timeline::Event)]
/// struct Sent { size: u32 } // no category
/// ```
/// ```compile_fail,E0599
/// #[derive(timeline::Event)]
/// #[event(category = "net", priority = Important)]
/// struct Sent { size: u32 } // no such priority
/// ```
/// ```compile_fail,E0277
/// #[derive(timeline::Event)]
/// #[event(category = "net")]
/// struct Sent { to: std::net::Ipv4Addr } // no argument of an event
/// ```
pub use timeline_derive::Event;

/// Gives the values of an enum without fields their names, so that events show them.
///
/// ```
/// use timeline::{Event, Flags, Named};
///
/// #[derive(Named)]
/// enum Port { Down, Up = 7 } // enum(Down=0,Up=7)
///
/// #[derive(Named)]
/// enum Access { Read = 1, Write = 2 }
///
/// #[derive(Event)]
/// #[event(category = "net")]
/// struct Opened { port: Port, access: Flags<Access> }
/// # fn log(tl: &timeline::Timeline) {
/// Opened { port: Port::Up, access: Flags::new(3) }.log(tl); // port(Up) access(Read|Write)
/// # }
/// ```
///
/// The enum implements `timeline::Named` and `timeline::Argument`. `#[event(crate = path)]` says
/// where the crate `timeline` is, if it has another name.
///
/// Mistakes do not compile:
/// ```compile_fail
/// #[derive(timeline::Named)]
/// enum Port { Down, Up(u32) } // a field
/// ```
/// ```compile_fail
/// #[derive(timeline::Named)]
/// struct Port { up: bool } // no enum
/// ```
/// ```compile_fail,E0277
/// enum Access { Read = 1, Write = 2 } // does not derive Named
/// let access = timeline::Flags::<Access>::new(3);
/// ```
pub use timeline_derive::Named;
