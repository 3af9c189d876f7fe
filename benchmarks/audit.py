"""Ask the advisory service about every installed package: `python benchmarks/audit.py`.

Ends with 1 where a package has a known weakness or was skipped, with 0 where none has; where the service cannot
be reached it says so plainly and ends with 0, for then nothing was checked.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def pins() -> list[str]:
    """Every installed package as name==version, by the public part of its version: 2.13.0, not 2.13.0+cpu."""
    found = {}
    for package in importlib.metadata.distributions():
        found[str(package.metadata["Name"]).lower().replace("_", "-")] = package.version.partition("+")[0]
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def audit(requirements: list[str]) -> tuple[int, str]:
    """The exit code and what to say."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "requirements.txt"
        path.write_text("\n".join(requirements) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", "-r", str(path), "--no-deps", "--disable-pip", "-f", "json"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=600)
    try:
        packages = json.loads(found.stdout)["dependencies"]
    except (ValueError, KeyError):
        reason = (found.stderr.strip().split("\n") or ["no answer"])[-1]
        return 0, f"NOT CHECKED: the advisory service cannot be reached from here ({reason})"
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    weak = [f"{p['name']} {p['version']}: {', '.join(v['id'] for v in p['vulns'])}" for p in packages if p.get("vulns")]
    if len(skipped) == len(packages):
        return 0, "NOT CHECKED: the advisory service cannot be reached from here (it knows none of the packages)"
    if skipped or weak:
        return 1, "\n".join([*weak, *(f"skipped, and so not checked: {name}" for name in skipped)])
    return 0, f"{len(packages)} packages, no known weakness"


def main() -> None:
    """Print what was found."""
    code, text = audit(pins())
    print(text)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
