//! What a writer takes from its arguments, and which formats are left to the C library.

use timeline::Value;
use timeline::internal::Format;

/// The types as text: `i`, or `s.5` with a precision.
fn types(format: &str) -> Option<String> {
    let types = Format::parse(format).types()?;
    let shown = types.iter().map(|kind| {
        let letter = char::from(*kind as u8);
        match kind >> 8 {
            0xff_ffff => letter.to_string(),
            precision => format!("{letter}.{precision}"),
        }
    });
    Some(shown.collect::<Vec<_>>().join(" "))
}

#[test]
fn each_conversion_takes_its_type() {
    for (format, expected) in [
        ("", ""),
        ("100%% sure", ""),
        ("%d %i %c", "i i i"),
        ("%hhd %hd %hhi %hi", "i i i i"),
        ("%u %x %X %o %hhx %hu", "u u u u u u"),
        ("%ld %lld %jd %zd %td %li", "l l l l l l"),
        ("%lu %llx %jo %zX %tu", "U U U U U"),
        ("%e %E %f %F %g %G %a %A %lf", "d d d d d d d d d"),
        ("%Le %LE %Lf %LF %Lg %LG %La %LA", "D D D D D D D D"),
        ("%p", "p"),
        ("%s %S %ls", "s w w"),
        ("%lc %C", "u u"),
        ("%n %hhn %hn %ln %lln %jn %zn %tn", "n n n n n n n n"),
        ("%.5s %.0ls %.s", "s.5 w.0 s.0"),
        ("%.*s %.*ls %.*S", "i S i W i W"),
        ("%*d %*.*f %-*s", "i i i i d i s"),
        ("%+-#0' 12d|%5.3Lf", "i D"),
        ("%.99999999999s", "s.16777214"),
        ("%99999999999d", "i"),
    ] {
        assert_eq!(types(format).as_deref(), Some(expected), "{format}");
    }
}

#[test]
fn what_the_standards_do_not_define_is_left_to_the_c_library() {
    for format in [
        "%", "50%", "%1$d", "%*1$d", "%.*1$d", "%m", "%5%", "%-%", "%l%", "%y", "%k", "%b", "%Ld",
        "%qd", "%Zd", "%hf", "%llf", "%hs", "%Ls", "%lp", "%hhc", "%Ln", "%5-d", "%.-3d", "%d %Q",
        "%\u{e4}", "%l", "%.", "%*", "%Id", "%lC", "%lS", "%hhhd", "%llld", "%D", "%U", "%H",
    ] {
        assert_eq!(types(format), None, "{format}");
    }
}

#[test]
fn as_many_arguments_as_stated_are_taken_apart() {
    let most = Format::MOST_ARGUMENTS;
    assert_eq!(types(&"%d".repeat(most)).unwrap().len(), 2 * most - 1);
    assert_eq!(types(&"%d".repeat(most + 1)), None);
    // Widths, precisions and places count.
    assert!(types(&"%*d".repeat(most / 2)).is_some());
    assert_eq!(types(&("%*.*d".repeat(most / 3) + "%d%n%d")), None);
}

#[test]
fn a_format_that_is_left_shows_the_text_that_it_became() {
    let render = |format: &str, values: Vec<Value>| {
        let mut text = b"> ".to_vec();
        Format::parse(format).render(values.into_iter(), &mut text);
        String::from_utf8(text).unwrap()
    };
    let text = |cut| Value::Text {
        bytes: b"open: No such file",
        cut,
    };
    assert_eq!(
        render("open: %m", vec![text(false)]),
        "> open: No such file"
    );
    assert_eq!(
        render("open: %m", vec![text(true)]),
        "> open: No such file…"
    );
    assert_eq!(render("open: %m", vec![]), "> open: %m");
    let stack = Value::Addresses(vec![1, 2]);
    assert_eq!(
        render("open: %m", vec![stack, text(false)]),
        "> open: No such file"
    );
}
