"""The goals, and the distance of the figures from them."""

from harness.report import OURS, table
from harness.writing import INTERPRETER, JIT, PROCESSES, SPANS, THREADS

ENABLED = [("rust", "enabled0"), ("rust", "enabled4"), ("c", "enabled0"), ("c", "enabled4"), ("c", "checked4")]


def worst(found):
    """The largest of ratios with its subject; None if one of them was not measured."""
    found = list(found)
    if any(value is None for value, _ in found):
        return None, "not measured"
    return max(found)


def quotient(figures, above, below):
    """Compares two ways of one program, both by the clock beside them."""
    over, under = figures.ratio(*above), figures.ratio(*below)
    return None if over is None or under is None else over / under


def enabled(figures, threads, processes):
    """Enabled events of Rust and C."""
    for program, variant in ENABLED:
        of = f"{program} {variant}" + (f", {threads} threads" if threads > 1 else "") + (
            f", {processes} processes" if processes > 1 else "")
        yield figures.ratio(program, "loop", variant, threads=threads, processes=processes), of


def shared(figures):
    """The same where threads or processes share the ring."""
    for threads in THREADS[1:]:
        yield from enabled(figures, threads, 1)
    yield from enabled(figures, 1, PROCESSES)


def all_cpu(figure):
    """Nanoseconds of processor time of an event, in all processes."""
    return figure["event_cpu_ns"] + figure.get("daemon_cpu_ns", 0)


def best_peer(figures, references):
    """Our sustained processor time against that of the peer with the least."""
    runs = [figure for figure in figures.all if figure["mode"] == "sustained"]
    peers = [figure for figure in runs if figure["program"] not in OURS and figure["program"] not in references]
    ours = [figure for figure in runs if figure["program"] in OURS]
    if not peers or not ours:
        return None, "no peer measured"
    best, own = min(peers, key=all_cpu), max(ours, key=all_cpu)
    return (all_cpu(own) / all_cpu(best),
            f"{all_cpu(own):.1f} ns ({own['program']}) against {all_cpu(best):.1f} ns ({best['program']})")


def tails(figures):
    """99.9th percentile over the median of single calls, without the clock's own part in both."""
    for program in ["rust", "c", JIT]:
        found = figures.get(program, "latency", "enabled4")
        if found is None:
            yield None, program
        else:
            own = found["clock_p50_ns"]
            yield (found["p999_ns"] - own) / (found["p50_ns"] - own), program


def reader(dumps, slow, fast, each=True):
    """How many times longer `slow` takes, for each event or as a whole."""
    found = {row["figure"]: row for row in dumps}
    if slow not in found:
        return None
    share = [found[name]["seconds"][1] / (found[name]["events"] if each else 1) for name in [slow, fast]]
    return share[0] / share[1]


def archived(archives):
    """The goals of archives: recording on one core, losses, sizes, reading, and the cost for the writer."""
    found = {(row["what"], row["form"]): row for row in archives["full"]}
    for form, least in [("plain", 5), ("blocks", 8)]:
        yield "recorder: M events/s of CPU time", least, True, found["record", form]["cpu_rate"][1], form
    paced = archives["paced"]
    # Without a result if the threads of this machine did not reach the rate.
    fast = paced["rate"] >= 0.99 * paced["asked"]
    yield ("events missed at 2 million a second", 0, False, paced["logged"] - paced["recorded"] if fast else None,
           f"{paced['rate'] / 1e6:.2f} M/s by {paced['threads']} threads, {paced['seconds']:.0f} s")
    yield "bytes of an event of four integers", 12, False, found["record", "blocks"]["bytes_per_event"][1], "blocks"
    yield "reading back: M events/s of CPU time", 10, True, found["read by time", "blocks"]["cpu_rate"][1], "blocks"
    yield "CPU ns of an event of printf to disk, program and recorder", 60, False, *worst(
        (row["cpu_ns"][1], row["of"]) for row in archives["formatted"] if row["of"].startswith("printf"))
    beside = archives["beside"]
    yield "event while recorded / without", 1.15, False, beside and beside["ratio"][1], "rust"


# The goals for events with types: what they are, the most clocks, and the programs and ways of logging.
TYPED = [
    ("printf of two integers", 1.10, [("c", "printf2")]),
    ("printf of an int, five bytes, a pointer and a double", 1.5, [("c", "printf_five")]),
    ("event of four scalars", 1.10, [("c", "event4"), ("rust", "event4"), (JIT, "event4")]),
    ("event of six scalars", 1.8, [("c", "event6"), ("rust", "event6")]),
    ("event of an int and 24 bytes of text", 2.0, [("c", "event_text"), ("rust", "event_text")]),
    ("event of an integer, a double and 14 bytes of text, from LuaJIT", 1.5, [(JIT, "event_mixed")]),
    ("event of 25 bytes of text, from LuaJIT", 1.9, [(JIT, "event_text")]),
]


def typed(figures):
    """Events with types and of printf, beside the clock."""
    for goal, most, ways in TYPED:
        found = [(figures.ratio(program, "loop", variant), f"{program} {variant}") for program, variant in ways]
        yield f"{goal} / rdtsc", most, False, *worst(found)


def goals(figures, dumps, formatted, references, archives):
    """Goal, limit, whether more is better, figure, its subject."""
    yield from typed(figures)
    yield "begin and end of a span / one event", 2.1, False, *worst(
        (quotient(figures, (program, "loop", variant), (program, "loop", event)), f"{program} {variant}")
        for program, event, variant in SPANS)
    for form, most in [("text", 1.3), ("JSON", 2)]:
        yield f"dump of an event of printf as {form} / snprintf of it", most, False, *worst(
            (row["ratio"][1], row["of"]) for row in formatted if row["form"] == form)
    yield "enabled event / rdtsc, one thread, Rust and C", 1.05, False, *worst(enabled(figures, 1, 1))
    yield f"the same, 2 to 8 threads, {PROCESSES} processes, by CPU time", 1.15, False, *worst(shared(figures))
    yield "enabled event from LuaJIT / rdtsc", 1.15, False, *worst(
        (figures.ratio(JIT, "loop", variant), variant) for variant in ["enabled0", "enabled4"])
    yield "disabled event, inline / a predicted branch", 1.5, False, *worst(
        (quotient(figures, (program, "loop", "disabled"), (program, "loop", "branch")), program)
        for program in ["rust", "c"])
    yield "disabled event through a call / rdtsc", 0.2, False, *worst(
        [(figures.ratio("c", "loop", "disabled_call"), "c"), (figures.ratio(JIT, "loop", "disabled"), JIT)])
    yield "sustained CPU of an event / that of the best peer", 0.5, False, *best_peer(figures, references)
    yield "99.9th percentile of a single call / median", 3, False, *worst(tails(figures))
    yield "dump: times faster than babeltrace2", 10, True, reader(dumps, "babeltrace2", "dump"), "text"
    yield "dump: times faster than babeltrace2", 5, True, reader(dumps, "babeltrace2", "dump --json"), "JSON"
    yield "attach until the newest event is printed / full dump", 0.2, False, reader(
        dumps, "dump -n 1", "dump", each=False), "text"
    yield from archived(archives)


def verdict(value, limit, more):
    """Reached, or the distance from it."""
    if value is None:
        return "not measured"
    if not limit:
        return "reached" if value <= limit else "missed"
    short = limit / value if more else value / limit
    return "reached" if short <= 1 else f"missed by {(short - 1) * 100:.1f} %"


def reach(figures, dumps, formatted, references, archives):
    """The goals as rows of the JSON file."""
    return [{"goal": goal, "limit": limit, "at_least": more, "figure": value, "of": of,
             "verdict": verdict(value, limit, more)}
            for goal, limit, more, value, of in goals(figures, dumps, formatted, references, archives)]


def reach_table(rows, shape=table):
    """The goals as text."""
    return shape(["", "of", "verdict", "goal", "figure"], [
        [row["goal"], row["of"], row["verdict"], f"{'>=' if row['at_least'] else '<='} {row['limit']}",
         "" if row["figure"] is None else f"{row['figure']:,.{3 if row['figure'] < 1000 else 0}f}"] for row in rows], left=3)
