"""Routes every request of an address to one replica, while there is that replica."""

from __future__ import annotations

from ray.serve.experimental.consistent_hash_router import ConsistentHashRouter
from ray.serve.request_router import PendingRequest

from translator.ui.addresses import group


class ByAddress(ConsistentHashRouter):
    """Ray's consistent hashing, over the visitor's address in place of a header that he could choose.

    Limits, turns and a page's streams belong to an address, so they hold as within one process. A replica more or less
    moves the addresses of one share only; every proxy of a cluster comes to the same result.
    """

    def _routing_key(self, pending_request: PendingRequest | None) -> str | None:
        """The address; whatever has none, such as a call within the cluster, goes anywhere."""
        client = pending_request.metadata._client if pending_request is not None else ""
        if not client:
            return super()._routing_key(pending_request)
        return group({"client": (host_of(client),)})


def host_of(client: str) -> str:
    """The host in what Serve calls a client: "1.2.3.4:5678", or "[::1]:5678" of IPv6."""
    host, colon, _ = client.rpartition(":")
    return host.strip("[]") if colon else client
