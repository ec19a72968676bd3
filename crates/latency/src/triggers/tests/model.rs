//! Naive models of the conditions: each looks through all steps again and again.

use timeline::Event;

use super::{BEGIN, END, FINISH, START, TICK, TestStep};

/// Fired at a time, with a value if that is sure.
pub type ModelFiring = (u64, Option<u64>);

fn events(steps: &[TestStep]) -> impl DoubleEndedIterator<Item = (usize, &Event)> {
    steps
        .iter()
        .enumerate()
        .filter_map(|(place, step)| match step {
            TestStep::Event(event) => Some((place, event)),
            TestStep::Tick(_) => None,
        })
}

fn time(step: &TestStep) -> u64 {
    match step {
        TestStep::Event(event) => event.ticks,
        TestStep::Tick(now) => *now,
    }
}

fn is_gap(step: &TestStep) -> bool {
    matches!(step, TestStep::Event(event) if event.missed > 0)
}

/// Each pair as the places of its begin and of its end. The end is `None` if it never came, or if
/// something made it void: then that is the place of the latter.
fn pairs(steps: &[TestStep], begin: u32, end: u32) -> Vec<(usize, Option<usize>, usize)> {
    let by_key = begin == START;
    let key = |event: &Event| match by_key {
        true => event.args[0],
        false => event.thread.0.into(),
    };
    let mut found = Vec::new();
    for (place, event) in events(steps).filter(|(_, event)| event.id.0 == begin) {
        let mut depth = 0;
        let mut over = (None, steps.len());
        for (later, step) in steps.iter().enumerate().skip(place + 1) {
            if is_gap(step) {
                over = (None, later);
                break;
            }
            let TestStep::Event(other) = step else {
                continue;
            };
            if key(other) != key(event) {
                continue;
            }
            if other.id.0 == begin && by_key {
                over = (None, later);
                break;
            }
            depth += usize::from(other.id.0 == begin);
            if other.id.0 == end {
                if depth == 0 {
                    over = (Some(later), later);
                    break;
                }
                depth -= 1;
            }
        }
        found.push((place, over.0, over.1));
    }
    found
}

/// Spans of more than `limit`.
pub fn spans(steps: &[TestStep], limit: u64, by_key: bool) -> Vec<ModelFiring> {
    let (begin, end) = if by_key {
        (START, FINISH)
    } else {
        (BEGIN, END)
    };
    let mut met = Vec::new();
    for (place, closed, over) in pairs(steps, begin, end) {
        let began = time(&steps[place]);
        let mut between = steps[place..over].iter();
        let late = between.find_map(|step| match step {
            TestStep::Tick(now) if now - began > limit => Some(*now),
            _ => None,
        });
        match (late, closed) {
            (Some(now), _) => met.push((began + limit + 1, Some(now - began))),
            (None, Some(closed)) if time(&steps[closed]) - began > limit => {
                met.push((time(&steps[closed]), Some(time(&steps[closed]) - began)));
            }
            _ => {}
        }
    }
    met.sort_unstable();
    met
}

/// How a window is judged.
pub enum Judgement {
    /// More events in it than this.
    More(usize),
    /// Fewer events than this.
    Fewer(usize),
    /// So many percent of the durations exceed this.
    Percentile(u32, u64),
}

/// At the end of each step of a window.
pub fn windows(steps: &[TestStep], length: u64, hold: u64, judged: &Judgement) -> Vec<ModelFiring> {
    let step = length / 10;
    let (Some(first), Some(last)) = (steps.first().map(time), steps.last().map(time)) else {
        return Vec::new();
    };
    let (mut met, mut since, mut told) = (Vec::new(), None, false);
    for end in (first / step + 1)..=(last / step) {
        let is_in = |time: u64| time / step < end && time / step + 10 >= end;
        // All gaps that were known when this was judged.
        let judges = |one: &TestStep| match one {
            TestStep::Event(event) => event.id.0 == TICK,
            TestStep::Tick(_) => true,
        };
        let is_judged = |one: &&TestStep| judges(one) && time(one) / step >= end;
        let place = steps.iter().position(|one| is_judged(&one));
        let before = &steps[..=place.unwrap_or(steps.len() - 1)];
        let gaps = before.iter().filter(|one| is_gap(one));
        let known = gaps.map(|one| time(one) / step).chain([first / step]).max();
        let known = known.unwrap_or(0);
        let (holds, value) = match judged {
            Judgement::More(_) | Judgement::Fewer(_) => {
                let ticks = events(steps).filter(|(_, event)| event.id.0 == TICK);
                let count = ticks.filter(|(_, event)| is_in(event.ticks)).count();
                match judged {
                    Judgement::Fewer(limit) => (count < *limit && end - 10 > known, None),
                    Judgement::More(limit) => (count > *limit, None),
                    Judgement::Percentile(..) => unreachable!("matched above"),
                }
            }
            Judgement::Percentile(percent, limit) => {
                let closed = pairs(steps, BEGIN, END).into_iter();
                let mut all: Vec<u64> = closed
                    .filter_map(|(begin, end, _)| Some((time(&steps[begin]), time(&steps[end?]))))
                    .filter(|(_, end)| is_in(*end))
                    .map(|(begin, end)| end - begin)
                    .collect();
                all.sort_unstable();
                let rank = f64::from(*percent) / 100.0 * all.len() as f64;
                let rank = (rank.ceil() as usize).max(1);
                let value = all.get(rank - 1).copied();
                (value.is_some_and(|value| value > *limit), value)
            }
        };
        let end = end * step;
        if !holds {
            (since, told) = (None, false);
            continue;
        }
        let since = *since.get_or_insert(end);
        if !told && end - since >= hold {
            told = true;
            met.push((end, value));
        }
    }
    met
}

/// No `TICK` for so long.
pub fn missing(steps: &[TestStep], least: u64) -> Vec<ModelFiring> {
    let Some(first) = steps.first() else {
        return Vec::new();
    };
    let (mut since, mut told, mut met) = (time(first), false, Vec::new());
    for step in steps {
        let is_one = matches!(step, TestStep::Event(event) if event.id.0 == TICK);
        // Others do not come to the condition.
        let is_seen = is_one || matches!(step, TestStep::Tick(_));
        if is_gap(step) {
            (since, told) = (time(step), false);
        }
        if is_seen && !told && time(step) - since >= least {
            told = true;
            met.push((since + least, None));
        }
        if is_one {
            (since, told) = (time(step), false);
        }
    }
    met
}
