"""Write what is made from the project itself: pages under docs/, and the index of program readers.

scripts/docs            docs/rules.md, from the shipped rule packs, and the index
scripts/docs --help-texts   and docs/commands.md, from every command's --help
scripts/docs --check    write nothing; exit 1 and name what is out of date (``tests/test_docs.py`` does the same)
"""

from __future__ import annotations

import argparse
import importlib
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def rules_page() -> str:
    from jevhook.cli.rules import page, shipped

    return page(shipped())


def commands_page() -> str:
    import click

    from jevhook.cli import COMMANDS

    out = ["# Commands\n\nWritten by `scripts/docs --help-texts`; a test fails when it is out of date.\n"]

    def section(name: str, command: click.Command, level: int) -> None:
        settings = {"help_option_names": ["-h", "--help"], "terminal_width": 100, "max_content_width": 100}
        context = click.Context(command, info_name=f"jevhook {name}", **settings)
        out.append(f"\n{'#' * level} jevhook {name}\n\n```text\n{command.get_help(context)}\n```\n")
        if isinstance(command, click.Group):
            for inner, below in sorted(command.commands.items()):
                if not below.hidden:
                    section(f"{name} {inner}", below, level + 1)

    for name, (module, attribute, _) in sorted(COMMANDS.items()):
        section(name, getattr(importlib.import_module(module), attribute), 2)
    return "".join(out)


def program_index() -> str:
    """The module of every reader; of two readers with one name the later module's counts."""
    from jevhook.shell.programs import MODULES

    found: dict[str, str] = {}
    for module in MODULES:
        found.update(dict.fromkeys(importlib.import_module(f"jevhook.shell.programs.{module}").READERS, module))
    lines = ""
    for module in MODULES:
        names = " ".join(sorted(name for name, where in found.items() if where == module))
        folded = textwrap.fill(names, 100, break_on_hyphens=False, break_long_words=False).replace(
            "\n", ' "\n        "'
        )
        lines += (
            f'    "{module}": (\n        "{folded}"\n    ),\n' if "\n" in folded else f'    "{module}": "{folded}",\n'
        )
    return (
        '"""Which module reads which program.  Written by ``scripts/docs``; a test fails when it is out of date."""\n\n'
        f"NAMES = {{\n{lines}}}\n"
        "# Texts, taken apart at import: a table of 800 texts takes three times as long to load.\n"
        "MODULE_OF = {name: module for module, names in NAMES.items() for name in names.split()}\n"
    )


PAGES = {
    "jevhook/shell/programs/index.py": program_index,
    "docs/rules.md": rules_page,
    "docs/commands.md": commands_page,
}


def main() -> int:
    options = argparse.ArgumentParser(prog="scripts/docs", description=(__doc__ or "").split("\n\n")[0])
    options.add_argument("--help-texts", action="store_true", help="docs/commands.md too")
    options.add_argument("--check", action="store_true", help="write nothing, exit 1 when a page is out of date")
    chosen = options.parse_args()
    stale = 0
    for name, make in PAGES.items():
        file, text = ROOT / name, make()
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        if chosen.check:
            print(f"{name} is out of date: run scripts/docs --help-texts")
            stale = 1
        elif name != "docs/commands.md" or chosen.help_texts:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return stale


if __name__ == "__main__":
    sys.exit(main())
