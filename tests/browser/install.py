"""Find the Chromium that the browser tests drive, and install one where there is none.

`python tests/browser/install.py` prints its path, or says what to do and exits with 1; with `webkit` or `firefox` after
it, that of WebKitGTK's driver or of Firefox, for `make engines`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The shell draws the same pages and takes a third less of the processor: it has no window to draw around them.
SHELL = "chromium-headless-shell"
LANGUAGES = ("en_GB", "en_US", "de_DE", "fr_FR", "zh_CN")
TOUCHED = ("xserver-xorg-core", "xserver-xorg-video-dummy")
"""For a screen that a finger touches."""
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _runs(path: str) -> bool:
    """Whether the file is a browser that starts: Ubuntu's `chromium-browser` may be a stub that asks for snap."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def find() -> str | None:
    """The path of a Chromium that starts: CHROMIUM, one on the PATH, or Playwright's own; None if there is none.

    Raises:
        RuntimeError: CHROMIUM is set and does not start.
    """
    if named := os.environ.get("CHROMIUM"):
        if not _runs(named):
            raise RuntimeError(f"CHROMIUM is {named!r}, which does not start; correct it or unset it")
        return named
    found = [path for name in NAMES if (path := shutil.which(name))]
    return next((path for path in (*found, _playwrights_own()) if _runs(path)), None)


def _playwrights_own() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _run(*command: str) -> bool:
    print("+", " ".join(command), flush=True)
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == 0
    except OSError as error:
        print(error, file=sys.stderr)
        return False


def _apt(*packages: str) -> bool:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    os.environ.setdefault("DEBIAN_FRONTEND", "noninteractive")
    install = ("apt-get", "install", "-y", "-q", "--no-install-recommends", *packages)
    return _run("apt-get", "update", "-q") and _run(*install)


def _has_chinese_font() -> bool:
    if shutil.which("fc-list") is None:
        return any(Path("/usr/share/fonts").rglob("*CJK*"))
    listed = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, check=False)
    return bool(listed.stdout.strip())


def ensure() -> str:
    """The path of a Chromium that starts; its headless shell, or any, is installed first where there is none.

    Raises:
        RuntimeError: there is none and none could be installed.
    """
    path = find()
    if "CHROMIUM" not in os.environ and shutil.which(SHELL) is None and _apt(SHELL, "fonts-noto-cjk"):
        path = find()
    if path is None and _apt("chromium", "fonts-noto-cjk"):
        path = find()
    if path is None:
        system = ("--with-deps",) if os.geteuid() == 0 else ()
        _run(sys.executable, "-m", "playwright", "install", *system, "chromium")
        path = find()
    if path is None:
        raise RuntimeError(
            "no Chromium was found and none could be installed; install Chromium or Chrome, "
            "or set CHROMIUM to the path of one"
        )
    if not _has_chinese_font() and not _apt("fonts-noto-cjk"):
        print("No Chinese font was found: pictures would show boxes. Install Noto Sans CJK.", file=sys.stderr)
    return path


def ensure_webkit() -> str:
    """The path of WebKitGTK's driver, installed first where there is none, with screens in memory to draw on and touch.

    It speaks the languages that the system has, and gets those of the tests.

    Raises:
        RuntimeError: there is none and none could be installed.
    """
    names = ("WebKitWebDriver", "Xvfb", "localedef", "Xorg")
    languages = _unknown()
    if languages or not all(map(shutil.which, names)):
        _apt("webkit2gtk-driver", "xvfb", "fonts-noto-cjk", "locales", *TOUCHED)
    for name in languages:
        _run("localedef", "-i", name, "-f", "UTF-8", f"{name}.UTF-8")
    path, screen, *_ = map(shutil.which, names)
    if path is None or screen is None:
        raise RuntimeError("WebKitGTK's driver or Xvfb is missing; on Debian they are webkit2gtk-driver and xvfb")
    if missing := _unknown():
        raise RuntimeError(f"the system does not know {', '.join(missing)}; `localedef` adds them")
    return path


def _unknown() -> list[str]:
    """Languages of the tests that the system lacks."""
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return [name for name in LANGUAGES if f"{name}.utf8" not in known]


def ensure_firefox() -> str:
    """The path of Firefox, installed first where there is none.

    Raises:
        RuntimeError: there is none and none could be installed.
    """
    find = lambda: shutil.which("firefox-esr") or shutil.which("firefox")  # noqa: E731
    path = find() or (_apt("firefox-esr") and find())
    if not path:
        raise RuntimeError("Firefox is missing; on Debian it is the package firefox-esr")
    return path


INSTALLERS = {"webkit": ensure_webkit, "firefox": ensure_firefox}

if __name__ == "__main__":
    try:
        print(INSTALLERS[sys.argv[1]]() if sys.argv[1:] else ensure())
    except RuntimeError as error:
        sys.exit(f"{error}")
