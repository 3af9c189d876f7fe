"""What the README tells a newcomer to type exists, and its front matter is what a Space reads."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """Every line of the shell blocks as words, comments and redirections left out."""
    lines = (line for block in blocks(text, "sh") for line in block.splitlines())
    words = (shlex.split(re.sub(r"\s[<>].*", "", line), comments=True) for line in lines)
    return [command for command in words if command]


def unknown(command: list[str], subcommands: set[str] | None) -> str | None:
    """Why the command cannot work in this repository; None if it is known."""
    program, *arguments = command
    if program == "make":
        missing = [word for word in arguments if "=" not in word and word not in TARGETS]
        return f"make has no target {missing[0]}" if missing else None
    if program == "attention-explorer":
        program, arguments = "python3", ["-m", "translator", *arguments]
    if program not in ("python3", ".venv/bin/python"):
        return f"{program} is no command of this project"
    if arguments[:2] == ["-m", "translator"]:
        name = arguments[2]
        known = subcommands is None or name.startswith("-") or name in subcommands
        return None if known else f"python -m translator has no command {name}"
    files = [word for word in arguments if word.endswith((".py", ".txt"))]
    missing = [name for name in files if not (ROOT / name).is_file() and not (subcommands is None and name == "app.py")]
    return f"{missing[0]} does not exist" if missing else None


@pytest.fixture(scope="module")
def subcommands() -> set[str] | None:
    """The command line's own list; None as long as there is no command line."""
    if not (ROOT / "translator" / "__main__.py").is_file():
        return None
    shown = subprocess.run(
        [sys.executable, "-m", "translator", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed = set(re.findall(r"^    ([a-z][a-z-]*)(?=\s|$)", shown.stdout, re.MULTILINE))
    assert listed, f"--help lists no commands:\n{shown.stdout}"
    return listed


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_shell_command_is_known(text: str, subcommands: set[str] | None) -> None:
    found = commands(text)
    assert found
    reasons = [f"{' '.join(command)}: {why}" for command in found if (why := unknown(command, subcommands))]
    assert not reasons, "\n".join(reasons)


@pytest.mark.parametrize(
    "line",
    ["make fly", "conda install torch", ".venv/bin/python -m translator fly", ".venv/bin/python gone.py"],
)
def test_an_unknown_command_is_found(line: str) -> None:
    assert unknown(shlex.split(line), {"translate"})


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_make_target_that_is_named_exists(text: str) -> None:
    named = set(re.findall(r"`make ([a-z][a-z-]*)`", text))
    assert named
    assert named <= TARGETS


def test_every_target_is_phony_and_explained() -> None:
    phony = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())
    assert phony == TARGETS
    explained = set(re.findall(r"`make ([a-z-]+)`", CONTRIBUTING))
    assert TARGETS - {"all", "browser"} <= explained


def test_python_blocks_parse() -> None:
    found = blocks(README, "python")
    assert found
    for block in found:
        ast.parse(block)


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_relative_links_lead_somewhere(text: str) -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def anchor(heading: str) -> str:
    """What GitHub calls a heading in a link."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]), ids=lambda page: page.name
)
def test_a_link_to_a_heading_leads_to_one(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for name, wanted in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", text):
        target = (page.parent / name) if name else page
        headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert wanted in map(anchor, headings), f"{name}#{wanted}"


def test_space_front_matter() -> None:
    """The fields and limits of a Space's configuration; the gradio version is the pinned one."""
    matter = yaml.safe_load(README.split("---\n")[1])
    assert matter["sdk"] == "gradio"
    assert f"gradio=={matter['sdk_version']}\n" in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert matter["python_version"] == "3.12"
    assert matter["app_file"] == "app.py"
    assert len(matter["short_description"]) <= 60
    colours = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert {matter["colorFrom"], matter["colorTo"]} <= colours
    assert matter["license"] == "apache-2.0"


@pytest.mark.slow
def test_the_python_of_the_readme_runs() -> None:
    code = "\n".join(block for block in blocks(README, "python") if "gradio_client" not in block)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()  # the steps that it prints


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_command_lines_of_the_readme_run(tmp_path: Path) -> None:
    """As they stand, in a shell, from a folder of their own; those that need corpora, a hub or a free port aside."""
    lines = [line for block in blocks(README, "sh") for line in block.splitlines() if "-m translator " in line]
    runnable = [line for line in lines if not re.search(r"translator (train|space|push|serve|describe)\b", line)]
    assert len(runnable) >= 5
    (tmp_path / "lines.txt").write_text("Guten Morgen.\nIch renne.\n", encoding="utf-8")
    for line in runnable:
        command = line.replace(".venv/bin/python", shlex.quote(sys.executable), 1)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRANSLATOR_CHECKPOINTS": str(ROOT / "checkpoints")}
        done = subprocess.run(  # noqa: S602 a newcomer has a shell too
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
    assert len((tmp_path / "lines.out").read_text(encoding="utf-8").splitlines()) == 2
    assert (tmp_path / "trace.npz").is_file() and (tmp_path / "heads.html").is_file()
