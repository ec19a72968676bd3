#!/usr/bin/env python3
"""Measures searching beside others: `make bench-search`. Tables on standard output; what it is doing on standard error.

An archive of demo events, and a generated text log with ids of high entropy, imported. Each command is run in turn with
the others, after one run that is not counted; the files are in the page cache. Wall time; median and quartiles. What
takes long is repeated less often.

Peers: rg, ugrep, zstd and lnav (apt-get install ripgrep ugrep zstd lnav), DuckDB and chDB (pip install duckdb chdb). What
is not installed is left out. Commands are measured from their start to their end; databases are queried in this process,
when they have read the log. lnav reads the log at each start."""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from harness import databases
from harness.figures import spread
from harness.programs import Failed, Programs, run, say

HERE = Path(__file__).resolve().parent
# Seconds of all repeats of a command from which on it is not repeated.
LONG = 10
# What `timeline search --stats` says: pages, and times.
PAGES = re.compile(r"([\d,]+) of them candidates; ([\d,]+) read, ([\d,]+) in vain")
TIMES = re.compile(r"index asked in ([\d.]+)(\S+), searched in ([\d.]+)(\S+)")
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="little data and few repeats: shows that all runs, no more")
    parser.add_argument("--json", metavar="FILE", help="where the figures go")
    return parser.parse_args()


def words(argv):
    """An argument list as a line of a shell."""
    return " ".join(shlex.quote(str(word)) for word in argv)


def run_shell(line, **more):
    """Runs a command line, which may find nothing. The shell takes a millisecond to start, so only pipes have one."""
    argv = ["sh", "-c", line] if "|" in line else shlex.split(line)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, check=False, **more)
    if done.returncode not in (0, 1):
        raise Failed(f"{line} ended with status {done.returncode}")
    return done


def seconds(what):
    """The wall time of a command line, or of a query of a database. Its output is read: ugrep stops at the first match if
    it goes to /dev/null."""
    start = time.perf_counter()
    if callable(what):
        what()
    else:
        run_shell(what, stdout=subprocess.PIPE)
    return time.perf_counter() - start


def in_turn(lines, repeats):
    """Seconds of command lines and queries by name: quartiles."""
    taken = {name: [] for name in lines}
    for number in range(repeats + 1):
        for name, line in lines.items():
            if sum(taken[name]) > LONG:
                continue
            used = seconds(line)
            if number > 0:
                taken[name].append(used)
    return {name: spread(each) for name, each in taken.items()}


def counted(line):
    """How many lines a command counts."""
    return int(run_shell(line, stdout=subprocess.PIPE, text=True).stdout.strip() or 0)


def agree(needle, counts):
    """All must find as many lines."""
    if len(set(counts.values())) != 1:
        raise Failed(f"the counts of {needle} differ: {counts}")


def what_was_read(tool, archive, needle, repeats):
    """The pages that a search reads, and the time behind opening."""
    line, behind = words([tool, "search", "-c", "--stats", archive, needle]), []
    for _ in range(repeats + 1):
        said = run_shell(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        times = TIMES.search(said.stderr)
        behind.append(float(times[1]) * UNITS[times[2]] + float(times[3]) * UNITS[times[4]])
    candidates, read, vain = (int(number.replace(",", "")) for number in PAGES.search(said.stderr).groups())
    return {"lines": int(said.stdout), "candidates": candidates, "read": read, "vain": vain,
            "behind": spread(behind[1:])}


def demo(programs, folder, rate, length):
    """An archive of demo events: recorded while two threads log them at a steady rate, for so many seconds."""
    archive = folder / "demo.tla"
    say(f"an archive of {rate * length:,} events")
    writer = subprocess.Popen([programs.archive, "--mode", "pace", "--rate", str(rate), "--threads", "2", "--seconds",
                               str(length)], env=programs.environment(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    if writer.stdout.readline() != "ready\n":
        raise Failed("bench-archive --mode pace: expected \"ready\"")
    recorder = subprocess.Popen([programs.command, "record", "--once", "--fsync", "never", "-o", archive, programs.name],
                                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.perf_counter() + 30
    while not (archive.exists() and archive.stat().st_size) and time.perf_counter() < until:
        time.sleep(0.001)
    writer.stdin.close()
    writer.wait()
    if recorder.wait() != 0:
        raise Failed("timeline record failed")
    programs.remove()
    return archive


def indexed(programs, archive):
    """Makes the index: its time, its bytes, and the bytes of the text."""
    say(f"the index of {archive.name}")
    archive.with_name(archive.name + ".idx").unlink(missing_ok=True)
    start = time.perf_counter()
    made = json.loads(run([programs.command, "index", "--json", archive], "timeline index"))
    return {"seconds": time.perf_counter() - start, "index": made["index"], "text": made["text"],
            "lines": made["lines"], "archive": archive.stat().st_size}


def message(programs, archive, line):
    """The message of a line."""
    found = run([programs.command, "dump", archive, "--line", line, "-n", 1, "--json"], "timeline dump --line")
    return json.loads(found.splitlines()[0])["message"]


def events(programs, archive, made, repeats):
    """Searches of the archive of events: needles with what is read for them, and other commands."""
    tool, lines = programs.command, made["lines"]
    # The end of a message, whose values are rare together.
    rare = message(programs, archive, lines // 2).split(": ")[-1]
    needles = {"an exact value": "position(12745)", "a rare text": rare, "an absent text": "no such text",
               "an absent number": "812345678912"}
    found = {}
    for what, needle in needles.items():
        say(f"searches of events: {what}")
        read = what_was_read(tool, archive, needle, repeats)
        agree(needle, {"with the index": read["lines"],
                       "without": counted(words([tool, "search", "-c", "--no-index", archive, needle]))})
        whole = in_turn({what: words([tool, "search", archive, needle])}, repeats)[what]
        found[what] = {"needle": needle, "whole": whole, **read}
    others = {
        "a line in the middle": words([tool, "dump", archive, "--line", lines // 2, "-n", 20]),
        "the archive is opened": words([tool, "dump", archive, "--line", lines, "-n", 1]),
        "values: bytes > 1500": words([tool, "stats", archive, "--where", "bytes > 1500"]),
    }
    others = in_turn(others, repeats)
    if shutil.which("rg"):
        # Apart: it takes the caches of the processor from what comes next.
        piped = f"{words([tool, 'dump', '--no-pager', archive])} | rg -F {shlex.quote(rare)}"
        others |= in_turn({"a rare text: dump | rg": piped}, repeats)
    return {"needles": found, "others": others}


def needles_of(log):
    """Texts of the log to search for."""
    chosen = random.Random(7)
    with log.open("rb") as file:
        file.seek(log.stat().st_size // 2)
        sample = file.read(1 << 20).decode().splitlines()[1:-1]
    each = [word.strip(",:") for line in sample for word in line.replace("=", " ").replace(":", " ").split()]
    ids = [word for word in each if len(word) == 16 and all(c in "0123456789abcdef" for c in word)]
    numbers = [word for word in each if len(word) == 12 and word.isdecimal()]
    return {"an id": chosen.choice(ids), "a number of 12 digits": chosen.choice(numbers),
            "words that are rare together": "attempt 2 from 10.1", "an absent number": "812345678912"}


def texts(programs, archive, log, repeats):
    """Searches of the imported log, and of the log itself by others. All must find as many lines."""
    tool, packed, folder = programs.command, log.with_name(log.name + ".zst"), log.parent
    run(["zstd", "-q", "-f", "-3", log, "-o", packed], "zstd")
    there = {name for name in ["rg", "ugrep", "lnav"] if shutil.which(name)}
    for name in sorted({"rg", "ugrep", "lnav"} - there):
        say(f"{name} is not measured: it is not installed")
    # lnav would keep what it has seen.
    os.environ["HOME"] = str(folder)
    peers = databases.loaded(log, folder)
    found = {}
    for what, needle in needles_of(log).items():
        say(f"searches of the log: {what}")
        quoted = shlex.quote(needle)
        readers = {"timeline search": words([tool, "search", archive, needle])}
        read = what_was_read(tool, archive, needle, repeats)
        counts = {"timeline": read["lines"]}
        if "rg" in there:
            readers["rg"] = words(["rg", "-F", needle, log])
            readers["zstd -dc | rg"] = f"{words(['zstd', '-dc', packed])} | rg -F {quoted}"
            counts["rg"] = counted(words(["rg", "-cF", needle, log]))
        if "ugrep" in there:
            readers["ugrep"] = words(["ugrep", "-F", needle, log])
            counts["ugrep"] = counted(words(["ugrep", "-cF", needle, log]))
        if "lnav" in there:
            readers["lnav"] = words(["lnav", "-n", "-c", f":filter-in {re.escape(needle)}", log])
            counts["lnav"] = counted(f"{readers['lnav']} | wc -l")
        for peer in peers:
            readers[peer.name] = lambda peer=peer, needle=needle: peer.count(needle)
            counts[peer.name] = peer.count(needle)
        agree(needle, counts)
        found[what] = {"needle": needle, **read, "readers": in_turn(readers, repeats)}
    loads = {peer.name: {"seconds": taken, "bytes": peer.size()} for peer, taken in peers.items()}
    for peer in peers:
        peer.close()
    return {"needles": found, "loads": loads}, packed.stat().st_size


def row(name, quartiles):
    """A line of a table, in milliseconds."""
    low, middle, high = (1000 * value for value in quartiles)
    name = name.replace("|", "\\|")
    return f"| {name} | {middle:.1f} | {low:.1f}–{high:.1f} |"


def show_events(found):
    """The tables of the archive of events."""
    print("| events | lines | pages read | in vain | ms behind opening | ms | quartiles |\n|---|" + "---:|" * 6)
    for what, of in found["needles"].items():
        behind, (low, middle, high) = 1000 * of["behind"][1], (1000 * value for value in of["whole"])
        print(f"| {what}: `{of['needle']}` | {of['lines']:,} | {of['read']:,} | {of['vain']:,} | {behind:.2f} | "
              f"{middle:.1f} | {low:.1f}–{high:.1f} |")
    print("\n| other commands on events | ms | quartiles |\n|---|---:|---:|")
    for name, quartiles in found["others"].items():
        print(row(name, quartiles))


def show_texts(found):
    """The tables of the log."""
    for name, load in found["loads"].items():
        print(f"\n{name}: reads the log in {load['seconds']:.1f} s, and keeps it in {load['bytes'] / 1e6:.0f} MB")
    for what, of in found["needles"].items():
        print(f"\n`{of['needle']}`: lines: {of['lines']:,}; pages: {of['read']:,} read, {of['vain']:,} in vain; "
              f"{1000 * of['behind'][1]:.2f} ms behind opening\n")
        print(f"| {what} in the log | ms | quartiles |\n|---|---:|---:|")
        for name, quartiles in of["readers"].items():
            print(row(name, quartiles))


def show(found):
    """Prints all."""
    for what in ["demo", "log"]:
        made = found[what]
        share = 100 * made["index"] / made["text"]
        print(f"{what}: {made['lines']:,} lines, {made['text'] / 1e6:.0f} MB of text, archive "
              f"{made['archive'] / 1e6:.1f} MB, index {made['index'] / 1e6:.1f} MB ({share:.1f} % of the text), made in "
              f"{made['seconds']:.1f} s")
    imported = found["import"]
    print(f"import: {imported['seconds']:.1f} s; the archive has {imported['of_zstd']:.2f} of the size of zstd -3\n")
    show_events(found["events"])
    show_texts(found["texts"])


def main():
    """Measures, and prints."""
    options = parse()
    rate, length, megabytes, repeats = (50_000, 1, 1, 1) if options.quick else (2_000_000, 10, 500, 5)
    with tempfile.TemporaryDirectory(prefix="timeline-bench-") as outdir:
        folder = Path(outdir)
        programs = Programs(folder, 0, compiled=False)
        archive = demo(programs, folder, rate, length)
        found = {"demo": indexed(programs, archive)}
        found["events"] = events(programs, archive, found["demo"], repeats)
        log, imported = folder / "log", folder / "log.tla"
        say(f"a log of {megabytes} MB")
        with log.open("wb") as out:
            subprocess.run([HERE.parent / "scripts/generate-log.py", str(megabytes)], stdout=out, check=True)
        say("the import of the log")
        taken = seconds(words([programs.command, "import", log, "-o", imported]))
        found["log"] = indexed(programs, imported)
        found["texts"], packed = texts(programs, imported, log, repeats)
        found["import"] = {"seconds": taken, "of_zstd": imported.stat().st_size / packed}
    show(found)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"search.py: {error}")
