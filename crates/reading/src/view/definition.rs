//! What the definition of an event says, as far as it is known.

use timeline::internal::{Object, Property, SourcePlace};
use timeline::{Definition, Event, EventId, Layout, Priority, TemplateField, Value};

/// The definition of an event, or none, where it is lost.
///
/// # Example
/// ```
/// use timeline_reading::DefinitionView;
/// let unknown = DefinitionView::new(None);
/// assert_eq!((unknown.category(), unknown.priority()), (None, None));
/// ```
#[derive(Clone, Copy)]
pub struct DefinitionView<'a>(Option<&'a Definition>);

/// Properties of these types name a place in a source.
const PLACES: [&str; 3] = ["SourceFile", "LineNumber", "ColumnNumber"];

impl<'a> DefinitionView<'a> {
    /// Of a definition, if there is one.
    pub fn new(definition: Option<&'a Definition>) -> DefinitionView<'a> {
        DefinitionView(definition)
    }

    /// The definition, if its message was not lost. Only then do values have names and types.
    pub fn whole(self) -> Option<&'a Definition> {
        self.0.filter(|definition| !definition.is_lost)
    }

    /// Its number in the ring.
    pub fn number(self) -> Option<u32> {
        let id = self.0?.id;
        (id != EventId::NEVER).then_some(id.0)
    }

    /// Its category.
    pub fn category(self) -> Option<&'a str> {
        text(&self.0?.category)
    }

    /// Its priority.
    pub fn priority(self) -> Option<Priority> {
        self.0?.priority
    }

    /// The name of its events, such as `engine.got_packet`, if no part of it was lost.
    pub fn name(self) -> Option<String> {
        let named = self.0.filter(|definition| definition.has_name());
        named.map(Definition::name).filter(|name| !name.is_empty())
    }

    /// The whole message as it was defined; of a lost one, the number of its string.
    pub fn template(self) -> Option<&'a str> {
        let known =
            |definition: &&Definition| !definition.is_lost || !definition.message.is_empty();
        self.0.filter(known).map(|definition| &*definition.message)
    }

    /// The lines of the message behind the first one.
    pub fn prose(self) -> Option<&'a str> {
        text(self.0?.prose())
    }

    /// Its channels.
    pub fn channels(self) -> impl Iterator<Item = &'a str> {
        let channels = self.0.map_or("", |definition| &definition.channels);
        channels.split('|').filter(|name| !name.is_empty())
    }

    /// The fields of its values. Those of printf, and of a lost message, have no names.
    pub fn fields(self) -> impl Iterator<Item = TemplateField<'a>> {
        self.whole().into_iter().flat_map(Definition::fields)
    }

    /// How its values stand in the payload of an event.
    pub fn layout(self) -> Layout {
        self.0.map_or_else(Layout::unknown, Layout::of)
    }

    /// The JSON that its events were imported from.
    pub fn object(self) -> Option<&'a Object> {
        self.whole()?.object.as_deref()
    }

    /// The properties by which each of its events names a place of its own in a source; none if
    /// the statement is the place.
    pub fn place_properties(self) -> &'a [Property] {
        let properties = self.object().map_or(&[][..], |object| object.properties());
        let names_place = |one: &Property| PLACES.contains(&&*one.kind);
        match properties.iter().any(names_place) {
            true => properties,
            false => &[],
        }
    }

    /// The place of its statement in the source.
    pub fn statement(self) -> SourcePlace {
        SourcePlace {
            file: self.0.and_then(|definition| definition.file.clone()),
            line: self.0.and_then(|definition| definition.line),
            ..SourcePlace::default()
        }
    }

    /// The place in the source that an event names, by its properties or by its statement.
    pub fn place(self, event: &Event) -> SourcePlace {
        match self.place_properties() {
            [] => self.statement(),
            properties => {
                let layout = self.layout();
                let values: Vec<Value> = event.values(&layout).collect();
                SourcePlace::of(properties, &values)
            }
        }
    }
}

fn text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
