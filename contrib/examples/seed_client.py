#!/usr/bin/env python3
"""The client of the first protocol description, by way of /tmp/t4a.sock.

It is kept as it was written, so that such clients go on working.
"""

import socket, json


def t4a_request(req):
    s = socket.socket(socket.AF_UNIX)
    s.connect("/tmp/t4a.sock")
    s.sendall(json.dumps(req).encode() + b"\n")
    line = b""
    while not line.endswith(b"\n"):
        line += s.recv(4096)
    return json.loads(line)


def t4a_screen(tid):
    s = socket.socket(socket.AF_UNIX)
    s.connect("/tmp/t4a.sock")
    s.sendall(json.dumps({"cmd": "screenshot", "id": tid}).encode() + b"\n")
    line = b""
    while not line.endswith(b"\n"):
        line += s.recv(4096)
    header = json.loads(line)
    png = b""
    while len(png) < header["len"]:
        png += s.recv(header["len"] - len(png))
    return png


# Create terminal
t = t4a_request({"cmd": "create", "cols": 80, "rows": 24})
tid = t["id"]


def terminal_send(input):
    return t4a_request({"cmd": "send", "id": tid, "input": input})


def terminal_wait():
    """Blocks until the idle event."""
    s = socket.socket(socket.AF_UNIX)
    s.connect("/tmp/t4a.sock")
    s.sendall(json.dumps({"cmd": "events", "terminal": tid}).encode() + b"\n")
    for line in s.makefile():
        if json.loads(line)["event"] == "idle":
            return


def terminal_read(start, end):
    return t4a_request({"cmd": "text", "id": tid, "start": start, "end": end, "trim": True})


# A typical agent turn
terminal_send("echo error near the bottom\n")
terminal_wait()
for line in terminal_read(0, t["rows"])["lines"]:
    if line:
        print(line)
assert t4a_screen(tid).startswith(b"\x89PNG")
t4a_request({"cmd": "kill", "id": tid})
