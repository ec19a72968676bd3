//! Writes a query as parameters of a request, and reads it again.

use std::ops::RangeInclusive;

use jiff::Zoned;

use super::{Expression, Needle, Query};
use crate::error::{Error, Result};
use crate::query::needle::Case;
use crate::query::{moment, numbers, priorities};

/// The names of the parameters: those of the options of the command line, and `match`.
pub const PARAMETERS: [&str; 11] = [
    "category", "event", "priority", "thread", "pid", "core", "since", "until", "where", "grep",
    "match",
];

const NANOS: u64 = 1_000_000_000;

impl Query {
    /// The query that these parameters state, each a name and a value. Other names are passed over.
    /// Times are read as at `now`, in its time zone; `grep` is a text and `match` a regular
    /// expression, in which capitals count if there are some.
    ///
    /// # Errors
    /// For a value that makes no sense, that of its kind.
    ///
    /// # Example
    /// ```
    /// use timeline_search::{Query, local_now};
    /// let parameters = [("category", "net"), ("where", "bytes > 1KiB")];
    /// let query = Query::from_parameters(&parameters, &local_now())?;
    /// assert_eq!(query.categories, ["net"]);
    /// # Ok::<(), timeline_search::Error>(())
    /// ```
    pub fn from_parameters(parameters: &[(&str, &str)], now: &Zoned) -> Result<Query> {
        let all = |name: &'static str| {
            let of_name = parameters.iter().filter(move |(known, _)| *known == name);
            of_name.map(|(_, value)| *value)
        };
        let one = |name: &'static str| -> Result<Option<&str>> {
            let mut values = all(name);
            let first = values.next();
            match values.next() {
                Some(_) => Err(Error::Repeated { name }),
                None => Ok(first),
            }
        };
        let time = |name| one(name)?.map(|text| moment(text, now)).transpose();
        let texts = |name| all(name).map(String::from).collect::<Vec<_>>();
        let mut cores = Vec::new();
        for list in all("core") {
            cores.extend(numbers(list)?);
        }
        let pid = |text: &str| {
            let wrong = |_| Error::Numbers { found: text.into() };
            text.parse().map_err(wrong)
        };
        let needles = all("grep").map(|text| Needle::text(text, Case::Smart));
        let needles = needles.chain(all("match").map(|text| Needle::regex(text, Case::Smart)));
        Ok(Query {
            categories: texts("category"),
            events: texts("event"),
            priorities: one("priority")?.map(priorities).transpose()?,
            threads: texts("thread"),
            pids: all("pid").map(pid).collect::<Result<_>>()?,
            cores,
            since: time("since")?,
            until: time("until")?,
            expressions: all("where").map(Expression::parse).collect::<Result<_>>()?,
            texts: needles.collect::<Result<_>>()?,
            ..Query::default()
        })
    }

    /// Parameters of a query that wants all events that this one wants, and perhaps some more: one
    /// that is read on another machine. That may be in another time zone, so conditions with texts
    /// in quotes, which may be times, are left out.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut all = Vec::new();
        let mut put = |name, value: String| all.push((name, value));
        self.categories
            .iter()
            .for_each(|it| put("category", it.clone()));
        self.events.iter().for_each(|it| put("event", it.clone()));
        if let Some(range) = &self.priorities {
            put("priority", format!("{}..{}", range.start(), range.end()));
        }
        self.threads.iter().for_each(|it| put("thread", it.clone()));
        self.pids.iter().for_each(|it| put("pid", it.to_string()));
        self.cores.iter().for_each(|it| put("core", shown(it)));
        let mut time = |name, nanos: Option<u64>| {
            let shown = nanos.map(|nanos| format!("@{}.{:09}", nanos / NANOS, nanos % NANOS));
            shown.into_iter().for_each(|shown| put(name, shown));
        };
        time("since", self.since);
        time("until", self.until);
        let timeless = self.expressions.iter().filter(|it| it.texts().is_empty());
        timeless.for_each(|it| put("where", it.to_string()));
        for needle in &self.texts {
            match (needle.as_text(), needle.is_insensitive()) {
                // Without a capital, no capital counts: so at least as much is found.
                (Some(text), true) => put("grep", text.to_lowercase()),
                (Some(text), false) => put("grep", text.into()),
                (None, true) => put("match", format!("(?i){}", needle.pattern())),
                (None, false) => put("match", needle.pattern().into()),
            }
        }
        all
    }
}

fn shown(cores: &RangeInclusive<u32>) -> String {
    format!("{}-{}", cores.start(), cores.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::local_now;

    fn again(query: &Query) -> Query {
        let written = query.parameters();
        let parameters: Vec<_> = written
            .iter()
            .map(|(name, value)| (*name, &value[..]))
            .collect();
        assert!(parameters.iter().all(|(name, _)| PARAMETERS.contains(name)));
        Query::from_parameters(&parameters, &local_now()).unwrap()
    }

    #[test]
    fn a_query_is_read_as_it_was_written() {
        let query = Query {
            categories: vec!["net*".into(), "a=b&c".into()],
            events: vec!["engine.*".into()],
            priorities: Some(priorities("warning..trace").unwrap()),
            threads: vec!["worker ?".into(), "17".into()],
            pids: vec![1, u32::MAX],
            cores: numbers("0-3,8").unwrap(),
            since: Some(1),
            until: Some(1_763_906_587_000_000_001),
            expressions: vec![Expression::parse("bytes > 1.5KiB && !($tcp == 10)").unwrap()],
            ..Query::default()
        };
        let read = again(&query);
        let shown = |query: &Query| format!("{:?}", query.parameters());
        assert_eq!(shown(&read), shown(&query));
        assert_eq!(read.since, Some(1));
        assert_eq!(read.until, query.until);
        assert_eq!(read.cores, query.cores);
        assert_eq!(read.pids, query.pids);
    }

    #[test]
    fn texts_find_at_least_as_much() {
        let lines = [
            "link Eth0 up",
            "link eth0 up",
            "LINK ETH0 UP",
            "ethx",
            "größe",
            "GRÖSSE",
        ];
        for text in [
            "eth0",
            "Eth0",
            "ETH0",
            "eth.",
            "größe",
            "(eth0|up)$",
            r"\S0",
        ] {
            for case in [Case::Smart, Case::Sensitive, Case::Insensitive] {
                for needle in [Needle::text(text, case), Needle::regex(text, case)] {
                    let texts = vec![needle.unwrap()];
                    let query = Query {
                        texts,
                        ..Query::default()
                    };
                    let read = again(&query);
                    for line in lines {
                        let finds = query.texts[0].is_in(line);
                        assert!(
                            !finds || read.texts[0].is_in(line),
                            "{text} {case:?} {line}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn conditions_that_may_name_times_stay_here() {
        let parse = |text| Expression::parse(text).unwrap();
        let expressions = vec![parse("at > \"14:03\""), parse("bytes > 5")];
        let query = Query {
            expressions,
            ..Query::default()
        };
        let kept = again(&query).expressions;
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].to_string(), "bytes > 5");
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        let now = local_now();
        for (name, value) in [
            ("priority", "loud"),
            ("pid", "-1"),
            ("pid", "x"),
            ("core", "3-1"),
            ("since", "soon"),
            ("where", "a >"),
            ("match", "a("),
        ] {
            assert!(
                Query::from_parameters(&[(name, value)], &now).is_err(),
                "{name} {value}"
            );
        }
        let twice = Query::from_parameters(&[("since", "now"), ("since", "now")], &now);
        let told = twice.unwrap_err().to_string();
        assert!(told.contains("since came several times"), "{told}");
    }
}
