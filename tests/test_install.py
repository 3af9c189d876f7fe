"""The browser for the tests is found where it is, and its absence is never passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import install


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """No browser anywhere, and every command fails; the list holds what was tried."""
    tried: list[tuple[str, ...]] = []
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(install.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    monkeypatch.setattr(install, "_playwrights_own", lambda: "/nowhere/chrome")
    monkeypatch.setattr(install, "_run", lambda *command: tried.append(command))
    return tried


def browser_at(path: Path, code: int = 0) -> str:
    path.write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_chromium_names_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = browser_at(tmp_path / "mine")
    monkeypatch.setenv("CHROMIUM", named)
    assert install.find() == named


def test_a_chromium_that_does_not_start_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMIUM", browser_at(tmp_path / "broken", code=1))
    with pytest.raises(RuntimeError, match="broken"):
        install.find()


def test_a_stub_on_the_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser_at(tmp_path / "chromium-browser", code=1)
    real = browser_at(tmp_path / "google-chrome")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=None)
    monkeypatch.setattr(install, "_playwrights_own", lambda: "/nowhere/chrome")
    assert install.find() == real


@pytest.mark.parametrize("root", [True, False])
def test_apt_is_for_root_then_playwright_then_an_error(
    root: bool, bare_machine: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install.os, "geteuid", lambda: 0 if root else 1000)
    with pytest.raises(RuntimeError, match="set CHROMIUM"):
        install.ensure()
    assert (bare_machine[0][0] == "apt-get") is root
    assert "playwright" in bare_machine[-1]
    assert bare_machine[-1][-1] == "chromium"


@pytest.mark.slow
@pytest.mark.parametrize("offered", [True, False])
def test_the_headless_shell_is_preferred_and_another_browser_does_where_it_is_not_offered(
    offered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, shell = browser_at(tmp_path / "chromium"), tmp_path / "chromium-headless-shell"

    def run(*command: str) -> bool:
        if offered and "install" in command:
            browser_at(shell)
        return offered

    browser_at(tmp_path / "apt-get")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=None)
    monkeypatch.setattr(install.os, "geteuid", lambda: 0)
    monkeypatch.setattr(install, "_has_chinese_font", lambda: True)
    monkeypatch.setattr(install, "_run", run)
    assert install.ensure() == (str(shell) if offered else other)


def test_a_named_browser_is_all_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = browser_at(tmp_path / "mine")
    monkeypatch.setenv("CHROMIUM", named)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=None)
    monkeypatch.setattr(install, "_apt", lambda *packages: pytest.fail("nothing is to be installed"))
    monkeypatch.setattr(install, "_has_chinese_font", lambda: True)
    assert install.ensure() == named
