"""Start the app as a Space would, in fresh environments, and ask it for one translation: `python -m benchmarks.space`.

Done with this Python, and with 3.10 and 3.12, which ZeroGPU Spaces run, where they are installed. An environment holds
requirements.txt by the constraints and nothing else, with the CPU build of torch unless `--torch default` is given; a
further Python that has no such build here is named and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

from benchmarks.served import ROOT, App

SPACES = ("3.10", "3.12")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
SENTENCE = "Guten Morgen."
PATIENCE = 5
"""How often it is asked before it is given up, up to 20 seconds each."""


def pythons() -> dict[str, str]:
    """This Python, then each other that Spaces run and that is installed here: its version and where it is."""
    found = {_version(sys.executable): sys.executable}
    for wanted in SPACES:
        places = [shutil.which(f"python{wanted}"), *Path.home().glob(f".pyenv/versions/{wanted}.*/bin/python")]
        for place in filter(None, places):
            if _version(str(place)) == wanted:
                found.setdefault(wanted, str(place))
    return found


def _version(python: str) -> str:
    """Its version, or "" if it does not run: a name on the PATH may be a shim for what is not there."""
    code = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def install(folder: Path, python: str, *, cpu: bool) -> Path | None:
    """A fresh environment from requirements.txt and the constraints: its Python, or None if torch has no CPU build."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    own = folder / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    pip = [str(own), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(constraints)]
    if cpu and sys.platform == "linux":  # elsewhere pip's own choice is for the CPU
        pin = next(line for line in constraints.read_text(encoding="utf-8").splitlines() if line.startswith("torch=="))
        for where in ([], ["--retries", "1", "--index-url", CPU_INDEX]):
            if not subprocess.run([*pip, "--no-deps", *where, f"{pin}+cpu"], capture_output=True).returncode:
                break
        else:
            return None
    subprocess.run([*pip, "-r", str(ROOT / "requirements.txt")], check=True)
    return own


def translated(app: App) -> str:
    """What the served page answers to SENTENCE; it says "try again" to who comes before the model is loaded."""
    with httpx.Client(base_url=f"{app.url}/gradio_api/call", timeout=60) as page:
        for _ in range(PATIENCE):
            asked = page.post("/v2/translate", json={"text": SENTENCE, "direction": "de-en"}).raise_for_status()
            *_, event, data = page.get(f"/translate/{asked.json()['event_id']}").text.strip().splitlines()
            if event == "event: complete":
                return str(json.loads(data.removeprefix("data: "))[0])
            if "try again" not in data:
                break
    raise SystemExit(f"the page did not translate: {data}")


def check(version: str, python: str, *, cpu: bool) -> bool:
    """Install, start, translate; False if there is no such torch. Any failure ends the program."""
    with tempfile.TemporaryDirectory(prefix="space") as folder:
        own = install(Path(folder), python, cpu=cpu)
        if own is None:
            print(f"Python {version}: NOT CHECKED, pip finds no CPU build of torch (--torch default takes another)")
            return False
        app = App(python=str(own))
        try:
            said = translated(app)
        finally:
            ended = app.close()
    print(
        f"Python {version}: ready after {app.ready:.1f} s; {SENTENCE} -> {said}; ended after {ended:.1f} s", flush=True
    )
    if not said:
        raise SystemExit("the translation is empty")
    return True


def main() -> None:
    """Check every Python, or those that were named; ends with 1 if none was checked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--torch", choices=["cpu", "default"], default="cpu", help="default: the build that pip prefers"
    )
    parser.add_argument("--python", nargs="+", help="interpreters to take instead")
    chosen = parser.parse_args()
    found = {_version(each) or each: each for each in chosen.python} if chosen.python else pythons()
    os.environ["HF_HUB_OFFLINE"] = "1"  # a Space has its checkpoints with it
    if not sum([check(version, python, cpu=chosen.torch == "cpu") for version, python in found.items()]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
