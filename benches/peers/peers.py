"""The peers of `make bench`: which there are, how each is built, and what has to run around it.

`python3 benches/peers/peers.py` builds those that can be built, runs each for a moment, and says what is skipped."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Unavailable(Exception):
    """A peer cannot be had on this machine; the text says what is missing."""


def call(argv, **options):
    """Runs a command and returns what it prints; its complaint becomes the error."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, **options)
    if done.returncode != 0:
        complaint = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise Unavailable(f"{' '.join(str(word) for word in argv)}: exit {done.returncode}: {' / '.join(complaint[-3:])}")
    return done.stdout


@dataclasses.dataclass
class Peer:
    """A way of logging, as a program with the command line of common.h."""

    name: str
    describe: str
    # Threads and repeats together; more do not fit in the memory of an ordinary machine.
    most_events: int | None = dataclasses.field(default=None, kw_only=True)

    def check(self):
        """Why it is skipped, or None. What only the compiler can tell comes from build, as Unavailable."""
        raise NotImplementedError

    def build(self, outdir):
        """Builds it below outdir and returns its argv, to which the common command line is added."""
        raise NotImplementedError

    @contextlib.contextmanager
    def session(self, directory):
        """What has to be up while it runs; gives the environment for it. It writes its files to directory."""
        yield {**os.environ, "TMPDIR": str(directory)}


@dataclasses.dataclass
class Native(Peer):
    """One C or C++ file; library is its name for pkg-config."""

    source: str
    library: str | None = None
    packages: str = ""
    tools: tuple = ()

    @property
    def compiler(self):
        return ["g++", "-std=c++17", "-O3", "-DNDEBUG"] if self.source.endswith(".cpp") else ["gcc", "-O2"]

    def check(self):
        for tool in (self.compiler[0], *self.tools, *(("pkg-config",) if self.library else ())):
            if not shutil.which(tool):
                return f"no {tool}: apt-get install {self.packages or tool}"
        if self.library and subprocess.run(["pkg-config", "--exists", self.library]).returncode != 0:
            return f"no {self.library} for pkg-config: apt-get install {self.packages}"
        return None

    def build(self, outdir):
        program = pathlib.Path(outdir) / f"peer-{self.name}"
        program.parent.mkdir(parents=True, exist_ok=True)
        flags = [call(["pkg-config", kind, self.library]).split() if self.library else [] for kind in ("--cflags", "--libs")]
        warnings = ["-Wall", "-Wextra", "-Werror"]
        call([*self.compiler, *warnings, f"-I{HERE}", *flags[0], "-o", program, HERE / self.source, "-pthread", *flags[1]])
        return [str(program)]


@dataclasses.dataclass
class Rust(Peer):
    """A binary of the package beside this file, with the feature that brings its crates."""

    feature: str

    def check(self):
        return None if shutil.which("cargo") else "no cargo"

    def build(self, outdir):
        target = pathlib.Path(outdir) / "rust"
        call(["cargo", "build", "--release", "--locked", "--manifest-path", HERE / "Cargo.toml",
              "--target-dir", target, "--features", self.feature, "--bin", self.name])
        return [str(target / "release" / self.name)]


def descendants(pid):
    """A process and what it has started, transitively."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may hold anything.
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for known in found:
        found += children.get(known, [])
    return found


def lttng(*arguments):
    return call(["lttng", "--no-sessiond", *arguments])


@contextlib.contextmanager
def session_daemon():
    """The pid of LTTng's session daemon: the one that runs, or one of our own that ends with us."""
    home = "/var/run/lttng" if os.geteuid() == 0 else os.path.expanduser("~/.lttng")
    own = False
    try:
        lttng("list")
    except Unavailable:
        call(["lttng-sessiond", "--daemonize"])
        own = True
    pid = int(pathlib.Path(home, "lttng-sessiond.pid").read_text())
    try:
        yield pid
    finally:
        if own:
            handle = os.pidfd_open(pid)
            os.kill(pid, signal.SIGTERM)
            # Readable when the process has ended, so that the next one finds its sockets gone.
            select.select([handle], [], [], 30)
            os.close(handle)


@dataclasses.dataclass
class Lttng(Native):
    """LTTng-UST in a snapshot session."""

    @contextlib.contextmanager
    def recording(self, output, subbuffer):
        """A session that has the event enabled: 8 sub-buffers for each CPU. Gives its name and the daemons' pids."""
        name = f"bench-{os.getpid()}"
        with session_daemon() as daemon:
            lttng("create", name, "--snapshot", f"--output={output}")
            try:
                lttng("enable-channel", "--userspace", f"--session={name}", "--buffers-uid",
                      f"--subbuf-size={subbuffer}", "--num-subbuf=8", "bench")
                lttng("enable-event", "--userspace", f"--session={name}", "--channel=bench", "bench_peer:event")
                lttng("start", name)
                yield name, descendants(daemon)
            finally:
                lttng("destroy", name)

    @contextlib.contextmanager
    def session(self, directory):
        # As large as the ring of timeline: 64 MiB for all CPUs.
        subbuffer = power_of_two((64 << 20) / 8 / (os.cpu_count() or 1))
        with self.recording(pathlib.Path(directory) / "snapshot", subbuffer) as (_, daemons):
            yield {**os.environ, "TMPDIR": str(directory), "PEER_DAEMON_PIDS": " ".join(map(str, daemons))}


def power_of_two(size):
    """The next one from size on, and a page at least."""
    return max(4096, 1 << (int(size) - 1).bit_length())


def lttng_snapshot(events, outdir):
    """Logs about so many events of four integers and records a snapshot. Gives the directory that babeltrace2 reads, and
    the number of events in it."""
    peer = next(peer for peer in PEERS if isinstance(peer, Lttng))
    reason = peer.check() or (None if shutil.which("babeltrace2") else "no babeltrace2: apt-get install babeltrace2")
    if reason:
        raise Unavailable(reason)
    trace = pathlib.Path(outdir) / "lttng-snapshot"
    shutil.rmtree(trace, ignore_errors=True)
    program = peer.build(outdir)
    # An event takes 36 bytes; twice that for one CPU, because all may be logged on the same.
    with peer.recording(trace, power_of_two(events * 72 / 8)) as (name, _):
        call([*program, "--mode", "loop", "--threads", "1", "--events", events, "--repeats", "1"])
        lttng("snapshot", "record", f"--session={name}")
    count = re.search(r"(\d+) Event message", call(["babeltrace2", trace, "--component=sink.utils.counter"]))
    if not count or int(count[1]) < events:
        raise Unavailable(f"expected {events} events in the snapshot, got {count[1] if count else 'none'}")
    return trace, int(count[1])


LTTNG = Lttng("lttng", "LTTng-UST, snapshot session, a buffer for each CPU", "lttng.c", "lttng-ust",
              "liblttng-ust-dev lttng-tools pkg-config", ("lttng", "lttng-sessiond"))

PEERS = [
    LTTNG,
    # 192 bytes an event.
    Rust("tracy", "Tracy client, a zone with four values, no server attached", "tracy", most_events=20_000_000),
    Rust("perfetto", "perfetto-recorder, a span with four arguments", "perfetto"),
    Rust("tracing-noop", "tokio tracing with a layer that does nothing", "tracing"),
    Rust("tracing-file", "tokio tracing, formatted, to a file by tracing-appender's thread", "tracing"),
    Rust("fastrace", "fastrace, an event with four properties, dropped by its reporter", "fastrace"),
    Native("spdlog", "spdlog's asynchronous logger, to a file", "spdlog.cpp", "spdlog", "libspdlog-dev pkg-config"),
    Native("xadd", "reference: one ring, `lock xadd` on one counter", "xadd.c"),
    Native("fprintf", "reference: clock_gettime and fprintf to a file", "fprintf.c"),
]


def run(peer, argv, *arguments):
    """The results of one run."""
    with tempfile.TemporaryDirectory() as directory, peer.session(directory) as environment:
        return [json.loads(line) for line in call([*argv, *arguments], env=environment).splitlines()]


def main():
    with tempfile.TemporaryDirectory() as outdir:
        for peer in PEERS:
            try:
                if reason := peer.check():
                    raise Unavailable(reason)
                results = run(peer, peer.build(outdir), "--mode", "loop", "--threads", 1, "--events", 200_000, "--repeats", 5)
            except Unavailable as missing:
                print(f"{peer.name:12} skipped: {missing}")
                continue
            wall = statistics.median(result["event_ns"] / result["clock_ns"] for result in results)
            cpu = statistics.median(result["event_cpu_ns"] / result["clock_cpu_ns"] for result in results)
            print(f"{peer.name:12} {wall:7.2f} × the clock, {cpu:7.2f} in CPU   {results[0]['version']}: {peer.describe}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
