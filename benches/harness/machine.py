"""Describes the machine of the figures."""

import os
import platform
from pathlib import Path


def read(path):
    """The first line of a file of the kernel; "unknown" if it has none."""
    try:
        return Path(path).read_text().splitlines()[0].strip()
    except (OSError, IndexError):
        return "unknown"


def cpu_model():
    """The model name of the CPU."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def huge_pages():
    """Which of the settings for shared memory is in force."""
    setting = read("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
    return setting.split("[", 1)[-1].split("]")[0]


def describe(info, versions):
    """The properties of the machine; `info` is that of a timeline, `versions` those of the peers."""
    return {
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": f"{platform.system()} {platform.release()}",
        "tsc_hz": info["ticks_per_second"] if info["clock"] == "tsc" else None,
        "clock": info["clock"],
        "clocksource": read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "libc": " ".join(platform.libc_ver()),
        "shmem_huge_pages": huge_pages(),
        "cpu_lanes": info["cpu_lanes"],
        "load": os.getloadavg()[0],
        "peers": versions,
    }


def sentence(machine):
    """The machine in one line."""
    tsc = f"TSC {machine['tsc_hz'] / 1e9:.3f} GHz" if machine["tsc_hz"] else f"clock {machine['clock']}"
    return (f"{machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, {machine['libc']}, {tsc}, "
            f"huge pages of shared memory: {machine['shmem_huge_pages']}, load {machine['load']:.1f}")
