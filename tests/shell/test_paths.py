"""What a path is to the person at the machine.  In the table ``$`` stands for an unknown piece, ``%`` for an unknown
piece without a slash, ``*`` and ``?`` for live wildcards."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from jevhook.shell.finding import ANY, KINDS, NAME, QMARK, ROLES, STAR, Target
from jevhook.shell.paths import Place, absolute, classify, glob_match, is_within
from jevhook.shell.world import Git, RealWorld

HOME, CWD = "/home/dev", "/home/dev/work/shop"


class Nothing:
    """A world with nothing in it."""

    def __init__(self, home: str = HOME, env: Mapping[str, str] | None = None) -> None:
        self.home, self.user = home, "dev"
        self.env: Mapping[str, str] = env or {}

    def kind(self, path: str) -> str:
        return ""

    def real(self, path: str) -> str:
        return path

    def names(self, path: str, limit: int) -> list[str] | None:
        return None

    def text(self, path: str, limit: int) -> str | None:
        return None

    def size(self, path: str) -> int:
        return -1

    def git(self, path: str) -> Git | None:
        return None


def marked(text: str) -> str:
    return text.replace("*", STAR).replace("?", QMARK).replace("$", ANY).replace("%", NAME)


def seen(raw: str, cwd: str = CWD, home: str = HOME, env: Mapping[str, str] | None = None) -> Target:
    return classify(marked(raw), cwd, Place(Nothing(home, env), cwd, [f"{home}/.config/jevhook"]))


# fmt: off
PATHS = [
    ('/', 'root', ''),
    ('//', 'root', ''),
    ('/.', 'root', ''),
    ('/..', 'root', ''),
    ('/tmp/../', 'root', ''),
    ('/home', 'home', ''),
    ('/home/dev', 'home', ''),
    ('/home/dev/', 'home', ''),
    ('/home/dev/./', 'home', ''),
    ('~', 'home', ''),
    ('~/', 'home', ''),
    ('~/work', 'project-parent', ''),
    ('~/.bashrc', 'home-config', 'shell-rc'),
    ('~/.config/app/x', 'home-config', ''),
    ('~/.cache', 'cache', ''),
    ('~/.npm/_cacache', 'cache', ''),
    ('~/notes/a.txt', 'home-item', ''),
    ('/home/eve', 'other-home', ''),
    ('/home/eve/x', 'other-home', ''),
    ('/root', 'other-home', ''),
    ('/root/.cache/pip', 'cache', ''),
    ('/Users/ann/x', 'other-home', ''),
    ('.', 'project-root', ''),
    ('./', 'project-root', ''),
    ('..', 'project-parent', ''),
    ('../..', 'home', ''),
    ('../../..', 'home', ''),
    ('../other', 'home-item', ''),
    ('src/a.py', 'project', ''),
    ('.git', 'git-dir', ''),
    ('.git/hooks/pre-commit', 'git-dir', 'git-hook'),
    ('.git/index.lock', 'project', ''),
    ('.git/config', 'git-dir', 'git-config'),
    ('node_modules', 'build', ''),
    ('packages/a/dist/x.js', 'build', ''),
    ('a.log', 'build', ''),
    ('.env', 'project', 'secret'),
    ('.env.example', 'project', ''),
    ('.env.production', 'project', 'secret'),
    ('config/secrets.yml', 'project', 'secret'),
    ('id_rsa', 'project', 'secret'),
    ('~/.ssh', 'home-config', 'secret ssh'),
    ('~/.ssh/id_ed25519', 'home-config', 'secret ssh'),
    ('~/.ssh/id_ed25519.pub', 'home-config', 'ssh'),
    ('~/.ssh/authorized_keys', 'home-config', 'ssh'),
    ('~/.ssh/config', 'home-config', 'ssh'),
    ('~/.aws/credentials', 'home-config', 'secret'),
    ('server.pem', 'project', 'secret'),
    ('ca-bundle.pem', 'project', ''),
    ('~/.claude', 'home-config', 'hook-settings'),
    ('~/.claude/settings.json', 'home-config', 'hook-settings'),
    ('.claude/settings.local.json', 'project', 'hook-settings'),
    ('.CLAUDE/Settings.JSON', 'project', 'hook-settings'),
    ('.claude/commands/a.md', 'project', ''),
    ('.claude/hooks/gate.py', 'project', 'hook-settings'),
    ('~/.codex/config.toml', 'home-config', 'hook-settings'),
    ('.jevhook.toml', 'project', 'gate'),
    ('~/.config/jevhook', 'home-config', 'gate'),
    ('~/.config/jevhook/config.toml', 'home-config', 'gate'),
    ('.github/workflows/ci.yml', 'project', 'ci'),
    ('package.json', 'project', 'package-scripts'),
    ('app.db', 'project', 'database-file'),
    ('~/.gitconfig', 'home-config', 'git-config'),
    ('.husky/pre-commit', 'project', 'git-hook'),
    ('~/.zsh_history', 'home-config', 'history'),
    ('/etc', 'system', 'top'),
    ('/etc/hosts', 'system', 'system-config'),
    ('/etc/passwd', 'system', 'system-config'),
    ('/etc/shadow', 'system', 'secret system-config'),
    ('/etc/sudoers', 'system', 'secret system-config'),
    ('/etc/cron.d/x', 'system', 'cron system-config'),
    ('/etc/systemd/system/x.service', 'system', 'autostart system-config'),
    ('/usr', 'system', 'top'),
    ('/usr/bin/python', 'system', ''),
    ('/usr/local/bin/tool', 'system', ''),
    ('/var/log/syslog', 'system', 'log'),
    ('/var/cache/apt', 'cache', ''),
    ('/var/lib/apt/lists/x', 'cache', ''),
    ('/boot', 'system', 'top'),
    ('/opt/app', 'system', ''),
    ('/dev/sda', 'device', ''),
    ('/dev/nvme0n1p1', 'device', ''),
    ('/dev/null', 'null', ''),
    ('/dev/zero', 'null', ''),
    ('/dev/fd/3', 'null', ''),
    ('/dev/shm/x', 'temp', ''),
    ('/dev', 'system', 'top'),
    ('/proc/1/environ', 'system', 'secret'),
    ('/sys/x', 'system', ''),
    ('/tmp', 'temp-root', ''),
    ('/tmp/', 'temp-root', ''),
    ('/tmp/x', 'temp', ''),
    ('/var/tmp/x', 'temp', ''),
    ('/private/tmp/x', 'temp', ''),
    ('/mnt/disk/x', 'mount', ''),
    ('/Volumes/usb', 'mount', ''),
    ('/srv/www', 'system', ''),
    ('/data/x', 'outside', ''),
    ('/Library/LaunchAgents/x.plist', 'system', 'autostart'),
    ('*', 'project-root', 'contents wildcard'),
    ('./*', 'project-root', 'contents wildcard'),
    ('~/*', 'home', 'contents wildcard'),
    ('/*', 'root', 'contents wildcard'),
    ('/home/*', 'home', 'contents wildcard'),
    ('/home/dev/*', 'home', 'contents wildcard'),
    ('/h*/dev', 'home', 'wildcard'),
    ('/home/d?v', 'home', 'wildcard'),
    ('/e*', 'system', 'top wildcard'),
    ('/etc/*', 'system', 'contents top wildcard'),
    ('/etc/*.conf', 'system', 'system-config wildcard'),
    ('/usr/*', 'system', 'contents top wildcard'),
    ('/tmp/*', 'temp-root', 'contents wildcard'),
    ('/tmp/x*', 'temp', 'wildcard'),
    ('*.log', 'build', 'wildcard'),
    ('dist/*', 'build', 'contents wildcard'),
    ('~/.*', 'home', 'contents gate hook-settings secret wildcard'),
    ('~/.ssh/*', 'home-config', 'contents secret ssh wildcard'),
    ('~/.claude/*', 'home-config', 'contents hook-settings wildcard'),
    ('~/.claude/set*.json', 'home-config', 'hook-settings wildcard'),
    ('.e*', 'project', 'secret wildcard'),
    ('../sh*', 'project-root', 'wildcard'),
    ('$', 'unknown', ''),
    ('$/*', 'unknown-root', 'wildcard'),
    ('$/bin', 'unknown-root', ''),
    ('$/home/dev', 'unknown-root', ''),
    ('$/.env', 'unknown-root', 'secret wildcard'),
    ('$/node_modules', 'build', ''),
    ('~/$', 'home-item', 'wildcard'),
    ('~/$/x', 'home-item', ''),
    ('/$', 'unknown-root', ''),
    ('/tmp/$', 'temp', ''),
    ('/tmp/x$y', 'temp', ''),
    ('src/$', 'project', ''),
    ('%', 'project', ''),
    ('%/x', 'project', ''),
    ('~/%', 'home-item', ''),
    ('/tmp/%', 'temp', ''),
    ('-', 'stdin', ''),
    ('', 'unknown', ''),
    ('C:\\', 'root', ''),
    ('C:/Users/dev', 'other-home', ''),
    ('C:\\Windows\\System32', 'system', ''),
    ('C:\\Users\\dev\\AppData\\Local\\Temp\\x', 'temp', ''),
    ('D:\\data', 'outside', ''),
    ('C:\\Users', 'other-home', ''),
    ('\\server\\share', 'project', ''),
    ('/c/Users/dev', 'outside', ''),
    ('/mnt/c/Users/dev', 'mount', ''),
]
# fmt: on


@pytest.mark.parametrize(("raw", "kind", "roles"), PATHS, ids=[p or "empty" for p, _, _ in PATHS])
def test_a_path_is_of_a_kind_and_plays_roles(raw: str, kind: str, roles: str) -> None:
    target = seen(raw)
    assert (target.kind, " ".join(sorted(target.roles))) == (kind, roles)


@pytest.mark.parametrize("variable", ["CLAUDE_CONFIG_DIR", "CODEX_HOME"])
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("/srv/agent/settings.json", True),
        ("/srv/agent/HOOKS.json", True),
        ("/srv/agent/config.toml", True),
        ("/srv/agent/plugins/x/hooks.json", True),
        ("/srv/agent", True),
        ("/srv/agent/projects/p/s.json", False),
        ("/srv/agents/settings.json", False),
        ("/srv/settings.json", False),
    ],
)
def test_a_hosts_directory_that_was_moved_still_holds_the_hooks(variable: str, raw: str, expected: bool) -> None:
    assert ("hook-settings" in seen(raw, env={variable: "/srv/agent/"}).roles) is expected
    assert "hook-settings" not in seen(raw, env={variable: "/"}).roles, "not everything there is"
    assert "hook-settings" not in seen(raw).roles


def test_every_kind_and_role_in_the_table_is_declared() -> None:
    assert {kind for _, kind, _ in PATHS} <= KINDS
    assert {role for _, _, roles in PATHS for role in roles.split()} <= ROLES


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("~/.SSH/ID_RSA", "secret"), ("~/.Claude/SETTINGS.json", "hook-settings"), (".ENV", "secret"), (".GitHub/Workflows/CI.yml", "ci"),
        ("~/.BASHRC", "shell-rc"), ("~/.Config/Jevhook/config.toml", "gate"), (".Git/Hooks/pre-commit", "git-hook"),
        ("~/.AWS/Credentials", "secret"), ("Package.JSON", "package-scripts"),
    ],
)  # fmt: skip
def test_a_file_system_that_ignores_case_opens_the_same_file(name: str, role: str) -> None:
    assert role in seen(name).roles


@pytest.mark.parametrize(
    ("raw", "cwd", "kind"),
    [
        ("x", "", "unknown"), ("../x", "", "unknown"), ("/etc", "", "system"), ("~/x", "", "home-item"),
        ("x", "$", "unknown"), ("*", "$", "unknown-root"), ("node_modules", "$", "build"), ("x", "/tmp/$", "temp"), ("x", "/$", "unknown"),
    ],
)  # fmt: skip
def test_a_relative_path_from_an_unknown_directory_is_unknown(raw: str, cwd: str, kind: str) -> None:
    assert classify(marked(raw), marked(cwd), Place(Nothing(), CWD)).kind == kind


@pytest.mark.parametrize(
    ("home", "cwd", "tmpdir", "raw", "kind"),
    [
        # HOME=/: no home at all
        ("/", "/srv/app", "", "/etc", "system"), ("/", "/srv/app", "", "/", "root"), ("/", "/srv/app", "", "~", "root"),
        ("/", "/srv/app", "", "/home/x", "other-home"), ("/", "/srv/app", "", "/tmp/x", "temp"), ("/", "/", "", "x", "outside"),
        # a temporary directory that is none
        (HOME, CWD, "/", "/etc/x", "system"), (HOME, CWD, "/etc", "/etc/x", "system"), (HOME, CWD, "/usr/lib", "/usr/lib/x", "system"),
        (HOME, CWD, HOME, "/home/dev/x", "home-item"), (HOME, CWD, "/scratch/tmp", "/scratch/tmp/x", "temp"), (HOME, CWD, "/scratch/tmp", "/scratch/tmp", "temp-root"),
        # a project below /tmp, and none where /tmp or home themselves are the directory
        (HOME, "/tmp/p", "", ".", "project-root"), (HOME, "/tmp/p", "", "src", "project"), (HOME, "/tmp/p", "", "/tmp/q", "temp"), (HOME, "/tmp/p", "", "..", "temp-root"),
        (HOME, "/tmp", "", ".", "temp-root"), (HOME, "/tmp", "", "x", "temp"),
        (HOME, HOME, "", ".", "home"), (HOME, HOME, "", "x", "home-item"), (HOME, HOME, "", "*", "home"), (HOME, "/home", "", "dev", "home"),
        (HOME, "/", "", ".", "root"), (HOME, "/", "", "etc", "system"), (HOME, "/etc", "", "hosts", "system"),
        # root's own home, and a home below /tmp
        ("/root", "/root/p", "", "x", "project"), ("/root", "/root/p", "", "~", "home"), ("/tmp/h", "/tmp/h/p", "", "~/x", "home-item"), ("/tmp/h", "/tmp/h/p", "", "/tmp", "home"),
    ],
)  # fmt: skip
def test_odd_places(home: str, cwd: str, tmpdir: str, raw: str, kind: str) -> None:
    assert seen(raw, cwd, home, {"TMPDIR": tmpdir} if tmpdir else {}).kind == kind


def real(tmp_path: Path, cwd: Path | None = None) -> Place:
    return Place(RealWorld({"HOME": str(tmp_path / "home")}), str(cwd or tmp_path / "p"))


def test_a_link_counts_for_both_its_names(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "home/.claude").mkdir(parents=True)
    (tmp_path / "home/.claude/settings.json").write_text("{}")
    (tmp_path / "p/plain.txt").symlink_to(tmp_path / "home/.claude/settings.json")
    (tmp_path / "p/.env").symlink_to(tmp_path / "p/other")
    place = real(tmp_path)
    target = classify("plain.txt", str(tmp_path / "p"), place)
    assert target.kind == "home-config" and "hook-settings" in target.roles
    assert "secret" in classify(".env", str(tmp_path / "p"), place).roles


def test_a_link_out_of_the_project_leads_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/data").symlink_to("/etc")
    assert classify("data/hosts", str(tmp_path / "p"), real(tmp_path)).kind == "system"


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a").symlink_to(tmp_path / "p/b")
    (tmp_path / "p/b").symlink_to(tmp_path / "p/a")
    assert classify("a/x", str(tmp_path / "p"), real(tmp_path)).kind in KINDS


@pytest.mark.parametrize(
    "name",
    [
        "a" * 100_000,
        "a/" * 50_000,
        "../" * 30_000,
        ("x" + STAR) * 30_000,
        ANY * 50_000,
        ("a" + ANY + "/") * 20_000,
        "~" * 100_000,
    ],
)
def test_a_very_long_path_is_quick(tmp_path: Path, name: str) -> None:
    (tmp_path / "p").mkdir()
    began = time.process_time()
    assert classify(name, str(tmp_path / "p"), real(tmp_path)).kind in KINDS
    assert time.process_time() - began < 1


@pytest.mark.parametrize("name", ["a\x00b", "\udcff", "a\nb", "\u202e", "/proc/self/fd/0", "/dev/fd/63", "." * 300])
def test_odd_names_do_not_raise(tmp_path: Path, name: str) -> None:
    (tmp_path / "p").mkdir()
    assert classify(name, str(tmp_path / "p"), real(tmp_path)).kind in KINDS


@pytest.mark.parametrize(
    ("raw", "cwd", "expected"),
    [
        ("a", "/x", "/x/a"), ("../a", "/x/y", "/x/a"), ("/a//b/./c/..", "/x", "/a/b"), ("~", "/x", HOME), ("~/a", "/x", HOME + "/a"),
        ("//a", "/x", "/a"), ("a", "", ""), ("a", "rel", ""), ("../../..", "/x", "/"),
    ],
)  # fmt: skip
def test_paths_are_made_absolute(raw: str, cwd: str, expected: str) -> None:
    assert absolute(raw, cwd, HOME) == expected


@pytest.mark.parametrize(
    ("path", "root", "inside"),
    [
        ("/a/b", "/a", True),
        ("/a", "/a", True),
        ("/ab", "/a", False),
        ("/", "/", True),
        ("/a", "/", True),
        ("/a", "/a/b", False),
        ("/a/b", "/a/", True),
    ],
)
def test_within_is_by_whole_names(path: str, root: str, inside: bool) -> None:
    assert is_within(path, root) is inside


@pytest.mark.parametrize(
    ("pattern", "text", "same"),
    [
        ("*", "", True),
        ("*a", "ba", True),
        ("?", "", False),
        ("a*b*c", "axbyc", True),
        ("a*b", "ac", False),
        ("%x", "ax", True),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_live_wildcards_match(pattern: str, text: str, same: bool) -> None:
    assert glob_match(marked(pattern), text) is same


def test_looking_follows_no_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    world = RealWorld({"HOME": str(tmp_path)})
    assert world.text(str(tmp_path / "pipe"), 100) is None
    assert world.kind(str(tmp_path / "pipe")) == "other"


# fmt: off
MACOS = [
    ('/users/ANN', 'home', ''),
    ('/Users/ann/work/SHOP', 'project-root', ''),
    ('/Users/eve/x', 'other-home', ''),
    ('/Users/ann/.CLAUDE/Settings.json', 'home-config', 'hook-settings'),
    ('/USERS/ann/.config/jevhook/config.toml', 'home-config', 'gate'),
    ('~/.claude/\u017fettings.json', 'home-config', 'hook-settings'),
    ('~/.cla\u200cude/settings.json', 'home-config', 'hook-settings'),
    ('/private/tmp/x', 'temp', ''),
    ('/TMP/x', 'temp', ''),
    ('/private/var/folders/ab/x', 'temp', ''),
    ('/private/etc/hosts', 'system', 'system-config'),
    ('/private/var/log/x', 'system', 'log'),
    ('/SYSTEM/Library', 'system', ''),
    ('/library/LaunchDaemons/x.plist', 'system', 'autostart'),
    ('~/Library/LaunchAgents/x.plist', 'home-item', 'autostart'),
    ('~/Library/Caches/x', 'cache', ''),
    ('/Volumes/disk/x', 'mount', ''),
    ('/opt/homebrew/bin/jevhook', 'system', 'gate'),
]
WINDOWS = [
    ('C:\\Users\\x\\.claude\\settings.json', 'other-home', 'hook-settings'),
    ('c:/users/x/.CODEX/hooks.json', 'other-home', 'hook-settings'),
    ('C:\\Users\\x\\.config\\jevhook\\config.toml', 'other-home', 'gate'),
    ('C:\\Users\\x\\.claude\\settings.json::$DATA'.replace('$', '&'), 'other-home', 'hook-settings'),
    ('C:\\Users\\x\\.claude\\settings.json. .', 'other-home', 'hook-settings'),
    ('C:\\Users\\x\\.ssh\\id_rsa', 'other-home', 'secret ssh'),
    ('C:\\Users\\x\\pipx\\venvs\\jevhook\\Scripts\\jevhook.exe', 'other-home', 'gate'),
    ('.claude\\settings.json', 'project', 'hook-settings'),
    ('%USERPROFILE%\\.claude\\settings.json'.replace('%', '!'), 'project', 'hook-settings'),
    ('C:\\work\\shop\\src\\a.py', 'outside', ''),
    ('C:\\Windows\\System32', 'system', ''),
    ('C:\\', 'root', ''),
    ('C:\\Users\\x\\AppData\\Local\\Temp\\a', 'temp', ''),
]
LINUX = [
    ('/proc/self/cwd/.claude/settings.json', 'project', 'hook-settings'),
    ('/proc/self/cwd/../../.config/jevhook/x', 'home-config', 'gate'),
    ('/proc/1/root/etc/passwd', 'system', 'system-config'),
    ('/users/ann', 'outside', ''),
    ('~/.local/bin/jevhook', 'home-config', 'command-dir gate'),
    ('~/jevhook', 'home-item', ''),
    ('bin/jev-use', 'project', 'gate'),
    ('~/.LOCAL/STATE/jevhook/off', 'home-config', 'gate'),
]
# fmt: on


@pytest.mark.parametrize(
    ("home", "raw", "kind", "roles"),
    [("/Users/ann", *row) for row in MACOS] + [(HOME, *row) for row in WINDOWS + LINUX],
)
def test_paths_of_other_systems(home: str, raw: str, kind: str, roles: str) -> None:
    target = seen(raw, cwd=f"{home}/work/shop", home=home)
    assert (target.kind, " ".join(sorted(target.roles))) == (kind, roles)


def test_a_link_and_then_up_is_beside_what_the_link_points_at(tmp_path: Path) -> None:
    home, shop = tmp_path / "home", tmp_path / "home/shop"
    (home / ".config/jevhook/deep").mkdir(parents=True)
    shop.mkdir()
    os.symlink(home / ".config/jevhook/deep", shop / "link")
    place = Place(RealWorld({"HOME": str(home)}), str(shop), [f"{home}/.config/jevhook"])
    assert "gate" in classify("link/../config.toml", str(shop), place).roles
    assert "gate" not in classify("src/../config.toml", str(shop), place).roles
