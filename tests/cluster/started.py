"""Clusters and processes that tests of Ray look at."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from pathlib import Path


class Nodes:
    """`nodes.py` as a process."""

    def __init__(self, count: int) -> None:
        self.env = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.env["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # loopback, whatever the system
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("nodes.py")), str(count)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | self.env,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert re.fullmatch(r"127\.0\.0\.1:\d+", self.address), self.address

    def kill_one(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "killed\n"

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()


def family(pid: int) -> dict[int, str]:
    """A process and all that it started, with what each calls itself."""
    tree = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in tree.splitlines()[1:]]
    parents = {int(row[0]): int(row[1]) for row in rows}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {int(row[0]): row[2] for row in rows if int(row[0]) in found}


def listening(pid: int) -> set[str]:
    """The addresses that a process and all that it started listen at, ports aside."""
    own = family(pid)
    found = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout.splitlines()
    lines = [line for line in found if own.keys() & {int(each) for each in re.findall(r"pid=(\d+)", line)}]
    return {line.split()[3].rpartition(":")[0] for line in lines}
