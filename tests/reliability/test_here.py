"""What a served page hands to browsers that compute themselves: these files by their hash, and nothing else."""

from __future__ import annotations

import hashlib
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.slow


def offered(live: Any) -> dict[str, Any]:
    answer = live.visitor().function("local", {"direction": "de-en"})
    assert answer.status_code == 200
    return answer.json()


def test_every_file_has_the_bytes_of_its_hash(live: Any) -> None:
    found = offered(live)
    files = [
        found["manifest"]["engine"],
        found["manifest"]["relaxed"],
        *found["manifest"]["checkpoints"]["de-en"].values(),
    ]
    assert {"config", "src", "tgt", "weights"} <= found["manifest"]["checkpoints"]["de-en"].keys()
    for entry in files:
        answer = httpx.get(live.url + entry["path"])
        assert (answer.status_code, len(answer.content)) == (200, entry["size"])
        assert hashlib.sha256(answer.content).hexdigest() == entry["sha256"] in entry["path"]
        assert "immutable" in answer.headers["cache-control"]
    worker = httpx.get(live.url + found["worker"])
    assert "javascript" in worker.headers["content-type"] and worker.headers["content-encoding"] == "gzip"
    assert "@@payload@@" in httpx.get(live.url + found["shell"]).text


def test_a_lost_download_can_go_on(live: Any) -> None:
    weights = offered(live)["manifest"]["checkpoints"]["de-en"]["weights"]
    whole = httpx.get(live.url + weights["path"]).content
    part = httpx.get(live.url + weights["path"], headers={"range": "bytes=1000-", "accept-encoding": "identity"})
    assert part.status_code == 206 and part.content == whole[1000:]


@pytest.mark.parametrize(
    "path", ["live/", "live/manifest.json", f"live/{'0' * 64}/model.safetensors", "live/../app.py"]
)
def test_nothing_else_is_sent(live: Any, path: str) -> None:
    offered(live)
    assert httpx.get(live.url + path).status_code == 404


def test_a_hash_names_its_file_and_no_path(live: Any) -> None:
    weights = offered(live)["manifest"]["checkpoints"]["de-en"]["weights"]
    for wrong in ("../../app.py", "..%2f..%2fapp.py", "a/b"):
        assert httpx.get(f"{live.url}live/{weights['sha256']}/{wrong}").status_code == 404


def test_an_unknown_direction_is_refused_in_words(live: Any) -> None:
    answer = live.visitor().function("local", {"direction": "xx-yy"}).json()
    assert "there is no direction 'xx-yy'" in answer["error"]
