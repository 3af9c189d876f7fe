"""Long translations in a real JupyterLab: maps come over its sockets when they are looked at, and no sooner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.jupyter import FURTHER, IMPORTS, Lab, opened

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SIZE = 64
MAKE = f"""import numpy as np
from translator.notebook import arrays_trace
def made(seed):
    rng = np.random.default_rng(seed)
    maps = {{kind: rng.dirichlet(np.full({SIZE}, 0.2), (6, 8, {SIZE})) for kind in ("encoder", "decoder", "cross")}}
    maps["decoder"] = np.tril(maps["decoder"])
    words = {{f"{{side}}_tokens": [f"{{side[0]}}{{n}}" for n in range({SIZE})] for side in ("encoder", "decoder")}}
    return arrays_trace(**{{f"{{kind}}_attention": each for kind, each in maps.items()}}, **words)
a, b, c = map(made, range(3))
widget = translator.explore(a, language="en")
widget"""
CELLS = (IMPORTS + MAKE, "further = translator.explore(c, language='en')\nfurther",
         "both = translator.compare(b, c, language='en')\nboth")  # fmt: skip


@pytest.fixture(scope="module")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with opened(browser, tmp_path_factory.mktemp("lab"), CELLS) as found:
        yield found


def maps_of(lab: Lab, do: Callable[[], object]) -> int:
    """How many maps came over the sockets while something was done: nothing else is as large."""
    lab.page.evaluate("0")  # what has come until now is heard
    before = len(lab.sent)
    do()
    lab.page.evaluate("0")
    return sum(size > 3000 for size in lab.sent[before:])


def test_three_long_widgets_cost_a_notebook_little(lab: Lab) -> None:
    """Two traces of an explorer and two of a comparison, and the scripts, which come once."""
    bundle = max(lab.sent)
    assert bundle > 300_000
    assert sum(lab.sent) - bundle < 4 * FURTHER


def test_a_map_comes_when_it_is_looked_at(lab: Lab) -> None:
    explorer = lab.output(0)

    def another_head() -> None:
        # Two messages without it, and a page that hears the first alone asks for its map too.
        lab.run("with widget.hold_sync(): widget.layer, widget.head = 5, 1")
        expect(explorer.locator(".detail")).to_have_attribute("aria-label", re.compile("L6 H2"))

    assert maps_of(lab, another_head) == 1
    assert maps_of(lab, another_head) == 0, "a map that is there came again"
    lab.run("widget.cell = (7, 9)")
    expect(explorer.locator(".stepout")).to_contain_text("Step 8 of")
    weight = float(lab.run("print(a.cross[5, 1, 7, 9])"))
    said = re.compile(r"0\.\d{4}")
    expect(explorer.locator(".readout")).to_contain_text(said)
    found = said.search(explorer.locator(".readout").inner_text())
    assert found is not None and float(found[0]) == pytest.approx(weight, abs=5.1e-5)

    def another_kind() -> None:
        explorer.get_by_role("button", name="Encoder", exact=True).click()
        lab.until("print(widget.kind)", lambda text: text == "encoder")

    assert maps_of(lab, another_kind) == 1


def test_a_mean_of_heads_is_of_all_their_maps(lab: Lab) -> None:
    explorer = lab.output(1)
    explorer.get_by_role("button", name="Aggregate", exact=True).click()
    explorer.locator("select.aggregate, [data-part=aggregate]").first.select_option("all-mean")
    expect(explorer.locator(".profile")).to_contain_text("48 heads")
    expect(explorer.locator(".attention-explorer [aria-busy=true]")).to_have_count(0)
    rows = explorer.locator(".detail").evaluate(
        "box => box.querySelector('.js-plotly-plot').data[0].z.map(row => Array.from(row))"
    )
    want = np.array([float(each) for each in lab.run("print(*c.cross.mean((0, 1))[0])").split()])
    np.testing.assert_allclose(np.array(rows[0], dtype=float)[: len(want)], want[: len(rows[0])], atol=1e-4)


def test_a_comparison_asks_for_the_two_maps_that_it_shows(lab: Lab) -> None:
    both = lab.output(2)
    expect(both.locator(".board button")).to_have_count(48)
    told = both.locator(".board button").nth(0)
    apart = "np.abs(b.cross[0, 0].astype(float) - c.cross[0, 0]).sum(1).mean() / 2"
    expect(told).to_have_text(f"{float(lab.run(f'print({apart})')):.2f}")

    def another_head() -> None:
        told.click()
        lab.until("print(both.layer, both.head)", lambda text: text == "0 0")

    assert maps_of(lab, another_head) == 2
    rows = both.locator("[data-side=b] .map").evaluate(
        "box => box.firstElementChild.data[0].z.map(row => Array.from(row))"
    )
    want = [float(each) for each in lab.run("print(*c.cross[0, 0, 5])").split()]
    np.testing.assert_allclose(np.array(rows[5], dtype=float), want, atol=5.1e-5)
