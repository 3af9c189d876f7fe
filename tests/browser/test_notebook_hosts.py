"""The explorer by the widget managers of other notebooks, with a real kernel; `make engines` installs and runs it.

VS Code's notebooks load `@vscode/jupyter-ipywidgets8`; Colab has a manager of its own, as which html-manager is used
here. Both get anywidget by an AMD loader, which the page's scripts have to live with.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import anywidget
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.jupyter import IMPORTS, PATIENCE, ROOT, Kernel, cell_of, kernel_of, served
from translator.trace import Trace

HOSTS = ROOT / "runs" / "hosts"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.soak,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not (HOSTS / ".installed").is_file(), reason="`make engines` installs the widget managers"),
]
FILES = {
    "host.js": HOSTS / "built.js",
    "require.js": HOSTS / "node_modules" / "requirejs" / "require.js",
    "vscode.js": HOSTS / "node_modules" / "@vscode" / "jupyter-ipywidgets8" / "dist" / "ipywidgets.js",
    "html-manager.js": HOSTS / "node_modules" / "@jupyter-widgets" / "html-manager" / "dist" / "embed-amd.js",
    "anywidget.js": Path(anywidget.__file__).parent / "nbextension" / "index.js",
}
MARKUP = """<!doctype html><meta charset="utf-8"><body><script src="require.js"></script>
<script type="module" src="host.js"></script></body>"""
CELLS = (
    IMPORTS + "a, b = (translator.Trace.load(f'{name}.npz') for name in 'ab')\n"
    "widget = translator.explore(a, theme='light', language='en')\nwidget",
    "both = translator.compare(a, b, language='en')\nboth",
)


@dataclass
class Host:
    """A page with both widgets, and their kernel."""

    page: Page
    kernel: Kernel
    faults: list[str]

    def output(self, number: int) -> Locator:
        return self.page.locator(".output").nth(number)


def lay_out(folder: Path) -> list[str]:
    """Put the page's files into a folder; the options by which a Jupyter server has them under /static."""
    folder.mkdir()
    for name, file in FILES.items():
        shutil.copy(file, folder / name)
    (folder / "host.html").write_text(MARKUP, encoding="utf-8")
    return [f"--ServerApp.extra_static_paths={[str(folder)]}", "--ServerApp.disable_check_xsrf=True"]


@pytest.fixture(scope="module", params=["vscode", "html-manager"])
def host(
    request: pytest.FixtureRequest,
    browser: Browser,
    make_trace: Callable[..., Trace],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    for seed, name in enumerate("ab"):
        make_trace(seed).save(folder / f"{name}.npz")
    with served(folder, *lay_out(folder / "static")) as address:
        context = browser.new_context(viewport={"width": 1440, "height": 1000}, locale="en-US")
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.goto(f"{address}static/host.html")
        page.wait_for_function("() => window.begin")
        page.evaluate("([name, address]) => window.begin(name, address)", [request.param, address])
        there = f"import os; os.chdir({str(folder)!r})\n"
        for number, cell in enumerate(CELLS):
            page.evaluate("code => window.run(code)", there + cell)
            page.locator(".output").nth(number).locator(".xtick").first.wait_for()
        with kernel_of(folder) as kernel:
            yield Host(page, kernel, faults)
        context.close()


def test_the_explorer_is_drawn_and_its_clicks_reach_python(host: Host) -> None:
    explorer = host.output(0)
    expect(explorer.locator(".chips.src .chip")).to_have_count(int(host.kernel.run("print(len(a.src))")))
    x, y = cell_of(explorer, 4, 2)
    explorer.locator(".detail").click(position={"x": x, "y": y})
    assert host.kernel.until("print(widget.cell)", lambda said: said != "None") == "(4, 2)"
    explorer.get_by_role("button", name="Encoder", exact=True).click()
    host.kernel.until("print(widget.kind)", lambda said: said == "encoder")


def test_what_python_sets_is_shown(host: Host) -> None:
    explorer = host.output(0)
    host.kernel.run("widget.kind = 'cross'; widget.layer, widget.head = 1, 3; widget.step = 5")
    expect(explorer.locator(".detail")).to_have_attribute("aria-label", re.compile("L2 H4"))
    expect(explorer.locator(".stepout")).to_contain_text("Step 6 of")
    host.kernel.run("widget.theme = 'dark'")
    expect(explorer.locator(".attention-explorer.dark")).to_have_count(1)


def test_a_comparison_asks_its_kernel_for_the_maps_that_it_shows(host: Host) -> None:
    both = host.output(1)
    shown, heads = map(int, host.kernel.run("print(both.head, a.cross.shape[1])").split())
    drawn = "box => box.firstElementChild.data[0].z.map(row => Array.from(row))"
    for head in [each for each in range(heads) if each != shown][:2]:
        both.get_by_label("Head", exact=True).select_option(label=str(head + 1))
        host.kernel.until("print(both.head)", lambda said, head=head: said == str(head))
        rows = {}
        for side in "ab":
            rows[side] = both.locator(f"[data-side={side}] .map").evaluate(drawn)[2]
            want = host.kernel.run(f"print(*{side}.cross[both.layer, {head}, 2])").split()
            assert rows[side] == pytest.approx([float(each) for each in want], abs=5.1e-5)
        assert rows["a"] != pytest.approx(rows["b"], abs=1e-3)  # else either could be the other's


def test_nothing_goes_wrong_on_the_way(host: Host) -> None:
    assert host.faults == []
