"""Programs that only look, and how far: the tables and functions behind ``readonly.py``.

Whatever is not listed is not harmless.  Three ways to be listed:

- ``EXCEPT``: every option but the ones named there
- ``TOOLS``: the subcommands named there, without the options named there
- ``CHECKS``: a function that looks at the arguments

Words may hold the sentinels of ``finding.py``.
"""

from __future__ import annotations

from .finding import ANY, NAME, QMARK, STAR
from .readonly import READS, SHELLS, forbidden, operands, readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EXCEPT: dict[str, str] = {
    "sort": "-o --output --compress-program",
    "shuf": "-o --output",
    "nm": "--plugin",
    "objdump": "--plugin",
    "rg": "--pre --hostname-bin",
    "ag": "--pager",
    "iconv": "-o --output",
    "bat": "--pager --generate-config-file",
    "batcat": "--pager --generate-config-file",
    "tree": "-o -R",
    "file": "-C --compile",
    "lsof": "-D",
    "ss": "-K --kill -D --diag",
    "fd": "-x -X --exec --exec-batch",
    "fdfind": "-x -X --exec --exec-batch",
    "jq": "-i -f --from-file --run-tests",
    "yq": "-i --inplace --in-place -s --split-exp --split-exp-file --from-file",
    "dmesg": "-c -C -D -E -n --clear --read-clear --console-off --console-on --console-level",
    "journalctl": (
        "--vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var "
        "--smart-relinquish-var --setup-keys --update-catalog --cursor-file --image"
    ),
    "dpkg-query": "--admindir",
    "symbols": "-saveSignature -symbolsPackageDir -saveSignature",
    "fzf": "--preview --listen --listen-unsafe --history --with-shell --tmux --popup --become",
}  # fmt: skip

# program -> (subcommands, options that are not harmless, options in front of the subcommand).
# Subcommands: paths parted by ";", alternatives by "|", "!" for nothing behind it but options, "!!" for nothing at all.
# Options in front: those with a value first, switches behind "/".
TOOLS: dict[str, tuple[str, str, str]] = {
    "docker": (
        "ps|images|inspect|logs|top|port|stats|history|events|diff|version|info|search|help; container|image|"
        "volume|network|context|plugin|node|secret ls|list|inspect; container logs|top|port|stats|diff; "
        "image history; context show; system info|df|events; service ls|list|inspect|ps|logs; config ls|list; "
        "stack ls|list|ps|services; node ps; buildx ls|inspect|du|version; buildx imagetools inspect; manifest|"
        "trust inspect; compose ps|logs|images|top|version|ls|port|events|stats|volumes; "
        "compose config --services|--images|--volumes|--profiles !",
        "--bootstrap -o --output",
        "-c --context -l --log-level / -D --debug",
    ),
    "docker-compose": (
        "ps|logs|images|top|version|ls|port|events|help; config --services|--images|--volumes|--profiles !",
        "-o --output",
        "-f --file -p --project-name --profile --project-directory --env-file --ansi --progress / --verbose "
        "--compatibility",
    ),
    "kubectl": (
        "get|describe|logs|top|explain|version|api-resources|api-versions|events|diff|wait|options|help|"
        "completion; cluster-info !; auth can-i|whoami; rollout status|history; config view|get-contexts|"
        "get-clusters|get-users|current-context; plugin list",
        "--raw --kubeconfig -s --server --token --password --cache-dir --output-directory --profile "
        "--profile-output --log-dir --log-file",
        "-n --namespace --context --cluster --user --request-timeout -v --v /",
    ),
    "helm": (
        "list|ls|status|history|hist|search|template|lint|verify|version|help|completion; get all|hooks|manifest|"
        "metadata|notes|values; show|inspect all|chart|crds|readme|values; repo|plugin|dependency|dep list|ls; "
        "plugin verify",
        "--post-renderer --post-renderer-args --output-dir --kubeconfig --kube-apiserver --kube-token "
        "--kube-ca-file --password --pass-credentials",
        "-n --namespace --kube-context / --debug",
    ),
    "terraform": (
        "validate|version|graph|modules; show !; state list|show; providers !!; providers schema; workspace list|"
        "show; output !!; metadata functions; fmt -check; fmt -write=false",
        "-raw -chdir -plugin-dir -write",
        "/",
    ),
    "tofu": (
        "validate|version|graph; show !; state list|show; providers !!; workspace list|show; output !!; "
        "fmt -check; fmt -write=false",
        "-raw -chdir -write",
        "/",
    ),
    "packer": ("version|inspect|validate; fmt -check; fmt -write=false; plugins installed|required", "-write", "/"),
    "gh": (
        "pr list|view|status|diff|checks; issue list|view|status; repo list|view; run list|view|watch; "
        "workflow list|view; release list|view|verify|verify-asset; gist list|view; search repos|issues|prs|"
        "commits|code; cache|secret|variable|label|alias|ssh-key|gpg-key|org list; variable get; auth status; "
        "config get|list; codespace|cs list|view|logs; extension|ext list|search; project list|view|field-list|"
        "item-list; ruleset|rs list|view|check; attestation|at verify|trusted-root; status|version|help",
        "-w --web --show-token -t --browser",
        "-R --repo /",
    ),
    "npm": (
        "list|ls|ll|la|view|info|show|v|search|s|find|se|outdated|help|help-search|root|prefix|bin|whoami|ping|"
        "explain|why|find-dupes|query|fund|completion; audit !; audit signatures; owner ls|list; access list|"
        "get; dist-tag ls|list; dist-tags ls; config|c list|ls !; pkg get; cache ls|list; doctor; run !!; "
        "run-script !!; version !!; -v !!; diff; config|c get registry|prefix|cache|userconfig|globalconfig|"
        "init-version|user-agent !!; get registry|prefix|cache !!; run --list !!",
        "--browser --userconfig --globalconfig --script-shell --viewer --git --registry --prefix -C --cache "
        "--fix --package-lock-only",
        "/ --silent -s",
    ),
    "pip": (
        "list|freeze|show|check|inspect|hash|help|debug|search|version; cache dir|info|list; config debug; "
        "index versions",
        "--log --python --proxy --config-settings",
        "/ -q -v --isolated --disable-pip-version-check --no-color",
    ),
    "uv": (
        "pip list|freeze|show|check|tree; cache dir; python list|find|dir; version !!; help",
        "--python -p --directory --project --config-file",
        "/ -q --quiet -v --no-cache --offline",
    ),
    "cargo": (
        "tree|metadata|read-manifest|locate-project|pkgid|verify-project|search|info|version|help; owner --list; "
        "fmt --check; fmt -- --check; -V !!; -Vv !!",
        "--config -Z -C",
        "--color / -q --quiet -v --verbose --offline --locked --frozen",
    ),
    "go": ("version|list|doc|help; env", "-w -u -toolexec -exec -modfile -mod -http -overlay -C", "/"),
    "rustup": ("which|check|help; toolchain|target|component list", "", "/ -v -q"),
    "brew": (
        "info|abv|list|ls|search|deps|desc|leaves|uses|outdated|missing|config|doctor|dr|options|tap-info|"
        "formulae|casks|cat|formula|log|help|commands; --cache|--prefix|--cellar|--repository|--repo|--caskroom|"
        "--config|--taps|-S; shellenv; analytics !!; analytics state !!",
        "--github --open-url --graph --fetch-HEAD --repair -w",
        "/ -v -q --verbose --quiet",
    ),
    "apt": ("list|show|policy|search|depends|rdepends|showsrc", "-o --option -c --config-file", "/ -q"),
    "apt-cache": (
        "policy|show|showpkg|search|depends|rdepends|madison|stats|pkgnames|showsrc|dump",
        "-o --option -c --config-file -g --generate",
        "/ -q",
    ),
    "dpkg": (
        "-l|-L|-s|-S|-p|--list|--listfiles|--status|--search|--print-avail|--get-selections|--print-architecture|"
        "--print-foreign-architectures|--audit|-C|--compare-versions|-c|-I|--contents|--info",
        "--admindir --root --instdir --pre-invoke --post-invoke",
        "/",
    ),
    "snap": ("list|info|find|version|connections|interfaces|services|changes|help", "", "/"),
    "systemctl": (
        "status|show|cat|help|is-active|is-enabled|is-failed|is-system-running|get-default|list-units|"
        "list-unit-files|list-timers|list-sockets|list-jobs|list-dependencies|list-machines|list-automounts",
        "-H --host -M --machine --root --image",
        "-t --type --state -n --lines -o --output -p --property / --user --no-pager -l --full -a --all -q "
        "--no-legend --failed --plain --system",
    ),
    "loginctl": (
        "list-sessions|session-status|list-users|user-status|list-seats|show-session|show-user",
        "-H --host -M --machine",
        "/ --no-pager",
    ),
    "pre-commit": ("validate-config|validate-manifest|help", "", "/"),
    "auth0": (
        "apps|apis|roles|rules|actions|orgs|organizations|domains|logs|users|connections|event-streams|"
        "network-acl list|ls; apps|apis|roles|rules|actions|orgs|organizations|domains|users|event-streams show; "
        "actions diff; event-streams stats; users search|search-by-email; apis scopes list|ls; roles|"
        "users permissions|perms list|ls; users roles list|ls; users blocks list|ls; orgs|organizations members|"
        "roles|invitations list|ls; tenants list|ls; logs tail; logs streams list|ls|show; email templates show; "
        "email provider show; branding show; branding domains|domain list|show|default; quickstarts list; "
        "attack-protection|ap breached-password-detection|bpd|brute-force-protection|bfp|"
        "suspicious-ip-throttling|sit show|ips",
        "--reveal-secrets -r",
        "--tenant / --no-color --debug --no-input",
    ),
    "ansible-doc": ("-l|--list|-s|-t", "", "/"),
    "ansible-galaxy": (
        "role|collection list|search|info; collection verify; list|info|search",
        "-c --ignore-certs -s --server --token --api-key",
        "/",
    ),
    "ansible-config": ("list|dump|view", "-c --config", "/"),
    "cdk": ("version|doctor|notices|--version", "--app -a -b --browser", "/"),
    "prometheus": ("--version|--help-long|--help-man|-h", "", "/"),
    "promtool": ("check config|rules|metrics", "--http.config.file", "/"),
    # macOS
    "defaults": ("read|read-type|domains|find|help", "", "-host / -currentHost"),
    "diskutil": ("list|info|information|activity|listFilesystems", "", "/"),
    "launchctl": (
        "list|print|print-cache|print-disabled|blame|plist|procinfo|hostinfo|resolveport|managerpid|manageruid|"
        "managername|error|variant|version|help",
        "",
        "/",
    ),
    "networksetup": (
        "-listnetworkserviceorder|-listallnetworkservices|-listallhardwareports|-listpreferredwirelessnetworks|"
        "-listvalidMTUrange|-listvalidmedia|-listVLANs|-listdevicesthatsupportVLAN|-listBonds|-listpppoeservices|"
        "-listlocations|-getmacaddress|-getcomputername|-getinfo|-getadditionalroutes|-getv6additionalroutes|"
        "-getdnsservers|-getsearchdomains|-getwebproxy|-getsecurewebproxy|-getsocksfirewallproxy|-getftpproxy|"
        "-getstreamingproxy|-getgopherproxy|-getproxybypassdomains|-getproxyautodiscovery|-getautoproxyurl|"
        "-getairportnetwork|-getairportpower|-getMTU|-getmedia|-getnetworkserviceenabled|-getcurrentlocation|"
        "-getpassiveftp|-showpppoestatus|-showBondStatus|-isBondSupported|-version|-help|-printcommands",
        "",
        "/",
    ),
    "pkgutil": (
        "--pkgs|--packages|--pkgs-plist|--files|--pkg-info|--pkg-info-plist|--pkg-groups|--groups|--group-pkgs|"
        "--file-info|--file-info-plist|--volume|--check-signature|--payload-files|--only-files|--only-dirs|"
        "--regexp|--lsbom|-v|--verbose|--help|-h",
        "--forget --learn --edit-pkg --expand --expand-full --flatten --flatten-full --bom --repair -f",
        "/",
    ),
    "plutil": ("-lint|-p|-help", "-o -e", "/"),
    "scutil": ("--get|--dns|--proxy|-r|-w", "--set --prefs --nc --renew", "/"),
    "tmutil": (
        "help|version|destinationinfo|isexcluded|latestbackup|listbackups|listlocalsnapshotdates|"
        "listlocalsnapshots|machinedirectory|uniquesize|verifychecksums|compare|calculatedrift|status",
        "",
        "/",
    ),
    "hdiutil": ("help|info|verify|checksum|imageinfo|isencrypted|plugins|pmap", "", "/"),
    "codesign": (
        "-d|--display|-v|--verify|-dv|-dvv|-dvvv|-dvvvv|-vv|-vvv|-h|--validate-constraint",
        "-s --sign -f --force --remove-signature --extract-certificates -r --file-list",
        "/",
    ),
    "spctl": ("--assess|-a|--status|--disable-status", "--add --enable --disable --remove --reset-default", "/"),
    "dscl": (
        ". -read|-readall|-list|-search|-diff|read|readall|list|search|diff; /Local/Default -read|-readall|-list|"
        "-search",
        "-P -p -u",
        "/ -plist -raw -url -q",
    ),
    "mdimport": ("-L|-A|-X", "-r -i", "/"),
    "lipo": ("-info|-archs|-detailed_info", "-output -create -thin -extract -remove -replace", "/"),
    "sips": (
        "-g|--getProperty|--verify",
        "-s --setProperty -d --deleteProperty -o --out -r -f -c -z -Z -p -i -e -E -m -M -x -X -j --js --rotate "
        "--flip --debug",
        "/",
    ),
    "profiles": ("list|show|status|help|version|-L|-P|-H|-C", "-o --output", "/"),
    "security": (
        "help|error|show-keychain-info|find-certificate|find-identity|get-identity-preference|verify-cert|"
        "dump-trust-settings|list-smartcards|translocate-policy-check|translocate-status-check|"
        "translocate-original-path|requirement-evaluate",
        "-g -w -i -o -p -d",
        "/",
    ),
    "system_profiler": (
        "SPSoftwareDataType|SPHardwareDataType|SPMemoryDataType|SPDisplaysDataType|SPStorageDataType|"
        "SPNetworkDataType|SPUSBDataType|-listDataTypes",
        "",
        "/",
    ),
    "ruff": ("version|help|rule|linter|config", "", "/"),
}  # fmt: skip
_SAME = {
    "podman": "docker",
    "nerdctl": "docker",
    "podman-compose": "docker-compose",
    "pip3": "pip",
    "oc": "kubectl",
    "k": "kubectl",
}

# Programs of which only the version and the help are known to be harmless.
_VERSIONED = _words(
    """
    python python3 node deno bun ruby perl php java javac gcc g++ clang rustc make cmake bash zsh sh tsc eslint
    prettier black ruff mypy pytest isort flake8 pre-commit poetry pipenv tox curl wget ssh nginx psql mysql
    sqlite3 duckdb redis-server redis-cli mongod ffmpeg convert gradle mvn dotnet swift lua R Rscript ghc stack
    cabal elixir mix erl julia zig nvim vim emacs tmux screen ansible ansible-playbook ansible-vault
    ansible-inventory vagrant vault consul nomad gunzip gzip zstd rsync sqlcmd fzf rtk binhex npx pnpx conda
    mamba jest vite webpack next cargo-clippy rustfmt gofmt clang-format shellcheck hadolint unzip say
    screencapture jj hg svn
    """
)
_VERSION_LETTER = _words("python python3 pip pip3 rustc cargo ssh curl wget gzip sqlite3 java psql")
# Programs that print what is in their operands: a secret's name among them matters.
CONTENT = READS | _words(
    """
    sort shuf rg ag iconv bat batcat jq yq git sed gsed awk gawk mawk nawk uniq xxd base64 base32 less more gzip
    gunzip bzip2 bunzip2 xz unxz
    """
)


def known(name: str, args: list[str]) -> bool:
    """Whether this call is one of those that are known to be harmless.  Sentinels may be in ``args``."""
    name = _SAME.get(name, name)
    if len(args) == 1 and _tells_version(name, args[0]):
        return True
    for arg in args:
        if arg[:1] in (ANY, NAME) or (arg[:1] in (STAR, QMARK) and CHECKS.get(name) is not _awk):
            return False  # it could be an option; awk takes none behind its program
        if (ANY in arg or NAME in arg) and (name != "git" or (arg[0] == "-" and not _valued(arg))):
            return False
    if name in TOOLS and name not in CHECKS:
        return _tool(name, args)
    if name in CHECKS:
        if not CHECKS[name](args):
            return False
    elif name not in EXCEPT or forbidden(args, EXCEPT[name].split(), name == "symbols"):
        return False
    if name in ("jq", "yq") and "env" in "".join(args).lower():
        return False
    if name[:3] == "bat" and args[:1] == ["cache"]:
        return False
    return name not in CONTENT or all(readable(word) for word in operands(name, args))


def _valued(option: str) -> bool:
    """Whether only the option's value is not known."""
    name, mark, _ = option.partition("=")
    return bool(mark) and ANY not in name and NAME not in name


def _tells_version(name: str, arg: str) -> bool:
    if arg in ("--version", "--help"):
        return name in _VERSIONED or name in EXCEPT or name in TOOLS or name in CHECKS
    if arg == "-h":
        return name in _VERSIONED and name not in SHELLS
    return (
        (arg == "-V" and name in _VERSION_LETTER)
        or (arg == "-v" and name in ("node", "npm", "ruby", "php"))
        or (arg == "-version" and name == "java")
    )


_LONG_DASH = _words(
    """
    terraform tofu packer go openssl networksetup codesign lipo plutil dscl defaults spctl pkgutil scutil sips
    xattr mdimport launchctl
    """
)


def _tool(name: str, args: list[str]) -> bool:
    paths, bad, front = TOOLS[name]
    if _helps(args):
        return True
    if name == "docker" and args[:1] == ["compose"] and args[1:2] and args[1][:1] == "-":
        return _tool("docker-compose", args[1:])
    valued, _, switches = front.partition("/")
    at = _front(args, valued.split(), switches.split())
    rest = args[at:]
    if not rest:
        return False
    long_dash = name in _LONG_DASH
    for path in paths.split(";"):
        steps = path.split()
        end = ""
        if steps[-1][0] == "!":
            end = steps.pop()
        if len(rest) < len(steps) or any(rest[i] not in step.split("|") for i, step in enumerate(steps)):
            continue
        behind = rest[len(steps) :]
        if (end == "!!" and behind) or (end == "!" and any(word[:1] != "-" for word in behind)):
            continue
        own = bad.split()
        if forbidden(behind, own, long_dash):
            return False
        if name == "kubectl" and rest[0] in ("get", "events"):
            return not _secret_values(behind) and not forbidden(behind, ["-f", "--filename", "-k", "--kustomize"])
        if name in ("terraform", "tofu") and rest[0] in ("show", "state", "output"):
            return not forbidden(behind, ["-json"], True)
        if name == "helm" and rest[0] == "template":
            return not any("://" in word for word in behind)
        return all(readable(word) for word in behind if word[:1] != "-")
    return False


def _secret_values(words: list[str]) -> bool:
    """Whether ``kubectl get`` would print the values in secrets, not only their names."""
    parts = {part for word in words for part in word.lower().replace("/", ",").replace(".", ",").split(",")}
    if not parts & {"secret", "secrets"}:
        return False
    for k, word in enumerate(words):
        if word[:2] == "-o" or word.startswith(("--output", "--template")):
            value = (
                word.partition("=")[2]
                if "=" in word
                else word[2:]
                if word[:2] == "-o" and len(word) > 2
                else "".join(words[k + 1 : k + 2])
            )
            if value not in ("name", "wide"):
                return True
    return False


_STARTERS = _words(
    """
    run exec x dlx create start test debug rsh shell ssh r t init run-script tool env
    """
)


def _helps(args: list[str]) -> bool:
    """``tool sub … --help``: nothing but words in front of it, and no verb that would hand it on to another program."""
    if args[:1] in (["-h"], ["help"], ["-help"]) and len(args) == 1:
        return True
    if len(args) < 2 or args[-1] != "--help" or len(args) > 5:
        return False
    words = args[:-1]
    if not all(w.replace("-", "").isalnum() and w[0].isalpha() for w in words):
        return False
    return not any(w in _STARTERS for w in words[:-1])


def _front(args: list[str], valued: Collection[str], switches: Collection[str]) -> int:
    """How many words the known options in front of a subcommand take."""
    i = 0
    while i < len(args) and args[i][:1] == "-":
        arg = args[i]
        if arg in valued:
            i += 2
        elif arg in switches or (arg[:2] == "--" and arg.partition("=")[0] in valued):
            i += 1
        else:
            break
    return i


# -- programs with a function of their own ---------------------------------------------------------------------

_GIT_PLAIN = _words(
    """
    status log diff show rev-parse ls-files ls-tree blame annotate describe shortlog cat-file name-rev rev-list
    merge-base cherry for-each-ref show-ref show-branch count-objects whatchanged diff-index diff-files
    diff-tree range-diff check-ignore check-attr check-mailmap grep verify-commit verify-tag fsck var version
    """
)
_GIT_BAD = [
    "--output",
    "--ext-diff",
    "--open-files-in-pager",
    "--lost-found",
    "--upload-pack",
    "--exec",
    "--filters",
    "--textconv",
]
_GIT_LISTS = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
_GIT_LIST_OPTIONS = _words(
    """
    -a --all -r --remotes -v -vv -va -av -avv -vva -ra -rv -vr --verbose -l --list --contains --no-contains
    --merged --no-merged --points-at --sort --format --show-current --color --no-color --column --no-column
    --abbrev --no-abbrev -i --ignore-case --omit-empty -n
    """
)
_GIT_PARTS = {
    "stash": ("list", "show"),
    "reflog": ("show", "exists", "list"),
    "worktree": ("list",),
    "submodule": ("status", "summary"),
    "notes": ("list", "show"),
    "bisect": ("log",),
    "bundle": ("verify", "list-heads"),
    "sparse-checkout": ("list",),
    "lfs": ("ls-files", "status", "env", "version", "locks"),
    "rerere": ("status", "diff", "remaining"),
}


_GIT_FRONT = _words(
    """
    --no-pager -P --no-optional-locks --literal-pathspecs -p --paginate --no-replace-objects --glob-pathspecs
    --icase-pathspecs
    """
)
_GIT_REMOTE_OPTIONS = _words(
    """
    -h --heads --branches -t --tags --refs --exit-code -q --quiet --symref --get-url
    """
)


def _git(args: list[str]) -> bool:
    if _helps(args):
        return True
    at = _front(
        args,
        ["-C"],
        _GIT_FRONT,
    )
    sub, rest = args[at] if at < len(args) else "", args[at + 1 :]
    if sub in ("--version", "--html-path", "--man-path", "--info-path", "--exec-path"):
        return not rest
    if forbidden(rest, _GIT_BAD):
        return False
    words = [a for a in rest if a[:1] != "-"]
    if sub not in _GIT_PLAIN and any(ANY in a or NAME in a for a in args):
        return False
    if sub in _GIT_PLAIN:
        return not (sub == "grep" and any(a[:1] == "-" and a[:2] != "--" and "O" in a for a in rest))
    if sub in ("branch", "tag"):
        listing = any(a.partition("=")[0] in _GIT_LISTS or (sub == "tag" and a[:2] == "-n") for a in rest)
        for a in rest:
            if (
                a[:1] == "-"
                and a.partition("=")[0] not in _GIT_LIST_OPTIONS
                and not (sub == "tag" and a[:2] == "-n" and a[2:].isdigit())
            ):
                return False
            if a == "-n" and sub == "branch":
                return False
        return listing or not words or (words == rest[-1:] and rest[-2:-1] in (["--sort"], ["--format"]))
    if sub == "remote":
        return (
            not rest
            or rest in (["-v"], ["--verbose"])
            or (words[:1] in (["show"], ["get-url"]) and rest[0] in ("show", "get-url", "-v"))
        )
    if sub == "config":
        return _git_config(rest, words)
    if sub in _GIT_PARTS:
        return (not rest and sub in ("reflog", "submodule")) or rest[:1] in [[part] for part in _GIT_PARTS[sub]]
    if sub == "ls-remote":
        return all(a in _GIT_REMOTE_OPTIONS for a in rest if a[:1] == "-") and not any(
            ":" in w or "/" in w for w in words[:1]
        )
    if sub == "symbolic-ref":
        return len(words) == 1 and all(a in ("--short", "-q", "--quiet") for a in rest if a[:1] == "-")
    if sub == "hash-object":
        return all(a in ("--stdin", "--no-filters", "-t") for a in rest if a[:1] == "-")
    if sub == "replace":
        return rest[:1] in (["-l"], ["--list"])
    return False


_GIT_CONFIG_SCOPE = _words(
    """
    --global --local --system --worktree --show-origin --show-scope -z --null --name-only --includes
    --no-includes --all --bool --int --path --type --default
    """
)


def _git_config(rest: list[str], words: list[str]) -> bool:
    """Reading, and not what a credential hides behind."""
    if any(mark in w.lower() for w in words for mark in ("token", "password", "extraheader", "credential", "secret")):
        return False
    first = [a.partition("=")[0] for a in rest if a[:1] == "-" and a.partition("=")[0] not in _GIT_CONFIG_SCOPE]
    if first and first[0] in ("-l", "--list"):
        return len(first) == 1 and not words
    if first and first[0] in ("--get", "--get-all", "--get-regexp", "--get-urlmatch"):
        return len(first) == 1 and bool(words)
    if first:
        return False
    if words[:1] in (["list"], ["get"]):
        return True
    return len(words) == 1 and "." in words[0]


def _find(args: list[str]) -> bool:
    for word in args:
        if word[:1] == "-" and word.startswith(("-delete", "-ok", "-fprint", "-fls", "-files0-from")):
            return False
    return True  # what -exec starts has a finding of its own


_SED_SWITCHES = _words(
    """
    --posix --sandbox --csv --traditional --re-interval --debug --quiet --silent --regexp-extended --unbuffered
    --null-data --separate --zero-terminated -n -E -r -u -z -s -nE -En -nr -rn -ns -nz -zE -Ez -a
    """
)


def script_of(name: str, args: list[str]) -> tuple[str | None, list[str]]:
    """The program text of sed and awk and the operands behind it; None where it is not all on the line."""
    valued = ("-F", "-v", "--field-separator", "--assign") if name != "sed" else ("-l", "--line-length")
    script: str | None = None
    i = 0
    while i < len(args):
        arg = args[i]
        if arg == "--":
            i += 1
            break
        if arg[:1] != "-" or len(arg) == 1:
            break
        if arg in valued:
            i += 2
        elif name == "sed" and arg in ("-e", "--expression", "-ne", "-Ee", "-nEe", "-re", "-nre") and i + 1 < len(args):
            script = args[i + 1] if script is None else script + "\n" + args[i + 1]
            i += 2
        elif name == "sed" and arg[:13] == "--expression=":
            script = arg[13:] if script is None else script + "\n" + arg[13:]
            i += 1
        elif (
            (name == "sed" and arg in _SED_SWITCHES)
            or arg in ("--posix", "--csv", "--traditional", "--re-interval")
            or (name != "sed" and (arg[:2] in ("-F", "-v") or arg.startswith(("--field-separator=", "--assign="))))
        ):
            i += 1
        else:
            return None, []
    # sed takes options behind its operands too
    if name == "sed" and any(a[:1] == "-" and len(a) > 1 for a in args[i:]):
        return None, []
    if script is None:
        if i >= len(args):
            return None, []
        return args[i], args[i + 1 :]
    return script, args[i:]


def _sed(args: list[str]) -> bool:
    script, _ = script_of("sed", args)
    return script is not None and sed_only_prints(script)


def _awk(args: list[str]) -> bool:
    script, _ = script_of("awk", args)
    if script is None or any(mark in script for mark in (ANY, NAME, STAR, QMARK)):
        return False
    return awk_only_prints(script)


def sed_only_prints(script: str) -> bool:
    """Whether a sed script has no command that writes, reads another file or runs something."""
    i, n = 0, len(script)

    def regex(at: int, mark: str) -> int:
        """The place behind a regular expression that ends with ``mark``, -1 when unsure."""
        while at < n:
            c = script[at]
            if c == "\\":
                at += 2
                continue
            if c == "\n":
                return -1
            if c == "[":
                close = script.find("]", at + 2)
                if close < 0 or mark in script[at:close] or ("\\" in script[at:close] and mark == "\\"):
                    return -1  # GNU and BSD disagree on a mark in brackets
                at = close + 1
                continue
            if c == mark:
                return at + 1
            at += 1
        return -1

    while i < n:
        c = script[i]
        if c in " \t\n;{}!,+~$" or c.isdigit():
            i += 1
            continue
        if c == "/" or (c == "\\" and i + 1 < n):
            mark = "/" if c == "/" else script[i + 1]
            i = regex(i + (1 if c == "/" else 2), mark)
            if i < 0:
                return False
            while script[i : i + 1] in ("I", "M") and script[i : i + 1]:
                i += 1
            continue
        i += 1
        if c in "dDgGhHnNpPxlz=qQF":
            continue
        if c in "sy":
            mark = script[i : i + 1]
            if not mark or mark in "\n\\":
                return False
            i = regex(i + 1, mark)
            while 0 <= i < n and script[i] != mark:  # the replacement may hold newlines behind a backslash
                i += 2 if script[i] == "\\" else 1
            if i < 0 or i >= n:
                return False
            i += 1
            while i < n and (script[i] in "gpiIMm" or script[i].isdigit()) and c == "s":
                i += 1
            if i < n and script[i] not in " \t\n;}#":
                return False
            continue
        if c in ":btT":
            while i < n and script[i] not in "\n;}":
                i += 1
            continue
        if c in "aic":
            while i < n and script[i] != "\n":
                i += 2 if script[i] == "\\" else 1
            continue
        if c == "#":
            while i < n and script[i] != "\n":
                i += 1
            continue
        return False
    return True


def awk_only_prints(program: str) -> bool:
    """Whether an awk program neither writes files, nor runs commands, nor reads what is not on the line."""
    for word in ("system", "getline", "ENVIRON", "ARGV", "PROCINFO", "extension", "@"):
        if word in program:
            return False
    i, n, depth = 0, len(program), 0
    operand = True  # whether a "/" here would begin a regular expression
    printing = False
    while i < n:
        c = program[i]
        if c == '"':
            i += 1
            while i < n and program[i] != '"':
                if program[i] == "\n":
                    return False
                i += 2 if program[i] == "\\" else 1
            if i >= n:
                return False
            operand = False
        elif c == "/" and operand:
            i += 1
            while i < n and program[i] != "/":
                if program[i] == "\n":
                    return False
                if program[i] == "[":
                    close = program.find("]", i + 2)
                    if close < 0 or "/" in program[i:close] or "\\" in program[i:close] or '"' in program[i:close]:
                        return False
                    i = close
                i += 2 if program[i] == "\\" else 1
            if i >= n:
                return False
            operand = False
        elif c == "/" and program[i - 1 : i] in (")", "+", "-", "\n"):
            return False  # a division or a regular expression: not told apart here
        elif c.isalpha() or c == "_":
            j = i
            while j < n and (program[j].isalnum() or program[j] == "_"):
                j += 1
            word = program[i:j]
            if word in ("print", "printf"):
                printing = True
            operand = word in ("print", "printf", "return", "else", "do", "in", "case")
            i = j
            continue
        elif c.isdigit() or c == ".":
            operand = False
        elif c in ")]":
            depth -= c == ")"
            if c == ")" and program[i + 1 :].lstrip(" \t")[:1] == "/":
                return False
            operand = False
        elif c == "#":
            while i < n and program[i] != "\n":
                i += 1
            continue
        elif c in " \t":
            pass
        elif c == "\\":
            return False
        elif c == "|":
            if program[i + 1 : i + 2] != "|":
                return False
            i += 1
            operand = True
        elif c == ">" and depth == 0 and printing:
            return False
        else:
            if c == "(":
                depth += 1
            elif c in ";{}":
                printing = printing and depth > 0
            if program[i : i + 2] in ("++", "--"):
                if program[i + 2 :].lstrip(" \t")[:1] == "/":
                    return False
                i += 2
                continue
            operand = True
        i += 1
    return True


def _uniq(args: list[str]) -> bool:
    words: list[str] = []
    i = 0
    while i < len(args):
        if args[i] in ("-f", "-s", "-w", "--skip-fields", "--skip-chars", "--check-chars"):
            i += 1
        elif args[i][:1] != "-" or args[i] == "-":
            words.append(args[i])
        i += 1
    return len(words) <= 1


def _xxd(args: list[str]) -> bool:
    words = [
        a
        for k, a in enumerate(args)
        if a[:1] != "-"
        and not (k and args[k - 1] in ("-c", "-l", "-s", "-g", "-o", "-n", "-cols", "-len", "-seek", "-name"))
    ]
    return len(words) <= 1 and not any(a[:1] == "-" and "r" in a for a in args if a != "-version" and a[:2] != "--")


def _base64(args: list[str]) -> bool:
    return all(
        a in ("-w", "--wrap", "-b", "-i", "--input", "-w0", "-", "-e", "--encode", "-n", "--noerrcheck")
        or a[:1] != "-"
        or a[:7] == "--wrap="
        or (a[:2] == "-w" and a[2:].isdigit())
        for a in args
    )


def _date(args: list[str]) -> bool:
    i = 0
    while i < len(args):
        arg = args[i]
        if arg in ("-d", "--date", "-r", "--reference", "-v", "-I", "--iso-8601", "--rfc-3339") and arg != "-I":
            i += 2
            continue
        if arg == "-j":  # BSD: nothing is set
            return True
        if arg[:1] == "-" and (
            arg in ("-u", "--utc", "--universal", "-R", "--rfc-email", "--rfc-2822", "-n")
            or arg.startswith(("-I", "--date=", "--iso-8601=", "--rfc-3339=", "--reference=", "-d", "-v"))
        ):
            i += 1
            continue
        if arg[:1] != "+":
            return False
        i += 1
    return True


_HOSTNAME_OPTIONS = _words(
    """
    -f -s -i -I -d -A -a -y --fqdn --long --short --ip-address --all-ip-addresses --domain --all-fqdns
    """
)


def _hostname(args: list[str]) -> bool:
    return all(a in _HOSTNAME_OPTIONS for a in args)


def _ps(args: list[str]) -> bool:
    """``e`` without a dash (and ``-E`` on macOS) shows every process's environment."""
    for k, arg in enumerate(args):
        before = args[k - 1] if k else ""
        if arg[:1] != "-" and arg.isalpha() and "e" in arg and before[:1] != "-":
            return False
        if arg[:1] == "-" and arg[:2] != "--" and "E" in arg:
            return False
    return True


def _top(args: list[str]) -> bool:
    return any(a[:1] == "-" and ("b" in a or a == "-l") for a in args)


def _less(args: list[str]) -> bool:
    return all(
        a[:1] != "+" and (a[:1] != "-" or (a[1:2] != "-" and not set(a[1:]) - set("RFXSNniIeEMmqrsgG"))) for a in args
    )


def _man(args: list[str]) -> bool:
    return all(a[:1] != "-" or a in ("-k", "-f", "-w", "-a", "-W") for a in args) and bool(args)


_TAR_OPTIONS = _words(
    """
    --list --file --verbose --wildcards --gzip --bzip2 --xz --zstd --exclude --directory --full-time
    --numeric-owner --strip-components
    """
)


def _tar(args: list[str]) -> bool:
    if not args:
        return False
    listing = False
    for k, arg in enumerate(args):
        if arg[:2] == "--":
            name = arg.partition("=")[0]
            if name not in _TAR_OPTIONS:
                return False
            listing = listing or name == "--list"
        elif (arg[:1] == "-" and len(arg) > 1) or k == 0:
            letters = arg.lstrip("-")
            if set(letters) - set("tvfzjJaC"):
                return False
            listing = listing or "t" in letters
        elif ":" in arg:
            return False  # an archive on another machine
    return listing


def _unzip(args: list[str]) -> bool:
    first = args[0] if args else ""
    if first[:1] != "-" or (any(a[:1] == "-" for a in args[1:]) and first[:2] != "-Z"):
        return first in ("-h", "-hh") and len(args) == 1
    return (
        first[:2] == "-Z"
        or first in ("-h", "-hh")
        or (not set(first[1:]) - set("lvtzqCM") and bool(set(first[1:]) & set("lvtz")))
    )


def _seven(args: list[str]) -> bool:
    return args[:1] in (["l"], ["t"], ["i"], ["h"], ["b"]) and not forbidden(args[1:], ["-o", "-w"])


_GZIP_OPTIONS = _words(
    """
    --stdout --to-stdout --list --test --decompress --uncompress --quiet --verbose --force --help --version
    --keep
    """
)


def _compressed(args: list[str]) -> bool:
    """gzip and its kin: to stdout, listing or testing."""
    out = False
    for arg in args:
        if arg[:2] == "--":
            if arg not in _GZIP_OPTIONS:
                return False
            out = out or arg in ("--stdout", "--to-stdout", "--list", "--test")
        elif arg[:1] == "-" and len(arg) > 1:
            if set(arg[1:]) - set("cdltqvfk123456789"):
                return False
            out = out or bool(set(arg[1:]) & set("ctl"))
    return out


_IP_OPTIONS = _words(
    """
    -4 -6 -s -d -j -p -br -o -c -h -r -0 -V -stats -statistics -details -json -pretty -brief -oneline -color
    -human -resolve
    """
)
_IP_OBJECTS = _words(
    """
    a ad add addr addre address l li lin link r ro route ru rule n ne neigh neighbor neighbour tu tunn tunnel
    tunt tuntap m ma maddr maddress ntable netns mroute vrf nexthop addrlabel token tcp_metrics l2tp macsec fou
    mrule sr netconf netc stats stat st
    """
)


def _ip(args: list[str]) -> bool:
    i = 0
    while i < len(args) and args[i][:1] == "-":
        if args[i] not in _IP_OPTIONS:
            return False
        if args[i] == "-V":
            return len(args) == 1
        i += 1
    words = args[i:]
    if not words:
        return False
    if words[0] in ("monitor", "mon", "mo", "help"):
        return len(words) < 3
    if words[0] not in _IP_OBJECTS:
        return False
    return (
        len(words) == 1
        or words[1] in ("show", "sh", "list", "ls", "lst", "help")
        or (words[1] == "get" and words[0][0] in "rn")
        or (words[0] == "netns" and words[1] in ("identify", "pids", "list-id"))
    )


def _ifconfig(args: list[str]) -> bool:
    return len(args) <= 1 or (len(args) == 2 and args[0] in ("-a", "-s", "-v", "-l"))


_SYSCTL_OPTIONS = _words(
    """
    -a -n -e -N -A -X -d -b -r --all --values --names --ignore --pattern
    """
)


def _sysctl(args: list[str]) -> bool:
    return bool(args) and not any("=" in a for a in args) and all(a in _SYSCTL_OPTIONS or a[:1] != "-" for a in args)


def _tee(args: list[str]) -> bool:
    return all(a in ("-a", "/dev/null", "/dev/stderr", "/dev/stdout") for a in args)


def _exactly(*forms: str) -> Callable[[list[str]], bool]:
    wanted = [form.split() for form in forms]
    return lambda args: args in wanted


_SECRET_WORDS = _words(
    """
    TOKEN SECRET PASS KEY CRED AUTH PRIVATE DSN DATABASE_URL COOKIE SESSION PWD_
    """
)


def _printenv(args: list[str]) -> bool:
    return bool(args) and all(a[:1] != "-" and not any(mark in a.upper() for mark in _SECRET_WORDS) for a in args)


def _rpm(args: list[str]) -> bool:
    return (
        bool(args)
        and args[0][:2] == "-q"
        and not forbidden(
            args[1:],
            ["--define", "-D", "-E", "--eval", "--pipe", "--load", "--macros", "--rcfile", "--dbpath", "--root", "-r"],
        )
        and not any("%(" in a or "%{lua" in a for a in args)
    )


_X509_OPTIONS = _words(
    """
    -noout -text -in -inform -subject -issuer -dates -startdate -enddate -serial -fingerprint -sha256 -sha1
    -pubkey -modulus -purpose -ext -nameopt -certopt -hash -issuer_hash -subject_hash -email -ocsp_uri -checkend
    -checkhost -checkip -alias
    """
)


def _openssl(args: list[str]) -> bool:
    if args[:1] in (["version"], ["help"], ["list"]):
        return True
    return args[:1] == ["x509"] and "-noout" in args and all(a in _X509_OPTIONS for a in args[1:] if a[:1] == "-")


def _xattr(args: list[str]) -> bool:
    return bool(args) and all(not set(a[1:]) - set("lprvxzs") for a in args if a[:1] == "-")


def _checker(*options: str) -> Callable[[list[str]], bool]:
    """A formatter that is told to only compare."""
    return lambda args: any(a in options for a in args) and not any(a in ("-o", "--output", "-c=") for a in args)


_FZF_LOUD = _words(
    """
    --preview --listen --listen-unsafe --history --with-shell --tmux --popup --become --walker-root
    """
)


def _fzf(args: list[str]) -> bool:
    for k, arg in enumerate(args):
        value = arg[7:] if arg[:7] == "--bind=" else args[k + 1] if arg == "--bind" and k + 1 < len(args) else ""
        if any(
            mark in value
            for mark in ("execute", "become", "reload", "transform", "preview:", "preview(", "(", "{", "`", "$")
        ):
            return False
    return not any(a.partition("=")[0] in _FZF_LOUD for a in args)


_AWS_FRONT = [
    "--region",
    "--profile",
    "--output",
    "--query",
    "--color",
    "--cli-read-timeout",
    "--cli-connect-timeout",
    "--cli-binary-format",
    "--ca-bundle",
]
_AWS_GETS = _words(
    """
    sts iam ec2 lambda logs cloudwatch route53 cloudformation dynamodb rds ecr eks athena sqs sns kinesis
    cognito-idp ssm secretsmanager s3api configservice ce cloudtrail elbv2 autoscaling acm kms organizations
    events budgets pricing servicequotas resourcegroupstaggingapi xray wafv2 backup batch
    """
)
_AWS_OTHER = {
    "s3": _words("ls"),
    "logs": _words("tail filter-log-events"),
    "cloudtrail": _words("lookup-events"),
    "dynamodb": _words("query scan batch-get-item transact-get-items"),
    "cloudformation": _words("validate-template estimate-template-cost"),
    "route53": _words("test-dns-answer"),
    "iam": _words("simulate-principal-policy simulate-custom-policy"),
    "sns": _words("check-if-phone-number-is-opted-out"),
    "s3api": _words("head-bucket head-object"),
    "ecr": _words("batch-get-image batch-check-layer-availability"),
    "athena": _words("batch-get-named-query batch-get-query-execution batch-get-prepared-statement"),
    "cognito-idp": _words("admin-get-user admin-list-groups-for-user admin-list-user-auth-events admin-list-devices"),
    "configure": _words("list list-profiles"),
    "kinesis": _words("get-records"),
    "rds": _words("download-db-log-file-portion"),
}


def _aws(args: list[str]) -> bool:
    if _helps(args) or (args[-1:] == ["help"] and len(args) <= 3):
        return True
    at = _front(args, _AWS_FRONT, ["--no-cli-pager", "--no-paginate", "--debug", "--no-color", "--no-cli-auto-prompt"])
    if len(args) < at + 2 or forbidden(
        args, ["--endpoint-url", "--no-verify-ssl", "--with-decryption", "--cli-auto-prompt"]
    ):
        return False
    service, act, rest = args[at], args[at + 1], args[at + 2 :]
    if not service.replace("-", "").isalnum() or not act.replace("-", "").isalnum():
        return False
    if service == "configure" and act == "get":
        return rest in (["region"], ["output"])
    if any(not readable(w) for w in rest if w[:1] != "-"):
        return False
    if act in _AWS_OTHER.get(service, ()):
        return True
    if act.startswith(("describe-", "list-")):
        return True
    if not act.startswith("get-") or service not in _AWS_GETS:
        return False
    if act in ("get-object", "get-object-torrent"):
        return False  # they write a file
    if act.endswith(("policy", "profile", "details", "config", "report", "last-used", "info")):
        return True
    return not set(act.split("-")) & {
        "secret",
        "password",
        "token",
        "credentials",
        "login",
        "parameter",
        "parameters",
        "authorization",
        "vpn",
    }


_GCLOUD_NOUNS = _words(
    """
    alpha beta compute instances backend-services ssl-certificates disks snapshots images regions zones networks
    subnets firewall-rules routers routes addresses machine-types instance-groups managed unmanaged
    instance-templates forwarding-rules health-checks target-pools url-maps target-http-proxies
    target-https-proxies vpn-tunnels container clusters node-pools operations run services revisions jobs
    executions iam roles service-accounts keys secrets versions functions app logs projects config
    configurations components logging sinks metrics buckets views dns managed-zones record-sets policies storage
    objects artifacts repositories docker packages tags certificate-manager certificates trust-configs maps
    dns-authorizations network-security server-tls-policies client-tls-policies gateway-security-policies
    authorization-policies iap settings web tcp tunnels sql databases backups users tiers kms keyrings keys
    pubsub topics subscriptions schemas auth organizations folders builds triggers scheduler tasks queues redis
    memcache filestore dataflow dataproc bigtable spanner firestore monitoring dashboards endpoints source repos
    quotas billing accounts asset workflows eventarc locations api-gateway apis gateways deploy releases
    rollouts notebooks ai models spanner instance-configs composer environments domains registrations
    """
)


_GCLOUD_VERBS = _words(
    """
    list describe get-iam-policy list-tags list-grantable-roles get-ancestors get-server-config list-usable
    """
)


def _gcloud(args: list[str]) -> bool:
    if _helps(args):
        return True
    if forbidden(args, ["--access-token-file", "--impersonate-service-account", "--flags-file", "--log-http"]):
        return False
    at = _front(
        args,
        ["--project", "--account", "--configuration", "--format", "--region", "--zone", "--verbosity", "--filter"],
        ["--quiet", "-q"],
    )
    words = args[at:]
    if words[:1] in (["help"], ["info"], ["version"], ["topic"], ["cheat-sheet"]):
        return True
    i = 0
    while i < len(words) and words[i] in _GCLOUD_NOUNS:
        if words[i] in ("run", "deploy") and i and words[i - 1] not in ("alpha", "beta"):
            return False  # a group at the front, a verb further on
        i += 1
    if not i or i >= len(words):
        return False
    verb = words[i]
    if words[0] == "config":
        return verb in ("list", "get-value", "get", "describe") and not any(
            "token" in w or "password" in w for w in words
        )
    if verb == "read":
        return words[0] in ("logging", "app", "functions", "run", "beta", "alpha", "builds")
    if verb == "get":
        return words[:2] == ["iap", "settings"]
    return verb in _GCLOUD_VERBS


_AZ_NOUNS = _words(
    """
    vm vmss image disk snapshot group aks nodepool acr repository manifest storage account container blob share
    table queue file directory network vnet subnet nsg rule public-ip nic lb application-gateway dns zone
    record-set route-table private-endpoint private-dns vpn-connection express-route bastion network-watcher
    watcher front-door traffic-manager webapp functionapp appservice plan log logs deployment source slot
    operation sub mg tenant boards work-item iteration area team project devops wiki user security group
    pipelines runs variable-group build definition folder agent pool repos pr policy ref
    cognitiveservices model containerapp revision env replica monitor log-analytics activity-log metrics alert
    diagnostic-settings action-group autoscale workspace resource provider role assignment definition ml
    endpoint job compute environment data component datastore online-endpoint batch-endpoint sql server db
    elastic-pool firewall-rule mi postgres mysql flexible-server cosmosdb database mongodb collection gremlin
    cassandra servicebus namespace topic subscription eventhubs eventhub consumer-group redis sshkey appconfig
    kv apim api logicapp quantum lock tag advisor recommendation ad app sp signed-in-user member owner identity
    feature extension cloud config bicep keyvault certificate key batch cdn profile signalr search service iot
    hub device-identity maps consumption usage budget reservations reservation billing invoice backup vault item
    policy initiative exemption state set-definition synapse spark databricks kusto cluster hdinsight
    datafactory pipeline backup-instance connectedk8s k8s-extension static-webapp staticwebapp spring stack afd
    rule-set origin custom-domain hostname certificates dls fs entity cors queue-service maintenance managed-app
    failover-group ip-config service-endpoint page metadata function authorization-rule deployment-scripts ts
    template-specs artifacts universal linked-service trigger event-subscription eventgrid domain
    management-group entities
    """
)


_AZ_SECRET = ("key", "secret", "credential", "connection", "publish", "token", "cookie")
_AZ_VERBS = _words(
    """
    list show exists query show-tags show-usage show-manifests check-health tail get-versions get-upgrades
    get-instance-view url version
    """
)


def _az(args: list[str]) -> bool:
    if _helps(args):
        return True
    at = _front(args, ["--subscription", "--query", "--output", "-o"], ["--verbose", "--only-show-errors", "--debug"])
    words = args[at:]
    if words[:1] in (["version"], ["find"], ["--version"]):
        return True
    if forbidden(args, ["--show-secrets", "--with-secrets", "--file", "--auth-key"]):
        return False
    i = 0
    while i < len(words) and words[i] in _AZ_NOUNS:
        i += 1
    if "build" in words[:i] and words[0] not in ("pipelines", "repos"):
        return False
    if words[:2] == ["container", "logs"]:
        return True
    if not i or i >= len(words):
        return False
    verb = words[i]
    if verb == "secret" and words[0] == "keyvault":
        return words[i + 1 : i + 2] in (["list"], ["list-versions"], ["list-deleted"])
    if verb not in _AZ_VERBS and (not verb.startswith("list-") or any(mark in verb for mark in _AZ_SECRET)):
        return False
    if verb == "query":
        return words[0] in ("boards", "monitor", "storage") and i > 0
    if verb == "tail":
        return "log" in words[:i]
    return not (words[0] == "appconfig" and "kv" in words) and not (
        words[0] == "storage" and "file" in words[:i] and verb == "url"
    )


def _gh(args: list[str]) -> bool:
    """``gh api`` reads unless it is given another method or fields; the rest is in the table."""
    if args[:1] != ["api"]:
        return _tool("gh", args)
    if _helps(args):
        return True
    method, fields = "", False
    i = 1
    while i < len(args):
        arg = args[i]
        if arg in ("-X", "--method"):
            method = args[i + 1].upper() if i + 1 < len(args) else "?"
            i += 2
            continue
        if arg.startswith("--method="):
            method = arg[9:].upper()
        elif arg[:2] == "-X":
            method = arg[2:].lstrip("=").upper()
        elif arg in ("-f", "-F", "--field", "--raw-field") or arg.startswith(("-f", "-F", "--field=", "--raw-field=")):
            fields = True
            if "=@" in arg or "=@" in "".join(args[i + 1 : i + 2]):
                return False
            i += 2 if len(arg) == 2 or arg in ("--field", "--raw-field") else 1
            continue
        elif arg in ("-q", "--jq", "-t", "--template", "--cache", "-H", "--header", "-p", "--preview"):
            if arg in ("-H", "--header") and any("override" in a.lower() for a in args):
                return False
            i += 2
            continue
        elif (
            (
                arg[:1] == "-"
                and arg not in ("--paginate", "--slurp", "-i", "--include", "--silent", "--verbose")
                and not arg.startswith(("--jq=", "--template=", "--cache="))
            )
            or arg.lstrip("/").startswith("graphql")
            or "://" in arg
        ):
            return False
        i += 1
    return method in ("GET", "HEAD") or (method == "" and not fields)


CHECKS: dict[str, Callable[[list[str]], bool]] = {
    "git": _git,
    "uniq": _uniq,
    "xxd": _xxd,
    "hostname": _hostname,
    "ps": _ps,
    "top": _top,
    "man": _man,
    "tar": _tar,
    "unzip": _unzip,
    "ip": _ip,
    "ifconfig": _ifconfig,
    "sysctl": _sysctl,
    "tee": _tee,
    "printenv": _printenv,
    "rpm": _rpm,
    "aws": _aws,
    "gcloud": _gcloud,
    "az": _az,
    "gh": _gh,
    "fzf": _fzf,
    "openssl": _openssl,
    "xattr": _xattr,
    "black": _checker("--check", "--diff"),
    "isort": _checker("--check", "--check-only", "--diff", "-c", "-d"),
    "crontab": _exactly("-l"),
    "mount": _exactly("", "-l"),
    "kill": _exactly("-l", "-L"),
    "mktemp": lambda args: args[:1] == ["-u"],
    "getent": lambda args: bool(args) and not any("shadow" in a for a in args),
    "last": lambda args: True,
    **dict.fromkeys(("atq", "arch", "lastlog"), _exactly("")),
    **dict.fromkeys(("find", "gfind"), _find),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("base64", "base32"), _base64),
    **dict.fromkeys(("date", "gdate"), _date),
    **dict.fromkeys(("less", "more"), _less),
    **dict.fromkeys(("7z", "7za", "7zr", "7zz"), _seven),
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz"), _compressed),
}
