"""Export of the live page as a static site that translates in the browser."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from translator.analysis.profile import stored_profile
from translator.errors import CheckpointError, InputError
from translator.figures import positions
from translator.files import write_whole
from translator.registry import lab
from translator.ui import frontend
from translator.ui.about_tab import about
from translator.ui.explorer import show
from translator.ui.live.casing import casing_file
from translator.ui.live.chinese import chinese_file
from translator.ui.live.lab_figures import lab_figures
from translator.ui.live.languages import told_apart
from translator.ui.live.shell import INDEX, MARK, README, index_page, web_manifest
from translator.ui.offline import offline_shell
from translator.ui.payload import profile_payload
from translator.ui.session import payload_of
from translator.ui.source import source_address
from translator.ui.translate_tab import SETTINGS, direction_name

if TYPE_CHECKING:
    from translator.pipeline import Translator

LIVE = frontend.STATIC / "live"
LEVELS = ("subword", "word", "char")
"""The vocabularies that the page tokenizes by."""
MANIFEST_VERSION = 1
WEIGHTS = "model.safetensors"
ENGINES = {"engine": "engine.wasm", "relaxed": "relaxed.wasm"}
"""The engine, and the same for browsers with relaxed SIMD, by what they are in the manifest."""
CHECKPOINT = {"config": "config.json", "src": "src.json", "tgt": "tgt.json", "weights": WEIGHTS}
"""The files that a page reads of a checkpoint, by what they are in its manifest."""


def write_site(folder: Path, models: Sequence[Translator], *, texts: Sequence[str] = ()) -> list[Path]:
    """Write `folder`: page, engine, weights, vocabularies, prepared translations and what they weigh.

    What lay there of a former site is replaced; whatever else lies there stays.

    Args:
        models: what the page translates with, the first one opens.
        texts: sentences to prepare with the first of them instead of the project's examples.
    Returns:
        every file that was written.
    Raises:
        InputError: there is no model, or the folder has an index that is no live page's.
        CheckpointError: a model has no files of our format, or a vocabulary that the page cannot tokenize by.
    """
    if not models:
        raise InputError("there is no checkpoint to translate with; name at least one")
    for model in models:
        check(model)
    index = folder / INDEX
    if index.is_file() and MARK not in index.read_text(encoding="utf-8", errors="replace")[:1000]:
        raise InputError(f"{index} is not part of a live page and would be overwritten; choose another folder")
    site = _Site(folder, models)
    offers = [site.add_checkpoint(model) for model in models]
    examples = site.add_examples(models, texts)
    site.add_page(offers, examples)
    site.remove_former()
    return site.written


def check(model: Translator) -> Path:
    """The folder of a checkpoint, if a live page can translate with it.

    Raises:
        CheckpointError: it is of another format, or a vocabulary is not tokenized there.
    """
    folder, name = model.bundle.folder, model.name
    if folder is None or not (folder / WEIGHTS).is_file() or not (folder / "manifest.json").is_file():
        raise CheckpointError(
            f"{name} is no checkpoint of this project's own format, which is what a live page reads; "
            "convert it first: python -m translator convert"
        )
    for side in (model.bundle.src, model.bundle.tgt):
        if side.config.level not in LEVELS:
            raise CheckpointError(
                f"{name} has a vocabulary of level {side.config.level!r}; a live page tokenizes {', '.join(LEVELS)}. "
                "Pages of translations made beforehand take any: python -m translator export"
            )
    return folder


def profile_of(model: Translator) -> dict[str, Any] | None:
    """What the heads of a checkpoint do over a corpus, as its page reads it, if that was measured."""
    found = stored_profile(model)
    return profile_payload(found) if found else None


def citation() -> str:
    """This software for a bibliography, as BibTeX, as the served page's About says it."""
    _, _, rest = about("en", source_address()).partition("```bibtex\n")
    return rest.partition("```")[0].strip()


def position_figures() -> dict[str, Any]:
    """The figures of the Positions tab with no numbers in them, which the page puts there (web's positional.ts)."""
    empty = np.zeros((1, 1))
    return {
        "heatmap": json.loads(show(positions.positional_heatmap, empty)),
        "curves": json.loads(show(positions.positional_curves, empty, [0])),
        "similarity": json.loads(show(positions.similarity_matrix, empty)),
    }


class _Site:
    """A site that is being written; every file is noted."""

    def __init__(self, folder: Path, models: Sequence[Translator]) -> None:
        self.folder, self.models = folder, models
        self.written: list[Path] = []
        self.checkpoints: dict[str, dict[str, Any]] = {}
        self.chinese: dict[str, Any] | None = None

    def write(self, name: str, data: bytes) -> dict[str, Any]:
        """One file; its entry of the manifest."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        self.written.append(path)
        return {"path": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def write_json(self, name: str, value: Any) -> dict[str, Any]:
        """One file of JSON."""
        return self.write(name, (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode())

    @cached_property
    def shared(self) -> dict[str, dict[str, Any]]:
        """What every checkpoint takes: the lab's figures, and what tells the site's languages apart."""
        found = {"figures": self.write_json("lab.json", lab_figures())}
        names = [_slug(model.name) for model in self.models]
        if file := told_apart([model.languages[0] for model in self.models], names):
            found["languages"] = self.write("languages.json.gz", file)
        return found

    def add_checkpoint(self, model: Translator) -> dict[str, Any]:
        """The files of a checkpoint; how the page offers it."""
        folder, name = check(model), _slug(model.name)
        place = f"checkpoints/{name}"
        entries = {
            file: self.write(f"{place}/{file}", (folder / file).read_bytes())
            for file in ("README.md", *CHECKPOINT.values())
            if (folder / file).is_file()
        }
        found = {part: entries[file] for part, file in CHECKPOINT.items()} | self.shared
        if profile := profile_of(model):
            found["profile"] = self.write_json(f"{place}/profile.json", profile)
        if file := casing_file(model):
            found["casing"] = self.write(f"{place}/casing.json.gz", file)
        if "zh" in model.languages:
            self.chinese = self.chinese or self.write("chinese.json.gz", chinese_file())
            found["chinese"] = self.chinese
        self.checkpoints[name] = found
        size = sum(entry["size"] for entry in found.values())
        return {"direction": name, "label": direction_name(name), "size": size}

    def add_examples(self, models: Sequence[Translator], texts: Sequence[str]) -> list[dict[str, str]]:
        """Translations that the page opens with: those of the project that these weights made, or new ones."""
        listed: list[dict[str, str]] = []
        for model in models:
            name = _slug(model.name)
            known = [each for each in frontend.examples() if each["direction"] == name]
            wanted = [{"id": f"{name}-{i}", "text": text, "name": ""} for i, text in enumerate(texts, start=1)]
            for each in wanted if texts and model is models[0] else known:
                stored = None if texts else frontend.stored_example(each["id"])
                if stored is None or stored["checkpoint"]["sha256"] != model.bundle.info.sha256:
                    trace = model.translate(each["text"])
                    stored = {**payload_of(model, trace), "seconds": None}
                self.write_json(f"examples/{each['id']}.json", {**stored, "direction": name})
                listed.append({**each, "direction": name})
        return listed

    def add_page(self, offers: list[dict[str, Any]], examples: list[dict[str, str]]) -> None:
        """The page itself, the worker, and the manifest by which everything is checked."""
        self.write("plotly.js", frontend.PLOTLY_JS.read_bytes())
        self.write("LICENSE-plotly.txt", frontend.PLOTLY_JS.with_name("plotly-LICENSE").read_bytes())
        style = frontend.style().encode() + (LIVE / "page.css").read_bytes()
        built = {"page.css": style} | {name: (LIVE / name).read_bytes() for name in ("page.js", "worker.js", "sw.js")}
        for name, data in built.items():
            self.write(name, data)
        self.write("icon.svg", (Path(__file__).parent / "icon.svg").read_bytes())
        self.write_json("app.webmanifest", web_manifest())
        self.write_json("positions.json", position_figures())
        self.write("offline.html", offline_shell().encode())
        engines = {part: self.write(file, (LIVE / file).read_bytes()) for part, file in ENGINES.items()}
        manifest = {"version": MANIFEST_VERSION, **engines, "directions": list(self.checkpoints)}
        self.write_json("manifest.json", {**manifest, "checkpoints": self.checkpoints})
        version = self._version()
        words = {name: f"words-{name}.json" for name in frontend.locales()}
        for name, table in frontend.locales().items():
            self.write_json(words[name], table)
        told = {
            "examples": examples,
            "address": "examples/",
            "plotly": f"plotly.js?v={version}",
            "settings": SETTINGS,
            "directions": [offer["direction"] for offer in offers],
            "lab": lab.for_page(),
            "words": {name: f"{file}?v={version}" for name, file in words.items()},
            "site": {"version": version, "offers": offers, "citation": citation()},
        }
        statement = f"window.__explorerData={json.dumps(told, ensure_ascii=False)};\n"
        self.write("data.js", statement.encode() + (LIVE / "early.js").read_bytes())
        self.write(INDEX, index_page(version).encode())
        versioned = ("page.js", "page.css", "plotly.js", "data.js", "worker.js", "manifest.json", *words.values())
        shell = [f"{name}?v={version}" for name in versioned]
        shell += ["./", "icon.svg", "app.webmanifest", "offline.html", "positions.json"]
        shell += [f"examples/{each['id']}.json" for each in examples]
        self.write_json("shell.json", shell)
        if not (self.folder / "README.md").exists():
            self.write("README.md", README.encode())
        self.write(".nojekyll", b"")

    def remove_former(self) -> None:
        """Take away checkpoints and translations of a former site, now that this one is whole."""
        for place in ("checkpoints", "examples"):
            for path in sorted((self.folder / place).rglob("*"), reverse=True):
                if path.is_dir() and not any(path.iterdir()):
                    path.rmdir()
                elif path.is_file() and path not in self.written:
                    path.unlink()

    def _version(self) -> str:
        """A short hash of all that was written so far, and of the words: another one is another page."""
        digest = hashlib.sha256(frontend.words().encode())
        for path in sorted(self.written):
            digest.update(path.relative_to(self.folder).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()[:12]


def _slug(name: str) -> str:
    """A checkpoint's name as a folder's and an address's: "owner/name@commit" becomes "name"."""
    return name.rsplit("/", 1)[-1].partition("@")[0]
