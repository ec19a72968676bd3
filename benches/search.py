#!/usr/bin/env python3
"""Measures searching beside others: `make bench-search`. Tables on standard output; what it is doing on standard error.

An archive of demo events, and a generated text log with ids of high entropy, imported. Each command is run in turn with
the others, after one run that is not counted; the files are in the page cache. Wall time; median and quartiles."""

import argparse
import json
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from harness.figures import spread
from harness.programs import Failed, Programs, run, say

HERE = Path(__file__).resolve().parent
# Events a second that the writers of the archive log.
RATE = 2_000_000


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="little data and few repeats: shows that all runs, no more")
    parser.add_argument("--json", metavar="FILE", help="where the figures go")
    return parser.parse_args()


def words(argv):
    """An argument list as a line of a shell."""
    return " ".join(shlex.quote(str(word)) for word in argv)


def seconds(line):
    """The wall time of a command line whose output nobody reads. A search may find nothing."""
    start = time.perf_counter()
    done = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise Failed(f"{line} ended with status {done.returncode}")
    return time.perf_counter() - start


def in_turn(lines, repeats):
    """Seconds of command lines by name: quartiles."""
    taken = {name: [] for name in lines}
    for number in range(repeats + 1):
        for name, line in lines.items():
            used = seconds(line)
            if number > 0:
                taken[name].append(used)
    return {name: spread(each) for name, each in taken.items()}


def counted(line):
    """How many lines a command counts."""
    done = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    return int(done.stdout.strip() or 0)


def demo(programs, folder, count):
    """An archive of demo events: recorded while two threads log them at a steady rate."""
    archive = folder / "demo.tla"
    say(f"an archive of {count:,} events")
    writer = subprocess.Popen([programs.archive, "--mode", "pace", "--rate", str(RATE), "--threads", "2", "--seconds",
                               str(count // RATE)], env=programs.environment(), stdin=subprocess.PIPE,
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
    """Searches of the archive of events."""
    tool, lines = programs.command, made["lines"]
    # The end of a message, whose values are rare together.
    rare = message(programs, archive, lines // 2).split(": ")[-1]
    absent = "no such text"
    found = {
        "a rare text": words([tool, "search", archive, rare]),
        "an absent text": words([tool, "search", archive, absent]),
        "a line in the middle": words([tool, "dump", archive, "--line", lines // 2, "-n", 20]),
        "the archive is opened": words([tool, "dump", archive, "--line", lines, "-n", 1]),
        "values: bytes > 1500": words([tool, "stats", archive, "--where", "bytes > 1500"]),
    }
    if shutil.which("rg"):
        found["a rare text: dump | rg"] = f"{words([tool, 'dump', '--no-pager', archive])} | rg -F {shlex.quote(rare)}"
    say("searches of events")
    return in_turn(found, repeats)


def texts(programs, archive, log, repeats):
    """Searches of the imported log, and of the log itself by others. All must find as many lines."""
    tool, packed = programs.command, log.with_name(log.name + ".zst")
    run(["zstd", "-q", "-f", "-3", log, "-o", packed], "zstd")
    chosen = random.Random(7)
    with log.open("rb") as file:
        file.seek(log.stat().st_size // 2)
        sample = file.read(1 << 20).decode().splitlines()[1:-1]
    ids = [word for line in sample for word in line.replace("=", " ").split() if len(word) in (12, 16)
           and all(c in "0123456789abcdef" for c in word)]
    needles = {"an id": chosen.choice(ids), "an absent id": "812345678912"}
    found = {}
    for what, needle in needles.items():
        say(f"searches of the log: {what}")
        readers = {"timeline search": words([tool, "search", archive, needle])}
        counts = {"timeline": counted(words([tool, "search", "-c", archive, needle]))}
        if shutil.which("rg"):
            readers["rg"] = words(["rg", "-F", needle, log])
            readers["zstd -dc | rg"] = f"{words(['zstd', '-dc', packed])} | rg -F {needle}"
            counts["rg"] = counted(words(["rg", "-cF", needle, log]))
        if shutil.which("ugrep"):
            readers["ugrep"] = words(["ugrep", "-F", needle, log])
            counts["ugrep"] = counted(words(["ugrep", "-cF", needle, log]))
        if len(set(counts.values())) != 1:
            raise Failed(f"the counts of {needle} differ: {counts}")
        found[what] = in_turn(readers, repeats)
    return found, packed.stat().st_size


def row(name, quartiles):
    """A line of a table, in milliseconds."""
    low, middle, high = (1000 * value for value in quartiles)
    return f"| {name} | {middle:.1f} | {low:.1f}–{high:.1f} |"


def show(found):
    """Prints the tables."""
    for what in ["demo", "log"]:
        made = found[what]
        share = 100 * made["index"] / made["text"]
        print(f"{what}: {made['lines']:,} lines, {made['text'] / 1e6:.0f} MB of text, archive "
              f"{made['archive'] / 1e6:.1f} MB, index {made['index'] / 1e6:.1f} MB ({share:.1f} % of the text), made in "
              f"{made['seconds']:.1f} s")
    imported = found["import"]
    print(f"import: {imported['seconds']:.1f} s; the archive has {imported['of_zstd']:.2f} of the size of zstd -3\n")
    print("| events | ms | quartiles |\n|---|---:|---:|")
    for name, quartiles in found["events"].items():
        print(row(name, quartiles))
    for what, readers in found["texts"].items():
        print(f"\n| {what} in the log | ms | quartiles |\n|---|---:|---:|")
        for name, quartiles in readers.items():
            print(row(name, quartiles))


def main():
    """Measures, and prints."""
    options = parse()
    count, megabytes, repeats = (2_000_000, 8, 1) if options.quick else (20_000_000, 500, 5)
    with tempfile.TemporaryDirectory(prefix="timeline-bench-") as outdir:
        folder = Path(outdir)
        programs = Programs(folder, 0)
        archive = demo(programs, folder, count)
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
