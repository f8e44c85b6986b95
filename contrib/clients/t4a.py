"""A client for t4a: one file, standard library only. Copy it beside your code.

    from t4a import T4a

    with T4a() as t4a:
        t1 = t4a.create(cmd_args=["bash"], ready=True)["id"]
        ran = t4a.run(t1, "make test")
        print(ran["code"], ran["lines"])
        picture = t4a.screenshot(t1).data
        t4a.kill(t1)

Each command of PROTOCOL.md is a method of the same name whose arguments are the command's fields; what
is None is left out. Answers are dictionaries. A refusal is a `T4aError` with the server's `code`.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

Json = Dict[str, Any]
#: A key's name, or an object with `key`, `kind` and `text`.
Key = Union[str, Mapping[str, str]]

#: How long an answer may take beyond what the request itself allows.
PATIENCE = 30.0


class T4aError(Exception):
    """A request was refused: `code` is for programs, the message for people, `answer` has it all."""

    def __init__(self, answer: Json) -> None:
        super().__init__(answer.get("error", "refused"))
        self.code: str = answer.get("code", "")
        self.answer = answer


@dataclass(frozen=True)
class Screenshot:
    """A picture: its bytes, and what the server tells of it (`width`, `tokens`, `stamp` …)."""

    data: bytes
    info: Json


class Connection:
    """One connection: lines of JSON, both ways, and bytes after some of them."""

    def __init__(self, path: str, timeout: Optional[float] = None) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._reader = self._socket.makefile("rb")

    def close(self) -> None:
        self._reader.close()
        self._socket.close()

    def set_timeout(self, seconds: Optional[float]) -> None:
        self._socket.settimeout(seconds)

    def send(self, request: Mapping[str, Any]) -> None:
        fields = {name: value for name, value in request.items() if value is not None}
        self._socket.sendall(json.dumps(fields).encode() + b"\n")

    def read(self) -> Json:
        """The next line; a refusal is raised."""
        line = self._reader.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the server closed the connection")
        answer: Json = json.loads(line)
        if answer.get("ok") is False:
            raise T4aError(answer)
        return answer

    def read_bytes(self, count: int) -> bytes:
        data = self._reader.read(count)
        if len(data) < count:
            raise ConnectionError("the server closed the connection")
        return data


class Stream:
    """Lines that come until it is closed: events, frames. Iterate over it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._closed = False

    def __iter__(self) -> Iterator[Json]:
        return self

    def __next__(self) -> Json:
        if self._closed:
            raise StopIteration
        try:
            return self._connection.read()
        except ConnectionError:
            self.close()
            raise StopIteration from None

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._connection.close()


class View(Stream):
    """Frames of a terminal, from `attach`. What is typed and changed through it is its person's."""

    def __init__(self, connection: Connection, answer: Json) -> None:
        super().__init__(connection)
        self.view: int = answer["view"]
        self.id: str = answer["id"]
        self._early: List[Json] = []

    def __next__(self) -> Json:
        return self._early.pop(0) if self._early else super().__next__()

    def _ask(self, cmd: str, **fields: Any) -> Json:
        self._connection.send({"cmd": cmd, "view": self.view, "tag": cmd, **fields})
        while True:
            line = self._connection.read()
            if line.get("tag") == cmd and "ok" in line:
                return line
            self._early.append(line)

    def keys(self, keys: Sequence[Key]) -> Json:
        return self._ask("keys", keys=[*keys])

    def paste(self, text: str) -> Json:
        return self._ask("paste", text=text)

    def change(self, *, role: Optional[str] = None, cols: Optional[int] = None,
               rows: Optional[int] = None, focused: Optional[bool] = None) -> Json:
        """The command `view`."""
        return self._ask("view", role=role, cols=cols, rows=rows, focused=focused)

    def detach(self) -> Json:
        return self._ask("detach")


def start_server(program: str = "t4a") -> str:
    """Starts the server if there is none; the path of its socket."""
    if shutil.which(program) is None:
        raise FileNotFoundError(f"no program {program!r} in PATH: install t4a, or give its path")
    hello = subprocess.run([program, "--json", "hello"], check=True, stdout=subprocess.PIPE)
    path: str = json.loads(hello.stdout)["socket"]
    return path


class T4a:
    """A client with one connection for requests; streams and views have their own.

    Not for several threads at once: give each its own.
    """

    def __init__(self, path: Optional[str] = None, program: str = "t4a") -> None:
        self.path = path or start_server(program)
        self._connection: Optional[Connection] = None

    def __enter__(self) -> T4a:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, request: Mapping[str, Any], timeout: float) -> Connection:
        if self._connection is None:
            self._connection = Connection(self.path)
        self._connection.set_timeout(timeout)
        self._connection.send(request)
        return self._connection

    def ask(self, cmd: str, timeout_s: float = PATIENCE, **fields: Any) -> Json:
        """Any command by its name; `fields` that are None are left out."""
        try:
            return self._send({"cmd": cmd, **fields}, timeout_s).read()
        except T4aError:
            raise
        except BaseException:
            # An answer may still come: it must not be taken for that of the next request.
            self.close()
            raise

    # Terminals

    def create(self, *, cols: Optional[int] = None, rows: Optional[int] = None,
               cmd_args: Optional[Sequence[str]] = None, cwd: Optional[str] = None,
               env: Optional[Mapping[str, str]] = None, inherit_env: Optional[bool] = None,
               name: Optional[str] = None, labels: Optional[Mapping[str, str]] = None,
               ready: Optional[bool] = None, shell_integration: Optional[bool] = None,
               idle_timeout_ms: Optional[int] = None, take_over: Optional[str] = None,
               scrollback_lines: Optional[int] = None, persist: Optional[bool] = None,
               record: Optional[Mapping[str, Any]] = None) -> Json:
        return self.ask(
            "create", cols=cols, rows=rows, cmd_args=_list(cmd_args), cwd=cwd, env=_dict(env),
            inherit_env=inherit_env, name=name, labels=_dict(labels), ready=ready,
            shell_integration=shell_integration, idle_timeout_ms=idle_timeout_ms,
            take_over=take_over, scrollback_lines=scrollback_lines, persist=persist,
            record=_dict(record))

    def list(self, *, dead: Optional[bool] = None) -> List[Json]:
        """With `dead` those that are only on disk any more: `restore` brings them back."""
        terminals: List[Json] = self.ask("list", dead=dead)["dead" if dead else "terminals"]
        return terminals

    def kill(self, id: str, *, dead: Optional[bool] = None) -> Json:
        return self.ask("kill", id=id, dead=dead)

    def restore(self, id: str, *, env: Optional[Mapping[str, str]] = None,
                inherit_env: Optional[bool] = None) -> Json:
        return self.ask("restore", id=id, env=_dict(env), inherit_env=inherit_env)

    def resize(self, id: str, cols: int, rows: int) -> Json:
        return self.ask("resize", id=id, cols=cols, rows=rows)

    def signal(self, id: str, signal: str = "INT") -> Json:
        return self.ask("signal", id=id, signal=signal)

    # Acting and waiting

    def run(self, id: str, command: str, *, timeout_ms: int = 120_000,
            max_lines: Optional[int] = None, until: Optional[str] = None,
            idle_ms: Optional[int] = None) -> Json:
        return self.ask("run", timeout_ms / 1000 + PATIENCE, id=id, command=command,
                        timeout_ms=timeout_ms, max_lines=max_lines, until=until, idle_ms=idle_ms)

    def wait(self, id: str, any: Sequence[Mapping[str, Any]], *, after: Optional[int] = None,
             timeout_ms: int = 30_000, then: Optional[Sequence[str]] = None) -> Json:
        return self.ask("wait", timeout_ms / 1000 + PATIENCE, id=id, any=[dict(one) for one in any],
                        after=after, timeout_ms=timeout_ms, then=_list(then))

    def look(self, id: str, *, since: Optional[int] = None, max_tokens: Optional[int] = None,
             screenshot: Optional[bool] = None) -> Json:
        return self.ask("look", id=id, since=since, max_tokens=max_tokens, screenshot=screenshot)

    # Typing

    def send(self, id: str, input: Optional[str] = None, *, input_base64: Optional[str] = None,
             when_ready: Optional[bool] = None, secret: Optional[bool] = None) -> Json:
        return self.ask("send", id=id, input=input, input_base64=input_base64,
                        when_ready=when_ready, secret=secret)

    def keys(self, id: str, keys: Sequence[Key], *, when_ready: Optional[bool] = None) -> Json:
        return self.ask("keys", id=id, keys=[*keys], when_ready=when_ready)

    def paste(self, id: str, text: str, *, when_ready: Optional[bool] = None) -> Json:
        return self.ask("paste", id=id, text=text, when_ready=when_ready)

    def mouse(self, id: str, kind: str, *, row: Optional[int] = None, col: Optional[int] = None,
              text: Optional[str] = None, nth: Optional[int] = None, button: Optional[str] = None,
              mods: Optional[Sequence[str]] = None) -> Json:
        return self.ask("mouse", id=id, kind=kind, row=row, col=col, text=text, nth=nth,
                        button=button, mods=_list(mods))

    # Reading

    def screenshot(self, id: str, *, format: Optional[str] = None, cursor: Optional[bool] = None,
                   scale: Optional[int] = None, pad: Optional[int] = None,
                   max_tokens: Optional[int] = None, rows: Optional[Sequence[int]] = None,
                   lines: Optional[Sequence[int]] = None, region: Optional[Mapping[str, int]] = None,
                   gutter: Optional[str] = None, highlight: Optional[Mapping[str, Any]] = None,
                   theme: Optional[Union[str, Mapping[str, Any]]] = None,
                   if_changed_since: Optional[int] = None) -> Screenshot:
        info = self.ask(
            "screenshot", id=id, format=format, cursor=cursor, scale=scale, pad=pad,
            max_tokens=max_tokens, rows=_list(rows), lines=_list(lines), region=_dict(region),
            gutter=gutter, highlight=_dict(highlight),
            theme=dict(theme) if isinstance(theme, Mapping) else theme,
            if_changed_since=if_changed_since)
        assert self._connection is not None
        try:
            return Screenshot(self._connection.read_bytes(info["len"]), info)
        except BaseException:
            self.close()
            raise

    def text(self, id: str, *, region: Optional[str] = None, start: Optional[int] = None,
             end: Optional[int] = None, trim: Optional[bool] = None, join: Optional[bool] = None,
             first_line: Optional[int] = None, count: Optional[int] = None,
             command: Optional[Union[int, str]] = None) -> Json:
        return self.ask("text", id=id, region=region, start=start, end=end, trim=trim, join=join,
                        first_line=first_line, count=count, command=command)

    def cells(self, id: str, *, first_line: Optional[int] = None,
              count: Optional[int] = None) -> Json:
        return self.ask("cells", id=id, first_line=first_line, count=count)

    def search(self, id: str, pattern: str, *, plain: Optional[bool] = None,
               ignore_case: Optional[bool] = None, last: Optional[int] = None,
               context: Optional[int] = None) -> Json:
        return self.ask("search", id=id, pattern=pattern, plain=plain, ignore_case=ignore_case,
                        last=last, context=context)

    def cursor(self, id: str) -> Json:
        return self.ask("cursor", id=id)

    def info(self, id: str) -> Json:
        return self.ask("info", id=id)

    def commands(self, id: str, *, last: Optional[int] = None,
                 failed: Optional[bool] = None) -> List[Json]:
        ran: List[Json] = self.ask("commands", id=id, last=last, failed=failed)["commands"]
        return ran

    # Recordings

    def record(self, id: str, path: str, *, format: Optional[str] = None,
               input: Optional[bool] = None) -> Json:
        """Into a file; `record_stream` brings it here instead."""
        return self.ask("record", id=id, path=path, format=format, input=input)

    def record_stop(self, recording: str) -> Json:
        return self.ask("record_stop", recording=recording)

    def recordings(self) -> List[Json]:
        known: List[Json] = self.ask("recordings")["recordings"]
        return known

    # Streams

    def record_stream(self, id: str, *, format: Optional[str] = None, input: Optional[bool] = None,
                      timeout_s: Optional[float] = None) -> Stream:
        """The command `record` without a path: put together, the `data` of its lines is the file."""
        connection = Connection(self.path, timeout_s)
        connection.send({"cmd": "record", "id": id, "format": format, "input": input})
        try:
            connection.read()
        except BaseException:
            connection.close()
            raise
        return Stream(connection)

    def events(self, terminal: Optional[str] = None, *, types: Optional[Sequence[str]] = None,
               since: Optional[int] = None, timeout_s: Optional[float] = None) -> Stream:
        """Events as they come; with `timeout_s`, TimeoutError when none comes for so long."""
        connection = Connection(self.path, timeout_s)
        connection.send({"cmd": "events", "terminal": terminal, "types": _list(types),
                         "since": since})
        return Stream(connection)

    def attach(self, id: str, *, role: Optional[str] = None, name: Optional[str] = None,
               cols: Optional[int] = None, rows: Optional[int] = None,
               raw: Optional[bool] = None, timeout_s: Optional[float] = None) -> View:
        """Frames of a terminal; `view`, `detach` and typing as its person are methods of it."""
        connection = Connection(self.path, timeout_s)
        connection.send({"cmd": "attach", "id": id, "role": role, "name": name, "cols": cols,
                         "rows": rows, "raw": raw, "tag": "attach"})
        try:
            return View(connection, connection.read())
        except BaseException:
            connection.close()
            raise

    def view(self, view: View, *, role: Optional[str] = None, cols: Optional[int] = None,
             rows: Optional[int] = None, focused: Optional[bool] = None) -> Json:
        return view.change(role=role, cols=cols, rows=rows, focused=focused)

    def detach(self, view: View) -> Json:
        return view.detach()

    # The server

    def config(self, id: Optional[str] = None, *, idle_timeout_ms: Optional[int] = None,
               take_over: Optional[str] = None, persist: Optional[bool] = None,
               scrollback_total_bytes: Optional[int] = None) -> Json:
        return self.ask("config", id=id, idle_timeout_ms=idle_timeout_ms, take_over=take_over,
                        persist=persist, scrollback_total_bytes=scrollback_total_bytes)

    def hello(self) -> Json:
        return self.ask("hello")

    def workspace(self, name: str, *, layout: Any = None, by: Optional[str] = None,
                  dead: Optional[bool] = None) -> Json:
        return self.ask("workspace", name=name, layout=layout, by=by, dead=dead)

    def upgrade(self, program: str) -> Json:
        """Have the program at this path take over; the connection closes after the answer."""
        return self.ask("upgrade", program=program)

    def shutdown(self) -> Json:
        return self.ask("shutdown")


def _list(values: Optional[Sequence[Any]]) -> Optional[List[Any]]:
    return None if values is None else [*values]


def _dict(values: Optional[Mapping[str, Any]]) -> Optional[Json]:
    return None if values is None else dict(values)


class T4aSession:
    """A terminal with the surface that harbor and terminal-bench give their tmux sessions.

    Better than those: the end of a command is told by its shell, not guessed, and new output is known by
    line numbers, not by comparing screens.
    """

    #: Names of keys as those harnesses write them; everything else is text.
    _KEYS = {"Enter", "Escape", "Tab", "BTab", "BSpace", "Space", "Up", "Down", "Left", "Right", "Home",
             "End", "PageUp", "PageDown", "PPage", "NPage", "DC", "IC"}

    def __init__(self, session_name: str, *, t4a: Optional[T4a] = None, cols: int = 160,
                 rows: int = 40, cmd_args: Sequence[str] = ("bash", "--login"),
                 cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None) -> None:
        self.session_name = session_name
        self.t4a = t4a or T4a()
        self._own_client = t4a is None
        self._size = (cols, rows)
        self._program = (cmd_args, cwd, env)
        self._id: Optional[str] = None
        # The last line that was given out: it may grow, so it is read again.
        self._last_line = (0, "")

    @property
    def id(self) -> str:
        if self._id is None:
            raise RuntimeError(f"session {self.session_name} has not been started")
        return self._id

    def start(self) -> None:
        """Returns when the shell is at its first prompt."""
        (cols, rows), (cmd_args, cwd, env) = self._size, self._program
        made = self.t4a.create(name=self.session_name, ready=True, scrollback_lines=1_000_000,
                               cols=cols, rows=rows, cmd_args=cmd_args, cwd=cwd, env=env)
        self._id = made["id"]
        self._last_line = (0, "")

    def stop(self) -> None:
        if self._id is not None:
            self.t4a.kill(self._id)
            self._id = None
        if self._own_client:
            self.t4a.close()

    def is_session_alive(self) -> bool:
        try:
            return self._id is not None and self.t4a.info(self._id)["alive"] is True
        except T4aError as error:
            if error.code == "not_found":
                return False
            raise

    def send_keys(self, keys: Union[str, Sequence[str]], block: bool = False,
                  min_timeout_sec: float = 0.0, max_timeout_sec: float = 180.0) -> None:
        """Types text and keys, as `["make", "Enter"]`.

        With `block` it returns when the command that was entered is done, or raises TimeoutError;
        otherwise after `min_timeout_sec`.
        """
        keys = [keys] if isinstance(keys, str) else keys
        begun = time.monotonic()
        seqs = [self._type(key) for key in keys]
        if block and seqs:
            done = {"event": "command_done", "where": {"trusted": True}}
            waited = self.t4a.wait(self.id, [done, {"exit": True}], after=seqs[0],
                                   timeout_ms=int(max_timeout_sec * 1000))
            if waited["timed_out"]:
                raise TimeoutError(f"the command is not done after {max_timeout_sec} seconds")
            if waited["met"] == 0:
                # What is typed before the prompt is there would stand above it.
                self.t4a.wait(self.id, [{"prompt": True}], timeout_ms=10_000)
        left = min_timeout_sec - (time.monotonic() - begun)
        if not block and left > 0:
            time.sleep(left)

    def _type(self, key: str) -> int:
        """The number of the last event before it."""
        is_key = key in self._KEYS or (len(key) > 2 and key[:2] in ("C-", "M-", "S-"))
        is_key = is_key or (key[:1] == "F" and key[1:].isdigit())
        answer = self.t4a.keys(self.id, [key]) if is_key else self.t4a.send(self.id, key)
        seq: int = answer["seq"]
        return seq

    def capture_pane(self, capture_entire: bool = False) -> str:
        """The screen, or with `capture_entire` everything from the beginning on."""
        region = "all" if capture_entire else "viewport"
        lines: List[str] = self.t4a.text(self.id, region=region)["lines"]
        return "\n".join(lines).rstrip("\n")

    def get_incremental_output(self) -> str:
        """What is new since the last call; the screen, if there is no new line."""
        number, text = self._last_line
        page = self.t4a.text(self.id, first_line=number, join=True)
        first: int = page["first_line"]
        lines: List[str] = page["lines"]
        while lines and not lines[-1]:
            lines.pop()
        if lines:
            self._last_line = (first + len(lines) - 1, lines[-1])
        if lines and first == number and lines[0] == text:
            lines = lines[1:]
        if not lines:
            return f"Current Terminal Screen:\n{self.capture_pane()}"
        return "New Terminal Output:\n" + "\n".join(lines)


__all__ = ["Connection", "Json", "Key", "Screenshot", "Stream", "T4a", "T4aError", "T4aSession",
           "View", "start_server"]
