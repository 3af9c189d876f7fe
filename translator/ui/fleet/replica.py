"""One replica of the page on Ray Serve: its health check, and how it scales and drains."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import ray
from fastapi import FastAPI
from ray import serve
from ray.serve import Application
from ray.serve._private import replica as serve_replica

from translator.errors import TranslatorError
from translator.ui.addresses import OPEN
from translator.ui.assembly import mounted, trust_proxies
from translator.ui.fleet.affinity import ByAddress
from translator.ui.fleet.plan import Plan
from translator.ui.forwarded import Trust
from translator.ui.gate import DEADLINE, Stop
from translator.ui.heaps import keep_few_heaps
from translator.ui.quiet import bound_the_log

ANSWER = 5.0
"""Seconds within which a healthy replica does the least piece of work."""
QUEUE = 4
"""Requests that a replica has at a time, those that wait among them; beyond it another replica is started."""
DELAYS = {"upscale_delay_s": 10, "downscale_delay_s": 300}
"""Seconds for which the load has to be more, or less, than the replicas are for."""
SILENT = {"enable_access_log": False, "log_level": "WARNING"}
"""What Ray Serve logs: warnings, and no requests."""


class UnhealthyError(TranslatorError):
    """A replica that cannot serve; Ray Serve puts another in its place."""


class Replica:
    """The page in a process that Ray Serve starts; told to end, it gets nothing new and finishes what runs."""

    def __init__(self, plan: Plan) -> None:
        """Load the models of `plan`; until then no visitor comes here."""
        os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
        keep_few_heaps()
        trust_proxies()
        _listen_where_ray_does()
        self._trust = Trust.of(plan.host)
        self._models = plan.models()
        self._models.warm().join()

    def __serve_build_asgi_app__(self) -> FastAPI:
        """The page; Ray Serve asks for it once."""
        bound_the_log()
        page = mounted(self._models, self._trust)
        gc.collect()
        gc.freeze()
        return page

    async def check_health(self) -> None:
        """Asked by Ray Serve every few seconds.

        Raises:
            UnhealthyError: no checkpoint can be used, or the least piece of work is not done in time.
        """
        states = [self._models.state(name) for name in self._models.names]
        if all(state not in ("", "loading", "ready") for state in states):
            raise UnhealthyError(f"no checkpoint can be used: {'; '.join(states)}")
        try:
            await asyncio.wait_for(self._answered(), ANSWER)
        except (asyncio.TimeoutError, TranslatorError) as error:
            raise UnhealthyError(f"no work was done within {ANSWER:g} seconds") from error

    async def _answered(self) -> None:
        def nothing(stop: Stop) -> Iterator[None]:
            yield None

        async for _ in self._models.desk.follow(self._models.desk.submit(nothing)):
            pass


def _listen_where_ray_does() -> None:
    """Have this replica's own port, by which other deployments may call it, at the address that Ray listens at.

    Ray Serve opens it on every interface of the machine, behind the cluster's token if there is one.
    """
    address = str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]
    host = f"[{address}]" if ":" in address else address
    name = "add_port_to_grpc_server"
    setattr(serve_replica, name, partial(_bound, getattr(serve_replica, name), f"{host}:0"))


def _bound(add_port: Callable[[Any, str], int], where: str, server: Any, _: str) -> int:
    return add_port(server, where)


_deployed = serve.deployment(
    name="page",
    ray_actor_options={"num_cpus": 1},
    max_ongoing_requests=OPEN + 100,  # the guard refuses in words before that
    health_check_period_s=5,
    health_check_timeout_s=2 * ANSWER,
    graceful_shutdown_wait_loop_s=0.5,
    graceful_shutdown_timeout_s=DEADLINE + ANSWER,
    request_router_config={"request_router_class": ByAddress},
    logging_config=SILENT,
)(serve.ingress()(Replica))


def application(args: Mapping[str, Any]) -> Application:
    """What Ray Serve is to run, by the `args` of its config: see `Plan`. `deploy/serve.yaml` names this function.

    Raises:
        InputError, CheckpointError: as `Plan`.
    """
    plan = Plan.of(args)
    scaling = {
        "min_replicas": 1,
        "max_replicas": plan.replicas,
        "target_ongoing_requests": QUEUE,
        **DELAYS,
    }
    found: Application = _deployed.options(autoscaling_config=scaling).bind(plan)
    return found
