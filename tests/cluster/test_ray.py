"""The five commands on Ray against the same commands without it, on one node and on three of which one is killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked
from tests.cluster.started import Nodes, family, listening
from translator.analysis.gold import FOLDER
from translator.cluster.run import Cluster, connected

ROOT = Path(__file__).parents[2]
LIMIT = 600
pytestmark = [pytest.mark.slow, pytest.mark.timeout(LIMIT)]
LINES = [*("Ich renne in den Park.", "Das Haus ist alt.", "", "Guten Morgen!", "Wo ist\tder Hund?"), "Park " * 150]


def command(*arguments: str | Path, env: dict[str, str] | None = None) -> list[str]:
    return [sys.executable, "-m", "translator", *map(str, arguments)]


def run(*arguments: str | Path, text: str = "", code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    where = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)} | env
    if text or "PYTHONPATH" in env:  # what is read, and where modules are, is a new process's own
        done = subprocess.run(command(*arguments), input=text, env=where, capture_output=True, text=True, timeout=LIMIT)
    else:
        done = forked.run(["-m", "translator", *map(str, arguments)], env=where, timeout=LIMIT)
    assert done.returncode == code, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def one_node() -> Iterator[Nodes]:
    nodes = Nodes(1)
    yield nodes
    nodes.close()


@pytest.fixture
def copy(tiny_checkpoint: Path, tmp_path: Path) -> Path:
    """A checkpoint that a command may write into."""
    return Path(shutil.copytree(tiny_checkpoint, tmp_path / "tiny"))


def test_a_local_start_listens_on_loopback_alone_and_leaves_nothing(
    tiny_checkpoint: Path, tmp_path: Path, one_node: Nodes
) -> None:
    """And prints the lines and the refusals of the plain command, whose lines are those of the parts."""
    data, out, home = tmp_path / "x.txt", tmp_path / "out", Path(tempfile.mkdtemp(dir="/tmp"))
    data.write_text("\n".join(LINES * 3), encoding="utf-8")
    plain = run("translate", "--model", tiny_checkpoint, "--max-length", "9", text=data.read_text("utf-8"), code=2)
    asked = ("translate", "--model", tiny_checkpoint, "--max-length", "9", "--data", data, "--shard", "4", "--ray")
    where = os.environ | {"HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(ROOT)}
    working = subprocess.Popen(
        command(*asked), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=where, encoding="utf-8"
    )
    seen: set[str] = set()
    while working.poll() is None:
        seen |= listening(working.pid)
        time.sleep(0.3)
    stdout, stderr = working.communicate()
    assert working.returncode == 2 and stdout == plain.stdout, stderr[-3000:]
    assert plain.stderr.splitlines() == [line for line in stderr.splitlines() if line.startswith("line ")]
    assert seen and seen <= {"127.0.0.1", "[::ffff:127.0.0.1]"}
    home.rmdir()  # there is nothing in it
    run(*asked, one_node.address, "--parts", out, code=2, **one_node.env)
    assert "".join((out / f"part-{n:06d}.txt").read_text("utf-8") for n in range(5)) == plain.stdout


def test_what_is_whole_is_not_done_again_and_other_work_is_refused(
    tiny_checkpoint: Path, tmp_path: Path, one_node: Nodes
) -> None:
    data, out = tmp_path / "x.txt", tmp_path / "out"
    data.write_text("\n".join(LINES[:2] * 6) + "\n", encoding="utf-8")
    asked = ["translate", "--model", tiny_checkpoint, "--ray", one_node.address, "--shard", "4", "--parts", out]
    asked += ["--max-length", "9", "--data", data]
    run(*asked, **one_node.env)
    first = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.glob("part-*")}
    assert len(first) == 6
    (out / "part-000001.txt").write_text("cut")
    again = run(*asked, **one_node.env)
    second = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.glob("part-*")}
    assert {name: content for name, (_, content) in second.items() if name.endswith("txt")} == {
        name: content for name, (_, content) in first.items() if name.endswith("txt")
    }
    assert {name for name in first if first[name] != second[name]} == {"part-000001.txt", "part-000001.json"}
    assert "translate: 12 of 12" in again.stderr
    data.write_text("anders\n")
    assert "holds parts of other work: the input" in run(*asked, code=2, **one_node.env).stderr


def test_measurements_are_those_without_ray(copy: Path, tmp_path: Path, one_node: Nodes) -> None:
    """Printed and stored alike, of evaluate, profile, align-bench and arena."""
    tests, texts = tmp_path / "news.tsv", tmp_path / "texts.txt"
    rows = [
        ("Ich renne in den Park.", "I run."),
        ("Ich renne in den Park.", "I am running."),
        ("Das Haus.", "A house."),
    ]
    tests.write_text("".join(f"{src}\t{tgt}\tx\n" for src, tgt in rows * 3), encoding="utf-8")
    texts.write_text("Ich renne in den Park.\nDas Haus ist alt.\nDer Hund schläft.\n", encoding="utf-8")
    small = tmp_path / "small.json"
    pairs = json.loads((FOLDER / "de-en.json").read_bytes())
    small.write_text(json.dumps(pairs | {"pairs": pairs["pairs"][:5]}))
    ray = ("--ray", one_node.address, "--shard", "2")
    commands: list[tuple[str | Path, ...]] = [
        ("evaluate", tests, "--model", copy, "--max-length", "9", "--json", tmp_path / "scores.json"),
        ("profile", copy, "--data", texts),
        ("align-bench", copy, "--gold", small),
        ("arena", copy, "--data", texts, "--limit", "3"),
    ]
    stored = {"evaluate": tmp_path / "scores.json", "profile": copy / "profile.json", "arena": copy / "arena.json"}
    for asked in commands:
        results = []
        for extra, env in (((), {}), (ray, one_node.env)):
            done = run(*asked, *extra, "--device", "cpu", **env)
            kept = stored.get(str(asked[0]))
            results.append((without_speed(done.stdout), without_speed(kept.read_text()) if kept else ""))
        assert results[0] == results[1]


def without_speed(text: str) -> str:
    """Without what differs from run to run, and with nine digits of each number: sums are added in another order."""
    text = re.sub(r'"(seconds|\w+_per_second)": [\d.]+,?', "", text)
    text = re.sub(r"^(news .*?)(\s+[\d.]+){2}$", r"\1", text, flags=re.MULTILINE)
    return re.sub(r"-?\d+\.\d{6,}(e-?\d+)?", lambda match: f"{float(match[0]):.9g}", text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("translate", "Hallo", "--ray"), "give --data, and no TEXT"),
        (("translate", "--parts", "x"), "--parts goes with --ray"),
        (("translate", "--data", "x"), "--data goes with --ray"),
        (("translate", "--ray", "nowhere", "--data", "x"), "--ray is 'nowhere'; give HOST:PORT"),
        (("translate", "--ray", "--workers", "0", "--data", "x"), "workers is 0"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(arguments: tuple[str, ...], said: str, tiny_checkpoint: Path) -> None:
    assert said in run(*arguments, "--model", tiny_checkpoint, code=2).stderr


def test_without_the_extra_it_is_told_what_to_install(tiny_checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError(\"No module named 'ray'\", name='ray')")
    (tmp_path / "x.txt").write_text("Hallo\n")
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    asked = ("translate", "--model", tiny_checkpoint, "--ray", "--data", tmp_path / "x.txt")
    assert "pip install 'attention-explorer[ray]'" in run(*asked, code=2, PYTHONPATH=path).stderr


def test_what_ray_says_as_it_ends_is_no_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It keeps messages that came often, and prints their number when it is left."""
    import ray

    monkeypatch.setattr(ray, "init", lambda **options: None)
    monkeypatch.setattr(ray, "shutdown", lambda: print("repeated 10 times"))
    with connected(Cluster("127.0.0.1:6379")):
        print("of Ray's")
    assert capsys.readouterr() == ("", "of Ray's\nrepeated 10 times\n")


@pytest.mark.soak
def test_an_actor_and_a_node_killed_half_way_lose_nothing_and_repeat_nothing(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    data, out = tmp_path / "x.txt", tmp_path / "out"
    data.write_text("".join(f"Ich renne in den {n}. Park.\n" for n in range(4000)), encoding="utf-8")
    asked = ["translate", "--model", tiny_checkpoint, "--max-length", "60"]
    plain = run(*asked, "--threads", "1", text=data.read_text("utf-8")).stdout.split("\n")[:-1]
    nodes = Nodes(3)
    try:
        more = ["--ray", nodes.address, "--data", data, "--parts", out, "--shard", "40"]
        where = os.environ | nodes.env | {"PYTHONPATH": str(ROOT)}
        working = subprocess.Popen(
            command(*asked, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=where
        )
        for parts in (20, 40):
            while len(list(out.glob("part-*.json"))) < parts:
                assert working.poll() is None, working.communicate()[1][-3000:]
                time.sleep(0.05)
            if parts == 20:
                actors = [pid for pid, name in family(nodes.process.pid).items() if "MapWorker" in name]
                assert len(actors) == 3
                os.kill(actors[0], signal.SIGKILL)
        nodes.kill_one()
        done = len(list(out.glob("part-*.json")))
        stdout, stderr = working.communicate()
    finally:
        nodes.close()
    assert working.returncode == 0 and not stdout, stderr[-3000:]
    assert 40 <= done < 100, "the node was killed too late to show anything"
    found = [path.read_bytes().decode().split("\n")[:-1] for path in sorted(out.glob("part-*.txt"))]
    assert [len(part) for part in found] == [40] * 100
    assert [line for part in found for line in part] == plain
    workers = {json.loads(path.read_bytes())["values"]["worker"] for path in out.glob("part-*.json")}
    assert len(workers) >= 3
