"""``jevhook ledger``: what was decided.  Without a command it is ``tail``."""

from __future__ import annotations

import click

from .ledger_export import export
from .ledger_label import label
from .ledger_prune import prune
from .ledger_show import show
from .ledger_stats import stats
from .ledger_tail import tail


class _OrTail(click.Group):
    """The group has no options of its own: what begins with one is ``tail``'s (``shell/programs/own.py`` reads it so)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0][:1] == "-" and args[0] not in ctx.help_option_names):
            args = ["tail", *args]
        return super().parse_args(ctx, args)


@click.group("ledger", cls=_OrTail)
def ledger() -> None:
    """Look at what was decided: one line for every event the gate was asked about.

    \b
    jevhook ledger
    jevhook ledger tail --follow --decision deny --decision ask
    jevhook ledger show 3f2a9c1d
    jevhook ledger label 3f2a9c1d bad --note 'the tree was committed'
    jevhook ledger stats --since 30d
    """


for command in (tail, show, label, stats, export, prune):
    ledger.add_command(command)
