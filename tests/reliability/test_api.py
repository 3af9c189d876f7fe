"""The named endpoints as a program meets them: Gradio's client, plain HTTP, schemathesis over their OpenAPI, MCP."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx
import numpy as np
import pytest
import schemathesis
from gradio_client import Client
from gradio_client.exceptions import AppError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from translator.pipeline import load
from translator.ui.api import described

TEXT = "wir rennen in den park"
CALLS = ("/gradio_api/call/v2/translate", "/gradio_api/call/v2/trace")
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]


@pytest.fixture(scope="module")
def client(live: Any) -> Client:
    return Client(live.url, verbose=False, analytics_enabled=False)


@pytest.fixture
def http(live: Any) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=live.url, timeout=60) as client:
        yield client


Answered = TypeVar("Answered", httpx.Response, Response)


def admitted(post: Callable[[], Answered]) -> Answered:
    """The first answer that is not "too many requests": thousands of refusals come faster than 60 a second."""
    while (answered := post()).status_code == 429:
        time.sleep(1)
    return answered


def answer(http: httpx.Client, path: str, body: Any) -> tuple[str, Any]:
    """The last event of a call and its data; ("refused", status) where it was not admitted."""
    content = json.dumps(body)
    posted = admitted(lambda: http.post(path, content=content, headers={"content-type": "application/json"}))
    if posted.status_code != 200:
        return "refused", posted
    name = path.rsplit("/", 1)[-1]
    lines = http.get(f"/gradio_api/call/{name}/{posted.json()['event_id']}").text.strip().splitlines()
    return lines[-2].removeprefix("event: "), json.loads(lines[-1].removeprefix("data: "))


@pytest.mark.slow
def test_translate_gives_what_python_gives(client: Client, tiny_checkpoint: Path) -> None:
    model = load(tiny_checkpoint, device="cpu")
    assert client.predict(TEXT, api_name="/translate") == model.translate(TEXT).translation
    beam = {"method": "beam", "beam": 3, "length_penalty": 1.0}
    assert client.predict(TEXT, "de-en", beam, api_name="/translate") == model.translate(TEXT, **beam).translation


@pytest.mark.slow
def test_trace_gives_every_step_and_every_map(client: Client, tiny_checkpoint: Path) -> None:
    model = load(tiny_checkpoint, device="cpu")
    model.compile(wait=True)  # as the server's is
    want = model.translate(TEXT, method="sample", seed=3)
    found = client.predict(TEXT, "de-en", {"method": "sample", "seed": 3}, api_name="/trace")
    assert found == json.loads(json.dumps(described(want)))
    for kind in ("encoder", "decoder", "cross"):
        packed = zlib.decompress(base64.b64decode(found[kind]["uint16"]))
        maps = np.frombuffer(packed, "<u2").reshape(found[kind]["shape"]) / 65535
        np.testing.assert_allclose(maps, want.weights(kind), atol=0.5 / 65535 + 1e-6)
    assert [token["text"] for token in found["tgt"]] == [token.surface for token in want.tgt]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("",), "the text is blank"),
        (("a" * 1001,), "1,001 characters; at most 1,000"),
        ((TEXT, "fr-en"), "there is no direction 'fr-en'"),
        ((TEXT, "de-en", {"beam": 13}), "beam is 13; at most 12"),
        ((TEXT, "de-en", {"colour": "red"}), "unknown setting 'colour'"),
        ((TEXT, "de-en", {"max_length": 161}), "max_length is 161; at most"),
        ((TEXT, "de-en", []), "the settings must be names with values"),
    ],
)
def test_refusals_are_the_pages(client: Client, arguments: tuple[Any, ...], said: str) -> None:
    for name in ("/translate", "/trace"):
        with pytest.raises((AppError, ValueError), match=said):  # the client's own for a value of another kind
            client.predict(*arguments, api_name=name)


@pytest.mark.slow
@pytest.mark.parametrize("body", [{}, [], {"text": TEXT, "beam": 4}, {"data": [TEXT]}, {"direction": "de-en"}])
def test_a_call_of_another_shape_never_reaches_gradio(http: httpx.Client, body: Any) -> None:
    event, refusal = answer(http, CALLS[0], body)
    assert event == "refused" and refusal.status_code == 422 and refusal.json()["detail"]


def test_only_the_two_are_endpoints(http: httpx.Client) -> None:
    assert set(http.get("/gradio_api/info").json()["named_endpoints"]) == {"/translate", "/trace"}
    assert http.post("/gradio_api/call/v2/run", json={"text": TEXT}).status_code == 422
    assert http.post("/gradio_api/run/translate", json={"data": [TEXT, "de-en", {}]}).status_code == 404
    assert http.post("/gradio_api/api/translate", json={"data": [TEXT, "de-en", {}]}).status_code == 404


@pytest.mark.slow
def test_calls_go_through_the_pages_gate(live: Any, http: httpx.Client, slow: Any) -> None:
    posted = [http.post(CALLS[0], json={"text": TEXT}) for _ in range(8)]
    answers = [http.get(f"/gradio_api/call/translate/{each.json()['event_id']}").text for each in posted]
    assert all(each.startswith("event:") for each in answers)
    assert slow.most <= 2


@pytest.mark.slow
def test_the_example_of_the_readme_runs(live: Any, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (example,) = [block for block in blocks if "gradio_client" in block]
    assert example.count("http://127.0.0.1:7860") == 1
    exec(example.replace("http://127.0.0.1:7860", live.url), {})  # noqa: S102 it is our own
    shape = tuple(load(live.models.names["de-en"], device="cpu").translate("Guten Morgen.").cross.shape[:2])
    assert f"({shape[0]}, {shape[1]}, " in capsys.readouterr().out


@pytest.mark.slow
def test_the_shell_example_of_the_readme_runs(live: Any) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```bash\n(id=.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    command = example.replace("http://127.0.0.1:7860/", live.url)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("event: complete\ndata: ["), done.stdout + done.stderr


def the_schema(live: Any) -> Any:
    """What Gradio says of the endpoints, less `upload`, which is not open here."""
    said = httpx.get(f"{live.url}gradio_api/openapi.json").json()
    said["paths"] = {path: said["paths"][path] for path in CALLS}
    return schemathesis.openapi.from_dict(said)


def check_generated(live: Any, http: httpx.Client, cases: int) -> None:
    """Bodies made of the OpenAPI, right and wrong ones: each is refused in words, or ends in a result or an error."""
    schema = the_schema(live)

    for path in CALLS:
        strategy = schema[path]["POST"].as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
        wrong = schema[path]["POST"].as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)

        @given(case=st.one_of(strategy, wrong))
        @settings(max_examples=cases, deadline=None, suppress_health_check=QUIET)
        def run(case: Any) -> None:
            response = admitted(lambda: case.call(base_url=live.url.rstrip("/")))
            answered = response.status_code == 200
            checks = [not_a_server_error]
            case.validate_response(
                response,
                checks=[*checks, response_schema_conformance, content_type_conformance] if answered else checks,
            )
            if not answered:
                assert response.status_code in (400, 404, 405, 413, 415, 422), response.status_code
                assert "Traceback" not in response.text
                return
            event_id, name = response.json()["event_id"], case.path.rsplit("/", 1)[-1]
            lines = http.get(f"/gradio_api/call/{name}/{event_id}").text.strip().splitlines()
            assert lines[-2] in ("event: complete", "event: error")
            data = json.loads(lines[-1].removeprefix("data: "))
            assert data if lines[-2] == "event: complete" else data["error"]  # an error without words is a traceback

        run()


@pytest.mark.slow
def test_schemathesis_finds_no_fault(live: Any, http: httpx.Client) -> None:
    check_generated(live, http, 25)


@pytest.mark.soak
@pytest.mark.timeout(3000)
def test_schemathesis_finds_no_fault_in_many(live: Any, http: httpx.Client) -> None:
    check_generated(live, http, 1000)


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.lists(st.integers(), max_size=3)
)
NAMES = ("method", "beam", "length_penalty", "temperature", "top_k", "top_p", "seed", "max_length", "candidates")
SETTINGS = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), VALUES, max_size=4)


def check_settings(http: httpx.Client, cases: int) -> None:
    """Known settings with any values: schemathesis knows only that they are an object."""

    @given(text=st.text(max_size=30) | st.just(TEXT), direction=st.sampled_from(["de-en", "x"]), given_=SETTINGS)
    @settings(max_examples=cases, deadline=None, suppress_health_check=QUIET)
    def run(text: str, direction: str, given_: dict[str, Any]) -> None:
        event, data = answer(http, CALLS[0], {"text": text, "direction": direction, "settings": given_})
        if event == "refused":
            assert data.status_code == 422, data.status_code
        else:
            assert isinstance(data[0], str) if event == "complete" else data["error"]

    run()


@pytest.mark.slow
def test_any_settings_are_judged(http: httpx.Client) -> None:
    check_settings(http, 60)


@pytest.mark.soak
@pytest.mark.timeout(3000)
def test_any_settings_are_judged_in_many(http: httpx.Client) -> None:
    check_settings(http, 3000)
