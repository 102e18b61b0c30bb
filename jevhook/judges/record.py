"""The private provider record that the jev skills share, and every check it has to pass.

Fields and checks are those of the skill's own reader (jev-judge): ``baseUrl``, ``model``, ``apiKeyEnv`` or ``apiKey``,
and optionally ``providerName``, ``protocol``, ``endpointPath``, ``authHeader``, ``authScheme``, ``extraHeaders``,
``timeoutSeconds``.
"""

from __future__ import annotations

import os
import stat

from .. import jsonio
from ..systemone import client
from . import check_key, check_model, record_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_MAX_RECORD = 64_000


class _Refused(Exception):
    """Why the record is not used."""


class Record:
    """A record that passed.  ``url`` is the full endpoint, ``base`` what the user named, ``timeout`` in seconds."""

    __slots__ = ("auth_header", "auth_scheme", "base", "headers", "key", "key_var", "model", "name", "timeout", "url")

    def __init__(
        self,
        name: str,
        base: str,
        url: str,
        model: str,
        key: str,
        key_var: str,
        auth_header: str,
        auth_scheme: str,
        headers: dict[str, str],
        timeout: float,
    ) -> None:
        self.name = name
        self.base = base
        self.url = url
        self.model = model
        self.key = key
        self.key_var = key_var
        self.auth_header = auth_header
        self.auth_scheme = auth_scheme
        self.headers = headers
        self.timeout = timeout


def read_record(env: Mapping[str, str], in_hook: bool) -> tuple[Record | None, str]:
    """(record, ""), or (None, why not) where why is "" when there simply is none.  Never raises."""
    path = record_path(env)
    if not os.path.exists(path):
        missing = "JEV_SKILL_CONFIG names no file" if env.get("JEV_SKILL_CONFIG") else ""
        return None, missing
    try:
        if in_hook and env.get("JEV_SKILL_CONFIG"):
            _outside_project(path)
        return _record(_private_object(path), env), ""
    except (_Refused, ValueError) as why:
        return None, f"the skill record is not used: {why}"
    except OSError as why:
        return None, f"the skill record is not readable: {os.strerror(why.errno or 0)}"


def _outside_project(path: str) -> None:
    """A repository that may set JEV_SKILL_CONFIG may also hold the file it names (0600 under umask 077)."""
    if not os.path.isabs(path):
        raise _Refused("JEV_SKILL_CONFIG must be an absolute path")
    home = os.path.realpath(os.path.expanduser("~"))
    try:
        root = start = os.path.realpath(os.getcwd())
    except OSError:
        return
    while not os.path.exists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            root = start
            break
        root = parent
    if (home + os.sep).startswith(root.rstrip(os.sep) + os.sep):
        return  # the home itself, or a directory above it, is nobody's project
    if os.path.realpath(path).startswith(root.rstrip(os.sep) + os.sep):
        raise _Refused("JEV_SKILL_CONFIG points into the judged project")


def _private_object(path: str) -> dict[str, Any]:
    if not stat.S_ISREG(os.stat(path).st_mode):  # before open(): a FIFO would block
        raise _Refused("it is not a file")
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise _Refused("it is not a file")
        if os.name == "posix":
            if facts.st_mode & 0o077:
                raise _Refused("others can read it; run chmod 600 on it")
            if facts.st_uid not in (os.geteuid(), 0):
                raise _Refused("it belongs to somebody else")
        data = os.read(handle, _MAX_RECORD + 1)
    finally:
        os.close(handle)
    if len(data) > _MAX_RECORD:
        raise _Refused("it is too long")
    try:
        value = jsonio.loads(data.decode("utf-8"))
    except ValueError:
        raise _Refused("it is not JSON") from None
    if not isinstance(value, dict):
        raise _Refused("it is not a JSON object")
    return value


_TOKEN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~")


def _record(raw: dict[str, Any], env: Mapping[str, str]) -> Record:
    def text(name: str, default: str = "") -> str:
        value = raw.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise _Refused(f"{name} must be a text")
        return value

    name = text("providerName", "custom-provider").strip()
    if not name or not name.isprintable():
        raise _Refused("providerName must not be blank")
    if text("protocol", "systemone") != "systemone":
        raise _Refused("protocol must be systemone")
    base = text("baseUrl").rstrip("/")
    if not base:
        raise _Refused("baseUrl is missing")
    client.address(base)
    path = (text("endpointPath") or text("systemOnePath") or "v1/systemone").strip("/")
    if "://" in path or any(mark in path for mark in "?#"):
        raise _Refused("endpointPath must be a plain path")
    base = base.removesuffix("/" + path)
    if path.startswith("v1/") and base.endswith("/v1"):
        base = base.removesuffix("/v1")
    url = f"{base}/{path}"
    client.address(url)
    model = check_model(text("model"))
    if not model:
        raise _Refused("model is missing")
    key_var = text("apiKeyEnv")
    if key_var:
        if not key_var.isidentifier() or not key_var.isascii():
            raise _Refused("apiKeyEnv is not a variable's name")
        key = env.get(key_var, "")
        if not key:
            raise _Refused(f"{key_var} is not set")
        check_key(key, key_var)
    else:
        key = text("apiKey")
        if not key:
            raise _Refused("it names no apiKeyEnv and no apiKey")
        check_key(key, "apiKey")
    header = text("authHeader", "Authorization")
    if not header or not _TOKEN.issuperset(header):
        raise _Refused("authHeader is not a header's name")
    scheme = text("authScheme", "Bearer")
    if not scheme.isascii() or (scheme and not scheme.isprintable()):
        raise _Refused("authScheme must be one line")
    extra = raw.get("extraHeaders")
    extra = {} if extra is None else extra
    if not isinstance(extra, dict):
        raise _Refused("extraHeaders must be an object")
    for field, value in extra.items():
        if not field or not _TOKEN.issuperset(field) or not isinstance(value, str):
            raise _Refused("extraHeaders must map header names to texts")
        if not value.isascii() or (value and not value.isprintable()):
            raise _Refused("extraHeaders must be single lines")
        if field.lower() in ("authorization", "content-length", "host", "transfer-encoding", header.lower()):
            raise _Refused(f"extraHeaders may not set {field}")
    timeout = raw.get("timeoutSeconds", 30)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < 86_400:
        raise _Refused("timeoutSeconds must be a number above 0")
    return Record(
        name,
        base,
        url,
        model,
        key,
        key_var or "apiKey in the skill record",
        header,
        scheme,
        dict(extra),
        float(timeout),
    )
