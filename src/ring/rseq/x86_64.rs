//! The sections in assembly. The kernel is told the first and last instruction of each.
//!
//! **Why does the append keep the first argument in a vector register?** `rdtsc` overwrites rdx,
//! where C passes that argument. If the section fails, another function takes the event, with all
//! arguments in their places. So this one must be kept somewhere, and no other needs to be. No
//! register is pushed.
//!
//! **Why is the thread's state reached by initial-exec thread-local storage, in assembly?** The
//! general model calls `__tls_get_addr`, which may allocate when a thread first calls it: inside
//! malloc that is a deadlock. Stable Rust does not offer the other model.

#![expect(
    clippy::too_many_lines,
    reason = "sections of assembly are not divided"
)]

use core::arch::{asm, naked_asm};
use core::mem::offset_of;

use super::{Hot, InstallResult, Otherwise, Step};
use crate::layout::records::{Chunk, Lane};
use crate::layout::words::PAYLOAD_AT;
use crate::layout::{ENTRY_SIZE, PAYLOAD_WORDS};
use crate::ring::local::{ThreadState, symbol};

// Assumptions of the assembly.
const _: () = {
    assert!(ENTRY_SIZE == 64);
    assert!(PAYLOAD_AT[0] * 8 == 24 && PAYLOAD_AT[1] * 8 == 16);
    assert!(PAYLOAD_AT[0] + PAYLOAD_WORDS[0] == 8 && PAYLOAD_AT[1] + PAYLOAD_WORDS[1] == 8);
    assert!(offset_of!(Chunk, state) == 0 && offset_of!(Lane, cursor) == 0);
};

/// Precedes the abort label, as glibc told the kernel. It is part of an instruction that traps
/// (ud1).
macro_rules! signature {
    () => {
        ".byte 0x0f, 0xb9, 0x3d\n .long 0x53053053"
    };
}

/// The descriptor of the section from label 3 to label 4, aborted to label 7.
macro_rules! descriptor {
    () => {
        ".pushsection __rseq_cs, \"aw\"\n .balign 32\n 5: .long 0, 0\n .quad 3b, 4b - 3b, 7b\n \
         .popsection"
    };
}

/// The append, up to its exits: after it, the event is logged; at label 8, it is not, and all
/// arguments are in their places.
///
/// Nothing is pushed, and the arguments stay in their registers for the code at label 8: rdx, which
/// rdtsc overwrites, is kept in xmm0. The time is read last, in two halves, and each is stored at
/// once.
macro_rules! append {
    () => {
        concat!(
            "mov rax, qword ptr [rip + ",
            symbol!(),
            "@GOTTPOFF]\n",
            "mov r10, qword ptr fs:[rax]\n", // this thread's page
            "test r10, r10\n",
            "jz 9f\n",
            "movsxd rax, dword ptr [rdi + {rseq}]\n",
            "test eax, eax\n",
            "jz 9f\n",
            "mov r11d, dword ptr [rdi + {state_offset}]\n",
            "add r10, r11\n",
            "movq xmm0, rdx\n",
            "lea rdx, [rip + 5f]\n",
            "mov qword ptr fs:[rax + 8], rdx\n", // the section begins
            "3:\n",
            "mov rdx, qword ptr [rdi + {key}]\n",
            "cmp rdx, qword ptr [r10 + {state_key}]\n",
            "jne 8f\n",
            "mov edx, dword ptr fs:[rax + 4]\n", // the CPU
            "cmp edx, dword ptr [rdi + {cpu_lanes}]\n",
            "jae 8f\n",
            "movq xmm1, qword ptr [r10 + {state_thread_word}]\n",
            "mov r11d, dword ptr [rdi + {lane_stride}]\n",
            "imul r11, rdx\n",
            "add r11, qword ptr [rdi + {lanes}]\n",
            "add edx, 0x10000\n", // slots: 1
            "movd xmm2, edx\n",
            "mov rax, qword ptr [r11]\n", // the cursor
            "movzx edx, ax\n",
            "shl edx, 6\n",
            "cmp edx, dword ptr [rdi + {chunk_bytes}]\n",
            "jae 8f\n",
            "shr rax, 16\n",
            "and eax, dword ptr [rdi + {chunk_mask}]\n",
            "mov r10d, dword ptr [rdi + {chunk_bytes}]\n",
            "imul r10, rax\n",
            "add r10, rdx\n",
            "add r10, qword ptr [rdi + {entries}]\n",
            "mov dword ptr [r10 + 8], esi\n",
            "movd dword ptr [r10 + 12], xmm2\n",
            "movq qword ptr [r10 + 16], xmm1\n",
            "movq qword ptr [r10 + 24], xmm0\n",
            "mov qword ptr [r10 + 32], rcx\n",
            "mov qword ptr [r10 + 40], r8\n",
            "mov qword ptr [r10 + 48], r9\n",
            "rdtsc\n",
            "mov dword ptr [r10], eax\n",
            "mov dword ptr [r10 + 4], edx\n",
            "inc qword ptr [r11]\n", // the commit
            "4:\n",
            "movsxd rax, dword ptr [rdi + {rseq}]\n",
            "mov qword ptr fs:[rax + 8], 0\n",
        )
    };
}

/// The abort label, and the way from inside of the section to label 9.
macro_rules! aborted {
    () => {
        concat!(
            signature!(),
            "\n",
            "7:\n",
            "8:\n",
            "movsxd rax, dword ptr [rdi + {rseq}]\n",
            "mov qword ptr fs:[rax + 8], 0\n",
            "movq rdx, xmm0\n",
            "9:\n",
        )
    };
}

/// The body of an append, with its ends: one if the event is logged, and one if it is not.
macro_rules! body {
    (
        $append:ident, $logged:literal, $not_logged:literal
        $(, $operand:ident = sym $function:path)?
    ) => {
        naked_asm!(
            ".cfi_startproc", // nothing is pushed, so no more is needed to unwind
            $append!(),
            $logged,
            aborted!(),
            $not_logged,
            ".cfi_endproc",
            descriptor!(),
            $($operand = sym $function,)?
            key = const offset_of!(Hot, key),
            lanes = const offset_of!(Hot, lanes),
            entries = const offset_of!(Hot, entries),
            state_offset = const offset_of!(Hot, state_offset),
            rseq = const offset_of!(Hot, rseq),
            chunk_bytes = const offset_of!(Hot, chunk_bytes),
            chunk_mask = const offset_of!(Hot, chunk_mask),
            cpu_lanes = const offset_of!(Hot, cpu_lanes),
            lane_stride = const offset_of!(Hot, lane_stride),
            state_key = const offset_of!(ThreadState, key),
            state_thread_word = const offset_of!(ThreadState, thread_word),
        )
    };
}

/// Appends an event through the lane of this CPU, or else calls `T`.
///
/// # Safety
/// `hot` describes a mapped ring, and is the beginning of what `T` expects.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn append<T: Otherwise>(
    hot: *const Hot,
    event: u32,
    a: i64,
    b: i64,
    c: i64,
    d: i64,
) {
    body!(append, "ret", "jmp {otherwise}", otherwise = sym T::otherwise)
}

/// Like `append`, but returns whether it succeeded.
///
/// # Safety
/// `hot` describes a mapped ring.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn try_append(
    hot: *const Hot,
    event: u32,
    a: i64,
    b: i64,
    c: i64,
    d: i64,
) -> bool {
    body!(append, "mov eax, 1\n ret", "xor eax, eax\n ret")
}

/// The append of an event with a payload, up to its exits, like `append`. Its arguments are those
/// of [`append_long`].
///
/// The words are copied by loads and stores of 8 bytes: the caller has just stored them in that
/// size, and the processor forwards such a store to the load. Most payloads fit into one entry, and
/// these take the way without a loop.
///
/// Both ways end in one commit. An instruction behind it, such as a jump to label 4, would still be
/// in the section: if it were interrupted, the event would be logged twice.
macro_rules! append_long {
    () => {
        concat!(
            "mov rax, qword ptr [rip + ",
            symbol!(),
            "@GOTTPOFF]\n",
            "mov r10, qword ptr fs:[rax]\n", // this thread's page
            "test r10, r10\n",
            "jz 9f\n",
            "movsxd rax, dword ptr [rdi + {rseq}]\n",
            "test eax, eax\n",
            "jz 9f\n",
            "mov r11d, dword ptr [rdi + {state_offset}]\n",
            "add r10, r11\n",
            "movq xmm0, rdx\n",
            "lea r8, [rip + 5f]\n",
            "mov qword ptr fs:[rax + 8], r8\n", // the section begins
            "3:\n",
            "mov r8, qword ptr [rdi + {key}]\n",
            "cmp r8, qword ptr [r10 + {state_key}]\n",
            "jne 8f\n",
            "mov r8d, dword ptr fs:[rax + 4]\n", // the CPU
            "cmp r8d, dword ptr [rdi + {cpu_lanes}]\n",
            "jae 8f\n",
            "movq xmm1, qword ptr [r10 + {state_thread_word}]\n",
            "mov r11d, dword ptr [rdi + {lane_stride}]\n",
            "imul r11, r8\n",
            "add r11, qword ptr [rdi + {lanes}]\n",
            "mov rax, qword ptr [r11]\n", // the cursor
            "shl r8, 32\n",               // the core in word 1
            "mov r9, rcx\n",
            "shr r9, 48\n",
            "movzx r9d, r9b\n", // entries
            "movzx r10d, ax\n",
            "add r9d, r10d\n",
            "shl r9d, 6\n",
            "cmp r9d, dword ptr [rdi + {chunk_bytes}]\n",
            "ja 8f\n",
            "shl r10d, 6\n",
            "shr rax, 16\n",
            "and eax, dword ptr [rdi + {chunk_mask}]\n",
            "mov r9d, dword ptr [rdi + {chunk_bytes}]\n",
            "imul r9, rax\n",
            "add r10, r9\n",
            "add r10, qword ptr [rdi + {entries}]\n", // the first entry
            "mov rax, rcx\n",
            "or rax, r8\n",
            "mov qword ptr [r10 + 8], rax\n",
            "movq qword ptr [r10 + 16], xmm1\n",
            "test rdx, rdx\n",
            "jz 22f\n",
            "mov rax, qword ptr [rsi]\n",
            "mov qword ptr [r10 + 24], rax\n",
            "cmp rdx, 2\n",
            "jb 22f\n",
            "mov rax, qword ptr [rsi + 8]\n",
            "mov qword ptr [r10 + 32], rax\n",
            "je 22f\n",
            "mov rax, qword ptr [rsi + 16]\n",
            "mov qword ptr [r10 + 40], rax\n",
            "cmp rdx, 4\n",
            "jb 22f\n",
            "mov rax, qword ptr [rsi + 24]\n",
            "mov qword ptr [r10 + 48], rax\n",
            "je 22f\n",
            "mov rax, qword ptr [rsi + 32]\n",
            "mov qword ptr [r10 + 56], rax\n",
            "sub rdx, 5\n",
            "jz 22f\n",
            // The words of the other entries.
            "movq xmm2, r10\n",
            "lea r9, [rsi + 40 - 48]\n",
            "2:\n",
            "add r9, 48\n",
            "add r10, 64\n",
            "mov rax, 0x0100000000000000\n", // the next position
            "add r8, rax\n",
            "mov qword ptr [r10 + 8], r8\n",
            "mov rax, qword ptr [r9]\n",
            "mov qword ptr [r10 + 16], rax\n",
            "cmp rdx, 2\n",
            "jb 6f\n",
            "mov rax, qword ptr [r9 + 8]\n",
            "mov qword ptr [r10 + 24], rax\n",
            "je 6f\n",
            "mov rax, qword ptr [r9 + 16]\n",
            "mov qword ptr [r10 + 32], rax\n",
            "cmp rdx, 4\n",
            "jb 6f\n",
            "mov rax, qword ptr [r9 + 24]\n",
            "mov qword ptr [r10 + 40], rax\n",
            "je 6f\n",
            "mov rax, qword ptr [r9 + 32]\n",
            "mov qword ptr [r10 + 48], rax\n",
            "cmp rdx, 6\n",
            "jb 6f\n",
            "mov rax, qword ptr [r9 + 40]\n",
            "mov qword ptr [r10 + 56], rax\n",
            "sub rdx, 6\n",
            "jnz 2b\n",
            "6:\n",
            "movq r10, xmm2\n",
            "mov r8, rcx\n",
            "shr r8, 48\n",
            "movzx r8d, r8b\n", // entries
            "mov r9d, r8d\n",
            "rdtsc\n",
            "shl rdx, 32\n",
            "or rax, rdx\n",
            "2:\n",
            "mov qword ptr [r10], rax\n",
            "add r10, 64\n",
            "dec r9d\n",
            "jnz 2b\n",
            "jmp 2f\n",
            // All words are in one entry.
            "22:\n",
            "mov r8d, 1\n",
            "rdtsc\n",
            "mov dword ptr [r10], eax\n",
            "mov dword ptr [r10 + 4], edx\n",
            "2:\n",
            "add qword ptr [r11], r8\n", // the commit of all
            "4:\n",
            "movsxd rax, dword ptr [rdi + {rseq}]\n",
            "mov qword ptr fs:[rax + 8], 0\n",
        )
    };
}

/// Appends an event with a payload through the lane of this CPU, or else calls `T`.
///
/// `words` is the payload. `head` is word 1 of its first entry without the core: it has the number
/// of entries.
///
/// # Safety
/// `hot` describes a mapped ring, and is the beginning of what `T` expects; `words` points to
/// `count` words; `head` has as many entries as they take.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn append_long<T: Otherwise>(
    hot: *const Hot,
    words: *const u64,
    count: usize,
    head: u64,
) {
    body!(append_long, "ret", "jmp {otherwise}", otherwise = sym T::otherwise_long)
}

/// Like `append_long`, but returns whether it succeeded. It fails if the lane's chunk lacks room
/// for all of its entries.
///
/// # Safety
/// `hot` describes a mapped ring; `words` points to `count` words; `head` has as many entries as
/// they take.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn try_append_long(
    hot: *const Hot,
    words: *const u64,
    count: usize,
    head: u64,
) -> bool {
    body!(append_long, "mov eax, 1\n ret", "xor eax, eax\n ret")
}

/// The lane of the current CPU; `None` if there is none, or if the kernel does not tell.
pub fn lane(hot: &Hot) -> Option<u32> {
    if hot.rseq == 0 {
        return None;
    }
    let cpu: u32;
    // SAFETY: glibc's rseq area lies at this offset from the thread pointer; cpu_id is at its byte
    // 4.
    unsafe {
        asm!(
            "mov {cpu:e}, dword ptr fs:[{area} + 4]",
            area = in(reg) i64::from(hot.rseq),
            cpu = lateout(reg) cpu,
            options(nostack, readonly, preserves_flags)
        );
    }
    (cpu < hot.cpu_lanes).then_some(cpu)
}

/// Takes the chunk, describes it, closes the full one and installs the fresh cursor, if this is the
/// CPU of that lane, the thread is joined, and the lane's cursor is still the full one.
///
/// # Safety
/// The pointers lead to aligned words of a mapped ring; `hot.rseq` is not 0.
pub(super) unsafe fn install(hot: &Hot, state: &ThreadState, step: &Step) -> InstallResult {
    let done: u64;
    // SAFETY: writes to the words that the caller vouches for, and to glibc's rseq area in the
    // documented way.
    unsafe {
        asm!(
            "lea {t}, [rip + 5f]",
            "mov qword ptr fs:[{area} + 8], {t}",
            "3:",
            "mov {t}, qword ptr [{state} + {state_key}]",
            "cmp {t}, {key}",
            "jne 8f",
            "mov {t:e}, dword ptr fs:[{area} + 4]",
            "cmp {t}, qword ptr [{step} + {lane}]",
            "jne 8f",
            "mov {cursor}, qword ptr [{step} + {cursor_at}]",
            "mov {t}, qword ptr [{step} + {full}]",
            "cmp {t}, qword ptr [{cursor}]",
            "jne 8f",
            "mov {chunk}, qword ptr [{step} + {chunk_at}]",
            "mov rax, qword ptr [{step} + {was}]",
            "mov {t}, qword ptr [{step} + {open}]",
            "lock cmpxchg qword ptr [{chunk}], {t}",
            "jne 6f",
            "mov {t}, qword ptr [{step} + {before}]",
            "mov qword ptr [{chunk} + {chunk_before}], {t}",
            "mov {t}, qword ptr [{step} + {lane}]",
            "mov qword ptr [{chunk} + {chunk_lane}], {t}",
            "mov {t}, qword ptr [{step} + {ticket}]",
            "mov qword ptr [{chunk} + {chunk_opened}], {t}",
            "mov {chunk}, qword ptr [{step} + {full_chunk}]",
            "mov rax, qword ptr [{step} + {open_full}]",
            "mov {t}, qword ptr [{step} + {closed_full}]",
            "lock cmpxchg qword ptr [{chunk}], {t}",
            "mov {t}, qword ptr [{step} + {fresh}]",
            "mov qword ptr [{cursor}], {t}", // the commit
            "4:",
            "mov eax, 1",
            "jmp 9f",
            signature!(),
            "7:",
            "8:",
            "mov eax, 0",
            "jmp 9f",
            "6:",
            "mov eax, 2",
            "9:",
            "mov qword ptr fs:[{area} + 8], 0",
            descriptor!(),
            t = out(reg) _,
            cursor = out(reg) _,
            chunk = out(reg) _,
            area = in(reg) i64::from(hot.rseq),
            state = in(reg) state,
            key = in(reg) hot.key,
            step = in(reg) step,
            out("rax") done,
            state_key = const offset_of!(ThreadState, key),
            lane = const offset_of!(Step, lane),
            cursor_at = const offset_of!(Step, cursor),
            full = const offset_of!(Step, full),
            chunk_at = const offset_of!(Step, chunk),
            was = const offset_of!(Step, was),
            open = const offset_of!(Step, open),
            before = const offset_of!(Step, before),
            ticket = const offset_of!(Step, ticket),
            full_chunk = const offset_of!(Step, full_chunk),
            open_full = const offset_of!(Step, open_full),
            closed_full = const offset_of!(Step, closed_full),
            fresh = const offset_of!(Step, fresh),
            chunk_before = const offset_of!(Chunk, before),
            chunk_lane = const offset_of!(Chunk, lane),
            chunk_opened = const offset_of!(Chunk, opened),
            options(nostack)
        );
    }
    match done {
        1 => InstallResult::Done,
        2 => InstallResult::Taken,
        _ => InstallResult::Aborted,
    }
}
