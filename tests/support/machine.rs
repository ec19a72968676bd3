//! The machine under a test: its CPUs, and whether there are restartable sequences.

use std::io::Write;
use std::process::Command;
use std::sync::Once;

use core_affinity::CoreId;

/// Whether the threads of this process write through lanes of CPUs: glibc says that the kernel took
/// its area, and the clock is read without a call.
///
/// Says once if they do not: tests of these lanes are left out then.
pub fn rseq() -> bool {
    let has_counter = timeline::ClockKind::detect() == timeline::ClockKind::Tsc;
    let why = match (area(), has_counter) {
        (true, true) => return true,
        (true, false) => "the clock is read by a call",
        (false, _) => "threads have no restartable sequences",
    };
    static SAID: Once = Once::new();
    // Not by a macro, whose text the test harness would keep to itself.
    SAID.call_once(|| {
        let told = format!("what needs lanes of CPUs is left out: {why}\n");
        let _ = std::io::stderr().write_all(told.as_bytes());
    });
    false
}

fn area() -> bool {
    // SAFETY: dlsym with a constant name; the symbol, if there, is an unsigned int.
    unsafe {
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
        !size.is_null() && *size.cast::<u32>() != 0
    }
}

/// The lanes of their own that so many threads take: none where those of CPUs serve them.
pub fn own_lanes(threads: u32) -> u32 {
    if rseq() { 0 } else { threads }
}

/// What glibc reads to leave restartable sequences alone.
pub const NO_RSEQ: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");

/// Has the test of that name run in a process without restartable sequences, if this one has them;
/// whether that was done, and nothing is left to do here.
pub fn in_process_without_rseq(test: &str) -> bool {
    if !rseq() {
        return false;
    }
    let output = Command::new(std::env::current_exe().expect("it runs"))
        .args(["--exact", test])
        .env(NO_RSEQ.0, NO_RSEQ.1)
        .output()
        .expect("started");
    let said = String::from_utf8_lossy(&output.stdout);
    // What it left out, and why.
    std::io::stderr()
        .write_all(&output.stderr)
        .expect("written");
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{test}: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// How many times as much chance is tried as by default: `TIMELINE_TEST_SIZE` (CONTRIBUTING.md).
pub fn size() -> u64 {
    let Ok(size) = std::env::var("TIMELINE_TEST_SIZE") else {
        return 1;
    };
    size.parse().expect("TIMELINE_TEST_SIZE is a whole number")
}

/// The CPUs of this machine, from 0 on, as far as this process may run on them.
pub fn cpus() -> usize {
    let usable = core_affinity::get_core_ids().expect("CPUs");
    let numbers = usable.iter().enumerate();
    numbers
        .take_while(|(cpu, usable)| usable.id == *cpu)
        .count()
}

/// Has this thread run on that CPU only.
pub fn run_on(cpu: usize) {
    assert!(core_affinity::set_for_current(CoreId { id: cpu }), "{cpu}");
}
