"""A session by the official Python SDK; prints what it was answered as one JSON object.

    python sdk_session.py legacy|auto COMMAND [ARGUMENT ...]

`legacy` opens the session by `initialize`; `auto` lets the SDK choose the newest protocol that both know.
The script judges nothing: the test that runs it does.
"""

import asyncio
import importlib.metadata
import json
import sys

from mcp import Client, Implementation, StdioServerParameters, stdio_client

CALLS = [
    ("list", "files_ls", {}),
    ("read", "files_read", {"path": "notes.txt", "offset": 2, "limit": 2}),
    ("edit", "files_edit", {"path": "notes.txt", "edits": [{"old": "three", "new": "THREE"}], "create_backup": True}),
    ("edit again", "files_edit", {"path": "notes.txt", "edits": [{"old": "three", "new": "THREE"}]}),
    ("escape by dots", "files_read", {"path": "../secret.txt"}),
    ("escape by a link", "files_read", {"path": "door.txt"}),
    ("write outside", "files_write", {"path": "../made.txt", "content": "x"}),
    ("wrong type", "files_read", {"path": 7}),
]


def plain(answer):
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    mode, command = sys.argv[1], sys.argv[2:]
    me = Implementation(name="mcp-python-sdk", version=importlib.metadata.version("mcp"))
    server = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    async with Client(server, mode=mode, client_info=me) as client:
        session = {
            "client": plain(me),
            "protocol": client.protocol_version,
            "server": plain(client.server_info),
            "instructions": client.instructions,
            "tools": plain(await client.list_tools())["tools"],
        }
        for name, tool, arguments in CALLS:
            session[name] = plain(await client.call_tool(tool, arguments))
    print(json.dumps(session))


asyncio.run(main())
