//! Tries types for the arguments of a message: what a program most likely has comes first.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use timeline::internal::{FIELD_TYPES, FieldDescriptor, ValueKind, brace_parts, fields};
use timeline::statement::with_types;
use timeline::{Definition, Element, EventId, Layout, Priority};

use super::lost_texts::{LostTexts, ValueKinds};

/// A message, and where types belong in it.
pub struct TypeTemplate {
    text: String,
    /// Where a type belongs, and to which of the arguments.
    places: Vec<(usize, usize)>,
    arguments: usize,
    /// How the type of signed numbers of 64 bits is written.
    long: &'static str,
}

impl TypeTemplate {
    /// A message of C or C++: `sent $size to $host:istr`. Types that are in it stay; an argument
    /// without one is a signed number of 64 bits. `None` if there is nothing to be tried.
    pub fn of_c(message: &str) -> Option<TypeTemplate> {
        let all: Vec<_> = fields(message).collect();
        let untyped = all.iter().enumerate().filter(|(_, field)| !field.has_type);
        let places = untyped.map(|(number, field)| (end(message, field.name), number));
        let template = TypeTemplate {
            places: places.collect(),
            arguments: all.len(),
            text: message.to_owned(),
            long: "",
        };
        (!template.places.is_empty()).then_some(template)
    }

    /// A message of a statement of Rust: `sent {size} to {host}`. `None` if it has no braces, or
    /// what no statement has.
    pub fn of_rust(message: &str) -> Option<TypeTemplate> {
        if !message.contains(['{', '}']) || brace_parts(message).any(|part| part.is_none()) {
            return None;
        }
        let typed = with_types(message, &[]);
        let (mut text, mut places, mut at) = (String::new(), Vec::new(), 0);
        for field in fields(&typed) {
            let from = end(&typed, field.name);
            text.push_str(&typed[at..from]);
            typed[from..].strip_prefix(LONG)?;
            places.push((text.len(), places.len()));
            at = from + LONG.len();
        }
        text.push_str(&typed[at..]);
        Some(TypeTemplate {
            arguments: places.len(),
            text,
            places,
            long: LONG,
        })
    }
}

/// Where a part of a text ends.
fn end(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize + part.len()
}

/// A type that an argument may have.
struct Choice {
    kind: Option<ValueKind>,
    /// Whether it is a number: a word of a plain event, whose kind nobody knows.
    is_number: bool,
    /// As a message names it behind the argument.
    text: String,
}

/// The type that messages of C leave out.
const LONG: &str = ":i64";

impl Choice {
    fn new(text: String) -> Choice {
        let message = format!("$a{text}");
        let definition = Definition::new(EventId(1), "a", Priority::Info, message);
        let kind = Layout::of(&definition).kinds().next();
        Choice {
            kind,
            is_number: !matches!(kind, None | Some(ValueKind::Text | ValueKind::LongDouble)),
            text,
        }
    }

    fn fits(&self, kind: Option<ValueKind>) -> bool {
        match kind {
            Some(kind) => self.kind == Some(kind),
            None => self.is_number,
        }
    }
}

/// The types that statements have most often, as recordings show; the others follow in the order of
/// the table.
const FREQUENT: [&str; 16] = [
    "i32", "u32", "i64", "u64", "str", "f64", "ptr", "bool", "u8", "u16", "i16", "i8", "f32",
    "char", "ns", "bytes",
];
/// The same, of the numbers of arrays.
const FREQUENT_IN_ARRAYS: [&str; 9] = ["u8", "i8", "u32", "i32", "u64", "i64", "f64", "f32", "u16"];

/// Names with the frequent ones first.
fn by_frequency<'a>(names: impl Iterator<Item = &'a str>, frequent: &[&str]) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    let place = |name: &&str| frequent.iter().position(|other| other == name);
    names.sort_by_key(|name| place(name).unwrap_or(frequent.len()));
    names
}

/// All types that a statement may have without naming them, the frequent ones first.
fn choices() -> &'static [Choice] {
    static CHOICES: OnceLock<Vec<Choice>> = OnceLock::new();
    CHOICES.get_or_init(|| {
        // The names of numbers are not known; arrays come behind.
        let is_plain =
            |row: &&FieldDescriptor| row.kind.labels().is_none() && row.kind.element().is_none();
        let plain = FIELD_TYPES.iter().filter(is_plain).map(|row| row.name);
        let plain = by_frequency(plain, &FREQUENT).into_iter();
        let elements = Element::ALL.map(|element| element.field().descriptor().name);
        let arrays = by_frequency(elements.into_iter(), &FREQUENT_IN_ARRAYS).into_iter();
        plain
            .map(|name| format!(":{name}"))
            .chain(arrays.map(|name| format!(":{name}[]")))
            .map(Choice::new)
            .collect()
    })
}

/// Tries the types of a message as far as values of events allow it: at most so many lists of types
/// for each list of kinds of values, and no more than the budget, which is reduced.
pub fn try_all(template: &TypeTemplate, most: u64, wanted: &mut LostTexts, budget: &mut u64) {
    // Only statements of Rust have names of numbers that no message states.
    let names = match template.long {
        LONG => wanted.names.clone(),
        _ => Vec::new(),
    };
    for kinds in wanted.kinds_of(template.arguments) {
        let options = template.places.iter().map(|(_, argument)| {
            let kind = kinds[*argument];
            let fitting = choices().iter().filter(|choice| choice.fits(kind));
            let text = |choice: &'static Choice| match choice.text.as_str() {
                LONG => template.long,
                text => text,
            };
            let has_name = matches!(kind, None | Some(ValueKind::Int));
            let names = names.iter().filter(|_| has_name).map(String::as_str);
            fitting.map(text).chain(names).collect()
        });
        let mut trial = Trial {
            template,
            options: options.collect(),
            kinds: &kinds,
            left: most.min(*budget),
            text: String::new(),
            wanted,
        };
        let left = trial.left;
        let _ = trial.run();
        *budget -= left - trial.left;
    }
}

/// What is tried of one message, for values of these kinds.
struct Trial<'a> {
    template: &'a TypeTemplate,
    /// The types that may stand in each place.
    options: Vec<Vec<&'a str>>,
    kinds: &'a ValueKinds,
    left: u64,
    text: String,
    wanted: &'a mut LostTexts,
}

impl Trial<'_> {
    /// The likely ones first, until nothing is wanted any more, or nothing is left.
    fn run(&mut self) -> ControlFlow<()> {
        self.alike(|trial, chosen| trial.one(chosen))?;
        self.frequent()?;
        self.alike(|trial, chosen| trial.but_for_one(chosen, 0, &mut Trial::one))?;
        self.alike(|trial, chosen| {
            trial.but_for_one(chosen, 0, &mut |trial, other| {
                trial.but_for_one(other, 0, &mut Trial::one)
            })
        })
    }

    /// Tries one type for each place.
    fn one(&mut self, chosen: &[usize]) -> ControlFlow<()> {
        if self.left == 0 || !self.wanted.wants(self.kinds) {
            return ControlFlow::Break(());
        }
        self.left -= 1;
        let (message, mut at) = (self.template.text.as_str(), 0);
        self.text.clear();
        let places = self.template.places.iter().zip(&self.options);
        for (((place, _), options), choice) in places.zip(chosen) {
            self.text.push_str(&message[at..*place]);
            self.text.push_str(options[*choice]);
            at = *place;
        }
        self.text.push_str(&message[at..]);
        self.wanted.try_text(&self.text);
        ControlFlow::Continue(())
    }

    /// The same type in all places with values of the same kind.
    fn alike(
        &mut self,
        mut each: impl FnMut(&mut Self, &[usize]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let kind = |(_, argument): &(usize, usize)| self.kinds[*argument];
        let kind_of: Vec<_> = self.template.places.iter().map(kind).collect();
        let mut all = kind_of.clone();
        all.sort_unstable();
        all.dedup();
        let group_of: Vec<usize> = kind_of
            .iter()
            .map(|kind| all.partition_point(|other| other < kind))
            .collect();
        let mut sizes = vec![0; all.len()];
        for (group, options) in group_of.iter().zip(&self.options) {
            sizes[*group] = options.len();
        }
        each_number(&sizes, |types| {
            let chosen: Vec<usize> = group_of.iter().map(|group| types[*group]).collect();
            each(self, &chosen)
        })
    }

    /// Any of the first two types in each place, of the first three, and so on.
    fn frequent(&mut self) -> ControlFlow<()> {
        let most = self.options.iter().map(Vec::len).max().unwrap_or(0);
        let mut before = 1;
        for count in 2..=most {
            let sizes = self.options.iter().map(|options| options.len().min(count));
            let sizes: Vec<usize> = sizes.collect();
            let mut product = sizes.iter().map(|size| *size as u64);
            let all = product.try_fold(1_u64, |all, size| all.checked_mul(size));
            let Some(all) = all.filter(|all| all - before <= self.left) else {
                break;
            };
            before = all;
            each_number(&sizes, |chosen| {
                // All others came before.
                match chosen.contains(&(count - 1)) {
                    true => self.one(chosen),
                    false => ControlFlow::Continue(()),
                }
            })?;
        }
        ControlFlow::Continue(())
    }

    /// Another type in one of the places, from one of them on.
    fn but_for_one(
        &mut self,
        chosen: &[usize],
        from: usize,
        each: &mut impl FnMut(&mut Self, &[usize]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut other = chosen.to_vec();
        for place in from..chosen.len() {
            for choice in 0..self.options[place].len() {
                other[place] = choice;
                each(self, &other)?;
            }
            other[place] = chosen[place];
        }
        ControlFlow::Continue(())
    }
}

/// All numbers whose digits are below these sizes, the first digit being the lowest.
fn each_number(
    sizes: &[usize],
    mut each: impl FnMut(&[usize]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if sizes.contains(&0) {
        return ControlFlow::Continue(());
    }
    let mut digits = vec![0; sizes.len()];
    loop {
        each(&digits)?;
        let next = digits.iter_mut().zip(sizes).find_map(|(digit, size)| {
            *digit = (*digit + 1) % size;
            (*digit > 0).then_some(())
        });
        if next.is_none() {
            return ControlFlow::Continue(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_comes_once() {
        let mut all = Vec::new();
        let _ = each_number(&[2, 3], |digits| {
            all.push(digits.to_vec());
            ControlFlow::Continue(())
        });
        assert_eq!(all, [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]);
        let mut count = 0;
        let _ = each_number(&[], |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(count, 1);
        assert!(each_number(&[2, 0], |_| ControlFlow::Break(())).is_continue());
    }

    #[test]
    fn each_type_is_tried_and_the_frequent_ones_first() {
        let texts: Vec<&str> = choices().iter().map(|choice| &*choice.text).collect();
        let rest = [":hex", ":time", ":wstr", ":istr"];
        let frequent = FREQUENT.map(|name| format!(":{name}"));
        assert_eq!(texts[..FREQUENT.len()], frequent);
        assert_eq!(texts[FREQUENT.len()..][..rest.len()], rest);
        assert_eq!(texts[FREQUENT.len() + rest.len()], ":u8[]");
        assert_eq!(texts.last(), Some(&":i16[]"));
        // Those with names of numbers are none, and there is one array for each element.
        assert_eq!(texts.len(), FIELD_TYPES.len() - 3 + Element::ALL.len());
    }

    #[test]
    fn types_belong_behind_what_has_none() {
        let template = TypeTemplate::of_c("sent $size to $host:istr, $a.").unwrap();
        assert_eq!(template.places, [(10, 0), (28, 2)]);
        assert_eq!(template.arguments, 3);
        let template = TypeTemplate::of_rust("sent {size} to {{{host}}}").unwrap();
        assert_eq!(template.text, "sent $size to {$host}");
        assert_eq!(template.places, [(10, 0), (20, 1)]);
        assert_eq!(TypeTemplate::of_rust("}} {{").unwrap().text, "} {");
        for message in ["nothing", "$a", "{größe}", "{a", "}", "{", "$a:u8 {b}"] {
            if let Some(template) = TypeTemplate::of_rust(message) {
                assert_eq!(template.arguments, 0, "{message}");
            }
        }
        for message in ["nothing", "$a:u8", "5 $"] {
            assert!(TypeTemplate::of_c(message).is_none(), "{message}");
        }
    }
}
