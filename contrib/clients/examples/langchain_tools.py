#!/usr/bin/env python3
"""Tools as LangChain and its kin want them: functions with types and a docstring.

Hand them over as they are, `create_react_agent(model, TOOLS)`, or wrap each with `tool(...)`. Here a scripted
model calls them by name, so that this runs without a network and without LangChain.
"""

import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from t4a import T4a, T4aError  # noqa: E402

t4a = T4a()


def create_terminal(name: str) -> str:
    """Make a terminal with a shell, under a name to call it by."""
    return str(t4a.create(name=name, cmd_args=["bash"], ready=True)["id"])


def run_command(terminal: str, command: str) -> str:
    """Run a command in a terminal's shell and return its exit code and output."""
    ran = t4a.run(terminal, command, timeout_ms=30_000, max_lines=80)
    return f"exit code {ran['code']}\n" + "\n".join(ran["lines"])


def look_at_terminal(terminal: str) -> str:
    """See what a terminal shows and does now."""
    look = t4a.look(terminal, max_tokens=2000)
    return f"state: {look['state']}\n" + "\n".join(row["text"] for row in look["lines"])


def kill_terminal(terminal: str) -> str:
    """End a terminal."""
    t4a.kill(terminal)
    return "gone"


TOOLS: List[Callable[..., str]] = [create_terminal, run_command, look_at_terminal, kill_terminal]

#: What a model would call, one after another.
SCRIPT: List[Dict[str, Any]] = [
    {"name": "create_terminal", "args": {"name": "work"}},
    {"name": "run_command", "args": {"terminal": "work", "command": "cd /; pwd; false"}},
    {"name": "look_at_terminal", "args": {"terminal": "work"}},
    {"name": "run_command", "args": {"terminal": "nobody", "command": "ls"}},
    {"name": "kill_terminal", "args": {"terminal": "work"}},
]


def main() -> None:
    tools = {tool.__name__: tool for tool in TOOLS}
    for call in SCRIPT:
        try:
            result = tools[call["name"]](**call["args"])
        except T4aError as error:
            result = f"{error.code}: {error}"
        print(f"{call['name']} -> {result.splitlines()}")
    t4a.close()


if __name__ == "__main__":
    main()
