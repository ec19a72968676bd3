//! Handlers that log important events, or fork, after any instruction of such a log call.
#![cfg(target_arch = "x86_64")]

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use timeline::Timeline;

use super::{define_important, kept};
use crate::fork::{Fork, fork_on, handled, install, log_one, reap, serve, trap};
use crate::support::{Name, Process, Way, arguments, attach, checked, say};

/// Instructions since stepping began, and the one after which the handler forks; 0 = it logs after
/// each.
static STEP: AtomicU64 = AtomicU64::new(0);
static AT: AtomicU64 = AtomicU64::new(0);
/// What the handler's fork returned; -1 = it has not forked.
static FORKED: AtomicI32 = AtomicI32::new(-1);
/// What the child waits for: until its parent has logged on.
static GATE: OnceLock<(PipeReader, PipeWriter)> = OnceLock::new();

const TRAP: i64 = 0x100;

extern "C" fn on_step(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let step = STEP.fetch_add(1, Ordering::SeqCst) + 1;
    match AT.load(Ordering::SeqCst) {
        0 => log_one(),
        at if at == step => {
            // SAFETY: the kernel passes the interrupted thread's context; clearing the trap flag in
            // it ends the stepping.
            unsafe {
                let context = context.cast::<libc::ucontext_t>();
                (*context).uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP;
            }
            let pid = fork_on(Fork::Raw);
            FORKED.store(pid, Ordering::SeqCst);
            if pid == 0 {
                crate::support::deadline();
                let mut gate = &GATE.get().expect("a pipe").0;
                gate.read_exact(&mut [0]).expect("the parent logged on");
            }
        }
        _ => {}
    }
}

/// How many instructions it took to log an event.
fn stepped(at: u64, log: impl FnOnce()) -> u64 {
    STEP.store(0, Ordering::SeqCst);
    AT.store(at, Ordering::SeqCst);
    FORKED.store(-1, Ordering::SeqCst);
    trap(true);
    log();
    trap(false);
    STEP.load(Ordering::SeqCst)
}

fn joined(given: &[String]) -> (&'static Timeline, timeline::EventId) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define_important(&timeline);
    install(
        libc::SIGTRAP,
        on_step as *const () as usize,
        libc::SA_SIGINFO,
    );
    (Box::leak(Box::new(timeline)), event)
}

fn logs_in_handlers(given: &[String]) {
    let (timeline, event) = joined(given);
    timeline.log(event, arguments(0, 0));
    serve(timeline, Way::Plain(event));
    for i in 1..6 {
        stepped(0, || timeline.log(event, arguments(0, i)));
    }
    say(handled());
}

#[test]
fn a_handler_may_log_one_after_any_instruction() {
    let name = Name::new("handler");
    let options = Timeline::options().entries(256).string_table_size(4096);
    let options = options.important_entries(65_536);
    let _opener = options.create(name.path()).expect("created");
    let mut process = Process::start(logs_in_handlers, &[name.path()]);
    let handled: usize = process.line().parse().expect("a number");
    process.finish();
    let attached = attach(name.path());
    let found: Vec<_> = kept(&attached).iter().map(checked).collect();
    let own = found
        .iter()
        .filter(|(who, _)| *who == 0)
        .map(|found| found.1);
    assert_eq!(own.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert!(handled > 100, "{handled}");
    assert_eq!(found.len(), 6 + handled);
    assert_eq!(attached.info().dropped.total(), 0);
}

fn forks_in_handlers(given: &[String]) {
    let (timeline, event) = joined(given);
    GATE.get_or_init(|| std::io::pipe().expect("a pipe"));
    timeline.log(event, arguments(0, 0));
    let count = stepped(u64::MAX, || timeline.log(event, arguments(0, 1)));
    let mut next = 2;
    for at in (1..count).step_by((count / 100).max(1) as usize) {
        stepped(at, || timeline.log(event, arguments(0, next)));
        let child = FORKED.load(Ordering::SeqCst);
        if child == 0 {
            // SAFETY: ends the process, which has nothing to clean up.
            unsafe { libc::_exit(0) };
        }
        timeline.log(event, arguments(0, next + 1));
        next += 2;
        let mut gate = &GATE.get().expect("a pipe").1;
        gate.write_all(&[0]).expect("the child waits");
        reap(child);
    }
    say(next);
}

#[test]
fn a_child_forked_after_any_instruction_commits_nothing_of_its_parents() {
    let name = Name::new("forked");
    let options = Timeline::options().entries(256).string_table_size(4096);
    let options = options.important_entries(4096);
    let _opener = options.create(name.path()).expect("created");
    let mut process = Process::start(forks_in_handlers, &[name.path()]);
    let (pid, next) = (process.pid(), process.line().parse().expect("a number"));
    process.finish();
    let kept = kept(&attach(name.path()));
    let of_parent = kept.iter().filter(|event| event.tid == pid);
    let own: Vec<i64> = of_parent.map(|event| checked(event).1).collect();
    // Once each. A child that was forked before it became known here as a thread of its own logs
    // its event as itself.
    assert!(next > 100 && own.iter().copied().eq(0..next), "{own:?}");
}
