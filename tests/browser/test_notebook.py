"""The explorer in a real JupyterLab: clicks reach Python, what Python sets is shown, exports keep a picture."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from threading import Thread
from typing import IO, Any

import nbformat
import pytest
from jupyter_client import BlockingKernelClient
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks.served import free_port
from translator.analysis.heads import head_stats, leading_head
from translator.trace import Trace

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
CELLS = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    "import translator\n"
    "a, b = (translator.Trace.load(f'{name}.npz') for name in 'ab')\n"
    "widget = translator.explore(a, theme='light', language='en')\n"
    "widget",
    "b",
    "both = translator.compare(a, b, language='en')\nboth",
    "import numpy as np\n"
    "maps = [np.full((1, 2, 3, 3), 1 / 3) for _ in range(2)]\n"
    "view = translator.head_view(maps, ['[CLS]', 'do', '##ing'], layer=1)\n"
    "view",
)
PATIENCE = 60_000
WAIT = 10
"""Seconds that what a person does may take to reach the kernel."""
FURTHER = 120 * 1024
"""Bytes that one more trace may cost a notebook."""


@dataclass
class Lab:
    """A JupyterLab with one notebook, run from its first cell to its last."""

    page: Page
    folder: Path
    kernel: BlockingKernelClient
    sent: list[int]
    """Bytes of every message that came over a socket."""

    def output(self, number: int) -> Locator:
        """What a cell shows, from 0."""
        return self.page.locator(".jp-CodeCell").nth(number).locator(".jp-Cell-outputArea")

    def run(self, code: str) -> str:
        """Run code in the notebook's kernel; what it printed."""
        printed: list[str] = []

        def heard(message: dict[str, Any]) -> None:
            assert message["msg_type"] != "error", message["content"]
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        self.kernel.execute_interactive(code, output_hook=heard, timeout=60, store_history=False)
        return "".join(printed).strip()

    def until(self, code: str, right: Callable[[str], bool]) -> str:
        """What code prints, once it is right: it is run again whenever the kernel has done something else."""
        end = time.monotonic() + WAIT
        while not right(found := self.run(code)):
            try:
                # What the kernel did since, it also published: nothing is missed between the two calls.
                self.kernel.get_iopub_msg(timeout=max(0, end - time.monotonic()))
            except Empty:
                raise AssertionError(f"{code} still prints {found!r}") from None
        return found


def environment(folder: Path) -> dict[str, str]:
    """Settings, runtime files and extensions of nobody else."""
    own = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR")}
    return {**os.environ, **own, "OMP_NUM_THREADS": "1"}


def write_notebook(path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


def show_every_cell(folder: Path) -> None:
    """JupyterLab takes cells that are out of sight out of the page unless it is told not to."""
    place = folder / "JUPYTER_CONFIG_DIR" / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    place.mkdir(parents=True)
    (place / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')


def wait_for_server(said: IO[str], log: IO[str]) -> None:
    """Copy what the server says into `log` until it listens."""
    for line in said:
        log.write(line)
        if "is running at" in line:
            return
    raise AssertionError("JupyterLab did not start")


@pytest.fixture(scope="module")
def lab(browser: Browser, make_trace: Callable[..., Trace], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    for seed, name in enumerate("ab"):
        make_trace(seed).save(folder / f"{name}.npz")
    write_notebook(folder / "note.ipynb")
    show_every_cell(folder)
    own, port = environment(folder), free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--IdentityProvider.token=", "--LabApp.extension_manager=readonly", f"--ServerApp.root_dir={folder}"]
    log = (folder / "log.txt").open("w")
    server = subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert server.stdout is not None
    rest = Thread(target=shutil.copyfileobj, args=(server.stdout, log), daemon=True)
    address = f"http://127.0.0.1:{port}/"
    try:
        wait_for_server(server.stdout, log)
        rest.start()  # a full pipe would stop the server
        context = browser.new_context(viewport={"width": 1440, "height": 1000}, locale="en-US")
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        sent: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sent.append(len(data))))
        page.goto(f"{address}lab/tree/note.ipynb?reset")
        page.locator(".jp-CodeCell").nth(2).wait_for()
        page.get_by_text("Kernel status: Idle").first.wait_for(state="attached")
        run_all(page)
        connection = next((folder / "JUPYTER_RUNTIME_DIR").glob("kernel-*.json"))
        kernel = BlockingKernelClient(connection_file=str(connection))
        kernel.load_connection_file()
        kernel.start_channels()
        kernel.wait_for_ready(timeout=60)
        yield Lab(page, folder, kernel, sent)
        kernel.stop_channels()
        context.close()
    finally:
        server.terminate()
        server.wait(30)
        if rest.ident is not None:
            rest.join(10)
        log.close()


def run_all(page: Page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    cells = page.locator(".jp-CodeCell")
    for number in range(len(CELLS)):
        cells.nth(number).locator(".detail .xtick, .cx .xtick").first.wait_for()
    page.get_by_text("Kernel status: Idle").first.wait_for(state="attached")


def cell_of(explorer: Locator, row: int, column: int) -> tuple[float, float]:
    """Where a cell of the large map is drawn, in pixels from the map's corner."""
    return explorer.locator(".detail").evaluate(
        """(box, [i, j]) => {
            const plot = box.querySelector(".js-plotly-plot"), { xaxis, yaxis } = plot._fullLayout;
            const from = box.getBoundingClientRect(), to = plot.getBoundingClientRect();
            return [to.x - from.x + xaxis._offset + xaxis.l2p(j), to.y - from.y + yaxis._offset + yaxis.l2p(i)];
        }""",
        [row, column],
    )


def test_a_clicked_cell_is_known_in_python(lab: Lab) -> None:
    explorer = lab.output(0)
    expect(explorer.locator(".chips.src .chip")).to_have_count(int(lab.run("print(len(a.src))")))
    x, y = cell_of(explorer, 4, 2)
    explorer.locator(".detail").click(position={"x": x, "y": y})
    assert lab.until("print(widget.cell)", lambda said: said != "None") == "(4, 2)"
    assert lab.run("print(widget.step)") == "4"
    explorer.get_by_role("button", name="Encoder", exact=True).click()
    lab.until("print(widget.kind)", lambda said: said == "encoder")
    assert lab.run("print(widget.cell)") == "None"
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
    cost = lab.run(
        "import json; w = translator.explore(b); state = w.get_state()\n"
        "print(len(json.dumps(w._repr_mimebundle_()[0])) + sum(len(v) if isinstance(v, bytes) else"
        " sum(map(len, v)) if v and isinstance(v, list) and isinstance(v[0], bytes) else len(str(v))"
        " for v in state.values()))"
    )
    assert 1000 < int(cost) < FURTHER
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
