"""``jev-use serve``: the MCP server on stdin and stdout."""

from __future__ import annotations

import os
import sys

import click


@click.command("serve")
def serve() -> int:
    """Serve jev_judge, jev_gate, judge_items and judge_ledger over MCP, on stdin and stdout.

    A host starts it; nobody types into it. Needs the package mcp (the extra [mcp]). Register it with the absolute
    path of the Python that has jevhook:

    \b
    claude mcp add --scope user jevhook -- /abs/python -I -m jevhook serve
    codex mcp add jevhook -- /abs/python -I -m jevhook serve

    It takes a second or two to start. Codex begins without a server that is not up by then, unless its table
    [mcp_servers.jevhook] in ~/.codex/config.toml says required = true.

    A host's environment may be a repository's doing: as in the hook, a judge is asked only if your configuration names
    it, or the skill record, or TYPESAFE_API_KEY is set.

    Exits 0 when the host closes stdin, 2 when the mcp package is missing.
    """
    from ..mcp_server import serve as run

    if sys.stdin.isatty():
        click.echo("an MCP server waits for a host on stdin; Ctrl-C ends it, --help says how to register it", err=True)
    try:
        run(dict(os.environ))
    except ModuleNotFoundError:  # the extra mcp; named by itself, for it works whatever jevhook was installed from
        install = f"{sys.executable or 'python'} -m pip install 'mcp>=2'"
        click.echo(f"jev-use serve needs the mcp package, 2 or newer: {install}", err=True)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
