//! Writes events as most are, without putting a record together for each: see [`Usual`].

use std::io::{self, Write};

use super::{Form, Writer};
use crate::format::frame;
use crate::write::packer::usual_weight;
use crate::write::usual::{By, Said, Usual};

impl<W: Write> Writer<W> {
    /// Writes an event as [`Writer::event`] does. What it refers to has been defined.
    ///
    /// # Errors
    /// Those of the output, which keep what was given for the next attempt.
    #[inline]
    pub(crate) fn usual(
        &mut self,
        event: &Usual,
        said: &mut Said,
        by: &mut By,
        next: u64,
    ) -> io::Result<()> {
        self.places.note(event.lane, next);
        match self.form {
            Form::Plain => frame::put(self.line.record(event, said, by), &mut self.frames),
            Form::Blocks => {
                self.packer.push_usual(event, said, by);
                self.ticks.add(Some(event.ticks));
                self.unix.add(Some(event.unix_nanos));
                self.weighs(usual_weight(said.args));
            }
        }
        self.write_if_much()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::event::{Data, Kind, Source};

    /// One of few, so that statements and threads come again; and every size of a number.
    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..4u64,
            (0..64u32).prop_map(|shift| u64::MAX >> shift),
            any::<u64>()
        ]
    }

    fn kind() -> impl Strategy<Value = Kind> {
        let field = || proptest::option::of(number());
        (
            field(),
            field(),
            field(),
            field(),
            field(),
            field(),
            field(),
        )
            .prop_map(
                |(file, line, level, format, category, event, syntax)| Kind {
                    file,
                    line,
                    level,
                    format,
                    category,
                    event,
                    syntax,
                },
            )
    }

    fn source() -> impl Strategy<Value = Source> {
        let field = || proptest::option::of(number());
        (field(), field(), field(), field()).prop_map(|(thread, tid, pid, process)| Source {
            thread,
            tid,
            pid,
            process,
        })
    }

    fn usual() -> impl Strategy<Value = Usual> {
        let args = (
            any::<i64>(),
            0..100i64,
            -200..0i64,
            any::<i16>().prop_map(i64::from),
        );
        (number(), number(), 0..9u64, 0..5000u64, number(), args).prop_map(
            |(ticks, unix_nanos, core, lane, number, args)| Usual {
                ticks,
                unix_nanos,
                core,
                lane,
                number,
                args: args.into(),
            },
        )
    }

    /// The same event, put together field by field.
    fn data(event: &Usual, said: &Said, by: &By) -> Data {
        Data {
            kind: said.kind.clone(),
            source: by.source.clone(),
            ticks: Some(event.ticks),
            unix_nanos: Some(event.unix_nanos),
            core: Some(event.core),
            lane: Some(event.lane),
            number: Some(event.number),
            args: event.args[..said.args].to_vec(),
            ..Data::default()
        }
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_of_any_event(
            magic in any::<u64>(),
            kinds in proptest::collection::vec((kind(), 0..=4usize), 1..5),
            sources in proptest::collection::vec(source(), 1..5),
            // Which statement and thread, whether it goes the usual way, and whether the block ends behind it.
            events in proptest::collection::vec((usual(), 0..5usize, 0..5usize, any::<bool>(), 0..20u8), 0..80),
        ) {
            for form in [Form::Plain, Form::Blocks] {
                let mut said: Vec<_> =
                    kinds.iter().map(|(kind, args)| Said::new(magic, kind.clone(), *args)).collect();
                let mut by: Vec<_> = sources.iter().map(|source| By::new(source.clone())).collect();
                let (mut mixed, mut twin) = (Vec::new(), Vec::new());
                let mut writer = Writer::new(&mut mixed, magic, form);
                let mut other = Writer::new(&mut twin, magic, form);
                for (event, kind, source, is_usual, end) in &events {
                    let said = &mut said[kind % kinds.len()];
                    let by = &mut by[source % sources.len()];
                    let next = event.number.saturating_add(1);
                    let data = data(event, said, by);
                    match is_usual {
                        true => writer.usual(event, said, by, next).unwrap(),
                        false => writer.event(&data).unwrap(),
                    }
                    other.event(&data).unwrap();
                    prop_assert_eq!(writer.most(), other.most());
                    if *end == 0 {
                        writer.end_block();
                        other.end_block();
                    }
                }
                writer.flush().unwrap();
                other.flush().unwrap();
                prop_assert_eq!(mixed, twin);
            }
        }
    }

    #[test]
    fn the_longest_record_has_room() {
        let most = Some(u64::MAX);
        let kind = Kind {
            file: most,
            line: most,
            level: most,
            format: most,
            category: most,
            event: most,
            syntax: most,
        };
        let source = Source {
            thread: most,
            tid: most,
            pid: most,
            process: most,
        };
        let mut said = Said::new(u64::MAX, kind, 4);
        let mut by = By::new(source);
        let event = Usual {
            ticks: u64::MAX,
            unix_nanos: u64::MAX,
            core: u64::MAX,
            lane: u64::MAX,
            number: u64::MAX,
            args: [i64::MIN; 4],
        };
        let (mut bytes, mut twin) = (Vec::new(), Vec::new());
        let mut writer = Writer::new(&mut bytes, u64::MAX, Form::Plain);
        writer.usual(&event, &mut said, &mut by, 0).unwrap();
        writer.flush().unwrap();
        let mut writer = Writer::new(&mut twin, u64::MAX, Form::Plain);
        writer.event(&data(&event, &said, &by)).unwrap();
        writer.flush().unwrap();
        assert_eq!(bytes, twin);
    }
}
