"""The scripts a newcomer and CI start: they parse, they start from anywhere, and they say what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
SCRIPTS = ["scripts/venv", "scripts/try", "scripts/test", "scripts/install-hosts", "scripts/install-browser", ".ci/run"]


def run(script: str | Path, cwd: Path, path: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path or os.environ["PATH"], **env}
    bash = shutil.which("bash")
    assert bash
    return subprocess.run(
        [bash, str(script)],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def bare_path(tmp_path: Path, *programs: str) -> str:
    """A PATH on which there is nothing but these."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found, program
        (directory / program).symlink_to(found)
    return str(directory)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_executable_and_parses(script: str) -> None:
    path = REPO / script
    assert os.access(path, os.X_OK)
    assert path.read_text().startswith("#!/usr/bin/env bash\n")
    subprocess.run(["bash", "-n", str(path)], check=True)


@pytest.mark.skipif(not (REPO / ".venv/bin/jevhook").exists(), reason="scripts/try has not made .venv yet")
def test_try_shows_a_denial_a_silence_and_the_ledger_from_any_directory(tmp_path: Path) -> None:
    done = run(REPO / "scripts/try", tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"permissionDecision":"deny"' in done.stdout
    assert "(nothing)" in done.stdout
    assert not list(tmp_path.iterdir())


def test_without_a_new_enough_python_the_message_says_what_to_install(tmp_path: Path) -> None:
    repo = tmp_path / "a copy"
    shutil.copytree(REPO / "scripts", repo / "scripts")
    done = run(repo / "scripts/venv", tmp_path, bare_path(tmp_path, "dirname"))
    assert done.returncode == 1
    assert "Python 3.11" in done.stderr
    assert not (repo / ".venv").exists()


def test_without_npm_the_message_says_what_to_install(tmp_path: Path) -> None:
    repo = tmp_path / "a copy"
    shutil.copytree(REPO / "scripts", repo / "scripts")
    done = run(repo / "scripts/install-hosts", tmp_path, bare_path(tmp_path, "dirname", "grep"))
    assert done.returncode == 1
    assert "npm is not on PATH" in done.stderr
    assert not (repo / ".e2e").exists()


def test_with_both_hosts_named_nothing_is_installed(tmp_path: Path) -> None:
    repo = tmp_path / "a copy"
    shutil.copytree(REPO / "scripts", repo / "scripts")
    named = {"JEVHOOK_E2E_CLAUDE": "/opt/claude", "JEVHOOK_E2E_CODEX": "/opt/codex"}
    done = run(repo / "scripts/install-hosts", tmp_path, bare_path(tmp_path, "dirname"), **named)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name}={path}" for name, path in named.items()]


def test_without_a_browser_or_apt_it_says_what_to_install_and_a_named_one_is_taken(tmp_path: Path) -> None:
    path = bare_path(tmp_path, "id")
    done = run(REPO / "scripts/install-browser", tmp_path, path, JEVHOOK_E2E_CHROMIUM="")
    assert done.returncode == 1
    assert "install Chromium or Chrome" in done.stderr and "JEVHOOK_E2E_CHROMIUM" in done.stderr
    mine = tmp_path / "my-chrome"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    done = run(REPO / "scripts/install-browser", tmp_path, path, JEVHOOK_E2E_CHROMIUM=str(mine))
    assert (done.returncode, done.stdout) == (0, f"JEVHOOK_E2E_CHROMIUM={mine}\n"), done.stderr


def test_every_dependency_of_the_project_is_pinned() -> None:
    import re
    import tomllib

    project = tomllib.loads((REPO / "pyproject.toml").read_text())
    lines = (REPO / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines if "==" in line}
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    wanted += project["project"]["optional-dependencies"]["dev"]
    names = {re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-") for requirement in wanted}
    assert names <= pinned
    assert "jevhook" not in pinned
