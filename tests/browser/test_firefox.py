"""The live page in Firefox; `make engines` installs Debian's and runs this. Chromium has all other tests."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from translator import Translator
from translator.ui.live.site import write_site

pytest.importorskip("websocket", reason="`make engines` installs it")
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.soak,
    pytest.mark.skipif(not FIREFOX, reason="`make engines` installs Debian's firefox-esr"),
]
PREPARED, TYPED = "Ich renne in den Park.", "Das Haus ist alt."
SHOWN = "document.querySelector('#attention-detail .xtick') !== null"


def _beside(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tiny: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, [tiny], texts=[PREPARED])
    return folder


@pytest.fixture
def host(site: Path) -> Iterator[Any]:
    with _beside("file_host").host(site) as serving:
        yield serving


@pytest.fixture
def tab() -> Iterator[Any]:
    with _beside("firefox").firefox(str(FIREFOX)) as driven:
        yield driven


def translate(tab: Any, text: str) -> None:
    tab.run(f"""(() => {{
        const field = document.querySelector('#source-text textarea');
        field.value = {json.dumps(text)};
        field.dispatchEvent(new Event('input', {{ bubbles: true }}));
        document.querySelector('#translate').click();
    }})()""")


def check(tab: Any, model: Translator, text: str) -> None:
    """A typed sentence gets Python's ids and maps."""
    translate(tab, text)
    tab.until(f"AttentionExplorer.trace()?.source === {json.dumps(text)}")
    trace, expected = tab.run("AttentionExplorer.trace()"), model.translate(text)
    assert [token["id"] for token in trace["tgt"]] == [token.id for token in expected.tgt]
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(np.array(trace[kind]), expected.weights(kind), atol=2e-5, rtol=0)


@pytest.mark.parametrize("width", [500, 1440])
def test_a_typed_sentence_has_pythons_maps(tab: Any, host: Any, tiny: Translator, width: int) -> None:
    tab.resize(width, 900)
    tab.open(host.address)
    tab.until(SHOWN)
    check(tab, tiny, TYPED)
    assert tab.run("document.documentElement.scrollWidth <= innerWidth")


def test_it_opens_and_translates_without_a_network(tab: Any, host: Any, tiny: Translator) -> None:
    tab.open(host.address)
    tab.until(SHOWN)
    check(tab, tiny, TYPED)
    tab.run("navigator.serviceWorker.ready.then(() => true)")
    host.gone = True
    tab.open(host.address)
    tab.until(SHOWN)
    check(tab, tiny, PREPARED)


def test_damaged_weights_are_refused_and_fetched_again(tab: Any, host: Any, tiny: Translator) -> None:
    host.damaged = True
    tab.open(host.address)
    tab.until(SHOWN)
    translate(tab, TYPED)
    tab.until("document.querySelector('#weights[data-state=failed]') !== null")
    assert "model.safetensors is damaged" in tab.run("document.querySelector('#weights').innerText")
    host.damaged = False
    check(tab, tiny, TYPED)


def test_a_lost_connection_goes_on(tab: Any, host: Any, tiny: Translator) -> None:
    host.cut = 1
    tab.open(host.address)
    tab.until(SHOWN)
    check(tab, tiny, TYPED)
    assert sum(path.endswith("model.safetensors") for path, _ in host.asked) == 2
