# Works with threads, forks and subprocesses, in amounts that the test knows.
import os, subprocess, sys, threading, json, tempfile, zlib

def work(number):
    r, w = os.pipe()
    for i in range(200):
        os.write(w, b'x' * (number + 1001))
        os.read(r, 4096)
        json.loads(json.dumps({'key': [i] * 20, 'text': 'word' * i}))
    os.close(r); os.close(w)
    zlib.decompress(zlib.compress(bytes(50000)))

threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
children = []
for n in range(4):
    pid = os.fork()
    if pid == 0:
        work(10 + n)
        os._exit(0)
    children.append(pid)
for t in threads: t.join()
for pid in children: assert os.waitpid(pid, 0)[1] == 0
for n in range(3):
    out = subprocess.run([sys.executable, '-c', 'import os; os.write(1, b"child " * 7)'], capture_output=True)
    assert out.stdout == b'child ' * 7 and out.returncode == 0, out
try:
    os.close(10 ** 6)
except OSError as e:
    assert e.errno == 9
with tempfile.TemporaryFile() as f:
    for i in range(500): os.write(f.fileno(), b'y' * 777)
print(sum(range(100)))
