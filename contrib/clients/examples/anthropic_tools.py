#!/usr/bin/env python3
"""An agent loop with tool use in the shape of Anthropic's messages, with pictures of the screen.

`scripted_model` answers as `client.messages.create(...)` does, so that this runs without a network.
"""

import base64
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from t4a import T4a, T4aError  # noqa: E402

Block = Dict[str, Any]

TOOLS: List[Block] = [
    {"name": "run", "description": "Run a command in the shell: its exit code and output.",
     "input_schema": {"type": "object", "properties": {"command": {"type": "string"}},
                      "required": ["command"]}},
    {"name": "keys", "description": "Press keys, e.g. Escape, C-c, Up; then see a picture of the screen.",
     "input_schema": {"type": "object", "required": ["keys"],
                      "properties": {"keys": {"type": "array", "items": {"type": "string"}}}}},
]


def picture(t4a: T4a, terminal: str) -> Block:
    data = base64.b64encode(t4a.screenshot(terminal, max_tokens=800).data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def use_tool(t4a: T4a, terminal: str, use: Block) -> Block:
    result: Block = {"type": "tool_result", "tool_use_id": use["id"]}
    try:
        if use["name"] == "run":
            ran = t4a.run(terminal, use["input"]["command"], timeout_ms=30_000, max_lines=80)
            text = f"exit code {ran['code']}\n" + "\n".join(ran["lines"])
            return {**result, "content": [{"type": "text", "text": text}]}
        t4a.keys(terminal, use["input"]["keys"])
        t4a.wait(terminal, [{"settled_ms": 200}], timeout_ms=5000)
        return {**result, "content": [picture(t4a, terminal)]}
    except T4aError as error:
        return {**result, "is_error": True, "content": [{"type": "text", "text": str(error)}]}


def scripted_model(messages: List[Block]) -> Dict[str, Any]:
    def use(name: str, **input: Any) -> Dict[str, Any]:
        id = f"toolu_{len(messages)}"
        return {"stop_reason": "tool_use",
                "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}

    results = [block for message in messages if message["role"] == "user"
               for block in message["content"] if block["type"] == "tool_result"]
    if not results:
        return use("run", command="printf 'a\\nb\\nc\\n' > file.txt; cat file.txt | wc -l")
    if len(results) == 1:
        return use("keys", keys=["l", "e", "s", "s", "Space", "f", "i", "l", "e", ".", "t", "x", "t",
                                 "Enter"])
    shown = results[1]["content"][0]
    assert shown["type"] == "image", shown
    size = len(base64.b64decode(shown["source"]["data"]))
    assert base64.b64decode(shown["source"]["data"]).startswith(b"\x89PNG"), size
    lines = results[0]["content"][0]["text"].splitlines()[-1].strip()
    return {"stop_reason": "end_turn",
            "content": [{"type": "text", "text": f"the file has {lines} lines, seen in a picture"}]}


def agent(t4a: T4a, task: str) -> str:
    terminal = t4a.create(cmd_args=["bash"], ready=True)["id"]
    try:
        messages: List[Block] = [{"role": "user", "content": [{"type": "text", "text": task}]}]
        for _ in range(20):
            answer = scripted_model(messages)
            messages.append({"role": "assistant", "content": answer["content"]})
            if answer["stop_reason"] != "tool_use":
                return str(answer["content"][0]["text"])
            uses = [block for block in answer["content"] if block["type"] == "tool_use"]
            results = [use_tool(t4a, terminal, use) for use in uses]
            messages.append({"role": "user", "content": results})
        return "it takes too many steps"
    finally:
        t4a.kill(terminal)


if __name__ == "__main__":
    with T4a() as client:
        print(agent(client, "Make a file of three lines and look at it in less."))
