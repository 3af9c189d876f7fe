"""A site of live pages on the plainest host, and a browser's own context."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

import translator
from tests.browser.file_host import host as hosted
from tests.browser.live.page import PREPARED
from translator import Translator
from translator.checkpoints.save import save_bundle
from translator.ui.live.site import write_site


@pytest.fixture(scope="session")
def site(tiny: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site of one direction, with one prepared translation."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, [tiny], texts=[PREPARED])
    return folder


@pytest.fixture
def host(site: Path) -> Iterator[Any]:
    with hosted(site) as serving:
        yield serving


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    yield made
    made.close()


@pytest.fixture(scope="session")
def two_ways(tiny: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two directions, the first of which alone has a prepared translation."""
    bundle, pairs, place = tiny.bundle, [], tmp_path_factory.mktemp("two")
    for name in ("de-en", "en-de"):
        config = {"name": name, "card": f"# {name}\n", "decode": bundle.decode, "src": bundle.src, "tgt": bundle.tgt}
        pairs.append(translator.load(save_bundle(place / name, model=bundle.model, **config), device="cpu"))
    write_site(place / "site", pairs, texts=[PREPARED])
    return place / "site"
