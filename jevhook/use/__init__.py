"""The same judgment outside the hook: for a shell, a Python program, an MCP client.

``request`` what is asked · ``verdict`` what comes back · ``jev`` who asks · ``items`` one question about many texts ·
``gate`` and ``guarded`` may this call run?  Everything else that asks a judge is built on ``jev.Jev``.
"""
