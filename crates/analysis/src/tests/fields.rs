//! Fields of all types, by their names.

use proptest::prelude::*;
use timeline::internal::FIELD_TYPES;
use timeline::{FieldType, Priority, Timeline, Value};
use timeline_archive::{Archive, Form, Writer};
use timeline_reading::{Extent, Log};

use super::sample::raw;
use crate::analyzer::Analyzer;
use crate::context::EventContext;
use crate::error::Result;
use crate::field::{AnalysisValue, FieldHandle, LabelValue};
use crate::session::{Analysis, AnalysisInput};
use crate::subscriptions::Subscriptions;

/// Reads one field of all events, and tells what it is.
struct Reader<'r, T: AnalysisValue + ?Sized + 'r> {
    name: &'static str,
    field: FieldHandle<T>,
    tell: &'r mut dyn FnMut(Option<T::Of<'_>>),
}

impl<T: AnalysisValue + ?Sized> Analyzer for Reader<'_, T> {
    fn begin(&mut self, wanted: &mut Subscriptions) {
        wanted.all();
        self.field = wanted.field(self.name);
    }

    fn event(&mut self, event: &EventContext) -> Result {
        (self.tell)(event.get(self.field)?);
        Ok(())
    }
}

fn read<T: AnalysisValue + ?Sized>(
    log: &Log,
    name: &'static str,
    mut tell: impl FnMut(Option<T::Of<'_>>),
) -> Result {
    let mut reader = Reader::<T> {
        name,
        field: FieldHandle::default(),
        tell: &mut tell,
    };
    let analysis = Analysis::new(AnalysisInput::whole([log]));
    analysis.with(&mut reader).run().map(drop)
}

/// The value of a field of the only event, as a text.
fn shown<T: AnalysisValue + ?Sized>(
    log: &Log,
    name: &'static str,
    show: impl Fn(T::Of<'_>) -> String,
) -> String {
    let mut text = String::new();
    match read::<T>(log, name, |value| text = value.map_or("none".into(), &show)) {
        Ok(()) => text,
        Err(error) => error.to_string(),
    }
}

const MESSAGE: &str = "sent $len:u32 to $host:str $color:enum(red=1,green=2) $mode:flags(r=1,w=2) \
                       $ratio:f32 $ok:bool $sizes:u16[] $letter:char $took:ns $plain";

/// The same event in a ring, with this name, and in an archive.
fn both(name: &str) -> [Log; 2] {
    let path = format!("/timeline-test-analysis-{name}-{}", std::process::id());
    let timeline = Timeline::with_size(&path, 1024, 1 << 16).unwrap();
    let event = timeline.define("net", Priority::Info, MESSAGE).unwrap();
    let sizes = [7u16.to_le_bytes(), 300u16.to_le_bytes()].concat();
    let mut values = [
        Value::Uint(1500),
        Value::Text {
            bytes: b"eth0",
            cut: false,
        },
        Value::Int(2),
        Value::Int(3),
        // As its word has it.
        Value::Uint(0.5f32.to_bits().into()),
        Value::Int(1),
        Value::Text {
            bytes: &sizes,
            cut: true,
        },
        Value::Uint(0x1f600),
        Value::Int(-9),
        Value::Int(-4),
    ];
    let mut words = timeline::lay_out(&values);
    // The length of an array is that of its numbers.
    words[6] = (words[6] & !u64::from(u32::MAX)) | 2;
    timeline.log_payload(event, &words, false);
    let ring = Log::open(path.as_ref(), Extent::Whole).unwrap();
    timeline::unlink(&path).unwrap();

    values[4] = Value::Float(0.5);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    let mut event = raw(&mut writer, ("net", MESSAGE), 1_000);
    values
        .iter()
        .for_each(|value| value.encode(&mut event.payload));
    writer.event(&event).unwrap();
    writer.flush().unwrap();
    drop(writer);
    [
        ring,
        Log::of_archive("x.tla".as_ref(), Archive::from_bytes(file)),
    ]
}

#[test]
fn each_type_is_read_of_rings_and_archives() {
    for log in both("types") {
        let debug = |value: u64| value.to_string();
        assert_eq!(shown::<u64>(&log, "len", debug), "1500");
        assert_eq!(shown::<u32>(&log, "len", |value| value.to_string()), "1500");
        assert_eq!(shown::<i64>(&log, "len", |value| value.to_string()), "1500");
        assert_eq!(
            shown::<str>(&log, "host", |value| value.into_owned()),
            "eth0"
        );
        let color = |value: LabelValue| format!("{} {:?}", value.number, value.name());
        assert_eq!(
            shown::<LabelValue>(&log, "color", color),
            "2 Some(\"green\")"
        );
        let mode = |value: LabelValue| format!("{:?} {:?}", value.name(), value.names());
        assert_eq!(
            shown::<LabelValue>(&log, "mode", mode),
            "None [\"r\", \"w\"]"
        );
        assert_eq!(shown::<i64>(&log, "color", |value| value.to_string()), "2");
        assert_eq!(
            shown::<f32>(&log, "ratio", |value| value.to_string()),
            "0.5"
        );
        assert_eq!(
            shown::<f64>(&log, "ratio", |value| value.to_string()),
            "0.5"
        );
        assert_eq!(shown::<bool>(&log, "ok", |value| value.to_string()), "true");
        assert_eq!(
            shown::<char>(&log, "letter", |value| value.to_string()),
            "😀"
        );
        assert_eq!(shown::<i64>(&log, "took", |value| value.to_string()), "-9");
        assert_eq!(shown::<i64>(&log, "plain", |value| value.to_string()), "-4");
        let sizes = shown::<[u32]>(&log, "sizes", |value| {
            format!("{:?} {}", value.iter().collect::<Vec<_>>(), value.is_cut)
        });
        assert_eq!(sizes, "[7, 300] true");
        let any = |value: Value| format!("{value:?}");
        assert_eq!(shown::<Value>(&log, "took", any), "Int(-9)");
        // By its place.
        assert_eq!(shown::<u64>(&log, "0", debug), "1500");
        // There is none, or none so far back.
        assert_eq!(shown::<u64>(&log, "length", debug), "none");
        assert_eq!(shown::<u64>(&log, "10", debug), "none");
    }
}

#[test]
fn a_wrong_type_is_an_error_that_names_both() {
    for log in both("wrong") {
        let of = |field, has, asked| {
            format!("the field {field} of net.sent is {has}, and cannot be read as {asked}")
        };
        let number = |value: u64| value.to_string();
        assert_eq!(shown::<u64>(&log, "host", number), of("host", "str", "u64"));
        assert_eq!(
            shown::<u64>(&log, "plain", number),
            of("plain", "i64", "u64")
        );
        let text = shown::<str>(&log, "color", |value| value.into_owned());
        assert_eq!(text, of("color", "enum(red=1,green=2)", "str"));
        let narrow = shown::<[u8]>(&log, "sizes", |value| value.len().to_string());
        assert_eq!(narrow, of("sizes", "u16[]", "[u8]"));
        assert_eq!(
            shown::<i32>(&log, "len", |value| value.to_string()),
            of("len", "u32", "i32")
        );
        assert_eq!(
            shown::<i64>(&log, "ok", |value| value.to_string()),
            of("ok", "bool", "i64")
        );
    }
}

#[test]
fn a_wrong_type_of_a_field_that_nobody_reads_is_no_error() {
    struct Idler;

    impl Analyzer for Idler {
        fn begin(&mut self, wanted: &mut Subscriptions) {
            wanted.all();
            let _: FieldHandle<u64> = wanted.field("host");
        }

        fn event(&mut self, _: &EventContext) -> Result {
            Ok(())
        }
    }

    let [ring, _] = both("idle");
    let mut idler = Idler;
    let analysis = Analysis::new(AnalysisInput::whole([&ring])).with(&mut idler);
    analysis.run().unwrap();
}

#[test]
fn values_of_printf_are_read_by_their_places() {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    let mut event = raw(&mut writer, ("net", "%d of %s"), 1_000);
    event.definition.syntax = Some(timeline_archive::PRINTF);
    let values = [
        Value::Int(-3),
        Value::Text {
            bytes: b"eth0",
            cut: false,
        },
    ];
    values
        .iter()
        .for_each(|value| value.encode(&mut event.payload));
    writer.event(&event).unwrap();
    writer.flush().unwrap();
    drop(writer);
    let log = Log::of_archive("x.tla".as_ref(), Archive::from_bytes(file));
    assert_eq!(shown::<i64>(&log, "0", |value| value.to_string()), "-3");
    assert_eq!(shown::<str>(&log, "1", |value| value.into_owned()), "eth0");
    let wrong = shown::<u64>(&log, "1", |value| value.to_string());
    assert!(
        wrong.ends_with("is str, and cannot be read as u64"),
        "{wrong}"
    );
}

/// Whether each whole number of a field is the same number as a `T`.
macro_rules! keeps_its_numbers {
    ($kind:expr, $word:expr, $($type:ident)*) => {
        $(if $type::fits($kind) {
            let read = $type::of_word($kind, $word).map(i128::from);
            let stored = $kind.integer($word);
            let is_signed = !matches!(
                $kind.storage(),
                timeline::internal::FieldStorage::Unsigned(_)
            );
            let expected = match is_signed {
                true => i128::from(stored),
                false => i128::from(stored as u64),
            };
            prop_assert_eq!(read, Some(expected), "{} as {}", $kind, stringify!($type));
        })*
    };
}

proptest! {
    #[test]
    fn no_number_changes_as_another_type(word: i64, row in 0..FIELD_TYPES.len()) {
        let kind: FieldType = FIELD_TYPES[row].kind;
        keeps_its_numbers!(kind, word, u8 u16 u32 u64 i8 i16 i32 i64);
    }
}
