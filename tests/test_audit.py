"""What the audit of installed versions makes of the advisory service's answer."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from benchmarks import audit

FINE = {"name": "numpy", "version": "2.4.6", "vulns": []}
WEAK = {"name": "torch", "version": "2.13.0", "vulns": [{"id": "CVE-1"}]}
SKIPPED = {"name": "gradio", "skip_reason": "could not be found"}


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([FINE, FINE], 0, "2 packages, no known weakness"),
        ([FINE, WEAK], 1, "torch 2.13.0: CVE-1"),
        ([FINE, SKIPPED], 1, "skipped, and so not checked: gradio"),
        ([SKIPPED, SKIPPED], 0, "NOT CHECKED"),
        (None, 0, "NOT CHECKED: the advisory service cannot be reached from here (no route)"),
    ],
)
def test_weak_and_skipped_versions_fail_and_no_service_is_said(
    monkeypatch: pytest.MonkeyPatch, packages: list[dict[str, Any]] | None, code: int, said: str
) -> None:
    printed = "" if packages is None else json.dumps({"dependencies": packages})
    done = subprocess.CompletedProcess([], 1, printed, "error\nno route\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    found = audit.audit(["numpy==2.4.6"])
    assert found[0] == code and said in found[1]


@pytest.mark.slow
def test_versions_are_asked_for_by_their_public_part() -> None:
    pins = audit.pins()
    assert any(pin.startswith("torch==") for pin in pins) and not any("+" in pin for pin in pins)
