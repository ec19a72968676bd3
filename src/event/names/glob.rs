//! Matches patterns with `*` and `?`, without recursion or allocation.

/// Whether a text matches a pattern, in which `*` is any text and `?` any one character.
///
/// A mismatch is retried only at the last `*`: what an earlier one could take as well, the last
/// one can.
///
/// # Example
/// ```
/// assert!(timeline::internal::matches_pattern("engine.*", "engine.got_packet"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    let (mut wanted, mut left) = (pattern.chars(), text.chars());
    // What follows the last `*`, and the text that it was last tried with.
    let mut retry = None;
    loop {
        let from = left.clone();
        match (wanted.next(), left.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((wanted.clone(), from.clone()));
                left = from;
            }
            (Some('?'), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => {
                let Some((behind_star, tried)) = &mut retry else {
                    return false;
                };
                if tried.next().is_none() {
                    return false;
                }
                (wanted, left) = (behind_star.clone(), tried.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("engine.*", "engine.got_packet", true),
            ("engine.*", "engines.got_packet", false),
            ("*packet", "engine.got_packet", true),
            ("*pack", "engine.got_packet", false),
            ("e?gine.*_*", "engine.got_packet", true),
            ("*", "", true),
            ("?", "", false),
            ("?", "ß", true),
            ("", "", true),
            ("", "a", false),
            ("**a*", "ba", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    /// The plainest way: try everything.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|taken| naive(rest, &text[taken..])),
            [one, rest @ ..] => {
                !text.is_empty() && (*one == '?' || *one == text[0]) && naive(rest, &text[1..])
            }
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_naive_twin(pattern in "[ab*?]{0,8}", text in "[abß]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &text), naive(&chars(&pattern), &chars(&text)));
        }
    }
}
