"""The cost of logging: every program, in rounds, so that a neighbour's noise falls on all of them."""

from collections import defaultdict

from harness.programs import say

JIT, INTERPRETER = "luajit", "luajit -joff"
THREADS = [1, 2, 4, 8]
PROCESSES = 4
# A text with an int, a string, a pointer and a double: logged, with the call stack, and by the C library.
FORMATTED = ["printf4", "backtrace4", "snprintf4", "fprintf4", "snprintf2"]
# The floor, formats and events with types.
TYPED = ["store64", "printf2", "printf_five", "event4", "event6", "event_text"]
RUST_TYPED = ["event4", "event6", "event_text"]
# A begin and an end, each beside a single event: with the values of event4, and by two calls.
SPANS = [("c", "event4", "span4"), ("c", "enabled4", "span_calls"), ("rust", "event4", "span4")]
JIT_TYPED = ["event4", "event_mixed", "event_text"]


class Sizes:
    """The amount of work. Events are those of each thread and repeat."""

    def __init__(self, quick):
        # Once through the ring, so that no page of it is new to the process.
        self.warm_up = 10_000 if quick else 1 << 20
        self.rounds, self.repeats = (1, 2) if quick else (4, 5)
        self.events = 20_000 if quick else 1_000_000
        # So cheap that it takes more of them to measure their time.
        self.disabled = 200_000 if quick else 20_000_000
        # So expensive that fewer are enough.
        self.interpreted = self.formatted = 10_000 if quick else 200_000
        self.sustained = 200_000 if quick else 50_000_000
        self.sustained_repeats = 2 if quick else 3
        self.peer_events = 10_000 if quick else 200_000
        self.cold_repeats = 2 if quick else 15
        self.read_repeats = 1 if quick else 7
        # Twice through the ring, so that nothing else is in it.
        self.formatted_read = 20_000 if quick else 2 << 20
        self.archive_rounds, self.archive_repeats = (1, 1) if quick else (4, 3)
        # By each of two threads: more than fits, or a part.
        self.filled = 1 << 16 if quick else 1 << 20
        self.beside_rounds = 1 if quick else 12
        self.paced_rate, self.paced_seconds = (200_000, 1) if quick else (2_000_000, 60)
        # Long enough for a recorder to be busy all the time.
        self.recorded_events = 200_000 if quick else 10_000_000


def ways(sizes):
    """Program, variant, threads, processes and events of each figure."""
    for program, variants in [("rust", ["enabled0", "enabled4"]), ("c", ["enabled0", "enabled4", "checked4"])]:
        for variant in variants:
            for threads in THREADS:
                yield program, variant, threads, 1, sizes.events
            yield program, variant, 1, PROCESSES, sizes.events
    # Side by side, because one is compared with the other.
    for program in ["rust", "c"]:
        for variant in ["disabled", "branch"]:
            yield program, variant, 1, 1, sizes.disabled
    yield "c", "disabled_call", 1, 1, sizes.disabled
    for variant in FORMATTED:
        yield "c", variant, 1, 1, sizes.formatted
    for variant in TYPED:
        yield "c", variant, 1, 1, sizes.events
    for variant in RUST_TYPED:
        yield "rust", variant, 1, 1, sizes.events
    for program, _, variant in SPANS:
        yield program, variant, 1, 1, sizes.events
    for variant in JIT_TYPED:
        yield JIT, variant, 1, 1, sizes.events
    for variant in ["enabled0", "enabled4", "disabled"]:
        yield JIT, variant, 1, 1, sizes.disabled if variant == "disabled" else sizes.events
        yield INTERPRETER, variant, 1, 1, sizes.interpreted
    yield JIT, "enabled4", 1, PROCESSES, sizes.events


def measure(programs, sizes, figures):
    """All of timeline's own figures about logging."""
    runs = defaultdict(list)
    for number in range(sizes.rounds):
        say(f"timeline, round {number + 1} of {sizes.rounds}")
        for program, variant, threads, processes, events in ways(sizes):
            runs[program, "loop", variant, threads, processes] += programs.measure(
                program, variant, "loop", threads, events, sizes.repeats, beside=processes - 1)
        for program in ["rust", "c", JIT, INTERPRETER]:
            events = sizes.interpreted if program == INTERPRETER else sizes.events
            runs[program, "latency", "enabled4", 1, 1] += programs.measure(
                program, "enabled4", "latency", 1, events, 2)
    for program in ["rust", "c"]:
        say(f"{sizes.sustained:,} events from {program}")
        runs[program, "sustained", "enabled4", 1, 1] += programs.measure(
            program, "enabled4", "sustained", 1, sizes.sustained, sizes.sustained_repeats)
    for of, found in runs.items():
        figures.add(*of, found)
