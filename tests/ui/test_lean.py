"""Gradio as the page imports it: without the Model Context Protocol, and without stubs beside components."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LEAN = "from translator.ui.lean import import_gradio; import_gradio(); "
SEEN = """
import sys
assert "mcp" not in sys.modules and "jsonschema" not in sys.modules, "the protocol was imported"
import gradio as gr, mine
import mcp
with gr.Blocks() as page:
    box = mine.Mine()
    box.change(len, box, box)
assert len(page.fns) == 1
"""
COMPONENT = "import gradio as gr\n\n\nclass Mine(gr.Textbox):\n    pass\n"


@pytest.mark.slow
def test_a_page_brings_no_protocol_and_writes_no_stubs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(COMPONENT, encoding="utf-8")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); {LEAN}{SEEN}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mine.py"]
