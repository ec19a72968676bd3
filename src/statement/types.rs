//! The types of a list of arguments: a number that tells other lists apart, known when compiled.

use super::argument::Argument;
use crate::event::FieldType;

/// A list of arguments, of which only the types are asked.
pub trait Types {
    /// How many they are.
    const COUNT: usize;
    /// A hash of the types as a message has them. Two lists share it if they are the same event.
    const KEY: u64;
    /// How many bytes they take in a message.
    const LENGTH: usize;

    /// The types.
    fn types() -> Vec<FieldType<'static>>;
}

impl Types for () {
    const COUNT: usize = 0;
    const KEY: u64 = FNV_BASIS;
    const LENGTH: usize = 0;

    fn types() -> Vec<FieldType<'static>> {
        Vec::new()
    }
}

// Of references, not of what implements `Argument`: references do that as well, and where a derived
// struct has the bound that one of them does, the compiler would take all for it.
impl<A: Argument + ?Sized, T: Types> Types for (&A, T) {
    const COUNT: usize = 1 + T::COUNT;
    const KEY: u64 = hash(T::KEY, A::TYPE);
    const LENGTH: usize = T::LENGTH + length(A::TYPE);

    fn types() -> Vec<FieldType<'static>> {
        let mut types = vec![A::TYPE];
        types.extend(T::types());
        types
    }
}

/// A list of arguments that it owns, and not of references: the first one, and the others.
pub struct OwnedList<A, T>(pub A, pub T);

impl<A: Argument, T: Types> Types for OwnedList<A, T> {
    const COUNT: usize = 1 + T::COUNT;
    const KEY: u64 = hash(T::KEY, A::TYPE);
    const LENGTH: usize = T::LENGTH + length(A::TYPE);

    fn types() -> Vec<FieldType<'static>> {
        let mut types = vec![A::TYPE];
        types.extend(T::types());
        types
    }
}

const fn length(kind: FieldType) -> usize {
    let [name, open, labels, close] = kind.parts();
    name.len() + open.len() + labels.len() + close.len()
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// The hash of a list before which one more type stands. By 64 bits, no two lists of a program are
/// mistaken for one another.
const fn hash(mut hash: u64, kind: FieldType) -> u64 {
    let parts = kind.parts();
    let mut part = 0;
    while part < parts.len() {
        let text = parts[part].as_bytes();
        let mut at = 0;
        while at < text.len() {
            hash = (hash ^ text[at] as u64).wrapping_mul(FNV_PRIME);
            at += 1;
        }
        part += 1;
    }
    // What no name has: `u8, u16` is not `u8u16`.
    (hash ^ b'\n' as u64).wrapping_mul(FNV_PRIME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::message::{length_without_types, with_types};
    use crate::statement::{Flags, Interned, Named};

    struct Access;

    impl Named for Access {
        const NAMES: &'static str = "größe=1,w=2";
    }

    fn check<A: Types>(message: &str) {
        let expected = with_types(message, &A::types()).len();
        assert_eq!(
            length_without_types(message) + A::LENGTH,
            expected,
            "{message:?}"
        );
    }

    #[test]
    fn lengths_are_those_of_messages_with_types() {
        check::<()>("nothing {{ or }}");
        check::<(&u8, OwnedList<f64, ()>)>("{{{a}}}: ${bcd}\n{c} {{");
        check::<(&Flags<Access>, (&Interned, (&[u16; 3], ())))>("ö {a}{b} {c} }}");
        check::<(&bool, (&bool, ()))>("{a}, {a}\r\n{{}}");
    }

    #[test]
    fn keys_tell_all_other_lists_apart() {
        let same = [
            <(&u8, ())>::KEY,
            <(&&u8, ())>::KEY,
            OwnedList::<u8, ()>::KEY,
        ];
        assert!(same.iter().all(|key| *key == same[0]));
        let mut keys = vec![
            <()>::KEY,
            <(&u8, ())>::KEY,
            <(&u16, (&u8, ()))>::KEY,
            <(&u8, (&u16, ()))>::KEY,
            <(&u8, (&u8, ()))>::KEY,
            <(&Vec<u8>, ())>::KEY,
            <(&Flags<Access>, ())>::KEY,
            <(&str, ())>::KEY,
            <(&Interned, ())>::KEY,
        ];
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
