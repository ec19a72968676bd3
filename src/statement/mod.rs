//! Statements: `event!` and `span!` define events where they log them, with checked arguments.
//!
//! A statement has a site (site.rs), which remembers its events in src/ring/statement_events.rs;
//! fixed.rs says whether for one set of types or for each. message.rs compares its message with its
//! arguments, and apart.rs sets its texts apart in an executable. arguments.rs is a list of
//! arguments, argument.rs and types.rs have their types, named.rs those with names (enums and
//! flags), wide.rs wide texts, and others.rs paths and what there may be; payload.rs makes words of
//! them. span.rs has `span!`.

mod apart;
mod argument;
mod arguments;
mod fixed;
mod message;
mod named;
mod others;
mod payload;
mod site;
mod span;
mod types;
mod wide;

pub use apart::{between, set_apart as literal};
pub use argument::{Argument, Interned};
pub use arguments::Arguments;
pub use fixed::Fixed;
pub use message::{check, check_channels, check_span, length_without_types, with_types};
pub use named::{Flags, Named, enum_of, length_of_names, list_of_names, text_of_names};
pub use others::MayBeMissing;
pub use payload::PayloadBuilder;
pub use site::{Each, One, Sites, StatementText};
#[doc(hidden)]
pub use span::{Keep, SpanArguments, SpanSite, kept, longer, span_statement, spans};
pub use types::OwnedList;
pub use wide::Wide;

pub use crate::event::Attributes;
#[doc(hidden)]
pub use crate::ring::statement_events::{DefinitionFailure, Lookup, StatementEvents};
pub use crate::timeline::{ON, Timeline};

/// Logs an event whose message has named arguments, with their types.
///
/// `event!(timeline, priority, "category", "message with {name}", name, other = expression)`
///
/// Each `{name}` of the first line is the place of an argument, and the arguments follow in the
/// order of these places: a variable of that name, or `name = expression`. The compiler refuses
/// other names, more or fewer arguments, and types that are no [`Argument`]. `{{` and `}}` are
/// braces of the text. A letter, a digit or `[` must not follow a place directly: write
/// `took {ms} ms`. Further lines of the message explain the event.
///
/// Before `timeline` may stand `important: true,` and `channels: "itv|bbc",`, with the meaning that
/// [`Attributes`](crate::Attributes) have.
///
/// `timeline` is a [`Timeline`](crate::Timeline), or a reference to one. Arguments are evaluated
/// only if the event is logged. A message has at most 64, and 4,096 bytes with their types, to
/// which the names of enums and flags belong. An event of up to four numbers is a plain
/// entry like that of [`Timeline::log`](crate::Timeline::log); any other has a payload, in which
/// texts and arrays share the room that is left, in order. One that does not fit is cut, and says
/// so.
///
/// A statement defines its event when it first runs for a timeline and a priority. That takes locks
/// and allocates. After that it takes no lock, allocates nothing and does not wait, and may run in
/// a signal handler; it knows every timeline and priority that it has met, for as long as the
/// timeline is open. If the event cannot be defined, its events are dropped and counted
/// ([`DropCounts::undefined`](crate::DropCounts::undefined)). If the reason may pass (a lock, the
/// system), one run in 1,024 tries again, in a handler as well; a full table stays full.
///
/// In generic code, each set of types is an event of its own.
///
/// A struct with these arguments as its fields can derive [`Event`](derive@crate::Event).
///
/// With the feature `off`, the compiler checks statements and leaves them out, with their
/// arguments.
///
/// # Example
/// ```
/// use timeline::{Attached, Bytes, Priority, Timeline, event};
/// # let path = format!("/timeline-doc-event-{}", std::process::id());
/// # let path = path.as_str();
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// let (len, name) = (1500_u32, "eth0");
/// event!(tl, Priority::Info, "net", "parsed {len} of {name}", len, name);
/// event!(tl, Priority::Info, "net", "sent {size}", size = Bytes(4096));
///
/// let mut shown = Vec::new();
/// timeline::dump::write(&Attached::open(path)?, None, &mut shown)?;
/// let shown = String::from_utf8(shown)?;
/// assert!(shown.contains("parsed len(1500) of name(eth0)"), "{shown}");
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Mistakes do not compile:
/// ```compile_fail,E0080
/// # let tl: timeline::Timeline = todo!();
/// # let len = 1;
/// timeline::event!(tl, timeline::Priority::Info, "net", "sent {len} to {host}", len);
/// ```
/// ```compile_fail,E0080
/// # let tl: timeline::Timeline = todo!();
/// # let (len, host) = (1, "eth0");
/// timeline::event!(tl, timeline::Priority::Info, "net", "sent {len}", len, host);
/// ```
/// ```compile_fail,E0080
/// # let tl: timeline::Timeline = todo!();
/// # let (len, host) = (1, "eth0");
/// timeline::event!(tl, timeline::Priority::Info, "net", "sent {len} to {host}", host, len);
/// ```
/// ```compile_fail,E0277
/// # let tl: timeline::Timeline = todo!();
/// let address = std::net::Ipv4Addr::LOCALHOST;
/// timeline::event!(tl, timeline::Priority::Info, "net", "sent to {address}", address);
/// ```
#[macro_export]
macro_rules! event {
    (important: $important:literal, channels: $channels:literal, $($event:tt)*) => {
        $crate::statement::statement!($important, $channels, $($event)*)
    };
    (channels: $channels:literal, important: $important:literal, $($event:tt)*) => {
        $crate::statement::statement!($important, $channels, $($event)*)
    };
    (important: $important:literal, $($event:tt)*) => {
        $crate::statement::statement!($important, "", $($event)*)
    };
    (channels: $channels:literal, $($event:tt)*) => {
        $crate::statement::statement!(false, $channels, $($event)*)
    };
    ($($event:tt)*) => {
        $crate::statement::statement!(false, "", $($event)*)
    };
}

/// [`event!`] with all attributes.
#[doc(hidden)]
#[macro_export]
macro_rules! event_statement {
    (
        $important:literal, $channels:literal,
        $timeline:expr, $priority:expr, $category:literal, $message:literal
        $(, $name:ident $(= $value:expr)?)* $(,)?
    ) => {{
        // Names that nobody else has: the expressions of arguments see the items that stand here.
        static __TIMELINE_SITES: $crate::statement::Sites =
            $crate::statement::Sites::new($crate::statement::StatementText {
                category: $crate::statement::literal!($category),
                message: $crate::statement::literal!($message),
                place: (
                    $crate::statement::literal!(::core::file!()),
                    ::core::line!(),
                ),
                attributes: $crate::statement::Attributes {
                    channels: $crate::statement::literal!($channels),
                    important: $important,
                },
            });
        const _: () = {
            $crate::statement::check($category, $message, &[$(::core::stringify!($name)),*]);
            $crate::statement::check_channels($channels);
        };
        // With the feature `off` the compiler checks this and drops it, even when it does not
        // optimise.
        if $crate::statement::ON {
            // In two steps: of a block that has its type as expected, no reference becomes one.
            let __timeline = &$timeline;
            let __timeline: &$crate::statement::Timeline = __timeline;
            // The compiler learns the types of these below: where the values stand, and how the
            // site is found, which depends on their types.
            let __arguments = $crate::statement::Arguments::<_, _>::new();
            __arguments.fits::<{ $crate::statement::length_without_types($message) }>();
            if let ::core::option::Option::Some(__event) =
                __TIMELINE_SITES.event(__timeline, $priority, __arguments)
            {
                __arguments.log::<{ <[&str]>::len(&[$(::core::stringify!($name)),*]) }>(
                    __timeline,
                    __event,
                    $crate::statement::values!($($name $(= $value)?,)*),
                    __arguments.how(),
                );
            }
        }
    }};
    ($($other:tt)*) => { $crate::statement::refused!() };
}

/// What is said of a statement of another form.
#[doc(hidden)]
#[macro_export]
macro_rules! statement_refused {
    () => {
        ::core::compile_error!(
            "expected timeline, priority, \"category\", \"message\", arguments...: category and \
             message are literals, and an argument is a variable, or `name = expression`"
        )
    };
}

/// The arguments of [`event!`] as a list of references: `(&a, (&b, ()))`.
#[doc(hidden)]
#[macro_export]
macro_rules! event_values {
    () => { () };
    ($name:ident, $($rest:tt)*) => { (&$name, $crate::statement::values!($($rest)*)) };
    ($name:ident = $value:expr, $($rest:tt)*) => {
        (&$value, $crate::statement::values!($($rest)*))
    };
}

// Behind the macros, which have no names before.
#[doc(hidden)]
pub use {event_statement as statement, event_values as values, statement_refused as refused};
