//! Demangles the names of functions.

use std::fmt::{self, Write};

/// Bytes of the longest name to be shown. In nested templates, a few letters of a mangled name
/// double the length.
const MAX_SHOWN: usize = 16 << 10;

/// Bytes of the longest mangled name that is parsed.
const MAX_MANGLED: usize = 16 << 10;

/// The name of a function as in its source, if it is mangled like C++ or Rust; otherwise unchanged.
///
/// # Example
/// ```
/// use timeline::internal::symbols::demangled;
/// let rust = demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE");
/// assert_eq!(rust, "core::fmt::Write::write_fmt");
/// let cpp = demangled("_ZNSt6vectorIiSaIiEE9push_backEOi");
/// assert_eq!(cpp, "std::vector<int, std::allocator<int> >::push_back(int&&)");
/// assert_eq!(demangled("qsort"), "qsort");
/// ```
pub fn demangled(name: &str) -> String {
    if name.len() > MAX_MANGLED {
        return name.to_owned();
    }
    // Rust first: its older names are also valid C++ names, with a hash as the last part.
    rust(name)
        .or_else(|| cpp(name))
        .unwrap_or_else(|| name.to_owned())
}

fn rust(name: &str) -> Option<String> {
    let parsed = rustc_demangle::try_demangle(name).ok()?;
    let mut shown = Bounded::default();
    // Without the hash.
    write!(shown, "{parsed:#}").ok()?;
    Some(shown.text)
}

fn cpp(name: &str) -> Option<String> {
    // Other names would be read as types: `i` as int.
    if !name.starts_with("_Z") {
        return None;
    }
    let parsed = cpp_demangle::Symbol::new(name).ok()?;
    let mut shown = Bounded::default();
    let options = cpp_demangle::DemangleOptions::new();
    parsed.structured_demangle(&mut shown, &options).ok()?;
    Some(shown.text)
}

/// Text with a bounded length.
#[derive(Default)]
struct Bounded {
    text: String,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > MAX_SHOWN {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_each_language_are_shown_as_they_are_written() {
        for (mangled, shown) in [
            ("main", "main"),
            ("i", "i"),
            ("", ""),
            ("_Z", "_Z"),
            ("_Znonsense", "_Znonsense"),
            ("_ZN3foo3barEv", "foo::bar()"),
            ("_ZN1AC1Ev", "A::A()"),
            ("_Z3addii.cold", "add(int, int) [clone .cold]"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_ZN3foo3bar17h05af221e174051e9E.llvm.123", "foo::bar"),
        ] {
            assert_eq!(demangled(mangled), shown, "{mangled}");
        }
    }

    #[test]
    fn a_name_that_would_grow_without_bound_stays_as_it_is() {
        // Each pair repeats the whole type so far twice.
        let mut doubling = "_Z1fSt4pairIiiE".to_owned();
        for seed in [
            "", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "A", "B", "C", "D", "E",
        ] {
            doubling += &format!("St4pairIS{seed}_S{seed}_E");
        }
        let shown = demangled(&doubling);
        assert!(
            shown.len() <= MAX_SHOWN.max(doubling.len()),
            "{}",
            shown.len()
        );
        let long = format!("_Z{}x", "N".repeat(MAX_MANGLED));
        assert_eq!(demangled(&long), long);
    }

    proptest! {
        #[test]
        fn any_name_is_taken(name in "(_Z|_R|_ZN|)[0-9a-zA-Z_$.é]{0,48}") {
            prop_assert!(demangled(&name).len() <= MAX_SHOWN.max(name.len()));
        }
    }
}
