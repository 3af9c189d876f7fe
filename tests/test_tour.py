"""The notebook runs from its first cell to its last, and stands in the repository without outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOUR = ROOT / "notebooks" / "tour.ipynb"


def cells(kind: str) -> list[dict]:
    return [cell for cell in json.loads(TOUR.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def test_the_tour_is_stored_without_outputs_and_parses() -> None:
    code = cells("code")
    assert code and all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    for cell in code:
        ast.parse("".join(cell["source"]))


def test_the_tour_has_the_lessons_stations() -> None:
    headings = [line for cell in cells("markdown") for line in cell["source"] if line.startswith("## ")]
    assert [int(line.split()[1]) for line in headings] == list(range(1, 13))


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_the_tour_runs(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbclient
    import nbformat

    monkeypatch.setenv("TOUR_CHECKPOINT", str(tiny_checkpoint))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = nbformat.read(TOUR, as_version=4)
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": ROOT}}).execute()
    drawn = [
        output for cell in book.cells for output in cell.get("outputs", []) if "text/html" in output.get("data", {})
    ]
    assert len(drawn) >= 16
