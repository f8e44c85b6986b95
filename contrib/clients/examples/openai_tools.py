#!/usr/bin/env python3
"""An agent loop with tool calls in the shape of OpenAI's chat completions.

`scripted_model` answers as `client.chat.completions.create(...)` does, so that this runs without a network.
"""

import json
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from t4a import T4a, T4aError  # noqa: E402

Message = Dict[str, Any]


def function(name: str, description: str, **properties: str) -> Dict[str, Any]:
    fields = {field: {"type": "string", "description": text} for field, text in properties.items()}
    parameters = {"type": "object", "properties": fields, "required": [*fields]}
    return {"type": "function",
            "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    function("run", "Run a command in the shell: its exit code and output.", command="A command line."),
    function("type", "Type into the program that runs.", text="\\n is Enter."),
    function("wait", "Wait until a line of the screen matches, and see it.", regex="For a whole line."),
]


def call_tool(t4a: T4a, terminal: str, name: str, arguments: Dict[str, str]) -> str:
    try:
        if name == "run":
            ran = t4a.run(terminal, arguments["command"], timeout_ms=30_000, max_lines=80)
            return json.dumps({"done": not ran["timed_out"], "code": ran["code"],
                               "output": "\n".join(ran["lines"])})
        if name == "type":
            t4a.send(terminal, arguments["text"])
            return "typed"
        if name == "wait":
            any = [{"regex": arguments["regex"]}]
            seen = t4a.wait(terminal, any, timeout_ms=30_000, then=["text"])
            state = "it is not there yet" if seen["timed_out"] else "it is there"
            return state + "\n" + "\n".join(seen["lines"]).rstrip()
        return f"there is no tool {name}"
    except T4aError as error:
        # The sentence says what would be right: let the model read it.
        return f"{error.code}: {error}"


def scripted_model(messages: List[Message], tools: List[Dict[str, Any]]) -> Message:
    def call(name: str, **arguments: str) -> Message:
        assert name in [tool["function"]["name"] for tool in tools]
        function = {"name": name, "arguments": json.dumps(arguments)}
        id = f"call_{len(messages)}"
        return {"role": "assistant", "content": None,
                "tool_calls": [{"id": id, "type": "function", "function": function}]}

    results = [message["content"] for message in messages if message["role"] == "tool"]
    if not results:
        return call("run", command="echo 'open")
    if len(results) == 1:
        # An open quote is refused with a reason, and the shell is as it was.
        assert results[0].startswith("incomplete"), results
    steps = [call("type", text="python3 -q\n"), call("wait", regex="^>>>"),
             call("type", text="print(6 * 7)\n"), call("wait", regex="^[0-9]+$")]
    if len(results) <= len(steps):
        return steps[len(results) - 1]
    number = next(line for line in results[-1].splitlines() if line.strip().isdigit())
    return {"role": "assistant", "content": f"the result is {number}"}


def agent(t4a: T4a, task: str) -> str:
    terminal = t4a.create(cmd_args=["bash"], ready=True)["id"]
    try:
        messages: List[Message] = [{"role": "user", "content": task}]
        for _ in range(20):
            message = scripted_model(messages, TOOLS)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                arguments = json.loads(call["function"]["arguments"])
                content = call_tool(t4a, terminal, call["function"]["name"], arguments)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        return "it takes too many steps"
    finally:
        t4a.kill(terminal)


if __name__ == "__main__":
    with T4a() as client:
        print(agent(client, "Multiply 6 by 7 in an interactive Python."))
