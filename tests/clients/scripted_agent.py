"""An agent on the official Python SDK that does as it is told and says what came of it.

    python scripted_agent.py SCRIPT

SCRIPT holds a JSON array of what to ask of the client, one after the other, when it is prompted:
`{"read": PATH, "line": .., "limit": ..}` or `{"write": PATH, "content": .., "_meta": {..}}`. It answers with one piece
of text each, a line of JSON: first what the client can do, then `{"content": ..}`, `{"written": ..}` or an error's
`{"code": .., "message": .., "data": ..}`. It judges nothing.
"""

import asyncio
import importlib.metadata
import json
import sys

from acp import PROTOCOL_VERSION, Agent, RequestError, run_agent, update_agent_message_text
from acp.schema import Implementation, InitializeResponse, NewSessionResponse, PromptResponse


def plain(answer):
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


class Scripted(Agent):
    def __init__(self, script):
        self.script = script

    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        self.abilities = plain(client_capabilities)["fs"]
        me = Implementation(name="scripted", version=importlib.metadata.version("agent-client-protocol"))
        return InitializeResponse(protocol_version=PROTOCOL_VERSION, agent_info=me)

    async def new_session(self, cwd, **_):
        return NewSessionResponse(session_id=f"session in {cwd}")

    async def prompt(self, session_id, **_):
        await self.say(session_id, self.abilities)
        for call in self.script:
            try:
                await self.say(session_id, await self.ask(session_id, call))
            except RequestError as error:
                await self.say(session_id, error.to_error_obj())
        return PromptResponse(stop_reason="end_turn")

    async def ask(self, session_id, call):
        meta = call.get("_meta", {})
        if "read" in call:
            window = {"line": call.get("line"), "limit": call.get("limit")}
            return plain(await self.client.read_text_file(session_id=session_id, path=call["read"], **window, **meta))
        done = await self.client.write_text_file(
            session_id=session_id, path=call["write"], content=call["content"], **meta
        )
        return {"written": plain(done) if done else None}

    async def say(self, session_id, answer):
        text = json.dumps(answer, ensure_ascii=False) + "\n"
        await self.client.session_update(session_id=session_id, update=update_agent_message_text(text))


asyncio.run(run_agent(Scripted(json.load(open(sys.argv[1], encoding="utf-8")))))
