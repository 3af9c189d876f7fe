"""The package as others get it: built from a clean clone, installed outside of it, run without a network.

A virtual environment gets, besides the wheel, what the wheel says it needs and nothing more: the distributions of the
environment that runs the tests, as links.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator, Mapping
from email.parser import Parser
from importlib.metadata import Distribution, distribution
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement

from benchmarks.served import free_port
from tests.clone import clone

ROOT = Path(__file__).parents[1]
NAME = "attention-explorer"
LARGEST = 75 * 2**20
DEAD = "http://127.0.0.1:9"
OFFLINE = {"http_proxy": DEAD, "https_proxy": DEAD, "HTTP_PROXY": DEAD, "HTTPS_PROXY": DEAD, "no_proxy": "127.0.0.1"}
"""Whatever would be asked for over a network is asked of a port where nobody listens."""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel and an sdist from what is committed, and a wheel that was built from that sdist."""
    committed, out = clone(tmp_path_factory.mktemp("clone") / "clone"), tmp_path_factory.mktemp("dist")
    _build(committed, out / "wheel", "wheel")
    sdist = _build(committed, out / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(out, filter="data")
    return {
        "wheel": next((out / "wheel").iterdir()),
        "sdist": sdist,
        "from sdist": _build(out / sdist.name.removesuffix(".tar.gz"), out / "again", "wheel"),
    }


def _build(source: Path, out: Path, target: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return next(out.iterdir())


def test_the_wheel_holds_page_words_examples_and_both_checkpoints(built: dict[str, Path]) -> None:
    assert built["wheel"].stat().st_size <= LARGEST
    names = set(zipfile.ZipFile(built["wheel"]).namelist())
    for folder in ("assets", "checkpoints", "translator/ui/static"):
        there = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert there and there <= {name.removeprefix("translator/data/") for name in names}, folder
    assert "translator/py.typed" in names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "docs")) or name.endswith(".pyc")]
    licences = {name.split("licenses/")[1] for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "assets/vendor/plotly-LICENSE", "checkpoints/LICENSE.md"}


def test_the_sdist_gives_the_same_wheel(built: dict[str, Path]) -> None:
    entries = [zipfile.ZipFile(built[kind]).infolist() for kind in ("wheel", "from sdist")]
    first, second = ({each.filename: each.CRC for each in kind} for kind in entries)
    assert first == second


def needed(wheel: Path, extras: set[str]) -> Iterator[Distribution]:
    """The distributions that a wheel asks for with some extras, and those that they ask for."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        own = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
    waiting = [(Requirement(line), frozenset(extras)) for line in own]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement, wanted = waiting.pop()
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in (*wanted, "")):
            continue
        key = (requirement.name, frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        if requirement.name == NAME:
            waiting += [(Requirement(line), frozenset(requirement.extras)) for line in own]
            continue
        found = distribution(requirement.name)
        yield found
        waiting += [(Requirement(line), frozenset(requirement.extras)) for line in found.requires or []]


class Environment:
    """A virtual environment outside of the checkout."""

    def __init__(self, folder: Path, wheel: Path, extras: set[str]) -> None:
        self.folder, self.home = folder, folder / "home"
        venv.create(folder, with_pip=False)
        self.home.mkdir()
        packages = next((folder / "lib").glob("python*/site-packages"))
        for each in needed(wheel, extras):
            _link(each, packages)
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "-q"]
        subprocess.run([*pip, "install", "--no-index", "--no-deps", str(wheel)], check=True)

    def run(self, *command: str, code: int = 0, environ: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Run a command of the environment far from the checkout; returns what it printed and what it complained of."""
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]], cwd=self.home, env=self.environ(environ),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        ours = ("PYTHON", "TRANSLATOR_", "GRADIO_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return {**kept, **OFFLINE, "HOME": str(self.home), "OMP_NUM_THREADS": "1", **(more or {})}


def _link(found: Distribution, packages: Path) -> None:
    """Let `packages` hold a distribution of the environment that runs the tests."""
    tops = {file.parts[0] for file in found.files or [] if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        place, source = packages / top, Path(str(found.locate_file(top)))
        if source.exists() and not place.exists():
            place.symlink_to(source)
        elif source.is_dir() and place.is_symlink() and place.resolve() != source.resolve():
            raise AssertionError(f"{top} belongs to two distributions in two places")


@pytest.fixture(scope="module")
def bare(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """With what the package itself needs."""
    return Environment(tmp_path_factory.mktemp("bare"), built["wheel"], set())


@pytest.fixture(scope="module")
def paged(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """With what the page needs, and a path with a dot, as environments have; from the sdist's wheel."""
    return Environment(tmp_path_factory.mktemp("page") / ".venv", built["from sdist"], {"page"})


def test_a_bare_environment_translates(bare: Environment) -> None:
    out, complaints = bare.run("attention-explorer", "translate", "--model", "de-en", "Guten Morgen.")
    assert out == "Good morning.\n" and complaints == ""
    out, _ = bare.run("python", "-m", "translator", "translate", "--model", "en-zh", "Good morning.")
    assert re.search(r"[\u4e00-\u9fff]", out)


def test_a_bare_environment_has_neither_page_nor_training(bare: Environment) -> None:
    absent = ("gradio", "plotly", "tensorboard", "scipy", "numba", "sacrebleu")
    code = f"import importlib.util as u; print([name for name in {absent} if u.find_spec(name)])"
    assert bare.run("python", "-c", code)[0] == "[]\n"
    for command, extra in (
        (["serve", "--port", str(free_port())], "page"),
        (["figure", "--model", "de-en", "Guten Morgen.", "--out", "x.html"], "figures"),
        (["evaluate", "--model", "de-en", "x.tsv"], "train"),
        (["lab", "rollout", "--model", "de-en", "--flow", "Guten Morgen."], "figures"),
    ):
        _, complaints = bare.run("attention-explorer", *command, code=2)
        assert f"attention-explorer[{extra}]" in complaints and len(complaints.splitlines()) == 1, command


def test_a_bare_environment_exports_pages_that_need_no_server(bare: Environment) -> None:
    out, _ = bare.run("attention-explorer", "export", "--model", "de-en", "Guten Morgen.", "--out", "gallery")
    assert out.split() == ["gallery/index.html", "gallery/translation-01.html"]
    assert "Good morning." in (bare.home / "gallery" / "index.html").read_text(encoding="utf-8")


def test_the_lines_of_the_readme_run(bare: Environment) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("## From Python")[1].split("```python\n")[1].split("```")[0]
    assert "translator.load" in block and "stream" in block
    out, _ = bare.run("python", "-c", block)
    assert "morning" in out


def test_the_command_names_itself_and_its_version(bare: Environment) -> None:
    import translator

    assert bare.run("attention-explorer", "--version")[0].strip() == translator.__version__
    assert bare.run("attention-explorer", "--help")[0].startswith("usage: attention-explorer ")
    assert "attention-explorer translate" in bare.run("attention-explorer", "translate", "--help")[0]


def test_every_requirement_is_there(bare: Environment, paged: Environment) -> None:
    for environment in (bare, paged):
        pip = [sys.executable, "-m", "pip", "--python", str(environment.folder / "bin" / "python")]
        done = subprocess.run([*pip, "check"], capture_output=True, text=True, check=False)
        assert NAME not in done.stdout, done.stdout


def test_the_page_is_served_from_an_environment(paged: Environment) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [str(paged.folder / "bin" / "attention-explorer"), "serve", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=paged.home, env=paged.environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as served:
        try:
            assert served.stdout is not None
            assert served.stdout.readline() == f"The page is at {url}/\n"
            with httpx.Client(base_url=url, timeout=60) as client:
                page = client.get("/").text.replace('\\"', '"')
                addresses = dict(re.findall(r'"(plotly|address)":"(gradio_api/file=[^"]+)"', page))
                for path in (addresses["plotly"], f"{addresses['address']}en-zh-father.json"):
                    assert client.get(f"/{path}").status_code == 200, path
                body = {"text": "Guten Morgen.", "direction": "de-en"}
                event = client.post("/gradio_api/call/v2/translate", json=body).json()["event_id"]
                assert "Good morning." in client.get(f"/gradio_api/call/translate/{event}").text
        finally:
            served.terminate()
        assert served.wait(20) == 0


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the kernel has no namespaces")
def test_it_needs_no_network_at_all(paged: Environment) -> None:
    """In a namespace that has none, where such may be made."""
    lone = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*lone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespace can be made here; the test before asked a dead proxy")
    script = str(paged.folder / "bin" / "attention-explorer")
    done = subprocess.run(
        [*lone, script, "translate", "--model", "de-en", "Guten Morgen."], cwd=paged.home, env=paged.environ(),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout == "Good morning.\n", done.stderr
