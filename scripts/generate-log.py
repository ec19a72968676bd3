#!/usr/bin/env python3
"""Writes a text log of so many megabytes, which is the same each time: generate-log.py [MB] [SEED].

The lines are of a few dozen kinds, as a web service and the machine below it write them. Most have
ids of high entropy (12 digits, 16 hexadecimal digits, UUIDs), addresses, durations and paths, which
compress badly; a request has its id in several lines.
"""

import random
import sys

LEVELS = {"E": "ERROR", "W": "WARN", "I": "INFO", "D": "DEBUG"}
USERS = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy",
         "mallory", "niaj", "olivia", "peggy", "rupert", "sybil", "trent", "victor", "walter", "wendy"]
PATHS = ["/api/v1/users/{n}", "/api/v1/orders/{o}", "/api/v1/orders/{o}/items", "/api/v2/search",
         "/static/app.{h8}.js", "/static/img/{n}.png", "/healthz", "/metrics", "/login", "/api/v1/cart/{o}"]
TABLES = ["orders", "users", "items", "sessions", "payments", "audit"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "curl/8.9.1",
          "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/127.0 Safari/537.36",
          "python-requests/2.32.3", "Go-http-client/1.1"]
# Weight, level and message. A field in braces is made anew for each line.
KINDS = [
    (90, "I", "http: {method} {path} from {ip}:{port} status={status} bytes={bytes} took {us}us id={req}"),
    (60, "D", "http: request {req} begins: {method} {path} user={user} session={uuid}"),
    (60, "D", "http: request {req} ends after {ms}ms, {bytes} bytes, status {status}"),
    (50, "D", "db: query {hex16} on table {table} returned {small} rows in {us} us for request {req}"),
    (30, "D", "db: connection {small} of pool main acquired after {us} us"),
    (30, "D", "db: connection {small} of pool main released"),
    (40, "I", "cache: hit key=order:{o} age={ms}ms shard={shard}"),
    (25, "I", "cache: miss key=order:{o} shard={shard}"),
    (10, "W", "cache: evicted {small} entries of shard {shard}, {kib}KiB free"),
    (20, "I", "queue: job {o} of type {job} enqueued by {user} with trace {hex32}"),
    (20, "I", "queue: job {o} done by worker-{shard} in {secs}s, {retries} retries"),
    (6, "W", "queue: job {o} is retried in {secs}s: timeout of {host}:{port}"),
    (3, "E", "queue: job {o} failed after {retries} retries: connection to {ip}:{port} refused (errno 111)"),
    (15, "I", "auth: user {user} logged in from {ip} with token {hex16}"),
    (10, "I", "auth: user {user} logged out, session {uuid}"),
    (4, "W", "auth: password of user {user} rejected, attempt {retries} from {ip}"),
    (12, "I", "payment: order {o} charged {cents}.{cc} EUR, provider reference {hex32}"),
    (2, "E", "payment: order {o} declined: code {status}, provider reference {hex32}"),
    (25, "D", "net: eth{eth}: rx {n} packets {bytes} bytes, tx {n} packets {bytes} bytes, 0 errors"),
    (10, "D", "gc: pause {us} us, heap {kib} KiB of {kib} KiB, generation {retries}"),
    (8, "D", "disk: /dev/nvme0n{eth}: {n} reads {n} writes, queue depth {small}, latency {secs} ms"),
    (5, "I", "config: reloaded /etc/service/conf.d/{shard}-{table}.toml, checksum {hex32}"),
    (5, "I", "cluster: node {host} joined with epoch {n}, {small} partitions moved"),
    (2, "W", "cluster: node {host} has not answered for {ms} ms"),
    (1, "E", "cluster: node {host} is lost, epoch {n}"),
    (8, "D", "tls: handshake with {ip}:{port} done in {us} us, cipher TLS_AES_256_GCM_SHA384"),
    (6, "D", "dns: {host}.internal resolved to {ip} ttl {small}"),
    (6, "I", "upload: stored /var/lib/service/blobs/{h2}/{hex32} ({bytes} bytes, sha {hex16})"),
    (4, "D", "trace: span {hex16} parent {hex16} name {table}.select start {us} duration {us}"),
    (3, "W", "slow request {req}: {method} {path} took {secs}s, {small} queries"),
    (3, "I", "access: {ip} - {user} \"{method} {path} HTTP/1.1\" {status} {bytes} \"{agent}\""),
    (2, "I", "mail: message <{hex16}@{host}.example> to {user}@example.org queued, size {bytes}"),
    (1, "E", "panic: index {small} out of range at src/service/{table}.rs:{n}"),
    (1, "I", "stats: requests={n} errors={small} p50={us}us p99={ms}ms load={retries}.{cc}"),
]


def fields(rng, recent):
    hexes = lambda count: f"{rng.getrandbits(4 * count):0{count}x}"
    uuid = hexes(32)
    make = {
        "o": lambda: str(rng.randrange(10**11, 10**12)),
        "n": lambda: str(rng.randrange(10**6)),
        "small": lambda: str(rng.randrange(64)),
        "shard": lambda: str(rng.randrange(16)),
        "eth": lambda: str(rng.randrange(2)),
        "retries": lambda: str(rng.randrange(1, 6)),
        "port": lambda: str(rng.randrange(1024, 65536)),
        "bytes": lambda: str(int(rng.lognormvariate(8, 2))),
        "us": lambda: str(int(rng.lognormvariate(6, 1.5))),
        "ms": lambda: str(int(rng.lognormvariate(3, 1.5))),
        "kib": lambda: str(rng.randrange(1 << 20)),
        "secs": lambda: f"{rng.lognormvariate(0, 1):.3f}",
        "cents": lambda: str(rng.randrange(500)),
        "cc": lambda: f"{rng.randrange(100):02d}",
        "status": lambda: rng.choices(["200", "204", "304", "404", "500"], [80, 6, 6, 6, 2])[0],
        "method": lambda: rng.choices(["GET", "POST", "PUT", "DELETE"], [70, 20, 7, 3])[0],
        "user": lambda: rng.choice(USERS),
        "host": lambda: f"node-{rng.randrange(40):02d}",
        "job": lambda: rng.choice(["email", "invoice", "thumbnail", "export"]),
        "table": lambda: rng.choice(TABLES),
        "agent": lambda: rng.choice(AGENTS),
        "ip": lambda: f"10.{rng.randrange(4)}.{rng.randrange(256)}.{rng.randrange(1, 255)}",
        "h2": lambda: hexes(2),
        "h8": lambda: hexes(8),
        "hex16": lambda: hexes(16),
        "hex32": lambda: hexes(32),
        "uuid": lambda: "-".join([uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]]),
    }

    def request():
        if len(recent) < 64 or rng.random() < 0.4:
            recent.append(hexes(12))
            del recent[:-64]
            return recent[-1]
        return rng.choice(recent)

    make["req"] = request
    make["path"] = lambda: filled(rng.choice(PATHS), make)
    return make


def filled(text, make):
    parts = text.split("{")
    line = [parts[0]]
    for part in parts[1:]:
        name, rest = part.split("}", 1)
        line += [make[name](), rest]
    return "".join(line)


def main():
    size = int(sys.argv[1]) << 20 if len(sys.argv) > 1 else 500 << 20
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    make = fields(rng, [])
    weights = [weight for weight, _, _ in KINDS]
    # Milliseconds since midnight of 2026-11-23.
    now, written, out = 0.0, 0, sys.stdout
    while written < size:
        lines = []
        for _, level, text in rng.choices(KINDS, weights, k=4096):
            now += rng.expovariate(1 / 1.5)
            day, ms = divmod(int(now), 86_400_000)
            time = f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"
            head = f"2026-{11 + (22 + day) // 30:02d}-{1 + (22 + day) % 30:02d}T{time}Z {LEVELS[level]}"
            lines.append(f"{head} [{rng.randrange(1, 17)}] {filled(text, make)}\n")
        block = "".join(lines)
        out.write(block[: size - written])
        written += len(block)


if __name__ == "__main__":
    main()
