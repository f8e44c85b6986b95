"""Lists and calls every tool of `t4a mcp` with the official client; argument: the program t4a."""

import asyncio
import base64
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
        called = set()

        async def call(name, **arguments):
            called.add(name)
            content = (await session.call_tool(name, arguments)).content
            facts = json.loads(content[0].text)
            return facts, content[1:]

        made, _ = await call("terminal_create", command=["bash"], env={"PS1": "$ "})
        ran, (output,) = await call("terminal_run", id=made["id"], command="echo out; (exit 5)")
        assert (ran["done"], ran["code"], output.text) == (True, 5, "out\n"), (ran, output)
        _, (screen, picture) = await call("terminal_look", id=made["id"], picture=True)
        assert "out" in screen.text
        assert picture.type == "image"
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        await call("terminal_keys", id=made["id"], text="echo typed\n")
        waited, _ = await call("terminal_wait", id=made["id"], text="typed")
        assert waited["done"]
        _, (lines,) = await call("terminal_read", id=made["id"])
        assert "typed" in lines.text
        listed, _ = await call("terminal_list")
        assert listed["terminals"] == 1
        await call("terminal_kill", id=made["id"])
        assert called == tools, tools - called
        print(f"all {len(called)} tools")


asyncio.run(main())
