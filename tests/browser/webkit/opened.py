"""Whether the browser tests run in WebKit, and what its driver cannot do."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

WEBKIT = os.environ.get("BROWSER_ENGINE") == "webkit"
"""As `make engines` has them."""


def no(what: str) -> NoReturn:
    """Skip the test: this can be done neither by WebDriver nor by the inspector."""
    pytest.skip(f"WebKitGTK's driver has no {what}")
