"""The peers, with the same four-integer event; see peers/peers.py for which they are."""

from collections import defaultdict

from harness.figures import cpu_ns, median
from harness.programs import say
from peers import peers

THREADS = [1, 4]
ROUNDS = 2
SUSTAINED_REPEATS = 2
# How long a sustained repeat of a peer may take; slower peers log fewer events.
SUSTAINED_NS = 4e9


def available(outdir):
    """Peers with their command lines, and why the others are skipped."""
    built, skipped = [], {}
    for peer in peers.PEERS:
        say(f"building {peer.name}")
        try:
            if reason := peer.check():
                raise peers.Unavailable(reason)
            built.append((peer, peer.build(outdir)))
        except peers.Unavailable as missing:
            say(f"{peer.name} is skipped: {missing}")
            skipped[peer.name] = str(missing)
    return built, skipped


def measure(built, skipped, sizes, figures):
    """All figures of these peers; one that fails is skipped from then on."""
    runs = defaultdict(list)

    def add(peer, argv, mode, threads, events, repeats):
        runs[peer.name, mode, "enabled4", threads, 1] += peers.run(
            peer, argv, "--mode", mode, "--threads", threads, "--events", events, "--repeats", repeats)

    def sustained(peer, argv):
        loops = runs[peer.name, "loop", "enabled4", 1, 1]
        turn = median([cpu_ns(run) + run["clock_cpu_ns"] for run in loops])
        add(peer, argv, "sustained", 1, min(sizes.sustained, round_down(SUSTAINED_NS / turn)), SUSTAINED_REPEATS)

    def everything(peer, argv, number):
        for threads in THREADS:
            add(peer, argv, "loop", threads, sizes.peer_events, sizes.repeats)
        add(peer, argv, "latency", 1, sizes.peer_events, 2)
        if number == ROUNDS - 1:
            sustained(peer, argv)

    for number in range(ROUNDS):
        for peer, argv in built:
            if peer.name in skipped:
                continue
            say(f"{peer.name}, round {number + 1} of {ROUNDS}")
            try:
                everything(peer, argv, number)
            except peers.Unavailable as missing:
                say(f"{peer.name} is skipped: {missing}")
                skipped[peer.name] = str(missing)
    for of, found in runs.items():
        if of[0] not in skipped:
            figures.add(*of, found)


def round_down(number):
    """Rounds to one digit and zeros."""
    number = int(number)
    unit = 10 ** (len(str(number)) - 1)
    return number // unit * unit


def references():
    """The peers that are not compared as recorders: references, and those that keep nothing."""
    return [peer.name for peer in peers.PEERS if peer.describe.startswith("reference")] + ["tracing-noop"]


def snapshot(outdir):
    """Makes a snapshot of LTTng for babeltrace2; None if that is not available."""

    def make(events):
        return peers.lttng_snapshot(events, outdir)

    return make
