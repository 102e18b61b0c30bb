"""``jevhook rules``: the rules in force, and ``--markdown`` for docs/rules.md."""

from __future__ import annotations

import json
import os
from typing import Any

import click


@click.command()
@click.option("--policy", metavar="NAME|FILE", help="The rules of this policy instead of the one in force.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--markdown", is_flag=True, help="As the page docs/rules.md.")
@click.option("--pack", metavar="NAME", help="Only this pack.")
def rules(policy: str | None, as_json: bool, markdown: bool, pack: str | None) -> None:
    """List the rules in force: severity, id, reason. With --json all that is kept of a rule, an example included.

    \b
    jevhook rules --pack git
    jevhook rules --json | jq '.[] | select(.severity == "deny") | .id'
    """
    from ..policy import rules as compiled
    from .judging import load_policy

    if as_json and markdown:
        raise click.UsageError("--json and --markdown: choose one")
    try:
        cwd = os.getcwd()
    except FileNotFoundError:  # the directory was removed under us
        cwd = ""
    made = load_policy(policy, cwd)
    everything = list(compiled(made)["rules"].values())
    table = [rule for rule in everything if pack in (None, rule.get("pack"))]
    if pack is not None and not table:
        names = sorted({str(rule.get("pack")) for rule in everything})
        raise click.ClickException(f"--pack: no pack {pack!r}; there are {', '.join(names)}")
    if markdown:
        click.echo(page(table), nl=False)
        return
    for rule in table:
        rule["mode"] = made.rule_modes.get(rule["id"]) or rule.get("mode") or "active"
    if as_json:
        click.echo(json.dumps(table, indent=1))
        return
    for rule in table:
        mode = "" if rule["mode"] == "active" else f" ({rule['mode']})"
        click.echo(f"{rule['severity']:5} {rule['id']:32} {_sentence(rule, rule['reason'])}{mode}")


def shipped() -> list[dict[str, Any]]:
    """The rules of every shipped pack, whatever is configured on this machine."""
    import tomllib
    from pathlib import Path

    from ..policy import policies_dir
    from ..rules import compile_rules

    raw = [
        {**rule, "pack": pack.stem}
        for pack in sorted(Path(policies_dir(), "rules").glob("*.toml"))
        for rule in tomllib.loads(pack.read_text(encoding="utf-8"))["rule"]
    ]
    return list(compile_rules(raw)[0]["rules"].values())


_INTRO = """# Rules

Written by `scripts/docs` (`jevhook rules --markdown`); a test fails when it is out of date.

*deny*: cannot be undone, stops. *ask*: a person should see it. *note*: only the ledger keeps it. Any rule can be
`off`, `shadow` or `active` by its id, in `~/.config/jevhook/config.toml`:

```toml
[rule_modes]
"git.reset-hard" = "off"
```
"""


def page(table: list[dict[str, Any]]) -> str:
    """docs/rules.md: a section a pack, a table row a rule."""
    out = [_INTRO]
    packs: dict[str, list[dict[str, Any]]] = {}
    for rule in table:
        packs.setdefault(str(rule.get("pack")), []).append(rule)
    for name in sorted(packs):
        out.append(f"\n## {name}\n\n| rule | says | why | for example |\n| --- | --- | --- | --- |\n")
        for rule in packs[name]:
            why = _sentence(rule, f"{rule['reason']} {rule.get('suggestion', '')}".strip())
            example = _code(str((rule.get("match") or [""])[0]))
            out.append(f"| `{rule['id']}` | {rule['severity']} | {_cell(why)} | {example} |\n")
    return "".join(out)


def _sentence(rule: dict[str, Any], text: str) -> str:
    """A rule's sentence without a call to fill it in from: `(…)` goes, a name becomes an example of one."""
    for field in ("target", "program", "detail"):
        text = text.replace(f" ({{{field}}})", "")
    program = (rule.get("program") or ["the program"])[0]
    return text.replace("{program}", program).replace("{target}", "the target").replace("{detail}", "what was found")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


def _code(text: str) -> str:
    """As code in a table cell, whatever is in it."""
    if not text:
        return ""
    text = text.replace("\n", "⏎").replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"
