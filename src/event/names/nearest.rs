//! Finds the names that somebody may have meant who wrote another one.

/// At most so many are told.
const MOST: usize = 3;

/// The names that are most like the given one, the most similar first, at most three: those that
/// differ by capitals only, those of which at most one letter in four is to be changed, added,
/// removed or swapped, and those that begin with it or have it behind their last dot. Of one or two
/// letters, one may be missing, too many or swapped, but none is another.
///
/// # Example
/// ```
/// let names = ["engine.breath", "engine.app", "http.request"];
/// assert_eq!(timeline::internal::nearest("engine.braeth", names), ["engine.breath"]);
/// assert_eq!(timeline::internal::nearest("request", names), ["http.request"]);
/// assert!(timeline::internal::nearest("disk.read", names).is_empty());
/// ```
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let given: Vec<char> = given.to_lowercase().chars().collect();
    let near = names.into_iter().filter_map(|name| {
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        let last = letters.iter().rposition(|letter| *letter == '.');
        let behind = last.map(|dot| &letters[dot + 1..]);
        let is_part = letters.starts_with(&given) || behind == Some(&given);
        let rank = match given.len() > 2 && is_part {
            true => Some(0),
            false => likeness(&given, &letters),
        };
        rank.map(|rank| (rank, name))
    });
    let mut near: Vec<_> = near.collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(MOST);
    near.into_iter().map(|(_, name)| name).collect()
}

/// How many letters differ, if these are few enough.
fn likeness(given: &[char], letters: &[char]) -> Option<usize> {
    let most = given.len().max(4) / 4;
    // No more than these can be the difference of their lengths.
    if given.len().abs_diff(letters.len()) > most {
        return None;
    }
    let distance = distance(given, letters);
    let is_same_length = given.len() == letters.len();
    // Half of a short name, or all of it, is another name: `rx` is not `tx`.
    let is_other = match distance {
        0 => false,
        _ if given.is_empty() || letters.is_empty() => true,
        _ => given.len() < 3 && is_same_length && !is_swapped(given, letters),
    };
    (distance <= most && !is_other).then_some(distance)
}

/// Whether these are two letters, and the other two the same ones in the other order.
fn is_swapped(one: &[char], other: &[char]) -> bool {
    one.iter().rev().eq(other)
}

/// How many letters are to be changed, added, removed, or swapped with the next one.
fn distance(one: &[char], other: &[char]) -> usize {
    let first: Vec<usize> = (0..=other.len()).collect();
    let (mut before, mut last) = (first.clone(), first);
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, of_other) in other.iter().enumerate() {
            let changed = last[column] + usize::from(letter != of_other);
            let mut least = changed.min(last[column + 1] + 1).min(next[column] + 1);
            let is_swapped =
                row > 0 && column > 0 && (*letter, one[row - 1]) == (other[column - 1], *of_other);
            if is_swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        (before, last) = (last, next);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(one: &str, other: &str) -> usize {
        let [one, other] = [one, other].map(|text| text.chars().collect::<Vec<_>>());
        assert_eq!(distance(&one, &other), distance(&other, &one));
        distance(&one, &other)
    }

    #[test]
    fn letters_are_changed_added_removed_and_swapped() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("abc", "abd", 1),
            ("abc", "ac", 1),
            ("abc", "acb", 1),
            ("abcd", "badc", 2),
            ("kitten", "sitting", 3),
            ("größe", "größer", 1),
        ] {
            assert_eq!(letters(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn the_nearest_come_first_and_those_that_are_far_not_at_all() {
        let names = ["net.sent", "net.send", "net.sends", "disk.sent", "x", ""];
        assert_eq!(
            nearest("net.sned", names),
            ["net.send", "net.sends", "net.sent"]
        );
        assert_eq!(
            nearest("NET.SENT", names),
            ["net.sent", "net.send", "net.sends"]
        );
        assert_eq!(nearest("net", names), ["net.send", "net.sends", "net.sent"]);
        assert_eq!(nearest("SENT", names), ["disk.sent", "net.sent"]);
        assert!(nearest("something.else", names).is_empty());
    }

    #[test]
    fn short_names_are_near_if_letters_are_missing_swapped_or_capitals() {
        let names = ["st", "txt", "a", ""];
        for (given, expected) in [
            ("ts", &["st"][..]),
            ("ST", &["st"]),
            ("s", &["st"]),
            ("tx", &["txt"]),
            ("A", &["a"]),
            ("b", &[]),
            ("sx", &[]),
            ("", &[""]),
        ] {
            assert_eq!(nearest(given, names), expected, "{given}");
        }
    }
}
