//! Finds the events of a block whose messages may have texts, one column after the other.
//!
//! Each value is compared only in the events that all values before it left. If no event is left,
//! the columns of the other values are not read.

use timeline_archive::{BlockColumns, Places};

use super::value_test::{EventValue, ValueTest};
use super::{TextPlan, Way};

/// So many events of a shape are tried first. If most of their messages may have the texts, the
/// columns of the others are not compared: making the events is faster then.
const TRIED: usize = 256;

/// The values of the events of a block.
pub struct Rows<'c, 'a> {
    columns: &'c mut BlockColumns<'a>,
    /// The times of all events, once a value is shown by one. Empty if they are damaged.
    times: Option<Vec<u64>>,
    /// Memory for the text of a value.
    buffer: Vec<u8>,
}

impl<'c, 'a> Rows<'c, 'a> {
    pub fn new(columns: &'c mut BlockColumns<'a>) -> Rows<'c, 'a> {
        Rows {
            columns,
            times: None,
            buffer: Vec::new(),
        }
    }

    /// Clears the places of the events of a shape whose messages cannot have all texts.
    pub fn choose(&mut self, plan: &TextPlan, shape: usize, places: &mut Places) {
        let all = match plan {
            TextPlan::Ask => return,
            TextPlan::Never => &[],
            TextPlan::If(all) => &all[..],
        };
        let may_be = |way: &&Way| {
            let mut wanted = way.iter();
            wanted.all(|wanted| wanted.may_be_in(self.columns, shape))
        };
        let all = all.iter().map(|ways| ways.iter().filter(may_be).collect());
        let all: Vec<Vec<&Way>> = all.collect();
        let of_shape = self.columns.places(shape).iter().zip(0..=u16::MAX);
        let rows = of_shape.filter(|(place, _)| places.has(usize::from(**place)));
        let rows: Vec<u16> = rows.map(|(_, row)| row).collect();
        let (tried, rest) = rows.split_at(rows.len().min(TRIED));
        for rows in [tried, rest] {
            let kept = self.with_texts(&all, shape, rows);
            let of_shape = self.columns.places(shape);
            let place = |row: &u16| usize::from(of_shape[usize::from(*row)]);
            rows.iter().for_each(|row| places.clear(place(row)));
            kept.iter().for_each(|row| places.add(place(row)));
            // The messages themselves tell sooner.
            if 2 * kept.len() > rows.len() {
                break;
            }
        }
    }

    /// The rows among these whose messages may have all texts. `all` has, for each text, the ways
    /// in which it may be in a message. If `all` is empty, no row may have them.
    fn with_texts(&mut self, all: &[Vec<&Way>], shape: usize, rows: &[u16]) -> Vec<u16> {
        let mut kept = match all.is_empty() {
            true => Vec::new(),
            false => rows.to_vec(),
        };
        for ways in all {
            let mut with_one = Vec::new();
            for way in ways {
                let mut rows = kept.clone();
                for wanted in *way {
                    self.keep(wanted, shape, &mut rows);
                }
                // Both are in order.
                let mut found = rows.iter().peekable();
                kept.retain(|row| found.next_if_eq(&row).is_none());
                with_one.append(&mut rows);
            }
            with_one.sort_unstable();
            kept = with_one;
        }
        kept
    }

    /// Leaves those rows of a shape that may have a wanted value.
    fn keep(&mut self, wanted: &ValueTest, shape: usize, rows: &mut Vec<u16>) {
        if rows.is_empty() {
            return;
        }
        let (told, position) = (wanted.told, wanted.told.position());
        let form = self.columns.time_form(shape, position);
        let is_read = form.is_some() || self.columns.read_values(shape, position).is_some();
        if !is_read || self.columns.are_shown(shape, position) != Some(true) {
            return;
        }
        let (columns, buffer) = (&*self.columns, &mut self.buffer);
        let (of_shape, column) = (columns.places(shape), columns.values(shape, position));
        let times = match form {
            // Only the events tell the times of a damaged block.
            Some(_) => (self.times).get_or_insert_with(|| columns.times().unwrap_or_default()),
            None => &mut Vec::new(),
        };
        rows.retain(|row| {
            let row = usize::from(*row);
            let held = match (form, column) {
                (Some(form), _) => {
                    let time = times.get(usize::from(of_shape[row]));
                    time.map(|time| EventValue::Time(form, *time))
                }
                (None, column) => column.and_then(|column| EventValue::of(told, column, row)),
            };
            held.is_none_or(|held| wanted.is(held, buffer))
        });
    }
}
