#!/usr/bin/env python3
"""Measures what is about durations: `make bench-latency`. Tables on standard output; what it is doing on standard error.

A program logs spans at a steady rate, and `timeline watch` waits beside it for those of more than a millisecond, of which
there are ten in a second. How much of a core the watch takes, and how long after a span has lasted a millisecond the line
about it is read; median and quartiles over the repeats, or over all lines.

Then durations of an archive of an hour: how fast all are found and recorded, beside how fast its events are read, and how
long the command takes for the percentiles of one second in its middle."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from harness.figures import spread
from harness.programs import Failed, Programs, run, say

LIMIT_NS = 1_000_000
RATES = [1_000_000, 100_000, 1_000]


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short and few repeats: shows that all runs, no more")
    parser.add_argument("--json", metavar="FILE", help="where the figures go")
    return parser.parse_args()


def watched(programs, rate, seconds):
    """One run: the part of a core, the delays of the lines in milliseconds, and the entries that were missed."""
    program = subprocess.Popen([programs.target / "bench-spans", "--rate", str(rate), "--seconds", str(seconds + 2)],
                               env=programs.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        if program.stdout.readline() != "ready\n":
            raise Failed("bench-spans: expected \"ready\"")
        start = time.perf_counter()
        watch = subprocess.Popen([programs.command, "watch", programs.name, "--when", "span engine.breath > 1ms",
                                  "--cooldown", "0s", "--json", "--read-only", "--duration", f"{seconds}s"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        delays = []
        for line in watch.stdout:
            now, fired = time.time_ns(), json.loads(line)
            delays.append((now - int(fired["begin_ns"]) - LIMIT_NS) / 1e6)
        told = watch.stderr.read()
        _, status, usage = os.wait4(watch.pid, 0)
        watch.returncode = os.waitstatus_to_exitcode(status)
        used = (usage.ru_utime + usage.ru_stime) / (time.perf_counter() - start)
        if watch.returncode != 0:
            raise Failed(f"timeline watch ended with status {watch.returncode}: {told}")
        logged = int(program.stdout.readline())
    finally:
        program.kill()
        program.wait()
        program.stdout.close()
        programs.remove()
    return {"cores": used, "delays": delays, "missed": told.count("missed here"), "logged": logged / (seconds + 2)}


def watching(programs, quick):
    """A row for each rate."""
    seconds, repeats = (1, 1) if quick else (5, 5)
    rows = []
    for rate in RATES:
        say(f"watching {rate:,} events a second")
        runs = [watched(programs, rate, seconds) for _ in range(repeats)]
        delays = [delay for run in runs for delay in run["delays"]]
        rows.append({"rate": rate, "logged": min(run["logged"] for run in runs),
                     "core_percent": spread([100 * run["cores"] for run in runs]), "delay_ms": spread(delays),
                     "longest_ms": max(delays), "lines": len(delays), "gaps": sum(run["missed"] for run in runs)})
    return rows


def show(rows):
    """The table of `watching`."""
    print("events/s   % of a core (quartiles)   ms to the line (quartiles)   longest ms   lines   gaps")
    for row in rows:
        low, core, high = row["core_percent"]
        early, delay, late = row["delay_ms"]
        print(f"{row['rate']:>8,}   {core:6.1f} ({low:.1f}-{high:.1f})          {delay:6.1f} ({early:.1f}-{late:.1f})"
              f"             {row['longest_ms']:6.1f}   {row['lines']:5}   {row['gaps']:4}")


def archived(programs, quick):
    """The figures of an archive of an hour with 20 million events, or a hundredth of them."""
    events, repeats = (200_000, 2) if quick else (20_000_000, 5)
    say(f"durations of an archive of {events:,} events")
    file = programs.outdir / "hour.tla"
    finder = programs.target / "bench-durations"
    run([finder, "--mode", "write", "--file", file, "--events", events], "bench-durations")
    found = run([finder, "--mode", "durations", "--file", file, "--repeats", repeats], "bench-durations")
    read = run([programs.archive, "--mode", "read", "--file", file, "--order", "time", "--repeats", repeats],
               "bench-archive")
    found, read = ([json.loads(line) for line in said.splitlines()] for said in (found, read))
    run([programs.command, "index", file], "timeline index", stderr=subprocess.DEVNULL)
    window = [programs.command, "histogram", file, "--interval", "100ms", "--json",
              "--since", "@1700001800", "--until", "@1700001801"]
    times = []
    for _ in range(3 * repeats):
        start = time.perf_counter()
        run(window, "timeline histogram", stderr=subprocess.DEVNULL)
        times.append(1e3 * (time.perf_counter() - start))
    return {"events": events, "found": found[0]["found"],
            "finding_ns": spread([one["event_cpu_ns"] for one in found]),
            "reading_ns": spread([1e9 * one["cpu_seconds"] / one["events"] for one in read]),
            "second_ms": spread(times)}


def show_archived(figures):
    """The table of `archived`."""
    low, finding, high = figures["finding_ns"]
    reading = figures["reading_ns"][1]
    early, second, late = figures["second_ms"]
    print(f"\n{figures['found']:,} spans of {figures['events']:,} events: {finding:.1f} ns of CPU an event "
          f"({low:.1f}-{high:.1f}), {1e3 / finding:.1f} M events/s; {finding / reading:.2f} of reading all events ({reading:.1f} ns)")
    print(f"percentiles of one second of the hour, as a process: {second:.1f} ms ({early:.1f}-{late:.1f})")


# What is measured: a name in the figures, how, and how it is shown.
PARTS = [("watch", watching, show), ("durations", archived, show_archived)]


def main():
    """Measures each part, and shows it."""
    options, figures = parse(), {}
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(folder, 1, compiled=False)
        for name, measure, table in PARTS:
            figures[name] = measure(programs, options.quick)
            table(figures[name])
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"bench: {error}")
