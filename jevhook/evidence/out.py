"""Files that a person asked for are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable


def in_one_step(out: str, fill: Callable[[str], None]) -> None:
    """Make ``out``, readable by its owner only, out of a file beside it that ``fill`` is given the name of.

    Raises OSError and whatever ``fill`` raises; then ``out`` is as it was.
    """
    handle, aside = tempfile.mkstemp(prefix=".jevhook-", dir=os.path.dirname(os.path.abspath(out)))
    os.close(handle)
    try:
        fill(aside)
        os.replace(aside, out)
    except BaseException:
        os.unlink(aside)
        raise
