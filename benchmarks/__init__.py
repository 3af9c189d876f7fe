"""Measured side by side with peers: `python -m benchmarks`. Benchmarks, not timed tests."""
