"""Entry.  ``hook`` goes straight to the lane; everything else is a command a person runs.

``python -I -S .../jevhook/__main__.py hook`` is the quickest way in: without ``-m`` and ``site`` a hook takes about
7 ms less (README, "Time").  Run like that, the package's own folder is the only one on the path beside the standard
library's; ``site`` is brought in when something else is first asked for.
"""

import sys


class Elsewhere:
    """Finds what is installed in another folder, as ``site`` would have."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> object:
        sys.meta_path.remove(Elsewhere)  # type: ignore[arg-type]
        if path is not None:  # part of a package that was found
            sys.meta_path.append(Elsewhere)  # type: ignore[arg-type]
            return None
        import site

        site.main()
        for finder in sys.meta_path:
            spec = finder.find_spec(name, None)
            if spec is not None:
                return spec
        return None


def main() -> int:
    argv = sys.argv[1:]
    if argv[:1] == ["hook"]:
        rest = argv[2:] if argv[1:2] == ["gate"] else argv[1:]
        if "--help" not in rest and "-h" not in rest:
            before, taken = b"", 0.0
            if "--resident" in rest:
                from jevhook.resident.ask import judged

                before, taken = judged(rest)  # does not come back when the warm process has answered
            from jevhook.hook import main as lane

            return lane(rest, before, since=taken)
    from jevhook.cli import main as commands

    return commands(argv)


if __name__ == "__main__":
    if not __package__:
        sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 2)[0])
        import jevhook  # noqa: F401

        sys.path.append(sys.path.pop(0))  # what else is installed there must not stand before the standard library
        sys.meta_path.append(Elsewhere)  # type: ignore[arg-type]
    sys.exit(main())
