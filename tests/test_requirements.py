"""Every requirement has a pin for each Python that is supported, and the pin lies in the range."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from translator.errors import EXTRAS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPORTED = {"huggingface-hub": "huggingface_hub", "markdown-it-py": "markdown_it"}
"""By what name a distribution is imported, where that is another."""


def of_extras(*names: str) -> set[str]:
    """The requirements of some extras, those that they take from others among them."""
    found: set[str] = set()
    for line in (each for name in names for each in PROJECT["optional-dependencies"][name]):
        requirement = Requirement(line)
        found |= of_extras(*requirement.extras) if requirement.name == PROJECT["name"] else {str(requirement)}
    return found


def read(name: str) -> list[Requirement]:
    lines = (line.split(" #")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12"])
def test_every_requirement_has_one_pin_in_its_range(python: str) -> None:
    pins: dict[str, str] = {}
    for pin in read("constraints.txt"):
        if pin.marker is None or pin.marker.evaluate({"python_version": python}):
            (exact,) = pin.specifier
            assert exact.operator == "==", f"{pin} is no pin"
            name = canonicalize_name(pin.name)
            assert name not in pins, f"{name} has two pins for Python {python}"
            pins[name] = exact.version
    for requirement in (*read("requirements.txt"), *read("requirements-dev.txt")):
        name = canonicalize_name(requirement.name)
        assert name in pins, f"{name} has no pin for Python {python}"
        assert requirement.specifier.contains(pins[name]), f"{requirement} excludes its pin {pins[name]}"


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_no_requirement_is_listed_twice(name: str) -> None:
    names = [canonicalize_name(each.name) for each in read(name)]
    assert sorted(names) == sorted(set(names))


def test_pins_are_public_versions() -> None:
    """A local version such as 2.13.0+cpu would bind the pins to one build."""
    assert not [str(pin) for pin in read("constraints.txt") if "+" in str(pin.specifier)]


def test_a_space_gets_what_the_package_needs_with_all_that_the_page_and_the_commands_use() -> None:
    extras = of_extras("page", "fast", "hub", "train", "legacy")
    base = {str(Requirement(line)) for line in PROJECT["dependencies"]}
    assert {str(requirement) for requirement in read("requirements.txt")} == base | extras


def test_what_an_extra_brings_is_within_the_range_that_is_tested() -> None:
    tested = {canonicalize_name(each.name): each for each in (*read("requirements.txt"), *read("requirements-dev.txt"))}
    for line in of_extras("all"):
        requirement = Requirement(line)
        assert str(tested[canonicalize_name(requirement.name)].specifier) == str(requirement.specifier), line


def test_whoever_misses_a_package_is_told_the_extra_that_brings_it() -> None:
    brings = {name: of_extras(name) for name in PROJECT["optional-dependencies"]}
    for package, extra in EXTRAS.items():
        names = {IMPORTED.get(Requirement(line).name, Requirement(line).name) for line in brings[extra]}
        assert package in names or package == "starlette", f"{extra} does not bring {package}"


@pytest.mark.slow
def test_the_package_imports_nothing_that_it_does_not_ask_for() -> None:
    asked = {Requirement(line).name for line in PROJECT["dependencies"]} | {
        Requirement(x).name for x in of_extras("all")
    }
    known = {IMPORTED.get(name, name).replace("-", "_") for name in asked} | {"translator"}
    brought = {
        "IPython": "ipykernel",
        "fastapi": "gradio",
        "starlette": "gradio",
        "spaces": "a Space",
        "PIL": "gradio",
        "llvmlite": "numba",
    }
    for path in (ROOT / "translator").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            for name in (each.split(".")[0] for each in names):
                fine = name in sys.stdlib_module_names or name in known or name in brought
                assert fine, f"{path}: {name} is in no extra of pyproject.toml"


def test_the_lock_holds_the_pins_with_hashes_for_all_that_the_page_asks_for() -> None:
    entries = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace(" \\\n", "").splitlines()
    locked = [line for line in entries if not line.startswith("#")]
    assert all("--hash=sha256:" in line for line in locked)
    found = [Requirement(line.split(" --hash")[0].strip()) for line in locked]
    pinned: dict[str, set[str]] = {}
    for pin in read("constraints.txt"):
        pinned.setdefault(canonicalize_name(pin.name), set()).add(str(pin.specifier))
    for each in found:
        name = canonicalize_name(each.name)
        assert str(each.specifier) in pinned.get(name, {str(each.specifier)}), f"{each} is not the pin; run `make lock`"
    names = {canonicalize_name(each.name) for each in found}
    asked = {*PROJECT["dependencies"], *of_extras("page", "fast", "hub", "train", "legacy", "transformers")}
    missing = {canonicalize_name(Requirement(line).name) for line in asked} - names - {"torch"}
    assert not missing, f"{missing} are not in requirements.lock; run `make lock`"
