"""Archives: the cost of recording for the recorder and the writers, sizes, and reading them back."""

import json
import os
import subprocess
import time

from harness.figures import median, ratio, spread
from harness.programs import Failed, run, say

FORMS = {"blocks": [], "plain": ["--plain"]}
# Threads that log at a steady rate.
WRITERS = 2
# Ways of reading: by time, as the command does, and in the order of the file, with all fields.
ORDERS = ["time", "file"]
# How long a recorder may take to begin.
BEGIN_SECONDS = 30


def pinned(argv, cpu):
    """The command line, on one CPU."""
    return ["taskset", "--cpu-list", str(cpu), *map(str, argv)]


def cpus():
    """A CPU for the writers and one for the recorder; the same if there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


class Recorder:
    """`timeline record`, on one CPU if that is given; ends with the writers of the timeline."""

    def __init__(self, programs, output, cpu=None, options=()):
        self.programs, self.output = programs, output
        output.unlink(missing_ok=True)
        argv = [programs.command, "record", "--once", "--fsync", "never", *options, "-o", output, programs.name]
        self.start = time.perf_counter()
        argv += [] if cpu is None else ["--cpu", cpu]
        self.process = subprocess.Popen(list(map(str, argv)), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def begun(self):
        """Waits until it has the timeline."""
        until = time.perf_counter() + BEGIN_SECONDS
        while not (self.output.exists() and self.output.stat().st_size):
            if self.process.poll() is not None or time.perf_counter() > until:
                raise Failed(f"timeline record did not begin: {self.process.stderr.read()}")
            time.sleep(0.001)

    def end(self):
        """What it recorded and missed, and its wall time and processor time."""
        said = self.process.stderr.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        seconds = time.perf_counter() - self.start
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode != 0:
            raise Failed(f"timeline record ended with status {self.process.returncode}: {said}")
        info = self.programs.info(self.output)
        return {"events": info["events"], "missed": info["missed"], "bytes": info["size"], "seconds": seconds,
                "cpu_seconds": usage.ru_utime + usage.ru_stime}

    def stop(self):
        """Stops it at any point."""
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


def recorded(programs, output, cpu, options):
    """Records an existing timeline to its end."""
    recorder = Recorder(programs, output, cpu, options)
    try:
        return recorder.end()
    finally:
        recorder.stop()


def full(programs, sizes):
    """A full ring recorded, and read back, in each form."""
    runs = {form: [] for form in FORMS}
    reads = {(form, order): [] for form in FORMS for order in ORDERS}
    for number in range(sizes.archive_rounds):
        say(f"archives, round {number + 1} of {sizes.archive_rounds}")
        try:
            run([programs.archive, "--mode", "fill", "--events", sizes.filled], "bench-archive",
                env=programs.environment())
            for _ in range(sizes.archive_repeats):
                for form, options in FORMS.items():
                    runs[form].append(recorded(programs, programs.outdir / f"{form}.tla", cpus()[1], options))
        finally:
            programs.remove()
        for form, order in reads:
            argv = [programs.archive, "--mode", "read", "--order", order, "--repeats", sizes.archive_repeats, "--file",
                    programs.outdir / f"{form}.tla"]
            reads[form, order] += map(json.loads, run(pinned(argv, cpus()[1]), "bench-archive").splitlines())
    return [dict(rates(found), what="record", form=form, bytes_per_event=spread(
                [each["bytes"] / each["events"] for each in found])) for form, found in runs.items()] + [
            dict(rates(found), what=f"read by {order}", form=form) for (form, order), found in reads.items()]


def rates(runs):
    """Millions of events a second, by processor time and by wall time."""
    return {"events": runs[0]["events"], "repeats": len(runs),
            "lost": max(each.get("missed", 0) for each in runs),
            "cpu_ns": spread([each["cpu_seconds"] / each["events"] * 1e9 for each in runs]),
            "cpu_rate": spread([each["events"] / each["cpu_seconds"] / 1e6 for each in runs]),
            "rate": spread([each["events"] / each["seconds"] / 1e6 for each in runs])}


def paced(programs, sizes):
    """A ring of the default size that two threads write to at a steady rate, and one recorder follows."""
    say(f"{sizes.paced_rate:,} events a second for {sizes.paced_seconds} seconds, recorded")
    argv = [programs.archive, "--mode", "pace", "--rate", sizes.paced_rate, "--threads", WRITERS,
            "--seconds", sizes.paced_seconds]
    writer = subprocess.Popen(list(map(str, argv)), env=programs.environment(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    recorder = None
    try:
        if writer.stdout.readline() != "ready\n":
            raise Failed("bench-archive --mode pace: expected \"ready\"")
        recorder = Recorder(programs, programs.outdir / "paced.tla")
        recorder.begun()
        logged, _ = writer.communicate()
        logged, kept = json.loads(logged), recorder.end()
    finally:
        if recorder:
            recorder.stop()
        writer.kill()
        writer.wait()
        programs.remove()
    return {"asked": sizes.paced_rate, "threads": WRITERS, "seconds": logged["seconds"],
            "rate": logged["events"] / logged["seconds"], "logged": logged["events"], "recorded": kept["events"], "missed": kept["missed"],
            "cpu_ns": kept["cpu_seconds"] / kept["events"] * 1e9, "bytes_per_event": kept["bytes"] / kept["events"]}


def beside(programs, sizes):
    """The same loop of events in turn without a recorder and with one on another CPU: processor time of an event.
    Compares the two of one round, so that slow changes of the machine affect both."""
    writer_cpu, recorder_cpu = cpus()
    if writer_cpu == recorder_cpu:
        return None
    runs, ratios = {"alone": [], "recorded": []}, []
    argv = [*programs.argv("rust", "enabled4"), "--mode", "loop", "--threads", 1, "--events", sizes.recorded_events,
            "--repeats", sizes.repeats]
    for number in range(sizes.beside_rounds):
        say(f"the cost of being recorded, round {number + 1} of {sizes.beside_rounds}")
        clocks = {}
        # In turn, so that a change within a round does not always fall on the same one.
        for way, found in sorted(runs.items(), reverse=number % 2 == 1):
            recorder = None
            try:
                if way == "recorded":
                    recorder = Recorder(programs, programs.outdir / "beside.tla", recorder_cpu)
                lines = run(pinned(argv, writer_cpu), "bench-log", env=programs.environment())
                new = list(map(json.loads, lines.splitlines()))
                if recorder:
                    recorder.end()
            finally:
                if recorder:
                    recorder.stop()
                programs.remove()
            clocks[way] = median(map(ratio, new))
            found += new
        ratios.append(clocks["recorded"] / clocks["alone"])
    return {"events": sizes.recorded_events, "repeats": len(runs["alone"]),
            "clocks": {way: spread(map(ratio, found)) for way, found in runs.items()},
            "cpu_ns": {way: median([each["event_cpu_ns"] for each in found]) for way, found in runs.items()},
            "ratio": spread(ratios)}


# Events with a payload that are recorded: of printf, and with types.
FORMATS = ["printf2", "printf_five", "event4", "event6"]


def formatted(programs, sizes):
    """Events with a payload until they are in a file: processor time of the program and of the recorder."""
    found = []
    for of in FORMATS:
        program, recorder = [], []
        for number in range(sizes.archive_rounds * sizes.archive_repeats):
            say(f"{of} recorded, round {number + 1}")
            try:
                argv = [*programs.argv("c", of), "--mode", "loop", "--threads", 1, "--repeats", 1, "--events",
                        sizes.formatted_read]
                line = run(argv, of, env=dict(programs.environment(), BENCH_WARM_UP="1"))
                kept = recorded(programs, programs.outdir / "formatted.tla", cpus()[1], [])
            finally:
                programs.remove()
            program.append(json.loads(line)["event_cpu_ns"])
            recorder.append(kept["cpu_seconds"] / kept["events"] * 1e9)
        both = [sum(pair) for pair in zip(program, recorder)]
        found.append({"of": of, "program_ns": median(program), "recorder_ns": median(recorder), "cpu_ns": spread(both)})
    return found


def measure(programs, sizes):
    """All of it, as a part of the JSON file."""
    return {"full": full(programs, sizes), "paced": paced(programs, sizes), "beside": beside(programs, sizes),
            "formatted": formatted(programs, sizes)}
