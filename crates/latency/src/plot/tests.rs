//! Tests what plots show.

use super::*;
use crate::intervals::{HistogramShape, Interval};

const SECOND: u64 = 1_000_000_000;

/// An interval of a second, with these durations.
fn interval(offset: u64, values: &[u64]) -> Interval {
    let mut histogram = HistogramShape::default().histogram().unwrap();
    for &value in values {
        histogram.record(value).unwrap();
    }
    let origin = 1_500_000_040 * SECOND;
    Interval {
        tag: None,
        start: origin + offset * SECOND,
        length: SECOND,
        origin,
        histogram,
    }
}

fn svg(draw: impl Fn(&PlotFrame, ImageFormat) -> Result<Vec<u8>>) -> String {
    let frame = PlotFrame {
        title: "How long <parse> takes".into(),
        ..PlotFrame::default()
    };
    String::from_utf8(draw(&frame, ImageFormat::Svg).unwrap()).unwrap()
}

/// The texts of an SVG, in their order.
fn texts(svg: &str) -> Vec<&str> {
    let marks = svg.split("<text ").skip(1);
    let behind = marks.map(|mark| mark.split_once(">\n").unwrap().1);
    behind
        .map(|text| text.split_once("\n</text>").unwrap().0)
        .collect()
}

/// The points of the lines of an SVG that are not of its axes or its legend.
fn lines(svg: &str) -> Vec<Vec<(i32, i32)>> {
    let points = svg
        .split("points=\"")
        .skip(1)
        .map(|part| part.split_once('"').unwrap().0);
    let number = |text: &str| text.parse::<i32>().unwrap();
    let lines = points.map(|points| {
        let pairs = points
            .split_whitespace()
            .map(|pair| pair.split_once(',').unwrap());
        pairs
            .map(|(x, y)| (number(x), number(y)))
            .collect::<Vec<_>>()
    });
    lines.filter(|line| line.len() > 2).collect()
}

/// Width and height of a PNG whose checksums and pixels are whole.
fn png_size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let (mut at, mut pixels) = (8, Vec::new());
    while at < png.len() {
        let end = at + 8 + number(at) as usize;
        assert_eq!(crc32fast::hash(&png[at + 4..end]), number(end));
        if &png[at + 4..at + 8] == b"IDAT" {
            pixels.extend(&png[at + 8..end]);
        }
        at = end + 4;
    }
    let (width, height) = (number(16), number(20));
    let mut raw = Vec::new();
    let mut expanded = flate2::read::ZlibDecoder::new(&pixels[..]);
    std::io::Read::read_to_end(&mut expanded, &mut raw).unwrap();
    assert_eq!(raw.len() as u32, height * (1 + width * 3));
    (width, height)
}

#[test]
fn percentiles_are_where_their_times_are() {
    let mut plot = OverTime::new(&[50.0, 100.0]).unwrap();
    // The second hour of the file of an hour, with nothing in one minute.
    for minute in 0..60 {
        let values: &[u64] = if minute == 30 {
            &[]
        } else {
            &[1_000_000, 1_500_000 + minute]
        };
        plot.add("a", &interval(3600 + minute * 60, values))
            .unwrap();
    }
    let svg = svg(|frame, image| plot.draw(frame, image));
    let texts = texts(&svg);
    assert!(texts.contains(&"How long &lt;parse&gt; takes"), "{texts:?}");
    for text in ["minutes since StartTime", "60", "80", "1 ms", "max", "50%"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    // Two lines, each with a gap.
    let lines = lines(&svg);
    let lengths: Vec<_> = lines.iter().map(Vec::len).collect();
    assert_eq!(lengths, [30, 29, 30, 29]);
    assert!(
        lines
            .iter()
            .all(|line| line.is_sorted_by_key(|point| point.0))
    );
    // The maximum is above, drawn over the others, and time goes on evenly.
    assert!(lines[0][0].1 > lines[2][0].1);
    let minute = lines[0][1].0 - lines[0][0].0;
    assert!((lines[1][0].0 - lines[0][29].0 - 2 * minute).abs() <= 2);
}

#[test]
fn files_that_are_compared_have_names_and_colours() {
    let mut over_time = OverTime::new(&[99.0]).unwrap();
    let mut spectrum = Spectrum::default();
    let mut heat_map = HeatMap::default();
    for label in ["before", "after"] {
        for second in 0..5 {
            let interval = interval(second, &[1_000, 2_000, 1_000_000]);
            over_time.add(label, &interval).unwrap();
            heat_map.add(label, &interval).unwrap();
        }
        spectrum
            .add(label, &interval(0, &[1_000, 3_000]).histogram)
            .unwrap();
    }
    let over_time = svg(|frame, image| over_time.draw(frame, image));
    assert!(texts(&over_time).contains(&"before 99%"));
    let spectrum = svg(|frame, image| spectrum.draw(frame, image));
    assert!(texts(&spectrum).contains(&"after"));
    assert!(texts(&spectrum).contains(&"90%"));
    assert_eq!(lines(&spectrum).len(), 2);
    let heat_map = svg(|frame, image| heat_map.draw(frame, image));
    let texts = texts(&heat_map);
    for text in [
        "before",
        "after",
        "per second",
        "seconds since StartTime",
        "100 µs",
    ] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
}

/// The colours of the lines of an SVG that are not of its axes.
fn colours(svg: &str) -> Vec<&str> {
    let lines = svg.split("<polyline ").skip(1).filter(|line| {
        let points = line
            .split("points=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        points.split_whitespace().count() > 2
    });
    lines
        .map(|line| {
            line.split("stroke=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
        })
        .collect()
}

#[test]
fn each_of_many_labels_has_a_panel_with_its_name() {
    for count in [3, 14, 40] {
        let mut over_time = OverTime::new(&[50.0, 99.9, 100.0]).unwrap();
        let mut heat_map = HeatMap::default();
        for label in 0..count {
            for second in 0..5 {
                let one = interval(second, &[1_000, 2_000, 1_000_000]);
                over_time.add(&format!("part.{label}"), &one).unwrap();
                heat_map.add(&format!("part.{label}"), &one).unwrap();
            }
        }
        let drawn = [
            over_time.draw(&over_time.frame("many"), ImageFormat::Svg),
            heat_map.draw(&heat_map.frame("many"), ImageFormat::Svg),
        ];
        for svg in drawn.map(|svg| String::from_utf8(svg.unwrap()).unwrap()) {
            let texts = texts(&svg);
            for label in 0..count {
                let name = format!("part.{label}");
                assert!(
                    texts.contains(&name.as_str()),
                    "{name} of {count}: {texts:?}"
                );
            }
            assert!(!texts.iter().any(|text| text.contains("more")), "{texts:?}");
        }
        let svg = over_time
            .draw(&over_time.frame(""), ImageFormat::Svg)
            .unwrap();
        let svg = String::from_utf8(svg).unwrap();
        // One legend serves all panels. The maximum is what 99.9 % do not exceed, and both are
        // drawn, it last.
        for key in ["max", "99.9%", "50%"] {
            assert_eq!(texts(&svg).iter().filter(|text| **text == key).count(), 1);
        }
        let (lines, colours) = (lines(&svg), colours(&svg));
        assert_eq!((lines.len(), colours.len()), (3 * count, 3 * count));
        assert!(colours[0] != colours[1] && colours[1] != colours[2]);
        assert_eq!(lines[0], lines[2]);
        assert_eq!(colours[2], "#19191E");
    }
}

#[test]
fn a_dozen_curves_have_colours_of_their_own_and_others_another_stroke() {
    let mut plot = Spectrum::default();
    for label in 0..14_u64 {
        let one = interval(0, &[1_000 << label, 5_000 << label, 9_000 << label]);
        plot.add(&format!("part.{label}"), &one.histogram).unwrap();
    }
    let svg = String::from_utf8(plot.draw(&plot.frame(""), ImageFormat::Svg).unwrap()).unwrap();
    let mut known = colours(&svg);
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), 12);
    // A dashed one is many lines.
    assert!(svg.matches("<polyline").count() > 14 + 14 + 20 + 2 * 10);
    assert!(texts(&svg).contains(&"part.13"));
}

#[test]
fn a_heat_map_has_a_cell_for_each_time_and_length() {
    let cells = |intervals: &[Interval]| {
        let mut plot = HeatMap::default();
        for interval in intervals {
            plot.add("", interval).unwrap();
        }
        svg(|frame, image| plot.draw(frame, image))
            .matches("<rect")
            .count()
    };
    let one = cells(&[interval(0, &[1_000])]);
    assert_eq!(
        cells(&[interval(0, &[1_000]), interval(1, &[1_000, 1_000_000])]),
        one + 2
    );
    // Neighbours with as many are one area.
    assert_eq!(cells(&[interval(0, &[1_000, 1_200])]), one);
}

#[test]
fn a_png_has_two_pixels_for_each_of_the_frame_and_letters() {
    let mut plot = Spectrum::default();
    plot.add("", &interval(0, &[1_000, 50_000]).histogram)
        .unwrap();
    let frame = PlotFrame {
        width: 300,
        height: 200,
        ..PlotFrame::default()
    };
    let plain = plot.draw(&frame, ImageFormat::Png).unwrap();
    assert_eq!(png_size(&plain), (600, 400));
    let title = "A title".to_owned();
    let titled = plot
        .draw(&PlotFrame { title, ..frame }, ImageFormat::Png)
        .unwrap();
    assert_ne!(plain, titled);
}

#[test]
fn many_intervals_are_drawn_in_bounded_space() {
    let mut over_time = OverTime::new(&[50.0, 99.0, 100.0]).unwrap();
    let mut heat_map = HeatMap::default();
    for second in 0..20_000 {
        let interval = interval(second, &[1_000 + second, 2_000_000]);
        over_time.add("", &interval).unwrap();
        heat_map.add("", &interval).unwrap();
    }
    assert!(svg(|frame, image| over_time.draw(frame, image)).len() < 200_000);
    assert!(svg(|frame, image| heat_map.draw(frame, image)).len() < 200_000);
}

#[test]
fn what_cannot_be_plotted_is_refused() {
    assert!(matches!(OverTime::new(&[]), Err(Error::Empty)));
    for percentile in [-1.0, 100.1, f64::NAN] {
        assert!(matches!(
            OverTime::new(&[percentile]),
            Err(Error::Percentile { .. })
        ));
    }
    let frame = PlotFrame::default();
    let mut plot = OverTime::new(&[50.0]).unwrap();
    plot.add("", &interval(0, &[])).unwrap();
    assert!(matches!(
        plot.draw(&frame, ImageFormat::Svg),
        Err(Error::Empty)
    ));
    assert!(matches!(
        Spectrum::default().draw(&frame, ImageFormat::Svg),
        Err(Error::Empty)
    ));
    assert!(matches!(
        HeatMap::default().draw(&frame, ImageFormat::Svg),
        Err(Error::Empty)
    ));
    plot.add("", &interval(1, &[1])).unwrap();
    for (width, height) in [(199, 500), (500, 9000)] {
        let frame = PlotFrame {
            width,
            height,
            ..PlotFrame::default()
        };
        let error = plot.draw(&frame, ImageFormat::Svg).unwrap_err().to_string();
        assert!(
            error.contains(&format!("got {width} x {height}")),
            "{error}"
        );
    }
    for label in 1..MOST_LABELS {
        plot.add(&label.to_string(), &interval(0, &[1])).unwrap();
    }
    let error = plot.add("one more", &interval(0, &[1])).unwrap_err();
    assert!(matches!(error, Error::TooManyLabels { most: MOST_LABELS }));
    // All of them, in the smallest frame.
    let frame = PlotFrame {
        width: 200,
        height: 200,
        ..PlotFrame::default()
    };
    plot.draw(&frame, ImageFormat::Svg).unwrap();
    let mut spectrum = Spectrum::default();
    for label in 0..MOST_LABELS {
        let one = interval(0, &[1]);
        spectrum.add(&label.to_string(), &one.histogram).unwrap();
    }
    let svg = String::from_utf8(spectrum.draw(&frame, ImageFormat::Svg).unwrap()).unwrap();
    assert!(texts(&svg).iter().any(|text| text.starts_with("… and ")));
}
