//! A kernel, or a file system, that refuses what ours does: by a filter of system calls.

use std::ops::RangeInclusive;

/// A system call that is refused.
pub struct Refusal {
    pub call: libc::c_long,
    /// Which argument decides, and the values, of its lower half, for which it is refused.
    pub argument: u32,
    pub values: RangeInclusive<u32>,
    /// What the call fails with.
    pub error: libc::c_int,
}

impl Refusal {
    /// Of a call, whatever its arguments are.
    pub fn always(call: libc::c_long, error: libc::c_int) -> Refusal {
        Refusal {
            call,
            argument: 0,
            values: 0..=u32::MAX,
            error,
        }
    }

    fn filter(&self) -> [libc::sock_filter; 6] {
        // Where struct seccomp_data has the number of the call, and the lower halves of its
        // arguments.
        let (number, argument) = (0, 16 + 8 * self.argument);
        let load = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
        let jump = |how, yes, no, value| step(libc::BPF_JMP | how | libc::BPF_K, yes, no, value);
        [
            load(number),
            jump(libc::BPF_JEQ, 0, 4, self.call as u32),
            load(argument),
            jump(libc::BPF_JGE, 0, 2, *self.values.start()),
            jump(libc::BPF_JGT, 1, 0, *self.values.end()),
            answer(libc::SECCOMP_RET_ERRNO | self.error as u32),
        ]
    }
}

fn step(code: u32, yes: u8, no: u8, value: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: yes,
        jf: no,
        k: value,
    }
}

fn answer(answer: u32) -> libc::sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, answer)
}

/// From here on this process, which is one thread, is refused these calls, and so are its children.
pub fn refuse(refusals: &[Refusal]) {
    let mut filter: Vec<_> = refusals.iter().flat_map(Refusal::filter).collect();
    filter.push(answer(libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program is valid during the call, which copies it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &program), 0);
    }
}
