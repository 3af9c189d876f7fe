"""Every requirement has a pin for each Python that is supported, and the pin lies in the range."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


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


def test_pins_are_public_versions() -> None:
    """A local version such as 2.13.0+cpu would bind the pins to one build."""
    assert not [str(pin) for pin in read("constraints.txt") if "+" in str(pin.specifier)]
