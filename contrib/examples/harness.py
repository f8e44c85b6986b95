#!/usr/bin/env python3
"""A small harness for t4a: create a terminal, run commands in it, read what they print,
take a picture.

Standard library only. Copy what you need; PROTOCOL.md has the rest.
"""

import json
import socket
import subprocess


class T4aError(Exception):
    """A request was refused; `code` is for programs, the message for people."""

    def __init__(self, answer):
        super().__init__(answer["error"])
        self.code = answer["code"]


class Connection:
    """One connection to the server: JSON lines, both ways."""

    def __init__(self, path, timeout=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()

    def send(self, request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def read(self):
        line = self.lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the server closed the connection")
        answer = json.loads(line)
        if answer.get("ok") is False:
            raise T4aError(answer)
        return answer


class Terminal:
    """A terminal with a shell in it; use it in a `with` statement, which kills it at the end."""

    def __init__(self, path, id):
        self.path, self.id = path, id

    @classmethod
    def create(cls, **fields):
        path = server_socket()
        return cls(path, ask(path, cmd="create", ready=True, **fields)["id"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ask(self.path, cmd="kill", id=self.id)

    def send(self, text):
        """Types `text`; "\\n" is Enter. Returns the number of the last event before it."""
        return ask(self.path, cmd="send", id=self.id, input=text)["seq"]

    def wait(self, since, *types, timeout=60):
        """The first event after number `since` that is of one of `types`, or the terminal's end."""
        with Connection(self.path, timeout) as connection:
            connection.send({"cmd": "events", "terminal": self.id, "since": since,
                             "types": [*types, "exit", "killed"]})
            return connection.read()

    def text(self, **fields):
        """Lines of the screen, or of whatever the fields of `text` in PROTOCOL.md ask for."""
        return ask(self.path, cmd="text", id=self.id, **fields)["lines"]

    def screenshot(self, **fields):
        """A picture of the screen as bytes of a PNG, or whatever the fields of `screenshot` ask for."""
        with Connection(self.path) as connection:
            connection.send({"cmd": "screenshot", "id": self.id, **fields})
            return connection.lines.read(connection.read()["len"])

    def run(self, command, timeout=60):
        """Runs a command line in the shell: its event `command_done` and its output's lines."""
        done = self.wait(self.send(command + "\n"), "command_done", timeout=timeout)
        while done["event"] == "command_done" and not done["trusted"]:
            # Something that was printed claims to be the end of the command.
            done = self.wait(done["seq"], "command_done", timeout=timeout)
        if done["event"] != "command_done":
            raise RuntimeError(f"{self.id} is over, or events were lost: {done}")
        first, end = done["output_lines"]
        lines = self.text(first_line=first, count=end - first, join=True) if end > first else []
        return done, lines


def ask(path, **request):
    """One request on a connection of its own."""
    with Connection(path) as connection:
        connection.send(request)
        return connection.read()


def server_socket():
    """Starts the server if there is none; where it is to be reached."""
    hello = subprocess.run(["t4a", "--json", "hello"], check=True, stdout=subprocess.PIPE)
    return json.loads(hello.stdout)["socket"]


def main():
    with Terminal.create(cmd_args=["bash"], cols=100) as terminal:
        for command in ["uname -s", "seq 1 100 | tail -n 2", "echo oops >&2; (exit 3)"]:
            done, lines = terminal.run(command)
            print(f"$ {command}   (code {done['code']}, {done['duration_ms']} ms)")
            for line in lines:
                print("   ", line)
        print(f"{len(terminal.screenshot(max_tokens=500))} bytes of picture")


if __name__ == "__main__":
    main()
