"""Commands that need one of the package's extras say which when it is not there."""

from __future__ import annotations

from typing import NoReturn

import click


class Missing(click.ClickException):
    """An extra is not installed."""

    exit_code = 2


def need(extra: str, wrong: ImportError) -> NoReturn:
    """Says which extra to install.  Raises Missing."""
    raise Missing(f"this needs the extra {extra}: pip install 'jevhook[{extra}]' ({wrong.name} is missing)") from None
