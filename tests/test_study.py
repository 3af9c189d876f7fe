"""The worked study runs from its question to its cause on the shipped checkpoint, and is stored without outputs."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "notebooks" / "minimal_pair.ipynb"


def cells(kind: str) -> list[dict]:
    return [cell for cell in json.loads(STUDY.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def test_it_has_ten_cells_without_outputs_and_says_what_cannot_be_concluded() -> None:
    code = cells("code")
    assert len(code) == 10 and all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    for cell in code:
        ast.parse("".join(cell["source"]))
    assert "cannot be concluded" in "".join(cells("markdown")[-1]["source"])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own assertions hold: shares sum, and patching the changed word alone brings the difference back."""
    import nbclient
    import nbformat

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = nbformat.read(STUDY, as_version=4)
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": ROOT}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert sum("text/html" in output.get("data", {}) for output in outputs) >= 7
    said = "".join(output.get("text", "") for output in outputs)
    assert re.search(r"tired \+[\d.]+ nats, wide [-+][\d.]+", said)
