#!/usr/bin/env python3
"""Measures what a statement costs where it is compiled: `make bench-statements`. A table on standard output.

A file has 200 statements, 50 in each function, with up to six arguments: numbers, texts, pointers. Of the compiler, the
processor time for each statement, without what the file takes with one statement; the bytes of code and of data for
each; and the frame of a function of 50, as the compiler states it. Beside fprintf, spdlog (Debian: libspdlog-dev), and
quill where QUILL_INCLUDE names the folder of its headers."""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from harness import report
from harness.programs import ROOT, Failed, say

STATEMENTS, IN_EACH = 200, 50
ARGUMENTS = "int a, int b, long l, const char *s, void *p, double d"
# The arguments, and the message in each of the ways to write one.
MIX = [
    ("a, b", "number %d of %d", "number {} of {}", "number $a of $b"),
    ("a, s", "took %d us for %s", "took {} us for {}", "took $a us for $s"),
    ("", "plain words", "plain words", "plain words"),
    ("s, s, l", "%s %s %ld", "{} {} {}", "$a $b $c"),
    ("a, s, p, d", "took %d us for %s at %p, %.2f", "took {} us for {} at {}, {:.2f}", "took $a us for $s at $p, $d"),
    ("b, d", "%d %f", "{} {}", "$b $d"),
    ("a, b, a, b, a, b", "%d %d %d %d %d %d", "{} {} {} {} {} {}", "$a $b $c $d $e $f"),
]
QUILL = ["#include <quill/Logger.h>", "#include <quill/LogMacros.h>", "extern quill::Logger *logger;"]
# The name, the suffix of the file, its first lines, which message, and the statement.
KINDS = {
    "fprintf, C": ("c", ["#include <stdio.h>", "extern FILE *file;"], 1, "fprintf(file, {});"),
    "TIMELINE_PRINTF, C": ("c", ["#include <timeline.h>", "extern timeline_t *tl;"], 1,
                           "TIMELINE_PRINTF(tl, TIMELINE_INFO, {});"),
    "TIMELINE_EVENT, C": ("c", ["#include <timeline.h>", "extern timeline_t *tl;"], 3,
                          'TIMELINE_EVENT(tl, TIMELINE_INFO, "bench", {});'),
    "TIMELINE_PRINTF, C++": ("cc", ["#include <timeline.hpp>", "extern timeline_t *tl;"], 1,
                             "TIMELINE_PRINTF(tl, TIMELINE_INFO, {});"),
    "TIMELINE_EVENT, C++": ("cc", ["#include <timeline.hpp>", "extern timeline_t *tl;"], 3,
                            'TIMELINE_EVENT(tl, TIMELINE_INFO, "bench", {});'),
    "spdlog": ("cc", ["#include <spdlog/spdlog.h>", "extern std::shared_ptr<spdlog::logger> logger;"], 2,
               "logger->info({});"),
    "quill": ("cc", QUILL, 2, "LOG_INFO(logger, {});"),
}


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one compiler, without the others: shows that all runs")
    return parser.parse_args()


def source(kind, count):
    """A file of so many statements."""
    _, lines, message, statement = KINDS[kind]
    lines = list(lines)
    for number in range(count):
        if number % IN_EACH == 0:
            name = f"void function{number // IN_EACH}(int which, {ARGUMENTS})"
            lines += ["}}"] * (number > 0) + [f"{name};", f"{name} {{ (void)l, (void)p, (void)d; switch (which) {{"]
        arguments = MIX[number % len(MIX)][0]
        words = f'"{MIX[number % len(MIX)][message]} in {number}"' + (f", {arguments}" if arguments else "")
        lines.append(f"case {number % IN_EACH}: {statement.format(words)} break;")
    return "\n".join(lines + ["}}", ""])


def compiled(argv, folder, kind, count):
    """Processor seconds of the compiler, and bytes of code, of data and of the largest frame of a function."""
    file = folder / f"statements.{KINDS[kind][0]}"
    file.write_text(source(kind, count))
    made, usage = file.with_suffix(".o"), file.with_suffix(".su")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*argv, f"-I{ROOT}/include", "-fstack-usage", "-c", str(file), "-o", str(made)],
                          capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Failed(f"{kind}: {' '.join(argv)}: {done.stderr.splitlines()[:3]}")
    listed = subprocess.run(["size", str(made)], capture_output=True, text=True, check=True).stdout
    sizes = listed.splitlines()[1].split()
    frames = [int(line.split("\t")[1]) for line in usage.read_text().splitlines()
              if re.search(r"function\d", line.split("\t")[0])]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(sizes[0]), int(sizes[1]) + int(sizes[2]), max(frames)


def row(argv, folder, kind):
    """The figures of one kind and one command line."""
    first, all_of_them = (compiled(argv, folder, kind, count) for count in (1, STATEMENTS + 1))
    each = [(many - one) / STATEMENTS for many, one in zip(all_of_them[:3], first[:3])]
    return [kind, " ".join([Path(argv[0]).name, *argv[1:]]), f"{first[0] * 1000:,.0f}", f"{each[0] * 1000:.2f}",
            f"{each[1]:,.0f}", f"{each[2]:,.0f}", f"{all_of_them[3]:,}"]


def unavailable(kind):
    """Why a kind cannot be measured; empty if it can."""
    if kind == "spdlog" and not Path("/usr/include/spdlog").exists():
        return "there is no /usr/include/spdlog: install libspdlog-dev"
    if kind == "quill" and "QUILL_INCLUDE" not in os.environ:
        return "QUILL_INCLUDE is not set: name the folder of its headers"
    return ""


def rows(options, folder):
    """All rows; what cannot be measured is said."""
    ways = [["-O2"]] if options.quick else [["-O2"], ["-O0"], ["-O1", "-fsanitize=address"]]
    for kind in KINDS:
        others = not kind.startswith("TIMELINE")
        if why := unavailable(kind) or (options.quick and others and "fprintf" not in kind and "a quick run"):
            say(f"{kind} is skipped: {why}")
            continue
        more = ["-std=c++17"] if KINDS[kind][0] == "cc" else ["-std=gnu11"]
        if kind == "quill":
            more.append(f"-I{os.environ['QUILL_INCLUDE']}")
        for compiler in (["g++", "clang++"] if KINDS[kind][0] == "cc" else ["gcc", "clang"]):
            if not shutil.which(compiler) or (options.quick and "clang" in compiler):
                continue
            for way in ways[:1] if others else ways:
                say(f"{kind}, {compiler} {' '.join(way)}")
                yield row([compiler, *way, *more], folder, kind)


def main():
    """Measures and shows."""
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = list(rows(options, Path(folder)))
        except Failed as failure:
            sys.exit(f"bench: {failure}")
    heading = ["statement", "compiler", "first, ms", "each, ms", "code", "data", "frame of 50"]
    print(report.markdown(heading, found, left=2))


if __name__ == "__main__":
    main()
