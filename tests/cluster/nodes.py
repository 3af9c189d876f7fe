"""A Ray cluster of several nodes on this machine, on loopback: `nodes.py COUNT`; a line on standard input kills one.

Prints the address, and after a kill "killed".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

TRIES = 6


def tried(start: Callable[[], Any]) -> Any:
    """Start a node: Ray gives it 30 seconds, which a busy machine may exceed."""
    for left in reversed(range(TRIES)):
        try:
            return start()
        except Exception:
            if not left:
                raise
    raise AssertionError("not reached")


def main(count: int) -> None:
    """Start the nodes, one processor each; the first is the head and is never killed."""
    cluster = Cluster()
    tried(lambda: cluster.add_node(num_cpus=1, include_dashboard=False))
    nodes = [tried(lambda: cluster.add_node(num_cpus=1)) for _ in range(count - 1)]
    print(cluster.address, flush=True)
    try:
        for _ in sys.stdin:
            cluster.remove_node(nodes.pop(), allow_graceful=False)
            print("killed", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
