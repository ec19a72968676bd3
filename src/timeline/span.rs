//! Spans of programs: two events, of which a guard logs the second one when it is dropped.

use std::marker::PhantomData;

use super::{ON, Timeline};
use crate::error::Result;
use crate::event::{Attributes, EventId, Pairing, Priority};
use crate::layout::MAX_ARGUMENTS;
use crate::ring::log::EnabledEvent;

/// The two events of a span, from [`Timeline::define_span`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanEvents {
    /// Logged when a span begins.
    pub begin: EventId,
    /// Logged when it ends.
    pub end: EventId,
}

/// What both events of a span say.
pub trait SpanValues {
    /// Logs one of them.
    fn log(&self, timeline: &Timeline, event: EnabledEvent);
}

impl<const N: usize> SpanValues for [i64; N] {
    #[inline(always)]
    fn log(&self, timeline: &Timeline, event: EnabledEvent) {
        const { assert!(N <= MAX_ARGUMENTS, "a span has at most four arguments") };
        let mut all = [0; MAX_ARGUMENTS];
        all[..N].copy_from_slice(self);
        timeline.log_enabled(event, all);
    }
}

/// A span that has begun and ends in its thread: dropping it logs the end.
///
/// [`Timeline::span`] and [`span!`](crate::span!) make one. Nothing is logged if the event of the
/// begin is disabled when it begins, or that of the end when it ends. A panic that unwinds ends it.
/// It does not end if it is leaked, as by [`std::mem::forget`], or if the process aborts.
///
/// It cannot be sent to another thread, because readers pair the events of one thread:
/// ```compile_fail,E0277
/// # let tl: timeline::Timeline = todo!();
/// # let events: timeline::SpanEvents = todo!();
/// let span = tl.span(events, []);
/// std::thread::scope(|scope| { scope.spawn(move || drop(span)); });
/// ```
#[must_use = "a span ends when this is dropped: keep it, as in `let _span = …`"]
pub struct Span<'a, V: SpanValues> {
    open: Open<'a, V>,
    of_its_thread: PhantomData<*const ()>,
}

/// A span that has begun and may end in any thread: dropping it logs the end.
///
/// [`Timeline::async_span`] and [`async_span!`](crate::async_span!) make one. Readers pair its
/// events by the first argument, the key. All else is as for [`Span`].
#[must_use = "a span ends when this is dropped: keep it, as in `let _span = …`"]
pub struct AsyncSpan<'a, V: SpanValues> {
    open: Open<'a, V>,
}

/// What logs the end; nothing if the begin was not logged.
struct Open<'a, V: SpanValues>(Option<Begun<'a, V>>);

struct Begun<'a, V> {
    timeline: &'a Timeline,
    end: EventId,
    values: V,
}

impl<'a, V: SpanValues> Open<'a, V> {
    #[inline(always)]
    fn begin(timeline: &'a Timeline, (begin, end): (EnabledEvent, EventId), values: V) -> Self {
        values.log(timeline, begin);
        Open(Some(Begun {
            timeline,
            end,
            values,
        }))
    }

    fn set(&mut self, values: V) {
        if let Some(begun) = &mut self.0 {
            begun.values = values;
        }
    }
}

impl<V: SpanValues> Drop for Open<'_, V> {
    #[inline(always)]
    fn drop(&mut self) {
        // Without `ON`, the compiler might not see that there is never one.
        if ON
            && let Some(begun) = &self.0
            && let Some(end) = begun.timeline.enabled_event(begun.end)
        {
            begun.values.log(begun.timeline, end);
        }
    }
}

impl<'a, V: SpanValues> Span<'a, V> {
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin(timeline: &'a Timeline, events: (EnabledEvent, EventId), values: V) -> Self {
        Span::of(Open::begin(timeline, events, values))
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn none() -> Self {
        Span::of(Open(None))
    }

    #[inline(always)]
    fn of(open: Open<'a, V>) -> Self {
        Span {
            open,
            of_its_thread: PhantomData,
        }
    }
}

impl<const N: usize> Span<'_, [i64; N]> {
    /// Gives the end other arguments than the begin had.
    #[inline]
    pub fn set(&mut self, args: [i64; N]) {
        self.open.set(args);
    }
}

impl<'a, V: SpanValues> AsyncSpan<'a, V> {
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin(timeline: &'a Timeline, events: (EnabledEvent, EventId), values: V) -> Self {
        AsyncSpan::of(Open::begin(timeline, events, values))
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn none() -> Self {
        AsyncSpan::of(Open(None))
    }

    #[inline(always)]
    fn of(open: Open<'a, V>) -> Self {
        AsyncSpan { open }
    }
}

impl<const N: usize> AsyncSpan<'_, [i64; N]> {
    /// Gives the end other arguments than the begin had.
    #[inline]
    pub fn set(&mut self, args: [i64; N]) {
        self.open.set(args);
    }
}

impl Timeline {
    /// Defines a span: two events that differ in the first word of their message.
    ///
    /// "breath $packets" of category `engine` defines "begin breath $packets" and "end breath
    /// $packets", which readers pair as the span `engine.breath`. Both have the arguments of the
    /// message. A span ends in the thread in which it began, and spans of a thread nest.
    ///
    /// # Errors
    /// `BadText` if the message does not begin with words, which name the span. Those of
    /// [`define`](Timeline::define): then the begin may be defined.
    ///
    /// # Example
    /// ```
    /// use timeline::{Attached, Priority, Timeline};
    /// # let path = format!("/timeline-doc-span-{}", std::process::id());
    /// # let path = path.as_str();
    /// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
    /// let breath = tl.define_span("engine", Priority::Info, "breath $packets")?;
    /// {
    ///     let mut span = tl.span(breath, [0]);
    ///     span.set([17]);
    /// }
    ///
    /// let mut shown = Vec::new();
    /// timeline::dump::write(&Attached::open(path)?, None, &mut shown)?;
    /// let shown = String::from_utf8(shown)?;
    /// assert!(shown.contains("begin breath packets(0)"), "{shown}");
    /// assert!(shown.contains("end breath packets(17)"), "{shown}");
    /// # timeline::unlink(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn define_span(
        &self,
        category: &str,
        priority: Priority,
        message: &str,
    ) -> Result<SpanEvents> {
        let plain = Attributes::default();
        self.define_span_with(category, priority, message, Pairing::Thread, &plain)
    }

    /// Defines a span that may end in another thread or process than it began in.
    ///
    /// "request $id" defines "start request $id" and "finish request $id". The first argument is
    /// the key: readers pair the events with the same key.
    ///
    /// # Errors
    /// Those of [`define_span`](Timeline::define_span); `BadText` also if there is no argument.
    ///
    /// # Example
    /// ```
    /// use timeline::{Priority, Timeline};
    /// # let path = format!("/timeline-doc-async-span-{}", std::process::id());
    /// # let tl = Timeline::with_size(&path, 1024, 16384)?;
    /// let request = tl.define_async_span("net", Priority::Info, "request $id")?;
    /// tl.log(request.begin, [7]);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| tl.log(request.end, [7]));
    /// });
    /// # timeline::unlink(&path)?;
    /// # Ok::<(), timeline::Error>(())
    /// ```
    pub fn define_async_span(
        &self,
        category: &str,
        priority: Priority,
        message: &str,
    ) -> Result<SpanEvents> {
        let plain = Attributes::default();
        self.define_span_with(category, priority, message, Pairing::Key, &plain)
    }

    /// Defines a span of either kind, with attributes, which both events have.
    ///
    /// # Errors
    /// Those of [`define_span`](Timeline::define_span) or
    /// [`define_async_span`](Timeline::define_async_span), and of
    /// [`define_with`](Timeline::define_with).
    pub fn define_span_with(
        &self,
        category: &str,
        priority: Priority,
        message: &str,
        pairing: Pairing,
        attributes: &Attributes,
    ) -> Result<SpanEvents> {
        let [begin, end] = pairing.messages(message)?;
        Ok(SpanEvents {
            begin: self.define_with(category, priority, &begin, attributes)?,
            end: self.define_with(category, priority, &end, attributes)?,
        })
    }

    /// Begins a span with up to four arguments. Dropping the result ends it, with the same
    /// arguments, unless [`Span::set`] gave it others.
    ///
    /// Both events are logged as by [`Timeline::log`]. With the feature `off` it does nothing.
    #[inline]
    pub fn span<const N: usize>(&self, events: SpanEvents, args: [i64; N]) -> Span<'_, [i64; N]> {
        match self.begin_of(events) {
            Some(begin) => Span::begin(self, (begin, events.end), args),
            None => Span::none(),
        }
    }

    /// The same for a span of [`Timeline::define_async_span`], which may end in another thread.
    #[inline]
    pub fn async_span<const N: usize>(
        &self,
        events: SpanEvents,
        args: [i64; N],
    ) -> AsyncSpan<'_, [i64; N]> {
        match self.begin_of(events) {
            Some(begin) => AsyncSpan::begin(self, (begin, events.end), args),
            None => AsyncSpan::none(),
        }
    }

    /// The begin, if it is logged now.
    #[inline(always)]
    fn begin_of(&self, events: SpanEvents) -> Option<EnabledEvent> {
        match ON {
            true => self.enabled_event(events.begin),
            false => None,
        }
    }
}
