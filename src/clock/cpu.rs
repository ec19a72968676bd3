//! Finds the current CPU, and the NUMA node of each CPU.

use std::path::Path;

use crate::shm;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use crate::sync::{AtomicU64, Ordering};

/// The CPU of this thread, read in the fastest way that the machine has; 0xffff if it is not known.
///
/// glibc (2.35 and later) registers a restartable-sequences area in which the kernel keeps the CPU
/// number: reading it takes one load. Without it `getcpu` is used, which the kernel maps into every
/// process.
#[inline(always)]
pub fn current_cpu() -> u16 {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        let offset = rseq_offset();
        if offset != NO_RSEQ {
            let cpu: i32;
            // SAFETY: glibc says that its rseq area lies at this offset from the thread pointer for
            // every thread, and that cpu_id is the i32 at its byte 4. We only read.
            unsafe {
                core::arch::asm!(
                    "mov {cpu:e}, dword ptr fs:[{at} + 4]",
                    at = in(reg) offset,
                    cpu = lateout(reg) cpu,
                    options(nostack, readonly, preserves_flags)
                );
            }
            // Negative: this thread is not registered (a tunable, or not started by glibc).
            if cpu >= 0 {
                return cpu as u16;
            }
        }
    }
    getcpu()
}

/// The offset from the thread pointer to glibc's rseq area, if it registers one for the threads of
/// this process.
pub fn rseq_area() -> Option<i32> {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        let offset = rseq_offset();
        (offset != NO_RSEQ).then(|| i32::try_from(offset as i64).ok())?
    }
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    None
}

/// Not a possible offset: the thread pointer itself is at 0.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const UNKNOWN: u64 = 0;
/// Not a possible offset: the area is aligned to 32 bytes.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const NO_RSEQ: u64 = 1;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[inline(always)]
fn rseq_offset() -> u64 {
    static OFFSET: AtomicU64 = AtomicU64::new(UNKNOWN);
    // Relaxed: all threads find the same offset.
    match OFFSET.load(Ordering::Relaxed) {
        UNKNOWN => {
            let offset = find_rseq();
            OFFSET.store(offset, Ordering::Relaxed);
            offset
        }
        offset => offset,
    }
}

/// Bytes of the area up to and including `rseq_cs`: its first version.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const RSEQ_SIZE: u32 = 16;

/// glibc's `__rseq_offset`, if its area has a CPU number (`__rseq_size` is 0 when disabled).
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[cold]
fn find_rseq() -> u64 {
    // SAFETY: dlsym with constant NUL-terminated names; the symbols, if present, are a ptrdiff_t
    // and an unsigned int that glibc never changes once a program runs.
    unsafe {
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr());
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
        if offset.is_null() || size.is_null() || *(size as *const u32) < RSEQ_SIZE {
            return NO_RSEQ;
        }
        *(offset as *const isize) as u64
    }
}

#[cold]
fn getcpu() -> u16 {
    // SAFETY: sched_getcpu takes nothing and only returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    u16::try_from(cpu).unwrap_or(u16::MAX)
}

/// The NUMA node of each of the first `count` CPUs; 0xff if it is not known.
pub fn cpu_nodes(count: usize) -> Vec<u8> {
    let mut nodes = vec![0xff; count];
    let system = Path::new("/sys/devices/system");
    let listed = shm::read_dir(&system.join("node")).into_iter();
    for entry in listed.flatten().flatten() {
        let name = entry.file_name();
        let Some(node) = name.to_str().and_then(|n| n.strip_prefix("node")) else {
            continue;
        };
        let Ok(node) = node.parse::<u8>() else {
            continue;
        };
        let list = shm::read_to_string(&entry.path().join("cpulist")).unwrap_or_default();
        for cpu in cpu_list(&list) {
            if let Some(node_of_cpu) = nodes.get_mut(cpu) {
                *node_of_cpu = node;
            }
        }
    }
    // A kernel without NUMA support has no such folder, and one node. Without /sys, nothing is
    // known.
    if nodes.iter().all(|&n| n == 0xff) && system.join("cpu").exists() {
        nodes.fill(0);
    }
    nodes
}

/// The kernel's list notation: `0-3,8`.
fn cpu_list(text: &str) -> impl Iterator<Item = usize> {
    text.trim().split(',').flat_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.parse::<usize>(), last.parse::<usize>()) {
            (Ok(first), Ok(last)) => first..last.saturating_add(1),
            _ => 0..0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_one_the_machine_has() {
        assert!(current_cpu() < 4096);
        match Path::new("/sys/devices/system/cpu").exists() {
            true => assert_ne!(cpu_nodes(1024)[current_cpu() as usize], 0xff),
            false => eprintln!("in part only: there is no /sys, which has the nodes of CPUs"),
        }
    }

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        let read = |s| cpu_list(s).collect::<Vec<_>>();
        assert_eq!(read("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(read("5"), [5]);
        assert_eq!(read(""), []);
    }
}
