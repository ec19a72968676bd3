"""One-time work, and readers of a full timeline: whole processes, in turn, against babeltrace2."""

import json
import os
import subprocess
import time

from harness.figures import median, spread
from harness.programs import Failed, run, say
from peers.peers import Unavailable

# Events of printf, and the same with the C library.
FORMATS = {"printf2": "snprintf2", "printf4": "snprintf4"}
READERS = {"text": [], "JSON": ["--json"]}


def cold(programs, sizes):
    """One-time work, in one process: name, nanoseconds (quartiles), clock."""
    say("what is done once")
    try:
        lines = run([programs.cold, "--repeats", sizes.cold_repeats], "bench-cold",
                    env=programs.environment())
    finally:
        programs.remove()
    found = {}
    for line in map(json.loads, lines.splitlines()):
        found.setdefault(line["figure"], []).append(line)
    return [{"figure": name, "ns": spread([run["event_ns"] for run in runs]),
             "clock_ns": median([run["clock_ns"] for run in runs]), "repeats": len(runs)}
            for name, runs in found.items()]


def seconds(argv):
    """The time of a process that writes to /dev/null."""
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          check=False)
    taken = time.perf_counter() - start
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, argv))} ended with status {done.returncode}")
    return taken


def formatted(programs, sizes):
    """Processor time of reading an event of printf, in each form, against snprintf of the same in the same round."""
    found = []
    for of in FORMATS:
        ratios = {form: [] for form in READERS}
        for number in range(sizes.read_repeats):
            say(f"{of} read, round {number + 1} of {sizes.read_repeats}")
            environment = dict(programs.environment(), BENCH_WARM_UP="1")
            options = ["--mode", "loop", "--threads", 1, "--repeats", 1, "--events"]
            try:
                run([*programs.argv("c", of), *options, sizes.formatted_read], of, env=environment)
                events = programs.info(programs.name)["entries_held"]
                used = {form: processor_ns([programs.command, "dump", *option, programs.name])
                        for form, option in READERS.items()}
            finally:
                programs.remove()
            line = run([*programs.argv("c", FORMATS[of]), *options, sizes.formatted], FORMATS[of], env=environment)
            programs.remove()
            own = json.loads(line)["event_cpu_ns"]
            for form, ns in used.items():
                ratios[form].append(ns / events / own)
        found += [{"of": of, "form": form, "ratio": spread(each)} for form, each in ratios.items()]
    return found


def processor_ns(argv):
    """User and system time of a process that writes to /dev/null."""
    child = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise Failed(f"{' '.join(map(str, argv))} ended with status {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e9


def dumps(programs, sizes, snapshot, skipped):
    """Whole processes that read a full timeline which a live process writes to; `snapshot`, if not None, has LTTng
    record as many events and gives the folder and their number. Also what `timeline info` says."""
    name = programs.name
    holder = subprocess.Popen([programs.cold, "--hold", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if holder.stdout.readline() != "ready\n":
            raise Failed("bench-cold --hold: expected \"ready\"")
        info = programs.info(name)
        events = info["entries_held"]
        readers = {
            "nothing": ([programs.command, "--version"], 0),
            "dump -n 1": ([programs.command, "dump", "-n", 1, name], 1),
            "dump": ([programs.command, "dump", name], events),
            "dump --json": ([programs.command, "dump", "--json", name], events),
        }
        if snapshot:
            say(f"a snapshot of LTTng with {events:,} events")
            try:
                folder, recorded = snapshot(events)
                readers["babeltrace2"] = (["babeltrace2", folder], recorded)
            except Unavailable as missing:
                say(f"babeltrace2 is skipped: {missing}")
                skipped["babeltrace2"] = str(missing)
        taken = {name: [] for name in readers}
        for number in range(sizes.read_repeats):
            say(f"readers, round {number + 1} of {sizes.read_repeats}")
            for reader, (argv, _) in readers.items():
                taken[reader].append(seconds(argv))
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
        programs.remove()
    found = [{"figure": reader, "seconds": spread(taken[reader]), "events": readers[reader][1],
              "repeats": sizes.read_repeats} for reader in readers]
    return found, info
