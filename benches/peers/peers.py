"""The peers of `make bench`: their list, how each is built, and which daemons it needs.

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
import socket
import statistics
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent


# ProtocolVersion in tracy/common/TracyProtocol.hpp of the tracy-client-sys that Cargo.lock names.
TRACY_PROTOCOL = 82


class Unavailable(Exception):
    """A peer cannot be had on this machine; the text says what is missing."""


def call(argv, **options):
    """Runs a command and returns its output; its message becomes the error."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, **options)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        # Compilers and cargo go on after the reason, others end with it.
        reason = next((line for line in said if "error:" in line), said[-1])
        raise Unavailable(f"{' '.join(str(word) for word in argv)}: exit {done.returncode}: {reason}")
    return done.stdout


@dataclasses.dataclass
class Peer:
    """A way of logging, as a program with the command line of common.h."""

    name: str
    describe: str

    def check(self):
        """Why it is skipped, or None. Reasons that only the compiler finds come from build, as Unavailable."""
        raise NotImplementedError

    def build(self, outdir):
        """Builds it below outdir and returns its argv, to which the common command line is added."""
        raise NotImplementedError

    @contextlib.contextmanager
    def session(self, directory):
        """The daemons that must run meanwhile; gives the environment for it. It writes its files to directory."""
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
        cflags, libs = [], []
        if self.library:
            cflags = call(["pkg-config", "--cflags", self.library]).split()
            libs = call(["pkg-config", "--libs", self.library]).split()
        warnings = ["-Wall", "-Wextra", "-Werror"]
        call([*self.compiler, *warnings, f"-I{HERE}", *cflags, "-o", program, HERE / self.source, "-pthread", *libs])
        return [str(program)]


@dataclasses.dataclass
class Rust(Peer):
    """A binary of a package of the workspace here. Each is built alone, so a crate that is missing costs one peer."""

    folder: str

    def check(self):
        return None if shutil.which("cargo") else "no cargo"

    def build(self, outdir):
        target = pathlib.Path(outdir) / "rust"
        # In the folder of the package, cargo builds that package alone.
        package = HERE / self.folder / "Cargo.toml"
        call(["cargo", "build", "--release", "--locked", "--manifest-path", package, "--target-dir", target])
        return [str(target / "release" / self.name)]


@dataclasses.dataclass
class Tracy(Rust):
    """The Tracy client, with an attached server that drops all data."""

    @contextlib.contextmanager
    def session(self, directory):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        over = threading.Event()
        server = threading.Thread(target=self.serve, args=(port, over), daemon=True)
        server.start()
        try:
            yield {**os.environ, "TMPDIR": str(directory), "TRACY_PORT": str(port)}
        finally:
            over.set()
            server.join()

    def serve(self, port, over):
        """Attaches to one program after the other, as the profiler would."""
        block = bytearray(1 << 20)
        while not over.is_set():
            # Refused until the program listens, reset when it ends.
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"TracyPrf" + TRACY_PROTOCOL.to_bytes(4, "little"))
                # HandshakeStatus: 1 is welcome.
                if client.recv(1) != b"\1":
                    print(f"tracy: the client refuses protocol {TRACY_PROTOCOL}: set TRACY_PROTOCOL in peers.py to its",
                          file=sys.stderr)
                    return
                while client.recv_into(block):
                    pass
            over.wait(0.01)


def descendants(pid):
    """A process and its descendants."""
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
    if os.geteuid() == 0:
        home = pathlib.Path("/var/run/lttng")
    else:
        home = pathlib.Path(os.environ.get("LTTNG_HOME") or pathlib.Path.home(), ".lttng")
    own = False
    try:
        lttng("list")
    except Unavailable:
        call(["lttng-sessiond", "--daemonize"])
        own = True
    pid = int((home / "lttng-sessiond.pid").read_text())
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
    """Logs about so many events of four integers and records a snapshot. Gives the directory that babeltrace2 reads,
    and the number of events in it."""
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
    counted = call(["babeltrace2", trace, "--component=sink.utils.counter", "--params=step=+0"])
    count = re.search(r"(\d+) Event message", counted)
    if not count or int(count[1]) < events:
        raise Unavailable(f"expected {events} events in the snapshot, got {count[1] if count else 'none'}")
    return trace, int(count[1])


LTTNG = Lttng("lttng", "LTTng-UST, snapshot session, a buffer for each CPU", "lttng.c", "lttng-ust",
              "liblttng-ust-dev lttng-tools pkg-config", ("lttng", "lttng-sessiond"))

PEERS = [
    LTTNG,
    Tracy("tracy", "Tracy client, a zone with four values, a server attached that reads and forgets", "tracy"),
    Rust("perfetto-sdk", "Perfetto SDK, in process, ring buffer, an instant with four arguments", "perfetto-sdk"),
    Rust("perfetto-recorder", "perfetto-recorder, a span with four arguments", "perfetto-recorder"),
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
                results = run(peer, peer.build(outdir), "--mode", "loop", "--events", 200_000, "--repeats", 5)
            except Unavailable as missing:
                print(f"{peer.name:17} skipped: {missing}")
                continue
            wall = statistics.median(result["event_ns"] / result["clock_ns"] for result in results)
            cpu = statistics.median(result["event_cpu_ns"] / result["clock_cpu_ns"] for result in results)
            version = results[0]["version"]
            print(f"{peer.name:17} {wall:7.2f} × the clock, {cpu:7.2f} in CPU   {version}: {peer.describe}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
