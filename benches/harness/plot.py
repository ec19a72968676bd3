"""The figures as bars: an enabled event with four integers over a reading of the clock, by processor time."""

from math import log10
from xml.sax.saxutils import escape

from harness.figures import cpu_ns
from harness.machine import sentence
from harness.report import OURS, name

LABELS, BARS, ROW, TOP = 190, 560, 26, 64
TICKS = [0.1, 1, 10, 100, 1000]
OWN, OTHER, SUSTAINED = "#1a7f5a", "#7a8794", "#c9d0d6"


def rows(figures):
    """Name, one thread's ratio with its quartiles, and the sustained ratio where it was measured."""
    found = []
    for figure in figures.all:
        if (figure["mode"], figure["variant"], figure["threads"], figure["processes"]) == ("loop", "enabled4", 1, 1):
            long = figures.get(figure["program"], "sustained", "enabled4")
            found.append((figure["ratio"][1], name(figure), figure["program"] in OURS, figure["ratio"],
                          cpu_ns(long) / long["clock_cpu_ns"] if long else None))
    return sorted(found, key=lambda row: row[0])


def svg(figures, machine, command, date):
    """The whole picture. The scale is logarithmic, since the slowest costs a thousand times the fastest."""
    bars = rows(figures)
    largest = max(max(row[3][2], row[4] or 0) for row in bars)
    low = log10(min(1, bars[0][0])) - 0.3
    high = log10(largest * 1.6)

    def x(value):
        return LABELS + BARS * (log10(value) - low) / (high - low)

    height = TOP + ROW * len(bars) + 74
    width = LABELS + BARS + 70
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="12" fill="#222">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             '<text x="12" y="22" font-size="15" font-weight="bold">An enabled event with four integers, in readings of '
             'the clock (rdtsc)</text>',
             '<text x="12" y="40" fill="#555">Processor time of all threads and daemons. Dark: one thread, median, the '
             'line its quartiles. Light: a sustained run. Logarithmic.</text>']
    bottom = TOP + ROW * len(bars)
    for tick in TICKS:
        if low < log10(tick) < high:
            parts.append(f'<line x1="{x(tick):.1f}" y1="{TOP - 8}" x2="{x(tick):.1f}" y2="{bottom}" stroke="#ddd"/>')
            parts.append(f'<text x="{x(tick):.1f}" y="{bottom + 14}" text-anchor="middle" fill="#555">{tick:g}</text>')
    for number, (middle, label, own, (first, _, third), long) in enumerate(bars):
        y = TOP + ROW * number
        colour = OWN if own else OTHER
        parts.append(f'<text x="{LABELS - 8}" y="{y + 14}" text-anchor="end">{escape(label)}</text>')
        if long:
            parts.append(f'<rect x="{LABELS}" y="{y + 13}" width="{x(long) - LABELS:.1f}" height="7" fill="{SUSTAINED}"/>')
        parts.append(f'<rect x="{LABELS}" y="{y + 3}" width="{x(middle) - LABELS:.1f}" height="10" fill="{colour}"/>')
        parts.append(f'<line x1="{x(first):.1f}" y1="{y + 8}" x2="{x(third):.1f}" y2="{y + 8}" stroke="#000"/>')
        text = f"{middle:.2f}" if middle < 100 else f"{middle:.0f}"
        parts.append(f'<text x="{x(max(third, long or 0)) + 6:.1f}" y="{y + 14}">{text}</text>')
    for number, line in enumerate([sentence(machine), f"{date}, {command}"]):
        parts.append(f'<text x="12" y="{bottom + 38 + 16 * number}" font-size="10" fill="#555">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>", ""])
