"""An MCP server on stdio, as small as one can be: one tool that hands out what a file says.

Run as a program by the host: the argument is a JSON file, name -> the result of ``tools/call`` (content,
structuredContent, isError).  ``fetch {"name"}`` gives that result.  Nothing of the package is imported.
"""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "fetch",
    "description": "Hand out a document of this desk",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}


def answer(message: dict[str, Any], documents: dict[str, Any]) -> dict[str, Any]:
    """The result of one JSON-RPC request."""
    given = message.get("params") or {}
    match message.get("method"):
        case "initialize":
            about = {"name": "desk", "version": "1"}
            return {"protocolVersion": given.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return dict(documents[given["arguments"]["name"]])
        case _:
            return {}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        documents = json.load(file)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:  # a notification gets no answer
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message, documents)}), flush=True)


if __name__ == "__main__":
    main()
