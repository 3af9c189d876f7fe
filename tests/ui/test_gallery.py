"""The gallery as files: what is written, replaced and left alone, and that no sentence is ever markup."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from translator.errors import InputError
from translator.pipeline import load
from translator.ui.gallery import write_gallery
from translator.ui.session import payload_of

HOSTILE = "<img src=x onerror=\"alert(1)\"> & 'wir'"


def made(folder: Path, checkpoint: Path, *texts: str) -> list[Path]:
    model = load(checkpoint, device="cpu")
    traces = [model.translate(text) for text in texts]
    return write_gallery(folder, [(trace, payload_of(model, trace, "f32")) for trace in traces])


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]


@pytest.mark.slow
def test_a_page_for_each_and_an_index_of_them(tiny_checkpoint: Path, tmp_path: Path) -> None:
    written = made(tmp_path / "gallery", tiny_checkpoint, "wir", "in den park")
    assert [path.name for path in written] == ["index.html", "translation-01.html", "translation-02.html"]
    index = written[0].read_text(encoding="utf-8")
    assert re.findall(r'<a href="(translation[^"]+)"', index) == ["translation-01.html", "translation-02.html"]
    assert index.count("<rect ") >= 2
    assert 'href="index.html"' in written[1].read_text(encoding="utf-8")
    assert (tmp_path / "gallery" / "README.md").read_text(encoding="utf-8").startswith("---\ntitle:")


@pytest.mark.slow
def test_a_sentence_is_never_markup(tiny_checkpoint: Path, tmp_path: Path) -> None:
    index = made(tmp_path, tiny_checkpoint, HOSTILE)[0].read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(index)
    assert "img" not in tags.seen and "&lt;img src=x onerror=&quot;" in index


@pytest.mark.slow
def test_a_former_gallery_is_replaced_and_nothing_else_is(tiny_checkpoint: Path, tmp_path: Path) -> None:
    made(tmp_path, tiny_checkpoint, "wir", "in den park")
    (tmp_path / "CNAME").write_text("example.org")
    (tmp_path / "README.md").write_text("mine")
    made(tmp_path, tiny_checkpoint, "wir")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "CNAME",
        "README.md",
        "index.html",
        "translation-01.html",
    ]
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.slow
def test_another_sites_index_is_not_overwritten(tiny_checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>My site</h1>")
    with pytest.raises(InputError, match="is not part of a gallery and would be overwritten"):
        made(tmp_path, tiny_checkpoint, "wir")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html"]
    with pytest.raises(InputError, match="at least one sentence"):
        write_gallery(tmp_path / "empty", [])


@pytest.mark.slow
def test_the_command_takes_arguments_and_a_file(tiny_checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("in den park\n\nwir rennen\n", encoding="utf-8")
    command = [sys.executable, "-m", "translator", "export", "wir", "--out", "out", "--file", "more.txt"]
    asked = {
        "cwd": tmp_path,
        "capture_output": True,
        "text": True,
        "env": {"PYTHONPATH": str(Path(__file__).parents[2])},
    }
    done = subprocess.run([*command, "--model", str(tiny_checkpoint)], **asked)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("translation-*.html"))) == 3
    refused = subprocess.run(command, **asked)
    assert refused.returncode == 2 and "give --model" in refused.stderr
