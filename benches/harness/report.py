"""The tables: every figure beside the clock of the same run."""

from harness.writing import INTERPRETER, JIT

OURS = ["rust", "c", JIT, INTERPRETER]


def table(heading, rows, left=1):
    """Text in columns: the first `left` to the left, the others to the right."""
    rows = [[str(cell) for cell in row] for row in [heading, *rows]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, ["-" * width for width in widths])
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if column < left else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def markdown(heading, rows, left=1):
    """The same for a page."""
    rows = [heading, ["---" if column < left else "---:" for column in range(len(heading))], *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows) + "\n"


def name(figure):
    """The name of a program; timeline's programs have that of their language."""
    program = figure["program"]
    return f"timeline, {program}" if program in OURS else program


def ns(value):
    """Nanoseconds with three digits or so."""
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def span(ratio):
    """Median, and the quartiles around it."""
    low, middle, high = ratio
    return f"{middle:.3f}", f"{low:.3f}-{high:.3f}"


def lost(figure):
    """A number, or a mark if it is not known."""
    return "?" if figure["lost"] is None else f"{figure['lost']:,}"


def loops(figures, ours, shape=table):
    """Nanoseconds a call: processor time of all threads, and wall time of a thread."""
    rows = []
    for figure in figures.all:
        if figure["mode"] == "loop" and (figure["program"] in OURS) == ours:
            cpu = figure["event_cpu_ns"] + figure.get("daemon_cpu_ns", 0)
            rows.append([name(figure), figure["variant"], figure["threads"], figure["processes"],
                         ns(figure["clock_cpu_ns"]), ns(cpu), *span(figure["ratio"]), ns(figure["clock_ns"]),
                         ns(figure["event_ns"]), lost(figure)])
    return shape(["", "call", "threads", "processes", "clock CPU ns", "call CPU ns", "ratio", "quartiles", "clock ns",
                  "call ns", "lost"], rows, left=2)


def latencies(figures, shape=table):
    """Single calls, each between two fenced readings of the clock, which are the last column by themselves."""
    rows = [[name(figure), figure["variant"], figure["threads"],
             *[ns(figure[key]) for key in ["p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns", "clock_p50_ns"]]]
            for figure in figures.all if figure["mode"] == "latency"]
    return shape(["", "call", "threads", "50 %", "99 %", "99.9 %", "99.99 %", "maximum", "clock alone"], rows, left=2)


def sustained(figures, shape=table):
    """Processor time of all processes, daemons included."""
    rows = []
    for figure in figures.all:
        if figure["mode"] == "sustained":
            daemon = figure.get("daemon_cpu_ns", 0)
            rows.append([name(figure), f"{figure['events']:,}", ns(figure["clock_cpu_ns"]), ns(figure["event_cpu_ns"]),
                         ns(daemon), ns(figure["event_cpu_ns"] + daemon), *span(figure["ratio"]), lost(figure)])
    return shape(["", "events", "clock CPU ns", "own CPU ns", "daemons' CPU ns", "all CPU ns", "ratio", "quartiles", "lost"],
                 rows)


def once(cold, shape=table):
    """Microseconds, and how many readings of the clock that is."""
    rows = [[row["figure"], f"{row['ns'][1] / 1e3:,.1f}", f"{row['ns'][0] / 1e3:,.1f}-{row['ns'][2] / 1e3:,.1f}",
             f"{row['clock_ns']:.2f}", f"{row['ns'][1] / row['clock_ns']:,.0f}"] for row in cold]
    return shape(["", "µs", "quartiles", "clock ns", "clocks"], rows)


def readers(dumps, clock_ns, shape=table):
    """Whole processes; time of an event if they read all."""
    rows = []
    for row in dumps:
        low, middle, high = (seconds * 1e3 for seconds in row["seconds"])
        each = middle * 1e6 / row["events"] if row["events"] > 1 else None
        rows.append([row["figure"], f"{row['events']:,}", f"{middle:,.1f}", f"{low:,.1f}-{high:,.1f}",
                     ns(each) if each else "", f"{each / clock_ns:,.1f}" if each else ""])
    return shape(["", "events", "ms", "quartiles", "ns an event", "clocks an event"], rows)


def formatted(rows, shape=table):
    """Reading an event of printf, against formatting it."""
    return shape(["events", "form", "dump / snprintf", "quartiles"],
                 [[row["of"], row["form"], *span(row["ratio"])] for row in rows], left=2)


def rate(values):
    """Median and quartiles of millions a second."""
    low, middle, high = values
    return f"{middle:.2f}", f"{low:.2f}-{high:.2f}"


def archives(rows, shape=table):
    """One core that records a full ring or reads an archive: whole processes and whole archives."""
    return shape(["", "form", "events", "CPU ns an event", "M/s of CPU time", "quartiles", "M/s on the wall",
                  "bytes an event"], [
        [row["what"], row["form"], f"{row['events']:,}", ns(row["cpu_ns"][1]), *rate(row["cpu_rate"]),
         f"{row['rate'][1]:.2f}", f"{row['bytes_per_event'][1]:.2f}" if "bytes_per_event" in row else ""]
        for row in rows], left=2)


def to_disk(rows, shape=table):
    """Events of printf until they are in a file."""
    return shape(["events", "program's CPU ns", "recorder's CPU ns", "both", "quartiles"], [
        [row["of"], ns(row["program_ns"]), ns(row["recorder_ns"]), ns(row["cpu_ns"][1]),
         f"{ns(row['cpu_ns'][0])}-{ns(row['cpu_ns'][2])}"] for row in rows])


def paced(row, shape=table):
    """A default ring, written to at a steady rate and recorded."""
    return shape(["events a second", "threads", "seconds", "logged", "recorded", "missed", "recorder's CPU ns an event",
                  "bytes an event"], [
        [f"{row['rate']:,.0f}", row["threads"], f"{row['seconds']:.1f}", f"{row['logged']:,}", f"{row['recorded']:,}",
         f"{row['missed']:,}", ns(row["cpu_ns"]), f"{row['bytes_per_event']:.2f}"]], left=0)


def beside(row, shape=table):
    """The cost of a recorder for the writer."""
    if row is None:
        return shape(["writer", "CPU ns", "clocks", "quartiles"], [])
    return shape(["writer", "CPU ns", "clocks", "quartiles"], [
        [way, ns(row["cpu_ns"][way]), *span(row["clocks"][way])] for way in ["alone", "recorded"]] + [
        ["recorded / alone", "", *span(row["ratio"])]])


def codecs(rows, shape=table):
    """Codecs of blocks, over the same blocks."""
    return shape(["blocks of", "codec", "bytes an event", "packed / expanded", "compress MB/s", "compress ns an event",
                  "expand MB/s", "expand ns an event"], [
        [row["of"], row["codec"], f"{row['bytes_per_event']:.2f}", f"{row['ratio']:.3f}", f"{row['compress_mb_s']:,.0f}",
         f"{row['compress_ns']:.1f}", f"{row['expand_mb_s']:,.0f}", f"{row['expand_ns']:.1f}"] for row in rows], left=2)
