"""Launchers, deleters and recipes: what they start is judged as if it stood on the line alone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from jevhook.shell.calls import shell_call
from jevhook.shell.paths import Place
from jevhook.shell.world import Git

HOME, CWD = "/home/dev", "/home/dev/work/shop"


class Tree:
    """A world in memory: path -> text."""

    def __init__(self, files: dict[str, str]) -> None:
        self.home, self.user = HOME, "dev"
        self.env: Mapping[str, str] = {"HOME": HOME, "USER": "dev"}
        self.files = files

    def kind(self, path: str) -> str:
        if path in self.files:
            return "file"
        return "dir" if any(f.startswith(path.rstrip("/") + "/") for f in self.files) else ""

    def real(self, path: str) -> str:
        return path

    def names(self, path: str, limit: int) -> list[str] | None:
        base = path.rstrip("/") + "/"
        return sorted({f[len(base) :].split("/")[0] for f in self.files if f.startswith(base)})[:limit]

    def text(self, path: str, limit: int) -> str | None:
        found = self.files.get(path)
        return None if found is None else found[:limit]

    def size(self, path: str) -> int:
        return len(self.files.get(path, "")) if path in self.files else -1

    def git(self, path: str) -> Git | None:
        return None


KILL = "rm -rf /home/dev"


def deleted(command: str, files: dict[str, str] | None = None) -> set[str]:
    world = Tree({f"{CWD}/{name}": text for name, text in (files or {}).items()})
    found = shell_call(command, CWD, Place(world, CWD)).findings
    return {f.target.kind for f in found if f.effect == "delete"}


@pytest.mark.parametrize(
    "launcher",
    [
        "sshpass -p x", "tini --", "dumb-init", "numactl -C 0", "cgexec -g cpu:x", "arch -x86_64", "rlwrap", "retry -t 3 --",
        "run-one", "daemonize -p /tmp/p", "flatpak-spawn --host", "bwrap --dev-bind / /", "bwrap --ro-bind / / --bind /home /home",
        "proot -w /", "nix develop -c", "nix shell nixpkgs#jq -c", "perf stat -r 5", "screen -dmS x", "xterm -e",
        "gnome-terminal --", "zellij run --", "wezterm cli spawn --", "kitty", "alacritty -e", "uv tool run", "pipx run --spec x",
        "mise x node@20 --", "op run --env-file=.env --", "dotenvx run -f .env --", "infisical run --env dev --",
        "taskset -c 0", "taskset 0x1", "sudo -nu root", "watch -dn 1", "setarch x86_64 -R", "setarch -R", "chrt -f 10",
        "trickle -s -d 10", "nsenter -t 1 -w", "gdb --args", "wsl -e", "wsl -d Ubuntu --", "distrobox enter dev --",
        "toolbox run -c dev", "cmake -E env A=b", "lxc exec web --", "incus exec web --", "multipass exec web --",
        "limactl shell default", "pdsh -w web1", "clush -w web1", "fab -H web1 --", "tsh ssh me@web1", "setlock /tmp/l",
        "faketime 2020-01-01", "choom -n 10 --", "some-launcher-nobody-knows --fast", "./wrapper --", "systemd-nspawn -D /srv/x",
    ],
)  # fmt: skip
def test_what_a_launcher_starts_is_judged(launcher: str) -> None:
    assert deleted(f"{launcher} {KILL}") & {"home", "remote"}


@pytest.mark.parametrize(
    "command",
    [
        f"pssh -h hosts -i '{KILL}'", f"et host -c '{KILL}'", f"nix-shell --run '{KILL}'", f"hyperfine '{KILL}'",
        f"hyperfine --prepare '{KILL}' ls", f"xterm -e '{KILL}'", f"runuser -l dev -c '{KILL}'", f"sops exec-env s.yaml '{KILL}'",
        "start-stop-daemon --start --exec /bin/rm -- -rf /home/dev", "npx rimraf ~", "npx del ~", "npx del-cli ~", "shx rm -rf ~",
        "rimraf '/home/dev/*'", "cmake -E rm -rf /home/dev", "cmake -E remove_directory /home/dev", "safe-rm -rf ~",
        f"git difftool -x '{KILL}' HEAD", f"man -P '{KILL}' ls", f"PAGER='{KILL}' man ls", f"EDITOR='{KILL}' crontab -e",
        f"less '+!{KILL}' x", f"zip -TT '{KILL}' x.zip y", f"gdb -ex 'shell {KILL}'", f"gdb --batch -ex '!{KILL}'",
        f"emacs --batch --eval '(shell-command \"{KILL}\")'", f"echo '!{KILL}' | bc", f"make SHELL='{KILL}'",
        f"osascript -e 'tell app \"Terminal\" to do script \"{KILL}\"'", f"unknown-tool bash -c '{KILL}'",
        "cp /bin/rm /tmp/x; /tmp/x -rf ~", "ln -s /bin/rm ./x && ./x -rf ~", "cp /bin/rm /tmp/ && /tmp/rm -rf ~",
        f"echo '{KILL}' > a.sh; cp a.sh b.sh; bash b.sh",
    ],
)  # fmt: skip
def test_a_command_inside_an_argument_is_judged(command: str) -> None:
    assert "home" in deleted(command)


@pytest.mark.parametrize(
    "command",
    [
        "tldr rm -rf /home/dev", "some-tool -m rm -rf", "taskset -p 0x1 123", "PAGER=cat git log", "EDITOR=vim crontab -l",
        "some-tool --title rm /home/dev", "nix run nixpkgs#hello", "make -n nuke", "lxc list", "cmake -E echo rm -rf /home/dev",
        "apt install git rm /home/dev", "some-tool rm", "unknown-tool run docs/rm",
    ],
)  # fmt: skip
def test_words_that_are_only_words_delete_nothing(command: str) -> None:
    assert deleted(command, {"Makefile": f"nuke:\n\t{KILL}\n"}) == set()


FILES = {
    "Makefile": "ROOT := /home/dev\nall: build\n\techo hi\nbuild:\n\techo $@\nclean:\n\trm -rf $(OUT)/x\nOUT = dist\n"
    "nuke: pre\n\t@echo x\npre:\n\t-rm -rf $(ROOT)\n",
    "justfile": "dir := '/home/dev'\ndefault:\n    echo hi\nnuke arg='x': pre\n    @echo\npre:\n    rm -rf {{dir}}\n",
    "Taskfile.yml": "version: '3'\ntasks:\n  default:\n    cmds:\n      - echo\n  nuke:\n    deps: [pre]\n  pre:\n"
    f"    cmds:\n      - {KILL}\n",
    "package.json": f'{{"scripts":{{"postinstall":"{KILL}","prebuild":"{KILL}","build":"tsc","lint":"eslint ."}}}}',
    "composer.json": f'{{"scripts":{{"nuke":["@php x","{KILL}"]}}}}',
    "deno.json": f'{{"tasks":{{"nuke":"{KILL}"}}}}',
    "pyproject.toml": f'[tool.poe.tasks]\nnuke="{KILL}"\n[tool.pdm.scripts]\nnuke={{shell="{KILL}"}}\n',
    "a.ts": "import fs from 'fs'; fs.rmSync('/home/dev', {recursive: true, force: true})",
    "a.awk": f'BEGIN {{ system("{KILL}") }}',
    "a.exp": f"#!/usr/bin/expect\nspawn {KILL}\nexpect eof\n",
    "a.ps1": "Remove-Item -Recurse -Force ~",
    "s/one.sh": "echo one",
    "s/two.sh": KILL,
    "mod.py": "import shutil\nshutil.rmtree('/home/dev')",
    "pkg/__main__.py": "import shutil\nshutil.rmtree('/home/dev')",
    "padded.py": "import shutil\np = '/home/dev'\n" + "x = 1\n" * 40000 + "shutil.rmtree(p)\n",
    "broken.py": "import shutil\nx = (\nshutil.rmtree('/home/dev')\n",
}


@pytest.mark.parametrize(
    "command",
    [
        "make nuke", "just nuke", "task nuke", "npm install", "npm ci", "npm run build", "yarn build", "bun run build", "bun a.ts",
        "bun run a.ts", "deno run -A a.ts", "deno task nuke", "composer nuke", "composer run nuke", "poe nuke", "pdm run nuke",
        "awk -f a.awk", "expect a.exp", "pwsh a.ps1", "pwsh -File a.ps1", "bash s/*.sh", 'for f in s/*.sh; do bash "$f"; done',
        "python -m mod", "python3 -m pkg", "node -r ./a.ts x.js", "node --import ./a.ts -e 1", "python padded.py",
        "python broken.py", "cp s/two.sh z; bash z", "ln -s s/two.sh z; ./z", "mv s/two.sh z; sh z",
    ],
)  # fmt: skip
def test_what_a_file_of_the_project_starts_is_judged_and_marked(command: str) -> None:
    world = Tree({f"{CWD}/{name}": text for name, text in FILES.items()})
    found = shell_call(command, CWD, Place(world, CWD)).findings
    hits = [f for f in found if f.effect == "delete" and f.target.kind == "home"]
    assert hits and all("in-script" in f.facts for f in hits)


@pytest.mark.parametrize(
    "command", ["make", "make build", "just", "task", "npm run lint", "npm install left-pad", "bash s/one.sh"]
)
def test_a_target_that_is_not_asked_for_is_not_run(command: str) -> None:
    assert deleted(command, FILES) == set()


def test_a_script_knows_the_directory_it_lies_in() -> None:
    script = 'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nrm -rf "$HERE/../build"\n'
    assert deleted("bash tools/b.sh", {"tools/b.sh": script}) == {"build"}
    assert deleted("./tools/b.sh", {"tools/b.sh": 'cd "$(dirname "$0")" && rm -rf ../..'}) == {"project-parent"}


def test_unset_variables_of_a_makefile_are_empty() -> None:
    assert deleted("make clean", {"Makefile": "clean:\n\trm -rf $(NOWHERE)/*\n"}) == {"root"}
