"""Medians and spread of repeated runs, and the one place where figures are kept."""

import statistics

# The fields of a summary of the runs of one figure.
KEYS = ["clock_ns", "event_ns", "clock_cpu_ns", "event_cpu_ns", "p50_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns",
        "clock_p50_ns"]


def spread(values):
    """Lower quartile, median and upper quartile."""
    values = sorted(values)
    if len(values) == 1:
        return values * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def median(values):
    """The middle one."""
    return statistics.median(values)


def cpu_ns(run):
    """Processor time of an event, with that of daemons which work for the peer."""
    return run["event_cpu_ns"] + run.get("daemon_cpu_ns", 0)


def ratio(run):
    """An event over a reading of the clock by the same threads in the same repeat: processor time, because threads wait
    for one another if there are more of them than CPUs."""
    return cpu_ns(run) / run["clock_cpu_ns"]


def summary(program, mode, variant, threads, processes, runs):
    """One row of the tables, one object of the JSON file."""
    result = {"program": program, "mode": mode, "variant": variant, "threads": threads, "processes": processes,
              "events": runs[0]["events"], "repeats": len(runs),
              "lost": max((run["lost"] for run in runs if run.get("lost") is not None), default=None)}
    for key in KEYS:
        if key in runs[0]:
            result[key] = median([run[key] for run in runs])
    if "daemon_cpu_ns" in runs[0]:
        result["daemon_cpu_ns"] = median([run["daemon_cpu_ns"] for run in runs])
    if mode != "latency":
        result["ratio"] = spread([ratio(run) for run in runs])
    for key in ["note", "version"]:
        if runs[0].get(key):
            result[key] = runs[0][key]
    return result


class Figures:
    """All summaries, found by their subject."""

    def __init__(self):
        self.all = []

    def add(self, *of):
        """Keeps the summary of these runs."""
        self.all.append(summary(*of))

    def get(self, program, mode, variant, threads=1, processes=1):
        """That summary, or None if it was not measured."""
        for figure in self.all:
            if (figure["program"], figure["mode"], figure["variant"], figure["threads"],
                    figure["processes"]) == (program, mode, variant, threads, processes):
                return figure
        return None

    def ratio(self, *of, **more):
        """Its median, or None if it was not measured."""
        figure = self.get(*of, **more)
        return figure and figure["ratio"][1]
