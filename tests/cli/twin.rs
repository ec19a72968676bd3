//! Compares the dump with a naive twin.
//! The twin makes each line by `format!`, over random definitions, threads, times and arguments.

use std::process::Command;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use timeline::dump::{is_printable, printable, printable_line};
use timeline::internal::Record;
use timeline::internal::layout::Geometry;
use timeline::internal::layout::header::Header;
use timeline::internal::layout::records;
use timeline::internal::layout::words::{entry_head, entry_thread};
use timeline::{Attached, Definition, Event, Order, Priority, dump};

use crate::command::command;
use crate::support::{anchor, begin_snapshot, put_chunk, put_string, put_thread, seal};
use crate::typed::whole;

/// An hour to change in, and half hours would be seen too.
const ZONE: &str = "NST3:30NDT,M3.2.0,M11.1.0";
const TICKS: u64 = 9_000_000_000_000;
const EPOCH: u64 = 1_700_000_000_000_000_000;
const CHUNK: usize = 16;

/// What a random snapshot is made of.
#[derive(Debug)]
struct Made {
    definitions: Vec<(String, u8, String)>,
    threads: Vec<(u32, u32, String, String)>,
    /// Ticks, event, core, thread, arguments. Numbers beyond the tables name nobody.
    events: Vec<(u64, u32, u16, usize, [i64; 4])>,
    /// Nanoseconds between the anchors, of which there are 3 ticks in each.
    span: u64,
}

fn argument() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        -20..20_i64,
        any::<i64>(),
        (any::<i64>(), 0..64).prop_map(|(n, shift)| n >> shift),
    ]
}

fn ticks() -> impl Strategy<Value = u64> {
    prop_oneof![
        // Between the anchors, close together, and within the second of one another.
        (TICKS..TICKS + 3_000_000_000),
        (TICKS..TICKS + 200),
        // Long before and after, up to before the epoch and beyond what a time can be.
        any::<u64>(),
        (0..40_u32).prop_map(|shift| TICKS + (1 << shift)),
    ]
}

fn made() -> impl Strategy<Value = Made> {
    let text =
        "([a-c$_ \"\\\\é{}]|\\$[xy]|\\PC|[\u{1}-\u{1f}\u{7f}-\u{9f}]|long text in between ){1,14}";
    // The last priority is none.
    let definition = ("[a-zé\"\u{1b}\n]{1,30}", 1..=8_u8, text);
    let name = "[a-cé\"\u{7}\u{80}]{0,7}";
    let thread = (any::<u32>(), any::<u32>(), name, name);
    let core = prop_oneof![0..4_u16, Just(700), Just(0xffff), any::<u16>()];
    let event = prop_oneof![4 => 1..7_u32, 1 => any::<u32>()];
    let args = [argument(), argument(), argument(), argument()];
    let event = (ticks(), event, core, 0..7_usize, args);
    (
        prop::collection::vec(definition, 0..6),
        prop::collection::vec(thread, 0..6),
        prop::collection::vec(event, 0..120),
        0..3_000_000_000_u64,
    )
        .prop_map(|(definitions, threads, events, span)| Made {
            definitions,
            threads,
            events,
            span,
        })
}

/// The bytes of a snapshot, after docs/format.md, and its events in the order of a dump.
fn snapshot(made: &Made) -> (Vec<u8>, Vec<(u64, [i64; 4])>) {
    let g = Geometry::new(256, 64 * 1024);
    let mut b = vec![0; g.total as usize];
    Header::edit(&mut b, |h| {
        begin_snapshot(h, &g);
        let mut nodes = [0xff; 1024];
        nodes[..3].copy_from_slice(&[0, 1, 200]);
        h.cpu_nodes = nodes.map(Into::into);
        seal(h);
        for (slot, nanoseconds) in [(0, 0), (1, made.span)] {
            let (ticks, realtime) = (TICKS + 3 * nanoseconds, EPOCH + nanoseconds);
            h.anchors[slot] = anchor(slot, ticks, nanoseconds, realtime);
        }
        h.defined = (made.definitions.len() as u32 + 1).into();
    });

    let mut used = 1;
    let mut intern = |b: &mut [u8], text: &str| put_string(b, &g, &mut used, text);
    for (id, (category, priority, message)) in (1_u32..).zip(&made.definitions) {
        let (category, message) = (intern(&mut b, category), intern(&mut b, message));
        records::Definition::edit(&mut b[g.definition().at(id) as usize..], |definition| {
            definition.category = category.into();
            definition.message = message.into();
            definition.priority = (*priority).into();
        });
    }
    for (slot, (tid, pid, name, process)) in (0_u32..).zip(&made.threads) {
        put_thread(
            &mut b,
            &g,
            slot,
            9 << 16 | slot,
            (*tid, *pid, name, process),
        );
    }
    let order = ring(&mut b, &g, made);
    (b, order)
}

/// Each thread fills a lane of its own, those that nobody knows too.
fn ring(b: &mut [u8], g: &Geometry, made: &Made) -> Vec<(u64, [i64; 4])> {
    let mut order = Vec::new();
    let mut ticket = 100;
    for thread in 0..7 {
        let lane = u64::from(g.cpu_lanes) + thread as u64;
        let mut mine: Vec<_> = made.events.iter().filter(|e| e.3 == thread).collect();
        mine.sort_by_key(|e| e.0);
        let numbered = mine.iter().enumerate();
        order.extend(numbered.map(|(number, e)| ((e.0, lane, number), (e.0, e.4))));
        for (number, entries) in mine.chunks(CHUNK).enumerate() {
            let words = |(ticks, event, core, _, args): &&(u64, u32, u16, usize, [i64; 4])| {
                // Some are of a thread that had this place before, some of a number used again.
                let generation = if ticks % 5 == 0 { 8 } else { 9 };
                let known = made.threads.get(thread).filter(|_| ticks % 3 > 0);
                let tid = known.map_or(77, |t| t.0);
                let word = entry_thread(generation << 16 | thread as u32, tid);
                let [a, b, c, d] = args.map(|arg| arg as u64);
                [*ticks, entry_head(*event, *core), word, a, b, c, d]
            };
            let entries: Vec<_> = entries.iter().map(words).collect();
            put_chunk(b, g, (ticket, lane, (CHUNK * number) as u64), &entries);
            ticket += 1;
        }
    }
    Header::edit(b, |h| h.next_ticket = ticket.into());
    order.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    order.into_iter().map(|(_, event)| event).collect()
}

/// An event, the ticks since the one before, and what its timeline knows of it.
struct Row<'a> {
    at: &'a Attached,
    event: Event,
    cycles: Option<u64>,
}

impl Row<'_> {
    fn definition(&self) -> Option<&Definition> {
        self.at.definition(self.event.id)
    }

    fn message(&self) -> Option<String> {
        let mut text = String::new();
        let definition = self.definition()?;
        definition.render(&self.event.args, &mut text).unwrap();
        Some(text)
    }

    fn time(&self, zone: TimeZone, pattern: &str) -> Option<String> {
        let nanos = self.at.unix_nanos(self.event.ticks)?;
        let time = Timestamp::from_nanosecond(nanos.into()).unwrap();
        Some(time.to_zoned(zone).strftime(pattern).to_string())
    }

    fn short(&self, width: usize) -> String {
        let (Event { node, core, id, .. }, or) = (self.event.clone(), "-".to_string());
        let known = |n: u16| (n != u16::MAX).then(|| n.to_string());
        let (node, core) = (
            known(node).unwrap_or(or.clone()),
            known(core).unwrap_or(or.clone()),
        );
        let cycles = self.cycles.map_or(or, |c| c.to_string());
        let category = self.definition().map_or("?", |d| &d.category);
        // All that the entry has.
        let [a, b, c, d] = self.event.args;
        let lost = format!("<event {}?>({a}, {b}, {c}, {d})", id.0);
        let message = self.message().unwrap_or(lost);
        let message = printable_line(&message);
        format!("{node:>4} {core:>4} {cycles:>10} {category:width$} {message}")
    }

    fn long(&self, width: usize) -> String {
        let zone = TimeZone::posix(ZONE).unwrap();
        let time = self.time(zone, "%Y-%m-%d %H:%M:%S.%9f");
        let ticks = match self.event.ticks {
            0 => "-".to_string(),
            ticks => ticks.to_string(),
        };
        let time = time.unwrap_or(format!("{ticks:>23} ticks"));
        let who = match self.at.thread(&self.event) {
            Some(t) if t.name == t.process => t.name.unwrap(),
            Some(t) => format!("{}/{}", t.process.unwrap(), t.name.unwrap()),
            None => "?".to_string(),
        };
        let tid = number(self.event.tid).map_or("?".to_string(), |tid| tid.to_string());
        let who = format!("{who} {tid}");
        let priority = self
            .definition()
            .map_or("?", |d| d.priority.unwrap().name());
        format!("{time} {who:<26} {priority:<8} {}", self.short(width))
    }

    fn coloured(&self, width: usize) -> String {
        let line = printable(&self.short(width)).into_owned();
        let start = match self.definition().and_then(|d| d.priority) {
            Some(Priority::Info | Priority::Trace | Priority::App) | None => return line + "\n",
            Some(Priority::Packet | Priority::Library) => "\x1b[2m",
            Some(Priority::Warning) => "\x1b[33m",
            Some(Priority::Error) => "\x1b[1m\x1b[31m",
        };
        format!("{start}{line}\x1b[0m\n")
    }

    fn json(&self) -> String {
        fn json<T: serde::Serialize>(value: T) -> String {
            let json = serde_json::to_string(&value).unwrap();
            let escaped = json.chars().map(|c| match is_printable(c) {
                true => c.to_string(),
                false => {
                    let units = c.encode_utf16(&mut [0; 2]).to_vec();
                    units.iter().map(|unit| format!("\\u{unit:04x}")).collect()
                }
            });
            escaped.collect()
        }
        let Event {
            core,
            node,
            tid,
            id,
            args,
            ..
        } = self.event;
        let (definition, thread) = (self.definition(), self.at.thread(&self.event));
        let known = |n: u16| (n != u16::MAX).then_some(n);
        let names = unique(definition.map_or(vec!["0", "1", "2", "3"], |d| {
            d.arguments().take(4).collect()
        }));
        let args: Vec<String> = names
            .iter()
            .zip(args)
            .map(|(name, value)| format!("{name:?}:{}", whole(value)))
            .collect();
        let fields = [
            (
                "ticks",
                json((self.event.ticks != 0).then(|| whole(self.event.ticks))),
            ),
            (
                "time",
                json(self.time(TimeZone::UTC, "%Y-%m-%dT%H:%M:%S.%9fZ")),
            ),
            (
                "unix_ns",
                json(
                    self.at
                        .unix_nanos(self.event.ticks)
                        .map(|nanos| nanos.to_string()),
                ),
            ),
            ("cycles", json(self.cycles.map(whole))),
            ("core", json(known(core))),
            ("node", json(known(node))),
            ("tid", json(number(tid))),
            ("pid", json(thread.as_ref().and_then(|t| number(t.pid)))),
            ("thread", json(thread.as_ref().map(|t| &t.name))),
            ("process", json(thread.as_ref().map(|t| &t.process))),
            ("category", json(definition.map(|d| &d.category))),
            (
                "priority",
                json(definition.map(|d| d.priority.unwrap().name())),
            ),
            ("message", json(self.message())),
            ("template", json(definition.map(|d| &d.message))),
            ("event", json(definition.map(|d| d.name()))),
            ("definition", json(id.0)),
            ("args", format!("{{{}}}", args.join(","))),
        ];
        let fields = fields.map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{{}}}", fields.join(","))
    }
}

/// The id of a thread or process, of which 0 is none.
fn number(id: u32) -> Option<u32> {
    (id != 0).then_some(id)
}

/// Names that are used again, numbered.
fn unique(names: Vec<&str>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let free = |n: &String| !unique.contains(n) && !names[i..].contains(&n.as_str());
        let numbered = || (2..).map(|n| format!("{name}_{n}")).find(free).unwrap();
        let taken = unique.contains(&name.to_string());
        unique.push(if taken { numbered() } else { name.to_string() });
    }
    unique
}

fn clean(line: String) -> String {
    printable(&line).into_owned() + "\n"
}

fn run(arguments: &[&str]) -> String {
    output(command(arguments).env("TZ", ZONE))
}

fn output(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn dumps_agree_with_their_naive_twins(made in made(), max in 1..150_usize) {
        let (bytes, order) = snapshot(&made);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let path = file.path().to_str().unwrap();
        let at = Attached::open(path).unwrap();

        let events: Vec<Event> = at.events(Order::NewestFirst).collect();
        let told: Vec<_> = events.iter().map(|e| (e.ticks, e.args)).collect();
        prop_assert_eq!(told, order);
        let info = at.info();
        prop_assert_eq!(info.newest_ticks, events.first().map(|e| e.ticks));
        prop_assert_eq!(info.oldest_ticks, events.last().map(|e| e.ticks));
        prop_assert_eq!(info.entries_held, events.len() as u64);
        let older = events.iter().skip(1).map(|older| Some(older.ticks)).chain([None]);
        let rows: Vec<Row> = events
            .iter()
            .zip(older)
            .map(|(event, older)| Row {
                at: &at,
                event: (*event).clone(),
                cycles: older
                    .filter(|o| *o != 0 && event.ticks != 0)
                    .map(|o| event.ticks - o),
            })
            .take(max)
            .collect();
        let widths = at.definitions().map(|d| d.category.chars().count());
        let width = widths.max().unwrap_or(0).clamp(8, 24);
        let heading = format!("numa core    -cycles {:width$} message", "category");
        let before = format!("{:<29} {:<26} {:<8} ", "time", "thread", "priority");

        let mut short = clean(heading.clone());
        short.extend(rows.iter().map(|row| clean(row.short(width))));
        let mut long = clean(before + &heading);
        long.extend(rows.iter().map(|row| clean(row.long(width))));
        let json: String = rows.iter().map(|row| row.json() + "\n").collect();

        let most = max.to_string();
        prop_assert_eq!(run(&["dump", path, "-n", &most]), short.as_str());
        prop_assert_eq!(run(&["dump", path, "-n", &most, "--long"]), long);
        prop_assert_eq!(run(&["dump", path, "-n", &most, "--json"]), json);
        let mut colours = format!("\x1b[1m{heading}\x1b[0m\n");
        colours.extend(rows.iter().map(|row| row.coloured(width)));
        let mut coloured = command(&["dump", path, "-n", &most]);
        prop_assert_eq!(output(coloured.env("CLICOLOR_FORCE", "1")), colours);
        let mut written = Vec::new();
        dump::write(&at, Some(max as u64), &mut written).unwrap();
        prop_assert_eq!(String::from_utf8(written).unwrap(), short);
    }
}

#[test]
fn a_dump_larger_than_its_buffer_is_whole() {
    let events = (0..250)
        .map(|i| (TICKS + i, 1, 0, 0, [i64::MAX; 4]))
        .collect();
    let definitions = vec![("big".to_string(), Priority::Info as u8, "x$n ".repeat(200))];
    let (threads, span) = (Vec::new(), 1);
    let (bytes, _) = snapshot(&Made {
        definitions,
        threads,
        events,
        span,
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let text = run(&["dump", file.path().to_str().unwrap()]);
    let line = format!("x{} ", format_args!("n({})", i64::MAX)).repeat(4) + &"xn(?) ".repeat(196);
    assert!(text.len() > 3 * 64 * 1024, "{} bytes", text.len());
    assert_eq!(text.lines().filter(|l| l.ends_with(&line)).count(), 250);
    assert_eq!(text.lines().count(), 251);
}
