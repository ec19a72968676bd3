//! Tests what is written of intervals: tables and distributions.

use super::*;
use crate::spans::ValueUnit;

fn table(format: TableFormat) -> String {
    let mut summaries = Summaries::default();
    let mut table = IntervalTable::new(
        Vec::new(),
        format,
        ValueUnit::Nanoseconds,
        (1_000, 1_000_000_000),
    )
    .unwrap();
    let mut first = interval(Some("a\"b"), 60 * SECOND, 1, &[1_000, 2_000_000]);
    first.origin = 40 * SECOND;
    let second = interval(None, 61 * SECOND, 1, &[]);
    for interval in [first, second] {
        table.interval(&interval).unwrap();
        summaries.add(&interval).unwrap();
    }
    for summary in summaries.iter() {
        table.total(summary).unwrap();
    }
    String::from_utf8(table.into_inner()).unwrap()
}

#[test]
fn a_table_for_people_has_units_and_spark_lines() {
    let text = table(TableFormat::Text);
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].ends_with("99.99%       max      mean  1 µs … 1 s        tag"),
        "{text}"
    );
    assert_eq!(
        lines[1],
        "      20.000         2      1 µs      1 µs      2 ms      2 ms      2 ms      2 ms      \
         2 ms      1 ms  █       █         a\"b"
    );
    let nothing = " ".repeat(9) + "-";
    let empty = format!("{:>12}{:>10}{}", "0.000", 0, nothing.repeat(8));
    assert_eq!(lines[2], empty);
    assert!(
        lines[3].starts_with("       total         2      1 µs"),
        "{text}"
    );
    assert_eq!(lines.len(), 5);
}

#[test]
fn csv_and_json_have_nanoseconds() {
    assert_eq!(
        table(TableFormat::Csv),
        "tag,start,offset,length,count,min,p50,p90,p99,p99.9,p99.99,max,mean\n\
         \"a\"\"b\",60.000,20.000,1.000,2,1000,1000,2000895,2000895,2000895,2000895,2000895,\
         1000692.0\n\
         ,61.000,0.000,1.000,0,0,0,0,0,0,0,0,0.0\n\
         \"a\"\"b\",60.000,,1.000,2,1000,1000,2000895,2000895,2000895,2000895,2000895,1000692.0\n\
         ,61.000,,1.000,0,0,0,0,0,0,0,0,0.0\n"
    );
    let text = table(TableFormat::Json);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        "{\"type\":\"interval\",\"tag\":\"a\\\"b\",\"start\":60.000,\"offset\":20.000,\
         \"length\":1.000,\
         \"count\":2,\"min\":1000,\"p50\":1000,\"p90\":2000895,\"p99\":2000895,\"p99.9\":2000895,\
         \"p99.99\":2000895,\"max\":2000895,\"mean\":1000692.0}"
    );
    assert!(
        lines[3].starts_with("{\"type\":\"total\",\"tag\":null,\"start\":61.000,\"length\":1.000")
    );
}

#[test]
fn a_distribution_comes_to_all_durations() {
    let values: Vec<u64> = (1..=1000).collect();
    for ticks in [0, 1, 5, 50] {
        for csv in [false, true] {
            let distribution = Distribution {
                ticks,
                ratio: 1.0,
                csv,
            };
            let mut text = Vec::new();
            distribution.write(&histogram(&values), &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let rows: Vec<Vec<&str>> = text
                .lines()
                .skip(if csv { 1 } else { 2 })
                .filter(|line| !line.starts_with('#'))
                .map(|line| {
                    line.split([' ', ','])
                        .filter(|field| !field.is_empty())
                        .collect()
                })
                .collect();
            let last = rows.last().unwrap();
            assert_eq!(last[..3], ["1000.000", "1.000000000000", "1000"], "{text}");
            assert_eq!(last.get(3), csv.then_some(&"Infinity"));
            for row in &rows {
                // Of a thousand numbers, each is its own place.
                let value: f64 = row[0].parse().unwrap();
                assert_eq!(value, row[2].parse::<f64>().unwrap());
                assert!(value / 1000.0 >= row[1].parse::<f64>().unwrap());
            }
        }
    }
    let mut text = Vec::new();
    Distribution::default()
        .write(&histogram(&[]), &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("Total count    =            0]"), "{text}");
}

#[test]
fn no_tag_commands_a_terminal() {
    let row = |format| {
        let range = (1_000, 1_000_000);
        let mut table =
            IntervalTable::new(Vec::new(), format, ValueUnit::Nanoseconds, range).unwrap();
        let tag = Some("a\u{1b}]0;title\u{7}\u{9b}31m\u{202e}");
        table.interval(&interval(tag, 0, 1, &[5])).unwrap();
        String::from_utf8(table.into_inner()).unwrap()
    };
    for format in [TableFormat::Text, TableFormat::Csv] {
        let text = row(format);
        assert!(text.contains("a?]0;title??31m?"), "{text:?}");
    }
    let text = row(TableFormat::Json);
    assert!(
        text.contains("a\\u001b]0;title\\u0007\\u009b31m"),
        "{text:?}"
    );
}
