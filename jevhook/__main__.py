"""Entry.  ``hook`` goes straight to the lane; everything else is a command a person runs."""

from __future__ import annotations

import sys


def main() -> int:
    argv = sys.argv[1:]
    if argv[:1] == ["hook"]:
        from jevhook.hook import main as lane

        rest = argv[2:] if argv[1:2] == ["gate"] else argv[1:]
        if "--help" not in rest and "-h" not in rest:
            return lane(rest)
    from jevhook.cli import main as commands

    return commands(argv)


if __name__ == "__main__":
    sys.exit(main())
