"""Publishing, against a hub of our own on loopback that takes commits and large files."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from translator.checkpoints.publish import push, space, static_space, with_metadata
from translator.errors import CheckpointError, InputError, TranslatorError

COMMIT = "c" * 40


class Hub(http.server.ThreadingHTTPServer):
    """Repositories as {path: content}; files that end in .safetensors come as large files."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.made: list[dict[str, Any]] = []
        self.large: dict[str, bytes] = {}
        self.refuse = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.split("?")[0]
        if self.server.refuse:
            self._send({"error": "no"}, status=403)
        elif path == "/api/repos/create":
            self._create(json.loads(body))
        elif path == "/api/validate-yaml":
            self._send({"errors": [], "warnings": []})
        elif "/preupload/" in path:
            files = [entry["path"] for entry in json.loads(body)["files"]]
            mode = {True: "lfs", False: "regular"}
            self._send(
                {
                    "files": [
                        {"path": f, "uploadMode": mode[f.endswith(".safetensors")], "shouldIgnore": False}
                        for f in files
                    ]
                }
            )
        elif path.endswith("/info/lfs/objects/batch"):
            objects = json.loads(body)["objects"]
            actions = [{**o, "actions": {"upload": {"href": f"{self.server.url}/lfs/{o['oid']}"}}} for o in objects]
            self._send({"transfer": "basic", "objects": actions})
        elif match := re.fullmatch(r"/api/(model|space)s/([^/]+/[^/]+)/commit/main", path):
            self._commit(self.server.repositories[f"{match[1]}:{match[2]}"], body)
        else:
            self._send({"error": path}, status=404)

    def do_PUT(self) -> None:
        content = self._body()
        assert hashlib.sha256(content).hexdigest() == self.path.rsplit("/", 1)[1]
        self.server.large[self.path.rsplit("/", 1)[1]] = content
        self._send({})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if match := re.fullmatch(r"/api/(model|space)s/([^/]+/[^/]+)/revision/.*", path):
            files = self.server.repositories[f"{match[1]}:{match[2]}"]
            self._send({"id": match[2], "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]})
        elif match := re.fullmatch(r"/api/(model|space)s/([^/]+/[^/]+)/tree/.*", path):
            files = self.server.repositories[f"{match[1]}:{match[2]}"]
            self._send(
                [
                    {"type": "file", "path": n, "size": len(c), "oid": hashlib.sha256(c).hexdigest()}
                    for n, c in files.items()
                ]
            )
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.*)", path):
            self._raw(self.server.repositories[f"model:{match[1]}"][match[2]])
        else:
            self._send({"error": path}, status=404)

    def _create(self, asked: dict[str, Any]) -> None:
        kind, name = asked.get("type") or "model", f"{asked.get('organization', 'ann')}/{asked['name']}"
        self.server.made.append(asked)
        self.server.repositories.setdefault(f"{kind}:{name}", {})
        prefix = "spaces/" if kind == "space" else ""
        self._send({"url": f"{self.server.url}/{prefix}{name}", "name": name, "id": "1"})

    def _commit(self, files: dict[str, bytes], body: bytes) -> None:
        for line in body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                files[value["path"]] = self.server.large[value["oid"]]
            elif entry["key"] == "deletedFile":
                del files[value["path"]]
        url = f"{self.server.url}/ann/x/commit/{COMMIT}"
        self._send({"commitUrl": url, "commitOid": COMMIT, "pullRequestUrl": None})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _send(self, value: Any, status: int = 200) -> None:
        self._raw(json.dumps(value).encode(), status, "application/json")

    def _raw(self, content: bytes, status: int = 200, kind: str = "application/octet-stream") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    from huggingface_hub import constants

    server = Hub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", "hf_of_a_test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_push_publishes_the_checkpoint_with_metadata(hub: Hub, tiny_checkpoint: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps({"tests": [{"name": "flores", "bleu": 21.5, "chrf": 50.25}]}), encoding="utf-8")
    url = push(tiny_checkpoint, "ann/tiny", scores=scores, datasets=["ann/pairs"], licence="mit", private=True)
    assert url.endswith(COMMIT) and "private" in json.dumps(hub.made[0])  # the field differs by version
    files = hub.repositories["model:ann/tiny"]
    names = {"model.safetensors", "config.json", "src.json", "tgt.json", "README.md", "manifest.json"}
    assert set(files) == names and len(hub.large) == 1
    assert files["model.safetensors"] == (tiny_checkpoint / "model.safetensors").read_bytes()
    digest = json.loads(files["manifest.json"])["files"]["README.md"]["sha256"]
    assert hashlib.sha256(files["README.md"]).hexdigest() == digest
    from huggingface_hub import ModelCard

    card = ModelCard(files["README.md"].decode())
    assert card.data.license == "mit" and card.data.language == ["de", "en"]
    assert card.data.datasets == ["ann/pairs"] and card.data.metrics == ["bleu", "chrf"]
    assert [(one.metric_type, one.metric_value) for one in card.data.eval_results or []] == [
        ("bleu", 21.5),
        ("chrf", 50.25),
    ]
    assert "# Tiny" in card.text


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_pushed_by_the_command_it_loads_by_its_hub_id(hub: Hub, tiny_checkpoint: Path, tmp_path: Path) -> None:
    env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "translator", "push", str(tiny_checkpoint), "ann/tiny"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    command = [
        sys.executable,
        "-m",
        "translator",
        "translate",
        "Ich renne.",
        "--model",
        "ann/tiny",
        "--revision",
        COMMIT,
    ]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_second_push_removes_what_is_gone(hub: Hub, tiny_checkpoint: Path) -> None:
    hub.repositories["model:ann/tiny"] = {"log.jsonl": b"{}", ".gitattributes": b"x", "notes.txt": b"kept"}
    push(tiny_checkpoint, "ann/tiny")
    files = hub.repositories["model:ann/tiny"]
    assert "log.jsonl" not in files and {".gitattributes", "notes.txt", "model.safetensors"} <= set(files)


def test_a_damaged_checkpoint_is_not_published(hub: Hub, tiny_checkpoint: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_checkpoint, tmp_path / "damaged"))
    (folder / "src.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"src.json"):
        push(folder, "ann/tiny")
    assert not hub.made


@pytest.mark.slow
def test_the_hubs_refusal_names_the_remedy(hub: Hub, tiny_checkpoint: Path) -> None:
    hub.refuse = True
    with pytest.raises(TranslatorError, match="hf auth login"):
        push(tiny_checkpoint, "ann/tiny")
    with pytest.raises(InputError, match="OWNER/NAME"):
        push(tiny_checkpoint, "ann/tiny/more")


def test_the_card_keeps_what_it_says() -> None:
    card = with_metadata("---\nlicense: mit\nlanguage:\n- fr\n---\n\n# Mine\n", ["de", "en"], "mine")
    assert "license: mit" in card and "- fr" in card and "- de" not in card and card.endswith("# Mine\n")


def test_no_licence_is_made_up(caplog: pytest.LogCaptureFixture) -> None:
    """A checkpoint that was converted is under the licence of its original, which nobody but its owner knows."""
    card = with_metadata("# Mine\n", ["de", "en"], "mine")
    assert "license" not in card and "names no licence" in caplog.text
    caplog.clear()
    assert "license: mit" in with_metadata("# Mine\n", ["de", "en"], "mine", licence="mit")
    assert "names no licence" not in caplog.text
    with pytest.raises(InputError, match=r"licence is mit, not cc0-1\.0"):
        with_metadata("---\nlicense: mit\n---\n", ["de", "en"], "mine", licence="cc0-1.0")
    with pytest.raises(InputError, match="it must be a name of the Hugging Face hub's"):
        with_metadata("# Mine\n", ["de", "en"], "mine", licence="as you: like")


def test_scores_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text('{"tests": [{"name": "x"}]}')
    with pytest.raises(InputError, match=r"scores.json is not what"):
        with_metadata("", ["de", "en"], "mine", tmp_path / "scores.json")


def checkout(root: Path) -> Path:
    for name in (
        "app.py",
        "requirements.txt",
        "translator/__init__.py",
        "translator/__pycache__/x.pyc",
        "assets/page.css",
        "checkpoints/tiny/model.safetensors",
        "runs/one/state.pt",
        ".venv/lib/site.py",
        ".env",
        "tests/test_x.py",
        "checkpoints/.tiny.old/config.json",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (root / "README.md").write_text("---\ntitle: Page\nsdk: gradio\n---\n# Page\n")
    return root


def test_the_space_holds_what_the_app_needs_and_nothing_else(hub: Hub, tmp_path: Path) -> None:
    root = checkout(tmp_path / "checkout")
    space("ann/page", root=root)
    files = hub.repositories["space:ann/page"]
    needed = {"app.py", "requirements.txt", "README.md", "translator/__init__.py", "assets/page.css"}
    assert set(files) == {*needed, "checkpoints/tiny/model.safetensors"}
    assert hub.made[0]["sdk"] == "gradio"
    (root / "assets/page.css").unlink()
    space("ann/page", root=root)
    assert "assets/page.css" not in files


def test_a_space_needs_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"app.py is missing"):
        space("ann/page", root=tmp_path)
    (checkout(tmp_path) / "README.md").write_text("# Page")
    with pytest.raises(InputError, match="front matter"):
        space("ann/page", root=tmp_path)


def test_a_static_space_is_the_exported_folder(hub: Hub, tmp_path: Path) -> None:
    files = {
        "index.html": "<p>",
        "manifest.json": "{}",
        "README.md": "---\ntitle: Page\nsdk: static\n---\n",
        "a/b.js": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    static_space(tmp_path, "ann/live")
    assert set(hub.repositories["space:ann/live"]) == set(files)
    assert hub.made[0]["sdk"] == "static"
    (tmp_path / "a/b.js").unlink()
    static_space(tmp_path, "ann/live")
    assert "a/b.js" not in hub.repositories["space:ann/live"]


def test_a_static_space_needs_an_exported_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="export --live"):
        static_space(tmp_path, "ann/live")
    for name in ("index.html", "manifest.json", "README.md"):
        (tmp_path / name).write_text("")
    with pytest.raises(InputError, match="sdk: static"):
        static_space(tmp_path, "ann/live")
