//! Says what the events of a definition mean for the durations that are wanted.

use timeline::internal::{Edge, matches_pattern};
use timeline::{Definition, Layout, Pairing, Value};

use super::measure::{Measure, Series, ValueUnit, times};

/// What an event of a definition does for one measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Role {
    /// The number of the measure.
    pub measure: usize,
    /// The number of the series.
    pub series: usize,
    pub action: RoleAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleAction {
    End,
    /// With the position of the key.
    EndKey(usize),
    Begin,
    BeginKey(usize),
    Every,
    /// With the position of the value, and what it is multiplied by.
    Value(usize, Option<u64>),
}

/// The roles of a definition, in the order in which they are played: an event that ends one
/// duration and begins another does it in this order.
pub struct Roles {
    pub layout: Layout,
    pub list: Vec<Role>,
}

impl Roles {
    /// Adds series to the list if they are new.
    pub fn of(definition: &Definition, measures: &[Measure], series: &mut Vec<Series>) -> Roles {
        let name = definition.name();
        let mut list = Vec::new();
        for (measure, wanted) in measures.iter().enumerate() {
            let actions = actions(definition, &name, wanted);
            for (action, found) in actions {
                let series = number_of(found, series);
                // What two measures want is measured once.
                let is_same = |role: &Role| (role.series, role.action) == (series, action);
                if !list.iter().any(is_same) {
                    list.push(Role {
                        measure,
                        series,
                        action,
                    });
                }
            }
        }
        Roles {
            layout: Layout::of(definition),
            list,
        }
    }
}

fn number_of(wanted: Series, series: &mut Vec<Series>) -> usize {
    let known = series.iter().position(|known| *known == wanted);
    known.unwrap_or_else(|| {
        series.push(wanted);
        series.len() - 1
    })
}

/// What events of this definition do for a measure, each with its series.
fn actions(definition: &Definition, name: &str, wanted: &Measure) -> Vec<(RoleAction, Series)> {
    let series = |name: &str, key: Option<String>| Series {
        name: name.to_owned(),
        unit: ValueUnit::Nanoseconds,
        key,
    };
    let mut actions = Vec::new();
    match wanted {
        Measure::Spans(pattern) => {
            let part = definition.span_part();
            let part = part.filter(|part| matches_pattern(pattern, &part.span));
            actions.extend(part.map(|part| {
                let action = match (part.edge, part.pairing) {
                    (Edge::Begin, Pairing::Thread) => RoleAction::Begin,
                    (Edge::End, Pairing::Thread) => RoleAction::End,
                    (Edge::Begin, Pairing::Key) => RoleAction::BeginKey(0),
                    (Edge::End, Pairing::Key) => RoleAction::EndKey(0),
                };
                let key = (part.pairing == Pairing::Key).then(|| {
                    let first = definition.arguments().next();
                    first.unwrap_or("0").to_owned()
                });
                (action, series(&part.span, key))
            }));
        }
        Measure::Between { from, to, key } => {
            let position = |key: &str| definition.position(key);
            let between = series(&wanted.name(), key.clone());
            let key = key.as_deref().map(position);
            let mut add =
                |pattern: &str, by_thread: RoleAction, by_key: fn(usize) -> RoleAction| {
                    if !definition.is_named(pattern) {
                        return;
                    }
                    let action = match key {
                        None => Some(by_thread),
                        // An event without the field is neither.
                        Some(position) => position.map(by_key),
                    };
                    actions.extend(action.map(|action| (action, between.clone())));
                };
            add(to, RoleAction::End, RoleAction::EndKey);
            add(from, RoleAction::Begin, RoleAction::BeginKey);
        }
        Measure::Every(pattern) => {
            if definition.is_named(pattern) {
                actions.push((RoleAction::Every, series(name, None)));
            }
        }
        Measure::Values {
            event,
            field,
            scale,
        } => {
            let position = definition.position(field);
            let position = position.filter(|_| definition.is_named(event));
            actions.extend(position.map(|position| {
                let kind = definition.fields().nth(position).map(|field| field.kind);
                let series = Series {
                    name: format!("{name}.{field}{}", times(*scale)),
                    unit: match scale {
                        None | Some(1) => ValueUnit::of(kind),
                        Some(_) => ValueUnit::None,
                    },
                    key: None,
                };
                (RoleAction::Value(position, *scale), series)
            }));
        }
    }
    actions
}

/// The value, multiplied, as a number to be recorded. `Err` says why there is none.
pub fn number_in(value: &Value<'_>, scale: Option<u64>) -> Result<u64, NoNumber> {
    let whole = |value: u64| Ok(value.saturating_mul(scale.unwrap_or(1)));
    match value {
        Value::Int(value) => u64::try_from(*value).map_or(Err(NoNumber::Other), whole),
        Value::Uint(value) => whole(*value),
        Value::Float(value) if *value >= 0.0 && value.is_finite() => match scale {
            None if value.fract() != 0.0 => Err(NoNumber::Fraction),
            _ => Ok((value * scale.unwrap_or(1) as f64).round() as u64),
        },
        _ => Err(NoNumber::Other),
    }
}

/// Why a value is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoNumber {
    /// It has a fraction, and nobody said what it is to be multiplied by.
    Fraction,
    /// It is no number, negative or infinite.
    Other,
}
