//! The rounds of calls that tests/ffi/preload/known.c makes, as they have to stand in the timeline.

/// Flags of open, the same on every Linux.
const O_RDONLY: i32 = 0;
const O_WRONLY: i32 = 1;
const O_CLOEXEC: i32 = 0o2000000;

/// Follows one thread through the rounds of tests/ffi/preload/known.c.
#[derive(Default)]
pub struct Rounds {
    pub whole: u64,
    pub next: usize,
    address: i64,
    fd: i64,
}

impl Rounds {
    pub fn take(&mut self, message: &str, args: &[i64; 4]) {
        let first_word = message.split(' ').next().expect("a word");
        let failed = message.contains("failed");
        // Only calls with the sizes of a round belong to one, and what frees or closes in its
        // middle.
        let begins = first_word == "malloc" && args[0] == 4909;
        if self.next == 0 && !begins {
            return;
        }
        let [a0, a1, a2, _] = *args;
        let fits = match self.next {
            0 => begins,
            1 => first_word == "realloc" && a0 == self.address && a1 == 4903,
            3 => first_word == "calloc" && (a0, a1) == (7, 701),
            5 => first_word == "aligned" && (a0, a1) == (4864, 256),
            2 | 4 | 6 => first_word == "free" && a0 == self.address,
            7 => first_word == "write" && !failed && (a0, a2) == (37, 37),
            8 => first_word == "read" && !failed && (a0, a2) == (41, 41),
            9 => first_word == "open" && !failed && a0 == i64::from(O_RDONLY | O_CLOEXEC),
            11 => first_word == "openat" && !failed && a1 == i64::from(O_WRONLY | O_CLOEXEC),
            10 | 12 => first_word == "close" && !failed && a0 == self.fd,
            13 => first_word == "close" && failed && (a0, a1) == (-1, 9),
            14 => first_word == "read" && failed && (a0, a1, a2) == (47, -1, 9),
            15 => first_word == "write" && failed && (a0, a1, a2) == (53, -1, 9),
            16 => first_word == "open" && failed && a1 == 2,
            17 => first_word == "openat" && failed && (a0, a2) == (-1, 9),
            _ => first_word == "malloc" && failed && (a0, a1) == (i64::MAX, 12),
        };
        assert!(fits, "call {} of a round is {message} {args:?}", self.next);
        match self.next {
            0 => self.address = a1,
            1 | 3 | 5 => self.address = a2,
            9 => self.fd = a1,
            11 => self.fd = a2,
            _ => {}
        }
        self.next = (self.next + 1) % 19;
        self.whole += u64::from(self.next == 0);
    }
}
