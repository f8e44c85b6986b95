#!/usr/bin/env python3
"""An agent loop with nothing around it: look, ask the model for one command, run it, until it is done.

`scripted_model` stands in for a model, so that this runs without a network: put a call of yours there.
"""

import sys
from pathlib import Path
from typing import List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from t4a import T4a  # noqa: E402

#: What the model was shown, newest last.
History = List[str]


def scripted_model(history: History) -> Tuple[str, str]:
    """The next action: ("run", a command) or ("answer", a text)."""
    if len(history) == 1:
        return "run", "seq 1 20 > numbers.txt; wc -l < numbers.txt"
    if "exit code 0" in history[-1]:
        return "answer", f"the file has {history[-1].splitlines()[-1].strip()} lines"
    return "answer", "it did not work: " + history[-1]


def agent(t4a: T4a, task: str) -> str:
    terminal = t4a.create(cmd_args=["bash"], ready=True)["id"]
    try:
        history = [task]
        for _ in range(20):
            kind, text = scripted_model(history)
            if kind == "answer":
                return text
            ran = t4a.run(terminal, text, timeout_ms=60_000, max_lines=80)
            output = "\n".join(ran["lines"])
            if ran["timed_out"]:
                history.append(f"still running\n{output}")
            else:
                history.append(f"exit code {ran['code']}\n{output}")
        return "it takes too many steps"
    finally:
        t4a.kill(terminal)


if __name__ == "__main__":
    with T4a() as client:
        print(agent(client, "Count the lines of a file with the numbers from 1 to 20."))
