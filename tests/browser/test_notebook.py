"""The explorer in a real JupyterLab: clicks reach Python, what Python sets is shown, exports keep a picture."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.jupyter import IMPORTS, Lab, cell_of, environment, opened
from translator.analysis.heads import head_stats, leading_head
from translator.trace import Trace

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CELLS = (
    IMPORTS + "a, b = (translator.Trace.load(f'{name}.npz') for name in 'ab')\n"
    "widget = translator.explore(a, theme='light', language='en')\n"
    "widget",
    "b",
    "both = translator.compare(a, b, language='en')\nboth",
    "import numpy as np\n"
    "maps = [np.full((1, 2, 3, 3), 1 / 3) for _ in range(2)]\n"
    "view = translator.head_view(maps, ['[CLS]', 'do', '##ing'], layer=1)\n"
    "view",
)


@pytest.fixture(scope="module")
def lab(browser: Browser, make_trace: Callable[..., Trace], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    for seed, name in enumerate("ab"):
        make_trace(seed).save(folder / f"{name}.npz")
    with opened(browser, folder, CELLS) as found:
        yield found


def test_a_clicked_cell_is_known_in_python(lab: Lab) -> None:
    explorer = lab.output(0)
    expect(explorer.locator(".chips.src .chip")).to_have_count(int(lab.run("print(len(a.src))")))
    x, y = cell_of(explorer, 4, 2)
    explorer.locator(".detail").click(position={"x": x, "y": y})
    assert lab.until("print(widget.cell)", lambda said: said != "None") == "(4, 2)"
    lab.until("print(widget.step)", lambda said: said == "4")
    explorer.get_by_role("button", name="Encoder", exact=True).click()
    lab.until("print(widget.kind)", lambda said: said == "encoder")
    lab.until("print(widget.cell)", lambda said: said == "None")
    explorer.get_by_role("button", name="Cross", exact=True).click()
    lab.until("print(widget.kind)", lambda said: said == "cross")


def test_what_python_sets_is_shown(lab: Lab) -> None:
    explorer = lab.output(0)
    lab.run("widget.layer, widget.head = 1, 3")
    expect(explorer.locator(".detail")).to_have_attribute("aria-label", re.compile("L2 H4"))
    lab.run("widget.step = 5")
    expect(explorer.locator(".stepout")).to_contain_text("Step 6 of")
    lab.run("widget.cell = (2, 1)")
    expect(explorer.locator(".stepout")).to_contain_text("Step 3 of")
    weight = float(lab.run("print(widget.weights[2, 1])"))
    expect(explorer.locator(".readout")).to_contain_text(re.compile(r"0\.\d{4}"))
    said = re.search(r"0\.\d{4}", explorer.locator(".readout").inner_text())
    assert said is not None and float(said[0]) == pytest.approx(weight, abs=7e-5)
    lab.run("widget.kind = 'decoder'")
    expect(explorer.get_by_role("button", name="Decoder", exact=True)).to_have_attribute("aria-pressed", "true")
    lab.run("widget.theme = 'dark'")
    expect(explorer.locator(".attention-explorer.dark")).to_have_count(1)
    refused = "try:\n    widget.head = 99\nexcept translator.InputError as error:\n    print(error)"
    assert lab.run(refused) == "head is 99; decoder attention has heads 0 to 3"
    lab.run("widget.kind, widget.theme = 'cross', 'light'")


def test_two_traces_beside_each_other(lab: Lab) -> None:
    both = lab.output(2)
    expect(both.locator("section[data-side=b] .map .xtick").first).to_be_visible()
    both.get_by_label("Head", exact=True).select_option(label="4")
    lab.until("print(both.head)", lambda said: said == "3")
    lab.run("both.kind = 'encoder'")
    expect(both.get_by_role("button", name="Encoder", exact=True)).to_have_attribute("aria-pressed", "true")


def test_arrays_of_another_program_are_an_explorer_by_the_arguments_of_bertviz(lab: Lab) -> None:
    view = lab.output(3)
    expect(view.locator(".detail .xtick").first).to_be_visible()
    expect(view.locator(".detail")).to_have_attribute("aria-label", re.compile("L2 H1"))
    expect(view.locator(".chips.src .chip")).to_have_text(["[CLS]", "do", "ing"])
    x, y = cell_of(view, 2, 1)
    view.locator(".detail").click(position={"x": x, "y": y})
    assert lab.until("print(view.cell)", lambda said: said != "None") == "(2, 1)"
    lab.run("view.head = 1")
    expect(view.locator(".detail")).to_have_attribute("aria-label", re.compile("L2 H2"))


def test_scripts_come_once_to_a_notebook(lab: Lab) -> None:
    """A further trace is another cell's worth, not another bundle; exact arrays come when they are asked for."""
    explorer = lab.output(1)
    expect(explorer.locator(".detail .xtick").first).to_be_visible()
    big = [size for size in lab.sent if size > 300_000]
    assert len(big) == 1, "the bundle came more than once"
    with lab.page.expect_download() as download:
        explorer.get_by_role("button", name="NPZ", exact=True).click()
    assert Trace.load(download.value.path()).translation == lab.run("print(b.translation)")


def test_an_exported_notebook_keeps_the_picture(lab: Lab, browser: Browser) -> None:
    path = lab.folder / "note.ipynb"
    for number in range(len(CELLS)):
        expect(lab.output(number).locator(".xtick").first).to_be_visible()
    lab.page.get_by_role("menuitem", name="File", exact=True).click()
    with lab.page.expect_response(lambda answer: answer.request.method == "PUT" and path.name in answer.url):
        lab.page.get_by_role("menuitem", name=re.compile("^Save Notebook(?! As)")).click()
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert all(cell["outputs"] for cell in saved["cells"])
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output", "export.html", str(path)]
    subprocess.run(command, cwd=lab.folder, env=environment(lab.folder), check=True, capture_output=True)
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((lab.folder / "export.html").as_uri())
    trace = Trace.load(lab.folder / "a.npz")
    largest = trace.cross[leading_head(head_stats(trace, "cross"))].max()
    for number in range(3):
        picture = page.locator(".jp-CodeCell").nth(number).locator("img")
        expect(picture).to_be_visible()
        assert picture.evaluate("image => image.naturalWidth") > 200
        markup = base64.b64decode(str(picture.get_attribute("src")).partition("base64,")[2]).decode()
        assert "Bücher, die ich habe" in markup
        assert number or f">{largest:.2f}<".replace("0.", ".") in markup
    context.close()
