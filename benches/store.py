#!/usr/bin/env python3
"""Measures what a store costs: `make bench-store`. Tables on standard output; what it is doing on standard error.

Eight snapshots of a program are recorded at the same time by eight recorders: to files, to a store without encryption,
and to a store with it. How many events a second all of them record together, and how much processor time recorders and
store take for an event; median and quartiles over the repeats. Then how much memory a store takes for a thousand
connections over which nothing comes, and a recorder while its store is away; how long a search of a trace takes from
afar, beside one of its files; how long it takes until a program logs after an agent was asked for it; and how long
logging takes while a worker in the program sends to a store, or a recorder writes to a file."""

import argparse
import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zlib
from pathlib import Path

sys.dont_write_bytecode = True

from harness.figures import spread
from harness.programs import Failed, Programs, run, say

SENDERS = 8
WAYS = ["files", "store", "store, TLS"]
# Of a process: all its memory, and its own, without the ring that it reads.
NOW, OWN = "VmRSS:", "RssAnon:"


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short and few repeats: shows that all runs, no more")
    parser.add_argument("--json", metavar="FILE", help="where the figures go")
    return parser.parse_args()


class Store:
    """A store with a directory of its own, until the end of a `with`."""

    def __init__(self, programs):
        self.folder = tempfile.TemporaryDirectory(dir=programs.outdir)
        self.process = subprocess.Popen([programs.command, "store", self.folder.name, "--listen", "127.0.0.1:0",
                                         "--http", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.http = self.process.stdout.readline().strip().removeprefix("http://").rstrip("/")
        self.fingerprint = self.process.stderr.readline().strip().rsplit(" ", 1)[-1]
        if not self.fingerprint.startswith("sha256:"):
            raise Failed("timeline store: expected an address and a fingerprint")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.folder.cleanup()

    def end(self):
        """Ends it."""
        if self.process.returncode is None:
            self.process.terminate()
            self.process.communicate()

    def seconds(self):
        """Processor time so far."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid, what):
    """Bytes of memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    raise Failed(f"process {pid} has no {what}")


@contextlib.contextmanager
def logging(programs, rate, seconds):
    """A program that logs, until the end of a `with`."""
    program = subprocess.Popen([programs.target / "bench-spans", "--rate", str(rate), "--seconds", str(seconds)],
                               env=programs.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        if program.stdout.readline() != "ready\n":
            raise Failed("bench-spans: expected \"ready\"")
        yield program
    finally:
        program.kill()
        program.wait()
        program.stdout.close()
        programs.remove()


def snapshots(programs, quick):
    """Snapshots of as many runs of a program, and how many events they have together."""
    files, events = [], 0
    rate, seconds = (10_000, 0.2) if quick else (400_000, 2)
    for number in range(SENDERS):
        say(f"a program logs {rate:,} events a second for {seconds} s")
        file = Path(programs.outdir) / f"{number}.timeline"
        with logging(programs, rate, 60):
            time.sleep(seconds)
            run([programs.command, "save", programs.name, file], "timeline save", stderr=subprocess.DEVNULL)
        events += programs.info(file)["entries_written"]
        files.append(file)
    return files, events


def recorded(programs, files, way):
    """One run: the seconds until all is recorded, and those of processors."""
    with tempfile.TemporaryDirectory(dir=programs.outdir) as folder, Store(programs) as store:
        before, began = store.seconds(), time.perf_counter()
        recorders = []
        for number, file in enumerate(files):
            to = ["-o", f"{folder}/{number}.tla"] if way == "files" else ["--to", store.address]
            more = ["--fingerprint", store.fingerprint] if way == "store, TLS" else []
            recorders.append(subprocess.Popen([programs.command, "record", "--once", file, *to, *more],
                                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        used = 0
        for recorder in recorders:
            said = recorder.stderr.read()
            _, status, usage = os.wait4(recorder.pid, 0)
            recorder.returncode = os.waitstatus_to_exitcode(status)
            recorder.stderr.close()
            if recorder.returncode != 0 or ", 0 missed" not in said:
                raise Failed(f"timeline record ended with status {recorder.returncode}: {said}")
            used += usage.ru_utime + usage.ru_stime
        took = time.perf_counter() - began
        return took, used + store.seconds() - before


def recording(programs, quick):
    """A row for each way."""
    files, events = snapshots(programs, quick)
    rows = []
    for way in WAYS:
        say(f"{SENDERS} recorders, {events:,} events: {way}")
        runs = [recorded(programs, files, way) for _ in range(1 if quick else 5)]
        rows.append({"way": way, "events": events, "rate": spread([events / took for took, _ in runs]),
                     "cpu_ns": spread([1e9 * cpu / events for _, cpu in runs])})
    return rows


def show(rows):
    """The table of `recording`."""
    print(f"{SENDERS} recorders    M events/s (quartiles)   of files   ns of CPU an event (quartiles)   of files")
    first = rows[0]
    for row in rows:
        (low, rate, high), (least, cpu, most) = row["rate"], row["cpu_ns"]
        print(f"{row['way']:<11} {rate / 1e6:10.2f} ({low / 1e6:.2f}-{high / 1e6:.2f})      {rate / first['rate'][1]:8.2f}"
              f"   {cpu:14.1f} ({least:.1f}-{most:.1f})          {cpu / first['cpu_ns'][1]:8.2f}")


def hello(number):
    """The frame of a hello: docs/protocol.md."""
    session = number.to_bytes(16, "big")
    record = (b"\x40\x86\x01\x01\x02\xc4\x10" + session + b"\x03\xcf" + (number + 1).to_bytes(8, "big")
              + b"\x05\x01\x08\x00\x09\x00")
    return (b"\xc1\xce" + zlib.crc32(record).to_bytes(4, "big") + b"\xc1\xda" + len(record).to_bytes(2, "big")
            + record)


def silent(programs, quick):
    """The memory of a store before and with connections over which nothing comes."""
    count = 20 if quick else 1000
    figures = {"connections": count}
    for way, encrypted in [("plain", False), ("tls", True)]:
        say(f"{count} connections: {way}")
        with Store(programs) as store:
            before, sockets = memory(store.process.pid, NOW), []
            host, port = store.address.rsplit(":", 1)
            for number in range(count):
                connection = socket.create_connection((host, int(port)))
                if encrypted:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                    connection = context.wrap_socket(connection)
                connection.sendall(hello(number))
                if not connection.recv(1):
                    raise Failed("the store closed a connection: expected a welcome")
                sockets.append(connection)
            figures[f"{way}_bytes"] = memory(store.process.pid, NOW) - before
            for connection in sockets:
                connection.close()
    return figures


def show_silent(figures):
    """The figures of `silent`."""
    count = figures["connections"]
    plain, tls = (figures[f"{way}_bytes"] / 2**20 for way in ["plain", "tls"])
    print(f"\n{count:,} connections over which nothing comes: {plain:.1f} MiB, with TLS {tls:.1f} MiB")


def outage(programs, quick):
    """The memory of a recorder whose store was away until its buffer was full."""
    buffer, rate, seconds = (1, 20_000, 2) if quick else (16, 1_000_000, 5)
    say(f"a recorder without a store for {seconds} s")
    with logging(programs, rate, seconds) as program, Store(programs) as store:
        recorder = subprocess.Popen([programs.command, "record", programs.name, "--to", store.address,
                                     "--buffer", f"{buffer}M"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                    text=True)
        recorder.stderr.readline()
        store.end()
        program.wait()
        most = memory(recorder.pid, OWN)
        recorder.terminate()
        recorder.communicate()
    return {"buffer_bytes": buffer << 20, "most_bytes": most}


def show_outage(figures):
    """The figures of `outage`."""
    buffer, most = (figures[name] / 2**20 for name in ["buffer_bytes", "most_bytes"])
    print(f"a recorder without its store: {most:.1f} MiB of its own, of which --buffer {buffer:.0f} MiB")


def seconds(command):
    """How long a command takes."""
    began = time.perf_counter()
    run(command, "timeline search", stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def searching(programs, quick):
    """Searches that find a little and much, of the files of a trace and from afar."""
    rate, logged, repeats = (10_000, 0.2, 2) if quick else (400_000, 5, 15)
    say(f"a program logs {rate:,} events a second for {logged} s, and is searched")
    file = Path(programs.outdir) / "searched.timeline"
    with logging(programs, rate, 60):
        time.sleep(logged)
        run([programs.command, "save", programs.name, file], "timeline save", stderr=subprocess.DEVNULL)
    with Store(programs) as store:
        run([programs.command, "record", "--once", file, "--to", store.address], "timeline record",
            stderr=subprocess.DEVNULL)
        trace = next(path for path in Path(store.folder.name).glob("*/*") if path.is_dir())
        url = f"store://{store.http}/{trace.relative_to(store.folder.name)}"
        run([programs.command, "index", trace], "timeline index", stderr=subprocess.DEVNULL)
        newest = run([programs.command, "dump", "-n", "1", "--json", trace], "timeline dump")
        message = json.loads(newest)["message"]
        rows = []
        for name, query in [("one event", ["-c", message]), ("many events", ["-c", "7"])]:
            ways = {way: [seconds([programs.command, "search", *query[:-1], path, query[-1]]) for _ in range(repeats)]
                    for way, path in [("file", trace), ("store", url)]}
            rows.append({"what": name, **{way: spread(took) for way, took in ways.items()}})
    return rows


def show_searching(rows):
    """The table of `searching`."""
    print("\na search that finds    of files ms (quartiles)   from afar ms (quartiles)   ratio")
    for row in rows:
        (low, files, high), (least, afar, most) = ([1e3 * value for value in row[way]] for way in ["file", "store"])
        print(f"{row['what']:<20} {files:10.1f} ({low:.1f}-{high:.1f})   {afar:14.1f} ({least:.1f}-{most:.1f})"
              f"   {afar / files:8.2f}")


def controlling(programs, quick):
    """From a request to an agent until the program logs."""
    repeats, took = (3 if quick else 50), []
    say("an agent is asked to have a program log again")
    with logging(programs, 20_000 if quick else 200_000, 600):
        agent = subprocess.Popen([programs.command, "agent", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                                 env=os.environ | {"XDG_CONFIG_HOME": programs.outdir}, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        try:
            address = agent.stdout.readline().strip(), Path(programs.outdir, "timeline/agent.token").read_text().strip()
            place = f"/api/logs/{urllib.parse.quote(programs.name, safe='')}/rules"
            for _ in range(repeats):
                switch(address, place, "error")
                time.sleep(0.02)
                began = time.time_ns()
                switch(address, place, "all")
                took.append((first_since(programs, began) - began) / 1e9)
        finally:
            agent.terminate()
            agent.communicate()
    return {"seconds": spread(took)}


def first_since(programs, began):
    """When the first event was logged since then, in nanoseconds since 1970."""
    since = f"@{began // 10**9}.{began % 10**9:09}"
    for _ in range(100):
        logged = run([programs.command, "dump", "--reverse", "--json", "--since", since, programs.name],
                     "timeline dump", stderr=subprocess.DEVNULL)
        if logged:
            return int(json.loads(logged.split("\n", 1)[0])["unix_ns"])
    raise Failed("the program does not log again")


def switch(address, place, rules):
    """Has an agent put rules in force."""
    host, token = address
    connection = http.client.HTTPConnection(host)
    connection.request("POST", place, json.dumps({"rules": rules}),
                       {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise Failed(f"the agent answered {answer.status}: {answer.read()}")
    answer.read()
    connection.close()


def show_controlling(figures):
    """The figures of `controlling`."""
    low, took, high = (1e3 * value for value in figures["seconds"])
    print(f"\nfrom a request to an agent until the program logs: {took:.2f} ms ({low:.2f}-{high:.2f})")


def working(programs, quick):
    """An event with four integers, beside reading the clock: alone, while a worker of the program sends to a store, and
    while a recorder, which is another process, writes to a file. By the time of the thread that logs: the worker has
    processor time of its own."""
    events, repeats = (10_000, 2) if quick else (2_000_000, 15)
    say(f"a program logs {repeats} x {events:,} events, alone and while somebody reads them")
    environment = programs.environment() | {"BENCH_WARM_UP": "1" if quick else str(1 << 20)}
    rows = []
    for way in ["alone", "beside a worker", "beside a recorder"]:
        with Store(programs) as store, tempfile.TemporaryDirectory(dir=programs.outdir) as folder:
            more = ["--to", store.address] if way == "beside a worker" else []
            recorder = None
            if way == "beside a recorder":
                recorder = subprocess.Popen([programs.command, "record", programs.name, "-o",
                                             f"{folder}/beside.tla"], stdin=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
            said = run([programs.rust, "--mode", "loop", "--variant", "enabled4", "--events", str(events), "--repeats",
                        str(repeats), *more], "bench-log", env=environment)
            if recorder:
                recorder.terminate()
                recorder.wait()
        programs.remove()
        runs = [json.loads(line) for line in said.splitlines()]
        rows.append({"way": way, "ratio": spread([one["event_ns"] / one["clock_ns"] for one in runs])})
    return rows


def show_working(rows):
    """The table of `working`."""
    print("\nlogging four integers   beside the clock (quartiles)")
    for row in rows:
        low, middle, high = row["ratio"]
        print(f"{row['way']:<20} {middle:12.2f} ({low:.2f}-{high:.2f})")


# What is measured: a name in the figures, how, and how it is shown.
PARTS = [("recording", recording, show), ("silent", silent, show_silent), ("outage", outage, show_outage),
         ("searching", searching, show_searching), ("controlling", controlling, show_controlling),
         ("working", working, show_working)]


def main():
    """Measures each part, and shows it."""
    options, figures = parse(), {}
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(folder, 1, compiled=False)
        for name, measure, table in PARTS:
            figures[name] = measure(programs, options.quick)
            table(figures[name])
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"bench: {error}")
