"""Uses every method of contrib/clients/t4a.py; argument: the directory of the client."""

import inspect
import re
import sys

sys.path.insert(0, sys.argv[1])
from t4a import Connection, T4a, T4aError, View  # noqa: E402

#: Fields that the methods do not have, and why: `view` is a View's own business, the encoding is ours.
NOT_HERE = {"screenshot": {"encoding"}, "keys": {"view"}, "paste": {"view"}, "mouse": {"view"}}
#: Their fields stand in PROTOCOL.md; the server does not list them.
SHARED = {"keys": ["id", "keys", "when_ready"], "paste": ["id", "text", "when_ready"],
          "mouse": ["id", "kind", "row", "col", "text", "nth", "button", "mods"]}


def signatures(t4a: T4a) -> None:
    """Each command is a method with all its fields, as the server names them."""
    commands = t4a.hello()["commands"]
    assert len(commands) > 20
    for name in commands:
        parameters = set(inspect.signature(getattr(T4a, name)).parameters)
        fields = SHARED.get(name)
        if fields is None:
            try:
                t4a.ask(name, **{"no such": 1})
            except T4aError as error:
                assert error.code == "unknown_field", (name, error)
                fields = re.findall("`([^`]*)`", str(error).split("expected")[-1])
        for field in set(fields) - NOT_HERE.get(name, set()) - {"no such"}:
            assert field in parameters, (name, field, parameters)


def errors(t4a: T4a) -> None:
    try:
        t4a.cursor("nobody")
        raise AssertionError("it was refused")
    except T4aError as error:
        assert (error.code, "nobody" in str(error)) == ("not_found", True)
    try:
        t4a.restore("nobody", env={"A": "b"})
        raise AssertionError("it was refused")
    except T4aError as error:
        assert error.code == "not_found"


def commands(t4a: T4a) -> None:
    id = t4a.create(cmd_args=["bash"], env={"PS1": "$ "}, name="py", cols=60, rows=8, ready=True)["id"]
    assert t4a.list()[0]["name"] == "py"
    ran = t4a.run(id, "echo one; echo two; (exit 4)")
    assert (ran["code"], ran["lines"]) == (4, ["one", "two"])
    assert t4a.commands(id, failed=True)[-1]["code"] == 4
    assert t4a.text(id, command="last")["lines"] == ["one", "two"]
    assert t4a.search(id, "^t.o$")["total"] == 1
    assert t4a.look(id)["state"] == "at_prompt"
    shot = t4a.screenshot(id, max_tokens=500)
    assert shot.data.startswith(b"\x89PNG") and len(shot.data) == shot.info["len"]
    assert b"one" in t4a.screenshot(id, format="text").data
    assert "rows" in t4a.cells(id)
    assert t4a.cursor(id)["visible"] in (True, False)
    assert t4a.info(id)["alive"]
    assert t4a.resize(id, 70, 9)["cols"] == 70
    t4a.paste(id, "echo pasted")
    after = t4a.keys(id, ["Enter"])["seq"]
    done = t4a.wait(id, [{"event": "command_done"}], after=after)
    assert done["found"]["code"] == 0, done
    # A command that has the keyboard tells so: before that, an interrupt would be its shell's.
    t4a.send(id, "sh -c 'echo started; exec sleep 1000'\n")
    assert t4a.wait(id, [{"regex": "^started$"}])["met"] == 0
    t4a.signal(id, "INT")
    assert t4a.wait(id, [{"prompt": True}])["met"] == 0
    assert t4a.mouse(id, "click", row=0, col=0)["told"] is False
    assert t4a.config(id, idle_timeout_ms=500)["idle_timeout_ms"] == 500
    assert t4a.config(id, persist=False)["persist"] is False
    assert t4a.workspace("w", layout={"a": 1})["layout"] == {"a": 1}
    assert t4a.workspace("w", dead=True)["layout"] is None
    assert t4a.list(dead=True) == []
    streams(t4a, id)
    t4a.kill(id)


def streams(t4a: T4a, id: str) -> None:
    with t4a.events(id, types=["command_done"], since=0, timeout_s=30) as events:
        assert next(events)["command"].startswith("echo one")
    with t4a.attach(id, role="view", name="py", timeout_s=30) as view:
        assert isinstance(view, View)
        assert next(view)["full"] is True
        assert t4a.view(view, role="edit")["role"] == "edit"
        view.keys(["x"])
        t4a.detach(view)
    with t4a.record_stream(id, timeout_s=30) as lines:
        assert '"version"' in next(lines)["data"]
    made = t4a.record(id, "/dev/null")
    assert made["recording"] in [known["recording"] for known in t4a.recordings()]
    assert t4a.record_stop(made["recording"])["ended_by"] == "asked"
    connection = Connection(t4a.path, timeout=30)
    connection.send({"cmd": "list", "tag": "mine"})
    assert connection.read()["tag"] == "mine"
    connection.close()


with T4a() as client:
    signatures(client)
    errors(client)
    commands(client)
    client.shutdown()
print("all is well")
