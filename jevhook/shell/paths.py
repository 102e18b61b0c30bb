"""What a path is to the person at this machine: root, home, the project, a cache, a secret, the gate itself.

``classify`` is pure but for the looks that ``World`` allows.  Paths may hold the sentinels of ``finding.py``.
"""

from __future__ import annotations

from posixpath import dirname, normpath

from .finding import ANY, NAME, QMARK, STAR, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .world import World

BUILD = frozenset(
    (
        "node_modules", "dist", "build", "out", "target", "__pycache__", ".venv", "venv", ".pytest_cache", ".mypy_cache",
        ".ruff_cache", ".tox", ".nox", "coverage", "htmlcov", ".coverage", ".nyc_output", ".next", ".nuxt", ".output",
        ".turbo", ".parcel-cache", ".cache", ".gradle", ".dart_tool", ".svelte-kit", ".angular", "deriveddata", "pods",
        ".terraform", ".eggs", ".ipynb_checkpoints", "storybook-static", ".serverless", ".aws-sam", "_build", ".build",
        "bower_components", ".sass-cache", ".vite", ".rollup.cache", ".webpack", ".hypothesis", "cmake-build-debug",
        "cmake-build-release", "bazel-bin", "bazel-out", ".docusaurus", ".astro", ".vercel", ".netlify", ".expo", "obj",
        "tmp", "temp", ".tmp", ".temp", "logs", "_site", "site-packages", ".stack-work", "dist-newstyle", "elm-stuff",
        "zig-cache", ".zig-cache", "zig-out", "test-results", "playwright-report", "lcov-report", ".eslintcache",
        ".stylelintcache", ".tsbuildinfo", ".ds_store", "thumbs.db", ".swc", ".bundle", "generated", ".generated",
        "artifacts", "release", "debug", "lib-cov", "es", "esm", "cjs", "umd", "types-dist", "build-output", "intermediates",
        "wheelhouse", "pip-wheel-metadata", ".jest-cache", "jest-cache", "npm-debug.log", "yarn-error.log", "nohup.out",
    )
)  # fmt: skip
BUILD_ENDINGS = (
    ".pyc", ".pyo", ".o", ".obj", ".log", ".tmp", ".class", ".egg-info", ".tsbuildinfo", ".swp", ".swo", ".cache",
    ".gcda", ".gcno", ".lcov", ".pid", ".map", ".tgz", ".whl", ".bak", ".orig", ".rej", ".out", ".aux",
)  # fmt: skip
_SYSTEM = (
    "bin", "sbin", "lib", "lib32", "lib64", "boot", "etc", "usr", "var", "opt", "srv", "proc", "sys", "run", "snap",
    "System", "Library", "Applications", "private", "nix", "cores", "Network", "lost+found",
)  # fmt: skip
_TOPS = {name.lower(): name for name in (*_SYSTEM, "Users", "Volumes", "tmp", "dev", "home")}
_MOUNTS = ("mnt", "media", "Volumes", "net")
_HOME_CACHES = (
    ".cache",
    ".npm",
    ".Trash",
    ".local/share/Trash",
    "Library/Caches",
    ".gradle/caches",
    ".cargo/registry",
    ".nuget/packages",
    ".m2/repository",
    ".bun/install/cache",
    ".yarn/cache",
    ".pnpm-store",
    ".ivy2/cache",
    "go/pkg/mod",
    ".cargo/git",
    "Library/Developer/Xcode/DerivedData",
    ".node-gyp",
    ".electron-gyp",
)
_SYSTEM_CACHES = (
    "/var/cache",
    "/var/lib/apt/lists",
    "/root/.cache",
    "/root/.npm",
    "/usr/local/share/.cache",
    "/Library/Caches",
    "/var/lib/dpkg/lock",
    "/root/.gradle",
    "/root/.m2",
)
# System directories that everything depends on: the directory itself, or what stands right below it.
_SYSTEM_TOPS = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/etc", "/usr", "/var", "/opt", "/srv", "/proc", "/sys", "/run", "/snap", "/System", "/Library", "/Applications", "/nix",
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/share", "/usr/include", "/var/lib", "/var/log", "/var/www", "/etc/ssh", "/etc/ssl",
    "/etc/systemd", "/etc/pam.d", "/var/lib/docker", "/var/lib/postgresql", "/var/lib/mysql", "/var/spool", "/var/backups", "/private/etc", "/private/var", "/private", "/dev",
)  # fmt: skip
_NULL = frozenset(
    (
        "/dev/null",
        "/dev/zero",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/stdin",
        "/dev/tty",
        "/dev/random",
        "/dev/urandom",
        "/dev/full",
    )
)
_SHELL_RC = frozenset(
    (
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin",
        ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".config/fish/config.fish", ".xprofile", ".xinitrc", ".xsessionrc",
        ".bash_aliases", ".config/nushell/config.nu", ".inputrc", ".pam_environment",
    )
)  # fmt: skip
_HISTORY = frozenset(
    (
        ".bash_history",
        ".zsh_history",
        ".python_history",
        ".psql_history",
        ".mysql_history",
        ".node_repl_history",
        ".zhistory",
        ".histfile",
    )
)
_SECRET_NAMES = frozenset(
    (
        ".env", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", "credentials", "credentials.json",
        "secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "secret.key", "master.key", ".vault-token", "kubeconfig",
        "gshadow", "master.passwd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "wallet.dat", "keys.json",
        "service-account.json", "serviceaccount.json", "client_secret.json", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", "terraform.tfvars",
        "application_default_credentials.json", "access_tokens.db", "login data", "cookies.sqlite", "key3.db", "key4.db", "logins.json", "signons.sqlite",
        "login.keychain-db", "login.keychain", "opasswd", ".dockercfg", "credentials.db", "secring.gpg", "ntds.dit", ".envrc", ".credentials.json",
        "auth.json", "token.json", "secrets.env", "krb5.keytab", "vault.key", ".databrickscfg", ".terraformrc", "terraform.rc", ".passwd-s3fs",
        "sitemanager.xml", "rclone.conf", ".vault_pass", ".vault-pass", "vault_pass.txt", ".esmtprc", ".msmtprc", ".fetchmailrc", ".authinfo", ".authinfo.gpg",
        "privkey.pem", "key.pem", "private.pem", "private_key.pem", ".dev.vars", "prod.secret.exs", "local.secret.exs", "keystore.properties", "key.properties",
    )
)  # fmt: skip
# Names that are ordinary elsewhere: credentials only in these places.
_SECRET_PLACES = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow-", "/config/sam", "/config/security", "/config/gh/hosts.yml", "/config/glab-cli/config.yml", "/config/hub", "/config/doctl/config.yaml",
    "/.m2/settings.xml", "/.m2/settings-security.xml", "/.gradle/gradle.properties", "/.bundle/config", "/.composer/auth.json", "/.fly/config.yml", "/.config/stripe/config.toml",
    "/.config/solana/id.json", "/.vnc/passwd", "/etc/kubernetes/admin.conf", "/.snowsql/config", "/.config/configstore/firebase-tools.json", "/.config/netlify/config.json",
    "/etc/krb5.keytab", "/.config/hcloud/cli.toml", "/.config/ngrok/ngrok.yml", "/.ngrok2/ngrok.yml", "/.irssi/config", "/.config/gcloud", "/.rhosts", "/etc/ppp/chap-secrets", "/etc/ipsec.secrets",
    "/etc/wpa_supplicant/wpa_supplicant.conf", "/.config/sops/age/keys.txt", "/.age/key.txt", "/etc/sudoers", "/etc/master.passwd", "/.claude/.credentials.json", "/.wakatime.cfg",
)  # fmt: skip
_SECRET_ENDINGS = (
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".kdbx",
    ".kdb",
    ".keystore",
    ".jks",
    ".ppk",
    ".keytab",
    ".tfstate",
    ".tfstate.backup",
    ".ovpn",
    ".secret",
    ".agekey",
    ".mobileprovision",
    ".p8",
    ".pkcs12",
    ".bks",
)
# A certificate, a chain or a public key by its name: what it holds is given to everybody anyway.
_PUBLIC_PARTS = frozenset(
    (
        "cert", "certs", "crt", "certificate", "certificates", "ca", "cacert", "cacerts", "chain", "fullchain", "bundle",
        "public", "pub", "root", "rootca", "crl", "dhparam", "dhparams", "csr", "isrgrootx1", "keyring",
    )
)  # fmt: skip
_PUBLIC_MARKS = ("example", "sample", "template", "dist", "defaults", "schema", "test", "fixture", "mock", "demo")
_SECRET_DIRS = (
    "/.ssh/", "/.gnupg/", "/.aws/", "/.azure/", "/.config/gcloud/", "/.kube/", "/.docker/", "/.password-store/", "/.config/gh/", "/run/secrets/", "/.config/op/", "/keychains/", "/.secrets/", "/secrets/",
    "/.oci/", "/.local/share/keyrings/", "/etc/ssl/private/", "/.ethereum/keystore/", "/etc/wireguard/", "/system-connections/", "/.config/1password/", "/.electrum/wallets/", "/.aliyun/", "/.bluemix/",
    "/.config/bitwarden cli/", "/.local/share/containers/auth/", "/.putty/", "/.minikube/certs/", "/etc/letsencrypt/archive/",
)  # fmt: skip
_BROWSER_DIRS = (
    "/google-chrome",
    "/google/chrome/",
    "/chromium/",
    "/bravesoftware/",
    "/microsoft edge/",
    "/microsoft-edge",
    "/.mozilla/firefox/",
    "/firefox/profiles/",
    "/vivaldi/",
    "/opera",
)
_BROWSER_NAMES = frozenset(
    (
        "cookies",
        "web data",
        "login data",
        "login data for account",
        "local state",
        "cookies.sqlite",
        "key4.db",
        "logins.json",
        "cookies.binarycookies",
        "history",
    )
)
_HOOK_SETTINGS = (
    "/.claude/settings.json", "/.claude/settings.local.json", "/.claude.json", "/.codex/config.toml", "/.codex/hooks.json",
    "/.codex/requirements.toml", "/.gemini/settings.json", "/.qwen/settings.json", "/.cursor/hooks.json", "/.factory/hooks.json",
    "/.factory/settings.json", "/.windsurf/hooks.json", "/.devin/hooks.v1.json", "/managed-settings.json", "/.gemini/config/settings.json",
    "/.pi/settings.json", "/.pi/agent/settings.json", "/.pi/agent/trust.json", "/opencode.json",
)  # fmt: skip
_HOOK_DIRS = (
    "/.claude/hooks/",
    "/.claude/plugins/",
    "/.copilot/hooks/",
    "/.github/hooks/",
    "/.clinerules/hooks/",
    "/etc/claude-code/",
    "/etc/codex/",
    "/.codex/hooks/",
    "/.claude-plugin/",
    "/.opencode/plugin/",
    "/.opencode/plugins/",
    "/.config/opencode/plugin/",
    "/.pi/extensions/",
    "/.pi/agent/extensions/",
)
# What moves a host's own directory, and what in it holds hooks.
HOST_DIRS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME")
_MOVED_PARTS = frozenset(
    ("settings.json", "settings.local.json", "hooks.json", "config.toml", "requirements.toml", "hooks", "plugins")
)
_HOOK_PARENTS = ("/.claude", "/.codex", "/.gemini", "/.qwen", "/.cursor", "/.copilot", "/.factory")
_CI = (
    "/.github/workflows/",
    "/.circleci/",
    "/.gitlab-ci.yml",
    "/jenkinsfile",
    "/azure-pipelines.yml",
    "/.drone.yml",
    "/.travis.yml",
    "/bitbucket-pipelines.yml",
    "/.buildkite/",
    "/.github/actions/",
)
_AUTOSTART = (
    "/.config/autostart/",
    "/library/launchagents/",
    "/library/launchdaemons/",
    "/etc/systemd/",
    "/.config/systemd/",
    "/lib/systemd/system/",
    "/etc/rc.local",
    "/etc/init.d/",
    "/etc/xdg/autostart/",
    "/etc/profile.d/",
    "/etc/ld.so.preload",
    "/etc/update-motd.d/",
    "/etc/apt/apt.conf.d/",
    "/etc/udev/rules.d/",
    "/.config/environment.d/",
    "/.config/direnv/direnvrc",
    "/.direnvrc",
    "/.gradle/init.gradle",
    "/.gradle/init.d/",
    "/.config/plasma-workspace/env/",
    "/library/startupitems/",
    "/.ipython/profile_default/startup/",
)
# Python runs these whenever it starts.
_PYTHON_START = ("/sitecustomize.py", "/usercustomize.py", ".pth", ".egg-link")
# Directories of home from which commands are started by their bare name.
_COMMAND_DIRS = (
    ".local/bin/", "bin/", ".cargo/bin/", "go/bin/", ".bun/bin/", ".deno/bin/", ".npm-global/bin/", ".yarn/bin/", ".local/share/mise/shims/",
    ".pyenv/shims/", ".rbenv/shims/", ".asdf/shims/", ".nvm/versions/", ".volta/bin/", ".krew/bin/", ".dotnet/tools/", ".composer/vendor/bin/",
)  # fmt: skip
# Settings that make a tool start another program or fetch from another place.
_TOOL_CONFIG = (
    "/.cargo/config.toml", "/.cargo/config", "/pip.conf", "/pip/pip.ini", "/.pydistutils.cfg", "/.config/uv/uv.toml", "/.condarc", "/.gemrc", "/.yarnrc", "/.yarnrc.yml", "/.curlrc", "/.wgetrc", "/.vimrc", "/.config/nvim/init.lua",
    "/.config/nvim/init.vim", "/.emacs", "/.emacs.d/init.el", "/.tmux.conf", "/.mcp.json", "/.cursor/mcp.json", "/.vscode/mcp.json", "/.vscode/tasks.json", "/.vscode/launch.json", "/.vscode/settings.json", "/.idea/workspace.xml",
    "/.devcontainer/devcontainer.json", "/.m2/settings.xml", "/.gdbinit", "/.lldbinit", "/.irbrc", "/.pythonrc", "/.hgrc", "/.bazelrc", "/.config/hg/hgrc", "/.screenrc", "/.rprofile", "/.julia/config/startup.jl", "/.psqlrc", "/.sqliterc", "/.config/containers/registries.conf",
)  # fmt: skip
_CRON = ("/etc/cron", "/var/spool/cron", "/etc/anacrontab", "/etc/at.")
PRODUCTION = ("production", "prod", "live", "prd")


class Place:
    """Where the call happens: everything ``classify`` needs to know besides the path."""

    __slots__ = (
        "cwd",
        "cwd_sure",
        "folds",
        "gate_dirs",
        "gate_files",
        "home",
        "known",
        "moved",
        "project",
        "temps",
        "world",
    )

    def __init__(
        self,
        world: World,
        cwd: str,
        gate_dirs: Iterable[str] = (),
        cwd_sure: bool = True,
        gate_files: Iterable[str] = (),
    ) -> None:
        self.world = world
        # HOME=/ (a service, a bare container): there is no home then, and /etc is not a thing in it
        self.home = world.home if world.home != "/" else "/nonexistent"
        self.cwd_sure = cwd_sure
        self.cwd = cwd
        self.folds = self.home.startswith("/Users/")  # macOS, as it comes
        self.gate_dirs = tuple(gate.lower() for gate in gate_dirs)
        self.gate_files = frozenset(file.lower() for file in gate_files)  # what stands beside them is not the gate's
        temps = [
            "/tmp",
            "/var/tmp",
            "/private/tmp",
            "/private/var/tmp",
            "/var/folders",
            "/private/var/folders",
            "/dev/shm",
        ]
        given = world.env.get("TMPDIR", "")
        if given.startswith("/") and normpath(given).count("/") >= 2:
            # a repository can set the host's environment: no system directory becomes temporary by that
            given = normpath(given)
            if given.split("/")[1] not in _SYSTEM or given.startswith("/run/user/"):
                temps.append(given)
        self.temps = temps
        named = [normpath(world.env[name]) for name in HOST_DIRS if world.env.get(name, "").startswith("/")]
        self.moved = [place for place in named if not is_within(self.home, place)]
        self.project = self._project(cwd)
        self.known: dict[tuple[str, str], Target] = {}  # what was classified before: one look at each path is enough

    def _project(self, cwd: str) -> str:
        """The project's root: the repository around ``cwd``, else ``cwd`` itself unless that is home or above it."""
        if not cwd.startswith("/"):
            return ""
        cwd = normpath(cwd)
        git = self.world.git(cwd)
        root = git.root if git is not None else cwd
        if is_within(self.home, root) or root == "/" or root in self.temps:
            # home itself, a directory above it, or /tmp: a repository there does not make all of it a project
            root = cwd if not is_within(self.home, cwd) and cwd != "/" and cwd not in self.temps else ""
        top = root.split("/")[1] if root else ""
        if (
            root
            and root.count("/") == 1
            and (top in _SYSTEM or top in _MOUNTS or top in ("home", "Users", "root", "dev"))
        ):
            return ""
        return root


def is_within(path: str, root: str) -> bool:
    """Whether ``path`` is ``root`` or below it."""
    return path == root or (root == "/" and path.startswith("/")) or path.startswith(root.rstrip("/") + "/")


def glob_match(pattern: str, text: str) -> bool:
    """Whether a pattern with STAR and QMARK sentinels (``*`` and ``?`` too) matches the whole text.  Linear-ish:
    the classic two-pointer walk, O(len(pattern) * len(text)) at worst on short names."""
    p = t = 0
    star = mark = -1
    while t < len(text):
        c = pattern[p] if p < len(pattern) else ""
        if c and c in (STAR, ANY, NAME, "*"):
            star, mark = p, t
            p += 1
        elif c and (c == text[t] or c in (QMARK, "?")):
            p += 1
            t += 1
        elif star >= 0:
            p = star + 1
            mark += 1
            t = mark
        else:
            return False
    while p < len(pattern) and pattern[p] in (STAR, ANY, NAME, "*"):
        p += 1
    return p == len(pattern)


def absolute(raw: str, cwd: str, home: str) -> str:
    """``raw`` made absolute and normalised; "" when it cannot be because ``cwd`` is not known."""
    if raw[:1] == "~" and (raw == "~" or raw[1] == "/"):
        raw = home + raw[1:]
    if raw[:1] == "/":
        path = normpath(raw)
        return path[1:] if path.startswith("//") else path
    if cwd[:1] != "/":
        return ""
    path = normpath(cwd + "/" + raw)
    return path[1:] if path.startswith("//") else path


def classify(raw: str, cwd: str, place: Place) -> Target:
    """What the path ``raw`` is, seen from ``cwd``.  ``cwd`` may be "" or hold ANY when it is not known."""
    key = (raw, cwd)
    target = place.known.get(key)
    if target is None:
        target = _classify(raw, cwd, place)
        if len(place.known) < 8192:
            place.known[key] = target
    return target


def _classify(raw: str, cwd: str, place: Place) -> Target:
    if raw in ("", "-"):
        return Target("stdin" if raw == "-" else "unknown", raw)
    if "\\" in raw:
        target = _of_system(raw, cwd, place)
        roles = _roles(_slashed(raw), place) & _PROTECTED
        return Target(target.kind, target.path, target.roles | roles) if roles - target.roles else target
    return _of_system(raw, cwd, place)


def _slashed(raw: str) -> str:
    """A Windows path with slashes, without what its file system leaves out: a stream's name, dots and blanks at the end."""
    parts = [part.partition(":")[0].rstrip(". ") for part in raw.removeprefix("\\\\?\\").replace("\\", "/").split("/")]
    return "/" + "/".join(part for part in parts if part)


def _of_system(raw: str, cwd: str, place: Place) -> Target:
    bare = raw.removeprefix("\\\\?\\").removeprefix("\\\\.\\")
    if len(bare) > 1 and bare[1] == ":" and bare[0].isalpha() and (len(bare) == 2 or bare[2] in "\\/"):
        target = _windows(bare)
        roles = _roles(_slashed(bare), place) & _PROTECTED
        return Target(target.kind, raw, target.roles | roles)
    if raw[:1] == ANY or (ANY in cwd and raw[:1] not in "/~"):
        return _behind_unknown(raw if raw[:1] == ANY else cwd + "/" + raw, place)
    if "proc/" in raw:
        raw = _through_proc(raw, place)
    path = absolute(raw, cwd, place.world.home)
    if path and place.folds:
        path = _spelled_here(path, place)
    if not path:
        return Target("unknown", raw, _roles(normpath("/?/" + raw), place))
    target = _absolute(path, place, raw.endswith("/"))
    if "/.." in raw:
        target = _climbed(raw, cwd, place, target)
    return target


def _spelled_here(path: str, place: Place) -> str:
    """macOS opens a file under any case: home, the project and the system's directories in their own spelling."""
    for known in (place.project, place.home):
        if known and path[: len(known)] != known and _folded(path[: len(known)]) == known.lower():
            if path[len(known) : len(known) + 1] in ("", "/"):
                return known + path[len(known) :]
    top, mark, rest = path[1:].partition("/")
    own = _TOPS.get(top.lower(), top)
    return f"/{own}{mark}{rest}"


def _folded(path: str) -> str:
    """``path`` as a file system compares it that folds case: the Kelvin sign is a k, the long s an s (APFS), and what
    has no shape is not there (HFS+; it was a way into .git once)."""
    if path.isascii():
        return path.lower()
    return path.translate(_IGNORED).casefold()


_IGNORED = dict.fromkeys((0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF))


def _through_proc(raw: str, place: Place) -> str:
    """/proc/self/cwd and /proc/1/root are other names of directories: what follows is a path there."""
    parts = raw.split("/", 4)
    if parts[:2] == ["", "proc"] and len(parts) > 3 and parts[3] in ("cwd", "root"):
        base = place.cwd if parts[3] == "cwd" else ""
        if base or parts[3] == "root":
            return base + "/" + "/".join(parts[4:])
    return raw


def _climbed(raw: str, cwd: str, place: Place, target: Target) -> Target:
    """``link/../x`` is beside what the link points at, not beside the link: both count."""
    whole = place.world.home + raw[1:] if raw[:2] == "~/" else raw if raw[:1] == "/" else cwd + "/" + raw
    if whole[:1] != "/" or len(whole) > 4096 or any(mark in whole for mark in (ANY, NAME, STAR, QMARK)):
        return target
    real = place.world.real(whole)
    if real == normpath(whole) or real == target.path:
        return target
    roles = _roles(real, place) & _PROTECTED
    return Target(target.kind, target.path, target.roles | roles) if roles - target.roles else target


_PROTECTED = frozenset(("gate", "hook-settings", "transcript", "secret", "ssh", "git-hook", "shell-rc", "autostart"))


def _behind_unknown(raw: str, place: Place) -> Target:
    at = raw.rfind(ANY)
    rest = raw[at + 1 :]
    if raw[:1] == "/" and raw.find(ANY) > 1:  # a known directory, then something unknown, then more
        return _absolute(normpath(raw), place, False)
    roles = set(_roles("/?" + normpath("/" + rest.lstrip("/")), place)) if rest.strip("/") else set()
    parts = [part for part in rest.split("/") if part]
    if rest[:1] == "/" and (not parts or parts[0][:1] in (STAR, ".")):
        return Target("unknown-root", raw, roles | {"wildcard"})  # "$X/*" is "/*" when X is empty
    if rest[:1] == "/" and _absolute(normpath(rest), place, False).kind in ("root", "system", "home", "device"):
        return Target("unknown-root", raw, roles)
    if any(part.lower() in BUILD for part in parts):
        return Target("build", raw, roles)
    return Target("unknown", raw, roles)


def _absolute(path: str, place: Place, slash: bool) -> Target:
    roles: set[str] = set()
    shown = path
    if ANY in path:
        at = path.index(ANY)
        base = path[: path.rindex("/", 0, at)] or "/"
        tail = path[at + 1 :]
        name_before = path[len(base.rstrip("/")) + 1 : at]
        target = _absolute((base.rstrip("/") + "/" + (name_before + "x")), place, False)
        roles |= target.roles | set(_roles(path, place))
        if name_before:  # ".co${x}dex" is ".codex" when x is empty
            roles |= _glob_roles(path.replace(ANY, STAR), place) & {"gate", "hook-settings"}
        if base == "/" and not name_before:
            return Target("unknown-root", shown, roles)
        if base == place.home and not name_before and not tail.strip("/" + STAR):
            return Target("home-item", shown, roles | {"wildcard"})  # "$HOME/$X" is home when X is empty
        if any(part.lower() in BUILD for part in tail.split("/")):
            return Target("build", shown, roles)
        return Target(target.kind, shown, roles)
    if STAR in path or QMARK in path:
        base, contents = _glob_base(path)
        roles.add("wildcard")
        if contents:
            target = _absolute(base, place, False)
            return Target(target.kind, shown, roles | target.roles | {"contents"} | set(_glob_roles(path, place)))
        for meant in (place.home, dirname(place.home), place.project, *_SYSTEM_TOPS):
            if meant and meant != "/" and _names(path, meant):
                target = _absolute(meant, place, False)
                return Target(target.kind, shown, roles | target.roles)
        if base.count("/") > 1 and _absolute(base, place, False).roles & {"top"}:
            roles.add("top")
        target = _absolute(path.replace(STAR, "x").replace(QMARK, "x"), place, False)
        return Target(target.kind, shown, roles | target.roles | set(_glob_roles(path, place)))
    real = path if NAME in path or len(path) > 4096 or path.startswith(("/dev/", "/proc/")) else place.world.real(path)
    if real != path:
        # both names count: the one that was written and the one that is meant
        roles |= _roles(path, place)
        if not _same_private(path, real):
            path = real
    roles |= _roles(path, place)
    kind = _kind(path, place)
    if kind == "build" and not (place.project and is_within(path, place.project)):
        roles.add("elsewhere")
    elif kind == "system" and path in _SYSTEM_TOPS:
        roles.add("top")
    elif kind == "system" and any(is_within(path, cache) for cache in _SYSTEM_CACHES):
        kind = "cache"
    if kind in ("project", "build") and place.project:
        git = place.world.git(dirname(path))
        if git is not None:
            what = place.world.kind(path)
            if what:
                state = git.state(path, what == "dir")
                if state == "clean":
                    roles |= {"tracked", "tracked-clean"}
                    if kind == "build" and what == "dir":
                        kind = "project"  # a directory that is in git is nobody's build output
                elif state == "changed":
                    roles.add("tracked")
                elif state == "untracked":
                    roles.add("untracked")
    return Target(kind, shown if real == shown else path, roles)


def _names(pattern: str, path: str) -> bool:
    """Whether the pattern can name the path itself, directory by directory."""
    asked, given = pattern.split("/"), path.split("/")
    return len(asked) == len(given) and all(
        one == other or ((STAR in one or QMARK in one) and other[:1] != "." and glob_match(one, other))
        for one, other in zip(asked, given, strict=True)
    )


def _same_private(path: str, real: str) -> bool:
    """macOS: /tmp is /private/tmp, /var is /private/var; that is not a link in disguise."""
    return real == "/private" + path


def _glob_base(path: str) -> tuple[str, bool]:
    """The directory in front of the first wildcard, and whether everything in it is meant."""
    parts = path.split("/")
    for i, part in enumerate(parts):
        if STAR in part or QMARK in part:
            whole = STAR in part and part.strip(STAR + QMARK + ".") == ""
            rest = all(p.strip(STAR + ".") == "" for p in parts[i + 1 :])
            return "/".join(parts[:i]) or "/", whole and rest
    return path, False


def _kind(path: str, place: Place) -> str:
    if path == "/":
        return "root"
    home, project = place.home, place.project
    if path == home:
        return "home"
    if project:
        if path == project:
            return "project-root"
        if is_within(path, project):
            parts = path[len(project) + 1 :].split("/")
            if ".git" in parts and parts[-1] not in ("index.lock", "HEAD.lock", "config.lock"):
                return "git-dir"
            if any(part.lower() in BUILD for part in parts) or parts[-1].lower().endswith(BUILD_ENDINGS):
                return "build"
            return "project"
        if is_within(project, path) and not is_within(home, path) and path not in place.temps and path.count("/") > 1:
            return "project-parent"
    if is_within(path, home):
        inside = path[len(home) + 1 :]
        if any(inside == c or inside.startswith(c + "/") for c in _HOME_CACHES):
            return "cache"
        parts = inside.split("/")
        if ".git" in parts:
            return "git-dir"
        if len(parts) > 1 and any(part.lower() in BUILD for part in parts):
            return "build"
        return "home-config" if inside[:1] == "." else "home-item"
    if is_within(home, path):
        return "home"  # a directory that holds home
    if path.startswith("/dev/"):
        if path in _NULL or path.startswith(("/dev/fd/", "/dev/pts/")):
            return "null"
        if path.startswith("/dev/shm/"):
            return "temp"
        return "device"
    for temp in place.temps:
        if path == temp:
            return "temp-root"
        if path.startswith(temp + "/"):
            return "temp"
    parts = path.split("/")
    top = parts[1]
    if top in ("home", "Users"):
        if len(parts) == 2:
            return "home"
        if any(part.lower() in BUILD for part in parts[4:]):
            return "build"
        return "other-home"
    if top == "root":
        return "cache" if any(is_within(path, cache) for cache in _SYSTEM_CACHES) else "other-home"
    if top in _SYSTEM:
        return "system"
    if top == "dev":
        return "system"
    if top in _MOUNTS:
        return "mount"
    if any(part.lower() in BUILD for part in parts[2:]):
        return "build"
    return "outside"


def _windows(raw: str) -> Target:
    path = raw.replace("\\", "/").lower()
    rest = path[2:].strip("/")
    top = rest.split("/")[0]
    if not rest or rest.strip("*" + STAR) == "":
        return Target("root", raw)
    if top in ("windows", "program files", "program files (x86)", "programdata"):
        return Target("system", raw)
    if top == "users":
        return Target("temp" if "/appdata/local/temp" in path else "other-home", raw)
    if top in ("temp", "tmp"):
        return Target("temp", raw)
    return Target("outside", raw)


def _roles(path: str, place: Place) -> set[str]:
    """The special parts a path plays, whatever directory it is in.  Compared without case: a case-insensitive
    file system (macOS, Windows) opens the same file under any spelling."""
    roles: set[str] = set()
    low = _folded(path)
    if low.startswith("/private/"):  # macOS: /etc, /var and /tmp are links to there
        low = low[8:]
    slash = low.rfind("/")
    name = low[slash + 1 :]
    # Cheap way out for the ordinary name: nothing below can match without a dot-directory or a known name.
    if any(is_within(low, gate) or (is_within(gate, low) and low.count("/") > 2) for gate in place.gate_dirs):
        roles.add("gate")
    if (
        name == ".jevhook.toml"
        or low in place.gate_files
        or (name in _OWN_PROGRAMS and low[:slash].endswith(("/bin", "/scripts")))
        or "/.config/jevhook/" in low
        or "/.local/state/jevhook/" in low
        or low.endswith(("/.config/jevhook", "/.local/state/jevhook"))
    ):
        roles.add("gate")
    if _WITHHELD in low + "/":
        roles |= {"gate", "secret"}
    if low.endswith(_HOOK_SETTINGS) or any(mark in low + "/" for mark in _HOOK_DIRS) or low.endswith(_HOOK_PARENTS):
        roles.add("hook-settings")
    if low.endswith(".config.toml") and low[:slash].endswith("/.codex"):  # a profile, laid over config.toml
        roles.add("hook-settings")
    for moved in place.moved:
        if path == moved or (is_within(path, moved) and low[len(moved) + 1 :].split("/")[0] in _MOVED_PARTS):
            roles.add("hook-settings")
    if low.endswith(".jsonl") and ("/.claude/projects/" in low or "/.codex/sessions/" in low):
        roles.add("transcript")
    if "/.git/hooks" in low or "/.husky/" in low or low.endswith("/.git/hooks"):
        roles.add("git-hook")
    if low.endswith(
        (
            "/.git/config",
            "/.gitconfig",
            "/.config/git/config",
            "/etc/gitconfig",
            "/.git/config.worktree",
            "/.git/info/attributes",
        )
    ):
        roles.add("git-config")
    if "/.config/git/" in low and not low.endswith(("/ignore", "/message", ".gitmessage")):
        roles.add("git-config")
    if "/.ssh/" in low or low.endswith("/.ssh"):
        roles.add("ssh")
    inside = path[len(place.home) + 1 :] if path.startswith(place.home + "/") else ""
    if (
        inside.lower() in _SHELL_RC
        or (name in _SHELL_RC and low.startswith(("/home/", "/users/", "/root/")))
        or low in ("/etc/profile", "/etc/bash.bashrc", "/etc/zshrc", "/etc/environment", "/etc/zprofile", "/etc/bashrc")
    ):
        roles.add("shell-rc")
    if name in _HISTORY:
        roles.add("history")
    if any(mark in low for mark in _CI):
        roles.add("ci")
    if any(mark in low for mark in _AUTOSTART):
        roles.add("autostart")
    if low.endswith(_PYTHON_START) and (
        "/site-packages/" in low or "/dist-packages/" in low or "/sitecustomize" in low or "/usercustomize" in low
    ):
        roles.add("autostart")
    if inside and inside.startswith(_COMMAND_DIRS) and not (place.project and is_within(path, place.project)):
        roles.add("command-dir")
    if low.endswith(_TOOL_CONFIG):
        roles.add("tool-config")
    if low.startswith(_CRON):
        roles.add("cron")
    if low.startswith("/etc/"):
        roles.add("system-config")
    if low.startswith("/var/log/"):
        roles.add("log")
    if name == "package.json":
        roles.add("package-scripts")
    if low.endswith((".sqlite", ".sqlite3", ".db", ".mdb")):
        roles.add("database-file")
    if secret_name(low):
        roles.add("secret")
    return roles


# Whoever writes one of these by hand speaks for the gate to everyone who types its name.
_OWN_PROGRAMS = frozenset(("jevhook", "jev-use", "jevhook.exe", "jev-use.exe"))
_WITHHELD = "/jevhook/withheld/"  # what was taken out of results, for a person's eyes (state/withheld.py)


def secret_name(low: str) -> bool:
    """Whether a path (lower case) names a file that holds credentials by its conventional name or place."""
    if _WITHHELD in low + "/":
        return True
    name = low[low.rfind("/") + 1 :]
    if any(mark in name for mark in _PUBLIC_MARKS) and not name.startswith("id_"):
        return False
    if name in _SECRET_NAMES or low.endswith(_SECRET_PLACES) or (name == "environ" and low.startswith("/proc/")):
        return True
    if name.startswith(".env.") or (name.endswith(".env") and len(name) > 4):
        return not name.endswith((".enc", ".encrypted", ".gpg", ".age", ".sops", ".d.ts", ".md"))
    if name.endswith(_SECRET_ENDINGS) and name.rfind(".") > 0:
        if (
            any(
                mark in low
                for mark in (
                    "/fixtures/",
                    "/testdata/",
                    "/tests/",
                    "/test/",
                    "/__tests__/",
                    "/examples/",
                    "/example/",
                    "/mocks/",
                    "/spec/",
                )
            )
            and "/.ssh/" not in low
        ):
            return False  # keys that were made to be in the repository
        return not (name.endswith((".pem", ".key")) and _public_part(name))
    if name.startswith(
        (
            "credentials.",
            "secrets.",
            "secret.",
            "service-account",
            "id_rsa",
            "id_ed25519",
            "id_ecdsa",
            "id_dsa",
            "client_secret",
        )
    ):
        return not name.endswith(
            (
                ".pub",
                ".py",
                ".ts",
                ".tsx",
                ".js",
                ".go",
                ".rs",
                ".md",
                ".java",
                ".rb",
                ".html",
                ".txt.j2",
                ".php",
                ".cs",
                ".tf",
                ".enc",
                ".kt",
                ".swift",
                ".mdx",
                ".j2",
                ".css",
                ".vue",
            )
        )
    if name in _BROWSER_NAMES:
        return any(mark in low for mark in _BROWSER_DIRS)
    if any(mark in low + "/" for mark in _SECRET_DIRS):
        if "/secrets/" in low + "/" and (
            low.endswith(
                ("/secrets", ".py", ".ts", ".js", ".go", ".md", ".rs", ".rb", ".java", ".tf", ".tsx", ".enc", ".sh")
            )
        ):
            return False
        return not name.endswith((".pub", ".md")) and name not in (
            "known_hosts",
            "known_hosts.old",
            "config" if "/.ssh/" in low else "\0",
            "authorized_keys",
        )
    return False


def _public_part(name: str) -> bool:
    """``server.crt.pem``, ``ca-bundle.pem``, ``public.key``: a part of the name says public and none says private."""
    stem = name[: name.rfind(".")].replace("-", ".").replace("_", ".").split(".")
    return any(part in _PUBLIC_PARTS for part in stem) and not any(
        part in ("key", "private", "privkey", "priv") for part in stem
    )


def _glob_roles(path: str, place: Place) -> set[str]:
    """Roles of the protected files that a wildcard pattern could mean."""
    roles: set[str] = set()
    parts = path.lower().split("/")
    name = parts[-1]
    for settings in _HOOK_SETTINGS:
        wanted = settings[1:].split("/")
        if _parts_match(parts[-len(wanted) :], wanted) and (len(wanted) > 1 or name not in (STAR, QMARK)):
            roles.add("hook-settings")
    if name[:1] == "." and _part_matches(name, ".jevhook.toml"):
        roles.add("gate")
    if parts[-2:-1] in (["bin"], ["scripts"]) and name.strip(STAR + QMARK):
        if any(_part_matches(name, program) for program in _OWN_PROGRAMS):
            roles.add("gate")
    if any(_part_matches(name, parent[1:]) for parent in _HOOK_PARENTS) or any(
        _parts_match(parts[-2:], [parent[1:], "hooks"]) for parent in _HOOK_PARENTS
    ):
        roles.add("hook-settings")
    if name not in (STAR, STAR + "." + STAR):
        if any(_part_matches(name, secret) for secret in (".env", "id_rsa", "id_ed25519", "credentials", ".netrc")):
            roles.add("secret")
    elif any(part in (".ssh", ".aws", ".gnupg") for part in parts):
        roles.add("secret")
    if "jevhook" in parts[:-1] and _part_matches(parts[parts.index("jevhook") + 1], "withheld"):
        roles |= {"gate", "secret"}
    for gate in place.gate_dirs:
        there = gate.split("/")
        # the gate's directory itself, or one that holds it (but not home or what is above it)
        if len(parts) > 3 and len(parts) <= len(there) and _parts_match(parts, there[: len(parts)]):
            roles.add("gate")
    if any(_parts_match(parts, file.split("/")) for file in place.gate_files):
        roles.add("gate")
    return roles


def _part_matches(pattern: str, name: str) -> bool:
    """One part of a path against one name: a wildcard in front never means a name that begins with a dot."""
    if name[:1] == "." and pattern[:1] in (STAR, QMARK):
        return False
    return glob_match(pattern, name)


def _parts_match(patterns: list[str], names: list[str]) -> bool:
    return len(patterns) == len(names) and all(map(_part_matches, patterns, names))
