"""The short list of hub models: who sees it, what is fetched and how, and what a failure leaves: nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import safetensors.torch
import torch

import translator
from tests import forked
from tests.waiting import until
from translator.errors import BusyError, CheckpointError, InputError
from translator.ui import reach
from translator.ui.hub import Hub
from translator.ui.hub_answers import hub_functions
from translator.ui.models import Models
from translator.ui.shortlist import Listed, allowed, shortlist

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LISTED = Listed("Helsinki-NLP/opus-mt-de-en", 2_000_000, "apache-2.0", ("de", "en"))
OTHER = Listed("Helsinki-NLP/opus-mt-en-de", 2_000_000, "apache-2.0", ("en", "de"))
NAME = LISTED.name


@pytest.fixture
def served(
    hub_stand_in: ModuleType, tiny_marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with hub_stand_in.served(Path(shutil.copytree(tiny_marian, tmp_path / "served")), LISTED.id) as server:
        yield server


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch begins with PyTorch imported; `test_a_model_that_is_chosen_...` starts one as a server does."""
    monkeypatch.setattr("translator.ui.hub.subprocess", SimpleNamespace(Popen=forked.Popen, DEVNULL=subprocess.DEVNULL))


@pytest.fixture
def hub(served: Any, tmp_path: Path) -> Iterator[Hub]:
    made = Hub([LISTED, OTHER], folder=tmp_path / "fetched", endpoint=served.endpoint)
    yield made
    made.close()


def told(hub: Hub, name: str = NAME) -> dict[str, Any]:
    return next(each for each in hub.told()["models"] if each["name"] == name)


def ended(hub: Hub) -> dict[str, Any]:
    until(lambda: told(hub)["state"] != "fetching")
    return told(hub)


def left(hub: Hub) -> list[str]:
    return sorted(path.name for path in hub.folder.iterdir()) if hub.folder.is_dir() else []


# ---- who sees the list


def test_the_list_has_name_size_and_licence_of_each() -> None:
    ids = [each.id for each in shortlist()]
    pairs = ("en-zh", "zh-en", "de-en", "en-de", "de-fr", "en-es", "en-fr")
    assert {*ids} == {*(f"Helsinki-NLP/opus-mt-{pair}" for pair in pairs), "facebook/m2m100_418M"}
    assert len(ids) == len({each.name for each in shortlist()}) == 8
    for each in shortlist():
        assert each.languages == tuple(each.name.removeprefix("opus-mt-").split("-")) or each.name == "m2m100_418M"
    assert all(each.size > 10**8 and each.licence in ("apache-2.0", "cc-by-4.0", "mit") for each in shortlist())


@pytest.mark.parametrize(
    ("host", "environ", "seen"),
    [
        ("127.0.0.1", {}, True),
        ("localhost", {}, True),
        ("0.0.0.0", {}, False),  # noqa: S104
        ("127.0.0.1", {"SPACE_ID": "ann/space"}, False),
        ("127.0.0.1", {"FORWARDED_ALLOW_IPS": "127.0.0.1"}, False),
        ("127.0.0.1", {"TRANSLATOR_HOSTS": "explorer.example"}, False),
        ("127.0.0.1", {"TRANSLATOR_HUB": "none"}, False),
        ("0.0.0.0", {"TRANSLATOR_HUB": "all"}, True),  # noqa: S104
    ],
)
def test_all_of_it_is_seen_on_loopback_and_none_in_public(host: str, environ: dict[str, str], seen: bool) -> None:
    assert allowed(host, environ=environ) == (shortlist() if seen else ())


def test_in_public_a_visitor_may_choose_what_is_named() -> None:
    environ = {"TRANSLATOR_HUB": " facebook/m2m100_418M Helsinki-NLP/opus-mt-en-fr "}
    assert [each.name for each in allowed("0.0.0.0", environ=environ)] == ["m2m100_418M", "opus-mt-en-fr"]  # noqa: S104


def test_what_is_not_on_the_list_cannot_be_named_and_several_workers_fetch_nothing() -> None:
    with pytest.raises(InputError, match="TRANSLATOR_HUB names 'ann/own'; it may name Helsinki-NLP/opus-mt-en-zh, "):
        allowed("127.0.0.1", environ={"TRANSLATOR_HUB": "ann/own"})
    with pytest.raises(InputError, match="serve with one"):
        allowed("127.0.0.1", workers=2, environ={"TRANSLATOR_HUB": "all"})
    assert allowed("127.0.0.1", workers=2, environ={}) == ()


# ---- fetching


@pytest.mark.slow
def test_a_model_that_is_chosen_is_fetched_and_translates_and_its_commit_is_recorded(
    hub: Hub, tiny_marian: Path
) -> None:
    models = Models({"own": tiny_marian}, device="cpu", hub=hub)
    assert list(models.names) == ["own", NAME, OTHER.name]
    with pytest.raises(CheckpointError, match="not fetched yet; choose it under More models"):
        models.get(NAME)
    hub.begin(NAME, "page")
    assert ended(hub) == {**told(hub), "state": "here", "error": ""}
    expected = translator.load(tiny_marian, device="cpu").translate("Das Haus.", max_length=4).translation
    trace = models.get(NAME).translate("Das Haus.", max_length=4)
    assert (trace.translation, trace.checkpoint.name) == (expected, f"{NAME}@{COMMIT[:12]}")
    assert json.loads((hub.folder / "commits.json").read_text()) == {LISTED.id: COMMIT}
    assert left(hub) == ["Helsinki-NLP--opus-mt-de-en", "commits.json"]
    assert not list(hub.folder.rglob("evil.py"))


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_pickle_is_converted_on_the_way(hub: Hub, served: Any) -> None:
    weights = served.folder / "model.safetensors"
    torch.save(safetensors.torch.load_file(weights), served.folder / "pytorch_model.bin")
    weights.unlink()
    hub.begin(NAME, "page")
    assert ended(hub)["state"] == "here"
    assert not list(hub.folder.rglob("*.bin")) and list(hub.folder.rglob("model.safetensors"))


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_the_recorded_commit_is_held_to(hub: Hub, served: Any) -> None:
    hub.begin(NAME, "page")
    assert ended(hub)["state"] == "here"
    shutil.rmtree(hub.place(LISTED))
    served.commit = "f" * 40
    hub.begin(NAME, "page")
    found = ended(hub)
    assert found["state"] == "" and f"the hub gave another commit of {LISTED.id} than {COMMIT}" in found["error"]
    assert left(hub) == ["commits.json"]


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_two_pages_share_a_fetch_and_one_of_them_does_not_stop_it(hub: Hub, served: Any) -> None:
    served.flows.clear()
    hub.begin(NAME, "one")
    hub.begin(NAME, "two")
    until(lambda: told(hub)["done"] > 0)
    hub.stop(NAME, "one")
    with pytest.raises(BusyError, match="opus-mt-de-en is being fetched"):
        hub.begin(OTHER.name, "three")
    served.flows.set()
    assert ended(hub)["state"] == "here"
    assert served.asked["model.safetensors"] == 1


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_stopped_fetch_leaves_nothing_and_can_be_begun_again(hub: Hub, served: Any) -> None:
    served.flows.clear()
    hub.begin(NAME, "page")
    until(lambda: told(hub)["done"] > 0)
    hub.stop(NAME, "page")
    assert ended(hub) == {**told(hub), "state": "", "error": "", "done": 0}
    assert left(hub) == []
    served.flows.set()
    hub.begin(NAME, "page")
    assert ended(hub)["state"] == "here"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_server_that_ends_stops_its_fetch(hub: Hub, served: Any) -> None:
    served.flows.clear()
    hub.begin(NAME, "page")
    until(lambda: told(hub)["done"] > 0)
    hub.close()
    assert left(hub) == []


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_what_a_killed_server_left_is_removed_by_the_next_fetch(hub: Hub) -> None:
    stale = hub.folder / ".fetching-opus-mt-de-en-999999999"
    (stale / "hub").mkdir(parents=True)
    hub.begin(NAME, "page")
    assert ended(hub)["state"] == "here" and not stale.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_failed_fetch_says_why_and_leaves_nothing(hub: Hub, served: Any) -> None:
    (served.folder / "config.json").write_text("{}")
    hub.begin(NAME, "page")
    found = ended(hub)
    assert found["state"] == "" and "model_type" in found["error"]
    assert left(hub) == []


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_more_than_the_list_says_is_not_kept(served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translator.ui.hub.SPARE", 0)
    small = Listed(LISTED.id, 10, "mit")
    hub = Hub([small], folder=tmp_path / "fetched", endpoint=served.endpoint)
    served.flows.clear()
    hub.begin(NAME, "page")
    assert "more data came than the list says" in ended(hub)["error"] and left(hub) == []


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_without_a_network_the_list_says_so_and_nothing_else_changes(tmp_path: Path, tiny_checkpoint: Path) -> None:
    hub = Hub([LISTED], folder=tmp_path / "fetched", endpoint="http://127.0.0.1:9")
    models = Models({"tiny": tiny_checkpoint}, device="cpu", hub=hub)
    until(lambda: hub.told()["reached"] is not None)
    assert hub.told()["reached"] is False
    assert models.get("tiny").translate("wir", max_length=2)
    hub.begin(NAME, "page")
    assert "cannot be" in ended(hub)["error"] and left(hub) == []


@pytest.mark.slow
def test_the_hub_is_not_asked_before_the_list_is_looked_at(
    hub: Hub, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        assert hub.told(looks=False)["reached"] is None
        time.sleep(0.1)
    assert not served.asked
    go, answers = threading.Event(), reach._answers
    monkeypatch.setattr(reach, "_answers", lambda *asked: go.wait(10) and answers(*asked))
    assert hub.told()["reached"] is None  # it does not wait for the answer
    go.set()
    until(lambda: hub.told()["reached"] is True)


# ---- what a stranger may ask


def test_only_models_of_the_list_are_fetched(hub: Hub, served: Any) -> None:
    _, fetch, stop = hub_functions(hub)
    for name in ("ann/own", LISTED.id, "../x", "", None, 3, ["opus-mt-de-en"], {"a": 1}):
        for function in (fetch, stop):
            assert "is not on the list of models" in function({"name": name, "page": "p"})["error"]
    for page in ("", "p" * 65, 3, None):
        assert "page must be" in fetch({"name": NAME, "page": page})["error"]
    assert told(hub)["state"] == "" and not served.asked
    assert hub_functions(Hub()) == []
