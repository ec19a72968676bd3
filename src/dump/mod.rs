//! The dump as a table: newest to oldest, `numa core -cycles category message`.
//!
//! Here is the loop that prints, which the command uses for JSON as well. template.rs takes the
//! message of a definition apart once, messages.rs makes those that have values of other types than
//! numbers, text.rs is the buffer of both, and printable.rs decides which characters are safe to
//! show. durations.rs adds how long spans took, newest first.

mod durations;
mod messages;
mod printable;
mod template;
mod text;

pub use durations::DumpDurations;
pub use messages::{Messages, STACK, SYMBOLS, calls, frames, stack, symbol};
pub use printable::{is_printable, printable, printable_line};
pub use template::Template;
pub use text::Text;

use std::io;

use crate::attached::Attached;
use crate::event::{Definition, Nanoseconds, PerEvent, Priority};
use crate::source::{Event, Order, Source};

/// Before each line of a call stack.
pub const FRAME: &str = "    at ";
/// Bytes worth a write.
const AT_ONCE: usize = 64 * 1024;

/// The text before and after a part of a dump, such as colours of a terminal.
pub type Around = (String, String);

/// The styles of the parts of a dump. The default adds nothing.
#[derive(Default)]
pub struct Styles {
    /// The columns' names.
    pub heading: Around,
    /// An event, by the number of its priority: 0 if that is not known.
    pub priorities: [Around; Priority::ALL.len() + 1],
    /// A line that says how many entries are missing.
    pub gap: Around,
}

/// The columns of a dump, as wide as these events need them.
pub struct Table<'a> {
    source: &'a dyn Source,
    category: usize,
    /// Node and core by the number of the core, of those seen, and the node.
    places: Vec<Option<(u16, Template)>>,
    /// By the number of the event, of those seen.
    texts: PerEvent<Prepared>,
    messages: Messages<'a>,
    styles: Styles,
    /// Whether events have styles, so that the priority is needed.
    has_styles: bool,
}

impl<'a> Table<'a> {
    /// For the events of `source`.
    pub fn new(source: &'a dyn Source) -> Table<'a> {
        let widest = source
            .definitions()
            .map(|d| d.category.chars().count())
            .max();
        Table {
            source,
            category: widest.unwrap_or(0).clamp("category".len(), 24),
            places: Vec::new(),
            texts: PerEvent::new(),
            messages: Messages::new(source),
            styles: Styles::default(),
            has_styles: false,
        }
    }

    /// The same table, with styles.
    pub fn styled(mut self, styles: Styles) -> Table<'a> {
        self.has_styles = styles
            .priorities
            .iter()
            .any(|style| *style != Around::default());
        self.styles = styles;
        self
    }

    /// Writes the columns' names, behind those of other columns.
    pub fn heading(&self, others: &str, out: &mut Text) {
        let width = self.category;
        let (start, end) = &self.styles.heading;
        out.push(&format!(
            "{start}{others}numa core    -cycles {:width$} message{end}\n",
            "category"
        ));
    }

    /// Writes one row behind other columns, which `others` writes. `cycles`: since the next older
    /// event. A line below says how many entries are missing right before the event, in its lane.
    #[inline]
    pub fn row(
        &mut self,
        event: &Event,
        cycles: Option<u64>,
        others: impl FnOnce(&Event, &mut Text),
        out: &mut Text,
    ) {
        let style = match self.has_styles {
            true => self.style(event),
            false => 0,
        };
        out.push(&self.styles.priorities[style].0);
        others(event, out);
        self.place(event, out);
        out.right(cycles, 10);
        out.push(" ");
        self.text(event, out);
        took(event, out);
        out.push(&self.styles.priorities[style].1);
        out.push("\n");
        if event.missed > 0 {
            self.gap(event.missed, out);
        }
    }

    fn style(&self, event: &Event) -> usize {
        let definition = self.source.definition(event.id);
        let priority = definition.and_then(|definition| definition.priority);
        priority.map_or(0, |priority| priority as usize)
    }

    /// Writes how many entries are missing.
    #[cold]
    fn gap(&self, missed: u64, out: &mut Text) {
        let digits = missed.to_string();
        let mut count = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                count.push(',');
            }
            count.push(digit);
        }
        let entries = if missed == 1 { "entry" } else { "entries" };
        let (start, end) = &self.styles.gap;
        out.push(&format!("{start}… {count} {entries} missing …{end}\n"));
    }

    /// Writes the columns of node and core.
    #[inline]
    fn place(&mut self, event: &Event, out: &mut Text) {
        match self.places.get(usize::from(event.core)) {
            Some(Some((node, place))) if *node == event.node => out.fill(place, &[0; 4]),
            _ => self.new_place(event, out),
        }
    }

    /// As `place`, on a core not seen before or not known.
    #[cold]
    fn new_place(&mut self, event: &Event, out: &mut Text) {
        let start = out.len();
        out.right(event.known_node().map(u64::from), 4);
        out.push(" ");
        out.right(event.known_core().map(u64::from), 4);
        out.push(" ");
        let core = usize::from(event.core);
        // No room for all the cores there can be, for the sake of one that is none.
        if event.known_core().is_some() {
            let mut place = Template::new();
            place.push_bytes(&out.as_bytes()[start..]);
            if self.places.len() <= core {
                self.places.resize_with(core + 1, || None);
            }
            self.places[core] = Some((event.node, place));
        }
    }

    /// Writes category and message, without a line break, as far as they are [printable]; a line
    /// break in the message shows as `\n`. A call stack follows in lines of its own.
    #[inline]
    fn text(&mut self, event: &Event, out: &mut Text) {
        match self.texts.get(event.id) {
            Some(text) if text.is_whole && event.payload.is_none() => {
                out.fill(&text.template, &event.args);
            }
            Some(text) if !text.is_whole => {
                out.fill(&text.template, &event.args);
                self.message(event, self.source.definition(event.id), out);
            }
            _ => self.new_text(event, out),
        }
    }

    /// As `text`, of an event not seen before or not defined.
    #[cold]
    fn new_text(&mut self, event: &Event, out: &mut Text) {
        let definition = self.source.definition(event.id);
        let mut text = Prepared::new(definition, self.category);
        // In a damaged ring, an event of four numbers has a payload.
        if text.is_whole && event.payload.is_some() {
            text = Prepared::category(definition, self.category);
        } else if let Some(known) = definition.filter(|definition| !definition.is_lost) {
            self.texts.insert(event.id, known, text);
            return self.text(event, out);
        }
        out.fill(&text.template, &event.args);
        self.message(event, definition, out);
    }

    /// Writes the message and the call stack of an event that is not filled into a template.
    fn message(&mut self, event: &Event, definition: Option<&'a Definition>, out: &mut Text) {
        let message = self.messages.text(event, definition);
        out.push(&printable_line(&message));
        for frame in stack(self.source, event) {
            out.push(&format!("\n{FRAME}{}", printable(&frame)));
        }
    }
}

/// The text of the events of one definition.
struct Prepared {
    /// The category, and the message if that is filled in.
    template: Template,
    is_whole: bool,
}

impl Prepared {
    /// The category in a column of this width, and the message, if all of its values are numbers.
    fn new(definition: Option<&Definition>, width: usize) -> Prepared {
        let mut text = Prepared::category(definition, width);
        text.is_whole =
            definition.is_some_and(|definition| text.template.message(definition, printable_line));
        text
    }

    fn category(definition: Option<&Definition>, width: usize) -> Prepared {
        let category = definition.map_or("?", Definition::shown_category);
        let mut template = Template::new();
        template.push(&format!("{:width$} ", printable(category)));
        Prepared {
            template,
            is_whole: false,
        }
    }
}

/// Writes how long the span took that an event ends, if that is known: ` took 12.5µs`.
#[inline]
pub fn took(event: &Event, out: &mut Text) {
    if let Some(duration) = event.duration {
        let duration = Nanoseconds(i64::try_from(duration).unwrap_or(i64::MAX));
        out.push(&format!(" took {duration}"));
    }
}

/// Writes a dump under a line with the columns' names: all important events, and at most `max` of
/// the others, each newest to oldest.
/// If entries of a lane are missing before an event, a line below it says how many were
/// overwritten. Behind an event that ends a span stands how long this took.
///
/// # Example
/// ```
/// # use timeline::{dump, Attached, Priority, Timeline};
/// # let path = format!("/timeline-doc-dump-{}", std::process::id());
/// # let timeline = Timeline::with_size(&path, 1024, 4096)?;
/// # let event = timeline.define("example", Priority::Trace, "processed $tcp")?;
/// # timeline.log(event, [10]);
/// let mut text = Vec::new();
/// dump::write(&Attached::open(&path)?, Some(20), &mut text)?;
/// let text = String::from_utf8(text)?;
/// assert!(text.starts_with("numa core    -cycles category message\n"));
/// assert!(text.ends_with("example  processed tcp(10)\n"));
/// # timeline::unlink(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Only those of `out`.
pub fn write(
    attached: &Attached,
    max: Option<u64>,
    out: &mut (impl io::Write + ?Sized),
) -> io::Result<()> {
    let mut table = Table::new(attached);
    let mut text = Text::new();
    table.heading("", &mut text);
    let max = max.and_then(|max| usize::try_from(max).ok());
    let events = Newest {
        events: DumpDurations::new(attached, attached.events(Order::NewestFirst)),
        most: max.unwrap_or(usize::MAX),
        have_one_clock: |_: &Event, _: &Event| true,
    };
    events.print(text, out, |event, cycles, text| {
        table.row(event, cycles, |_, _| (), text);
    })
}

/// Events to be printed, newest first. Important ones come before the others.
pub struct Newest<I, C> {
    /// All of them.
    pub events: I,
    /// How many of those that are not important are printed.
    pub most: usize,
    /// Whether the ticks of two events are of one clock.
    pub have_one_clock: C,
}

impl<I, C> Newest<I, C>
where
    I: Iterator<Item = Event>,
    C: Fn(&Event, &Event) -> bool,
{
    /// Prints events under `text`, each as `write` appends it, with many of them in one write to
    /// `out`. `write` gets an event and the ticks since the next older one; `None` for the oldest
    /// important event and the oldest other one, and where the ticks of one of the two are not
    /// known.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn print(
        mut self,
        mut text: Text,
        out: &mut (impl io::Write + ?Sized),
        mut write: impl FnMut(&Event, Option<u64>, &mut Text),
    ) -> io::Result<()> {
        // The next event takes the place of the one that was printed, because moving one takes as
        // long as reading it.
        let mut places = [None, None];
        let mut left = self.most;
        for older in [1, 0].into_iter().cycle() {
            places[older] = self.events.next();
            if let Some(event) = &places[1 - older] {
                write(event, self.cycles(event, places[older].as_ref()), &mut text);
                if text.len() >= AT_ONCE {
                    out.write_all(text.as_bytes())?;
                    text.clear();
                }
            }
            match &places[older] {
                Some(next) if next.important => {}
                Some(_) if left > 0 => left -= 1,
                _ => break,
            }
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    #[inline]
    fn cycles(&self, event: &Event, older: Option<&Event>) -> Option<u64> {
        let older = older
            .filter(|older| older.important == event.important)
            .filter(|older| older.ticks != 0 && event.ticks != 0)
            .filter(|older| (self.have_one_clock)(event, older))?;
        Some(event.ticks.saturating_sub(older.ticks))
    }
}
