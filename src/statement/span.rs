//! `span!` and `async_span!` define the two events of a span where it begins.

use super::argument::Argument;
use super::arguments::{ArgumentList, Arguments};
use super::message::length_without_types;
use super::site::{Find, Site, Sites, StatementText};
use super::types::{OwnedList, Types};
use crate::event::{EventId, FieldType, Priority};
use crate::ring::log::EnabledEvent;
use crate::timeline::{SpanValues, Timeline};

/// Begins a span, and ends it when the result is dropped: `let _breath = span!(…)`.
///
/// `span!(timeline, priority, "category", "breath {packets}", packets)`
///
/// It takes what [`event!`](crate::event!) takes, with `important: true,` and
/// `channels: "itv|bbc",` before the timeline, and defines and logs two events: "begin breath
/// {packets}" and "end breath {packets}". Readers pair them as the span `category.breath`. The
/// message begins with words, which name the span.
///
/// The result, a [`Span`](crate::Span), keeps the arguments until the end, which has them as well.
/// A variable is copied or moved into it; of a text or an array, give a reference. To give the end
/// newer values, let an argument be a reference to a [`Cell`](std::cell::Cell): each of the two
/// events has the value of its moment. Arguments are evaluated once, and only if the begin is
/// logged. If it is not, the end is not either.
///
/// `let _ = span!(…)` would end the span at once: give it a name.
///
/// With the feature `off`, the compiler checks the statement and leaves it out.
///
/// # Example
/// ```
/// use std::cell::Cell;
/// use timeline::{Attached, Priority, Timeline, span};
/// # let path = format!("/timeline-doc-span-macro-{}", std::process::id());
/// # let path = path.as_str();
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// let (link, packets) = ("eth0", Cell::new(0));
/// {
///     let _breath = span!(tl, Priority::Info, "engine", "breath {link} {packets}", link,
///         packets = &packets);
///     packets.set(17);
/// }
///
/// let mut shown = Vec::new();
/// timeline::dump::write(&Attached::open(path)?, None, &mut shown)?;
/// let shown = String::from_utf8(shown)?;
/// assert!(shown.contains("begin breath link(eth0) packets(0)"), "{shown}");
/// assert!(shown.contains("end breath link(eth0) packets(17)"), "{shown}");
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Mistakes do not compile:
/// ```compile_fail,E0080
/// # let tl: timeline::Timeline = todo!();
/// # let packets = 1;
/// let _span = timeline::span!(tl, timeline::Priority::Info, "engine", "{packets}", packets);
/// ```
#[macro_export]
macro_rules! span {
    ($($span:tt)*) => {
        $crate::statement::spans!(Span false ["begin ", "end "] $($span)*)
    };
}

/// Begins a span that may end in another thread: it ends when the result is dropped.
///
/// `async_span!(timeline, priority, "category", "request {id}", id)`
///
/// The result is an [`AsyncSpan`](crate::AsyncSpan). The events are "start request {id}" and
/// "finish request {id}". The first argument is the key, by which readers pair them. All else is as
/// for [`span!`](crate::span!).
///
/// # Example
/// ```
/// use timeline::{Priority, Timeline, async_span};
/// # let path = format!("/timeline-doc-async-span-macro-{}", std::process::id());
/// # let tl = Timeline::with_size(&path, 1024, 16384)?;
/// let request = async_span!(tl, Priority::Info, "net", "request {id}", id = 7);
/// std::thread::scope(|scope| {
///     scope.spawn(move || drop(request));
/// });
/// # timeline::unlink(&path)?;
/// # Ok::<(), timeline::Error>(())
/// ```
///
/// It needs a key:
/// ```compile_fail,E0080
/// # let tl: timeline::Timeline = todo!();
/// let _request = timeline::async_span!(tl, timeline::Priority::Info, "net", "request");
/// ```
#[macro_export]
macro_rules! async_span {
    ($($span:tt)*) => {
        $crate::statement::spans!(AsyncSpan true ["start ", "finish "] $($span)*)
    };
}

/// The guard, whether the first argument is a key, and the first words of both messages; then what
/// a person wrote.
#[doc(hidden)]
#[macro_export]
macro_rules! span_attributes {
    (
        $guard:ident $key:literal $words:tt
        important: $important:literal, channels: $channels:literal, $($span:tt)*
    ) => {
        $crate::statement::span_statement!($guard $key $words $important $channels $($span)*)
    };
    (
        $guard:ident $key:literal $words:tt
        channels: $channels:literal, important: $important:literal, $($span:tt)*
    ) => {
        $crate::statement::span_statement!($guard $key $words $important $channels $($span)*)
    };
    ($guard:ident $key:literal $words:tt important: $important:literal, $($span:tt)*) => {
        $crate::statement::span_statement!($guard $key $words $important "" $($span)*)
    };
    ($guard:ident $key:literal $words:tt channels: $channels:literal, $($span:tt)*) => {
        $crate::statement::span_statement!($guard $key $words false $channels $($span)*)
    };
    ($guard:ident $key:literal $words:tt $($span:tt)*) => {
        $crate::statement::span_statement!($guard $key $words false "" $($span)*)
    };
}

/// [`span!`] and [`async_span!`] with all attributes.
#[doc(hidden)]
#[macro_export]
macro_rules! span_statement {
    (
        $guard:ident $key:literal [$begin:literal, $end:literal]
        $important:literal $channels:literal
        $timeline:expr, $priority:expr, $category:literal, $message:literal
        $(, $name:ident $(= $value:expr)?)* $(,)?
    ) => {{
        // As in `event!`.
        static __TIMELINE_SITES: $crate::statement::SpanSite = $crate::statement::SpanSite::new(
            $crate::statement::StatementText {
                category: $crate::statement::literal!($category),
                message: "",
                place: (
                    $crate::statement::literal!(::core::file!()),
                    ::core::line!(),
                ),
                attributes: $crate::statement::Attributes {
                    channels: $crate::statement::literal!($channels),
                    important: $important,
                },
            },
            $crate::statement::literal!($begin, $message),
            $crate::statement::literal!($end, $message),
        );
        const _: () = {
            let names: &[&str] = &[$(::core::stringify!($name)),*];
            $crate::statement::check($category, ::core::concat!($begin, $message), names);
            $crate::statement::check($category, ::core::concat!($end, $message), names);
            $crate::statement::check_span($message, $key, names.len());
            $crate::statement::check_channels($channels);
        };
        if $crate::statement::ON {
            let __timeline = &$timeline;
            let __timeline: &$crate::statement::Timeline = __timeline;
            let __arguments = $crate::statement::Arguments::<_, _>::new();
            __arguments.fits::<{ $crate::statement::longer([$begin, $end], $message) }>();
            match __TIMELINE_SITES.begin(__timeline, $priority, __arguments) {
                ::core::option::Option::Some(__events) => $crate::$guard::begin(
                    __timeline,
                    __events,
                    __arguments.keep::<{ <[&str]>::len(&[$(::core::stringify!($name)),*]) }>(
                        $crate::statement::kept!($($name $(= $value)?,)*),
                        __arguments.how(),
                    ),
                ),
                ::core::option::Option::None => $crate::$guard::none(),
            }
        } else {
            $crate::$guard::none()
        }
    }};
    ($($other:tt)*) => { $crate::statement::refused!() };
}

/// The arguments of [`span!`] as a list: `Owned(a, Owned(b, ()))`.
#[doc(hidden)]
#[macro_export]
macro_rules! span_values {
    () => { () };
    ($name:ident, $($rest:tt)*) => {
        $crate::statement::OwnedList($name, $crate::statement::kept!($($rest)*))
    };
    ($name:ident = $value:expr, $($rest:tt)*) => {
        $crate::statement::OwnedList($value, $crate::statement::kept!($($rest)*))
    };
}

// Behind the macros, which have no names before.
#[doc(hidden)]
pub use {span_attributes as spans, span_statement, span_values as kept};

/// The bytes of the longer one of both messages, without the types of arguments.
pub const fn longer(first_words: [&str; 2], message: &str) -> usize {
    let [begin, end] = [first_words[0].len(), first_words[1].len()];
    length_without_types(message) + if begin > end { begin } else { end }
}

/// A list of arguments that a span owns.
pub trait Keep: Types {
    /// The list of references to them.
    type References<'a>: ArgumentList
    where
        Self: 'a;

    /// References to them.
    fn references(&self) -> Self::References<'_>;
}

impl Keep for () {
    type References<'a> = ();

    #[inline(always)]
    fn references(&self) {}
}

impl<A: Argument, K: Keep> Keep for OwnedList<A, K> {
    type References<'a>
        = (&'a A, K::References<'a>)
    where
        Self: 'a;

    #[inline(always)]
    fn references(&self) -> Self::References<'_> {
        (&self.0, self.1.references())
    }
}

/// `N` arguments that a span keeps.
pub struct SpanArguments<K, const N: usize>(K);

impl<K: Keep, F> Arguments<K, F> {
    /// Keeps these. `_` tells how the statement has found the events.
    #[inline(always)]
    pub fn keep<const N: usize>(self, arguments: K, _: F) -> SpanArguments<K, N> {
        SpanArguments(arguments)
    }
}

impl<K: Keep, const N: usize> SpanValues for SpanArguments<K, N> {
    #[inline(always)]
    fn log(&self, timeline: &Timeline, event: EnabledEvent) {
        let references = self.0.references();
        Arguments::of(&references).log::<N>(timeline, event, references, ());
    }
}

/// The two statements of a span, in static memory.
pub struct SpanSite {
    begin: Sites,
    end: Sites,
}

impl SpanSite {
    /// A site that knows no event yet, of events with these messages.
    pub const fn new(words: StatementText, begin: &'static str, end: &'static str) -> SpanSite {
        SpanSite {
            begin: Sites::new(StatementText {
                message: begin,
                ..words
            }),
            end: Sites::new(StatementText {
                message: end,
                ..words
            }),
        }
    }

    /// The events of this span, if it begins now. Defines them in the first run.
    #[inline(always)]
    pub fn begin<K: Types, F: Find>(
        &'static self,
        timeline: &Timeline,
        priority: Priority,
        _: Arguments<K, F>,
    ) -> Option<(EnabledEvent, EventId)> {
        let site = F::site::<K>(&self.begin);
        let begin = match site.first(timeline, priority) {
            Some(event) => event,
            None => find_begin(site, F::site::<K>(&self.end), timeline, priority, K::types)?,
        };
        let begin = timeline.enabled_event(begin)?;
        let site = F::site::<K>(&self.end);
        let end = match site.first(timeline, priority) {
            Some(event) => event,
            None => find_end(site, timeline, priority, K::types)?,
        };
        Some((begin, end))
    }
}

/// The event of the begin. If it is not defined, defines both, so that a later run takes no lock.
#[cold]
#[inline(never)]
fn find_begin(
    begin: &Site,
    end: &Site,
    timeline: &Timeline,
    priority: Priority,
    types: fn() -> Vec<FieldType<'static>>,
) -> Option<EventId> {
    // The end first: once the begin is known, a signal handler may run the statement. In a later
    // run it may be known, where there was no room for the begin.
    if !begin.knows(timeline, priority) && !end.knows(timeline, priority) {
        end.find(timeline, priority, types);
    }
    begin.find(timeline, priority, types)
}

/// The event of the end of a span whose begin is defined. If it cannot be defined, the begin is not
/// logged, and so counted as well.
#[cold]
#[inline(never)]
fn find_end(
    end: &Site,
    timeline: &Timeline,
    priority: Priority,
    types: fn() -> Vec<FieldType<'static>>,
) -> Option<EventId> {
    let end = end.find(timeline, priority, types);
    if end.is_none() {
        timeline.dropped_undefined(priority);
    }
    end
}
