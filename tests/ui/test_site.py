"""An exported site: everything that it names is there, and what it cannot take is refused."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from benchmarks.live import sizes
from translator import Translator
from translator.errors import CheckpointError, InputError
from translator.ui.live.site import write_site

TEXT = "Ich renne in den Park."


@pytest.fixture(scope="module")
def site(tiny: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, [tiny], texts=[TEXT])
    return folder


@pytest.mark.slow
def test_the_manifest_names_every_file_with_its_size_and_hash(site: Path) -> None:
    manifest = json.loads((site / "manifest.json").read_text(encoding="utf-8"))
    entries = [manifest["engine"], manifest["relaxed"], *manifest["checkpoints"]["tiny"].values()]
    wanted = {"checkpoints/tiny/model.safetensors", "engine.wasm", "relaxed.wasm"}
    assert wanted <= {entry["path"] for entry in entries}
    for entry in entries:
        data = (site / entry["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["size"], entry["sha256"])


@pytest.mark.slow
def test_what_opens_without_a_network_is_there(site: Path) -> None:
    for name in json.loads((site / "shell.json").read_text(encoding="utf-8")):
        path = site / name.partition("?")[0]
        assert path.is_file() or (path / "index.html").is_file(), name
    page = (site / "index.html").read_text(encoding="utf-8")
    for name in re.findall(r'(?:src|href)="([^"?]+)', page):
        assert (site / name).is_file(), name


def test_the_page_has_no_script_of_its_own(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script[^>]*>[^<]+</script>", page) == []
    assert "script-src 'self' 'wasm-unsafe-eval';" in page


def test_what_the_page_opens_with_is_asked_for_before_the_style_sheet(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    script = re.search(r'<script src="data\.js[^>]*>', page)
    assert script and not re.search("defer|async|module", script[0])
    assert script.start() < page.index('rel="stylesheet"')


@pytest.mark.slow
def test_what_opens_the_page_stays_within_600_kb(site: Path) -> None:
    """Engine and plotly.js included, as a host that compresses sends it."""
    assert sizes(site)["page"] <= 600_000


def test_the_weights_are_the_checkpoints_own(site: Path, tiny: Translator) -> None:
    assert tiny.bundle.folder is not None
    for name in ("model.safetensors", "config.json", "src.json", "README.md"):
        assert (site / "checkpoints" / "tiny" / name).read_bytes() == (tiny.bundle.folder / name).read_bytes()


def test_given_sentences_are_prepared(site: Path) -> None:
    stored = json.loads((site / "examples" / "tiny-1.json").read_text(encoding="utf-8"))
    assert (stored["source"], stored["direction"]) == (TEXT, "tiny")


@pytest.mark.slow
def test_the_same_checkpoint_gives_the_same_site(tiny: Translator, site: Path, tmp_path: Path) -> None:
    write_site(tmp_path, [tiny], texts=[TEXT])
    for path in sorted(site.rglob("*")):
        if path.is_file():
            assert (tmp_path / path.relative_to(site)).read_bytes() == path.read_bytes(), path.name


@pytest.mark.slow
def test_what_a_former_site_had_more_is_removed(tiny: Translator, tmp_path: Path) -> None:
    write_site(tmp_path, [tiny], texts=[TEXT, "Guten Morgen."])
    (tmp_path / "checkpoints" / "old").mkdir()
    (tmp_path / "checkpoints" / "old" / "model.safetensors").write_bytes(b"old")
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    write_site(tmp_path, [tiny], texts=[TEXT])
    assert [path.name for path in (tmp_path / "examples").iterdir()] == ["tiny-1.json"]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["tiny"]
    assert (tmp_path / "mine.txt").is_file()


def test_another_page_is_not_overwritten(tiny: Translator, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>mine</h1>", encoding="utf-8")
    with pytest.raises(InputError, match="would be overwritten"):
        write_site(tmp_path, [tiny])
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "<h1>mine</h1>"


def test_a_marian_folder_is_refused(tiny_marian: Path, tmp_path: Path) -> None:
    import translator

    with pytest.raises(CheckpointError, match="convert it first"):
        write_site(tmp_path / "site", [translator.load(tiny_marian, device="cpu")])
    assert not (tmp_path / "site").exists()


def test_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no checkpoint"):
        write_site(tmp_path, [])
