#!/usr/bin/env python3
"""Receives one recording, and writes it to a file, which is an archive.

    examples/python/receive.py 1980 flight.tla
    timeline record /timeline --to localhost:1980 --acknowledge nothing

Port 0 is any that is free.
"""
import socket
import sys

port, path = int(sys.argv[1]), sys.argv[2]
with socket.create_server(("127.0.0.1", port)) as server:
    print("listening on port", server.getsockname()[1], flush=True)
    connection, _ = server.accept()
    with connection, open(path, "wb") as file:
        while received := connection.recv(1 << 16):
            file.write(received)
