"""What changed settings do to the hook: read only after a session saw one of the files change."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from .. import config
from ..hosts import installer
from . import entries, receipts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts import Installer

_LIMIT = 8 << 20


def troubles(name: str, env: Mapping[str, str], project: str, changed: Mapping[str, bool]) -> list[str]:
    """A sentence for each thing that the ``changed`` files (path -> whether it named this gate before) now do to the
    hook of host ``name``, in ``project``; [] when they do nothing to it.  Raises nothing for what the files hold."""
    host = installer(name)
    user = host.settings(env)
    commands = [entry.command for path in (user, host.MANAGED) for entry in entries.mine(_document(path))]
    commands += [str(kept.get("command")) for kept in receipts.every(dict(env)) if kept.get("host") == name]
    found: list[str] = []
    for path, named in changed.items():
        found += _file(host, path, named)
    # Of all that stands elsewhere, what a changed file is the cause of.
    for trouble in host.elsewhere(env, user, sorted(set(commands)), project, project, ""):
        if any(path in trouble.text for path in changed) or _trusts(changed):
            found.append(trouble.text)
    return list(dict.fromkeys(found))


def _trusts(changed: Mapping[str, bool]) -> bool:
    """Codex keeps its trust in config.toml, and says of an entry without it only that it is not trusted."""
    return any(path.endswith(("/.codex/config.toml", "/.codex/hooks.json")) for path in changed)


def _file(host: Installer, path: str, named: bool) -> list[str]:
    if path.endswith(".toml"):
        return _toml(path)
    document = _document(path)
    if document is None:
        return (
            [f"{path} is no JSON any more, so {host.TITLE} reads none of it"]
            if os.path.exists(path)
            else _gone(path, named)
        )
    dropped = host.drops(document) if isinstance(document, dict) else "it is not an object"
    if dropped:
        return [f"{path}: {dropped}, so {host.TITLE} reads none of it"]
    return _gone(path, named and not entries.mine(document))


def _gone(path: str, gone: bool) -> list[str]:
    return [f"the hook's entry is not in {path} any more"] if gone else []


def _toml(path: str) -> list[str]:
    import tomllib

    try:
        data, _ = config.read_bounded(path, _LIMIT)
        found = tomllib.loads(data.decode("utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as wrong:
        return [f"{path} can't be read: {str(wrong)[:120]}"]
    features = found.get("features")
    off = [name for name in ("hooks", "codex_hooks") if isinstance(features, dict) and features.get(name) is False]
    return [f"{path} says features.{name} = false: no hook runs" for name in off]


def _document(path: str) -> object:
    """The file's JSON; None when there is none."""
    try:
        data, _ = config.read_bounded(path, _LIMIT)
        return json.loads(data.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
