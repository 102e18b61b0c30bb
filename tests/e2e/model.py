"""A model on loopback that follows a script: what it was sent is kept, what it answers is written beforehand.

It speaks the streaming forms of the Anthropic Messages API and the OpenAI Responses API, as far as Claude Code
2.1.332 and Codex 0.171.0 need them.  Each scripted call has a fixed id and is asked for until the conversation
holds a result with that id, so a host's retry gets the same answer and two runs of one script can be compared.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = "the script is at its end"
STOPPED = "the script stopped: an earlier call did not say what the next one needs"


@dataclass(frozen=True)
class Call:
    """One scripted tool call.

    ``input`` is an object, or a string for Codex's free-form tools.  ``needs`` is an earlier call's id and a text
    that its result must contain: without it this call is never asked for, and the conversation ends.  ``namespace`` is
    where Codex keeps the tools of an MCP server (mcp__NAME); Claude Code has it in the tool's name.  ``takes`` is an
    earlier call's id and a pattern: what its first group is in that result stands for "@TAKEN@" in the input.
    """

    id: str
    tool: str
    input: Any
    needs: tuple[str, str] | None = None
    namespace: str = ""
    takes: tuple[str, str] | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def results(body: dict[str, Any]) -> dict[str, str]:
    """Call id -> the text the model was given as that call's result, for a request of either API."""
    found: dict[str, str] = {}
    for message in body.get("messages", []):
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            if block.get("type") == "tool_result":
                found[block["tool_use_id"]] = flat(block.get("content"))
    for item in body.get("input", []):
        if item.get("type") in ("function_call_output", "custom_tool_call_output"):
            found[item["call_id"]] = flat(item.get("output"))
    return found


def flat(content: Any) -> str:
    """The words of a string, a content block or a list of blocks."""
    if isinstance(content, list):
        return "\n".join(map(flat, content))
    if isinstance(content, dict):
        return content["text"] if isinstance(content.get("text"), str) else json.dumps(content)
    return "" if content is None else str(content)


def next_answer(script: list[Call], body: dict[str, Any], pages: Mapping[str, str]) -> Call | str:
    """The first call without a result, or the closing text.

    A request without tools is a helper's (a title, a summary) and takes no part in the script.  Claude Code hands a
    fetched web page to one and the agent gets what it says: here it says the whole page again.
    """
    if not body.get("tools"):
        asked = json.dumps(body)
        return next((text for text in pages.values() if json.dumps(text)[1:-1] in asked), DONE)
    known = results(body)
    for call in script:
        if call.id not in known:
            earlier, text = call.needs or ("", "")
            source, pattern = call.takes or ("", "()")
            taken = re.search(pattern, known.get(source, ""))
            if text not in known.get(earlier, "") or not taken:
                return STOPPED
            return replace(call, input=json.loads(json.dumps(call.input).replace("@TAKEN@", taken[1])))
    return DONE


def anthropic_events(answer: Call | str, model: Any) -> list[dict[str, Any]]:
    """The stream of one Messages API answer."""
    if isinstance(answer, Call):
        block: dict[str, Any] = {"type": "tool_use", "id": answer.id, "name": answer.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.input)}
        reason = "tool_use"
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": answer}
        reason = "end_turn"
    message = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 1},
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]


def openai_events(answer: Call | str) -> list[dict[str, Any]]:
    """The stream of one Responses API answer."""
    item: dict[str, Any]
    if isinstance(answer, str):
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}
    elif isinstance(answer.input, str):
        item = {"type": "custom_tool_call", "call_id": answer.id, "name": answer.tool, "input": answer.input}
    else:
        arguments = json.dumps(answer.input)
        item = {"type": "function_call", "call_id": answer.id, "name": answer.tool, "arguments": arguments}
        if answer.namespace:
            item["namespace"] = answer.namespace
    usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    return [
        {"type": "response.created", "response": {"id": "resp_scripted"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_scripted", "output": [item], "usage": usage}},
    ]


class Model:
    """The server.  ``requests`` holds every POST as (path, body), in order of arrival.

    ``pages`` (path -> text) is a web site beside it, at ``url`` and, with a ``certificate`` (a file with certificate and
    key), at ``secure``: Claude Code fetches https alone.  "@MODEL@" and "@SECURE@" in a call's input become these.
    """

    def __init__(self, script: list[Call], pages: Mapping[str, str] | None = None, certificate: str = "") -> None:
        self.pages = pages or {}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.servers = [self.serve(), *([self.serve(certificate)] if certificate else [])]
        self.url = f"http://127.0.0.1:{self.servers[0].server_port}"
        self.secure = f"https://127.0.0.1:{self.servers[-1].server_port}"
        self.script = [Call(**json.loads(self.filled(json.dumps(call.as_json())))) for call in script]

    def serve(self, certificate: str = "") -> ThreadingHTTPServer:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        return server

    def filled(self, text: str) -> str:
        return text.replace("@MODEL@", self.url).replace("@SECURE@", self.secure)

    def __enter__(self) -> Model:
        for server in self.servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                pass

            def send(self, status: int, kind: str, text: str) -> None:
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def send_events(self, events: list[dict[str, Any]]) -> None:
                parts = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
                self.send(200, "text/event-stream", "".join(parts))

            def do_HEAD(self) -> None:
                self.send(200, "text/plain", "")

            def do_GET(self) -> None:
                if self.path in model.pages:
                    return self.send(200, "text/plain; charset=utf-8", model.pages[self.path])
                return self.send(200, "application/json", '{"data": [], "models": []}')

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    body = json.loads(raw)
                except ValueError:
                    body = {"unreadable": raw.decode("utf-8", "replace")}
                model.requests.append((self.path, body))
                path = self.path.partition("?")[0]
                if path.endswith("/messages") and body.get("stream"):
                    answer = next_answer(model.script, body, model.pages)
                    self.send_events(anthropic_events(answer, body.get("model")))
                elif path.endswith("/responses"):
                    self.send_events(openai_events(next_answer(model.script, body, model.pages)))
                elif path.endswith("/count_tokens"):
                    self.send(200, "application/json", '{"input_tokens": 7}')
                else:
                    self.send(404, "application/json", '{"error": {"type": "not_found", "message": "not scripted"}}')

        return Handler
