"""Whether the browser tests run in WebKit."""

from __future__ import annotations

import os

WEBKIT = os.environ.get("BROWSER_ENGINE") == "webkit"
"""As `make engines` has them."""
