"""The documentation builds without a warning, asks no other host for anything, and its guide holds when followed."""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

import translator
from benchmarks import decisions, prose
from benchmarks.modules import MARK, on_page_markdown, summary
from translator import __main__ as command_line
from translator.training.claim import read_config

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "language-pair.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "docs" / "examples" / "eo-en"
Run = Callable[[str], subprocess.CompletedProcess[str]]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


class Outside(HTMLParser):
    """What a page loads by itself from elsewhere; a link that a reader may follow is none of it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            loads = name in ("src", "srcset") or (
                tag == "link" and name == "href" and ("rel", "canonical") not in attrs
            )
            if loads and re.match(r"(https?:)?//", value or ""):
                self.found.append(f"{tag} {value}")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-3000:]
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs").glob("*.md")))  # and one for what is not found
    for page in pages:
        reader = Outside()
        reader.feed(page.read_text(encoding="utf-8"))
        assert not reader.found, f"{page.name}: {reader.found}"
    api = (tmp_path / "api.html").read_text(encoding="utf-8")
    for name in ("Translator", "Trace", "rollout", "attention_heatmap", "save_bundle"):
        assert re.search(rf'id="translator\.[\w.]*\b{name}"', api), f"{name} is not in the API"


def test_every_page_is_in_the_navigation() -> None:
    """But for the decisions, each of which their index lists."""
    nav = yaml.safe_dump(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    named = set(re.findall(r"[\w/-]+\.md", nav))
    assert named == {path.name for path in (ROOT / "docs").glob("*.md")} | {"decisions/index.md"}


def test_the_decisions_are_numbered_and_listed_with_their_status() -> None:
    """Numbers without a gap; the list is made when the site is built, from the heads of the files."""
    folder = ROOT / "docs" / "decisions"
    page = decisions.on_page_markdown((folder / "index.md").read_text(encoding="utf-8"))
    assert decisions.MARK not in page
    rows = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \| (.+) \|$", page, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1))
    assert [file for _, _, file, _ in rows] == sorted(path.name for path in folder.glob("[0-9]*.md"))
    for number, title, file, status in rows:
        assert file.startswith(f"{int(number):04d}-")
        assert (folder / file).read_text(encoding="utf-8").startswith(f"# {number}. {title}\n\nStatus: {status[:8]}")
        assert re.match(r"accepted|superseded by \d+|rejected", status), file


def test_a_decision_without_a_status_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0001-x.md").write_text("# 1. X\n\nAccepted.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"0001-x\.md does not begin"):
        decisions.listing(tmp_path)


def test_all_texts_together_have_at_most_15_000_words() -> None:
    """`python -m benchmarks.prose` tells where they are; say a thing once and link to it."""
    counted = {path.name: prose.words(path.read_text(encoding="utf-8")) for path in prose.texts()}
    assert {"README.md", "SECURITY.md", "experiments.md", "0069-beams-keep-their-rows.md"} <= counted.keys()
    assert sum(prose.words(path.read_text(encoding="utf-8")) for path in prose.texts()) <= 15_000


def test_code_links_and_the_bars_of_tables_are_no_words() -> None:
    text = """---
title: none of it
---
# Two words

One [link](to/somewhere else) and `code`.

```sh
make nothing
```

<!-- nor this -->
| a | 3.5 | b |
|---|---|---|

::: translator.model
    options:
      members: [load]

end
"""
    assert prose.words(text) == len(["Two", "words", "One", "link", "and", "code", "a", "b", "end"])


def test_every_module_has_a_summary_and_is_listed() -> None:
    """The list is made when the site is built, from the first lines of the docstrings."""
    page = on_page_markdown((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert MARK not in page
    for path in sorted((ROOT / "translator").rglob("*.py")):
        told = summary(path)
        assert told.endswith("."), f"{path}: the first line of the docstring is a sentence, whole"
        assert told.replace("*", "\\*") in page, path


def test_the_map_of_the_front_end_names_its_folders() -> None:
    """All that there are, and no other."""
    text = (ROOT / "web" / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| in `") :].split("\n\n")[0]
    rows = {row.split("|")[1]: row.split("|")[2] for row in table.splitlines()[2:]}
    source = ROOT / "web" / "src"
    parts = {name for cell in rows for name in re.findall(r"`([\w.]+?)/?(?:NAME/)?`", cell)}
    scripts = {each.name for each in source.glob("*.ts")}
    entries = {name for name in scripts if not name.endswith((".test.ts", ".d.ts"))}
    assert parts == entries | {each.name for each in source.iterdir() if each.is_dir()}
    for part in ("components", "tabs", "host"):
        told = next(what for cell, what in rows.items() if f"`{part}/" in cell)
        assert set(re.findall(r"`(\w+)/`", told)) == {each.name for each in (source / part).iterdir() if each.is_dir()}


def test_what_the_guide_shows_of_its_config_is_in_the_file() -> None:
    shown = json.loads(blocks("json")[0])
    real = json.loads((EXAMPLE / "config.json").read_text(encoding="utf-8"))
    assert {**real, **shown, "model": {**real["model"], **shown["model"]}} == real
    assert read_config(EXAMPLE / "config.json").name == "eo-en"


def test_no_test_sentence_of_the_example_is_learnt() -> None:
    sources = {
        split: {line.split("\t")[0] for line in (EXAMPLE / f"{split}.tsv").read_text(encoding="utf-8").splitlines()}
        for split in ("train", "dev", "test")
    }
    assert {split: len(found) for split, found in sources.items()} == {"train": 450, "dev": 30, "test": 20}
    assert not (sources["dev"] | sources["test"]) & sources["train"]
    typed = re.findall(r'--model eo-en .*?"([^"]+)"', GUIDE)
    assert len(typed) == 3 and not set(typed) & sources["train"]


@pytest.fixture
def follow(tmp_path: Path) -> Run:
    """Runs a line of the guide as it stands there, in a folder where nothing of the checkout can be overwritten."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    places = {"PYTHONPATH": str(ROOT), "TRANSLATOR_CHECKPOINTS": str(tmp_path / "checkpoints"), "OMP_NUM_THREADS": "1"}

    def run(line: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = shlex.split(line)
        assert program == ".venv/bin/python"
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=os.environ | places, capture_output=True, text=True
        )

    return run


@pytest.mark.soak
def test_the_guide_holds_when_it_is_followed(follow: Run, tmp_path: Path) -> None:
    printed = ""
    for line in "".join(blocks("sh")).splitlines():
        done = follow(line)
        assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"
        printed += done.stdout
    for line in blocks("text")[1].splitlines():
        assert line in printed.splitlines()
    (scores,) = json.loads((tmp_path / "runs" / "eo-en" / "scores.json").read_text(encoding="utf-8"))["tests"]
    assert scores["bleu"] > 60 and not scores["refused"]
    assert (tmp_path / "runs" / "eo-en" / "heads.html").stat().st_size > 10**6
    assert re.search(r"^cross\tL2H\d\taligns\t", printed, re.MULTILINE)
    engine = translator.load(tmp_path / "checkpoints" / "eo-en", device="cpu")
    assert engine.languages == ("eo", "en") and "## What the heads do" in engine.bundle.card
    refused = follow(blocks("text")[2].strip())
    assert refused.returncode == 2 and "assets/credits.json" in refused.stderr  # as section 6 says


def public(tree: ast.Module) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """Every public class, function and method of a module, by its name there."""
    todo: list[tuple[str, ast.Module | ast.ClassDef]] = [("", tree)]
    while todo:
        prefix, holder = todo.pop()
        for node in holder.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                yield prefix + node.name, node
                if isinstance(node, ast.ClassDef):
                    todo.append((f"{prefix}{node.name}.", node))


def faults(source: str, shapes: bool) -> Iterator[str]:
    """What the docstrings of a module leave out: all of it, an error that it raises itself, a shape."""
    for name, node in public(ast.parse(source)):
        told = ast.get_docstring(node)
        if told is None:
            yield f"{name} has no docstring"
        elif isinstance(node, ast.FunctionDef):
            own = [part for part in node.body if not isinstance(part, ast.FunctionDef)]
            raised = [each for part in own for each in ast.walk(part) if isinstance(each, ast.Raise) and each.exc]
            if raised and not re.search(r"\bRaises:|\berrors are\b", told):
                yield f"{name} does not tell what it raises"
            hints = [each.annotation for each in (*node.args.args, *node.args.kwonlyargs)] + [node.returns]
            arrays = [each for each in hints if each and re.fullmatch(r"Tensor|np\.ndarray", ast.unparse(each))]
            if shapes and arrays and "[" not in told:
                yield f"{name} tells no shape"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.engine] if page.name == "engine.md" else [])
        for page in sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
    ],
)
def test_every_file_that_is_named_is_there(page: Path) -> None:
    """But for what the history tells of files that have gone."""
    if page.name == "CHANGELOG.md":
        return
    named = re.findall(
        r"`((?:translator|tests|benchmarks|assets|configs|deploy|notebooks)/[\w./-]+)`",
        page.read_text(encoding="utf-8"),
    )
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_guide_names_the_files_that_hold_what_is_to_be_changed() -> None:
    places = re.findall(r"`([A-Z_]{4,})`[^`\n]{1,12}`(translator/[\w/]+\.py)`", GUIDE)
    directions = next(block for block in blocks("python") if "eo-en" in block)
    before = GUIDE[: GUIDE.index(directions)]
    places.append((directions.split(" = ")[0], re.findall(r"`(translator/[\w/]+\.py)`", before)[-1]))
    assert len(places) == 4
    for name, path in places:
        assert re.search(rf"^{name}\b.* = ", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), (name, path)


def test_every_public_name_is_documented() -> None:
    """Shapes where arrays are the matter: in the model, in decoding, analysis and figures, and in the trace."""
    package = ROOT / "translator"
    shaped = {package / part for part in ("model", "decode", "analysis", "figures")}
    found = []
    for path in sorted(package.rglob("*.py")):
        about_arrays = path.parent in shaped or path.name == "trace.py"
        found += [f"{path.relative_to(ROOT)}: {each}" for each in faults(path.read_text("utf-8"), about_arrays)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(): ...", "f has no docstring"),
        ("class C:\n '''A.'''\n def m(self): ...", "C.m has no docstring"),
        ("def f():\n '''A.'''\n raise ValueError('x')", "f does not tell what it raises"),
        ("def f(x: Tensor):\n '''A.'''", "f tells no shape"),
        ("def f(x: Tensor):\n '''x [B].'''\n def g(): raise ValueError\ndef _h(): ...", None),
    ],
)
def test_a_gap_in_the_docstrings_is_found(source: str, said: str | None) -> None:
    assert list(faults(source, shapes=True)) == ([] if said is None else [said])


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = {page.relative_to(ROOT).as_posix().removeprefix("docs/"): page.read_text(encoding="utf-8") for page in PAGES}


parser = functools.cache(command_line._parser)


def typed(page: str) -> list[list[str]]:
    """What a page tells to type at `python -m`, from blocks and from the running text, as words."""
    told = re.findall(r"python3? -m ((?:translator|benchmarks)\b[^\n`]*)", TEXT[page])
    return [shlex.split(re.sub(r"\s[<>|;].*", "", each), comments=True) for each in told]


@pytest.mark.parametrize("page", sorted(TEXT))
def test_every_command_line_is_one(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The parser takes it as it stands; a command named without anything only has to exist."""
    for program, *words in typed(page):
        package, _, module = program.partition(".")
        if package == "benchmarks":
            assert (ROOT / package / f"{module or '__main__'}.py").is_file(), program
            continue
        with contextlib.suppress(SystemExit):
            parser().parse_args(words if len(words) > 1 else [*words, "--help"])
        assert not capsys.readouterr().err, words


@pytest.mark.parametrize("page", sorted(TEXT))
def test_every_target_of_make_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z][a-z-]*)", TEXT[page])) <= targets


@pytest.mark.parametrize("page", sorted(TEXT))
def test_every_block_of_python_parses(page: str) -> None:
    for block in re.findall(r"^```python\n(.*?)^```$", TEXT[page], re.MULTILINE | re.DOTALL):
        ast.parse(block)


def test_the_pages_have_commands() -> None:
    assert {"README.md", "checkpoints.md", "language-pair.md"} <= {page for page in TEXT if len(typed(page)) > 2}
