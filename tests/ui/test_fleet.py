"""The page on Ray Serve, without Ray: what is refused, where an address goes, and the page without a server of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ray.serve.schema import ServeDeploySchema
from starlette.testclient import TestClient

from translator import Translator
from translator.__main__ import main
from translator.errors import CheckpointError, InputError, TranslatorError
from translator.ui.assembly import mounted
from translator.ui.fleet.affinity import ByAddress, host_of
from translator.ui.fleet.plan import MOST, Plan
from translator.ui.fleet.replica import QUEUE, Replica, UnhealthyError, application
from translator.ui.forwarded import Trust
from translator.ui.gate import DEADLINE
from translator.ui.models import Models

ROOT = Path(__file__).parents[2]
MANIFEST = yaml.safe_load((ROOT / "deploy" / "serve.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"model": "de-en"}, "there is no argument 'model'; there are checkpoints, transformers, memory, host, repl"),
        ({"checkpoints": "de-en"}, "checkpoints is 'de-en'; it must be a list of names"),
        ({"checkpoints": [1]}, r"checkpoints is \[1\]; it must be a list of names"),
        ({"transformers": {}}, "transformers is {}; it must be a list of names"),
        ({"memory": "much"}, "memory is 'much'; it must be GiB"),
        ({"memory": True}, "memory is True; it must be GiB"),
        ({"memory": 0}, "the memory for models is '0'; it must be GiB"),
        ({"host": None}, "host is None; it must be an address"),
        ({"replicas": 0}, f"replicas is 0; it must be a whole number from 1 to {MOST}"),
        ({"replicas": 2.0}, "replicas is 2.0; it must be a whole number"),
    ],
)
def test_an_argument_of_another_kind_is_refused_by_its_name(args: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        application(args)


def test_a_checkpoint_that_there_is_not_is_refused(tiny_checkpoint: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint 'nobody'"):
        application({"checkpoints": ["nobody"]})
    assert str(tiny_checkpoint) in map(str, Plan.of({"checkpoints": [str(tiny_checkpoint)]}).offered().values())


def test_visitors_of_a_fleet_fetch_no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATOR_HUB", "all")
    with pytest.raises(InputError, match="TRANSLATOR_HUB is set, but several workers fetch no models"):
        application({})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mcp"], "--mcp does not go with --ray"),
        (["--workers", "0"], "replicas is 0"),
        (["--memory", "0"], "the memory for models is '0"),
        (["nobody"], "there is no checkpoint 'nobody'"),
    ],
)
def test_the_command_refuses_before_it_starts_ray(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    def started(*_: object) -> None:
        raise AssertionError("Ray would have been started")

    monkeypatch.setattr("translator.ui.fleet.run.connected", started)
    monkeypatch.setattr("translator.ui.start.free_address", lambda host, port: (host, port))
    for name in ("GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT"):
        monkeypatch.setenv(name, "")
    assert main(["serve", *arguments, "--ray"]) == 2
    assert said in capsys.readouterr().err


def test_the_manifest_is_one_of_ray_serve_s_and_its_arguments_are_known() -> None:
    found = ServeDeploySchema.model_validate(MANIFEST)
    (app,) = found.applications
    module, _, name = app.import_path.partition(":")
    assert (module, name) == (application.__module__, application.__name__)
    plan = Plan.of(app.args)
    (page,) = (each for each in MANIFEST["applications"][0]["deployments"] if each["name"] == "page")
    assert (plan.host, plan.replicas) == (found.http_options.host, page["autoscaling_config"]["max_replicas"])
    assert page["autoscaling_config"]["target_ongoing_requests"] == QUEUE
    made = application(app.args)._bound_deployment._deployment_config.autoscaling_config
    assert {name: getattr(made, name) for name in page["autoscaling_config"]} == page["autoscaling_config"]
    assert page["graceful_shutdown_timeout_s"] > DEADLINE, "a request would be cut off"


@pytest.mark.parametrize(
    ("client", "host"),
    [("10.1.2.3:4567", "10.1.2.3"), ("[2001:db8::7]:80", "2001:db8::7"), ("10.1.2.3", "10.1.2.3"), ("", "")],
)
def test_the_host_of_a_client(client: str, host: str) -> None:
    assert host_of(client) == host


def key(client: str) -> str | None:
    metadata = SimpleNamespace(_client=client, session_id="chosen by the visitor", internal_request_id="by chance")
    return ByAddress._routing_key(object.__new__(ByAddress), SimpleNamespace(metadata=metadata))  # type: ignore[arg-type]


def test_an_address_is_routed_as_one_whatever_its_port_and_its_headers_say() -> None:
    assert key("10.1.2.3:1") == key("10.1.2.3:2") != key("10.1.2.4:1")
    assert key("[2001:db8:0:1::7]:1") == key("[2001:db8:0:1:8::9]:2") != key("[2001:db8:0:2::7]:1")
    assert key("10.1.2.3:1") == key("[::ffff:10.1.2.3]:9")


@pytest.fixture(scope="module")
def page(tiny_checkpoint: Path) -> Iterator[TestClient]:
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    with TestClient(mounted(models, Trust.of("127.0.0.1")), base_url="http://127.0.0.1") as client:
        yield client
    models.gate.close()
    models.desk.close()


@pytest.mark.slow
def test_the_page_without_a_server_of_ours_translates_behind_the_guard(page: TestClient, tiny: Translator) -> None:
    event = page.post("/gradio_api/call/v2/translate", json={"text": "Guten Tag!", "direction": "de-en"}).json()
    answer = page.get(f"/gradio_api/call/translate/{event['event_id']}").text
    found = re.search(r"event: complete\ndata: (.*)", answer)
    assert found and json.loads(found[1])[0] == tiny.translate("Guten Tag!").translation
    assert page.get("/").headers["x-content-type-options"] == "nosniff" and "Attention Explorer" in page.get("/").text


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/gradio_api/heartbeat/x", "/monitoring"])
def test_foreign_routes_of_a_mounted_page_are_denied(page: TestClient, path: str) -> None:
    assert page.get(path).status_code == 404


def test_a_strange_host_of_a_mounted_page_is_refused(page: TestClient) -> None:
    assert page.get("/", headers={"host": "evil.example"}).status_code == 421


async def health(models: Models) -> None:
    replica = object.__new__(Replica)
    replica._models = models
    await replica.check_health()


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_replica_is_healthy_while_one_checkpoint_can_be_used(tiny_checkpoint: Path, tmp_path: Path) -> None:
    models = Models({"de-en": tiny_checkpoint, "no-ne": tmp_path}, device="cpu")
    await health(models)
    models.warm().join()
    await health(models)
    models._failed["de-en"] = models._failed["no-ne"]
    with pytest.raises(UnhealthyError, match=r"no checkpoint can be used: de-en is not available here: .*; no-ne is"):
        await health(models)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_replica_that_does_no_work_is_unhealthy(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translator.ui.fleet.replica.ANSWER", 0.2)
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    release = []
    models.desk.submit(lambda stop: iter(lambda: release and None, None))  # holds the only place
    with pytest.raises(UnhealthyError, match=r"no work was done within 0\.2 seconds"):
        await health(models)
    release.append(1)
    models.desk.close()
    with pytest.raises(TranslatorError, match="no work was done"):
        await health(models)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
