"""A Ray cluster of several nodes on this machine, on loopback: `nodes.py COUNT`; a line on standard input kills one.

Prints the address, and after a kill "killed".
"""

from __future__ import annotations

import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster


def main(count: int) -> None:
    """Start the nodes, one processor each; the first is the head and is never killed."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(count - 1)]
    print(cluster.address, flush=True)
    try:
        for _ in sys.stdin:
            cluster.remove_node(nodes.pop(), allow_graceful=False)
            print("killed", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
