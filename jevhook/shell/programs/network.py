"""Programs that talk to other machines: what leaves, what comes in, who listens."""

from __future__ import annotations

from ..finding import ANY, Target
from ..walk import NO_FLOW, UNKNOWN_FLOW, Flow
from . import cloud
from .options import has, operands, value_of, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..walk import Invocation

_LOCAL_NAMES = ("localhost", "0.0.0.0", "::1", "[::1]", "host.docker.internal", "127.0.0.1", "ip6-localhost")
_SHELL_NAMES = ("sh", "bash", "zsh", "dash", "ksh", "cmd", "cmd.exe", "powershell", "powershell.exe", "ash", "pwsh")


def host_of(url: str) -> str:
    """The host of a URL, ``user@host:path`` or ``host:port``; "" when there is none."""
    text = url.strip()
    if "://" in text:
        text = text.split("://", 1)[1]
    text = text.split("/", 1)[0].split("?", 1)[0].split("#", 1)[0]
    text = text.rsplit("@", 1)[-1]
    if text.startswith("["):
        return text[1 : text.find("]")] if "]" in text else text[1:]
    return text.split(":", 1)[0]


def host_roles(host: str) -> tuple[str, ...]:
    """("local",) for this machine and private test names, ("disguised",) for look-alike letters."""
    low = host.lower().strip(".")
    if low in _LOCAL_NAMES or low.startswith("127.") or low.endswith((".localhost", ".local", ".test")):
        return ("local",)
    return ()


# What a cloud gives to anything that runs on its machines: identity documents and the machine's own credentials.
_METADATA = frozenset(
    (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "metadata.google.internal",
        "metadata.goog",
        "metadata",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "100.100.100.200",
        "192.0.0.192",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.platformequinix.com",
    )
)
_METADATA_KEYS = (
    "security-credentials",
    "service-accounts",
    "identity/oauth2",
    "ram/security",
    "/credentials",
    "user-data",
    "/token",
)
# Where a file that is sent is what the service is for: code, packages, reports, models, error logs.
_SERVICES = (
    "api.github.com",
    "uploads.github.com",
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "upload.pypi.org",
    "test.pypi.org",
    "registry.npmjs.org",
    "crates.io",
    "rubygems.org",
    "codecov.io",
    "coveralls.io",
    "sonarcloud.io",
    "sentry.io",
    "api.anthropic.com",
    "api.openai.com",
    "googleapis.com",
    "huggingface.co",
    "api.cloudflare.com",
    "api.vercel.com",
    "api.netlify.com",
    "api.heroku.com",
    "registry.hub.docker.com",
    "hub.docker.com",
    "ghcr.io",
    "quay.io",
    "api.deps.dev",
    "api.snyk.io",
    "circleci.com",
    "api.buildkite.com",
    "appcenter.ms",
)


def address(host: str) -> str:
    """A host in its plain form: 2852039166, 0xa9fea9fe and ::ffff:169.254.169.254 are one address."""
    low = host.lower().strip("[].")
    if low.startswith("::ffff:"):
        low = low[7:]
    number = -1
    if low.isdigit() and len(low) > 6:
        number = int(low)
    elif low.startswith("0x") and len(low) <= 10:
        try:
            number = int(low, 16)
        except ValueError:
            return low
    if 0 <= number < 1 << 32:
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    if low[:1] == "0" and low.count(".") == 3:
        try:
            return ".".join(
                str(int(p, 16 if p[:2] == "0x" else 8 if p[:1] == "0" and len(p) > 1 else 10)) for p in low.split(".")
            )
        except ValueError:
            return low
    return low


def metadata(inv: Invocation, url: str) -> None:
    """A cloud's metadata service is asked: what it says is the machine's own credentials."""
    host = address(host_of(url))
    if host in _METADATA and (host != "metadata" or "computeMetadata" in url):
        keys = any(mark in url.lower() for mark in _METADATA_KEYS)
        inv.add(
            "read-secret",
            Target("remote", host, ("secret",)),
            facts=("metadata", "keys") if keys else ("metadata",),
            detail=url,
        )


def _public_number(host: str) -> bool:
    """An IPv4 address outside the private ranges: a machine without a name."""
    parts = host.split(".")
    if len(parts) != 4 or not all(p.isdigit() for p in parts):
        return False
    return not (
        parts[0] in ("10", "127", "0")
        or host.startswith(("192.168.", "169.254."))
        or (parts[0] == "172" and 16 <= int(parts[1]) <= 31)
        or (parts[0] == "100" and 64 <= int(parts[1]) <= 127)
    )


def _service(host: str) -> bool:
    low = host.lower()
    return any(low == name or low.endswith("." + name) for name in _SERVICES)


def disguised(host: str) -> bool:
    """A host name that mixes ASCII letters with look-alikes from another script."""
    return any(ord(c) > 127 for c in host) and any(c.isascii() and c.isalpha() for c in host)


def remote_part(path: str) -> str:
    """The host when ``path`` is ``host:path`` or ``user@host:path`` (scp, rsync), else ""."""
    if path.startswith(("rsync://", "scp://", "sftp://")):
        return host_of(path)
    head, mark, _ = path.partition(":")
    if not mark or "/" in head or not head or (len(head) == 1 and head.isalpha()):
        return ""
    return head.rsplit("@", 1)[-1]


def send(
    inv: Invocation, host: str, *, path: str = "", facts: tuple[str, ...] = (), roles: tuple[str, ...] = ()
) -> None:
    """Local data leaves for ``host``; ``path`` is the file that goes, when it is one."""
    marks = set(facts)
    labels = set(host_roles(host_of(host))) | set(roles)
    carried = inv.taints | (inv.stdin.taints if inv.stdin is not None else frozenset())
    if path:
        target = inv.target(path)
        if "secret" in target.roles or "history" in target.roles or "gate" in target.roles:
            labels.add("secret")
        if target.kind in ("home", "root", "system") and "contents" not in target.roles:
            marks.add("wide")
        if target.kind in ("outside", "other-home", "mount", "system", "root"):
            marks.add("outside")
        elif target.kind in ("project-root", "project-parent") and _public_number(host_of(host)):
            marks.add("bare-address")
        if target.roles & {"system-config"} and target.path in (
            "/etc/passwd",
            "/etc/shadow",
            "/etc/sudoers",
            "/etc/hosts",
        ):
            labels.add("secret" if target.path != "/etc/hosts" else "system-config")
        marks.add("file")
    if carried & {"secret"}:
        labels.add("secret")
    if "environment" in carried:
        marks.add("environment")
    if "file" in carried and inv.stdin is not None:
        marks.add("file")
    if "encoded" in carried:
        marks.add("encoded")
    if disguised(host_of(host)):
        labels.add("disguised")
    if "upload" in marks and _service(host_of(host)):
        marks = marks - {"upload"} | {"service"}
    inv.add("send", Target("remote", host, labels), facts=tuple(marks), detail=path or host)


# Where widely used tools serve their own installer.  Running one straight from the network is still worth a person's
# look, but it is not the act of a stranger: it asks where everything else is denied.  "host/path" where the host
# serves other people's files too.
_INSTALLERS = (
    "sh.rustup.rs", "get.docker.com", "install.python-poetry.org", "astral.sh", "bun.sh", "deno.land", "get.pnpm.io", "deb.nodesource.com", "rpm.nodesource.com", "get.helm.sh", "starship.rs",
    "get.sdkman.io", "get.k3s.io", "ollama.com", "claude.ai", "get.volta.sh", "mise.run", "install.determinate.systems", "nixos.org", "get-ghcup.haskell.org", "get.haskellstack.org", "pyenv.run",
    "bootstrap.pypa.io", "apt.llvm.org", "packages.microsoft.com", "packages.gitlab.com", "cli.github.com", "sdk.cloud.google.com", "awscli.amazonaws.com", "fly.io", "get.opentofu.org", "ohmyposh.dev",
    "raw.githubusercontent.com/Homebrew/install/", "raw.githubusercontent.com/nvm-sh/nvm/", "raw.githubusercontent.com/helm/helm/", "raw.githubusercontent.com/ohmyzsh/ohmyzsh/", "raw.githubusercontent.com/rust-lang/",
    "raw.githubusercontent.com/kubernetes-sigs/", "raw.githubusercontent.com/k3d-io/k3d/", "raw.githubusercontent.com/golangci/golangci-lint/", "raw.githubusercontent.com/pyenv/pyenv-installer/", "raw.githubusercontent.com/aquasecurity/trivy/",
)  # fmt: skip


def fetched_from(urls: list[str], unchecked: bool) -> frozenset[str]:
    """The taints of what these URLs answer: a stranger's, unless each is a known installer over checked https."""
    for url in urls:
        if not url.startswith("https://") or unchecked:
            return frozenset(("network", "stranger"))
        rest = url[8:].split("?", 1)[0]
        host = rest.split("/", 1)[0]
        if not any(rest.startswith(known) if "/" in known else host == known for known in _INSTALLERS):
            return frozenset(("network", "stranger"))
    return frozenset(("network",)) if urls else frozenset(("network", "stranger"))


def _urls(words: list[str]) -> list[str]:
    return [
        w
        for w in words
        if "://" in w or ("." in w and "/" in w and not w.startswith((".", "/"))) or w.startswith(_LOCAL_NAMES)
    ]


_CURL_VALUED = (
    "-X",
    "-H",
    "-o",
    "-u",
    "-A",
    "-e",
    "-b",
    "-c",
    "-m",
    "-x",
    "-w",
    "-K",
    "-E",
    "-r",
    "-T",
    "-d",
    "-F",
    "-y",
    "-Y",
    "-z",
    "-C",
    "-D",
    "-U",
    "-t",
    "-Q",
    "-P",
    "-h",
    "--request",
    "--header",
    "--output",
    "--user",
    "--user-agent",
    "--referer",
    "--cookie",
    "--cookie-jar",
    "--max-time",
    "--proxy",
    "--write-out",
    "--config",
    "--cert",
    "--range",
    "--upload-file",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--data-ascii",
    "--form",
    "--form-string",
    "--json",
    "--connect-timeout",
    "--retry",
    "--retry-delay",
    "--cacert",
    "--key",
    "--resolve",
    "--url",
    "--limit-rate",
    "--max-redirs",
    "--output-dir",
    "--dump-header",
    "--interface",
    "--dns-servers",
    "--unix-socket",
    "--aws-sigv4",
    "--oauth2-bearer",
    "--capath",
    "--connect-to",
    "--retry-max-time",
    "--ciphers",
    "--proxy-user",
    "--noproxy",
    "--proto",
    "--proto-redir",
    "--proto-default",
    "--tls-max",
    "--engine",
    "--socks5",
    "--socks5-hostname",
    "--doh-url",
    "--keepalive-time",
    "--speed-limit",
    "--speed-time",
    "--time-cond",
    "--max-filesize",
    "--local-port",
    "--mail-from",
    "--mail-rcpt",
    "--ftp-port",
    "--krb",
    "--pinnedpubkey",
    "--crlfile",
    "--curves",
    "--hsts",
    "--alt-svc",
    "--preproxy",
    "--rate",
    "--quote",
    "--request-target",
    "--service-name",
    "--delegation",
    "--login-options",
    "--telnet-option",
    "--tlsuser",
    "--tlspassword",
    "--variable",
    "--expand-url",
    "--etag-save",
    "--etag-compare",
    "--create-file-mode",
    "--continue-at",
    "--parallel-max",
    "--libcurl",
    "--ip-tos",
    "--abstract-unix-socket",
    "--pass",
    "--cert-type",
    "--url-query",
    "--expect100-timeout",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--netrc-file",
)


def curl(inv: Invocation) -> Flow:
    args = _unbundled(inv.args)
    words = _curl_operands(args)
    urls = values_of(args, "--url") + words
    hosts = [host_of(u) for u in urls] or [ANY]
    if has(args, "-k", "--insecure", "--proxy-insecure"):
        inv.add("weaken", Target("remote", hosts[0], host_roles(hosts[0])), facts=("tls", "one-call"))
    for config in values_of(args, "-K", "--config"):
        if config == "-" and inv.stdin is not None and inv.stdin.text is not None:
            hosts += [
                host_of(line.split("=", 1)[1].strip(' "'))
                for line in inv.stdin.text.split("\n")
                if line.strip().startswith("url")
            ]
    cloud.http_call(inv, cloud.curl_method(args), urls, cloud.bodies(args), bool(values_of(args, "--unix-socket")))
    for url in urls:
        metadata(inv, url)
        if url[:9].lower() == "gopher://":
            send(inv, hosts[0], facts=("raw-bytes",))
    sent: list[tuple[str, str]] = []
    json_call = "--json" in args or any("json" in value.lower() for value in values_of(args, "-H", "--header"))
    for value in [
        *values_of(args, "-d", "--data", "--data-ascii", "--json"),
        *values_of(args, "--data-binary", "--data-urlencode"),
        *values_of(args, "-b", "--cookie"),
    ]:
        at = value.find("@")
        if value[:1] == "@":
            sent.append((value[1:], "data" if value[-5:] == ".json" else "file"))
        elif at > 0 and "=" not in value[:at] and value in values_of(args, "--data-urlencode"):
            sent.append((value[at + 1 :], "file"))
        elif value:
            sent.append(("", "text"))
    for value in values_of(args, "-F", "--form"):
        _, _, content = value.partition("=")
        if content[:1] in "@<":
            sent.append((content[1:].split(";")[0].strip('"'), "file"))
        else:
            sent.append(("", "text"))
    for value in values_of(args, "-T", "--upload-file"):
        sent.append((value, "file"))
    for value in values_of(args, "-H", "--header"):
        if value[:1] == "@":
            sent.append((value[1:], "file"))
    for path, kind in sent:
        if kind == "file" and path in ("-", "."):
            visible = inv.stdin is not None and inv.stdin.text is not None and not inv.stdin.taints
            send(inv, hosts[0], facts=("stdin",) if visible else ("stdin", "upload"))
        elif kind == "file" and path.startswith("/dev/fd/"):
            send(inv, hosts[0], facts=("file", "upload"))
        elif kind in ("file", "data"):
            # the body of an ordinary API call, written to a file first
            body = (
                (json_call or kind == "data")
                and path.endswith((".json", ".jsonl", ".ndjson"))
                and inv.target(path).kind in ("project", "build", "temp")
            )
            send(inv, hosts[0], path=path, facts=("body",) if body else ("upload",))
        elif inv.taints & {"secret", "file", "environment", "substitution"}:
            send(inv, hosts[0], facts=("data", *(("upload",) if "file" in inv.taints else ())))
    if not sent and inv.taints & {"secret"} and not _only_header(args):
        send(inv, hosts[0], facts=("url",))
    origin = fetched_from(urls, has(args, "-k", "--insecure"))
    for path in values_of(args, "-o", "--output"):
        if path != "-":
            target = inv.target(path)
            if target.kind != "null":
                inv.add("overwrite", target, facts=("download",))
            if target.path and "local" not in host_roles(hosts[0]):
                inv.walk.scripts[target.path + "\0taint"] = ",".join(sorted(origin))
            return NO_FLOW
    if has(args, "-O", "--remote-name", "--remote-name-all") and urls:
        name = urls[0].split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        inv.walk.scripts[inv.target(name).path + "\0taint"] = ",".join(sorted(origin))
        return NO_FLOW
    if any(u.startswith("file:") for u in urls):
        from .readers import read_paths

        return read_paths(inv, [u.split("://", 1)[1] for u in urls if u.startswith("file://")])
    if all("local" in host_roles(h) for h in hosts):
        return Flow(None, frozenset(("local-network",)))
    if any(disguised(h) for h in hosts):
        inv.add(
            "run",
            Target("remote", hosts[0], ("disguised",)),
            facts=("disguised",),
            detail=f"{hosts[0]} is written with look-alike letters",
        )
    return Flow(None, origin)


def _unbundled(args: list[str]) -> list[str]:
    """curl's bundles taken apart: -sSLo FILE is -s -S -L -o FILE, -XPOST is -X POST."""
    out: list[str] = []
    skip = False
    for i, arg in enumerate(args):
        if skip or arg[:1] != "-" or arg[1:2] in ("-", "") or len(arg) == 2:
            out.append(arg)
            skip = not skip and arg in _CURL_VALUED
            continue
        for k, c in enumerate(arg[1:], 1):
            out.append("-" + c)
            if "-" + c in _CURL_VALUED:
                if k < len(arg) - 1:
                    out.append(arg[k + 1 :])
                else:
                    skip = i + 1 < len(args)
                break
    return out


def _curl_operands(args: list[str]) -> list[str]:
    """curl's URLs: short options may be bundled with one that takes a value (-fsSLo FILE)."""
    words: list[str] = []
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        i += 1
        if arg == "--":
            return words + args[i:]
        if arg[:1] != "-" or len(arg) == 1:
            words.append(arg)
        elif arg in _CURL_VALUED:
            i += 1
        elif arg[1] != "-":
            for k, c in enumerate(arg[1:], 1):
                if "-" + c in _CURL_VALUED:
                    if k == len(arg) - 1:
                        i += 1
                    break
    return words


def _only_header(args: list[str]) -> bool:
    """Whether a secret only stands where a service expects it: a header or a user option."""
    for i, arg in enumerate(args):
        if "://" in arg and ANY in arg and (i == 0 or args[i - 1] not in ("-H", "--header", "-u", "--user")):
            return False
    return True


def wget(inv: Invocation) -> Flow:
    args = inv.args
    words = operands(
        args,
        "-O",
        "-o",
        "-P",
        "-U",
        "-e",
        "-t",
        "-T",
        "-w",
        "-Q",
        "-A",
        "-R",
        "-D",
        "-I",
        "-X",
        "-l",
        "-a",
        "-i",
        "--output-document",
        "--directory-prefix",
        "--user-agent",
        "--header",
        "--tries",
        "--timeout",
        "--post-data",
        "--post-file",
        "--body-file",
        "--body-data",
        "--method",
        "--user",
        "--password",
    )
    host = host_of(words[0]) if words else ANY
    for word in words:
        metadata(inv, word)
    if has(args, "--no-check-certificate"):
        inv.add("weaken", Target("remote", host, host_roles(host)), facts=("tls", "one-call"))
    for path in values_of(args, "--post-file", "--body-file"):
        send(inv, host, path=path, facts=("upload",))
    if any(a.startswith(("--post-data", "--body-data")) for a in args) and inv.taints & {
        "secret",
        "file",
        "substitution",
    }:
        send(inv, host, facts=("data", *(("upload",) if "file" in inv.taints else ())))
    elif inv.taints & {"secret"}:
        send(inv, host, facts=("url",))
    cloud.http_call(inv, value_of(args, "--method") or "", words[:1], values_of(args, "--post-data", "--body-data"))
    code = value_of(args, "--use-askpass")
    if code:
        inv.code(code, "wget --use-askpass")
    out = value_of(args, "-O", "--output-document")
    bundled = next((a for a in args if a[:1] == "-" and a[1:2] != "-" and "O" in a and a != "-O"), "")
    if out is None and bundled:
        rest = bundled[bundled.index("O") + 1 :]
        at = args.index(bundled)
        out = rest or (args[at + 1] if at + 1 < len(args) else None)
        words = [w for w in words if w != out] if not rest else words
        host = host_of(words[0]) if words else host
    origin = fetched_from(words, has(args, "--no-check-certificate"))
    if out == "-" or out == "/dev/stdout":
        return Flow(None, frozenset(("local-network",)) if "local" in host_roles(host) else origin)
    if out:
        target = inv.target(out)
        if target.kind != "null":
            inv.add("overwrite", target, facts=("download",))
        inv.walk.scripts[target.path + "\0taint"] = ",".join(sorted(origin))
    elif words:
        name = words[0].split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        inv.walk.scripts[inv.target(name).path + "\0taint"] = ",".join(sorted(origin))
    return NO_FLOW


def fetcher(inv: Invocation) -> Flow:
    """httpie, aria2c, lynx, xh: enough of them to know that what they print came from outside."""
    words = operands(inv.args, "-o", "-d", "-a", "--auth", "--output")
    for word in words:
        metadata(inv, word)
    if inv.name in ("http", "https", "xh", "httpie"):
        host = next((host_of(w) for w in words if "." in w or "localhost" in w or w.startswith(":")), "")
        cloud.http_call(
            inv,
            words[0] if words and words[0].isalpha() else "",
            [w for w in words[:2] if not w.isalpha() or w == "localhost"],
            [],
        )
        for word in words:
            if (
                ("@" in word and not word.startswith("http") and "=" not in word.split("@")[0] and "://" not in word)
                or ":=@" in word
                or "=@" in word
            ):
                send(inv, host, path=word.split("@", 1)[1], facts=("upload",))
        if inv.stdin is not None and inv.stdin.taints & {"file", "secret"}:
            send(inv, host, facts=("stdin",))
    return Flow(None, frozenset(("network", "stranger")))


def netcat(inv: Invocation) -> Flow:
    cloud.haproxy_socket(inv)
    args = inv.args
    program = value_of(args, "-e", "-c", "--exec", "--sh-exec", "--lua-exec")
    words = operands(args, "-e", "-c", "-p", "-s", "-w", "-q", "-x", "-X", "-i", "--exec", "--sh-exec")
    listening = has(args, "-l", "--listen")
    host = words[0] if words and not listening else ""
    if program is not None:
        if listening:
            inv.add("listen", Target("none"), facts=("shell",), detail="a shell for whoever connects")
        inv.add("reverse-shell", Target("remote", host), detail=f"{inv.name} -e {program}")
        return UNKNOWN_FLOW
    if has(args, "-z"):
        return UNKNOWN_FLOW
    if host:
        metadata(inv, host)
    if fed_by_shell(inv):
        inv.add(
            "reverse-shell", Target("remote", host), facts=("pipe",), detail=f"a shell's output goes into {inv.name}"
        )
        return Flow(None, frozenset(("network", "stranger", "socket")))
    if listening:
        if inv.stdin is not None and inv.stdin.taints & {"file", "secret"}:
            send(inv, "whoever connects", facts=("listen", "upload"))
        inv.add("listen", Target("none"), facts=("pipe-in",) if inv.stdin is not None else ())
    elif inv.stdin is not None and inv.stdin.text is not None and _flushes(inv.stdin.text):
        from .databases import effect

        local = ("local",) if "local" in host_roles(host) else ()
        effect(inv, "flush", f"all on {host}", extra=("redis", *local))
    elif inv.stdin is not None and (inv.stdin.taints & {"file", "secret", "environment"} or inv.stdin.text is None):
        send(inv, host, facts=("stdin", "upload") if inv.stdin.taints & {"file", "secret"} else ("stdin",))
    return Flow(None, frozenset(("network", "stranger", "socket")))


def _flushes(text: str) -> bool:
    """Redis and memcached take their commands as plain lines."""
    return any(
        line.split()[:1] and line.split()[0].lower() in ("flushall", "flushdb", "flush_all")
        for line in text.split("\n")
    )


def fed_by_shell(inv: Invocation) -> bool:
    """Whether an interactive shell is the command in front of this one's pipe."""
    if inv.stdin is None:
        return False
    text = inv.walk.text
    for finding in reversed(inv.walk.findings):
        if finding.end > inv.start or finding.start >= inv.start:
            continue
        if finding.effect == "run" and finding.program in _SHELL_NAMES and "-i" in finding.flags:
            return text[finding.end : inv.start].strip(" \t\n&") == "|"
    return False


def shell_on_socket(inv: Invocation) -> None:
    """``bash >& /dev/tcp/…``: the shell's own input and output are a connection."""
    words = [inv.name, *inv.args]
    if any(w.rsplit("/", 1)[-1] in _SHELL_NAMES for w in words[:3]):
        inv.add("reverse-shell", Target("remote", next((p for _, p in inv.files if p.startswith("/dev/")), "")))
    elif inv.taints & {"secret", "file"} or (inv.stdin is not None and inv.stdin.taints & {"secret", "file"}):
        host = next((p.split("/")[3] for _, p in inv.files if p.startswith("/dev/") and p.count("/") >= 3), "")
        send(inv, host, facts=("dev-tcp", "upload"))


def socat(inv: Invocation) -> Flow:
    cloud.haproxy_socket(inv)
    text = " ".join(inv.args)
    low = text.lower()
    connects = any(
        low_part.startswith(("tcp:", "tcp4:", "tcp6:", "tcp-connect:", "udp:", "openssl:", "ssl:", "udp4:", "sctp:"))
        for low_part in low.split()
    )
    listens = "-listen:" in low or "-l:" in low or "listen" in low
    runs = "exec:" in low or "system:" in low or "shell:" in low
    if runs and (connects or listens):
        inv.add(
            "reverse-shell" if connects else "listen",
            Target("remote", text),
            facts=("shell",),
            detail="socat with a shell",
        )
        if not connects:
            inv.add("reverse-shell", Target("remote", text), facts=("listen",))
    elif runs:
        at = max(low.find("exec:"), low.find("system:"))
        inv.code(text[at:].split(":", 1)[1].split(",")[0].strip("'\""), "socat")
    elif connects and any(p.startswith(("file:", "open:", "gopen:", "-u")) for p in low.split()):
        path = next(
            (p.split(":", 1)[1].split(",")[0] for p in inv.args if p.lower().startswith(("file:", "open:", "gopen:"))),
            "",
        )
        send(inv, text, path=path, facts=("upload",))
    elif connects and inv.stdin is not None:
        send(inv, text, facts=("stdin",))
    elif listens:
        inv.add("listen", Target("none"))
    return UNKNOWN_FLOW


def telnet(inv: Invocation) -> Flow:
    host = operands(inv.args)[0] if operands(inv.args) else ""
    if host and fed_by_shell(inv):
        inv.add("reverse-shell", Target("remote", host), facts=("pipe",), detail="a shell's output goes into telnet")
    if host and inv.stdin is not None and inv.stdin.taints & {"file", "secret"}:
        send(inv, host, facts=("stdin", "upload"))
    return Flow(None, frozenset(("network", "stranger", "socket"))) if host else UNKNOWN_FLOW


def dns(inv: Invocation) -> Flow:
    """dig, nslookup, host: a name that carries data is a way out."""
    if inv.taints & {"secret", "encoded"} or (inv.stdin is not None and inv.stdin.taints & {"secret"}):
        send(inv, next((w for w in inv.args if "." in w), ""), facts=("dns", "upload"))
    return Flow(None, frozenset(("network", "stranger")))


def scp(inv: Invocation) -> Flow:
    ssh_options(inv)
    paths = operands(inv.args, "-c", "-F", "-i", "-J", "-l", "-o", "-P", "-S", "-D", "-X", "-b")
    program = value_of(inv.args, "-S") or (value_of(inv.args, "-D") if inv.name == "sftp" else None)
    if program:
        inv.code(program, inv.name)
    if inv.name == "sftp":
        batch = value_of(inv.args, "-b")
        if batch and batch != "-":
            known = inv.walk.scripts.get(inv.target(batch).path, "")
            _client_lines(inv, paths[0] if paths else "", known)
        _client_lines(inv, paths[0] if paths else "", typed(inv))
        return UNKNOWN_FLOW
    if len(paths) < 2:
        return UNKNOWN_FLOW
    into = paths.pop()
    host = remote_part(into)
    for path in paths:
        if host and not remote_part(path):
            send(inv, host, path=path, facts=("copy",))
    if host:
        _into_system(inv, into)
    if not host:
        inv.add("overwrite", inv.target(into), facts=("download",))
    return NO_FLOW


_SYSTEM_TOPS = (
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/boot",
    "/etc",
    "/usr",
    "/var/lib",
    "/var/spool",
    "/root/.ssh",
    "/System",
    "/Library",
)


def _into_system(inv: Invocation, into: str) -> None:
    """A copy that lands in another host's own directories."""
    path = into.partition(":")[2] if "://" not in into else "/" + into.split("://", 1)[1].partition("/")[2]
    bare = path.rstrip("/")
    if (path[:1] == "/" and not bare) or (
        path[:1] == "/"
        and any(bare == top or bare.startswith(top + "/") for top in _SYSTEM_TOPS)
        and "/share/" not in path
        and "/www" not in path
    ):
        inv.add("write", Target("remote", into, ("system-config",)), facts=("copy", "into-system"), detail=into)


def typed(inv: Invocation) -> str:
    """What an interactive client is told: its standard input, else the lines behind it (a terminal that stays open)."""
    if inv.stdin is not None:
        return inv.stdin.text or ""
    text = inv.walk.text
    rest = text[inv.end : inv.end + 4000]
    if rest.lstrip(" \t")[:1] == "\n":
        return rest
    at = text.find(inv.path + "\n", inv.start)  # a line that could not be read whole has no exact places
    return text[at + len(inv.path) : at + 4000] if at >= 0 and not inv.args else ""


def _client_lines(inv: Invocation, host: str, text: str) -> None:
    """Lines for ftp, sftp, tftp, lftp, smbclient: what is put on the other side."""
    for line in text.replace(";", "\n").split("\n"):
        parts = line.split()
        if len(parts) > 1 and parts[0] in ("put", "mput", "send", "append", "reput"):
            path = next((w for w in parts[1:] if w[:1] != "-"), "")
            send(inv, host, path=path, facts=("upload",))
        elif parts[:1] == ["mirror"] and ("-R" in parts or "--reverse" in parts):
            send(inv, host, path=next((w for w in parts[1:] if w[:1] != "-"), "."), facts=("upload",))
        elif parts[:1] and parts[0][:1] == "!" and len(line.strip()) > 1:
            inv.code(line.strip()[1:], inv.name)


def ssh_options(inv: Invocation) -> None:
    for option in values_of(inv.args, "-o"):
        mark = "=" if "=" in option.split(" ", 1)[0] else " "  # "Key=a b" and "Key a=b"
        key, _, value = option.partition(mark)
        value = value.strip(" =")
        low = key.strip().lower()
        if low in ("proxycommand", "localcommand", "knownhostscommand") and value.lower() not in ("none",):
            inv.code(value, f"ssh -o {key}")
        elif low in ("pkcs11provider", "securitykeyprovider") and value.lower() not in ("none", "internal"):
            inv.add("run-unknown", inv.target(value), facts=("preload",), sure="likely", detail=option)
        elif low == "stricthostkeychecking" and value.lower() in ("no", "off"):
            inv.add("weaken", facts=("host-key", "one-call"), detail=option)
    if has(inv.args, "-R") or has(inv.args, "-D"):
        words = operands(
            inv.args, "-R", "-D", "-L", "-o", "-i", "-p", "-l", "-F", "-J", "-W", "-b", "-c", "-E", "-m", "-S", "-w"
        )
        host = words[0] if words else ""
        host = host[host.rfind("@") + 1 :]
        near = "local" in host_roles(host) or (host.replace(".", "").isdigit() and not _public_number(host))
        reverse = ("reverse",) if has(inv.args, "-R") and host and ANY not in host and not near else ()
        inv.add(
            "listen", Target("remote", host), facts=("tunnel", *reverse), sure="likely", detail=f"ssh -R {host}".strip()
        )


def mail(inv: Invocation) -> Flow:
    carried = inv.stdin.taints if inv.stdin is not None else frozenset()
    attached = values_of(inv.args, "-a", "-A", "--attach")
    for path in attached:
        send(inv, "mail", path=path, facts=("mail", "upload"))
    if carried & {"secret", "file"} or inv.taints & {"secret"}:
        send(inv, "mail", facts=("mail", "stdin", "upload"))
    elif not attached:
        inv.add("send", Target("remote", "mail"), facts=("mail",), sure="likely")
    return NO_FLOW


def openssl(inv: Invocation) -> Flow:
    args = inv.args
    verb = args[0] if args else ""
    if verb == "s_client":
        if fed_by_shell(inv):
            inv.add(
                "reverse-shell",
                Target("remote", value_of(args, "-connect") or ""),
                facts=("pipe",),
                detail="a shell's output goes into openssl",
            )
        if inv.stdin is not None and inv.stdin.taints & {"secret", "file"}:
            send(inv, value_of(args, "-connect") or "", facts=("stdin", "upload"))
        return Flow(None, frozenset(("network", "stranger", "socket")))
    if verb in ("enc", "base64") or verb.startswith("aes"):
        source = value_of(args, "-in")
        from .readers import decoded_text, read_paths

        flow = read_paths(inv, [source]) if source else (inv.stdin or UNKNOWN_FLOW)
        if "-d" in args:
            text = decoded_text(flow.text, "openssl") if "-base64" in args or "-a" in args or verb == "base64" else None
            return Flow(text, flow.taints | {"decoded"})
        return Flow(None, flow.taints | {"encoded"})
    return UNKNOWN_FLOW


def ftp(inv: Invocation) -> Flow:
    args = inv.args
    words = operands(args, "-e", "-c", "-f", "-p", "-u", "-P", "-m", "-l", "-r")
    host = words[0] if words else ""
    code = value_of(args, "-e", "-c")
    if inv.name == "tftp" and code == "put":
        send(inv, host, path=next((a for a in args[args.index("put") + 1 :] if a[:1] != "-"), ""), facts=("upload",))
    elif inv.name == "tftp" and "put" in args:
        send(inv, host, path=args[-1], facts=("upload",))
    elif inv.name == "ftpput" or (inv.name == "tftp" and has(args, "-p")):
        path = value_of(args, "-l") or words[-1] if words else ""
        send(inv, host, path=path, facts=("upload",))
    elif inv.name in ("ncftpput", "cadaver", "curlftpfs"):
        for path in words[2:] if inv.name == "ncftpput" else []:
            send(inv, host, path=path, facts=("upload",))
    elif inv.name == "ftp" and value_of(args, "-u") and words:
        for path in words:
            send(inv, value_of(args, "-u") or "", path=path, facts=("upload",))
    else:
        _client_lines(inv, host, code or "")
        _client_lines(inv, host, typed(inv))
    return UNKNOWN_FLOW


def smbclient(inv: Invocation) -> Flow:
    args = inv.args
    words = operands(args, "-U", "-c", "-W", "-p", "-I", "-D", "-A", "-T", "-n", "-k", "--user", "--command")
    host = words[0].replace("\\", "/").strip("/").split("/")[0] if words else ""
    _client_lines(inv, host, value_of(args, "-c", "--command") or "")
    _client_lines(inv, host, typed(inv))
    mode = value_of(args, "-T") or ""
    if mode.startswith("x"):
        send(inv, host, path=words[-1], facts=("upload",))
    return UNKNOWN_FLOW


def odd_port(inv: Invocation) -> Flow:
    """rlogin, cancel, hping3 …: clients whose own words can carry data to a port of someone's choosing."""
    args = inv.args
    words = operands(args, "-p", "-l", "-h", "-u", "-d", "--data", "--sign", "--file", "-E", "-e", "-c", "-i")
    if inv.name == "hping3":
        path = value_of(args, "--file", "-E")
        if path:
            send(inv, words[0] if words else "", path=path, facts=("upload",))
    elif inv.name == "rlogin":
        port = value_of(args, "-p")
        if port and port != "513":
            send(inv, words[0] if words else "", facts=("odd-port",))
    elif inv.name == "cancel":
        server = value_of(args, "-h") or ""
        if ":" in server and not server.endswith(":631"):
            send(inv, server, facts=("odd-port",))
    return UNKNOWN_FLOW


def remote_mount(inv: Invocation) -> Flow:
    """sshfs and kin: what is copied into the mount point later on goes to that host."""
    words = operands(inv.args, "-o", "-p", "-F")
    if len(words) > 1:
        path = inv.target(words[1]).path
        if path[:1] == "/" and path != "/":
            inv.walk.mounts[path] = remote_part(words[0]) or words[0]
    return UNKNOWN_FLOW


def printer(inv: Invocation) -> Flow:
    """lp, lpr with a print server on the command line: the file goes to that host."""
    server = value_of(inv.args, "-h" if inv.name == "lp" else "-H")
    for path in operands(inv.args, "-h", "-H", "-d", "-P", "-n", "-o", "-t", "-U", "-q", "-i", "-#", "-C", "-J", "-T"):
        if server:
            send(inv, server, path=path, facts=("copy",))
    return UNKNOWN_FLOW


def restic(inv: Invocation) -> Flow:
    """A backup into a repository that is named on the line by its host; a configured one is the person's own."""
    args = inv.args
    words = operands(
        args,
        "-r",
        "--repo",
        "--repository-file",
        "-p",
        "--password-file",
        "--password-command",
        "--tag",
        "--host",
        "-H",
        "--exclude",
        "-e",
        "--exclude-file",
        "--files-from",
        "-o",
        "--option",
        "--cache-dir",
        "--limit-upload",
        "--limit-download",
    )
    command = value_of(args, "--password-command")
    if command:
        inv.code(command, "restic --password-command")
    repo = value_of(args, "-r", "--repo") or inv.env.get("RESTIC_REPOSITORY", "")
    if words[:1] == ["backup"] and repo.startswith("rest:"):
        for path in words[1:]:
            send(inv, host_of(repo[5:]), path=path, facts=("copy",))
    return UNKNOWN_FLOW


def socket_program(inv: Invocation) -> Flow:
    """socket(1): ``-p PROGRAM`` runs it on the connection, ``-s`` waits for one."""
    words = operands(inv.args, "-p", "-B", "-U", "-S")
    bundled = next((i for i, a in enumerate(inv.args) if a[:1] == "-" and a[1:2] != "-" and "p" in a), -1)
    if bundled >= 0 and bundled + 1 < len(inv.args):
        serving = any("s" in a for a in inv.args if a[:1] == "-" and a[1:2] != "-")
        if serving:
            inv.add("listen", Target("none"), facts=("shell",), detail="a program for whoever connects")
        inv.add(
            "reverse-shell",
            Target("remote", words[0] if words and not serving else ""),
            facts=("listen",) if serving else (),
            detail=f"socket -p {inv.args[bundled + 1]}",
        )
    return Flow(None, frozenset(("network", "stranger", "socket")))


_STARTS = (
    "/bin/sh",
    "/bin/bash",
    "cmd.exe",
    "powershell",
    "processbuilder",
    "runtime.getruntime",
    "exec $",
    "exec ",
    "syscall.exec",
    "os/exec",
    "exec.command",
    "run(",
    "spawn(",
    "system(",
    "popen",
    "readpipe",
)
_SOCKETS = (
    "java.net.socket",
    "serversocket",
    "net.dial",
    "net.listen",
    "syscall.socket",
    "socket(",
    "tcpsocket",
    "socket ",
    'connect("',
    "connect('",
    "gen_tcp",
    "tcpclient",
    "tcplistener",
    "listen(",
)


def foreign(inv: Invocation) -> Flow | None:
    """Languages that nothing here reads: code in which a socket and a started program stand side by side."""
    code = value_of(inv.args, "-e", "-eval", "--eval", "-E", "-c", "-f", "-r") or ""
    if not code and inv.name in ("go", "rust-script", "swift", "kotlinc", "java", "dart", "crystal", "nim", "zig"):
        words = operands(inv.args)
        words = words[1:] if words[:1] in (["run"], ["r"]) else words
        if words and words[0].endswith((".go", ".rs", ".swift", ".kts", ".java", ".dart", ".cr", ".nim", ".zig")):
            path = inv.target(words[0]).path
            code = inv.walk.scripts.get(path) or ("" if inv.scope.where else inv.walk.world.text(path, 1 << 17)) or ""
        else:
            return None
    if not code and not operands(inv.args):
        code = typed(inv)
    low = code[:20000].lower()
    if any(mark in low for mark in _SOCKETS) and any(mark in low for mark in _STARTS):
        inv.add(
            "reverse-shell",
            Target("remote", ""),
            sure="likely",
            facts=("code",),
            detail=f"{inv.name} code that joins a socket to a program",
        )
    return None


def whois(inv: Invocation) -> Flow:
    """whois and finger can carry a file's text to a port of someone's choice."""
    if inv.taints & {"file", "secret", "substitution"} or (
        inv.stdin is not None and inv.stdin.taints & {"file", "secret"}
    ):
        send(inv, value_of(inv.args, "-h") or "", facts=("upload",))
    elif inv.name == "finger":
        for word in operands(inv.args):
            if "@" in word and word.rsplit("@", 1)[1]:
                send(inv, word.rsplit("@", 1)[1], facts=("odd-port",))
    elif inv.name == "whois" and (value_of(inv.args, "-p", "--port") or "43") != "43":
        send(inv, value_of(inv.args, "-h", "--host") or "", facts=("odd-port",))
    return Flow(None, frozenset(("network", "stranger")))


def uploader(inv: Invocation) -> Flow | None:
    """Programs made to hand files to other people."""
    args = inv.args
    words = operands(args)
    if inv.name in ("croc", "magic-wormhole", "wormhole", "transfer", "ffsend"):
        for path in words[1:] if words[:1] in (["send"], ["upload"]) else []:
            send(inv, inv.name, path=path, facts=("upload",))
    elif inv.name in (
        "ngrok",
        "localtunnel",
        "lt",
        "cloudflared",
        "bore",
        "frpc",
        "serveo",
        "pinggy",
        "zrok",
        "playit",
        "rathole",
        "chisel",
        "devtunnel",
    ):
        opens = {
            "ngrok": words[:1] in (["http"], ["tcp"], ["tls"], ["start"]),
            "cloudflared": words[:1] == ["tunnel"] and (words[1:2] == ["run"] or has(args, "--url", "--hello-world")),
            "bore": words[:1] == ["local"],
            "zrok": words[:2] == ["share", "public"],
            "devtunnel": words[:1] == ["host"],
            "lt": has(args, "-p", "--port"),
            "localtunnel": has(args, "-p", "--port"),
        }.get(inv.name, True)
        if inv.name in ("chisel", "frpc", "rathole"):
            inv.add("listen", Target("remote"), facts=("tunnel",), sure="likely", detail=inv.name)
        elif opens and not has(args, "-h", "--help", "--version"):
            inv.add("listen", Target("remote"), facts=("tunnel", "public"), sure="likely", detail=inv.name)
    elif inv.name == "tailscale":
        if words[:1] == ["funnel"] and words[1:2] not in (["status"], ["reset"], ["off"]):
            inv.add("listen", Target("remote"), facts=("tunnel",), sure="likely", detail="tailscale funnel")
        if words[:1] in (["serve"], ["funnel"]):
            for path in words[1:]:
                if path[:1] in "/.~" and not path.startswith("/proxy"):
                    send(inv, "the tailnet", path=path, facts=("upload",))
        elif words[:2] == ["file", "cp"] and len(words) > 3:
            for path in words[2:-1]:
                send(inv, words[-1].rstrip(":"), path=path, facts=("copy",))
    elif inv.name == "gist" or inv.name == "pastebinit":
        for path in words:
            send(inv, inv.name, path=path, facts=("upload", "public"))
        if inv.stdin is not None:
            send(inv, inv.name, facts=("stdin", "upload", "public"))
    elif inv.name == "ab":
        for path in values_of(args, "-p", "-u"):
            send(inv, host_of(words[-1]) if words else "", path=path, facts=("upload",))
    return None


def rclone(inv: Invocation) -> Flow:
    words = operands(inv.args, "--config", "--include", "--exclude", "--filter", "--transfers", "--bwlimit")
    verb = words[0] if words else ""
    if has(inv.args, "-n", "--dry-run"):
        return UNKNOWN_FLOW
    if verb in ("copy", "sync", "move", "copyto", "moveto", "rcat") and len(words) >= 3:
        if ":" in words[2] and ":" not in words[1]:
            # a configured remote is the person's own place; one written out on the line (":sftp,host=…:") is not
            target = inv.target(words[1])
            send(
                inv,
                words[2],
                path=words[1] if "secret" in target.roles or words[2][:1] == ":" else "",
                facts=("upload",) if words[2][:1] == ":" else ("copy",),
            )
        if verb == "sync":
            inv.add(
                "delete",
                Target("remote" if ":" in words[2] else inv.target(words[2]).kind, words[2]),
                facts=("recursive", "mirror"),
            )
        if verb in ("move", "moveto") and ":" not in words[1]:
            inv.add("delete", inv.target(words[1]), facts=("recursive", "after-copy"))
    elif verb in ("purge", "delete", "deletefile", "rmdirs") and len(words) >= 2:
        inv.add("delete", Target("remote", words[1]), facts=("recursive", "force"))
    return UNKNOWN_FLOW


def raw_socket(inv: Invocation) -> Flow:
    """zsh's ztcp, ksh's and gawk's kin: a connection held as a file descriptor, for whatever is redirected to it."""
    words = operands(inv.args, "-d")
    listening = has(inv.args, "-l")
    if not has(inv.args, "-L", "-c"):
        inv.add(
            "listen" if listening else "send",
            Target("remote", words[0] if words and not listening else ""),
            facts=("raw-bytes",),
        )
    return UNKNOWN_FLOW


def server(inv: Invocation) -> Flow | None:
    inv.add("listen", Target("none"), facts=("file-server",), sure="likely")
    return None


READERS: dict[str, Callable[[Invocation], Flow | None]] = {
    "curl": curl, "curl.exe": curl, "wget": wget, "wget2": wget, "http": fetcher, "https": fetcher, "xh": fetcher, "httpie": fetcher, "aria2c": fetcher, "lynx": fetcher,
    "fetch": fetcher, "axel": fetcher, "w3m": fetcher, "links": fetcher, "lwp-download": fetcher, "lwp-request": fetcher, "GET": fetcher, "nc": netcat, "ncat": netcat, "netcat": netcat,
    "nc.traditional": netcat, "nc.openbsd": netcat, "socat": socat, "telnet": telnet, "dig": dns, "nslookup": dns, "host": dns, "drill": dns, "resolvectl": dns, "ping": dns,
    "scp": scp, "sftp": scp, "mail": mail, "mailx": mail, "mutt": mail, "sendmail": mail, "msmtp": mail, "swaks": mail, "openssl": openssl, "ftp": ftp, "lftp": ftp, "tftp": ftp,
    "whois": whois, "finger": whois, "croc": uploader, "wormhole": uploader, "transfer": uploader, "ngrok": uploader, "lt": uploader, "localtunnel": uploader, "cloudflared": uploader,
    "bore": uploader, "gist": uploader, "pastebinit": uploader, "ab": uploader, "ffsend": uploader, "rclone": rclone, "magic-wormhole": uploader,
    "frpc": uploader, "zrok": uploader, "chisel": uploader, "devtunnel": uploader, "pinggy": uploader, "tailscale": uploader, "restic": restic, "smbclient": smbclient,
    "ncftpput": ftp, "ftpput": ftp, "socket": socket_program, "ztcp": raw_socket, "rlogin": odd_port, "cancel": odd_port, "hping3": odd_port, "lp": printer, "sshfs": remote_mount, "curlftpfs": remote_mount, "s3fs": remote_mount, "gcsfuse": remote_mount, "davfs2": remote_mount, "lpr": printer,
    "tclsh": foreign, "wish": foreign, "jrunscript": foreign, "jjs": foreign, "groovy": foreign, "scala": foreign, "elixir": foreign,
    "erl": foreign, "go": foreign, "swift": foreign, "jshell": foreign, "guile": foreign, "racket": foreign, "clojure": foreign, "octave": foreign, "ghc": foreign, "runghc": foreign,
    "rust-script": foreign, "java": foreign, "dart": foreign, "crystal": foreign, "ocaml": foreign,
}  # fmt: skip
