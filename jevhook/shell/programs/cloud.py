"""Cloud tools: commands they run on other machines, wrappers around kubectl, and HTTP calls that delete."""

from __future__ import annotations

from ..finding import ANY, QMARK, Target
from ..walk import UNKNOWN_FLOW, Flow
from .launch import _command_words, _elsewhere
from .options import VALUED, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation

# Ports on this machine behind which a data store or an admin interface listens, not the application being written:
# Elasticsearch, Meilisearch, Kong, CouchDB, RabbitMQ, Prometheus, Alertmanager, Typesense, Solr, Qdrant, Consul, Vault,
# Nomad, Caddy, InfluxDB, Docker, etcd, ClickHouse.
_SERVICE_PORTS = frozenset(
    (
        "9200", "9201", "7700", "8001", "8444", "5984", "15672", "9090", "9093", "8108", "8983", "6333", "8500", "8200",
        "4646", "2019", "8086", "2375", "2376", "2379", "8123",
    )
)  # fmt: skip
# Last pieces of a path that delete when posted to, whatever the host: they belong to one product.
_OWN_ENDPOINTS = (
    "/_delete_by_query", "/_close", "/_restore", "/dodelete", "/delete_series", "/delete-batch", "/documents/delete",
    "/deletebyquery", "/containers/prune", "/images/prune", "/volumes/prune", "/networks/prune", "/system/prune",
)  # fmt: skip
# The same for words any application may use: only when the host is another machine.
_COMMON_ENDPOINTS = (
    "/delete", "/destroy", "/purge", "/purge_cache", "/clear", "/truncate", "/wipe", "/terminate", "/shutdown",
    "/batchdelete", "/bulk_delete", "/bulk-delete",
)  # fmt: skip
_CURL_VALUED_LETTERS = "HouAebcmxwKErTdFyYzCDUtQPh"
_THIS_MACHINE = ("localhost", "0.0.0.0", "::1", "host.docker.internal", "ip6-localhost", "")


def http_call(inv: Invocation, method: str, urls: list[str], texts: list[str], socket: bool = False) -> None:
    """An HTTP request: a finding when it deletes something that is not the application being written here.

    ``method`` as given or "" when it is left to the program, ``urls`` as given, ``texts`` the request's bodies.
    """
    from .network import host_of, host_roles

    method = method.upper()
    if method in ("GET", "HEAD", "OPTIONS") or not (method or texts):
        return
    mutation = any("mutation" in t and _deletes(t) for t in texts)
    for url in urls:
        host = host_of(url)
        here = host.lower() in _THIS_MACHINE or host.startswith("127.") or host.endswith((".localhost", ".test"))
        rest = url.replace(QMARK, "?").split("://", 1)[-1]
        place, _, path = rest.partition("/")
        path = "/" + path.split("?", 1)[0].rstrip("/").lower()
        service = socket or (here and place.rpartition(":")[2] in _SERVICE_PORTS)
        if method == "DELETE":
            destroys = not here or service
        elif path.endswith(_OWN_ENDPOINTS) or (method == "PUT" and path.endswith("/_cluster/settings")):
            destroys = True
        else:
            destroys = not here and (mutation or path.endswith(_COMMON_ENDPOINTS))
        if destroys and host != ANY:
            facts = ("http-delete",) if method == "DELETE" else ("http-delete", "endpoint")
            target = Target("remote", url, host_roles(host))
            inv.add("infrastructure", target, facts=facts, detail=f"{method or 'POST'} {url}")
            return


def _deletes(text: str) -> bool:
    low = text.lower()
    return "delete" in low or "destroy" in low or "remove" in low


def curl_method(args: list[str]) -> str:
    """curl's request method, "" when none is named: -X DELETE, -XDELETE, -sX DELETE, --request=DELETE."""
    method = ""
    for i, arg in enumerate(args):
        if arg == "--request":
            method = args[i + 1] if i + 1 < len(args) else method
        elif arg.startswith("--request="):
            method = arg[10:]
        elif arg[:1] == "-" and arg[1:2] != "-" and "X" in arg:
            letters, _, rest = arg[1:].partition("X")
            if not letters or (letters.isalpha() and not any(c in _CURL_VALUED_LETTERS for c in letters)):
                method = rest or (args[i + 1] if i + 1 < len(args) else method)
    return method


def aws(inv: Invocation) -> Flow | None:
    """``aws s3 rm help`` only explains; ``ssm send-command`` runs shell code on the instances."""
    run = next((f for f in reversed(inv.walk.findings) if f.effect == "run" and f.program == inv.name), None)
    if run is None:
        return None
    if run.sub[-1:] == ["help"] and len(run.sub) <= 3:
        run.facts = run.facts | {"help"}
    if run.sub[:2] == ["ssm", "send-command"]:
        text = value_of(inv.args, "--parameters") or ""
        _, mark, code = text.partition("commands")
        if mark:
            _remote(inv, code.lstrip("\"' =:[").rstrip("\"' ]}"))
    return None


# Where a program's option or words are a shell command for another machine: subcommand path, then the option.
_SHELLS: dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = {
    "gcloud": ((("compute", "ssh"), ("--command",)), (("compute", "tpus", "tpu-vm", "ssh"), ("--command",))),
    "az": (
        (("vm", "run-command", "invoke"), ("--scripts",)),
        (("vmss", "run-command", "invoke"), ("--scripts",)),
        (("containerapp", "exec"), ("--command",)),
    ),
    "fly": ((("ssh", "console"), ("-C", "--command")), (("machine", "exec"), ())),
    "flyctl": ((("ssh", "console"), ("-C", "--command")), (("machine", "exec"), ())),
    "doctl": ((("compute", "ssh"), ("--ssh-command",)),),
    "heroku": ((("run",), ()), (("run:detached",), ())),
    "vagrant": ((("ssh",), ("-c", "--command")),),
    "eb": ((("ssh",), ("-c", "--command")),),
    "minikube": ((("ssh",), ()),),
    "docker-machine": ((("ssh",), ()),),
    "railway": ((("ssh",), ()),),
}


def shells(inv: Invocation) -> Flow | None:
    """heroku run, fly ssh console -C, gcloud compute ssh --command …: what they run on the other side."""
    if inv.name == "minikube" and inv.args[:1] == ["kubectl"]:
        return wrapper(inv)
    words = _command_words(inv.args, list(VALUED.get(inv.name, ())))
    for path, options in _SHELLS[inv.name]:
        if tuple(words[: len(path)]) != path:
            continue
        rest = words[len(path) :]
        if options:
            code = value_of(rest, *options)
        else:
            inner = _command_words(rest, list(VALUED.get(inv.name, ())))
            if inv.name == "docker-machine" or path[0] == "machine":
                inner = inner[1:]
            code = " ".join(inner)
        if code:
            _remote(inv, code)
        return None
    return None


def _remote(inv: Invocation, code: str) -> None:
    inv.code(code, inv.name, _elsewhere(inv, "remote"))


def wrapper(inv: Invocation) -> Flow | None:
    """k3s kubectl, microk8s kubectl, minikube kubectl --, microk8s.kubectl: kubectl under another name."""
    inner = inv.args
    if inv.name not in ("microk8s.kubectl", "microk8s.helm3", "microk8s.helm"):
        if inner[:1] not in (["kubectl"], ["helm"], ["helm3"], ["crictl"], ["ctr"]):
            return None
        name, inner = inner[0], inner[1:]
    else:
        name = inv.name.split(".")[1]
    if inner[:1] == ["--"]:
        inner = inner[1:]
    return inv.command([name.rstrip("3"), *inner], inv.name)


_ANSIBLE_SHELLS = ("command", "shell", "raw", "script", "win_shell", "win_command")


def ansible(inv: Invocation) -> Flow | None:
    """``ansible HOSTS -m shell -a CODE`` (the module is ``command`` when none is named)."""
    module = (value_of(inv.args, "-m", "--module-name") or "command").rsplit(".", 1)[-1]
    code = value_of(inv.args, "-a", "--args") or ""
    if module in _ANSIBLE_SHELLS and code:
        _remote(inv, code)
    elif module == "reboot":
        inv.add("power", facts=("reboot",))
    elif module == "file" and "state=absent" in code:
        for part in code.split():
            if part.startswith(("path=", "dest=", "name=")):
                inv.add("infrastructure", Target("remote", part.split("=", 1)[1]), facts=("state-absent",), detail=code)
    return None


def salt(inv: Invocation) -> Flow | None:
    """``salt TARGET cmd.run CODE``."""
    words = [w for w in inv.args if w[:1] != "-"]
    for i, word in enumerate(words):
        if word in ("cmd.run", "cmd.shell", "cmd.run_all", "cmd.run_stdout") and i + 1 < len(words):
            _remote(inv, words[i + 1])
            break
    return UNKNOWN_FLOW


def haproxy_socket(inv: Invocation) -> None:
    """Commands piped into HAProxy's runtime socket (socat, nc -U)."""
    text = inv.stdin.text if inv.stdin is not None else None
    if text is None or not any("haproxy" in a for a in inv.args):
        return
    for line in text.replace(";", "\n").split("\n"):
        words = line.split()
        out = words[:2] == ["set", "server"] and words[-1:] in (["maint"], ["drain"])
        if out or (words and words[0] in ("disable", "shutdown", "del", "clear")):
            target = Target("none", " ".join(words[1:]))
            inv.add("infrastructure", target, facts=("load-balancer",), detail=line.strip())


def bodies(args: list[str]) -> list[str]:
    """The request bodies on curl's command line."""
    return values_of(args, "-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json", "--data-urlencode")


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    "aws": aws, **dict.fromkeys(_SHELLS, shells), "k3s": wrapper, "microk8s": wrapper, "microk8s.kubectl": wrapper,
    "microk8s.helm": wrapper, "microk8s.helm3": wrapper, "rke2": wrapper, "k0s": wrapper, "ansible": ansible,
    "salt": salt, "salt-call": salt, "salt-ssh": salt,
}  # fmt: skip
