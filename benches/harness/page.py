"""Puts the tables into a page, between `<!-- bench: NAME -->` and `<!-- bench end -->`."""

import re

from harness import machine, reach, report
from harness.figures import median

PLACE = re.compile(r"(<!-- bench: ([a-z]+) -->\n).*?(<!-- bench end -->)", re.DOTALL)


def tables(figures, found):
    """All tables for a page, by name; None for a table that was not measured."""
    shape = report.markdown
    clock_ns = median([figure["clock_cpu_ns"] for figure in figures.all if "clock_cpu_ns" in figure])
    archives = found["archives"]
    with_peers = any(figure["program"] not in report.OURS for figure in figures.all)
    return {
        "machine": f"{machine.sentence(found['machine'])}; {found['date']}, `{found['command']}`.\n",
        "loops": report.loops(figures, ours=True, shape=shape),
        "peers": report.loops(figures, ours=False, shape=shape) if with_peers else None,
        "latencies": report.latencies(figures, shape),
        "sustained": report.sustained(figures, shape) if with_peers else None,
        "once": report.once(found["once"], shape),
        "readers": report.readers(found["readers"], clock_ns, shape),
        "formatted": report.formatted(found["formatted"], shape),
        "archives": report.archives(archives["full"], shape),
        "disk": report.to_disk(archives["formatted"], shape),
        "paced": report.paced(archives["paced"], shape),
        "beside": report.beside(archives["beside"], shape),
        "codecs": report.codecs(found["codecs"], shape) if found["codecs"] else None,
        "reach": reach.reach_table(found["reach"], shape),
    }


def fill(text, tables):
    """The page with these tables; tables that were not measured stay as they are."""

    def put(place):
        before, name, after = place.groups()
        if name not in tables:
            raise ValueError(f"the page asks for a table \"{name}\"; there are {', '.join(tables)}")
        return place[0] if tables[name] is None else f"{before}\n{tables[name]}\n{after}"

    return PLACE.sub(put, text)
