#!/usr/bin/env python3
"""Measures timeline beside the bare clock and beside others: `make bench`. Tables on standard output; what it is doing
on standard error. Figures are no verdict: the status is 0 whatever they are, and 1 when a program could not run."""

import argparse
import datetime
import json
import signal
import sys
import tempfile
from pathlib import Path

# No __pycache__ in the source tree.
sys.dont_write_bytecode = True

from harness import archives, machine, page, plot, reach, reading, report, writing
from harness.figures import Figures, median
from harness.programs import Failed, Programs, say


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few events and repeats: shows that all runs, no more")
    parser.add_argument("--no-peers", action="store_true", help="timeline only")
    parser.add_argument("--json", metavar="FILE", help="where the figures go")
    parser.add_argument("--svg", metavar="FILE", help="draw them too")
    parser.add_argument("--page", metavar="FILE", help="put the tables into this page, where it has places for them")
    return parser.parse_args()


def measure(options, outdir):
    """Everything, as the object of the JSON file, and the figures in it."""
    sizes, figures = writing.Sizes(options.quick), Figures()
    programs = Programs(outdir, sizes.warm_up)
    built, skipped, references, snapshot = [], {}, [], None
    if not options.no_peers:
        from harness import others
        kept = programs.target.parent / "bench"
        built, skipped = others.available(kept)
        references, snapshot = others.references(), others.snapshot(outdir)
    writing.measure(programs, sizes, figures)
    if built:
        others.measure(built, skipped, sizes, figures)
    once = reading.cold(programs, sizes)
    dumps, info = reading.dumps(programs, sizes, snapshot, skipped)
    formatted = reading.formatted(programs, sizes)
    archived = archives.measure(programs, sizes)
    packed = pack(programs, sizes, kept, skipped) if not options.no_peers else []
    versions = {report.name(figure): figure["version"] for figure in figures.all if figure.get("version")}
    return figures, {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "command": "make bench" if not options.quick else "make bench QUICK=1",
        "quick": options.quick,
        "machine": machine.describe(info, versions),
        "figures": figures.all,
        "once": once,
        "readers": dumps,
        "formatted": formatted,
        "archives": archived,
        "codecs": packed,
        "skipped": skipped,
        "reach": reach.reach(figures, dumps, formatted, references, archived),
    }


def pack(programs, sizes, kept, skipped):
    """The codecs of blocks; nothing if the program that compares them cannot be built."""
    from harness import codecs
    from peers.peers import Unavailable
    try:
        return codecs.measure(programs, sizes, kept)
    except Unavailable as missing:
        say(f"codecs is skipped: {missing}")
        skipped["codecs"] = str(missing)
        return []


def show(figures, found):
    """The tables."""
    clock_ns = median([figure["clock_cpu_ns"] for figure in figures.all if "clock_cpu_ns" in figure])
    print(machine.sentence(found["machine"]), end="\n\n")
    if found["quick"]:
        print("A quick run: it shows that everything runs. Its figures are of too few events to mean anything.\n")
    for peer, version in found["machine"]["peers"].items():
        print(f"{peer}: {version}")
    for peer, reason in found["skipped"].items():
        print(f"{peer}: skipped: {reason}")
    print("\nOne call in a loop, beside the clock in the same repeat. CPU: of all threads. Ratio: of CPU times, median.\n")
    print(report.loops(figures, ours=True))
    if len({figure["program"] for figure in figures.all}) > len(report.OURS):
        print("The peers, an enabled event with four integers:\n")
        print(report.loops(figures, ours=False))
    print("Single calls in ns, each between two fenced readings of the clock (the last column: those alone):\n")
    print(report.latencies(figures))
    print("Sustained: CPU of an event, whoever spent it:\n")
    print(report.sustained(figures))
    print("Done once:\n")
    print(report.once(found["once"]))
    print("A full timeline that a process writes to, read by a process that prints to /dev/null:\n")
    print(report.readers(found["readers"], clock_ns))
    print("A full ring of events of printf, read: processor time of an event, against snprintf of the same:\n")
    print(report.formatted(found["formatted"]))
    print("Archives: a full ring recorded, and read again, on one core:\n")
    print(report.archives(found["archives"]["full"]))
    print("Events of printf until they are in a file, each in nanoseconds of processor time:\n")
    print(report.to_disk(found["archives"]["formatted"]))
    print("A ring of the default size, written to at a steady rate and recorded in blocks:\n")
    print(report.paced(found["archives"]["paced"]))
    print("An event in a loop, alone and while a recorder on another CPU reads the ring:\n")
    print(report.beside(found["archives"]["beside"]))
    if found["codecs"]:
        print("Codecs, over the same blocks:\n")
        print(report.codecs(found["codecs"]))
    print("Reach:\n")
    print(reach.reach_table(found["reach"]))


def main():
    """Measures, shows, keeps."""
    options = parse()
    # So that started processes are ended, and created timelines removed.
    for number in [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        with tempfile.TemporaryDirectory(prefix="timeline-bench-") as outdir:
            figures, found = measure(options, Path(outdir))
    except Failed as failure:
        sys.exit(f"bench: {failure}")
    show(figures, found)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
        say(f"the figures are in {Path(options.json).resolve()}")
    if options.page:
        text = Path(options.page).read_text()
        Path(options.page).write_text(page.fill(text, page.tables(figures, found)))
        say(f"the tables are in {options.page}")
    if options.svg:
        Path(options.svg).write_text(plot.svg(figures, found["machine"], found["command"], found["date"]))
        say(f"the plot is in {options.svg}")


if __name__ == "__main__":
    main()
