//! Comparisons whose answer depends on how a value is kept.

use timeline::{EventId, Order, Priority, Value, lay_out};
use timeline_search::{Expression, Query};

use crate::support::Name;

const MESSAGE: &str = "$ratio:f32 $exact:f64 $huge:f64 $none:f64 $most:u64 $code:enum(again=11,\
    block=11) $cut:str $text:str $null:str $one:u8[] $two:u8[] $rest:u8[] $empty:i16[] $and $0 $0 \
    $zero:f32";

fn values() -> Vec<Value<'static>> {
    let text = |bytes: &'static [u8], cut| Value::Text { bytes, cut };
    vec![
        Value::Uint(0.1_f32.to_bits().into()),
        Value::Float(0.1),
        Value::Float(1e300),
        Value::Float(f64::NAN),
        Value::Uint(u64::MAX),
        Value::Int(11),
        text(b"abc", true),
        text(b"abc", false),
        Value::Nil,
        text(&[1, 2, 3], false),
        text(&[1, 2, 3], true),
        text(&[1, 3], false),
        text(b"", false),
        Value::Int(-0),
        Value::Int(4),
        Value::Int(5),
        Value::Uint((-0.0_f32).to_bits().into()),
    ]
}

const TRUE: &[&str] = &[
    "ratio == 0.1 && ratio <= 0.1 && ratio >= 0.1",
    "exact == 0.1 && ratio != exact",
    "ratio > 1e-300 && ratio < 1e300 && zero < 1e-300 && zero == 0 && zero == -0.0 && !zero",
    "huge == 1e300 && huge > 170141183460469231731687303715884105727",
    "huge > -170141183460469231731687303715884105728 && huge > 0x7fffffffffffffffffffffffffffffff",
    "most == 18446744073709551615 && most == 0xffff_ffff_ffff_ffff && most > 1e19",
    "most < 18446744073709551616.0 && most != 1.8446744073709552e19",
    "code == 'again' && code == 'block' && code == 11 && code != 'red'",
    "cut > 'abc' && cut > text && cut > 'abb' && cut < 'abd' && cut != 'abc'",
    "cut ~ '^abc…$' && text ~ '^abc$'",
    "one == 2 && one != 2 && one > 2 && one < 2",
    "one < two && rest > one && rest > two && one == one && two > one",
    "exact == 0.1 && !empty && !$and && one && cut",
    "-0.0 == 0 && -0 == 0.0 && $and == -0.0",
    "$0 == 4 && $14 == 4 && $15 == 5 && $00015 == 5",
    "!(none == none) && none && !null",
    "1B == 1 && 1kB == 1000 && 1MB == 1e6 && 1GB == 1e9 && 1TB == 1e12 && 1.5KiB == 1536",
    "1MiB == 1048576 && 1GiB == 1073741824 && 1TiB == 1099511627776 && 0.5TiB == 512GiB",
    "1ns == 1 && 1us == 1000 && 1µs == 1000 && 1μs == 1000 && 1ms == 1e6 && -1s == -1e9",
    "1m == 60s && 1min == 60s && 1.5h == 90m && 1_0 == 10 && 0x1F == 31 && -0x1f == -31",
];

const FALSE: &[&str] = &[
    "ratio < 0.1 || ratio > 0.1 || ratio != 0.1",
    "huge <= 170141183460469231731687303715884105727",
    "cut == 'abc' || cut == 'abcd' || cut != 'abcd' || cut < 'abcd' || cut > 'abcd' || cut == cut",
    "two == two || two != two",
    "none == 1 || none != 1 || none < 1 || none >= 1 || none != none",
    "null == '' || null != '' || null ~ '' || null !~ 'x'",
    "empty == 1 || empty != 1 || empty == empty && empty != empty",
    "text == 1 || text != 1 || most == 'abc' || most != 'abc'",
    "$99999999999 == 0 || $18446744073709551615 != 0 || $99999999999999999999999 != 0 || nobody",
];

#[test]
fn values_are_compared_as_they_are_shown() {
    let name = Name::new("queries-values");
    let tl = name.create(256);
    let event: EventId = tl.define("net", Priority::Info, MESSAGE).unwrap();
    tl.log_payload(event, &lay_out(&values()), false);
    let at = name.attach();
    let event = at.events(Order::NewestFirst).next().unwrap();
    for (texts, expected) in [(TRUE, true), (FALSE, false)] {
        // Each part by itself as well.
        let parts = texts
            .iter()
            .flat_map(|text| text.split(if expected { " && " } else { " || " }));
        for text in texts.iter().copied().chain(parts) {
            let query = Query {
                expressions: vec![Expression::parse(text).unwrap()],
                ..Query::default()
            };
            assert_eq!(query.on(&at).matches(&event), expected, "{text}");
        }
    }
}
