"""A real Jupyter server, a kernel of it, and JupyterLab with one notebook, for the tests of widgets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from threading import Thread
from typing import IO, Any

import nbformat
from jupyter_client import BlockingKernelClient
from playwright.sync_api import Browser, Locator, Page, TimeoutError

from benchmarks.served import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60_000
"""Milliseconds that a page may take for anything."""
WAIT = 30
"""Seconds that what a person does may take to reach the kernel."""
FURTHER = 120 * 1024
"""Bytes that one more trace may cost a notebook."""
ASKED = "dialog.jp-Dialog"
"""What JupyterLab asks of its own accord."""
IMPORTS = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nimport translator\n"
"""What a kernel runs first."""


@dataclass
class Kernel:
    """A kernel that a page talks to, too."""

    client: BlockingKernelClient

    def run(self, code: str) -> str:
        """Run code in the notebook's kernel; what it printed."""
        printed: list[str] = []

        def heard(message: dict[str, Any]) -> None:
            assert message["msg_type"] != "error", message["content"]
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        self.client.execute_interactive(code, output_hook=heard, timeout=60, store_history=False)
        return "".join(printed).strip()

    def until(self, code: str, right: Callable[[str], bool]) -> str:
        """What code prints, once it is right: it is run again when the kernel has done something, or a second later.

        A message of the kernel may have been read by `run` already.
        """
        end = time.monotonic() + WAIT
        while not right(found := self.run(code)):
            assert time.monotonic() < end, f"{code} still prints {found!r}"
            with suppress(Empty):
                self.client.get_iopub_msg(timeout=1)
        return found


@dataclass
class Lab:
    """A JupyterLab with one notebook, run from its first cell to its last."""

    page: Page
    folder: Path
    kernel: Kernel
    sent: list[int]
    """Bytes of every message that came over a socket."""

    def output(self, number: int) -> Locator:
        """What a cell shows, from 0."""
        return self.page.locator(".jp-CodeCell").nth(number).locator(".jp-Cell-outputArea")

    def run(self, code: str) -> str:
        return self.kernel.run(code)

    def until(self, code: str, right: Callable[[str], bool]) -> str:
        return self.kernel.until(code, right)


def environment(folder: Path) -> dict[str, str]:
    """Settings, runtime files and extensions of nobody else."""
    own = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR")}
    return {**os.environ, **own, "OMP_NUM_THREADS": "1"}


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
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


@contextmanager
def served(folder: Path, *more: str) -> Iterator[str]:
    """The address of a JupyterLab that serves a folder, with more options."""
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [
        "--IdentityProvider.token=",
        "--LabApp.extension_manager=readonly",
        f"--ServerApp.root_dir={folder}",
        *more,
    ]
    log = (folder / "log.txt").open("w")
    server = subprocess.Popen(
        command, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert server.stdout is not None
    rest = Thread(target=shutil.copyfileobj, args=(server.stdout, log), daemon=True)
    try:
        wait_for_server(server.stdout, log)
        rest.start()  # a full pipe would stop the server
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()  # it hangs now and then, and starts no kernel either
            server.wait()
        if rest.ident is not None:
            rest.join(10)
        log.close()


@contextmanager
def kernel_of(folder: Path) -> Iterator[Kernel]:
    """The one kernel that a server of this folder runs."""
    connection = next((folder / "JUPYTER_RUNTIME_DIR").glob("kernel-*.json"))
    client = BlockingKernelClient(connection_file=str(connection))
    client.load_connection_file()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield Kernel(client)
    client.stop_channels()


class StillAsks(Exception):
    """JupyterLab asks for a kernel again and again: its server starts none."""


@contextmanager
def opened(browser: Browser, folder: Path, cells: Sequence[str]) -> Iterator[Lab]:
    """JupyterLab with a notebook of these cells, all of them run; started once more where it found no kernel."""
    write_notebook(folder / "note.ipynb", cells)
    show_every_cell(folder)
    with ExitStack() as stack:
        try:
            lab = stack.enter_context(_opened(browser, folder, len(cells)))
        except StillAsks:
            shutil.rmtree(folder / "JUPYTER_RUNTIME_DIR", ignore_errors=True)
            lab = stack.enter_context(_opened(browser, folder, len(cells)))
        yield lab


@contextmanager
def _opened(browser: Browser, folder: Path, count: int) -> Iterator[Lab]:
    with served(folder) as address:
        context = browser.new_context(viewport={"width": 1440, "height": 1000}, locale="en-US")
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        sent: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sent.append(len(data))))
        asked = page.locator(ASKED)
        page.add_locator_handler(asked, agree)
        try:
            page.goto(f"{address}lab/tree/note.ipynb?reset")
            page.locator(".jp-CodeCell").nth(count - 1).wait_for()
            page.get_by_text("Kernel status: Idle").first.wait_for(state="attached")
            run_all(page, count)
        except TimeoutError as error:
            asks = asked.is_visible()
            context.close()
            if asks:
                raise StillAsks from error
            raise
        with kernel_of(folder) as kernel:
            yield Lab(page, folder, kernel, sent)
        context.close()


def agree(dialog: Locator) -> None:
    """JupyterLab asks something of its own where it is slow (a kernel, a connection): say yes, and what it was."""
    print("JupyterLab asked:", dialog.inner_text())
    dialog.locator(".jp-mod-accept").click()


def run_all(page: Page, count: int) -> None:
    """Run every cell; JupyterLab loses the wish now and then, which is then said once more."""
    cells = page.locator(".jp-CodeCell")
    for again in (True, False):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        try:
            cells.first.locator(".xtick").first.wait_for(timeout=PATIENCE / 2)
        except TimeoutError:
            if again:
                continue
            raise
        break
    for number in range(count):
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
