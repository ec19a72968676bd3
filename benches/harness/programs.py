"""Builds and runs the programs that log to a timeline: benches/programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent

# In the order of the enum in programs/log.c.
C_VARIANTS = ["enabled0", "enabled4", "checked4", "disabled_call", "disabled", "branch", "printf4", "backtrace4",
              "snprintf4", "fprintf4", "store64", "printf2", "printf_five", "event4", "event6", "event_text",
              "snprintf2", "span4", "span_calls"]


class Failed(Exception):
    """A program that the bench needs has failed."""


def run(argv, what, **more):
    """Standard output of a command that must succeed."""
    try:
        done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              check=False, **more)
    except OSError as error:
        raise Failed(f"{what}: {error}") from error
    if done.returncode != 0:
        raise Failed(f"{what}: {' '.join(map(str, argv))} ended with status {done.returncode}")
    return done.stdout


class Programs:
    """The programs that `make` and this file have built. Each run has a timeline of its own, and removes it."""

    def __init__(self, outdir, warm_up, compiled=True):
        """With those in C and for Lua only if `compiled`: that takes seconds."""
        self.outdir, self.warm_up = Path(outdir), warm_up
        self.target = (ROOT / os.environ.get("TARGET_DIR", "target/release")).resolve()
        self.command = self.target / "timeline"
        self.cold = self.target / "bench-cold"
        self.rust = self.target / "bench-log"
        self.archive = self.target / "bench-archive"
        for needed in [self.command, self.target / "libtimeline.so", self.cold, self.rust, self.archive]:
            if not needed.exists():
                raise Failed(f"there is no {needed}: run \"make bench\", which builds it")
        self.name = f"/timeline-bench-{os.getpid()}"
        self.clock = self.outdir / "clock.so"
        if compiled:
            self._compile()

    def _compile(self):
        compiler = os.environ.get("CC", "cc").split() + ["-std=gnu11", "-O2"]
        # By its soname, as an installation has it, for the loader.
        (self.outdir / "libtimeline.so.0").symlink_to(self.target / "libtimeline.so")
        for number, variant in enumerate(C_VARIANTS):
            run([*compiler, "-pthread", f"-DVARIANT={number}", f"-I{ROOT}/include", HERE / "programs/log.c",
                 "-o", self.outdir / f"log-{variant}", f"-L{self.target}", "-ltimeline", f"-Wl,-rpath,{self.outdir}"],
                "the C program")
        run([*compiler, "-shared", "-fPIC", HERE / "programs/clock.c", "-o", self.clock], "the clock for Lua")

    def argv(self, program, variant):
        """The command line of one way of logging: `rust`, `c`, `luajit` or `luajit -joff`."""
        if program == "rust":
            return [self.rust, "--variant", variant]
        if program == "c":
            return [self.outdir / f"log-{variant}"]
        luajit = run([ROOT / "scripts/luajit.sh"], "LuaJIT").strip()
        return [luajit, *program.split()[1:], HERE / "programs/log.lua", "--variant", variant]

    def environment(self):
        """The environment of the programs."""
        return dict(os.environ, BENCH_RING=self.name, BENCH_WARM_UP=str(self.warm_up), BENCH_CLOCK=str(self.clock),
                    LUA_PATH=f"{ROOT}/lua/?.lua;;", TIMELINE_LIBRARY=str(self.target / "libtimeline.so"))

    def info(self, name):
        """The output of `timeline info`."""
        return json.loads(run([self.command, "info", "--json", name], "timeline info"))

    def measure(self, program, variant, mode, threads, events, repeats, beside=0):
        """One object for each repeat; `beside` so many processes that log to the same timeline without pause."""
        options = ["--mode", mode, "--threads", threads, "--events", events, "--repeats", repeats]
        environment = self.environment()
        others = []
        try:
            for _ in range(beside):
                other = subprocess.Popen([self.rust, "--variant", "enabled4", "--mode", "endless"], env=environment,
                                         stdout=subprocess.PIPE, text=True)
                others.append(other)
                if other.stdout.readline() != "ready\n":
                    raise Failed("bench-log --mode endless: expected \"ready\"")
            lines = run([*self.argv(program, variant), *options], f"{program} {variant}", env=environment)
            dropped = self.info(self.name)["dropped"]["total"]
        finally:
            for other in others:
                other.kill()
                other.wait()
                other.stdout.close()
            self.remove()
        return [dict(json.loads(line), lost=dropped) for line in lines.splitlines()]

    def remove(self):
        """Removes the timeline, however it was left."""
        for suffix in ["", ".prev", ".creating"]:
            Path(f"/dev/shm{self.name}{suffix}").unlink(missing_ok=True)


def say(text):
    """Reports progress on standard error."""
    print(f"bench: {text}", file=sys.stderr, flush=True)
